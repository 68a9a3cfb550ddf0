/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CONTENT_H
#define TM_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/doc/doc.h"
#include "pipeline/doc/doc_fields.h"
#include "pipeline/error.h"
#include "reports/chart/chart.h"
#include "reports/format/format.h"

/* One figure or text of a report, before it is formatted.  All media show the same value, each in its own
 * format: a page adds sort keys, CSV has exact numbers. */

enum tm_cell_from { TM_FROM_VALUE, TM_FROM_TEXT, TM_FROM_INT, TM_FROM_DOUBLE };

struct tm_cell {
    enum tm_doc_kind kind;
    enum tm_cell_from from;
    bool is_change; /* a number shown with its sign */
    union {
        const struct tm_value *value; /* of the summary; if it is null, tm_why has the reason */
        const char *text;             /* "" = an empty cell */
        int64_t whole;
        double number;
    };
};

static inline struct tm_cell tm_cell_of_value(enum tm_doc_kind kind, const struct tm_value *value)
{
    return (struct tm_cell){ .kind = kind, .from = TM_FROM_VALUE, .value = value };
}

static inline struct tm_cell tm_cell_of_text(enum tm_doc_kind kind, const char *text)
{
    return (struct tm_cell){ .kind = kind, .from = TM_FROM_TEXT, .text = text };
}

static inline struct tm_cell tm_cell_of_int(enum tm_doc_kind kind, int64_t whole)
{
    return (struct tm_cell){ .kind = kind, .from = TM_FROM_INT, .whole = whole };
}

static inline struct tm_cell tm_cell_of_double(enum tm_doc_kind kind, double number)
{
    return (struct tm_cell){ .kind = kind, .from = TM_FROM_DOUBLE, .number = number };
}

/* A share of a total in percent; an empty cell if there is no total. */
struct tm_cell tm_cell_of_share(const struct tm_value *part, const struct tm_value *whole);

/* Neither a number nor a nonempty text. */
bool tm_cell_is_empty(const struct tm_cell *cell);

/* The number 0, or a plain no. */
bool tm_cell_is_zero(const struct tm_cell *cell);

/* The cell as people read it.  Names are as recorded, any bytes; the medium escapes them.
 * out:    returned: out (TM_FORMAT_BYTES), or a text that lives as long as the summary; "" for an empty cell */
const char *tm_cell_shown(const struct tm_cell *cell, const struct tm_value *summary, char *out);

/* The exact number, without its unit and without separators, as in JSON; "" if it is not a number.
 * out:    TM_FORMAT_BYTES, returned */
const char *tm_cell_exact(const struct tm_cell *cell, char *out);

/* The tone of a text; a medium with colors may show it, but the words never depend on it. */
enum tm_tone {
    TM_TONE_PLAIN,
    TM_TONE_GOOD,
    TM_TONE_WARNING,
    TM_TONE_BAD,      /* a figure */
    TM_TONE_CRITICAL, /* a finding */
    TM_TONE_INFO,
    TM_TONE_UNKNOWN,
    TM_TONE_QUIET, /* a remark on the content above it */
};

/* The word shown for a band: "critical" for "bad", as in the severities of findings. */
const char *tm_band_word(const char *band);

/* The tone of a band or a severity: "good", "warning", "bad", "critical", "info", "unknown". */
enum tm_tone tm_tone_of(const char *word);

/* The kind of value that a field is shown as: TM_DOC_NONE  not at all. */
enum tm_doc_kind tm_shown_kind(const struct tm_doc_field *field);

/* A table as a section defines it: rows of the summary, which values of a row are shown, and their titles.  Every
 * medium writes the same table; what differs is how many rows and columns it has room for. */
enum {
    TM_TABLE_COLUMNS_MOST = 28,
    TM_PAPER_ROWS = 15,
    TM_REASONS_MOST = 2 /* reported for the empty cells of a column */
};

enum {
    TM_WIDE = 1 << 8,    /* shown if there is room: on screens and in CSV, not on paper */
    TM_SUMS = 1 << 9,    /* unlisted rows are summed up in one row */
    TM_CHANGE = 1 << 11, /* numbers are shown with their sign */
    TM_GIVEN = 1 << 12,  /* given by some users only: omitted without a note if no row has it */
    TM_KNOWN = 1 << 13,  /* likewise, also in data */
    TM_CHOICE = 1 << 14, /* a page that can filter rows offers the values for selection */
    TM_RARE = 1 << 10,   /* rare: omitted if it is 0, or "no", in all rows */
};

struct tm_column {
    const char *title;
    const char *key; /* path in a row; "" = the row's own name, where the rows are members of an object */
    unsigned shape;  /* enum tm_doc_kind, with TM_WIDE, TM_SUMS, TM_RARE, TM_GIVEN, TM_CHANGE */
};

static inline enum tm_doc_kind tm_column_kind(const struct tm_column *column)
{
    return (enum tm_doc_kind)(column->shape & (TM_WIDE - 1));
}

struct tm_table {
    const char *id;      /* [a-z0-9-], unique in a report: its anchor, the name of its CSV file */
    const char *caption; /* what the rows are, in a few words; any bytes */
    /* Its columns: "begin_ps, names[0] = First kernel, track wide".  For each: its path in a row ("@": the row's own
     * name, if the rows are members of an object); words that override its field: its kind, without TM_DOC_, and the
     * applicable TM_WIDE ...; and its title, if that is not its field's.  Media receive `column`. */
    const char *shows;
    const struct tm_column *column;
    size_t columns;

    /* The rows: elements of an array or members of an object of the summary, all of them in order, or those picked.
     * A table that is not a list of the summary gives its cells instead, row by row. */
    const char *list;            /* path of the rows, by which columns find their fields; NULL = they need none */
    const struct tm_value *rows; /* NULL = those of `list` */
    const size_t *pick;          /* NULL = all; lives until the table is written */
    size_t picks;
    bool is_only_picked;         /* a row that is not picked is not a row of the table, and does not count as omitted */
    const struct tm_cell *cells; /* columns x cell_rows */
    size_t cell_rows;
    const uint8_t *depths; /* depths of these rows in a tree: sums include those of depth 0; NULL = no tree */

    const char *rest_at, *total_at; /* the paths of these two; NULL = they are set directly, or there are none */
    const struct tm_value *rest;    /* {"rows", and the sums} of rows that the summary does not list; NULL */
    const struct tm_value *total;   /* a last row with the values at the columns' keys; NULL */
    const char *total_title;        /* of that row, if there is one: "all kernels" */
    size_t paper_rows;              /* at most on paper; 0 = TM_PAPER_ROWS */
    size_t brief_rows;              /* instead, where no finding leads to its section; 0 = the same */
    bool obeys_rows;                /* --rows: the summary has all of them, because other figures refer to them */
    size_t screen_rows;             /* at most on a page; of obeys_rows: what --rows requests; 0 = as many as fit */
    size_t page_rows;               /* at most on a page, where it may be longer than others; 0 = as others */
    const char *depth;              /* path to the depth of a row in a tree whose rows are in order; NULL = no tree */
    const char *anchor;             /* rows can be linked to as "anchor-N", by their place; NULL = they cannot */
    const char *const *anchors;     /* the name of each row in place of N; NULL = its place */
    bool repeats_chart;             /* a chart before it has the same figures */
    bool is_detail;                 /* in short media only where a finding leads to its section */
    int glossary;                   /* terms with definitions in the last column: the term's column, from 1; 0 = none */

    /* Specific to a section. */
    const char *where; /* only rows in which one of these paths, "count|total_ps", has a number but 0, or where it has
                          that word: "status=failed"; NULL = all */
    const char *by;    /* those with the largest values, in descending order, at most TM_PICK_MOST; NULL = in their
                        * order */
    const char *note;  /* a remark below it, where it has rows; NULL = none */
};

#define TM_COLUMNS(list) .column = (list), .columns = sizeof(list) / sizeof((list)[0])

/* The capacity of a medium. */
struct tm_room {
    bool is_paper;   /* columns with TM_WIDE are left out */
    bool is_short;   /* has pages: details that no finding refers to are omitted */
    bool has_links;  /* to other files */
    bool has_curves; /* drawings in cells */
    bool is_data;    /* for programs: all facts in every report, regardless of their values */
    size_t rows;     /* at most, of a table; paper takes less: tm_table.paper_rows */
};

/* Which columns and rows of a table are shown. */
struct tm_layout {
    const struct tm_table *table;
    const struct tm_value *summary;
    size_t column[TM_TABLE_COLUMNS_MOST]; /* indexes of those that are shown */
    size_t columns;
    struct {
        const char *title;
        const char *text; /* why its cells are empty, or the value that all of its cells have */
        bool is_same;     /* the value; else the reason */
        bool is_shown;    /* the column has other cells that are not empty */
    } note[TM_TABLE_COLUMNS_MOST * TM_REASONS_MOST]; /* columns omitted with a note, and columns with empty cells */
    size_t notes;
    size_t rows;           /* listed */
    int64_t rows_left_out; /* of the table and of the summary's rest */
};

/* Omits columns in which no row has a value, and TM_RARE columns that are all 0.  If a column has the same value in all
 * rows (programs, devices, terms, sentences), it becomes a note, as do the reasons for nulls. */
void tm_table_lay_out(struct tm_layout *layout, const struct tm_table *table, const struct tm_value *summary,
                      const struct tm_room *room);

size_t tm_table_rows(const struct tm_table *table); /* all it has */

/* Rows of the table beyond the first `listed` ones, including those that the summary itself does not list.
 * in: listed  at most tm_table_rows */
int64_t tm_table_left_out(const struct tm_table *table, size_t listed);

/* A cell; row below tm_table_rows, column below table->columns. */
struct tm_cell tm_table_cell(const struct tm_table *table, size_t row, size_t column);
/* The link of a cell; NULL = none.  The first column of links belongs to the first cell of the row, others to the cell
 * before them. */
const char *tm_table_link(const struct tm_table *table, size_t row, size_t column);
/* How far a row is indented: its depth in the tree, 0 without one. */
int tm_table_depth(const struct tm_table *table, size_t row);

/* Can the unlisted rows be summed up? Otherwise only their number is shown. */
bool tm_layout_has_sums(const struct tm_layout *layout);

/* The row that sums the omitted rows, and the row of the total; the first shown column has their title.
 * in:     column  of the table; not the first one shown */
struct tm_cell tm_layout_rest(const struct tm_layout *layout, size_t column);
struct tm_cell tm_layout_total(const struct tm_layout *layout, size_t column);
/* "1,234 remaining rows".  out: TM_FORMAT_BYTES, returned */
const char *tm_layout_rest_title(const struct tm_layout *layout, char *out);

/* The top of a report, in pieces: each medium has its own layout for its first screen or page.  Key figures are in
 * content.h. */
enum { TM_FRONT_FACTS_MOST = 10, TM_FRONT_BYTES = 512, TM_FRONT_TITLE_BYTES = 256 };

/* Texts may contain any bytes from a trace. */
struct tm_front_page {
    char title[TM_FRONT_TITLE_BYTES];    /* --title, else the name of the run */
    char subtitle[TM_FRONT_TITLE_BYTES]; /* hosts and devices, "2 hosts, 8 devices"; the run too if there is a
                                            --title */
    const char *note;                    /* --note; "" = none */
    const char *verdict;                 /* a sentence; "" = none */
    enum tm_tone tone;                   /* of the verdict */
    struct {
        const char *title;
        char text[TM_FRONT_BYTES];
    } fact[TM_FRONT_FACTS_MOST]; /* host, devices, versions, window, steps, profiled, files, names */
    size_t facts;
    bool is_slight;  /* too little was recorded for an assessment: figures have no bands, and most sections are empty */
    bool is_partial; /* the input is damaged: the report says so at its top, with tm_partial_text */
    char partial[TM_FRONT_BYTES];
};

/* For any document, by its kind (content.h). */
void tm_front_make(struct tm_front_page *front, const struct tm_value *summary);

/* Common to all documents: title, note, verdict, whether the input is damaged.  in: title  if the
 * user gave none */
void tm_front_begin(struct tm_front_page *front, const struct tm_value *summary, const char *title);
/* An empty buffer of TM_FRONT_BYTES for a fact.  in: title  lives as long as the program */
char *tm_front_add_fact(struct tm_front_page *front, const char *title);
/* A formatted fact, cut if it does not fit. */
void tm_front_say_fact(struct tm_front_page *front, const char *title, const char *format, ...) TM_PRINTF(3, 4);
void tm_front_of_report(struct tm_front_page *front, const struct tm_value *summary);

/* The first actions: the findings with potential savings, or all if none has any.
 * out:    pick  their places among the findings, `most` at most; returned: how many */
size_t tm_front_findings(const struct tm_value *summary, size_t most, size_t *pick);

/* A key figure, ready to be shown. */
struct tm_key_figure {
    const struct tm_value *kpi; /* of the summary: for tm_sign_of_kpi */
    const char *id, *title, *definition;
    const char *band; /* "good", "warning", "critical", "unknown"; "" if it is outside its band and costs nothing */
    const char *why;  /* why it has no value or no assessment, or costs nothing; "" = no note */
    size_t finding;   /* number of the finding with its savings, from 1; 0 = none */
    bool has_value;
    char value[TM_FORMAT_BYTES];                      /* with its unit; "" without */
    char good[TM_FORMAT_BYTES], bad[TM_FORMAT_BYTES]; /* limits, "> 80 %"; "" = none */
    double place; /* of the value on a scale of three equal parts, bad 0 to 1/3, warning, good 2/3 to 1; -1 = none */
};

/* Those that apply to this run; none if no figure has a value.  Model FLOP utilization and the step time
 * come first. */
size_t tm_kpi_count(const struct tm_value *summary);
void tm_kpi_at(struct tm_key_figure *out, const struct tm_value *summary, size_t index);

/* The tiles of the first screen: step time, model FLOP utilization if it is known, utilization, then the figures
 * outside their bands that have a finding with savings, the largest savings first.
 * out:    pick  places for tm_kpi_at; returned: how many */
enum { TM_KPI_TILES_MOST = 6 };
size_t tm_kpi_tiles(const struct tm_value *summary, size_t pick[TM_KPI_TILES_MOST]);

/* Details of a finding: how much could be saved, where more is reported, and where to look in the trace. */
enum { TM_FINDING_BYTES = 512, TM_FINDING_LINES = 8 /* of a list, in short media */ };

/* Where a finding can be examined. */
struct tm_place {
    char text[TM_FINDING_BYTES]; /* "at 0.367214627 s, for 1.35 s, gpu:0" */
    /* Finds its slices on Perfetto's SQL page, in the trace as recorded (Chrome JSON) and in what `convert` writes; ""
     * if the host is unknown. */
    char sql[TM_FINDING_BYTES];
};

/* in:     where  an element of a finding's "where" */
void tm_place_make(struct tm_place *out, const struct tm_value *summary, const struct tm_value *where);

/* The id of the section with more detail on a finding, by the finding's id: "gaps"; "coverage" for problems of the
 * profile. */
const char *tm_finding_section(const char *finding_id);
/* That section; NULL = the report of this run has none. */
const struct tm_section *tm_section_of_finding(const struct tm_value *summary, const struct tm_value *finding);

/* "potential savings 1.35 s of device time, 80.6% of the window", "measured 12%, limit 3 %"; as far as the finding
 * has them.
 * out:    TM_FINDING_BYTES, returned; "" = neither */
const char *tm_finding_stake(char *out, const struct tm_value *finding);

/* Its "link" to a file below the document's folder; NULL = no safe link. */
const char *tm_finding_link(const struct tm_value *finding);

/* A short form for lists: the time alone, "1.35 s", and its share: "80.6% of the window"; for a cause of a
 * comparison "+1.10 ms" and "87% of the change".
 * out:    TM_FORMAT_BYTES, returned; "" = there is none */
const char *tm_finding_time(char *out, const struct tm_value *finding);
const char *tm_finding_part(char *out, const struct tm_value *finding);

/* The content of a document, section by section, the same for every medium: page, PDF, text, Markdown, CSV.  A document
 * is a report of a run, a comparison ...  (content.h); its value tree is called the summary.  A section selects and
 * orders the content of the summary; a medium renders it.  Nothing is computed here: every figure is a member of the
 * summary (schemas/SUMMARY.md). */

struct tm_content;

struct tm_section {
    const char *id; /* of its anchor, and of its terms (content.h) */
    const char *title;
    const char *key; /* of the summary: if it has no value, the section is only named, under "Not recorded" */
    void (*say)(const struct tm_content *content);
    /* The reason why it is empty for this run, a clause; "" = it is not empty.  NULL = it never is. */
    const char *(*nothing)(const struct tm_value *summary);
    const char *platforms; /* platforms that have it, "gpu,tpu"; NULL = all */
    bool wants_enough;     /* empty for a run with too little data for an assessment */
    bool is_closing;       /* about the report and its input: folded on a page */
};

/* The interface of a medium.  The functions cannot fail: a medium records its failure, and its writer checks once, at
 * the end.  Strings may contain any bytes of a trace: the medium escapes them.  Tables and strings are borrowed until
 * the call returns.  A function that is NULL is not called. */
struct tm_medium {
    struct tm_room room;
    bool has_charts; /* draws them: tables that repeat a chart (tm_table.repeats_chart) are not given to it */
    void (*section)(void *to, const struct tm_section *section);
    void (*end_section)(void *to, const struct tm_section *section);
    void (*subheading)(void *to, const char *text);
    void (*paragraph)(void *to, enum tm_tone tone, const char *text);
    /* One row as a list of "title: value"; nulls have their reason. */
    void (*facts)(void *to, const struct tm_table *facts);
    void (*table)(void *to, const struct tm_table *table);
    void (*charts)(void *to, enum tm_chart_kind kind);                        /* all of that kind */
    void (*finding)(void *to, const struct tm_value *finding, size_t number); /* number: from 1 */
};

/* One walk over a summary. */
struct tm_content {
    const struct tm_value *summary;
    const struct tm_medium *medium;
    void *to;
    struct tm_run *run; /* its ledger owns the data that is too large for the stack */
    bool is_brief;      /* of the section being written: details are left out, see tm_content_say_section */
};

/* The section of that kind of document (content.h) with that id; NULL = there is none. */
const struct tm_section *tm_section_of(const struct tm_value *summary, const char *id);

/* Does this document have the section? Not if it belongs to another platform, is not supported by the input, or is
 * empty. */
bool tm_section_is_due(const struct tm_section *section, const struct tm_value *summary);

/* Why a section of this platform does not apply: a clause of the summary or of the section; "" = it applies, or the
 * section is for another platform. */
const char *tm_section_why_not(const struct tm_section *section, const struct tm_value *summary);

/* All sections that apply. */
void tm_content_say(const struct tm_content *content);
/* One of them.  Unless a finding leads to it, it is brief in a short medium, and everywhere where too little was
 * recorded: without the tables and charts that are details. */
void tm_content_say_section(const struct tm_content *content, const struct tm_section *section);
/* A report of a run with too little data for an assessment. */
bool tm_report_is_slight(const struct tm_value *summary);
/* Does a finding link to the section? */
bool tm_section_has_finding(const struct tm_section *section, const struct tm_value *summary);

/* A kind of document that the media can write: the report of a run, a comparison, a scaling study, the result of a
 * check.  The member "schema" of a value tree names its kind. */
struct tm_document {
    const char *schema;                       /* "tracemill.summary" */
    const char *what;                         /* "report": in titles and in "Skip to the report" */
    const char *kicker;                       /* above the title of a page of paper: "PERFORMANCE REPORT" */
    const char *made_by;                      /* "tracemill report" */
    const char *file;                         /* stem of the files that are drawn from it: "report", for report.html */
    const char *findings_title;               /* heading of the first findings on the first screen: "Top findings" */
    const char *findings_order;               /* of these, where they have times: "by potential savings"; NULL = none */
    const char *stake_of;                     /* what the time of a finding is time of: "device time", "a step" */
    const char *data;                         /* the file that has every figure: "summary.json" */
    const struct tm_doc_schema *fields;       /* of its values */
    const struct tm_section *const *sections; /* in their order */
    size_t section_count;
    void (*make_front)(struct tm_front_page *front, const struct tm_value *root);
    enum tm_chart_kind first_chart[2]; /* on the first page; the last of them also on the first screen */
    size_t first_charts;
};

extern const struct tm_document tm_report_document, tm_comparison_document, tm_comparison_of_many_document,
    tm_scaling_document, tm_check_document, tm_nightly_document, tm_hlo_document;

/* For a document; unknown ones are treated as reports. */
const struct tm_document *tm_document_of(const struct tm_value *root);

/* A small table of strings, filled from the left and from the top, that a report puts on its medium.  Fixed size: if
 * there are more rows than fit, a note says how many were omitted. */
enum { TM_SHEET_COLUMNS = 16, TM_SHEET_ROWS = 160, TM_SHEET_CELL_BYTES = 64, TM_SHEET_PROSE_BYTES = 16384 };

enum tm_column_kind {
    TM_COLUMN_WORD,   /* left-aligned, as wide as its widest cell */
    TM_COLUMN_NUMBER, /* right-aligned, as wide as its widest cell */
    TM_COLUMN_NAME,   /* left-aligned, shares the remaining width; cut in the middle */
    TM_COLUMN_PROSE,  /* left-aligned, shares the remaining width; wrapped */
};

struct tm_sheet {
    int columns, rows;
    int next;    /* column of the next cell of the last row */
    bool headed; /* column titles are printed */
    const char *title[TM_SHEET_COLUMNS];
    enum tm_column_kind kind[TM_SHEET_COLUMNS];
    uint8_t indent[TM_SHEET_ROWS]; /* of the first cell: levels of a tree */
    bool summed[TM_SHEET_ROWS];    /* a sum, with a rule above it */
    uint8_t tone[TM_SHEET_ROWS][TM_SHEET_COLUMNS];
    const char *text[TM_SHEET_ROWS][TM_SHEET_COLUMNS];
    char own[TM_SHEET_ROWS][TM_SHEET_COLUMNS][TM_SHEET_CELL_BYTES];
    size_t prose_used;
    char prose[TM_SHEET_PROSE_BYTES]; /* longer texts that belong to no summary */
};

void tm_sheet_start(struct tm_sheet *sheet, bool headed);
void tm_sheet_column(struct tm_sheet *sheet, const char *title, enum tm_column_kind kind);

/* Start the next row.  out: false if the sheet is full; then no cells may be added */
bool tm_sheet_row(struct tm_sheet *sheet);

/* Add a cell.  owns: the text is borrowed until the sheet is restarted */
void tm_sheet_text(struct tm_sheet *sheet, const char *text);

/* Add a cell.  out: its own buffer of TM_SHEET_CELL_BYTES to write into */
char *tm_sheet_room(struct tm_sheet *sheet);

/* Add a cell with a separate longer text, which is cut when the sheet's room for such texts is used up. */
void tm_sheet_prose(struct tm_sheet *sheet, const char *format, ...) TM_PRINTF(2, 3);

/* Remove a column. */
void tm_sheet_drop(struct tm_sheet *sheet, int column);

/* Share `width` among the columns.
 * in:     natural  width of the widest cell of each column, its title included
 *         gap      between two columns, in the same unit
 * out:     actual  widths that fit; elastic columns give way first, then the widest others */
void tm_sheet_widths(const struct tm_sheet *sheet, const double *natural, double width, double gap, double *actual);

/* A table of any number of rows, as one sheet after the other, all with the same columns. */
struct tm_sheet_source {
    /* Start the sheet, and fill it with the rows from that number on. out: how many; 0 = no more */
    size_t (*fill)(void *of, struct tm_sheet *sheet, size_t from);
    void *of;
};

/* Tables of the content as sheets of texts, for media other than the page: PDF and text. */

/* The most rows that may be requested: a sheet reserves two for sums. */
enum { TM_SHEET_ROOM = TM_SHEET_ROWS - 2, TM_NOTE_BYTES = 1024 };

/* Arrange a table and fill a sheet with it: titles, rows, the row of unlisted rows, the total.  Rows of trees are
 * indented.
 * in:     room    at most TM_SHEET_ROOM rows
 * out:    layout  for the notes below the table: tm_layout_note
 * owns:   texts are borrowed of the table and of the summary */
void tm_sheet_fill(struct tm_sheet *sheet, struct tm_layout *layout, const struct tm_table *table,
                   const struct tm_value *summary, const struct tm_room *room);

/* Fill a sheet of two columns without titles with facts: their titles and values; nulls have their reason. */
void tm_sheet_fill_facts(struct tm_sheet *sheet, const struct tm_table *facts, const struct tm_value *summary);

/* The sentences below a table, by their place: values that are the same in all rows, reasons of empty cells, how many
 * rows are not listed where no row sums them up.
 * out:    TM_NOTE_BYTES, any bytes; false = there is none at this place */
bool tm_layout_note(const struct tm_layout *layout, size_t at, char *out);

/* Short definitions of the figures and columns of the sections; the full text is in docs/metrics.md. */
struct tm_term {
    const char *section; /* id of the section (content.h); of several "ops|kernels", where they are of one document */
    const char *labels;  /* as the section has them, "Self time|Total time"; the first one is the term */
    const struct tm_doc_schema *schema; /* NULL: `text` is the definition */
    const char *text;                   /* paths of fields, "steps.warmup|steps.incomplete": it is their help */
};

extern const struct tm_term tm_terms[];
extern const size_t tm_term_count; /* at most TM_TERMS_MOST */
enum { TM_TERMS_MOST = 256 };

/* The index of a term in the list; -1 = the label needs none.  A label that starts with a name, as that of a side
 * of a comparison, is looked up without it, too: "run 7, how often" is "How often". */
int tm_term_find(const char *section, const char *label);
bool tm_term_is_of(const struct tm_term *term, const char *section);
enum { TM_TERM_BYTES = 512, TM_TERM_ID_BYTES = 64 };

/* Its name in links, the same whichever terms there are: "steps-excluded-as-warm-up", of its first section and label.
 * out:    returned */
const char *tm_term_id(int number, char out[TM_TERM_ID_BYTES]);
/* Its definition, in sentences.  out: returned, or another text */
const char *tm_term_text(int number, char out[TM_TERM_BYTES]);

#endif
