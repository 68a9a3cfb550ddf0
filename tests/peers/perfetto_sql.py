#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The SQL of a report in Perfetto's own importer: it finds the slices of its place and no others, in what `report --format
perfetto` and `convert` write of the same run, and in a Chrome trace as it was recorded.

    perfetto_sql.py [--case PATTERN] [--full]

The slices that a query must find are chosen from the importer's own table by the times that the summary tells, on a clock
that is worked out here from the input; others are not fetched, since that would take longer than the import.  Without Node or the package that carries the importer: skipped.
"""

import argparse
import html
import json
import re
import sys
from fnmatch import fnmatchcase
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
import make_pytorch  # noqa: E402
from chrome_json import content_of, is_json  # noqa: E402
from perfetto import importer  # noqa: E402
from perfetto.sources import all_sources  # noqa: E402
from tally_xspace import origin_of, recording_of  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run, summary_of  # noqa: E402
from xspace import planes_of  # noqa: E402

QUICK = ("made/*", "generated/gpu-*", "generated/tpu-xplane", "logdir/train/*xplane.pb", "logdir/train/*vm.trace.json.gz",
         "xspace/*v100*", "xspace/jax-mi300-gemm*", "kineto/*mi250_minitoy*", "kineto/*alexnet*")
SLICES = "select id, ts, dur, track_id, name from slice where {} order by dur desc, id"
LARGE_BYTES = 4 << 20  # of a trace: the importer's second compiler pays
COLUMNS = ("id", "ts", "dur", "track_id", "name")
SHOWN = 12
SECONDS = 300  # of an import and its queries: the largest recording has 914,258 slices
FIRST_NS = 10**17  # a line that begins later counts from 1970


def queries_of(page):
    return [html.unescape(text) for text in re.findall(r'<code class="copy">((?:select|with) [^<]*)</code>', page)]


def zero_ns(path, file):
    """What the recording's clock read at time 0 of a file of the summary, and its first event, on the same clock."""
    content = content_of(path)
    if is_json(content):
        origin = file["origin_us"] * 1000  # whole second of an early event: input.md
        return origin, origin + file["first_ps"] // 1000
    planes, recording = planes_of(path), recording_of(path)
    origin = origin_of(planes)
    earliest = min((line.base_ps // 1000 for p in planes for line in p.lines if line.base_ps > FIRST_NS * 1000), default=None)
    if earliest is not None and not FIRST_NS < origin <= earliest:
        origin = earliest - earliest % 10**9
    return origin, min((item.begin for row in recording.rows for item in row.items), default=origin * 1000) // 1000


def shifts_of(summary, paths):
    """{host: where its time 0 is in what is written of all, in ps}: the earliest one is 0, or its first event if that is
    before, on the clock that the hosts share; on an aligned clock the first event of all, if it comes a second later"""
    files = [f for f in summary["input"]["files"] if f["kind"] != "pprof"]
    skew = (summary["collectives"] or {}).get("skew") or {}
    offsets = {row["host"]: row["offset_ps"] for row in (skew.get("clock") or {}).get("list") or ()}
    clocks = {f["host"]: [ns * 1000 + offsets.get(f["host"], 0) for ns in zero_ns(path, f)] for f, path in zip(files, paths)}
    start = min(min(zero, first) for zero, first in clocks.values()) // 1000 * 1000
    earliest = min(first for _, first in clocks.values()) // 1000 * 1000
    if (skew.get("clock") or {}).get("aligned") and earliest - start > 10**12:
        start = earliest
    return {host: zero - start for host, (zero, _) in clocks.items()}


def places_of(summary):
    return [where for finding in summary["findings"] for where in finding["where"]]


def check_rows(label, trace, queries, places, shift_of, is_plain=False):
    """What is found in a trace against its own table.  is_plain: an idle gap is no slice of it, and may hold none"""
    ranges = [((shift_of(place) + place["begin_ps"]) // 1000, -(-(shift_of(place) + place["end_ps"]) // 1000)) for place in places]
    near = " or ".join(f"(ts < {end} and ts + dur > {begin})" for begin, end in ranges) or "false"
    done = importer.load(trace, SLICES.format(near), *queries, seconds=SECONDS, is_optimized=trace.stat().st_size > LARGE_BYTES)
    if done.error:
        return [f"{label}: refused: {done.error}"]
    every, wrong = done.rows[0], []
    for query, place, (begin, end), rows in zip(queries, places, ranges, done.rows[1:]):
        wanted = [row for row in every if row[1] < end and row[1] + row[2] > begin]
        if sorted(rows) != sorted(wanted):
            wrong.append(f"{label}: {len(rows)} rows, not {len(wanted)}, of {query}")
        elif not rows and place["end_ps"] > place["begin_ps"] and not is_plain:
            wrong.append(f"{label}: nothing is found by {query}")
    return wrong


def check(name, inputs, folder):
    """out: how many queries were asked, what is wrong.  inputs: files, one of each host"""
    out = folder / "report"
    result, summary = summary_of(inputs, out, "--format", "json,html,perfetto")
    if summary is None:
        return 0, [str(result)]
    page = (out / "report.html").read_text(encoding="utf-8")
    queries, places = queries_of(page), places_of(summary)
    if len(queries) != len(places):
        return 0, [f"{len(queries)} queries for {len(places)} places"]
    shifts = shifts_of(summary, inputs)

    def shift_of(place):
        return next((s for h, s in shifts.items() if place.get("device", "").split("/")[0] == h), next(iter(shifts.values())))

    wrong = check_rows("report", out / "trace.pftrace", queries, places, shift_of)
    # Without an analysis several hosts are at their recorded starts, not at the times of the report.
    for suffix, more in ((".json", []), (".pftrace.gz", ["--plain"] if len(inputs) == 1 else [])):
        trace = folder / f"converted{suffix}"
        done = run("convert", *inputs, "-o", trace, "--quiet", *more)
        wrong += [str(done)] if done.status not in (0, 4) else check_rows(trace.name, trace, queries, places, shift_of, more)
    files = summary["input"]["files"]
    if queries and len(inputs) == 1 and files[0]["kind"] == "chrome_json" and files[0]["origin_us"] >= 0:
        wrong += [line for line in check_rows("as recorded", inputs[0], queries, places,
                                              lambda _: files[0]["origin_us"] * 10**6, is_plain=True)
                  if " refused: " not in line]  # not every importer reads every recording: perfetto.md
    return len(queries), wrong


def several_hosts(folder):
    """Runs of several hosts whose clocks differ, one with an event before its profile began."""
    for host, late_ns in enumerate((1_500_000_123, 0, 7)):
        space = make_profile.gpu(seed=7 + host, host=f"host{host}")
        space.planes[-1].stats["profile_start_time"] += late_ns
        if host == 1:  # it recorded something before it says that it began
            space.planes[-3].lines[0].events[0].start_ps = -3_000_001
        (folder / f"host{host}.xplane.pb").write_bytes(space.encode())
    yield "one host, before its profile", [folder / "host1.xplane.pb"]
    yield "hosts, xspace", [folder / f"host{host}.xplane.pb" for host in range(3)]
    for rank, late_us in enumerate((0, 2_750_000)):
        document = json.loads(make_pytorch.rank_of(rank=rank))
        for event in document["traceEvents"]:
            event["ts"] = event.get("ts", 0) + late_us
        (folder / f"rank{rank}.pt.trace.json").write_text(json.dumps(document), encoding="utf-8")
    yield "hosts, pytorch", [folder / f"rank{rank}.pt.trace.json" for rank in range(2)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", default="*", metavar="PATTERN", help="only these")
    parser.add_argument("--full", action="store_true", help="all files")
    options = parser.parse_args()
    tap, why, asked = Tap(), importer.missing(), 0
    with Scratch() as folder:
        cases = [(s.name, s) for s in all_sources(folder) if options.full or any(fnmatchcase(s.name, q) for q in QUICK)]
        for name, source in cases:
            if not fnmatchcase(name, options.case):
                continue
            if source.missing or why:
                tap.skip(name, source.missing or why)
                continue
            place = folder / source.file_name
            place.mkdir(exist_ok=True)
            count, wrong = check(name, [source.path], place)
            asked += count
            tap.ok(not wrong, f"{name}: {count} queries", *wrong[:SHOWN])
        for name, inputs in several_hosts(folder) if not why else ():
            if fnmatchcase(name, options.case):
                place = folder / name.replace(", ", "-")
                place.mkdir()
                count, wrong = check(name, inputs, place)
                asked += count
                tap.ok(not wrong, f"{name}: {count} queries", *wrong[:SHOWN])
        if not why and options.case == "*":
            tap.ok(asked > 0, f"{asked} queries were asked")
    tap.done()


if __name__ == "__main__":
    main()
