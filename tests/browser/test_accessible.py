#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages of every document under axe (WCAG 2, level AA) at three widths, light and dark, with all folds open; and the size of
what is clicked (WCAG 2.2, 2.5.8), which this release of axe does not know yet."""

import importlib.util
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_history  # noqa: E402
import make_profile  # noqa: E402
import nights  # noqa: E402
import studies  # noqa: E402
from devtools import BROWSER, Browser  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import DEMO, Scratch, run  # noqa: E402

SCREENS = ((1440, 900, "light"), (1440, 900, "dark"), (768, 1024, "light"), (390, 844, "light"), (390, 844, "dark"))
# Everything at the first width; at others what depends on the layout; in the dark only colors are others.
EVERYTHING = "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']"
OF_LAYOUT = "{ type: 'rule', values: ['color-contrast', 'link-name', 'button-name'] }"
OF_SCROLLING = "{ type: 'rule', values: ['scrollable-region-focusable'] }"
OF_COLOR = "{ type: 'rule', values: ['color-contrast'] }"
RUN = """axe.run(document, { runOnly: %s, resultTypes: ['violations'] })
    .then((r) => r.violations.map((v) => `${v.id}: ${v.nodes.length} times, ${v.nodes[0].html.slice(0, 160)}`))"""
# What is smaller than 24 x 24 pixels and nearer than that to another target.  Links in sentences and in cells of tables may be.
SMALL = """(() => { const targets = Array.from(document.querySelectorAll('a[href], button, select, summary, input'))
        .filter((e) => e.checkVisibility({ checkOpacity: true }) && !e.closest('td, th, .prose'))
        .map((e) => ({ e, r: e.getBoundingClientRect() })).filter(({ r }) => r.width > 1 && r.height > 1);
    const inText = (e) => Array.from(e.parentElement.childNodes).some((n) => n.nodeType === 3 && n.data.trim().length > 1);
    const isNear = (a, b) => { const x = (a.left + a.right) / 2, y = (a.top + a.bottom) / 2;
        return Math.hypot(Math.max(b.left - x, 0, x - b.right), Math.max(b.top - y, 0, y - b.bottom)) < 12; };
    return targets.filter(({ e, r }) => (r.width < 23.5 || r.height < 23.5) && !inText(e) &&
            targets.some((o) => o.e !== e && !o.e.contains(e) && !e.contains(o.e) && isNear(r, o.r)))
        .map(({ e, r }) => `${e.outerHTML.slice(0, 120)} ${r.width.toFixed()} x ${r.height.toFixed()}`).slice(0, 5); })()"""

# Of rows of a table that have the same elements, classes and attributes, and text in the same ones, one with an even and one with an
# odd number stays: axe, which takes half a second for a hundred rows, would say the same of the others.
ONE_OF_EACH = """document.querySelectorAll('tbody').forEach((body) => { const seen = new Set();
    const shape = (e) => [e.localName, e.getAttribute('class'), e.getAttribute('role'), e.getAttributeNames(), !e.textContent.trim()].join();
    Array.from(body.rows).forEach((row, i) => {
        const key = i % 2 + [row, ...row.querySelectorAll('*')].map(shape).join(';');
        if (seen.has(key)) row.remove();
        seen.add(key); }); })"""


def axe_script():
    spec = importlib.util.find_spec("axe_core_python")
    return (Path(spec.origin).parent / "axe.min.js").read_text(encoding="utf-8") if spec else None


LABELS = "night with labels"


def jobs_with_labels():
    """So many jobs that a page filters them by state and by label; some regress."""
    return [make_history.run_of(f"team-{number % 3}/job-{number:02}", ago, 130 if not ago and number < 3 else 100,
                                labels=json.dumps({"owner": "abcd"[number % 4], "pool": "xy"[number % 2]}))
            for number in range(30) for ago in range(8)]


def pages(folder):
    """(name, path of a page)"""
    made = make_profile.write_all(folder, seed=3)
    for name, source in {"demo": DEMO, "gpu": made["gpu"], "cpu": made["cpu"]}.items():
        run("report", source, "-o", folder / f"{name}.out", "--format", "json,html")
        if name != "cpu":
            yield name, folder / f"{name}.out" / "report.html"
    sides = [folder / f"{name}.out" / "summary.json" for name in ("gpu", "cpu")]
    run("compare", *sides, "-o", folder / "compared", "--format", "html")
    yield "comparison", folder / "compared" / "compare.html"
    studies.make(folder)
    for name in ("comparison of three", "scaling"):
        _, out, stem = studies.study(folder, name, "html")
        yield name, out / f"{stem}.html"
    nights.tell(folder / "night", make_history.story())
    yield "night", folder / "night" / "index.html"
    nights.tell(folder / "labels", jobs_with_labels())
    yield LABELS, folder / "labels" / "index.html"


def check(tap, name, browser, path, axe):
    for width, height, mode in SCREENS:
        with browser.open_page(width, height) as page:
            page.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": mode}])
            page.send("Page.setBypassCSP", enabled=True)
            page.load(path)
            if name == LABELS:
                filters = page.js("document.querySelectorAll('#table-jobs select').length")
                tap.ok(filters >= 3, f"{name}: jobs are filtered by state and by label", filters)
            small = page.js(SMALL)
            tap.ok(not small, f"{name}: targets are large enough or apart, {width} {mode}", *small)
            page.js("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
            page.send("Runtime.evaluate", expression=axe + "; 0")
            rules = OF_COLOR if mode == "dark" else EVERYTHING if width == SCREENS[0][0] else OF_LAYOUT
            wrong = page.js(RUN % OF_SCROLLING) if mode == "light" else []  # before rows go that make something scroll
            page.js(ONE_OF_EACH)
            wrong += page.js(RUN % rules)
            tap.ok(not wrong, f"{name}: axe finds nothing, {width} {mode}", *wrong)


def main():
    tap = Tap()
    axe = axe_script()
    if BROWSER is None or axe is None:
        tap.skip("pages under axe", "no chromium" if BROWSER is None else "no axe: make build/venv/.made")
        tap.done()
        return
    with Scratch() as folder, Browser(folder, paints=False) as browser:
        for name, path in pages(folder):
            if tap.ok(path.exists(), f"{name}: a page is written"):
                check(tap, name, browser, path, axe)
    tap.done()


if __name__ == "__main__":
    main()
