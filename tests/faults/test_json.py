#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A Chrome JSON cut at every byte: a report of exactly the events that are whole, marked as partial, or none."""

import concurrent.futures
import gzip
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
import make_pytorch  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import SANITIZED, UNDER, Scratch, run  # noqa: E402

SLOW = SANITIZED or bool(UNDER)


def small(data, most):
    """(bytes of a document with `most` of the events and the rest left out, where each event of them ends that is
    no metadata).  Metadata is kept."""
    document = json.loads(data)
    events = document.pop("traceEvents")
    names = [e for e in events if e.get("ph") == "M"]
    others = [e for e in events if e and e["ph"] != "M"]
    head = json.dumps(document, separators=(",", ":"))[:-1] + ',"traceEvents":['
    text, ends = head, []
    for i, event in enumerate(names + others[::max(len(others) // most, 1)]):
        text += ("," if i else "") + json.dumps(event, separators=(",", ":"))
        if event["ph"] != "M":
            ends.append(len(text))
    text += "]}"
    assert text.isascii()
    return text.encode("ascii"), ends


def problem_of(result, out, is_whole, expected):
    """What is wrong with the run on a cut file, of which `expected` events are whole; or nothing."""
    path = out / "summary.json"
    if result.crashed or result.status not in ((0,) if is_whole else (3, 4)):
        return str(result)
    if result.status == 3:
        return f"3, and yet a summary: {result}" if path.exists() else f"{expected} events lost: {result}" if expected else ""
    summary = json.loads(path.read_text(encoding="utf-8"))
    file = summary["input"]["files"][0]
    if summary["coverage"]["events_read"] != expected:
        return f"{summary['coverage']['events_read']} events, not {expected}"
    if file["partial"] == is_whole or bool(file["problems"]) == is_whole:
        return f"partial {file['partial']}, problems {file['problems']}"
    return ""


def one(data, length, ends, folder):
    path, out = folder / f"{length}.json", folder / f"{length}.out"
    path.write_bytes(data[:length])
    result = run("report", path, "-o", out, "--format", "json")
    expected = sum(e <= length for e in ends)
    problem = problem_of(result, out, length == len(data), expected)
    path.unlink()
    for left in out.iterdir() if out.is_dir() else ():
        left.unlink()
    return problem and f"{length} bytes, '{data[max(length - 20, 0):length].decode()}': {problem}"


def cut(tap, name, data, most):
    data, ends = small(data, most)
    step = 13 if SLOW else 1
    lengths = [*range(1, len(data), step), len(data)]
    with Scratch() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        problems = [p for p in pool.map(lambda n: one(data, n, ends, folder), lengths) if p]
    tap.ok(not problems, f"{name}: cut at {len(lengths)} places, {len(ends)} events", f"{len(problems)} are wrong",
           *problems[:5])


def cut_gzip(tap, name, data):
    """Packed: what is read is a begin of the file, at least what lies before the last bytes."""
    data, ends = small(data, 400)
    packed = gzip.compress(data, mtime=0)
    wrong, read = [], []
    with Scratch() as folder:
        for length in range(20, len(packed), len(packed) // (10 if SLOW else 60)):
            path, out = folder / "cut.json.gz", folder / "out"
            path.write_bytes(packed[:length])
            result = run("report", path, "-o", out, "--format", "json")
            if result.crashed or result.status not in (3, 4):
                wrong.append(f"{length} bytes: {result}")
            elif result.status == 4:
                summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
                read.append(summary["coverage"]["events_read"])
    tap.ok(not wrong, f"{name}: packed, and cut", *wrong[:3])
    tap.ok(read == sorted(read) and read and read[-1] > len(ends) // 2, f"{name}: packed, and cut: more bytes, more events",
           read)


def main():
    tap = Tap()
    files = {"PyTorch": make_pytorch.rank_of(steps=2), "JAX": make_profile.chrome_json(make_profile.tpu(steps=2))}
    for name, data in files.items():
        cut(tap, name, data, 8)
        cut_gzip(tap, name, data)
    tap.done()


if __name__ == "__main__":
    main()
