/* SPDX-License-Identifier: Apache-2.0 */
/* The plane /host:metadata has an entry per compiled program: a statistic `Hlo Proto` holds its bytes, which may be
 * hundreds of megabytes.  Only where they lie is noted.  Which program it is, `program_id` says, else the number in
 * the entry's name, else the program itself; the id of the entry may be another number. */
#include "stages/input/xspace/xspace_private.h"
#include "stages/input/xspace/xspace_stat.h"

enum { NAME_MOST = 4096 };

tm_status tm_xspace_program_stat(struct tm_xspace *x, uint64_t plane, uint64_t begin, uint64_t end,
                                 struct tm_program_entry *entry)
{
    struct tm_xstat_place stat;
    const char *text = "";
    size_t length = 0;
    tm_strid name = 0;
    tm_status st = tm_xstat_find(x->input, begin, end, &stat);

    if (st == TM_OK)
        st = tm_xspace_ref(x, plane, stat.id, &name);
    if (st == TM_OK)
        st = tm_names_text(x->source.trace->names, name, 16, &text, &length);
    if (st != TM_OK)
        return st;
    if (stat.value.type == TM_WIRE_LEN && length == 9 && !memcmp(text, "Hlo Proto", 9)) {
        entry->program.begin = stat.value_at;
        entry->program.end = stat.value_at + stat.value.value;
        entry->found = true;
    } else if (stat.value.type == TM_WIRE_VARINT && length == 10 && !memcmp(text, "program_id", 10)) {
        entry->program.id = (int64_t)stat.value.value;
        entry->program.has_id = true;
    }
    return TM_OK;
}

/* The number at the end of "jit_step(12)", which may take 64 bits.  out: *length  of what stands before it */
static bool number_in_name(const char *text, size_t *length, int64_t *id)
{
    uint64_t number = 0;
    size_t at = *length;

    if (at < 3 || text[at - 1] != ')')
        return false;
    for (at--; at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9';)
        at--;
    if (at == 0 || text[at - 1] != '(' || at == *length - 1)
        return false;
    for (size_t i = at; i < *length - 1; i++)
        if (__builtin_mul_overflow(number, 10u, &number) ||
            __builtin_add_overflow(number, (unsigned)(text[i] - '0'), &number))
            return false;
    *length = at - 1;
    *id = (int64_t)number;
    return true;
}

tm_status tm_xspace_add_program(struct tm_xspace *x, tm_strid name, struct tm_program_entry *entry)
{
    struct tm_hlo_program *program = &entry->program;
    char copy[NAME_MOST];
    const char *text;
    size_t length;
    int64_t id;
    tm_status st = tm_names_text(x->source.trace->names, name, sizeof(copy), &text, &length);

    if (st != TM_OK)
        return st;
    memcpy(copy, text, length); /* putting a text in may move it */
    if (number_in_name(copy, &length, &id) && !program->has_id) {
        program->id = id;
        program->has_id = true;
    }
    st = tm_names_put(x->source.trace->names, copy, length, &program->name);
    return st == TM_OK ? tm_hlo_add(x->hlo, program) : st;
}
