#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hosts of a run that processes read side by side (--jobs): every output has the bytes that one process gives, and what
happens to one of the processes is an error of the run."""

import json
import shutil
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import batches  # noqa: E402
import make_profile  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run  # noqa: E402

HOSTS = 5
JOBS = ("2", "3", "8")
FORMATS = "json,html,pdf,text,markdown,csv,collapsed"


def make_run(folder, hosts=HOSTS, steps=6):
    """A log directory with a run of several hosts.  out: the profiles"""
    place = folder / "plugins" / "profile" / "2026_11_20_20_37_34"
    place.mkdir(parents=True)
    paths = [place / f"host{i}.xplane.pb" for i in range(hosts)]
    for i, path in enumerate(paths):
        path.write_bytes(make_profile.gpu(seed=i + 1, steps=steps).encode())
    return paths


def outputs(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def report(folder, inputs, jobs, *options):
    out = folder / f"out-{jobs}"
    shutil.rmtree(out, ignore_errors=True)
    result = run("report", *inputs, "-o", out, "--format", FORMATS, "--jobs", jobs, *options)
    return (outputs(out) if out.exists() else {}), result


def same(tap, folder, label, inputs, *options, statuses=(0,), jobs=JOBS):
    """One process and several give the same files, messages and status."""
    files, result = report(folder, inputs, 1, *options)
    tap.ok(result.status in statuses and bool(files) == (result.status in (0, 4)), f"{label}: one process", result)
    for number in jobs:
        other, found = report(folder, inputs, number, *options)
        wrong = [name for name in set(files) | set(other) if files.get(name) != other.get(name)]
        wrong += ["status"] * (found.status != result.status)
        wrong += ["messages"] * (found.err.replace(f"out-{number}", "out-1") != result.err)
        tap.ok(not wrong, f"{label}: {number} processes", found, f"differ: {wrong}", f"one process: {result}")


def same_bytes(tap, folder):
    paths = make_run(folder / "log")
    same(tap, folder, "five hosts", [folder / "log"], "--format", FORMATS + ",partial", jobs=(*JOBS, "auto"))
    same(tap, folder, "five hosts, redacted", [folder / "log"], "--redact")
    same(tap, folder, "five hosts, 64M", [folder / "log"], "--memory", "64M")
    same(tap, folder, "five hosts, 32M", [folder / "log"], "--memory", "32M")
    same(tap, folder, "five hosts, some steps", [folder / "log"], "--steps", "2:4")
    same(tap, folder, "profiles one by one", paths)
    partial = folder / "first.partial"
    made = run("report", paths[0], "-o", folder / "first", "--format", "partial")
    shutil.copy(folder / "first" / "run.partial", partial)
    tap.ok(made.status == 0, "a partial of the first host", made)
    same(tap, folder, "a partial and profiles", [partial, *paths[1:]])
    same(tap, folder, "a partial between profiles", [*paths[1:3], partial, *paths[3:]])


def shared_out(tap, folder):
    """More hosts than each process reads at once, of very different sizes: adjacent ones share a process."""
    place = folder / "plugins" / "profile" / "2026_11_20_20_37_34"
    place.mkdir(parents=True)
    for i in range(19):
        data = make_profile.gpu(seed=i + 1, steps=60 if i in (3, 17) else 1 + i % 3).encode()
        (place / f"host{i:02}.xplane.pb").write_bytes(data)
    same(tap, folder, "19 uneven hosts", [folder], "--format", FORMATS + ",partial")


def partials(tap, folder):
    """Many partials, of one host or of several, are joined by processes, too."""
    paths, parts = make_run(folder / "log", hosts=36, steps=2), []
    for i in range(0, len(paths), 4):
        for name, some in ([(f"all{i:02}", paths[i:i + 4])] if i == 8 else [(f"one{i + k:02}", [path]) for k, path in enumerate(paths[i:i + 4])]):
            made = run("report", *some, "-o", folder / name, "--format", "partial")
            parts.append(folder / name / "run.partial")
            if made.status:
                tap.ok(False, f"the partial of {name}", made)
    tap.ok(len(parts) == 33, "33 partials of 36 hosts")
    same(tap, folder, "many partials", parts, "--format", FORMATS + ",partial")
    whole, _ = report(folder, paths, 1)
    joined, _ = report(folder, parts, 2)
    tap.ok(json.loads(whole["summary.json"])["steps"] == json.loads(joined["summary.json"])["steps"], "the figures of the profiles")
    data = parts[20].read_bytes()
    parts[20].write_bytes(data[:-100] + bytes(byte ^ 0x55 for byte in data[-100:]))
    same(tap, folder, "many partials, one is damaged", parts, statuses=(3,))
    parts[20].write_bytes(data)
    end, found = time.monotonic() + 60, []
    while not found and time.monotonic() < end:  # they do not take long
        process = batches.start("report", *parts, "-o", folder / "read", "--jobs", "2", "--format", "json")
        while not found and process.poll() is None:
            found = batches.children(process)
        process.communicate(timeout=60)
    tap.ok(found, "processes read them")


def damaged(tap, folder):
    """What one host tells of damage stands where it does without processes."""
    paths = make_run(folder / "log", hosts=4)
    whole = paths[1].read_bytes()
    paths[1].write_bytes(whole[:len(whole) * 2 // 3])
    same(tap, folder, "a host that is cut", [folder / "log"], statuses=(0, 4))
    same(tap, folder, "a host that is cut, --strict", [folder / "log"], "--strict", statuses=(0, 1, 2, 3, 4))
    paths[2].write_bytes(b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff not a profile")
    same(tap, folder, "a host that is no profile", [folder / "log"], statuses=(0, 1, 2, 3, 4))


def ended(tap, folder):
    """A process that is killed is an error with its host, and nothing is written; the driver takes its processes along."""
    for path in make_run(folder / "log", hosts=3, steps=100):
        path.write_bytes(path.read_bytes() * 15)  # messages one after the other are one message
    for target, wanted in (("a process", "terminated by signal 9"), ("the driver", None)):
        out = folder / target.replace(" ", "-")
        process = batches.start("report", folder / "log", "-o", out, "--jobs", "2", "--format", "json")
        end, found = time.monotonic() + 60, []
        while not found and time.monotonic() < end and process.poll() is None:
            found = batches.children(process)
        batches.kill(process.pid if wanted is None else found[0]) if found else None
        _, err = process.communicate(timeout=60)
        err = err.decode("utf-8", "replace") if err else ""
        if wanted:
            tap.ok(found and process.returncode == 6 and wanted in err and "host" in err and "--jobs 1" in err and
                   not (out / "summary.json").exists(), "a process is killed", f"status {process.returncode}: {err}")
        tap.ok(found and batches.wait_for_end(found), f"{target} is killed: no process goes on")


def main():
    tap = Tap()
    for check in (same_bytes, shared_out, partials, damaged, ended):
        with Scratch() as folder:
            check(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
