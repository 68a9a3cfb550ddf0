/* SPDX-License-Identifier: Apache-2.0 */
/* Operations (summary.ops, summary.roofline, summary.scopes): a dominant one, operations far below their roofline, a
 * memory-bound program, a layer that is slower than its peers, forward values that are recomputed although memory has
 * room, and operations of which several devices compute the same (summary.sharding).  Without operations in the
 * profile, the dominant kernel is reported instead.  Times of operations are sums over devices and streams; the
 * potential savings of a dominant one are scaled to the window. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/store/bounded_sum.h"
#include "pipeline/store/sorter.h"
#include "reports/findings/finding.h"

enum {
    LISTED_OPS = 3,
    LISTED_KERNELS = 3,
    NAMES_BYTES = 512,
    PLACE_BYTES = 512,
    PLACE_SHOWN = 120,      /* characters */
    SHORT_OP_PS = 20000000, /* 20 us: shorter ones consist mostly of launch and tail */
};
#define PS_PER_MS 1e9
#define ROOF_LEAST_PCT 2.0 /* below it, an operation is bound by neither compute nor memory */

static bool is_gpu(const struct tm_findings *all)
{
    return !tm_query_is_platform(all->summary, "tpu") && !tm_query_is_platform(all->summary, "cpu");
}

static int64_t self_of(const struct tm_value *op)
{
    return tm_int(tm_get(op, "self_ps"));
}

/* --- evidence --- */

/* A framework path or a source location; cut later than a name, as its middle matters, too.  "" for "" */
static char *place_name(char out[PLACE_BYTES], const char *text)
{
    char visible[PLACE_BYTES];

    (void)tm_format_visible(visible, sizeof(visible), text, strnlen(text, sizeof(visible) - 1));
    (void)tm_format_middle(out, PLACE_BYTES, visible, PLACE_SHOWN);
    return out;
}

static void emit_origin(struct tm_finding *f, const struct tm_value *op)
{
    char path[PLACE_BYTES], source[PLACE_BYTES];

    place_name(path, tm_text(tm_get(op, "op")));
    place_name(source, tm_text(tm_get(op, "source")));
    if (*path || *source)
        tm_finding_emit_with(f, "origin", NULL, tm_given_text("path", path), tm_given_text("source", source));
}

/* The kernels of an operation, as far as they are listed; the table is sorted by time. */
static void emit_kernels(struct tm_findings *all, struct tm_finding *f, const struct tm_value *op)
{
    const struct tm_value *rows = tm_path(all->summary, "kernels.rows");
    char names[NAMES_BYTES] = "", name[TM_SHORT_NAME_BYTES], time[TM_FORMAT_BYTES];
    int listed = 0;

    if (!is_gpu(all)) /* there the table of kernels holds the operations */
        return;
    for (size_t i = 0; i < tm_length(rows) && listed < LISTED_KERNELS; i++) {
        const struct tm_value *row = tm_at(rows, i);
        const size_t used = strlen(names);

        if (strcmp(tm_text(tm_get(row, "hlo_op")), tm_text(tm_get(op, tm_get(op, "longest") ? "longest" : "name"))) !=
            0)
            continue;
        (void)snprintf(names + used, sizeof(names) - used, "%s'%s' (%s)", listed ? ", " : "",
                       tm_row_name(name, row, "name"), tm_row_time(time, row, "total_ps"));
        listed++;
    }
    if (listed && tm_int(tm_get(op, "members")) > 1)
        tm_finding_emit_with(f, "kernels_of_longest", op, tm_given_text("names", names));
    else if (listed)
        tm_finding_emit_with(f, "kernels", NULL, tm_given_text("names", names));
}

static void emit_roof(struct tm_finding *f, const struct tm_value *op)
{
    const struct tm_value *pct = tm_get(op, "roof_pct");

    if (!tm_has(pct))
        return;
    if (strcmp(tm_text(tm_get(op, "bound")), "latency") == 0)
        tm_finding_emit(f, "no_roof", op);
    else
        tm_finding_emit(f, "roof", op);
    if (tm_double(pct) > 100)
        tm_finding_emit(f, "above_roof", op);
}

/* The name of a family; a family of one is called by its operation. */
static const char *name_of(const struct tm_value *op)
{
    if (!tm_get(op, "members")) /* a row of ops.rows */
        return tm_text(tm_get(op, "name"));
    return tm_text(tm_get(op, tm_int(tm_get(op, "members")) > 1 ? "family" : "longest"));
}

/* How many operations are worth optimizing; a family counts as one.  The rows are sorted by self time. */
static void emit_targets(struct tm_findings *all, struct tm_finding *f)
{
    const struct tm_value *rows = tm_path(all->summary, "ops.families");
    const double long_ms = tm_limit_of(all, TM_LIMIT_TARGET_OP_LONG), least_ms = tm_limit_of(all, TM_LIMIT_TARGET_OP);
    size_t long_count = 0, count = 0;
    char names[NAMES_BYTES] = "", name[TM_SHORT_NAME_BYTES], long_text[TM_FORMAT_BYTES], least_text[TM_FORMAT_BYTES];

    for (size_t i = 0; i < tm_length(rows); i++) {
        const double ms = (double)self_of(tm_at(rows, i)) / PS_PER_MS;
        const size_t used = strlen(names);

        long_count += ms >= long_ms;
        count += ms >= least_ms;
        if (ms >= least_ms && i < LISTED_OPS)
            (void)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
                           tm_short_name(name, name_of(tm_at(rows, i))));
    }
    (void)snprintf(long_text, sizeof(long_text), "%.4g", long_ms);
    (void)snprintf(least_text, sizeof(least_text), "%.4g", least_ms);
    if (count)
        tm_finding_emit_with(f, "targets", NULL, tm_given_text("long_ms", long_text),
                             tm_given_int("long_ops", (int64_t)long_count), tm_given_text("least_ms", least_text),
                             tm_given_int("ops", (int64_t)count), tm_given_text("names", names));
}

static void show_first(struct tm_finding *f, const struct tm_value *op)
{
    const struct tm_value *first = tm_get(op, "first");

    if (first)
        tm_finding_where_row(f, first);
}

/* --- what to do --- */

/* The type of work of an operation, as a case of its finding. */
static const char *work_of(const struct tm_value *op)
{
    static const char *const rows[][2] = {
        { "gemm/dot", "products" },        { "convolution", "convolutions" },
        { "attention", "attention" },      { "elementwise fusion", "fewer_bytes" },
        { "elementwise", "fewer_bytes" },  { "normalization", "fewer_bytes" },
        { "softmax", "fewer_bytes" },      { "reduction", "fewer_bytes" },
        { "quantization", "fewer_bytes" }, { "copy/transpose", "fewer_bytes" },
    };

    return tm_format_word(TM_PAIRS(rows), tm_text(tm_get(op, "category")), "any_work");
}

/* Could the matmuls of an op or a kernel use a narrower type? */
static bool is_wide(const struct tm_value *op)
{
    const char *precision = tm_text(tm_get(op, "precision"));

    return strcmp(precision, "f32") == 0 || strcmp(precision, "f64") == 0;
}

static void give_work(struct tm_finding *f, const struct tm_value *op)
{
    tm_finding_case(f, work_of(op));
    if (is_wide(op))
        tm_finding_case(f, "wide");
}

/* --- one operation that takes most of the time --- */

/* Is an operation far below its roofline, and long enough for that to be its own fault? */
static bool is_far(const struct tm_findings *all, const struct tm_value *op)
{
    const double roof = tm_double(tm_get(op, "roof_pct"));

    return tm_has(tm_get(op, "roof_pct")) && roof >= ROOF_LEAST_PCT && roof < tm_limit_of(all, TM_LIMIT_ROOF_FAR) &&
           tm_int(tm_get(op, "mean_ps")) >= SHORT_OP_PS;
}

/* What an operation would save if it came as close to its roofline as good kernels do. */
static int64_t within_reach(const struct tm_findings *all, const struct tm_value *op)
{
    const double reach = tm_limit_of(all, TM_LIMIT_ROOF_REACH), roof = tm_double(tm_get(op, "roof_pct"));

    return roof < reach ? tm_whole((double)self_of(op) * (1 - roof / reach)) : 0;
}

/* The time beyond the limit of a dominant operation: what another algorithm might save if no roofline is known. */
static int64_t beyond_limit(const struct tm_findings *all, double share_pct)
{
    const double compute_ps = tm_double(tm_path(all->summary, "total.compute_ps"));

    return tm_whole(compute_ps * (share_pct - tm_limit_of(all, TM_LIMIT_DOMINANT_KERNEL)) / 100);
}

/* The longest operation that computes: waits and transfers have their own findings.
 * in:     is_family  rows are families; only those count that are one operation many times */
static const struct tm_value *top_op(const struct tm_value *rows, bool is_family)
{
    for (size_t i = 0; i < tm_length(rows); i++)
        if (strcmp(tm_text(tm_get(tm_at(rows, i), "bound")), "none") != 0 &&
            (!is_family || tm_is(tm_get(tm_at(rows, i), "counts_as_one"))))
            return tm_at(rows, i);
    return NULL;
}

/* The longest operation, or family that counts as one. */
static const struct tm_value *longest_op(const struct tm_value *ops)
{
    const struct tm_value *family = top_op(tm_get(ops, "families"), true), *op = top_op(tm_get(ops, "rows"), false);

    return family && self_of(family) >= self_of(op) ? family : op;
}

/* The potential savings of a dominant operation: up to its roofline if that is known. */
static int64_t dominant_stake(const struct tm_findings *all, const struct tm_value *top, double share)
{
    const double roof = tm_double(tm_get(top, "roof_pct"));

    return tm_has(tm_get(top, "roof_pct")) && roof >= ROOF_LEAST_PCT ? within_reach(all, top)
                                                                     : beyond_limit(all, share);
}

/* Most of a model is matmuls: a family of them is not a problem if its roofline is not known, and no family is if it is
 * close to its roofline. */
static bool is_what_the_model_does(const struct tm_findings *all, const struct tm_value *top)
{
    const char *work = work_of(top);

    if (tm_int(tm_get(top, "members")) <= 1)
        return false;
    if (tm_has(tm_get(top, "roof_pct")))
        return tm_double(tm_get(top, "roof_pct")) >= tm_limit_of(all, TM_LIMIT_ROOF_FAR);
    return strcmp(work, "products") == 0 || strcmp(work, "convolutions") == 0 || strcmp(work, "attention") == 0;
}

/* out:    the operation or family that the finding is about; NULL = none */
static const struct tm_value *find_dominant_op(struct tm_findings *all)
{
    const struct tm_value *ops = tm_path(all->summary, "ops"), *top = longest_op(ops);
    const int64_t members = tm_int(tm_get(top, "members"));
    const int64_t compute_ps = tm_int(tm_path(all->summary, "roofline.compute_ps"));
    const double share = tm_share_pct(self_of(top), compute_ps);
    const int64_t count = tm_int(tm_get(top, "executions")), stake_ps = dominant_stake(all, top, share);
    char name[TM_SHORT_NAME_BYTES], a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES];
    struct tm_finding *f;

    if (!tm_is_worth_mention(all, beyond_limit(all, share)) || tm_length(tm_get(ops, "rows")) < 2 ||
        is_what_the_model_does(all, top))
        return NULL;
    f = tm_is_worth_mention(all, stake_ps) ? tm_finding_of_time(all, "op_dominant", stake_ps)
                                           : tm_finding_of_fact(all, "op_dominant");
    tm_short_name(name, name_of(top));
    if (members > 1) {
        tm_finding_case(f, "family");
        tm_finding_argument(f, "count", "%s", tm_format_count(b, members));
    }
    tm_finding_argument(f, "share", "%s", tm_format_pct(a, share));
    tm_finding_argument(f, "name", "%s", name);
    tm_finding_value(f, share, "%");
    tm_finding_limit(f, tm_limit_of(all, TM_LIMIT_DOMINANT_KERNEL));
    tm_finding_emit_with(f, "all", top, tm_given_text("shown", name),
                         tm_given_int("mean_ps", count > 0 ? self_of(top) / count : 0));
    emit_origin(f, top);
    emit_kernels(all, f, top);
    emit_roof(f, top);
    emit_targets(all, f);
    show_first(f, top);
    give_work(f, top);
    return top;
}

/* --- one kernel, where operations are unknown --- */

/* The first row of the kernel table with this name; NULL = not listed. */
static const struct tm_value *row_of_name(const struct tm_findings *all, const char *name)
{
    return tm_find(tm_path(all->summary, "kernels.rows"), "name", name);
}

/* Does a name belong to kernels that compute?  Collectives and copies have their own findings. */
static bool is_computing(const struct tm_findings *all, const struct tm_value *of_name)
{
    const char *class = tm_text(tm_get(row_of_name(all, tm_text(tm_get(of_name, "name"))), "class"));

    return strcmp(class, "collective") != 0 && strcmp(class, "copy") != 0 && strcmp(class, "memset") != 0;
}

static const struct tm_value *longest_of(const struct tm_findings *all, const struct tm_value *rows)
{
    const struct tm_value *top = NULL;

    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *row = tm_at(rows, i);

        if ((!top || tm_int(tm_get(row, "total_ps")) > tm_int(tm_get(top, "total_ps"))) && is_computing(all, row))
            top = row;
    }
    return top;
}

static void emit_dominant_kernel(struct tm_findings *all, struct tm_finding *f, const struct tm_value *top)
{
    const int64_t count = tm_int(tm_get(top, "count"));

    tm_finding_emit_with(f, "all", top, tm_given_text("unit", is_gpu(all) ? "kernels" : "operations"));
    if (count > 0)
        tm_finding_emit_with(f, "runs", top, tm_given_int("mean_ps", tm_int(tm_get(top, "total_ps")) / count));
}

static void find_dominant_kernel(struct tm_findings *all)
{
    const struct tm_value *top = longest_of(all, tm_path(all->summary, "kernels.by_name"));
    const double share =
        tm_share_pct(tm_int(tm_get(top, "total_ps")), tm_int(tm_path(all->summary, "kernels.total_ps")));
    const double limit = tm_limit_of(all, TM_LIMIT_DOMINANT_KERNEL);
    const double compute_ps = tm_double(tm_path(all->summary, "total.compute_ps"));
    const int64_t stake_ps = tm_whole(compute_ps * (share - limit) / 100);
    char name[TM_SHORT_NAME_BYTES], pct[TM_FORMAT_BYTES];
    struct tm_finding *f;

    if (!tm_is_worth_mention(all, stake_ps) || tm_length(tm_path(all->summary, "kernels.by_name")) < 2)
        return;
    f = tm_finding_of_fact(all, "kernel_dominant"); /* the recoverable part is unknown */
    if (is_gpu(all))
        tm_finding_case(f, "kernels");
    tm_finding_argument(f, "share", "%s", tm_format_pct(pct, share));
    tm_finding_argument(f, "name", "%s", tm_row_name(name, top, "name"));
    tm_finding_value(f, share, "%");
    tm_finding_limit(f, limit);
    emit_dominant_kernel(all, f, top);
    give_work(f, row_of_name(all, tm_text(tm_get(top, "name"))));
}

/* --- far below the roofline --- */

static void emit_far(struct tm_finding *f, const struct tm_value *op)
{
    const char *source = tm_text(tm_get(op, "source")), *path = tm_text(tm_get(op, "op"));
    char place[PLACE_BYTES];

    tm_finding_emit_with(f, "op", op, tm_given_text("place", place_name(place, *source ? source : path)));
}

/* Is this row of ops.rows or roofline.far part of the dominant operation, which has a finding already?
 * in:     dominant  a row of ops.rows or ops.families; NULL = none */
static bool is_dominant(const struct tm_findings *all, const struct tm_value *dominant, const struct tm_value *op)
{
    const struct tm_value *place = tm_get(op, "family");

    if (dominant && !tm_get(dominant, "members")) /* a row of ops.rows */
        return strcmp(tm_text(tm_get(dominant, "name")), tm_text(tm_get(op, "name"))) == 0 &&
               strcmp(tm_text(tm_get(dominant, "module")), tm_text(tm_get(op, "module"))) == 0;
    return dominant && tm_has(place) && tm_int(place) >= 0 &&
           tm_at(tm_path(all->summary, "ops.families"), (size_t)tm_int(place)) == dominant;
}

/* The limit that an operation is closer to, whether or not it reaches it. */
static const char *roof_of(const struct tm_value *op)
{
    return tm_text(tm_get(op, tm_has(tm_get(op, "roof")) ? "roof" : "bound"));
}

/* Leaves out the dominant operation, whose finding has its distance from the roofline. */
static void find_far(struct tm_findings *all, const char *id, bool is_memory, const struct tm_value *dominant)
{
    const char *roof = is_memory ? "memory" : "compute";
    const struct tm_value *rows = tm_path(all->summary, "roofline.far");
    const struct tm_value *found[LISTED_OPS] = { NULL };
    int64_t stake_ps = 0;
    size_t count = 0;
    struct tm_finding *f;

    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *op = tm_at(rows, i);

        if (!is_far(all, op) || is_dominant(all, dominant, op) || strcmp(roof_of(op), roof) != 0)
            continue;
        stake_ps = tm_sum_times(stake_ps, within_reach(all, op));
        if (count < LISTED_OPS)
            found[count] = op;
        count++;
    }
    if (!tm_is_worth_mention(all, stake_ps))
        return;
    f = tm_finding_of_time(all, id, stake_ps);
    tm_finding_value(f, tm_double(tm_get(found[0], "roof_pct")), "%");
    tm_finding_limit(f, tm_limit_of(all, TM_LIMIT_ROOF_FAR));
    tm_finding_emit_with(f, "far", NULL, tm_given_int("far_ops", (int64_t)count), tm_given_int("stake_ps", stake_ps),
                         tm_given_text("one", count == 1 ? "yes" : "no"));
    for (size_t i = 0; i < LISTED_OPS && found[i]; i++) {
        emit_far(f, found[i]);
        show_first(f, found[i]);
    }
    if (!is_memory && is_wide(found[0]))
        tm_finding_case(f, "wide");
}

/* --- low intensity --- */

/* Time of memory-bound operations close to the peak bandwidth: only fewer bytes would make them faster. */
static int64_t limited_by_memory(const struct tm_findings *all)
{
    const struct tm_value *rows = tm_path(all->summary, "ops.rows");
    const double reach = tm_limit_of(all, TM_LIMIT_ROOF_REACH) / 2;
    int64_t sum_ps = 0;

    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *op = tm_at(rows, i);

        if (strcmp(tm_text(tm_get(op, "bound")), "memory") == 0 && tm_double(tm_get(op, "roof_pct")) >= reach)
            sum_ps = tm_sum_times(sum_ps, self_of(op));
    }
    return sum_ps;
}

static void find_low_intensity(struct tm_findings *all)
{
    const struct tm_value *roofline = tm_get(all->summary, "roofline"), *device = tm_path(roofline, "devices[0]");
    const int64_t compute_ps = tm_int(tm_get(roofline, "compute_ps")), memory_ps = limited_by_memory(all);
    const double share = tm_share_pct(memory_ps, compute_ps), bytes = tm_double(tm_get(roofline, "bytes"));
    const double bandwidth = tm_double(tm_get(device, "peak_bandwidth"));
    char done[TM_FORMAT_BYTES], balanced[TM_FORMAT_BYTES];
    struct tm_finding *f;

    if (compute_ps <= 0 || share < tm_limit_of(all, TM_LIMIT_MEMORY_BOUND) || !(bytes > 0) || !(bandwidth > 0) ||
        tm_share_pct(memory_ps, all->window_ps) < tm_limit_of(all, TM_LIMIT_CRITICAL_SHARE)) /* bound by other limits */
        return;
    f = tm_finding_of_fact(all, "low_intensity"); /* how many of the bytes are necessary is unknown */
    tm_finding_value(f, share, "%");
    tm_finding_limit(f, tm_limit_of(all, TM_LIMIT_MEMORY_BOUND));
    tm_finding_emit_with(f, "all", NULL, tm_given_int("memory_ps", memory_ps));
    (void)snprintf(done, sizeof(done), "%.3g", tm_double(tm_get(roofline, "flops")) / bytes);
    (void)snprintf(balanced, sizeof(balanced), "%.3g", tm_double(tm_get(device, "peak_flops")) / bandwidth);
    if (tm_has(tm_get(roofline, "flops")) && tm_has(tm_get(device, "peak_flops")))
        tm_finding_emit_with(f, "intensity", device, tm_given_text("done", done), tm_given_text("balanced", balanced));
    show_first(f, top_op(tm_path(all->summary, "ops.rows"), false));
}

enum { LAYERS_LEAST = 4, LAYERS_MOST = 256, NAMED_LAYERS = 4 };

/* --- a layer that is slower than its peers --- */

/* The layers of one family, which are consecutive in the summary. */
struct layers {
    const struct tm_value *rows;
    size_t first, count;
    int64_t median_ps;
    const struct tm_value *dominant; /* what another finding is about; NULL = none */
};

static int64_t time_of(const struct layers *l, size_t i)
{
    const int64_t ps = tm_int(tm_get(tm_at(l->rows, l->first + i), "total_ps"));

    return ps < 0 ? 0 : ps;
}

static int ascending(const void *a, const void *b)
{
    const int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;

    return (one > other) - (one < other);
}

static void find_median(struct layers *l)
{
    int64_t sorted[LAYERS_MOST] = { 0 };

    for (size_t i = 0; i < l->count; i++) {
        const int64_t ps = time_of(l, i);

        (void)tm_sorted_keep(sorted, i, LAYERS_MOST, sizeof(ps), &ps, ascending);
    }
    l->median_ps = sorted[l->count / 2];
}

/* How far a layer is above the median, in percent of the median. */
static double excess_pct(const struct layers *l, size_t i)
{
    return 100 * (double)(time_of(l, i) - l->median_ps) / (double)l->median_ps;
}

/* Are the layers comparable?  At least three quarters of them have to take about the same time. */
static bool are_alike(const struct layers *l, double limit_pct)
{
    size_t alike = 0;

    for (size_t i = 0; i < l->count; i++)
        alike += excess_pct(l, i) <= limit_pct / 2 && excess_pct(l, i) >= -limit_pct / 2;
    return 4 * alike >= 3 * l->count;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Does a framework path contain a layer?  Its name has to be between non-word characters. */
static bool is_in_layer(const char *path, const char *layer)
{
    const size_t length = strlen(layer);

    if (length == 0)
        return false;
    for (const char *at = strstr(path, layer); at; at = strstr(at + 1, layer))
        if ((at == path || !is_word(at[-1])) && !is_word(at[length]))
            return true;
    return false;
}

/* The part of a layer's time that the finding on the dominant operation claims. */
static int64_t claimed_of(const struct tm_findings *all, const struct layers *l, size_t i)
{
    const char *layer = tm_text(tm_get(tm_at(l->rows, l->first + i), "layer"));
    const struct tm_value *ops = tm_path(all->summary, "ops.rows");
    int64_t sum_ps = 0;

    for (size_t k = 0; l->dominant && k < tm_length(ops); k++) {
        const struct tm_value *op = tm_at(ops, k);

        if (is_dominant(all, l->dominant, op) && is_in_layer(tm_text(tm_get(op, "op")), layer))
            sum_ps = tm_sum_times(sum_ps, tm_int(tm_get(op, "self_ps")));
    }
    return sum_ps;
}

/* The first and the last layer get twice the limit: compilers fuse embeddings and the start of the backward pass into
 * them. */
static double limit_of(const struct layers *l, size_t i, double limit_pct)
{
    return i == 0 || i + 1 == l->count ? 2 * limit_pct : limit_pct;
}

/* Time beyond the median of the layers over the limit, without what another finding claims. */
static int64_t lost_ps(const struct tm_findings *all, const struct layers *l, double limit_pct, size_t *slow)
{
    int64_t lost = 0;

    *slow = 0;
    for (size_t i = 0; i < l->count; i++) {
        const int64_t excess_ps = time_of(l, i) - l->median_ps, claimed_ps = claimed_of(all, l, i);

        if (excess_pct(l, i) <= limit_of(l, i, limit_pct) || excess_ps <= claimed_ps)
            continue;
        ++*slow;
        lost = tm_sum_times(lost, excess_ps - claimed_ps);
    }
    return lost;
}

static void emit_slow_layers(struct tm_finding *f, const struct layers *l, double limit_pct)
{
    int named = 0;

    tm_finding_emit_with(f, "median", tm_at(l->rows, l->first), tm_given_int("layers", (int64_t)l->count),
                         tm_given_int("median_ps", l->median_ps));
    for (size_t i = 0; i < l->count && named < NAMED_LAYERS; i++) {
        const struct tm_value *row = tm_at(l->rows, l->first + i);

        if (excess_pct(l, i) <= limit_of(l, i, limit_pct))
            continue;
        named++;
        tm_finding_emit_with(f, "layer", row, tm_given_int("layer_ps", time_of(l, i)));
    }
}

static void find_slow_layers(struct tm_findings *all, struct layers *l)
{
    const double limit_pct = tm_limit_of(all, TM_LIMIT_SLOW_LAYER);
    struct tm_finding *f;
    size_t slow;
    int64_t stake_ps;

    if (l->count < LAYERS_LEAST)
        return;
    find_median(l);
    if (l->median_ps <= 0 || !are_alike(l, limit_pct))
        return;
    stake_ps = lost_ps(all, l, limit_pct, &slow);
    if (!slow || !tm_is_worth_mention(all, stake_ps))
        return;
    f = tm_finding_of_time(all, "layer_slow", stake_ps);
    if (slow == 1)
        tm_finding_case(f, "one");
    emit_slow_layers(f, l, limit_pct);
}

static void find_layers(struct tm_findings *all, const struct tm_value *rows, const struct tm_value *dominant)
{
    struct layers l = { .rows = rows, .dominant = dominant };
    const size_t n = tm_length(rows);

    for (size_t i = 0; i < n; i = l.first + l.count) {
        const char *family = tm_text(tm_get(tm_at(rows, i), "family"));

        l.first = i;
        for (l.count = 1; i + l.count < n && l.count < LAYERS_MOST; l.count++)
            if (strcmp(family, tm_text(tm_get(tm_at(rows, i + l.count), "family"))) != 0)
                break;
        find_slow_layers(all, &l);
    }
}

/* --- recomputation --- */

/* Peak use of the fullest memory, in percent; below 0 = not known. */
static double memory_peak_pct(const struct tm_value *summary)
{
    const struct tm_value *allocators = tm_path(summary, "memory.allocators");
    double most = -1;

    for (size_t i = 0; i < tm_length(allocators); i++) {
        const struct tm_value *pct = tm_get(tm_at(allocators, i), "peak_pct");

        if (tm_has(pct) && tm_double(pct) > most)
            most = tm_double(pct);
    }
    return most;
}

static void find_recomputed(struct tm_findings *all, const struct tm_value *scopes)
{
    const struct tm_threshold *memory = &all->thresholds->kpi[TM_KPI_PEAK_MEMORY];
    const int64_t ps = tm_int(tm_path(scopes, "recomputed.self_ps"));
    const double peak_pct = memory_peak_pct(all->summary);
    struct tm_finding *f;

    if (!tm_is_worth_mention(all, ps) || !memory->has_bands || peak_pct >= memory->good)
        return;
    if (peak_pct < 0)
        f = tm_finding_of_fact(all, "recomputed");
    else
        f = tm_finding_of_time(all, "recomputed", ps);
    tm_finding_emit_with(f, "all", NULL,
                         tm_given_double("share_pct", tm_share_pct(ps, tm_int(tm_path(scopes, "passes.backward")))));
    if (peak_pct < 0)
        tm_finding_emit(f, "unknown_peak", NULL);
    else
        tm_finding_emit_with(f, "peak", NULL, tm_given_double("peak_pct", peak_pct));
}

/* --- the same on several devices --- */

static void find_repeated_compute(struct tm_findings *all)
{
    const struct tm_value *sharding = tm_get(all->summary, "sharding"), *ops = tm_get(sharding, "ops");
    const int64_t ps = tm_int(tm_get(sharding, "repeated_ps"));
    struct tm_finding *f;

    if (!tm_is_worth_mention(all, ps))
        return;
    f = tm_finding_of_time(all, "compute_repeated", ps);
    tm_finding_emit(f, "all", NULL);
    for (size_t i = 0; i < tm_length(ops) && i < LISTED_OPS; i++) /* sorted by repeated time */
        if (tm_int(tm_get(tm_at(ops, i), "repeated_ps")) > 0)
            tm_finding_emit(f, "op", tm_at(ops, i));
}

void tm_find_ops(struct tm_findings *all)
{
    const struct tm_value *scopes = tm_get(all->summary, "scopes"), *dominant = NULL;

    if (strcmp(tm_text(tm_path(all->summary, "ops.basis")), "hlo_op") == 0)
        dominant = find_dominant_op(all);
    else
        find_dominant_kernel(all);
    find_far(all, "op_memory_far", true, dominant);
    find_far(all, "op_compute_far", false, dominant);
    find_low_intensity(all);
    find_layers(all, tm_get(scopes, "layers"), dominant);
    find_recomputed(all, scopes);
    find_repeated_compute(all);
}
