#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A profile of two GPUs whose every figure is known by construction.

Eight steps of 10 ms; step i begins at T = 5 + 10 i ms.  Host: the marker `train` over [T, T+9]; in step 3 a
compilation over [T+1, T+3].  On each GPU: a copy to the device of 1 MiB, [T+1, +0.5]; a gemm, [T+2, +3]; a fused
add, [T+5, +0.5] on GPU 0 and +1.0 on GPU 1; an all-reduce, [T+4, +2.5]; a copy to the host of 4 KiB, [T+8, +0.25].
Each on a stream of its sort.  The numbers below follow from that by hand.  Skipped where the file is not there.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from differences import MISSING, Differences, at  # noqa: E402
from invariants import check as check_invariants  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import SHARED, Scratch, summary_of  # noqa: E402

PROFILE = SHARED / "traces" / "xspace" / "synthetic-2gpu-known-truth.xplane.pb"
MS = 10**9  # picoseconds
BASE = 10**6  # the lines begin 1 us after the profile
STEPS = 8

# Per step and GPU, in picoseconds: (GPU 0, GPU 1).
COMPUTE = (3.5 * MS, 4.0 * MS)
COLLECTIVE = (2.5 * MS, 2.5 * MS)
EXPOSED_COLLECTIVE = (1.0 * MS, 0.5 * MS)
COPY = (0.75 * MS, 0.75 * MS)
BUSY = (5.25 * MS, 5.25 * MS)
GAPS_IN_A_STEP = (0.5 + 1.5) * MS   # [1.5, 2] and [6.5, 8] after T
BETWEEN_STEPS = 2.75 * MS           # from T+8.25 to the next T+1


def compare_device(d, g, device):
    where = f"gpu{g}"
    gaps_ps = STEPS * GAPS_IN_A_STEP + (STEPS - 1) * BETWEEN_STEPS
    want = {
        "first_ps": BASE + 6 * MS,
        "last_ps": BASE + (5 + 70 + 8.25) * MS,
        "busy_ps": STEPS * BUSY[g],
        "idle_ps": gaps_ps,
        "compute_ps": STEPS * COMPUTE[g],
        "collective_ps": STEPS * COLLECTIVE[g],
        "exposed_collective_ps": STEPS * EXPOSED_COLLECTIVE[g],
        "copy_ps": STEPS * COPY[g],
        "exposed_copy_ps": STEPS * COPY[g],
        "exposed_by_direction_ps.h2d": STEPS * 0.5 * MS,
        "exposed_by_direction_ps.d2h": STEPS * 0.25 * MS,
        "gaps.count": STEPS * 2 + STEPS - 1,
        "gaps.total_ps": gaps_ps,
        "kernels.count": 3 * STEPS,
        "kernels.total_ps": STEPS * (3 + 2.5 + (0.5, 1.0)[g]) * MS,
        "collectives.count": STEPS,
        "collectives.total_ps": STEPS * 2.5 * MS,
        "copies.count": 2 * STEPS,
        "copies.bytes": STEPS * (1048576 + 4096),
    }
    for figure, value in want.items():
        d.equal(f"{where}.{figure}", int(value), at(device, figure))
    d.lists(f"{where}.steps.device_span_ps", [int(7.25 * MS)] * STEPS, at(device, "steps.device_span_ps"))
    d.lists(f"{where}.steps.activities", [5] * STEPS, at(device, "steps.activities"))
    # A period runs from the last end of the step before to its own: 10 ms; the first from the marker's begin.
    d.lists(f"{where}.steps.period_ps", [int(8.25 * MS)] + [10 * MS] * (STEPS - 1), at(device, "steps.period_ps"))


def compare_devices(d, summary):
    d.equal("devices", ["/device:GPU:0", "/device:GPU:1"], [v["name"] for v in summary["devices"]])
    for g, device in enumerate(summary["devices"]):
        compare_device(d, g, device)


def compare_steps(d, summary):
    d.equal("steps.count", STEPS, at(summary, "steps.count"))
    d.equal("steps.median_ps", 10 * MS, at(summary, "steps.median_ps"))
    d.equal("steps.list", list(range(STEPS)), [row["number"] for row in summary["steps"]["list"]])
    for row in summary["steps"]["list"]:
        where = f"steps[{row['number']}]"
        d.equal(f"{where}.host_span_ps", 9 * MS, row["host_span_ps"])
        d.equal(f"{where}.device_span_ps", int(7.25 * MS), row["device_span_ps"])
        d.equal(f"{where}.begin_ps", BASE + (5 + 10 * row["number"]) * MS, row["begin_ps"])


def compare_transfers(d, summary):
    for direction, size, length in (("h2d", 1048576, 0.5), ("d2h", 4096, 0.25)):
        row = next((r for r in summary["transfers"]["by_direction"] if r["direction"] == direction), {})
        want = {"count": 2 * STEPS, "bytes": 2 * STEPS * size, "total_ps": int(2 * STEPS * length * MS),
                "exposed_ps": int(2 * STEPS * length * MS)}
        for figure, value in want.items():
            d.equal(f"transfers.{direction}.{figure}", value, row.get(figure, MISSING))


def compare_kernels(d, summary):
    for part, count, total in (("gemm", 16, 48), ("nccl", 16, 40), ("loop_add_fusion", 16, 12)):
        row = next((r for r in summary["kernels"]["by_name"] if part in r["name"]), {})
        d.equal(f"kernels[{part}]", [count, total * MS], [row.get("count", MISSING), row.get("total_ps", MISSING)])


def compare_compiles(d, summary):
    for figure, value in (("count", 1), ("total_ps", 2 * MS), ("inside_steps.count", 1),
                          ("inside_steps.total_ps", 2 * MS), ("events.0.step", 3)):
        d.equal(f"compile.{figure}", value, at(summary, f"compile.{figure}"))


def compare_balance(d, summary):
    d.equal("balance.devices", 2, at(summary, "balance.devices"))
    d.equal("total.busy_ps", int(2 * STEPS * BUSY[0]), at(summary, "total.busy_ps"))
    d.equal("total.compute_ps", int(STEPS * sum(COMPUTE)), at(summary, "total.compute_ps"))


def main():
    tap = Tap()
    if not PROFILE.exists():
        tap.skip("two GPUs, known by construction", f"no profile at {PROFILE}")
        tap.done()
    with Scratch() as folder:
        result, summary = summary_of(PROFILE, folder, "--steps", "all")
    if summary is None or result.status != 0:
        tap.ok(False, "two GPUs, known by construction", result)
        tap.done()
    d = Differences("known-truth")
    for part in (compare_devices, compare_steps, compare_transfers, compare_kernels, compare_compiles, compare_balance,
                 check_invariants):
        d.part(part, summary)
    tap.ok(not d.wrong, f"two GPUs, known by construction: {d.compared} figures", d.report())
    tap.done()


if __name__ == "__main__":
    main()
