# SPDX-License-Identifier: Apache-2.0
"""Nights of made histories, for tests that look at what is written of them."""

import json
import subprocess

import make_history
from tracemill import BUILD

NIGHT = BUILD / "tests" / "night"
FILES = ("index.html", "index.json", "index.pdf", "index.txt", "index.md")


def tell(folder, rows, *options):
    """(the document, the ledger's peak) of the rows; files in `folder`."""
    folder.mkdir(exist_ok=True)
    (folder / "history.db").unlink(missing_ok=True)
    make_history.write(folder / "rows.jsonl", rows)
    done = subprocess.run([NIGHT, folder / "rows.jsonl", folder, *map(str, options)], capture_output=True, text=True, timeout=600,
                          check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{done.returncode}: {done.stderr}")
    return json.loads((folder / "index.json").read_text("utf-8")), int(done.stdout)
