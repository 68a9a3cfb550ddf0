#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The static program: needs no library and no file, writes the bytes of the dynamic one, and says what it is made of.

What needs the program runs in `make test-packaging`; the tables that NOTICE and the SBOM rest on are compared always.
"""

import filecmp
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from tap import Tap  # noqa: E402
from tracemill import BUILD, DEMO, ROOT, Scratch, run  # noqa: E402

sys.path.insert(0, str(ROOT / "scripts" / "packaging"))
import sbom  # noqa: E402

PROGRAM = BUILD / "static" / "tracemill"
OLD_KERNEL = BUILD / "tests" / "old_kernel"
LARGEST = 8_000_000
FORMATS = "html,pdf,json,text,markdown,csv,collapsed,perfetto,partial"


def check_notice(tap):
    """NOTICE names what the SBOM's table names, with the same licence."""
    rows = dict(re.findall(r"^    (\S+) +(\S.*?)(?:  +\(c\).*| \(c\).*)?$", (ROOT / "NOTICE").read_text(encoding="utf-8"), re.MULTILINE))
    want = {name: licence for name, licence, _ in sbom.KNOWN.values() if name != "DejaVu fonts"}
    want["liblzma"], want["SQLite"] = "public domain", "public domain (blessing)"
    archives = re.findall(r"-l:lib([a-z]+?)(?:_pic)?\.a", (ROOT / "Makefile").read_text(encoding="utf-8"))
    said = re.search(r"shared libraries \(`make`\) contains the fonts, and ([^.]*) where", (ROOT / "NOTICE").read_text(encoding="utf-8")).group(1)
    tap.ok(archives and said == " and ".join(f"lib{a}" if a == "archive" else a for a in archives), "NOTICE: says which archives `make` links", archives, said)
    tap.ok(rows == want, "NOTICE: has the libraries of the SBOM, and their licences", set(rows.items()) ^ set(want.items()))


def check_file(tap):
    headers = subprocess.run(["readelf", "-hld", PROGRAM], capture_output=True, text=True, check=True).stdout
    tap.ok("NEEDED" not in headers and "INTERP" not in headers and re.search(r"Type:\s+DYN", headers),
           "needs no library and no loader, and is position independent", headers)
    tap.ok("GNU_RELRO" in headers and "BIND_NOW" in headers or "NOW" in headers, "relocations are read-only", headers)
    size = PROGRAM.stat().st_size
    tap.ok(size < LARGEST, "is smaller than 8 MB", f"{size} bytes")
    tap.ok(str(ROOT).encode() not in PROGRAM.read_bytes(), "has no path of the build folder in it")
    versions = run("version", binary=PROGRAM)
    tap.ok(versions.out == run("version").out and "ISA-L" in versions.out and "jemalloc" in versions.out,
           "has the libraries of the dynamic program, ISA-L and jemalloc among them", versions)


def same_tree(one, two):
    names = [sorted(str(p.relative_to(t)) for p in t.rglob("*") if p.is_file()) for t in (one, two)]
    if names[0] != names[1]:
        return [set(names[0]) ^ set(names[1])]
    return [n for n in names[0] if not filecmp.cmp(one / n, two / n, shallow=False)]


def check_old_kernel(tap):
    """What is said of Linux 4.18 rests on this: its calls are there, and later ones are not."""
    calls = "import os, ctypes; c = ctypes.CDLL(None, use_errno=True); print(c.syscall(%d, *%r) >= 0, ctypes.get_errno())"
    for name, words, want in (("clone3", (435, (0, 0)), "False 38"), ("faccessat2", (439, (-100, b"/", 0, 0)), "False 38"),
                              ("statx", (332, (-100, b"/", 0, 0, bytes(256))), "True 0"), ("GRND_INSECURE", (318, (bytes(8), 8, 4)), "False 22")):
        done = subprocess.run([OLD_KERNEL, sys.executable, "-c", calls % words], capture_output=True, text=True, check=False)
        tap.ok(done.stdout.strip() == want, f"the filter for Linux 4.18: {name}", done)


def check_bytes(tap):
    with Scratch() as folder:
        for name, words in (("dynamic", {}), ("static", {"binary": PROGRAM}), ("Linux 4.18", {"binary": PROGRAM, "under": [str(OLD_KERNEL)]})):
            (folder / name).mkdir()
            for arguments in (("report", DEMO, "-o", "report", "--format", FORMATS), ("convert", DEMO, "-o", "run.json.gz"), ("convert", DEMO, "-o", "run.pftrace"),
                              ("split", DEMO, "-o", "parts"), ("batch", DEMO, "-o", "night", "--jobs", "2"),
                              ("query", DEMO, "select name, count(*), sum(dur_ps) from events group by name order by 2 desc, 1"), ("inspect", DEMO)):
                done = run(*arguments, "-q", cwd=folder / name, **words)
                tap.ok(done.status == 0, f"{name}: {arguments[0]} ends well", done)
                if done.out:
                    (folder / name / f"{arguments[0]}.out").write_text(done.out)
        for name in ("static", "Linux 4.18"):
            different = same_tree(folder / "dynamic", folder / name)
            # A batch records how long each run took and with which command.
            different = [n for n in different if not re.match(r"night/(.*\.log|.*result.*|.*\.jsonl?|history\.db|index\.html)", str(n))]
            tap.ok(not different, f"{name}: the bytes of the dynamic program", different)


def check_empty_root(tap):
    if not shutil.which("bwrap") or subprocess.run(["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"],
                                                   capture_output=True, check=False).returncode != 0:
        tap.skip("an empty root", "bubblewrap is not installed, or namespaces are forbidden")
        return
    with Scratch() as folder:
        trace = next(DEMO.rglob("*.xplane.pb*"))
        (folder / "out").mkdir()
        done = subprocess.run(["bwrap", "--unshare-all", "--clearenv", "--ro-bind", PROGRAM, "/tracemill", "--ro-bind", trace, f"/{trace.name}",
                               "--bind", folder / "out", "/out", "/tracemill", "report", f"/{trace.name}", "-o", "/out/report"],
                              capture_output=True, text=True, check=False)
        made = sorted(path.name for path in (folder / "out" / "report").glob("*"))
        tap.ok(done.returncode == 0 and made == ["report.html", "report.pdf", "report.txt", "summary.json"],
               "in a root with nothing but the program and a trace: the report is whole", done, made)


def check_goldens(tap, program, what, but=None, under=""):
    cases = [p.parent.name for p in sorted((ROOT / "tests" / "golden").glob("*/cmd")) if p.parent.name != but]
    done = subprocess.run([sys.executable, ROOT / "tests" / "golden" / "run.py", *cases], env=dict(os.environ, TM_BINARY=str(program), TM_UNDER=str(under)),
                          capture_output=True, text=True, check=False)
    tap.ok(done.returncode == 0, f"{what}: passes every golden case", "\n".join(l for l in done.stdout.splitlines() if not l.startswith("ok")))


def check_sbom(tap):
    document = json.loads((BUILD / "static" / "tracemill.spdx.json").read_text(encoding="utf-8"))
    named = {p["name"]: p for p in document["packages"]}
    want = {name for name, _, _ in sbom.KNOWN.values()} | {"tracemill"}
    tap.ok(set(named) == want, "SBOM: names every part of the program", set(named) ^ want)
    tap.ok(all(p["versionInfo"] and p["licenseDeclared"] for p in named.values()), "SBOM: each with version and licence", named)
    printed = dict(line.split() for line in run("version", binary=PROGRAM).out.splitlines()[1:])
    wrong = [f"{n}: {v} linked, {named[n]['versionInfo']} in the SBOM" for n, v in printed.items() if v not in named[n]["versionInfo"]]
    tap.ok(not wrong and printed, "SBOM: the versions that the program prints", *wrong)
    kept = {p.stem.replace("DejaVu-fonts", "DejaVu fonts") for p in (BUILD / "static" / "licenses").glob("*.txt") if p.stat().st_size > 500}
    tap.ok(kept == want - {"tracemill"}, "licenses: the text of each", kept ^ want)
    with Scratch() as folder:
        strange = folder / "map"
        strange.write_text("Archive member included\n\n/usr/lib/x86_64-linux-gnu/libstrange.a(a.o)\n\nMemory Configuration\n")
        done = subprocess.run([sys.executable, ROOT / "scripts/packaging/sbom.py", "--map", strange, "--versions", "/dev/null",
                               "--program", PROGRAM, "--release", "1", "-o", folder], capture_output=True, text=True, check=False)
        tap.ok(done.returncode != 0 and "libstrange.a" in done.stderr, "SBOM: an unknown library is an error", done)


def main():
    tap = Tap()
    check_notice(tap)
    if os.environ.get("TM_PACKAGING") and PROGRAM.exists():
        for check in (check_file, check_old_kernel, check_bytes, check_empty_root, check_sbom):
            check(tap)
        check_goldens(tap, PROGRAM, "static")
        check_goldens(tap, PROGRAM, "Linux 4.18", under=OLD_KERNEL)
        check_goldens(tap, BUILD / "portable" / "tracemill", "what POSIX has instead of what Linux has")
    else:
        tap.skip("the static program", "make test-packaging builds it")
    tap.done()


if __name__ == "__main__":
    main()
