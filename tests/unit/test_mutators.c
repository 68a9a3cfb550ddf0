/* SPDX-License-Identifier: Apache-2.0 */
/* The mutators of the fuzz targets: what they give fits, follows from the seed alone, and mostly is what it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/chrome_reading.h"
#include "tests/support/mutate_json.h"
#include "tests/support/mutate_protobuf.h"
#include "tests/support/xspace_builder.h"

enum { SEEDS = 3000, MOST = 4096, GUARD = 64, GUARD_BYTE = 0xa5 };

typedef size_t mutate_fn(uint8_t *data, size_t size, size_t most, unsigned seed, mutate_bytes_fn *bytes);
typedef bool is_well_formed_fn(const uint8_t *data, size_t size);

static const char trace[] =
    "{\"displayTimeUnit\": \"ns\", \"traceEvents\":[\n "
    "{\"ph\":\"M\",\"pid\":3,\"name\":\"process_name\",\"args\":{\"name\":\"/device:TPU:0\"}},"
    "{\"ph\":\"X\",\"pid\":3,\"tid\":2,\"ts\":962334.41700000002,\"dur\":9.9999999999999995e-07,\"name\":\"fusion.1\","
    "\"args\":"
    "{\"correlation_id\":\"100\",\"hlo_op\":\"a\\u0041\",\"Input Dims\":[[3,4],[]],\"x\":null}},{}]}";

/* A change of bytes that keeps to `most`: each byte its neighbour, and one more. */
static size_t change_bytes(uint8_t *data, size_t size, size_t most)
{
    for (size_t i = 0; i < size; i++)
        data[i] ^= 1;
    if (size < most)
        data[size++] = 'z';
    return size;
}

static bool is_whole_json(const uint8_t *data, size_t size)
{
    const struct tm_chrome_event *event;
    struct reading r;
    uint64_t at;
    bool is_whole;

    open_reading(&r, data, size, NULL);
    do
        assert_int_equal(tm_chrome_next(r.reader, &event), TM_OK);
    while (event);
    is_whole = !tm_chrome_problem(r.reader, &at);
    close_reading(&r);
    return is_whole;
}

static bool take_varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; *at < end && shift < 70; shift += 7) {
        const uint8_t byte = *(*at)++;

        *value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        if (byte < 0x80)
            return true;
    }
    return false;
}

/* All fields of the message can be read to its end. */
static bool is_whole_message(const uint8_t *data, size_t size)
{
    const uint8_t *at = data, *const end = data + size;

    while (at < end) {
        uint64_t tag, value = 0;

        if (!take_varint(&at, end, &tag) || tag < 8)
            return false;
        switch (tag & 7) {
        case 0:
            if (!take_varint(&at, end, &value))
                return false;
            value = 0;
            break;
        case 1:
            value = 8;
            break;
        case 2:
            if (!take_varint(&at, end, &value))
                return false;
            break;
        case 5:
            value = 4;
            break;
        default:
            return false;
        }
        if (value > (uint64_t)(end - at))
            return false;
        at += value;
    }
    return true;
}

static void make_profile(struct xb_bytes *bytes)
{
    struct xb_space *const space = xb_space_new();
    struct xb_plane *const plane = xb_plane(space, "/device:GPU:0");
    const struct xb_style style = { .shuffle = 0 };

    for (int i = 0; i < 4; i++) {
        struct xb_line *const line = xb_line(plane, i, "Stream #7", 100);

        xb_event(line, "sgemm", 1000 * i, 500);
        xb_int(line, "correlation_id", 5 + i);
        xb_str(line, "memcpy_details", "kind_src:device kind_dst:pinned size:64");
    }
    xb_encode(space, &style, bytes);
    xb_space_free(space);
}

/* Each seed once from the input itself; what comes out is changed again and again in between.
 * out:    how many of the first kind are well-formed */
static int mutate_often(mutate_fn *mutate, is_well_formed_fn *is_well_formed, const uint8_t *input, size_t size)
{
    uint8_t *const data = malloc(MOST + GUARD), *const again = malloc(MOST + GUARD), *const kept = malloc(MOST);
    size_t kept_size = size;
    int whole = 0;

    assert_true(data && again && kept && size <= MOST);
    memcpy(kept, input, size);
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        const bool is_first = seed % 2 == 0;
        const size_t before = is_first ? size : kept_size, most = seed % 3 ? MOST : before;
        size_t length;

        memset(data, GUARD_BYTE, MOST + GUARD);
        memset(again, GUARD_BYTE, MOST + GUARD);
        memcpy(data, is_first ? input : kept, before);
        memcpy(again, data, before);
        length = mutate(data, before, most, seed, change_bytes);
        assert_true(length <= most);
        for (size_t i = most; i < most + GUARD; i++)
            assert_int_equal(data[i], GUARD_BYTE);
        assert_int_equal(mutate(again, before, most, seed, change_bytes), length);
        assert_memory_equal(data, again, length ? length : before);
        if (length == 0)
            continue;
        whole += is_first && is_well_formed(data, length);
        memcpy(kept, data, kept_size = length);
    }
    free(data);
    free(again);
    free(kept);
    return whole;
}

static void traces_mostly_stay_json(void **state)
{
    (void)state;
    assert_in_range(mutate_often(mutate_json, is_whole_json, (const uint8_t *)trace, strlen(trace)), SEEDS / 2 * 6 / 10,
                    SEEDS / 2 * 95 / 100);
}

static void profiles_mostly_stay_messages(void **state)
{
    struct xb_bytes bytes = { .length = 0 };

    (void)state;
    make_profile(&bytes);
    assert_in_range(mutate_often(mutate_protobuf, is_whole_message, bytes.at, bytes.length), SEEDS / 2 * 6 / 10,
                    SEEDS / 2 * 95 / 100);
    xb_free(&bytes);
}

/* Pieces of inputs, and bytes that are neither. */
static void whatever_comes_is_kept_inside_its_room(void **state)
{
    struct mutate_dice dice = { 5 };
    struct xb_bytes bytes = { .length = 0 };

    (void)state;
    make_profile(&bytes);
    for (unsigned seed = 0; seed < 4000; seed++) {
        const size_t size = mutate_below(&dice, 200), most = size + mutate_below(&dice, 40);
        const uint8_t *const from = seed % 3 ? bytes.at : (const uint8_t *)trace;
        const size_t at = mutate_below(&dice, (seed % 3 ? bytes.length : strlen(trace)) - size);
        uint8_t *const data = malloc(most + 1), *const out = malloc(most + 1); /* exactly: a checker sees more */

        assert_true(data && out);
        for (size_t i = 0; i < size; i++)
            data[i] = seed % 7 == 6 ? (uint8_t)mutate_bits(&dice) : from[at + i];
        data[most] = GUARD_BYTE;
        assert_true((seed % 2 ? mutate_json : mutate_protobuf)(data, size, most, seed, change_bytes) <= most);
        assert_int_equal(data[most], GUARD_BYTE);
        out[most] = GUARD_BYTE;
        assert_true(mutate_protobuf_cross(data, size, bytes.at, bytes.length, out, most, seed) <= most);
        assert_true(mutate_json_cross(data, size, (const uint8_t *)trace, strlen(trace), out, most, seed) <= most);
        assert_int_equal(out[most], GUARD_BYTE);
        free(data);
        free(out);
    }
    xb_free(&bytes);
}

/* What is inside one input stands in the other then. */
static void two_inputs_become_one(void **state)
{
    static const char a[] = "{\"traceEvents\":[{\"name\":\"first\",\"ts\":1}]}",
                      b[] = "[{\"name\":\"second\",\"ts\":2}]";
    int found = 0;

    (void)state;
    for (unsigned seed = 0; seed < 300; seed++) {
        uint8_t out[512];
        const size_t length =
            mutate_json_cross((const uint8_t *)a, strlen(a), (const uint8_t *)b, strlen(b), out, sizeof(out), seed);

        found += length && memmem(out, length, "traceEvents", 11) && memmem(out, length, "second", 6);
    }
    assert_in_range(found, 50, 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_mostly_stay_json),
        cmocka_unit_test(profiles_mostly_stay_messages),
        cmocka_unit_test(whatever_comes_is_kept_inside_its_room),
        cmocka_unit_test(two_inputs_become_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
