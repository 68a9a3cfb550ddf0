# SPDX-License-Identifier: Apache-2.0
# Stands in for Homebrew: checks, unpacks, installs and tests a formula, with the words of Homebrew's that it uses.
#
#   ruby formula.rb FORMULA.rb ARCHIVES PREFIX [intel|arm]
#
# The archive that the formula's URL names is taken from the folder ARCHIVES.  On the other architecture than intel, the program is
# installed and not run.
require "digest"
require "fileutils"
require "json"
require "pathname"
require "tmpdir"

class Pathname
  def install(*sources)
    mkpath
    sources.each { |source| FileUtils.cp_r(source, self) }
  end
end

class String
  def /(other)
    Pathname.new(self) / other
  end
end

class Formula
  ARCHITECTURE = ARGV.fetch(3, "intel")
  PREFIX = Pathname.new(ARGV.fetch(2))
  FIELDS = {}

  %i[desc homepage version license url sha256].each do |field|
    define_singleton_method(field) { |value| FIELDS[field] = value }
    define_method(field) { FIELDS.fetch(field) }
  end

  def self.depends_on(what) = (FIELDS[:needs] ||= []) << what
  def self.on_intel = (yield if ARCHITECTURE == "intel")
  def self.on_arm = (yield if ARCHITECTURE == "arm")
  def self.test(&block) = define_method(:run_test, &block)
  def self.inherited(formula) = FIELDS[:formula] = formula

  { prefix: "", bin: "bin", man1: "share/man/man1", bash_completion: "etc/bash_completion.d",
    zsh_completion: "share/zsh/site-functions", fish_completion: "share/fish/vendor_completions.d" }.each do |name, place|
    define_method(name) { PREFIX / place }
  end

  attr_accessor :testpath

  def system(*words)
    Kernel.system(*words.map(&:to_s)) || raise("failed: #{words.join(' ')}")
  end

  def shell_output(command, want = 0)
    output = `#{command}`
    raise "status #{$?.exitstatus}: #{command}" unless $?.exitstatus == want

    output
  end

  def assert_match(pattern, text)
    raise "'#{pattern}' is not in '#{text}'" unless text.include?(pattern)
  end
end

load ARGV.fetch(0)
formula = Formula::FIELDS.fetch(:formula).new
raise "not for Linux" unless Formula::FIELDS[:needs] == [:linux]
raise "a description is short, and starts without an article" if formula.desc.length > 80 || formula.desc.match?(/\A(an?|the) /i)

archive = File.join(ARGV.fetch(1), File.basename(formula.url))
raise "the archive has another hash" unless Digest::SHA256.file(archive).hexdigest == formula.sha256

Dir.mktmpdir do |folder|
  system("tar", "-xf", archive, "-C", folder, exception: true)
  inside = Dir.children(folder)
  # Homebrew enters a folder that is alone in its archive.
  Dir.chdir(inside.length == 1 ? File.join(folder, inside[0]) : folder) { formula.install }
end
if Formula::ARCHITECTURE == "intel"
  Dir.mktmpdir do |folder|
    formula.testpath = Pathname.new(folder)
    Dir.chdir(folder) { formula.run_test }
  end
end
puts JSON.generate(Dir.glob("**/*", base: Formula::PREFIX).select { |name| File.file?(Formula::PREFIX / name) }.sort)
