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
import hostile_fields as fields  # noqa: E402
import hostile_texts as texts  # noqa: E402
import make_history  # noqa: E402
import make_profile  # noqa: E402
import nights  # noqa: E402
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


# What GitHub makes more of than text, beside what begins a block.
LIVELY = (f"{texts.TOKEN}|x|\n\n# h\n\n|a|b|\n|-|-|\n- [ ] task\n> quote\n``` \n[a](javascript:1) ![i](http://x.invalid/i) <http://x.invalid> www.x.invalid "
          "a@x.invalid @everyone #12 GH-3 org/r#4 :tada: ~~s~~ [^1]: x &lt;b&gt; <b onclick=1>x</b> </details> $a$ \\| \\`x` deadbeef1234567").encode()
HARMS = {"markdown": texts.MARKDOWN, "what GitHub links": LIVELY, "markup": texts.MARKUP, "controls": texts.CONTROLS.replace(b"\0", b""),
         "an address": texts.ADDRESS}


def check_harm(tap, name, path, must_be_in=True):
    text = path.read_text(encoding="utf-8")
    tree = parse(text)
    wrong = [*check_tables(tree), *(w for w in check_html(tree) if not w.startswith("there is a link")), *check_mentions(tree)]
    for link in tree.iter(SPACE + "link"):
        if not re.fullmatch(r"runs/([0-9a-f]{2}/)?[\w.-]+/report\.html", link.get("destination") or ""):
            wrong.append(f"a link to {link.get('destination')[:80]}")
    if must_be_in and texts.TOKEN not in text:
        wrong.append("the text is nowhere in it")
    tap.ok(not wrong, name, *wrong[:6])


def check_hostile(tap, folder):
    """Texts that mean harm: reports, comparisons, checks and nights."""
    source, plain = folder / "hostile.xplane.pb", folder / "plain.xplane.pb"
    plain.write_bytes(fields.space_bytes(fields.base_space()))
    (folder / "gates.json").write_text('{"gates": [{"figure": "ops.rows[0].self_ps", "max": "1ps"}, {"figure": "steps.median_ps", "max": "1ps"}]}')
    for how, harm in HARMS.items():
        said = harm.decode("utf-8", "surrogateescape")
        source.write_bytes(fields.full_space(lambda old, new=harm: new + old))
        out = folder / f"of {how}"
        run("report", source, "-o", out, "--format", "markdown", "--title", said, "--note", said)
        check_harm(tap, f"{how}: report", out / "report.md")
        run("compare", plain, source, "-o", out, "--format", "markdown", "--title", said, "--note", said)
        check_harm(tap, f"{how}: comparison", out / "compare.md")
        run("check", source, "--gate", folder / "gates.json", "--markdown", out / "check.md")
        check_harm(tap, f"{how}: check", out / "check.md", must_be_in=False)
        text = harm.decode("utf-8", "replace")
        words = dict.fromkeys(("name", "revision", "label", "platform", "model", "verdict", "severity", "finding", "gates"), text)
        rows = [make_history.run_of("job", ago, 100 if ago else 130, **words) | {"job": text} for ago in range(12)]
        rows.append(make_history.failed(make_history.run_of("other", 0), text) | {"job": f"{text}!"})
        nights.tell(folder / "night", rows)
        check_harm(tap, f"{how}: night", folder / "night" / "index.md")


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
        check_hostile(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
