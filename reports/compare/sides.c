/* SPDX-License-Identifier: Apache-2.0 */
/* The sides of a comparison: their runs, their step times, and what the tests need of them. */
#include "reports/compare/compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stdalign.h>

#include "pipeline/run.h"
#include "pipeline/store/bounded_sum.h"
#include "reports/compare/comparison.h"
#include "reports/findings/summary_query.h"
#include "reports/format/format.h"

/* A chain of blocks.  Small requests share a block. */

enum { BLOCK_BYTES = 64 * 1024 };

struct tm_room_block {
    struct tm_room_block *next;
    size_t bytes, used; /* including those of the header */
};

static size_t aligned(size_t bytes)
{
    const size_t unit = alignof(max_align_t);

    return (bytes + unit - 1) / unit * unit;
}

static bool add_block(struct tm_compare_blocks *room, size_t bytes)
{
    const size_t header = aligned(sizeof(struct tm_room_block));
    const size_t whole = bytes + header > BLOCK_BYTES ? bytes + header : BLOCK_BYTES;
    struct tm_room_block *block = tm_take(&room->run->budget, TM_ACCOUNT_MODEL, whole, &room->run->error);

    if (!block)
        return false;
    block->next = room->blocks;
    block->bytes = whole;
    block->used = header;
    room->blocks = block;
    return true;
}

void *tm_room_take(struct tm_compare_blocks *room, size_t count, size_t bytes)
{
    if (bytes && count > (SIZE_MAX / 2 - BLOCK_BYTES) / bytes) {
        (void)tm_fail(&room->run->error, TM_ERR_LIMIT, -1, "out of memory");
        return NULL;
    }
    const size_t bytes_all = count * bytes, wanted = aligned(bytes_all > 0 ? bytes_all : 1);

    if ((!room->blocks || room->blocks->bytes - room->blocks->used < wanted) && !add_block(room, wanted))
        return NULL;
    room->blocks->used += wanted;
    return (char *)room->blocks + (room->blocks->used - wanted);
}

void tm_room_free(struct tm_compare_blocks *room)
{
    while (room->blocks) {
        struct tm_room_block *next = room->blocks->next;

        tm_give(&room->run->budget, TM_ACCOUNT_MODEL, room->blocks, room->blocks->bytes);
        room->blocks = next;
    }
}

/* What a comparison needs from one summary. */

bool tm_has_steps(const struct tm_value *summary)
{
    return tm_int(tm_path(summary, "steps.chosen")) > 0 && !tm_query_is_session(summary);
}

double tm_device_steps(const struct tm_value *summary)
{
    const double devices = (double)tm_length(tm_get(summary, "devices"));
    const double steps = tm_double(tm_path(summary, "steps.chosen")) > 0 ? tm_analyzed_steps(summary) * devices : 0;

    return steps > 0 ? steps : 1;
}

bool tm_step_parts(const struct tm_value *summary, double part[TM_PARTS], double *total)
{
    const struct tm_value *parts = tm_path(summary, "steps.parts");
    const double device_steps = tm_device_steps(summary);
    const int64_t total_ps = tm_int(tm_get(parts, "total_ps"));
    int64_t left_ps = total_ps;

    *total = (double)total_ps / device_steps;
    for (int i = 0; i < TM_PARTS; i++) {
        const int64_t part_ps = tm_int(tm_path(parts, tm_part_kind[i].path));

        if (part_ps < 0 || part_ps > left_ps)
            return false;
        left_ps -= part_ps;
        part[i] = (double)part_ps / device_steps;
    }
    return total_ps > 0;
}

const char *tm_device_model(const struct tm_value *summary)
{
    const struct tm_value *devices = tm_path(summary, "environment.devices");
    const char *model = tm_text(tm_get(tm_at(devices, 0), "model"));

    for (size_t i = 1; i < tm_length(devices); i++) {
        if (strcmp(model, tm_text(tm_get(tm_at(devices, i), "model"))) != 0)
            return "";
    }
    return model;
}

bool tm_fingerprint(const struct tm_value *summary, char out[TM_RUN_FINGERPRINT_BYTES])
{
    const struct tm_value *files = tm_path(summary, "input.files");
    uint64_t sum = 0;

    out[0] = '\0';
    for (size_t i = 0; i < tm_length(files); i++) {
        const char *hash = tm_text(tm_get(tm_at(files, i), "xxh3"));
        char *end;

        sum += strtoull(hash, &end, 16);
        if (!*hash || *end)
            return false;
    }
    if (tm_length(files) == 0)
        return false;
    (void)snprintf(out, TM_RUN_FINGERPRINT_BYTES, "%016" PRIx64, sum);
    return true;
}

static void add_said(struct tm_value *to, const char *key, const char *text)
{
    if (text)
        tm_add_text(to, key, text, strlen(text));
    else
        tm_add_null(to, key, "none was given");
}

void tm_add_study_head(struct tm_value *root, const char *schema, const struct tm_compare_options *options,
                       bool is_redacted)
{
    struct tm_value *to;

    tm_add_string(root, "schema", schema);
    tm_add_int(root, "schema_version", 1);
    to = tm_add_object(root, "tool");
    tm_add_string(to, "name", "tracemill");
    tm_add_string(to, "version", TM_VERSION);
    to = tm_add_object(root, "report");
    add_said(to, "title", options->title);
    add_said(to, "note", options->note);
    tm_add_bool(to, "redacted", is_redacted);
    to = tm_add_object(root, "settings");
    tm_add_uint(to, "rows", options->rows);
}

void tm_add_ps(struct tm_value *to, const char *key, double ps, const char *why)
{
    if (isfinite(ps))
        tm_add_int(to, key, tm_whole(round(ps)));
    else
        tm_add_null(to, key, why);
}

void tm_add_figure(struct tm_value *to, const char *key, double value, const char *why)
{
    if (isfinite(value))
        tm_add_double(to, key, value);
    else
        tm_add_null(to, key, why);
}

/* The versions of the first host: the software of a run. */
static void add_versions(struct tm_value *to, const struct tm_value *summary)
{
    static const char *const keys[] = { "jax", "jaxlib", "cuda", "cuda_runtime", "driver", "rocm", "libtpu" };
    const struct tm_value *host = tm_path(summary, "environment.hosts[0]");
    struct tm_value *versions = tm_add_object(to, "versions");

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct tm_value *version = tm_get(host, keys[i]);

        if (tm_type_of(version) == TM_STRING)
            tm_add_string(versions, keys[i], tm_text(version));
        else if (tm_has(version))
            tm_add_double(versions, keys[i], tm_double(version));
        else
            tm_add_null(versions, keys[i], "not recorded");
    }
}

static void add_steps(struct tm_value *to, const struct tm_value *summary)
{
    static const char *const times[] = { "mean_ps", "median_ps", "p95_ps", "stddev_ps" };
    const struct tm_value *from = tm_get(summary, "steps");
    struct tm_value *steps = tm_add_object(to, "steps");
    const double mean = tm_double(tm_get(from, "mean_ps"));
    const bool has_spread = tm_int(tm_get(from, "samples")) > 1;

    tm_add_string(steps, "source", *tm_text(tm_get(from, "source")) ? tm_text(tm_get(from, "source")) : "session");
    tm_add_string(steps, "basis", *tm_text(tm_get(from, "basis")) ? tm_text(tm_get(from, "basis")) : "period");
    tm_add_int(steps, "chosen", tm_int(tm_get(from, "chosen")));
    tm_add_int(steps, "samples", tm_int(tm_get(from, "samples")));
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        tm_add_ps(steps, times[i],
                  (i < 3 || has_spread) && tm_has(tm_get(from, times[i])) ? tm_double(tm_get(from, times[i])) : NAN,
                  "too few steps have a duration");
    tm_add_figure(steps, "cv_pct", has_spread && mean > 0 ? 100 * tm_double(tm_get(from, "stddev_ps")) / mean : NAN,
                  "too few steps have a duration");
}

void tm_add_compared_run(struct tm_value *list, const struct tm_compared_run *run)
{
    static const char not_one[] = "not recorded, or not the same throughout the run";
    const struct tm_value *summary = run->summary;
    struct tm_value *to = tm_add_object(list, NULL);
    char fingerprint[17];

    tm_add_text(to, "path", run->path, strlen(run->path));
    tm_add_string(to, "kind", run->is_summary ? "summary" : "profile");
    tm_add_known(to, "run", tm_text(tm_path(summary, "input.run")), not_one);
    if (tm_fingerprint(summary, fingerprint))
        tm_add_string(to, "fingerprint", fingerprint);
    else
        tm_add_null(to, "fingerprint", "a file has no checksum");
    tm_add_bool(to, "partial", tm_is(tm_path(summary, "input.partial")));
    tm_add_string(to, "platform", tm_query_platform(summary));
    tm_add_known(to, "device_model", tm_device_model(summary), not_one);
    tm_add_uint(to, "devices", tm_length(tm_get(summary, "devices")));
    tm_add_uint(to, "hosts", tm_length(tm_path(summary, "input.hosts")));
    tm_add_known(to, "framework", tm_query_framework(summary), not_one);
    add_versions(to, summary);
    tm_add_ps(to, "measured_ps", run->measured_ps < 0 ? NAN : (double)run->measured_ps,
              "no benchmark result was given");
    add_steps(to, summary);
}

enum { SAMPLES_WRITTEN_MOST = 4096 };

const char *tm_side_id(const struct comparison *c, size_t side, char out[SIDE_ID_BYTES])
{
    if (side == 0)
        (void)snprintf(out, SIDE_ID_BYTES, "base");
    else if (c->sides == 2)
        (void)snprintf(out, SIDE_ID_BYTES, "new");
    else
        (void)snprintf(out, SIDE_ID_BYTES, "new_%zu", side);
    return out;
}

double tm_base_step_ps(const struct comparison *c)
{
    return c->facts[0].has_parts ? c->facts[0].total_ps : c->facts[0].mean_ps;
}

double tm_change_pct(double base, double value)
{
    return base != 0 ? 100 * (value / base - 1) : NAN;
}

double tm_mean_over_runs(const struct tm_comparison_side *side,
                         double (*figure)(const struct tm_value *summary, const void *what), const void *what)
{
    double sum = 0;
    size_t known = 0;

    for (size_t i = 0; i < side->runs; i++) {
        const double value = figure(side->run[i].summary, what);

        if (isfinite(value)) {
            sum += value;
            known++;
        }
    }
    return known ? sum / (double)known : NAN;
}

bool tm_are_measured_alike(const struct comparison *c, size_t side)
{
    const struct tm_comparison_side *base = &c->side[0], *other = &c->side[side];

    for (size_t i = 0; i < base->runs; i++)
        for (size_t k = 0; k < other->runs; k++)
            if (!tm_are_steps_alike(base->run[i].summary, other->run[k].summary))
                return false;
    return true;
}

enum test_basis tm_basis_of(const struct comparison *c, size_t side)
{
    const struct side_facts *base = &c->facts[0], *other = &c->facts[side];

    if (!tm_are_measured_alike(c, side))
        return TEST_NONE;
    if (base->run_medians.count >= RUNS_FOR_TEST && other->run_medians.count >= RUNS_FOR_TEST)
        return TEST_RUNS;
    if (base->runs == 1 && other->runs == 1 &&
        tm_is_enough((double)base->steps.count, (double)other->steps.count, STEP_LEVEL))
        return TEST_STEPS;
    return TEST_NONE;
}

const char *tm_no_test_reason(const struct comparison *c, size_t side, char *out, size_t out_bytes)
{
    const struct side_facts *base = &c->facts[0], *other = &c->facts[side];
    const struct step_test *test = &c->step_test[side];
    const size_t steps = base->steps.count < other->steps.count ? base->steps.count : other->steps.count;
    char worth[TM_FORMAT_BYTES], lag1[TM_FORMAT_BYTES];

    if (!tm_are_measured_alike(c, side))
        (void)snprintf(out, out_bytes, NO_SIGNIFICANCE TM_STEPS_NOT_ALIKE);
    else if (base->runs > 1 || other->runs > 1)
        (void)snprintf(out, out_bytes, NO_SIGNIFICANCE "one side has a single run with steps; both need two");
    else if (tm_basis_of(c, side) == TEST_STEPS && fmin(test->effective_base, test->effective_new) < (double)steps)
        (void)snprintf(out, out_bytes,
                       NO_SIGNIFICANCE
                       "consecutive steps are correlated (lag-1 autocorrelation %s), so %zu steps are worth %s "
                       "independent ones; both sides need 6",
                       tm_format_number(lag1, test->lag1), steps,
                       tm_format_number(worth, fmin(test->effective_base, test->effective_new)));
    else
        (void)snprintf(out, out_bytes, NO_SIGNIFICANCE "%zu step%s; both sides need 6", steps, tm_format_plural(steps));
    return out;
}

/* --- samples --- */

static double *take_sample(struct comparison *c, struct tm_sample *sample, size_t most)
{
    double *const value = tm_room_take(&c->room, most, sizeof(*value));

    *sample = (struct tm_sample){ value, 0 };
    return value;
}

static void append(struct tm_sample *to, double *value, struct tm_sample from)
{
    for (size_t i = 0; i < from.count; i++)
        value[to->count++] = from.value[i];
}

/* Summaries of older versions have the samples of all hosts, so their median is not that of the steps. */
static double median_of(const struct tm_value *steps, struct tm_sample sample, double *sorted)
{
    if (sample.count == 0 || sample.count == tm_length(tm_get(steps, "samples_ps")))
        return tm_double(tm_get(steps, "median_ps"));
    for (size_t i = 0; i < sample.count; i++)
        sorted[i] = sample.value[i];
    return tm_sample_select_median(sorted, sample.count);
}

static void load_steps(struct comparison *c, const struct tm_comparison_side *side, struct side_facts *facts)
{
    double *step, *median, *mean, *sorted;
    size_t most = 0;

    for (size_t r = 0; r < side->runs; r++)
        most += tm_step_samples_most(side->run[r].summary);
    step = take_sample(c, &facts->steps, most);
    median = take_sample(c, &facts->run_medians, side->runs);
    mean = take_sample(c, &facts->run_means, side->runs);
    sorted = tm_room_take(&c->room, most + 1, sizeof(*sorted));
    if (tm_failed(c->run))
        return;
    for (size_t r = 0; r < side->runs; r++) {
        const struct tm_value *summary = side->run[r].summary, *steps = tm_get(summary, "steps");
        struct tm_compare_blocks scratch = { .run = c->run };
        const struct tm_sample sample = tm_step_samples(&scratch, summary);
        const struct tm_compiling_steps compiling = tm_count_compiling_steps(&scratch, summary);

        append(&facts->steps, step, sample);
        if (tm_has(tm_get(steps, "median_ps")))
            median[facts->run_medians.count++] = median_of(steps, sample, sorted);
        tm_room_free(&scratch);
        if (!tm_has(tm_get(steps, "median_ps")))
            continue;
        mean[facts->run_means.count++] = tm_double(tm_get(steps, "mean_ps"));
        facts->compiling.steps += compiling.steps;
        facts->compiling.compiling += compiling.compiling;
        facts->compiling.excess_ps += compiling.excess_ps;
    }
    facts->quiet_steps = tm_quiet_samples(&c->room, side->run[0].summary);
    facts->median_ps = tm_sample_moments(facts->run_medians).mean;
    facts->mean_ps = tm_sample_moments(facts->run_means).mean;
    facts->compiling.mean_ps = facts->mean_ps;
    if (facts->run_means.count)
        facts->compiling.excess_ps /= (double)facts->run_means.count;
}

/* The steps of a run as samples: one for each number, the mean of the hosts. */

struct listed_step {
    int64_t number;
    size_t row;
    double value; /* after merging the mean of the hosts */
    bool is_compiling;
};

struct listed {
    struct listed_step *step;
    size_t rows, steps; /* before and after merging */
};

static int by_number(const void *a, const void *b)
{
    const struct listed_step *x = a, *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static void merge_hosts(struct listed *listed)
{
    size_t first = 0;

    qsort(listed->step, listed->rows, sizeof(*listed->step), by_number);
    while (first < listed->rows) {
        struct listed_step *to = &listed->step[listed->steps++];
        const int64_t number = listed->step[first].number;
        double sum = 0, count = 0;
        bool is_compiling = false;

        for (; first < listed->rows && listed->step[first].number == number; first++) {
            sum += listed->step[first].value;
            is_compiling = is_compiling || listed->step[first].is_compiling;
            count++;
        }
        *to = (struct listed_step){ number, 0, sum / count, is_compiling };
    }
}

/* in: length  only steps that have it */
static struct listed list_steps(struct tm_compare_blocks *room, const struct tm_value *summary, const char *length,
                                const char *path)
{
    const struct tm_value *list = tm_path(summary, "steps.list");
    struct listed listed = { tm_room_take(room, tm_length(list) + 1, sizeof(*listed.step)), 0, 0 };

    for (size_t i = 0; i < tm_length(list) && listed.step; i++) {
        const struct tm_value *step = tm_at(list, i);

        if (!tm_is(tm_get(step, "chosen")) || !tm_has(tm_get(step, length)))
            continue;
        listed.step[listed.rows] =
            (struct listed_step){ tm_int(tm_get(step, "number")), listed.rows, tm_double(tm_path(step, path)),
                                  tm_is(tm_get(step, "compile")) };
        listed.rows++;
    }
    if (listed.step)
        merge_hosts(&listed);
    return listed;
}

static struct tm_sample sample_of(struct tm_compare_blocks *room, const struct listed *listed)
{
    double *value = tm_room_take(room, listed->steps + 1, sizeof(*value));

    if (!value)
        return (struct tm_sample){ NULL, 0 };
    for (size_t i = 0; i < listed->steps; i++)
        value[i] = listed->step[i].value;
    return (struct tm_sample){ value, listed->steps };
}

/* A member of each listed step that is analyzed: "compute_ps". */
static struct tm_sample listed_samples(struct tm_compare_blocks *room, const struct tm_value *summary, const char *path)
{
    const struct listed listed = list_steps(room, summary, "period_ps", path);

    return sample_of(room, &listed);
}

static const char *length_of_step(const struct tm_value *summary)
{
    return tm_text(tm_path(summary, "steps.basis"))[0] == 'h' ? "host_span_ps" : "period_ps";
}

struct tm_sample tm_step_samples(struct tm_compare_blocks *room, const struct tm_value *summary)
{
    const struct tm_value *samples = tm_path(summary, "steps.samples_ps");
    double *value = tm_room_take(room, tm_length(samples) + 1, sizeof(*value));

    if (!value)
        return (struct tm_sample){ NULL, 0 };
    for (size_t i = 0; i < tm_length(samples); i++)
        value[i] = tm_double(tm_at(samples, i));
    return (struct tm_sample){ value, tm_length(samples) };
}

size_t tm_step_samples_most(const struct tm_value *summary)
{
    const size_t samples = tm_length(tm_path(summary, "steps.samples_ps"));
    const size_t listed = tm_length(tm_path(summary, "steps.list"));

    return samples > listed ? samples : listed;
}

struct tm_sample tm_quiet_samples(struct tm_compare_blocks *room, const struct tm_value *summary)
{
    struct listed listed = list_steps(room, summary, length_of_step(summary), length_of_step(summary));
    size_t quiet = 0;

    for (size_t i = 0; i < listed.steps; i++)
        if (!listed.step[i].is_compiling)
            listed.step[quiet++] = listed.step[i];
    if (quiet == listed.steps)
        return tm_step_samples(room, summary);
    listed.steps = quiet;
    return sample_of(room, &listed);
}

bool tm_are_steps_alike(const struct tm_value *a, const struct tm_value *b)
{
    const char *x = tm_text(tm_path(a, "steps.basis")), *y = tm_text(tm_path(b, "steps.basis"));

    return !*x || !*y || strcmp(x, y) == 0;
}

double tm_analyzed_steps(const struct tm_value *summary)
{
    return tm_has_steps(summary) ? tm_double(tm_path(summary, "steps.chosen")) : 1;
}

struct tm_compiling_steps tm_count_compiling_steps(struct tm_compare_blocks *room, const struct tm_value *summary)
{
    const struct tm_value *mean = tm_path(summary, "steps.mean_ps");
    const struct listed listed = list_steps(room, summary, length_of_step(summary), length_of_step(summary));
    struct tm_compiling_steps of = { 0, 0, NAN, 0 };
    double sum = 0, rest;

    if (!tm_has(mean) || !tm_has_steps(summary))
        return of;
    of.steps = fmax(tm_analyzed_steps(summary), (double)listed.steps);
    of.mean_ps = tm_double(mean);
    for (size_t i = 0; i < listed.steps; i++) {
        of.compiling += listed.step[i].is_compiling;
        sum += listed.step[i].is_compiling ? listed.step[i].value : 0;
    }
    rest = of.steps - of.compiling;
    if (of.compiling > 0 && rest > 0)
        of.excess_ps = of.mean_ps - (of.mean_ps * of.steps - sum) / rest;
    return of;
}

bool tm_have_compiling_changed(const struct tm_compiling_steps *base, const struct tm_compiling_steps *other,
                               double least_pct)
{
    return base->compiling * other->steps != other->compiling * base->steps &&
           fabs(other->excess_ps - base->excess_ps) * 100 >= least_pct * base->mean_ps;
}

/* The values of one part in the listed steps that were chosen. */
static void load_listed(struct comparison *c, const struct tm_comparison_side *side, const char *path,
                        struct tm_sample *sample)
{
    size_t listed = 0;
    double *value;

    for (size_t r = 0; r < side->runs; r++)
        listed += tm_length(tm_path(side->run[r].summary, "steps.list"));
    value = take_sample(c, sample, listed);
    for (size_t r = 0; r < side->runs && value; r++) {
        struct tm_compare_blocks scratch = { .run = c->run };

        append(sample, value, listed_samples(&scratch, side->run[r].summary, path));
        tm_room_free(&scratch);
    }
}

static void load_parts(struct comparison *c, const struct tm_comparison_side *side, struct side_facts *facts)
{
    double *of_run[TM_PARTS];
    size_t known = 0;

    for (int p = 0; p < TM_PARTS; p++) {
        load_listed(c, side, tm_part_kind[p].path, &facts->part_of_step[p]);
        of_run[p] = take_sample(c, &facts->part_of_run[p], side->runs);
    }
    load_listed(c, side, "period_ps", &facts->period_of_step);
    if (tm_failed(c->run))
        return;
    for (size_t r = 0; r < side->runs; r++) {
        double part[TM_PARTS], total;

        if (!tm_step_parts(side->run[r].summary, part, &total))
            continue;
        known++;
        facts->total_ps += total;
        for (int p = 0; p < TM_PARTS; p++) {
            facts->part_ps[p] += part[p];
            of_run[p][facts->part_of_run[p].count++] = part[p];
        }
    }
    facts->has_parts = known > 0;
    for (int p = 0; p < TM_PARTS && known; p++)
        facts->part_ps[p] /= (double)known;
    facts->total_ps = known ? facts->total_ps / (double)known : NAN;
}

/* --- the document --- */

static const char *same_text(const struct tm_value *runs, const char *key)
{
    const char *text = tm_text(tm_get(tm_at(runs, 0), key));

    for (size_t i = 1; i < tm_length(runs); i++) {
        if (strcmp(text, tm_text(tm_get(tm_at(runs, i), key))) != 0)
            return "";
    }
    return text;
}

static void add_same(struct tm_value *to, const struct tm_value *runs, const char *key)
{
    const char *text = same_text(runs, key);

    if (*text)
        tm_add_string(to, key, text);
    else
        tm_add_null(to, key, "not recorded, or not the same in all runs");
}

static double measured_of(const struct tm_comparison_side *side)
{
    double sum = 0;
    size_t known = 0;

    for (size_t r = 0; r < side->runs; r++) {
        if (side->run[r].measured_ps >= 0) {
            sum += (double)side->run[r].measured_ps;
            known++;
        }
    }
    return known ? sum / (double)known : NAN;
}

static double figure_at(const struct tm_value *summary, const void *path)
{
    const struct tm_value *value = tm_path(summary, path);

    return tm_has(value) ? tm_double(value) : NAN;
}

static void add_step_statistics(struct tm_value *to, const struct tm_comparison_side *side,
                                const struct side_facts *facts)
{
    static const char none[] = "no step has a duration", few[] = "too few steps have a duration";
    static const struct {
        const char *key, *path;
    } means[] = {
        { "mean_ps", "steps.mean_ps" }, { "median_ps", "steps.median_ps" }, { "p95_ps", "steps.p95_ps" },
        { "min_ps", "steps.min_ps" },   { "max_ps", "steps.max_ps" },
    };
    const struct tm_moments all = tm_sample_moments(facts->steps), between = tm_sample_moments(facts->run_medians);
    struct tm_value *samples;

    tm_add_uint(to, "samples", facts->steps.count);
    for (size_t i = 0; i < sizeof(means) / sizeof(means[0]); i++)
        tm_add_ps(to, means[i].key, i == 1 ? facts->median_ps : tm_mean_over_runs(side, figure_at, means[i].path),
                  none);
    tm_add_ps(to, "stddev_ps", all.stddev, few);
    tm_add_figure(to, "cv_pct", all.cv_pct, few);
    tm_add_figure(to, "between_runs_cv_pct", facts->run_medians.count > 1 ? between.cv_pct : NAN, "one run");
    samples = tm_add_array(to, "samples_ps");
    for (size_t i = 0; i < facts->steps.count && i < SAMPLES_WRITTEN_MOST; i++)
        tm_add_ps(samples, NULL, facts->steps.value[i], NULL);
}

static void add_side(const struct comparison *c, struct tm_value *sides, size_t number)
{
    const struct tm_comparison_side *side = &c->side[number];
    struct tm_value *to = tm_add_object(sides, NULL), *runs;
    char id[SIDE_ID_BYTES];
    bool is_same = true;

    tm_add_string(to, "id", tm_side_id(c, number, id));
    tm_add_text(to, "label", side->label, strlen(side->label));
    runs = tm_add_array(to, "runs");
    for (size_t r = 0; r < side->runs; r++)
        tm_add_compared_run(runs, &side->run[r]);
    add_same(to, runs, "platform");
    add_same(to, runs, "device_model");
    for (size_t r = 1; r < side->runs; r++)
        is_same = is_same && tm_int(tm_get(tm_at(runs, r), "devices")) == tm_int(tm_get(tm_at(runs, 0), "devices"));
    if (is_same)
        tm_add_int(to, "devices", tm_int(tm_get(tm_at(runs, 0), "devices")));
    else
        tm_add_null(to, "devices", "the runs have different numbers of devices");
    tm_add_ps(to, "measured_ps", measured_of(side), "no benchmark result was given");
    add_step_statistics(to, side, &c->facts[number]);
}

void tm_add_sides(struct comparison *c)
{
    struct tm_value *sides = tm_add_array(c->root, "sides");

    for (size_t i = 0; i < c->sides; i++) {
        c->facts[i].runs = c->side[i].runs;
        load_steps(c, &c->side[i], &c->facts[i]);
        load_parts(c, &c->side[i], &c->facts[i]);
        add_side(c, sides, i);
    }
}
