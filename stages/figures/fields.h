/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FIELDS_H
#define TM_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "pipeline/partial.h"
#include "pipeline/store/lengths.h"
#include "pipeline/store/rows.h"

struct tm_top_rows;

/* The fields of a row: each member is declared once, with its kind and how two rows merge.  From that table a row is
 * written to a partial, read from one and merged with another.
 *
 *     static const struct tm_row_field op_fields[] = {
 *         TM_FIELD(struct op_row, key, WORD, KEEP),
 *         TM_FIELD(struct op_row, count, COUNT, SUM),
 *         TM_FIELD_BELOW(struct op_row, class, U8, FIRST, TM_CLASS_COUNT),
 *         TM_FIELDS_END,
 *     };
 *
 * To add one: 1. the member in its struct; 2. its line in the table, in the order of the partial.  A partial has a hash
 * of each table before its first row, so that a partial written with another table is refused.  A member that is an
 * array has as many elements as fit into it. */
enum tm_field_kind {
    TM_FIELD_NONE,
    TM_FIELD_WORD,           /* uint64_t, or a struct of them: hashes, keys */
    TM_FIELD_COUNT,          /* uint64_t */
    TM_FIELD_TIME,           /* int64_t: a length of time in ps, not negative */
    TM_FIELD_INSTANT,        /* int64_t: a point in time, or another number with a sign */
    TM_FIELD_WIDE,           /* struct tm_wide */
    TM_FIELD_DOUBLE,         /* double */
    TM_FIELD_U32,            /* uint32_t */
    TM_FIELD_U8,             /* uint8_t */
    TM_FIELD_BOOL,           /* bool, or uint8_t that is 0 or 1 */
    TM_FIELD_NAME,           /* tm_strid */
    TM_FIELD_TEXT,           /* char[], with its terminator */
    TM_FIELD_HOST,           /* uint32_t: a host of the partial, renumbered where it is read */
    TM_FIELD_DEVICE,         /* uint32_t: a device of the partial, renumbered: see tm_partial_bind_devices */
    TM_FIELD_DEVICE_OR_NONE, /* the same, or TM_NONE */
    TM_FIELD_DEVICES,        /* uint64_t: bits of devices, renumbered */
    TM_FIELD_ID,     /* char[]: the id of a device, which starts with the name of its host: TM_FIELD_DEVICE_ID */
    TM_FIELD_STRUCT, /* a struct with its own table, or an array of them: TM_FIELD_STRUCTS */
    TM_FIELD_KIND_COUNT
};

/* How two rows become one. */
enum tm_field_merge {
    TM_MERGE_KEEP,  /* the same in both, or not managed by this table */
    TM_MERGE_SUM,   /* bounded */
    TM_MERGE_MIN,   /* of times */
    TM_MERGE_MAX,   /* of times, counts, doubles */
    TM_MERGE_ANY,   /* bits or truth of either one */
    TM_MERGE_FIRST, /* of the row that comes first: tm_fields_take_first */
};

struct tm_row_field {
    const char *name;    /* of the member: part of the identity of a partial */
    uint8_t kind, merge; /* enum tm_field_kind, enum tm_field_merge */
    bool is_local;       /* it is merged, but in no partial */
    uint16_t at, bytes;  /* in the row */
    /* U8, U32, COUNT: what is not below makes a partial damaged, 0 = any value; ID: where its host is; STRUCT: bytes of
     * one */
    uint32_t below;
    const struct tm_row_field *fields; /* STRUCT: of one */
    uint16_t counted_by;               /* position of the number of its elements, if not all are used; 0 = all are */
    uint8_t counted_bytes;             /* of that number: 1 or 4 */
};

#define TM_FIELD_BELOW(type, member, field_kind, field_merge, limit)                                                   \
    {                                                                                                                  \
        .name = #member, .kind = TM_FIELD_##field_kind, .merge = TM_MERGE_##field_merge, .at = offsetof(type, member), \
        .bytes = sizeof(((type *)0)->member), .below = (limit)                                                         \
    }
#define TM_FIELD(type, member, field_kind, field_merge) TM_FIELD_BELOW(type, member, field_kind, field_merge, 0)
#define TM_FIELD_LOCAL(type, member, field_kind, field_merge)                                                          \
    {                                                                                                                  \
        .name = #member, .kind = TM_FIELD_##field_kind, .merge = TM_MERGE_##field_merge, .is_local = true,             \
        .at = offsetof(type, member), .bytes = sizeof(((type *)0)->member)                                             \
    }
/* in: host_member  uint32_t: written and read with the id */
#define TM_FIELD_DEVICE_ID(type, member, host_member)                                                                  \
    TM_FIELD_BELOW(type, member, ID, KEEP, offsetof(type, host_member))
/* in:     of  the type of one; table  of that type; its own rules determine how each member merges */
#define TM_FIELD_STRUCTS(type, member, of, table)                                                                      \
    {                                                                                                                  \
        .name = #member, .kind = TM_FIELD_STRUCT, .merge = TM_MERGE_SUM, .at = offsetof(type, member),                 \
        .bytes = sizeof(((type *)0)->member), .below = sizeof(of), .fields = (table)                                   \
    }
/* An array; `count_member` elements are written: uint8_t or uint32_t, an earlier field whose limit is the
 * capacity. */
#define TM_FIELD_COUNTED(type, member, field_kind, field_merge, count_member)                                          \
    {                                                                                                                  \
        .name = #member, .kind = TM_FIELD_##field_kind, .merge = TM_MERGE_##field_merge, .at = offsetof(type, member), \
        .bytes = sizeof(((type *)0)->member), .counted_by = offsetof(type, count_member),                              \
        .counted_bytes = sizeof(((type *)0)->count_member)                                                             \
    }
#define TM_FIELD_COUNTED_STRUCTS(type, member, of, table, count_member)                                                \
    {                                                                                                                  \
        .name = #member, .kind = TM_FIELD_STRUCT, .at = offsetof(type, member), .bytes = sizeof(((type *)0)->member),  \
        .below = sizeof(of), .fields = (table), .counted_by = offsetof(type, count_member),                            \
        .counted_bytes = sizeof(((type *)0)->count_member)                                                             \
    }
/* clang-format off */
#define TM_FIELDS_END { .kind = TM_FIELD_NONE }
/* clang-format on */

/* Failures are remembered by the writer. */
void tm_fields_save(struct tm_partial_writer *w, const struct tm_row_field *fields, const void *row);

/* Set the members of a row.  Failures are remembered by the reader. */
void tm_fields_load(struct tm_partial_reader *r, const struct tm_row_field *fields, void *row);

/* Merge a loaded row into another one: for the sums of a stage over all partials. in: fields  all of them merge, and
 * none is a string or an id */
void tm_fields_load_more(struct tm_partial_reader *r, const struct tm_row_field *fields, void *row);

/* Merge two rows, except for what is TM_MERGE_FIRST. */
void tm_fields_merge(const struct tm_row_field *fields, void *into, const void *from);
/* Copy the TM_MERGE_FIRST members of a row that comes before the other one. */
void tm_fields_take_first(const struct tm_row_field *fields, void *into, const void *from);

/* Check and complete a row that was read: tm_partial_damaged if it is invalid.  errors: of what it calls */
typedef tm_status tm_fields_complete(void *of, struct tm_partial_reader *r, void *row);

/* Groups: a 1 before each row, and a 0 at the end; saving finishes them.
 * in:     complete  NULL = rows are complete when read; of  its argument
 * errors: of the groups, the partial, and `complete` */
tm_status tm_fields_save_groups(struct tm_partial_writer *w, const struct tm_row_field *fields,
                                struct tm_groups *groups);
tm_status tm_fields_load_groups(struct tm_partial_reader *r, const struct tm_row_field *fields,
                                struct tm_groups *groups, tm_fields_complete *complete, void *of);

/* Rows first to first + count - 1, one after the other; their number is the caller's to write and to read.  Loaded ones
 * are appended.
 * errors: of the rows, the partial and `complete` */
tm_status tm_fields_save_rows(struct tm_partial_writer *w, const struct tm_row_field *fields, struct tm_rows *rows,
                              uint64_t first, uint64_t count);
tm_status tm_fields_load_rows(struct tm_partial_reader *r, const struct tm_row_field *fields, struct tm_rows *rows,
                              uint64_t count, tm_fields_complete *complete, void *of);

/* The rows of a sorter in order, which saving finishes: their number, then each.
 * errors: of the sorter, the partial and `complete` */
tm_status tm_fields_save_sorter(struct tm_partial_writer *w, const struct tm_row_field *fields,
                                struct tm_sorter *sorter);
tm_status tm_fields_load_sorter(struct tm_partial_reader *r, const struct tm_row_field *fields,
                                struct tm_sorter *sorter, tm_fields_complete *complete, void *of);

/* The kept rows of a list of the largest ones, which saving sorts: their number, then each.
 * in:     most  of them
 * errors: of the partial and the rows */
void tm_fields_save_top(struct tm_partial_writer *w, const struct tm_row_field *fields, struct tm_top_rows *top);
tm_status tm_fields_load_top(struct tm_partial_reader *r, const struct tm_row_field *fields, struct tm_top_rows *top,
                             uint64_t most);

/* Lengths, which are times, in the order of group and value.
 * errors: of the lengths and the partial */
tm_status tm_fields_save_lengths(struct tm_partial_writer *w, struct tm_lengths *lengths);
tm_status tm_fields_load_lengths(struct tm_partial_reader *r, struct tm_lengths *lengths);

/* A time in which a device did nothing. */
struct tm_stretch {
    int64_t start_ps, dur_ps;
    uint64_t bytes; /* that were copied right before and after it; 0 = not requested, or not recorded */
    uint32_t host;
    char device[192]; /* id */
};

/* Put a stretch in its place in a list of at most this many, the longest ones first. */
void tm_stretches_add(struct tm_stretch *list, uint32_t *count, uint32_t most, const struct tm_stretch *stretch);
extern const struct tm_row_field tm_stretch_fields[]; /* all but its bytes */
/* A list in a partial, after its length.  Loading adds what is read to the list. */
void tm_stretches_save(struct tm_partial_writer *w, const struct tm_row_field *fields, const struct tm_stretch *list,
                       uint32_t count);
void tm_stretches_load(struct tm_partial_reader *r, const struct tm_row_field *fields, struct tm_stretch *list,
                       uint32_t *count, uint32_t most);

#endif
