#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One rule, one row of schemas/findings.json and one row of the documentation add a finding: a patch that does so
(tests/data/add_finding.patch) is built in a copy of the tree, and reports show the finding.

The copy takes the objects of this build, so that only what the patch changes is compiled.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from tap import Tap  # noqa: E402
from tracemill import BUILD, DEMO, ROOT, SANITIZED, Scratch, run  # noqa: E402

PATCH = ROOT / "tests" / "data" / "add_finding.patch"
NEEDED = ("Makefile", "pipeline", "stages", "reports", "schemas", "scripts", "docs", "tests/property", "tests/support")
OBJECTS = ("obj", "gen", "flags", ".deps-checked")
OBJECTS_MADE = [Path("build/obj/gen/findings_table.o"), Path("build/obj/reports/findings/profile_findings.o")]
FINDING = {"id": "profile_short", "severity": "warning", "cause": "The profiler was stopped early.",
           "fix": ["Profile ten steps or more."]}


def copy_tree(to):
    for name in NEEDED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, to / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(ROOT / name, to / name)
    for name in OBJECTS:
        if (BUILD / name).is_dir():
            shutil.copytree(BUILD / name, to / "build" / name)
        else:
            shutil.copy2(BUILD / name, to / "build" / name)


def tool(folder, *command):
    environment = {k: v for k, v in os.environ.items() if k not in ("BUILD", "MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)


def check_patch(tap):
    files = re.findall(r"^\+\+\+ b/(\S+)", PATCH.read_text(encoding="utf-8"), re.M)
    tap.ok(len(files) <= 3 and len([name for name in files if name.endswith(".c")]) == 1, "three files change", files)


def check_build(tap, folder):
    built = tool(folder, "make", "-j2", "WERROR=1", "build/tracemill")
    objects = re.findall(r"^ *cc +(\S+)", built.stdout, re.M)
    tap.ok(sorted(map(Path, objects)) == OBJECTS_MADE, "two objects are made anew", objects)
    return tap.ok(built.returncode == 0, "it builds", built.stdout[-2000:], built.stderr[-2000:])


def check_report(tap, folder):
    out = folder / "out"
    result = run("report", DEMO, "-o", out, "--format", "json,text,html", binary=folder / "build" / "tracemill")
    tap.ok(result.status == 0, "the new program makes a report", result)
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    found = next((f for f in summary["findings"] if f["id"] == FINDING["id"]), None)
    if not tap.ok(found, "the finding is in the summary", [f["id"] for f in summary["findings"]]):
        return
    tap.ok({key: found[key] for key in FINDING} == FINDING, "with the texts of its row", found)
    filled = re.fullmatch(r"The profile covers only [\d.]+ \S+", found["title"])
    tap.ok(filled, "its title has the argument", found["title"])
    for name in ("report.txt", "report.html"):
        tap.ok(found["title"] in (out / name).read_text(encoding="utf-8"), f"{name} shows it")


def main():
    tap = Tap()
    if SANITIZED or BUILD != ROOT / "build":
        tap.skip("a finding is added", "objects of another build")
        tap.done()
    check_patch(tap)
    with Scratch() as folder:
        copy_tree(folder)
        tool(folder, "make", "-j2", "build/tracemill")
        applied = tool(folder, "patch", "-p1", "-i", str(PATCH))
        if tap.ok(applied.returncode == 0, "the patch applies", applied.stdout) and check_build(tap, folder):
            check_report(tap, folder)
            held = tool(folder, sys.executable, "tests/property/test_finding_table.py")
            tap.ok(held.returncode == 0, "table and rules still agree", held.stdout[-2000:])
    tap.done()


if __name__ == "__main__":
    main()
