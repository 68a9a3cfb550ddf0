#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small files that claim, or unpack to, far more than they are: an end in time, memory within its limit, and a message
that names the limit, or a report.

    test_bombs.py [--full] [--only WORD]      --full: gigabytes, ten million tracks; else a hundredth of it
"""

import argparse
import concurrent.futures
import gzip
import io
import sqlite3
import struct
import subprocess
import sys
import tarfile
import zipfile
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzz"))
import make_profile  # noqa: E402
import make_seeds  # noqa: E402
import many_records  # noqa: E402
from cost import Cost  # noqa: E402
from made_batch import Template  # noqa: E402
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
    line = chunk(3, b"\x08\0\0\0\0" + chunk(4, number(1, 1) + b"\x10\0\0\0\0" + number(3, 1)))
    path = folder / "lines.xplane.pb"
    path.write_bytes(chunk(1, chunk(2, "/host:CPU") + bytes(many_records.with_varints(line, [3, 12], count))))
    yield f"{count} lines", path, (0, 4, 6), ""
    entry = chunk(4, b"\x08\0\0\0\0" + chunk(2, b"\x08\0\0\0\0" + chunk(2, "n0000000")))
    names = many_records.put_digits(many_records.with_varints(entry, [3, 10], count), len(entry), len(entry) - 7, count, 7)
    path = folder / "ids.xplane.pb"
    path.write_bytes(chunk(1, chunk(2, "/host:CPU") + bytes(names) + chunk(3, chunk(4, number(2, 1)))))
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


def planes(folder, count):
    """Planes that are there, two bytes each, plain and packed."""
    path, packed = folder / "empty.xplane.pb", folder / "empty.xplane.pb.gz"
    block = b"\x0a\x00" * (MIB // 2)
    with open(path, "wb") as file, Packed(packed) as put:
        file.write(SMALL)
        put(SMALL)
        for _ in range(count * 2 // MIB):
            file.write(block)
            put(block)
    yield f"{count} planes without a byte", path, (0,), ""
    is_long = count * 2 > 256 * MIB
    yield f"{count} planes without a byte, packed", packed, (6,) if is_long else (0,), "256 times" if is_long else ""


def strewn(folder, count):
    """Many of what a profile has few of."""
    stat = chunk(4, number(1, 1) + number(3, 5))
    event = chunk(4, number(1, 1) + number(2, 5) + number(3, 5))
    path = folder / "stats.xplane.pb"
    path.write_bytes(chunk(1, chunk(2, "/host:CPU") + chunk(3, chunk(4, number(1, 1) + number(2, 5) + number(3, 5) + stat * count))))
    yield f"{count} statistics of an event", path, (4,), "long-value"
    path = folder / "plane-stats.xplane.pb"
    path.write_bytes(chunk(1, chunk(2, "/device:GPU:0") + chunk(6, number(1, 1) + number(3, 5)) * count + chunk(3, event)))
    yield f"{count} statistics of a plane", path, (4,), ""
    entry = chunk(5, b"\x08\0\0\0\0" + chunk(2, b"\x08\0\0\0\0" + chunk(2, "s")))
    path = folder / "stat-names.xplane.pb"
    path.write_bytes(chunk(1, chunk(2, "/host:CPU") + bytes(many_records.with_varints(entry, [3, 10], count)) + chunk(3, event)))
    yield f"{count} names of statistics", path, (4, 6), ""
    path = folder / "devices.xplane.pb"
    path.write_bytes(SMALL + b"".join(chunk(1, chunk(2, f"/device:GPU:{i}") + chunk(3, number(1, 1) + event)) for i in range(2000)))
    yield "2000 devices", path, (6,), "1024 devices"
    for name, open_, close in (("open", b"\x0b", b""), ("closed", b"\x0b", b"\x0c")):
        path = folder / f"groups-{name}.xplane.pb"
        path.write_bytes(SMALL + open_ * count + close * count)
        yield f"{count} groups in each other, {name}", path, (0,) if close else (4,), ""
    for field in (1, 3, 6):
        path = folder / f"nested-{field}.xplane.pb"
        path.write_bytes(SMALL + nested(field, count))
        yield f"{count} messages in each other, field {field}", path, (0, 4), ""
    path = folder / "shapes.xplane.pb"
    path.write_bytes(shape_in_shape(count // 10) + SMALL)
    yield f"{count // 10} shapes of a program in each other", path, (0, 4), ""


def nested(field, count):
    heads, length = [], 0
    for _ in range(count):
        heads.append(tag(field) + varint(length))
        length += len(heads[-1])
    return b"".join(reversed(heads))


def shape_in_shape(count):
    """A program of one instruction, whose result is a tuple of a tuple of..."""
    instruction = chunk(2, chunk(1, "p") + chunk(2, "parameter") + chunk(3, nested(4, count)) + number(35, 1))
    module = chunk(1, "jit_f") + chunk(3, instruction + number(5, 1) + number(6, 1)) + number(5, 7)
    value = number(1, 7) + chunk(2, "jit_f(7)") + chunk(5, number(1, 1) + chunk(6, chunk(1, module)))
    names = chunk(5, number(1, 1) + chunk(2, number(1, 1) + chunk(2, "Hlo Proto")))
    return chunk(1, chunk(2, "/host:metadata") + chunk(4, number(1, 7) + chunk(2, value)) + names)


def many_in_json(folder, count):
    span = SPAN.decode()

    def put(name, rows, before="", after=""):
        path = folder / f"{name}.trace.json"
        with open(path, "w", encoding="ascii") as file:
            file.write("{" + before + '"traceEvents":[' + span)
            file.writelines("," + row for row in rows)
            file.write("]" + after + "}")
        return path

    numbers = range(count)
    yield f"{count} arguments of an event", put(
        "arguments", [span[:-1] + ',"args":{' + ",".join(f'"k{i}":{i}' for i in numbers) + "}}"]), (4,), "long-value"
    yield f"{count} steps", put("steps", (f'{{"ph":"X","pid":1,"tid":1,"ts":{10 * i},"dur":9,"name":"ProfilerStep#{i}",'
                                          '"cat":"user_annotation"}' for i in numbers)), (0, 4, 6), ""
    yield f"{count} devices", put("devices", (f'{{"ph":"X","pid":{i},"tid":7,"ts":{10 * i},"dur":9,"name":"k","cat":"kernel",'
                                              f'"args":{{"device":{i},"stream":7}}}}' for i in numbers)), (6,), "1024 devices"
    yield f"{count} names of processes", put("processes", (f'{{"ph":"M","pid":{i},"name":"process_name","args":{{"name":"p{i}"}}}}'
                                                           for i in numbers)), (0, 4, 6), ""
    yield f"{count} begins without an end", put("begins", (f'{{"ph":"B","pid":1,"tid":1,"ts":{i},"name":"b"}}' for i in numbers)), (0, 4, 6), ""
    yield f"{count} flows without an end", put("flows", (f'{{"ph":"s","pid":1,"tid":1,"ts":{i},"id":{i},"name":"f","cat":"c"}}'
                                                         for i in numbers)), (0, 4, 6), ""
    for number_ in ("NaN", "Infinity", "1e308", "1e309", "1E+99999999999999999999", "1" + "0" * 100_000):
        path = put(f"times-{number_[:9]}", [f'{{"ph":"X","pid":1,"tid":1,"ts":{number_},"dur":{number_},"name":"a"}}'])
        yield f"a ts and a dur of {number_[:24]}", path, (4,), "bad-number"


RUN = "logs/plugins/profile/2026_01_02_03_04_05/"


def hosts_in(folder, count):
    """A run of many hosts in an archive, in the order of their names and against it."""
    trace = json_with(SPAN)
    for name, numbers in (("in order", range(count)), ("against it", range(count - 1, -1, -1))):
        members = [(f"{RUN}h{i:06}.trace.json", trace) for i in numbers]
        few = members if name == "in order" else members[:count // 4]
        path = folder / f"hosts-{numbers.step}.tar.gz"
        path.write_bytes(gzip.compress(make_seeds.tar_of(few)))
        yield f"a tar.gz of {len(few)} hosts, {name}", path, (0, 6), ""
        if name == "in order" or count > 10_000:
            path = folder / f"hosts-{numbers.step}.zip"
            path.write_bytes(make_seeds.zip_of(members, zipfile.ZIP_DEFLATED))
            wanted = ((6,), "order of their names") if name != "in order" else ((6,), "the summary") if count > 10_000 else ((0,), "")
            yield f"a zip of {count} hosts, {name}", path, *wanted


def pax_records(*records):
    text = b""
    for key, value in records:
        body = f" {key}={value}\n".encode()
        length = len(body) + 1
        while len(str(length)) + len(body) != length:
            length += 1
        text += str(length).encode() + body
    return text


def tar_member(name, data, kind=tarfile.REGTYPE, size=None):
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, len(data) if size is None else size
    return info.tobuf(tarfile.GNU_FORMAT) + data + bytes(-len(data) % 512)


def holes(folder, _):
    """Members of a sparse tar: a few bytes, and zeros up to a length that is only claimed."""
    for length in (1 << 33, 1 << 62):
        for ending, data in (("trace.json", json_with(SPAN)), ("xplane.pb", SMALL)):
            claimed = pax_records(("GNU.sparse.major", 0), ("GNU.sparse.minor", 1), ("GNU.sparse.name", f"{RUN}a.{ending}"),
                                  ("GNU.sparse.numblocks", 2), ("GNU.sparse.map", f"0,{len(data)},{length - 1},1"),
                                  ("GNU.sparse.size", length))
            path = folder / f"{length}-{ending}.tar"
            path.write_bytes(tar_member("p", claimed, tarfile.XHDTYPE) + tar_member(f"f/a.{ending}", data + b" ") + bytes(1024))
            yield f"a sparse {ending} of {length} bytes", path, (6,), "in sparse holes"


def headers(folder, size):
    """Headers of a tar that are as long as a disk, and sizes past any number."""
    for kind in (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK):
        path = folder / f"header-{kind.decode()}.tar.gz"
        with Packed(path) as put:
            put(tar_member("p", b"", kind, size) + (f"{size} path=".encode() if kind in (tarfile.XHDTYPE, tarfile.XGLTYPE) else b""))
            put(b"x" * MIB, size // MIB)
            put(tar_member(f"{RUN}a.xplane.pb", SMALL) + bytes(1024))
        yield f"a header '{kind.decode()}' of {size >> 20} MiB", path, (3, 6), ""
    for bits in (63, 64, 87):
        head = bytearray(tar_member(f"{RUN}a.xplane.pb", b""))
        head[124:136] = b"\x80" + ((1 << bits) - 1).to_bytes(11, "big")
        head[148:156] = b" " * 8
        head[148:156] = b"%06o\0 " % sum(head)
        path = folder / f"size-{bits}.tar"
        path.write_bytes(bytes(head) + SMALL + bytes(2048))
        yield f"a member of 2^{bits} - 1 bytes", path, (3,), ""


def directory_of(entries, at):
    """The end of a zip.  entries: (name, where its header lies, its crc, bytes packed, bytes)"""
    rows = b"".join(struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 20, 20, 0, 8, 0, 0x21, crc, packed, size, len(name), 0, 0, 0, 0, 0,
                                begin) + name for name, begin, crc, packed, size in entries)
    return rows + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, len(entries), len(entries), len(rows), at, 0)


def head_of(name, crc, packed, size):
    return struct.pack("<IHHHHHIIIHH", 0x04034B50, 20, 0, 8, 0, 0x21, crc, packed, size, len(name), 0) + name


def overlaps(folder, size):
    """Zips whose members lie on each other.  `quoted`: each quotes the header of the next one in its own data (D. Fifield, "A
    better zip bomb", 2019); `same`: all are the same bytes."""
    text = json_with(SPAN + b"," + b" " * size + SPAN)
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = deflate.compress(text) + deflate.flush()
    names = [f"{RUN}h{i:05}.trace.json".encode() for i in range(200)]
    head = head_of(names[0], zlib.crc32(text), len(packed), len(text))
    path = folder / "same.zip"
    path.write_bytes(head + packed + directory_of([(name, 0, zlib.crc32(text), len(packed), len(text)) for name in names],
                                                  len(head) + len(packed)))
    yield f"{len(names)} members of the same {len(text)} bytes", path, (4,), "the archive is damaged: in member 2 of its directory, "
    before, heads, sizes = b"", [], (len(packed), len(text))
    for name in reversed(names):
        head = head_of(name, zlib.crc32(text, zlib.crc32(before)), *sizes)
        heads.append((name, head, sizes))
        before = head + before
        quote = struct.pack("<BHH", 0, len(head), len(head) ^ 0xFFFF)
        sizes = (sizes[0] + len(quote) + len(head), sizes[1] + len(head))
    data, entries = io.BytesIO(), []
    for i, (name, head, (in_zip, whole)) in enumerate(reversed(heads)):
        entries.append((name, data.tell(), struct.unpack("<I", head[14:18])[0], in_zip, whole))
        data.write(head)
        if i < len(heads) - 1:
            quoted = heads[len(heads) - 2 - i][1]
            data.write(struct.pack("<BHH", 0, len(quoted), len(quoted) ^ 0xFFFF))
    data.write(packed)
    path = folder / "quoted.zip"
    path.write_bytes(data.getvalue() + directory_of(entries, data.tell()))
    assert zipfile.ZipFile(path).open(names[-2].decode()).read() == heads[0][1] + text
    yield f"{len(names)} members that quote each other, {len(text)} bytes each", path, (3,), "zip"


def links(folder, count):
    """Links that lead to each other, along a chain and in circles, and so many that they cannot be held."""
    def link(name, target, kind=tarfile.SYMTYPE):
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, target
        return info.tobuf(tarfile.GNU_FORMAT)

    first = tar_member(f"{RUN}a.xplane.pb", SMALL)
    shapes = {"in circles": lambda i: link(f"r{i}/h.xplane.pb", f"../r{i ^ 1}/h.xplane.pb"),
              "in one chain": lambda i: link(f"r{i}/h.xplane.pb", f"../r{i + 1}/h.xplane.pb"),
              "through themselves": lambda i: link(f"r{i}", f"r{i}/r{i}/r{i}") + link(f"s{i}/h.xplane.pb", f"../r{i}/h"),
              "to one file": lambda i: link(f"r{i}/h.xplane.pb", f"{RUN}a.xplane.pb", tarfile.LNKTYPE),
              "of names that content decides of": lambda i: link(f"r{i}/h.json", f"{RUN}a.xplane.pb", tarfile.LNKTYPE)}
    for name, make in shapes.items():
        path = folder / f"{name.replace(' ', '-')}.tar.gz"
        with Packed(path) as put:
            put(first)
            for i in range(count):
                put(make(i))
            put(bytes(1024))
        yield f"{count} links {name}", path, (0, 2, 3, 6), ""


def write_histories(folder, size):
    batch = Template(folder / "batch")
    good = (folder / "batch" / "template" / "history.db").read_bytes()
    changes = {
        "a view without an end": ["ALTER TABLE runs RENAME TO old", "CREATE VIEW runs AS WITH RECURSIVE r(x) AS "
                                  "(SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT x AS id, x AS job, x AS when_ns FROM r"],
        "a trigger": ["CREATE TRIGGER t AFTER INSERT ON runs BEGIN SELECT randomblob(500000000); END"],
        f"a text of {size >> 20} MiB": [f"UPDATE runs SET message = zeroblob({size})"]}
    for number_, statements in enumerate(changes.values()):
        path = folder / f"{number_}.db"
        path.write_bytes(good)
        with sqlite3.connect(path) as database:
            for statement in statements:
                database.execute(statement)
        database.close()
    assert batch.folder.exists()
    return list(changes)


def histories(tap, folder, size):
    """A history that does more than hold rows is not used, and nothing of it runs."""
    out = folder / "batch" / "template"
    for number_, name in enumerate(made(write_histories, folder, size)):
        for verb in (["batch", "export", out], ["batch", "merge", out, "-q"]):
            (out / "history.db").write_bytes((folder / f"{number_}.db").read_bytes())
            cost = Cost([BINARY, *verb, "--memory", f"{MEMORY_MIB}M"], 60)
            within = SANITIZED or UNDER or (cost.mib <= MEMORY_MIB + OVERHEAD_MIB and cost.seconds <= SECONDS)
            tap.ok(cost.status in (3, 6) and "tracemill: " in cost.said and within, f"{verb[1]}: a history with {name}",
                   f"status {cost.status}, {cost.seconds:.1f} s, {cost.mib:.0f} MiB", cost.said[:600])


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
            cost = Cost(command, 900)
            within = SANITIZED or UNDER or (cost.mib <= MEMORY_MIB + OVERHEAD_MIB and cost.seconds <= seconds)
            said = cost.status == 0 or "tracemill: " in cost.said or (verb == "inspect" and cost.status == 4)  # on stdout
            is_right = cost.status in statuses and word in cost.said if verb == "report" else cost.status in {0, 3, 4, 6, *statuses}
            print(f"# status {cost.status}, {cost.seconds:.2f} s, {cost.mib:.0f} MiB: {verb}: {name}", flush=True)
            tap.ok(is_right and said and within, f"{verb}: {name}, {packed} bytes", f"status {cost.status}, {cost.seconds:.1f} s, "
                   f"{cost.mib:.0f} MiB", cost.said[:600])
        path.unlink()


BOMBS = {  # how large: in the tests, in full
    "gzips": (gzips, 64 * MIB, 4096 * MIB), "zstandard": (zstandard, 0, 0), "archives": (archives, 20_000, 1_100_000),
    "claims": (claims, 100_000, 4_000_000), "planes": (planes, 4_000_000, 1_000_000_000), "strewn": (strewn, 100_000, 10_000_000),
    "json": (many_in_json, 20_000, 5_000_000), "hosts": (hosts_in, 2_000, 20_000), "holes": (holes, 0, 0),
    "headers": (headers, 16 * MIB, 1024 * MIB), "overlaps": (overlaps, MIB, 64 * MIB), "links": (links, 5_000, 200_000),
    "times": (times, 0, 0), "nesting": (nesting, 1_000_000, 10_000_000),
    "tracks": (many_tracks, 50_000, 10_000_000), "names": (sparse_names, 64 * MIB, 1024 * MIB)}
SECONDS, FULL_SECONDS = 15, 450


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
    for word, test, size, full in (("documents", nested_documents, 1_000_000, 10_000_000), ("histories", histories, 16 * MIB, 512 * MIB)):
        if options.only in (None, word):
            with Scratch() as folder:
                test(tap, folder, full if options.full else size)
    tap.done()


if __name__ == "__main__":
    main()
