/* SPDX-License-Identifier: Apache-2.0 */
/* A writer of Parquet files.  Memory: the values of one row group (8 bytes a value, and the strings of its
 * dictionaries), a page before and after compression, and the context of zstd; the metadata of groups that are written
 * waits in a spill file, since the footer comes last. */
#include "stages/output/parquet/parquet.h"

#include <assert.h>
#include <string.h>

#define ZSTD_STATIC_LINKING_ONLY /* for a context in custom memory */
#include <zstd.h>

#include "pipeline/store/hash.h"
#include "pipeline/store/rows.h"

enum {
    ROWS_MOST = 1 << 16,
    ROWS_LEAST = 1 << 12,
    ZSTD_LEVEL = 5,
    ENTRIES_OF_ROW = 2,     /* slots of a dictionary for each row of a group */
    TEXT_BYTES_OF_ROW = 48, /* room for strings of all columns, and at least: */
    TEXT_BYTES_LEAST = 1 << 20,
    META_BYTES = 1 << 16,
    BLOCK_VALUES = 128, /* of DELTA_BINARY_PACKED: 4 miniblocks */
    MINIBLOCKS = 4,
    MINI_VALUES = BLOCK_VALUES / MINIBLOCKS,
    STATISTICS_TEXT_MOST = 64,
    COPY_BYTES = 4096,
};

/* Numbers of parquet.thrift. */
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };
enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_DELTA_BINARY_PACKED = 5, ENCODING_RLE_DICTIONARY = 8 };
enum { CODEC_ZSTD = 6, OPTIONAL = 1, CONVERTED_UTF8 = 0 };
static const int physical_type[] = { [TM_PARQUET_INT64] = 2, [TM_PARQUET_DOUBLE] = 5, [TM_PARQUET_TEXT] = 6 };

/* Types of Thrift's compact protocol. */
enum {
    THRIFT_TRUE = 1,
    THRIFT_I16 = 4,
    THRIFT_I32 = 5,
    THRIFT_I64 = 6,
    THRIFT_BINARY = 8,
    THRIFT_LIST = 9,
    THRIFT_STRUCT = 12
};

static const char MAGIC[] = "PAR1";

/* --- bytes --- */

struct bytes {
    uint8_t *at;
    size_t used, room;
};

static void put(struct bytes *b, const void *from, size_t n)
{
    assert(n <= b->room - b->used);
    memcpy(b->at + b->used, from, n);
    b->used += n;
}

static void put_byte(struct bytes *b, unsigned value)
{
    const uint8_t byte = (uint8_t)value;

    put(b, &byte, 1);
}

static void put_varint(struct bytes *b, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put_byte(b, (unsigned)(value & 0x7f) | 0x80);
    put_byte(b, (unsigned)value);
}

static uint64_t zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static void put_little(struct bytes *b, uint64_t value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_byte(b, (unsigned)(value >> 8 * i & 0xff));
}

/* --- Thrift --- */

enum { DEPTH_MOST = 8 };

struct thrift {
    struct bytes b;
    int last[DEPTH_MOST]; /* number of the field before */
    int depth;
};

static void field(struct thrift *t, int number, int type)
{
    const int step = number - t->last[t->depth];

    assert(step > 0 && step <= 15);
    put_byte(&t->b, (unsigned)(step << 4 | type));
    t->last[t->depth] = number;
}

static void begin_struct(struct thrift *t)
{
    t->depth++;
    assert(t->depth < DEPTH_MOST);
    t->last[t->depth] = 0;
}

static void end_struct(struct thrift *t)
{
    put_byte(&t->b, 0);
    t->depth--;
}

static void field_struct(struct thrift *t, int number)
{
    field(t, number, THRIFT_STRUCT);
    begin_struct(t);
}

static void field_int(struct thrift *t, int number, int type, int64_t value)
{
    field(t, number, type);
    put_varint(&t->b, zigzag(value));
}

static void put_binary(struct thrift *t, const void *bytes, size_t length)
{
    put_varint(&t->b, length);
    put(&t->b, bytes, length);
}

static void field_binary(struct thrift *t, int number, const void *bytes, size_t length)
{
    field(t, number, THRIFT_BINARY);
    put_binary(t, bytes, length);
}

static void field_text(struct thrift *t, int number, const char *text)
{
    field_binary(t, number, text, strlen(text));
}

static void field_list(struct thrift *t, int number, int type, size_t count)
{
    field(t, number, THRIFT_LIST);
    if (count < 15) {
        put_byte(&t->b, (unsigned)(count << 4 | (unsigned)type));
        return;
    }
    put_byte(&t->b, 0xf0 | (unsigned)type);
    put_varint(&t->b, count);
}

/* --- a row group --- */

struct entry {
    uint32_t hash;
    uint32_t number; /* of the text in the dictionary, from 1; 0 = free */
};

struct column {
    int64_t *values;   /* of the rows that have one: int64, the bits of a double, or the number of a string */
    uint8_t *is_there; /* of each row */
    uint32_t count;
    bool has_value;      /* in the current row */
    struct entry *slots; /* of a string: its dictionary */
    uint32_t texts;
};

struct text {
    uint32_t at, length;
};

struct tm_parquet {
    struct tm_run *run;
    struct tm_out_file *file;
    const struct tm_parquet_column *columns;
    size_t count;
    uint64_t written; /* bytes of the file */
    uint32_t rows, most_rows, slot_mask;
    uint64_t seed;
    uint64_t all_rows, groups;
    struct column column[TM_PARQUET_COLUMNS_MOST];
    /* Strings of the group, of all columns: those of one column are numbered from 1 on. */
    char *text_bytes;
    size_t text_used, text_room;
    struct text *texts; /* column by column: most_rows of each string column */
    uint8_t *block;     /* of everything below a group */
    size_t block_bytes;
    struct bytes page, packed; /* of a column, before and after compression */
    void *workspace;
    size_t workspace_bytes;
    ZSTD_CCtx *zstd;
    struct tm_spill footers; /* RowGroup structs */
    struct thrift meta;
    uint8_t meta_bytes[META_BYTES];
};

/* The strings of a column. */
static struct text *texts_of(const struct tm_parquet *p, size_t column)
{
    return p->texts + column * (size_t)p->most_rows;
}

static void write_bytes(struct tm_parquet *p, const void *bytes, size_t length)
{
    tm_out_file_write(p->file, bytes, length);
    p->written += length;
}

/* Rows of a group: as many as an eighth of the memory holds. */
static uint32_t rows_of_group(const struct tm_run *run, const struct tm_parquet_column *columns, size_t count)
{
    size_t row_bytes = TEXT_BYTES_OF_ROW + 2 * (sizeof(int64_t) + 2);
    uint32_t rows = ROWS_MOST;

    for (size_t i = 0; i < count; i++)
        row_bytes +=
            sizeof(int64_t) + 1 +
            (columns[i].type == TM_PARQUET_TEXT ? ENTRIES_OF_ROW * sizeof(struct entry) + sizeof(struct text) : 0);
    while (rows > ROWS_LEAST && rows * row_bytes > run->budget.limit_bytes / 8)
        rows /= 2;
    return rows;
}

static size_t align(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

/* A page of the longest strings is a group's strings and their lengths. */
static size_t page_room(const struct tm_parquet *p)
{
    return p->text_room + (size_t)p->most_rows * (sizeof(int64_t) + sizeof(uint32_t) + 1) + 4096;
}

static void take_memory(struct tm_parquet *p)
{
    const size_t rows = p->most_rows, slots = ENTRIES_OF_ROW * rows;
    size_t bytes;
    uint8_t *at;

    p->slot_mask = (uint32_t)slots - 1;
    p->text_room = rows * TEXT_BYTES_OF_ROW > TEXT_BYTES_LEAST ? rows * TEXT_BYTES_OF_ROW : TEXT_BYTES_LEAST;
    p->workspace_bytes = ZSTD_estimateCCtxSize(ZSTD_LEVEL);
    bytes = align(p->text_room) + align(p->count * rows * sizeof(struct text)) + align(page_room(p)) +
            align(ZSTD_compressBound(page_room(p))) + align(p->workspace_bytes);
    for (size_t i = 0; i < p->count; i++)
        bytes += align(rows * sizeof(int64_t)) + align(rows) +
                 (p->columns[i].type == TM_PARQUET_TEXT ? align(slots * sizeof(struct entry)) : 0);
    p->block = tm_take(&p->run->budget, TM_ACCOUNT_TABLES, bytes, &p->run->error);
    p->block_bytes = bytes;
    if (!p->block)
        return;
    at = p->block;
    for (size_t i = 0; i < p->count; i++) {
        p->column[i].values = (int64_t *)(void *)at;
        at += align(rows * sizeof(int64_t));
        p->column[i].is_there = at;
        at += align(rows);
        if (p->columns[i].type != TM_PARQUET_TEXT)
            continue;
        p->column[i].slots = (struct entry *)(void *)at;
        at += align(slots * sizeof(struct entry));
    }
    p->texts = (struct text *)(void *)at;
    at += align(p->count * rows * sizeof(struct text));
    p->text_bytes = (char *)at;
    at += align(p->text_room);
    p->page = (struct bytes){ .at = at, .room = page_room(p) };
    at += align(page_room(p));
    p->packed = (struct bytes){ .at = at, .room = ZSTD_compressBound(page_room(p)) };
    at += align(p->packed.room);
    p->workspace = at;
    p->zstd = ZSTD_initStaticCCtx(p->workspace, p->workspace_bytes);
    if (!p->zstd)
        (void)tm_fail(&p->run->error, TM_ERR_LIMIT, -1, "there is no memory for compressing with zstd");
}

struct tm_parquet *tm_parquet_new(struct tm_run *run, const struct tm_parquet_column *columns, size_t count,
                                  struct tm_out_file *file)
{
    struct tm_parquet *const p = tm_take(&run->budget, TM_ACCOUNT_TABLES, sizeof(*p), &run->error);

    assert(count <= TM_PARQUET_COLUMNS_MOST);
    if (!p)
        return NULL;
    p->run = run;
    p->file = file;
    p->columns = columns;
    p->count = count;
    p->footers.fd = -1;
    p->seed = tm_hash_seed(p);
    p->meta.b = (struct bytes){ .at = p->meta_bytes, .room = META_BYTES };
    p->most_rows = rows_of_group(run, columns, count);
    take_memory(p);
    if (!tm_failed(run))
        (void)tm_spill_open(&p->footers, run);
    if (tm_failed(run)) {
        tm_parquet_free(p);
        return NULL;
    }
    write_bytes(p, MAGIC, 4);
    return p;
}

void tm_parquet_free(struct tm_parquet *p)
{
    if (!p)
        return;
    tm_spill_close(&p->footers);
    tm_give(&p->run->budget, TM_ACCOUNT_TABLES, p->block, p->block ? p->block_bytes : 0);
    tm_give(&p->run->budget, TM_ACCOUNT_TABLES, p, sizeof(*p));
}

/* --- values --- */

static void add_value(struct tm_parquet *p, size_t column, int64_t bits)
{
    struct column *const c = &p->column[column];

    assert(!c->has_value);
    c->values[c->count++] = bits;
    c->has_value = true;
}

void tm_parquet_int(struct tm_parquet *p, size_t column, int64_t value)
{
    add_value(p, column, value);
}

void tm_parquet_double(struct tm_parquet *p, size_t column, double value)
{
    int64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    add_value(p, column, bits);
}

/* The number of a string in the dictionary of its column. */
static uint32_t number_of(struct tm_parquet *p, size_t column, const char *text, size_t length)
{
    struct column *const c = &p->column[column];
    struct text *const texts = texts_of(p, column);
    const uint64_t hash = tm_hash_text(text, length, p->seed);

    for (uint32_t at = (uint32_t)hash & p->slot_mask;; at = (at + 1) & p->slot_mask) {
        struct entry *const e = &c->slots[at];
        const struct text *known;

        if (!e->number) {
            assert(length <= p->text_room - p->text_used);
            texts[c->texts] = (struct text){ (uint32_t)p->text_used, (uint32_t)length };
            memcpy(p->text_bytes + p->text_used, text, length);
            p->text_used += length;
            *e = (struct entry){ (uint32_t)(hash >> 32), ++c->texts };
            return e->number - 1;
        }
        known = &texts[e->number - 1];
        if (e->hash == (uint32_t)(hash >> 32) && known->length == length &&
            memcmp(p->text_bytes + known->at, text, length) == 0)
            return e->number - 1;
    }
}

/* The longest text: a row of such texts fits into an empty group. */
static size_t longest_text(const struct tm_parquet *p)
{
    return p->text_room / (p->count + 1);
}

void tm_parquet_text(struct tm_parquet *p, size_t column, const char *text, size_t length)
{
    if (tm_failed(p->run))
        return;
    if (length > longest_text(p))
        tm_tally_add(&p->run->tallies, TM_TALLY_LONG_ARGUMENTS, 1);
    else
        add_value(p, column, number_of(p, column, text, length));
}

static void write_group(struct tm_parquet *p);

void tm_parquet_end_row(struct tm_parquet *p)
{
    const size_t most = longest_text(p) * p->count;

    if (tm_failed(p->run))
        return;
    for (size_t i = 0; i < p->count; i++) {
        struct column *const c = &p->column[i];

        c->is_there[p->rows] = c->has_value;
        c->has_value = false;
    }
    if (++p->rows == p->most_rows || p->text_used + most > p->text_room)
        write_group(p);
}

/* --- encodings --- */

static int bits_for(uint64_t value)
{
    return value ? 64 - __builtin_clzll(value) : 0;
}

/* Little-endian bits.  in: count  a multiple of 8 */
static void put_bits(struct bytes *b, const uint64_t *values, size_t count, int width)
{
    uint64_t word = 0;
    int used = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t value = values[i];

        for (int left = width; left > 0;) {
            const int room = 64 - used, n = left < room ? left : room;

            word |= value << used;
            used += n;
            left -= n;
            value = n < 64 ? value >> n : 0;
            if (used == 64) {
                put_little(b, word, 8);
                word = 0;
                used = 0;
            }
        }
    }
    put_little(b, word, (size_t)(used + 7) / 8);
}

/* source: Encodings.md, "Delta Encoding" */
static void put_deltas(struct bytes *b, const int64_t *values, size_t count)
{
    put_varint(b, BLOCK_VALUES);
    put_varint(b, MINIBLOCKS);
    put_varint(b, count);
    put_varint(b, zigzag(count ? values[0] : 0));
    for (size_t at = 1; at < count; at += BLOCK_VALUES) {
        const size_t n = count - at < BLOCK_VALUES ? count - at : BLOCK_VALUES;
        uint64_t delta[BLOCK_VALUES] = { 0 };
        int64_t least = INT64_MAX;
        int width[MINIBLOCKS];

        for (size_t i = 0; i < n; i++) {
            delta[i] = (uint64_t)values[at + i] - (uint64_t)values[at + i - 1];
            least = (int64_t)delta[i] < least ? (int64_t)delta[i] : least;
        }
        put_varint(b, zigzag(least));
        for (size_t m = 0; m < MINIBLOCKS; m++) {
            uint64_t all = 0;

            for (size_t i = m * MINI_VALUES; i < (m + 1) * MINI_VALUES && i < n; i++) {
                delta[i] -= (uint64_t)least;
                all |= delta[i];
            }
            width[m] = bits_for(all);
            put_byte(b, (unsigned)width[m]);
        }
        for (size_t m = 0; m < MINIBLOCKS && m * MINI_VALUES < n; m++)
            put_bits(b, delta + m * MINI_VALUES, MINI_VALUES, width[m]);
    }
}

/* The hybrid of runs and packed bits: runs of 8 or more of one value, else groups of 8.
 * source: Encodings.md, "RLE" */
typedef uint64_t value_at(const void *of, size_t index);

static void put_hybrid(struct bytes *b, const void *of, value_at *value, size_t count, int width)
{
    for (size_t at = 0; at < count;) {
        uint64_t packed[8] = { 0 };
        size_t run = 1;

        while (at + run < count && value(of, at + run) == value(of, at))
            run++;
        if (run >= 8 || at + run == count) {
            put_varint(b, (uint64_t)run << 1);
            put_little(b, value(of, at), (size_t)(width + 7) / 8);
            at += run;
            continue;
        }
        for (size_t i = 0; i < 8 && at + i < count; i++)
            packed[i] = value(of, at + i);
        put_varint(b, 1 << 1 | 1); /* one group of 8 */
        put_bits(b, packed, 8, width);
        at += at + 8 < count ? 8 : count - at;
    }
}

static uint64_t level_at(const void *of, size_t index)
{
    return ((const uint8_t *)of)[index];
}

static uint64_t index_at(const void *of, size_t index)
{
    return (uint64_t)((const int64_t *)of)[index];
}

/* --- pages --- */

struct chunk {
    int encoding;
    uint64_t offset, data_offset, dictionary_offset; /* in the file; dictionary 0 = none */
    uint64_t plain_bytes, packed_bytes;              /* with the headers of pages */
};

/* Compress the page and write it after its header. */
static void write_page(struct tm_parquet *p, struct chunk *chunk, int type, size_t values, int encoding)
{
    uint8_t header_bytes[128];
    struct thrift header = { .b = { .at = header_bytes, .room = sizeof(header_bytes) } };
    const size_t packed =
        ZSTD_compressCCtx(p->zstd, p->packed.at, p->packed.room, p->page.at, p->page.used, ZSTD_LEVEL);

    if (ZSTD_isError(packed)) {
        (void)tm_fail(&p->run->error, TM_ERR_LIMIT, -1, "cannot compress with zstd: %s", ZSTD_getErrorName(packed));
        return;
    }
    field_int(&header, 1, THRIFT_I32, type);
    field_int(&header, 2, THRIFT_I32, (int64_t)p->page.used);
    field_int(&header, 3, THRIFT_I32, (int64_t)packed);
    field_struct(&header, type == PAGE_DATA ? 5 : 7);
    field_int(&header, 1, THRIFT_I32, (int64_t)values);
    field_int(&header, 2, THRIFT_I32, encoding);
    if (type == PAGE_DATA) {
        field_int(&header, 3, THRIFT_I32, ENCODING_RLE);
        field_int(&header, 4, THRIFT_I32, ENCODING_RLE);
    }
    end_struct(&header);
    put_byte(&header.b, 0);
    chunk->plain_bytes += header.b.used + p->page.used;
    chunk->packed_bytes += header.b.used + packed;
    write_bytes(p, header_bytes, header.b.used);
    write_bytes(p, p->packed.at, packed);
    p->page.used = 0;
}

static void put_levels(struct tm_parquet *p, const struct column *c)
{
    struct bytes *const b = &p->page;
    const size_t head = b->used;
    size_t length;

    put_little(b, 0, 4);
    put_hybrid(b, c->is_there, level_at, p->rows, 1);
    length = b->used - head - 4;
    for (size_t i = 0; i < 4; i++)
        b->at[head + i] = (uint8_t)(length >> 8 * i);
}

static void put_text(struct bytes *b, const struct tm_parquet *p, const struct text *text)
{
    put_little(b, text->length, 4);
    put(b, p->text_bytes + text->at, text->length);
}

static void write_dictionary(struct tm_parquet *p, size_t column, struct chunk *chunk)
{
    const struct column *const c = &p->column[column];

    for (uint32_t i = 0; i < c->texts; i++)
        put_text(&p->page, p, &texts_of(p, column)[i]);
    chunk->dictionary_offset = p->written;
    write_page(p, chunk, PAGE_DICTIONARY, c->texts, ENCODING_PLAIN);
}

/* Whether strings are stored without a dictionary: most of them differ, and repetitions do not make the page too
 * long. */
static bool is_plain(const struct tm_parquet *p, size_t column)
{
    const struct column *const c = &p->column[column];
    size_t bytes = 0;

    for (uint32_t i = 0; i < c->count; i++)
        bytes += texts_of(p, column)[c->values[i]].length;
    return c->texts > c->count / 2 + 1 && bytes <= p->text_room;
}

/* in: chunk  zeroed */
static void write_column(struct tm_parquet *p, size_t column, struct chunk *chunk)
{
    const struct column *const c = &p->column[column];
    const enum tm_parquet_type type = p->columns[column].type;
    const bool has_dictionary = type == TM_PARQUET_TEXT && !is_plain(p, column);

    chunk->offset = p->written;
    if (has_dictionary)
        write_dictionary(p, column, chunk);
    put_levels(p, c);
    if (type == TM_PARQUET_INT64) {
        chunk->encoding = ENCODING_DELTA_BINARY_PACKED;
        put_deltas(&p->page, c->values, c->count);
    } else if (has_dictionary) {
        const int width = bits_for(c->texts ? c->texts - 1 : 0);

        chunk->encoding = ENCODING_RLE_DICTIONARY;
        put_byte(&p->page, (unsigned)width);
        put_hybrid(&p->page, c->values, index_at, c->count, width);
    } else {
        chunk->encoding = ENCODING_PLAIN;
        for (uint32_t i = 0; i < c->count; i++) {
            if (type == TM_PARQUET_TEXT)
                put_text(&p->page, p, &texts_of(p, column)[c->values[i]]);
            else
                put_little(&p->page, (uint64_t)c->values[i], 8);
        }
    }
    chunk->data_offset = p->written;
    write_page(p, chunk, PAGE_DATA, p->rows, chunk->encoding);
}

/* --- statistics --- */

static double double_of(int64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static int compare_texts(const struct tm_parquet *p, const struct text *a, const struct text *b)
{
    const size_t n = a->length < b->length ? a->length : b->length;
    const int order = memcmp(p->text_bytes + a->at, p->text_bytes + b->at, n);

    return order ? order : (a->length > b->length) - (a->length < b->length);
}

/* Strings that are too long for it have none.  NaN has no place in an order. */
static void put_bounds(struct tm_parquet *p, size_t column)
{
    const struct column *const c = &p->column[column];
    const enum tm_parquet_type type = p->columns[column].type;
    const struct text *const texts = texts_of(p, column);
    int64_t least = c->values[0], most = c->values[0];
    const struct text *first = texts, *last = texts;
    uint8_t bytes[8];
    struct bytes b = { .at = bytes, .room = sizeof(bytes) };

    for (uint32_t i = 0; type != TM_PARQUET_TEXT && i < c->count; i++) {
        const int64_t v = c->values[i];

        if (type == TM_PARQUET_DOUBLE && double_of(v) != double_of(v))
            return;
        if (type == TM_PARQUET_INT64 ? v < least : double_of(v) < double_of(least))
            least = v;
        if (type == TM_PARQUET_INT64 ? v > most : double_of(v) > double_of(most))
            most = v;
    }
    for (uint32_t i = 1; type == TM_PARQUET_TEXT && i < c->texts; i++) {
        first = compare_texts(p, &texts[i], first) < 0 ? &texts[i] : first;
        last = compare_texts(p, &texts[i], last) > 0 ? &texts[i] : last;
    }
    if (type == TM_PARQUET_TEXT) {
        if (first->length > STATISTICS_TEXT_MOST || last->length > STATISTICS_TEXT_MOST)
            return;
        field_binary(&p->meta, 5, p->text_bytes + last->at, last->length);
        field_binary(&p->meta, 6, p->text_bytes + first->at, first->length);
        return;
    }
    put_little(&b, (uint64_t)most, 8);
    field_binary(&p->meta, 5, bytes, 8);
    b.used = 0;
    put_little(&b, (uint64_t)least, 8);
    field_binary(&p->meta, 6, bytes, 8);
}

static void put_chunk(struct tm_parquet *p, size_t column, const struct chunk *chunk)
{
    const struct column *const c = &p->column[column];
    struct thrift *const t = &p->meta;

    begin_struct(t);
    field_int(t, 2, THRIFT_I64, (int64_t)chunk->offset);
    field_struct(t, 3);
    field_int(t, 1, THRIFT_I32, physical_type[p->columns[column].type]);
    field_list(t, 2, THRIFT_I32, chunk->dictionary_offset ? 3 : 2);
    put_varint(&t->b, zigzag(ENCODING_RLE));
    if (chunk->dictionary_offset)
        put_varint(&t->b, zigzag(ENCODING_PLAIN));
    put_varint(&t->b, zigzag(chunk->encoding));
    field_list(t, 3, THRIFT_BINARY, 1);
    put_binary(t, p->columns[column].name, strlen(p->columns[column].name));
    field_int(t, 4, THRIFT_I32, CODEC_ZSTD);
    field_int(t, 5, THRIFT_I64, p->rows);
    field_int(t, 6, THRIFT_I64, (int64_t)chunk->plain_bytes);
    field_int(t, 7, THRIFT_I64, (int64_t)chunk->packed_bytes);
    field_int(t, 9, THRIFT_I64, (int64_t)chunk->data_offset);
    if (chunk->dictionary_offset)
        field_int(t, 11, THRIFT_I64, (int64_t)chunk->dictionary_offset);
    field_struct(t, 12);
    field_int(t, 3, THRIFT_I64, (int64_t)p->rows - c->count);
    if (c->count)
        put_bounds(p, column);
    end_struct(t);
    end_struct(t);
    end_struct(t);
}

/* Keep its metadata piece by piece: a group of many columns has more than the buffer holds. */
static void keep_meta(struct tm_parquet *p)
{
    if (!tm_failed(p->run))
        (void)tm_spill_append(&p->footers, p->meta.b.at, p->meta.b.used, NULL);
    p->meta.b.used = 0;
}

static void empty_group(struct tm_parquet *p)
{
    for (size_t i = 0; i < p->count; i++) {
        struct column *const c = &p->column[i];

        if (c->texts)
            memset(c->slots, 0, (size_t)(p->slot_mask + 1) * sizeof(*c->slots));
        c->count = c->texts = 0;
    }
    p->rows = 0;
    p->text_used = 0;
}

static void write_group(struct tm_parquet *p)
{
    const uint64_t begin = p->written;
    uint64_t plain = 0;

    begin_struct(&p->meta);
    field_list(&p->meta, 1, THRIFT_STRUCT, p->count);
    for (size_t i = 0; i < p->count && !tm_failed(p->run); i++) {
        struct chunk chunk = { .encoding = 0 };

        write_column(p, i, &chunk);
        put_chunk(p, i, &chunk);
        plain += chunk.plain_bytes;
        keep_meta(p);
    }
    field_int(&p->meta, 2, THRIFT_I64, (int64_t)plain);
    field_int(&p->meta, 3, THRIFT_I64, p->rows);
    field_int(&p->meta, 5, THRIFT_I64, (int64_t)begin);
    field_int(&p->meta, 6, THRIFT_I64, (int64_t)(p->written - begin));
    end_struct(&p->meta);
    keep_meta(p);
    p->all_rows += p->rows;
    p->groups++;
    empty_group(p);
}

/* --- the footer --- */

/* Pass on what the buffer holds: it has room for any one element. */
static void pass_meta(struct tm_parquet *p)
{
    write_bytes(p, p->meta.b.at, p->meta.b.used);
    p->meta.b.used = 0;
}

static void put_schema(struct tm_parquet *p)
{
    struct thrift *const t = &p->meta;

    field_list(t, 2, THRIFT_STRUCT, p->count + 1);
    begin_struct(t);
    field_text(t, 4, "schema");
    field_int(t, 5, THRIFT_I32, (int64_t)p->count);
    end_struct(t);
    for (size_t i = 0; i < p->count; i++) {
        begin_struct(t);
        field_int(t, 1, THRIFT_I32, physical_type[p->columns[i].type]);
        field_int(t, 3, THRIFT_I32, OPTIONAL);
        field_text(t, 4, p->columns[i].name);
        if (p->columns[i].type == TM_PARQUET_TEXT) {
            field_int(t, 6, THRIFT_I32, CONVERTED_UTF8);
            field_struct(t, 10);
            field_struct(t, 1);
            end_struct(t);
            end_struct(t);
        }
        end_struct(t);
        pass_meta(p);
    }
}

static void put_groups(struct tm_parquet *p)
{
    uint8_t bytes[COPY_BYTES];

    field_list(&p->meta, 4, THRIFT_STRUCT, p->groups);
    pass_meta(p);
    for (uint64_t at = 0; at < p->footers.bytes && !tm_failed(p->run);) {
        const uint64_t left = p->footers.bytes - at;
        const size_t n = left < sizeof(bytes) ? (size_t)left : sizeof(bytes);

        if (tm_spill_read(&p->footers, bytes, n, at) == TM_OK)
            write_bytes(p, bytes, n);
        at += n;
    }
}

static void put_fact(struct tm_parquet *p, const char *key, const char *ending, const char *value)
{
    char name[TM_SINK_PIECE / 8];

    (void)snprintf(name, sizeof(name), "%s%s", key, ending);
    begin_struct(&p->meta);
    field_text(&p->meta, 1, name);
    field_binary(&p->meta, 2, value, strlen(value) < META_BYTES / 2 ? strlen(value) : META_BYTES / 2);
    end_struct(&p->meta);
    pass_meta(p);
}

static bool has(const char *text)
{
    return text && *text;
}

static void put_facts(struct tm_parquet *p, const struct tm_parquet_fact *facts, size_t fact_count)
{
    size_t count = fact_count;

    for (size_t i = 0; i < p->count; i++)
        count += (size_t)has(p->columns[i].unit) + has(p->columns[i].meaning);
    field_list(&p->meta, 5, THRIFT_STRUCT, count);
    for (size_t i = 0; i < fact_count; i++)
        put_fact(p, facts[i].key, "", facts[i].value);
    for (size_t i = 0; i < p->count; i++) {
        if (has(p->columns[i].unit))
            put_fact(p, p->columns[i].name, ".unit", p->columns[i].unit);
        if (has(p->columns[i].meaning))
            put_fact(p, p->columns[i].name, ".meaning", p->columns[i].meaning);
    }
}

/* States that minima and maxima follow the order of the type: without it, readers ignore them. */
static void put_orders(struct tm_parquet *p)
{
    field_list(&p->meta, 7, THRIFT_STRUCT, p->count);
    for (size_t i = 0; i < p->count; i++) {
        begin_struct(&p->meta);
        field_struct(&p->meta, 1);
        end_struct(&p->meta);
        end_struct(&p->meta);
    }
}

void tm_parquet_finish(struct tm_parquet *p, const struct tm_parquet_fact *facts, size_t fact_count)
{
    uint8_t length[4];
    struct bytes b = { .at = length, .room = sizeof(length) };
    uint64_t begin;

    if (p->rows)
        write_group(p);
    begin = p->written;
    field_int(&p->meta, 1, THRIFT_I32, 2);
    put_schema(p);
    field_int(&p->meta, 3, THRIFT_I64, (int64_t)p->all_rows);
    put_groups(p);
    put_facts(p, facts, fact_count);
    field_text(&p->meta, 6, "tracemill version " TM_VERSION);
    put_orders(p);
    put_byte(&p->meta.b, 0);
    pass_meta(p);
    put_little(&b, p->written - begin, 4);
    write_bytes(p, length, 4);
    write_bytes(p, MAGIC, 4);
}
