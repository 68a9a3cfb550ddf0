/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the rules over the summary and writes their findings and the verdict.  The list has a fixed size, in the account
 * `model`; each group of rules is a file of its own.  Potential savings decide severity and order; facts follow, those
 * about the profile last. */
#include "reports/findings/findings.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/store/bounded_sum.h"
#include "reports/findings/finding.h"
#include "reports/findings/query.h"
#include "reports/format/format.h"

enum { TITLE_BYTES = 200, ARGUMENTS_BYTES = 400, ADVICE_MOST = 6 };

struct place {
    int64_t start_ps, end_ps;
    char device[192];
};

struct tm_finding {
    const struct tm_finding_row *row;
    const struct tm_value *summary;
    enum tm_severity severity;       /* by its share, or of its row once all cases are known */
    struct tm_situation situation;   /* decides which texts are fit */
    char arguments[ARGUMENTS_BYTES]; /* of the title: name, NUL, value, NUL, and so on up to an empty name */
    size_t arguments_length;
    bool has_value, has_limit;
    double value, limit;
    const char *unit; /* of value and limit; static text */
    int64_t at_stake_ps, idle_ps, measured_ps;
    int64_t window_ps; /* of the devices that it is about */
    size_t devices;    /* their number; 0 = all of them */
    double share_pct;  /* of it */
    int evidence_count, where_count;
    char evidence[TM_EVIDENCE_MOST][TM_EVIDENCE_BYTES];
    struct place where[TM_WHERE_MOST];
};

static const char *const severity_name[] = { [TM_INFO] = "info", [TM_WARNING] = "warning", [TM_CRITICAL] = "critical" };

double tm_limit_of(const struct tm_findings *all, enum tm_limit which)
{
    return all->thresholds->limit[which].value;
}

int64_t tm_clamp_to_window(const struct tm_findings *all, int64_t ps)
{
    if (ps < 0)
        return 0;
    return ps > all->window_ps ? all->window_ps : ps;
}

/* The devices that a finding is about: their windows, and their part of the time. */
struct scope {
    int64_t window_ps;
    double part;
    size_t devices;
};

static double share_of_device(const struct tm_value *device, const char *path)
{
    return tm_share_pct(tm_int(tm_path(device, path)), tm_int(tm_get(device, "span_ps")));
}

static struct scope scope_of(const struct tm_findings *all, const char *path)
{
    const struct tm_value *devices = tm_get(all->summary, "devices");
    struct scope scope = { .window_ps = 0 };
    int64_t all_ps = 0, ps = 0;
    double most = 0;

    for (size_t i = 0; path && i < tm_length(devices); i++)
        most = fmax(most, share_of_device(tm_at(devices, i), path));
    for (size_t i = 0; most > 0 && i < tm_length(devices); i++) {
        const struct tm_value *device = tm_at(devices, i);

        all_ps = tm_sum_times(all_ps, tm_int(tm_path(device, path)));
        if (share_of_device(device, path) < most / 2)
            continue;
        ps = tm_sum_times(ps, tm_int(tm_path(device, path)));
        scope.window_ps = tm_sum_times(scope.window_ps, tm_int(tm_get(device, "span_ps")));
        scope.devices++;
    }
    if (ps <= 0 || scope.window_ps > all->window_ps)
        return (struct scope){ .window_ps = all->window_ps, .part = 1, .devices = tm_length(devices) };
    scope.part = (double)ps / (double)all_ps;
    return scope;
}

void tm_finding_emit_scope(const struct tm_findings *all, struct tm_finding *f, const char *path)
{
    const size_t devices = tm_length(tm_get(all->summary, "devices")), about = scope_of(all, path).devices;

    if (about < devices)
        tm_finding_evidence(f, "Mostly on %zu of %zu devices; the share is of their windows.", about, devices);
}

static double share_in(struct scope scope, int64_t ps)
{
    return tm_share_pct(tm_whole((double)ps * scope.part), scope.window_ps);
}

double tm_share_on(const struct tm_findings *all, int64_t ps, const char *path)
{
    return share_in(scope_of(all, path), ps);
}

bool tm_is_worth_mention_on(const struct tm_findings *all, int64_t ps, const char *path)
{
    return ps >= TM_STAKE_LEAST_PS && all->window_ps > 0 &&
           tm_share_on(all, ps, path) >= tm_limit_of(all, TM_LIMIT_MENTION_SHARE);
}

bool tm_is_worth_mention(const struct tm_findings *all, int64_t ps)
{
    return tm_is_worth_mention_on(all, ps, NULL);
}

static enum tm_severity severity_of(const struct tm_findings *all, int64_t at_stake_ps, double share)
{
    if (at_stake_ps <= 0 || share < tm_limit_of(all, TM_LIMIT_WARNING_SHARE))
        return TM_INFO;
    return share < tm_limit_of(all, TM_LIMIT_CRITICAL_SHARE) ? TM_WARNING : TM_CRITICAL;
}

struct tm_finding *tm_finding_of_fact(struct tm_findings *all, const char *id)
{
    struct tm_finding *f = &all->list[all->count];

    if (all->count < TM_FINDINGS_MOST)
        all->count++;
    memset(f, 0, sizeof(*f));
    f->row = tm_finding_row(id);
    assert(f->row); /* schemas/findings.json has all of them */
    f->window_ps = all->window_ps;
    f->summary = all->summary;
    f->situation.audience = all->audience;
    f->unit = "";
    return f;
}

static void set_scope(const struct tm_findings *all, struct tm_finding *f, struct scope scope)
{
    f->window_ps = scope.window_ps;
    f->devices = scope.devices < tm_length(tm_get(all->summary, "devices")) ? scope.devices : 0;
}

struct tm_finding *tm_finding_of_share(struct tm_findings *all, const char *id, int64_t measured_ps, const char *path)
{
    const struct scope scope = scope_of(all, path);
    struct tm_finding *f = tm_finding_of_fact(all, id);

    f->measured_ps = tm_clamp_to_window(all, measured_ps);
    set_scope(all, f, scope);
    tm_finding_value(f, share_in(scope, f->measured_ps), "%");
    return f;
}

struct tm_finding *tm_finding_of_idle(struct tm_findings *all, const char *id, int64_t at_stake_ps, int64_t idle_ps,
                                      const char *path)
{
    const int64_t stake_ps = tm_clamp_to_window(all, at_stake_ps);
    const struct scope scope = scope_of(all, path);
    const double share = share_in(scope, stake_ps);
    struct tm_finding *f = tm_finding_of_fact(all, id);

    f->severity = severity_of(all, stake_ps, share);
    f->at_stake_ps = f->measured_ps = stake_ps;
    f->idle_ps = idle_ps < stake_ps ? idle_ps : stake_ps;
    set_scope(all, f, scope);
    f->share_pct = share;
    tm_finding_value(f, share, "%");
    tm_finding_limit(f, tm_limit_of(all, TM_LIMIT_WARNING_SHARE));
    return f;
}

struct tm_finding *tm_finding_of_time(struct tm_findings *all, const char *id, int64_t at_stake_ps)
{
    return tm_finding_of_idle(all, id, at_stake_ps, 0, NULL);
}

static bool is_found(const struct tm_findings *all, const char *id)
{
    for (int i = 0; i < all->count; i++)
        if (strcmp(all->list[i].row->id, id) == 0)
            return true;
    return false;
}

bool tm_is_reported(const struct tm_findings *all, const char *id)
{
    const struct tm_finding_row *row = tm_finding_row(id);

    assert(row);
    for (size_t i = 0; row->unless[i]; i++)
        if (is_found(all, row->unless[i]))
            return true;
    return is_found(all, id);
}

void tm_finding_case(struct tm_finding *f, const char *name)
{
    f->situation.cases |= tm_finding_case_bit(f->row, name);
}

void tm_finding_argument(struct tm_finding *f, const char *name, const char *format, ...)
{
    char *const at = f->arguments + f->arguments_length;
    const size_t room = sizeof(f->arguments) - f->arguments_length, length = strlen(name) + 1;
    size_t written = 0;
    va_list args;

    assert(tm_finding_has_argument(f->row, name));
    if (length + 2 > room) /* an empty value, and the end of the list */
        return;
    memcpy(at, name, length);
    va_start(args, format);
    (void)vsnprintf(at + length, room - length - 1, format, args);
    va_end(args);
    written = length + strlen(at + length) + 1;
    f->arguments_length += written;
}

void tm_finding_value(struct tm_finding *f, double value, const char *unit)
{
    f->has_value = true;
    f->has_limit = false;
    f->value = value;
    f->unit = unit;
}

void tm_finding_limit(struct tm_finding *f, double limit)
{
    f->has_limit = true;
    f->limit = limit;
}

void tm_finding_evidence(struct tm_finding *f, const char *format, ...)
{
    va_list args;

    if (f->evidence_count == TM_EVIDENCE_MOST)
        return;
    va_start(args, format);
    (void)vsnprintf(f->evidence[f->evidence_count++], TM_EVIDENCE_BYTES, format, args);
    va_end(args);
}

char *tm_finding_device(const struct tm_finding *f, char *out, const struct tm_value *id)
{
    return tm_short_name(out, tm_shown_device(f->summary, tm_text(id)));
}

void tm_finding_where_row(struct tm_finding *f, const struct tm_value *row)
{
    tm_finding_where(f, tm_int(tm_get(row, "begin_ps")), tm_int(tm_get(row, "dur_ps")), tm_text(tm_get(row, "device")));
}

char *tm_row_time(char *out, const struct tm_value *row, const char *key)
{
    return tm_format_time(out, tm_int(tm_get(row, key)));
}

char *tm_row_moment(char *out, const struct tm_value *row, const char *key)
{
    return tm_format_moment(out, tm_int(tm_get(row, key)));
}

char *tm_row_count(char *out, const struct tm_value *row, const char *key)
{
    return tm_format_count(out, tm_int(tm_get(row, key)));
}

char *tm_row_pct(char *out, const struct tm_value *row, const char *key)
{
    return tm_format_pct(out, tm_double(tm_get(row, key)));
}

char *tm_row_bytes(char *out, const struct tm_value *row, const char *key)
{
    return tm_format_bytes(out, tm_double(tm_get(row, key)));
}

char *tm_row_name(char *out, const struct tm_value *row, const char *key)
{
    return tm_short_name(out, tm_text(tm_get(row, key)));
}

int64_t tm_findings_idle_ps(const struct tm_findings *all)
{
    int64_t sum_ps = 0;

    for (int i = 0; i < all->count; i++)
        sum_ps = tm_sum_times(sum_ps, all->list[i].idle_ps);
    return sum_ps;
}

void tm_finding_where(struct tm_finding *f, int64_t start_ps, int64_t dur_ps, const char *device)
{
    struct place *where = &f->where[f->where_count];

    if (f->where_count == TM_WHERE_MOST)
        return;
    f->where_count++;
    where->start_ps = start_ps;
    if (__builtin_add_overflow(start_ps, dur_ps < 0 ? 0 : dur_ps, &where->end_ps))
        where->end_ps = start_ps;
    (void)snprintf(where->device, sizeof(where->device), "%s", device);
}

/* --- waits ---
 * Time in which devices wait, and how much of it findings claim.  A wait that unequal work causes is claimed there and
 * not again as idle time or as a collective. */

static const char *const cause_of[TM_WAITS] = {
    [TM_WAIT_DEVICE] = "device_wait", [TM_WAIT_LAUNCH] = "launch", [TM_WAIT_COMPILE] = "compile",
    [TM_WAIT_INPUT] = "input",        [TM_WAIT_SYNC] = "sync",     [TM_WAIT_GC] = "gc",
    [TM_WAIT_PROFILER] = "profiler",  [TM_WAIT_HOST] = "host",     [TM_WAIT_UNRECORDED] = "unrecorded",
};

enum tm_wait tm_wait_of_cause(const char *cause)
{
    for (int i = 0; i < TM_WAITS; i++)
        if (cause_of[i] && strcmp(cause_of[i], cause) == 0)
            return (enum tm_wait)i;
    return TM_WAITS;
}

static int64_t measured(const struct tm_findings *all, enum tm_wait wait)
{
    if (wait == TM_WAIT_COLLECTIVE)
        return tm_int(tm_path(all->summary, "total.exposed_collective_ps")) -
               tm_int(tm_path(all->summary, "total.exposed_move_ps"));
    if (wait == TM_WAIT_MOVE)
        return tm_int(tm_path(all->summary, "total.exposed_move_ps"));
    return tm_int(tm_get(tm_get(tm_path(all->summary, "gaps.by_cause"), cause_of[wait]), "total_ps"));
}

int64_t tm_wait_left(const struct tm_findings *all, enum tm_wait wait)
{
    const int64_t ps = tm_clamp_to_window(all, measured(all, wait));

    return ps > all->claimed_ps[wait] ? ps - all->claimed_ps[wait] : 0;
}

int64_t tm_wait_explain(struct tm_findings *all, const enum tm_wait *waits, size_t count, int64_t ps)
{
    int64_t laid_ps = 0;

    for (size_t i = 0; i < count && laid_ps < ps; i++) {
        const int64_t left_ps = tm_wait_left(all, waits[i]);
        const int64_t part_ps = left_ps < ps - laid_ps ? left_ps : ps - laid_ps;

        all->claimed_ps[waits[i]] += part_ps;
        laid_ps += part_ps;
    }
    return laid_ps;
}

/* --- the list --- */

static bool is_of_profile(const struct tm_finding *f)
{
    return f->row->about != TM_ABOUT_RUN;
}

/* By potential savings; facts by severity, then those of the run before those of the profile, then by size. */
static int by_stake(const void *a, const void *b)
{
    const struct tm_finding *x = a, *y = b;

    if (x->at_stake_ps != y->at_stake_ps)
        return x->at_stake_ps < y->at_stake_ps ? 1 : -1;
    if (x->severity != y->severity)
        return x->severity < y->severity ? 1 : -1;
    if (is_of_profile(x) != is_of_profile(y))
        return is_of_profile(x) ? 1 : -1;
    if (x->measured_ps != y->measured_ps)
        return x->measured_ps < y->measured_ps ? 1 : -1;
    return strcmp(x->row->id, y->row->id);
}

static void add_number_or_null(struct tm_value *to, const char *key, bool is_known, double value)
{
    if (is_known)
        tm_add_double(to, key, value);
    else
        tm_add_null(to, key, NULL);
}

static void write_where(const struct tm_finding *f, struct tm_value *to)
{
    struct tm_value *list = tm_add_array(to, "where");

    for (int i = 0; i < f->where_count; i++) {
        struct tm_value *range = tm_add_object(list, NULL);

        tm_add_int(range, "begin_ps", f->where[i].start_ps);
        tm_add_int(range, "end_ps", f->where[i].end_ps);
        tm_add_string(range, "device", f->where[i].device);
    }
}

/* "" if the rule has not set it */
static const char *argument_of(const struct tm_finding *f, const char *name, size_t length)
{
    const char *at = f->arguments;

    while (*at && (strncmp(at, name, length) != 0 || at[length]))
        for (int i = 0; i < 2; i++)
            at += strlen(at) + 1;
    assert(*at); /* each placeholder of a title has its argument */
    return *at ? at + length + 1 : "";
}

/* The title with its placeholders replaced. */
static void fill_title(const struct tm_finding *f, char title[TITLE_BYTES])
{
    const char *at = tm_finding_title_for(f->row, f->situation);

    title[0] = '\0';
    while (*at) {
        const size_t plain = strcspn(at, "{"), name = at[plain] ? strcspn(at + plain + 1, "}") : 0;

        tm_format_append(title, TITLE_BYTES, "%.*s", (int)plain, at);
        if (!at[plain])
            return;
        tm_format_append(title, TITLE_BYTES, "%s", argument_of(f, at + plain + 1, name));
        at += plain + name + 2;
    }
}

static void write_texts(const struct tm_finding *f, struct tm_value *to)
{
    struct tm_value *list;
    const struct tm_finding_text *next = NULL;
    const char *advice;

    tm_add_string(to, "cause", tm_finding_cause_for(f->row, f->situation));
    list = tm_add_array(to, "fix");
    for (int i = 0; i < ADVICE_MOST && (advice = tm_finding_next_advice(f->row, f->situation, &next)); i++)
        tm_add_string(list, NULL, advice);
}

static void write_finding(const struct tm_finding *f, struct tm_value *to)
{
    char title[TITLE_BYTES];
    struct tm_value *list;

    fill_title(f, title);
    tm_add_string(to, "id", f->row->id);
    tm_add_string(to, "severity", severity_name[f->severity]);
    if (f->row->about == TM_ABOUT_DEFECT)
        tm_add_string(to, "level", "defect");
    tm_add_string(to, "title", title);
    add_number_or_null(to, "value", f->has_value, f->value);
    tm_add_string(to, "unit", f->unit);
    add_number_or_null(to, "limit", f->has_limit, f->limit);
    list = tm_add_array(to, "evidence");
    for (int i = 0; i < f->evidence_count; i++)
        tm_add_string(list, NULL, f->evidence[i]);
    tm_add_int(to, "at_stake_ps", f->at_stake_ps);
    tm_add_int(to, "idle_ps", f->idle_ps);
    add_number_or_null(to, "share_pct", f->window_ps > 0, f->share_pct);
    tm_add_int(to, "window_ps", f->window_ps);
    if (f->devices)
        tm_add_uint(to, "devices", f->devices);
    write_texts(f, to);
    write_where(f, to);
}

/* Runs after all rules, when all cases are set: findings without potential savings get the severity of their row. */
static void settle_severities(struct tm_findings *all)
{
    for (int i = 0; i < all->count; i++) {
        struct tm_finding *f = &all->list[i];

        if (f->severity == TM_SEVERITY_BY_SHARE)
            f->severity = tm_finding_severity_for(f->row, f->situation);
        assert(f->severity); /* test_finding_table.py: rows of facts have one */
    }
}

static void keep_of_profile(struct tm_findings *all)
{
    int kept = 0;

    for (int i = 0; i < all->count; i++)
        if (is_of_profile(&all->list[i]))
            all->list[kept++] = all->list[i];
    all->count = kept;
}

tm_status tm_findings_add(struct tm_run *run, struct tm_value *summary, const struct tm_thresholds *t)
{
    /* Rules that explain a wait run before those that report the rest of it. */
    /* clang-format off */
    static tm_rules_fn *const rules[] = {
        tm_find_transfers,
        tm_find_compiles,
        tm_find_memory,
        tm_find_balance,
        tm_find_profile,
        tm_find_kernels,
        tm_find_host_work,
        tm_find_collectives,
        tm_find_idle,
        tm_find_empty_queue,
        tm_find_ops,
        tm_find_broken_checks,
    };
    /* clang-format on */
    const size_t list_bytes = (TM_FINDINGS_MOST + 1) * sizeof(struct tm_finding);
    struct tm_findings all = { .summary = summary, .thresholds = t };
    struct tm_value *list;

    all.checks = tm_add_array(summary, "checks");
    all.list = tm_take(&run->budget, TM_ACCOUNT_MODEL, list_bytes, &run->error);
    if (!all.list)
        return TM_ERR_LIMIT;
    all.window_ps = tm_query_window_ps(summary);
    all.audience = tm_audience_of(summary);
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (rules[i] == tm_find_memory || tm_query_has_trace(summary))
            rules[i](&all);
    settle_severities(&all);
    if (tm_query_is_too_little(summary))
        keep_of_profile(&all);
    qsort(all.list, (size_t)all.count, sizeof(all.list[0]), by_stake);
    list = tm_add_array(summary, "findings");
    for (int i = 0; i < all.count; i++)
        write_finding(&all.list[i], tm_add_object(list, NULL));
    tm_give(&run->budget, TM_ACCOUNT_MODEL, all.list, list_bytes);
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

/* Is it at least a warning without potential savings?  Damaged input has a sentence of its own. */
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

static const struct tm_value *finding_of(const struct tm_value *findings, const char *id)
{
    for (size_t i = 0; i < tm_length(findings); i++) {
        if (strcmp(tm_text(tm_get(tm_at(findings, i), "id")), id) == 0)
            return tm_at(findings, i);
    }
    return NULL;
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
    const struct tm_value *waits = finding_of(findings, "idle_device_wait");
    const double share = tm_double(tm_get(waits, "value"));
    char pct[TM_FORMAT_BYTES], text[200];

    if (!waits || share <= tm_double(tm_get(loss, "share_pct")))
        return;
    (void)snprintf(text, sizeof(text),
                   " For %s of the window, launched work waits on the device; the recoverable part is unknown.",
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
    const struct tm_value *dominant = finding_of(findings, "kernel_dominant");

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
    append(v, " But key figures are bad: ");
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

    (void)snprintf(text, sizeof(text), "Too little was recorded to judge: %s device activit%s, %s of busy time.",
                   tm_format_count(count, activities), activities == 1 ? "y" : "ies",
                   tm_format_time(time, tm_int(tm_path(summary, "total.busy_ps"))));
    append(v, text);
}

static void append_no_device(struct verdict *v, const struct tm_value *summary)
{
    static const char *const reasons[] = { "unknown_device", "kernels_lost", "no_device_activity" };
    const struct tm_value *f = NULL;

    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]) && !f; i++)
        f = finding_of(tm_get(summary, "findings"), reasons[i]);
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
        append(&v, " The input is damaged: this is what could be read.");
    tm_add_string(to, "text", v.text);
    tm_add_string(to, "severity", v.severity);
    return run->error.status;
}
