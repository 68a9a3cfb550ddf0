#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time and memory of `report` over generated profiles.

    run.py [--events N] [--repeat N] [--memory SIZE]

Prints a row per profile: size, events, the best of a few runs in seconds of CPU, events and MiB per second, peak
resident memory.  With $TM_SHARED's generator profiles of N events; without it, the largest that the small generator
of the tests makes in reasonable time.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from tracemill import BINARY, SHARED, Scratch  # noqa: E402

GENERATOR = SHARED / "tools" / "make_trace.py"
MAKE = Path(__file__).resolve().parents[1] / "support" / "make_profile.py"
KINDS = {"gpu": ["--devices", "4"], "gpu, no order": ["--devices", "4", "--shuffle"],
         "gpu, own names": ["--devices", "4", "--unique-names", "0.5"], "tpu": ["--platform", "tpu"],
         "cpu": ["--platform", "cpu"]}


def measure(path, out, memory):
    """(seconds of CPU, seconds of the clock, peak MiB, events)."""
    before = os.times().elapsed
    process = subprocess.Popen([str(BINARY), "report", str(path), "-o", str(out), "--memory", memory],
                               stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"bench: report ended with {process.returncode}")
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    return (usage.ru_utime + usage.ru_stime, os.times().elapsed - before, usage.ru_maxrss / 1024,
            summary["coverage"]["events_read"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--memory", default="256M")
    options = parser.parse_args()
    print(f"{'profile':16}{'MiB':>8}{'events':>10}{'CPU s':>9}{'clock s':>9}{'events/s':>12}{'MiB/s':>8}{'peak MiB':>10}")
    for name, more in KINDS.items():
        with Scratch() as folder:
            path = folder / "host0.xplane.pb"
            if GENERATOR.exists():
                command = [str(GENERATOR), str(folder / "host0"), "--format", "xplane", "--quiet", "--events",
                           str(options.events), *more]
            else:
                command = [str(MAKE), name[:3], str(path), "--steps", "50", "--per-step", "500"]
            subprocess.run([sys.executable, *command], check=True)
            runs = [measure(path, folder / f"out{i}", options.memory) for i in range(options.repeat)]
            cpu, clock, _, events = min(runs)
            size = path.stat().st_size / (1 << 20)
            print(f"{name:16}{size:8.1f}{events:10}{cpu:9.2f}{clock:9.2f}{events / cpu:12.0f}{size / cpu:8.1f}"
                  f"{max(r[2] for r in runs):10.0f}")


if __name__ == "__main__":
    main()
