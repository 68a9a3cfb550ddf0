/* SPDX-License-Identifier: Apache-2.0 */
/* An instruction of a compiled program as text: its facts, then the surrounding instructions, a line each. */
#include <string.h>

#include "reports/format/format.h"
#include "reports/show/show.h"

enum { LINE_BYTES = 8192, PART_BYTES = 2048 };

static const char *get(const struct tm_value *row, const char *key)
{
    return tm_text(tm_get(row, key));
}

static void put_text(FILE *to, const char *text)
{
    char visible[LINE_BYTES];

    tm_format_text(visible, sizeof(visible), text);
    (void)fputs(visible, to);
}

static void put_fact(FILE *to, const char *title, const char *text)
{
    if (!*text)
        return;
    (void)fprintf(to, "  %-16s", title);
    put_text(to, text);
    (void)fputc('\n', to);
}

/* "%fusion.3 = f32[8]{0} fusion(%a, %b), kind=kLoop  # file.py:12" */
static void put_instruction(FILE *to, const struct tm_value *row, int indent)
{
    const struct tm_value *const operands = tm_get(row, "operands");
    const uint64_t left = (uint64_t)tm_int(tm_get(row, "operand_count")) - tm_length(operands);
    char line[LINE_BYTES];

    (void)snprintf(line, sizeof(line), "%%%s = %s %s(", get(row, "name"), get(row, "shape"), get(row, "opcode"));
    for (size_t i = 0; i < tm_length(operands); i++)
        tm_format_append(line, sizeof(line), "%s%%%s", i ? ", " : "", tm_text(tm_at(operands, i)));
    if (left)
        tm_format_append(line, sizeof(line), ", ... %llu more", (unsigned long long)left);
    tm_format_append(line, sizeof(line), ")");
    if (*get(row, "fusion_kind"))
        tm_format_append(line, sizeof(line), ", kind=%s", get(row, "fusion_kind"));
    if (*get(row, "target"))
        tm_format_append(line, sizeof(line), ", target=\"%s\"", get(row, "target"));
    if (*get(row, "sharding"))
        tm_format_append(line, sizeof(line), ", sharding=%s", get(row, "sharding"));
    if (*get(row, "source"))
        tm_format_append(line, sizeof(line), "  # %s", get(row, "source"));
    (void)fprintf(to, "%*s", indent, "");
    put_text(to, line);
    (void)fputc('\n', to);
}

static bool is_of(const struct tm_value *row, const char *relation, int64_t level)
{
    return strcmp(get(row, "relation"), relation) == 0 && tm_int(tm_get(row, "level")) == level;
}

static bool has_operand(const struct tm_value *row, const char *name)
{
    const struct tm_value *const operands = tm_get(row, "operands");

    for (size_t i = 0; i < tm_length(operands); i++)
        if (strcmp(tm_text(tm_at(operands, i)), name) == 0)
            return true;
    return false;
}

/* The instructions of a relation, each followed by its instructions of the second level. */
static void put_relation(FILE *to, const struct tm_value *rows, const char *relation, const char *title)
{
    const bool is_operand = strcmp(relation, "operand") == 0;
    bool has_title = false;

    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *const row = tm_at(rows, i);

        if (!is_of(row, relation, 1))
            continue;
        if (!has_title)
            (void)fprintf(to, "\n%s\n", title);
        has_title = true;
        put_instruction(to, row, 2);
        for (size_t j = 0; j < tm_length(rows); j++) {
            const struct tm_value *const other = tm_at(rows, j);

            if (is_of(other, relation, 2) &&
                (is_operand ? has_operand(row, get(other, "name")) : has_operand(other, get(row, "name"))))
                put_instruction(to, other, 6);
        }
    }
}

tm_status tm_show_write_hlo(struct tm_run *run, const struct tm_value *root, FILE *to)
{
    const struct tm_value *const rows = tm_get(root, "instructions"), *const op = tm_at(rows, 0);
    const struct tm_value *const bytes = tm_get(op, "bytes_accessed"), *const flops = tm_get(op, "flops");
    const int64_t left = tm_int(tm_get(tm_get(root, "instructions_rest"), "rows"));
    char number[TM_FORMAT_BYTES];

    put_instruction(to, op, 0);
    put_fact(to, "program", get(op, "program"));
    put_fact(to, "computation", get(op, "computation"));
    put_fact(to, "op_name", get(op, "path"));
    put_fact(to, "source", get(op, "source"));
    if (tm_has(tm_get(op, "bytes")))
        put_fact(to, "result", tm_format_bytes(number, tm_double(tm_get(op, "bytes"))));
    if (tm_has(flops))
        put_fact(to, "FLOP", tm_format_unit(number, tm_double(flops), "FLOP"));
    if (tm_has(bytes))
        put_fact(to, "memory traffic", tm_format_bytes(number, tm_double(bytes)));
    put_fact(to, "sharding", get(op, "sharding"));
    put_fact(to, "replica groups", get(op, "replica_groups"));
    put_relation(to, rows, "caller", "Called by");
    put_relation(to, rows, "operand", "Operands, with theirs");
    put_relation(to, rows, "user", "Users, with theirs");
    put_relation(to, rows, "body", "Body");
    if (left)
        (void)fprintf(to, "\nNot listed: %s more instructions.\n", tm_format_count(number, left));
    return run->error.status;
}
