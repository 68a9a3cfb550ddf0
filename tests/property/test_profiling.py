#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`host.profiling`: events of each tracer in the analyzed steps, on the main thread and on others, and what they cost;
the finding that says what to switch off."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from make_profile import MS, NS, US, Event, Line, Plane, Space, environment_planes  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run  # noqa: E402

STEPS, PYTHON, HOST, LAUNCHES = 4, 3000, 50, 20  # each of a step


def profile(python):
    """A thread that calls Python functions and launches kernels in steps of 10 ms, and one with spans of the runtime."""
    main, worker, stream = Line(1, "python"), Line(2, "tf_xla/7"), Line(13, "Stream #13(Compute)")
    for step in range(STEPS):
        begin = (20 + 10 * step) * MS
        main.events.append(Event("train", begin, 9 * MS, {"_r": 1, "step_num": step}))
        main.events += [Event("$model.py:7 layer", begin + (1 + 2 * i) * US, 1 * US) for i in range(python)]
        worker.events += [Event("ThreadpoolListener::Region", begin + i * 10 * US, 5 * US) for i in range(HOST)]
        for i in range(LAUNCHES):
            at, id = begin + 7 * MS + i * 20 * US, 100 + LAUNCHES * step + i
            main.events.append(Event("cuLaunchKernel", at, 3 * US, {"correlation_id": id, "device_id": 0}))
            stream.events.append(Event("gemm", at + 10 * US, 9000 * NS, {"correlation_id": id, "kernel_details": "regs:32 grid:1,1,1 block:128,1,1"}))
    main.events.append(Event("$start.py:1 before", 1 * MS, 1 * MS))  # in no step
    gpu = Plane("/device:GPU:0", 0, [stream], {"device_vendor": "Nvidia", "core_count": 132, "memory_size": 80 << 30})
    return Space([gpu, Plane("/host:CPU", lines=[main, worker]), *environment_planes()]).encode()


def summary_of(path):
    result = run("report", path, "--format", "json", "-o", path.parent / "out")
    return json.loads((path.parent / "out" / "summary.json").read_text(encoding="utf-8")) if result.status == 0 else None, result


def main():
    tap = Tap()
    with Scratch() as folder:
        for python in (PYTHON, 0):
            path = folder / f"python{python}.xplane.pb"
            path.write_bytes(profile(python))
            summary, result = summary_of(path)
            if not summary:
                tap.ok(False, f"{python} calls", result)
                continue
            cost = summary["host"]["profiling"]
            got = {row["tracer"]: (row["events"], row["main_events"], row["main_ps"]) for row in cost["tracers"]}
            want = {"host": (STEPS * (1 + HOST), STEPS, STEPS * 60 * NS), "driver_calls": (STEPS * LAUNCHES, STEPS * LAUNCHES, None),
                    "device": (STEPS * LAUNCHES, 0, None)}
            if python:
                want["python"] = (STEPS * python, STEPS * python, STEPS * python * 130 * NS)
            total = STEPS * (python * 130 + 60) * NS
            tap.ok(got == want and cost["main_ps"] == total, f"{python} calls of a step: events and cost", got, cost["main_ps"])
            tap.ok(abs(cost["share_pct"] - 100 * total / cost["window_ps"]) < 1e-6, "share", cost)
            found = [f for f in summary["findings"] if f["id"] == "profiling_cost"]
            said = found and any("python_tracer_level = 0" in text for text in found[0]["fix"])
            tap.ok(bool(said) == bool(python), "the finding, where it is a material part", found)
    tap.done()


if __name__ == "__main__":
    main()
