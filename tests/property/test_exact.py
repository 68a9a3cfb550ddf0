#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small made profiles against their truth, worked out again by the plainest means.  Needs nothing outside the
repository."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from deviation import stddev_ps  # noqa: E402
from differences import MISSING, Differences, at  # noqa: E402
from invariants import check as check_invariants  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, summary_of  # noqa: E402

SEEDS = range(1, 9)
DEVICE = ("first_ps", "last_ps", "busy_ps", "idle_ps", "compute_ps", "collective_ps", "exposed_collective_ps",
          "copy_ps", "exposed_copy_ps")


def compare_devices(d, truth, summary):
    mine = {v["name"]: v for v in summary["devices"]}
    d.equal("devices", sorted(truth["devices"]), sorted(mine))
    for name in sorted(set(truth["devices"]) & set(mine)):
        want, got = truth["devices"][name], mine[name]
        for figure in DEVICE:
            d.equal(f"{name}.{figure}", want[figure], at(got, figure))
        for direction in ("h2d", "d2h", "p2p", "d2d") if "GPU" in name else ():
            d.equal(f"{name}.exposed_by_direction_ps.{direction}", want["exposed_by_direction_ps"][direction],
                    at(got, f"exposed_by_direction_ps.{direction}"))
        d.equal(f"{name}.gaps.count", want["gap_count"], at(got, "gaps.count"))
        d.lists(f"{name}.gaps.longest", want["longest"], [g["dur_ps"] for g in got["gaps"]["longest"]])
        d.equal(f"{name}.activities", want["activities"], sum(n or 0 for n in at(got, "steps.activities")))


def compare_kernels(d, truth, summary):
    if not any(name.startswith("/device:GPU") for name in truth["devices"]):
        return
    kernels = {}
    for device in truth["devices"].values():
        for name, row in device["kernels"].items():
            have = kernels.get(name, (0, 0, row[2], row[3], 0))
            kernels[name] = (have[0] + row[0], have[1] + row[1], min(have[2], row[2]), max(have[3], row[3]),
                             have[4] + row[4])
    want = {name: (*row[:4], stddev_ps(row[0], row[1], row[4])) for name, row in kernels.items()}
    mine = {r["name"]: tuple(r[f] for f in ("count", "total_ps", "min_ps", "max_ps", "stddev_ps"))
            for r in summary["kernels"]["by_name"]}
    d.equal("kernels.by_name", sorted(want.items()), sorted(mine.items()))


def compare_copies(d, truth, summary):
    copies = {}
    for device in truth["devices"].values():
        for direction, row in device["copies"].items():
            copies[direction] = tuple(a + b for a, b in zip(copies.get(direction, (0, 0, 0)), row))
    got = {r["direction"]: (r["count"], r["bytes"], r["total_ps"])
           for r in (summary["transfers"] or {}).get("by_direction", []) if r["count"]}
    for direction, want in copies.items():
        d.equal(f"transfers.{direction}", want, got.get(direction, MISSING))


def compare_steps(d, truth, summary):
    d.equal("steps", truth["markers"], [(r["number"], r["begin_ps"], r["host_span_ps"])
                                        for r in summary["steps"]["list"]])


def compare_compiles(d, truth, summary):
    d.equal("compile.events", [list(c) for c in truth["compiles"]],
            [[e["begin_ps"], e["dur_ps"], e["step"]] for e in summary["compile"]["events"]])


def compare_memory(d, truth, summary):
    allocators = {r["name"]: r for r in (summary["memory"] or {}).get("allocators", [])}
    for name, row in truth["memory"].items():
        for figure, want in row.items():
            d.equal(f"memory[{name}].{figure}", want, allocators.get(name, {}).get(figure, MISSING))


def compare_coverage(d, truth, summary):
    d.equal("coverage.events_read", truth["events"], at(summary, "coverage.events_read"))


def main():
    tap = Tap()
    for kind, make in make_profile.MAKERS.items():
        for seed in SEEDS:
            space = make(seed=seed, steps=4 + seed % 3, devices=1 + seed % 3)
            with Scratch() as folder:
                path = folder / "host0.xplane.pb"
                path.write_bytes(space.encode())
                result, summary = summary_of(path, folder / "out", "--steps", "all")
            name = f"{kind} profile, seed {seed}"
            if summary is None or result.status != 0:
                tap.ok(False, name, result)
                continue
            d = Differences(name)
            truth = make_profile.truth_of(space)
            for part in (compare_devices, compare_kernels, compare_copies, compare_steps, compare_compiles, compare_memory,
                         compare_coverage):
                d.part(part, truth, summary)
            d.part(check_invariants, summary)
            tap.ok(not d.wrong, f"{name}: {d.compared} figures", d.report())
    tap.done()


if __name__ == "__main__":
    main()
