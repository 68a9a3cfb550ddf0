#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures of the README anew: `make pictures`, or

    BUILD=build build/venv/bin/python scripts/make-pictures.py [report] [report-pdf] [compare] [night] [perfetto]

report: the first screen of the demo's report.  report-pdf: its first page and those of findings and steps.  perfetto:
its trace in Perfetto's own page, with the largest finding selected.  compare: two generated runs, one kernel of which
takes 20 % longer.  night: a batch of generated results; of the sections below the first screen one trend is kept.  Needs
chromium; report-pdf pdftoppm, compare the generator of $TM_SHARED, perfetto node.  What is missing is named, and its
picture stays as it is.  Look at each picture before it is committed."""

import base64
import functools
import http.server
import shutil
import struct
import subprocess
import sys
import threading
import time
import zlib
from pathlib import Path

import numpy

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import made  # noqa: E402
import make_history  # noqa: E402
import nights  # noqa: E402
from devtools import BROWSER, Browser  # noqa: E402
from perfetto import importer  # noqa: E402
from tracemill import BINARY, Scratch  # noqa: E402

DEMO = "tests/data/demo"
COMPARED = ("--devices", "2", "--steps", "20", "--layers", "4", "--format", "xplane", "--events", "16000", "--quiet")
PDF_PAGES = ("Sorted by potential savings", "Breakdown of the analyzed steps")  # a text on each page after the first
TREND = "resnet50/imagenet: step time"
# The pixels of a PNG, four bytes each.
PIXELS = """(async () => { const image = new Image(); image.src = 'data:image/png;base64,DATA'; await image.decode();
    const sheet = new OffscreenCanvas(image.width, image.height).getContext('2d'); sheet.drawImage(image, 0, 0);
    const data = new Blob([sheet.getImageData(0, 0, image.width, image.height).data]), reader = new FileReader();
    await new Promise((done) => { reader.onload = done; reader.readAsDataURL(data); });
    return reader.result.slice(reader.result.indexOf(',') + 1); })()"""
UI, ROW_TITLES = (1280, 850), 250


def tracemill(*words):
    done = subprocess.run([BINARY, *map(str, words), "-q"], cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        raise SystemExit(f"make-pictures: tracemill {words[0]} ended with {done.returncode}")


def shoot(view, name, width, height):
    data = view.send("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                     clip={"x": 0, "y": 0, "width": width, "height": height, "scale": 1})["data"]
    with view.browser.open_page(100, 100) as blank:
        pixels = numpy.frombuffer(base64.b64decode(blank.js(PIXELS.replace("DATA", data))), numpy.uint8).reshape(height, width, 4)
    png = with_palette(pixels[:, :, :3])
    (ROOT / "docs" / f"{name}.png").write_bytes(png)
    print(f"docs/{name}.png  {width} x {height}, {len(png):,} bytes")


def with_palette(pixels):
    """A PNG of the 256 colors that are there most, of others the nearest of them: a third of the bytes, and no difference
    to be seen in text and charts."""
    height, width, _ = pixels.shape
    colors, place, count = numpy.unique(pixels.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True)
    palette = colors[numpy.argsort(-count, kind="stable")[:256]]
    near = numpy.array([numpy.abs(palette.astype(int) - color).sum(axis=1).argmin() for color in colors.astype(int)], numpy.uint8)
    rows = numpy.hstack([numpy.zeros((height, 1), numpy.uint8), near[place].reshape(height, width)])
    chunks = ((b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)), (b"PLTE", palette.tobytes()),
              (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
                                          for kind, data in chunks)


def shoot_page(browser, name, page, width, before, prepare=""):
    """The page down to the top of the element `before`, a selector."""
    with browser.open_page(width, 1000) as view:
        view.load(page)
        view.js(prepare or "0")
        top = view.js(f"document.querySelector({before!r}).getBoundingClientRect().top + window.scrollY")
        shoot(view, name, width, int(top))


def report(browser, folder):
    tracemill("report", DEMO, "-o", folder / "demo", "--format", "html")
    shoot_page(browser, "report", folder / "demo" / "report.html", 1060, "#findings")


def page_of(pdf, number):
    return subprocess.run(["pdftotext", "-f", str(number), "-l", str(number), pdf, "-"], capture_output=True, text=True,
                          check=True).stdout


def report_pdf(browser, folder):
    if not shutil.which("pdftoppm"):
        return "pdftoppm is not installed"
    pdf, images = folder / "demo" / "report.pdf", []
    tracemill("report", DEMO, "-o", folder / "demo", "--format", "pdf")
    for number in [1] + [next(n for n in range(2, 20) if text in page_of(pdf, n)) for text in PDF_PAGES]:
        subprocess.run(["pdftoppm", "-r", "74", "-png", "-singlefile", "-f", str(number), "-l", str(number), pdf,
                        folder / f"page-{number}"], check=True)
        images.append(f"<img src='page-{number}.png'>")
    sheet = folder / "pages.html"
    sheet.write_text("<body style='margin:0;background:#98a0ab'><div style='display:flex;gap:8px;padding:8px;width:max-content'>"
                     + "".join(images) + "</div>", encoding="utf-8")
    with browser.open_page(1900, 1000) as view:
        view.load(sheet)
        width, height = view.js("(() => { const b = document.querySelector('div').getBoundingClientRect(); return [b.width, b.height]; })()")
        shoot(view, "report-pdf", int(width), int(height))
    return None


def compare(browser, folder):
    if not made.GENERATOR.exists():
        return "$TM_SHARED has no generator"
    for name, options in (("main", ("--noise-seed", "1")), ("pr-118", ("--noise-seed", "2", "--slower-op", "cublas-gemm=1.2"))):
        subprocess.run([sys.executable, made.GENERATOR, folder / name / "host", *COMPARED, *options], check=True)
    tracemill("compare", f"main={folder / 'main'}", f"pr-118={folder / 'pr-118'}", "-o", folder / "compared", "--format", "html")
    shoot_page(browser, "compare", folder / "compared" / "compare.html", 1060, "#findings")
    return None


def night(browser, folder):
    nights.tell(folder / "night", make_history.story())
    shoot_page(browser, "night", folder / "night" / "index.html", 1280, "footer", f"""(() => {{
        for (const part of document.querySelectorAll("main > section[id]"))
            if (!["figures", "trends"].includes(part.id))
                part.remove();
        for (const part of document.querySelectorAll("#trends figure"))
            if (!part.textContent.includes({TREND!r}))
                part.remove(); }})()""")


# In Perfetto's page.
OPEN_GROUPS = """document.querySelectorAll('.pf-track__header').forEach((header) => {
    if (header.querySelector('.pf-track__collapse-button')?.textContent.includes('expand_more') &&
        !header.textContent.includes('System'))
        header.querySelector('.pf-track__shell').click(); })"""
ROW_OF_FINDINGS = """(() => { const b = [...document.querySelectorAll('.pf-track__header')]
    .find((header) => header.textContent.includes('findings')).getBoundingClientRect();
    return [b.left, b.top + b.height / 2, b.width]; })()"""
ARGUMENTS = "[...document.querySelectorAll('h2, header, .pf-section__title')].find((e) => e.textContent.trim() === 'Arguments')"


def click(view, x, y):
    for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
        view.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **({} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}))


class Files(http.server.SimpleHTTPRequestHandler):
    """Of Perfetto's page; the trace below a name of its own."""

    def __init__(self, trace, *words, **more):
        self.trace = trace
        super().__init__(*words, **more)

    def translate_path(self, path):
        return str(self.trace) if path.startswith("/trace") else super().translate_path(path)

    def log_message(self, *_):
        pass


def perfetto(browser, folder):
    if importer.missing():
        return importer.missing()
    trace = folder / "demo.pftrace"
    tracemill("convert", DEMO, "-o", trace)
    begin, end = importer.load(trace, "select min(ts), max(ts + dur) from slice").rows[0][0]
    at = importer.load(trace, "select s.ts from slice s join track t on s.track_id = t.id join args a using (arg_set_id) "
                              "where t.name glob 'findings*' and a.key = 'debug.at_stake_ns' order by a.int_value desc limit 1").rows[0][0][0]
    handler = functools.partial(Files, trace, directory=str(importer.bundle().parent))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    place = f"http://127.0.0.1:{server.server_port}"
    with browser.open_page(*UI) as view:
        view.go(f"{place}/#!/?url={place}/trace.pftrace")
        view.wait_for("document.querySelectorAll('.pf-track__title-popup').length > 1", 60)
        view.js("document.querySelector('.pf-sidebar button, .sidebar-button').click()")
        for _ in range(4):  # rows inside of a group are not there before it is open
            view.js(OPEN_GROUPS)
            time.sleep(1)
        x, y, width = view.js(ROW_OF_FINDINGS)
        click(view, x + ROW_TITLES + (width - ROW_TITLES) * (at - begin) / (end - begin), y)
        view.move(UI[0] - 100, UI[1] - 100)  # no tooltip
        view.wait_for(f"!!{ARGUMENTS}", 10)
        view.js(f"{ARGUMENTS}.scrollIntoView()")
        time.sleep(2)
        shoot(view, "perfetto", *UI)
    server.shutdown()
    return None


PICTURES = {"report": report, "report-pdf": report_pdf, "compare": compare, "night": night, "perfetto": perfetto}


def main():
    names = sys.argv[1:] or list(PICTURES)
    if not BROWSER:
        raise SystemExit("make-pictures: there is no chromium")
    if unknown := [name for name in names if name not in PICTURES]:
        raise SystemExit(f"make-pictures: no picture is called {', '.join(unknown)}")
    with Scratch() as folder, Browser(folder) as browser:
        for name in names:
            if why := PICTURES[name](browser, folder):
                print(f"docs/{name}.png  stays as it is: {why}")


if __name__ == "__main__":
    main()
