/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FINDINGS_H
#define TM_FINDINGS_H

#include <stddef.h>
#include <stdint.h>

#include "pipeline/doc/doc.h"
#include "reports/findings/thresholds.h"

/* The texts of the findings: schemas/findings.json, which scripts/embed-findings.py compiles into a table, so that
 * nothing is parsed at run time.
 *
 * To add a finding:
 * 1. Add a row to schemas/findings.json: id, section (the one that shows more), title, causes, advice.  Optional:
 *    `evidence`, its sentences by name, with their values in braces (below; sentences of several findings are in
 *    the `evidence` of the file itself); `severity`, needed if there are no potential savings (otherwise their share of
 *    the window decides); `about`, if it concerns the profile and not the run; `verdict`, how the verdict names it (by
 *    default it quotes the title); `replay`, what replays of the steps leave out to check its potential savings, apart
 *    from idle time (finding.c); `kpis`, the key figures that it explains; `unless`, findings that replace it, as
 *    they are more specific.
 * 2. Write the function that measures it, in the file of its area, reports/findings/AREA_findings.c.  It starts the
 *    finding by its id, adds value, title arguments and cases, and names the sentences of its evidence, each with the
 *    row of the summary that it is about (finding.h).  Call it from the tm_find_ function at the end of that file.
 * 3. Test it on a summary in tests/unit/test_findings.c, and document in docs/metrics.md when it is reported.
 *
 * Texts, key figures and variants can have conditions.  `for` names platforms, frameworks and purposes; the run has to
 * match one of each kind that is named.  `when` names cases that the measuring function sets with tm_finding_case; all
 * of them have to be set, "a|b" means either.  Title, severity, causes and advice come from the first variant that
 * matches and has them, or else from the row itself.  The first cause that matches is reported, and all advice. */

/* Sentences with named values, as schemas/findings.json has them:
 *
 *   "Run of {kernels:count} kernels over {dur_ps} at {begin_ps:moment} on {device}[ in step {step:integer}]."
 *
 * A value is looked up by its name among those that the caller gives, then as a path in the row that the sentence is
 * about, then as a path in the summary.  Its kind follows from the end of its name (_ps, _pct, _bytes, count, name,
 * device) or is after a colon.  What is in brackets is left out if a value in it is missing, null or empty;
 * "[a {b}|c]" gives "c" instead, and "[{b=word} d]" gives " d" if the value is that text.  An empty sentence is not
 * added.  scripts/embed-findings.py checks the form and compiles it into parts. */

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
    TM_SENTENCE_DEVICE,     /* the same for a device id, without the common prefix */
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

/* in:     value  of a kind that is not an integer: percent, bytes, rates, decimals */
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

/* Which runs a text is for. */
enum tm_audience {
    TM_FOR_GPU = 1,
    TM_FOR_TPU = 2,
    TM_FOR_JAX = 4,
    TM_FOR_TORCH = 8,
    TM_FOR_OTHER = 16, /* the framework is unknown, or there are several */
    TM_FOR_TRAIN = 32, /* a backward pass is in the profile, or nothing says that there is none */
    TM_FOR_INFER = 64,
    TM_FOR_CPU = 128, /* the devices are CPUs */
    TM_FOR_TENSORFLOW = 256,
};

/* The platform, framework and purpose of a run, as a set of enum tm_audience.
 * in:     summary  or what `inspect` found */
unsigned tm_audience_of(const struct tm_value *summary);

/* A text outside of the table may start with the runs that it is for: "gpu|...", "train,torch,other|...".
 * out:    the text without this prefix; NULL if it is for other runs */
const char *tm_text_for(unsigned audience, const char *text);

enum tm_severity {
    TM_SEVERITY_BY_SHARE, /* of potential savings */
    TM_INFO,
    TM_WARNING,
    TM_CRITICAL
};

enum tm_finding_about {
    TM_ABOUT_RUN,
    TM_ABOUT_PROFILE, /* a problem of the profile, not of the run: reported last */
    TM_ABOUT_DEFECT,  /* the same, of figures that contradict each other: level "defect" */
};

struct tm_condition {
    unsigned audience; /* 0 = any */
    uint32_t cases[2]; /* of each set that is not empty one case has to be given; bits: places in the row's `cases` */
};

/* About a run and a finding in it. */
struct tm_situation {
    unsigned audience;
    uint32_t cases;
};

struct tm_finding_text {
    const char *text; /* NULL ends a list */
    struct tm_condition condition;
};

struct tm_finding_kpi {
    const char *id; /* NULL ends a list */
    unsigned audience;
    const char *of; /* only if the longest operation has this category; NULL = any */
};

/* NULL, or a severity of 0: taken from the next variant that matches. */
struct tm_finding_variant {
    struct tm_condition condition;
    enum tm_severity severity;
    const char *title; /* with the arguments in braces: "{share} of it" */
    const struct tm_finding_text *causes, *advice;
};

struct tm_finding_row {
    const char *id, *section;
    enum tm_finding_about about;
    const char *verdict;                         /* NULL = none */
    const char *replay;                          /* what replays leave out to save its busy time; NULL = none do */
    const char *const *cases, *const *arguments; /* their names, which end with NULL */
    const char *const *unless;                   /* ids of findings that replace it; end with NULL */
    const struct tm_finding_kpi *kpis;
    const struct tm_finding_variant *variants; /* the last one is the row itself: no condition, all texts */
    size_t variant_count;
    const struct tm_sentence *evidence;
};

extern const struct tm_finding_row tm_finding_rows[]; /* by id */
extern const size_t tm_finding_row_count;
extern const struct tm_sentence *const tm_shared_evidence; /* sentences of several findings */

/* The row of an id; NULL = not a finding of a run. */
const struct tm_finding_row *tm_finding_row(const char *id);

/* Does a finding with this id explain the value of a key figure?
 * in:     top_category  of the longest operation */
bool tm_finding_explains(const char *id, const char *kpi, unsigned audience, const char *top_category);

/* The bit of a case.  Naming a case that the row does not have is a programming error. */
uint32_t tm_finding_case_bit(const struct tm_finding_row *row, const char *name);
/* The parts of a sentence of its evidence; naming one that neither the row nor the shared list has is a programming
 * error. */
const struct tm_sentence_part *tm_finding_sentence(const struct tm_finding_row *row, const char *name);
bool tm_finding_has_argument(const struct tm_finding_row *row, const char *name);

/* out:    TM_SEVERITY_BY_SHARE: the table gives none */
enum tm_severity tm_finding_severity_for(const struct tm_finding_row *row, struct tm_situation situation);
/* out:    never NULL: texts of the table, the title with its placeholders; cause "" = none fits */
const char *tm_finding_title_for(const struct tm_finding_row *row, struct tm_situation situation);
const char *tm_finding_cause_for(const struct tm_finding_row *row, struct tm_situation situation);
/* Matching advice, one by one in the order of the table.
 * in:     *next  NULL to start
 * out:    NULL = no more; *next  where to continue */
const char *tm_finding_next_advice(const struct tm_finding_row *row, struct tm_situation situation,
                                   const struct tm_finding_text **next);

/* What a summary with the sections of the stages is assessed by, in this order: marks, findings, key figures,
 * verdict. */

/* Write coverage.marks: missing or damaged parts of the input, as sentences, with the sections and key figures that
 * they affect.  The key figures name them (tm_kpis_add), and reports show them beside the figures
 * (reports/format/format.h).
 * in:     summary  with the sections of the stages
 * out:    coverage.marks[] {id, text, sections[], kpis[]} in the order of a fixed table, each id once
 * errors: those of the document, in run->error */
tm_status tm_marks_add(struct tm_run *run, struct tm_value *summary);

/* Write summary.findings: costs and defects of the profile, by potential savings, followed by facts, the more severe
 * first.
 * in:     summary  with all sections of the stages
 * out:    summary.findings[], empty for a healthy run
 * errors: TM_ERR_LIMIT no memory; those of the document, in run->error */
tm_status tm_findings_add(struct tm_run *run, struct tm_value *summary, const struct tm_thresholds *t);

/* Write summary.kpis: the figures of the first page, each with its band.
 * in:     summary  with all sections of the stages and findings
 * out:     summary.kpis[] {id, title, value, unit, band, why, note, good, bad, marks, definition, applies, finding} in
 *          the order of enum tm_kpi; value null and band "unknown" where the input or this version has no figure:
 *          `why`
 * errors: those of the document, in run->error */
tm_status tm_kpis_add(struct tm_run *run, struct tm_value *summary, const struct tm_thresholds *t);

/* "good", "warning" or "bad"; "unknown" without bands. */
const char *tm_kpi_band(const struct tm_threshold *kpi, double value);

/* Write the checks of `inspect`: {"id", "title", "unit", "holds", "expected", "found", "where"}, as in a summary.
 * in:     found  with files, contents, and coverage */
void tm_check_inspection(struct tm_value *found);

/* Write summary.verdict: one or two sentences on how busy the device is and what costs most.
 * in:     summary  with findings */
tm_status tm_verdict_add(struct tm_run *run, struct tm_value *summary, const struct tm_thresholds *t);

#endif
