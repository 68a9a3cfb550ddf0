# SPDX-License-Identifier: Apache-2.0
"""How time and memory of a report grow with the input: the same kind of profile in several sizes, with little memory
and with much."""

import math
import subprocess
import sys
from dataclasses import dataclass

SIZES = (10_000, 100_000, 1_000_000, 5_000_000, 20_000_000)
MEMORIES = ("32M", "256M")
ALLOWED_MIB = 16  # beside --memory: the program itself, its libraries, the stack
# (title, what the generator of $TM_SHARED gets, sizes)
KINDS = (
    ("gpu", ["--devices", "4", "--format", "xplane"], SIZES),
    ("gpu, JSON", ["--devices", "4", "--format", "json"], SIZES[:-1]),
    ("gpu, no order", ["--devices", "4", "--format", "xplane", "--shuffle"], SIZES[2:4]),
    ("gpu, names that come once", ["--devices", "4", "--format", "xplane", "--unique-names", "1"], SIZES[2:]),
)
HEAD = f"{'':28}{'events':>12}{'MB':>9}{'memory':>8}{'CPU s':>9}{'ns/event':>10}{'peak MiB':>10}{'spilled MiB':>12}"


@dataclass
class Point:
    kind: str
    events: int
    bytes: int
    memory: str
    rounds: list   # of run.run
    spilled_mib: float
    problem: str = ""

    def cpu_s(self):
        return min((r["user_us"] + r["system_us"]) / 1e6 for r in self.rounds)

    def peak_mib(self):
        return max(r["peak_kib"] for r in self.rounds) / 1024

    def is_within(self):
        return self.peak_mib() <= int(self.memory.rstrip("M")) + ALLOWED_MIB

    def figures(self):
        if self.problem:
            return {"kind": self.kind, "events": self.events, "memory": self.memory, "problem": self.problem}
        return {"kind": self.kind, "events": self.events, "bytes": self.bytes, "memory": self.memory,
                "cpu_s": round(self.cpu_s(), 3), "ns_per_event": round(self.cpu_s() / self.events * 1e9, 1),
                "peak_mib": round(self.peak_mib(), 1), "spilled_mib": self.spilled_mib, "is_within": self.is_within()}

    def line(self):
        head = f"{self.kind:28}{self.events:12,}{self.bytes / 1e6:9.0f}{self.memory:>8}"
        if self.problem:
            return f"{head}  {self.problem}"
        f = self.figures()
        return f"{head}{f['cpu_s']:9.2f}{f['ns_per_event']:10.0f}{f['peak_mib']:10.1f}{f['spilled_mib']:12.0f}" + \
            ("" if f["is_within"] else "  PASSED ITS MEMORY")


def spilled(binary, path, out, memory):
    """What a report writes to spill files, as --stats tells it."""
    done = subprocess.run([str(binary), "report", str(path), "-o", str(out), "--memory", memory, "--stats"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        words = line.split()
        if words[:1] == ["spilled"]:
            return float(words[1])
    return 0.0


def measure(store, options, make_row, run, binary):
    """make_row(trace, path, memory): a run.Row; run(row): what one run costs.  out: a Point for each"""
    points = []
    for kind, more, sizes in KINDS:
        for events in sizes:
            if events > options.events:
                continue
            trace = store.grown(kind, more, events)
            for memory in MEMORIES:
                row = make_row(trace, memory)
                rounds = [cost for cost in (run(row) for _ in range(options.rounds)) if cost]
                known = spilled(binary, trace.plain, row.out, memory) if rounds else 0.0
                points.append(Point(kind, events, trace.plain.stat().st_size, memory, rounds, known, row.problem))
                print(points[-1].line(), flush=True)
            if not options.keep:
                trace.plain.unlink()
    return points


def slope(points):
    """The exponent of time in events, by least squares over the logarithms; 1 = linear."""
    pairs = [(math.log(p.events), math.log(p.cpu_s())) for p in points]
    mean_x, mean_y = (sum(values) / len(pairs) for values in zip(*pairs))
    return sum((x - mean_x) * (y - mean_y) for x, y in pairs) / sum((x - mean_x) ** 2 for x, _ in pairs)


def print_slopes(points):
    print()
    for kind, memory in sorted({(p.kind, p.memory) for p in points}):
        large = [p for p in points if (p.kind, p.memory) == (kind, memory) and not p.problem and p.events >= 1_000_000]
        if len(large) > 1:
            first, last = large[0], large[-1]
            ratio = last.cpu_s() / last.events / (first.cpu_s() / first.events)
            print(f"{kind}, {memory}: time grows with events to the power of {slope(large):.3f} from "
                  f"{first.events:,} to {last.events:,}; an event costs {ratio:.2f} times as much", file=sys.stdout)
