#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Device memory profiles, once more by a slow walk: sums by kind, device, place and function are those of `report`.

    pprof.py [--case PATTERN]

On made profiles, in all orders of their parts, and on the real ones of $TM_SHARED/traces/memory (skipped without).
"""

import argparse
import gzip
import json
import sys
from collections import defaultdict
from fnmatch import fnmatchcase
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_pprof  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import SHARED, Scratch, run, summary_of  # noqa: E402


# --- the slow walk --------------------------------------------------------------------------------------------

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """(number, value) of every field: an int, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        else:
            raise ValueError(f"wire type {key & 7}")
        yield key >> 3, value


def numbers(data, tag):
    """The values of a repeated number, packed or not."""
    out = []
    for number, value in fields(data):
        if number == tag and isinstance(value, bytes):
            at = 0
            while at < len(value):
                one, at = varint(value, at)
                out.append(one)
        elif number == tag:
            out.append(value)
    return out


def owner(file):
    """Whose code: 0 the user's, 1 a library's, 2 that of JAX; None: a wrapper that stands around every call."""
    if "/jax/_src/traceback_util.py" in file:
        return None
    if not file or "/jax/_src/" in file or "-packages/jax/" in file or "/jaxlib/" in file:
        return 2
    return 1 if "/site-packages/" in file or "/lib/python3" in file or file.startswith("<frozen ") else 0


class Profile:
    def __init__(self, data):
        self.parts = defaultdict(list)
        for number, value in fields(data):
            self.parts[number].append(value)
        self.strings = [s.decode() for s in self.parts[6]]
        self.functions = {f[1]: (self.strings[f.get(2, 0)], self.strings[f.get(4, 0)])
                          for f in (dict(fields(v)) for v in self.parts[5])}
        self.lines = {}
        for value in self.parts[4]:
            where = dict(fields(value))
            self.lines[where[1]] = [dict(fields(v)) for n, v in fields(value) if n == 4]
        units = [self.strings[dict(fields(v)).get(2, 0)] for v in self.parts[1]]
        self.count_at, self.bytes_at = units.index("count"), units.index("bytes")

    def frames(self, sample):
        for number in numbers(sample, 1):
            for line in self.lines[number]:
                yield (*self.functions[line[1]], line.get(2, 0))

    def site(self, sample):
        frames = [f for f in self.frames(sample) if owner(f[1]) is not None]
        return min(enumerate(frames), key=lambda f: (owner(f[1][1]), f[0]))[1] if frames else ("", "", 0)

    def sums(self):
        """{table: {key: [count, bytes]}}"""
        out = defaultdict(lambda: defaultdict(lambda: [0, None]))
        for sample in self.parts[2]:
            values = numbers(sample, 2)
            labels = {}
            for number, value in fields(sample):
                if number == 3:
                    label = dict(fields(value))
                    labels[self.strings[label[1]]] = self.strings[label.get(2, 0)]
            function, file, line = self.site(sample)
            kind = labels.get("kind")
            source = (f"{file}:{line}" if line else file) or None
            keys = {"all": "", "kinds": kind, "devices": labels.get("device"), "sites": (kind, function or None, source),
                    "functions": (function or None, file or None)}
            for table, key in keys.items():
                row, size = out[table][key], values[self.bytes_at]
                row[0] += values[self.count_at]
                if size < 1 << 63:  # below 0 it is not known
                    row[1] = (row[1] or 0) + size
        return out


# --- against the program --------------------------------------------------------------------------------------

def key_of(table, row):
    return {"kinds": lambda: row["kind"], "devices": lambda: row["device"],
            "sites": lambda: (row["kind"], row["function"], row["source"]),
            "functions": lambda: (row["function"], row["source"])}[table]()


def compare(profile, wanted):
    """What differs, in words."""
    wrong = []
    if [profile["total_count"], profile["total_bytes"]] != wanted["all"][""]:
        wrong.append(f"in all: {profile['total_count']}, {profile['total_bytes']} and not {wanted['all']['']}")
    for table in ("kinds", "devices", "sites", "functions"):
        rows, rest = profile[table], profile["rest"][table]
        if len(rows) + rest["rows"] != len(wanted[table]):
            wrong.append(f"{table}: {len(rows)} + {rest['rows']} rows and not {len(wanted[table])}")
        for row in rows:
            if wanted[table].get(key_of(table, row)) != [row["count"], row["bytes"]]:
                wrong.append(f"{table}: {key_of(table, row)}: {row['count']}, {row['bytes']} and not "
                             f"{wanted[table].get(key_of(table, row))}")
        for place, name in ((0, "count"), (1, "bytes")):
            if sum(r[name] or 0 for r in rows) + rest[name] != wanted["all"][""][place]:
                wrong.append(f"{table}: the {name} do not add up")
        if [r["bytes"] or 0 for r in rows] != sorted((r["bytes"] or 0 for r in rows), reverse=True):
            wrong.append(f"{table}: not by bytes")
    return wrong


def check(tap, name, path, folder, data):
    result, summary = summary_of(path, folder / "out")
    if summary is None or result.status != 0:
        tap.ok(False, name, result)
        return
    wrong = compare(summary["memory"]["device_profiles"][0], Profile(data).sums())
    tap.ok(not wrong, name, *wrong[:10])


def made(tap, folder):
    for order in ("jax", "strings first", "tables first"):
        for packed in (True, False):
            samples = make_pprof.some(seed=3, samples=300)
            path = folder / "made.prof"
            make_pprof.write(path, samples, order=order, packed=packed)
            check(tap, f"made, {order}, {'packed' if packed else 'one by one'}", path, folder, gzip.decompress(path.read_bytes()))
    samples = make_pprof.some(seed=7, samples=100)
    for sample in samples:  # as XLA does on a CPU
        sample.bytes = -sample.count if sample.kind == "executable" else sample.bytes
    path = make_pprof.write(folder / "cpu.prof", samples)
    check(tap, "made, programs of unknown size", path, folder, gzip.decompress(path.read_bytes()))
    many = [make_pprof.Sample(1, 1000 + i, [(f"f{i}", "/home/a/b.py", i + 1)], device=f"tpu:{i}") for i in range(250)]
    path = make_pprof.write(folder / "many.prof", many)
    check(tap, "made, more places than are listed", path, folder, gzip.decompress(path.read_bytes()))


def same_bytes(tap, folder):
    """The memory that there is changes nothing, nor does the way over a partial."""
    path = make_pprof.write(folder / "big.prof", make_pprof.some(seed=5, samples=20000, devices=8))
    outs = []
    for name, options in (("default", []), ("32M", ["--memory", "32M"])):
        result = run("report", path, "-o", folder / name, "--format", "json,partial", *options)
        tap.ok(result.status == 0, f"a profile of 20,000 samples, {name}", result)
        outs.append((folder / name / "summary.json").read_bytes())
    run("report", folder / "default" / "run.partial", "-o", folder / "again", "--format", "json")
    outs.append((folder / "again" / "summary.json").read_bytes())
    tap.ok(outs[0] == outs[1], "32M gives the same bytes")
    tap.ok(outs[0] == outs[2], "so does the partial")


def damaged(tap, folder):
    data = make_pprof.encode(make_pprof.some(samples=12))
    path = folder / "cut.prof"
    path.write_bytes(data[:-20])
    result, summary = summary_of(path, folder / "cut")
    tap.ok(result.status == 4 and summary and summary["input"]["files"][0]["partial"] and
           "damaged" in summary["input"]["files"][0]["problems"][0], "one that is cut short is partial", result)
    whole = Profile(data).sums()["all"][""]
    tap.ok(summary and summary["memory"]["device_profiles"][0]["total_bytes"] == whole[1], "its samples are all there")
    path.write_bytes(gzip.compress(data, 6, mtime=0)[:-30])
    result = run("report", path, "-o", folder / "gz")
    tap.ok(result.status in (3, 4) and not result.crashed, "one whose gzip is cut short", result)
    path.write_bytes(make_pprof.encode(make_pprof.some(), types=(("cpu", "nanoseconds"), ("samples", "count"))))
    result = run("report", path, "-o", folder / "cpu")
    tap.ok(result.status == 3 and "without memory sizes" in result.err, "a profile of time is refused", result)
    result = run("report", path, "-o", folder / "no", "--strict")
    tap.ok(result.status == 3, "and under --strict", result)


def beside(tap, folder):
    """A profile beside a trace, and one from a pipe."""
    import make_profile
    trace = folder / "host.xplane.pb"
    trace.write_bytes(make_profile.gpu(seed=1, steps=6).encode())
    path = make_pprof.write(folder / "memory.prof", make_pprof.some())
    result, summary = summary_of([trace, path], folder / "both")
    result2, alone = summary_of(trace, folder / "alone")
    tap.ok(result.status == 0 and summary["input"]["hosts"] == ["host"] and len(summary["input"]["files"]) == 2,
           "a trace and a profile are one run of one host", result)
    same = all(summary[k] == alone[k] for k in ("steps", "devices", "gaps", "kernels", "kpis", "window", "coverage"))
    tap.ok(result2.status == 0 and same, "the figures of the trace are the same")
    run("report", trace, path, "-o", folder / "p", "--format", "partial")
    result, merged = summary_of(folder / "p" / "run.partial", folder / "merged")
    tap.ok(merged == summary, "and from the partial of both", result)
    result = run("report", "-", "-o", folder / "pipe", "--format", "json", stdin=path.read_bytes())
    piped = json.loads((folder / "pipe" / "summary.json").read_text(encoding="utf-8"))
    tap.ok(piped["memory"]["device_profiles"][0]["total_bytes"] ==
           summary["memory"]["device_profiles"][0]["total_bytes"], "one from a pipe", result)
    tap.ok(piped["why"]["steps"] == "no trace was given" and piped["steps"] is None, "alone it has no steps", result)
    result = run("inspect", path)
    tap.ok(result.status == 0 and "device memory profile: " in result.out, "inspect names it", result)
    wrong = folder / "logs" / "host.xplane.pb"
    wrong.parent.mkdir()
    wrong.write_bytes(path.read_bytes())
    result = run("report", folder / "logs", "-o", folder / "no")
    tap.ok(result.status == 3 and "is named like a trace" in result.err, "one under the name of a trace", result)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", default="*", metavar="PATTERN", help="only these real files")
    options = parser.parse_args()
    tap = Tap()
    for part in (made, same_bytes, damaged, beside):
        with Scratch() as folder:
            part(tap, folder)
    paths = sorted((SHARED / "traces" / "memory").glob("*"))
    if not paths:
        tap.skip("real profiles", f"none at {SHARED}")
    for path in paths:
        with Scratch() as folder:
            if fnmatchcase(path.name, options.case):
                check(tap, path.name, path, folder, gzip.decompress(path.read_bytes()))
    tap.done()


if __name__ == "__main__":
    main()
