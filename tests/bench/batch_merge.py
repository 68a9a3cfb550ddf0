# SPDX-License-Identifier: Apache-2.0
"""What it costs to put the results of a batch together: first of all, once more, and into a history that is long."""

import shutil
from dataclasses import dataclass

import made_batch

ALLOWED_MIB = 16  # beside --memory: the program itself, its libraries, the stack
RESULTS = 10_000
HISTORY = 100_000
JOBS = 100
# (title, results, rows that are there before; None = what the row above left)
KINDS = (
    (f"{RESULTS:,} results", RESULTS, 0),
    (f"{RESULTS:,} results once more", RESULTS, None),
    (f"{RESULTS:,} into {HISTORY:,}", RESULTS, HISTORY),
    (f"{JOBS} into {HISTORY:,}", JOBS, HISTORY),
)
HEAD = f"{'':28}{'memory':>8}{'CPU s':>9}{'us/result':>11}{'peak MiB':>10}{'history MB':>12}"


@dataclass
class Point:
    kind: str
    results: int
    memory: str
    cost: dict
    history_bytes: int
    problem: str = ""

    def figures(self):
        if self.problem:
            return {"kind": self.kind, "memory": self.memory, "problem": self.problem}
        cpu_s, peak = (self.cost["user_us"] + self.cost["system_us"]) / 1e6, self.cost["peak_kib"] / 1024
        return {"kind": self.kind, "memory": self.memory, "results": self.results, "cpu_s": round(cpu_s, 3),
                "peak_mib": round(peak, 1), "history_bytes": self.history_bytes,
                "is_within": peak <= int(self.memory.rstrip("M")) + ALLOWED_MIB}

    def line(self):
        head, f = f"{self.kind:28}{self.memory:>8}", self.figures()
        if self.problem:
            return f"{head}  {self.problem}"
        return f"{head}{f['cpu_s']:9.2f}{f['cpu_s'] / f['results'] * 1e6:11.0f}{f['peak_mib']:10.1f}" + \
            f"{f['history_bytes'] / 1e6:12.1f}" + ("" if f["is_within"] else "  PASSED ITS MEMORY")


def long_history(template, folder, measure):
    """A history of HISTORY runs, made by merging a tenth of them at a time."""
    out = folder / "long"
    for part in range(10):
        shutil.rmtree(out / "runs", ignore_errors=True)
        template.write(out, range(part * HISTORY // 10, (part + 1) * HISTORY // 10), JOBS)
        measure(out, "256M")
    shutil.rmtree(out / "runs")
    return out / "history.db"


def measure_all(folder, measure, rounds, only_short):
    """measure(out, memory): what a merge costs, and why there are no figures.  out: a Point for each"""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    template = made_batch.Template(folder)
    history = None if only_short else long_history(template, folder, measure)
    points, out = [], folder / "out"
    for memory in ("32M", "256M"):
        for kind, results, before in KINDS:
            if before and only_short:
                continue
            costs, problem = [], ""
            for _ in range(rounds):
                if before is not None:
                    shutil.rmtree(out, ignore_errors=True)
                    first = before // JOBS * JOBS
                    template.write(out, range(first, first + results), JOBS)
                if before:
                    shutil.copy(history, out / "history.db")
                cost, problem = measure(out, memory)
                costs += [cost] if cost else []
            least = min(costs, key=lambda c: c["user_us"] + c["system_us"], default=None)
            if least:
                least["peak_kib"] = max(cost["peak_kib"] for cost in costs)
            points.append(Point(kind, results, memory, least, (out / "history.db").stat().st_size, problem))
            print(points[-1].line(), flush=True)
    return points
