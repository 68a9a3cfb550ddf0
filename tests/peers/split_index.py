#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The list of the parts of a trace: it keeps to schemas/split.schema.json, and tells what is in the folder."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from schemas import problems, validator_of  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import DEMO, Scratch, run  # noqa: E402

SUMS = ("bytes", "raw_bytes", "slices", "pieces", "launches", "counters", "arrows", "arguments")


def check(tap, validator, name, sources, folder, *options, most_events=1000000):
    out = folder / name.replace(" ", "-")
    result = run("split", *sources, "-o", out, "--json", *options)
    if result.status not in (0, 4):
        tap.ok(False, name, result)
        return []
    index = json.loads((out / "index.json").read_text(encoding="utf-8"))
    errors = problems(validator, index)
    tap.ok(not errors, f"{name}: keeps to the schema", *errors)
    tap.ok(json.loads(result.out) == index, f"{name}: --json prints the list")
    parts, wrong = index["parts"], []
    for key in SUMS:
        if sum(p[key] for p in parts) != index["total"][key]:
            wrong.append(f"sum of {key}")
    for part in parts:
        if (out / part["file"]).stat().st_size != part["bytes"]:
            wrong.append(f"{part['file']}: bytes")
        if part["slices"] > most_events and part["slices"] - part["pieces"] > 1:
            wrong.append(f"{part['file']}: {part['slices']} slices")
        if part["raw_bytes"] > index["max_bytes"]:
            wrong.append(f"{part['file']}: {part['raw_bytes']} bytes")
        if part["begin_ns"] > part["end_ns"]:
            wrong.append(f"{part['file']}: ends before it begins")
    tap.ok(not wrong, f"{name}: the list tells what is there", *wrong[:10])
    there = {p.name for p in out.iterdir()}
    overview = index["overview"]
    tap.ok((overview is not None) == (len(parts) > 1) and
           (overview is None or (out / overview["file"]).stat().st_size == overview["bytes"]),
           f"{name}: an overview is beside several parts", overview)
    tap.ok(there == {"index.json", "index.html", *(p["file"] for p in parts), *([overview["file"]] if overview else [])}, f"{name}: nothing else is there", sorted(there))
    return parts


def joined(tap, name, parts, total):
    """Pieces beside, the parts hold what one file holds."""
    slices = sum(p["slices"] - p["pieces"] - p["launches"] for p in parts)
    tap.ok(slices == total, f"{name}: the parts together hold every slice once", slices, total)


def same_with_analysis(tap, source, folder):
    """What was recorded is written alike whether the events were read before, for the analysis, or not."""
    lines = {}
    for name, options in {"plain": ["--plain"], "worked out": []}.items():
        out = folder / f"{name}.json"
        run("convert", source, "-o", out, *options)
        lines[name] = {line.rstrip(",") for line in out.read_text(encoding="utf-8").splitlines() if '"ph":"X"' in line}
    missing = lines["plain"] - lines["worked out"]
    tap.ok(lines["plain"] and not missing and len(lines["worked out"]) > len(lines["plain"]), f"{source.name}: the same slices",
           *sorted(missing)[:3])


def main():
    tap = Tap()
    validator = validator_of(tap, "split")
    with Scratch() as folder:
        gpu = folder / "gpu.xplane.pb"
        gpu.write_bytes(make_profile.gpu(seed=2, devices=3, steps=6).encode())
        hosts = [folder / f"h{i}.xplane.pb" for i in range(2)]
        for i, path in enumerate(hosts):
            path.write_bytes(make_profile.gpu(seed=4 + i, host=f"h{i}").encode())
        same_with_analysis(tap, gpu, folder)
        same_with_analysis(tap, DEMO, folder)
        whole = json.loads(run("convert", gpu, "-o", folder / "whole.pftrace", "--json").out)["slices"]
        for name, options in {"limits": ["--max-events", "300"], "size": ["--max-size", "64K"], "step": ["--by", "step"],
                              "two steps": ["--by", "step=2"], "time": ["--by", "time=2ms"], "device": ["--by", "device"],
                              "device and limits": ["--by", "device", "--max-events", "100"], "json": ["--format", "json", "--by", "step"],
                              "json size": ["--format", "json", "--max-size", "64K"]}.items():
            most = int(options[options.index("--max-events") + 1]) if "--max-events" in options else 1000000
            parts = check(tap, validator, name, [gpu], folder, *options, most_events=most)
            joined(tap, name, parts, whole)
            if name == "step":
                steps = [(p["steps"]["first"], p["steps"]["count"]) for p in parts]
                tap.ok(steps == [(i, 1) for i in range(6)], "a part for each step", steps)
            if name == "device":
                devices = [p["device"] for p in parts]
                tap.ok(devices == ["host", "gpu:0", "gpu:1", "gpu:2"], "a part for each device, and one for the rest", devices)
        parts = check(tap, validator, "two hosts", hosts, folder, "--max-events", "200", most_events=200)
        tap.ok([p["host"] for p in parts] == sorted(p["host"] for p in parts) and len({p["host"] for p in parts}) == 2,
               "hosts one after the other", [p["host"] for p in parts])
        check(tap, validator, "two hosts by device", hosts, folder, "--by", "device")
        check(tap, validator, "demo", [DEMO], folder, "--max-events", "1000", most_events=1000)
    tap.done()


if __name__ == "__main__":
    main()
