/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of arguments by key, one place for each.  See facts.h. */
#include "stages/input/records/facts.h"

enum { LEAST_BITS = 4, MOST_BITS = 11, CREDIT = 4, CREDIT_MOST = 8 };

struct tm_met_lists {
    struct tm_run *run;
    size_t from_most, row_bytes;
    uint32_t bits;
    uint8_t *rows; /* struct tm_met_list, row_bytes each, 1 << bits of them */
};

struct tm_met_lists *tm_met_lists_new(struct tm_run *run, size_t from_most)
{
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_INPUT) / 16;
    struct tm_met_lists *const lists = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*lists), &run->error);

    if (!lists)
        return NULL;
    lists->run = run;
    lists->from_most = from_most;
    lists->row_bytes = (sizeof(struct tm_met_list) + from_most + 63) / 64 * 64;
    lists->bits = LEAST_BITS;
    while (lists->bits < MOST_BITS && lists->row_bytes << (lists->bits + 1) <= share)
        lists->bits++;
    lists->rows = tm_take(&run->budget, TM_ACCOUNT_INPUT, lists->row_bytes << lists->bits, &run->error);
    if (lists->rows)
        return lists;
    tm_met_lists_free(lists);
    return NULL;
}

void tm_met_lists_free(struct tm_met_lists *lists)
{
    if (!lists)
        return;
    tm_give(&lists->run->budget, TM_ACCOUNT_INPUT, lists->rows, lists->rows ? lists->row_bytes << lists->bits : 0);
    tm_give(&lists->run->budget, TM_ACCOUNT_INPUT, lists, sizeof(*lists));
}

static struct tm_met_list *place_of(const struct tm_met_lists *lists, uint64_t key)
{
    const size_t i = (key ^ key >> 32) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - lists->bits);

    return (struct tm_met_list *)(void *)(lists->rows + i * lists->row_bytes);
}

void tm_met_begin(struct tm_met_lists *lists, uint64_t key, const uint8_t *from, const struct tm_arguments_builder *b,
                  struct tm_met_turn *turn)
{
    struct tm_met_list *const list = place_of(lists, key);

    *turn = (struct tm_met_turn){ .from = from, .list_begin = b->used, .spared_begin = b->spared };
    if (!list->credit) {
        turn->list = list;
        turn->is_learning = true;
        list->key = key;
        list->count = 0;
    } else if (list->key == key) {
        turn->list = list;
    } else {
        list->credit--;
    }
}

/* The length of the common prefix. */
static size_t same_bytes(const uint8_t *a, const uint8_t *b, size_t most)
{
    size_t same = 0;

    for (; same + 8 <= most; same += 8) {
        uint64_t x, y;

        memcpy(&x, a + same, 8);
        memcpy(&y, b + same, 8);
        if (x != y)
            return same + (size_t)__builtin_ctzll(x ^ y) / 8;
    }
    while (same < most && a[same] == b[same])
        same++;
    return same;
}

size_t tm_met_copy_run(struct tm_met_turn *turn, const uint8_t *at, size_t length, struct tm_arguments_builder *b)
{
    const struct tm_met_list *const met = turn->list;
    const struct tm_met_part before = turn->part ? met->parts[turn->part - 1] : (struct tm_met_part){ 0 };
    const size_t left = met->parts[met->count - 1].from_end - (size_t)before.from_end;
    const size_t same = same_bytes(met->from + before.from_end, at, length < left ? length : left);
    uint32_t end = same == left ? met->count : turn->part;
    size_t bytes, spared;

    while (end < met->count && (size_t)met->parts[end].from_end - before.from_end <= same)
        end++;
    if (end == turn->part)
        return 0;
    const struct tm_met_part *const last = &met->parts[end - 1];

    bytes = (size_t)last->list_end - before.list_end;
    spared = (size_t)last->spared_end - before.spared_end;
    if (!tm_arguments_put_nodes(b, met->list + before.list_end, bytes, spared))
        return 0; /* part by part, then */
    turn->part = end;
    return (size_t)last->from_end - before.from_end;
}

/* Keep what was noted. */
static void learn(struct tm_met_lists *lists, struct tm_met_turn *turn, size_t from_bytes,
                  const struct tm_arguments_builder *b)
{
    struct tm_met_list *const list = turn->list;
    const size_t list_bytes = b->used - turn->list_begin;

    list->credit = CREDIT;
    if (!turn->part || turn->part > TM_MET_PARTS || from_bytes > lists->from_most || list_bytes > sizeof(list->list) ||
        b->is_cut || b->has_nul || b->status != TM_OK)
        return;
    list->count = (uint8_t)turn->part;
    memcpy(list->list, b->bytes + turn->list_begin, list_bytes);
    memcpy(list->from, turn->from, from_bytes);
}

void tm_met_end(struct tm_met_lists *lists, struct tm_met_turn *turn, const uint8_t *end,
                const struct tm_arguments_builder *b)
{
    struct tm_met_list *const list = turn->list;

    if (!list)
        return;
    if (turn->is_learning)
        learn(lists, turn, (size_t)(end - turn->from), b);
    else if (turn->made > turn->part / 2)
        list->credit--;
    else if (list->credit < CREDIT_MOST)
        list->credit++;
}
