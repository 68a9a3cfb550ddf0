# SPDX-License-Identifier: Apache-2.0
"""A small file of every kind that the program reads, the verb that reads it, and what can be said of a damaged one."""

import gzip
import json
import random
import re
import subprocess

import make_pprof
import make_profile
import make_pytorch
import make_seeds
from made_batch import Template
from tracemill import run

MEMORY_MIB = 32
DONE = (0, 3, 4, 6)

GATES = {"schema": "tracemill.gates", "schema_version": 1, "gates": [
    {"figure": "step_time", "max": "3600s", "title": "Time of a step"},
    {"figure": "utilization", "min": "1%"},
    {"figure": "memory.allocators[*].peak_bytes", "max": "30GiB", "required": False}]}


class Kind:
    """`path` is damaged in place; `arguments` read it; `summary` is what they write, None = nothing that is looked at.

    checked: the format has a checksum over all that counts, so that damage is told, or changes nothing
    names: texts that the checksum does not cover: they stand in the file, and in the report
    borders: lengths at which a shorter file is a whole one"""

    def __init__(self, name, path, data, arguments=None, statuses=DONE, checked=False, names=(), borders=()):
        self.name, self.path, self.data, self.statuses, self.checked = name, path, data, statuses, checked
        self.borders = frozenset(borders)
        self.unchecked = frozenset(place for text in names for found in re.finditer(re.escape(text.encode()), data)
                                   for place in range(*found.span()))
        self.summary = None if arguments else path.parent / "out" / "summary.json"
        self.arguments = arguments or ["report", path, "-o", path.parent / "out", "--format", "json", "-q"]
        self.arguments += ["--memory", f"{MEMORY_MIB}M"]

    def write(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(self.data)


def top_level_ends(data):
    """Where a field of the outermost message ends: cut there, the rest is a whole, shorter message."""
    ends, at = [], 0
    while at < len(data):
        tag, at = varint(data, at)
        size, after = varint(data, at)
        at = after + size if tag & 7 == 2 else after
        ends.append(at)
    return ends


def list_ends(data):
    """Where a bare list of events may be left open: behind an event, its comma and blanks."""
    events = json.loads(data)
    assert json.dumps(events).encode() == data
    ends, at = [], 1
    for event in events:
        at += len(json.dumps(event))
        ends += [at, at + 1, at + 2]
        at += 2
    return [1, *ends]


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def zstd(data):
    return subprocess.run(["zstd", "-q", "-c", "--check"], input=data, stdout=subprocess.PIPE, check=True).stdout


def spread(events):
    """Few events of many kinds: names of processes and threads, and every so many of the rest."""
    names = [e for e in events if e.get("ph") == "M"]
    others = [e for e in events if e.get("ph") != "M"]
    return names + others[::max(len(others) // 40, 1)]


def small_json(data):
    document = json.loads(data)
    document["traceEvents"] = spread(document["traceEvents"])
    return json.dumps(document, separators=(",", ":")).encode()


def traces(folder):
    """The traces, as they come and as they are packed."""
    profile = make_profile.gpu(seed=2, steps=2, devices=1, per_step=6)
    space = profile.encode()
    tpu = make_profile.tpu(seed=3, steps=2, devices=1, per_step=6).encode()
    jax = small_json(make_profile.chrome_json(profile))
    torch = small_json(make_pytorch.rank_of(steps=2))
    program = make_seeds.program() + space
    memory = make_pprof.encode(make_pprof.some(samples=8))
    other = json.dumps(make_seeds.other_trace()).encode()
    member = "logs/plugins/profile/2026_01_02_03_04_05/host0.xplane.pb"

    def kind(name, ending, data, **more):
        return Kind(name, folder / name.replace(" ", "-") / f"host0.{ending}", data, **more)

    yield kind("xspace of a GPU", "xplane.pb", space, borders=top_level_ends(space))
    yield kind("xspace of a TPU", "xplane.pb", tpu, borders=top_level_ends(tpu))
    yield kind("xspace with a program", "xplane.pb", program, borders=top_level_ends(program))
    yield kind("xspace gz", "xplane.pb.gz", gzip.compress(space, mtime=0), checked=True)
    yield kind("jax json", "trace.json", jax)
    yield kind("jax json gz", "trace.json.gz", gzip.compress(jax, mtime=0), checked=True)
    yield kind("jax json zst", "trace.json.zst", zstd(jax), checked=True)
    yield kind("pytorch json", "pt.trace.json", torch)
    yield kind("any chrome json", "json", other, borders=list_ends(other))
    yield kind("pprof", "prof", memory, borders=top_level_ends(memory))
    yield kind("pprof gz", "prof.gz", gzip.compress(memory, mtime=0), checked=True)
    yield kind("tar", "tar", make_seeds.tar_of([(member, space)]))
    yield kind("tar gz", "tar.gz", gzip.compress(make_seeds.tar_of([(member, space)]), mtime=0), checked=True)
    yield kind("zip", "zip", make_seeds.zip_of([(member, space)], make_seeds.zipfile.ZIP_DEFLATED), checked=True,
               names=[member])
    yield kind("stored zip", "zip", make_seeds.zip_of([(member, tpu)], make_seeds.zipfile.ZIP_STORED), checked=True,
               names=[member])


def large(folder):
    """Larger ones, of which not every length can be tried."""
    profile = make_profile.gpu(seed=4, steps=40, devices=2, per_step=40)
    space, json_text = profile.encode(), make_profile.chrome_json(profile)
    torch = make_pytorch.rank_of(steps=12)
    for name, ending, data, more in (("large xspace", "xplane.pb", space, {"borders": top_level_ends(space)}),
                                     ("large jax json", "trace.json", json_text, {}),
                                     ("large pytorch json", "pt.trace.json", torch, {})):
        place = folder / name.replace(" ", "-")
        yield Kind(name, place / f"host0.{ending}", data, **more)
        yield Kind(f"{name} gz", place / f"host0.{ending}.gz", gzip.compress(data, mtime=0), checked=True)


def own_files(folder):
    """What the program wrote itself and reads again."""
    made = folder / "made"
    made.mkdir()
    (made / "host0.xplane.pb").write_bytes(make_profile.gpu(seed=2, steps=2, devices=1, per_step=6).encode())
    done = run("report", made / "host0.xplane.pb", "-o", made / "out", "--format", "json,partial", "-q")
    if done.status != 0:
        raise SystemExit(f"damaged_kinds: {done}")
    summary, gates = made / "out" / "summary.json", made / "gates.json"
    gates.write_text(json.dumps(GATES), encoding="utf-8")
    yield Kind("partial", folder / "partial" / "run.partial", (made / "out" / "run.partial").read_bytes(), checked=True)
    path = folder / "summary" / "summary.json"
    yield Kind("summary", path, summary.read_bytes(), ["check", path, "--gate", gates], (0, 1, 2, *DONE[1:]))
    path = folder / "gates" / "gates.json"
    yield Kind("gates", path, gates.read_bytes(), ["check", summary, "--gate", path], (0, 1, 2, *DONE[1:]))
    batch = Template(folder / "batch")
    out = folder / "batch" / "template"
    merge = ["batch", "merge", out, "-q"]
    for name, path in (("manifest", out / "manifest.jsonl"), ("result", batch.folder / "result.json")):
        yield Kind(name, path, path.read_bytes(), list(merge), (0, 3, 4, 5, 6))
    path = out / "history.db"
    yield Kind("history", path, path.read_bytes(), ["batch", "export", out], (0, 3, 4, 5, 6))


def all_kinds(folder):
    yield from traces(folder)
    yield from own_files(folder)


def cuts_of(data, count, seed):
    """Lengths below the whole: all of them where they are few enough."""
    if len(data) <= count:
        return list(range(len(data)))
    return sorted(random.Random(f"cut-{seed}").sample(range(len(data)), count))


def flips_of(data, count, seed):
    """(place, byte) with one bit changed, or the whole byte."""
    dice = random.Random(f"flip-{seed}")
    for _ in range(count):
        place = dice.randrange(len(data))
        change = dice.choice((1 << dice.randrange(8), dice.randrange(1, 256)))
        yield place, data[place] ^ change


# --- what is left of a cut XSpace -----------------------------------------------------------------------------

PLANE, LINE = 1, 3  # of a space, of a plane


def whole_fields(data, at, end):
    """(tag, where it begins, where its value begins, where it ends) of each field that begins before `end`: the last one
    may end behind it."""
    while at < end:
        begin = at
        try:
            tag, at = varint(data, at)
            size, after = varint(data, at)
        except IndexError:
            return
        value, at = (after, after + size) if tag & 7 == 2 else (at, after)
        if value > end:
            return
        yield tag, begin, value, at


def closed(data, at, end, inside):
    """The fields that are whole, and of the one that is cut what is whole in it, where it is one of `inside`."""
    kept = b""
    for tag, begin, value, after in whole_fields(data, at, end):
        if after <= end:
            kept += data[begin:after]
        elif inside and tag == inside[0] << 3 | 2:
            kept += make_profile.chunk(inside[0], closed(data, value, end, inside[1:]))
    return kept


def closed_space(data, length):
    """A whole XSpace of what is whole in the first `length` bytes of one: planes, lines, events."""
    return closed(data[:length], 0, length, (PLANE, LINE))


EVENT, STATISTICS = 4, 4  # of a line; of an event: the same number, so that one can be taken for the other


def swallowing(data):
    """(place of an event's length, a length that has the next event in it, of the same line)"""
    for tag, _, value, end in whole_fields(data, 0, len(data)):
        for line_tag, _, line, line_end in whole_fields(data, value, end) if tag == PLANE << 3 | 2 else ():
            events = [field for field in whole_fields(data, line, line_end) if field[0] == EVENT << 3 | 2]
            for (_, _, at, _), (_, _, _, after) in zip(events, events[1:]) if line_tag == LINE << 3 | 2 else ():
                if after - at < 0x80:
                    yield at - 1, after - at


def within_lines(data):
    """Places that lie in lines: whoever cuts there leaves no half of a name."""
    for tag, _, value, end in whole_fields(data, 0, len(data)):
        for line_tag, _, line, line_end in whole_fields(data, value, end) if tag == PLANE << 3 | 2 else ():
            if line_tag == LINE << 3 | 2:
                yield from range(line, line_end)
