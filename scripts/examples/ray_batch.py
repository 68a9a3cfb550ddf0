#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A batch on a Ray cluster: a task for each line of the manifest, then the merge.  OUT is visible on all nodes.

    ray_batch.py ROOT OUT        RAY_ADDRESS names the cluster; without it, Ray starts on this machine
"""

import subprocess
import sys
from pathlib import Path

import ray

DONE = (0, 4)  # 4: there is a result, which says what is wrong with the trace


@ray.remote(num_cpus=1, max_retries=3, retry_exceptions=True)
def process(line, out):
    done = subprocess.run(["tracemill", "batch", "item", "-o", out, "--quiet"], input=line, text=True, stderr=subprocess.PIPE, check=False)
    if done.returncode not in DONE:
        raise RuntimeError(done.stderr)
    return done.returncode


def main(root, out):
    Path(out).mkdir(parents=True, exist_ok=True)
    subprocess.run(["tracemill", "batch", "scan", root, "-o", out, "--quiet"], check=True)
    ray.init()
    with open(Path(out) / "manifest.jsonl", encoding="utf-8") as manifest:
        next(manifest)  # the header
        ray.get([process.remote(line, str(Path(out).resolve())) for line in manifest])
    return subprocess.run(["tracemill", "batch", "merge", out], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
