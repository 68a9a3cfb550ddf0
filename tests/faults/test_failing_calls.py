#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every call that can fail, fails once in turn: memory by a library that is preloaded (fail_allocation.c), system calls by a
tracer (programs/at_call.c).  Then the program ends with a status and a message, or does all of its work; what has its
final name is whole, nothing else is left, and what it took it has given back.

Reads and writes that move fewer bytes than they were asked to, that end in the middle, or that a signal interrupted, and
a disk that is full from some call on.

    test_failing_calls.py [--full] [--verb PATTERN] [--call PATTERN]

Without --full some of the calls of each verb, others on each call of it.
"""

import errno
import fnmatch
import os
import random
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("BUILD", ROOT / "build")).resolve() / "tests/shared/tracemill"
if SHARED.exists():  # its allocator is one that a library can take the place of
    os.environ["TM_BINARY"] = str(SHARED)
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import faulted_verbs  # noqa: E402
import tracemill  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BUILD, SANITIZED, Scratch  # noqa: E402

FAIL_ALLOCATION = BUILD / "tests" / "fail_allocation.so"
LEAST_ALLOCATIONS = 1000  # of a report
FIRST, SOME = 3, 5  # allocations of a verb without --full, and
CALLS_OF_A_VERB = 9  # system calls
SEEDS = 1, 40  # of reads and writes that move fewer bytes: without --full, and with it
MOVE = "read,pread64,write,pwrite64"
WRITE = "write,pwrite64"
# System calls, what they fail with, and the statuses that may come of it beside success.
CALLS = (
    ("read,pread64", "EIO", (2, 3, 5)),
    (WRITE, "ENOSPC", (5,)),
    (MOVE + ",openat,close,fsync,flock,ftruncate,wait4,ppoll", "EINTR", (2, 3, 5)),
    ("openat", "EMFILE", (2, 3, 5, 6)),
    ("newfstatat,statx,fstat,stat,lstat", "EIO", (2, 3, 5)),
    ("access,faccessat,faccessat2,readlink,readlinkat,getcwd,statfs,fstatfs", "EACCES", (2, 3, 5)),
    ("fsync,fdatasync,msync", "EIO", (5,)),
    ("rename,renameat,renameat2,link,linkat", "EACCES", (5,)),
    ("mkdir,mkdirat", "EACCES", (5,)),
    ("getdents64", "EIO", (3, 5)),
    ("close", "EIO", (3, 5)),
    ("lseek", "EIO", (3, 5)),
    ("ftruncate,fallocate,fadvise64,madvise,copy_file_range,sendfile", "EOPNOTSUPP", (5,)),
    ("fchmod,fchmodat,chmod,fchown,utimensat", "EPERM", (5,)),
    ("unlink,unlinkat,rmdir", "EACCES", (5,)),
    ("fcntl,flock", "ENOLCK", (2, 3, 5, 6)),
    ("mmap,mremap,munmap,mprotect,brk,memfd_create", "ENOMEM", (5, 6)),
    ("pipe2,dup,dup2,dup3,clone,clone3,fork,vfork,execve", "EAGAIN", (2, 3, 5, 6)),
    ("wait4,poll,ppoll", "EINTR", (5,)),
    ("getrandom,sysinfo,sched_getaffinity,prlimit64,prctl,ioctl,close_range,rt_sigaction,rt_sigprocmask", "EINVAL", (5, 6)),
)
MAY_LEAVE = ("unlink", "rmdir", "rename")  # where it cannot be removed


def numbers(count, is_full, some, seed):
    """Which of the calls fail, each in a run of its own."""
    first = min(FIRST, some)
    if is_full or count <= some:
        return list(range(1, count + 1))
    return list(range(1, first + 1)) + sorted(random.Random(seed).sample(range(first + 1, count + 1), some - first))


def ended(tap, rig, what, tried, total, wrong):
    tap.ok(not wrong, f"{rig.verb.name}: {what}, {tried} of {total}", *wrong[:3], f"{len(wrong)} in all")


# --- memory ---------------------------------------------------------------------------------------------------

def kept(path):
    """out: (allocations, blocks that were not given back, descriptors that are open)"""
    return tuple(int(word) for word in path.read_text(encoding="ascii").split())


def allocations(tap, rig, is_full):
    told = rig.folder / "count"
    rig.run(LD_PRELOAD=FAIL_ALLOCATION, FAIL_COUNT=told)
    count, blocks, descriptors = kept(told)
    tried = numbers(count, is_full, FIRST + SOME, rig.verb.name)
    wrong = [] if rig.verb.name != "report" or count >= LEAST_ALLOCATIONS else [f"{count} allocations: the library does not see them"]
    for number in tried:
        told.unlink(missing_ok=True)
        result = rig.run(LD_PRELOAD=FAIL_ALLOCATION, FAIL_AT=number, FAIL_COUNT=told)
        if "Internal Error in libarchive" in result.err:
            continue
        said = rig.judge(rig.verb.no_memory, result)
        now = kept(told) if told.exists() else (0, 0, 0)  # a process that is killed does not say
        spare = rig.verb.keeps
        if not said and (now[1] > blocks + spare[0] or now[2] > descriptors + spare[1]):
            said = f"it keeps {now[1]} blocks and {now[2]} descriptors in place of {blocks} and {descriptors}"
        if said:
            wrong.append(f"allocation {number} of {count}: {said}\n{result}")
    ended(tap, rig, "memory", len(tried), count, wrong)


# --- system calls ---------------------------------------------------------------------------------------------

def cases_of(names):
    """The calls of a verb that can fail: (call, its number among those of that name, error, statuses)."""
    for calls, error, statuses in CALLS:
        for name in calls.split(","):
            for number in range(1, names.count(name) + 1):
                yield name, number, error, statuses


def one_call(rig, case):
    name, number, error, statuses = case
    result = rig.at(number, "--calls", name, "--fail", getattr(errno, error))
    said = rig.judge(statuses + rig.verb.more, result, name.startswith(MAY_LEAVE))
    return f"{name} {number} fails with {error}: {said}\n{result}" if said else ""


def torn(rig, case):
    """A write that ends in the middle, and no room from there on."""
    name, number, error, statuses = case
    result = rig.at(number, "--calls", WRITE, "--torn", getattr(errno, error))
    said = rig.judge(statuses + rig.verb.more, result)
    return f"{name} {number} is torn, {error}: {said}\n{result}" if said else ""


def onwards(rig, case):
    name, number, error, statuses = case
    result = rig.at(number, "--calls", name, "--fail", getattr(errno, error), "--onwards")
    said = rig.judge(statuses + rig.verb.more, result, name.startswith(MAY_LEAVE))
    return f"{name} {number} and all after it fail with {error}: {said}\n{result}" if said else ""


def fewer_bytes(tap, rig, is_full):
    wrong = []
    seeds = range(1, SEEDS[is_full] + 1)
    for seed in seeds:
        result = rig.at(0, "--short", seed)
        said = rig.judge((), result)
        if said:
            wrong.append(f"seed {seed}: {said}\n{result}")
    ended(tap, rig, "reads and writes move fewer bytes, with seeds", len(seeds), len(seeds), wrong)


def some_of(rig, cases, is_full, what):
    if is_full or len(cases) <= CALLS_OF_A_VERB:
        return cases
    return random.Random(rig.verb.name + what).sample(cases, CALLS_OF_A_VERB)


def system_calls(tap, rig, is_full, pattern):
    names = rig.calls()
    cases = [case for case in cases_of(names) if fnmatch.fnmatch(case[0], pattern)]
    writes = sum(name in WRITE.split(",") for name in names)
    half = [(WRITE, number, error, (2, 3, 5)) for number in range(1, writes + 1) for error in ("ENOSPC", "EIO")]
    lasting = [(name, number, error, (2, 3, 5, 6)) for name, error in
               (("write", "ENOSPC"), ("pwrite64", "ENOSPC"), ("fsync", "EIO"), ("openat", "EMFILE"), ("mmap", "ENOMEM"),
                ("pread64", "EIO"), ("read", "EIO"), ("getdents64", "EIO"), ("close", "EIO"))
               for number in range(1, names.count(name) + 1)]
    for what, test, all_cases in (("system calls that fail", one_call, cases), ("writes that are torn", torn, half),
                                  ("calls that fail from one on", onwards, lasting)):
        if what != "system calls that fail" and pattern not in ("*", "more"):
            continue
        chosen = some_of(rig, all_cases, is_full, what)
        wrong = [said for said in (test(rig, case) for case in chosen) if said]
        if chosen:
            ended(tap, rig, what, len(chosen), len(all_cases), wrong)


# --- all of it ------------------------------------------------------------------------------------------------

def one_verb(tap, rig, options, why_not):
    wrong = rig.undisturbed()
    if not tap.ok(not wrong, f"{rig.verb.name}: undisturbed", wrong):
        return
    if fnmatch.fnmatch("memory", options.call):
        allocations(tap, rig, options.full)
    if why_not:
        tap.skip(f"{rig.verb.name}: system calls", why_not)
        return
    if fnmatch.fnmatch("fewer", options.call):
        fewer_bytes(tap, rig, options.full)
    system_calls(tap, rig, options.full, options.call)


def main():
    parser = faulted_verbs.options_of(__doc__)
    parser.add_argument("--call", default="*", help="memory, fewer, more, or the name of a system call")
    options = parser.parse_args()
    tap = Tap()
    if SANITIZED or tracemill.UNDER:
        tap.skip("failing calls", "a checker of memory has allocations of its own")
        tap.done()
    with Scratch() as folder:
        why_not = faulted_verbs.cannot_trace()
        faulted_verbs.prepare(folder)
        for rig in faulted_verbs.rigs(folder, options.verb):
            one_verb(tap, rig, options, why_not)
    tap.done()


if __name__ == "__main__":
    main()
