# SPDX-License-Identifier: Apache-2.0
"""Profiles of a night, and what a batch of them leaves: for tests that reach the same by other ways."""

import gzip
import hashlib
import os

import make_profile
from tracemill import run

JOBS = ("train", "serve's \"own\"", "eval run")
HOSTS = 3
RUNS = 13
ITEMS = 12 + HOSTS


def long_trace(events):
    """A trace.json.gz that takes its time: about half a second for a million events."""
    parts = ['{"traceEvents":[{"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:0"}}',
             ',{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"Stream #1"}}']
    parts += [f',{{"ph":"X","pid":1,"tid":1,"ts":{10 * number},"dur":{3 + number % 5},"name":"kernel_{number % 11}"}}'
              for number in range(events)]
    return gzip.compress(("".join(parts) + "]}").encode(), compresslevel=1, mtime=0)


def make(root, steps=6, long=0, events=1_500_000):
    """Twelve runs of one host and one of three, of three jobs; the largest is some times as large as the smallest.
    long: so many more, which take a second each."""
    when = 1_780_000_000
    for number in range(12):
        folder = root / JOBS[number % 3] / "plugins" / "profile" / f"2026_05_{number + 10:02}_02_00_00"
        folder.mkdir(parents=True)
        space = make_profile.gpu(seed=number, steps=steps, devices=1 + number % 3, host=f"node{number}",
                                 per_step=30 + 20 * number)
        (folder / f"node{number}.xplane.pb").write_bytes(space.encode())
    folder = root / "train" / "plugins" / "profile" / "2026_05_30_02_00_00"
    folder.mkdir(parents=True)
    for number in range(HOSTS):
        space = make_profile.gpu(seed=50 + number, steps=steps, devices=2, host=f"big{number}", per_step=100)
        (folder / f"big{number}.xplane.pb").write_bytes(space.encode())
    packed = long_trace(events) if long else b""
    for number in range(long):
        folder = root / "long" / "plugins" / "profile" / f"2026_05_{number + 10:02}_02_00_00"
        folder.mkdir(parents=True)
        (folder / "host.trace.json.gz").write_bytes(packed)
    for path in sorted(root.rglob("host*")) + sorted(root.rglob("*.pb")):
        os.utime(path, (when, when))


def undisturbed(root, out, *options):
    """One `tracemill batch`.  out: (Result, content of the folder)"""
    result = run("batch", root, "-o", out, "-q", *options)
    return result, content(out)


def content(out):
    """Path -> hash of all files of a batch, without what belongs to Slurm."""
    found = {}
    for path in sorted(out.rglob("*")):
        name = path.relative_to(out).as_posix()
        if path.is_file() and not name.startswith("slurm/"):
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def difference(one, other):
    """What differs between two contents, as a few words; "" = nothing."""
    names = sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
    return ", ".join(f"{name} ({'changed' if name in one and name in other else 'only in one'})" for name in names[:8])
