/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CAUSES_H
#define TM_CAUSES_H

#include "reports/compare/comparison.h"
#include "reports/format/format.h"

/* Why a step of one side takes longer or shorter than one of the base.  Rules look at the
 * comparison, special ones first; each takes what it explains out of the changes of the parts, so
 * that nothing is told twice, and what no rule has taken is told by the part itself. */
enum {
    CAUSES_MOST = 48, /* of one side; more are left to their parts */
    CAUSE_TITLE_BYTES = 240,
    CAUSE_EVIDENCE_MOST = 6,
    CAUSE_EVIDENCE_BYTES = 360,
    CAUSE_FIXES_MOST = 4,
};

struct cause {
    const char *id;
    char title[CAUSE_TITLE_BYTES];
    char evidence[CAUSE_EVIDENCE_MOST][CAUSE_EVIDENCE_BYTES];
    int evidence_count;
    const char *why;          /* what it means, a sentence; NULL = nothing */
    const char *const *fixes; /* ends with NULL; for what became slower */
    double value;             /* in `unit`; NaN = none */
    const char *unit;
    double change_ps;         /* of the step; 0 of a fact */
    bool is_fact, is_warning; /* of a fact */
    bool is_rest;             /* what no cause explains: told behind those */
    int number;               /* in the order in which they were found */
};

struct causes {
    struct comparison *c;
    size_t side;
    const struct waterfall *w;
    bool is_tested;
    double step_ps; /* of the base */
    double left_ps[TM_PARTS];
    bool is_compute_told; /* by something that is no single operation */
    struct cause *list;   /* CAUSES_MOST, and one that takes what does not fit */
    int count;
};

typedef tm_status cause_rule(struct causes *k);

extern cause_rule tm_find_slow_device;
extern cause_rule tm_find_recompiles;
extern cause_rule tm_find_transfer_causes;
extern cause_rule tm_find_collective_causes;
extern cause_rule tm_find_lost_overlap;
extern cause_rule tm_find_idle_changes;
extern cause_rule tm_find_changed_parts;

/* What the titles of a side's causes begin with: "" of two sides, else "LABEL: ".  out: returned */
const char *tm_cause_side(const struct comparison *c, size_t side, char out[TM_FORMAT_BYTES]);

/* Begin a cause.  out: never NULL */
struct cause *tm_cause_begin(struct causes *k, const char *id, double change_ps);
struct cause *tm_cause_of_fact(struct causes *k, const char *id);
void tm_cause_set_title(struct cause *cause, const char *format, ...) TM_PRINTF(2, 3);
void tm_cause_say(struct cause *cause, const char *format, ...) TM_PRINTF(2, 3);

/* Has the part changed: significantly, or, where nothing can be tested, by enough? */
bool tm_part_has_changed(const struct causes *k, enum tm_part part);
/* A change of the step that is worth a line. */
bool tm_is_worth_a_cause(const struct causes *k, double change_ps);

/* Take up to so much (with its sign) out of what is left of a part's change.  out: what was there
 * of it */
double tm_take_from_part(struct causes *k, enum tm_part part, double change_ps);

/* "+1.23 ms", "-4.50 µs" */
enum { SIGNED_TIME_BYTES = 64 };

char *tm_signed_time(char out[SIGNED_TIME_BYTES], double ps);
/* "12.3 % longer", "4.0 % less", "3.1 times as long" */
char *tm_longer_by(char out[SIGNED_TIME_BYTES], double base, double value);

#endif
