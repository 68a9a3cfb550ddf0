#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Forty questions about runs, with exact answers: each is answered by at most three calls of brief, show and query and at most 20 KB of
their output, as a person or a coding agent would ask.  The answers are the truth of generated profiles ($TM_SHARED/tools/make_trace.py)
and facts of real ones; some questions are traps, to which the right answer is that it cannot be known, or that nothing changed: no steps
are marked, kernels are lost, two devices do not overlap, a change is noise."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from made import GENERATOR, run_generator  # noqa: E402
from make_profile import MS, NS, US, Event, Line, Plane, Space, environment_planes  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import SHARED, Scratch, run  # noqa: E402

TRACES = SHARED / "traces"
CALLS_MOST, BYTES_MOST = 3, 20 << 10

MADE = {
    "mixed": ("--events", "12000", "--devices", "2", "--scenario", "mixed"),
    "recompile": ("--events", "6000", "--devices", "1", "--scenario", "recompile", "--steps", "8"),
    "stalled": ("--events", "6000", "--devices", "1", "--scenario", "stalled", "--steps", "8"),
    "comm": ("--events", "8000", "--devices", "4", "--scenario", "comm", "--steps", "8"),
    "imbalance": ("--events", "8000", "--devices", "4", "--scenario", "imbalance", "--steps", "8"),
    "transfers": ("--events", "6000", "--devices", "1", "--scenario", "transfers", "--steps", "8"),
    "memory": ("--events", "6000", "--devices", "1", "--scenario", "memory", "--steps", "8"),
    "steady": ("--events", "16000", "--devices", "1", "--steps", "40"),
    "again": ("--events", "16000", "--devices", "1", "--steps", "40", "--noise-seed", "9"),
    "slower": ("--events", "16000", "--devices", "1", "--steps", "40", "--noise-seed", "9", "--slower-op", "gemm_fusion_dot=1.5"),
    "tpu": ("--events", "6000", "--devices", "2", "--platform", "tpu"),
}
REAL = {
    "v100": TRACES / "xspace" / "xprof-gpu-v100-multi-worker.xplane.pb",
    "v6e": TRACES / "xspace" / "xprof-tpu-v6e-inference.xplane.pb",
    "mi300": TRACES / "xspace" / "jax-mi300-conv-8gpu.xplane.pb",
    "two-kernels": TRACES / "xspace" / "xla-gtx1080ti.xplane.pb",
    "stall": TRACES / "logdir" / "stall",
    "compile": TRACES / "logdir" / "compile",
    "resnet": TRACES / "kineto" / "kineto-samples-resnet50_num_workers_0-worker0.1623143566756.pt.trace.json.gz",
}


class Asked:
    """The calls that a question takes."""

    def __init__(self, place):
        self.place, self.calls, self.bytes = place, 0, 0

    def _run(self, *words):
        result = run(*words)
        self.calls += 1
        self.bytes += len(result.raw_out)
        assert result.status in (0, 4), (words, result.status, result.err)
        return result.out

    def brief(self, *runs):
        return json.loads(self._run("brief", *(self.place(name) for name in runs), "--json"))

    def show(self, name, what, *options):
        return json.loads(self._run("show", self.place(name), what, "--json", *options))["rows"]

    def figure(self, name, what, *options):
        return self.show(name, what, *options)[0]["value"]

    def query(self, name, sql, *options):
        return [tuple(row.values()) for row in json.loads(self._run("query", self.place(name), sql, "--json", *options))["rows"]]


def devices(truth):
    return [device for host in truth["hosts"] for device in host["devices"]]


def total(truth, *path):
    values = devices(truth)
    for key in path:
        values = [value[key] for value in values]
    return sum(values)


def by_cause(truth, cause):
    return sum(device["gaps"]["by_cause"][cause]["total_ps"] for device in devices(truth))


def first(rows):
    return rows[0][0]


def finding_ids(brief):
    return [finding["id"] for finding in brief["findings"]]


def verdict_and_cause(brief):
    return brief["verdict"]["verdict"], "gemm_fusion_dot" in brief["verdict"]["text"]


# The question, the run, how it is answered, the answer by the truth of that run (a callable), or as it is.
ALL = ("--steps", "all")
QUESTIONS = (
    # Counts and sums.
    ("How many events are in the profile, besides counters?", "mixed", lambda a, r: first(a.query(r, "select count(*) from events where kind <> 'counter'")),
     lambda t: t["total"]["events_xplane"]),
    ("How many kernels ran?", "mixed", lambda a, r: first(a.query(r, "select count(*) from events where class in ('kernel', 'collective')")),
     lambda t: t["total"]["kernel_count"]),
    ("How long did kernels run in all?", "mixed",
     lambda a, r: first(a.query(r, "select sum(dur_ps) from events where class in ('kernel', 'collective')")),
     lambda t: t["total"]["kernel_total_ps"]),
    ("Which kernel takes most time?", "mixed",
     lambda a, r: first(a.query(r, "select name from events where class in ('kernel', 'collective') group by name order by sum(dur_ps) desc limit 1")),
     lambda t: max(t["total"]["kernels_by_name"].items(), key=lambda item: item[1]["total_ps"])[0]),
    ("What is the longest run of gemm_fusion_dot_10?", "mixed",
     lambda a, r: first(a.query(r, "select max(dur_ps) from events where name = 'gemm_fusion_dot_10' and device is not null")),
     lambda t: t["total"]["kernels_by_name"]["gemm_fusion_dot_10"]["max_ps"]),
    ("How often does cuLaunchKernel run?", "mixed", lambda a, r: first(a.query(r, "select count(*) from events where name = 'cuLaunchKernel'")),
     lambda t: t["hosts"][0]["name_counts"]["cuLaunchKernel"]),
    ("How many steps are marked?", "mixed", lambda a, r: a.figure(r, "steps.count"), lambda t: t["hosts"][0]["steps"]["count"]),
    ("When does the third step start?", "mixed",
     lambda a, r: first(a.query(r, "select start_ps from events where class = 'step_marker' order by start_ps limit 1 offset 2")),
     lambda t: sorted(t["hosts"][0]["steps"]["begin_ps"])[2]),
    # Device time.
    ("How long was the first device busy?", "mixed", lambda a, r: first(a.query(r, "select busy_ps from devices order by id limit 1", *ALL)),
     lambda t: devices(t)[0]["busy_ps"]),
    ("How long was the second device idle between its first and last activity?", "mixed", lambda a, r: first(a.query(r, "select idle_ps - lead_ps - trail_ps from devices order by id limit 1 offset 1", *ALL)),
     lambda t: devices(t)[1]["idle_ps"]),
    ("How much collective time is not overlapped with compute?", "comm", lambda a, r: a.figure(r, "total.exposed_collective_ps", *ALL),
     lambda t: total(t, "collective", "exposed_ps")),
    ("How many collectives ran on each device?", "comm",
     lambda a, r: [n for _, n in a.query(r, "select device, count(*) from events where class = 'collective' group by device order by device")],
     lambda t: [device["collective"]["count"] for device in devices(t)]),
    # Idle time.
    ("How many idle gaps are there between activities?", "mixed", lambda a, r: first(a.query(r, "select count(*) from gaps where before_event is not null and after_event is not null", "--gap-min", "0s", *ALL)),
     lambda t: total(t, "gaps", "count")),
    ("How long is the longest idle gap?", "mixed", lambda a, r: first(a.query(r, "select max(dur_ps) from gaps", *ALL)),
     lambda t: max(device["gaps"]["longest"][0]["dur_ps"] for device in devices(t))),
    ("How much time do devices wait for input?", "stalled", lambda a, r: a.figure(r, "gaps.by_cause.input.total_ps", *ALL),
     lambda t: by_cause(t, "input")),
    ("How much idle time does garbage collection cause?", "mixed", lambda a, r: a.figure(r, "gaps.by_cause.gc.total_ps", *ALL),
     lambda t: by_cause(t, "gc")),
    ("How much idle time do synchronizing calls cause?", "mixed", lambda a, r: a.figure(r, "gaps.by_cause.sync.total_ps", *ALL),
     lambda t: by_cause(t, "sync")),
    # Copies, memory, compilation.
    ("How many bytes were copied to the devices?", "transfers", lambda a, r: first(a.query(r, "select bytes from transfers where direction = 'h2d'", *ALL)),
     lambda t: total(t, "copy", "kinds", "H2D", "bytes")),
    ("How many copies went back to the host?", "transfers",
     lambda a, r: first(a.query(r, "select count(*) from events where class = 'copy' and direction = 'd2h'")),
     lambda t: total(t, "copy", "kinds", "D2H", "count")),
    ("What is the peak of allocated memory?", "memory", lambda a, r: max(row["peak_bytes"] for row in a.show(r, "memory.allocators", "--fields", "peak_bytes", *ALL)),
     lambda t: max(device["memory"]["peak_bytes"] for device in devices(t))),
    ("How many programs were compiled?", "recompile", lambda a, r: a.figure(r, "compile.count"), lambda t: t["hosts"][0]["compiles"]["count"]),
    ("How long did compilation take?", "recompile", lambda a, r: a.figure(r, "compile.total_ps"), lambda t: t["hosts"][0]["compiles"]["total_ps"]),
    ("How many compilations fell into steps?", "recompile", lambda a, r: a.figure(r, "compile.inside_steps.count", *ALL),
     lambda t: t["hosts"][0]["compiles"]["inside_steps"]["count"]),
    ("How many kernels are shorter than 0.1 ms?", "mixed",
     lambda a, r: first(a.query(r, "select count(*) from events where class in ('kernel', 'collective') and dur_ps < 1e8")),
     lambda t: total(t, "kernels", "small", "count")),
    # TPU.
    ("How many TPU ops ran?", "tpu", lambda a, r: first(a.query(r, "select count(*) from events where class = 'tpu_op' or (class = 'collective' and device is not null)")),
     lambda t: sum(d["kernels"]["count"] for d in devices(t))),
    # What is wrong, and what to do first.
    ("What slows the stalled run down?", "stalled", lambda a, r: finding_ids(a.brief(r))[0], "idle_input"),
    ("What slows the recompiling run down?", "recompile", lambda a, r: finding_ids(a.brief(r))[0], "compile_in_steps"),
    ("Is the run limited by communication?", "comm", lambda a, r: finding_ids(a.brief(r))[0], "collective_exposed"),
    ("Is the load balanced?", "imbalance", lambda a, r: finding_ids(a.brief(r))[0], "imbalance"),
    # Traps.
    ("Did noise change the step time?", "steady", lambda a, r: a.brief(r, "again")["verdict"]["verdict"], "no_change"),
    ("Is a slower run slower, and why?", "steady", lambda a, r: verdict_and_cause(a.brief(r, "slower")), ("regression", True)),
    ("What are the steps where none are marked?", "mi300", lambda a, r: a.figure(r, "steps.source"), "module"),
    ("Do the two devices of the V100 run overlap in time?", "v100", lambda a, r: first(a.query(r, "select max(first_ps) > min(last_ps) from devices where activities > 1")), 1),
    ("What is the FLOP rate where nothing records FLOPs?", "resnet", lambda a, r: a.figure(r, "roofline.mfu_pct"), None),
    ("Which idle time does the stalled JAX run have most of?", "stall",
     lambda a, r: first(a.query(r, "select cause from gaps group by cause order by sum(dur_ps) desc limit 1")), "input"),
    ("Was the device idle while no kernel is in the profile?", "lost", lambda a, r: finding_ids(a.brief(r))[0], "kernels_lost"),
    ("Which model is the TPU?", "v6e", lambda a, r: "v6" in a.query(r, "select model from devices limit 1")[0][0], True),
    ("How many kernels does the smallest GPU run have?", "two-kernels",
     lambda a, r: first(a.query(r, "select count(*) from events where class = 'kernel'")), 2),
    ("Does the run compile inside its steps?", "compile", lambda a, r: a.figure(r, "compile.inside_steps.count") > 0, True),
    ("How many ProfilerSteps does the PyTorch run have?", "resnet",
     lambda a, r: first(a.query(r, "select count(*) from events where class = 'step_marker'")), 6),
)


def make(folder, name):
    """A generated profile and its truth."""
    done = run_generator(folder / name, "--format", "xplane", "--quiet", *MADE[name])
    assert done.returncode == 0, done.stderr
    return json.loads((folder / f"{name}.truth.json").read_text(encoding="utf-8"))


def lost_kernels():
    """A profile with 4,000 launches, of whose kernels the first 300 were recorded."""
    python, stream = Line(1, "python"), Line(13, "Stream #13(Compute)")
    for step in range(8):
        python.events.append(Event("train", (20 + 10 * step) * MS, 9 * MS, {"_r": 1, "step_num": step}))
        for i in range(500):
            at, id = (20 + 10 * step) * MS + i * 16 * US, 1 + 500 * step + i
            python.events.append(Event("cuLaunchKernel", at, 3 * US, {"correlation_id": id, "device_id": 0}))
            if id <= 300:
                stream.events.append(Event("gemm", at + 5 * US, 9000 * NS, {"correlation_id": id, "kernel_details": "regs:32 grid:1,1,1 block:128,1,1"}))
    gpu = Plane("/device:GPU:0", 0, [stream], {"device_vendor": "Nvidia", "core_count": 132, "memory_size": 80 << 30})
    return Space([gpu, Plane("/host:CPU", lines=[python]), *environment_planes()]).encode()


def is_right(answer, expected):
    return answer in expected if isinstance(expected, set) else answer == expected


def main():
    tap = Tap()
    if not GENERATOR.exists():
        tap.skip(f"{len(QUESTIONS)} questions", "no TM_SHARED/tools")
        tap.done()
    with Scratch() as folder:
        truths = {name: make(folder, name) for name in MADE}
        (folder / "lost.xplane.pb").write_bytes(lost_kernels())
        tap.ok(len(QUESTIONS) == 40, "forty questions", len(QUESTIONS))
        for question, name, ask, expected in QUESTIONS:
            asked = Asked(lambda name: REAL[name] if name in REAL else folder / f"{name}.xplane.pb")
            try:
                answer, problem = ask(asked, name), ""
            except (AssertionError, LookupError, TypeError, ValueError) as error:
                answer, problem = None, repr(error)
            wanted = expected(truths[name]) if callable(expected) else expected
            tap.ok(not problem and is_right(answer, wanted) and asked.calls <= CALLS_MOST and asked.bytes <= BYTES_MOST, f"{name}: {question}",
                   f"{answer!r}, not {wanted!r}", f"{asked.calls} calls, {asked.bytes} bytes", problem[:300])
    tap.done()


if __name__ == "__main__":
    main()
