#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The critical path of each step: planted cases exactly, made profiles against a second implementation that asks all
activities, and the same bytes for any memory, and for hosts that are read by several processes.  Needs nothing
outside the repository."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import made_path  # noqa: E402
import make_profile  # noqa: E402
from differences import Differences  # noqa: E402
from slow_figures import Run  # noqa: E402
from slow_path import KINDS, WITHOUT, paths_of, replays_of  # noqa: E402
from slow_steps import forget  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, summary_of  # noqa: E402

US = 1_000_000
SEEDS = range(1, 13)


def parts_of(row):
    return {kind: row[f"{kind}_ps"] for kind in KINDS if row[f"{kind}_ps"]}


def check_sums(d, path):
    """What holds for every section."""
    for row in path["rows"]:
        d.equal(f"step {row['number']}: parts", row["total_ps"], sum(parts_of(row).values()))
        d.equal(f"step {row['number']}: bound by", max(row[f"{kind}_ps"] for kind in KINDS), row[f"{row['bound_by']}_ps"])
    d.equal("steps", path["steps"], len(path["rows"]) + path["rest"]["rows"])
    d.equal("total_ps", path["total_ps"], sum(row["total_ps"] for row in path["rows"]) + path["rest"]["total_ps"])
    for kind in KINDS if not path["rest"]["rows"] else ():
        d.equal(f"by_kind.{kind}", sum(row[f"{kind}_ps"] for row in path["rows"]), path["by_kind"][kind]["total_ps"])
    listed = sum(row["total_ps"] for row in path["contributors"]) + path["contributors_rest"]["total_ps"]
    d.equal("contributors", path["total_ps"], listed)
    d.equal("steps bound", path["steps"], sum(row["steps"] for row in path["by_kind"].values()))
    busy = sum(path["by_kind"][kind]["total_ps"] for kind in ("compute", "collective", "copy"))
    d.equal("devices", busy, sum(row["total_ps"] for row in path["devices"]))


def check_replays(d, path, run):
    """All steps of a small profile are replayed."""
    replay, want = path["replay"], replays_of(run)
    d.equal("replayed", (path["steps"], path["total_ps"]), (replay["steps"], replay["total_ps"]))
    d.equal("without nothing", (0, 0), (want["nothing"], replay["error_ps"]))
    got = {row["without"]: row["saved_ps"] for row in replay["rows"]}
    d.equal("kinds", WITHOUT, tuple(got))
    for kind in WITHOUT:
        d.equal(f"without {kind}", True, abs(want[kind] - got[kind]) <= 1)
        if kind in KINDS[4:]:  # of the host
            d.equal(f"{kind}: at most its time on the path", True, got[kind] <= path["by_kind"][kind]["total_ps"] + 1)


def check_planted(tap):
    space, truth = made_path.make()
    with Scratch() as folder:
        path = folder / "host0.xplane.pb"
        path.write_bytes(space.encode())
        result, summary = summary_of(path, folder / "out", "--steps", "all")
        d = Differences("planted")
        rows = summary["critical_path"]["rows"] if summary else []
        d.equal("steps", len(truth), len(rows))
        for row, (name, length, parts) in zip(rows, truth):
            d.equal(f"{name}: length", length * US, row["total_ps"])
            d.equal(f"{name}: parts", {kind: us * US for kind, us in parts.items()}, parts_of(row))
        switches = [row["switches"] for row, (name, _, _) in zip(rows, truth) if name == "straggler"]
        d.equal("straggler: the path goes to the late device", [1] * len(switches), switches)
        d.part(lambda d: check_sums(d, summary["critical_path"]))
        tap.ok(result.status == 0 and not d.wrong, f"planted paths: {d.compared} figures", d.report())
        top = summary["critical_path"]["contributors"][0]
        want = sum(parts.get("host", 0) for _, _, parts in truth)
        tap.ok((top["kind"], top["name"], top["total_ps"]) == ("host", "train", want * US),
               "what costs most is named", str(top))


def check_findings(tap):
    """Potential savings of findings beside what a replay saves: where they agree, and where other work is hidden."""
    for case, devices, finding, without, measured, saved in made_path.FINDINGS:
        space, truth = made_path.make(20, (case,), devices)
        with Scratch() as folder:
            path = folder / "host0.xplane.pb"
            path.write_bytes(space.encode())
            _, summary = summary_of(path, folder / "out", "--steps", "all")
        d = Differences(finding)
        found = [f for f in summary["findings"] if f["id"] == finding]
        d.equal("found", 1, len(found))
        if found:
            replay, steps = found[0]["replay"], len(truth)
            for row, (_, _, parts) in zip(summary["critical_path"]["rows"], truth):
                d.equal("parts", {kind: us * US for kind, us in parts.items()}, parts_of(row))
            d.equal("without", without, replay["without"])
            d.equal("measured", measured * US * devices * steps, replay["measured_ps"])
            d.near("saved_pct", 100 * saved / truth[0][1], replay["saved_pct"])
            d.equal("saved", True, abs(found[0]["window_ps"] * saved / truth[0][1] - replay["saved_ps"]) <= 1)
            shown = replay["saved_ps"] if saved < 0.9 * measured else measured * US * devices * steps
            d.equal("shown", shown, found[0]["at_stake_ps"])
            d.equal("explained", saved < 0.9 * measured, replay["difference"] is not None)
            d.equal("in the evidence", replay["difference"] is not None, replay["difference"] in found[0]["evidence"])
        tap.ok(not d.wrong, f"{case.__name__}: {d.compared} figures", d.report())


def check_made(tap):
    for seed in SEEDS:
        space = make_profile.gpu(seed=seed, steps=3 + seed % 4, devices=1 + seed % 4, per_step=10 + 7 * (seed % 5))
        with Scratch() as folder:
            path = folder / "host0.xplane.pb"
            path.write_bytes(space.encode())
            _, summary = summary_of(path, folder / "out", "--steps", "all")
            d = Differences(f"seed {seed}")
            walks = paths_of(Run(path))
            forget()
            rows = {row["number"]: row for row in summary["critical_path"]["rows"]}
            d.equal("steps", sorted(walks), sorted(rows))
            for number, walk in walks.items():
                row = rows[number]
                d.equal(f"step {number}: parts", {k: v for k, v in walk.parts.items() if v}, parts_of(row))
                d.equal(f"step {number}: on the path", walk.on_path, row["on_path"])
            d.part(lambda d: check_sums(d, summary["critical_path"]))
            d.part(lambda d: check_replays(d, summary["critical_path"], Run(path)))
            forget()
            tap.ok(not d.wrong, f"made profile, seed {seed}: {d.compared} figures", d.report())


def check_others(tap):
    """TPUs: ops in each other; CPUs: none."""
    for kind, is_there in (("tpu", True), ("cpu", False)):
        with Scratch() as folder:
            path = folder / "host0.xplane.pb"
            path.write_bytes(make_profile.MAKERS[kind](seed=3, steps=4).encode())
            _, summary = summary_of(path, folder / "out", "--steps", "all")
            d = Differences(kind)
            if is_there:
                d.part(lambda d: check_sums(d, summary["critical_path"]))
                d.equal("compute", True, summary["critical_path"]["by_kind"]["compute"]["total_ps"] > 0)
            else:
                d.equal("none", None, summary["critical_path"])
                d.equal("why", True, len(summary["why"]["critical_path"]) > 10)
            tap.ok(not d.wrong, f"{kind}: {d.compared} figures", d.report())


def check_bytes(tap):
    """Two hosts, by one process and by two, and with little memory."""
    with Scratch() as folder:
        run = folder / "run"
        run.mkdir()
        for host in ("a", "b"):
            space = make_profile.gpu(seed=5, steps=60, devices=3, host=host, per_step=100)
            (run / f"{host}.xplane.pb").write_bytes(space.encode())
        found = []
        for options in (("--jobs", "1"), ("--jobs", "2"), ("--memory", "32M"), ("--jobs", "1", "--memory", "1G")):
            _, summary = summary_of(run, folder / f"out{len(found)}", *options)
            found.append(summary["critical_path"])
        d = Differences("two hosts")
        d.equal("hosts", {"a", "b"}, {row["host"] for row in found[0]["rows"]})
        d.part(lambda d: check_sums(d, found[0]))
        tap.ok(not d.wrong and all(other == found[0] for other in found),
               "the same for any number of processes and any memory", d.report())


def check_across(tap):
    """Collectives of several hosts: the path through them and its replays are known; the same for any processes."""
    spaces, truth = made_path.across()
    with Scratch() as folder:
        run = folder / "run"
        run.mkdir()
        for host, space in spaces.items():
            (run / f"{host}.xplane.pb").write_bytes(space.encode())
        found = []
        for options in (("--jobs", "1"), ("--jobs", "2"), ("--jobs", "3", "--memory", "32M")):
            _, summary = summary_of(run, folder / f"out{len(found)}", "--steps", "all", *options)
            found.append(summary["collectives"]["skew"]["critical_path"])
    path, d = found[0], Differences("three hosts")
    d.equal("devices", {**dict.fromkeys((row["device"] for row in path["devices"]), 0), **truth["path"]},
            {row["device"]: row["total_ps"] / US for row in path["devices"]})
    d.equal("move_ps", truth["move"] * US, path["move_ps"])
    d.equal("total_ps", path["total_ps"], path["move_ps"] + sum(row["total_ps"] for row in path["devices"]))
    d.equal("collectives", (20, 20), (path["collectives"], path["on_path"]))
    d.equal("host_switches", truth["host_switches"], path["host_switches"])
    d.equal("without stragglers", truth["stragglers"] * truth["devices"] * US, path["stragglers_saved_ps"])
    want = truth["imbalance"] * truth["devices"] * US
    d.equal("without imbalance", True, abs(want - path["imbalance_saved_ps"]) <= 20 * truth["devices"])
    tap.ok(not d.wrong and found == [path] * 3, f"collectives of three hosts: {d.compared} figures", d.report())
    d, total = Differences("findings"), summary["total"]
    replayed = {f["id"]: f["replay"] for f in summary["findings"] if f["id"] in ("straggler", "slow_device")}
    d.equal("replayed", {"straggler": ["stragglers"], "slow_device": ["imbalance"]},
            {name: replay["without"] for name, replay in replayed.items()})
    part = replayed["straggler"]["measured_ps"] / total["exposed_wait_ps"]
    d.near("stragglers", part * 100 * path["stragglers_saved_ps"] / total["window_ps"], replayed["straggler"]["saved_pct"])
    d.near("imbalance", 100 * path["imbalance_saved_ps"] / total["window_ps"], replayed["slow_device"]["saved_pct"])
    tap.ok(not d.wrong, "findings on late devices of several hosts are checked by a replay", d.report())


def main():
    tap = Tap()
    check_across(tap)
    check_planted(tap)
    check_findings(tap)
    check_made(tap)
    check_others(tap)
    check_bytes(tap)
    tap.done()


if __name__ == "__main__":
    main()
