#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The reader of XSpace profiles against the official reader of protobuf: the same events, or both refuse.

    test_protobuf.py [--mutations N] [--seed N]

Generated profiles in every encoding, recorded ones, and mutated ones: by bytes, and by fields, so that what is wrong
lies deep in what can be read. Each of them is read twice, with the lines skimmed and walked by the scan, with the same
result: events, tallies, problem, fingerprint. Where the official reader refuses a file as a
whole, ours goes on with what came before the damage, and says so: a file that is refused there is never read here
without a word. Where it takes a field of another wire type for one of a later version, ours says so, too."""

import argparse
import collections
import json
import random
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzz"))
import make_profile  # noqa: E402
import make_seeds  # noqa: E402
import upb_xspace  # noqa: E402
from damaged_kinds import whole_fields  # noqa: E402
from mutants import mutants  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BUILD, ROOT, SANITIZED, SANITIZER, UNDER, Scratch  # noqa: E402

PROGRAM = BUILD / "tests" / "xspace_events"
SLOW = SANITIZED or bool(UNDER)
MUTATIONS = 150 if SLOW else 3000
PART = 100  # files of one call
TOLD = {"aggregated-event", "clock-outlier"}  # events that are not given out


class Ours:
    def __init__(self):
        self.lines, self.is_refused, self.is_partial, self.tallies = {}, False, False, {}
        self.said, self.walked = [], []  # all that the program printed of the file, as it is read and with lines walked


def read_ours(paths):
    done = subprocess.run([str(PROGRAM), *map(str, paths)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0 or SANITIZER.search(done.stderr):
        raise SystemExit(f"xspace_events: {done.returncode}: {done.stderr.decode('utf-8', 'replace')[-2000:]}")
    files, events, said = [], None, None
    for line in done.stdout.splitlines():
        row = json.loads(line)
        if "again" in row:
            said = files[-1].walked
        elif "file" in row:
            files.append(Ours())
            said = files[-1].said
        else:
            said.append(line)
        if said is not files[-1].said:
            continue
        if isinstance(row, list):
            if isinstance(row[0], str):
                events = files[-1].lines.setdefault(tuple(row), [])
            else:
                events.append(row)
        elif "refused" in row:
            files[-1].is_refused = True
        elif "tallies" in row:
            files[-1].is_partial, files[-1].tallies = row["partial"], row["tallies"]
    return files


def signature(begin, length, name):
    return (begin, max(length, 0), name)


def difference(ours, theirs):
    """Between what is read; "" = none.  Times are compared by their distance from the first one that both have."""
    lost = sum(ours.tallies.get(tally, 0) for tally in TOLD)
    missing, shifts = 0, set()
    for key in ours.lines.keys() | theirs.keys():
        wanted, got = theirs.get(key, []), ours.lines.get(key, [])
        at = 0
        for begin_ns, offset, length, name in wanted:
            if at < len(got) and offset is not None and got[at][1:] == [max(length, 0), name]:
                shifts.add((begin_ns * 1000 + offset - got[at][0]) if lost == 0 else 0)
                at += 1
            else:
                missing += 1
        if at < len(got):
            return f"{key}: event {at} is {got[at]}, of {len(got)} and {len(wanted)}"
    if missing != lost:
        return f"{missing} events are missing, {lost} are in tallies"
    return "" if len(shifts) <= 2 else f"times are shifted by {sorted(shifts)[:5]}"  # from the begin, and from 1970


def is_told(ours):
    return ours.is_refused or ours.is_partial or any(ours.tallies.get(t) for t in ("bad-field", "unknown-field", "long-value"))


def verdict(ours, space):
    """(what happened, what is wrong with it or "")"""
    if space is None:
        return ("both refuse" if ours.is_refused else "refused there, told here" if is_told(ours) else "silent",
                "" if is_told(ours) else "refused by the official reader, and not a word here")
    if ours.is_refused and any(upb_xspace.timelines(space).values()):
        return "refused here", ""
    wrong = difference(ours, upb_xspace.timelines(space))
    if is_told(ours):
        return "read there, told here", ""
    return "the same events", wrong


# --- what is read ---------------------------------------------------------------------------------------------


def sources():
    for seed in range(2):
        for make in make_profile.MAKERS.values():
            yield make(seed=seed, steps=2, devices=2, per_step=6).encode()
    yield make_profile.hostile(steps=1).encode()
    yield make_seeds.program() + make_profile.gpu(steps=1).encode()
    yield from (path.read_bytes() for path in sorted((ROOT / "tests" / "data").rglob("*.xplane.pb")))


def places(data):
    """Where heads of fields and their values begin, three levels deep: there damage tells more than in texts."""
    found = []
    for tag, at, value, end in whole_fields(data, 0, len(data)):
        found += [at, value - 1]
        for _, inner, inner_value, inner_end in whole_fields(data, value, end) if tag & 7 == 2 else ():
            found += [inner, inner_value - 1, inner_value]
            found += [place for _, *ends in whole_fields(data, inner_value, inner_end) for place in ends]
    return [place for place in found if place < len(data)]


def mutated(data, heads, dice):
    data = bytearray(data)
    for _ in range(dice.choice((1, 1, 1, 2, 4))):
        at = dice.choice(heads) if dice.random() < 0.7 else dice.randrange(len(data))
        at = min(at, len(data) - 1)
        how = dice.randrange(7)
        if how <= 1:
            data[at] ^= 1 << dice.randrange(8)
        elif how == 2:
            data[at] = dice.choice((0, 1, 8, 0x0B, 0x0C, 0x0D, 0x12, 0x1A, 0x22, 0x7F, 0x80, 0xFF))
        elif how == 3:
            data[at:at] = dice.choice((b"\x80" * 9 + b"\x01", b"\xff" * 9 + b"\x7f", b"\x80" * 11, b"\x00", b"\x52\x00", b"\x5b\x5c"))
        elif how == 4:
            del data[at:at + dice.randrange(1, 6)]
        elif how == 5:
            data[at:at] = data[at:at + dice.randrange(1, 30)]
        else:
            del data[at:]
        if not data:
            data = bytearray(b"\x0a")
    return bytes(data)


def compare(tap, name, documents, folder, counts):
    wrong = []
    for begin in range(0, len(documents), PART):
        paths = []
        for i, data in enumerate(documents[begin:begin + PART]):
            paths.append(folder / f"{i}.pb")
            paths[-1].write_bytes(data)
        for i, (data, ours) in enumerate(zip(documents[begin:], read_ours(paths))):
            what, why = verdict(ours, upb_xspace.parse(data))
            if ours.said != ours.walked or not ours.said:
                why = f"{why}; read in another way it is {ours.walked[-1:]}, not {ours.said[-1:]}"
            counts[what] += 1
            if why:
                wrong.append(f"document {begin + i}: {why}; {ours.tallies}")
    tap.ok(documents and not wrong, f"{name}: {len(documents)} profiles are read as the official reader reads them",
           f"{len(wrong)} differ", *wrong[:5])
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mutations", type=int, default=MUTATIONS)
    parser.add_argument("--seed", type=int, default=11)
    options = parser.parse_args()
    tap, counts = Tap(), collections.Counter()
    whole = list(sources())
    with Scratch() as folder:
        compare(tap, "whole", whole, folder, counts)
        dice = random.Random(options.seed)
        small = [(data, places(data)) for data in whole if len(data) < 20000]
        compare(tap, "mutated", [mutated(*dice.choice(small), dice) for _ in range(options.mutations)], folder, counts)
        documents = [data for data, _ in small]
        for part in mutants("message", options.seed, options.mutations, documents, folder):
            compare(tap, "fields mutated", part, folder, counts)
    print(f"# {dict(counts)}")
    tap.done()


if __name__ == "__main__":
    main()
