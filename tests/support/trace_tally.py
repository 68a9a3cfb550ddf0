# SPDX-License-Identifier: Apache-2.0
"""What a converted trace has to hold, worked out the slow way from what was read: docs/convert.md, in nothing like the
program.  tally_chrome.py and tally_xspace.py make a Recording of a file; `tally` makes of it what a viewer has to find.

All times are whole picoseconds, until a viewer's nanoseconds are made of them at the end.
"""

from collections import Counter, defaultdict

DEEPEST = 512    # open spans of a lane
NO_NAME = "(no name)"
THREAD, ASYNC, LOOSE = "thread", "(async)", "(no thread)"


def to_ns(ps):
    """Halves up."""
    return (ps + 500) // 1000


class Item:
    """A span or an instant.  key: of asynchronous ones, what they may nest in; args: pairs of a key and a value."""

    __slots__ = ("begin", "end", "name", "category", "args", "key", "is_open", "place", "lane", "depth", "correlation",
                 "is_instant")

    def __init__(self, begin, end, name, args=(), category="", key=None, is_instant=False):
        self.begin, self.end, self.name = begin, max(begin, end), name or NO_NAME
        self.args, self.category = args, category
        self.key, self.is_open, self.place, self.lane, self.depth, self.correlation = key, False, 0, 0, 0, None
        self.is_instant = is_instant

    @property
    def piece(self):
        return to_ns(self.begin), to_ns(self.end) - to_ns(self.begin), self.name


class Row:
    """A thread, or what stands for one.  number: its id in the file, None = it has none; sort: THREAD, ASYNC or
    LOOSE."""

    def __init__(self, process, number, name, sort=THREAD, order=0):
        self.process, self.number, self.name, self.sort, self.order = process, number, name, sort, order
        self.items = []

    def __repr__(self):
        return f"{self.process.name!r} {self.process.number} / {self.name!r} {self.number}"


class Process:
    def __init__(self, number, name, order=0):
        self.number, self.name, self.order = number, name, order


class Recording:
    """rows; counters: (process, name) -> list of (time, value); arrows: list of Arrow; drops: what was left out, by
    name."""

    def __init__(self):
        self.rows, self.counters, self.arrows, self.drops = [], defaultdict(list), [], Counter()


class Arrow:
    """One end of an arrow.  kind: "s", "t", "f"; row: on which it lies; is_enclosed: of the span around it."""

    __slots__ = ("key", "kind", "time", "row", "is_enclosed", "place")

    def __init__(self, key, kind, time, row, is_enclosed, place):
        self.key, self.kind, self.time, self.row = key, kind, time, row
        self.is_enclosed, self.place = is_enclosed, place


def in_order(items):
    """As they are taken: by begin, longer ones first, then as they stand in the file."""
    return sorted(items, key=lambda item: (item.begin, -item.end, item.place))


def place_on_lanes(row):
    """Give each item its lane and its depth there."""
    lanes = []
    for item in in_order(row.items):
        for open_spans in lanes:
            while open_spans and open_spans[-1].end <= item.begin:
                open_spans.pop()
        number = next((n for n, spans in enumerate(lanes) if fits(item, spans)), len(lanes))
        if number == len(lanes):
            lanes.append([])
        item.lane, item.depth = number, len(lanes[number])
        lanes[number].append(item)


def fits(item, open_spans):
    if not open_spans:
        return True
    inner = open_spans[-1]
    return len(open_spans) < DEEPEST and item.end <= inner.end and item.key == inner.key


def slices_by_row(recording):
    """out: {(row, lane): list of (ts, dur, name, depth) in ns, in the order in which they were taken}"""
    found = defaultdict(list)
    for row in recording.rows:
        for item in in_order(row.items):
            found[(row, item.lane)].append((*item.piece, item.depth))
    return found


# --- allocators ------------------------------------------------------------------------------------------------

ALLOCATOR_SERIES = {"bytes_allocated": "bytes allocated", "bytes_reserved": "bytes reserved",
                    "bytes_available": "bytes available", "peak_bytes_in_use": "peak bytes in use"}


def add_allocations(recording, allocations):
    """allocations: (time, place, process, name of the allocator, {its state}); a value that stays is given once."""
    last = {}
    for time, place, process, name, state in sorted(allocations, key=lambda a: a[:2]):
        for key, what in ALLOCATOR_SERIES.items():
            series = (process, f"{name} {what}")
            if key in state and last.get(series) != state[key]:
                last[series] = state[key]
                recording.counters[series].append((time, state[key], place))


# --- arrows ---------------------------------------------------------------------------------------------------

def hold(row, arrows):
    """Which span each end of an arrow on a row belongs to: {arrow: Item or None}.  One that is bound to what is around
    it, to the span that was opened last, be it one without a length that stands there; others to the next one that
    begins."""
    items, found, open_spans, at = in_order(row.items), {}, [], 0
    for arrow in sorted(arrows, key=lambda a: (a.time, a.place)):
        while at < len(items) and items[at].begin <= arrow.time:
            open_spans.append(items[at])
            at += 1
        open_spans = [i for i in open_spans if i.end > arrow.time]
        empty = at and items[at - 1].begin == items[at - 1].end == arrow.time and not items[at - 1].is_instant
        if arrow.is_enclosed:
            found[arrow] = items[at - 1] if empty else open_spans[-1] if open_spans else None
        else:
            begun = next((i for i in open_spans if i.begin == arrow.time), None)
            found[arrow] = begun or (items[at] if at < len(items) else None)
    return found


def flows_of(arrows):
    """The ends of each flow, one list for each, in the order of time.  Ends of one key are flows one after the other,
    each from a begin to the next one; what comes before the first begin is left out, unless it is at its time."""
    by_key = defaultdict(list)
    for arrow in sorted(arrows, key=lambda a: (a.time, a.place)):
        by_key[arrow.key].append(arrow)
    for ends in by_key.values():
        first = next((n for n, arrow in enumerate(ends) if arrow.kind == "s"), 0)
        early = [arrow for arrow in ends[:first] if arrow.time == ends[first].time]
        ends = [ends[first], *early, *ends[first + 1:]]
        begins = [n for n, arrow in enumerate(ends) if arrow.kind == "s"]
        for first, last in zip(begins, begins[1:] + [len(ends)]):
            yield ends[first:last]


def as_in_json(row, held):
    """The importer takes a span without a length for open at its time, if it came from a JSON."""
    empty = defaultdict(list)
    for item in in_order(row.items):
        if to_ns(item.begin) == to_ns(item.end):
            empty[(item.lane, to_ns(item.begin))].append(item)
    for arrow, item in held.items():
        if item is not None and arrow.is_enclosed:
            held[arrow] = empty.get((item.lane, to_ns(arrow.time)), [item])[-1]
    return held


def arrows_of(recording, is_json=False):
    """Pairs of the spans that are joined, for each arrow of the input: a step goes on, ends all come from where the
    last step or the begin was."""
    by_row = defaultdict(list)
    for arrow in recording.arrows:
        by_row[arrow.row].append(arrow)
    holders = {}
    for row, arrows in by_row.items():
        held = hold(row, arrows)
        holders.update(as_in_json(row, held) if is_json else held)
    for flow in flows_of(recording.arrows):
        last = None  # where the next arrow comes from: what comes before the begin, and without it, has nothing
        for arrow in flow:
            holder = holders[arrow]
            if last is not None and holder is not None:
                yield last, holder
            if arrow.kind == "s" or (arrow.kind == "t" and last is not None and holder is not None):
                last = holder


# --- arguments ------------------------------------------------------------------------------------------------

def leaves(value, path, shown):
    """(path, value) of each that is neither a list nor an object, empty ones too: as a viewer lists arguments, flat.
    shown: how it shows a key"""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{shown(key)}", shown)
    elif isinstance(value, (list, tuple)) and value:
        for number, inner in enumerate(value):
            yield from leaves(inner, f"{path}[{number}]", shown)
    else:
        yield path, value
