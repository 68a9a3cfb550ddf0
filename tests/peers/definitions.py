#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real JAX, XLA and TensorFlow profiles: every figure against a slow calculation from the events, to the picosecond.

    definitions.py [--case PATTERN] [--list]

Each profile of $TM_SHARED/traces/{xspace,logdir,jax-json} is read by a plain reader (slow_figures.py), its figures are
worked out after their definitions (docs/metrics.md) by sorting and sweeping lists, and compared with the summary, with
all steps and with those that are chosen when nothing is said.  PyTorch's profiles: pytorch.py.  Without the folder:
skipped.
"""

import argparse
import sys
from collections import Counter, defaultdict
from fnmatch import fnmatchcase
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from deviation import stddev_ps  # noqa: E402
from differences import MISSING, Differences, at, tell_unused  # noqa: E402
from invariants import check as check_invariants  # noqa: E402
from slow_figures import Run, is_activity, scope_of, self_times, spans_of  # noqa: E402
from slow_sections import compare_fusion, compare_kept, compare_kernel_means, compare_occupancy, thousandths  # noqa: E402
from slow_steps import chosen_steps, chosen_time, device_steps, forget, samples, whole_time, whole_window  # noqa: E402
from slow_time import DIRECTIONS, gaps, over_time, pauses, union  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import SHARED, Scratch, summary_of  # noqa: E402

TRACES = SHARED / "traces"
ROWS = ("--rows", "10000", "--memory", "2GiB")
PAUSE_PS = 10 * 10**6
CUT_BYTES = 256  # of a name in a table

# Differences that were looked into and are right: (case pattern, figure pattern, reason).
KNOWN = ()


# --- device time ----------------------------------------------------------------------------------------------

def compare_time(d, where, want, got):
    for figure, value in want.items():
        if isinstance(value, dict):
            compare_time(d, f"{where}.{figure}", value, got[figure])
        else:
            d.equal(f"{where}.{figure}", value, got[figure])


def compare_gaps(d, where, run, device, row):
    found = gaps([(b, e) for _, b, e in run.ranked(device)], whole_window(run, device))
    d.equal(f"{where}.gaps.count", len(found), row["gaps"]["count"])
    d.equal(f"{where}.gaps.total_ps", sum(length for _, length in found), row["gaps"]["total_ps"])
    longest = sorted(found, key=lambda g: (-g[1], g[0]))[:20]
    d.lists(f"{where}.gaps.longest", [list(g) for g in longest],
            [[g["begin_ps"], g["dur_ps"]] for g in row["gaps"]["longest"]])


def compare_sorts(d, where, run, device, row):
    mine = run.of(device)
    sorts = {"kernels": mine if run.kind != "gpu" else [a for a in mine if a.is_kernel],
             "collectives": [a for a in mine if a.sort == "collective"],
             "copies": [a for a in mine if a.sort == "copy"], "memsets": [a for a in mine if a.sort == "memset"]}
    for name, chosen in sorts.items():
        d.equal(f"{where}.{name}.count", len(chosen), row[name]["count"])
        d.equal(f"{where}.{name}.total_ps", sum(a.length for a in chosen), row[name]["total_ps"])
    d.equal(f"{where}.activities", sum(map(is_activity, mine)), row["activities"])


def compare_waits(d, where, run, device, row):
    """TPU: how long the core waits, and what is in flight beside it."""
    waits = {sort: [(a.begin, a.end) for a in run.of(device) if a.op_is_wait and a.sort == sort and a.length]
             for sort in ("copy", "collective")}
    d.equal(f"{where}.wait_copy_ps", union(waits["copy"]), row["wait_copy_ps"])
    d.equal(f"{where}.wait_collective_ps", union(waits["collective"]), row["wait_collective_ps"])
    d.equal(f"{where}.wait_ps", union(waits["copy"] + waits["collective"]), row["wait_ps"])
    first, last = row["window_begin_ps"], row["window_end_ps"]
    host = [(max(a.begin, first), min(a.end, last)) for a in run.of(device) if a.sort == "wait_host"]
    d.equal(f"{where}.wait_host_ps", union([s for s in host if s[1] > s[0]]), row["wait_host_ps"])
    if not run.is_json:
        flights = [(s.begin, s.end) for s in run.flights.get(device, ())]
        compute = [(b, e) for rank, b, e in run.ranked(device) if rank == 0]
        hidden = union(flights) + union(compute) - union(flights + compute)
        d.equal(f"{where}.in_flight_ps", union(flights) if flights else None, row["in_flight_ps"])
        d.equal(f"{where}.hidden_ps", hidden if flights else None, row["hidden_ps"])


def compare_over_time(d, run, device, row):
    """Of all that was recorded on the devices of the host, in stretches."""
    spans = [(b, e) for other in run.devices for _, b, e in run.ranked(other)]
    waits = [piece for a in run.of(device) if run.kind == "tpu" and a.op_is_wait for piece in a.swept]
    busy = [(b, e) for _, b, e in run.ranked(device)]
    want = over_time(busy, waits, min(b for b, _ in spans), max(e for _, e in spans))
    for figure in ("begin_ps", "end_ps", "bin_ps"):
        d.equal(f"{row['id']}.utilization.{figure}", want[figure], row["utilization"][figure])
    d.lists(f"{row['id']}.utilization.busy_ps", want["busy_ps"], row["utilization"]["busy_ps"])


def compare_device(d, run, device, row):
    where, spans = row["id"], spans_of(run.of(device))
    compare_over_time(d, run, device, row)
    d.equal(f"{where}.first_ps", min(b for b, _ in spans), row["first_ps"])
    d.equal(f"{where}.last_ps", max(e for _, e in spans), row["last_ps"])
    compare_time(d, where, whole_time(run, device), row)
    compare_gaps(d, where, run, device, row)
    compare_sorts(d, where, run, device, row)
    if run.kind == "tpu":
        compare_waits(d, where, run, device, row)


def compare_pauses(d, run, summary):
    """GPUs: of other devices a launch is no call with a number of its own."""
    of_devices = [pauses(run.launched(device), PAUSE_PS) for device in run.devices]
    for figure in ("count", "total_ps"):
        d.equal(f"gaps.pauses.{figure}", sum(p[figure] for p in of_devices), at(summary, f"gaps.pauses.{figure}"))


def compare_clocks(d, run, summary):
    """TPUs: by which clock their times are."""
    clocks = [clock for clock in run.clocks.values() if clock.ops]
    row = summary["environment"]["hosts"][0]["tpu_clock"]
    if not clocks:
        d.equal("environment.hosts[0].tpu_clock", None, row)
        return
    jumps = [jump for clock in clocks for jump in clock.jumps]
    used = sum(clock.is_used for clock in clocks)
    d.equal("tpu_clock.devices", len(clocks), row["devices"])
    d.equal("tpu_clock.own", used, row["own"])
    d.equal("tpu_clock.jumps", len(jumps) if used else None, row["jumps"])
    d.equal("tpu_clock.largest_jump_ps", max(jumps, default=0) if used else None, row["largest_jump_ps"])
    tallies = summary["coverage"]["tallies"]
    d.equal("tallies.clock-mapping-jump", len(jumps), tallies.get("clock-mapping-jump", {"count": 0})["count"])


# --- over all devices -----------------------------------------------------------------------------------------

def shown(name, names):
    """A long name is cut in a table."""
    data = name.encode()
    return name if name in names or len(data) <= CUT_BYTES else data[:CUT_BYTES].decode("utf-8", "ignore") + "..."


def compare_ops(d, run, summary):
    """By name; copies that bear no operation's name are in no row."""
    table = d.worked_out(summary, "ops")
    if table is None:
        return
    names = {row["name"] for row in table["rows"]}
    want, got, rows = defaultdict(lambda: [0, 0, 0, 0]), defaultdict(lambda: [0, 0, 0]), defaultdict(list)
    for device in run.devices:
        for op, row in self_times(run.of(device)).items():
            if op:
                name = shown(op, names)
                want[name] = [a + b for a, b in zip(want[name], row)]
    for row in table["rows"]:
        got[row["name"]] = [a + b for a, b in zip(got[row["name"]], (row["count"], row["self_ps"], row["total_ps"]))]
        rows[row["name"]].append(row)
    for op in sorted(set(want) | set(got)):
        d.equal(f"ops.rows[{op}]: count, self, total", want[op][:3] if op in want else MISSING, got.get(op, MISSING))
        if op in want and len(rows[op]) == 1:  # several: of several modules
            d.equal(f"ops.rows[{op}]: deviation", stddev_ps(want[op][0], want[op][1], want[op][3]),
                    rows[op][0]["self_stddev_ps"])
    whole = [sum(row[i] for row in want.values()) for i in range(3)]
    for i, figure in enumerate(("count", "self_ps", "total_ps")):
        d.equal(f"ops.{figure}", whole[i], table[figure])


def compare_scopes(d, run, summary):
    """Self time of every scope and pass, and the sums over what lies in it."""
    activities = [a for device in run.devices for a in run.of(device) if run.is_op(a)]
    if not any(scope_of(a.path)[0] for a in activities):
        d.equal("scopes: none", True, not (summary["scopes"] or {}).get("rows"))  # no event tells where it comes from
        return
    scopes = d.worked_out(summary, "scopes")
    if scopes is None:
        return
    passes, own, whole, unscoped = Counter(), Counter(), Counter(), 0
    for a in activities:
        scope, way = scope_of(a.path)
        if not scope:
            unscoped += a.self_time
            continue
        passes[way] += a.self_time
        own[(scope, way)] += a.self_time
        parts = scope.split("/")
        for depth in range(len(parts)):
            whole[("/".join(parts[:depth + 1]), way)] += a.self_time
    d.equal("scopes.self_ps", sum(passes.values()), scopes["self_ps"])
    d.equal("scopes.unscoped.self_ps", unscoped, scopes["unscoped"]["self_ps"])
    for way in ("forward", "backward", "other"):
        d.equal(f"scopes.passes.{way}", passes[way], scopes["passes"][way])
    rows = {(r["path"], r["pass"]): r for r in scopes["rows"]}
    for key in sorted(set(whole) | set(rows)):
        row = rows.get(key, {})
        d.equal(f"scopes.rows[{' '.join(key)}]: self, total", [own[key], whole[key]],
                [row.get("self_ps", MISSING), row.get("total_ps", MISSING)])


def compare_collectives(d, run, summary):
    mine = [a for device in run.devices for a in run.of(device) if a.sort == "collective"]
    total = at(summary, "collectives.total")
    if not mine and total is MISSING:
        return
    begun = [a for a in mine if a.op_is_start]  # counted where it is waited for; its time belongs to it
    d.equal("collectives.total.count", len(mine) - len(begun), total["count"])
    d.equal("collectives.total.total_ps", sum(a.length for a in mine), total["total_ps"])
    exposed = sum(whole_time(run, device)["exposed_collective_ps"] for device in run.devices)
    if mine and d.worked_out(summary, "collectives.total.exposed_ps") is not None:
        d.equal("collectives.total.exposed_ps", exposed, total["exposed_ps"])


def bandwidth_of(by_device):
    """Bytes over the time in which any copy of a device is in flight.  by_device: lists of (begin, end, bytes)"""
    known = [[c for c in copies if c[2] is not None] for copies in by_device]
    time = sum(union([(begin, end) for begin, end, _ in copies]) for copies in known)
    size = sum(c[2] for copies in known for c in copies)
    return size / (time * 1e-12) if time and size else None


def compare_transfers(d, run, summary):
    rows = {r["direction"]: r for r in (summary["transfers"] or {}).get("by_direction", [])}
    for way in DIRECTIONS:
        mine = [a for device in run.devices for a in run.of(device) if a.sort == "copy" and a.way == way]
        if run.kind != "gpu" or (not mine and way not in rows):
            continue
        d.equal(f"transfers.{way}.count", len(mine), rows.get(way, {}).get("count", MISSING))
        d.equal(f"transfers.{way}.total_ps", sum(a.length for a in mine), rows.get(way, {}).get("total_ps", MISSING))
        exposed = sum(whole_time(run, device)["exposed_by_direction_ps"][way] for device in run.devices)
        d.equal(f"transfers.{way}.exposed_ps", exposed, rows.get(way, {}).get("exposed_ps", MISSING))
        by_device = [[(a.begin, a.end, a.bytes) for a in run.of(device) if a.sort == "copy" and a.way == way]
                     for device in run.devices]
        d.near(f"transfers.{way}.mean_bandwidth", bandwidth_of(by_device), rows.get(way, {}).get("mean_bandwidth", MISSING))


# --- steps ----------------------------------------------------------------------------------------------------

def compare_steps(d, run, summary):
    steps = summary["steps"]
    if not run.steps:
        d.equal("steps.source is not the host", True, steps["source"] != "host")
        compare_executions(d, run, steps)
        return
    d.equal("steps.source", "host", steps["source"])
    d.equal("steps.count", len(run.steps), steps["count"])
    rows = sorted(steps["list"], key=lambda r: r["begin_ps"])
    d.lists("steps.list: number, begin, host span", [list(s) for s in run.steps],
            [[r["number"], r["begin_ps"], r["host_span_ps"]] for r in rows])
    for device, row in devices_of(run, summary):
        for name, want in device_steps(run, device).items():
            d.lists(f"{row['id']}.steps.{name}", want, row["steps"][name])


def compare_executions(d, run, steps):
    """TPU: a step is an execution of the module that takes most of the devices' time."""
    totals, counts = Counter(), Counter()
    for device, spans in run.modules.items():
        for span in spans:
            totals[span.shown] += span.length
            counts[(device, span.shown)] += 1
    if not totals:
        return
    module = max(totals, key=totals.get)
    most = max(counts[(device, module)] for device in run.modules)
    if steps["source"] == "module":
        d.equal("steps.module", module, steps["module"])
        d.equal("steps.count", most, steps["count"])


def devices_of(run, summary):
    """(device, its row)"""
    rows = {row["id"].rsplit("/", 1)[1]: row for row in summary["devices"]}
    return [(device, rows[device]) for device in sorted(run.devices) if device in rows]


def compare_all(d, run, summary):
    compare_clocks(d, run, summary)
    d.equal("devices", sorted(run.devices), sorted(r["id"].rsplit("/", 1)[1] for r in summary["devices"]))
    for device, row in devices_of(run, summary):
        d.part(compare_device, run, device, row)
    if run.devices:
        for part in (compare_ops, compare_scopes, compare_collectives, compare_transfers):
            d.part(part, run, summary)
        kernels = [a for device in run.devices for a in run.of(device) if a.sort == ("kernel" if run.kind == "gpu" else "op")]
        d.part(compare_fusion, [(a.name, a.length) for a in kernels], run.kind, summary)
        d.part(compare_occupancy, [(a.length, thousandths(a.occupancy)) for a in kernels] if run.kind == "gpu" else [], summary)
    if run.kind == "gpu":
        d.part(compare_kernel_means, [a.length for a in kernels], summary)
        d.part(compare_pauses, run, summary)
    d.part(compare_kept, run.memory_events(), summary)
    d.part(compare_steps, run, summary)
    d.part(check_invariants, summary)


def compare_default(d, run, summary):
    """The steps that are chosen when nothing is said, and the devices' time in them."""
    rows = sorted(summary["steps"]["list"], key=lambda r: r["begin_ps"])
    d.lists("steps.list: chosen", chosen_steps(run), [r["chosen"] for r in rows])
    for device, row in devices_of(run, summary):
        time = chosen_time(run, device)
        if time:
            compare_time(d, f"chosen {row['id']}", time, row)
    if run.steps:
        d.lists("steps.samples_ps", samples(run), summary["steps"]["samples_ps"])
    d.part(check_invariants, summary)


# --- running --------------------------------------------------------------------------------------------------

def cases():
    """(name, file)"""
    for path in sorted((TRACES / "xspace").glob("*.pb")):
        if not path.name.startswith("corrupt-"):
            yield path.name.removesuffix(".xplane.pb"), path
    for path in sorted((TRACES / "logdir").glob("*/plugins/profile/*/*")):
        run = path.relative_to(TRACES / "logdir").parts[0]
        if not path.name.startswith("perfetto_"):  # the same text again: same_run.py
            yield f"logdir-{run}{'-json' if path.name.endswith('.gz') else ''}", path
    for path in sorted((TRACES / "jax-json").glob("*")):
        yield f"json-{path.name.split('.')[0]}", path


def report_on(tap, name, path, *options):
    with Scratch() as folder:
        result, summary = summary_of(path, folder, *ROWS, *options)
    if summary is None or result.crashed or result.status != 0:
        tap.ok(False, name, f"report ended with {result}")
        return None
    return summary


def run_case(tap, name, path, used):
    run = Run(path)
    d = Differences(name, KNOWN)
    summary = report_on(tap, name, path, "--steps", "all")
    if summary is None:
        return
    compare_all(d, run, summary)
    if run.steps and run.devices:
        chosen = report_on(tap, f"{name} with its steps chosen", path)
        if chosen is None:
            return
        d.part(compare_default, run, chosen)
    d.tell(tap, f"{name}: {d.compared} figures", used)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", default="*", metavar="PATTERN", help="only these profiles")
    parser.add_argument("--list", action="store_true", help="name the profiles")
    options = parser.parse_args()
    tap, used = Tap(), set()
    chosen = [c for c in cases() if fnmatchcase(c[0], options.case)] if TRACES.is_dir() else []
    if options.list:
        print("\n".join(name for name, _ in chosen))
        return
    if not chosen:
        tap.skip("real profiles, worked out again", f"no profiles at {TRACES}")
        tap.done()
    for name, path in chosen:
        run_case(tap, name, path, used)
        forget()  # a profile is large
    tell_unused(tap, KNOWN, used, options.case)
    tap.done()


if __name__ == "__main__":
    main()
