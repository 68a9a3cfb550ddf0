#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""report.pdf through readers that are not ours: qpdf and poppler."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import DEMO, Scratch, run  # noqa: E402

TOOLS = ("qpdf", "pdfinfo", "pdftotext", "pdftoppm", "pdffonts")
PAGES_MOST = 60


def tool(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, check=False)


def letters(text):
    """Letters and digits alone: a PDF breaks lines where it likes."""
    return re.sub(r"[^A-Za-z0-9]", "", text)


def check(tap, name, pdf, summary, folder):
    done = tool("qpdf", "--check", pdf)
    tap.ok(done.returncode == 0 and b"No syntax or stream encoding errors" in done.stdout, f"{name}: qpdf finds no fault",
           done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))
    info = tool("pdfinfo", pdf).stdout.decode("utf-8", "replace")
    pages = int((re.search(r"^Pages:\s+(\d+)", info, re.MULTILINE) or [0, 0])[1])
    tap.ok(1 <= pages <= PAGES_MOST, f"{name}: {pages} pages", info)
    tap.ok(re.search(r"^Title:\s+\S", info, re.MULTILINE), f"{name}: it has a title", info)
    done = tool("pdftotext", "-layout", pdf, "-")
    text = done.stdout.decode("utf-8", "replace")
    tap.ok(done.returncode == 0 and not done.stderr, f"{name}: the text can be read", done.stderr)
    tap.ok(letters(summary["verdict"]["text"])[:60] in letters(text), f"{name}: the verdict is in it",
           summary["verdict"]["text"])
    missing = [k["title"] for k in summary["kpis"] if k["applies"] and letters(k["title"]) not in letters(text)]
    tap.ok(not missing, f"{name}: every key figure is in it", *missing)
    empty = [n + 1 for n, page in enumerate(text.split("\f")[:pages]) if len(letters(page)) < 20]
    tap.ok(not empty, f"{name}: no page is empty", empty)
    done = tool("pdftoppm", "-r", "20", pdf, folder / f"{name}-page")
    made = list(folder.glob(f"{name}-page*"))
    tap.ok(done.returncode == 0 and not done.stderr and len(made) == pages, f"{name}: every page can be drawn", done.stderr)


def main():
    tap = Tap()
    absent = [t for t in TOOLS if shutil.which(t) is None]
    if absent:
        tap.skip("the PDF through other readers", f"not installed: {' '.join(absent)}")
        tap.done()
    with Scratch() as folder:
        for name, source in {"demo": DEMO, **make_profile.write_all(folder, seed=3)}.items():
            out = folder / f"{name}.out"
            result = run("report", source, "-o", out, "--format", "pdf,json")
            if result.status != 0:
                tap.ok(False, name, result)
                continue
            check(tap, name, out / "report.pdf", json.loads((out / "summary.json").read_text(encoding="utf-8")), folder)
    tap.done()


if __name__ == "__main__":
    main()
