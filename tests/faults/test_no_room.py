#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every verb where room is lacking: disks of growing sizes, with and without an older output on them, disks without a free
inode, disks that cannot be written, files that may not grow, too few descriptors, too little address space, a standard
output that is closed, full or that nobody reads.  It does all of its work or says what failed, and leaves nothing
that is not whole.

    test_no_room.py [--full] [--verb PATTERN] [--of PATTERN]

Without --full some sizes of each, with it all in steps of 4 KiB until there is room enough.
"""

import fnmatch
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import faulted_verbs  # noqa: E402
import tracemill  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import SANITIZED, Scratch, run  # noqa: E402

PAGE = 4096
MIB = 1 << 20
INSIDE = "TM_MOUNTS_OF_ITS_OWN"


def mounts_of_its_own():
    """Run this program again with mounts that nobody else sees.  out: why that cannot be; "" = it is so"""
    if os.environ.get(INSIDE):
        return ""
    for prefix in (["unshare", "--mount"], ["unshare", "--user", "--map-root-user", "--mount"]):
        with Scratch() as folder:
            command = [*prefix, "mount", "-t", "tmpfs", "none", str(folder)]
            works = shutil.which("unshare") and subprocess.run(command, capture_output=True, check=False).returncode == 0
        if works:
            os.environ[INSIDE] = "1"
            os.execvp(prefix[0], [*prefix, sys.executable, *sys.argv])
    return "no right to mount a small file system"


def system(*words):
    subprocess.run([str(word) for word in words], check=True, capture_output=True)


class Disk:
    """A file system of its own on a folder: `with Disk(folder, "size=64k"):`."""

    def __init__(self, folder, options):
        self.folder, self.options = folder, options

    def __enter__(self):
        system("mount", "-t", "tmpfs", "-o", self.options, "none", self.folder)
        return self

    def __exit__(self, *_):
        system("umount", self.folder)

    def becomes(self, options):
        system("mount", "-o", f"remount,{options}", "none", self.folder)


class Count:
    """Cases of a verb, and what was wrong with them."""

    def __init__(self, tap, rig, what):
        self.tap, self.rig, self.what, self.cases, self.refused, self.wrong = tap, rig, what, 0, 0, []

    def add(self, case, result, said):
        self.cases += 1
        self.refused += result.status != self.rig.verb.status
        if said:
            self.wrong.append(f"{case}: {said}\n{result}")

    def tell(self, enough=True):
        self.tap.ok(not self.wrong and enough, f"{self.rig.verb.name}: {self.what}, {self.cases} of them, {self.refused} refused",
                    *self.wrong[:3], f"{len(self.wrong)} in all", "" if enough else "it never had room enough")


def bytes_of(folder):
    """What a folder takes of a disk."""
    return sum(-(-p.stat().st_size // PAGE) * PAGE for p in folder.rglob("*") if p.is_file()) if folder else 0


def sizes(least, most, is_full):
    """Up to where there is room for all in any case."""
    steps = (most - least) // PAGE
    if is_full:
        return [least + PAGE * n for n in range(1, steps + 2)]
    return sorted({least + PAGE * max(1, steps * part // 100) for part in (1, 50)} | {most + PAGE})


# --- disks ----------------------------------------------------------------------------------------------------

def attempt(rig, disk, statuses, grown, words=()):
    rig.fresh()
    result = rig.run(keeps=True, more=words)
    disk.becomes(grown)
    return result, rig.judge(statuses + rig.verb.more, result)


def grow(count, rig, place, disks, is_full, words=()):
    """With larger and larger disks at a place, to the first one that is large enough."""
    last = None
    for size in disks:
        with Disk(place, f"size={size}") as disk:
            last, said = attempt(rig, disk, (5,), "size=64m", words)
        count.add(f"{size} bytes", last, said)
        if last.status == rig.verb.status and not said and is_full:
            break
    count.tell(last is not None and last.status == rig.verb.status)


def full_disk(tap, rig, is_full):
    """Of what the verb writes, and of older outputs where it has some, which are as they were where it fails."""
    count = Count(tap, rig, "disks that are too small")
    given = bytes_of(rig.folder / rig.verb.given) if rig.verb.given else 0
    need = given + 2 * max(sum(p.stat().st_size + PAGE for p in rig.out.rglob("*")), PAGE)
    grow(count, rig, rig.out, sizes(given, need + 64 * PAGE, is_full), is_full)


def full_spill(tap, rig, is_full):
    count = Count(tap, rig, "disks for spill files that are too small")
    grow(count, rig, rig.folder / "tmp", [PAGE * n for n in range(1, 1025)] if is_full else sizes(0, 4 * MIB, False), is_full,
         ("--tmp", "tmp"))


def few_inodes(tap, rig, is_full):
    count = Count(tap, rig, "disks with too few inodes")
    given = sum(1 for _ in (rig.folder / rig.verb.given).rglob("*")) if rig.verb.given else 0
    need = given + 2 * len(rig.whole) + 8
    for number in range(given + 1, need, 1 if is_full else max(1, (need - given) // 2)):
        with Disk(rig.out, f"nr_inodes={number}") as disk:
            result, said = attempt(rig, disk, (5,), "nr_inodes=4096")
        count.add(f"{number} inodes", result, said)
    count.tell()


def read_only(tap, rig):
    count = Count(tap, rig, "a disk that cannot be written")
    with Disk(rig.out, "size=64m") as disk:
        rig.fresh()
        disk.becomes("ro")
        result = rig.run(keeps=True)
        left = faulted_verbs.files(rig.out)
        disk.becomes("rw")
        said = "it wrote" if left != rig.before else rig.judge((5,) + rig.verb.more, result)
    count.add("read-only", result, said)
    count.tell()


# --- limits ---------------------------------------------------------------------------------------------------

def judge_limit(rig, status, result, what, remedy):
    """A limit of the process has one status, whoever runs into it, and says what it is and what to try; items of a batch and
    scripts have a message of their own."""
    if rig.verb.name == "submit":  # the script that it begins runs into the limit, too
        return rig.judge((5, status) + rig.verb.more, result)
    said = rig.judge((status,) + rig.verb.more, result)
    if said or result.status != status:
        return said
    return "" if what in result.err and f"hint: allow the process {remedy}" in result.err else "it does not tell of the limit"


def file_size(tap, rig, is_full):
    largest = max((p.stat().st_size for p in rig.out.rglob("*") if p.is_file()), default=0)
    numbers = range(0, largest + PAGE, PAGE) if is_full else (0, largest // 2, largest - 1)
    count = Count(tap, rig, "files that may not grow")
    for number in numbers:
        result = rig.run(under=["prlimit", f"--fsize={number}"])
        count.add(f"{number} bytes", result, judge_limit(rig, 5, result, "File too large", "larger files: 'ulimit -f unlimited'"))
    count.tell()


def few_descriptors(tap, rig, is_full):
    count = Count(tap, rig, "too few descriptors")
    for number in range(4, 24, 1 if is_full else 6):  # the loader needs the fourth
        result = rig.run(under=["prlimit", f"--nofile={number}"])
        count.add(f"{number} descriptors", result,
                  judge_limit(rig, 6, result, "Too many open files", "more open files: 'ulimit -n 256'"))
    count.tell(not is_full or result.status == rig.verb.status)


def least_space(folder):
    """Where the program itself can begin, in MiB."""
    low, high = 1, 4096
    while low < high:
        middle = (low + high) // 2
        result = run("version", cwd=folder, under=["prlimit", f"--as={middle * MIB}"])
        low, high = (low, middle) if result.status == 0 else (middle + 1, high)
    return low


def little_space(tap, rig, least, is_full):
    count = Count(tap, rig, "too little address space")
    for number in range(least, least + (320 if is_full else 48), 2 if is_full else 24):
        result = rig.run(under=["prlimit", f"--as={number * MIB}"])
        if "Internal Error in libarchive" in result.err:
            continue
        count.add(f"{number} MiB", result, rig.judge(rig.verb.no_memory + rig.verb.more, result))
        if is_full and result.status == rig.verb.status and number > least + 64:
            break
    count.tell()


# --- standard streams -----------------------------------------------------------------------------------------

def streams(tap, rig):
    """Closed, full, or read by nobody."""
    count = Count(tap, rig, "standard streams that are closed or full")
    shell = ["sh", "-c"]
    for what, redirection in (("stdout closed", ">&-"), ("stdout full", ">/dev/full"), ("stderr closed", "2>&-"),
                              ("stderr full", "2>/dev/full"), ("both closed", ">&- 2>&-"), ("stdin closed", "<&-"),
                              ("all closed", "<&- >&- 2>&-")):
        if rig.stdin is not None and "<" in redirection:
            continue
        result = rig.run(under=[*shell, f'exec "$@" {redirection}', "sh"])
        count.add(what, result, stream_problem(rig, result, redirection))
    rig.fresh()
    result = rig.run(under=[*shell, '{ "$@"; echo $? >status; } | sleep 0', "sh"])
    status = int((rig.folder / "status").read_text(encoding="ascii"))
    whole = faulted_verbs.files(rig.out) == rig.whole
    count.add("nobody reads", result, "" if status == rig.verb.status and whole else f"status {status}, whole: {whole}")
    count.tell()


def stream_problem(rig, result, redirection):
    whole = faulted_verbs.files(rig.out) == rig.whole
    if result.crashed:
        return "it crashed"
    if result.status == rig.verb.status:
        loses = ">&-" in redirection.replace("2>&-", "") or redirection == ">/dev/full"
        if loses and rig.said:
            return "it says all is well, and printed nothing"
        return "" if whole else "it says all is well, and has other files"
    if result.status != 5:
        return f"status {result.status}"
    return "" if "2>" in redirection or "tracemill: " in result.err else "it does not say what failed"


# --- all of it ------------------------------------------------------------------------------------------------

SPILLS = ("report-stdin", "report-tar", "report-gzip", "report", "compare", "pftrace")


def one_verb(tap, rig, options, least, why_not):
    problem = rig.undisturbed()
    if not tap.ok(not problem, f"{rig.verb.name}: undisturbed", problem):
        return
    writes = rig.whole != rig.before
    is_full = options.full
    tests = [("fsize", lambda: file_size(tap, rig, is_full), writes), ("nofile", lambda: few_descriptors(tap, rig, is_full), True),
             ("as", lambda: little_space(tap, rig, least, is_full), True), ("streams", lambda: streams(tap, rig), True)]
    disks = [("size", lambda: full_disk(tap, rig, is_full), writes), ("inodes", lambda: few_inodes(tap, rig, is_full), writes),
             ("ro", lambda: read_only(tap, rig), writes),
             ("spill", lambda: full_spill(tap, rig, is_full), rig.verb.name in SPILLS)]
    for name, test, applies in tests + disks:
        if not applies or not fnmatch.fnmatch(name, options.of):
            continue
        if why_not and (name, test, applies) in disks:
            tap.skip(f"{rig.verb.name}: {name}", why_not)
            continue
        rig.run()
        test()


def main():
    parser = faulted_verbs.options_of(__doc__)
    parser.add_argument("--of", default="*", help="size, inodes, ro, spill, fsize, nofile, as, streams")
    options = parser.parse_args()
    why_not = mounts_of_its_own()
    tap = Tap()
    if SANITIZED or tracemill.UNDER:
        tap.skip("no room", "a checker of memory has files and memory of its own")
        tap.done()
    with Scratch() as folder:
        faulted_verbs.prepare(folder)
        least = least_space(folder)
        for rig in faulted_verbs.rigs(folder, options.verb):
            one_verb(tap, rig, options, least, why_not)
    tap.done()


if __name__ == "__main__":
    main()
