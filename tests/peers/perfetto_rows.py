#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Computed rows of a profile known by construction, in Perfetto's own importer: XLA modules, scopes as a flame, HLO ops, source
lines, collectives by communicator with waiting and moving and their arrows, idle time in two levels, the counters of all
devices together, and kernels in the form of the GPU plugin.

Without Node or the package that carries the importer: skipped.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from make_profile import EPOCH_NS, US, Event, Line, Plane, Space  # noqa: E402
from perfetto import importer  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run  # noqa: E402

# (start and length in us, name, module, framework path) of each kernel of a device
KERNELS = (
    (100, 10, "fusion_1", "jit_step", "jit(step)/jvp(Model)/layer_0/dot_general"),
    (110, 10, "fusion_2", "jit_step", "jit(step)/jvp(Model)/layer_0/add"),
    (121, 10, "fusion_3", "jit_step", "jit(step)/jvp(Model)/layer_1/dot_general"),
    (131, 10, "fusion_3", "jit_step", "jit(step)/jvp(Model)/layer_1/dot_general"),
    (141, 20, "fusion_4", "jit_step", "jit(step)/transpose(jvp(Model))/layer_1/dot_general"),
    (300, 10, "fusion_9", "jit_eval", "jit(eval)/Model/dot_general"),
)
REDUCES = ((400, 60), (430, 30))  # of the two devices: the second one arrives last, both leave at 460
NCCL = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
DETAILS = "regs:32 static_shared:0 dynamic_shared:1024 grid:{grid},2,1 block:128,1,1 occ_pct:50"

# What must be there: (row, start, end, name, depth) in us
SPANS = (
    ("XLA modules", 100, 161, "jit_step", 0), ("XLA modules", 300, 310, "jit_eval", 0),
    ("scopes", 100, 141, "forward", 0), ("scopes", 100, 141, "step", 1), ("scopes", 100, 141, "Model", 2),
    ("scopes", 100, 120, "layer_0", 3), ("scopes", 121, 141, "layer_1", 3),
    ("scopes", 141, 161, "backward", 0), ("scopes", 141, 161, "step", 1), ("scopes", 141, 161, "Model", 2),
    ("scopes", 141, 161, "layer_1", 3),
    ("scopes", 300, 310, "eval", 0), ("scopes", 300, 310, "Model", 1),
    ("HLO ops", 100, 110, "fusion_1", 0), ("HLO ops", 110, 120, "fusion_2", 0), ("HLO ops", 121, 141, "fusion_3", 0),
    ("HLO ops", 141, 161, "fusion_4", 0), ("HLO ops", 300, 310, "fusion_9", 0),
)
ALL_ROWS = "modules,scopes,ops,sources,collectives,kernels"
SLICES = """select p.name, t.name, s.ts, s.dur, s.name, s.depth, extract_arg(s.arg_set_id, 'debug.activities'),
extract_arg(s.arg_set_id, 'debug.busy_ns'), s.id from slice s join process_track t on t.id = s.track_id join process p using (upid)
where s.category = 'tracemill' order by s.ts, s.depth"""
OWN = """select t.name, s.ts, s.dur, s.name, s.depth from slice s join track t on t.id = s.track_id
where t.name like '%idle gaps%' order by s.ts, s.depth"""
ARROWS = "select f.slice_out, f.slice_in from flow f"
KERNEL_ROWS = """select t.name, s.ts, s.dur, s.name, s.submission_id from gpu_slice s join gpu_track t on t.id = s.track_id"""
COUNTERS = """select t.name, c.ts, c.value from counter c join track t on t.id = c.track_id where t.name like '%tracemill' order by c.ts"""
ORDER = "select name from track where name like '%tracemill%'"


def profile():
    python, planes, correlation = Line(1, "python"), [], 1
    python.events.append(Event("data_loading", 170 * US, 100 * US))
    for device in range(2):
        stream, other = Line(13, "Stream #13(Compute)"), Line(15, "Stream #15(Compute)")
        reduce = (*REDUCES[device], NCCL, "jit_step", "jit(step)/jvp(Model)/psum")
        for begin, length, name, module, path in (*KERNELS, reduce):
            correlation += 1
            line = other if name == NCCL else stream
            line.events.append(Event(name, begin * US, length * US, {
                "kernel_details": DETAILS.format(grid=begin), "hlo_op": "all-reduce.1" if name == NCCL else name,
                "hlo_module": module, "program_id": 7, "name": path, "correlation_id": correlation}))
            python.events.append(Event("cuLaunchKernel", (begin - 5) * US if begin != 300 else 280 * US, US,
                                       {"correlation_id": correlation, "device_id": device}))
        planes.append(Plane(f"/device:GPU:{device}", device, [stream, other], {"device_vendor": "Nvidia", "core_count": 132}))
    python.events.sort(key=lambda one: one.start_ps)
    task = Plane("Task Environment", stats={"profile_start_time": EPOCH_NS})
    return Space([*planes, Plane("/host:CPU", lines=[python]), task], "host0")


def own_name(row):
    return row.removesuffix(" · tracemill")


def check_rows(tap, slices):
    for device in range(2):
        process = f"/device:GPU:{device}"
        found = {(own_name(row), ts // 1000, (ts + dur) // 1000, name, depth)
                 for where, row, ts, dur, name, depth, *_ in slices if where == process}
        tap.ok(set(SPANS) == {one for one in found if not one[0].startswith("collectives")},
               f"{process}: modules, scopes and ops", sorted(set(SPANS) - found), sorted(found - set(SPANS)))
        begin, length = REDUCES[device]
        last = max(at for at, _ in REDUCES)
        wanted = {("collectives", begin, begin + length, "all-reduce", 0), ("collectives", last, 460, "moving", 1)}
        wanted |= {("collectives", begin, last, "waiting", 1)} if begin < last else set()
        tap.ok({one for one in found if one[0].startswith("collectives")} == wanted, f"{process}: the collective and its parts",
               sorted(found))
    counted = {name: (activities, busy) for where, _, _, _, name, depth, activities, busy, _ in slices
               if where == "/device:GPU:0" and depth == 0}
    tap.ok(counted.get("forward") == (4, 40_000) and counted.get("jit_step") == (5, 60_000),
           "a span says how many kernels it holds, and how long they ran", counted)


def check_arrows(tap, slices, arrows):
    parts = {one[8]: (one[0], one[4]) for one in slices if one[4] in ("waiting", "moving")}
    joined = [(parts[begin], parts[end]) for begin, end in arrows if begin in parts and end in parts]
    tap.ok(joined == [(("/device:GPU:0", "waiting"), ("/device:GPU:1", "moving"))],
           "an arrow leads from the first arrival to the last one", joined)


def check_idle(tap, gaps):
    found = [(own_name(row), ts // 1000, (ts + dur) // 1000, name, depth) for row, ts, dur, name, depth in gaps]
    for device in range(2):
        row = f"gpu:{device} idle gaps"
        whole = (row, 161, 300, "input pipeline", 0)
        inside = [(row, 161, 280, "data_loading", 1), (row, 280, 300, "launch overhead", 1)]
        tap.ok(all(one in found for one in (whole, *inside)), f"{row}: the cause, and inside what the host did", found)


def check_counters(tap, counters):
    names = {name for name, *_ in counters}
    tap.ok({"busy share · tracemill", "idle: input pipeline · tracemill", "gpu:0 busy share · tracemill",
            "gpu:1 busy share · tracemill"} <= names, "counters of each device and of all", sorted(names))
    # Of both devices: kernels, and the collective; data_loading in the gap.
    for name, wanted in (("busy share", (2 * 70 + 60 + 30) * 1000 / 2), ("idle: input pipeline", 100_000)):
        values = [(ts, value) for row, ts, value in counters if row == f"{name} · tracemill"]
        sum_ns = sum(value / 100 * (after - ts) for (ts, value), (after, _) in zip(values, values[1:]))
        tap.ok(abs(sum_ns - wanted) <= 0.01 * wanted, f"{name}: {sum_ns:.0f} ns, {wanted:.0f} wanted", values[:9])


def check_kernels(tap, kernels):
    names = [name for _, _, _, name, _ in kernels]
    wanted = sorted([one[2] for one in KERNELS] * 2 + [NCCL] * 2)
    tap.ok(sorted(names) == wanted, "each kernel is in gpu_slice", sorted(names))
    first = [(row, ts, dur, submission) for row, ts, dur, name, submission in kernels if name == "fusion_1"]
    tap.ok([one[:3] for one in first] == [("Stream #13(Compute)", 100_000, 10_000)] * 2 and
           {one[3] for one in first} == {2, 9}, "on its stream, with its time and its launch", first)


def check_choice(tap, source, folder):
    out = folder / "few.pftrace"
    run("convert", source, "-o", out, "--quiet", "--device-rows", "scopes")
    rows = {own_name(row[0]) for row in importer.load(out, ORDER).rows[0]}
    tap.ok("scopes" in rows and not rows & {"XLA modules", "HLO ops", "collectives"}, "--device-rows chooses", rows)
    run("convert", source, "-o", out, "--quiet", "--device-rows", "none")
    done = importer.load(out, ORDER, "select count(*) from gpu_slice")
    rows = {own_name(row[0]) for row in done.rows[0]}
    tap.ok("gpu:0 steps" not in rows and not rows & {"scopes", "XLA modules", "collectives"} and done.rows[1] == [[0]],
           "none: no row of a device", rows)
    refused = run("convert", source, "-o", out, "--device-rows", "streams")
    tap.ok(refused.status == 2 and "streams" in refused.err, "an unknown row is refused", refused)


def check_restless(tap, folder):
    """Scopes that change with each kernel repeat the stream: a level that does so is not drawn, from the first kernel on."""
    stream = Line(13, "Stream #13(Compute)")
    for i in range(3000):
        path = f"jit(step)/block_{i // 10 % 2}/part_{i % 7}/dot_general"
        stream.events.append(Event(f"k{i % 9}", (100 + 10 * i) * US, 9 * US, {
            "kernel_details": DETAILS.format(grid=1), "hlo_op": f"k{i % 9}", "hlo_module": "jit_step", "name": path}))
    gpu = Plane("/device:GPU:0", 0, [stream], {"device_vendor": "Nvidia", "core_count": 132})
    source, out = folder / "restless.xplane.pb", folder / "restless.pftrace"
    source.write_bytes(Space([gpu], "host0").encode())
    result = run("convert", source, "-o", out, "--quiet")
    if not tap.ok(result.status == 0, "scopes that change with each kernel", result):
        return
    names = {}
    for _, row, _, _, name, *_ in importer.load(out, SLICES).rows[0]:
        if own_name(row) == "scopes":
            names[name] = names.get(name, 0) + 1
    tap.ok(names == {"step": 1, "block_0": 150, "block_1": 150}, "only the levels that group kernels are drawn", names)


def main():
    tap = Tap()
    why = importer.missing()
    if why:
        tap.skip("computed rows in Perfetto's importer", why)
        tap.done()
    with Scratch() as folder:
        source, out = folder / "run.xplane.pb", folder / "run.pftrace"
        source.write_bytes(profile().encode())
        result = run("convert", source, "-o", out, "--quiet", "--device-rows", ALL_ROWS)
        if tap.ok(result.status == 0, "a profile is converted with all rows", result):
            done = importer.load(out, importer.STATS, SLICES, OWN, ARROWS, KERNEL_ROWS, COUNTERS)
            tap.ok(not done.error and not importer.complaints(done.rows[0]), "nothing is complained of",
                   done.error or importer.complaints(done.rows[0]))
            check_rows(tap, done.rows[1])
            check_idle(tap, done.rows[2])
            check_arrows(tap, done.rows[1], done.rows[3])
            check_kernels(tap, done.rows[4])
            check_counters(tap, done.rows[5])
        check_choice(tap, source, folder)
        check_restless(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
