#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A batch on Dask workers that share no folder: each task writes to a folder of its own, which is joined with others in
a tree.  The folders pass between workers as archives, so OUT is only needed here.

    dask_batch.py ROOT OUT [SCHEDULER]        without the address of a scheduler, workers start on this machine
"""

import io
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from dask.distributed import Client

BRANCHES = 4
DONE = (0, 4)  # 4: there is a result, which says what is wrong with the trace


def pack(folder):
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        tar.add(folder, arcname=".")
    return archive.getvalue()


def unpack(archive, folder):
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(folder, filter="data")
    return folder


def process(line):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["tracemill", "batch", "item", "-o", folder, "--quiet"], input=line, text=True, stderr=subprocess.PIPE, check=False)
        if done.returncode not in DONE:
            raise RuntimeError(done.stderr)
        return pack(folder)


def join(archives):
    with tempfile.TemporaryDirectory() as folder:
        parts = [unpack(archive, Path(folder) / str(i)) for i, archive in enumerate(archives)]
        subprocess.run(["tracemill", "batch", "join", *parts, "-o", Path(folder) / "out", "--quiet"], check=True)
        return pack(Path(folder) / "out")


def main(root, out, scheduler=None):
    Path(out).mkdir(parents=True, exist_ok=True)
    subprocess.run(["tracemill", "batch", "scan", root, "-o", out, "--quiet"], check=True)
    lines = (Path(out) / "manifest.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)[1:]
    with Client(scheduler) if scheduler else Client(processes=True, threads_per_worker=1, dashboard_address=None) as client:
        parts = client.map(process, lines, retries=3)
        while len(parts) > 1:
            parts = [client.submit(join, parts[i:i + BRANCHES]) for i in range(0, len(parts), BRANCHES)]
        joined = parts[0].result()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["tracemill", "batch", "join", unpack(joined, folder), "-o", out, "--quiet"], check=True)
    return subprocess.run(["tracemill", "batch", "merge", out], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
