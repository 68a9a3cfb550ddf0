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
def extent(run, device):
    """From the first to the last activity of the device."""
    spans = run.ranked(device)
    return min(b for _, b, _ in spans), max(e for _, _, e in spans)


def is_placed_roughly(run, device):
    """Its clock jumps against the recorded times: it is compared with no other."""
    return any(clock.jumps for process, clock in getattr(run, "clocks", {}).items()
               if process.lower() == f"/device:{device}")


@functools.cache
def group_of(run, device):
    """The devices that are active at the same time: those whose extents overlap by half or more of the shorter one."""
    if is_placed_roughly(run, device):
        return (device,)
    found, new = set(), {device}
    while new:
        found |= new
        new = set()
        for a in found:
            for b in (b for b in set(run.devices) - found if not is_placed_roughly(run, b)):
                (first, last), (begin, end) = extent(run, a), extent(run, b)
                if 2 * (min(last, end) - max(first, begin)) >= min(last - first, end - begin):
                    new.add(b)
    return tuple(sorted(found))


def whole_window(run, device):
    """From the first to the last activity of the devices of its group."""
    extents = [extent(run, other) for other in group_of(run, device)]
    return min(e[0] for e in extents), max(e[1] for e in extents)


@functools.cache
def whole_time(run, device):
    """Of the time from the first to the last activity of its group."""
    return device_time(run.ranked(device), *whole_window(run, device))


@functools.cache
def by_step(run, device):
    """Index of a step -> its activities on the device."""
    inside = defaultdict(list)
    for a in run.of(device):
        inside[step_at(run, run.moment_of(a))].append(a)
    return inside


@functools.cache
def periods(run, device):
    """(begin, end) of each step on the devices of its group, E(n-1) and E(n); None where none of them has an activity."""
    found, reached = [], None
    for index, (_, begin, _) in enumerate(run.steps):
        mine = [a for other in group_of(run, device) for a in by_step(run, other)[index]]
        if not mine:
            found.append(None)
            continue
        start = min(begin, min(a.begin for a in mine)) if reached is None else reached
        reached = max(start, max(a.end for a in mine))
        found.append((start, reached))
    return found


@functools.cache
def device_steps(run, device):
    """Lists over the steps, as devices[].steps; null where a step has no activity on the device."""
    lists = {name: [] for name in STEP_LISTS}
    reached = None
    for index, (_, begin, _) in enumerate(run.steps):
        mine = by_step(run, device)[index]
        row = {"activities": len(mine)}
        if mine:
            first, last = min(a.begin for a in mine), max(a.end for a in mine)
            start = min(begin, first) if reached is None else reached
            reached = max(last, start)
            row.update(first_ps=first, last_ps=last, device_span_ps=last - first, period_ps=reached - start,
                       busy_ps=union([(b, e) for _, b, e in cut(run.ranked(device), *periods(run, device)[index])]))
        for name, values in lists.items():
            values.append(row.get(name))
    return lists


def samples(run):
    """The step times of the run: of each analyzed step the mean over the groups that ran it; the marker's length where
    the host is the device."""
    chosen = chosen_steps(run)
    if run.is_cpu or not run.devices:
        return [length for (_, _, length), is_chosen in zip(run.steps, chosen) if is_chosen]
    groups = sorted({group_of(run, device) for device in run.devices})
    steps = zip(*(periods(run, group[0]) for group in groups))
    lengths = [[p[1] - p[0] for p in step if p] for step in steps]
    return [(sum(of) + len(of) // 2) // len(of) for of, is_chosen in zip(lengths, chosen) if of and is_chosen]


def lengths_of(run):
    """Of each step: its time, the longest one of the groups; the marker's length where the host is the device."""
    if run.is_cpu or not run.devices:
        return [length for _, _, length in run.steps]
    lists = [periods(run, device) for device in run.devices]
    return [max((p[1] - p[0] if p else 0) for p in step) for step in zip(*lists)]


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
    """The time of the device in its window, from the start of the first to the end of the last analyzed step; None where
    it has no activity in them."""
    chosen = chosen_steps(run)
    spans = [p for p, is_chosen in zip(periods(run, device), chosen) if p and is_chosen]
    if not any(is_chosen and by_step(run, device)[i] for i, is_chosen in enumerate(chosen)):
        return None
    return device_time(run.ranked(device), spans[0][0], spans[-1][1])


def forget():
    """A profile is large."""
    for cached in (extent, group_of, whole_time, by_step, periods, device_steps):
        cached.cache_clear()
