/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/content/content.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/clock.h"
#include "pipeline/doc/doc.h"
#include "pipeline/store/bounded_sum.h"
#include "reports/findings/findings.h"
#include "reports/findings/summary_query.h"
#include "reports/format/format.h"

enum { LISTED_HOSTS = 4 };

/* --- texts --- */

char *tm_front_add_fact(struct tm_front_page *front, const char *title)
{
    assert(front->facts < TM_FRONT_FACTS_MOST);
    front->fact[front->facts].title = title;
    return front->fact[front->facts++].text;
}

void tm_front_say_fact(struct tm_front_page *front, const char *title, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    (void)vsnprintf(tm_front_add_fact(front, title), TM_FRONT_BYTES, format, list);
    va_end(list);
}

/* --- facts --- */

static void add_hosts(struct tm_front_page *front, const struct tm_value *summary)
{
    const struct tm_value *hosts = tm_path(summary, "input.hosts");
    const size_t n = tm_length(hosts);
    char *text;

    if (tm_is_named_as_run(summary))
        return;
    text = tm_front_add_fact(front, n == 1 ? "Host" : "Hosts");
    if (n > 1)
        tm_format_append(text, TM_FRONT_BYTES, "%zu: ", n);
    for (size_t i = 0; i < n && i < LISTED_HOSTS; i++)
        tm_format_append(text, TM_FRONT_BYTES, "%s%.80s", i ? ", " : "",
                         tm_shown_host(summary, tm_text(tm_at(hosts, i))));
    if (n > LISTED_HOSTS)
        tm_format_append(text, TM_FRONT_BYTES, " and %zu more", n - LISTED_HOSTS);
    if (n == 0)
        tm_format_append(text, TM_FRONT_BYTES, "not recorded");
}

/* "AMD GPU", of a device whose model is not recorded. */
static void append_kind(char *text, const struct tm_value *model)
{
    static const char *const kinds[][2] = { { "gpu", "GPU" }, { "tpu", "TPU" }, { "cpu", "CPU" } };
    const char *kind = tm_text(tm_get(model, "kind")), *vendor = tm_text(tm_get(model, "vendor"));

    tm_format_append(text, TM_FRONT_BYTES, "%.60s%s%.60s", vendor, *vendor ? " " : "",
                     tm_format_word(TM_PAIRS(kinds), kind, kind));
}

/* "2 × NVIDIA H100 (of 4)" */
static void append_model(char *text, const struct tm_value *model)
{
    const struct tm_value *used = tm_get(model, "used"), *all = tm_get(model, "count"), *name = tm_get(model, "model");
    char count[TM_FORMAT_BYTES];

    tm_format_append(text, TM_FRONT_BYTES, "%s%s × ", *text ? ", " : "",
                     tm_format_count(count, tm_int(tm_has(used) ? used : all)));
    if (tm_has(name))
        tm_format_append(text, TM_FRONT_BYTES, "%.80s", tm_text(name));
    else
        append_kind(text, model);
    if (tm_has(used) && tm_has(all) && tm_int(used) != tm_int(all))
        tm_format_append(text, TM_FRONT_BYTES, " (of %s)", tm_format_count(count, tm_int(all)));
}

/* No device of that model was active. */
static bool is_unused(const struct tm_value *model)
{
    return tm_has(tm_get(model, "used")) && tm_int(tm_get(model, "used")) == 0;
}

/* Devices of models without any active device. */
static int64_t count_unused(const struct tm_value *models)
{
    int64_t count = 0;

    for (size_t i = 0; i < tm_length(models); i++) {
        const struct tm_value *model = tm_at(models, i);

        if (is_unused(model))
            count = tm_sum_times(count, tm_int(tm_get(model, "count")));
    }
    return count;
}

static void add_devices(struct tm_front_page *front, const struct tm_value *summary)
{
    const struct tm_value *models = tm_path(summary, "environment.devices");
    const size_t n = tm_length(models), devices = tm_length(tm_get(summary, "devices"));
    const int64_t unused = count_unused(models);
    char *text = tm_front_add_fact(front, "Devices used"), count[TM_FORMAT_BYTES];
    size_t used = 0;

    for (size_t i = 0; i < n; i++)
        if (!is_unused(tm_at(models, i)) && used++ < LISTED_HOSTS)
            append_model(text, tm_at(models, i));
    if (used > LISTED_HOSTS)
        tm_format_append(text, TM_FRONT_BYTES, " and %zu more models", used - LISTED_HOSTS);
    if (n == 0 && devices > 0)
        tm_format_append(text, TM_FRONT_BYTES, "%zu", devices);
    else if (used == 0)
        tm_format_append(text, TM_FRONT_BYTES, "none with activity");
    if (unused > 0)
        tm_format_append(text, TM_FRONT_BYTES, "; %s unused", tm_format_count(count, unused));
}

static void add_versions(struct tm_front_page *front, const struct tm_value *summary)
{
    static const char *const versions[][2] = {
        { "jax", "JAX" },
        { "jaxlib", "jaxlib" },
        { "cuda", "CUDA" },
        { "driver", "driver" },
        { "rocm", "ROCm" },
        { "libtpu", "libtpu" },
        { "cuda_runtime", "CUDA runtime" },
    };
    const struct tm_value *host = tm_path(summary, "environment.hosts[0]");
    char *text = tm_front_add_fact(front, "Versions"), value[TM_FORMAT_BYTES];

    if (strcmp(tm_text(tm_get(host, "framework")), "pytorch") == 0)
        tm_format_append(text, TM_FRONT_BYTES, "PyTorch (version not recorded)");
    if (strcmp(tm_text(tm_get(host, "framework")), "tensorflow") == 0)
        tm_format_append(text, TM_FRONT_BYTES, "TensorFlow (version not recorded)");
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        const struct tm_cell version = tm_cell_of_value(TM_DOC_WORD, tm_get(host, versions[i][0]));

        if (!tm_cell_is_empty(&version))
            tm_format_append(text, TM_FRONT_BYTES, "%s%s %.60s", *text ? ", " : "", versions[i][1],
                             tm_cell_shown(&version, summary, value));
    }
    if (!*text)
        tm_format_append(text, TM_FRONT_BYTES, "not recorded");
}

static void add_window(struct tm_front_page *front, const struct tm_value *summary)
{
    static const char *const modes[][2] = { { "steps", ", analyzed steps" },
                                            { "all", ", all activity" },
                                            { "session", ", session" } };
    const struct tm_value *windows = tm_path(summary, "window.hosts"), *job = tm_path(summary, "window.job"),
                          *first = NULL;
    const char *mode = tm_text(tm_path(summary, "window.mode"));
    char *text = tm_front_add_fact(front, "Window"), begin[TM_FORMAT_BYTES], span[TM_FORMAT_BYTES];
    size_t count = 0;

    for (size_t i = 0; i < tm_length(windows); i++) {
        if (!tm_has(tm_get(tm_at(windows, i), "span_ps")))
            continue;
        first = first ? first : tm_at(windows, i);
        count++;
    }
    if (!first) {
        tm_format_append(text, TM_FRONT_BYTES, "not recorded");
        return;
    }
    if (tm_has(job)) /* one clock for all hosts */
        first = job;
    tm_format_append(text, TM_FRONT_BYTES, "%s%s, starting at %s",
                     tm_format_time(span, tm_int(tm_get(first, "span_ps"))), tm_format_word(TM_PAIRS(modes), mode, ""),
                     tm_format_time(begin, tm_int(tm_get(first, "begin_ps"))));
    if (first == job)
        tm_format_append(text, TM_FRONT_BYTES, ", on all hosts");
    else if (count > 1)
        tm_format_append(text, TM_FRONT_BYTES, " (first of %zu windows)", count);
}

static void add_steps(struct tm_front_page *front, const struct tm_value *summary)
{
    const struct tm_value *steps = tm_get(summary, "steps"), *median = tm_get(steps, "median_ps");
    char *text = tm_front_add_fact(front, "Steps"), number[TM_FORMAT_BYTES];

    if (!tm_has(tm_get(steps, "count"))) {
        tm_format_append(text, TM_FRONT_BYTES, "not recorded");
        return;
    }
    if (strcmp(tm_text(tm_get(steps, "source")), "session") == 0) {
        tm_format_append(text, TM_FRONT_BYTES, "none marked");
        return;
    }
    tm_format_append(text, TM_FRONT_BYTES, "%s", tm_format_count(number, tm_int(tm_get(steps, "chosen"))));
    if (tm_int(tm_get(steps, "chosen")) != tm_int(tm_get(steps, "count")))
        tm_format_append(text, TM_FRONT_BYTES, " analyzed of %s",
                         tm_format_count(number, tm_int(tm_get(steps, "count"))));
    if (tm_has(median))
        tm_format_append(text, TM_FRONT_BYTES, ", %s%s", tm_int(tm_get(steps, "chosen")) > 1 ? "median " : "",
                         tm_format_time(number, tm_int(median)));
}

/* The content of a trace; not for a device memory profile without one. */
static void add_run(struct tm_front_page *front, const struct tm_value *summary)
{
    add_hosts(front, summary);
    add_devices(front, summary);
    add_versions(front, summary);
    add_window(front, summary);
    add_steps(front, summary);
}

static void add_date(struct tm_front_page *front, const struct tm_value *summary)
{
    const struct tm_value *begin = tm_path(summary, "environment.hosts[0].begin_ns");
    char date[TM_FORMAT_BYTES];

    if (tm_has(begin) && *tm_format_date(date, tm_int(begin)))
        tm_format_append(tm_front_add_fact(front, "Profiled"), TM_FRONT_BYTES, "%s", date);
}

static void add_files(struct tm_front_page *front, const struct tm_value *summary)
{
    const struct tm_value *files = tm_path(summary, "input.files");
    char *text = tm_front_add_fact(front, tm_length(files) == 1 ? "File" : "Files");

    if (tm_length(files) == 1)
        tm_format_append(text, TM_FRONT_BYTES, "%.400s", tm_text(tm_get(tm_at(files, 0), "path")));
    else
        tm_format_append(text, TM_FRONT_BYTES, "%zu (listed under data quality)", tm_length(files));
}

/* --- the rest --- */

static void make_subtitle(struct tm_front_page *front, const struct tm_value *summary, const char *run)
{
    const char *title = tm_text(tm_path(summary, "report.title"));
    const size_t hosts = tm_length(tm_path(summary, "input.hosts")), devices = tm_length(tm_get(summary, "devices"));

    if (hosts == 0) /* a device memory profile alone */
        (void)snprintf(front->subtitle, sizeof(front->subtitle), "%.120s", *title ? run : "");
    else if (devices == 0)
        (void)snprintf(front->subtitle, sizeof(front->subtitle), "%.120s%s%zu host%s, no device activity",
                       *title ? run : "", *title ? ": " : "", hosts, tm_format_plural(hosts));
    else
        (void)snprintf(front->subtitle, sizeof(front->subtitle), "%.120s%s%zu host%s, %zu device%s", *title ? run : "",
                       *title ? ": " : "", hosts, tm_format_plural(hosts), devices, tm_format_plural(devices));
}

static bool has_stake(const struct tm_value *finding)
{
    return tm_int(tm_get(finding, "at_stake_ps")) > 0;
}

size_t tm_front_findings(const struct tm_value *summary, size_t most, size_t *pick)
{
    const struct tm_value *findings = tm_get(summary, "findings");
    const bool is_any = has_stake(tm_at(findings, 0)); /* sorted by potential savings */
    size_t n = 0;

    for (size_t i = 0; i < tm_length(findings) && n < most; i++)
        if (!is_any || has_stake(tm_at(findings, i)))
            pick[n++] = i;
    return n;
}

static void make_partial(struct tm_front_page *front, const struct tm_value *summary)
{
    const struct tm_value *files = tm_path(summary, "input.files");
    size_t partial = 0;

    front->is_partial = tm_is(tm_path(summary, "input.partial"));
    for (size_t i = 0; i < tm_length(files); i++)
        partial += tm_is(tm_get(tm_at(files, i), "partial"));
    tm_format_append(front->partial, TM_FRONT_BYTES,
                     "The input is damaged or truncated. The figures cover what could be read");
    if (partial > 0)
        tm_format_append(front->partial, TM_FRONT_BYTES, "; partial files: %zu of %zu", partial, tm_length(files));
    tm_format_append(front->partial, TM_FRONT_BYTES, ".");
}

void tm_front_begin(struct tm_front_page *front, const struct tm_value *summary, const char *title)
{
    const char *given = tm_text(tm_path(summary, "report.title"));

    *front = (struct tm_front_page){ .note = tm_text(tm_path(summary, "report.note")),
                                     .verdict = tm_text(tm_path(summary, "verdict.text")),
                                     .tone = tm_tone_of(tm_text(tm_path(summary, "verdict.severity"))) };
    (void)snprintf(front->title, sizeof(front->title), "%s", *given ? given : title);
    make_partial(front, summary);
}

void tm_front_of_report(struct tm_front_page *front, const struct tm_value *summary)
{
    char run[TM_FRONT_TITLE_BYTES];

    if (!*tm_shown_run(summary, run, sizeof(run)))
        (void)snprintf(run, sizeof(run), "profile");
    tm_front_begin(front, summary, run);
    make_subtitle(front, summary, run);
    front->is_slight = tm_query_is_too_little(summary);
    if (tm_length(tm_path(summary, "input.hosts")) > 0)
        add_run(front, summary);
    add_date(front, summary);
    add_files(front, summary);
    if (tm_is(tm_path(summary, "report.redacted")))
        tm_format_append(tm_front_add_fact(front, "Names"), TM_FRONT_BYTES,
                         "replaced by pseudonyms, except words of JAX, libraries and compilers");
}

void tm_front_make(struct tm_front_page *front, const struct tm_value *summary)
{
    tm_document_of(summary)->make_front(front, summary);
}

size_t tm_kpi_count(const struct tm_value *summary)
{
    const struct tm_value *kpis = tm_get(summary, "kpis");
    size_t n = 0, known = 0;

    for (size_t i = 0; i < tm_length(kpis); i++) {
        n += tm_kpi_is_for_run(tm_at(kpis, i));
        known += tm_has(tm_get(tm_at(kpis, i), "value"));
    }
    return known > 0 ? n : 0;
}

/* The throughput of the run comes before its parts. */
static int rank_of(const struct tm_value *kpi)
{
    const char *id = tm_text(tm_get(kpi, "id"));

    if (strcmp(id, "model_flop_utilization") == 0)
        return tm_has(tm_get(kpi, "value")) ? 0 : 2;
    return strcmp(id, "step_time") == 0 ? 1 : 2;
}

static const struct tm_value *kpi_of(const struct tm_value *summary, size_t index)
{
    const struct tm_value *kpis = tm_get(summary, "kpis");

    for (int rank = 0; rank <= 2; rank++)
        for (size_t i = 0; i < tm_length(kpis); i++)
            if (tm_kpi_is_for_run(tm_at(kpis, i)) && rank_of(tm_at(kpis, i)) == rank && index-- == 0)
                return tm_at(kpis, i);
    return NULL;
}

static size_t finding_of(const struct tm_value *summary, const struct tm_value *kpi)
{
    const char *id = tm_text(tm_get(kpi, "finding"));
    const struct tm_value *findings = tm_get(summary, "findings");

    for (size_t i = 0; *id && i < tm_length(findings); i++)
        if (strcmp(tm_text(tm_get(tm_at(findings, i), "id")), id) == 0)
            return i + 1;
    return 0;
}

const char *tm_band_word(const char *band)
{
    return strcmp(band, "bad") == 0 ? "critical" : band;
}

/* Outside its band without a finding: such a figure costs nothing here and is drawn neutral. */
static bool is_neutral(const struct tm_key_figure *kpi)
{
    const bool has_findings = tm_get(kpi->kpi, "finding") || *kpi->why; /* figures of other documents have none */

    return kpi->finding == 0 && has_findings &&
           (strcmp(kpi->band, "warning") == 0 || strcmp(kpi->band, "critical") == 0);
}

/* "> 80 %" if higher is better, "< 25 %" if lower is; if both limits are equal, only that of good is shown. */
static void make_limit(char *out, const struct tm_value *kpi, bool is_good)
{
    const struct tm_value *good = tm_get(kpi, "good"), *bad = tm_get(kpi, "bad"), *limit = is_good ? good : bad;
    const bool more_is_better = tm_double(good) > tm_double(bad), is_met = tm_double(good) == tm_double(bad);
    const char *const sign = is_good && is_met ? "" : is_good == more_is_better ? "> " : "< ";
    char text[TM_FORMAT_BYTES];

    out[0] = 0;
    if (tm_type_of(limit) == TM_STRING)
        (void)snprintf(out, TM_FORMAT_BYTES, "%s", tm_text(limit));
    else if (tm_has(limit))
        (void)snprintf(out, TM_FORMAT_BYTES, "%s%.40s", sign,
                       tm_format_limit(text, tm_double(limit), tm_text(tm_get(kpi, "unit"))));
}

/* Linear between the limits, and at the same rate beyond them, up to the ends of the scale. */
static double place_of(const struct tm_value *kpi)
{
    const struct tm_value *good = tm_get(kpi, "good"), *bad = tm_get(kpi, "bad"), *value = tm_get(kpi, "value");
    const double between = tm_double(good) - tm_double(bad);
    double place;

    if (!tm_has(value) || !tm_has(good) || !tm_has(bad) || tm_type_of(good) == TM_STRING || between == 0)
        return -1;
    place = 1.0 / 3 + (tm_double(value) - tm_double(bad)) / between / 3;
    return place < 0 ? 0 : place > 1 ? 1 : place;
}

void tm_kpi_at(struct tm_key_figure *out, const struct tm_value *summary, size_t index)
{
    const struct tm_value *kpi = kpi_of(summary, index), *value = tm_get(kpi, "value");
    const char *why = tm_text(tm_get(kpi, "why"));

    *out = (struct tm_key_figure){
        .kpi = kpi,
        .id = tm_text(tm_get(kpi, "id")),
        .title = tm_text(tm_get(kpi, "title")),
        .definition = tm_text(tm_get(kpi, "definition")),
        .band = tm_band_word(tm_text(tm_get(kpi, "band"))),
        .why = *why || tm_has(value) ? why : tm_why(value),
        .has_value = tm_has(value),
        .place = place_of(kpi),
    };
    if (!*out->title)
        out->title = out->id;
    if (out->has_value)
        (void)tm_format_unit(out->value, tm_double(value), tm_text(tm_get(kpi, "unit")));
    out->finding = finding_of(summary, kpi);
    if (is_neutral(out))
        out->band = "";
    make_limit(out->good, kpi, true);
    make_limit(out->bad, kpi, false);
}

/* --- tiles --- */

/* The place of a key figure; tm_kpi_count = the run has none of that id with a value. */
static size_t known_kpi(const struct tm_value *summary, const char *id)
{
    const size_t count = tm_kpi_count(summary);

    for (size_t i = 0; i < count; i++)
        if (strcmp(tm_text(tm_get(kpi_of(summary, i), "id")), id) == 0)
            return tm_has(tm_get(kpi_of(summary, i), "value")) ? i : count;
    return count;
}

static bool is_picked(const size_t *pick, size_t picks, size_t place)
{
    for (size_t i = 0; i < picks; i++)
        if (pick[i] == place)
            return true;
    return false;
}

size_t tm_kpi_tiles(const struct tm_value *summary, size_t pick[TM_KPI_TILES_MOST])
{
    static const char *const first[] = { "step_time", "model_flop_utilization", "device_utilization" };
    const struct tm_value *findings = tm_get(summary, "findings");
    const size_t count = tm_kpi_count(summary);
    size_t picks = 0;

    for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
        const size_t place = known_kpi(summary, first[i]);

        if (place < count)
            pick[picks++] = place;
    }
    for (size_t f = 0; f < tm_length(findings) && has_stake(tm_at(findings, f)); f++)
        for (size_t i = 0; i < count && picks < TM_KPI_TILES_MOST; i++)
            if (tm_has(tm_get(kpi_of(summary, i), "value")) && finding_of(summary, kpi_of(summary, i)) == f + 1 &&
                !is_picked(pick, picks, i))
                pick[picks++] = i;
    return picks;
}

/* --- times --- */

static int64_t to_ns(int64_t ps)
{
    return ps / 1000 - (ps % 1000 < 0);
}

/* Whether a device, or a host, belongs to a file. */
static bool is_of(const struct tm_value *file, const char *device)
{
    const char *host = tm_text(tm_get(file, "host"));
    const size_t length = strlen(host);

    return length && strncmp(device, host, length) == 0 && (!device[length] || device[length] == '/');
}

/* The file whose clock the times of a place are on: that of its host.  NULL: ambiguous */
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

/* The slices of a place.  In the output of `convert`, the profile starts at 0 or at trace_ps.  A Chrome trace as
 * recorded may have its own clock, which is then later than any of our times. */
static void put_sql(struct tm_place *out, const struct tm_value *summary, const struct tm_value *file, int64_t from_ps,
                    int64_t to_ps)
{
    const int64_t shift_ps = tm_int(tm_get(file, "trace_ps")), origin_us = tm_int(tm_get(file, "origin_us"));
    int64_t from, to, zero, origin;
    struct tm_clock clock;

    tm_clock_of_name(summary, tm_text(tm_get(file, "host")), &clock);
    clock.offset_ps = shift_ps;
    if (!tm_clock_at(&clock, from_ps, &from) || !tm_clock_at(&clock, to_ps, &to) ||
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
        put_sql(out, summary, file, from, to);
}

/* A cause of a comparison has the change of the step time. */
static bool is_cause(const struct tm_value *finding)
{
    return tm_has(tm_get(finding, "change_ps"));
}

const char *tm_finding_time(char *out, const struct tm_value *finding)
{
    struct tm_cell time =
        tm_cell_of_value(TM_DOC_TIME, tm_get(finding, is_cause(finding) ? "change_ps" : "at_stake_ps"));

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
    const bool is_bare = !tm_has(limit) && strcmp(unit, "count") == 0; /* the title or the evidence mentions it */
    const bool has_measured = tm_has(value) && !is_bare && !(has_stake && repeats);
    const bool has_limit = has_measured && tm_has(limit); /* otherwise it is the threshold for reporting a loss */

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
