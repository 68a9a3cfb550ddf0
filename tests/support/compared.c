/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/compared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/summary_json.h"
#include "tests/support/test_run.h"

void test_compared_init(struct test_compared *t)
{
    memset(t, 0, sizeof(*t));
    test_run_init(&t->run);
}

void test_compared_free(struct test_compared *t)
{
    for (size_t i = 0; i < t->count; i++)
        tm_doc_free(t->input[i]);
    tm_doc_free(t->doc);
    assert_ledger_is_even(&t->run);
}

static int64_t jitter(const struct test_steps *s, int step)
{
    return s->jitter_ps * ((step * 7 + 5) % 11 - 5);
}

static int64_t compile_ps(const struct test_steps *s, int step)
{
    return s->compiling == 0 || step < s->compiling ? s->compile_ps : 0;
}

static void put_parts(struct tm_value *to, const struct test_steps *s, int64_t times, int64_t all_compile_ps,
                      int64_t more_ps)
{
    struct tm_value *copies, *idle;

    tm_add_int(to, "compute_ps", s->compute_ps * times + more_ps);
    tm_add_int(to, "exposed_collective_ps", s->collective_ps * times);
    copies = tm_add_object(to, "exposed_copy_ps");
    tm_add_int(copies, "h2d", s->h2d_ps * times);
    for (size_t i = 0; i < 4; i++)
        tm_add_int(copies, (const char *[]){ "d2h", "p2p", "d2d", "other" }[i], 0);
    idle = tm_add_object(to, "idle_ps");
    tm_add_int(idle, "device_wait", s->wait_ps * times);
    tm_add_int(idle, "compile", all_compile_ps);
    tm_add_int(idle, "host", s->host_ps * times);
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

void test_put_steps(struct tm_value *summary, const struct test_steps *s)
{
    const int64_t rest_ps = s->collective_ps + s->h2d_ps + s->wait_ps + s->host_ps;
    struct tm_value *steps = tm_member(summary, "steps"), *samples, *list, *parts, *total = tm_member(summary, "total");
    int64_t sorted[64], sum_ps = 0, more_ps = 0, all_compile_ps = 0;

    assert_true(s->count > 0 && s->count <= 64);
    tm_add_int(steps, "chosen", s->count);
    tm_add_int(steps, "samples", s->count);
    samples = tm_add_array(steps, "samples_ps");
    list = tm_add_array(steps, "list");
    for (int i = 0; i < s->count; i++) {
        struct tm_value *step = tm_add_object(list, NULL);

        sorted[i] = s->compute_ps + rest_ps + compile_ps(s, i) + jitter(s, i);
        sum_ps += sorted[i];
        more_ps += jitter(s, i);
        all_compile_ps += compile_ps(s, i);
        tm_add_int(samples, NULL, sorted[i]);
        tm_add_int(step, "number", i);
        tm_add_int(step, "period_ps", sorted[i]);
        put_parts(step, s, 1, compile_ps(s, i), jitter(s, i));
        tm_add_bool(step, "compile", compile_ps(s, i) > 0);
        tm_add_bool(step, "chosen", true);
    }
    qsort(sorted, (size_t)s->count, sizeof(sorted[0]), by_value);
    tm_add_int(steps, "mean_ps", sum_ps / s->count);
    tm_add_int(steps, "median_ps", (sorted[s->count / 2] + sorted[(s->count - 1) / 2]) / 2);
    tm_add_int(steps, "min_ps", sorted[0]);
    tm_add_int(steps, "max_ps", sorted[s->count - 1]);
    parts = tm_add_object(steps, "parts");
    put_parts(parts, s, 2 * s->count, 2 * all_compile_ps, 2 * more_ps);
    tm_add_int(parts, "total_ps", 2 * sum_ps);
    tm_add_int(total, "compute_ps", 2 * (s->compute_ps * s->count + more_ps));
    tm_add_int(total, "exposed_collective_ps", 2 * s->collective_ps * s->count);
    tm_add_int(total, "exposed_copy_ps", 2 * s->h2d_ps * s->count);
    tm_add_int(total, "idle_ps", 2 * ((s->wait_ps + s->host_ps) * s->count + all_compile_ps));
    for (size_t d = 0; d < 2; d++) {
        struct tm_value *device = tm_element(tm_member(summary, "devices"), d), *busy;

        tm_add_int(device, "compute_ps", s->compute_ps * s->count + more_ps);
        tm_add_int(device, "busy_ps", (s->compute_ps + s->collective_ps + s->h2d_ps) * s->count + more_ps);
        busy = tm_add_array(tm_add_object(device, "steps"), "busy_ps");
        for (int i = 0; i < s->count; i++)
            tm_add_int(busy, NULL, s->compute_ps + s->collective_ps + s->h2d_ps + jitter(s, i));
    }
}

struct tm_value *test_add_run(struct test_compared *t, const char *label, const struct test_steps *steps,
                              const char *patch)
{
    const size_t number = t->count;
    struct tm_value *summary, *file;
    char hash[17];

    assert_true(number < TEST_RUNS_MOST);
    t->input[t->count++] = tm_doc_new(&t->run);
    assert_non_null(t->input[number]);
    summary = tm_doc_root(t->input[number]);
    test_summary_load_changed(summary, test_healthy_summary, patch ? patch : "{}");
    if (steps)
        test_put_steps(summary, steps);
    (void)snprintf(hash, sizeof(hash), "%016zx", number + 1);
    file = tm_element(tm_member(tm_member(summary, "input"), "files"), 0);
    tm_add_string(file, "xxh3", hash);
    t->runs[number] = (struct tm_compared_run){ .summary = summary, .path = label ? label : "more", .measured_ps = -1 };
    if (label)
        t->side[t->sides++] = (struct tm_comparison_side){ .label = label, .run = &t->runs[number] };
    t->side[t->sides - 1].runs++;
    return summary;
}

tm_status test_compare(struct test_compared *t)
{
    const struct tm_spread spread[] = { { "steps.median_ps", t->run_spread_pct },
                                        { "steps.mean_ps",
                                          t->mean_spread_pct > 0 ? t->mean_spread_pct : t->run_spread_pct } };
    const struct tm_compare_options options = {
        .rows = 100, .spread = spread, .spreads = t->run_spread_pct > 0 ? 2 : 0, .run_spread_from = "--run-spread"
    };
    tm_status st;

    t->doc = tm_doc_new(&t->run);
    if (!t->doc)
        return t->run.error.status;
    st = tm_compare(&t->run, t->doc, t->side, t->sides, &options);
    t->root = tm_doc_root(t->doc);
    return st;
}

const struct tm_value *test_at(const struct test_compared *t, const char *path)
{
    return tm_path(t->root, path);
}

static const struct tm_value *element(const struct tm_value *list, const char *key, const char *text)
{
    for (size_t i = 0; i < tm_length(list); i++) {
        if (strcmp(tm_text(tm_get(tm_at(list, i), key)), text) == 0)
            return tm_at(list, i);
    }
    return NULL;
}

const struct tm_value *test_row(const struct test_compared *t, const char *table, const char *name)
{
    return element(tm_get(tm_get(t->root, table), "rows"), "name", name);
}

const struct tm_value *test_cause(const struct test_compared *t, const char *id)
{
    return element(tm_get(t->root, "findings"), "id", id);
}
