#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Input that is missing, empty, cut, damaged or something else: the right exit status, a message that helps, and
either a whole report or none."""

import concurrent.futures
import gzip
import io
import json
import random
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import DEMO, ROOT, SANITIZED, SHARED, UNDER, Scratch, run, run_without_rights  # noqa: E402

TINY = next((ROOT / "tests" / "data" / "tiny").rglob("*.xplane.pb"))
FILES = ["report.html", "report.pdf", "report.txt", "summary.json"]
SLOW = SANITIZED or bool(UNDER)


def problem_of(result, out, allowed, all_formats=False):
    """What is wrong with how a run ended, or nothing."""
    if result.crashed or result.status not in allowed:
        return f"not one of {allowed}: {result}"
    left = sorted(p.name for p in out.iterdir()) if out.is_dir() else []
    if result.status in (0, 4):
        if left != (FILES if all_formats else ["summary.json"]):
            return f"exit status {result.status} and the files {left}"
        try:
            summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
            lost = [t for t, row in summary["coverage"]["tallies"].items() if row["level"] == "loss" and row["count"]]
            partial = summary["input"]["partial"]
        except (ValueError, KeyError, TypeError) as error:
            return f"summary.json: {error!r}"
        if (partial or bool(lost)) != (result.status == 4):
            return f"exit status {result.status}, partial = {partial}, losses {lost}"
    elif left:
        return f"exit status {result.status} and yet the files {left}"
    if result.status != 0 and "tracemill: " not in result.err:
        return f"no message: {result}"
    return ""


# --- cut and damaged ------------------------------------------------------------------------------------------

def top_level_ends(data):
    """Where a message of the top level ends: cut there, the rest is a whole, shorter profile."""
    ends, at = {0}, 0
    while at < len(data):
        at += 1  # all tags of the top level are one byte, all values have a length
        length = shift = 0
        while True:
            byte = data[at]
            at += 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        at += length
        ends.add(at)
    return ends


def report_on(data, folder, name, *options):
    path, out = folder / f"{name}.xplane.pb", folder / f"{name}.out"
    path.write_bytes(data)
    return run("report", path, "-o", out, *options), out


def one_of_many(data, allowed, number, folder):
    result, out = report_on(data, folder, f"n{number}", "--format", "json")
    problem = problem_of(result, out, allowed)
    for path in [folder / f"n{number}.xplane.pb"] + (list(out.iterdir()) if out.is_dir() else []):
        path.unlink()
    return problem


def many(tap, name, cases):
    """cases: (label, bytes, allowed statuses).  One test case for all of them, the first failures told."""
    with Scratch() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        running = [(label, pool.submit(one_of_many, data, allowed, i, folder))
                   for i, (label, data, allowed) in enumerate(cases)]
        wrong = [f"{label}: {f.result()}" for label, f in running if f.result()]
    tap.ok(not wrong and running, f"{name}, {len(running)} of them", f"{len(wrong)} are wrong", *wrong[:5])


def cut(tap):
    data = TINY.read_bytes()
    ends = top_level_ends(data)
    step = 7 if SLOW else 1
    many(tap, "a recorded profile cut at every byte",
         ((f"{n} bytes", data[:n], (0, 4) if n in ends and n else (3, 4)) for n in range(0, len(data), step)))
    data = make_profile.gpu(seed=2).encode()
    ends = top_level_ends(data)
    many(tap, "a GPU profile cut at many places",
         ((f"{n} bytes", data[:n], (0, 4) if n in ends and n else (3, 4)) for n in range(1, len(data), 4999 if SLOW else 211)))
    packed = gzip.compress(data, mtime=0)
    many(tap, "a compressed profile cut at many places",
         ((f"{n} bytes", packed[:n], (3, 4)) for n in range(1, len(packed), 997 if SLOW else 101)))


def damaged(tap):
    """Bytes overwritten.  Some damage is not to be seen (a digit in a name), so any ending but a crash is right."""
    for kind in make_profile.MAKERS:
        data = make_profile.MAKERS[kind](seed=6).encode()
        dice = random.Random(f"damage-{kind}")
        cases = []
        for i in range(20 if SLOW else 120):
            broken = bytearray(data)
            for _ in range(dice.choice((1, 1, 4, 64))):
                broken[dice.randrange(len(broken))] = dice.choice((0, 0xFF, 0x7F, dice.randrange(256)))
            cases.append((f"seed {i}", bytes(broken), (0, 3, 4)))
        many(tap, f"a {kind} profile with bytes overwritten", cases)
    dice = random.Random(1)
    many(tap, "random bytes", ((f"seed {i}", dice.randbytes(dice.randrange(1, 4000)), (0, 3, 4)) for i in range(100)))


def partial_everywhere(tap):
    """Each output of a cut profile says that it is partial."""
    data = make_profile.gpu(seed=2).encode()
    with Scratch() as folder:
        result, out = report_on(data[:len(data) * 3 // 5], folder, "cut")
        tap.ok(not problem_of(result, out, (4,), all_formats=True), "a cut profile: four whole files",
               problem_of(result, out, (4,), all_formats=True))
        for name in ("report.txt", "report.html", "summary.json"):
            text = (out / name).read_text(encoding="utf-8").lower() if (out / name).exists() else ""
            tap.ok("partial" in text, f"a cut profile: {name} says that it is partial")
        tap.ok("byte" in result.err or "byte" in (out / "summary.json").read_text(), "a cut profile: the place is named",
               result)
        strict, out = report_on(data[:len(data) * 3 // 5], folder, "strict", "--strict")
        tap.ok(not problem_of(strict, out, (3,)), "a cut profile under --strict: no report",
               problem_of(strict, out, (3,)))


# --- missing, unreadable, something else ----------------------------------------------------------------------

def refused(tap, name, path, words, status=(3,), **options):
    """`path` gives no report; the message has one of the words."""
    with Scratch() as folder:
        result = run("report", path, "-o", folder / "out", **options)
        problem = problem_of(result, folder / "out", status)
        if not problem and not any(w.lower() in result.err.lower() for w in words):
            problem = f"none of {words} in the message: {result}"
        tap.ok(not problem, name, problem)


def archive(kind, data):
    buffer = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(buffer, "w") as z:
            z.writestr("a.xplane.pb", data)
    else:
        with tarfile.open(fileobj=buffer, mode="w:gz" if kind == "tar.gz" else "w") as t:
            info = tarfile.TarInfo("a.xplane.pb")
            info.size = len(data)
            t.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def database(table="kernel"):
    connection = sqlite3.connect(":memory:")
    connection.execute(f"create table {table} (name text)")
    connection.commit()
    return connection.serialize()


def other_kinds():
    """(name, bytes, words of which the message has one)."""
    tiny = TINY.read_bytes()
    yield "JSON that is not a trace", b'{"answer": 42}', ("json",)
    yield "a summary of this program", b'{"schema": "tracemill.summary", "schema_version": 1}', ("summary",)
    yield "a zip archive in a tar archive", archive("tar", archive("zip", tiny)), ("zip",)
    yield "a tar archive in a zip archive", archive("zip", archive("tar", tiny)), ("tar",)
    yield "a compressed tar archive in another", archive("tar.gz", archive("tar.gz", tiny)), ("tar",)
    yield "a text", b"step 1 loss 2.25\n" * 50, ("text", "not a")
    yield "a web page", b"<!doctype html><html><body>hello</body></html>", ("html", "web")
    yield "an SQLite database", database(), ("sqlite",)
    yield "a letter", b"x", ("is plain text",)
    yield "a word that begins as a message does", b"junk", ("is plain text",)
    yield "a script", b"#!/bin/sh\nexec true\n", ("is a script",)
    for code, mark in (("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff"), ("utf-16-le", b""), ("utf-16-be", b"")):
        yield f"{code}, mark {mark.hex()}", mark + '{"traceEvents": []}'.encode(code), ("iconv -f utf-16",)
    yield "an Nsight Systems export", database("CUPTI_ACTIVITY_KIND_KERNEL"), ("is an nsight systems export",)
    yield "a speedscope profile", json.dumps({"$schema": "https://www.speedscope.app/file-format-schema.json",
                                              "profiles": []}).encode(), ("is a speedscope profile",)
    yield "a PyTorch execution trace", json.dumps({"schema": "1.1.0", "pid": 7, "nodes": [{"id": 1}]}).encode(), \
        ("is a pytorch execution trace",)
    yield "an empty gzip", gzip.compress(b"", mtime=0), ("empty", "no content", "nothing")
    yield "zeros", bytes(5000), ("not",)
    yield "a Git LFS pointer", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", ("lfs",)


def other(tap):
    with Scratch() as folder:
        for i, (name, data, words) in enumerate(other_kinds()):
            path = folder / f"{i}.xplane.pb"  # the name says profile, the content does not
            path.write_bytes(data)
            refused(tap, name, path, words)
        empty = folder / "empty.xplane.pb"
        empty.touch()
        refused(tap, "an empty file", empty, ("is empty (0 bytes)",))
        refused(tap, "a missing file", folder / "nowhere.xplane.pb", ("no such file", "not there", "does not exist"))
        bare = folder / "bare" / "plugins" / "profile"
        bare.mkdir(parents=True)
        refused(tap, "a folder without profiles", folder / "bare", ("no profile", "no trace", "no run"))
        refused(tap, "a path through a file", empty / "x.xplane.pb", ("not a directory",))
        refused(tap, "a device", Path("/dev/null"), ("empty", "not a"))
        loop = folder / "loop.xplane.pb"
        loop.symlink_to(loop)
        refused(tap, "a link to itself", loop, ("symbolic links",))
        report = folder / "run1.nsys-rep"
        report.write_bytes(bytes(range(1, 200)))
        refused(tap, "an Nsight Systems report", report, ("is an nsight systems report",))
        unreadable(tap, folder)
        several_runs(tap, folder)
    name = "chrome/tracelens-tests-rocprof-908_results.json.gz"
    path = SHARED / "traces" / name
    if path.exists():
        refused(tap, name, path, ("rocprof",))
    else:
        tap.skip(name, f"no file {path}")
    packed_with_a_dictionary(tap)
    own_traces(tap)
    real_damage(tap)


def own_traces(tap):
    """What `convert` and `split` wrote is recognized by its first bytes, and the message names what to give instead."""
    with Scratch() as folder:
        traces = [folder / "run.pftrace", folder / "run.pftrace.gz", folder / "parts" / "part-0001.pftrace", folder / "two.pftrace"]
        done = [run("convert", TINY, "-o", traces[0], "--quiet"), run("convert", TINY, "-o", traces[1], "--quiet", "--plain"),
                run("split", TINY, "-o", traces[2].parent, "--quiet")]
        tap.ok(all(result.status == 0 for result in done), "traces of this program are written", *done)
        traces[3].write_bytes(traces[2].read_bytes() * 2)
        for trace in traces:
            for verb in ("report", "inspect", "list", "convert"):
                more = ["-o", folder / "out.json"] if verb == "convert" else []
                result = run(verb, trace, *more, cwd=folder)
                tap.ok(result.status == 0 and not result.err, f"{verb} {trace.name}", result)


def unreadable(tap, folder):
    path = folder / "locked.xplane.pb"
    path.write_bytes(TINY.read_bytes())
    path.chmod(0)
    (folder / "open").mkdir()
    (folder / "open").chmod(0o777)
    result = run_without_rights(folder, "report", path, "-o", folder / "open" / "out")
    tap.ok(result.status == 3 and "permission denied" in result.err.lower(), "a file without permission", result)
    path.chmod(0o644)


def several_runs(tap, folder):
    """Two runs and nothing to choose by: usage; chosen by --latest: the newer one."""
    for run_name in ("2026_01_01_00_00_00", "2026_01_02_00_00_00"):
        place = folder / "two" / "plugins" / "profile" / run_name
        place.mkdir(parents=True)
        (place / "demo.xplane.pb").write_bytes(TINY.read_bytes())
    refused(tap, "two runs and no choice", folder / "two", ("--latest",), status=(2,))
    result = run("report", folder / "two", "--latest", "-o", folder / "two.out", "--format", "json")
    summary = json.loads((folder / "two.out" / "summary.json").read_text()) if result.status == 0 else {"input": {}}
    tap.ok(summary["input"].get("run") == "2026_01_02_00_00_00", "two runs, the latest", result)


def packed_with_a_dictionary(tap):
    """A dictionary of any bytes leaves no mark in the header, so what is wrong shows in the data."""
    if not shutil.which("zstd"):
        tap.skip("a zstd with a raw dictionary", "there is no zstd")
        return
    with Scratch() as folder:
        words = random.Random(5).randbytes(4000)
        (folder / "dictionary").write_bytes(words)
        (folder / "a.json").write_bytes(words)
        subprocess.run(["zstd", "-q", "-D", "dictionary", "a.json"], cwd=folder, check=True)
        refused(tap, "a zstd with a raw dictionary", folder / "a.json.zst", ("needs a dictionary",))
        refused(tap, "its hint", folder / "a.json.zst", ("zstd -d -D",))


def real_damage(tap):
    path = SHARED / "traces" / "xspace" / "corrupt-tpu-v6e-inference.xplane.pb"
    name = "a real profile that went through a text filter"
    if not path.exists():
        tap.skip(name, f"no file {path}")
        return
    with Scratch() as folder:
        result = run("report", path, "-o", folder / "out")
        problem = problem_of(result, folder / "out", (3, 4), all_formats=True)
        tap.ok(not problem, name, problem)


def standard_input(tap):
    for name, data, allowed in (("a profile on standard input", TINY.read_bytes(), (0,)),
                                ("nothing on standard input", b"", (3,)),
                                ("half a profile on standard input", TINY.read_bytes()[:1300], (4,))):
        with Scratch() as folder:
            result = run("report", "-", "-o", folder / "out", "--format", "json", stdin=data)
            problem = problem_of(result, folder / "out", allowed)
            tap.ok(not problem, name, problem)
    with Scratch() as folder:
        figures = []
        for name, source, data in (("file", TINY, b""), ("pipe", "-", TINY.read_bytes())):
            run("report", source, "-o", folder / name, "--format", "json", stdin=data)
            path = folder / name / "summary.json"
            summary = json.loads(path.read_text()) if path.exists() else {}
            # The host's name comes from the file's, so that a pipe has another one.
            figures.append([[d["name"], d["busy_ps"], d["gaps"]["longest"], d["steps"]] for d in summary.get("devices", [])])
        tap.ok(figures[0] and figures[0] == figures[1], "a pipe gives the figures of the file", *figures)


def main():
    tap = Tap()
    other(tap)
    standard_input(tap)
    partial_everywhere(tap)
    cut(tap)
    damaged(tap)
    tap.ok(run("report", DEMO, "-o", "/dev/null/x").status == 5, "an output folder that cannot be")
    tap.done()


if __name__ == "__main__":
    main()
