#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The limits that SECURITY.md has a table of: what lies just within is read as a whole, and what lies just past it ends with the
status and the words that the table promises."""

import gzip
import json
import sys
import tarfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from make_profile import chunk, number  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run  # noqa: E402

KIB, DAY_US = 1 << 10, 86_400_000_000
EVENT = number(1, 1) + number(2, 5) + number(3, 5)
SPAN = {"ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "name": "a"}


def space(name="f", line="python", plane="/host:CPU", stat=""):
    event = EVENT + (chunk(4, number(1, 1) + chunk(5, stat)) if stat else b"")
    return chunk(1, chunk(2, plane) + chunk(3, number(1, 1) + chunk(2, line) + chunk(4, event))
                 + chunk(4, number(1, 1) + chunk(2, number(1, 1) + chunk(2, name)))
                 + chunk(5, number(1, 1) + chunk(2, number(1, 1) + chunk(2, "long_name"))))


def trace(*events):
    return json.dumps({"traceEvents": [SPAN, *events]}).encode()


def at_times(*tenths_of_days):
    return json.dumps({"traceEvents": [{**SPAN, "ts": 10**15 + tenth * DAY_US // 10} for tenth in tenths_of_days]}).encode()


def nested(levels):
    return b'{"traceEvents":[%s,{"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"b","args":{"a":%s%s}}]}' % (
        json.dumps(SPAN).encode(), b"[" * levels, b"]" * levels)


def devices(count):
    return b"".join(chunk(1, chunk(2, f"/device:GPU:{i}") + chunk(3, number(1, 1) + chunk(2, "Stream #1") + chunk(4, EVENT)))
                    for i in range(count))


PROFILES = (  # what, ending, (within, memory), (past, memory), status, words
    ("a name in XSpace", "xplane.pb", (space("n" * (4000 * KIB)), "256M"), (space("n" * (4200 * KIB)), "256M"), 4, "long-value"),
    ("a name in XSpace", "xplane.pb", (space("n" * (500 * KIB)), "32M"), (space("n" * (600 * KIB)), "32M"), 4, "long-value"),
    ("a name of a line", "xplane.pb", (space(line="n" * (63 * KIB)), "32M"), (space(line="n" * (600 * KIB)), "32M"), 4, "long-value"),
    ("a name in JSON", "trace.json", (trace({**SPAN, "name": "n" * (120 * KIB)}), "32M"),
     (trace({**SPAN, "name": "n" * (130 * KIB)}), "1G"), 4, "long-value"),
    ("an event of JSON", "trace.json", (trace({**SPAN, "args": {"a": "n" * (250 * KIB)}}), "32M"),
     (trace({**SPAN, "args": {"a": "n" * (260 * KIB)}}), "1G"), 4, "long-value"),
    ("an event of XSpace", "xplane.pb", (space(stat="s" * (63 * KIB)), "32M"), (space(stat="s" * (65 * KIB)), "1G"), 4, "long-value"),
    ("levels of JSON", "trace.json", (nested(4090), "32M"), (nested(4100), "1G"), 4, "nested too deeply"),
    ("days before the begin", "trace.json", (at_times(0, 949, -49), "32M"), (at_times(0, 949, -51), "32M"), 4,
     "clock-outlier"),  # with the event between, as many lie near the first one as near the last one
    ("days after it", "trace.json", (at_times(0, 990), "32M"), (at_times(0, 1010), "32M"), 4, "clock-outlier"),
    ("devices", "xplane.pb", (devices(1024), "256M"), (devices(1025), "256M"), 6, "more than 1024 devices"),
    ("planes", "xplane.pb", (space() + chunk(1, number(1, 1)) * 65_535, "32M"),
     (space() + chunk(1, number(1, 1)) * 65_536, "32M"), 6, "more than 65536 planes"),
)


def within_and_past(tap):
    for what, ending, within, past, status, words in PROFILES:
        with Scratch() as folder:
            path, results = folder / f"host0.{ending}", []
            for data, memory in (within, past):
                path.write_bytes(data)
                results.append(run("report", path, "-o", folder / "out", "--format", "json", "-q", "--memory", memory))
        tap.ok(results[0].status in (0, 4) and words not in str(results[0]), f"{what}: within", results[0])
        tap.ok(results[1].status == status and words in str(results[1]), f"{what}: past it", results[1])


def open_spans(tap):
    """Spans that are open at once, each on a row of its own."""
    with Scratch() as folder:
        path, results = folder / "open.trace.json", []
        for count, memory in ((4_000, "32M"), (64_000, "256M"), (20_000, "32M")):
            path.write_bytes(trace(*({**SPAN, "tid": i, "ts": i, "dur": DAY_US} for i in range(count))))
            results.append(run("convert", path, "-o", folder / f"{count}.pftrace", "-q", "--memory", memory))
        tap.ok(results[0].status == results[1].status == 0, "spans open at once: within", *results[:2])
        tap.ok(results[2].status == 6 and "spans are open at the same time" in results[2].err and "--memory 64M" in results[2].err,
               "spans open at once: past it", results[2])


def members(tap):
    head = tarfile.TarInfo("a").tobuf()
    with Scratch() as folder:
        path = folder / "many.tar.gz"
        with gzip.open(path, "wb", compresslevel=1) as file:
            for _ in range(1001):
                file.write(head * 1000)
            file.write(bytes(1024))
        refuse_and_raise(tap, "members of an archive", path, "more than 1000000 members")


def refuse_and_raise(tap, what, path, words, verb="list"):
    """Refused with these words and a hint, which is followed."""
    refused, raised = run(verb, path), run(verb, path, "--raise-limits", "4")
    tap.ok(refused.status == 6 and words in str(refused) and "--raise-limits 4" in str(refused), what, refused)
    tap.ok(raised.status == 0, f"{what}: raised", raised)


def others_that_are_raised(tap):
    with Scratch() as folder:
        path, profile = folder / "long.zip", make_profile.gpu(seed=2, steps=2, devices=1, per_step=6).encode()
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("host0.xplane.pb", profile)
            for i in range(4500):
                file.writestr(f"{i:05}" + "n" * 4000, b"")
        refuse_and_raise(tap, "directory of a zip", path, "takes more than 16 MiB")
        path = folder / "host0.xplane.pb.gz"
        path.write_bytes(gzip.compress(profile + chunk(99, bytes(260 << 20)), compresslevel=9))
        refuse_and_raise(tap, "what is packed", path, "more than 256 times", "inspect")


def operands(tap, summary, folder):
    result = run("scaling", *[summary] * 4097, "-o", folder / "out")
    tap.ok(result.status == 6 and "4096" in str(result), "runs of a study", result)
    result = run("report", summary, "--memory", "31M")
    tap.ok(result.status == 2 and "32" in str(result), "less memory than there may be", result)


def documents(tap, summary, folder):
    gates, config, thresholds = folder / "gates.json", folder / "config.json", folder / "thresholds.json"
    gate = {"figure": "step_time", "max": "3600s"}

    def check(**more):
        gates.write_text(json.dumps({"schema": "tracemill.gates", "schema_version": 1, "gates": [{**gate, **more}]}), encoding="utf-8")
        return run("check", summary, "--gate", gates)

    result = check(title="t" * (1 << 20))
    tap.ok(result.status in (2, 3, 6) and "tracemill: " in str(result), "a text of a document past 1 MiB", result)
    gates.write_bytes(b'{"schema":"tracemill.gates","a":' + b"[" * 65 + b"]" * 65 + b"}")
    result = run("check", summary, "--gate", gates)
    tap.ok(result.status in (2, 3, 6) and "tracemill: " in str(result), "levels of a document", result)
    gates.write_bytes(b'{"schema":"tracemill.gates",' + b" " * (64 << 20) + b'"gates":[]}')
    result = run("check", summary, "--gate", gates)
    tap.ok(result.status in (2, 3, 6) and "64 MiB" in str(result), "a document past 64 MiB", result)
    profile = folder / "host0.xplane.pb"
    for path, option in ((config, "--config"), (thresholds, "--thresholds")):
        path.write_bytes(b"{" + b" " * (64 * KIB) + b"}")
        result = run("report", profile, "-o", folder / "out", option, path)
        tap.ok(result.status == 2 and "64 KiB" in str(result), f"a file of {option} past 64 KiB", result)


def main():
    tap = Tap()
    within_and_past(tap)
    open_spans(tap)
    members(tap)
    others_that_are_raised(tap)
    with Scratch() as folder:
        (folder / "host0.xplane.pb").write_bytes(make_profile.gpu(seed=2, steps=2, devices=1, per_step=6).encode())
        done = run("report", folder / "host0.xplane.pb", "-o", folder / "out", "--format", "json", "-q")
        tap.ok(done.status == 0, "a summary to begin with", done)
        operands(tap, folder / "out" / "summary.json", folder)
        documents(tap, folder / "out" / "summary.json", folder)
    tap.done()


if __name__ == "__main__":
    main()
