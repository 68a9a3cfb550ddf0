#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Profiles of the same small JAX program, each run a process of its own: what real runs differ by (needs jax).

    capture_runs.py FOLDER [--runs N] [--layers 20,21]

FOLDER/layers-20/run-000 and so on are log directories.  Runs of several sizes take turns, so that all of them meet the
same other load; 21 layers in place of 20 are 5 % more work."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

STEPS, WARM_UP, WIDTH, BATCH = 20, 5, 256, 64


def capture(folder, layers):
    import jax  # pylint: disable=import-outside-toplevel
    import jax.numpy as jnp  # pylint: disable=import-outside-toplevel
    key = jax.random.PRNGKey(0)
    weights = jax.random.normal(key, (layers, WIDTH, WIDTH)) * 0.05
    batch = jax.random.normal(key, (BATCH, WIDTH))

    def loss(weights, batch):
        return jnp.mean(jax.lax.scan(lambda x, w: (jnp.tanh(x @ w), None), batch, weights)[0] ** 2)

    @jax.jit
    def train_step(weights, batch):
        return weights - 0.01 * jax.grad(loss)(weights, batch)

    for _ in range(WARM_UP):
        weights = train_step(weights, batch).block_until_ready()
    with jax.profiler.trace(str(folder)):
        for step in range(STEPS):
            with jax.profiler.StepTraceAnnotation("train", step_num=step):
                weights = train_step(weights, batch).block_until_ready()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=24, help="runs of each size")
    parser.add_argument("--layers", default="20,21", help="sizes")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        capture(options.folder, options.one)
        return
    for run in range(options.runs):
        for layers in map(int, options.layers.split(",")):
            folder = options.folder / f"layers-{layers}" / f"run-{run:03}"
            if not folder.exists():
                part = folder.with_name(f"part-{run:03}")
                subprocess.run([sys.executable, __file__, str(part), "--one", str(layers)], check=True,
                               env={**os.environ, "JAX_PLATFORMS": "cpu"})
                part.rename(folder)


if __name__ == "__main__":
    main()
