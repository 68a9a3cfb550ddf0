#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""report.md as cmark-gfm, GitHub's own parser, reads it: tables have whole rows, the only HTML is details and summary,
there are no links and no pictures, and nothing outside of code mentions a person or refers to an issue."""

import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import DEMO, Scratch, run  # noqa: E402

COMMENT_MOST = 65536  # characters of a comment on GitHub
OURS = re.compile(r"(<details>\n<summary>[^<>\n]+</summary>\n|</details>\n)")
MENTION = re.compile(r"(?<![\w`])@\w|(?<!\w)#\d|\bGH-\d|\bwww\.|://|:[a-z_+-]+:", re.IGNORECASE)
SPACE = "{http://commonmark.org/xml/1.0}"


def parse(text):
    """The document as elements; the ones that hold text of code are without it."""
    out = subprocess.run(["cmark-gfm", "-e", "table", "-e", "autolink", "-e", "strikethrough", "-t", "xml"],
                         input=text.encode(), capture_output=True, check=True).stdout.decode()
    return ElementTree.fromstring(re.sub(r"<!DOCTYPE[^>]*>", "", out))


def check_tables(tree):
    for table in tree.iter(SPACE + "table"):
        widths = [sum(1 for _ in row) for row in table]
        head = [cell for cell in table[0]]
        if len(set(widths)) != 1:
            yield f"a table with rows of {sorted(set(widths))} cells"
        if not "".join(head[0].itertext()).strip() and len(head) > 1 and not "".join(head[1].itertext()).strip():
            yield "a table without titles"
    # a row that is broken ends its table and becomes a paragraph
    for paragraph in tree.iter(SPACE + "paragraph"):
        if "".join(node.text or "" for node in paragraph.iter(SPACE + "text")).lstrip().startswith("|"):
            yield "a row outside of a table"


def check_html(tree):
    for sort in ("html_inline", "link", "image", "footnote_reference", "strikethrough", "code_block"):
        if any(True for _ in tree.iter(SPACE + sort)):
            yield f"there is a {sort}"
    for block in tree.iter(SPACE + "html_block"):
        if not OURS.fullmatch(block.text or ""):
            yield f"HTML: {block.text!r}"


def check_mentions(tree):
    for node in tree.iter(SPACE + "text"):
        match = MENTION.search(node.text or "")
        if match:
            yield f"outside of code: {node.text!r}"


def check_order(text):
    """What matters stands open and first; folds are closed."""
    if text.count("<details>") != text.count("</details>"):
        yield "a fold stays open"
    places = [text.find(part) for part in ("# ", "**", "## Key figures", "## Findings", "<details>")]
    if places != sorted(places) or -1 in places:
        yield f"order {places}"


def check(tap, name, source, folder):
    result = run("report", source, "-o", folder, "--format", "markdown")
    if not tap.ok(result.status in (0, 3), f"{name}: written", result):
        return
    text = (folder / "report.md").read_text(encoding="utf-8")
    tree = parse(text)
    for what, wrong in (("tables are whole", check_tables(tree)), ("no HTML but folds, no links", check_html(tree)),
                        ("nobody is mentioned", check_mentions(tree)), ("verdict, figures, findings, folds", check_order(text))):
        wrong = list(wrong)
        tap.ok(not wrong, f"{name}: {what}", *wrong[:5])
    tap.ok(len(text) < COMMENT_MOST, f"{name}: fits a comment", len(text))


def main():
    tap = Tap()
    if not shutil.which("cmark-gfm"):
        tap.skip("report.md as GitHub reads it", "no cmark-gfm")
        tap.done()
    with Scratch() as folder:
        check(tap, "demo", DEMO, folder / "demo")
        for kind, make in make_profile.ALL_MAKERS.items():
            path = folder / f"{kind}.xplane.pb"
            path.write_bytes(make(seed=5, steps=8).encode())
            check(tap, kind, path, folder / kind)
    tap.done()


if __name__ == "__main__":
    main()
