/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FIGURE_STAGES_H
#define TM_FIGURE_STAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "pipeline/stage.h"
#include "pipeline/store/groups.h"
#include "stages/figures/figure_rows.h"
#include "stages/figures/host_threads.h"

/* The stages that compute the figures, and functions for their tests.  To add one: 1. a file here with its struct
 * tm_stage_type (pipeline/stage.h), 2. a row in tm_registry (pipeline/engine/analysis.c), 3. its section in
 * reports/content/ and in schemas/. */

/* Where and how the trace was made, and how much of it the figures cover.  Writes the sections environment,
 * coverage (except for the warnings) and unused. */
extern const struct tm_stage_type tm_overview_stage;

/* Whether an event of the ordered stream is in a figure. */
bool tm_overview_is_used(const struct tm_event *event);

/* The contents of a trace, for `inspect`: per host its steps, devices, lines and most frequent names.  Writes an array
 * `contents`, an element per host:
 *     {"host", "steps": {"source", "count", "chosen", "warmup", "incomplete"},
 *      "devices": [{"name", "kind", "model", "activities", "first_ps", "last_ps", "has_collapsed_graphs"}],
 *      "lines": [{"plane", "line", "id", "kind", "events", "first_ps", "last_ps"}], "line_count", "empty_lines",
 *      "more_lines": {"count", "events"},
 *      "names": [{"name", "class", "count", "total_ps"}], "name_count"} */
extern const struct tm_stage_type tm_contents_stage;

/* Copies from, to, between and inside devices: how many, how large, how fast, and how much of
 * them is exposed. Writes the section transfers.  source: docs/metrics.md, "Transfers" */
extern const struct tm_stage_type tm_transfers_stage;

/* Compiled programs as they are executed: how many a step has, and the pauses between them on a device.  Many small
 * ones in a step are work outside of jit.  source: docs/metrics.md, "Programs" */
extern const struct tm_stage_type tm_programs_stage;

/* How well the kernels of the analyzed steps occupy the SMs of their GPU, what limits it, and how much their last
 * waves leave idle. source: docs/metrics.md, "Occupancy" */
extern const struct tm_stage_type tm_occupancy_stage;

/* Activity of the hosts: launches and their delays, waits, functions, threads.  Adds to the section host, which
 * device_time has started.
 * source: docs/metrics.md, "Host" */
extern const struct tm_stage_type tm_host_stage;

/* What profiling itself costs, by tracer.  Adds to the section host, so it must follow that stage.
 * source: docs/metrics.md, "Cost of profiling" */
extern const struct tm_stage_type tm_profiling_stage;

/* Compilations: how many, how long, of what, inside which steps.  Writes the section compile.
 * source: docs/metrics.md, "Compilation" */
extern const struct tm_stage_type tm_compile_stage;

/* Similarities and differences between devices: compute by step, and the same ops on each device.  Adds to the section
 * balance of the stage device-time, so it must follow that stage. source: docs/metrics.md, "Balance" */
extern const struct tm_stage_type tm_balance_stage;

/* What programs that run on several devices repeat on each of them, and what they move to bring values from one
 * sharding to another, by their HLO.  Writes the section sharding.
 * source: docs/metrics.md, "Sharding" */
extern const struct tm_stage_type tm_sharding_stage;

/* What ran on the host although a device was available: calls back to Python, operations of the program, round trips of
 * data.  Writes the section fallback.
 * source: docs/metrics.md, "CPU fallback" */
extern const struct tm_stage_type tm_fallback_stage;

/* The names in a profile of callbacks from a JAX program to the host.
 * source: jax/_src/callback.py, debugging.py, interpreters/mlir.py (emit_python_callback), by profiles of JAX 0.10 */
enum tm_callback_kind {
    TM_CALLBACK, /* of a kind that no name identifies */
    TM_PURE_CALLBACK,
    TM_IO_CALLBACK,
    TM_DEBUG_CALLBACK,
    TM_DEBUG_PRINT,
    TM_HOST_CUSTOM_CALL, /* the program's HLO says so */
    TM_CALLBACK_KINDS
};

enum tm_callback_role {
    TM_ROLE_NONE,
    TM_ROLE_BEGINS,   /* the call back itself, outermost: "$callback.py:815 _wrapped_callback" */
    TM_ROLE_CALLS,    /* the next function inside is the user's: "$callback.py:69 __call__" */
    TM_ROLE_PLUMBING, /* JAX's intermediate calls, and Python's builtins */
    TM_ROLE_FUNCTION, /* another Python function */
};

struct tm_callback_name {
    enum tm_callback_role role;
    enum tm_callback_kind kind; /* TM_CALLBACK = the name does not say */
};

struct tm_callback_name tm_callback_name_of(const char *text, size_t length, bool is_cpu_op);

/* Device time by framework scope and pass, and host annotations with the device time that they launched.  Writes the
 * section scopes.
 * source: docs/metrics.md, "Scopes" */
extern const struct tm_stage_type tm_scopes_stage;

/* Collectives by what they do and how much they move.  Writes the section collectives.
 * source: docs/metrics.md, "Collectives" */
extern const struct tm_stage_type tm_collectives_stage;

#endif
