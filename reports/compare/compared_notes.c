/* SPDX-License-Identifier: Apache-2.0 */
/* What to know of a comparison before its figures are believed. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/compare/comparison.h"
#include "reports/findings/ask.h"
#include "reports/format/format.h"

#define SPREAD_NOTED_PCT 10.0

static void add_note(struct tm_value *notes, const char *id, const char *text)
{
    struct tm_value *to = tm_add_object(notes, NULL);

    tm_add_string(to, "id", id);
    tm_add_string(to, "text", text);
}

static const struct tm_value *first_of(const struct comparison *c, size_t side)
{
    return c->side[side].run[0].summary;
}

/* Members in which sides should agree, and what it means where they do not. */
static const struct {
    const char *id, *path, *text;
} agreements[] = {
    { "platform", "environment.platform",
      "the runs are of different platforms: operations are matched by their names without numbers, then "
      "by category" },
    { "model", "environment.devices[0].model",
      "the runs are of different device models: times also reflect the hardware" },
    { "basis", "steps.basis",
      "the length of a step is measured in different ways: by devices in one run, by the host in "
      "the other" },
    { "source", "steps.source", "the steps of the runs come from different marks" },
    { "window", "settings.window", "the runs were analyzed with different windows" },
    { "gap_min", "settings.gap_min",
      "the runs were analyzed with different --gap-min: their lists of gaps differ" },
    { "framework", "environment.hosts[0].framework", "the runs are of different frameworks" },
};

static bool agrees(const struct comparison *c, const char *path)
{
    for (size_t i = 1; i < c->sides; i++) {
        const struct tm_value *a = tm_path(first_of(c, 0), path),
                              *b = tm_path(first_of(c, i), path);

        if (tm_has(a) && tm_has(b) && strcmp(tm_text(a), tm_text(b)) != 0)
            return false;
    }
    return true;
}

static void add_differences(const struct comparison *c, struct tm_value *notes)
{
    char text[256], a[32], b[32];

    for (size_t i = 0; i < sizeof(agreements) / sizeof(agreements[0]); i++) {
        if (!agrees(c, agreements[i].path))
            add_note(notes, agreements[i].id, agreements[i].text);
    }
    for (size_t i = 1; i < c->sides; i++) {
        const size_t x = tm_length(tm_get(first_of(c, 0), "devices")),
                     y = tm_length(tm_get(first_of(c, i), "devices"));

        if (x == y)
            continue;
        (void)snprintf(a, sizeof(a), "%zu", x);
        (void)snprintf(b, sizeof(b), "%zu", y);
        (void)snprintf(text, sizeof(text),
                       "%s devices against %s: times are per step and device; 'scaling' compares "
                       "numbers of devices",
                       b, a);
        add_note(notes, "devices", text);
        break;
    }
}

static void add_quality(const struct comparison *c, struct tm_value *notes)
{
    bool is_partial = false, is_redacted = false, is_session = false, is_cut = false;

    for (size_t side = 0; side < c->sides; side++) {
        for (size_t r = 0; r < c->side[side].runs; r++) {
            const struct tm_value *summary = c->side[side].run[r].summary;

            is_partial = is_partial || tm_is(tm_path(summary, "input.partial"));
            is_redacted = is_redacted || tm_is(tm_path(summary, "report.redacted"));
            is_session = is_session || !tm_has_steps(summary);
            is_cut = is_cut || tm_int(tm_path(summary, "ops.rest.rows")) > 0;
        }
    }
    if (is_partial)
        add_note(notes, "partial",
                 "an input is damaged or partial: what it lacks is missing on that side");
    if (is_session)
        add_note(notes, "session",
                 "a run has no marked steps: the whole session stands for one step");
    if (is_redacted)
        add_note(
            notes, "redacted",
            "names of a run are pseudonyms: rows match only if both were made with the same key");
    if (is_cut)
        add_note(notes, "rows",
                 "tables of a run are cut (--rows): a row that one side does not list may be among "
                 "its other rows");
}

/* The test of steps takes what differs between two runs of the same work for a change: the more the
 * steps of one vary, the more two differ (docs/compare.md). */
static void add_run_variation(const struct comparison *c, struct tm_value *notes)
{
    const double mean = tm_spread_pct(c->options->spread, c->options->spreads, "steps.mean_ps");
    const double median = tm_spread_pct(c->options->spread, c->options->spreads, "steps.median_ps");
    const bool is_known = isfinite(mean) || isfinite(median);
    double most = 0;
    bool is_of_steps = false;
    char text[400], pct[TM_FORMAT_BYTES], of_median[TM_FORMAT_BYTES];

    for (size_t i = 0; i < c->sides; i++) {
        most = fmax(most, tm_sample_moments(c->facts[i].steps).cv_pct); /* not that of a NaN */
        is_of_steps = is_of_steps || (i > 0 && c->facts[0].runs == 1 && c->facts[i].runs == 1);
    }
    if (!is_of_steps)
        return;
    if (isfinite(mean) && isfinite(median) && mean != median)
        (void)snprintf(text, sizeof(text),
                       "two runs of the same program differ by up to %s in the mean and %s in the median (%.200s): a smaller change is none",
                       tm_format_pct(pct, mean), tm_format_pct(of_median, median), c->options->run_spread_from);
    else if (is_known)
        (void)snprintf(text, sizeof(text),
                       "two runs of the same program differ by up to %s%s (%.200s): a smaller change is none",
                       tm_format_pct(pct, isfinite(mean) ? mean : median),
                       isfinite(mean) == isfinite(median) ? "" : isfinite(mean) ? " in the mean" : " in the median",
                       c->options->run_spread_from);
    else
        (void)snprintf(text, sizeof(text),
                       "run-to-run variation is not known: give groups of runs (A1 A2 A3 -- B1 B2 B3), --history DB or --run-spread PCT");
    add_note(notes, "run_to_run", text);
    if (most < SPREAD_NOTED_PCT || is_known)
        return;
    (void)snprintf(text, sizeof(text),
                   "steps of a run vary by %s: runs of the same program may differ as much; compare groups of runs",
                   tm_format_pct(pct, most));
    add_note(notes, "spread", text);
}

static void add_tests_notes(const struct comparison *c, struct tm_value *notes)
{
    char text[STEP_WHY_BYTES], all[STEP_WHY_BYTES + 80];

    for (size_t i = 1; i < c->sides; i++) {
        char label[64];

        if (c->step_test[i].verdict != STEP_INCONCLUSIVE)
            continue;
        tm_format_text(label, sizeof(label), c->side[i].label);
        (void)snprintf(all, sizeof(all), "%s: %s", label, no_test_reason(c, i, text, sizeof(text)));
        add_note(notes, "no_test", all);
    }
}

void add_comparison_notes(struct comparison *c)
{
    struct tm_value *notes = tm_add_array(c->root, "notes");

    add_differences(c, notes);
    add_quality(c, notes);
    add_tests_notes(c, notes);
    add_run_variation(c, notes);
}

/* --- comparability --- */

/* The name of what a run mainly executes: the module with the most device time.  Not recorded by PyTorch. */
static const char *program_of(const struct tm_value *summary)
{
    const struct tm_value *rows = tm_path(summary, "ops.rows");

    if (*tm_text(tm_path(summary, "steps.module")))
        return tm_text(tm_path(summary, "steps.module"));
    for (size_t i = 0; i < tm_length(rows); i++)
        if (*tm_text(tm_get(tm_at(rows, i), "module")))
            return tm_text(tm_get(tm_at(rows, i), "module"));
    return "";
}

enum { VERSIONS_BYTES = 512 };

/* "jax 0.7.1, jaxlib 0.7.1"; "" = none is recorded */
static void versions_of(const struct tm_value *side, char out[VERSIONS_BYTES])
{
    const struct tm_value *versions = tm_path(side, "runs[0].versions");
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < tm_length(versions) && used < VERSIONS_BYTES; i++) {
        const struct tm_value *value = tm_value_at(versions, i);
        char number[TM_FORMAT_BYTES];

        if (!tm_has(value))
            continue;
        (void)tm_format_number(number, tm_double(value));
        used += (size_t)snprintf(out + used, VERSIONS_BYTES - used, "%s%s %s", used ? ", " : "", tm_key_at(versions, i),
                                 tm_type_of(value) == TM_STRING ? tm_text(value) : number);
    }
}

/* Those that both sides tell agree: "yes" or "no"; "not_recorded" where there are none. */
static const char *same_versions(const struct tm_value *a, const struct tm_value *b)
{
    const struct tm_value *x = tm_path(a, "runs[0].versions"), *y = tm_path(b, "runs[0].versions");
    const char *answer = "not_recorded";

    for (size_t i = 0; i < tm_length(x); i++) {
        const struct tm_value *v = tm_value_at(x, i), *w = tm_get(y, tm_key_at(x, i));

        if (!tm_has(v) || !tm_has(w))
            continue;
        if (tm_type_of(v) == TM_STRING ? strcmp(tm_text(v), tm_text(w)) != 0 : tm_double(v) != tm_double(w))
            return "no";
        answer = "yes";
    }
    return answer;
}

static struct tm_value *add_answer(struct tm_value *to, const char *key, const char *answer)
{
    struct tm_value *of = tm_add_object(to, key);

    tm_add_string(of, "same", answer);
    return tm_add_array(of, "values");
}

/* What is said against what the base says. */
static const char *compared(const char *so_far, bool is_known, bool is_same)
{
    if (strcmp(so_far, "no") == 0)
        return so_far;
    return !is_known ? "not_recorded" : !is_same ? "no" : so_far;
}

typedef const char *text_of_side(const struct comparison *c, size_t side);

static const char *program_of_side(const struct comparison *c, size_t side)
{
    return program_of(first_of(c, side));
}

static const char *model_of_side(const struct comparison *c, size_t side)
{
    return tm_text(tm_path(tm_at(tm_get(c->root, "sides"), side), "device_model"));
}

static const char *vendor_of_side(const struct comparison *c, size_t side)
{
    return tm_text(tm_path(first_of(c, side), "environment.devices[0].vendor"));
}

static const char *platform_of_side(const struct comparison *c, size_t side)
{
    static const char *const platforms[][2] = { { "cpu", "CPU" }, { "gpu", "GPU" }, { "tpu", "TPU" } };
    const char *platform = tm_text(tm_path(first_of(c, side), "environment.platform"));

    for (size_t i = 0; i < sizeof(platforms) / sizeof(platforms[0]); i++)
        if (strcmp(platform, platforms[i][0]) == 0)
            return platforms[i][1];
    return "";
}

static text_of_side *const kinds_of_devices[] = { model_of_side, vendor_of_side, platform_of_side };
enum { KINDS_OF_DEVICES = sizeof(kinds_of_devices) / sizeof(kinds_of_devices[0]) };

const char *devices_of(const struct comparison *c, size_t side)
{
    const char *text = "";

    for (size_t i = 0; i < KINDS_OF_DEVICES && !*text; i++)
        text = kinds_of_devices[i](c, side);
    return text;
}

const char *same_devices(const struct comparison *c, size_t side)
{
    for (size_t i = 0; i < KINDS_OF_DEVICES; i++) {
        const char *base = kinds_of_devices[i](c, 0), *other = kinds_of_devices[i](c, side);

        if (*base && *other && strcmp(base, other) != 0)
            return "no";
    }
    return *model_of_side(c, 0) && *model_of_side(c, side) ? "yes" : "not_recorded";
}

static void add_devices(const struct comparison *c, struct tm_value *to)
{
    const char *answer = "yes";
    struct tm_value *values;

    for (size_t i = 1; i < c->sides; i++)
        answer = compared(answer, strcmp(same_devices(c, i), "not_recorded") != 0,
                          strcmp(same_devices(c, i), "yes") == 0);
    values = add_answer(to, "device_model", answer);
    for (size_t i = 0; i < c->sides; i++)
        tm_add_known(values, NULL, strcmp(answer, "no") == 0 ? devices_of(c, i) : model_of_side(c, i), NULL);
}

static void add_texts(const struct comparison *c, struct tm_value *to, const char *key, text_of_side *text)
{
    const char *const base = text(c, 0), *answer = "yes";
    struct tm_value *values;

    for (size_t i = 1; i < c->sides; i++)
        answer = compared(answer, *base && *text(c, i), strcmp(base, text(c, i)) == 0);
    values = add_answer(to, key, answer);
    for (size_t i = 0; i < c->sides; i++)
        tm_add_known(values, NULL, text(c, i), NULL);
}

static void add_counts(const struct comparison *c, struct tm_value *to, const char *key, const char *path)
{
    const struct tm_value *sides = tm_get(c->root, "sides"), *base = tm_path(tm_at(sides, 0), path);
    const char *answer = "yes";
    struct tm_value *values;

    for (size_t i = 1; i < c->sides; i++) {
        const struct tm_value *other = tm_path(tm_at(sides, i), path);

        answer = compared(answer, tm_has(base) && tm_has(other), tm_int(base) == tm_int(other));
    }
    values = add_answer(to, key, answer);
    for (size_t i = 0; i < c->sides; i++)
        tm_add_figure(values, NULL,
                      tm_has(tm_path(tm_at(sides, i), path)) ? tm_double(tm_path(tm_at(sides, i), path)) : NAN, NULL);
}

static void add_versions(const struct comparison *c, struct tm_value *to)
{
    const struct tm_value *sides = tm_get(c->root, "sides");
    const char *answer = "yes";
    char text[VERSIONS_BYTES];
    struct tm_value *values;

    for (size_t i = 1; i < c->sides; i++) {
        const char *same = same_versions(tm_at(sides, 0), tm_at(sides, i));

        answer = compared(answer, strcmp(same, "not_recorded") != 0, strcmp(same, "yes") == 0);
    }
    values = add_answer(to, "versions", answer);
    for (size_t i = 0; i < c->sides; i++) {
        versions_of(tm_at(sides, i), text);
        tm_add_known(values, NULL, text, NULL);
    }
}

void add_comparability(struct comparison *c)
{
    struct tm_value *to = tm_add_object(c->root, "comparability");

    add_texts(c, to, "program", program_of_side);
    add_devices(c, to);
    add_counts(c, to, "device_count", "devices");
    add_counts(c, to, "steps", "runs[0].steps.chosen");
    add_versions(c, to);
}
