#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bookmarks, contents and links of report.pdf lead to what they name."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from pdf_reader import Pdf, letters, missing_tools, tool  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import DEMO, Scratch, run  # noqa: E402


def stands_at(pdf, words, place):
    """Whether the title of a bookmark begins just below the place that it leads to."""
    below = [w for w in words if w[0] == place.page and 0 <= w[4] - (w[2] - place.y) < 40]
    return letters(place.title.replace("`", ""))[:24] in letters("".join(w[7] for w in below))


def check(tap, name, pdf):
    root, bookmarks, links = pdf.structure()
    words = pdf.words()
    tap.ok(root.get("/PageMode") == "/UseOutlines" and root.get("/Lang") == "u:en",
           f"{name}: it opens with its bookmarks", root)
    tap.ok(bookmarks[0].title == "Summary" and bookmarks[0].page == 0, f"{name}: the first one is the summary")
    wrong = [b for b in bookmarks[1:] if not stands_at(pdf, words, b)]
    tap.ok(not wrong, f"{name}: {len(bookmarks)} bookmarks lead to their titles", *wrong[:4])
    findings = [b for b in bookmarks if b.level == 1 and b.title.startswith("1.")]
    tap.ok(len(findings) == 1, f"{name}: findings stand below their section", *bookmarks[:4])
    sections = [b for b in bookmarks[1:] if b.level == 0]
    from_contents = [n for n in links if n.on == 0]
    tap.ok([(b.page, b.y) for b in sections] == [(n.page, n.y) for n in from_contents if (n.page, n.y) in
                                                 {(b.page, b.y) for b in sections}],
           f"{name}: the contents link to each section in order", len(sections), len(from_contents))
    missing = [b.title for b in sections
               if not any(letters(line) == letters(b.title) + str(b.page + 1)
                          for line in re.split(r"\s{2,}|\n", re.sub(r"(\S)\s+(\d+)(?=\s|$)", r"\1 \2", pdf.page_texts[0])))]
    tap.ok(not missing, f"{name}: the contents have the numbers of their pages", *missing)
    cards = {(b.page, b.y) for b in bookmarks if b.level == 1}
    tap.ok(any((n.page, n.y) in cards for n in links if n.on == 0), f"{name}: the first page links to findings")
    tap.ok(any((n.page, n.y) in {(b.page, b.y) for b in sections} for n in links if n.on > 0),
           f"{name}: findings link to sections")


def check_tags(tap, name, pdf):
    """For readers that read it aloud: headings, paragraphs, and figures in words."""
    told = tool("pdfinfo", pdf.path).stdout.decode("utf-8", "replace")
    tap.ok(re.search(r"^Tagged: +yes", told, re.M), f"{name}: it is tagged", told)
    tree = tool("pdfinfo", "-struct-text", pdf.path).stdout.decode("utf-8", "replace")
    titles = re.findall(r'^ +H2.*\n +"(.*)"$', tree, re.M)
    sections = [b.title for b in pdf.structure()[1][1:] if b.level == 0]
    tap.ok(tree.count("\n  H1") == 1 and [t for t in titles if t in sections] == sections, f"{name}: sections are headings, in order", titles, sections)
    figures = len(re.findall(r"^ +Figure", tree, re.M))
    with_words = len(re.findall(rb"/Alt ", tool("qpdf", "--qdf", "--object-streams=disable", pdf.path, "-").stdout))
    tap.ok(figures > 0 and with_words == figures, f"{name}: figures are told in words", figures, with_words)
    artifacts = [line for line in tree.splitlines() if "page 1 of" in line]
    tap.ok(not artifacts, f"{name}: what stands at the edges of pages is no part of it", *artifacts)


def main():
    tap = Tap()
    absent = missing_tools()
    if absent:
        tap.skip("bookmarks and links of the PDF", f"not installed: {' '.join(absent)}")
        tap.done()
        return
    with Scratch() as folder:
        for name, source in {"demo": DEMO, **make_profile.write_all(folder, seed=3)}.items():
            result = run("report", source, "-o", folder / f"{name}.out", "--format", "pdf")
            if result.status != 0:
                tap.ok(False, name, result)
                continue
            pdf = Pdf(folder / f"{name}.out" / "report.pdf")
            check(tap, name, pdf)
            check_tags(tap, name, pdf)
    tap.done()


if __name__ == "__main__":
    main()
