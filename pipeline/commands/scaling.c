/* SPDX-License-Identifier: Apache-2.0 */
/* `scaling`: runs of one program, ordered by how many devices they had. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/commands/commands.h"
#include "pipeline/engine/study.h"
#include "pipeline/strings.h"
#include "reports/content/content.h"
#include "reports/format/format.h"
#include "reports/scaling/speedup.h"

enum { DEVICES_MOST = 10000000 };

struct point {
    size_t first, runs; /* of the order */
    char label[TM_LABEL_BYTES];
};

/* A run in the order of its devices. */
struct counted_run {
    size_t number; /* in the study */
    uint32_t devices;
};

struct scaling {
    struct tm_study study;
    struct counted_run *order;
    struct tm_compared_run *runs; /* in that order */
    struct point point[TM_SCALING_POINTS_MOST];
    struct tm_scaling_point points[TM_SCALING_POINTS_MOST];
    size_t count; /* of points */
};

/* N of "N=PATH"; 0 if the label is not a number. */
static uint32_t said_devices(const struct tm_run_operand *operand)
{
    const char *at = operand->label;
    uint64_t number = 0;

    if (!operand->label_length || !tm_take_digits(&at, &number) || at != operand->label + operand->label_length ||
        number > DEVICES_MOST)
        return 0;
    return (uint32_t)number;
}

static int by_devices(const void *a, const void *b)
{
    const struct counted_run *x = a, *y = b;

    if (x->devices != y->devices)
        return x->devices < y->devices ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void order_runs(struct scaling *s)
{
    const struct tm_study *study = &s->study;
    struct tm_run *run = study->run;

    s->order = tm_take(&run->budget, TM_ACCOUNT_MODEL, study->count * sizeof(*s->order), &run->error);
    s->runs = tm_take(&run->budget, TM_ACCOUNT_MODEL, study->count * sizeof(*s->runs), &run->error);
    if (tm_failed(run))
        return;
    for (size_t i = 0; i < study->count; i++) {
        const uint32_t said = said_devices(&study->operand[i]);

        s->order[i] = (struct counted_run){ i, said ? said : tm_scaling_devices(study->runs[i].summary) };
    }
    qsort(s->order, study->count, sizeof(*s->order), by_devices);
    for (size_t i = 0; i < study->count; i++)
        s->runs[i] = study->runs[s->order[i].number];
}

/* By a word that the user gave to one of the runs; a number is not a word. */
static void label_point(const struct scaling *s, struct point *point, uint32_t devices)
{
    (void)snprintf(point->label, sizeof(point->label), "%u device%s", devices, tm_format_plural(devices));
    for (size_t i = point->first; i < point->first + point->runs; i++) {
        const size_t number = s->order[i].number;
        const struct tm_loaded_run *run = &s->study.summaries.run[number];

        if (!run->is_labelled || said_devices(&s->study.operand[number]))
            continue;
        (void)snprintf(point->label, sizeof(point->label), "%s", run->label);
        return;
    }
}

static void make_points(struct scaling *s)
{
    for (size_t i = 0; i < s->study.count; i++) {
        const uint32_t devices = s->order[i].devices;

        if (i == 0 || devices != s->order[i - 1].devices) {
            if (s->count == TM_SCALING_POINTS_MOST) {
                (void)tm_fail(&s->study.run->error, TM_ERR_LIMIT, -1, "cannot use more than %d numbers of devices",
                              TM_SCALING_POINTS_MOST);
                return;
            }
            s->point[s->count++] = (struct point){ .first = i };
            s->points[s->count - 1].devices = devices;
        }
        s->point[s->count - 1].runs++;
    }
    for (size_t i = 0; i < s->count; i++) {
        label_point(s, &s->point[i], s->points[i].devices);
        s->points[i].side = (struct tm_comparison_side){ .label = s->point[i].label,
                                                         .run = &s->runs[s->point[i].first],
                                                         .runs = s->point[i].runs };
    }
}

static tm_status write_document(struct scaling *s, struct tm_doc *doc)
{
    const struct tm_compare_options choice = tm_study_options(s->study.options);

    tm_scaling(s->study.run, doc, s->points, s->count, &choice);
    tm_study_forget(&s->study);
    return tm_failed(s->study.run) ? s->study.run->error.status : tm_study_deliver(&s->study, doc, ".scaling");
}

static tm_status work(struct scaling *s, struct tm_run *run, const struct tm_options *options)
{
    struct tm_doc *doc;
    tm_status st;

    if (tm_study_open(&s->study, run, options, "scale", &tm_scaling_document, options->input_count))
        return run->error.status;
    for (size_t i = 0; i < options->input_count; i++) {
        struct tm_run_operand operand;

        tm_run_operand_read(&operand, options->inputs[i]);
        tm_study_add(&s->study, &operand, -1);
    }
    if (tm_study_check(&s->study) || tm_study_load(&s->study))
        return run->error.status;
    order_runs(s);
    if (!tm_failed(run))
        make_points(s);
    if (!tm_failed(run) && !options->force)
        tm_scaling_check(run, s->points, s->count);
    doc = tm_failed(run) ? NULL : tm_doc_new(run);
    if (!doc)
        return run->error.status;
    st = write_document(s, doc);
    tm_doc_free(doc);
    return st;
}

static tm_status run_scaling(struct tm_run *run, const struct tm_options *options)
{
    struct scaling *s = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*s), &run->error);
    size_t count;
    tm_status st;

    if (!s)
        return run->error.status;
    st = work(s, run, options);
    count = s->study.count;
    if (s->order)
        tm_give(&run->budget, TM_ACCOUNT_MODEL, s->order, count * sizeof(*s->order));
    if (s->runs)
        tm_give(&run->budget, TM_ACCOUNT_MODEL, s->runs, count * sizeof(*s->runs));
    tm_study_close(&s->study);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, s, sizeof(*s));
    return st;
}

/* clang-format off */
const struct tm_verb tm_scaling_verb = {
    .name = "scaling",
    .summary = "show how a program scales with the number of devices: speedup, efficiency and losses",
    .usage = "RUN RUN... [-o DIR] [OPTION...]",
    .description =
        "Reads runs of one program on different numbers of devices, as profiles or summaries, and writes scaling.html, scaling.pdf, scaling.txt and scaling.json: speedup and efficiency relative to the smallest number, the losses to communication, idle time and imbalance, and, from four numbers of devices on, the serial fraction.\n"
        "The number of devices is read from the profile; N=PATH overrides it. Runs with the same number form one point.",
    .examples =
        "tracemill scaling logs/1gpu logs/2gpu logs/4gpu logs/8gpu    four numbers of devices\n"
        "tracemill scaling 8=a.xplane.pb 16=b.xplane.pb -o out    explicit numbers of devices\n",
    .bit = TM_FOR_SCALING,
    .flags = TM_VERB_SPILLS,
    .least = 2,
    .most = SIZE_MAX,
    .run = run_scaling,
};
/* clang-format on */
