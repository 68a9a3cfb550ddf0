# SPDX-License-Identifier: Apache-2.0
"""Seeds of fuzz_unwrap: gzip members with every part of a header, one after the other, padded, damaged.  Those of zstd
the target makes itself."""

import struct
import zlib

EXTRA, NAME, COMMENT, HEAD_CRC = 4, 8, 16, 2
TEXT = b"the quick brown fox " * 40 + bytes((i * i * 2654435761 >> 13) % 256 for i in range(600))


def member(data, flags=0, level=9, strategy=zlib.Z_DEFAULT_STRATEGY):
    """One member of a gzip."""
    head = b"\x1f\x8b\x08" + bytes([flags]) + b"\0\0\0\0\0\x03"
    if flags & EXTRA:
        head += b"\x05\0extra"
    if flags & NAME:
        head += b"vm.xplane.pb\0"
    if flags & COMMENT:
        head += b"c\0"
    if flags & HEAD_CRC:
        head += struct.pack("<H", zlib.crc32(head) & 0xFFFF)
    deflate = zlib.compressobj(level, zlib.DEFLATED, -15, 9, strategy)
    return head + deflate.compress(data) + deflate.flush() + struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)


def flip(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


def files():
    """The gzip files, by name."""
    out = {f"flags-{flags}": member(TEXT[:50], flags) for flags in range(0, 31, 2)}
    out["stored"] = member(TEXT, level=0)
    out["fixed"] = member(TEXT, strategy=zlib.Z_FIXED)
    out["dynamic"] = member(TEXT)
    out["empty"] = member(b"")
    out["runs"] = member(bytes(100000))
    out["several"] = member(TEXT[:9]) + member(b"", NAME) + member(TEXT, 30, 0) + member(TEXT[700:], EXTRA)
    out["padded"] = member(TEXT[:9]) + bytes(700)
    out["garbage"] = member(TEXT[:9]) + b"\0\0garbage"
    out["no-member"] = member(TEXT[:9]) + b"\x1f\x8a"
    out["check"] = flip(member(TEXT[:9]), -8) + member(TEXT[:9])
    out["length"] = flip(member(TEXT[:9]), -1) + member(TEXT[:9])
    out["head-check"] = flip(member(TEXT[:9], HEAD_CRC), 10) + member(TEXT[:9])
    out["method"] = flip(member(TEXT[:9]), 2)
    out["cut"] = member(TEXT)[:-9]
    out["damaged"] = flip(member(TEXT), 100)
    return out


def seeds():
    """Two bytes behind each file choose the steps."""
    steps = (b"\0\0", b"\1\1", b"\3\5", b"\6\2")
    return {name: data + steps[i % len(steps)] for i, (name, data) in enumerate(files().items())}
