#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a log gets: verdict, findings and paths in at most 100 columns, without escapes; in GitHub Actions a job summary, and
annotations for gates that failed; a JUnit file that names value, limit and direction."""

import json
import os
import pty
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BINARY, Scratch, run  # noqa: E402

ACTIONS = ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY")


def check_log(tap, name, folder, *words):
    """words: of a verb that writes a document into out"""
    result = run(*words, "-o", folder / "out", "--format", "json,text")
    document = json.loads((folder / "out" / f"{'summary' if name == 'report' else name}.json").read_text(encoding="utf-8"))
    lines = result.out.splitlines()
    flat = " ".join(result.out.split())
    tap.ok(" ".join(document["verdict"]["text"].split()) in flat, f"{name}: the verdict is in the log", result)
    missing = [f["title"] for f in document["findings"][:3] if " ".join(f["title"].split()) not in flat]
    tap.ok(not missing, f"{name}: and the first findings", *missing)
    tap.ok(lines[-1].startswith(f"written to {folder / 'out'}: ") and ".json" in lines[-1], f"{name}: and where it is", lines[-1])
    tap.ok(all(len(line) <= 100 for line in lines[:-1]) and "\x1b" not in result.out, f"{name}: lines are short and plain", result.out)
    tap.ok(run(*words, "-o", folder / "out", "--format", "json", "-q").out == "", f"{name}: --quiet says nothing")


def on_terminal(kind, *words):
    """What a terminal of that kind gets."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["TERM"] = kind
        os.environ.pop("NO_COLOR", None)
        os.execv(BINARY, [str(BINARY), *map(str, words)])
    data = b""
    while True:
        try:
            block = os.read(terminal, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not block:
            break
        data += block
    os.close(terminal)
    os.waitpid(pid, 0)
    return data


def check_actions(tap, profile, folder):
    summary = folder / "summary.md"
    gates = folder / "gates.json"
    gates.write_text(json.dumps({"gates": [{"figure": "steps.median_ps", "max": "1ns"}, {"figure": "steps.count", "min": 1}]}))
    os.environ.update(zip(ACTIONS, ("true", str(summary))))
    try:
        run("report", profile, "-o", folder / "out", "--format", "json")
        text = summary.read_text(encoding="utf-8")
        verdict = json.loads((folder / "out" / "summary.json").read_text(encoding="utf-8"))["verdict"]["text"]
        tap.ok(text.startswith("# ") and verdict.split(";")[0] in text.replace("\\", ""), "a job summary has the report", text[:400])
        result = run("check", profile, "--gate", gates, "--junit", folder / "gates.xml", "--json")
        tap.ok(len(summary.read_text(encoding="utf-8")) > len(text), "the next step adds to it")
        notes = [line for line in result.err.splitlines() if line.startswith("::")]
        tap.ok(len(notes) == 1 and re.fullmatch(r"::error title=Gate failed::steps\.median_ps of .+ is .+; the limit is at most 1ns", notes[0]),
               "a gate that failed is an annotation, one that passed is none", *notes)
        tap.ok(json.loads(result.out)["counts"]["failed"] == 1, "the JSON stays whole")
        os.environ["GITHUB_STEP_SUMMARY"] = str(folder / "none" / "summary.md")
        tap.ok(run("report", profile, "-o", folder / "out", "--format", "json").status == 0, "a summary that cannot be written stops nothing")
    finally:
        for name in ACTIONS:
            os.environ.pop(name, None)
    message = re.search(r'<failure message="([^"]*)"', (folder / "gates.xml").read_text(encoding="utf-8")).group(1)
    tap.ok(re.search(r"it is [\d.]+ .?s", message) and message.endswith("the limit is at most 1ns"), "JUnit names value, limit and direction", message)
    before = summary.read_text(encoding="utf-8")
    result = run("check", profile, "--gate", gates)
    tap.ok(summary.read_text(encoding="utf-8") == before and "::" not in result.err, "elsewhere there is neither", result.err)


def main():
    tap = Tap()
    with Scratch() as folder:
        profile = make_profile.write_all(folder, seed=7)["gpu"]
        check_log(tap, "report", folder, "report", profile)
        (folder / "new").mkdir()
        check_log(tap, "compare", folder, "compare", profile, make_profile.write_all(folder / "new", seed=8)["gpu"])
        plain, colored = (on_terminal(kind, "report", profile, "-o", folder / "out", "--format", "json") for kind in ("dumb", "xterm"))
        tap.ok(b"\x1b" not in plain and b"written to" in plain, "TERM=dumb gets no escapes", plain)
        tap.ok(b"\x1b[31m" in colored, "other terminals get colors", colored)
        check_actions(tap, profile, folder)
    tap.done()


if __name__ == "__main__":
    main()
