#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nothing costs more than it is long, and figures do not depend on the memory: shapes that are hard to hold, in two
sizes.

    test_shapes.py [--only SHAPE] [--events N] [--verb report|convert|inspect]

Four times the events may cost seven times the time of the processor, beyond what an empty trace costs: what is
quadratic costs sixteen times as much.  Memory stays within its limit, and the summary is the same with much of it.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import hard_shapes  # noqa: E402
from cost import Cost  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BINARY, SANITIZED, UNDER, Scratch  # noqa: E402

EVENTS, TIMES, MOST_TIMES, LEAST_S = 20_000, 4, 7, 0.15
MEMORY_MIB, MUCH_MIB, OVERHEAD_MIB = 32, 256, 16
STATUSES = (0, 4, 6)  # done; done, and what is left out is told; more than a limit allows


def commands(path, folder, verbs):
    memory = ["--memory", f"{MEMORY_MIB}M", "--quiet"]
    known = {"report": [BINARY, "report", path, "-o", folder / "out", "--format", "json,html", *memory],
             "convert": [BINARY, "convert", path, "-o", folder / "out.pftrace", *memory],
             "inspect": [BINARY, "inspect", path, "--memory", f"{MEMORY_MIB}M"]}
    return {verb: known[verb] for verb in verbs}


def cost_of(shape, events, folder, verbs):
    path = folder / "t.trace.json"
    hard_shapes.write(shape, events, path)
    return {verb: Cost(command) for verb, command in commands(path, folder, verbs).items()}


def spent(cost, empty):
    return max(cost.seconds - empty.seconds, 0)


def is_linear(small, large, empty):
    more = spent(large, empty)
    return more < LEAST_S or more <= MOST_TIMES * spent(small, empty)


def measure(shape, events, folder, verbs, empty):
    """Costs of both sizes by verb; where one looks dear, what else runs on the machine may be why: the least of three."""
    costs = [cost_of(shape, count, folder, verbs) for count in (events, TIMES * events)]
    for _ in range(2):
        if all(is_linear(costs[0][verb], costs[1][verb], empty[verb]) for verb in verbs):
            break
        again = [cost_of(shape, count, folder, verbs) for count in (events, TIMES * events)]
        costs = [{verb: min(a[verb], b[verb], key=lambda cost: cost.seconds) for verb in verbs}
                 for a, b in zip(costs, again)]
    return costs


def judge(tap, shape, verb, empty, small, large):
    is_within = UNDER or large.mib <= MEMORY_MIB + OVERHEAD_MIB
    tap.ok(small.status in STATUSES and large.status in STATUSES and is_linear(small, large, empty) and
           (SANITIZED or is_within), f"{verb}: {shape}",
           f"{spent(small, empty):.3f} s, then {spent(large, empty):.3f} s; {large.mib:.0f} MiB; "
           f"status {small.status}, {large.status}",
           large.said[-500:])


def same_figures(tap, shape, folder, large):
    """Of the file that is there, whose report with little memory is there, too; large: what that cost."""
    path, out = folder / "t.trace.json", folder / "out-much"
    much = Cost([BINARY, "report", path, "-o", out, "--format", "json,html", "--memory", f"{MUCH_MIB}M", "--quiet"])
    made = [(place / "summary.json").read_bytes() if cost.status == 0 else cost.said
            for cost, place in ((large, folder / "out"), (much, out))]
    tap.ok(made[0] == made[1], f"the same figures at {MEMORY_MIB}M and {MUCH_MIB}M: {shape}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=sorted(hard_shapes.SHAPES))
    parser.add_argument("--events", type=int, default=EVENTS // 4 if SANITIZED else EVENTS)
    parser.add_argument("--verb", action="append", choices=("report", "convert", "inspect"))
    parser.add_argument("--show", action="store_true", help="what each costs")
    options = parser.parse_args()
    verbs = options.verb or ["report", "convert"]
    tap = Tap()
    with Scratch() as folder:
        empty = cost_of("nested", 0, folder, verbs)
        for shape in [options.only] if options.only else hard_shapes.SHAPES:
            small, large = measure(shape, options.events, folder, verbs, empty)
            for verb in verbs:
                judge(tap, shape, verb, empty[verb], small[verb], large[verb])
                if options.show:
                    print(f"# {shape:20}{verb:8}{small[verb].seconds:8.3f}{large[verb].seconds:8.3f} s "
                          f"{large[verb].mib:6.0f} MiB, status {large[verb].status} {large[verb].said[:150].strip()}")
            if "report" in verbs:
                same_figures(tap, shape, folder, large["report"])
    tap.done()


if __name__ == "__main__":
    main()
