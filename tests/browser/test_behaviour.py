#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the page does in a real browser, with a pointer and with keys alone: its policy lets its own style and script
run and nothing else; tables sort, filter and are copied; names are found, words and marks explain themselves; links
and the printer open what is folded away; colours change; nothing sticks out of a narrow screen."""

import base64
import csv
import hashlib
import html
import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from devtools import BROWSER, Browser  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import DEMO, Scratch, run  # noqa: E402

SCRIPT_BYTES = 32 << 10  # at most

# In every page, before its script: what is copied, and some questions that the tests ask often.
HELPERS = """
window.copied = [];
Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { window.copied.push(text); } } });
window.table = () => document.querySelector('figure.folded table[data-sortable][data-filter]');
window.rows = () => Array.from(window.table().tBodies[0].rows);
window.numeric = () => Array.from(window.table().querySelectorAll('thead th')).find((th) => th.classList.contains('n'));
window.values = () => window.rows().map((r) => r.cells[window.numeric().cellIndex].dataset.v ?? null);
window.seen = (e) => e.offsetHeight > 0;
window.csvButton = (t) => Array.from(t.closest('figure').querySelectorAll('.table-tools button')).at(-1);
window.field = () => window.table().closest('figure').querySelector('.table-tools input[type=search]');
window.tip = () => { const t = document.querySelector('.tooltip'); return t && !t.hidden ? t.textContent : ''; };
"""
NO_CLIPBOARD = "Object.defineProperty(navigator, 'clipboard', { value: undefined });"
NO_STORAGE = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no'); } });"


def brightness(colour):
    return sum(int(n) for n in re.findall(r"\d+", colour)[:3])


def check_policy(tap, name, text):
    policy = html.unescape(re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text).group(1))
    for element in ("style", "script"):
        found = re.findall(f"<{element}>(.*?)</{element}>", text, re.DOTALL)
        hashed = [base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in found]
        tap.ok(len(found) == 1 and f"{element}-src 'sha256-{hashed[0]}'" in policy,
               f"{name}: the policy names the {element}",
               policy, hashed)
        tap.ok(element == "style" or len(found[0]) <= SCRIPT_BYTES, f"{name}: the {element} is small", len(found[0]))
    tap.ok("unsafe" not in policy and "*" not in policy, f"{name}: the policy allows nothing else", policy)


# --- tables ---------------------------------------------------------------------------------------------------

def in_order(values, direction):
    """Numbers one way, those without a value last."""
    numbers = [float(v) for v in values if v is not None]
    tail = values[len(numbers):]
    return numbers == sorted(numbers, reverse=direction == "descending") and all(v is None for v in tail)


def sort_thrice(tap, page, how, press):
    first = page.js("values()")
    for direction in ("descending", "ascending"):
        press()
        values = page.js("values()")
        tap.ok(page.js("numeric().ariaSort") == direction and in_order(values, direction),
               f"{how}: numbers are sorted {direction}", values[:10])
    press()
    tap.ok(page.js("values()") == first and page.js("numeric().ariaSort") is None,
           f"{how}: the third time brings the first order back")


def check_sorting(tap, page):
    sort_thrice(tap, page, "a click", lambda: page.click("numeric().querySelector('button')"))
    page.js("numeric().querySelector('button').focus()")
    sort_thrice(tap, page, "the Enter key", lambda: page.key("Enter"))
    said = page.js("""(() => { const th = table().querySelector('thead th:not(.n)'); th.querySelector('button').click();
        const texts = rows().map((r) => r.cells[th.cellIndex].textContent.trim()); th.querySelector('button').click();
        return [texts, rows().map((r) => r.cells[th.cellIndex].textContent.trim())]; })()""")
    tap.ok(said[0] == natural(said[0]) and said[1] == natural(said[1], True), "texts are sorted in natural order", said)
    page.js("table().querySelector('thead th:not(.n) button').click()")
    tap.ok(page.js("!document.querySelector('th.tree')?.closest('table').querySelector('thead button')"),
           "a tree is not sorted")


def natural(texts, down=False):
    """Numbers inside by size, whatever the case; what is empty last."""
    def key(text):
        parts = filter(None, re.split(r"(\d+)", text))
        return [(0, int(part), "") if part.isdigit() else (1, 0, part.lower()) for part in parts]
    full = [text for text in texts if text not in ("", "–")]
    keys = [key(text) for text in full]
    ordered = all((a >= b if down else a <= b) for a, b in zip(keys, keys[1:])) if all_plain(full) else True
    return texts if ordered and texts[:len(full)] == full else None


def all_plain(texts):
    """Collation of signs is the browser's own affair."""
    return all(re.fullmatch(r"[A-Za-z0-9]*", text) for text in texts)


def check_filter(tap, page):
    total, visible = page.js("[rows().length, rows().filter(seen).length]")
    tap.ok(visible < total, "a long table is folded", visible, total)
    word = page.js("rows()[rows().length - 1].cells[0].textContent.trim().toUpperCase()")
    page.click("field()")
    page.type(word)
    shown = page.js("rows().filter(seen).map((r) => r.textContent.toUpperCase())")
    tap.ok(shown and all(all(w in text for w in word.split()) for text in shown),
           "the filter shows the rows that it should", shown[:3])
    tap.ok(page.js("seen(rows()[rows().length - 1])"), "the filter looks beyond the fold")
    count = page.js("field().nextElementSibling.textContent")
    role = page.js("field().nextElementSibling.getAttribute('role')")
    tap.ok(count == f"{len(shown)} of {total} rows" and role == "status",
           "the filter tells how many, as live text", count)
    page.type(" no such word")
    tap.ok(page.js("rows().filter(seen).length") == 0, "all words have to be there")
    page.key("Escape")
    page.wait_for("field().value === ''")
    tap.ok(page.js("rows().filter(seen).length") == visible and page.js("field().nextElementSibling.textContent") == "",
           "Escape empties the field and folds the table again", page.js("field().value"))


def check_csv(tap, page):
    page.js("copied.length = 0")
    for _ in range(2):  # sorted, then filtered: all rows are copied, in their order
        page.click("numeric().querySelector('button')")
    page.js("field().value = 'zzz'; field().dispatchEvent(new Event('input'))")
    page.js("csvButton(table()).focus()")
    page.key("Enter")
    text = page.wait_for("copied[0]")
    tap.ok(page.wait_for("csvButton(table()).textContent") == "Copied",
           "the button tells that it copied")
    lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    titles = page.js("Array.from(table().querySelectorAll('thead th'), (th) => "
                     "th.textContent + (th.dataset.unit ? ` (${th.dataset.unit})` : ''))")
    tap.ok(lines[0] == titles and any("(ps)" in t for t in titles),
           "CSV begins with titles and units", lines[0], titles)
    column = page.js("numeric().cellIndex")
    tap.ok([line[column] or None for line in lines[1:]] == page.js("values()"), "CSV has all rows with exact numbers")
    tap.ok({len(line) for line in lines} == {len(titles)} and text.endswith("\r\n"),
           "CSV has the same columns in every line")
    page.js("field().value = ''; field().dispatchEvent(new Event('input')); numeric().querySelector('button').click()")


def check_csv_signs(tap, page):
    """Cells that a spreadsheet would take for something else."""
    page.js("""(() => { const t = document.querySelector('figure.table table'), cells = t.tBodies[0].rows[0].cells;
        window.old = cells[0].textContent;
        cells[0].textContent = '=cmd(),"x"';
        cells[1].removeAttribute('data-v');
        cells[1].textContent = '-1.5e3'; })()""")
    page.js("copied.length = 0; csvButton(document.querySelector('figure.table table')).click()")
    text = page.wait_for("copied[0]")
    line = list(csv.reader(io.StringIO(text, newline=""), strict=True))[1]
    tap.ok(line[:2] == ["'=cmd(),\"x\"", "-1.5e3"], "CSV marks formulas and leaves numbers", line)
    for sign in "\uff1d\uff0b\uff0d\uff20@+":  # of full width, and behind blanks and quotes
        for before in ("", " ", '"', "\u3000'"):
            page.js(f"document.querySelector('figure.table table').tBodies[0].rows[0].cells[0].textContent = {json.dumps(before + sign + 'x')};"
                    "copied.length = 0; csvButton(document.querySelector('figure.table table')).click()")
            cell = list(csv.reader(io.StringIO(page.wait_for("copied[0]"), newline=""), strict=True))[1][0]
            tap.ok(cell == "'" + (before + sign + "x").strip(" \u3000"), f"CSV marks {before + sign!r}", cell)
    page.js("document.querySelector('figure.table table').tBodies[0].rows[0].cells[0].textContent = old")


def check_code(tap, page):
    page.js("copied.length = 0")
    button = "document.querySelector('code.copy + button')"
    page.click(button)
    tap.ok(page.wait_for("copied[0]") == page.js("document.querySelector('code.copy').textContent"),
           "a query is copied")
    tap.ok("select" in (page.js(f"{button}.ariaLabel") or ""), "the button says what it copies")


# --- words and marks ------------------------------------------------------------------------------------------

def check_definitions(tap, page):
    link = "document.querySelector('main a.term')"
    page.js("window.scrollTo(0, 0)")
    page.js(f"{link}.focus()")
    text = page.wait_for("tip()")
    tap.ok(len(text) > 20 and page.js(f"{link}.getAttribute('aria-describedby')") == "tooltip",
           "a word that has the focus is explained",
           text)
    page.key("Escape")
    tap.ok(page.js("tip()") == "", "Escape closes the explanation")
    page.js("document.activeElement.blur()")
    page.point_at(link)
    tap.ok(page.wait_for("tip()") == text, "a word under the pointer is explained")
    page.move(2, 600)
    tap.ok(page.wait_for("tip() === ''"), "the explanation goes when the pointer has left")
    box = page.js(f"""(() => {{ {link}.focus(); const b = document.querySelector('.tooltip').getBoundingClientRect();
        return [b.left, b.top, innerWidth - b.right, innerHeight - b.bottom]; }})()""")
    tap.ok(min(box) >= 0, "the explanation is inside the window", box)
    header = page.js("""(() => {
        const th = Array.from(document.querySelectorAll('thead button')).find((b) => { b.focus(); return tip(); });
        return th ? tip() : ''; })()""")
    tap.ok(len(header) > 20, "the title of a column is explained too", header)


def check_marks(tap, page):
    svg = "Array.from(document.querySelectorAll('svg[tabindex]')).find((s) => s.querySelectorAll('g').length > 2 && s.getBoundingClientRect().width > 0)"
    page.js(f"{svg}.focus()")
    page.key("ArrowRight")
    first = page.wait_for("tip()")
    page.key("ArrowRight")
    second = page.js("tip()")
    page.key("ArrowLeft")
    tap.ok(first and second and first != second and page.js("tip()") == first,
           "the arrows go from mark to mark of a chart",
           first, second)
    tap.ok(page.js("Array.from(document.querySelectorAll('[role=status]')).some((e) => e.textContent === tip())"),
           "what a mark is, is told to a screen reader")
    page.key("End")
    last = page.js("tip()")
    page.key("ArrowRight")
    tap.ok(last and page.js("tip()") == last, "the arrows stop at the last mark")
    page.js("document.activeElement.blur()")
    page.point_at(f"{svg}.querySelector('g rect, g circle, g path')")
    under = page.wait_for("tip()")
    tap.ok(under, "a mark under the pointer is explained")
    tap.ok(page.js("document.querySelectorAll('svg title').length") == 0, "the browser's own tip does not come as well")


# --- finding and opening --------------------------------------------------------------------------------------

def check_finder(tap, page):
    name = page.js("rows()[rows().length - 1].cells[0].textContent.trim()")
    told = "document.querySelector('.page-tools .found-count').textContent"
    page.js("document.activeElement.blur()")
    page.key("/")
    tap.ok(page.js("document.activeElement.closest('nav') !== null && document.activeElement.value === ''"),
           "the / key leads to the field that looks into everything")
    page.type(name)
    count = int(page.wait_for(told).split()[0])
    with_name = page.js(f"""Array.from(document.querySelectorAll('main tbody tr')).filter((r) => {json.dumps(name.lower().split())}
        .every((w) => r.textContent.toLowerCase().includes(w))).length""")
    tap.ok(count >= with_name >= 1, "it tells how many places have it, every row among them", count, with_name)
    page.key("Enter")
    page.wait_for("""(() => { const b = document.querySelector('.found').getBoundingClientRect();
        return b.top >= 0 && b.bottom <= innerHeight; })()""")
    found = page.js("""(() => { const r = document.querySelector('.found'), b = r.getBoundingClientRect();
        return [r.textContent.toLowerCase(), seen(r), b.top >= 0 && b.bottom <= innerHeight]; })()""")
    tap.ok(all(w in found[0] for w in name.lower().split()) and found[1] and found[2], "Enter shows the place", found)
    tap.ok(page.js(told) == f"1 of {count} place{'' if count == 1 else 's'}", "it tells which one", page.js(told))
    page.key("Enter", shift=True)
    tap.ok(page.js(told).startswith(f"{count} of "), "Shift and Enter go back, round the end", page.js(told))
    page.key("/")
    tap.ok(page.js("document.activeElement.value").endswith("/"), "the / key types where one types")
    page.key("Escape")
    page.wait_for("!document.querySelector('.found')")
    tap.ok(page.js("!document.querySelector('.found')"), "an empty field marks nothing")
    for what, words in (("a finding", "document.querySelector('main article h3').lastChild.textContent"),
                        ("evidence", "document.querySelector('main article li').textContent")):
        sought = " ".join(page.js(words).replace("\u00a0", " ").split()[:6])
        page.type(sought)
        page.wait_for(told)
        page.key("Enter")
        tap.ok(page.wait_for("document.querySelector('.found')?.closest('article, .top') !== null"), f"{what} is found", sought)
        page.key("Escape")
        page.wait_for("!document.querySelector('.found')")


def check_columns(tap, page):
    head = "Array.from(table().querySelectorAll('thead th'))"
    menu = "table().closest('figure').querySelector('details.columns')"
    page.js(f"{menu}.querySelector('summary').focus()")
    page.key("Enter")
    tap.ok(page.wait_for(f"{menu}.open"), "a key opens the choice of columns")
    page.click(f"{menu}.querySelectorAll('input')[1]")
    hidden = page.js(f"{head}.map((th) => seen(th))")
    tap.ok(hidden[2] is False and hidden.count(False) == 1 and page.js("rows().every((r) => !seen(r.cells[2]))"),
           "a column is hidden in every row", hidden)
    page.js("copied.length = 0; Array.from(table().closest('figure').querySelectorAll('.table-tools button'))"
            ".find((b) => b.textContent === 'Copy as Markdown').click()")
    lines = page.wait_for("copied[0]").splitlines()
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines]
    shown = page.js(f"{head}.filter((th) => seen(th)).map((th) => th.textContent.trim())")
    rows = page.js("Array.from(table().rows).filter(seen).length")
    tap.ok([c.strip().replace("\\", "") for c in cells[0]] == shown and re.fullmatch(r"(\| -{3}:? )+\|", lines[1]) and len(lines) == rows + 1
           and {len(c) for c in cells} == {len(shown)}, "what is seen is copied as Markdown", lines[:3], shown, len(lines), rows)
    page.click(f"{menu}.querySelectorAll('input')[1]")
    page.key("Escape")
    tap.ok(not page.js(f"{menu}.open") and all(page.js(f"{head}.map((th) => seen(th))")), "it is shown again, and Escape closes")


def check_view(tap, browser, path):
    """A view is in the address: who opens it sees the same."""
    with browser.open_page() as page:
        page.before_load(HELPERS)
        page.load(path)
        page.click("numeric().querySelector('button')")
        word = page.js("rows()[0].cells[0].textContent.trim()")
        page.click("field()")
        page.type(word)
        page.js("table().closest('figure').querySelectorAll('details.columns input')[2].click()")
        page.js("document.querySelector('nav a[href=\"#findings\"]').click()")
        address = page.wait_for("location.hash.startsWith('#findings~') && location.hash")
        state = "[field().value, numeric().ariaSort, values().join(), rows().filter(seen).length, seen(rows().find(seen).cells[3])]"
        first = page.js(state)
        page.load(path, address)
        tap.ok(page.js(state) == first and first[1] == "descending" and first[4] is False, "the address has the view", first, page.js(state))
    with browser.open_page() as page:
        page.load(path)
        tap.ok(page.js("location.hash") == "", "a page that nobody touched has a plain address", page.js("location.hash"))


def check_anchors(tap, page):
    page.js("copied.length = 0")
    page.js("document.querySelector('#steps h2 .anchor').focus()")
    page.key("Enter")
    text = page.wait_for("copied[0]")
    tap.ok(text and text.endswith("report.html#steps"), "a heading gives its link", text)
    tap.ok(page.js("document.querySelectorAll('main > section > h2 .anchor, main article .anchor').length") > 5, "every heading has one")


def check_pairs(tap, page):
    page.js("document.querySelector('.top details.twin').open = true")
    row = "document.querySelector('.top details.twin tbody tr:nth-child(2)')"
    name = page.js(f"{row}.cells[0].textContent.trim()")
    page.point_at(row)
    lit = page.wait_for("Array.from(document.querySelectorAll('.top svg g.lit')).filter((g) => g.getBoundingClientRect().width > 0).length")
    tap.ok(lit, "a row lights its marks", name)
    page.point_at(f"Array.from(document.querySelectorAll('.top svg g')).find((g) => g.getBoundingClientRect().height > 6)")
    tap.ok(page.wait_for("document.querySelectorAll('.top details.twin tr.lit').length === 1"), "a mark lights its row")
    page.js("document.querySelector('.top details.twin').open = false")


def check_zoom(tap, page):
    columns = """Array.from(document.querySelectorAll('.top svg')).find((s) => s.getBoundingClientRect().width > 0)"""
    wide = f"Math.max(...Array.from({columns}.querySelectorAll('g:not(.outside)'), (g) => g.getBoundingClientRect().width))"
    before = page.js(wide)
    page.js("""(() => { const [from, to] = document.querySelectorAll('.top .zoom select'); from.value = '2';
        from.dispatchEvent(new Event('change')); to.value = '4'; to.dispatchEvent(new Event('change')); })()""")
    after, names = page.js(f"[{wide}, Array.from({columns}.querySelectorAll('text:not(.outside)[text-anchor=middle]'), (t) => t.textContent)]")
    tap.ok(after > 2 * before, "chosen steps are drawn wider", before, after)
    tap.ok({"2", "3", "4"} <= set(names) and not {"0", "1", "6"} & set(names), "and they alone", names)
    inside = page.js(f"""(() => {{ const box = {columns}.getBoundingClientRect();
        return Array.from({columns}.querySelectorAll('g:not(.outside)')).every((g) => {{ const b = g.getBoundingClientRect();
            return b.left >= box.left - 1 && b.right <= box.right + 1; }}); }})()""")
    tap.ok(inside, "inside of the drawing")
    tap.ok("z." in page.js("location.hash"), "the range is in the address", page.js("location.hash"))
    page.click("document.querySelector('.top .zoom button')")
    tap.ok(abs(page.js(wide) - before) < 0.5 and "z." not in page.js("location.hash"), "All shows all of them again")


def check_opening(tap, page, path):
    page.js("table().tBodies[0].lastElementChild.id = 'deep'")
    page.js("location.hash = '#deep'")
    tap.ok(page.wait_for("seen(document.getElementById('deep'))"), "a link opens the fold that its row lies under")
    page.js("""(() => { const d = document.querySelector('details.twin');
        d.open = false;
        d.querySelector('table').id = 'inside';
        location.hash = '#inside'; })()""")
    tap.ok(page.wait_for("document.querySelector('details.twin').open"), "a link opens what its target lies in")
    page.js("document.querySelector('details.twin').open = false")
    page.js("""(() => { const a = document.createElement('a');
        a.href = '#inside';
        document.body.append(a);
        a.click(); })()""")
    tap.ok(page.wait_for("document.querySelector('details.twin').open"), "also the second time")
    last = page.js("""(() => { const rows = Array.from(document.querySelectorAll('main tbody tr[id^=term-]'));
        return rows.length ? rows[rows.length - 1].id : ''; })()""")
    if last:
        page.load(path, f"#{last}")
        tap.ok(page.wait_for(f"seen(document.getElementById('{last}'))"), "an address with a target opens it")
    tap.ok(page.js("Array.from(document.querySelectorAll('a[href^=\"#\"]'))"
                   ".every((a) => document.getElementById(a.hash.slice(1)))"),
           "every link leads somewhere")


def check_links(tap, page, path):
    """The section lies below what sticks to the top, whatever has to be laid out on the way."""
    page.load(path)
    for section in ("coverage", "findings"):
        page.js(f"document.querySelector('nav a[href=\"#{section}\"]').click()")
        top = page.wait_for(f"""(() => {{ const t = document.getElementById('{section}').getBoundingClientRect().top;
            const last = window.lastTop;
            window.lastTop = t;
            return t === last && t >= 0 && t < 150 ? t + 1 : 0; }})()""")
        tap.ok(top, f"the link of a section leads to it: {section}", page.js("lastTop"))


def check_printer(tap, page):
    page.js("""(() => { const d = document.createElement('details');
        d.id = 'more';
        document.querySelector('main').append(d);
        window.dispatchEvent(new Event('beforeprint')); })()""")
    tap.ok(page.js("document.getElementById('more').open"), "the printer gets what is folded away")
    page.js("window.dispatchEvent(new Event('afterprint'))")
    tap.ok(not page.js("document.getElementById('more').open"), "and it is folded away again")


# --- looks ----------------------------------------------------------------------------------------------------

def colours(page):
    return [brightness(page.js(f"getComputedStyle(document.body).{colour}")) for colour in ("backgroundColor", "color")]


def choose(page, theme):
    page.js(f"""(() => {{ const s = document.querySelector('.page-tools select'); s.value = '{theme}';
        s.dispatchEvent(new Event('change')); }})()""")


def check_theme(tap, page, path):
    for system in ("light", "dark"):
        page.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": system}])
        for theme in ("auto", "light", "dark"):
            choose(page, theme)
            paper, text = colours(page)
            wanted = system if theme == "auto" else theme
            tap.ok((paper < text) == (wanted == "dark"), f"theme {theme} on a {system} system is {wanted}", paper, text)
    page.load(path)
    tap.ok(page.js("document.documentElement.dataset.theme") == "dark", "the choice is kept")
    choose(page, "auto")
    page.send("Emulation.setEmulatedMedia", features=[])
    tap.ok(page.js("document.documentElement.dataset.theme") is None, "auto leaves it to the system again")


def check_widths(tap, name, browser, path):
    for width in (1280, 400):
        with browser.open_page(width, 900) as page:
            page.load(path)
            over = page.js("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            tap.ok(over <= 0, f"{name}: nothing sticks out at {width}", over)
            sticking = page.js("""Array.from(document.querySelectorAll('main *, header *')).filter((e) =>
                !e.closest('.scroll, .chart, .unseen')
                && e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
                .slice(0, 3).map((e) => e.tagName + '.' + e.className)""")
            tap.ok(not sticking, f"{name}: no element sticks out at {width}", sticking)


def check_paper(tap, name, page, folder):
    data = base64.b64decode(page.send("Page.printToPDF")["data"])
    (folder / "paper.pdf").write_bytes(data)
    if not shutil.which("pdftotext"):
        tap.skip(f"{name}: printed", "no pdftotext")
        return
    text = subprocess.run(["pdftotext", "-layout", str(folder / "paper.pdf"), "-"], capture_output=True, text=True,
                          check=False).stdout
    headings = page.js("Array.from(document.querySelectorAll('main h2'), (h) => h.firstChild.textContent.trim())")
    missing = [h for h in headings if h not in text]
    tap.ok(headings and not missing, f"{name}: every section is printed", missing)


# --- what is not there ----------------------------------------------------------------------------------------

def check_poor_browser(tap, browser, path):
    """No clipboard, no storage: a page that was opened as a file."""
    with browser.open_page() as page:
        page.before_load(NO_CLIPBOARD + NO_STORAGE)
        page.load(path)
        choose(page, "dark")
        paper, text = colours(page)
        tap.ok(paper < text, "without a storage the theme changes all the same")
        page.js("window.taken = []; document.addEventListener('copy', () => taken.push(getSelection().toString()))")
        page.click("document.querySelector('code.copy + button')")
        said = page.wait_for("document.querySelector('code.copy + button').textContent.startsWith('Copied')")
        tap.ok(said, "without the clipboard's interface the older way is taken",
               page.js("document.querySelector('code.copy + button').textContent"))
        tap.ok(not page.said, "nothing is complained of", *page.said)


def check_no_script(tap, browser, path):
    with browser.open_page() as page:
        page.send("Emulation.setScriptExecutionDisabled", value=True)
        page.load(path)
        page.send("Emulation.setScriptExecutionDisabled", value=False)
        tap.ok(page.js("!document.querySelector('.page-tools, .table-tools, thead button')"),
               "without the script there are no buttons")
        tap.ok(page.js("document.querySelectorAll('svg g > title').length") > 0,
               "without the script marks have the browser's own tips")
        tap.ok(page.js("document.querySelectorAll('a.term[title]').length") > 0, "and so have words")


def check_page(tap, page, path, folder):
    page.before_load(HELPERS)
    page.load(path)
    if not tap.ok(page.js("Boolean(table())"), "there is a long table"):
        return
    for check in (check_sorting, check_filter, check_csv, check_csv_signs, check_code, check_definitions, check_marks,
                  check_finder, check_columns, check_anchors, check_pairs, check_zoom):
        check(tap, page)
    check_opening(tap, page, path)
    check_links(tap, page, path)
    check_printer(tap, page)
    check_theme(tap, page, path)


# A frame in place of Perfetto's tab: what it is sent, and an answer once it is asked.  Before the page's script.
PERFETTO_TAB = """
window.sent = [];
window.open = (address) => {
    const frame = document.body.appendChild(document.createElement('iframe'));
    frame.contentWindow.postMessage = (data, origin) => {
        window.sent.push([data === 'PING' ? data : { ...data.perfetto, buffer: data.perfetto.buffer.byteLength }, origin]);
        if (data === 'PING')
            window.dispatchEvent(new MessageEvent('message',
                { data: 'PONG', origin: 'https://ui.perfetto.dev', source: frame.contentWindow }));
    };
    window.opened = address;
    return frame.contentWindow;
};
"""
DROP = """
(() => {
    const files = new DataTransfer();
    files.items.add(new File(['four'], NAME));
    document.body.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: files }));
})()
"""


def check_trace(tap, browser, path):
    """Without a server: a trace that is dropped onto the page goes to Perfetto's tab, at the place of a finding."""
    with browser.open_page() as page:
        page.send("Page.addScriptToEvaluateOnNewDocument", source=PERFETTO_TAB)
        page.load(path)
        note = "document.querySelector('.about-trace')?.textContent || ''"
        button = "Array.from(document.querySelectorAll('ul.where button')).find((b) => b.textContent === 'Open in Perfetto')"
        tap.ok("nothing is uploaded" in page.js(note) and page.js(f"!!{button}"), "a finding offers its place in the trace", page.js(note))
        begin, end = page.js(f"""/ts < (\\d+) and ts \\+ dur > (\\d+)/.exec({button}.parentElement.textContent).slice(1).reverse().map(Number)""")
        page.js(DROP.replace("NAME", "'notes.txt'"))
        tap.ok("notes.txt" not in page.js(note), "another file is none", page.js(note))
        page.js(DROP.replace("NAME", "'trace.pftrace'"))
        tap.ok("opens trace.pftrace" in page.js(note), "a dropped trace is taken", page.js(note))
        page.js(f"{button}.click()")
        page.wait_for("sent.length > 1")
        sent, seen = page.js("sent"), page.js("opened.match(/visStart=(\\d+)&visEnd=(\\d+)/).slice(1).map(Number)")
        tap.ok(all(origin == "https://ui.perfetto.dev" for _, origin in sent) and sent[0][0] == "PING" and
               sent[-1][0]["buffer"] == 4 and sent[-1][0]["localOnly"] and sent[-1][0]["fileName"] == "trace.pftrace",
               "it goes to Perfetto's tab alone", sent)
        tap.ok(seen[0] <= begin < end <= seen[1], "which shows the place", seen, begin, end)
        tap.ok(page.requests == [path.as_uri()], "and nothing is asked for", *page.requests)


def main():
    tap = Tap()
    if BROWSER is None:
        tap.skip("the behaviour of the page", "no chromium")
        tap.done()
    with Scratch() as folder:
        paths = {}
        for name, source in {"demo": DEMO, **make_profile.write_all(folder, seed=5)}.items():
            result = run("report", source, "-o", folder / name, "--format", "html")
            if tap.ok(result.status == 0, f"{name}: a page is written", result):
                paths[name] = folder / name / "report.html"
        with Browser(folder) as browser:
            with browser.open_page() as page:
                check_page(tap, page, paths["demo"], folder)
            check_view(tap, browser, paths["demo"])
            check_poor_browser(tap, browser, paths["demo"])
            check_no_script(tap, browser, paths["demo"])
            check_trace(tap, browser, paths["demo"])
            for name, path in paths.items():
                check_policy(tap, name, path.read_text(encoding="utf-8"))
                check_widths(tap, name, browser, path)
                with browser.open_page() as page:
                    page.load(path)
                    check_paper(tap, name, page, folder)
                    tap.ok(page.requests == [path.as_uri()],
                           f"{name}: only the page itself is asked for", *page.requests)
                    tap.ok(not page.said and not page.dialogs,
                           f"{name}: the console is silent", *page.said, *page.dialogs)
    tap.done()


if __name__ == "__main__":
    main()
