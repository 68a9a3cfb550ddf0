# SPDX-License-Identifier: Apache-2.0
"""A Recording of an XSpace: what its events are, by docs/input.md and docs/convert.md."""

from trace_tally import Item, Process, Recording, Row
from xspace import planes_of

EPOCH_NS = 10**17  # a line that begins later counts from 1970, others from the profile's begin
DAYS_AFTER_PS = 100 * 86400 * 10**12


def origin_of(planes):
    """When the profile began, in nanoseconds since 1970; 0 = it does not tell."""
    return next((p.own["profile_start_time"] for p in planes if "profile_start_time" in p.own), 0)


def recording_of(path):
    planes, recording = planes_of(path), Recording()
    origin = origin_of(planes)
    for number, plane in enumerate(planes, 1):
        rows = {}
        process = Process(number, plane.name, number)
        for line in plane.lines:
            key = (line.id, line.name)
            if key not in rows:
                rows[key] = Row(process, line.id, line.name, order=len(rows))
            base = 0 if line.base_ps >= EPOCH_NS * 1000 else origin * 1000
            add_line(recording, rows[key], line, base)
        recording.rows += [row for row in rows.values() if row.items]
    return recording


def add_line(recording, row, line, base_ps):
    for event in line.events:
        if event.is_aggregated:
            recording.drops["aggregated-event"] += 1
            continue
        own = event.own_stats
        begin = base_ps + event.begin
        if "counter_value" in own:
            title = event.label
            recording.counters[(row.process, title)].append((begin, own["counter_value"], len(row.items)))
            continue
        item = Item(begin, max(event.end, event.begin) + base_ps, event.label, event)
        item.place = len(row.items)
        row.items.append(item)


def arguments_of(event):
    """(key, value) of each: its own first, those of its metadata, and the name that is not shown."""
    common = list(event.plane.metadata_stats(event.metadata).items())
    name, shown = event.plane.names.get(event.metadata, ("", ""))
    long_name = [("long_name", name)] if shown and name and shown != name else []
    return [event.plane.stat(span) for span in event.spans] + common + long_name
