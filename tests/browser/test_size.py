#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How large a page gets at most: every table that a profile can fill is full, with long names of their own; that of a million
events of eight devices; and what a job adds to the page of a night.  How long it takes to open is measured, not asserted: make bench BENCH='--only page'."""

import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(1, str(Path(__file__).resolve().parents[1] / "bench"))
import full_profile  # noqa: E402
import made  # noqa: E402
import make_history  # noqa: E402
import nights  # noqa: E402
from devtools import BROWSER, Browser  # noqa: E402
from tap import Tap  # noqa: E402
from traces import PAGE_KIND  # noqa: E402
from tracemill import Scratch, run  # noqa: E402

PAGE_BYTES = 5 << 20
EVENTS, EVENTS_PAGE_BYTES = 1_000_000, 2_000_000
ROWS_MOST = 500
JOBS, JOBS_MOST = 200, 2000  # of a night, and that its page lists
JOB_BYTES, NIGHT_BYTES = 1150, 3_000_000  # of a job and its run of the night, without findings; of the page
FULL = ("table-kernel-names", "table-ops", "table-host-functions")  # ids of tables that have as many rows as a page shows
NAMES = {"names": "", "long names": "<&\"" * 700}  # what stands behind each name
ELEMENTS_MOST = 100_000  # of a page that a browser still opens in a second


def rows_by_table(text):
    """id of a table: rows of its body"""
    parts = re.split(r'<figure class="table[^"]*" id="([^"]*)">', text)
    bodies = [re.search(r"<tbody>(.*?)</tbody>", part, re.DOTALL) for part in parts[2::2]]
    return {id: body.group(1).count("<tr") for id, body in zip(parts[1::2], bodies) if body}


def check_size(tap, folder, what, more):
    """out: path of the page; None where there is none"""
    source = folder / f"{what}.xplane.pb"
    source.write_bytes(full_profile.make(more=more).encode())
    result = run("report", source, "-o", folder / what, "--format", "html")
    path = folder / what / "report.html"
    if not tap.ok(result.status == 0 and path.exists(), f"{what}: a page is written", result):
        return None
    rows = rows_by_table(path.read_text(encoding="utf-8"))
    tap.ok(all(rows.get(id) == ROWS_MOST for id in FULL), f"{what}: tables are full", rows)
    tap.ok(max(rows.values(), default=0) <= ROWS_MOST, f"{what}: no table has more rows than a page shows", rows)
    tap.ok(path.stat().st_size < PAGE_BYTES, f"{what}: the page is under 5 MB", path.stat().st_size, rows)
    return path


def check_events(tap, folder):
    """The page that `make bench` opens, of a profile as large as those that people take."""
    if not made.GENERATOR.exists():
        tap.skip("the page of a million events", "no generator")
        return
    subprocess.run([sys.executable, made.GENERATOR, folder / "large", "--format", "xplane", "--events", str(EVENTS), "--quiet", *PAGE_KIND],
                   check=True)
    run("report", folder / "large.xplane.pb", "-o", folder / "large", "--format", "html")
    (folder / "large.xplane.pb").unlink()
    size = (folder / "large" / "report.html").stat().st_size
    tap.ok(size < EVENTS_PAGE_BYTES, "the page of a million events is under 2 MB", size)


def check_jobs(tap, folder):
    """With jobs that do not change, two nights differ in the rows of their jobs and runs alone."""
    sizes = []
    for jobs in (JOBS, 2 * JOBS):
        nights.tell(folder / f"{jobs} jobs", [make_history.run_of(f"team-{number % 9}/job-{number:04}", ago) for number in range(jobs) for ago in range(30)])
        sizes.append((folder / f"{jobs} jobs" / "index.html").stat().st_size)
    each = (sizes[1] - sizes[0]) / JOBS
    tap.ok(each < JOB_BYTES, "the page of a night: bytes of a job and its run", each, *sizes)
    whole = sizes[0] + each * (JOBS_MOST - JOBS)
    tap.ok(whole < NIGHT_BYTES, "the page of a night: with as many jobs as it lists, it is under 3 MB", whole)


def main():
    tap = Tap()
    with Scratch() as folder:
        check_events(tap, folder)
        check_jobs(tap, folder)
        paths = [path for what, more in NAMES.items() if (path := check_size(tap, folder, what, more))]
        if BROWSER is None:
            tap.skip("a full page in a browser", "no chromium")
            tap.done()
        with Browser(folder, paints=False) as browser, browser.open_page() as page:
            for path in paths:
                page.load(path)
                elements = page.js("document.querySelectorAll('*').length")
                tap.ok(elements < ELEMENTS_MOST, "a full page has few enough elements", elements)
                tap.ok(not page.said and page.requests == [path.as_uri()], "a full page opens as it should", *page.said)
    tap.done()


if __name__ == "__main__":
    main()
