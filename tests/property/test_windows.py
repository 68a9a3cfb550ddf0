#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Windows and step times of made profiles whose truth is known by construction (docs/metrics.md, "Window", "Steps").

A marked step whose first launch comes late is idle until then.  Steps of exactly 10 ms whose ends jitter from device to
device are steps of 10 ms, and a comparison of two such runs finds no change.  Hosts run a step together.
"""

import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from make_profile import COLLECTIVES, MS, US, Event, Line, Plane, Space, environment_planes  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run, summary_of  # noqa: E402

STEPS, DEVICES, STEP_PS = 100, 8, 10 * MS
DETAILS = {"kernel_details": "regs:32 static_shared:0 dynamic_shared:0 grid:132,1,1 block:256,1,1 occ_pct:50"}


def kernel(start, length, correlation):
    return Event("gemm_fusion_dot", start, length, {**DETAILS, "correlation_id": correlation})


def launch(start, correlation, device):
    return Event("cuLaunchKernel", start, 4 * US, {"correlation_id": correlation, "device_id": device})


def late_launch():
    """One marked step of 378 ms: 217 ms of preprocessing, then work until its end with pauses."""
    python = Line(1, "python")
    stream = Line(13, "Stream #13(Compute)")
    python.events += [Event("train", 10 * MS, 378 * MS, {"_r": 1, "step_num": 0}),
                      Event("$preprocess.py:12 tokenize", 10 * MS + 100 * US, 216 * MS)]
    start = 10 * MS + 217 * MS
    for i in range(80):
        python.events.append(launch(start - 10 * US, i + 1, 0))
        stream.events.append(kernel(start, 1980 * US, i + 1))
        start += 2 * MS
    planes = [Plane("/device:GPU:0", 0, [stream], {"device_vendor": "Nvidia", "core_count": 132})]
    return Space(planes + [Plane("/host:CPU", lines=[python])] + environment_planes(), "host0"), 80 * 1980 * US


def jittered(seed, jitter, host="host0", devices=DEVICES, steps=STEPS):
    """Steps of exactly 10 ms: in each of them the last device ends on time, the others up to `jitter` earlier."""
    dice = random.Random(seed)
    python = Line(1, "python")
    streams = [Line(13, "Stream #13(Compute)") for _ in range(devices)]
    correlation = 0
    for step in range(steps):
        begin = 20 * MS + step * STEP_PS
        python.events.append(Event("train", begin, STEP_PS - 100 * US, {"_r": 1, "step_num": step}))
        last = dice.randrange(devices)
        for device in range(devices):
            correlation += 1
            early = 0 if device == last else dice.randrange(jitter)
            python.events.append(launch(begin + device * US, correlation, device))
            streams[device].events.append(kernel(begin + 20 * US, STEP_PS - 20 * US - early, correlation))
    planes = [Plane(f"/device:GPU:{d}", d, [streams[d]], {"device_vendor": "Nvidia", "core_count": 132})
              for d in range(devices)]
    return Space(planes + [Plane("/host:CPU", lines=[python])] + environment_planes(), host)


def check_late_launch(tap):
    space, busy = late_launch()
    with Scratch() as folder:
        path = folder / "host0.xplane.pb"
        path.write_bytes(space.encode())
        _, summary = summary_of(path, folder / "out")
        end = 10 * MS + 217 * MS + 79 * 2 * MS + 1980 * US
        device = summary["devices"][0]
        tap.ok(device["span_ps"] == end - 10 * MS and device["busy_ps"] == busy,
               "the window of a marked step holds the time before its first launch", device["span_ps"])
        share = 100 * busy / (end - 10 * MS)
        tap.ok(abs(summary["total"]["utilization_pct"] - share) < 1e-9 and abs(share - 42.0) < 0.1,
               f"the device is {share:.1f}% busy, not 99%", summary["total"]["utilization_pct"])
        tap.ok(device["lead_ps"] == 217 * MS, "and idle for 217 ms before its first kernel", device["lead_ps"])
        first = summary["findings"][0]
        tap.ok(first["id"] == "idle_host" and any("tokenize" in text for text in first["evidence"]),
               "the preprocessing is named first", first)


def check_jitter(tap):
    with Scratch() as folder:
        outs = []
        for seed, jitter in ((1, 20 * US), (2, 400 * US)):
            path = folder / f"run{seed}" / "host0.xplane.pb"
            path.parent.mkdir()
            path.write_bytes(jittered(seed, jitter).encode())
            _, summary = summary_of(path, folder / f"out{seed}")
            outs.append(path)
            samples = summary["steps"]["samples_ps"]
            window = summary["window"]["hosts"][0]
            tap.ok(samples == [STEP_PS] * STEPS, f"jitter {jitter // US} us: every step takes 10 ms", sorted(set(samples)))
            tap.ok(sum(samples) == window["span_ps"] == window["steps_ps"], "and they add up to the window", window)
        result = run("compare", *outs, "-o", folder / "compare", "--format", "json", "--fail-on", "step_time>+2%")
        verdict = json.loads((folder / "compare" / "compare.json").read_text(encoding="utf-8"))["verdict"]
        tap.ok(result.status == 0 and verdict["verdict"] == "no_change", "no change is found between them", verdict, result)


def check_hosts(tap):
    """Hosts of one program: a step is one sample, whatever their number."""
    with Scratch() as folder:
        paths = []
        for host in range(3):
            path = folder / f"host{host}.xplane.pb"
            path.write_bytes(jittered(host, 50 * US, f"host{host}", 2, 12).encode())
            paths.append(path)
        _, summary = summary_of(paths, folder / "out")
        steps = summary["steps"]
        tap.ok((steps["count"], steps["chosen"], steps["samples"]) == (12, 12, 12), "3 hosts, 12 steps: 12 samples",
               (steps["count"], steps["chosen"], steps["samples"]))
        tap.ok(steps["samples_ps"] == [STEP_PS] * 12, "each is the mean over the hosts", steps["samples_ps"])
        tap.ok(len(steps["list"]) == 36, "the list has a row for each host", len(steps["list"]))
        tap.ok(summary["host"]["launches"]["per_step"] == 6, "launches are counted per step of the run",
               summary["host"]["launches"])


def reducing(host, started, told, scatters=False, steps=20):
    """One device of a job of two hosts: steps of exactly 10 ms with an all-reduce that both hosts run at the same time;
    which of them ends the step alternates, the other is done 300 us earlier.
    in:     started, told  when the profile of the host began, and when it says so (both after the first one's begin)
            scatters       its all-reduce is up to 3 ms later than that of the other host"""
    python, stream = Line(1, "python"), Line(13, "Stream #13(Compute)")
    for step in range(steps):
        begin = 20 * MS + step * STEP_PS - started
        early = 300 * US if step % 2 == host else 0
        python.events.append(Event("train", begin, STEP_PS - 100 * US, {"_r": 1, "step_num": step}))
        late = step * 5 % 7 * MS // 2 if scatters else 0
        parts = ((20 * US, 5 * MS + late, "gemm_fusion_dot"), (5 * MS + late, 6 * MS + late, COLLECTIVES[0]),
                 (6 * MS + late, STEP_PS - early, "gemm_fusion_dot"))
        for i, (start, end, name) in enumerate(parts):
            correlation = 3 * step + i + 1
            python.events.append(launch(begin + i * 5 * US, correlation, 0))
            stream.events.append(Event(name, begin + start, end - start, {**DETAILS, "correlation_id": correlation}))
    planes = [Plane("/device:GPU:0", 0, [stream], {"device_vendor": "Nvidia", "core_count": 132}),
              Plane("/host:CPU", lines=[python])] + environment_planes()
    planes[-1].stats["profile_start_time"] += told // 1000
    return Space(planes, f"host{host}")


def check_shared_clock(tap):
    """The hosts end a step together where their collectives show what their clocks read."""
    begun = (0, 3 * MS)
    for told, method in ((begun, "confirmed"), ((0, 10 * MS), "collectives"), ((0, 10 * MS), None)):
        agree = method is not None
        with Scratch() as folder:
            paths = []
            for host in range(2):
                paths.append(folder / f"host{host}.xplane.pb")
                paths[-1].write_bytes(reducing(host, begun[host], told[host], host and not agree).encode())
            _, summary = summary_of(paths, folder / "out")
            _, parted = summary_of(paths[::-1], folder / "reversed")
            run("report", *paths, "-o", folder / "text", "--format", "text")
            text = (folder / "text" / "report.txt").read_text(encoding="utf-8")
        samples, job = summary["steps"]["samples_ps"], summary["window"]["job"]
        clock = summary["collectives"]["skew"]["clock"]
        tap.ok(clock["aligned"] is agree and clock["offsets_ps"] == (list(begun) if agree else None),
               f"the clocks {'agree' if agree else 'do not agree'}", clock)
        tap.ok(not agree or clock["list"][1]["method"] == method, f"by what: {method}", clock)
        if agree:
            tap.ok(samples == [STEP_PS] * 20, "every step ends with the last device of all hosts", samples)
            tap.ok(job == {"begin_ps": 20 * MS, "end_ps": 220 * MS, "span_ps": 200 * MS, "steps_ps": 200 * MS},
                   "they add up to the window of all hosts", job)
            tap.ok("starting at 20.0 ms, on all hosts" in text, "the report has one window", text)
            tap.ok([h["span_ps"] for h in summary["window"]["hosts"]] == [200 * MS, 200 * MS - 300 * US],
                   "each host keeps its own window", summary["window"]["hosts"])
        else:
            first = (STEP_PS - 300 * US + STEP_PS) // 2
            tap.ok("first of 2 windows" in text, "the report has a window for each host", text)
            tap.ok(job is None and samples == [first] + [STEP_PS] * 19, "a step is the mean over the hosts", samples)
        tap.ok((parted["steps"]["samples_ps"], parted["window"]["job"]) == (samples, job),
               "whatever the order of the hosts", parted["steps"]["samples_ps"])


def check_rows(tap):
    """--rows holds for steps and devices too: the first and the slowest steps, and so many devices."""
    with Scratch() as folder:
        path = folder / "host0.xplane.pb"
        path.write_bytes(jittered(5, 50 * US, steps=20).encode())
        _, all_rows = summary_of(path, folder / "all")
        _, few = summary_of(path, folder / "few", "--rows", "3")
        run("report", path, "-o", folder / "text", "--format", "text,csv", "--rows", "3")
        text = (folder / "text" / "report.txt").read_text(encoding="utf-8")
        devices = (folder / "text" / "csv" / "devices.csv").read_text(encoding="utf-8")
    slowest = sorted(all_rows["steps"]["list"][3:], key=lambda step: (-step["period_ps"], step["number"]))[:3]
    tap.ok(few["steps"]["list"] == all_rows["steps"]["list"][:3] + sorted(slowest, key=lambda step: step["number"]),
           "--rows 3: the first three steps and the three slowest of the others", few["steps"]["list"])
    tap.ok(few["steps"]["samples_ps"] == all_rows["steps"]["samples_ps"] and
           len(few["devices"][0]["steps"]["busy_ps"]) == 3 and len(few["devices"]) == DEVICES, "the figures are of all")
    tap.ok("5 remaining rows" in text and len(devices.splitlines()) == 1 + DEVICES, "three devices in a table, CSV has all",
           text, devices)


def main():
    tap = Tap()
    check_rows(tap)
    check_shared_clock(tap)
    check_late_launch(tap)
    check_jitter(tap)
    check_hosts(tap)
    tap.done()


if __name__ == "__main__":
    main()
