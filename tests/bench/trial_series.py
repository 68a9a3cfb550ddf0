# SPDX-License-Identifier: Apache-2.0
"""Pairs of runs whose step times are drawn from a known process, for the trial of the tests that `compare` makes of them.
A run is a generated profile's summary with other step times in it, so that hundreds of pairs take a minute."""

import copy
import json
import random
import shutil
from statistics import median

STEP_PS = 10_000_000_000
HOSTS = 8


def independent(draw, count, spread):
    return [STEP_PS * (1 + spread * draw.gauss(0, 1)) for _ in range(count)]


def autoregressive(draw, count, spread, like):
    """Each step resembles the one before: lag-1 autocorrelation `like`, deviation `spread`."""
    steps, off = [], draw.gauss(0, 1)
    for _ in range(count):
        steps.append(STEP_PS * (1 + spread * off))
        off = like * off + (1 - like * like) ** 0.5 * draw.gauss(0, 1)
    return steps


def jittered(draw, count, spread):
    """The ends of equal steps jitter, and step times telescope."""
    ends = [0.0] + [STEP_PS * (i + 1 + spread * draw.gauss(0, 1)) for i in range(count)]
    return [b - a for a, b in zip(ends, ends[1:])]


# name: (what a run's steps are: function of (draw, is_new), compiling steps of the new run, hosts, verdict, least and most share of it)
SERIES = {
    "the same, independent steps, 20, deviation 2%": (lambda d, new: independent(d, 20, 0.02), (), 1, "changed", 0, 0.02),
    "the same, independent steps, 20, deviation 4%": (lambda d, new: independent(d, 20, 0.04), (), 1, "changed", 0, 0.02),
    "the same, 8 hosts, 11 steps, deviation 4%": (lambda d, new: independent(d, 11, 0.04), (), HOSTS, "changed", 0, 0.02),
    "the same, autocorrelation 0.5, 20 steps": (lambda d, new: autoregressive(d, 20, 0.04, 0.5), (), 1, "changed", 0, 0.03),
    "the same, autocorrelation 0.8, 20 steps": (lambda d, new: autoregressive(d, 20, 0.04, 0.8), (), 1, "changed", 0, 0.03),
    "the same, autocorrelation 0.8, 100 steps": (lambda d, new: autoregressive(d, 100, 0.04, 0.8), (), 1, "changed", 0, 0.03),
    "the same, ends jitter by 2%, 20 steps": (lambda d, new: jittered(d, 20, 0.02) if new else [STEP_PS] * 20, (), 1, "changed", 0, 0.02),
    "3% slower, deviation 2%, 20 steps": (lambda d, new: [s * (1.03 if new else 1) for s in independent(d, 20, 0.02)], (), 1,
                                            "regression", 55 / 60, 1),
    "2 of 20 steps compile, mean +50%": (lambda d, new: independent(d, 20, 0.02), (4, 13), 1, "regression by the mean, cause first", 1, 1),
}
COMPILING_PS = 5 * STEP_PS  # of each of two: the mean of 20 steps grows by half


def bare(summary):
    """Without the tables, which these pairs say nothing of."""
    summary = copy.deepcopy(summary)
    for section in ("gaps", "kernels", "fusion", "occupancy", "programs", "transfers", "ops", "scopes", "collectives", "host", "memory",
                    "roofline", "balance", "fallback", "findings"):
        summary[section] = [] if section == "findings" else None
    summary["devices"] = summary["devices"][:1]
    return summary


def put_steps(summary, steps, compiling, hosts, draw, number):
    """Make it the summary of a run of these steps.  Of several hosts there is a sample for each, as older summaries have it."""
    of = summary["steps"]
    extra = [COMPILING_PS if i in compiling else 0 for i in range(len(steps))]
    rows = [(host, i, int(step * (1 + (0.002 * draw.gauss(0, 1) if hosts > 1 else 0)) + extra[i]))
            for host in range(hosts) for i, step in enumerate(steps)]
    samples = [ps for _, _, ps in rows]
    template = of["list"][0]
    of["list"] = []
    for host, i, ps in rows:
        idle = {cause: 0 for cause in template["idle_ps"]} | {"compile": extra[i]}
        of["list"].append(template | {"number": i, "host": f"h{host}", "period_ps": ps, "compute_ps": ps - extra[i], "busy_ps": ps - extra[i],
                                      "exposed_collective_ps": 0, "exposed_copy_ps": {d: 0 for d in template["exposed_copy_ps"]},
                                      "idle_ps": idle, "compile": extra[i] > 0, "warmup": False, "complete": True, "chosen": True})
    of.update(count=len(rows), chosen=len(rows), samples=len(samples), samples_ps=samples, mean_ps=sum(samples) // len(samples),
              median_ps=int(median(samples)), min_ps=min(samples), max_ps=max(samples))
    of.pop("lag1", None)
    of.pop("effective_samples", None)
    of["parts"] = {"compute_ps": sum(samples) - sum(extra), "exposed_collective_ps": 0,
                   "exposed_copy_ps": {d: 0 for d in template["exposed_copy_ps"]},
                   "idle_ps": {cause: 0 for cause in template["idle_ps"]} | {"compile": sum(extra)}, "total_ps": sum(samples)}
    summary["input"]["hosts"] = [f"h{host}" for host in range(hosts)]
    summary["input"]["files"] = [summary["input"]["files"][0] | {"xxh3": f"{number:016x}"}]
    summary["compile"]["inside_steps"] = {"count": len(compiling), "total_ps": sum(extra)}
    return summary


def is_found(document, wanted):
    test = document["tests"][0]
    if wanted == "changed":
        return test["changed"] is True
    if wanted == "regression":
        return document["verdict"]["verdict"] == "regression"
    first = document["findings"][0] if document["findings"] else {"id": ""}
    return document["verdict"]["verdict"] == "regression" and test["mean"]["changed"] and first["id"] == "recompiles"


def run_series(template, folder, pairs, seed, compare, only=None):
    """out: [(name, found, inconclusive, pairs, is within its limit)]"""
    rows = []
    template = bare(template)
    for place, (name, (steps_of, compiling, hosts, wanted, least, most)) in enumerate(SERIES.items()):
        if only and only not in name:
            continue
        found = inconclusive = 0
        for i in range(pairs):
            draw, sides = random.Random(f"{seed} {place} {i}"), []
            for new in (False, True):
                side = folder / f"{'new' if new else 'base'}.json"
                summary = put_steps(copy.deepcopy(template), steps_of(draw, new), compiling if new else (), hosts, draw, 2 * i + new + 1)
                side.write_text(json.dumps(summary))
                sides.append(side)
            document = compare([sides[0]], [sides[1]], folder / "compared")
            found += is_found(document, wanted)
            inconclusive += document["verdict"]["verdict"] == "inconclusive"
        shutil.rmtree(folder / "compared", ignore_errors=True)
        rows.append((name, wanted, found, inconclusive, pairs, least * pairs - 1e-9 <= found <= most * pairs + 1e-9))
    return rows
