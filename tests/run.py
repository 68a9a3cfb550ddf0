#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests, prints one line per case, and closes with what failed and 'N passed, N failed, N skipped'.

Every test is a program that prints the Test Anything Protocol: the cmocka binaries of tests/unit and the Python
programs below tests/.  A program that dies, runs too long or says nothing is a failed case of its own.
"""

import argparse
import concurrent.futures
import fnmatch
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CASE = re.compile(r"^(ok|not ok)\b\s*\d*\s*-?\s*(.*)$")
SKIPPED = re.compile(r"^(.*?)\s*(?<!\\)#\s*SKIP\b\s*(.*)$", re.IGNORECASE)
FOLDERS = ("golden", "slurm", "cli", "property", "faults", "browser", "pdf", "packaging", "peers", "evals", "bench")
# What is not found by the rule 'test_*.py': programs with a name of their own.
NAMED = {"golden": ["golden/run.py"],
         "peers": [f"peers/{name}.py" for name in (
             "catalog",
             "definitions",
             "event_cap",
             "fusion",
             "hlo",
             "host_times",
             "known_truth",
             "named_runs",
             "perfetto",
             "perfetto_arrows",
             "perfetto_compared",
             "perfetto_options",
             "perfetto_overview",
             "perfetto_parts",
             "perfetto_rows",
             "perfetto_sql",
             "pprof",
             "pytorch",
             "reference",
             "same_run",
             "scenarios",
             "schema",
             "scopes",
             "skew",
             "split_index",
             "truth",
         )]}
SAID = 30  # lines of a failed program that are shown again at the end
SECONDS = 420  # of one program; nothing here takes a sixth of it on two cores
# What nobody gave back is an error, but not what is still pointed to.
KINDS = "definite,indirect,possible"
VALGRIND = ["valgrind", "-q", "--error-exitcode=99", "--leak-check=full", f"--show-leak-kinds={KINDS}",
            f"--errors-for-leak-kinds={KINDS}"]
LONGER = {"TM_UNDER": 8, "TM_PACKAGING": 5}  # times as long: under valgrind; where packages are installed in five environments


# What takes long goes first, so that no core waits for another at the end: seconds on one core, nearly.  What is not in
# the list takes less; when the tests change, only the order is not the best any more.
LONG = {"browser/test_accessible": 40, "browser/test_open": 38, "browser/test_hostile": 38,
        "property/test_chrome_json": 34, "faults/test_proportion": 33, "faults/test_damage": 27,
        "property/test_memory": 26, "property/test_shapes": 24, "property/test_show": 23, "peers/host_times": 23,
        "faults/test_failing_calls": 23, "peers/truth": 22, "browser/test_behaviour": 21, "faults/test_input": 21,
        "peers/catalog": 19, "property/test_mirror": 19, "property/test_hostile_documents": 18,
        "property/test_hostile_words": 18, "property/test_add_verb": 18, "faults/test_json": 17,
        "property/test_threads_xspace": 17, "property/test_threads": 16, "faults/test_cut_traces": 16,
        "peers/definitions": 16, "peers/perfetto_sql": 15, "peers/perfetto_parts": 15,
        "property/test_hostile_outputs": 15, "property/test_buckets": 14, "browser/test_night_page": 15,
        "property/test_columns": 14,
        "faults/test_bombs": 14, "peers/fusion": 14, "property/test_gcloud": 13, "peers/perfetto": 13,
        "faults/test_no_room": 12, "peers/scenarios": 12, "browser/test_first_page": 12,
        "faults/test_changing_input": 11, "property/test_progress": 11, "peers/scopes": 10, "browser/test_size": 10,
        "property/test_night": 9, "pdf/test_pdf": 9, "browser/test_perfetto": 9, "peers/pytorch": 8,
        "peers/perfetto_overview": 8, "property/test_query": 7, "faults/test_signals": 7, "property/test_any_system": 7,
        "golden/run": 7, "evals/test_answers": 7, "packaging/test_python": 7, "property/test_host_processes": 6,
        "property/test_compare_planted": 6, "faults/test_output": 6, "property/test_brief": 6, "peers/schema": 6,
        "property/test_history": 6, "property/test_exposed": 6, "property/test_convert": 6,
        "property/test_critical_path": 6, "peers/perfetto_options": 6, "pdf/test_hostile_pdf": 6,
        "unit/test_lengths": 6, "unit/test_skew": 6, "property/test_device_clock": 5, "unit/test_kernels": 5,
        "unit/test_input_file": 5, "faults/test_every_verb": 5, "browser/test_page": 5, "property/test_protobuf": 5}
# Files of tests lie in memory where there is room for them: most are small, and many are synchronized.
IN_MEMORY, ROOM = Path("/dev/shm"), 8 << 30
# Suites that mostly wait, for Slurm and for clocks: beside the others, one program at a time.
WAITING = ("slurm",)


class Program:
    def __init__(self, suite, name, command):
        self.suite, self.name, self.command = suite, name, command

    @property
    def seconds(self):
        return LONG.get(self.name, 0)


def find(build, suite, valgrind):
    """The programs of a suite."""
    if suite == "unit":
        sources = sorted((HERE / "unit").glob("test_*.c"))
        under = VALGRIND if valgrind else []
        return [Program(suite, f"unit/{s.stem}", under + [str(build / "unit" / s.stem)]) for s in sources]
    paths = [HERE / name for name in NAMED.get(suite, []) if (HERE / name).exists()]
    paths += sorted((HERE / suite).glob("test_*.py"))
    return [Program(suite, str(p.relative_to(HERE).with_suffix("")), [sys.executable, str(p)]) for p in paths]


def has_room(folder):
    try:
        fits = shutil.disk_usage(folder).free >= ROOM and os.access(folder, os.W_OK)
        return fits and os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >= ROOM
    except OSError:
        return False


def run(program, environment):
    """Its status, or why there is none; what it said; elapsed and core seconds, those of its children included."""
    began = time.monotonic()
    seconds = SECONDS * max([1, *(times for name, times in LONGER.items() if name in environment)])
    with tempfile.TemporaryFile() as said:
        try:
            child = subprocess.Popen(program.command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                                     stdout=said, stderr=subprocess.STDOUT)
        except OSError as error:
            return str(error), "", 0, 0
        late = threading.Event()
        clock = threading.Timer(seconds, lambda: (late.set(), os.kill(child.pid, signal.SIGKILL)))
        clock.start()
        _, status, used = os.wait4(child.pid, 0)
        clock.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        output = said.read().decode("utf-8", "replace")
    status = f"a timeout after {seconds} s" if late.is_set() else child.returncode
    return status, output, time.monotonic() - began, used.ru_utime + used.ru_stime


class Counts:
    def __init__(self, verbose):
        self.passed = self.failed = self.skipped = 0
        self.verbose = verbose
        self.failures = []  # their lines again, for readers who have only the end of a log

    def case(self, program, word, text):
        skip = SKIPPED.match(text)
        if skip:
            self.skipped += 1
            name, reason = skip.group(1), skip.group(2)  # cmocka gives the name alone, as the reason
            print(f"skip  {program.name}: {name} ({reason})" if name else f"skip  {program.name}: {reason}")
        elif word == "ok":
            self.passed += 1
            print(f"pass  {program.name}: {text}")
        else:
            self.fail(f"{program.name}: {text}")

    def fail(self, text):
        self.failed += 1
        self.failures.append(f"failed  {text}")
        print(f"FAIL  {text}")

    def program(self, program, status, output, seconds, core_seconds):
        cases = failed = 0
        known, said = len(self.failures), []
        for line in output.splitlines():
            match = CASE.match(line)
            if match:
                cases += 1
                before = self.failed
                self.case(program, match.group(1), match.group(2))
                failed += self.failed - before
            elif line.strip() and not re.match(r"^(1\.\.\d+|TAP version.*)$", line):
                if failed or status != 0 or self.verbose:
                    print(f"      {line}")
                    said.append(line)
        if (status != 0 and failed == 0) or cases == 0:
            self.fail(f"{program.name}: ended with {status} after {cases} cases")
        if len(self.failures) > known:
            self.failures += [f"      {line[:400]}" for line in said[-SAID:]]
        print(f"      {program.name}: {cases} cases in {seconds:.1f} s, {core_seconds:.1f} s of a core", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.environ.get("BUILD", "build"), help="build folder")
    parser.add_argument("--only", metavar="PATTERN", help="programs whose name matches, as peers/t*")
    parser.add_argument("--list", action="store_true", help="name the programs")
    parser.add_argument("--jobs", type=int, default=(os.cpu_count() or 1) + 1,
                        help="programs at once; one more than cores, since most wait now and then")
    parser.add_argument("--verbose", action="store_true", help="what the programs say beside their cases")
    parser.add_argument("--sanitized", action="store_true", help="the build folder is a sanitizer build")
    parser.add_argument("--valgrind", action="store_true", help="run the C programs under valgrind")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help="unit " + " ".join(FOLDERS))
    options = parser.parse_args()
    build = Path(options.build).resolve()
    known = ("unit",) + FOLDERS
    for suite in options.suites:
        if suite not in known:
            parser.error(f"no suite '{suite}' ({' '.join(known)})")

    environment = dict(os.environ, BUILD=str(build), LC_ALL="C.UTF-8", TZ="UTC", CMOCKA_MESSAGE_OUTPUT="TAP",
                       SOURCE_DATE_EPOCH="4000000000", PYTHONPATH=str(HERE / "support"),
                       PYTHONPYCACHEPREFIX=str(build / "pycache"))
    for name in ("MAKEFLAGS", "PYTHONDONTWRITEBYTECODE"):
        environment.pop(name, None)
    if "TMPDIR" not in environment and has_room(IN_MEMORY):
        environment["TMPDIR"] = str(IN_MEMORY)
    for name in [n for n in environment if n.startswith("TRACEMILL_")]:
        del environment[name]  # a developer's settings are no part of a test
    if options.sanitized:
        environment["TM_SANITIZED"] = "1"
        environment["ASAN_OPTIONS"] = "abort_on_error=1:detect_leaks=1:allocator_may_return_null=1"
        environment["UBSAN_OPTIONS"] = "print_stacktrace=1:abort_on_error=1"
    if options.valgrind:
        environment["TM_UNDER"] = shlex.join(VALGRIND)

    programs = [p for suite in options.suites or known for p in find(build, suite, options.valgrind)
                if not options.only or fnmatch.fnmatch(p.name, options.only)]
    if options.list:
        print("\n".join(p.name for p in programs))
        return 0
    counts = Counts(options.verbose)
    with concurrent.futures.ThreadPoolExecutor(max(1, options.jobs)) as pool, \
            concurrent.futures.ThreadPoolExecutor(1) as aside:
        programs.sort(key=lambda program: -program.seconds)
        running = {(aside if p.suite in WAITING and options.jobs > 1 else pool).submit(run, p, environment): p for p in programs}
        for done in concurrent.futures.as_completed(running):
            counts.program(running[done], *done.result())
    if counts.passed + counts.failed == 0:
        print("no test ran")
    for line in counts.failures:
        print(line)
    print(f"{counts.passed} passed, {counts.failed} failed, {counts.skipped} skipped")
    return 1 if counts.failed or counts.passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
