#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiled programs (HLO) in a profile that are cut, or are no programs: status 4, a tally and a line that tells where, in the
report, in `inspect` and in `check --init`; and nobody is told to switch on what was on."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzz"))
import make_profile  # noqa: E402
import make_seeds  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run  # noqa: E402

TOLD = "the HLO of a program is damaged (byte "


def profile():
    """Of GPUs, whose kernels have no framework path: the programs alone have them."""
    space = make_profile.gpu(seed=2, steps=3, devices=1, per_step=8)
    for plane in space.planes:
        for line in plane.lines:
            for event in line.events:
                event.stats.pop("name", None)
    return space.encode()


def look(tap, folder, name, proto, is_damaged):
    folder = folder / name.replace(" ", "-")
    folder.mkdir()
    path, gates = folder / "host0.xplane.pb", folder / "gates.json"
    path.write_bytes(profile() + make_seeds.program(proto))
    report = run("report", path, "-o", folder / "out", "--format", "json", "-q")
    summary = json.loads((folder / "out" / "summary.json").read_text(encoding="utf-8"))
    count = summary["coverage"]["tallies"].get("damaged-program", {})
    count = count.get("count", 0) if isinstance(count, dict) else count
    inspect = run("inspect", path)
    init = run("check", path, "--init", "--gate", gates, "-q")
    strict = run("report", path, "-o", folder / "strict", "--format", "json", "--strict", "-q")
    wanted = 4 if is_damaged else 0
    tap.ok(report.status == wanted and (TOLD in report.err) == is_damaged, f"report: {name}", report)
    tap.ok(bool(count) == is_damaged, f"the tally: {name}", summary["coverage"]["tallies"])
    tap.ok(inspect.status == wanted and (TOLD in inspect.out) == is_damaged, f"inspect: {name}", inspect)
    tap.ok(init.status == wanted and gates.exists() and (TOLD in init.err) == is_damaged, f"check --init: {name}", init)
    tap.ok((strict.status == 3) == is_damaged, f"--strict: {name}", strict)
    if is_damaged:
        tap.ok("enable_hlo_proto" not in json.dumps(summary) + inspect.out, f"no advice to keep the programs: {name}")
        tap.ok("no_framework_paths" in json.dumps(summary), f"what lacks is told: {name}")


def main():
    tap = Tap()
    whole = make_seeds.program_proto()
    with Scratch() as folder:
        look(tap, Path(folder), "whole", whole, False)
        look(tap, Path(folder), "cut in the middle", whole[:len(whole) // 2], True)
        look(tap, Path(folder), "cut at its last byte", whole[:-1], True)
        look(tap, Path(folder), "garbage", bytes(range(255, 55, -1)), True)
        look(tap, Path(folder), "zeros", bytes(200), True)
    tap.done()


if __name__ == "__main__":
    main()
