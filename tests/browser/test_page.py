#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""report.html, compare.html and scaling.html in a real browser: each shows what its JSON holds, asks for nothing, runs nothing of a
trace."""

import html
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
import studies  # noqa: E402
from devtools import BROWSER, Browser  # noqa: E402
from differences import at  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import DEMO, Scratch, run  # noqa: E402

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
CELLS = {"td", "th"}
ENDED_BY_START = {"td": CELLS, "th": CELLS, "tr": CELLS | {"tr"}}  # end tags that may be left out: HTML Living Standard, 13.1.2.4
ENDED_BY_END = dict.fromkeys(("thead", "tbody", "tfoot", "table"), CELLS | {"tr"}) | {"tr": CELLS}
ASKING = {"src", "href", "xlink:href", "action", "formaction", "data", "poster", "srcset", "background"}


class Reading(HTMLParser):
    """What those need who do not see the page: heads of tables, names of regions and drawings, levels of headings."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.wrong, self.level = [], 0

    def handle_starttag(self, tag, attributes):
        has = dict(attributes)
        if tag == "th" and "scope" not in has:
            self.wrong.append(f"th at {self.getpos()}")
        if tag == "svg" and not {"aria-label", "aria-hidden"} & has.keys():
            self.wrong.append(f"svg at {self.getpos()}")
        if (tag == "table" or has.get("role") == "region") and "aria-labelledby" not in has:
            self.wrong.append(f"{tag} at {self.getpos()}")
        if re.fullmatch("h[1-6]", tag):
            if int(tag[1]) > self.level + 1:
                self.wrong.append(f"{tag} after h{self.level} at {self.getpos()}")
            self.level = int(tag[1])


class Below(list):
    """A row of a tree below another one."""


class Table(HTMLParser):
    """The exact numbers of one table, row by row, under the titles of their columns."""

    def __init__(self, table_id):
        super().__init__(convert_charrefs=True)
        self.id, self.part, self.titles, self.rows, self.inside = f"table-{table_id}", "", [], [], False

    def handle_starttag(self, tag, attributes):
        has = dict(attributes)
        if has.get("id") == self.id:
            self.inside = True
        if self.inside and tag in ("thead", "tbody", "tfoot"):
            self.part = tag
        elif self.inside and tag in ("th", "td") and self.part == "thead":
            self.titles.append("")
        elif self.inside and tag == "tr" and self.part == "tbody":
            self.rows.append([])
        elif self.inside and tag in ("th", "td") and self.part == "tbody":
            if has.get("class", "").startswith("tree d") and has["class"] != "tree d0":
                self.rows.pop()  # what lies below a row of a tree
                self.rows.append(Below())
            self.rows[-1].append(has.get("data-v"))

    def handle_data(self, data):
        if self.inside and self.part == "thead" and self.titles:
            self.titles[-1] += data.strip()

    def handle_endtag(self, tag):
        if tag == "figure":
            self.inside = False

    def column(self, title):
        at = self.titles.index(title)
        return [int(row[at]) for row in self.rows if not isinstance(row, Below)]


class Balance(HTMLParser):
    """Whether every element that opens also closes, in order; the ids; the addresses; what could run."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.wrong, self.ids, self.addresses, self.handlers = [], [], [], [], []

    def handle_startendtag(self, tag, attributes):
        self.ids += [v for k, v in attributes if k == "id"]
        self.addresses += [v for k, v in attributes if k in ASKING and not (v or "").startswith(("#", "data:"))]
        self.handlers += [k for k, _ in attributes if k.startswith("on")]

    def handle_starttag(self, tag, attributes):
        self.handle_startendtag(tag, attributes)
        self.end_open(ENDED_BY_START.get(tag, ()))
        if tag not in VOID:
            self.open.append(tag)

    def end_open(self, tags):
        while self.open and self.open[-1] in tags:
            self.open.pop()

    def handle_endtag(self, tag):
        self.end_open(ENDED_BY_END.get(tag, ()))
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> at {self.getpos()}")


def browse(browser, path):
    """out: the DOM after the scripts ran, what the page said on the console, what it asked for besides itself"""
    with browser.open_page() as page:
        page.load(path)
        dom = page.js("document.documentElement.outerHTML")
        return dom, page.said, [address for address in page.requests if address != path.as_uri()]


def static(tap, name, text):
    parser = Balance()
    parser.feed(text)
    parser.close()
    tap.ok(not parser.wrong and not parser.open, f"{name}: tags are balanced", parser.wrong[:5], parser.open[:5])
    twice = sorted({i for i in parser.ids if parser.ids.count(i) > 1})
    tap.ok(not twice, f"{name}: ids are unique", twice[:10])
    tap.ok(not parser.addresses, f"{name}: no address of anything outside", parser.addresses[:10])
    tap.ok(not parser.handlers, f"{name}: no script in an attribute", parser.handlers[:10])
    reading = Reading()
    reading.feed(text)
    tap.ok(not reading.wrong, f"{name}: tables, drawings and headings can be read aloud", *reading.wrong[:5])
    tap.ok("default-src 'none'" in html.unescape(text), f"{name}: the page forbids itself to load anything")


def exact(tap, name, text, summary):
    """Tables hold the summary's own numbers."""
    columns = (("kernel-names", "kernels.by_name", "Total", "total_ps"), ("kernel-names", "kernels.by_name", "Count", "count"),
               ("ops", "ops.rows", "Self time", "self_ps"))
    for table_id, path, title, key in columns:
        if f'id="table-{table_id}"' not in text:
            continue
        table = Table(table_id)
        table.feed(text)
        has, wants = table.column(title), [row[key] for row in at(summary, path)][:500]
        tap.ok(has == wants, f"{name}: {title} of {table_id} is that of the summary", has[:5], wants[:5])


def shown(tap, name, browser, path, summary):
    """out: the DOM"""
    dom, said, asked = browse(browser, path)
    text = html.unescape(re.sub(r"<[^>]*>", " ", dom))
    flat = " ".join(text.split())
    tap.ok(not asked, f"{name}: the browser asks for nothing but the page", *asked[:5])
    tap.ok(not said, f"{name}: the console is silent", *said[:5])
    verdict = " ".join((summary["verdict"]["text"] or "").split())
    tap.ok(verdict and verdict in flat, f"{name}: the verdict is on the page", verdict)
    missing = [f["title"] for f in summary["findings"] if " ".join(f["title"].split()) not in flat]
    tap.ok(not missing, f"{name}: every finding is on the page", *missing[:5])
    tap.ok("<svg" in dom, f"{name}: there are charts")
    return dom


def check_studies(tap, browser, folder):
    studies.make(folder)
    for name in studies.STUDIES:
        result, out, stem = studies.study(folder, name, "html,json")
        page = out / f"{stem}.html"
        if result.status != 0 or not page.exists():
            tap.ok(False, name, result)
            continue
        text = page.read_text(encoding="utf-8")
        document = json.loads((out / f"{stem}.json").read_text(encoding="utf-8"))
        static(tap, name, text)
        dom = shown(tap, name, browser, page, document)
        labels = [side["label"] for side in document.get("sides", document.get("points"))]
        words = html.unescape(re.sub(r"<[^>]*>", " ", dom))
        missing = [label for label in labels if label not in words]
        tap.ok(not missing, f"{name}: every side is named", *missing)
        others = re.findall(r"(?:this|the) report|(?<!or a )summary\.json", " ".join(words.split()))
        tap.ok(not others, f"{name}: it is not called a report of a run", *others[:3])


def main():
    tap = Tap()
    if BROWSER is None:
        tap.skip("the page in a browser", "no chromium")
        tap.done()
    with Scratch() as folder, Browser(folder, paints=False) as browser:
        for name, source in {"demo": DEMO, **make_profile.write_all(folder, seed=3)}.items():
            out = folder / f"{name}.out"
            result = run("report", source, "-o", out, "--format", "html,json")
            if result.status != 0:
                tap.ok(False, name, result)
                continue
            page = out / "report.html"
            summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
            static(tap, name, page.read_text(encoding="utf-8"))
            exact(tap, name, page.read_text(encoding="utf-8"), summary)
            dom = shown(tap, name, browser, page, summary)
            if name == "hostile":
                title = re.search(r"<title>(.*?)</title>", dom, re.DOTALL)
                tap.ok(title and "owned" not in title.group(1), "hostile: no name of the trace runs", title)
        check_studies(tap, browser, folder)
    tap.done()


if __name__ == "__main__":
    main()
