/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/input/xspace/xspace_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/test_run.h"
#include "tests/support/xspace_builder.h"

enum { LEAST_BUFFER = 20, LARGEST_BUFFER = 64, FIELDS = 400 };

/* A field as it was written. */
struct written {
    uint32_t number, type;
    uint64_t value, offset, bytes_at; /* bytes_at: where the bytes of a LEN lie */
};

struct part {
    struct xb_bytes bytes;
    struct written fields[FIELDS];
    size_t count;
};

static void open_bytes(struct tm_input *in, struct tm_run *run, const uint8_t *bytes, size_t length)
{
    *in = (struct tm_input){ .run = run, .fd = memfd_create("part", MFD_CLOEXEC), .bytes = length, .held = true };
    assert_true(in->fd >= 0);
    assert_int_equal(write(in->fd, bytes, length), (ssize_t)length);
}

/* A number whose varint is 1 to 10 bytes long, each length as often. */
static uint64_t any_length(uint64_t *state)
{
    const unsigned bits = (unsigned)(next_number(state) % 10) * 7 + 1;

    return next_number(state) >> (bits > 63 ? 0 : 64 - bits);
}

static void put_group(struct part *part, uint32_t number, uint64_t *state)
{
    xb_key(&part->bytes, number, TM_WIRE_GROUP);
    for (uint64_t i = next_number(state) % 5; i > 0; i--) {
        xb_number(&part->bytes, 1, any_length(state));
        xb_key(&part->bytes, number, TM_WIRE_GROUP); /* of the same number, inside it */
        xb_chunk(&part->bytes, 2, "0123456789abcdefghijklmnopqrstuvwxyz", next_number(state) % 36);
        xb_double(&part->bytes, 3, 1);
        xb_key(&part->bytes, number, TM_WIRE_END);
    }
    xb_key(&part->bytes, number, TM_WIRE_END);
}

static void put_field(struct part *part, uint64_t *state)
{
    static const uint32_t types[] = { TM_WIRE_VARINT, TM_WIRE_64, TM_WIRE_LEN, TM_WIRE_GROUP, TM_WIRE_32 };
    uint8_t content[200];
    struct written *f = &part->fields[part->count++];

    *f = (struct written){ .type = types[next_number(state) % 5],
                           .number = 1 + (uint32_t)(next_number(state) >> (35 + next_number(state) % 28)),
                           .offset = part->bytes.length };
    memset(content, (int)next_number(state), sizeof(content));
    if (f->type == TM_WIRE_GROUP) {
        put_group(part, f->number, state);
        return;
    }
    xb_key(&part->bytes, f->number, f->type);
    f->value = f->type == TM_WIRE_LEN ? next_number(state) % sizeof(content) : any_length(state);
    if (f->type == TM_WIRE_32)
        f->value &= UINT32_MAX;
    if (f->type == TM_WIRE_64 || f->type == TM_WIRE_32)
        xb_raw(&part->bytes, &f->value, f->type == TM_WIRE_64 ? 8 : 4);
    else
        xb_varint(&part->bytes, f->value);
    f->bytes_at = part->bytes.length;
    if (f->type == TM_WIRE_LEN)
        xb_raw(&part->bytes, content, (size_t)f->value);
}

static struct part *any_part(uint64_t seed)
{
    struct part *const part = calloc(1, sizeof(*part));

    assert_non_null(part);
    while (part->count < FIELDS)
        put_field(part, &seed);
    return part;
}

static void free_part(struct part *part)
{
    xb_free(&part->bytes);
    free(part);
}

/* Look at a stretch of bytes in pieces of the buffer's size, or step over it. */
static void check_content(struct tm_reader *w, const struct part *part, const struct written *f, bool looks)
{
    uint64_t at = f->bytes_at, left = f->value;

    while (looks && left) {
        const size_t most = left < w->buffer_bytes ? (size_t)left : w->buffer_bytes;
        struct tm_wire view = { NULL, NULL };

        view = tm_reader_peek(w, most);
        assert_int_equal(view.end - view.at, most);
        assert_memory_equal(view.at, part->bytes.at + at, most);
        tm_reader_skip(w, most);
        at += most;
        left -= most;
    }
    tm_reader_skip(w, left);
    assert_int_equal(tm_reader_offset(w), f->bytes_at + f->value);
}

static void check_reading(const struct part *part, const struct tm_input *in, size_t buffer_bytes, bool looks)
{
    uint8_t buffer[LARGEST_BUFFER];
    struct tm_reader w;
    struct tm_head head;
    bool more, damaged;

    tm_reader_init(&w, in, buffer, buffer_bytes, 0, part->bytes.length);
    for (size_t i = 0; i < part->count; i++) {
        const struct written *f = &part->fields[i];

        more = tm_reader_head(&w, &head, &damaged);
        assert_true(more);
        assert_false(damaged);
        assert_int_equal(head.number, f->number);
        assert_int_equal(head.type, f->type);
        assert_int_equal(head.value, f->value);
        assert_int_equal(head.offset, f->offset);
        if (f->type == TM_WIRE_LEN)
            check_content(&w, part, f, looks);
    }
    more = tm_reader_head(&w, &head, &damaged);
    assert_false(more);
    assert_false(damaged);
}

/* The same with what is there for the common case: chunks taken at once, and windows inside windows.  out: how many */
static size_t check_taking(const struct part *part, const struct tm_input *in, size_t buffer_bytes)
{
    uint8_t buffer[16 * LARGEST_BUFFER], inner_buffer[LARGEST_BUFFER];
    struct tm_reader w, inner;
    size_t taken = 0;

    tm_reader_init(&w, in, buffer, buffer_bytes, 0, part->bytes.length);
    for (size_t i = 0; i < part->count; i++) {
        const struct written *f = &part->fields[i];
        const uint64_t key = TM_WIRE_KEY(f->number, f->type);
        struct tm_wire view = { NULL, NULL };
        struct tm_head head;
        bool damaged;

        if (key < 0x80 && f->type == TM_WIRE_LEN && tm_reader_take(&w, (uint8_t)key, &view)) {
            taken++;
            assert_int_equal(view.end - view.at, f->value);
            assert_memory_equal(view.at, part->bytes.at + f->bytes_at, f->value + TM_READER_SLACK);
            continue;
        }
        assert_false(key < 0x80 && f->type != TM_WIRE_LEN && tm_reader_take(&w, (uint8_t)(key ^ 8), &view));
        assert_true(tm_reader_head(&w, &head, &damaged));
        assert_int_equal(head.offset, f->offset);
        if (f->type != TM_WIRE_LEN)
            continue;
        tm_reader_inside(&inner, &w, f->value, inner_buffer, LEAST_BUFFER);
        for (uint64_t at = 0; at < f->value; at += 13) {
            const size_t most = f->value - at < 13 ? (size_t)(f->value - at) : 13;

            assert_int_equal(tm_reader_offset(&inner), f->bytes_at + at);
            view = tm_reader_peek(&inner, 13);
            assert_int_equal(view.end - view.at, most);
            assert_memory_equal(view.at, part->bytes.at + f->bytes_at + at, most);
            tm_reader_skip(&inner, most);
        }
        assert_int_equal(tm_reader_offset(&w), f->bytes_at);
        tm_reader_skip(&w, f->value);
    }
    assert_int_equal(tm_reader_offset(&w), part->bytes.length);
    return taken;
}

static void what_is_taken_at_once_is_the_same(void **state)
{
    struct tm_run run;
    size_t taken = 0;

    (void)state;
    test_run_init(&run);
    for (uint64_t seed = 21; seed <= 40; seed++) {
        struct part *const part = any_part(seed);
        struct tm_input in;

        open_bytes(&in, &run, part->bytes.at, part->bytes.length);
        for (size_t bytes = LEAST_BUFFER; bytes <= 16 * LARGEST_BUFFER; bytes += 61)
            taken += check_taking(part, &in, bytes);
        (void)close(in.fd);
        free_part(part);
    }
    assert_true(taken > 100);
}

/* Chunks that do not end with the buffer are stepped over, and read nevertheless: nothing has to be read twice. */
static void stepping_over_short_chunks_reads_every_byte(void **state)
{
    char path[] = "/tmp/reader-XXXXXX";
    const int fd = mkstemp(path);
    uint8_t buffer[5000];
    struct tm_run run;
    struct tm_input in;
    struct tm_reader w;
    struct tm_head head = { .type = TM_WIRE_END };
    bool more = true, damaged;

    (void)state;
    assert_true(fd >= 0);
    for (uint64_t seed = 50; seed < 90; seed++) {
        struct part *const part = any_part(seed);

        assert_int_equal(write(fd, part->bytes.at, part->bytes.length), (ssize_t)part->bytes.length);
        free_part(part);
    }
    (void)close(fd);
    test_run_init(&run);
    assert_int_equal(tm_input_open(&in, &run, path), TM_OK);
    assert_int_equal(tm_input_hold(&in), TM_OK);
    assert_true(tm_input_unseen(&in) > 0);
    tm_reader_init(&w, &in, buffer, sizeof(buffer), 0, in.bytes);
    while (more) {
        if (head.type == TM_WIRE_LEN)
            tm_reader_skip(&w, head.value);
        more = tm_reader_head(&w, &head, &damaged);
        assert_false(damaged);
    }
    assert_int_equal(tm_input_unseen(&in), 0);
    tm_input_close(&in);
    assert_int_equal(unlink(path), 0);
}

/* A window that only looks at a place does not fill its buffer; one that stays does. */
static void looking_at_a_place_reads_little(void **state)
{
    enum { FILE_BYTES = 1 << 20, BUFFER_BYTES = 256 << 10, LITTLE = 16 << 10, MUCH = 40 << 10 };
    char path[] = "/tmp/reader-XXXXXX";
    const int fd = mkstemp(path);
    uint8_t *const buffer = malloc(BUFFER_BYTES);
    struct tm_run run;
    struct tm_input in;
    struct tm_reader w;

    (void)state;
    assert_true(fd >= 0);
    assert_non_null(buffer);
    assert_int_equal(write(fd, "\x0a\x05\x12\x03/ab", 7), 7);
    assert_int_equal(ftruncate(fd, FILE_BYTES), 0);
    (void)close(fd);
    test_run_init(&run);
    assert_int_equal(tm_input_open(&in, &run, path), TM_OK);
    assert_int_equal(tm_input_hold(&in), TM_OK);
    tm_reader_init(&w, &in, buffer, BUFFER_BYTES, 1000, FILE_BYTES);
    assert_int_equal(tm_reader_peek(&w, 20).end - tm_reader_peek(&w, 20).at, 20);
    assert_int_equal(w.have, LITTLE);
    tm_reader_skip(&w, 500000);
    (void)tm_reader_peek(&w, MUCH);
    assert_int_equal(w.have, MUCH); /* what was asked for */
    tm_reader_skip(&w, MUCH);
    (void)tm_reader_peek(&w, 20); /* it reads on */
    assert_int_equal(w.have, BUFFER_BYTES);
    tm_reader_return(&w, 2000);
    (void)tm_reader_peek(&w, 20);
    assert_int_equal(w.have, LITTLE);
    tm_reader_skip(&w, FILE_BYTES - 2000 - 100);
    assert_int_equal(tm_reader_peek(&w, 200).end - tm_reader_peek(&w, 200).at, 100); /* at the end there is less */
    tm_input_close(&in);
    free(buffer);
    assert_int_equal(unlink(path), 0);
}

static void every_size_of_the_buffer_gives_the_same_fields(void **state)
{
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct part *const part = any_part(seed);
        struct tm_input in;

        open_bytes(&in, &run, part->bytes.at, part->bytes.length);
        for (size_t bytes = LEAST_BUFFER; bytes <= LARGEST_BUFFER; bytes++) {
            check_reading(part, &in, bytes, true);
            check_reading(part, &in, bytes, false);
        }
        (void)close(in.fd);
        free_part(part);
    }
}

static void bytes_in_memory_give_the_same_fields(void **state)
{
    struct part *const part = any_part(11);
    struct tm_wire w = { part->bytes.at, part->bytes.at + part->bytes.length };
    struct tm_field field;

    (void)state;
    for (size_t i = 0; i < part->count; i++) {
        assert_true(tm_wire_next(&w, &field));
        assert_int_equal(field.key, TM_WIRE_KEY(part->fields[i].number, part->fields[i].type));
        assert_int_equal(field.value, part->fields[i].value);
        if (part->fields[i].type == TM_WIRE_LEN)
            assert_ptr_equal(field.bytes, part->bytes.at + part->fields[i].bytes_at);
    }
    assert_false(tm_wire_next(&w, &field));
    assert_ptr_equal(w.at, w.end);
    free_part(part);
}

/* --- damage --- */

/* How many whole fields come before the end or the damage; every view stays inside the part. */
static size_t count_fields(const struct tm_input *in, size_t buffer_bytes, uint64_t begin, uint64_t end, bool *damaged)
{
    uint8_t buffer[LARGEST_BUFFER];
    struct tm_reader w;
    size_t count = 0;

    tm_reader_init(&w, in, buffer, buffer_bytes, begin, end);
    for (;;) {
        struct tm_head head;
        bool more;

        more = tm_reader_head(&w, &head, damaged);
        assert_true(tm_reader_offset(&w) <= end);
        if (!more || *damaged)
            return count;
        if (head.type == TM_WIRE_LEN) {
            assert_true(head.value <= end - tm_reader_offset(&w));
            tm_reader_skip(&w, head.value);
        }
        count++;
    }
}

static void a_part_cut_at_any_byte_gives_the_fields_before_the_cut(void **state)
{
    struct part *const part = any_part(5);
    struct tm_run run;
    struct tm_input in;
    size_t whole = 0;

    (void)state;
    test_run_init(&run);
    open_bytes(&in, &run, part->bytes.at, part->bytes.length);
    for (size_t cut = 0; cut < part->bytes.length; cut++) {
        const bool is_border = whole < part->count && part->fields[whole].offset == cut;
        struct tm_wire w = { part->bytes.at, part->bytes.at + cut };
        struct tm_field field;
        bool damaged;
        size_t in_memory = 0;

        if (whole + 1 < part->count && part->fields[whole + 1].offset == cut)
            whole++;
        assert_int_equal(count_fields(&in, LEAST_BUFFER + cut % 45, 0, cut, &damaged), whole);
        assert_int_equal(damaged, !is_border && part->fields[whole].offset != cut);
        while (tm_wire_next(&w, &field))
            in_memory++;
        assert_int_equal(in_memory, whole);
    }
    (void)close(in.fd);
    free_part(part);
}

static void changed_bits_never_lead_out_of_the_part(void **state)
{
    struct part *const part = any_part(6);
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    if (part->bytes.length > 1500)
        part->bytes.length = 1500;
    for (size_t at = 0; at < part->bytes.length; at++)
        for (int bit = 0; bit < 8; bit++) {
            struct tm_input in;
            struct tm_wire w = { part->bytes.at, part->bytes.at + part->bytes.length };
            struct tm_field field;
            bool damaged;
            size_t in_memory = 0, read;

            part->bytes.at[at] ^= (uint8_t)(1 << bit);
            open_bytes(&in, &run, part->bytes.at, part->bytes.length);
            read = count_fields(&in, LEAST_BUFFER + at % 45, 0, part->bytes.length, &damaged);
            while (tm_wire_next(&w, &field))
                in_memory++;
            assert_int_equal(read, in_memory);
            assert_int_equal(damaged, w.at != w.end);
            (void)close(in.fd);
            part->bytes.at[at] ^= (uint8_t)(1 << bit);
        }
    free_part(part);
}

struct damage {
    const char *what;
    const char *bytes;
    size_t length;
};

static void damage_is_told(void **state)
{
    static const struct damage rows[] = {
        { "field number 0", "\x00\x01", 2 },
        { "wire type 6", "\x0e\x01", 2 },
        { "wire type 7", "\x0f\x01", 2 },
        { "a key of 11 bytes", "\x88\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00\x01", 12 },
        { "a key of 33 bits", "\x80\x80\x80\x80\x10\x01", 6 },
        { "a key of 33 bits inside a group", "\x0b\x80\x80\x80\x80\x10\x01\x0c", 8 },
        { "a key of more than 35 bits", "\x88\x80\x80\x80\x80\x01\x01", 7 },
        { "a number of 11 bytes", "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 12 },
        { "a number without an end", "\x08\x80", 2 },
        { "a length one too large", "\x0a\x02x", 3 },
        { "a length of 2^64 - 1", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01xyz", 14 },
        { "a length of 2^63", "\x0a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01xyz", 14 },
        { "7 bytes of 8",
          "\x09"
          "1234567",
          8 },
        { "3 bytes of 4",
          "\x0d"
          "123",
          4 },
        { "a group without an end", "\x0b\x08\x01", 3 },
        { "the end of another group", "\x0b\x08\x01\x14", 4 },
        { "the end of no group", "\x0c\x08\x01", 3 },
        { "a length past the end inside a group", "\x0b\x12\x7fx\x0c", 5 },
        { "field number 0 inside a group", "\x0b\x00\x00\x0c", 4 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const uint8_t *const bytes = (const uint8_t *)rows[i].bytes;
        struct tm_wire w = { bytes, bytes + rows[i].length };
        struct tm_run run;
        struct tm_input in;
        struct tm_field field;

        test_run_init(&run);
        open_bytes(&in, &run, bytes, rows[i].length);
        for (size_t size = LEAST_BUFFER; size <= LARGEST_BUFFER; size++) {
            bool damaged = false;

            if (count_fields(&in, size, 0, rows[i].length, &damaged) || !damaged)
                fail_msg("%s: not told by the reader", rows[i].what);
        }
        if (tm_wire_next(&w, &field) || w.at == w.end)
            fail_msg("%s: not told in memory", rows[i].what);
        (void)close(in.fd);
    }
}

/* A LEN that runs past the end is told, and its head is there: what follows can still be read. */
static void a_cut_chunk_has_its_head(void **state)
{
    uint8_t buffer[LARGEST_BUFFER];
    struct tm_run run;
    struct tm_input in;
    struct tm_reader w;
    struct tm_head head;
    struct tm_wire view = { NULL, NULL };
    bool more, damaged;

    (void)state;
    test_run_init(&run);
    open_bytes(&in, &run, (const uint8_t *)"\x08\x01\x22\x7fhello", 9);
    tm_reader_init(&w, &in, buffer, sizeof(buffer), 0, 9);
    more = tm_reader_head(&w, &head, &damaged);
    more = tm_reader_head(&w, &head, &damaged);
    assert_true(more && damaged);
    assert_int_equal(head.number, 4);
    assert_int_equal(head.type, TM_WIRE_LEN);
    assert_int_equal(head.value, 127);
    assert_int_equal(head.offset, 2);
    assert_int_equal(tm_reader_offset(&w), 4);
    view = tm_reader_peek(&w, sizeof(buffer));
    assert_int_equal(view.end - view.at, 5);
    assert_memory_equal(view.at, "hello", 5);
    (void)close(in.fd);
}

static void a_part_outside_the_input_is_empty(void **state)
{
    static const struct {
        uint64_t begin, end;
    } rows[] = {
        { 3, 3 }, { 9, 20 }, { 20, 30 }, { UINT64_MAX, UINT64_MAX }, { UINT64_MAX - 1, 4 }, { 7, 2 },
    };
    struct tm_run run;
    struct tm_input in;

    (void)state;
    test_run_init(&run);
    open_bytes(&in, &run, (const uint8_t *)"\x08\x01\x08\x01\x08\x01\x08\x01", 8);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint8_t buffer[LARGEST_BUFFER];
        struct tm_reader w;
        struct tm_head head;
        struct tm_wire view = { NULL, NULL };
        bool more, damaged;

        tm_reader_init(&w, &in, buffer, sizeof(buffer), rows[i].begin, rows[i].end);
        more = tm_reader_head(&w, &head, &damaged);
        assert_false(more);
        view = tm_reader_peek(&w, 20);
        assert_true(view.at == view.end);
    }
    (void)close(in.fd);
}

static void skipping_past_the_end_ends_there(void **state)
{
    static const uint64_t far[] = { 9, 1000, UINT64_MAX / 2, UINT64_MAX - 1, UINT64_MAX };
    struct tm_run run;
    struct tm_input in;

    (void)state;
    test_run_init(&run);
    open_bytes(&in, &run, (const uint8_t *)"\x08\x01\x08\x01\x08\x01\x08\x01", 8);
    for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++)
        for (uint64_t looked = 0; looked <= 4; looked++) {
            uint8_t buffer[LARGEST_BUFFER];
            struct tm_reader w;
            struct tm_head head;
            bool damaged;

            tm_reader_init(&w, &in, buffer, sizeof(buffer), 0, 8);
            if (looked)
                (void)tm_reader_peek(&w, (size_t)looked);
            tm_reader_skip(&w, looked);
            tm_reader_skip(&w, far[i]);
            assert_int_equal(tm_reader_offset(&w), 8);
            assert_false(tm_reader_head(&w, &head, &damaged));
        }
    (void)close(in.fd);
}

/* A number, and bytes behind it that are as misleading as can be. */
static size_t put_number(uint8_t at[32], uint64_t value, uint8_t behind)
{
    size_t length = 0;

    memset(at, behind, 32);
    for (; value >= 0x80; value >>= 7)
        at[length++] = (uint8_t)(value | 0x80);
    at[length++] = (uint8_t)value;
    return length;
}

static void check_number(uint64_t value)
{
    for (unsigned behind = 0; behind <= 0xff; behind += 0x55) {
        uint8_t bytes[32];
        const size_t length = put_number(bytes, value, (uint8_t)behind);
        const size_t readable = length < 8 ? 8 : length;
        uint8_t *const block = malloc(readable); /* a byte more would be found by valgrind and sanitizers */
        struct tm_wire w;
        uint64_t got = ~value;

        assert_non_null(block);
        memcpy(block, bytes, readable);
        w = (struct tm_wire){ block, block + readable };
        if (length <= 8) {
            assert_ptr_equal(tm_wire_number(block, &got, tm_wire_pack), block + length);
            assert_true(got == value);
        } else {
            assert_null(tm_wire_number(block, &got, tm_wire_pack));
        }
        got = ~value;
        assert_true(tm_wire_varint(&w, &got) && got == value);
        assert_ptr_equal(w.at, block + length);
        for (size_t cut = 0; cut < length; cut++) {
            w = (struct tm_wire){ block, block + cut };
            assert_false(tm_wire_varint(&w, &got));
            assert_ptr_equal(w.at, block);
        }
        free(block);
    }
}

static void numbers_of_every_length_are_read_at_once(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 64; bit++) {
        const uint64_t value = UINT64_C(1) << bit;

        check_number(value - 1);
        check_number(value);
        check_number(value + 1);
        check_number(value | UINT64_C(0x5555555555555555) >> (63 - bit));
        check_number(UINT64_MAX >> bit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_every_length_are_read_at_once),
        cmocka_unit_test(every_size_of_the_buffer_gives_the_same_fields),
        cmocka_unit_test(what_is_taken_at_once_is_the_same),
        cmocka_unit_test(stepping_over_short_chunks_reads_every_byte),
        cmocka_unit_test(looking_at_a_place_reads_little),
        cmocka_unit_test(bytes_in_memory_give_the_same_fields),
        cmocka_unit_test(a_part_cut_at_any_byte_gives_the_fields_before_the_cut),
        cmocka_unit_test(changed_bits_never_lead_out_of_the_part),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(a_cut_chunk_has_its_head),
        cmocka_unit_test(a_part_outside_the_input_is_empty),
        cmocka_unit_test(skipping_past_the_end_ends_there),
    };

    return cmocka_run_group_tests_name("reader", tests, NULL, NULL);
}
