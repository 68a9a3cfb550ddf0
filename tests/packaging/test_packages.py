#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Archives, the .deb, recipes and images: whole, of one version, and what they install runs.

Without `make test-packaging` only what needs no release: the recipes, and what install-deps.sh says elsewhere.
"""

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from tap import Tap  # noqa: E402
from tracemill import BUILD, DEMO, ROOT, Scratch, run  # noqa: E402

PACKAGING = ROOT / "scripts" / "packaging"
DIST = BUILD / "dist"
VERSION = run("version").out.split()[1]
STEM = f"tracemill-{VERSION}-linux-x86_64"


def call(*words, **options):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False, **options)


def check_version(tap):
    """One place has the version: pipeline/*.h."""
    strange = [str(p.relative_to(ROOT)) for folder in ("scripts", ".github") for p in (ROOT / folder).rglob("*")
               if p.is_file() and "__pycache__" not in p.parts and re.search(rf"(?<![\d.]){re.escape(VERSION)}(?![\d.])", p.read_text(encoding="utf-8"))]
    tap.ok(not strange and VERSION not in (ROOT / "pyproject.toml").read_text(), "no recipe has a version of its own", strange)
    document = json.loads(run("version", "--json").out)
    tap.ok(document["version"] == VERSION and document["libraries"] and f"\n## {VERSION}" in (ROOT / "CHANGES.md").read_text(encoding="utf-8"),
           "version --json has it, and CHANGES.md a section", document)


def check_recipes(tap):
    with Scratch() as folder:
        archives = {"x86_64": b"an archive", "aarch64": b"another"}
        for machine, data in archives.items():
            (folder / f"tracemill-{VERSION}-linux-{machine}.tar.gz").write_bytes(data)
        done = call(sys.executable, PACKAGING / "recipes.py", "--release", VERSION, "--dist", folder, "-o", folder / "out")
        texts = {p.name: p.read_text(encoding="utf-8") for p in (folder / "out").glob("*")}
        tap.ok(done.returncode == 0 and len(texts) == 4 and not any(re.search("@[A-Z0-9_]+@", t) for t in texts.values()),
               "recipes: every value is filled in", done, sorted(texts))
        digests = {machine: hashlib.sha256(data).hexdigest() for machine, data in archives.items()}
        recipe = yaml.safe_load(texts["recipe.yaml"])
        for machine in archives:
            source = next(one["then"] for one in recipe["source"] if one["if"] == f"linux and {machine}")
            tap.ok(recipe["package"] == {"name": "tracemill", "version": VERSION} and source["sha256"] == digests[machine]
                   and source["url"].endswith(f"-{machine}.tar.gz"), f"recipes: conda has version and hash for {machine}", recipe)
            tap.ok(re.search(rf'-{machine}\.tar\.gz"\n +sha256 "{digests[machine]}"', texts["tracemill.rb"]), f"recipes: Homebrew has the hash for {machine}", texts["tracemill.rb"])
        if shutil.which("ruby"):
            done = call("ruby", "-wc", folder / "out/tracemill.rb")
            tap.ok(done.returncode == 0 and "warning" not in done.stderr, "recipes: the formula is Ruby", done)
        else:
            tap.skip("recipes: the formula is Ruby", "no ruby here")
        (folder / f"{STEM}.tar.gz").unlink()
        tap.ok(call(sys.executable, PACKAGING / "recipes.py", "--release", VERSION, "--dist", folder, "-o", folder / "x").returncode != 0,
               "recipes: without the archive there are none")


def check_elsewhere(tap):
    """install-deps.sh where there is no dpkg."""
    with Scratch() as folder:
        for tool in ("bash", "cat"):
            (folder / tool).symlink_to(shutil.which(tool))
        for release, words in (("ID=fedora\n", ("dnf install", "isa-l-devel", "libharu-devel")), ("ID=alpine\n", ("apk add", "isa-l-dev", "libharu-dev")),
                               ('ID=rocky\nID_LIKE="rhel centos fedora"\n', ("dnf install",)), ("ID=void\n", ("no Debian system", "libhpdf-dev"))):
            (folder / "os-release").write_text(release)
            done = call("/bin/bash", ROOT / "scripts/install-deps.sh", "--check", "build", env={"PATH": str(folder), "OS_RELEASE": str(folder / "os-release")})
            tap.ok(done.returncode == 0 and all(word in done.stderr for word in words), f"install-deps: names the packages of {release.split()[0]}", done)
        (folder / "uname").write_text("#!/bin/bash\necho Darwin\n")
        (folder / "uname").chmod(0o755)
        done = call("/bin/bash", ROOT / "scripts/install-deps.sh", "--check", "build", env={"PATH": str(folder), "OS_RELEASE": str(folder / "none")})
        tap.ok(done.returncode == 0 and "brew install" in done.stderr and "libharu" in done.stderr, "install-deps: names the packages of macOS", done)
        (folder / "dpkg-query").write_text("#!/bin/bash\n")
        (folder / "dpkg-query").chmod(0o755)
        for release, browser in (("ID=ubuntu\nVERSION_ID=22.04\n", "chromium-browser"), ("ID=ubuntu\nVERSION_ID=24.04\n", "chromium-browser"), ("ID=debian\n", "chromium-headless-shell")):
            (folder / "os-release").write_text(release)
            done = call("/bin/bash", ROOT / "scripts/install-deps.sh", "--check", "build", "test", env={"PATH": str(folder), "OS_RELEASE": str(folder / "os-release")})
            named = done.stderr.split("\n")[0].split()
            tap.ok(done.returncode == 1 and {"libhpdf-dev", "libcmocka-dev", browser} <= set(named) and "apt-get install" in done.stderr,
                   f"install-deps: names what is missing on {' '.join(release.split())}", done)


def check_lock(tap):
    """install-deps.sh while another package manager runs: lists are locked twice, then installing goes on; other errors end it."""
    with Scratch() as folder:
        for tool in ("bash", "cat", "env", "grep", "mktemp", "rm", "tail"):
            (folder / tool).symlink_to(shutil.which(tool))
        for name, text in (("dpkg-query", ""), ("id", "echo 0"), ("sleep", ""), ("apt-get", """
echo "$*" >>"$LOG"
mapfile -t lines <"$LOG"
if [ "${#lines[@]}" -le "$BUSY" ]; then echo 'E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7'; exit 100; fi
case "$*" in *"$BROKEN"*) echo 'E: Unable to locate package'; exit 100 ;; esac""")):
            (folder / name).write_text(f"#!/bin/bash\n{text}\n")
            (folder / name).chmod(0o755)
        (folder / "os-release").write_text("ID=debian\n")
        for name, broken, status, calls in (("waits", "nothing", 0, 4), ("fails", "install", 1, 4)):
            settings = {"PATH": str(folder), "OS_RELEASE": str(folder / "os-release"), "LOG": str(folder / name), "BUSY": "2", "BROKEN": broken}
            done = call("/bin/bash", ROOT / "scripts/install-deps.sh", "bench", env=settings)
            made = (folder / name).read_text().splitlines()
            tap.ok(done.returncode == status and len(made) == calls and all("DPkg::Lock::Timeout=" in line for line in made)
                   and done.stderr.count("waiting for another package manager") == 1 and ("Unable to locate" in done.stderr) == (status == 1),
                   f"install-deps: a busy package lock: {name}", done, made)


# --- of a release ----------------------------------------------------------------------------------------------
def check_archives(tap, folder):
    sums = [line.split("  ") for line in (DIST / "SHA256SUMS").read_text().splitlines()]
    made = sorted(str(p.relative_to(DIST)) for p in DIST.rglob("*") if p.is_file() and p.name != "SHA256SUMS")
    tap.ok(sorted(name for _, name in sums) == made and call("sha256sum", "-c", "--quiet", "SHA256SUMS", cwd=DIST).returncode == 0,
           "SHA256SUMS: each file, and its hash", made)
    with tarfile.open(DIST / f"{STEM}.tar.gz") as archive:
        archive.extractall(folder)
    root = folder / STEM
    done = call(root / "bin/tracemill", "report", DEMO, "-o", folder / "out", "-q")
    tap.ok(done.returncode == 0 and (folder / "out/report.html").exists(), "the static archive: unpacked, it runs", done)
    names = {"LICENSE", "NOTICE", "licenses", "tracemill.spdx.json", "bin", "share"}
    tap.ok({p.name for p in root.iterdir()} == names, "the static archive: with licences and SBOM", sorted(root.iterdir()))
    done = [call("bash", "-n", root / "share/bash-completion/completions/tracemill"), call("man", "--warnings", "-l", root / "share/man/man1/tracemill.1")]
    tap.ok(all(d.returncode == 0 for d in done) and "tracemill" in done[1].stdout, "the static archive: man page and completions are good", *done)
    # Pack without the date of the tests and the options of the calling make, as a release is packed.
    own = {k: v for k, v in os.environ.items() if k not in ("SOURCE_DATE_EPOCH", "MAKEFLAGS", "MFLAGS")}
    again = call("make", "--no-print-directory", f"BUILD={os.path.relpath(BUILD, ROOT)}", f"DIST={folder / 'again'}", "run-dist", "run-wheel", cwd=ROOT, env=own)
    packed = sorted((folder / "again").iterdir()) if again.returncode == 0 else []
    different = [p.name for p in packed if p.read_bytes() != (DIST / p.name).read_bytes()]
    tap.ok(len(packed) == 4 and not different, "archives and wheel: packed again, the same bytes", again.stderr, different)


def check_source(tap, folder):
    with tarfile.open(DIST / f"tracemill-{VERSION}.tar.gz") as archive:
        archive.extractall(folder)
    tree = folder / f"tracemill-{VERSION}"
    listed = call("git", "ls-files", cwd=ROOT).stdout.split()
    missing = [name for name in listed if not (tree / name).exists()]
    tap.ok(listed and not missing and (tree / "PKG-INFO").read_text().startswith("Metadata-Version"), "the source archive: every file, and it is an sdist", missing[:5])
    dry = call("make", "-n", "all", cwd=tree)
    tap.ok(dry.returncode == 0 and "build/tracemill" in dry.stdout, "the source archive: make knows what to do", dry.stderr)


def check_deb(tap, folder):
    debs = sorted(DIST.glob("*.deb"))
    tap.ok([d.name for d in debs] == [f"tracemill_{VERSION}_{a}.deb" for a in ("amd64", "arm64")], "a .deb for each machine", debs)
    if shutil.which("lintian"):
        done = call("lintian", "--fail-on", "error,warning", "--suppress-tags", "bogus-mail-host", *debs)
        tap.ok(done.returncode == 0 and not re.search("^[EW]: ", done.stdout, re.MULTILINE), "lintian finds nothing", done.stdout)
    else:
        tap.skip("lintian", "not installed")
    fields = call("dpkg-deb", "-f", debs[0]).stdout
    tap.ok("\nDepends:" not in fields and "Built-Using: gcc" in fields and "glibc (=" in fields, "the .deb needs nothing, and names what has to come with its sources", fields)
    call("dpkg-deb", "-x", debs[0], folder)
    done = call(folder / "usr/bin/tracemill", "brief", DEMO)
    names = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
    want = {"usr/share/man/man1/tracemill.1.gz", "usr/share/bash-completion/completions/tracemill", "usr/share/zsh/vendor-completions/_tracemill",
            "usr/share/fish/vendor_completions.d/tracemill.fish", "usr/share/doc/tracemill/copyright"}
    tap.ok(done.returncode == 0 and want <= names, "the .deb: the program runs; man page and completions are there", done, want - names)


def check_image(tap, folder):
    """The Dockerfile's steps, by hand: there may be no builder.  Whoever runs this is the image's user inside."""
    with tarfile.open(DIST / f"{STEM}.tar.gz") as archive:
        archive.extractall(folder)
    context, root, user, entry, work = folder / STEM, folder / "image", None, None, "/"
    root.mkdir()
    for line in (DIST / "recipes/Dockerfile").read_text(encoding="utf-8").splitlines():
        word, _, rest = line.partition(" ")
        if word == "COPY":
            *sources, target = rest.split()
            for source in sources:
                place = root / target.lstrip("/") / (source if target.endswith("/") else "")
                place.parent.mkdir(parents=True, exist_ok=True)
                (shutil.copytree if (context / source).is_dir() else shutil.copy)(context / source, place)
        elif word == "USER":
            user = rest.split(":")
        elif word == "ENTRYPOINT":
            entry = json.loads(rest)
        elif word == "WORKDIR":
            work = rest
        else:
            assert not line or word in ("#", "FROM"), line
    (root / work.lstrip("/")).mkdir(exist_ok=True)
    if shutil.which("buildah"):
        builder = ("buildah", "--root", folder / "store", "--runroot", folder / "run", "--storage-driver", "vfs")
        done = call(*builder, "bud", "--isolation", "chroot", "-t", "tracemill", "-f", DIST / "recipes/Dockerfile", context)
        tap.ok(done.returncode == 0 and "localhost/tracemill" in call(*builder, "images").stdout, "the Dockerfile: buildah makes the image", done)
    else:
        tap.skip("the Dockerfile: buildah makes the image", "not installed")
    tap.ok(sorted(p.name for p in root.iterdir()) == ["usr", "work"] and user and entry, "the image: holds the program alone", sorted(root.rglob("*"))[:9])
    if call("bwrap", "--unshare-all", "--ro-bind", "/", "/", "true").returncode != 0:
        tap.skip("the image runs", "bubblewrap is not installed, or namespaces are forbidden")
        return
    shared = folder / "shared"
    shared.mkdir()
    shutil.copy(next(DEMO.rglob("*.xplane.pb*")), shared)
    done = call("bwrap", "--unshare-all", "--clearenv", "--uid", user[0], "--gid", user[1], "--ro-bind", root, "/", "--bind", shared, work, "--chdir", work,
                *entry, "report", ".", "-o", "report", "-q")
    tap.ok(done.returncode == 0 and (shared / "report/report.html").exists(), "the image: makes a report as nobody, in a root that is read only", done)


def check_apptainer(tap, folder):
    """The Apptainer recipe's steps, by hand: its files into a root that is read only, and `apptainer exec` with the folder of the caller in it."""
    recipe = (DIST / "recipes/tracemill.def").read_text(encoding="utf-8")
    head, *rest = re.split(r"^%(\w+)\n", re.sub("^#.*\n", "", recipe, flags=re.MULTILINE), flags=re.MULTILINE)
    sections = {name: [line.split(None, 1) for line in body.splitlines() if line.strip()] for name, body in zip(rest[::2], rest[1::2])}
    tap.ok(head.split() == ["Bootstrap:", "scratch"] and set(sections) == {"files", "labels"} and dict(sections["labels"])["Version"] == VERSION,
           "the Apptainer recipe: starts from nothing, and has the version", head, sections)
    unpack, build, use = (shlex.split(line) for line in re.findall(r"^#   (\S.*)$", recipe, re.MULTILINE))
    words = f"{' '.join(unpack)}".replace("$(uname -m)", "x86_64")
    (folder / f"{STEM}.tar.gz").symlink_to(DIST / f"{STEM}.tar.gz")
    done = call("bash", "-ec", words, cwd=folder)
    root = folder / "root"
    for source, target in sections["files"]:
        place = root / target.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (folder / source).is_dir() else shutil.copy)(folder / source, place)
    tap.ok(done.returncode == 0 and build == ["apptainer", "build", "tracemill.sif", "tracemill.def"] and use[:3] == ["apptainer", "exec", "tracemill.sif"],
           "the Apptainer recipe: its commands unpack the archive, build and run", done, build, use)
    if call("bwrap", "--unshare-all", "--ro-bind", "/", "/", "true").returncode != 0:
        tap.skip("the Apptainer recipe: the program runs", "bubblewrap is not installed, or namespaces are forbidden")
        return
    for place in ("work", "tmp", "dev", "proc"):
        (root / place).mkdir()
    (folder / "work").mkdir()
    shutil.copy(next(DEMO.rglob("*.xplane.pb*")), folder / "work")
    done = call("bwrap", "--unshare-all", "--ro-bind", root, "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--bind", folder / "work", "/work",
                "--chdir", "/work", "--setenv", "PATH", "/usr/local/bin:/usr/bin:/bin", *(word.replace("LOGDIR", ".") for word in use[3:]))
    tap.ok(done.returncode == 0 and (folder / "work/report/report.html").exists(), "the Apptainer recipe: the program runs as its last line says", done)


def check_homebrew(tap, folder):
    """The formula, installed and tested by a stand-in for Homebrew."""
    if not shutil.which("ruby"):
        tap.skip("the Homebrew formula: installs", "no ruby here")
        return
    want = {"bin/tracemill", "share/man/man1/tracemill.1", "etc/bash_completion.d/tracemill", "share/zsh/site-functions/_tracemill",
            "share/fish/vendor_completions.d/tracemill.fish", "NOTICE", "tracemill.spdx.json"}
    for machine, brewed in (("x86_64", "intel"), ("aarch64", "arm")):
        prefix = folder / machine
        done = call("ruby", "-w", ROOT / "tests/packaging/formula.rb", DIST / "recipes/tracemill.rb", DIST, prefix, brewed)
        made = set(json.loads(done.stdout.splitlines()[-1])) if done.returncode == 0 else set()
        with tarfile.open(DIST / f"tracemill-{VERSION}-linux-{machine}.tar.gz") as archive:
            program = archive.extractfile(f"tracemill-{VERSION}-linux-{machine}/bin/tracemill").read()
        tap.ok(want <= made and (prefix / "bin/tracemill").read_bytes() == program, f"the Homebrew formula: installs the archive for {machine}", done, want - made)
    broken = folder / "broken.rb"
    broken.write_text((DIST / "recipes/tracemill.rb").read_text(encoding="utf-8").replace('assert_match version.to_s', 'assert_match "9.9.9"'))
    done = call("ruby", "-w", ROOT / "tests/packaging/formula.rb", broken, DIST, folder / "broken", "intel")
    tap.ok(done.returncode != 0 and "'9.9.9' is not in" in done.stderr, "the Homebrew formula: its test can fail", done)


CONDA = """
import sys, rattler_build as rb
recipe, folder = rb.Stage0Recipe.from_file(sys.argv[1]), sys.argv[2]
for target, tests in (("linux-64", "native"), ("linux-aarch64", "skip")):
    for variant in recipe.render(rb.VariantConfig(), rb.RenderConfig(platform=rb.PlatformConfig(target_platform=target))):
        variant.run_build(channels=[f"file://{folder}/channel"], output_dir=f"{folder}/out", tool_config=rb.ToolConfiguration(test_strategy=tests))
"""


def check_conda(tap, folder):
    """The recipe, built from the archives by rattler-build.  The program of this machine is tested as the recipe says."""
    release = folder / "releases" / "download" / f"v{VERSION}"
    for place in (release, folder / "recipe"):
        place.mkdir(parents=True)
    for machine in ("x86_64", "aarch64"):
        (release / f"tracemill-{VERSION}-linux-{machine}.tar.gz").symlink_to(DIST / f"tracemill-{VERSION}-linux-{machine}.tar.gz")
    for platform in ("noarch", "linux-64", "linux-aarch64"):
        (folder / "channel" / platform).mkdir(parents=True)
        (folder / "channel" / platform / "repodata.json").write_text(json.dumps({"info": {"subdir": platform}, "packages": {}, "packages.conda": {}, "repodata_version": 1}))
    call(sys.executable, PACKAGING / "recipes.py", "--release", VERSION, "--dist", DIST, "--homepage", f"file://{folder}", "-o", folder / "filled")
    shutil.copy(folder / "filled" / "recipe.yaml", folder / "recipe")
    done = call(BUILD / "packaging/bin/python", "-c", CONDA, folder / "recipe/recipe.yaml", folder)
    made = sorted(p.parent.name for p in (folder / "out").glob("linux-*/tracemill-*.conda"))
    tap.ok(done.returncode == 0 and made == ["linux-64", "linux-aarch64"], "the conda recipe: rattler-build makes a package for each machine", made, done)


def check_macos(tap, folder):
    """Every file compiles for macOS: with zig's compiler, and the headers of the libraries that are here."""
    include = folder / "include"
    include.mkdir()
    for pattern in ("zlib.h", "zconf.h", "zstd*.h", "zdict.h", "archive*.h", "protobuf-c", "cjson", "xxhash.h", "sqlite3.h", "jemalloc", "isa-l", "hpdf*.h"):
        for path in [*Path("/usr/include").glob(pattern), *Path("/usr/include/x86_64-linux-gnu").glob(pattern)]:
            if not (include / path.name).exists():
                (include / path.name).symlink_to(path)
    sources = [p for top in ("pipeline", "stages", "reports") for p in sorted((ROOT / top).rglob("*.c"))]
    settings = dict(os.environ, ZIG_GLOBAL_CACHE_DIR=str(folder / "cache"), ZIG_LOCAL_CACHE_DIR=str(folder / "cache"))
    wrong = []
    for source in sources:
        done = call(BUILD / "packaging/bin/python", "-m", "ziglang", "cc", "-target", "aarch64-macos", "-c", "-std=c11", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64",
                    "-DTM_PORTABLE", "-include", "pipeline/platform.h", "-I.", f"-I{BUILD / 'gen'}", f"-I{include}", "-o", folder / "object.o", source, cwd=ROOT, env=settings)
        if done.returncode != 0:
            wrong.append(done.stderr[:600])
    tap.ok(len(sources) > 250 and not wrong, "macOS: every file compiles", *wrong[:5])


def main():
    tap = Tap()
    for check in (check_version, check_recipes, check_elsewhere, check_lock):
        check(tap)
    if os.environ.get("TM_PACKAGING"):
        for check in (check_archives, check_source, check_deb, check_image, check_apptainer, check_homebrew, check_conda, check_macos):
            with Scratch() as folder:
                check(tap, folder)
    else:
        tap.skip("archives, packages and images", "make test-packaging makes them")
    tap.done()


if __name__ == "__main__":
    main()
