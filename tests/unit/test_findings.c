/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/findings/findings.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "pipeline/store/bounded_sum.h"
#include "reports/findings/summary_query.h"
#include "tests/support/judged.h"
#include "tests/support/summary_json.h"
#include "tests/support/test_run.h"

#define LONG_GAP(cause)                                                                                                \
    "'longest': [{'device': 'vm/gpu:1', 'begin_ps': 30000000000, 'dur_ps': 2000000000, 'before': "                     \
    "'fusion',"                                                                                                        \
    " 'after': 'gemm_a', 'step': 4, 'cause': '" cause "', 'host_event': 'what_the_host_did',"                          \
    " 'parts': {'" cause "': 2000000000}}]"
#define IDLE(cause, ps)                                                                                                \
    "{'gaps': {'by_cause': {'" cause "': {'count': 40, 'total_ps': " ps "}}, " LONG_GAP(cause) "}"                     \
                                                                                               "}"
#define COPIES(direction, exposed)                                                                                     \
    "{'total': {'exposed_by_direction_ps': {'" direction "': " exposed "}}, 'transfers': {'by_direction':"             \
    " [{'direction': '" direction "', 'count': 20, 'bytes': 2147483648, 'total_ps': 50000000000,"                      \
    " 'exposed_ps': " exposed ", 'mean_bandwidth': 12000000000}]}}"
#define ALLOCATOR(fields) "{'memory': {'allocators': [{'name': 'GPU_0_bfc', 'host': 'vm', " fields "}]}}"
#define KEPT(count, quarters)                                                                                          \
    "'kept': {'count': " count ", 'quarters_bytes': [" quarters "], 'op': 'dot', 'largest_bytes': 1024}"
#define COLLECTIVES(fields)                                                                                            \
    "{'steps': {'chosen': 30}, 'devices': [{'id': 'a'}, {'id': 'b'}], 'collectives': {" fields "}}"
#define EXPOSED(fields)                                                                                                \
    "{'total': {'exposed_collective_ps': 30000000000, 'collective_ps': 40000000000}, 'collectives': {" fields "}}"
#define STRAGGLER_FIELDS(late, others)                                                                                 \
    "'devices': [{'id': 'a'}, {'id': 'b', 'exposed_collective_ps': 40000000000}], 'collectives': {'skew': "            \
    "{'straggler': 'a', 'members': [{'device': 'a', 'count': 80, 'last_count': 60, 'late_ps': " late ", "              \
    "'caused_ps': " late ", 'caused_pct': 77.1, 'alone_ps': 12000000000, 'collective_ps': 1000000000}, "               \
    "{'device': 'b', 'count': 80, 'last_count': 20, 'late_ps': " others ", 'caused_ps': " others ", "                  \
    "'caused_pct': 22.9, 'collective_ps': 70000000000}], 'worst': [{'kind': 'all-reduce', 'name': 'psum', "            \
    "'step': 7, 'ordinal': 2, "                                                                                        \
    "'skew_ps': 2000000000, 'last': 'a', 'begin_ps': 5000000000, 'first': 'b'}]}}"
#define SPLIT(wait, move, unmatched)                                                                                   \
    "'total': {'exposed_collective_ps': 50000000000, 'exposed_wait_ps': " wait ", 'exposed_move_ps': " move ", "       \
    "'exposed_unmatched_ps': " unmatched "}, "
#define STRAGGLER(late, others) "{" SPLIT("30000000000", "0", "0") STRAGGLER_FIELDS(late, others) "}"

/* An operation with its self time and its share of its roof; a change of the healthy run that has operations. */
#define OP(name, self, bound, roof)                                                                                    \
    "{'name': '" name "', 'longest': '" name "', 'members': 1, 'counts_as_one': true, 'module': 'jit_f', 'op': "       \
    "'jit(f)/mlp/dot', 'source': 'model.py:12', 'category': "                                                          \
    "'elementwise fusion', 'executions': 100, 'self_ps': " self ", 'mean_ps': 300000000, 'bound': '" bound             \
    "', 'roof_pct': " roof ", 'bandwidth': 500000000000, 'flop_rate': 90000000000000, 'first': {'device': "            \
    "'vm/gpu:1', 'begin_ps': 30000000000, 'dur_ps': 1000000}}"
/* The same where it is far from its roof: one of the first family. */
#define FAR(self, bound, roof)                                                                                         \
    "{'name': 'fusion.1', 'family': 0, 'category': 'elementwise fusion', 'self_ps': " self ", 'mean_ps': 300000000, "  \
    "'bound': '" bound "', 'roof_pct': " roof "}"
#define FAMILY(self, roof)                                                                                             \
    "{'name': 'dot.1', 'family': 'dot', 'longest': 'dot.1', 'members': 12, 'counts_as_one': true, 'executions': 100, " \
    "'self_ps': " self ", 'mean_ps': 300000000, 'bound': 'memory', 'roof_pct': " roof "}"
#define OPS(roofline, rows) "{" roofline ", 'ops': {'basis': 'hlo_op', 'families': [" rows "], 'rows': [" rows "]}}"

#define SHORT(count, pauses, busy)                                                                                     \
    "{'total': {'busy_ps': " busy "}, 'gaps': {'by_cause': {'device_wait': {'count': 12000, "                          \
    "'total_ps': " pauses "}}, 'pauses': {'below_ps': 10000000, 'count': 12000, 'total_ps': " pauses "}}, "            \
    "'kernels': {'count': " count "}, 'fusion': {'kernels': {'count': " count "}, 'per_step': "                        \
    "1000, 'small': {'below_ps': 100000000, 'count': 19000, 'total_ps': 80000000000, 'share_pct': "                    \
    "80}, 'runs': {'gap_below_ps': 10000000, 'count': 700, 'kernels': 18000, 'kernel_ps': "                            \
    "70000000000, 'gap_ps': 1, 'longest': [{'device': 'vm/gpu:0', 'begin_ps': 1000, 'dur_ps': "                        \
    "900000000, 'kernels': 80, 'step': 3, 'names': ['add']}]}}}"
#define PROGRAMS(per_step, pauses)                                                                                     \
    "{'gaps': {'by_cause': {'host': {'count': 400, 'total_ps': " pauses                                                \
    "}}}, 'programs': {'count': 400, 'per_step': " per_step ", 'operations': 600, 'operation_ps': "                    \
    "6000000000, 'pauses': {'count': 380, 'total_ps': " pauses ", 'longest': [{'device': "                             \
    "'vm/gpu:0', 'begin_ps': 1000, 'dur_ps': 95000000, 'step': 3, 'before': 'jit_add', "                               \
    "'after': 'jit_tanh'}]}}}"
#define REPEATED(utilization, mean, count, steps)                                                                      \
    "{'total': {'utilization_pct': " utilization "}, 'fusion': {'tiny': {'below_ps': 10000000}, "                      \
    "'runs': {'launch_ps': 5000000}, 'repeated': [{'name': 'mask', 'op': 'jit(f)/mask', "                              \
    "'per_step': 20, 'steps': " steps ", 'count': " count ", 'mean_ps': " mean ", 'total_ps': "                        \
    "8000000000}]}}"
#define LOW(category, limiter, occupancy)                                                                              \
    "{'occupancy': {'mean_pct': 60, 'low': [{'name': 'slow', 'op': 'jit(f)/sum', 'category': '" category               \
    "', 'limiter': '" limiter "', 'occupancy_pct': " occupancy ", 'block': '256,1,1', "                                \
    "'registers': 90, 'shared_bytes': 0, 'total_ps': 40000000000, 'share_pct': 20}]}}"
#define TAIL(waves, pct, lost, idle)                                                                                   \
    "{'occupancy': {'tail': {'idle_multiprocessors_ps': " idle ", 'rows': [{'name': 'k', 'grid': "                     \
    "'9,1,1', 'waves': " waves ", 'tail_pct': " pct ", 'lost_ps': " lost ", 'total_ps': "                              \
    "20000000000}]}}}"

#define CLOCKS(aligned, difference)                                                                                    \
    "{'collectives': {'skew': {'clock': {'aligned': " aligned ", 'list': [{'host': 'a', 'method': 'reference',"        \
    " 'difference_ps': null}, {'host': 'b', 'method': 'collectives', 'difference_ps': " difference "}]}}}}"
#define EMPTY_STEPS(platform, source, span)                                                                            \
    "{'environment': {'platform': '" platform "'}, 'steps': {'source': '" source "', 'list': ["                        \
    "{'number': 5, 'chosen': false, 'device_span_ps': null}, {'number': 6, 'chosen': true, "                           \
    "'device_span_ps': 900}, {'number': 7, 'host': 'vm', 'chosen': true, 'begin_ps': 70000000, "                       \
    "'host_span_ps': 3000000, 'device_span_ps': " span "}]}}"

#define LAYER(number, ps)                                                                                              \
    "{'layer': 'layer_" number "', 'path': 'step/layer_" number "', 'family': 'step/layer_', "                         \
    "'count': 50, 'forward_ps': " ps ", 'backward_ps': 0, 'other_ps': 0, 'total_ps': " ps "}"
#define LAYERS(a, b, c, d)                                                                                             \
    "{'scopes': {'layers': [" LAYER("0", a) ", " LAYER("1", b) ", " LAYER("2", c) ", " LAYER("3", d) "]}}"
#define SHARING(ps)                                                                                                    \
    "{'sharding': {'self_ps': 80000000000, 'repeated_ps': " ps ", 'repeated_pct': 25.0, 'ops': [{'name': 'add.1', "    \
    "'op': 'jit(step)/update/add', 'copies': 4, 'devices': 8, 'self_ps': 30000000000, 'repeated_ps': " ps "}, "        \
    "{'name': 'dot.2', 'op': null, 'copies': 1, 'devices': 8, 'self_ps': 50000000000, 'repeated_ps': 0}]}}"
#define RECOMPUTED(ps, memory)                                                                                         \
    "{'scopes': {'recomputed': {'count': 30, 'self_ps': " ps                                                           \
    "}, 'passes': {'backward': 80000000000}}, 'memory': " memory "}"

/* A change of the healthy run, and the finding that it must give; the window is 200 ms. */
struct rule {
    const char *patch;
    const char *id; /* NULL: no finding at all */
    const char *severity;
    int64_t at_stake_ps;
    const char *evidence; /* part of one of the texts */
};

/* clang-format off */
static const struct rule rules[] = {
    { "{}", NULL, NULL, 0, NULL },

    /* idle time by cause: from 3 % a warning, from 10 % bad */
    { IDLE("input", "5990000000"), NULL, NULL, 0, NULL },
    { IDLE("input", "6000000000"), "idle_input", "warning", 6000000000, "6.00 ms of 200 ms" },
    { IDLE("input", "6000000000"), "idle_input", "warning", 6000000000, "in step 4" },
    { IDLE("input", "6000000000"), "idle_input", "warning", 6000000000, "what_the_host_did" },
    { IDLE("input", "19990000000"), "idle_input", "warning", 19990000000, "on gpu:1" },
    { IDLE("input", "20000000000"), "idle_input", "critical", 20000000000, "gemm_a" },
    { IDLE("input", "900000000000"), "idle_input", "critical", 200000000000, "100.0%" },
    { IDLE("sync", "30000000000"), "idle_sync", "critical", 30000000000, "15.0%" },
    { IDLE("compile", "30000000000"), "idle_compile", "critical", 30000000000, "15.0%" },
    { IDLE("launch", "30000000000"), "idle_launch", "critical", 30000000000, "15.0%" },
    { IDLE("gc", "30000000000"), "idle_gc", "critical", 30000000000, "15.0%" },
    { IDLE("profiler", "30000000000"), "idle_profiler", "warning", 0, "15.0%" }, /* no loss without a profile */
    { IDLE("profiler", "10000000000"), "idle_profiler", "info", 0, "5.0%" },
    { IDLE("host", "30000000000"), "idle_host", "critical", 30000000000, "15.0%" },
    { IDLE("unrecorded", "30000000000"), "idle_unrecorded", "critical", 30000000000, "15.0%" },
    { IDLE("device_wait", "19990000000"), NULL, NULL, 0, NULL },
    { IDLE("device_wait", "30000000000"), "idle_device_wait", "info", 0, "15.0%" },
    { "{'devices': [{'id': 'vm/gpu:0', 'busy_ps': 1, 'span_ps': 100000000000, 'lead_ps': 1000000000, 'trail_ps': "
      "9000000000}, {'id': 'vm/gpu:1', 'busy_ps': 1, 'span_ps': 100000000000}]}",
      "idle_edges", "info", 0, "idle for 1.00 ms before its first and 9.00 ms after its last activity" },
    { "{'devices': [{'id': 'vm/gpu:0', 'busy_ps': 1, 'span_ps': 100000000000, 'lead_ps': 50000000000}, {'id': "
      "'vm/gpu:1', 'busy_ps': 1, 'span_ps': 100000000000, 'lead_ps': 41000000000}]}",
      NULL, NULL, 0, NULL }, /* both alike */

    { "{'window': {'total_ps': 50000000}, 'gaps': {'by_cause': {'gc': {'count': 1, 'total_ps': "
      "9999999}, 'device_wait': null, 'launch': null, 'input': null, 'sync': null, 'host': null, "
      "'unrecorded': null, 'profiler': null}}, 'total': null, 'kernels': null, 'transfers': null, "
      "'devices': [{'id': 'a'}]}",
      NULL, NULL, 0, NULL }, /* 20 %, but under 10 us */

    /* copies */
    { COPIES("h2d", "5990000000"), NULL, NULL, 0, NULL },
    { COPIES("h2d", "30000000000"), "transfer_h2d", "critical", 30000000000, "2.00 GiB, 102 MiB each" },
    { COPIES("d2h", "10000000000"), "transfer_d2h", "warning", 10000000000, "12.0 GB/s" },
    { COPIES("p2p", "10000000000"), "transfer_p2p", "warning", 10000000000, "20 copies take 50.0 ms" },
    { COPIES("d2d", "10000000000"), "transfer_d2d", "warning", 10000000000, "10.0 ms of 200 ms of device time (5.0%)" },
    { COPIES("other", "10000000000"), "transfer_other", "warning", 10000000000, "20 copies" },
    { "{'total': {'exposed_by_direction_ps': {'h2d': 30000000000}}, 'transfers': {'by_direction': "
      "[{'direction': 'h2d', 'count': 20, 'bytes': null, 'total_ps': 1}]}}",
      "transfer_h2d", "critical", 30000000000, "sizes are not recorded" },
    { "{'total': {'exposed_by_direction_ps': {'h2d': 30000000000}}, 'transfers': null}", "transfer_h2d", "critical",
      30000000000, "30.0 ms of 200 ms" },
    { "{'total': {'exposed_by_direction_ps': null}, 'transfers': {'by_direction': [{'direction': "
      "'h2d', 'exposed_ps': 30000000000}]}}",
      "transfer_h2d", "critical", 30000000000, "30.0 ms of 200 ms" },

    /* kernels */
    { "{'kernels': {'by_name': [{'name': 'big', 'count': 100, 'total_ps': 93000000000}, {'name': "
      "'other', 'count': 1, 'total_ps': 40000000000}]}}",
      "kernel_dominant", "info", 0, "'big' takes 93.0 ms of 186 ms of all kernels" },
    { "{'kernels': {'by_name': [{'name': 'ncclAllReduce', 'count': 100, 'total_ps': 93000000000}, {'name': "
      "'other', 'count': 1, 'total_ps': 40000000000}], 'rows': [{'name': 'ncclAllReduce', 'class': 'collective', 'op': "
      "'psum'}]}}", NULL, NULL, 0, NULL }, /* told where it belongs */
    { "{'kernels': {'by_name': [{'name': 'only one', 'count': 9, 'total_ps': 186000000000}]}}", NULL, NULL, 0,
      NULL },
    { SHORT("100", "30000000000", "70000000000"), "kernel_short", "critical", 30000000000,
      "19,000 of 100 kernels are shorter than 100" },
    { SHORT("20000", "30000000000", "70000000000"), "kernel_short", "critical", 30000000000,
      "12,000 pauses between kernels, 2.50" },
    { SHORT("20000", "30000000000", "70000000000"), "kernel_short", "critical", 30000000000, "Sequence of 80 kernels over 900" },
    { SHORT("20000", "18000000000", "100000000000"), "kernel_short", "warning", 18000000000,
      "15.3% of kernel time and pauses. Up to 10.0% is normal" },
    { SHORT("20000", "18000000000", "170000000000"), NULL, NULL, 0, NULL }, /* 9.6 %: as in every run */
    { SHORT("99", "19000000000", "70000000000"), NULL, NULL, 0, NULL },
    { "{'environment': {'platform': 'cpu'}, 'fusion': null, 'total': {'busy_ps': 70000000000}, 'kernels': {'count': "
      "9000, 'total_ps': 36000000000}, 'gaps': {'by_cause': {'device_wait': {'total_ps': 30000000000}}, 'pauses': "
      "{'below_ps': 10000000, 'count': 8000, 'total_ps': 30000000000}}, 'ops': {'basis': 'hlo_op', 'rows': [{'name': 'add.1', 'count': "
      "900, 'mean_ps': 4000000, 'self_ps': 3600000000}]}}",
      "op_short", "critical", 30000000000, "'add.1': 900 times, 4.00" },

    /* chains of eager kernels */
    { "{'fusion': {'eager_chains': {'count': 50, 'kernels': 300, 'total_ps': 60000000000, 'saved_ps': 40000000000, "
      "'share_pct': 40}}, 'ops': {'rows': [{'name': 'void at::native::unrolled_elementwise_kernel<at::native::(anonymous "
      "namespace)::silu_kernel(at::TensorIteratorBase&)>(int)', 'count': 34, 'mean_ps': 4000000}]}}",
      "elementwise_unfused", "critical", 40000000000, "'silu_kernel': 34 times" },
    { "{'fusion': {'eager_chains': {'count': 50, 'saved_ps': 5990000000}}}", NULL, NULL, 0, NULL },

    /* programs */
    { PROGRAMS("10", "20000000000"), "eager_dispatch", "critical", 20000000000, "with 1.5 operations each, 10.0" },
    { PROGRAMS("17", "6000000000"), "eager_dispatch", "warning", 6000000000, "between 'jit_add' and 'jit_tanh'" },
    { PROGRAMS("17", "5990000000"), NULL, NULL, 0, NULL },
    { PROGRAMS("9.9", "20000000000"), "idle_host", "critical", 20000000000, "" }, /* not many programs */

    /* what could be fused or is computed again */
    { REPEATED("50", "4000000", "2000", "0"), "op_repeated", "info", 0, "20 times per step" },
    { REPEATED("50", "4000000", "2000", "803"), NULL, NULL, 0, NULL }, /* 5.985 ms: the first of a step has to be */
    { REPEATED("50", "10000000", "2000", "0"), NULL, NULL, 0, NULL },  /* not that small */
    { REPEATED("81", "4000000", "2000", "0"), NULL, NULL, 0, NULL },   /* the queue hides it */
    { "{'fusion': {'attention_unfused': {'count': 48, 'total_ps': 6000000000, 'rows': [{'op': 'jit(f)/softmax', "
      "'count': 48, 'total_ps': 6000000000}]}}}",
      "attention_unfused", "warning", 6000000000, "48 times, a softmax runs between two batched matmuls" },
    { "{'fusion': {'attention_unfused': {'count': 48, 'total_ps': 5990000000}}}", NULL, NULL, 0, NULL },
    { "{'fusion': {'layout_copies': {'count': 48, 'total_ps': 6000000000, 'share_pct': 3, 'rows': [{'name': "
      "'input_transpose_fusion', 'count': 48, 'total_ps': 6000000000}]}}}",
      "layout_copies", "warning", 6000000000, "'input_transpose_fusion': 48 times, 6.00 ms" },
    { "{'fusion': {'layout_copies': {'count': 48, 'total_ps': 6000000000, 'share_pct': 2.9}}}", NULL, NULL, 0, NULL },

    /* precision and occupancy */
    { "{'fusion': {'kernels': {'total_ps': 100000000000}, 'matrix': {'f32': {'count': 9, 'total_ps': 40000000000, "
      "'rows': [{'name': 'sgemm', 'op': null, 'count': 9, 'total_ps': 40000000000}]}}}}",
      "precision_f32", "critical", 20000000000, "40.0 ms, 40.0% of the kernel time" },
    { "{'fusion': {'matrix': {'f32': {'count': 9, 'total_ps': 11980000000}}}}", NULL, NULL, 0, NULL },
    { LOW("reduction", "registers", "25"), "occupancy_low", "critical", 20000000000,
      "limited by registers (block 256,1,1" },
    { LOW("reduction", "unknown", "40"), "occupancy_low", "warning", 8000000000, "'slow' of jit(f)/sum" },
    { LOW("reduction", "unknown", "43"), NULL, NULL, 0, NULL },
    { LOW("gemm/dot", "registers", "25"), NULL, NULL, 0, NULL },
    { LOW("reduction", "grid", "25"), NULL, NULL, 0, NULL },
    { TAIL("1.1", "45", "6000000000", "0"), "occupancy_tail", "warning", 6000000000,
      "1.10 waves (grid 9,1,1)" },
    { TAIL("5.1", "19.9", "6000000000", "0"), NULL, NULL, 0, NULL },
    { TAIL("0.1", "90", "6000000000", "0"), NULL, NULL, 0, NULL },
    { TAIL("0.1", "90", "6000000000", "20000000000"), "occupancy_small_grid", "critical", 20000000000, "0.10 waves" },

    /* operations: compute_ps of the healthy run is the sum that shares are of */
    { OPS("'roofline': {'compute_ps': 100000000000}", OP("fusion.1", "50000000000", "unknown", "null") ", "
          OP("fusion.2", "30000000000", "unknown", "null")),
      "op_dominant", "critical", 37200000000, "'fusion.1' takes 50.0 ms of 100 ms" },
    { OPS("'roofline': {'compute_ps': 100000000000}", OP("fusion.1", "50000000000", "unknown", "null") ", "
          OP("fusion.2", "30000000000", "unknown", "null")),
      "op_dominant", "critical", 37200000000, "Source: model.py:12, jit(f)/mlp/dot." },
    { OPS("'roofline': {'compute_ps': 100000000000}", OP("fusion.1", "50000000000", "unknown", "null") ", "
          OP("fusion.2", "30000000000", "unknown", "null")),
      "op_dominant", "critical", 37200000000, "50 ms or more: 1; of 10 ms or more: 2" },
    /* near its roof nothing is known to be won; on the way to it what it lacks of 80 % */
    { OPS("'roofline': {'compute_ps': 100000000000}", OP("fusion.1", "40000000000", "memory", "70") ", "
          OP("fusion.2", "30000000000", "unknown", "null")),
      "op_dominant", "info", 0, "reaches 70.0% of its roofline" },
    { OPS("'roofline': {'compute_ps': 100000000000}", OP("fusion.1", "50000000000", "memory", "60") ", "
          OP("fusion.2", "30000000000", "unknown", "null")),
      "op_dominant", "warning", 12500000000, "reaches 60.0% of its roofline" },
    /* a wait is no work, and one operation alone is the whole run */
    /* a family is what the model does: only far from its roof it is a finding */
    { OPS("'roofline': {'compute_ps': 100000000000}", FAMILY("60000000000", "34") ", "
          OP("fusion.2", "30000000000", "unknown", "null")), NULL, NULL, 0, NULL },
    { OPS("'roofline': {'compute_ps': 100000000000}", FAMILY("60000000000", "20") ", "
          OP("fusion.2", "30000000000", "unknown", "null")),
      "op_dominant", "critical", 45000000000, "'dot' takes 60.0 ms" },
    { OPS("'roofline': {'compute_ps': 100000000000}", OP("copy-done.1", "90000000000", "none", "null") ", "
          OP("fusion.2", "20000000000", "unknown", "null")), NULL, NULL, 0, NULL },
    { OPS("'roofline': {'compute_ps': 100000000000}", OP("fusion.1", "100000000000", "unknown", "null")), NULL, NULL, 0,
      NULL },
    /* far from its roof: what would be saved at 80 % of it */
    { OPS("'roofline': {'compute_ps': 500000000000, 'far': [" OP("fusion.3", "40000000000", "memory", "20") "]}",
          OP("fusion.4", "1", "unknown", "null")),
      "op_memory_far", "critical", 30000000000, "40.0 ms at 500 GB/s, 20.0% of its roofline" },
    { OPS("'roofline': {'compute_ps': 500000000000, 'far': [" OP("fusion.3", "8000000000", "compute", "20") "]}",
          OP("fusion.4", "1", "unknown", "null")),
      "op_compute_far", "warning", 6000000000, "8.00 ms at 90.0 TFLOP/s" },
    { OPS("'roofline': {'compute_ps': 500000000000, 'far': [" OP("fusion.3", "40000000000", "memory", "26") ", "
          OP("fusion.5", "40000000000", "memory", "1.9") "]}", OP("fusion.4", "1", "unknown", "null")),
      NULL, NULL, 0, NULL },
    /* the dominant one is told of once, with what it could save */
    { OPS("'roofline': {'compute_ps': 100000000000, 'far': [" FAR("60000000000", "memory", "10") "]}",
          OP("fusion.1", "60000000000", "memory", "10") ", " OP("fusion.2", "30000000000", "unknown", "null")),
      "op_dominant", "critical", 52500000000, "reaches 10.0% of its roofline" },
    /* near the roof of the memory: fewer bytes, not a better kernel */
    { OPS("'roofline': {'compute_ps': 400000000000, 'bytes': 1000, 'flops': 2000, 'devices': [{'peak_flops': 100, "
          "'peak_bandwidth': 10, 'peak_precision': 'bf16'}]}",
          OP("fusion.1", "110000000000", "memory", "90") ", " OP("fusion.2", "100000000000", "memory", "40")),
      "low_intensity", "info", 0, "2 FLOP/B; above 10 FLOP/B" },

    /* compiles */
    { "{'compile': {'count': 3, 'inside_steps': {'count': 1, 'total_ps': 1000000000}, 'events': "
      "[{'module': 'jit_step', 'host': 'vm', 'begin_ps': 40000000000, 'dur_ps': 1000000000, "
      "'step': 5}]}}",
      "compile_in_steps", "warning", 0, "'jit_step' for 1.00 ms at 0.040000000 s in step 5" },
    { "{'compile': {'count': 30, 'inside_steps': {'count': 20, 'total_ps': 60000000000}, "
      "'recompiled': [{'module': 'jit_step', 'count': 21}]}, 'gaps': {'by_cause': {'compile': "
      "{'count': 20, 'total_ps': 50000000000}}}}",
      "compile_in_steps", "critical", 50000000000, "'jit_step' is compiled 21 times" },
    { "{'compile': {'count': 4, 'recompiled': [{'module': 'jit_f', 'count': 3}]}}", "compile_again", "info",
      0, "2 compiles are of a module that was compiled before" },
    { "{'compile': {'count': 4, 'recompiled': [{'module': 'f', 'count': 4}], 'events': [{'module': 'f', 'shapes': "
      "'f32[8], f32[8,128]'}, {'module': 'g', 'shapes': 's8[]'}, {'module': 'f', 'shapes': 'f32[8], f32[9,128]'}, "
      "{'module': 'f', 'shapes': null}, {'module': 'f', 'shapes': 'f32[8], f32[10,128]'}]}}",
      "compile_again", "info", 0, "'f' is compiled 4 times: f32[8,128] -> f32[9,128] -> f32[10,128]." },
    { "{'compile': {'count': 4, 'recompiled': [{'module': 'f', 'count': 4}], 'events': [{'module': 'f', 'shapes': "
      "'(f32[8], s32[]), s8[1]'}, {'module': 'f', 'shapes': '(f32[9], s32[]), s8[2]'}]}}",
      "compile_again", "info", 0, "4 times: (f32[8], s32[]) -> (f32[9], s32[]) (and 1 more argument)." },
    { "{'compile': {'count': 4, 'recompiled': [{'module': 'f', 'count': 4}], 'events': [{'module': 'f', 'shapes': "
      "'f32[8]'}, {'module': 'f', 'shapes': 'f32[8]'}]}}",
      "compile_again", "info", 0, "4 times: always for the same shapes" },
    { "{'compile': {'count': 4, 'recompiled': [{'module': 'f', 'count': 4}], 'events': [{'module': 'f', 'shapes': "
      "'f32[8]'}, {'module': 'f', 'shapes': 'f32[8], f32[8]'}]}}",
      "compile_again", "info", 0, "4 times: with a different number of arguments" },
    { "{'compile': {'count': 4, 'recompiled': [{'module': 'jit_f', 'count': 2}]}}", NULL, NULL, 0, NULL },
    { "{'compile': {'total_ps': 10000000000000}}", NULL, NULL, 0, NULL },
    { "{'compile': {'total_ps': 10000000000001}}", "compile_long", "warning", 0, "10.0 s in total" },

    /* memory */
    { ALLOCATOR("'peak_pct': 79.9"), NULL, NULL, 0, NULL },
    { ALLOCATOR("'peak_pct': 85, 'peak_bytes': 1073741824, 'capacity_bytes': 2147483648, 'peak_at_ps': 5"),
      "memory_near_limit", "info", 0, "1.00 GiB of 2.00 GiB" },
    { ALLOCATOR("'peak_pct': 95, 'holders': [{'op': 'dot', 'shape': 'f32[9]', 'bytes': 1048576}]"),
      "memory_near_limit", "warning", 0, "1.00 MiB are held by dot, f32[9]" },
    { ALLOCATOR("'peak_pct': 79, 'spike_count': 1, 'spikes': [{'begin_ps': 7, 'rise_bytes': 1073741824}]"), NULL,
      NULL, 0, NULL },
    { ALLOCATOR("'peak_pct': 40, 'fragmentation_pct': 90"), NULL, NULL, 0, NULL },

    { ALLOCATOR(KEPT("40", "1048576, 1048576, 2097152, 0") ", 'capacity_bytes': 8388608000, 'peak_bytes': 4194304000"),
      "memory_growth", "warning", 0, "40 buffers allocated during the profile are not freed in it, 3.33 per" },
    { ALLOCATOR(KEPT("40", "1048576, 1048576, 2097152, 0")), "memory_growth", "info", 0,
      "By quarters of the profile: 1.00 MiB, 1.00 MiB, 2.00 MiB, 0 B." },
    { ALLOCATOR(KEPT("11", "1048576, 1048576, 2097152, 0")), NULL, NULL, 0, NULL }, /* not one in each of 12 steps */
    { ALLOCATOR(KEPT("40", "9048576, 0, 0, 0")), NULL, NULL, 0, NULL },             /* made once */
    { ALLOCATOR(KEPT("40", "0, 0, 0, 9048576")), NULL, NULL, 0, NULL },             /* alive at the end */
    { ALLOCATOR("'allocations': 2000, 'small_allocations': 1200"), "memory_allocations", "info", 0,
      "2,000 allocations, 167 per step; 1,200 of them (60.0%)" },
    { ALLOCATOR("'allocations': 2000, 'small_allocations': 1199"), NULL, NULL, 0, NULL },

    /* several devices */
    { "{'total': {'exposed_collective_ps': 30000000000, 'collective_ps': 40000000000}}",
      "collective_exposed", "critical", 30000000000, "30.0 ms of 40.0 ms" },
    { "{'total': {'exposed_collective_ps': 9990000000, 'collective_ps': 40000000000}}", NULL, NULL, 0, NULL },
    { "{'total': {'exposed_collective_ps': 10000000000, 'collective_ps': 40000000000}}", "collective_exposed", "warning",
      10000000000, "10.0 ms of 40.0 ms" },
    { EXPOSED("'rows': [{'kind': 'all-gather', 'message_bytes': 8388608, 'count': 4, 'exposed_ps': 20000000000, "
              "'mean_ps': 6000000000, 'overlap_pct': 16.7, 'bus_bandwidth': 20000000000}]"),
      "collective_exposed", "critical", 30000000000,
      "Largest row: all-gather of 8.00 MiB, 20.0 ms exposed in 4, 6.00 ms each, overlap 16.7%, bus bandwidth 20.0 GB/s." },
    { COLLECTIVES("'rows': [{'kind': 'all-reduce', 'message_bytes': 262143, 'count': 600, 'exposed_ps': 30000000000, "
                  "'total_ps': 40000000000, 'mean_ps': 66000000}]"),
      "collective_small", "info", 0, "600 collectives with messages under 256 KiB take 40.0 ms" },
    { COLLECTIVES("'rows': [{'kind': 'all-reduce', 'message_bytes': 262144, 'count': 600, 'exposed_ps': 30000000000}]"),
      NULL, NULL, 0, NULL },
    { COLLECTIVES("'rows': [{'kind': 'all-reduce', 'message_bytes': 4, 'count': 599, 'exposed_ps': 30000000000}]"),
      NULL, NULL, 0, NULL },
    { COLLECTIVES("'rows': [{'kind': 'all-reduce', 'message_bytes': 1048576, 'count': 6, 'exposed_ps': 40000000000, "
                  "'bus_bandwidth': 2500000000}]"),
      "collective_slow", "info", 0, "all-reduce of 1.00 MiB: bus bandwidth 2.50 GB/s, over 6 of them" },
    { COLLECTIVES("'rows': [{'kind': 'all-reduce', 'message_bytes': 1048576, 'count': 6, 'exposed_ps': 40000000000, "
                  "'bus_bandwidth': 10000000000}]"),
      NULL, NULL, 0, NULL },
    { STRAGGLER("30000000000", "9000000000"), "straggler", "critical", 30000000000,
      "30.0 ms of 50.0 ms of exposed collective time is waiting for late devices." },
    { STRAGGLER("30000000000", "9000000000"), "straggler", "critical", 30000000000,
      "Waiting caused by: a causes 77.1% (30.0 ms; arrives last in 60 of 80), b causes 22.9% (9.00 ms; arrives last "
      "in 20 of 80)." },
    { STRAGGLER("30000000000", "9000000000"), "straggler", "critical", 30000000000,
      "If a alone arrived together with the second-latest device, the others would wait 12.0 ms less." },
    { STRAGGLER("30000000000", "9000000000"), "straggler", "critical", 30000000000,
      "all-reduce 'psum' number 2 in step 7: a arrives 2.00 ms after b, at 0.005000000 s." },
    { "{" SPLIT("0", "0", "50000000000") STRAGGLER_FIELDS("30000000000", "9000000000") "}", "collective_exposed", "critical",
      50000000000, "" },
    { "{'total': {'exposed_collective_ps': 30000000000}, 'devices': [{'id': 'a', 'compute_ps': 90000000000, 'kernels': {'count': 900}}, {'id': "
      "'b', 'compute_ps': 60000000000, 'kernels': {'count': 600}}], 'balance': {'same_work': {'ops': 9, 'devices': "
      "[{'device': 'a', 'total_ps': 9000000000}, {'device': 'b', 'total_ps': 5000000000}], 'spread_pct': 28, "
      "'slowest': 'a'}}}",
      "slow_device", "critical", 30000000000,
      "For the 9 operations that all devices run equally often, a takes 9.00 ms, the fastest device 5.00 ms." },
    { "{'total': {'exposed_collective_ps': 30000000000}, 'devices': [{'id': 'a', 'compute_ps': 90000000000, 'kernels': {'count': 900}}, {'id': "
      "'b', 'compute_ps': 60000000000, 'kernels': {'count': 600}}], 'balance': {'ops': [{'name': 'dot', 'max_ps': "
      "9000000000, 'mean_ps': 5000000000, 'slowest': 'a', 'excess_ps': 8000000000}]}}",
      "imbalance", "critical", 30000000000, "Largest difference in 'dot': 9.00 ms on a, 5.00 ms on average." },
    { "{'total': {'exposed_collective_ps': 30000000000}, 'devices': [{'id': 'a', 'compute_ps': 90000000000, 'kernels': {'count': 900}}, {'id': "
      "'b', 'compute_ps': 60000000000, 'kernels': {'count': 600}}]}",
      "imbalance", "critical", 30000000000, "a computes for 90.0 ms, running 900 kernels" },
    { "{'total': {'exposed_collective_ps': 30000000000}, 'devices': [{'id': 'a', 'compute_ps': 90000000000, 'kernels': {'count': 900}}, {'id': "
      "'b', 'compute_ps': 60000000000, 'kernels': {'count': 900}}]}",
      "slow_device", "critical", 30000000000, "b computes for 60.0 ms" },
    { "{'devices': [{'id': 'a', 'compute_ps': 62900000000}, {'id': 'b', 'compute_ps': 57100000000}]}",
      NULL, NULL, 0, NULL },

    /* the profile itself */
    { "{'devices': [], 'window': {'total_ps': 0}, 'total': {'utilization_pct': null}, 'unused': "
      "[{'host': 'vm', 'name': '/device:GPU:0'}], 'gaps': null, 'kernels': null, 'transfers': "
      "null}",
      "no_device_activity", "critical", 0, "/device:GPU:0" },
    { "{'devices': [], 'window': {'total_ps': 0}, 'total': {'utilization_pct': null}, 'gaps': "
      "null, 'kernels': null, 'transfers': null, 'environment': {'platform': 'none'}}",
      "no_device_activity", "warning", 0, "100,000 events were read" },
    { "{'devices': [], 'window': {'total_ps': 0}, 'coverage': {'unknown_devices': [{'name': 'Ascend NPU', 'events': 700}]}}",
      "unknown_device", "warning", 0, "700 events of Ascend NPU" },
    { "{'coverage': {'unknown_devices': [{'name': 'MTIA', 'events': 7}, {'name': 'IBM AIU', 'events': 5}]}}",
      "unknown_device", "info", 0, "12 events of MTIA and IBM AIU" },
    { "{'devices': [], 'window': {'total_ps': 0}, 'unused': [{'host': 'vm', 'name': '/device:GPU:1'}], 'coverage': "
      "{'kernel_launches': 5000, 'classes': {'kernel': 0, 'collective': 0}}}",
      "kernels_lost", "critical", 0, "5,000 calls that launch kernels were recorded, but only 0 kernels." },
    { "{'unused': [{'host': 'vm', 'name': '/device:GPU:1'}], 'coverage': {'kernel_launches': 2000, 'classes': {'kernel': 900, "
      "'collective': 100}}}",
      "kernels_lost", "warning", 0, "starting with '/device:GPU:1'" },
    { "{'coverage': {'kernel_launches': 1060, 'classes': {'kernel': 1000, 'collective': 0, 'copy': 0, 'memset': 0}}}",
      "kernels_lost", "warning", 0, "at least 5.7%" },
    { "{'coverage': {'kernel_launches': 1050, 'classes': {'kernel': 1000, 'collective': 0, 'copy': 0, 'memset': 0}}}",
      NULL, NULL, 0, NULL },
    { "{'coverage': {'kernel_launches': 10, 'classes': {'kernel': 1, 'collective': 0}}}", NULL, NULL, 0, NULL },
    { "{'steps': {'source': 'session', 'count': 1, 'chosen': 1}}", "no_steps", "info", 0, "whole session" },
    { "{'steps': {'source': 'module', 'module': 'jit_step'}}", "no_steps", "info", 0,
      "12 executions of 'jit_step'" },
    { "{'steps': {'source': 'group'}}", NULL, NULL, 0, NULL },
    { "{'host': {'profiling': {'share_pct': 4.5, 'main_ps': 45000000000, 'window_ps': 1000000000000, 'tracers': [{'tracer': "
      "'python', 'main_events': 300000, 'event_ps': 130000, 'share_pct': 4.0}, {'tracer': 'host', 'share_pct': 0.5}]}}}",
      "profiling_cost", "info", 0, "300,000 events of the python tracer at 130 ns" },
    { "{'host': {'profiling': {'share_pct': 2.5}}}", NULL, NULL, 0, NULL },
    { "{'steps': {'chosen': 1, 'count': 3}}", "one_step", "info", 0, "1 of 3 steps" },
    { EMPTY_STEPS("cpu", "host", "null"), "steps_without_activity", "info", 0, "1 of 2 analyzed steps" },
    { EMPTY_STEPS("cpu", "host", "null"), "steps_without_activity", "info", 0, "step 7, lasts 3.00 \xc2\xb5s" },
    { EMPTY_STEPS("cpu", "host", "900"), NULL, NULL, 0, NULL },
    { EMPTY_STEPS("cpu", "module", "null"), "no_steps", "info", 0, "" },
    { EMPTY_STEPS("gpu", "host", "null"), NULL, NULL, 0, NULL },
    { "{'devices': [{'id': 'a', 'reliability': 'graph', 'graphs': {'count': 7, 'total_ps': 3000000000}}]}",
      "graphs_collapsed", "info", 0, "7 graph launches on 1 device take 3.00 ms" },
    { "{'coverage': {'warnings': ['clock drift']}}", "profiler_warnings", "info", 0, "'clock drift'" },
    { "{'coverage': {'warnings': ['17 events Dropped']}}", "profiler_warnings", "warning", 0, "Dropped" },
    { "{'environment': {'hosts': [{'host': 'vm', 'framework': 'jax', 'device_events': 2097152}]}}", "events_capped",
      "warning", 0, "2,097,152" },
    { "{'environment': {'hosts': [{'host': 'vm', 'framework': 'jax', 'device_events': 4194304}]}}", "events_capped",
      "warning", 0, "4,194,304" },
    { "{'environment': {'hosts': [{'host': 'vm', 'framework': 'jax', 'device_events': 2097153}]}}", NULL, NULL, 0, NULL },
    { "{'environment': {'hosts': [{'host': 'a', 'framework': 'jax', 'device_events': 1048576},"
      " {'host': 'b', 'framework': 'jax', 'device_events': 1048576}]}}", NULL, NULL, 0, NULL },
    { CLOCKS("true", "-3600000000000000"), "host_clocks", "info", 0, "'b' is 1 h 00 min ahead, compared with the host 'a'" },
    { CLOCKS("true", "2000000000000"), "host_clocks", "info", 0, "2.00 s behind" },
    { CLOCKS("true", "99000000000"), NULL, NULL, 0, NULL },
    { CLOCKS("false", "2000000000000"), NULL, NULL, 0, NULL },
    { "{'input': {'files': [{'path': 'a.json', 'partial': true, 'problems': ['the file holds exactly 1000000 events,"
      " where JAX stops writing']}]}, 'coverage': {'tallies': {'event-cap': {'count': 1, 'level': 'loss', 'help': 'x'}}}}",
      "json_capped", "warning", 0, "1000000 events" },
    { "{'kernels': {'distinct': 2, 'rows': [{'name': 'a', 'op': null}, {'name': 'b', 'op': null}]}}", "no_framework_paths",
      "info", 0, "None of 2 distinct" },
    { "{'memory': {'device_profiles': [{'file': 'm.prof', 'total_bytes': 4194304, 'total_count': 3, 'sites': [{'kind':"
      " 'buffer', 'function': 'init', 'source': '/a/train.py:7', 'stack': [], 'count': 2, 'bytes': 3145728, 'share_pct':"
      " 75}], 'rest': {'sites': {'rows': 1, 'count': 1, 'bytes': 1048576}}}]}}", "memory_holders", "info", 0,
      "3.00 MiB (75.0%) in 2 buffers at init, /a/train.py:7" },
    { "{'memory': {'device_profiles': []}}", NULL, NULL, 0, NULL },
    { "{'input': {'partial': true, 'files': [{'path': 'a.pb', 'partial': true, 'problems': ['cut at 17']}]}}",
      "input_partial", "warning", 0, "'a.pb': cut at 17" },
    { "{'coverage': {'tallies': {'clock-outlier': {'count': 1000, 'level': 'loss', 'help': 'Far off.'}}}}",
      "events_lost", "warning", 0, "1,000 (1.0% of the events): Far off." },
    { "{'coverage': {'tallies': {'clock-outlier': {'count': 999, 'level': 'loss', 'help': 'Far off.'}}}}", NULL,
      NULL, 0, NULL },
    { LAYERS("10000000000", "10000000000", "16000000000", "10000000000"), "layer_slow", "warning", 6000000000,
      "'step/layer_2' takes 16.0 ms (forward 16.0 ms" },
    { LAYERS("10000000000", "9000000000", "11000000000", "40000000000"), "layer_slow", "critical", 29000000000,
      "The median of the 4 layers 'step/layer_#' is 11.0 ms" },
    { LAYERS("10000000000", "10000000000", "15000000000", "10000000000"), NULL, NULL, 0, NULL },
    { LAYERS("10000000000", "10000000000", "10000000000", "19000000000"), NULL, NULL, 0, NULL }, /* the last one */
    { LAYERS("10000000000", "20000000000", "40000000000", "80000000000"), NULL, NULL, 0, NULL }, /* no equals */
    { LAYERS("0", "0", "0", "40000000000"), NULL, NULL, 0, NULL },
    { LAYERS("100000000", "100000000", "100000000", "1000000000"), NULL, NULL, 0, NULL }, /* not worth it */
    { RECOMPUTED("20000000000", "{'allocators': [{'name': 'a', 'peak_pct': 40}]}"), "recomputed", "critical", 20000000000,
      "fullest memory is 40.0%" },
    { RECOMPUTED("20000000000", "{'allocators': [{'name': 'a', 'peak_pct': 40}, {'name': 'b', 'peak_pct': 80}]}"),
      "memory_near_limit", "info", 0, "" },
    { RECOMPUTED("20000000000", "null"), "recomputed", "info", 0, "25.0% of the backward pass" },
    { RECOMPUTED("5990000000", "null"), NULL, NULL, 0, NULL },
    { SHARING("20000000000"), "compute_repeated", "critical", 20000000000,
      "'add.1' of jit(step)/update/add: the same on 4 of 8 devices, 30.0 ms, 20.0 ms of it repeated." },
    { SHARING("5990000000"), NULL, NULL, 0, NULL },
    { "{'coverage': {'tallies': {'cut-short': {'count': 90000, 'level': 'loss', 'help': 'Bytes.'}}}}", NULL,
      NULL, 0, NULL },
};
/* clang-format on */

static bool has_text(const struct tm_value *list, const char *part)
{
    for (size_t i = 0; i < tm_length(list); i++) {
        if (strstr(tm_text(tm_at(list, i)), part))
            return true;
    }
    return false;
}

/* What holds of every finding, whatever the summary. */
static void check_all(const struct judged *j)
{
    const struct tm_value *findings = tm_get(j->summary, "findings");
    const int64_t window_ps = tm_query_window_ps(j->summary);

    for (size_t i = 0; i < tm_length(findings); i++) {
        const struct tm_value *f = tm_at(findings, i), *where = tm_get(f, "where");
        const int64_t stake_ps = tm_int(tm_get(f, "at_stake_ps"));

        assert_true(*tm_text(tm_get(f, "id")) && *tm_text(tm_get(f, "title")) && *tm_text(tm_get(f, "cause")));
        assert_true(tm_length(tm_get(f, "evidence")) > 0);
        assert_true(tm_length(tm_get(f, "fix")) > 0);
        assert_in_range(stake_ps, 0, window_ps);
        assert_true(tm_double(tm_get(f, "share_pct")) <= 100);
        if (stake_ps > 0)
            assert_string_equal(tm_text(tm_get(f, "severity")),
                                stake_ps >= window_ps / 10 ? "critical" : "warning"); /* below 3 % none is told */
        for (size_t k = 0; k < tm_length(where); k++)
            assert_true(tm_int(tm_get(tm_at(where, k), "end_ps")) >= tm_int(tm_get(tm_at(where, k), "begin_ps")));
        if (i > 0) {
            const struct tm_value *before = tm_at(findings, i - 1);
            const int64_t before_ps = tm_int(tm_get(before, "at_stake_ps"));

            assert_true(before_ps >= stake_ps);
        }
    }
    assert_true(*tm_text(tm_path(j->summary, "verdict.text")));
    assert_true(*tm_text(tm_path(j->summary, "verdict.severity")));
}

/* A patch that changes a figure and not what it is made of makes a summary that contradicts itself, which is a finding of
 * its own (test_checks.c): it comes last. */
static size_t findings_of_rules(const struct judged *j)
{
    return tm_length(tm_get(j->summary, "findings")) - (test_finding(j, "check_failed") ? 1 : 0);
}

static void check_rule(const struct rule *rule)
{
    struct judged j;
    const struct tm_value *f;

    test_judge(&j, rule->patch, NULL);
    check_all(&j);
    if (!rule->id) {
        if (findings_of_rules(&j) != 0)
            fail_msg("%s gives '%s'", rule->patch, tm_text(tm_path(j.summary, "findings[0].id")));
        test_judged_free(&j);
        return;
    }
    f = test_finding(&j, rule->id);
    if (!f)
        fail_msg("%s gives no '%s'", rule->patch, rule->id);
    if (findings_of_rules(&j) != 1)
        fail_msg("%s gives more than '%s': '%s', '%s'", rule->patch, rule->id,
                 tm_text(tm_path(j.summary, "findings[0].id")), tm_text(tm_path(j.summary, "findings[1].id")));
    if (strcmp(tm_text(tm_get(f, "severity")), rule->severity) != 0 ||
        tm_int(tm_get(f, "at_stake_ps")) != rule->at_stake_ps)
        fail_msg("%s is %s with %lld ps at stake, not %s with %lld", rule->id, tm_text(tm_get(f, "severity")),
                 (long long)tm_int(tm_get(f, "at_stake_ps")), rule->severity, (long long)rule->at_stake_ps);
    if (!has_text(tm_get(f, "evidence"), rule->evidence))
        fail_msg("%s has no evidence '%s'; the first is '%s'", rule->id, rule->evidence,
                 tm_text(tm_at(tm_get(f, "evidence"), 0)));
    test_judged_free(&j);
}

static void each_rule_finds_what_it_is_for_and_nothing_else(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        check_rule(&rules[i]);
}

static void gaps_of_a_cause_tell_where_they_are(void **state)
{
    const struct tm_value *where;
    struct judged j;

    (void)state;
    test_judge(&j, IDLE("sync", "30000000000"), NULL);
    where = tm_at(tm_get(test_finding(&j, "idle_sync"), "where"), 0);
    assert_int_equal(tm_int(tm_get(where, "begin_ps")), 30000000000);
    assert_int_equal(tm_int(tm_get(where, "end_ps")), 32000000000);
    assert_string_equal(tm_text(tm_get(where, "device")), "vm/gpu:1");
    test_judged_free(&j);
}

static void an_empty_step_tells_its_host(void **state)
{
    const struct tm_value *where;
    struct judged j;

    (void)state;
    test_judge(&j, EMPTY_STEPS("cpu", "host", "null"), NULL);
    where = tm_at(tm_get(test_finding(&j, "steps_without_activity"), "where"), 0);
    assert_int_equal(tm_int(tm_get(where, "begin_ps")), 70000000);
    assert_int_equal(tm_int(tm_get(where, "end_ps")), 73000000);
    assert_string_equal(tm_text(tm_get(where, "device")), "vm");
    test_judged_free(&j);
}

#define GAP(device, step, event)                                                                                       \
    "{'device': '" device "', 'begin_ps': 1, 'dur_ps': 5, 'step': " step ", 'cause': 'input', 'host_event':"           \
    " '" event "'}"

static void one_wait_of_several_devices_is_told_once(void **state)
{
    const struct tm_value *f;
    struct judged j;

    (void)state;
    test_judge(&j,
               "{'gaps': {'by_cause': {'input': {'count': 6, 'total_ps': 30000000000}}, 'longest': "
               "[" GAP("a", "1", "load") "," GAP("b", "1", "load") "," GAP("a", "1", "decode") "," GAP(
                   "a", "2", "load") "," GAP("a", "3", "load") "," GAP("a", "null", "load") "]}}",
               NULL);
    f = test_finding(&j, "idle_input");
    assert_int_equal(tm_length(tm_get(f, "evidence")), 5); /* share, count, 3 gaps */
    assert_non_null(strstr(tm_text(tm_at(tm_get(f, "evidence"), 3)), "decode"));
    assert_non_null(strstr(tm_text(tm_at(tm_get(f, "evidence"), 4)), "step 2"));
    assert_int_equal(tm_length(tm_get(f, "where")), 5);
    test_judged_free(&j);
}

static void expect_stake(const struct judged *j, const char *id, int64_t at_stake_ps)
{
    const struct tm_value *f = test_finding(j, id);

    if (!f || tm_int(tm_get(f, "at_stake_ps")) != at_stake_ps)
        fail_msg("%s has %lld at stake, not %lld", id, f ? (long long)tm_int(tm_get(f, "at_stake_ps")) : -1,
                 (long long)at_stake_ps);
}

static void long_waits_are_no_pauses_between_short_kernels(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j,
               "{'total': {'busy_ps': 70000000000}, 'kernels': {'count': 5000}, 'fusion': {}, 'gaps': {'by_cause': "
               "{'device_wait': "
               "{'count': 4000, 'total_ps': 60000000000}}, 'pauses': {'count': 3000, 'total_ps': 20000000000}}}",
               NULL);
    expect_stake(&j, "kernel_short", 20000000000);
    expect_stake(&j, "idle_device_wait", 0);
    assert_true(tm_double(tm_get(test_finding(&j, "idle_device_wait"), "value")) == 20); /* of 60 ms the other 40 */
    test_judged_free(&j);
}

/* Two devices of which one has more work: where the other one waits for it is not at stake again. */
#define UNEVEN                                                                                                         \
    "'devices': [{'id': 'a', 'compute_ps': 90000000000, 'kernels': {'count': 900}}, {'id': 'b', "                      \
    "'compute_ps': 60000000000, 'kernels': {'count': 600}}]"

/* 60 of 200 ms idle for a cause, and what replays save without some kinds; the path has a kind for 60% of its time. */
#define REPLAYED(cause, path_kind, error_ps, rows)                                                                     \
    "{'gaps': {'by_cause': {'" cause                                                                                   \
    "': {'count': 40, 'total_ps': 60000000000}}}, 'critical_path': {'total_ps': 100000, 'by_kind': {"                  \
    "'" path_kind "': {'total_ps': 60000, 'share_pct': 60}}, 'replay': {'total_ps': 100000, 'error_ps': " error_ps     \
    ", 'rows': [" rows "]}}}"
#define WITHOUT(kind, saved_ps)                                                                                        \
    "{'without': '" kind "', 'path_ps': 90, 'replayed_path_ps': 9, 'saved_ps': " saved_ps "}"

static void potential_savings_are_checked_by_replays(void **state)
{
    static const struct {
        const char *patch, *id;
        int64_t stake_ps, idle_ps;
        const char *severity, *difference; /* difference: "" = they agree; "?...": no replay, and why */
    } cases[] = {
        { REPLAYED("sync", "sync", "0", WITHOUT("sync", "27500")), "idle_sync", 60000000000, 60000000000, "critical",
          "" },
        { REPLAYED("sync", "sync", "0", WITHOUT("sync", "26000")), "idle_sync", 52000000000, 52000000000, "critical",
          "Measured: 30.0%. Without it, replayed steps get only 26.0% shorter, which is what counts: other work" },
        { REPLAYED("sync", "host", "0", WITHOUT("host", "40000") "," WITHOUT("sync", "4000")), "idle_sync", 8000000000,
          8000000000, "warning", "60.0% of the critical path goes to host code, with or without it." },
        { REPLAYED("sync", "compute", "0", WITHOUT("sync", "40")), "idle_sync", 0, 0, "info",
          "replayed steps take as long, so it counts as no savings: 60.0% of the critical path goes to compute." },
        { REPLAYED("sync", "sync", "0", WITHOUT("sync", "33000")), "idle_sync", 60000000000, 60000000000, "critical",
          "" },
        { REPLAYED("sync", "sync", "0", WITHOUT("sync", "40000")), "idle_sync", 60000000000, 60000000000, "critical",
          "Without it, replayed steps get 40.0% shorter" },
        { REPLAYED("sync", "sync", "1001", WITHOUT("sync", "5000")), "idle_sync", 60000000000, 60000000000, "critical",
          "?not known well enough" },
        { REPLAYED("sync", "device_wait", "0", WITHOUT("sync", "5000")), "idle_sync", 60000000000, 60000000000,
          "critical", "?does not go through the cause" },
        { REPLAYED("sync", "sync", "0", "{'without': 'sync', 'path_ps': 90, 'replayed_path_ps': 0, 'saved_ps': 0}"),
          "idle_sync", 60000000000, 60000000000, "critical", "?no step with it was replayed" },
        { "{'gaps': {'by_cause': {'sync': {'count': 40, 'total_ps': 60000000000}}}}", "idle_sync", 60000000000,
          60000000000, "critical", "?" },
        /* 36 of 60 ms of compute: between the replays of half and of all of it */
        { "{'total': {'compute_ps': 60000000000}, 'fusion': {'eager_chains': {'saved_ps': 36000000000}}, "
          "'critical_path': "
          "{'total_ps': 100000, 'by_kind': {}, 'replay': {'total_ps': 1, 'error_ps': 0, 'rows': [" WITHOUT(
              "compute", "25000") "," WITHOUT("compute_half", "5000") "," WITHOUT("compute_quarter", "2500") "]}}}",
          "elementwise_unfused", 18000000000, 0, "warning", "replayed steps get only 9.0% shorter" },
        { "{" UNEVEN
          ", 'total': {'exposed_collective_ps': 30000000000, 'collective_ps': 40000000000}, 'critical_path': "
          "{'total_ps': 100000, 'by_kind': {}, 'replay': {'total_ps': 1, 'error_ps': 0, 'rows': [" WITHOUT(
              "collective", "1000") "," WITHOUT("imbalance", "8000") "]}}}",
          "imbalance", 16000000000, 0, "warning", "replayed steps get only 8.0% shorter" },
        { "{" UNEVEN ", 'input': {'hosts': [{'name': 'one'}, {'name': 'two'}]}"
          ", 'total': {'exposed_collective_ps': 30000000000, 'collective_ps': 40000000000}, 'critical_path': "
          "{'total_ps': 100000, 'by_kind': {}, 'replay': {'total_ps': 1, 'error_ps': 0, 'rows': [" WITHOUT(
              "collective", "1000") "," WITHOUT("imbalance", "8000") "]}}}",
          "imbalance", 30000000000, 0, "critical", "?collectives of several hosts were not replayed" },
        /* 16 ms of 2 windows of 100 ms, in a replay of the collectives; that of single hosts does not count */
        { "{" UNEVEN
          ", 'input': {'hosts': [{'name': 'one'}, {'name': 'two'}]}, 'collectives': {'skew': {'critical_path': "
          "{'stragglers_saved_ps': 1, 'imbalance_saved_ps': 16000000000}}}"
          ", 'total': {'exposed_collective_ps': 30000000000, 'collective_ps': 40000000000}, 'critical_path': "
          "{'total_ps': 100000, 'by_kind': {}, 'replay': {'total_ps': 1, 'error_ps': 0, 'rows': [" WITHOUT(
              "imbalance", "4000") "]}}}",
          "imbalance", 16000000000, 0, "warning", "replayed steps get only 8.0% shorter" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct tm_value *f, *replay;
        struct judged j;

        test_judge(&j, cases[i].patch, NULL);
        f = test_finding(&j, cases[i].id);
        replay = tm_get(f, "replay");
        if (tm_int(tm_get(f, "at_stake_ps")) != cases[i].stake_ps || tm_int(tm_get(f, "idle_ps")) != cases[i].idle_ps)
            fail_msg("case %zu: %lld", i, (long long)tm_int(tm_get(f, "at_stake_ps")));
        assert_string_equal(tm_text(tm_get(f, "severity")), cases[i].severity);
        assert_int_equal(tm_has(replay), *cases[i].difference != '?');
        if (*cases[i].difference == '?') {
            assert_non_null(strstr(tm_why(replay), cases[i].difference + 1));
        } else if (!*cases[i].difference) {
            assert_false(tm_has(tm_get(replay, "difference")));
        } else {
            assert_non_null(strstr(tm_text(tm_get(replay, "difference")), cases[i].difference));
            assert_true(has_text(tm_get(f, "evidence"), cases[i].difference));
        }
        test_judged_free(&j);
    }
}

/* Of two hosts one is idle for 20% of its time, which makes the steps of both 10% shorter on average. */
static void a_replay_is_about_the_hosts_of_the_finding(void **state)
{
    const struct tm_value *f;
    struct judged j;

    (void)state;
    test_judge(
        &j,
        "{'devices': [{'id': 'a', 'host': 'one', 'span_ps': 100000000000, 'gaps': {'by_cause': {'sync': {'total_ps': "
        "20000000000}}}}, {'id': 'b', 'host': 'two', 'span_ps': 100000000000}], 'gaps': {'by_cause': {'sync': "
        "{'count': 40, 'total_ps': 20000000000}}}, 'critical_path': {'total_ps': 100000, 'by_kind': {}, 'replay': "
        "{'total_ps': 1, "
        "'error_ps': 0, 'rows': [" WITHOUT("sync", "10000") "]}}}",
        NULL);
    f = test_finding(&j, "idle_sync");
    assert_true(tm_double(tm_get(f, "share_pct")) == 20);
    assert_true(tm_double(tm_path(f, "replay.saved_pct")) == 20);
    assert_int_equal(tm_int(tm_get(f, "at_stake_ps")), 20000000000);
    test_judged_free(&j);
}

static void a_wait_is_at_stake_where_its_reason_is(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j, "{" UNEVEN ", 'total': {'exposed_collective_ps': 30000000000, 'collective_ps': 40000000000}}", NULL);
    expect_stake(&j, "imbalance", 30000000000);
    assert_null(test_finding(&j, "collective_exposed"));
    test_judged_free(&j);

    test_judge(&j,
               "{" UNEVEN ", 'total': {'exposed_collective_ps': 20000000000, 'collective_ps': 40000000000}, 'gaps': "
               "{'by_cause': {'device_wait': {'total_ps': 20000000000}, 'host': {'total_ps': 7000000000}}}}",
               NULL);
    assert_null(test_finding(&j, "collective_exposed"));
    assert_null(test_finding(&j, "idle_device_wait"));
    expect_stake(&j, "idle_host", 7000000000);
    assert_int_equal(tm_int(tm_get(test_finding(&j, "imbalance"), "idle_ps")), 10000000000);
    test_judged_free(&j);

    /* no more than the others wait */
    test_judge(&j, "{" UNEVEN ", 'gaps': {'by_cause': {'device_wait': {'total_ps': 20000000000}}}}", NULL);
    expect_stake(&j, "imbalance", 27600000000); /* and what the healthy run is idle for otherwise */
    test_judged_free(&j);
}

/* Devices as UNEVEN has them, active in these milliseconds, and where the others wait. */
#define ACTIVE(host, id, ms, begin, end)                                                                               \
    "{'id': '" id "', 'host': '" host "', 'compute_ps': " ms "000000000, 'kernels': {'count': " ms "0}, "              \
    "'window_begin_ps': " begin "000000000, 'window_end_ps': " end "000000000}"
#define GROUP(host, begin, end) "{'host': '" host "', 'begin_ps': " begin "000000000, 'end_ps': " end "000000000}"
#define ACTIVE_RUN(groups, devices)                                                                                    \
    "{'window': {'hosts': [" groups "]}, 'devices': [" devices "], "                                                   \
    "'gaps': {'by_cause': {'device_wait': {'total_ps': 90000000000}}}"

static void devices_that_are_not_active_at_the_same_time_have_no_imbalance(void **state)
{
    static const struct {
        const char *patch;
        int64_t stake_ps; /* 0 = none */
    } cases[] = {
        { ACTIVE_RUN(GROUP("a", "0", "100") ", " GROUP("a", "200", "300"),
                     ACTIVE("a", "gpu:0", "90", "0", "100") ", " ACTIVE("a", "gpu:1", "60", "200", "300")) "}",
          0 },
        { ACTIVE_RUN(GROUP("a", "0", "100"),
                     ACTIVE("a", "gpu:0", "90", "0", "100") ", " ACTIVE("a", "gpu:1", "60", "0", "100")) "}",
          30000000000 },
        /* of two groups the one that loses more; the third device, with the least of all, is in neither */
        { ACTIVE_RUN(GROUP("a", "0", "100") ", " GROUP("a", "200", "300") ", " GROUP("a", "400", "500"),
                     ACTIVE("a", "gpu:0", "90", "0", "100") ", " ACTIVE("a", "gpu:1", "80", "0", "100") ", " ACTIVE(
                         "a", "gpu:2", "90", "200", "300") ", " ACTIVE("a", "gpu:3", "50", "200",
                                                                       "300") ", " ACTIVE("a", "gpu:4", "10", "400",
                                                                                          "500")) "}",
          40000000000 },
        /* hosts run together where their windows overlap, */
        { ACTIVE_RUN(GROUP("a", "0", "100") ", " GROUP("b", "50", "150"),
                     ACTIVE("a", "gpu:0", "90", "0", "100") ", " ACTIVE("b", "gpu:1", "60", "50", "150")) "}",
          30000000000 },
        { ACTIVE_RUN(GROUP("a", "0", "100") ", " GROUP("b", "60", "160"),
                     ACTIVE("a", "gpu:0", "90", "0", "100") ", " ACTIVE("b", "gpu:1", "60", "60", "160")) "}",
          0 },
        /* or where their clocks do not tell */
        { ACTIVE_RUN(GROUP("a", "0", "100") ", " GROUP("b", "60", "160"),
                     ACTIVE("a", "gpu:0", "90", "0", "100") ", " ACTIVE(
                         "b", "gpu:1", "60", "60", "160")) ", 'collectives': {'skew': {'clock': {'aligned': false}}}}",
          30000000000 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct tm_value *f;
        struct judged j;

        test_judge(&j, cases[i].patch, NULL);
        f = test_finding(&j, "imbalance");
        if (tm_int(tm_get(f, "at_stake_ps")) != cases[i].stake_ps)
            fail_msg("case %zu: %lld", i, (long long)tm_int(tm_get(f, "at_stake_ps")));
        test_judged_free(&j);
    }
}

/* Two devices, one of which waits for 5 % of its window: 2.5 % of both, under what is mentioned. */
static void a_share_is_of_the_devices_that_a_finding_is_about(void **state)
{
    const struct tm_value *f;
    struct judged j;

    (void)state;
    test_judge(&j,
               "{'devices': [{'id': 'a', 'span_ps': 100000000000, 'gaps': {'by_cause': {'input': {'total_ps': "
               "5000000000}}}}, {'id': 'b', 'span_ps': 100000000000}], 'gaps': {'by_cause': {'input': {'total_ps': "
               "5000000000}}}}",
               NULL);
    f = test_finding(&j, "idle_input");
    assert_non_null(f);
    assert_true(tm_double(tm_get(f, "share_pct")) == 5);
    assert_int_equal(tm_int(tm_get(f, "window_ps")), 100000000000);
    assert_int_equal(tm_int(tm_get(f, "idle_ps")), 5000000000);
    assert_true(has_text(tm_get(f, "evidence"), "Mostly on 1 of 2 devices"));
    assert_non_null(
        strstr(tm_text(tm_path(j.summary, "verdict.text")), "input stalls (5.0% of the window of 1 device)"));
    test_judged_free(&j);
}

/* The same of copies and collectives: what one of two devices loses is not halved by the other. */
static void the_share_of_copies_and_collectives_is_of_their_devices(void **state)
{
    static const struct {
        const char *id, *patch;
        double share_pct; /* of one device */
    } cases[] = {
#define ON_ONE(device, total)                                                                                          \
    "{'devices': [{'id': 'a', 'span_ps': 100000000000, " device "}, {'id': 'b', 'span_ps': 100000000000, "             \
    "'exposed_by_direction_ps': {'h2d': 0, 'd2h': 0}, 'exposed_copy_ps': 0, 'exposed_collective_ps': 0}], " total "}"
        { "transfer_h2d",
          ON_ONE("'exposed_by_direction_ps': {'h2d': 5000000000}",
                 "'total': {'exposed_by_direction_ps': {'h2d': 5000000000}}"),
          5 },
        { "transfer_d2h",
          ON_ONE("'exposed_by_direction_ps': {'d2h': 40000000000}",
                 "'total': {'exposed_by_direction_ps': {'d2h': 40000000000}}"),
          40 },
        { "collective_exposed",
          ON_ONE("'exposed_collective_ps': 8000000000",
                 "'total': {'exposed_collective_ps': 8000000000, 'collective_ps': 9000000000}"),
          8 },
        { "straggler",
          ON_ONE("'exposed_collective_ps': 4000000000",
                 "'total': {'exposed_collective_ps': 4000000000, 'exposed_wait_ps': 4000000000, 'exposed_move_ps': 0, "
                 "'exposed_unmatched_ps': 0}"),
          4 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct tm_value *f;
        struct judged j;

        test_judge(&j, cases[i].patch, NULL);
        f = test_finding(&j, cases[i].id);
        if (!f)
            fail_msg("no %s", cases[i].id);
        assert_true(fabs(tm_double(tm_get(f, "share_pct")) - cases[i].share_pct) < 1e-9);
        assert_int_equal(tm_int(tm_get(f, "window_ps")), 100000000000);
        assert_int_equal(tm_int(tm_get(f, "devices")), 1);
        assert_string_equal(tm_text(tm_get(f, "severity")), cases[i].share_pct >= 10 ? "critical" : "warning");
        assert_true(has_text(tm_get(f, "evidence"), "Mostly on 1 of 2 devices"));
        test_judged_free(&j);
    }
}

static void the_wait_for_a_straggler_is_no_exposed_collective(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j, STRAGGLER("30000000000", "9000000000"), NULL);
    expect_stake(&j, "straggler", 30000000000);
    assert_null(test_finding(&j, "collective_exposed"));
    assert_string_equal(tm_text(tm_get(test_finding(&j, "straggler"), "title")), "Stragglers: a (77.1%) and b (22.9%)");
    test_judged_free(&j);
    test_judge(&j,
               "{" SPLIT("30000000000", "12000000000", "8000000000") STRAGGLER_FIELDS("30000000000", "9000000000") "}",
               NULL);
    expect_stake(&j, "straggler", 30000000000);
    expect_stake(&j, "collective_exposed", 20000000000); /* what moves, and what may */
    assert_true(has_text(tm_get(test_finding(&j, "collective_exposed"), "evidence"),
                         "30.0 ms of it is waiting for late devices, which is not counted here; 12.0 ms is data "
                         "movement."));
    test_judged_free(&j);
    /* who has more work comes late: that explains the waiting first, and never what moves */
    test_judge(&j,
               "{'total': {'exposed_collective_ps': 50000000000, 'exposed_wait_ps': 25000000000, 'exposed_move_ps': "
               "25000000000, 'exposed_unmatched_ps': 0}, " UNEVEN "}",
               NULL);
    expect_stake(&j, "imbalance", 30000000000);
    assert_null(test_finding(&j, "straggler"));
    expect_stake(&j, "collective_exposed", 25000000000);
    test_judged_free(&j);
}

/* Advice fits what the collectives are for, as far as names tell. */
static void advice_about_collectives_fits_what_they_are_for(void **state)
{
    static const struct {
        const char *kind, *name, *said, *advice, *none;
    } rows[] = {
        { "send-recv", "## PooledEmbeddingsAwaitable wait() ##", "Names in the profile indicate sharded embeddings.",
          "TrainPipelineSparseDist", "Tensor parallelism" },
        { "all-to-all", "model/layers.3/fused_moe", "Names in the profile indicate expert parallelism.",
          "Expert parallelism", "Sharded embeddings" },
        { "all-to-all", "DistributedDataParallel.forward", "No name in the profile indicates what they are used for.",
          NULL, "DDP" },
        { "all-reduce", "DistributedDataParallel.forward", "Names in the profile indicate data parallelism.",
          "bucket_cap_mb", "Tensor parallelism" },
        { "all-gather", "FullyShardedDataParallel.forward", "Names in the profile indicate sharded data parallelism.",
          "forward_prefetch", "bucket_cap_mb" },
        { "all-reduce", "megatron/core/tensor_parallel/mappings.py(30): _reduce",
          "Names in the profile indicate tensor parallelism.", "--tp-comm-overlap", "bucket_cap_mb" },
        { "all-reduce", "nccl:all_reduce", "No name in the profile indicates what they are used for.", NULL,
          "Tensor parallelism" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[1024];
        struct judged j;
        const struct tm_value *f;

        (void)snprintf(text, sizeof(text),
                       "{'environment': {'platform': 'gpu', 'hosts': [{'host': 'a', 'framework': 'pytorch'}]}, "
                       "'total': "
                       "{'exposed_collective_ps': 50000000000, 'exposed_unmatched_ps': 50000000000}, 'collectives': "
                       "{'rows': "
                       "[{'kind': '%s', 'exposed_ps': 50000000000}]}, 'host': {'annotations': [{'name': '%s'}]}}",
                       rows[i].kind, rows[i].name);
        test_judge(&j, text, NULL);
        f = test_finding(&j, "collective_exposed");
        if (!has_text(tm_get(f, "evidence"), rows[i].said))
            fail_msg("%s: not '%s'", rows[i].name, rows[i].said);
        if (rows[i].advice && !has_text(tm_get(f, "fix"), rows[i].advice))
            fail_msg("%s: no '%s'", rows[i].name, rows[i].advice);
        if (has_text(tm_get(f, "fix"), rows[i].none))
            fail_msg("%s: '%s'", rows[i].name, rows[i].none);
        test_judged_free(&j);
    }
}

static void pauses_between_programs_are_no_host_work(void **state)
{
    struct judged j;

    (void)state;
    test_judge(
        &j,
        "{'programs': {'count': 400, 'per_step': 17, 'pauses': {'count': 380, 'total_ps': 20000000000}}, 'gaps': "
        "{'by_cause': {'host': {'count': 400, 'total_ps': 30000000000}}}}",
        NULL);
    expect_stake(&j, "op_short", 20000000000);
    expect_stake(&j, "idle_host", 10000000000);
    test_judged_free(&j);
}

/* PyTorch without a compiler: gaps, launches and host time are one finding. */
#define EAGER(launches, gaps, names)                                                                                   \
    "{'environment': {'platform': 'gpu', 'hosts': [{'host': 'vm', 'framework': 'pytorch'}]}, 'input': {'files': "      \
    "[{'path': 'a.json', 'kind': 'chrome_json', 'host': 'vm'}]}, 'kernels': {'count': 5000, 'by_name': [{'name': "     \
    "'" names "', 'count': 4000}]}, 'host': {'launches': {'count': " launches                                          \
    "}}, 'fusion': {'kernels': {'count': 5000}, 'small': "                                                             \
    "{'below_ps': 100000000, 'count': 4900, 'total_ps': 49000000000, 'share_pct': 90}}, 'gaps': {'short': "            \
    "{'from_ps': "                                                                                                     \
    "10000000, 'below_ps': 1000000000, 'by_cause': {'device_wait': {'count': 9000, 'total_ps': 8000000000}, 'host': "  \
    "{'count': " gaps ", 'total_ps': 36000000000}, 'launch': {'count': 0, 'total_ps': 14000000000}}}, 'pauses': "      \
    "{'below_ps': 10000000, 'count': 3000, 'total_ps': "                                                               \
    "30000000000}, 'by_cause': {'host': {'total_ps': 45000000000}, 'launch': {'total_ps': 14000000000}}}}"

/* A profile that begins with the program. */
static void what_a_driver_does_once_is_no_host_code(void **state)
{
    static const char *const calls[][2] = { { "cudaFree", "Driver and library initialization" },
                                            { "hipMalloc", "Driver and library initialization" },
                                            { "aten::mm", "Host code delays launches" },
                                            { "free", "Host code delays launches" } };

    (void)state;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        char patch[512];
        struct judged j;

        (void)snprintf(
            patch, sizeof(patch),
            "{'gaps': {'by_cause': {'host': {'count': 9, 'total_ps': 40000000000}}, 'longest': [{'device': "
            "'vm/gpu:0', 'begin_ps': 1, 'dur_ps': 30000000000, 'cause': 'host', 'host_event': '%s', 'parts': "
            "{'host': 20000000000}}]}}",
            calls[i][0]);
        test_judge(&j, patch, NULL);
        expect_stake(&j, "idle_host", 40000000000);
        if (!strstr(tm_text(tm_get(test_finding(&j, "idle_host"), "title")), calls[i][1]))
            fail_msg("%s: %s", calls[i][0], tm_text(tm_get(test_finding(&j, "idle_host"), "title")));
        test_judged_free(&j);
    }
}

static void eager_dispatch_is_one_finding(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j, EAGER("5100", "1300", "at::native::add"), NULL);
    expect_stake(&j, "eager_dispatch", 50000000000);
    assert_int_equal(tm_int(tm_get(test_finding(&j, "eager_dispatch"), "idle_ps")), 50000000000);
    expect_stake(&j, "idle_host", 9000000000); /* the long gaps */
    assert_null(test_finding(&j, "idle_launch"));
    assert_null(test_finding(&j, "kernel_short"));
    assert_non_null(strstr(tm_text(tm_path(test_finding(&j, "eager_dispatch"), "fix[0]")), "torch.compile(model)`"));
    test_judged_free(&j);

    test_judge(&j, EAGER("5100", "1300", "triton_poi_fused_add"), NULL); /* compiled, and launched one by one */
    assert_non_null(strstr(tm_text(tm_path(test_finding(&j, "eager_dispatch"), "fix[0]")), "CUDA graphs"));
    test_judged_free(&j);

    test_judge(&j, EAGER("4400", "1300", "at::native::add"), NULL); /* graphs */
    assert_null(test_finding(&j, "eager_dispatch"));
    test_judged_free(&j);
    test_judge(&j, EAGER("5100", "1200", "at::native::add"), NULL); /* few of the launches come late */
    assert_null(test_finding(&j, "eager_dispatch"));
    expect_stake(&j, "idle_host", 45000000000);
    test_judged_free(&j);
}

static void a_layer_is_not_slow_for_what_a_dominant_operation_takes(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j,
               "{'roofline': {'compute_ps': 100000000000}, 'ops': {'basis': 'hlo_op', 'families': [{'family': 'flash', "
               "'longest': 'flash.1', 'members': 2, 'counts_as_one': true, 'op': 'jit(step)/jvp(layer_*)/dot', "
               "'self_ps': 60000000001}, {'longest': "
               "'b', 'members': 1, 'self_ps': 1}], 'rows': [{'name': 'flash.1', 'family': 0, 'op': "
               "'jit(step)/jvp(layer_3)/dot', 'self_ps': 60000000000}, {'name': 'flash.2', 'family': 0, 'op': "
               "'jit(step)/jvp(layer_2)/dot', 'self_ps': 1}, {'name': 'b', 'family': 1, 'self_ps': 1}]}, "
               "'scopes': {'layers': [" LAYER("0", "10000000000") ", " LAYER("1", "10000000000") ", " LAYER(
                   "2", "10000000000") ", " LAYER("3", "69000000000") "]}}",
               NULL);
    assert_non_null(test_finding(&j, "op_dominant"));
    assert_string_equal(tm_text(tm_get(test_finding(&j, "op_dominant"), "title")),
                        "One operation, 2 times in the program, takes 60.0% of the compute time: flash");
    assert_null(test_finding(&j, "layer_slow"));
    test_judged_free(&j);
}

static void a_cause_that_is_never_the_largest_part_is_told_too(void **state)
{
    const struct tm_value *f;
    struct judged j;

    (void)state;
    test_judge(&j,
               "{'gaps': {'by_cause': {'sync': {'count': 0, 'total_ps': 30000000000}}, 'longest': "
               "[{'device': 'a', 'begin_ps': 1, 'dur_ps': 5000000000, 'step': 1, 'cause': "
               "'input', 'parts': {'input': 3000000000, 'sync': 2000000000}}, {'device': 'a', "
               "'begin_ps': 9, 'dur_ps': 4000000000, 'step': 2, 'cause': 'input', 'parts': "
               "{'input': 4000000000}}]}}",
               NULL);
    f = test_finding(&j, "idle_sync");
    assert_true(has_text(tm_get(f, "evidence"), "2.00 ms of a gap of 5.00 ms"));
    assert_int_equal(tm_length(tm_get(f, "where")), 1);
    test_judged_free(&j);
}

static void the_longest_compiles_are_named_first(void **state)
{
    const struct tm_value *f;
    struct judged j;

    (void)state;
    test_judge(&j,
               "{'compile': {'inside_steps': {'count': 5, 'total_ps': 1}, 'events': [{'module': "
               "'a', 'dur_ps': 1000000, 'step': 1}, {'module': 'b', 'dur_ps': 3000000, 'step': "
               "2},{'module': 'c', 'dur_ps': 9000000, 'step': null}, {'module': 'd', 'dur_ps': "
               "3000000, 'step': 3},{'module': 'e', 'dur_ps': 2000000, 'step': 4}, {'module': "
               "null, 'dur_ps': 1000001, 'step': 4}]}}",
               NULL);
    f = tm_get(test_finding(&j, "compile_in_steps"), "evidence");
    assert_int_equal(tm_length(f), 5);
    assert_non_null(strstr(tm_text(tm_at(f, 1)), "'b' for 3.00"));
    assert_non_null(strstr(tm_text(tm_at(f, 2)), "'d' for 3.00"));
    assert_non_null(strstr(tm_text(tm_at(f, 3)), "'e' for 2.00"));
    assert_non_null(strstr(tm_text(tm_at(f, 4)), "An unnamed module for 1.00"));
    test_judged_free(&j);
}

static void compiling_inside_steps_is_told_once(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j,
               "{'compile': {'inside_steps': {'count': 4, 'total_ps': 40000000000}, 'recompiled': "
               "[{'module': 'f', 'count': 9}]}, 'gaps': {'by_cause': {'compile': {'count': 4, "
               "'total_ps': 40000000000}}}}",
               NULL);
    assert_non_null(test_finding(&j, "compile_in_steps"));
    assert_null(test_finding(&j, "idle_compile"));
    assert_null(test_finding(&j, "compile_again"));
    test_judged_free(&j);
}

static void copies_that_come_back_are_told_beside_their_direction(void **state)
{
    static const char patch[] = "{'total': {'exposed_by_direction_ps': null}, 'transfers': {'by_direction': "
                                "[{'direction': 'h2d', 'count': 20, 'bytes': 20, 'total_ps': 9, 'exposed_ps': "
                                "40000000000}, {'direction': 'd2h', 'count': 20, 'bytes': 20, 'total_ps': 9, "
                                "'exposed_ps': 10000000000}], 'repeated': [{'direction': 'h2d', 'bytes': 1048576, "
                                "'per_step': 1, 'count': 20, 'total_ps': 60000000000}, {'direction': 'h2d', 'bytes': "
                                "1048575, 'per_step': 1, 'count': 20, 'total_ps': 60000000000}], 'pageable': {'count': "
                                "40, 'total_ps': 45000000000, 'share_pct': 25}, 'ping_pong': {'count': 10}}}";
    struct judged j;

    (void)state;
    test_judge(&j, patch, NULL);
    check_all(&j);
    expect_stake(&j, "transfer_h2d", 40000000000);
    expect_stake(&j, "transfer_d2h", 10000000000);
    expect_stake(&j, "transfer_repeated_h2d", 0);
    expect_stake(&j, "transfer_pageable", 0);
    expect_stake(&j, "transfer_ping_pong", 0);
    assert_true(tm_double(tm_get(test_finding(&j, "transfer_repeated_h2d"), "value")) == 20);
    assert_int_equal(tm_length(tm_get(test_finding(&j, "transfer_repeated_h2d"), "evidence")), 1);
    assert_true(tm_double(tm_get(test_finding(&j, "transfer_pageable"), "value")) == 22.5);
    assert_true(tm_double(tm_get(test_finding(&j, "transfer_ping_pong"), "value")) == 10);
    assert_null(test_finding(&j, "transfer_repeated_d2h"));
    test_judged_free(&j);

    test_judge(&j, patch, "{'limits': [{'id': 'ping_pong', 'value': 1.1}, {'id': 'pageable_share', 'value': 26}]}");
    assert_null(test_finding(&j, "transfer_ping_pong"));
    assert_null(test_finding(&j, "transfer_pageable"));
    test_judged_free(&j);
}

static void jumps_of_a_full_allocator_are_told(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j,
               ALLOCATOR("'peak_pct': 95, 'spike_count': 30, 'spikes': [{'begin_ps': 7000000000, "
                         "'rise_bytes': 1073741824}]"),
               NULL);
    assert_string_equal(tm_text(tm_get(test_finding(&j, "memory_spikes"), "severity")), "warning");
    assert_true(has_text(tm_get(test_finding(&j, "memory_spikes"), "evidence"), "rises 30 times"));
    assert_true(has_text(tm_get(test_finding(&j, "memory_spikes"), "evidence"), "By 1.00 GiB at 0.007000000 s"));
    test_judged_free(&j);
}

static void a_full_and_fragmented_allocator_is_a_warning(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j, ALLOCATOR("'peak_pct': 85, 'fragmentation_pct': 60"), NULL);
    assert_string_equal(tm_text(tm_get(test_finding(&j, "memory_fragmentation"), "severity")), "warning");
    test_judged_free(&j);
}

#define NO_HOST                                                                                                        \
    "'coverage': {'classes': {'python': 0, 'annotation': 0, 'step_marker': 0, 'module': 0, "                           \
    "'compile': 0,"                                                                                                    \
    " 'runtime': 0, 'launch': 0, 'input': 0}}"

static void without_host_events_idle_time_is_told_as_that(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j, "{" NO_HOST ", 'gaps': {'by_cause': {'unrecorded': {'count': 9, 'total_ps': 60000000000}}}}", NULL);
    assert_non_null(test_finding(&j, "no_host_events"));
    assert_string_equal(tm_text(tm_get(test_finding(&j, "no_host_events"), "severity")), "warning");
    assert_null(test_finding(&j, "idle_unrecorded"));
    test_judged_free(&j);

    test_judge(&j, "{" NO_HOST ", 'environment': {'platform': 'cpu'}}", NULL);
    assert_null(test_finding(&j, "no_host_events"));
    test_judged_free(&j);

    test_judge(&j, "{" NO_HOST ", 'environment': {'platform': 'tpu'}}", NULL);
    assert_non_null(test_finding(&j, "no_host_events"));
    test_judged_free(&j);
}

static void few_late_launches_are_not_many_launches(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j, IDLE("launch", "30000000000"), NULL); /* 2 ms of it in one gap */
    assert_non_null(strstr(tm_text(tm_get(test_finding(&j, "idle_launch"), "title")), "Launch overhead"));
    test_judged_free(&j);
    test_judge(&j,
               "{'gaps': {'by_cause': {'launch': {'count': 9, 'total_ps': 30000000000}}, 'longest': [{'device': "
               "'vm/gpu:1', 'begin_ps': 1000, 'dur_ps': 12000000000, 'cause': 'launch', 'parts': {'launch': "
               "9000000000, 'host': 3000000000}, 'launch': {'begin_ps': 3000001000, 'dur_ps': 5000000}}, {'device': "
               "'vm/gpu:0', "
               "'begin_ps': 40000000000, 'dur_ps': 8000000000, 'cause': 'launch', 'parts': {'launch': 8000000000}}]}}",
               NULL);
    assert_true(has_text(tm_get(test_finding(&j, "idle_launch"), "evidence"),
                         "launched 9.00 ms before its start by a call of 5.00"));
    assert_string_equal(tm_text(tm_get(test_finding(&j, "idle_launch"), "title")), "Launched work starts late");
    assert_false(has_text(tm_get(test_finding(&j, "idle_launch"), "fix"), "CUDA graphs"));
    assert_true(has_text(tm_get(test_finding(&j, "idle_launch"), "fix"), "CUDA_MODULE_LOADING"));
    test_judged_free(&j);
}

/* One gap is most of it: an event, not a loss of each step. */
static void a_single_event_is_told_as_one(void **state)
{
#define LONE(cause, steps, ps)                                                                                         \
    "{'steps': {'chosen': " steps ", 'parts': {'total_ps': 100000000000, 'idle_ps': {'" cause                          \
    "': 30000000000}}}, 'gaps': "                                                                                      \
    "{'by_cause': {'" cause                                                                                            \
    "': {'count': 9, 'total_ps': 30000000000}}, 'longest': [{'device': 'vm/gpu:1', 'begin_ps': "                       \
    "1000, 'dur_ps': 30000000000, 'cause': '" cause "', 'parts': {'" cause "': " ps "}}]}}"
    struct judged j;

    (void)state;
    test_judge(&j, LONE("launch", "30", "16000000000"), NULL);
    assert_string_equal(tm_text(tm_get(test_finding(&j, "idle_launch"), "title")), "Launched work starts late");
    expect_stake(&j, "idle_launch", 14000000000);
    assert_true(
        has_text(tm_get(test_finding(&j, "idle_launch"), "evidence"),
                 "One gap accounts for 16.0 ms of it (53.3%), starting at 0.000000001 s: a one-time event in one of 30 "
                 "steps, not a loss in every step; not counted as potential savings."));
    assert_false(has_text(tm_get(test_finding(&j, "idle_launch"), "evidence"), "average step"));
    test_judged_free(&j);
    /* on two devices at once it is still one */
    test_judge(
        &j,
        "{'steps': {'chosen': 30}, 'gaps': {'by_cause': {'launch': {'count': 9, 'total_ps': 30000000000}}, 'longest': "
        "[{'device': 'vm/gpu:1', 'begin_ps': 1000, 'dur_ps': 9000000000, 'cause': 'launch', 'parts': {'launch': "
        "9000000000}}, {'device': 'vm/gpu:0', 'begin_ps': 8000000000, 'dur_ps': 8000000000, 'cause': 'launch', "
        "'parts': "
        "{'launch': 7000000000}}]}}",
        NULL);
    assert_true(
        has_text(tm_get(test_finding(&j, "idle_launch"), "evidence"),
                 "2 simultaneous gaps account for 16.0 ms of it (53.3%), starting at 0.000000001 s: a one-time event"));
    test_judged_free(&j);
    /* and where another one is half as long, each step may have its own */
    test_judge(
        &j,
        "{'steps': {'chosen': 2}, 'gaps': {'by_cause': {'launch': {'count': 2, 'total_ps': 30000000000}}, 'longest': "
        "[{'device': 'vm/gpu:1', 'begin_ps': 1000, 'dur_ps': 19000000000, 'cause': 'launch', 'parts': {'launch': "
        "19000000000}}, {'device': 'vm/gpu:1', 'begin_ps': 50000000000, 'dur_ps': 11000000000, 'cause': 'launch', "
        "'parts': "
        "{'launch': 11000000000}}]}}",
        NULL);
    assert_false(has_text(tm_get(test_finding(&j, "idle_launch"), "evidence"), "a one-time event in one of"));
    test_judged_free(&j);
    test_judge(&j, LONE("launch", "30", "28000000000"), NULL); /* nothing but that one: a fact */
    assert_string_equal(tm_text(tm_get(test_finding(&j, "idle_launch"), "title")),
                        "Launched work starts late once, by 28.0 ms");
    expect_stake(&j, "idle_launch", 0);
    assert_string_equal(tm_text(tm_get(test_finding(&j, "idle_launch"), "severity")), "warning");
    test_judged_free(&j);
    test_judge(&j, LONE("input", "1", "16000000000"), NULL);
    assert_true(has_text(tm_get(test_finding(&j, "idle_input"), "evidence"),
                         "a single event; the profile does not show whether it recurs"));
    test_judged_free(&j);
    test_judge(&j, IDLE("launch", "30000000000"), NULL); /* 2 ms of it in one gap */
    assert_false(has_text(tm_get(test_finding(&j, "idle_launch"), "evidence"), "One gap accounts"));
    test_judged_free(&j);
}

/* Calls that took many times what those of their name take: what the thread did is not their work. */
static void a_call_that_is_held_up_is_not_blamed(void **state)
{
#define HELD(count, long_count, usual)                                                                                 \
    "{'gaps': {'by_cause': {'host': {'count': 9, 'total_ps': 30000000000}}, 'longest': [{'device': 'vm/gpu:1', "       \
    "'begin_ps': "                                                                                                     \
    "1000, 'dur_ps': 20000000000, 'cause': 'host', 'host_event': 'aten::empty', 'host_thread': 'launching', 'calls': " \
    "{'count': " count ", 'long_count': " long_count ", 'usual_ps': " usual "}, 'parts': {'host': 16000000000}}]}}"
    static const char *const others[] = { HELD("19", "1", "8000000"), HELD("331", "34", "8000000"),
                                          HELD("331", "0", "8000000"), HELD("331", "2", "900000000"),
                                          HELD("331", "331", "null") };
    struct judged j;

    (void)state;
    test_judge(&j, HELD("331", "2", "8000000"), NULL);
    assert_string_equal(tm_text(tm_get(test_finding(&j, "idle_host"), "title")),
                        "The launching thread stalls in calls that are usually short");
    assert_true(has_text(tm_get(test_finding(&j, "idle_host"), "evidence"),
                         "host in 'aten::empty' (329 of 331 such calls take 8.00"));
    test_judged_free(&j);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        test_judge(&j, others[i], NULL);
        assert_non_null(strstr(tm_text(tm_get(test_finding(&j, "idle_host"), "title")), "Host code delays launches"));
        assert_false(has_text(tm_get(test_finding(&j, "idle_host"), "evidence"), "such calls"));
        test_judged_free(&j);
    }
}

/* Another thread launches and recorded too little: what the main thread did is told as that. */
static void the_main_thread_is_not_taken_for_the_launching_one(void **state)
{
#define MAIN(cause, main_ps)                                                                                           \
    "{'gaps': {'by_cause': {'" cause "': {'count': 9, 'total_ps': 30000000000, 'main_ps': " main_ps "}}, 'longest': "  \
    "[{'device': 'vm/gpu:1', 'begin_ps': 1000, 'dur_ps': 12000000000, 'cause': '" cause                                \
    "', 'host_event': 'backward', "                                                                                    \
    "'host_thread': 'main', 'parts': {'" cause "': 12000000000}}]}}"
    struct judged j;

    (void)state;
    test_judge(&j, MAIN("host", "16000000000"), NULL);
    assert_non_null(
        strstr(tm_text(tm_get(test_finding(&j, "idle_host"), "title")), "launching thread recorded nothing"));
    assert_true(has_text(tm_get(test_finding(&j, "idle_host"), "evidence"),
                         "For 16.0 ms of it, the launching thread recorded too few events"));
    assert_true(has_text(tm_get(test_finding(&j, "idle_host"), "evidence"), "main thread in 'backward'"));
    test_judged_free(&j);
    test_judge(&j, MAIN("host", "2000000000"), NULL);
    assert_non_null(strstr(tm_text(tm_get(test_finding(&j, "idle_host"), "title")), "Host code delays launches"));
    assert_false(has_text(tm_get(test_finding(&j, "idle_host"), "evidence"), "recorded too few events"));
    test_judged_free(&j);
    test_judge(&j, MAIN("sync", "30000000000"), NULL);
    assert_true(
        has_text(tm_get(test_finding(&j, "idle_sync"), "evidence"), "launching threads recorded nothing either"));
    assert_true(has_text(tm_get(test_finding(&j, "idle_sync"), "evidence"),
                         "The host blocks for up to 12.0 ms while the device is idle"));
    test_judged_free(&j);
}

/* One rank of several: waiting for the others cannot be told from moving data. */
static void a_rank_alone_is_told_to_be_one(void **state)
{
#define RANKS(world, unmatched)                                                                                        \
    "{'environment': {'platform': 'gpu', 'hosts': [{'host': 'vm', 'rank': 0, 'world_size': " world                     \
    "}]}, 'devices': [{'id': "                                                                                         \
    "'vm/gpu:0'}], 'total': {'exposed_collective_ps': 30000000000, 'collective_ps': 40000000000, 'exposed_wait_ps': "  \
    "null, "                                                                                                           \
    "'exposed_move_ps': null, 'exposed_unmatched_ps': " unmatched "}}"
    struct judged j;

    (void)state;
    test_judge(&j, RANKS("8", "30000000000"), NULL);
    assert_non_null(
        strstr(tm_text(tm_get(test_finding(&j, "collective_exposed"), "title")), "or waiting for other devices"));
    assert_true(has_text(tm_get(test_finding(&j, "collective_exposed"), "evidence"),
                         "The profile has 1 of the job's 8 ranks, so it does not show how much of 30.0 ms is waiting"));
    assert_non_null(
        strstr(tm_text(tm_path(test_finding(&j, "collective_exposed"), "fix[0]")), "tracemill report first.json"));
    test_judged_free(&j);
    test_judge(&j, RANKS("1", "30000000000"), NULL);
    assert_true(has_text(tm_get(test_finding(&j, "collective_exposed"), "evidence"),
                         "no counterpart on another device is known"));
    test_judged_free(&j);
}

/* Devices that are threads of one CPU. */
static void devices_of_one_cpu_are_told_to_share_it(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j,
               "{'environment': {'platform': 'cpu'}, 'devices': [{'id': 'vm/cpu:0'}, {'id': 'vm/cpu:1'}], 'total': "
               "{'exposed_collective_ps': 50000000000, 'collective_ps': 50000000000, 'exposed_wait_ps': 20000000000, "
               "'exposed_move_ps': 30000000000, 'exposed_unmatched_ps': 0}}",
               NULL);
    assert_non_null(strstr(tm_text(tm_get(test_finding(&j, "collective_exposed"), "title")), "threads of one CPU"));
    assert_true(has_text(tm_get(test_finding(&j, "collective_exposed"), "evidence"), "most of it may be waiting"));
    assert_true(has_text(tm_get(test_finding(&j, "straggler"), "evidence"), "threads of one CPU"));
    test_judged_free(&j);
}

/* Of few launches that took long a part is short: each cause gives what its short gaps have, no more. */
static void eager_dispatch_draws_from_the_causes_of_its_gaps(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j, EAGER("5100", "1300", "at::native::add"), NULL);
    assert_true(
        has_text(tm_get(test_finding(&j, "eager_dispatch"), "evidence"), "Before 1,300 of them, the device is idle"));
    assert_null(
        test_finding(&j, "idle_device_wait")); /* launched work that waits is none of it, and too little to tell */
    test_judged_free(&j);
}

static void advice_for_gpus_is_for_gpus(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j, IDLE("launch", "30000000000"), NULL);
    assert_true(has_text(tm_get(test_finding(&j, "idle_launch"), "fix"), "CUDA graphs"));
    test_judged_free(&j);
    test_judge(&j,
               "{'environment': {'platform': 'tpu'}, 'gaps': {'by_cause': {'launch': {'count': 9, "
               "'total_ps': 60000000000}}}}",
               NULL);
    assert_false(has_text(tm_get(test_finding(&j, "idle_launch"), "fix"), "CUDA"));
    assert_false(has_text(tm_get(test_finding(&j, "idle_launch"), "fix"), "|"));
    test_judged_free(&j);
}

#define OF_FRAMEWORK(framework)                                                                                        \
    "{'environment': {'platform': 'gpu', 'hosts': [{'host': 'vm', 'framework': " framework "}]}, "                     \
    "'input': {'files': [{'path': 'a.json', 'kind': 'chrome_json', 'host': 'vm'}]}, "

static void advice_is_of_the_framework(void **state)
{
    static const struct {
        const char *framework, *in_fix, *not_in_fix, *in_cause;
    } rows[] = {
        { OF_FRAMEWORK("'jax'"), "jax.jit", "torch", "outside jit" },
        { OF_FRAMEWORK("'pytorch'"), "reduce-overhead", "jax", "torch.compile" },
        { OF_FRAMEWORK("'tensorflow'"), "@tf.function", "jax", "Outside of `@tf.function`" },
        { OF_FRAMEWORK("null"), "a larger batch", "torch", "Short kernels finish" },
        { "{'environment': {'hosts': [{'framework': null}]}, ", "jax.jit", "torch", "outside jit" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct tm_value *f;
        char patch[1024];
        struct judged j;

        (void)snprintf(patch, sizeof(patch), "%s%s", rows[i].framework, &IDLE("launch", "30000000000")[1]);
        test_judge(&j, patch, NULL);
        f = test_finding(&j, "idle_launch");
        assert_non_null(f);
        assert_true(has_text(tm_get(f, "fix"), rows[i].in_fix));
        assert_false(has_text(tm_get(f, "fix"), rows[i].not_in_fix));
        assert_false(has_text(tm_get(f, "fix"), "|"));
        assert_non_null(strstr(tm_text(tm_get(f, "cause")), rows[i].in_cause));
        test_judged_free(&j);
    }
}

/* What only JAX's profilers can leave. */
static bool is_of_jax_alone(const char *id)
{
    static const char *const ids[] = { "events_capped", "profiler_warnings", "no_framework_paths", "memory_holders" };

    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
        if (strcmp(ids[i], id) == 0)
            return true;
    return false;
}

/* Whatever is found, runs of PyTorch, of TensorFlow and of unknown programs get some advice, and none for JAX. */
static void no_rule_speaks_of_jax_to_others(void **state)
{
    static const char *const frameworks[] = { OF_FRAMEWORK("'pytorch'"), OF_FRAMEWORK("null"),
                                              OF_FRAMEWORK("'tensorflow'") };
    enum { TORCH, TENSORFLOW = 2 };
    static const char *const words[] = { "jax", "JAX", "optax", "XLA", "xla", "jit" };
    enum { WORDS = sizeof(words) / sizeof(words[0]), WORDS_OF_JAX_ALONE = 3 }; /* TensorFlow programs can use XLA */

    (void)state;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        for (size_t k = 0; k < sizeof(frameworks) / sizeof(frameworks[0]); k++) {
            const struct tm_value *f;
            char patch[4096];
            struct judged j;

            if (!rules[i].id || strstr(rules[i].patch, "'environment'") || strstr(rules[i].patch, "'input': {") ||
                is_of_jax_alone(rules[i].id) ||
                (k == TORCH &&
                 strcmp(rules[i].id, "memory_allocations") == 0)) /* PyTorch's allocator is made for them */
                continue;
            (void)snprintf(patch, sizeof(patch), "%s%s", frameworks[k], &rules[i].patch[1]);
            test_judge(&j, patch, NULL);
            check_all(&j);
            f = test_finding(&j, rules[i].id);
            if (!f)
                fail_msg("%s gives no '%s'", patch, rules[i].id);
            for (size_t w = 0; w < (k == TENSORFLOW ? WORDS_OF_JAX_ALONE : WORDS); w++) {
                const bool is_where_to_find_it =
                    strcmp(rules[i].id, "no_device_activity") == 0 || strcmp(rules[i].id, "no_steps") == 0;

                if (has_text(tm_get(f, "fix"), words[w]) && !(k != TORCH && is_where_to_find_it))
                    fail_msg("the advice of %s holds '%s'", rules[i].id, words[w]);
                if (strstr(tm_text(tm_get(f, "cause")), words[w]))
                    fail_msg("the cause of %s holds '%s'", rules[i].id, words[w]);
            }
            if (k == TENSORFLOW &&
                strcmp(rules[i].id, "elementwise_unfused") != 0 && /* counted in PyTorch's eager mode */
                has_text(tm_get(f, "fix"), "torch."))
                fail_msg("the advice of %s is for PyTorch", rules[i].id);
            test_judged_free(&j);
        }
    }
}

static void the_limit_of_jax_is_no_limit_of_others(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j, "{'environment': {'hosts': [{'host': 'vm', 'framework': 'pytorch', 'device_events': 2097152}]}}",
               NULL);
    assert_null(test_finding(&j, "events_capped"));
    test_judged_free(&j);
}

static void the_json_of_jax_is_told_to_be_a_copy(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j, "{'input': {'files': [{'path': 'a.json', 'kind': 'chrome_json', 'notes': ['it lacks HLO']}]}}",
               NULL);
    assert_true(has_text(tm_get(test_finding(&j, "json_copy"), "evidence"), "it lacks HLO"));
    assert_true(has_text(tm_get(test_finding(&j, "json_copy"), "fix"), ".xplane.pb"));
    test_judged_free(&j);
}

static void a_text_is_for_the_runs_that_it_names(void **state)
{
    static const struct {
        unsigned audience;
        const char *text, *fit; /* NULL: for others */
    } rows[] = {
        { TM_FOR_GPU | TM_FOR_JAX, "for all", "for all" },
        { TM_FOR_GPU | TM_FOR_JAX, "gpu|a", "a" },
        { TM_FOR_TPU | TM_FOR_JAX, "gpu|a", NULL },
        { TM_FOR_JAX, "gpu|a", NULL },
        { TM_FOR_GPU | TM_FOR_JAX, "gpu,jax|a", "a" },
        { TM_FOR_GPU | TM_FOR_TORCH, "gpu,jax|a", NULL },
        { TM_FOR_TPU | TM_FOR_JAX, "gpu,jax|a", NULL },
        { TM_FOR_TPU | TM_FOR_JAX, "gpu,tpu,jax|a", "a" },
        { TM_FOR_OTHER, "torch,other|a", "a" },
        { TM_FOR_GPU | TM_FOR_JAX | TM_FOR_TRAIN, "train,jax|a", "a" },
        { TM_FOR_GPU | TM_FOR_JAX | TM_FOR_INFER, "train,jax|a", NULL },
        { TM_FOR_GPU | TM_FOR_JAX | TM_FOR_INFER, "infer|a", "a" },
        { TM_FOR_TORCH | TM_FOR_TRAIN, "infer|a", NULL },
        { TM_FOR_TORCH | TM_FOR_TRAIN, "jax,train|a", NULL },
        { TM_FOR_TORCH, "torch,other|a", "a" },
        { TM_FOR_JAX, "torch,other|a", NULL },
        { TM_FOR_JAX, "gpu", "gpu" },
        { TM_FOR_JAX, "torch, or `a|b`", "torch, or `a|b`" },
        { TM_FOR_JAX, "jax|a|b", "a|b" },
        { TM_FOR_JAX, "|a", "|a" },
        { TM_FOR_JAX, "", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *fit = tm_text_for(rows[i].audience, rows[i].text);

        if ((fit == NULL) != (rows[i].fit == NULL) || (fit && strcmp(fit, rows[i].fit) != 0))
            fail_msg("row %zu, '%s' gives '%s'", i, rows[i].text, fit ? fit : "nothing");
    }
}

static void frameworks_that_differ_are_none(void **state)
{
    static const struct {
        const char *hosts, *files, *framework;
    } rows[] = {
        { "{'framework': 'pytorch'}, {'framework': 'pytorch'}", "{'kind': 'chrome_json'}", "pytorch" },
        { "{'framework': 'pytorch'}, {'framework': null}", "{'kind': 'chrome_json'}", "" },
        { "{'framework': 'pytorch'}, {'framework': 'jax'}", "{'kind': 'chrome_json'}, {'kind': 'xspace'}", "jax" },
        { "{'framework': null}", "{'kind': 'xspace'}", "jax" },
        { "{'framework': null}", "{'kind': 'chrome_json'}", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char patch[512];
        struct judged j;

        (void)snprintf(patch, sizeof(patch), "{'environment': {'hosts': [%s]}, 'input': {'files': [%s]}}",
                       rows[i].hosts, rows[i].files);
        test_judge(&j, patch, NULL);
        assert_string_equal(tm_query_framework(j.summary), rows[i].framework);
        test_judged_free(&j);
    }
}

static void on_a_tpu_the_cores_wait(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j,
               "{'environment': {'platform': 'tpu'}, 'total': {'exposed_by_direction_ps': {'h2d': "
               "90000000000}}, 'transfers': null}",
               NULL);
    assert_string_equal(tm_text(tm_get(test_finding(&j, "transfer_h2d"), "title")),
                        "The cores wait for data from host memory");
    test_judged_free(&j);
}

static void limits_of_the_user_decide(void **state)
{
    struct judged j;

    (void)state;
    test_judge(&j, IDLE("input", "30000000000"),
               "{'limits': [{'id': 'critical_share', 'value': 40}, {'id': 'warning_share', 'value': 20}]}");
    assert_string_equal(tm_text(tm_get(test_finding(&j, "idle_input"), "severity")), "info");
    test_judged_free(&j);
}

struct sentence {
    const char *patch, *text, *severity;
};

static void the_verdict_names_the_largest_loss(void **state)
{
    static const struct sentence sentences[] = {
        { "{}",
          "Healthy: the 2 devices are busy 95.0% of the time, and no single avoidable loss "
          "reaches 3.0% of the window.",
          "info" },
        { "{'total': {'devices': 1, 'utilization_pct': 42}, 'gaps': {'by_cause': {'input': "
          "{'count': 9, 'total_ps': 62000000000}}}}",
          "The device is busy 42.0% of the time; the largest loss is input stalls (31.0% "
          "of the window).",
          "critical" },
        { "{'total': {'utilization_pct': 90}, 'gaps': {'by_cause': {'sync': {'count': 9, "
          "'total_ps': 8000000000}}}}",
          "The 2 devices are busy 90.0% of the time; the largest loss is host "
          "synchronization (4.0% of the window).",
          "warning" },
        { "{'total': {'utilization_pct': 70}, 'gaps': {'by_cause': {'device_wait': {'count': 9, "
          "'total_ps': 50000000000}}}}",
          "The 2 devices are busy 70.0% of the time, and no single avoidable loss reaches 3.0% of the window. "
          "Launched work is stalled on the device for 25.0% of the window; the recoverable part is unknown.",
          "info" },
        { "{'total': {'utilization_pct': 50}, 'gaps': {'by_cause': {'device_wait': {'count': 9, "
          "'total_ps': 70000000000}, 'gc': {'count': 9, 'total_ps': 30000000000}}}}",
          "The 2 devices are busy 50.0% of the time; the largest loss is garbage collection (15.0% of the window). "
          "Launched work is stalled on the device for 35.0% of the window; the recoverable part is unknown.",
          "critical" },
        { "{'total': {'utilization_pct': 50}, 'gaps': {'by_cause': {'device_wait': {'count': 9, "
          "'total_ps': 30000000000}, 'gc': {'count': 9, 'total_ps': 30000000000}}}}",
          "The 2 devices are busy 50.0% of the time; the largest loss is garbage collection "
          "(15.0% of the window).",
          "critical" },
        { "{'roofline': {'compute_ps': 100000000000}, 'ops': {'basis': 'hlo_op', 'families': [{'longest': 'dot', "
          "'members': "
          "1, 'counts_as_one': true, 'self_ps': 60000000000}], 'rows': [{'name': 'dot', 'self_ps': 60000000000}, "
          "{'name': "
          "'b', 'self_ps': 1}]}}",
          "The 2 devices are busy 95.0% of the time; the largest loss is one dominant operation "
          "(27.9% of the window).",
          "critical" },
        { "{'total': {'utilization_pct': 70}}",
          "The 2 devices are busy 70.0% of the time, and no single avoidable loss reaches 3.0% "
          "of the window.",
          "info" },
        { "{'occupancy': {'mean_pct': 12, 'known_ps': 1, 'unknown_ps': 0}}",
          "Healthy: the 2 devices are busy 95.0% of the time, and no single avoidable loss reaches 3.0% of the "
          "window.",
          "info" },
        { "{'compile': {'total_ps': 11000000000000}}",
          "The 2 devices are busy 95.0% of the time, and no single avoidable loss reaches 3.0% "
          "of the window. Caution: Compilation takes 11.0 s of this session.",
          "warning" },
        { "{'input': {'partial': true, 'files': [{'path': 'a', 'partial': true}]}, 'gaps': "
          "{'by_cause': {'gc': {'count': 1, 'total_ps': 30000000000}}}}",
          "The 2 devices are busy 95.0% of the time; the largest loss is garbage collection "
          "(15.0% of the window). The input is damaged: the figures cover what could be read.",
          "critical" },
        { "{'devices': [], 'window': {'total_ps': null}, 'total': {'utilization_pct': null}, "
          "'gaps': null, 'transfers': null, 'kernels': null}",
          "No device activity was recorded, so there are no device figures.", "warning" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++) {
        struct judged j;

        test_judge(&j, sentences[i].patch, NULL);
        assert_string_equal(tm_text(tm_path(j.summary, "verdict.text")), sentences[i].text);
        assert_string_equal(tm_text(tm_path(j.summary, "verdict.severity")), sentences[i].severity);
        test_judged_free(&j);
    }
}

/* A summary of a run in which everything failed, or of another program. */
static void any_summary_can_be_judged(void **state)
{
    static const char *const summaries[] = {
        "{}",
        "{'window': 7, 'gaps': [], 'kernels': 'x', 'devices': {}, 'total': [1], 'steps': null, "
        "'input': null}",
        "{'gaps': {'by_cause': [1, 2], 'longest': {}}, 'transfers': {'by_direction': [7, null, "
        "'x']}, 'coverage': {'tallies': [], 'classes': 7, 'warnings': [1, null]}, 'memory': "
        "{'allocators': [null]}}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(summaries) / sizeof(summaries[0]); i++) {
        struct tm_run run = { .quiet = true };
        struct tm_thresholds t;
        struct tm_doc *doc;

        tm_budget_init(&run.budget, (size_t)TM_MEMORY_LEAST_MIB * TM_MIB);
        assert_int_equal(tm_thresholds_init(&t, &run.error), TM_OK);
        doc = tm_doc_new(&run);
        assert_non_null(doc);
        test_summary_load(tm_doc_root(doc), summaries[i]);
        assert_int_equal(tm_findings_add(&run, tm_doc_root(doc), &t), TM_OK);
        assert_int_equal(tm_verdict_add(&run, tm_doc_root(doc), &t), TM_OK);
        assert_string_equal(tm_text(tm_path(tm_doc_root(doc), "verdict.text")),
                            "No device activity was recorded, so there are no device figures.");
        tm_doc_free(doc);
    }
}

static void sums_of_times_end_at_the_largest(void **state)
{
    (void)state;
    assert_int_equal(tm_sum_times(2, 3), 5);
    assert_true(tm_sum_times(INT64_MAX, 1) == INT64_MAX);
    assert_true(tm_sum_times(INT64_MIN, -1) == INT64_MIN);
    assert_true(tm_whole(1e300) == INT64_MAX && tm_whole(-1e300) == INT64_MIN);
    assert_true(tm_whole(0x1p63) == INT64_MAX && tm_whole(-0x1p63) == INT64_MIN && tm_whole(NAN) == INT64_MIN);
    assert_true(tm_whole(0x1.fffffffffffffp62) == 0x7ffffffffffffc00);
    assert_int_equal(tm_whole(41.9), 41);
    assert_true(tm_share_pct(INT64_MAX, INT64_MAX) == 100 && tm_share_pct(-1, 5) == 0);
}

static void numbers_past_any_range_stay_in_the_window(void **state)
{
    struct judged j;

    (void)state;
    test_judge(
        &j,
        "{'window': {'total_ps': 9000000000000000000}, 'total': {'exposed_by_direction_ps': "
        "null}, 'gaps': {'by_cause': {'input': {'count': 1, 'total_ps': 9.3e18}, 'sync': "
        "{'count': -5, 'total_ps': -9.3e18}, 'launch': {'total_ps': 9.3e18, 'main_ps': -9e18}}, 'short': {'by_cause': "
        "{'host': {'count': 9e18, 'total_ps': -9e18}, 'launch': {'count': 9e18, 'total_ps': 9e18}}}, 'longest': "
        "[{'cause': 'input', 'begin_ps': 9.2e18, 'dur_ps': 9.2e18, 'device': 'x'}, {'cause': 'launch', 'begin_ps': "
        "9.2e18, "
        "'dur_ps': 9.2e18, 'device': 'x', 'parts': {'launch': 1e18}, 'launch': {'begin_ps': -9.2e18, 'dur_ps': -1}, "
        "'calls': {'count': 9e18, 'long_count': -9e18, 'usual_ps': -9e18}}]}, 'devices': [{'id': 'a', 'lead_idle_ps': "
        "9e18, "
        "'trail_idle_ps': 9e18, 'compute_ps': 9e18}, {'id': 'b', 'lead_idle_ps': 9e18, "
        "'compute_ps': 1}], 'balance': {'imbalance_pct': 900}, 'transfers': {'by_direction': "
        "[{'direction': 'h2d', 'exposed_ps': 9e18}, {'direction': 'd2h', 'exposed_ps': 9e18}], "
        "'ping_pong': {'count': 9e18}, 'repeated': [{'direction': 'h2d', 'bytes': 9e18, "
        "'total_ps': 9e18}, {'direction': 'h2d', 'bytes': 9e18, 'total_ps': 9e18}]}, 'compile': "
        "{'count': 1, 'total_ps': 9e18, 'recompiled': [{'module': 'm', 'count': 9e18}]}}",
        NULL);
    check_all(&j);
    assert_non_null(test_finding(&j, "idle_input"));
    test_judged_free(&j);
}

static void names_of_a_trace_are_shown_safely(void **state)
{
    const struct tm_value *f;
    struct judged j;

    (void)state;
    test_judge(&j,
               "{'kernels': {'by_name': [{'name': 'bad\\u001b[31m\\u202ename', 'count': 1, "
               "'total_ps': 100000000000}, {'name': 'b', 'count': 1, 'total_ps': 1}]}}",
               NULL);
    f = test_finding(&j, "kernel_dominant");
    assert_non_null(f);
    assert_null(strchr(tm_text(tm_get(f, "title")), '\033'));
    assert_null(strstr(tm_text(tm_get(f, "title")), "\xe2\x80\xae"));
    test_judged_free(&j);
}

static tm_status judge_all(struct tm_run *run)
{
    struct tm_thresholds t;
    struct tm_doc *doc = tm_doc_new(run);
    tm_status st;

    if (!doc)
        return run->error.status;
    test_summary_load_changed(tm_doc_root(doc), test_healthy_summary, IDLE("input", "30000000000"));
    st = tm_thresholds_init(&t, &run->error);
    if (st == TM_OK)
        st = tm_findings_add(run, tm_doc_root(doc), &t);
    if (st == TM_OK)
        st = tm_kpis_add(run, tm_doc_root(doc), &t);
    if (st == TM_OK)
        st = tm_verdict_add(run, tm_doc_root(doc), &t);
    tm_doc_free(doc);
    return st;
}

static void refused_memory_is_an_error(void **state)
{
    (void)state;
    refuse_each_request(judge_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_finds_what_it_is_for_and_nothing_else),
        cmocka_unit_test(gaps_of_a_cause_tell_where_they_are),
        cmocka_unit_test(an_empty_step_tells_its_host),
        cmocka_unit_test(one_wait_of_several_devices_is_told_once),
        cmocka_unit_test(long_waits_are_no_pauses_between_short_kernels),
        cmocka_unit_test(potential_savings_are_checked_by_replays),
        cmocka_unit_test(a_replay_is_about_the_hosts_of_the_finding),
        cmocka_unit_test(a_wait_is_at_stake_where_its_reason_is),
        cmocka_unit_test(devices_that_are_not_active_at_the_same_time_have_no_imbalance),
        cmocka_unit_test(a_share_is_of_the_devices_that_a_finding_is_about),
        cmocka_unit_test(the_share_of_copies_and_collectives_is_of_their_devices),
        cmocka_unit_test(the_wait_for_a_straggler_is_no_exposed_collective),
        cmocka_unit_test(advice_about_collectives_fits_what_they_are_for),
        cmocka_unit_test(pauses_between_programs_are_no_host_work),
        cmocka_unit_test(eager_dispatch_is_one_finding),
        cmocka_unit_test(what_a_driver_does_once_is_no_host_code),
        cmocka_unit_test(a_layer_is_not_slow_for_what_a_dominant_operation_takes),
        cmocka_unit_test(a_cause_that_is_never_the_largest_part_is_told_too),
        cmocka_unit_test(the_longest_compiles_are_named_first),
        cmocka_unit_test(compiling_inside_steps_is_told_once),
        cmocka_unit_test(copies_that_come_back_are_told_beside_their_direction),
        cmocka_unit_test(jumps_of_a_full_allocator_are_told),
        cmocka_unit_test(a_full_and_fragmented_allocator_is_a_warning),
        cmocka_unit_test(without_host_events_idle_time_is_told_as_that),
        cmocka_unit_test(few_late_launches_are_not_many_launches),
        cmocka_unit_test(a_single_event_is_told_as_one),
        cmocka_unit_test(a_call_that_is_held_up_is_not_blamed),
        cmocka_unit_test(the_main_thread_is_not_taken_for_the_launching_one),
        cmocka_unit_test(a_rank_alone_is_told_to_be_one),
        cmocka_unit_test(devices_of_one_cpu_are_told_to_share_it),
        cmocka_unit_test(eager_dispatch_draws_from_the_causes_of_its_gaps),
        cmocka_unit_test(advice_for_gpus_is_for_gpus),
        cmocka_unit_test(advice_is_of_the_framework),
        cmocka_unit_test(no_rule_speaks_of_jax_to_others),
        cmocka_unit_test(the_limit_of_jax_is_no_limit_of_others),
        cmocka_unit_test(the_json_of_jax_is_told_to_be_a_copy),
        cmocka_unit_test(a_text_is_for_the_runs_that_it_names),
        cmocka_unit_test(frameworks_that_differ_are_none),
        cmocka_unit_test(on_a_tpu_the_cores_wait),
        cmocka_unit_test(limits_of_the_user_decide),
        cmocka_unit_test(the_verdict_names_the_largest_loss),
        cmocka_unit_test(any_summary_can_be_judged),
        cmocka_unit_test(sums_of_times_end_at_the_largest),
        cmocka_unit_test(numbers_past_any_range_stay_in_the_window),
        cmocka_unit_test(names_of_a_trace_are_shown_safely),
        cmocka_unit_test(refused_memory_is_an_error),
    };

    return cmocka_run_group_tests_name("findings", tests, NULL, NULL);
}
