/* SPDX-License-Identifier: Apache-2.0 */
/* The step time of each job beside what is usual for it (schemas/NIGHT.md): a row for each, the change as a dot, the usual
 * changes as a band around none. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/chart/legend.h"
#include "reports/chart/makers.h"
#include "reports/format/format.h"

enum { JOBS_MOST = 16 };
static const double pitch = 17, thick = 9, dot = 3.6, top_room = 4, least_range = 5, most_range = 100 /* percent */, most_told = 1e9, name_share = 0.3, note_share = 0.34;
enum { NOTE_BYTES = 160 };

struct job {
    const struct tm_value *row, *step;
    double change, usual; /* percent */
};

struct jobs {
    struct job job[JOBS_MOST];
    int count;
    size_t all;
};

static bool can_draw(const struct tm_value *row)
{
    const struct tm_value *step = tm_path(row, "figures.step_time_ps");

    return tm_has(tm_get(step, "change")) && tm_has(tm_get(step, "band")) && tm_double(tm_get(step, "before")) > 0;
}

static void find_jobs(struct jobs *jobs, const struct tm_value *night)
{
    const struct tm_value *rows = tm_get(night, "jobs");

    jobs->count = 0;
    jobs->all = 0;
    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *row = tm_at(rows, i), *step = tm_path(row, "figures.step_time_ps");

        if (!can_draw(row))
            continue;
        jobs->all++;
        if (jobs->count < JOBS_MOST)
            jobs->job[jobs->count++] =
                (struct job){ row, step, tm_double(tm_get(step, "change")),
                              100 * tm_double(tm_get(step, "band")) / tm_double(tm_get(step, "before")) };
    }
}

size_t tm_count_night(const struct tm_value *night)
{
    const struct tm_value *rows = tm_get(night, "jobs");
    size_t count = 0;

    for (size_t i = 0; i < tm_length(rows); i++)
        count += can_draw(tm_at(rows, i));
    return count > 0;
}

static enum tm_role role_of(const struct job *job)
{
    const char *state = tm_text(tm_get(job->step, "state"));

    return strcmp(state, "worse") == 0 ? TM_ROLE_BAD : strcmp(state, "better") == 0 ? TM_ROLE_GOOD : TM_ROLE_QUIET;
}

static void choose_scale(struct tm_axis *axis, const struct jobs *jobs)
{
    double low = -least_range, high = least_range;

    for (int i = 0; i < jobs->count; i++) {
        const struct job *job = &jobs->job[i];

        low = fmin(low, fmax(fmin(job->change, -job->usual), -most_range));
        high = fmax(high, fmin(fmax(job->change, job->usual), most_range));
    }
    tm_axis_choose(axis, TM_AXIS_PCT, low, high, 6, false);
}

static double within(const struct tm_axis *axis, double value)
{
    return tm_axis_place(axis, fmin(fmax(value, axis->from), axis->to));
}

static const char *name_of(char out[TM_CHART_NAME_BYTES], const struct job *job, double room)
{
    tm_chart_cut_name(out, TM_CHART_NAME_BYTES, tm_text(tm_get(job->row, "job")));
    tm_chart_fit(out, TM_CHART_NAME_BYTES, TM_TEXT_NORMAL, room);
    return out;
}

/* "152 ms -> 171 ms, +12.4 %" */
static const char *note_of(char out[NOTE_BYTES], const struct job *job, double room)
{
    char before[TM_FORMAT_BYTES], value[TM_FORMAT_BYTES];

    (void)snprintf(out, NOTE_BYTES, "%s \xe2\x86\x92 %s, %+.1f %%", tm_format_time(before, tm_int(tm_get(job->step, "before"))),
                   tm_format_time(value, tm_int(tm_get(job->step, "value"))), fmin(fmax(job->change, -most_told), most_told));
    tm_chart_fit(out, NOTE_BYTES, TM_TEXT_SMALL, room);
    return out;
}

static double room_for_notes(const struct tm_chart *chart, const struct jobs *jobs)
{
    const double most = note_share * chart->width;
    char note[NOTE_BYTES];
    double room = 0;

    for (int i = 0; i < jobs->count; i++)
        room = fmax(room, tm_chart_text_width(note_of(note, &jobs->job[i], most), TM_TEXT_SMALL));
    return room;
}

static double room_for_names(const struct tm_chart *chart, const struct jobs *jobs)
{
    const double most = name_share * chart->width;
    char name[TM_CHART_NAME_BYTES];
    double room = 0;

    for (int i = 0; i < jobs->count; i++)
        room = fmax(room, tm_chart_text_width(name_of(name, &jobs->job[i], most), TM_TEXT_NORMAL));
    return room;
}

static void draw_job(struct tm_chart *chart, const struct tm_axis *axis, const struct job *job, double middle,
                     double name_room)
{
    const double zero = tm_axis_place(axis, 0), left = within(axis, -job->usual), right = within(axis, job->usual),
                 at = within(axis, job->change);
    char name[TM_CHART_NAME_BYTES], note[NOTE_BYTES], usual[TM_FORMAT_BYTES];

    (void)name_of(name, job, name_room);
    (void)note_of(note, job, note_share * chart->width);
    tm_chart_open(chart, "%s: step time %s, usual up to %s", name, note, tm_format_pct(usual, job->usual));
    tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_NORMAL, TM_ANCHOR_END, name_room, middle + 3.2, name);
    tm_chart_rect(chart, TM_ROLE_AREA, left, middle - thick / 2, right - left, thick);
    tm_chart_rect(chart, role_of(job), fmin(zero, at), middle - 1, fabs(at - zero), 2);
    tm_chart_dot(chart, role_of(job), at, middle, dot);
    tm_chart_string(chart, role_of(job) == TM_ROLE_QUIET ? TM_ROLE_QUIET : TM_ROLE_TEXT, TM_TEXT_SMALL, TM_ANCHOR_START,
                    axis->at + axis->length + 10, middle + 3, note);
    tm_chart_close(chart);
}

static void fill_table(struct tm_chart *chart, const struct jobs *jobs)
{
    static const char *const titles[] = { "job", "before", "now", "change", "usual" };
    char text[TM_FORMAT_BYTES];

    for (int i = 0; i < 5; i++)
        tm_chart_column(chart, titles[i], i > 0);
    for (int i = 0; i < jobs->count; i++) {
        const struct job *job = &jobs->job[i];

        tm_chart_cell(chart, tm_text(tm_get(job->row, "job")));
        tm_chart_cell(chart, tm_format_time(text, tm_int(tm_get(job->step, "before"))));
        tm_chart_cell(chart, tm_format_time(text, tm_int(tm_get(job->step, "value"))));
        (void)snprintf(text, sizeof(text), "%+.1f %%", fmin(fmax(job->change, -most_told), most_told));
        tm_chart_cell(chart, text);
        tm_chart_cell(chart, tm_format_pct(text, job->usual));
    }
}

void tm_draw_night(struct tm_chart *chart, const struct tm_value *night, size_t index)
{
    static const struct tm_legend_entry legend[] = { { TM_ROLE_BAD, "slower" },
                                                     { TM_ROLE_GOOD, "faster" },
                                                     { TM_ROLE_QUIET, "as before" },
                                                     { TM_ROLE_AREA, "usual differences" } };
    struct tm_axis axis;
    struct jobs jobs;
    double name_room, top, bottom;

    (void)index;
    find_jobs(&jobs, night);
    choose_scale(&axis, &jobs);
    name_room = room_for_names(chart, &jobs);
    axis.at = name_room + 12;
    axis.length = chart->width - axis.at - room_for_notes(chart, &jobs) - 12;
    top = tm_legend_draw(chart, legend, 4, 0) + top_room;
    bottom = top + jobs.count * pitch;
    tm_chart_scale_below(chart, &axis, top, bottom);
    for (int i = 0; i < jobs.count; i++)
        draw_job(chart, &axis, &jobs.job[i], top + (i + 0.5) * pitch, name_room);
    chart->height = bottom + 16;
    fill_table(chart, &jobs);
    (void)snprintf(chart->title, sizeof(chart->title), "Step time against the seven good runs before");
    (void)snprintf(chart->caption, sizeof(chart->caption),
                   "%d of %zu jobs with a step time to compare, those that changed first.", jobs.count, jobs.all);
}
