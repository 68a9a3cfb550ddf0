# SPDX-License-Identifier: Apache-2.0
"""How a batch of many small profiles uses the cores: the same root with one worker and with several, then once more with
nothing to do, then merged."""

import os
import resource
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from tracemill import BINARY  # noqa: E402

RUNS, QUICK_RUNS = 1000, 60
DISTINCT = 10       # contents, which the runs share
PER_NIGHT = 100     # runs
STEPS = 60          # about 300 KB
HEAD = f"{'':26}{'clock s':>9}{'CPU s':>9}{'items/s':>9}{'ms CPU each':>13}{'peak MiB':>10}"


@dataclass
class Phase:
    name: str
    items: int
    rounds: list = field(default_factory=list)  # (clock s, CPU s, peak KiB of the largest process)

    def clock_s(self):
        return min(r[0] for r in self.rounds)

    def cpu_s(self):
        return min(r[1] for r in self.rounds)

    def figures(self):
        return {"name": self.name, "items": self.items, "clock_s": self.clock_s(), "cpu_s": self.cpu_s(),
                "peak_kib": max(r[2] for r in self.rounds), "rounds": self.rounds}

    def line(self):
        return f"{self.name:26}{self.clock_s():9.2f}{self.cpu_s():9.2f}{self.items / self.clock_s():9.0f}" \
            f"{1e3 * self.cpu_s() / self.items:13.2f}{max(r[2] for r in self.rounds) / 1024:10.1f}"


def make_root(root, count):
    contents = [make_profile.gpu(seed=seed, steps=STEPS, devices=2).encode() for seed in range(1, DISTINCT + 1)]
    for i in range(count):
        path = root / f"job-{i % PER_NIGHT:03}" / f"2026-01-{1 + i // PER_NIGHT:02}" / "host0.xplane.pb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(contents[i % DISTINCT])
    return sum(len(c) for c in contents) // DISTINCT


def run(*words):
    """out: clock and CPU seconds of the program and all that it started, and the peak of the largest of them in KiB.
    Those of the driver and of each worker come as of processes that are waited for: the peak is that of all so far."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([str(BINARY), *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=False)
    clock, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"bench: {' '.join(map(str, words))} failed with {done.returncode}: {done.stderr.decode()[-400:]}")
    cpu = sum(getattr(after, f) - getattr(before, f) for f in ("ru_utime", "ru_stime"))
    return clock, cpu, after.ru_maxrss


def measure(folder, count, rounds, memory):
    """out: phases, size of a profile"""
    root, manifest = folder / "root", folder / "manifest.jsonl"
    shutil.rmtree(folder, ignore_errors=True)
    size = make_root(root, count)
    jobs = sorted({1, 2, len(os.sched_getaffinity(0))})
    scan = Phase("scan", count)
    work = {n: Phase(f"run --jobs {n}", count) for n in jobs}
    again, merge = Phase("run, nothing to do", count), Phase("merge", count)
    for number in range(rounds):
        scan.rounds.append(run("batch", "scan", root, "-o", manifest, "--quiet"))
        # in turns: what else the machine does meets all of them
        for n in jobs if number % 2 == 0 else reversed(jobs):
            out = folder / f"out-{n}"
            shutil.rmtree(out, ignore_errors=True)
            os.sync()
            work[n].rounds.append(run("batch", "run", "--manifest", manifest, "-o", out, "--jobs", n, "--force",
                                      "--memory", memory, "--quiet"))
        again.rounds.append(run("batch", "run", "--manifest", manifest, "-o", folder / "out-1", "--memory", memory, "--quiet"))
        (folder / "out-1" / "history.db").unlink(missing_ok=True)
        merge.rounds.append(run("batch", "merge", folder / "out-1", "--quiet"))
    return [scan, *work.values(), again, merge], size


def print_phases(phases, count, size):
    named = {p.name: p for p in phases}
    print(f"\n{count} profiles of {size / 1e3:.0f} KB, one run each")
    print(HEAD)
    for phase in phases:
        print(phase.line())
    one = named["run --jobs 1"]
    for phase in phases:
        if phase.name.startswith("run --jobs ") and phase is not one:
            print(f"{phase.name}: {one.clock_s() / phase.clock_s():.2f} x of one worker by the clock, "
                  f"{phase.cpu_s() / one.cpu_s():.2f} x the CPU time")
