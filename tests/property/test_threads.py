#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One file that is read with several threads, whose figures are computed by two processes, and whose outputs are written by
several (--jobs): every output has the bytes that one thread gives, whatever is wrong with the file, whatever the memory; without
threads it works as well; and a signal ends all of them."""

import gzip
import random
import shutil
import signal
import sys
import time
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import batches  # noqa: E402
import make_profile  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BINARY, BUILD, SANITIZED, UNDER, Scratch, run  # noqa: E402

STEPS = 800  # enough for threads: 1.3 MB of gzip, 5 MB of XSpace
# Under a sanitizer: threads read, and processes write.  More jobs than two are more processes, not more threads.
FORMATS = "json" if SANITIZED else "json,html,pdf,text,markdown,csv,partial"
JOBS = (2,) if SANITIZED else (2, 3, 8)
TRIES = 4
# What one thread writes says the ordinary program, which a sanitizer does not slow down; its folder holds that of the sanitizer.
ORDINARY = BUILD.parent / "tracemill"
ONE_THREAD = ORDINARY if SANITIZED and ORDINARY.exists() else BINARY
# A library that is preloaded, and ends who starts a thread, or refuses to make one.
NO_THREADS = BUILD / "tests" / "no_threads.so"


def write(path, data):
    path.write_bytes(data)
    return path


def outputs(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def play(folder, jobs, *words, **environment):
    """out: what was written, its messages without the name of the folder, its status, the result"""
    out = folder / f"out-{jobs}"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    words = [str(word).replace("OUT", str(out)) for word in words]
    result = run(*words, "--jobs", jobs, binary=ONE_THREAD if jobs == 1 else BINARY, TMPDIR=folder, **environment)
    said = (result.out + result.err).replace(str(out), "OUT")
    return outputs(out), said, result.status, result


def same(tap, folder, label, *words, statuses=(0,), jobs=JOBS, **environment):
    files, said, status, result = play(folder, 1, *words)
    tap.ok(status in statuses and (bool(files) or words[0] == "inspect" or status == 3), f"{label}: one thread", result)
    for number in jobs:
        others, other_said, other_status, other = play(folder, number, *words, **environment)
        wrong = [name for name in sorted(set(files) | set(others)) if files.get(name) != others.get(name)][:8]
        wrong += ["messages"] * (said != other_said) + ["status"] * (status != other_status)
        tap.ok(not wrong, f"{label}: --jobs {number}", f"differ: {wrong}", other)


def report(path, *options):
    return ("report", path, "-o", "OUT/report", "--format", FORMATS, *options)


def damaged_gzips(packed, text):
    """What the fast engine and zlib see differently, and what neither takes."""
    middle = len(packed) * 2 // 3
    half = len(text) // 2
    yield "a byte that is wrong", packed[:middle] + bytes([packed[middle] ^ 0x55]) + packed[middle + 1:], (0, 4)
    yield "cut", packed[:middle], (0, 4)
    yield "a wrong checksum", packed[:-8] + b"\1\2\3\4" + packed[-4:], (0, 4)
    yield "bytes behind it", packed + b"more", (0, 4)
    yield "two members", gzip.compress(text[:half], 1) + gzip.compress(text[half:], 6), (0,)
    store = zlib.compressobj(0, zlib.DEFLATED, 31)
    yield "stored", store.compress(text) + store.flush(), (0,)


def events_of_all_lengths(seed):
    """A JSON of a few MB whose events are shorter or longer than what is copied when a block of the thread ends, than a block
    and than the window, with white space and texts that end anywhere."""
    dice = random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"

    def text(length):
        return "".join(dice.choices(letters, k=length))

    events = ['{"ph":"M","pid":1,"name":"process_name","args":{"name":"/host:CPU"}}']
    for i in range(6000):
        length = dice.choice([0, 10, 300, 300, 2000, 15000, 17000] if i % 300 else [100_000, 239_000, 250_000, 262_000, 600_000])
        name = text(length % 50 if dice.random() < 0.5 or length > 100 else length)
        arguments = f',"args":{{"long":"{text(length)}","n":{i}}}' if length else ""
        space = " " * (dice.choice([0, 0, 0, 1, 40]) if i % 500 else 300_000)
        escaped = "\\u00e9\\n" if dice.random() < 0.1 else ""
        events.append(f'{space}{{"ph":"X","pid":1,"tid":{1 + i % 3},"ts":{i * 10}.{i % 1000:03},"dur":{3 + i % 5},'
                      f'"name":"{name}{escaped}"{arguments}}}')
    return ('{"displayTimeUnit":"ns","traceEvents":[' + ",\n".join(events) + "]}").encode()


def read_lengths(tap, folder):
    for seed in range(1 if SANITIZED else 3):
        path = write(folder / "lengths.trace.json.gz", gzip.compress(events_of_all_lengths(seed), 1))
        same(tap, folder, f"events of all lengths, {seed}", *report(path), statuses=(0, 4), jobs=JOBS[:1])
        same(tap, folder, f"events of all lengths, {seed}: trace", "convert", path, "-o", "OUT/a.json", statuses=(0, 4),
             jobs=JOBS[:1])
        path.unlink()


def read_gzips(tap, folder, space):
    text = make_profile.chrome_json(space)
    packed = gzip.compress(text, 6)
    path = write(folder / "host.trace.json.gz", packed)
    same(tap, folder, "JSON", *report(path))
    same(tap, folder, "JSON, 32M", *report(path, "--memory", "32M"), jobs=(2,))
    same(tap, folder, "JSON, inspect", "inspect", path, "--json", jobs=(2,))
    same(tap, folder, "JSON, convert", "convert", path, "-o", "OUT/a.pftrace", jobs=(2,))
    for label, data, statuses in damaged_gzips(packed, text):
        path = write(folder / "damaged.trace.json.gz", data)
        same(tap, folder, f"JSON, {label}", *report(path), statuses=statuses, jobs=(2,))
        same(tap, folder, f"JSON, {label}, --strict", *report(path, "--strict"), statuses=(0, 3), jobs=(2,))


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


def threads_are_made(tap, folder):
    """Of large compressed files and for large traces, where --jobs lets it; and a system that makes none is no failure."""
    works = [report(folder / "host.trace.json.gz"), report(folder / "host.xplane.pb.gz"),
             report(folder / "twice.xplane.pb"), ("convert", folder / "host.xplane.pb", "-o", "OUT/a.pftrace")]
    for words in works:
        label = f"{words[0]} {words[1].name}"
        one = play(folder, 1, *words, LD_PRELOAD=NO_THREADS)
        tap.ok(one[2] == 0, f"{label}: --jobs 1 starts no thread", one[3])
        two = play(folder, 2, *words, LD_PRELOAD=NO_THREADS)
        tap.ok(two[2] < 0 and "began a thread" in two[3].err, f"{label}: --jobs 2 starts one", two[3])
        same(tap, folder, f"{label}, no thread can be made", *words, jobs=(2,), LD_PRELOAD=NO_THREADS,
             TM_NO_THREADS="refuse")


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


def ended(tap, folder):
    """By a signal, at some moments of its work."""
    place = folder / "tmp"
    for number in (signal.SIGTERM, signal.SIGKILL):
        for wait in (0.0, 0.02, 0.05, 0.1):
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            process = batches.start("report", folder / "host.trace.json.gz", "-o", place / "out", "--jobs", "2",
                                    TMPDIR=str(place))
            time.sleep(wait)
            batches.kill(process.pid, number)
            process.communicate(timeout=60)
            left = [str(path) for path in place.rglob("*") if path.is_file() and path.suffix not in (".html", ".pdf", ".txt", ".json")]
            is_signal = process.returncode in (-number, 128 + number)
            tap.ok((is_signal or process.returncode == 0) and (number == signal.SIGKILL or not left),
                   f"signal {number} after {wait} s: it ends, and nothing is left", process.returncode, left)


def main():
    tap = Tap()
    space = make_profile.gpu(seed=11, steps=STEPS)
    with Scratch() as folder:
        read_gzips(tap, folder, space)
        read_lengths(tap, folder)
        read_spaces(tap, folder, space)
        if not SANITIZED and not UNDER:
            threads_are_made(tap, folder)
            no_room(tap, folder)
            helpers_end(tap, folder)
            no_room_for_stages(tap, folder)
        ended(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
