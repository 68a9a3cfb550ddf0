#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every verb, with every format, on whole input, damaged input and what it refuses: it ends as it should, starts no
thread for small input, and needs no more than 256 KiB of stack.  In `make asan` and `make valgrind`, which see what is not given back, that is an error.

    test_every_verb.py [--only PATTERN]
"""

import argparse
import fnmatch
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import every_verb  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BINARY, BUILD, SANITIZED, UNDER, Result, Scratch  # noqa: E402

# A library that is preloaded, and ends who begins a thread: a sanitizer and valgrind bring their own.
NO_THREADS = BUILD / "tests" / "no_threads.so"
IS_WATCHED = not SANITIZED and not UNDER
STACK_BYTES = 256 << 10


def limit_stack():
    resource.setrlimit(resource.RLIMIT_STACK, (STACK_BYTES, resource.RLIM_INFINITY))


def play(folder, case):
    shutil.rmtree(folder / "out", ignore_errors=True)
    (folder / "out").mkdir()
    settings = dict(os.environ, SOURCE_DATE_EPOCH="4000000000", TMPDIR=str(folder))
    if IS_WATCHED:
        settings["LD_PRELOAD"] = str(NO_THREADS)
    with open(case.printed or folder / "printed", "wb") as printed:
        done = subprocess.run([*UNDER, BINARY, *case.words], cwd=folder, env=settings, stdin=subprocess.DEVNULL,
                              stdout=printed, stderr=subprocess.PIPE, check=False, preexec_fn=limit_stack if IS_WATCHED else None)
    return Result(done.returncode, b"", done.stderr)


def judge(tap, case, result):
    statuses = case.status if isinstance(case.status, tuple) else (case.status,)
    tap.ok(result.status in statuses and not result.crashed, case.name, f"wanted: {statuses}", result)


def who_imports_threads(folder):
    """The objects of the program that call what starts a thread."""
    found = []
    for path in sorted(path for part in ("pipeline", "stages", "reports", "gen") for path in (folder / part).rglob("*.o")):
        done = subprocess.run(["nm", "--undefined-only", path], stdout=subprocess.PIPE, text=True, check=True)
        found += [path.name] * any(name in done.stdout for name in ("pthread_create", "thrd_create"))
    return found


def watch_works(tap, folder):
    """The library ends who begins a thread."""
    program = "import threading; t = threading.Thread(target=print); t.start(); t.join()"
    done = subprocess.run([sys.executable, "-c", program], env=dict(os.environ, LD_PRELOAD=str(NO_THREADS)), cwd=folder,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    tap.ok(done.returncode < 0 and b"began a thread" in done.stderr, "who begins a thread is noticed", done.returncode)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="*", metavar="PATTERN")
    options = parser.parse_args()
    tap = Tap()
    if IS_WATCHED:
        found = who_imports_threads(BUILD / "obj")
        tap.ok(found == ["threads.o"], "one module alone starts threads", found)
    with Scratch() as folder:
        every_verb.prepare(folder)
        if IS_WATCHED:
            watch_works(tap, folder)
        for case in every_verb.cases():
            if fnmatch.fnmatch(case.name, options.only):
                judge(tap, case, play(folder, case))
    tap.done()


if __name__ == "__main__":
    main()
