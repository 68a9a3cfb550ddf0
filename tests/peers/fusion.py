#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fusion and occupancy against slow calculations of their own, exact to the picosecond.

    fusion.py [--case PATTERN]

One case per profile of $TM_SHARED/traces/kineto: small kernels, their runs on each stream, ops that come back in a
step, occupancy and grids, worked out from the raw JSON after their definitions (docs/metrics.md).  And generated
profiles ($TM_SHARED/tools/make_trace.py, needs numpy), whose truth holds the small kernels and the exact sums of
occupancy, collectives included in both.  Without the folder: skipped.
"""

import argparse
import functools
import json
import re
import sys
from collections import Counter, defaultdict
from fnmatch import fnmatchcase
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from differences import Differences, at  # noqa: E402
from made import GENERATOR, run_generator  # noqa: E402
from pytorch import DEVICE_SIDE, DRIVER, KERNEL, PROFILES, UNKNOWN_DEVICE, Activity, Profile, exact_ps  # noqa: E402
from slow_figures import Run  # noqa: E402
from slow_sections import compare_kept  # noqa: E402
from slow_steps import step_at  # noqa: E402
from slow_time import pauses  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, summary_of  # noqa: E402

GENERATED = (("unfused",), ("lowocc",), ("steady",), ("mixed",), ("steady", "--graphs", "expanded"), ("memory",))
US = 10**6
SMALL, TINY, PAUSE, LAUNCH = 100 * US, 10 * US, 10 * US, 5 * US
CHAIN_MOST = 8
OTHER_WORK = re.compile(r"flash|fmha|attention|attn|sdpa|conv(?![a-z])|convol|(?<!fb)gemm|gemv|cutlass|splitk|matmul|im2col|"
                        r"topk|sort", re.IGNORECASE)
EAGER = re.compile(r"elementwise|pointwise|dropout|reduce|reduction|softmax|(layer|rms|batch)_?norm|copy|transpose|"
                   r"concat|cat|GammaBeta|RowwiseMoments|pool|nll_loss|index|gather|scatter|embedding|triu_tril|upsample",
                   re.IGNORECASE)
NUMBER = re.compile(r"(?<=.)[_.][0-9]+$", re.DOTALL)


# --- kernels of PyTorch's profiles ----------------------------------------------------------------------------

def short(name):
    return NUMBER.sub("", name) if len(name.encode()) < 1024 else name


def kernels_of(profile):
    return [a for a in profile.activities if a.sort == KERNEL and not a.is_collective]


def streams_of(profile):
    """Activities of each line, in the order of time, longer ones first."""
    found = defaultdict(list)
    for e in profile.events:
        if e.get("cat") in DEVICE_SIDE:
            found[str(e["pid"]), str(e["tid"])].append(Activity(e, profile.origin))
    return [sorted(a, key=lambda x: (x.begin, -x.length)) for a in found.values()]


def runs_of(profile):
    """Lists of small kernels that follow one another with hardly a pause."""
    found = []
    for activities in streams_of(profile):
        run, end = [], None
        for a in activities + [None]:
            is_small = a is not None and a.sort == KERNEL and not a.is_collective and a.length < SMALL
            if run and not (is_small and a.begin - end < PAUSE):
                found.append(run)
                run = []
            if is_small:
                end = a.end if not run else max(end, a.end)
                run.append(a)
        assert not run
    return [r for r in found if len(r) >= 2]


def figures_of(run):
    begin, end, pauses = run[0].begin, run[0].begin, 0
    for a in run:
        pauses += max(0, a.begin - end)
        end = max(end, a.end)
    return {"begin_ps": begin, "dur_ps": end - begin, "kernels": len(run), "kernel_ps": sum(a.length for a in run),
            "gap_ps": pauses, "at_stake_ps": min(end - begin, pauses + LAUNCH * (len(run) - 1))}


def sums(kernels):
    return {"count": len(kernels), "total_ps": sum(a.length for a in kernels)}


def compare_small(d, profile, summary):
    kernels = kernels_of(profile)
    collectives = [a for a in profile.activities if a.is_collective]
    fusion = summary["fusion"]
    for figure, want in (("kernels", kernels), ("small", [a for a in kernels if a.length < SMALL]),
                         ("tiny", [a for a in kernels if a.length < TINY]),
                         ("small.collectives", [a for a in collectives if a.length < SMALL])):
        for part, value in sums(want).items():
            d.equal(f"fusion.{figure}.{part}", value, at(fusion, f"{figure}.{part}"))


def compare_runs(d, profile, summary):
    want = [figures_of(r) for r in runs_of(profile)]
    got = summary["fusion"]["runs"]
    d.equal("fusion.runs.count", len(want), got["count"])
    for figure in ("kernels", "kernel_ps", "gap_ps", "at_stake_ps"):
        d.equal(f"fusion.runs.{figure}", sum(r[figure] for r in want), got[figure])
    longest = sorted(want, key=lambda r: -r["dur_ps"])
    d.equal("fusion.runs.longest: lengths", [r["dur_ps"] for r in longest[:20]], [r["dur_ps"] for r in got["longest"]])
    known = {tuple(sorted(r.items())) for r in want}
    for i, row in enumerate(got["longest"]):
        d.equal(f"fusion.runs.longest[{i}] is a run", True,
                tuple(sorted((k, row[k]) for k in ("begin_ps", "dur_ps", "kernels", "kernel_ps", "gap_ps",
                                                   "at_stake_ps"))) in known)


def compare_repeated(d, profile, summary):
    fusion = summary["fusion"]
    if not profile.steps:
        d.equal("fusion.repeated", None, fusion["repeated"])
        return
    kernels = [(step_at(profile, profile.moment_of(a)), a) for a in kernels_of(profile)]
    inside = [(s, a) for s, a in kernels if s is not None]
    d.equal("fusion.per_step", len(inside) / (len(profile.steps) * len(profile.devices)), fusion["per_step"])
    by_step = defaultdict(list)
    for step, a in inside:
        if a.length < SMALL:
            by_step[short(a.name), step, a.device].append(a.length)
    rows = defaultdict(list)
    for (name, _, _), lengths in by_step.items():
        if len(lengths) > 10:
            rows[name].append(lengths)
    count = sum(len(x) for r in rows.values() for x in r)
    d.equal("fusion.repeated_total", {"count": count, "total_ps": sum(sum(x) for r in rows.values() for x in r)},
            fusion["repeated_total"])
    want = Counter((sum(map(len, r)), len(r), sum(map(sum, r))) for r in rows.values())
    got = Counter((r["count"], r["steps"], r["total_ps"]) for r in fusion["repeated"])
    d.equal("fusion.repeated: rows that are none", Counter(), got - want)
    d.equal("fusion.repeated: length", min(50, len(rows)), len(fusion["repeated"]))


@functools.cache
def is_eager(kernel_name):
    """A kernel of ATen that does pointwise work, normalizes, indexes, copies or reduces: its functions are named so, or the kernel is."""
    name = kernel_name[:1024]
    return "at::native" in name and "multi_tensor_apply" not in name and not OTHER_WORK.search(name) and \
        bool(EAGER.search(name))


def chains_of(profile):
    """Lists of such kernels, one after another on a stream, in one step, at most eight; a single one is none."""
    found = []
    for activities in streams_of(profile):
        chain, step = [], None
        for a in activities + [None]:
            is_member = a is not None and a.sort == KERNEL and not a.is_collective and is_eager(a.name)
            here = step_at(profile, profile.moment_of(a)) if is_member else None
            if chain and (not is_member or len(chain) == CHAIN_MOST or here != step):
                found.append(chain)
                chain = []
            if is_member:
                chain.append(a.length)
                step = here
    return [c for c in found if len(c) >= 2]


def compare_chains(d, profile, summary):
    chains = chains_of(profile)
    want = {"count": len(chains), "kernels": sum(map(len, chains)), "total_ps": sum(map(sum, chains)),
            "saved_ps": sum(sum(c) - max(c) for c in chains)}
    for figure, value in want.items():
        d.equal(f"fusion.eager_chains.{figure}", value, at(summary, f"fusion.eager_chains.{figure}"))


def compare_pauses(d, profile, summary):
    calls = {}
    for e in profile.events:
        if e.get("cat") in DRIVER and "correlation" in e.get("args", {}):
            begin = exact_ps(e["ts"]) - profile.origin
            calls[e["args"]["correlation"]] = (begin, begin + exact_ps(e.get("dur", 0)))
    of_devices = [pauses([(a.begin, a.end, calls.get(a.correlation)) for a in profile.of(device)], PAUSE)
                  for device in profile.devices]
    for figure in ("count", "total_ps"):
        d.equal(f"gaps.pauses.{figure}", sum(p[figure] for p in of_devices), at(summary, f"gaps.pauses.{figure}"))


def compare_kept_buffers(d, profile, summary):
    events = sorted((e for e in profile.events if e.get("name") == "[memory]" and e.get("ph") == "i"),
                    key=lambda e: exact_ps(e["ts"]))
    told = [e["args"] for e in events]
    compare_kept(d, [("cpu" if a["Device Type"] == 0 else f"gpu:{a['Device Id']}", a.get("Addr"), max(0, a["Bytes"]))
                     for a in told], summary)


# --- occupancy ------------------------------------------------------------------------------------------------

def blocks_of(a):
    x, y, z = a.args["grid"]
    return x * y * z


def compare_occupancy(d, profile, summary):
    kernels = kernels_of(profile)
    known = [a for a in kernels if profile.occupancy_of(a) is not None]
    got = summary["occupancy"]
    if not known:
        d.equal("occupancy.known_ps", 0, got["known_ps"] if got else 0)
        return
    known_ps = sum(a.length for a in known)
    d.equal("occupancy.known_ps", known_ps, got["known_ps"])
    d.equal("occupancy.unknown_ps", sum(a.length for a in kernels) - known_ps, got["unknown_ps"])
    d.equal("occupancy.mean_pct", sum(a.length * profile.occupancy_of(a) for a in known) / known_ps / 1000,
            got["mean_pct"])
    bins = [[0, 0] for _ in range(10)]
    for a in known:
        row = bins[min(9, profile.occupancy_of(a) // 10000)]
        row[0], row[1] = row[0] + 1, row[1] + a.length
    d.equal("occupancy.histogram", bins, [[r["count"], r["total_ps"]] for r in got["histogram"]])
    d.equal("occupancy.limiters: all together", known_ps, sum(got["limiters"].values()))


def compare_grids(d, profile, summary):
    """Multiprocessors without a block, rounded down for each kernel with its launch."""
    properties = {p["id"]: p.get("numSms") for p in profile.document.get("deviceProperties", [])}
    launches = defaultdict(int)
    for a in kernels_of(profile):
        told = profile.occupancy_of(a)
        if told is not None and properties.get(a.device):
            launches[short(a.name), a.launch_facts, told, blocks_of(a), properties[a.device]] += a.length
    want = sum(ps * (sms - blocks) // sms for (_, _, _, blocks, sms), ps in launches.items() if blocks < sms)
    d.equal("occupancy.tail.idle_multiprocessors_ps", want, at(summary, "occupancy.tail.idle_multiprocessors_ps"))


def dispatches_of(profile, device):
    """(kernels, idle time before the first in its step): kernels in a row that one call launched, in steps only."""
    found, end, last, step = [], None, None, None
    for a in profile.of(device):
        here = step_at(profile, profile.moment_of(a))
        if here is None:
            continue
        if a.sort == KERNEL and not a.is_collective and a.correlation in profile.launches:
            key = a.correlation, here
            if key == last:
                found[-1][0].append(a)
            else:
                pause = a.begin - end if step == here else 0
                found.append(([a], pause if 0 < pause < SMALL else 0))
            last = key
        end = a.end if end is None else max(end, a.end)
        step = here
    return found


def compare_eager(d, profile, summary):
    """How far the work goes to the devices kernel by kernel."""
    calls = {e["args"]["correlation"]: exact_ps(e["dur"]) for e in profile.events
             if e.get("cat") in DRIVER and "correlation" in e.get("args", {})}
    found = [x for device in profile.devices for x in dispatches_of(profile, device)] if profile.steps else []
    if not found:
        d.equal("host.eager", None, summary["host"]["eager"])
        return
    single = [(k[0], pause) for k, pause in found if len(k) == 1]
    want = {"programs_per_step": len(found) / len(profile.steps) / len(profile.devices),
            "single_op_programs_pct": 100 * len(single) / len(found),
            "launch_gap_ps": sum(pause for _, pause in single),
            "small_kernel_ps": sum(k.length for k, _ in single if k.length < SMALL),
            "host_ps": sum(calls[k.correlation] for k, _ in single) or None}
    for figure, value in want.items():
        d.equal(f"host.eager.{figure}", value, summary["host"]["eager"][figure])


def run_profile(tap, path, folder):
    profile = Profile(path)
    result, summary = summary_of(path, folder, "--steps", "all")
    if summary is None or result.crashed:
        tap.ok(False, path.name, result)
        return
    d = Differences(path.name)
    if summary["fusion"] is None:
        d.equal("kernels", [], kernels_of(profile))
    else:
        for part in (compare_small, compare_runs, compare_repeated, compare_chains, compare_pauses, compare_occupancy):
            d.part(part, profile, summary)
        if summary["occupancy"] and len(summary["environment"]["devices"]) == 1:
            d.part(compare_grids, profile, summary)
    d.part(compare_kept_buffers, profile, summary)
    d.part(compare_eager, profile, summary)
    tap.ok(not d.wrong, f"{path.name}: {d.compared} figures", d.report())


# --- generated profiles ---------------------------------------------------------------------------------------

def compare_run(d, run, summary):
    """What no truth tells, from the profile itself."""
    of_devices = [pauses(run.launched(device), PAUSE) for device in run.devices]
    for figure in ("count", "total_ps"):
        d.equal(f"gaps.pauses.{figure}", sum(p[figure] for p in of_devices), at(summary, f"gaps.pauses.{figure}"))
    compare_kept(d, run.memory_events(), summary)


def run_generated(tap, name, options, folder):
    made = run_generator(folder / "host0", "--events", 20000, "--devices", 2, "--quiet", "--scenario", *options)
    if made.returncode != 0:
        tap.ok(False, name, "the generator failed", made.stderr[-1000:])
        return
    truth = json.loads((folder / "host0.truth.json").read_text())
    result, summary = summary_of(folder / "host0.xplane.pb", folder / "out", "--steps", "all")
    if summary is None or result.crashed:
        tap.ok(False, name, result)
        return
    d = Differences(name)
    kernels = [v["kernels"] for h in truth["hosts"] for v in h["devices"]]
    small = summary["fusion"]["small"]
    for figure in ("count", "total_ps"):
        d.equal(f"fusion.small.{figure}, collectives with it", sum(k["small"][figure] for k in kernels),
                small[figure] + small["collectives"][figure])
    weighted = sum(k["occupancy"]["weighted_milli_pct_ps"] for k in kernels)
    known_ps = sum(k["occupancy"]["time_ps"] for k in kernels)
    d.equal("occupancy.with_collectives.known_ps", known_ps, at(summary, "occupancy.with_collectives.known_ps"))
    d.equal("occupancy.with_collectives.mean_pct", weighted / known_ps / 1000,
            at(summary, "occupancy.with_collectives.mean_pct"))
    d.part(compare_run, Run(folder / "host0.xplane.pb"), summary)
    d.equal("occupancy: of fewer kernels", True, summary["occupancy"]["known_ps"] < known_ps
            or truth["total"]["collective_count"] == 0)
    tap.ok(not d.wrong, f"{name}: {d.compared} figures", d.report())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", metavar="PATTERN", default="*")
    pattern = parser.parse_args().case
    tap = Tap()
    paths = sorted(PROFILES.glob("*.json*")) if PROFILES.is_dir() else []
    for path in paths:
        if fnmatchcase(path.name, pattern) and not fnmatchcase(path.name, UNKNOWN_DEVICE):
            with Scratch() as folder:
                run_profile(tap, path, folder)
    for options in GENERATED if GENERATOR.exists() else ():
        name = " ".join(options)
        if fnmatchcase(name, pattern):
            with Scratch() as folder:
                run_generated(tap, name, options, folder)
    if not paths and not GENERATOR.exists():
        tap.skip("fusion and occupancy", "no $TM_SHARED")
    tap.done()


if __name__ == "__main__":
    main()
