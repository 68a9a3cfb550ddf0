#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Devices of others (make_foreign.py): what runs on them is analyzed, or named and counted, and never taken for a run on the
CPU; kernels that were lost are told from kernels that never were."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_foreign  # noqa: E402
import make_profile  # noqa: E402
from make_foreign import STEPS  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run, summary_of  # noqa: E402

US = 1_000_000

# Kind, ids and names of devices with their busy time, what was left out and of whom, findings about it (and no others of
# these), words of the verdict and of the advice of inspect.
CASES = (
    ("ascend", [], {"Ascend NPU": 4 * STEPS}, ["unknown_device"], "events of Ascend NPU", "events of Ascend NPU"),
    ("aiu_analyzer", [], {"IBM AIU": STEPS}, ["unknown_device"], "events of IBM AIU", "events of IBM AIU"),
    ("mtia", [], {"MTIA": 1}, ["unknown_device"], "events of MTIA", "events of MTIA"),
    ("rpd", [("gpu:2", "GPU2", 455 * STEPS)], {}, [], "busy", None),
    ("rocprof", [("gpu:0", "GPU0", 230), ("gpu:1", "GPU1", 230)], {}, [], "busy", None),
    ("aiu", [("gpu:0", "AIU 0", 500 * STEPS)], {}, [], "busy", None),
    ("lost", [], {}, ["kernels_lost"], "Kernels are missing", "50 calls that launch kernels were recorded, but only 0 kernels"),
    ("lost_in_part", [("gpu:0", "GPU 0", 1800)], {}, ["kernels_lost"], "kernels are missing", "but only 30 kernels"),
    ("kept", [("gpu:0", "GPU 0", 2880)], {}, [], "busy", None),
    ("cpu", [], {}, ["no_device_activity"], "ran on the CPU", "ran on the CPU"),
)
ABOUT = ("unknown_device", "kernels_lost", "no_device_activity")


def check(tap, folder, kind, devices, unknown, findings, verdict, advice):
    path = make_foreign.write(kind, folder / f"{kind}.json")
    result, summary = summary_of(path, folder / kind)
    if not tap.ok(summary is not None and not result.crashed, f"{kind}: read", result):
        return
    got = [(d["id"].split("/")[1], d["name"], d["busy_ps"] // US) for d in summary["devices"]]
    tap.ok(got == devices, f"{kind}: devices and their busy time", got, devices)
    got = {d["name"]: d["events"] for d in summary["coverage"]["unknown_devices"]}
    loss = summary["coverage"]["tallies"].get("unknown-device", {"count": 0})["count"]
    tap.ok(got == unknown and loss == sum(unknown.values()), f"{kind}: what was left out", got, loss)
    got = [f["id"] for f in summary["findings"] if f["id"] in ABOUT]
    tap.ok(got == findings, f"{kind}: findings about it", got)
    tap.ok(verdict in summary["verdict"]["text"], f"{kind}: the verdict", summary["verdict"]["text"])
    said = run("inspect", path).out
    told = [word for word in ("are missing", "not analyzed", "no device was", "ran on the CPU") if word in said]
    tap.ok(advice in said if advice else not told, f"{kind}: inspect", said[-1500:])


def classes(tap, folder):
    """Graphs as a whole and markers are drawn around the work of a queue once more: none of it is work."""
    _, summary = summary_of(folder / "rpd.json", folder / "classes")
    got = summary["coverage"]["classes"]
    want = {"kernel": 2 * STEPS, "copy": STEPS, "memset": STEPS, "derived": 2 * STEPS, "device_other": STEPS,
            "sync": STEPS, "launch": 3 * STEPS}
    tap.ok(got == want, "rpd: classes", got)
    tap.ok(summary["coverage"]["kernel_launches"] == 2 * STEPS, "rpd: launches of kernels")
    tap.ok([t["direction"] for t in summary["transfers"]["by_direction"]] == ["h2d"], "rpd: direction of its copies")


def names_in_any_order(tap, folder):
    """Names of processes may come last."""
    events = make_foreign.ascend()
    (folder / "late.json").write_text(json.dumps([e for e in events if e["ph"] != "M"] + [e for e in events if e["ph"] == "M"]))
    _, summary = summary_of(folder / "late.json", folder / "late")
    tap.ok(summary["coverage"]["unknown_devices"] == [{"name": "Ascend NPU", "events": 4 * STEPS}], "names that come last")


def other_communication(tap, folder):
    """A process of the name of one of Ascend's, in a file without Ascend's hardware, is a process of the host."""
    events = make_foreign.process(5, "Communication", "NPU") + [make_foreign.span("send", 1, 2, 5, 6)]
    (folder / "other.json").write_text(json.dumps(events))
    _, summary = summary_of(folder / "other.json", folder / "other")
    tap.ok(summary["coverage"]["unknown_devices"] == [], "a process called Communication alone")


def planes(tap, folder):
    """The plane of an XSpace with another kind of device: its events are counted, and its launches are no lost kernels."""
    path = folder / "plane.xplane.pb"
    path.write_bytes(make_profile.gpu(seed=7, devices=1).encode().replace(b"/device:GPU:0", b"/device:NPU:0"))
    result, summary = summary_of(path, folder / "plane")
    got = [d["name"] for d in summary["coverage"]["unknown_devices"]] if summary else None
    if not tap.ok(got == ["Ascend NPU"] and not summary["devices"], "an XSpace's plane of another device", got, result):
        return
    got = [f["id"] for f in summary["findings"] if f["id"] in ABOUT]
    tap.ok(got == ["unknown_device"], "an XSpace's plane of another device: findings", got)
    count = summary["coverage"]["unknown_devices"][0]["events"]
    tap.ok(summary["coverage"]["tallies"]["unknown-device"]["count"] == count > 0, "an XSpace's plane: its events", count)


def partials(tap, folder):
    """Counts of hosts add up, however they come together."""
    paths = []
    for kind in ("ascend", "lost"):
        out = folder / f"{kind}-partial"
        result = run("report", folder / f"{kind}.json", "-o", out, "--format", "partial")
        paths.append(out / "run.partial")
        tap.ok(paths[-1].exists(), f"{kind}: partial", result)
    result, merged = summary_of(paths, folder / "merged")
    coverage = merged["coverage"] if merged else {}
    got = coverage.get("unknown_devices"), coverage.get("kernel_launches")
    tap.ok(got == ([{"name": "Ascend NPU", "events": 4 * STEPS}], 50), "partials merge", got, result)


def main():
    tap = Tap()
    with Scratch() as folder:
        folder = Path(folder)
        for case in CASES:
            check(tap, folder, *case)
        classes(tap, folder)
        names_in_any_order(tap, folder)
        other_communication(tap, folder)
        planes(tap, folder)
        partials(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
