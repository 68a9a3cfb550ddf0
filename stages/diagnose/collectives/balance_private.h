/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_BALANCE_PRIVATE_H
#define TM_BALANCE_PRIVATE_H

#include "pipeline/front.h"
#include "stages/diagnose/collectives/balance.h"
#include "stages/diagnose/run/members.h"
#include "stages/diagnose/shares.h"
#include "stages/diagnose/sums.h"

/* An op on a device.  The key is a hash of the op in its upper 96 bits and the device in its lower 32: the rows of an
 * op come one after the other, in the order of the devices. */
struct op_row {
    struct tm_key key;
    uint64_t count;
    int64_t total_ps;
    tm_strid name, module; /* module: 0 = not told */
};

/* Compute of a device in a step.  The key is the step's number, so that they come in order, and the device. */
struct step_row {
    struct tm_key key;
    int64_t compute_ps;
};

/* What a device computes: a union of activities that come in the order of their begins. */
struct load {
    int64_t until_ps;
    int64_t number;     /* of the step that compute_ps belongs to */
    uint32_t step;      /* its ordinal on the host */
    int64_t compute_ps; /* not in the rows yet */
};

struct balance {
    struct tm_run *run;
    const struct tm_trace *trace; /* of the present host */
    struct tm_names *names;
    struct tm_members members;
    struct load *loads;           /* of the present host, by device */
    uint32_t load_count;
    struct tm_groups *ops;        /* struct op_row */
    struct tm_groups *steps;      /* struct step_row */
    struct tm_front front;        /* of ops, by site */
};

enum { BALANCE_LISTED = 50 };

/* Parts of what the tables of this stage may take, in sixteenths; the last two are needed for the report only. */
enum { BALANCE_OPS = 7, BALANCE_STEPS = 3, BALANCE_FRONT = 3, BALANCE_TOP = 1, BALANCE_SPREADS = 2 };

static inline size_t balance_memory(struct tm_run *run, int parts)
{
    return tm_tables_memory(run, TM_TABLES_BALANCE, 16, (unsigned)parts);
}

static inline uint32_t member_of_op(const struct op_row *row)
{
    return (uint32_t)row->key.low;
}

static inline bool is_same_op(const struct op_row *a, const struct op_row *b)
{
    return a->key.high == b->key.high && a->key.low >> 32 == b->key.low >> 32;
}

/* Numbers of steps as keys that keep their order. */
static inline uint64_t key_of_step(int64_t number)
{
    return (uint64_t)number ^ (uint64_t)1 << 63;
}

static inline int64_t step_of_key(uint64_t key)
{
    return (int64_t)(key ^ (uint64_t)1 << 63);
}

/* balance_report.c, balance_partial.c */
tm_status report_balance(struct tm_stage *s, struct tm_value *summary) TM_MUST_USE;
tm_status save_balance(struct tm_stage *s, struct tm_partial_writer *w) TM_MUST_USE;
tm_status load_balance(struct tm_stage *s, struct tm_partial_reader *r) TM_MUST_USE;

#endif
