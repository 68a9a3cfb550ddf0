# SPDX-License-Identifier: Apache-2.0
"""Seeds of fuzz_hlo: programs (HloProto) with ops of every kind that is told apart."""

import make_seeds
from make_profile import chunk, number

F32, BF16, S32, TUPLE = 11, 16, 4, 13


def shape(dims, kind=F32):
    return number(2, kind) + (make_seeds.packed(3, *dims) if dims else b"")


def tuple_of(*parts):
    return number(2, TUPLE) + b"".join(chunk(4, part) for part in parts)


def op(id, name, opcode, of, operands=(), more=b""):
    return chunk(2, chunk(1, name) + chunk(2, opcode) + chunk(3, of) + more + number(35, id)
                 + (make_seeds.packed(36, *operands) if operands else b""))


def module_of(*computations, more=b""):
    return chunk(1, chunk(1, "jit_f") + b"".join(chunk(3, c) for c in computations) + more)


def computation(id, root, *ops, fusion=False):
    return b"".join(ops) + number(5, id) + number(6, root) + number(7, int(fusion))


def parameters():
    return (op(1, "a", "parameter", shape((4, 8, 16), BF16), (), number(9, 0)),
            op(2, "b", "parameter", shape((4, 16, 32), BF16), (), number(9, 1)),
            op(3, "c", "parameter", shape((100,)), (), number(9, 2)))


def costs():
    dot = chunk(30, make_seeds.packed(1, 2) + make_seeds.packed(2, 1) + make_seeds.packed(3, 0) + make_seeds.packed(4, 0))
    window = chunk(15, chunk(1, number(1, 3) + number(2, 1)) * 2)
    conv = chunk(16, number(1, 0) + make_seeds.packed(11, 1, 2) + number(4, 3) + number(8, 0) + number(9, 1)) + number(50, 2)
    ops = [op(10, "dot.1", "dot", shape((4, 8, 32)), (1, 2), dot), op(11, "conv.1", "convolution", shape((1, 8, 8, 4)), (1, 2), window + conv),
           op(12, "update.1", "dynamic-update-slice", shape((100,)), (3, 3)), op(13, "slice.1", "dynamic-slice", shape((10,)), (3,)),
           op(14, "gather.1", "gather", shape((10, 2)), (3, 3)), op(15, "scatter.1", "scatter", shape((100,)), (3, 3, 3)),
           op(16, "while.1", "while", tuple_of(shape((100,)), shape(())), (3,), make_seeds.packed(38, 2, 3)),
           op(17, "copy-start.1", "copy-start", tuple_of(shape((100,)), shape((100,))), (3,)),
           op(18, "copy-done.1", "copy-done", shape((100,)), (17,)), op(19, "reduce.1", "reduce", shape(()), (3,)),
           op(20, "infeed.1", "infeed", tuple_of(shape((2,))), ()), op(21, "huge.1", "add", shape((1 << 40, 1 << 40)), (3, 3)),
           op(22, "negative.1", "add", shape(((1 << 64) - 1,)), (3,)), op(23, "send.1", "send", tuple_of(shape((8,)), shape((), S32)), (3,), number(47, 1))]
    return module_of(computation(1, 10, *parameters(), *ops))


def calls():
    fused = computation(2, 33, op(30, "p0", "parameter", shape((100,)), (), number(9, 0)), op(31, "e", "exponential", shape((100,)), (30,)),
                        op(32, "r", "reduce", shape(()), (31,)), op(33, "d", "divide", shape((100,)), (31, 32)), fusion=True)
    sliced = computation(3, 42, op(40, "p0", "parameter", shape((64, 64)), (), number(9, 0)), op(41, "s", "slice", shape((1, 64)), (40,)),
                         op(42, "u", "dynamic-update-slice", shape((64, 64)), (40, 41)), fusion=True)
    entry = computation(1, 50, *parameters(), op(50, "fusion.1", "fusion", shape((100,)), (3,), make_seeds.packed(38, 2)),
                        op(51, "fusion.2", "fusion", shape((64, 64)), (3,), make_seeds.packed(38, 3)),
                        op(52, "call.1", "call", shape((100,)), (3,), make_seeds.packed(38, 2)),
                        op(53, "async-start.1", "async-start", tuple_of(shape((100,))), (3,), make_seeds.packed(38, 2)),
                        op(54, "async-done.1", "async-done", shape((100,)), (53,), make_seeds.packed(38, 2)),
                        op(55, "recursive.1", "call", shape((100,)), (3,), make_seeds.packed(38, 1)))
    return module_of(fused, sliced, entry)


def custom(id, name, target, config):
    return op(id, name, "custom-call", tuple_of(shape((64, 64)), shape((1024,), 2)), (1, 2),
              chunk(28, target) + chunk(43, config))


def customs():
    config = ('{"gemm_backend_config":{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"],'
              '"lhs_batch_dimensions":["0"],"rhs_batch_dimensions":[]}}}')
    conv = chunk(16, number(1, 0) + make_seeds.packed(11, 1, 2) + number(4, 3))
    names = ("__cublas$gemm", "__cublas$lt$matmul", "__cublas$lt$matmul$f8", "__triton_gemm", "xla_ffi_python_cpu_callback", "SendToHost")
    ops = [custom(60 + i, f"custom.{i}", name, config if i % 2 == 0 else "{}") for i, name in enumerate(names)]
    ops.append(op(70, "cudnn.1", "custom-call", tuple_of(shape((1, 8, 8, 4)), shape((9,), 2)), (1, 2), chunk(28, "__cudnn$convForward") + conv))
    return module_of(computation(1, 60, *parameters(), *ops))


def group(*ids):
    return chunk(49, make_seeds.packed(1, *ids))


def collectives():
    grid = chunk(87, chunk(2, number(1, 2) + number(2, 2) + make_seeds.packed(3, 2, 2) + make_seeds.packed(4, 1, 0)))
    mesh = chunk(93, chunk(1, chunk(1, chunk(1, "x") + number(2, 4))) + chunk(2, chunk(1, "x")))
    pairs = chunk(52, number(1, 0) + number(2, 1)) + chunk(52, number(1, 1) + number(2, 0))
    ops = [op(80, "all-reduce.1", "all-reduce", shape((64,)), (3,), group(0, 1) + group(2, 3) + number(26, 1)),
           op(81, "all-gather-start.1", "all-gather-start", tuple_of(shape((100,)), shape((400,))), (3,), grid + number(75, 1)),
           op(82, "all-gather-done.1", "all-gather-done", shape((400,)), (81,)),
           op(83, "reduce-scatter.1", "reduce-scatter", shape((25,)), (3,), group(0, 1, 2, 3)),
           op(84, "permute.1", "collective-permute-start", tuple_of(shape((100,)), shape((100,))), (3,), pairs),
           op(85, "permute.2", "collective-permute-done", shape((100,)), (84,)),
           op(86, "all-to-all.1", "all-to-all", tuple_of(shape((50,)), shape((50,))), (3, 3), mesh),
           op(87, "all-reduce.2", "all-reduce", shape((64,)), (3,))]
    assignment = chunk(15, number(1, 2) + number(2, 2))
    return module_of(computation(1, 80, *parameters(), *ops), more=assignment)


def sources():
    meta = chunk(7, chunk(1, "dot_general") + chunk(2, "jit(f)/layer_0/dot_general") + chunk(3, "/a/b.py") + number(4, 12))
    by_frame = chunk(7, chunk(2, "x/y") + number(15, 2))
    frames = chunk(17, chunk(1, "a.py") + chunk(1, "b.py") + chunk(2, "f") + chunk(3, number(1, 1) + number(2, 1) + number(3, 9))
                   + chunk(3, number(1, 2) + number(3, 11)) + chunk(4, number(1, 1)) + chunk(4, number(1, 2) + number(2, 1)))
    entry = computation(1, 90, *parameters(), op(90, "add.1", "add", shape((100,)), (3, 3), meta), op(91, "add.2", "add", shape((100,)), (3, 3), by_frame))
    entry_shape = chunk(4, chunk(1, shape((8, 8))) + chunk(1, tuple_of(shape((2,)), shape(()))))
    return module_of(entry, more=number(5, 7) + number(6, 1) + entry_shape + frames)


def assigned():
    """A program with its buffer assignment, and shardings and layouts."""
    def allocation(index, size, *flags):
        return chunk(3, number(1, index) + number(2, size) + b"".join(number(f, 1) for f in flags) + chunk(9, number(1, index) + number(3, size)))
    tiles = chunk(40, number(1, 3) + make_seeds.packed(3, 2, 1, 2) + number(6, 1) + make_seeds.packed(9, 4) + make_seeds.packed(10, 0))
    tuples = chunk(40, number(1, 2) + chunk(5, b"") + chunk(5, number(1, 3) + make_seeds.packed(3, 2) + make_seeds.packed(4, 0, 1) + make_seeds.packed(8, 4)))
    laid_out = shape((16, 128)) + chunk(5, make_seeds.packed(1, 1, 0) + chunk(6, make_seeds.packed(1, 8, 128)) + number(8, 1))
    ops = [op(10, "add.1", "add", laid_out, (3, 3), tiles), op(11, "tuple.1", "tuple", tuple_of(laid_out, shape((2,))), (10, 3), tuples),
           op(12, "add.2", "add", shape((4,)), (10, 11))]
    buffers = allocation(0, 1024, 5) + allocation(1, 64, 12) + allocation(2, 4096, 7) + allocation(3, 1 << 20) + allocation(4, 8, 3)
    return module_of(computation(1, 12, *parameters(), *ops)) + chunk(3, buffers)


def heap():
    """A program with the simulation of two heaps: values that share memory, and sizes that are known by name and by id."""
    def value(id, size, name="", instruction=0):
        return chunk(1, number(1, id) + number(2, size) + chunk(3, (chunk(2, name) if name else b"") + number(4, instruction)))

    def event(kind, id, name, shared=0):
        return chunk(1, number(1, kind) + number(2, id) + chunk(3, "main") + chunk(4, name) + number(5, shared))
    ops = [op(20 + i, f"add.{i}", "add", shape((16,)), (3, 3)) for i in range(6)]
    values = [value(0, 400, "", 3), *(value(1 + i, 100 << i, "" if i % 2 else f"add.{i}", 20 + i if i % 2 else 0) for i in range(6))]
    large = [event(0, 1, "add.0"), event(0, 3, "add.2"), event(2, 2, "add.1", 3), event(1, 3, "add.2"), event(0, 4, "add.3"), event(1, 2, "add.3"),
             event(0, 5, "add.4"), event(1, 1, "add.4"), event(0, 6, "add.5"), event(1, 4, "add.5"), event(1, 5, "add.5"), event(1, 6, "add.5")]
    small = [event(0, 1, "add.0"), event(1, 1, "add.0")]

    def allocation(index, size, assigned, *flags):
        return chunk(3, number(1, index) + number(2, size) + b"".join(number(f, 1) for f in flags)
                     + b"".join(chunk(9, number(1, id) + number(3, 100 << (id - 1) if id else 400)) for id in assigned))
    buffers = b"".join(values) + allocation(0, 400, (0,), 5) + allocation(1, 6400, (1, 2, 3, 4, 5, 6)) + allocation(2, 64, ())
    buffers += chunk(4, b"".join(small) + number(3, 7)) + chunk(4, b"".join(large) + number(2, 1) + number(3, 9))
    return module_of(computation(1, 25, *parameters(), *ops)) + chunk(3, buffers)


def seeds():
    nested = shape((2,))
    for _ in range(20):
        nested = tuple_of(nested, shape((3,)))
    out = {"costs": costs(), "calls": calls(), "customs": customs(), "collectives": collectives(), "sources": sources(),
           "assigned": assigned(), "heap": heap()}
    out["nested"] = module_of(computation(1, 1, op(1, "t", "tuple", nested)))
    large = op(2, "large.1", "fusion", shape((8,)), (1, 1), chunk(28, "t") + make_seeds.packed(38, 2))
    out["large-before"], out["large-behind"] = (bytes([byte]) + large[2:] for byte in (0xFE, 0xFF))
    out["cut"] = out["calls"][:-40]
    return out
