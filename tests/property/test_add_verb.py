#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A file, its name in the list and its bit add a verb: a patch that does so (tests/data/add_verb.patch) is built in a copy
of the tree, and the help, the manual page and the completions know the verb."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from patched_tree import test_addition  # noqa: E402
from tracemill import DEMO, ROOT, run  # noqa: E402

PATCH = ROOT / "tests" / "data" / "add_verb.patch"


def check_verb(tap, folder, _files, _objects):
    binary = folder / "tree" / "build" / "tracemill"
    result = run("count", DEMO, binary=binary)
    tap.ok(result.status == 0 and result.out.strip() == "1", "the verb works", result)
    summary, description = "count the runs of log directories", "prints how many runs they have"
    for words, text in (("help", summary), ("help count", description), ("count --help", description), ("man", description),
                        ("completions fish", summary)):
        result = run(*words.split(), binary=binary)
        tap.ok(result.status == 0 and text in " ".join(result.out.split()), f"{words} has it", result)
    result = run("coutn", binary=binary)
    tap.ok(result.status == 2 and "count" in result.err, "a mistyped word leads to it", result)
    result = run("count", DEMO, "--latest", binary=binary)
    tap.ok(result.status == 2, "it takes no option of others", result)


if __name__ == "__main__":
    test_addition("a verb", PATCH, 3, check_verb)
