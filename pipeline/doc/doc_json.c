/* SPDX-License-Identifier: Apache-2.0 */
/* A tree of values as JSON (RFC 8259), written through one buffer.  Strings in the tree are valid
 * UTF-8 already. */
#include "pipeline/doc/doc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "pipeline/files.h"
#include "pipeline/numbers.h"
#include "pipeline/strings.h"

/* JSON (RFC 8259) into a tree of values, in one pass and through one window: no second tree, no
 * double for a number that is an integer.  Recursive, at most TM_DOC_DEPTH_MOST
 * levels.  The reason for a null comes after it. */

enum { WINDOW_BYTES = 16 << 10, TEXT_FIRST = 256, PAST_END = -1 };

struct reading {
    struct tm_run *run;
    struct tm_doc *doc;
    const char *name;
    int fd;               /* -1 = all of it is there */
    const char *at, *end; /* what is there and not read yet */
    uint64_t passed;      /* bytes up to `end` */
    uint64_t most;        /* of the file: bytes that may still come */
    const char *until;    /* a member of the whole object: nothing is read from there on; NULL = all of it */
    bool has_ended;       /* there */
    unsigned depth;
    char *text; /* a key with its NUL, then the value's text: `used` of `room` bytes */
    size_t used, room;
    char window[WINDOW_BYTES];
};

/* --- bytes --- */

static int64_t position(const struct reading *r)
{
    return (int64_t)(r->passed - (uint64_t)(r->end - r->at));
}

/* After a failure there is nothing more to read, so that what has started ends soon. */
static void stop(struct reading *r)
{
    r->end = r->at;
    r->most = 0;
}

/* The first failure stays: of a file that cannot be read it is that, and not that its text ends. */
static void refuse(struct reading *r, const char *reason)
{
    (void)tm_fail(&r->run->error, TM_ERR_INPUT, position(r), "cannot read '%s': %s", r->name, reason);
    stop(r);
}

static void refuse_size(struct reading *r, const char *what, unsigned long long most, const char *unit)
{
    (void)tm_fail(&r->run->error, TM_ERR_LIMIT, position(r), "cannot read '%s': %s more than %llu %s", r->name, what,
                  most, unit);
    stop(r);
}

/* Read on.  out: false at the end, and after a failure, which is in run->error */
static bool fill(struct reading *r)
{
    const size_t room = r->most < WINDOW_BYTES ? (size_t)r->most : WINDOW_BYTES;
    size_t got;
    int problem;

    if (r->fd < 0 || !room)
        return false;
    if (r->passed >= TM_DOC_BYTES_MOST) {
        refuse_size(r, "it has", TM_DOC_BYTES_MOST >> 20, "MiB");
        return false;
    }
    problem = tm_read_on(r->fd, r->window, room, &got);
    if (problem) {
        refuse(r, strerror(problem));
        return false;
    }
    r->at = r->window;
    r->end = r->window + got;
    r->passed += got;
    r->most -= got;
    return got > 0;
}

/* The next byte, which stays; or PAST_END. */
static int look(struct reading *r)
{
    return r->at < r->end || fill(r) ? (unsigned char)*r->at : PAST_END;
}

static int look_past_blanks(struct reading *r)
{
    int c = look(r);

    while (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
        r->at++;
        c = look(r);
    }
    return c;
}

/* Pass a byte that has to come, after blanks. */
static void expect(struct reading *r, char wanted, const char *otherwise)
{
    const int c = look_past_blanks(r);

    if (c == wanted)
        r->at++;
    else
        refuse(r, c == PAST_END ? "it is truncated" : otherwise);
}

/* --- strings --- */

static void append(struct reading *r, const char *bytes, size_t length)
{
    if (tm_failed(r->run))
        return;
    if (length > TM_DOC_TEXT_MOST || r->used > TM_DOC_TEXT_MOST - length) {
        refuse_size(r, "a text has", TM_DOC_TEXT_MOST >> 10, "KiB");
        return;
    }
    if (r->used + length > r->room) {
        size_t room = r->room ? r->room : TEXT_FIRST;

        while (room < r->used + length)
            room *= 2;
        char *text = tm_retake(&r->run->budget, TM_ACCOUNT_MODEL, r->text, r->room, room, &r->run->error);

        if (!text) {
            stop(r);
            return;
        }
        r->text = text;
        r->room = room;
    }
    memcpy(r->text + r->used, bytes, length);
    r->used += length;
}

/* As UTF-8.  NUL would end the text, and halves of surrogate pairs are not characters. */
static void append_code(struct reading *r, uint32_t code)
{
    char out[TM_UTF8_LONGEST];
    size_t n = 0;

    if (code == 0 || (code >= 0xd800 && code < 0xe000)) {
        append(r, TM_UTF8_REPLACEMENT, TM_UTF8_REPLACEMENT_BYTES);
        return;
    }
    if (code < 0x80) {
        out[n++] = (char)code;
    } else if (code < 0x800) {
        out[n++] = (char)(0xc0 | code >> 6);
    } else if (code < 0x10000) {
        out[n++] = (char)(0xe0 | code >> 12);
        out[n++] = (char)(0x80 | (code >> 6 & 0x3f));
    } else {
        out[n++] = (char)(0xf0 | code >> 18);
        out[n++] = (char)(0x80 | (code >> 12 & 0x3f));
        out[n++] = (char)(0x80 | (code >> 6 & 0x3f));
    }
    if (code >= 0x80)
        out[n++] = (char)(0x80 | (code & 0x3f));
    append(r, out, n);
}

static uint32_t read_hex(struct reading *r)
{
    uint32_t code = 0;

    for (int i = 0; i < 4; i++) {
        const int c = look(r);

        if (c >= '0' && c <= '9') {
            code = code << 4 | (uint32_t)(c - '0');
        } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
            code = code << 4 | (uint32_t)((c | 0x20) - 'a' + 10);
        } else {
            refuse(r, c == PAST_END ? "it is truncated inside a text" : "\\u requires four hexadecimal digits");
            return 0;
        }
        r->at++;
    }
    return code;
}

/* After "\u".  A first half without a second one is unpaired, and what follows it is read
 * separately.  out: whether the backslash of another escape is passed already */
static bool read_code(struct reading *r)
{
    uint32_t code = read_hex(r);

    while (code >= 0xd800 && code < 0xdc00 && look(r) == '\\') {
        r->at++;
        if (look(r) != 'u') {
            append_code(r, code);
            return true;
        }
        r->at++;
        const uint32_t second = read_hex(r);

        if (second >= 0xdc00 && second < 0xe000) {
            append_code(r, 0x10000 + ((code - 0xd800) << 10) + (second - 0xdc00));
            return false;
        }
        append_code(r, code);
        code = second;
    }
    append_code(r, code);
    return false;
}

/* After a backslash. */
static void read_escape(struct reading *r)
{
    static const char named[] = "\"\"\\\\//b\bf\fn\nr\rt\t"; /* pairs: letter, what it represents */

    do {
        const int c = look(r);

        if (c == PAST_END) {
            refuse(r, "it is truncated inside a text");
            return;
        }
        for (size_t i = 0; i + 1 < sizeof(named); i += 2) {
            if (named[i] == c) {
                r->at++;
                append(r, &named[i + 1], 1);
                return;
            }
        }
        if (c != 'u') {
            refuse(r, "there is no such escape");
            return;
        }
        r->at++;
    } while (read_code(r));
}

/* After the opening quote: behind what is in r->text already; ends with NUL. */
static void read_text(struct reading *r)
{
    int c;

    while ((c = look(r)) >= 0x20 && c != '"') {
        const char *plain = r->at;

        if (c == '\\') {
            r->at++;
            read_escape(r);
            continue;
        }
        while (r->at < r->end && (unsigned char)*r->at >= 0x20 && *r->at != '"' && *r->at != '\\')
            r->at++;
        append(r, plain, (size_t)(r->at - plain));
    }
    if (c == '"') {
        r->at++;
        append(r, "", 1);
    } else {
        refuse(r, c == PAST_END ? "it is truncated inside a text" : "a string contains an unescaped control character");
    }
}

/* A key and its colon, as the only thing in r->text. */
static void read_key(struct reading *r)
{
    expect(r, '"', "a key is missing here");
    r->used = 0;
    if (!tm_failed(r->run))
        read_text(r);
    expect(r, ':', "':' is missing here");
}

/* --- values --- */

static void read_value(struct reading *r, struct tm_value *to, bool has_key);

/* The key that was read, while r->text does not move. */
static const char *key_of(const struct reading *r, bool has_key)
{
    return has_key ? r->text : NULL;
}

static void take_digits(struct reading *r)
{
    int c = look(r);

    if (c < '0' || c > '9')
        refuse(r, c == PAST_END ? "it is truncated" : "a digit is missing here");
    for (; c >= '0' && c <= '9'; c = look(r)) {
        const char *const first = r->at;

        while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
            r->at++;
        append(r, first, (size_t)(r->at - first));
    }
}

/* The number's text is appended to the key. out: whether it is an integer */
static bool take_number(struct reading *r)
{
    bool is_whole = true;
    size_t first;
    int c;

    if (look(r) == '-')
        append(r, r->at++, 1);
    first = r->used;
    take_digits(r);
    if (r->used > first + 1 && r->text[first] == '0')
        refuse(r, "a number begins with 0");
    if (look(r) == '.') {
        is_whole = false;
        append(r, r->at++, 1);
        take_digits(r);
    }
    if ((c = look(r)) == 'e' || c == 'E') {
        is_whole = false;
        append(r, r->at++, 1);
        if ((c = look(r)) == '+' || c == '-')
            append(r, r->at++, 1);
        take_digits(r);
    }
    append(r, "", 1);
    return is_whole;
}

static void read_number(struct reading *r, struct tm_value *to, bool has_key)
{
    const size_t begin = r->used;
    const bool is_whole = take_number(r);

    if (tm_failed(r->run))
        return;
    const char *const text = r->text + begin, *const key = key_of(r, has_key);

    errno = 0;
    const intmax_t whole = is_whole ? strtoimax(text, NULL, 10) : 0;

    if (is_whole && errno == 0 && strcmp(text, "-0") != 0) {
        tm_add_int(to, key, whole);
        return;
    }
    const double number = strtod(text, NULL);

    if (isfinite(number))
        tm_add_double(to, key, number);
    else
        tm_add_null(to, key, "the number is too large");
}

static void read_word(struct reading *r, struct tm_value *to, bool has_key)
{
    static const char *const words[] = { "null", "false", "true" };
    const char *const key = key_of(r, has_key);
    const int first = look(r);

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (words[i][0] != first)
            continue;
        for (const char *letter = words[i]; *letter; letter++, r->at++) {
            const int c = look(r);

            if (c != *letter) {
                refuse(r, c == PAST_END ? "it is truncated" : "there is no such word in JSON");
                return;
            }
        }
        if (i)
            tm_add_bool(to, key, i == 2);
        else
            tm_add_null(to, key, NULL);
        return;
    }
    refuse(r, first == PAST_END ? "it is truncated" : "a value is missing here");
}

static void read_string(struct reading *r, struct tm_value *to, bool has_key)
{
    const size_t begin = r->used;

    r->at++;
    read_text(r);
    if (!tm_failed(r->run))
        tm_add_text(to, key_of(r, has_key), r->text + begin, r->used - begin - 1);
}

/* After an element or a member: is there another one?  The closing bracket is passed; nothing more goes in after a
 * failure. */
static bool read_comma(struct reading *r, char closing)
{
    const int c = look_past_blanks(r);

    if (c == ',' || c == closing)
        r->at++;
    else
        refuse(r, c == PAST_END ? "it is truncated" : "',' or the end of the list is missing here");
    return c == ',' && !tm_failed(r->run);
}

static void read_elements(struct reading *r, struct tm_value *to)
{
    if (look_past_blanks(r) == ']') {
        r->at++;
        return;
    }
    do {
        r->used = 0;
        read_value(r, to, false);
    } while (read_comma(r, ']'));
}

/* --- reasons --- */

/* A member "why" of an object that stays, since it is not only about nulls that came before it. */
static struct tm_value *keep_reasons(struct tm_value *of)
{
    struct tm_value *why = tm_add_object(of, "why");

    for (size_t i = 0; i < tm_length(of); i++) {
        const char *reason = tm_why(tm_value_at(of, i));

        if (reason[0])
            tm_add_string(why, tm_key_at(of, i), reason);
    }
    return why;
}

/* One reason: a string is attached to its null. */
static void read_reason(struct reading *r, struct tm_value *of, struct tm_value **kept)
{
    const struct tm_value *null_value = tm_member(of, r->text);
    const size_t begin = r->used;

    if (*kept || look_past_blanks(r) != '"' || !null_value || tm_type_of(null_value) != TM_NULL) {
        if (!*kept)
            *kept = keep_reasons(of);
        read_value(r, *kept, true);
        return;
    }
    r->at++;
    read_text(r);
    if (!tm_failed(r->run))
        tm_add_null(of, r->text, r->text + begin);
}

/* After "why": {.  out: kept  the member that stays; unchanged if none does */
static void read_reasons(struct reading *r, struct tm_value *of, struct tm_value **kept)
{
    if (look_past_blanks(r) == '}') {
        *kept = keep_reasons(of);
        r->at++;
        return;
    }
    do {
        read_key(r);
        if (!tm_failed(r->run))
            read_reason(r, of, kept);
    } while (read_comma(r, '}'));
}

/* Reasons that came before their nulls. */
static void give_reasons(struct tm_value *to, const struct tm_value *kept)
{
    for (size_t i = 0; i < tm_length(kept); i++) {
        const char *key = tm_key_at(kept, i), *reason = tm_text(tm_value_at(kept, i));
        const struct tm_value *member = tm_member(to, key);

        if (reason[0] && member && tm_type_of(member) == TM_NULL)
            tm_add_null(to, key, reason);
    }
}

static bool deepen(struct reading *r)
{
    if (++r->depth > TM_DOC_DEPTH_MOST)
        refuse_size(r, "it nests", TM_DOC_DEPTH_MOST, "levels deep");
    return r->depth <= TM_DOC_DEPTH_MOST;
}

static void read_members(struct reading *r, struct tm_value *to)
{
    struct tm_value *kept = NULL;

    if (look_past_blanks(r) == '}') {
        r->at++;
        return;
    }
    do {
        read_key(r);
        if (r->until && r->depth == 1 && strcmp(r->text, r->until) == 0) {
            r->has_ended = true;
            break;
        }
        if (look_past_blanks(r) == '{' && strcmp(r->text, "why") == 0) {
            r->at++;
            if (deepen(r))
                read_reasons(r, to, &kept);
            r->depth--;
        } else {
            read_value(r, to, true);
        }
    } while (read_comma(r, '}'));
    if (kept && !tm_failed(r->run))
        give_reasons(to, kept);
}

static void read_container(struct reading *r, struct tm_value *to, bool has_key, bool is_object)
{
    const char *const key = key_of(r, has_key);

    if (deepen(r)) {
        r->at++;
        if (is_object)
            read_members(r, tm_add_object(to, key));
        else
            read_elements(r, tm_add_array(to, key));
    }
    r->depth--;
}

/* in: has_key  it is a member, and its key is all of r->text; else r->text is empty */
static void read_value(struct reading *r, struct tm_value *to, bool has_key)
{
    const int c = look_past_blanks(r);

    if (c == '{' || c == '[')
        read_container(r, to, has_key, c == '{');
    else if (c == '"')
        read_string(r, to, has_key);
    else if (c == '-' || (c >= '0' && c <= '9'))
        read_number(r, to, has_key);
    else
        read_word(r, to, has_key);
}

/* --- all of it --- */

static void pass_mark(struct reading *r)
{
    static const char mark[] = "\xef\xbb\xbf";

    for (int i = 0; i < 3 && look(r) == (unsigned char)mark[i]; i++)
        r->at++;
}

static void read_object(struct reading *r, struct tm_value *to)
{
    int c;

    pass_mark(r);
    c = look_past_blanks(r);
    if (c != '{') {
        refuse(r, c == PAST_END ? "it is empty" : "it is not a JSON object: it does not start with '{'");
        return;
    }
    r->at++;
    r->depth = 1;
    read_members(r, to);
    if (!r->has_ended && look_past_blanks(r) != PAST_END)
        refuse(r, "something follows the end of the object");
}

static tm_status read_all(struct reading *r, struct tm_value *to)
{
    if (!tm_failed(r->run))
        read_object(r, to);
    tm_give(&r->run->budget, TM_ACCOUNT_MODEL, r->text, r->room);
    return r->run->error.status;
}

tm_status tm_doc_read(struct tm_doc *doc, struct tm_value *to, const char *bytes, size_t length, const char *name)
{
    struct reading r = {
        .run = tm_doc_run(doc), .doc = doc, .name = name, .fd = -1, .at = bytes, .end = bytes + length, .passed = length
    };

    if (length > TM_DOC_BYTES_MOST) {
        r.at = r.end;
        refuse_size(&r, "it has", TM_DOC_BYTES_MOST >> 20, "MiB");
    }
    return read_all(&r, to);
}

tm_status tm_doc_read_from(struct tm_doc *doc, struct tm_value *to, int fd, uint64_t most, const char *name)
{
    struct reading r = { .run = tm_doc_run(doc), .doc = doc, .name = name, .fd = fd, .most = most };

    return read_all(&r, to);
}

tm_status tm_doc_read_file(struct tm_doc *doc, struct tm_value *to, const char *path)
{
    return tm_doc_read_file_until(doc, to, path, NULL);
}

tm_status tm_doc_read_file_until(struct tm_doc *doc, struct tm_value *to, const char *path, const char *until)
{
    struct reading r = { .run = tm_doc_run(doc), .doc = doc, .name = path, .most = UINT64_MAX, .until = until };
    tm_status st;

    r.fd = tm_open_to_read(path, 0);
    if (r.fd < 0)
        return tm_fail_system(&r.run->error, TM_ERR_INPUT, -1, errno, "cannot read '%s'", path);
    st = read_all(&r, to);
    (void)close(r.fd);
    return st;
}

struct printer {
    FILE *stream; /* NULL = to fd, over several lines; else all on one line */
    int fd;
    const struct tm_value *list; /* replaced by the values of `next`; NULL = none */
    tm_next_value *next;
    void *of;
    int problem; /* errno of the first write that failed */
    size_t used;
    char buffer[16 << 10];
};

static void flush(struct printer *p)
{
    if (p->stream) {
        (void)fwrite(p->buffer, 1, p->used, p->stream); /* check ferror */
        p->used = 0;
        return;
    }
    for (size_t done = 0; done < p->used && p->problem == 0;) {
        const ssize_t n = write(p->fd, p->buffer + done, p->used - done);

        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || errno != EINTR)
            p->problem = n == 0 ? EIO : errno;
    }
    p->used = 0;
}

/* What does not fit into the buffer as a whole. */
static void put_long(struct printer *p, const char *text, size_t length)
{
    while (length > 0) {
        if (p->used == sizeof(p->buffer))
            flush(p);
        const size_t room = sizeof(p->buffer) - p->used;
        const size_t n = length < room ? length : room;

        memcpy(p->buffer + p->used, text, n);
        p->used += n;
        text += n;
        length -= n;
    }
}

static inline void put(struct printer *p, const char *text, size_t length)
{
    if (sizeof(p->buffer) - p->used < length) {
        put_long(p, text, length);
        return;
    }
    memcpy(p->buffer + p->used, text, length);
    p->used += length;
}

static void put_text(struct printer *p, const char *text)
{
    put(p, text, strlen(text));
}

/* Between an element and the next, or a bracket. */
static void put_line(struct printer *p, unsigned depth)
{
    static const char blanks[] = "                                ";

    if (p->stream)
        return;
    put(p, "\n", 1);
    for (size_t left = 2 * (size_t)depth; left > 0;) {
        const size_t n = left < sizeof(blanks) - 1 ? left : sizeof(blanks) - 1;

        put(p, blanks, n);
        left -= n;
    }
}

static void put_comma(struct printer *p)
{
    put_text(p, p->stream ? ", " : ",");
}

/* How many bytes at `text` have to be escaped: a quote, a backslash, or a character that is not seen, ends a line in
 * JavaScript, or that a terminal obeys (strings.h); 0 = none. */
static size_t special_bytes(const char *text, uint32_t *code)
{
    if (*text >= ' ' && *text <= '~') {
        *code = (uint32_t)*text;
        return *text == '"' || *text == '\\';
    }
    const size_t n = tm_utf8_next(text, strnlen(text, TM_UTF8_LONGEST), code);

    return tm_utf8_is_hidden(*code) ? n : 0;
}

static void put_special(struct printer *p, uint32_t code)
{
    char escape[TM_JSON_ESCAPE];

    put(p, escape, tm_json_escape(escape, code));
}

/* Whether none of eight bytes is to be examined: all represent themselves in a string. */
static inline bool stand_for_themselves(const char *bytes)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), highest = 0x80 * ones;
    uint64_t eight, special;

    memcpy(&eight, bytes, sizeof(eight));
    special = (eight - ' ' * ones) | ((eight ^ '"' * ones) - ones) | ((eight ^ '\\' * ones) - ones) |
              ((eight ^ 0x7f * ones) - ones);
    return !((eight | special) & highest); /* of a byte below what is subtracted the highest bit is set */
}

static void put_string(struct printer *p, const char *text)
{
    const char *plain = text, *const end = text + strlen(text);

    put(p, "\"", 1);
    while (text < end) {
        uint32_t code = 0;
        size_t n;

        if (end - text >= 8 && stand_for_themselves(text)) {
            text += 8;
            continue;
        }
        n = special_bytes(text, &code);

        if (n == 0) {
            text++;
            continue;
        }
        put(p, plain, (size_t)(text - plain));
        put_special(p, code);
        text += n;
        plain = text;
    }
    put(p, plain, (size_t)(text - plain));
    put(p, "\"", 1);
}

static void put_double(struct printer *p, double value)
{
    char digits[TM_DOUBLE_TEXT];

    put(p, digits, tm_double_text(digits, value));
}

static void put_int(struct printer *p, int64_t value)
{
    char digits[TM_INT_TEXT];

    put(p, digits, tm_int_text(digits, value));
}

static void put_value(struct printer *p, const struct tm_value *v, unsigned depth);

static void put_rows(struct printer *p)
{
    const struct tm_value *row;
    bool is_first = true;

    for (p->list = NULL; (row = p->next(p->of)); is_first = false) {
        put_text(p, is_first ? "\n" : ",\n");
        put_value(p, row, 0);
    }
    put_text(p, is_first ? "" : "\n");
}

static void put_array(struct printer *p, const struct tm_value *v, unsigned depth)
{
    const size_t n = tm_length(v);

    put(p, "[", 1);
    if (v == p->list)
        put_rows(p);
    for (size_t i = 0; i < n; i++) {
        if (i != 0)
            put_comma(p);
        put_line(p, depth + 1);
        put_value(p, tm_at(v, i), depth + 1);
    }
    if (n != 0)
        put_line(p, depth);
    put(p, "]", 1);
}

static void put_key(struct printer *p, const char *key, bool is_first, unsigned depth)
{
    if (!is_first)
        put_comma(p);
    put_line(p, depth);
    put_string(p, key);
    put(p, ": ", 2);
}

/* The reasons for the nulls of an object, if it has some.  An object with its own member "why" lists them there. */
static void put_reasons(struct printer *p, const struct tm_value *v, unsigned depth)
{
    bool is_first = true;

    if (tm_get(v, "why"))
        return;
    for (size_t i = 0; i < tm_length(v); i++) {
        const char *why = tm_why(tm_value_at(v, i));

        if (why[0] == '\0')
            continue;
        if (is_first) {
            put_key(p, "why", false, depth);
            put(p, "{", 1);
        }
        put_key(p, tm_key_at(v, i), is_first, depth + 1);
        put_string(p, why);
        is_first = false;
    }
    if (!is_first) {
        put_line(p, depth);
        put(p, "}", 1);
    }
}

static void put_object(struct printer *p, const struct tm_value *v, unsigned depth)
{
    const size_t n = tm_length(v);
    bool has_reasons = false;

    put(p, "{", 1);
    for (size_t i = 0; i < n; i++) {
        const struct tm_value *const member = tm_value_at(v, i);

        put_key(p, tm_key_at(v, i), i == 0, depth + 1);
        put_value(p, member, depth + 1);
        has_reasons |= tm_type_of(member) == TM_NULL && tm_why(member)[0] != '\0';
    }
    if (has_reasons)
        put_reasons(p, v, depth + 1);
    if (n != 0)
        put_line(p, depth);
    put(p, "}", 1);
}

static void put_value(struct printer *p, const struct tm_value *v, unsigned depth)
{
    switch (tm_type_of(v)) {
    case TM_NULL:
        put_text(p, "null");
        break;
    case TM_BOOL:
        put_text(p, tm_is(v) ? "true" : "false");
        break;
    case TM_INT:
        put_int(p, tm_int(v));
        break;
    case TM_DOUBLE:
        put_double(p, tm_double(v));
        break;
    case TM_STRING:
        put_string(p, tm_text(v));
        break;
    case TM_ARRAY:
        put_array(p, v, depth);
        break;
    case TM_OBJECT:
        put_object(p, v, depth);
        break;
    }
}

void tm_value_print_line(const struct tm_value *value, FILE *to)
{
    struct printer p = { .stream = to, .used = 0 };

    put_value(&p, value, 0);
    put(&p, "\n", 1);
    flush(&p);
}

void tm_value_print_rows(const struct tm_value *value, const char *list, tm_next_value *next, void *of, FILE *to)
{
    struct printer p = { .stream = to, .list = tm_get(value, list), .next = next, .of = of };

    put_value(&p, value, 0);
    put(&p, "\n", 1);
    flush(&p);
}

tm_status tm_doc_print(const struct tm_doc *doc, struct tm_run *run, int fd)
{
    struct printer p = { .fd = fd, .used = 0 };

    if (tm_failed(run))
        return run->error.status;
    put_value(&p, tm_doc_root(doc), 0);
    put(&p, "\n", 1);
    flush(&p);
    if (p.problem != 0)
        return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, p.problem, "cannot write the summary");
    return TM_OK;
}

/* --- small strings that a user wrote ---
 * cJSON reports a syntax error and exhausted memory alike: its allocator knows which it was. */

static bool memory_ended;

static void *allocate_noted(size_t bytes)
{
    void *const block = malloc(bytes);

    memory_ended |= !block;
    return block;
}

static tm_status refuse_text(const char *text, size_t offset, const char *act, const char *name, struct tm_error *error)
{
    size_t line = 1;

    if (memory_ended)
        return tm_fail(error, TM_ERR_LIMIT, -1, "cannot %s '%s': no memory is left", act, name);
    for (size_t i = 0; i < offset; i++)
        line += text[i] == '\n';
    return tm_fail(error, TM_ERR_USAGE, (int64_t)offset, "cannot %s '%s': line %zu is not JSON", act, name, line);
}

cJSON *tm_json_parse(const char *text, size_t length, const char *act, const char *name, struct tm_error *error)
{
    const char *end = text;
    cJSON *whole;

    memory_ended = false;
    cJSON_InitHooks(&(cJSON_Hooks){ .malloc_fn = allocate_noted, .free_fn = free });
    whole = length ? cJSON_ParseWithLengthOpts(text, length, &end, 0) : NULL;

    size_t stopped = end ? (size_t)(end - text) : 0;

    while (whole && stopped < length && memchr(" \t\r\n", text[stopped], 4))
        stopped++;
    if (whole && stopped >= length)
        return whole;
    cJSON_Delete(whole);
    (void)refuse_text(text, stopped < length ? stopped : length, act, name, error);
    return NULL;
}
