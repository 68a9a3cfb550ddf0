#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The schemas and pages of schemas/ are what the tables of fields in pipeline/doc/ make (`make schemas`)."""

import difflib
import json
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from schemas import validator_of  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BUILD, ROOT  # noqa: E402

NAMES = re.search(r"^SCHEMAS := (.*)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)[1].split()


def made(name, what):
    return subprocess.run([BUILD / "tests" / "print_schema", name, what], capture_output=True, text=True, check=True).stdout


def check_file(tap, path, text):
    kept = path.read_text(encoding="utf-8")
    lines = difflib.unified_diff(kept.splitlines(), text.splitlines(), "kept", "made", lineterm="", n=0)
    tap.ok(kept == text, f"{path.name} is what its tables make: make schemas", *list(lines)[:20])


def main():
    tap = Tap()
    for name in NAMES:
        check_file(tap, ROOT / "schemas" / f"{name}.schema.json", made(name, "json"))
        check_file(tap, ROOT / "schemas" / f"{name.upper()}.md", made(name, "page"))
        validator_of(tap, name)  # is a schema
    page = (ROOT / "schemas" / "SUMMARY.md").read_text(encoding="utf-8")
    used = set(re.findall(r"^\| `\w+` \| .*?`([\w.*\[\]]+)`[ ,]", page, re.M)) - set(re.findall(r"^#+ `(.*)`$", page, re.M))
    unknown = {path for path in used if ("." in path or "[" in path) and not path.startswith("tracemill.")}
    tap.ok(not unknown, "objects that the page names are on it", sorted(unknown))
    schema = json.loads((ROOT / "schemas" / "summary.schema.json").read_text(encoding="utf-8"))
    kept = {name for name in schema["$defs"] if f'"#/$defs/{name}"' in json.dumps(schema)}
    tap.ok(len(kept) > 20, "definitions are used", sorted(set(schema["$defs"]) - kept))
    refused = subprocess.run([BUILD / "tests" / "print_schema", "nothing", "json"], capture_output=True, text=True, check=False)
    tap.ok(refused.returncode == 2, "an unknown document is refused")
    tap.done()


if __name__ == "__main__":
    main()
