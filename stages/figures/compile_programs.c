/* SPDX-License-Identifier: Apache-2.0 */
/* Programs beside compiles.  Both are sorted by function, host and the order in which they were made; the stretches of
 * one function on one host are then joined from their ends, because a program may be older than the profile. */
#include "stages/figures/compile_programs.h"

#include <string.h>

#include "pipeline/store/sorter.h"
#include "stages/figures/fields.h"

enum {
    NAME_MOST = 512, /* bytes of a name that are looked at */
    SHAPES_MOST = 16 << 10,
    SHAPES_END = 384,      /* bytes that are kept of the begin and of the end of a very long text: inputs stand last */
    COUNTED_ID = INT32_MAX /* ids count up from 0; those of TPU programs are hashes, and tell no order */
};

struct program {
    struct tm_key function; /* hash of program_function; set by tm_compiled_match */
    int64_t id;
    tm_strid name, shapes;
    uint32_t host;
};

/* A compile on its way to its program. */
struct made {
    struct tm_key function;
    struct tm_made of;
};

struct tm_compiled {
    struct tm_run *run;
    size_t memory_bytes;
    struct tm_rows *rows; /* struct program */
};

struct tm_compiled *tm_compiled_new(struct tm_run *run, size_t memory_bytes)
{
    struct tm_compiled *p = tm_take(&run->budget, TM_ACCOUNT_TABLES, sizeof(*p), &run->error);

    if (!p)
        return NULL;
    p->run = run;
    p->memory_bytes = memory_bytes;
    p->rows = tm_rows_new(run, TM_ACCOUNT_TABLES, sizeof(struct program), memory_bytes);
    if (p->rows)
        return p;
    tm_compiled_free(p);
    return NULL;
}

void tm_compiled_free(struct tm_compiled *programs)
{
    if (!programs)
        return;
    tm_rows_free(programs->rows);
    tm_give(&programs->run->budget, TM_ACCOUNT_TABLES, programs, sizeof(*programs));
}

uint64_t tm_compiled_count(const struct tm_compiled *programs)
{
    return tm_rows_count(programs->rows);
}

void tm_compiled_take(struct tm_compiled *programs, const struct tm_trace *trace, uint32_t host)
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

/* --- partials --- */

static const struct tm_row_field program_fields[] = {
    TM_FIELD(struct program, id, INSTANT, KEEP),
    TM_FIELD(struct program, name, NAME, KEEP),
    TM_FIELD(struct program, shapes, NAME, KEEP),
    TM_FIELD(struct program, host, HOST, KEEP),
    TM_FIELDS_END,
};

void tm_compiled_save(struct tm_compiled *programs, struct tm_partial_writer *w)
{
    const uint64_t count = tm_rows_count(programs->rows);

    tm_partial_put_u64(w, count);
    tm_fields_save_rows(w, program_fields, programs->rows, 0, count);
}

void tm_compiled_load(struct tm_compiled *programs, struct tm_partial_reader *r)
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

/* What the name of a function or program comes to: without "jit_" and "PjitFunction(", and what stands in no name of
 * a program as '_'.  in: to  at least length + 1 bytes.  out: the length */
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
    const int difference = by_function(x->function, x->of.host, y->function, y->of.host);

    if (difference || x->of.start_ps == y->of.start_ps)
        return difference ? difference : (x->of.row > y->of.row) - (x->of.row < y->of.row);
    return x->of.start_ps < y->of.start_ps ? -1 : 1;
}

/* Rows out of a sorter, side by side.  owns: the caller frees the result, NULL after a failure */
static struct tm_rows *lay_out(struct tm_compiled *p, struct tm_sorter *sorter, size_t row_bytes)
{
    struct tm_rows *rows = tm_rows_new(p->run, TM_ACCOUNT_TABLES, row_bytes, p->memory_bytes);
    const void *row;

    tm_sorter_finish(sorter);
    while (rows && (row = tm_sorter_next(sorter)))
        tm_rows_append(rows, row);
    return rows;
}

static void sort_programs(struct tm_compiled *p, struct tm_names *names)
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

/* owns: the caller frees the result, NULL after a failure */
static struct tm_rows *sort_compiles(struct tm_compiled *p, struct tm_names *names, struct tm_rows *compiles)
{
    struct tm_sorter *sorter =
        tm_sorter_new(p->run, TM_ACCOUNT_TABLES, sizeof(struct made), p->memory_bytes, made_order);
    struct tm_rows *sorted;

    if (!sorter)
        return NULL;
    for (uint64_t i = 0; i < tm_rows_count(compiles) && !tm_failed(p->run); i++) {
        struct made made = { .of = *(const struct tm_made *)tm_rows_at(compiles, i) };

        made.function = hash_function(names, made.of.module);
        tm_sorter_push(sorter, &made);
    }
    sorted = lay_out(p, sorter, sizeof(struct made));
    tm_sorter_free(sorter);
    return sorted;
}

/* --- the join --- */

/* The end of the stretch of one function on one host that begins at `from`; counted: whether its ids count up. */
static uint64_t end_of_programs(struct tm_compiled *p, uint64_t from, struct program *first, bool *counted)
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
        if (by_function(row->function, row->of.host, first->function, first->of.host) != 0)
            break;
    }
    return end;
}

/* A stretch of compiles and the programs that they made: the last ones, in the same order. */
static void tell_shapes(struct tm_compiled *p, uint64_t program, struct tm_rows *compiles, uint64_t from, uint64_t end,
                        tm_take_shapes *take, void *to)
{
    for (uint64_t i = from; i < end; i++, program++) {
        const tm_strid shapes = ((const struct program *)tm_rows_at(p->rows, program))->shapes;

        if (shapes)
            take(to, ((const struct made *)tm_rows_at(compiles, i))->of.row, shapes);
    }
}

static void join(struct tm_compiled *p, struct tm_rows *compiles, tm_take_shapes *take, void *to)
{
    uint64_t program = 0, compile = 0;

    while (program < tm_rows_count(p->rows) && compile < tm_rows_count(compiles) && !tm_failed(p->run)) {
        struct program first_program = { .id = 0 };
        struct made first_compile = { .function = { 0, 0 } };
        bool counted;
        const uint64_t programs_end = end_of_programs(p, program, &first_program, &counted);
        const uint64_t compiles_end = end_of_compiles(compiles, compile, &first_compile);
        const int difference =
            by_function(first_program.function, first_program.host, first_compile.function, first_compile.of.host);

        if (!difference && counted && programs_end - program >= compiles_end - compile)
            tell_shapes(p, programs_end - (compiles_end - compile), compiles, compile, compiles_end, take, to);
        if (difference <= 0)
            program = programs_end;
        if (difference >= 0)
            compile = compiles_end;
    }
}

void tm_compiled_match(struct tm_compiled *programs, struct tm_names *names, struct tm_rows *compiles,
                       tm_take_shapes *take, void *to)
{
    struct tm_rows *sorted;

    sort_programs(programs, names);
    sorted = sort_compiles(programs, names, compiles);
    if (sorted)
        join(programs, sorted, take, to);
    tm_rows_free(sorted);
}

/* --- the summary --- */

void tm_compiled_add_shapes(struct tm_names *names, tm_strid shapes, struct tm_value *to)
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
        tm_compiled_add_shapes(names, program->shapes, to);
    else
        tm_add_null(to, "shapes", "its HLO does not tell");
}

void tm_compiled_add_list(struct tm_compiled *programs, struct tm_names *names, uint64_t most, struct tm_value *section)
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
