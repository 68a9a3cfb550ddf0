/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of a section: their cells, their layout for all media, and the sheets that some media draw. */
#include "reports/content/content.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/doc/doc.h"
#include "pipeline/error.h"
#include "pipeline/store/bounded_sum.h"
#include "reports/chart/chart.h"
#include "reports/format/format.h"

struct tm_cell tm_cell_of_share(const struct tm_value *part, const struct tm_value *whole)
{
    if (!tm_has(part) || tm_double(whole) <= 0)
        return tm_cell_of_text(TM_DOC_PERCENT, "");
    return tm_cell_of_double(TM_DOC_PERCENT, 100 * tm_double(part) / tm_double(whole));
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

static const char *const sources[][2] = {
    { "host", "step markers on the host" },
    { "group", "event group ids" },
    { "tpu", "the Steps line of the TPU" },
    { "module", "executions of the module with the most device time" },
    { "session", "none marked: the whole session is one step" },
};

static const char *const terms[][2] = {
    { "compute", "computing" }, /* bounds */
    { "none", "nothing" },
    { "latency", "latency" },
    { "unknown", "unknown" },
    { "shared_memory", "shared memory" }, /* limits of the occupancy */
    { "block_size", "block size" },
    { "grid", "grid size" },
    { "full", "single kernels" }, /* the granularity of recorded device work */
    { "graph", "whole graphs" },
    { "all", "all evenly" }, /* devices by which an operation is run */
    { "uneven", "all unevenly" },
    { "executable", "compiled program" }, /* what holds device memory */
    { "buffer", "data buffer" },
    { "absent", "missing" }, /* the state of a job */
    { "not_judged", "too few runs" },
    { "same", "~ unchanged" }, /* the change of a row or a figure in a comparison */
    { "unclear", "not tested" },
    { "added", "new" },
    { "removed", "gone" },
    { "other", "neither" }, /* passes: forward, backward */
    { "max", "at most" },   /* rules of gates */
    { "min", "at least" },
    { "equals", "is" },
    { "max_increase", "max increase" },
    { "max_decrease", "max decrease" },
    { "max_increase_pct", "max increase (%)" },
    { "max_decrease_pct", "max decrease (%)" },
};

/* A text in the words of its kind. */
static const char *worded(enum tm_doc_kind kind, const char *text, const struct tm_value *summary)
{
    switch (kind) {
    case TM_DOC_DEVICE:
        return tm_shown_device(summary, text);
    case TM_DOC_HOST:
        return tm_shown_host(summary, text);
    case TM_DOC_CAUSE:
        return tm_cause_title(text);
    case TM_DOC_DIRECTION:
        return tm_direction_title(text);
    case TM_DOC_SOURCE:
        return tm_format_word(TM_PAIRS(sources), text, text);
    case TM_DOC_TERM:
        return tm_format_word(TM_PAIRS(terms), text, text);
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
    case TM_DOC_TIME:
        return tm_format_time(out, whole_of(cell));
    case TM_DOC_MOMENT:
        return tm_format_moment(out, whole_of(cell));
    case TM_DOC_DATE:
        return tm_format_date(out, whole_of(cell));
    case TM_DOC_COUNT:
        return tm_format_count(out, whole_of(cell));
    case TM_DOC_BYTES:
        return tm_format_bytes(out, number_of(cell));
    case TM_DOC_RATE:
        return tm_format_rate(out, number_of(cell));
    case TM_DOC_FLOP_RATE:
        return tm_format_flop_rate(out, number_of(cell));
    case TM_DOC_PERCENT:
        return tm_format_pct(out, number_of(cell));
    case TM_DOC_NUMBER:
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
    if (cell->kind == TM_DOC_PERCENT && size < 0.005) {
        (void)snprintf(out, TM_FORMAT_BYTES, "< 0.01%%");
        return out;
    }
    if (cell->kind == TM_DOC_PERCENT)
        (void)snprintf(text, sizeof(text), "%.*f%%", size < 9.995 ? 2 : size < 999.5 ? 1 : 0, size);
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
    return cell->is_change && tm_doc_is_number(cell->kind) ? shown_change(cell, summary, out)
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
        out[tm_int_text(out, whole_of(cell))] = 0;
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

enum { SAME_LEAST = 2, DEPTH_MOST = 12 };

/* --- cells --- */

size_t tm_table_rows(const struct tm_table *table)
{
    return table->cells ? table->cell_rows : table->pick ? table->picks : tm_length(table->rows);
}

static size_t place_of(const struct tm_table *table, size_t row)
{
    return table->pick ? table->pick[row] : row;
}

static const struct tm_value *element(const struct tm_value *rows, size_t place)
{
    return tm_type_of(rows) == TM_OBJECT ? tm_value_at(rows, place) : tm_at(rows, place);
}

static const struct tm_value *row_of(const struct tm_table *table, size_t row)
{
    return element(table->rows, place_of(table, row));
}

/* A value of the summary in the shape of its column. */
static struct tm_cell cell_of(const struct tm_column *column, const struct tm_value *value)
{
    struct tm_cell cell = tm_cell_of_value(tm_column_kind(column), value);

    cell.is_change = column->shape & TM_CHANGE;
    return cell;
}

struct tm_cell tm_table_cell(const struct tm_table *table, size_t row, size_t column)
{
    const struct tm_column *c = &table->column[column];

    if (table->cells)
        return table->cells[row * table->columns + column];
    if (!*c->key)
        return tm_cell_of_text(tm_column_kind(c), tm_key_at(table->rows, place_of(table, row)));
    return cell_of(c, tm_path(row_of(table, row), c->key));
}

int tm_table_depth(const struct tm_table *table, size_t row)
{
    const int64_t depth = table->depths  ? table->depths[row]
                          : table->depth ? tm_int(tm_path(row_of(table, row), table->depth))
                                         : 0;

    return depth < 0 ? 0 : depth < DEPTH_MOST ? (int)depth : DEPTH_MOST;
}

/* --- which columns --- */

/* Programs, devices, sentences and terms that are the same in all rows are not informative. */
static const char *same_in_all(const struct tm_table *table, size_t column, const struct tm_value *summary)
{
    const struct tm_column *c = &table->column[column];
    const enum tm_doc_kind kind = tm_column_kind(c);
    const bool may_fold =
        kind == TM_DOC_DEVICE || kind == TM_DOC_PROSE || kind == TM_DOC_TERM || strcmp(c->key, "module") == 0;
    struct tm_cell first, cell;
    char text[TM_FORMAT_BYTES], other[TM_FORMAT_BYTES];
    const char *same;

    if (column == 0 || table->cells || !may_fold || tm_table_rows(table) < SAME_LEAST)
        return NULL;
    first = tm_table_cell(table, 0, column);
    if (first.from != TM_FROM_VALUE || tm_type_of(first.value) != TM_STRING || tm_cell_is_empty(&first))
        return NULL;
    same = tm_cell_shown(&first, summary, text); /* of a text of the summary, which lives as long as that */
    for (size_t r = 1; r < tm_table_rows(table); r++) {
        cell = tm_table_cell(table, r, column);
        if (strcmp(tm_cell_shown(&cell, summary, other), same) != 0)
            return NULL;
    }
    return same;
}

/* Why a cell is empty, as recorded in the summary; "" = it is not recorded. */
static const char *why_empty(const struct tm_cell *cell)
{
    return cell->from == TM_FROM_VALUE && !tm_has(cell->value) ? tm_why(cell->value) : "";
}

static void add_note(struct tm_layout *layout, const char *title, const char *text, bool is_same, bool is_shown)
{
    layout->note[layout->notes].title = title;
    layout->note[layout->notes].text = text;
    layout->note[layout->notes].is_same = is_same;
    layout->note[layout->notes++].is_shown = is_shown;
}

/* The reasons for the empty cells of a column, with the number of cells for each. */
struct reasons {
    const char *text[TM_REASONS_MOST];
    size_t cells[TM_REASONS_MOST];
    size_t count;
};

static void keep_reason(struct reasons *reasons, const char *why)
{
    size_t i = 0;

    while (i < reasons->count && strcmp(reasons->text[i], why) != 0)
        i++;
    if (!*why || i == TM_REASONS_MOST)
        return;
    if (i == reasons->count)
        reasons->text[reasons->count++] = why;
    reasons->cells[i]++;
}

/* For a column without any value, one reason is reported, that of most cells. */
static void keep_commonest(struct reasons *reasons)
{
    for (size_t i = 1; i < reasons->count; i++)
        if (reasons->cells[i] > reasons->cells[0]) {
            reasons->text[0] = reasons->text[i];
            reasons->cells[0] = reasons->cells[i];
        }
    reasons->count = reasons->count > 0;
}

/* Whether a column has anything to show in the listed rows; the reasons for what is empty become notes. */
static bool has_values(struct tm_layout *layout, size_t column)
{
    struct reasons reasons = { .count = 0 };
    bool any = false;

    for (size_t r = 0; r < layout->rows; r++) {
        const struct tm_cell cell = tm_table_cell(layout->table, r, column);

        if (!tm_cell_is_empty(&cell))
            any = true;
        else
            keep_reason(&reasons, why_empty(&cell));
    }
    if (!any)
        keep_commonest(&reasons);
    for (size_t i = 0; i < reasons.count; i++)
        add_note(layout, layout->table->column[column].title, reasons.text[i], false, any);
    return any;
}

/* A column that does not apply to this run. */
static bool is_all_zero(const struct tm_layout *layout, size_t column)
{
    bool any = false;

    if (!(layout->table->column[column].shape & TM_RARE))
        return false;
    for (size_t r = 0; r < layout->rows; r++) {
        const struct tm_cell cell = tm_table_cell(layout->table, r, column);

        if (!tm_cell_is_zero(&cell) && !tm_cell_is_empty(&cell))
            return false;
        any |= tm_cell_is_zero(&cell);
    }
    return any;
}

/* A column without any given value. */
static bool is_not_given(const struct tm_layout *layout, size_t column)
{
    if (!(layout->table->column[column].shape & TM_GIVEN))
        return false;
    for (size_t r = 0; r < layout->rows; r++) {
        const struct tm_cell cell = tm_table_cell(layout->table, r, column);

        if (!tm_cell_is_empty(&cell))
            return false;
    }
    return true;
}

const char *tm_table_link(const struct tm_table *table, size_t row, size_t column)
{
    bool is_first = true;

    for (size_t c = 0; c < table->columns; c++) {
        struct tm_cell cell;

        if (tm_column_kind(&table->column[c]) != TM_DOC_LINK)
            continue;
        cell = tm_table_cell(table, row, c);
        if (column == (is_first ? 0 : c - 1) && cell.from == TM_FROM_VALUE && tm_link_is_safe(tm_text(cell.value)))
            return tm_text(cell.value);
        is_first = false;
    }
    return NULL;
}

static void choose_columns(struct tm_layout *layout, const struct tm_room *room)
{
    const struct tm_table *table = layout->table;
    const bool has_hosts = tm_length(tm_path(layout->summary, "input.hosts")) > 1;

    for (size_t c = 0; c < table->columns && c < TM_TABLE_COLUMNS_MOST; c++) {
        const struct tm_column *column = &table->column[c];
        const char *same;

        if ((room->is_paper && (column->shape & TM_WIDE)) ||
            ((room->is_paper || room->has_links) && tm_column_kind(column) == TM_DOC_LINK) ||
            (!room->has_curves && tm_column_kind(column) == TM_DOC_CURVE) ||
            (tm_column_kind(column) == TM_DOC_HOST && !has_hosts) || is_all_zero(layout, c) || is_not_given(layout, c))
            continue;
        same = same_in_all(table, c, layout->summary);
        if (same)
            add_note(layout, column->title, same, true, false);
        else if (has_values(layout, c))
            layout->column[layout->columns++] = c;
    }
    if (layout->columns == 0) /* rows without a value: their number is informative */
        layout->column[layout->columns++] = 0;
}

/* Rows of depth 0 from that one on. */
static int64_t count_trees(const struct tm_table *table, size_t from)
{
    int64_t trees = 0;

    for (size_t row = from; row < table->cell_rows; row++)
        trees += table->depths[row] == 0;
    return trees;
}

int64_t tm_table_left_out(const struct tm_table *table, size_t listed)
{
    if (table->depths)
        return tm_sum_times(count_trees(table, listed), tm_int(tm_get(table->rest, "rows")));

    const bool is_part = table->pick && !table->cells && !table->is_only_picked; /* of the rows of the summary */
    const size_t all = is_part ? tm_length(table->rows) : tm_table_rows(table);

    return tm_sum_times((int64_t)(all - listed), tm_int(tm_get(table->rest, "rows")));
}

void tm_table_lay_out(struct tm_layout *layout, const struct tm_table *table, const struct tm_value *summary,
                      const struct tm_room *room)
{
    const size_t all = tm_table_rows(table), on_paper = table->paper_rows ? table->paper_rows : TM_PAPER_ROWS;
    size_t most = room->is_paper && on_paper < room->rows ? on_paper : room->rows;

    if (table->screen_rows && table->screen_rows < most && (table->obeys_rows || !room->is_data))
        most = table->screen_rows;
    *layout = (struct tm_layout){ .table = table, .summary = summary, .rows = all < most ? all : most };
    layout->rows_left_out = tm_table_left_out(table, layout->rows);
    choose_columns(layout, room);
}

/* --- sums --- */

static bool is_among(const size_t *places, size_t count, size_t place)
{
    for (size_t i = 0; i < count; i++)
        if (places[i] == place)
            return true;
    return false;
}

/* Does the sum include this row of the summary? */
static bool is_left_out(const struct tm_layout *layout, size_t place)
{
    const struct tm_table *table = layout->table;

    if (!table->pick)
        return place >= layout->rows;
    if (table->is_only_picked && !is_among(table->pick, table->picks, place))
        return false;
    return !is_among(table->pick, layout->rows, place);
}

bool tm_layout_has_sums(const struct tm_layout *layout)
{
    bool any = false;

    for (size_t i = 1; i < layout->columns; i++)
        any |= (layout->table->column[layout->column[i]].shape & TM_SUMS) != 0;
    return any && layout->rows_left_out > 0;
}

struct tm_cell tm_layout_rest(const struct tm_layout *layout, size_t column)
{
    const struct tm_table *table = layout->table;
    const struct tm_column *c = &table->column[column];
    const struct tm_value *unlisted = *c->key ? tm_path(table->rest, c->key) : NULL;
    int64_t sum = tm_int(unlisted);
    struct tm_cell cell;

    /* the summary has the number of unlisted rows, but not their sum: the sum of listed rows would be too low */
    if (!(c->shape & TM_SUMS) || (table->cells && !table->depths) ||
        (tm_int(tm_get(table->rest, "rows")) > 0 && !tm_has(unlisted)))
        return tm_cell_of_text(tm_column_kind(c), "");
    for (size_t row = layout->rows; table->depths && row < table->cell_rows; row++)
        if (table->depths[row] == 0)
            sum = tm_sum_times(sum, whole_of(&table->cells[row * table->columns + column]));
    for (size_t i = 0; !table->depths && i < tm_length(table->rows); i++)
        if (is_left_out(layout, i))
            sum = tm_sum_times(sum, tm_int(tm_path(element(table->rows, i), c->key)));
    cell = tm_cell_of_int(tm_column_kind(c), sum);
    cell.is_change = c->shape & TM_CHANGE;
    return cell;
}

struct tm_cell tm_layout_total(const struct tm_layout *layout, size_t column)
{
    const struct tm_column *c = &layout->table->column[column];
    const struct tm_value *v = *c->key ? tm_path(layout->table->total, c->key) : NULL;

    if (!tm_doc_is_number(tm_column_kind(c)) || !tm_has(v))
        return tm_cell_of_text(tm_column_kind(c), "");
    return cell_of(c, v);
}

const char *tm_layout_rest_title(const struct tm_layout *layout, char *out)
{
    char count[TM_FORMAT_BYTES];

    (void)snprintf(out, TM_FORMAT_BYTES, "%.24s remaining row%s", tm_format_count(count, layout->rows_left_out),
                   tm_format_plural(layout->rows_left_out));
    return out;
}

/* --- sheets --- */

/* A table of texts of fixed size, filled here and drawn by the text, PDF and Markdown reports.
 * Cells either borrow a text of the summary or use their own buffer, so that no cell allocates. */

enum { LEAST_SHARE_PCT = 6 /* of the width, that every elastic column keeps */ };

void tm_sheet_start(struct tm_sheet *sheet, bool headed)
{
    sheet->columns = 0;
    sheet->rows = 0;
    sheet->next = 0;
    sheet->headed = headed;
    sheet->prose_used = 0;
}

void tm_sheet_column(struct tm_sheet *sheet, const char *title, enum tm_column_kind kind)
{
    assert(sheet->columns < TM_SHEET_COLUMNS && sheet->rows == 0);
    sheet->title[sheet->columns] = title;
    sheet->kind[sheet->columns] = kind;
    sheet->columns++;
}

bool tm_sheet_row(struct tm_sheet *sheet)
{
    if (sheet->rows == TM_SHEET_ROWS)
        return false;
    sheet->summed[sheet->rows] = false;
    sheet->indent[sheet->rows] = 0;
    for (int i = 0; i < sheet->columns; i++) {
        sheet->tone[sheet->rows][i] = TM_TONE_PLAIN;
        sheet->text[sheet->rows][i] = "";
    }
    sheet->rows++;
    sheet->next = 0;
    return true;
}

void tm_sheet_text(struct tm_sheet *sheet, const char *text)
{
    assert(sheet->rows > 0 && sheet->next < sheet->columns);
    sheet->text[sheet->rows - 1][sheet->next++] = text;
}

char *tm_sheet_room(struct tm_sheet *sheet)
{
    char *room;

    assert(sheet->rows > 0 && sheet->next < sheet->columns);
    room = sheet->own[sheet->rows - 1][sheet->next];
    room[0] = 0;
    tm_sheet_text(sheet, room);
    return room;
}

void tm_sheet_prose(struct tm_sheet *sheet, const char *format, ...)
{
    char *at = sheet->prose + sheet->prose_used;
    const size_t room = sizeof(sheet->prose) - sheet->prose_used;
    va_list list;
    int n;

    if (room < 2) {
        tm_sheet_text(sheet, "...");
        return;
    }
    va_start(list, format);
    n = vsnprintf(at, room, format, list);
    va_end(list);
    if (n < 0)
        at[0] = 0;
    else
        sheet->prose_used += (size_t)n < room ? (size_t)n + 1 : room;
    tm_sheet_text(sheet, at);
}

/* Set the tone of the cell added last. */
static void sheet_tone(struct tm_sheet *sheet, enum tm_tone tone)
{
    assert(sheet->rows > 0 && sheet->next > 0);
    sheet->tone[sheet->rows - 1][sheet->next - 1] = (uint8_t)tone;
}

void tm_sheet_drop(struct tm_sheet *sheet, int column)
{
    sheet->columns--;
    for (int c = column; c < sheet->columns; c++) {
        sheet->title[c] = sheet->title[c + 1];
        sheet->kind[c] = sheet->kind[c + 1];
        for (int r = 0; r < sheet->rows; r++) {
            sheet->text[r][c] = sheet->text[r][c + 1];
            sheet->tone[r][c] = sheet->tone[r][c + 1];
        }
    }
}

static bool is_elastic(const struct tm_sheet *sheet, int column)
{
    return sheet->kind[column] == TM_COLUMN_NAME || sheet->kind[column] == TM_COLUMN_PROSE;
}

/* Give the columns of one kind equal parts of `left`; unused space is given to the others, so the widest ones
 * shrink first. */
static void share_out(const struct tm_sheet *sheet, bool elastic, const double *natural, double left, double *actual)
{
    bool settled[TM_SHEET_COLUMNS] = { false };
    bool changed = true;

    while (changed) {
        double rest = left;
        int open = 0;

        changed = false;
        for (int i = 0; i < sheet->columns; i++) {
            if (is_elastic(sheet, i) == elastic && settled[i])
                rest -= actual[i];
            else if (is_elastic(sheet, i) == elastic)
                open++;
        }
        for (int i = 0; i < sheet->columns; i++) {
            if (is_elastic(sheet, i) != elastic || settled[i])
                continue;
            actual[i] = rest / open;
            if (natural[i] <= actual[i]) {
                actual[i] = natural[i];
                settled[i] = changed = true;
            }
        }
    }
}

void tm_sheet_widths(const struct tm_sheet *sheet, const double *natural, double width, double gap, double *actual)
{
    const double room = width - gap * (sheet->columns - 1);
    double least = 0, fixed = 0;

    for (int i = 0; i < sheet->columns; i++) {
        const double share = room * LEAST_SHARE_PCT / 100;

        if (is_elastic(sheet, i))
            least += natural[i] < share ? natural[i] : share;
    }
    share_out(sheet, false, natural, room - least, actual);
    for (int i = 0; i < sheet->columns; i++)
        fixed += is_elastic(sheet, i) ? 0 : actual[i];
    share_out(sheet, true, natural, room - fixed, actual);
}

static enum tm_column_kind kind_of(enum tm_doc_kind kind)
{
    if (tm_doc_is_number(kind))
        return TM_COLUMN_NUMBER;
    return kind == TM_DOC_NAME ? TM_COLUMN_NAME : kind == TM_DOC_PROSE ? TM_COLUMN_PROSE : TM_COLUMN_WORD;
}

/* Figures have the room of their cell; texts are borrowed. */
static void add_cell(struct tm_sheet *sheet, const struct tm_cell *cell, const struct tm_value *summary)
{
    char figure[TM_FORMAT_BYTES];
    const char *text = tm_cell_shown(cell, summary, figure);

    if (text == figure)
        (void)snprintf(tm_sheet_room(sheet), TM_SHEET_CELL_BYTES, "%s", figure);
    else
        tm_sheet_text(sheet, text);
}

static void add_columns(struct tm_sheet *sheet, const struct tm_layout *layout)
{
    const struct tm_table *table = layout->table;

    tm_sheet_start(sheet, true);
    for (size_t i = 0; i < layout->columns; i++) {
        const struct tm_column *column = &table->column[layout->column[i]];

        tm_sheet_column(sheet, column->title, kind_of(tm_column_kind(column)));
    }
}

static void add_rows(struct tm_sheet *sheet, const struct tm_layout *layout)
{
    const struct tm_table *table = layout->table;

    for (size_t r = 0; r < layout->rows && tm_sheet_row(sheet); r++) {
        sheet->indent[sheet->rows - 1] = (uint8_t)tm_table_depth(table, r);
        for (size_t i = 0; i < layout->columns; i++) {
            const struct tm_cell cell = tm_table_cell(table, r, layout->column[i]);

            add_cell(sheet, &cell, layout->summary);
        }
    }
}

typedef struct tm_cell summing_cell(const struct tm_layout *layout, size_t column);

static void add_sum(struct tm_sheet *sheet, const struct tm_layout *layout, const char *title, summing_cell *cell_at)
{
    if (!tm_sheet_row(sheet))
        return;
    (void)snprintf(tm_sheet_room(sheet), TM_SHEET_CELL_BYTES, "%s", title);
    sheet_tone(sheet, cell_at == tm_layout_rest ? TM_TONE_QUIET : TM_TONE_PLAIN);
    for (size_t i = 1; i < layout->columns; i++) {
        const struct tm_cell cell = cell_at(layout, layout->column[i]);

        add_cell(sheet, &cell, layout->summary);
    }
}

void tm_sheet_fill(struct tm_sheet *sheet, struct tm_layout *layout, const struct tm_table *table,
                   const struct tm_value *summary, const struct tm_room *room)
{
    const struct tm_room fits = { .is_paper = room->is_paper,
                                  .rows = room->rows < TM_SHEET_ROOM ? room->rows : TM_SHEET_ROOM };
    char title[TM_FORMAT_BYTES];

    tm_table_lay_out(layout, table, summary, &fits);
    layout->columns = layout->columns < TM_SHEET_COLUMNS ? layout->columns : TM_SHEET_COLUMNS;
    add_columns(sheet, layout);
    add_rows(sheet, layout);
    if (tm_layout_has_sums(layout))
        add_sum(sheet, layout, tm_layout_rest_title(layout, title), tm_layout_rest);
    if (!table->total || !table->total_title)
        return;
    add_sum(sheet, layout, table->total_title, tm_layout_total);
    sheet->summed[sheet->rows - 1] = true;
}

void tm_sheet_fill_facts(struct tm_sheet *sheet, const struct tm_table *facts, const struct tm_value *summary)
{
    tm_sheet_start(sheet, false);
    tm_sheet_column(sheet, "", TM_COLUMN_WORD);
    tm_sheet_column(sheet, "", TM_COLUMN_PROSE);
    for (size_t c = 0; c < facts->columns && tm_sheet_row(sheet); c++) {
        const struct tm_cell cell = tm_table_cell(facts, 0, c);
        const char *why = cell.from == TM_FROM_VALUE ? tm_why(cell.value) : "";

        tm_sheet_text(sheet, facts->column[c].title);
        if (!tm_cell_is_empty(&cell)) {
            add_cell(sheet, &cell, summary);
            continue;
        }
        tm_sheet_prose(sheet, "not recorded%s%.500s%s", *why ? " (" : "", why, *why ? ")" : "");
        sheet_tone(sheet, TM_TONE_QUIET);
    }
}

/* --- notes --- */

/* Two columns have the same note. */
static bool are_alike(const struct tm_layout *layout, size_t a, size_t b)
{
    return layout->note[a].is_same == layout->note[b].is_same && layout->note[a].is_shown == layout->note[b].is_shown &&
           strcmp(layout->note[a].text, layout->note[b].text) == 0;
}

static bool is_first_of_its_like(const struct tm_layout *layout, size_t note)
{
    for (size_t i = 0; i < note; i++)
        if (are_alike(layout, i, note))
            return false;
    return true;
}

/* "Mean rate, Best rate: not recorded (the profile does not have it)." */
static void write_note(const struct tm_layout *layout, size_t note, char *out)
{
    const char *where = layout->note[note].is_shown ? ", if empty" : "";
    size_t length = 0;

    for (size_t i = note; i < layout->notes && length < TM_NOTE_BYTES; i++)
        if (are_alike(layout, i, note))
            length += (size_t)snprintf(out + length, TM_NOTE_BYTES - length, "%s%s", i == note ? "" : ", ",
                                       layout->note[i].title);
    if (length >= TM_NOTE_BYTES)
        return;
    if (layout->note[note].is_same)
        (void)snprintf(out + length, TM_NOTE_BYTES - length, ", the same in all rows: %s", layout->note[note].text);
    else if (strcmp(layout->note[note].text, "not recorded") == 0)
        (void)snprintf(out + length, TM_NOTE_BYTES - length, "%s: not recorded.", where);
    else
        (void)snprintf(out + length, TM_NOTE_BYTES - length, "%s: not recorded (%s).", where, layout->note[note].text);
}

bool tm_layout_note(const struct tm_layout *layout, size_t at, char *out)
{
    char further[TM_FORMAT_BYTES];
    size_t sentences = 0;

    for (size_t i = 0; i < layout->notes; i++) {
        if (!is_first_of_its_like(layout, i) || sentences++ != at)
            continue;
        write_note(layout, i, out);
        return true;
    }
    if (at > sentences || layout->rows_left_out <= 0 || tm_layout_has_sums(layout))
        return false;
    (void)snprintf(out, TM_NOTE_BYTES, "%s not listed here.", tm_layout_rest_title(layout, further));
    return true;
}
