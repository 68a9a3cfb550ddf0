/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/content/cell.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/doc/doc.h"
#include "pipeline/doc/doc_json.h"
#include "pipeline/store/bounded_sum.h"
#include "reports/chart/palette.h"
#include "reports/format/format.h"

const char *tm_kind_unit(enum tm_cell_kind kind)
{
    switch (kind) {
    case TM_CELL_TIME:
    case TM_CELL_MOMENT:
        return "ps";
    case TM_CELL_DATE:
        return "ns";
    case TM_CELL_BYTES:
        return "bytes";
    case TM_CELL_RATE:
        return "bytes/s";
    case TM_CELL_FLOP_RATE:
        return "FLOP/s";
    case TM_CELL_PCT:
        return "%";
    default:
        return "";
    }
}

struct tm_cell tm_cell_of_share(const struct tm_value *part, const struct tm_value *whole)
{
    if (!tm_has(part) || tm_double(whole) <= 0)
        return tm_cell_of_text(TM_CELL_PCT, "");
    return tm_cell_of_double(TM_CELL_PCT, 100 * tm_double(part) / tm_double(whole));
}

bool tm_cell_is_empty(const struct tm_cell *cell)
{
    if (cell->from == TM_FROM_TEXT)
        return !*cell->text;
    return cell->from == TM_FROM_VALUE &&
           (!tm_has(cell->value) || (tm_type_of(cell->value) == TM_STRING && !*tm_text(cell->value)));
}

static double number_of(const struct tm_cell *cell)
{
    return cell->from == TM_FROM_VALUE ? tm_double(cell->value)
           : cell->from == TM_FROM_INT ? (double)cell->whole
                                       : cell->number;
}

bool tm_cell_is_zero(const struct tm_cell *cell)
{
    if (tm_cell_is_empty(cell) || cell->from == TM_FROM_TEXT)
        return false;
    if (cell->from == TM_FROM_VALUE && tm_type_of(cell->value) == TM_BOOL)
        return !tm_is(cell->value);
    if (cell->from == TM_FROM_VALUE && tm_type_of(cell->value) == TM_STRING)
        return false;
    return fabs(number_of(cell)) == 0;
}

static int64_t whole_of(const struct tm_cell *cell)
{
    return cell->from == TM_FROM_VALUE ? tm_int(cell->value)
           : cell->from == TM_FROM_INT ? cell->whole
                                       : tm_whole(cell->number);
}

struct titled {
    const char *word, *title;
};

static const struct titled sources[] = {
    { "host", "step markers on the host" },
    { "group", "group ids of the events" },
    { "tpu", "the Steps line of the TPU" },
    { "module", "executions of the module with the most device time" },
    { "session", "none marked: the whole session is one step" },
};

static const struct titled terms[] = {
    { "compute", "computing" }, /* bounds */
    { "none", "nothing" },
    { "latency", "latency" },
    { "unknown", "not known" },
    { "shared_memory", "shared memory" }, /* limits of the occupancy */
    { "block_size", "size of blocks" },
    { "grid", "small grid" },
    { "full", "single kernels" }, /* as what the work of a device is seen */
    { "graph", "whole graphs" },
    { "all", "all alike" }, /* devices by which an operation is run */
    { "uneven", "all unevenly" },
    { "executable", "compiled program" }, /* what holds device memory */
    { "buffer", "data buffer" },
    { "absent", "missing" }, /* how a job stands */
    { "not_judged", "too few before" },
    { "same", "as before" }, /* what became of a row, or a figure, in a comparison */
    { "unclear", "not tested" },
    { "added", "new" },
    { "removed", "gone" },
    { "other", "neither" }, /* passes: forward, backward */
    { "max", "at most" },   /* rules of gates */
    { "min", "at least" },
    { "equals", "is" },
    { "max_increase", "grows at most by" },
    { "max_decrease", "falls at most by" },
    { "max_increase_pct", "grows at most by (%)" },
    { "max_decrease_pct", "falls at most by (%)" },
};

static const char *title_of(const struct titled *list, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].word, word) == 0)
            return list[i].title;
    return word;
}

#define TITLE_OF(list, word) title_of((list), sizeof(list) / sizeof((list)[0]), (word))

/* A text in the words of its kind. */
static const char *worded(enum tm_cell_kind kind, const char *text, const struct tm_value *summary)
{
    switch (kind) {
    case TM_CELL_DEVICE:
        return tm_shown_device(summary, text);
    case TM_CELL_HOST:
        return tm_shown_host(summary, text);
    case TM_CELL_CAUSE:
        return tm_cause_title(text);
    case TM_CELL_DIRECTION:
        return tm_direction_title(text);
    case TM_CELL_SOURCE:
        return TITLE_OF(sources, text);
    case TM_CELL_TERM:
        return TITLE_OF(terms, text);
    default:
        return text;
    }
}

/* A value of any type where a text is expected: a number that is a name has no separators. */
static const char *shown_text(const struct tm_cell *cell, const struct tm_value *summary, char *out)
{
    const enum tm_type type = cell->from == TM_FROM_VALUE ? tm_type_of(cell->value)
                              : cell->from == TM_FROM_INT ? TM_INT
                                                          : TM_DOUBLE;

    if (type == TM_STRING)
        return worded(cell->kind, tm_text(cell->value), summary);
    if (type == TM_BOOL)
        return tm_is(cell->value) ? "yes" : "no";
    if (type != TM_INT)
        return tm_format_number(out, number_of(cell));
    (void)snprintf(out, TM_FORMAT_BYTES, "%" PRId64, whole_of(cell));
    return out;
}

static const char *shown(const struct tm_cell *cell, const struct tm_value *summary, char *out)
{
    switch (cell->kind) {
    case TM_CELL_TIME:
        return tm_format_time(out, whole_of(cell));
    case TM_CELL_MOMENT:
        return tm_format_moment(out, whole_of(cell));
    case TM_CELL_DATE:
        return tm_format_date(out, whole_of(cell));
    case TM_CELL_COUNT:
        return tm_format_count(out, whole_of(cell));
    case TM_CELL_BYTES:
        return tm_format_bytes(out, number_of(cell));
    case TM_CELL_RATE:
        return tm_format_rate(out, number_of(cell));
    case TM_CELL_FLOP_RATE:
        return tm_format_flop_rate(out, number_of(cell));
    case TM_CELL_PCT:
        return tm_format_pct(out, number_of(cell));
    case TM_CELL_NUMBER:
        return tm_format_number(out, number_of(cell));
    default:
        return shown_text(cell, summary, out);
    }
}

/* "+1.23 ms", "-7.1 %": small changes in percent have two decimals, and "< 0.01 %" no sign. */
static const char *shown_change(const struct tm_cell *cell, const struct tm_value *summary, char *out)
{
    const double change = number_of(cell), size = fabs(change);
    const struct tm_cell plain = tm_cell_of_double(cell->kind, size);
    char text[TM_FORMAT_BYTES] = "";

    if (size == 0)
        return shown(&plain, summary, out);
    if (cell->kind == TM_CELL_PCT && size < 0.005) {
        (void)snprintf(out, TM_FORMAT_BYTES, "< 0.01 %%");
        return out;
    }
    if (cell->kind == TM_CELL_PCT)
        (void)snprintf(text, sizeof(text), "%.*f %%", size < 9.995 ? 2 : size < 999.5 ? 1 : 0, size);
    else
        (void)snprintf(text, sizeof(text), "%s", shown(&plain, summary, out));
    (void)snprintf(out, TM_FORMAT_BYTES, "%c%.46s", change < 0 ? '-' : '+', text);
    return out;
}

const char *tm_cell_shown(const struct tm_cell *cell, const struct tm_value *summary, char *out)
{
    if (tm_cell_is_empty(cell))
        return "";
    if (cell->from == TM_FROM_TEXT)
        return worded(cell->kind, cell->text, summary);
    return cell->is_change && tm_kind_is_number(cell->kind) ? shown_change(cell, summary, out)
                                                            : shown(cell, summary, out);
}

const char *tm_cell_exact(const struct tm_cell *cell, char *out)
{
    const bool is_whole =
        cell->from == TM_FROM_INT || (cell->from == TM_FROM_VALUE && tm_type_of(cell->value) == TM_INT);
    const bool is_double =
        cell->from == TM_FROM_DOUBLE || (cell->from == TM_FROM_VALUE && tm_type_of(cell->value) == TM_DOUBLE);

    out[0] = 0;
    if (is_whole)
        (void)snprintf(out, TM_FORMAT_BYTES, "%" PRId64, whole_of(cell));
    else if (is_double)
        out[tm_double_text(out, number_of(cell))] = 0;
    return out;
}

enum tm_tone tm_tone_of(const char *word)
{
    static const struct {
        const char *word;
        enum tm_tone tone;
    } tones[] = {
        { "good", TM_TONE_GOOD },         { "warning", TM_TONE_WARNING }, { "bad", TM_TONE_BAD },
        { "critical", TM_TONE_CRITICAL }, { "info", TM_TONE_INFO },
    };

    for (size_t i = 0; i < sizeof(tones) / sizeof(tones[0]); i++)
        if (strcmp(tones[i].word, word) == 0)
            return tones[i].tone;
    return TM_TONE_UNKNOWN;
}
