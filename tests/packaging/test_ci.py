#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The GitHub Action, run step by step as a runner does, and the examples of docs/gates.md for GitLab and Jenkins."""

import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BINARY, BUILD, ROOT, Scratch, run  # noqa: E402

ACTION = ROOT / ".github" / "actions" / "tracemill"
GH = """#!/bin/bash
printf '%s\\n' "$*" >>"$GH_LOG"
case "$1 $2" in
    "run list") echo "$GH_RUN" ;;
    "run download") while [ "$1" != --dir ]; do shift; done; mkdir -p "$2" && cp "$GH_SUMMARY" "$2/summary.json" ;;
    "pr comment") while [ "$1" != --body-file ]; do shift; done; cp "$2" "$GH_LOG.body" ;;
esac
"""


class Runner:
    """A runner of composite actions: expressions, outputs, files and the shell of `shell: bash`."""

    def __init__(self, folder, **settings):
        self.folder, self.outputs, self.log = folder, {}, ""
        for name in ("bin", "temp", "work"):
            (folder / name).mkdir()
        (folder / "bin" / "tracemill").symlink_to(BINARY)
        (folder / "bin" / "gh").write_text(GH)
        (folder / "bin" / "gh").chmod(0o755)
        (folder / "event.json").write_text(json.dumps({"pull_request": {"number": 17}}))
        self.environment = dict(
            os.environ, PATH=f"{folder / 'bin'}:{os.environ['PATH']}", GITHUB_ACTIONS="true", CI="true", GITHUB_ACTION_PATH=str(ACTION),
            GITHUB_STEP_SUMMARY=str(folder / "summary.md"), GITHUB_REPOSITORY="o/r", GITHUB_WORKFLOW="speed", GITHUB_EVENT_NAME="pull_request",
            GITHUB_EVENT_PATH=str(folder / "event.json"), RUNNER_TEMP=str(folder / "temp"), GH_LOG=str(folder / "gh.log"), GH_RUN="",
            SOURCE_DATE_EPOCH="4000000000", **settings)

    def value(self, text, inputs):
        def one(match):
            name = match.group(1)
            if name.startswith("inputs."):
                return inputs[name[len("inputs."):]]
            if name.startswith("steps."):
                _, step, _, output = name.split(".")
                return self.outputs[step].get(output, "")
            return {"github.token": "token"}[name]
        return re.sub(r"\$\{\{ ([a-z._-]+) \}\}", one, text)

    def play(self, **given):
        """The steps until one fails.  out: its status"""
        action = yaml.safe_load((ACTION / "action.yml").read_text(encoding="utf-8"))
        inputs = {name: given.pop(name.replace("-", "_"), rule.get("default")) for name, rule in action["inputs"].items()}
        assert not given and None not in inputs.values(), (given, inputs)
        inputs = {name: self.value(text, inputs) for name, text in inputs.items()}
        for step in action["runs"]["steps"]:
            if "uses" in step:
                self.uploaded = {k: self.value(v, inputs) for k, v in step["with"].items()}
                continue
            assert "${{" not in step["run"], "an expression in a script is an injection"
            output = self.folder / f"{step['id']}.output"
            output.touch()
            environment = dict(self.environment, GITHUB_OUTPUT=str(output), **{k: self.value(v, inputs) for k, v in step.get("env", {}).items()})
            done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], cwd=self.folder / "work",
                                  env=environment, capture_output=True, text=True, check=False)
            self.log += done.stdout + done.stderr
            self.outputs[step["id"]] = dict(line.split("=", 1) for line in output.read_text().splitlines())
            if done.returncode != 0:
                return done.returncode
        return 0

    def read(self, name):
        path = self.folder / name
        return path.read_text(encoding="utf-8") if path.exists() else ""


def profile(path, seed=2, steps=9):
    path.write_bytes(make_profile.gpu(seed=seed, steps=steps).encode())
    return path


def gates(folder, *rows):
    path = folder / "gates.json"
    path.write_text(json.dumps({"gates": rows}))
    return str(path)


def check_action(tap):
    with Scratch() as folder:
        runner = Runner(folder)
        status = runner.play(profile=str(profile(folder / "run.xplane.pb")), gate=gates(folder, {"figure": "step_time", "max": "10s"}), options="")
        made = sorted(p.name for p in (folder / "work/tracemill-report").iterdir())
        tap.ok(status == 0 and runner.outputs["check"]["status"] == "0", "action: a gate that passes", status, runner.log)
        tap.ok({"report.html", "report.pdf", "report.md", "summary.json", "check.xml", "check.md", "check.json"} <= set(made)
               and runner.uploaded == {"name": "tracemill-report", "path": "tracemill-report"}, "action: report and result are kept", made)
        brief = json.loads(run("brief", folder / "work/tracemill-report", "--json").out)
        tap.ok(runner.outputs["report"]["verdict"] == brief["verdict"]["text"] and "::notice title=tracemill::" in runner.log,
               "action: the verdict is an output and an annotation", runner.outputs, runner.log)
        shown = runner.read("summary.md")
        tap.ok(brief["verdict"]["text"][:30] in shown and "# Check of" in shown, "action: the job summary has brief and check", shown[:500])
        tap.ok(runner.read("gh.log") == "", "action: says nothing to GitHub unless asked", runner.read("gh.log"))
    with Scratch() as folder:
        run("report", profile(folder / "old.xplane.pb", steps=9), "-o", folder / "old", "--format", "json", "-q")
        runner = Runner(folder, GH_SUMMARY=str(folder / "old/summary.json"))
        runner.environment["GH_RUN"] = "4711"
        status = runner.play(profile=str(profile(folder / "run.xplane.pb", seed=3)), options="", comment="true", baseline_branch="main",
                             gate=gates(folder, {"figure": "step_time", "max": "1us"}, {"figure": "kernels.count", "max_increase_pct": 1000}))
        asked = runner.read("gh.log")
        tap.ok("run list --repo o/r --workflow speed --branch main" in asked and "run download 4711 --repo o/r --name tracemill-report" in asked,
               "action: the baseline is the artifact of the last good run on the branch", asked)
        result = json.loads(runner.read("work/tracemill-report/check.json"))
        tap.ok(any(g["baseline"] is not None for g in result["gates"]), "action: gates compare with the baseline", result["gates"])
        tap.ok(status == 1 and "::error title=Median step time::" in runner.log and ", max 1us" in runner.log, "action: a failed gate is an error annotation, and status 1", status, runner.log)
        body = runner.read("gh.log.body")
        tap.ok("pr comment 17 --repo o/r" in asked and body.startswith("# Check of") and "## Key figures" in body and len(body) <= 65000,
               "action: the comment has what failed, then the report", asked, body[:300])
    with Scratch() as folder:
        runner = Runner(folder)
        status = runner.play(profile=str(profile(folder / "run.xplane.pb")), options="", baseline_branch="main", gate=gates(folder, {"figure": "step_time", "max_increase_pct": 5}))
        tap.ok(status in (2, 4) and "::notice title=tracemill::no baseline" in runner.log and "::" in runner.log.split("no baseline")[1],
               "action: no baseline yet is told, and a required limit is not passed in silence", status, runner.log)
    with Scratch() as folder:
        runner = Runner(folder)
        (folder / "broken.xplane.pb").write_bytes(b"")
        status = runner.play(profile=str(folder / "broken.xplane.pb"), options="")
        tap.ok(status == 3 and "::error title=tracemill::" in runner.log, "action: a profile that cannot be read is an error", status, runner.log)
    hostile = {"gates": [{"title": "a:b,c\n::error::x", "figure": "f", "status": "failed", "value_text": "1%\n::warning::y", "rule": "max", "limit_text": "0", "baseline_text": None}]}
    done = subprocess.run([sys.executable, ACTION / "annotate.py", "check"], input=json.dumps(hostile), capture_output=True, text=True, check=False)
    tap.ok(done.stdout.splitlines() == ["::error title=a%3Ab%2Cc%0A%3A%3Aerror%3A%3Ax::1%25%0A::warning::y, max 0"], "action: names of a profile make no command", done)


def check_install(tap):
    """A runner without tracemill: the first step installs the wheel, here from the folder of the release."""
    with Scratch() as folder:
        runner = Runner(folder)
        (folder / "bin/tracemill").unlink()
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        runner.environment.update(PATH=f"{folder / 'venv/bin'}:{runner.environment['PATH']}", PIP_NO_INDEX="1", PIP_FIND_LINKS=str(BUILD / "dist"))
        status = runner.play(profile=str(profile(folder / "run.xplane.pb")), options="", version=run("version").out.split()[1])
        installed = folder / "venv/bin/tracemill"
        tap.ok(status == 0 and installed.exists() and (folder / "work/tracemill-report/report.html").exists(), "action: installs the version that it was given", status, runner.log)
        runner.environment["PATH"] = f"{folder / 'bin'}:{runner.environment['PATH']}"
        installed.unlink()
        status = runner.play(profile=str(folder / "run.xplane.pb"), options="", version="99.9")
        tap.ok(status != 0 and "99.9" in runner.log, "action: a version that is not there ends it", status, runner.log[-500:])


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "docs/gates.md").read_text(encoding="utf-8"), re.DOTALL)


def play_example(tap, name, command):
    """A command line of an example, with the files that it names."""
    with Scratch() as folder:
        (folder / "bin").mkdir()
        (folder / "bin/tracemill").symlink_to(BINARY)
        (folder / "profile").mkdir()
        profile(folder / "profile/run.xplane.pb", seed=3)
        run("report", profile(folder / "old.xplane.pb"), "-o", folder / "main", "--format", "json", "-q")
        for limit, status in (("10s", 0), ("1us", 1)):
            gates(folder, {"figure": "step_time", "max": limit})
            done = subprocess.run(["bash", "-ec", command], cwd=folder, capture_output=True, text=True, check=False,
                                  env=dict(os.environ, PATH=f"{folder / 'bin'}:{os.environ['PATH']}", GITHUB_STEP_SUMMARY=str(folder / "shown.md")))
            suite = xml.etree.ElementTree.parse(folder / "check.xml").getroot()
            failures = sum(int(s.get("failures", 0)) for s in suite.iter("testsuite"))
            tap.ok(done.returncode == status and failures == status, f"{name}: limit {limit}: status {status}, and JUnit says so", done)


def check_examples(tap):
    gitlab = [d for d in map(yaml.safe_load, blocks("yaml")) if isinstance(d, dict) and "performance" in d]
    tap.ok(len(gitlab) == 1 and gitlab[0]["performance"]["artifacts"]["reports"]["junit"] == "check.xml", "GitLab: the example keeps the JUnit file", gitlab)
    play_example(tap, "GitLab", "\n".join(gitlab[0]["performance"]["script"]))
    jenkins = re.findall(r"^ +sh '(.*)'$", "".join(blocks("groovy")), re.MULTILINE)
    tap.ok(len(jenkins) == 1 and "junit 'check.xml'" in "".join(blocks("groovy")), "Jenkins: the example keeps the JUnit file", jenkins)
    play_example(tap, "Jenkins", jenkins[0])
    action = [s for d in map(yaml.safe_load, blocks("yaml")) if isinstance(d, list) for s in d if "actions/tracemill" in s.get("uses", "")]
    known = yaml.safe_load((ACTION / "action.yml").read_text(encoding="utf-8"))["inputs"]
    tap.ok(len(action) == 1 and set(action[0]["with"]) <= set(known) and "profile" in action[0]["with"], "GitHub: the example uses inputs that there are", action)


def main():
    tap = Tap()
    check_action(tap)
    check_examples(tap)
    if os.environ.get("TM_PACKAGING"):
        check_install(tap)
    else:
        tap.skip("action: installs the wheel", "make test-packaging makes it")
    if shutil.which("shellcheck"):
        steps = yaml.safe_load((ACTION / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
        for step in (s for s in steps if "run" in s):
            done = subprocess.run(["shellcheck", "-s", "bash", "-"], input=step["run"], capture_output=True, text=True, check=False)
            tap.ok(done.returncode == 0, f"action: shellcheck finds nothing in '{step['id']}'", done.stdout)
    tap.done()


if __name__ == "__main__":
    main()
