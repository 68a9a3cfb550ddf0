# SPDX-License-Identifier: Apache-2.0
"""A Recording of a Chrome trace: what its events are, by docs/input.md and docs/convert.md."""

import math
import re
from collections import defaultdict
from decimal import ROUND_HALF_UP, Decimal

from slow_clock import put_recording_on_device_clocks
from trace_tally import ASYNC, LOOSE, NO_NAME, THREAD, Arrow, Item, Process, Recording, Row, add_allocations

DAYS_BEFORE, DAYS_AFTER = 5, 100
PS_PER_DAY = 86400 * 10**12
INTEGER = re.compile(r"0|-?[1-9][0-9]{0,19}")
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
# Categories of PyTorch's: its clock counts from anywhere.
DEVICES = {"kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation", "Kernel", "Memcpy", "Memset", "cuda_event",
          "cuda_profiler_range", "xpu_scope_profiler", "mtia_ccp_events", "mtia_insight", "mtia_counters", "hpu_op",
          "collective_comm"}
WHOLE = {"Trace", "external_correlation"}  # of no thread
DEVICE_WORDS = {0: "cpu", 1: "gpu", 6: "gpu", 9: "xla", 12: "xpu", 13: "mps", 15: "hpu", 19: "mtia"}
TORCH = DEVICES | WHOLE | {
    "cuda_runtime", "cuda_driver", "cpu_op", "user_annotation", "python_function", "overhead", "cuda_sync",
    "cpu_instant_event", "Runtime", "Operator"}


def id_of(value):
    """A number written as a text is the same id."""
    if isinstance(value, str) and INTEGER.fullmatch(value):
        return int(value)
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else str(value)
    return value


def ps_of(value):
    if isinstance(value, str) and NUMBER.fullmatch(value):
        value = Decimal(value)
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        return None
    return int((Decimal(value) * 10**6).to_integral_value(ROUND_HALF_UP))


def flow_id(event):
    inner = event.get("id2") if isinstance(event.get("id2"), dict) else {}
    ids = (event.get("id"), inner.get("local"), inner.get("global"), event.get("bind_id"))
    return next((id_of(i) for i in ids if i is not None), None)


def args_of(event):
    args = event.get("args")
    return tuple(args.items()) if isinstance(args, dict) else ()


PLACED = {"ph", "ts", "dur", "pid", "tid", "name", "cat", "s", "bp"}  # members that are written in their own place
IDS = {"id", "id2", "bind_id"}


def with_members(event, is_joined):
    """The arguments, and behind them what else the event has."""
    placed = PLACED | (IDS if is_joined else set())
    return args_of(event) + tuple((key, value) for key, value in event.items()
                                  if key not in placed and not (key == "args" and isinstance(value, dict)))


def text_or_none(value):
    return value if isinstance(value, str) else None


def named_by(number, what):
    """A name for what the file leaves without one."""
    if isinstance(number, str):
        return number or f'{what} ""'
    return f"{what} {0 if number is None else number}"


class Reader:
    def __init__(self, events):
        self.recording = Recording()
        self.processes, self.rows = {}, {}
        self.process_names, self.process_orders, self.thread_names, self.thread_orders = {}, {}, {}, {}
        self.labels, self.allocations, self.flow_places = {}, [], []
        self.lately = None  # of what was put on a thread last: process, thread, time, row
        self.devices, self.streams = {}, {}  # number -> Process; (pid, tid) -> the first stream that is drawn there
        self.halves, self.async_halves = defaultdict(list), defaultdict(list)
        self.origin = self.find_origin(events)
        for place, event in enumerate(events):
            if event.get("ph") == "M":
                self.metadata(event)
            else:
                self.event(event, place)
        self.join(self.halves)
        self.join(self.async_halves)
        self.give_names()
        add_allocations(self.recording, ((*a[:2], self.allocator_process(a), *a[3:]) for a in self.allocations))

    # --- rows ---
    def process(self, event):
        number = id_of(event.get("pid"))
        if number not in self.processes:
            self.processes[number] = Process(number, "")
        return self.processes[number]

    def thread_number(self, event):
        number = id_of(event.get("tid"))
        return id_of(event.get("pid")) if number is None else number

    def row(self, event, sort=THREAD):
        process = self.process(event)
        number = self.thread_number(event) if sort == THREAD else None
        return self.known_row((process.number, sort, number), process, number, sort if sort != THREAD else "", sort)

    def stream(self, event):
        """On a device of PyTorch's, which is a process of its own: the file draws waits of the host there too."""
        device = event.get("args", {}).get("device")
        device = device if isinstance(device, int) else id_of(event.get("pid"))
        number = self.thread_number(event)
        process = self.devices.setdefault(device, Process(id_of(event.get("pid")), f"GPU {device}"))
        row = self.known_row(("device", device, number), process, number, named_by(number, "stream"), THREAD)
        self.streams.setdefault((id_of(event.get("pid")), number), row)
        return row

    def known_row(self, key, process, number, name, sort):
        if key not in self.rows:
            self.rows[key] = Row(process, number, name, sort)
            self.recording.rows.append(self.rows[key])
        return self.rows[key]

    def metadata(self, event):
        args = event.get("args") if isinstance(event.get("args"), dict) else {}
        pid = id_of(event.get("pid"))
        tid = id_of(event.get("tid"))
        tid = pid if tid is None else tid
        if event.get("name") == "process_name" and text_or_none(args.get("name")):
            self.process_names[pid] = args["name"]
        elif event.get("name") == "process_labels" and text_or_none(args.get("labels")):
            self.labels[pid] = args["labels"]
        elif event.get("name") == "thread_name" and text_or_none(args.get("name")):
            self.thread_names[(pid, tid)] = args["name"]
        elif event.get("name") == "process_sort_index" and isinstance(args.get("sort_index"), int):
            self.process_orders[pid] = args["sort_index"]
        elif event.get("name") == "thread_sort_index" and isinstance(args.get("sort_index"), int):
            self.thread_orders[(pid, tid)] = args["sort_index"]

    def give_names(self):
        for number, process in self.processes.items():
            name, labels = self.process_names.get(number), self.labels.get(number)
            process.name = f"{name} ({labels})" if name and labels else name or named_by(number, "process")
            process.order = self.process_orders.get(number, 0)
        for (pid, sort, tid), row in self.rows.items():
            if sort == THREAD and pid != "device":
                row.name = self.thread_names.get((pid, tid)) or named_by(tid, "thread")
                row.order = self.thread_orders.get((pid, tid), 0)
        for arrow, pid, tid in self.flow_places:
            arrow.row = self.streams.get((pid, tid), arrow.row)
        self.recording.rows = [row for row in self.recording.rows if row.items]

    def allocator_process(self, allocation):
        name = allocation[3]
        if name.startswith("gpu:"):
            return self.devices.get(int(name[4:]), allocation[2])
        return allocation[2]

    # --- events ---
    def time(self, event, length):
        begin = ps_of(event.get("ts"))
        if begin is None:
            self.recording.drops["missing-time"] += 1
            return None
        if begin - self.origin < -DAYS_BEFORE * PS_PER_DAY or begin + length - self.origin > DAYS_AFTER * PS_PER_DAY:
            self.recording.drops["clock-outlier"] += 1
            return None
        return begin

    @staticmethod
    def find_origin(events):
        """That of the first event that most of the first ones are near: of 64, and of 1,024 where these do not agree."""
        def origin_of(event, begin):
            latest = 3600 * 10**12 if event.get("cat") in TORCH else DAYS_AFTER * PS_PER_DAY
            return 0 if abs(begin) < latest else begin - begin % 10**12

        first = next((n for n, e in enumerate(events) if is_timed(e)), len(events))
        for most in (64, 1024):
            timed = [(e, ps_of(e["ts"])) for e in events[first:first + most] if is_timed(e)]
            origins = [origin_of(*t) for t in timed]
            near = [sum(-DAYS_BEFORE * PS_PER_DAY <= begin - o <= (DAYS_AFTER - 5) * PS_PER_DAY for _, begin in timed)
                    for o in origins]
            if near and max(near) == len(timed):
                break
        return origins[near.index(max(near))] if near else 0

    def event(self, event, place):
        phase = event.get("ph")
        take = {"X": self.complete, "B": self.half, "E": self.half, "i": self.instant, "I": self.instant, "R": self.instant, "P": self.instant,
                "C": self.counter}.get(phase)
        if take is None and isinstance(phase, str) and len(phase) == 1:
            take = self.arrow if phase in "stf" else self.async_event if phase in "bneSTpF" else None
        if take is None:
            self.recording.drops["other-phase"] += 1
            return
        length = ps_of(event.get("dur")) if phase == "X" else 0
        length = max(length or 0, 0)
        if length == 1 and not text_or_none(event.get("cat")):
            length = 0  # how JAX writes no length
        begin = self.time(event, length)
        if begin is not None:
            take(event, place, begin, length)

    def put(self, row, event, place, begin, end, args=None, is_instant=False):
        item = Item(begin, end, text_or_none(event.get("name")), with_members(event, row.sort == ASYNC) if args is None else args,
                    text_or_none(event.get("cat")) or "", is_instant=is_instant)
        item.place = place
        row.items.append(item)
        if row.sort == THREAD:
            self.lately = id_of(event.get("pid")), self.thread_number(event), begin, row
        return item

    def complete(self, event, place, begin, length):
        if event.get("cat") in DEVICES:
            row = self.stream(event)
        else:
            row = self.row(event, LOOSE if event.get("cat") in WHOLE else THREAD)
        self.put(row, event, place, begin, begin + length)

    def half(self, event, place, begin, _):
        self.halves[self.row(event)].append((begin, place, event))

    def instant(self, event, place, begin, _):
        loose = event.get("s") in ("g", "p") or event.get("tid") is None
        row = self.row(event, LOOSE if loose else THREAD)
        self.put(row, event, place, begin, begin, is_instant=True)
        if event.get("name") == "[memory]":
            self.allocation(event, begin, row.process)

    def allocation(self, event, begin, process):
        args = dict(args_of(event))
        if "Bytes" not in args:
            return
        allocated, reserved = args.get("Total Allocated"), args.get("Total Reserved")
        state = {} if allocated is None else {"bytes_allocated": allocated}
        if allocated is not None and reserved is not None and reserved >= allocated:
            state["bytes_available"] = reserved - allocated
        name = "allocator"
        if "Device Type" in args:
            name = DEVICE_WORDS.get(args["Device Type"], "device")
            name += f":{args['Device Id']}" if args.get("Device Id", -1) >= 0 else ""
        self.allocations.append((begin, len(self.allocations), process, name, state))

    def async_event(self, event, place, begin, _):
        self.async_halves[self.row(event, ASYNC)].append((begin, place, event))

    def counter(self, event, place, begin, _):
        name, number = text_or_none(event.get("name")) or NO_NAME, event.get("id")
        for key, value in args_of(event):
            if isinstance(value, str) and NUMBER.fullmatch(value):
                value = Decimal(value)
            if isinstance(value, (int, Decimal)) and not isinstance(value, bool) and math.isfinite(float(value)):
                title = f"{name} {key}" if number is None else f"{name} [{number}] {key}"
                self.recording.counters[(self.process(event), title)].append((begin, value, place))
            else:
                self.recording.drops["counter-value"] += 1

    def arrow(self, event, place, begin, _):
        key = (event.get("cat"), event.get("name"), flow_id(event))
        is_enclosed = event["ph"] != "f" or event.get("bp") == "e"
        arrow = Arrow(key, event["ph"], begin, self.row(event), is_enclosed, place)
        self.recording.arrows.append(arrow)
        pid, tid = id_of(event.get("pid")), self.thread_number(event)
        if self.lately and self.lately[:3] == (pid, tid, begin):  # it stands behind what it belongs to
            arrow.row = self.lately[3]
        else:
            self.flow_places.append((arrow, pid, tid))

    # --- halves ---
    def join(self, halves):
        for row, events in halves.items():
            open_by_key = defaultdict(list)
            for begin, place, event in sorted(events, key=lambda e: e[:2]):
                key = (event.get("cat"), flow_id(event)) if row.sort == ASYNC else None
                if event["ph"] in "BbS":
                    open_by_key[key].append((begin, place, event))
                elif event["ph"] in "nTp":
                    self.put(row, event, place, begin, begin, is_instant=True).key = key
                else:
                    self.close(row, open_by_key[key], event, begin, key)
            for key, left in open_by_key.items():
                for begin, place, event in left:
                    item = self.put(row, event, place, begin, begin)
                    item.key, item.is_open = key, True
                    self.recording.drops["unmatched-begin"] += 1

    def close(self, row, open_begins, event, end, key):
        name = text_or_none(event.get("name")) or None
        found = next((n for n in range(len(open_begins) - 1, -1, -1)
                      if name is None or open_begins[n][2].get("name") == name), None)
        if found is None:
            self.recording.drops["unmatched-end"] += 1
            return
        begin, place, opened = open_begins.pop(found)
        self.put(row, opened, place, begin, end, with_members(opened, row.sort == ASYNC) + with_members(event, row.sort == ASYNC)).key = key


def is_timed(event):
    return isinstance(event.get("ph"), str) and event["ph"] in set("XBEiIRPCstfbneSTpF") and ps_of(event.get("ts")) is not None


def whole_or_text(value):
    """In the JSON of JAX everything is a text: a whole number is one again."""
    if isinstance(value, str) and INTEGER.fullmatch(value) and -2**63 <= int(value) < 2**64:
        return int(value)
    return value


def arguments_of(args):
    return args


def recording_of(document, events):
    recording = Reader(events).recording
    head = document.get("metadata") if isinstance(document, dict) else None
    if isinstance(head, dict) and head.get("highres-ticks") is True:
        for row in recording.rows:
            for item in row.items:
                item.args = tuple((key, whole_or_text(value)) for key, value in item.args)
    put_recording_on_device_clocks(recording, lambda item: dict(item.args))
    return recording
