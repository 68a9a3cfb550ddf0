#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the benchmark stands on: the trace that it makes, and how its figures come from the rounds.  No timing."""

import gzip
import io
import json
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import compare_trial  # noqa: E402
import make_json  # noqa: E402
import run  # noqa: E402
import traces  # noqa: E402
from intervals import told, wilson  # noqa: E402
from tap import Tap  # noqa: E402

EVENTS = 5000


def made(events):
    to = io.BytesIO()
    make_json.write(events, to)
    return to.getvalue()


def of_name(events, name):
    return [event for event in events if event.get("name") == name]


def lies_in(inner, outer):
    return outer["ts"] <= inner["ts"] and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"]


def made_trace(tap):
    content = made(EVENTS)
    document = json.loads(content)
    events, last = document["traceEvents"][:-1], document["traceEvents"][-1]
    tap.ok(len(events) == EVENTS and last == {}, "a made trace has the number of events asked for, and a closing {}")
    tap.ok(content == made(EVENTS), "the same number of events gives the same bytes")
    tap.ok(json.loads(made(1000))["traceEvents"][-1] == {}, "a trace shorter than one step is a whole one")
    kernels = [e for e in events if e["pid"] <= make_json.DEVICES and e["ph"] == "X"]
    launched = {e["args"]["correlation_id"]: e for e in of_name(events, "cuLaunchKernel")}
    ran = {e["args"]["correlation_id"]: e for e in kernels}
    tap.ok(len(ran) == len(kernels) > 0 and ran.keys() == launched.keys(), "every kernel has a launch of its own")
    tap.ok(all(launched[i]["ts"] + launched[i]["dur"] <= ran[i]["ts"] for i in ran),
           "every launch ends before its kernel begins")
    tracks = {}
    for kernel in kernels:
        tracks.setdefault(kernel["tid"], []).append(kernel)
    tap.ok(len(tracks) == make_json.DEVICES and
           all(a["ts"] + a["dur"] <= b["ts"] for track in tracks.values() for a, b in zip(track, track[1:])),
           "the kernels of a stream run one after the other")
    steps = of_name(events, "train")
    tap.ok(len(steps) > 1 and all(sum(lies_in(k, step) for step in steps) == 1 for k in kernels),
           "every kernel lies in one step")
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        tap.ok(traces.count_events(file.name) == EVENTS, "the events of a file are counted without parsing it")


def recorded_trace(tap):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for index in range(5):
            (folder / "kineto").mkdir(exist_ok=True)
            level = 6 if index else 0  # the largest file has the least content
            (folder / "kineto" / f"rank{index}.json.gz").write_bytes(gzip.compress(made(1000 + 100 * index), level))
        (folder / "logdir" / "compile" / "plugins").mkdir(parents=True)
        (folder / "logdir" / "compile" / "plugins" / "host.trace.json.gz").write_bytes(gzip.compress(made(1000)))
        before, run.REAL_TRACES = run.REAL_TRACES, folder
        found = run.real_files()
        tap.ok([path.name for path in found] ==
               ["rank2.json.gz", "rank3.json.gz", "rank4.json.gz", "host.trace.json.gz"],
               "of recorded profiles the three largest of PyTorch are measured, and that of a compilation", found)
        rows = run.real_rows(traces.Store(folder / "data", None), SimpleNamespace(memory="256M"))
        run.REAL_TRACES = before
        tap.ok({row.trace.title for row in rows if row.name == "report json"} ==
               {f"recorded, {path.name.removesuffix('.gz')}" for path in found} and
               all(run.baselines_of(rows, row.trace).keys() == set(run.BASELINES) for row in rows),
               "each of them has a report, and all that it is compared with")
        tap.ok(rows[0].trace.plain.read_bytes() == made(1200) and rows[0].trace.bytes == len(made(1200)),
               "the content of a recorded profile is what its gzip holds")


def row_of(name, trace, *cpu_us, peak_kib=(2048,)):
    row = run.Row(name, trace, [sys.executable])
    row.rounds = [{"user_us": us - 1000, "system_us": 1000, "clock_us": us + 5, "peak_kib": peak_kib[i % len(peak_kib)]}
                  for i, us in enumerate(cpu_us)]
    return row


def figures(tap):
    trace = traces.Trace("t", Path("t"), 10_000_000, 1000, gz=Path("t.gz"))
    part = traces.Trace("t", Path("p"), 1_000_000, 100, gz=Path("p.gz"))
    other = traces.Trace("x", Path("x"), 10_000_000, 1000)
    base = row_of("igzip -dc", trace, 10_000, 12_000, 11_000)
    found = row_of("report", trace, 40_000, 30_000, 25_000, peak_kib=(1024, 4096, 2048)).figures({"igzip -dc": base})
    tap.ok((found["cpu_s"], found["cpu_median_s"], found["clock_s"]) == (0.025, 0.03, 0.025005),
           "a row has the least and the median of its rounds", found)
    tap.ok(found["peak_mib"] == 4, "a row has the largest peak of its rounds", found)
    tap.ok((found["ns_per_event"], found["mb_per_s"]) == (25_000, 400), "rates come from the least time", found)
    tap.ok(found["ratios"] == {"igzip -dc": 2.5}, "a ratio is that of the least times", found)
    found = row_of("python", part, 30_000).figures({"igzip -dc": base})
    tap.ok(found["ratios"] == {"igzip -dc": 30}, "a ratio over another number of events is per byte", found)
    found = row_of("report", other, 30_000).figures({"igzip -dc": base})
    tap.ok(found["ratios"] == {}, "another content has no ratio", found)
    read = row_of("inspect", other, 10_000)
    listed = [base, read, row_of("inspect", trace, 5_000)]
    found = row_of("convert", other, 30_000).figures(run.baselines_of(listed, other))
    tap.ok(found["ratios"] == {"inspect": 3}, "each trace has baselines of its own", found)
    gone = run.Row("gone -dc", trace, ["no-such-program-anywhere"])
    tap.ok(gone.figures({}) == {"problem": "missing"} and "missing" in gone.line({}),
           "a missing program is shown as such")
    found = row_of("report", trace, 30_000).figures({"gone -dc": gone})
    tap.ok(found["ratios"] == {}, "a baseline that is missing gives no ratio", found)


def near(found, expected):
    return all(abs(a - b) < 0.005 for a, b in zip(found, expected))


def trial(tap):
    """The intervals are those of R's prop.test(..., correct = FALSE)."""
    tap.ok(near(wilson(0, 1000), (0, 0.383)) and near(wilson(12, 20), (38.66, 78.12)) and near(wilson(50, 50), (92.87, 100)),
           "shares have the intervals of Wilson", wilson(0, 1000), wilson(12, 20), wilson(50, 50))
    tap.ok(told(3, 1000) == "3 of 1,000: 0.3% (0.1 to 0.9%)" and told(0, 0) == "none", "a share is told with its interval",
           told(3, 1000))
    plan = compare_trial.Trial(Path("."), None, 8000, 1)
    first, same = compare_trial.KINDS[2], compare_trial.SAME
    left = dict(compare_trial.left_to_do(plan, 2, {(first, 0): {}, (same, 1): {}}))
    tap.ok(first not in left[0] and len(left[0]) == len(compare_trial.KINDS) - 1 and
           left[1] == [k for k in compare_trial.MANY if k != same], "a trial goes on with the pairs that are not there", left)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "pairs.jsonl"
        path.write_text('{"kind": "a", "index": 1}\n{"kind": "a", "in')
        tap.ok(list(compare_trial.read_notes(path)) == [("a", 1)], "half a line of a stopped trial is left out")


def names_are_of_one_module(tap):
    """The folders are searched one after the other: of two modules of one name only one is ever found."""
    here = Path(__file__).resolve().parent
    names = [{path.stem for path in folder.glob("*.py")} for folder in (here, here.parent / "support")]
    tap.ok(not names[0] & names[1], "no module of the benchmark has the name of one that tests share", *names[0] & names[1])


def main():
    tap = Tap()
    names_are_of_one_module(tap)
    made_trace(tap)
    recorded_trace(tap)
    figures(tap)
    trial(tap)
    tap.done()


if __name__ == "__main__":
    main()
