#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs fuzz targets, several at once, each from seeds that are made for it and the corpus that its last run left beside it.

    run.py [--seconds N | --cpu N | --total N] [--jobs N] [--minimise] TARGET...

    --seconds N   each target so long, the loading of its corpus included (60)
    --cpu N       each target so many seconds of CPU, however busy the machine is
    --total N     all of them together so long
    --jobs N      so many at once; 0 = one for each core

Ends at the first finding, with the place of the input and the command that repeats it.  At the end: a table.  $FUZZ_SEED=N
gives the same runs again.  A corpus of thousands of files is reduced to those that reach something (--minimise: any)."""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import make_seeds  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
SEEDS = ROOT / "tests" / "fuzz" / "make_seeds.py"
RECORDED = ROOT / "tests" / "data"
LARGEST = 16384
# Inputs of which less says as much.
LONGEST = {"fuzz_unwrap": 4096, "fuzz_hlo": 4096, "fuzz_pprof": 4096, "fuzz_settings": 4096, "fuzz_redact": 2048,
           "fuzz_study": 1024, "fuzz_query": 1024, "fuzz_mcp": 2048, "fuzz_parquet": 2048, "fuzz_history": 65536}
CORPUS_MOST = 3000  # files
ENVIRONMENT = {**os.environ, "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}
LEAST_SECONDS = 2


class Target:
    """One target, what came of it, and the process that runs now."""

    def __init__(self, path):
        self.path, self.name = path, path.name
        self.corpus, self.log = Path(f"{path}.corpus"), Path(f"{path}.log")
        self.runs, self.cpu, self.wall, self.edges, self.finding = 0, 0.0, 0.0, 0, None
        self.process = None
        self.environment = {**ENVIRONMENT, "TM_FUZZ_SEEDS": str(self.corpus)}

    def prepare(self):
        """Its seeds.  What takes common files gets the recorded profiles, too."""
        self.corpus.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, SEEDS, self.corpus, self.name], check=True)
        if make_seeds.takes_profiles(self.name):
            for path in RECORDED.rglob("*.xplane.pb"):
                if path.stat().st_size < LARGEST:
                    shutil.copy(path, self.corpus / path.name)

    def minimise(self):
        """Keep the inputs that reach something that no smaller one does."""
        small = Path(f"{self.corpus}.small")
        shutil.rmtree(small, ignore_errors=True)
        small.mkdir()
        done = subprocess.run([self.path, "-merge=1", f"-max_len={self.longest()}", small, self.corpus], cwd=ROOT,
                              env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        if done.returncode == 0:
            shutil.rmtree(self.corpus)
            small.rename(self.corpus)

    def longest(self):
        return LONGEST.get(self.name, LARGEST)

    def run(self, seconds):
        """So many seconds, or to the first finding."""
        command = [self.path, f"-max_total_time={max(1, int(seconds))}", f"-max_len={self.longest()}", "-entropic=0",
                   "-timeout=25", "-rss_limit_mb=2048", f"-seed={os.environ.get('FUZZ_SEED', '0')}", "-print_final_stats=1",
                   f"-artifact_prefix={self.path}.", self.corpus]
        begin = time.monotonic()
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(list(map(str, command)), cwd=ROOT, env=self.environment, stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=subprocess.STDOUT)
            _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        said = self.log.read_text(errors="replace")
        self.wall += time.monotonic() - begin
        self.cpu += usage.ru_utime + usage.ru_stime
        self.runs += int((re.findall(r"stat::number_of_executed_units: (\d+)", said) or ["0"])[-1])
        self.edges = max([self.edges, *map(int, re.findall(r" cov: (\d+) ", said))])
        if self.process.returncode != 0:
            self.finding = (re.findall(r"Test unit written to (\S+)", said) or [f"status {self.process.returncode}"])[-1]
        return said


def look_for(target, options, each, stop):
    """Run a target as long as it was asked for."""
    target.prepare()
    if options.minimise or sum(1 for _ in target.corpus.iterdir()) > CORPUS_MOST:
        target.minimise()
    while not stop.is_set():
        left = each - (target.cpu if options.cpu else target.wall)
        if left < LEAST_SECONDS and target.wall:
            break
        said = target.run(left)
        if target.finding:
            return said
        if not options.cpu:
            break
    return ""


def end_all(targets):
    for target in targets:
        if target.process and target.process.returncode is None:
            target.process.send_signal(signal.SIGTERM)


def table(targets):
    lines = [("target", "executions", "s of CPU", "s", "per s of CPU", "edges", "findings")]
    lines += [(t.name, f"{t.runs:,}", f"{t.cpu:,.0f}", f"{t.wall:,.0f}", f"{t.runs / t.cpu:,.0f}" if t.cpu else "-", f"{t.edges:,}",
               "1" if t.finding else "0") for t in targets if t.wall]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        print("  ".join(text.ljust(width) if i == 0 else text.rjust(width) for i, (text, width) in enumerate(zip(line, widths))))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--cpu", type=float, default=0)
    parser.add_argument("--total", type=float, default=0)
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--minimise", action="store_true")
    parser.add_argument("targets", nargs="+", type=lambda text: Path(text).resolve())
    options = parser.parse_args()
    jobs = min(options.jobs or len(os.sched_getaffinity(0)), len(options.targets))
    rounds = -(-len(options.targets) // jobs)
    each = options.cpu or (options.total / rounds if options.total else options.seconds)
    targets, stop, found = [Target(path) for path in options.targets], threading.Event(), None
    with ThreadPoolExecutor(jobs) as pool:
        running = {pool.submit(look_for, target, options, each, stop): target for target in targets}
        for done in as_completed(running):
            if running[done].finding and not stop.is_set():
                found = (running[done], done.result())
                stop.set()
                end_all(targets)
            done.result()  # an error of this program itself
    table([t for t in targets if not found or t is found[0] or not t.finding])
    if found:
        target, said = found
        print(f"\n{said[-6000:]}\n\n{target.name} found something: {target.finding}\nrepeat it:  {target.path} {target.finding}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
