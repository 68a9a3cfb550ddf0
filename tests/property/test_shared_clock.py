#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hosts on one clock: offsets and drift that are known by construction (docs/metrics.md, "Clocks of hosts").

Each host records its times on its own clock, which is off and gains or loses.  Collectives end on all hosts at once,
give or take some microseconds.  What a report says of each clock has to hold over the whole run within the uncertainty
that it states, and a trace of all hosts has to be on that clock.
"""

import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from tap import Tap  # noqa: E402
from tracemill import Scratch, run, summary_of  # noqa: E402

BASE_US = 1_700_000_000_000_000


class Host:
    """offset_us: how far its clock is ahead; drift: what it gains in a second, in ppm; jitter_us: of the ends."""

    def __init__(self, offset_us=0.0, drift=0.0, jitter_us=3.0):
        self.offset_us, self.drift, self.jitter_us = offset_us, drift, jitter_us

    def reads(self, true_us):
        return BASE_US + self.offset_us + true_us * (1 + self.drift * 1e-6)



def write_hosts(folder, hosts, groups=None, count=400, seed=1, outliers=0.0, kind="allreduce", late=()):
    """in: groups    lists of hosts that reduce together, taken in turns
        outliers  share of the ends that are late
        late      hosts whose profile starts 40 collectives later"""
    dice, events, now, numbers = random.Random(seed), [[] for _ in hosts], 1000.0, {}
    groups = groups or [list(range(len(hosts)))]
    for i in range(count):
        group = groups[i % len(groups)]
        starts = {rank: now + dice.uniform(0, 300) for rank in group}
        end = max(starts.values()) + dice.uniform(80, 160)
        number = numbers[str(group)] = numbers.get(str(group), 0) + 1
        for rank in group:
            if rank in late and i < 40:
                continue
            done = end + dice.uniform(0, hosts[rank].jitter_us) + (dice.random() < outliers) * dice.uniform(200, 700)
            begin, stop = hosts[rank].reads(starts[rank]), hosts[rank].reads(done)
            args = {"device": 0, "stream": 20, "Collective name": kind, "In msg nelems": 65536, "dtype": "Float",
                    "Out msg nelems": 65536, "Group size": len(group), "Process Group Name": str(group),
                    "Process Group Ranks": str(group)}
            args["Seq"] = number
            events[rank].append({"ph": "X", "cat": "kernel", "name": "ncclDevKernel_Generic", "pid": 0, "tid": 20,
                                 "ts": round(begin, 3), "dur": round(stop - begin, 3), "args": args})
            events[rank].append({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": round(begin, 3),
                                 "dur": 20, "args": {"device": 0, "stream": 7}})
        now = end + dice.uniform(1000, 9000)
    paths = []
    for rank, own in enumerate(events):
        paths.append(folder / f"rank{rank}.json")
        text = json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA A100"}],
                           "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": len(hosts)},
                           "traceEvents": own})
        paths[-1].write_text(text, encoding="utf-8")
    return paths, now


def origins_of(summary):
    return {f["host"]: f["origin_us"] for f in summary["input"]["files"]}


def errors_of(summary, hosts, length_us):
    """How far the alignment is off at the start, in the middle, and at the end of the run, by host, in us."""
    rows, origins = summary["collectives"]["skew"]["clock"]["list"], origins_of(summary)
    reference = next(i for i, row in enumerate(rows) if row["method"] == "reference")

    def shared(i, true_us):
        own_us = hosts[i].reads(true_us) - origins[rows[i]["host"]]
        return own_us * (1 + rows[i]["drift_ppm"] * 1e-6) + rows[i]["offset_ps"] * 1e-6

    return [[shared(i, t) - shared(reference, t) for t in (1000, length_us / 2, length_us)] for i in range(len(rows))]


def check_planted(tap, name, hosts, methods, **options):
    with Scratch() as folder:
        paths, length_us = write_hosts(folder, hosts, **options)
        _, summary = summary_of(paths, folder / "out")
        clock = summary["collectives"]["skew"]["clock"]
        tap.ok(clock["aligned"] is True, f"{name}: aligned", clock)
        if not clock["aligned"]:
            return
        rows = clock["list"]
        tap.ok([row["method"] for row in rows] == methods, f"{name}: by what", [row["method"] for row in rows])
        wrong = [(row["host"], error, row["uncertainty_ps"] / 1e6) for row, error in
                 zip(rows, errors_of(summary, hosts, length_us)) if row["uncertainty_ps"] is not None and
                 any(abs(e) > row["uncertainty_ps"] / 1e6 + 0.3 for e in error)]
        tap.ok(not wrong, f"{name}: the truth is within the uncertainty", *wrong)
        vague = [row for row in rows if row["uncertainty_ps"] is not None and row["uncertainty_ps"] > 30e6]
        tap.ok(not vague, f"{name}: the uncertainty is small", *vague)
        check_trace(tap, name, folder, paths, rows, hosts)


def check_trace(tap, name, folder, paths, rows, hosts):
    """Collectives end together in the trace of all hosts."""
    result = run("convert", *paths, "-o", folder / "all.json")
    events = json.loads((folder / "all.json").read_text(encoding="utf-8"))["traceEvents"]
    ends = {}
    for e in events:
        if e.get("ph") == "X" and e["name"] == "ncclDevKernel_Generic":
            ends.setdefault((e["args"]["Process Group Name"], e["args"]["Seq"]), []).append(e["ts"] + e["dur"])
    spreads = sorted(max(v) - min(v) for v in ends.values() if len(v) > 1)
    most = 2 * max(row["uncertainty_ps"] or 0 for row in rows) / 1e6 + 2 * max(h.jitter_us for h in hosts)
    tap.ok(result.status == 0 and spreads and spreads[len(spreads) * 8 // 10] <= most,
           f"{name}: collectives end together in the trace", spreads[-1:], most)


def check_parts(tap):
    """All hosts are cut at the same times."""
    with Scratch() as folder:
        paths, _ = write_hosts(folder, [Host(), Host(4e6, 30), Host(-2e6)], late=(1,))
        run("split", *paths, "-o", folder / "parts", "--by", "time=500ms", "--format", "json")
        index = json.loads((folder / "parts" / "index.json").read_text(encoding="utf-8"))
        begins = {}
        for part in index["parts"]:
            begins.setdefault(part["host"], []).append(part["begin_ns"])
        zero = min(times[0] for times in begins.values())
        off = [(begin - zero) % 500_000_000 for times in begins.values() for begin in times[1:]]
        # a part starts with the first event after its border
        tap.ok(len(begins) == 3 and len(off) > 5 and max(off) < 10_000_000, "parts of all hosts have the same borders", off)


def check_refused(tap):
    with Scratch() as folder:
        hosts = [Host(), Host(700_000, jitter_us=30_000)]
        paths, _ = write_hosts(folder, hosts)
        _, summary = summary_of(paths, folder / "out")
        clock = summary["collectives"]["skew"]["clock"]
        tap.ok(clock["aligned"] is False and clock["list"] is None, "ends that are on no line align nothing", clock)
    with Scratch() as folder:
        paths, _ = write_hosts(folder, [Host(), Host(50)], kind="broadcast")
        run("report", *paths, "-o", folder / "out", "--format", "text,json")
        text = " ".join((folder / "out" / "report.txt").read_text(encoding="utf-8").split())
        tap.ok("each is at its recorded start" in text, "without such collectives, the recorded start is used and named", text[-600:])


def main():
    tap = Tap()
    one = ["reference", "collectives"]
    check_planted(tap, "an offset", [Host(), Host(5_000)], one)
    check_planted(tap, "the same clock", [Host(), Host()], ["reference", "confirmed"])
    check_planted(tap, "a clock that is behind", [Host(), Host(-2_500_000)], ["collectives", "reference"])
    check_planted(tap, "drift", [Host(), Host(1000, 40), Host(2000, -25)], ["reference", "collectives", "collectives"])
    check_planted(tap, "outliers", [Host(), Host(5_000, 15)], one, outliers=0.1)
    check_planted(tap, "many collectives", [Host(), Host(123_456, 50)], one, count=3000)
    check_planted(tap, "neighbors only", [Host(), Host(10_000), Host(20_000, 20), Host(30_000)],
                  ["reference"] + 3 * ["collectives"], groups=[[0, 1], [1, 2], [2, 3]], count=900)
    check_parts(tap)
    check_refused(tap)
    tap.done()


if __name__ == "__main__":
    main()
