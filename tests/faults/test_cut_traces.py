#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inputs cut at every byte, and inputs that nobody expects, through convert and split: an exit status that report gives
too, and files that are whole, or none."""

import concurrent.futures
import json
import random
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzz"))
import make_profile  # noqa: E402
import make_pytorch  # noqa: E402
import make_seeds  # noqa: E402
import written_trace  # noqa: E402
from tap import Tap  # noqa: E402
from test_json import small  # noqa: E402
from tracemill import SANITIZED, UNDER, Scratch, run  # noqa: E402

SLOW = SANITIZED or bool(UNDER)
ENDINGS = ("pftrace", "json", "csv", "pftrace.gz", "json.gz")
SPAN = {"ph": "X", "pid": 1, "tid": 1, "name": "span"}


def problem_of(result, out):
    """What is wrong with what a run left in the folder `out`, which goes away; "" = nothing."""
    files = [path for path in out.rglob("*") if path.is_file()] if out.exists() else []
    traces = [path for path in files if not path.name.startswith("index.")]
    broken = list(filter(None, map(written_trace.problem_of, traces)))
    shutil.rmtree(out, ignore_errors=True)
    if result.crashed or result.status not in (0, 3, 4, 6):
        return str(result)
    if broken:
        return broken[0]
    if bool(files) != (result.status in (0, 4)):  # a split of nothing is a list without parts
        return f"{len(files)} files: {result}"
    return ""


def write_once(source, out, number, *options):
    """One way of writing a source, a different one for each number."""
    if number % 7 < len(ENDINGS):
        return run("convert", source, "-o", out / f"a.{ENDINGS[number % 7]}", "-q", "--memory", "32M", *options)
    form = "json" if number % 2 else "pftrace"
    return run("split", source, "-o", out, "--format", form, "--max-events", "5", "-q", "--memory", "32M", *options)


def everything():
    """All that a Chrome trace may have, with text out of ASCII."""
    events = make_seeds.pytorch_trace()["traceEvents"][:14]
    at = events[-1]["ts"] - 20
    events += [dict(event, ts=at + float(event["ts"])) for event in make_seeds.other_trace()]
    events.append(dict(SPAN, ts=at, dur=5, args={"a": [1, {"b": "\u20ac\""}], "c": 1.5e300, "d": None}, bind_id="0x1", flow_out=True))
    return {"schemaVersion": 1, "traceEvents": events}


def cut(tap, name, data, ending):
    step = 29 if SLOW else 7
    lengths = [*range(1, len(data), step), len(data)]

    def one(length):
        path, out = folder / f"{length}.{ending}", folder / f"{length}.out"
        path.write_bytes(data[:length])
        options = ["--plain"] if length % 2 else []
        result = write_once(path, out, length // step, *options)
        problem = problem_of(result, out)
        if not problem and length == len(data) and result.status != 0:
            problem = f"the whole file: {result}"
        path.unlink()
        return problem and f"{length} bytes: {problem}"

    with Scratch() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        wrong = [problem for problem in pool.map(one, lengths) if problem]
    tap.ok(not wrong, f"{name}: cut at {len(lengths)} places", f"{len(wrong)} are wrong", *wrong[:5])


def damaged(tap, name, data, ending):
    """Bytes changed, left out and doubled by chance."""
    dice = random.Random(7)
    wrong = []
    with Scratch() as folder:
        for number in range(30 if SLOW else 70):
            bytes_now = bytearray(data)
            for _ in range(dice.choice((1, 2, 8))):
                at = dice.randrange(len(bytes_now))
                bytes_now[at:at + dice.randrange(3)] = dice.choice((b"", b"\x00", b"\xff", b"9", b'"', bytes_now[at:at + 40]))
            path = folder / f"damaged.{ending}"
            path.write_bytes(bytes_now)
            problem = problem_of(write_once(path, folder / "out", number), folder / "out")
            if problem:
                wrong.append(f"{number}: {problem}")
    tap.ok(not wrong, f"{name}: damaged", *wrong[:5])


def at_one_time(tap, folder, kind, event, count):
    """A cut makes progress where time does not, and what parts repeat stays in proportion."""
    path, out = folder / "one.json", folder / "parts"
    path.write_text(json.dumps({"traceEvents": [dict(event, args={"i": i}) for i in range(count)]}), encoding="utf-8")
    result = run("split", path, "-o", out, "--max-events", "1000", "--plain", "-q")
    listed = json.loads((out / "index.json").read_text(encoding="utf-8")) if result.status == 0 else {"parts": [], "total": {}}
    total, parts = listed["total"], listed["parts"]
    new = total.get("slices", 0) - total.get("pieces", 0)
    tap.ok(new == count and 1 < len(parts) <= 60 and total["slices"] <= 10 * count, f"{count} {kind} at one time",
           result, total, len(parts))
    tap.ok(not problem_of(result, out), f"{count} {kind} at one time: whole")


NAMES = ["\x00", "a\x00b", "\x01\x1f\x7f", '"', "\\", "</script><b>", "../../x", "a/b", "\r\n", "\ud800", "\u202e", "=1+1", "x" * 70000]
IDS = [0, -1, 1 << 31, 1 << 63, 1 << 64, 1.5, "7", "abc", "", None, True, [1], {"a": 1}, 1e300, "0x10"]
DAY = 86400 * 10**6


def odd_inputs():
    """name: events that are in no document, but may be."""
    half = dict(SPAN, ts=1, dur=1)
    yield "names", [dict(half, ts=i, name=n, cat=n, args={n: n, "o": {n: [n]}}) for i, n in enumerate(NAMES)] + [
        {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": n}} for n in NAMES]
    yield "pids and tids", [dict(half, pid=p, tid=t) for p in IDS for t in IDS]
    yield "ids", [dict(half, ph=ph, ts=10 * i, id=d, cat="c", bp="e", args={"v": 1})
                  for i, d in enumerate(IDS) for ph in "sXfbenC"]
    yield "times", [dict(half, ts=t, dur=d) for t in (-1, 0, DAY * 50, -DAY * 50, DAY * 101, 1e300) for d in (0, 1, -1, DAY * 99, 1e300)]
    yield "counters", [{"ph": "C", "pid": 1, "ts": i, "name": "c", "args": {"a": v}}
                       for i, v in enumerate([1, 1.5, "3", "x", "1e999", None, True, [1], 1 << 63, 1 << 64, -(1 << 63)])]
    yield "only arrows", [dict(half, ph="sf"[i % 2], ts=i, id=i // 2, cat="c") for i in range(40)]
    yield "an arrow back", [half, dict(half, ph="s", ts=9, id=1), dict(half, ph="f", ts=1.5, id=1, bp="e")]
    yield "only names", [{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "P"}}]
    yield "backwards", [dict(half, ts=i, dur=3) for i in range(500, 0, -1)]
    yield "deep", [dict(half, ts=i, dur=4000 - 2 * i) for i in range(1500)]
    yield "overlapping", [dict(half, ts=i, dur=5000 + i) for i in range(1500)]


def odd(tap, folder):
    """Every verb and format on each of them."""
    path, out = folder / "odd.json", folder / "out"
    for name, events in odd_inputs():
        path.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
        wrong = [problem_of(write_once(path, out, number, *options), out) for number in (0, 1, 2, 5, 6) for options in ([], ["--plain"])]
        tap.ok(not any(wrong), f"odd input: {name}", *filter(None, wrong))
    path.write_text('{"traceEvents":[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"x","args":{"a":%s,"b":%s}}]}'
                    % ("[" * 1000 + "]" * 1000, '{"a":' * 1000 + "1" + "}" * 1000), encoding="utf-8")
    wrong = [problem_of(write_once(path, out, number), out) for number in (0, 1, 2, 5)]
    tap.ok(not any(wrong), "odd input: arguments in each other", *filter(None, wrong))


def nothing_fits(tap, folder):
    """A filter that nothing passes: a whole file without events, and a word of what was left out."""
    path, out = folder / "host0.xplane.pb", folder / "out"
    path.write_bytes(make_profile.gpu(seed=2, steps=2).encode())
    for term in ("time=3600s:", "device=gpu:7", "step=90:", "name=nothing-like-it", "min=3600s", "class=gc", "track=nothing-like-it"):
        for ending in ENDINGS:
            result = run("convert", path, "-o", out / f"a.{ending}", "--plain", "--filter", term)
            wrong = written_trace.problem_of(out / f"a.{ending}") if result.status == 0 else str(result)
            tap.ok(not wrong and "filtered-out" in result.err, f"--filter {term}: {ending}", wrong, result)
        result = run("split", path, "-o", out / "parts", "--plain", "--filter", term)
        listed = json.loads((out / "parts" / "index.json").read_text(encoding="utf-8")) if result.status == 0 else {}
        tap.ok(listed.get("parts") == [] and "filtered-out" in result.err, f"--filter {term}: split", result)


def input_is_safe(tap, folder):
    """The input is never what is written, whichever way it is named."""
    path = folder / "in.json"
    data = make_pytorch.rank_of(steps=1)
    path.write_bytes(data)
    (folder / "link.json").symlink_to(path)
    (folder / "hard.json").hardlink_to(path)
    for to in ("in.json", "./in.json", "link.json", "hard.json", f"../{folder.name}/in.json"):
        result = run("convert", path, "-o", to, cwd=folder)
        tap.ok(result.status == 2 and "is an input" in result.err and path.read_bytes() == data, f"convert onto its input: {to}", result)
    result = run("split", path, "-o", folder)
    tap.ok(result.status == 5 and "not empty" in result.err and path.read_bytes() == data, "split into the folder of its input", result)
    result = run("split", path, "-o", folder, "--force", "-q")
    again = run("split", path, "-o", folder, "-q")
    tap.ok(result.status == again.status == 0 and path.read_bytes() == data, "with --force, twice: the input stays", result, again)
    other = folder / "other.json"
    other.symlink_to(folder / "target.txt")
    (folder / "target.txt").write_text("mine", encoding="utf-8")
    result = run("convert", path, "-o", other, "-q")
    tap.ok(result.status == 0 and (folder / "target.txt").read_text() == "mine" and not other.is_symlink(),
           "a link at the name of the output is replaced, not followed", result)
    for device in ("/dev/full", "/dev/null"):
        linked = folder / "device.json"
        linked.unlink(missing_ok=True)
        linked.symlink_to(device)
        result = run("convert", path, "-o", linked, "-q")
        tap.ok(result.status == 0 and linked.is_file() and not linked.is_symlink(), f"a link to {device}", result)


def main():
    tap = Tap()
    whole, _ = small(make_profile.chrome_json(make_profile.gpu(steps=2)), 8)
    sources = {"XSpace": (make_profile.gpu(steps=1, devices=1, per_step=4).encode(), "xplane.pb"), "JAX": (whole, "json"),
               "everything": (json.dumps(everything(), ensure_ascii=False).encode(), "json")}
    for name, (data, ending) in sources.items():
        cut(tap, name, data, ending)
        damaged(tap, name, data, ending)
    for check in (odd, nothing_fits, input_is_safe):
        with Scratch() as folder:
            check(tap, folder)
    with Scratch() as folder:
        count = 5000 if SLOW else 50000
        at_one_time(tap, folder, "spans", dict(SPAN, ts=1000, dur=1), count)
        at_one_time(tap, folder, "spans without a length", dict(SPAN, ts=1000, dur=0), count)
        at_one_time(tap, folder, "instants", dict(SPAN, ts=1000, ph="i", s="t"), count)
    tap.done()


if __name__ == "__main__":
    main()
