#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time and memory of the program beside programs that everybody has, on the same files in the same minutes.

    run.py [--events N] [--quick] [--rounds N] [--memory SIZE] [--generator auto|own|shared]
           [--only chrome|xspace|real|goals|perfetto|page|growth|peers|batch|merge] [--json FILE]

Every row runs once unmeasured, then once per round, one row after the other, so that what else the machine does
meets all rows alike.  CPU is user and system time of the whole process; peak is the largest resident memory of all
rounds; rates, ns and ratios come from the least CPU time.  A ratio compares CPU time per byte of the same content: with
unpacking it, and with reading it, which is what writing it anew is measured by.  Nothing is asserted: ratios hold for
a machine, and its load stands in the head.  --only real: PyTorch's largest files and that of a compilation among the
traces of $TM_SHARED, which are also measured with all others where they are there.  --only goals: reports, inspections and
a conversion with one process beside `igzip -dc` and beside the program that $TM_BASE names, and with two.  --only perfetto: what the trace costs Perfetto's importer, as recorded
and converted.  --only page: how long a browser takes to open the report of a GPU profile.  --only growth: time and
memory of reports from 10,000 to --events (20 M) events, at 32M and 256M.  --only peers: the same files in other tools,
which `make bench-peers` installs.  --only batch: 1,000 small profiles with one worker and with several.  --only merge:
what it costs to put the results of a batch together, 10,000 made ones, also into a history of 100,000 (not with
--quick).
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import batch_merge  # noqa: E402
import batch_times  # noqa: E402
import goals  # noqa: E402
import growth_times  # noqa: E402
import page_times  # noqa: E402
import peers_rows  # noqa: E402
import perfetto_files  # noqa: E402
from tracemill import BINARY, BUILD, SHARED  # noqa: E402
from traces import HERE, Store, Trace  # noqa: E402

FOLDER = BUILD / "bench"
MEASURE, DECODE = FOLDER / "measure", FOLDER / "decode"
ZLIB_BINARY = BUILD / "zlib" / "tracemill"  # built without ISA-L, as where that is not packaged
SHARED_GENERATOR = SHARED / "tools" / "make_trace.py"
QUICK_EVENTS = 250_000
EVENTS, PAGE_EVENTS, GROWTH_EVENTS = 2_000_000, 5_000_000, 20_000_000  # where nothing is told
LEAST_MEMORY = "32M"  # what --memory takes at least
REAL_TRACES = SHARED / "traces"
SMALLEST_RUN = Trace("the smallest run", HERE.parent / "data" / "tiny", 0, 0)
MEMORY_FOLDER = Path("/dev/shm")  # for outputs whose CPU time is to have nothing of a disk's
PYTORCH_FILES = 3  # the largest ones
PYTHON_EVENTS = 250_000  # a loader that holds everything: 1.7 KB of memory per event
BASELINES = ("igzip -dc", "gzip -dc", "inspect")
VERSIONS = {"igzip": "--version", "gzip": "--version", "zstd": "--version"}
HEAD = f"{'':34}{'CPU s':>8}{'median':>8}{'clock s':>9}{'peak MiB':>10}{'ns/event':>10}{'MB/s':>8}" + \
    "".join(f"{'x ' + name.split()[0]:>10}" for name in BASELINES)


@dataclass
class Row:
    name: str
    trace: Trace
    command: list
    out: Path = None     # of a report: where it goes
    rounds: list = field(default_factory=list)
    problem: str = ""    # why there are no figures

    def __post_init__(self):
        self.command = [str(word) for word in self.command]
        if not shutil.which(self.command[0]):
            self.problem = "missing"

    def cpu_s(self):
        return [(r["user_us"] + r["system_us"]) / 1e6 for r in self.rounds]

    def cost(self):
        """Seconds of CPU per byte of content."""
        return min(self.cpu_s()) / self.trace.bytes

    def figures(self, baselines):
        """baselines: rows by their name."""
        if self.problem:
            return {"problem": self.problem}
        cpu = self.cpu_s()
        ratios = {name: round(self.cost() / row.cost(), 4) for name, row in baselines.items()
                  if row.trace.title == self.trace.title and not row.problem}
        return {"cpu_s": round(min(cpu), 6), "cpu_median_s": round(statistics.median(cpu), 6),
                "clock_s": min(r["clock_us"] for r in self.rounds) / 1e6,
                "peak_mib": round(max(r["peak_kib"] for r in self.rounds) / 1024, 2),
                "ns_per_event": round(min(cpu) / self.trace.events * 1e9, 2) if self.trace.events else None,
                "mb_per_s": round(1e-6 / self.cost(), 2) if min(cpu) > 0 else None, "ratios": ratios}

    def line(self, baselines):
        f = self.figures(baselines)
        if self.problem:
            return f"{self.name:34}  {self.problem}"
        ns = f"{f['ns_per_event']:10.1f}" if f["ns_per_event"] is not None else f"{'-':>10}"
        rate = f"{f['mb_per_s']:8.0f}" if f["mb_per_s"] is not None else f"{'-':>8}"
        return f"{self.name:34}{f['cpu_s']:8.3f}{f['cpu_median_s']:8.3f}{f['clock_s']:9.3f}{f['peak_mib']:10.1f}" + \
            ns + rate + "".join(f"{f['ratios'][b]:10.2f}" if b in f["ratios"] else f"{'-':>10}" for b in BASELINES)


def run(row):
    """Run a row once.  out: what it cost; None where it failed, and why in row.problem."""
    result = FOLDER / "result.json"
    done = subprocess.run([str(MEASURE), str(result), *row.command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        message = said[0].replace(f"{FOLDER}/", "") if said else "no message"
        row.problem = f"failed with {done.returncode}: {message}"
        return None
    return json.loads(result.read_text(encoding="utf-8"))


def run_all(rows, rounds):
    """One unmeasured round, which also tells the events of what only a report can count; then the others."""
    for number in range(rounds + 1):
        for index, row in enumerate(rows):
            if sys.stderr.isatty():
                print(f"\r\033[Kbench: round {number} of {rounds}, row {index + 1} of {len(rows)}", end="",
                      file=sys.stderr, flush=True)
            cost = None if row.problem else run(row)
            if cost and number > 0:
                row.rounds.append(cost)
            elif cost and row.out and not row.trace.events:
                summary = json.loads((row.out / "summary.json").read_text(encoding="utf-8"))
                row.trace.events = summary["coverage"]["events_read"]
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)


def out_of(trace, name):
    return FOLDER / "out" / "".join(c if c.isalnum() else "-" for c in f"{trace.title} {name}")


def report_row(name, trace, path, memory, formats, binary=BINARY):
    out = out_of(trace, name)
    return Row(name, trace, [binary, "report", path, "-o", out, "--format", formats, "--memory", memory, "--quiet"],
               out)


def inspect_row(trace, path, memory, name="inspect", binary=BINARY):
    return Row(name, trace, [binary, "inspect", path, "--memory", memory])


def convert_row(trace, path, memory, ending, *more):
    name = " ".join(("convert", ending, *more)).replace("--", "")
    return Row(name, trace, [BINARY, "convert", path, "-o", f"{out_of(trace, name)}{ending}", "--memory", memory,
                             "--quiet", *more])


def split_row(trace, path, memory, *more):
    name = " ".join(("split", *more)).replace("--", "")
    return Row(name, trace, [BINARY, "split", path, "-o", out_of(trace, name), "--memory", memory, "--quiet", *more])


def chrome_rows(store, options):
    trace = store.chrome(options.events)
    small = trace if options.events <= PYTHON_EVENTS else store.chrome(PYTHON_EVENTS)
    rows = [Row("igzip -dc", trace, ["igzip", "-dc", trace.gz]), Row("gzip -dc", trace, ["gzip", "-dc", trace.gz]),
            Row("zstd -dc", trace, ["zstd", "-q", "-dc", trace.zst]),
            Row(f"python json, {small.events:,}", small, [sys.executable, HERE / "count_names.py", small.gz])]
    rows += [Row(f"decode bytes{path.suffix}", trace, [DECODE, "bytes", path]) for path in (trace.gz, trace.plain)]
    rows += [Row(f"decode events{path.suffix}", trace, [DECODE, "events", path]) for path in (trace.gz, trace.plain)]
    rows += [inspect_row(trace, trace.gz, options.memory),
             inspect_row(trace, trace.gz, options.memory, "inspect, zlib only", ZLIB_BINARY),
             report_row("report json .gz, zlib only", trace, trace.gz, options.memory, "json", ZLIB_BINARY),
             report_row("report json .gz", trace, trace.gz, options.memory, "json"),
             report_row(f"report json .gz {LEAST_MEMORY}", trace, trace.gz, LEAST_MEMORY, "json"),
             report_row("report json .json", trace, trace.plain, options.memory, "json"),
             report_row("report all formats .gz", trace, trace.gz, options.memory, "html,pdf,json,text")]
    rows += [convert_row(trace, trace.gz, options.memory, ending, "--plain")
             for ending in (".pftrace", ".json.gz", ".json", ".csv")]
    rows += [convert_row(trace, trace.gz, options.memory, ".pftrace", "--plain", "--args", "none"),
             convert_row(trace, trace.gz, options.memory, ".pftrace"),
             split_row(trace, trace.gz, options.memory, "--plain"), split_row(trace, trace.gz, options.memory)]
    return rows


def xspace_rows(store, options):
    rows = []
    for trace in store.profiles(options.events // 2):
        rows += [inspect_row(trace, trace.plain, options.memory),
                 report_row("report json", trace, trace.plain, options.memory, "json"),
                 report_row(f"report json {LEAST_MEMORY}", trace, trace.plain, LEAST_MEMORY, "json"),
                 report_row("report all formats", trace, trace.plain, options.memory, "html,pdf,json,text"),
                 convert_row(trace, trace.plain, options.memory, ".pftrace", "--plain"),
                 split_row(trace, trace.plain, options.memory, "--plain")]
    return rows


def content_bytes(gz):
    """As the end of the file says, for less than 4 GiB."""
    with open(gz, "rb") as file:
        file.seek(-4, os.SEEK_END)
        return int.from_bytes(file.read(4), "little")


def pytorch_files():
    return sorted((REAL_TRACES / "kineto").glob("*.json.gz"), key=content_bytes)[-PYTORCH_FILES:]


def compilation_files():
    return sorted((REAL_TRACES / "logdir" / "compile").rglob("*.trace.json.gz"))[:1]


def real_files():
    """Recorded profiles whose events share less than made ones do."""
    return pytorch_files() + compilation_files()


def real_rows(store, options):
    rows = []
    for trace in map(store.recorded, real_files()):
        rows += [Row("igzip -dc", trace, ["igzip", "-dc", trace.gz]), Row("gzip -dc", trace, ["gzip", "-dc", trace.gz]),
                 inspect_row(trace, trace.gz, options.memory),
                 report_row("report json", trace, trace.gz, options.memory, "json"),
                 report_row("report all formats", trace, trace.gz, options.memory, "html,pdf,json,text")]
    return rows


def machine():
    """What the figures hold for."""
    cpu = "unknown"
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            cpu = next((line.partition(":")[2].strip() for line in file if line.startswith("model name")), cpu)
    except OSError:
        pass
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    programs = {"tracemill": first_line([str(BINARY), "--version"])}
    programs.update({name: first_line([name, option]) for name, option in VERSIONS.items()})
    return {"cpu": cpu, "cores": os.cpu_count(), "memory_gib": round(memory / (1 << 30), 1), "programs": programs}


def first_line(command):
    if not shutil.which(command[0]):
        return "not installed"
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    return done.stdout.decode("utf-8", "replace").partition("\n")[0].strip("* ")


def print_scaled(small, trace):
    """What a row on a part of the events would cost on all of them."""
    times = trace.bytes / small.trace.bytes
    peak = max(r["peak_kib"] for r in small.rounds) / 1024
    print(f"{small.name}: scaled by bytes to {trace.events:,}: {min(small.cpu_s()) * times:.1f} s, "
          f"{peak * times:.0f} MiB")


def baselines_of(rows, trace):
    return {row.name: row for row in rows if row.name in BASELINES and row.trace.title == trace.title}


def print_rows(rows):
    """A table for each trace; rows on a part of it (a trace of the same title) stand in its table."""
    tables = {}
    for row in rows:
        tables.setdefault(row.trace.title, []).append(row)
    for table in tables.values():
        trace = max((row.trace for row in table), key=lambda trace: trace.bytes)
        print(f"\n{trace.describe()}\n{HEAD}")
        for row in table:
            print(row.line(baselines_of(table, trace)))
        for row in table:
            if row.rounds and row.trace.bytes < trace.bytes:
                print_scaled(row, trace)


def print_head(head):
    place, begin, end = head["machine"], head["load_begin"][0], head["load_end"][0]
    print(f"{place['cpu']}, {place['cores']} cores, {place['memory_gib']} GiB; load {begin:.2f} before, {end:.2f} "
          f"after; {head['rounds']} rounds")
    print("; ".join(f"{name}: {said}" for name, said in place["programs"].items()))


def write_json(path, head, rows):
    listed = [{"name": row.name, "trace": row.trace.title, "events": row.trace.events, "bytes": row.trace.bytes,
               **row.figures(baselines_of(rows, row.trace)), "rounds": row.rounds} for row in rows]
    Path(path).write_text(json.dumps({**head, "rows": listed}, indent=1) + "\n", encoding="utf-8")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int,
                        help=f"of the JSON ({EVENTS:,}), the XSpace profiles have half; of the page ({PAGE_EVENTS:,})")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_EVENTS:,} events")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--memory", default="256M", help="--memory of the reports")
    parser.add_argument("--generator", choices=("auto", "own", "shared"), default="auto",
                        help="auto: that of $TM_SHARED where it is there")
    parser.add_argument("--only", choices=("chrome", "xspace", "real", "goals", "perfetto", "page", "growth", "peers",
                                           "batch", "merge"))
    parser.add_argument("--keep", action="store_true", help="--only growth: keep the profiles, some GB")
    parser.add_argument("--json", metavar="FILE", help="everything, each round too")
    options = parser.parse_args()
    if options.quick:
        options.events = QUICK_EVENTS
    options.events = options.events or {"page": PAGE_EVENTS, "growth": GROWTH_EVENTS}.get(options.only, EVENTS)
    if options.rounds < 1 or options.events < 1000:
        parser.error("at least one round and 1000 events")
    return options


def peer_rows(store, options):
    """Each file in the peers, and in report, inspect and query: ratios are to inspect and to igzip."""
    xspace, trace = store.both(options.events)
    place, gz, plain = peers_rows.make_rank(store, FOLDER)
    rank = Trace("PyTorch's JSON, one rank (make_pytorch.py)", plain, plain.stat().st_size, 0, gz)
    rows = []
    for one in (xspace, trace, rank):
        path = one.gz or one.plain
        if one.gz:
            rows.append(Row("igzip -dc", one, ["igzip", "-dc", one.gz]))
        rows += [inspect_row(one, path, options.memory),
                 report_row("report all formats", one, path, options.memory, "html,pdf,json,text"),
                 Row("query", one, [BINARY, "query", path, peers_rows.SQL, "--memory", options.memory])]
        rows += [Row(name, of, command) for of, name, command
                 in peers_rows.commands(xspace, trace, (rank, place), FOLDER) if of is one]
    return rows


def head_of(options):
    return {"machine": machine(), "rounds": options.rounds, "memory": options.memory, "load_begin": os.getloadavg()}


def bench_page(store, options):
    if page_times.BROWSER is None:
        print("bench: no chromium", file=sys.stderr)
        return True
    trace = store.page(options.events)
    path = page_times.report(trace, FOLDER / "page", options.memory)
    head = head_of(options)
    opened = page_times.measure(path, FOLDER / "page", options.rounds)
    head["load_end"] = os.getloadavg()
    print_head(head)
    page_times.print_opened(trace, opened)
    if options.json:
        Path(options.json).write_text(json.dumps({**head, "page": opened.figures()}, indent=1) + "\n", encoding="utf-8")
    return False


def bench_perfetto(store, options):
    why = perfetto_files.importer.missing()
    if why:
        print(f"bench: {why}", file=sys.stderr)
        return True
    trace = store.chrome(options.events)
    head = head_of(options)
    files = perfetto_files.measure(trace, FOLDER / "perfetto", options.rounds, options.memory)
    head["load_end"] = os.getloadavg()
    print_head(head)
    perfetto_files.print_files(trace, files)
    if options.json:
        listed = [file.figures() for file in files]
        Path(options.json).write_text(json.dumps({**head, "files": listed}, indent=1) + "\n", encoding="utf-8")
    return False


def bench_growth(store, options):
    if not store.shared:
        print("bench: needs the generator of $TM_SHARED", file=sys.stderr)
        return True
    head = head_of(options)
    print(growth_times.HEAD)
    points = growth_times.measure(
        store, options, lambda trace, memory: report_row(f"growth {memory}", trace, trace.plain, memory, "html,pdf,json"), run, BINARY)
    growth_times.print_slopes(points)
    head["load_end"] = os.getloadavg()
    print_head(head)
    if options.json:
        listed = [point.figures() for point in points]
        Path(options.json).write_text(json.dumps({**head, "points": listed}, indent=1) + "\n", encoding="utf-8")
    return any(point.problem or not point.is_within() for point in points)


def bench_goals(store, options):
    works = goals.works_of(store, options.events, pytorch_files(), compilation_files(), SMALLEST_RUN)
    with tempfile.TemporaryDirectory(dir=MEMORY_FOLDER if MEMORY_FOLDER.is_dir() else None) as out:
        rows, igzip = goals.make_rows(works, Row, BINARY, out)
        head = head_of(options)
        run_all(rows, options.rounds)
        head["load_end"] = os.getloadavg()
    print_head(head)
    goals.print_works(works, igzip)
    if options.json:
        listed = [work.figures(igzip) for work in works if not work.problem()]
        Path(options.json).write_text(json.dumps({**head, "works": listed}, indent=1) + "\n", encoding="utf-8")
    return any(work.problem() for work in works)


def bench_merge(options):
    def measure(out, memory):
        row = Row("merge", None, [BINARY, "batch", "merge", out, "--memory", memory, "--format", "html,json", "-q"])
        return run(row), row.problem

    head = head_of(options)
    print(batch_merge.HEAD)
    points = batch_merge.measure_all(FOLDER / "merge", measure, options.rounds, options.quick)
    shutil.rmtree(FOLDER / "merge")
    head["load_end"] = os.getloadavg()
    print_head(head)
    if options.json:
        listed = [point.figures() for point in points]
        Path(options.json).write_text(json.dumps({**head, "points": listed}, indent=1) + "\n", encoding="utf-8")
    return any(not point.figures().get("is_within") for point in points)


def bench_batch(options):
    count = batch_times.QUICK_RUNS if options.quick else batch_times.RUNS
    head = head_of(options)
    phases, size = batch_times.measure(FOLDER / "batch", count, options.rounds, options.memory)
    head["load_end"] = os.getloadavg()
    print_head(head)
    batch_times.print_phases(phases, count, size)
    if options.json:
        listed = [phase.figures() for phase in phases]
        Path(options.json).write_text(json.dumps({**head, "phases": listed}, indent=1) + "\n", encoding="utf-8")
    return False


def main():
    options = arguments()
    if not MEASURE.exists():
        sys.exit(f"bench: no {MEASURE}: 'make bench' builds it")
    shared = SHARED_GENERATOR if SHARED_GENERATOR.exists() and options.generator != "own" else None
    if options.generator == "shared" and not shared:
        sys.exit(f"bench: no {SHARED_GENERATOR}")
    if options.only == "merge":
        return bench_merge(options)
    store, rows = Store(FOLDER / "data", shared), []
    if options.only == "batch":
        return bench_batch(options)
    if options.only == "perfetto":
        return bench_perfetto(store, options)
    if options.only == "page":
        return bench_page(store, options)
    if options.only == "growth":
        return bench_growth(store, options)
    if options.only in ("peers", "goals") and not store.shared:
        sys.exit("bench: needs the generator of $TM_SHARED")
    if options.only == "goals":
        return bench_goals(store, options)
    if options.only == "real" and not real_files():
        sys.exit("bench: needs the traces of $TM_SHARED")
    if options.only == "peers":
        rows += peer_rows(store, options)
    if options.only in (None, "chrome"):
        rows += chrome_rows(store, options)
    if options.only in (None, "xspace"):
        rows += xspace_rows(store, options)
    if options.only in (None, "real"):
        rows += real_rows(store, options)
    head = head_of(options)
    run_all(rows, options.rounds)
    head["load_end"] = os.getloadavg()
    print_head(head)
    print_rows(rows)
    if options.json:
        write_json(options.json, head, rows)
    return any(row.problem and row.command[0] in map(str, (BINARY, DECODE, ZLIB_BINARY)) for row in rows)


if __name__ == "__main__":
    sys.exit(main())
