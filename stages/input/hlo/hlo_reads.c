/* SPDX-License-Identifier: Apache-2.0 */
/* What a fusion reads of its operands, and what it writes: a parameter that is only sliced inside is not read whole,
 * and a root that updates a slice writes that slice.  Loops over stacked layers are made of such fusions; without this
 * their bytes would be those of all layers each time.
 * One computation at a time, in a table of fixed size; a computation of more instructions reads and writes all. */
#include "stages/input/hlo/hlo_private.h"

enum { VALUES_MOST = 2048, SLOTS = 4096 /* a power of two */ };

/* An instruction of the computation. */
struct value {
    int64_t id;
    uint64_t written;      /* bytes, if it is the result */
    uint64_t read;         /* of a parameter: bytes that slices take */
    int64_t number;        /* of a parameter */
    uint16_t parameter;    /* the value, plus one, of the parameter that this is another shape of; 0 = none */
    uint8_t has_written;
    uint8_t is_whole;      /* of a parameter: something reads all of it */
    uint8_t is_used;
};

struct hlo_reads {
    struct value values[VALUES_MOST];
    uint16_t slots[SLOTS]; /* by id: number of a value, plus one */
    uint64_t seed;
    uint32_t count;
    bool overflows;
};

struct hlo_reads *tm_hlo_reads_new(struct tm_run *run)
{
    struct hlo_reads *const reads = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*reads), &run->error);

    if (reads)
        reads->seed = tm_hash_seed(reads);
    return reads;
}

void tm_hlo_reads_free(struct tm_run *run, struct hlo_reads *reads)
{
    tm_give(&run->budget, TM_ACCOUNT_INPUT, reads, reads ? sizeof(*reads) : 0);
}

void tm_hlo_reads_begin(struct hlo_reads *reads)
{
    if (reads->count)
        memset(reads->slots, 0, sizeof(reads->slots));
    reads->count = 0;
    reads->overflows = false;
}

/* The slot of an id: that of its value, or an empty one. */
static uint16_t *slot_of(struct hlo_reads *reads, int64_t id)
{
    size_t at = (size_t)tm_hash_mix((uint64_t)id, reads->seed) & (SLOTS - 1);

    while (reads->slots[at] && reads->values[reads->slots[at] - 1].id != id)
        at = (at + 1) & (SLOTS - 1);
    return &reads->slots[at];
}

static struct value *find(struct hlo_reads *reads, uint64_t id)
{
    const uint16_t number = *slot_of(reads, (int64_t)id);

    return number ? &reads->values[number - 1] : NULL;
}

static struct value *parameter_of(struct hlo_reads *reads, const struct value *value)
{
    return value && value->parameter ? &reads->values[value->parameter - 1] : NULL;
}

static bool is_opcode(const struct tm_hlo_instruction *in, const char *name)
{
    return tm_text_is(in->opcode, name);
}

/* What the instruction reads of one of its operands. */
static void use(struct value *parameter, const struct tm_hlo_instruction *in, uint32_t n,
                const struct hlo_result *result)
{
    const uint16_t traits = in->known->traits;

    parameter->is_used = 1;
    if (n > 0 || !(traits & (TM_HLO_SLICES | TM_HLO_UPDATES))) {
        parameter->is_whole |= !is_opcode(in, "bitcast");
        return;
    }
    if ((traits & TM_HLO_SLICES) &&
        (!result->has_bytes || __builtin_add_overflow(parameter->read, result->bytes, &parameter->read)))
        parameter->is_whole = 1;
}

/* What it writes where it is the result. */
static void set_written(struct hlo_reads *reads, const struct tm_hlo_instruction *in, const struct hlo_result *result,
                        struct value *value)
{
    const bool is_tuple = is_opcode(in, "tuple");
    const struct value *update;

    value->written = result->bytes;
    value->has_written = result->has_bytes;
    if (in->known->traits & TM_HLO_UPDATES && in->operand_count > 1) {
        update = find(reads, in->operands[1]);
        value->written = update ? update->written : 0;
        value->has_written = update && update->has_written;
    } else if (is_tuple || (is_opcode(in, "bitcast") && in->operand_count == 1)) {
        value->written = 0;
        value->has_written = 1;
        for (uint32_t i = 0; i < in->operand_count; i++) {
            const struct value *part = find(reads, in->operands[i]);

            if (!part || !part->has_written || __builtin_add_overflow(value->written, part->written, &value->written))
                value->has_written = 0;
        }
    }
}

void tm_hlo_reads_note(struct hlo_reads *reads, const struct tm_hlo_instruction *in, const struct hlo_result *result)
{
    uint16_t *slot;
    struct value value = { .id = in->id };

    if (reads->count == VALUES_MOST || in->is_cut)
        reads->overflows = true;
    if (reads->overflows)
        return;
    set_written(reads, in, result, &value);
    for (uint32_t i = 0; i < in->operand_count; i++) {
        struct value *parameter = parameter_of(reads, find(reads, in->operands[i]));

        if (parameter)
            use(parameter, in, i, result);
        if (parameter && i == 0 && is_opcode(in, "bitcast"))
            value.parameter = (uint16_t)(parameter - reads->values + 1);
    }
    if (in->known->traits & TM_HLO_PARAMETER) {
        value.parameter = (uint16_t)(reads->count + 1);
        value.number = in->parameter;
    }
    slot = slot_of(reads, in->id);
    if (*slot) { /* two of one id */
        reads->overflows = true;
        return;
    }
    reads->values[reads->count++] = value;
    *slot = (uint16_t)reads->count;
}

static tm_status put_read(struct tm_hlo *hlo, uint64_t computation, const struct value *value)
{
    struct hlo_read row = { .computation = computation, .number = value->number, .bytes = value->read };

    row.key = tm_hlo_key(computation, value->number);
    return tm_index_put(hlo->partial_reads, &row);
}

tm_status tm_hlo_reads_end(struct tm_hlo *hlo, uint64_t number, int64_t root_id, struct hlo_computation *computation)
{
    struct hlo_reads *reads = hlo->reads;
    const struct value *root = reads->overflows ? NULL : find(reads, (uint64_t)root_id);
    tm_status st = TM_OK;

    if (root && root->has_written) {
        computation->written = root->written;
        computation->has_written = 1;
    }
    for (uint32_t i = 0; i < reads->count && !reads->overflows && st == TM_OK; i++) {
        const struct value *value = &reads->values[i];

        if (value->parameter == i + 1 && value->is_used && !value->is_whole && value != root)
            st = put_read(hlo, number, value);
    }
    return st;
}

tm_status tm_hlo_read_of(struct tm_hlo *hlo, uint64_t computation, uint32_t number, bool *is_part, uint64_t *bytes)
{
    const void *row;
    const tm_status st = tm_index_get(hlo->partial_reads, tm_hlo_key(computation, number), &row);
    const struct hlo_read *found = row;

    *is_part = st == TM_OK && found && found->computation == computation && found->number == (int64_t)number;
    *bytes = *is_part ? found->bytes : 0;
    return st;
}
