#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a run was made to suffer from is what its report says first.

    scenarios.py [--case PATTERN] [--seed N] [--list]

Each scenario of the generator ($TM_SHARED/tools/make_trace.py) plants one thing in an otherwise healthy run.  On every
platform, from the profile and from its JSON: the finding that the scenario was made for comes first by time at stake,
or is the one that is told where it costs no time that can be told; a healthy run raises no warning.  The same where the devices' clock lags behind the host's (--async), which the
report may tell besides, as a fact.  And of all findings:
they are in order, their severity follows from their time at stake, and nothing more is at stake than there is.
Without the generator: skipped.
"""

import argparse
import sys
from fnmatch import fnmatchcase
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from findings import about_the_run, first_by_stake, problems_of  # noqa: E402
from made import GENERATOR, Made  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, summary_of  # noqa: E402

# What is accepted as the first finding.  QUIET: no finding about the run at all; FACT: MEMORY_FACTS are told first,
# which cost no time that can be told; PAUSES: only pauses between operations are left of the scenario, which is told,
# and no other finding is a warning.
QUIET, FACT, PAUSES = "quiet", "a fact of its memory", "pauses"
SMALL = ("kernel_short", "op_short")
WAITS = ("idle_device_wait",)
EVERYWHERE = ("gpu", "tpu", "cpu")
PLANTED = {
    # scenario: (platforms, what is expected, what the generator plants)
    "steady": ((EVERYWHERE, QUIET, "nothing"),),
    "unfused": ((EVERYWHERE, SMALL, "kernels of 4 us, 45% of the time between them idle"),),
    "stalled": ((EVERYWHERE, ("idle_input",), "45% of each step on the host, most of it in data_loading"),),
    "transfers": ((("gpu",), ("transfer_h2d", "transfer_repeated_h2d"), "a copy for every fourth kernel, 60% of them H2D"),
                  (("tpu", "cpu"), PAUSES, "TPU: 2% of the time waits for copies, CPU: no copies; only pauses are left")),
    "dominated": ((("gpu", "cpu"), ("op_dominant", "kernel_dominant"), "every fiftieth kernel is one of 3.6 ms"),
                  (("tpu",), ("op_dominant", "op_memory_far"), "the same, and 256 MiB for each is far below the peak")),
    "recompile": ((EVERYWHERE, ("compile_in_steps",), "180 ms of compiling in 60% of the steps"),),
    "lowocc": ((("gpu",), ("occupancy_low",), "a fifth of the occupancy; times as in steady"),
               (("tpu", "cpu"), QUIET, "nothing: occupancy is a GPU's")),
    "imbalance": ((("gpu", "tpu"), ("imbalance",), "the last device has 45% of the first one's work"),
                  (("cpu",), QUIET, "nothing: one device")),
    "comm": ((("gpu", "tpu"), ("collective_exposed",), "a collective of 260 us for every twelfth kernel"),
             (("cpu",), PAUSES, "no collectives on a CPU; only pauses are left")),
    "memory": ((("gpu", "tpu"), FACT, "an allocator event for every second kernel, 5% of small buffers never freed"),
               (("cpu",), QUIET, "nothing: no allocator events")),
}
MEMORY_FACTS = ("memory_allocations", "memory_growth")
FORMS = ("xplane", "json")
ALONE = ("memory",)  # on one device: what two have to tell each other is near the limit of a warning
# The generator gives a healthy run some 3 % of each step on the host before its devices begin: with this seed they are
# below the 3 % from which on a finding is a warning.
EVENTS, SEED = 20000, 3
# Of 20,000 events fifteen buffers are kept in a quarter of the run: with some seeds one quarter has none of the large ones,
# and a leak is what is kept in each.
EVENTS_OF = {"memory": 60000}


def expectation(scenario, platform, form):
    """(what is expected, what is planted)"""
    for platforms, expected, planted in PLANTED[scenario]:
        if platform in platforms:
            if expected is FACT and form != "xplane":
                return QUIET, "nothing: a JSON has no allocator events"
            return expected, planted
    raise KeyError(scenario)


def warnings_of(findings):
    return [f"{f['id']}: {f['severity']}, {f['share_pct']}%" for f in findings if f["severity"] != "info"]


def told(findings):
    """All findings in one line."""
    return "  ".join(f"{f['id']} ({f['severity']}, {f['share_pct']:.1f}%)" if f["share_pct"] else
                     f"{f['id']} ({f['severity']})" for f in findings)


def is_of_start(finding):
    """Each made step begins with the loading of its data.  In the window of so few steps, which begins at the first marker,
    that is a wait of a few percent, and told as such."""
    return finding["id"] == "idle_input" and finding["share_pct"] < 4


def is_of_pauses(finding):
    """A made TPU pauses for 9 to 13 % of the time between operations, by the seed: from 10 % on that is told, as a fact."""
    return finding["id"] in WAITS and finding["severity"] == "info"


def is_of_lag(finding):
    """With --async the devices' clock is late by one lag: the first launched work starts late once, a fact."""
    return finding["id"] == "idle_launch" and finding["at_stake_ps"] == 0 and finding["severity"] != "critical"


def wrong(expected, findings, lags=False):
    """What is not as expected, None where all is."""
    findings = [f for f in findings if not (lags and is_of_lag(f))]
    quiet = [f for f in findings if not is_of_start(f) and not is_of_pauses(f)]
    if expected == QUIET:
        loud = [f["id"] for f in quiet]
        return f"expected no finding, got {loud}" if loud else None
    if expected == FACT:
        told_first = {f["id"] for f in quiet[:2]}
        return None if told_first == set(MEMORY_FACTS) else f"expected {MEMORY_FACTS} first"
    if expected == PAUSES:
        others = [line for line in warnings_of(findings) if not line.startswith(WAITS)]
        is_told = any(f["id"] in WAITS for f in findings)
        return None if is_told and not others else f"expected {WAITS[0]} and no other warning"
    first = first_by_stake(findings)
    if first is None or first["id"] not in expected:
        return f"expected {' or '.join(expected)} first, got {first['id'] if first else 'nothing'}"
    return None if first["severity"] != "info" else f"{first['id']} is first, but no more than a remark"


def run_case(tap, scenario, platform, form, summary, lags):
    expected, planted = expectation(scenario, platform, form)
    findings = about_the_run(summary["findings"])
    problem = wrong(expected, findings, lags)
    tap.ok(problem is None, f"{platform}-{scenario}-{form}{'-async' * lags}: "
           f"{expected if isinstance(expected, str) else ' or '.join(expected)}", problem, f"planted: {planted}", f"told: {told(findings)}")


def run_profile(tap, platform, scenario, offences, seed, lags):
    devices = [] if platform == "cpu" or scenario in ALONE else ["--devices", "2"]
    forms = FORMS[:1] if lags else FORMS
    made = Made(f"{platform}-{scenario}{'-async' * lags}", "--platform", platform, "--scenario", scenario, *devices,
                *["--async"] * lags, seed=seed, events=EVENTS_OF.get(scenario, EVENTS), forms=forms)
    with Scratch() as folder:
        failed = made.generate(folder)
        if failed:
            tap.ok(False, made.name, "the generator failed", failed)
            return
        for form in forms:
            result, summary = summary_of(made.source(form), folder / f"out-{form}")
            if summary is None or result.status != 0:
                tap.ok(False, f"{made.name}-{form}", f"report ended with {result}")
                continue
            run_case(tap, scenario, platform, form, summary, lags)
            for rule, lines in problems_of(summary).items():
                offences.setdefault(rule, []).extend(f"{made.name}-{form}: {line}" for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", default="*", metavar="PATTERN", help="only these, as gpu-steady")
    parser.add_argument("--seed", type=int, default=SEED, metavar="N", help="of the generator (default %(default)s)")
    parser.add_argument("--list", action="store_true", help="name the cases")
    options = parser.parse_args()
    cases = [(p, s, lags) for lags in (False, True) for p in EVERYWHERE for s in PLANTED
             if not (lags and p == "cpu") and fnmatchcase(f"{p}-{s}{'-async' * lags}", options.case)]
    if options.list:
        print("\n".join(f"{p}-{s}{'-async' * lags}: {expectation(s, p, 'xplane')}" for p, s, lags in cases))
        return
    tap, offences = Tap(), {}
    for platform, scenario, lags in cases:
        if GENERATOR.exists():
            run_profile(tap, platform, scenario, offences, options.seed, lags)
        else:
            tap.skip(f"{platform}-{scenario}", f"no generator at {GENERATOR}")
    for rule, lines in offences.items():
        tap.ok(not lines, rule, *lines[:12], *([f"... and {len(lines) - 12} more"] if len(lines) > 12 else []))
    tap.done()


if __name__ == "__main__":
    main()
