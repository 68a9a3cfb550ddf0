#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A converted trace and a part of a split one in the real Perfetto UI: the rows stand there, and nothing is complained
of."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from perfetto import ui  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run  # noqa: E402

# Of the made profile: processes, threads and streams with their numbers, what was worked out.
RECORDED = ("device:GPU:0", "device:GPU:1", "Stream #13(Compute) 13", "python")
ANALYSIS = ("Analysis · tracemill", "critical findings · tracemill", "warning findings · tracemill", "busy share · tracemill", "gpu:0 steps · tracemill",
            "gpu:1 idle gaps · tracemill")
DERIVED = ("queue depth · tracemill", "XLA modules · tracemill", *ANALYSIS)


def check(tap, name, trace, wanted, folder):
    try:
        seen = ui.open_trace(trace, folder)
    except ui.importer.ImportFailed as failed:
        tap.ok(False, name, failed)
        return
    missing = [row for row in wanted if not any(title.startswith(row) for title in seen["tracks"])]
    tap.ok(not seen["errors"], f"{name}: nothing is complained of", *seen["errors"])
    tap.ok(not missing, f"{name}: its rows", f"missing: {missing}", f"seen: {seen['tracks']}")


def main():
    tap = Tap()
    why = ui.missing()
    if why:
        tap.skip("traces in Perfetto's own viewer", why)
        tap.done()
    with Scratch() as folder:
        source = folder / "run.xplane.pb"
        source.write_bytes(make_profile.MAKERS["gpu"](seed=5).encode())
        for suffix in (".pftrace", ".json.gz"):
            out = folder / f"run{suffix}"
            result = run("convert", source, "-o", out)
            if tap.ok(result.status == 0, f"{suffix[1:]}: it is converted", result):
                check(tap, suffix[1:], out, RECORDED + DERIVED, folder)
        result = run("split", source, "-o", folder / "parts", "--by", "step=2")
        if tap.ok(result.status == 0, "it is split", result):
            check(tap, "the second part", folder / "parts" / "part-0002.pftrace", RECORDED + ANALYSIS, folder)
    tap.done()


if __name__ == "__main__":
    main()
