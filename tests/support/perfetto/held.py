# SPDX-License-Identifier: Apache-2.0
"""What the importer holds of a trace, as lists that a tally can be compared with."""

import json

from perfetto import importer

SLICES = "select id, ts, dur, name, track_id, depth, category, arg_set_id from slice order by id"
# Every track with the thread and the process that it belongs to.
TRACKS = """select t.id, t.name, t.parent_id, tt.utid, coalesce(pt.upid, h.upid), h.tid, h.name, p.pid, p.name
from track t left join thread_track tt on tt.id = t.id left join process_track pt on pt.id = t.id
left join thread h on h.utid = tt.utid left join process p on p.upid = coalesce(pt.upid, h.upid)"""
COUNTERS = """select c.ts, c.value, ct.name, p.pid, p.name from counter c join counter_track ct on ct.id = c.track_id
left join process_counter_track pt on pt.id = ct.id left join process p on p.upid = pt.upid order by c.id"""
FLOWS = "select slice_out, slice_in from flow"
ARGS = """select s.id, a.flat_key, a.key, a.value_type, a.int_value, a.string_value, a.real_value
from slice s join args a on a.arg_set_id = s.arg_set_id order by s.id, a.id"""
CLOCK = "select clock_value from clock_snapshot where clock_name in ('REALTIME', 'MONOTONIC') order by id limit 1"
ORDERS = """select p.pid, p.name, a.int_value from process p join args a on a.arg_set_id = p.arg_set_id
where a.key = 'process_sort_index_hint'"""


def unescaped(text):
    """A text of a JSON.  The importer (v52) resolves escapes only where one of them is a quotation mark, and else
    keeps them as they are written."""
    if text is None or "\\" not in text or '"' in text:
        return text
    try:
        return json.loads(f'"{text}"', strict=False)
    except json.JSONDecodeError:
        return text


def as_it_is(text):
    return text


class Slice:
    __slots__ = ("id", "ts", "dur", "name", "track", "depth", "category", "args")

    def __init__(self, row, text):
        self.id, self.ts, self.dur, self.name, self.track, self.depth, self.category, _ = row
        self.name, self.category, self.args = text(self.name), text(self.category), []


class Track:
    """process, thread: (number, name); thread is None of a row that is none."""

    def __init__(self, row, text):
        self.id, self.name, self.parent = row[0], text(row[1]), row[2]
        self.utid, self.upid = row[3:5]
        self.thread = (row[5], text(row[6])) if self.utid is not None else None
        self.process = (row[7], text(row[8])) if self.upid is not None else None
        self.slices = []


class Held:
    """Of one file.  with_args: arguments too, which takes a while.

    clock_ns: what the clock of the recording read at 0, where the file says so in a snapshot of its clocks.  It is added to
    the times of slices and counters, so that these are the recording's own."""

    def __init__(self, path, with_args=True, seconds=importer.SECONDS):
        queries = [importer.STATS, TRACKS, SLICES, COUNTERS, FLOWS, ORDERS, CLOCK] + [ARGS] * with_args
        text = as_it_is if ".pftrace" in path.name else unescaped
        done = importer.load(path, *queries, seconds=seconds)
        self.error, self.seconds, self.heap = done.error, done.seconds, done.heap
        rows = [[]] * 7 if done.error else done.rows[:7]
        self.stats, tracks, slices, self.counters, self.flows, self.orders, clock = rows
        self.clock_ns = clock[0][0] if clock else 0
        self.tracks = {row[0]: Track(row, text) for row in tracks}
        self.slices = {row[0]: Slice(row, text) for row in slices}
        for one in self.slices.values():
            one.ts += self.clock_ns
        self.counters = [[ts + self.clock_ns, value, text(name), pid, text(process)] for ts, value, name, pid, process in self.counters]
        for one in self.slices.values():
            self.tracks[one.track].slices.append(one)
        for row in done.rows[7] if with_args and not done.error else ():
            _, flat, key, kind, whole, words, real = row
            self.slices[row[0]].args.append((text(flat), text(key), kind, whole, text(words), real))

    def complaints(self, are_flows_cut=False):
        """Everything that tells, without a look at what was to come, that something is wrong."""
        if self.error:
            return [f"refused: {self.error}"]
        found = importer.complaints(self.stats, are_flows_cut)
        negative = sum(s.dur < 0 for s in self.slices.values())
        unnamed = sum(s.name is None for s in self.slices.values())
        found += [f"slices without an end: {negative}"] * bool(negative)
        return found + [f"slices without a name: {unnamed}"] * bool(unnamed)
