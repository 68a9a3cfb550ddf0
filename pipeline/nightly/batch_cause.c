/* SPDX-License-Identifier: Apache-2.0 */
/* Why a regression opened: its first run is compared with the last good one, and the first causes that the comparison
 * finds go into the ledger.  A regression is compared once: its cause stays with its record. */
#include <stdio.h>
#include <string.h>

#include "pipeline/doc/doc.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/nightly/batch.h"
#include "pipeline/nightly/result.h"
#include "reports/compare/compare.h"
#include "reports/format/format.h"
#include "reports/history/history.h"
#include "reports/history/op_times.h"

enum {
    PAIRS_MOST = 64, /* of one merge: the next one continues */
    CAUSES = 2,
    CAUSE_BYTES = 600,
    SUMMARY_PCT = 20, /* of the limit, for one summary */
    COMPARE_ROWS = 20,
};

/* Several figures of a job usually regress with the same run. */
struct pair {
    char job[TM_KEY_BYTES], good[TM_RUN_ID_BYTES], first[TM_RUN_ID_BYTES];
};

struct finding_causes {
    struct tm_run *run;
    const char *out;
    size_t count;
    struct pair pair[PAIRS_MOST];
};

static tm_status take_regression(void *to, const struct tm_history_regression *row)
{
    struct finding_causes *const f = to;

    if (tm_ledger_state_of(row->state) != TM_LEDGER_OPEN || *row->cause || !*row->good_run || f->count == PAIRS_MOST)
        return TM_OK;
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->pair[i].good, row->good_run) == 0 && strcmp(f->pair[i].first, row->first_run) == 0)
            return TM_OK;
    (void)snprintf(f->pair[f->count].job, TM_KEY_BYTES, "%s", row->job);
    (void)snprintf(f->pair[f->count].good, TM_RUN_ID_BYTES, "%s", row->good_run);
    (void)snprintf(f->pair[f->count++].first, TM_RUN_ID_BYTES, "%s", row->first_run);
    return TM_OK;
}

/* out: NULL = there is none, or it cannot be read */
static struct tm_doc *read_summary(const struct finding_causes *f, const char *id)
{
    struct tm_doc *const doc = tm_doc_new(f->run);
    char path[TM_OUT_PATH_BYTES];
    char place[TM_RUN_PLACE_BYTES];
    const int length = snprintf(path, sizeof(path), "%s/%s/summary.json", f->out, tm_out_run_place(f->out, id, place));

    if (!doc)
        return NULL;
    tm_doc_set_most(doc, f->run->budget.limit_bytes / 100 * SUMMARY_PCT);
    if (length > 0 && (size_t)length < sizeof(path) && !tm_summary_read(f->run, doc, path))
        return doc;
    tm_doc_free(doc);
    return NULL;
}

/* The part of a step that grew the most, of those that grew by less than `below`.  out: NULL = none */
static const struct tm_value *grown_part(const struct tm_value *parts, int64_t below)
{
    const struct tm_value *most = NULL;

    for (size_t i = 0; i < tm_length(parts); i++) {
        const int64_t change = tm_int(tm_get(tm_at(parts, i), "change_ps"));

        if (change > 0 && change < below && (!most || change > tm_int(tm_get(most, "change_ps"))))
            most = tm_at(parts, i);
    }
    return most;
}

/* Without causes: where the time of a step went. */
static void add_parts(char cause[CAUSE_BYTES], const struct tm_value *comparison)
{
    const struct tm_value *const parts = tm_get(tm_at(tm_get(comparison, "waterfalls"), 0), "parts");
    const struct tm_value *part = grown_part(parts, INT64_MAX);
    char time[TM_FORMAT_BYTES];

    tm_format_append(cause, CAUSE_BYTES, "No single cause%s", part ? "; largest increases per step: " : "");
    for (size_t count = 0; part && count < CAUSES; count++) {
        const int64_t change = tm_int(tm_get(part, "change_ps"));

        tm_format_append(cause, CAUSE_BYTES, "%s%.100s (%s)", count ? ", " : "", tm_text(tm_get(part, "title")),
                         tm_format_time(time, change));
        part = grown_part(parts, change);
    }
}

static void join_causes(char cause[CAUSE_BYTES], const struct tm_value *comparison)
{
    const struct tm_value *const findings = tm_get(comparison, "findings");
    size_t count = 0;

    for (size_t i = 0; i < tm_length(findings) && count < CAUSES; i++) {
        const struct tm_value *const finding = tm_at(findings, i);

        if (strcmp(tm_text(tm_get(finding, "severity")), "good") != 0) /* what improved is no cause */
            tm_format_append(cause, CAUSE_BYTES, "%s%.250s", count++ ? "; " : "", tm_text(tm_get(finding, "title")));
    }
    if (!*cause)
        add_parts(cause, comparison);
}

static void compare(const struct finding_causes *f, const struct pair *pair, char cause[CAUSE_BYTES])
{
    struct tm_doc *const good = read_summary(f, pair->good), *const first = good ? read_summary(f, pair->first) : NULL;
    struct tm_doc *const to = first ? tm_doc_new(f->run) : NULL;
    static const struct tm_compare_options options = { .rows = COMPARE_ROWS };

    cause[0] = '\0';
    if (to) {
        const struct tm_compared_run runs[] = {
            { .summary = tm_doc_root(good), .path = pair->good, .is_summary = true, .measured_ps = -1 },
            { .summary = tm_doc_root(first), .path = pair->first, .is_summary = true, .measured_ps = -1 },
        };
        const struct tm_comparison_side sides[] = { { "last good run", &runs[0], 1 }, { "first run", &runs[1], 1 } };

        tm_doc_set_most(to, f->run->budget.limit_bytes / 100 * SUMMARY_PCT);
        if (!tm_compare_check(f->run, sides, 2) && !tm_compare(f->run, to, sides, 2, &options))
            join_causes(cause, tm_doc_root(to));
    }
    tm_doc_free(to);
    tm_doc_free(first);
    tm_doc_free(good);
    /* A run that cannot be compared has a regression without a cause. */
    f->run->error = (struct tm_error){ .status = TM_OK };
}

/* --- without summaries: from the times in the history --- */

struct moved {
    uint32_t name;
    uint64_t before, after;
};

static uint64_t ns_of(const struct tm_op_times *times, uint32_t name)
{
    for (size_t i = 0; i < times->count[TM_OP_KIND_OP]; i++)
        if (times->time[TM_OP_KIND_OP][i].name == name)
            return times->time[TM_OP_KIND_OP][i].ns;
    return 0;
}

static bool grew_more(const struct moved *a, const struct moved *b)
{
    return a->after - a->before > b->after - b->before;
}

/* The operations that got slower by the most time.  One that only the first run has may have been too short for the
 * list before: it counts only if it is longer than the shortest one there. */
static size_t find_slower(const struct tm_op_times *good, const struct tm_op_times *first, struct moved slower[CAUSES])
{
    uint64_t least = UINT64_MAX;
    size_t count = 0;

    for (size_t i = 0; i < good->count[TM_OP_KIND_OP]; i++)
        least = good->time[TM_OP_KIND_OP][i].ns < least ? good->time[TM_OP_KIND_OP][i].ns : least;
    for (size_t i = 0; i < first->count[TM_OP_KIND_OP]; i++) {
        const struct tm_op_time *const time = &first->time[TM_OP_KIND_OP][i];
        struct moved one = { time->name, ns_of(good, time->name), time->ns };
        size_t at = 0;

        if (one.after <= one.before || (one.before == 0 && one.after <= least))
            continue;
        while (at < count && !grew_more(&one, &slower[at]))
            at++;
        for (; at < count; at++) {
            const struct moved next = slower[at];

            slower[at] = one;
            one = next;
        }
        if (count < CAUSES)
            slower[count++] = one;
    }
    return count;
}

static void compare_ops(const struct finding_causes *f, struct tm_history *history, const struct pair *pair,
                        char cause[CAUSE_BYTES])
{
    struct tm_op_times *const times = tm_take(&f->run->budget, TM_ACCOUNT_MODEL, 2 * sizeof(*times), &f->run->error);
    struct moved slower[CAUSES];
    size_t count;

    if (!times || tm_op_times_read(history, pair->job, pair->good, &times[0]) ||
        tm_op_times_read(history, pair->job, pair->first, &times[1]))
        goto out;
    count = times[0].count[TM_OP_KIND_OP] ? find_slower(&times[0], &times[1], slower) : 0;
    for (size_t i = 0; i < count; i++) {
        char name[TM_RESULT_OP_BYTES], before[TM_FORMAT_BYTES], after[TM_FORMAT_BYTES];

        if (tm_op_times_name(history, pair->job, slower[i].name, name))
            break;
        tm_format_append(cause, CAUSE_BYTES, "%s%.150s takes %s of a step, before %s", i ? "; " : "", name,
                         tm_format_time(after, (int64_t)slower[i].after * 1000),
                         slower[i].before ? tm_format_time(before, (int64_t)slower[i].before * 1000) : "less");
    }
out:
    tm_give(&f->run->budget, TM_ACCOUNT_MODEL, times, times ? 2 * sizeof(*times) : 0);
}

void tm_batch_find_causes(struct tm_run *run, const char *out, struct tm_history *history)
{
    struct finding_causes *const f =
        tm_failed(run) ? NULL : tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*f), &run->error);
    char cause[CAUSE_BYTES];

    if (!f)
        return;
    *f = (struct finding_causes){ .run = run, .out = out };
    tm_history_visit_regressions(history, NULL, take_regression, f);
    for (size_t i = 0; i < f->count && !tm_failed(run); i++) {
        compare(f, &f->pair[i], cause);
        if (!*cause)
            compare_ops(f, history, &f->pair[i], cause);
        if (*cause)
            tm_history_set_cause(history, f->pair[i].good, f->pair[i].first, cause);
    }
    tm_give(&run->budget, TM_ACCOUNT_MODEL, f, sizeof(*f));
}
