#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A JSON with as many events as the profiler writes at most is told to be cut short; one event less is whole."""

import gzip
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from tap import Tap  # noqa: E402
from tracemill import Scratch, summary_of  # noqa: E402

CAP = 1_000_000
STREAMS, STEP_US = 4, 3
HEAD = ('{"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":['
        '{"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:0"}},')


def write(path, count):
    """Kernels of 1 us, one after the other, over a few streams of one device."""
    rows = (f'{{"ph":"X","pid":1,"tid":{i % STREAMS + 13},"ts":{i * STEP_US},"dur":1,"name":"k"}},' for i in range(count))
    names = (f'{{"ph":"M","pid":1,"tid":{i + 13},"name":"thread_name","args":{{"name":"Stream #{i + 13}(Compute)"}}}},'
             for i in range(STREAMS))
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write((HEAD + "".join(names) + "".join(rows) + "{}]}").encode())


def check(tap, count, is_capped):
    with Scratch() as folder:
        write(folder / "host0.trace.json.gz", count)
        result, summary = summary_of(folder / "host0.trace.json.gz", folder / "out", "--steps", "all")
    name = f"{count} events: {'cut short' if is_capped else 'whole'}"
    if summary is None or result.crashed:
        tap.ok(False, name, f"report ended with {result}")
        return
    coverage = summary["coverage"]
    told = any("events" in p and str(count) in p for p in summary["input"]["files"][0]["problems"])
    found = {"status": result.status, "tally": coverage["tallies"].get("event-cap", {"count": 0})["count"],
             "told": told, "kernels": summary["devices"][0]["kernels"]["count"],
             "busy": summary["devices"][0]["busy_ps"]}
    want = {"status": 4 if is_capped else 0, "tally": int(is_capped), "told": is_capped, "kernels": count,
            "busy": count * 10**6}
    tap.ok(found == want, name, f"expected {want}", f"got {found}")


def main():
    tap = Tap()
    check(tap, CAP, True)
    check(tap, CAP - 1, False)
    tap.done()


if __name__ == "__main__":
    main()
