#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""index.pdf of a batch through readers that are not ours: qpdf and poppler."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import hostile_texts as texts  # noqa: E402
import make_history  # noqa: E402
import nights  # noqa: E402
from pdf_reader import Pdf, letters, missing_tools  # noqa: E402
from tap import Tap  # noqa: E402
from test_pdf import check_findings, check_info, check_layout, check_syntax  # noqa: E402
from tracemill import Scratch  # noqa: E402


def check(tap, name, folder, rows):
    document, _ = nights.tell(folder / name, rows)
    path = folder / name / "index.pdf"
    pdf = Pdf(path)
    check_syntax(tap, name, pdf, folder)
    check_layout(tap, name, pdf)
    return document, pdf, path


def main():
    tap = Tap()
    absent = missing_tools()
    if absent:
        tap.skip("the PDF of a night through other readers", f"not installed: {' '.join(absent)}")
        tap.done()
        return
    with Scratch() as folder:
        document, pdf, path = check(tap, "story", folder, make_history.story())
        check_findings(tap, "story", pdf, document)
        check_info(tap, "story", pdf, document)
        missing = [title for title in ("NIGHTLY REPORT", "Changes", "Trends", "Jobs", "Runs of the night") if letters(title) not in letters(pdf.text)]
        tap.ok(not missing, "its sections are in it", *missing)
        wants = {f["link"]["href"] for f in document["findings"] if f["link"]}
        has = set(re.findall(r"/URI \(([^)]*)\)", path.read_bytes().decode("latin-1").replace(r"\057", "/")))
        tap.ok(wants and has == wants, "findings lead to the reports of their runs", has ^ wants)
        tap.ok(all(letters(href)[:40] in letters(pdf.text) for href in wants), "and tell where they lie")
        text = texts.MARKUP.decode()
        check(tap, "hostile", folder, [make_history.run_of("job", ago, 100 if ago else 130, finding=text, label=text) | {"job": text * 8} for ago in range(30)])
    tap.done()


if __name__ == "__main__":
    main()
