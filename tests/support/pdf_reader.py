# SPDX-License-Identifier: Apache-2.0
"""What independent readers (qpdf, poppler) see in a PDF."""

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from html import unescape

TOOLS = ("qpdf", "pdfinfo", "pdftotext", "pdftoppm", "pdffonts")


def missing_tools():
    return [t for t in TOOLS if shutil.which(t) is None]


def tool(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, check=False)


def letters(text):
    """Letters and digits alone: a PDF breaks lines where it likes."""
    return re.sub(r"[\W_]", "", text)


@dataclass
class Place:
    """A bookmark or a link, and where it leads: pages from 0, y in points from the bottom."""
    title: str
    level: int
    on: int
    page: int
    y: float


class Pdf:
    def __init__(self, path):
        self.path = path
        self.info = tool("pdfinfo", path).stdout.decode("utf-8", "replace")
        self.pages = int((re.search(r"^Pages:\s+(\d+)", self.info, re.MULTILINE) or [0, 0])[1])
        made = tool("pdftotext", "-layout", path, "-")
        self.complaints = made.stderr.decode("utf-8", "replace")
        self.text = made.stdout.decode("utf-8", "replace")
        self.page_texts = self.text.split("\f")[: self.pages]

    def words(self):
        """[(page from 0, its width, its height, x0, y0, x1, y1, word)], y downwards."""
        found, page, size = [], -1, (0, 0)
        for line in tool("pdftotext", "-bbox", self.path, "-").stdout.decode("utf-8", "replace").splitlines():
            numbers = [float(n) for n in re.findall(r'="([-\d.]+)"', line)]
            if "<page " in line:
                page, size = page + 1, numbers
            elif "<word " in line:
                found.append((page, *size, *numbers, unescape(re.sub(r"<[^>]*>", "", line))))
        return found

    def structure(self):
        """(catalog, [bookmarks], [links]) of Place."""
        parts = json.loads(tool("qpdf", "--json=2", "--json-stream-data=none", self.path).stdout)
        objects = parts["qpdf"][1]
        page_of = {page["object"]: n for n, page in enumerate(parts["pages"])}
        get = lambda ref: objects["obj:" + ref]["value"]
        root = get(objects["trailer"]["value"]["/Root"])
        links = []
        for n, page in enumerate(parts["pages"]):
            for ref in _listed(get, get(page["object"]).get("/Annots", [])):
                note = get(ref) if isinstance(ref, str) else ref
                to = _listed(get, note["/Dest"])
                links.append(Place("", 0, n, page_of[to[0]], to[3]))
        return root, list(_bookmarks(get, get(root["/Outlines"]), page_of, 0)), links


def _listed(get, value):
    return get(value) if isinstance(value, str) else value


def _bookmarks(get, parent, page_of, level):
    ref = parent.get("/First")
    while ref:
        mark = get(ref)
        to = _listed(get, mark["/Dest"])
        yield Place(mark["/Title"][2:], level, -1, page_of[to[0]], to[3])
        yield from _bookmarks(get, mark, page_of, level + 1)
        ref = mark.get("/Next")
