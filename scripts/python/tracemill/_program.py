# SPDX-License-Identifier: Apache-2.0
"""The program: where it is, how it is run, and what becomes of its messages."""

from __future__ import annotations

import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Union

Path_ = Union[str, "os.PathLike[str]"]
# Platforms that there are wheels with a program for.
PLATFORMS = ("Linux x86_64 (glibc and musl)", "Linux aarch64 (glibc and musl)")


class TracemillError(RuntimeError):
    """The program failed.  `message` and `hint` are its words, `status` its exit status: 2 usage, 3 input, 5 output,
    6 a limit, 128+n signal n."""

    def __init__(self, message: str, status: int, hint: Optional[str] = None, command: Sequence[str] = ()) -> None:
        super().__init__(message + (f"\nhint: {hint}" if hint else ""))
        self.message, self.status, self.hint, self.command = message, status, hint, list(command)


def program() -> str:
    """The path of the program: $TRACEMILL_PROGRAM, the one of this package, or the first on PATH."""
    chosen = os.environ.get("TRACEMILL_PROGRAM")
    if chosen:
        return chosen
    own = Path(__file__).resolve().parent
    # Where installers put the scripts of a wheel: this environment, --user, --target and --prefix.
    places = [sysconfig.get_path("scripts"), str(own.parent / "bin")]
    scheme = f"{os.name}_user"
    if scheme in sysconfig.get_scheme_names():
        places.append(sysconfig.get_path("scripts", scheme=scheme))
    for place in places:
        path = os.path.join(place, "tracemill")
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    found = shutil.which("tracemill")
    if found:
        return found
    raise TracemillError(
        f"there is no program for this platform ({platform.system()} {platform.machine()}); "
        f"wheels have one for {', '.join(PLATFORMS)}", 127,
        "build it from source with 'make', and put it on PATH or set TRACEMILL_PROGRAM")


def failure(command: Sequence[str], status: int, stderr: str) -> TracemillError:
    """What the program said, as an exception."""
    if status < 0:
        try:
            name = signal.Signals(-status).name
        except ValueError:
            name = str(-status)
        hint = "the system may be out of memory: see --memory" if -status == 9 else None
        return TracemillError(f"tracemill was ended by signal {name}", 128 - status, hint, command)
    message: List[str] = []
    hints: List[str] = []
    for line in stderr.strip().splitlines():
        if line.startswith("hint: "):
            hints.append(line[len("hint: "):])
        else:
            message.append(line[len("tracemill: "):] if line.startswith("tracemill: ") else line)
    return TracemillError("\n".join(message) or f"tracemill ended with status {status}", status, "\n".join(hints) or None, command)


def arguments_of(options: Dict[str, Any]) -> List[str]:
    """Keywords as options: memory="64M" is --memory 64M, latest=True is --latest, host=["a", "b"] is given twice."""
    words: List[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(flag)
        elif isinstance(value, (list, tuple)):
            for one in value:
                words += [flag, str(one)]
        else:
            words += [flag, str(value)]
    return words


def run(*arguments: str, accept: Sequence[int] = (0, 4)) -> "subprocess.CompletedProcess[str]":
    """Runs the program; a status that is not in `accept` is a TracemillError.  4: done, but the input was damaged."""
    command = [program(), *arguments]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              encoding="utf-8", errors="replace")
    except OSError as error:
        raise TracemillError(f"cannot run '{command[0]}': {error.strerror}", 127, None, command) from error
    if done.returncode not in accept:
        raise failure(command, done.returncode, done.stderr)
    return done


def run_json(*arguments: str, accept: Sequence[int] = (0, 4)) -> Dict[str, Any]:
    done = run(*arguments, "--json", "--quiet", accept=accept)
    try:
        document = json.loads(done.stdout)
    except ValueError as error:
        raise TracemillError(f"tracemill {arguments[0]} printed no JSON: {error}", done.returncode, None, arguments) from error
    assert isinstance(document, dict)
    return document


def main() -> int:
    """`python -m tracemill`: the program itself."""
    try:
        path = program()
    except TracemillError as error:
        print(f"tracemill: {error}", file=sys.stderr)
        return error.status
    os.execv(path, ["tracemill", *sys.argv[1:]])
