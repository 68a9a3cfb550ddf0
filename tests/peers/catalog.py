#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every real file is read, or refused with what it is; however its bytes come.

    catalog.py [--case PATTERN] [--list]

For each file of $TM_SHARED/traces: `inspect` and `report` end as the table says, from the file and from stdin; JSON
also out of zstd and out of a gzip of two members, with the same summary, and with as many events of each phase as
Python's reader finds.  Kernels of which no category is told take under 10 % of the kernel time of each.  Without the
folder: skipped.
"""

import argparse
import gzip
import json
import shutil
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from chrome_json import compare_phases, content_of, document_of, is_json  # noqa: E402
from differences import Differences  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import SHARED, Scratch, run  # noqa: E402

TRACES = SHARED / "traces"

# (path pattern, exit status, what is said on stderr of a refusal, or in the warnings of a partial result).
# The first row that fits counts.
READ, REFUSED, PARTIAL = 0, 3, 4
ENDS = (
    ("memory/*", READ, ""),
    ("xspace/corrupt-*", REFUSED, "the profile is damaged"),
    ("chrome/*rocprof-908*", REFUSED, "rocprofv3 JSON"),
    ("kineto/*mtia*", PARTIAL, ""),          # a device of an unknown kind
    ("chrome/*simple_trace*", PARTIAL, ""),  # ends of spans that never began
    ("*", READ, ""),
)
OTHER_BELOW_PCT = 10
NOT_FILES = ("reference/*", "CATALOG.md")


def files():
    for path in sorted(p for p in TRACES.rglob("*") if p.is_file()):
        name = str(path.relative_to(TRACES))
        if not any(fnmatchcase(name, n) for n in NOT_FILES):
            yield name, path


# --- the same bytes in other ways -----------------------------------------------------------------------------

def two_members(data, path):
    """A gzip of two members, cut in the middle of the JSON."""
    half = len(data) // 2
    path.write_bytes(gzip.compress(data[:half], 1) + gzip.compress(data[half:], 1))


def zstd(data, path):
    subprocess.run(["zstd", "-q", "-1", "-o", str(path)], input=data, check=True)


def plain(data, path):
    path.write_bytes(data)


def without_file(summary):
    """What must not depend on how the bytes come: all but the file, and the host's name where the file gave it."""
    rest = {k: v for k, v in summary.items() if k != "input"}
    if rest["memory"]:
        profiles = [dict(p, file="") for p in rest["memory"]["device_profiles"]]
        rest["memory"] = dict(rest["memory"], device_profiles=profiles)
    text = json.dumps(rest, sort_keys=True)
    for host in summary["input"]["hosts"]:
        text = text.replace(json.dumps(host)[1:-1], "HOST")
    return text


def first_difference(one, other):
    at = next((i for i, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
    return f"...{one[max(0, at - 60):at + 60]}...\n...{other[max(0, at - 60):at + 60]}..."


def linked(path, folder):
    """Under a name so short that no text cuts the host's."""
    short = folder / "h0.trace"  # what it is, its content tells
    short.symlink_to(path)
    return short


# --- running --------------------------------------------------------------------------------------------------

def report(source, folder, data=None):
    """Report in JSON into `folder`.  out: (Result, summary or None)."""
    result = run("report", source, "-o", folder, "--format", "json", stdin=data)
    path = folder / "summary.json"
    return result, json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def problem(result, status, words, summary):
    """What is not as the table says, or None."""
    if result.crashed:
        return "it crashed"
    if result.status != status:
        return f"exit status {status} was expected"
    if status == REFUSED and words not in result.err:
        return f"stderr does not tell '{words}'"
    if summary is not None and status == PARTIAL:
        lost = [t for t in summary["coverage"]["tallies"].values() if t["level"] == "loss"]
        return None if lost or summary["input"]["partial"] else "nothing tells what is missing"
    return None


def other_pct(summary):
    """The share of kernel time that the category "other" takes."""
    rows = (summary["kernels"] or {}).get("by_category", [])
    return next((row["share_pct"] for row in rows if row["category"] == "other"), 0)


def run_file(tap, name, path, with_zstd):
    status, words = next((s, w) for pattern, s, w in ENDS if fnmatchcase(name, pattern))
    data = path.read_bytes()
    bad = []

    def check(how, result, summary=None):
        wrong = problem(result, status, words, summary)
        if wrong:
            bad.append(f"{how}: {wrong}: {result}")

    check("inspect", run("inspect", path))
    check("inspect -", run("inspect", "-", stdin=data))
    with Scratch() as folder:
        path = linked(path, folder)
        result, whole = report(path, folder / "file")
        check("report", result, whole)
        if whole and other_pct(whole) >= OTHER_BELOW_PCT:
            bad.append(f"no category is told of {other_pct(whole):.1f}% of the kernel time")
        ways = {"stdin": report("-", folder / "stdin", data)}
        content = content_of(path)
        if whole and is_json(content):
            ways.update(copies(path, content, folder, with_zstd))
            d = Differences(name)
            compare_phases(d, document_of(content, real=None)[1], whole["coverage"])
            bad += [d.report()] if d.wrong else []
    expected = without_file(whole) if whole else None
    for way, (result, summary) in ways.items():
        check(f"report of {way}", result, summary)
        found = without_file(summary) if whole and summary else expected
        if found != expected:
            bad.append(f"{way}: another summary: {first_difference(expected, found)}")
    tap.ok(not bad, f"{name}: {len(ways) + 1} ways", *bad)


def copies(path, content, folder, with_zstd):
    """Reports on copies of a JSON, each under the same short name."""
    results = {}
    for way, write in (("plain", plain), ("two members", two_members), ("zstd", zstd)):
        if write is not zstd or with_zstd:
            where = folder / f"{way} copy"
            where.mkdir()
            write(content, where / path.name)
            results[way] = report(where / path.name, where / "out")
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", default="*", metavar="PATTERN", help="only these files")
    parser.add_argument("--list", action="store_true", help="name the files")
    options = parser.parse_args()
    tap = Tap()
    chosen = [f for f in files() if fnmatchcase(f[0], options.case)] if TRACES.is_dir() else []
    if options.list:
        print("\n".join(name for name, _ in chosen))
        return
    if not chosen:
        tap.skip("real files", f"no files at {TRACES}")
        tap.done()
    with_zstd = shutil.which("zstd") is not None
    if not with_zstd:
        tap.skip("copies in zstd", "no program zstd")
    for name, path in chosen:
        run_file(tap, name, path, with_zstd)
    tap.done()


if __name__ == "__main__":
    main()
