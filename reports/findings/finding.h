/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FINDING_H
#define TM_FINDING_H

#include "reports/findings/findings.h"
#include "reports/findings/summary_query.h"
#include "reports/findings/thresholds.h"
#include "reports/format/format.h"

/* To add a finding: 1. add its row to schemas/findings.json, 2. measure it in the file of its area, with the functions
 * below, 3. test it and add it to docs/metrics.md.  For details see findings.h.
 *
 * Shared by the rules: one finding under construction, and the list of them.  A rule reads the summary and, if its
 * limit is exceeded, adds one finding with measured evidence.  Everything here has a fixed size; text that does not fit
 * is cut. */
enum {
    TM_FINDINGS_MOST = 64, /* more than the number of rules times the maximum per rule */
    TM_EVIDENCE_MOST = 6,
    TM_EVIDENCE_BYTES = 480,
    TM_WHERE_MOST = 5,
    TM_STAKE_LEAST_PS = 10000000, /* 10 us: less is not a loss, however short the profile is */
};

/* A finding is created and filled in by the functions below. */
struct tm_finding;

/* Waits of the devices that findings can claim: the causes of idle time, as in gaps.by_cause, and exposed collectives. 
 * They are a budget: a finding that saves idle time claims it (tm_wait_explain, then tm_finding_claim), so all findings
 * together never claim more than the total. */
enum tm_wait {
    TM_WAIT_COLLECTIVE, /* exposed collectives: for a late device, or it is unknown for what */
    TM_WAIT_MOVE,       /* exposed collectives in which data moves */
    TM_WAIT_DEVICE,
    TM_WAIT_LAUNCH,
    TM_WAIT_COMPILE,
    TM_WAIT_INPUT,
    TM_WAIT_SYNC,
    TM_WAIT_GC,
    TM_WAIT_PROFILER,
    TM_WAIT_HOST,
    TM_WAIT_UNRECORDED,
    TM_WAITS
};

/* What one finding claims of each. */
struct tm_claim {
    int64_t ps[TM_WAITS];
};

struct tm_findings {
    const struct tm_value *summary;
    const struct tm_thresholds *thresholds;
    int64_t window_ps;            /* of all devices; 0 = no device activity */
    unsigned audience;            /* of the run */
    int64_t claimed_ps[TM_WAITS]; /* what other findings have of potential savings already */
    struct tm_value *checks;      /* the list of the summary */
    int count;
    struct tm_finding *list; /* TM_FINDINGS_MOST, plus one for findings that do not fit, which is not printed */
};

/* Take memory for the list.  errors: TM_ERR_LIMIT */
tm_status tm_findings_open(struct tm_findings *all, struct tm_run *run);
/* After all rules: findings in their order, with texts and severities, into a list of the summary. */
void tm_findings_write(struct tm_findings *all, struct tm_value *to);
void tm_findings_close(struct tm_findings *all, struct tm_run *run);

/* A group of rules: reads the summary and adds findings. */
typedef void tm_rules_fn(struct tm_findings *all);
extern tm_rules_fn tm_find_transfers;
extern tm_rules_fn tm_find_compiles;
extern tm_rules_fn tm_find_memory;
extern tm_rules_fn tm_find_balance;
extern tm_rules_fn tm_find_profile;
extern tm_rules_fn tm_find_kernels;
extern tm_rules_fn tm_find_host_work;
extern tm_rules_fn tm_find_collectives;
extern tm_rules_fn tm_find_idle;
extern tm_rules_fn tm_find_empty_queue;
extern tm_rules_fn tm_find_ops;
extern tm_rules_fn tm_find_broken_checks; /* after all others: it examines what they claim, and fills summary.checks */

/* Start a finding with the time that fixing it could save, at most the window; the severity follows from the share.
 * in:     id  of a row of schemas/findings.json, which has the texts
 * out:    never NULL; value, title arguments, cases and evidence are still to be added */
struct tm_finding *tm_finding_of_time(struct tm_findings *all, const char *id, int64_t at_stake_ps);
/* The same with idle time that was claimed from the waits: idle_ps of the potential savings.
 * in:     path  a time in the row of a device.  The finding is about the devices with at least half the share of the
 *         worst one in it, and its share refers to their windows; NULL = all devices */
struct tm_finding *tm_finding_of_idle(struct tm_findings *all, const char *id, int64_t at_stake_ps, int64_t idle_ps,
                                      const char *path);
/* Start a finding about time whose recoverable part is unknown or that another finding claims: no potential savings,
 * the share of the windows as its value, the severity of its row.
 * in:     path  as above */
struct tm_finding *tm_finding_of_share(struct tm_findings *all, const char *id, int64_t measured_ps, const char *path);
/* Start a finding of a fact: no potential savings, the severity of its row. */
struct tm_finding *tm_finding_of_fact(struct tm_findings *all, const char *id);
/* The idle time that all findings claim. */
int64_t tm_findings_idle_ps(const struct tm_findings *all);
/* Has a rule already reported this finding, or one that replaces it (`unless` in its row)? */
bool tm_is_reported(const struct tm_findings *all, const char *id);
void tm_finding_claim(struct tm_finding *f, const struct tm_claim *claim);

/* --- what is left of each wait --- */

/* The part of a wait that no finding claims yet. */
int64_t tm_wait_left(const struct tm_findings *all, enum tm_wait wait);
/* Claim up to `ps` for a finding that explains it, from the waits in their order, as far as they have some left.
 * out:    the time claimed, which is added to the claim */
int64_t tm_wait_explain(struct tm_findings *all, const enum tm_wait *waits, size_t count, int64_t ps,
                        struct tm_claim *claim);
enum tm_wait tm_wait_of_cause(const char *cause);                     /* of gaps.by_cause; TM_WAITS = unknown */
int64_t tm_wait_ps(const struct tm_findings *all, enum tm_wait wait); /* all of it */

/* Set a case, which selects texts and severity.  in:     name  one of the cases in the finding's row */
void tm_finding_case(struct tm_finding *f, const char *name);
/* The value of "{name}" in the title. */
void tm_finding_argument(struct tm_finding *f, const char *name, const char *format, ...) TM_PRINTF(3, 4);
void tm_finding_value(struct tm_finding *f, double value, const char *unit);
void tm_finding_limit(struct tm_finding *f, double limit);
/* Add one measured fact: a sentence of the finding's row in schemas/findings.json (findings.h), or one that is shared.
 * in:     sentence  its name
 *         row       what its values are looked up in before the summary; NULL = the summary alone */
void tm_finding_emit(struct tm_finding *f, const char *sentence, const struct tm_value *row);
/* The same with values that are not in the summary: tm_finding_emit_with(f, "ordinary", row, tm_given_int("ps",
 * ps)). */
void tm_finding_emit_given(struct tm_finding *f, const char *sentence, const struct tm_value *row,
                           const struct tm_given *given);
#define tm_finding_emit_with(f, sentence, row, ...)                                                                    \
    tm_finding_emit_given(f, sentence, row, (const struct tm_given[]){ __VA_ARGS__, { .name = NULL } })
/* A range of time that shows it. */
void tm_finding_where(struct tm_finding *f, int64_t start_ps, int64_t dur_ps, const char *device);

/* The same for a row with start_ps, dur_ps and device. */
void tm_finding_where_row(struct tm_finding *f, const struct tm_value *row);

/* A sentence for each of the first rows of a list, and the places of the first ones.
 * in:     sentence  NULL = none */
void tm_finding_emit_rows(struct tm_finding *f, const char *sentence, const struct tm_value *rows, size_t said,
                          size_t placed);

/* For a list: the sum of the times at a path over the matching rows, and the row of the highest rank, the first of equal
 * ones; NULL = it is empty. */
int64_t tm_sum_rows(const struct tm_value *rows, const char *path, bool (*is_meant)(const struct tm_value *row));
const struct tm_value *tm_highest_row(const struct tm_value *rows, double (*rank)(const struct tm_value *row));

/* Members of a row, formatted for evidence.  out:    out  returned; TM_FORMAT_BYTES, of a name TM_SHORT_NAME_BYTES */
char *tm_row_time(char *out, const struct tm_value *row, const char *key);
char *tm_row_count(char *out, const struct tm_value *row, const char *key);
char *tm_row_pct(char *out, const struct tm_value *row, const char *key);
char *tm_row_bytes(char *out, const struct tm_value *row, const char *key);
char *tm_row_name(char *out, const struct tm_value *row, const char *key);
/* A device for use inside a sentence.  out: out has TM_SHORT_NAME_BYTES; returned */
char *tm_finding_device(const struct tm_finding *f, char *out, const struct tm_value *id);

/* The value of a limit. */
double tm_limit_of(const struct tm_findings *all, enum tm_limit which);
/* Adds how many devices the finding is about, if not all. */
void tm_finding_emit_scope(const struct tm_findings *all, struct tm_finding *f, const char *path);
/* Is this share of the window large enough for a finding? */
bool tm_is_worth_mention(const struct tm_findings *all, int64_t ps);
/* The same for the windows of the devices that it is about, see tm_finding_of_idle. */
bool tm_is_worth_mention_on(const struct tm_findings *all, int64_t ps, const char *path);
double tm_share_on(const struct tm_findings *all, int64_t ps, const char *path);
/* Clamp a time to the window. */
int64_t tm_clamp_to_window(const struct tm_findings *all, int64_t ps);

/* --- queries between the groups of rules, so that no time is reported twice --- */

/* idle_findings.c: do a few slow launches account for the idle time due to launches, so that fewer launches would not
 * help? */
bool tm_idle_is_of_long_launches(const struct tm_findings *all);
/* Evidence of what the host did, in all of the analyzed steps: launches, and Python functions (without those in which
 * threads wait for each other, waiting_names.h; with_sleep: those that sleep are named). */
void tm_host_emit_launches(struct tm_finding *f);
void tm_host_emit_functions(struct tm_findings *all, struct tm_finding *f, bool with_sleep);
/* compile_findings.c: 0 if steps are not marked */
int64_t tm_compiles_inside_steps(const struct tm_findings *all);
/* profile_findings.c */
bool tm_host_was_not_recorded(const struct tm_findings *all);

#endif
