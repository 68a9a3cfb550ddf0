#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scaling studies from profiles: points by devices, runs of a point together, the same from summaries; parts and losses add up;
what cannot be a study is refused."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run  # noqa: E402

FORMATS = "html,pdf,text,json,markdown,csv"
FILES = {"scaling.html", "scaling.pdf", "scaling.txt", "scaling.md", "scaling.json", "csv/index.csv", "csv/points.csv"}


def make(folder):
    """N devices as N.xplane.pb, and another run of 2 devices."""
    for devices in (1, 2, 4):
        (folder / f"{devices}.xplane.pb").write_bytes(make_profile.gpu(seed=devices, steps=12, devices=devices).encode())
        run("report", f"{devices}.xplane.pb", "-o", f"{devices}.report", "--format", "json", cwd=folder)
    (folder / "again.xplane.pb").write_bytes(make_profile.gpu(seed=9, steps=12, devices=2).encode())


def study(tap, folder, out, *operands, status=0, formats="json"):
    result = run("scaling", *operands, "-o", out, "-q", "--format", formats, cwd=folder)
    tap.ok(result.status == status, f"scaling {' '.join(map(str, operands))}: exit status {status}", result)
    path = folder / out / "scaling.json"
    return (json.loads(path.read_text("utf-8")) if path.exists() else None), result


def without_source(document):
    for point in document["points"]:
        for one in point["runs"]:
            del one["path"], one["kind"]
    return document


def adds_up(tap, document):
    for point in document["points"]:
        parts, details = dict(point["parts"]), point["details"]
        total = parts.pop("total_ps")
        tap.ok(sum(parts.values()) == total, f"{point['label']}: the parts of a step add up")
        tap.ok(sum(details["idle_ps"].values()) == parts["idle_ps"] and
               sum(details["exposed_copy_ps"].values()) == parts["exposed_copy_ps"], f"{point['label']}: so do causes and directions")
        lost = sum(v for k, v in point["lost"].items() if k != "why")
        tap.ok(abs(lost + point["efficiency_pct"] - 100) < 1e-6, f"{point['label']}: losses and efficiency add up")
        tap.ok(abs(point["efficiency_pct"] * point["ideal_speedup"] / 100 - point["speedup"]) < 1e-9,
               f"{point['label']}: efficiency is the speed-up as a share of the ideal one")


def main():
    tap = Tap()
    with Scratch() as folder:
        make(folder)
        document, _ = study(tap, folder, "all", "4.xplane.pb", "1.xplane.pb", "2.xplane.pb", formats=FORMATS)
        files = {str(p.relative_to(folder / "all")) for p in (folder / "all").rglob("*") if p.is_file()}
        tap.ok(FILES <= files, "every format has its file", None, str(sorted(files)))
        tap.ok([p["devices"] for p in document["points"]] == [1, 2, 4], "points are ordered by devices")
        tap.ok(document["fit"] is None and "four points" in document["why"]["fit"], "no fit through three points")
        adds_up(tap, document)
        other, _ = study(tap, folder, "summaries", "1.report", "2.report", "4.report", formats=FORMATS)
        tap.ok(without_source(other) == without_source(document), "the same study from summaries")
        document, _ = study(tap, folder, "pooled", "1.report", "2.report", "again.xplane.pb")
        tap.ok([len(p["runs"]) for p in document["points"]] == [1, 2], "runs on as many devices are one point")
        document, _ = study(tap, folder, "said", "1.report", "8=2.report")
        tap.ok([p["devices"] for p in document["points"]] == [1, 8] and
               [n["id"] for n in document["notes"]].count("devices") == 1, "N=PATH says how many devices there were, with a note")
        for label, operands, status in (("one number of devices", ("2.report", "again.xplane.pb"), 2),
                                        ("a run twice", ("1.report", "1.xplane.pb", "2.report"), 2)):
            _, result = study(tap, folder, "never", *operands, status=status)
            tap.ok(not (folder / "never").exists() and "hint:" in result.err, f"{label}: nothing is written, a hint is given", result)
    tap.done()


if __name__ == "__main__":
    main()
