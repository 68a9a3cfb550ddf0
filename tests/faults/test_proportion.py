#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a trace costs grows as the trace does, also where all that is counted has to spill: eight times as many processes, threads
or names take at most twelve times the time of the processor, in order or not, a limited multiple of what gzip takes for the
same file on the same machine, and some KiB of spill files each.

    test_proportion.py [--only WORD]
"""

import argparse
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from cost import Cost  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BINARY, SANITIZED, UNDER, Scratch  # noqa: E402

FEW, TIMES, MOST_TIMES, TRIES = 60_000, 8, 12, 3  # in proportion to the square it would be 64 times
MOST_KIB = 4  # that each may write to spill files
PROCESS = b'{"ph":"X","pid":%d,"tid":1,"ts":%d,"dur":1,"name":"n"}'
THREAD = b'{"ph":"X","pid":1,"tid":%d,"ts":%d,"dur":1,"name":"n"}'
NAME = b'{"ph":"X","name":"n%d","pid":1,"tid":1,"ts":%d,"dur":1}'


def in_order(i):
    return i


def at_random(i):
    return i * 0x9E3779B97F4A7C15 % 2**64 >> 24  # no two of a million are the same, or near each other


KINDS = {  # an event; the id of number i; the verb; the most that it takes, in times of gzip: twice what was measured
    "processes": (PROCESS, in_order, "convert", 40),
    "threads": (THREAD, in_order, "convert", 20),
    "names": (NAME, in_order, "inspect", 7),
    "random processes": (PROCESS, at_random, "convert", 18),
    "random threads": (THREAD, at_random, "convert", 14),
}


def write(path, event, id_of, count):
    with open(path, "wb") as file:
        file.write(b'{"traceEvents":[')
        for begin in range(0, count, 10_000):
            file.write((b",\n" if begin else b"") + b",\n".join(event % (id_of(i), i) for i in range(begin, begin + 10_000)))
        file.write(b"]}")


def cost_of(verb, path, folder):
    words = ["-o", folder / "out.pftrace", "-q"] if verb == "convert" else []
    (folder / "out.pftrace").unlink(missing_ok=True)
    return Cost([BINARY, verb, path, "--memory", "32M", "--tmp", folder, "--stats", *words], 280)


def gzip(path):
    return Cost(["gzip", "-c", path], 280)


def spilled_kib(cost):
    found = re.search(r"^spilled +([0-9.]+) MiB$", cost.said, re.MULTILINE)
    return float(found[1]) * 1024 if found else 0


def better(one, other):
    return min(one, other, key=lambda cost: cost.seconds)


def is_in_proportion(small, large, usual, most):
    return large.seconds <= MOST_TIMES * small.seconds and large.seconds <= most * usual.seconds


def grows(tap, name, event, id_of, verb, most):
    with Scratch() as folder:
        few, many = folder / "few.trace.json", folder / "many.trace.json"
        write(few, event, id_of, FEW)
        write(many, event, id_of, FEW * TIMES)
        best = None
        for _ in range(TRIES):  # another one where the machine was busy; the best of each counts
            costs = cost_of(verb, few, folder), cost_of(verb, many, folder), gzip(many)
            best = [better(*pair) for pair in zip(best, costs)] if best else costs
            if is_in_proportion(*best, most):
                break
        small, large, usual = best
    each_kib = spilled_kib(large) / (FEW * TIMES)
    print(f"# {verb}: {FEW} {name} {small.seconds:.2f} s, {FEW * TIMES} {large.seconds:.2f} s, "
          f"{large.seconds / usual.seconds:.1f} times gzip, {each_kib:.1f} KiB each", flush=True)
    tap.ok(small.status == large.status == 0, f"{name}: status", small.status, large.status, large.said[:300])
    tap.ok(is_in_proportion(small, large, usual, most), f"{name}: {TIMES} times as many",
           small.seconds, large.seconds, usual.seconds)
    tap.ok(0 < each_kib < MOST_KIB, f"{name}: spilled", each_kib)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", metavar="WORD", choices=KINDS)
    options = parser.parse_args()
    tap = Tap()
    if SANITIZED or UNDER:
        tap.skip("cost in proportion", "a checker of memory has costs of its own")
        tap.done()
    for name, kind in KINDS.items():
        if options.only in (None, name):
            grows(tap, name, *kind)
    tap.done()


if __name__ == "__main__":
    main()
