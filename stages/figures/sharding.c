/* SPDX-License-Identifier: Apache-2.0 */
/* Sharding, the stage: groups the call sites of programs that run on several devices by their op, with what the HLO
 * says about it (stages/input/hlo/hlo_sharding.c).  Memory: groups, which spill. */
#include "stages/figures/figure_stages.h"

#include <string.h>

#include "pipeline/stage.h"
#include "pipeline/store/groups.h"
#include "stages/figures/fields.h"
#include "stages/figures/figure_rows.h"

/* An op of a program. */
struct shard_row {
    struct tm_key key; /* of its name and program */
    uint64_t count, executions;
    uint64_t message_bytes; /* of one execution, of a collective */
    int64_t self_ps;
    tm_strid name, module, opcode, path, source, sharding;
    uint32_t devices, copies;
    uint8_t origin; /* enum tm_hlo_origin */
};

/* A program; those of one name are one, with the parameters of the largest. */
struct shard_program {
    struct tm_key key;
    uint64_t parameters, repeated_parameters, repeated_bytes, split_bytes;
    int64_t self_ps, repeated_ps; /* set by the report */
    tm_strid name;
    uint32_t devices;
};

struct sharding {
    struct tm_run *run;
    const struct tm_settings *settings;
    const struct tm_trace *trace; /* of the current host */
    struct tm_names *names;
    struct tm_groups *rows;     /* struct shard_row */
    struct tm_groups *programs; /* struct shard_program */
    bool has_hlo;
};

struct shard_sum {
    uint64_t count, bytes;
    int64_t self_ps;
};

/* Shares of the memory for the tables of this stage. */
enum { SHARD_ROWS = 3, SHARD_PROGRAMS = 1, SHARD_PARTS = 4 };

enum { SHARD_MOST = 500 }; /* programs, and collectives, that are listed */

static size_t shard_memory(struct tm_run *run, int parts)
{
    return tm_tables_memory(run, TM_TABLES_SHARDING, SHARD_PARTS, (unsigned)parts);
}

#define ROW(member, kind, merge) TM_FIELD(struct shard_row, member, kind, merge)

static const struct tm_row_field row_fields[] = {
    ROW(key, WORD, KEEP),
    ROW(count, COUNT, SUM),
    ROW(executions, COUNT, SUM),
    ROW(message_bytes, COUNT, MAX),
    ROW(self_ps, TIME, SUM),
    ROW(name, NAME, KEEP),
    ROW(module, NAME, KEEP),
    ROW(opcode, NAME, KEEP),
    ROW(path, NAME, KEEP),
    ROW(source, NAME, KEEP),
    ROW(sharding, NAME, KEEP),
    ROW(devices, U32, KEEP),
    ROW(copies, U32, KEEP),
    TM_FIELD_BELOW(struct shard_row, origin, U8, KEEP, TM_HLO_ORIGINS),
    TM_FIELDS_END,
};

#define PROGRAM(member, kind, merge) TM_FIELD(struct shard_program, member, kind, merge)

static const struct tm_row_field program_fields[] = {
    PROGRAM(key, WORD, KEEP),
    PROGRAM(parameters, COUNT, KEEP),
    PROGRAM(repeated_parameters, COUNT, KEEP),
    PROGRAM(repeated_bytes, COUNT, KEEP),
    PROGRAM(split_bytes, COUNT, KEEP),
    PROGRAM(self_ps, TIME, SUM),
    PROGRAM(repeated_ps, TIME, SUM),
    PROGRAM(name, NAME, KEEP),
    PROGRAM(devices, U32, KEEP),
    TM_FIELDS_END,
};

static const struct tm_row_field sum_fields[] = {
    TM_FIELD(struct sharding, has_hlo, BOOL, ANY),
    TM_FIELDS_END,
};

static void merge_rows(void *into, const void *from)
{
    tm_fields_merge(row_fields, into, from);
}

static bool is_larger(const struct shard_program *a, const struct shard_program *b)
{
    const uint64_t x = tm_sum_counts(a->repeated_bytes, a->split_bytes),
                   y = tm_sum_counts(b->repeated_bytes, b->split_bytes);

    if (x != y)
        return x > y;
    return a->repeated_bytes != b->repeated_bytes ? a->repeated_bytes > b->repeated_bytes
                                                  : a->parameters > b->parameters;
}

static void merge_programs(void *into, const void *from)
{
    struct shard_program *const a = into;
    const struct shard_program *const b = from;
    const struct shard_program sums = { .self_ps = tm_sum_times(a->self_ps, b->self_ps),
                                        .repeated_ps = tm_sum_times(a->repeated_ps, b->repeated_ps) };

    if (is_larger(b, a))
        *a = *b;
    a->self_ps = sums.self_ps;
    a->repeated_ps = sums.repeated_ps;
}

static tm_status save(struct tm_stage *s, struct tm_partial_writer *w)
{
    struct sharding *c = s->state;

    tm_fields_save(w, sum_fields, c);
    tm_fields_save_groups(w, program_fields, c->programs);
    return tm_fields_save_groups(w, row_fields, c->rows);
}

static tm_status complete_row(void *of, struct tm_partial_reader *r, void *row)
{
    const struct shard_row *const op = row;

    (void)of;
    return op->count && op->copies <= op->devices ? TM_OK : tm_partial_damaged(r, "a number is out of its range");
}

static tm_status load(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct sharding *c = s->state;

    c->names = tm_partial_names(r);
    tm_fields_load_more(r, sum_fields, c);
    tm_fields_load_groups(r, program_fields, c->programs, NULL, NULL);
    return tm_fields_load_groups(r, row_fields, c->rows, complete_row, NULL);
}

/* --- events --- */

static tm_status open_stage(struct tm_stage *s)
{
    struct sharding *c = s->state;

    c->run = s->run;
    c->settings = s->settings;
    c->rows = tm_groups_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct shard_row), shard_memory(s->run, SHARD_ROWS),
                            merge_rows);
    c->programs = tm_groups_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct shard_program),
                                shard_memory(s->run, SHARD_PROGRAMS), merge_programs);
    return s->run->error.status;
}

static struct tm_key key_of_name(struct tm_names *names, tm_strid name)
{
    return tm_names_info(names, name).hash;
}

static tm_status begin_host(struct tm_stage *s, const struct tm_trace *trace)
{
    struct sharding *c = s->state;

    c->trace = trace;
    c->names = trace->names;
    for (uint64_t i = 0; trace->hlo_modules && i < tm_rows_count(trace->hlo_modules) && !tm_failed(s->run); i++) {
        const struct tm_hlo_module *const module = tm_rows_at(trace->hlo_modules, i);
        const struct shard_program program = {
            .key = key_of_name(c->names, module->name),
            .name = module->name,
            .devices = (uint32_t)(module->devices < UINT32_MAX ? module->devices : 0),
            .parameters = module->parameters,
            .repeated_parameters = module->repeated_parameters,
            .repeated_bytes = module->repeated_bytes,
            .split_bytes = module->split_bytes,
        };

        c->has_hlo = true;
        if (program.devices > 1)
            tm_groups_add(c->programs, &program);
    }
    return s->run->error.status;
}

static bool is_op(const struct tm_event *event)
{
    switch ((enum tm_class)event->record.class) {
    case TM_CLASS_TPU_OP:
        return event->level != TM_LEVEL_CONTAINER;
    case TM_CLASS_KERNEL:
    case TM_CLASS_COLLECTIVE:
    case TM_CLASS_CPU_OP:
        return event->level != TM_LEVEL_NONE && event->level != TM_LEVEL_CONTAINER;
    default:
        return false;
    }
}

static void take_self(struct tm_stage *s, const struct tm_event *event, const struct tm_site_sums *sums)
{
    struct sharding *c = s->state;
    const struct tm_hlo_op *op;
    struct shard_row row;
    struct tm_key hashes[2];

    if (!event->chosen || !is_op(event))
        return;
    tm_trace_hlo(c->trace, event->config, &op);
    if (!op || op->devices < 2 || (event->config->tpu_part != TM_TPU_PLAIN && !op->origin)) /* waits compute nothing */
        return;
    row = (struct shard_row){
        .count = sums->count,
        .executions = event->config->tpu_part == TM_TPU_START ? 0 : sums->count - sums->continued,
        .message_bytes = op->message_bytes,
        .self_ps = sums->self_ps,
        .name = op->name,
        .module = op->module,
        .opcode = op->opcode,
        .path = op->path,
        .source = op->source,
        .sharding = op->sharding,
        .devices = op->devices,
        .copies = op->origin ? 0 : op->copies,
        .origin = op->origin,
    };
    tm_names_hashes(c->names, (const tm_strid[]){ row.name, row.module }, 2, hashes);
    row.key = tm_hash_key(hashes, sizeof(hashes));
    tm_groups_add(c->rows, &row);
}

static tm_status end_host(struct tm_stage *s)
{
    ((struct sharding *)s->state)->trace = NULL;
    return s->run->error.status;
}

/* --- the section --- */

static const char not_told[] = "the HLO does not record it";

/* Time spent computing what another device computes, too: all of it but the share of one copy. */
static int64_t repeated_ps(const struct shard_row *row)
{
    return row->copies > 1 ? row->self_ps - row->self_ps / row->copies : 0;
}

struct shard_report {
    struct sharding *c;
    struct tm_top_rows *ops, *moves; /* struct shard_row */
    struct tm_top_rows *programs;    /* struct shard_program */
    struct tm_listed_texts texts;
    struct shard_sum sums[TM_HLO_ORIGINS], listed[2]; /* listed: ops, moves */
    int64_t known_ps, repeated_ps, listed_repeated_ps;
    uint64_t distinct[2]; /* ops, moves */
};

static uint64_t moved_bytes(const struct shard_row *row)
{
    uint64_t bytes;

    return __builtin_mul_overflow(row->message_bytes, row->executions, &bytes) ? UINT64_MAX : bytes;
}

static int most_repeated_first(const void *a, const void *b)
{
    const struct shard_row *x = a, *y = b;
    const int64_t p = repeated_ps(x), q = repeated_ps(y);

    if (p != q)
        return p > q ? -1 : 1;
    if (x->self_ps != y->self_ps)
        return x->self_ps > y->self_ps ? -1 : 1;
    return tm_key_order(x->key, y->key);
}

/* Collectives that the compiler added come first, by their time. */
static int most_moved_first(const void *a, const void *b)
{
    const struct shard_row *x = a, *y = b;

    if (x->origin != y->origin)
        return x->origin > y->origin ? -1 : 1;
    if (x->self_ps != y->self_ps)
        return x->self_ps > y->self_ps ? -1 : 1;
    return tm_key_order(x->key, y->key);
}

static int longest_program_first(const void *a, const void *b)
{
    const struct shard_program *x = a, *y = b;

    if (x->self_ps != y->self_ps)
        return x->self_ps > y->self_ps ? -1 : 1;
    return tm_key_order(x->key, y->key);
}

static void add_to_sum(struct shard_sum *sum, const struct shard_row *row)
{
    sum->count = tm_sum_counts(sum->count, row->executions);
    sum->bytes = tm_sum_counts(sum->bytes, row->origin ? moved_bytes(row) : 0);
    sum->self_ps = tm_sum_times(sum->self_ps, row->self_ps);
}

static void read_rows(struct shard_report *r)
{
    struct sharding *const c = r->c;
    const struct shard_row *row;

    tm_groups_finish(c->rows);
    while ((row = tm_groups_next(c->rows))) {
        const struct shard_program program = { .key = key_of_name(c->names, row->module),
                                               .name = row->module,
                                               .devices = row->devices,
                                               .self_ps = row->self_ps,
                                               .repeated_ps = repeated_ps(row) };

        add_to_sum(&r->sums[row->origin], row);
        r->distinct[row->origin != 0]++;
        r->known_ps = tm_sum_times(r->known_ps, row->copies ? row->self_ps : 0);
        r->repeated_ps = tm_sum_times(r->repeated_ps, program.repeated_ps);
        tm_groups_add(c->programs, &program);
        tm_top_rows_add(row->origin ? r->moves : r->ops, row);
    }
    tm_groups_finish(c->programs);
    for (const struct shard_program *program; (program = tm_groups_next(c->programs));)
        if (program->self_ps > 0)
            tm_top_rows_add(r->programs, program);
    tm_top_rows_sort(r->ops);
    tm_top_rows_sort(r->moves);
    tm_top_rows_sort(r->programs);
}

static void add_texts(struct shard_report *r, struct tm_value *to, const struct shard_row *row)
{
    tm_listed_text_add(&r->texts, to, "name", row->name);
    tm_listed_text_or(&r->texts, to, "module", row->module, not_told);
    tm_listed_text_or(&r->texts, to, "opcode", row->opcode, not_told);
    tm_listed_text_or(&r->texts, to, "op", row->path, not_told);
    tm_listed_text_or(&r->texts, to, "source", row->source, not_told);
}

static void add_programs(struct shard_report *r, struct tm_value *section)
{
    struct tm_value *const list = tm_add_array(section, "programs");

    r->texts = tm_listed_texts(r->c->names, tm_top_rows_count(r->programs));
    for (uint64_t i = 0; i < tm_top_rows_count(r->programs); i++) {
        const struct shard_program *const program = tm_top_rows_at(r->programs, i);
        struct tm_value *const to = tm_add_object(list, NULL);

        tm_listed_text_or(&r->texts, to, "module", program->name, not_told);
        tm_add_uint(to, "devices", program->devices);
        tm_add_int(to, "self_ps", program->self_ps);
        tm_add_int(to, "repeated_ps", program->repeated_ps);
        tm_add_uint(to, "parameters", program->parameters);
        tm_add_uint(to, "repeated_parameters", program->repeated_parameters);
        tm_add_uint(to, "repeated_bytes", program->repeated_bytes);
        tm_add_uint(to, "split_bytes", program->split_bytes);
    }
}

static void add_op(struct shard_report *r, struct tm_value *list, const struct shard_row *row)
{
    struct tm_value *const to = tm_add_object(list, NULL);

    add_texts(r, to, row);
    tm_listed_text_or(&r->texts, to, "sharding", row->sharding, not_told);
    tm_add_uint(to, "devices", row->devices);
    if (row->copies)
        tm_add_uint(to, "copies", row->copies);
    else
        tm_add_null(to, "copies", "what it depends on could not be followed");
    tm_add_uint(to, "executions", row->executions);
    tm_add_int(to, "self_ps", row->self_ps);
    tm_add_double(to, "share_pct", tm_share_of(row->self_ps, r->sums[0].self_ps));
    tm_add_int(to, "repeated_ps", repeated_ps(row));
    add_to_sum(&r->listed[0], row);
    r->listed_repeated_ps = tm_sum_times(r->listed_repeated_ps, repeated_ps(row));
}

static const char *const origin_name[TM_HLO_ORIGINS] = { "", "requested", "sums", "reshards" };

static void add_move(struct shard_report *r, struct tm_value *list, const struct shard_row *row)
{
    struct tm_value *const to = tm_add_object(list, NULL);

    add_texts(r, to, row);
    tm_add_string(to, "origin", origin_name[row->origin]);
    tm_add_uint(to, "executions", row->executions);
    if (row->message_bytes) {
        tm_add_uint(to, "message_bytes", row->message_bytes);
        tm_add_uint(to, "bytes", moved_bytes(row));
    } else {
        tm_add_null(to, "message_bytes", not_told);
        tm_add_null(to, "bytes", not_told);
    }
    tm_add_int(to, "self_ps", row->self_ps);
    add_to_sum(&r->listed[1], row);
}

static void add_rest(struct tm_value *section, const char *key, uint64_t rows, struct shard_sum left)
{
    struct tm_value *const rest = tm_add_object(section, key);

    tm_add_uint(rest, "rows", rows);
    tm_add_uint(rest, "executions", left.count);
    tm_add_int(rest, "self_ps", left.self_ps);
}

static struct shard_sum left_of(struct shard_sum all, struct shard_sum listed)
{
    return (struct shard_sum){ .count = all.count > listed.count ? all.count - listed.count : 0,
                               .bytes = all.bytes > listed.bytes ? all.bytes - listed.bytes : 0,
                               .self_ps = all.self_ps > listed.self_ps ? all.self_ps - listed.self_ps : 0 };
}

static void add_lists(struct shard_report *r, struct tm_value *section)
{
    struct shard_sum moved = { .count = 0 }, left;
    struct tm_value *list = tm_add_array(section, "ops");

    r->texts = tm_listed_texts(r->c->names, tm_top_rows_count(r->ops));
    for (uint64_t i = 0; i < tm_top_rows_count(r->ops) && !tm_failed(r->c->run); i++)
        add_op(r, list, tm_top_rows_at(r->ops, i));
    left = left_of(r->sums[0], r->listed[0]);
    add_rest(section, "ops_rest", r->distinct[0] - tm_top_rows_count(r->ops), left);
    tm_add_int(tm_member(section, "ops_rest"), "repeated_ps", r->repeated_ps - r->listed_repeated_ps);
    list = tm_add_array(section, "moves");
    r->texts = tm_listed_texts(r->c->names, tm_top_rows_count(r->moves));
    for (uint64_t i = 0; i < tm_top_rows_count(r->moves) && !tm_failed(r->c->run); i++)
        add_move(r, list, tm_top_rows_at(r->moves, i));
    for (int i = 1; i < TM_HLO_ORIGINS; i++) {
        moved.count = tm_sum_counts(moved.count, r->sums[i].count);
        moved.bytes = tm_sum_counts(moved.bytes, r->sums[i].bytes);
        moved.self_ps = tm_sum_times(moved.self_ps, r->sums[i].self_ps);
    }
    left = left_of(moved, r->listed[1]);
    add_rest(section, "moves_rest", r->distinct[1] - tm_top_rows_count(r->moves), left);
    tm_add_uint(tm_member(section, "moves_rest"), "bytes", left.bytes);
}

static void write_section(struct shard_report *r, struct tm_value *summary)
{
    struct tm_value *section, *by_origin;

    read_rows(r);
    if (!r->distinct[0] && !r->distinct[1]) {
        tm_add_null(summary, "sharding",
                    r->c->has_hlo ? "no program of the analyzed steps runs on several devices"
                                  : "the profile does not contain the HLO of its programs");
        return;
    }
    section = tm_add_object(summary, "sharding");
    tm_add_int(section, "self_ps", r->sums[0].self_ps);
    tm_add_int(section, "known_ps", r->known_ps);
    tm_add_int(section, "repeated_ps", r->repeated_ps);
    tm_add_double(section, "repeated_pct", tm_share_of(r->repeated_ps, r->sums[0].self_ps));
    by_origin = tm_add_object(section, "by_origin");
    for (int i = 1; i < TM_HLO_ORIGINS; i++) {
        struct tm_value *const to = tm_add_object(by_origin, origin_name[i]);

        tm_add_uint(to, "executions", r->sums[i].count);
        tm_add_uint(to, "bytes", r->sums[i].bytes);
        tm_add_int(to, "self_ps", r->sums[i].self_ps);
    }
    add_programs(r, section);
    add_lists(r, section);
}

static tm_status report(struct tm_stage *s, struct tm_value *summary)
{
    struct sharding *const c = s->state;
    const uint64_t most = c->settings->table_rows;
    struct shard_report r = { .c = c };

    r.ops = tm_listed_rows_new(s->run, sizeof(struct shard_row), most, most_repeated_first);
    r.moves =
        tm_listed_rows_new(s->run, sizeof(struct shard_row), most < SHARD_MOST ? most : SHARD_MOST, most_moved_first);
    r.programs = tm_listed_rows_new(s->run, sizeof(struct shard_program), most < SHARD_MOST ? most : SHARD_MOST,
                                    longest_program_first);
    if (r.ops && r.moves && r.programs)
        write_section(&r, summary);
    tm_top_rows_free(r.ops);
    tm_top_rows_free(r.moves);
    tm_top_rows_free(r.programs);
    return s->run->error.status;
}

static void close_stage(struct tm_stage *s)
{
    struct sharding *c = s->state;

    tm_groups_free(c->rows);
    tm_groups_free(c->programs);
}

const struct tm_stage_type tm_sharding_stage = {
    .name = "sharding",
    .summary = "what programs on several devices repeat and move",
    .state_bytes = sizeof(struct sharding),
    .classes = TM_CLASSES_ACTIVITY,
    .open = open_stage,
    .begin_host = begin_host,
    .take_self = take_self,
    .end_host = end_host,
    .report = report,
    .save = save,
    .load = load,
    .close = close_stage,
};
