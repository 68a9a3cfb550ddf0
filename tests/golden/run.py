#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole outputs against stored ones, byte by byte.

    run.py [--accept] [CASE...]

A case is a folder: `cmd`, a shell script; `exit`, its status (0 where there is none); `stdout`, `stderr` and
`out/`, what it must leave.  The script runs in
an empty folder with `tracemill`, `make_profile` and `make_pytorch` as commands and $DATA for tests/data.  A PDF is compared by its
text, everything else by its bytes; the style and the script that are the same in all pages are stored once, in `page/`.
--accept rewrites what is stored; read the difference before you commit it.
"""

import argparse
import base64
import difflib
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from tap import Tap  # noqa: E402
from tracemill import BINARY, UNDER, Scratch  # noqa: E402

PRELUDE = """
tracemill() {{ {under} '{binary}' "$@"; }}
make_profile() {{ '{python}' '{support}/make_profile.py' "$@"; }}
make_pytorch() {{ '{python}' '{support}/make_pytorch.py' "$@"; }}
DATA='{data}'
"""


def text_of_pdf(path):
    done = subprocess.run(["pdftotext", "-layout", str(path), "-"], capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else b"not a PDF\n"


class Assets:
    """What all pages share, and its hash in their policies: both are replaced by the name of its file."""

    FOUND = {"style.css": re.compile(rb"<style>(.*?)</style>", re.DOTALL),
             "script.js": re.compile(rb"<script>(.*?)</script>", re.DOTALL)}

    def __init__(self, accepts):
        self.folder, self.accepts = HERE / "page", accepts
        self.bytes = {path.name: path.read_bytes() for path in self.folder.glob("*")}

    def take(self, page):
        """Store those of the first page that is accepted."""
        self.accepts = False
        self.folder.mkdir(exist_ok=True)
        for name, pattern in self.FOUND.items():
            self.bytes[name] = pattern.search(page).group(1)
            (self.folder / name).write_bytes(self.bytes[name])

    def leave_out(self, page):
        if self.accepts:
            self.take(page)
        for name, data in self.bytes.items():
            page = page.replace(base64.b64encode(hashlib.sha256(data).digest()), name.encode()).replace(data, name.encode())
        return page


def run_case(case, work, assets):
    """Run the script; out: {name: bytes} of everything it left."""
    prelude = PRELUDE.format(under=" ".join(UNDER), binary=BINARY, python=sys.executable, support=HERE.parent / "support",
                             data=HERE.parent / "data")
    environment = dict(os.environ, SOURCE_DATE_EPOCH="4000000000", LC_ALL="C.UTF-8", TZ="UTC", NO_COLOR="1", COLUMNS="100")
    process = subprocess.Popen(["bash", "-c", prelude + (case / "cmd").read_text()], cwd=work, env=environment,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate(timeout=300)
    made = {"stdout": out, "stderr": err, "exit": f"{process.returncode}\n".encode()}
    for path in sorted((work / "out").rglob("*")):
        if path.is_file():
            name = f"out/{path.relative_to(work / 'out')}"
            if path.suffix == ".pdf":
                made[name + ".txt"] = text_of_pdf(path)
            elif path.suffix == ".html":
                made[name] = assets.leave_out(path.read_bytes())
            else:
                made[name] = path.read_bytes()
    return made


def stored(case):
    kept = {"stdout": b"", "stderr": b"", "exit": b"0\n"}
    for path in case.rglob("*"):
        name = str(path.relative_to(case))
        if path.is_file() and name != "cmd":
            kept[name] = path.read_bytes()
    return kept


def accept(case, made):
    shutil.rmtree(case / "out", ignore_errors=True)
    for name, data in made.items():
        path = case / name
        if data in (b"", b"0\n") and name in ("stdout", "stderr", "exit"):
            path.unlink(missing_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def difference(name, want, got):
    if want is None or got is None:
        return [f"{name}: {'is new' if want is None else 'is missing'}"]
    a, b = (x.decode("utf-8", "replace").splitlines() for x in (want, got))
    lines = list(difflib.unified_diff(a, b, f"stored/{name}", f"now/{name}", lineterm="", n=1))
    return [line[:300] for line in lines[:40]] + ([f"... {len(lines) - 40} more lines"] if len(lines) > 40 else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--accept", action="store_true", help="store what comes out now")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    options = parser.parse_args()
    tap = Tap()
    assets = Assets(options.accept)
    for case in sorted(p.parent for p in HERE.glob("*/cmd")):
        if options.cases and case.name not in options.cases:
            continue
        with Scratch() as work:
            made = run_case(case, work, assets)
        if options.accept:
            before = stored(case)
            accept(case, made)
            changed = sorted(k for k in set(before) | set(made) if before.get(k) != made.get(k))
            print(f"{case.name}: {', '.join(changed) if changed else 'nothing changed'}")
            continue
        want = stored(case)
        lines = [line for name in sorted(set(want) | set(made)) if want.get(name) != made.get(name)
                 for line in difference(name, want.get(name), made.get(name))]
        tap.ok(not lines, case.name, *lines)
    if not options.accept:
        tap.done()


if __name__ == "__main__":
    main()
