#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the options of `convert` do to a trace, in Perfetto's own importer: what was worked out stands beside what was
recorded and is what the report says; --args leaves out what it says; each kind of --filter keeps what a slow filter
keeps; the table has a row for each slice.

    perfetto_options.py [--case PATTERN] [--full]

Without Node or the package that carries the importer: skipped.  --full: more sources, real ones too.
"""

import argparse
import csv
import functools
import io
import sys
from collections import Counter, defaultdict
from fnmatch import fnmatchcase
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import trace_tally  # noqa: E402
from perfetto import importer  # noqa: E402
from perfetto.compare import (DERIVED, argument_of, clean, compare_counters, compare_slices,  # noqa: E402
                              differences, is_derived, label_of_track)
from perfetto.held import Held  # noqa: E402
from perfetto.sources import all_sources  # noqa: E402
from tally_xspace import origin_of  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run, summary_of  # noqa: E402
from xspace import planes_of  # noqa: E402

QUICK = ("made/gpu-xspace", "made/pytorch", "made/odd")
SOURCES = ("made/*", "generated/*", "logdir/train/*xplane.pb", "logdir/train/*/vm.trace.json.gz",
           "kineto/*mi250_minitoy*", "kineto/*alexnet*", "xspace/jax-mi300-gemm*", "xspace/xla-*")
SHOWN = 12
MS, GAP_MIN = 10**9, 10**7  # in picoseconds; --gap-min if not given
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def convert(source, out, *options):
    """out: what went wrong, the Held"""
    result = run("convert", source.path, "-o", out, "--quiet", *options)
    if result.status not in (0, 4) or not out.exists():
        return [f"convert: {result}"], None
    held = Held(out)
    return held.complaints(), held


# --- what was worked out --------------------------------------------------------------------------------------

def derived_slices(held, name):
    """out: {process: the slices on its rows of that name, which may begin with a device's, in the order of time}"""
    found = defaultdict(list)
    for track in held.tracks.values():
        process, row = label_of_track(track)
        if row == name + DERIVED or row.endswith(f" {name}{DERIVED}"):
            found[process] += track.slices
    return {process: sorted(slices, key=lambda s: s.ts) for process, slices in found.items()}


def arguments(one):
    return dict(a for a in (argument_of(row, False) for row in one.args) if a)


def clock_ns(source, summary):
    """What the output's clock reads at time 0 of the summary."""
    if source.is_xspace:
        return origin_of(planes_of(source.path))
    return summary["input"]["files"][0].get("origin_us", 0) * 1000


def compare_gaps(summary, held, clock):
    lines, rows = [], derived_slices(held, "idle gaps")
    shown = Counter((s.ts, s.dur, s.name) for slices in rows.values() for s in slices if s.depth == 0)
    inside = [s for slices in rows.values() for s in slices if s.depth > 0]
    count = sum(device["gaps"]["count_min"] for device in summary["devices"])
    lines += [f"{s.name} at {s.ts}: a third level" for s in inside if s.depth > 1]
    if count != shown.total():
        lines.append(f"{shown.total()} gaps, {count} in the report")
    for device in summary["devices"]:
        for gap in device["gaps"]["longest"]:
            begin, end = gap["begin_ps"], gap["begin_ps"] + gap["dur_ps"]
            if gap["dur_ps"] < GAP_MIN:
                continue
            place = (clock + trace_tally.to_ns(begin), trace_tally.to_ns(end) - trace_tally.to_ns(begin))
            if not any(one[:2] == place for one in shown):
                lines.append(f"{device['id']}: no gap at {place}")
    return lines


def compare_steps(summary, held, clock):
    rows, lines = derived_slices(held, "steps"), []
    every = Counter((s.ts, s.dur) for slices in rows.values() for s in slices)
    for step in summary["steps"]["list"]:
        begin, end = step["begin_ps"], step["begin_ps"] + (step["host_span_ps"] or 0)
        place = (clock + trace_tally.to_ns(begin), trace_tally.to_ns(end) - trace_tally.to_ns(begin))
        if step["host_span_ps"] is not None and not every[place]:
            lines.append(f"step {step['number']}: none at {place}")
    return lines


def compare_findings(summary, held):
    shown = Counter(arguments(s).get("id") for slices in derived_slices(held, "findings").values() for s in slices)
    wanted = Counter({f["id"]: max(1, len(f["where"])) for f in summary["findings"]})
    return differences("finding", wanted, shown) + misplaced_findings(summary, held)


def misplaced_findings(summary, held):
    """A finding is on the row of its severity, and names its device where the host has several."""
    lines = []
    several = len(summary["devices"]) > 1
    for track in held.tracks.values():
        row = label_of_track(track)[1]
        if not row.endswith(f" findings{DERIVED}"):
            continue
        for one in track.slices:
            told = arguments(one)
            device = f", {told['device'].rpartition('/')[2]}" if several and "device" in told else ""
            if row != f"{told['severity']} findings{DERIVED}" or not one.name.startswith(f"{told['severity']}{device}: "):
                lines.append(f"{row}: {one.name}, {told['severity']}{device}")
    return lines


def compare_derived_counters(held):
    lines, last = [], {}
    for ts, value, name, _, process in held.counters:
        if name.endswith(DERIVED):
            last[(process, name)] = value
            if value < 0 or (("busy share" in name or name.startswith("idle: ")) and value > 100):
                lines.append(f"{process} {name}: {value} at {ts}")
    return lines + [f"{place} ends with {value}" for place, value in last.items() if value]


def check_derived(source, folder):
    wrong, held = convert(source, folder / "derived.pftrace")
    result, summary = summary_of(source.path, folder / "report", "--rows", "10000")
    if held is None or summary is None:
        return wrong + [str(result)]
    clock = clock_ns(source, summary)
    wrong += compare_slices(source.recording, held) + compare_counters(source.recording, held)
    wrong += compare_gaps(summary, held, clock) + compare_findings(summary, held) + compare_derived_counters(held)
    if summary["steps"]["source"] == "host":
        wrong += compare_steps(summary, held, clock)
    verdicts = [s.name for slices in derived_slices(held, "Analysis").values() for s in slices]
    return wrong + [f"verdict: {verdicts}"] * (verdicts != [clean(summary["verdict"]["text"])])


# --- arguments ------------------------------------------------------------------------------------------------

def keys_of(held):
    return Counter(a[0].split(".")[0].split("[")[0] for one in held.slices.values()
                   if not is_derived(held.tracks[one.track])
                   for a in (argument_of(row, False) for row in one.args) if a)


def check_arguments(source, folder):
    wrong, keys = [], {}
    for level in ("all", "essential", "none"):
        problems, held = convert(source, folder / f"args-{level}.pftrace", "--plain", "--args", level)
        wrong += problems
        if held is None:
            return wrong
        wrong += compare_slices(source.recording, held)
        keys[level] = keys_of(held)
    wrong += [f"none: {key}" for key in keys["none"]]
    wrong += [f"essential: {key} x {n}, {keys['all'][key]} in all" for key, n in keys["essential"].items()
              if keys["all"][key] != n]
    return wrong


# --- filters --------------------------------------------------------------------------------------------------

def first_of(recording):
    times = [item.begin for row in recording.rows for item in row.items]
    times += [time for rows in recording.counters.values() for time, _, _ in rows] + [a.time for a in recording.arrows]
    return min(times)


def filtered(recording, keep):
    """A Recording of what keep(row, item) leaves: None, or the begin and the end of it."""
    left = trace_tally.Recording()
    for row in recording.rows:
        other = trace_tally.Row(row.process, row.number, row.name, row.sort, row.order)
        # Of spans that are cut alike the outer one is first.
        for place, item in enumerate(trace_tally.in_order(row.items)):
            part = keep(row, item)
            if part:
                piece = trace_tally.Item(*part, item.name, item.args, item.category, item.key, item.is_instant)
                piece.place = place
                other.items.append(piece)
        trace_tally.place_on_lanes(other)
        if other.items:
            left.rows.append(other)
    return left


def in_time(begin, end):
    def keep(_, item):
        if item.begin == item.end:
            return (item.begin, item.end) if begin <= item.begin < end else None
        part = max(item.begin, begin), min(item.end, end)
        return part if part[0] < part[1] else None
    return keep


def whole(test):
    return lambda row, item: (item.begin, item.end) if test(row, item) else None


def is_long(_, item):
    """An instant has no length by its nature."""
    return item.is_instant or item.end - item.begin >= 20 * 10**6


def in_times_of(recording, name, margin):
    """What is in the time of the slices whose names start with it, and as much more on both sides."""
    spans = sorted((item.begin - margin, item.end + margin) for row in recording.rows for item in row.items
                   if item.name.startswith(name))
    times = []
    for begin, end in spans:
        if times and begin <= times[-1][1]:
            times[-1][1] = max(times[-1][1], end)
        else:
            times.append([begin, end])

    def keep(_, item):
        if item.begin == item.end:
            return (item.begin, item.end) if any(b <= item.begin < e for b, e in times) else None
        met = [(b, e) for b, e in times if item.begin < e and item.end > b]
        return (max(item.begin, met[0][0]), min(item.end, met[-1][1])) if met else None
    return keep


def filters_of(recording):
    """(name, words, keep) of each"""
    first = first_of(recording)
    names = Counter(item.name for row in recording.rows for item in row.items)
    name = next((n for n, _ in names.most_common() if n.isalnum()), "train")
    yield "time", ["time=1ms:3ms"], in_time(first + MS, first + 3 * MS)
    yield "open time", ["time=2.5ms:"], in_time(first + 5 * MS // 2, 1 << 100)
    yield "name", [f"name={name}*"], whole(lambda _, item: item.name.startswith(name))
    yield "not the name", [f"name!={name}*"], whole(lambda _, item: not item.name.startswith(name))
    if not any(item.lane for row in recording.rows for item in row.items):  # the order of pieces is not that of their starts
        yield "the time of a name", [f"within={name}*"], in_times_of(recording, name, 0)
        yield "around a name", [f"around=7us:{name}*"], in_times_of(recording, name, 7 * 10**6)
    yield "least length", ["min=20us"], whole(is_long)
    yield "row", ["track=*[Ss]tream*"], whole(lambda row, _: "stream" in row.name.lower().replace("STREAM", ""))
    yield "name and length", [f"name={name}*", "min=20us"], whole(
        lambda row, item: item.name.startswith(name) and is_long(row, item))


def check_filter(source, folder, words, keep):
    options = [word for term in words for word in ("--filter", term)]
    wanted = filtered(source.recording, keep)
    wrong, held = convert(source, folder / "filtered.pftrace", "--plain", *options)
    if held is None:
        return wrong
    if wanted.rows or not held.error:
        wrong += compare_slices(wanted, held)
    return wrong


# --- the table ------------------------------------------------------------------------------------------------

def unquoted(text):
    return text[1:] if text[:1] == "'" and text[1:2] in FORMULA else text


def check_table(source, folder):
    out = folder / "table.csv"
    result = run("convert", source.path, "-o", out, "--plain", "--raw", "--quiet")  # texts as they were recorded
    if result.status not in (0, 4) or not out.exists():
        return [f"convert: {result}"]
    rows = list(csv.DictReader(io.StringIO(out.read_bytes().decode("utf-8"), newline="")))
    slices = [row for row in rows if row["kind"] != "counter"]
    got = Counter((clean(unquoted(r["process"])), clean(unquoted(r["row"])), int(r["lane"]), clean(unquoted(r["name"])),
                   int(r["dur_ps"] or 0)) for r in slices)
    wanted = Counter((clean(row.process.name), clean(row.name), item.lane, clean(item.name), item.end - item.begin)
                     for row in source.recording.rows for item in row.items)
    begins = sorted(int(r["start_ps"]) for r in slices)
    ours = sorted(item.begin for row in source.recording.rows for item in row.items)
    steps = {a - b for a, b in zip(ours, begins)}
    lines = [f"begins lie {sorted(steps)[:4]} ps apart"] if len(steps) > 1 else []
    values = sum(row["kind"] == "counter" for row in rows)
    count = sum(map(len, source.recording.counters.values()))
    lines += [f"{values} values of counters, {count} wanted"] * (values != count)
    return lines + differences("row", wanted, got)


# --- all of them ----------------------------------------------------------------------------------------------

def checks_of(source):
    yield "what was worked out", check_derived
    yield "--args", check_arguments
    yield "csv", check_table
    for name, words, keep in filters_of(source.recording):
        yield f"filter by {name}", functools.partial(check_filter, words=words, keep=keep)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", default="*", metavar="PATTERN", help="only these")
    parser.add_argument("--full", action="store_true", help="more sources")
    options = parser.parse_args()
    tap = Tap()
    why = importer.missing()
    with Scratch() as folder:
        for source in all_sources(folder):
            if not any(fnmatchcase(source.name, pattern) for pattern in (SOURCES if options.full else QUICK)):
                continue
            if why or source.missing:
                tap.skip(source.name, why or source.missing)
                continue
            for what, check in checks_of(source):
                name = f"{source.name}: {what}"
                if not fnmatchcase(name, options.case):
                    continue
                with Scratch() as place:
                    try:
                        wrong = check(source, place)
                    except importer.ImportFailed as failed:
                        wrong = [str(failed)]
                tap.ok(not wrong, name, *wrong[:SHOWN])
    tap.done()


if __name__ == "__main__":
    main()
