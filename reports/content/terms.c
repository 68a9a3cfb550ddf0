/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/content/terms.h"

#include <stdbool.h>
#include <string.h>

const struct tm_term tm_terms[] = {
    { "steps", "Steps are", "What the borders of the steps were taken from." },
    { "steps", "Chosen for the figures",
      "Complete steps that are not warm-up, or those that --steps names." },
    { "steps", "Median|Mean|Shortest|Longest|90th percentile|95th percentile|Standard deviation",
      "Of the periods of the chosen steps: from the end of the last activity of the step before to "
      "the end of its own. "
      "Where a device has no period, of the steps' length on the host. Percentiles are nearest "
      "ranks." },
    { "devices", "Utilization", "Busy time over span." },
    { "devices", "Span",
      "From the first to the last activity of the host's devices in the chosen steps." },
    { "devices", "Busy", "Time in which at least one activity runs." },
    { "devices", "Compute",
      "Time in which a kernel or an operation runs that is no collective, copy or fill." },
    { "devices", "Exposed collectives|Exposed copies",
      "Time in which it runs and nothing computes on that device; a copy: no collective either." },
    { "devices", "Idle", "Span without busy." },
    { "devices", "Waits (TPU)|Hidden (TPU)",
      "Waits for asynchronous operations, which lie in the busy time; and what of those operations "
      "ran while the "
      "device computed." },
    { "devices", "Rests on",
      "full: each kernel is in the profile. graph: whole graphs are one event, so that pauses "
      "inside are not seen." },
    { "gaps", "Gaps|Length|Idle time in gaps",
      "Maximal stretches without an activity on a device. The sums hold all of them, the lists "
      "those of a least length." },
    { "gaps", "Pauses between launched work|Time in pauses",
      "Gaps under 10 \xc2\xb5s in which the next piece of work had been launched already; longer ones are waits." },
    { "gaps", "Cause|On the host",
      "What the launching thread of the host did during the largest part of the gap, and its "
      "event." },
    { "gaps", "Before|After", "The activities that end and begin at the gap." },
    { "ops", "Self time|Their time",
      "Time of an operation without the operations that lie in it (loops and calls of TPUs and "
      "CPUs)." },
    { "ops", "Share|Longest one, of it", "Of the self time of all operations." },
    { "ops", "Sum|Make up 80 % of it",
      "Share of this operation and of all that are longer; how many make up 80 %." },
    { "ops", "Runs|Events",
      "Executions of the operation; one of them may be several events, as a GPU operation may need "
      "several kernels." },
    { "ops", "Whole time", "Sum of the lengths, with what lies in them." },
    { "ops", "Type",
      "Type of the products in the program's HLO, else of the result, else what the kernel's name "
      "tells." },
    { "ops", "Bound by|Of its roof",
      "What the operation comes nearer to, the peak of computing or of the memory, and how near; "
      "over 100 % where the cost "
      "counts too much or a cache helps." },
    { "ops", "FLOP per byte|Computing|Memory",
      "Cost of the operation, as the profile or the HLO tells it, per byte and per second of self "
      "time." },
    { "scopes", "Device time in scopes|Without a scope",
      "Time of operations whose framework path names a scope; the others were added by the "
      "compiler, or tell none." },
    { "scopes", "Forward|Backward|Neither|Pass",
      "Backward is what was transposed for gradients, forward what was differentiated; neither: "
      "optimizer, metrics, "
      "programs without gradients." },
    { "scopes", "Computed again (part of backward)",
      "Forward values that jax.checkpoint computes a second time." },
    { "scopes", "Total|Itself",
      "Time of all operations in the scope, and of those in no scope inside it." },
    { "scopes", "Layer",
      "Scopes that differ only in a number, two or more; of families inside each other the outer "
      "one." },
    { "scopes", "Host", "Time on the host from begin to end." },
    { "scopes", "Launched|Their device time",
      "Activities whose launch began inside, on the same thread, and their time, whenever they "
      "ran." },
    { "kernels", "Mean length, weighted by time",
      "Each kernel counts by its own time: how long the kernel is that runs at a random busy "
      "moment." },
    { "kernels", "Occupancy",
      "Warps that can be at work on a multiprocessor, of those that it can hold." },
    { "kernels", "Share", "Of the time of all kernels." },
    { "fusion", "Kernels|Kernels per step and device",
      "Kernels without collectives, copies and fills." },
    { "fusion", "Under 100 \xc2\xb5s|Under 10 \xc2\xb5s|Their share of kernel time",
      "Kernels as short as that, and their part of the time of all kernels." },
    { "fusion", "Runs of small kernels|Kernels in runs|Pauses in runs|Pauses|Work",
      "Two or more kernels under 100 \xc2\xb5s in a row on one stream, less than 10 \xc2\xb5s "
      "apart." },
    { "fusion", "At stake in runs|At stake",
      "Pauses in the runs and 5 \xc2\xb5s for each launch but the first, at most the length of the "
      "run." },
    { "fusion", "Chains of pointwise kernels|Time in chains|Saved if each were one kernel",
      "Two to eight kernels of PyTorch's eager mode in a row on one stream that do pointwise work, copy or reduce; and "
      "what they take beyond the longest one of each chain." },
    { "fusion", "Softmax between two products",
      "A softmax between two batched products on one stream, as in attention that is not fused." },
    { "fusion", "Layout copies",
      "Kernels that only copy or transpose and belong to no operation of the program." },
    { "fusion", "32-bit products beside matrix units",
      "Products and convolutions of 32-bit floats that do not run on the device's matrix units." },
    { "fusion", "Per step",
      "How often it comes in each step of a device in which it comes more than 10 times." },
    { "programs", "Programs per step and device|Executions",
      "Executions of compiled programs in the chosen steps." },
    { "programs", "Pauses between programs|Their time",
      "Stretches under 100 \xc2\xb5s between the operations of one program and those of the next "
      "in which the device is idle." },
    { "occupancy", "Mean, weighted by time|Kernel time it is known of|Occupancy",
      "Warps that can be at work on a multiprocessor, of those that it can hold, by the time of "
      "the kernels that tell it." },
    { "occupancy",
      "Limited by|Limited by registers|Limited by shared memory|Limited by the size of "
      "blocks|Limited by a small "
      "grid|Limited by nothing|Not known by what",
      "What keeps more blocks from running at once, by the rules of CUDA's occupancy calculator; "
      "unknown where they do "
      "not give the recorded occupancy." },
    { "occupancy", "Waves|Lost|Lost time|Lost to last waves of blocks",
      "Blocks of the grid over those that run at once. The last wave leaves a part of the device "
      "empty: its time x (1 - "
      "waves / waves rounded up)." },
    { "occupancy", "Multiprocessors without a block",
      "Of grids with fewer blocks than multiprocessors: time x the share of multiprocessors "
      "without one." },
    { "roofline", "Memory, of the peak|Computing, of the peak|Of it|Share",
      "Bytes and operations per second of busy time over the peaks of the devices." },
    { "roofline", "Model FLOP utilization",
      "Operations over what the devices could have done in their whole span, idle time with it." },
    { "roofline", "Bytes known of computing time|FLOPs known of computing time",
      "Share of the time of operations that compute whose cost the profile or the HLO tells." },
    { "roofline",
      "Bound by computing|Bound by memory|Bound by neither|Not known|Bound by|Of its roof",
      "Time by what operations come nearer to, the peak of computing or that of the memory; "
      "neither: collectives, waits, "
      "copies. Not known: cost or peak." },
    { "roofline", "Peak|Peak of memory|Peak is from|Peak of memory is from",
      "Dense, without sparsity, of the type in which most products compute, at the highest "
      "clock." },
    { "roofline", "Above its roof",
      "Time that the operation takes above what its cost needs at the peak." },
    { "roofline", "Matrix products|On matrix units",
      "Time in products and convolutions, and known to run on matrix units." },
    { "transfers", "Exposed",
      "Time of copies in which neither a kernel nor a collective runs on the device." },
    { "transfers", "Mean rate|Best rate",
      "Bytes over time of the copies whose size is known; the fastest single one." },
    { "transfers", "Outside steps|Time outside",
      "Copies that are not in the chosen steps and in no other figure." },
    { "transfers", "Copies of pageable host memory|Share of copy time",
      "Their host side is ordinary memory: the driver moves it in pieces." },
    { "transfers", "Copies to the host and back",
      "A copy to the host followed by one of the same size to the device." },
    { "collectives", "Message|Bytes",
      "The most that one device sends or receives in one, and that times the count." },
    { "collectives", "Exposed|Overlap",
      "Time without compute on the same device; the share of the time with it." },
    { "collectives", "Algorithm bandwidth|Bus bandwidth",
      "Bytes over time, waiting included; and what the links carry, comparable between kinds and "
      "sizes (as NCCL's tests "
      "define it)." },
    { "collectives", "Matched collectives|Without a counterpart|Matched",
      "The n-th collective of a group of devices in a step belongs with the n-th of the others." },
    { "collectives", "Last after first, median|95th percentile|At most|Late|Late by|Late at most",
      "Begin of the last device minus begin of the first; of one device, of its own." },
    { "collectives", "Waits for others|Others wait for it",
      "Begin of the last device minus its own; and what the others would have waited less had it "
      "come with the last "
      "but one." },
    { "collectives", "The others wait for",
      "The device that is late twice as much as the others or more, and last more often than in "
      "turn." },
    { "balance", "Imbalance of compute|By step, median|At most|Spread",
      "100 x (most / mean - 1) of the compute time of the devices; by step; by operation." },
    { "balance", "Run by",
      "all: by all devices equally often. uneven: by all, not equally often. some: by several." },
    { "balance", "Excess",
      "What all devices together would need less if the slowest were as fast as the mean." },
    { "host", "Host overhead|Idle time laid to the host",
      "Idle time of devices by launch, input, waits, host code, compiling and garbage collection, "
      "and its share of the steps." },
    { "host", "Launches|Launches per step",
      "Calls that started activities: a graph or a TPU program is one." },
    { "host",
      "Launch to begin, median|Launch to begin, 95th percentile|Launch to begin, longest|Begun "
      "before their launch (clock "
      "skew)",
      "From the begin of the call to the begin of the first activity that it started." },
    { "host", "Idle with nothing launched|Idle with nothing launched, of the window",
      "A device is idle, and nothing that was launched waits for it." },
    { "host", "Waits for the device|Time in waits|Wait|In function|In annotation",
      "Calls that wait for a device or a result; a wait inside a wait counts once. The function "
      "and the annotation are "
      "the innermost ones around." },
    { "host", "Self|Total", "Without what lies inside; and the sum of the lengths." },
    { "host", "Busy|Share", "Union of the thread's spans, and its share of the time that counts." },
    { "fallback", "Calls back to the host|Time in calls back",
      "Calls of compiled programs back to Python: pure_callback, io_callback, jax.debug.print and "
      "the like." },
    { "fallback", "Operations run on the host",
      "Operations of compiled programs that ran on the CPU beside GPUs or TPUs." },
    { "fallback", "Device operations that work with the host",
      "Operations that by the HLO exchange data with the host." },
    { "fallback", "Round trips over the host|Idle time in round trips",
      "Gaps of a device between a copy to the host and a copy from it that was launched "
      "meanwhile." },
    { "compile", "Compiles|Time|Longest",
      "Over the whole session, warm-up included; what lies inside another compile is not counted "
      "again." },
    { "compile", "Inside chosen steps|Time inside chosen steps",
      "Compiles that begin in a chosen step." },
    { "compile", "Shapes",
      "Types and shapes of the program's arguments, as the HLO in the profile has them." },
    { "memory", "Peak|Of capacity|Peak at",
      "Most bytes in use inside the profile, of what the allocator may hand out." },
    { "memory", "Lifetime peak", "The most since the program began, as the allocator tells it." },
    { "memory", "Fragmentation",
      "Share of the free memory that lies outside of the largest free block." },
    { "memory", "Buffers|1st quarter|2nd quarter|3rd quarter|4th quarter|Largest",
      "Buffers that were allocated inside the profile and not freed in it; their bytes by the quarter of the host's "
      "allocation events in which they were taken." },
    { "memory", "Allocations a second|Allocated a second",
      "Per second of the time between the allocator's first and last event." },
    { "memory", "Held by", "The innermost frame of the user's own code that allocated it." },
};
const size_t tm_term_count = sizeof(tm_terms) / sizeof(tm_terms[0]);

/* Is the label one of the list "a|b|c"? */
static bool is_one_of(const char *labels, const char *label)
{
    const size_t length = strlen(label);

    for (const char *at = labels; at; at = strchr(at, '|')) {
        at += *at == '|';
        if (strncmp(at, label, length) == 0 && (at[length] == '|' || at[length] == 0))
            return true;
    }
    return false;
}

int tm_term_find(const char *section, const char *label)
{
    for (size_t i = 0; i < tm_term_count; i++)
        if (strcmp(tm_terms[i].section, section) == 0 && is_one_of(tm_terms[i].labels, label))
            return (int)i;
    return -1;
}
