#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Help of every verb: texts are in columns apart from their entries, no line is wider than the terminal, and each option has one default."""

import os
import pty
import re
import struct
import subprocess
import sys
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from tap import Tap  # noqa: E402
from tracemill import BINARY, run  # noqa: E402

WIDTH = 96  # of lines, unless the terminal is narrower
ENTRY = re.compile(r"  (?:-\w,|   ) (--\S+(?: \S+)?)(.*)")


def help_of(*verb):
    return run("help", *verb).out


def verbs_of(overview):
    return re.findall(r"^  ([a-z]+(?: [a-z]+)?)(?=  )", overview.split("\nexit status:")[0], re.M)


def too_wide(text, width):
    """Lines of more columns, but those of a single word."""
    return [line for line in text.splitlines() if len(line) > width and " " in line.strip()]


def column_faults(lines, entry):
    """Entries whose text does not start in the column of the list, two blanks or more after the entry."""
    columns, faults = set(), []
    for line, below in zip(lines, [*lines[1:], ""]):
        found = entry.match(line)
        if not found:
            continue
        text = line if found[2] else below
        start = found.end(1) if found[2] else 0
        column = start + len(text[start:]) - len(text[start:].lstrip())
        columns.add(column)
        if not text[start:].strip() or (found[2] and column - start < 2):
            faults.append(line)
    return faults + ([] if len(columns) == 1 else [f"columns {sorted(columns)}"])


def defaults_of(text):
    """option: how many defaults its text names"""
    parts = re.split(r"^  (?:-\w,|   ) --", text.split("\noptions:\n")[1].split("\n\n")[0], flags=re.M)[1:]
    return {part.split()[0]: part.count("(default") for part in parts}


def on_terminal(columns, *words):
    """What a command prints on a terminal of so many columns."""
    here, there = pty.openpty()
    ioctl(there, TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen([BINARY, *words], stdout=there, stdin=subprocess.DEVNULL) as process:
        os.close(there)
        text = b""
        try:
            while part := os.read(here, 1 << 16):
                text += part
        except OSError:  # the other end is closed
            pass
        process.wait()
    os.close(here)
    return text.decode().replace("\r\n", "\n")


def main():
    tap = Tap()
    overview = help_of()
    verbs = verbs_of(overview)
    tap.ok(len(verbs) > 20 and "batch regressions" in verbs, "verbs are listed with a gap before their text", verbs)
    faults = column_faults(overview.splitlines(), re.compile(r"  ([a-z0-9+]+(?: [a-z]+)?)(?: (.*)|$)"))
    tap.ok(not faults and not too_wide(overview, WIDTH), "the overview is in two columns", *faults, *too_wide(overview, WIDTH))
    texts = {verb: help_of(*verb.split()) for verb in verbs}
    faults = [f"{verb}: {fault}" for verb, text in texts.items()
              for fault in column_faults(text.split("\noptions:\n")[1].splitlines(), ENTRY)]
    tap.ok(not faults, "texts of options start in one column, two blanks after the widest entry", *faults)
    faults = [f"{verb}: {line}" for verb, text in texts.items() for line in too_wide(text, WIDTH)]
    tap.ok(not faults, "no line of a help is too wide", *faults)
    faults = [f"{verb}: --{name}: {count}" for verb, text in texts.items() for name, count in defaults_of(text).items() if count > 1]
    tap.ok(not faults, "no option has two defaults", *faults)
    for columns in (60, 80):
        faults = [line for words in ((), ("compare",), ("batch",), ("batch", "submit"))
                  for line in too_wide(on_terminal(columns, "help", *words), columns)]
        tap.ok(not faults, f"help fits a terminal of {columns} columns", *faults)
    command = next(iter(re.findall(r"^  tracemill query .*(?:\\\n.*)+", texts["query"], re.M)), "")
    words = subprocess.run(["sh", "-c", f"tracemill() {{ printf '%s\\n' \"$#\"; }}\n{command}"], capture_output=True, text=True, check=False)
    tap.ok(words.stdout == "4\n", "a long example is broken where a shell continues it", command, words.stdout, words.stderr)
    tap.done()


if __name__ == "__main__":
    main()
