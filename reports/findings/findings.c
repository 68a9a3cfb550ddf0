/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the rules over the summary and writes their findings and the verdict.  Each group of rules is its own file.
 * Potential savings decide severity and order; facts follow, those about the profile last. */
#include "reports/findings/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/store/bounded_sum.h"
#include "reports/findings/finding.h"
#include "reports/findings/summary_query.h"
#include "reports/format/format.h"

static bool is_there(const struct tm_value *value)
{
    return tm_type_of(value) == TM_OBJECT || tm_double(value) > 0;
}

tm_status tm_findings_add(struct tm_run *run, struct tm_value *summary, const struct tm_thresholds *t)
{
    /* Rules that explain a wait run before those that report the rest of it. */
    static const struct {
        tm_rules_fn *find;
        const char
            *about; /* what it reports, by its path: 0 or null = there is nothing; NULL = something in any trace */
    } rules[] = {
        { tm_find_transfers, "total.exposed_copy_ps" },
        { tm_find_compiles, "compile" },
        { tm_find_memory, "memory" },
        { tm_find_balance, NULL },
        { tm_find_profile, NULL },
        { tm_find_kernels, NULL },
        { tm_find_host_work, NULL },
        { tm_find_collectives, NULL },
        { tm_find_idle, NULL },
        { tm_find_empty_queue, NULL },
        { tm_find_ops, NULL },
        { tm_find_broken_checks, NULL },
    };
    struct tm_findings all = { .summary = summary, .thresholds = t };

    all.checks = tm_add_array(summary, "checks");
    if (tm_findings_open(&all, run))
        return run->error.status;
    all.window_ps = tm_query_window_ps(summary);
    all.audience = tm_audience_of(summary);
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (rules[i].about ? is_there(tm_path(summary, rules[i].about)) : tm_query_has_trace(summary))
            rules[i].find(&all);
    tm_findings_write(&all, tm_add_array(summary, "findings"));
    tm_findings_close(&all, run);
    return run->error.status;
}

/* --- the verdict ---
 * How busy the devices are and what costs the most, in one or two sentences.  It is based on potential savings: a key
 * figure in the red alone does not make a bad run. */

enum { VERDICT_BYTES = 800 };

static bool is_grave(const struct tm_value *f)
{
    return strcmp(tm_text(tm_get(f, "severity")), "info") != 0;
}

/* The first finding, if it has potential savings and is at least a warning; they are sorted.  NULL = none. */
static const struct tm_value *largest_loss(const struct tm_value *findings)
{
    const struct tm_value *first = tm_at(findings, 0);

    return tm_int(tm_get(first, "at_stake_ps")) > 0 && is_grave(first) ? first : NULL;
}

/* Is it at least a warning without potential savings?  Damaged input has its own sentence. */
static bool is_fact(const struct tm_value *f)
{
    return is_grave(f) && tm_int(tm_get(f, "at_stake_ps")) == 0 &&
           strcmp(tm_text(tm_get(f, "id")), "input_partial") != 0;
}

struct facts {
    const struct tm_value *first; /* a critical one, else a warning; NULL = none */
    int count;
};

static struct facts facts_of(const struct tm_value *findings)
{
    struct facts facts = { .first = NULL };

    for (size_t i = 0; i < tm_length(findings); i++) {
        const struct tm_value *f = tm_at(findings, i);
        const bool is_critical = strcmp(tm_text(tm_get(f, "severity")), "critical") == 0;

        if (!is_fact(f))
            continue;
        facts.count++;
        if (!facts.first || (is_critical && strcmp(tm_text(tm_get(facts.first, "severity")), "critical") != 0))
            facts.first = f;
    }
    return facts;
}

/* "The device is", "The 8 devices are", "The CPU is" */
static void subject(const struct tm_value *summary, char *out, size_t out_bytes)
{
    const long long devices = tm_int(tm_path(summary, "total.devices"));
    const char *what = tm_query_is_platform(summary, "cpu") ? "CPU device" : "device";

    if (devices > 1)
        (void)snprintf(out, out_bytes, "the %lld %ss are", devices, what);
    else
        (void)snprintf(out, out_bytes, "the %s is", what);
}

struct verdict {
    char text[VERDICT_BYTES];
    const char *severity;
};

static void append(struct verdict *v, const char *text)
{
    const size_t length = strlen(v->text);

    (void)snprintf(v->text + length, sizeof(v->text) - length, "%s", text);
}

/* Append with a capital letter. */
static void begin_sentence(struct verdict *v, const char *text)
{
    const size_t at = strlen(v->text);

    append(v, text);
    if (v->text[at] >= 'a' && v->text[at] <= 'z')
        v->text[at] = (char)(v->text[at] - 'a' + 'A');
}

static void append_loss(struct verdict *v, const struct tm_value *loss)
{
    const struct tm_finding_row *row = tm_finding_row(tm_text(tm_get(loss, "id")));
    const char *words = row ? row->verdict : NULL; /* else the sentence quotes the title */
    char pct[TM_FORMAT_BYTES], window[TM_FORMAT_BYTES], text[480];

    (void)snprintf(text, sizeof(text), "; the largest loss is %s%.300s%s (%s of %s).", words ? "" : "'",
                   words ? words : tm_text(tm_get(loss, "title")), words ? "" : "'", tm_row_pct(pct, loss, "share_pct"),
                   tm_window_of_finding(window, loss));
    append(v, text);
    v->severity = tm_text(tm_get(loss, "severity"));
}

/* Idle time whose recoverable part is unknown, if it is larger than the largest known loss. */
static void append_waits(struct verdict *v, const struct tm_value *findings, const struct tm_value *loss)
{
    const struct tm_value *waits = tm_find(findings, "id", "idle_device_wait");
    const double share = tm_double(tm_get(waits, "value"));
    char pct[TM_FORMAT_BYTES], text[200];

    if (!waits || share <= tm_double(tm_get(loss, "share_pct")))
        return;
    (void)snprintf(text, sizeof(text),
                   " Launched work is stalled on the device for %s of the window; the recoverable part is unknown.",
                   tm_format_pct(pct, share));
    append(v, text);
}

static void append_facts(struct verdict *v, const struct facts *facts)
{
    char more[48] = "";

    if (facts->count > 1)
        (void)snprintf(more, sizeof(more), " (and %d more)", facts->count - 1);
    append(v, " Caution: ");
    append(v, tm_text(tm_get(facts->first, "title")));
    append(v, more);
    append(v, ".");
    if (strcmp(v->severity, "critical") != 0)
        v->severity = tm_text(tm_get(facts->first, "severity"));
}

/* Without a loss, the dominant operation is the place to optimize. */
static void append_dominant(struct verdict *v, const struct tm_value *findings)
{
    const struct tm_value *dominant = tm_find(findings, "id", "kernel_dominant");

    if (!dominant)
        return;
    append(v, " ");
    append(v, tm_text(tm_get(dominant, "title")));
    append(v, ".");
}

/* ", Small kernels, Memory bandwidth": the key figures in the red that apply to this platform. */
static void list_bad(const struct tm_value *kpis, char *out, size_t out_bytes)
{
    size_t used = 0;

    out[0] = 0;
    for (size_t i = 0; i < tm_length(kpis) && used < out_bytes; i++) {
        const struct tm_value *kpi = tm_at(kpis, i);

        if (tm_is(tm_get(kpi, "applies")) && tm_has(tm_get(kpi, "finding")) &&
            strcmp(tm_text(tm_get(kpi, "band")), "bad") == 0)
            used += (size_t)snprintf(out + used, out_bytes - used, ", %.48s", tm_text(tm_get(kpi, "title")));
    }
}

/* Without a loss, the key figures in the red are the place to look. */
static void append_bad(struct verdict *v, const char *bad)
{
    append(v, " But these key figures are out of range: ");
    append(v, bad + 2);
    append(v, ".");
}

static void append_busy(struct verdict *v, const struct tm_value *summary, const struct tm_thresholds *t)
{
    const struct tm_value *findings = tm_get(summary, "findings");
    const double least_pct = t->limit[TM_LIMIT_WARNING_SHARE].value;
    const struct tm_threshold *kpi = &t->kpi[TM_KPI_DEVICE_UTILIZATION];
    const double utilization = tm_double(tm_path(summary, "total.utilization_pct"));
    const bool is_busy = !kpi->has_bands || utilization > kpi->good;
    const struct tm_value *loss = largest_loss(findings);
    const struct facts facts = facts_of(findings);
    char who[80], pct[TM_FORMAT_BYTES], text[200], bad[400];

    subject(summary, who, sizeof(who));
    list_bad(tm_get(summary, "kpis"), bad, sizeof(bad));
    (void)snprintf(text, sizeof(text), "%s busy %s of the time", who, tm_format_pct(pct, utilization));
    if (!loss && !facts.first && is_busy && !*bad) {
        append(v, "Healthy: ");
        append(v, text);
    } else {
        begin_sentence(v, text);
    }
    if (loss) {
        append_loss(v, loss);
    } else {
        (void)snprintf(text, sizeof(text), ", and no single avoidable loss reaches %s of the window.",
                       tm_format_pct(pct, least_pct));
        append(v, text);
        if (*bad && !facts.first)
            append_bad(v, bad);
        append_dominant(v, findings);
    }
    append_waits(v, findings, loss);
    if (facts.first)
        append_facts(v, &facts);
}

static void append_too_little(struct verdict *v, const struct tm_value *summary)
{
    const int64_t activities = tm_query_activities(summary);
    char count[TM_FORMAT_BYTES], time[TM_FORMAT_BYTES], text[200];

    (void)snprintf(text, sizeof(text),
                   "Too little was recorded for an assessment: %s device activit%s, %s of busy time.",
                   tm_format_count(count, activities), activities == 1 ? "y" : "ies",
                   tm_format_time(time, tm_int(tm_path(summary, "total.busy_ps"))));
    append(v, text);
}

static void append_no_device(struct verdict *v, const struct tm_value *summary)
{
    static const char *const reasons[] = { "unknown_device", "kernels_lost", "no_device_activity" };
    const struct tm_value *f = NULL;

    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]) && !f; i++)
        f = tm_find(tm_get(summary, "findings"), "id", reasons[i]);
    append(v, f ? tm_text(tm_get(f, "title")) : "No device activity was recorded");
    append(v, ", so there are no device figures.");
    v->severity = f ? tm_text(tm_get(f, "severity")) : "warning";
}

/* For a device memory profile without a trace. */
static void append_memory(struct verdict *v, const struct tm_value *summary)
{
    const struct tm_value *profile = tm_path(summary, "memory.device_profiles[0]");
    const struct tm_value *site = tm_path(profile, "sites[0]");
    char bytes[TM_FORMAT_BYTES], share[TM_FORMAT_BYTES], name[TM_SHORT_NAME_BYTES], text[400];

    (void)snprintf(text, sizeof(text), "No trace was given. %s of device memory is held",
                   tm_row_bytes(bytes, profile, "total_bytes"));
    append(v, text);
    if (tm_has(tm_get(site, "share_pct"))) {
        (void)snprintf(text, sizeof(text), ", %s of it by %s (%.100s)", tm_row_pct(share, site, "share_pct"),
                       tm_row_name(name, site, "function"), tm_file_of(tm_text(tm_get(site, "source"))));
        append(v, text);
    }
    append(v, ".");
}

tm_status tm_verdict_add(struct tm_run *run, struct tm_value *summary, const struct tm_thresholds *t)
{
    struct verdict v = { .severity = "info" };
    struct tm_value *to = tm_add_object(summary, "verdict");

    if (!tm_query_has_trace(summary))
        append_memory(&v, summary);
    else if (tm_query_window_ps(summary) == 0 || !tm_has(tm_path(summary, "total.utilization_pct")))
        append_no_device(&v, summary);
    else if (tm_query_is_too_little(summary))
        append_too_little(&v, summary);
    else
        append_busy(&v, summary, t);
    if (tm_is(tm_path(summary, "input.partial")))
        append(&v, " The input is damaged: the figures cover what could be read.");
    tm_add_string(to, "text", v.text);
    tm_add_string(to, "severity", v.severity);
    return run->error.status;
}
