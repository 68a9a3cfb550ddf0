#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every figure of generated profiles against their exact truth, to the picosecond.

    truth.py [--full] [--case PATTERN]... [--events N] [--keep DIR] [--list]

The generator ($TM_SHARED/tools/make_trace.py, needs numpy) writes a profile, the JSON that belongs to it, and the
figures that an analyser must find.  Each profile is generated once, reported with `--steps all` from each of its
files, compared, and removed.  Without the generator every case is skipped.  What the truth file does not hold is
counted from the profile by a reader of its own (made_facts.py).

The same figures must come out of the JSON that the profiler writes beside the profile, but for those that it leaves
out: these are null, with the reason.  What is odd in a JSON is counted in tallies, exactly.
"""

import argparse
import gzip
import re
import shutil
import sys
from fnmatch import fnmatchcase
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from differences import MISSING, Differences, at  # noqa: E402
from invariants import check as check_invariants  # noqa: E402
from made import ENDINGS, GENERATOR, SCENARIOS, Made  # noqa: E402
from made_facts import Facts  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, summary_of  # noqa: E402
from truth_sections import SECTIONS, null_with_reason  # noqa: E402

# Differences that were looked into and are right: (case pattern, figure pattern, reason).
KNOWN = ()

# The figures of a device: where the truth has them, where the summary has them.  A truth of null says that the
# generator does not know the figure for that platform; it is not compared.
DEVICE = (
    ("first_ps", "first_ps"),
    ("last_ps", "last_ps"),
    ("busy_ps", "busy_ps"),
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
    ("tpu.waits.copy.total_ps", "wait_copy_ps"),
    ("tpu.waits.collective.total_ps", "wait_collective_ps"),
    ("tpu.in_flight.busy_ps", "in_flight_ps"),
    ("tpu.in_flight.hidden_ps", "hidden_ps"),
)
CAUSES = ("compile", "input", "sync", "gc", "profiler", "host", "launch", "device_wait", "unrecorded")
STEP_LISTS = ("activities", "first_ps", "last_ps", "period_ps", "device_span_ps")
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
# What a JSON cannot support (the profiler does not write it there): null in each device, with a reason.
NOT_IN_JSON = ("in_flight_ps", "hidden_ps")
EXPONENT = re.compile(rb'"(?:ts|dur)": ?"?-?[0-9.]+[eE]')
CUT_BYTES = 256  # of a name
ONE_OFF = re.compile(r"^loop_fusion_\d+_\d+$")


class Case:
    """One file of a generated profile."""

    def __init__(self, made, form, facts):
        self.made, self.form, self._facts, self.exponents = made, form, facts, 0
        self.name = f"{made.name}-{form}"
        self.platform, self.is_dirty, self.is_json = made.platform, made.is_dirty, form != "xplane"

    @property
    def facts(self):
        return self._facts()


# Options that are crossed with the scenarios: the quick run gives each scenario those at its place, a full run all.
VARIANTS = {
    "gpu": {
        "hlo": ["--devices", "2", "--hlo"],
        "async": ["--async", "--devices", "2", "--hlo"],
        "graphs-expanded": ["--graphs", "expanded", "--devices", "2", "--hlo"],
        "shuffle": ["--shuffle", "--devices", "2"],
        "graphs-collapsed": ["--graphs", "collapsed", "--hlo"],
        "dirty": ["--dirty", "--bad-utf8", "--hlo"],
        "hosts": ["--hosts", "2", "--devices", "2", "--logdir"],
        "lag": ["--async", "0.3", "--shuffle", "--hosts", "2", "--logdir"],
        "three": ["--devices", "3", "--streams", "4"],
        "graphs-async": ["--graphs", "collapsed", "--async", "--devices", "2", "--hlo"],
        "dirty-shuffle": ["--dirty", "--shuffle", "--async"],
        "names": ["--unique-names", "0.5", "--devices", "2"],
        "odd": ["--odd-devices", "--unused", "2", "--devices", "2", "--shuffle"],
        "one": ["--streams", "1", "--hlo"],
        "no-overlap": ["--no-overlap", "--devices", "2"],
    },
    "tpu": {
        "hlo": ["--devices", "2", "--hlo"],
        "async": ["--async", "--devices", "2", "--hlo"],
        "shuffle": ["--shuffle"],
        "dirty": ["--dirty", "--hlo"],
        "three": ["--devices", "3", "--shuffle", "--hlo"],
        "hosts": ["--hosts", "2", "--logdir", "--unused", "1"],
        "lag": ["--async", "0.3", "--shuffle", "--hosts", "2", "--logdir"],
        "dirty-async": ["--dirty", "--async"],
    },
    "cpu": {
        "plain": [],
        "shuffle": ["--shuffle"],
        "dirty": ["--dirty"],
        "hosts": ["--hosts", "2", "--logdir"],
        "dirty-hosts": ["--dirty", "--shuffle", "--hosts", "2", "--logdir"],
        "threads": ["--streams", "8"],
    },
}
SEEDS = (11, 12, 13)


def matrix(full):
    """The profiles: the quick ones touch every platform, scenario and option once; all of them cross them."""
    rows = []
    for platform, variants in VARIANTS.items():
        names = list(variants)
        for i, scenario in enumerate(SCENARIOS):
            for name in names if full else [names[i % len(names)]]:
                rows.append((platform, scenario, name, SEEDS if full else (1 + i,)))
        rows += [(platform, "mixed", name, (21,)) for name in names[len(SCENARIOS):] if not full]
    profiles = [Made(f"{platform}-{scenario}-{name}-{seed}", "--platform", platform, "--scenario", scenario,
                     *VARIANTS[platform][name], seed=seed) for platform, scenario, name, seeds in rows for seed in seeds]
    profiles += [
        Made("gpu-long-names", "--long-names", events=4000, forms=("xplane", "json", "perfetto")),
        Made("gpu-one-off-names", "--unique-names", "1", "--devices", "2"),
        Made("gpu-perfetto-dirty", "--dirty", "--scenario", "mixed", seed=9, forms=("xplane", "perfetto")),
        Made("tpu-perfetto", "--platform", "tpu", "--scenario", "mixed", seed=9, forms=("xplane", "perfetto")),
        Made("cpu-perfetto", "--platform", "cpu", "--scenario", "mixed", seed=9, forms=("xplane", "perfetto")),
    ]
    return profiles


# --- comparing ------------------------------------------------------------------------------------------------

def compare_device(d, where, truth, ours, case, group):
    is_json = case.is_json
    for theirs, mine in DEVICE:
        want = at(truth, theirs)
        if want not in (None, MISSING) and not (is_json and mine in NOT_IN_JSON):
            d.equal(f"{where}.{mine}", want, at(ours, mine))
    for name in NOT_IN_JSON if is_json else ():
        null_with_reason(d, f"{where}.", ours, name)
    compare_window(d, where, truth, ours, group)
    for name in STEP_LISTS:
        want = truth["steps"][name][:1000]
        d.lists(f"{where}.steps.{name}", want, at(ours, f"steps.{name}"))
    compare_busy_by_step(d, where, truth, ours, group)
    d.equal(f"{where}: compute and exposed collectives", truth["kernel_busy_ps"],
            ours["compute_ps"] + ours["exposed_collective_ps"])
    d.equal(f"{where}.utilization adds up", truth["busy_ps"] - (ours["wait_ps"] or 0),
            sum(ours["utilization"]["busy_ps"]))
    if truth["tpu"]:
        compare_waits(d, where, truth, ours, case, group)
        d.equal(f"{where}.wait_ps", truth["tpu"]["waits"]["copy"]["total_ps"]
                + truth["tpu"]["waits"]["collective"]["total_ps"], at(ours, "wait_ps"))


def compare_window(d, where, truth, ours, group):
    """The truth is of the time between a device's own first and last activity.  Its window is that of its group: what lies
    before and after is idle time, too, and a gap each."""
    begin, end = min(v["first_ps"] for v in group), max(v["last_ps"] for v in group)
    lead, trail = truth["first_ps"] - begin, end - truth["last_ps"]
    edges = [g for g in ([begin, lead], [truth["last_ps"], trail]) if g[1]]
    for figure, want in (("window_begin_ps", begin), ("window_end_ps", end), ("span_ps", end - begin), ("lead_ps", lead),
                         ("trail_ps", trail), ("idle_ps", truth["idle_ps"] + lead + trail),
                         ("gaps.count", truth["gaps"]["count"] + len(edges)),
                         ("gaps.total_ps", truth["gaps"]["total_ps"] + lead + trail)):
        d.equal(f"{where}.{figure}", want, at(ours, figure))
    longest = sorted([[g["start_ps"], g["dur_ps"]] for g in truth["gaps"]["longest"]] + edges, key=lambda g: (-g[1], g[0]))
    d.lists(f"{where}.gaps.longest", longest[:20], [[g["begin_ps"], g["dur_ps"]] for g in at(ours, "gaps.longest")])
    if truth["gaps"]["by_cause"] is not None:
        compare_causes(d, where, truth["gaps"]["by_cause"], ours["gaps"]["by_cause"], edges)


def compare_causes(d, where, want, got, edges):
    """The truth does not know the causes of what lies before the first and after the last activity."""
    for figure, more in (("count", len(edges)), ("total_ps", sum(length for _, length in edges))):
        over = [got[cause][figure] - want[cause][figure] for cause in CAUSES]
        for cause, extra in zip(CAUSES, over):
            d.equal(f"{where}.gaps.by_cause.{cause}.{figure} at least", True, 0 <= extra <= more)
        d.equal(f"{where}.gaps.by_cause: {figure} of all", more, sum(over))


def compare_busy_by_step(d, where, truth, ours, group):
    """The truth cuts each device's time at the ends of its own steps.  Where it is alone in its group these are the ends
    of the steps; else the steps of all of them hold the same busy time together."""
    want, got = truth["steps"]["busy_ps"], at(ours, "steps.busy_ps")
    if len(group) == 1:
        d.lists(f"{where}.steps.busy_ps", want[:1000], got)
    elif len(want) <= 1000:
        d.equal(f"{where}.steps.busy_ps in all", sum(b or 0 for b in want), sum(b or 0 for b in got))


def compare_waits(d, where, truth, ours, case, group):
    """Host waits: the truth knows all of them; what lies outside of the window is no part of it."""
    inside = case.facts.host_waits_ps(*where.split("/", 1), min(v["first_ps"] for v in group),
                                      max(v["last_ps"] for v in group))
    d.equal(f"{where}: host waits inside of its span", True, inside <= truth["wait_host_ps"])
    d.equal(f"{where}.wait_host_ps", inside, ours["wait_host_ps"])


def compare_devices(d, truth, summary, case):
    mine = {(v["host"], v["name"]): v for v in summary["devices"]}
    theirs = {(h["host"], v["name"]): (v, groups_of(h["devices"])) for h in truth["hosts"] for v in h["devices"]}
    d.equal("devices", sorted(theirs), sorted(mine))
    for key in sorted(set(theirs) & set(mine)):
        device, groups = theirs[key]
        compare_device(d, "/".join(key), device, mine[key], case, next(g for g in groups if device in g))


def groups_of(devices):
    """Those that are active at the same time: the extents of two overlap by half or more of the shorter one."""
    groups = []
    for device in devices:
        beside = [g for g in groups if any(2 * (min(v["last_ps"], device["last_ps"]) - max(v["first_ps"], device["first_ps"]))
                                           >= min(v["span_ps"], device["span_ps"]) for v in g)]
        groups = [g for g in groups if g not in beside] + [[device, *(v for g in beside for v in g)]]
    return groups


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
    numbers = {number for host in truth["hosts"] for number in host["steps"]["step_num"]}
    d.equal("steps.count", len(numbers), summary["steps"]["count"])
    d.equal("steps.chosen", len(numbers), summary["steps"]["chosen"])
    for host in truth["hosts"]:
        steps = host["steps"]
        for number, begin, length in list(zip(steps["step_num"], steps["begin_ps"], steps["dur_ps"]))[:1000]:
            row = listed.get((host["host"], number))
            if row is None:
                d.equal(f"steps.list[{host['host']} {number}]", "a row", MISSING)
                continue
            d.equal(f"steps.list[{host['host']} {number}].begin_ps", begin, row["begin_ps"])
            d.equal(f"steps.list[{host['host']} {number}].host_span_ps", length, row["host_span_ps"])
    d.lists("steps.samples_ps", samples_of(truth)[:4096], summary["steps"]["samples_ps"])


def step_times(host, platform):
    """Step number -> its times, E(n) - E(n-1) of each group of devices; on a CPU-only run the marker's duration."""
    found = {number: [] for number in host["steps"]["step_num"]}
    if platform == "cpu":
        return {number: [length] for number, length in zip(host["steps"]["step_num"], host["steps"]["dur_ps"])}
    for group in groups_of(host["devices"]):
        reached = None
        for index, (number, begin) in enumerate(zip(host["steps"]["step_num"], host["steps"]["begin_ps"])):
            steps = [v["steps"] for v in group if v["steps"]["activities"][index]]
            if not steps:
                continue
            start = min(begin, *(s["first_ps"][index] for s in steps)) if reached is None else reached
            reached = max(start, *(s["last_ps"][index] for s in steps))
            found[number].append(reached - start)
    return found


def samples_of(truth):
    """A sample for each step number: the mean over the groups and hosts that ran it."""
    found = {}
    for host in truth["hosts"]:
        for number, lengths in step_times(host, truth["options"]["platform"]).items():
            found.setdefault(number, []).extend(lengths)
    return [(sum(of) + len(of) // 2) // len(of) for _, of in sorted(found.items()) if of]


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
                 compare_memory, compare_coverage, compare_invariants, *SECTIONS):
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


def run_profile(tap, made, folder, events):
    """Generates a profile and checks the report on each of its files."""
    failed = made.generate(folder, events)
    if failed:
        tap.ok(False, made.name, "the generator failed", failed)
        return
    facts = Facts(made.platform, made.files("xplane"))  # from its profile, whatever the report is made on
    for form in made.forms:
        case = Case(made, form, lambda: facts)
        run_case(tap, case, folder / f"out-{form}")


def run_case(tap, case, out):
    source = case.made.source(case.form)
    if case.is_json:
        case.exponents = sum(exponents_of(p) for p in source.rglob("*.gz")) if source.is_dir() else exponents_of(source)
    formats = ["--format", "json,html"] if case.is_json and case.is_dirty else []
    result, summary = summary_of(source, out, "--steps", "all", *formats)
    wanted = 4 if case.is_dirty else 0  # what was planted is a loss, and told as one
    if summary is None or result.crashed or result.status != wanted:
        tap.ok(False, case.name, f"report ended with {result}")
        return
    d = Differences(case.name, KNOWN)
    compare(d, case.made.truth, summary, case)
    if formats:
        check_page(d, out)
    d.tell(tap, f"{case.name}: {d.compared} figures")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="the whole matrix")
    parser.add_argument("--case", action="append", metavar="PATTERN", help="only these profiles")
    parser.add_argument("--events", type=int, help="events of a profile, instead of its own number")
    parser.add_argument("--keep", type=Path, help="leave the files of each profile in this folder")
    parser.add_argument("--list", action="store_true", help="name the profiles")
    options = parser.parse_args()
    profiles = [m for m in matrix(options.full)
                if not options.case or any(fnmatchcase(m.name, p) for p in options.case)]
    if options.list:
        print("\n".join(f"{m.name}: {' '.join(m.options)} --seed {m.seed} --events {m.events}" for m in profiles))
        return
    tap = Tap()
    for made in profiles:
        if not GENERATOR.exists():
            tap.skip(made.name, f"no generator at {GENERATOR}")
        elif options.keep:
            folder = options.keep / made.name
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            run_profile(tap, made, folder, options.events)
        else:
            with Scratch() as folder:
                run_profile(tap, made, folder, options.events)
    tap.done()


if __name__ == "__main__":
    main()
