#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`batch submit --slurm` without Slurm: an sbatch that notes what it is given, and the scripts run by hand, with paths and
options that a shell would take apart.  What Slurm itself makes of them: tests/slurm.  `--kubernetes` without Kubernetes:
its schema, and the commands of its containers."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import kubernetes_validate
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "slurm"))
import make_profile  # noqa: E402
import night  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BINARY, Scratch, run  # noqa: E402

STRANGE = "a b'c\"d$HOME`e`\nf%j*?[x];&|<>(~)#ü"
# Notes its words, each ended by a zero byte, in a file of its own, and answers as it is told.
SBATCH = """#!/bin/sh
n=$(ls "$NOTES" | wc -l)
printf '%s\\0' "$@" >"$NOTES/$n"
eval "answer=\\$ANSWER_$n"
eval "${answer:-echo $((17 + n))}"
"""


class Fake:
    """A folder with an sbatch in it."""

    def __init__(self, folder):
        self.folder = folder
        self.notes = folder / "notes"
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.notes.mkdir()
        (self.bin / "sbatch").write_text(SBATCH)
        (self.bin / "sbatch").chmod(0o755)

    def submit(self, *arguments, cwd=None, **environment):
        for path in self.notes.iterdir():
            path.unlink()
        return run("batch", "submit", "--slurm", *arguments, cwd=cwd, PATH=f"{self.bin}:{os.environ['PATH']}",
                   NOTES=self.notes, **environment)

    def calls(self):
        return [path.read_bytes().decode("utf-8", "surrogateescape").split("\0")[:-1]
                for path in sorted(self.notes.iterdir(), key=lambda p: int(p.name))]


def script(path, cwd, **environment):
    done = subprocess.run(["sh", str(path)], cwd=cwd, env={"PATH": os.environ["PATH"], "SOURCE_DATE_EPOCH": "4000000000", **environment},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stderr.decode("utf-8", "replace")


def small(root, count=3):
    for number in range(count):
        folder = root / "job" / "plugins" / "profile" / f"2026_05_{number + 10:02}_02_00_00"
        folder.mkdir(parents=True)
        (folder / "host.xplane.pb").write_bytes(make_profile.gpu(seed=number, steps=4).encode())


def strange_paths(tap, folder):
    """Everything may have any name; the scripts run anywhere, and do what one batch does."""
    fake = Fake(folder)
    root = folder / f"root {STRANGE}"
    night.make(root, steps=4)
    work = folder / f"cwd {STRANGE}"
    work.mkdir()
    out = work / f"out {STRANGE}"
    program = work / f"program {STRANGE}"
    os.link(BINARY, program) if os.stat(BINARY).st_dev == os.stat(work).st_dev else program.write_bytes(BINARY.read_bytes())
    program.chmod(0o755)
    note = f"it's a note: {STRANGE}"
    os.environ["PATH"], before = f"{fake.bin}:{os.environ['PATH']}", os.environ["PATH"]
    result = run("batch", "submit", "--slurm", root, "-o", out.name, "--tasks", "3", "--note", note, "--json",
                 f"--sbatch=--comment={STRANGE}", "--sbatch=--nice", "--junit", "junit of the night.xml", cwd=work, binary=program,
                 NOTES=fake.notes, TRACEMILL_ROWS="7", TRACEMILL_MEMORY="64M")
    os.environ["PATH"] = before
    if not tap.ok(result.status == 0, "a batch of strange names is submitted", result):
        return
    told = json.loads(result.out)
    tap.ok((told["array_job"], told["merge_job"], told["tasks"], told["items"], told["runs"]) ==
           ("17", "18", 3, night.ITEMS, night.RUNS), "the result as JSON", result.out)
    at = Path(told["folder"])
    array, merge = fake.calls()
    percent = str(at).replace("%", "%%")
    tap.ok(array == ["--parsable", f"--output={percent}/run-%a.log", f"--comment={STRANGE}", "--nice", str(at / "run.sh")],
           "sbatch gets the array job, word by word", array)
    tap.ok(merge == ["--parsable", f"--output={percent}/merge.log", f"--comment={STRANGE}", "--nice", "--dependency=afterany:17",
                     str(at / "merge.sh")], "and the merge after it", merge)
    text = (at / "run.sh").read_text("utf-8")
    wanted = ["#SBATCH --array=0-2", "#SBATCH --cpus-per-task=1", f"#SBATCH --mem={64 + 48 + 64}M", "#SBATCH --requeue",
              "#SBATCH --open-mode=append", "#SBATCH --signal=B:TERM@60"]
    tap.ok(all(line in text.splitlines() for line in wanted), "what run.sh asks Slurm for", text)
    statuses = [script(at / "run.sh", "/", SLURM_ARRAY_TASK_ID=str(task), SLURM_ARRAY_TASK_COUNT="3", TRACEMILL_ROWS="3",
                       TRACEMILL_QUIET="broken", TRACEMILL_FORMAT="no such format") for task in (2, 0, 1)]
    statuses.append(script(at / "merge.sh", "/", TRACEMILL_FORMAT="no such format"))
    tap.ok([status for status, _ in statuses] == [0, 0, 0, 0], "the scripts run anywhere, whatever the environment says", statuses)
    plain = folder / "plain"
    alone, truth = night.undisturbed(root, plain, "--note", note, "--rows", "7", "--memory", "64M", "--junit",
                                     folder / "plain.xml")
    tap.ok(alone.status == 0, "the undisturbed batch", alone)
    tap.ok(night.content(out) == truth, "the same bytes as of one batch", night.difference(night.content(out), truth))
    junit = work / "junit of the night.xml"
    tap.ok(junit.exists() and junit.read_bytes() == (folder / "plain.xml").read_bytes(),
           "a relative path means what it meant at the submit")


def baselines(tap, folder):
    """Words of --baseline are no paths; whatever else is one."""
    fake, root = Fake(folder), folder / "root"
    small(root, 1)
    gates = root / "gates.json"
    gates.write_text('{"schema": "tracemill.gates", "schema_version": 1, "gates": [{"figure": "step_time", "max_increase_pct": 5}]}')
    for number, (given, wanted) in enumerate([("last-good", "last-good"), ("median:3", "median:3"), ("label:v1", "label:v1"),
                                              ("night:2026-05-10", "night:2026-05-10"), ("main", f"{root}/main")]):
        out = root / f"out-{number}"
        done = fake.submit(root / "job", "-o", out, "--gate", gates.name, "--baseline", given, "--dry-run", "--json", cwd=root)
        text = Path(json.loads(done.out)["folder"], "merge.sh").read_text("utf-8") if done.status == 0 else ""
        tap.ok(f"--baseline={wanted} " in text.replace("'", "").replace("\n", " "),
               f"--baseline {given} means the same to the merge", done, text)


def again(tap, folder):
    """A second submit does what is missing, after the first; where nothing is missing it only merges."""
    fake = Fake(folder)
    root, out = folder / "root", folder / "out"
    small(root)
    first = fake.submit(root, "-o", out, "--tasks", "99", "--json")
    told = json.loads(first.out) if first.status == 0 else {}
    tap.ok(told.get("tasks") == 3, "no more tasks than traces", first)
    first_todo = (out / "slurm/0001/todo.jsonl").read_bytes()
    script(out / "slurm/0001/run.sh", "/", SLURM_ARRAY_TASK_ID="1")
    second = fake.submit(root, "-o", out, "--json")
    told = json.loads(second.out) if second.status == 0 else {}
    tap.ok((told.get("items"), told.get("tasks")) == (2, 1), "a second submit has what is missing", second)
    tap.ok("--dependency=afterany:17:18" in fake.calls()[0], "and waits for the first", fake.calls())
    tap.ok((out / "slurm/0001/todo.jsonl").read_bytes() == first_todo, "the first keeps its shares")
    tap.ok(len((out / "manifest.jsonl").read_text().splitlines()) == 4, "the manifest stays that of all")
    script(out / "slurm/0002/run.sh", "/", SLURM_ARRAY_TASK_ID="0")
    tap.ok(len((out / "manifest.jsonl").read_text().splitlines()) == 4, "a task leaves it as it is")
    third = fake.submit(root, "-o", out, "--json")
    told = json.loads(third.out) if third.status == 0 else {}
    calls = fake.calls()
    tap.ok((told.get("items"), told.get("tasks"), told.get("array_job"), told.get("merge_job")) == (0, 0, None, "17") and
           len(calls) == 1 and calls[0][-1].endswith("merge.sh") and not (out / "slurm/0003/run.sh").exists(),
           "where nothing is missing only the merge is submitted", third, calls)
    words = fake.submit("--manifest", out / "manifest.jsonl", "-o", out, ANSWER_0="echo '40;cluster'")
    tap.ok(words.status == 0 and "merge job 40\n" in words.out, "the number of a job on another cluster", words)
    changed = fake.submit(root, "-o", out, "--rows", "5", "--json")
    tap.ok(json.loads(changed.out)["items"] == 3, "with other options everything is missing", changed)


def old_ones(tap, folder):
    """The last thirty submissions are kept, and what somebody put beside one."""
    fake = Fake(folder)
    root, out = folder / "root", folder / "out"
    small(root, 1)
    for number in range(1, 34):
        (out / f"slurm/{number:04}").mkdir(parents=True)
        for name in ("todo.jsonl", "run.sh", "merge.sh", "submit.sh", "jobs", "run-0.log", "run-17.log", "merge.log"):
            (out / f"slurm/{number:04}" / name).touch()
    (out / "slurm/0004/notes.txt").touch()
    (out / "slurm/0033/jobs").write_text("array 5\nmerge 6x\nmerge seven\nfoo 3\n")
    result = fake.submit(root, "-o", out)
    left = sorted(path.name for path in (out / "slurm").iterdir())
    tap.ok(result.status == 0 and left == [f"{number:04}" for number in (1, 2, 3, *range(4, 35))] and
           [path.name for path in (out / "slurm/0004").iterdir()] == ["notes.txt"], "what is not of a submission stays", result, left)
    (out / "slurm/0004/notes.txt").unlink()
    (out / "slurm/0004").rmdir()
    tap.ok("--dependency=afterany:5:6" in fake.calls()[0], "numbers of jobs are read as such", fake.calls())
    fake.submit(root, "-o", out)
    left = sorted(path.name for path in (out / "slurm").iterdir())
    tap.ok(left == [f"{number:04}" for number in (1, 2, 3, *range(6, 36))], "the last thirty are kept", left)


def refusals(tap, folder):
    fake = Fake(folder)
    root, out = folder / "root", folder / "out"
    small(root, 2)
    dry = fake.submit(root, "-o", out, "--dry-run")
    tap.ok(dry.status == 0 and not fake.calls() and (out / "slurm/0001/submit.sh").exists() and
           not (out / "slurm/0001/jobs").exists(), "--dry-run only writes the scripts", dry)
    environment = {"NOTES": str(fake.notes), "PATH": f"{fake.bin}:{os.environ['PATH']}"}
    by_hand = script(out / "slurm/0001/submit.sh", "/", **environment)
    tap.ok(by_hand[0] == 0 and (out / "slurm/0001/jobs").read_text() == "array 17\nmerge 18\n", "submit.sh does the rest", by_hand)
    other = folder / "other"
    none = run("batch", "submit", "--slurm", root, "-o", other, PATH="/nonexistent")
    tap.ok(none.status == 5 and "no sbatch" in none.err and "--dry-run" in none.err and
           (other / "slurm/0001/run.sh").exists(), "no sbatch: it says where the scripts are", none)
    bad = fake.submit(root, "-o", other, ANSWER_0="echo 'sbatch: error: invalid partition\nsbatch: error: no' >&2; exit 1")
    tap.ok(bad.status == 5 and "sbatch: error: invalid partition sbatch: error: no" in bad.err, "sbatch refuses: its words", bad)
    half = fake.submit(root, "-o", other, ANSWER_1="echo 'sbatch: error: no' >&2; exit 1")
    tap.ok(half.status == 5 and "'scancel 17'" in half.err, "sbatch refuses the merge: the array job is told", half)
    silent = fake.submit(root, "-o", other, ANSWER_0="true", ANSWER_1="true")
    tap.ok(silent.status == 5 and "no job id" in silent.err, "sbatch says nothing", silent)
    waited = fake.submit(root, "-o", other, "--sbatch=--wait", ANSWER_0="echo 5; exit 4", ANSWER_1="echo 6; exit 1")
    tap.ok(waited.status == 1 and "merge job 6\n" in waited.out, "with --wait the status is that of the merge", waited)
    broken = fake.submit(root, "-o", other, "--sbatch=--wait", ANSWER_1="echo 6; exit 137")
    tap.ok(broken.status == 5 and "merge.log" in broken.err, "a merge that was killed", broken)
    fresh = folder / "fresh"
    for words in (["batch"], ["batch", "submit", "--slurm"]):
        for wrong in (["--gate", folder / "none.json"], ["--baseline", "median:0"]):
            result = run(*words, root, "-o", fresh, *wrong)
            tap.ok(result.status == 2 and not fresh.exists(), f"{' '.join(words)} {wrong[0]}: told before any work", result)
    for label, words, said in (
            ("no --slurm", ["batch", "submit", root, "-o", other], "--slurm"),
            ("no ROOT", ["batch", "submit", "--slurm", "-o", other], "neither a ROOT nor a manifest"),
            ("both", ["batch", "submit", "--slurm", root, "--manifest", out / "manifest.jsonl", "-o", other], "a ROOT and a manifest"),
            ("no OUT", ["batch", "submit", "--slurm", root], "-o OUT"),
            ("a backslash", ["batch", "submit", "--slurm", root, "-o", folder / "a\\b"], "backslash")):
        result = run(*words)
        tap.ok(result.status == 2 and said in result.err, f"refused: {label}", result)
    tap.ok(not (folder / "a\\b").exists(), "what is refused makes nothing")
    count = len(list((other / "slurm").iterdir()))
    gone = fake.submit(folder / "not there", "-o", other)
    tap.ok(gone.status == 3 and len(list((other / "slurm").iterdir())) == count, "a ROOT that is not there", gone)


def ended(tap, folder):
    """A signal that tracemill alone gets ends the script and sbatch too: nothing is submitted afterwards."""
    fake = Fake(folder)
    small(folder / "root")
    out = folder / "out"
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        result = fake.submit(folder / "root", "-o", out, ended=(number, 2), ANSWER_0="sleep 20; echo 17")
        time.sleep(0.2)
        tap.ok(result.status == -number and len(fake.calls()) == 1, f"signal {int(number)} ends a submission", result, fake.calls())
        left = [p.name for p in Path("/proc").glob("[0-9]*") if str(folder).encode() in words_of(p)]
        tap.ok(not left, f"signal {int(number)} leaves no process", left)
    result = fake.submit(folder / "root", "-o", out)
    tap.ok(result.status == 0 and len(fake.calls()) == 2, "the next submission is whole", result)


def words_of(process):
    """The command line of a process; b"" = it is gone."""
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


def own_options(tap, folder):
    """Options of sbatch that would be wrong for both jobs, or beside those of the scripts."""
    fake = Fake(folder)
    root, out = folder / "root", folder / "out"
    small(root, 2)
    own = ["--sbatch=--array=0-1%1", "--sbatch=--dependency=afterok:5", "--sbatch=-dsingleton", "--sbatch=--mem-per-cpu=1G"]
    result = fake.submit(root, "-o", out, "--tasks", "2", *own)
    array, merge = fake.calls() if result.status == 0 else ([], [])
    tap.ok(array[2:-1] == ["--array=0-1%1", "--mem-per-cpu=1G", "--dependency=afterok:5,singleton"],
           "an array and a dependency are for the array job", result, array)
    tap.ok(merge[2:-1] == ["--mem-per-cpu=1G", "--dependency=afterany:17"], "the merge waits for it, and is one job", merge)
    tap.ok("--mem=" not in (out / "slurm/0001/run.sh").read_text(), "memory is asked for in one way")
    result = fake.submit(root, "-o", out, "--sbatch=--dependency=afterok:5")
    tap.ok("--dependency=afterany:17:18,afterok:5" in fake.calls()[0], "a dependency beside an earlier submission", fake.calls())


def sizes(tap, folder):
    """What is asked for follows --jobs and --memory, also from the environment and a configuration file."""
    fake = Fake(folder)
    root = folder / "root"
    small(root, 2)
    (folder / "config.json").write_text(json.dumps({"jobs": "3", "memory": "1G", "sbatch": ["--qos=low", "--nice"]}))
    result = fake.submit(root, "-o", folder / "out", TRACEMILL_CONFIG=folder / "config.json", TRACEMILL_SBATCH="--exclusive")
    text = (folder / "out/slurm/0001/run.sh").read_text() if result.status == 0 else ""
    tap.ok("#SBATCH --cpus-per-task=3\n" in text and f"#SBATCH --mem={3 * (1024 + 48) + 64}M\n" in text and
           "--jobs=3" in text and "--memory=1G" in text and "config" not in text, "settings are written out", result, text)
    tap.ok(fake.calls()[0][2:-1] == ["--exclusive"], "the environment's --sbatch replaces the file's", fake.calls())


def run_container(container, environment, folder):
    """The words of a container as Kubernetes would start it, `tracemill` being ours."""
    words = [re.sub(r"\$\((\w+)\)", lambda m: f"expanded {m[1]}", w.replace("$$(", "\0")).replace("\0", "$(")
             for w in container["command"] + container["args"]]
    (folder / "bin").mkdir(exist_ok=True)
    link = folder / "bin" / "tracemill"
    if not link.exists():
        link.symlink_to(BINARY)
    given = {e["name"]: e["value"] for e in container["env"]} | {"TMPDIR": str(folder), "SOURCE_DATE_EPOCH": "4000000000",
                                                               "PATH": f"{folder}/bin:{os.environ['PATH']}", **environment}
    return subprocess.Popen(words, cwd="/", env=given, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def kubernetes(tap, folder):
    """The Jobs keep to the schema of Kubernetes, and their containers do what one batch does."""
    root, out = folder / "root", folder / "The perf_out"
    night.make(root, steps=4)
    note = f"it's $(HOME): {STRANGE}"
    (folder / "gates.json").write_text('{"schema":"tracemill.gates","schema_version":1,"gates":[{"figure":"step_time","max":"10s"}]}')
    submit = ("batch", "submit", "--kubernetes", "--image", "registry.example/tracemill:1", "--mount", f"perf-claim:{folder}")
    options = ("--note", note, "--memory", "200M", "--gate", folder / "gates.json")
    result = run(*submit, root, "-o", out, "--tasks", "3", *options, cwd=folder)
    jobs = list(yaml.safe_load_all(result.out)) if result.status == 0 else []
    tap.ok(len(jobs) == 2 and (out / "kubernetes/0001/jobs.yaml").read_text() == result.out, "two Jobs are printed and kept", result)
    for job in jobs:
        try:
            kubernetes_validate.validate(job, "1.31", strict=True)
            wrong = None
        except kubernetes_validate.ValidationError as problem:
            wrong = problem
        tap.ok(not wrong, f"{job['kind']} {job['metadata']['name']} keeps to the schema", wrong)
        pod = job["spec"]["template"]["spec"]
        for container in pod["containers"] + pod.get("initContainers", []):
            tap.ok({m["name"] for m in container["volumeMounts"]} == {v["name"] for v in pod["volumes"]}
                   and container["resources"]["limits"]["memory"].endswith("Mi"), "its volumes are mounted", container)
    run_job, merge_job = jobs
    tap.ok(run_job["spec"]["completionMode"] == "Indexed" and run_job["spec"]["completions"] == 3 and
           [j["metadata"]["name"] for j in jobs] == ["tracemill-the-perf-out-0001-run", "tracemill-the-perf-out-0001-merge"],
           "an Indexed Job and a merge Job", jobs)
    pods = [run_container(run_job["spec"]["template"]["spec"]["containers"][0], {"JOB_COMPLETION_INDEX": str(i)}, folder) for i in range(3)]
    merge = merge_job["spec"]["template"]["spec"]
    pods.append(run_container(merge["initContainers"][0], {}, folder))
    ends = [(pod.communicate(timeout=200)[0].decode("utf-8", "replace"), pod.returncode) for pod in pods]
    tap.ok([status for _, status in ends] == [0] * 4, "all pods at once", ends)
    last = run_container(merge["containers"][0], {}, folder)
    said = last.communicate(timeout=200)[0]
    alone = run("batch", root, "-o", folder / "alone", "--jobs", "2", "--quiet", *options, cwd=folder)
    got, wanted = (night.content(folder / name) for name in (out.name, "alone"))
    got = {k: v for k, v in got.items() if not k.startswith("kubernetes")}
    tap.ok(last.returncode == alone.status == 0 and got == wanted, "the pods leave the same bytes as one batch", said, alone,
           night.difference(got, wanted))
    result = run(*submit, root, "-o", out, "--json", *options, cwd=folder)
    again = (out / "kubernetes/0002/jobs.yaml").read_text()
    tap.ok(json.loads(result.out)["tasks"] == 0 and [j["metadata"]["name"] for j in yaml.safe_load_all(again)] == ["tracemill-the-perf-out-0002-merge"]
           and "initContainers" not in again, "if nothing is missing, there is only the merge", result)
    for arguments, words in ((("--kubernetes", "--mount", "a:/"), "no image"), (("--kubernetes", "--image", "x"), "not in a volume"),
                             (("--kubernetes", "--image", "x", "--mount", f"perf:{out}"), "not in a volume"),
                             (("--kubernetes", "--image", "x", "--mount", "perf"), "for --mount"),
                             (("--kubernetes", "--slurm"), "both --slurm and --kubernetes")):
        result = run("batch", "submit", *arguments, root, "-o", folder / "new" if "perf" not in arguments[-1] else out)
        tap.ok(result.status == 2 and words in result.err, f"{' '.join(arguments[:2])}: {words}", result)


def main():
    tap = Tap()
    for part in (strange_paths, baselines, again, old_ones, refusals, ended, own_options, sizes, kubernetes):
        with Scratch() as folder:
            part(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
