# SPDX-License-Identifier: Apache-2.0
"""Traces that were written, read strictly and in nothing like the program: whole, or an error that says why not."""

import csv
import functools
import gzip
import io
import json
import zlib

COLUMNS = 15  # docs/convert.md, "CSV"
PACKET, EVENT, COMPRESSED, TYPE = 1, 11, 50, 9  # fields: schemas/perfetto.proto
BEGIN, END = 1, 2

csv.field_size_limit(1 << 30)


class Broken(Exception):
    pass


def _refuse_constant(text):
    raise Broken(f"{text} is no JSON")


def _no_twins(pairs):
    if len(dict(pairs)) != len(pairs):
        raise Broken(f"a key twice: {[key for key, _ in pairs][:20]}")
    return dict(pairs)


def events_of_json(data):
    """The events of a Chrome JSON."""
    events = json.loads(data.decode("utf-8"), object_pairs_hook=_no_twins, parse_constant=_refuse_constant)["traceEvents"]
    for event in events:
        if event["ph"] not in tuple("XiCMstf") or event.get("ts", 0) < 0 or event.get("dur", 0) < 0:
            raise Broken(f"an event that is none: {event}")
    return events


def _varint(data, at):
    value = shift = 0
    while True:
        if at == len(data) or shift > 63:
            raise Broken("a number without an end")
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    """(number, value) of a message; the value is bytes, or a number."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        wire, size = tag & 7, 0
        if wire == 0:
            value, at = _varint(data, at)
        elif wire in (1, 2, 5):
            size, at = _varint(data, at) if wire == 2 else ({1: 8, 5: 4}[wire], at)
            value = data[at:at + size]
            at += size
        else:
            raise Broken(f"a field of kind {wire}")
        if tag >> 3 == 0 or at > len(data):
            raise Broken("a field that is not whole")
        yield tag >> 3, value


@functools.lru_cache(1 << 17)  # files that are cut at other places have the same packets
def _packet(data):
    return list(fields(data))


@functools.lru_cache(1 << 17)
def _kind(event):
    return dict(fields(event)).get(TYPE)


def packets(data):
    """The packets of a .pftrace, as lists of fields."""
    for number, value in fields(data):
        if number != PACKET:
            raise Broken(f"field {number} is no packet")
        packet = _packet(value)
        blocks = [inside for kind, inside in packet if kind == COMPRESSED]
        if not blocks:
            yield packet
        for block in blocks:
            yield from packets(zlib.decompress(block))


def _events_of_packets(data):
    kinds = [_kind(value) for packet in packets(data) for number, value in packet if number == EVENT]
    if kinds.count(BEGIN) != kinds.count(END):
        raise Broken(f"{kinds.count(BEGIN)} begins, {kinds.count(END)} ends")
    return kinds


def _rows(data):
    rows = list(csv.reader(io.StringIO(data.decode("utf-8"), newline=""), strict=True))
    if not rows or any(len(row) != COLUMNS for row in rows):
        raise Broken("rows of other columns")
    return rows[1:]


def problem_of(path):
    """What is wrong with a file that convert or split wrote; "" = it is whole."""
    data, name = path.read_bytes(), path.name
    try:
        if name.endswith(".gz"):
            data, name = gzip.decompress(data), name[:-3]
        if name.endswith(".json"):
            events_of_json(data)
        elif name.endswith(".csv"):
            _rows(data)
        else:
            _events_of_packets(data)
    except (Broken, ValueError, KeyError, csv.Error, zlib.error, EOFError, OSError) as error:
        return f"{path.name}: {type(error).__name__}: {error}"
    return ""
