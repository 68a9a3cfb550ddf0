#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `tracemill compare` says of real runs of one program, which ought to be nothing: pairs of single runs, and groups.

    compare_runs.py FOLDER [CHANGED_FOLDER]

The folders hold runs (log directories, profiles or summaries), for instance those of capture_runs.py; where two are
given, runs of the one are compared with runs of the other as well."""

import argparse
import random
import sys
import tempfile
from itertools import combinations, product
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from comparisons import TABLES, significant  # noqa: E402
from intervals import told  # noqa: E402
from trial_pairs import call, compare, cv_pct  # noqa: E402

SIZES = (3, 4, 5)


def summaries_of(folder, to):
    """out: a summary for each run of a folder, by name"""
    found = []
    for run in sorted(folder.iterdir()):
        if not run.name.startswith("part"):
            call("report", run, "-o", to / run.name, "--format", "json")
            found.append(to / run.name / "summary.json")
    return found


def chosen_pairs(base, new, size, most, dice):
    """Pairs of groups without a run in common.  new: None = of the same runs"""
    if size == 1:
        pairs = [([a], [b]) for a, b in (combinations(base, 2) if new is None else product(base, new))]
        return dice.sample(pairs, min(most, len(pairs)))
    if new is None:
        drawn = [dice.sample(base, 2 * size) for _ in range(most)]
        return [(runs[:size], runs[size:]) for runs in drawn]
    return [(dice.sample(base, size), dice.sample(new, size)) for _ in range(most)]


def line(title, pairs, scratch):
    found = [compare(a, b, scratch / "compared") for a, b in pairs]
    named = [{what for what, names in significant(document).items() if names} for document in found]
    changes = [document["tests"][0]["change_pct"] for document in found]
    cells = [told(sum(bool(n & what) for n in named), len(named))
             for what in ({"step"}, {"parts"}, set(TABLES), {"devices"})] + [told(sum(map(bool, named)), len(named))]
    spread = sorted(abs(c) for c in changes)
    print(f"| {title} | {median(changes):+.1f}%, {spread[int(0.95 * len(spread))]:.0f}% | {' | '.join(cells)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base", type=Path)
    parser.add_argument("new", type=Path, nargs="?")
    parser.add_argument("--pairs", type=int, default=300, help="at most so many of each kind")
    options = parser.parse_args()
    dice = random.Random(1)
    with tempfile.TemporaryDirectory(prefix="tracemill-bench.") as name:
        scratch = Path(name)
        base = summaries_of(options.base, scratch / "base")
        new = summaries_of(options.new, scratch / "new") if options.new else None
        spread = sorted(cv_pct(path) for path in base)
        print(f"{len(base)} runs; steps of a run vary by {median(spread):.0f}% ({spread[0]:.0f} to {spread[-1]:.0f}%)\n")
        print("| pairs | change of the median: middle, 95% below | step | parts | rows | devices | any |\n" + "|---" * 7 + "|")
        for size in (1, *SIZES):
            title = "single runs" if size == 1 else f"groups of {size}"
            if len(base) >= 2 * size:
                line(f"the same, {title}", chosen_pairs(base, None, size, options.pairs, dice), scratch)
            if new and min(len(base), len(new)) >= size:
                line(f"changed, {title}", chosen_pairs(base, new, size, options.pairs, dice), scratch)


if __name__ == "__main__":
    main()
