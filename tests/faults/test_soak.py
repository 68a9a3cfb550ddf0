#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Long runs hold at their end what they held at their beginning: report after report in one process, and the driver of a
batch that makes a process for each of its items.

    test_soak.py [--reports N] [--items N] [--lose BYTES] [--show]

--lose: the process loses so many bytes with each report, and has to fail for it.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzz"))
import batches  # noqa: E402
import damaged_kinds  # noqa: E402
import make_profile  # noqa: E402
from growth import growth  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BINARY, BUILD, SANITIZED, Scratch  # noqa: E402

SOAK = BUILD / "tests" / "soak"
REPORTS, ITEMS = 210, 60
ROUNDS = 6  # lists of formats in soak.c
COLUMNS = ("status", "ledger", "resident_kib", "allocated", "files", "mappings", "threads")
OF_SMALL = ("xspace of a GPU", "xspace of a TPU", "jax json gz", "pytorch json")  # of the short run
LOST = 100  # bytes with each report, to see that this is noticed
# Bytes that each report may leave, as the line through all of them has it: less of a long run, of which the noise is
# less.  MiB that the most may lie above the most of the first part.
LEAST_SLOPE, NOISE, MOST_MIB, MOST_ENTRIES = 0.5, 400.0, 4, 8
WAYS = {0: "done", 2: "a choice is missing", 3: "refused", 4: "partial", 6: "a limit"}


def inputs_of(folder, is_short):
    """Whole ones, damaged ones, and what is refused."""
    kinds = [kind for kind in damaged_kinds.traces(folder / "in") if not is_short or kind.name in OF_SMALL]
    paths = []
    for kind in kinds:
        kind.write()
        paths.append(kind.path)
    if not is_short:
        kinds = [*kinds, make_kind(folder / "in", "CPU", make_profile.cpu(seed=5, steps=3, per_step=6).encode())]
        paths.append(kinds[-1].path)
    for kind in kinds[:1] if is_short else kinds:
        for name, data in (("cut", kind.data[:len(kind.data) * 2 // 3]), ("flip", flipped(kind.data))):
            path = folder / name / kind.path.parent.name / kind.path.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            paths.append(path)
    other = folder / "other.txt"
    other.write_text("no trace\n" * 50, encoding="utf-8")
    return [*paths, other, folder / "missing"]


def make_kind(folder, name, data):
    kind = damaged_kinds.Kind(name, folder / name / "host0.xplane.pb", data)
    kind.write()
    return kind


def flipped(data):
    changed = bytearray(data)
    for place in range(len(data) // 3, len(data), max(len(data) // 5, 1)):
        changed[place] ^= 0x55
    return bytes(changed)


# --- one process ---

def play(folder, reports, lost):
    """out: the process, and how many inputs there are."""
    paths = inputs_of(folder, reports < 1000)
    done = subprocess.run([SOAK, "-n", str(reports), "-l", str(lost), folder / "out", *paths], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          env={**os.environ, "SOURCE_DATE_EPOCH": "4000000000", "TMPDIR": str(folder)})
    return done, len(paths)


def soak(folder, reports, lost=0):
    """out: a list of numbers for each column."""
    done, inputs = play(folder, reports, lost)
    rows = [list(map(int, line.split("\t"))) for line in done.stdout.decode().splitlines()]
    if done.returncode or len(rows) != reports:
        raise SystemExit(f"soak: status {done.returncode} after {len(rows)} reports\n"
                         f"{done.stderr.decode(errors='replace')[-2000:]}")
    return dict(zip(COLUMNS, map(list, zip(*rows)))), inputs


def too_much(columns, warm_up, names=("allocated", "files", "mappings")):
    """What grows, as text; "" = nothing."""
    said = []
    for name in names:
        values = columns[name]
        rise, above = growth(values, warm_up)
        most = MOST_MIB << 20 if name == "allocated" else MOST_ENTRIES
        allowed = max(LEAST_SLOPE, NOISE / (len(values) - warm_up)) if name == "allocated" else most / len(values)
        if rise > allowed or above > most:
            said.append(f"{name}: {rise:.3f} more with each ({allowed:.3f} allowed), {above} more at most")
    return "; ".join(said)


def grown_resident(columns, warm_up):
    """Resident memory: its most may not rise."""
    rise, above = growth(columns["resident_kib"], warm_up)
    total_kib = rise * (len(columns["resident_kib"]) - warm_up)
    is_too_much = above > MOST_MIB << 10 and total_kib > MOST_MIB << 10
    return f"{total_kib:.0f} KiB more by its slope, {above} KiB more at most" if is_too_much else ""


def one_process(tap, options):
    with Scratch() as folder:
        began = time.monotonic()
        columns, inputs = soak(folder, options.reports, options.lose)
        seconds = time.monotonic() - began
        warm_up = min(inputs * ROUNDS, options.reports // 4)
        statuses = {WAYS.get(status, status): columns["status"].count(status) for status in sorted(set(columns["status"]))}
        name = f"{options.reports} reports in one process"
        tap.ok(not set(columns["status"]) - set(WAYS) and len(statuses) >= 3, f"{name}: {statuses}")
        tap.ok(not any(columns["ledger"]), f"{name}: the ledger is empty after each", max(columns["ledger"]))
        tap.ok(set(columns["threads"]) == {1}, f"{name}: one thread", set(columns["threads"]))
        said = too_much(columns, warm_up) if not SANITIZED else too_much(columns, warm_up, ("files",))
        tap.ok(not said, f"{name}: what is allocated, files and mappings stay", said)
        said = grown_resident(columns, warm_up) if not SANITIZED else ""  # what is freed waits there
        tap.ok(not said, f"{name}: resident memory stays", said)
        if options.show:
            show(columns, warm_up, seconds)


def show(columns, warm_up, seconds):
    for name in COLUMNS[2:6]:
        values, (rise, above) = columns[name], growth(columns[name], warm_up)
        print(f"# {name:13} {values[warm_up]:>9} after the first {warm_up}, {values[-1]:>9} at the end, "
              f"{min(values):>9} to {max(values):>9}; {rise:+.5f} with each, {above:+} at most")
    print(f"# {seconds:.1f} s")


def notices_a_leak(tap):
    """The criterion can fail; under a sanitizer its own does."""
    with Scratch() as folder:
        name = f"{LOST} lost bytes with each report are noticed"
        if SANITIZED:
            done, _ = play(folder, REPORTS // 10, LOST)
            tap.ok(done.returncode != 0 and b"LeakSanitizer" in done.stderr, name, done.returncode)
            return
        columns, inputs = soak(folder, REPORTS, LOST)
        said = too_much(columns, min(inputs * ROUNDS, REPORTS // 4))
        tap.ok("allocated" in said, name, said or "nothing was")


# --- the driver of a batch ---

def held_by(pid):
    """(resident bytes, open files) of a process; None where it is gone."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE"), len(os.listdir(f"/proc/{pid}/fd"))
    except (OSError, IndexError):
        return None


def watch(process, has_begun, every_s=0.01):
    """What it holds from the time that `has_begun` tells."""
    held, begun = [], False
    while process.poll() is None:
        begun = begun or has_begun()
        now = held_by(process.pid) if begun else None
        if now and now[0]:
            held.append(now)
        time.sleep(every_s)
    return held


def make_items(root, count):
    data = make_profile.gpu(seed=1, steps=2, devices=1, per_step=4).encode()
    for number in range(count):
        whole = number % 10 != 9
        batches.write(root / f"job-{number % 100:03}" / f"{number // 100:05}" / "host0.xplane.pb",
                      data if whole else data[:len(data) * 2 // 3])


def driver(tap, options):
    """The work of a batch: what its driver holds does not grow from the end of the first item, when it has the manifest."""
    with Scratch() as folder:
        make_items(folder / "root", options.items)
        manifest, out = folder / "manifest.jsonl", folder / "out"
        batches.scan(folder / "root", manifest)
        began = time.monotonic()
        process = subprocess.Popen([BINARY, "batch", "run", "--manifest", manifest, "-o", out, "--format", "json",
                                    "--memory", "32M", "--quiet"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        held = watch(process, lambda: any(out.glob("runs/*/*/result.json")))
        seconds = time.monotonic() - began
        name = f"a batch of {options.items} items"
        results = sum(1 for _ in out.glob("runs/*/*/result.json"))
        tap.ok(process.returncode == 4 and results == options.items, f"{name}: all are worked",
               f"status {process.returncode}, {results} results")
        tap.ok(len(held) > 4, f"{name}: its driver is watched", len(held))
        resident, files = ([row[i] for row in held] for i in (0, 1))
        rise, above = growth(resident, len(held) // 4)
        tap.ok(SANITIZED or above <= 2 << 20, f"{name}: the driver's memory stays", f"{above} bytes more at most")
        tap.ok(growth(files, len(held) // 4)[1] <= 4, f"{name}: the driver's open files stay", max(files))
        if options.show:
            print(f"# {seconds:.1f} s, looked at {len(held)} times: resident {min(resident) >> 10} to {max(resident) >> 10} "
                  f"KiB, {above >> 10:+} KiB after the first quarter, {rise * len(held) / 1024:+.0f} KiB by the slope; "
                  f"files {min(files)} to {max(files)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reports", type=int, default=REPORTS)
    parser.add_argument("--items", type=int, default=ITEMS)
    parser.add_argument("--lose", type=int, default=0, metavar="BYTES")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    tap = Tap()
    one_process(tap, options)
    notices_a_leak(tap)
    if options.items:
        driver(tap, options)
    tap.done()


if __name__ == "__main__":
    main()
