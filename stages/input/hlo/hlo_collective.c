/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives: which ranks take part, as HLO writes it ("{{0,1},{2,3}}"), and the most that one of them sends or
 * receives.  Groups are listed, or told as a transposed grid of 0, 1, 2 ...
 * source: ReplicaGroup {replica_ids 1}, CollectiveDeviceListProto {replica_groups 1, iota_replica_group_list 2},
 *         IotaReplicaGroupListProto {num_replica_groups 1, num_devices_per_group 2, iota_reshape_dims 3,
 *         iota_transpose_perm 4}, SourceTarget {source 1, target 2}; xla/xla_data.proto */
#include "stages/input/hlo/hlo_private.h"

enum {
    IN_GROUPS = 49, IN_PAIRS = 52, GROUP_IDS = 1, LIST_GROUPS = 1, LIST_IOTA = 2,
    IOTA_GROUPS = 1, IOTA_DEVICES = 2, IOTA_DIMS = 3, IOTA_ORDER = 4,
    GROUPS_TEXT = 4096, /* longer ones end in "..." */
    IOTA_RANK_MOST = 8,
};

/* What is found of the groups. */
struct groups {
    struct tm_hlo_text text;
    uint64_t count, size; /* size: of the first group; of pairs: their number */
    char room[GROUPS_TEXT + 8];
};

static void begin_groups(struct groups *g)
{
    g->text = (struct tm_hlo_text){ .at = g->room, .room = GROUPS_TEXT };
    g->count = g->size = 0;
}

/* The groups that a repeated field of a message lists. */
static void take_lists(struct groups *g, struct tm_wire message, uint32_t number)
{
    struct tm_field field;

    while (tm_wire_next(&message, &field)) {
        struct tm_hlo_numbers ids;
        uint64_t id, n = 0;

        if (field.key != TM_WIRE_KEY(number, TM_WIRE_LEN))
            continue;
        ids = tm_hlo_numbers_of((struct tm_wire){ field.bytes, field.bytes + field.value }, GROUP_IDS);
        tm_hlo_write(&g->text, "%s{", g->count ? "," : "{");
        for (; tm_hlo_next_number(&ids, &id); n++)
            tm_hlo_write(&g->text, "%s%lld", n ? "," : "", (long long)id);
        tm_hlo_write(&g->text, "}");
        if (!g->count++)
            g->size = n;
    }
    if (g->count)
        tm_hlo_write(&g->text, "}");
}

static void take_pairs(struct groups *g, struct tm_wire message)
{
    struct tm_field field;

    while (tm_wire_next(&message, &field)) {
        struct tm_wire pair;
        uint64_t ends[2] = { 0, 0 };
        struct tm_field end;

        if (field.key != TM_WIRE_KEY(IN_PAIRS, TM_WIRE_LEN))
            continue;
        pair = (struct tm_wire){ field.bytes, field.bytes + field.value };
        while (tm_wire_next(&pair, &end))
            if (end.key == TM_WIRE_KEY(1, TM_WIRE_VARINT) || end.key == TM_WIRE_KEY(2, TM_WIRE_VARINT))
                ends[(end.key >> TM_WIRE_TYPE_BITS) - 1] = end.value;
        tm_hlo_write(&g->text, "%s{%lld,%lld}", g->count ? "," : "{", (long long)ends[0], (long long)ends[1]);
        g->count++;
    }
    g->size = g->count;
    if (g->count)
        tm_hlo_write(&g->text, "}");
}

/* A grid of the numbers 0, 1, 2 ... with its dimensions in another order, read row by row in groups of one size. */
struct iota {
    uint64_t groups, devices;
    uint64_t dims[IOTA_RANK_MOST], order[IOTA_RANK_MOST];
    uint32_t rank, order_rank;
};

static void take_numbers(struct tm_wire message, uint32_t number, uint64_t *to, uint32_t *count)
{
    struct tm_hlo_numbers numbers = tm_hlo_numbers_of(message, number);
    uint64_t value;

    for (*count = 0; *count < IOTA_RANK_MOST && tm_hlo_next_number(&numbers, &value); ++*count)
        to[*count] = value;
}

/* Whether the grid has as many cells as the groups have members, and its order is one. */
static bool iota_is_sound(const struct iota *iota)
{
    uint64_t members, cells = 1;
    unsigned seen = 0;

    if (!iota->rank || (iota->order_rank && iota->order_rank != iota->rank) ||
        __builtin_mul_overflow(iota->groups, iota->devices, &members) || !members)
        return false;
    for (uint32_t i = 0; i < iota->rank; i++) {
        const uint64_t place = iota->order_rank ? iota->order[i] : i;

        if (place >= iota->rank || __builtin_mul_overflow(cells, iota->dims[i], &cells))
            return false;
        seen |= 1u << place;
    }
    return cells == members && seen == (1u << iota->rank) - 1;
}

/* The number in the n-th cell. */
static uint64_t iota_cell(const struct iota *iota, uint64_t n)
{
    uint64_t place[IOTA_RANK_MOST] = { 0 }, value = 0;

    for (uint32_t i = iota->rank; i-- > 0;) {
        const uint64_t dim = iota->order_rank ? iota->order[i] : i;

        place[dim] = n % iota->dims[dim];
        n /= iota->dims[dim];
    }
    for (uint32_t i = 0; i < iota->rank; i++)
        value = value * iota->dims[i] + place[i];
    return value;
}

static void take_iota(struct groups *g, struct tm_wire message)
{
    struct iota iota = { .groups = 0 };
    struct tm_field field;
    struct tm_wire w = message;

    while (tm_wire_next(&w, &field)) {
        if (field.key == TM_WIRE_KEY(IOTA_GROUPS, TM_WIRE_VARINT))
            iota.groups = field.value;
        if (field.key == TM_WIRE_KEY(IOTA_DEVICES, TM_WIRE_VARINT))
            iota.devices = field.value;
    }
    take_numbers(message, IOTA_DIMS, iota.dims, &iota.rank);
    take_numbers(message, IOTA_ORDER, iota.order, &iota.order_rank);
    if (!iota_is_sound(&iota))
        return;
    g->count = iota.groups;
    g->size = iota.devices;
    for (uint64_t n = 0; n < iota.groups * iota.devices && !g->text.cut; n++)
        tm_hlo_write(&g->text, "%s%llu", n == 0 ? "{{" : n % iota.devices ? "," : "},{",
                     (unsigned long long)iota_cell(&iota, n));
    tm_hlo_write(&g->text, "}}");
}

static void take_device_list(struct groups *g, struct tm_wire list)
{
    struct tm_wire w = list;
    struct tm_field field;

    take_lists(g, list, LIST_GROUPS);
    while (!g->count && tm_wire_next(&w, &field))
        if (field.key == TM_WIRE_KEY(LIST_IOTA, TM_WIRE_LEN))
            take_iota(g, (struct tm_wire){ field.bytes, field.bytes + field.value });
}

/* No groups are listed: all take part. */
static uint64_t size_of_all(const struct hlo_module *module, const struct tm_hlo_instruction *in)
{
    uint64_t all = module->replicas;

    if (in->channel > 0 && __builtin_mul_overflow(module->replicas, module->partitions, &all))
        return 0;
    return all;
}

/* The most that a rank sends or receives.  What begins here holds its operands in its result, the result of the
 * operation second. */
static uint64_t message_bytes(const struct tm_hlo_instruction *in, const struct hlo_cost *cost)
{
    const bool is_start = (in->known->traits & TM_HLO_START) && cost->shape.is_tuple;
    const uint64_t result = is_start ? cost->shape.part[1] : cost->shape.bytes;

    if (!cost->has_operand_bytes || !cost->shape.has_bytes)
        return 0;
    return cost->operand_bytes > result ? cost->operand_bytes : result;
}

tm_status tm_hlo_collective(struct tm_hlo *hlo, const struct hlo_module *module, const struct tm_hlo_instruction *in,
                            const struct hlo_cost *cost, struct tm_hlo_op *op)
{
    struct groups g;

    if (in->known->kind != TM_HLO_COLLECTIVE || in->known->traits & TM_HLO_DONE)
        return TM_OK;
    begin_groups(&g);
    if (in->known->traits & TM_HLO_PERMUTES)
        take_pairs(&g, in->all);
    else
        take_device_list(&g, in->devices);
    if (!g.count)
        take_lists(&g, in->all, IN_GROUPS);
    if (!g.size && !(in->known->traits & TM_HLO_PERMUTES))
        g.size = size_of_all(module, in);
    op->group_size = g.size < UINT32_MAX ? (uint32_t)g.size : 0;
    op->message_bytes = message_bytes(in, cost);
    if (g.text.cut) {
        g.text.cut = false;
        g.text.room += 8;
        tm_hlo_write(&g.text, "...");
    }
    return g.text.length ? tm_names_put(hlo->trace->names, g.text.at, g.text.length, &op->groups) : TM_OK;
}
