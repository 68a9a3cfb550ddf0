#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Chrome JSON and CSV that convert writes, read by Python: strict, nothing twice, the same events in both; what stands where one
looks first; and what is said on the terminal."""

import csv
import gzip
import json
import random
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import DEMO, Scratch, run  # noqa: E402

TEXTS = ["plain", "\u00e9\u20ac\U0001f600", "a\"b\\c/d", "line\nfeed\r\t", "\x01\x1f\x7f", "=1+1", "+a", "-b", "@c", "a,b", "",
         "n" * 500, "\ud83d", "x (2)", "x", "true", "NaN", "x;=1", "x;\"-1"]
NUMBERS = ["0", "-1", "1.5", "-0.0", "9223372036854775807", "18446744073709551615", "1e5", "1e999", "12345678901234567890.5",
           "123456789012345678901234567890", "NaN", "-Infinity", "0.1"]


def hostile(seed):
    """A trace as text, keys twice and numbers that are none included.  out: the text, its spans' names by time"""
    pick = random.Random(seed)
    lines, names = [], {}

    def value(depth):
        kind = pick.randrange(6 if depth < 5 else 3)
        if kind < 2:
            return json.dumps(pick.choice(TEXTS))
        if kind == 2:
            return pick.choice(NUMBERS + ["null", "true", "false"])
        inside = [value(depth + 1) for _ in range(pick.randrange(4))]
        if kind == 3:
            return "[" + ",".join(inside) + "]"
        return "{" + ",".join(f"{json.dumps(pick.choice(TEXTS))}:{text}" for text in inside) + "}"

    for i in range(400):
        name = pick.choice(TEXTS)
        names[i * 10] = name
        keys = [pick.choice(TEXTS) for _ in range(pick.randrange(6))]
        args = ",".join(f"{json.dumps(key)}:{value(0)}" for key in keys)
        lines.append(f'{{"ph":"X","pid":1,"tid":{pick.randrange(3)},"ts":{i * 10},"dur":{pick.randrange(1, 9000) / 1000},'
                     f'"name":{json.dumps(name)},"cat":{json.dumps(pick.choice(TEXTS))},"args":{{{args}}}}}')
    return '{"traceEvents":[\n' + ",\n".join(lines) + "\n]}", names


def no_twins(pairs):
    assert len(dict(pairs)) == len(pairs), f"a key twice: {[key for key, _ in pairs]}"
    return dict(pairs)


def no_constant(text):
    raise AssertionError(f"{text} is no JSON")


def strict(text):
    return json.loads(text, object_pairs_hook=no_twins, parse_constant=no_constant)


def as_written(text):
    """What a text of the input is in an output: half a pair of surrogates is three bytes that are no UTF-8."""
    data = text.encode("utf-8", "surrogatepass")
    return data.decode("utf-8", "replace").replace("\0", "\ufffd")


def as_cell(text):
    text = re.sub("([;\t\r\n])(?=[\"']*[=+@-])", r"\1'", text)
    return "'" + text if text[:1] in ("=", "+", "-", "@", "\t", "\r") and text else text


HIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
ESCAPE = re.compile(r"\\(?:u([0-9a-f]{4})|u\{([0-9a-f]+)\}|([nrt]))")


def check_shown(text, table):
    """What is not seen is an escape where nobody asked for it: a line for each row, and the same names."""
    shown = list(csv.reader(text.splitlines(keepends=True), strict=True))
    assert not HIDDEN.search(text), "a character that is not seen"
    assert len(shown) == len(table) == text.count("\n"), "a line for each row"
    assert [row[:6] + row[7:13] for row in shown] == [row[:6] + row[7:13] for row in table], "other cells"
    for cell, raw in zip(shown, table):
        meant = ESCAPE.sub(lambda m: chr(int(m[1] or m[2], 16)) if m[1] or m[2] else {"n": "\n", "r": "\r", "t": "\t"}[m[3]], cell[6])
        assert "\\" in raw[6] or meant.replace("\0", "\ufffd") == raw[6], "an escape"
        assert not cell[14] or cell is shown[0] or strict(cell[14]) == strict(raw[14]), "arguments with escapes"


def convert(source, folder, ending, *options):
    target = folder / f"out{ending}"
    result = run("convert", source, "-o", target, "--plain", "--quiet", *options)
    assert result.status in (0, 4), result
    data = target.read_bytes()
    return (gzip.decompress(data) if ending.endswith(".gz") else data).decode("utf-8")


def check(source, folder, names):
    text = convert(source, folder, ".json")
    assert convert(source, folder, ".json.gz") == text, "gzip is another text"
    document = strict(text)
    events = document["traceEvents"]
    lines = text.split('"traceEvents":[\n')[1].rsplit("\n]}\n", 1)[0].split("\n")
    assert len(lines) == len(events) and all(strict(line.rstrip(",")) == event for line, event in zip(lines, events)), "lines"
    rows = {(event["pid"], event.get("tid")) for event in events if event["ph"] == "M"}
    assert all((event["pid"], event.get("tid")) in rows for event in events if event["ph"] != "M"), "a row without a name"
    table = list(csv.reader(convert(source, folder, ".csv", "--raw").splitlines(keepends=True), strict=True))
    check_shown(convert(source, folder, ".csv"), table)
    assert all(len(row) == 15 for row in table), "cells"
    spans = [event for event in events if event["ph"] == "X"]
    cells = [row for row in table[1:] if row[4] == "span"]
    assert len(spans) == len(cells) and len(spans) > 0, "spans in both"
    assert [as_cell(event["name"]) for event in spans] == [row[6] for row in cells], "names in both"
    assert not any(";" in row[14] for row in cells), "a separator of other countries in the arguments"
    assert [event.get("args", {}) for event in spans] == [strict(row[14]) if row[14] else {} for row in cells], "arguments"
    if names is not None:
        origin = document["otherData"]["origin_us"]
        got = {round(event["ts"] + origin): event["name"] for event in spans}
        assert got == {at: as_written(name) or "(no name)" for at, name in names.items()}, "names of the input"


def case(tap, label, source, folder, names=None):
    try:
        check(source, folder, names)
    except (AssertionError, ValueError, KeyError) as problem:
        tap.ok(False, label, problem)
    else:
        tap.ok(True, label)


def first_rows(tap, folder):
    """The verdict of the report is the first row, and the rows of devices without a process are told apart."""
    run("report", DEMO, "-o", folder / "report", "--format", "json")
    verdict = json.loads((folder / "report" / "summary.json").read_text())["verdict"]["text"]
    run("convert", DEMO, "-o", folder / "demo.json")
    events = json.loads((folder / "demo.json").read_text())["traceEvents"]
    first = [e for e in events if e["ph"] == "M" and e["name"] == "process_sort_index" and e["args"]["sort_index"] == 0]
    named = {e["args"]["name"]: e for e in events if e["ph"] == "M" and e["name"] in ("process_name", "thread_name")}
    rows = sorted((e["args"]["sort_index"], e["tid"]) for e in events if e["ph"] == "M" and e["name"] == "thread_sort_index"
                  and e["pid"] == first[0]["pid"])
    names = [next(n for n, e in named.items() if e.get("tid") == tid and e["pid"] == first[0]["pid"]) for _, tid in rows]
    of = " \u00b7 tracemill"
    tap.ok(named[f"Analysis{of}"]["pid"] == first[0]["pid"], "the analysis stands first", first)
    tap.ok(names == [w + of for w in ("verdict", "critical findings", "warning findings", "host steps", "cpu:0 steps", "cpu:0 idle gaps")], "its rows", names)
    spans = [e for e in events if e["ph"] == "X" and e["tid"] == rows[0][1] and e["pid"] == first[0]["pid"]]
    tap.ok(len(spans) == 1 and spans[0]["name"] == verdict and spans[0]["args"]["verdict"] == verdict, "the verdict", verdict, spans)
    end = max(e["ts"] + e.get("dur", 0) for e in events if e["ph"] in "Xi")
    tap.ok(abs(spans[0]["ts"] + spans[0]["dur"] - end) < 1, "it spans everything", spans, end)


LEFT_OVER = [
    {"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "tts": 5, "tdur": 1.5, "cname": "good", "id": "0x3", "sf": 7,
     "args": [1, {"b": 2}]},
    {"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 3, "dur": 2, "args": {"tts": "own"}, "tts": 6},
    {"ph": "R", "name": "mark", "pid": 1, "tid": 1, "ts": 6, "args": {"k": 1}},
    {"ph": "P", "name": "sample", "pid": 1, "tid": 1, "ts": 7, "sf": 3, "weight": 2},
    {"ph": "X", "name": "nul", "pid": 1, "tid": 1, "ts": 8, "dur": 1, "args": {"t": "x\0y"}},
    {"ph": "X", "name": "no end", "pid": 1, "tid": 1, "ts": 10},
    {"ph": "X", "name": "elsewhere", "cat": "mtia_ccp_events", "pid": 1, "tid": 1, "ts": 11, "dur": 1},
    {"ph": "C", "name": "counter", "pid": 1, "ts": 6, "tts": 4, "args": {"v": 1}},
    {"ph": "N", "name": "object", "pid": 1, "ts": 6, "id": 1}]
WRITTEN = {
    "a": [{"tts": 5, "tdur": 1.5, "cname": "good", "id": "0x3", "sf": 7, "args": [1, {"b": 2}]}, {"tts": "own", "tts (2)": 6}],
    "mark": [{"k": 1}], "sample": [{"sf": 3, "weight": 2}], "nul": [{"t": "x\ufffdy"}], "no end": [{}], "elsewhere": [{}]}
TOLD = {"other-phase", "stack-frames", "unwritten-member", "nul-in-arguments"}


def left_over(tap, folder):
    """What has a place is written, the rest is told; what only figures lack is no loss of a trace."""
    source = folder / "left.json"
    source.write_text(json.dumps({"traceEvents": LEFT_OVER, "stackFrames": {"7": {"name": "f"}}}))
    for ending in (".json", ".csv", ".pftrace"):
        for options in ((), ("--plain",)):
            result = run("convert", source, "-o", folder / f"left-out{ending}", "--strict", *options)
            told = re.findall(r"tracemill: note: [^\n]*: 1 \(([a-z-]+)\)\n", result.err)
            tap.ok(result.status == 0 and set(told) == TOLD and len(told) == 4, f"left over: {ending} {options}", result)
    result = run("convert", folder / "left-out.json", "-o", folder / "again.json", "--plain")
    tap.ok(result.status == 0 and "note" not in result.err, "left over: nothing is once more", result)
    for name in ("left-out.json", "again.json"):
        events = json.loads((folder / name).read_text())["traceEvents"]
        written = {name: [e.get("args", {}) for e in events if e["ph"] in "Xi" and e["name"] == name] for name in WRITTEN}
        tap.ok(written == WRITTEN, f"left over: members are arguments in {name}", written)
    strict_report = run("report", source, "-o", folder / "report-left", "--format", "json", "--strict")
    tap.ok(strict_report.status == 3 and "2 losses" in strict_report.err, "left over: a report lacks them", strict_report)
    lossy = LEFT_OVER + [{"ph": "X", "name": "when", "pid": 1, "tid": 1, "dur": 1}]
    source.write_text(json.dumps(lossy))
    tap.ok(run("convert", source, "-o", folder / "lossy.json").status == 4, "left over: an event without a time is a loss")


def told(tap, folder):
    """What was written, in lines for people; what was not, by name and number."""
    result = run("convert", DEMO, "-o", folder / "a.pftrace", "--filter", "name=train")
    tap.ok(re.fullmatch(rf"{folder}/a.pftrace  [0-9,]+ slices, [0-9,]+ counter values, [0-9.]+ KiB\n", result.out), "a file", result)
    tap.ok(re.fullmatch(r"tracemill: note: not written: events excluded by --filter: [0-9,]+ \(filtered-out\)\n", result.err),
           "what the filter left out", result)
    result = run("split", DEMO, "-o", folder / "parts", "--max-events", "8000", "--plain")
    lines = result.out.splitlines()
    tap.ok(len(lines) == 4 and lines[0].startswith(f"{folder}/parts/overview.pftrace  ") and
           lines[2].startswith(f"{folder}/parts/part-0002.pftrace  ") and lines[3] ==
           f"{folder}/parts/index.html  lists 2 parts", "parts and their page", result)


def main():
    tap = Tap()
    with Scratch() as folder:
        for seed in range(4):
            text, names = hostile(seed)
            source = folder / f"hostile{seed}.trace.json"
            source.write_text(text)
            case(tap, f"hostile texts and numbers, seed {seed}", source, folder, names)
        for kind, make in make_profile.MAKERS.items():
            source = folder / f"{kind}.xplane.pb"
            source.write_bytes(make(seed=5).encode())
            case(tap, f"a profile of a {kind}", source, folder)
        first_rows(tap, folder)
        left_over(tap, folder)
        told(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
