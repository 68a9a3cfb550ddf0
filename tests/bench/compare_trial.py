#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often `tracemill compare` sees what is not there, and misses what is: pairs of generated runs of the same work with
other times, and pairs with a planted change.

    compare_trial.py [--pairs 1000] [--planted 100] [--series 300] [--seed 1] [--keep DIR]

--series tests step times that are drawn from known processes: autocorrelated, of several hosts, jittered, with compilations.
Runs come from the generator ($TM_SHARED/tools/make_trace.py, needs numpy).  Results are lines in
build/bench/compare-trial, one for each pair: a trial that was stopped goes on where it was, and another program begins
anew.  With --keep its profiles need not be made again."""

import argparse
import hashlib
import json
import multiprocessing
import sys
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from comparisons import TABLES  # noqa: E402
from intervals import told  # noqa: E402
from made import GENERATOR  # noqa: E402
from tracemill import BINARY, BUILD  # noqa: E402
from trial_pairs import KINDS, MANY, SAME, Trial, Worker, compare, work  # noqa: E402
from trial_series import run_series  # noqa: E402

EVENTS = 8000
REPORT_SECONDS = 30
# rows of the table: what of a note they count
ALARMS = {"the step": ("step",), "a part of the step": ("parts",), "a row of a table": TABLES, "a device": ("devices",),
          "a figure": ("figures",), "a cause is told": ("findings",),
          "anything": ("step", "parts", *TABLES, "devices", "figures", "findings")}


def results_file(trial):
    """Results belong to a program and a generator."""
    print_of = hashlib.sha256(BINARY.read_bytes() + GENERATOR.read_bytes()).hexdigest()[:12]
    return trial.folder / f"pairs-{trial.events}-{print_of}.jsonl"


def read_notes(path):
    notes = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            note = json.loads(line)
        except ValueError:  # the last line of a trial that was stopped
            continue
        notes[note["kind"], note["index"]] = note
    return notes


def left_to_do(trial, pairs, notes):
    for index in range(pairs):
        kinds = [kind for kind in trial.kinds_of(index) if (kind, index) not in notes]
        if kinds:
            yield index, kinds


def carry_out(trial, todo, workers, path):
    """out: how many workers came to grief"""
    context = multiprocessing.get_context("spawn")
    results, wrong, done, told_at, at_work = context.Queue(), 0, 0, time.monotonic(), workers
    processes = [context.Process(target=work, args=(trial, todo[i::workers], results)) for i in range(workers)]
    for process in processes:
        process.start()
    total = sum(len(kinds) for _, kinds in todo)
    with path.open("a", encoding="utf-8") as out:
        out.write("\n" if path.stat().st_size else "")
        while at_work:
            note = results.get()
            if note is None:
                at_work -= 1
            elif "error" in note:
                wrong += 1
                print(f"compare-trial: {note['error']}", file=sys.stderr)
            else:
                done += 1
                out.write(json.dumps(note) + "\n")
                out.flush()
            if time.monotonic() - told_at > REPORT_SECONDS:
                told_at = time.monotonic()
                print(f"compare-trial: {done:,} of {total:,} pairs", file=sys.stderr)
    for process in processes:
        process.join()
    return wrong


def having(notes, *what):
    """How many have one of these significant."""
    return sum(bool(set(what) & set(note["significant"])) for note in notes)


def print_table(notes, pairs):
    of_kind = {kind: [note for (k, index), note in notes.items() if k == kind and index < pairs] for kind in KINDS}
    same = of_kind[SAME]
    if not same:
        return
    print("| the same work: something is significant | pairs |\n|---|---|")
    for name, what in ALARMS.items():
        print(f"| {name} | {told(having(same, *what), len(same))} |")
    print(f"| the interval of the change leaves 0 out | {told(sum(not n['covers'] for n in same), len(same))} |")
    spread = sorted(n["base_cv_pct"] for n in same)
    changes = sorted(abs(n["change_pct"]) for n in same)
    print(f"\nSteps vary by {median(spread):.1f}% ({spread[0]:.1f} to {spread[-1]:.1f}%); medians of two runs differ by "
          f"{median(changes):.1f}%, 95% of them by less than {changes[int(0.95 * len(changes))]:.1f}%.\n")
    print("| planted | pairs | the median changes by | step | step or a part | a row | cause first |\n" + "|---" * 7 + "|")
    for kind in KINDS[1:]:
        found = of_kind[kind]
        if found:
            print(f"| {kind} | {len(found):,} | {median(n['change_pct'] for n in found):.1f}% | "
                  f"{told(having(found, 'step'), len(found))} | {told(having(found, 'step', 'parts'), len(found))} | "
                  f"{told(having(found, *TABLES), len(found))} | {told(sum(n['is_first'] for n in found), len(found))} |")


def try_series(trial, pairs, seed, only):
    """out: how many are beyond their limits"""
    scratch = trial.folder / "series"
    scratch.mkdir(parents=True, exist_ok=True)
    template = json.loads(Worker(trial, scratch).summary(1, "template", ()).read_text())
    rows = run_series(template, scratch, pairs, seed, compare, only)
    print("\n| step times | found is | pairs | inconclusive |\n|---|---|---|---|")
    for name, wanted, found, inconclusive, count, is_good in rows:
        print(f"| {name} | {wanted} | {told(found, count)}{'' if is_good else ' BEYOND ITS LIMIT'} | {inconclusive:,} |")
    return sum(not row[-1] for row in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=1000, help=f"pairs of each of: {', '.join(MANY)}".replace("%", "%%"))
    parser.add_argument("--planted", type=int, default=100, help="pairs of each of the others")
    parser.add_argument("--series", type=int, default=300, help="pairs of each process of step times")
    parser.add_argument("--only", help="only those processes whose name has this text")
    parser.add_argument("--seed", type=int, default=1, help="of the processes")
    parser.add_argument("--events", type=int, default=EVENTS, help="of a run; the fewer, the more its steps vary")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="folder for the profiles (0.7 MB each)")
    parser.add_argument("--folder", type=Path, default=BUILD / "bench" / "compare-trial")
    parser.add_argument("--table", action="store_true", help="only print the table of what is there")
    options = parser.parse_args()
    if not GENERATOR.exists():
        print("compare-trial: skipped: no $TM_SHARED", file=sys.stderr)
        return 0
    trial = Trial(options.folder, options.keep, options.events, min(options.planted, options.pairs))
    for folder in filter(None, (trial.folder, trial.traces)):
        folder.mkdir(parents=True, exist_ok=True)
    path = results_file(trial)
    notes, wrong = read_notes(path), 0
    todo = list(left_to_do(trial, options.pairs, notes))
    if todo and not options.table:
        wrong = carry_out(trial, todo, options.workers, path)
        notes = read_notes(path)
    print_table(notes, options.pairs)
    if options.series and not options.table:
        wrong += try_series(trial, options.series, options.seed, options.only)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
