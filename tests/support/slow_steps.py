# SPDX-License-Identifier: Apache-2.0
"""Steps, worked out from lists (docs/metrics.md): what lies in them, their periods, which are chosen.

A run has `steps`: (number, begin, length) of the host's markers in the order of time; `devices`; `of(device)`: its
activities; `ranked(device)`: for the sweep; `moment_of(activity)`: when it was launched; `compiles`: begins; `is_cpu`:
the host is the device.
"""

import bisect
import functools
import statistics
from collections import defaultdict

from slow_time import cut, device_time, union

STEP_LISTS = ("activities", "first_ps", "last_ps", "device_span_ps", "period_ps", "busy_ps")


def step_at(run, moment):
    """Index of the step that a moment lies in; None = in none."""
    at_or_before = bisect.bisect_right([s[1] for s in run.steps], moment) - 1
    if at_or_before < 0 or moment >= run.steps[at_or_before][1] + run.steps[at_or_before][2]:
        return None
    return at_or_before


@functools.cache
def whole_time(run, device):
    """From the first to the last activity of the device."""
    spans = run.ranked(device)
    return device_time(spans, min(b for _, b, _ in spans), max(e for _, _, e in spans))


@functools.cache
def device_steps(run, device):
    """Lists over the steps, as devices[].steps; null where a step has no activity on the device."""
    inside = defaultdict(list)
    for a in run.of(device):
        inside[step_at(run, run.moment_of(a))].append(a)
    lists = {name: [] for name in STEP_LISTS}
    reached = None
    for index, (_, begin, _) in enumerate(run.steps):
        mine = inside[index]
        row = {"activities": len(mine)}
        if mine:
            first, last = min(a.begin for a in mine), max(a.end for a in mine)
            start = min(begin, first) if reached is None else reached
            reached = max(last, start)
            row.update(first_ps=first, last_ps=last, device_span_ps=last - first, period_ps=reached - start,
                       busy_ps=union([(b, e) for _, b, e in cut(run.ranked(device), start, reached)]))
        for name, values in lists.items():
            values.append(row.get(name))
    return lists


def periods(run, device):
    """(begin, end) of each step's period on the device."""
    lists = device_steps(run, device)
    reached, found = None, []
    for length, last in zip(lists["period_ps"], lists["last_ps"]):
        if length is None:
            found.append(None)
            continue
        end = last if reached is None else max(last, reached)
        found.append((end - length, end))
        reached = end
    return found


def lengths_of(run):
    """Of each step: the slowest device's period; the marker's length where the host is the device."""
    if run.is_cpu or not run.devices:
        return [length for _, _, length in run.steps]
    lists = [device_steps(run, device)["period_ps"] for device in run.devices]
    return [max((p or 0) for p in step) for step in zip(*lists)]


def chosen_steps(run):
    """Which steps are chosen when nothing is said: not the last one with under 80 % of the activities of the one
    before it, and none of the leading ones that compile or are over twice as long as the median of the others, unless
    those were over half of the steps or left fewer than two."""
    lengths = lengths_of(run)
    counts = [sum(step) for step in zip(*(device_steps(run, device)["activities"] for device in run.devices))]
    compiling = {step_at(run, moment) for moment in run.compiles}
    whole = len(lengths) - (len(counts) > 1 and counts[-1] < 0.8 * counts[-2])
    first = 0
    while first < whole and len(lengths) > 1 and (
            first in compiling or lengths[first] > 2 * statistics.median(lengths[:first] + lengths[first + 1:])):
        first += 1
    if first > len(lengths) / 2 or whole - first < 2:
        first = 0
    return [first <= i < whole for i in range(len(lengths))]


def chosen_time(run, device):
    """The time of the device from the first to the last chosen period; None where it has none."""
    spans = [p for p, is_chosen in zip(periods(run, device), chosen_steps(run)) if p and is_chosen]
    if not spans:
        return None
    ranked = run.ranked(device)
    begin = max(spans[0][0], min(b for _, b, _ in ranked))
    return device_time(ranked, begin, min(spans[-1][1], max(e for _, _, e in ranked)))


def forget():
    """A profile is large."""
    for cached in (whole_time, device_steps):
        cached.cache_clear()
