/* SPDX-License-Identifier: Apache-2.0 */
/* What to know of a scaling study before its figures are believed. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/compare/run_facts.h"
#include "reports/findings/ask.h"
#include "reports/format/format.h"
#include "reports/scaling/study.h"

enum { NOTE_BYTES = 400, LABEL_BYTES = 128 };

static void add_note(struct tm_value *notes, const char *id, const char *text)
{
    struct tm_value *to = tm_add_object(notes, NULL);

    tm_add_string(to, "id", id);
    tm_add_string(to, "text", text);
}

/* Members of the summaries that should be the same in all runs. */
static const struct {
    const char *id, *path, *text;
} agreements[] = {
    { "platform", "environment.platform",
      "the runs are of different platforms: the speed-up also reflects the hardware" },
    { "model", "environment.devices[0].model",
      "the runs are of different device models: the speed-up also reflects the hardware" },
    { "framework", "environment.hosts[0].framework", "the runs are of different frameworks" },
    { "versions", "environment.hosts[0].jax", "the runs have different versions of JAX" },
    { "versions", "environment.hosts[0].jaxlib", "the runs have different versions of jaxlib" },
    { "versions", "environment.hosts[0].driver", "the runs have different versions of the driver" },
    { "versions", "environment.hosts[0].libtpu", "the runs have different versions of libtpu" },
    { "basis", "steps.basis",
      "the length of a step is measured by devices in one run, by the host in another" },
    { "source", "steps.source", "the steps of the runs come from different marks" },
    { "window", "settings.window", "the runs were analyzed with different windows" },
};

static bool is_same(const struct tm_value *a, const struct tm_value *b)
{
    if (!tm_has(a) || !tm_has(b))
        return true;
    return tm_type_of(a) == TM_STRING ? strcmp(tm_text(a), tm_text(b)) == 0
                                      : tm_double(a) == tm_double(b);
}

static bool agrees(const struct scaling_study *s, const char *path)
{
    const struct tm_value *first = tm_path(s->point[0].side.run[0].summary, path);

    for (size_t i = 0; i < s->points; i++)
        for (size_t r = 0; r < s->point[i].side.runs; r++)
            if (!is_same(first, tm_path(s->point[i].side.run[r].summary, path)))
                return false;
    return true;
}

static void add_differences(const struct scaling_study *s, struct tm_value *notes)
{
    for (size_t i = 0; i < sizeof(agreements) / sizeof(agreements[0]); i++)
        if (!agrees(s, agreements[i].path))
            add_note(notes, agreements[i].id, agreements[i].text);
}

/* --- single points --- */

static void note_partial(const struct tm_scaling_point *point, const char *label,
                         struct tm_value *notes)
{
    char text[NOTE_BYTES];

    for (size_t r = 0; r < point->side.runs; r++)
        if (tm_is(tm_path(point->side.run[r].summary, "input.partial"))) {
            (void)snprintf(
                text, sizeof(text),
                "%s: the input is damaged or partial; its figures cover what could be read",
                label);
            add_note(notes, "partial", text);
            return;
        }
}

static void note_steps(const struct scaling_study *s, size_t at, const char *label,
                       struct tm_value *notes)
{
    const struct tm_scaling_point *point = &s->point[at];
    char text[NOTE_BYTES];

    for (size_t r = 0; r < point->side.runs; r++)
        if (!tm_has_steps(point->side.run[r].summary)) {
            (void)snprintf(text, sizeof(text),
                           "%s: a run has no marked steps; the whole session stands for one",
                           label);
            add_note(notes, "no_steps", text);
            return;
        }
    if (point->side.runs == 1 && s->facts[at].steps.count < SCALING_STEPS_LEAST) {
        (void)snprintf(text, sizeof(text), "%s: %zu step%s; an interval needs %d", label,
                       s->facts[at].steps.count, tm_format_plural(s->facts[at].steps.count),
                       SCALING_STEPS_LEAST);
        add_note(notes, "few_steps", text);
    }
}

/* The profile has other devices than the user says, or than the job has ranks. */
static void note_devices(const struct tm_scaling_point *point, const char *label,
                         struct tm_value *notes)
{
    char text[NOTE_BYTES];

    for (size_t r = 0; r < point->side.runs; r++) {
        const struct tm_value *summary = point->side.run[r].summary;
        const uint32_t recorded = tm_scaling_devices(summary);
        const int64_t ranks = tm_int(tm_path(summary, "environment.hosts[0].world_size"));

        if (recorded != point->devices)
            (void)snprintf(
                text, sizeof(text),
                "%s: the profile has %u of %u devices; figures per step and device are of these",
                label, recorded, point->devices);
        else if (ranks > (int64_t)recorded)
            (void)snprintf(text, sizeof(text),
                           "%s: the profile has %u device%s of a job of %lld ranks; N=PATH tells "
                           "the whole number",
                           label, recorded, tm_format_plural(recorded), (long long)ranks);
        else
            continue;
        add_note(notes, "devices", text);
        return;
    }
}

/* Points with one run beside points with several. */
static void note_groups(const struct scaling_study *s, struct tm_value *notes)
{
    size_t groups = 0;

    for (size_t i = 0; i < s->points; i++)
        groups += s->point[i].side.runs > 1;
    if (groups > 0 && groups < s->points)
        add_note(notes, "groups",
                 "some points have several runs, others one: the speed-up between such points has "
                 "no interval");
}

void add_scaling_notes(struct scaling_study *s)
{
    struct tm_value *notes = tm_add_array(s->root, "notes");
    char label[LABEL_BYTES];

    if (s->facts[0].devices > 1) {
        char text[NOTE_BYTES];

        (void)snprintf(text, sizeof(text),
                       "speed-up and efficiency are against %.0f devices, not against one",
                       s->facts[0].devices);
        add_note(notes, "first_point", text);
    }
    add_differences(s, notes);
    for (size_t i = 0; i < s->points; i++) {
        tm_format_text(label, sizeof(label), s->point[i].side.label);
        note_partial(&s->point[i], label, notes);
        note_steps(s, i, label, notes);
        note_devices(&s->point[i], label, notes);
    }
    note_groups(s, notes);
}
