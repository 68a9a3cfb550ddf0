/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a table: its columns, then the values of its rows.  What is written is a Parquet file whose footer is
 * Thrift that a reader of its own walks to the end, with as many rows as were written; and the same bytes when it is
 * written again.  That readers find the same values in it: tests/property/test_columns.py.
 * Seeds: rows of each type, written into the folder $TM_FUZZ_SEEDS. */
#include <fcntl.h>
#include <string.h>

#include "stages/output/parquet/parquet.h"
#include "tests/fuzz/fuzz_job.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { COLUMNS_MOST = 8, TEXT_MOST = 300, FILE_MOST = 1 << 20, DEPTH_MOST = 16, FIELD_ROWS = 3 };

struct bytes {
    const uint8_t *at, *end;
};

static unsigned next(struct bytes *b)
{
    return b->at < b->end ? *b->at++ : 0;
}

static int64_t next_int(struct bytes *b)
{
    static const unsigned widths[] = { 0, 1, 2, 8 };
    uint64_t value = 0;

    for (unsigned n = widths[next(b) % 4]; n > 0; n--)
        value = value << 8 | next(b);
    return (int64_t)value;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *const folder = getenv("TM_FUZZ_SEEDS");
    char path[4096];

    (void)argc;
    (void)argv;
    for (uint8_t seed = 0; folder && seed < 12; seed++) {
        FILE *to;

        (void)snprintf(path, sizeof(path), "%s/parquet-%d", folder, seed);
        to = fopen(path, "wbe");
        if (!to)
            continue;
        for (int i = 0; i < 40 * (seed + 1); i++)
            (void)fputc(i < 2 ? seed + i : seed % 3 ? i * 37 % 251 : seed, to);
        (void)fclose(to);
    }
    return 0;
}

/* --- the file, read back --- */

static uint64_t varint(struct bytes *b)
{
    uint64_t value = 0;

    for (int shift = 0; shift < 64; shift += 7) {
        FUZZ_REQUIRE(b->at < b->end);
        value |= (uint64_t)(*b->at & 0x7f) << shift;
        if (*b->at++ < 0x80)
            return value;
    }
    FUZZ_REQUIRE(!"a number ends");
    return 0;
}

static uint64_t walk_struct(struct bytes *b, int depth);

/* A value of Thrift's compact protocol; a number is returned. */
static uint64_t walk(struct bytes *b, unsigned type, int depth)
{
    uint64_t length;

    FUZZ_REQUIRE(depth < DEPTH_MOST);
    switch (type) {
    case 1: /* true and false are in the type */
    case 2:
        return type == 1;
    case 3:
        return next(b);
    case 4: /* 16, 32, 64 bits */
    case 5:
    case 6:
        return varint(b);
    case 8:
        length = varint(b);
        FUZZ_REQUIRE(length <= (uint64_t)(b->end - b->at));
        b->at += length;
        return 0;
    case 9: {
        const unsigned head = next(b);

        length = head >> 4 == 15 ? varint(b) : head >> 4;
        for (uint64_t i = 0; i < length; i++)
            (void)((head & 15) <= 2 ? next(b) : walk(b, head & 15, depth + 1));
        return 0;
    }
    case 12:
        return walk_struct(b, depth + 1);
    default:
        FUZZ_REQUIRE(!"a type is known");
        return 0;
    }
}

/* out: its field FIELD_ROWS */
static uint64_t walk_struct(struct bytes *b, int depth)
{
    uint64_t rows = 0, id = 0;

    for (;;) {
        unsigned head;
        uint64_t value;

        FUZZ_REQUIRE(b->at < b->end);
        head = *b->at++;
        if (!head)
            return rows;
        id = head >> 4 ? id + (head >> 4) : varint(b) >> 1;
        value = walk(b, head & 15, depth);
        if (id == FIELD_ROWS)
            rows = value >> 1; /* zigzag, not negative */
    }
}

static void check(const uint8_t *file, size_t length, uint64_t rows)
{
    uint32_t footer;
    struct bytes b;

    FUZZ_REQUIRE(length >= 12 && memcmp(file, "PAR1", 4) == 0 && memcmp(file + length - 4, "PAR1", 4) == 0);
    memcpy(&footer, file + length - 8, sizeof(footer));
    FUZZ_REQUIRE(footer <= length - 12);
    b = (struct bytes){ file + length - 8 - footer, file + length - 8 };
    FUZZ_REQUIRE(walk_struct(&b, 0) == rows && b.at == b.end);
}

/* --- a table --- */

/* out: rows */
static uint64_t write_rows(struct tm_parquet *p, const struct tm_parquet_column *columns, size_t count, struct bytes b)
{
    uint64_t rows = 0;
    double real;

    for (; b.at < b.end; rows++) {
        for (size_t i = 0; i < count; i++) {
            const unsigned what = next(&b);
            const size_t left = (size_t)(b.end - b.at), length = what % TEXT_MOST < left ? what % TEXT_MOST : left;
            const int64_t value = what % 8 == 7 ? 0 : next_int(&b);

            if (what % 8 == 7) /* null */
                continue;
            if (columns[i].type == TM_PARQUET_INT64) {
                tm_parquet_int(p, i, value);
            } else if (columns[i].type == TM_PARQUET_DOUBLE) {
                memcpy(&real, &value, sizeof(real));
                tm_parquet_double(p, i, real);
            } else {
                const size_t there = (size_t)(b.end - b.at);

                tm_parquet_text(p, i, (const char *)b.at, length < there ? length : there);
            }
        }
        tm_parquet_end_row(p);
    }
    return rows;
}

/* out: its length; FILE_MOST = more */
static size_t write_table(struct bytes b, uint8_t *file)
{
    static const char *const names[COLUMNS_MOST] = { "a", "b", "a b", "\"", "\xc3\xa9", "f", "g", "h" };
    const struct tm_parquet_fact fact = { "key", "value" };
    struct tm_parquet_column columns[COLUMNS_MOST] = { { .name = NULL } };
    const size_t count = 1 + next(&b) % COLUMNS_MOST;
    struct tm_run run;
    struct tm_out_file *out;
    struct tm_parquet *p;
    char name[64], path[128];
    uint64_t rows, written = 0;
    ssize_t length = -1;
    int fd;

    for (size_t i = 0; i < count; i++)
        columns[i] = (struct tm_parquet_column){ .name = names[i],
                                                 .type = (enum tm_parquet_type)(next(&b) % 3),
                                                 .unit = i % 2 ? "ps" : NULL };
    fuzz_run_init(&run);
    (void)snprintf(name, sizeof(name), "fuzz-%ld.parquet", (long)getpid());
    (void)snprintf(path, sizeof(path), "%s/%s", FUZZ_FOLDER, name);
    out = tm_out_file_open(&run, FUZZ_FOLDER, name, false);
    p = tm_parquet_new(&run, columns, count, out);
    FUZZ_REQUIRE(out && p);
    rows = write_rows(p, columns, count, b);
    tm_parquet_finish(p, &fact, 1);
    tm_parquet_free(p);
    FUZZ_REQUIRE(tm_out_file_commit(out, &written) == TM_OK && !tm_failed(&run));
    tm_out_file_free(out);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    length = read(fd, file, FILE_MOST);
    (void)close(fd);
    (void)unlink(path);
    FUZZ_REQUIRE(length >= 0);
    if (length < FILE_MOST)
        check(file, (size_t)length, rows);
    fuzz_run_end(&run);
    return (size_t)length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t first[FILE_MOST], again[FILE_MOST];
    const struct bytes b = { data, data + size };
    const size_t length = write_table(b, first);

    FUZZ_REQUIRE(write_table(b, again) == length && memcmp(first, again, length) == 0);
    return 0;
}
