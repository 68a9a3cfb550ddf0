/* SPDX-License-Identifier: Apache-2.0 */
/* A gate file for a run as it is: what usually matters, each limit with some room, in the units
 * that people write.  The room of times is the larger one of a share and of what the steps were
 * seen to vary by; each gate says in its note what the figure was. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/bounded_sum.h"
#include "reports/format/format.h"
#include "reports/gates/figure.h"
#include "reports/gates/gate.h"
#include "reports/statistics/sample.h"

static const double TIME_ROOM_PCT = 10, MEMORY_ROOM_PCT = 5, SHARE_ROOM_POINTS = 5,
                    OTHER_ROOM_PCT = 10;
static const double CHANGE_LEAST_PCT = 5, NOISE_TIMES = 3;
static const double PS_PER_MS = 1e9, MIB = 1048576;

struct init {
    const struct tm_value *summary;
    struct tm_value *list;
    double noise_pct; /* of the step time; 0 = not known */
};

enum { LIMIT_BYTES = 48, NOTE_BYTES = 256 };

/* Rounded away from the figure in the third digit, so that the room stays. */
static double round_out(double value, bool is_upper)
{
    if (value == 0)
        return 0;
    const double digits = 2 - floor(log10(fabs(value)));
    const double step = pow(10, fabs(digits)); /* a whole number, so that 117 steps are 11.7 and no bit more */
    const double steps = digits > 0 ? value * step : value / step;
    const double round = is_upper ? ceil(steps - 1e-9) : floor(steps + 1e-9);

    return digits > 0 ? round / step : round * step;
}

static const char *limit_text(char *to, double value, const char *unit, bool is_upper)
{
    const double round = round_out(value, is_upper);

    if (strcmp(unit, "ps") == 0)
        (void)snprintf(to, LIMIT_BYTES, "%.12gms", round / PS_PER_MS);
    else if (strcmp(unit, "bytes") == 0)
        (void)snprintf(to, LIMIT_BYTES, "%.0fMiB", ceil(value / MIB));
    else
        (void)snprintf(to, LIMIT_BYTES, "%.12g%s", round, strcmp(unit, "count") == 0 ? "" : unit);
    return to;
}

static struct tm_value *add_gate(struct init *init, const char *path, const char *note)
{
    struct tm_value *const gate = tm_add_object(init->list, NULL);

    tm_add_string(gate, "figure", path);
    tm_add_string(gate, "note", note);
    return gate;
}

static bool find(const struct init *init, struct tm_figure *figure, const char *path)
{
    tm_figure_find(figure, init->summary, path, TM_FIGURE_MOST);
    return figure->state == TM_FIGURE_KNOWN && isfinite(figure->value);
}

static double median_of(double *value, size_t count)
{
    tm_sample_sort(value, count);
    return tm_sample_quantile((struct tm_sample){ value, count }, 0.5);
}

/* How much the median of such a run varies, in percent of it, several times over.  By the median of
 * the distances from the median: a single step that was stopped for something else tells nothing of
 * the others. */
static double noise_of(double *value, size_t count)
{
    const double median = median_of(value, count),
                 to_normal = 1.4826 * 1.2533; /* MAD to sigma; that of a median */

    for (size_t i = 0; i < count; i++)
        value[i] = fabs(value[i] - median);
    return median > 0 ? 100 * NOISE_TIMES * to_normal * median_of(value, count) /
                            sqrt((double)count) / median
                      : 0;
}

static tm_status measure_noise(struct init *init, struct tm_run *run)
{
    const struct tm_value *samples = tm_path(init->summary, "steps.samples_ps");
    const size_t count = tm_length(samples), bytes = count * sizeof(double);

    if (count < 2)
        return TM_OK;
    double *const value = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);

    if (!value)
        return TM_ERR_LIMIT;
    for (size_t i = 0; i < count; i++)
        value[i] = tm_double(tm_at(samples, i));
    init->noise_pct = noise_of(value, count);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, value, bytes);
    return TM_OK;
}

static void add_step_time(struct init *init)
{
    struct tm_figure figure;
    char value[TM_FORMAT_BYTES], limit[LIMIT_BYTES], note[NOTE_BYTES];

    if (!find(init, &figure, "steps.median_ps") || !(figure.value > 0) ||
        strcmp(tm_text(tm_path(init->summary, "steps.source")), "session") == 0)
        return;
    (void)tm_format_time(value, tm_whole(figure.value));
    (void)snprintf(note, sizeof(note),
                   "It was %s here. It differs on another device: leave this gate out there.",
                   value);
    struct tm_value *gate = add_gate(init, "steps.median_ps", note);

    tm_add_string(gate, "max",
                  limit_text(limit, figure.value * (1 + fmax(TIME_ROOM_PCT, init->noise_pct) / 100),
                             "ps", true));
    for (int i = 0; i < 2 && find(init, &figure, i ? "steps.mean_ps" : "steps.median_ps"); i++) {
        gate = add_gate(init, i ? "steps.mean_ps" : "steps.median_ps",
                        i ? "The throughput: a few long steps change it and not the median. Skipped without a baseline."
                          : "Against a baseline, and only where the steps of both show that it is no "
                            "noise. Skipped without one.");
        tm_add_double(gate, "max_increase_pct",
                      round_out(fmax(CHANGE_LEAST_PCT, init->noise_pct), true));
        tm_add_double(gate, "min_effect_pct", 1);
        tm_add_bool(gate, "required", false);
    }
}

/* Key figures that tell a change of the program more than one of its size. */
static void add_kpi(struct init *init, const struct tm_value *kpi)
{
    static const char *const left_out[] = { "step_time",    "kernel_duration",
                                            "compile_time", "unexpected_compiles",
                                            "peak_memory",  "top_op_share" };
    const char *id = tm_text(tm_get(kpi, "id")), *unit = tm_text(tm_get(kpi, "unit"));
    const double value = tm_double(tm_get(kpi, "value"));
    const bool is_share = strcmp(unit, "%") == 0;
    const bool is_upper = tm_double(tm_get(kpi, "good")) <= tm_double(tm_get(kpi, "bad"));
    const double room = is_share ? SHARE_ROOM_POINTS : fabs(value) * OTHER_ROOM_PCT / 100;
    char path[96], shown[TM_FORMAT_BYTES], note[NOTE_BYTES], limit[LIMIT_BYTES];

    for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++) {
        if (strcmp(id, left_out[i]) == 0)
            return;
    }
    if (!*id || !tm_has(tm_get(kpi, "value")) || !tm_has(tm_get(kpi, "good")))
        return;
    (void)snprintf(path, sizeof(path), "kpis[%.40s].value", id);
    (void)snprintf(note, sizeof(note), "%.100s: it was %s.", tm_text(tm_get(kpi, "title")),
                   tm_format_unit(shown, value, unit));
    const double bound = is_upper ? value + room : fmax(value - room, 0);

    if (is_upper || bound > 0)
        tm_add_string(add_gate(init, path, note), is_upper ? "max" : "min",
                      limit_text(limit, bound, unit, is_upper));
}

static void add_memory(struct init *init)
{
    static const char path[] = "memory.allocators[*].peak_bytes";
    struct tm_figure figure;
    char value[TM_FORMAT_BYTES], note[NOTE_BYTES], limit[LIMIT_BYTES];

    if (!find(init, &figure, path) || !(figure.value > 0))
        return;
    (void)snprintf(note, sizeof(note), "The most that one allocator held: it was %s.",
                   tm_format_bytes(value, figure.value));
    struct tm_value *const gate = add_gate(init, path, note);

    tm_add_string(gate, "title", "Peak memory of an allocator");
    tm_add_string(gate, "max",
                  limit_text(limit, figure.value * (1 + MEMORY_ROOM_PCT / 100), "bytes", true));
}

static void add_compiles(struct init *init)
{
    static const char path[] = "compile.inside_steps.count";
    struct tm_figure figure;

    if (!find(init, &figure, path))
        return;
    struct tm_value *const gate =
        add_gate(init, path, "With steady shapes nothing compiles while steps run.");

    tm_add_string(gate, "title", "Compiles inside the steps");
    tm_add_double(gate, "max", figure.value);
}

static void add_gates(struct init *init)
{
    const struct tm_value *kpis = tm_get(init->summary, "kpis");

    add_step_time(init);
    for (size_t i = 0; i < tm_length(kpis); i++)
        add_kpi(init, tm_at(kpis, i));
    add_memory(init);
    add_compiles(init);
}

static tm_status print(struct tm_run *run, const struct tm_doc *doc, FILE *to)
{
    if (fflush(to) != 0)
        return tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot write the gate file");
    return tm_doc_print(doc, run, fileno(to));
}

tm_status tm_gates_init(struct tm_run *run, const struct tm_value *summary, FILE *to)
{
    struct tm_doc *const doc = tm_doc_new(run);

    if (!doc)
        return TM_ERR_LIMIT;
    struct tm_value *const root = tm_doc_root(doc);

    tm_add_string(root, "schema", "tracemill.gates");
    tm_add_int(root, "schema_version", 1);
    tm_add_string(
        root, "note",
        "Made from a run as it was: change the limits to what you want to hold. docs/gates.md");
    struct init init = { .summary = summary, .list = tm_add_array(root, "gates") };

    tm_status st = measure_noise(&init, run);

    add_gates(&init);
    if (st == TM_OK)
        st = tm_doc_status(doc);
    if (st == TM_OK && tm_length(init.list) == 0)
        st = tm_fail(&run->error, TM_ERR_INPUT, -1,
                     "there is no figure in the run that a gate could hold");
    if (st == TM_OK)
        st = print(run, doc, to);
    tm_doc_free(doc);
    return st;
}
