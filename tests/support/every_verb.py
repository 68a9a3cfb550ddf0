# SPDX-License-Identifier: Apache-2.0
"""Every verb with every format, on whole input, on damaged input, and on what it refuses: for tests that look at how the
program ends, and at what it did not give back."""

import gzip
import io
import json
import shutil
import tarfile

import make_profile
import make_pytorch
from tracemill import ROOT, run

TINY = ROOT / "tests" / "data" / "tiny" / "plugins" / "profile"
FORMATS = "html,pdf,json,text,markdown,csv,collapsed"
DONE, GATE, USAGE, INPUT, PARTIAL, OUTPUT, LIMIT = range(7)
INPUTS = ("input", "tpu.xplane.pb", "torch.pt.trace.json")  # of these everything is made in full


class Case:
    """A command line in the folder of prepare(); out/ is fresh.  printed: where stdout goes, None = it is kept"""

    def __init__(self, name, status, *words, printed=None):
        self.name, self.status, self.words, self.printed = name, status, words, printed


def profile(folder, data, name="host0.xplane.pb"):
    path = folder / "plugins" / "profile" / "2026_01_02_03_04_05" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(data)


def prepare(folder):
    """The inputs of all cases."""
    shutil.copytree(TINY, folder / "input" / "plugins" / "profile")
    gpu = make_profile.gpu(seed=2, steps=3, devices=2, per_step=8)
    space, torch = gpu.encode(), json.dumps(json.loads(make_pytorch.rank_of(steps=2))).encode()
    jax = make_profile.chrome_json(gpu)
    jax = jax if isinstance(jax, bytes) else jax.encode()
    flipped = bytearray(space)
    flipped[len(space) // 2:len(space) // 2 + 40:3] = b"\xff" * 14
    profile(folder / "other", make_profile.gpu(seed=3, steps=3, devices=2, per_step=8).encode())
    profile(folder / "cut", space[:len(space) * 2 // 3])
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        tar.add(folder / "input", "log")
    tar_gz = gzip.compress(archive.getvalue(), mtime=0)
    for name, data in {
            "gpu.xplane.pb": space, "tpu.xplane.pb": make_profile.tpu(seed=3, steps=2, devices=1, per_step=6).encode(),
            "cpu.xplane.pb": make_profile.cpu(seed=3, steps=2, per_step=6).encode(), "flipped.xplane.pb": bytes(flipped),
            "torch.pt.trace.json": torch, "torch-cut.pt.trace.json": torch[:len(torch) * 2 // 3],
            "jax.trace.json.gz": gzip.compress(jax, mtime=0), "jax-cut.trace.json.gz": gzip.compress(jax, mtime=0)[:-900],
            "input.tar.gz": tar_gz, "input-cut.tar.gz": tar_gz[:len(tar_gz) * 2 // 3], "empty": b"",
            "text.txt": b"no trace\n" * 50,
            "gates.json": b'{"gates": [{"figure": "coverage.events_read", "min": 1}]}',
            "strict.json": b'{"gates": [{"figure": "coverage.events_read", "min": 1e15, "title": "much"}]}',
            "damaged.json": b'{"gates": [{"figure": "coverage.events_read", "min": ',
            "settings.json": b'{"memory": "64M", "rows": 20}', "wrong.json": b'{"memory": "much"}',
            "long.json": b'{"schema": "tracemill.summary", "x": [' + b"1," * 6_000_000 + b"1]}",
    }.items():
        (folder / name).write_bytes(data)
    for name in ("one", "two"):
        profile(folder / "runs" / "job" / name, space)
    profile(folder / "mixed" / "job" / "whole", space)
    profile(folder / "mixed" / "job" / "cut", space[:len(space) * 2 // 3])
    profile(folder / "mixed" / "job" / "empty", b"")
    for words in (("batch", "runs", "-o", "done", "--format", "json"),
                  ("batch", "scan", "mixed", "-o", "mixed.jsonl"),
                  ("report", "input", "-o", "whole", "--format", "json,partial")):
        done = run(*words, "--quiet", cwd=folder, under=[])
        assert done.status == DONE, done
    damaged = bytearray((folder / "whole" / "run.partial").read_bytes())
    damaged[len(damaged) // 2] ^= 0xFF
    (folder / "damaged.partial").write_bytes(damaged)
    for name in ("half-history", "half-manifest", "half-result"):
        shutil.copytree(folder / "done", folder / name)
    cut_file(folder / "half-history" / "history.db")
    cut_file(folder / "half-manifest" / "manifest.jsonl")
    for path in (folder / "half-result" / "runs").glob("*/*/result.json"):
        cut_file(path)


def cut_file(path):
    data = path.read_bytes()
    path.write_bytes(data[:len(data) * 2 // 3])


def reports():
    for name in (*INPUTS, "cpu.xplane.pb", "jax.trace.json.gz", "input.tar.gz"):
        yield Case(f"report {name}", DONE, "report", name, "-o", "out/r", "--format", f"{FORMATS},partial,perfetto")
    yield Case("report --redact", DONE, "report", "gpu.xplane.pb", "-o", "out/r", "--format", f"{FORMATS},perfetto", "--redact",
               "--redact-map", "out/map.json")
    yield Case("report of a partial", DONE, "report", "whole/run.partial", "-o", "out/r", "--format", FORMATS)
    yield Case("report --json --stats", DONE, "report", "input", "-o", "out/r", "--json", "--stats", "--rows", "3")
    for name in ("cut", "flipped.xplane.pb", "torch-cut.pt.trace.json", "jax-cut.trace.json.gz"):
        yield Case(f"report {name}", PARTIAL, "report", name, "-o", "out/r", "--format", f"{FORMATS},partial,perfetto")
        yield Case(f"report --strict {name}", INPUT, "report", name, "-o", "out/r", "--strict", "--format", "json")
    for name in ("text.txt", "empty", "missing", "damaged.partial"):
        yield Case(f"report {name}", INPUT, "report", name, "-o", "out/r")
    yield Case("report into a file", OUTPUT, "report", "input", "-o", "text.txt/r")
    yield Case("report, a map that cannot be", USAGE, "report", "input", "-o", "out/r", "--redact", "--redact-map", "text.txt/m")
    yield Case("report --redact of a partial", USAGE, "report", "input", "-o", "out/r", "--redact", "--format", "partial")
    yield Case("report --thresholds", USAGE, "report", "input", "-o", "out/r", "--thresholds", "damaged.json")
    yield Case("report --config", USAGE, "report", "input", "-o", "out/r", "--config", "wrong.json")


def traces():
    for name in INPUTS:
        for ending in ("pftrace", "pftrace.gz", "json", "json.gz", "csv", "csv.gz"):
            yield Case(f"convert {name} {ending}", DONE, "convert", name, "-o", f"out/t.{ending}")
        for form in ("pftrace", "json"):
            yield Case(f"split {name} {form}", DONE, "split", name, "-o", "out/s", "--format", form, "--max-events", "20")
        yield Case(f"convert {name} parquet", DONE, "convert", name, "-o", "out/t.parquet")
    yield Case("convert, a folder of tables", DONE, "convert", "input", "-o", "out/t/")
    yield Case("convert sqlite", DONE, "convert", "input", "-o", "out/t.sqlite")
    yield Case("convert cut parquet", PARTIAL, "convert", "cut", "-o", "out/t.parquet")
    for by in ("step", "time=1ms", "device"):
        yield Case(f"split --by {by}", DONE, "split", "gpu.xplane.pb", "-o", "out/s", "--by", by)
    yield Case("convert --redact", DONE, "convert", "input", "-o", "out/t.json", "--redact", "--filter", "min=1us", "--plain")
    yield Case("convert cut", PARTIAL, "convert", "cut", "-o", "out/t.pftrace")
    yield Case("split cut", PARTIAL, "split", "cut", "-o", "out/s", "--max-events", "20")
    for verb, out in (("convert", "t.pftrace"), ("split", "s")):
        yield Case(f"{verb} --strict", INPUT, verb, "cut", "-o", f"out/{out}", "--strict")
        yield Case(f"{verb} a text", INPUT, verb, "text.txt", "-o", f"out/{out}")
        yield Case(f"{verb} into a file", OUTPUT, verb, "input", "-o", f"text.txt/{out}")
        yield Case(f"{verb} --filter", USAGE, verb, "input", "-o", f"out/{out}", "--filter", "class=nonsense")
    for name in INPUTS:
        yield Case(f"inspect {name}", DONE, "inspect", name)
    yield Case("inspect cut", PARTIAL, "inspect", "cut")
    yield Case("inspect a text", INPUT, "inspect", "text.txt")
    yield Case("inspect, stdout full", OUTPUT, "inspect", "input", printed="/dev/full")
    for form in ((), ("--json",), ("--markdown",)):
        yield Case(" ".join(("brief", *form)), DONE, "brief", "input", *form)
    yield Case("brief cut", PARTIAL, "brief", "cut")
    yield Case("brief --strict", INPUT, "brief", "cut", "--strict")
    yield Case("brief a text", INPUT, "brief", "text.txt")
    yield Case("brief, stdout full", OUTPUT, "brief", "input", printed="/dev/full")
    for form in ((), ("--json",), ("--csv",), ("--markdown",)):
        yield Case(" ".join(("show", *form)), DONE, "show", "input", *form)
        yield Case(" ".join(("show ops", *form)), DONE, "show", "input", "ops", *form, "--sort", "-self_ps", "--where",
                   "self_ps > 1us and name ~ a", "--fields", "name,self_ps,first", "--top", "3")
    yield Case("show cut", PARTIAL, "show", "cut", "ops")
    yield Case("show --strict", INPUT, "show", "cut", "ops", "--strict")
    yield Case("show a text", INPUT, "show", "text.txt", "ops")
    yield Case("show nothing", USAGE, "show", "input", "nothing")
    yield Case("show --where", USAGE, "show", "input", "ops", "--where", "self_ps > ")
    yield Case("show, stdout full", OUTPUT, "show", "input", "ops", printed="/dev/full")
    sql = "select class, count(*) from events group by class"
    for form in ((), ("--json",), ("--csv",), ("--markdown",)):
        yield Case(" ".join(("query", *form)), DONE, "query", "input", sql, *form)
        yield Case(" ".join(("query gaps", *form)), DONE, "query", "input", "select * from gaps", *form)
    yield Case("query args", DONE, "query", "input", "select count(*) from args")
    yield Case("query --keep", DONE, "query", "input", "--keep", "out/kept.sqlite")
    yield Case("query cut", PARTIAL, "query", "cut", "select count(*) from events")
    yield Case("query --strict", INPUT, "query", "cut", "select count(*) from ops", "--strict")
    yield Case("query a text", INPUT, "query", "text.txt", sql)
    yield Case("query a wrong table", USAGE, "query", "input", "select * from nothing")
    yield Case("query, stdout full", OUTPUT, "query", "input", sql, printed="/dev/full")
    yield Case("schema", DONE, "schema")
    yield Case("schema of a table", DONE, "schema", "events", "--json")
    yield Case("schema of nothing", USAGE, "schema", "nothing")
    yield Case("list", DONE, "list", "runs")
    yield Case("list an archive", DONE, "list", "input.tar.gz")
    yield Case("list a cut archive", DONE, "list", "input-cut.tar.gz")
    yield Case("extract", DONE, "extract", "input.tar.gz", "-o", "out/e")
    yield Case("extract nothing", INPUT, "extract", "missing", "-o", "out/e")
    yield Case("extract into a file", OUTPUT, "extract", "input", "-o", "text.txt/e")


def studies():
    for form in FORMATS.split(","):
        if form != "collapsed":
            yield Case(f"compare {form}", DONE, "compare", "gpu.xplane.pb", "other", "-o", "out/c", "--force", "--format", form)
            yield Case(f"scaling {form}", DONE, "scaling", "gpu.xplane.pb", "cpu.xplane.pb", "-o", "out/c", "--force", "--format",
                       form)
    yield Case("compare with a cut one", PARTIAL, "compare", "gpu.xplane.pb", "cut", "-o", "out/c", "--force")
    yield Case("compare with a summary", DONE, "compare", "input", "whole/summary.json", "-o", "out/c", "--force")
    yield Case("compare what does not fit", INPUT, "compare", "gpu.xplane.pb", "text.txt", "-o", "out/c")
    yield Case("compare with one that is too long", LIMIT, "compare", "gpu.xplane.pb", "long.json", "-o", "out/c", "--memory", "32M")
    yield Case("compare into a file", OUTPUT, "compare", "input", "input", "-o", "text.txt/c")
    yield Case("compare with one", USAGE, "compare", "input")
    yield Case("scaling of one that is damaged", INPUT, "scaling", "gpu.xplane.pb", "damaged.json", "-o", "out/c")
    yield Case("check", DONE, "check", "input", "--gate", "gates.json", "--junit", "out/j.xml", "--markdown", "out/j.md")
    yield Case("check --baseline", DONE, "check", "gpu.xplane.pb", "--gate", "gates.json", "--baseline", "other")
    yield Case("check that fails", GATE, "check", "input", "--gate", "strict.json")
    yield Case("check of a cut one", PARTIAL, "check", "cut", "--gate", "gates.json")
    yield Case("check of none", INPUT, "check", "text.txt", "--gate", "gates.json")
    yield Case("check, gates that are damaged", USAGE, "check", "input", "--gate", "damaged.json")
    yield Case("check, a file that cannot be", OUTPUT, "check", "input", "--gate", "gates.json", "--junit", "text.txt/j.xml")
    yield Case("check of one that is too long", LIMIT, "check", "long.json", "--gate", "gates.json", "--memory", "32M")


def batches():
    small = ("--format", "json", "--jobs", "1")
    yield Case("batch", DONE, "batch", "runs", "-o", "out/b", "--format", f"{FORMATS},partial", "--gate", "gates.json",
               "--openmetrics", "out/m.prom", "--junit", "out/j.xml", "--markdown", "out/j.md")
    yield Case("batch of damaged ones", PARTIAL, "batch", "mixed", "-o", "out/b", *small)
    yield Case("batch, a gate that fails", GATE, "batch", "runs", "-o", "out/b", *small, "--gate", "strict.json")
    yield Case("batch of nothing", INPUT, "batch", "missing", "-o", "out/b")
    yield Case("batch into a file", OUTPUT, "batch", "runs", "-o", "text.txt/b", *small)
    yield Case("batch, gates that are damaged", USAGE, "batch", "runs", "-o", "out/b", *small, "--gate", "damaged.json")
    yield Case("batch --dry-run", DONE, "batch", "runs", "-o", "out/b", "--dry-run")
    yield Case("batch scan", DONE, "batch", "scan", "runs", "-o", "out/m.jsonl")
    yield Case("batch scan --keys", USAGE, "batch", "scan", "runs", "--keys", "{night}/{night}")
    yield Case("batch run", PARTIAL, "batch", "run", "--manifest", "mixed.jsonl", "-o", "out/b", *small)
    yield Case("batch run of a text", INPUT, "batch", "run", "--manifest", "text.txt", "-o", "out/b", *small)
    yield Case("batch merge", DONE, "batch", "merge", "done", "--format", FORMATS.replace(",collapsed", ""))
    yield Case("batch merge again", DONE, "batch", "merge", "done", "--gate", "gates.json", "--baseline", "median:2")
    for name in ("history", "manifest", "result"):
        yield Case(f"batch merge, half a {name}", (INPUT, PARTIAL), "batch", "merge", f"half-{name}")
    yield Case("batch export", DONE, "batch", "export", "done")
    yield Case("batch export, stdout full", OUTPUT, "batch", "export", "done", printed="/dev/full")
    yield Case("batch export, half a history", INPUT, "batch", "export", "half-history")
    yield Case("batch regressions", DONE, "batch", "regressions", "done")
    yield Case("batch regressions --json", DONE, "batch", "regressions", "done", "--json")
    yield Case("batch regressions, stdout full", OUTPUT, "batch", "regressions", "done", "--json", printed="/dev/full")
    yield Case("batch trend of no job", USAGE, "batch", "trend", "done", "nobody")
    yield Case("batch trend, half a history", INPUT, "batch", "trend", "half-history", "job")
    yield Case("batch ack of nothing", USAGE, "batch", "ack", "done", "r-0000000000", "--reason", "x")
    yield Case("batch accept, half a history", INPUT, "batch", "accept", "half-history", "r-0000000000")
    yield Case("batch prune", DONE, "batch", "prune", "done", "--keep", "1")
    yield Case("batch prune of nothing", OUTPUT, "batch", "prune", "missing", "--keep", "1")
    yield Case("batch submit --dry-run", DONE, "batch", "submit", "--slurm", "runs", "-o", "out/b", "--dry-run")
    yield Case("batch submit of nothing", INPUT, "batch", "submit", "--slurm", "missing", "-o", "out/b", "--dry-run")


def others():
    yield Case("config show", DONE, "config", "show", "--config", "settings.json")
    yield Case("config show, a wrong one", USAGE, "config", "show", "--config", "wrong.json")
    yield Case("help", DONE, "help", "report")
    yield Case("version", DONE, "version")
    yield Case("no such verb", USAGE, "rapport", "input")
    yield Case("no such option", USAGE, "report", "input", "--fromat", "json")


def cases():
    for part in (reports, traces, studies, batches, others):
        yield from part()
