#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The fingerprint of an input follows from its bytes alone: not from the order in which they are decoded, nor from how
they come.  It is the XXH3-64 of up to 16 MiB, and of larger inputs the XXH3-64 of the hashes of their pieces."""

import ctypes
import ctypes.util
import gzip
import io
import json
import random
import sys
import tarfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from make_profile import chunk, number  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run, summary_of  # noqa: E402
from xspace import fields  # noqa: E402

PIECE = 16 << 20
XXHASH = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
XXHASH.XXH3_64bits.restype = ctypes.c_uint64
XXHASH.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def xxh3(data):
    return XXHASH.XXH3_64bits(data, len(data)).to_bytes(8, "big")


def fingerprint(data):
    if len(data) <= PIECE:
        return xxh3(data).hex()
    return xxh3(b"".join(xxh3(data[at:at + PIECE]) for at in range(0, len(data), PIECE))).hex()


def long_line(name, mib, late_name=False):
    """A line of events with texts, of about so many MiB; its name may follow its events."""
    text = random.Random(name).randbytes(5000).hex().encode()
    event = chunk(4, number(1, 1) + number(2, 1000) + number(3, 500) + chunk(4, number(1, 1) + chunk(5, text)))
    head = number(1, 7) + (b"" if late_name else chunk(2, name.encode()))
    return chunk(3, head + event * (mib * 1048576 // len(event)) + (chunk(2, name.encode()) if late_name else b""))


def long_plane(name, lines):
    tables = chunk(4, number(1, 1) + chunk(2, number(1, 1) + chunk(2, b"an event"))) + \
        chunk(5, number(1, 1) + chunk(2, number(1, 1) + chunk(2, b"text")))
    return chunk(1, chunk(2, name.encode()) + b"".join(lines) + tables)


def planes_of(data):
    return [chunk(1, data[value[0]:value[1]]) for tag, value in fields(data, 0, len(data)) if tag == 1]


def profiles():
    """Labels, and XSpace files of 20 to 60 MiB whose host, which is decoded first, is at various places."""
    small = planes_of(make_profile.gpu(seed=3).encode())
    host = long_plane("/host:CPU", [long_line("worker/1", 9), long_line("worker/2", 12)])
    device = long_plane("/device:GPU:7", [long_line("Stream #1(Kernel)", 8), long_line("Stream #2(Kernel)", 21)])
    other = long_plane("/host:python", [long_line("reader", 3)])
    yield "the host last", b"".join([*small, device, other, host])
    yield "the host first", b"".join([host, *small, other, device])
    yield "the host amid devices", b"".join([device, host, *small, other, device.replace(b"GPU:7", b"GPU:6")])
    yield "a line named after its events", b"".join(
        [device, *small, long_plane("/host:CPU", [long_line("late", 5, late_name=True)])])
    whole = b"".join([*small, device, host])
    yield "cut in the host", whole[:-5_000_001]
    yield "cut in a device", whole[:len(whole) // 3]
    yield "one piece", (whole + chunk(1000, bytes(PIECE)))[:PIECE]
    yield "one byte more than a piece", whole[:PIECE + 1]
    for seed in (1, 2):
        dice = random.Random(seed)
        planes = [*small] + [long_plane(f"/{'host' if n % 2 else 'device'}:CPU:{n}",
                                        [long_line(f"line {n} {m}", dice.randrange(1, 9)) for m in range(2)])
                             for n in range(4)]
        dice.shuffle(planes)
        yield f"planes in any order, {seed}", b"".join(planes)


def of_input(folder, source, *options, **given):
    """(Result, the fingerprint in the summary, its size)"""
    out = folder / "out"
    result = run("report", source, "-o", out, "--format", "json", *options, **given)
    file = json.loads((out / "summary.json").read_text())["input"]["files"][0] if (out / "summary.json").exists() else {}
    for path in out.glob("*"):
        path.unlink()
    return result, (file.get("xxh3"), file.get("bytes"))


def check(tap, folder, label, name, data, options=()):
    path = folder / name
    path.write_bytes(data)
    wanted = (fingerprint(data), len(data))
    for way, (result, got) in (("a file", of_input(folder, path, *options)),
                               ("a pipe", of_input(folder, "-", *options, stdin=data)),
                               ("an object", of_input(folder, f"s3://any/{name}", *options, "--fetch", f"cat {path}"))):
        tap.ok(got == wanted, f"{label}, {way}", result, f"{got} instead of {wanted}")
    path.unlink()


def in_an_archive(tap, folder, data):
    member = tarfile.TarInfo("run/host.xplane.pb")
    member.size = len(data)
    with tarfile.open(folder / "run.tar", "w") as archive:
        archive.addfile(member, io.BytesIO(data))
    result, got = of_input(folder, folder / "run.tar")
    tap.ok(got == (fingerprint(data), len(data)), "a member of an archive", result, str(got))


def other_kinds(tap, folder):
    text = make_profile.chrome_json(make_profile.gpu(seed=5, steps=3))
    padded = text[:1] + b'"padding": "' + random.Random(4).randbytes(9 << 20).hex().encode() + b'", ' + text[1:]
    check(tap, folder, "a JSON", "run.trace.json", padded)
    check(tap, folder, "a gzip", "run.trace.json.gz", gzip.compress(padded, 0, mtime=0))


def main():
    tap = Tap()
    with Scratch() as folder:
        spaces = dict(profiles())
        for label, data in spaces.items():
            check(tap, folder, label, "host.xplane.pb", data)
        in_an_archive(tap, folder, spaces["the host last"])
        other_kinds(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
