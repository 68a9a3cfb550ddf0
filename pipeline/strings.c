/* SPDX-License-Identifier: Apache-2.0 */
/* Strings: checked as UTF-8, read as numbers with units, compared with known words and with patterns, and quoted for
 * CSV and shells.
 *
 * UTF-8 by RFC 3629, strictly.  Names in traces are bytes that somebody else wrote, so each string is
 * examined before it reaches a terminal or a report. */
#include "pipeline/strings.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Strings of numbers with units, read as integers: nothing is rounded, nothing wraps around.  Holds no memory. */

bool tm_take_digits(const char **text, uint64_t *number)
{
    const char *at = *text;
    uint64_t n = 0;

    for (; *at >= '0' && *at <= '9'; at++) {
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, (uint64_t)(*at - '0'), &n))
            return false;
    }
    if (at == *text)
        return false;
    *text = at;
    *number = n;
    return true;
}

static bool refuse(struct tm_wrong *wrong, const char *reason, const char *hint)
{
    *wrong = (struct tm_wrong){ reason, hint };
    return false;
}

bool tm_read_bytes(const char *text, uint64_t *bytes, struct tm_wrong *wrong)
{
    static const struct {
        const char *name;
        unsigned shift;
    } units[] = { { "", 0 }, { "K", 10 }, { "KiB", 10 }, { "M", 20 }, { "MiB", 20 }, { "G", 30 }, { "GiB", 30 } };
    uint64_t number;

    if (!tm_take_digits(&text, &number))
        return refuse(wrong, "it is not a size",
                      "a size is a whole number with K, M, G, KiB, MiB or GiB, such as 512M");
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcasecmp(text, units[i].name) != 0)
            continue;
        if (number > (SIZE_MAX >> 1) >> units[i].shift)
            return refuse(wrong, "it is too large", NULL);
        *bytes = number << units[i].shift;
        return true;
    }
    return refuse(wrong, "its unit is unknown", "the units are K, M, G, KiB, MiB and GiB; K is 1024 bytes");
}

struct time_unit {
    const char *name;
    int64_t ps;
};

static const struct time_unit *time_unit_of(const char *name, size_t length)
{
    static const struct time_unit units[] = {
        { "ps", 1 },          { "ns", 1000 },         { "us", 1000000 }, { "\xc2\xb5s", 1000000 },
        { "ms", 1000000000 }, { "s", 1000000000000 },
    };

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strlen(units[i].name) == length && memcmp(name, units[i].name, length) == 0)
            return &units[i];
    }
    return NULL;
}

/* Digits after the point.  in: unit_ps  what is before the point counts in it */
static bool add_fraction(const char *at, const char *end, int64_t unit_ps, int64_t *ps, struct tm_wrong *wrong)
{
    for (int64_t digit_ps = unit_ps; at < end; at++) {
        digit_ps /= 10;
        if (digit_ps == 0 && *at != '0')
            return refuse(wrong, "it is finer than a picosecond", NULL);
        if (__builtin_add_overflow(*ps, digit_ps * (*at - '0'), ps))
            return refuse(wrong, "it is longer than 106 days", NULL);
    }
    return true;
}

bool tm_read_time(const char *text, size_t length, int64_t *ps, struct tm_wrong *wrong)
{
    const char *const end = text + length;
    const char *at = text, *fraction;
    uint64_t whole;
    int64_t sum;

    if (length == 0 || !tm_take_digits(&at, &whole) || at > end || whole > INT64_MAX)
        return refuse(wrong, "it is not a time such as 10us", NULL);
    const bool has_point = at < end && *at == '.';

    fraction = has_point ? ++at : at;
    while (has_point && at < end && *at >= '0' && *at <= '9')
        at++;
    const struct time_unit *const unit = time_unit_of(at, (size_t)(end - at));

    if (!unit && !(whole == 0 && !has_point && at == end))
        return refuse(wrong, at < end ? "its unit is unknown" : "it has no unit",
                      "the units are ns, us, ms and s, as in 10us");
    if (__builtin_mul_overflow((int64_t)whole, unit ? unit->ps : 1, &sum))
        return refuse(wrong, "it is longer than 106 days", NULL);
    if (!add_fraction(fraction, has_point ? at : fraction, unit ? unit->ps : 1, &sum, wrong))
        return false;
    *ps = sum;
    return true;
}

/* The number that ends at `stop`; nothing at all leaves *number alone. */
static bool read_end(const char *text, const char *stop, uint64_t *number)
{
    return text == stop || (tm_take_digits(&text, number) && text == stop);
}

bool tm_read_range(const char *text, uint64_t *begin, uint64_t *end)
{
    const char *const colon = strchr(text, ':');

    *begin = 0;
    *end = UINT64_MAX;
    return colon && text[1] && read_end(text, colon, begin) && read_end(colon + 1, text + strlen(text), end);
}

/* Suggestions for mistyped words: optimal string alignment over two short words, with three rows of
 * the table on the stack. */

bool tm_has_ending(const char *text, const char *ending)
{
    const size_t length = strlen(text), n = strlen(ending);

    return length > n && strcmp(text + length - n, ending) == 0;
}

enum { WORD_MOST = 63 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

size_t tm_word_distance(const char *a, const char *b)
{
    const size_t a_length = strnlen(a, WORD_MOST);
    const size_t b_length = strnlen(b, WORD_MOST);
    size_t rows[3][WORD_MOST + 1];
    size_t *before = rows[0], *last = rows[1], *now = rows[2];

    for (size_t j = 0; j <= b_length; j++)
        last[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        now[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + !same(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                now[j] = least(now[j], before[j - 2] + 1);
        }
        size_t *const free_row = before;

        before = last;
        last = now;
        now = free_row;
    }
    return last[b_length];
}

void tm_nearest_offer(struct tm_nearest *nearest, const char *typed, const char *known)
{
    const size_t length = strlen(typed), known_length = strlen(known);
    const size_t allowed = least(length, known_length) / 3 + (length < 3);
    const bool starts = length >= 2 && strncasecmp(typed, known, length) == 0;

    /* The difference in length is the least distance: most words are refused here, without the table of distances. */
    if (!starts && (length > known_length ? length - known_length : known_length - length) > allowed)
        return;
    size_t distance = tm_word_distance(typed, known);

    if (starts)
        distance = least(distance, 1);
    else if (distance > allowed)
        return;
    if (!nearest->word || distance < nearest->distance) {
        nearest->word = known;
        nearest->distance = distance;
    }
}

/* Lead bytes by length, with the bounds of the second byte that keep out overlong forms (E0, F0),
 * surrogates (ED) and code points past U+10FFFF (F4). */
static size_t sequence_length(uint8_t lead, uint8_t *least, uint8_t *most)
{
    *least = 0x80;
    *most = 0xbf;
    if (lead >= 0xc2 && lead <= 0xdf)
        return 2;
    if (lead >= 0xe0 && lead <= 0xef) {
        if (lead == 0xe0)
            *least = 0xa0;
        if (lead == 0xed)
            *most = 0x9f;
        return 3;
    }
    if (lead >= 0xf0 && lead <= 0xf4) {
        if (lead == 0xf0)
            *least = 0x90;
        if (lead == 0xf4)
            *most = 0x8f;
        return 4;
    }
    return 0;
}

size_t tm_utf8_next(const char *text, size_t length, uint32_t *code)
{
    const uint8_t lead = (uint8_t)text[0];
    uint8_t least, most;

    if (lead < 0x80) {
        *code = lead;
        return 1;
    }
    const size_t n = sequence_length(lead, &least, &most);

    if (n == 0 || n > length)
        return 0;
    if ((uint8_t)text[1] < least || (uint8_t)text[1] > most)
        return 0;
    uint32_t value = lead & (0x7fu >> n);

    for (size_t i = 1; i < n; i++) {
        if (((uint8_t)text[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | ((uint8_t)text[i] & 0x3f);
    }
    *code = value;
    return n;
}

bool tm_utf8_is_hidden(uint32_t code)
{
    static const struct {
        uint32_t from, to;
    } range[] = {
        { 0, 0x1f },        { 0x7f, 0x9f },     { 0xad, 0xad },       { 0x34f, 0x34f },     { 0x61c, 0x61c },
        { 0x115f, 0x1160 }, { 0x17b4, 0x17b5 }, { 0x180b, 0x180f },   { 0x200b, 0x200f },   { 0x2028, 0x202e },
        { 0x2060, 0x206f }, { 0x3164, 0x3164 }, { 0xfdd0, 0xfdef },   { 0xfe00, 0xfe0f },   { 0xfeff, 0xfeff },
        { 0xffa0, 0xffa0 }, { 0xfff0, 0xfffb }, { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
    };

    if (code >= ' ' && code <= '~')
        return false;
    if ((code & 0xfffe) == 0xfffe)
        return true;
    for (size_t i = 0; i < sizeof(range) / sizeof(range[0]) && code >= range[i].from; i++)
        if (code <= range[i].to)
            return true;
    return false;
}

size_t tm_utf8_escape(char *to, uint32_t code)
{
    static const char named[] = "\nn\tt\rr"; /* pairs: character, letter of its escape */
    const char *const pair = code < ' ' ? strchr(named, (int)code) : NULL;

    return (size_t)(code && pair     ? snprintf(to, TM_UTF8_ESCAPE, "\\%c", pair[1])
                    : code <= 0xffff ? snprintf(to, TM_UTF8_ESCAPE, "\\u%04x", (unsigned)code)
                                     : snprintf(to, TM_UTF8_ESCAPE, "\\u{%x}", (unsigned)code));
}

size_t tm_json_escape(char *to, uint32_t code)
{
    static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* pairs: character, letter of its escape */

    for (size_t i = 0; i + 1 < sizeof(named); i += 2) {
        if ((unsigned char)named[i] != code)
            continue;
        to[0] = '\\';
        to[1] = named[i + 1];
        return 2;
    }
    return (size_t)(code <= 0xffff ? snprintf(to, TM_JSON_ESCAPE, "\\u%04x", (unsigned)code)
                                   : snprintf(to, TM_JSON_ESCAPE, "\\u%04x\\u%04x", (unsigned)(0xd7c0 + (code >> 10)),
                                              (unsigned)(0xdc00 + (code & 0x3ff))));
}

void tm_json_put_byte(FILE *to, unsigned char byte)
{
    char escape[TM_JSON_ESCAPE];

    if (byte < ' ' || byte == '"' || byte == '\\' || byte == 0x7f)
        (void)fwrite(escape, 1, tm_json_escape(escape, byte), to);
    else
        (void)fputc(byte, to);
}

size_t tm_utf8_visible_head(const char *text, size_t length)
{
    size_t i = 0;

    while (i < length) {
        uint32_t code;

        if (text[i] >= ' ' && text[i] <= '~') {
            i++;
            continue;
        }
        const size_t n = tm_utf8_next(text + i, length - i, &code);

        if (n == 0 || tm_utf8_is_hidden(code))
            break;
        i += n;
    }
    return i;
}

bool tm_utf8_is_valid(const char *text, size_t length)
{
    size_t i = 0;

    while (i < length) {
        uint64_t eight;
        uint32_t code;

        if (length - i >= sizeof(eight)) {
            memcpy(&eight, text + i, sizeof(eight));
            if ((eight & UINT64_C(0x8080808080808080)) == 0) {
                i += sizeof(eight);
                continue;
            }
        }
        const size_t n = (uint8_t)text[i] < 0x80 ? 1 : tm_utf8_next(text + i, length - i, &code);

        if (n == 0)
            return false;
        i += n;
    }
    return true;
}

enum { WIDE_BYTES = 3 };

/* The sign of a formula, behind characters that do not count. */
static bool has_sign(const char *text, size_t length, const char *before)
{
    static const char *const wide[] = { "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0" }; /* = + - @ */

    for (; length && text[0] && strchr(before, text[0]); length--)
        text++;
    for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
        if (length >= WIDE_BYTES && memcmp(text, wide[i], WIDE_BYTES) == 0)
            return true;
    return length && memchr("=+-@", text[0], 4);
}

/* A formula may start after a separator.  Blanks do not count there, because sentences contain "; -x". */
static bool begins_another(const char *text, size_t length)
{
    const char c = text[0];

    return (c == ';' || c == '\t' || c == '\r' || c == '\n') && length > 1 && has_sign(text + 1, length - 1, "\"'");
}

/* What a spreadsheet interprets as the start of a formula. */
static bool is_formula(const char *text, size_t length)
{
    return length && (memchr("\t\r\n", text[0], 3) || has_sign(text, length, " \t\r\n\"'"));
}

bool tm_csv_is_plain(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] > '~' || text[i] == '"' || text[i] == ',' || begins_another(text + i, length - i))
            return false;
    return !is_formula(text, length);
}

/* Valid UTF-8, with quotes twice. */
static void put_valid(tm_csv_put *put, void *to, const char *text, size_t length)
{
    while (length) {
        const char *const quote = memchr(text, '"', length);
        const size_t n = quote ? (size_t)(quote - text) + 1 : length;

        put(to, text, n);
        if (quote)
            put(to, "\"", 1);
        text += n;
        length -= n;
    }
}

/* Any bytes, with quotes twice. */
static void put_any(tm_csv_put *put, void *to, const char *text, size_t length, bool is_raw)
{
    for (;;) {
        const size_t n = is_raw ? tm_utf8_head(text, length) : tm_utf8_visible_head(text, length);
        char escape[TM_UTF8_ESCAPE];
        size_t bytes;
        uint32_t code;

        put_valid(put, to, text, n);
        if (n == length)
            break;
        bytes = is_raw ? 0 : tm_utf8_next(text + n, length - n, &code);
        if (bytes)
            put(to, escape, tm_utf8_escape(escape, code));
        else
            put(to, TM_UTF8_REPLACEMENT, TM_UTF8_REPLACEMENT_BYTES);
        bytes = n + (bytes ? bytes : 1);
        text += bytes;
        length -= bytes;
    }
}

/* How many bytes are before the next place that needs an apostrophe; all if there is none. */
static size_t until_formula(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (begins_another(text + i, length - i))
            return i + 1;
    return length;
}

void tm_csv_put_quoted(tm_csv_put *put, void *to, const char *text, size_t length, bool is_raw)
{
    if (is_formula(text, length))
        put(to, "'", 1);
    while (length) {
        const size_t n = until_formula(text, length);

        put_any(put, to, text, n, is_raw);
        if (n < length)
            put(to, "'", 1);
        text += n;
        length -= n;
    }
}

void tm_csv_quote(tm_csv_put *put, void *to, const char *text, size_t length, bool is_raw)
{
    put(to, "\"", 1);
    tm_csv_put_quoted(put, to, text, length, is_raw);
    put(to, "\"", 1);
}

/* In single quotes everything represents itself but the single quote, which goes between two quoted parts.
 * source: POSIX.1-2017, Shell Command Language, 2.2.2 */

void tm_shell_word(tm_shell_put *put, void *to, const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=@%+,-";

    if (*text && text[strspn(text, plain)] == '\0') {
        put(to, text, strlen(text));
        return;
    }
    put(to, "'", 1);
    for (;;) {
        const size_t length = strcspn(text, "'");

        put(to, text, length);
        text += length;
        if (!*text++)
            break;
        put(to, "'\\''", 4);
    }
    put(to, "'", 1);
}

/* Patterns, matched without recursion: where a star has to take more, only the last one does.  Holds no memory. */

/* The bracket that closes a set.  in: at  behind its '['.  NULL = none does */
static const char *end_of_set(const char *at)
{
    if (*at == '!')
        at++;
    if (*at == ']') /* the first one represents itself */
        at++;
    return strchr(at, ']');
}

const char *tm_glob_wrong(const char *pattern)
{
    if (!pattern[0])
        return "the pattern is empty";
    for (const char *at = pattern; *at; at++) {
        if (*at == '\\') {
            if (!*++at)
                return "nothing follows its last '\\'";
        } else if (*at == '[') {
            at = end_of_set(at + 1);
            if (!at)
                return "a '[' is not closed";
        }
    }
    return NULL;
}

static bool is_in_set(const char *at, const char *end, unsigned char byte)
{
    const bool is_other = *at == '!';
    bool is_in = false;

    for (at += is_other; at < end; at++) {
        const unsigned char low = (unsigned char)*at;
        const bool has_high = at[1] == '-' && at + 2 < end;

        at += has_high ? 2 : 0;
        is_in |= byte >= low && byte <= (unsigned char)*at;
    }
    return is_in != is_other;
}

/* Fit one element of the pattern, no star, to the start of the text.
 * out:    bytes of the text; 0 = it does not fit; *next  after the element */
static size_t fit_one(const char *pattern, const char *text, size_t length, const char **next)
{
    const char *end;
    uint32_t code;

    *next = pattern + 1;
    if (length == 0)
        return 0;
    if (*pattern == '?') {
        const size_t bytes = tm_utf8_next(text, length, &code);

        return bytes ? bytes : 1;
    }
    if (*pattern == '[') {
        end = end_of_set(pattern + 1);
        *next = end + 1;
        return is_in_set(pattern + 1, end, (unsigned char)*text);
    }
    if (*pattern == '\\')
        *next = ++pattern + 1;
    return *pattern == *text;
}

bool tm_glob_fits(const char *pattern, const char *text, size_t length)
{
    const char *star = NULL;  /* after the last one */
    size_t at = 0, taken = 0; /* taken: what that star leaves starts there */

    while (at < length || *pattern) {
        const char *next;
        size_t bytes;

        if (*pattern == '*') {
            star = ++pattern;
            taken = at;
            continue;
        }
        bytes = *pattern ? fit_one(pattern, text + at, length - at, &next) : 0;
        if (bytes) {
            pattern = next;
            at += bytes;
        } else if (star && taken < length) {
            pattern = star;
            at = ++taken;
        } else {
            return false;
        }
    }
    return true;
}
