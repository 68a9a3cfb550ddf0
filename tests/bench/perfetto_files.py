# SPDX-License-Identifier: Apache-2.0
"""What a trace costs Perfetto's own importer, as it was recorded and as it is written anew: size, time and memory of
the import, and what is lost there."""

import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from perfetto import importer  # noqa: E402
from tracemill import BINARY  # noqa: E402

COUNT = "select count(*) from slice"
SECONDS = 600
# (name, ending, options of convert); the trace as it was recorded stands before them.
OUTPUTS = ((".pftrace", ".pftrace", ["--plain"]), (".pftrace.gz", ".pftrace.gz", ["--plain"]),
           (".json.gz", ".json.gz", ["--plain"]), (".pftrace, worked out too", ".own.pftrace", []),
           (".pftrace --args essential", ".essential.pftrace", ["--plain", "--args", "essential"]),
           (".pftrace --args none", ".none.pftrace", ["--plain", "--args", "none"]))
HEAD = f"{'':30}{'MB':>8}{'convert s':>11}{'import s':>10}{'heap MiB':>10}{'slices':>12}  what the importer says"


@dataclass
class File:
    name: str
    path: Path
    convert_s: float = None   # None: it was not converted
    imports: list = None      # one importer.Import for each round

    def figures(self):
        least = min(self.imports, key=lambda i: i.seconds)
        if least.error:
            return {"name": self.name, "bytes": self.path.stat().st_size, "error": least.error}
        return {"name": self.name, "bytes": self.path.stat().st_size, "convert_s": self.convert_s,
                "import_s": round(least.seconds, 3), "heap_mib": round(max(i.heap for i in self.imports) / 2**20, 1),
                "slices": least.rows[0][0][0], "complaints": importer.complaints(least.rows[1])}

    def line(self):
        f = self.figures()
        size = f"{self.name:30}{f['bytes'] / 1e6:8.1f}"
        if "error" in f:
            return f"{size}{'':43}  {f['error']}"
        convert = f"{f['convert_s']:11.2f}" if f["convert_s"] is not None else f"{'-':>11}"
        said = "; ".join(f["complaints"]) or "nothing"
        return f"{size}{convert}{f['import_s']:10.2f}{f['heap_mib']:10.0f}{f['slices']:12,}  {said}"


def convert(trace, folder, name, ending, options, memory):
    out = folder / f"bench{ending}"
    began = time.monotonic()
    subprocess.run([str(BINARY), "convert", str(trace), "-o", str(out), "--memory", memory, "--quiet", *options],
                   check=True, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return File(name, out, round(time.monotonic() - began, 3))


def measure(trace, folder, rounds, memory):
    """trace: traces.Trace.  out: a File for each form of it"""
    folder.mkdir(parents=True, exist_ok=True)
    files = [File("as recorded, .json.gz", trace.gz), File("as recorded, .json", trace.plain)] if trace.gz else []
    files += [convert(trace.gz or trace.plain, folder, *output, memory) for output in OUTPUTS]
    for file in files:
        file.imports = [importer.load(file.path, COUNT, importer.STATS, seconds=SECONDS, is_optimized=True) for _ in range(rounds)]
    return files


def print_files(trace, files):
    print(f"\n{trace.describe()}, in Perfetto's importer\n{HEAD}")
    for file in files:
        print(file.line())
