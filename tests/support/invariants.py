# SPDX-License-Identifier: Apache-2.0
"""What holds inside any summary, whatever the input: parts add up to their whole, exactly."""

import re


def _sum(values):
    return sum(v for v in values if v is not None)


def _over_time(differences, where, device):
    """The stretches span the recording, none is busier than it is long, and together they hold what counts."""
    use = device["utilization"]
    begin, end, width = use["begin_ps"], use["end_ps"], use["bin_ps"]
    edges = [begin, *range((begin // width + 1) * width, end, width), end] if end > begin else []
    differences.equal(f"{where}.utilization has a figure per stretch", max(len(edges) - 1, 0), len(use["busy_ps"]))
    for i, busy in enumerate(use["busy_ps"]):
        if not 0 <= busy <= edges[i + 1] - edges[i]:
            differences.equal(f"{where}.utilization.busy_ps[{i}]", f"0 to {edges[i + 1] - edges[i]}", busy)
    counted, whole = device["busy_ps"] - (device["wait_ps"] or 0), sum(use["busy_ps"])
    if counted > whole:
        differences.equal(f"{where}.utilization holds what counts", f"at least {counted}", whole)


def _device(differences, where, device):
    parts = [device[k] for k in ("compute_ps", "exposed_collective_ps", "exposed_copy_ps")]
    if device["busy_ps"] is None:
        return
    differences.equal(f"{where}.busy is the sum of its parts", device["busy_ps"], _sum(parts))
    differences.equal(f"{where}.idle is span - busy", device["span_ps"] - device["busy_ps"], device["idle_ps"])
    if device.get("exposed_by_direction_ps"):
        differences.equal(f"{where}.exposed copy is the sum of its directions", device["exposed_copy_ps"],
                          _sum(device["exposed_by_direction_ps"].values()))
    _over_time(differences, where, device)
    gaps = device["gaps"]
    differences.equal(f"{where}.gaps are the idle time", device["idle_ps"], gaps["total_ps"])
    if gaps.get("by_cause"):
        differences.equal(f"{where}.causes add up to idle", device["idle_ps"],
                          _sum(c["total_ps"] for c in gaps["by_cause"].values()))
        differences.equal(f"{where}.every gap has one cause", gaps["count"],
                          _sum(c["count"] for c in gaps["by_cause"].values()))
    for i in range(1, len(gaps["longest"])):
        if gaps["longest"][i]["dur_ps"] > gaps["longest"][i - 1]["dur_ps"]:
            differences.equal(f"{where}.longest gaps are in order", "descending", gaps["longest"][i])


def _tables(differences, summary):
    kernels = summary.get("kernels")
    if kernels:
        for table, rest in (("rows", "rest"), ("by_name", "by_name_rest")):
            for figure in ("count", "total_ps"):
                differences.equal(f"kernels.{table} and the rest add up to {figure}", kernels[figure],
                                  _sum(r[figure] for r in kernels[table]) + ((kernels.get(rest) or {}).get(figure) or 0))
        variants = {}
        for row in kernels["rows"]:
            variants[row["name"]] = variants.get(row["name"], 0) + 1
        if not kernels["rest"]["rows"] and len(variants) == kernels["distinct_names"]:  # no two names are cut alike
            for row in kernels["by_name"]:
                differences.equal(f"kernels.by_name[{row['name'][:40]}].variants",
                                  variants.get(row["name"], row["variants"]), row["variants"])
        differences.equal("kernels.by_category adds up", kernels["total_ps"],
                          _sum(r["total_ps"] for r in kernels["by_category"]))
    parts = (summary.get("steps") or {}).get("parts")
    if parts:
        whole = parts["compute_ps"] + parts["exposed_collective_ps"] + _sum(parts["exposed_copy_ps"].values()) \
            + _sum(parts["idle_ps"].values())
        differences.equal("steps.parts add up", parts["total_ps"], whole)


NUMBERS = re.compile(r"(?<=.)([._]\d+|\.clone\d*|\.remat\d*)+$", re.DOTALL)
LAYER = re.compile(r"(?<=[_.\[])\d+(?=$|[/\].:,)])")


BARE = ("fusion", "loop_fusion", "input_fusion", "output_fusion", "custom_fusion", "ynn_fusion", "xnn_fusion",
        "onednn_fusion", "call", "command_buffer")


def _without(numbers, mark, text):
    """A text that is cut where it is read stays as it is."""
    return text if len(text.encode()) >= 4096 else numbers.sub(mark, text)


def _families(differences, ops, steps):
    """Families out of the rows of operations, where all are listed and no text is cut."""
    for figure, whole in (("members", "distinct"), ("count", "count"), ("self_ps", "self_ps"), ("total_ps", "total_ps")):
        differences.equal(f"ops.families and the rest add up to {whole}", ops[whole],
                          _sum(r[figure] for r in ops["families"]) + ops["families_rest"][figure])
    texts = [r["name"] for r in ops["rows"]] + [r["op"] or "" for r in ops["rows"]]
    if ops["rest"]["rows"] or ops["families_rest"]["rows"] or any(t.endswith("...") for t in texts):
        return
    want, got = {}, {}
    for r in ops["rows"]:
        name = _without(NUMBERS, "", r["name"])
        name = r["name"] if name in BARE and not r["op"] else name
        sums = want.setdefault((name, _without(LAYER, "*", r["op"] or "")), [0, 0, 0, 0])
        for i, value in enumerate((1, r["count"], r["self_ps"], r["total_ps"])):
            sums[i] += value
        family = ops["families"][r["family"]]
        differences.equal(f"ops.rows[{r['name'][:60]}] is of its family", name, family["family"])
    for r in ops["families"]:
        got[r["family"], r["op"] or ""] = [r["members"], r["count"], r["self_ps"], r["total_ps"]]
    differences.equal("ops.families: those that differ", {}, {k: (want.get(k), got.get(k)) for k in set(want) | set(got)
                                                             if want.get(k) != got.get(k)})
    one = {k for k, s in want.items() if s[0] == 1 or s[0] > max(1, steps or 0)}
    differences.equal("ops.families: those that count as one", one,
                      {(r["family"], r["op"] or "") for r in ops["families"] if r["counts_as_one"]})
    lengths = [want[k][2] for k in one] + [r["self_ps"] for r in ops["rows"]
                                           if not ops["families"][r["family"]]["counts_as_one"]]
    lengths, first, whole = sorted(lengths, reverse=True), 0, 0
    while whole * 100 < ops["self_ps"] * 80:
        whole, first = whole + lengths[first], first + 1
    differences.equal("ops.rows_for_80_pct", first, ops["rows_for_80_pct"])
    if ops["self_ps"]:
        differences.near("ops.top_share_pct", 100 * lengths[0] / ops["self_ps"], ops["top_share_pct"])


def _operations(differences, summary):
    """Operations and the roofline: of a version that has them."""
    ops, roofline = summary.get("ops"), summary.get("roofline")
    if not ops or not roofline:
        return
    for figure in ("count", "self_ps", "total_ps"):
        differences.equal(f"ops.rows and the rest add up to {figure}", ops[figure],
                          _sum(r[figure] for r in ops["rows"]) + ops["rest"][figure])
    _families(differences, ops, (summary.get("steps") or {}).get("chosen"))
    differences.equal("ops.rows are in order", sorted((-r["self_ps"] for r in ops["rows"])),
                      [-r["self_ps"] for r in ops["rows"]])
    differences.equal("roofline.bound_ps adds up", roofline["compute_ps"], _sum(roofline["bound_ps"].values()))
    differences.equal("roofline.precisions add up", roofline["compute_ps"],
                      _sum(r["total_ps"] for r in roofline["precisions"]))
    differences.equal("roofline.busy_ps is the devices'", roofline["busy_ps"],
                      _sum(r["busy_ps"] for r in roofline["devices"]))
    if summary["steps"] and summary["steps"]["chosen"] == summary["steps"]["count"]:
        differences.equal("roofline.devices are as busy as the devices", [d["busy_ps"] for d in summary["devices"]],
                          [r["busy_ps"] for r in roofline["devices"]])


PARTS = ("exposed_wait_ps", "exposed_move_ps", "exposed_unmatched_ps")


def _at_most(differences, where, exposed, total):
    if exposed is not None and total is not None and exposed > total:
        differences.equal(f"{where}: exposed time is part of the time", f"at most {total}", exposed)


def check_communication(differences, summary):
    """Rows of transfers and collectives: all columns are over the same events, and with what lies outside of the chosen
    steps they add up to the devices."""
    devices = summary.get("devices") or []
    transfers = (summary.get("transfers") or {}).get("by_direction")
    for row in transfers or ():
        where = f"transfers.{row['direction']}"
        _at_most(differences, where, row["exposed_ps"], row["total_ps"])
        _at_most(differences, f"{where}.outside", row["outside"]["exposed_ps"], row["outside"]["total_ps"])
        if row["mean_bandwidth"] and row["max_bandwidth"] and summary["environment"]["platform"] == "gpu" and \
                row["mean_bandwidth"] > row["max_bandwidth"] * (1 + 1e-9):
            differences.equal(f"{where}: the mean rate is at most the best", row["max_bandwidth"], row["mean_bandwidth"])
    if transfers is not None and all(d.get("exposed_by_direction_ps") for d in devices):
        rows = {r["direction"]: r["exposed_ps"] + r["outside"]["exposed_ps"] for r in transfers}
        for way in devices[0]["exposed_by_direction_ps"] if devices else ():
            differences.equal(f"transfers.{way} and what is outside are the devices' exposed copies",
                              _sum(d["exposed_by_direction_ps"][way] for d in devices), rows.get(way, 0))
    collectives = summary.get("collectives")
    if not collectives:
        return
    whole = [(r, r["kind"], r["exposed_ps"]) for r in collectives["rows"]]
    whole += [(collectives[k], k, collectives[k]["exposed_ps"]) for k in ("rest", "total", "outside")]
    whole += [(d, d["id"], d["exposed_collective_ps"]) for d in [*devices, {**summary["total"], "id": "total"}]]
    for place, name, exposed in whole:
        if exposed is not None:
            differences.equal(f"collectives.{name}: waiting, moving and unmatched are the exposed time", exposed,
                              _sum(place[part] for part in PARTS))
    for row in (*collectives["rows"], collectives["rest"], collectives["total"]):
        _at_most(differences, f"collectives.{row.get('kind')}", row["exposed_ps"], row["total_ps"])
    for part in ("exposed_ps", *PARTS):
        differences.equal(f"collectives: rows and the rest add up to {part}", collectives["total"][part] or 0,
                          _sum(r[part] for r in (*collectives["rows"], collectives["rest"])))
    if all(d["exposed_collective_ps"] is not None for d in devices):
        differences.equal("collectives and what is outside are the devices' exposed collectives",
                          _sum(d["exposed_collective_ps"] for d in devices),
                          collectives["total"]["exposed_ps"] + collectives["outside"]["exposed_ps"])
    members = (collectives["skew"] or {}).get("members") or ()
    if collectives["skew"] and collectives["skew"]["wait_ps"] is not None:
        differences.equal("collectives.skew: the devices cause what is waited for", collectives["skew"]["wait_ps"],
                          _sum(m["caused_ps"] for m in members))


def _conclusions(differences, summary):
    """No idle time is saved twice, and what is outside its band has a finding or a reason."""
    total = summary.get("total") or {}
    claimed = _sum(f["idle_ps"] for f in summary["findings"])
    if claimed > (total.get("idle_ps") or 0):
        differences.equal("findings save no more idle time than there is", total.get("idle_ps"), claimed)
    ids = {f["id"] for f in summary["findings"]}
    for kpi in summary["kpis"]:
        if kpi["band"] in ("warning", "bad") and kpi["finding"] not in ids and not kpi["why"]:
            differences.equal(f"{kpi['id']} is {kpi['band']}", "a finding or a reason", None)


def check(differences, summary):
    """Compare what must be equal within `summary`; differences: a Differences."""
    devices = summary.get("devices") or []
    for device in devices:
        _device(differences, device["id"], device)
    total = summary.get("total")
    if total and devices:
        differences.equal("total.devices", len(devices), total["devices"])
        for figure in ("busy_ps", "idle_ps", "compute_ps", "collective_ps", "exposed_collective_ps", "copy_ps",
                       "exposed_copy_ps"):
            differences.equal(f"total.{figure}", _sum(d[figure] for d in devices), total[figure])
    gaps = summary.get("gaps")
    if gaps and devices:
        differences.equal("gaps.count", _sum(d["gaps"]["count"] for d in devices), gaps["count"])
        differences.equal("gaps.total_ps", _sum(d["gaps"]["total_ps"] for d in devices), gaps["total_ps"])
    _tables(differences, summary)
    _operations(differences, summary)
    check_communication(differences, summary)
    _conclusions(differences, summary)
