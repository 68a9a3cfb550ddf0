# SPDX-License-Identifier: Apache-2.0
"""The same files in other tools: which rows are measured, and on what."""

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from perfetto import importer  # noqa: E402

HERE = Path(__file__).resolve().parent
SCRIPTS = HERE / "peers"
XPROF_TOOLS = ("overview_page", "kernel_stats", "framework_op_stats", "hlo_stats", "op_profile", "roofline_model",
               "memory_profile", "input_pipeline_analyzer", "trace_viewer@")
# The same question, the names that take longest, to xprof and to `query`.
XPROF_SQL = "SELECT kernel_name, COUNT(*) AS n, SUM(end_ns - start_ns) AS ns FROM Events GROUP BY ALL ORDER BY ns DESC"
SQL = "select name, count(*) as n, sum(dur_ps) as ps from events group by name order by ps desc"
RANK_STEPS = 600  # of the PyTorch profile


def python_of(folder):
    """The interpreter that `make bench-peers` made; None where it is not there."""
    python = folder / "peers" / "bin" / "python"
    return python if python.exists() else None


def make_rank(store, folder):
    """A folder with one rank as PyTorch's profiler writes it: what HolisticTraceAnalysis reads.  out: it, its file"""
    place = folder / "rank"
    path = place / "rank0.json.gz"
    if not path.exists():
        place.mkdir(parents=True, exist_ok=True)
        plain = folder / "rank0.json"
        subprocess.run([sys.executable, str(HERE.parent / "support" / "make_pytorch.py"), str(plain), "--ranks", "1",
                        "--steps", str(RANK_STEPS)], check=True)
        with open(plain, "rb") as source, gzip.open(path, "wb", 6) as to:
            shutil.copyfileobj(source, to)
    plain = store.made("rank0", ".json", path.read_bytes(), lambda to: unpack(path, to))
    return place, path, plain


def unpack(path, to):
    with gzip.open(path) as source, open(to, "wb") as file:
        shutil.copyfileobj(source, file)


def importing(path, seconds=600):
    work = json.dumps({"trace": str(path), "seconds": seconds, "wasm32": False, "queries": []})
    script = HERE.parent / "support" / "perfetto" / "importer.js"
    return ["sh", "-c", 'echo "$1" | "$2" --no-warnings "$3" "$4"', "sh", work, importer.NODE or "node", str(script), str(importer.bundle())]


def commands(xspace, trace, rank, folder):
    """(trace, name, command) of each peer.  xspace, trace: traces.Trace of one run in both formats; rank: (Trace, its
    folder)."""
    python = python_of(folder) or "no-python-with-peers"
    rows = [(xspace, f"xprof {tool}", [python, SCRIPTS / "xprof_tool.py", tool, xspace.plain]) for tool in XPROF_TOOLS]
    rows.append((xspace, "xprof query_events_db", [python, SCRIPTS / "xprof_query.py", XPROF_SQL, xspace.plain]))
    rows.append((trace, "python json + pandas", [python, SCRIPTS / "pandas_names.py", trace.gz]))
    if not importer.missing():
        rows.append((trace, "Perfetto trace_processor, WASM", importing(trace.gz)))
        rows.append((rank[0], "Perfetto trace_processor, WASM", importing(rank[0].gz)))
    rows.append((rank[0], "python json + pandas", [python, SCRIPTS / "pandas_names.py", rank[0].gz]))
    rows.append((rank[0], "HolisticTraceAnalysis", [python, SCRIPTS / "hta_breakdown.py", rank[1]]))
    return rows
