#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every call that can fail, fails once in turn: memory by a library that is preloaded (fail_allocation.c), system calls by
strace.  Then the program ends with a status and a message, or does all of its work; what has its final name is whole, and
nothing else is left.

    test_failing_calls.py [--full] [--verb PATTERN] [--call PATTERN]

Without --full of the calls of a verb every one of the first, and of the others some.
"""

import argparse
import fnmatch
import gzip
import hashlib
import io
import json
import random
import shutil
import sys
import tarfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import tracemill  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BINARY, BUILD, ROOT, SANITIZED, Scratch, run  # noqa: E402

FAIL_ALLOCATION = BUILD / "tests" / "fail_allocation.so"
TINY = ROOT / "tests" / "data" / "tiny" / "plugins" / "profile"
FIRST, SOME = 25, 15  # calls of a kind without --full
NOTHING_FAILED = 0, 4
# System calls, what they fail with, and the statuses that may come of it beside success.
CALLS = (
    ("read,pread64", "EIO", (2, 3, 5)),
    ("write,pwrite64", "ENOSPC", (5,)),
    ("openat", "EMFILE", (2, 3, 5, 6)),
    ("newfstatat", "EIO", (2, 3, 5)),
    ("fsync,fdatasync", "EIO", (5,)),
    ("rename,renameat,renameat2,linkat", "EACCES", (5,)),
    ("mkdir,mkdirat", "EACCES", (5,)),
    ("getdents64", "EIO", (3, 5)),
    ("close", "EIO", (3, 5)),
    ("lseek", "EIO", (3, 5)),
    ("ftruncate,fallocate,fadvise64,madvise", "EOPNOTSUPP", (5,)),
    ("unlink,unlinkat,rmdir", "EACCES", (5,)),
)


class Verb:
    """A command line; out/ is where it writes, and input a copy of a small run.  more: statuses beside those of CALLS;
    no_memory: those of an allocation that failed."""

    def __init__(self, name, *words, status=0, more=(), no_memory=(6,), resumes=False):
        self.name, self.words, self.status, self.more, self.no_memory = name, words, status, more, no_memory
        self.resumes = resumes  # an item that fails is a row; the same again completes it


VERBS = (
    Verb("report", "report", "input", "-o", "out/r", "--format", "html,json,text,markdown,csv,collapsed,partial"),
    Verb("report-pdf", "report", "input", "-o", "out/r", "--format", "pdf",
         more=(6,)),  # fonts lie in files in memory: what fails there is memory
    Verb("report-spill", "report", "long.json.gz", "-o", "out/r", "--format", "json", "--memory", "32M"),
    # libarchive takes memory that ends here and there for damage, and once it ends the process itself.
    Verb("report-archive", "report", "input.tar.gz", "-o", "out/r", "--format", "json", no_memory=(6, 3)),
    Verb("redact", "report", "input", "-o", "out/r", "--format", "json", "--redact", "--redact-map", "out/map"),
    Verb("inspect", "inspect", "input"),
    Verb("pftrace", "convert", "input", "-o", "out/t.pftrace"),
    Verb("json-gz", "convert", "input", "-o", "out/t.json.gz"),
    Verb("split", "split", "input", "-o", "out/s", "--max-events", "20"),
    Verb("compare", "compare", "input", "other", "-o", "out/c", "--format", "json,html", "--force"),
    Verb("check", "check", "input", "--gate", "gates.json", "--junit", "out/j.xml", "--markdown", "out/j.md"),
    Verb("batch", "batch", "input", "-o", "out/b", "--format", "json,html", "--jobs", "1", "--gate", "gates.json",
         "--openmetrics", "out/m.prom", more=(2, 3, 4, 6), no_memory=(4, 6), resumes=True),
    Verb("export", "batch", "export", "done"),
    Verb("list", "list", "input"),
    Verb("extract", "extract", "input", "-o", "out/e"),
    Verb("config", "config", "show"),
)


def prepare(folder):
    """The inputs of all verbs; the same in each folder, times too."""
    for name in ("input", "other"):
        shutil.copytree(TINY, folder / name / "plugins" / "profile")
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.add(TINY, "log/plugins/profile")
    (folder / "input.tar.gz").write_bytes(gzip.compress(buffer.getvalue(), mtime=0))
    events = [{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:GPU:0"}}]
    events += [{"ph": "X", "pid": 1, "tid": 1 + n % 3, "ts": n * 7 % 100003 + n, "dur": 5, "name": f"k{n % 50}"}
               for n in range(3000)]
    text = json.dumps({"displayTimeUnit": "ns", "traceEvents": events}).encode()
    (folder / "long.json.gz").write_bytes(gzip.compress(text, mtime=0))
    run("batch", "input", "-o", "done", "--format", "json", "--quiet", cwd=folder)
    (folder / "gates.json").write_text('{"gates": [{"figure": "coverage.events_read", "min": 1}]}')


def files(folder):
    """What lies below a folder: its hash, by path."""
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest()
            for p in sorted(folder.rglob("*")) if p.is_file()}


class Rig:
    """Runs a verb with one call that fails, in a fresh folder for what it writes."""

    def __init__(self, verb, folder):
        self.verb, self.folder = verb, folder
        self.out = folder / "out"

    def run(self, before=(), keeps=False, **environment):
        if not keeps:
            shutil.rmtree(self.out, ignore_errors=True)
            self.out.mkdir()
        return run(*self.verb.words, cwd=self.folder, under=before, TMPDIR=self.folder / "tmp", **environment)

    def undisturbed(self):
        result = self.run()
        return result, files(self.out)


def judge(rig, whole, statuses, result, may_leave):
    """out: what is wrong; "" = nothing."""
    left = files(rig.out)
    if rig.verb.resumes and not result.crashed and left != whole:
        again = rig.run(keeps=True)
        left = files(rig.out)
        if again.status != rig.verb.status or left != whole:
            unlike = [name for name in sorted(left | whole) if left.get(name) != whole.get(name)]
            return f"the same again does not complete it: {again.status}, {unlike}"
        left = {}
    wrong = [name for name, digest in left.items()
             if whole.get(name) != digest and not (may_leave and name.rpartition("/")[2].startswith("."))]
    if result.crashed or result.status < 0:
        return "it crashed"
    if result.status in NOTHING_FAILED and result.status == rig.verb.status:
        return "" if left == whole else f"it says all is well, and has other files: {wrong or set(whole) - set(left)}"
    if result.status not in statuses:
        return f"status {result.status} is none of {statuses}"
    if "tracemill: " not in result.err:
        return "it does not say what failed"
    return f"what it left is not whole: {wrong}" if wrong else ""


def numbers(count, is_full, seed):
    """Which of the calls fail, each in a run of its own."""
    if is_full or count <= FIRST + SOME:
        return list(range(1, count + 1))
    return list(range(1, FIRST + 1)) + sorted(random.Random(seed).sample(range(FIRST + 1, count + 1), SOME))


def allocations(tap, rig, whole, is_full):
    told = rig.folder / "count"
    rig.run(LD_PRELOAD=FAIL_ALLOCATION, FAIL_COUNT=told)
    count = int(told.read_text())
    wrong = []
    for number in numbers(count, is_full, rig.verb.name):
        result = rig.run(LD_PRELOAD=FAIL_ALLOCATION, FAIL_AT=number)
        if "Internal Error in libarchive" in result.err:
            continue
        said = judge(rig, whole, rig.verb.no_memory, result, False)
        if said:
            wrong.append(f"allocation {number} of {count}: {said}\n{result}")
    tap.ok(not wrong, f"{rig.verb.name}: memory, {len(numbers(count, is_full, 0))} of {count} allocations", *wrong[:3],
           f"{len(wrong)} in all")


def calls_between(rig, name, log):
    """The numbers of the first and the last call of that name that are the program's own: those before its first
    rt_sigaction are the loader's."""
    rig.run(before=["strace", "-f", "-qq", "-o", str(log), "-e", f"trace={name},rt_sigaction"])
    made = [line.partition("(")[0].split()[-1] for line in log.read_text(encoding="utf-8", errors="replace").splitlines()
            if "(" in line]
    loader = made.index("rt_sigaction") if "rt_sigaction" in made else len(made)
    return made[:loader].count(name) + 1, made.count(name)


def system_calls(tap, rig, whole, case, statuses, is_full):
    calls, error, _ = case
    tried = total = 0
    wrong = []
    for name in calls.split(","):
        first, last = calls_between(rig, name, rig.folder / "strace")
        total += max(last - first + 1, 0)
        for number in numbers(max(last - first + 1, 0), is_full, rig.verb.name + name):
            tried += 1
            result = rig.run(before=["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={name}",
                                     "-e", f"inject={name}:error={error}:when={first + number - 1}"])
            said = judge(rig, whole, statuses, result, name.startswith(("unlink", "rmdir", "rename")))
            if said:
                wrong.append(f"{name} {number} of {last - first + 1} fails with {error}: {said}\n{result}")
    if total:
        tap.ok(not wrong, f"{rig.verb.name}: {calls}: {error}, {tried} of {total} calls", *wrong[:3],
               f"{len(wrong)} in all")


def strace_works(folder):
    if not shutil.which("strace"):
        return "strace is missing"
    done = run("version", cwd=folder, under=["strace", "-qq", "-o", "/dev/null"])
    return "" if done.status == 0 else "strace may not trace here"


def one_verb(tap, verb, is_full, pattern, why_not):
    with Scratch() as folder:
        prepare(folder)
        (folder / "tmp").mkdir()
        rig = Rig(verb, folder)
        result, whole = rig.undisturbed()
        if not tap.ok(result.status == verb.status, f"{verb.name}: undisturbed", result):
            return
        if fnmatch.fnmatch("memory", pattern):
            allocations(tap, rig, whole, is_full)
        for case in CALLS:
            # A pipe that strace does not let close keeps its other end waiting.
            if not fnmatch.fnmatch(case[0], pattern) or (verb.resumes and case[0] == "close"):
                continue
            if why_not:
                tap.skip(f"{verb.name}: {case[0]}", why_not)
            else:
                system_calls(tap, rig, whole, case, case[2] + verb.more, is_full)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--verb", default="*")
    parser.add_argument("--call", default="*")
    options = parser.parse_args()
    tap = Tap()
    if SANITIZED or tracemill.UNDER:
        tap.skip("failing calls", "a checker of memory has allocations of its own")
        tap.done()
    with Scratch() as folder:
        why_not = strace_works(folder)
    for verb in VERBS:
        if fnmatch.fnmatch(verb.name, options.verb):
            one_verb(tap, verb, options.full, options.call, why_not)
    tap.done()


if __name__ == "__main__":
    main()
