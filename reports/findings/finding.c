/* SPDX-License-Identifier: Apache-2.0 */
/* The findings of a run while its rules run: each is filled in here, claims its part of the waits, and is finally
 * added to the summary.  The list has a fixed size, in the account `model`. */
#include "reports/findings/finding.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/store/bounded_sum.h"
#include "reports/findings/findings.h"
#include "reports/findings/summary_query.h"
#include "reports/format/format.h"

enum { TITLE_BYTES = 200, ARGUMENTS_BYTES = 400, ADVICE_MOST = 6 };

enum { REPLAYED_MOST = TM_WAITS + 2 };

/* How much shorter the steps get without what a finding is about. */
struct replayed {
    const char *why;                    /* why it is unknown; NULL = it is known */
    const char *without[REPLAYED_MOST]; /* kinds of critical_path.replay */
    size_t count;
    double saved_pct;  /* of the length of the steps of all hosts */
    const char *other; /* the largest part of the critical path, if it is not one of these: in words; NULL = it is */
    double other_pct;
    double elsewhere_pct; /* idle time on the critical path whose cause is not on it */
};

struct place {
    int64_t start_ps, end_ps;
    char device[192];
};

struct tm_finding {
    const struct tm_finding_row *row;
    const struct tm_value *summary;
    enum tm_severity severity;       /* by its share, or of its row once all cases are known */
    struct tm_situation situation;   /* selects the texts that apply */
    char arguments[ARGUMENTS_BYTES]; /* of the title: name, NUL, value, NUL, and so on up to an empty name */
    size_t arguments_length;
    bool has_value, has_limit;
    bool is_share; /* the value is the share */
    double value, limit;
    const char *unit; /* of value and limit; static text */
    int64_t at_stake_ps, idle_ps, measured_ps;
    int64_t claimed_ps[TM_WAITS];
    int64_t window_ps; /* of the devices concerned */
    int64_t hosts_ps;  /* of all devices of their hosts */
    size_t devices;    /* their number; 0 = all of them */
    double share_pct;  /* of it */
    struct replayed replayed;
    double replayed_pct; /* likewise */
    int64_t replayed_ps, measured_stake_ps;
    char difference[TM_EVIDENCE_BYTES]; /* "" = both agree, or there is no replay */
    int evidence_count, where_count;
    char evidence[TM_EVIDENCE_MOST + 1][TM_EVIDENCE_BYTES];
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
    int64_t window_ps, hosts_ps; /* hosts_ps: of all devices of their hosts, which share a row */
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
    int64_t all_ps = 0, ps = 0, host_ps = 0;
    const char *host = "";
    bool is_host_in = false;
    double most = 0;

    for (size_t i = 0; path && i < tm_length(devices); i++)
        most = fmax(most, share_of_device(tm_at(devices, i), path));
    for (size_t i = 0; most > 0 && i < tm_length(devices); i++) {
        const struct tm_value *device = tm_at(devices, i);
        const int64_t span_ps = tm_int(tm_get(device, "span_ps"));

        if (strcmp(tm_text(tm_get(device, "host")), host) != 0) {
            host = tm_text(tm_get(device, "host"));
            host_ps = 0;
            is_host_in = false;
        }
        host_ps = tm_sum_times(host_ps, span_ps);
        all_ps = tm_sum_times(all_ps, tm_int(tm_path(device, path)));
        if (is_host_in)
            scope.hosts_ps = tm_sum_times(scope.hosts_ps, span_ps);
        if (share_of_device(device, path) < most / 2)
            continue;
        if (!is_host_in)
            scope.hosts_ps = tm_sum_times(scope.hosts_ps, host_ps);
        is_host_in = true;
        ps = tm_sum_times(ps, tm_int(tm_path(device, path)));
        scope.window_ps = tm_sum_times(scope.window_ps, span_ps);
        scope.devices++;
    }
    if (ps <= 0 || scope.window_ps > all->window_ps)
        return (struct scope){
            .window_ps = all->window_ps, .hosts_ps = all->window_ps, .part = 1, .devices = tm_length(devices)
        };
    scope.part = (double)ps / (double)all_ps;
    return scope;
}

void tm_finding_emit_scope(const struct tm_findings *all, struct tm_finding *f, const char *path)
{
    const size_t devices = tm_length(tm_get(all->summary, "devices")), about = scope_of(all, path).devices;

    if (about < devices)
        tm_finding_emit_with(f, "scope", NULL, tm_given_int("scope_devices", (int64_t)about),
                             tm_given_int("all_devices", (int64_t)devices));
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
    f->window_ps = f->hosts_ps = all->window_ps;
    f->summary = all->summary;
    f->situation.audience = all->audience;
    f->unit = "";
    return f;
}

static void set_scope(const struct tm_findings *all, struct tm_finding *f, struct scope scope)
{
    f->window_ps = scope.window_ps;
    f->hosts_ps = scope.hosts_ps;
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
    f->is_share = true;
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
    f->has_limit = f->is_share = false;
    f->value = value;
    f->unit = unit;
}

void tm_finding_limit(struct tm_finding *f, double limit)
{
    f->has_limit = true;
    f->limit = limit;
}

static void emit_at(struct tm_finding *f, const char *sentence, int at, const struct tm_value *row,
                    const struct tm_given *given)
{
    char *const out = f->evidence[at];

    tm_sentence_fill(out, TM_EVIDENCE_BYTES, tm_finding_sentence(f->row, sentence), f->summary, row, given);
    f->evidence_count += *out != '\0'; /* otherwise all of it is optional, and none of it is present */
}

void tm_finding_emit_given(struct tm_finding *f, const char *sentence, const struct tm_value *row,
                           const struct tm_given *given)
{
    if (f->evidence_count < TM_EVIDENCE_MOST)
        emit_at(f, sentence, f->evidence_count, row, given);
}

void tm_finding_emit(struct tm_finding *f, const char *sentence, const struct tm_value *row)
{
    tm_finding_emit_given(f, sentence, row, NULL);
}

char *tm_finding_device(const struct tm_finding *f, char *out, const struct tm_value *id)
{
    return tm_short_name(out, tm_shown_device(f->summary, tm_text(id)));
}

void tm_finding_where_row(struct tm_finding *f, const struct tm_value *row)
{
    tm_finding_where(f, tm_int(tm_get(row, "begin_ps")), tm_int(tm_get(row, "dur_ps")), tm_text(tm_get(row, "device")));
}

void tm_finding_emit_rows(struct tm_finding *f, const char *sentence, const struct tm_value *rows, size_t said,
                          size_t placed)
{
    for (size_t i = 0; i < tm_length(rows) && (i < said || i < placed); i++) {
        if (i < said)
            tm_finding_emit(f, sentence, tm_at(rows, i));
        if (i < placed)
            tm_finding_where_row(f, tm_at(rows, i));
    }
}

int64_t tm_sum_rows(const struct tm_value *rows, const char *path, bool (*is_meant)(const struct tm_value *row))
{
    int64_t sum = 0;

    for (size_t i = 0; i < tm_length(rows); i++)
        if (is_meant(tm_at(rows, i)))
            sum = tm_sum_times(sum, tm_int(tm_path(tm_at(rows, i), path)));
    return sum;
}

const struct tm_value *tm_highest_row(const struct tm_value *rows, double (*rank)(const struct tm_value *row))
{
    const struct tm_value *highest = NULL;

    for (size_t i = 0; i < tm_length(rows); i++)
        if (!highest || rank(tm_at(rows, i)) > rank(highest))
            highest = tm_at(rows, i);
    return highest;
}

char *tm_row_time(char *out, const struct tm_value *row, const char *key)
{
    return tm_format_time(out, tm_int(tm_get(row, key)));
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

void tm_finding_claim(struct tm_finding *f, const struct tm_claim *claim)
{
    memcpy(f->claimed_ps, claim->ps, sizeof(f->claimed_ps));
}

/* --- waits --- */

/* Time in which devices wait, and how much of it findings claim.  A wait caused by uneven work is claimed once, not
 * again as idle time or as a collective. */

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

/* Its kind in summary.critical_path: "collective", or a cause. */
static const char *wait_kind(enum tm_wait wait)
{
    return cause_of[wait] ? cause_of[wait] : "collective";
}

int64_t tm_wait_ps(const struct tm_findings *all, enum tm_wait wait)
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
    const int64_t ps = tm_clamp_to_window(all, tm_wait_ps(all, wait));

    return ps > all->claimed_ps[wait] ? ps - all->claimed_ps[wait] : 0;
}

int64_t tm_wait_explain(struct tm_findings *all, const enum tm_wait *waits, size_t count, int64_t ps,
                        struct tm_claim *claim)
{
    int64_t laid_ps = 0;

    for (size_t i = 0; i < count && laid_ps < ps; i++) {
        const int64_t left_ps = tm_wait_left(all, waits[i]);
        const int64_t part_ps = left_ps < ps - laid_ps ? left_ps : ps - laid_ps;

        all->claimed_ps[waits[i]] += part_ps;
        claim->ps[waits[i]] += part_ps;
        laid_ps += part_ps;
    }
    return laid_ps;
}

/* --- replays --- */

/* What replays of the steps (summary.critical_path.replay) say about the potential savings of a finding: how much
 * shorter the steps get without what it is about.
 *
 *     idle time that it claims ─► of each cause its part of that cause's time ─► that part of the cause's replay ─┐
 *     exposed collectives      ─► likewise                                                                        ├► sum
 *     the rest, busy time      ─► `replay` in schemas/findings.json: the part of that kind's time                ─┘
 *
 * Without a part of a kind, a step gets shorter by at least that part of what the whole kind saves, because each of
 * its chains does.  For compute, replays of a quarter and of half of it are known as well. */

/* Of the length of the steps, in percent: more shows that a replay does not follow them. */
#define ERROR_MOST_PCT 1.0
/* Of the potential savings, in percent: time that no replay leaves out. */
#define UNKNOWN_MOST_PCT 1.0

struct sum {
    const struct tm_value *path; /* summary.critical_path */
    struct replayed *to;
};

static const struct tm_value *row_without(const struct tm_value *path, const char *kind)
{
    return tm_find(tm_path(path, "replay.rows"), "without", kind);
}

static double saved_without(const struct tm_value *path, const char *kind)
{
    return tm_share_pct(tm_int(tm_get(row_without(path, kind), "saved_ps")), tm_int(tm_get(path, "total_ps")));
}

/* Steps have it, but none of the replayed ones. */
static bool is_missing(const struct tm_value *path, const char *kind)
{
    const struct tm_value *row = row_without(path, kind);

    return tm_int(tm_get(row, "path_ps")) > 0 && tm_has(tm_get(row, "replayed_path_ps")) &&
           tm_int(tm_get(row, "replayed_path_ps")) == 0;
}

/* The savings without a part of the compute, interpolated between the known replays. */
static double saved_compute(const struct tm_value *path, double part)
{
    const double at[] = { 0, 0.25, 0.5, 1 };
    const double saved[] = { 0, saved_without(path, "compute_quarter"), saved_without(path, "compute_half"),
                             saved_without(path, "compute") };
    size_t i = 1;

    while (part > at[i] && i < 3)
        i++;
    return saved[i - 1] + (saved[i] - saved[i - 1]) * (part - at[i - 1]) / (at[i] - at[i - 1]);
}

static bool is_left_out(const struct replayed *r, const char *kind)
{
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->without[i], kind) == 0)
            return true;
    return false;
}

static void leave_out(const struct sum *sum, const char *kind, double saved_pct)
{
    struct replayed *const r = sum->to;

    r->saved_pct += saved_pct;
    if (!is_left_out(r, kind) && r->count < REPLAYED_MOST)
        r->without[r->count++] = kind;
}

/* A part of the time of a kind. */
static void leave_out_part(const struct sum *sum, const char *kind, int64_t part_ps, int64_t whole_ps)
{
    const double part = fmin(whole_ps > 0 ? (double)part_ps / (double)whole_ps : 1, 1);

    if (part_ps > 0)
        leave_out(sum, kind,
                  strcmp(kind, "compute") == 0 ? saved_compute(sum->path, part)
                                               : part * saved_without(sum->path, kind));
}

/* The largest part of the critical path that is not left out; NULL = none has more than what is. */
static const struct tm_value *largest_other(const struct tm_value *path, const struct replayed *r, const char **kind)
{
    const struct tm_value *kinds = tm_get(path, "by_kind"), *largest = NULL;

    for (size_t i = 0; i < tm_length(kinds); i++) {
        const struct tm_value *row = tm_value_at(kinds, i);

        if (is_left_out(r, tm_key_at(kinds, i)) ||
            tm_int(tm_get(row, "total_ps")) <= tm_int(tm_get(largest, "total_ps")))
            continue;
        largest = row;
        *kind = tm_key_at(kinds, i);
    }
    return largest;
}

static const char *words_of(const char *kind)
{
    static const char *const words[][2] = {
        { "compute", "compute" },
        { "collective", "collectives" },
        { "copy", "copies" },
        { "device_wait", "device stalls" },
        { "launch", "launch overhead" },
        { "compile", "compilation" },
        { "input", "the input pipeline" },
        { "sync", "host sync" },
        { "gc", "garbage collection" },
        { "profiler", "profiler overhead" },
        { "host", "host code" },
        { "unrecorded", "unrecorded host work" },
    };

    return tm_format_word(TM_PAIRS(words), kind, kind);
}

/* Where the path is while the measured time passes, if little of that time is on the path. */
static void find_other(const struct sum *sum)
{
    const char *kind = NULL;
    const struct tm_value *other = largest_other(sum->path, sum->to, &kind);
    double own_pct = 0;

    for (size_t i = 0; i < sum->to->count; i++)
        own_pct += tm_double(tm_get(tm_get(tm_get(sum->path, "by_kind"), sum->to->without[i]), "share_pct"));
    if (!other || tm_double(tm_get(other, "share_pct")) <= own_pct)
        return;
    sum->to->other = words_of(kind);
    sum->to->other_pct = tm_double(tm_get(other, "share_pct"));
}

/* out: what no replay leaves out */
static int64_t add_waits(const struct tm_findings *all, const struct sum *sum, const int64_t claimed_ps[TM_WAITS],
                         int64_t at_stake_ps)
{
    int64_t rest_ps = at_stake_ps;

    for (int wait = 0; wait < TM_WAITS; wait++) {
        const int64_t part_ps = claimed_ps[wait] < rest_ps ? claimed_ps[wait] : rest_ps;

        leave_out_part(sum, wait_kind((enum tm_wait)wait), part_ps, tm_wait_ps(all, (enum tm_wait)wait));
        rest_ps -= part_ps;
    }
    return rest_ps;
}

/* out: what no replay leaves out */
static int64_t add_busy(const struct tm_findings *all, const struct sum *sum, const char *kind, int64_t busy_ps)
{
    static const char *const whole[][2] = { { "compute", "total.compute_ps" },
                                            { "collective", "total.exposed_collective_ps" },
                                            { "copy", "total.exposed_copy_ps" } };

    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
        if (!kind || strcmp(kind, whole[i][0]) != 0)
            continue;
        leave_out_part(sum, kind, busy_ps, tm_int(tm_path(all->summary, whole[i][1])));
        return 0;
    }
    return busy_ps;
}

static bool is_about_devices(const char *kind)
{
    return kind && (strcmp(kind, "stragglers") == 0 || strcmp(kind, "imbalance") == 0);
}

/* With several hosts, their collectives are replayed: a replay of the steps of one host follows no waits from host to
 * host. */
static bool is_across_hosts(const struct tm_findings *all, const char *kind)
{
    return is_about_devices(kind) && tm_has(tm_path(all->summary, "collectives.skew.critical_path"));
}

/* What devices save together, of their windows. */
static double saved_of_devices(const struct tm_findings *all, const struct sum *sum, const char *kind)
{
    const struct tm_value *const across = tm_path(all->summary, "collectives.skew.critical_path");
    const char *const key = strcmp(kind, "stragglers") == 0 ? "stragglers_saved_ps" : "imbalance_saved_ps";

    return is_across_hosts(all, kind) ? tm_share_pct(tm_int(tm_get(across, key)), tm_query_window_ps(all->summary))
                                      : saved_without(sum->path, kind);
}

/* Of the waits for late devices, what no finding on unequal work claims.  Unequal work is left out as a whole. */
static void add_devices(const struct tm_findings *all, const struct sum *sum, const char *kind, int64_t at_stake_ps)
{
    const int64_t wait_ps = tm_int(tm_path(all->summary, "total.exposed_wait_ps"));
    const double part = fmin(wait_ps > 0 ? (double)at_stake_ps / (double)wait_ps : 1, 1);

    leave_out(sum, kind,
              strcmp(kind, "stragglers") == 0 ? part * saved_of_devices(all, sum, kind)
                                              : saved_of_devices(all, sum, kind));
}

/* Why no replay of a finding's kind is known; NULL = one is. */
static const char *why_not_replayed(const struct tm_findings *all, const struct sum *sum, const char *kind)
{
    const struct tm_value *const replay = tm_get(sum->path, "replay");

    if (is_across_hosts(all, kind))
        return NULL;
    if (is_about_devices(kind) && tm_length(tm_path(all->summary, "input.hosts")) > 1)
        return "collectives of several hosts were not replayed";
    if (!tm_has(replay))
        return tm_reason_of(all->summary, tm_has(sum->path) ? "critical_path.replay" : "critical_path");
    if (100 * fabs(tm_double(tm_get(replay, "error_ps"))) > ERROR_MOST_PCT * tm_double(tm_get(replay, "total_ps")))
        return "the dependencies of the steps are not known well enough";
    return NULL;
}

/* Idle time whose cause the path does not see: where launches are known to be long before the pause that they end, or
 * another thread did the work, it goes through a device stall, or through time that was not recorded. */
static double idle_elsewhere(const struct tm_findings *all, const struct sum *sum, const int64_t claimed_ps[TM_WAITS])
{
    static const enum tm_wait blind[] = { TM_WAIT_DEVICE, TM_WAIT_UNRECORDED };
    double excess_pct = 0;
    bool is_idle = false;

    for (int wait = TM_WAIT_LAUNCH; wait < TM_WAITS; wait++)
        is_idle |= claimed_ps[wait] > 0 && wait != TM_WAIT_UNRECORDED;
    for (size_t i = 0; is_idle && i < sizeof(blind) / sizeof(blind[0]); i++) {
        const struct tm_value *kind = tm_get(tm_get(sum->path, "by_kind"), wait_kind(blind[i]));

        excess_pct += fmax(tm_double(tm_get(kind, "share_pct")) -
                               tm_share_pct(tm_wait_ps(all, blind[i]), tm_query_window_ps(all->summary)),
                           0);
    }
    return excess_pct;
}

/* in:     kind        `replay` of its row in schemas/findings.json; NULL = none
 *         claimed_ps  its part of each wait */
static struct replayed replay_of(const struct tm_findings *all, const char *kind, const int64_t claimed_ps[TM_WAITS],
                                 int64_t at_stake_ps)
{
    struct replayed r = { .why = NULL };
    const struct sum sum = { tm_get(all->summary, "critical_path"), &r };
    int64_t rest_ps = 0;

    r.why = why_not_replayed(all, &sum, kind);
    if (r.why)
        return r;
    if (is_about_devices(kind)) {
        add_devices(all, &sum, kind, at_stake_ps);
    } else {
        rest_ps = add_waits(all, &sum, claimed_ps, at_stake_ps);
        rest_ps = add_busy(all, &sum, kind, rest_ps);
    }
    if (100 * (double)rest_ps > UNKNOWN_MOST_PCT * (double)at_stake_ps)
        r.why = "no replay leaves out what it is about";
    for (size_t i = 0; i < r.count; i++)
        if (is_missing(sum.path, r.without[i]))
            r.why = "no step with it was replayed";
    if (!is_across_hosts(all, kind)) /* on the path of one host, waits for others are time in collectives */
        find_other(&sum);
    r.elsewhere_pct = idle_elsewhere(all, &sum, claimed_ps);
    return r;
}

/* Share of a step's length below which it is ignored. */
#define REPLAY_LEAST_PCT 0.05

/* Both differ by more than a tenth. */
static bool differ(double a, double b)
{
    return fabs(a - b) > 0.1 * fmax(a, b);
}

static void emit_difference(struct tm_finding *f)
{
    const struct replayed *const r = &f->replayed;
    const struct tm_given given[] = { tm_given_double("saved_pct", f->replayed_pct),
                                      tm_given_double("measured_pct", f->share_pct),
                                      tm_given_text("other", r->other ? r->other : ""),
                                      tm_given_double("other_pct", r->other_pct),
                                      { .name = NULL } };
    const int first = f->evidence_count > 0; /* after the sentence that says what was measured */

    memmove(f->evidence[first + 1], f->evidence[first], (size_t)(f->evidence_count - first) * TM_EVIDENCE_BYTES);
    emit_at(f,
            f->replayed_pct >= f->share_pct ? "replay_more"
            : f->replayed_ps > 0            ? "replay_less"
                                            : "replay_nothing",
            first, NULL, given);
    (void)snprintf(f->difference, TM_EVIDENCE_BYTES, "%s", f->evidence[first]);
}

/* Compare potential savings with a replay of the steps; the smaller figure counts if they differ. */
static void check_by_replay(const struct tm_findings *all, struct tm_finding *f)
{
    double factor = f->hosts_ps > 0 ? (double)all->window_ps / (double)f->hosts_ps : 1;

    if (f->at_stake_ps <= 0 || f->share_pct <= 0)
        return;
    f->replayed = replay_of(all, f->row->replay, f->claimed_ps, f->at_stake_ps);
    f->measured_stake_ps = f->at_stake_ps;
    if (f->replayed.why)
        return;
    f->replayed_pct = fmin(f->replayed.saved_pct * fmax(factor, 1), 100);
    if (f->replayed_pct < REPLAY_LEAST_PCT)
        f->replayed_pct = 0;
    f->replayed_ps = tm_whole((double)f->at_stake_ps * f->replayed_pct / f->share_pct);
    if (!differ(f->replayed_pct, f->share_pct))
        return;
    if (f->replayed_pct < f->share_pct && f->replayed.elsewhere_pct > f->share_pct / 2) {
        f->replayed.why = "the critical path does not go through the cause of the pauses";
        return;
    }
    emit_difference(f);
    if (f->replayed_pct > f->share_pct)
        return;
    f->at_stake_ps = f->replayed_ps;
    f->idle_ps = f->idle_ps < f->at_stake_ps ? f->idle_ps : f->at_stake_ps;
    f->share_pct = f->replayed_pct;
    if (f->is_share && f->at_stake_ps > 0) /* otherwise only the measured share is stated */
        f->value = f->share_pct;
    f->severity = severity_of(all, f->at_stake_ps, f->share_pct);
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

static void write_replay(const struct tm_finding *f, struct tm_value *to)
{
    struct tm_value *replay, *without;

    if (f->measured_stake_ps <= 0 || f->replayed.why) {
        tm_add_null(to, "replay", f->replayed.why ? f->replayed.why : "it has no potential savings");
        return;
    }
    replay = tm_add_object(to, "replay");
    without = tm_add_array(replay, "without");
    for (size_t i = 0; i < f->replayed.count; i++)
        tm_add_string(without, NULL, f->replayed.without[i]);
    tm_add_int(replay, "measured_ps", f->measured_stake_ps);
    tm_add_int(replay, "saved_ps", f->replayed_ps);
    tm_add_double(replay, "saved_pct", f->replayed_pct);
    tm_add_known(replay, "difference", f->difference, "the two differ by at most a tenth");
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
    write_replay(f, to);
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

enum { LIST_BYTES = (TM_FINDINGS_MOST + 1) * sizeof(struct tm_finding) };

tm_status tm_findings_open(struct tm_findings *all, struct tm_run *run)
{
    all->list = tm_take(&run->budget, TM_ACCOUNT_MODEL, LIST_BYTES, &run->error);
    return all->list ? TM_OK : TM_ERR_LIMIT;
}

void tm_findings_write(struct tm_findings *all, struct tm_value *to)
{
    for (int i = 0; i < all->count; i++)
        check_by_replay(all, &all->list[i]);
    settle_severities(all);
    if (tm_query_is_too_little(all->summary))
        keep_of_profile(all);
    qsort(all->list, (size_t)all->count, sizeof(all->list[0]), by_stake);
    for (int i = 0; i < all->count; i++)
        write_finding(&all->list[i], tm_add_object(to, NULL));
}

void tm_findings_close(struct tm_findings *all, struct tm_run *run)
{
    tm_give(&run->budget, TM_ACCOUNT_MODEL, all->list, LIST_BYTES);
}
