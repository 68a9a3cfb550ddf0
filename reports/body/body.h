/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_BODY_H
#define TM_BODY_H

#include "pipeline/doc.h"
#include "reports/content/sheet.h"

/* What a printed report says, section by section.  The text and the PDF report walk the same
 * sections and differ only in the form they give to headings, paragraphs and tables, so that they
 * cannot disagree. */

/* How a medium takes what is said.  The functions cannot fail: a medium remembers its failure and
 * its writer looks once, at the end.  Texts may hold any bytes that a trace can bring: the medium
 * makes them safe. */
struct tm_form {
    void (*heading)(void *to, const char *text);
    void (*subheading)(void *to, const char *text);
    void (*paragraph)(void *to, enum tm_tone tone, const char *text);
    void (*item)(void *to, const char *label, const char *text); /* label: "fix", "-"; text hangs */
    void (*sheet)(void *to, const struct tm_sheet *sheet);
};

enum { TM_BODY_REASONS = 8, TM_BODY_TITLE_BYTES = 256 };

/* One walk over a summary.  Zeroed by the caller, who sets the first group. */
struct tm_body {
    const struct tm_value *summary;
    const struct tm_form *form;
    void *to;
    struct tm_sheet *sheet; /* room for one table, owned by the caller */
    int kernel_rows;        /* at most this many kernels; at most TM_SHEET_ROWS - 2 */
    int finding_rows;       /* at most this many findings in full */

    struct {
        const char *title, *why;
    } reason[TM_BODY_REASONS]; /* why cells of the current table are empty, each once */
    int reasons;
};

/* Is the input damaged, so that the report has to say so at its top? */
bool tm_body_is_partial(const struct tm_body *body);

/* The sentence of the banner. */
extern const char tm_body_partial_text[];

/* The title of a report: run, hosts, devices.  out: TM_BODY_TITLE_BYTES; any bytes, as names are */
void tm_body_title(char *out, const struct tm_value *summary);

/* The parts of the first page. */
void tm_body_facts(struct tm_body *body); /* run, hosts, devices, window */
void tm_body_verdict(struct tm_body *body);
void tm_body_kpis(struct tm_body *body);
void tm_body_top_findings(struct tm_body *body, int count); /* one line each */

/* The sections, each with its heading. */
struct tm_section {
    const char *title, *key; /* key: of the summary; what touches it is marked */
    void (*write)(struct tm_body *body);
};

extern const struct tm_section tm_old_sections[];
extern const size_t tm_old_section_count;

/* All of them; those that the input cannot support say why, together at the end. */
void tm_body_sections(struct tm_body *body);

#endif
