#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--steps, --skip-steps and --window choose what the figures are of, and nothing else; `config show` tells what was
chosen, and the thresholds that hold."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from differences import Differences  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run, summary_of  # noqa: E402

STEPS, SESSION_PS = 8, 2_000_000_000 * 1000


def events_of(path):
    return [e for e in json.loads(path.read_text(encoding="utf-8"))["traceEvents"] if e.get("ph") == "X"]


def extent_of(path):
    """First begin to last end of the events of a JSON, in picoseconds; a length of 1 ps stands for 0."""
    spans = [(round(e["ts"] * 10**6), round(e["ts"] * 10**6) + round(e["dur"] * 10**6)) for e in events_of(path)]
    return min(s[0] for s in spans), max(s[1] for s in spans)


def chosen_of(summary):
    return [i for i, row in enumerate(summary["steps"]["list"]) if row["chosen"]]


def compare_range(d, every, summary, first, last):
    """The figures are of the steps `first` up to but not `last`."""
    d.equal("steps.chosen", last - first, summary["steps"]["chosen"])
    d.equal("steps.count", STEPS, summary["steps"]["count"])
    d.equal("chosen", list(range(first, last)), chosen_of(summary))
    for whole, part in zip(every["devices"], summary["devices"]):
        wanted = [whole["steps"][k][first:last] for k in ("busy_ps", "activities", "first_ps", "last_ps")]
        d.equal(f"{part['id']}.busy_ps", sum(wanted[0]), part["busy_ps"])
        d.equal(f"{part['id']}.activities", sum(wanted[1]), part["activities"])
        d.equal(f"{part['id']}.last_ps", max(wanted[3]), part["last_ps"])
    compare_window(d, every, summary, first, last)
    d.equal("window.mode", "steps", summary["window"]["mode"])


def compare_window(d, every, summary, first, last):
    """From the end of the step before, or the start of the first one, to the end of the last one; the steps fill it."""
    ends = [max(device["steps"]["last_ps"][k] for device in every["devices"]) for k in range(STEPS)]
    start = min([every["steps"]["list"][0]["begin_ps"]] + [device["steps"]["first_ps"][0] for device in every["devices"]])
    window = [ends[first - 1] if first else start, ends[last - 1]]
    row = summary["window"]["hosts"][0]
    d.equal("window", window, [row["begin_ps"], row["end_ps"]])
    d.equal("the steps add up to the window", row["span_ps"], row["steps_ps"])
    for part in summary["devices"]:
        d.equal(f"{part['id']}: busy and idle", window[1] - window[0], part["busy_ps"] + part["idle_ps"])


def compare_session(d, every, summary, begin, end):
    """The same busy time, as a share of the whole session."""
    host = summary["window"]["hosts"][0]
    d.equal("window.mode", "session", summary["window"]["mode"])
    d.equal("window", [begin, end], [host["begin_ps"], host["end_ps"]])
    d.equal("window.total_ps", len(summary["devices"]) * (end - begin), summary["window"]["total_ps"])
    for whole, part in zip(every["devices"], summary["devices"]):
        d.equal(f"{part['id']}.busy_ps", whole["busy_ps"], part["busy_ps"])
        d.equal(f"{part['id']}.lead_ps", whole["first_ps"] - begin, part["lead_ps"])
        d.equal(f"{part['id']}.trail_ps", end - whole["last_ps"], part["trail_ps"])
        share = 100 * (part["busy_ps"] - (part["wait_ps"] or 0)) / (end - begin)
        d.equal(f"{part['id']}.utilization_pct", round(share, 9), round(part["utilization_pct"], 9))


def check(tap, folder, name, path, session):
    every = summary_of(path, folder / "all", "--steps", "all")[1]
    if every is None:
        tap.ok(False, f"{name}: --steps all")
        return
    for text, first, last in (("2:5", 2, 5), (":3", 0, 3), ("6:", 6, STEPS), ("0:100", 0, STEPS)):
        result, summary = summary_of(path, folder / "range", "--steps", text)
        d = Differences(f"{name}, --steps {text}")
        d.part(compare_range, every, summary, first, last)
        tap.ok(result.status == 0 and not d.wrong, f"{name}: --steps {text}", d.report(), result)
    result, summary = summary_of(path, folder / "skip", "--skip-steps", "3")
    steps = summary["steps"]
    tap.ok(steps["warmup"] == 3 and chosen_of(summary) == [i for i in range(3, STEPS - steps["incomplete"])],
           f"{name}: --skip-steps 3", f"chosen: {chosen_of(summary)}", result)
    result, summary = summary_of(path, folder / "none", "--skip-steps", "0")
    tap.ok(summary["steps"]["warmup"] == 0, f"{name}: --skip-steps 0", result)
    result, summary = summary_of(path, folder / "session", "--steps", "all", "--window", "session")
    d = Differences(f"{name}, --window session")
    d.part(compare_session, every, summary, *session)
    tap.ok(result.status == 0 and not d.wrong, f"{name}: --window session", d.report(), result)


def profiles(tap):
    for kind in ("gpu", "tpu", "cpu"):
        space = make_profile.MAKERS[kind](seed=4, steps=STEPS)
        with Scratch() as folder:
            path = folder / "host0.xplane.pb"
            path.write_bytes(space.encode())
            check(tap, folder, kind, path, (0, SESSION_PS))
        with Scratch() as folder:
            path = folder / "host0.trace.json"
            path.write_bytes(make_profile.chrome_json(space))
            check(tap, folder, f"{kind}, JSON", path, extent_of(path))


# --- config show ----------------------------------------------------------------------------------------------

def settings(tap):
    for key, flag, value in (("steps", "--steps", "2:5"), ("skip_steps", "--skip-steps", "1"),
                             ("window", "--window", "session")):
        shown = json.loads(run("config", "show", "--json", flag, value).out)
        tap.ok(shown[key]["value"] == value and shown[key]["from"] == flag, f"config show tells {flag}", shown[key])
    shown = json.loads(run("config", "show", "--json", TRACEMILL_STEPS="all").out)
    tap.ok(shown["steps"] == {"value": "all", "from": "TRACEMILL_STEPS", "environment": "TRACEMILL_STEPS"},
           "and its source", shown["steps"])
    result = run("config", "show", "--steps", "5:2")
    tap.ok(result.status == 2, "a choice of nothing is refused", result)


def thresholds(tap, folder):
    path = folder / "mine.json"
    path.write_text(json.dumps({"kpis": [{"id": "step_time", "good": 100, "bad": 150}],
                                "limits": [{"id": "critical_share", "value": 12}]}), encoding="utf-8")
    plain = json.loads(run("config", "show", "--json").out)["threshold_table"]
    changed = json.loads(run("config", "show", "--json", "--thresholds", path).out)["threshold_table"]
    for table, key in (("kpis", "step_time"), ("limits", "critical_share")):
        was = {row["id"]: row for row in plain[table]}
        now = {row["id"]: row for row in changed[table]}
        tap.ok({r for r in now if now[r]["from"] != "default"} == {key}, f"config show tells what a file changes: {table}")
        tap.ok(all(row["from"] == "default" for row in was.values()), f"and that nothing does without: {table}")
    tap.ok(next(r for r in changed["kpis"] if r["id"] == "step_time")["good"] == 100, "the value is that of the file")
    result = run("config", "show", "--thresholds", path)
    rows = [line for line in result.out.splitlines() if str(path) in line and not line.startswith("thresholds ")]
    tap.ok(result.status == 0 and len(rows) == 2, "the table for people marks both rows", result)
    path.write_text('{"kpis": [{"id": "step_tim", "good": 1}]}', encoding="utf-8")
    result = run("config", "show", "--thresholds", path)
    tap.ok(result.status == 2 and "step_tim" in result.err, "a wrong file is refused", result)


def main():
    tap = Tap()
    profiles(tap)
    settings(tap)
    with Scratch() as folder:
        thresholds(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
