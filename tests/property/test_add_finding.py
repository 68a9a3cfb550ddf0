#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One rule, one row of schemas/findings.json and one row of the documentation add a finding: a patch that does so
(tests/data/add_finding.patch) is built in a copy of the tree, and reports show the finding.

The copy takes the objects of this build, so that only what the patch changes is compiled.
"""

import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from patched_tree import build_with, changed_files, tool  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BUILD, DEMO, ROOT, SANITIZED, Scratch, run  # noqa: E402

PATCH = ROOT / "tests" / "data" / "add_finding.patch"
OBJECTS_MADE = ["build/obj/gen/findings_table.o", "build/obj/reports/findings/profile_findings.o"]
FINDING = {"id": "profile_short", "severity": "warning", "cause": "The profiler was stopped early.",
           "fix": ["Profile ten steps or more."]}


def check_patch(tap):
    files = changed_files(PATCH)
    tap.ok(len(files) <= 3 and len([name for name in files if name.endswith(".c")]) == 1, "three files change", files)


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
        is_built, objects = build_with(tap, folder, PATCH)
        tap.ok(objects == OBJECTS_MADE, "two objects are made anew", objects)
        if is_built:
            check_report(tap, folder)
            held = tool(folder, sys.executable, "tests/property/test_finding_table.py")
            tap.ok(held.returncode == 0, "table and rules still agree", held.stdout[-2000:])
    tap.done()


if __name__ == "__main__":
    main()
