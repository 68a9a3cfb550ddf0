/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/content/content.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

const struct tm_term tm_terms[] = {
    { "steps", "Steps are", "What the borders of the steps were taken from." },
    { "steps", "Analyzed", "Complete steps that are not warm-up, or those that --steps names." },
    { "steps", "Left out as warm-up|Left out as incomplete",
      "Leading steps that compile or take more than twice the median of the others; steps that the profile does "
      "not have whole." },
    { "steps", "Median|Mean|Shortest|Longest|90th percentile|95th percentile|Standard deviation|Step time",
      "Of the step times of the analyzed steps: from the latest end of the previous step on any device to that of this "
      "one. Without device activity, of the duration of the step on the host. Percentiles are nearest ranks." },
    { "steps", "Host span|Device span",
      "Length of the step's marker on the host; from the first begin to the last end of the step's activities on "
      "the device." },
    { "steps", "Busy|Compute|Exposed collectives",
      "Time of the step in which the device works, on a TPU with the waits of the core; in which it computes; in which "
      "only a collective runs." },
    { "steps", "Compiles", "Whether something was compiled while the step ran." },
    { "devices", "Utilization", "Busy time divided by the window; on a TPU the waits of the core do not count." },
    { "devices", "Span", "The device's window: from the start of the first to the end of the last analyzed step." },
    { "devices", "Busy", "Time in which at least one activity runs; on a TPU with the waits of the core." },
    { "devices", "Activities|Graphs|Memsets",
      "What runs on a device: kernels or operations, collectives, copies, memsets, and CUDA graphs that the profile "
      "has as one event each." },
    { "devices", "Compute",
      "Time in which a kernel or an operation runs that is no collective or copy; memsets count." },
    { "devices", "Exposed collectives|Exposed copies",
      "Time in which it runs and nothing computes on that device; a copy: no collective either." },
    { "devices", "Idle", "The time in the window in which no activity runs." },
    { "devices", "Idle before first activity|Idle after last activity",
      "The part of the idle time at the start and at the end of the window." },
    { "devices", "Long gaps", "Gaps of the least length that is listed (--gap-min)." },
    { "devices", "Waits|For copies|For collectives|For the host",
      "Time in which the core of a TPU waits for what runs beside it; it lies in the busy time." },
    { "devices", "In flight|Hidden",
      "Time in which copies or collectives run beside the core of a TPU; and how much of it the core computed "
      "meanwhile." },
    { "devices", "Seen as",
      "Single kernels: all of them are in the profile. Whole graphs: a graph is one event, so that pauses inside are "
      "not seen." },
    { "gaps", "Gaps|Length|Idle time in gaps",
      "Maximal stretches without an activity on a device. The sums hold all of them, the lists those of a least "
      "length." },
    { "gaps", "Pauses between launched work|Time in pauses",
      "Gaps under 10 \xc2\xb5s in which the next piece of work had been launched already; longer ones are waits." },
    { "gaps", "Cause|On the host",
      "What the launching thread of the host did during the largest part of the gap, and its event." },
    { "gaps", "Only the main thread",
      "Of the time: another thread launches, recorded too little in these gaps, and what the main thread did is told "
      "instead." },
    { "gaps", "Thread", "Whose event it is: that of the launching thread, or of the main thread in its place." },
    { "gaps", "Such calls",
      "How long events of this name take on average elsewhere in the profile, those under 1 ms." },
    { "gaps", "Launch call", "The length of the call that launched what ends the gap." },
    { "gaps", "Before|After", "The activities that end and begin at the gap." },
    { "gaps", "Share", "Of the idle time in gaps." },
    { "ops", "Self time|Total time",
      "Time of an operation without the operations that lie in it (loops and calls of TPUs and CPUs)." },
    { "ops", "Share|Share of the longest one", "Of the self time of all operations." },
    { "ops", "Cumulative|Operations covering 80 %",
      "Share of this one and of all that are longer; how many make up 80 %. A family with more operations than steps "
      "counts as one." },
    { "ops", "Runs|Events",
      "Executions of the operation; one of them may be several events, as a GPU operation may need several kernels." },
    { "ops", "Whole time", "Sum of the lengths, with what lies in them." },
    { "ops", "Type",
      "Type of the products in the program's HLO, else of the result, else what the kernel's name tells." },
    { "ops", "Bound by|Of its roof",
      "What the operation comes nearer to, the peak of computing or of the memory, and how near; over 100 % where "
      "the cost counts too much or a cache helps." },
    { "ops", "FLOP per byte|Computing|Memory",
      "Cost of the operation, as the profile or the HLO tells it, per byte and per second of self time." },
    { "ops", "Framework path|Source",
      "The scopes of the program that the operation was traced in, and the line of code." },
    { "ops", "First at|On",
      "Begin and device of its first event in the analyzed steps: where to look in a trace viewer." },
    { "scopes", "Device time in scopes|Without a scope",
      "Time of operations whose framework path names a scope; the others were added by the compiler, or tell none." },
    { "scopes", "Forward|Backward|Neither|Pass",
      "Backward is what was transposed for gradients, forward what was differentiated; neither: optimizer, "
      "metrics, programs without gradients." },
    { "scopes", "Computed again (part of backward)", "Forward values that jax.checkpoint computes a second time." },
    { "scopes", "Total|Itself", "Time of all operations in the scope, and of those in no scope inside it." },
    { "scopes", "Layer",
      "Scopes that differ only in a number, two or more; of families inside each other the outer one." },
    { "scopes", "Host", "Time on the host from begin to end." },
    { "scopes", "Launched|Their device time",
      "Activities whose launch began inside, on the same thread, and their time, whenever they ran." },
    { "kernels", "Mean duration|Mean duration, weighted by time",
      "Of kernels that compute: collectives, copies and memsets apart. Weighted: each kernel counts by its own time." },
    { "kernels", "Variants", "Launches of a kernel with one grid, block, number of registers, shared memory and op." },
    { "kernels", "Occupancy", "Warps that can be at work on a multiprocessor, of those that it can hold." },
    { "kernels", "Share", "Of the time of all kernels." },
    { "kernels", "Class|Category",
      "Kernel, collective, copy or memset; and the kind of work, told by the name of the kernel or of its operation." },
    { "kernels", "p95", "95 % of the launches are no longer than this." },
    { "kernels", "Op|HLO op", "The path of scopes in the program; the instruction of the compiled program." },
    { "kernels", "Precision", "Type of the numbers, as the program's HLO or the kernel's name tells." },
    { "kernels", "Grid|Block|Registers|Shared memory",
      "Blocks of a launch and threads of a block, both as x, y, z; registers of a thread, shared memory of a block." },
    { "fusion", "Kernels|Kernels per step and device", "Kernels without collectives, copies and memsets." },
    { "fusion", "Share", "Of the time of these kernels." },
    { "fusion", "Time of matrix products",
      "Products and convolutions on devices with matrix units, on the units or beside them." },
    { "fusion", "Under 100 \xc2\xb5s|Under 10 \xc2\xb5s",
      "Kernels so short that their launches and the pauses between them weigh." },
    { "fusion", "Repeated over 10 times a step",
      "Kernels under 100 \xc2\xb5s that come more than 10 times in a step of a device." },
    { "fusion", "Collectives under 100 \xc2\xb5s", "They are in no other figure of this section." },
    { "fusion", "Runs of small kernels|Pauses in runs of small kernels|Pauses|Work",
      "Two or more kernels under 100 \xc2\xb5s in a row on one stream, less than 10 \xc2\xb5s apart." },
    { "fusion", "Potential savings",
      "Of runs: their pauses and 5 \xc2\xb5s for each launch but the first, at most the length of the run. Of chains: "
      "what they take beyond the longest kernel of each." },
    { "fusion", "Chains of pointwise kernels",
      "Two to eight kernels of PyTorch's eager mode in a row on one stream that do pointwise work, copy or reduce." },
    { "fusion", "Softmax between two products",
      "A softmax between two batched products on one stream, as in attention that is not fused." },
    { "fusion", "Layout copies", "Kernels that only copy or transpose and belong to no operation of the program." },
    { "fusion", "32-bit products beside matrix units",
      "Products and convolutions of 32-bit floats that do not run on the device's matrix units." },
    { "fusion", "Per step", "How often it comes in each step of a device in which it comes more than 10 times." },
    { "programs", "Programs per step and device|Executions", "Executions of compiled programs in the analyzed steps." },
    { "programs", "Pauses between programs|Their time",
      "Stretches under 100 \xc2\xb5s between the operations of one program and those of the next in which the device "
      "is idle." },
    { "occupancy", "Mean, weighted by time|Kernel time it is known of|Occupancy",
      "Warps that can be at work on a multiprocessor, of those that it can hold, by the time of the kernels that "
      "tell it." },
    { "occupancy", "Limited by",
      "What keeps more blocks from running at once, by the rules of CUDA's occupancy calculator; not known where "
      "they do not give the recorded occupancy." },
    { "occupancy", "Waves|Lost|Lost time|Lost to last waves of blocks",
      "Blocks of the grid over those that run at once. The last wave leaves a part of the device empty: its time x "
      "(1 - waves / waves rounded up)." },
    { "occupancy", "Multiprocessors without a block",
      "Of grids with fewer blocks than multiprocessors: time x the share of multiprocessors without one." },
    { "occupancy", "Variants",
      "Launches with other grids, blocks or ops; grid, limit and waves are those of the variant with the most time." },
    { "roofline", "Of the memory's peak|Of the computing peak",
      "Bytes and operations per second of busy time over the peaks of the devices." },
    { "roofline", "Share", "Of the computing time." },
    { "roofline", "Model FLOP utilization",
      "Operations over what the devices could have done in their whole span, idle time with it." },
    { "roofline", "Bytes known of computing time|FLOPs known of computing time",
      "Share of the time of operations that compute whose cost the profile or the HLO tells." },
    { "roofline", "Bound by|Of its roof",
      "Time by what operations come nearer to, the peak of computing or that of the memory; nothing: collectives, "
      "waits, copies. Not known: cost or peak." },
    { "roofline", "Peak of computing|Peak of memory|Source of the computing peak|Source of the memory's peak",
      "Dense, without sparsity, of the type in which most products compute, at the highest clock." },
    { "roofline", "Above its roof", "Time that the operation takes above what its cost needs at the peak." },
    { "roofline", "Matrix products|On matrix units",
      "Time in products and convolutions, and known to run on matrix units." },
    { "roofline", "FLOP per byte|Computing|Memory|Self time",
      "Cost of the operation, as the profile or the HLO tells it, per byte and per second of the time without the "
      "operations inside." },
    { "transfers", "Exposed", "Time in which a device only copies: neither a kernel nor a collective runs." },
    { "transfers", "Mean rate|Best rate",
      "Bytes over the time in which any copy of this direction is in flight on a device, of copies whose size is "
      "known: copies that overlap share the link. The best is of one stretch in flight." },
    { "transfers", "Outside steps|Bytes outside|Time outside|Exposed outside",
      "Copies that are not in the analyzed steps, and what they take of the window." },
    { "transfers", "Copies of pageable host memory|Their time|Share of copy time",
      "Their host side is ordinary memory: the driver moves it in pieces." },
    { "transfers", "Copies to the host and back",
      "A copy to the host followed by one of the same size to the device." },
    { "transfers", "Of unknown size", "Copies of which the profile tells no bytes; they are in no rate." },
    { "transfers", "Per step", "Copies of exactly this size in each step of a device." },
    { "collectives", "Message|Bytes|Data",
      "The most that one device sends or receives in one, and that times the count." },
    { "collectives", "Exposed|Exposed time|Overlap|Overlapped with compute",
      "Time in which the same device computes nothing; and the share of the time in which it does." },
    { "collectives", "Algorithm bandwidth|Bus bandwidth",
      "Bytes over the time in which data move; and what the links carry, comparable between kinds and sizes (as NCCL's "
      "tests define it)." },
    { "collectives", "With members not in the profile",
      "Matched collectives of groups with more devices than the profile has of them: the last one may be another." },
    { "collectives", "Reach", "Whether the devices of a group are in one node, or in several." },
    { "collectives", "Bandwidth over",
      "moving: from the last device's start on; flight: as a TPU records it; duration: no counterpart is known, and "
      "the time holds what the devices wait." },
    { "collectives", "Exposed, waiting for late devices|Exposed, moving data|Waiting|Moving",
      "Exposed time before the last device starts the collective, and from then on." },
    { "collectives", "Exposed, without a counterpart|No counterpart",
      "Exposed time of collectives that no other device in the profile has: waiting or moving, nobody knows." },
    { "collectives", "Matched collectives|Without a counterpart|Matched",
      "Collectives of a group of devices with the same recorded number belong together; where none is recorded, the "
      "n-th in a step belongs with the n-th of the others." },
    { "collectives",
      "Last after first, median|Last after first, 95th percentile|Last after first, at most|Late|Late by|Late at most",
      "Start of the last device minus start of the first; of one device, of its own." },
    { "collectives", "Waits for others|Causes waiting|Share",
      "Start of the last device minus its own; and its part of what the others wait: while some wait, those that have "
      "not come yet cause it, in equal parts." },
    { "collectives", "If it alone were in time",
      "What the others would have waited less had it come with the last but one." },
    { "collectives", "Mostly late",
      "The device that is late twice as much as the others or more, and last more often than in turn." },
    { "collectives", "Of unknown size", "Collectives of which the profile tells no bytes; they are in no bandwidth." },
    { "collectives", "Came last|Waiting of all devices",
      "Collectives that began on this device last; and what all devices together waited for the last one." },
    { "collectives", "Number in the step", "Which collective of its group in that step, counted from 1." },
    { "balance", "Imbalance of compute|By step, median|By step, at most|Spread|Same work differs by",
      "100 x (most / mean - 1) of the compute time of the devices; by step; by operation." },
    { "balance", "Exposed collectives",
      "Time in which only a collective runs: a device that comes early waits there for the others." },
    { "balance", "Slowest|Slowest device|Slowest at the same work",
      "The device with the most compute time; of an operation, with the most time in it." },
    { "balance", "Most uneven step", "The step in which the devices' compute times lie furthest apart." },
    { "balance", "Run by",
      "All alike: by all devices, equally often. All unevenly: by all, not equally often. Some: not by all." },
    { "balance", "Excess", "What all devices together would need less if the slowest were as fast as the mean." },
    { "host", "Host overhead|Idle time attributed to the host",
      "Idle time of devices by launch, input, sync, host code, compilation and garbage collection, and its share of "
      "the window." },
    { "host", "Launches|Launches per step", "Calls that started activities: a graph or a TPU program is one." },
    { "host",
      "Launch to begin, median|Launch to begin, 95th percentile|Launch to begin, longest|Begun before their launch "
      "(clock skew)",
      "From the begin of the call to the begin of the first activity that it started." },
    { "host", "Activities without a known launch",
      "What ran on a device without a call on the host that the profile links to it." },
    { "host", "Idle with nothing launched|Idle with nothing launched, of the window",
      "A device is idle, and nothing that was launched waits for it." },
    { "host", "Waits for the device|Time in waits|Wait|In function|In annotation",
      "Calls that wait for a device or a result; a wait inside a wait counts once. The function and the annotation "
      "are the innermost ones around." },
    { "host", "Self|Total", "Without what lies inside; and the sum of the lengths." },
    { "host", "Busy|Share", "Union of the thread's spans, and its share of the time that counts." },
    { "host", "Main|Ops|In ops",
      "Whether it is the program's main thread; and operations that ran on this thread, as they do where the CPU "
      "is the device." },
    { "fallback", "Calls back to the host|Time in calls back",
      "Calls of compiled programs back to Python: pure_callback, io_callback, jax.debug.print and the like." },
    { "fallback", "Operations run on the host|Time in operations on the host",
      "Operations of compiled programs that ran on the CPU beside GPUs or TPUs." },
    { "fallback", "Device operations that work with the host|Time in operations with the host",
      "Operations that by the HLO exchange data with the host." },
    { "fallback", "Round trips over the host|Idle time in round trips",
      "Gaps of a device between a copy to the host and a copy from it that was launched meanwhile." },
    { "compile", "Compiles|Time|Longest",
      "Over the whole session, warm-up included; what lies inside another compile is not counted again." },
    { "compile", "Inside analyzed steps|Time inside analyzed steps", "Compiles that begin in an analyzed step." },
    { "compile", "Counted by the events of",
      "What a compile is counted by: backend_compile is JAX's own mark, client the call of the runtime, xla the "
      "compiler itself." },
    { "compile", "Step", "The step in which it began; empty outside of the steps." },
    { "compile", "Program", "The id of a program: one module compiled for other shapes is another program." },
    { "compile", "Shapes", "Types and shapes of the program's arguments, as the HLO in the profile has them." },
    { "memory", "Peak|Of capacity|Peak at",
      "Most bytes in use inside the profile, of what the allocator may hand out." },
    { "memory", "Lifetime peak", "The most since the program began, as the allocator tells it." },
    { "memory", "Fragmentation", "Share of the free memory that lies outside of the largest free block." },
    { "memory", "Buffers|1st quarter|2nd quarter|3rd quarter|4th quarter|Largest",
      "Buffers that were allocated inside the profile and not freed in it; their bytes by the quarter of the "
      "host's allocation events in which they were taken." },
    { "memory", "Frees|Allocated in all|Small allocations",
      "Buffers given back; bytes of all allocations together; and how many of them were small: below the limit in "
      "the summary." },
    { "memory", "Allocations a second|Allocated a second",
      "Per second of the time between the allocator's first and last event." },
    { "memory", "Held by", "The innermost frame of the user's own code that allocated it." },
    { "memory", "Held in all|Buffers and programs",
      "What was held when the device memory profile was taken: data buffers and compiled programs (executable)." },
    { "memory", "Called there", "The frame that the user's code called." },
    { "environment", "Rank|Ranks in the job", "Number of this process in the job, and how many there are." },
    { "environment", "Used", "Devices with activity." },
    { "environment", "Peak TFLOP/s|Memory bandwidth", "As the profile records it of the device." },
    { "coverage", "Events in figures",
      "The others are of kinds that figures do not use, or were left out: see the table of losses." },
    { "coverage", "Mark", "The letter that stands beside the figures and headings that are touched." },
    { "coverage", "Name|Level",
      "What was left out or repaired while reading, as summary.json names it; a loss may make figures smaller, a note "
      "does not." },
    { "coverage", "Kind of event", "What an event was taken for, by its line and its name." },
    { "coverage", "XXH3", "A fingerprint of the file's bytes: two files with the same one are the same." },
    /* Of a comparison. */
    { "ops|kernels|scopes|collectives|transfers|gaps|compile|devices|figures", "Change|In percent",
      "New minus base, and its share of the base." },
    { "ops|kernels|scopes|collectives|transfers|gaps|compile", "Became",
      "New and gone rows are on one side alone; slower and faster ones changed by more than noise explains, as far as "
      "it is "
      "known; what cannot be told from noise says so." },
    { "ops|kernels|scopes|collectives|transfers|gaps|compile", "By their number|By their length",
      "The change of a row in two parts that add up: more or fewer executions as long as before, and executions that "
      "are "
      "longer or shorter than before." },
    { "ops|kernels|scopes|collectives|transfers|gaps|compile", "How often|Bytes per step",
      "Executions, and their bytes, in a step of one device." },
    { "ops|kernels|scopes|collectives|transfers|gaps|compile|devices", "p",
      "How often a change at least as large comes by chance where nothing changed." },
    { "change", "Samples", "Steps with a length, of all runs of the side." },
    { "change", "Median|Mean|95th percentile|Shortest|Longest",
      "Of the step times of the analyzed steps; of several runs the mean of what each has." },
    { "change", "Standard deviation|Variation", "Of all steps of the side, and its share of their mean." },
    { "change", "Between runs", "How far the medians of the runs spread, as a share of their mean." },
    { "change", "Measured by the benchmark", "The time that a result of the benchmark (--results) has for the run." },
    { "waterfall", "Before|After", "Mean time of that part in a step of one device." },
    { "waterfall", "Of the step", "The change as a share of the whole step of the base." },
    { "waterfall|devices", "Told from noise",
      "Whether a change of that size is more than chance explains; empty: not tested." },
    { "waterfall", "p", "How often a change at least as large comes by chance where nothing changed." },
    { "figures", "Judgement",
      "Whether the change is for the better; a change that cannot be told from noise is neither." },
    { "devices", "Computing", "Time of a step in which the device computes." },
    /* Of a comparison and of a scaling study. */
    { "runs", "Median step|Variation",
      "Of the analyzed steps: their median, and their standard deviation as a share of their mean." },
    { "runs", "Measured", "The time that a result of the benchmark (--results) has for the run." },
    { "runs", "Damaged", "The input is cut short or damaged; the figures are of what could be read." },
    { "runs", "Read from", "The profile itself, or a summary.json that was made of it." },
    { "runs", "Fingerprint", "Of the contents of all files: two runs with the same one are the same." },
    /* Of a scaling study. */
    { "speedup", "Step", "The median of the analyzed steps; of several runs the mean of their medians." },
    { "speedup", "Speed-up",
      "The step of the first point over that of this one; of weak scaling times the multiple of the devices, since "
      "each step "
      "does so many times the work." },
    { "speedup", "From|To|Step from|Step to",
      "95 % interval: of points with one run by resampling their steps, of points with several by the spread between "
      "these." },
    { "speedup|step|fit", "Efficiency",
      "The speed-up as a share of the ideal one, which is the multiple of the devices." },
    { "speedup", "Communication|Idle",
      "Share of a step in which a collective runs and nothing computes; in which nothing runs." },
    { "speedup|exchange", "Imbalance", "How much longer than the mean the device computes that computes longest." },
    { "speedup", "Variation|Standard deviation",
      "Of the steps of a point with one run; of several runs between their medians." },
    { "speedup", "Measured|Speed-up measured", "The time that a result of the benchmark has, and its speed-up." },
    { "step", "Computing|Exposed collectives|Exposed copies|Idle|All of it",
      "Mean of a step of one device: every moment of it is of one part, so the parts add up." },
    { "step", "Total compute time",
      "The sum over the devices. It stays where the same work is shared; it grows with the devices where the work "
      "does, or "
      "where they repeat it." },
    { "step", "Lost to collectives|Lost to idle time|Lost to compute|Lost to copies",
      "What the part takes of the step beyond its share at the first point, made as short as the step ideally is." },
    { "step", "Share of collectives grew|Share of idle time grew|Share of compute grew|Share of copies grew",
      "Its share of the step minus that at the first point." },
    { "exchange", "Collectives|Exposed|Overlap",
      "Time in which a collective runs; in which nothing computes beside it; and the share of the collectives' time "
      "that has "
      "computing beside it." },
    { "exchange", "Bytes", "What a device's collectives of a step move." },
    { "exchange", "Spread of a step", "Between the longest and the shortest step of the devices, in the median step." },
    { "fit", "Serial share",
      "The share of a step on one device that more devices do not make shorter, by least squares." },
    { "fit", "From|To", "95 % interval of the serial share, by what the law leaves unexplained." },
    { "fit", "Off the measured steps", "How far the fitted steps are off, as a root mean square of shares." },
    { "fit", "Speed-up at most", "Against the first point, with any number of devices." },
    /* Of a check. */
    { "gates", "Not known|Skipped",
      "Gates whose figure the run does not have, or which need a baseline with more steps; and gates that do not "
      "apply." },
    { "gates", "Rule|Limit", "What the gate file asks for, and the limit as it is written there." },
    { "gates", "Found at", "Which element was taken where the path leaves it open." },
    { "gates", "Baseline", "The figure of the run that is compared with; of several their median." },
    { "gates", "Noise", "A smaller change is within noise." },
    /* Of a night. */
    { "changes", "Before|Now|Change",
      "The figure of the newest run of the night, and the median of the seven good runs of the job before it." },
    { "changes|jobs", "Usual",
      "A smaller change is not told: it is within what the figure asks for, three times the spread of the runs before, "
      "or three times "
      "the spread of their steps from one to the next." },
    { "changes", "Runs before", "Good runs that the newest one is held against: three to seven." },
    { "jobs", "State",
      "How the newest run of the night stands beside the runs before it; missing: the job ran on four or more of the "
      "seven nights "
      "before, and not in this one." },
    { "jobs", "Step time before|Change", "The median of the seven good runs before, and the change against it." },
    { "jobs", "Runs", "In the history." },
    { "trends", "Level before|Level after",
      "Medians of the runs on both sides of the change, up to the changes next to it." },
    { "trends", "Direction", "Whether the new level is worse or better." },
    { "trends", "Night|First run", "Of the first run of the new level." },
    { "trends", "Revision", "Of the source, in the first run of the new level; and in the last one of the old." },
    { "gates", "p", "How often a change at least as large comes by chance where nothing changed." },
};
const size_t tm_term_count = sizeof(tm_terms) / sizeof(tm_terms[0]);
static_assert(sizeof(tm_terms) / sizeof(tm_terms[0]) <= TM_TERMS_MOST, "the report shows all of them");

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

bool tm_term_is_of(const struct tm_term *term, const char *section)
{
    return is_one_of(term->section, section);
}

static int find_label(const char *section, const char *label)
{
    for (size_t i = 0; i < tm_term_count; i++)
        if (tm_term_is_of(&tm_terms[i], section) && is_one_of(tm_terms[i].labels, label))
            return (int)i;
    return -1;
}

int tm_term_find(const char *section, const char *label)
{
    enum { LABEL_BYTES = 64 };
    const int found = find_label(section, label);
    const char *rest = NULL;
    char text[LABEL_BYTES];

    for (const char *at = label; found < 0 && (at = strstr(at, ", ")); at += 2)
        rest = at + 2;
    if (!rest || !*rest || strlen(rest) >= sizeof(text))
        return found;
    (void)snprintf(text, sizeof(text), "%c%s", toupper((unsigned char)rest[0]), rest + 1);
    return find_label(section, text);
}
