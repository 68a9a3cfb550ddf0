#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Peak resident memory stays under --memory plus 16 MiB, for growing input and for input that is hard to hold."""

import json
import multiprocessing
import os
import random
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))
import make_json  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BINARY, SANITIZED, SHARED, UNDER, Scratch  # noqa: E402

GENERATOR = SHARED / "tools" / "make_trace.py"
OVERHEAD_MIB = 16  # code and libraries
FORMATS = "html,pdf,text,json,markdown,csv,collapsed"
MAKE = Path(__file__).resolve().parents[1] / "support" / "make_profile.py"

# name, own generator's options, large generator's options (None = the own one is enough)
CASES = (
    ("a small profile", ["gpu"], None),
    ("20,000 activities", ["gpu", "--steps", "20", "--devices", "2", "--per-step", "500"], None),
    ("400,000 events", None, ["--events", "400000", "--devices", "4", "--async"]),
    ("400,000 events in no order", None, ["--events", "400000", "--shuffle", "--devices", "2"]),
    ("150,000 different names", None, ["--events", "400000", "--unique-names", "0.6", "--devices", "2"]),
    ("long names", None, ["--events", "40000", "--long-names", "--unique-names", "0.5"]),
    ("400,000 events of a TPU", None, ["--platform", "tpu", "--events", "400000"]),
    ("400,000 events of a CPU", None, ["--platform", "cpu", "--events", "400000", "--steps", "5000"]),
)


def peak_mib(path, out, memory):
    """(exit status, peak resident MiB).  The kernel counts the memory of this process before the program replaces
    it, too; that is far less than what is looked for."""
    process = subprocess.Popen([str(BINARY), "report", str(path), "-o", str(out), "--memory", f"{memory}M",
                                "--format", FORMATS],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_maxrss / 1024


def make(folder, own, large):
    path = folder / "host0.xplane.pb"
    if own:
        command = [sys.executable, str(MAKE), own[0], str(path), *own[1:]]
    else:
        command = [sys.executable, str(GENERATOR), str(folder / "host0"), "--format", "xplane", "--quiet", *large]
    subprocess.run(command, check=True)
    return path


def made_json(path, count, shuffled):
    """A JSON of `count` events: as they are made, track after track, or in no order, names of tracks among them."""
    with open(path, "wb") as file:
        if not shuffled:
            make_json.write(count, file)
            return
        events = [event for block in make_json.Run(count).blocks() for event in block]
        random.Random(1).shuffle(events)
        file.write(b'{"displayTimeUnit":"ns","traceEvents":[' + ",\n".join(events).encode("utf-8") + b"]}")


def full_tables(path, names=2600, steps=4, length=250):
    """A JSON in which kernels, operations, scopes and what the host ran have more long names than a table has rows."""
    tail = "x" * length
    count = names * steps

    def event(pid, tid, ts, dur, name, /, **args):
        return {"ph": "X", "pid": pid, "tid": tid, "ts": ts, "dur": dur, "name": name, "args": args}

    events = [{"ph": "M", "pid": pid, "tid": tid, "name": what, "args": {"name": name}} for pid, tid, what, name in (
        (1, 13, "process_name", "/device:GPU:0"), (1, 13, "thread_name", "Stream #13(Compute)"),
        (701, 5, "process_name", "/host:CPU"), (701, 5, "thread_name", "python"), (701, 6, "thread_name", "main"))]
    events += [event(701, 5, step * names * 5, names * 5 - 1, "train", step_num=str(step), _r="1")
               for step in range(steps)]
    for i in range(count):
        n, at = i % names, 5 * i + 1
        events += [
            event(701, 5, at, 1, "cuLaunchKernel", correlation_id=str(i + 7)),
            event(701, 6, at, 2, f"$mod{n}.py:{n} function_{n}{tail}"),
            event(701, 6, at + 2.1, 1, f"annotation_{n}{tail}", _r="1"),
            event(1, 13, at + 2, 1 + n / 10000, f"kernel_{n}{tail}", correlation_id=str(i + 7), hlo_module="jit_f",
                  hlo_op=f"fusion.{n}{tail}", tf_op=f"jit(f)/jit(main)/scope_{n // 3}/layer_{n}/mul{tail}:",
                  name=f"jit(f)/jit(main)/scope_{n // 3}/layer_{n}/mul{tail}", source=f"/a/b/c_{n}.py:{n}",
                  kernel_details=f"regs:32 static_shared:0 dynamic_shared:0 grid:{n + 1},1,1 block:64,1,1 occ_pct:50")]
    path.write_text(json.dumps({"displayTimeUnit": "ns", "metadata": {"highres-ticks": True}, "traceEvents": events}))


def check(tap, name, path, folder):
    """Both memories hold, and give the same bytes."""
    size = path.stat().st_size / (1 << 20)
    results = {}
    for memory in (32, 256):
        status, peak = peak_mib(path, folder / f"out{memory}", memory)
        results[memory] = {p.name: p.read_bytes() for p in sorted((folder / f"out{memory}").rglob("*")) if p.is_file()}
        tap.ok(status == 0 and peak <= memory + OVERHEAD_MIB,
               f"{name}, {size:.0f} MiB, --memory {memory}M: {peak:.0f} MiB", f"exit status {status}")
    tap.ok(results[32] == results[256] and results[32], f"{name}: the same bytes with both",
           [n for n in results[256] if results[256][n] != results[32].get(n)])


def main():
    tap = Tap()
    if SANITIZED or UNDER:
        tap.skip("peak memory", "this build has a memory of its own")
        tap.done()
    for name, own, large in CASES:
        if large and not GENERATOR.exists():
            tap.skip(name, f"no generator at {GENERATOR}")
            continue
        with Scratch() as folder:
            path = make(folder, own, large)
            check(tap, name, path, folder)
    for name, make_it, arguments in (("300,000 events of a JSON", made_json, (300_000, False)),
                                     ("300,000 events of a JSON in no order", made_json, (300_000, True)),
                                     ("long names in all tables", full_tables, ())):
        with Scratch() as folder:
            path = folder / "host0.trace.json"
            # In a process of its own: the peak of this one would count, see peak_mib().
            maker = multiprocessing.Process(target=make_it, args=(path, *arguments))
            maker.start()
            maker.join()
            check(tap, name, path, folder)
    tap.done()


if __name__ == "__main__":
    main()
