#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A Chrome JSON gives the same summary whichever way it comes: plain, packed, through a pipe, its events in any order."""

import gzip
import html
import json
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
import make_pytorch  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run, summary_of  # noqa: E402

ZSTD = shutil.which("zstd")


def without_input(summary):
    return {k: v for k, v in summary.items() if k != "input"}


def halves(data):
    return data[:len(data) // 2], data[len(data) // 2:]


def zstd(data):
    return subprocess.run([ZSTD, "-q", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout


def packings(data):
    """(label, bytes of the file)"""
    yield "gzip", gzip.compress(data, mtime=0)
    yield "gzip of two members", b"".join(gzip.compress(part, mtime=0) for part in halves(data))
    if ZSTD:
        yield "zstd", zstd(data)
        yield "zstd of two frames", b"".join(zstd(part) for part in halves(data))


def named_as_pipe(summary):
    """The text of a summary whose host has the name of one that comes through a pipe."""
    return json.dumps(without_input(summary)).replace("rank0", "stdin")


def check(tap, folder, name, data):
    path = folder / "rank0.json"
    path.write_bytes(data)
    result, usual = summary_of(path, folder / "plain")
    if not tap.ok(usual is not None and result.status == 0, f"{name}: plain", result):
        return
    for label, packed in packings(data):
        path.write_bytes(packed)
        result, summary = summary_of(path, folder / "out")
        tap.ok(summary is not None and without_input(summary) == without_input(usual), f"{name}: {label}", result)
        piped(tap, folder, f"{name}: {label} through a pipe", packed, usual)
    piped(tap, folder, f"{name}: plain through a pipe", data, usual)


def piped(tap, folder, name, data, usual):
    out = folder / "piped"
    result = run("report", "-", "-o", out, "--format", "json", stdin=data)
    path = out / "summary.json"
    got = json.dumps(without_input(json.loads(path.read_text(encoding="utf-8")))) if path.exists() else ""
    tap.ok(result.status == 0 and got == named_as_pipe(usual), name, result)
    shutil.rmtree(out, ignore_errors=True)


def in_any_order(tap, folder, name, data):
    """The events by chance: only the tallies of their order differ.  The metadata stay first: tracks and devices are
    numbered as they come, and numbers decide between what is equal."""
    document = json.loads(data)
    path = folder / "rank0.json"
    path.write_bytes(data)
    _, usual = summary_of(path, folder / "usual")
    names = [e for e in document["traceEvents"] if e.get("ph") == "M"]
    events = [e for e in document["traceEvents"] if e and e["ph"] != "M"]
    random.Random(5).shuffle(events)
    path.write_text(json.dumps(dict(document, traceEvents=names + events)), encoding="utf-8")
    result, summary = summary_of(path, folder / "shuffled")
    if not tap.ok(usual is not None and summary is not None, f"{name}: in any order", result):
        return
    for figure in usual:
        if figure not in ("input", "coverage"):
            tap.ok(summary[figure] == usual[figure], f"{name}: in any order: {figure}")
    for figure in ("events_read", "events_used", "classes"):
        tap.ok(summary["coverage"][figure] == usual["coverage"][figure], f"{name}: in any order: {figure}")


def ranges_are_of_the_file(tap, folder, name, data):
    """Where the page says to look, in the clock of the file: that is what its viewer shows."""
    path = folder / "clock.json"
    path.write_bytes(data)
    result = run("report", path, "-o", folder / "clock", "--format", "html")
    page = (folder / "clock" / "report.html").read_text(encoding="utf-8")
    found = re.findall(r"max\(ts\) < \d+ then 0 else (\d+) end.*? where ts - zero < (-?\d+) and ts - zero \+ dur > (-?\d+)",
                       html.unescape(page))
    found += [("0", *ends) for ends in re.findall(r"where ts < (-?\d+) and ts \+ dur > (-?\d+)", html.unescape(page))]
    ranges = [(int(zero) + int(begin), int(zero) + int(end)) for zero, end, begin in found]
    times = [event["ts"] for event in json.loads(data)["traceEvents"] if "dur" in event]
    first, last = min(times) * 1000 - 10**9, max(times) * 1000 + 10**9
    tap.ok(result.status == 0 and ranges and all(first <= a <= b <= last for a, b in ranges), f"{name}: ranges",
           f"{ranges[:3]} are not within {first} and {last}")


def main():
    tap = Tap()
    if not ZSTD:
        tap.skip("zstd", "no program zstd")
    files = {"PyTorch": make_pytorch.rank_of(), "PyTorch, old": make_pytorch.rank_of(old=True)}
    files.update({f"JAX, {kind}": make_profile.chrome_json(make(seed=3)) for kind, make in make_profile.MAKERS.items()})
    for name, data in files.items():
        with Scratch() as folder:
            check(tap, folder, name, data)
            in_any_order(tap, folder, name, data)
            if name.startswith("PyTorch"):
                ranges_are_of_the_file(tap, folder, name, data)
    tap.done()


if __name__ == "__main__":
    main()
