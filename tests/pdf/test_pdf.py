#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""report.pdf, compare.pdf and scaling.pdf through readers that are not ours: qpdf and poppler."""

import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import made  # noqa: E402
import make_profile  # noqa: E402
import studies  # noqa: E402
from pdf_reader import Pdf, letters, missing_tools, tool  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import DEMO, SHARED, Scratch, run  # noqa: E402

PAGES_MOST, BYTES_MOST, MARGIN = 60, 1 << 20, 28
SECTIONS = {"findings": "Findings", "steps": "Steps", "devices": "Devices", "gaps": "Idle gaps", "ops": "Operations",
            "environment": "Environment", "coverage": "Data quality"}
CHARTS = ("Device breakdown", "Step breakdown", "Step times", "Idle time by cause")
ALWAYS = ["Definitions", "About this report"]


def check_syntax(tap, name, pdf, folder):
    done = tool("qpdf", "--check", pdf.path)
    tap.ok(done.returncode == 0 and b"No syntax or stream encoding errors" in done.stdout,
           f"{name}: qpdf finds no fault", done.stdout.decode("utf-8", "replace"),
           done.stderr.decode("utf-8", "replace"))
    tap.ok(1 <= pdf.pages <= PAGES_MOST, f"{name}: {pdf.pages} pages", pdf.info)
    tap.ok(pdf.path.stat().st_size < BYTES_MOST, f"{name}: it is small", pdf.path.stat().st_size)
    fonts = tool("pdffonts", pdf.path).stdout.decode("utf-8", "replace").splitlines()[2:]
    tap.ok(fonts and all(re.search(r" yes yes yes +\d+ +\d+$", f) for f in fonts),
           f"{name}: all fonts are in it, in part, with their characters", *fonts)
    done = tool("pdftoppm", "-r", "20", pdf.path, folder / f"{name}-page")
    made = list(folder.glob(f"{name}-page*"))
    tap.ok(done.returncode == 0 and not done.stderr and len(made) == pdf.pages, f"{name}: every page can be drawn",
           done.stderr)


def check_text(tap, name, pdf, summary):
    words = letters(pdf.text)
    tap.ok(not pdf.complaints, f"{name}: the text can be read", pdf.complaints)
    tap.ok(letters(summary["verdict"]["text"])[:60] in words, f"{name}: the verdict is in it",
           summary["verdict"]["text"])
    missing = [k["title"] for k in summary["kpis"] if k["applies"] and letters(k["title"]) not in words]
    tap.ok(not missing, f"{name}: every key figure is in it", *missing)
    percents = [f"{k['value']:.1f}%" for k in summary["kpis"]
                if k["applies"] and k["unit"] == "%" and k["value"] is not None and 0.1 < k["value"] < 99.9]
    missing = [p for p in percents if p not in pdf.page_texts[0]]
    tap.ok(not missing, f"{name}: the first page has their values", *missing)
    missing = [f["title"] for f in summary["findings"][:30] if letters(f["title"].replace("`", ""))[:30] not in words]
    tap.ok(not missing, f"{name}: every finding is in it", *missing)
    titles = ALWAYS + [title for key, title in SECTIONS.items() if summary.get(key)]
    missing = [t for t in titles if letters(t) not in words]
    tap.ok(not missing, f"{name}: every section is in it", *missing)
    empty = [n + 1 for n, page in enumerate(pdf.page_texts) if len(letters(page)) < 40]
    tap.ok(not empty, f"{name}: no page is empty", empty)


def overlapping(words):
    """Pairs of words of one page of which one covers the start of the other, or touches it."""
    found, by_page = [], {}
    for page, _, _, *box in words:
        by_page.setdefault(page, []).append(box)
    for boxes in by_page.values():
        boxes.sort()
        for i, (x0, y0, x1, y1, word) in enumerate(boxes):
            for other in boxes[i + 1:]:
                if other[0] > x1 - 1:
                    break
                if min(y1, other[3]) - max(y0, other[1]) > 0.6 * min(y1 - y0, other[3] - other[1]):
                    found.append((word, other[4]))
    return found


def check_layout(tap, name, pdf):
    outside = [w for w in pdf.words() if w[3] < MARGIN or w[5] > w[1] - MARGIN or w[4] < MARGIN - 8 or w[6] > w[2] - 16]
    tap.ok(not outside, f"{name}: nothing stands in the margins", *outside[:5])
    over = overlapping(pdf.words()) + re.findall(r"\b(?:Fix|Recommendations)\d\.", pdf.text)
    tap.ok(not over, f"{name}: no word covers another", *over[:5])
    wrong = [n for n, page in enumerate(pdf.page_texts, 1) if f"page {n} of {pdf.pages}" not in page]
    tap.ok(not wrong, f"{name}: every page has its number", wrong)


def check_info(tap, name, pdf, summary):
    title = re.search(r"^Title:\s+(\S.*)$", pdf.info, re.MULTILINE)
    tap.ok(title, f"{name}: it has a title", pdf.info)
    tap.ok(letters(summary["verdict"]["text"])[:20] in letters(pdf.info), f"{name}: its subject is the verdict",
           pdf.info)
    tap.ok(re.search(r"^Creator:\s+tracemill \d", pdf.info, re.MULTILINE), f"{name}: it names its program", pdf.info)


def check_findings(tap, name, pdf, document):
    words = letters(pdf.text)
    missing = [f["title"] for f in document["findings"][:30] if letters(f["title"].replace("`", ""))[:30] not in words]
    tap.ok(not missing, f"{name}: every finding is in it", *missing)
    tap.ok(letters(document["verdict"]["text"])[:60] in words, f"{name}: the verdict is in it", document["verdict"]["text"])
    empty = [n + 1 for n, page in enumerate(pdf.page_texts) if len(letters(page)) < 40]
    tap.ok(not empty, f"{name}: no page is empty", empty)


def check_studies(tap, folder):
    studies.make(folder)
    titles = {"compare": ["RUN COMPARISON", "Causes of the change", "From base to new", "Comparability"],
              "scaling": ["SCALING STUDY", "Scaling limits", "Speedup", "Study"]}
    for name in studies.STUDIES:
        result, out, stem = studies.study(folder, name, "pdf,json")
        if result.status != 0:
            tap.ok(False, name, result)
            continue
        pdf, document = Pdf(out / f"{stem}.pdf"), json.loads((out / f"{stem}.json").read_text(encoding="utf-8"))
        check_syntax(tap, out.name, pdf, folder)
        check_findings(tap, name, pdf, document)
        missing = [title for title in titles[stem] if letters(title) not in letters(pdf.text)]
        tap.ok(not missing, f"{name}: its sections are in it", *missing)
        check_layout(tap, name, pdf)
        check_info(tap, name, pdf, document)


def check_paper_and_bytes(tap, folder):
    def made(where, *options):
        result = run("report", DEMO, "-o", folder / where, "--format", "pdf", *options)
        return (folder / where / "report.pdf").read_bytes() if result.status == 0 else str(result)

    first = made("first")
    tap.ok(first == made("second"), "the same input gives the same bytes")
    tap.ok(first == made("small", "--memory", "32M"), "so it does with less memory")
    tap.ok("(A4)" in Pdf(folder / "first" / "report.pdf").info, "the paper is A4")
    made("letter", "--paper", "letter")
    letter = Pdf(folder / "letter" / "report.pdf")
    tap.ok("(letter)" in letter.info, "--paper letter gives Letter", letter.info)
    check_layout(tap, "letter", letter)


STEPS_AND_DEVICES = ("--steps", "40", "--devices", "8", "--hlo")
LENGTHS = {"40 steps, 8 devices, with collectives": (), "with transfers": ("--scenario", "transfers"),
           "with unfused operations": ("--scenario", "unfused"), "with an imbalance": ("--scenario", "imbalance"),
           "with recompiles": ("--scenario", "recompile")}


def lengths(folder):
    """(name, source, how many pages at most)"""
    yield "demo", DEMO, 8
    yield "two kernels", SHARED / "traces" / "xspace" / "xla-gtx1080ti.xplane.pb", 3
    many = folder / "many.xplane.pb"
    many.write_bytes(make_profile.gpu(steps=40, devices=8, per_step=12).encode())
    yield "40 steps, 8 devices", many, 14
    for name, options in LENGTHS.items():
        source = made.Made(name, *STEPS_AND_DEVICES, *options, events=100_000, forms=("xplane",))
        if made.GENERATOR.exists():
            source.generate(folder)
        yield name, folder / f"{made.HOST}.xplane.pb", 14


def check_length(tap, folder):
    """Nothing is said twice: a short profile makes a short document, without queries that nobody can copy from paper."""
    for name, source, most in lengths(folder):
        if not Path(source).exists():
            tap.skip(f"{name}: pages", "no shared traces")
            continue
        run("report", source, "-o", folder / "length", "--format", "pdf")
        pdf = Pdf(folder / "length" / "report.pdf")
        tap.ok(pdf.pages <= most, f"{name}: at most {most} pages", pdf.pages)
        tap.ok(not any("from slice" in text for text in pdf.page_texts), f"{name}: no query is printed")
        titles = [line.strip() for text in pdf.page_texts for line in text.splitlines() if line.strip() in CHARTS]
        tap.ok(len(titles) == len(set(titles)), f"{name}: no chart is drawn twice", titles)


def check_op_column(tap, folder):
    """Operations of one name are distinguished by where in the program they come from."""
    run("report", DEMO, "-o", folder / "ops", "--format", "pdf,json")
    rows = json.loads((folder / "ops" / "summary.json").read_text(encoding="utf-8"))["ops"]["rows"]
    titles = [line for text in Pdf(folder / "ops" / "report.pdf").page_texts for line in text.splitlines()
              if re.search(r"^ *Op(eration| family)\b.*Self time", line)]
    tap.ok(any(r["op"] for r in rows) and titles and all("Framework path" in t for t in titles),
           "tables of operations have the framework path on paper", *titles)


def main():
    tap = Tap()
    absent = missing_tools()
    if absent:
        tap.skip("the PDF through other readers", f"not installed: {' '.join(absent)}")
        tap.done()
        return
    with Scratch() as folder:
        for name, source in {"demo": DEMO, **make_profile.write_all(folder, seed=3)}.items():
            out = folder / f"{name}.out"
            result = run("report", source, "-o", out, "--format", "pdf,json")
            if result.status != 0:
                tap.ok(False, name, result)
                continue
            pdf, summary = Pdf(out / "report.pdf"), json.loads((out / "summary.json").read_text(encoding="utf-8"))
            check_syntax(tap, name, pdf, folder)
            check_text(tap, name, pdf, summary)
            check_layout(tap, name, pdf)
            check_info(tap, name, pdf, summary)
        check_op_column(tap, folder)
        check_length(tap, folder)
        check_paper_and_bytes(tap, folder)
        check_studies(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
