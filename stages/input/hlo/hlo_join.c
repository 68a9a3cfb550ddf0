/* SPDX-License-Identifier: Apache-2.0 */
/* From launch facts to the op that they name.  An index by program and name, and by name alone where one program
 * alone has it; names are compared by their hashes. */

#include "pipeline/groups.h"
#include "stages/input/hlo/hlo_private.h"
#include "stages/input/records/configs.h"

enum { NAME_LOOKED_AT = 64 << 10 /* bytes of a name or HLO text */ };

/* An op's name in all programs. */
struct name_row {
    struct tm_key key;
    int64_t program_id;
    uint32_t op; /* the first one */
    uint8_t is_shared;
};

static void merge_names(void *into, const void *from)
{
    struct name_row *a = into;
    const struct name_row *b = from;

    a->is_shared |= b->is_shared || a->program_id != b->program_id;
    if (b->op < a->op) {
        a->op = b->op;
        a->program_id = b->program_id;
    }
}

static uint64_t key_in_program(struct tm_key name, int64_t program_id)
{
    return tm_hash_mix(name.low ^ (uint64_t)program_id * UINT64_C(0x9e3779b97f4a7c15), name.high);
}

static uint64_t key_in_any(struct tm_key name)
{
    return tm_hash_mix(name.low, ~name.high);
}

static tm_status put_ops(struct tm_hlo *hlo, struct tm_groups *names)
{
    tm_status st = TM_OK;

    for (uint64_t i = 1; i < tm_rows_count(hlo->trace->hlo_ops) && st == TM_OK; i++) {
        const struct tm_hlo_op *op = tm_rows_at(hlo->trace->hlo_ops, i);
        struct hlo_join join = { .op = (uint32_t)i };
        struct name_row row = { .op = (uint32_t)i };
        struct tm_name info;

        if (!op)
            return hlo->run->error.status;
        join.program_id = row.program_id = op->program_id;
        st = tm_names_info(hlo->trace->names, op->name, &info);
        if (st != TM_OK)
            break;
        join.name = row.key = info.hash;
        join.key = key_in_program(join.name, join.program_id);
        st = tm_index_put(hlo->joins, &join);
        if (st == TM_OK)
            st = tm_groups_add(names, &row);
    }
    return st == TM_OK ? tm_groups_finish(names) : st;
}

static tm_status put_names(struct tm_hlo *hlo, struct tm_groups *names)
{
    tm_status st = TM_OK;

    while (st == TM_OK) {
        struct hlo_join join = { .any_program = 1 };
        const struct name_row *row;
        const void *next;

        st = tm_groups_next(names, &next);
        if (st != TM_OK || !next)
            break;
        row = next;
        if (row->is_shared)
            continue;
        join.name = row->key;
        join.key = key_in_any(row->key);
        join.op = row->op;
        st = tm_index_put(hlo->joins, &join);
    }
    return st == TM_OK ? tm_index_finish(hlo->joins) : st;
}

tm_status tm_hlo_index(struct tm_hlo *hlo)
{
    const size_t share = tm_budget_share(&hlo->run->budget, TM_ACCOUNT_SORT);
    struct tm_groups *names =
        tm_groups_new(hlo->run, TM_ACCOUNT_SORT, sizeof(struct name_row), share / 8, merge_names);
    tm_status st;

    hlo->joins = tm_index_new(hlo->run, TM_ACCOUNT_METADATA, sizeof(struct hlo_join),
                              tm_budget_share(&hlo->run->budget, TM_ACCOUNT_METADATA) / 16, TM_INDEX_FIRST, NULL);
    st = names && hlo->joins ? put_ops(hlo, names) : hlo->run->error.status;
    if (st == TM_OK)
        st = put_names(hlo, names);
    tm_groups_free(names);
    return st;
}

/* --- asking --- */

/* The last part of "a::b". */
static struct tm_text last_part(struct tm_text text)
{
    for (size_t i = text.length; i >= 2; i--)
        if (text.at[i - 1] == ':' && text.at[i - 2] == ':')
            return tm_text_from(text, i);
    return text;
}

/* The name that an HLO text begins with: "%fusion.3 = f32[8] ...". */
static struct tm_text name_in_hlo(struct tm_text text)
{
    const char *equals;

    if (tm_text_begins(text, "ROOT "))
        text = tm_text_from(text, 5);
    if (tm_text_begins(text, "%"))
        text = tm_text_from(text, 1);
    equals = text.length ? memmem(text.at, text.length, " = ", 3) : NULL;
    if (equals)
        text.length = (size_t)(equals - text.at);
    return text;
}

static tm_status name_of(struct tm_hlo *hlo, const struct tm_config *config, struct tm_key *name, bool *has_name)
{
    const bool is_tpu = config->details != 0; /* its HLO text */
    struct tm_text text;
    tm_status st;

    *has_name = is_tpu || config->hlo_op;
    if (!*has_name)
        return TM_OK;
    st = tm_names_text(hlo->trace->names, is_tpu ? config->details : config->hlo_op, NAME_LOOKED_AT, &text.at,
                       &text.length);
    if (st != TM_OK)
        return st;
    text = is_tpu ? name_in_hlo(text) : last_part(text);
    *name = tm_hash_key(text.at, text.length);
    return TM_OK;
}

/* The op of a name in a program, or in the only program that has it; 0 = none. */
static tm_status find_op(struct tm_hlo *hlo, struct tm_key name, const int64_t *program_id, uint32_t *op)
{
    const uint64_t key = program_id ? key_in_program(name, *program_id) : key_in_any(name);
    const void *row;
    const tm_status st = tm_index_get(hlo->joins, key, &row);
    const struct hlo_join *found = row;
    const bool is_it = st == TM_OK && found && found->any_program == !program_id &&
                       (!program_id || found->program_id == *program_id) && tm_is_same_key(found->name, name);

    *op = is_it ? found->op : 0;
    return st;
}

/* Whether an op of program 0 is meant: 0 stands for no program as well. */
static tm_status module_agrees(struct tm_hlo *hlo, uint32_t op, tm_strid module, bool *agrees)
{
    const struct tm_hlo_op *row = tm_rows_at(hlo->trace->hlo_ops, op);

    return row ? tm_names_are_same(hlo->trace->names, row->module, module, agrees) : hlo->run->error.status;
}

static tm_status find_of(struct tm_hlo *hlo, const struct tm_config *config, struct tm_key name, uint32_t *op)
{
    bool agrees = true;
    tm_status st = find_op(hlo, name, &config->program_id, op);

    if (st == TM_OK && *op && !config->program_id)
        st = module_agrees(hlo, *op, config->module, &agrees);
    if (st != TM_OK || (*op && agrees))
        return st;
    *op = 0;
    return config->program_id ? TM_OK : find_op(hlo, name, NULL, op);
}

tm_status tm_hlo_join(struct tm_hlo *hlo, struct tm_config *config)
{
    const struct tm_hlo_op *op;
    struct tm_key name;
    bool has_name = false;
    uint32_t row = 0;
    tm_status st = TM_OK;

    if (!hlo->joins || config->hlo)
        return TM_OK;
    st = name_of(hlo, config, &name, &has_name);
    if (st == TM_OK && has_name)
        st = find_of(hlo, config, name, &row);
    if (st != TM_OK || !row)
        return st;
    op = tm_rows_at(hlo->trace->hlo_ops, row);
    if (!op)
        return hlo->run->error.status;
    config->hlo = row;
    if (!config->source)
        config->source = op->source;
    return TM_OK;
}

tm_status tm_hlo_join_all(struct tm_hlo *hlo)
{
    tm_status st = TM_OK;

    for (uint64_t i = 1; i < tm_rows_count(hlo->trace->configs) && st == TM_OK; i++) {
        struct tm_config *config = tm_rows_change(hlo->trace->configs, i);

        if (!config)
            return hlo->run->error.status;
        st = tm_hlo_join(hlo, config);
        config->hash = 0;
        config->hash = tm_config_hash(config);
    }
    return st;
}
