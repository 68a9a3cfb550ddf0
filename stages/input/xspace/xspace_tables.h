/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_XSPACE_TABLES_H
#define TM_XSPACE_TABLES_H

#include "stages/input/xspace/xspace_private.h"
#include "stages/input/xspace/xspace_reader.h"

/* Events that were met before.  A program runs the same kernels again and again: their events have the same
 * statistics but for a few numbers (a correlation id).  The first event of some metadata tells the *shape*: where those
 * numbers stand.  What was made of an event is remembered under all the other bytes, so of one that is the same but for
 * its numbers only these have to be read.
 * Memory: two tables of fixed size; what falls out of them is read as if it had not been met: nothing else changes. */
struct tm_xknown;

/* Whose events are the same where their statistics are. */
struct tm_xkin {
    uint64_t plane;
    int64_t metadata_id;
    uint8_t line; /* enum tm_line */
};

/* What was made of an event, but for its times and the numbers that vary. */
struct tm_xresult {
    tm_strid name;
    uint32_t traits, config, common;
    uint16_t flags;
    int16_t ordinal; /* TM_STAT_DEVICE_ORDINAL */
    bool is_counter : 1;
    bool has_step_num : 1, has_size : 1, has_ordinal : 1; /* a size that is a text is none */
    bool has_device_times : 1;
};

/* owns:   the caller frees it; x must outlive it
 * errors: NULL, with the error in run->error */
struct tm_xknown *tm_xknown_new(struct tm_xspace *x) TM_MUST_USE;
void tm_xknown_free(struct tm_xknown *known); /* tolerates NULL */

/* Find what was made of an event that was the same but for its numbers.
 * in:     stats  the fields of the event behind its times, with TM_READER_SLACK readable bytes behind them
 * out:    numbers  by enum tm_stat: those that vary
 *         NULL     it is to be read, and then learned; else valid until the next call of either */
const struct tm_xresult *tm_xknown_find(struct tm_xknown *known, const struct tm_xkin *kin, const struct tm_wire *stats,
                                        int64_t numbers[TM_STAT_COUNT]) TM_MUST_USE;

/* An event of these is what will be looked for next: what is known of it may come into the caches meanwhile. */
void tm_xknown_expect(const struct tm_xknown *known, const struct tm_xkin *kin);

/* Remember what was made of an event that tm_xknown_find did not find and that was read without damage.  Not of one
 * whose other numbers matter, too (an allocation). */
tm_status tm_xknown_learn(struct tm_xknown *known, const struct tm_xkin *kin, const struct tm_wire *stats,
                          const struct tm_xresult *result) TM_MUST_USE;

/* A statistic on the wire: XStat {metadata_id 1, double 2, uint64 3, int64 4, str 5, bytes 6, ref 7}. */
enum {
    TM_XSTAT_ID = 1,
    TM_XSTAT_DOUBLE = 2,
    TM_XSTAT_UINT = 3,
    TM_XSTAT_INT = 4,
    TM_XSTAT_STR = 5,
    TM_XSTAT_BYTES = 6,
    TM_XSTAT_REF = 7,
    TM_XSTAT_LARGEST = 64 << 10, /* a larger one is looked at where it lies */
};

struct tm_xstat {
    int64_t id;
    struct tm_field value; /* key 0: it has none */
};

/* Its fields, whatever their order.  What comes later in the format is no value. */
static inline void tm_xstat_read(struct tm_wire *bytes, struct tm_xstat *stat)
{
    struct tm_field field;

    while (tm_wire_next(bytes, &field)) {
        if (field.key == TM_WIRE_KEY(TM_XSTAT_ID, TM_WIRE_VARINT))
            stat->id = (int64_t)field.value;
        else if (field.key < TM_WIRE_KEY(TM_XSTAT_REF + 1, 0))
            stat->value = field;
    }
}

/* What it means and where its value lies, of one that may be of any length.  The value is not read. */
struct tm_xstat_place {
    int64_t id;
    struct tm_head value; /* type TM_WIRE_END: it has none */
    uint64_t value_at;    /* LEN: of its first byte */
};

/* in: begin, end  of its bytes; of one that is cut, what is there counts */
tm_status tm_xstat_find(const struct tm_input *input, uint64_t begin, uint64_t end,
                        struct tm_xstat_place *place) TM_MUST_USE;

#endif
