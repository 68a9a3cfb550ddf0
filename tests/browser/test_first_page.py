#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The first screen in a real browser: verdict, findings, the steps and six tiles at most fit on a desktop and on a phone; a tile in
the color of a problem leads to its finding; numbers keep their units; charts are drawn for the width that they have."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
import studies  # noqa: E402
from devtools import BROWSER, Browser  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import DEMO, SHARED, Scratch, run  # noqa: E402

SCREENS = ((1440, 900), (768, 1100), (390, 844))
WIDTHS = (360, 768, 1440)

FIRST = """(() => { const bottom = (s) => { const e = document.querySelector(s); return e ? e.getBoundingClientRect().bottom : 0; };
    return { title: bottom('h1'), verdict: bottom('.verdict'), findings: bottom('.first ol'),
             steps: bottom('.top .drawing svg:not([hidden])') , tiles: bottom('.tiles'), count: document.querySelectorAll('.tiles > li').length,
             first: document.querySelectorAll('.first ol > li').length }; })()"""
# Bands of problems that lead nowhere.
UNLINKED = """Array.from(document.querySelectorAll('.kpis .band')).filter((b) => /bad|critical|warning/.test(b.className) && !b.closest('a'))
    .map((b) => b.closest('li').textContent)"""
# Numbers whose unit is on another line.
BROKEN = r"""(() => { const broken = [], walk = document.createTreeWalker(document.querySelector('.frame'), NodeFilter.SHOW_TEXT);
    for (let node; (node = walk.nextNode());) {
        if (node.parentElement.closest('code, svg, pre') || !node.parentElement.offsetParent) continue;
        for (const match of node.data.matchAll(/[0-9][ \u00a0](%|ns|µs|ms|s|[KMGT]iB|B)(?=[ .,;)]|$)/g)) {
            const range = document.createRange();
            range.setStart(node, match.index);
            range.setEnd(node, match.index + match[0].length);
            const tops = new Set(Array.from(range.getClientRects(), (r) => Math.round(r.top)));
            if (tops.size > 1) broken.push(node.data.slice(Math.max(match.index - 20, 0), match.index + 12));
        }
    }
    return broken.slice(0, 5); })()"""
# How wide the page is with potential savings in the longest words there are.
LONG_STAKE = r"""(() => { const stake = document.querySelector('.first .stake');
    if (stake) stake.firstChild.data = '33.8% of the windows of 12 devices, 1,074\u00a0ms';
    return document.documentElement.scrollWidth; })()"""
# How many lines of the advice of each finding are seen; null = all of it.
ADVICE = """Array.from(document.querySelectorAll('.first .fix'), (fix) =>
    fix.scrollHeight > fix.clientHeight + 1 ? fix.clientHeight / parseFloat(getComputedStyle(fix).lineHeight) : null)"""
# Lines of code that end with the hyphens of a flag.
BROKEN_FLAGS = r"""(() => { const broken = [], range = document.createRange();
    for (const code of document.querySelectorAll('.fix code, .finding code')) {
        if (!code.checkVisibility()) continue;
        const walk = document.createTreeWalker(code, NodeFilter.SHOW_TEXT), tops = [];
        let text = '';
        for (let node; (node = walk.nextNode());) {
            for (let at = 0; at < node.data.length; at++) {
                range.setStart(node, at);
                range.setEnd(node, at + 1);
                tops.push(range.getBoundingClientRect().top);
            }
            text += node.data;
        }
        for (const match of text.matchAll(/(?<![^ ="])--?(?=[a-z])/g)) {
            const after = match.index + match[0].length;
            if (Math.abs(tops[after] - tops[after - 1]) > 4) broken.push(text.slice(match.index, match.index + 30));
        }
    }
    return broken; })()"""
# Of each chart that is seen: does it stick out or scroll, how small is its smallest text, and which of its texts cover each other?
CHARTS = """Array.from(document.querySelectorAll('.drawing')).map((figure) => {
    const seen = Array.from(figure.querySelectorAll('svg')).filter((s) => s.getBoundingClientRect().width > 0);
    const texts = seen.flatMap((s) => Array.from(s.querySelectorAll('text'), (t) => [t.textContent, t.getBoundingClientRect()]));
    const right = figure.getBoundingClientRect().right, covered = [];
    texts.forEach(([a, x], i) => texts.slice(0, i).forEach(([b, y]) => {
        const across = Math.min(x.right, y.right) - Math.max(x.left, y.left), down = Math.min(x.bottom, y.bottom) - Math.max(x.top, y.top);
        if (across > 2 && down > x.height / 2) covered.push(`${a} / ${b}`); }));
    const size = Math.min(99, ...seen.flatMap((s) => Array.from(s.querySelectorAll('text'), (t) =>
        parseFloat(getComputedStyle(t).fontSize) * s.getBoundingClientRect().width / s.viewBox.baseVal.width)));
    return { id: figure.id, drawings: seen.length, size, covered, out: texts.filter(([, r]) => r.right > right + 1).map(([t]) => t),
             scrolls: figure.querySelector('.chart').scrollWidth > figure.querySelector('.chart').clientWidth + 1,
             font: seen.length ? getComputedStyle(seen[0]).fontFamily === getComputedStyle(document.body).fontFamily : true }; })"""


# Code of advice whose full stop or comma starts a line.
LONE_MARKS = """Array.from(document.querySelectorAll('.fix code, .why code')).filter((code) => {
    const next = code.nextSibling, range = document.createRange();
    if (!next || next.nodeType !== 3 || !/^[.,;:)]/.test(next.data) || !code.checkVisibility()) return false;
    range.setStart(next, 0);
    range.setEnd(next, 1);
    const mark = range.getBoundingClientRect(), lines = code.getClientRects();
    return mark.height > 0 && mark.top > lines[lines.length - 1].bottom - 2; }).map((code) => code.textContent)"""


def check_marks(tap, browser, path):
    with browser.open_page(1440, 900) as page:
        page.load(path)
        lone, broken = {}, {}
        for width in range(320, 1440, 40):
            page.send("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
            lone.update({width: found} if (found := page.js(LONE_MARKS)) else {})
            broken.update({width: found} if (found := page.js(BROKEN_FLAGS)) else {})
        tap.ok(not lone, "no line of advice starts with a punctuation mark at any width", lone)
        tap.ok(not broken, "no line of advice ends with the hyphens of a flag at any width", broken)


def check_screen(tap, name, browser, path, width, height):
    with browser.open_page(width, height) as page:
        page.load(path)
        at = page.js(FIRST)
        below = {part: y for part, y in at.items() if part not in ("count", "first") and y > height}
        tap.ok(not below, f"{name}: the first screen holds everything at {width} x {height}", below, at)
        tap.ok(1 <= at["count"] <= 6 and at["first"] <= 3, f"{name}: at most six tiles and three findings", at)
        order = [at[part] for part in ("title", "verdict", "findings", "steps", "tiles") if at[part]]
        tap.ok(order == sorted(order), f"{name}: in the order in which it is read", at)
        unlinked = page.js(UNLINKED)
        tap.ok(not unlinked, f"{name}: no tile has the color of a problem without its finding", *unlinked)
        wide = page.js(LONG_STAKE)
        tap.ok(wide <= width, f"{name}: nothing sticks out of the first screen at {width}", wide)
        lines = page.js(ADVICE)
        least = [1.9] * len(lines) if width > 640 else [2.9] + [3.9 if len(lines) == 2 else 1.9] * (len(lines) - 1)
        tap.ok(all(n is None or n >= least[at] for at, n in enumerate(lines)), f"{name}: advice has room for its first step at {width}", lines)
        broken = page.js(BROKEN)
        tap.ok(not broken, f"{name}: numbers and units stay together at {width}", *broken)


def check_charts(tap, name, browser, path):
    for width in WIDTHS:
        with browser.open_page(width, 900) as page:
            page.load(path)
            charts = page.js(CHARTS)
            wrong = [c for c in charts if c["drawings"] != 1 or c["scrolls"] or c["out"] or c["covered"] or c["size"] < 8.5 or not c["font"]]
            tap.ok(charts and not wrong, f"{name}: charts at {width} fit, can be read and cover nothing", *wrong[:3])


def check_short(tap, browser, folder):
    """Of two kernels a page tells little; what is about the report waits in folds."""
    source = SHARED / "traces" / "xspace" / "xla-gtx1080ti.xplane.pb"
    if not source.exists():
        tap.skip("two kernels: the page is short", "no shared traces")
        return
    run("report", source, "-o", folder / "short", "--format", "html")
    with browser.open_page(1440, 900) as page:
        page.load(folder / "short" / "report.html")
        height = page.js("document.documentElement.scrollHeight")
        tap.ok(height < 4000, "two kernels: the page is short", height)
        page.js("location.hash = '#definitions'")
        tap.ok(page.wait_for("document.querySelector('#definitions > details').open"), "a link opens a folded section")


# How tall the rows of tables are, by the lines of the first cell and of all cells that are seen.
TALL_ROWS = """Array.from(document.querySelectorAll('main table tbody tr')).filter((r) => r.checkVisibility() && r.cells.length > 3).filter((r) => {
    const seen = Array.from(r.cells).filter((c) => c.getBoundingClientRect().left < innerWidth && !c.matches('.prose'));
    const lines = Math.max(...seen.map((c) => { const range = document.createRange(); range.selectNodeContents(c); return range.getBoundingClientRect().height; }));
    return r.getBoundingClientRect().height > lines + 34 && !r.querySelector('.prose, details[open]'); }).map((r) => r.textContent.slice(0, 60)).slice(0, 3)"""


def check_rows(tap, browser, path):
    """Names in columns that a phone does not show make no row taller."""
    with browser.open_page(390, 844) as page:
        page.load(path)
        tall = page.js(TALL_ROWS)
        tap.ok(not tall, "rows are as tall as what is seen of them on a phone", *tall)


def check_comparison(tap, browser, folder):
    """The parts of a step that changed are seen on a phone; small ones are one row, and the table below has all."""
    studies.make(folder)
    _, out, stem = studies.study(folder, "comparison", "html")
    with browser.open_page(390, 844) as page:
        page.load(out / f"{stem}.html")
        at = page.js(FIRST)
        tap.ok(0 < at["steps"] <= 844 and at["findings"] < at["steps"], "a comparison: the first screen of a phone holds the waterfall", at)
        rows = page.js("[document.querySelector('.top svg').parentElement.parentElement, document.querySelector('#waterfall, main')]"
                       ".map((e) => e.querySelectorAll('tbody tr').length)")
        tap.ok(3 <= rows[0] < rows[1], "a comparison: the first screen shows the largest parts", rows)
    for width in (360, 375, 390):
        with browser.open_page(width, 844) as page:
            page.load(out / f"{stem}.html")
            broken = page.js(BROKEN)
            tap.ok(not broken, f"a comparison: numbers and units stay together at {width}", *broken)


def check_long_title(tap, browser, folder):
    """Runs are named by folders and files: on a phone two lines of the name are shown, the rest is in the list of files."""
    title = "experiment_2026-11-20_resnet50_imagenet_bf16_bs2048_8xH100_num_workers_16_prefetch_4_compiled_seed_1234"
    run("report", DEMO, "-o", folder / "long", "--format", "html", "--title", title)
    check_screen(tap, "a long title", browser, folder / "long" / "report.html", 390, 844)
    with browser.open_page(390, 844) as page:
        page.load(folder / "long" / "report.html")
        lines = page.js("(() => { const e = document.querySelector('h1'), c = getComputedStyle(e); return e.offsetHeight / parseFloat(c.lineHeight); })()")
        tap.ok(lines < 2.1 and page.js("document.title").startswith(title[:60]), "a long title takes two lines of a phone", lines)


def main():
    tap = Tap()
    if BROWSER is None:
        tap.skip("the first screen", "no chromium")
        tap.done()
    with Scratch() as folder:
        paths = {}
        for name, source in {"demo": DEMO, **make_profile.write_all(folder, seed=5)}.items():
            result = run("report", source, "-o", folder / name, "--format", "html")
            if tap.ok(result.status == 0, f"{name}: a page is written", result):
                paths[name] = folder / name / "report.html"
        with Browser(folder, paints=False) as browser:
            for name, path in paths.items():
                for width, height in SCREENS:
                    check_screen(tap, name, browser, path, width, height)
                check_charts(tap, name, browser, path)
            check_short(tap, browser, folder)
            check_long_title(tap, browser, folder)
            check_rows(tap, browser, paths["demo"])
            check_marks(tap, browser, paths["gpu"])
            check_comparison(tap, browser, folder)
    tap.done()


if __name__ == "__main__":
    main()
