/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/lengths.h"

struct tm_lengths {
    struct tm_run *run;
    enum tm_account account;
    struct tm_groups *groups; /* struct tm_length: group and value are the key */
};

static void merge(void *into, const void *from)
{
    ((struct tm_length *)into)->count += ((const struct tm_length *)from)->count;
}

struct tm_lengths *tm_lengths_new(struct tm_run *run, enum tm_account account, size_t memory_bytes)
{
    struct tm_lengths *lengths = tm_take(&run->budget, account, sizeof(*lengths), &run->error);

    if (!lengths)
        return NULL;
    lengths->run = run;
    lengths->account = account;
    lengths->groups = tm_groups_new(run, account, sizeof(struct tm_length), memory_bytes, merge);
    if (lengths->groups)
        return lengths;
    tm_lengths_free(lengths);
    return NULL;
}

void tm_lengths_free(struct tm_lengths *lengths)
{
    if (!lengths)
        return;
    tm_groups_free(lengths->groups);
    tm_give(&lengths->run->budget, lengths->account, lengths, sizeof(*lengths));
}

tm_status tm_lengths_add(struct tm_lengths *lengths, uint64_t group, uint64_t value, uint64_t count)
{
    const struct tm_length row = { group, value, count };

    return tm_groups_add(lengths->groups, &row);
}

tm_status tm_lengths_finish(struct tm_lengths *lengths)
{
    return tm_groups_finish(lengths->groups);
}

tm_status tm_lengths_next(struct tm_lengths *lengths, const struct tm_length **length)
{
    const void *row = NULL;
    const tm_status st = tm_groups_next(lengths->groups, &row);

    *length = row;
    return st;
}
