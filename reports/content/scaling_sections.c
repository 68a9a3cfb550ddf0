/* SPDX-License-Identifier: Apache-2.0 */
/* A scaling study. */
#include <stdio.h>
#include <string.h>

#include "reports/content/content.h"
#include "reports/content/emit.h"

/* The fitted serial share, and what it predicts for more devices. */

static void emit_fit(const struct tm_content *content)
{
    const struct tm_value *fit = tm_of(content, "fit");
    const bool is_weak = strcmp(tm_text(tm_get(fit, "model")), "gustafson") == 0;

    tm_emit(content, TM_TONE_PLAIN,
            is_weak ? "Gustafson's law: a step takes t (1 - s + s n) on n devices, with a serial fraction s."
                    : "Amdahl's law: a step takes t (s + (1 - s) / n) on n devices, with a serial fraction s.");
    tm_emit_facts(content, "fit-facts", "fit", "serial_pct, low_pct, high_pct, residual_pct, speedup_limit");
    tm_emit_table(content, &(struct tm_table){ .id = "fit-next",
                                               .caption = "Prediction for more devices",
                                               .shows = "devices, step_ps, speedup, efficiency_pct",
                                               .list = "fit.next" });
    tm_emit(content, TM_TONE_QUIET,
            "The law has a single parameter: it does not model limits of memory, links or batch size. Beyond twice "
            "the largest run, it is a rough estimate.");
}

static const struct tm_section fit_section = { .id = "fit", .title = "Serial fraction", .key = "fit", .say = emit_fit };

/* What keeps a program from scaling: the findings of a scaling study. */

static void emit_limits(const struct tm_content *content)
{
    tm_emit_findings(content, "No loss of efficiency exceeds the limits.",
                     "Sorted by lost efficiency on the largest number of devices; findings without an estimate come "
                     "last.");
}

static const struct tm_section limits_section = {
    .id = "findings", .title = "Scaling limits", .key = "findings", .say = emit_limits
};

/* The runs of a scaling study. */

enum { LABEL_BYTES = 160, LABEL_CHARS = 36 };

static bool has_groups(const struct tm_value *points)
{
    for (size_t i = 0; i < tm_length(points); i++)
        if (tm_length(tm_get(tm_at(points, i), "runs")) > 1)
            return true;
    return false;
}

/* The same of sides, or points, with one run each: a row for each of them.  in: list  "points" */
static void emit_single_runs(const struct tm_content *content, const char *id, const char *caption, const char *list)
{
    tm_emit_table(content, &(struct tm_table){
                               .id = id,
                               .caption = caption,
                               .shows = "label name = Label, runs[0].run, runs[0].platform, runs[0].device_model, "
                                        "runs[0].devices, runs[0].hosts wide, runs[0].steps.chosen, "
                                        "runs[0].steps.median_ps, runs[0].steps.cv_pct, runs[0].measured_ps given, "
                                        "runs[0].partial rare, runs[0].framework wide, runs[0].kind wide, "
                                        "runs[0].fingerprint wide, runs[0].path",
                               .list = list,
                               .paper_rows = 64 });
}

static void emit_runs(const struct tm_content *content)
{
    const struct tm_value *points = tm_of(content, "points"), *notes = tm_of(content, "notes");

    for (size_t i = 0; i < tm_length(notes); i++)
        tm_emit(content, TM_TONE_PLAIN, "%s", tm_text(tm_get(tm_at(notes, i), "text")));
    if (!has_groups(points))
        emit_single_runs(content, "runs", "Runs", "points");
    for (size_t i = 0; has_groups(points) && i < tm_length(points); i++) {
        const char *label = tm_text(tm_get(tm_at(points, i), "label"));
        char id[32], list[40], shown[512], caption[LABEL_BYTES];

        (void)tm_format_visible(shown, sizeof(shown), label, strlen(label));
        (void)tm_format_middle(caption, sizeof(caption), shown, LABEL_CHARS);
        (void)snprintf(id, sizeof(id), "runs-%zu", i);
        (void)snprintf(list, sizeof(list), "points[%zu].runs", i);
        tm_emit_runs(content, id, *caption ? caption : "Runs", list);
    }
}

static const struct tm_section scaled_runs_section = {
    .id = "runs", .title = "Study", .key = "points", .say = emit_runs
};

/* Speedup and efficiency by number of devices, as charts and as a table. */

/* The kind of scaling that is assumed, and why. */
static void emit_mode(const struct tm_content *content)
{
    const char *mode = tm_text(tm_of(content, "mode"));
    const struct tm_value *total = tm_of(content, "work.total_change_pct"),
                          *each = tm_of(content, "work.device_change_pct");
    const long long within = (long long)tm_int(tm_of(content, "work.same_within_pct"));
    struct tm_cell cell[2] = { tm_cell_of_value(TM_DOC_PERCENT, total), tm_cell_of_value(TM_DOC_PERCENT, each) };
    char text[2][TM_FORMAT_BYTES];

    cell[0].is_change = cell[1].is_change = true;
    if (!tm_has(total))
        tm_emit(content, TM_TONE_PLAIN, "It is unknown whether the work grows with the devices: %s.", tm_why(total));
    else if (strcmp(mode, "strong") == 0)
        tm_emit(content, TM_TONE_PLAIN,
                "Strong scaling: the total compute time stays within %lld%% of that of the first point (maximum %s).",
                within, tm_cell_shown(&cell[0], content->summary, text[0]));
    else if (strcmp(mode, "weak") == 0)
        tm_emit(content, TM_TONE_PLAIN,
                "Weak scaling: the compute time per device stays within %lld%% of that of the first point (maximum "
                "%s), so the work grows with the devices. Speedup refers to throughput.",
                within, tm_cell_shown(&cell[1], content->summary, text[0]));
    else
        tm_emit(content, TM_TONE_PLAIN,
                "Neither strong nor weak scaling: the total compute time changes by %s, the compute time per device "
                "by %s. Speedup and efficiency assume constant work.",
                tm_cell_shown(&cell[0], content->summary, text[0]), tm_cell_shown(&cell[1], content->summary, text[1]));
}

static const struct tm_table quoted = {
    .id = "points",
    .caption = "Scaling",
    .shows = "devices, step_ps, speedup, speedup_low, speedup_high, efficiency_pct, "
             "shares.exposed_collective_pct, shares.idle_pct, imbalance_pct",
    .list = "points",
    .paper_rows = 64,
};

static const struct tm_table step_times = {
    .id = "step-times",
    .caption = "Step times",
    .shows = "devices, label wide, hosts wide, samples, step_ps, low_ps, high_ps, mean_ps wide, "
             "stddev_ps wide, cv_pct, measured_ps given, measured_speedup given",
    .list = "points",
    .paper_rows = 64,
};

static void emit_speedup(const struct tm_content *content)
{
    emit_mode(content);
    tm_emit_charts(content, TM_CHART_SPEEDUP);
    tm_emit_table(content, &quoted);
    tm_emit_charts(content, TM_CHART_EFFICIENCY);
    tm_emit_table(content, &step_times);
}

static const struct tm_section speedup_section = {
    .id = "speedup", .title = "Speedup", .key = "points", .say = emit_speedup
};

/* The parts of a step by number of devices, and the causes of lost efficiency. */

static const struct tm_table parts = {
    .id = "scaled-parts",
    .caption = "Mean time per step and device",
    .shows = "devices, parts.compute_ps, parts.exposed_collective_ps, parts.exposed_copy_ps, "
             "parts.idle_ps, parts.total_ps, work_ps",
    .list = "points",
    .paper_rows = 64,
};

static const struct tm_table lost = {
    .id = "lost",
    .caption = "Lost efficiency",
    .shows = "devices, efficiency_pct, lost.communication_pct change, lost.idle_pct change, "
             "lost.compute_pct change, lost.copies_pct change, "
             "growth.exposed_collective_pct change wide, growth.idle_pct change wide, "
             "growth.compute_pct change wide, growth.exposed_copy_pct change wide",
    .list = "points",
    .paper_rows = 64,
    .note = "The efficiency and the losses of a point add up to 100%. A negative loss is a gain: that part takes "
            "less time than ideal scaling predicts.",
};

static void emit_step(const struct tm_content *content)
{
    tm_emit_charts(content, TM_CHART_SCALED_STEP);
    tm_emit_table(content, &parts);
    tm_emit_table(content, &lost);
}

static const char *no_steps(const struct tm_value *scaling)
{
    const struct tm_value *points = tm_get(scaling, "points");

    for (size_t i = 0; i < tm_length(points); i++)
        if (tm_has(tm_path(tm_at(points, i), "parts.total_ps")))
            return "";
    return "the parts of the steps are unknown";
}

static const struct tm_section scaled_step_section = {
    .id = "step", .title = "Step breakdown", .key = "points", .say = emit_step, .nothing = no_steps
};

/* Data exchanged by number of devices, and load balance. */

static void emit_exchange(const struct tm_content *content)
{
    tm_emit_table(content, &(struct tm_table){
                               .id = "exchange",
                               .caption = "Collectives: mean per step and device",
                               .shows = "devices, collective_ps, parts.exposed_collective_ps = Exposed, overlap_pct, "
                                        "collective_bytes, imbalance_pct, spread_pct",
                               .list = "points",
                               .paper_rows = 64 });
}

static const char *no_exchange(const struct tm_value *scaling)
{
    static const char *const keys[] = { "collective_ps", "imbalance_pct" };
    const struct tm_value *points = tm_get(scaling, "points");

    for (size_t i = 0; i < tm_length(points); i++)
        for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
            if (tm_double(tm_get(tm_at(points, i), keys[k])) > 0)
                return "";
    return "the devices exchange no data, and none is slower than the others";
}

static const struct tm_section exchange_section = {
    .id = "exchange", .title = "Collectives and balance", .key = "points", .say = emit_exchange, .nothing = no_exchange
};

static const struct tm_section *const sections[] = {
    &limits_section, &speedup_section,     &scaled_step_section,       &exchange_section,
    &fit_section,    &scaled_runs_section, &tm_missing_scaled_section, &tm_definitions_section,
};

/* "" if the points have several models. */
static const char *same_model(const struct tm_value *points)
{
    const char *model = tm_text(tm_get(tm_at(points, 0), "device_model"));

    for (size_t i = 1; i < tm_length(points); i++)
        if (strcmp(tm_text(tm_get(tm_at(points, i), "device_model")), model) != 0)
            return "";
    return model;
}

/* "1, 2, 4, 8 × NVIDIA H100" */
static void tell_devices(char *out, const struct tm_value *points)
{
    enum { LISTED = 12 };
    const char *model = same_model(points);
    size_t used = 0;

    for (size_t i = 0; i < tm_length(points) && i < LISTED; i++) {
        (void)snprintf(out + used, TM_FRONT_BYTES - used, "%s%lld", i ? ", " : "",
                       (long long)tm_int(tm_get(tm_at(points, i), "devices")));
        used = strlen(out);
    }
    (void)snprintf(out + used, TM_FRONT_BYTES - used, "%s%s%.80s", tm_length(points) > LISTED ? " ..." : "",
                   *model ? " × " : "", model);
}

/* "29.7 ms with 1 device, 3.67 ms with 8" */
static void tell_steps(char *out, const struct tm_value *points)
{
    const struct tm_value *first = tm_at(points, 0), *last = tm_at(points, tm_length(points) - 1);
    char a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES];

    if (tm_has(tm_get(first, "step_ps")) && tm_has(tm_get(last, "step_ps")))
        (void)snprintf(out, TM_FRONT_BYTES, "%s with %lld device%s, %s with %lld",
                       tm_format_time(a, tm_int(tm_get(first, "step_ps"))), (long long)tm_int(tm_get(first, "devices")),
                       tm_format_plural(tm_int(tm_get(first, "devices"))),
                       tm_format_time(b, tm_int(tm_get(last, "step_ps"))), (long long)tm_int(tm_get(last, "devices")));
    else
        (void)snprintf(out, TM_FRONT_BYTES, "not recorded");
}

static void make_front(struct tm_front_page *front, const struct tm_value *scaling)
{
    const struct tm_value *points = tm_get(scaling, "points");
    const char *mode = tm_text(tm_get(scaling, "mode"));
    char title[TM_FRONT_TITLE_BYTES];
    size_t runs = 0;

    for (size_t i = 0; i < tm_length(points); i++)
        runs += tm_length(tm_get(tm_at(points, i), "runs"));
    (void)snprintf(title, sizeof(title), "Scaling from %.200s", tm_text(tm_path(scaling, "input.run")));
    tm_front_begin(front, scaling, title);
    (void)snprintf(front->subtitle, sizeof(front->subtitle), "%zu runs on %zu numbers of devices", runs,
                   tm_length(points));
    tell_devices(tm_front_add_fact(front, "Devices"), points);
    tell_steps(tm_front_add_fact(front, "Median step"), points);
    (void)snprintf(tm_front_add_fact(front, "Kind"), TM_FRONT_BYTES, "%s",
                   strcmp(mode, "strong") == 0 ? "strong scaling: the same work on more devices"
                   : strcmp(mode, "weak") == 0 ? "weak scaling: the work grows with the devices"
                                               : "neither strong nor weak scaling");
}

const struct tm_document tm_scaling_document = {
    .schema = "tracemill.scaling",
    .fields = &tm_scaling_schema,
    .what = "scaling study",
    .kicker = "SCALING STUDY",
    .made_by = "tracemill scaling",
    .file = "scaling",
    .findings_title = "Scaling limits",
    .stake_of = "a step",
    .data = "scaling.json",
    .sections = sections,
    .section_count = sizeof(sections) / sizeof(sections[0]),
    .make_front = make_front,
    .first_chart = { TM_CHART_SPEEDUP },
    .first_charts = 1,
};
