#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One run, read from its xplane.pb and from the JSON that the profiler wrote beside it: the same summary.

    same_run.py [--case PATTERN] [--list]

Real pairs of $TM_SHARED/traces, and generated ones.  Summaries are compared value by value; what the JSON does not
hold is a row of LOST, with its reason, and nothing else may differ.  Without the folder: skipped.
"""

import argparse
import sys
from fnmatch import fnmatchcase
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from differences import MISSING, Differences  # noqa: E402
from invariants import check as check_invariants  # noqa: E402
from made import GENERATOR, run_generator  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import SHARED, Scratch, summary_of  # noqa: E402

TRACES = SHARED / "traces"

# What may differ: (case pattern, path pattern, how the JSON's value must be, reason).
# null: null, and the `why` beside it tells the reason.  other: whatever; the reason says why that is right.
NULL, OTHER = "null", "other"
FILE = "of the file, not of the run"
NO_PLANE = "the JSON has no statistics of planes: no versions, no capabilities, no begin and end of the session"
NO_ALLOCATOR = "the writer leaves allocator events out of the JSON"
NO_ASYNC = "the writer leaves the line Async XLA Ops out of the JSON"
NO_HLO = "the JSON has no HLO: types and shapes are told by names alone, or not at all"
NO_PATHS = "without HLO, nothing tells which op of the framework an operation is of"
NO_COSTS = "the JSON has no HLO, which has the costs of these operations"
NO_PROGRAMS = "the JSON has no program ids, by which an op finds the name of its program"
NO_PEAKS = "the JSON has no statistics of planes: no model, no capability, so no peaks, matrix units or multiprocessors"
TOLD = "that the input is a copy is told, and where it matters"
FEWER = "fewer events: those of allocators, of asynchronous lines and of planes without a name are not there"
WITH_HLO = ("logdir-*", "xla-gtx1080ti")
WITH_PEAKS = ("xla-gtx1080ti", "made-tpu*")  # and costs, so that one can be held against the other
LOST = (
    ("*", "input.files.0.*", OTHER, FILE),
    ("*", "coverage.events_read", OTHER, FEWER),
    ("*", "coverage.events_used", OTHER, FEWER),
    ("*", "coverage.classes.*", OTHER, FEWER),
    ("*", "coverage.tallies.*", OTHER, FEWER),
    ("*", "checks.11.*", OTHER, FEWER),  # events_in_classes
    ("xla-*", "environment.hosts.0.framework", OTHER, "the JSON has the shape of JAX's; the profile does not tell"),
    ("*", "environment.hosts.0.*", NULL, NO_PLANE),
    ("*", "environment.devices.*", OTHER, NO_PLANE),
    ("*", "devices.*.model", NULL, NO_PLANE),
    ("*", "memory", NULL, NO_ALLOCATOR),
    ("*tpu*", "devices.*.in_flight_ps", NULL, NO_ASYNC),
    ("*tpu*", "devices.*.hidden_ps", NULL, NO_ASYNC),
    ("*tpu*", "devices.*.tpu.in_flight", NULL, NO_ASYNC),
    ("*tpu*", "transfers.by_direction.*.mean_bandwidth", NULL, NO_ASYNC),
    ("*tpu*", "transfers.by_direction.*.max_bandwidth", NULL, NO_ASYNC),
    ("*tpu*", "transfers.largest.length", OTHER, NO_ASYNC),
    ("*tpu*", "ops.rows.*.module", NULL, NO_PROGRAMS),
    ("*", "kpis.peak_memory.*", OTHER, NO_ALLOCATOR),
    ("*", "kernels.rows.*.precision", NULL, NO_HLO),
    ("*", "kernels.rows.*.tensor_core", NULL, NO_HLO),
    ("*", "compile.events.*.shapes", NULL, NO_HLO),
    ("*", "compile.programs.length", OTHER, NO_HLO),
    ("logdir-compile*", "findings.compile_in_steps.evidence.2", OTHER, NO_HLO),
    ("*", "coverage.marks.length", OTHER, TOLD),
    ("*", "findings.json_copy", OTHER, TOLD),
    ("xla-gtx1080ti", "findings.no_framework_paths", OTHER, "of a JSON they are not expected"),
    ("xla-gtx1080ti", "critical_path.contributors.*.source", NULL, NO_HLO),
    # What HLO tells; the JSON of a TPU has costs and paths as arguments of its operations.
    *((case, f"ops.rows.*.{fact}", NULL, NO_HLO) for case in WITH_HLO
      for fact in ("opcode", "op", "source", "precision", "flops", "bytes", "flop_rate", "bandwidth", "intensity")),
    ("logdir-*", "ops.rows.*.category", OTHER, NO_HLO),
    ("logdir-*", "kernels.rows.*.category", OTHER, NO_HLO),
    ("logdir-*", "kernels.by_name.*.category", OTHER, NO_HLO),
    ("logdir-*", "kernels.by_category.*", OTHER, NO_HLO),
    # Families go by paths.
    *(("logdir-*", f"ops.{figure}", OTHER, NO_PATHS)
      for figure in ("families.*", "distinct_families", "rows.*.family")),
    *(("xla-gtx1080ti", f"ops.families.*.{fact}", NULL, NO_HLO)
      for fact in ("op", "source", "precision", "flops", "bytes", "flop_rate", "bandwidth", "intensity")),
    *((case, f"roofline.{figure}", NULL, NO_COSTS) for case in WITH_HLO for figure in (
        "source", "flops", "bytes", "flop_rate", "bandwidth", "devices.*.flops", "devices.*.bytes",
        "devices.*.flop_rate", "devices.*.bandwidth")),
    *((case, f"roofline.{figure}", OTHER, NO_COSTS) for case in WITH_HLO for figure in (
        "known_ps", "known_pct", "flops_known_ps", "flops_known_pct", "precisions.*.precision")),
    ("logdir-*", "roofline.precisions.*.matrix_ps", OTHER, NO_HLO),
    *(("logdir-*", f"scopes.{figure}", NULL, NO_PATHS)
      for figure in ("self_ps", "passes", "recomputed", "rows", "rest", "layers", "layers_rest")),
    ("logdir-*", "scopes.unscoped.*", OTHER, NO_PATHS),
    ("logdir-*", "findings.op_dominant*", OTHER, NO_PATHS),
    ("xla-gtx1080ti", "fusion.layout_copies", NULL, NO_PATHS),
    *(("logdir-pmap*", f"collectives.{figure}", NULL, NO_HLO) for figure in (
        "total.bytes", "rows.*.message_bytes", "rows.*.bytes", "rows.*.group_size", "rows.*.algorithm_bandwidth",
        "rows.*.bus_bandwidth", "rows.*.bandwidth_over", "skew.worst.*.group")),
    ("logdir-pmap*", "collectives.total.unknown_bytes_count", OTHER, NO_HLO),
    ("logdir-pmap*", "findings.collective_exposed.evidence.*", OTHER, NO_HLO),
    *((case, "sharding", NULL, NO_HLO) for case in ("logdir-pmap*", "xla-gtx1080ti")),
    # What the statistics of a device's plane tell.
    *((case, f"roofline.devices.*.{figure}", NULL, NO_PEAKS) for case in ("xla-gtx1080ti", "made-gpu*", "made-tpu*")
      for figure in ("peak_flops", "peak_precision", "peak_bandwidth", "peak_source", "bandwidth_source")),
    *((case, f"roofline.{figure}", NULL, NO_PEAKS) for case in WITH_PEAKS for figure in (
        "devices.*.model", "devices.*.flops_pct", "devices.*.memory_pct", "flops_pct", "memory_pct", "mfu_pct")),
    *((case, f"roofline.{figure}", OTHER, NO_PEAKS) for case in WITH_PEAKS for figure in (
        "bound", "bound_ps.unknown", "far.length")),
    ("made-tpu*", "roofline.bound_ps.memory", OTHER, NO_PEAKS),
    ("xla-gtx1080ti", "roofline.bound_ps.latency", OTHER, NO_PEAKS),
    *((case, f"ops.{list}.*.bound", OTHER, NO_PEAKS) for case in WITH_PEAKS for list in ("rows", "families")),
    *((case, f"ops.{list}.*.{figure}", NULL, NO_PEAKS) for case in WITH_PEAKS for list in ("rows", "families")
      for figure in ("roof", "roof_pct")),
    *((case, f"kpis.model_flop_utilization.{figure}", OTHER, NO_PEAKS) for case in WITH_PEAKS
      for figure in ("value", "note")),
    *((case, f"kpis.memory_bandwidth.{figure}", OTHER, NO_PEAKS) for case in WITH_PEAKS for figure in ("value", "note")),
    ("made-tpu*", "kpis.memory_bandwidth.band", OTHER, NO_PEAKS),
    *((case, f"occupancy.{figure}", OTHER, NO_PEAKS) for case in ("xla-gtx1080ti", "made-gpu*")
      for figure in ("limiters.none", "limiters.unknown", "tail.known_ps", "tail.lost_ps", "tail.rows.length")),
    ("made-gpu*", "occupancy.limiters.registers", OTHER, NO_PEAKS),
    ("xla-gtx1080ti", "occupancy.tail.below_one_wave_ps", OTHER, NO_PEAKS),
    ("xla-gtx1080ti", "occupancy.tail.idle_multiprocessors_ps", OTHER, NO_PEAKS),
    *((case, "kpis.occupancy.marks.length", OTHER, NO_PEAKS) for case in ("xla-gtx1080ti", "made-gpu*")),
    ("made-gpu*", "fusion.matrix", NULL, NO_PEAKS),
    *(("xla-gtx1080ti", f"kernels.rows.*.{fact}", NULL, "this writer left kernel_details out of the JSON")
      for fact in ("grid", "block", "registers", "shared_bytes")),
)


class Pair:
    """paths: of the xplane.pb and of the JSON; both get the same name for the comparison."""

    def __init__(self, name, xplane, trace, host="vm"):
        self.name, self.xplane, self.trace, self.host = name, xplane, trace, host


def real_pairs():
    for path in sorted((TRACES / "logdir").glob("*/plugins/profile/*/*.xplane.pb")):
        run = path.relative_to(TRACES / "logdir").parts[0]
        yield Pair(f"logdir-{run}", path, path.with_name("vm.trace.json.gz"))
        yield Pair(f"logdir-{run}-perfetto", path, path.with_name("perfetto_trace.json.gz"))
    for name in ("xla-gtx1080ti", "xla-cpu"):
        yield Pair(name, TRACES / "xspace" / f"{name}.xplane.pb", TRACES / "jax-json" / f"{name}.trace.json.gz")


MADE = (
    ("made-gpu", ["--devices", "2"]),
    ("made-gpu-async", ["--devices", "2", "--async", "--shuffle"]),
    ("made-gpu-stalled", ["--scenario", "stalled"]),
    ("made-gpu-graphs", ["--graphs", "collapsed"]),
    ("made-tpu", ["--platform", "tpu", "--devices", "2"]),
    ("made-cpu", ["--platform", "cpu"]),
)


# --- comparing ------------------------------------------------------------------------------------------------

def keyed(path, value):
    """Lists whose rows have names are compared by them, so that one row more does not shift the others."""
    for figure, name in (("kpis", "id"), ("findings", "id")):
        if path == figure:
            return {row[name]: row for row in value}
    return value


def differences(one, other, path=""):
    """(path, one's value, other's value) of every value that differs; reasons are no values."""
    one, other = keyed(path, one), keyed(path, other)
    if isinstance(one, dict) and isinstance(other, dict):
        for key in [*one, *(k for k in other if k not in one)]:
            if key != "why":
                where = f"{path}.{key}" if path else key
                yield from differences(one.get(key, MISSING), other.get(key, MISSING), where)
    elif isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            yield f"{path}.length", len(one), len(other)
        for i, (a, b) in enumerate(zip(one, other)):
            yield from differences(a, b, f"{path}.{i}")
    elif type(one) is not type(other) or one != other:
        yield path, one, other


def section_of(summary, path):
    """What holds the value at `path`, and the value's key."""
    *parents, key = path.split(".")
    for name in parents:
        summary = summary[int(name)] if isinstance(summary, list) else summary[name]
    return summary, key


def is_lost_rightly(row, summary, path, value):
    if row[2] == OTHER:
        return True
    section, key = section_of(summary, path)
    return value is None and isinstance(section.get("why", {}).get(key), str)


def compare(d, pair, one, other, used):
    for path, a, b in differences(one, other):
        row = next((r for r in LOST if fnmatchcase(pair.name, r[0]) and fnmatchcase(path, r[1])), None)
        if row and is_lost_rightly(row, other, path, b):
            used.add(row)
        else:
            d.equal(path, short(a), short(b))
    d.compared += values(one)


def short(value):
    text = str(value)
    return text if len(text) < 200 else text[:200] + "..."


def values(tree):
    """How many values a summary has."""
    if isinstance(tree, (dict, list)):
        return sum(map(values, tree.values() if isinstance(tree, dict) else tree))
    return 1


# --- running --------------------------------------------------------------------------------------------------

def report_on(folder, source, ending, host):
    """The two files get one name, so that run and host are named alike."""
    (folder / ending).mkdir()
    path = folder / ending / f"{host}.{ending}"
    path.symlink_to(source)
    return summary_of(path, folder / ending / "out", "--rows", "10000")


def run_pair(tap, pair, folder, used):
    results = [report_on(folder, pair.xplane, "xplane.pb", pair.host),
               report_on(folder, pair.trace, "trace.json.gz", pair.host)]
    for result, summary in results:
        if summary is None or result.crashed or result.status != 0:
            tap.ok(False, pair.name, f"report ended with {result}")
            return
    d = Differences(pair.name)
    one, other = (summary for _, summary in results)
    compare(d, pair, one, other, used)
    d.part(check_invariants, other)
    tap.ok(not d.wrong, f"{pair.name}: {d.compared} values", f"{len(d.wrong)} values differ", d.report(60))


def run_made(tap, name, options, used):
    with Scratch() as folder:
        made = run_generator(folder / "made", "--events", 12000, "--seed", 21, "--format", "xplane,json,perfetto", "--quiet", *options)
        if made.returncode != 0:
            tap.ok(False, name, "the generator failed", made.stderr[-1000:])
            return
        for ending in ("trace.json.gz", "perfetto_trace.json.gz"):
            label = name if ending[0] == "t" else f"{name}-perfetto"
            with Scratch() as out:
                run_pair(tap, Pair(label, folder / "made.xplane.pb", folder / f"made.{ending}"), out, used)


def check_one_file_of_a_run(tap, folder):
    """A folder that holds both is one run, read from its xplane.pb alone."""
    with Scratch() as out:
        result, summary = summary_of(folder, out)
    files = [Path(f["path"]).name for f in summary["input"]["files"]] if summary else str(result)
    tap.ok(files == ["vm.xplane.pb"], "a folder with both files of a run", f"read: {files}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", default="*", metavar="PATTERN", help="only these pairs")
    parser.add_argument("--list", action="store_true", help="name the pairs")
    options = parser.parse_args()
    tap = Tap()
    pairs = [p for p in real_pairs() if fnmatchcase(p.name, options.case)] if TRACES.is_dir() else []
    made = [m for m in MADE if fnmatchcase(m[0], options.case)]
    if options.list:
        print("\n".join([p.name for p in pairs] + [name for name, _ in made]))
        return
    used = set()
    for pair in pairs:
        with Scratch() as folder:
            run_pair(tap, pair, folder, used)
    for name, more in made:
        if GENERATOR.exists():
            run_made(tap, name, more, used)
        else:
            tap.skip(name, f"no generator at {GENERATOR}")
    if pairs and options.case == "*":
        check_one_file_of_a_run(tap, TRACES / "logdir" / "train")
        for row in LOST:
            if row not in used:
                tap.ok(False, f"lost in JSON: {row[0]} {row[1]}", "it is lost no longer: take the row out")
    if not pairs:
        tap.skip("real pairs of files", f"no profiles at {TRACES}")
    tap.done()


if __name__ == "__main__":
    main()
