#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Error rates of the search for regressions, night by night, on made series: docs/night.md, "Regressions"."""

import random
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from tap import Tap  # noqa: E402
from tracemill import BUILD  # noqa: E402

WATCH = BUILD / "tests" / "watch_series"
SERIES = 300


def noise(rng, nights, share, alike=0.0):
    """Values around 100 with this relative deviation; alike: the correlation of neighbors."""
    value, series = rng.gauss(0, 1), []
    for _ in range(nights):
        series.append(100 * (1 + share * value))
        value = alike * value + (1 - alike**2) ** 0.5 * rng.gauss(0, 1)
    return series


def watch(many, others=None):
    """Of each series its regressions: (kind, from, opened, closed, end).  With the noise of all, and of others, if these are given."""
    lines = "".join(" ".join(map(repr, series)) + "\n" for series in many)
    lines += "".join("~0 " + " ".join(map(repr, series)) + "\n" for series in others or [])
    out = subprocess.run([WATCH, "2", *(["0", "lower", "together"] if others is not None else [])], input=lines, capture_output=True, text=True, check=True, timeout=600).stdout.splitlines()
    return [[(kind, *map(int, numbers), end) for kind, *numbers, end in (one.split(",") for one in line.split()[:-1])] for line in out]


def is_open(found):
    return bool(found) and found[-1][4] == "open"


def check_false_alarms(tap, name, others, limits):
    for alike, most_new, most_open in limits:
        for share in (0.005, 0.01, 0.02, 0.04):
            for nights in (20, 60):
                rng = random.Random(f"{alike} {share} {nights}")
                found = watch([noise(rng, nights, share, alike) for _ in range(SERIES)], others)
                new = 100 * sum(map(len, found)) / SERIES / nights
                stay = 100 * sum(map(is_open, found)) / SERIES
                tap.ok(new <= most_new and stay <= most_open,
                       f"{name}: noise of {100 * share:g}%, correlation {alike:g}, {nights} nights: {new:.2f}% a night opened, {stay:.1f}% open")


def check_steps(tap):
    for share, least in ((0.005, 0.95), (0.01, 0.8)):
        rng = random.Random(f"step {share}")
        many = [[v * (1.06 if i >= 13 else 1) for i, v in enumerate(noise(rng, 16, share))] for _ in range(SERIES)]
        found = watch(many)
        told = sum(map(is_open, found)) / SERIES
        tap.ok(told >= least, f"noise of {100 * share:g}%: +6% in the last three of 16 nights is found in {100 * told:.1f}%")
        near = sum(is_open(f) and abs(f[-1][1] - 13) <= 1 for f in found)
        tap.ok(near >= 0.95 * sum(map(is_open, found)), f"noise of {100 * share:g}%: where it starts is known to a night", near)
        down = watch([[200 - v for v in series] for series in many])
        tap.ok(not any(map(is_open, down)), f"noise of {100 * share:g}%: an improvement is no regression")


def check_similar_neighbors(tap, name, has_others, limits, most_early):
    # Least found of 6% in the last 3, 7, 15 of 60 nights, noise of 2%; of others two in three have no step.
    off = []
    for alike, least in limits:
        for last, wanted in zip((3, 7, 15), least):
            rng = random.Random(f"similar {alike} {last}")
            many = [[v * (1.06 if i >= 60 - last else 1) for i, v in enumerate(noise(rng, 60, 0.02, alike))] for _ in range(SERIES)]
            found = watch(many, [noise(rng, 60, 0.02, alike) for _ in range(2 * SERIES)] if has_others else None)
            told = 100 * sum(is_open(f) and f[-1][1] >= 57 - last for f in found) / SERIES
            tap.ok(told >= wanted, f"{name}: noise of 2%, correlation {alike:g}: +6% in the last {last} of 60 nights is found in {told:.1f}%")
            off += [f[-1][1] - (60 - last) for f in found if is_open(f)]
    early, late, near = (100 * sum(map(is_one, off)) / len(off) for is_one in (lambda n: n < -3, lambda n: n > 3, lambda n: abs(n) <= 1))
    tap.ok(early <= most_early and late <= 1.2 and near >= 94.4,
           f"{name}: of the dates {early:.2f}% are more than three nights early, {late:.2f}% as late, {near:.1f}% within a night")


def check_others(tap):
    """What other jobs show of the noise is not imposed on one that differs clearly."""
    rng = random.Random("others")
    quiet = [noise(rng, 60, 0.005) for _ in range(SERIES)]
    for share, alike in ((0.02, 0.0), (0.02, 0.7), (0.005, 0.7)):
        found = watch([noise(rng, 60, share, alike) for _ in range(100)], quiet)
        new = 100 * sum(map(len, found)) / 100 / 60
        tap.ok(new <= 1, f"noise of {100 * share:g}%, correlation {alike:g}, among jobs with 0.5% and 0: {new:.2f}% a night opened")


def check_drift(tap):
    for share in (0.005, 0.01, 0.02):
        rng = random.Random(f"drift {share}")
        found = watch([[v * 1.13 ** (i / 29) for i, v in enumerate(noise(rng, 30, share))] for _ in range(SERIES)])
        told = sum(map(is_open, found)) / SERIES
        tap.ok(told >= 0.9, f"noise of {100 * share:g}%: a drift of 13% in 30 nights is found in {100 * told:.1f}%")


def check_ends(tap):
    rng = random.Random("ends")
    level = [1] * 20 + [1.08] * 15 + [1] * 15
    found = watch([[v * level[i] for i, v in enumerate(noise(rng, 50, 0.005))] for _ in range(SERIES)])
    tap.ok(all(len(f) == 1 and f[0][4] == "recovered" and 35 <= f[0][3] <= 38 for f in found), "a regression ends when its figure is back")
    level = [1] * 20 + [1.08] * 40
    found = watch([[v * level[i] for i, v in enumerate(noise(rng, 60, 0.005))] for _ in range(SERIES)])
    tap.ok(sum(len(f) == 1 and is_open(f) and f[0][2] <= 22 for f in found) >= 0.99 * SERIES, "and stays open as long as it is not")
    series = noise(rng, 60, 0.02)
    prefix = watch([series[:i] for i in range(1, 61)])
    whole = watch([series])[0]
    tap.ok(all({r[:3] for r in p} <= {r[:3] for r in whole} for p in prefix), "later values change nothing of what was opened")
    one = [[v * (1.5 if i == 30 else 1) for i, v in enumerate(noise(rng, 40, 0.005))] for _ in range(SERIES)]
    tap.ok(not any(map(is_open, watch(one))), "a single bad night leaves nothing open")


def main():
    tap = Tap()
    check_false_alarms(tap, "one job", None, ((0.0, 0.15, 1.0), (0.3, 0.25, 2.0), (0.7, 0.6, 6.0)))
    check_false_alarms(tap, "of many jobs", [], ((0.0, 0.2, 2.0), (0.3, 0.2, 2.5), (0.7, 0.35, 5.5)))
    check_steps(tap)
    check_similar_neighbors(tap, "one job", False, ((0.0, (85, 96, 96)), (0.3, (70, 90, 93)), (0.7, (76, 85, 89))), 1.05)
    check_similar_neighbors(tap, "of many jobs", True, ((0.0, (88, 96, 96)), (0.3, (74, 92, 94)), (0.7, (80, 88, 92))), 0.85)
    check_others(tap)
    check_drift(tap)
    check_ends(tap)
    tap.done()


if __name__ == "__main__":
    main()
