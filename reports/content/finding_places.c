/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/content/finding_places.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/content/cell.h"
#include "reports/findings/finding_texts.h"
#include "reports/findings/query.h"
#include "reports/format/format.h"

/* --- times --- */

static int64_t to_ns(int64_t ps)
{
    return ps / 1000 - (ps % 1000 < 0);
}

/* Whether a device, or a host, is of a file. */
static bool is_of(const struct tm_value *file, const char *device)
{
    const char *host = tm_text(tm_get(file, "host"));
    const size_t length = strlen(host);

    return length && strncmp(device, host, length) == 0 && (!device[length] || device[length] == '/');
}

/* The file whose clock the times of a place are on: that of its host.  NULL: several could be meant */
static const struct tm_value *file_of(const struct tm_value *summary, const char *device)
{
    const struct tm_value *files = tm_path(summary, "input.files"), *only = NULL;
    size_t traces = 0;

    for (size_t i = 0; i < tm_length(files); i++) {
        const struct tm_value *file = tm_at(files, i);

        if (!tm_has(tm_get(file, "trace_ps")))
            continue;
        if (is_of(file, device))
            return file;
        only = traces++ ? NULL : file;
    }
    return only;
}

/* The slices of a place.  In what `convert` writes the profile starts at 0, or where trace_ps says.  A Chrome trace as it was
 * recorded may have a clock of its own: then that one reads more than any time of ours. */
static void put_sql(struct tm_place *out, const struct tm_value *file, int64_t from_ps, int64_t to_ps)
{
    const int64_t shift_ps = tm_int(tm_get(file, "trace_ps")), origin_us = tm_int(tm_get(file, "origin_us"));
    int64_t from, to, zero, origin;

    if (__builtin_add_overflow(from_ps, shift_ps, &from) || __builtin_add_overflow(to_ps, shift_ps, &to) ||
        __builtin_mul_overflow(origin_us, (int64_t)1000, &origin) || origin > INT64_MAX / 2 || origin < -INT64_MAX / 2)
        return;
    zero = origin - to_ns(shift_ps);
    from = to_ns(from);
    to = to_ns(to) + (to % 1000 != 0);
    if (origin <= 0)
        (void)snprintf(out->sql, sizeof(out->sql),
                       "select id, ts, dur, track_id, name from slice where ts < %" PRId64 " and ts + dur > %" PRId64
                       " order by dur desc",
                       to, from);
    else
        (void)snprintf(out->sql, sizeof(out->sql),
                       "with clock as (select case when max(ts) < %" PRId64 " then 0 else %" PRId64
                       " end as zero from slice)"
                       " select id, ts, dur, track_id, name from slice, clock"
                       " where ts - zero < %" PRId64 " and ts - zero + dur > %" PRId64 " order by dur desc",
                       origin, zero, to, from);
}

void tm_place_make(struct tm_place *out, const struct tm_value *summary, const struct tm_value *where)
{
    const int64_t from = tm_int(tm_get(where, "begin_ps")), to = tm_int(tm_get(where, "end_ps"));
    const bool has_length = to >= from && (from >= 0 || to < INT64_MAX + from);
    const char *device = tm_shown_device(summary, tm_text(tm_get(where, "device")));
    char begin[TM_FORMAT_BYTES], length[TM_FORMAT_BYTES];
    const struct tm_value *file = file_of(summary, tm_text(tm_get(where, "device")));

    *out = (struct tm_place){ .sql = "" };
    (void)snprintf(out->text, sizeof(out->text), "at %s, for %s%s%.200s", tm_format_moment(begin, from),
                   has_length ? tm_format_time(length, to - from) : "?", *device ? ", " : "", device);
    if (file)
        put_sql(out, file, from, to);
}

/* --- more about it --- */

const char *tm_finding_section(const char *finding_id)
{
    /* what is no finding of a run, by the beginnings of ids; the first that fits */
    static const char *const sections[][2] = {
        { "collective_", "collectives" }, /* of a comparison */
        { "transfer_", "transfers" },
        { "op_", "ops" },
        { "memory_", "memory" },
        { "slow_device", "balance" },
        { "scaling_communication", "exchange" }, /* of a scaling study */
        { "scaling_imbalance", "exchange" },
        { "scaling_idle", "step" },
        { "scaling_co", "step" }, /* computing, copies */
        { "scaling_", "speedup" },
        { "night_failed", "failures" }, /* of a night */
        { "night_gates", "gates" },
        { "night_worse", "changes" },
        { "night_absent", "jobs" },
        { "night_ahead", "runs" },
    };
    const struct tm_finding_row *row = tm_finding_row(finding_id);

    if (row)
        return row->section;
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
        if (strncmp(finding_id, sections[i][0], strlen(sections[i][0])) == 0)
            return sections[i][1];
    return "coverage"; /* what is wrong with the profile */
}

const struct tm_section *tm_section_of_finding(const struct tm_value *summary, const struct tm_value *finding)
{
    const struct tm_section *section = tm_section_of(summary, tm_finding_section(tm_text(tm_get(finding, "id"))));

    return section && tm_section_is_due(section, summary) ? section : NULL;
}

/* A cause of a comparison tells by how much a step became longer. */
static bool is_cause(const struct tm_value *finding)
{
    return tm_has(tm_get(finding, "change_ps"));
}

const char *tm_finding_time(char *out, const struct tm_value *finding)
{
    struct tm_cell time =
        tm_cell_of_value(TM_CELL_TIME, tm_get(finding, is_cause(finding) ? "change_ps" : "at_stake_ps"));

    time.is_change = is_cause(finding);
    out[0] = 0;
    if (tm_int(time.value) == 0 || (!is_cause(finding) && tm_int(time.value) < 0))
        return out;
    return tm_cell_shown(&time, NULL, out);
}

const char *tm_finding_link(const struct tm_value *finding)
{
    const char *path = tm_text(tm_path(finding, "link.href"));

    return tm_link_is_safe(path) ? path : NULL;
}

const char *tm_finding_part(char *out, const struct tm_value *finding)
{
    const struct tm_value *part = tm_get(finding, is_cause(finding) ? "explains_pct" : "share_pct");
    char pct[TM_FORMAT_BYTES], window[TM_FORMAT_BYTES];

    out[0] = 0;
    if (tm_has(part))
        (void)snprintf(out, TM_FORMAT_BYTES, "%.12s of %.30s", tm_format_pct(pct, tm_double(part)),
                       is_cause(finding) ? "the change" : tm_window_of_finding(window, finding));
    return out;
}

static const char *cause_stake(char *out, const struct tm_value *finding)
{
    char time[TM_FORMAT_BYTES], part[TM_FORMAT_BYTES];

    (void)tm_finding_part(part, finding);
    (void)tm_finding_time(time, finding);
    (void)snprintf(out, TM_FINDING_BYTES, "%s%s%s%s", time, *time ? " per step and device" : "",
                   *time && *part ? ", " : "", *time ? part : "");
    return out;
}

const char *tm_finding_stake(char *out, const struct tm_value *finding)
{
    if (is_cause(finding))
        return cause_stake(out, finding);

    const struct tm_value *stake = tm_get(finding, "at_stake_ps"), *share = tm_get(finding, "share_pct");
    const struct tm_value *value = tm_get(finding, "value"), *limit = tm_get(finding, "limit");
    const char *unit = tm_text(tm_get(finding, "unit")), *of = tm_text(tm_get(finding, "stake_of"));
    const bool repeats = strcmp(unit, "%") == 0 && fabs(tm_double(value) - tm_double(share)) < 0.05;
    const bool has_stake = tm_int(stake) > 0;
    char time[TM_FORMAT_BYTES] = "", part[TM_FORMAT_BYTES] = "", measured[TM_FORMAT_BYTES] = "",
         most[TM_FORMAT_BYTES] = "";
    const bool is_bare = !tm_has(limit) && strcmp(unit, "count") == 0; /* the title or the evidence tells it */
    const bool has_measured = tm_has(value) && !is_bare && !(has_stake && repeats);
    const bool has_limit = has_measured && tm_has(limit); /* else it says from where on a loss is told at all */

    if (has_stake)
        tm_format_time(time, tm_int(stake));
    if (has_stake)
        (void)tm_finding_part(part, finding);
    if (has_measured)
        tm_format_unit(measured, tm_double(value), unit);
    if (has_limit)
        tm_format_limit(most, tm_double(limit), unit);
    (void)snprintf(out, TM_FINDING_BYTES, "%s%s%s%.40s%s%s%s%s%s%s%s", *time && !*of ? "potential savings " : "", time,
                   *time ? " of " : "",
                   !*time ? ""
                   : *of  ? of
                          : "device time",
                   *part ? ", " : "", part, *measured && *time ? "; " : "", *measured ? "measured " : "", measured,
                   *most ? ", limit " : "", most);
    return out;
}
