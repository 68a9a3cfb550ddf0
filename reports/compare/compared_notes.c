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
      "the runs are of different platforms: operations meet by their names without numbers, then "
      "by category" },
    { "model", "environment.devices[0].model",
      "the runs are of different models of devices: times tell of the hardware, too" },
    { "basis", "steps.basis",
      "the length of a step is measured in different ways: by devices in one run, by the host in "
      "the other" },
    { "source", "steps.source", "the steps of the runs come from different marks" },
    { "window", "settings.window", "the runs were analyzed with different windows" },
    { "gap_min", "settings.gap_min",
      "the runs were analyzed with different --gap-min: lists of gaps differ by it" },
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
            "names of a run are pseudonyms: rows of the sides meet only if the same key made them");
    if (is_cut)
        add_note(notes, "rows",
                 "tables of a run are cut (--rows): a row that one side does not list may be in "
                 "its rest");
}

/* The test of steps takes what differs between two runs of the same work for a change: the more the
 * steps of one vary, the more two differ (docs/compare.md). */
static void add_spread(const struct comparison *c, struct tm_value *notes)
{
    double most = 0;
    bool is_of_steps = false;
    char text[256], pct[TM_FORMAT_BYTES];

    for (size_t i = 0; i < c->sides; i++) {
        most = fmax(most, tm_sample_moments(c->facts[i].steps).cv_pct); /* not that of a NaN */
        is_of_steps = is_of_steps || (i > 0 && basis_of(c, i) == TEST_STEPS);
    }
    if (!is_of_steps || most < SPREAD_NOTED_PCT)
        return;
    (void)snprintf(text, sizeof(text),
                   "steps of a run vary by %s: runs of the same thing may differ as much, and a "
                   "test of steps cannot tell; compare groups of runs (A1 A2 A3 -- B1 B2 B3)",
                   tm_format_pct(pct, most));
    add_note(notes, "spread", text);
}

static void add_tests_notes(const struct comparison *c, struct tm_value *notes)
{
    char text[160], all[256];

    for (size_t i = 1; i < c->sides; i++) {
        char label[64];

        if (basis_of(c, i) != TEST_NONE)
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
    add_spread(c, notes);
}
