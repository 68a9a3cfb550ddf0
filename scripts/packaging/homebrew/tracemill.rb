# SPDX-License-Identifier: Apache-2.0
class Tracemill < Formula
  desc "Reports on JAX, PyTorch and TPU profiles: diagnosis, comparison, gates"
  homepage "@HOMEPAGE@"
  version "@VERSION@"
  license "Apache-2.0"

  # The archives contain programs for Linux.
  depends_on :linux

  on_intel do
    url "@HOMEPAGE@/releases/download/v@VERSION@/tracemill-@VERSION@-linux-x86_64.tar.gz"
    sha256 "@SHA256_X86_64@"
  end
  on_arm do
    url "@HOMEPAGE@/releases/download/v@VERSION@/tracemill-@VERSION@-linux-aarch64.tar.gz"
    sha256 "@SHA256_AARCH64@"
  end

  def install
    bin.install "bin/tracemill"
    man1.install "share/man/man1/tracemill.1"
    bash_completion.install "share/bash-completion/completions/tracemill"
    zsh_completion.install "share/zsh/site-functions/_tracemill"
    fish_completion.install "share/fish/vendor_completions.d/tracemill.fish"
    prefix.install "NOTICE", "licenses", "tracemill.spdx.json"
  end

  test do
    (testpath/"trace.json").write '{"traceEvents":[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"step"}]}'
    system bin/"tracemill", "inspect", "trace.json"
    assert_match version.to_s, shell_output("#{bin}/tracemill --version")
  end
end
