# SPDX-License-Identifier: Apache-2.0
"""An XSpace, read on the wire by a plain reader: planes, lines, events, and their statistics when asked for.

Fields are those of tsl/profiler/protobuf/xplane.proto.  Times are whole picoseconds, the line's begin added.
"""

import functools
import struct

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
KNOWN_STAT_BYTES = 64  # longer ones seldom come back


def varint(data, at):
    """(value, where the next field begins)"""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data, at, end):
    """(number, value) of each field of a message; of a text or a message within, the value is (begin, end).  Numbers of
    one byte, which nearly all are, are read here: every test on an XSpace waits for this loop."""
    while at < end:
        tag = data[at]
        at += 1
        if tag >= 0x80:
            tag, at = varint(data, at - 1)
        wire = tag & 7
        if wire == VARINT or wire == BYTES:
            value = data[at]
            at += 1
            if value >= 0x80:
                value, at = varint(data, at - 1)
            if wire == BYTES:
                value = (at, at + value)
                at = value[1]
        elif wire == FIXED64:
            value = data[at:at + 8]
            at += 8
        elif wire == FIXED32:
            value = data[at:at + 4]
            at += 4
        else:
            raise ValueError(f"wire type {wire} at byte {at}")
        yield tag >> 3, value


def signed(value):
    """An int64 as it stands on the wire."""
    return value - (1 << 64) if value >= 1 << 63 else value


def text_of(data, span):
    return bytes(data[span[0]:span[1]]).decode("utf-8", "replace")


class Event:
    """begin, end and length in picoseconds; `stats` joins the event's own and those of its metadata."""

    __slots__ = ("plane", "metadata", "begin", "length", "spans", "is_aggregated")

    def __init__(self, plane, base_ps, data, at, end):
        self.plane, self.spans, self.is_aggregated = plane, [], False
        self.metadata = offset = self.length = 0
        for number, value in fields(data, at, end):
            if number == 1:
                self.metadata = signed(value)
            elif number == 2:
                offset = signed(value)
            elif number == 3:
                self.length = signed(value)
            elif number == 4:
                self.spans.append(value)
            elif number == 5:
                self.is_aggregated = True
        self.begin = base_ps + offset

    @property
    def end(self):
        return self.begin + self.length

    @property
    def name(self):
        return self.plane.names.get(self.metadata, ("", ""))[0]

    @property
    def label(self):
        """What a reader shows: the name for display where there is one."""
        name, shown = self.plane.names.get(self.metadata, ("", ""))
        return shown or name

    @property
    def own_stats(self):
        return dict(self.plane.stat(span) for span in self.spans)

    @property
    def stats(self):
        return {**self.plane.metadata_stats(self.metadata), **self.own_stats}


class Line:
    def __init__(self, plane, data, at, end):
        self.plane, self.id, self.name, self.shown, base_ns = plane, 0, "", "", 0
        spans = []
        for number, value in fields(data, at, end):
            if number == 1:
                self.id = signed(value)
            elif number == 2:
                self.name = text_of(data, value)
            elif number == 3:
                base_ns = signed(value)
            elif number == 4:
                spans.append(value)
            elif number == 11:
                self.shown = text_of(data, value)
        self._data, self._spans, self.base_ps = data, spans, base_ns * 1000

    @functools.cached_property
    def events(self):
        return [Event(self.plane, self.base_ps, self._data, *span) for span in self._spans]


class Plane:
    """names: metadata id -> (name, name for display); stat_names: id -> name, and what texts refer to."""

    def __init__(self, data, at, end):
        self._data, self.name, self.id, self.names = data, "", 0, {}
        self.stat_names, self._metadata, self._known_stats, own, lines = {}, {}, {}, [], []
        for number, value in fields(data, at, end):
            if number == 1:
                self.id = signed(value)
            elif number == 2:
                self.name = text_of(data, value)
            elif number == 3:
                lines.append(value)
            elif number == 4:
                self._add_metadata(value)
            elif number == 5:
                self._add_stat_name(value)
            elif number == 6:
                own.append(value)
        self.own = dict(self.stat(span) for span in own)
        self.lines = [Line(self, data, *span) for span in lines]

    def _entry(self, span):
        """(key, where the value stands) of a row of a map."""
        row = dict(fields(self._data, *span))
        return signed(row.get(1, 0)), row.get(2, (0, 0))

    def _add_metadata(self, span):
        key, value = self._entry(span)
        name, shown, stats = "", "", []
        for number, what in fields(self._data, *value):
            if number == 2:
                name = text_of(self._data, what)
            elif number == 4:
                shown = text_of(self._data, what)
            elif number == 5:
                stats.append(what)
        self.names[key] = (name, shown)
        self._metadata[key] = stats

    def _add_stat_name(self, span):
        key, value = self._entry(span)
        self.stat_names[key] = ""
        for number, what in fields(self._data, *value):
            if number == 2:
                self.stat_names[key] = text_of(self._data, what)

    @functools.cache
    def metadata_stats(self, key):
        return dict(self.stat(span) for span in self._metadata.get(key, ()))

    def metadata_spans(self, key):
        return self._metadata.get(key, ())

    def stat_fields(self, span):
        return fields(self._data, *span)

    def bytes_of(self, span):
        return bytes(self._data[span[0]:span[1]])

    def stat(self, span):
        """(name, value).  Most come back with the same bytes in many events, and are read once."""
        key = self._data[span[0]:span[1]]
        found = self._known_stats.get(key)
        if found is None:
            found = self._read_stat(span)
            if len(key) <= KNOWN_STAT_BYTES:
                self._known_stats[key] = found
        return found

    def _read_stat(self, span):
        name, result = "", None
        for number, value in fields(self._data, *span):
            if number == 1:
                name = self.stat_names.get(signed(value), "")
            elif number == 2:
                result = struct.unpack("<d", value)[0]
            elif number == 3:
                result = value
            elif number == 4:
                result = signed(value)
            elif number == 5:
                result = text_of(self._data, value)
            elif number == 6:
                result = bytes(self._data[value[0]:value[1]])
            elif number == 7:
                result = self.stat_names.get(signed(value), "")
        return name, result


def planes_of(path):
    data = path.read_bytes()
    return [Plane(data, *span) for number, span in fields(data, 0, len(data)) if number == 1]
