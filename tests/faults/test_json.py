#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A Chrome JSON cut at every byte: a report of exactly the events that are whole, marked as partial, or none.  Behind damage the
reading goes on, and one wrong time costs one event."""

import concurrent.futures
import gzip
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzz"))
import damaged_kinds  # noqa: E402
import make_profile  # noqa: E402
import make_pytorch  # noqa: E402
from tap import Tap  # noqa: E402
from test_damage import play  # noqa: E402
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


def forked_problem(got, is_whole, expected):
    """The same of a line of the program `damage`, which does not tell the problems of the file."""
    if got["sanitizer"] or got["status"] not in ((0,) if is_whole else (3, 4)):
        return str(got)
    if got["status"] == 3:
        return f"{expected} events lost: {got}" if expected or got["digest"] else ""
    is_told = is_whole or got["said"].startswith("tracemill: ")
    return "" if got["events"] == expected and got["partial"] != is_whole and is_told else f"not {expected} events, or not told: {got}"


def cut(tap, name, data, most):
    """At every byte in forks of one process, and at some in a process of its own, whose summary is read."""
    data, ends = small(data, most)
    lengths = [*range(1, len(data), 13 if SLOW else 1), len(data)]
    with Scratch() as folder:
        kind = damaged_kinds.Kind(name, folder / "cut.json", data)
        kind.write()
        results = play(kind, [f"cut {n}" for n in lengths[:-1]] + ["whole"])[1]
        problems = [f"{n} bytes: {why}" for n, got in zip(lengths, results)
                    if (why := forked_problem(got, n == len(data), sum(e <= n for e in ends)))]
    tap.ok(not problems, f"{name}: cut at {len(lengths)} places, {len(ends)} events", f"{len(problems)} are wrong", *problems[:5])
    lengths = [*lengths[:-1:1 if SLOW else 13], len(data)]
    with Scratch() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        problems = [p for p in pool.map(lambda n: one(data, n, ends, folder), lengths) if p]
    tap.ok(not problems, f"{name}: cut at {len(lengths)} places, what is told", f"{len(problems)} are wrong", *problems[:5])


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


def dumped(events, **more):
    return json.dumps({**more, "traceEvents": events}, separators=(",", ":")).encode("ascii")


def spans(count, begin=0):
    return [{"ph": "X", "name": f"op {i % 7}", "pid": 1, "tid": i % 3, "ts": begin + 10 * i, "dur": 5, "args": {"k": [i]}}
            for i in range(count)]


def report(folder, data, *options):
    """out: the run, its summary or None"""
    path, out = folder / "t.json", folder / "out"
    summary = out / "summary.json"
    path.write_bytes(data)
    summary.unlink(missing_ok=True)
    result = run("report", path, "-o", out, "--format", "json", *options)
    return result, json.loads(summary.read_text(encoding="utf-8")) if summary.exists() else None


def go_on(tap):
    """Behind damage the events that are whole count, and what was skipped is told; the same whatever the memory."""
    data = dumped(spans(3000))
    commas = [data.index(b'"dur"') - 1, data.index(b'"dur"', len(data) // 2) - 1]
    one, two = (bytes(b for i, b in enumerate(data) if i not in commas[:n]) for n in (1, 2))
    hole = data[:9000] + bytes(5000) + data[14000:]
    starts = [i for i in range(len(data)) if data.startswith(b'{"ph"', i)]
    lost = sum(end > 9000 and begin < 14000 for begin, end in zip(starts, starts[1:]))
    first = f"a comma is missing (byte {commas[0]}); {starts[1] - 1 - starts[0]} bytes were skipped, from byte {starts[0]} on"
    with Scratch() as folder:
        for name, text, read, words in (("one comma", one, 2999, first),
                                        ("two commas", two, 2998, first + "; 2 such places, 151 bytes in total"),
                                        ("a page of zeros", hole, 3000 - lost, f"bytes were skipped, from byte {max(s for s in starts if s < 9000)} on")):
            result, summary = report(folder, text)
            file = summary["input"]["files"][0] if summary else {}
            tap.ok(result.status == 4 and file["partial"] and words in file["problems"][0] and words in result.err and
                   summary["coverage"]["events_read"] == read, f"damage: {name}", result,
                   file.get("problems"), summary and summary["coverage"])
            small = report(folder, text, "--memory", "32M")[1]
            tap.ok(summary == small, f"damage: {name}, the same with little memory")


def one_time(tap):
    """One wrong time makes no other event an outlier."""
    late = 1_700_000_000_000_000
    with Scratch() as folder:
        whole = report(folder, dumped(spans(2000, late)))[1]
        for at, ts in ((0, 0), (0, 10**17), (0, -10**17), (3, 0), (1999, 0)):
            events = spans(2000, late)
            events.insert(at, {"ph": "X", "name": "wrong", "pid": 1, "tid": 1, "ts": ts, "dur": 1})
            result, summary = report(folder, dumped(events))
            tallies = summary["coverage"]["tallies"] if summary else {}
            tap.ok(result.status == 4 and tallies.get("clock-outlier", {}).get("count") == 1 and
                   summary["host"]["threads"] == whole["host"]["threads"], f"a wrong time of {ts} in event {at}", result, tallies)


def hostile(tap):
    """What looks like events again and again costs no more than any text."""
    size = (1 << 20) if SLOW else (16 << 20)
    texts = {"open": b'[{', "nested": b'[{"a":', "nested lists": b'{"a":[', "open names": b'{"', "no phase": b'{"a":1} ',
             "texts": b'"{"', "half events": b',{"ph":"X","args":{"a":[1,2', "zeros": b"\0" * 63 + b"x"}
    with Scratch() as folder:
        for name, piece in texts.items():
            before = os.times().children_user
            result, _ = report(folder, b'{"traceEvents":[x' + piece * (size // len(piece)) + b'{"ph":"i","ts":1,"name":"a"}]}')
            seconds = os.times().children_user - before
            tap.ok(not result.crashed and result.status in (3, 4) and seconds < 20, f"hostile: {name}", result, f"{seconds} s")


def main():
    tap = Tap()
    go_on(tap)
    one_time(tap)
    hostile(tap)
    files = {"PyTorch": make_pytorch.rank_of(steps=2), "JAX": make_profile.chrome_json(make_profile.tpu(steps=2))}
    for name, data in files.items():
        cut(tap, name, data, 8)
        cut_gzip(tap, name, data)
    tap.done()


if __name__ == "__main__":
    main()
