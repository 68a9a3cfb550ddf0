#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The overview of a trace in Perfetto's own importer: it complains of nothing, is small whatever the input, and the totals of
each row are those of the input, to the nanosecond; steps, findings and the verdict are all there.

Without Node or the package that carries the importer: skipped.
"""

import json
import random
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from perfetto import importer  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run  # noqa: E402

EVENTS, BYTES_MOST, SLICES_MOST = 600_000, 30_000_000, 1_000_000
PARTED_EVENTS = 120_000
SLICES = """select coalesce(th.name, t.name), s.name, s.ts, s.dur, s.category,
extract_arg(s.arg_set_id, 'debug.count'), extract_arg(s.arg_set_id, 'debug.sum_ns'), extract_arg(s.arg_set_id, 'debug.max_ns'),
extract_arg(s.arg_set_id, 'debug.nested_count'), extract_arg(s.arg_set_id, 'debug.nested_sum_ns')
from slice s join track t on t.id = s.track_id left join thread_track x on x.id = t.id left join thread th on th.utid = x.utid
where coalesce(s.category, '') != 'tracemill'"""


def spans_of(count):
    """Three rows of short slices that nest in threes, with a long one now and then: (row, begin, length, name), in us."""
    dice, at = random.Random(7), [0, 0, 0]
    for i in range(count // 3):
        row = i % 3
        lasts = 3 * dice.choice((1, 2, 5)) if i % 1000 else 3000
        yield row, at[row], 3 * lasts, f"outer {i % 2}"
        yield row, at[row], lasts, "inner"
        yield row, at[row] + lasts, lasts, "innermost"
        at[row] += 3 * lasts + dice.choice((0, 0, 1, 400))


def write_json(path, spans):
    with path.open("w", encoding="utf-8") as to:
        to.write('{"traceEvents":[\n')
        for tid in range(3):
            to.write(json.dumps({"ph": "M", "pid": 1, "tid": tid + 10, "name": "thread_name", "args": {"name": f"row {tid}"}}) + ",\n")
        for row, begin, length, name in spans:
            to.write(f'{{"ph":"X","pid":1,"tid":{row + 10},"ts":{begin},"dur":{length},"name":"{name}"}},\n')
        to.write('{"ph":"i","s":"t","pid":1,"tid":10,"ts":0,"name":"mark"}\n]}\n')


def write_xspace(path, spans):
    host = make_profile.Plane("/host:CPU", 1)
    lines = [host.line(row + 10, f"row {row}") for row in range(3)]
    for row, begin, length, name in spans:
        lines[row].events.append(make_profile.Event(name, begin * make_profile.US, length * make_profile.US))
    lines[0].events.append(make_profile.Event("mark", 0))
    path.write_bytes(make_profile.Space([host]).encode())


def made(path, count, write):
    """out: {row: [slices, their lengths in ns]}"""
    totals, spans = defaultdict(lambda: [0, 0]), list(spans_of(count))
    write(path, spans)
    for row, _, length, _ in spans:
        totals[f"row {row}"][0] += 1
        totals[f"row {row}"][1] += length * 1000
    totals["row 0"][0] += 1  # the mark
    return totals


def totals_of(rows):
    """out: {row: [slices, their lengths]}, how many were merged, what is wrong"""
    totals, merged, wrong = defaultdict(lambda: [0, 0]), 0, []
    for row, name, _, dur, _, count, sums, most, nested, nested_sum in rows:
        totals[row][0] += 1 if count is None else count + (nested or 0)
        totals[row][1] += dur if sums is None else sums + (nested_sum or 0)
        merged += count is not None and count > 1
        if count is not None and count > 1 and not (most <= sums <= dur and str(count) in name.replace(",", "")):
            wrong.append(f"{row}: {name}: {count} of {sums}, at most {most}, in {dur}")
    return totals, merged, wrong


def check_large(tap, folder, name, write):
    source, out = folder / name, folder / "overview.pftrace"
    wanted = made(source, EVENTS, write)
    result = run("convert", source, "-o", out, "--overview", "--json", "--memory", "32M", seconds=300)
    if not tap.ok(result.status == 0, f"{name}: an overview, with 32 MiB", result):
        return
    done = importer.load(out, importer.STATS, SLICES, is_optimized=True)
    tap.ok(not done.error and not importer.complaints(done.rows[0]), f"{name}: nothing is complained of", done.error or importer.complaints(done.rows[0]))
    totals, merged, wrong = totals_of(done.rows[1])
    tap.ok({k: v for k, v in totals.items() if k in wanted} == wanted, f"{name}: the totals of each row are exact", dict(totals), dict(wanted))
    tap.ok(not wrong and merged > 1000, f"{name}: {merged} merged slices say what is in them", *wrong[:5])
    size, slices = out.stat().st_size, len(done.rows[1])
    tap.ok(size <= BYTES_MOST and slices <= SLICES_MOST and slices < 0.7 * EVENTS, f"{name}: {slices} slices in {size} bytes")
    again = folder / "again.pftrace"
    run("convert", source, "-o", again, "--overview", "--quiet", "--memory", "512M", seconds=300)
    tap.ok(again.read_bytes() == out.read_bytes(), f"{name}: the same bytes with more memory")


def check_small_parts(tap, folder):
    """Beside parts of few events an overview has fewer slices, and the same totals."""
    source, parts = folder / "parted.xplane.pb", folder / "parted"
    wanted = made(source, PARTED_EVENTS, write_xspace)
    result = run("split", source, "-o", parts, "--max-events", PARTED_EVENTS // 4, "--quiet")
    done = importer.load(parts / "overview.pftrace", importer.STATS, SLICES, is_optimized=True)
    totals, merged, wrong = totals_of(done.rows[1])
    tap.ok(result.status == 0 and not importer.complaints(done.rows[0]) and not wrong and merged > 100 and
           {k: v for k, v in totals.items() if k in wanted} == wanted, "beside small parts, the totals of each row", result, *wrong[:5])
    tap.ok(len(done.rows[1]) < PARTED_EVENTS // 4, f"beside small parts, {len(done.rows[1])} slices of {PARTED_EVENTS}")


def check_small(tap, folder):
    """What fits is kept as it is; what was computed is always whole."""
    source, out, whole = folder / "run.xplane.pb", folder / "small.pftrace", folder / "whole.pftrace"
    source.write_bytes(make_profile.MAKERS["gpu"](seed=4).encode())
    tap.ok(run("convert", source, "-o", out, "--overview", "--quiet").status == 0, "an overview of a small run")
    run("convert", source, "-o", whole, "--quiet")
    sql = "select s.ts, s.dur, s.name, s.depth from slice s order by 1, 2, 3, 4"
    ours, theirs = importer.load(out, importer.STATS, sql), importer.load(whole, sql)
    tap.ok(not importer.complaints(ours.rows[0]) and ours.rows[1] == theirs.rows[0], "has every slice",
           len(ours.rows[1]), len(theirs.rows[0]))
    result = run("convert", source, "-o", folder / "x.json", "--overview")
    tap.ok(result.status == 2 and ".pftrace" in result.err, "in Perfetto's format alone", result)


def check_same(tap, folder, source):
    """Slices and values are those of an overview without parts, although parts cut slices and repeat values; also where the
    events are read again for it, as of a run that seemed to need a single part."""
    parts, small, alone, seen = folder / "cut", folder / "small", folder / "alone.pftrace", []
    run("split", source, "-o", parts, "--by", "time=3ms", "--quiet")
    run("split", source, "-o", small, "--max-size", "64K", "--quiet")
    run("convert", source, "-o", alone, "--overview", "--quiet")
    for path in (parts / "overview.pftrace", alone, small / "overview.pftrace"):
        done = importer.load(path, "select s.ts, s.dur, s.name, s.depth, t.name from slice s join track t on t.id = s.track_id order by 1, 2, 3, 4, 5",
                             "select c.ts, c.value, t.name from counter c join track t on t.id = c.track_id order by 1, 2, 3")
        seen.append(done.rows)
    cut = [part["pieces"] for part in json.loads((parts / "index.json").read_text(encoding="utf-8"))["parts"]]
    tap.ok(seen[0] == seen[1] and seen[0][0] and seen[0][1], "beside parts, the same slices and values", len(seen[0][0]), len(seen[1][0]))
    tap.ok(seen[2] == seen[1], "of a small run in several parts too", len(seen[2][0]), len(seen[1][0]))
    tap.ok(len(cut) > 3 and sum(cut) > 0, "of parts that cut slices", cut)


def check_parts(tap, folder):
    """Beside the parts of a run: each step says which of them has it."""
    source, parts = folder / "run.xplane.pb", folder / "parts"
    result = run("split", source, "-o", parts, "--by", "step=2", "--quiet")
    listed = json.loads((parts / "index.json").read_text(encoding="utf-8"))["parts"]
    sql = "select cast(substr(name, 6) as int), extract_arg(arg_set_id, 'debug.part') from slice where name glob 'step [0-9]*'"
    done = importer.load(parts / "overview.pftrace", importer.STATS, sql)
    tap.ok(result.status == 0 and not importer.complaints(done.rows[0]) and len(listed) > 2, "an overview beside parts", result)
    holders = defaultdict(list)
    for part in listed:
        for step in range(part["steps"]["first"], part["steps"]["first"] + part["steps"]["count"]) if part["steps"] else ():
            holders[step].append(part["file"])
    first = min(step for step, _ in done.rows[1])
    wrong = [(step, part) for step, part in done.rows[1]
             if part != " to ".join(dict.fromkeys((holders[step - first][0], holders[step - first][-1])))]
    tap.ok(done.rows[1] and not wrong, f"{len(done.rows[1])} steps name their parts", *wrong[:5], dict(holders))
    check_same(tap, folder, source)
    run("split", source, "-o", parts, "--by", "step=2", "--redact", "--quiet")
    done = importer.load(parts / "overview.pftrace", "select distinct extract_arg(arg_set_id, 'debug.part') from slice where name glob 'step [0-9]*'")
    named = {name for (text,) in done.rows[0] for name in text.split(" to ")}
    tap.ok(named and all((parts / name).exists() for name in named), "with pseudonyms, steps name files", sorted(named))
    run("split", source, "-o", parts, "--by", "step=2", "--no-overview", "--quiet")
    tap.ok(not (parts / "overview.pftrace").exists(), "a split without one takes the older one away")


def main():
    tap = Tap()
    if importer.missing():
        tap.skip("overviews", importer.missing())
        tap.done()
    with Scratch() as folder:
        check_small(tap, folder)
        check_parts(tap, folder)
        check_small_parts(tap, folder)
        check_large(tap, folder, "large.trace.json", write_json)
        check_large(tap, folder, "large.xplane.pb", write_xspace)  # whose lines are counted after the scan
    tap.done()


if __name__ == "__main__":
    main()
