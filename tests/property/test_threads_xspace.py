#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What test_threads.py shows of a JSON, of an XSpace; and that the processes of a report with several jobs end together, and
that what they cannot write is an error."""

import gzip
import shutil
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import batches  # noqa: E402
import make_profile  # noqa: E402
from tap import Tap  # noqa: E402
from test_threads import STEPS, play, report, same, threads_are_made, write  # noqa: E402
from tracemill import SANITIZED, UNDER, Scratch  # noqa: E402

TRIES = 4


def read_spaces(tap, folder, space):
    whole = space.encode()
    path = write(folder / "host.xplane.pb", whole)
    same(tap, folder, "XSpace", *report(path))
    same(tap, folder, "XSpace, 32M", *report(path, "--memory", "32M"), jobs=(2,))
    same(tap, folder, "XSpace, inspect", "inspect", path, "--json", jobs=(2,))
    same(tap, folder, "XSpace, convert", "convert", path, "-o", "OUT/a.pftrace", jobs=(2,))
    same(tap, folder, "XSpace, convert, 32M", "convert", path, "-o", "OUT/a.pftrace", "--memory", "32M", jobs=(2,))
    same(tap, folder, "XSpace, split", "split", path, "-o", "OUT/parts", "--by", "time=1s", "--overview", jobs=(2,))
    same(tap, folder, "XSpace in a gzip", *report(write(folder / "host.xplane.pb.gz", gzip.compress(whole, 1))), jobs=(2,))
    large = write(folder / "twice.xplane.pb", whole * 2)  # one message, as a whole; read ahead by a thread
    same(tap, folder, "large XSpace", *report(large), jobs=(2,))
    same(tap, folder, "large XSpace, 32M", *report(large, "--memory", "32M"), jobs=(2,))
    same(tap, folder, "large XSpace, cut", *report(write(folder / "cut.xplane.pb", (whole * 2)[:-len(whole) // 9])),
         statuses=(0, 4), jobs=(2,))
    cut = write(folder / "cut.xplane.pb", whole[:-len(whole) // 9])
    same(tap, folder, "XSpace, cut", *report(cut), statuses=(0, 4), jobs=(2,))


def next_children(process, before=()):
    """The children that are there as soon as one is that was not before; [] = the process has ended."""
    end, found = time.monotonic() + 60, []
    while not set(found) - set(before) and time.monotonic() < end and process.poll() is None:
        found = batches.children(process)
    return sorted(set(found) - set(before))


def helpers_end(tap, folder):
    """A process that computes some of the figures, and then those that write the outputs: one that is killed is an error, and
    nothing of the report is there; none goes on when the program ends."""
    large = write(folder / "large.xplane.pb", (folder / "host.xplane.pb").read_bytes() * 10)  # one message, as a whole
    for target, said in (("a process of stages", "computed some figures was terminated by signal 9"),
                         ("a writer", "wrote an output was terminated by signal 9"),
                         ("the program with stages", None), ("the program with writers", None)):
        for _ in range(TRIES):
            place = folder / "tmp"
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            process = batches.start("report", large, "-o", place / "out", "--jobs", "2", TMPDIR=str(place))
            found = next_children(process)
            if "writer" in target:
                found = next_children(process, before=found)
            if found:
                batches.kill(found[0] if said else process.pid)
            _, err = process.communicate(timeout=60)
            err = err.decode("utf-8", "replace")
            if process.returncode != 0:  # else what was to be killed had ended before it was seen, on a busy machine
                break
        if said:
            left = [str(path) for path in place.rglob("*") if path.is_file()]
            tap.ok(found and process.returncode == 6 and said in err and "--jobs 1" in err and not left,
                   f"{target} is killed: an error, and no file", process.returncode, err, left)
        tap.ok(found and batches.wait_for_end(found), f"{target} is killed: no process goes on", found)


def no_room_for_stages(tap, folder):
    """What the process of stages cannot write is an error with its message, as if there were one process."""
    for number in (1, 2):
        files, said, status, result = play(folder, number, *report(folder / "large.xplane.pb", "--memory", "96M"),
                                           under=["sh", "-c", 'ulimit -f 1; exec "$@"', "sh", *UNDER])
        tap.ok(status == 5 and not files and "cannot write" in said, f"no room for spill files: --jobs {number}", result)


def no_room(tap, folder):
    """An output that cannot be written has the same message.  Of a profile for which nothing else is written."""
    small = write(folder / "small.xplane.pb", make_profile.gpu(seed=11, steps=STEPS // 8).encode())
    limited = ["sh", "-c", 'ulimit -f 40; exec "$@"', "sh", *UNDER]
    for number in (1, 2, 8):
        files, said, status, result = play(folder, number, *report(small), under=limited)
        if number == 1:
            first = said, status
        tap.ok(status == 5 and not files and (said, status) == first, f"a limit on files: --jobs {number}", result, first)


def main():
    tap = Tap()
    space = make_profile.gpu(seed=11, steps=STEPS)
    with Scratch() as folder:
        read_spaces(tap, folder, space)
        if not SANITIZED and not UNDER:
            threads_are_made(tap, folder, [report(folder / "host.xplane.pb.gz"), report(folder / "twice.xplane.pb"),
                                           ("convert", folder / "host.xplane.pb", "-o", "OUT/a.pftrace")])
            no_room(tap, folder)
            helpers_end(tap, folder)
            no_room_for_stages(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
