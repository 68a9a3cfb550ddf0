#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pairs of runs with one planted change: it is the first thing that the comparison tells, and it explains the change.
Pairs of the same work with other times: nothing is significant.

    test_compare_planted.py [--pairs N]

Runs come from the generator ($TM_SHARED/tools/make_trace.py); without it the cases are skipped.  Every comparison keeps
to its schema, and its waterfall adds up to the picosecond.
"""

import argparse
import json
import sys
from itertools import combinations
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from comparisons import PLANTED, is_first, significant  # noqa: E402
from made import GENERATOR, Made  # noqa: E402
from schemas import problems, validator_of  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run, summary_of  # noqa: E402

SHAPE = ("--steps", "20", "--devices", "2")
EVENTS, SEED = 30000, 3
NOISY_RUNS, NOISY_PAIRS = 8, 28
FALSE_ALARMS = 0.02  # of the pairs at most


def made(folder, name, *options):
    """out: the summary's path of a generated run"""
    job = Made(name, *SHAPE, *options, seed=SEED, events=EVENTS, forms=("xplane",))
    place = folder / name.replace(" ", "-")
    place.mkdir()
    wrong = job.generate(place)
    if wrong:
        raise RuntimeError(wrong)
    result, summary = summary_of(job.source("xplane"), place / "out")
    if summary is None:
        raise RuntimeError(str(result))
    for path in place.glob("*.pb"):
        path.unlink()
    return place / "out" / "summary.json"


def compare(*operands):
    with Scratch() as folder:
        result = run("compare", *operands, "-o", folder, "--format", "json")
        return json.loads((folder / "compare.json").read_text(encoding="utf-8")) if result.status == 0 else result.err


def wrong_sums(document):
    """What of the waterfalls does not add up."""
    found = []
    for fall in document["waterfalls"]:
        for figure in ("base_ps", "new_ps", "change_ps"):
            total = sum(part[figure] for part in fall["parts"])
            if total != fall[figure]:
                found.append(f"{figure}: {total} is not {fall[figure]}")
    return found


def wrong_rows(document, cause, words):
    """Kernels and operations that are not tested, though both runs list them; of a slower operation, that it is found."""
    found = [f"{table}: {r['name']} is not tested" for table in ("kernels", "ops") for r in document[table]["rows"]
             if None not in r["values"] and r["changes"][0]["significant"] is None]
    slower = [r["name"] for r in document["ops"]["rows"] if r["changes"][0]["status"] == "slower" and
              r["changes"][0]["significant"] and words in r["name"]]
    return found + ([f"ops: no row of {words} is slower"] if cause == "op_slower" and not slower else [])


def check_planted(tap, validator, folder, base):
    for name, (options, cause, words, least_pct) in PLANTED.items():
        document = compare(base, made(folder, name, *options))
        if isinstance(document, str):
            tap.ok(False, name, document)
            continue
        wrong = problems(validator, document) + wrong_sums(document) + wrong_rows(document, cause, words)
        first = document["findings"][0] if document["findings"] else None
        if not is_first(document, cause, words):
            wrong.append(f"the first finding is no {cause} with '{words}': {first and first['title']}")
        elif not (first["explains_pct"] or 0) >= least_pct:
            wrong.append(f"it explains {first['explains_pct']}%")
        if not document["tests"][0]["changed"] or document["tests"][0]["direction"] != "slower":
            wrong.append(f"the step is not slower: {document['tests'][0]}")
        tap.ok(not wrong, name, *wrong)
        back = compare(folder / name.replace(" ", "-") / "out" / "summary.json", base)
        tap.ok(isinstance(back, dict) and back["tests"][0]["direction"] == "faster" and
               all(f["severity"] in ("good", "info") for f in back["findings"][:1]), f"{name}: and taken back", back)


def check_noise(tap, validator, folder, base, pairs):
    runs = [base] + [made(folder, f"noise {i}", "--noise-seed", str(100 + i)) for i in range(NOISY_RUNS - 1)]
    alarms, wrong = [], []
    chosen = list(combinations(runs, 2))[:pairs]
    for a, b in chosen:
        document = compare(a, b)
        if isinstance(document, str):
            wrong.append(document)
            continue
        wrong += problems(validator, document) + wrong_sums(document)
        found = {what: names[:5] for what, names in significant(document).items() if names}
        if found:
            alarms.append(f"{a.parts[-3]}, {b.parts[-3]}: {found}")
    tap.ok(not wrong, f"{len(chosen)} pairs of the same work are compared", *wrong[:10])
    tap.ok(len(alarms) <= max(1, FALSE_ALARMS * len(chosen)), f"{len(chosen)} pairs of the same work: nothing is significant",
           *alarms)
    document = compare(*runs[:3])
    tap.ok(isinstance(document, dict) and not problems(validator, document) and len(document["waterfalls"]) == 2 and
           len(document["geomean"]["ratios"]) == 3, "three sides in one table", document)
    document = compare(*runs[:3], "--", *runs[3:6])
    tap.ok(isinstance(document, dict) and not problems(validator, document) and document["tests"][0]["basis"] == "runs",
           "two groups, tested by their runs", document)


def check_refusal(tap, base):
    again = base.with_name("again.json")
    again.write_bytes(base.read_bytes())
    answer = compare(base, again)
    tap.ok(isinstance(answer, str) and "same run" in answer, "a run is not compared with itself", answer)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=NOISY_PAIRS, help="pairs of the same work")
    options = parser.parse_args()
    tap = Tap()
    if not GENERATOR.exists():
        for name in (*PLANTED, "pairs of the same work"):
            tap.skip(name, "no $TM_SHARED")
        tap.done()
    validator = validator_of(tap, "comparison")
    with Scratch() as folder:
        base = made(folder, "plain")
        check_refusal(tap, base)
        check_planted(tap, validator, folder, base)
        check_noise(tap, validator, folder, base, options.pairs)
    tap.done()


if __name__ == "__main__":
    main()
