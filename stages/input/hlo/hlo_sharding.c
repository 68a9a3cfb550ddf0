/* SPDX-License-Identifier: Apache-2.0 */
/* What the partitions of a program share.  The sharding of an op as text; and for each op, how many devices compute
 * the same.  XLA partitions a program before it writes the HLO of a profile: shapes are those of one device, and only
 * parameters and results still have a sharding.  What an op works on follows from the parameters that it depends on.
 *
 * A value has a set of bits of the device's number that it depends on: {devices=[2,1,2]<=[4] last_tile_dim_replicate}
 * is split in two along the upper bit of four devices, so the two devices that differ in the lower bit have the same.
 * An op depends on what its operands depend on; an all-reduce or all-gather removes the bits in which the members of
 * its groups differ.  An op that depends on no bit is repeated by all devices.  If a number of devices is not a power
 * of two, or an order is not a permutation of bits, a value that is split depends on all bits, so no op is called
 * repeated that is not.
 *
 * Computations are evaluated from the entry on, with the values of their parameters: a loop's until they no longer
 * change.  Memory: a row for each instruction of a program, one for each element of its tuples; both spill.
 * source: OpSharding {type 1, tile_assignment_dimensions 3, tile_assignment_devices 4, tuple_shardings 5,
 *         replicate_on_last_tile_dim 6, last_tile_dims 8, iota_reshape_dims 9, iota_transpose_perm 10};
 *         xla/xla_data.proto */
#include "stages/input/hlo/hlo_private.h"

#include <stdlib.h>

enum {
    SHARDING_DEPTH = 4,
    SHARDING_TEXT = 1024,   /* longer ones end in "..." */
    DEVICES_MOST = 1 << 16, /* for more, what is split depends on all bits */
    NESTING_MOST = 32,      /* of calls */
    ROUNDS_MOST = 8,        /* of a loop; then all elements of its tuple are one */
    PARTS_MOST = 16 << 10,  /* elements of a tuple; of a larger one, all are one */
    WALKS_MOST = 16,        /* how often all instructions of a program may be read */
    SHARDING_TYPE = 1,
    SHARDING_DIMENSIONS = 3,
    SHARDING_DEVICES = 4,
    SHARDING_TUPLE = 5,
    SHARDING_LAST_REPLICATED = 6,
    SHARDING_LAST_TYPES = 8,
    SHARDING_IOTA = 9,
    SHARDING_ORDER = 10,
    IN_TUPLE_INDEX = 13,
};

enum sharding_type { REPLICATED, MAXIMAL, TUPLE, OTHER, MANUAL, UNKNOWN, UNREDUCED };

#define ALL_BITS UINT32_MAX

/* --- as text --- */

static void write_tiles(struct tm_hlo_text *text, struct tm_wire sharding, bool is_last_replicated)
{
    static const char *const kinds[] = { "replicated", "maximal", "tuple", "other", "manual", "unknown", "unreduced" };
    struct tm_hlo_numbers types = tm_hlo_numbers_of(sharding, SHARDING_LAST_TYPES);
    uint64_t type, n = 0;

    tm_hlo_write(text, "devices=");
    (void)tm_hlo_write_numbers(text, "[", sharding, SHARDING_DIMENSIONS);
    tm_hlo_write(text, "]");
    if (tm_hlo_write_numbers(text, "<=[", sharding, SHARDING_IOTA)) {
        tm_hlo_write(text, "]");
        if (tm_hlo_write_numbers(text, "T(", sharding, SHARDING_ORDER))
            tm_hlo_write(text, ")");
    } else {
        (void)tm_hlo_write_numbers(text, "", sharding, SHARDING_DEVICES);
    }
    if (is_last_replicated)
        tm_hlo_write(text, " last_tile_dim_replicate");
    for (; tm_hlo_next_number(&types, &type); n++)
        tm_hlo_write(text, "%s%s", n ? ", " : " last_tile_dims={",
                     type < sizeof(kinds) / sizeof(kinds[0]) ? kinds[type] : "?");
    if (n)
        tm_hlo_write(text, "}");
}

static void write_sharding(struct tm_hlo_text *text, struct tm_wire sharding, int depth) // NOLINT(misc-no-recursion)
{
    struct tm_wire w = sharding;
    struct tm_field field;
    uint64_t type = 0, parts = 0;
    bool is_last_replicated = false;
    struct tm_hlo_numbers devices = tm_hlo_numbers_of(sharding, SHARDING_DEVICES);

    tm_hlo_write(text, "{");
    while (tm_wire_next(&w, &field)) {
        if (field.key == TM_WIRE_KEY(SHARDING_TYPE, TM_WIRE_VARINT))
            type = field.value;
        if (field.key == TM_WIRE_KEY(SHARDING_LAST_REPLICATED, TM_WIRE_VARINT))
            is_last_replicated = field.value != 0;
        if (field.key != TM_WIRE_KEY(SHARDING_TUPLE, TM_WIRE_LEN) || depth == SHARDING_DEPTH || text->cut)
            continue;
        tm_hlo_write(text, "%s", parts++ ? ", " : "");
        write_sharding(text, tm_wire_of(&field), depth + 1);
    }
    if (type == REPLICATED && !parts) {
        tm_hlo_write(text, "replicated");
    } else if (type == MAXIMAL) {
        uint64_t device = 0;

        (void)tm_hlo_next_number(&devices, &device);
        tm_hlo_write(text, "maximal device=%llu", (unsigned long long)device);
    } else if (type == OTHER) {
        write_tiles(text, sharding, is_last_replicated);
    } else if (type == MANUAL || type == UNKNOWN || type == UNREDUCED) {
        tm_hlo_write(text, type == MANUAL ? "manual" : type == UNKNOWN ? "unknown" : "unreduced");
    }
    tm_hlo_write(text, "}");
}

void tm_hlo_write_sharding(struct tm_hlo_text *text, struct tm_wire sharding)
{
    write_sharding(text, sharding, 0);
}

tm_strid tm_hlo_sharding(struct tm_hlo *hlo, const struct tm_hlo_instruction *in)
{
    char room[SHARDING_TEXT + 8];
    struct tm_hlo_text text = { .at = room, .room = SHARDING_TEXT };

    if (!in->sharding.at)
        return 0;
    write_sharding(&text, in->sharding, 0);
    if (text.cut) {
        text.cut = false;
        text.room += 8;
        tm_hlo_write(&text, "...");
    }
    return tm_names_put(hlo->trace->names, text.at, text.length);
}

/* --- why there is a collective --- */

/* The last part of an op_name: "jit(f)/shard_map/psum", "while/body/(layer_0/dot_general:layer_1/dot_general)". */
static struct tm_text last_part(struct tm_text path)
{
    while (path.length && path.at[path.length - 1] == ')')
        path.length--;
    for (size_t i = path.length; i > 0; i--)
        if (path.at[i - 1] == '/')
            return tm_text_from(path, i);
    return path;
}

/* Operations of jax.lax that are collectives in the program: their HLO has their name.  What the partitioner adds has
 * the name of the op that it serves.
 * source: jax/_src/lax/parallel.py */
static bool is_requested(struct tm_text path)
{
    static const char *const names[] = {
        "psum",
        "psum2",
        "psum_invariant",
        "pmax",
        "pmin",
        "ppermute",
        "pbroadcast",
        "pgather",
        "all_gather",
        "all_gather_invariant",
        "all_to_all",
        "reduce_scatter",
        "psum_scatter",
        "ragged_all_to_all",
        "unreduced_psum",
        "all_gather_reduced",
        "collective_permute",
        "psend",
        "precv",
    };
    const struct tm_text last = last_part(path);

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (tm_text_is(last, names[i]))
            return true;
    return false;
}

uint8_t tm_hlo_origin_of(const struct hlo_module *module, const struct tm_hlo_instruction *in)
{
    if (in->known->kind != TM_HLO_COLLECTIVE)
        return TM_HLO_NO_COLLECTIVE;
    if (is_requested(in->path) || module->partitions < 2) /* nothing is partitioned */
        return TM_HLO_REQUESTED;
    return tm_text_begins(in->opcode, "all-reduce") || tm_text_begins(in->opcode, "reduce-scatter") ? TM_HLO_SUMS
                                                                                                    : TM_HLO_RESHARDS;
}

/* --- bits of a sharding --- */

static bool is_power_of_two(uint64_t n)
{
    return n && !(n & (n - 1));
}

/* The device of the n-th tile. */
struct tiles {
    uint64_t dims[TM_HLO_RANK_MOST];
    uint32_t rank, replicated; /* the last dimensions, along which devices have the same */
    uint64_t devices;
    struct tm_hlo_iota iota;
    struct tm_wire message;
};

static uint32_t read_numbers(struct tm_wire message, uint32_t number, uint64_t *to, uint32_t most)
{
    struct tm_hlo_numbers numbers = tm_hlo_numbers_of(message, number);
    uint32_t count = 0;

    while (count < most && tm_hlo_next_number(&numbers, &to[count]))
        count++;
    return count;
}

/* out: false: it is not sound */
static bool read_tiles(struct tm_wire message, struct tiles *t)
{
    uint64_t types[TM_HLO_RANK_MOST];
    uint32_t type_count;
    struct tm_wire w = message;
    struct tm_field field;

    *t = (struct tiles){ .message = message, .devices = 1 };
    t->rank = read_numbers(message, SHARDING_DIMENSIONS, t->dims, TM_HLO_RANK_MOST);
    type_count = read_numbers(message, SHARDING_LAST_TYPES, types, TM_HLO_RANK_MOST);
    while (tm_wire_next(&w, &field))
        if (field.key == TM_WIRE_KEY(SHARDING_LAST_REPLICATED, TM_WIRE_VARINT) && field.value)
            t->replicated = 1;
    for (; type_count && types[type_count - 1] == REPLICATED; type_count--)
        t->replicated++;
    for (uint32_t i = 0; i < t->rank; i++)
        if (!t->dims[i] || __builtin_mul_overflow(t->devices, t->dims[i], &t->devices))
            return false;
    t->iota.rank = read_numbers(message, SHARDING_IOTA, t->iota.dims, TM_HLO_IOTA_RANK_MOST);
    t->iota.order_rank = read_numbers(message, SHARDING_ORDER, t->iota.order, TM_HLO_IOTA_RANK_MOST);
    t->iota.groups = t->devices;
    t->iota.devices = 1;
    return t->rank && t->replicated <= t->rank && (!t->iota.rank || tm_hlo_iota_is_sound(&t->iota));
}

/* Bits of the tile's number and those of the device's are the same, in another order: find what each of them is.
 * in: bits  of the devices.  out: place[]: the device's bit of a bit of the tile */
static bool match_bits(const struct tiles *t, uint32_t bits, uint32_t *place)
{
    struct tm_hlo_numbers listed = tm_hlo_numbers_of(t->message, SHARDING_DEVICES);
    uint64_t device = 0, first = 0;

    for (uint64_t n = 0; n < t->devices; n++) {
        uint64_t expected = first;

        if (t->iota.rank)
            device = tm_hlo_iota_cell(&t->iota, n);
        else if (!tm_hlo_next_number(&listed, &device))
            return false;
        if (n == 0)
            first = expected = device;
        else if (is_power_of_two(n))
            place[__builtin_ctzll(n)] = (uint32_t)(expected = device) ^ (uint32_t)first;
        for (uint32_t i = 0; i < bits && n && !is_power_of_two(n); i++)
            expected ^= n >> i & 1 ? place[i] : 0;
        if (device >= t->devices || device != expected || (is_power_of_two(n) && !is_power_of_two(device ^ first)))
            return false;
    }
    return true;
}

/* The bits of a device's number that its part depends on. */
static uint32_t bits_of_tiles(struct tm_wire sharding, uint64_t devices)
{
    uint32_t place[32], bits, split = 0, at = 0;
    struct tiles t;

    if (!read_tiles(sharding, &t))
        return ALL_BITS;
    for (uint32_t i = 0; i < t.rank - t.replicated; i++)
        split |= t.dims[i] > 1;
    if (!split)
        return 0;
    if (t.devices != devices || !is_power_of_two(devices) || devices > DEVICES_MOST)
        return ALL_BITS;
    bits = (uint32_t)__builtin_ctzll(devices);
    if (!match_bits(&t, bits, place))
        return ALL_BITS;
    split = 0;
    for (uint32_t i = t.rank; i-- > 0;) /* the last dimension has the lowest bits */
        for (uint64_t n = t.dims[i]; n > 1; n /= 2, at++)
            split |= i < t.rank - t.replicated ? place[at] : 0;
    return split;
}

static uint32_t bits_of_sharding(struct tm_wire sharding, uint64_t devices)
{
    struct tm_wire w = sharding;
    struct tm_field field;
    uint64_t type = REPLICATED;
    uint32_t bits = 0;

    while (tm_wire_next(&w, &field)) {
        if (field.key == TM_WIRE_KEY(SHARDING_TYPE, TM_WIRE_VARINT))
            type = field.value;
        else if (field.key == TM_WIRE_KEY(SHARDING_TUPLE, TM_WIRE_LEN))
            bits |= bits_of_tiles(tm_wire_of(&field), devices); /* a replicated one has no tiles, so all bits */
    }
    if (type == REPLICATED)
        return 0;
    return type == OTHER ? bits_of_tiles(sharding, devices) : type == TUPLE ? bits : ALL_BITS;
}

/* The bits in which the members of a collective's groups differ.
 * in: text  "{{0,1},{2,3}}".  out: 0 = not all groups are known, or they are not of this kind */
static uint32_t bits_of_groups(const char *text, uint64_t size, uint64_t devices)
{
    uint32_t bits = 0, of_group = 0;
    uint64_t members = 0, first = 0, seen = 0;
    const char *at = text;

    if (!is_power_of_two(devices) || devices > DEVICES_MOST)
        return 0;
    if (size == devices)
        return (uint32_t)devices - 1;
    for (; *at; at++) {
        char *end;
        uint64_t id;

        if (*at == '}') {
            if (members && (members != size || (bits && bits != of_group)))
                return 0;
            bits = members ? of_group : bits;
            members = of_group = 0;
        }
        if (*at < '0' || *at > '9')
            continue;
        id = strtoull(at, &end, 10);
        at = end - 1;
        if (id >= devices)
            return 0;
        first = members++ ? first : id;
        of_group |= (uint32_t)(id ^ first);
        seen++;
    }
    return seen == devices && size == UINT64_C(1) << __builtin_popcount(bits) ? bits : 0;
}

/* --- values --- */

/* What an instruction's result depends on: as a whole, or each element of a tuple. */
struct value {
    uint32_t bits;         /* of all of it */
    uint32_t first, parts; /* rows of hlo->parts; parts 0 = there are none */
};

struct sharding {
    struct tm_hlo *hlo;
    uint32_t module;
    uint64_t devices, left; /* left: instructions that may still be read */
    uint32_t all;           /* bits of a value that each device has for itself */
    bool gives_up;
};

static uint32_t part_of(struct sharding *s, struct value value, uint32_t n)
{
    if (n < value.parts)
        return *(const uint32_t *)tm_rows_at(s->hlo->parts, value.first + n);
    return value.bits;
}

static struct value whole(uint32_t bits)
{
    return (struct value){ .bits = bits };
}

static void add_part(struct sharding *s, struct value *to, uint32_t bits)
{
    if (tm_rows_count(s->hlo->parts) >= UINT32_MAX / 2) {
        s->gives_up = true;
        return;
    }
    if (!to->parts++)
        to->first = (uint32_t)tm_rows_count(s->hlo->parts);
    to->bits |= bits;
    tm_rows_append(s->hlo->parts, &bits);
}

/* The value that depends on both. */
static struct value join(struct sharding *s, struct value a, struct value b, uint32_t more)
{
    struct value both = whole(0);

    if (a.parts != b.parts || a.parts > PARTS_MOST)
        return whole(a.bits | b.bits | more);
    for (uint32_t i = 0; i < a.parts; i++)
        add_part(s, &both, part_of(s, a, i) | part_of(s, b, i) | more);
    return a.parts ? both : whole(a.bits | b.bits | more);
}

static bool is_same(struct sharding *s, struct value a, struct value b)
{
    bool same = a.parts == b.parts && a.bits == b.bits;

    for (uint32_t i = 0; same && i < a.parts; i++)
        same = part_of(s, a, i) == part_of(s, b, i);
    return same;
}

/* The number of an instruction; false if there is none of that id. */
static bool find_number(struct tm_hlo *hlo, uint32_t module, int64_t id, uint64_t *number)
{
    const struct hlo_result *const found = tm_index_get(hlo->results, tm_hlo_key(module, id));

    if (!found || found->module != module || found->id != id)
        return false;
    *number = found->number;
    return true;
}

static struct value value_of(struct sharding *s, uint64_t id)
{
    const struct hlo_value *row;
    uint64_t number;

    if (!find_number(s->hlo, s->module, (int64_t)id, &number))
        return whole(s->all);
    row = tm_rows_at(s->hlo->values, number);
    return row->is_set ? (struct value){ row->bits, row->first, row->parts } : whole(s->all);
}

/* in: is_computed  its bits are those of what it computes, not of what it waits for or contains */
static void set_value(struct sharding *s, uint64_t number, struct value value, bool is_computed)
{
    struct hlo_value *const row = tm_rows_change(s->hlo->values, number);

    row->bits = value.bits;
    row->first = value.first;
    row->parts = value.parts;
    row->is_set = 1;
    row->is_computed |= is_computed;
    row->seen |= value.bits; /* over all evaluations */
}

void tm_hlo_note_op(struct tm_hlo *hlo, uint32_t module, int64_t id, uint32_t op)
{
    uint64_t number;

    if (hlo->values && find_number(hlo, module, id, &number))
        ((struct hlo_value *)tm_rows_change(hlo->values, number))->op = op;
}

/* --- instructions --- */

static struct value evaluate(struct sharding *s, uint64_t computation, const struct value *parameters, uint32_t count,
                             int depth);

/* The computation of an id; false if there is none, or it is nested too deeply. */
static bool find_called(struct sharding *s, uint64_t id, int depth, uint64_t *row)
{
    const struct hlo_place *const place = tm_index_get(s->hlo->places, tm_hlo_key(s->module, (int64_t)id));

    if (!place || place->module != s->module || place->id != (int64_t)id || depth >= NESTING_MOST)
        return false;
    *row = place->row;
    return true;
}

static uint32_t bits_of_operands(struct sharding *s, const struct tm_hlo_instruction *in)
{
    uint32_t bits = in->is_cut ? s->all : 0;

    for (uint32_t i = 0; i < in->operand_count; i++)
        bits |= value_of(s, in->operands[i]).bits;
    return bits;
}

static struct value tuple_of(struct sharding *s, const struct tm_hlo_instruction *in, uint32_t remove)
{
    struct value tuple = whole(0);

    if (in->operand_count > PARTS_MOST || in->is_cut)
        return whole(bits_of_operands(s, in) & ~remove);
    for (uint32_t i = 0; i < in->operand_count; i++)
        add_part(s, &tuple, value_of(s, in->operands[i]).bits & ~remove);
    return tuple;
}

/* The instruction's data is known before anything else is read: what is evaluated reads into the same buffers. */
struct call {
    uint64_t rows[TM_HLO_CALLED_MOST];
    struct value values[TM_HLO_CALLED_MOST]; /* of its operands */
    uint32_t count, operands;
    bool is_complete;
};

static void read_call(struct sharding *s, const struct tm_hlo_instruction *in, int depth, struct call *call)
{
    struct tm_hlo_numbers called = tm_hlo_numbers_of(in->all, IN_CALLED);
    uint64_t id;

    *call = (struct call){ .is_complete = in->operand_count <= TM_HLO_CALLED_MOST && !in->is_cut };
    while (tm_hlo_next_number(&called, &id)) {
        if (call->count == TM_HLO_CALLED_MOST || !find_called(s, id, depth, &call->rows[call->count])) {
            call->is_complete = false;
            break;
        }
        call->count++;
    }
    call->is_complete &= call->count > 0;
    for (; call->operands < in->operand_count && call->operands < TM_HLO_CALLED_MOST; call->operands++)
        call->values[call->operands] = value_of(s, in->operands[call->operands]);
}

/* The state of a loop, which goes through its body until it no longer changes.  The result of its condition says how
 * often the loop runs, so all of its results depend on it. */
static struct value evaluate_loop(struct sharding *s, const struct call *call, // NOLINT(misc-no-recursion)
                                  int depth)
{
    const uint64_t body = call->rows[0], condition = call->rows[1]; /* in this order in HLO */
    struct value state = call->values[0];
    uint32_t trips;

    for (int round = 0;; round++) {
        const struct value next = join(s, state, evaluate(s, body, &state, 1, depth + 1), 0);

        if (is_same(s, state, next) || s->gives_up)
            break;
        state = round < ROUNDS_MOST ? next : whole(next.bits);
    }
    trips = evaluate(s, condition, &state, 1, depth + 1).bits;
    return trips ? join(s, state, state, trips) : state;
}

static struct value evaluate_branches(struct sharding *s, const struct call *call, // NOLINT(misc-no-recursion)
                                      int depth)
{
    const uint32_t predicate = call->values[0].bits;
    struct value result = whole(0);

    for (uint32_t i = 0; i < call->count; i++) {
        const struct value branch = evaluate(s, call->rows[i], &call->values[1 + i], 1, depth + 1);

        result = i ? join(s, result, branch, 0) : branch;
    }
    return predicate ? join(s, result, result, predicate) : result;
}

static struct value evaluate_collective(struct sharding *s, const struct tm_hlo_instruction *in, uint32_t op_row)
{
    const struct tm_hlo_op *const op = op_row ? tm_rows_at(s->hlo->trace->hlo_ops, op_row) : NULL;
    const bool reduces = tm_text_begins(in->opcode, "all-reduce");
    uint32_t groups = 0;

    if (in->known->traits & TM_HLO_DONE)
        return in->operand_count ? value_of(s, in->operands[0]) : whole(s->all);
    if (op && in->channel > 0)
        groups = bits_of_groups(tm_names_text(s->hlo->trace->names, op->groups, HLO_TEXT_MOST + 8, NULL),
                                op->group_size, s->devices);
    if (!groups && op && op->group_size == 1)
        return whole(bits_of_operands(s, in));
    if (reduces && in->operand_count > 1)
        return tuple_of(s, in, groups);
    if (reduces || tm_text_begins(in->opcode, "all-gather") || tm_text_is(in->opcode, "collective-broadcast"))
        return whole(bits_of_operands(s, in) & ~groups);
    if ((tm_text_is(in->opcode, "reduce-scatter") || tm_text_is(in->opcode, "all-to-all")) && groups)
        return whole(bits_of_operands(s, in) | groups);
    return whole(s->all);
}

/* Each device has its own: its number, random numbers, what comes from outside. */
static bool is_own(const struct tm_hlo_instruction *in)
{
    static const char *const own[] = { "partition-id", "replica-id", "rng", "rng-get-and-update-state", "infeed" };

    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (tm_text_is(in->opcode, own[i]))
            return true;
    return in->is_host_transfer || (in->target.length && memmem(in->target.at, in->target.length, "callback", 8));
}

/* Whether an op returns its operand. */
static bool passes_on(const struct tm_hlo_instruction *in)
{
    static const char *const names[] = { "opt-barrier", "copy",      "bitcast",    "domain",      "add-dependency",
                                         "copy-start",  "copy-done", "async-done", "async-update" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (tm_text_is(in->opcode, names[i]))
            return in->operand_count > 0;
    return false;
}

static struct value element_of(struct sharding *s, const struct tm_hlo_instruction *in)
{
    const uint64_t n = tm_hlo_number_in(in->all, IN_TUPLE_INDEX);

    if (!in->operand_count || n > UINT32_MAX)
        return whole(s->all);
    return whole(part_of(s, value_of(s, in->operands[0]), (uint32_t)n));
}

/* out: false: nothing that it calls is to be evaluated */
static bool evaluate_call(struct sharding *s, const struct tm_hlo_instruction *in, // NOLINT(misc-no-recursion)
                          int depth, struct value *result)
{
    const bool is_loop = tm_text_is(in->opcode, "while"), is_choice = tm_text_is(in->opcode, "conditional");
    struct call call;

    if (!is_loop && !is_choice && !tm_text_is(in->opcode, "call") && !tm_text_is(in->opcode, "async-start"))
        return false;
    read_call(s, in, depth, &call);
    if (!call.is_complete || (is_loop && (call.count != 2 || call.operands != 1)) ||
        (is_choice && call.operands != call.count + 1))
        *result = whole(s->all);
    else if (is_loop)
        *result = evaluate_loop(s, &call, depth);
    else if (is_choice)
        *result = evaluate_branches(s, &call, depth);
    else
        *result = evaluate(s, call.rows[0], call.values, call.operands, depth + 1);
    return true;
}

static bool fusion_is_own(struct sharding *s, const struct tm_hlo_instruction *in, int depth)
{
    uint64_t row;

    if (!in->has_called)
        return false;
    return !find_called(s, in->called, depth, &row) ||
           (((const struct hlo_computation *)tm_rows_at(s->hlo->computations, row))->sums.traits & TM_HLO_OWN);
}

/* Whether the result of a computation with it, such as a fusion, differs between devices regardless of its operands. */
bool tm_hlo_is_own(const struct tm_hlo_instruction *in)
{
    return in->known->kind == TM_HLO_COLLECTIVE || is_own(in);
}

/* Evaluate an op that calls nothing that has to be evaluated. */
static struct value evaluate_simple(struct sharding *s, const struct tm_hlo_instruction *in, int depth)
{
    if (is_own(in) || ((in->known->traits & TM_HLO_IS_FUSION) && fusion_is_own(s, in, depth)))
        return whole(s->all);
    if (tm_text_is(in->opcode, "tuple"))
        return tuple_of(s, in, 0);
    if (tm_text_is(in->opcode, "get-tuple-element"))
        return element_of(s, in);
    return passes_on(in) ? value_of(s, in->operands[0]) : whole(bits_of_operands(s, in));
}

/* A parameter of the program itself: what its sharding says. */
static uint32_t bits_of_parameter(struct sharding *s, const struct tm_hlo_instruction *in)
{
    return in->sharding.at ? bits_of_sharding(in->sharding, s->devices) & s->all : s->all;
}

static void count_parameter(struct sharding *s, const struct tm_hlo_instruction *in, uint32_t bits)
{
    struct tm_hlo_module *const row = tm_rows_change(s->hlo->trace->hlo_modules, s->module);
    struct tm_hlo_shape shape;
    uint64_t *const bytes = bits ? &row->split_bytes : &row->repeated_bytes;

    tm_hlo_shape_read(in->shape, &shape, NULL);
    if (!shape.has_bytes || __builtin_add_overflow(*bytes, shape.bytes, bytes))
        return;
    row->parameters++;
    row->repeated_parameters += !bits;
}

/* The contents of a loop or a call count, not the loop or call itself. */
static bool computes(const struct tm_hlo_instruction *in)
{
    return in->known->kind != TM_HLO_COLLECTIVE &&
           !(in->known->traits & (TM_HLO_CONTAINER | TM_HLO_DONE | TM_HLO_START)) && !tm_text_is(in->opcode, "call");
}

static struct value evaluate_parameter(struct sharding *s, const struct tm_hlo_instruction *in,
                                       const struct value *parameters, uint32_t count, int depth)
{
    if (depth)
        return in->parameter >= 0 && in->parameter < count ? parameters[in->parameter] : whole(s->all);
    const uint32_t bits = bits_of_parameter(s, in);

    count_parameter(s, in, bits);
    return whole(bits);
}

static void evaluate_instruction(struct sharding *s, const struct tm_hlo_instruction *in,
                                 const struct value *parameters, uint32_t count, int depth) // NOLINT(misc-no-recursion)
{
    const bool is_computed = computes(in);
    struct value value;
    uint64_t number;

    if (!find_number(s->hlo, s->module, in->id, &number))
        return;
    if (in->known->traits & TM_HLO_PARAMETER)
        value = evaluate_parameter(s, in, parameters, count, depth);
    else if (in->known->kind == TM_HLO_COLLECTIVE)
        value = evaluate_collective(s, in, ((const struct hlo_value *)tm_rows_at(s->hlo->values, number))->op);
    else if (!evaluate_call(s, in, depth, &value))
        value = evaluate_simple(s, in, depth);
    set_value(s, number, value, is_computed);
}

/* Evaluate a computation with the values of its parameters; of the entry they are those of the program.
 * out: the value of its root */
static struct value evaluate(struct sharding *s, uint64_t computation, const struct value *parameters, uint32_t count,
                             int depth) // NOLINT(misc-no-recursion)
{
    struct tm_hlo *const hlo = s->hlo;
    const struct hlo_computation row = *(const struct hlo_computation *)tm_rows_at(hlo->computations, computation);
    uint64_t at = row.begin;
    bool damaged = false;
    struct tm_reader w;
    struct tm_head head;

    tm_reader_init(&w, hlo->input, hlo->buffer, HLO_BUFFER, at, row.end);
    while (!tm_failed(hlo->run) && !s->gives_up && tm_hlo_next_field(&w, row.end, &head, &damaged)) {
        const uint64_t begin = tm_reader_offset(&w), end = begin + (head.type == TM_WIRE_LEN ? head.value : 0);
        struct tm_hlo_instruction in = { .operands = hlo->operands, .operand_room = HLO_OPERANDS_MOST };
        struct tm_hlo_compacted facts;

        if (head.number != COMPUTATION_INSTRUCTION || head.type != TM_WIRE_LEN) {
            tm_hlo_leave(&w, end);
            continue;
        }
        s->gives_up |= s->left == 0;
        s->left -= s->left > 0;
        tm_hlo_instruction_read(end - begin > HLO_BUFFER ? tm_hlo_compact(&w, end, hlo->compact, &facts)
                                                         : tm_reader_peek(&w, (size_t)(end - begin)),
                                &in);
        if (in.has_called && !(in.known->traits & TM_HLO_IS_FUSION)) { /* it may read into the same buffer */
            evaluate_instruction(s, &in, parameters, count, depth);
            tm_reader_init(&w, hlo->input, hlo->buffer, HLO_BUFFER, end, row.end);
        } else {
            evaluate_instruction(s, &in, parameters, count, depth);
            tm_hlo_leave(&w, end);
        }
    }
    return value_of(s, (uint64_t)row.root_id);
}

/* --- programs --- */

/* How many devices compute the same: those whose numbers differ only in bits that it does not depend on. */
static uint32_t copies_of(const struct sharding *s, uint32_t bits)
{
    if (!bits)
        return (uint32_t)s->devices;
    return is_power_of_two(s->devices) ? (uint32_t)(s->devices >> __builtin_popcount(bits & s->all)) : 1;
}

static void take_values(struct sharding *s, uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count && !tm_failed(s->hlo->run); i++) {
        const struct hlo_value row = *(const struct hlo_value *)tm_rows_at(s->hlo->values, i);

        if (row.op && row.is_set && row.is_computed)
            ((struct tm_hlo_op *)tm_rows_change(s->hlo->trace->hlo_ops, row.op))->copies = copies_of(s, row.seen);
    }
}

static void evaluate_module(struct tm_hlo *hlo, uint32_t number)
{
    struct tm_hlo_module *const row = tm_rows_change(hlo->trace->hlo_modules, number);
    const struct hlo_module module = *(const struct hlo_module *)tm_rows_at(hlo->modules, number);
    struct sharding s = { .hlo = hlo, .module = number, .devices = tm_hlo_devices(&module) };
    const uint64_t instructions = row->instructions;

    row->devices = s.devices;
    if (s.devices < 2 || s.devices > UINT32_MAX || module.is_damaged || module.is_skipped || !module.has_entry)
        return;
    s.all = is_power_of_two(s.devices) ? (uint32_t)s.devices - 1 : ALL_BITS;
    s.left = instructions * WALKS_MOST;
    tm_rows_resize(hlo->parts, 0);
    (void)evaluate(&s, module.entry, NULL, 0, 0);
    if (!s.gives_up)
        take_values(&s, module.first_instruction, instructions);
}

uint64_t tm_hlo_devices(const struct hlo_module *module)
{
    uint64_t devices;

    return __builtin_mul_overflow(module->replicas, module->partitions, &devices) ? 0 : devices;
}

void tm_hlo_share(struct tm_hlo *hlo)
{
    for (uint64_t i = 0; i < tm_rows_count(hlo->modules) && !tm_failed(hlo->run); i++)
        evaluate_module(hlo, (uint32_t)i);
}
