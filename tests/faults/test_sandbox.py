#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The sandboxes of SECURITY.md, as they stand there: a report of the recorded profile, with nothing else in sight."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from tap import Tap  # noqa: E402
from tracemill import BINARY, DEMO, ROOT, SANITIZED, Scratch  # noqa: E402

FILES = ["report.html", "report.pdf", "report.txt", "summary.json"]


def examples():
    """tool -> its command in SECURITY.md"""
    blocks = re.findall(r"(?:^    .*\n)+", (ROOT / "SECURITY.md").read_text(encoding="utf-8"), re.MULTILINE)
    return {tool: block for tool in ("bwrap", "unshare") for block in blocks if tool in block}


def works(*command):
    """Namespaces may be forbidden where the tests run."""
    return shutil.which(command[0]) and subprocess.run(command, capture_output=True, check=False).returncode == 0


def play(command, folder):
    (folder / "out").mkdir(exist_ok=True)
    settings = dict(os.environ, IN=str(DEMO), OUT=str(folder / "out"), PROGRAM=str(BINARY))
    return subprocess.run(["bash", "-c", command], env=settings, capture_output=True, text=True, check=False)


def main():
    tap, found = Tap(), examples()
    if SANITIZED:
        tap.skip("sandboxes", "a sanitizer needs more than they give")
        tap.done()
    if works("bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"):
        with Scratch() as folder:
            done = play(found["bwrap"], folder)
            left = sorted(path.name for path in (folder / "out" / "report").glob("*"))
            tap.ok(done.returncode == 0 and left == FILES, "bubblewrap: the report is whole", done, left)
        with Scratch() as folder:
            (folder / "out").mkdir()
            libraries = [word for place in ("/usr/lib", "/lib", "/lib64") if Path(place).exists() for word in ("--ro-bind", place, place)]
            done = subprocess.run(["bwrap", "--unshare-all", "--clearenv", *libraries, "--ro-bind", BINARY, "/tracemill", "--ro-bind", DEMO, "/in",
                                   "--bind", folder / "out", "/out", "/tracemill", "report", "/in", "-o", "/out/report", "-q", "--jobs", "2"],
                                  capture_output=True, text=True, check=False)
            left = sorted(path.name for path in (folder / "out" / "report").glob("*"))
            tap.ok(done.returncode == 0 and left == FILES, "a root without /dev, /proc and /tmp: the report is whole", done, left)
    else:
        tap.skip("bubblewrap", "not installed, or namespaces are forbidden")
    if works("unshare", "--user", "--map-current-user", "--net", "true"):
        with Scratch() as folder:
            command = found["unshare"].replace("tracemill report IN -o OUT", '"$PROGRAM" report "$IN" -o "$OUT/report" --tmp "$OUT"')
            done = play(command, folder)
            left = sorted(path.name for path in (folder / "out" / "report").glob("*"))
            tap.ok(done.returncode == 0 and left == FILES, "unshare: the report is whole", done, left)
    else:
        tap.skip("unshare", "not installed, or namespaces are forbidden")
    tap.done()


if __name__ == "__main__":
    main()
