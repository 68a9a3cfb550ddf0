#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small files that claim, or unpack to, far more than they are: an end in time, memory within its limit, and a message
that names the limit, or a report.

    test_bombs.py [--full] [--only WORD]      --full: gigabytes, ten million tracks; else a hundredth of it
"""

import argparse
import concurrent.futures
import gzip
import subprocess
import sys
import tarfile
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzz"))
import make_profile  # noqa: E402
import make_seeds  # noqa: E402
from cost import Cost  # noqa: E402
from make_profile import chunk, number, varint  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BINARY, SANITIZED, UNDER, Scratch  # noqa: E402

MEMORY_MIB, OVERHEAD_MIB = 32, 16
MIB = 1 << 20
SMALL = make_profile.gpu(seed=1, steps=1, devices=1, per_step=4).encode()
SPAN = b'{"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"a"}'
HUGE = ((1 << 64) - 1, 1 << 63, (1 << 63) - 1, 1 << 40)


def tag(field):
    return varint(field << 3 | 2)


class Packed:
    """A gzip file that is written in parts."""

    def __init__(self, path):
        self.file, self.deflate = open(path, "wb"), zlib.compressobj(9, zlib.DEFLATED, 31)

    def __enter__(self):
        return self

    def __call__(self, data, times=1):
        for _ in range(times):
            self.file.write(self.deflate.compress(data))

    def __exit__(self, *_):
        self.file.write(self.deflate.flush())
        self.file.close()


def report(path, folder, *options):
    return [BINARY, "report", path, "-o", folder / "out", "--format", "json", "-q", "--memory", f"{MEMORY_MIB}M",
            "--tmp", folder, *options]


def inspect(path, *_):
    return [BINARY, "inspect", path, "--memory", f"{MEMORY_MIB}M"]


def json_with(events):
    return b'{"traceEvents":[' + events + b"]}"


# --- each gives (name, file, statuses, a word of the message, or "" = none is wanted) ---------------------------


def gzips(folder, size):
    """What unpacks to a thousand times its bytes.  size: bytes of it"""
    block, times = MIB, size // MIB
    path = folder / "blanks.trace.json.gz"
    with Packed(path) as put:
        put(b'{"traceEvents":[' + SPAN)
        put(b" " * block, times)
        put(b"]}")
    yield "blanks between events", path, (0,), ""
    path = folder / "name.trace.json.gz"
    with Packed(path) as put:
        put(b'{"traceEvents":[' + SPAN + b',{"ph":"X","pid":1,"tid":1,"ts":5,"dur":1,"name":"')
        put(b"x" * block, times)
        put(b'"}]}')
    yield "a name of that length", path, (4,), "long-value"
    path = folder / "key.trace.json.gz"
    with Packed(path) as put:
        put(b'{"')
        put(b"k" * block, times)
        put(b'":1,"traceEvents":[' + SPAN + b"]}")
    yield "a key of that length", path, (0,), ""
    path = folder / "zeros.trace.json.gz"
    with Packed(path) as put:
        put(json_with(SPAN))
        put(bytes(block), times)
    yield "zeros behind the end", path, (0,), ""
    held = max(size, 320 * MIB)  # up to TM_HELD_FREE_BYTES it is held, whatever it was packed into
    path = folder / "host0.xplane.pb.gz"
    with Packed(path) as put:
        put(SMALL + tag(1) + varint(held + 6) + tag(15) + varint(held))
        put(bytes(block), held // MIB)
    yield "a profile that has to be held", path, (6,), "256 times"
    path = folder / "profile.tar.gz"
    info = tarfile.TarInfo("host0.xplane.pb")
    info.size = held
    with Packed(path) as put:
        put(info.tobuf() + SMALL + tag(1) + varint(held) + tag(15) + varint(held - 8))
        put(bytes(block), held // MIB)
    yield "one in an archive", path, (6,), "256 times"
    data = json_with(SPAN)
    for _ in range(20):
        data = gzip.compress(data, mtime=0)
    path = folder / "often.trace.json.gz"
    path.write_bytes(data)
    yield "a gzip in a gzip, twenty times", path, (3,), "gzip"


def archives(folder, count):
    seed = make_seeds.zip_of([("a.xplane.pb", SMALL)], make_seeds.zipfile.ZIP_DEFLATED)
    for _ in range(6):
        seed = make_seeds.zip_of([(f"{i}.zip", seed) for i in range(10)], make_seeds.zipfile.ZIP_DEFLATED)
    path = folder / "nested.zip"
    path.write_bytes(seed)
    yield "archives in archives, six deep", path, (3,), "zip"
    path = folder / "many.tar.gz"
    head = tarfile.TarInfo("a").tobuf()
    with Packed(path) as put:
        for _ in range(count // 1000):
            put(head * 1000)
        put(bytes(1024))
    yield f"an archive of {count} members", path, (3, 6), ""
    claimed = tarfile.TarInfo("host0.xplane.pb")
    claimed.size = (1 << 62) + 5
    path = folder / "claimed.tar"
    path.write_bytes(claimed.tobuf(tarfile.GNU_FORMAT) + SMALL + bytes(1024))
    yield "a member that claims 2^62 bytes", path, (3, 4), ""
    name = tarfile.TarInfo("x" * (count // 10) + "/host0.xplane.pb")
    name.size = len(SMALL)
    path = folder / "name.tar"
    path.write_bytes(name.tobuf(tarfile.GNU_FORMAT) + SMALL + bytes(2048))
    yield "a member of a long name", path, (0, 3, 4), ""


def claims(folder, count):
    path = folder / "empty-planes.xplane.pb"
    path.write_bytes(SMALL + b"\x0a\x00" * count)
    yield f"{count} planes without a byte", path, (0,), ""
    path = folder / "planes.xplane.pb"
    path.write_bytes(SMALL + chunk(1, number(1, 1)) * count)
    yield f"{count} planes", path, (6,) if count > 65536 else (0,), "more than 65536 planes" if count > 65536 else ""
    path = folder / "lines.xplane.pb"
    path.write_bytes(chunk(1, chunk(2, "/host:CPU") + b"".join(
        chunk(3, number(1, i) + chunk(4, number(1, 1) + number(2, i) + number(3, 1))) for i in range(count))))
    yield f"{count} lines", path, (0, 4, 6), ""
    path = folder / "ids.xplane.pb"
    path.write_bytes(chunk(1, chunk(2, "/host:CPU") + b"".join(
        chunk(4, number(1, i) + chunk(2, number(1, i) + chunk(2, f"n{i}"))) for i in range(count)) + chunk(3, chunk(4, number(2, 1)))))
    yield f"{count} names of events", path, (0, 4, 6), ""
    for length in HUGE:
        path = folder / f"length-{length}.xplane.pb"
        for place, before in (("plane", b""), ("line", tag(1) + varint(length) + tag(3)), ("name", tag(1) + varint(length) + tag(2)),
                              ("entry", tag(1) + varint(length) + tag(4))):
            path = folder / f"{place}-{length}.xplane.pb"
            path.write_bytes(SMALL + (before or tag(1)) + varint(length) + b"abc")
            yield f"a {place} of {length} bytes", path, (4,), "partial"
        path = folder / f"{length}.prof"
        path.write_bytes(make_seeds.make_pprof.encode(make_seeds.make_pprof.some(samples=2)) + tag(2) + varint(length) + b"abc")
        yield f"a sample of {length} bytes", path, (3, 4), ""


def times(folder, _):
    most = (1 << 63) - 1
    for name, begin, line, length in (("begin", most, 0, 5), ("length", 5, 0, most), ("both", most, 0, most), ("line", 5, most, 5),
                                      ("all", most, most, most), ("below", (1 << 64) - most, (1 << 64) - most, 5)):
        event = chunk(4, number(1, 1) + number(2, begin) + number(3, length))
        good = chunk(4, number(1, 1) + number(2, 7) + number(3, 9))
        path = folder / f"{name}.xplane.pb"
        path.write_bytes(chunk(1, chunk(2, "/host:CPU") + chunk(3, number(1, 1) + number(3, line) + event)
                               + chunk(3, number(1, 2) + good) + chunk(4, number(1, 1) + chunk(2, number(1, 1) + chunk(2, "f")))))
        yield f"times past int64: {name}", path, (0, 4), ""
    for i, (ts, dur) in enumerate(((most, most), (-most, 5), ("1e300", 5), (5, "1e300"), ("9" * 400, "9" * 400), ("1e-400", "1e99999999999"))):
        path = folder / f"{i}.trace.json"
        path.write_bytes(json_with(SPAN + f',{{"ph":"X","pid":1,"tid":1,"ts":{ts},"dur":{dur},"name":"b"}}'.encode()))
        yield f"a ts of {str(ts)[:9]}, a dur of {str(dur)[:9]}", path, (0, 4), ""


def nesting(folder, depth):
    shapes = {"lists": (b"[", b"]"), "objects": (b'{"a":', b"}"), "both": (b'[{"a":', b"}]")}
    for name, (begin, end) in shapes.items():
        deep = begin * depth + (b"1" if name != "lists" else b"") + end * depth
        for where, text in (("alone", deep), ("arguments", json_with(SPAN[:-1] + b',"args":{"a":' + deep + b"}}," + SPAN)),
                            ("beside", b'{"a":' + deep + b',"traceEvents":[' + SPAN + b"]}"),
                            ("open", json_with(SPAN + b"," + begin * depth)[:-2])):
            path = folder / f"{name}-{where}.trace.json"  # names tell cases apart: all files of a kind are made at once
            path.write_bytes(text)
            yield f"{depth} {name} in each other, {where}", path, (0, 3, 4), ""


def write_documents(folder, depth):
    for name, key in (("summary", "a"), ("gates", "gates")):
        (folder / f"{name}.json").write_bytes(
            b'{"schema":"tracemill.%s","%s":%s}' % (name.encode(), key.encode(), b"[" * depth + b"]" * depth))
    return ()


def nested_documents(tap, folder, depth):
    """Summaries and gates are documents, held as a whole."""
    made(write_documents, folder, depth)
    path, gates = folder / "summary.json", folder / "gates.json"
    for name, command in (("summary", [BINARY, "check", path, "--gate", gates]), ("comparison", [BINARY, "compare", path, path])):
        cost = Cost([*command, "-o", folder / "out"] if name == "comparison" else command)
        tap.ok(cost.status in (2, 3, 6) and "tracemill: " in cost.said and cost.mib < 256, f"a {name} of {depth} levels", cost.status,
               cost.said)


def many_tracks(folder, count):
    path = folder / "tracks.trace.json.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b'{"traceEvents":[' + SPAN)
        for begin in range(0, count, 10000):
            file.write(b"".join(b',{"ph":"X","pid":%d,"tid":%d,"ts":%d,"dur":1,"name":"n"}' % (i % 7, i, i)
                                for i in range(begin, begin + 10000)))
        file.write(b"]}")
    yield f"{count} threads", path, (0, 4, 6), ""
    path = folder / "counters.trace.json.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b'{"traceEvents":[' + SPAN)
        for begin in range(0, count, 10000):
            file.write(b"".join(b',{"ph":"C","pid":%d,"ts":%d,"name":"c%d","args":{"v":1}}' % (i, i, i)
                                for i in range(begin, begin + 10000)))
        file.write(b"]}")
    yield f"{count} counters of as many processes", path, (0, 4, 6), ""


def sparse_names(folder, size):
    """A name that is a hole in the file: no byte of it lies on the disk."""
    for name, field in (("plane", 2), ("line", 3)):
        path = folder / f"{name}.xplane.pb"
        inner = tag(2) + varint(size)
        body = inner if name == "plane" else tag(3) + varint(len(inner) + size) + inner
        head = SMALL + tag(1) + varint(len(body) + size) + body
        with open(path, "wb") as file:
            file.write(head)
            file.truncate(len(head) + size)
        yield f"a {name}'s name of {size >> 20} MiB (field {field})", path, (0, 4), ""
    path = folder / "event.xplane.pb"
    inner = number(1, 1) + tag(2) + varint(size)
    entry = number(1, 1) + tag(2) + varint(len(inner) + size) + inner
    plane = chunk(2, "/host:CPU") + chunk(3, chunk(4, number(1, 1) + number(2, 5) + number(3, 5))) + tag(4) + varint(len(entry) + size) + entry
    with open(path, "wb") as file:
        file.write(tag(1) + varint(len(plane) + size) + plane)
        file.truncate(file.tell() + size)
    yield f"an event's name of {size >> 20} MiB", path, (4,), "long-value"


def zstandard(folder, _):
    """A window that no memory is for, and a frame of a few KiB for gigabytes."""
    data = folder / "plain"
    with open(data, "wb") as file:
        file.write(SMALL + tag(1) + varint(400 * MIB) + tag(15) + varint(400 * MIB - 6))
        file.truncate(file.tell() + 400 * MIB - 6)
    path = folder / "host0.xplane.pb.zst"
    subprocess.run(["zstd", "-q", "-f", str(data), "-o", str(path)], check=True)
    yield "a zstd of 400 MiB in a few KiB", path, (6,), "256 times"
    path = folder / "window.xplane.pb.zst"
    with open(data, "rb") as file:  # through a pipe: its size is not known, so that the window stays what it is
        subprocess.run(["zstd", "-q", "-f", "--ultra", "--long=31", "-o", str(path)], stdin=file, check=True)
    yield "a zstd with a window of 2 GiB", path, (6,), "window"


def check(tap, cases, folder, seconds):
    for name, path, statuses, word in cases:
        packed = path.stat().st_size
        for verb, command in (("report", report(path, folder)), ("inspect", inspect(path))):
            cost = Cost(command, 600)
            within = SANITIZED or UNDER or (cost.mib <= MEMORY_MIB + OVERHEAD_MIB and cost.seconds <= seconds)
            said = cost.status == 0 or "tracemill: " in cost.said or (verb == "inspect" and cost.status == 4)  # on stdout
            is_right = cost.status in statuses and word in cost.said if verb == "report" else cost.status in (0, 3, 4, 6)
            tap.ok(is_right and said and within, f"{verb}: {name}, {packed} bytes", f"status {cost.status}, {cost.seconds:.1f} s, "
                   f"{cost.mib:.0f} MiB", cost.said[:600])
        path.unlink()


BOMBS = {  # how large: in the tests, in full
    "gzips": (gzips, 64 * MIB, 4096 * MIB), "zstandard": (zstandard, 0, 0), "archives": (archives, 20_000, 1_100_000),
    "claims": (claims, 100_000, 4_000_000), "times": (times, 0, 0), "nesting": (nesting, 1_000_000, 10_000_000),
    "tracks": (many_tracks, 50_000, 10_000_000), "names": (sparse_names, 64 * MIB, 1024 * MIB)}
SECONDS, FULL_SECONDS = 15, 300


def made(make, folder, size):
    """In a process of its own: what a process has at most is that of those who start it, too."""
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        return pool.submit(list_of, make, folder, size).result()


def list_of(make, folder, size):
    return list(make(folder, size))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", metavar="WORD")
    options = parser.parse_args()
    tap = Tap()
    for word, (make, size, full) in BOMBS.items():
        if options.only and options.only != word:
            continue
        with Scratch() as folder:
            check(tap, made(make, folder, full if options.full else size), folder, FULL_SECONDS if options.full else SECONDS)
    with Scratch() as folder:
        nested_documents(tap, folder, 10_000_000 if options.full else 1_000_000)
    tap.done()


if __name__ == "__main__":
    main()
