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
from patched_tree import test_addition, tool  # noqa: E402
from tracemill import DEMO, ROOT, run  # noqa: E402

PATCH = ROOT / "tests" / "data" / "add_finding.patch"
OBJECTS_MADE = ["build/obj/gen/findings_table.o", "build/obj/reports/findings/profile_findings.o"]
FINDING = {"id": "profile_short", "severity": "warning", "cause": "The profiler was stopped early.",
           "fix": ["Profile ten steps or more."]}


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
        text = (out / name).read_text(encoding="utf-8").replace("\xa0", " ")  # which keeps a number and its unit together
        tap.ok(found["title"] in text, f"{name} shows it")


def check_finding(tap, folder, files, objects):
    tap.ok(len([name for name in files if name.endswith(".c")]) == 1, "one C file changes", files)
    tap.ok(objects == OBJECTS_MADE, "two objects are made anew", objects)
    check_report(tap, folder / "tree")
    held = tool(folder / "tree", sys.executable, "tests/property/test_finding_table.py")
    tap.ok(held.returncode == 0, "table and rules still agree", held.stdout[-2000:])


if __name__ == "__main__":
    test_addition("a finding", PATCH, 3, check_finding)
