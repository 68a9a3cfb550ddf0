# SPDX-License-Identifier: Apache-2.0
"""Runs the program under test the way a user does."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("BUILD", ROOT / "build")).resolve()
BINARY = Path(os.environ.get("TM_BINARY", BUILD / "tracemill"))
SANITIZED = bool(os.environ.get("TM_SANITIZED"))
SHARED = Path(os.environ.get("TM_SHARED", ROOT.parent / "shared"))
DEMO = ROOT / "tests" / "data" / "demo"
if not BINARY.exists():
    raise SystemExit(f"no program at {BINARY}: 'make' builds it")
# The shell of a background job ignores these, and what is ignored passes on to the programs that get them here.
for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)
UNDER = shlex.split(os.environ.get("TM_UNDER", ""))
SANITIZER = re.compile(rb"(Address|Leak|UndefinedBehavior|Memory|Thread)Sanitizer|runtime error:|==\d+==")


class Result:
    def __init__(self, status, out, err):
        self.status, self.raw_out, self.raw_err = status, out, err
        self.out, self.err = out.decode("utf-8", "replace"), err.decode("utf-8", "replace")

    @property
    def crashed(self):
        """Ended by a signal, or a sanitizer or valgrind spoke."""
        return self.status < 0 or self.status >= 126 or self.status == 99 or bool(SANITIZER.search(self.raw_err))

    def __str__(self):
        return f"exit status {self.status}\nstdout: {self.out[-800:]}\nstderr: {self.err[-2000:]}"


def run(*arguments, stdin=None, cwd=None, seconds=300, binary=BINARY, user=None, under=UNDER, ended=None, **environment):
    """Run `tracemill ARGUMENTS`, under: as the last words of another command.  ended: (signal, after so many seconds).
    out: Result; a run that does not end is status 124."""
    settings = dict(os.environ, **{k: str(v) for k, v in environment.items()})
    settings.setdefault("SOURCE_DATE_EPOCH", "4000000000")
    with subprocess.Popen([*under, str(binary), *map(str, arguments)], cwd=cwd, env=settings, user=user, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        given = stdin or b""
        for number, wait in ([ended] if ended else []) + [(signal.SIGKILL, seconds)]:
            try:
                out, err = process.communicate(given, wait)
                return Result(process.returncode, out, err)
            except subprocess.TimeoutExpired:
                process.send_signal(number)
                given = None
        out, err = process.communicate()
        return Result(124, out, err + b"\nno end")


class Scratch:
    """A folder that goes away: `with Scratch() as folder:`."""

    def __enter__(self):
        self.path = Path(tempfile.mkdtemp(prefix="tracemill-test."))
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


NOBODY = 65534


def run_without_rights(folder, *arguments):
    """Run as a user whom permissions bind: root, whom they do not, becomes nobody.  `folder`: a Scratch that
    holds the files of the run; it becomes readable for all."""
    if os.geteuid() != 0:
        return run(*arguments)
    folder.chmod(0o755)
    binary = folder / "tracemill"  # the checkout may lie where nobody cannot look
    if not binary.exists():
        shutil.copy(BINARY, binary)
        binary.chmod(0o755)
    return run(*arguments, binary=binary, user=NOBODY, cwd=folder)


def summary_of(source, folder, *options, **environment):
    """Report on `source` into `folder`.  out: (Result, summary as a dict, None where none was written)."""
    sources = source if isinstance(source, (list, tuple)) else [source]
    result = run("report", *sources, "-o", folder, "--format", "json", *options, **environment)
    path = Path(folder) / "summary.json"
    if not path.exists():
        return result, None
    with open(path, encoding="utf-8") as file:
        return result, json.load(file)
