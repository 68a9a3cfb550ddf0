/* SPDX-License-Identifier: Apache-2.0 */
/* Events that were met before are read as if they had not been: through a large buffer, in which they are found again,
 * and through the smallest, in which no event fits and every one is read by itself. */
#include <stdlib.h>

#include "stages/input/xspace/xspace_private.h"
#include "tests/support/test_run.h"
#include "tests/support/xspace_run.h"

enum { SMALL_BUFFER = 64, LARGE_BUFFER = 64 << 10, EVENTS = 1500, NAMES = 5 };

/* What is read of an event, and what is counted beside it. */
struct outcome {
    struct tm_record record;
    uint64_t config_hash;
    int64_t number;
};

struct reading {
    struct outcome rows[EVENTS];
    size_t count;
    uint64_t tallies[TM_TALLY_COUNT];
};

/* The next record, by itself or of a batch. */
static const struct tm_raw_record *next_of(struct tm_cursor *cursor, struct tm_batch *batch, size_t *at)
{
    static struct tm_raw_record raw;
    bool more;

    if (!batch) {
        assert_int_equal(cursor->source->type->next(cursor, &raw, &more), TM_OK);
        return more ? &raw : NULL;
    }
    while (*at == batch->count + batch->has_other && !batch->is_last) {
        tm_next_batch(cursor, batch);
        *at = 0;
    }
    if (*at == batch->count + batch->has_other)
        return NULL;
    tm_batch_get(batch, (uint32_t)(*at)++, &raw);
    if (raw.signature)
        tm_fill_record(cursor->source->signatures, &raw);
    return &raw;
}

static void read_line(struct xspace_run *x, uint64_t line, size_t buffer_bytes, bool in_batches,
                      struct reading *reading)
{
    struct tm_batch batch = { .count = 0 };
    size_t at = 0;
    const struct tm_source_type *const type = x->host.source->type;
    struct tm_cursor *const cursor = type->open(x->host.source, line, buffer_bytes);
    const struct tm_tallies before = x->run.tallies;

    assert_non_null(cursor);
    cursor->counts = true;
    memset(reading, 0, sizeof(*reading));
    for (;;) {
        struct outcome *const to = &reading->rows[reading->count];
        const struct tm_config *config;
        const struct tm_raw_record *const raw = next_of(cursor, in_batches ? &batch : NULL, &at);

        if (!raw)
            break;
        assert_true(reading->count < EVENTS);
        to->record = raw->record;
        to->record.config = 0; /* the same facts may have several rows */
        if (raw->record.args_length == sizeof(struct tm_number))
            to->number = ((const struct tm_number *)raw->args)->value;
        config = tm_rows_at(x->host.trace.configs, raw->record.config);
        assert_non_null(config);
        to->config_hash = config->hash;
        reading->count++;
    }
    type->close(cursor);
    for (size_t i = 0; i < TM_TALLY_COUNT; i++)
        reading->tallies[i] = x->run.tallies.count[i] - before.count[i];
}

static void assert_same_reading(const struct reading *a, const struct reading *b, const char *what)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++)
        if (memcmp(&a->rows[i], &b->rows[i], sizeof(a->rows[i])) != 0)
            fail_msg("%s: event %zu is read otherwise", what, i);
    assert_memory_equal(a->tallies, b->tallies, sizeof(a->tallies));
}

static void check_lines(struct xspace_run *x, const char *what)
{
    struct reading *const alone = malloc(sizeof(*alone)), *const known = malloc(sizeof(*known));

    assert_true(alone && known);
    for (uint64_t i = 0; i < tm_rows_count(x->host.trace.tracks); i++) {
        for (int twice = 0; twice < 2; twice++) /* a name that is not UTF-8 is counted once per host */
            read_line(x, i, SMALL_BUFFER, false, alone);
        for (int again = 0; again < 6; again++) { /* each finds what the others learned */
            ((struct tm_xspace *)x->host.source)->is_plain = again % 2;
            read_line(x, i, LARGE_BUFFER, again > 2, known);
            assert_same_reading(alone, known, what);
        }
    }
    free(alone);
    free(known);
}

/* A statistic of any kind and meaning, often the same. */
static void put_stat(struct xb_line *line, uint64_t *seed)
{
    static const char *const names[] = {
        "correlation_id", "run_id",         "group_id",      "step_num", "_r",    "size",  "hlo_op",
        "device_ordinal", "kernel_details", "program_id",    "tf_op",    "value", "flops", "cuda_graph_node_id",
        "something",      "something else", "bytes_reserved"
    };
    static const char *const texts[] = { "fusion.1", "dot.2",
                                         "regs:32 static_shared:0 dynamic_shared:0 grid:8,1,1 "
                                         "block:64,1,1 occ_pct:50",
                                         "", "7" };
    const char *const name = names[next_number(seed) % (sizeof(names) / sizeof(names[0]))];
    const char *const text = texts[next_number(seed) % (sizeof(texts) / sizeof(texts[0]))];
    const uint64_t number = next_number(seed) >> next_number(seed) % 64;

    switch (next_number(seed) % 8) {
    case 0:
        xb_real(line, name, (double)(next_number(seed) % 3));
        break;
    case 1:
        xb_str(line, name, text);
        break;
    case 2:
        xb_ref(line, name, text);
        break;
    case 3:
        xb_int(line, name, (int64_t)number);
        break;
    default:
        xb_uint(line, name, number);
    }
}

/* Lines of events that come in a few shapes: the same seed gives the same statistics but for their numbers, mostly. */
static void put_line(struct xb_plane *plane, int64_t id, const char *name, uint64_t *seed)
{
    struct xb_line *const line = xb_line(plane, id, name, 10);

    for (int i = 0; i < EVENTS; i++) {
        static const char *const names[NAMES] = { "one", "two", "three", "MemoryAllocation", "ExecuteOnStream" };
        uint64_t shape = next_number(seed) % 12;
        const char *const of = names[next_number(seed) % NAMES];

        xb_event(line, of, i * 100, (int64_t)(next_number(seed) % 90));
        xb_str(line, "filler", "so long that no event fits into the smallest of the buffers that there may be");
        for (uint64_t left = shape % 5; left; left--)
            put_stat(line, next_number(seed) % 16 ? &shape : seed);
        xb_uint(line, "correlation_id", next_number(seed) >> next_number(seed) % 64);
        if (shape & 1)
            xb_int(line, "anything", (int64_t)next_number(seed));
    }
}

static struct xb_space *any_space(uint64_t seed)
{
    struct xb_space *const space = xb_space_new();
    struct xb_plane *const gpu = xb_plane(space, "/device:GPU:0"), *const host = xb_plane(space, "/host:CPU");

    put_line(gpu, 7, "Stream #7(Kernel)", &seed);
    put_line(host, 8, "python", &seed);
    return space;
}

static void events_met_before_are_read_as_if_they_were_not(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct xb_space *const space = any_space(seed);
        struct xspace_run x;

        assert_int_equal(xspace_scan_space(&x, space, NULL), TM_OK);
        check_lines(&x, "whole");
        xspace_close(&x);
        xb_space_free(space);
    }
}

/* Damage in one event is told of that one, and read into no other. */
static void damaged_events_are_read_as_if_none_was_met_before(void **state)
{
    struct xb_space *const space = any_space(77);
    struct xb_bytes bytes = { .at = NULL };
    uint64_t seed = 5;

    (void)state;
    xb_encode(space, &(struct xb_style){ .shuffle = 0 }, &bytes);
    for (int round = 0; round < 40; round++) {
        struct xspace_run x;

        for (int i = 0; i < 20; i++)
            bytes.at[1000 + next_number(&seed) % (bytes.length - 1000)] ^= (uint8_t)(1 << next_number(&seed) % 8);
        if (xspace_scan(&x, &bytes, 64) == TM_OK)
            check_lines(&x, "damaged");
        xspace_close(&x);
    }
    xb_free(&bytes);
    xb_space_free(space);
}

/* What follows the place where the data ends is not asked for again. */
static void cut_profiles_are_read_alike(void **state)
{
    struct xb_space *const space = any_space(78);
    struct xb_bytes bytes = { .at = NULL };

    (void)state;
    xb_encode(space, &(struct xb_style){ .shuffle = 0 }, &bytes);
    for (size_t cut = bytes.length / 2; cut < bytes.length; cut += bytes.length / 60) {
        const struct xb_bytes part = { .at = bytes.at, .length = cut };
        struct xspace_run x;

        if (xspace_scan(&x, &part, 64) == TM_OK)
            check_lines(&x, "cut");
        xspace_close(&x);
    }
    xb_free(&bytes);
    xb_space_free(space);
}

/* Two events of one name whose only statistic takes 16 bytes: each half of the one is a half of the other, but for bits
 * in which the two factors of a product could differ.  What the one says is not taken for what the other says. */
static void events_with_swapped_halves_are_told_apart(void **state)
{
    enum { ID_ONE = 3, ID_OTHER = 4, LENGTH = 16 };

    (void)state;
    for (unsigned difference = 0; difference < 256; difference++) {
        const char tail[] = { (char)(0x22 ^ difference), LENGTH - 2, 0x08, ID_OTHER, 0x2a, LENGTH - 6, 'u', 'v' };
        const char other_tail[] = { (char)(0x22 ^ difference), LENGTH - 2, 0x08, ID_ONE, 0x2a, LENGTH - 6, 'x', 'y' };
        struct xb_space *const space = xb_space_new();
        struct xb_plane *const gpu = xb_plane(space, "/device:GPU:0");
        struct xb_line *const line = xb_line(gpu, 7, "Stream #7(Kernel)", 10);
        struct reading *const known = malloc(sizeof(*known));
        char text[] = "xy........", other[] = "uv........";
        struct xspace_run x;

        assert_non_null(known);
        memcpy(text + 2, tail, sizeof(tail));
        memcpy(other + 2, other_tail, sizeof(other_tail));
        xb_stat_id(gpu, "hlo_op", ID_ONE);
        xb_stat_id(gpu, "hlo_module", ID_OTHER);
        for (int i = 0; i < 20; i++) {
            xb_event(line, "one", i * 100, 50);
            xb_str(line, i % 2 ? "hlo_module" : "hlo_op", i % 2 ? other : text);
        }
        assert_int_equal(xspace_scan_space(&x, space, NULL), TM_OK);
        read_line(&x, 0, LARGE_BUFFER, false, known);
        assert_int_equal(known->count, 20);
        for (size_t i = 1; i < known->count; i++)
            assert_true(known->rows[i].config_hash != known->rows[i - 1].config_hash);
        free(known);
        xspace_close(&x);
        xb_space_free(space);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_met_before_are_read_as_if_they_were_not),
        cmocka_unit_test(damaged_events_are_read_as_if_none_was_met_before),
        cmocka_unit_test(cut_profiles_are_read_alike),
        cmocka_unit_test(events_with_swapped_halves_are_told_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
