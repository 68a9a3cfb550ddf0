# SPDX-License-Identifier: Apache-2.0
"""The times of a TPU by its own clock, worked out after docs/metrics.md from lists: ops take their own times
(device_offset_ps, device_duration_ps), everything else of the plane is carried over by the ops around it, and one constant
places the plane on the host's time.  Nothing here is shared with the program."""

import re
from bisect import bisect_left

TPU = re.compile(r"^/device:TPU:\d+$")
OPS = "XLA Ops"
JUMP_PS = 10**9
DAY_PS = 86400 * 10**12


def fits(begin, length):
    return begin >= -5 * DAY_PS and begin + length <= 100 * DAY_PS


def whole(value):
    """A number, or a text of one; None where it is neither."""
    if isinstance(value, str):
        return int(value) if re.fullmatch(r"-?\d{1,20}", value) else None
    if isinstance(value, (int, float)) and value == int(value):
        return int(value)
    return None


def own_times(stats):
    """(begin, length) by the device's clock; None where the op does not tell both, or what cannot be."""
    begin, length = whole(stats.get("device_offset_ps")), whole(stats.get("device_duration_ps"))
    if begin is None or length is None or length < 0 or not fits(begin, length):
        return None
    return begin, length


class Clock:
    """pairs: (recorded begin, begin by the device's clock) of every op that has one; ops: how many there are."""

    def __init__(self, pairs, ops):
        self.pairs, self.is_used = sorted(pairs), bool(pairs) and 2 * len(pairs) >= ops
        self.is_refused = bool(pairs) and not self.is_used
        self.recorded = [r for r, _ in self.pairs]
        ahead = [r - d for r, d in self.pairs]
        steps = [abs(b - a) for a, b in zip(ahead, ahead[1:])]
        self.jumps = [s for s in steps if s > JUMP_PS] if self.is_used else []
        self.shift = sorted(ahead)[(len(ahead) - 1) // 2] if ahead else 0

    def carried(self, at):
        """By the device's clock, where an op says it or between two of them."""
        i = bisect_left(self.recorded, at)
        if i < len(self.pairs) and self.recorded[i] == at:
            return self.pairs[i][1]
        if i in (0, len(self.pairs)):
            recorded, device = self.pairs[min(i, len(self.pairs) - 1)]
            return at - (recorded - device)
        (r0, d0), (r1, d1) = self.pairs[i - 1:i + 1]
        return d0 + (at - r0) * (d1 - d0) // (r1 - r0)

    def placed(self, begin, end, own):
        """(begin, end).  own: its own times, where they count"""
        if own:
            return own[0] + self.shift, own[0] + own[1] + self.shift
        first = self.carried(begin) + self.shift
        return first, max(first, self.carried(end) + self.shift) if end > begin else first


def put_on_device_clocks(tracks):
    """Changes the spans of `tracks`, which are (process, line, id, spans).  out: process -> its clock"""
    clocks = {}
    for process in sorted({process for process, *_ in tracks if TPU.match(process)}):
        ops = [span for name, line, _, spans in tracks if name == process and line == OPS for span in spans]
        own = [(span.begin, own_times(span.stats)) for span in ops]
        clock = clocks[process] = Clock([(begin, times[0]) for begin, times in own if times], len(ops))
        clock.ops = len(ops)
        if clock.is_used:
            for name, line, _, spans in tracks:
                for span in spans if name == process else ():
                    own = own_times(span.stats) if line == OPS else None
                    span.begin, end = clock.placed(span.begin, span.end, own)
                    span.length = end - span.begin
    return clocks


def put_recording_on_device_clocks(recording, stats_of, is_xspace=False):
    """The same of a Recording (trace_tally.py).  stats_of: what an item tells of itself.  Counters of a JSON lie on no line
    and keep their times."""
    for process in {row.process for row in recording.rows if TPU.match(row.process.name or "")}:
        rows = [row for row in recording.rows if row.process is process]
        ops = [item for row in rows if row.name == OPS for item in row.items if not item.is_instant]
        own = {id(item): own_times(stats_of(item)) for item in ops}
        clock = Clock([(item.begin, own[id(item)][0]) for item in ops if own[id(item)]], len(ops))
        if not clock.is_used:
            continue
        for item in [item for row in rows for item in row.items]:
            item.begin, item.end = clock.placed(item.begin, item.end, own.get(id(item)))
        for (owner, _), values in recording.counters.items() if is_xspace else ():
            if owner is process:
                values[:] = [(clock.placed(time, time, None)[0], *rest) for time, *rest in values]
