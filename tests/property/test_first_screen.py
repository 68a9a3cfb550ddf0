#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The first screen and the findings agree, and no idle time is saved twice: of every summary of the golden files, and of
every file of $TM_SHARED/traces where they are."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from findings import first_screen, problems_of  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import SHARED, Scratch, summary_of  # noqa: E402

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
TRACES = SHARED / "traces"
FOLDERS = ("xspace/*.pb", "jax-json/*", "kineto/*", "logdir/*")
TOO_LITTLE = "Too little was recorded to judge"
RULES = ("no idle time is at stake twice", "severity follows from the time at stake")


def too_little(summary):
    """Nothing is judged, and nothing is found but what is about the profile."""
    if not summary["verdict"]["text"].startswith(TOO_LITTLE):
        return []
    bands = [k["id"] for k in summary["kpis"] if k["band"] != "unknown"]
    return [f"judged: {bands}"] * bool(bands) + [f["id"] for f in summary["findings"] if f["at_stake_ps"]]


def check(tap, name, summary):
    problems = {rule: lines for rule, lines in problems_of(summary).items() if rule in RULES}
    wrong = [f"{rule}: {line}" for rule, lines in problems.items() for line in lines]
    wrong += first_screen(summary) + too_little(summary)
    first = summary["findings"][0]["id"] if summary["findings"] else ""
    if first == "idle_edges":
        wrong.append("idle_edges comes first")
    tap.ok(not wrong, name, *wrong[:10])


def main():
    tap = Tap()
    for path in sorted(GOLDEN.rglob("summary.json")):
        summary = json.loads(path.read_text(encoding="utf-8"))
        if summary.get("schema") == "tracemill.summary":
            check(tap, f"golden {path.parent.relative_to(GOLDEN)}", summary)
    with Scratch() as folder:
        for number, path in enumerate(sorted(p for pattern in FOLDERS for p in TRACES.glob(pattern))):
            _, summary = summary_of(path, folder / f"out-{number}")
            if summary is not None:
                check(tap, str(path.relative_to(TRACES)), summary)
    tap.done()


if __name__ == "__main__":
    main()
