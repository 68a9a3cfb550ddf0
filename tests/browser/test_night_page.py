#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""index.html of a batch in a real browser: it shows what its JSON holds, asks for nothing, fits a telephone, leads to the reports, and
runs nothing that a row says."""

import html
import json
import math
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import hostile_texts as texts  # noqa: E402
import make_history  # noqa: E402
import make_profile  # noqa: E402
import nights  # noqa: E402
from devtools import BROWSER, Browser  # noqa: E402
from tap import Tap  # noqa: E402
from test_first_page import UNLINKED  # noqa: E402
from test_hostile import wrong_with  # noqa: E402
from test_page import Balance, Reading, shown  # noqa: E402
from tracemill import Scratch, run  # noqa: E402

CONTRAST = """(() => { const part = (c) => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
    const light = (c) => { const [r, g, b] = c.match(/[\\d.]+/g).map(Number); return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b); };
    const paper = light(getComputedStyle(document.body).backgroundColor);
    return [...document.querySelectorAll('svg text')].map((t) => light(getComputedStyle(t).fill))
        .map((t) => (Math.max(t, paper) + 0.05) / (Math.min(t, paper) + 0.05)).reduce((a, b) => Math.min(a, b), 99); })()"""

# [what it is, how it is aligned, whether it is wrapped] of cells that are not empty; most have no class that says so
CELL_STYLES = """[...document.querySelectorAll('#table-jobs tbody td:not(.none, .name, :has(svg))')].map((cell) => [
    cell.dataset.v !== undefined ? 'number' : cell.className || 'word', getComputedStyle(cell).textAlign, getComputedStyle(cell).whiteSpace])"""


def check_static(tap, page, document):
    text = page.read_text("utf-8")
    parser, reading = Balance(), Reading()
    parser.feed(text)
    reading.feed(text)
    tap.ok(not parser.wrong and not parser.open, "tags are balanced", parser.wrong[:5], parser.open[:5])
    tap.ok(len(set(parser.ids)) == len(parser.ids), "ids are unique")
    tap.ok(not reading.wrong, "tables, drawings and headings can be read aloud", *reading.wrong[:5])
    reports = {row["report"] for part in ("jobs", "runs", "failures", "better") for row in document[part]}
    reports |= {row["report"] for part in ("regressions", "unconfirmed", "acknowledged") for row in document[part]}
    good = {row["good_report"] for part in ("regressions", "acknowledged") for row in document[part]} - {None}
    tap.ok(good - reports, "some last good runs are linked only as such", good)
    reports |= good
    reports -= {None}
    tap.ok(set(parser.addresses) == reports, "addresses are those of the reports, and all of them",
           sorted(set(parser.addresses) ^ reports)[:5])


def check_shown(tap, browser, page, document):
    dom = shown(tap, "the night", browser, page, document)
    words = " ".join(html.unescape(re.sub(r"<[^>]*>", " ", dom)).split())
    missing = [job["job"] for job in document["jobs"] if job["job"] not in words]
    tap.ok(not missing, "every job is on the page", *missing)
    missing = [row["message"] for row in document["failures"] if row["message"] and row["message"] not in words]
    tap.ok(not missing, "every reason is on the page", *missing)
    tap.ok(dom.count("<svg") >= 1 + len(document["trends"]), "every trend is drawn", dom.count("<svg"), len(document["trends"]))
    paragraphs = " ".join(re.findall(r"<p\b[^>]*>.*?</p>", dom, re.S))
    commands = re.findall(r"<code>tracemill batch (ack|accept)", paragraphs)
    tap.ok(commands == ["ack", "accept"] and "`" not in paragraphs, "commands in paragraphs are code", commands)
    others = re.findall(r"(?:this|the) report |(?<!/)summary\.json", words)
    tap.ok(not others, "it is not called a report of a run", *others[:3])


def check_forms(tap, browser, page):
    for width in (400, 1280):
        for scheme in ("light", "dark"):
            with browser.open_page(width, 900) as view:
                view.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
                view.load(page)
                wide = view.js("document.documentElement.scrollWidth")
                tap.ok(wide <= width, f"{width} px, {scheme}: the page is no wider than its window", wide)
                least = view.js(CONTRAST)
                tap.ok(least >= 4.5, f"{width} px, {scheme}: texts of drawings stand out from the paper", least)
                ends = view.js("""[...document.querySelectorAll('[id^="chart-"] .chart')].map((c) => {
                    const box = c.getBoundingClientRect(), drawings = [...c.querySelectorAll('svg')].map((s) => s.getBoundingClientRect());
                    return drawings.find((r) => r.width > 0).right - box.right; })""")
                tap.ok(ends and max(map(abs, ends)) < 2, f"{width} px, {scheme}: the newest run of each trend is in sight", ends)
                notes = view.js("[...document.querySelectorAll('.top svg text')].filter((t) => t.getBoundingClientRect().width).map((t) => t.textContent)")
                tap.ok(not [n for n in notes if "%" in n and "\u2026" in n], f"{width} px, {scheme}: no change is cut", *notes)
                if width == 1280:
                    styles = view.js(CELL_STYLES)
                    tap.ok({("number", "right", "nowrap"), ("word", "left", "nowrap"), ("prose", "left", "normal")} == set(map(tuple, styles)),
                           f"{scheme}: numbers are on the right, and only sentences are wrapped", *styles)
                    unlinked = view.js(UNLINKED)
                    tap.ok(not unlinked, f"{scheme}: no figure has the color of a problem without its finding", *unlinked)
                    bottom = view.js("document.querySelector('.verdict').getBoundingClientRect().bottom")
                    first = view.js("document.querySelector('#figures').getBoundingClientRect().top")
                    tap.ok(bottom < 300 and first < 900, f"{scheme}: verdict, findings and key figures are on the first screen", bottom, first)


def check_links(tap, browser, page, document):
    row = document["regressions"][0]
    for key, title, link in (("report", "the run", "a"), ("good_report", "the last good run", "td a")):
        target = page.parent / row[key]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(f"<!DOCTYPE html><title>{title}</title>", encoding="utf-8")
        with browser.open_page() as view:
            view.load(page)
            view.click(f"document.querySelector('#table-regressions tbody {link}')")
            tap.ok(view.wait_for(f"document.title === '{title}'"), f"a name in a table leads to the report of {title}", view.js("location.href"))


VISIBLE = "[...document.querySelectorAll('#table-jobs tbody tr')].filter((r) => r.getBoundingClientRect().height > 0)"


def choose(view, name, wanted):
    """By keyboard: arrow down to an entry of a list."""
    entry = view.js(f"""(() => {{ const list = document.querySelector('#table-jobs select[aria-label^="Filter by {name}:"]');
        list.focus(); return [...list.options].findIndex((o) => o.value === {json.dumps(wanted)}); }})()""")
    for _ in range(entry):
        view.key("ArrowDown")
    return entry > 0 and view.wait_for(f"document.activeElement.value === {json.dumps(wanted)}")


OWNER = 'X" a=b'  # could be mistaken for two labels
CURVE_STEP, CURVE_HEIGHT, CURVE_MARGIN, CURVE_SHARE = 3, 14, 2, 0.1


def heights(times):
    """Where each point of the drawing of a job's last runs is, from the top."""
    scale = CURVE_HEIGHT / max(max(times) - min(times), CURVE_SHARE * max(times))
    return [CURVE_MARGIN + CURVE_HEIGHT - math.floor((time - min(times)) * scale + 0.5) for time in times]


def heights_of(path):
    """The same of the numbers of a path, "M2 15l3 1 6 0", which leaves out points on a straight line."""
    found = [path[1]]
    for right, down in zip(path[2::2], path[3::2]):
        steps = right // CURVE_STEP
        found += [found[-1] + down * step // steps for step in range(1, steps + 1)]
    return found


def check_many(tap, browser, folder):
    """All of 1,000 jobs are on a page of less than 2 MB, and are filtered by label and state."""
    rows = []
    for number in range(1000):
        labels = {"owner": OWNER.replace("X", "ABCDEFGH"[number % 8]), "pool": "ab"[number % 2]} if number % 10 else None
        rows += [make_history.run_of(f"team-{number % 9}/job-{number:04}", ago, 130 if not ago and number < 20 else 100, labels=labels and json.dumps(labels))
                 for ago in range(30)]
    document, _ = nights.tell(folder / "many", rows)
    page = folder / "many" / "index.html"
    tap.ok(page.stat().st_size < 2e6, "1,000 jobs of 30 nights: the page", page.stat().st_size)
    tap.ok(len(document["jobs"]) == 1000 and document["left_out"]["jobs"] == 0, "they are all listed", document["left_out"])
    state = {row["job"]: row["state"] for row in document["jobs"]}
    of_owner = {f"team-{n % 9}/job-{n:04}" for n in range(1000) if n % 10 and n % 8 == 2}
    of_both = {job for job in of_owner if state[job] == "worse"}
    names = f"{VISIBLE}.map((r) => (r.cells[0].querySelector('.full') || r.cells[0]).textContent)"
    with browser.open_page() as view:
        view.load(page)
        tap.ok(view.js("document.querySelectorAll('#table-jobs tbody tr').length") == 1000, "each is a row of the page")
        tap.ok(view.js("document.querySelectorAll('#table-runs tbody tr').length") == 1000, "and so is each run of the night")
        curves = view.js("""[...document.querySelectorAll('#table-jobs td > svg[role=img]')].map((s) =>
            [s.getAttribute('aria-label'), s.querySelector('path').getAttribute('d').match(/-?\\d+/g).map(Number)])""")
        tap.ok(len(curves) == 1000 and all(heights_of(path) == heights(job["recent"]) for (_, path), job in zip(curves, document["jobs"])),
               "each has a drawing of its last 30 runs", len(curves))
        ends = view.js("[...new Set([...document.querySelectorAll('#table-jobs td > svg > path')].map((p) => getComputedStyle(p).markerEnd))]")
        dots = view.js("document.querySelectorAll('svg > marker#curve-end > circle').length")
        tap.ok(ends == ['url("#curve-end")'] and dots == 1, "which ends with a dot", ends, dots)
        shown = lambda ps: f"{ps / 1e9:{'.0f' if ps >= 99.95e9 else '.1f'}} ms"  # noqa: E731
        wrong = [text for (text, _), job in zip(curves, document["jobs"]) for ps in [job["recent"]]
                 if text != f"{shown(ps[-1])}; 30 runs, {shown(min(ps))} to {shown(max(ps))}"]
        tap.ok(not wrong, "which says the same in words", *wrong[:5])
        lists = view.js("[...document.querySelectorAll('#table-jobs select')].map((s) => s.options[0].textContent)")
        tap.ok(lists == ["state: all", "owner: all", "pool: all"], "lists of the state and of each label", *lists)
        tap.ok(choose(view, "owner", OWNER.replace("X", "C")), "an owner is chosen by keyboard", view.js("document.activeElement.value"))
        found = view.js(names)
        tap.ok(set(found) == of_owner and len(found) == len(of_owner), "only the jobs of this owner are shown", len(found), len(of_owner))
        tap.ok(choose(view, "state", "worse"), "then a state", view.js("document.activeElement.value"))
        found = view.js(names)
        tap.ok(of_both and set(found) == of_both, "both apply", found, *of_both)
        told = view.js("document.querySelector('#table-jobs .found-count').textContent")
        tap.ok(told == f"{len(of_both)} of 1000 rows", "the page says how many", told)
        fragment = view.js("location.hash")
    with browser.open_page() as view:
        view.load(page, fragment)
        tap.ok(set(view.js(names)) == of_both, "the address keeps the choice", fragment)
        view.js("document.querySelectorAll('#table-jobs select').forEach((s) => { s.value = ''; s.dispatchEvent(new Event('change')); })")
        tap.ok("owner" not in view.js("location.hash") and 0 < view.js(f"{VISIBLE}.length") < 1000, "without a choice, the page is as at first",
               view.js("location.hash"))


def check_hostile(tap, browser, folder):
    for how, raw in {"markup": texts.MARKUP, "controls": texts.CONTROLS.replace(b"\0", b""), "address": texts.ADDRESS, "long": texts.LONG[:5000],
                     "right to left": "\u05e9\u05dc\u05d5\u05dd \u202eevil\u202c \"><b>".encode() + texts.TOKEN.encode()}.items():
        text = raw.decode("utf-8", "replace")
        fields = dict.fromkeys(("name", "revision", "label", "platform", "model", "verdict", "severity", "finding", "gates"), text)
        rows = [make_history.run_of("job", ago, 100 if ago else 130, **fields) | {"job": text} for ago in range(30)]
        rows += [make_history.run_of("job", 0, 100, **fields) | {"job": text + str(i), "training": text, "step": i, "id": f"s{i}", "report": f"runs/s{i}"}
                 for i in range(25)]
        rows.append(make_history.failed(make_history.run_of("other", 0), text) | {"job": f"{text}!"})
        nights.tell(folder / "hostile", rows)
        with browser.open_page() as view:
            wrong, is_shown = wrong_with(view, folder / "hostile" / "index.html")
            links = view.js("[...document.querySelectorAll('a:not([href^=\"#\"])')].map((a) => a.getAttribute('href'))")
        wrong = [w for w in wrong if not w.startswith("links")] + [link for link in links if not re.fullmatch(r"runs/([0-9a-f]{2}/)?[\w.-]+/report\.html", link)]
        tap.ok(is_shown and not wrong, f"{how}: shown, and nothing runs", *wrong, is_shown)


# Names of folders and files: what an address, a shell, a path, a terminal and a page take for more; some that differ in little.
NAMES = [b"javascript:alert(1)", b"%2e%2e%2f%2e%2e", b"-rf", b"file:", b"\\\\host\\x", b"a\nb\rc\tz", b"\x1b]52;c;aGk=\x07", b"Job", b"job",
         "job\u200b".encode(), "job\u200c".encode(), "\u202egnp.exe".encode(), b"\xff\xfe\x9b31m", b"x" * 240, b"<img src=x onerror=window.__hit=1>",
         b"=cmd|' C calc'!A0", b"a?b#c&d=e", b"CON", b"a b", b"|a|`b`", b"x" * 100 + b"\xc3"]


def check_folders(tap, browser, folder):
    """A batch of folders and files of such names: every file that it writes has a plain name, each run has its own, and links lead to them."""
    root = os.fsencode(folder / "logs")
    good = make_profile.gpu(seed=1, steps=3).encode()
    for at, name in enumerate(NAMES):
        place = os.path.join(root, name[:200], b"2026-11-2%d" % (at % 2), name[:200])
        os.makedirs(place)
        with open(os.path.join(place, name[:200] + b".xplane.pb"), "wb") as file:
            file.write(good[:500] if name.startswith(b"<img") else good)
    out = folder / "batch"
    result = run("batch", folder / "logs", "-o", out, "--format", "html,json,text,markdown,csv")
    made = [os.path.join(at, name) for at, _, names in os.walk(os.fsencode(out)) for name in names]
    odd = [path for path in made if not re.fullmatch(rb"[\w./-]+", path[len(os.fsencode(out)):])]
    tap.ok(result.status == 4 and not odd, "folders of all names: files of plain names", result, *odd[:5])
    pages = sorted(out.glob("runs/*/*/report.html"))
    tap.ok(len(pages) == len(NAMES), "folders of all names: each has its report", len(pages))
    jobs = {json.loads(line).get("job") for line in run("batch", "export", out).out.splitlines()} - {None}
    tap.ok(len(jobs) == len(NAMES), "folders of all names: jobs that differ in little stay apart", len(jobs), *sorted(jobs))
    with browser.open_page() as view:
        wrong, _ = wrong_with(view, out / "index.html")
        links = set(view.js("[...document.querySelectorAll('a:not([href^=\"#\"])')].map((a) => a.getAttribute('href'))"))
        wrong = [w for w in wrong if not w.startswith("links")] + [link for link in links if not re.fullmatch(r"runs/([0-9a-f]{2}/)?[\w.-]+/report\.html", link)]
        wrong += [f"{link} is not there" for link in links if not (out / link).exists()]
        tap.ok(links and not wrong, "folders of all names: links lead to reports, and nothing runs", *wrong[:5])
        wrong = [f"{page.parent.name}: {word}" for page in pages[::4] for word in wrong_with(view, page)[0]]
        tap.ok(not wrong, "folders of all names: nothing runs in the reports", *wrong[:5])


def main():
    tap = Tap()
    if BROWSER is None:
        tap.skip("the page of a night in a browser", "no chromium")
        tap.done()
    with Scratch() as folder, Browser(folder, paints=False) as browser:
        document, _ = nights.tell(folder / "story", make_history.story())
        page = folder / "story" / "index.html"
        check_static(tap, page, document)
        check_shown(tap, browser, page, document)
        check_forms(tap, browser, page)
        with Browser(folder / "painted") as painted:
            check_links(tap, painted, page, document)
        check_many(tap, browser, folder)
        check_hostile(tap, browser, folder)
        check_folders(tap, browser, folder)
    tap.done()


if __name__ == "__main__":
    main()
