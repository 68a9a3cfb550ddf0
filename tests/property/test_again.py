#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How a report was made: the choices are in the summary, and the command line that the report tells makes it again."""

import json
import shlex
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run  # noqa: E402

DEFAULTS = {"steps": "auto", "skip_steps": "auto", "window": "steps", "gap_min": "10us", "rows": "500"}
CASES = {
    "defaults": ([], {}),
    "steps and window": (["--steps", "1:4", "--window", "session"], {"steps": "1:4", "window": "session"}),
    "warm-up, gaps and rows": (["--skip-steps", "2", "--gap-min", "1us", "--rows", "3"],
                               {"skip_steps": "2", "gap_min": "1us", "rows": "3"}),
}
NAMES = ["host.xplane.pb", "a b's $HOME `x` \"y\".xplane.pb", "-o.xplane.pb"]


def told_again(text):
    """The command of the text report, as a list; its lines were wrapped at blanks."""
    lines = text[text.index("Reproduce: ") + len("Reproduce: "):].splitlines()
    end = next(i for i, line in enumerate(lines) if not line or line.startswith(("INPUT:", "FILE:")))
    return shlex.split(" ".join(lines[:end]))


def report(folder, inputs, out, options):
    result = run("report", *inputs, "-o", out, "--format", "json,text", *options, cwd=folder)
    if result.status != 0:
        return result, None, None
    return result, (folder / out / "summary.json").read_bytes(), (folder / out / "report.txt").read_text("utf-8")


def check(tap, folder, label, name, options, told):
    path = folder / name
    path.write_bytes(make_profile.gpu(seed=1, steps=8).encode())
    operand = f"./{name}" if name.startswith("-") else name
    result, summary, text = report(folder, [operand], "first", options)
    if summary is None:
        tap.ok(False, f"{label}: a report is made", result)
        return
    settings = json.loads(summary)["settings"]
    tap.ok(settings == {**DEFAULTS, **told}, f"{label}: the choices are in the summary", result, str(settings))
    command = told_again(text)
    tap.ok(command[:2] == ["tracemill", "report"], f"{label}: a command is told", result, " ".join(command))
    again, same, _ = report(folder, [], "second", command[2:])
    tap.ok(same == summary, f"{label}: the command makes the same summary", again, shlex.join(command))


def thresholds(tap, folder):
    """Those that differ from the built-in ones are listed; cut out of the summary they make the same report."""
    (folder / "host.xplane.pb").write_bytes(make_profile.gpu(seed=1, steps=8).encode())
    (folder / "own.json").write_text(json.dumps({
        "schema": "tracemill.thresholds", "schema_version": 1,
        "kpis": [{"id": "device_utilization", "good": 99.5, "bad": 60}], "limits": [{"id": "straggler", "value": 7}]}))
    result, summary, text = report(folder, ["host.xplane.pb"], "first", ["--thresholds", "own.json"])
    if summary is None:
        tap.ok(False, "thresholds: a report is made", result)
        return
    listed = text[text.index("Changed thresholds:"):]
    tap.ok("good 99.5%, critical 60%" in listed and "good 80%, critical 50%" in listed and "Straggler" in listed,
           "thresholds that were changed are listed", result, listed[:400])
    tap.ok(told_again(text)[-2:] == ["--thresholds", "FILE"], "the command tells of a file of thresholds", result)
    (folder / "cut.json").write_text(json.dumps(json.loads(summary)["thresholds"]))
    again, same, _ = report(folder, ["host.xplane.pb"], "second", ["--thresholds", "cut.json"])
    tap.ok(same == summary, "thresholds cut out of the summary make the same summary", again)


def many_files(tap, folder):
    """More files than fit into a line are not listed there."""
    for number in range(6):
        (folder / f"h{number}.xplane.pb").write_bytes(make_profile.gpu(seed=number, steps=4).encode())
    result, _, text = report(folder, sorted(p.name for p in folder.glob("*.pb")), "out", [])
    tap.ok(text is not None and told_again(text) == ["tracemill", "report", "INPUT"], "six files are one INPUT", result)


def main():
    tap = Tap()
    for label, (options, told) in CASES.items():
        with Scratch() as folder:
            check(tap, folder, label, NAMES[0], options, told)
    for name in NAMES[1:]:
        with Scratch() as folder:
            check(tap, folder, f"a file called {name}", name, [], {})
    for part in (thresholds, many_files):
        with Scratch() as folder:
            part(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
