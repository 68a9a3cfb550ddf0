# SPDX-License-Identifier: Apache-2.0
"""The real Perfetto UI in a browser: which rows it shows of a trace, and what it complains of."""

import json
import subprocess
from pathlib import Path

from devtools import BROWSER
from perfetto import importer

HERE = Path(__file__).resolve().parent
SECONDS = 90


def missing():
    return importer.missing() or (None if BROWSER else "no chromium")


def open_trace(trace, folder, seconds=SECONDS):
    """folder: for the browser's own files and the picture ui.png.  out: {"title", "tracks", "errors", "seconds"};
    raises importer.ImportFailed where nothing was to be seen in time."""
    command = [importer.NODE, str(HERE / "ui.js"), BROWSER, str(importer.bundle().parent), str(folder / "browser"),
               str(trace), str(seconds), str(folder / "ui.png")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 30, check=False)
    if done.returncode != 0:
        raise importer.ImportFailed(f"{trace}: the UI ended with {done.returncode}: {done.stderr[-500:]}")
    return json.loads(done.stdout)
