# SPDX-License-Identifier: Apache-2.0
"""Pairs of generated runs for the trial of `compare`: what they differ in, how they are made and what is noted of them."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev

from comparisons import PLANTED, is_first, significant
from made import GENERATOR
from tracemill import BINARY

SHAPE = ("--steps", "20", "--devices", "2", "--format", "xplane", "--quiet")
SAME = "same work"
# Both make a step of this shape 5.0 % longer, give or take 0.1 % (20 %: 5.37 %; one operation in threefold time: 3.08 %).
SLOWER, SLOWER_ONE = "5%, a family of operations", "5%, one operation"
CHANGES = {
    SLOWER: (("--slower-op", "gemm_fusion_dot=1.186"), "op_slower", "gemm_fusion_dot"),
    SLOWER_ONE: (("--slower-op", "cublas-gemm.89=4.25"), "op_slower", "cublas-gemm"),
    **{name: change[:3] for name, change in PLANTED.items()},
}
MANY = (SAME, SLOWER)  # of these all pairs are compared, of the others the first ones
KINDS = (*MANY, *(name for name in CHANGES if name != SLOWER))


@dataclass
class Trial:
    """folder  of the results; traces  folder of the profiles, None = they are not kept; planted  pairs of each of the kinds
    that are not compared so often"""
    folder: Path
    traces: Path
    events: int
    planted: int

    def kinds_of(self, index):
        return KINDS if index < self.planted else MANY


def load_generator():
    """The generator as a module: it costs as much to start as to make a small profile."""
    spec = importlib.util.spec_from_file_location("make_trace", GENERATOR)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def generate(generator, prefix, options):
    saved, sys.argv = sys.argv, [str(GENERATOR), str(prefix), *options]
    try:
        generator.main()
    finally:
        sys.argv = saved
    prefix.with_name(f"{prefix.name}.truth.json").unlink()
    return prefix.with_name(f"{prefix.name}.xplane.pb")


def call(*arguments):
    done = subprocess.run([str(BINARY), *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False, timeout=300)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, arguments))}: exit status {done.returncode}: {done.stderr[-500:]}")


def compare(base, new, out):
    """Two sides, each a list of paths.  out: folder; the document"""
    shutil.rmtree(out, ignore_errors=True)
    between = [] if len(base) == len(new) == 1 else ["--"]
    call("compare", *base, *between, *new, "-o", out, "--format", "json")
    return json.loads((out / "compare.json").read_text())


class Worker:
    """Makes runs, and compares them, in a folder of its own."""

    def __init__(self, trial, scratch):
        self.trial, self.scratch, self.generator = trial, scratch, None

    def profile(self, index, name, options):
        """The profile of a run: the one that was kept, else made anew."""
        kept = self.trial.traces and self.trial.traces / f"{self.trial.events}-{index}-{name}.xplane.pb"
        if kept and kept.exists():
            return kept
        self.generator = self.generator or load_generator()
        made = generate(self.generator, self.scratch / "made",
                        ("--seed", str(index), "--events", str(self.trial.events), *SHAPE, *options))
        if not kept:
            return made
        # Other file systems have no rename; half a file must not be taken for a whole one.
        part = kept.with_name(f"part.{kept.name}")
        shutil.move(made, part)
        return part.rename(kept)

    def summary(self, index, name, options):
        out = self.scratch / name
        shutil.rmtree(out, ignore_errors=True)
        call("report", self.profile(index, name, options), "-o", out, "--format", "json")
        return out / "summary.json"

    def pairs(self, index, kinds):
        """All pairs of one seed: the base, and for each kind a run with noise of its own.  out: a note for each"""
        base = self.summary(index, "base", ("--noise-seed", str(10 ** 6 + index)))
        base_cv = cv_pct(base)
        for kind in kinds:
            number = KINDS.index(kind)
            options = CHANGES[kind][0] if kind in CHANGES else ()
            new = self.summary(index, f"new{number}", ("--noise-seed", str((number + 2) * 10 ** 6 + index), *options))
            yield note_of(compare([base], [new], self.scratch / "compared"), kind, index, base_cv)


def cv_pct(summary):
    times = [float(t) for t in json.loads(summary.read_text())["steps"]["samples_ps"]]
    return 100 * stdev(times) / mean(times)


def note_of(document, kind, index, base_cv):
    test, first = document["tests"][0], (document["findings"] or [None])[0]
    note = {"kind": kind, "index": index, "base_cv_pct": round(base_cv, 3), "change_pct": test["change_pct"], "p": test["p"],
            "covers": test["low_pct"] is not None and test["low_pct"] <= 0 <= test["high_pct"],
            "significant": {what: names for what, names in significant(document).items() if names},
            "first": first and {key: first[key] for key in ("id", "title", "explains_pct")}}
    if kind in CHANGES:
        note["is_first"] = is_first(document, *CHANGES[kind][1:])
    return note


def work(trial, share, results):
    """What one process does: the seeds of its share, a line for each pair."""
    scratch = trial.folder / f"work.{os.getpid()}"
    scratch.mkdir(parents=True)
    try:
        worker = Worker(trial, scratch)
        for index, kinds in share:
            for note in worker.pairs(index, kinds):
                results.put(note)
    except Exception as wrong:  # pylint: disable=broad-except
        results.put({"error": repr(wrong)})
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        results.put(None)
