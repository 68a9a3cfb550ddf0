# SPDX-License-Identifier: Apache-2.0
"""The sections of a summary against the truth of a generated profile: operations, scopes, fusion, occupancy,
collectives, the host, what the program says of its operations.

compare_*(d, truth, summary, case): `case` has `platform`, `is_json`, `made` (a Made) and `facts` (its Facts)."""

import re
from collections import Counter, defaultdict

from differences import MISSING, at

PASSES = ("forward", "backward", "other")
HOST_CAUSES = ("launch", "input", "sync", "host", "compile", "gc")
LAUNCHES = ("cuLaunchKernel", "cuLaunchKernelEx", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuMemcpyDtoDAsync_v2",
            "cuMemcpyPeerAsync", "cuMemsetD32Async", "cuGraphLaunch")
SYNCS = ("cuStreamSynchronize", "BlockHostUntilReady")
KINDS = (("all-reduce", r"AllReduce|^all-reduce"), ("all-gather", r"AllGather|^all-gather"),
         ("reduce-scatter", r"ReduceScatter|^reduce-scatter|^async-collective"))
COLLECTIVE_OCCUPANCY = 25000  # thousandths of a percent, of every NCCL kernel that is generated


def devices_of(truth):
    return [device for host in truth["hosts"] for device in host["devices"]]


def null_with_reason(d, where, section, name):
    """The figure is null, and the section says why."""
    d.equal(f"{where}{name}", None, section.get(name, MISSING))
    why = at(section, f"why.{name}")
    d.equal(f"{where}why.{name} is a text", True, isinstance(why, str) and len(why) > 10)


# --- operations -----------------------------------------------------------------------------------------------

def by_name(rows, figures):
    """Rows of one name become one; of the figures the first are sums, the last two least and most."""
    table = {}
    for row in rows:
        have = table.get(row["name"])
        new = [row[f] for f in figures]
        table[row["name"]] = new if have is None else [
            *(a + b for a, b in zip(have[:-2], new[:-2])), min(have[-2], new[-2]), max(have[-1], new[-1])]
    return table


def compare_ops(d, truth, summary, case):
    ops = d.worked_out(summary, "ops")
    if ops is None:
        return
    facts = case.facts.ops
    d.equal("ops.count", truth["total"]["kernel_count"], ops["count"])
    for figure in ("total_ps", "self_ps"):  # nothing that is generated lies in another operation
        d.equal(f"ops.{figure}", truth["total"]["kernel_total_ps"], ops[figure])
    d.equal("ops.distinct", len(facts), ops["distinct"])
    d.equal("ops.basis", "hlo_op", ops["basis"])
    rest = ops.get("rest") or {"rows": 0}
    rows = by_name(ops["rows"], ("count", "self_ps", "total_ps", "min_ps", "max_ps"))
    least = min((row[1] for row in rows.values()), default=0)
    for name, want in facts.items():
        if name not in rows and rest["rows"] > 0:
            d.equal(f"ops.rows[{name}] is in the rest", True, want.total <= least)
            continue
        count, total, shortest, longest = want.figures
        d.equal(f"ops.rows[{name}]: count, self, total, min, max", [count, total, total, shortest, longest],
                rows.get(name, MISSING))
    compare_op_totals(d, truth, rows, rest, case)
    compare_op_paths(d, ops, case)


def compare_op_totals(d, truth, rows, rest, case):
    """The generator's own sums; on a TPU the operation is the name."""
    totals = Counter()
    for device in devices_of(truth):
        if case.platform == "tpu":
            totals.update({name: row["total_ps"] for name, row in device["kernels"]["by_name"].items()})
        else:
            totals.update(device["kernels"]["by_hlo_op_total_ps"])
    for name, want in totals.items():
        if name and (name in rows or not rest["rows"]):
            d.equal(f"ops.rows[{name}].total_ps", want, rows.get(name, [0, 0, MISSING])[2])


def compare_op_paths(d, ops, case):
    """Where each comes from, and the devices that ran it."""
    if case.platform == "cpu":
        return
    for row in ops["rows"]:
        want = case.facts.ops[row["name"]].path if row["name"] in case.facts.ops else MISSING
        d.equal(f"ops.rows[{row['name']}].op", want, (row["op"] or "").rstrip(":"))


def compare_costs(d, truth, summary, case):
    """What the program's HLO says of each operation: floating-point operations and bytes of all executions, source
    line.  A JSON has no HLO; of a TPU it has what the events bear."""
    if not any(host["hlo"] for host in truth["hosts"]):
        return
    ops = d.worked_out(summary, "ops")
    if ops is None:
        return
    hlo = {name: op for host in truth["hosts"] for name, op in host["hlo"]["ops"].items()}
    for row in ops["rows"]:
        op, where = hlo.get(row["name"]), f"ops.rows[{row['name']}]"
        if op is None:
            continue
        for figure in ("flops", "bytes"):
            want = op[figure]
            if want is None or row["name"] in case.facts.collective_ops:
                continue  # no formula
            if op["flops"] is None and row["name"].startswith("custom-call"):
                null_with_reason(d, f"{where}.", row, figure)  # the compiler knows nothing of what is in it
                continue
            if row[figure] is None and case.is_json:
                null_with_reason(d, f"{where}.", row, figure)
            else:
                d.equal(f"{where}.{figure}", want * row["count"], row[figure])
        if not case.is_json:
            d.equal(f"{where}.source", op["source"], row["source"])


def compare_roofline(d, truth, summary, case):
    """Sums over what the HLO knows of.  Events of a TPU tell costs themselves, also of what the HLO has no formula for."""
    if case.is_json or not any(host["hlo"] for host in truth["hosts"]):
        return
    roofline = d.worked_out(summary, "roofline")
    if roofline is None:
        return
    if case.platform == "tpu":  # its events tell; what is begun and waited for is one operation
        d.equal("roofline.flops", case.facts.cost("flops"), roofline["flops"])
        d.equal("roofline.bytes", case.facts.cost("bytes_accessed"), roofline["bytes"])
        return
    # Every host runs the same program, and the counts are of all of them.
    hlo = truth["hosts"][0]["hlo"]["ops"]
    known = {name: row.count for name, row in case.facts.ops.items() if hlo.get(name, {}).get("flops")}
    d.equal("roofline.flops", sum(hlo[name]["flops"] * count for name, count in known.items()), roofline["flops"])


# --- scopes ---------------------------------------------------------------------------------------------------

def scopes_of(truth):
    """layer -> pass -> time; '-' is no layer."""
    table = defaultdict(Counter)
    for device in devices_of(truth):
        for key, total in device["scopes_total_ps"].items():
            layer, _, way = key.partition("/")
            table[layer][way] += total
    return table


def compare_scopes(d, truth, summary, case):
    if any(device["scopes_total_ps"] is None for device in devices_of(truth)):
        return
    scopes = d.worked_out(summary, "scopes")
    if scopes is None:
        return
    want = scopes_of(truth)
    layers = {row["layer"]: row for row in scopes["layers"]}
    d.equal("scopes.layers", sorted(set(want) - {"-"}), sorted(layers))
    for layer in sorted(set(want) & set(layers)):
        for way in PASSES:
            d.equal(f"scopes.layers[{layer}].{way}_ps", want[layer][way], layers[layer][f"{way}_ps"])
    unscoped = sum(row.total for row in case.facts.ops.values() if not row.path)
    d.equal("scopes.unscoped.self_ps", unscoped, scopes["unscoped"]["self_ps"])
    d.equal("scopes.self_ps", truth["total"]["kernel_total_ps"] - unscoped, scopes["self_ps"])
    for way in PASSES:  # what has no scope is in no pass
        whole = sum(row[way] for row in want.values())
        d.equal(f"scopes.passes.{way}", whole - (unscoped if way == "other" else 0), scopes["passes"][way])
    top = min((row["depth"] for row in scopes["rows"]), default=0)
    d.equal("scopes.rows: the outermost add up", scopes["self_ps"],
            sum(r["total_ps"] for r in scopes["rows"] if r["depth"] == top))


# --- kernels --------------------------------------------------------------------------------------------------

def compare_fusion(d, truth, summary, case):
    """Of class kernel only: the truth counts collectives in."""
    if case.platform != "gpu":
        return  # no kernels there: what is said of small operations has no truth of its own
    fusion = d.worked_out(summary, "fusion")
    if fusion is None:
        return
    devices = devices_of(truth)
    count = sum(v["kernels"]["count"] - v["collective"]["count"] for v in devices)
    d.equal("fusion.kernels.count", count, fusion["kernels"]["count"])
    d.equal("fusion.kernels.total_ps", sum(v["kernels"]["total_ps"] - v["collective"]["total_ps"] for v in devices),
            fusion["kernels"]["total_ps"])
    collectives = case.facts.small_collectives
    for i, figure in enumerate(("count", "total_ps")):
        d.equal(f"fusion.small.{figure}", sum(v["kernels"]["small"][figure] for v in devices) - collectives[i],
                fusion["small"][figure])
    d.equal("fusion.small.below_ps", devices[0]["kernels"]["small"]["below_ps"], fusion["small"]["below_ps"])
    steps = sum(host["steps"]["count"] * len(host["devices"]) for host in truth["hosts"])
    if all(v["kernels"]["count"] for v in devices):
        d.near("fusion.per_step", count / steps, fusion["per_step"])


def compare_occupancy(d, truth, summary, case):
    """Of class kernel only; the truth counts collectives in, all of one occupancy."""
    if case.platform != "gpu":
        d.equal("occupancy", None, summary["occupancy"])  # no event tells one
        return
    occupancy = d.worked_out(summary, "occupancy")
    if occupancy is None:
        return
    devices = devices_of(truth)
    collectives = sum(v["collective"]["total_ps"] for v in devices)
    known = sum(v["kernels"]["occupancy"]["time_ps"] for v in devices) - collectives
    weighted = sum(v["kernels"]["occupancy"]["weighted_milli_pct_ps"] for v in devices)
    d.equal("occupancy.known_ps", known, occupancy["known_ps"])
    d.equal("occupancy.unknown_ps", sum(v["kernels"]["total_ps"] for v in devices) - collectives - known,
            occupancy["unknown_ps"])
    d.near("occupancy.mean_pct", (weighted - COLLECTIVE_OCCUPANCY * collectives) / known / 1000 if known else None,
           occupancy["mean_pct"])
    d.equal("occupancy.histogram adds up", known, sum(row["total_ps"] for row in occupancy["histogram"]))


# --- collectives ----------------------------------------------------------------------------------------------

def is_begun_only(name):
    """The start of an asynchronous collective is no collective of its own: its done is."""
    return "-start" in name


def compare_collectives(d, truth, summary, case):
    devices = devices_of(truth)
    section = d.worked_out(summary, "collectives")
    if section is None:
        return
    total = section["total"]
    exposed = sum(v["collective"]["exposed_ps"] for v in devices)
    spent = sum(v["collective"]["total_ps"] for v in devices)
    d.equal("collectives.total.total_ps", spent, total["total_ps"])
    if d.worked_out(summary, "collectives.total.exposed_ps") is not None:
        d.equal("collectives.total.exposed_ps", exposed, at(total, "exposed_ps"))
        d.near("collectives.total.overlap_pct", 100 * (1 - exposed / spent) if spent else None, total["overlap_pct"])
    want, got = defaultdict(lambda: [0, 0]), defaultdict(lambda: [0, 0])
    for name, row in truth["total"]["kernels_by_name"].items():
        kind = next((kind for kind, words in KINDS if re.search(words, name)), None)
        if kind and (case.platform == "tpu" or name.startswith("nccl")):
            want[kind][0] += 0 if is_begun_only(name) else row["count"]
            want[kind][1] += row["total_ps"]
    for row in section["rows"]:
        got[row["kind"]][0] += row["count"]
        got[row["kind"]][1] += row["total_ps"]
    for kind in sorted(set(want) | set(got)):
        d.equal(f"collectives.rows[{kind}]: count, total", want.get(kind, MISSING), got.get(kind, MISSING))
    compare_message_bytes(d, truth, summary, case)


def compare_message_bytes(d, truth, summary, case):
    """The HLO tells what each moves.  A JSON has none."""
    hlo = {name: op for host in truth["hosts"] for name, op in ((host["hlo"] or {}).get("ops") or {}).items()}
    ran = [name for name in case.facts.collective_ops if "collective_bytes" in hlo.get(name, {})]
    if case.is_json or not ran or case.platform == "tpu":  # not all that ran on a TPU is in its HLO
        return
    want = sum(hlo[name]["collective_bytes"] * case.facts.ops[name].count for name in ran)
    section = summary["collectives"]
    if d.worked_out(summary, "collectives.total.bytes") is not None:
        d.equal("collectives.total.bytes", want, section["total"]["bytes"])
        groups = {hlo[name]["group_size"] for name in ran}
        d.equal("collectives.rows: sizes of the groups", sorted(groups),
                sorted({row["group_size"] for row in section["rows"]}, key=lambda g: (g is None, g)))


# --- the host -------------------------------------------------------------------------------------------------

def counts_of(truth):
    return sum((Counter(host["name_counts"]) for host in truth["hosts"]), Counter())


def compare_rows_by_name(d, summary, path, names):
    """Counts of the rows of a table against how often each name was written."""
    for row in d.worked_out(summary, path) or ():
        d.equal(f"{path}[{row['name']}].count", names.get(row["name"], MISSING), row["count"])


def compare_host(d, truth, summary, case):
    host = d.worked_out(summary, "host")
    if host is None:
        return
    names = counts_of(truth)
    if case.platform == "gpu":
        # The causes themselves are compared with the truth in truth.py; here, that the sum is of the right ones.
        idle = sum(v["gaps"]["by_cause"][cause]["total_ps"] for v in summary["devices"] for cause in HOST_CAUSES)
        d.equal("host.overhead_ps", idle, host["overhead_ps"])
        if d.worked_out(summary, "host.launches") is not None:
            d.equal("host.launches.count", sum(names[name] for name in LAUNCHES), host["launches"]["count"])
            steps = len({number for h in truth["hosts"] for number in h["steps"]["step_num"]})
            d.near("host.launches.per_step", host["launches"]["count"] / steps, host["launches"]["per_step"])
    if d.worked_out(summary, "host.sync") is not None:
        d.equal("host.sync.count", sum(names[name] for name in SYNCS), host["sync"]["count"])
        compare_rows_by_name(d, summary, "host.sync.rows", names)
    compare_rows_by_name(d, summary, "host.python", names)
    compare_rows_by_name(d, summary, "host.annotations", names)
    compare_threads(d, truth, summary, case)


def compare_threads(d, truth, summary, case):
    """Events with a length per thread; lines of one name are compared together."""
    instants = case.facts.instants(not case.is_json)
    threads = d.worked_out(summary, "host.threads")
    want, got = Counter(), Counter()
    for h in truth["hosts"]:
        for track in h["tracks"]:
            if track["plane"] == "/host:CPU":
                want[(h["host"], track["name"])] += track["json_events" if case.is_json else "xplane_events"]
    for row in threads or ():
        got[(row["host"], row["name"])] += row["events"]
    for key in sorted(got):
        d.equal(f"host.threads[{' '.join(key)}].events", want[key] - instants[key], got[key])


def compare_longest_compile(d, truth, summary, _):
    lengths = [event["dur_ps"] for host in truth["hosts"] for event in host["compiles"]["events"]]
    d.equal("compile.longest_ps", max(lengths, default=None), summary["compile"]["longest_ps"])


def compare_input(d, truth, summary, case):
    """What the files are."""
    files = sorted(f["bytes"] for f in truth["files"] if f["format"] == case.form)
    if case.form != "perfetto":
        d.equal("input.files: bytes", files, sorted(f["bytes"] for f in summary["input"]["files"]))
    if not case.is_json:
        want = {h["host"]: h["profile_start_time_ns"] for h in truth["hosts"]}
        d.equal("environment.hosts: begin_ns", want,
                {h["host"]: h["begin_ns"] for h in summary["environment"]["hosts"]})
        classes = summary["coverage"]["classes"]
        flights = sum(v["tpu"]["in_flight"][k]["count"] for v in devices_of(truth) if v["tpu"]
                      for k in ("copy", "collective"))
        d.equal("coverage.classes.tpu_async", flights, classes.get("tpu_async", 0))


SECTIONS = (compare_ops, compare_costs, compare_roofline, compare_scopes, compare_fusion, compare_occupancy,
            compare_collectives, compare_host, compare_longest_compile, compare_input)
