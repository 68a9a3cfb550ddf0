#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the page does in a real browser: its policy lets its own style and script run and nothing else, tables sort
and filter, nothing sticks out of a narrow screen, dark and light have their colours, and paper gets everything."""

import base64
import hashlib
import html
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run  # noqa: E402

BROWSER = next((b for b in ("chromium", "chromium-browser", "google-chrome") if shutil.which(b)), None)
QUIET = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
         "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-quic", "--enable-logging=stderr", "--virtual-time-budget=4000"]

# Runs after the page's own script and leaves what it saw in the title.
PROBE = r"""
(function () {
    var seen = {};
    var root = document.documentElement;
    var tables = Array.from(document.querySelectorAll('table.sortable'));
    var table = tables.find(function (t) { return t.tBodies[0].rows.length > 2 && t.querySelector('th.n .sort'); });
    seen.overflow = root.scrollWidth - root.clientWidth;
    seen.paper = getComputedStyle(document.body).backgroundColor;
    seen.text = getComputedStyle(document.body).color;
    seen.sticking = Array.from(document.querySelectorAll('main *, header *')).filter(function (e) {
        return !e.closest('.scroll, .chart') && e.getBoundingClientRect().right > root.clientWidth + 1;
    }).slice(0, 3).map(function (e) { return e.tagName + '.' + e.className; });
    if (table) {
        var header = Array.from(table.querySelectorAll('thead th')).find(function (th) { return th.classList.contains('n'); });
        var column = header.cellIndex;
        var read = function () {
            return Array.from(table.tBodies[0].rows).map(function (r) { return Number(r.cells[column].dataset.v); });
        };
        header.querySelector('.sort').click();
        seen.down = read();
        seen.downSays = header.getAttribute('aria-sort');
        header.querySelector('.sort').click();
        seen.up = read();
    }
    var folded = Array.from(document.querySelectorAll('.folded'));
    var visible = function (part) {
        return Array.from(part.querySelectorAll('tbody tr')).filter(function (r) { return r.offsetHeight > 0; }).length;
    };
    seen.folded = folded.map(function (part) {
        var before = visible(part);
        part.querySelector('.unfold input').click();
        var row = [before, visible(part), part.querySelectorAll('tbody tr').length];
        part.querySelector('.unfold input').click();
        return row;
    });
    seen.lost = Array.from(document.querySelectorAll('a[href^="#"]')).filter(function (a) {
        return !document.getElementById(a.getAttribute('href').slice(1));
    }).length;
    var filterable = document.querySelector('table.filterable');
    var box = document.querySelector('.filter input');
    if (filterable && box) {
        var wanted = filterable.tBodies[0].rows[0].cells[0].textContent;
        box.value = wanted.toUpperCase();
        box.dispatchEvent(new Event('input'));
        seen.shown = Array.from(filterable.tBodies[0].rows).filter(function (r) { return !r.hidden; })
            .every(function (r) { return r.textContent.toLowerCase().indexOf(wanted.toLowerCase()) >= 0; });
    }
    document.title = JSON.stringify(seen);
})();
"""


def browse(page, folder, *options):
    return subprocess.run([BROWSER, *QUIET, f"--user-data-dir={folder / 'browser'}", *options, page.as_uri()],
                          capture_output=True, text=True, timeout=120, check=False)


def probe(text, folder, width, scheme):
    """Load a copy of the page that may run the probe, at a width (an <iframe> of it: windows are never narrower than
    500) and in a colour scheme.  out: what the probe saw"""
    policy = re.search(r'<meta http-equiv="Content-Security-Policy"[^>]*>', text).group(0)
    copy = text.replace(policy, "").replace("</body>", f"<script>{PROBE}</script></body>")
    copy = copy.replace("document.title = JSON", "document.body.textContent = JSON") if width >= 500 else copy
    page = folder / "probe.html"
    if width < 500:
        inner = html.escape(copy.replace("document.title =", "window.name ="), quote=True)
        shell = (f'<!DOCTYPE html><title>x</title><iframe width="{width}" height="900" srcdoc="{inner}" '
                 'onload="document.body.textContent = this.contentWindow.name"></iframe>')
        page.write_text(shell, encoding="utf-8")
    else:
        page.write_text(copy, encoding="utf-8")
    done = browse(page, folder, f"--window-size={max(width, 500)},900",
                  f"--blink-settings=preferredColorScheme={0 if scheme == 'dark' else 1}", "--dump-dom")
    body = re.search(r"<body[^>]*>(.*)</body>", done.stdout, re.DOTALL)
    return json.loads(html.unescape(body.group(1)))


def brightness(colour):
    return sum(int(n) for n in re.findall(r"\d+", colour)[:3])


def check_policy(tap, name, text):
    policy = html.unescape(re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text).group(1))
    for element in ("style", "script"):
        found = re.findall(f"<{element}>(.*?)</{element}>", text, re.DOTALL)
        hashed = [base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in found]
        tap.ok(len(found) == 1 and f"{element}-src 'sha256-{hashed[0]}'" in policy, f"{name}: the policy names the {element}",
               policy, hashed)
    tap.ok("unsafe" not in policy and "*" not in policy, f"{name}: the policy allows nothing else", policy)


def check_behaviour(tap, name, text, folder):
    wide = probe(text, folder, 1280, "light")
    tap.ok(wide["overflow"] <= 0, f"{name}: nothing sticks out at 1280", wide)
    tap.ok(wide.get("down") == sorted(wide.get("down", []), reverse=True) and wide.get("downSays") == "descending",
           f"{name}: a click sorts the largest first", wide)
    tap.ok(wide.get("up") == sorted(wide.get("up", [])) and wide.get("up"), f"{name}: a second click turns it round", wide)
    tap.ok(all(before < after == rows for before, after, rows in wide["folded"]) and (wide["folded"] or name != "gpu"),
           f"{name}: long tables unfold", wide["folded"])
    tap.ok(wide["lost"] == 0, f"{name}: every link leads somewhere", wide["lost"])
    if "shown" in wide:
        tap.ok(wide["shown"], f"{name}: the filter shows the rows that it should")
    narrow = probe(text, folder, 400, "light")
    tap.ok(narrow["overflow"] <= 0 and not narrow["sticking"], f"{name}: nothing sticks out at 400", narrow)
    tap.ok(brightness(wide["paper"]) > brightness(wide["text"]), f"{name}: light paper by default", wide)
    dark = probe(text, folder, 1280, "dark")
    tap.ok(brightness(dark["paper"]) < brightness(dark["text"]), f"{name}: dark paper where it is wanted", dark)


def check_paper(tap, name, page, folder):
    paper = folder / "paper.pdf"
    browse(page, folder, f"--print-to-pdf={paper}", "--no-pdf-header-footer")
    if not shutil.which("pdftotext"):
        tap.skip(f"{name}: printed", "no pdftotext")
        return
    text = subprocess.run(["pdftotext", "-layout", str(paper), "-"], capture_output=True, text=True, check=False).stdout
    tap.ok(all(word in text for word in ("tracemill report", "Figures", "Findings", "Definitions")),
           f"{name}: every section is printed", text[:300])


def main():
    tap = Tap()
    if BROWSER is None:
        tap.skip("the behaviour of the page", "no chromium")
        tap.done()
    with Scratch() as folder:
        for name, make in {"gpu": make_profile.MAKERS["gpu"], "hostile": make_profile.hostile}.items():
            source = folder / f"{name}.xplane.pb"
            source.write_bytes(make(seed=5).encode())
            result = run("report", source, "-o", folder / name, "--format", "html")
            page = folder / name / "report.html"
            if not tap.ok(result.status == 0 and page.exists(), f"{name}: a page is written", result):
                continue
            text = page.read_text(encoding="utf-8")
            check_policy(tap, name, text)
            check_behaviour(tap, name, text, folder)
            check_paper(tap, name, page, folder)
    tap.done()


if __name__ == "__main__":
    main()
