/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/markdown/mdw.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "reports/format/format.h"

enum { NAME_BYTES = 4 * TM_MD_NAME_MOST + 1, RAW_BYTES = 256, SHORT_HASH = 7 };

/* --- bytes --- */

void tm_mdw_init(struct tm_mdw *w, char *room, size_t bytes)
{
    *w = (struct tm_mdw){ .at = room, .bytes = bytes };
    room[0] = 0;
}

static void put(struct tm_mdw *w, const char *bytes, size_t length)
{
    if (w->is_full || length >= w->bytes - w->used) {
        w->is_full = true;
        return;
    }
    memcpy(w->at + w->used, bytes, length);
    w->used += length;
    w->at[w->used] = 0;
}

void tm_mdw_raw(struct tm_mdw *w, const char *markdown)
{
    put(w, markdown, strlen(markdown));
}

void tm_mdw_rawf(struct tm_mdw *w, const char *format, ...)
{
    char text[RAW_BYTES];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    tm_mdw_raw(w, text);
}

/* --- inline code --- */

static size_t longest_fence(const char *text, size_t length)
{
    size_t longest = 0, run = 0;

    for (size_t i = 0; i < length; i++) {
        run = text[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

static void put_fence(struct tm_mdw *w, size_t length)
{
    for (size_t i = 0; i < length; i++)
        put(w, "`", 1);
}

/* In a table a bar is escaped even in code, and what a backslash before it means differs among readers. */
static void put_bar(struct tm_mdw *w, bool after_backslash)
{
    tm_mdw_raw(w, after_backslash ? "\\x7c" : "\\|");
}

/* in: text  visible, not empty */
static void put_code(struct tm_mdw *w, const char *text, size_t length, bool in_table)
{
    const size_t fence = longest_fence(text, length) + 1;
    const char first = text[0], last = text[length - 1];
    const bool is_padded = first == '`' || last == '`' || (first == ' ' && last == ' ');

    if (w->used > 0 && w->at[w->used - 1] == '`') /* fences that touch are one fence */
        put(w, " ", 1);
    put_fence(w, fence);
    if (is_padded)
        put(w, " ", 1);
    for (size_t i = 0; i < length; i++) {
        if (in_table && text[i] == '|')
            put_bar(w, i > 0 && text[i - 1] == '\\');
        else
            put(w, text + i, 1);
    }
    if (is_padded)
        put(w, " ", 1);
    put_fence(w, fence);
}

void tm_mdw_name(struct tm_mdw *w, const char *name, bool in_table)
{
    char visible[TM_MD_PROSE_BYTES], cut[NAME_BYTES];

    tm_format_text(visible, sizeof(visible), name);
    (void)tm_format_middle(cut, sizeof(cut), visible, TM_MD_NAME_MOST);
    if (cut[0])
        put_code(w, cut, strlen(cut), in_table);
}

/* --- words --- */

static bool has_any(const char *word, size_t length, const char *of)
{
    for (size_t i = 0; i < length; i++)
        if (strchr(of, word[i]))
            return true;
    return false;
}

static bool contains(const char *word, size_t length, const char *what)
{
    const size_t n = strlen(what);

    for (size_t i = 0; i + n <= length; i++)
        if (strncasecmp(word + i, what, n) == 0)
            return true;
    return false;
}

/* "#12", "gh-12", "!12", "%12", as forges refer to what they keep. */
static bool is_reference(const char *word, size_t length)
{
    for (size_t i = 0; i + 1 < length; i++) {
        const bool is_sign = strchr("#!%", word[i]) || (word[i] == '-' && i >= 2 && contains(word + i - 2, 2, "gh"));

        if (is_sign && isdigit((unsigned char)word[i + 1]))
            return true;
    }
    return false;
}

/* Some part of it could be a commit; a number with decimals is none. */
static bool is_hash(const char *word, size_t length)
{
    size_t run = 0;

    if (strspn(word, "0123456789.") >= length && memchr(word, '.', length))
        return false;
    for (size_t i = 0; i < length && run < SHORT_HASH; i++)
        run = isxdigit((unsigned char)word[i]) ? run + 1 : 0;
    return run >= SHORT_HASH;
}

/* A word for a picture: ":tada:".  A time of the day is none. */
static bool is_shortcode(const char *word, size_t length)
{
    const char *first = memchr(word, ':', length);

    return first && memchr(first + 1, ':', length - (size_t)(first + 1 - word)) &&
           (strspn(word, "0123456789:") < length || length > sizeof("12:34:56") - 1);
}

/* What begins a list, a heading or a rule where it is the first of a line: "#", "-", "1.", "===". */
static bool is_block_sign(const char *word, size_t length)
{
    const size_t digits = strspn(word, "0123456789");

    return strspn(word, "#+-=") >= length || (digits > 0 && digits + 1 == length && strchr(".)", word[digits]));
}

static bool is_special(const char *word, size_t length, bool is_first)
{
    return has_any(word, length, "\\`*_[]<>|~&$@") || contains(word, length, "://") || contains(word, length, "www.") ||
           contains(word, length, "mailto:") || contains(word, length, "xmpp:") || (word[0] == '%' && length > 1) ||
           is_reference(word, length) || is_hash(word, length) || is_shortcode(word, length) ||
           (is_first && is_block_sign(word, length));
}

/* Ends with a bracket that begins in it: "f(x)". */
static bool closes(const char *word, size_t length)
{
    return word[length - 1] == ')' && memchr(word, '(', length);
}

/* A word with the brackets, quotes and stops around it, which stay outside of the code. */
static void put_special(struct tm_mdw *w, const char *word, size_t length, bool in_table)
{
    size_t from = 0, to = length;

    while (from < to && strchr("(\"'", word[from]))
        from++;
    while (to > from && strchr(",.;:)\"'", word[to - 1]) && !closes(word + from, to - from))
        to--;
    put(w, word, from);
    if (to > from)
        put_code(w, word + from, to - from, in_table);
    put(w, word + to, length - to);
}

/* Signs that stand alone, as in "> 80 %". */
static bool is_signs(const char *word, size_t length)
{
    return strspn(word, "<>=&*~") >= length && has_any(word, length, "<>&*~");
}

static void put_signs(struct tm_mdw *w, const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        put(w, "\\", 1);
        put(w, word + i, 1);
    }
}

/* Length of the code at the begin of a text, its two fences included; 0 = there is none. */
static size_t code_length(const char *text)
{
    const char *end = text[0] == '`' && text[1] != '`' && text[1] ? strchr(text + 1, '`') : NULL;

    return end && end[1] != '`' ? (size_t)(end + 1 - text) : 0;
}

/* Put what stands at the begin of a text.  out: its length */
static size_t put_piece(struct tm_mdw *w, const char *text, bool in_table, bool is_first)
{
    const size_t code = code_length(text), length = code ? code : strcspn(text, " ");

    if (code)
        put_code(w, text + 1, code - 2, in_table);
    else if (is_signs(text, length))
        put_signs(w, text, length);
    else if (is_special(text, length, is_first))
        put_special(w, text, length, in_table);
    else
        put(w, text, length);
    return length;
}

void tm_mdw_prose(struct tm_mdw *w, const char *text, bool in_table)
{
    char visible[TM_MD_PROSE_BYTES];
    const char *at = visible;

    tm_format_text(visible, sizeof(visible), text);
    at += strspn(at, " ");
    for (bool is_first = true; *at; is_first = false) {
        const size_t spaces = is_first ? 0 : strspn(at, " ");

        at += spaces;
        if (spaces && *at)
            put(w, " ", 1);
        if (*at)
            at += put_piece(w, at, in_table, is_first);
    }
}

/* --- HTML --- */

void tm_mdw_html(struct tm_mdw *w, const char *text)
{
    static const char *const entities[][2] = { { "&", "&amp;" }, { "<", "&lt;" }, { ">", "&gt;" }, { "\"", "&quot;" } };
    char visible[TM_MD_PROSE_BYTES];

    tm_format_text(visible, sizeof(visible), text);
    for (const char *at = visible; *at; at++) {
        const char *entity = NULL;

        for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); i++)
            entity = *at == entities[i][0][0] ? entities[i][1] : entity;
        if (entity)
            tm_mdw_raw(w, entity);
        else
            put(w, at, 1);
    }
}

void tm_mdw_link_end(struct tm_mdw *w, const char *path)
{
    tm_mdw_raw(w, "](");
    tm_mdw_raw(w, path);
    tm_mdw_raw(w, ")");
}
