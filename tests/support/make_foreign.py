#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small Chrome traces as the profilers of other accelerators write them, and PyTorch traces that lack kernels.

    make_foreign.py KIND OUT.json        KIND: see KINDS

What is known of each format stands with its function; every value is made up.
"""

import json
import sys

STEPS = 3


def process(pid, name, labels=None):
    events = [{"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}]
    if labels:
        events.append({"ph": "M", "name": "process_labels", "pid": pid, "tid": 0, "args": {"labels": labels}})
    return events


def span(name, ts, dur, pid, tid, cat=None, **args):
    event = {"ph": "X", "name": name, "ts": ts, "dur": dur, "pid": pid, "tid": tid, "args": args}
    return {**event, "cat": cat} if cat else event


def ascend():
    """trace_view.json of torch_npu: a list, times as texts, the process id holds the device's in its low five bits."""
    python, cann, npu, comm, overlap = 44000, 682820032, 682820704, 682820736, 682820768
    events = process(python, "Python", "CPU") + process(cann, "CANN", "CPU") + process(npu, "Ascend Hardware", "NPU")
    events += process(comm, "Communication", "NPU") + process(overlap, "Overlap Analysis", "NPU")
    for step in range(STEPS):
        at = 1_000_000 + 1000 * step
        events += [
            span(f"ProfilerStep#{step}", str(at), 990.0, python, 44001, "user_annotation"),
            span("aten::matmul", str(at + 20), 100.0, python, 44001, "cpu_op"),
            span("AscendCL@aclnnMatmul", str(at + 30), 40.0, cann, 44001),
            span("aclnnMatmul_MatMulV2_MatMulV2", str(at + 90), 300.0, npu, 2, **{"Task Type": "AI_CORE"}),
            span("EVENT_WAIT", str(at + 400), 100.0, npu, 2, **{"Task Type": "EVENT_WAIT"}),
            span("hcom_allReduce__120_0_1", str(at + 300), 200.0, comm, 3),
            span("Communication(Not Overlapped)", str(at + 390), 110.0, overlap, 0),
            {"ph": "C", "name": "AI Core Freq", "ts": str(at), "pid": npu + 64, "tid": 0, "args": {"MHz": 1850}},
        ]
    return events


def rpd():
    """rpd2tracing.py of rocmProfileData: ids and times as texts, a queue of GPU2 is a thread of a process of that name;
    graphs and the markers of the host are drawn once more around the work of the queue."""
    events = [{}] + [e | {"pid": "2"} for e in process("2", "GPU2")]
    for step in range(STEPS):
        at = 5_000_000 + 1000 * step
        for name, ts, dur, tid, desc in (("void gemm<float>(int)", 60, 300, "0", "KernelExecution"),
                                         ("KernelExecution", 370, 100, "0", "KernelExecution"),
                                         ("CopyHostToDevice", 500, 50, "1", "CopyHostToDevice"),
                                         ("FillBuffer", 560, 5, "0", "FillBuffer"),
                                         ("Marker", 570, 2, "0", "Marker")):
            events.append(span(name, f"{at + ts}.0", f"{dur}.0", "2", tid, desc=desc))
        events.append(span("Graph 0x55d0c0de", f"{at + 60}.0", "505.0", "2", "0", kernels="3"))
        events.append(span("step", f"{at + 59}.0", "507.0", "2", "0", desc="UserMarker frame: 3 ops"))
        for name, ts, dur in (("hipLaunchKernel", 10, 5), ("hipModuleLaunchKernel", 20, 5), ("hipMemcpyAsync", 30, 5),
                              ("hipStreamSynchronize", 40, 530)):
            events.append(span(name, f"{at + ts}.0", f"{dur}.0", "900", "901", desc="stream(0x0)"))
    return events


def rocprof():
    """rocprof --hip-trace: what ran on a device bears its number, also the copies, which have a process of their own."""
    events = process(2, "CPU HIP API") + process(1, "COPY") + process(6, "GPU0") + process(7, "GPU1")
    for device in (0, 1):
        at = 1000 + 500 * device
        about = {"dev-id": str(device), "queue-id": "0"}
        events += [span("hipMemcpyHtoD", str(at), "50", "2", "70", args="( dst(0x1) )"),
                   span("CopyHostToDevice", str(at + 10), "30", "1", "0", **about),
                   span("hipLaunchKernel", str(at + 60), "5", "2", "70", args="( kernel(f) )"),
                   span("some_kernel(int*)", str(at + 70), "200", str(6 + device), "1", **about)]
    return {"traceEvents": events}


def torch(events, **more):
    return {"schemaVersion": 1, "deviceProperties": [], "traceEvents": events, **more}


def aiu():
    """PyTorch's profiler with IBM's plugin: the categories of GPUs, calls of the AIU's runtime, a process "AIU 0"."""
    events = process(50, "python", "CPU") + process(0, "python", "AIU 0")
    for step in range(STEPS):
        at = 1000 * step
        events += [
            span(f"ProfilerStep#{step}", at, 990.0, 50, 51, "user_annotation"),
            span("aten::mm", at + 10, 100.0, 50, 51, "cpu_op"),
            span("aiuLaunchControlBlocks", at + 20, 10.0, 50, 51, "cuda_runtime", correlation=7 + step),
            span("mm_fused_[N]", at + 50, 400.0, 0, 1, "kernel", device=0, stream=1, correlation=7 + step),
            span("Memcpy (HtoD)", at + 460, 100.0, 0, 100, "gpu_memcpy", device=0, bytes=4096),
        ]
    return torch(events, deviceProperties=[{"id": 0, "name": "AIU 0", "type": "AIU"}])


def aiu_analyzer():
    """What aiu-trace-analyzer makes of such a run: a process for each device, no categories."""
    events = process(0, "AIU Device0") + process(1000, "Host0")
    return {"traceEvents": events + [span("mm Cmpt Exec", 10 + 100 * i, 50, 0, 1) for i in range(STEPS)] +
            [span("Flex RoundTrip", 100 * i, 90, 1000, 1) for i in range(STEPS)]}


def mtia():
    """PyTorch on MTIA: categories of their own."""
    events = process(50, "service", "CPU") + process(17, "MTIA 17", "MTIA 17")
    return torch(events + [span("aten::add", 10, 20, 50, 51, "cpu_op"),
                           span("enqueueCommand", 12, 5, 50, 51, "mtia_runtime", correlation=3),
                           span("fn_add", 40, 20, 17, 3570, "mtia_ccp_events", device=17, correlation=3)])


def lost(kept=0, launches=50):
    """PyTorch on a GPU whose kernels CUPTI did not give out, but for some."""
    events = process(50, "python", "CPU") + process(0, "python", "GPU 0")
    for i in range(launches):
        events += [span("aten::mm", 100 * i, 50, 50, 51, "cpu_op"),
                   span("cudaLaunchKernel", 100 * i + 10, 10, 50, 51, "cuda_runtime", correlation=i + 1)]
        if i < kept:
            events.append(span("gemm", 100 * i + 40, 60, 0, 7, "kernel", device=0, stream=7, correlation=i + 1))
    return torch(events)


def cpu():
    return torch(process(50, "python", "CPU") + [span("aten::mm", 100 * i, 90, 50, 51, "cpu_op") for i in range(50)])


KINDS = {"ascend": ascend, "rpd": rpd, "rocprof": rocprof, "aiu": aiu, "aiu_analyzer": aiu_analyzer, "mtia": mtia,
         "lost": lost, "lost_in_part": lambda: lost(kept=30), "kept": lambda: lost(kept=48), "cpu": cpu}


def write(kind, path):
    with open(path, "w", encoding="utf-8") as to:
        json.dump(KINDS[kind](), to)
    return path


if __name__ == "__main__":
    write(sys.argv[1], sys.argv[2])
