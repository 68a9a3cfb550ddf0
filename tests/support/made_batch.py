# SPDX-License-Identifier: Apache-2.0
"""Folders of batches with results that nobody worked: one real result, told again of as many runs as wanted."""

import copy
import json
from datetime import datetime, timezone
from pathlib import Path

import make_profile
from tracemill import run

FIGURES = ("step_time_ps", "device_utilization_pct", "compute_ps", "idle_ps")
START_NS = 1_790_000_000_000_000_000
DAY_NS = 86_400_000_000_000


class Template:
    """A batch of one small run, worked in `folder`: its line of the manifest, its result, its options."""

    def __init__(self, folder, *options):
        logs, out = Path(folder) / "logs", Path(folder) / "template"
        profile = logs / "job" / "2026-11-01" / "plugins" / "profile" / "2026_11_01_03_00_00"
        profile.mkdir(parents=True)
        (profile / "vm.xplane.pb").write_bytes(make_profile.cpu(steps=8, per_step=6).encode())
        self.options = options or ("--format", "json")
        done = run("batch", logs, "-o", out, *self.options, "-q")
        if done.status not in (0, 4):
            raise SystemExit(f"made_batch: {done}")
        lines = (out / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
        self.header, self.line = json.loads(lines[0]), json.loads(lines[1])
        self.folder = next(out.glob(f"runs/*/{self.line['id']}"))
        self.result = json.loads((self.folder / "result.json").read_text(encoding="utf-8"))
        self.summary = (self.folder / "summary.json").read_bytes()

    def run_of(self, number, jobs=10):
        """Run `number`: its line and its result.  Runs of a night follow each other."""
        line, result = copy.deepcopy(self.line), copy.deepcopy(self.result)
        job, night = f"job-{number % jobs:04}", number // jobs
        when_ns = START_NS + night * DAY_NS
        line["id"] = result["id"] = f"{job}-{(number * 0x9e3779b97f4a7c15) % (1 << 64):016x}"
        line["path"] = f"{job}/{night:05}/run"
        line["keys"] = {**line["keys"], "job": job, "night": date_of(when_ns), "when_ns": when_ns}
        line["files"][0]["path"] = f"{line['path']}/{line['files'][0]['host']}.xplane.pb"
        for place, name in enumerate(FIGURES):
            known = result["figures"].get(name) or 50.0
            result["figures"][name] = known * (1 + ((number * 7919 + place * 104729) % 1000 - 500) / 20000)
        return line, result

    def write(self, out, numbers, jobs=10, has_files=False):
        """OUT with the manifest and the results of these runs, in one folder, as older versions left them."""
        out, lines = Path(out), []
        for number in numbers:
            line, result = self.run_of(number, jobs)
            folder = out / "runs" / line["id"]
            folder.mkdir(parents=True, exist_ok=True)
            if has_files:
                (folder / "summary.json").write_bytes(self.summary)
            (folder / "result.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
            lines.append(line)
        lines.sort(key=lambda line: line["path"])
        header = {**self.header, "runs": len(lines), "files": len(lines),
                  "bytes": sum(file["bytes"] for line in lines for file in line["files"])}
        (out / "manifest.jsonl").write_text("".join(json.dumps(line) + "\n" for line in [header, *lines]), encoding="utf-8")


def date_of(when_ns):
    """The day of a time, as the manifest has it."""
    return datetime.fromtimestamp(when_ns // 10**9, timezone.utc).strftime("%Y-%m-%d")
