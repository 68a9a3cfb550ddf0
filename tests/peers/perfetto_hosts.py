#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Several hosts on one clock, in Perfetto's own importer: profiles whose clocks are off by known times, as one trace, as an
archive of one trace a host with Perfetto's manifest, and that archive as input.

Without Node or the package that carries the importer: skipped.
"""

import io
import json
import re
import subprocess
import sys
import tarfile
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "property"))
from perfetto import importer  # noqa: E402
from perfetto.held import Held  # noqa: E402
from tap import Tap  # noqa: E402
from test_shared_clock import Host, write_hosts  # noqa: E402
from tracemill import Scratch, run, summary_of  # noqa: E402

HOSTS = [Host(), Host(4e6, 30), Host(-2e6, -10)]
# What is in a collective, and the collective itself: its number is an argument.
NESTED = """select p.name, s.ts, s.ts + s.dur, s.id from slice s join thread_track t on t.id = s.track_id
join thread h using (utid) join process p using (upid) where s.name = '{}' order by s.ts"""
SPREAD_US = 60  # of what ends together: jitter, and the uncertainty of the clocks


def collectives_of(held):
    """{number: [(process, start, end)]} of recorded collectives"""
    found = defaultdict(list)
    for one in held.slices.values():
        numbers = [whole for _, key, _, whole, _, _ in one.args if key.endswith("Seq")]
        if numbers and one.name == "ncclDevKernel_Generic":
            found[numbers[0]].append((held.tracks[one.track].process[1], one.ts, one.ts + one.dur))
    return found


def analysis_of(host):
    """The row with the verdict can be told, and pinned, by its name."""
    return "Analysis" if host == 0 else "Host analysis"


def check_one_trace(tap, folder, paths):
    """Arrows between ranks join the slices of one collective, in the order in which the ranks arrive."""
    run("convert", *paths, "-o", folder / "all.pftrace", "-q")
    held = Held(folder / "all.pftrace")
    tap.ok(not held.complaints(), "one trace: no complaint", held.complaints())
    names = {track.name for track in held.tracks.values() if track.name} | {name for _, _, name, _, _ in held.counters}
    missing = [f"{what} · tracemill · rank{i}" for i in range(len(HOSTS))
               for what in (analysis_of(i), "busy share", "gpu:0 busy share", "gpu:0 idle gaps") if f"{what} · tracemill · rank{i}" not in names]
    tap.ok(not missing, "one trace: rows of the analysis have the name of their host", missing, sorted(n for n in names if "tracemill" in n))
    collectives = collectives_of(held)
    spread = [max(end for *_, end in rows) - min(end for *_, end in rows) for rows in collectives.values() if len(rows) == len(HOSTS)]
    tap.ok(len(spread) > 300 and sorted(spread)[len(spread) * 9 // 10] < SPREAD_US * 1000,
           "one trace: collectives end together", len(spread), sorted(spread)[-5:])
    starts = defaultdict(list)  # (process, time) of recorded ones: their numbers
    for number, rows in collectives.items():
        for process, start, end in rows:
            starts[process].append((start, end, number))
    wrong, across, chains = [], 0, defaultdict(set)
    for begin, end in held.flows:
        a, b = held.slices[begin], held.slices[end]
        places = [(held.tracks[one.track].process[1], one.ts) for one in (a, b)]
        numbers = [{n for start, stop, n in starts[process] if start <= ts <= stop} for process, ts in places]
        across += places[0][0] != places[1][0]
        if not numbers[0] & numbers[1] or places[0][1] > places[1][1]:
            wrong.append(f"{a.name} {places[0]} -> {b.name} {places[1]}: {numbers}")
        for number in numbers[0] & numbers[1]:
            chains[number] |= {process for process, _ in places}
    tap.ok(across > 600 and not wrong, "one trace: each arrow joins slices of one collective on two ranks", across, *wrong[:5])
    whole = sum(len(processes) == len(HOSTS) for processes in chains.values())
    tap.ok(whole > 300, "one trace: arrows join all ranks of a collective", whole)


def verdicts_of(path):
    """The names of the slices on the rows of the analysis of each host, by row."""
    held = Held(path)
    return sorted((held.tracks[one.track].name, one.name) for one in held.slices.values()
                  if re.match("(Host a|A)nalysis · tracemill", held.tracks[one.track].name or ""))


def check_verdict(tap, folder, paths):
    """The verdict is about the run: one row is named after it, in the whole trace, its overview, and the parts together."""
    _, summary = summary_of(paths, folder / "report")
    rows = [f"{analysis_of(i)} · tracemill · rank{i}" for i in range(len(HOSTS))]
    wanted = dict(zip(rows, [summary["verdict"]["text"], *["run"] * (len(HOSTS) - 1)]))
    run("convert", *paths, "-o", folder / "overview.pftrace", "--overview", "-q")
    run("split", *paths, "-o", folder / "parts", "--max-events", "1000", "-q")
    for path in (folder / "all.pftrace", folder / "overview.pftrace", folder / "parts" / "overview.pftrace"):
        found = verdicts_of(path)
        tap.ok(found == sorted(wanted.items()), f"{path.relative_to(folder)}: one row has the verdict", found, wanted)
    found = [verdicts_of(path) for path in sorted((folder / "parts").glob("part-*.pftrace"))]  # of one host each
    wrong = [part for part in found if len(part) != 1 or wanted[part[0][0]] != part[0][1]]
    tap.ok({row for part in found for row, _ in part} == set(rows) and not wrong, "parts: so have those of the first host", *wrong, wanted)


def check_manifest(tap, text, names):
    """In the form of https://perfetto.dev/docs/reference/perfetto-manifest, version 1."""
    tap.ok(text.startswith('{"perfetto_manifest"'), "the manifest is recognized by its first bytes", text[:40])
    document = json.loads(text)
    found = document["perfetto_manifest"]
    files = found["files"]
    tap.ok(list(document) == ["perfetto_manifest"] and found["version"] == 1, "the manifest has one member, and version 1", document)
    tap.ok(found["trace_time"] == {"clock": "BOOTTIME", "file": names[0]}, "the timeline is the clock of the first host", found["trace_time"])
    tap.ok([entry["path"] for entry in files] == names, "the manifest lists the members", files)
    machines = [entry["machine"]["name"] for entry in files]
    tap.ok(machines == [f"rank{i}" for i in range(len(HOSTS))], "each host is a machine", machines)
    clocks = [entry.get("clocks") for entry in files]
    want = {"clock": "BOOTTIME", "sync_to": {"file": names[0], "clock": "BOOTTIME"}}
    tap.ok(clocks == [None, want, want], "the clocks of all hosts are one", clocks)


def check_archive(tap, folder, paths):
    result = run("convert", *paths, "-o", folder / "all.tar", "--json")
    told, names = json.loads(result.out), [f"rank{i}.pftrace" for i in range(len(HOSTS))]
    with tarfile.open(folder / "all.tar") as archive:
        members = archive.getmembers()
        content = {member.name: archive.extractfile(member).read() for member in members}
    tap.ok([member.name for member in members] == ["perfetto_manifest.json", *names], "the archive has a member for each host", [*content])
    tap.ok(all(member.isreg() and not member.mtime and not member.uname for member in members), "members have no time and no owner")
    listed = subprocess.run(["tar", "-tf", folder / "all.tar"], capture_output=True, text=True, check=False)
    tap.ok(listed.returncode == 0 and not listed.stderr and listed.stdout.split() == [*content], "tar lists it", listed)
    check_manifest(tap, content["perfetto_manifest.json"].decode(), names)
    slices, ends, clocks = 0, defaultdict(list), set()
    for name in names:
        (folder / "members").mkdir(exist_ok=True)
        (folder / "members" / name).write_bytes(content[name])
        held = Held(folder / "members" / name)
        tap.ok(not held.complaints() and len(held.slices) > 500, f"{name}: no complaint", held.complaints(), len(held.slices))
        slices += len(held.slices)
        clocks.add(held.clock_ns)
        for number, rows in collectives_of(held).items():
            ends[number] += [end for *_, end in rows]
    tap.ok(slices == told["slices"], "members have all slices", slices, told)
    tap.ok(len(clocks) == 1 and min(clocks) > 10 ** 18, "time 0 is the same moment in all of them", clocks)
    spread = sorted(max(own) - min(own) for own in ends.values() if len(own) == len(HOSTS))
    tap.ok(len(spread) > 300 and spread[len(spread) * 9 // 10] < SPREAD_US * 1000, "collectives end together in them", spread[-5:])
    again = run("convert", *paths, "-o", folder / "again" / "all.tar", "--memory", "32M", "-q")
    tap.ok(again.status == 0 and (folder / "again" / "all.tar").read_bytes() == (folder / "all.tar").read_bytes(), "the same bytes with 32M", again)


def check_input(tap, folder, paths):
    """The archive is the run that it was made from."""
    _, first = summary_of(paths, folder / "report1")
    result, second = summary_of([folder / "all.tar"], folder / "report2")
    hosts = [[file["host"] for file in summary["input"]["files"]] for summary in (first, second)] if second else []
    tap.ok(second and hosts[0] == hosts[1], "the archive is read as the same hosts", hosts, result)
    if not second:
        return
    for path in ("total", "kernels"):
        a, b = ({key: value for key, value in summary[path].items() if isinstance(value, int)} for summary in (first, second))
        wrong = {key: (value, b.get(key)) for key, value in a.items() if abs(value - b.get(key, -1)) > 5e-5 * value + 5_000_000}
        tap.ok(a and not wrong, f"the archive has the same figures: {path}", wrong)
    clock = second["collectives"]["skew"]["clock"]
    off = [row["offset_ps"] for row in clock["list"]] if clock["aligned"] else None
    tap.ok(off and max(map(abs, off)) < SPREAD_US * 10 ** 6, "its clocks are one already", clock)
    rest = io.BytesIO()
    with tarfile.open(fileobj=rest, mode="w") as archive, tarfile.open(folder / "all.tar") as old:
        for member in old.getmembers()[1:]:
            archive.addfile(member, old.extractfile(member))
    (folder / "rest.tar").write_bytes(rest.getvalue())
    result = run("inspect", folder / "rest.tar")
    tap.ok(result.status == 3 and "no profile" in result.err, "without its manifest, an archive of such traces is not a run", result)


def check_refusals(tap, folder, paths):
    result = run("convert", paths[0], "-o", folder / "x.tar", "--overview")
    tap.ok(result.status == 2 and "an overview is a .pftrace" in result.err and not (folder / "x.tar").exists(), "no overview in an archive", result)


def main():
    tap = Tap()
    why = importer.missing()
    if why:
        tap.skip("all", why)
        tap.done()
    with Scratch() as folder:
        paths, _ = write_hosts(folder, HOSTS)
        check_one_trace(tap, folder, paths)
        check_verdict(tap, folder, paths)
        check_archive(tap, folder, paths)
        check_input(tap, folder, paths)
        check_refusals(tap, folder, paths)
    tap.done()


if __name__ == "__main__":
    main()
