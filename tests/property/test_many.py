#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many of one thing that is no event cost what they are long: runs below a folder, files in one, members of an archive, hosts
of a run, members and rows of a summary.  Four times as many cost at most seven times the time of the processor.

    test_many.py [--show]
"""

import argparse
import io
import json
import shutil
import sys
import tarfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from cost import Cost  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BINARY, SANITIZED, UNDER, Scratch, run  # noqa: E402

TIMES, MOST_TIMES, LEAST_S, TRIES = 4, 7, 0.15, 3
EMPTY = b"\n\x02\x12\x00"  # a profile with one plane that has nothing
RUN = "plugins/profile/2026_01_02_03_04_05/h.xplane.pb"
GATES = b'{"gates": [{"figure": "coverage.events_read", "min": 1}]}'


def runs(count, folder, _):
    for number in range(count):
        path = folder / f"r{number}" / RUN
        path.parent.mkdir(parents=True)
        path.write_bytes(EMPTY)
    return [["list", folder], ["batch", "scan", folder, "-o", folder / "m.jsonl", "-q"]]


def files(count, folder, _):
    for number in range(count):
        (folder / f"h{number}.xplane.pb").write_bytes(EMPTY)
    return [["list", folder]]


def members(count, folder, _):
    with tarfile.open(folder / "a.tar", "w") as archive:
        for number in range(count):
            member = tarfile.TarInfo(f"l{number}/{RUN}")
            member.size = len(EMPTY)
            archive.addfile(member, io.BytesIO(EMPTY))
    return [["list", folder / "a.tar"]]


def hosts(count, folder, _):
    for number in range(count):
        profile = make_profile.gpu(seed=number, steps=2, devices=1, per_step=2, host=f"h{number}")
        (folder / f"h{number}.xplane.pb").write_bytes(profile.encode())
    return [["report", folder, "-o", folder / "out", "--format", "json,html", "-q"]]


def keys(count, folder, summary):
    """Of one object of a summary."""
    (folder / "s.json").write_text(json.dumps({**summary, "more": {f"key{n}": n for n in range(count)}}), encoding="utf-8")
    (folder / "g.json").write_bytes(GATES)
    return [["check", folder / "s.json", "--gate", folder / "g.json", "--memory", "1G", "-q"]]


def rows(count, folder, summary):
    """Of the table of a summary that has the most of them."""
    table = max((part for part in summary.values() if isinstance(part, dict)),
                key=lambda part: max((len(v) for v in part.values() if isinstance(v, list)), default=0))
    name = max((key for key in table if isinstance(table[key], list)), key=lambda key: len(table[key]))
    wide = {**table, name: [{**table[name][0], "name": f"row{n}"} for n in range(count)]}
    document = {key: wide if part is table else part for key, part in summary.items()}
    (folder / "s.json").write_text(json.dumps(document), encoding="utf-8")
    (folder / "other.json").write_text(json.dumps({**document, "title": "other"}), encoding="utf-8")
    return [["compare", folder / "s.json", folder / "other.json", "-o", folder / "out", "--force", "--format", "json,html",
             "--memory", "1G", "-q"]]


def cost_of(make, count, place, summary):
    folder = place / f"{make.__name__}-{count}"
    folder.mkdir()
    costs = [Cost([BINARY, *command]) for command in make(count, folder, summary)]
    shutil.rmtree(folder)
    return costs


def is_linear(small, large):
    return large.seconds < LEAST_S or large.seconds <= MOST_TIMES * small.seconds


def judge(tap, make, count, place, summary, shows):
    """The least of some tries: others run on the machine as well."""
    for _ in range(TRIES):
        pairs = list(zip(cost_of(make, count, place, summary), cost_of(make, TIMES * count, place, summary)))
        if all(is_linear(*pair) for pair in pairs):
            break
    told = "; ".join(f"{small.seconds:.3f} s, then {large.seconds:.3f} s, status {small.status}, {large.status} {large.said[:200]}"
                     for small, large in pairs)
    tap.ok(all(is_linear(*pair) and pair[0].status == pair[1].status == 0 for pair in pairs),
           f"{TIMES * count} {make.__name__} cost what they are", told)
    if shows:
        print(f"# {told}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    tap = Tap()
    if UNDER:
        tap.skip("many of one thing", "its time is not the program's")
        tap.done()
    with Scratch() as place:
        (place / "t.xplane.pb").write_bytes(make_profile.gpu(seed=1, steps=3, devices=2, per_step=10).encode())
        done = run("report", place / "t.xplane.pb", "-o", place / "t", "--format", "json", "-q")
        assert done.status == 0, done
        summary = json.loads((place / "t" / "summary.json").read_text(encoding="utf-8"))
        for make, count in ((runs, 1000), (files, 4000), (members, 4000), (hosts, 50), (keys, 60_000), (rows, 6000)):
            judge(tap, make, count // 4 if SANITIZED else count, place, summary, options.show)
    tap.done()


if __name__ == "__main__":
    main()
