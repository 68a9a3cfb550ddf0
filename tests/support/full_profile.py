# SPDX-License-Identifier: Apache-2.0
"""A profile of few events that fills the tables of a report: every activity has long names of its own."""

import random

import make_profile
from make_profile import MS, US, Event

NAME = "void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm_{i}>(typename Params<float, {i}, {j}>::Arguments const&)"
LAYERS = 24


def rename(event, i, dice, more):
    """A kernel's names: its own, its op, its path of scopes; more: behind each."""
    layer = dice.randrange(LAYERS)
    event.name = NAME.format(i=i, j=i * 7919) + more
    event.stats["hlo_op"] = f"input_reduce_select_fusion.{i}{more}"
    event.stats["hlo_module"] = f"jit_train_step_{i % 40}"
    event.stats["name"] = f"jit(train_step)/transformer/block_{layer}/attention_{i % 9}/dot_general_{i}{more}"


def make(seed=1, steps=120, devices=4, per_step=12, more=""):
    """more: behind each name of a kernel.  out: make_profile.Space, about 7,000 activities"""
    dice = random.Random(seed)
    space = make_profile.gpu(seed, steps, devices, per_step=per_step)
    count = 0
    for plane in space.planes:
        for line in plane.lines:
            for event in line.events:
                if event.what and event.what[0] == "kernel":
                    count += 1
                    rename(event, count, dice, more)
    add_host_work(next(p for p in space.planes if p.name == "/host:CPU"), steps)
    return space


def add_host_work(host, steps):
    """Annotations, compiles and threads, each with a name of its own."""
    python = host.lines[0]
    spans = [(e.start_ps, e.dur_ps) for e in python.events if e.name == "train"]
    for i in range(600):
        begin, length = spans[i % steps]
        at = begin + length // 2 + (i // steps) * 10 * US
        python.events.append(Event(f"$train.py:{i} load_shard_of_the_data_set_{i}", at, 5 * US, {"_r": 1}))
    for i in range(600):
        thread = host.line(1000 + i, f"tsl_worker_pool_thread/{1000 + i}")
        thread.events.append(Event("backend_compile_and_load", 3 * MS + i * 20 * US, 15 * US,
                                   {"module": f"jit_function_{i}"}))
