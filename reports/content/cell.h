/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CELL_H
#define TM_CELL_H

#include <stdbool.h>

#include "pipeline/doc/doc.h"
#include "reports/format/format.h"

/* One figure or text of a report, before it has a form.  All media show the same value; each gives it the form of its
 * place: a page adds sort keys, CSV gives exact numbers. */

/* What a value is, and so how it looks.  Numbers come last. */
enum tm_cell_kind {
    TM_CELL_WORD,      /* a short text of the program */
    TM_CELL_NAME,      /* a name of the trace, any bytes: cut in the middle where room is short */
    TM_CELL_DEVICE,    /* the id of a device, shown as reports/format/format.h has it */
    TM_CELL_HOST,      /* likewise; a column of them is left out where the run has one host */
    TM_CELL_CAUSE,     /* of idle time, in words (palette.h) */
    TM_CELL_DIRECTION, /* of a copy, in words */
    TM_CELL_SOURCE,    /* of step borders, in words */
    TM_CELL_TERM,      /* a word of the summary that has words of its own: what bounds, limits, is relied on */
    TM_CELL_PROSE,     /* sentences, wrapped; may hold names of the trace */
    TM_CELL_LINK, /* path of a file below the document's folder, to which the first cell of the row leads where the medium has links;
                       there it is no column of its own, nor on paper */
    TM_CELL_TIME,   /* picoseconds */
    TM_CELL_MOMENT, /* a point in time, picoseconds */
    TM_CELL_DATE,   /* nanoseconds since 1970 */
    TM_CELL_COUNT,
    TM_CELL_BYTES,
    TM_CELL_RATE,      /* bytes per second */
    TM_CELL_FLOP_RATE, /* FLOP per second */
    TM_CELL_PCT,
    TM_CELL_NUMBER,
};

static inline bool tm_kind_is_number(enum tm_cell_kind kind)
{
    return kind >= TM_CELL_TIME;
}

/* What a number of that kind counts: "ps", "bytes", "bytes/s", "FLOP/s", "%"; "" = nothing. */
const char *tm_kind_unit(enum tm_cell_kind kind);

enum tm_cell_from { TM_FROM_VALUE, TM_FROM_TEXT, TM_FROM_INT, TM_FROM_DOUBLE };

struct tm_cell {
    enum tm_cell_kind kind;
    enum tm_cell_from from;
    bool is_change; /* a number that is shown with its sign */
    union {
        const struct tm_value *value; /* of the summary; may be null, then tm_why tells why */
        const char *text;             /* "" = an empty cell */
        int64_t whole;
        double number;
    };
};

static inline struct tm_cell tm_cell_of_value(enum tm_cell_kind kind, const struct tm_value *value)
{
    return (struct tm_cell){ .kind = kind, .from = TM_FROM_VALUE, .value = value };
}

static inline struct tm_cell tm_cell_of_text(enum tm_cell_kind kind, const char *text)
{
    return (struct tm_cell){ .kind = kind, .from = TM_FROM_TEXT, .text = text };
}

static inline struct tm_cell tm_cell_of_int(enum tm_cell_kind kind, int64_t whole)
{
    return (struct tm_cell){ .kind = kind, .from = TM_FROM_INT, .whole = whole };
}

static inline struct tm_cell tm_cell_of_double(enum tm_cell_kind kind, double number)
{
    return (struct tm_cell){ .kind = kind, .from = TM_FROM_DOUBLE, .number = number };
}

/* Part of a whole in percent; an empty cell where there is no whole. */
struct tm_cell tm_cell_of_share(const struct tm_value *part, const struct tm_value *whole);

/* Neither a number nor a text that is not "". */
bool tm_cell_is_empty(const struct tm_cell *cell);

/* The number 0, or a plain no. */
bool tm_cell_is_zero(const struct tm_cell *cell);

/* The cell as people read it.  Names are as they were recorded, any bytes: the medium makes them safe.
 * out:    returned: out (TM_FORMAT_BYTES), or a text that lives as long as the summary; "" for an empty cell */
const char *tm_cell_shown(const struct tm_cell *cell, const struct tm_value *summary, char *out);

/* The exact number, without its unit and without separators, as JSON has it; "" where it is none.
 * out:    TM_FORMAT_BYTES, returned */
const char *tm_cell_exact(const struct tm_cell *cell, char *out);

/* What a text says about itself; a medium with colours may use it, the words never depend on it. */
enum tm_tone {
    TM_TONE_PLAIN,
    TM_TONE_GOOD,
    TM_TONE_WARNING,
    TM_TONE_BAD,      /* a figure */
    TM_TONE_CRITICAL, /* a finding */
    TM_TONE_INFO,
    TM_TONE_UNKNOWN,
    TM_TONE_QUIET, /* a remark on what stands above it */
};

/* The tone of a band or a severity: "good", "warning", "bad", "critical", "info", "unknown". */
enum tm_tone tm_tone_of(const char *word);

#endif
