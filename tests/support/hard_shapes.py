# SPDX-License-Identifier: Apache-2.0
"""Traces whose shape is hard: much of one thing that grows with the input.  Each is a generator of the JSON texts of N
events in the way of JAX's writer; whole(shape, n) gives the bytes of a file.

    hard_shapes.py SHAPE N OUT.trace.json
"""

import sys
from pathlib import Path

DEVICE, HOST, STREAM, THREAD = 1, 701, 13, 42


def named(pid, process, tid, thread):
    return [f'{{"ph":"M","pid":{pid},"name":"process_name","args":{{"name":"{process}"}}}}',
            f'{{"ph":"M","pid":{pid},"tid":{tid},"name":"thread_name","args":{{"name":"{thread}"}}}}']


def head():
    return named(DEVICE, "/device:GPU:0", STREAM, "Stream #13(Compute)") + named(HOST, "/host:CPU", THREAD, "python")


def span(pid, tid, ts, dur, name, arguments=""):
    tail = f',"args":{{{arguments}}}' if arguments else ""
    return f'{{"ph":"X","pid":{pid},"tid":{tid},"ts":{ts},"dur":{dur},"name":"{name}"{tail}}}'


def kernel(ts, dur, name="k", correlation=0):
    more = f'"correlation_id":"{correlation}",' if correlation else ""
    return span(DEVICE, STREAM, ts, dur, name, f'{more}"hlo_op":"{name}","hlo_module":"jit_f"')


def host(ts, dur, name="f", tid=THREAD):
    return span(HOST, tid, ts, dur, name)


def half_event(phase, tid, ts, fields):
    """A begin or an end; fields as they stand in the JSON."""
    return f'{{"ph":"{phase}","pid":{HOST},"tid":{tid},"ts":{ts}{"," if fields else ""}{fields}}}'


def nested(n):
    """Each span lies in the one before it."""
    for i in range(n):
        yield host(i, 2 * n - 2 * i, f"f{i % 50}")


def nested_python(n):
    for i in range(n):
        yield host(i, 2 * n - 2 * i, f"$a.py:{i % 50} f")


def staircase(n):
    """Each span overlaps many others and lies in none of them."""
    for i in range(n):
        yield host(i, n // 2)


def staircase_kernels(n):
    for i in range(n):
        yield kernel(i, n // 2, f"k{i % 50}")


def tracks(n):
    """A thread for each event."""
    for i in range(n):
        yield host(i, 1, tid=i)


def processes(n):
    for i in range(n):
        yield span(1000 + i, 1, i, 1, "f")


def same_time(n):
    for _ in range(n):
        yield host(5, 0)


def same_time_kernels(n):
    for i in range(n):
        yield kernel(5, 3, f"k{i % 50}")


def backwards(n):
    for i in range(n):
        yield kernel(2 * (n - i), 1, f"k{i % 50}")


def gaps(n):
    """Kernels with a pause before each, in which the host does something."""
    for i in range(n // 3):
        yield kernel(100 * i, 10, "k", i + 1)
        yield span(HOST, THREAD, 100 * i - 60, 5, "cuLaunchKernel", f'"correlation_id":"{i + 1}"')
        yield host(100 * i - 90, 20, "ThreadpoolListener")


def steps(n):
    for i in range(n // 2):
        yield span(HOST, THREAD, 100 * i, 90, "train", f'"step_num":"{i}"')
        yield kernel(100 * i + 5, 50)


def launch_threads(n):
    """A thread for each launch."""
    for i in range(n // 2):
        yield kernel(100 * i + 50, 10, "k", i + 1)
        yield span(HOST, i + 100, 100 * i, 5, "cuLaunchKernel", f'"correlation_id":"{i + 1}"')


def late_kernels(n):
    """All launches come first, the kernels run in the opposite order."""
    half = n // 2
    for i in range(half):
        yield span(HOST, THREAD, i, 1, "cuLaunchKernel", f'"correlation_id":"{i + 1}"')
    for i in range(half):
        yield kernel(2 * half + 2 * i, 1, "k", half - i)


def distinct_names(n):
    for i in range(n):
        yield kernel(2 * i, 1, f"fusion_{i * 7919}")


def distinct_lengths(n):
    for i in range(n):
        yield kernel(10 * n * i, 1 + i * 7919 % (9 * n), f"k{i % 3}")


def distinct_arguments(n):
    for i in range(n):
        yield span(DEVICE, STREAM, 2 * i, 1, "k", f'"hlo_op":"op.{i}","hlo_module":"m{i}","name":"a/b{i}/c"')


def open_begins(n):
    for i in range(n):
        yield half_event("B", i % 97, i, '"name":"f"')


def all_begin_then_all_end(n, begin, end, begin_fields, end_fields):
    """What began last ends first.  begin, end: the phases; begin_fields, end_fields: the fields of a number."""
    half = n // 2
    for i in range(half):
        yield half_event(begin, THREAD, i, begin_fields(i))
    for i in range(half):
        yield half_event(end, THREAD, half + i, end_fields(half - i - 1))


def with_id(number):
    return f'"id":{number},"name":"a","cat":"c"'


def begins_and_ends(n):
    return all_begin_then_all_end(n, "B", "E", lambda i: f'"name":"f{i % 50}"', lambda _: "")


def arrows(n):
    return all_begin_then_all_end(n, "s", "f", with_id, lambda i: with_id(i) + ',"bp":"e"')


def asyncs(n):
    return all_begin_then_all_end(n, "b", "e", with_id, with_id)


def counters(n):
    for i in range(n):
        yield f'{{"ph":"C","pid":{HOST},"ts":{i},"name":"c{i}","args":{{"v":{i}}}}}'


def deep_paths(n):
    """Scopes that lie in each other, a new one with each event."""
    for i in range(n):
        path = "/".join(f"s{j}" for j in range(i % 40)) + f"/t{i}"
        yield span(DEVICE, STREAM, 2 * i, 1, "k", f'"hlo_op":"k","name":"{path}"')


def collectives(n):
    for i in range(n):
        yield kernel(10 * i, 9, f"ncclDevKernel_AllReduce_{i % 1000}")


def compiles(n):
    for i in range(n // 2):
        yield host(100 * i, 90, "backend_compile_and_load")
        yield kernel(100 * i + 95, 2)


def copies(n):
    for i in range(n):
        yield span(DEVICE, STREAM, 10 * i, 5, "MemcpyH2D",
                   f'"memcpy_details":"kind_src:pageable kind_dst:device size:{i * 7919} dest:0 async:1"')


SHAPES = {function.__name__: function for function in (
    nested, nested_python, staircase, staircase_kernels, tracks, processes, same_time, same_time_kernels, backwards, gaps,
    steps, launch_threads, late_kernels, distinct_names, distinct_lengths, distinct_arguments, open_begins,
    begins_and_ends, arrows, asyncs, counters, deep_paths, collectives, compiles, copies)}


def write(shape, n, path):
    """Writes the file piece by piece: n may be millions."""
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[')
        file.write(",".join(head()))
        piece = []
        for text in SHAPES[shape](n):
            piece.append(text)
            if len(piece) == 10_000:
                file.write("," + ",".join(piece))
                piece.clear()
        file.write("".join("," + text for text in piece) + ",{}]}")


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
