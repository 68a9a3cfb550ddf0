#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`batch submit --slurm` on a real Slurm of two emulated nodes: an undisturbed night, a task that is killed, one that is told
to end, a node that dies, a submit again, and what comes out, byte for byte."""

import contextlib
import json
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import night  # noqa: E402
from one_machine import OneMachine, SlurmError, descendants, missing, wait_until  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run  # noqa: E402

TASKS = 4
ENDED = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY"}


def environment_of(pid):
    with contextlib.suppress(OSError):
        return dict(pair.split(b"=", 1) for pair in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0") if b"=" in pair)
    return {}


def driver(slurm, **wanted):
    """The process of a task, `batch run`, in whose environment these variables are."""
    for pid in descendants(os.getpid()):
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            environment = environment_of(pid)
            if words[1:3] == [b"batch", b"run"] and b"SLURM_JOB_ID" in environment and \
                    environment.get(b"SLURM_CONF") == slurm.environment["SLURM_CONF"].encode() and \
                    all(environment.get(name.encode()) == value.encode() for name, value in wanted.items()):
                return pid
    return None


def caught(slurm, what, **wanted):
    """The same once it is there, stopped before its work is done."""
    pid = wait_until(lambda: driver(slurm, **wanted), 90, what, every=0.01)
    os.kill(pid, signal.SIGSTOP)
    return pid


def submit(slurm, *arguments, status=0):
    settings = {name: value for name, value in slurm.environment.items() if name in ("PATH", "SLURM_CONF")}
    result = run("batch", "submit", "--slurm", *arguments, "--json", **settings)
    if result.status != status:
        raise SlurmError(f"submit: {result}")
    return json.loads(result.out)


def tasks_of(slurm, job):
    return {name: of for name, of in slurm.jobs().items() if name.startswith(f"{job}_")}


def ended(slurm, told, seconds=180):
    """All jobs of a submission once they have ended.  out: (tasks by name, the merge)"""
    def look():
        merge = slurm.jobs().get(told["merge_job"])
        return merge and merge["state"] in ENDED

    wait_until(look, seconds, f"the merge {told['merge_job']} ends: {slurm.jobs()}")
    return (tasks_of(slurm, told["array_job"]) if told["array_job"] else {}), slurm.jobs()[told["merge_job"]]


def logs(folder):
    return "\n".join(f"--- {path.name}\n{path.read_text('utf-8', 'replace')[-1500:]}"
                     for path in sorted(Path(folder).glob("*.log")))


def same(tap, out, truth, name):
    tap.ok(night.content(out) == truth, name, night.difference(night.content(out), truth))


def undisturbed(tap, slurm, root, folder, truth):
    """Names that a shell would take apart; --wait.  Then nothing is left to do."""
    out = folder / "out of 'a' \"b\" $c\n%j"
    result = run("batch", "submit", "--slurm", root, "-o", out, "--tasks", TASKS, "--sbatch=--wait", "--json",
                 **{name: slurm.environment[name] for name in ("PATH", "SLURM_CONF")})
    if not tap.ok(result.status == 0, "an array job and its merge: --wait ends with the status of the merge", result,
                  logs(out / "slurm/0001")):
        return
    told = json.loads(result.out)
    tasks, merge = ended(slurm, told)
    nodes = {of["node"] for of in tasks.values()}
    tap.ok(len(tasks) == TASKS and {of["state"] for of in tasks.values()} == {"COMPLETED"} and nodes == {"n0", "n1"},
           "the tasks ran on both nodes", tasks)
    tap.ok(merge["exit"] == "0:0", "the merge ended well", merge)
    tap.ok(all((out / f"slurm/0001/{name}").exists() for name in ("run-0.log", "run-3.log", "merge.log")), "the logs are there")
    same(tap, out, truth, "the same bytes as one batch")
    told = submit(slurm, root, "-o", out)
    tap.ok(told["array_job"] is None and told["items"] == 0, "submitted again: only the merge", told)
    ended(slurm, told)
    same(tap, out, truth, "and the same bytes after it")


def killed(tap, slurm, root, folder, truth):
    """Slurm does not begin a task again that was killed, or that ended: the next submit does what they left."""
    out = folder / "killed"
    told = submit(slurm, root, "-o", out, "--tasks", TASKS)
    for task, number in (("1", signal.SIGKILL), ("2", signal.SIGTERM)):
        pid = caught(slurm, f"task {task} runs", SLURM_ARRAY_JOB_ID=told["array_job"], SLURM_ARRAY_TASK_ID=task)
        os.kill(pid, number)
        if number != signal.SIGKILL:  # which ends a halted process, too: it may be gone by now
            os.kill(pid, signal.SIGCONT)
    tasks, merge = ended(slurm, told)
    states = {name.split("_")[1]: (of["state"], of["exit"], of["restarts"]) for name, of in tasks.items()}
    tap.ok(states.get("1") == ("FAILED", "0:9", 0), "a task that is killed is not begun again", states)
    tap.ok(states.get("2", [""])[0] in ("FAILED", "CANCELLED") and states["2"][2] == 0, "nor one that is told to end", states)
    tap.ok(merge["state"] == "FAILED" and merge["exit"] == "4:0", "the merge runs all the same, and tells that something is missing",
           merge, logs(told["folder"]))
    tap.ok((out / "index.html").exists(), "there is a page of the night")
    told = submit(slurm, root, "-o", out, "--tasks", TASKS)
    tap.ok(0 < told["items"] < night.ITEMS + TASKS, "submitted again: only what is missing", told)
    tasks, merge = ended(slurm, told)
    tap.ok(merge["exit"] == "0:0", "now the merge ends well", merge, logs(told["folder"]))
    same(tap, out, truth, "the same bytes as one batch, after a task was killed")


def lost_node(tap, slurm, root, folder, truth):
    """A node dies with what runs on it: Slurm begins its task again on the other, with the same share."""
    out = folder / "lost node"
    told = submit(slurm, root, "-o", out, "--tasks", TASKS)
    pid = caught(slurm, "a task runs on n1", SLURM_ARRAY_JOB_ID=told["array_job"], SLURMD_NODENAME="n1")
    task = environment_of(pid)[b"SLURM_ARRAY_TASK_ID"].decode()
    slurm.kill_node("n1")
    tap.ok(wait_until(lambda: not driver(slurm, SLURMD_NODENAME="n1"), 10, "the processes of n1 are gone", every=0.01),
           "a node dies, and its processes")  # which takes a moment
    second = submit(slurm, root, "-o", out, "--sbatch=--mem-per-cpu=600M")
    tasks, merge = ended(slurm, told)
    of = tasks.get(f"{told['array_job']}_{task}", {})
    tap.ok(of.get("state") == "COMPLETED" and of.get("restarts", 0) >= 1 and of.get("node") == "n0",
           "its task is begun again on the other one", tasks)
    tap.ok({each["state"] for each in tasks.values()} == {"COMPLETED"} and merge["exit"] == "0:0", "everything ended well", tasks, merge,
           logs(told["folder"]))
    same(tap, out, truth, "the same bytes as one batch, after a node died")
    first_end = merge["end"]
    tasks, merge = ended(slurm, second)
    tap.ok(second["items"] > 0 and all(of["begin"] >= first_end for of in tasks.values()),
           "a submit at that time waits for the first", second, first_end, tasks)
    tap.ok({each["state"] for each in tasks.values()} == {"COMPLETED"} and merge["exit"] == "0:0", "and ends well", tasks, merge)
    same(tap, out, truth, "the same bytes after it")


def refused(tap, slurm, root, folder):
    settings = {name: slurm.environment[name] for name in ("PATH", "SLURM_CONF")}
    result = run("batch", "submit", "--slurm", root, "-o", folder / "refused", "--sbatch=--partition=none", **settings)
    tap.ok(result.status == 5 and "invalid partition" in result.err, "a partition that is not there: what sbatch says", result)
    result = run("batch", "submit", "--slurm", root, "-o", folder / "refused", "--tasks", "10", **settings)
    tap.ok(result.status == 5 and "array" in result.err, "more tasks than MaxArraySize: what sbatch says", result)


def main():
    tap = Tap()
    lacking = missing()
    if lacking:
        tap.skip("batches on a real Slurm", f"not installed: {' '.join(lacking)}")
        tap.done()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with Scratch() as folder:
        root = folder / "profiles"
        night.make(root, long=TASKS)  # the largest come first: each task has one
        alone, truth = night.undisturbed(root, folder / "truth")
        tap.ok(alone.status == 0 and len(truth) > night.RUNS, "one batch, undisturbed", alone)
        with OneMachine(nodes=2, cpus=2, MaxArraySize=8) as slurm:
            try:
                refused(tap, slurm, root, folder)
                undisturbed(tap, slurm, root, folder, truth)
                killed(tap, slurm, root, folder, truth)
                lost_node(tap, slurm, root, folder, truth)
            except SlurmError as error:
                tap.ok(False, "what was waited for came", error, slurm.logs())
    tap.done()


if __name__ == "__main__":
    main()
