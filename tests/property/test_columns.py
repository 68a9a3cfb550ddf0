#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables as Parquet: pyarrow, DuckDB and polars read the same rows and sums as SQLite does, of runs of every kind; the questions of
docs/data.md have one answer in all of them; and nothing of it depends on the memory."""

import math
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from tap import Tap  # noqa: E402
from tracemill import ROOT, SHARED, Scratch, run  # noqa: E402

import duckdb  # noqa: E402
import pandas as pd  # noqa: E402
import polars as pl  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

SUPPORT = ROOT / "tests" / "support"
DEMO = ROOT / "tests" / "data" / "demo"
PAGE = ROOT / "docs" / "data.md"


def make(folder, kind, *options):
    path = folder / f"{kind}.xplane.pb"
    subprocess.run([sys.executable, SUPPORT / "make_profile.py", kind, path, *options], check=True)
    return path


def same(a, b):
    """Values of two readers."""
    if a is None or b is None or a != a or b != b:  # pylint: disable=comparison-with-itself
        return (a is None or a != a) and (b is None or b != b)
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
    return a == b


def values(answer):
    """Rows of an answer, whatever it is: a frame, a series, a number."""
    if isinstance(answer, pl.DataFrame):
        return [tuple(row) for row in answer.rows()]
    if isinstance(answer, pd.Series):
        return list(answer.items())
    if isinstance(answer, pd.DataFrame):
        return [tuple(row) for row in answer.itertuples(index=False)]
    return [(answer,)]


def check_tables(tap, label, source):
    """Each table, in four readers."""
    with Scratch() as folder:
        written = run("convert", source, "-o", f"{folder}/t/", "-q")
        kept = run("convert", source, "-o", folder / "t.sqlite", "-q")
        tap.ok(written.status == kept.status == 0, f"{label}: tables are written", written.err, kept.err)
        wrong = []
        for path in sorted((folder / "t").iterdir()):
            table = pq.read_table(path)
            table.validate(full=True)
            base = duckdb.connect()
            base.sql(f"create view t as select * from '{path}'")
            frame = pl.read_parquet(path)
            rows = run("query", folder / "t.sqlite", f"select * from {path.stem}", "--json").out
            counted = int(re.search(r'"rows_total": (\d+)', rows)[1])
            if not table.num_rows == frame.height == counted == base.sql("select count(*) from t").fetchall()[0][0]:
                wrong.append(f"{path.name}: {table.num_rows}, {frame.height}, {counted} rows")
            for name, kind in zip(table.column_names, table.schema.types):
                by_sql = "sum" if str(kind) in ("int64", "double") else "max"
                sums = [run("query", folder / "t.sqlite", f'select {"total" if by_sql == "sum" else "max"}("{name}") as v, count("{name}") '
                            f'as n from {path.stem}', "--json").out,
                        base.sql(f'select {by_sql}("{name}"), count("{name}") from t').fetchall()[0]]
                expected = re.search(r'"v": (null|".*"|[-0-9.e+]+), "n": (\d+)', sums[0])
                of_frame = frame[name].cast(pl.Float64).sum() if by_sql == "sum" else frame[name].max()
                if int(expected[2]) != sums[1][1] or int(expected[2]) != table.num_rows - table[name].null_count:
                    wrong.append(f"{path.name}: {name}: {expected[2]} values, {sums[1][1]}")
                if by_sql == "sum" and not (same(float(expected[1]), float(sums[1][0] or 0)) and same(float(expected[1]), float(of_frame or 0))):
                    wrong.append(f"{path.name}: {name}: {expected[1]}, {sums[1][0]}, {of_frame}")
                if by_sql == "max" and not same(sums[1][0], of_frame):
                    wrong.append(f"{path.name}: {name}: {sums[1][0]!r}, {of_frame!r}")
        tap.ok(not wrong, f"{label}: pyarrow, DuckDB, polars and SQLite have the same rows and sums", *wrong[:10])


def check_questions(tap, source):
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"\*\*(.+?)\*\*.*?```python\n(.*?)```", text[text.index("```python setup"):], re.DOTALL)
    with Scratch() as folder:
        run("convert", source, "-o", f"{folder}/tables/", "-q")
        known = {"duckdb": duckdb, "pd": pd, "pl": pl, "T": f"{folder}/tables/"}
        for question, block in blocks:
            answers = [values(eval(line, known)) for line in block.strip().splitlines()]  # pylint: disable=eval-used
            first = sorted(answers[0], key=str)
            equal = len(answers) == 3 and all(
                len(first) == len(other) and all(same(x, y) for one, two in zip(first, sorted(other, key=str)) for x, y in zip(one, two))
                for other in answers[1:])
            tap.ok(equal and first, f"docs/data.md: {question}", *(answer[:4] for answer in answers))
        tap.ok(len(blocks) == 10, "docs/data.md has ten questions", len(blocks))


def check_groups(tap):
    """Many row groups: bounds of each hold, any memory gives the same rows, long texts stay whole."""
    with Scratch() as folder:
        source = make(folder, "gpu", "--steps", "60", "--per-step", "150", "--seed", "4")
        for memory in ("32M", "256M"):
            run("convert", source, "-o", folder / f"{memory}.parquet", "--memory", memory, "-q")
        least, most = (pq.read_table(folder / f"{memory}.parquet") for memory in ("32M", "256M"))
        tap.ok(least.equals(most) and least.num_rows > 20000, "32 MiB and 256 MiB give the same rows", least.num_rows, most.num_rows)
        file, wrong = pq.ParquetFile(folder / "32M.parquet"), []
        for number in range(file.num_row_groups):
            group = file.read_row_group(number)
            for index, name in enumerate(group.column_names):
                bounds, column = file.metadata.row_group(number).column(index).statistics, group[name]
                listed = [v for v in column.to_pylist() if v is not None]
                if bounds.null_count != column.null_count or (bounds.has_min_max and (bounds.min, bounds.max) != (min(listed), max(listed))):
                    wrong.append(f"group {number}, {name}: {bounds.min} to {bounds.max}")
                if listed and isinstance(listed[0], (int, float)) and not bounds.has_min_max:
                    wrong.append(f"group {number}, {name}: no bounds")
        tap.ok(not wrong and file.num_row_groups > 1, f"bounds of {file.num_row_groups} row groups", *wrong[:8])
        size = (folder / "256M.parquet").stat().st_size / most.num_rows
        tap.ok(size < 25, "an event takes less than 25 bytes", size)
        units = pq.ParquetFile(folder / "32M.parquet").metadata.metadata
        tap.ok(units.get(b"dur_ps.unit") == b"ps" and units.get(b"shared_bytes.unit") == b"bytes", "units are in the metadata", units)


def check_hostile(tap):
    """Names of any bytes, and texts that are too long for a group."""
    with Scratch() as folder:
        source = make(folder, "hostile")
        result = run("convert", source, "-o", f"{folder}/t/", "-q", "--memory", "32M")
        rows = {path.stem: pq.read_table(path).num_rows for path in (folder / "t").glob("*.parquet")}
        tap.ok(result.status in (0, 4) and rows.get("events", 0) > 0, "hostile names can be read back", result.err, rows)
        result = run("convert", DEMO, "-o", folder / "x.parquet", "--redact")
        tap.ok(result.status == 2 and "--redact" in result.err and not (folder / "x.parquet").exists(), "no tables with --redact", result)


def check_real(tap):
    files = sorted(path for kind in ("xspace/*", "kineto/*") for path in (SHARED / "traces").glob(kind) if path.stat().st_size < 1 << 20
                   and not path.name.startswith("corrupt"))
    if not files:
        tap.skip("real traces", "no TM_SHARED/traces")
        return
    wrong = []
    with Scratch() as folder:
        for path in files:
            result = run("convert", path, "-o", folder / "e.parquet", "-q")
            events = int(re.search(r'"n": (\d+)', run("query", path, "select count(*) as n from events", "--json").out)[1])
            if result.status not in (0, 4) or pq.read_table(folder / "e.parquet").num_rows != events:
                wrong.append(f"{path.name}: {result.status} {result.err[:200]}")
    tap.ok(not wrong, f"{len(files)} real traces become Parquet", *wrong)


def main():
    tap = Tap()
    with Scratch() as folder:
        gpu = make(folder, "gpu", "--seed", "5")
        for label, source in (("gpu", gpu), ("tpu", make(folder, "tpu", "--seed", "6")), ("cpu", DEMO)):
            check_tables(tap, label, source)
        check_questions(tap, gpu)
    check_groups(tap)
    check_hostile(tap)
    check_real(tap)
    tap.done()


if __name__ == "__main__":
    main()
