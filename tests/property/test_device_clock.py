#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TPUs whose recorded times jump against their own clock: every figure is that of a profile in which all events lie at the
times that the definition (docs/metrics.md, worked out by slow_clock.py) gives them, in every way to write it down."""

import copy
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from differences import Differences  # noqa: E402
from make_profile import MS, US, Encoding, Event  # noqa: E402
from slow_clock import DAY_PS, put_on_device_clocks  # noqa: E402
from slow_figures import Span  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run, summary_of  # noqa: E402

SEEDS = range(1, 7)
WAYS = [Encoding(), Encoding(shuffle=3), Encoding(split_lines=True, metadata_first=True),
        Encoding(split_planes=True, unknown_fields=True), Encoding(line_base_ns=7, text_as_ref=False), Encoding(absolute=True)]
TALLIES = ("unsorted-line", "clock-mapping-jump", "device-clock-unused", "overlapping-span", "repeated-event")
NOT_THERE = object()
# What may stand in place of one of an op's own times: it has none then.
DAMAGE = [("device_offset_ps", NOT_THERE), ("device_duration_ps", NOT_THERE), ("device_duration_ps", -5),
          ("device_offset_ps", -6 * DAY_PS), ("device_offset_ps", 101 * DAY_PS), ("device_duration_ps", (1 << 63) - 1),
          ("device_offset_ps", "soon"), ("device_offset_ps", -(1 << 63))]


class Mapping:
    """From the device's clock to the recorded times: it drifts, is off by a tick now and then, and jumps."""

    def __init__(self, dice, last):
        self.dice, self.ahead = dice, 3 * MS
        self.jumps = sorted((dice.randrange(last), dice.randrange(-2 * MS, 6 * MS)) for _ in range(8))

    def __call__(self, at):
        while self.jumps and self.jumps[0][0] <= at:
            self.ahead += self.jumps.pop(0)[1]
        if not self.dice.randrange(4):
            self.ahead += self.dice.choice((-78, 78, 156, 12_345))
        return at + self.ahead


def is_tpu(plane):
    return plane.name.startswith("/device:TPU")


def plant(space, seed, damaged):
    """Takes the times of the events for the devices' own, and makes recorded ones.  damaged: the share of ops without."""
    dice = random.Random(seed)
    for plane in filter(is_tpu, space.planes):
        lines = {line.name: line for line in plane.lines}
        ops, modules = lines["XLA Ops"].events, lines["XLA Modules"].events
        more = [plane.line(4, "Async XLA Ops"), plane.line(5, "Steps"), plane.line(6, "XLA TraceMe")]
        for op in dice.sample(ops, len(ops) // 6):
            more[0].events.append(Event(op.name, op.start_ps, op.dur_ps + 3 * US, {"hlo_op": "x"}, {}, op.display))
        for n, module in enumerate(modules):
            more[1].events.append(Event(str(n), module.start_ps, module.dur_ps))
            more[2].events.append(Event("barrier-cores", module.start_ps - 30 * US, 20 * US))
        moments = sorted({t for line in plane.lines for e in line.events for t in (e.start_ps, e.start_ps + e.dur_ps)})
        to_recorded = Mapping(dice, moments[-1])
        recorded, reached = {}, 0
        for t in moments:  # jumps back end at the same moment, as the profiler writes it
            reached = recorded[t] = max(reached, to_recorded(t) + 50 * MS)
        for line in plane.lines:
            for e in line.events:
                own = {"device_offset_ps": e.start_ps + 777 * MS, "device_duration_ps": e.dur_ps}
                begin = recorded[e.start_ps]
                e.dur_ps = recorded[e.start_ps + e.dur_ps] - begin
                e.start_ps = begin
                if line.name == "XLA Ops":
                    e.stats.update(own)
                    if dice.random() < damaged:
                        name, value = dice.choice(DAMAGE)
                        e.stats.pop(name)
                        if value is not NOT_THERE:
                            e.stats[name] = value
    for plane in space.planes:
        for line in plane.lines:
            line.events.sort(key=lambda e: (e.start_ps, -e.dur_ps))


def placed(space):
    """The same where all events lie at the times that count.  out: it, the clocks"""
    tracks, owners = [], []
    for plane in filter(is_tpu, space.planes):
        for line in plane.lines:
            spans = [Span(e.name, e.display, e.start_ps, e.dur_ps, lambda e=e: e.stats) for e in line.events]
            tracks.append((plane.name, line.name, line.id, spans))
            owners.append(line)
    clocks = put_on_device_clocks(tracks)
    for line, (_, _, _, spans) in zip(owners, tracks):
        for event, span in zip(line.events, spans):
            event.start_ps, event.dur_ps = span.begin, span.length
            event.stats = {k: v for k, v in event.stats.items() if not k.startswith("device_")}
        line.events.sort(key=lambda e: (e.start_ps, -e.dur_ps))
    return clocks


# A core whose clock jumps is compared with no other, so several of them have windows of their own and not one together
# (docs/metrics.md, "Device groups"): what depends on the window.
OF_WINDOW = ("window", "gaps", "total", "checks", "findings", "verdict", "kpis", "steps", "host", "roofline", "collectives",
             "transfers", "critical_path")
OF_DEVICE_WINDOW = ("window_begin_ps", "window_end_ps", "span_ps", "idle_ps", "lead_ps", "trail_ps", "gaps", "aliases",
                    "utilization_pct", "steps", "tpu", "in_flight_ps", "hidden_ps", "wait_host_ps")


def comparable(summary):
    """What does not depend on how the times came about."""
    summary = copy.deepcopy({k: v for k, v in summary.items() if k not in ("input", "tool", "settings", "report")})
    for device in summary["devices"] if len(summary["devices"]) > 1 else ():
        for key in OF_DEVICE_WINDOW:
            device.pop(key)
    for key in OF_WINDOW if len(summary["devices"]) > 1 else ():
        summary.pop(key)
    for host in summary["environment"]["hosts"]:
        host.pop("tpu_clock")
    for name in TALLIES:
        summary["coverage"]["tallies"].pop(name, None)
    return summary


def leaves(tree, path=""):
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from leaves(value, f"{path}.{key}")
    elif isinstance(tree, list):
        yield f"{path}.length", len(tree)
        for i, value in enumerate(tree):
            yield from leaves(value, f"{path}[{i}]")
    else:
        yield path, tree


def compare(tap, name, want, got):
    d = Differences(name)
    want, got = dict(leaves(comparable(want))), dict(leaves(comparable(got)))
    for path in sorted(set(want) | set(got)):
        d.equal(path, want.get(path, NOT_THERE), got.get(path, NOT_THERE))
    tap.ok(not d.wrong, f"{name}: {d.compared} figures", d.report())


def compare_clock(tap, name, clocks, summary):
    jumps = [jump for clock in clocks.values() for jump in clock.jumps]
    used = sum(clock.is_used for clock in clocks.values())
    row, tallies = clock_of(summary), summary["coverage"]["tallies"]
    d = Differences(name)
    d.equal("devices", len(clocks), row["devices"])
    d.equal("own", used, row["own"])
    d.equal("jumps", len(jumps) if used else None, row["jumps"])
    d.equal("largest_jump_ps", max(jumps, default=0) if used else None, row["largest_jump_ps"])
    d.equal("clock-mapping-jump", len(jumps), tallies.get("clock-mapping-jump", {"count": 0})["count"])
    d.equal("device-clock-unused", sum(len(c.pairs) for c in clocks.values() if c.is_refused),
            tallies.get("device-clock-unused", {"count": 0})["count"])
    tap.ok(not d.wrong, f"{name}: its clock", d.report())
    return len(jumps)


def summaries(tap, folder, name, files):
    """out: the summary of each (file name, its bytes, options); None where one failed"""
    found = []
    for i, (file, data, options) in enumerate(files):
        path = folder / str(i) / file
        path.parent.mkdir()
        path.write_bytes(data)
        result, summary = summary_of(path, folder / f"out{i}", "--steps", "all", *options)
        if summary is None or result.status != 0:
            tap.ok(False, name, result)
            return None
        found.append(summary)
    return found


def check(tap, seed, damaged):
    name = f"seed {seed}, {damaged:.0%} of the ops without times of their own"
    space = make_profile.tpu(seed=seed, steps=12, devices=1 + seed % 2)
    plant(space, seed, damaged)
    truth = copy.deepcopy(space)
    clocks = placed(truth)
    kinds = [("host0.xplane.pb", lambda s, way=way: s.encode(way)) for way in WAYS[:1 + 5 * (seed < 3)]]
    kinds.append(("host0.trace.json", make_profile.chrome_json))
    files = [(file, write(s), options) for file, write in kinds
             for s, options in ((truth, ()), (space, ()), (space, ("--memory", "32M")))]
    with Scratch() as folder:
        found = summaries(tap, folder, name, files)
        if not found:
            return 0
        for i in range(0, len(files), 3):
            for options, other in ((f"way {i // 3} to write it", i + 1), ("the same, --memory 32M", i + 2)):
                compare(tap, f"{name}: {files[i][0]}, {options}", found[i], found[other])
            jumps = compare_clock(tap, f"{name}: {files[i][0]}", clocks, found[i + 1])
        if seed == 1:
            check_outputs(tap, name, folder, clocks, found[1])
        for i in (0, len(files) - 3):
            compare_traces(tap, f"{name}: {files[i][0]}", [folder / str(n) / files[i][0] for n in (i, i + 1)])
    return jumps


def compare_traces(tap, name, paths):
    """Written traces show the same times."""
    texts = []
    for path in paths:
        result = run("convert", path, "-o", path.with_suffix(".csv"), "--plain", "--args", "none")
        texts.append(sorted(path.with_suffix(".csv").read_text().splitlines()) if not result.status else [str(result)])
    tap.ok(texts[0] == texts[1], f"{name}: the same times in what convert writes",
           str([pair for pair in zip(*texts) if pair[0] != pair[1]][:2]))


def clock_of(summary):
    return summary["environment"]["hosts"][0]["tpu_clock"]


def check_outputs(tap, name, folder, clocks, summary):
    """The clock goes through a partial, and the report tells of it."""
    result = run("report", folder / "1" / "host0.xplane.pb", "-o", folder / "told", "--steps", "all", "--format", "partial,text")
    result, joined = summary_of(folder / "told" / "run.partial", folder / "joined", "--steps", "all")
    tap.ok(joined and clock_of(joined) == clock_of(summary), f"{name}: the same out of a partial", str(result))
    run("convert", folder / "1" / "host0.xplane.pb", "-o", folder / "again" / "host0.pftrace", "-q")
    result, again = summary_of(folder / "again" / "host0.pftrace", folder / "again-report", "--steps", "all")
    tap.ok(again and clock_of(again) == clock_of(summary), f"{name}: the same out of a converted trace", str(result), again and clock_of(again))
    spans = [[device["span_ps"] // 10 ** 7 for device in one["devices"]] for one in (summary, again or summary)]
    tap.ok(spans[0] == spans[1], f"{name}: with the windows of its devices", spans)
    jumps = sum(len(clock.jumps) for clock in clocks.values())
    text = " ".join((folder / "told" / "report.txt").read_text().split())
    tap.ok(f"The recorded times jump relative to them {jumps} times, by up to" in text, f"{name}: the report tells of {jumps} jumps")


def main():
    tap = Tap()
    jumps = sum(check(tap, seed, damaged) for seed in SEEDS for damaged in (0, 0.3))
    tap.ok(jumps > 20, "the made mappings jump", str(jumps))
    for seed in (7, 8):
        check(tap, seed, 0.8)
    tap.done()


if __name__ == "__main__":
    main()
