# SPDX-License-Identifier: Apache-2.0
"""Small kernels and occupancy, from lists of kernels; the sections of a summary against them."""

from fractions import Fraction

SMALL_PS, TINY_PS = 100 * 10**6, 10 * 10**6
QUARTERS = 4


def compare_fusion(d, kernels, kind, summary):
    """kernels: (name, length) of each event of class kernel, on a CPU and a TPU of each operation."""
    if kind != "gpu" and summary["fusion"] is None:
        d.equal("fusion: there is a reason", True, len(summary["why"]["fusion"]) > 10)
        return
    fusion = d.worked_out(summary, "fusion")
    if fusion is None:
        return
    lengths = [length for _, length in kernels]
    for name, below in (("kernels", None), ("small", SMALL_PS), ("tiny", TINY_PS)):
        chosen = [n for n in lengths if below is None or n < below]
        d.equal(f"fusion.{name}.count", len(chosen), fusion[name]["count"])
        d.equal(f"fusion.{name}.total_ps", sum(chosen), fusion[name]["total_ps"])
        if below:
            d.equal(f"fusion.{name}.below_ps", below, fusion[name]["below_ps"])
            d.near(f"fusion.{name}.share_pct", 100 * sum(chosen) / sum(lengths) if sum(lengths) else None,
                   fusion[name]["share_pct"])


def thousandths(percent, zero_is_told=False):
    """A recorded occupancy, to the nearest thousandth of a percent; None where it is over 100, or not there.  A
    statistic of 0 is not there either."""
    if percent is None:
        return None
    value = round(Fraction(str(percent)) * 1000)
    return value if (0 if zero_is_told else 1) <= value <= 100000 else None


# Of a multiprocessor by compute capability: threads, blocks, shared memory, and what each block costs beside its own.
# The CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
KIB = 1024
MULTIPROCESSORS = {(7, 0): (2048, 32, 96 * KIB, 0, 256), (7, 5): (1024, 16, 64 * KIB, 0, 256),
                   (8, 0): (2048, 32, 164 * KIB, KIB, 128), (8, 6): (1536, 16, 100 * KIB, KIB, 128),
                   (8, 9): (1536, 24, 100 * KIB, KIB, 128), (9, 0): (2048, 32, 228 * KIB, KIB, 128),
                   (10, 0): (2048, 32, 228 * KIB, KIB, 128), (10, 3): (2048, 32, 228 * KIB, KIB, 128)}
REGISTERS, REGISTER_UNIT, WARP, WARP_UNIT = 65536, 256, 32, 4


def fitting_blocks(threads, registers, shared, limits):
    """Blocks at once on a multiprocessor, by CUDA's occupancy calculator; None where it cannot be told."""
    most_threads, most_blocks, most_shared, reserved, unit = limits
    warps = -(-threads // WARP)
    of_warp = -(-registers * WARP // REGISTER_UNIT) * REGISTER_UNIT
    blocks = min(most_threads // WARP // warps, most_blocks)
    if registers:
        blocks = min(blocks, REGISTERS // of_warp // WARP_UNIT * WARP_UNIT // warps)
    of_block = -(-(shared + reserved) // unit) * unit
    if shared <= most_shared and of_block:
        blocks = min(blocks, most_shared // of_block)
    return blocks or None


def achieved_thousandths(args, properties):
    """PyTorch's estimate in thousandths of a percent: whole percents, of which 0 is one; warps of the grid over what the
    multiprocessors hold where that is less; where no block is said to fit, what CUDA's rules give.  None = unknown."""
    told = thousandths(args.get("est. achieved occupancy %"), True)
    if told is None or not args.get("grid") or not args.get("block") or not properties:
        return told
    blocks, threads = (a * b * c for a, b, c in (args["grid"], args["block"]))
    sms, limits = properties.get("numSms"), MULTIPROCESSORS.get((properties.get("computeMajor"),
                                                                 properties.get("computeMinor")))
    if not sms or not limits:
        return told
    of_grid = Fraction(blocks * threads * 100000, sms * limits[0])
    of_grid = int(of_grid + Fraction(1, 2))
    if of_grid < told + 1000:
        return min(of_grid, 100000)
    if told:
        return told
    fitting = fitting_blocks(threads, args["registers per thread"], args["shared memory"], limits)
    return min(of_grid, fitting * threads * 100000 // limits[0]) if fitting and args["registers per thread"] else None


def rank_of(lengths, share):
    """The smallest that at least so large a share of them do not pass."""
    return sorted(lengths)[-(-len(lengths) * share // 1000) - 1]


def compare_kernel_means(d, lengths, summary):
    """lengths: of each kernel that computes."""
    table = summary["kernels"]
    if not table:
        return
    total, squares = sum(lengths), sum(n * n for n in lengths)
    d.equal("kernels.compute_count", len(lengths), table["compute_count"])
    d.equal("kernels.compute_ps", total, table["compute_ps"])
    d.equal("kernels.weighted_mean_ps", (2 * squares + total) // (2 * total) if total else 0 if lengths else None,
            table["weighted_mean_ps"])
    d.equal("kernels.compute_mean_ps", (2 * total + len(lengths)) // (2 * len(lengths)) if lengths else None,
            table["compute_mean_ps"])


def compare_occupancy(d, kernels, summary):
    """kernels: (length, occupancy in thousandths of a percent or None) of each event of class kernel."""
    known = [(length, value) for length, value in kernels if value is not None]
    if not known:
        d.equal("occupancy is null, or nothing is known", True,
                summary["occupancy"] is None or summary["occupancy"]["mean_pct"] is None)
        return
    occupancy = d.worked_out(summary, "occupancy")
    if occupancy is None:
        return
    time = sum(length for length, _ in known)
    d.equal("occupancy.known_ps", time, occupancy["known_ps"])
    d.equal("occupancy.unknown_ps", sum(length for length, _ in kernels) - time, occupancy["unknown_ps"])
    mean = Fraction(sum(length * value for length, value in known), time * 1000) if time else None
    d.near("occupancy.mean_pct", float(mean) if time else None, occupancy["mean_pct"])
    for row in occupancy["histogram"]:
        inside = [length for length, value in known if row["from_pct"] * 1000 <= value < row["to_pct"] * 1000
                  or value == row["to_pct"] * 1000 == 100000]
        d.equal(f"occupancy.histogram[{row['from_pct']}].count", len(inside), row["count"])
        d.equal(f"occupancy.histogram[{row['from_pct']}].total_ps", sum(inside), row["total_ps"])


def kept_of(events):
    """Of each allocator the buffers that were taken and not given back.  events: (allocator, address, bytes taken, 0
    where they are given back) in the order of time, address None where it is not told."""
    held, kept = {}, {}
    for i, (allocator, address, size) in enumerate(events):
        kept.setdefault(allocator, {"count": 0, "quarters_bytes": [0] * QUARTERS, "largest_bytes": 0})
        if address is not None:
            held[allocator, address] = (size, i * QUARTERS // len(events))
    for (allocator, _), (size, quarter) in held.items():
        if size:
            row = kept[allocator]
            row["count"] += 1
            row["quarters_bytes"][quarter] += size
            row["largest_bytes"] = max(row["largest_bytes"], size)
    return kept


def compare_kept(d, events, summary):
    want = kept_of(events)
    rows = {row["name"]: row for row in (summary["memory"] or {}).get("allocators") or []}
    for name in sorted(want):
        for figure, value in want[name].items():
            d.equal(f"memory[{name}].kept.{figure}", value, (rows.get(name, {}).get("kept") or {}).get(figure))
