/* SPDX-License-Identifier: Apache-2.0 */
/* Compilations.  Three kinds of names identify one; only the best kind in the run counts; that is known at the
 * end, so the outermost compiles of every kind are kept separately.  Events come by start, longer first: one is nested
 * in another exactly if that started before and ends no earlier, so only the latest end per track and kind must be
 * remembered.  Memory: rows that spill, and a fixed table of open PjitFunctions for the names of modules. */
#include "stages/figures/figure_stages.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/partial.h"
#include "pipeline/stage.h"
#include "pipeline/store/groups.h"
#include "pipeline/store/sorter.h"
#include "stages/figures/fields.h"
#include "stages/figures/figure_rows.h"
#include "stages/figures/host_threads.h"
#include "stages/resolve/classes.h"

enum { CALL_DEPTH = 32 /* calls that are open at once on one thread */ };

/* The kinds of names, the best one first. */
enum sort { SORT_WHOLE, SORT_CLIENT, SORT_XLA, SORT_COUNT };

/* A compile that is in no other one. */
struct compile {
    int64_t start_ps, dur_ps, step_number;
    uint32_t host;
    tm_strid module;
    tm_strid shapes; /* of the program that it made; 0 = not known.  Set by the report */
    uint8_t sort, has_step, in_chosen;
};

/* The programs with HLO in the profiles: the shapes for which a function was compiled.  A compile event has only the
 * name of its function; a program only its name and a sequence number.  Therefore the last program of a name belongs to
 * the last compile of that name, and so on backwards, host by host.  Both are sorted by function, host, and order of
 * creation; the sequences of one function on one host are then joined from their ends, because a program may be older
 * than the profile. */

enum {
    NAME_MOST = 512, /* bytes of a name that are examined */
    SHAPES_MOST = 16 << 10,
    SHAPES_END = 384,      /* bytes that are kept of the start and of the end of a very long text: inputs come last */
    COUNTED_ID = INT32_MAX /* ids count up from 0; those of TPU programs are hashes, and imply no order */
};

struct program {
    struct tm_key function; /* hash of program_function; set by sort_programs */
    int64_t id;
    tm_strid name, shapes;
    uint32_t host;
};

/* A compile on its way to its program. */
struct made {
    struct tm_key function;
    int64_t start_ps;
    uint64_t row;    /* of the compiles */
    tm_strid module; /* its name: "jit_step", "PjitFunction(step)" */
    uint32_t host;
};

struct programs {
    struct tm_run *run;
    size_t memory_bytes;
    struct tm_rows *rows; /* struct program */
};

static void take_programs(struct programs *programs, const struct tm_trace *trace, uint32_t host)
{
    const uint64_t count = tm_rows_count(trace->hlo_modules);

    for (uint64_t i = 0; i < count && !tm_failed(programs->run); i++) {
        const struct tm_hlo_module *module = tm_rows_at(trace->hlo_modules, i);
        const struct program row = {
            .id = module->program_id, .name = module->name, .shapes = module->shapes, .host = host
        };

        if (row.name)
            tm_rows_append(programs->rows, &row);
    }
}

static const struct tm_row_field program_fields[] = {
    TM_FIELD(struct program, id, INSTANT, KEEP),
    TM_FIELD(struct program, name, NAME, KEEP),
    TM_FIELD(struct program, shapes, NAME, KEEP),
    TM_FIELD(struct program, host, HOST, KEEP),
    TM_FIELDS_END,
};

static void save_programs(const struct programs *programs, struct tm_partial_writer *w)
{
    const uint64_t count = tm_rows_count(programs->rows);

    tm_partial_put_u64(w, count);
    tm_fields_save_rows(w, program_fields, programs->rows, 0, count);
}

static void load_programs(struct programs *programs, struct tm_partial_reader *r)
{
    tm_fields_load_rows(r, program_fields, programs->rows, tm_partial_u64(r), NULL, NULL);
}

/* --- names --- */

static bool drop_prefix(const char **name, size_t *length, const char *prefix)
{
    const size_t n = strlen(prefix);

    if (*length <= n || memcmp(*name, prefix, n) != 0)
        return false;
    *name += n;
    *length -= n;
    return true;
}

static bool is_name_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
}

/* The normalized name of a function or program: without "jit_" and "PjitFunction(", and with '_' for characters that no
 * program name has.  in: to  at least length + 1 bytes.  out: the length */
static size_t program_function(const char *name, size_t length, char *to)
{
    if (drop_prefix(&name, &length, "PjitFunction(") || drop_prefix(&name, &length, "PmapFunction("))
        length -= name[length - 1] == ')';
    if (!drop_prefix(&name, &length, "jit_"))
        (void)drop_prefix(&name, &length, "pmap_");
    for (size_t i = 0; i < length; i++)
        to[i] = is_name_letter(name[i]) ? name[i] : '_';
    to[length] = '\0';
    return length;
}

static struct tm_key hash_function(struct tm_names *names, tm_strid name)
{
    char function[NAME_MOST + 1];
    size_t length;
    const char *text = tm_names_text(names, name, NAME_MOST, &length);

    return tm_hash_key(function, program_function(text, length, function));
}

/* --- order --- */

static int by_function(struct tm_key a, uint32_t a_host, struct tm_key b, uint32_t b_host)
{
    const int difference = tm_key_order(a, b);

    return difference ? difference : (a_host > b_host) - (a_host < b_host);
}

static int program_order(const void *a, const void *b)
{
    const struct program *x = a, *y = b;
    const int difference = by_function(x->function, x->host, y->function, y->host);

    return difference ? difference : (x->id > y->id) - (x->id < y->id);
}

static int made_order(const void *a, const void *b)
{
    const struct made *x = a, *y = b;
    const int difference = by_function(x->function, x->host, y->function, y->host);

    if (difference || x->start_ps == y->start_ps)
        return difference ? difference : (x->row > y->row) - (x->row < y->row);
    return x->start_ps < y->start_ps ? -1 : 1;
}

/* The rows of a sorter as an array.  owns: the caller frees the result, NULL after a failure */
static struct tm_rows *lay_out(struct programs *p, struct tm_sorter *sorter, size_t row_bytes)
{
    struct tm_rows *rows = tm_rows_new(p->run, TM_ACCOUNT_TABLES, row_bytes, p->memory_bytes);
    const void *row;

    tm_sorter_finish(sorter);
    while (rows && (row = tm_sorter_next(sorter)))
        tm_rows_append(rows, row);
    return rows;
}

static void sort_programs(struct programs *p, struct tm_names *names)
{
    struct tm_sorter *sorter =
        tm_sorter_new(p->run, TM_ACCOUNT_TABLES, sizeof(struct program), p->memory_bytes, program_order);
    struct tm_rows *sorted;

    if (!sorter)
        return;
    for (uint64_t i = 0; i < tm_rows_count(p->rows) && !tm_failed(p->run); i++) {
        struct program program = *(const struct program *)tm_rows_at(p->rows, i);

        program.function = hash_function(names, program.name);
        tm_sorter_push(sorter, &program);
    }
    sorted = lay_out(p, sorter, sizeof(struct program));
    tm_sorter_free(sorter);
    if (!sorted)
        return;
    tm_rows_free(p->rows);
    p->rows = sorted;
}

/* Those of the kind that counts.  owns: the caller frees the result, NULL after a failure */
static struct tm_rows *sort_compiles(struct programs *p, struct tm_names *names, struct tm_rows *compiles,
                                     enum sort sort)
{
    struct tm_sorter *sorter =
        tm_sorter_new(p->run, TM_ACCOUNT_TABLES, sizeof(struct made), p->memory_bytes, made_order);
    struct tm_rows *sorted;

    if (!sorter)
        return NULL;
    for (uint64_t i = 0; i < tm_rows_count(compiles) && !tm_failed(p->run); i++) {
        const struct compile *const compile = tm_rows_at(compiles, i);
        const struct made made = {
            .function = hash_function(names, compile->module),
            .start_ps = compile->start_ps,
            .row = i,
            .module = compile->module,
            .host = compile->host,
        };

        if (compile->sort == sort && compile->module)
            tm_sorter_push(sorter, &made);
    }
    sorted = lay_out(p, sorter, sizeof(struct made));
    tm_sorter_free(sorter);
    return sorted;
}

/* The end of the stretch of one function on one host that starts at `from`; counted: whether its ids count up. */
static uint64_t end_of_programs(struct programs *p, uint64_t from, struct program *first, bool *counted)
{
    uint64_t end;

    *counted = true;
    for (end = from; end < tm_rows_count(p->rows); end++) {
        const struct program *row = tm_rows_at(p->rows, end);

        if (end == from)
            *first = *row;
        if (by_function(row->function, row->host, first->function, first->host) != 0)
            break;
        *counted = *counted && row->id >= 0 && row->id <= COUNTED_ID;
    }
    return end;
}

static uint64_t end_of_compiles(struct tm_rows *compiles, uint64_t from, struct made *first)
{
    uint64_t end;

    for (end = from; end < tm_rows_count(compiles); end++) {
        const struct made *row = tm_rows_at(compiles, end);

        if (end == from)
            *first = *row;
        if (by_function(row->function, row->host, first->function, first->host) != 0)
            break;
    }
    return end;
}

/* A stretch of compiles and the programs that they made: the last ones, in the same order. */
static void set_shapes(struct programs *p, uint64_t program, struct tm_rows *sorted, uint64_t from, uint64_t end,
                       struct tm_rows *compiles)
{
    for (uint64_t i = from; i < end; i++, program++) {
        const tm_strid shapes = ((const struct program *)tm_rows_at(p->rows, program))->shapes;
        const struct made *const made = tm_rows_at(sorted, i);

        if (shapes)
            ((struct compile *)tm_rows_change(compiles, made->row))->shapes = shapes;
    }
}

static void join(struct programs *p, struct tm_rows *sorted, struct tm_rows *compiles)
{
    uint64_t program = 0, compile = 0;

    while (program < tm_rows_count(p->rows) && compile < tm_rows_count(sorted) && !tm_failed(p->run)) {
        struct program first_program = { .id = 0 };
        struct made first_compile = { .function = { 0, 0 } };
        bool counted;
        const uint64_t programs_end = end_of_programs(p, program, &first_program, &counted);
        const uint64_t compiles_end = end_of_compiles(sorted, compile, &first_compile);
        const int difference =
            by_function(first_program.function, first_program.host, first_compile.function, first_compile.host);

        if (!difference && counted && programs_end - program >= compiles_end - compile)
            set_shapes(p, programs_end - (compiles_end - compile), sorted, compile, compiles_end, compiles);
        if (difference <= 0)
            program = programs_end;
        if (difference >= 0)
            compile = compiles_end;
    }
}

/* Find the programs that the compiles made.  Where there are more compiles of a function than programs, it is unknown
 * which one made what, and none is reported. */
static void find_programs(struct programs *p, struct tm_names *names, struct tm_rows *compiles, enum sort sort)
{
    struct tm_rows *sorted;

    sort_programs(p, names);
    sorted = sort_compiles(p, names, compiles, sort);
    if (sorted)
        join(p, sorted, compiles);
    tm_rows_free(sorted);
}

/* A string of shapes; one that is very long is cut in the middle. */
static void add_shapes(struct tm_names *names, tm_strid shapes, struct tm_value *to)
{
    char cut[2 * SHAPES_END + 5];
    size_t length;
    const char *text = tm_names_text(names, shapes, SHAPES_MOST, &length);

    if (length < sizeof(cut)) {
        tm_add_text(to, "shapes", text, length);
        return;
    }
    memcpy(cut, text, SHAPES_END);
    memcpy(cut + SHAPES_END, " ... ", 5);
    memcpy(cut + SHAPES_END + 5, text + length - SHAPES_END, SHAPES_END);
    tm_add_text(to, "shapes", cut, sizeof(cut));
}

static void add_program(struct tm_names *names, const struct program *program, struct tm_value *list)
{
    struct tm_value *to = tm_add_object(list, NULL);
    size_t length;
    const char *text = tm_names_text(names, program->name, NAME_MOST, &length);

    tm_add_text(to, "module", text, length);
    tm_add_int(to, "program_id", program->id);
    if (program->shapes)
        add_shapes(names, program->shapes, to);
    else
        tm_add_null(to, "shapes", "not in its HLO");
}

/* The programs of functions that have several, of the first host that has several. */
static void add_programs(struct programs *programs, struct tm_names *names, uint64_t most, struct tm_value *section)
{
    struct tm_value *list = tm_add_array(section, "programs");
    struct tm_key listed = { 0, 0 };
    uint64_t end, count = 0;

    for (uint64_t i = 0; i < tm_rows_count(programs->rows) && !tm_failed(programs->run); i = end) {
        struct program first = { .id = 0 };
        bool counted;

        end = end_of_programs(programs, i, &first, &counted);
        if (end - i < 2 || tm_is_same_key(first.function, listed))
            continue;
        listed = first.function;
        for (uint64_t k = i; k < end && count < most; k++, count++)
            add_program(names, tm_rows_at(programs->rows, k), list);
    }
}

/* --- compiles --- */

/* The latest ends of the compiles that started on a track. */
struct track_ends {
    int64_t end_ps[SORT_COUNT];
    uint8_t has[SORT_COUNT];
};

struct call {
    int64_t end_ps;
    tm_strid name;
};

/* The PjitFunctions that are open on a thread, the innermost last. */
struct call_stack {
    uint32_t track, depth;
    struct call calls[CALL_DEPTH];
};

struct host_name {
    char text[128];
};

struct compiles {
    struct tm_run *run;
    const struct tm_settings *settings;
    const struct tm_trace *trace; /* of the current host */
    struct tm_names *names;
    struct tm_rows *rows;   /* struct compile, by host and start */
    struct tm_rows *hosts;  /* struct host_name */
    struct tm_rows *tracks; /* struct track_ends of the current host */
    struct track_ends any_track;
    struct programs programs; /* those that have HLO */
    struct call_stack *calls; /* CALL_THREADS of them */
    uint32_t call_count, last_call;
    uint64_t found[SORT_COUNT];
    bool has_host_events, has_host_steps;
    uint32_t origins; /* of the hosts: 1 << enum tm_origin */
};

/* Compilations in a partial: all compiles of every kind, and the programs that were made. */

#define ROW(member, kind) TM_FIELD(struct compile, member, kind, KEEP)

static const struct tm_row_field compile_fields[] = {
    ROW(start_ps, INSTANT), ROW(dur_ps, TIME),    ROW(step_number, INSTANT),
    ROW(host, HOST),        ROW(module, NAME),    TM_FIELD_BELOW(struct compile, sort, U8, KEEP, SORT_COUNT),
    ROW(has_step, BOOL),    ROW(in_chosen, BOOL), TM_FIELDS_END,
};

static const struct tm_row_field stage_fields[] = {
    TM_FIELD_BELOW(struct compiles, origins, U32, ANY, 1 << TM_ORIGIN_COUNT),
    TM_FIELD(struct compiles, has_host_events, BOOL, ANY),
    TM_FIELD(struct compiles, has_host_steps, BOOL, ANY),
    TM_FIELD(struct compiles, found, COUNT, SUM),
    TM_FIELDS_END,
};

static tm_status compile_save(struct tm_stage *s, struct tm_partial_writer *w)
{
    const struct compiles *c = s->state;
    const uint64_t count = tm_rows_count(c->rows);

    tm_fields_save(w, stage_fields, c);
    tm_partial_put_u64(w, count);
    tm_fields_save_rows(w, compile_fields, c->rows, 0, count);
    save_programs(&c->programs, w);
    return c->run->error.status;
}

static tm_status complete_compile(void *of, struct tm_partial_reader *r, void *row)
{
    const struct compile *const compile = row;
    int64_t end_ps;

    (void)of;
    if (__builtin_add_overflow(compile->start_ps, compile->dur_ps, &end_ps))
        return tm_partial_damaged(r, "a time is out of its range");
    return TM_OK;
}

static tm_status compile_load(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct compiles *c = s->state;

    c->names = tm_partial_names(r);
    for (uint32_t i = 0; i < tm_partial_host_count(r); i++) {
        struct host_name name = { .text = "" };

        tm_partial_copy_host(r, i, name.text, sizeof(name.text));
        tm_rows_append(c->hosts, &name);
    }
    tm_fields_load_more(r, stage_fields, c);
    tm_fields_load_rows(r, compile_fields, c->rows, tm_partial_u64(r), complete_compile, NULL);
    load_programs(&c->programs, r);
    return c->run->error.status;
}

/* The section compile: the outermost compiles of the best kind of names in the run. */

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

/* A union of stretches that come in the order of their starts, host by host. */
struct cover {
    int64_t total_ps, until_ps;
    uint32_t host;
    bool has_begun;
};

static void cover_add(struct cover *cover, const struct compile *compile)
{
    const int64_t end_ps = compile->start_ps + compile->dur_ps;
    int64_t start_ps = compile->start_ps;

    if (cover->has_begun && cover->host == compile->host && start_ps < cover->until_ps)
        start_ps = cover->until_ps;
    if (end_ps <= start_ps)
        return;
    cover->total_ps += end_ps - start_ps;
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

/* One pass over all compiles of the kind that counts. */
static void add_up(struct compiles *c, enum sort sort, struct totals *t, struct tm_groups *modules,
                   struct tm_sorter *longest)
{
    for (uint64_t i = 0; i < tm_rows_count(c->rows) && !tm_failed(c->run); i++) {
        const struct compile *compile = tm_rows_at(c->rows, i);
        struct place place = { .row = i };

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
        if (compile->module) {
            const struct tm_key key = tm_names_info(c->names, compile->module).hash;

            tm_groups_add(modules, &(struct module_row){ .key = key, .count = 1, .module = compile->module });
        }
        tm_sorter_push(longest, &place);
    }
    tm_groups_finish(modules);
    tm_sorter_finish(longest);
}

/* The name of a program or of the function in "PjitFunction(NAME)". */
static void add_module(struct compiles *c, struct tm_value *to, tm_strid module)
{
    const char *text;
    size_t length;

    if (!module) {
        tm_add_null(to, "module", "no call of a jitted function around it was recorded");
        return;
    }
    text = tm_names_text(c->names, module, MODULE_BYTES, &length);
    if (length > 13 && (!memcmp(text, "PjitFunction(", 13) || !memcmp(text, "PmapFunction(", 13))) {
        text += 13;
        length -= 13;
        if (text[length - 1] == ')')
            length--;
    }
    tm_add_text(to, "module", text, length);
}

static int most_first(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->most != y->most)
        return x->most > y->most ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Modules that were compiled twice or more, the most compiled ones first. */
static void add_recompiled(struct compiles *c, struct tm_groups *modules, struct tm_value *section)
{
    const size_t share = tm_budget_share(&c->run->budget, TM_ACCOUNT_SORT);
    struct tm_sorter *sorter = tm_sorter_new(c->run, TM_ACCOUNT_SORT, sizeof(struct place), share / 32, most_first);
    struct tm_value *list = tm_add_array(section, "recompiled");
    const struct module_row *row;
    const struct place *place;

    if (!sorter)
        return;
    for (uint64_t i = 0; (row = tm_groups_next(modules)); i++) {
        if (row->count > 1)
            tm_sorter_push(sorter, &(struct place){ .most = (int64_t)row->count, .row = i, .module = row->module });
    }
    tm_sorter_finish(sorter);
    for (uint64_t i = 0; i < c->settings->table_rows && (place = tm_sorter_next(sorter)); i++) {
        struct tm_value *to = tm_add_object(list, NULL);

        add_module(c, to, place->module);
        tm_add_int(to, "count", place->most);
    }
    tm_sorter_free(sorter);
}

static void add_event(struct compiles *c, uint64_t at, struct tm_value *list)
{
    const struct compile compile = *(const struct compile *)tm_rows_at(c->rows, at);
    struct tm_value *to = tm_add_object(list, NULL);

    add_module(c, to, compile.module);
    tm_add_string(to, "host", ((const struct host_name *)tm_rows_at(c->hosts, compile.host))->text);
    tm_add_int(to, "begin_ps", compile.start_ps);
    tm_add_int(to, "dur_ps", compile.dur_ps);
    if (compile.has_step)
        tm_add_int(to, "step", compile.step_number);
    else
        tm_add_null(to, "step", "it starts outside the host's steps");
    if (compile.shapes)
        add_shapes(c->names, compile.shapes, to);
    else
        tm_add_null(to, "shapes",
                    tm_rows_count(c->programs.rows) ? "the profile does not show which of its programs it created"
                                                    : "the profile does not contain the HLO");
}

static int by_row(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* The longest ones: host by host, in time order. */
static void add_events(struct compiles *c, struct tm_sorter *longest, struct tm_value *section)
{
    struct tm_value *list = tm_add_array(section, "events");
    const struct place *place;
    uint64_t rows[LISTED_COMPILES];
    size_t count = 0;

    while (count < LISTED_COMPILES && (place = tm_sorter_next(longest)))
        rows[count++] = place->row;
    qsort(rows, count, sizeof(*rows), by_row);
    for (size_t i = 0; i < count; i++)
        add_event(c, rows[i], list);
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

/* NULL if compiles would show; profiles of JAX alone have them. */
static const char *why_nothing(const struct compiles *c)
{
    if (c->origins == 1u << TM_ORIGIN_PYTORCH)
        return "PyTorch's profiler does not record compiles";
    if (c->origins && !(c->origins & (1u << TM_ORIGIN_XSPACE | 1u << TM_ORIGIN_JSON_COPY)))
        return "the trace has no known compiler events";
    return c->has_host_events ? NULL : "no host events were recorded";
}

static tm_status compile_report(struct tm_stage *s, struct tm_value *summary)
{
    struct compiles *c = s->state;
    const size_t share = tm_budget_share(&s->run->budget, TM_ACCOUNT_SORT);
    const enum sort sort = c->found[SORT_WHOLE] ? SORT_WHOLE : c->found[SORT_CLIENT] ? SORT_CLIENT : SORT_XLA;
    struct totals totals = { .count = 0 };
    struct tm_groups *modules;
    struct tm_sorter *longest;
    struct tm_value *section;

    if (why_nothing(c)) {
        tm_add_null(summary, "compile", why_nothing(c));
        return TM_OK;
    }
    section = tm_add_object(summary, "compile");
    modules = tm_groups_new(s->run, TM_ACCOUNT_SORT, sizeof(struct module_row), share / 16, add_module_row);
    longest = tm_sorter_new(s->run, TM_ACCOUNT_SORT, sizeof(struct place), share / 16, most_first);
    if (modules && longest) {
        add_up(c, sort, &totals, modules, longest);
        add_totals(c, &totals, sort, section);
        add_recompiled(c, modules, section);
        find_programs(&c->programs, c->names, c->rows, sort);
        add_events(c, longest, section);
        add_programs(&c->programs, c->names, c->settings->table_rows, section);
    }
    tm_groups_free(modules);
    tm_sorter_free(longest);
    return s->run->error.status;
}

enum { CALL_THREADS = 128 /* threads whose open calls are known at once */ };

static tm_status open_stage(struct tm_stage *s)
{
    struct compiles *c = s->state;
    const size_t tenth = tm_tables_memory(s->run, TM_TABLES_COMPILE, 10, 1);

    c->run = s->run;
    c->settings = s->settings;
    c->rows = tm_rows_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct compile), 4 * tenth);
    c->hosts = tm_rows_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct host_name), tenth);
    c->programs = (struct programs){ .run = s->run, .memory_bytes = tenth };
    c->programs.rows = tm_rows_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct program), tenth);
    c->calls = tm_take(&s->run->budget, TM_ACCOUNT_TABLES, CALL_THREADS * sizeof(*c->calls), &s->run->error);
    return s->run->error.status;
}

static tm_status begin_host(struct tm_stage *s, const struct tm_trace *trace)
{
    struct compiles *c = s->state;
    const size_t tenth = tm_tables_memory(s->run, TM_TABLES_COMPILE, 10, 1);
    struct host_name name;

    c->trace = trace;
    c->names = trace->names;
    c->any_track = (struct track_ends){ .has = { 0 } };
    c->call_count = c->last_call = 0;
    c->origins |= 1u << trace->origin;
    c->has_host_events |= trace->main_track != TM_NONE;
    c->has_host_steps |= trace->steps.source == TM_STEPS_HOST;
    memcpy(name.text, trace->host_name, sizeof(name.text));
    c->tracks = tm_rows_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct track_ends), 4 * tenth);
    if (!c->tracks)
        return s->run->error.status;
    tm_rows_resize(c->tracks, tm_rows_count(trace->tracks));
    tm_rows_append(c->hosts, &name);
    return s->run->error.status;
}

/* --- which function is compiled --- */

static void end_calls(struct call_stack *stack, int64_t now_ps)
{
    while (stack->depth && stack->calls[stack->depth - 1].end_ps <= now_ps)
        stack->depth--;
}

static struct call_stack *calls_of(struct compiles *c, uint32_t track)
{
    if (c->last_call < c->call_count && c->calls[c->last_call].track == track)
        return &c->calls[c->last_call];
    for (uint32_t i = 0; i < c->call_count; i++)
        if (c->calls[i].track == track) {
            c->last_call = i;
            return &c->calls[i];
        }
    return NULL;
}

/* A place for a thread without one: a new one, else that of a thread on which no call is open; NULL = none. */
static struct call_stack *new_calls(struct compiles *c, uint32_t track, int64_t now_ps)
{
    uint32_t at = c->call_count;

    if (c->call_count < CALL_THREADS) {
        c->call_count++;
    } else {
        for (at = 0; at < CALL_THREADS; at++) {
            end_calls(&c->calls[at], now_ps);
            if (!c->calls[at].depth)
                break;
        }
    }
    if (at == CALL_THREADS)
        return NULL;
    c->calls[at].track = track;
    c->calls[at].depth = 0;
    c->last_call = at;
    return &c->calls[at];
}

/* Calls past the limits are dropped: their compiles have no name. */
static void take_call(struct compiles *c, const struct tm_record *r)
{
    struct call_stack *stack = calls_of(c, r->track);

    if (!stack)
        stack = new_calls(c, r->track, r->start_ps);
    if (!stack)
        return;
    end_calls(stack, r->start_ps);
    if (stack->depth < CALL_DEPTH)
        stack->calls[stack->depth++] = (struct call){ r->start_ps + r->dur_ps, r->name };
}

/* The module that the event names, else the function of the enclosing call. */
static tm_strid module_of(struct compiles *c, const struct tm_event *event)
{
    struct call_stack *stack;

    if (event->config->module)
        return event->config->module;
    stack = calls_of(c, event->record.track);
    if (!stack)
        return 0;
    end_calls(stack, event->record.start_ps);
    return stack->depth ? stack->calls[stack->depth - 1].name : 0;
}

/* --- events --- */

static enum sort sort_of(uint32_t traits)
{
    if (traits & TM_TRAIT_COMPILE_WHOLE)
        return SORT_WHOLE;
    return traits & TM_TRAIT_COMPILE_CLIENT ? SORT_CLIENT : SORT_XLA;
}

/* Whether it is inside an earlier one: of its own thread or, if its line is not a user's thread, of any thread. */
static bool is_inside(const struct track_ends *ends, enum sort sort, int64_t end_ps)
{
    return ends->has[sort] && ends->end_ps[sort] >= end_ps;
}

static void note_end(struct track_ends *ends, enum sort sort, int64_t end_ps)
{
    if (ends->has[sort] && ends->end_ps[sort] >= end_ps)
        return;
    ends->has[sort] = 1;
    ends->end_ps[sort] = end_ps;
}

/* The step marker that it starts in: the last one that starts at or before it, if it has not ended. */
static void find_step(const struct tm_trace *trace, struct compile *compile)
{
    const struct tm_steps *steps = &trace->steps;
    const struct tm_step_mark *mark;
    uint64_t low = 0, high = steps->source == TM_STEPS_HOST ? steps->count : 0;

    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;

        mark = tm_rows_at(steps->marks, middle);
        if (mark->start_ps > compile->start_ps)
            high = middle;
        else
            low = middle + 1;
    }
    if (!low)
        return;
    mark = tm_rows_at(steps->marks, low - 1);
    if (compile->start_ps - mark->start_ps > mark->dur_ps)
        return;
    compile->has_step = 1;
    compile->in_chosen = mark->chosen;
    compile->step_number = mark->number;
}

static tm_status take_compile(struct compiles *c, const struct tm_event *event)
{
    const struct tm_record *r = &event->record;
    const int64_t end_ps = r->start_ps + r->dur_ps;
    const enum sort sort = sort_of(event->traits);
    struct compile compile = { .start_ps = r->start_ps, .dur_ps = r->dur_ps, .sort = (uint8_t)sort };
    const bool is_user = ((const struct tm_track *)tm_rows_at(c->trace->tracks, r->track))->is_user;
    struct track_ends *ends = tm_rows_change(c->tracks, r->track);

    if (is_inside(is_user ? ends : &c->any_track, sort, end_ps))
        return c->run->error.status;
    note_end(ends, sort, end_ps);
    note_end(&c->any_track, sort, end_ps);
    compile.host = (uint32_t)tm_rows_count(c->hosts) - 1;
    compile.module = module_of(c, event);
    find_step(c->trace, &compile);
    c->found[sort]++;
    tm_rows_append(c->rows, &compile);
    return c->run->error.status;
}

static bool wants(struct tm_stage *s, const struct tm_event *event)
{
    (void)s;
    return event->record.class == TM_CLASS_COMPILE || event->traits & TM_TRAIT_PJIT;
}

static void take(struct tm_stage *s, const struct tm_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!tm_wants(s, &events[i]))
            continue;
        if (events[i].record.class == TM_CLASS_COMPILE)
            (void)take_compile(s->state, &events[i]);
        else
            take_call(s->state, &events[i].record);
    }
}

static tm_status end_host(struct tm_stage *s)
{
    struct compiles *c = s->state;

    take_programs(&c->programs, c->trace, (uint32_t)tm_rows_count(c->hosts) - 1);
    tm_rows_free(c->tracks);
    c->tracks = NULL;
    c->trace = NULL;
    return s->run->error.status;
}

static void close_stage(struct tm_stage *s)
{
    struct compiles *c = s->state;

    tm_rows_free(c->rows);
    tm_rows_free(c->hosts);
    tm_rows_free(c->tracks);
    tm_rows_free(c->programs.rows);
    tm_give(&s->run->budget, TM_ACCOUNT_TABLES, c->calls, c->calls ? CALL_THREADS * sizeof(*c->calls) : 0);
}

const struct tm_stage_type tm_compile_stage = {
    .name = "compile",
    .summary = "what was compiled, when, and how often",
    .state_bytes = sizeof(struct compiles),
    .classes = TM_CLASSES_HOST,
    .open = open_stage,
    .begin_host = begin_host,
    .wants = wants,
    .take = take,
    .end_host = end_host,
    .report = compile_report,
    .save = compile_save,
    .load = compile_load,
    .close = close_stage,
};
