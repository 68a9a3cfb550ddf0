/* SPDX-License-Identifier: Apache-2.0 */
/* report.txt: what reports/content says, in columns of a terminal. */
#include "reports/text/text.h"

#include <errno.h>
#include <string.h>

#include "reports/content/sheet.h"
#include "reports/content/finding_places.h"
#include "reports/content/front_page.h"
#include "reports/format/format.h"
#include "reports/text/textw.h"

enum {
    TOP_FINDINGS = 5,
    PLACES_MOST = 3,
    TITLE_BYTES = 256,
    TOP_STAKE_BYTES = 64,
    LEAST_COLUMNS = 4, /* of a table, whatever becomes of its names */
};

struct text {
    struct tm_textw w;
    const struct tm_value *summary;
    struct tm_front_page front;
    struct tm_sheet sheet;
    struct tm_layout layout;
    bool is_told[TM_MARKS_SHOWN]; /* marks of headings: each is told below the first section that has it */
};

/* --- what sections say --- */

static void begin_section(void *to, const struct tm_section *section)
{
    struct text *t = to;
    char title[TITLE_BYTES], sign[TM_SIGN_BYTES] = "";

    if (section->key)
        (void)tm_sign_of_section(sign, t->summary, section->key);
    (void)snprintf(title, sizeof(title), "%s%s", section->title, sign);
    tm_textw_heading(&t->w, title);
}

static void put_mark(struct text *t, size_t at)
{
    char text[TM_FRONT_BYTES];

    (void)snprintf(text, sizeof(text), "[%c] %s", tm_mark_letter(at),
                   tm_text(tm_get(tm_at(tm_path(t->summary, "coverage.marks"), at), "text")));
    tm_textw_paragraph(&t->w, text, true);
}

/* What the letters in the heading of a section mean, where they stand for the first time. */
static void end_section(void *to, const struct tm_section *section)
{
    struct text *t = to;
    const struct tm_value *marks = tm_path(t->summary, "coverage.marks");

    for (size_t i = 0; section->key && i < tm_length(marks) && i < TM_MARKS_SHOWN; i++) {
        if (t->is_told[i] || !tm_mark_is_of_section(tm_at(marks, i), section->key))
            continue;
        put_mark(t, i);
        t->is_told[i] = true;
    }
}

static void put_subheading(void *to, const char *text)
{
    tm_textw_subheading(&((struct text *)to)->w, text);
}

static void put_paragraph(void *to, enum tm_tone tone, const char *text)
{
    tm_textw_paragraph(&((struct text *)to)->w, text, tone == TM_TONE_QUIET);
}

static void put_facts(void *to, const struct tm_table *facts)
{
    struct text *t = to;

    tm_sheet_fill_facts(&t->sheet, facts, t->summary);
    tm_textw_sheet(&t->w, &t->sheet);
}

/* The last column that is not the first one with names. */
static int least_column(const struct tm_sheet *sheet)
{
    int name = 0;

    while (name < sheet->columns && sheet->kind[name] != TM_COLUMN_NAME)
        name++;
    return name == sheet->columns - 1 ? name - 1 : sheet->columns - 1;
}

/* Take the last columns out of a table whose names would be cut too far.  out: their titles, TM_NOTE_BYTES */
static void make_room(struct text *t, char *left_out)
{
    char later[TM_NOTE_BYTES];

    left_out[0] = 0;
    while (t->sheet.columns > LEAST_COLUMNS && tm_textw_is_narrow(&t->w, &t->sheet)) {
        const int column = least_column(&t->sheet);

        memcpy(later, left_out, sizeof(later));
        (void)snprintf(left_out, TM_NOTE_BYTES, "%.64s%s%.900s", t->sheet.title[column], *later ? ", " : "", later);
        tm_sheet_drop(&t->sheet, column);
    }
}

static void put_table(void *to, const struct tm_table *table)
{
    static const struct tm_room room = { .is_paper = true, .rows = TM_SHEET_ROOM };
    struct text *t = to;
    char note[TM_NOTE_BYTES], left_out[TM_NOTE_BYTES], line[TM_NOTE_BYTES + 32];

    tm_textw_subheading(&t->w, table->caption);
    tm_sheet_fill(&t->sheet, &t->layout, table, t->summary, &room);
    make_room(t, left_out);
    tm_textw_sheet(&t->w, &t->sheet);
    (void)snprintf(line, sizeof(line), "No room here for: %s", left_out);
    if (*left_out)
        tm_textw_paragraph(&t->w, line, true);
    for (size_t i = 0; tm_layout_note(&t->layout, i, note); i++)
        tm_textw_paragraph(&t->w, note, true);
}

/* --- findings --- */

static void put_list(struct text *t, const char *label, const struct tm_value *list)
{
    for (size_t i = 0; i < tm_length(list) && i < TM_FINDING_LINES; i++)
        tm_textw_item(&t->w, label, tm_text(tm_at(list, i)));
}

static void put_finding(void *to, const struct tm_value *finding, size_t number)
{
    struct text *t = to;
    const struct tm_value *where = tm_get(finding, "where");
    const char *cause = tm_text(tm_get(finding, "cause"));
    char text[TM_FINDING_BYTES];
    struct tm_place place;

    if (t->w.last == TM_TEXT_PARAGRAPH) /* findings stand apart */
        t->w.last = TM_TEXT_ITEM;
    (void)snprintf(text, sizeof(text), "%zu. [%s] %s", number, tm_text(tm_get(finding, "severity")),
                   tm_text(tm_get(finding, "title")));
    tm_textw_paragraph(&t->w, text, false);
    if (*tm_finding_stake(text, finding))
        tm_textw_item(&t->w, "how much", text);
    if (*cause)
        tm_textw_item(&t->w, "cause", cause);
    put_list(t, "fix", tm_get(finding, "fix"));
    put_list(t, "evidence", tm_get(finding, "evidence"));
    for (size_t i = 0; i < tm_length(where) && i < PLACES_MOST; i++) {
        tm_place_make(&place, t->summary, tm_at(where, i));
        tm_textw_item(&t->w, "look", place.text);
    }
    if (tm_finding_link(finding))
        tm_textw_item(&t->w, "report", tm_finding_link(finding));
}

static const struct tm_medium text_medium = {
    .room = { .is_paper = true, .rows = TM_SHEET_ROOM },
    .section = begin_section,
    .end_section = end_section,
    .subheading = put_subheading,
    .paragraph = put_paragraph,
    .facts = put_facts,
    .table = put_table,
    .finding = put_finding,
};

/* --- the top --- */

static void put_titles(struct text *t)
{
    tm_textw_title(&t->w, t->front.title);
    tm_textw_paragraph(&t->w, t->front.subtitle, true);
    if (t->front.is_partial) {
        (void)fputs("\n*** PARTIAL ***\n", t->w.to);
        tm_textw_paragraph(&t->w, t->front.partial, true);
    }
    if (*t->front.note) {
        (void)fputc('\n', t->w.to);
        tm_textw_paragraph(&t->w, t->front.note, true);
    }
}

static void put_front_facts(struct text *t)
{
    tm_sheet_start(&t->sheet, false);
    tm_sheet_column(&t->sheet, "", TM_COLUMN_WORD);
    tm_sheet_column(&t->sheet, "", TM_COLUMN_PROSE);
    for (size_t i = 0; i < t->front.facts && tm_sheet_row(&t->sheet); i++) {
        tm_sheet_text(&t->sheet, t->front.fact[i].title);
        tm_sheet_text(&t->sheet, t->front.fact[i].text);
    }
    if (t->front.facts > 0)
        tm_textw_sheet(&t->w, &t->sheet);
}

static void put_verdict(struct text *t)
{
    tm_textw_heading(&t->w, "Verdict");
    tm_textw_paragraph(&t->w, *t->front.verdict ? t->front.verdict : "None: the summary has no verdict.", false);
}

static void add_kpi(struct text *t, size_t index)
{
    char sign[TM_SIGN_BYTES];
    struct tm_key_figure kpi;

    tm_kpi_at(&kpi, t->summary, index);
    if (!tm_sheet_row(&t->sheet))
        return;
    tm_sheet_prose(&t->sheet, "%s%s", kpi.title, tm_sign_of_kpi(sign, t->summary, kpi.kpi));
    (void)snprintf(tm_sheet_room(&t->sheet), TM_SHEET_CELL_BYTES, "%s", kpi.has_value ? kpi.value : "not recorded");
    tm_sheet_text(&t->sheet, strcmp(kpi.band, "unknown") == 0 ? "" : kpi.band);
    (void)snprintf(tm_sheet_room(&t->sheet), TM_SHEET_CELL_BYTES, "%s", kpi.good);
    (void)snprintf(tm_sheet_room(&t->sheet), TM_SHEET_CELL_BYTES, "%s", kpi.bad);
    if (kpi.finding)
        (void)snprintf(tm_sheet_room(&t->sheet), TM_SHEET_CELL_BYTES, "finding %zu", kpi.finding);
    else
        tm_sheet_text(&t->sheet, kpi.why);
}

static void put_kpis(struct text *t)
{
    static const struct {
        const char *title;
        enum tm_column_kind kind;
    } columns[] = {
        { "Figure", TM_COLUMN_WORD }, { "Value", TM_COLUMN_NUMBER }, { "Band", TM_COLUMN_WORD },
        { "Good", TM_COLUMN_NUMBER }, { "Bad", TM_COLUMN_NUMBER },   { "Remark", TM_COLUMN_PROSE },
    };
    const size_t count = tm_kpi_count(t->summary);

    if (count == 0)
        return;
    tm_textw_heading(&t->w, "Key figures");
    tm_sheet_start(&t->sheet, true);
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        tm_sheet_column(&t->sheet, columns[i].title, columns[i].kind);
    for (size_t i = 0; i < count; i++)
        add_kpi(t, i);
    tm_textw_sheet(&t->w, &t->sheet);
}

/* "1.51 s, 80.6 %". */
static void make_top_stake(char out[TOP_STAKE_BYTES], const struct tm_value *finding)
{
    char time[TM_FORMAT_BYTES], part[TM_FORMAT_BYTES] = "";

    if (*tm_finding_time(time, finding))
        (void)tm_finding_part(part, finding);
    (void)snprintf(out, TOP_STAKE_BYTES, "%s%s%.*s", time, *part ? ", " : "", (int)strcspn(part, "%") + (*part != 0),
                   part);
}

static void put_top_findings(struct text *t)
{
    const struct tm_value *findings = tm_get(t->summary, "findings");
    size_t pick[TOP_FINDINGS], count = tm_front_findings(t->summary, TOP_FINDINGS, pick);

    if (count == 0)
        return;
    tm_textw_heading(&t->w, "Top findings");
    tm_sheet_start(&t->sheet, true);
    tm_sheet_column(&t->sheet, "", TM_COLUMN_NUMBER);
    tm_sheet_column(&t->sheet, "", TM_COLUMN_WORD);
    tm_sheet_column(&t->sheet, "Finding", TM_COLUMN_PROSE);
    tm_sheet_column(&t->sheet, *tm_text(tm_get(tm_at(findings, 0), "stake_of")) ? "Change" : "Potential savings",
                    TM_COLUMN_WORD);
    for (size_t i = 0; i < count && tm_sheet_row(&t->sheet); i++) {
        const struct tm_value *finding = tm_at(findings, pick[i]);

        tm_sheet_prose(&t->sheet, "%zu", pick[i] + 1);
        tm_sheet_text(&t->sheet, tm_text(tm_get(finding, "severity")));
        tm_sheet_text(&t->sheet, tm_text(tm_get(finding, "title")));
        make_top_stake(tm_sheet_room(&t->sheet), finding);
    }
    tm_textw_sheet(&t->w, &t->sheet);
}

static void put_maker(struct text *t)
{
    char maker[TITLE_BYTES];

    tm_format_text(maker, sizeof(maker), tm_text(tm_path(t->summary, "tool.version")));
    maker[tm_text_trimmed(maker, tm_text_head(maker, TM_TEXT_COLUMNS / 2))] = 0;
    (void)fprintf(t->w.to, "\ntracemill%s%s\n", *maker ? " " : "", maker);
}

static void put_report(struct text *t)
{
    put_titles(t);
    (void)fputc('\n', t->w.to);
    t->w.last = TM_TEXT_NOTHING;
    put_front_facts(t);
    put_verdict(t);
    put_kpis(t);
    put_top_findings(t);
    tm_content_say(&(struct tm_content){ .summary = t->summary, .medium = &text_medium, .to = t });
    put_maker(t);
}

tm_status tm_text_write(struct tm_run *run, const struct tm_doc *doc, FILE *to)
{
    struct text *t = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*t), &run->error);
    tm_status st = TM_OK;

    if (!t)
        return TM_ERR_LIMIT;
    t->w.to = to;
    t->summary = tm_doc_root(doc);
    tm_front_make(&t->front, t->summary);
    put_report(t);
    if (fflush(to) != 0 || ferror(to))
        st = tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot write the text report");
    tm_give(&run->budget, TM_ACCOUNT_MODEL, t, sizeof(*t));
    return st;
}
