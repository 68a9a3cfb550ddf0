/* SPDX-License-Identifier: Apache-2.0 */
/* The section compile: the outermost compiles of the best sort of names that the run has. */
#include <stdlib.h>
#include <string.h>

#include "pipeline/groups.h"
#include "pipeline/sorter.h"
#include "stages/diagnose/compile/compile_private.h"

enum { LISTED_COMPILES = 500, MODULE_BYTES = 512 };

static const char *const sort_name[SORT_COUNT] = { "backend_compile", "client", "xla" };

/* How often a module was compiled. */
struct module_row {
    struct tm_key key;
    uint64_t count;
    tm_strid module;
};

/* A row's place among the longest compiles, or a module's among the most compiled ones. */
struct place {
    int64_t most;
    uint64_t row;
    tm_strid module;
};

/* A union of stretches that come in the order of their begins, host by host. */
struct cover {
    int64_t total_ps, until_ps;
    uint32_t host;
    bool has_begun;
};

static void cover_add(struct cover *cover, const struct compile *compile)
{
    const int64_t end_ps = compile->begin_ps + compile->dur_ps;
    int64_t begin_ps = compile->begin_ps;

    if (cover->has_begun && cover->host == compile->host && begin_ps < cover->until_ps)
        begin_ps = cover->until_ps;
    if (end_ps <= begin_ps)
        return;
    cover->total_ps += end_ps - begin_ps;
    cover->until_ps = end_ps;
    cover->host = compile->host;
    cover->has_begun = true;
}

struct totals {
    uint64_t count, inside_count;
    struct cover all, inside;
    int64_t longest_ps;
};

static void add_module_row(void *into, const void *from)
{
    ((struct module_row *)into)->count += ((const struct module_row *)from)->count;
}

static tm_status count_module(struct compiles *c, struct tm_groups *modules, tm_strid module)
{
    struct module_row row = { .count = 1, .module = module };
    struct tm_name info;
    tm_status st = tm_names_info(c->names, module, &info);

    row.key = info.hash;
    return st == TM_OK ? tm_groups_add(modules, &row) : st;
}

/* One look at all compiles of the sort that counts. */
static tm_status add_up(struct compiles *c, enum sort sort, struct totals *t, struct tm_groups *modules,
                        struct tm_sorter *longest)
{
    tm_status st = TM_OK;

    for (uint64_t i = 0; i < tm_rows_count(c->rows) && st == TM_OK; i++) {
        const struct compile *compile = tm_rows_at(c->rows, i);
        struct place place = { .row = i };

        if (!compile)
            return c->run->error.status;
        if (compile->sort != sort)
            continue;
        t->count++;
        cover_add(&t->all, compile);
        if (compile->in_chosen) {
            t->inside_count++;
            cover_add(&t->inside, compile);
        }
        place.most = compile->dur_ps;
        if (compile->dur_ps > t->longest_ps)
            t->longest_ps = compile->dur_ps;
        if (compile->module)
            st = count_module(c, modules, compile->module);
        if (st == TM_OK)
            st = tm_sorter_push(longest, &place);
    }
    if (st == TM_OK)
        st = tm_groups_finish(modules);
    return st == TM_OK ? tm_sorter_finish(longest) : st;
}

/* The name of a program or of the function in "PjitFunction(NAME)". */
static tm_status add_module(struct compiles *c, struct tm_value *to, tm_strid module)
{
    const char *text;
    size_t length;
    tm_status st;

    if (!module) {
        tm_add_null(to, "module", "no call of a jitted function was recorded around it");
        return TM_OK;
    }
    st = tm_names_text(c->names, module, MODULE_BYTES, &text, &length);
    if (st != TM_OK)
        return st;
    if (length > 13 && (!memcmp(text, "PjitFunction(", 13) || !memcmp(text, "PmapFunction(", 13))) {
        text += 13;
        length -= 13;
        if (text[length - 1] == ')')
            length--;
    }
    tm_add_text(to, "module", text, length);
    return TM_OK;
}

static int most_first(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->most != y->most)
        return x->most > y->most ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Modules that were compiled twice or more, the most compiled ones first. */
static tm_status add_recompiled(struct compiles *c, struct tm_groups *modules, struct tm_value *section)
{
    const size_t share = tm_budget_share(&c->run->budget, TM_ACCOUNT_SORT);
    struct tm_sorter *sorter = tm_sorter_new(c->run, TM_ACCOUNT_SORT, sizeof(struct place), share / 32, most_first);
    struct tm_value *list = tm_add_array(section, "recompiled");
    tm_status st = sorter ? TM_OK : c->run->error.status;

    for (uint64_t i = 0; st == TM_OK; i++) {
        const void *row;
        struct place place = { .row = i };

        st = tm_groups_next(modules, &row);
        if (st != TM_OK || !row)
            break;
        place.most = (int64_t)((const struct module_row *)row)->count;
        place.module = ((const struct module_row *)row)->module;
        if (place.most > 1)
            st = tm_sorter_push(sorter, &place);
    }
    if (st == TM_OK)
        st = tm_sorter_finish(sorter);
    for (uint64_t i = 0; i < c->settings->table_rows && st == TM_OK; i++) {
        struct tm_value *to;
        const void *row;

        st = tm_sorter_next(sorter, &row);
        if (st != TM_OK || !row)
            break;
        to = tm_add_object(list, NULL);
        st = add_module(c, to, ((const struct place *)row)->module);
        tm_add_int(to, "count", ((const struct place *)row)->most);
    }
    tm_sorter_free(sorter);
    return st;
}

static tm_status add_event(struct compiles *c, uint64_t at, struct tm_value *list)
{
    const struct compile *row = tm_rows_at(c->rows, at);
    const struct host_name *host;
    struct tm_value *to;
    struct compile compile;
    tm_status st;

    if (!row)
        return c->run->error.status;
    compile = *row;
    host = tm_rows_at(c->hosts, compile.host);
    if (!host)
        return c->run->error.status;
    to = tm_add_object(list, NULL);
    st = add_module(c, to, compile.module);
    tm_add_string(to, "host", host->text);
    tm_add_int(to, "begin_ps", compile.begin_ps);
    tm_add_int(to, "dur_ps", compile.dur_ps);
    if (compile.has_step)
        tm_add_int(to, "step", compile.step_number);
    else
        tm_add_null(to, "step", "it begins in no step of the host");
    if (st == TM_OK && compile.shapes)
        return tm_compiled_add_shapes(c->names, compile.shapes, to);
    tm_add_null(to, "shapes",
                tm_compiled_count(c->programs) ? "nothing tells which of the programs in the profile it made"
                                               : "the HLO is not in the profile");
    return st;
}

static tm_status set_shapes(void *to, uint64_t row, tm_strid shapes)
{
    struct compiles *c = to;
    struct compile *compile = tm_rows_change(c->rows, row);

    if (!compile)
        return c->run->error.status;
    compile->shapes = shapes;
    return TM_OK;
}

/* Find the programs that the compiles of the sort that counts made. */
static tm_status find_programs(struct compiles *c, enum sort sort)
{
    const size_t share = tm_budget_share(&c->run->budget, TM_ACCOUNT_SORT);
    struct tm_rows *made = tm_rows_new(c->run, TM_ACCOUNT_SORT, sizeof(struct tm_made), share / 64);
    tm_status st = made ? TM_OK : c->run->error.status;

    for (uint64_t i = 0; i < tm_rows_count(c->rows) && st == TM_OK; i++) {
        const struct compile *compile = tm_rows_at(c->rows, i);
        struct tm_made row = { .row = i };

        if (!compile) {
            st = c->run->error.status;
            break;
        }
        row.begin_ps = compile->begin_ps;
        row.module = compile->module;
        row.host = compile->host;
        if (compile->sort == sort && compile->module)
            st = tm_rows_append(made, &row);
    }
    if (st == TM_OK)
        st = tm_compiled_match(c->programs, c->names, made, set_shapes, c);
    tm_rows_free(made);
    return st;
}

static int by_row(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* The longest ones: host by host, in the order of time. */
static tm_status add_events(struct compiles *c, struct tm_sorter *longest, struct tm_value *section)
{
    struct tm_value *list = tm_add_array(section, "events");
    uint64_t rows[LISTED_COMPILES];
    size_t count = 0;
    tm_status st = TM_OK;

    while (count < LISTED_COMPILES && st == TM_OK) {
        const void *row;

        st = tm_sorter_next(longest, &row);
        if (st != TM_OK || !row)
            break;
        rows[count++] = ((const struct place *)row)->row;
    }
    qsort(rows, count, sizeof(*rows), by_row);
    for (size_t i = 0; i < count && st == TM_OK; i++)
        st = add_event(c, rows[i], list);
    return st;
}

static void add_totals(const struct compiles *c, const struct totals *t, enum sort sort, struct tm_value *section)
{
    struct tm_value *inside;

    tm_add_uint(section, "count", t->count);
    tm_add_int(section, "total_ps", t->all.total_ps);
    if (t->count)
        tm_add_int(section, "longest_ps", t->longest_ps);
    else
        tm_add_null(section, "longest_ps", "nothing was compiled");
    inside = tm_add_object(section, "inside_steps");
    if (c->has_host_steps) {
        tm_add_uint(inside, "count", t->inside_count);
        tm_add_int(inside, "total_ps", t->inside.total_ps);
    } else {
        tm_add_null(inside, "count", "no steps are marked on the host");
        tm_add_null(inside, "total_ps", "no steps are marked on the host");
    }
    if (t->count)
        tm_add_string(section, "source", sort_name[sort]);
    else
        tm_add_null(section, "source", "nothing was compiled");
}

/* NULL where compiles would show; profiles of JAX alone have them. */
static const char *why_nothing(const struct compiles *c)
{
    if (c->origins == 1u << TM_ORIGIN_PYTORCH)
        return "the profiler of PyTorch does not record compiles";
    if (c->origins && !(c->origins & (1u << TM_ORIGIN_XSPACE | 1u << TM_ORIGIN_JSON_COPY)))
        return "the trace has no events of a compiler that are known";
    return c->has_host_events ? NULL : "no host events were recorded";
}

tm_status tm_compile_report(struct tm_stage *s, struct tm_value *summary)
{
    struct compiles *c = s->state;
    const size_t share = tm_budget_share(&s->run->budget, TM_ACCOUNT_SORT);
    const enum sort sort = c->found[SORT_WHOLE] ? SORT_WHOLE : c->found[SORT_CLIENT] ? SORT_CLIENT : SORT_XLA;
    struct totals totals = { .count = 0 };
    struct tm_groups *modules;
    struct tm_sorter *longest;
    struct tm_value *section;
    tm_status st;

    if (why_nothing(c)) {
        tm_add_null(summary, "compile", why_nothing(c));
        return TM_OK;
    }
    section = tm_add_object(summary, "compile");
    modules = tm_groups_new(s->run, TM_ACCOUNT_SORT, sizeof(struct module_row), share / 16, add_module_row);
    longest = tm_sorter_new(s->run, TM_ACCOUNT_SORT, sizeof(struct place), share / 16, most_first);
    st = modules && longest ? add_up(c, sort, &totals, modules, longest) : s->run->error.status;
    add_totals(c, &totals, sort, section);
    if (st == TM_OK)
        st = add_recompiled(c, modules, section);
    if (st == TM_OK)
        st = find_programs(c, sort);
    if (st == TM_OK)
        st = add_events(c, longest, section);
    if (st == TM_OK)
        st = tm_compiled_add_list(c->programs, c->names, c->settings->table_rows, section);
    tm_groups_free(modules);
    tm_sorter_free(longest);
    return st;
}
