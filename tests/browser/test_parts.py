#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""index.html of a split trace in a real browser: every part is on it, its links lead to the parts, nothing but its own
script runs, and nothing loads; each part, and the overview, has a button that hands the file to Perfetto's tab."""

import base64
import contextlib
import hashlib
import html
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from devtools import BROWSER, Browser  # noqa: E402
from tap import Tap  # noqa: E402
from test_behaviour import DROP, PERFETTO_TAB  # noqa: E402
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
    script = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    own = "sha256-" + base64.b64encode(hashlib.sha256("".join(script).encode()).digest()).decode()
    tap.ok(not parser.handlers and text.count("<script") == 1, f"{name}: there is one script", parser.handlers[:10])
    tap.ok("default-src 'none'" in html.unescape(text) and f"script-src '{own}';" in html.unescape(text),
           f"{name}: the page forbids itself to load anything, and to run anything else", own)
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


def check_buttons(tap, page_file, browser):
    """Without a server: a part that is dropped onto the page goes to Perfetto's tab; another part is asked for."""
    files = [p["file"] for p in json.loads((page_file.parent / "index.json").read_text(encoding="utf-8"))["parts"]]
    with browser.open_page() as page:
        page.send("Page.addScriptToEvaluateOnNewDocument", source=PERFETTO_TAB)
        page.load(page_file)
        buttons = "Array.from(document.querySelectorAll('button')).filter((b) => b.textContent === 'Open in Perfetto')"
        tap.ok(page.js(f"{buttons}.length") == len(files) + 1, "each part, and the overview, has a button", page.js(f"{buttons}.length"))
        tap.ok("nothing is uploaded" in page.js("document.querySelector('.about-trace')?.textContent || ''"), "and the page says where it goes")
        page.js(DROP.replace("NAME", f"'{files[1]}'"))
        page.js(f"{buttons}.find((b) => b.parentElement.textContent.includes('{files[1]}')).click()")
        page.wait_for("sent.length > 1")
        sent, opened = page.js("sent"), page.js("opened")
        tap.ok(sent and all(origin == "https://ui.perfetto.dev" for _, origin in sent) and sent[-1][0]["fileName"] == files[1],
               "a dropped part goes to Perfetto's tab", sent)
        tap.ok(opened == "https://ui.perfetto.dev/#!/?", "which shows all of it", opened)
        count = len(sent)
        page.js("HTMLInputElement.prototype.click = function () { asked = this.multiple; this.dispatchEvent(new Event('cancel')); }; var asked = null")
        page.js(f"{buttons}.find((b) => b.parentElement.textContent.includes('{files[0]}')).click()")
        page.wait_for(f"document.querySelector('.about-trace').textContent.includes('{files[0]}')")
        tap.ok(page.js("asked") is True and len(page.js("sent")) == count, "another part is asked for, not mistaken for it",
               page.js("document.querySelector('.about-trace').textContent"))


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
            if name == "gpu" and browser:
                check_buttons(tap, out / "index.html", browser)
    tap.done()


if __name__ == "__main__":
    main()
