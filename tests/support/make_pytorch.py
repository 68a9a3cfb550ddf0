#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small profiles as PyTorch's profiler writes them: one rank of a training run, one JSON.

    make_pytorch.py OUT.pt.trace.json [--rank N] [--ranks N] [--steps N] [--seed N] [--old]

Pure Python.  A rank is a process with a python thread, a thread for the backward pass, and the GPU that has its
number: steps that wait for data, copy them, compute on one stream and all-reduce on another beside it, and read the
loss back.  --old: categories, streams and times as the profiler wrote them until 2021.
"""

import argparse
import json
import random

BASE_NS = 1_767_225_600_000_000_000  # 2026-01-01, from which the times of newer files count
KERNELS = (  # name, grid, block, registers, shared bytes, occupancy in per cent (0 = not recorded), length in ns
    ("ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", [64, 8, 1], [128, 1, 1], 230, 81920, 12, 180_000),
    ("void at::native::vectorized_elementwise_kernel<4, at::native::GeluFunctor, std::array<char*, 2ul> >(int)",
     [4096, 1, 1], [128, 1, 1], 28, 0, 100, 23_456),
    ("void (anonymous namespace)::layer_norm_kernel<float, 8>(int, float const*)", [512, 1, 1], [32, 4, 1], 40, 2048, 75,
     31_007),
    ("triton_poi_fused_add_mul_0", [2048, 1, 1], [256, 1, 1], 18, 0, 0, 12_800),
)
REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
GATHER = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
OLD = {"kernel": "Kernel", "gpu_memcpy": "Memcpy", "gpu_memset": "Memset", "cuda_runtime": "Runtime",
       "cpu_op": "Operator", "python_function": None, "cuda_sync": None, "gpu_user_annotation": None,
       "user_annotation": "Operator", "cpu_instant_event": "", "ac2g": "async"}
COMPUTE, COPY, NCCL = 7, 19, 23  # streams


class Rank:
    """Collects the events of one rank.  Times are nanoseconds after the begin of the profile."""

    def __init__(self, rank, ranks, seed, old):
        self.rank, self.ranks, self.old = rank, ranks, old
        self.dice = random.Random(seed * 1000 + rank)
        self.pid = 4200 + rank
        self.python, self.backward = self.pid, self.pid + 17
        self.events, self.now, self.free, self.correlation, self.live = [], 0, {}, 100, []

    def time(self, ns):
        """Older profilers wrote whole microseconds since 1970."""
        return BASE_NS // 1000 + ns // 1000 if self.old else ns / 1000

    def add(self, ph, cat, name, ts, **more):
        cat = OLD.get(cat, cat) if self.old else cat
        if cat is None:
            return
        event = {"ph": ph, "cat": cat, "name": name, "pid": self.pid, "tid": self.python, "ts": self.time(ts), **more}
        if not cat:
            del event["cat"]
        if "dur" in more:
            event["dur"] = self.time(ts + more["dur"]) - self.time(ts) if self.old else more["dur"] / 1000
        self.events.append(event)

    def host(self, cat, name, begin, length, thread=None, **args):
        self.add("X", cat, name, begin, dur=length, tid=thread or self.python, args=args)

    def device(self, cat, name, begin, length, stream, **args):
        args.update(device=self.rank, context=1, stream=stream)
        self.add("X", cat, name, begin, dur=length, pid=self.rank, tid=self.stream(stream), args=args)

    def stream(self, number):
        return f"stream {number}" if self.old else number

    def launch(self, call, cat, name, length, stream, thread=None, **args):
        """A driver call at self.now, and what it starts: after the stream's last, and not at once."""
        self.correlation += 1
        begin = self.now + self.dice.randrange(1000, 1800)
        self.host("cuda_runtime", call, begin, 4000, thread, cbid=211, correlation=self.correlation)
        start = max(begin + self.dice.randrange(5000, 9000), self.free.get(stream, 0) + 500)
        self.device(cat, name, start, length, stream, correlation=self.correlation, **args)
        self.flow("s", begin, self.pid, thread or self.python)
        self.flow("f", start, self.rank, self.stream(stream))
        self.free[stream] = start + length
        self.now = begin + 6000

    def flow(self, ph, ts, pid, tid):
        more = {"bp": "e"} if ph == "f" else {}
        self.add(ph, "ac2g", "launch" if self.old else "ac2g", ts, pid=pid, tid=tid, id=self.correlation, **more)

    def kernel(self, index, thread=None):
        name, grid, block, registers, shared, occupancy, length = KERNELS[index]
        self.launch("cudaLaunchKernel", "kernel", name, length + self.dice.randrange(0, 2000), COMPUTE, thread, grid=grid,
                    block=block, **{"registers per thread": registers, "shared memory": shared,
                                    "est. achieved occupancy %": occupancy})

    def operator(self, name, kernels, thread=None):
        begin = self.now
        self.now += 8000
        for index in kernels:
            self.kernel(index, thread)
        self.now += 3000
        self.host("cpu_op", name, begin, self.now - begin, thread, **{"Input Dims": [[64, 1024], []], "External id": begin})

    def collective(self, kernel, name, elements):
        self.free[NCCL] = max(self.free.get(NCCL, 0), self.free.get(COMPUTE, 0) - 150_000)
        more = {} if self.old else {"Collective name": name, "In msg nelems": elements, "Out msg nelems": elements,
                                    "Group size": self.ranks, "dtype": "BFloat16", "Process Group Name": "0"}
        self.launch("cudaLaunchKernelExC", "kernel", kernel, 210_000 + self.rank * 20_000, NCCL, self.backward,
                    grid=[24, 1, 1], block=[544, 1, 1], **{"registers per thread": 96, "shared memory": 82240,
                                                           "est. achieved occupancy %": 0}, **more)

    def allocate(self, size):
        self.live.append((size, (len(self.live) + 1) << 25))
        self.memory(*self.live[-1])

    def free_all(self):
        while self.live:
            size, address = self.live.pop()
            self.memory(-size, address)
            self.now += 500

    def memory(self, size, address):
        args = {"Device Type": 1, "Device Id": self.rank, "Bytes": size}
        if not self.old:
            held = sum(s for s, _ in self.live)
            args.update({"Total Allocated": held, "Total Reserved": 64 << 20, "Addr": address})
        self.add("i", "cpu_instant_event", "[memory]", self.now, s="t", args=args)

    def wait(self):
        """Blocks until the stream of the loss has ended."""
        self.correlation += 1
        end = max(self.free.values()) + 4000
        self.host("cuda_runtime", "cudaStreamSynchronize", self.now, end - self.now, cbid=131, correlation=self.correlation)
        self.device("cuda_sync", "Stream Sync", self.now + 300, end - self.now - 800, COMPUTE, correlation=self.correlation)
        self.now = end + 2000

    def function(self, name, begin, length):
        self.host("python_function", name, begin, length, **{"Python id": begin, "Python parent id": None})

    def data(self, length):
        """What a step begins with: the next batch, in python, and its copy."""
        self.host("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", self.now + 2000, length)
        self.function("torch/utils/data/dataloader.py(701): __next__", self.now + 3000, length - 2000)
        self.now += length + 5000
        self.allocate(8 << 20)
        self.launch("cudaMemcpyAsync", "gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 320_000, COPY, bytes=8 << 20)
        self.free[COMPUTE] = max(self.free.get(COMPUTE, 0), self.free[COPY])

    def step(self, number):
        begin = self.now
        self.data(90_000 + self.dice.randrange(20_000))
        first, forward = self.free[COMPUTE], self.now
        for name, kernels in (("aten::linear", (0,)), ("aten::gelu", (1,)), ("aten::layer_norm", (2,)), ("aten::linear", (0,))):
            self.allocate(2 << 20)
            self.operator(name, kernels)
        self.function("train.py(41): forward", forward, self.now - forward)
        self.launch("cudaMemsetAsync", "gpu_memset", "Memset (Device)", 1500, COMPUTE, bytes=4096)
        for _ in range(2):
            self.operator("autograd::engine::evaluate_function: AddmmBackward0", (0, 3), self.backward)
            self.collective(REDUCE, "allreduce", 1 << 20)
        if number % 2:
            self.collective(GATHER, "_allgather_base", 1 << 18)
        self.launch("cudaMemcpyAsync", "gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 1900, COMPUTE, bytes=4)
        self.wait()
        self.free_all()
        name = f"ProfilerStep#{number}"
        self.host("user_annotation", name, begin, self.now - begin)
        self.device("gpu_user_annotation", name, first, max(self.free.values()) - first, COMPUTE)
        self.now += 15_000

    def names(self):
        rows = [(self.pid, "python", "CPU")] + [(d, "python", f"GPU {d}") for d in range(self.ranks)]
        for pid, name, label in rows:
            for key, args in (("process_name", {"name": name}), ("process_labels", {"labels": label})):
                yield {"name": key, "ph": "M", "ts": self.time(0), "pid": pid, "tid": 0, "args": args}
        threads = [(self.pid, t, f"thread {t} (python)") for t in (self.python, self.backward)]
        threads += [(self.rank, self.stream(s), f"stream {s}") for s in (COMPUTE, COPY, NCCL)]
        for pid, tid, name in threads:
            yield {"name": "thread_name", "ph": "M", "ts": self.time(0), "pid": pid, "tid": tid, "args": {"name": name}}

    def document(self, steps):
        for number in range(3, 3 + steps):
            self.step(number)
        self.add("X", "Trace", "PyTorch Profiler (0)", 0, dur=self.now, pid="Traces" if self.old else "Spans",
                 tid="PyTorch Profiler", args={"Op count": 0})
        self.add("i", "", "Record Window End", self.now + 9000, pid="", tid="", s="g")
        self.events[-1].pop("cat", None)
        head = {"schemaVersion": 1, "deviceProperties": [
            {"id": d, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85899345920, "computeMajor": 8, "computeMinor": 0,
             "warpSize": 32, "numSms": 108} for d in range(self.ranks)]}
        if not self.old:
            head["distributedInfo"] = {"backend": "nccl", "rank": self.rank, "world_size": self.ranks}
            head.update(with_stack=1, profile_memory=1, displayTimeUnit="ms", baseTimeNanoseconds=BASE_NS)
        return dict(head, traceEvents=[*self.names(), *self.events], traceName=f"rank{self.rank}.pt.trace.json")


def rank_of(rank=0, ranks=2, steps=5, seed=1, old=False):
    """The bytes of the file of one rank."""
    text = json.dumps(Rank(rank, ranks, seed, old).document(steps), indent=1 if old else None)
    return text.encode("utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--rank", type=int, default=0)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--old", action="store_true")
    options = parser.parse_args()
    with open(options.out, "wb") as file:
        file.write(rank_of(options.rank, options.ranks, options.steps, options.seed, options.old))


if __name__ == "__main__":
    main()
