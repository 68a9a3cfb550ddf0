# SPDX-License-Identifier: Apache-2.0
"""Perfetto traces as other writers make them: two threads with interned data, a clock that counts from packet to packet,
counters, arrows, lists in arguments, compressed packets, state that starts again, and packets of other data sources.

Field numbers: protos/perfetto/trace of github.com/google/perfetto."""

import struct
import zlib

from make_profile import chunk, varint

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
CLEARED, NEEDS = 1, 2
BOOT_NS, REAL_NS = 5_000_000_000_000, 1_700_000_000_000_000_000


def number(tag, value):
    """Zero is written too."""
    return varint(tag << 3) + varint(value)


def fixed64(tag, value):
    return varint(tag << 3 | 1) + struct.pack("<Q", value)


def double(tag, value):
    return varint(tag << 3 | 1) + struct.pack("<d", value)


def packet(content, sequence=1, flags=0, at=None, clock=None):
    out = number(10, sequence) + (number(13, flags) if flags else b"") + content
    out += number(8, at) if at is not None else b""
    return chunk(1, out + (number(58, clock) if clock else b""))


def event(kind, track=None, rest=b""):
    return chunk(11, number(9, kind) + (number(11, track) if track is not None else b"") + rest)


def named(tag, iid, text):
    return chunk(tag, number(1, iid) + chunk(2, text))


def thread(uuid, pid, tid, name):
    return chunk(60, number(1, uuid) + chunk(4, number(1, pid) + number(2, tid) + chunk(5, name)))


def process(uuid, pid, name):
    return chunk(60, number(1, uuid) + chunk(3, number(1, pid) + chunk(6, name)))


def track(uuid, parent, name, more=b""):
    return chunk(60, number(1, uuid) + number(5, parent) + chunk(2, name) + more)


def snapshot(*clocks):
    """(id, time, whether it is incremental)"""
    return chunk(6, b"".join(chunk(1, number(1, one) + number(2, at) + number(3, grows)) for one, at, grows in clocks))


def annotation(name, value):
    return chunk(4, chunk(10, name) + value_of(value))


def value_of(value):
    if isinstance(value, bool):
        return number(2, value)
    if isinstance(value, int):
        return number(4, value)
    if isinstance(value, float):
        return double(5, value)
    if isinstance(value, str):
        return chunk(6, value)
    if isinstance(value, dict):
        return b"".join(chunk(11, chunk(10, key) + value_of(one)) for key, one in value.items())
    return b"".join(chunk(12, value_of(one)) for one in value)


def first_thread(steps):
    """Sequence 1: interned names, times as differences, its state cleared halfway."""
    out = []
    for step in range(steps):
        if step % 4 == 0:
            out.append(packet(snapshot((64, 0, True), (6, BOOT_NS + step * 1000_000, False), (1, REAL_NS + step * 1000_000, False)) +
                              chunk(59, number(58, 64)), flags=CLEARED))
            out.append(packet(chunk(12, named(2, 1, "step") + named(2, 2, "compute") + named(1, 1, "train") + named(3, 1, "batch") +
                                    named(29, 1, "a text that is long enough to be a name of its own") +
                                    chunk(4, number(1, 1) + chunk(2, "train.py") + chunk(3, "main") + number(4, 12))), flags=NEEDS))
        arguments = chunk(4, number(1, 1) + number(4, step)) + chunk(4, chunk(10, "why") + number(17, 1))
        out += [packet(event(BEGIN, 11, number(10, 1) + number(3, 1) + arguments + fixed64(47, 7)), flags=NEEDS, at=100_000),
                packet(event(BEGIN, 11, number(10, 2) + number(34, 1) + annotation("shape", [8, 4 + step]) +
                             annotation("nested", {"a": {"b": [1, 2.5, "x"]}, "yes": True})), flags=NEEDS, at=100_000),
                packet(event(END, 11), flags=NEEDS, at=300_000),
                packet(event(INSTANT, 11, chunk(23, f"mark {step}")), flags=NEEDS, at=100_000),
                packet(event(END, 11), flags=NEEDS, at=400_000)]
    return out


def second_thread(steps):
    """Sequence 2: the track by default, absolute times, packets that go back in time, arrows to the first one."""
    out = [packet(chunk(59, chunk(11, number(11, 12))), 2, CLEARED)]
    for step in reversed(range(steps)):
        at = BOOT_NS + 50_000 + step * 1000_000
        out += [packet(event(BEGIN, None, chunk(23, "load") + chunk(22, "input") + fixed64(48 if step == steps - 1 else 47, 7)), 2, NEEDS, at),
                packet(event(END), 2, NEEDS, at + 600_000)]
    return out


def counters(steps):
    out = [packet(track(20, 10, "memory", chunk(8, number(3, 3))), 3), packet(track(21, 10, "load", chunk(8, b"")), 3),
           packet(track(22, 10, "sum", chunk(8, number(5, 1))), 3)]
    for step in range(steps):
        at = BOOT_NS + step * 1000_000
        out += [packet(event(COUNTER, 20, number(30, 1 << 20 << step % 8)), 3, 0, at),
                packet(event(COUNTER, 21, double(44, step / 3)), 3, 0, at),
                packet(event(COUNTER, 22, number(30, 5)), 3, 0, at)]
    return out


def foreign(steps=12, late=False):
    """The packets of a trace.  late: descriptors come last"""
    declared = [packet(process(10, 100, "trainer"), 4), packet(thread(11, 100, 101, "main"), 4), packet(thread(12, 100, 102, "loader"), 4),
                packet(track(13, 10, "a queue"), 4)]
    others = [packet(chunk(1, number(1, 3)), 5, 0, BOOT_NS), packet(chunk(9, number(1, 3)), 5, 0, BOOT_NS)]
    queue = [packet(event(BEGIN, 13, chunk(23, f"item {i}")), 4, 0, BOOT_NS + i * 500_000) +
             packet(event(END, 13), 4, 0, BOOT_NS + i * 500_000 + 400_000) for i in range(steps)]
    body = first_thread(steps) + second_thread(steps) + counters(steps) + queue + others
    return b"".join(body + declared if late else declared + body)


def packed(packets):
    """All of it in compressed packets of a few kilobytes, cut between packets."""
    out, block, at = [], b"", 0
    while at < len(packets):
        length, head, shift = 0, at + 1, 0
        while True:
            byte = packets[head]
            length |= (byte & 0x7F) << shift
            head, shift = head + 1, shift + 7
            if byte < 0x80:
                break
        block += packets[at:head + length]
        at = head + length
        if len(block) > 3000 or at == len(packets):
            out.append(chunk(1, chunk(50, zlib.compress(block))))
            block = b""
    return b"".join(out)
