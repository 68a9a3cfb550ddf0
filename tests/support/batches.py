# SPDX-License-Identifier: Apache-2.0
"""Folders of made profiles for `tracemill batch`, and what an OUT of one holds."""

import hashlib
import json
import os
import signal
import subprocess
import time

import make_profile
from tracemill import BINARY, run

DAY_NS = 24 * 3600 * 10**9


def write(path, data, day=1):
    """A profile, with a time of change that is the same in each run of a test."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    when = make_profile.EPOCH_NS + day * DAY_NS
    os.utime(path, ns=(when, when))
    return path


def make_root(root, nights=2, steps=5):
    """Runs of one host of each kind and of two hosts; one damaged, one empty.  out: how many traces there are."""
    count = 0
    for night in range(1, nights + 1):
        for kind, make in make_profile.MAKERS.items():
            write(root / f"{kind}-job" / f"2026-01-{night:02}" / "host0.xplane.pb", make(seed=night, steps=steps).encode(), night)
            count += 1
        for host in ("a", "b", "c"):
            write(root / "many-job" / f"2026-01-{night:02}" / f"{host}.xplane.pb",
                  make_profile.gpu(seed=night * 10 + ord(host), steps=steps, host=host).encode(), night)
            count += 1
    whole = make_profile.gpu(seed=99, steps=steps).encode()
    write(root / "cut-job" / "2026-01-01" / "host0.xplane.pb", whole[:len(whole) * 2 // 3])
    write(root / "empty-job" / "2026-01-01" / "host0.xplane.pb", b"")
    return count + 2


def content(out):
    """What lies in OUT: path -> hash, or "folder"; of hidden files too."""
    return {str(p.relative_to(out)): hashlib.sha256(p.read_bytes()).hexdigest() if p.is_file() else "folder"
            for p in sorted(out.rglob("*"))}


def difference(one, other):
    """The first paths of two contents that are not alike, as text; "" = there are none."""
    paths = [p for p in sorted(one.keys() | other.keys()) if one.get(p) != other.get(p)]
    return ", ".join(f"{p} ({'only left' if p not in other else 'only right' if p not in one else 'differs'})"
                     for p in paths[:8])


def results(out):
    """The results in OUT: folder below runs/ -> document."""
    return {str(p.parent.relative_to(out / "runs")): json.loads(p.read_text(encoding="utf-8"))
            for p in sorted((out / "runs").rglob("result.json"))}


def result_of(out, name, host=None):
    """The result of the run whose id begins with `name`."""
    found = [r for r in results(out).values() if r["id"].startswith(name) and r["host"] == host]
    return found[0] if len(found) == 1 else None


def scan(root, manifest, *options):
    return run("batch", "scan", root, "-o", manifest, *options)


def work(manifest, out, *options, **environment):
    return run("batch", "run", "--manifest", manifest, "-o", out, "--quiet", *options, **environment)


def start(*arguments, stdin=None, **environment):
    """The program in the background, as the leader of a group of its own; with a text on its stdin."""
    settings = dict(os.environ, SOURCE_DATE_EPOCH="4000000000", **environment)
    process = subprocess.Popen([str(BINARY), *map(str, arguments)], env=settings, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, start_new_session=True, stdin=subprocess.PIPE if stdin else None)
    if stdin:
        process.stdin.write(stdin.encode())
        process.stdin.close()
    return process


def children(process):
    """The processes that it has begun and that have not ended."""
    try:
        with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except (OSError, ValueError):
        return []


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def wait_for_end(pids, seconds=60):
    """out: whether all of them ended by themselves"""
    end = time.monotonic() + seconds
    while any(is_running(pid) for pid in pids) and time.monotonic() < end:
        time.sleep(0.005)
    return not any(is_running(pid) for pid in pids)


def kill(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass
