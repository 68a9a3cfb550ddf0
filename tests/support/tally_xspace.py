# SPDX-License-Identifier: Apache-2.0
"""A Recording of an XSpace: what its events are, by docs/input.md and docs/convert.md."""

import re
import struct

from slow_clock import put_recording_on_device_clocks
from trace_tally import Item, Process, Recording, Row, add_allocations
from xspace import planes_of, signed

EPOCH_NS = 10**17  # a line that begins later counts from 1970, others from the profile's begin
ALLOCATOR = ("MemoryAllocation", "MemoryDeallocation")


def origin_of(planes):
    """When the profile began, in nanoseconds since 1970; 0 = it does not tell."""
    return next((p.own["profile_start_time"] for p in planes if "profile_start_time" in p.own), 0)


def recording_of(path):
    planes, recording = planes_of(path), Recording()
    origin, allocations = origin_of(planes), []
    processes = {plane.name: Process(None, plane.name) for plane in planes}
    for plane in planes:
        rows, process = {}, processes[plane.name]
        for line in plane.lines:
            key = (line.id, line.name)
            if key not in rows:
                rows[key] = Row(process, line.id, line.name, order=len(rows))
            base = 0 if line.base_ps >= EPOCH_NS * 1000 else origin * 1000
            add_line(recording, rows[key], line, base)
            allocations += allocations_of(line, base, processes, len(allocations))
        recording.rows += [row for row in rows.values() if row.items]
    put_recording_on_device_clocks(recording, lambda item: item.args.own_stats, is_xspace=True)
    add_allocations(recording, allocations)
    return recording


def allocations_of(line, base_ps, processes, place):
    """See trace_tally.add_allocations: of the device that the allocator's name tells, else of the plane."""
    for event in line.events:
        if event.name not in ALLOCATOR:
            continue
        stats = event.stats
        name = stats.get("allocator_name")
        gpu = re.match(r"(?:GPU_|gpu:|GPU:|cuda:|CUDA:)(\d+)", name or "")
        if gpu:
            device = f"/device:GPU:{gpu.group(1)}"
        else:
            device = f"/device:TPU:{stats.get('index_on_host')}" if name is None else None
        if name is None:
            name = f"device {stats['index_on_host']}" if "index_on_host" in stats else "allocator"
        process = processes.get(device) or processes[line.plane.name]
        yield base_ps + event.begin, place, process, name, stats
        place += 1


def is_tpu(plane):
    return plane.name.startswith("/device:TPU:")


def shown_name(event):
    """The name of a TPU's op is its whole text; people call it by the other one."""
    return event.label if is_tpu(event.plane) else event.name


def add_line(recording, row, line, base_ps):
    for event in line.events:
        if event.is_aggregated:
            recording.drops["aggregated-event"] += 1
            continue
        own = event.own_stats
        begin = base_ps + event.begin
        if "counter_value" in own:
            title = shown_name(event)
            recording.counters[(row.process, title)].append((begin, own["counter_value"], len(row.items)))
            continue
        item = Item(begin, max(event.end, event.begin) + base_ps, shown_name(event), event)
        item.place = len(row.items)
        row.items.append(item)


def arguments_of(event):
    """(key, value) of each: its own first, those of its metadata, and the name that is not shown."""
    plane = event.plane
    name, display = plane.names.get(event.metadata, ("", ""))
    other = []
    if name and display and name != display:
        other = [("long_name", name)] if is_tpu(plane) else [("display_name", display)]
    return [argument_of(plane, span) for span in [*event.spans, *plane.metadata_spans(event.metadata)]] + other


def argument_of(plane, span):
    key, value = "stat 0", None
    for number, what in plane.stat_fields(span):
        if number == 1:
            key = plane.stat_names.get(signed(what), f"stat {signed(what)}")
        elif number == 2:
            value = struct.unpack("<d", what)[0]
        elif number == 3:
            value = what
        elif number == 4:
            value = signed(what)
        elif number in (5, 6):
            value = text_or_size(plane.bytes_of(what), number == 6)
        elif number == 7:
            value = plane.stat_names.get(what, f"(no text {what})")
    return key, value


def text_or_size(data, is_bytes):
    """Bytes that are no readable text of up to 1 KiB, and texts of more than 64 KiB, tell how many they are."""
    text = data.decode("utf-8", "replace")
    if is_bytes and (len(data) > 1024 or not is_readable(data)) or len(data) > 65536:
        return f"({len(data)} bytes)"
    return text


def is_readable(data):
    try:
        return data.decode("utf-8").isprintable()
    except UnicodeDecodeError:
        return False
