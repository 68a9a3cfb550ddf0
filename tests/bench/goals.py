# SPDX-License-Identifier: Apache-2.0
"""What docs/performance.md states as goals: CPU time of one process beside `igzip -dc` of the same file and beside another
build of the program ($TM_BASE), and elapsed time of two processes beside one.  All outputs that are made by default."""

import os
from dataclasses import dataclass, field
from pathlib import Path

DEVICES = ["--devices", "8"]
HOSTS = 4
TIMES = 5  # of `igzip -dc`: a report of PyTorch's files may take this, and some milliseconds
HEAD = f"{'':40}{'CPU s':>9}{'base s':>9}{'x base':>8}{'igzip s':>9}{'x igzip':>9}{f'- {TIMES} x, ms':>11}{'peak MiB':>10}"
CORES_HEAD = f"{'elapsed, least of the rounds':40}{'1 core':>9}{'2 cores':>9}{'x 1':>8}"


@dataclass
class Work:
    """in: words  of the command, with OUT for the output"""
    name: str
    trace: object
    words: list
    is_pytorch: bool = False
    two_cores: bool = False
    rows: dict = field(default_factory=dict)  # "new", "base", "two": of run.Row

    def cpu_s(self, row):
        return min(self.rows[row].cpu_s()) if row in self.rows and self.rows[row].rounds else None

    def clock_s(self, row):
        return min(r["clock_us"] for r in self.rows[row].rounds) / 1e6

    def figures(self, igzip):
        """igzip: rows of `igzip -dc` by their file"""
        new, base = self.cpu_s("new"), self.cpu_s("base")
        unpacked = igzip.get(self.trace.gz)
        unpacked = min(unpacked.cpu_s()) if unpacked and unpacked.rounds else None
        return {"name": self.name, "cpu_s": new, "base_s": base, "igzip_s": unpacked,
                "over_igzip_ms": (new - TIMES * unpacked) * 1e3 if self.is_pytorch and unpacked else None,
                "peak_mib": max(r["peak_kib"] for r in self.rows["new"].rounds) / 1024,
                "clock_s": [self.clock_s(row) for row in ("new", "two")] if self.two_cores else None}

    def problem(self):
        return next((row.problem for row in self.rows.values() if row.problem), "")


def recorded_works(store, pytorch, compilation):
    works = []
    for path in compilation:
        trace = store.recorded(path)
        works += [Work("report, compilation", trace, report_of(path)), Work("inspect, compilation", trace, ["inspect", path])]
    for path in pytorch:
        trace = store.recorded(path)
        works += [Work(f"report, {path.name[:28]}", trace, report_of(path), is_pytorch=True)]
    return works


def report_of(path):
    return ["report", path, "-o", "OUT"]


def works_of(store, events, pytorch, compilation, tiny):
    """in: tiny  the smallest run"""
    chrome = store.grown("gpu, 8 devices, JSON", [*DEVICES, "--format", "json"], events)
    chrome.gz = chrome.plain
    xspace = store.grown("gpu, 8 devices", [*DEVICES, "--format", "xplane"], events * 5 // 2)
    quarter = store.grown("gpu, 8 devices", [*DEVICES, "--format", "xplane"], events // 4)
    hosts = store.hosts(HOSTS, events // 4)
    many = f"{xspace.events:,} events, XSpace"
    return [
        Work(f"inspect, {events:,} events, JSON", chrome, ["inspect", chrome.gz], two_cores=True),
        Work(f"report, {events:,} events, JSON", chrome, report_of(chrome.gz), two_cores=True),
        Work(f"inspect, {many}", xspace, ["inspect", xspace.plain]),
        Work(f"report, {many}", xspace, report_of(xspace.plain), two_cores=True),
        Work(f"convert, {quarter.events:,} events, XSpace", quarter,
             ["convert", quarter.plain, "-o", "OUT.pftrace"], two_cores=True),
        Work(f"report, {HOSTS} x {quarter.events:,} events", hosts, report_of(hosts.plain), two_cores=True),
        Work("report, the smallest run", tiny, report_of(tiny.plain)),
        *recorded_works(store, pytorch, compilation),
    ]


def make_rows(works, make_row, binary, out):
    """The rows of all works, and those of `igzip -dc` by their file.
    in: make_row(name, trace, command)   out: the folder of outputs"""
    base = os.environ.get("TM_BASE")
    rows, igzip = [], {}

    def row_of(work, which, program, jobs):
        target = str(Path(out) / f"{which}")
        words = [str(word).replace("OUT", target) for word in work.words]
        quiet = ["--quiet"] if work.words[0] != "inspect" else []
        work.rows[which] = make_row(f"{work.name} ({which})", work.trace, [program, *words, *quiet, "--jobs", jobs])
        rows.append(work.rows[which])

    for work in works:
        gz = work.trace.gz
        if gz and gz not in igzip:
            igzip[gz] = make_row("igzip -dc", work.trace, ["igzip", "-dc", gz])
            rows.append(igzip[gz])
        row_of(work, "new", binary, 1)
        if base:
            row_of(work, "base", base, 1)
        if work.two_cores:
            row_of(work, "two", binary, 2)
    return rows, igzip


def number(value, width, decimals):
    return f"{'-':>{width}}" if value is None else f"{value:{width}.{decimals}f}"


def ratio(value, to, width):
    return number(value / to if value and to else None, width, 3)


def print_works(works, igzip):
    print(HEAD)
    for work in works:
        if work.problem():
            print(f"{work.name:40}  {work.problem()}")
            continue
        f = work.figures(igzip)
        print(f"{work.name:40}{number(f['cpu_s'], 9, 4)}{number(f['base_s'], 9, 4)}{ratio(f['cpu_s'], f['base_s'], 8)}"
              f"{number(f['igzip_s'], 9, 4)}{ratio(f['cpu_s'], f['igzip_s'], 9)}{number(f['over_igzip_ms'], 11, 1)}"
              f"{f['peak_mib']:10.1f}")
    print(f"\n{CORES_HEAD}")
    for work in works:
        if work.two_cores and not work.problem():
            one, two = work.figures(igzip)["clock_s"]
            print(f"{work.name:40}{one:9.3f}{two:9.3f}{two / one:8.3f}")
