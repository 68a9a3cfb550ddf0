/* SPDX-License-Identifier: Apache-2.0 */
/* The HTML writer: a stack of open elements and one escaping function.  It allocates nothing; texts
 * of any length pass through a small window.  Escapes: HTML Living Standard, 13.1.2.3 (attribute
 * values) and 13.3. */
#include "reports/html/htmlw.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "pipeline/utf8.h"
#include "reports/format/format.h"

static void put(struct tm_htmlw *w, const char *text)
{
    (void)fputs(text, w->to);
}

static void end_tag(struct tm_htmlw *w)
{
    if (w->in_tag)
        (void)fputc('>', w->to);
    w->in_tag = false;
}

/* The one place where a text enters the page.  The same escapes serve text and quoted attribute
 * values. */
static void put_escaped(struct tm_htmlw *w, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        switch (text[i]) {
        case '&':
            put(w, "&amp;");
            break;
        case '<':
            put(w, "&lt;");
            break;
        case '>':
            put(w, "&gt;");
            break;
        case '"':
            put(w, "&quot;");
            break;
        case '\'':
            put(w, "&#39;");
            break;
        default:
            (void)fputc(text[i], w->to);
        }
    }
}

/* Bytes of a text that stand for themselves, in the page and to the eye. */
static size_t plain_bytes(const char *text)
{
    size_t n = 0;

    while (text[n] >= ' ' && text[n] <= '~' && text[n] != '&' && text[n] != '<' && text[n] != '>' && text[n] != '"' &&
           text[n] != '\'')
        n++;
    return n;
}

static void put_text(struct tm_htmlw *w, const char *text)
{
    size_t left = strlen(text);
    char seen[64];

    /* Else character by character, so that the window never cuts one. */
    while (left > 0) {
        size_t n = plain_bytes(text);
        uint32_t code;

        if (n > 0) {
            (void)fwrite(text, 1, n, w->to);
        } else {
            n = tm_utf8_next(text, left, &code);
            n += n == 0;
            put_escaped(w, seen, tm_format_visible(seen, sizeof(seen), text, n));
        }
        text += n;
        left -= n;
    }
}

void tm_htmlw_open(struct tm_htmlw *w, const char *name)
{
    assert(w->depth < TM_HTMLW_DEPTH);
    end_tag(w);
    (void)fputc('<', w->to);
    put(w, name);
    w->in_tag = true;
    w->open[w->depth++] = name;
}

void tm_htmlw_class(struct tm_htmlw *w, const char *name, const char *class_name)
{
    tm_htmlw_open(w, name);
    tm_htmlw_attr(w, "class", class_name);
}

void tm_htmlw_close(struct tm_htmlw *w)
{
    assert(w->depth > 0);
    end_tag(w);
    put(w, "</");
    put(w, w->open[--w->depth]);
    (void)fputc('>', w->to);
}

void tm_htmlw_close_line(struct tm_htmlw *w)
{
    tm_htmlw_close(w);
    (void)fputc('\n', w->to);
}

void tm_htmlw_leaf(struct tm_htmlw *w)
{
    assert(w->depth > 0 && w->in_tag);
    put(w, "/>");
    w->in_tag = false;
    w->depth--;
}

static void begin_attr(struct tm_htmlw *w, const char *name)
{
    assert(w->in_tag);
    (void)fputc(' ', w->to);
    put(w, name);
    put(w, "=\"");
}

void tm_htmlw_attr(struct tm_htmlw *w, const char *name, const char *value)
{
    begin_attr(w, name);
    put_text(w, value);
    (void)fputc('"', w->to);
}

void tm_htmlw_attr_int(struct tm_htmlw *w, const char *name, int64_t value)
{
    begin_attr(w, name);
    (void)fprintf(w->to, "%" PRId64 "\"", value);
}

/* Shortest form of a number to 1/100: "12", "12.5", "-0.25".  Integers only, so no locale can put a
 * comma. */
static void put_number(struct tm_htmlw *w, double value)
{
    const long long hundredths = isfinite(value) && fabs(value) < 1e12 ? llround(value * 100) : 0;
    const long long size = hundredths < 0 ? -hundredths : hundredths;

    (void)fprintf(w->to, "%s%lld", hundredths < 0 ? "-" : "", size / 100);
    if (size % 10)
        (void)fprintf(w->to, ".%02lld", size % 100);
    else if (size % 100)
        (void)fprintf(w->to, ".%lld", size % 100 / 10);
}

void tm_htmlw_attr_number(struct tm_htmlw *w, const char *name, double value)
{
    begin_attr(w, name);
    put_number(w, value);
    (void)fputc('"', w->to);
}

void tm_htmlw_text(struct tm_htmlw *w, const char *text)
{
    end_tag(w);
    put_text(w, text);
}

void tm_htmlw_printf(struct tm_htmlw *w, const char *format, ...)
{
    char text[4096];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    tm_htmlw_text(w, text);
}

void tm_htmlw_element(struct tm_htmlw *w, const char *name, const char *class_name, const char *text)
{
    tm_htmlw_open(w, name);
    if (class_name)
        tm_htmlw_attr(w, "class", class_name);
    tm_htmlw_text(w, text);
    tm_htmlw_close(w);
}

void tm_htmlw_verbatim(struct tm_htmlw *w, const char *bytes, size_t length)
{
    end_tag(w);
    (void)fwrite(bytes, 1, length, w->to);
}

void tm_htmlw_begin_points(struct tm_htmlw *w, const char *name)
{
    begin_attr(w, name);
}

void tm_htmlw_point(struct tm_htmlw *w, double x, double y)
{
    put_number(w, x);
    (void)fputc(',', w->to);
    put_number(w, y);
    (void)fputc(' ', w->to);
}

void tm_htmlw_end_points(struct tm_htmlw *w)
{
    (void)fputc('"', w->to);
}
