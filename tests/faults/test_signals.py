#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A signal at any moment of any verb: just before one of its system calls, and just after it, which are the moments that differ
to what others see, and at random ones between them.  It ends by that signal, or had done its work; nothing is there
under a final name that is not whole, what was there before is as it was, and no temporary file and no spill file is
left.  What SIGKILL leaves has a hidden name; the same batch again completes what a signal ended.

    test_signals.py [--full] [--verb PATTERN] [--random N]

Without --full some moments of each verb; N at random of each (3; 100 with --full).
"""

import random
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import faulted_verbs  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch  # noqa: E402

# Signal, when it comes, and at every how many-th call with --full; so many of them without.
MOMENTS = (
    (signal.SIGTERM, (), 1, 3),
    (signal.SIGINT, ("--after",), 1, 3),
    (signal.SIGHUP, (), 5, 1),
    (signal.SIGKILL, ("--after",), 3, 1),
)


def moments(rig, is_full):
    """(signal, words of at_call, number of the call)"""
    count = len(rig.calls())
    for number, when, every, some in MOMENTS:
        calls = range(1, count + 1, every) if is_full else random.Random(f"{rig.verb.name} {number}").sample(
            range(1, count + 1), min(some, count))
        for call in calls:
            yield number, when, call


def one_verb(tap, rig, is_full):
    wrong, ended, count = [], 0, 0
    problem = rig.undisturbed()
    for number, when, call in moments(rig, is_full):
        result = rig.at(call, "--signal", int(number), *when)
        said = rig.judge_signal(number, result)
        count += 1
        ended += result.status == -number
        if said:
            wrong.append(f"signal {int(number)} {' '.join(when)} at call {call}: {said}\n{result}")
    tap.ok(not wrong and not problem and ended, f"{rig.verb.name}: {count} signals, {ended} of them end it", problem, *wrong[:3],
           f"{len(wrong)} in all")


def at_random(tap, rig, count):
    """At moments between its begin and its usual end, wherever it is then; more of them early."""
    chance = random.Random(rig.verb.name)
    begin = time.monotonic()
    rig.run()
    usual = time.monotonic() - begin
    wrong, ended = [], 0
    for number in chance.choices((signal.SIGTERM, signal.SIGINT), k=count):
        moment = usual * chance.random() ** 2
        result = rig.run(ended=(number, moment))
        said = rig.judge_signal(number, result)
        ended += result.status == -number
        if said:
            wrong.append(f"signal {int(number)} after {moment:.6f} s: {said}\n{result}")
    tap.ok(not wrong, f"{rig.verb.name}: {count} signals at random, {ended} of them end it", *wrong[:3], f"{len(wrong)} in all")


def ignored(tap, folder):
    """What nohup had ignored stays ignored; a reader that goes away is no signal."""
    rig = faulted_verbs.Rig(next(v for v in faulted_verbs.VERBS if v.name == "inspect"), folder)
    problem = rig.undisturbed()
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    hung_up = rig.at(20, "--signal", int(signal.SIGHUP))
    signal.signal(signal.SIGHUP, before)
    tap.ok(not problem and not rig.judge((), hung_up), "SIGHUP that was ignored", problem, hung_up)
    piped = rig.at(20, "--signal", int(signal.SIGPIPE))
    tap.ok(not rig.judge((), piped), "SIGPIPE", piped)
    limited = rig.at(20, "--signal", int(signal.SIGXFSZ))
    tap.ok(not rig.judge((), limited), "SIGXFSZ", limited)


def around_unlinks(tap, folder, verb, what, *options):
    """Files that have a name for a moment: no signal before or after their removal leaves them there."""
    rig = faulted_verbs.Rig(next(v for v in faulted_verbs.VERBS if v.name == verb), folder)
    problem = rig.undisturbed()
    log = folder / "calls"
    rig.run(under=[faulted_verbs.AT_CALL, *options, "--list", log, "--"])
    names = log.read_text(encoding="ascii").split()
    made = [n for n, name in enumerate(names, 1) if name == "unlink"]
    wrong = []
    for call in (n + more for n in made for more in (-2, -1, 0, 1)):
        for when in ((), ("--after",)):
            result = rig.at(call, *options, "--signal", int(signal.SIGTERM), *when)
            said = rig.judge_signal(signal.SIGTERM, result)
            if said:
                wrong.append(f"{' '.join(when)} call {call}: {said}\n{result}")
    tap.ok(made and not problem and not wrong, f"{len(made)} {what}", problem, *wrong[:3])


def main():
    parser = faulted_verbs.options_of(__doc__)
    parser.add_argument("--random", type=int)
    options = parser.parse_args()
    tap = Tap()
    faulted_verbs.require_tracing(tap, "signals")
    with Scratch() as folder:
        faulted_verbs.prepare(folder)
        ignored(tap, folder)
        around_unlinks(tap, folder, "report-stdin", "spill files that have a name for a moment", "--named")
        around_unlinks(tap, folder, "query-keep", "files beside a database that have a name for a moment")
        for rig in faulted_verbs.rigs(folder, options.verb):
            one_verb(tap, rig, options.full)
            at_random(tap, rig, options.random or (100 if options.full else 3))
    tap.done()


if __name__ == "__main__":
    main()
