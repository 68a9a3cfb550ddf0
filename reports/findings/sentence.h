/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SENTENCE_H
#define TM_SENTENCE_H

#include <stddef.h>
#include <stdint.h>

#include "pipeline/doc/doc.h"

/* Sentences with named values, as schemas/findings.json has them:
 *
 *   "Run of {kernels:count} kernels over {dur_ps} at {begin_ps:moment} on {device}[ in step {step:integer}]."
 *
 * A value is looked up by its name among those that the caller gives, then as a path in the row that the sentence is
 * about, then as a path in the summary.  Its kind follows from the end of its name (_ps, _pct, _bytes, count, name,
 * device) or stands after a colon.  What is in brackets is left out if a value in it is missing, null or empty;
 * "[a {b}|c]" gives "c" instead, and "[{b=word} d]" gives " d" if the value is that text.  A sentence of which nothing is
 * left is not added.  scripts/embed-findings.py checks the form and compiles it into parts. */

enum tm_sentence_kind {
    TM_SENTENCE_END,
    TM_SENTENCE_PLAIN, /* the text itself */
    TM_SENTENCE_OPEN,  /* [ */
    TM_SENTENCE_ELSE,  /* | */
    TM_SENTENCE_CLOSE, /* ] */
    /* values; the text is the name */
    TM_SENTENCE_TIME,
    TM_SENTENCE_MOMENT,
    TM_SENTENCE_COUNT, /* "12,345" */
    TM_SENTENCE_BYTES,
    TM_SENTENCE_PERCENT,
    TM_SENTENCE_RATE, /* bytes a second */
    TM_SENTENCE_FLOP_RATE,
    TM_SENTENCE_NUMBER,     /* three significant digits */
    TM_SENTENCE_INTEGER,    /* "12345" */
    TM_SENTENCE_WHOLE,      /* a double without decimals */
    TM_SENTENCE_TENTHS,     /* with one */
    TM_SENTENCE_HUNDREDTHS, /* with two */
    TM_SENTENCE_PLURAL,     /* "" for 1, else "s" */
    TM_SENTENCE_NAME,       /* a name of the trace: visible, and cut in the middle */
    TM_SENTENCE_DEVICE,     /* the same of a device id, without what all of them begin with */
    TM_SENTENCE_TEXT,       /* as it is */
    TM_SENTENCE_IS,         /* "name=text": nothing is written, and it is there if the value is this text */
};

struct tm_sentence_part {
    enum tm_sentence_kind kind;
    const char *text;
};

struct tm_sentence {
    const char *name;                     /* NULL ends a list */
    const struct tm_sentence_part *parts; /* the last one is TM_SENTENCE_END */
};

/* A value that the caller gives; made by the functions below.  Texts are borrowed. */
struct tm_given {
    const char *name; /* NULL ends a list */
    const char *text; /* NULL: a number */
    int64_t whole;
    double real;
};

static inline struct tm_given tm_given_int(const char *name, int64_t value)
{
    return (struct tm_given){ .name = name, .whole = value, .real = (double)value };
}

/* in:     value  of a kind that is not a whole number: percent, bytes, rates, decimals */
static inline struct tm_given tm_given_double(const char *name, double value)
{
    return (struct tm_given){ .name = name, .real = value };
}

static inline struct tm_given tm_given_text(const char *name, const char *value)
{
    return (struct tm_given){ .name = name, .text = value };
}

/* Write a sentence; what does not fit is cut.
 * in:     row, given  NULL = none
 * out:    out         terminated */
void tm_sentence_fill(char *out, size_t out_bytes, const struct tm_sentence_part *parts, const struct tm_value *summary,
                      const struct tm_value *row, const struct tm_given *given);

#endif
