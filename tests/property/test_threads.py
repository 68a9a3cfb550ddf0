#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A JSON that is read with several threads, whose figures are computed by two processes, and whose outputs are written by
several (--jobs): every output has the bytes that one thread gives, whatever is wrong with the file, whatever the memory; without
threads it works as well; and a signal ends all of them.  Of an XSpace: test_threads_xspace.py."""

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


def threads_are_made(tap, folder, works):
    """Of large compressed files and for large traces, where --jobs lets it; and a system that makes none is no failure."""
    for words in works:
        label = f"{words[0]} {words[1].name}"
        one = play(folder, 1, *words, LD_PRELOAD=NO_THREADS)
        tap.ok(one[2] == 0, f"{label}: --jobs 1 starts no thread", one[3])
        two = play(folder, 2, *words, LD_PRELOAD=NO_THREADS)
        tap.ok(two[2] < 0 and "began a thread" in two[3].err, f"{label}: --jobs 2 starts one", two[3])
        same(tap, folder, f"{label}, no thread can be made", *words, jobs=(2,), LD_PRELOAD=NO_THREADS,
             TM_NO_THREADS="refuse")


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
        if not SANITIZED and not UNDER:
            threads_are_made(tap, folder, [report(folder / "host.trace.json.gz")])
        ended(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
