#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A batch whose driver or workers are killed at random moments: none of its processes goes on, nothing stands under a
final name that is not whole, and the next run completes it, with the same bytes as one that nobody disturbed.

    test_batch_resume.py [--kills N] [--seed N]     `make trial-kills TRIAL='--kills 200'`
"""

import argparse
import random
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import batches  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run  # noqa: E402

SIGNALS = {"SIGKILL": signal.SIGKILL, "SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT}
FORMATS = "html,pdf,text,json,csv"
ROUNDS_OF_KILLS = 3  # most in one OUT, before it is completed


def batch_words(root, out, jobs):
    return ["batch", root, "-o", out, "--jobs", str(jobs), "--force", "--format", FORMATS, "--quiet"]


def strike(dice, process, seconds):
    """Kill the driver, a worker or all at a random moment.  out: what was done, and the workers that there were"""
    time.sleep(dice.random() * seconds)
    workers = batches.children(process)
    target = dice.choice(["driver", "driver", "worker", "worker", "all"])
    name = dice.choice(list(SIGNALS)) if target == "driver" else "SIGKILL"
    if target in ("driver", "all"):
        batches.kill(process.pid, SIGNALS[name])
    if target == "worker" and workers:
        batches.kill(dice.choice(workers))
    if target == "all":
        for worker in workers:
            batches.kill(worker)
    return f"{name} to {target}", workers + batches.children(process)


def torn(out, whole):
    """Files under final names that are neither as in an undisturbed OUT nor the record of a failure."""
    found = []
    for path, digest in batches.content(out).items() if out.exists() else ():
        name = path.rsplit("/", 1)[-1]
        if digest == "folder" or name.startswith(".") or whole.get(path) == digest:
            continue
        if "/.csv." in f"/{path}" or ".part/" in path:  # a folder of tables on its way
            continue
        if name == "result.json" and batches.results(out).get(path.split("/", 1)[1].rsplit("/", 1)[0], {}).get(
                "status") in ("failed", "partial"):
            continue
        if "many-job" in path and "/hosts/" not in path:  # of the hosts that had not failed
            continue
        if path.startswith(("index.", "csv/", "feed.atom", "status.svg", "history.db")):  # of a night in which runs failed
            continue
        found.append(path)
    return found


def trial(tap, kills, seed):
    dice = random.Random(seed)
    count = turn = 0
    with Scratch() as folder:
        root, plain = folder / "root", folder / "plain"
        batches.make_root(root, nights=1)
        begin = time.monotonic()
        result = run(*batch_words(root, plain, 2))
        seconds = time.monotonic() - begin
        whole = batches.content(plain)
        if not tap.ok(result.status in (0, 4) and len(whole) > 50, "a batch that nobody disturbs", result):
            return
        while count < kills:
            turn += 1
            out = folder / f"out-{turn}"
            told, wrong = [], []
            for _ in range(dice.randint(1, min(ROUNDS_OF_KILLS, kills - count))):
                process = batches.start(*batch_words(root, out, dice.choice([1, 2, 4])))
                what, workers = strike(dice, process, 0.9 * seconds)
                _, err = process.communicate(timeout=120)
                count += 1
                told.append(f"{what}, status {process.returncode}")
                if not batches.wait_for_end(workers):
                    wrong.append(f"a worker goes on after {what}")
                wrong += [f"{path} is not whole after {what}" for path in torn(out, whole)]
                if b"Sanitizer" in err:
                    wrong.append(err.decode("utf-8", "replace"))
            last = run(*batch_words(root, out, 2))
            unlike = batches.difference(batches.content(out), whole)
            tap.ok(last.status == result.status and not unlike and not wrong,
                   f"completed after {'; '.join(told)}", last, unlike, *wrong)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    tap = Tap()
    trial(tap, given.kills, given.seed)
    tap.done()


main()
