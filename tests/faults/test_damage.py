#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of every kind, cut and with single bytes changed: an exit status that is documented, a message where it is not
0, an end, memory within its limit; and nothing is lost in silence.

    test_damage.py [--full] [--only KIND] [--part I/N] [--cuts N] [--flips N]      KIND: or "others"

    --full: every length, 10,000 of larger files, 100,000 changes in all; --part 2/3: the second third of the kinds.
    Cuts and changes are those of random.Random("cut-KIND") and ("flip-KIND"): the same in every run.

What `nothing is lost in silence` can mean: after a cut, and where the format has a checksum, status 0 comes with the
figures of the whole file, bit for bit. Elsewhere a changed byte may be another figure, and nobody can tell; but status
0 comes with all events, or the tallies say what happened to the others. What is left of a cut profile has the figures
of a whole profile of the events that are whole. A byte that changes in the plane of one device, or in the file of one
host, leaves the figures of other devices as they are, but for those that refer to the window of all of them."""

import argparse
import collections
import json
import random
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzz"))
import damaged_kinds  # noqa: E402
import make_profile  # noqa: E402
from damaged_kinds import MEMORY_MIB  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BUILD, SANITIZED, UNDER, Scratch, summary_of  # noqa: E402

PROGRAM = BUILD / "tests" / "damage"
OVERHEAD_MIB = 16
SLOW = SANITIZED or bool(UNDER)
CUTS, FLIPS = (3, 3) if SLOW else (40, 60)
FULL_CUTS, FULL_FLIPS, LARGE_FLIPS = 10_000, 100_000, 100
IN_MEMORY = "/dev/shm"
SECONDS = 20 if SLOW else 5  # of CPU, for one case: a whole one takes 0.003 to 0.06


def play(kind, cases):
    """The line of each case, after that of the whole file."""
    looked_at = ["-s", kind.summary] if kind.summary else ["-w", kind.written] if kind.written else []
    command = [PROGRAM, "-c", SECONDS, *looked_at, kind.path, "--", *kind.arguments]
    done = subprocess.run(list(map(str, command)), input="\n".join(["whole", *cases, ""]), capture_output=True, text=True,
                          check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode != 0 or len(lines) != len(cases) + 1:
        raise SystemExit(f"damage of {kind.name}: {done.returncode} after {len(lines)} lines: {done.stderr[-500:]}")
    if kind.path.read_bytes() != kind.data:
        raise SystemExit(f"damage of {kind.name}: the file is not whole again")
    return lines[0], lines[1:]


def problem_of(kind, got):
    """What is wrong with any ending."""
    if got["sanitizer"] or got["status"] >= 126 or got["status"] not in kind.statuses:
        return "ended badly"
    tells_on_stdout = kind.arguments[0] == "inspect" and got["status"] == 4
    if got["status"] not in (0, 1) and not tells_on_stdout and not got["said"].startswith("tracemill: "):
        return "no message"
    if not SLOW and got["rss_kib"] > (MEMORY_MIB + OVERHEAD_MIB) << 10:
        return "too much memory"
    if kind.summary and (got["digest"] is not None) != (got["status"] in (0, 4)):
        return "a summary that should not be, or none"
    if kind.written and got["wrote"] != (got["status"] in (0, 4)):
        return "a file that should not be, or none"
    if got["partial"] and got["status"] != 4:
        return "partial, and yet not 4"
    return ""


def is_same(got, whole):
    return all(got[key] == whole[key] for key in ("digest", "events", "out"))


def silence_after_cut(kind, length, got, whole):
    if got["status"] == 0 and length not in kind.borders and not is_same(got, whole):
        return "cut, and not a word"
    if kind.summary and (got["events"] or 0) > whole["events"]:
        return "more events than there were"
    return ""


def silence_after_flip(kind, place, got, whole):
    if got["status"] != 0 or is_same(got, whole):
        return ""
    if kind.checked and place not in kind.unchecked:
        return "changed under a checksum, and not a word"
    if kind.summary and got["events"] < whole["events"] and got["tallies"] == whole["tallies"]:
        return f"{got['events']} events of {whole['events']}, and not a word"
    return ""


class Counts:
    """Of all kinds: what they came to."""

    def __init__(self):
        self.cuts = self.flips = self.rss_kib = self.cpu_ms = 0
        self.statuses = collections.Counter()
        self.by_kind = {}

    def take(self, kind, after_cut, after_flip, whole):
        results = after_cut + after_flip
        statuses = collections.Counter(got["status"] for got in results)
        self.by_kind.setdefault(kind.name, collections.Counter()).update(statuses)
        self.by_kind[kind.name]["same"] += sum(is_same(got, whole) for got in results)
        self.statuses += statuses
        self.cuts += len(after_cut)
        self.flips += len(after_flip)
        self.rss_kib = max([self.rss_kib, *(got["rss_kib"] for got in results)])
        self.cpu_ms = max([self.cpu_ms, *(got["cpu_ms"] for got in results)])

    def print(self):
        for name, counts in self.by_kind.items():
            said = ", ".join(f"{counts[status]} x {status}" for status in sorted(s for s in counts if s != "same"))
            print(f"# {name}: {said}; {counts['same']} with the result of the whole file")
        print(f"# {self.cuts} cuts, {self.flips} bytes changed, at most {self.rss_kib} KiB and {self.cpu_ms} ms of CPU: {dict(sorted(self.statuses.items()))}")


def check(tap, kind, counts, cuts, flips):
    kind.write()
    lengths = damaged_kinds.cuts_of(kind.data, cuts, kind.name)
    changes = list(damaged_kinds.flips_of(kind.data, flips, kind.name))
    whole, results = play(kind, [f"cut {n}" for n in lengths] + [f"set {place} {byte}" for place, byte in changes])
    tap.ok(whole["status"] == 0 and not problem_of(kind, whole), f"{kind.name}: whole", whole)
    after_cut, after_flip = results[:len(lengths)], results[len(lengths):]
    counts.take(kind, after_cut, after_flip, whole)
    wrong = [f"{n} bytes: {why}: {got}" for n, got in zip(lengths, after_cut)
             if (why := problem_of(kind, got) or silence_after_cut(kind, n, got, whole))]
    tap.ok(not wrong, f"{kind.name}: cut at {len(lengths)} of {len(kind.data)} places", f"{len(wrong)} are wrong", *wrong[:8])
    wrong = [f"byte {place} is {byte}, was {kind.data[place]}: {why}: {got}" for (place, byte), got in zip(changes, after_flip)
             if (why := problem_of(kind, got) or silence_after_flip(kind, place, got, whole))]
    tap.ok(not wrong, f"{kind.name}: {len(changes)} bytes changed", f"{len(wrong)} are wrong", *wrong[:8])


def check_swallowed(tap):
    """Events that a wrong length makes statistics of the event before them are no statistics: that is told."""
    data = make_profile.gpu(seed=2, steps=2, devices=1, per_step=6).encode()
    with Scratch() as folder:
        kind = damaged_kinds.Kind("swallowed", folder / "host0.xplane.pb", data)
        kind.write()
        changes = list(damaged_kinds.swallowing(data))
        whole, results = play(kind, [f"set {place} {byte}" for place, byte in changes])
        silent = [f"byte {place}: {got}" for (place, _), got in zip(changes, results)
                  if got["status"] != 4 or got["events"] >= whole["events"]]
    tap.ok(len(changes) > 20 and not silent, f"{len(changes)} events that swallow the next one", *silent[:5])


TOLD_OF_DAMAGE = ("input", "coverage", "kpis", "verdict", "findings")  # and the marks beside key figures


def difference_of_rest(path, folder, data, length):
    """Between a profile that is cut and a whole one of what is whole in it; "" = none."""
    summaries = []
    for content in (data[:length], damaged_kinds.closed_space(data, length)):
        path.write_bytes(content)
        (folder / "summary.json").unlink(missing_ok=True)
        result, summary = summary_of(path, folder)
        summaries.append(summary)
    cut, closed = summaries
    if cut is None or closed is None:
        return "" if result.status in (3, 4) or closed["coverage"]["events_read"] == 0 else f"{length} bytes: {result}"
    wrong = [key for key in cut if key not in TOLD_OF_DAMAGE and cut[key] != closed[key]]
    if cut["coverage"]["events_read"] != closed["coverage"]["events_read"]:
        wrong.append("coverage.events_read")
    return wrong and f"{length} bytes: {wrong}"


def check_rest(tap, count):
    for kind in ("gpu", "tpu", "cpu"):
        data = make_profile.MAKERS[kind](seed=5, steps=3, devices=2, per_step=8).encode()
        lengths = random.Random(f"rest-{kind}").sample(sorted(damaged_kinds.within_lines(data)), count)
        with Scratch() as folder:
            wrong = [why for n in lengths if (why := difference_of_rest(folder / "host0.xplane.pb", folder / "out", data, n))]
        tap.ok(not wrong, f"{kind}: the figures of what is left, at {count} cuts", *wrong[:5])


ALL_STEPS = ["--steps", "all"]  # a device that lost a step would make it incomplete, and others would not count it either


def plane_contents(data):
    """(begin, end) of what is in each plane: whoever changes a byte there changes this plane alone."""
    return [(value, end) for tag, _, value, end in damaged_kinds.whole_fields(data, 0, len(data)) if tag == damaged_kinds.PLANE << 3 | 2]


def others_of(whole, got, own):
    """The rows of devices but those that `own` numbers, which are gone or not as they were."""
    return [i for i, row in enumerate(whole["devices"]) if i not in own and row not in got["devices"]]


def told_of_others(results, changes, whole, own):
    wrong = [f"byte {place} is {byte}: devices {others_of(whole, got, own)}: {got}" for (place, byte), got in zip(changes, results)
             if got["digest"] and others_of(whole, got, own)]
    return wrong, sum(got["digest"] is not None for got in results)


def check_other_devices(tap, count):
    data = make_profile.gpu(seed=7, steps=3, devices=3, per_step=8).encode()
    with Scratch() as folder:
        kind = damaged_kinds.Kind("other devices", folder / "host0.xplane.pb", data)
        kind.arguments += ALL_STEPS
        kind.write()
        for device, (begin, end) in enumerate(plane_contents(data)[:3]):
            changes = [(begin + place, byte) for place, byte in
                       damaged_kinds.flips_of(data[begin:end], count, f"device-{device}")]
            whole, results = play(kind, [f"set {place} {byte}" for place, byte in changes])
            wrong, seen = told_of_others(results, changes, whole, {device})
            tap.ok(len(whole["devices"]) == 3 and seen > count / 2 and not wrong,
                   f"{count} bytes of device {device} changed: what is told of the others", f"{seen} told", *wrong[:5])


def check_other_hosts(tap, count):
    with Scratch() as folder:
        for host, seed in (("host0", 7), ("host1", 8)):
            data = make_profile.gpu(seed=seed, steps=3, devices=2, per_step=8, host=host).encode()
            kind = damaged_kinds.Kind("other hosts", folder / "run" / f"{host}.xplane.pb", data)
            kind.write()
        kind.arguments[1:2] = [folder / "run" / "host0.xplane.pb", kind.path]
        kind.arguments += ALL_STEPS
        changes = list(damaged_kinds.flips_of(data, count, "host"))
        whole, results = play(kind, [f"set {place} {byte}" for place, byte in changes])
        wrong, seen = told_of_others(results, changes, whole, {2, 3})
    tap.ok(len(whole["devices"]) == 4 and seen > count / 2 and not wrong,
           f"{count} bytes of a host's file changed: what is told of the other host's devices", f"{seen} told", *wrong[:5])


def part_of(text):
    part, parts = map(int, text.split("/"))
    if not 1 <= part <= parts:
        raise ValueError(text)
    return part - 1, parts


def check_kinds(tap, counts, options):
    part, parts = options.part
    with Scratch() as folder:
        kinds = list(damaged_kinds.all_kinds(folder))
        cuts = options.cuts or (FULL_CUTS if options.full else CUTS)
        flips = options.flips or (FULL_FLIPS // len(kinds) + 1 if options.full else FLIPS)
        larger = [(kind, LARGE_FLIPS) for kind in damaged_kinds.large(folder)] if options.full else []
        chosen = [pair for pair in [(kind, flips) for kind in kinds] + larger if options.only in (None, pair[0].name)]
        for kind, many in chosen[part::parts]:
            check(tap, kind, counts, cuts, many)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", metavar="KIND")
    parser.add_argument("--part", metavar="I/N", type=part_of, default=(0, 1))
    parser.add_argument("--cuts", type=int)
    parser.add_argument("--flips", type=int)
    options = parser.parse_args()
    if options.full and os.access(IN_MEMORY, os.W_OK):  # else it is the disk that takes the time: each report is synced
        tempfile.tempdir = IN_MEMORY
    tap, counts = Tap(), Counts()
    check_kinds(tap, counts, options)
    if options.only == "others" or (not options.only and options.part[0] == 0):
        check_swallowed(tap)
        check_rest(tap, 3 if SLOW else 300 if options.full else 25)
        elsewhere = 20 if SLOW else 3000 if options.full else 150
        check_other_devices(tap, elsewhere)
        check_other_hosts(tap, elsewhere)
    counts.print()
    tap.done()


if __name__ == "__main__":
    main()
