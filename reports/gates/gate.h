/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_GATE_H
#define TM_GATE_H

#include "reports/gates/gates.h"
#include "reports/gates/gate_limit.h"

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

/* Gates without rows, with room for that many.  errors: NULL and TM_ERR_LIMIT */
struct tm_gates *tm_gates_new(struct tm_run *run, size_t room) TM_MUST_USE;

/* A gate is wrong: where it stands is put before the reason.
 * out: TM_ERR_USAGE */
tm_status tm_gate_refuse(struct tm_run *run, const struct tm_gates *gates,
                         const struct tm_gate *gate, const char *format, ...) TM_PRINTF(4, 5);

/* Take the limit, in the unit that is written behind it.  "1.1x" of max and min makes the rule a
 * relative one. in:     text  kept: of the gates' document out:    false, *wrong */
bool tm_gate_set_limit(struct tm_gate *gate, const char *text, struct tm_wrong *wrong);
/* Does the limit's unit fit a rule whose limit is no figure (a change in percent)? */
bool tm_gate_check_limit(const struct tm_gate *gate, struct tm_wrong *wrong);

#endif
