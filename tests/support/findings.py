# SPDX-License-Identifier: Apache-2.0
"""The findings of a summary: which are about the run, which comes first, and the rules that hold for all of them."""

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = json.loads((ROOT / "schemas" / "findings.json").read_text(encoding="utf-8"))
# About the profile: what it lacks, not what the run suffers from.
OF_THE_PROFILE = tuple(row["id"] for row in TABLE["findings"] if row.get("about") == "profile")
WARNING_PCT, BAD_PCT = 3.0, 10.0


def about_the_run(findings):
    return [f for f in findings if f["id"] not in OF_THE_PROFILE]


def first_by_stake(findings):
    """The one with most time at stake, of equals the one that is told first; None where none has any."""
    timed = [f for f in findings if f["at_stake_ps"]]
    return max(timed, key=lambda f: f["at_stake_ps"], default=None)


def _order(findings, _):
    stakes = [f["at_stake_ps"] or 0 for f in about_the_run(findings)]
    return [] if stakes == sorted(stakes, reverse=True) else [f"stakes {stakes}"]


def _severity(findings, window_ps):
    bad = []
    for f in about_the_run(findings):
        if not f["at_stake_ps"] or not window_ps:
            continue  # a fact has a severity of its own
        share = f["share_pct"]  # of the windows of the devices that it is about
        if share < 100 * f["at_stake_ps"] / window_ps - 1e-6 or not 0 < f["window_ps"] <= window_ps:
            bad.append(f"{f['id']}: {share}% of {f['window_ps']} for {f['at_stake_ps']} of {window_ps}")
        want = "critical" if share >= BAD_PCT else "warning" if share >= WARNING_PCT else "info"
        if f["severity"] != want:
            bad.append(f"{f['id']} with {share:.1f}% at stake is '{f['severity']}', not '{want}'")
    return bad


def _most(findings, summary):
    """What is at stake is there: no more than the time that the finding is about."""
    total, gaps = summary["total"] or {}, summary["gaps"] or {"by_cause": {}}
    copies = {}
    for device in summary["devices"]:
        for direction, ps in (device["exposed_by_direction_ps"] or {}).items():
            copies[direction] = copies.get(direction, 0) + (ps or 0)
    limits = {"straggler": total.get("exposed_collective_ps"), "collective_exposed": total.get("exposed_collective_ps")}
    limits.update({f"idle_{cause}": row["total_ps"] for cause, row in gaps["by_cause"].items()})
    limits.update({f"transfer_{way}": ps for way, ps in copies.items()})
    limits.update({f"transfer_repeated_{way}": ps for way, ps in copies.items()})
    bad = []
    for f in findings:
        limit = limits.get(f["id"], summary["window"]["total_ps"])
        if f["at_stake_ps"] and limit is not None and f["at_stake_ps"] > limit:
            bad.append(f"{f['id']}: {f['at_stake_ps']} at stake, {limit} there")
    return bad


def _disjoint(findings, summary):
    """No idle time is in two findings, and what is at stake beyond it was not idle."""
    idle, busy = (summary["total"] or {}).get("idle_ps") or 0, (summary["total"] or {}).get("busy_ps") or 0
    claimed = sum(f["idle_ps"] for f in findings)
    bad = [f"{claimed} of {idle} is claimed"] if claimed > idle else []
    return bad + [f"{f['id']}: {f}" for f in findings
                  if f["at_stake_ps"] - f["idle_ps"] > busy and not f["id"].startswith("fallback")]


def first_screen(summary):
    """A figure outside its band has a finding, or says why it costs nothing."""
    ids = {f["id"] for f in summary["findings"]}
    bad = []
    for kpi in summary["kpis"]:
        if kpi["band"] in ("warning", "bad") and not kpi["finding"] and not kpi["why"]:
            bad.append(f"{kpi['id']} is {kpi['band']}, and nothing says why")
        if kpi["finding"] and kpi["finding"] not in ids:
            bad.append(f"{kpi['id']}: no finding {kpi['finding']}")
    return bad


def _evidence(findings, _):
    return [f"{f['id']} has no {part}" for f in findings for part in ("title", "cause", "evidence", "fix")
            if not f[part]]


def _where(findings, summary):
    """Where to look is a stretch of time, of a device or a host of the run where one is named."""
    devices = {device["id"] for device in summary["devices"]} | set(summary["input"]["hosts"])
    bad = []
    for f in findings:
        for place in f["where"]:
            if place["end_ps"] < place["begin_ps"] or (place["device"] and place["device"] not in devices):
                bad.append(f"{f['id']}: {place}")
    return bad


def problems_of(summary):
    """rule -> what breaks it"""
    findings, window_ps = summary["findings"], (summary["window"] or {}).get("total_ps") or 0
    return {
        "findings are in the order of their time at stake": _order(findings, window_ps),
        "severity follows from the time at stake": _severity(findings, window_ps),
        "no more is at stake than there is": _most(findings, summary),
        "no idle time is at stake twice": _disjoint(findings, summary),
        "every finding has a title, a cause, evidence and something to do": _evidence(findings, window_ps),
        "where to look is a time of a device or a host of the run": _where(findings, summary),
    }
