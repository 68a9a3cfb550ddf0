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
from tracemill import ROOT, SHARED, run

MEMORY_MIB = 32
DONE = (0, 3, 4, 6)

GATES = {"schema": "tracemill.gates", "schema_version": 1, "gates": [
    {"figure": "step_time", "max": "3600s", "title": "Time of a step"},
    {"figure": "utilization", "min": "1%"},
    {"figure": "memory.allocators[*].peak_bytes", "max": "30GiB", "required": False}]}
SETTINGS = {"steps": "all", "gap_min": "20us", "rows": 40, "window": "session", "title": "A run", "note": "as every night"}


class Kind:
    """`path` is damaged in place; `arguments` read it; `summary` is what report writes; `written`: a file that another
    verb writes, or its folder, of which a hash is looked at; None = neither.

    checked: the format has a checksum over all that counts, so that damage is told, or changes nothing
    names: texts that the checksum does not cover: they stand in the file, and in the report
    borders: lengths at which a shorter file is a whole one"""

    def __init__(self, name, path, data, arguments=None, statuses=DONE, checked=False, names=(), borders=(), written=None):
        self.name, self.path, self.data, self.statuses, self.checked = name, path, data, statuses, checked
        self.written = written
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
    """Packed, with a checksum."""
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
    cpu = make_profile.cpu(seed=3, steps=2, devices=1, per_step=6).encode()
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
    yield kind("xspace of a CPU", "xplane.pb", cpu, borders=top_level_ends(cpu))
    yield kind("xspace with a program", "xplane.pb", program, borders=top_level_ends(program))
    yield kind("xspace gz", "xplane.pb.gz", gzip.compress(space, mtime=0), checked=True)
    yield kind("xspace zst", "xplane.pb.zst", zstd(space), checked=True)
    yield kind("jax json", "trace.json", jax)
    yield kind("jax json gz", "trace.json.gz", gzip.compress(jax, mtime=0), checked=True)
    yield kind("jax json zst", "trace.json.zst", zstd(jax), checked=True)
    yield kind("pytorch json", "pt.trace.json", torch)
    yield kind("any chrome json", "json", other, borders=list_ends(other))
    yield kind("pprof", "prof", memory, borders=top_level_ends(memory))
    yield kind("pprof gz", "prof.gz", gzip.compress(memory, mtime=0), checked=True)
    yield kind("tar", "tar", make_seeds.tar_of([(member, space)]))
    yield kind("tar gz", "tar.gz", gzip.compress(make_seeds.tar_of([(member, space)]), mtime=0), checked=True)
    yield kind("tar zst", "tar.zst", zstd(make_seeds.tar_of([(member, space)])), checked=True)
    yield kind("zip", "zip", make_seeds.zip_of([(member, space)], make_seeds.zipfile.ZIP_DEFLATED), checked=True,
               names=[member])
    yield kind("stored zip", "zip", make_seeds.zip_of([(member, tpu)], make_seeds.zipfile.ZIP_STORED), checked=True,
               names=[member])


def other_verbs(folder):
    """The same traces, read by the other verbs."""
    profile = make_profile.gpu(seed=2, steps=2, devices=1, per_step=6)
    space = profile.encode()
    jax, torch = small_json(make_profile.chrome_json(profile)), small_json(make_pytorch.rank_of(steps=2))
    files = (("xspace", "xplane.pb", space, {"borders": top_level_ends(space)}), ("jax json", "trace.json", jax, {}),
             ("pytorch json", "pt.trace.json", torch, {}),
             ("xspace gz", "xplane.pb.gz", gzip.compress(space, mtime=0), {"checked": True}))
    for verb, written, options in (("inspect", None, []), ("convert", "whole.json", ["-q"]), ("convert", "whole.pftrace", ["-q"]),
                                   ("split", "parts", ["--max-events", "9", "-q"])):
        for name, ending, data, more in files:
            place = folder / f"{verb}-{name}-{written}".replace(" ", "-")
            path, out = place / f"host0.{ending}", written and place / written
            where = ["-o", out] if out else []
            to = f" to {out.suffix[1:]}" if verb == "convert" else ""
            yield Kind(f"{verb}{to}: {name}", path, data, [verb, path, *where, *options], written=out, **more)


SMALL_BYTES = 16 << 10
RECORDED = SHARED / "traces"
RECORDED_ENDINGS = (".xplane.pb", ".trace.json.gz", ".json", ".json.gz", ".prof", ".pb")


def recorded(folder):
    """Small files of real runs: one of the repository, and those of the folder of real profiles, where that is."""
    data = next((ROOT / "tests" / "data" / "tiny").rglob("*.xplane.pb")).read_bytes()
    yield Kind("recorded: jax on a CPU", folder / "recorded-tiny" / "demo.xplane.pb", data, borders=top_level_ends(data))
    for path in sorted(RECORDED.glob("*/*")):
        if path.is_file() and path.name.endswith(RECORDED_ENDINGS) and path.stat().st_size <= SMALL_BYTES:
            yield from recorded_kind(folder, path)


def recorded_kind(folder, path):
    kind = Kind(f"recorded: {path.name}", folder / path.parent.name / path.name, path.read_bytes(),
                checked=path.suffix == ".gz")
    if path.suffix in (".pb", ".prof") and not kind.data.startswith(b"\x1f\x8b"):
        kind.borders = frozenset(top_level_ends(kind.data))
    kind.checked = kind.data.startswith(b"\x1f\x8b")
    kind.write()
    if run("report", *kind.arguments[1:]).status == 0:  # what is refused or damaged as it comes has no whole to compare with
        kind.summary.unlink()
        yield kind


def large(folder):
    """Larger ones, of which not every length can be tried: a real one of 1 MB, made ones of 1.5 to 3.6 MB and their gzips."""
    data = next((ROOT / "tests" / "data" / "demo").rglob("*.xplane.pb")).read_bytes()
    yield Kind("large recorded xspace", folder / "large-recorded" / "demo.xplane.pb", data, borders=top_level_ends(data))
    space = make_profile.gpu(seed=4, steps=150, devices=2, per_step=100).encode()
    json_text = make_profile.chrome_json(make_profile.gpu(seed=4, steps=100, devices=2, per_step=40))
    torch = make_pytorch.rank_of(steps=100)
    for name, ending, data, more in (("large xspace", "xplane.pb", space, {"borders": top_level_ends(space)}),
                                     ("large jax json", "trace.json", json_text, {}),
                                     ("large pytorch json", "pt.trace.json", torch, {})):
        place = folder / name.replace(" ", "-")
        yield Kind(name, place / f"host0.{ending}", data, **more)
        yield Kind(f"{name} gz", place / f"host0.{ending}.gz", gzip.compress(data, mtime=0), checked=True)


def reported(folder, seed, devices):
    """`folder` with a profile and what report writes of it."""
    folder.mkdir()
    (folder / "host0.xplane.pb").write_bytes(make_profile.gpu(seed=seed, steps=2, devices=devices, per_step=6).encode())
    done = run("report", folder / "host0.xplane.pb", "-o", folder / "out", "--format", "json,partial", "-q")
    if done.status != 0:
        raise SystemExit(f"damaged_kinds: {done}")
    return folder


def own_files(folder):
    """What the program wrote itself and reads again."""
    made, other = (reported(folder / name, seed, devices) for name, seed, devices in (("made", 2, 1), ("other", 3, 2)))
    summary, gates = made / "out" / "summary.json", made / "gates.json"
    gates.write_text(json.dumps(GATES), encoding="utf-8")
    yield Kind("partial", folder / "partial" / "run.partial", (made / "out" / "run.partial").read_bytes(), checked=True)
    path = folder / "summary" / "summary.json"
    yield Kind("summary", path, summary.read_bytes(), ["check", path, "--gate", gates], (0, 1, 2, *DONE[1:]))
    path = folder / "gates" / "gates.json"
    yield Kind("gates", path, gates.read_bytes(), ["check", summary, "--gate", path], (0, 1, 2, *DONE[1:]))
    for name, verb in (("summary compared", "compare"), ("summary scaled", "scaling")):
        path, out = folder / name.replace(" ", "-") / "summary.json", folder / verb
        yield Kind(name, path, summary.read_bytes(), [verb, other / "out" / "summary.json", path, "-o", out, "--format", "json", "-q"],
                   (0, 2, *DONE[1:]), written=out / f"{verb}.json")
    trace = ["report", made / "host0.xplane.pb", "-o", folder / "settings-out", "--format", "json", "-q"]
    path = folder / "thresholds" / "thresholds.json"
    yield Kind("thresholds", path, json.dumps(json.loads(summary.read_bytes())["thresholds"]).encode(),
               [*trace, "--thresholds", path], (0, 2, 6), written=folder / "settings-out" / "summary.json")
    path = folder / "configuration" / "config.json"
    yield Kind("configuration", path, json.dumps(SETTINGS).encode(), [*trace, "--config", path], (0, 2, 6),
               written=folder / "settings-out" / "summary.json")
    batch = Template(folder / "batch")
    out = folder / "batch" / "template"
    merge = ["batch", "merge", out, "-q"]
    for name, path in (("manifest", out / "manifest.jsonl"), ("result", batch.folder / "result.json")):
        yield Kind(name, path, path.read_bytes(), list(merge), (0, 3, 4, 5, 6), written=out / "history.db")
    path = out / "history.db"
    yield Kind("history", path, path.read_bytes(), ["batch", "export", out], (0, 3, 4, 5, 6))


def all_kinds(folder):
    yield from traces(folder)
    yield from recorded(folder)
    yield from other_verbs(folder)
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
