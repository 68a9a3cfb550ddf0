/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/content/emit.h"

#include <assert.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/error.h"
#include "reports/content/content.h"

enum { PARAGRAPH_BYTES = 2048, PATH_BYTES = 256 };

const struct tm_value *tm_of(const struct tm_content *content, const char *path)
{
    return tm_path(content->summary, path);
}

void tm_emit_subheading(const struct tm_content *content, const char *text)
{
    if (content->medium->subheading)
        content->medium->subheading(content->to, text);
}

void tm_emit(const struct tm_content *content, enum tm_tone tone, const char *format, ...)
{
    char text[PARAGRAPH_BYTES];
    va_list list;

    if (!content->medium->paragraph)
        return;
    va_start(list, format);
    (void)vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    content->medium->paragraph(content->to, tone, text);
}

void tm_emit_charts(const struct tm_content *content, enum tm_chart_kind kind)
{
    if (content->medium->charts && tm_charts_count(kind, content->summary) > 0)
        content->medium->charts(content->to, kind);
}

/* How the values of a field are shown. */
static enum tm_cell_kind kind_of(const struct tm_doc_field *field)
{
    static const uint8_t kinds[TM_DOC_KIND_COUNT] = {
        [TM_DOC_BOOL] = TM_CELL_WORD,
        [TM_DOC_WORD] = TM_CELL_WORD,
        [TM_DOC_TERM] = TM_CELL_TERM,
        [TM_DOC_CAUSE] = TM_CELL_CAUSE,
        [TM_DOC_DIRECTION] = TM_CELL_DIRECTION,
        [TM_DOC_PROSE] = TM_CELL_PROSE,
        [TM_DOC_NAME] = TM_CELL_NAME,
        [TM_DOC_DEVICE] = TM_CELL_DEVICE,
        [TM_DOC_HOST] = TM_CELL_HOST,
        [TM_DOC_PATH] = TM_CELL_NAME,
        [TM_DOC_TIME] = TM_CELL_TIME,
        [TM_DOC_MOMENT] = TM_CELL_MOMENT,
        [TM_DOC_DATE] = TM_CELL_DATE,
        [TM_DOC_NS] = TM_CELL_NUMBER,
        [TM_DOC_US] = TM_CELL_NUMBER,
        [TM_DOC_COUNT] = TM_CELL_COUNT,
        [TM_DOC_INTEGER] = TM_CELL_WORD,
        [TM_DOC_BYTES] = TM_CELL_BYTES,
        [TM_DOC_RATE] = TM_CELL_RATE,
        [TM_DOC_FLOPS] = TM_CELL_NUMBER,
        [TM_DOC_FLOP_RATE] = TM_CELL_FLOP_RATE,
        [TM_DOC_SHARE] = TM_CELL_PCT,
        [TM_DOC_PERCENT] = TM_CELL_PCT,
        [TM_DOC_VALUE] = TM_CELL_WORD,
        [TM_DOC_CHANGE] = TM_CELL_TIME,
        [TM_DOC_CHANGE_PCT] = TM_CELL_PCT,
        [TM_DOC_P] = TM_CELL_NUMBER,
        [TM_DOC_NUMBER] = TM_CELL_NUMBER,
    };

    return (enum tm_cell_kind)kinds[tm_doc_kind_of(field)];
}

/* Columns with the titles and kinds of their fields, where they have none of their own.
 * in: at  path of what the columns are of */
static void complete(const struct tm_content *content, const char *at, const struct tm_column *columns, size_t count,
                     struct tm_column *to)
{
    const struct tm_doc_schema *const schema = tm_document_of(content->summary)->fields;

    for (size_t i = 0; i < count; i++) {
        const struct tm_doc_field *field = NULL;
        char path[PATH_BYTES];

        to[i] = columns[i];
        if (to[i].title && tm_column_kind(&to[i]) != TM_CELL_OF_FIELD)
            continue;
        (void)snprintf(path, sizeof(path), "%s%s%s", at, *at ? "." : "", to[i].key);
        field = schema ? tm_doc_field_at(schema->fields, path) : NULL;
        assert(field);
        if (tm_column_kind(&to[i]) == TM_CELL_OF_FIELD)
            to[i].shape |= kind_of(field);
        if (!to[i].title)
            to[i].title = field->title;
        assert(to[i].title && tm_column_kind(&to[i]) != TM_CELL_OF_FIELD);
    }
}

void tm_emit_table(const struct tm_content *content, const struct tm_table *table)
{
    const bool is_told = table->repeats_chart && content->medium->has_charts;
    struct tm_column columns[TM_TABLE_COLUMNS_MOST];
    struct tm_table said = *table;
    char row[PATH_BYTES];

    if (table->list) {
        (void)snprintf(row, sizeof(row), "%s[*]", table->list);
        complete(content, row, table->column, table->columns, columns);
        said.column = columns;
        said.rows = table->rows ? table->rows : tm_path(content->summary, table->list);
    }
    if (tm_table_rows(&said) == 1 && tm_int(tm_get(table->rest, "rows")) == 0)
        said.total = NULL; /* it would say the row again */
    if (content->medium->table && !is_told && tm_table_rows(&said) > 0)
        content->medium->table(content->to, &said);
}

/* Is it told: there, with room, and not a 0 of something rare? */
static bool is_fact(const struct tm_content *content, const struct tm_column *column, const struct tm_cell *fact)
{
    const bool is_data = content->medium->room.is_data;

    if (!fact->value || is_data)
        return fact->value != NULL;
    if ((column->shape & TM_WIDE) && content->medium->room.is_paper)
        return false;
    return !(column->shape & TM_RARE) || !tm_cell_is_zero(fact);
}

void tm_emit_facts(const struct tm_content *content, const char *id, const struct tm_column *columns, size_t count,
                   const char *at)
{
    const struct tm_value *const row = *at ? tm_path(content->summary, at) : content->summary;
    struct tm_column whole[TM_TABLE_COLUMNS_MOST], column[TM_TABLE_COLUMNS_MOST];
    struct tm_cell cell[TM_TABLE_COLUMNS_MOST];
    const char *null[TM_TABLE_COLUMNS_MOST][2];
    size_t n = 0, nulls = 0;

    assert(count <= TM_TABLE_COLUMNS_MOST);
    complete(content, at, columns, count, whole);
    for (size_t i = 0; i < count; i++) {
        const struct tm_cell fact = tm_cell_of_value(tm_column_kind(&whole[i]), tm_path(row, whole[i].key));

        if (!is_fact(content, &whole[i], &fact))
            continue;
        if (!tm_has(fact.value) && !content->medium->room.is_data) {
            null[nulls][0] = whole[i].key;
            null[nulls++][1] = whole[i].title;
            continue;
        }
        column[n] = whole[i];
        cell[n++] = fact;
    }
    if (n > 0 && content->medium->facts)
        content->medium->facts(
            content->to, &(struct tm_table){ .id = id, .column = column, .columns = n, .cells = cell, .cell_rows = 1 });
    tm_emit_nulls(content, row, null, nulls);
}

bool tm_emit_missing(const struct tm_content *content, const struct tm_value *value, const char *title)
{
    const char *why = tm_why(value);

    if (tm_has(value))
        return false;
    tm_emit(content, TM_TONE_PLAIN, "%s: not recorded%s%s%s", title, *why ? " (" : "", why, *why ? ")." : ".");
    return true;
}

/* Why what lies at a path is null; NULL = it is not, or nobody told. */
static const char *why_null(const struct tm_value *object, const char *path)
{
    const struct tm_value *v = tm_path(object, path);

    return v && !tm_has(v) && *tm_why(v) ? tm_why(v) : NULL;
}

static void add_title(char titles[PARAGRAPH_BYTES / 2], const char *title)
{
    const size_t used = strlen(titles);

    (void)snprintf(titles + used, PARAGRAPH_BYTES / 2 - used, "%s%s", used ? ", " : "", title);
}

static bool has_reason(const struct tm_value *object, const char *path, const char *why)
{
    const char *other = why_null(object, path);

    return other && strcmp(other, why) == 0;
}

void tm_emit_nulls(const struct tm_content *content, const struct tm_value *object, const char *const (*parts)[2],
                   size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *why = why_null(object, parts[i][0]);
        char titles[PARAGRAPH_BYTES / 2] = "";
        bool is_told = !why;

        for (size_t k = 0; k < i && !is_told; k++)
            is_told = has_reason(object, parts[k][0], why);
        for (size_t k = i; k < count && !is_told; k++)
            if (has_reason(object, parts[k][0], why))
                add_title(titles, parts[k][1]);
        if (!is_told)
            tm_emit(content, TM_TONE_QUIET, "Not recorded: %s (%s).", titles, why);
    }
}

const char *tm_if_none(const struct tm_value *summary, const char *path, const char *why)
{
    const struct tm_value *v = tm_path(summary, path);
    const bool is_list = tm_type_of(v) == TM_ARRAY;

    return tm_has(v) && (is_list ? tm_length(v) == 0 : tm_int(v) == 0) ? why : "";
}

bool tm_has_hosts(const struct tm_content *content)
{
    return tm_length(tm_of(content, "input.hosts")) > 1;
}

/* in: at  path of the run in a row */
#define RUN_COLUMNS(at)                                                                                                \
    { "Run", at "run", TM_CELL_NAME }, { "Platform", at "platform", TM_CELL_WORD },                                    \
        { "Device", at "device_model", TM_CELL_NAME }, { "Devices", at "devices", TM_CELL_COUNT },                     \
        { "Hosts", at "hosts", TM_CELL_COUNT | TM_WIDE }, { "Steps", at "steps.chosen", TM_CELL_COUNT },               \
        { "Median step", at "steps.median_ps", TM_CELL_TIME }, { "Variation", at "steps.cv_pct", TM_CELL_PCT },        \
        { "Measured", at "measured_ps", TM_CELL_TIME | TM_GIVEN },                                                     \
        { "Damaged", at "partial", TM_CELL_WORD | TM_RARE }, { "Framework", at "framework", TM_CELL_WORD | TM_WIDE },  \
        { "Read from", at "kind", TM_CELL_WORD | TM_WIDE },                                                            \
        { "Fingerprint", at "fingerprint", TM_CELL_NAME | TM_WIDE }, { "Path", at "path", TM_CELL_NAME },

void tm_emit_runs(const struct tm_content *content, const char *id, const char *caption, const struct tm_value *runs)
{
    static const struct tm_column columns[] = { RUN_COLUMNS("") };

    tm_emit_table(content, &(struct tm_table){
                               .id = id, .caption = caption, TM_COLUMNS(columns), .rows = runs, .paper_rows = 16 });
}

void tm_emit_single_runs(const struct tm_content *content, const char *id, const char *caption,
                         const struct tm_value *sides)
{
    static const struct tm_column columns[] = { { "Label", "label", TM_CELL_NAME }, RUN_COLUMNS("runs[0].") };

    tm_emit_table(content, &(struct tm_table){
                               .id = id, .caption = caption, TM_COLUMNS(columns), .rows = sides, .paper_rows = 64 });
}

enum { LABEL_CHARS = 24 };

size_t tm_side_count(const struct tm_value *comparison)
{
    return tm_length(tm_get(comparison, "sides"));
}

const char *tm_side_label(const struct tm_value *comparison, size_t side, char *out)
{
    const char *label = tm_text(tm_get(tm_at(tm_get(comparison, "sides"), side), "label"));
    char shown[256];

    (void)tm_format_visible(shown, sizeof(shown), label, strlen(label));
    (void)tm_format_middle(out, TM_SIDE_TITLE_BYTES, shown, LABEL_CHARS);
    return out;
}

void tm_side_columns_add(struct tm_side_columns *to, const char *title, const char *key, unsigned shape)
{
    const size_t at = to->columns;

    if (at == TM_TABLE_COLUMNS_MOST)
        return;
    (void)snprintf(to->title[at], TM_SIDE_TITLE_BYTES, "%s", title);
    (void)snprintf(to->key[at], TM_SIDE_KEY_BYTES, "%s", key);
    to->column[at] = (struct tm_column){ to->title[at], to->key[at], shape };
    to->columns++;
}

void tm_side_columns_add_sides(struct tm_side_columns *to, const struct tm_value *comparison, const char *what,
                               const char *key, unsigned shape)
{
    for (size_t i = 0; i < tm_side_count(comparison); i++) {
        char label[TM_SIDE_TITLE_BYTES], title[2 * TM_SIDE_TITLE_BYTES], path[TM_SIDE_KEY_BYTES];

        (void)snprintf(title, sizeof(title), "%s%s%.60s", tm_side_label(comparison, i, label), *what ? ", " : "", what);
        (void)snprintf(path, sizeof(path), "%.30s[%zu]", key, i);
        tm_side_columns_add(to, title, path, shape);
    }
}

void tm_side_columns_add_changes(struct tm_side_columns *to, const struct tm_value *comparison, const char *title,
                                 const char *key, unsigned shape)
{
    const size_t sides = tm_side_count(comparison);

    for (size_t i = 1; i < sides; i++) {
        char label[TM_SIDE_TITLE_BYTES], whole[2 * TM_SIDE_TITLE_BYTES], path[TM_SIDE_KEY_BYTES];

        (void)snprintf(whole, sizeof(whole), "%s, %c%.60s", tm_side_label(comparison, i, label),
                       tolower((unsigned char)*title), title + 1);
        (void)snprintf(path, sizeof(path), "changes[%zu].%.30s", i - 1, key);
        tm_side_columns_add(to, sides == 2 ? title : whole, path, shape);
    }
}
