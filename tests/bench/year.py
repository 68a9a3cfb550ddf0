#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A cluster of many hosts over a year: what a scan with one new night and a merge take, and what they leave.

    year.py [--hosts 11000] [--merged 90] [--kept 7] [--rows 4000000] [--folder DIR] [--memory DIR]
    year.py --only scan [--hosts 11000] [--kept 28] [--folder DIR]

prints a line of JSON for each measurement.  A night has a result for each host, ten of a job.  The history begins with a
merge of real result files of --merged nights, which are removed then, as are the profiles of that time.  Nights that
follow are kept: --kept of them have real profiles, which are scanned; one of these is processed, and the results of the
others are written after it, with 50 operations and 50 scopes.  These are merged, too.  Then the history gets more rows of
older nights by SQL, and the operations that it would have of the last 400 runs of each job.  At last, a new night arrives.
With --only scan, there are profiles of --kept nights and of the new one, and no history, which a scan does not read: 319,000
files of one page in a folder in memory, 2.5 GB with their folders, in three minutes.  CPU seconds of the program and its
children, from getrusage.
"""

import argparse
import hashlib
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
from datetime import date, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("TM", ROOT / os.environ.get("BUILD", "build") / "tracemill"))
END = date(2027, 1, 10)  # the new night
NOW = "1800000000"  # five days later
RUNS_OF_A_JOB = 10  # in a night
VARIANTS = 500  # of figures and operations of a result
OPERATIONS_OF = 400  # runs of a job in the history (docs/history.md)
KEYS = ("--keys", "{job}/{night}/{}")
OPTIONS = ("--format", "html,json", "--memory", "2G", "--raise-limits", "4")


def peak_of(pid):
    """Of a running process and its children, in MiB; 0 = it has ended."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
        return int(text.partition("VmHWM:")[2].split()[0]) >> 10
    except (OSError, IndexError, ValueError):
        return 0


def measure(name, *arguments, **more):
    before, started, peak = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic(), 0
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen([str(BINARY), *map(str, arguments)], stdout=said, stderr=said, env=dict(os.environ, SOURCE_DATE_EPOCH=NOW))
        while process.poll() is None:
            peak = max(peak, peak_of(process.pid))
            time.sleep(0.02)
        said.seek(0)
        text = said.read().decode("utf-8", "replace")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({"what": name, "status": process.returncode, "cpu_s": round(cpu, 1),
                      "system_s": round(after.ru_stime - before.ru_stime, 1), "wall_s": round(time.monotonic() - started, 1),
                      "peak_mib": peak, "load": round(os.getloadavg()[0], 1), **more}), flush=True)
    if process.returncode not in (0, 1, 4):
        sys.exit(text)


class Cluster:
    """Writes profiles, manifests, and results."""

    def __init__(self, folder, hosts, nights, memory=None, steps=4):
        self.root, self.out, self.hosts, self.nights = folder / "root", folder / "out", hosts, nights
        self.out.mkdir(parents=True)
        if memory:
            (memory / "runs").mkdir(parents=True)
            (self.out / "runs").symlink_to(memory / "runs")
            self.root = memory / "root"
        self.dice = random.Random(1)
        self.profile = make_profile.cpu(seed=1, steps=steps).encode()
        self.when = (make_profile.EPOCH_NS // 10**9) + 86400
        self.before = self.line = self.header = ""  # of a real result and its manifest, once there is one
        self.figures, self.operations, self.written = [], [], []

    def night(self, number):
        return (END - timedelta(days=self.nights - number)).isoformat()

    def place(self, night, host):
        return f"job-{host // RUNS_OF_A_JOB:04}/{night}/part-{host % RUNS_OF_A_JOB}"

    def make_profiles(self, night):
        for host in range(self.hosts):
            folder = self.root / self.place(night, host)
            folder.mkdir(parents=True)
            (folder / "host.xplane.pb").write_bytes(self.profile)
            os.utime(folder / "host.xplane.pb", (self.when, self.when))

    def scan(self, name, **more):
        measure(name, "batch", "scan", self.root, "-o", self.out, *KEYS, *OPTIONS[2:], **more)

    def merge(self, name, **more):
        measure(name, "batch", "merge", self.out, *OPTIONS, **more)
        print(json.dumps({"what": "files", "history": self.bytes("history.db"), "page": self.bytes("index.html")}), flush=True)

    def bytes(self, name):
        return (self.out / name).stat().st_size if (self.out / name).exists() else 0

    def manifest(self):
        lines = (self.out / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
        return lines[0], [json.loads(line) for line in lines[1:]]

    def times(self, name):
        return [{"name": name.format(k), "time_ps": self.dice.randrange(10**6, 10**9)} for k in self.dice.sample(range(60), 50)]

    def process_one(self):
        """A real result, of which the others are made, and the line of its run."""
        self.make_profiles(self.night(-1))
        self.scan("scan of a night")
        measure("one item", "batch", "item", "--manifest", self.out / "manifest.jsonl", "--item", "0", "-o", self.out, *OPTIONS)
        header, runs = self.manifest()
        result = json.loads(next(self.out.glob("runs/*/*/result.json")).read_text(encoding="utf-8"))
        for _ in range(VARIANTS):
            noise = self.dice.gauss(1, 0.01)
            figures = {key: value * noise if value else value for key, value in result["figures"].items()}
            self.figures.append(f'", "figures": {json.dumps(figures)}')
            times = {"ops": self.times("fusion.{}"), "scopes": self.times("train_step/layer_{}/attention")}
            self.operations.append(f", {json.dumps(times)[1:]}")
        rest = {key: value for key, value in result.items() if key not in ("id", "figures", "ops", "scopes")}
        self.before = json.dumps(rest)[:-1] + ', "id": "'
        self.header = json.loads(header)
        file = dict(runs[0]["files"][0], path="%(path)s/host.xplane.pb", uri=f"file://{self.root}/%(path)s/host.xplane.pb")
        keys = dict(runs[0]["keys"], job="%(job)s", night="%(night)s", when_ns=1)
        line = dict(runs[0], id="%(id)s", path="%(path)s", run="%(run)s", keys=keys, files=[file])
        self.line = json.dumps(line).replace('"when_ns": 1', '"when_ns": %(when)d000000000') + "\n"
        shutil.rmtree(self.root)
        for folder in (self.out / "runs").iterdir():
            shutil.rmtree(folder)
        (self.out / "manifest.jsonl").unlink()

    def write_result(self, run, has_operations):
        folder = f"{self.out}/runs/{run[-16:][:2]}/{run}"
        text = self.before + run + self.figures[self.dice.randrange(VARIANTS)]
        text += self.operations[self.dice.randrange(VARIANTS)] if has_operations else "}"
        os.mkdir(folder)
        to = os.open(f"{folder}/result.json", os.O_WRONLY | os.O_CREAT)
        os.write(to, text.encode("ascii"))
        os.close(to)

    def write_nights(self, first, nights):
        """A manifest and results of nights without profiles; first: the number of the first one, from 0."""
        names = [self.night(first + k) for k in range(nights)]
        midnights = [int(datetime.fromisoformat(f"{name}T00:00Z").timestamp()) for name in names]
        self.make_folders()
        with open(self.out / "manifest.jsonl", "w", encoding="utf-8") as to:
            to.write(json.dumps(dict(self.header, runs=nights * self.hosts, files=nights * self.hosts, bytes=nights * self.hosts * len(self.profile))) + "\n")
            for job in range(self.hosts // RUNS_OF_A_JOB):
                for k, night in enumerate(names):
                    for part in range(RUNS_OF_A_JOB):
                        path = f"job-{job:04}/{night}/part-{part}"
                        run = f"{path.replace('/', '-')}-{hashlib.blake2b(path.encode(), digest_size=8).hexdigest()}"
                        to.write(self.line % {"id": run, "path": path, "run": f"part-{part}", "job": f"job-{job:04}", "night": night,
                                              "when": midnights[k] + part})
                        self.write_result(run, first + k >= self.nights - OPERATIONS_OF // RUNS_OF_A_JOB)
                        self.written.append(run)

    def make_folders(self):
        for number in range(256):
            (self.out / f"runs/{number:02x}").mkdir(parents=True, exist_ok=True)

    def remove_results(self):
        for run in self.written:
            folder = f"{self.out}/runs/{run[-16:][:2]}/{run}"
            os.unlink(f"{folder}/result.json")
            os.rmdir(folder)
        self.written = []
        (self.out / "manifest.jsonl").unlink()

    def write_missing_results(self, known):
        self.make_folders()
        for run in self.manifest()[1]:
            if run["id"] not in known:
                known.add(run["id"])
                self.write_result(run["id"], True)


def grow(path, nights, hosts, rows):
    """More nights before those that there are, and the operations of the last 400 runs of each job."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -2000000; BEGIN")
    columns = [column[1] for column in connection.execute("PRAGMA table_info(runs)")]
    have = nights
    while have < rows // hosts:
        count = min(nights, rows // hosts - have)
        night = f"date(night, '-{have} days')"
        changed = {"id": f"replace(substr(id, 1, length(id) - 16), night, {night}) || lower(hex(randomblob(8)))", "night": night,
                   "path": f"replace(path, night, {night})", "page": f"date(page, '-{have} days')", "report": "NULL", "summary": "NULL",
                   "when_ns": f"when_ns - {have} * 86400000000000"}
        connection.execute(f"INSERT INTO runs SELECT {', '.join(changed.get(c, c) for c in columns)} FROM runs WHERE night >= ? AND night < ?",
                           ((END - timedelta(days=count)).isoformat(), END.isoformat()))
        have += count
    connection.execute("CREATE TEMP TABLE have AS SELECT job, times, row_number() OVER (PARTITION BY job) - 1 AS number FROM op_times")
    connection.execute("CREATE INDEX temp.of_job ON have (job, number)")
    of_each = connection.execute("SELECT max(number) + 1 FROM have").fetchone()[0]
    connection.execute(f"INSERT OR IGNORE INTO op_times SELECT r.job, r.id, h.times FROM (SELECT job, id, row_number() OVER "
                       f"(PARTITION BY job ORDER BY when_ns DESC, id DESC) - 1 AS number FROM runs) r "
                       f"JOIN have h ON h.job = r.job AND h.number = r.number % {of_each} WHERE r.number < {OPERATIONS_OF}")
    connection.execute("COMMIT")
    print(json.dumps({"what": "grown", "rows": connection.execute("SELECT count(*) FROM runs").fetchone()[0],
                      "with operations": connection.execute("SELECT count(*) FROM op_times").fetchone()[0]}), flush=True)
    connection.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hosts", type=int, default=11000)
    parser.add_argument("--merged", type=int, default=90)
    parser.add_argument("--kept", type=int, help="default: 7; 28 with --only scan")
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--memory", type=Path, help="another folder, in memory: for profiles and results, which are millions of small files")
    parser.add_argument("--only", choices=("scan",))
    arguments = parser.parse_args()
    is_short = arguments.only == "scan"
    folder = arguments.folder or Path(tempfile.mkdtemp(prefix="tracemill-year.", dir="/dev/shm" if is_short else None))
    try:
        scan_only(folder, arguments.hosts, arguments.kept or 28) if is_short else whole_year(folder, arguments, arguments.kept or 7)
    finally:
        if not arguments.folder:
            shutil.rmtree(folder)


def scan_only(folder, hosts, kept):
    """A manifest of the kept nights, then a new night."""
    cluster = Cluster(folder, hosts, kept, steps=1)
    for night in range(kept):
        cluster.make_profiles(cluster.night(night))
    cluster.scan("scan of the kept nights", files=kept * hosts)
    cluster.make_profiles(cluster.night(kept))
    cluster.scan("scan of a new night", files=(kept + 1) * hosts, new=hosts)
    cluster.scan("scan of nothing new", files=(kept + 1) * hosts)


def whole_year(folder, arguments, kept):
    """Results, history, and all of its merges."""
    hosts, first, nights = arguments.hosts, arguments.merged, arguments.merged + kept
    cluster = Cluster(folder, hosts, nights, arguments.memory)
    cluster.process_one()

    cluster.write_nights(0, first)
    cluster.merge("merge of older nights", before=0, new=first * hosts)
    cluster.remove_results()
    known = set()
    for night in range(first, nights):
        cluster.make_profiles(cluster.night(night))
    cluster.scan("scan of the kept nights", files=kept * hosts)
    cluster.write_missing_results(known)
    cluster.merge("merge of the kept nights", before=first * hosts, new=kept * hosts)
    grow(cluster.out / "history.db", nights, hosts, arguments.rows)
    cluster.make_profiles(cluster.night(nights))
    cluster.scan("scan of a new night", files=(kept + 1) * hosts, new=hosts)
    cluster.scan("scan of nothing new", files=(kept + 1) * hosts)
    cluster.write_missing_results(known)
    cluster.merge("merge of the new night", before=arguments.rows // hosts * hosts, known=kept * hosts, new=hosts)


if __name__ == "__main__":
    main()
