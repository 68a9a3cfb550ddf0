#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/cluster.md do what they say: GNU parallel over machines that ssh reaches, the Indexed Job of Kubernetes
by its variable, timer, cron and CI lines.  Each leaves the bytes that one batch leaves."""

import configparser
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import night  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BINARY, ROOT, Scratch, run  # noqa: E402

# Another machine is a shell of this one, with an environment of its own.
SSH = """#!/bin/sh
while :; do
    case $1 in
        -o | -i | -l | -p) shift 2 ;;
        -*) shift ;;
        *) break ;;
    esac
done
host=$1
shift
[ "$1" = -- ] && shift
echo "$host" >>"$HOME/hosts"
exec env -i HOME="$HOME" PATH="$PATH" SHELL=/bin/sh SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" sh -c "$*"
"""


def blocks(language):
    """The fenced blocks of that language, in their order."""
    text = (ROOT / "docs" / "cluster.md").read_text("utf-8")
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [block for word, block in found if word == language]


class Site:
    """A folder with profiles, and a path on which `tracemill` is."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "bin").mkdir()
        (folder / "bin" / "tracemill").symlink_to(BINARY)
        (folder / "bin" / "ssh").write_text(SSH)
        (folder / "bin" / "ssh").chmod(0o755)
        night.make(folder / "profiles")
        self.alone, self.truth = night.undisturbed(folder / "profiles", folder / "truth")
        self.environment = {"HOME": str(folder), "PATH": f"{folder}/bin:{os.environ['PATH']}", "LC_ALL": "C.UTF-8",
                            "SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH", "4000000000")}

    def shell(self, command, **environment):
        done = subprocess.run(["sh", "-e", "-c", command] if isinstance(command, str) else command, cwd=self.folder,
                              env={**self.environment, **environment}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False, timeout=200)
        return done.returncode, done.stdout.decode("utf-8", "replace")[-2000:]

    def same(self, tap, out, name):
        got = night.content(self.folder / out)
        tap.ok(got == self.truth, name, night.difference(got, self.truth))


def parallel(tap, site):
    name = "GNU parallel over two machines leaves the same bytes"
    if not shutil.which("parallel"):
        tap.skip(name, "not installed: parallel")
        return
    (site.folder / ".parallel").mkdir()
    (site.folder / ".parallel" / "will-cite").touch()
    command = next(block for block in blocks("sh") if "parallel" in block)
    status, said = site.shell(command)
    hosts = (site.folder / "hosts").read_text().split() if (site.folder / "hosts").exists() else []
    tap.ok(status == 0 and set(hosts) == {"node1", "node2"} and len(hosts) >= 4, "the line for GNU parallel runs", status, said, hosts)
    site.same(tap, "perf", name)


def gates(site):
    (site.folder / "data").mkdir(exist_ok=True)
    text = {"schema": "tracemill.gates", "schema_version": 1, "gates": [{"figure": "step_time", "max": "10s"}]}
    for path in ("gates.json", "data/gates.json"):
        (site.folder / path).write_text(json.dumps(text))


def every_night(tap, site):
    """The commands of the timer and of cron, with the folders of here, two nights in a row."""
    gates(site)
    (site.folder / "data" / "profiles").symlink_to(site.folder / "profiles")
    unit = configparser.ConfigParser(strict=False)
    unit.optionxform = str
    unit.read_string(blocks("ini")[0])
    unit.read_string(blocks("ini")[1])
    tap.ok(unit["Service"]["Type"] == "oneshot" and "OnCalendar" in unit["Timer"], "the units are units")
    tap.ok(unit["Service"]["SuccessExitStatus"] == "1 4", "statuses that are no failure of the service")
    cron = [line.split("  ", 1)[1].strip() for block in blocks("") for line in block.splitlines() if line.startswith("0 2 ")]
    for label, line in (("timer", unit["Service"]["ExecStart"]), ("timer, after it", unit["Service"]["ExecStartPost"]),
                        ("timer, the next night", unit["Service"]["ExecStart"]), ("cron", cron[0])):
        words = [re.sub("^/(data|tmp)", rf"{site.folder}/\1", word) for word in shlex.split(line)]
        words = [re.sub("^/usr/local/bin/", "", word) for word in words]
        (site.folder / "tmp").mkdir(exist_ok=True)
        status, said = site.shell(words)
        tap.ok(status == 0, f"the command of the {label}", status, said, words)


def in_ci(tap, site):
    gates(site)
    steps = yaml.safe_load(blocks("yaml")[0])
    command = next(step["run"] for step in steps if "tracemill" in step.get("run", ""))
    summary = next(step["run"] for step in steps if "SUMMARY" in step.get("run", ""))
    shutil.rmtree(site.folder / "perf", ignore_errors=True)
    status, said = site.shell(command, GITHUB_SHA="0123456789abcdef0123456789abcdef01234567")
    tap.ok(status == 0, "the step of the CI", status, said)
    site.shell(summary, GITHUB_STEP_SUMMARY=str(site.folder / "summary.md"))
    tap.ok((site.folder / "summary.md").exists() and (site.folder / "night.xml").exists(), "its files")
    page = (site.folder / "perf" / "index.json")
    tap.ok(page.exists() and "0123456789abcdef" in page.read_text("utf-8"), "the revision is in the index")


def main():
    tap = Tap()
    with Scratch() as folder:
        site = Site(folder)
        tap.ok(site.alone.status == 0, "one batch, undisturbed", site.alone)
        for part in (parallel, every_night, in_ci):
            part(tap, site)
    tap.done()


if __name__ == "__main__":
    main()
