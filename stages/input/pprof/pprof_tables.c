/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a memory profile: strings by their place in the file, functions, locations, sorts of values.  They
 * may come in any order, and refer to strings that come last. */
#include <stdio.h>
#include <string.h>

#include "profile.pb-c.h"
#include "stages/input/bytes/unpacking.h"
#include "stages/input/pprof/pprof_private.h"

static tm_status make_tables(struct pprof *p)
{
    const size_t share = tm_budget_share(&p->run->budget, TM_ACCOUNT_METADATA) / 8;

    p->strings = tm_rows_new(p->run, TM_ACCOUNT_METADATA, sizeof(struct pprof_string), share);
    p->raw = tm_rows_new(p->run, TM_ACCOUNT_METADATA, sizeof(struct pprof_raw_function), share);
    p->lines = tm_rows_new(p->run, TM_ACCOUNT_METADATA, sizeof(struct pprof_line), share);
    p->locations = tm_index_new(p->run, TM_ACCOUNT_METADATA, sizeof(struct pprof_location), share, TM_INDEX_LAST, NULL);
    p->functions = tm_index_new(p->run, TM_ACCOUNT_METADATA, sizeof(struct pprof_function), share, TM_INDEX_LAST, NULL);
    return p->strings && p->raw && p->lines && p->locations && p->functions ? TM_OK : p->run->error.status;
}

void pprof_free_tables(struct pprof *p)
{
    tm_rows_free(p->strings);
    tm_rows_free(p->raw);
    tm_rows_free(p->lines);
    tm_index_free(p->locations);
    tm_index_free(p->functions);
}

/* --- strings --- */

tm_status pprof_text(struct pprof *p, int64_t number, const char **text, size_t *length)
{
    const struct pprof_string *row;
    uint64_t bytes;
    tm_status st;

    *text = "";
    *length = 0;
    if (number < 0 || (uint64_t)number >= tm_rows_count(p->strings)) {
        tm_tally_add(&p->run->tallies, TM_TALLY_NO_METADATA, 1);
        return TM_OK;
    }
    row = tm_rows_at(p->strings, (uint64_t)number);
    if (!row)
        return p->run->error.status;
    bytes = row->length < PPROF_BUFFER ? row->length : PPROF_BUFFER;
    if (bytes < row->length)
        tm_tally_add(&p->run->tallies, TM_TALLY_LONG_VALUE, 1);
    st = tm_input_read(p->input, p->text, (size_t)bytes, row->at, length);
    *text = p->text;
    return st;
}

/* --- messages --- */

/* What a small message unpacks to. */
typedef tm_status use_message(struct pprof *p, const struct tm_wire *bytes);

static tm_status use_type(struct pprof *p, const struct tm_wire *bytes)
{
    struct tm_unpacking unpacking;
    Tracemill__Pprof__ValueType *m =
        tracemill__pprof__value_type__unpack(tm_unpacking_begin(&unpacking), (size_t)(bytes->end - bytes->at), bytes->at);

    if (!m)
        return tm_unpacking_refused(&unpacking, p->run);
    if (p->type_count < PPROF_VALUES_MOST)
        p->types[p->type_count++] = (struct pprof_type){ m->type, m->unit };
    tracemill__pprof__value_type__free_unpacked(m, NULL);
    return TM_OK;
}

static tm_status use_location(struct pprof *p, const struct tm_wire *bytes)
{
    struct tm_unpacking unpacking;
    Tracemill__Pprof__Location *m =
        tracemill__pprof__location__unpack(tm_unpacking_begin(&unpacking), (size_t)(bytes->end - bytes->at), bytes->at);
    struct pprof_location row = { .first = tm_rows_count(p->lines) };
    tm_status st = TM_OK;

    if (!m)
        return tm_unpacking_refused(&unpacking, p->run);
    row.key = m->id;
    row.count = m->n_line;
    for (size_t i = 0; i < m->n_line && st == TM_OK; i++) {
        const struct pprof_line line = { m->line[i]->function_id, m->line[i]->line };

        st = tm_rows_append(p->lines, &line);
    }
    tracemill__pprof__location__free_unpacked(m, NULL);
    return st == TM_OK ? tm_index_put(p->locations, &row) : st;
}

static tm_status use_function(struct pprof *p, const struct tm_wire *bytes)
{
    struct tm_unpacking unpacking;
    Tracemill__Pprof__Function *m =
        tracemill__pprof__function__unpack(tm_unpacking_begin(&unpacking), (size_t)(bytes->end - bytes->at), bytes->at);
    struct pprof_raw_function row;

    if (!m)
        return tm_unpacking_refused(&unpacking, p->run);
    row = (struct pprof_raw_function){ m->id, m->name ? m->name : m->system_name, m->filename };
    tracemill__pprof__function__free_unpacked(m, NULL);
    return tm_rows_append(p->raw, &row);
}

/* The bytes of a message at the window's place; what is longer than the window is left out. */
static tm_status take_message(struct pprof *p, struct tm_reader *w, uint64_t length, use_message *use)
{
    struct tm_wire bytes;
    tm_status st;

    if (length > PPROF_BUFFER) {
        tm_tally_add(&p->run->tallies, TM_TALLY_LONG_VALUE, 1);
        return TM_OK;
    }
    st = tm_reader_peek(w, (size_t)length, &bytes);
    return st == TM_OK ? use(p, &bytes) : st;
}

static tm_status take_field(struct pprof *p, struct tm_reader *w, const struct tm_head *head)
{
    const struct pprof_string string = { tm_reader_offset(w), head->value };

    switch (head->number) {
    case PROFILE_SAMPLE_TYPE:
        return take_message(p, w, head->value, use_type);
    case PROFILE_LOCATION:
        return take_message(p, w, head->value, use_location);
    case PROFILE_FUNCTION:
        return take_message(p, w, head->value, use_function);
    case PROFILE_STRING:
        return tm_rows_append(p->strings, &string);
    default: /* samples wait for the tables; nothing else is asked for */
        return TM_OK;
    }
}

static tm_status scan(struct pprof *p)
{
    struct tm_reader w;
    struct tm_head head;
    bool more;
    tm_status st;

    tm_reader_init(&w, p->input, p->buffer, PPROF_BUFFER, 0, p->end);
    st = pprof_next_field(p, &w, &head, &more);
    while (st == TM_OK && more) {
        if (head.type == TM_WIRE_LEN) {
            st = take_field(p, &w, &head);
            tm_reader_skip(&w, head.value);
        } else if (head.number <= PROFILE_STRING) { /* those are all messages and texts */
            tm_tally_add(&p->run->tallies, TM_TALLY_BAD_FIELD, 1);
        }
        if (st == TM_OK)
            st = pprof_next_field(p, &w, &head, &more);
    }
    return st;
}

/* --- when all is known --- */

static tm_status name_functions(struct pprof *p)
{
    tm_status st = TM_OK;

    for (uint64_t i = 0; i < tm_rows_count(p->raw) && st == TM_OK; i++) {
        const struct pprof_raw_function *row = tm_rows_at(p->raw, i);
        struct pprof_raw_function raw;
        struct pprof_function function = { .key = 0 };
        const char *text;
        size_t length;

        if (!row)
            return p->run->error.status;
        raw = *row;
        function.key = raw.id;
        st = pprof_text(p, raw.name, &text, &length);
        if (st == TM_OK)
            st = tm_names_put(p->names, text, length, &function.name);
        if (st == TM_OK)
            st = pprof_text(p, raw.file, &text, &length);
        if (st != TM_OK)
            break;
        function.owner = tm_code_owner_of(text, length);
        st = tm_names_put(p->names, text, length, &function.file);
        if (st == TM_OK)
            st = tm_index_put(p->functions, &function);
    }
    return st;
}

/* The place of the value with that unit: of several the one of the first wanted type, else the last one.
 * out: *at  -1 = there is none */
static tm_status find_value(struct pprof *p, const char *unit, const char *const wanted[2], int *at)
{
    int best = 3; /* 0 and 1 are places in `wanted` */

    *at = -1;
    for (uint32_t i = 0; i < p->type_count; i++) {
        const char *text;
        size_t length;
        int rank = 2;
        tm_status st = pprof_text(p, p->types[i].unit, &text, &length);

        if (st != TM_OK)
            return st;
        if (length != strlen(unit) || memcmp(text, unit, length) != 0)
            continue;
        st = pprof_text(p, p->types[i].type, &text, &length);
        if (st != TM_OK)
            return st;
        for (int k = 0; k < 2; k++)
            if (length == strlen(wanted[k]) && !memcmp(text, wanted[k], length))
                rank = k;
        if (rank < best || (rank == 2 && best == 2)) {
            best = rank;
            *at = (int)i;
        }
    }
    return TM_OK;
}

/* JAX counts "allocations" and "space"; heap profiles of other programs have what is in use among others. */
static tm_status find_values(struct pprof *p)
{
    static const char *const spaces[2] = { "space", "inuse_space" };
    static const char *const objects[2] = { "allocations", "inuse_objects" };
    tm_status st = find_value(p, "bytes", spaces, &p->bytes_at);

    if (st == TM_OK)
        st = find_value(p, "count", objects, &p->count_at);
    if (st != TM_OK || p->bytes_at >= 0)
        return st;
    if (p->damage->is_damaged)
        (void)tm_fail(&p->run->error, TM_ERR_INPUT, -1, "%s is damaged: what its values are is lost", p->input->name);
    else
        (void)tm_fail(&p->run->error, TM_ERR_INPUT, -1, "%s is a pprof profile that counts no bytes of memory",
                      p->input->name);
    tm_hint(&p->run->error, "give the file that jax.profiler.save_device_memory_profile() wrote");
    return TM_ERR_INPUT;
}

tm_status pprof_read_tables(struct pprof *p)
{
    tm_status st = make_tables(p);

    if (st == TM_OK)
        st = scan(p);
    if (st == TM_OK)
        st = tm_index_finish(p->locations);
    if (st == TM_OK)
        st = find_values(p);
    if (st == TM_OK)
        st = name_functions(p);
    if (st == TM_OK)
        st = tm_index_finish(p->functions);
    if (st == TM_OK)
        tm_tally_add(&p->run->tallies, TM_TALLY_DUPLICATE_METADATA,
                     tm_index_twin_count(p->locations) + tm_index_twin_count(p->functions));
    return st;
}
