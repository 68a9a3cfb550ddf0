#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What hosts did: launches, time without launched work, threads and self times, against a slow calculation.

    host_times.py [--case PATTERN] [--list]

The JSON is read by Python, times as exact picoseconds, and the figures are worked out after their definitions
(docs/metrics.md) without the program's ways: launches by dictionary, time without launched work by sorting intervals,
self times by asking for every moment of a thread which span is the innermost.  JAX's JSON copies and PyTorch's
profiles of $TM_SHARED/traces, whole and with the steps that the program chose.  Without the folder: skipped.
"""

import argparse
import heapq
import sys
from collections import Counter, defaultdict
from decimal import Decimal
from fnmatch import fnmatchcase
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from chrome_json import content_of, document_of  # noqa: E402
from differences import Differences  # noqa: E402
from pytorch import UNKNOWN_DEVICE, Profile  # noqa: E402
from slow_time import union  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import SHARED, Scratch, summary_of  # noqa: E402

ROWS = "10000"
CUT_BYTES = 256  # of a name in a table
DEVICE_CATEGORIES = {"kernel", "Kernel", "gpu_memcpy", "Memcpy", "gpu_memset", "Memset", "gpu_user_annotation"}
NO_SPANS = {"cpu_instant_event", "Trace", "ac2g", "fwdbwd"}


def shown(name):
    """A name as the table cuts it."""
    raw = name.encode()
    if len(raw) <= CUT_BYTES:
        return name
    end = CUT_BYTES
    while end and raw[end] & 0xC0 == 0x80:
        end -= 1
    return raw[:end].decode("utf-8", "replace") + "..."


def nearest_ps(microseconds):
    """Whole picoseconds: JAX prints doubles, 11.715999999999999 for 11.716."""
    return round(Decimal(microseconds).scaleb(6))  # a half to the even one


class Span:
    def __init__(self, event, origin):
        self.name, self.category = event["name"], event.get("cat")
        length = nearest_ps(event.get("dur", 0))
        self.begin = nearest_ps(event["ts"]) - origin
        self.end = self.begin + (0 if length == 1 else max(length, 0))

    @property
    def is_python(self):
        return self.name.startswith("$") or self.category == "python_function"


def threads_of_jax(events):
    """(pid, tid) -> spans, of the lines of the process /host:CPU."""
    hosts = {e["pid"] for e in events if e.get("ph") == "M" and e.get("name") == "process_name"
             and e["args"]["name"] == "/host:CPU"}
    found = defaultdict(list)
    for e in events:
        if e.get("ph") == "X" and e["pid"] in hosts:
            found[e["pid"], e["tid"]].append(Span(e, 0))
    return found


def threads_of_pytorch(profile):
    """The same; whatever runs on no device."""
    found = defaultdict(list)
    for e in profile.events:
        if e.get("ph") == "X" and e.get("cat") not in DEVICE_CATEGORIES | NO_SPANS:
            found[str(e["pid"]), str(e["tid"])].append(Span(e, profile.origin))
    return found


def cut(spans, window):
    """What lies in the window, as (begin, end, span), without what has no length."""
    found = []
    for s in spans:
        begin, end = (max(s.begin, window[0]), min(s.end, window[1])) if window else (s.begin, s.end)
        if begin < end:
            found.append((begin, end, s))
    return sorted(found, key=lambda p: (p[2].begin, -p[2].end))


def nests(pieces):
    """No two of them overlap without lying in each other."""
    open_ends = []
    for begin, end, _ in pieces:
        while open_ends and open_ends[-1] <= begin:
            open_ends.pop()
        if open_ends and end > open_ends[-1]:
            return False
        open_ends.append(end)
    return True


def self_times(pieces):
    """Name -> (count, own time, total time) of Python functions: each moment belongs to the span that began last, of
    those that began at once to the shortest."""
    edges = sorted({p[0] for p in pieces} | {p[1] for p in pieces})
    own = [0] * len(pieces)
    innermost, nth = [], 0
    for here, there in zip(edges, edges[1:]):
        while nth < len(pieces) and pieces[nth][0] <= here:
            heapq.heappush(innermost, -nth)  # later ones of the order lie inside
            nth += 1
        while innermost and pieces[-innermost[0]][1] <= here:
            heapq.heappop(innermost)
        if innermost:
            own[-innermost[0]] += there - here
    rows = defaultdict(lambda: [0, 0, 0])
    for (begin, end, span), own_ps in zip(pieces, own):
        if span.is_python:
            row = rows[shown(span.name)]
            row[0], row[1], row[2] = row[0] + 1, row[1] + own_ps, row[2] + end - begin
    return rows


def work_of(threads, window):
    """out: threads by what they did, as a name may be shared: (events, busy, first, last) -> how many; Python functions of
    all; whether the spans of each thread nest"""
    mine, rows, is_nested = Counter(), defaultdict(lambda: [0, 0, 0]), True
    for spans in threads.values():
        pieces = cut(spans, window)
        if not pieces:
            continue
        busy = union([(b, e) for b, e, _ in pieces])
        mine[len(pieces), busy, min(p[0] for p in pieces), max(p[1] for p in pieces)] += 1
        is_nested = is_nested and nests(pieces)
        for name, row in self_times(pieces).items():
            rows[name] = [a + b for a, b in zip(rows[name], row)]
    return mine, rows, is_nested


def compare_threads(d, mine, rows, is_nested, summary):
    """The threads, and the functions of those whose spans nest."""
    theirs = Counter((t["events"], t["busy_ps"], t["first_ps"], t["last_ps"]) for t in summary["host"]["threads"])
    d.equal("host.threads", sorted(mine.items()), sorted(theirs.items()))
    found = {r["name"]: [r["count"], r["self_ps"], r["total_ps"]] for r in summary["host"]["python"]}
    d.equal("host.python, names", sorted(rows), sorted(found))
    for name, row in rows.items():
        if name in found:
            got = found[name]
            d.equal(f"host.python[{name}]", row if is_nested else [row[0], got[1], row[2]], got)
    d.equal("host.python_rest.rows", 0, summary["host"]["python_rest"]["rows"])


def nearest_rank(values, percent):
    return sorted(values)[-(-len(values) * percent // 100) - 1]


def compare_launches(d, profile, summary):
    """All activities.  A call is a begin on a thread: nested calls of one correlation are told apart by nothing here, so
    it is the correlation that counts."""
    first = {}
    for a in profile.activities:
        if a.correlation in profile.launches:
            first[a.correlation] = min(first.get(a.correlation, a.begin), a.begin)
    delays = [begin - profile.launches[c] for c, begin in first.items()]
    host = summary["host"]
    if not delays:
        d.equal("host.launches", None, host["launches"])
        return
    kept = [v for v in delays if v >= 0]
    d.equal("host.launches.count", len(delays), host["launches"]["count"])
    d.equal("host.launch_delay.negative", len(delays) - len(kept), host["launch_delay"]["negative"])
    if kept:
        for percent in (50, 95):
            d.equal(f"host.launch_delay.p{percent}_ps", nearest_rank(kept, percent), host["launch_delay"][f"p{percent}_ps"])
        d.equal("host.launch_delay.max_ps", max(kept), host["launch_delay"]["max_ps"])


def compare_queues(d, profile, summary):
    """Of each device all intervals from launch to end; what they leave of the span is empty.  A gap before work of which
    no launch is known is full."""
    count = total = 0
    for device in profile.devices:
        mine = profile.of(device)
        reached, taken = None, []
        for a in mine:
            launch = min(profile.launches.get(a.correlation, a.begin), a.begin)
            if a.correlation not in profile.launches and reached is not None:
                at_once = [b for b in mine if b.begin == a.begin]
                before = max((b.end for b in mine if b.begin < a.begin), default=a.begin)
                launch = min(before, a.begin) if at_once else a.begin
            taken.append((launch, a.end))
            reached = a.end if reached is None else max(reached, a.end)
        begin, end = min(a.begin for a in mine), max(a.end for a in mine)
        covered = union([(max(b, begin), e) for b, e in taken])
        total += end - begin - covered
        count += stretches(taken, begin)
    empty = summary["host"]["queue_empty"]
    if empty is not None:
        d.equal("host.queue_empty.total_ps", total, empty["total_ps"])
        d.equal("host.queue_empty.count", count, empty["count"])
        d.equal("host.queue_empty within idle", True, empty["total_ps"] <= summary["total"]["idle_ps"])


def stretches(taken, begin):
    """How many stretches lie between the intervals."""
    found, reached = 0, begin
    for b, e in sorted(taken):
        found += b > reached
        reached = max(reached, e)
    return found


def report_on(tap, name, path, *options):
    with Scratch() as folder:
        result, summary = summary_of(path, folder, "--rows", ROWS, *options)
    if summary is None or result.crashed or result.status not in (0, 4):
        tap.ok(False, name, f"report ended with {result}")
        return None
    return summary


def run_case(tap, name, path, is_jax):
    profile = None if is_jax else Profile(path)
    threads = threads_of_jax(document_of(content_of(path))[1]) if is_jax else threads_of_pytorch(profile)
    d, work = Differences(name, ()), {}
    for options in (("--steps", "all"), ()):
        summary = report_on(tap, name, path, *options)
        if summary is None:
            return
        windows = summary["host"]["windows"]
        window = None if windows[0]["basis"] == "all" else (windows[0]["begin_ps"], windows[0]["end_ps"])
        if window not in work:
            work[window] = work_of(threads, window)
        compare_threads(d, *work[window], summary)
        if profile and profile.activities and options:
            compare_launches(d, profile, summary)
            compare_queues(d, profile, summary)
    d.tell(tap, f"{name}: {d.compared} figures")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", default="*", metavar="PATTERN", help="only these profiles")
    parser.add_argument("--list", action="store_true", help="name the profiles")
    options = parser.parse_args()
    tap = Tap()
    jax = sorted((SHARED / "traces" / "logdir").glob("*/plugins/profile/*/vm.trace.json.gz"))
    torch = [p for p in sorted((SHARED / "traces" / "kineto").glob("*"))
             if p.stat().st_size < 8 << 20 and not fnmatchcase(p.name, UNKNOWN_DEVICE)]
    cases = [(f"jax {p.parents[3].name}", p, True) for p in jax] + [(p.name.split(".json")[0], p, False) for p in torch]
    cases = [c for c in cases if fnmatchcase(c[0], options.case)]
    if options.list:
        print("\n".join(c[0] for c in cases))
        return
    if not cases:
        tap.skip("times of hosts", f"no profiles at {SHARED / 'traces'}")
    for case in cases:
        run_case(tap, *case)
    tap.done()


if __name__ == "__main__":
    main()
