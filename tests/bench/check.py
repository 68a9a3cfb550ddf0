#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions that the inner loops take for an item, against those that are stored.

    check.py [--accept] [--growth PERCENT]

Runs build/bench/units under valgrind's callgrind, which counts instructions and so gives the same on a busy machine;
and the verbs `report`, `convert` and `split` of the program, without what it takes to start.  Also counts the files of
code that a small report passes through, which somebody who follows it has to read.
Fails where a unit takes over 5 % more than instructions.json beside this file has, and names units that lie 5 % below:
--accept stores what was counted.  Counts hold for one compiler and one C library: with others they are shown and not
compared.  Processors differ in what they can do: valgrind shows AVX2 at most, and without that the units of JSON are
not compared.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from tracemill import BUILD  # noqa: E402

UNITS, PROGRAM, STORED = BUILD / "bench" / "units", BUILD / "tracemill", HERE / "instructions.json"
VERBS = {"report": ["--format", "json"], "convert": [], "split": ["--by", "step"]}
JSON_EVENTS, PROFILE = 30_000, ["gpu", "--steps", "40", "--per-step", "500", "--devices", "2"]
TINY, FILES_MOST = HERE.parent / "data" / "tiny", 130
TRIGGER = re.compile(r"^desc: Trigger: Client Request: (\S+) (\d+)$", re.MULTILINE)
TOTAL = re.compile(r"^(?:totals|summary): (\d+)$", re.MULTILINE)
ENTERED = re.compile(r"^c?f[lie]=\(\d+\) (?:.*/)?((?:pipeline|stages|reports)/.*\.c)$", re.MULTILINE)
LIBC = re.compile(r"\d+\.\d+")


def first_line(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.stdout.decode("utf-8", "replace").partition("\n")[0]


def toolchain():
    """What counts depend on beside the code."""
    compiler = first_line(os.environ.get("CC", "gcc"), "--version")
    libc = LIBC.search(first_line("ldd", "--version").rpartition(" ")[2])
    return {"compiler": compiler, "libc": libc.group() if libc else "unknown", "machine": os.uname().machine}


def has_avx2():
    try:
        return "avx2" in Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return False


def make_inputs(folder):
    trace, profile = folder / "t.trace.json", folder / "t.xplane.pb"
    for command in ([HERE / "make_json.py", trace, "--events", JSON_EVENTS],
                    [HERE.parent / "support" / "make_profile.py", PROFILE[0], profile, *PROFILE[1:]]):
        subprocess.run([sys.executable, *map(str, command)], check=True, stdout=subprocess.DEVNULL)
    return trace, profile


def counted(folder):
    """Instructions for an item by unit."""
    trace, profile = make_inputs(folder)
    done = subprocess.run(["valgrind", "--tool=callgrind", "--instr-atstart=no", "-q",
                           f"--callgrind-out-file={folder}/out", str(UNITS), str(trace), str(profile)],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"bench-check: the units ended with {done.returncode}: {done.stderr.decode('utf-8', 'replace')[-500:]}")
    found = {}
    for path in sorted(folder.glob("out.*"), key=lambda path: int(path.suffix[1:])):
        text = path.read_text(encoding="utf-8")
        trigger, total = TRIGGER.search(text), TOTAL.search(text)
        if trigger and total:
            found[trigger.group(1)] = int(total.group(1)) / int(trigger.group(2))
            if trigger.group(1) == "xspace-open":
                events = int(trigger.group(2))
    return found | {f"verb-{verb}": counted_verb(folder, verb, profile) / events for verb in VERBS}


def counted_verb(folder, verb, profile):
    """Instructions of a verb of the program, in its function."""
    output = folder / f"{verb}.out"
    to = output / "t.pftrace" if verb == "convert" else output
    output.mkdir()
    done = subprocess.run(["valgrind", "--tool=callgrind", f"--toggle-collect=run_{verb}", "-q",
                           f"--callgrind-out-file={output}.counts", str(PROGRAM), verb, str(profile), "-o", str(to),
                           "--jobs", "1", "--quiet", *VERBS[verb]],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"bench-check: {verb} ended with {done.returncode}: {done.stderr.decode('utf-8', 'replace')[-500:]}")
    return int(TOTAL.search(Path(f"{output}.counts").read_text(encoding="utf-8")).group(1))


def entered(folder):
    """Files of code of which a report of 42 events executes something."""
    done = subprocess.run(["valgrind", "--tool=callgrind", "-q", f"--callgrind-out-file={folder}/entered", str(PROGRAM),
                           "report", str(TINY), "-o", str(folder / "tiny")],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"bench-check: report ended with {done.returncode}: {done.stderr.decode('utf-8', 'replace')[-500:]}")
    return len(set(ENTERED.findall((folder / "entered").read_text(encoding="utf-8"))))


def is_compared(name, avx2):
    return avx2 or not name.startswith("json")


def compare(found, stored, growth, avx2):
    """Prints a line per unit.  out: how many have grown, are gone or are not stored"""
    bad = 0
    print(f"{'instructions an item':24}{'now':>10}{'stored':>10}{'change':>9}")
    for name in sorted(found.keys() | stored.keys(), key=lambda n: list(stored).index(n) if n in stored else 999):
        if name not in found or name not in stored:
            print(f"{name:24}{'is not stored' if name in found else 'is gone'}: --accept")
            bad += 1
            continue
        change = 100 * (found[name] / stored[name] - 1)
        word = ""
        if not is_compared(name, avx2):
            word = "not compared: no AVX2"
        elif change > growth:
            word, bad = "GREW", bad + 1
        elif change < -growth:
            word = "less: --accept keeps it"
        print(f"{name:24}{found[name]:10.1f}{stored[name]:10.1f}{change:+8.1f}% {word}".rstrip())
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--accept", action="store_true", help="store what is counted now")
    parser.add_argument("--growth", type=float, default=5, metavar="PERCENT")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found, files = counted(Path(folder)), entered(Path(folder))
    here = toolchain()
    if options.accept:
        rounded = {name: round(count, 1) for name, count in found.items()}
        STORED.write_text(json.dumps({**here, "units": rounded}, indent=1) + "\n", encoding="utf-8")
        print(f"bench-check: stored {len(found)} units")
        return 0
    print(f"bench-check: a report of 42 events enters {files} files of code, at most {FILES_MOST}")
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    units = stored.pop("units")
    bad = compare(found, units, options.growth, has_avx2())
    if stored != here:
        print(f"bench-check: not compared: stored for {stored}, this is {here}")
        return 1 if files > FILES_MOST else 0
    print(f"bench-check: {len(found)} units, {bad} of them took over {options.growth:g}% more" if bad else
          f"bench-check: {len(found)} units, none took over {options.growth:g}% more")
    return 1 if bad or files > FILES_MOST else 0


if __name__ == "__main__":
    sys.exit(main())
