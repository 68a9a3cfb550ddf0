#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exposed time of copies and collectives, with every choice of steps: it is part of the time of its row, rows and what
lies outside of the chosen steps add up to the devices, waiting, moving and unmatched add up to it; and of a TPU what is
in flight is that of the window, and null where it is not recorded.

Profiles come from the generator ($TM_SHARED/tools/make_trace.py) and out of $TM_SHARED/traces; without them the cases are
skipped.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from differences import Differences  # noqa: E402
from invariants import check_communication  # noqa: E402
from made import GENERATOR, run_generator  # noqa: E402
from slow_figures import Run, in_flight  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import SHARED, Scratch, summary_of  # noqa: E402

CHOICES = ((), ("--steps", "all"), ("--steps", "1:3"), ("--steps", "2:"), ("--skip-steps", "1"),
           ("--steps", "1:2", "--rows", "1"), ("--window", "session"))
GENERATED = {
    "gpu, copies": ["--scenario", "transfers", "--async", "0.7"],
    "gpu, everything": ["--scenario", "mixed", "--devices", "2", "--async", "0.4"],
    "gpu, collectives": ["--scenario", "comm", "--devices", "2", "--async"],
    "gpu, a slow device": ["--scenario", "comm", "--devices", "4", "--slow-device", "2=1.3"],
    "gpu, nothing overlaps": ["--scenario", "mixed", "--no-overlap"],
    "tpu, collectives": ["--platform", "tpu", "--scenario", "comm", "--devices", "2", "--async"],
    "tpu, everything": ["--platform", "tpu", "--scenario", "mixed"],
    "cpu": ["--platform", "cpu", "--scenario", "comm"],
}
CATALOG = ("xspace/*.xplane.pb", "jax-json/*", "kineto/*trace_filter*", "kineto/*nccl_parser*", "kineto/*resnet_act*")


def compare_flights(d, run, summary):
    """What the devices have in flight in their windows."""
    for row in summary["devices"]:
        begin = row["first_ps"] - row.get("lead_ps", 0)
        end = row["last_ps"] + row.get("trail_ps", 0)
        want = in_flight(run, row["id"].split("/", 1)[1], begin, end)
        d.equal(f"{row['id']}.in_flight_ps", want["in_flight_ps"], row["in_flight_ps"])
        d.equal(f"{row['id']}.hidden_ps", want["hidden_ps"], row["hidden_ps"])
        for kind, (count, total) in want["counts"].items():
            got = row["tpu"]["in_flight"][kind]
            d.equal(f"{row['id']}.tpu.in_flight.{kind}", [count, total], [got["count"], got["total_ps"]])


def compare_nothing_in_flight(d, _, summary):
    """Asynchronous operations are not in a JSON."""
    for row in summary["devices"]:
        for figure in ("in_flight_ps", "hidden_ps"):
            d.equal(f"{row['id']}.{figure}", None, row[figure])
            d.equal(f"{row['id']}: why no {figure}", True, len(row["why"][figure]) > 10)
        d.equal(f"{row['id']}.tpu.in_flight", None, row["tpu"]["in_flight"])


def check(tap, folder, name, path, flights):
    """flights: what to compare of a TPU, or None."""
    run = Run(path) if flights is compare_flights else None
    for options in CHOICES:
        label = f"{name} {' '.join(options)}"
        result, summary = summary_of(path, folder / "out", *options)
        if summary is None or not summary["devices"]:
            tap.ok(result.status in (0, 3, 4), f"{label}: no device", result)
            continue
        d = Differences(label)
        d.part(check_communication, summary)
        tap.ok(not d.wrong, f"{label}: exposed time", d.report())
        if flights:
            d = Differences(label)
            d.part(flights, run, summary)
            tap.ok(not d.wrong, f"{label}: in flight", d.report())


def check_generated(tap, folder, name, options):
    done = run_generator(folder / "host0", "--events", 12000, "--steps", 6, "--format", "xplane,json", "--quiet", *options)
    if done.returncode:
        tap.skip(name, done.stderr.strip().splitlines()[-1] if done.stderr else "the generator failed")
        return
    is_tpu = name.startswith("tpu")
    check(tap, folder, name, folder / "host0.xplane.pb", compare_flights if is_tpu else None)
    if is_tpu:
        check(tap, folder, f"{name}, JSON", folder / "host0.trace.json.gz", compare_nothing_in_flight)


def main():
    tap = Tap()
    with Scratch() as folder:
        for i, (name, options) in enumerate(GENERATED.items()):
            place = folder / str(i)
            place.mkdir()
            if GENERATOR.exists():
                check_generated(tap, place, name, options)
            else:
                tap.skip(name, f"no generator at {GENERATOR}")
        for pattern in CATALOG:
            for path in sorted((SHARED / "traces").glob(pattern)):
                check(tap, folder, path.name, path, None)
    tap.done()


if __name__ == "__main__":
    main()
