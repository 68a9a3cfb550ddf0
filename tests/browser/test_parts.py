#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""index.html of a split trace in a real browser: every part is on it, its links lead to the parts, nothing runs or loads."""

import contextlib
import html
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from devtools import BROWSER, Browser  # noqa: E402
from tap import Tap  # noqa: E402
from test_page import Balance, browse  # noqa: E402
from tracemill import DEMO, Scratch, run  # noqa: E402


def check(tap, name, out, browser):
    page = out / "index.html"
    text = page.read_text(encoding="utf-8")
    index = json.loads((out / "index.json").read_text(encoding="utf-8"))
    files = [p["file"] for p in index["parts"]]
    links = files + ([index["overview"]["file"]] if index["overview"] else [])
    parser = Balance()
    parser.feed(text)
    parser.close()
    tap.ok(not parser.wrong and not parser.open, f"{name}: tags are balanced", parser.wrong[:5], parser.open[:5])
    tap.ok(sorted(parser.addresses) == sorted(links), f"{name}: links lead to the parts, to their overview, and nowhere else", parser.addresses[:10])
    tap.ok(not parser.handlers and "<script" not in text, f"{name}: there is no script", parser.handlers[:10])
    tap.ok("default-src 'none'" in html.unescape(text) and "script-src 'none'" in html.unescape(text),
           f"{name}: the page forbids itself to load or run anything")
    if browser is None:
        tap.skip(f"{name}: in a browser", "no chromium")
        return
    dom, said, asked = browse(browser, page)
    shown = " ".join(html.unescape(re.sub(r"<[^>]*>", " ", dom)).split())
    tap.ok(not said and not asked, f"{name}: the browser is silent and asks for nothing else", *said[:5], *asked[:5])
    missing = [f for f in files if f not in shown]
    tap.ok(not missing, f"{name}: every part is shown", *missing[:5])
    tap.ok(dom.count("<rect") == 2 * len(files), f"{name}: a bar for each part", dom.count("<rect"))
    tap.ok("owned" not in (re.search(r"<title>(.*?)</title>", dom, re.DOTALL) or [""])[0], f"{name}: no name of the trace runs")


def main():
    tap = Tap()
    with Scratch() as folder, Browser(folder) if BROWSER else contextlib.nullcontext() as browser:
        sources = {"demo": [DEMO], **{n: [p] for n, p in make_profile.write_all(folder, seed=3).items()}}
        odd = folder / '"><script>document.title="owned"<' / "h\u202e&.xplane.pb"
        odd.parent.mkdir()
        odd.write_bytes(make_profile.cpu().encode())
        other = folder / "other.xplane.pb"
        other.write_bytes(make_profile.cpu(seed=2).encode())
        sources["odd names"] = [odd, other]
        for name, files in sources.items():
            out = folder / f"{name}.split"
            result = run("split", *files, "-o", out, "--max-events", "100" if name == "hostile" else "400",
                         *(["--by", "device"] if name == "gpu" else []))
            if result.status not in (0, 4):
                tap.ok(False, name, result)
                continue
            check(tap, name, out, browser)
    tap.done()


if __name__ == "__main__":
    main()
