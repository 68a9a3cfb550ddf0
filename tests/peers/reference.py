#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real profiles: our figures against those of xprof 2.24.2, where both define the same thing.

    reference.py [--case PATTERN]

For each readable profile of $TM_SHARED/traces that has reference tables: kernel counts, totals, minima and maxima
(exact, in the peer's whole nanoseconds), memory peaks and capacities (exact), step lengths where the definitions
agree.  And for every profile: the parts of our own figures add up.  Without the folder: skipped.
"""

import argparse
import csv
import json
import sys
from fnmatch import fnmatchcase
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from differences import MISSING, Differences, tell_unused  # noqa: E402
from invariants import check as check_invariants  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import SHARED, Scratch, summary_of  # noqa: E402

TRACES = SHARED / "traces"

# Differences that were looked into and are right: (case pattern, figure pattern, reason).
FROM_HLO = "the peer takes the op from the module's HLO, ours is the event's stat `name`; this version reads no HLO"
ELEMENTS = "the peer's cost model gives each elementwise operation 3 FLOP per element, ours 1"
KNOWN = (
    ("jax-mi355-fused-attention", "kernels[[]*].op", FROM_HLO),
    ("xla-gtx1080ti", "kernels[[]loop_add_multiply_fusion*].op", FROM_HLO),
    ("synthetic-2gpu-known-truth", "kernels[[]loop_add_fusion*].op",
     "the event has the stat `name` and no tf_op; without HLO the peer looks at tf_op alone"),
    ("xprof-gpu-v100-multi-worker", "memory[[]GPU_4_bfc].lifetime_peak_bytes",
     "the peer shows what the event that it read last says, less than its own peak; ours is the largest value"),
    ("jax-mi300-conv-8gpu", "ops[[]cudnn-conv.1].flops", "the peer leaves out the products with padding"),
    ("jax-mi355-fused-attention", "ops[[]wrapped_convert*].flops", ELEMENTS),
    ("xla-gtx1080ti", "ops[[]loop_add_multiply_fusion].flops", ELEMENTS),
)

# How the peer's kernel table differs from ours by definition, applied before the comparison:
# - AMD: the peer prints shared memory 0 where the file says group_mem; so shared memory is no part of the key there
# - kernels shorter than one nanosecond are not in the peer's table
# - the peer counts in whole nanoseconds, each event cut, so rows are compared in those


def ns_of(microseconds):
    return round(float(microseconds) * 1000)


def fold(rows):
    """Rows of one key become one row.  rows: (key, count, total_ns, min_ns, max_ns)."""
    table = {}
    for key, count, total, least, most in rows:
        have = table.get(key)
        table[key] = (count, total, least, most) if have is None else (
            have[0] + count, have[1] + total, min(have[2], least), max(have[3], most))
    return table


def peer_kernels(path, with_shared):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return fold((
        (r["kernel_name"], r["grid_dim"], r["block_dim"], int(float(r["registers_per_thread"])),
         int(float(r["shmem_bytes"])) if with_shared else 0, r["op_name"]),
        int(float(r["occurrences"])), ns_of(r["total_duration_us"]), ns_of(r["min_duration_us"]),
        ns_of(r["max_duration_us"])) for r in rows)


def our_kernels(summary, with_shared):
    rows = [r for r in summary["kernels"]["rows"] if r["max_ps"] >= 1000]
    return fold((
        (r["name"], r["grid"] or "0,0,0", r["block"] or "0,0,0", r["registers"] or 0,
         (r["shared_bytes"] or 0) if with_shared else 0, r["op"] or ""),
        r["count"], r["total_ps"] // 1000, r["min_ps"] // 1000, r["max_ps"] // 1000) for r in rows)


def compare_kernels(d, folder, summary):
    path = folder / "tables" / "kernel_stats.0.csv"
    if not path.exists():
        return
    vendors = {v.get("vendor") or v.get("model") or "" for v in summary["environment"]["devices"]}
    with_shared = not any("AMD" in v or "Instinct" in v or "gfx" in v for v in vendors)
    theirs = peer_kernels(path, with_shared)
    if not theirs:
        return  # a profile without kernels; CPU and TPU ops are no kernels for the peer
    ours = our_kernels(summary, with_shared)
    # Rows that the two sides name after different ops are compared all the same, without the op.
    same = set(theirs) & set(ours)
    compare_rows(d, {k: theirs[k] for k in same}, {k: ours[k] for k in same})
    rest = [{k: v for k, v in table.items() if k not in same} for table in (theirs, ours)]
    without_op = [fold((k[:5] + ("any op",), *v) for k, v in table.items()) for table in rest]
    for key in sorted(set(without_op[0]) | set(without_op[1])):
        ops = [sorted(k[5] for k in table if k[:5] == key[:5]) for table in rest]
        d.equal(f"kernels[{label_of(key)}].op", *ops)
    compare_rows(d, *without_op)


def label_of(key):
    return f"{key[0][:50]} {' '.join(str(k) for k in key[1:])}"


def compare_rows(d, theirs, ours):
    for key in sorted(set(theirs) | set(ours)):
        for i, figure in enumerate(("count", "total_ns", "min_ns", "max_ns")):
            d.equal(f"kernels[{label_of(key)}].{figure}", theirs.get(key, [MISSING] * 4)[i],
                    ours.get(key, [MISSING] * 4)[i])


def peer_ops(path):
    """op -> [kernels, self time (ps), FLOP, bytes].  Rates are per self time; bytes are in GiB a second."""
    table = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            seconds = float(row["total_self_time"]) / 1e6
            values = (int(float(row["occurrences"])), round(seconds * 1e12),
                      float(row["model_flop_rate"]) * 1e9 * seconds, float(row["measured_memory_bw"]) * 2**30 * seconds)
            table[row["hlo_op_name"]] = [a + b for a, b in zip(table.get(row["hlo_op_name"], [0] * 4), values)]
    return table


def our_ops(summary):
    """The same, and executions; FLOP and bytes are None where they are not known of all that ran."""
    table = {}
    for row in summary["ops"]["rows"]:
        values = [row[k] for k in ("count", "self_ps", "flops", "bytes", "executions")]
        have = table.get(row["name"])
        table[row["name"]] = values if have is None else [
            None if a is None or b is None else a + b for a, b in zip(have, values)]
    return table


def digits(number):
    """Six of them: the peer's rates are rounded."""
    return float(f"{number:.6g}")


def compare_ops(d, folder, summary):
    """Kernels and self time of each operation; what it costs, where both sides know.  The peer counts the cost of an
    operation once for each of its kernels, ours once for each execution."""
    path = folder / "tables" / "hlo_stats.0.csv"
    if not path.exists() or summary["ops"] is None:
        return
    ours = our_ops(summary)
    for name, (count, self_ps, flops, size) in sorted(peer_ops(path).items()):
        mine = ours.get(name, [MISSING] * 4 + [count])
        d.equal(f"ops[{name}].count", count, mine[0])
        d.equal(f"ops[{name}].self_ps", self_ps, mine[1])
        for figure, theirs, figures in (("flops", flops, mine[2]), ("bytes", size, mine[3])):
            if theirs > 0 and figures not in (None, 0, MISSING):
                d.equal(f"ops[{name}].{figure}", digits(theirs * mine[4] / count), digits(figures))


def compare_memory_rate(d, folder, summary):
    """The whole program's bytes of device memory, of a TPU, whose events tell them."""
    path = folder / "tables" / "roofline_model.0.csv"
    if summary["environment"]["platform"] != "tpu" or not path.exists():
        return
    with open(path, newline="", encoding="utf-8") as file:
        program = next(csv.DictReader(file))
    seconds = float(program["total_time"]) / 1e6
    d.equal("roofline.bytes", digits(float(program["hbm_bw"]) * 2**30 * seconds), digits(summary["roofline"]["bytes"]))
    d.equal("roofline.flops", digits(float(program["model_flop_rate"]) * 1e9 * seconds),
            digits(summary["roofline"]["flops"]))


def compare_memory(d, folder, summary):
    with open(folder / "memory_profile.json", encoding="utf-8") as file:
        theirs = json.load(file).get("memoryProfilePerAllocator", {})
    ours = {r["name"]: r for r in (summary["memory"] or {}).get("allocators", [])}
    d.equal("memory.allocators", sorted(theirs), sorted(ours))
    for name in sorted(set(theirs) & set(ours)):
        profile = theirs[name]["profileSummary"]
        peak = profile["peakStats"]
        where = f"memory[{name}]"
        d.equal(f"{where}.peak_bytes", int(peak["stackReservedBytes"]) + int(peak["heapAllocatedBytes"]),
                ours[name]["peak_bytes"])
        d.equal(f"{where}.capacity_bytes", int(profile["memoryCapacity"]), ours[name]["capacity_bytes"])
        d.equal(f"{where}.lifetime_peak_bytes", int(profile["peakBytesUsageLifetime"]),
                ours[name]["lifetime_peak_bytes"])


def compare_steps(d, folder, summary):
    """The peer's step is the device's span, or the marker on a CPU-only run; it leaves out first and last."""
    with open(folder / "overview_page.json", encoding="utf-8") as file:
        table = json.load(file)[1]
    columns = [c["id"] for c in table["cols"]]
    if "stepTimeMs" not in columns or not table.get("rows"):
        return
    figure = "host_span_ps" if summary["environment"]["platform"] == "cpu" else "device_span_ps"
    listed = {r["number"]: r for r in summary["steps"]["list"]}
    for row in table["rows"]:
        values = dict(zip(columns, (c.get("v") if c else None for c in row["c"])))
        number = int(str(values["stepnum"]).split()[-1])
        want = round(values["stepTimeMs"] * 1e9)
        d.equal(f"steps[{number}].{figure}", want, listed.get(number, {}).get(figure, MISSING))


def cases():
    """(name, what to report on, folder of reference tables or None)."""
    found = []
    for path in sorted((TRACES / "xspace").glob("*.xplane.pb")):
        if not path.name.startswith("corrupt-"):
            found.append((path.name.removesuffix(".xplane.pb"), path))
    for path in sorted((TRACES / "logdir").iterdir()):
        found.append((f"logdir-{path.name}", path))
    for name, path in found:
        folder = TRACES / "reference" / name
        yield name, path, folder if folder.is_dir() else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", default="*", metavar="PATTERN", help="only these profiles")
    options = parser.parse_args()
    tap = Tap()
    if not (TRACES / "xspace").is_dir():
        tap.skip("real profiles against xprof", f"no profiles at {TRACES}")
        tap.done()
    used = set()
    for name, path, folder in cases():
        if not fnmatchcase(name, options.case):
            continue
        with Scratch() as out:
            result, summary = summary_of(path, out, "--steps", "all", "--rows", "10000")
        if summary is None or result.crashed or result.status != 0:
            tap.ok(False, name, f"report ended with {result}")
            continue
        d = Differences(name, KNOWN)
        d.part(check_invariants, summary)
        parts = (compare_kernels, compare_ops, compare_memory_rate, compare_memory, compare_steps)
        for part in parts if folder else ():
            d.part(part, folder, summary)
        d.tell(tap, f"{name}: {d.compared} figures{'' if folder else ', no reference'}", used)
    tell_unused(tap, KNOWN, used, options.case)
    tap.done()


if __name__ == "__main__":
    main()
