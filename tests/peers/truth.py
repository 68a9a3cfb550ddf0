#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every figure of generated profiles against their exact truth, to the picosecond.

    truth.py [--full] [--case PATTERN]... [--events N] [--keep DIR] [--list]

The generator ($TM_SHARED/tools/make_trace.py, needs numpy) writes a profile and, beside it, the figures that an
analyser must find.  Each case is generated, reported with `--steps all`, compared, and removed.  Without the
generator every case is skipped.

The same figures must come out of the JSON that the profiler writes beside the profile, but for those that it leaves
out: these are null, with the reason.  What is odd in a JSON is counted in tallies, exactly.
"""

import argparse
import gzip
import json
import re
import shutil
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from differences import MISSING, Differences, at  # noqa: E402
from invariants import check as check_invariants  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import SHARED, Scratch, summary_of  # noqa: E402

GENERATOR = SHARED / "tools" / "make_trace.py"
SCENARIOS = ("mixed", "steady", "unfused", "stalled", "transfers", "dominated", "recompile", "lowocc", "imbalance",
             "comm", "memory")

# Differences that were looked into and are right: (case pattern, figure pattern, reason).
BEFORE_FIRST = "a host wait before the first op lies outside the device's span: no part of its idle time, nor of this figure"
KNOWN = (
    ("tpu-unfused-three-11", "host0//device:TPU:2.wait_host_ps", BEFORE_FIRST),
    ("tpu-dominated-three-13", "host0//device:TPU:2.wait_host_ps", BEFORE_FIRST),
)

# The figures of a device: where the truth has them, where the summary has them.  A truth of null says that the
# generator does not know the figure for that platform; it is not compared.
DEVICE = (
    ("first_ps", "first_ps"),
    ("last_ps", "last_ps"),
    ("span_ps", "span_ps"),
    ("busy_ps", "busy_ps"),
    ("idle_ps", "idle_ps"),
    ("compute_busy_ps", "compute_ps"),
    ("collective.busy_ps", "collective_ps"),
    ("collective.exposed_ps", "exposed_collective_ps"),
    ("collective.count", "collectives.count"),
    ("collective.total_ps", "collectives.total_ps"),
    ("copy.busy_ps", "copy_ps"),
    ("copy.exposed_ps", "exposed_copy_ps"),
    ("copy.count", "copies.count"),
    ("copy.total_ps", "copies.total_ps"),
    ("copy.exposed_by_kind_ps.H2D", "exposed_by_direction_ps.h2d"),
    ("copy.exposed_by_kind_ps.D2H", "exposed_by_direction_ps.d2h"),
    ("copy.exposed_by_kind_ps.D2D", "exposed_by_direction_ps.d2d"),
    ("copy.exposed_by_kind_ps.P2P", "exposed_by_direction_ps.p2p"),
    ("memset.count", "memsets.count"),
    ("memset.total_ps", "memsets.total_ps"),
    ("memset.bytes", "memsets.bytes"),
    ("graph.count", "graphs.count"),
    ("graph.total_ps", "graphs.total_ps"),
    ("kernels.count", "kernels.count"),
    ("kernels.total_ps", "kernels.total_ps"),
    ("gaps.count", "gaps.count"),
    ("gaps.total_ps", "gaps.total_ps"),
    ("wait_host_ps", "wait_host_ps"),
    ("tpu.waits.copy.total_ps", "wait_copy_ps"),
    ("tpu.waits.collective.total_ps", "wait_collective_ps"),
    ("tpu.in_flight.busy_ps", "in_flight_ps"),
    ("tpu.in_flight.hidden_ps", "hidden_ps"),
)
CAUSES = ("compile", "input", "sync", "gc", "profiler", "host", "launch", "device_wait", "unrecorded")
STEP_LISTS = ("activities", "first_ps", "last_ps", "period_ps", "device_span_ps", "busy_ps")
ALLOCATOR = (("allocations", "allocations"), ("deallocations", "deallocations"),
             ("allocated_bytes", "allocated_bytes"), ("peak_bytes", "peak_bytes"), ("peak_last_ps", "peak_at_ps"))
# Damage that the generator plants on a plane of its own, and the tally that must name it.
DIRTY = (("aggregated", "aggregated-event"), ("negative_duration", "negative-duration"),
         ("negative_offset", "negative-start"))
# The same in JSON: tally, what was planted, how often the tally counts each planted event.  Shares: of several
# events that make one oddity, one counts.
DIRTY_JSON = (
    ("metadata-event", {"metadata": 1, "duplicate_process_name": 1}),
    ("renamed", {"duplicate_process_name": 1}),
    ("empty-object", {"empty_object": 1}),
    ("negative-duration", {"negative_duration": 1}),
    ("exponent-number", {"exponent_number": 1}),
    ("unicode-name", {"unicode_name": 1, "raw_utf8_name": 1}),
    ("control-character", {"control_character_escape": 1}),
    ("lone-surrogate", {"lone_surrogate": 1}),
    ("invalid-utf8", {"lone_surrogate": 1}),             # kept as three bytes that are not UTF-8
    ("overlapping-span", {"overlap": 1 / 3}),            # a and b overlap; c lies inside both
    ("repeated-event", {"same_slice_twice": 1 / 2}),     # the second one repeats the first
    ("begin-end-event", {"begin_end_pair": 1, "begin_without_end": 1, "end_without_begin": 1}),
    ("unmatched-begin", {"begin_without_end": 1}),
    ("unmatched-end", {"end_without_begin": 1}),
    ("counter-event", {"counter": 1}),
    ("instant-event", {"instant": 1}),
    ("flow-event", {"flow": 1, "flow_duplicate_id": 1, "flow_unmatched": 1}),
    ("reused-flow-id", {"flow_duplicate_id": 1 / 2}),    # a begin and its end
    ("unmatched-flow", {"flow_unmatched": 1}),
    ("async-event", {"async": 1}),
    ("missing-duration", {"missing_dur": 1}),
    ("missing-time", {"missing_ts": 1}),
    ("missing-name", {"missing_name": 1}),
    ("missing-process", {"missing_pid": 1}),
    ("missing-thread", {"missing_tid": 1}),
    ("missing-phase", {"missing_ph": 1}),
    ("string-number", {"string_number": 1}),
    ("nested-argument", {"nested_args": 1}),
    ("unknown-phase", {"unknown_phase": 1}),
    ("not-an-object", {"not_an_object": 1}),
    ("closing-object", {}), ("other-phase", {}), ("bad-number", {}), ("nan-number", {}), ("repeated-key", {}),
    ("event-cap", {}), ("open-array", {}), ("byte-order-mark", {}), ("zero-padding", {}),
    ("cut-short", {}), ("unsorted-line", None), ("wrong-clock", None),
)
# Planted with an exponent and printed without one by the writer of the other JSON.
EXPONENTS_REPRINTED = {"perfetto": -1}
ENDINGS = {"xplane": "xplane.pb", "json": "trace.json.gz", "perfetto": "perfetto_trace.json.gz"}
# What a JSON cannot support (the profiler does not write it there): null in each device, with a reason.
NOT_IN_JSON = ("in_flight_ps", "hidden_ps")
EXPONENT = re.compile(rb'"(?:ts|dur)": ?"?-?[0-9.]+[eE]')
CUT_BYTES = 256  # of a name
ONE_OFF = re.compile(r"^loop_fusion_\d+_\d+$")


class Case:
    def __init__(self, name, *options, seed=1, events=20000, form="xplane"):
        self.name, self.options, self.seed, self.events, self.form = name, list(options), seed, events, form

    @property
    def is_json(self):
        return self.form != "xplane"

    @property
    def is_dirty(self):
        return "--dirty" in self.options


def matrix(full):
    """The cases: the quick ones touch every platform, scenario and option once; all of them cross them."""
    quick = [Case(f"gpu-{s}", "--scenario", s, "--devices", "2", seed=i) for i, s in enumerate(SCENARIOS, 1)]
    quick += [
        Case("gpu-async", "--async", "--devices", "2"),
        Case("gpu-shuffle", "--shuffle", "--devices", "2"),
        Case("gpu-dirty", "--dirty", "--bad-utf8"),
        Case("gpu-hosts", "--hosts", "2", "--devices", "2", "--logdir"),
        Case("gpu-async-hosts", "--hosts", "2", "--async", "--logdir", "--shuffle"),
        Case("gpu-unique-names", "--unique-names", "0.3", "--devices", "2"),
        Case("gpu-long-names", "--long-names", events=4000),
        Case("gpu-graphs-expanded", "--graphs", "expanded", "--devices", "2"),
        Case("gpu-graphs-collapsed", "--graphs", "collapsed", "--devices", "2"),
        Case("gpu-odd", "--odd-devices", "--unused", "2", "--devices", "2"),
        Case("gpu-hlo", "--hlo", "--streams", "4"),
        Case("tpu-mixed", "--platform", "tpu", "--devices", "2"),
        Case("tpu-async-shuffle", "--platform", "tpu", "--async", "--shuffle", "--scenario", "comm"),
        Case("tpu-dirty-hosts", "--platform", "tpu", "--dirty", "--hosts", "2", "--logdir", "--unused", "1"),
        Case("cpu-mixed", "--platform", "cpu"),
        Case("cpu-shuffle-hosts", "--platform", "cpu", "--shuffle", "--hosts", "2", "--logdir", "--dirty"),
    ]
    quick += json_matrix()
    if not full:
        return quick
    cases = list(quick)
    variants = {"plain": [], "async": ["--async"], "shuffle": ["--shuffle"], "dirty": ["--dirty"],
                "hosts": ["--hosts", "2", "--logdir"], "three": ["--devices", "3", "--streams", "4"],
                "lag": ["--async", "0.3", "--shuffle", "--hosts", "2", "--logdir"]}
    graphs = {"expanded": ["--graphs", "expanded"], "collapsed": ["--graphs", "collapsed"],
              "collapsed-async": ["--graphs", "collapsed", "--async"], "names": ["--unique-names", "0.5"],
              "odd": ["--odd-devices", "--unused", "1", "--shuffle"], "one": ["--streams", "1"],
              "plain-copy": ["--no-overlap"]}
    for platform in ("gpu", "tpu", "cpu"):
        chosen = dict(variants, **(graphs if platform == "gpu" else {}))
        for scenario in SCENARIOS:
            for label, options in chosen.items():
                for seed in (11, 12, 13):
                    cases.append(Case(f"{platform}-{scenario}-{label}-{seed}", "--platform", platform, "--scenario",
                                      scenario, *options, seed=seed))
                cases.append(Case(f"json-{platform}-{scenario}-{label}", "--platform", platform, "--scenario",
                                  scenario, *options, seed=14, form="json"))
    return cases


def json_matrix():
    """Cases of what the profiler writes as JSON, and of the same that it prints again for Perfetto."""
    rows = [(f"gpu-{s}", ["--scenario", s, "--devices", "2"], 20000) for s in SCENARIOS]
    rows += [
        ("gpu-async", ["--async", "--devices", "2"], 20000),
        ("gpu-shuffle", ["--shuffle", "--devices", "2"], 20000),
        ("gpu-dirty", ["--dirty", "--bad-utf8"], 20000),
        ("gpu-dirty-shuffle", ["--dirty", "--shuffle", "--async"], 8000),
        ("gpu-hosts", ["--hosts", "2", "--devices", "2", "--logdir"], 20000),
        ("gpu-dirty-hosts", ["--hosts", "2", "--dirty", "--logdir"], 8000),
        ("gpu-unique-names", ["--unique-names", "1", "--devices", "2"], 20000),
        ("gpu-long-names", ["--long-names"], 4000),
        ("gpu-graphs-expanded", ["--graphs", "expanded", "--devices", "2"], 20000),
        ("gpu-graphs-collapsed", ["--graphs", "collapsed", "--devices", "2"], 20000),
        ("gpu-odd", ["--odd-devices", "--unused", "2", "--devices", "2"], 20000),
        ("tpu-mixed", ["--platform", "tpu", "--devices", "2"], 20000),
        ("tpu-async-shuffle", ["--platform", "tpu", "--async", "--shuffle", "--scenario", "comm"], 20000),
        ("cpu-mixed", ["--platform", "cpu"], 20000),
        ("cpu-shuffle-dirty", ["--platform", "cpu", "--shuffle", "--dirty"], 8000),
    ]
    cases = [Case(f"json-{name}", *options, seed=i, events=events, form="json")
             for i, (name, options, events) in enumerate(rows, 1)]
    for name in ("gpu-mixed", "gpu-dirty", "tpu-mixed", "cpu-mixed", "gpu-long-names"):
        _, options, events = next(row for row in rows if row[0] == name)
        cases.append(Case(f"perfetto-{name}", *options, seed=9, events=min(events, 8000), form="perfetto"))
    return cases


# --- comparing ------------------------------------------------------------------------------------------------

def null_with_reason(d, where, section, name):
    """The figure is null, and the section says why."""
    d.equal(f"{where}{name}", None, section.get(name, MISSING))
    why = at(section, f"why.{name}")
    d.equal(f"{where}why.{name} is a text", True, isinstance(why, str) and len(why) > 10)


def compare_device(d, where, truth, ours, is_json):
    for theirs, mine in DEVICE:
        want = at(truth, theirs)
        if want not in (None, MISSING) and not (is_json and mine in NOT_IN_JSON):
            d.equal(f"{where}.{mine}", want, at(ours, mine))
    for name in NOT_IN_JSON if is_json else ():
        null_with_reason(d, f"{where}.", ours, name)
    longest = [[g["start_ps"], g["dur_ps"]] for g in truth["gaps"]["longest"]]
    mine = at(ours, "gaps.longest")
    if isinstance(mine, list):
        mine = [[g["begin_ps"], g["dur_ps"]] for g in mine]
    d.lists(f"{where}.gaps.longest", longest, mine)
    if truth["gaps"]["by_cause"] is not None:
        for cause in CAUSES:
            for figure in ("count", "total_ps"):
                d.equal(f"{where}.gaps.by_cause.{cause}.{figure}", truth["gaps"]["by_cause"][cause][figure],
                        at(ours, f"gaps.by_cause.{cause}.{figure}"))
    for name in STEP_LISTS:
        want = truth["steps"][name][:1000]
        d.lists(f"{where}.steps.{name}", want, at(ours, f"steps.{name}"))
    if truth["tpu"]:
        d.equal(f"{where}.wait_ps", truth["tpu"]["waits"]["copy"]["total_ps"]
                + truth["tpu"]["waits"]["collective"]["total_ps"], at(ours, "wait_ps"))


def compare_devices(d, truth, summary, case):
    mine = {(v["host"], v["name"]): v for v in summary["devices"]}
    theirs = {(h["host"], v["name"]): v for h in truth["hosts"] for v in h["devices"]}
    d.equal("devices", sorted(theirs), sorted(mine))
    for key in sorted(set(theirs) & set(mine)):
        compare_device(d, "/".join(key), theirs[key], mine[key], case.is_json)


def compare_unused(d, truth, summary, case):
    """A JSON names only processes that hold something."""
    want = [] if case.is_json else [(h["host"], name) for h in truth["hosts"] for name in h["unused"]]
    d.equal("unused", sorted(want), sorted((v["host"], v["name"]) for v in summary["unused"]))


def compare_invariants(d, _, summary, __):
    check_invariants(d, summary)


def as_shown(name, rows):
    """A very long name is cut where the table has no room for it; then several rows may look alike."""
    if name in rows or len(name.encode()) <= CUT_BYTES:
        return name
    return name.encode()[:CUT_BYTES].decode("utf-8", "ignore") + "..."


def by_shown_name(rows):
    table = {}
    for name, row in rows:
        table.setdefault(name, []).append([row[f] for f in ("count", "total_ps", "min_ps", "max_ps")])
    return {name: sorted(figures) for name, figures in table.items()}


def compare_kernels(d, truth, summary, _):
    """By name over all devices.  One-off names are summed; what the table cuts off is in its last row."""
    rest = summary["kernels"].get("by_name_rest") or {"rows": 0, "count": 0, "total_ps": 0}
    d.equal("kernels.count", truth["total"]["kernel_count"], summary["kernels"]["count"])
    d.equal("kernels.total_ps", truth["total"]["kernel_total_ps"], summary["kernels"]["total_ps"])
    mine = by_shown_name((r["name"], r) for r in summary["kernels"]["by_name"])
    theirs = by_shown_name((as_shown(n, mine), row) for n, row in truth["total"]["kernels_by_name"].items())
    smallest = min((r["total_ps"] for r in summary["kernels"]["by_name"]), default=0)
    for name, want in theirs.items():
        if name in mine:
            d.equal(f"kernels.by_name[{name[:60]}]: count, total, min, max", want, mine[name])
        else:
            d.equal(f"kernels.by_name[{name[:60]}] is missing, so it is in the rest", True,
                    rest["rows"] > 0 and all(row[1] <= smallest for row in want))
    others = {name: rows for name, rows in mine.items() if name not in theirs}
    d.equal("kernels.by_name: names that are in no kernel", [], [n for n in others if not ONE_OFF.match(n)])
    if rest["rows"] == 0:
        unique = [v["kernels"]["unique_names"] for h in truth["hosts"] for v in h["devices"]]
        rows = [row for figures in others.values() for row in figures]
        d.equal("kernels.by_name: one-off names", [sum(u["count"] for u in unique), sum(u["total_ps"] for u in unique)],
                [sum(r[0] for r in rows), sum(r[1] for r in rows)])


def compare_transfers(d, truth, summary, _):
    devices = [v for h in truth["hosts"] for v in h["devices"] if v["copy"]["kinds"] is not None]
    rows = {r["direction"]: r for r in (summary["transfers"] or {}).get("by_direction", [])}
    for kind in ("H2D", "D2H", "D2D", "P2P") if devices else ():
        want = {f: sum(v["copy"]["kinds"][kind][f] for v in devices) for f in ("count", "bytes", "total_ps")}
        want["exposed_ps"] = sum(v["copy"]["exposed_by_kind_ps"][kind] for v in devices)
        got = rows.get(kind.lower(), {})
        if want["count"] == 0 and not got:
            continue
        for figure, value in want.items():
            d.equal(f"transfers.{kind.lower()}.{figure}", value, got.get(figure, MISSING))


def compare_steps(d, truth, summary, _):
    listed = {(r["host"], r["number"]): r for r in summary["steps"]["list"]}
    several = len(truth["hosts"]) > 1
    for host in truth["hosts"]:
        steps = host["steps"]
        if not several:
            d.equal("steps.count", steps["count"], summary["steps"]["count"])
            d.equal("steps.chosen", steps["count"], summary["steps"]["chosen"])
        for number, begin, length in list(zip(steps["step_num"], steps["begin_ps"], steps["dur_ps"]))[:1000]:
            row = listed.get((host["host"], number))
            if row is None:
                d.equal(f"steps.list[{host['host']} {number}]", "a row", MISSING)
                continue
            d.equal(f"steps.list[{host['host']} {number}].begin_ps", begin, row["begin_ps"])
            d.equal(f"steps.list[{host['host']} {number}].host_span_ps", length, row["host_span_ps"])
    if not several:
        d.lists("steps.samples_ps", samples_of(truth), summary["steps"]["samples_ps"])


def samples_of(truth):
    """The lengths that the statistics of the steps rest on: the slowest device's period of each step, without
    the first one, which has no step before it, where there are three or more; on a CPU-only run the markers' own
    lengths, all of them."""
    host = truth["hosts"][0]
    if truth["options"]["platform"] == "cpu":
        return list(host["steps"]["dur_ps"])
    periods = zip(*(v["steps"]["period_ps"] for v in host["devices"]))
    samples = [max(p for p in step if p is not None) for step in periods if any(p is not None for p in step)]
    return samples[1:] if len(samples) >= 3 else samples


def compare_compiles(d, truth, summary, _):
    compiles = [h["compiles"] for h in truth["hosts"]]
    d.equal("compile.count", sum(c["count"] for c in compiles), summary["compile"]["count"])
    d.equal("compile.total_ps", sum(c["total_ps"] for c in compiles), summary["compile"]["total_ps"])
    for figure in ("count", "total_ps"):
        d.equal(f"compile.inside_steps.{figure}", sum(c["inside_steps"][figure] for c in compiles),
                summary["compile"]["inside_steps"][figure])
    events = sorted([h["host"], e["begin_ps"], e["dur_ps"], e["step"]] for h in truth["hosts"]
                    for e in h["compiles"]["events"])
    if sum(c["count"] for c in compiles) <= 500:
        d.lists("compile.events", events, sorted([e["host"], e["begin_ps"], e["dur_ps"], e["step"]]
                                                 for e in summary["compile"]["events"]))


def compare_memory(d, truth, summary, case):
    if case.is_json:
        null_with_reason(d, "", summary, "memory")
        return
    rows = {(r["host"], r["name"]): r for r in (summary["memory"] or {}).get("allocators", [])}
    for host in truth["hosts"]:
        for index, device in enumerate(host["devices"]):
            want = device["memory"]
            if want["allocations"] + want["deallocations"] == 0:
                continue
            name = f"{'TPU' if device['tpu'] else 'GPU'}_{device['name'].rsplit(':', 1)[1]}_bfc"
            row = rows.get((host["host"], name), {})
            for theirs, mine in ALLOCATOR:
                d.equal(f"memory[{host['host']} {name}].{mine}", want[theirs], row.get(mine, MISSING))


def compare_coverage(d, truth, summary, case):
    tallies = summary["coverage"]["tallies"]
    if case.is_json:
        compare_json_coverage(d, truth, tallies, summary["coverage"]["events_read"], case)
        return
    d.equal("coverage.events_read", truth["total"]["events_xplane"], summary["coverage"]["events_read"])
    for planted, tally in DIRTY:
        count = sum((h["dirty"] or {}).get("xplane", {}).get(planted, 0) for h in truth["hosts"])
        d.equal(f"coverage.tallies.{tally}", count, tallies.get(tally, {"count": 0})["count"])


def compare_json_coverage(d, truth, tallies, events_read, case):
    """Every object of the list is an event but for empty ones and metadata.  Every tally of the table is equal to
    what was planted, and there is no tally that is not in the table."""
    planted = [(h["dirty"] or {}).get("json", {}) for h in truth["hosts"]]
    hidden = ("empty_object", "not_an_object", "metadata", "duplicate_process_name")
    d.equal("coverage.events_read", truth["total"]["events_json"]
            + sum(n for p in planted for what, n in p.items() if what not in hidden), events_read)
    beside = {"metadata-event": sum(h["events"]["json_metadata"] for h in truth["hosts"]),
              "closing-object": len(truth["hosts"]), "exponent-number": case.exponents}
    if case.is_dirty:
        beside["exponent-number"] += EXPONENTS_REPRINTED.get(case.form, 0)
    for tally, shares in DIRTY_JSON:
        if shares is None:
            continue
        count = sum(round(p.get(what, 0) * share) for p in planted for what, share in shares.items())
        d.equal(f"coverage.tallies.{tally}", count + beside.get(tally, 0), tallies.get(tally, {"count": 0})["count"])
    known = {tally for tally, _ in DIRTY_JSON} | {"unknown-plane", "derived"}
    d.equal("coverage.tallies: of no planted oddity", [], sorted(set(tallies) - known))


def compare(d, truth, summary, case):
    for part in (compare_devices, compare_unused, compare_kernels, compare_transfers, compare_steps, compare_compiles,
                 compare_memory, compare_coverage, compare_invariants):
        d.part(part, truth, summary, case)


# --- running --------------------------------------------------------------------------------------------------

def exponents_of(path):
    """How many events of a JSON have a time with an exponent; the planted ones not counted."""
    with gzip.open(path, "rb") as file:
        text = file.read()
    clean = text.split(b'"args":{"name":"dirty ')[0].split(b'"args": {"name": "dirty ')[0]
    return sum(bool(EXPONENT.search(event)) for event in clean.split(b"{"))


def check_page(d, folder):
    """Text of the trace never ends the script that the page's data are in."""
    page = (folder / "report.html").read_bytes()
    d.equal("report.html: a name of the trace as markup", False, b"</script><script>alert" in page or b"<img src=x" in page)


def run_case(tap, case, folder, events):
    target = folder / "host0"  # the file's name is the host's
    command = [sys.executable, str(GENERATOR), str(target), "--events", str(events or case.events), "--seed",
               str(case.seed), "--format", case.form, "--quiet", *case.options]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        tap.ok(False, case.name, "the generator failed", made.stderr[-1000:])
        return
    is_logdir = "--logdir" in case.options
    truth_path = target / "truth.json" if is_logdir else folder / "host0.truth.json"
    truth = json.loads(truth_path.read_text())
    source = target if is_logdir else folder / f"host0.{ENDINGS[case.form]}"
    if case.form == "perfetto":  # the real one bears no host's name
        source = source.rename(folder / f"host0.{ENDINGS['json']}")
    formats = ["--format", "json,html"] if case.is_json and case.is_dirty else []
    result, summary = summary_of(source, folder / "out", "--steps", "all", *formats)
    wanted = 4 if case.is_dirty else 0  # what was planted is a loss, and told as one
    if summary is None or result.crashed or result.status != wanted:
        tap.ok(False, case.name, f"report ended with {result}")
        return
    d = Differences(case.name, KNOWN)
    if case.is_json:
        case.exponents = sum(exponents_of(p) for p in folder.rglob(f"*.{ENDINGS['json']}"))
    compare(d, truth, summary, case)
    if formats:
        check_page(d, folder / "out")
    tap.ok(not d.wrong, f"{case.name}: {d.compared} figures",
           f"{len(d.wrong)} of {d.compared} figures differ", d.report())
    for row, figure in d.excused:
        print(f"# known: {figure}: {row[2]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="the whole matrix")
    parser.add_argument("--case", action="append", metavar="PATTERN", help="only these cases")
    parser.add_argument("--events", type=int, help="events of a case, instead of its own number")
    parser.add_argument("--keep", type=Path, help="leave the files of each case in this folder")
    parser.add_argument("--list", action="store_true", help="name the cases")
    options = parser.parse_args()
    cases = [c for c in matrix(options.full) if not options.case or any(fnmatchcase(c.name, p) for p in options.case)]
    if options.list:
        print("\n".join(f"{c.name}: {' '.join(c.options)} --seed {c.seed} --events {c.events}" for c in cases))
        return
    tap = Tap()
    for case in cases:
        if not GENERATOR.exists():
            tap.skip(case.name, f"no generator at {GENERATOR}")
        elif options.keep:
            folder = options.keep / case.name
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            run_case(tap, case, folder, options.events)
        else:
            with Scratch() as folder:
                run_case(tap, case, folder, options.events)
    tap.done()


if __name__ == "__main__":
    main()
