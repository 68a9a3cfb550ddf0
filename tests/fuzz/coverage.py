#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the corpora of the fuzz targets reach of the files that read what comes from outside: lines, regions, branches.

    coverage.py [--files] [--missing FILE] CORPORA REPLAY...

CORPORA has a folder fuzz_NAME.corpus for each target that ran; one without gets its seeds.  REPLAY is a target built for
clang's coverage, with replay_main.c.  --files: each file by itself; --missing FILE: the lines that nothing reached."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SEEDS = ROOT / "tests" / "fuzz" / "make_seeds.py"
PARTS = (
    ("JSON traces", r"stages/input/chrome/"), ("Perfetto traces", r"stages/input/perfetto/"), ("XSpace", r"stages/input/xspace/"),
    ("gzip, zstd, archives", r"stages/input/bytes/"), ("compiled programs (HLO)", r"stages/input/hlo/"),
    ("memory profiles (pprof)", r"stages/input/pprof/"), ("records", r"stages/input/records/"),
    ("documents", r"pipeline/doc/doc_json\.c"), ("partials", r"pipeline/partial\.c|stages/figures/"),
    ("manifests, results, keys", r"pipeline/nightly/(manifest|result|run_keys)\.c"),
    ("settings, filters, gates", r"pipeline/(settings|strings|options)\.c|reports/findings/thresholds|reports/gates/gate"),
    ("history", r"reports/history/history"), ("redactor", r"pipeline/redact\.c|pipeline/engine/redaction\.c"),
)
KINDS = ("lines", "regions", "branches")


def replay(program, corpora, folder):
    """Run a target over its corpus, each input in a process of many; out: its profile."""
    corpus = corpora / f"{program.name}.corpus"
    if not corpus.is_dir():
        corpus = Path(folder) / f"{program.name}.corpus"
        corpus.mkdir()
        subprocess.run([sys.executable, SEEDS, corpus, program.name], check=True)
    raw = Path(folder) / f"{program.name}.profraw"
    environment = {**os.environ, "LLVM_PROFILE_FILE": str(raw), "TM_FUZZ_SEEDS": str(corpus)}
    done = subprocess.run([program, corpus], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:]
        raise SystemExit(f"{program.name} ended with {done.returncode} at {last}")
    print(f"{program.name}: {done.stdout.strip()}", file=sys.stderr)
    return raw


def objects(programs):
    return [str(programs[0]), *(word for program in programs[1:] for word in ("-object", str(program)))]


def summed(files):
    return {kind: [sum(f["summary"][kind][key] for f in files) for key in ("covered", "count")] for kind in KINDS}


def show(name, files):
    figures = "".join(f"{100 * c / n if n else 100:10.1f}%" for c, n in summed(files).values())
    print(f"{name:34}{summed(files)['lines'][1]:8}{figures}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--files", action="store_true")
    parser.add_argument("--missing", default="")
    parser.add_argument("corpora", type=Path)
    parser.add_argument("programs", nargs="+", type=lambda text: Path(text).resolve())
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            raw = list(pool.map(lambda program: replay(program, options.corpora.resolve(), folder), options.programs))
        merged = f"{folder}/merged"
        subprocess.run(["llvm-profdata-14", "merge", "-sparse", "-o", merged, *raw], check=True)
        if options.missing:
            shown = subprocess.run(["llvm-cov-14", "show", f"-instr-profile={merged}", *objects(options.programs),
                                    str(ROOT / options.missing)], capture_output=True, text=True, check=True).stdout
            print("\n".join(line for line in shown.splitlines() if re.match(r" *\d+\| +0\|", line)))
            return
        told = subprocess.run(["llvm-cov-14", "export", "-summary-only", f"-instr-profile={merged}", *objects(options.programs)],
                              capture_output=True, text=True, check=True).stdout
    files = [{**f, "name": re.sub(r".*/(?=(pipeline|stages|reports|tests)/)", "", f["filename"])} for f in json.loads(told)["data"][0]["files"]]
    print(f"{'':34}{'lines':>8}" + "".join(f"{'of ' + kind:>12}" for kind in KINDS))
    for name, pattern in PARTS:
        part = [f for f in files if re.match(pattern, f["name"])]
        show(name, part)
        for f in part if options.files else ():
            show("  " + f["name"].rsplit("/", 1)[1], [f])


if __name__ == "__main__":
    main()
