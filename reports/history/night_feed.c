/* SPDX-License-Identifier: Apache-2.0 */
/* What others read beside the page of a night: feed.atom (RFC 4287), an entry for the night and for each regression, and
 * status.svg, a badge.  Both follow from the document of the night alone, so a repeated merge gives the same bytes;
 * all addresses are relative. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/doc/doc.h"
#include "pipeline/store/groups.h"
#include "reports/format/format.h"
#include "reports/history/history.h"

static const char *text_of(const struct tm_value *row, const char *key)
{
    return tm_text(tm_get(row, key));
}

static tm_status end_file(struct tm_run *run, FILE *to, const char *what)
{
    if (!ferror(to))
        return TM_OK;
    return tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot write %s", what);
}

/* --- feed.atom --- */

/* An id that stays the same for the same words: a UUID of version 8 (RFC 9562, 5.8).
 * in: batch  what tells this batch from others;  words  what tells the entry from others of its kind */
static void put_id(FILE *to, const char *batch, const char *kind, const char *words)
{
    const char *const part[] = { "tracemill", batch, kind, words };
    const struct tm_key hash = tm_hash_texts(part, sizeof(part) / sizeof(part[0]));

    (void)fprintf(to, "<id>urn:uuid:%08" PRIx64 "-%04" PRIx64 "-8%03" PRIx64 "-%04" PRIx64 "-%012" PRIx64 "</id>\n",
                  hash.high >> 32, hash.high >> 16 & 0xffff, hash.high & 0xfff, (hash.low >> 48 & 0x3fff) | 0x8000,
                  hash.low & 0xffffffffffff);
}

/* Batches have different roots, which the id of a run contains; a title is not unique, and may be changed. */
static const char *batch_of(const struct tm_value *night)
{
    return text_of(night, "first_run");
}

/* Nights are days. */
static void put_updated(FILE *to, const char *night)
{
    (void)fprintf(to, "<updated>%sT00:00:00Z</updated>\n", night[0] ? night : "1970-01-01");
}

static void put_element(FILE *to, const char *name, const char *text)
{
    (void)fprintf(to, "<%s>", name);
    tm_format_xml(to, text);
    (void)fprintf(to, "</%s>\n", name);
}

static void put_link(FILE *to, const char *href)
{
    (void)fputs("<link rel=\"alternate\" type=\"text/html\" href=\"", to);
    tm_format_xml(to, href);
    (void)fputs("\"/>\n", to);
}

static void put_night(FILE *to, const struct tm_value *night)
{
    const char *const date = text_of(night, "night");
    const struct tm_value *const verdict = tm_get(night, "verdict");

    (void)fputs("<entry>\n", to);
    put_id(to, batch_of(night), "night", date);
    (void)fputs("<title>Night of ", to);
    tm_format_xml(to, date);
    (void)fputs("</title>\n", to);
    put_updated(to, date);
    put_link(to, "index.html");
    (void)fputs("<category term=\"night\"/>\n", to);
    put_element(to, "summary", text_of(verdict, "text"));
    (void)fputs("</entry>\n", to);
}

/* The night in which something about it was last new. */
static const char *night_of(const struct tm_value *row)
{
    static const char *const keys[] = { "closed", "decided", "opened" };

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (text_of(row, keys[i])[0])
            return text_of(row, keys[i]);
    }
    return "";
}

/* A piece of a sentence, if there is one. */
static void put_piece(FILE *to, const char *before, const char *text)
{
    if (!text[0])
        return;
    (void)fputs(before, to);
    tm_format_xml(to, text);
}

static void put_regression(FILE *to, const char *batch, const struct tm_value *row)
{
    const char *const report = text_of(row, "report");
    const char *const state = text_of(row, "state");

    (void)fputs("<entry>\n", to);
    put_id(to, batch, "regression", text_of(row, "regression"));
    (void)fputs("<title>", to);
    tm_format_xml(to, text_of(row, "job"));
    put_piece(to, ": ", text_of(row, "title"));
    put_piece(to, " ", text_of(row, "change_text"));
    put_piece(to, " since ", text_of(row, "since"));
    (void)fputs(", ", to);
    tm_format_xml(to, strcmp(state, "opened") == 0 ? "new" : state);
    (void)fputs("</title>\n", to);
    put_updated(to, night_of(row));
    put_link(to, report[0] ? report : "index.html#regressions");
    (void)fputs("<category term=\"", to);
    tm_format_xml(to, state);
    (void)fputs("\"/>\n<summary>", to);
    tm_format_xml(to, text_of(row, "before_text"));
    put_piece(to, " -> ", text_of(row, "after_text"));
    put_piece(to, ". Cause: ", text_of(row, "cause"));
    put_piece(to, ". Revision ", text_of(row, "revision"));
    put_piece(to, ", before ", text_of(row, "revision_before"));
    put_piece(to, ". Reason: ", text_of(row, "reason"));
    (void)fputs("</summary>\n</entry>\n", to);
}

tm_status tm_night_feed_write(struct tm_run *run, const struct tm_value *night, FILE *to)
{
    static const char *const lists[] = { "regressions", "closed", "acknowledged" };
    const char *const title = tm_text(tm_path(night, "report.title"));

    (void)fputs("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n", to);
    put_id(to, batch_of(night), "batch", "");
    put_element(to, "title", title[0] ? title : "Performance of every night");
    put_updated(to, text_of(night, "night"));
    (void)fprintf(to,
                  "<author><name>tracemill</name></author>\n<generator version=\"%s\">tracemill</generator>\n"
                  "<link rel=\"self\" type=\"application/atom+xml\" href=\"feed.atom\"/>\n",
                  TM_VERSION);
    put_link(to, "index.html");
    if (text_of(night, "night")[0])
        put_night(to, night);
    for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++) {
        const struct tm_value *const rows = tm_get(night, lists[k]);

        for (size_t i = 0; i < tm_length(rows); i++)
            put_regression(to, batch_of(night), tm_at(rows, i));
    }
    (void)fputs("</feed>\n", to);
    return end_file(run, to, "the feed of the night");
}

/* --- status.svg --- */

/* Estimated: the text is stretched to this width, so that every font fits. */
static unsigned width_of(const char *text)
{
    return (unsigned)strlen(text) * 7 + 12;
}

static const char *say_status(const struct tm_value *night, char text[64])
{
    static const char good[] = "#1a7f37", bad[] = "#b3261e", doubtful[] = "#8a5a00", unknown[] = "#57606a";
    const struct tm_value *const counts = tm_get(night, "counts");
    const int64_t open = tm_int(tm_get(counts, "regressions_open"));
    const int64_t lost =
        tm_int(tm_get(counts, "refused")) + tm_int(tm_get(counts, "failed")) + tm_int(tm_get(counts, "missing"));

    if (open > 0)
        (void)snprintf(text, 64, "%" PRId64 " regression%s open", open, tm_format_plural((uint64_t)open));
    else if (lost > 0)
        (void)snprintf(text, 64, "%" PRId64 " run%s failed", lost, tm_format_plural((uint64_t)lost));
    else
        (void)snprintf(text, 64, "%s", text_of(night, "night")[0] ? "ok" : "no runs");
    return open > 0 ? bad : lost > 0 ? doubtful : text_of(night, "night")[0] ? good : unknown;
}

static void put_half(FILE *to, unsigned at, unsigned width, const char *color, const char *text)
{
    (void)fprintf(to,
                  "<rect x=\"%u\" width=\"%u\" height=\"20\" fill=\"%s\"/>\n"
                  "<text x=\"%u\" y=\"14\" textLength=\"%u\" fill=\"#ffffff\">%s</text>\n",
                  at, width, color, at + 6, width - 12, text);
}

tm_status tm_night_badge_write(struct tm_run *run, const struct tm_value *night, FILE *to)
{
    static const char name[] = "nightly performance";
    char text[64];
    const char *const color = say_status(night, text);
    const unsigned left = width_of(name), right = width_of(text);

    (void)fprintf(to,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"20\" viewBox=\"0 0 %u 20\" "
                  "role=\"img\" aria-label=\"%s: %s\" font-family=\"Verdana,DejaVu Sans,sans-serif\" "
                  "font-size=\"11\">\n<title>%s: %s</title>\n",
                  left + right, left + right, name, text, name, text);
    put_half(to, 0, left, "#444c56", name);
    put_half(to, left, right, color, text);
    (void)fputs("</svg>\n", to);
    return end_file(run, to, "the badge of the night");
}
