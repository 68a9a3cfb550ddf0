#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rates of false alarms and of steps found on made series: the search of a batch, where others have the same noise and where
there is one job, Apache Otava, and the best test possible.
docs/night.md, "Error rates", has the tables.

    python3 -m venv otava && otava/bin/pip install apache-otava==0.8.0
    make build/tests/watch_series
    otava/bin/python tests/bench/regressions.py [--series 600] [--nightly 200] [--seed NUMBER]
"""

import argparse
import random
import sys
from pathlib import Path
from statistics import NormalDist

import numpy
from otava.analysis import compute_change_points

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "property"))
from test_watch import is_open, noise, watch  # noqa: E402

NIGHTS, LEAST, STEP, EARLY = 60, 0.02, 1.06, 3
LASTS = (3, 7, 15)


def made(count, share, alike, last=0, seed=0):
    rng = random.Random(f"{share} {alike} {last}" + (f" {seed}" if seed else ""))
    many = [noise(rng, NIGHTS, share, alike) for _ in range(count)]
    return [[v * (STEP if i >= NIGHTS - last else 1) for i, v in enumerate(series)] for series in many]


def otava(series, p=0.001):
    """Where Otava finds a change for the worse."""
    found = compute_change_points(series, window_len=50, max_pvalue=p, min_magnitude=LEAST)[0]
    return [point.index for point in found if point.stats.forward_rel_change() >= LEAST]


def percent(values):
    values = list(values)
    return f"{100 * sum(values) / len(values):5.1f}"


def new_changes(series):
    """Asked every night: changes that no night before had, give or take EARLY nights."""
    told = []
    for nights in range(8, NIGHTS + 1):
        for at in otava(series[:nights]):
            if not any(abs(at - other) <= EARLY for other in told):
                told.append(at)
    return len(told)


def without_change(count, nightly, seed):
    print("no change: series with one (Otava, p 0.001, 0.00001), open in the last night (here); new ones per 100 nights of a job")
    for alike in (0.0, 0.3, 0.7):
        for share in (0.01, 0.02, 0.04):
            many = made(count, share, alike, seed=seed)
            found, alone = watch(many, []), watch(many)
            asked = sum(map(new_changes, many[:nightly])) / max(1, nightly) / NIGHTS * 100
            print(f"  correlation {alike}, noise {share:5.1%}: Otava {percent(bool(otava(s)) for s in many)} {percent(bool(otava(s, 1e-5)) for s in many)}, "
                  f"here {percent(map(is_open, found))}, one job {percent(map(is_open, alone))}; nightly: Otava {asked:.2f}, "
                  f"here {sum(map(len, found)) / count / NIGHTS * 100:.3f}, one job {sum(map(len, alone)) / count / NIGHTS * 100:.3f}", flush=True)


def with_step(count, seed):
    print(f"{STEP - 1:.0%} in the last {LASTS} of {NIGHTS} nights: found, at most {EARLY} nights early; near: nor {EARLY} nights late")
    for alike in (0.0, 0.3, 0.7):
        for share in (0.005, 0.01, 0.02):
            rates = {name: [] for name in ("Otava", "Otava, near", "Otava, no step", "Otava, p 0.00001", "here", "here, near", "here, any open", "one job")}
            others = made(2 * count, share, alike, seed=seed)
            quiet = [otava(s) for s in made(count, share, alike, seed=seed)]
            for last in LASTS:
                many = made(count, share, alike, last, seed)
                first = NIGHTS - last - EARLY
                found, alone, told = watch(many, others), watch(many), [otava(s) for s in many]
                rates["Otava"].append(percent(any(at >= first for at in points) for points in told))
                rates["Otava, near"].append(percent(any(abs(at - NIGHTS + last) <= EARLY for at in points) for points in told))
                rates["Otava, no step"].append(percent(any(at >= first for at in points) for points in quiet))
                rates["Otava, p 0.00001"].append(percent(any(at >= first for at in otava(s, 1e-5)) for s in many))
                rates["here"].append(percent(is_open(f) and f[-1][1] >= first for f in found))
                rates["here, near"].append(percent(is_open(f) and abs(f[-1][1] - NIGHTS + last) <= EARLY for f in found))
                rates["here, any open"].append(percent(map(is_open, found)))
                rates["one job"].append(percent(is_open(f) and f[-1][1] >= first for f in alone))
            print(f"  correlation {alike}, noise {share:5.1%}:", "; ".join(f"{name} {' '.join(r)}" for name, r in rates.items()), flush=True)


def scores(series, alike, night):
    """The largest likelihood ratio of a step that starts in one of the 20 nights up to this one; level, deviation and
    correlation are known."""
    own = (1 - alike**2) ** 0.5
    parts = (series[:, 1:] - alike * series[:, :-1]) / own
    best = numpy.full(len(series), -numpy.inf)
    for last in range(1, 21):
        weights = numpy.full(last, (1 - alike) / own)
        weights[0] = 1 / own
        best = numpy.maximum(best, parts[:, night - last:night] @ weights / (weights @ weights) ** 0.5)
    return best


def new_alarms(over):
    """How many alarms start, where one that returns within EARLY nights is the same."""
    count, last = 0, numpy.full(len(over), -99)
    for night in range(over.shape[1]):
        now = over[:, night]
        count += int((now & (night - last > EARLY)).sum())
        last[now] = night
    return 100 * count / over.size


def bound(alike=0.7, step=3.0, count=10000):
    print(f"best test possible: correlation {alike}, step of {step:g} deviations")
    rng = numpy.random.default_rng(5)
    own = rng.standard_normal((count, NIGHTS))
    series = own.copy()
    for night in range(1, NIGHTS):
        series[:, night] = alike * series[:, night - 1] + (1 - alike**2) ** 0.5 * own[:, night]
    quiet = numpy.array([scores(series, alike, night) for night in range(21, NIGHTS)]).T
    for wanted in (3.1, 0.31):
        low, high = NormalDist().inv_cdf(0.5), 7.0
        for _ in range(30):
            middle = (low + high) / 2
            low, high = (middle, high) if new_alarms(quiet > middle) > wanted else (low, middle)
        found = []
        for last in LASTS:
            moved = series.copy()
            moved[:, NIGHTS - last:] += step
            found.append(percent(scores(moved, alike, NIGHTS - 1) > high))
        print(f"  {wanted}% new alarms per night: found {' '.join(found)}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--series", type=int, default=600)
    parser.add_argument("--nightly", type=int, default=200, help="series that Otava is asked about every night")
    parser.add_argument("--seed", type=int, default=0, help="other series; the limits were chosen with those of 0")
    arguments = parser.parse_args()
    without_change(arguments.series, min(arguments.nightly, arguments.series), arguments.seed)
    with_step(arguments.series, arguments.seed)
    bound()


if __name__ == "__main__":
    main()
