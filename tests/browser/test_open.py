#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`open` in a real browser with the real Perfetto UI: the report has links to its places, and a click opens the trace
there, with the rows of the analysis pinned; the page asks nothing of another host.

The UI of the package asks a server of its own for a trace when it starts, which no other one does, and complains that
there is none.  That has nothing to do with the trace that it is given here."""

import functools
import http.server
import json
import re
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
import make_pytorch  # noqa: E402
from devtools import BROWSER, Browser, DevToolsError, Page  # noqa: E402
from perfetto import importer  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BINARY, Scratch, run  # noqa: E402

SECONDS = 60
# The UI is compiled once and painted in a window of few pixels: half the CPU of a tab, the same layout and scripts.
UI_FLAGS = ("--js-flags=--liftoff-only", "--window-size=500,400", "--force-device-scale-factor=0.3")
REPORT = "document.getElementById('report').contentDocument"
VISIBLE = """(() => { const w = window.app?.trace?.timeline.visibleWindow.toTimeSpan();
    return w ? [String(w.start), String(w.end)] : null; })()"""
# How many rows a query that was run found.
QUERIED = "Number(/Query result[^]*?([0-9]+) rows?/i.exec(document.body.textContent)?.[1] || 0)"
# The slice that is selected.
SELECTION = """(() => { const s = window.app?.trace?.selection.selection;
    return s?.kind === 'track_event' ? { ts: String(s.ts), name: s.name, category: s.category } : null; })()"""
EXPANDED = """(window.app?.trace?.workspace || window.app.trace.currentWorkspace).flatTracks
    .filter((t) => t.expanded && t.hasChildren).map((t) => t.name)"""
PINNED = "window.app?.trace?.workspace?.pinnedTracks.map((t) => t.name) || window.app.trace.currentWorkspace.pinnedTracks.map((t) => t.name)"


class Opened(Page):
    """A tab that a page opened."""

    def __init__(self, browser, target):
        self.browser, self.target = browser, target
        self.requests, self.said, self.dialogs = [], [], []
        self.loads, self.has_fragment = 0, False
        self.session = browser.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        browser.pages[self.session] = self
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def value(self, expression, seconds=SECONDS):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if found := self.js(expression):
                    return found
            except DevToolsError:
                pass  # it is loading
            time.sleep(0.2)
        return None


START_OF = "[...{}.cells].find((cell) => cell.querySelector('a.in-perfetto')).dataset.v"


def tabs(browser):
    return {t["targetId"] for t in browser.send("Target.getTargets")["targetInfos"] if t["type"] == "page"}


def opened_by(browser, page, element):
    before = tabs(browser)
    page.send("Page.bringToFront")
    page.send("Runtime.evaluate", expression=f"{element}.click()", userGesture=True)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if new := tabs(browser) - before:
            return Opened(browser, new.pop())
        time.sleep(0.05)
    return None


def serve_ui():
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=importer.bundle().parent))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_address[1]}"


def holds(window, place):
    """The place is in the window, and the window is not much more than it."""
    return window and int(window[0]) <= place[0] and int(window[1]) >= place[1] and \
        int(window[1]) - int(window[0]) <= 4 * (place[1] - place[0]) + 10000


def settled(viewer, place):
    """What is visible, once that is the place; the last look after a while."""
    end = time.monotonic() + SECONDS / 2
    window = viewer.value(VISIBLE)
    while time.monotonic() < end and not holds(window, place):
        time.sleep(0.2)
        window = viewer.js(VISIBLE)
    return window


def device_of(page, row):
    return page.js(f"{row}.querySelector('td.id')?.textContent || ''")


def check_rows(tap, viewer, device, host=""):
    """After a link to a place on a device: what is pinned is the verdict, and its findings, steps and idle time; its own streams are unfolded."""
    of = f" · tracemill{f' · {host}' if host else ''}"
    pinned = viewer.value(PINNED) or []
    allowed = {f"{what}{of}" for what in ("critical findings", "warning findings", "busy share", "host steps", f"{device} steps", f"{device} idle gaps", f"{device} busy share")}
    other = [name for name in pinned if name not in allowed and not name.startswith("Analysis · tracemill")]
    tap.ok({f"{device} steps{of}", f"{device} idle gaps{of}"} <= set(pinned) and not other and len([n for n in pinned if n.startswith("Analysis")]) == 1,
           f"of {device} what helps is pinned, and nothing of others", pinned, other)
    kind, number = device.upper().split(":")
    expanded = viewer.value(EXPANDED) or []
    wanted = "host:CPU" if kind == "CPU" else f"(device:{kind}:{number}|{kind} {number})"
    tap.ok(any(re.match(f"/?{wanted}( |$)", name) for name in expanded) and not any("analysis" in name.lower() for name in expanded),
           f"of {device} the streams are unfolded", expanded)


def check(tap, browser, address, ui, folder):
    page = browser.open_page(width=1400, height=1000)
    page.go(address)
    links = page.wait_for(f"{REPORT}.querySelectorAll('a.in-perfetto').length")
    sql = page.js(f"[...{REPORT}.querySelectorAll('ul.where li')].map((li) => li.querySelector('code').textContent)")
    in_findings = page.js(f"{REPORT}.querySelectorAll('ul.where li a.in-perfetto').length")
    tap.ok(in_findings == len(sql) > 0, f"each place of a finding has a link: {in_findings}", sql[:2])
    for caption in ("caption-steps-slowest", "caption-gaps-longest", "caption-ops", "caption-kernel-names"):
        rows = page.js(f"{REPORT}.querySelectorAll('table[aria-labelledby={caption}] tbody tr:not(:has(th.d1))').length")
        linked = page.js(f"{REPORT}.querySelectorAll('table[aria-labelledby={caption}] tbody a.in-perfetto').length")
        tap.ok(rows and linked == rows, f"each row of {caption} has a link: {linked} of {rows}")
    tap.ok("Nothing is uploaded" in page.js("document.body.textContent"), "the page says that nothing is uploaded")
    tap.ok(not page.said, "nothing is complained of", *page.said)

    first = f"{REPORT}.querySelector('ul.where li a.in-perfetto')"
    viewer = opened_by(browser, page, first)
    if not tap.ok(viewer is not None, "a click opens a tab"):
        return
    end, begin = map(int, re.search(r"ts < (\d+) and ts \+ dur > (\d+)", sql[0]).groups())
    window = settled(viewer, (begin, end))
    tap.ok(holds(window, (begin, end)), "Perfetto shows the place of the finding", f"{window} of {begin}-{end}")
    device = page.js(f"{REPORT}.querySelector('ul.where li span').textContent.split(', ').pop()")
    check_rows(tap, viewer, device)
    page.wait_for("document.getElementById('status').textContent.includes('is in the Perfetto tab')")
    before = tabs(browser)
    row = f"[...{REPORT}.querySelectorAll('table[aria-labelledby=caption-gaps-longest] tbody tr')].find((r) => r.querySelector('td.id').textContent === '{device}')"
    start, lasts = (int(page.js(f"{row}.cells[{i}].dataset.v")) // 1000 for i in (0, 1))
    page.send("Runtime.evaluate", expression=f"{row}.querySelector('a.in-perfetto').click()", userGesture=True)
    window = settled(viewer, (start, start + lasts))
    tap.ok(holds(window, (start, start + lasts)), "a gap is shown in the same tab", f"{window} of {start}-{start + lasts}")
    tap.ok(tabs(browser) == before, "no other tab")
    elsewhere = [r for r in page.requests if not r.startswith((address, "data:", "about:"))]
    tap.ok(not elsewhere, "the page asks nothing of another host", *elsewhere)
    kernels = opened_by(browser, page, f"{REPORT}.querySelector('table[aria-labelledby=caption-kernel-names] tbody a.in-perfetto')")
    found = kernels and kernels.value(QUERIED)
    tap.ok(found and found > 0, f"a kernel's row lists its slices: {found}", found)
    selected = kernels and kernels.value(SELECTION, 30)
    name = page.js(f"(({REPORT}.querySelector('table[aria-labelledby=caption-kernel-names] tbody a.in-perfetto').closest('th')).querySelector('.full, summary') || "
                   f"{REPORT}.querySelector('table[aria-labelledby=caption-kernel-names] tbody th').firstChild).textContent")
    tap.ok(selected and selected["name"] == name and selected["category"] != "launch", "and selects the longest one", selected, name)
    pinned = kernels and kernels.value(PINNED)
    tap.ok(pinned == ["Analysis · tracemill"], "with the verdict pinned, and room for the list", pinned)
    row = f"{REPORT}.querySelector('table[aria-labelledby=caption-ops] tbody tr:has(a.in-perfetto)')"
    start = page.js(f"[...{row}.cells].find((cell) => cell.querySelector('a.in-perfetto')).dataset.v")
    viewer = opened_by(browser, page, f"{row}.querySelector('a.in-perfetto')")
    selected = viewer and viewer.value(SELECTION, 30)
    tap.ok(selected and selected["ts"] == str((int(start) + 500) // 1000) and selected["category"] not in ("tracemill", "derived", "module"),
           "an operation's row selects its slice at its first start, not a computed one", selected, start)
    steps = f"{REPORT}.querySelectorAll('table[aria-labelledby=caption-steps-slowest] tbody tr')"
    for which, key in (("first", "[0]"), ("last", ".at(-1)")):  # where the trace ends there is no room for a margin, or a wait for devices
        page.go(address)
        page.wait_for(f"{REPORT}.querySelectorAll('a.in-perfetto').length")
        row = f"[...{steps}].sort((a, b) => {START_OF.format('a')} - {START_OF.format('b')}){key}"
        titles = page.js(f"[...{REPORT}.querySelectorAll('table[aria-labelledby=caption-steps-slowest] thead th')].map((th) => th.textContent)")
        end, lasts = (int(page.js(f"{row}.cells[{titles.index(title)}].dataset.v")) // 1000 for title in ("End", "Device span"))
        start = end - lasts
        viewer = opened_by(browser, page, f"{row}.querySelector('a.in-perfetto')")
        window = viewer and settled(viewer, (start, start + lasts))
        tap.ok(holds(window, (start, start + lasts)), f"the {which} of the slowest steps is shown", f"{window} of {start}-{start + lasts}")


def served(source, ui, *options):
    return subprocess.Popen([str(BINARY), "open", str(source), "--no-browser", "--quiet", "--perfetto-url", ui, *options],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE if options else None, text=True)


def ended(program):
    try:
        return program.wait(timeout=60)
    except subprocess.TimeoutExpired:
        program.kill()
        return None


def check_comparison(tap, ui, folder):
    """The page of a comparison has a link for each step, which both runs start together."""
    paths = [folder / "base.xplane.pb", folder / "new.xplane.pb"]
    for seed, path in enumerate(paths):
        path.write_bytes(make_profile.MAKERS["gpu"](seed=seed + 1).encode())
    result = run("compare", *paths, "-o", folder / "compared", "--format", "html,perfetto", "--quiet")
    tap.ok(result.status == 0, "a comparison is written as a page and a trace", result)
    program = served(folder / "compared", ui)
    address = program.stdout.readline().strip()
    with Browser(folder / "second", *UI_FLAGS) as browser:
        page = browser.open_page(width=1400, height=1000)
        page.go(address)
        rows = f"{REPORT}.querySelectorAll('table[aria-labelledby=caption-timeline-steps] tbody tr')"
        links = page.wait_for(f"{REPORT}.querySelectorAll('table[aria-labelledby=caption-timeline-steps] a.in-perfetto').length")
        tap.ok(links and links == page.js(f"{rows}.length"), f"each compared step has a link: {links}")
        cells = page.js(f"[...{rows}[1].querySelectorAll('td')].map((cell) => Number(cell.dataset.v))")
        viewer = opened_by(browser, page, f"{rows}[1].querySelector('a.in-perfetto')")
        start, length = (int(one) // 1000 for one in cells[-2:])
        window = settled(viewer, (start, start + length)) if viewer else None
        tap.ok(holds(window, (start, start + length)), "a step of the comparison is shown", f"{window} of {cells}")
        pinned = viewer.value(PINNED) if viewer else None
        tap.ok(pinned and any(name.startswith("step difference") for name in pinned), "with the differences pinned", pinned)
    tap.ok(ended(program) == 0, "it ends with the browser")


def check_place(tap, page, source, caption, host=""):
    """The first row of a table: its link shows its place, with the rows of its device."""
    row = f"{REPORT}.querySelector('table[aria-labelledby={caption}] tbody tr')"
    start, lasts = (int(page.js(f"{row}.cells[{i}].dataset.v")) // 1000 for i in (0, 1))
    device = device_of(page, row)
    viewer = opened_by(page.browser, page, f"{row}.querySelector('a.in-perfetto')")
    window = settled(viewer, (start, start + lasts)) if viewer else None
    tap.ok(holds(window, (start, start + lasts)), f"{source}: the first row of {caption} is shown", f"{window} of {start}-{start + lasts}")
    if viewer:
        check_rows(tap, viewer, device.rpartition("/")[2] or "cpu:0", host)


def check_other_devices(tap, ui, folder):
    """TPUs, CPUs, and two ranks of PyTorch, whose clock is that of the trace as recorded."""
    ranks = [folder / f"rank{rank}.json" for rank in range(2)]
    for rank, path in enumerate(ranks):
        path.write_bytes(make_pytorch.rank_of(rank))
    for kind in ("tpu", "cpu", "ranks"):
        sources = ranks if kind == "ranks" else [folder / f"{kind}.xplane.pb"]
        if kind != "ranks":
            sources[0].write_bytes(make_profile.MAKERS[kind](seed=5).encode())
        result = run("report", *sources, "-o", folder / kind, "--format", "html,perfetto", "--quiet")
        tap.ok(result.status == 0, f"{kind}: a report and its trace", result)
        program = served(folder / kind, ui)
        address = program.stdout.readline().strip()
        with Browser(folder / f"browser-{kind}", *UI_FLAGS) as browser:
            page = browser.open_page(width=1400, height=1000)
            page.go(address)
            page.wait_for(f"{REPORT}.querySelectorAll('a.in-perfetto').length")
            places, linked = (page.js(f"{REPORT}.querySelectorAll('ul.where li{what}').length") for what in ("", " a.in-perfetto"))
            tap.ok(places == linked > 0, f"{kind}: each place of a finding has a link: {linked} of {places}")
            device = page.js(f"{REPORT}.querySelector('table[aria-labelledby=caption-gaps-longest] tbody td.id')?.textContent || ''")
            check_place(tap, page, kind, "caption-gaps-longest", device.rpartition("/")[0])
        tap.ok(ended(program) == 0, "it ends with the browser")


def check_parts(tap, ui, folder):
    """The list of a split trace: each part and the overview open whole; each step of the overview names its part."""
    source = folder / "split.xplane.pb"
    source.write_bytes(make_profile.MAKERS["gpu"](seed=5).encode())
    result = run("split", source, "-o", folder / "parts", "--by", "step=2", "--quiet")
    tap.ok(result.status == 0, "a trace is split", result)
    index = json.loads((folder / "parts" / "index.json").read_text(encoding="utf-8"))
    program = served(folder / "parts", ui)
    address = program.stdout.readline().strip()
    with Browser(folder / "browser-parts", *UI_FLAGS) as browser:
        page = browser.open_page(width=1400, height=1000)
        page.go(address)
        links = page.wait_for(f"{REPORT}.querySelectorAll('tbody a.in-perfetto').length")
        tap.ok(links == len(index["parts"]) > 1, f"each part has a link: {links}")
        tap.ok(not page.said, "nothing is complained of", *page.said)
        for what, element, place in (("the last part", f"[...{REPORT}.querySelectorAll('tbody a.in-perfetto')].at(-1)", index["parts"][-1]),
                                     ("the overview", f"{REPORT}.querySelector('li a.in-perfetto')", index["overview"])):
            viewer = opened_by(browser, page, element)
            title = viewer and viewer.value("window.app?.trace?.traceInfo?.traceTitle", SECONDS)
            tap.ok(title and (place["file"] in title or place is index["overview"]), f"{what} opens", title)
            pinned = viewer and viewer.value(PINNED)
            tap.ok(pinned and any(name.startswith("gpu:0 steps") for name in pinned), f"{what}: with the rows of the analysis pinned", pinned)
        elsewhere = [r for r in page.requests if not r.startswith((address, "data:", "about:"))]
        tap.ok(not elsewhere, "the page asks nothing of another host", *elsewhere)
    tap.ok(ended(program) == 0, "it ends with the browser")
    done = importer.load(folder / "parts" / "overview.pftrace", """select s.name, group_concat(a.string_value) from slice s
        join track t on t.id = s.track_id left join args a on a.arg_set_id = s.arg_set_id and a.key = 'debug.part'
        where t.name like '% steps · tracemill' group by s.id""")
    files = {part["file"] for part in index["parts"]}
    wrong = [row for row in done.rows[0] if not row[1] or not all(any(name in row[1] for name in files) for _ in row)]
    tap.ok(done.rows[0] and not wrong, f"each of {len(done.rows[0])} steps of the overview names its part", *wrong[:5], done.error)


def check_link(tap, ui, folder):
    """Perfetto fetches the trace from port 9001 without a page of ours."""
    source = folder / "linked.xplane.pb"
    source.write_bytes(make_profile.MAKERS["gpu"](seed=5).encode())
    program = served(source, ui, "--perfetto-link")
    address = program.stdout.readline().strip()
    if not address and "in use" in program.stderr.read():
        tap.skip("a link to the trace", "port 9001 is in use")
        return
    tap.ok(address.startswith(f"{ui}/#!/?url=http://127.0.0.1:9001/"), "the address is Perfetto's, with that of the trace", address)
    token = re.search(r"9001/([0-9a-f]{32})/trace&", address).group(1)
    foreign = urllib.request.Request(f"http://127.0.0.1:9001/{token}/facts.json", headers={"Origin": ui})
    with urllib.request.urlopen(foreign) as answer:
        tap.ok(answer.headers["Access-Control-Allow-Origin"] is None, "other files are for no other page")
    with Browser(folder / "third", *UI_FLAGS) as browser:
        viewer = browser.open_page(width=1400, height=1000)
        viewer.go(address)
        shown = Opened.value(viewer, "window.app?.trace?.traceInfo?.traceTitle", SECONDS)
        tap.ok(shown, "Perfetto shows the trace", shown)
        pinned = Opened.value(viewer, PINNED)
        tap.ok(pinned and any("findings" in name for name in pinned), "with the rows of the analysis pinned", pinned)
    tap.ok(ended(program) == 0, "it ends once Perfetto has the trace")


def main():
    tap = Tap()
    why = importer.missing() or (None if BROWSER else "no chromium")
    if why:
        tap.skip("a served report in a browser", why)
        tap.done()
    server, ui = serve_ui()
    with Scratch() as folder:
        source = folder / "run.xplane.pb"
        source.write_bytes(make_profile.MAKERS["gpu"](seed=5).encode())
        program = served(source, ui)
        address = program.stdout.readline().strip()
        with Browser(folder, *UI_FLAGS) as browser:
            check(tap, browser, address, ui, folder)
        tap.ok(ended(program) == 0, "it ends with the browser")
        check_comparison(tap, ui, folder)
        check_other_devices(tap, ui, folder)
        check_parts(tap, ui, folder)
        check_link(tap, ui, folder)
    server.shutdown()
    tap.done()


if __name__ == "__main__":
    main()
