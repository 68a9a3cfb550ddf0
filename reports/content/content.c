/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of documents, which of their sections apply, and the walk over these. */
#include "reports/content/content.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/error.h"
#include "reports/content/emit.h"
#include "reports/findings/findings.h"
#include "reports/findings/summary_query.h"
#include "reports/format/format.h"

/* Only `show` prints it: it has no pages. */
const struct tm_document tm_hlo_document = {
    .schema = "tracemill.hlo",
    .fields = &tm_hlo_schema,
    .what = "HLO",
    .made_by = "tracemill show",
    .file = "hlo",
};

static const struct tm_document *const documents[] = {
    &tm_report_document, &tm_comparison_document, &tm_scaling_document,
    &tm_check_document,  &tm_nightly_document,    &tm_hlo_document,
};

const struct tm_document *tm_document_of(const struct tm_value *root)
{
    const char *schema = tm_text(tm_get(root, "schema"));

    for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++)
        if (strcmp(schema, documents[i]->schema) == 0)
            return documents[i] == &tm_comparison_document && tm_length(tm_get(root, "sides")) > 2
                       ? &tm_comparison_of_many_document
                       : documents[i];
    return documents[0];
}

const struct tm_section *tm_section_of(const struct tm_value *summary, const char *id)
{
    const struct tm_document *document = tm_document_of(summary);

    for (size_t i = 0; i < document->section_count; i++)
        if (strcmp(document->sections[i]->id, id) == 0)
            return document->sections[i];
    return NULL;
}

const char *tm_finding_section(const char *finding_id)
{
    /* findings that are not about a single run, by id prefix; the first match counts */
    static const char *const sections[][2] = {
        { "collective_", "collectives" }, /* of a comparison */
        { "transfer_", "transfers" },
        { "op_", "ops" },
        { "memory_", "memory" },
        { "slow_device", "balance" },
        { "scaling_communication", "exchange" }, /* of a scaling study */
        { "scaling_imbalance", "exchange" },
        { "scaling_idle", "step" },
        { "scaling_co", "step" }, /* computing, copies */
        { "scaling_", "speedup" },
        { "night_failed", "failures" }, /* of a night */
        { "night_gates", "gates" },
        { "night_worse", "regressions" },
        { "night_absent", "jobs" },
        { "night_ahead", "runs" },
        { "night_machine", "jobs" },
    };
    const struct tm_finding_row *row = tm_finding_row(finding_id);

    if (row)
        return row->section;
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
        if (strncmp(finding_id, sections[i][0], strlen(sections[i][0])) == 0)
            return sections[i][1];
    return "coverage"; /* what is wrong with the profile */
}

const struct tm_section *tm_section_of_finding(const struct tm_value *summary, const struct tm_value *finding)
{
    const struct tm_section *section = tm_section_of(summary, tm_finding_section(tm_text(tm_get(finding, "id"))));

    return section && tm_section_is_due(section, summary) ? section : NULL;
}

static const char *why_nothing(const struct tm_section *section, const struct tm_value *summary)
{
    return section->nothing ? section->nothing(summary) : "";
}

bool tm_report_is_slight(const struct tm_value *summary)
{
    return tm_document_of(summary) == &tm_report_document && tm_query_is_too_little(summary);
}

/* There are figures, but too few for an assessment. */
static bool is_too_little(const struct tm_section *section, const struct tm_value *summary)
{
    return section->wants_enough && tm_report_is_slight(summary);
}

static bool has_figures(const struct tm_section *section, const struct tm_value *summary)
{
    const bool has_data =
        !section->key || (tm_is_for(section->platforms, summary) && tm_has(tm_get(summary, section->key)));

    return has_data && !*why_nothing(section, summary);
}

bool tm_section_is_due(const struct tm_section *section, const struct tm_value *summary)
{
    return has_figures(section, summary) && !is_too_little(section, summary);
}

const char *tm_section_why_not(const struct tm_section *section, const struct tm_value *summary)
{
    const char *why;

    if (!section->key || !tm_is_for(section->platforms, summary))
        return "";
    if (tm_has(tm_get(summary, section->key))) {
        why = why_nothing(section, summary);
        return *why || !is_too_little(section, summary) ? why : "too little was recorded for an assessment";
    }
    why = tm_reason_of(summary, section->key);
    return *why ? why : "not recorded";
}

bool tm_section_has_finding(const struct tm_section *section, const struct tm_value *summary)
{
    const struct tm_value *findings = tm_get(summary, "findings");

    for (size_t i = 0; i < tm_length(findings); i++)
        if (strcmp(tm_finding_section(tm_text(tm_get(tm_at(findings, i), "id"))), section->id) == 0)
            return true;
    return false;
}

void tm_content_say_section(const struct tm_content *content, const struct tm_section *section)
{
    const bool is_report = tm_document_of(content->summary) == &tm_report_document;
    const struct tm_room *const room = &content->medium->room;
    struct tm_content of_section = *content;

    of_section.is_brief = is_report && !room->is_data && (room->is_short || tm_query_is_too_little(content->summary)) &&
                          !tm_section_has_finding(section, content->summary);
    section->say(&of_section);
}

void tm_content_say(const struct tm_content *content)
{
    const struct tm_document *document = tm_document_of(content->summary);
    const struct tm_medium *medium = content->medium;

    for (size_t i = 0; i < document->section_count; i++) {
        const struct tm_section *section = document->sections[i];

        if (!tm_section_is_due(section, content->summary) &&
            !(medium->room.is_data && has_figures(section, content->summary)))
            continue;
        if (medium->section)
            medium->section(content->to, section);
        tm_content_say_section(content, section);
        if (medium->end_section)
            medium->end_section(content->to, section);
    }
}

/* --- what sections use to produce their content --- */

enum { PARAGRAPH_BYTES = 2048, PATH_BYTES = 256, COLUMNS_BYTES = 1024 };

const struct tm_value *tm_of(const struct tm_content *content, const char *path)
{
    return tm_path(content->summary, path);
}

void *tm_content_take(const struct tm_content *content, size_t bytes)
{
    return tm_take(&content->run->budget, TM_ACCOUNT_MODEL, bytes, &content->run->error);
}

void tm_content_give(const struct tm_content *content, void *room, size_t bytes)
{
    tm_give(&content->run->budget, TM_ACCOUNT_MODEL, room, room ? bytes : 0);
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

void tm_emit_detail_charts(const struct tm_content *content, enum tm_chart_kind kind)
{
    if (!content->is_brief)
        tm_emit_charts(content, kind);
}

void tm_emit_charts(const struct tm_content *content, enum tm_chart_kind kind)
{
    if (content->medium->charts && tm_charts_count(kind, content->summary) > 0)
        content->medium->charts(content->to, kind);
}

enum tm_doc_kind tm_shown_kind(const struct tm_doc_field *field)
{
    const enum tm_doc_kind kind = tm_doc_kind_of(field);

    switch (kind) {
    case TM_DOC_OBJECT:
    case TM_DOC_ROW:
        return TM_DOC_NONE;
    case TM_DOC_BOOL:
    case TM_DOC_INTEGER:
    case TM_DOC_VALUE:
    case TM_DOC_POINT:
        return TM_DOC_WORD;
    case TM_DOC_PATH:
        return TM_DOC_NAME;
    case TM_DOC_NS:
    case TM_DOC_US:
    case TM_DOC_FLOPS:
    case TM_DOC_P:
        return TM_DOC_NUMBER;
    case TM_DOC_SHARE:
    case TM_DOC_CHANGE_PCT:
        return TM_DOC_PERCENT;
    case TM_DOC_CHANGE:
        return TM_DOC_TIME;
    default:
        return kind;
    }
}

/* Parsing of columns. */
struct columns {
    struct tm_column column[TM_TABLE_COLUMNS_MOST];
    size_t count;
    char text[COLUMNS_BYTES]; /* keys and titles */
};

/* A word after the path of a column.  out: the flags it adds to the column's shape */
static unsigned shape_of(const char *word)
{
    static const struct {
        const char *word;
        unsigned shape;
    } words[] = {
        { "wide", TM_WIDE },         { "sums", TM_SUMS },
        { "change", TM_CHANGE },     { "given", TM_GIVEN },
        { "known", TM_KNOWN },       { "rare", TM_RARE },
        { "choice", TM_CHOICE },     { "word", TM_DOC_WORD },
        { "name", TM_DOC_NAME },     { "device", TM_DOC_DEVICE },
        { "host", TM_DOC_HOST },     { "cause", TM_DOC_CAUSE },
        { "source", TM_DOC_SOURCE }, { "direction", TM_DOC_DIRECTION },
        { "term", TM_DOC_TERM },     { "prose", TM_DOC_PROSE },
        { "link", TM_DOC_LINK },     { "curve", TM_DOC_CURVE },
        { "time", TM_DOC_TIME },     { "moment", TM_DOC_MOMENT },
        { "count", TM_DOC_COUNT },   { "bytes", TM_DOC_BYTES },
        { "pct", TM_DOC_PERCENT },   { "number", TM_DOC_NUMBER },
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(words[i].word, word) == 0)
            return words[i].shape;
    assert(false);
    return 0;
}

/* "launch.dur_ps wide = Launch call".  owns: the column borrows the text, which is split into words */
static struct tm_column column_of(char *text)
{
    struct tm_column column = { .title = NULL };
    char *title = strstr(text, "= "), *rest = NULL;

    if (title) {
        *title = 0;
        column.title = title + 2;
    }
    column.key = strtok_r(text, " ", &rest);
    for (const char *word; (word = strtok_r(NULL, " ", &rest)) != NULL;)
        column.shape |= shape_of(word);
    if (strcmp(column.key, "@") == 0)
        column.key = "";
    return column;
}

/* Whatever a column does not specify is taken from its field.  in: row the place of the row of the columns */
static void complete(struct tm_column *column, struct tm_doc_place row)
{
    const struct tm_doc_field *field;

    if (column->title && tm_column_kind(column) != TM_DOC_NONE)
        return;
    field = tm_doc_walk(&row, column->key);
    assert(field);
    if (tm_column_kind(column) == TM_DOC_NONE)
        column->shape |= tm_shown_kind(field);
    if (!column->title)
        column->title = field->title;
    assert(column->title && tm_column_kind(column) != TM_DOC_NONE);
}

static void take_apart(struct columns *to, const char *columns, const struct tm_content *content, const char *at)
{
    const struct tm_doc_schema *const schema = tm_document_of(content->summary)->fields;
    struct tm_doc_place row = { .below = schema ? schema->fields : NULL };
    char *rest = NULL;

    (void)tm_doc_walk(&row, at);
    assert(strlen(columns) < sizeof(to->text));
    (void)snprintf(to->text, sizeof(to->text), "%s", columns);
    to->count = 0;
    for (char *text = strtok_r(to->text, ",", &rest); text; text = strtok_r(NULL, ",", &rest)) {
        assert(to->count < TM_TABLE_COLUMNS_MOST);
        to->column[to->count] = column_of(text);
        complete(&to->column[to->count++], row);
    }
}

/* Does a row match tm_table.where? */
static bool is_wanted(const struct tm_value *row, const char *paths)
{
    char text[PATH_BYTES], *rest = NULL;

    (void)snprintf(text, sizeof(text), "%s", paths);
    for (char *path = strtok_r(text, "|", &rest); path; path = strtok_r(NULL, "|", &rest)) {
        char *const word = strchr(path, '=');

        if (word)
            *word = 0;
        if (word ? strcmp(tm_text(tm_path(row, path)), word + 1) == 0 : tm_double(tm_path(row, path)) != 0)
            return true;
    }
    return false;
}

/* out: pick  as many as there are rows; returned: how many of them the table shows */
static size_t pick_rows(size_t *pick, const struct tm_table *table)
{
    const struct tm_value *rows = table->rows;
    size_t picks = 0;

    if (table->by)
        return tm_pick_largest(rows, table->by, NULL, TM_PICK_MOST, pick);
    for (size_t i = 0; i < tm_length(rows); i++)
        if (is_wanted(tm_type_of(rows) == TM_OBJECT ? tm_value_at(rows, i) : tm_at(rows, i), table->where))
            pick[picks++] = i;
    return picks;
}

static bool is_known(const struct tm_table *table, size_t column)
{
    for (size_t row = 0; row < tm_table_rows(table); row++) {
        const struct tm_cell cell = tm_table_cell(table, row, column);

        if (!tm_cell_is_empty(&cell))
            return true;
    }
    return false;
}

/* Remove the columns that no row has. */
static void leave_known(struct tm_table *table, struct tm_column *columns)
{
    size_t known = 0;

    for (size_t i = 0; i < table->columns; i++)
        if (!(columns[i].shape & TM_KNOWN) || is_known(table, i))
            columns[known++] = columns[i];
    table->columns = known;
}

/* The table with the values that its paths lead to.  in: columns  room for those that it shows */
static struct tm_table resolve(const struct tm_content *content, const struct tm_table *table, struct columns *columns)
{
    struct tm_table whole = *table;
    char row[PATH_BYTES] = "";

    if (table->list) {
        (void)snprintf(row, sizeof(row), "%s[*]", table->list);
        whole.rows = table->rows ? table->rows : tm_of(content, table->list);
    }
    if (table->rest_at)
        whole.rest = tm_of(content, table->rest_at);
    if (table->total_at)
        whole.total = tm_of(content, table->total_at);
    if (table->obeys_rows)
        whole.screen_rows = (size_t)strtoull(tm_text(tm_of(content, "settings.rows")), NULL, 10);
    if (table->shows) {
        take_apart(columns, table->shows, content, row);
        whole.column = columns->column;
        whole.columns = columns->count;
        leave_known(&whole, columns->column);
    }
    return whole;
}

void tm_emit_table(const struct tm_content *content, const struct tm_table *table)
{
    const bool is_told = (table->repeats_chart && content->medium->has_charts && !content->is_brief) ||
                         (table->is_detail && content->is_brief);
    struct columns columns;
    struct tm_table said = resolve(content, table, &columns);
    const size_t bytes = (tm_length(said.rows) + 1) * sizeof(size_t);
    size_t *pick = table->where || table->by ? tm_content_take(content, bytes) : NULL;

    if (pick) {
        said.pick = pick;
        said.picks = pick_rows(pick, &said);
        said.is_only_picked = table->where != NULL;
    }
    if (content->is_brief && said.brief_rows)
        said.paper_rows = said.brief_rows;
    if (tm_table_rows(&said) == 1 && tm_int(tm_get(said.rest, "rows")) == 0)
        said.total = NULL; /* it would repeat the row */
    if (content->medium->table && !is_told && tm_table_rows(&said) > 0)
        content->medium->table(content->to, &said);
    if (table->note && !is_told && tm_table_rows(&said) > 0)
        tm_emit(content, TM_TONE_QUIET, "%s", table->note);
    tm_content_give(content, pick, bytes);
}

/* Is it shown: present, with room, and not a 0 of something rare? */
static bool is_fact(const struct tm_content *content, const struct tm_column *column, const struct tm_cell *fact)
{
    const bool is_data = content->medium->room.is_data;

    if ((column->shape & TM_KNOWN) && tm_cell_is_empty(fact))
        return false;
    if (!fact->value || is_data)
        return fact->value != NULL;
    if ((column->shape & TM_WIDE) && content->medium->room.is_paper)
        return false;
    return !(column->shape & TM_RARE) || !tm_cell_is_zero(fact);
}

void tm_emit_columns(const struct tm_content *content, const char *id, const struct tm_column *columns, size_t count,
                     const char *at)
{
    const struct tm_value *const row = *at ? tm_of(content, at) : content->summary;
    struct tm_column column[TM_TABLE_COLUMNS_MOST];
    struct tm_cell cell[TM_TABLE_COLUMNS_MOST];
    const char *null[TM_TABLE_COLUMNS_MOST][2];
    size_t n = 0, nulls = 0;

    for (size_t i = 0; i < count; i++) {
        const struct tm_cell fact = tm_cell_of_value(tm_column_kind(&columns[i]), tm_path(row, columns[i].key));

        if (!is_fact(content, &columns[i], &fact))
            continue;
        if (!tm_has(fact.value) && !content->medium->room.is_data) {
            null[nulls][0] = columns[i].key;
            null[nulls++][1] = columns[i].title;
            continue;
        }
        column[n] = columns[i];
        cell[n++] = fact;
    }
    if (n > 0 && content->medium->facts)
        content->medium->facts(
            content->to, &(struct tm_table){ .id = id, .column = column, .columns = n, .cells = cell, .cell_rows = 1 });
    tm_emit_nulls(content, row, null, nulls);
}

void tm_emit_facts(const struct tm_content *content, const char *id, const char *at, const char *columns)
{
    struct columns taken;

    take_apart(&taken, columns, content, at);
    tm_emit_columns(content, id, taken.column, taken.count, at);
}

void tm_emit_findings(const struct tm_content *content, const char *none, const char *order)
{
    const struct tm_value *findings = tm_of(content, "findings");

    if (tm_length(findings) == 0)
        tm_emit(content, TM_TONE_PLAIN, "%s", none);
    else if (*order)
        tm_emit(content, TM_TONE_QUIET, "%s", order);
    for (size_t i = 0; content->medium->finding && i < tm_length(findings); i++)
        content->medium->finding(content->to, tm_at(findings, i), i + 1);
}

bool tm_emit_missing(const struct tm_content *content, const struct tm_value *value, const char *title)
{
    const char *why = tm_why(value);

    if (tm_has(value))
        return false;
    tm_emit(content, TM_TONE_PLAIN, "%s: not recorded%s%s%s", title, *why ? " (" : "", why, *why ? ")." : ".");
    return true;
}

/* The reason why the value at a path is null; NULL = it is not null, or there is no reason. */
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

void tm_emit_runs(const struct tm_content *content, const char *id, const char *caption, const char *list)
{
    tm_emit_table(content,
                  &(struct tm_table){ .id = id,
                                      .caption = caption,
                                      .shows = "run, platform, device_model, devices, hosts wide, steps.chosen, "
                                               "steps.median_ps, steps.cv_pct, measured_ps given, partial rare, "
                                               "framework wide, kind wide, fingerprint wide, path",
                                      .list = list,
                                      .paper_rows = 16 });
}
