#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The seeds of the fuzz targets: small profiles and Chrome traces, as they are, compressed, and in archives; for a target
that takes something else what its seeds_NAME.py makes; and what once broke a target (found/TARGET-WHAT.hex: hexadecimal,
a comment first).

    make_seeds.py FOLDER [TARGET]
"""

import gzip
import importlib
import importlib.util
import io
import json
import sys
import tarfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_pprof  # noqa: E402
import make_profile  # noqa: E402
from make_profile import chunk, number, varint  # noqa: E402

LARGEST = 16 << 10  # what the targets take
WRITES_ITS_OWN = ("fuzz_doc", "fuzz_gates", "fuzz_mcp", "fuzz_parquet", "fuzz_query",
                  "fuzz_show")  # targets that take no profile


def span(pid, tid, ts, dur, name, **more):
    return {"ph": "X", "pid": pid, "tid": tid, "ts": ts, "dur": dur, "name": name, **more}


def name_of(what, pid, name, **more):
    return {"ph": "M", "pid": pid, "name": what, "args": {"name": name}, **more}


def jax_trace():
    """The JSON that JAX writes beside a profile."""
    events = [name_of("process_name", 1, "/device:GPU:0"), name_of("thread_name", 1, "Stream #13(Compute)", tid=13),
              name_of("process_name", 2, "/device:TPU:0"), name_of("thread_name", 2, "XLA Ops", tid=3),
              name_of("process_name", 701, "/host:CPU"), name_of("thread_name", 701, "python", tid=5)]
    for step in range(3):
        at = 1000.125 * step
        events += [
            span(701, 5, at, 900, "train", args={"step_num": str(step), "_r": "1"}),
            span(701, 5, at + 1, 20, "PjitFunction(f)", args={}),
            span(701, 5, at + 3, 9, "cuLaunchKernel", args={"correlation_id": str(step + 7)}),
            span(1, 13, at + 40, 300.000001, "loop_add_fusion",
                 args={"correlation_id": str(step + 7), "hlo_op": "fusion.1", "hlo_module": "jit_f",
                       "kernel_details": "regs:32 static_shared:0 dynamic_shared:0 grid:8,1,1 block:64,1,1 occ_pct:50"}),
            span(1, 13, at + 400, 7, "MemcpyD2H", args={"memcpy_details": "kind_src:device kind_dst:host size:64"}),
            span(2, 3, at + 50, 8, "%all-reduce.2 = f32[8]{0} all-reduce(f32[8]{0} %a)", args={}),
        ]
    return {"displayTimeUnit": "ns", "metadata": {"highres-ticks": True}, "traceEvents": events + [{}]}


def pytorch_trace():
    events = [name_of("process_name", 7, "python"), name_of("process_name", 0, "python"),
              {"ph": "M", "pid": 0, "name": "process_labels", "args": {"labels": "GPU 0"}}]
    for step in range(3):
        at = 1623143093498246 + 900 * step
        joined = {"correlation": 80 + step, "External id": step}
        events += [
            span(7, 7, at, 800, f"ProfilerStep#{step}", cat="user_annotation"),
            span(7, 7, at + 2, 30, "aten::mm", cat="cpu_op", args={"Input Dims": [[3, 4], [4, 5]], **joined}),
            span(7, 7, at + 9, 4, "cudaLaunchKernel", cat="cuda_runtime", args=joined),
            span(0, 7, at + 60, 200, "sgemm", cat="kernel",
                 args={"device": 0, "stream": 7, "grid": [8, 1, 1], "block": [64, 1, 1], "registers per thread": 32,
                       "est. achieved occupancy %": 50, **joined}),
            span(0, 9, at + 90, 100, "ncclDevKernel_AllReduce", cat="kernel",
                 args={"device": 0, "stream": 9, "Collective name": "allreduce", "dtype": "BFloat16",
                       "In msg nelems": 8, "Out msg nelems": 8, "Group size": 2, "Process Group Ranks": "[0, 1]"}),
            span(0, 7, at + 300, 5, "Memcpy DtoH (Device -> Pinned)", cat="gpu_memcpy", args={"bytes": 64, "device": 0}),
            {"ph": "i", "s": "t", "pid": 7, "tid": 7, "ts": at + 5, "name": "[memory]", "cat": "cpu_instant_event",
             "args": {"Bytes": 512, "Addr": 4096, "Total Allocated": 512, "Device Type": 1, "Device Id": 0}},
            {"ph": "s", "id": step, "pid": 7, "tid": 7, "ts": at + 9, "name": "ac2g", "cat": "ac2g"},
            {"ph": "f", "id": step, "pid": 0, "tid": 7, "ts": at + 60, "name": "ac2g", "cat": "ac2g", "bp": "e"},
        ]
    devices = [{"id": 0, "name": "A100", "totalGlobalMem": 85174583296, "computeMajor": 8, "computeMinor": 0,
                "numSms": 108}]
    return {"schemaVersion": 1, "deviceProperties": devices, "distributedInfo": {"backend": "nccl", "rank": 0},
            "baseTimeNanoseconds": 1623143000000000000, "traceEvents": events, "traceName": "worker0.pt.trace.json"}


def other_trace():
    """A bare list: halves of spans, async spans, counters, instants."""
    return [{"ph": "B", "pid": 1, "tid": "main", "ts": "10", "name": "a"},
            {"ph": "b", "pid": 1, "id2": {"local": "0x1"}, "ts": 11, "name": "load", "cat": "io"},
            {"ph": "i", "pid": 1, "tid": "main", "ts": 12.5, "s": "g", "name": "mark"},
            {"ph": "C", "pid": 1, "ts": 13, "name": "memory", "args": {"used": 5}},
            {"ph": "e", "pid": 1, "id2": {"local": "0x1"}, "ts": 14, "name": "load", "cat": "io"},
            {"ph": "E", "pid": 1, "tid": "main", "ts": 1.5e1}]


def packed(tag, *values):
    return chunk(tag, b"".join(varint(v) for v in values))


def instruction(id, name, opcode, dims, operands=(), more=b""):
    shape = number(2, 11) + (packed(3, *dims) if dims else b"")
    return chunk(2, chunk(1, name) + chunk(2, opcode) + chunk(3, shape) + more + number(35, id)
                 + (packed(36, *operands) if operands else b""))


def program_proto():
    """A compiled program: a fusion, a dot, a collective, a place in the source."""
    fused = instruction(20, "p", "parameter", (8, 8)) + instruction(21, "s", "dynamic-slice", (1, 8), (20,))
    fused += instruction(22, "e", "exponential", (1, 8), (21,))
    entry = instruction(1, "p", "parameter", (8, 8), (), number(9, 0))
    entry += instruction(2, "fusion.1", "fusion", (1, 8), (1,), packed(38, 2) + chunk(7, chunk(2, "a/b") + number(15, 1)))
    entry += instruction(3, "dot.1", "dot", (8, 8), (1, 1), chunk(30, packed(1, 1) + packed(2, 0)))
    grid = number(1, 2) + number(2, 2) + packed(3, 2, 2) + packed(4, 1, 0)
    entry += instruction(4, "all-reduce.1", "all-reduce", (8, 8), (3,), chunk(87, chunk(2, grid)))
    frames = chunk(1, "a.py") + chunk(3, number(1, 1) + number(3, 9)) + chunk(4, number(1, 1))
    module = chunk(1, "jit_f") + chunk(3, fused + number(5, 2) + number(6, 22) + number(7, 1))
    module += chunk(3, entry + number(5, 1) + number(6, 4)) + chunk(4, chunk(1, number(2, 11) + packed(3, 8, 8)))
    module += number(5, 7) + chunk(15, number(1, 2) + number(2, 2)) + chunk(17, frames)
    return chunk(1, module)


def program(proto=None):
    """A profile's plane with a compiled program, or these bytes for it."""
    value = number(1, 7) + chunk(2, "jit_f(7)") + chunk(5, number(1, 1) + chunk(6, program_proto() if proto is None else proto))
    names = chunk(5, number(1, 1) + chunk(2, number(1, 1) + chunk(2, "Hlo Proto")))
    return chunk(1, chunk(2, "/host:metadata") + chunk(4, number(1, 7) + chunk(2, value)) + names)


def tar_of(members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zip_of(members, how):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", how) as archive:
        for name, data in members:
            archive.writestr(zipfile.ZipInfo(name), data, how)
    return out.getvalue()


def summary_changes(media=8, platforms=4, changes=16):
    """Inputs of fuzz_summary: a medium, a kind of summary, how, then where and what is changed."""
    seeds = {}
    for medium in range(12, 12 + media):
        for how in range(4):
            seeds[f"whole-{medium}-{how}"] = bytes((medium, how % platforms, how, 0))
        for change in range(changes):
            # Every seventh value from the first on, of one kind; the bytes of the change are a text and a number, too.
            one = bytes((change, 7, 3, 0x3c, 0xff, 0x2f))
            seeds[f"changed-{medium}-{change}"] = bytes((medium, change % (4 * platforms), change % 4, 5)) + 60 * one
    return seeds


def batch_files():
    """A manifest of two runs, one in an archive and one whose name is no UTF-8, and results of them."""
    keys = {"job": "llama", "night": "2026-11-21", "when_ns": 1795230000000000000, "revision": "3f2a91c", "label": None,
            "training": "llama/exp3", "step": 1000}
    file = {"path": "a/h.xplane.pb", "host": "h", "id": "h", "bytes": 1000, "mtime_ns": 5, "fingerprint": "0123456789abcdef"}
    member = {**file, "path": "a.tar", "member": "x/h.trace.json.gz", "position": 3}
    lines = [{"schema": "tracemill.manifest", "schema_version": 1, "roots": [{"path": "/data"}, {"path": "/d", "path_hex": "2fff"}],
              "runs": 2, "files": 3, "bytes": 3000},
             {"id": "a-1", "root": 0, "path": "a", "run": "a", "keys": keys, "files": [file, {**file, "id": "g", "host": "g"}]},
             {"id": "a-2", "root": 1, "path": "\ufffd", "path_hex": "ff", "run": "x", "keys": {**keys, "step": None}, "files": [member]}]
    result = {"schema": "tracemill.result", "schema_version": 1, "tool": {"name": "tracemill", "version": "0"}, "id": "a-1",
              "host": None, "status": "done", "exit_status": 0, "message": None, "hint": None, "fingerprint": "0123456789abcdef",
              "options": "fedcba9876543210", "pruned": False,
              "files": [{"name": "result.json", "bytes": 5, "xxh3": "0123456789abcdef"}],
              "figures": {"step_time_ps": 5, "device_utilization_pct": 1.5}, "facts": {"run": "a", "hosts": 1}, "verdict": None}
    failed = {**result, "status": "failed", "exit_status": 137, "message": "ended by signal 9", "files": [], "figures": None}
    return {"manifest": "".join(json.dumps(line) + "\n" for line in lines).encode(),
            "result": json.dumps(result, indent=2).encode(), "failure": json.dumps(failed, indent=2).encode()}


def common_seeds():
    seeds = {kind: make(steps=2, devices=2, per_step=6).encode() for kind, make in make_profile.ALL_MAKERS.items()}
    seeds["pprof"] = make_pprof.encode(make_pprof.some(samples=8))
    seeds["program"] = program() + seeds["gpu"]
    for name, trace in (("jax", jax_trace()), ("pytorch", pytorch_trace()), ("other", other_trace())):
        seeds[f"{name}.json"] = json.dumps(trace, separators=(",", ":")).encode()
    seeds["indented.json"] = json.dumps(pytorch_trace(), indent=1).encode()
    run = "logs/plugins/profile/2026_01_02_03_04_05/host0"
    members = [(f"{run}.xplane.pb", seeds["cpu"]), (f"{run}.trace.json.gz", gzip.compress(seeds["jax.json"], mtime=0))]
    for name in ("gpu", "pytorch.json"):
        seeds[f"{name}.gz"] = gzip.compress(seeds[name], mtime=0)
    seeds["tar"] = tar_of(members)
    seeds["tar.gz"] = gzip.compress(seeds["tar"], mtime=0)
    seeds["zip"] = zip_of(members, zipfile.ZIP_DEFLATED)
    seeds["stored.zip"] = zip_of([("a/worker0.pt.trace.json", seeds["pytorch.json"])], zipfile.ZIP_STORED)
    seeds.update(batch_files())
    return {**seeds, **{f"summary-{name}": data for name, data in summary_changes().items()}}


def found(target):
    for path in sorted((Path(__file__).resolve().parent / "found").glob(f"{target}-*.hex")):
        lines = path.read_text().splitlines()
        yield path.stem, bytes.fromhex("".join(line for line in lines if not line.startswith("#")))


def module_of(target):
    return target.replace("fuzz_", "seeds_")


def has_module(target):
    return importlib.util.find_spec(module_of(target)) is not None


def takes_profiles(target):
    return not has_module(target) and target not in WRITES_ITS_OWN


def main():
    folder, target = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "none"
    if has_module(target):
        seeds = importlib.import_module(module_of(target)).seeds()
    else:
        seeds = common_seeds() if takes_profiles(target) else {}
    for name, data in seeds.items():
        (folder / f"made-{name}").write_bytes(data[:LARGEST])
    for name, data in found(target):
        (folder / f"found-{name}").write_bytes(data)


if __name__ == "__main__":
    main()
