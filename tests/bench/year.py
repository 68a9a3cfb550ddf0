#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A cluster of many hosts over a year: how long a scan with one new night and a merge take, and what they leave.

    year.py [--hosts 11000] [--nights 10] [--rows 4000000] [--folder DIR]     prints a line of JSON for each measurement

It makes real profiles, one for each host and night below ROOT, has one of them processed, and writes the result of each
of the others from that. Rows of older nights are added to the history by SQL, up to --rows. CPU seconds of the program
and its children, from getrusage.
"""

import argparse
import json
import os
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from datetime import date, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("TM", ROOT / os.environ.get("BUILD", "build") / "tracemill"))
FIRST = date(2026, 11, 1)
RUNS_OF_A_JOB = 10  # in a night


def night_of(number):
    return (FIRST + timedelta(days=number)).isoformat()


def make_night(root, number, hosts, profile):
    night = night_of(number)
    when = (make_profile.EPOCH_NS // 10**9) + 86400
    for host in range(hosts):
        folder = root / f"job-{host // RUNS_OF_A_JOB:04}" / night / f"part-{host % RUNS_OF_A_JOB}"
        folder.mkdir(parents=True)
        path = folder / "host.xplane.pb"
        path.write_bytes(profile)
        os.utime(path, (when, when))


def measure(name, *arguments, **more):
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([str(BINARY), *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          env=dict(os.environ, SOURCE_DATE_EPOCH="1800000000"))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({"what": name, "status": done.returncode, "cpu_s": round(cpu, 1), "wall_s": round(time.monotonic() - started, 1),
                      "children_peak_mib": after.ru_maxrss >> 10, **more}), flush=True)
    if done.returncode not in (0, 1, 4):
        sys.exit(done.stderr.decode("utf-8", "replace"))


def times(dice, name):
    return [{"name": name.format(k), "time_ps": dice.randrange(10**6, 10**9)} for k in dice.sample(range(60), 50)]


def write_results(out, known, dice):
    """A result for each run of the manifest that has none, from the one that was made, with 50 operations and 50 scopes."""
    lines = [json.loads(line) for line in (out / "manifest.jsonl").read_text(encoding="utf-8").splitlines()[1:]]
    template = json.loads(next(out.rglob("result.json")).read_text(encoding="utf-8"))
    folder = next(out.rglob("result.json")).parent.parent
    depth = len(folder.relative_to(out / "runs").parts)
    figures = {k: v for k, v in template["figures"].items() if v}
    for line in lines:
        if line["id"] in known:
            continue
        known.add(line["id"])
        result = dict(template, id=line["id"], ops=times(dice, "fusion.{}"), scopes=times(dice, "train_step/layer_{}/attention"), figures=dict(template["figures"], **{k: v * dice.gauss(1, 0.01) for k, v in figures.items()}))
        to = out / "runs" / (Path(line["id"][-16:][:2]) if depth else Path()) / line["id"]
        to.mkdir(parents=True, exist_ok=True)
        (to / "result.json").write_text(json.dumps(result), encoding="utf-8")


def grow(path, rows):
    """More rows of older nights, so that there are as many."""
    connection = sqlite3.connect(path)
    columns = [c[1] for c in connection.execute("PRAGMA table_info(runs)")]
    count, year = connection.execute("SELECT count(*) FROM runs").fetchone()[0], 1
    first = count
    while count < rows:
        changed = {"id": f"'y{year}-' || id", "night": f"date(night, '-{20 * year} days')", "report": "NULL", "summary": "NULL",
                   "page": f"date(night, '-{20 * year} days')", "when_ns": f"when_ns - {20 * year} * 86400000000000"}
        if "report" in columns:
            connection.execute(f"INSERT INTO runs SELECT {', '.join(changed.get(c, c) for c in columns)} FROM runs "
                               f"WHERE id NOT LIKE 'y%' LIMIT {rows - count}")
            connection.execute(f"INSERT INTO op_times SELECT job, 'y{year}-' || run, times FROM op_times WHERE run NOT LIKE 'y%' "
                               f"AND 'y{year}-' || run IN (SELECT id FROM runs)")
        count, year = count + first, year + 1
    connection.commit()
    connection.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hosts", type=int, default=11000)
    parser.add_argument("--nights", type=int, default=10)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    folder = arguments.folder or Path(tempfile.mkdtemp(prefix="tracemill-year."))
    root, out = folder / "root", folder / "out"
    out.mkdir(parents=True)
    profile = make_profile.cpu(seed=1, steps=4).encode()
    dice, known = random.Random(1), set()
    options = ("--format", "html,json", "--memory", "2G")
    for number in range(arguments.nights):
        make_night(root, number, arguments.hosts, profile)
    files = arguments.hosts * arguments.nights
    measure("first scan", "batch", "scan", root, "-o", out, "--memory", "2G", files=files)
    measure("one item", "batch", "item", "--manifest", out / "manifest.jsonl", "--item", "0", "-o", out, *options)
    known.add(json.loads((out / "manifest.jsonl").read_text(encoding="utf-8").splitlines()[1])["id"])
    write_results(out, known, dice)
    measure("first merge", "batch", "merge", out, *options, results=files)
    make_night(root, arguments.nights, arguments.hosts, profile)
    measure("scan of a new night", "batch", "scan", root, "-o", out, "--memory", "2G", files=files + arguments.hosts, new=arguments.hosts)
    measure("scan of nothing new", "batch", "scan", root, "-o", out, "--memory", "2G", files=files + arguments.hosts)
    write_results(out, known, dice)
    shutil.copy(out / "history.db", folder / "kept.db")
    measure("merge of a night", "batch", "merge", out, *options, rows=files)
    print(json.dumps({"what": "history", "rows": files + arguments.hosts, "bytes": (out / "history.db").stat().st_size,
                      "page": (out / "index.html").stat().st_size}), flush=True)
    for rows in (arguments.rows // 4, arguments.rows):
        shutil.copy(folder / "kept.db", out / "history.db")
        grow(out / "history.db", rows)
        measure("merge of a night", "batch", "merge", out, *options, rows=rows)
        print(json.dumps({"what": "history", "rows": rows + arguments.hosts, "bytes": (out / "history.db").stat().st_size,
                          "page": (out / "index.html").stat().st_size}), flush=True)
    if not arguments.folder:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
