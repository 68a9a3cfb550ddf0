/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_GATE_H
#define TM_GATE_H

#include "pipeline/quantity.h"
#include "reports/gates/gates.h"

/* Limits as people write them: a number and the unit behind it. */
enum tm_limit_unit {
    TM_IN_NUMBER, /* a JSON number: in the unit of the figure, whatever that is */
    TM_IN_BARE,   /* a text without a unit */
    TM_IN_TIME,   /* ps */
    TM_IN_BYTES,
    TM_IN_PERCENT,
    TM_IN_BYTE_RATE, /* bytes/s */
    TM_IN_FLOP_RATE, /* FLOP/s */
    TM_IN_FACTOR,    /* "1.5x": of the baseline */
};

struct tm_gate_limit {
    double number;
    enum tm_limit_unit kind;
};

/* [+-]NUMBER[UNIT], as "150ms", "90%", "1.5GiB", "900 GB/s", "-0.5", "1.5x".
 * out: false, *wrong */
bool tm_gate_limit_read(const char *text, struct tm_gate_limit *limit, struct tm_wrong *wrong);

/* The limit in the unit of a figure, as the summary gives it beside the figure: "ps", "ms", "%",
 * "bytes", "count" ... out: false, *wrong where they do not go together */
bool tm_gate_limit_in_unit(struct tm_gate_limit limit, const char *unit, double *number, struct tm_wrong *wrong);

/* What gates are inside: a row for each rule of each gate.  Texts lie in the document of the gates.
 */
enum tm_rule {
    TM_RULE_MAX,
    TM_RULE_MIN,
    TM_RULE_EQUALS,
    TM_RULE_MAX_INCREASE,
    TM_RULE_MAX_DECREASE,
    TM_RULE_MAX_INCREASE_PCT,
    TM_RULE_MAX_DECREASE_PCT,
    TM_RULES
};

extern const char *const tm_rule_name[TM_RULES];

enum { TM_GATES_MOST = 4096, TM_FIGURE_BYTES = 512 };

struct tm_gate {
    size_t number;            /* in the file or on the command line, from 1 */
    const char *figure;       /* path, less than TM_FIGURE_BYTES */
    const char *title, *note; /* NULL = none */
    const char *job;          /* pattern of the jobs it is of; NULL = every run */
    const char *limit_text;   /* as the user wrote it */
    struct tm_gate_limit limit;
    double min_effect_pct; /* negative = not given */
    enum tm_rule rule;
    bool fails_at_limit; /* ">=" and "<=" of expressions */
    bool required, allow_partial;
};

struct tm_gates {
    struct tm_budget *budget;
    struct tm_doc *doc;
    const char *path; /* of the file, in the document; NULL = expressions */
    size_t count, room;
    struct tm_gate gate[];
};

bool tm_rule_is_relative(enum tm_rule rule);
/* Does it hold what becomes more? */
bool tm_rule_is_upper(enum tm_rule rule);

/* Does a later gate of the file say the same of the job (the same figure and rule)?  Then that one counts. */
bool tm_gate_is_overruled(const struct tm_gates *gates, const struct tm_gate *gate, const char *job);
bool tm_gate_fits_job(const struct tm_gate *gate, const char *job);

/* A gate is wrong: where it stands is put before the reason.
 * out: TM_ERR_USAGE */
tm_status tm_gate_refuse(struct tm_run *run, const struct tm_gates *gates, const struct tm_gate *gate,
                         const char *format, ...) TM_PRINTF(4, 5);

#endif
