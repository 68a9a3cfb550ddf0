# SPDX-License-Identifier: Apache-2.0
"""A command line of every verb and kind of input, for tests of what goes wrong on the way: a call that fails, a signal, no
room, an input that changes.  Each has an input of its own, small and the same every time, and writes below out/."""

import argparse
import fnmatch
import gzip
import hashlib
import io
import json
import os
import shutil
import signal
import tarfile
import zipfile

import batches
import make_profile
from tracemill import BUILD, ROOT, SANITIZED, UNDER, run

TINY = ROOT / "tests" / "data" / "tiny" / "plugins" / "profile"
AT_CALL = BUILD / "tests" / "at_call"
SECONDS = 30  # none takes one


class Verb:
    """A command line; out/ is where it writes, tmp/ where it spills.

    stdin: a file that comes through a pipe; given: a folder that out/ is a copy of at first
    more: statuses beside those of the call that fails; no_memory: those where memory failed
    cuts: files that a shell writes, which may be cut short
    warns: what cannot be read is left out with a warning
    resumes: what does not succeed is completed by the same again; of an item that fails there is a row
    keeps: (blocks, descriptors) that a library does not give back where memory failed"""

    def __init__(self, name, *words, status=0, more=(), no_memory=(6,), resumes=False, stdin=None, given=None, warns=False,
                 cuts=(), keeps=(0, 0)):
        self.name, self.words, self.status, self.more, self.no_memory = name, words, status, more, no_memory
        self.resumes, self.stdin, self.given, self.warns = resumes, stdin, given, warns
        self.cuts, self.keeps = cuts, keeps


# libarchive takes memory that ends here and there for damage, and once it ends the process itself; newlocale(), which it
# calls, keeps a block where a locale cannot be loaded.
ARCHIVE = {"no_memory": (6, 3), "keeps": (1, 0)}
# What fails in libharu is memory (status 6), and it keeps objects that it cannot add to the document.
PDF_KEEPS = (25, 0)
# An item of a batch is a process of its own, whose status is a row of the batch.
ITEMS = {"more": (2, 3, 4, 6), "no_memory": (4, 6), "resumes": True}
VERBS = (
    Verb("report", "report", "input", "-o", "out/r", "--format", "html,json,text,markdown,csv,collapsed,partial"),
    Verb("report-pdf", "report", "input", "-o", "out/r", "--format", "pdf", more=(6,), keeps=PDF_KEEPS),
    Verb("report-json", "report", "run.json", "-o", "out/r", "--format", "json"),
    Verb("report-spill", "report", "long.json.gz", "-o", "out/r", "--format", "json", "--memory", "32M"),
    Verb("report-gzip", "report", "run.xplane.pb.gz", "-o", "out/r", "--format", "json"),
    Verb("report-tar", "report", "input.tar.gz", "-o", "out/r", "--format", "json", **ARCHIVE),
    Verb("report-zip", "report", "input.zip", "-o", "out/r", "--format", "json", **ARCHIVE),
    Verb("report-stdin", "report", "-", "-o", "out/r", "--format", "json", stdin="run.xplane.pb.gz"),
    Verb("report-hosts", "report", "hosts", "-o", "out/r", "--format", "json"),
    Verb("report-partials", "report", "partials/a/run.partial", "partials/b/run.partial", "-o", "out/r", "--format", "json"),
    Verb("redact", "report", "input", "-o", "out/r", "--format", "json", "--redact", "--redact-map", "out/map"),
    Verb("report-again", "report", "input", "-o", "out/r", "--format", "html,json,csv,perfetto", given="older"),
    Verb("inspect", "inspect", "input"),
    Verb("inspect-json", "inspect", "run.json", "--json"),
    Verb("brief", "brief", "input"),
    Verb("brief-json", "brief", "run.json", "--json"),
    Verb("brief-two", "brief", "made/one/summary.json", "made/two/summary.json", "--markdown", "--force"),
    Verb("show", "show", "input", "ops", "--sort", "-self_ps", "--where", "self_ps > 1us"),
    Verb("show-json", "show", "run.json", "figures", "--json", "--fields", "path,value"),
    Verb("show-csv", "show", "made/one/summary.json", "kernels", "--csv", "--top", "2"),
    Verb("query", "query", "input", "select class, count(*) from events e join args a on a.event = e.id group by class"),
    Verb("query-gaps", "query", "input", "select * from gaps", "--json"),
    Verb("query-keep", "query", "input", "--keep", "out/kept.sqlite"),
    Verb("schema", "schema", "events"),
    Verb("convert-tables", "convert", "input", "-o", "out/t/", "--args", "none"),
    Verb("pftrace", "convert", "input", "-o", "out/t.pftrace"),
    Verb("json-gz", "convert", "input", "-o", "out/t.json.gz"),
    Verb("csv", "convert", "run.json", "-o", "out/t.csv"),
    Verb("split", "split", "input", "-o", "out/s", "--max-events", "20"),
    Verb("compare", "compare", "input", "other", "-o", "out/c", "--format", "json,html", "--force"),
    Verb("compare-summaries", "compare", "made/one/summary.json", "made/two/summary.json", "-o", "out/c",
         "--format", "json,markdown", "--force"),
    Verb("scaling", "scaling", "made/a", "made/both", "-o", "out/s", "--format", "json,html"),
    Verb("check", "check", "input", "--gate", "gates.json", "--junit", "out/j.xml", "--markdown", "out/j.md"),
    Verb("batch", "batch", "input", "-o", "out/b", "--format", "json,html", "--jobs", "1", "--gate", "gates.json",
         "--openmetrics", "out/m.prom", **ITEMS),
    Verb("scan", "batch", "scan", "input", "-o", "out/m.jsonl", warns=True),
    Verb("run", "batch", "run", "--manifest", "manifest.jsonl", "-o", "out/b", "--format", "json", "--jobs", "1", **ITEMS),
    Verb("merge", "batch", "merge", "out", given="worked", keeps=PDF_KEEPS, **ITEMS),
    Verb("prune", "batch", "prune", "out", "--keep", "1", given="nights", resumes=True),
    Verb("submit", "batch", "submit", "--slurm", "--manifest", "manifest.jsonl", "-o", "out/b",
         more=(3,), cuts=("jobs",)),
    Verb("export", "batch", "export", "done"),
    Verb("list", "list", "input", warns=True),
    Verb("list-archive", "list", "input.tar.gz", **ARCHIVE),
    Verb("extract", "extract", "input", "-o", "out/e"),
    Verb("extract-archive", "extract", "input.tar.gz", "-o", "out/e", **ARCHIVE),
    Verb("config", "config", "show", "--config", "settings.json"),
    Verb("help", "help", "report"),
    Verb("version", "version", "--json"),
    Verb("completions", "completions", "bash"),
)


def _archives(folder):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.add(TINY, "log/plugins/profile")
    (folder / "input.tar.gz").write_bytes(gzip.compress(buffer.getvalue(), mtime=0))
    with zipfile.ZipFile(folder / "input.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(p for p in TINY.rglob("*") if p.is_file()):
            archive.writestr(zipfile.ZipInfo(f"log/plugins/profile/{path.relative_to(TINY)}"), path.read_bytes())


def _traces(folder):
    events = [{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:GPU:0"}}]
    events += [{"ph": "X", "pid": 1, "tid": 1 + n % 3, "ts": n * 7 % 100003 + n, "dur": 5, "name": f"k{n % 50}"}
               for n in range(3000)]
    for name, count in (("run.json", 300), ("long.json.gz", 3001)):
        text = json.dumps({"displayTimeUnit": "ns", "traceEvents": events[:count]}).encode()
        (folder / name).write_bytes(gzip.compress(text, mtime=0) if name.endswith(".gz") else text)
    profile = next(TINY.rglob("*.xplane.pb")).read_bytes()
    (folder / "run.xplane.pb.gz").write_bytes(gzip.compress(profile, mtime=0))
    for host in ("a", "b"):
        batches.write(folder / "hosts" / f"{host}.xplane.pb", make_profile.gpu(seed=3, steps=3, host=host).encode())


def _must(folder, *words):
    result = run(*words, "--quiet", cwd=folder)
    if result.status != 0:
        raise RuntimeError(f"{words}: {result}")


def _worked(folder):
    """What other verbs read: summaries, partials, a manifest, the folders of batches."""
    for name, source in (("one", "input"), ("two", "run.json"), ("a", "hosts/a.xplane.pb"), ("both", "hosts")):
        _must(folder, "report", source, "-o", f"made/{name}", "--format", "json")
    for host in ("a", "b"):
        _must(folder, "report", f"hosts/{host}.xplane.pb", "-o", f"partials/{host}", "--format", "partial")
    _must(folder, "report", "run.json", "-o", "older/r", "--format", "html,json,csv,perfetto")
    _must(folder, "batch", "input", "-o", "done", "--format", "json")
    _must(folder, "batch", "scan", "input", "-o", "manifest.jsonl")
    _must(folder, "batch", "run", "--manifest", "manifest.jsonl", "-o", "worked", "--format", "json")
    for night in (1, 2, 3):
        batches.write(folder / "root" / "job" / f"2026-01-{night:02}" / "host0.xplane.pb",
                      make_profile.cpu(seed=night).encode(), night)
    _must(folder, "batch", "root", "-o", "nights", "--format", "json,text", "--jobs", "2")


def prepare(folder):
    """The inputs of all verbs; the same in each folder, times too."""
    for name in ("input", "other"):
        shutil.copytree(TINY, folder / name / "plugins" / "profile")
    (folder / "tmp").mkdir()
    (folder / "gates.json").write_text('{"gates": [{"figure": "coverage.events_read", "min": 1}]}')
    (folder / "settings.json").write_text('{"rows": 7}')
    (folder / "bin").mkdir()
    (folder / "bin" / "sbatch").write_text("#!/bin/sh\necho 17\n")
    (folder / "bin" / "sbatch").chmod(0o755)
    _archives(folder)
    _traces(folder)
    _worked(folder)


def cannot_trace():
    """out: why at_call does not work here; "" = it does"""
    if SANITIZED or UNDER:
        return "a checker of memory cannot be traced"
    result = run("version", under=[str(AT_CALL), "--"])
    return "" if result.status == 0 else result.err.strip()


def require_tracing(tap, what):
    """The test ends, as skipped, where at_call does not work."""
    why_not = cannot_trace()
    if why_not:
        tap.skip(what, why_not)
        tap.done()


def files(folder):
    """What lies below a folder: its hash, or "folder", by path."""
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() if p.is_file() else "folder"
            for p in sorted(folder.rglob("*"))} if folder.exists() else {}


def options_of(doc):
    """--full and --verb of a test, to which it may add its own."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--verb", default="*")
    return parser


def rigs(folder, pattern):
    """A rig for each verb whose name fits, in the folder of prepare()."""
    return (Rig(verb, folder) for verb in VERBS if fnmatch.fnmatch(verb.name, pattern))


class Rig:
    """Runs a verb while something happens to it, in a fresh folder for what it writes.

    before, whole: what lies in out/ before it, and after it where nothing happens; said: what it prints then"""

    def __init__(self, verb, folder):
        self.verb, self.folder = verb, folder
        self.out = folder / "out"
        self.stdin = (folder / verb.stdin).read_bytes() if verb.stdin else None

    def fresh(self):
        """out/ as the verb finds it.  The folder itself stays: a file system may be mounted there."""
        self.out.mkdir(exist_ok=True)
        for path in self.out.iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        if self.verb.given:
            shutil.copytree(self.folder / self.verb.given, self.out, dirs_exist_ok=True)

    def run(self, under=(), keeps=False, more=(), **environment):
        if not keeps:
            self.fresh()
        return run(*self.verb.words, *more, cwd=self.folder, under=[str(word) for word in under], stdin=self.stdin, seconds=SECONDS,
                   TMPDIR=self.folder / "tmp", PATH=f"{self.folder / 'bin'}:{os.environ['PATH']}", **environment)

    def at(self, number, *what, **environment):
        """With something at one of its system calls: words of at_call."""
        return self.run(under=[AT_CALL, "--at", number, *what, "--"], **environment)

    def calls(self):
        """The names of its system calls, in their order."""
        log = self.folder / "calls"
        self.run(under=[AT_CALL, "--list", log, "--"])
        return log.read_text(encoding="ascii").split()

    def undisturbed(self):
        """out: what is wrong with that; "" = nothing"""
        self.fresh()
        self.before = files(self.out)
        first = self.run()
        self.whole, self.said = files(self.out), first.raw_out
        again = self.run()
        if first.status != self.verb.status:
            return str(first)
        if (files(self.out), again.raw_out) != (self.whole, self.said):
            return "twice the same gives two results"
        return ""

    def judge(self, statuses, result, may_leave=False):
        """statuses: those that a message explains; may_leave: hidden files, where they could not be removed.
        out: what is wrong; "" = nothing."""
        left = files(self.out)
        if result.status == 124 or result.crashed or result.status < 0:
            return "it has no end" if result.status == 124 else "it crashed"
        if result.status == self.verb.status:
            wrong = sorted(n for n in left.keys() | self.whole.keys() if left.get(n) != self.whole.get(n))
            if not wrong and result.raw_out == self.said:
                return ""
            if wrong and may_leave and all(left.get(n) == self.before.get(n) for n in wrong):
                return ""  # what was there before could not be removed
            if self.verb.warns and "tracemill: warning: " in result.err:
                return ""
            if not self.verb.resumes:
                return f"it says all is well, and {'has other files: ' + str(wrong) if wrong else 'prints something else'}"
        elif result.status not in statuses:
            return f"status {result.status} is none of {statuses}"
        elif "tracemill: " not in result.err:
            return "it does not say what failed"
        return self.judge_left(may_leave)

    def judge_signal(self, number, result):
        """After a signal: it ended by that, or had done all of its work."""
        if result.status != -number:
            return self.judge((), result)
        if number == signal.SIGKILL and self.verb.resumes:
            for path in self.out.glob(".*.part"):  # beside the folder of the batch, which it sweeps itself
                path.unlink()
        return self.judge_left(may_leave=number == signal.SIGKILL)

    def judge_left(self, may_leave=False):
        """What lies there after a run that did not do its work."""
        spilled = files(self.folder / "tmp")
        if spilled:
            shutil.rmtree(self.folder / "tmp")
            (self.folder / "tmp").mkdir()
            return f"spill files are left: {list(spilled)}"
        if self.verb.resumes:
            return self.judge_again()
        wrong = [name for name, digest in files(self.out).items()
                 if digest not in (self.whole.get(name), self.before.get(name))
                 and name.rpartition("/")[2] not in self.verb.cuts
                 and not (may_leave and any(part.startswith(".") for part in name.split("/")))]
        wrong += [name for name in self.before if not (self.out / name).exists() and name in self.whole]
        return f"what it left is not whole: {wrong}" if wrong else ""

    def judge_again(self):
        again = self.run(keeps=True)
        left = files(self.out)
        if again.status == self.verb.status and left == self.whole:
            return ""
        unlike = sorted(name for name in left.keys() | self.whole.keys() if left.get(name) != self.whole.get(name))
        return f"the same again does not complete it: {again.status}, {unlike}\n{again}"
