#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's profiles: every figure against a slow calculation of its own from the raw JSON, to the picosecond.

    pytorch.py [--case PATTERN] [--list]

The JSON is read by Python, times as decimals and then whole picoseconds, and the figures are worked out after their
definitions (docs/metrics.md) by sorting and sweeping lists.  One case per profile of $TM_SHARED/traces/kineto, one
for ranks that are one run.  Without the folder: skipped.
"""

import argparse
import functools
import re
import sys
from collections import Counter, defaultdict
from decimal import Decimal
from fnmatch import fnmatchcase
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from chrome_json import compare_phases, content_of, document_of  # noqa: E402
from deviation import stddev_of  # noqa: E402
from differences import MISSING, Differences, at  # noqa: E402
from invariants import check as check_invariants  # noqa: E402
from slow_sections import achieved_thousandths, compare_fusion, compare_kernel_means, compare_occupancy  # noqa: E402
from slow_sections import rank_of  # noqa: E402
from slow_steps import chosen_steps, chosen_time, device_steps, forget, periods, whole_time, whole_window  # noqa: E402
from slow_time import gaps, union  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import SHARED, Scratch, summary_of  # noqa: E402

PROFILES = SHARED / "traces" / "kineto"
ONE_RUN = "astra-sim-workload-megatron-tp8-megatron_kineto_*.json"
UNKNOWN_DEVICE = "*mtia*"  # its events are left out, and told as a loss
ROWS = ("--rows", "10000", "--memory", "2GiB")
CUT_BYTES = 256  # of a name in a table
EPOCH_US = 3600 * 10**6  # a clock that reads more does not count from the begin: times are of its whole second on

# Differences that were looked into and are right: (case pattern, figure pattern, reason).
KNOWN = ()

# --- reading --------------------------------------------------------------------------------------------------

KERNEL, COPY, MEMSET = "kernel", "copy", "memset"
DEVICE_SIDE = {"kernel": KERNEL, "Kernel": KERNEL, "gpu_memcpy": COPY, "Memcpy": COPY, "gpu_memset": MEMSET,
               "Memset": MEMSET}
DRIVER = ("cuda_runtime", "cuda_driver", "Runtime")
COLLECTIVE = re.compile(r"nccl|rccl|nvshmem|msccl|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|"
                        r"cross_device_reduce|multimem", re.IGNORECASE)
BLOCKS = re.compile(r"^(cu|cuda|hip)\w*Synchronize$|^(cuda|hip)Memcpy(?!.*Async)")
LAUNCHES = re.compile(r"Launch.*Kernel|GraphLaunch$|Memcpy.*Async|Memset.*Async")
STEP = re.compile(r"^ProfilerStep#(\d+)$")
COLLECTIVE_KINDS = (("all-reduce", "all_?reduce"), ("all-gather", "all_?gather"), ("broadcast", "broadcast"),
                    ("reduce-scatter", "reduce_?scatter"), ("all-to-all", "all_?to_?all"), ("send-recv", "send_?recv"))
ELEMENT_BYTES = {"Float": 4, "BFloat16": 2, "Half": 2, "Long": 8, "Int": 4, "Double": 8, "Byte": 1, "Char": 1}
DIRECTIONS = (("h2d", "HtoD"), ("d2h", "DtoH"), ("p2p", "PtoP"), ("d2d", "DtoD"))


# A name comes back thousands of times, and is searched once.
@functools.cache
def is_collective_name(name):
    return bool(COLLECTIVE.search(name))


@functools.cache
def is_launch_name(name):
    return bool(LAUNCHES.search(name))


def exact_ps(microseconds):
    """Whole picoseconds; JAX and others write 1e-06 for nothing, PyTorch never does."""
    return int(Decimal(microseconds).scaleb(6))


class Activity:
    def __init__(self, event, origin):
        args = event["args"]
        self.name, self.sort = event["name"], DEVICE_SIDE[event["cat"]]
        self.begin = exact_ps(event["ts"]) - origin
        self.length = exact_ps(event["dur"])
        self.end = self.begin + self.length
        self.device = int(args["device"])
        self.correlation = args.get("correlation")
        self.bytes = args.get("bytes")
        self.args = args

    @property
    def is_collective(self):
        return self.sort == KERNEL and is_collective_name(self.name)

    @property
    def direction(self):
        """Of a copy: told by its name, "Memcpy HtoD (Pinned -> Device)"."""
        return next((ours for ours, theirs in DIRECTIONS if theirs in self.name), "other")

    @property
    def rank(self):
        """Place in the sweep: what comes first takes the time."""
        if self.sort != COPY:
            return 1 if self.is_collective else 0
        return 2 + [d for d, _ in DIRECTIONS].index(self.direction) if self.direction != "other" else 6

    @property
    def launch_facts(self):
        grid, block = (",".join(map(str, self.args[k])) if self.args.get(k) else None for k in ("grid", "block"))
        return grid, block, self.args.get("registers per thread") or None, self.args.get("shared memory") or None


class Profile:
    """What one file holds, as lists."""

    def __init__(self, path):
        self.document, self.events = document_of(content_of(path))
        self.origin = self._origin()
        self.activities = [Activity(e, self.origin) for e in self.events if e.get("cat") in DEVICE_SIDE]
        self.activities.sort(key=lambda a: (a.begin, a.end))
        self.launches = self._launches()
        self.steps = self._steps()
        self.devices = sorted({a.device for a in self.activities})

    def _origin(self):
        first = next((Decimal(e["ts"]) for e in self.events if e.get("ph") != "M"), Decimal(0))
        return int(first // 10**6) * 10**12 if first >= EPOCH_US else 0

    def _launches(self):
        """Correlation -> begin of the driver call."""
        return {e["args"]["correlation"]: exact_ps(e["ts"]) - self.origin for e in self.events
                if e.get("cat") in DRIVER and "correlation" in e.get("args", {})}

    @functools.cached_property
    def calls(self):
        """Correlation -> (begin, end) of the driver call that launched; of two the one that says so by its name."""
        found = {}
        for e in self.events:
            if e.get("cat") in DRIVER and "correlation" in e.get("args", {}):
                begin = exact_ps(e["ts"]) - self.origin
                call = (not is_launch_name(e["name"]), begin, begin + exact_ps(e["dur"]))
                key = e["args"]["correlation"]
                if key not in found or call[:2] < found[key][:2]:
                    found[key] = call
        return {key: call[1:] for key, call in found.items()}

    def _steps(self):
        """(number, begin, length), in the order of time; the device side repeats the markers as annotations."""
        found = [(int(STEP.match(e["name"]).group(1)), exact_ps(e["ts"]) - self.origin, exact_ps(e["dur"]))
                 for e in self.events if e.get("ph") == "X" and e.get("cat") != "gpu_user_annotation"
                 and STEP.match(e["name"])]
        return sorted(found, key=lambda s: s[1])

    is_cpu, compiles = False, ()  # no profile here has a compilation

    def moment_of(self, activity):
        """When it was launched; where that is not known, when it began."""
        return self.launches.get(activity.correlation, activity.begin)

    def ranked(self, device):
        return [(a.rank, a.begin, a.end) for a in self.of(device)]

    def occupancy_of(self, activity):
        """In thousandths of a percent; None = unknown."""
        return achieved_thousandths(activity.args, self.properties.get(activity.device))

    @functools.cached_property
    def properties(self):
        return {row["id"]: row for row in self.document.get("deviceProperties", [])}

    @functools.cache
    def of(self, device):
        return [a for a in self.activities if a.device == device]


# --- working out ----------------------------------------------------------------------------------------------

def sums(activities, with_bytes=False):
    found = {"count": len(activities), "total_ps": sum(a.length for a in activities)}
    if with_bytes:
        found["bytes"] = sum(a.bytes for a in activities if a.bytes is not None)
    return found


def rows_by(key, activities):
    table = defaultdict(list)
    for a in activities:
        table[key(a)].append(a.length)
    return {k: [len(v), sum(v), min(v), max(v), stddev_of(v)] for k, v in table.items()}


# --- comparing ------------------------------------------------------------------------------------------------

def ordinal_of(device):
    return int(device["id"].rsplit(":", 1)[1])


def compare_device(d, profile, device, summary_device, mode):
    """What does not depend on the choice of steps, and with all steps chosen the device's time."""
    where = f"gpu:{device}"
    mine = profile.of(device)
    d.equal(f"{where}.name of the model", model_of(profile, device), summary_device["model"])
    if mode == "all":
        begin, end = min(a.begin for a in mine), max(a.end for a in mine)
        d.equal(f"{where}.activities", len(mine), summary_device["activities"])
        d.equal(f"{where}.first_ps", begin, summary_device["first_ps"])
        d.equal(f"{where}.last_ps", end, summary_device["last_ps"])
        compare_time(d, where, whole_time(profile, device), summary_device)
        compare_gaps(d, where, gaps([(a.begin, a.end) for a in mine], whole_window(profile, device)), summary_device["gaps"])
        compare_sorts(d, where, mine, summary_device)
    if profile.steps:
        for name, want in device_steps(profile, device).items():
            d.lists(f"{where}.steps.{name}", want, summary_device["steps"][name])


def model_of(profile, device):
    for row in profile.document.get("deviceProperties", []):
        if row["id"] == device:
            return row["name"] or None
    return None


def compare_time(d, where, want, got):
    for figure, value in want.items():
        if isinstance(value, dict):
            compare_time(d, f"{where}.{figure}", value, got[figure])
        else:
            d.equal(f"{where}.{figure}", value, got[figure])


def compare_gaps(d, where, want, got):
    d.equal(f"{where}.gaps.count", len(want), got["count"])
    d.equal(f"{where}.gaps.total_ps", sum(length for _, length in want), got["total_ps"])
    longest = sorted(want, key=lambda g: (-g[1], g[0]))[:20]
    d.lists(f"{where}.gaps.longest", [list(g) for g in longest], [[g["begin_ps"], g["dur_ps"]] for g in got["longest"]])


def waits_of(profile, device):
    """(length, whether it waits) of each gap between activities: what ends it had been launched before it began.  Of
    several that begin there the one launched first counts."""
    by_begin = defaultdict(list)
    for a in profile.of(device):
        if a.correlation in profile.calls:
            by_begin[a.begin].append(profile.calls[a.correlation])
    for begin, length in gaps([(a.begin, a.end) for a in profile.of(device)], whole_window(profile, device)):
        launch = min(by_begin[begin + length], key=lambda call: call[0], default=None)
        yield length, launch is not None and launch[0] < begin and launch[1] <= begin


def compare_waits(d, profiles, summary):
    """Gaps of 10 us to 1 ms, those that wait on the device apart from those that the host is asked about; eager dispatch
    claims none of the former."""
    if summary["gaps"] is None:
        return
    found = [gap for p in profiles for device in p.devices for gap in waits_of(p, device)]
    d.equal("gaps.by_cause.device_wait.total_ps", sum(length for length, waits in found if waits),
            at(summary, "gaps.by_cause.device_wait.total_ps"))
    short = [(length, waits) for length, waits in found if 10**7 <= length < 10**9]
    rows = summary["gaps"]["short"]["by_cause"]
    for waiting in (True, False):
        mine = [length for length, waits in short if waits == waiting]
        theirs = [row for cause, row in rows.items() if (cause == "device_wait") == waiting]
        d.equal(f"gaps.short: count, waiting {waiting}", len(mine), sum(row["count"] for row in theirs))
        d.equal(f"gaps.short: time, waiting {waiting}", sum(mine), sum(row["total_ps"] for row in theirs))
    for f in summary["findings"]:
        if f["id"] == "eager_dispatch":
            d.equal("eager_dispatch claims no waits", True,
                    f["at_stake_ps"] <= sum(length for length, waits in short if not waits))


def compare_sorts(d, where, mine, got):
    kernels = [a for a in mine if a.sort == KERNEL]
    d.equal(f"{where}.kernels.min_ps", min((a.length for a in kernels), default=None), got["kernels"]["min_ps"])
    d.equal(f"{where}.kernels.max_ps", max((a.length for a in kernels), default=None), got["kernels"]["max_ps"])
    for name, chosen, with_bytes in (("kernels", kernels, False),
                                     ("collectives", [a for a in kernels if a.is_collective], False),
                                     ("copies", [a for a in mine if a.sort == COPY], True),
                                     ("memsets", [a for a in mine if a.sort == MEMSET], True)):
        for figure, value in sums(chosen, with_bytes).items():
            d.equal(f"{where}.{name}.{figure}", known_bytes(chosen, figure, value), got[name][figure])


def known_bytes(activities, figure, value):
    """Bytes of copies none of which tells its bytes are not known."""
    return None if figure == "bytes" and activities and all(a.bytes is None for a in activities) else value


def compare_chosen(d, profile, device, row):
    """With a choice of steps: the time of the device from the first to the last chosen period."""
    time = chosen_time(profile, device)
    if time:
        compare_time(d, f"gpu:{device}", time, row)


def shown(name, rows):
    """A long name is cut in a table."""
    if name in rows or len(name.encode()) <= CUT_BYTES:
        return name
    return name.encode()[:CUT_BYTES].decode("utf-8", "ignore") + "..."


def compare_kernels(d, profiles, summary):
    """The tables by name and by launch facts.  Names that the table cuts may look alike: rows are then compared as
    sorted lists."""
    kernels = [a for p in profiles for a in p.activities if a.sort == KERNEL]
    table = summary["kernels"] or {"count": 0, "total_ps": 0, "by_name": [], "rows": []}
    figures = ("count", "total_ps", "min_ps", "max_ps", "stddev_ps")
    d.equal("kernels.count", len(kernels), table["count"])
    d.equal("kernels.total_ps", sum(a.length for a in kernels), table["total_ps"])
    for where, key, ours in (("by_name", lambda a: (a.name,), lambda r: (r["name"],)),
                             ("rows", lambda a: (a.name, *a.launch_facts),
                              lambda r: (r["name"], r["grid"], r["block"], r["registers"] or None,
                                         r["shared_bytes"] or None))):
        names = {r["name"] for r in table[where]}
        want, got = defaultdict(list), defaultdict(list)
        for k, row in rows_by(key, kernels).items():
            want[(shown(k[0], names), *k[1:])].append(row)
        for r in table[where]:
            if where == "by_name" or r["class"] in ("kernel", "collective"):
                got[ours(r)].append([r[f] for f in figures])
        for k in set(want) | set(got):
            d.equal(f"kernels.{where}[{k[0][:50]} {k[1:]}]: {figures}", sorted(want.get(k, [])), sorted(got.get(k, [])))


def compare_names(d, profiles, summary):
    """Of names that no other row shows: devices, variants and quantiles over all variants."""
    table, want = summary["kernels"], defaultdict(list)
    if not table:
        return
    shown_rows = Counter(r["name"] for r in table["by_name"])
    for host, p in enumerate(profiles):
        for a in p.activities:
            if a.sort == KERNEL:
                want[shown(a.name, shown_rows)].append((host, a))
    for r in table["by_name"]:
        mine = want[r["name"]]
        if shown_rows[r["name"]] != 1 or r["count"] != len(mine):
            continue
        where, lengths = f"kernels.by_name[{r['name'][:50]}]", [a.length for _, a in mine]
        d.equal(f"{where}.variants", len({a.launch_facts for _, a in mine}), r["variants"])
        d.equal(f"{where}.device_count", len({(host, a.device) for host, a in mine}), r["device_count"])
        d.equal(f"{where}.p50_ps", rank_of(lengths, 500), r["p50_ps"])
        d.equal(f"{where}.p95_ps", rank_of(lengths, 950), r["p95_ps"])
        d.near(f"{where}.share_pct", 100 * sum(lengths) / table["total_ps"] if table["total_ps"] else 0, r["share_pct"])


def compare_row_facts(d, profiles, summary):
    """Occupancy and devices of the rows whose name and launch facts no other row shows."""
    rows, want = Counter(), defaultdict(list)
    names = {r["name"] for r in summary["kernels"]["rows"]}
    for r in summary["kernels"]["rows"]:
        rows[(r["name"], r["grid"], r["block"], r["registers"] or None, r["shared_bytes"] or None)] += 1
    for host, p in enumerate(profiles):
        for a in p.activities:
            if a.sort == KERNEL:
                want[(shown(a.name, names), *a.launch_facts)].append((host, a))
    for r in summary["kernels"]["rows"]:
        key = (r["name"], r["grid"], r["block"], r["registers"] or None, r["shared_bytes"] or None)
        mine = want[key]
        if rows[key] != 1 or r["class"] not in ("kernel", "collective"):
            continue
        where = f"kernels.rows[{key[0][:50]} {key[1:]}]"
        d.equal(f"{where}.device_count", len({(host, a.device) for host, a in mine}), r["device_count"])
        told = {profiles[host].occupancy_of(a) for host, a in mine}
        if len(told) == 1 and r["total_ps"] > 0:  # it is weighted by time
            value = told.pop()
            d.near(f"{where}.occupancy_pct", value if value is None else value / 1000, r["occupancy_pct"])


def message_of(a):
    """(kind, bytes, group size, data type) of a collective; null is what its event does not tell.  The operation that
    is named goes before the name of the kernel."""
    told = a.args.get("Collective name") or a.name
    kind = next((k for k, words in COLLECTIVE_KINDS if re.search(words, told, re.IGNORECASE)), "other")
    elements = max(a.args.get("In msg nelems") or 0, a.args.get("Out msg nelems") or 0)
    size = elements * ELEMENT_BYTES[a.args["dtype"]] if elements else None
    return kind, size, a.args.get("Group size"), a.args.get("dtype")


def compare_collectives(d, profiles, summary):
    """By kind and message."""
    collectives = [a for p in profiles for a in p.activities if a.is_collective]
    got = {(r["kind"], r["message_bytes"], r["group_size"], r["data_type"]): r for r in summary["collectives"]["rows"]}
    want = rows_by(message_of, collectives)
    for key in set(want) | set(got):
        row = want.get(key, [MISSING, MISSING])
        where = f"collectives.rows[{key}]"
        d.equal(f"{where}.count", row[0], got.get(key, {}).get("count", MISSING))
        d.equal(f"{where}.total_ps", row[1], got.get(key, {}).get("total_ps", MISSING))
        d.equal(f"{where}.bytes", row[0] * key[1] if key[1] else None, got.get(key, {}).get("bytes", MISSING))
    sized = [key[1] * row[0] for key, row in want.items() if key[1]]
    total = summary["collectives"]["total"]
    for figure, value in sums(collectives).items():
        d.equal(f"collectives.total.{figure}", value, total[figure])
    d.equal("collectives.total.bytes", sum(sized) if sized or not collectives else None, total["bytes"])
    d.equal("collectives.total.unknown_bytes_count", sum(not message_of(a)[1] for a in collectives),
            total["unknown_bytes_count"])


def compare_plain_kernels(d, profiles, summary):
    """Short ones and occupancy; a collective is no plain kernel."""
    kernels = [(p, a) for p in profiles for a in p.activities if a.sort == KERNEL and not a.is_collective]
    d.part(compare_fusion, [(a.name, a.length) for _, a in kernels], "gpu", summary)
    d.part(compare_kernel_means, [a.length for _, a in kernels], summary)
    d.part(compare_occupancy, [(a.length, p.occupancy_of(a)) for p, a in kernels], summary)


def compare_transfers(d, profiles, summary):
    copies = [a for p in profiles for a in p.activities if a.sort == COPY]
    rows = {r["direction"]: r for r in (summary["transfers"] or {}).get("by_direction", [])}
    for direction in ("h2d", "d2h", "p2p", "d2d", "other"):
        mine = [a for a in copies if a.direction == direction]
        if not mine and direction not in rows:
            continue
        row = rows.get(direction, {})
        for figure, value in sums(mine, True).items():
            d.equal(f"transfers.{direction}.{figure}", known_bytes(mine, figure, value), row.get(figure, MISSING))
        d.equal(f"transfers.{direction}.unknown_bytes_count", sum(a.bytes is None for a in mine),
                row.get("unknown_bytes_count", MISSING))
        exposed = 0
        for p in profiles:
            for device in p.devices:
                exposed += whole_time(p, device)["exposed_by_direction_ps"][direction]
        d.equal(f"transfers.{direction}.exposed_ps", exposed, row.get("exposed_ps", MISSING))
        links = defaultdict(list)
        for i, p in enumerate(profiles):
            for a in p.activities:
                if a.sort == COPY and a.direction == direction and a.bytes is not None:
                    links[i, a.device].append(a)
        size, time = (sum(value) for value in zip((0, 0), *((sum(a.bytes for a in mine), union([(a.begin, a.end) for a in mine]))
                                                           for mine in links.values())))
        d.near(f"transfers.{direction}.mean_bandwidth", size / (time * 1e-12) if time and size else None,
               row.get("mean_bandwidth", MISSING))
    if copies:
        pageable = [a for a in copies if "Pageable" in a.name]
        for figure, value in sums(pageable).items():
            d.equal(f"transfers.pageable.{figure}", value, at(summary, f"transfers.pageable.{figure}"))


def compare_steps(d, profile, summary):
    steps = summary["steps"]
    if not profile.steps:
        d.equal("steps.source is not the host", True, steps["source"] != "host")
        return
    d.equal("steps.source", "host", steps["source"])
    d.equal("steps.count", len(profile.steps), steps["count"])
    rows = sorted(steps["list"], key=lambda r: r["begin_ps"])
    d.lists("steps.list: number, begin, host span", [list(s) for s in profile.steps],
            [[r["number"], r["begin_ps"], r["host_span_ps"]] for r in rows])
    if len(profile.devices) == 1:
        lists = device_steps(profile, profile.devices[0])
        d.lists("steps.list: device_span_ps", lists["device_span_ps"], [r["device_span_ps"] for r in rows])
        d.lists("steps.list: period_ps", [p and p[1] - p[0] for p in periods(profile, profile.devices[0])],
                [r["period_ps"] for r in rows])


def memory_of(profile):
    """Of each device with memory events: counts, sums and the peak that the events tell."""
    table = defaultdict(list)
    for e in profile.events:
        if e.get("name") == "[memory]" and e.get("ph") == "i":
            table[(e["args"]["Device Type"], e["args"]["Device Id"])].append(e)
    rows = {}
    for (kind, device), events in table.items():
        sizes = [e["args"]["Bytes"] for e in events]
        totals = [e["args"]["Total Allocated"] for e in events if "Total Allocated" in e["args"]]
        peak = max(totals, default=None)
        rows["cpu" if kind == 0 else f"gpu:{device}"] = {
            "allocations": sum(s > 0 for s in sizes), "deallocations": sum(s < 0 for s in sizes),
            "allocated_bytes": sum(s for s in sizes if s > 0), "peak_bytes": peak,
            "peaks_at": {exact_ps(e["ts"]) - profile.origin for e in events
                         if totals and e["args"]["Total Allocated"] == peak},
        }
    return rows


def compare_memory(d, profile, summary):
    want = memory_of(profile)
    got = {r["name"]: r for r in (summary["memory"] or {}).get("allocators", [])}
    d.equal("memory.allocators", sorted(want), sorted(got))
    for name in sorted(set(want) & set(got)):
        for figure in ("allocations", "deallocations", "allocated_bytes", "peak_bytes"):
            d.equal(f"memory[{name}].{figure}", want[name][figure], got[name][figure])
        if want[name]["peak_bytes"] is not None:
            d.equal(f"memory[{name}].peak_at_ps is a time of the peak", True,
                    got[name]["peak_at_ps"] in want[name]["peaks_at"])


def classes_of(profile):
    """How many events of the classes that categories and names decide alone."""
    ids = {a.correlation for a in profile.activities}
    driver = [e for e in profile.events if e.get("cat") in DRIVER]
    blocking = [e for e in driver if BLOCKS.match(e["name"])]
    other = [e for e in driver if not BLOCKS.match(e["name"])]
    waits = [e for e in profile.events if e.get("cat") == "cuda_sync" and "Wait Event" not in e["name"]
             and "Query" not in e["name"]]
    return {
        "kernel": sum(a.sort == KERNEL and not a.is_collective for a in profile.activities),
        "collective": sum(a.is_collective for a in profile.activities),
        "copy": sum(a.sort == COPY for a in profile.activities),
        "memset": sum(a.sort == MEMSET for a in profile.activities),
        "step_marker": len(profile.steps),
        "launch": sum(e["args"].get("correlation") in ids or is_launch_name(e["name"]) for e in other),
        "sync": len(blocking) + len(waits),
    }


def compare_coverage(d, profiles, summary):
    coverage = summary["coverage"]
    want = sum((Counter(classes_of(p)) for p in profiles), Counter())
    for name in ("kernel", "collective", "copy", "memset", "step_marker", "launch", "sync"):
        d.equal(f"coverage.classes.{name}", want[name], coverage["classes"].get(name, 0))
    compare_phases(d, [e for p in profiles for e in p.events], coverage)
    late = sum(p.launches.get(a.correlation, a.begin) > a.begin for p in profiles for a in p.activities)
    d.equal("coverage.tallies.wrong-clock", late, coverage["tallies"].get("wrong-clock", {"count": 0})["count"])


def compare_environment(d, profiles, summary):
    """The rank of each host.  Hosts are in no order that the files give."""
    told = [p.document.get("distributedInfo", {}) for p in profiles]
    hosts = summary["environment"]["hosts"]
    d.equal("environment: frameworks", ["pytorch"] * len(profiles), [h["framework"] for h in hosts])
    for figure in ("rank", "world_size"):
        d.equal(f"environment: {figure}", sorted(map(str, (t.get(figure) for t in told))),
                sorted(str(h[figure]) for h in hosts))


def compare_total(d, profiles, summary):
    """Of several ranks: sums over all devices."""
    want = Counter()
    for p in profiles:
        for device in p.devices:
            want.update({f: v for f, v in whole_time(p, device).items() if isinstance(v, int)})
    d.equal("total.devices", sum(len(p.devices) for p in profiles), summary["total"]["devices"])
    for figure in ("busy_ps", "idle_ps", "compute_ps", "collective_ps", "exposed_collective_ps", "copy_ps",
                   "exposed_copy_ps"):
        d.equal(f"total.{figure}", want[figure], summary["total"][figure])


def compare_all(d, profiles, summary):
    """`--steps all`.  The device's number tells which file is whose: no two ranks of the profiles share one."""
    rows = {ordinal_of(v): v for v in summary["devices"]}
    d.equal("devices", sorted(n for p in profiles for n in p.devices), sorted(map(ordinal_of, summary["devices"])))
    for p in profiles:
        for device in p.devices:
            if device in rows:
                d.part(compare_device, p, device, rows[device], "all")
    if rows:
        d.part(compare_total, profiles, summary)
        d.part(compare_waits, profiles, summary)
        d.part(compare_kernels, profiles, summary)
        d.part(compare_row_facts, profiles, summary)
        d.part(compare_names, profiles, summary)
        d.part(compare_transfers, profiles, summary)
        d.part(compare_collectives, profiles, summary)
        d.part(compare_plain_kernels, profiles, summary)
    d.part(compare_coverage, profiles, summary)
    d.part(compare_environment, profiles, summary)
    d.part(check_invariants, summary)
    if len(profiles) == 1:
        d.part(compare_steps, profiles[0], summary)
        d.part(compare_memory, profiles[0], summary)
    else:
        d.equal("input.hosts", len(profiles), len(set(summary["input"]["hosts"])))


def compare_default(d, profile, summary):
    """The steps that are chosen when nothing is said."""
    d.part(compare_steps, profile, summary)
    rows = sorted(summary["steps"]["list"], key=lambda r: r["begin_ps"])
    d.lists("steps.list: chosen", chosen_steps(profile), [r["chosen"] for r in rows])
    for row in summary["devices"]:
        d.part(compare_device, profile, ordinal_of(row), row, "auto")
        d.part(compare_chosen, profile, ordinal_of(row), row)


# --- running --------------------------------------------------------------------------------------------------

def report_on(tap, name, paths, *options):
    wanted = 4 if any(fnmatchcase(p.name, UNKNOWN_DEVICE) for p in paths) else 0
    with Scratch() as folder:
        result, summary = summary_of(paths, folder, *ROWS, *options)
    if summary is None or result.crashed or result.status != wanted:
        tap.ok(False, name, f"report ended with {result}")
        return None
    return summary


def run_case(tap, name, paths):
    profiles = [Profile(p) for p in paths]
    d = Differences(name, KNOWN)
    summary = report_on(tap, name, paths, "--steps", "all")
    if summary is None:
        return
    compare_all(d, profiles, summary)
    if len(profiles) == 1 and profiles[0].steps:
        chosen = report_on(tap, f"{name} with its steps chosen", paths)
        if chosen is None:
            return
        compare_default(d, profiles[0], chosen)
    d.tell(tap, f"{name}: {d.compared} figures")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", default="*", metavar="PATTERN", help="only these profiles")
    parser.add_argument("--list", action="store_true", help="name the profiles")
    options = parser.parse_args()
    tap = Tap()
    paths = sorted(PROFILES.glob("*")) if PROFILES.is_dir() else []
    cases = [(p.name.split(".json")[0], [p]) for p in paths]
    ranks = [p for p in paths if fnmatchcase(p.name, ONE_RUN)]
    if ranks:
        cases.append((f"{len(ranks)} ranks of one run", ranks))
    cases = [c for c in cases if fnmatchcase(c[0], options.case)]
    if options.list:
        print("\n".join(name for name, _ in cases))
        return
    if not paths:
        tap.skip("PyTorch's profiles", f"no profiles at {PROFILES}")
    for name, files in cases:
        run_case(tap, name, files)
        Profile.of.cache_clear()
        forget()
    tap.done()


if __name__ == "__main__":
    main()
