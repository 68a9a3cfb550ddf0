/* SPDX-License-Identifier: Apache-2.0 */
/* Where in the program time goes (summary.scopes): a layer that takes longer than its equals, and what is computed a
 * second time for the backward pass though memory has room. */
#include <ctype.h>
#include <string.h>

#include "pipeline/bounded_sum.h"
#include "reports/findings/finding.h"

enum { LAYERS_LEAST = 4, LAYERS_MOST = 256, NAMED_LAYERS = 4 };

/* --- a layer that is slower than its equals --- */

/* The layers of one family, which stand one after the other in the summary. */
struct layers {
    const struct tm_value *rows;
    size_t first, count;
    int64_t median_ps;
};

static int64_t time_of(const struct layers *l, size_t i)
{
    const int64_t ps = tm_int(tm_get(tm_at(l->rows, l->first + i), "total_ps"));

    return ps < 0 ? 0 : ps;
}

static void find_median(struct layers *l)
{
    int64_t sorted[LAYERS_MOST] = { 0 };

    for (size_t i = 0; i < l->count; i++) {
        const int64_t ps = time_of(l, i);
        size_t at = i;

        for (; at > 0 && sorted[at - 1] > ps; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = ps;
    }
    l->median_ps = sorted[l->count / 2];
}

/* By how much a layer is above the median, in percent of it. */
static double excess_pct(const struct layers *l, size_t i)
{
    return 100 * (double)(time_of(l, i) - l->median_ps) / (double)l->median_ps;
}

/* Layers of different sizes are no equals: of those that are, three quarters take about the same. */
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

/* Does a framework path go through a layer?  The name stands between signs that no name has. */
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

/* What of a layer's time the finding on the dominant operation is about. */
static int64_t told_of(const struct tm_findings *all, const struct layers *l, size_t i)
{
    const char *layer = tm_text(tm_get(tm_at(l->rows, l->first + i), "layer"));
    const struct tm_value *ops = tm_path(all->summary, "ops.rows");
    int64_t sum_ps = 0;

    for (size_t k = 0; all->dominant_op && k < tm_length(ops); k++) {
        const struct tm_value *op = tm_at(ops, k);

        if (tm_op_is_dominant(all, op) && is_in_layer(tm_text(tm_get(op, "op")), layer))
            sum_ps = tm_sum_times(sum_ps, tm_int(tm_get(op, "self_ps")));
    }
    return sum_ps;
}

/* The first and the last layer also hold what compilers fuse into them from outside: embeddings, the begin of the
 * backward pass. */
static double limit_of(const struct layers *l, size_t i, double limit_pct)
{
    return i == 0 || i + 1 == l->count ? 2 * limit_pct : limit_pct;
}

/* Time beyond the median of the layers that pass the limit, but for what another finding tells. */
static int64_t lost_ps(const struct tm_findings *all, const struct layers *l, double limit_pct, size_t *slow)
{
    int64_t lost = 0;

    *slow = 0;
    for (size_t i = 0; i < l->count; i++) {
        const int64_t excess_ps = time_of(l, i) - l->median_ps, told_ps = told_of(all, l, i);

        if (excess_pct(l, i) <= limit_of(l, i, limit_pct) || excess_ps <= told_ps)
            continue;
        ++*slow;
        lost = tm_sum_times(lost, excess_ps - told_ps);
    }
    return lost;
}

static void say_slow_layers(struct tm_finding *f, const struct layers *l, double limit_pct)
{
    char name[TM_SHORT_NAME_BYTES], a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES], c[TM_FORMAT_BYTES], d[TM_FORMAT_BYTES];
    int named = 0;

    tm_finding_say(f, "The median of the %zu layers '%s#' takes %s.", l->count,
                   tm_short_name(name, tm_text(tm_get(tm_at(l->rows, l->first), "family"))),
                   tm_format_time(a, l->median_ps));
    for (size_t i = 0; i < l->count && named < NAMED_LAYERS; i++) {
        const struct tm_value *row = tm_at(l->rows, l->first + i);

        if (excess_pct(l, i) <= limit_of(l, i, limit_pct))
            continue;
        named++;
        tm_finding_say(f, "'%s' takes %s (forward %s, backward %s) in %s activities.",
                       tm_short_name(name, tm_text(tm_get(row, "path"))), tm_format_time(a, time_of(l, i)),
                       tm_format_time(b, tm_int(tm_get(row, "forward_ps"))),
                       tm_format_time(c, tm_int(tm_get(row, "backward_ps"))),
                       tm_format_count(d, tm_int(tm_get(row, "count"))));
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
    say_slow_layers(f, l, limit_pct);
}

static void find_layers(struct tm_findings *all, const struct tm_value *rows)
{
    struct layers l = { .rows = rows };
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

/* The fullest memory, in percent; below 0 = not known. */
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
    char a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES], c[TM_FORMAT_BYTES];
    struct tm_finding *f;

    if (!tm_is_worth_mention(all, ps) || !memory->has_bands || peak_pct >= memory->good)
        return;
    if (peak_pct < 0)
        f = tm_finding_of_fact(all, "recomputed", TM_INFO);
    else
        f = tm_finding_of_time(all, "recomputed", ps);
    tm_finding_say(f, "%s repeated operations take %s, %s of the backward pass.",
                   tm_format_count(a, tm_int(tm_path(scopes, "recomputed.count"))), tm_format_time(b, ps),
                   tm_format_pct(c, tm_share_pct(ps, tm_int(tm_path(scopes, "passes.backward")))));
    if (peak_pct < 0)
        tm_finding_say(f, "Whether memory has room for the values is not known: the profile does not tell how much is "
                          "in use.");
    else
        tm_finding_say(f, "The fullest memory is used up to %s.", tm_format_pct(a, peak_pct));
}

void tm_find_scopes(struct tm_findings *all)
{
    const struct tm_value *scopes = tm_get(all->summary, "scopes");

    find_layers(all, tm_get(scopes, "layers"));
    find_recomputed(all, scopes);
}
