/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_DOC_FIELDS_H
#define TM_DOC_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

/* The fields of a document: each is declared once, with what its value is, what people call it and what it means.  From
 * these tables come schemas/NAME.schema.json and the page for people beside it (`make schemas`), the units of gates,
 * the kinds and titles of columns, and which strings are names that --redact replaces.
 *
 *     static const struct tm_doc_field pauses[] = {
 *         { "below_ps", TM_DOC_TIME, .title = "Shorter than" },
 *         { "longest", TM_DOC_OBJECT | TM_DOC_LIST, .title = "Longest ones", .fields = stretch, .most = 10 },
 *         { .key = NULL },
 *     };
 *
 * To add a figure: 1. a member of a row and its line in the row's table, the fold and the tm_add_* of the report, in a
 * file of stages/figures; 2. its line here, in the table of its object (summary_*fields.c), and `make schemas`; 3. its
 * column in reports/content, where a report shows it, and its row in reports/content/terms.c, if its help is to be
 * shown there. */
enum tm_doc_kind {
    TM_DOC_NONE,
    TM_DOC_OBJECT, /* of the fields `fields` */
    TM_DOC_BOOL,

    /* Strings. */
    TM_DOC_WORD,      /* a short text of the program: one of `words`, if they are listed */
    TM_DOC_TERM,      /* the same, but reports use their own words for it */
    TM_DOC_CAUSE,     /* of idle time */
    TM_DOC_DIRECTION, /* of a copy */
    TM_DOC_PROSE,     /* sentences; may hold names of the trace */
    TM_DOC_NAME,      /* a name of the trace, any bytes */
    TM_DOC_DEVICE,    /* the id of a device: "vm/gpu:0" */
    TM_DOC_HOST,      /* the name of a host */
    TM_DOC_PATH,      /* of a file, of a scope */
    TM_DOC_SOURCE,    /* of a column, not of a field: of step borders */
    TM_DOC_LINK, /* likewise: the path of a file below the document's folder.  A cell of the row (tm_table_link) links to
                   * it if the medium has links; it is not a separate column there, nor on paper */
    TM_DOC_CURVE, /* likewise: a list of times, drawn small in its row; only where the medium draws in cells */
    TM_DOC_VALUE, /* a string or a number */

    /* Numbers. */
    TM_DOC_TIME,    /* a length of time in picoseconds, not negative */
    TM_DOC_MOMENT,  /* a point in time, in picoseconds after the host's origin; an event may be before it */
    TM_DOC_DATE,    /* nanoseconds since 1970 */
    TM_DOC_NS,      /* nanoseconds, not negative: of the clock of a trace that was written */
    TM_DOC_US,      /* microseconds, as Chrome traces count */
    TM_DOC_COUNT,   /* whole, not negative */
    TM_DOC_INTEGER, /* integer: a number that names something, or whose unit is in a neighboring field */
    TM_DOC_BYTES,
    TM_DOC_RATE, /* bytes per second */
    TM_DOC_FLOPS,
    TM_DOC_FLOP_RATE,  /* FLOP per second */
    TM_DOC_SHARE,      /* percent, 0 to 100 */
    TM_DOC_PERCENT,    /* percent; may pass 100 */
    TM_DOC_CHANGE,     /* of a time, in picoseconds, with its sign */
    TM_DOC_CHANGE_PCT, /* percent, with its sign */
    TM_DOC_P,          /* the probability that chance alone causes a change this large: 0 to 1 */
    TM_DOC_NUMBER,
    TM_DOC_POINT, /* a point of a curve of memory: [time, bytes in use, bytes available] */
    TM_DOC_ROW,   /* an object of the fields of another document */
    TM_DOC_KIND_COUNT
};

/* Flags of a shape. */
enum {
    TM_DOC_LIST = 1 << 8,          /* a list of `least` to `most` such values */
    TM_DOC_MAP = 1 << 9,           /* an object with such values as members, named by `words` (none: any names) */
    TM_DOC_OR_NULL = 1 << 10,      /* may be null: `why` of its object has the reason */
    TM_DOC_OF_NULLS = 1 << 11,     /* elements of the list, or members of the map, may be null */
    TM_DOC_OPTIONAL = 1 << 12,     /* may be missing */
    TM_DOC_FRACTION = 1 << 13,     /* may have a fraction, or be larger than 64 bits hold */
    TM_DOC_FILLED = 1 << 14,       /* a string that is not empty */
    TM_DOC_UNIQUE = 1 << 15,       /* no element is in the list twice */
    TM_DOC_OWN = 1 << 16,          /* a string that cannot contain names: --redact leaves it unchanged */
    TM_DOC_NOT_NEGATIVE = 1 << 17, /* a NUMBER */
    TM_DOC_SUM = 1 << 18,          /* a sum over the analyzed steps; of an object: all of its members are */
    TM_DOC_ADDS = 1 << 19,         /* in rows without a `rest`: omitted rows of a list are summed in it */
    TM_DOC_MAIN = 1 << 20,         /* the list, or the map, that the name of its object refers to */
};

struct tm_doc_field {
    const char *key;
    unsigned shape;    /* enum tm_doc_kind, with flags */
    const char *title; /* of its column, and on the page; NULL = none, then `help` is required */
    const char *help;  /* its definition, in sentences, for schemas, pages, and reports; NULL = the title is
                        * sufficient */
    const char *words; /* "a|b|c"; NULL = any */
    const struct tm_doc_field *fields;
    double least, most;  /* of a number, the length of a string, or elements of a list; 0 = any */
    const char *pattern; /* of a string, or of the names in a map: a regular expression */
    const char *rule;    /* more members for the schema of the object, in JSON */
    /* For a list of the longest ones: the field beside it with the total count, and after '|' the one with their total
     * time; NULL = none. */
    const char *whole;
};

/* In the order of docs/metrics.md. */
#define TM_DOC_CAUSES "device_wait|launch|compile|input|sync|gc|profiler|host|unrecorded"
/* What a critical path consists of, and what replays of steps leave out. */
#define TM_DOC_PATH_KINDS "compute|collective|copy|" TM_DOC_CAUSES
#define TM_DOC_REPLAYS TM_DOC_PATH_KINDS "|stragglers|imbalance|compute_half|compute_quarter"
#define TM_DOC_DIRECTIONS "h2d|d2h|p2p|d2d|other"

/* A document and the strings of its schema and page. */
struct tm_doc_schema {
    const char *name;        /* "summary": schemas/summary.schema.json */
    const char *title;       /* of the schema */
    const char *page;        /* the head of the page, in Markdown */
    const char *page_path;   /* "schemas/SUMMARY.md" */
    const char *definitions; /* of the figures: "docs/metrics.md" */
    const struct tm_doc_field *fields;
};

extern const struct tm_doc_schema tm_summary_schema, tm_comparison_schema, tm_scaling_schema, tm_check_schema,
    tm_night_schema, tm_brief_schema, tm_show_schema, tm_query_schema, tm_split_schema, tm_result_schema, tm_hlo_schema;
const struct tm_doc_schema *tm_history_schema(void); /* of a row: made with the figures that the history keeps */

/* Rows of `show` that are not a list of a document: figures, and the contents. */
extern const struct tm_doc_field tm_doc_figure_row[], tm_doc_content_row[];

static inline enum tm_doc_kind tm_doc_kind_of(const struct tm_doc_field *field)
{
    return (enum tm_doc_kind)(field->shape & (TM_DOC_LIST - 1));
}

static inline bool tm_doc_is_text(enum tm_doc_kind kind)
{
    return kind >= TM_DOC_WORD && kind <= TM_DOC_VALUE;
}

static inline bool tm_doc_is_number(enum tm_doc_kind kind)
{
    return kind >= TM_DOC_TIME && kind <= TM_DOC_NUMBER;
}

/* What such a value is, in a word or two: "duration", "bytes/s", "name". */
const char *tm_doc_kind_name(enum tm_doc_kind kind);

/* What a number of that kind counts: "ps", "ns", "us", "bytes", "bytes/s", "FLOP/s", "%"; "" = nothing, or it is not a
 * number. */
const char *tm_doc_unit(enum tm_doc_kind kind);

/* The field of that key, of N bytes; NULL = there is none.  in: fields  NULL = none */
const struct tm_doc_field *tm_doc_field_by_key(const struct tm_doc_field *fields, const char *key, size_t length);

/* A place in a document, on the way down. */
struct tm_doc_place {
    const struct tm_doc_field *field; /* of the value there; NULL = it is not declared, or the document itself */
    const struct tm_doc_field *below; /* the fields of its members; NULL = none are declared, or it is a map */
    bool is_map;                      /* its members have the same field */
};

/* Go to a member.  An element of a list has the place of the list. */
void tm_doc_enter(struct tm_doc_place *place, const char *key, size_t length);

/* The same by a piece of a path: "steps", ".median_ps", "[0]", "[vm/gpu:1]". */
void tm_doc_enter_piece(struct tm_doc_place *place, const char *piece, size_t length);

/* The place at the end of a path, in the syntax of tm_path.
 * in: fields  where the path starts
 * out: false: it leads nowhere */
bool tm_doc_place_at(struct tm_doc_place *place, const struct tm_doc_field *fields, const char *path);

/* Is the figure at that path a sum over the analyzed steps, so that twice as many steps give twice the value? */
bool tm_doc_is_sum(const struct tm_doc_field *fields, const char *path);

/* Continue along a path. out: the field at its end; NULL = there is none */
const struct tm_doc_field *tm_doc_walk(struct tm_doc_place *place, const char *path);

/* The field by its path, in the syntax of tm_path: "gaps.longest[3].dur_ps", "gaps.by_cause.host.count"; NULL = there
 * is none.
 * in: fields  where the path starts */
const struct tm_doc_field *tm_doc_field_at(const struct tm_doc_field *fields, const char *path);

/* Tables that are defined in one file and used in another. */
extern const struct tm_doc_field tm_doc_window[];
extern const struct tm_doc_field tm_doc_steps[];
extern const struct tm_doc_field tm_doc_devices[];
extern const struct tm_doc_field tm_doc_unused[];
extern const struct tm_doc_field tm_doc_total[];
extern const struct tm_doc_field tm_doc_gaps[];
extern const struct tm_doc_field tm_doc_critical_path[];
extern const struct tm_doc_field tm_doc_kernels[];
extern const struct tm_doc_field tm_doc_fusion[];
extern const struct tm_doc_field tm_doc_occupancy[];
extern const struct tm_doc_field tm_doc_programs[];
extern const struct tm_doc_field tm_doc_transfers[];
extern const struct tm_doc_field tm_doc_ops[];
extern const struct tm_doc_field tm_doc_scopes[];
extern const struct tm_doc_field tm_doc_collectives[];
extern const struct tm_doc_field tm_doc_host[];
extern const struct tm_doc_field tm_doc_compile[];
extern const struct tm_doc_field tm_doc_memory[];
extern const struct tm_doc_field tm_doc_roofline[];
extern const struct tm_doc_field tm_doc_balance[];
extern const struct tm_doc_field tm_doc_sharding[];
extern const struct tm_doc_field tm_doc_fallback[];
extern const struct tm_doc_field tm_doc_rest[];
extern const struct tm_doc_field tm_doc_place[];

/* In all documents: the program that wrote them, the user's notes, and the places of findings. */
extern const struct tm_doc_field tm_doc_tool[];
extern const struct tm_doc_field tm_doc_report[];
extern const struct tm_doc_field tm_doc_where[];
/* A run of a comparison, or of a scaling study. */
extern const struct tm_doc_field tm_doc_compared_run[];

#endif
