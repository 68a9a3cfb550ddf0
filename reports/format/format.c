/* SPDX-License-Identifier: Apache-2.0 */
/* How figures and names are displayed: the single place for units, digits and escapes, so that HTML,
 * PDF and text agree.  Nothing here allocates or depends on the locale or the clock. */
#include "reports/format/format.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/doc/doc.h"
#include "pipeline/error.h"
#include "pipeline/store/sorter.h"
#include "pipeline/strings.h"

/* Most characters are one byte and are shown unchanged. */
static bool is_plain(char c)
{
    return c >= ' ' && c <= '~';
}

enum { PIECE_BYTES = 16 };

/* What represents the character at the start of a text.
 * out:    piece  PIECE_BYTES, not terminated; *taken  bytes of the text;  returned: bytes of the piece */
static size_t show_character(char *piece, const char *text, size_t length, size_t *taken)
{
    uint32_t c = 0;

    *taken = tm_utf8_next(text, length, &c);
    if (*taken == 0) {
        *taken = 1;
        return (size_t)snprintf(piece, PIECE_BYTES, "\\x%02x", (unsigned)(uint8_t)text[0]);
    }
    if (tm_utf8_is_hidden(c))
        return tm_utf8_escape(piece, c);
    memcpy(piece, text, *taken);
    return *taken;
}

/* Make as much of a text visible as fits.  out: *taken  bytes of the text */
static size_t show(char *out, size_t out_bytes, const char *text, size_t length, size_t *taken)
{
    size_t used = 0, n;

    for (*taken = 0; *taken < length; *taken += n) {
        char piece[PIECE_BYTES];
        size_t bytes;

        for (; *taken < length && is_plain(text[*taken]) && used + 1 < out_bytes; ++*taken)
            out[used++] = text[*taken];
        if (*taken == length)
            break;
        bytes = show_character(piece, text + *taken, length - *taken, &n);

        if (bytes >= out_bytes - used)
            break;
        memcpy(out + used, piece, bytes);
        used += bytes;
    }
    out[used] = 0;
    return used;
}

size_t tm_format_visible(char *out, size_t out_bytes, const char *text, size_t length)
{
    size_t taken;

    return out_bytes ? show(out, out_bytes, text, length, &taken) : 0;
}

const char *tm_format_entity(uint32_t character)
{
    static const char *const entities[] = { ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;" };

    return character < sizeof(entities) / sizeof(entities[0]) ? entities[character] : NULL;
}

static bool begins_character(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

/* The start of the longest suffix of a text that takes less than this many bytes when made visible. */
static size_t tail_of(const char *text, size_t length, size_t room)
{
    size_t tail = length, taken;
    char piece[TM_UTF8_LONGEST * PIECE_BYTES];

    while (tail > 0) {
        size_t at = tail - 1, bytes;

        while (at > 0 && tail - at < TM_UTF8_LONGEST && !begins_character(text[at]))
            at--;
        bytes = show(piece, sizeof(piece), text + at, tail - at, &taken);
        if (bytes >= room)
            break;
        room -= bytes;
        tail = at;
    }
    return tail;
}

void tm_format_text(char *out, size_t out_bytes, const char *text)
{
    static const char ellipsis[] = "…";
    const size_t length = strlen(text);
    size_t taken, used;

    (void)show(out, out_bytes, text, length, &taken);
    if (taken == length)
        return;
    used = show(out, out_bytes / 2, text, length, &taken);
    memcpy(out + used, ellipsis, sizeof(ellipsis));
    used += sizeof(ellipsis) - 1;
    taken = tail_of(text, length, out_bytes - used);
    (void)show(out + used, out_bytes - used, text + taken, length - taken, &(size_t){ 0 });
}

size_t tm_format_length(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += begins_character(*text);
    return n;
}

bool tm_format_middle(char *out, size_t out_bytes, const char *text, size_t most)
{
    static const char ellipsis[] = "…";
    const size_t length = tm_format_length(text);
    const size_t head = (most - 1) / 2 + (most - 1) % 2, tail = (most - 1) / 2;
    const char *end = text;
    const char *rest = text;
    size_t seen = 0;

    if (length <= most) {
        (void)snprintf(out, out_bytes, "%s", text);
        return false;
    }
    for (const char *at = text; *at; at++) {
        if (!begins_character(*at))
            continue;
        if (seen == head)
            end = at;
        if (seen == length - tail)
            rest = at;
        seen++;
    }
    (void)snprintf(out, out_bytes, "%.*s%s%s", (int)(end - text), text, ellipsis, rest);
    return true;
}

/* --- texts of several parts --- */

void tm_format_append(char *text, size_t text_bytes, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list list;

    va_start(list, format);
    (void)vsnprintf(text + used, text_bytes - used, format, list);
    va_end(list);
}

const char *tm_format_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

bool tm_format_is_unit_blank(const char *text, size_t at)
{
    static const char *const units[] = {
        "%",   "ps",  "ns",  "\xc2\xb5s", "ms",   "s",    "min",  "h",      "B",       "KiB",     "MiB",     "GiB",
        "TiB", "PiB", "B/s", "KB/s",      "MB/s", "GB/s", "TB/s", "FLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s"
    };

    if (text[at] != ' ' || at == 0 || text[at - 1] < '0' || text[at - 1] > '9')
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        const size_t length = strlen(units[i]);
        const char *const behind = text + at + 1 + length;

        if (strncmp(text + at + 1, units[i], length) == 0 && (!*behind || strchr(" .,;:)", *behind)))
            return true;
    }
    return false;
}

bool tm_link_is_safe(const char *path)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/-";

    if (!*path || *path == '/' || path[strspn(path, allowed)])
        return false;
    for (const char *part = path;; part++) {
        const size_t length = strcspn(part, "/");

        if (length == 2 && strncmp(part, "..", 2) == 0)
            return false;
        part += length;
        if (!*part)
            return true;
    }
}

/* Letters for the effects of input losses. */

static bool has_text(const struct tm_value *list, const char *text)
{
    for (size_t i = 0; i < tm_length(list); i++)
        if (strcmp(tm_text(tm_at(list, i)), text) == 0)
            return true;
    return false;
}

bool tm_mark_is_of_section(const struct tm_value *mark, const char *section)
{
    return section && has_text(tm_get(mark, "sections"), section);
}

bool tm_mark_is_of_kpi(const struct tm_value *mark, const struct tm_value *kpi)
{
    return has_text(tm_get(kpi, "marks"), tm_text(tm_get(mark, "id")));
}

char tm_mark_letter(size_t at)
{
    return (char)('a' + (at < TM_MARKS_SHOWN ? at : TM_MARKS_SHOWN - 1));
}

/* The letters between brackets. */
static char *put_letters(char *out, const bool touches[TM_MARKS_SHOWN])
{
    size_t used = 0;

    for (size_t i = 0; i < TM_MARKS_SHOWN; i++) {
        if (!touches[i])
            continue;
        if (!used) {
            memcpy(out, " [", 2);
            used = 2;
        }
        out[used++] = tm_mark_letter(i);
    }
    if (used)
        out[used++] = ']';
    out[used] = '\0';
    return out;
}

char *tm_sign_of_section(char *out, const struct tm_value *summary, const char *section)
{
    const struct tm_value *marks = tm_path(summary, "coverage.marks");
    bool touches[TM_MARKS_SHOWN] = { false };

    for (size_t i = 0; i < tm_length(marks) && i < TM_MARKS_SHOWN; i++)
        touches[i] = tm_mark_is_of_section(tm_at(marks, i), section);
    return put_letters(out, touches);
}

char *tm_sign_of_kpi(char *out, const struct tm_value *summary, const struct tm_value *kpi)
{
    const struct tm_value *marks = tm_path(summary, "coverage.marks");
    bool touches[TM_MARKS_SHOWN] = { false };

    for (size_t i = 0; i < tm_length(marks) && i < TM_MARKS_SHOWN; i++)
        touches[i] = tm_mark_is_of_kpi(tm_at(marks, i), kpi);
    return put_letters(out, touches);
}

struct pick {
    int64_t figure;
    size_t place;
};

static int largest_first(const void *a, const void *b)
{
    const struct pick *const one = a, *const other = b;

    return (one->figure < other->figure) - (one->figure > other->figure);
}

const char *tm_format_word(const char *const (*pairs)[2], size_t count, const char *word, const char *other)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(pairs[i][0], word) == 0)
            return pairs[i][1];
    return other;
}

size_t tm_pick_largest(const struct tm_value *list, const char *key, const char *only, size_t most, size_t *pick)
{
    struct pick largest[TM_PICK_MOST];
    size_t n = 0;

    most = most < TM_PICK_MOST ? most : TM_PICK_MOST;
    for (size_t i = 0; i < tm_length(list); i++) {
        const struct pick row = { tm_int(tm_get(tm_at(list, i), key)), i };

        if (!only || tm_is(tm_get(tm_at(list, i), only)))
            n = tm_sorted_keep(largest, n, most, sizeof(row), &row, largest_first);
    }
    for (size_t i = 0; i < n; i++)
        pick[i] = largest[i].place;
    return n;
}

static int by_place(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

void tm_pick_in_order(size_t *pick, size_t count)
{
    qsort(pick, count, sizeof(pick[0]), by_place);
}

enum { LEAST_SAVED = 8 }; /* characters; shorter beginnings stay */

static bool is_separator(char c)
{
    return c != 0 && strchr("-_./:@ ", c) != NULL;
}

/* The start of the word that ends before `at`. */
static size_t word_before(const char *text, size_t at)
{
    while (at > 0 && is_separator(text[at - 1]))
        at--;
    while (at > 0 && !is_separator(text[at - 1]))
        at--;
    return at;
}

/* Bytes of the prefix of `name` that all hosts share, in whole words. */
static size_t beginning_of_all(const struct tm_value *hosts, const char *name)
{
    size_t common = strlen(name);

    for (size_t i = 0; i < tm_length(hosts); i++) {
        const char *host = tm_text(tm_at(hosts, i));
        size_t n = 0;

        while (n < common && host[n] && host[n] == name[n])
            n++;
        common = n;
    }
    while (common > 0 && !is_separator(name[common - 1]))
        common--;
    return common;
}

/* The same without its last word, which describes the rest ("job-0").  0 if too little would be saved. */
static size_t common_bytes(const struct tm_value *hosts, const char *name)
{
    const size_t common = word_before(name, beginning_of_all(hosts, name));

    return common >= LEAST_SAVED ? common : 0;
}

const char *tm_shown_host(const struct tm_value *summary, const char *host)
{
    const struct tm_value *hosts = tm_path(summary, "input.hosts");

    return tm_length(hosts) < 2 ? host : host + common_bytes(hosts, host);
}

const char *tm_shown_device(const struct tm_value *summary, const char *id)
{
    const struct tm_value *hosts = tm_path(summary, "input.hosts");
    const char *host = tm_text(tm_at(hosts, 0));
    const size_t length = strlen(host);

    if (tm_length(hosts) != 1)
        return tm_shown_host(summary, id);
    return strncmp(id, host, length) == 0 && id[length] == '/' && id[length + 1] ? id + length + 1 : id;
}

const char *tm_shown_run(const struct tm_value *summary, char *out, size_t out_bytes)
{
    const struct tm_value *hosts = tm_path(summary, "input.hosts");
    const char *run = tm_text(tm_path(summary, "input.run"));
    size_t bytes = strlen(run);

    if (tm_length(hosts) > 1 && strcmp(tm_text(tm_at(hosts, 0)), run) == 0)
        bytes = beginning_of_all(hosts, run);
    while (bytes > 0 && bytes < strlen(run) && is_separator(run[bytes - 1]))
        bytes--;
    bytes = bytes ? bytes : strlen(run); /* they have nothing in common */
    (void)snprintf(out, out_bytes, "%.*s", (int)(bytes < out_bytes ? bytes : out_bytes), run);
    return out;
}

bool tm_is_named_as_run(const struct tm_value *summary)
{
    const struct tm_value *hosts = tm_path(summary, "input.hosts");

    return tm_length(hosts) == 1 && strcmp(tm_text(tm_at(hosts, 0)), tm_text(tm_path(summary, "input.run"))) == 0;
}

/* Texts of profiles pass through one place: what XML 1.0 does not allow (section 2.2), other control characters, and
 * what turns or hides text are left out or shown as escapes. */

enum { XML_TEXT_BYTES = 1024 };

/* U+FFFE, U+FFFF and their equivalents on the other planes are not characters. */
static bool is_no_xml(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code & 0xfffe) == 0xfffe;
}

void tm_format_xml(FILE *to, const char *text)
{
    char visible[XML_TEXT_BYTES];
    const size_t length = (tm_format_text(visible, sizeof(visible), text), strlen(visible));

    for (size_t i = 0; i < length;) {
        uint32_t code = 0;
        const size_t n = tm_utf8_next(visible + i, length - i, &code);
        const char *const escape = code == '\'' ? "&apos;" : tm_format_entity(code);

        if (escape)
            (void)fputs(escape, to);
        else if (n > 0 && !is_no_xml(code))
            (void)fwrite(visible + i, 1, n, to);
        i += n > 0 ? n : 1;
    }
}
