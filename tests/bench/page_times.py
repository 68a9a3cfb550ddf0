# SPDX-License-Identifier: Apache-2.0
"""How long a browser takes to open the page of a report: from the beginning of the navigation, in milliseconds, and the
CPU time of the page's main thread."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from devtools import BROWSER, Browser  # noqa: E402
from tracemill import BINARY  # noqa: E402

PAINT_SECONDS = 5
TIMES = """(() => { const n = performance.getEntriesByType('navigation')[0];
    return { ready_ms: n.domContentLoadedEventEnd, load_ms: n.loadEventEnd,
             paint_ms: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null,
             elements: document.querySelectorAll('*').length }; })()"""
PAINTED = "performance.getEntriesByName('first-contentful-paint').length"
CPU = {"TaskDuration": "cpu_ms", "ScriptDuration": "script_ms", "LayoutDuration": "layout_ms",
       "RecalcStyleDuration": "style_ms"}
COLUMNS = ("paint_ms", "ready_ms", "load_ms", *CPU.values())
HEAD = f"{'':12}" + "".join(f"{name.replace('_', ' '):>12}" for name in COLUMNS)


@dataclass
class Opened:
    """rounds: of each, the times by their names"""
    path: Path
    rounds: list

    def figures(self):
        columns = {name: sorted(r[name] for r in self.rounds if r[name] is not None) for name in COLUMNS}
        return {"bytes": self.path.stat().st_size, "elements": self.rounds[0]["elements"],
                "least": {name: round(values[0], 1) for name, values in columns.items() if values},
                "median": {name: round(values[len(values) // 2], 1) for name, values in columns.items() if values},
                "rounds": self.rounds}


def report(trace, folder, memory):
    """Writes the page of a trace.  out: its path"""
    command = [BINARY, "report", trace.plain, "-o", folder, "--format", "html", "--memory", memory, "--quiet"]
    subprocess.run(list(map(str, command)), check=True, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return folder / "report.html"


def open_once(browser, path):
    with browser.open_page() as page:
        page.send("Performance.enable", timeDomain="threadTicks")
        page.load(path)
        page.wait_for(PAINTED, PAINT_SECONDS)
        times = page.js(TIMES)
        metrics = {m["name"]: m["value"] for m in page.send("Performance.getMetrics")["metrics"]}
    return {**times, **{name: metrics[metric] * 1000 for metric, name in CPU.items()}}


def measure(path, folder, rounds):
    """One unmeasured round, then the others, each in a tab of its own."""
    with Browser(folder) as browser:
        open_once(browser, path)
        return Opened(path, [open_once(browser, path) for _ in range(rounds)])


def print_opened(trace, opened):
    f = opened.figures()
    print(f"\n{trace.describe()}\npage: {f['bytes'] / 1e6:.2f} MB, {f['elements']:,} elements, {BROWSER}\n{HEAD}")
    for row in ("least", "median"):
        print(f"{row:12}" + "".join(f"{f[row].get(name, float('nan')):12.0f}" for name in COLUMNS))
