/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HTML_WORDS_H
#define TM_HTML_WORDS_H

#include "reports/html/html_page.h"

/* Names, sentences, labels and judgements: what all parts of the page are made of. */

/* A name of the trace, cut in the middle to so many characters; what was cut opens to the full text, as long as the
 * page has room. */
enum { TM_NAME_CHARS = 48, TM_NAME_NARROW = 32, TM_NAME_WIDE = 80, TM_NAME_FACT = 200 };
void tm_page_name(struct tm_page *page, const char *name, size_t chars);

/* The same inside an element that was just opened, such as a link: what was cut becomes its title. */
void tm_page_cut_name(struct tm_page *page, const char *name, size_t chars);

/* A sentence that may hold names of the trace, cut after 2 KiB. */
void tm_page_text(struct tm_page *page, const char *text);
/* Advice of the program: what stands between backticks is code. */
void tm_page_advice(struct tm_page *page, const char *text);

/* The title of a figure or a column, linked to its definition where it has one (terms.h), which it also shows. */
void tm_page_label(struct tm_page *page, const char *label);

/* A judgement: the word with a sign of its own shape, in its colour. */
void tm_page_band(struct tm_page *page, enum tm_tone tone);
/* "good", "warning", "bad", "critical", "info", "unknown": the class of a tone, and "" of one that is no judgement. */
const char *tm_tone_class(enum tm_tone tone);

/* Letters of the marks of a section, or of a key figure: each a link to where they are told, its text being its title.
 * Nothing where there are none. */
void tm_page_section_marks(struct tm_page *page, const char *section);
void tm_page_kpi_marks(struct tm_page *page, const struct tm_value *kpi);

/* A link inside the page: <a href="#word-number">, or "#word" for a number below 0; left open. */
void tm_page_open_link(struct tm_page *page, const char *word, int number);
/* An id: "word-number". */
void tm_page_id(struct tm_page *page, const char *word, int number);

/* What has no value or no judgement, gathered to be told in one line: "Not recorded: FLOPs, Bytes (the HLO is not in
 * the file)."  Those with the same reason stand together. */
enum { TM_MISSING_MOST = TM_TABLE_COLUMNS_MOST * TM_REASONS_MOST };
struct tm_missing {
    const char *title[TM_MISSING_MOST], *why[TM_MISSING_MOST];
    size_t count;
};
void tm_missing_add(struct tm_missing *missing, const char *title, const char *why);
/* in: what  the line begins with: "Not recorded" */
void tm_page_missing(struct tm_page *page, const char *what, const struct tm_missing *missing);

#endif
