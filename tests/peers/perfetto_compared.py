#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two runs on one timeline, in Perfetto's own importer: `compare --format perfetto`.  Every slice of an analyzed step of
either run is there, moved with its step; both runs start each step together; the row of differences has the figures of the two
summaries and the sums of operations that the tables of events give.

Without Node or the package that carries the importer: skipped.
"""

import csv
import json
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from perfetto import importer  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import ROOT, Scratch, run  # noqa: E402

MAKE = ROOT / "tests" / "support" / "make_profile.py"
SLICES = """select coalesce(pt.name, pp.name, top.name, up.name, tr.name), coalesce(th.name, iif(up.id is null, '', tr.name)), s.ts, s.dur, s.name, s.category, s.depth from slice s
join track tr on tr.id = s.track_id left join track up on up.id = tr.parent_id left join track top on top.id = up.parent_id
left join thread_track tt on tt.id = tr.id left join thread th using (utid) left join process pt on pt.upid = th.upid
left join process_track pr on pr.id = tr.id left join process pp on pp.upid = pr.upid"""
ROWS = """select s.ts, s.dur, s.name, s.arg_set_id from slice s join track t on t.id = s.track_id
where t.name like 'step difference%' order by s.ts"""
TOTAL = "select s.ts, s.dur, s.name from slice s join track t on t.id = s.track_id where t.name like 'Comparison%'"
ARGS = "select arg_set_id, key, coalesce(int_value, string_value, real_value) from args where key like 'debug.%'"
TIMES = "select t.name, c.ts, c.value from counter c join track t on t.id = c.track_id where t.name like 'step time%' order by c.ts"
KINDS = {"gpu": ("--steps", "8"), "tpu": ("--steps", "6"), "cpu": ("--steps", "5")}
ARROWS = """select p.name, q.name from flow f join slice a on a.id = f.slice_out join slice b on b.id = f.slice_in
join thread_track s on s.id = a.track_id join thread_track t on t.id = b.track_id
join thread th on th.utid = s.utid join thread tg on tg.utid = t.utid
join process p on p.upid = th.upid join process q on q.upid = tg.upid"""


def to_ns(ps):
    return (ps + 500) // 1000


def steps_of(summary):
    """[(number, start_ps, end_ps, row)] of the analyzed steps on the timeline: a step ends where the next one starts."""
    rows, found = sorted(summary["steps"]["list"], key=lambda row: row["begin_ps"]), []
    for at, row in enumerate(rows):
        end = row["end_ps"]
        if at + 1 < len(rows):
            after = rows[at + 1]
            if end > after["begin_ps"] or after["number"] == row["number"] + 1:
                end = after["begin_ps"]
        if row["chosen"]:
            found.append((row["number"], row["begin_ps"], end, row))
    return found


def expected(rows, steps, places):
    """The pieces of the slices of a run: {(row, name): sorted [(start, end)]} in ns"""
    found = defaultdict(list)
    for process, row, ts, dur, name, _, _ in rows:
        for (_, begin, end, _), at in zip(steps, places):
            first, last = max(ts, to_ns(begin)), min(ts + dur, to_ns(end))
            is_inside = first < last or (dur == 0 and to_ns(begin) <= ts < to_ns(end))
            if is_inside:
                found[process, row, name].append((first - to_ns(begin) + to_ns(at), last - to_ns(begin) + to_ns(at)))
    return found


def moved(rows, label):
    found = defaultdict(list)
    for process, row, ts, dur, name, _, _ in rows:
        if process and process.endswith(f" · {label}"):
            found[process.removesuffix(f" · {label}"), row.removesuffix(f" · {label}"), name].append((ts, ts + dur))
    return found


def compare_pieces(want, have):
    """Lines that say what differs; a nanosecond of rounding is none."""
    wrong = []
    for key in want.keys() | have.keys():
        a, b = sorted(want.get(key, [])), sorted(have.get(key, []))
        # A piece of less than a nanosecond at a border may be there or not.
        a, b = [[p for p in side if p[1] - p[0] > 1] for side in (a, b)]
        if len(a) != len(b) or any(abs(p - q) > 1 for one, other in zip(a, b) for p, q in zip(one, other)):
            wrong.append(f"{key}: {a[:3]} and {b[:3]}, {len(a)} and {len(b)}")
    return wrong


def op_sums(path):
    """{step: {name: ps}} of the activities of devices, by the table of events"""
    sums = defaultdict(Counter)
    with open(path, encoding="utf-8", newline="") as table:
        for row in csv.DictReader(table):
            if row["kind"] == "span" and row["device"] and row["step"] and row["class"] in ("kernel", "collective", "copy", "memset"):
                sums[int(row["step"])][row["name"]] += int(row["dur_ps"])
    return sums


def make(folder, kind, options):
    for name, seed in (("base", 7), ("new", 8)):
        path = folder / f"{name}.xplane.pb"
        subprocess.run([sys.executable, MAKE, kind, path, "--seed", str(seed), *options], check=True)
        yield name, path


def load_runs(folder, kind, options):
    runs = {}
    for name, path in make(folder, kind, options):
        out = folder / name
        result = run("report", path, "-o", out, "--format", "json,perfetto", "--quiet")
        assert result.status == 0, result
        runs[name] = (path, json.loads((out / "summary.json").read_text(encoding="utf-8")), out / "trace.pftrace")
    return runs


def check_figures(tap, kind, found, steps, runs, folder):
    args = defaultdict(dict)
    for arg_set, key, value in found.rows[4]:
        args[arg_set][key.removeprefix("debug.")] = value
    rows, sums = found.rows[2], {}
    for name, (path, _, _) in runs.items():
        result = run("convert", path, "-o", folder / f"{name}.csv", "--quiet")
        assert result.status == 0, result
        sums[name] = op_sums(folder / f"{name}.csv")
    tap.ok(len(rows) == len(steps["base"]), f"{kind}: a slice for each step", str(len(rows)))
    for at, (_, _, title, arg_set) in enumerate(rows):
        have, base, new = args[arg_set], steps["base"][at], steps["new"][at]
        periods = [to_ns(one[3]["period_ps"]) for one in (base, new)]
        right = [int(have["base_ns"]), int(have["new_ns"])] == periods and int(have["difference_ns"]) == periods[1] - periods[0]
        tap.ok(right, f"{kind}: step {base[0]} has the times of the summaries", f"{title} {have}")
        compute = [to_ns(one[3]["compute_ps"]) for one in (base, new)]
        if "categories.compute.base_ns" in have:
            right = [int(have[f"categories.compute.{side}_ns"]) for side in ("base", "new")] == compute
            tap.ok(right, f"{kind}: step {base[0]} has the parts of the summaries", str(have))
        if kind != "gpu":
            continue
        wanted = {name: (sums["base"][base[0]][name], sums["new"][new[0]][name])
                  for name in sums["base"][base[0]].keys() | sums["new"][new[0]].keys()}
        largest = max(wanted, key=lambda name: abs(wanted[name][1] - wanted[name][0]))
        right = all(int(have.get(f"ops.{largest}.{side}_ns", -1)) == to_ns(ps)
                    for side, ps in zip(("base", "new"), wanted[largest]))
        tap.ok(right, f"{kind}: step {base[0]} has the operation that differs most", f"{largest} {wanted[largest]} {have}")


def check_kind(tap, kind, options):
    with Scratch() as folder:
        runs = load_runs(folder, kind, options)
        result = run("compare", *[path for path, _, _ in runs.values()], "-o", folder / "both.pftrace", "--quiet")
        tap.ok(result.status == 0, f"{kind}: the trace is written", str(result))
        if result.status != 0:
            return
        found = importer.load(folder / "both.pftrace", importer.STATS, SLICES, ROWS, TOTAL, ARGS, TIMES, ARROWS)
        tap.ok(not importer.complaints(found.rows[0], True), f"{kind}: no complaint", str(found.rows[0]))
        steps = {name: steps_of(summary) for name, (_, summary, _) in runs.items()}
        lengths = [max(b[2] - b[1], n[2] - n[1]) for b, n in zip(steps["base"], steps["new"])]
        places = [sum(lengths[:at]) for at in range(len(lengths))]
        for name, (_, _, trace) in runs.items():
            alone = importer.load(trace, SLICES)
            wrong = compare_pieces(expected(alone.rows[0], steps[name], places), moved(found.rows[1], name))
            tap.ok(not wrong, f"{kind}: the steps of {name} are there, slice by slice", "\n".join(wrong[:5]))
        starts = [ts for ts, *_ in found.rows[2]]
        tap.ok(starts == [to_ns(at) for at in places], f"{kind}: steps start together", f"{starts} {places}")
        tap.ok([row[:2] for row in found.rows[3]] == [[0, to_ns(sum(lengths))]], f"{kind}: the whole is one slice", str(found.rows[3]))
        tap.ok(len(found.rows[5]) == 2 * len(places), f"{kind}: step times as counters", str(found.rows[5]))
        crossed = [pair for pair in found.rows[6] if pair[0].rsplit(" · ", 1)[1] != pair[1].rsplit(" · ", 1)[1]]
        tap.ok(not crossed, f"{kind}: no arrow leads from one run to the other", str(crossed[:3]))
        tap.ok(kind == "cpu" or len(found.rows[6]) > 0, f"{kind}: arrows are there", str(len(found.rows[6])))
        check_figures(tap, kind, found, steps, runs, folder)


def check_limit(tap):
    with Scratch() as folder:
        paths = [path for _, path in make(folder, "gpu", KINDS["gpu"])]
        result = run("compare", *paths, "-o", folder / "out", "--format", "json,perfetto", "--max-events", "2000")
        noted = "has the first" in result.err and "--max-events" in result.err
        tap.ok(result.status == 0 and noted, "limit: the note says how many steps are there", str(result))
        found = importer.load(folder / "out" / "compare.pftrace", importer.STATS, ROWS, "select count(*) from slice")
        tap.ok(not importer.complaints(found.rows[0], True), "limit: no complaint", str(found.rows[0]))
        tap.ok(1 <= len(found.rows[1]) < 8, "limit: whole steps, fewer than all", str(len(found.rows[1])))
        tap.ok(found.rows[2][0][0] < 4000, "limit: about as many slices", str(found.rows[2]))
        tap.ok((folder / "out" / "compare.json").exists(), "limit: the document has all the same", str(result))


def check_refusals(tap):
    with Scratch() as folder:
        paths = [path for _, path in make(folder, "gpu", ("--steps", "3"))]
        run("report", paths[0], "-o", folder / "report", "--format", "json", "--quiet")
        result = run("compare", folder / "report", paths[1], "-o", folder / "x.pftrace")
        tap.ok(result.status == 2 and "is a summary" in result.err, "a summary has no events", str(result))
        result = run("compare", paths[0], paths[1], paths[0], "--force", "-o", folder / "x.pftrace")
        tap.ok(result.status == 2 and "more than two" in result.err, "three runs are too many", str(result))
        tap.ok(not list(folder.glob("*.pftrace*")), "nothing is left behind", str(list(folder.iterdir())))
        (folder / "taken.pftrace").mkdir()
        result = run("compare", folder / "none", folder / "neither", "-o", folder / "taken.pftrace")
        tap.ok(result.status != 0 and "it is a folder" in result.err, "the path is checked before the runs are read", str(result))


def main():
    tap = Tap()
    check_refusals(tap)
    why = importer.missing()
    if why:
        tap.skip("two runs in the importer", why)
    else:
        for kind, options in KINDS.items():
            check_kind(tap, kind, options)
        check_limit(tap)
    tap.done()


if __name__ == "__main__":
    main()
