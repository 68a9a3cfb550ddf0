# SPDX-License-Identifier: Apache-2.0
"""Device time from lists, the slow and plain way (docs/metrics.md): unions, gaps, the sweep by priority.

A span is (begin, end); a ranked one (rank, begin, end), where the lower rank takes the time that two share.
"""

from bisect import bisect_left, bisect_right

RANKS = ("compute", "collective", "h2d", "d2h", "p2p", "d2d", "other")
DIRECTIONS = RANKS[2:]


def union(spans):
    """Length that is covered."""
    covered, reached = 0, None
    for begin, end in sorted(spans):
        if reached is None or begin > reached:
            covered, reached = covered + end - begin, end
        elif end > reached:
            covered, reached = covered + end - reached, end
    return covered


def merged(spans):
    """The spans without overlap, in the order of time."""
    found = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([begin, end])
    return found


def gaps(spans, window=None):
    """(begin, length) of the maximal stretches without a span, in the order of time; between the spans, or in a window that
    holds them."""
    found, reached = [], window and window[0]
    for begin, end in [*sorted(spans), *([(window[1], window[1])] if window else [])]:
        if reached is not None and begin > reached:
            found.append((reached, begin - reached))
        reached = end if reached is None else max(reached, end)
    return found


def cut(ranked, begin, end):
    """What lies in [begin, end)."""
    spans = ((r, max(b, begin), min(e, end)) for r, b, e in ranked)
    return [s for s in spans if s[2] > s[1]]


def sweep(ranked):
    """Time by rank: at every instant the lowest rank that runs takes it."""
    edges = sorted([(b, 1, r) for r, b, _ in ranked] + [(e, -1, r) for r, _, e in ranked])
    running, taken, before = [0] * len(RANKS), [0] * len(RANKS), None
    for moment, change, rank in edges:
        top = next((r for r in range(len(RANKS)) if running[r]), None)
        if top is not None:
            taken[top] += moment - before
        running[rank] += change
        before = moment
    return taken


def device_time(ranked, begin, end):
    """The figures of a stretch of a device's time, named as in the summary."""
    spans = cut(ranked, begin, end)
    taken = sweep(spans)
    covered = union([(b, e) for _, b, e in spans])
    return {
        "span_ps": end - begin, "busy_ps": covered, "idle_ps": end - begin - covered,
        "compute_ps": union([(b, e) for r, b, e in spans if r == 0]),
        "collective_ps": union([(b, e) for r, b, e in spans if r == 1]),
        "copy_ps": union([(b, e) for r, b, e in spans if r >= 2]),
        "exposed_collective_ps": taken[1], "exposed_copy_ps": sum(taken[2:]),
        "exposed_by_direction_ps": dict(zip(DIRECTIONS, taken[2:])),
    }


def pauses(activities, below):
    """Gaps shorter than `below` before work that had been launched already: {"count", "total_ps"}.  An activity is
    (begin, end, launch), a launch (begin, end) of its call or None; of several that end a gap the one launched first
    counts."""
    count = total = 0
    by_begin = {}
    for begin, _, launch in activities:
        if launch and (begin not in by_begin or launch < by_begin[begin]):
            by_begin[begin] = launch
    for begin, length in gaps([(b, e) for b, e, _ in activities]):
        launch = by_begin.get(begin + length)
        if length < below and launch and launch[0] < begin and launch[1] <= begin:
            count, total = count + 1, total + length
    return {"count": count, "total_ps": total}


def _width(begin, end):
    """The smallest of 1, 2, 5, 10, 20 ... of which the multiples cut [begin, end) into at most 240."""
    power = 1
    while True:
        for width in (power, 2 * power, 5 * power):
            if (end - 1) // width - begin // width < 240:
                return width
        power *= 10


def over_time(busy, waits, begin, end):
    """devices[].utilization: time of the spans `busy` without that of `waits`, cut at multiples of a round width."""
    if end <= begin:
        return {"begin_ps": begin, "end_ps": end, "bin_ps": 1, "busy_ps": []}
    width = _width(begin, end)
    edges = [begin, *range((begin // width + 1) * width, end, width), end]
    found = [0] * (len(edges) - 1)
    for spans, sign in ((busy, 1), (waits, -1)):
        for low, high in merged(spans):
            for i in range(max(bisect_right(edges, low) - 1, 0), min(bisect_left(edges, high), len(found))):
                found[i] += sign * max(0, min(high, edges[i + 1]) - max(low, edges[i]))
    return {"begin_ps": begin, "end_ps": end, "bin_ps": width, "busy_ps": found}
