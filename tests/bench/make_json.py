#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A large Chrome trace in JSON in the style of JAX's writer, in constant memory.

    make_json.py OUT.trace.json[.gz] [--events N]

A training run on four GPUs: kernels with their arguments as texts, a launch for each on a host thread of its device,
step markers, and what a pool of host threads does.  N counts the objects of traceEvents, metadata included, the
closing {} not.  No separators but the bare ones, %.17g for microseconds, track after track.  gzip -6 where OUT says
so.  The same N gives the same content.
"""

import argparse
import gzip
import json
import random

DEVICES = 4
OPS = 120              # kernels of a step on a device
POOL = 240             # events of the pool in a step
CALLS = ("PjitFunction(train_step)", "ParseArguments", "PyArray_Dispatch", "ExecuteReplicated.__call__",
         "PjRtStreamExecutorLoadedExecutable::Execute", "CopyToDeviceStream")
TASKS = ("ThreadpoolListener::Record", "ThreadpoolListener::StartRegion", "ThreadpoolListener::StopRegion",
         "TaskDispatcher::dispatch", "BFCAllocator::AllocateRaw", "TransferManager::EnqueueH2D")
CUBLAS = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel"
NCCL = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
FAMILIES = ("loop_add_fusion", "gemm_fusion_dot", "input_reduce_fusion", "loop_multiply_fusion", "triton_softmax",
            "loop_convert_fusion", "input_transpose_fusion", "wrapped_slice")
SCOPES = ("add", "dot_general", "reduce_sum", "mul", "softmax", "convert_element_type", "transpose", "slice")
HOST, PYTHON, POOL_THREAD, LAUNCHERS = 701, 3836656465, 2335521627, 619229175
ORIGIN_NS, GAP_NS, LAUNCH_AHEAD_NS = 119_000_000, 900, 25_000


def event(pid, tid, name, arguments=""):
    """The text of an X event with %-fields for ts and dur in microseconds, and those of the arguments."""
    head = f'{{"ph":"X","pid":{pid},"tid":{tid},"ts":%.17g,"dur":%.17g,"name":{json.dumps(name)}'
    return head + (f',"args":{{{arguments}}}}}' if arguments else "}")


class Op:
    """A kernel of the step: its names, its length, its place."""

    def __init__(self, index, at_ns):
        family = index % len(FAMILIES)
        self.hlo_op = f"{FAMILIES[family]}.{index}"
        self.kernel = self.hlo_op.replace(".", "_")
        if index % 15 == 7:
            self.hlo_op, self.kernel = f"cublas-gemm.{index}", CUBLAS
        elif index % 20 == 19:
            self.hlo_op, self.kernel = f"all-reduce-start.{index}", NCCL
        back = "transpose(jvp(layer_%d))" if index >= OPS // 2 else "jvp(layer_%d)"
        self.path = f"jit(train_step)/jit(main)/{back % (index // 10)}/{SCOPES[family]}"
        self.length_ns = 3_000 + index * 7919 % 60_000
        self.at_ns = at_ns
        self.details = (f"regs:{32 + index % 5 * 32} static_shared:{index % 3 * 1024} dynamic_shared:0 "
                        f"grid:{132 * (1 + index % 40)},1,1 block:{128 << index % 3},1,1 occ_pct:{25 << index % 3}")

    @property
    def end_ns(self):
        return self.at_ns + self.length_ns * 5 // 4 + GAP_NS  # lengths vary by a quarter

    def on_device(self, device):
        return event(device + 1, 13 + device, self.kernel,
                     f'"context_id":"$$1","correlation_id":"%d","hlo_module":"jit_train_step","hlo_op":"{self.hlo_op}",'
                     f'"kernel_details":"{self.details}","name":"{self.path}","occupancy_min_grid_size":"264",'
                     '"occupancy_suggested_block_size":"1024","tf_op":"XlaModule:",'
                     f'"theoretical_occupancy_pct":"{self.details.rpartition(":")[2]}"')

    def on_host(self, device):
        return event(HOST, LAUNCHERS + device, "cuLaunchKernel",
                     f'"correlation_id":"%d","device_id":"{device}","hlo_module":"jit_train_step",'
                     f'"hlo_op":"{self.hlo_op}","name":"{self.path}","tf_op":"XlaModule:"')


class Run:
    """The tracks, as lists of events of one step after the other: texts, ready to be joined by commas."""

    def __init__(self, events):
        self.ops, at_ns = [], 40_000
        for index in range(OPS):
            self.ops.append(Op(index, at_ns))
            at_ns = self.ops[-1].end_ns
        self.step_ns = at_ns + 20_000
        self.random = random.Random(4)
        in_step = 2 * DEVICES * OPS + POOL + 1 + len(CALLS)
        self.steps, self.rest = divmod(max(events - len(self.names()), 0), in_step)

    @staticmethod
    def names():
        """Metadata: processes, then threads."""
        processes = [(i + 1, f"/device:GPU:{i}") for i in range(DEVICES)] + [(HOST, "/host:CPU")]
        threads = [(i + 1, 13 + i, f"Stream #{13 + i}(Compute)") for i in range(DEVICES)]
        threads += [(HOST, LAUNCHERS + i, f"py_xla_execute/{-3384455467242049545 + i}") for i in range(DEVICES)]
        threads += [(HOST, PYTHON, "python"), (HOST, POOL_THREAD, "tf_xla-cpu-llvm-codegen/-1416633795620816037")]
        return [f'{{"ph":"M","pid":{p},"name":"process_name","args":{{"name":"{n}"}}}}' for p, n in processes] + \
            [f'{{"ph":"M","pid":{p},"tid":{t},"name":"thread_name","args":{{"name":"{n}"}}}}' for p, t, n in threads]

    def begin_ns(self, step):
        return ORIGIN_NS + step * self.step_ns

    def kernels(self, device):
        rows = [(op.on_device(device), op.at_ns, op.length_ns) for op in self.ops]
        chance = self.random.random
        for step in range(self.steps):
            begin, launch = self.begin_ns(step), self.launch(step, device)
            yield [text % ((begin + at + int(200 * chance())) / 1e3, int(length * (1 + chance() / 4)) / 1e3, launch + i)
                   for i, (text, at, length) in enumerate(rows)]

    def launches(self, device):
        rows = [(op.on_host(device), op.at_ns - LAUNCH_AHEAD_NS) for op in self.ops]
        chance = self.random.random
        for step in range(self.steps):
            begin, launch = self.begin_ns(step), self.launch(step, device)
            yield [text % ((begin + at) / 1e3, int(1_500 + 2_000 * chance()) / 1e3, launch + i)
                   for i, (text, at) in enumerate(rows)]

    @staticmethod
    def launch(step, device):
        """The correlation id of the first kernel of a step on a device."""
        return (step * DEVICES + device) * OPS + 100

    def calls(self):
        """The thread of the step markers: calls inside calls."""
        marker = event(HOST, PYTHON, "train", '"step_num":"%d"')
        nested = [event(HOST, PYTHON, name) for name in CALLS]
        for step in range(self.steps):
            begin, length = self.begin_ns(step), self.step_ns - 1_000
            yield [marker % (begin / 1e3, length / 1e3, step)] + \
                [text % ((begin + 500 * (i + 1)) / 1e3, (length - 1_500 * (i + 1)) / 1e3)
                 for i, text in enumerate(nested)]

    def pool(self):
        """What is left of the number of events goes here, after the last step."""
        rows = [event(HOST, POOL_THREAD, name) for name in TASKS]
        slot = self.step_ns // POOL
        chance = self.random.random
        for step in range(self.steps + 1):
            begin, count = self.begin_ns(step), POOL if step < self.steps else self.rest
            yield [rows[i % len(rows)] % ((begin + i * slot) / 1e3, max(int(slot * chance() ** 4), 1) / 1e3)
                   for i in range(count)]

    def blocks(self):
        yield self.names()
        for device in range(DEVICES):
            yield from self.kernels(device)
        for device in range(DEVICES):
            yield from self.launches(device)
        yield from self.calls()
        yield from self.pool()


def write(events, to):
    to.write(b'{"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[')
    for block in Run(events).blocks():
        if block:
            to.write((",".join(block) + ",").encode("utf-8"))
    to.write(b"{}]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--events", type=int, default=2_000_000)
    options = parser.parse_args()
    with open(options.out, "wb") as file:
        if options.out.endswith(".gz"):
            with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
                write(options.events, packed)
        else:
            write(options.events, file)


if __name__ == "__main__":
    main()
