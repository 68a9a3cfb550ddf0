#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The examples for workflow engines (scripts/examples): Ray and Dask run a batch on this machine, with the bytes of one
process; Argo's is checked by the models of its API, and Airflow's by Airflow where that is installed.

`make test-packaging` installs Ray, Dask and the models of Argo.
"""

import ast
import os
import subprocess
import sys
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import batches  # noqa: E402
import make_profile  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BINARY, BUILD, ROOT, Scratch, run  # noqa: E402

PYTHON = BUILD / "packaging" / "bin" / "python"
EXAMPLES = ROOT / "scripts" / "examples"
ARGO = """
import sys, yaml
from hera.workflows.models import Workflow
print(len(Workflow.model_validate(yaml.safe_load(open(sys.argv[1]))).spec.templates))
"""
AIRFLOW = """
import sys
from airflow.dag_processing.dagbag import DagBag
bag = DagBag(sys.argv[1])
assert not bag.import_errors, bag.import_errors
print(sorted(t.task_id for t in bag.dags["tracemill"].tasks))
"""


def python(*words, **environment):
    done = subprocess.run([str(PYTHON), *map(str, words)], env=os.environ | environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=300)
    return done.returncode, done.stdout.decode("utf-8", "replace")


def has(module):
    return PYTHON.exists() and python("-c", f"import {module}")[0] == 0


def run_example(tap, folder, engine, root, wanted):
    if not has(engine):
        tap.skip(f"{engine} runs a batch", f"not installed: {engine}; make test-packaging does it")
        return
    out = folder / engine
    status, said = python(EXAMPLES / f"{engine}_batch.py", root, out, PATH=f"{folder}/bin:{os.environ['PATH']}",
                          SOURCE_DATE_EPOCH="4000000000", RAY_USAGE_STATS_ENABLED="0", RAY_AUTH_MODE="disabled")
    unlike = batches.difference(batches.content(out), wanted) if out.exists() else "nothing"
    tap.ok(status == 0 and not unlike, f"{engine} runs a batch, with the bytes of one process", status, unlike, said[-3000:])


def argo(tap):
    path = EXAMPLES / "argo_batch.yaml"
    flow = yaml.safe_load(path.read_text(encoding="utf-8"))
    names = {t["name"] for t in flow["spec"]["templates"]}
    steps = [s for t in flow["spec"]["templates"] for group in t.get("steps", []) for s in group]
    verbs = [s["arguments"]["parameters"][0]["value"].split()[0] for s in steps]
    tap.ok(flow["spec"]["entrypoint"] in names and {s["template"] for s in steps} <= names and verbs == ["scan", "run", "merge"],
           "the steps of the Argo workflow", verbs)
    if not has("hera"):
        tap.skip("the Argo workflow is valid", "not installed: hera; make test-packaging does it")
        return
    status, said = python("-c", ARGO, path)
    tap.ok(status == 0 and said.strip().endswith("2"), "the Argo workflow is valid", said[-2000:])


def airflow(tap, folder):
    path = EXAMPLES / "airflow_batch.py"
    words = {node.value for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Constant)}
    tap.ok({"scan", "merge", "all_done"} <= words, "the tasks of the DAG", words)
    if not has("airflow"):
        tap.skip("Airflow reads the DAG", "not installed: airflow, which is large")
        return
    status, said = python("-c", AIRFLOW, path, AIRFLOW_HOME=str(folder / "airflow"))
    tap.ok(status == 0 and "['merge', 'run_0', 'run_1', 'run_2', 'run_3', 'scan']" in said, "Airflow reads the DAG", said[-2000:])


def main():
    tap = Tap()
    with Scratch() as folder:
        root = folder / "root"
        for kind, host in (("cpu", "a"), ("gpu", "a"), ("gpu", "b"), ("tpu", "a"), ("cpu", "c")):
            batches.write(root / f"{kind}-{host == 'c'}" / "2026-01-01" / f"{host}.xplane.pb",
                          make_profile.MAKERS[kind](seed=ord(host), host=host).encode())
        (folder / "bin").mkdir()
        (folder / "bin" / "tracemill").symlink_to(Path(BINARY).resolve())
        run("batch", root, "-o", folder / "alone", "--quiet")
        wanted = batches.content(folder / "alone")
        for engine in ("ray", "dask"):
            run_example(tap, folder, engine, root, wanted)
        argo(tap)
        airflow(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
