/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers in a partial.  Hosts and devices are numbered anew where they are read. */
#include "pipeline/groups.h"
#include "stages/diagnose/transfers/transfers_private.h"

enum { SUM_WORDS = 6, SIZE_WORDS = 3 };
static_assert(sizeof(struct copy_sum) == 8 * SUM_WORDS, "written as words");
static_assert(sizeof(struct copy_size) == 8 * SIZE_WORDS, "written as words");

/* --- saving --- */

static tm_status save_devices(struct transfers *t, struct tm_partial_writer *w)
{
    const uint64_t devices = tm_rows_count(t->ids), pairs = tm_rows_count(t->pairs);

    tm_partial_put_u64(w, devices);
    for (uint64_t i = 0; i < devices; i++) {
        const struct device_id *id = tm_rows_at(t->ids, i);

        if (!id)
            return t->run->error.status;
        tm_partial_put_device(w, id->host, id->id);
    }
    tm_partial_put_u64(w, pairs);
    for (uint64_t i = 0; i < pairs; i++) {
        const struct copy_pair *pair = tm_rows_at(t->pairs, i);

        if (!pair)
            return t->run->error.status;
        tm_partial_put_u64(w, pair->number);
        tm_partial_put_u64(w, pair->direction);
        tm_partial_put_words(w, &pair->sum, SUM_WORDS);
    }
    return TM_OK;
}

static void save_repeat(struct tm_partial_writer *w, const void *of)
{
    const struct copy_repeat *repeat = of;

    tm_partial_put_words(w, &repeat->key, 2);
    tm_partial_put_u64(w, repeat->count);
    tm_partial_put_i64(w, repeat->total_ps);
}

static void save_largest(struct transfers *t, struct tm_partial_writer *w)
{
    tm_top_rows_sort(t->largest);
    tm_partial_put_u64(w, tm_top_rows_count(t->largest));
    for (uint64_t i = 0; i < tm_top_rows_count(t->largest); i++) {
        const struct large_copy *copy = tm_top_rows_at(t->largest, i);

        tm_partial_put_u64(w, copy->bytes);
        tm_partial_put_i64(w, copy->begin_ps);
        tm_partial_put_i64(w, copy->dur_ps);
        tm_partial_put_u32(w, copy->number);
        tm_partial_put_u32(w, copy->direction);
    }
}

tm_status tm_transfers_save(struct tm_stage *s, struct tm_partial_writer *w)
{
    struct transfers *t = s->state;
    tm_status st;

    for (int i = 0; i < TM_DIRECTION_COUNT; i++) {
        tm_partial_put_words(w, &t->directions[i].inside, SUM_WORDS);
        tm_partial_put_words(w, &t->directions[i].outside, SUM_WORDS);
        tm_partial_put_i64(w, t->directions[i].exposed_ps);
        tm_partial_put_i64(w, t->directions[i].outside_exposed_ps);
        tm_partial_put_double(w, t->directions[i].best_rate);
    }
    tm_partial_put_words(w, t->sizes, (size_t)SIZE_ROWS * SIZE_WORDS);
    tm_partial_put_words(w, &t->pageable, SUM_WORDS);
    tm_partial_put_words(w, t->tpu_host, (size_t)2 * SUM_WORDS);
    tm_partial_put_u64(w, t->copies_of_known_kind);
    tm_partial_put_u64(w, t->ping_pongs);
    tm_partial_put_u64(w, t->chosen_steps);
    tm_partial_put_u8(w, t->has_accelerator);
    tm_partial_put_u8(w, t->has_cpu);
    st = save_devices(t, w);
    if (st == TM_OK)
        st = tm_partial_put_groups(w, t->repeats, save_repeat);
    save_largest(t, w);
    return st;
}

/* --- loading --- */

static struct copy_sum load_sum(struct tm_partial_reader *r)
{
    struct copy_sum sum = { .count = tm_partial_u64(r) };

    sum.bytes = tm_partial_u64(r);
    sum.unknown_count = tm_partial_u64(r);
    sum.moved_bytes = tm_partial_u64(r);
    sum.total_ps = tm_partial_time(r);
    sum.moved_ps = tm_partial_time(r);
    return sum;
}

static void merge_sum(struct copy_sum *into, const struct copy_sum *from)
{
    into->count += from->count;
    into->bytes = tm_sum_counts(into->bytes, from->bytes);
    into->unknown_count += from->unknown_count;
    into->total_ps = tm_sum_times(into->total_ps, from->total_ps);
    into->moved_bytes = tm_sum_counts(into->moved_bytes, from->moved_bytes);
    into->moved_ps = tm_sum_times(into->moved_ps, from->moved_ps);
}

static void load_and_merge(struct tm_partial_reader *r, struct copy_sum *into)
{
    const struct copy_sum sum = load_sum(r);

    merge_sum(into, &sum);
}

static void load_sums(struct transfers *t, struct tm_partial_reader *r)
{
    for (int i = 0; i < TM_DIRECTION_COUNT; i++) {
        struct copy_direction *direction = &t->directions[i];
        double rate;

        load_and_merge(r, &direction->inside);
        load_and_merge(r, &direction->outside);
        direction->exposed_ps = tm_sum_times(direction->exposed_ps, tm_partial_time(r));
        direction->outside_exposed_ps =
            tm_sum_times(direction->outside_exposed_ps, tm_partial_time(r));
        rate = tm_partial_double(r);
        if (rate > direction->best_rate)
            direction->best_rate = rate;
    }
    for (int i = 0; i < SIZE_ROWS; i++) {
        t->sizes[i].count += tm_partial_u64(r);
        t->sizes[i].bytes = tm_sum_counts(t->sizes[i].bytes, tm_partial_u64(r));
        t->sizes[i].total_ps = tm_sum_times(t->sizes[i].total_ps, tm_partial_time(r));
    }
    load_and_merge(r, &t->pageable);
    load_and_merge(r, &t->tpu_host[0]);
    load_and_merge(r, &t->tpu_host[1]);
    t->copies_of_known_kind += tm_partial_u64(r);
    t->ping_pongs += tm_partial_u64(r);
    t->chosen_steps = tm_sum_counts(t->chosen_steps, tm_partial_u64(r));
    t->has_accelerator |= tm_partial_bool(r);
    t->has_cpu |= tm_partial_bool(r);
}

static tm_status load_devices(struct transfers *t, struct tm_partial_reader *r, uint64_t *devices)
{
    const uint64_t first = tm_rows_count(t->ids);
    uint64_t pairs;
    tm_status st;

    *devices = tm_partial_below_u64(r, TM_NONE - first);
    st = tm_partial_status(r);
    for (uint64_t i = 0; i < *devices && st == TM_OK; i++) {
        struct device_id id = { .host = 0 };

        id.host = tm_partial_device(r, id.id, sizeof(id.id));
        st = tm_partial_is_ok(r) ? tm_rows_append(t->ids, &id) : tm_partial_status(r);
    }
    pairs = tm_partial_u64(r);
    for (uint64_t i = 0; i < pairs && st == TM_OK; i++) {
        struct copy_pair pair = { .number = first + tm_partial_below_u64(r, *devices) };

        pair.direction = tm_partial_below_u64(r, TM_DIRECTION_COUNT);
        pair.sum = load_sum(r);
        st = tm_partial_is_ok(r) ? tm_rows_append(t->pairs, &pair) : tm_partial_status(r);
    }
    return st;
}

static void load_repeat(struct tm_partial_reader *r, void *to)
{
    struct copy_repeat *repeat = to;

    tm_partial_words(r, &repeat->key, 2);
    repeat->count = tm_partial_u64(r);
    repeat->total_ps = tm_partial_time(r);
    if (tm_partial_is_ok(r) &&
        (repeat->key.high >> 61 >= TM_DIRECTION_COUNT || repeat->key.low >> 32 >= tm_partial_host_count(r)))
        (void)tm_partial_damaged(r, "a number is out of its range");
    repeat->key.low += (uint64_t)tm_partial_first_host(r) << 32;
}

static tm_status load_largest(struct transfers *t, struct tm_partial_reader *r, uint64_t first, uint64_t devices)
{
    const uint64_t count = tm_partial_below_u64(r, LARGEST_ROWS + 1);
    tm_status st = tm_partial_status(r);

    for (uint64_t i = 0; i < count && st == TM_OK; i++) {
        struct large_copy copy = { .bytes = tm_partial_u64(r) };

        copy.begin_ps = tm_partial_i64(r);
        copy.dur_ps = tm_partial_time(r);
        copy.number = (uint32_t)first + tm_partial_below_u32(r, devices);
        copy.direction = tm_partial_below_u32(r, TM_DIRECTION_COUNT);
        st = tm_partial_is_ok(r) ? tm_top_rows_add(t->largest, &copy) : tm_partial_status(r);
    }
    return st;
}

tm_status tm_transfers_load(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct transfers *t = s->state;
    const uint64_t first = tm_rows_count(t->ids);
    struct copy_repeat repeat;
    uint64_t devices;
    tm_status st;

    load_sums(t, r);
    st = load_devices(t, r, &devices);
    if (st == TM_OK)
        st = tm_partial_take_groups(r, t->repeats, load_repeat, &repeat);
    return st == TM_OK ? load_largest(t, r, first, devices) : st;
}
