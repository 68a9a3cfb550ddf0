/* SPDX-License-Identifier: Apache-2.0 */
/* A tree of values as JSON (RFC 8259), written through one buffer.  Texts in the tree are valid
 * UTF-8 already. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/doc.h"
#include "pipeline/double_text.h"
#include "pipeline/utf8.h"

struct printer {
    FILE *stream; /* NULL = to fd, over several lines; else all on one line */
    int fd;
    int problem; /* errno of the first write that failed */
    size_t used;
    char buffer[16 << 10];
};

static void flush(struct printer *p)
{
    if (p->stream) {
        (void)fwrite(p->buffer, 1, p->used, p->stream); /* ferror tells */
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
 * JavaScript, or that a terminal obeys (utf8.h); 0 = none. */
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
    static const char named[] =
        "\"\"\\\\\bb\ff\nn\rr\tt"; /* pairs: character, letter of its escape */
    char escape[16];

    for (size_t i = 0; i + 1 < sizeof(named); i += 2) {
        if ((unsigned char)named[i] == code) {
            const char pair[2] = { '\\', named[i + 1] };

            put(p, pair, 2);
            return;
        }
    }
    if (code <= 0xffff)
        (void)snprintf(escape, sizeof(escape), "\\u%04" PRIx32, code);
    else /* two halves: RFC 8259, section 7 */
        (void)snprintf(escape, sizeof(escape), "\\u%04" PRIx32 "\\u%04" PRIx32, 0xd7c0 + (code >> 10), 0xdc00 + (code & 0x3ff));
    put_text(p, escape);
}

/* Whether none of eight bytes is to be looked at: all stand for themselves in a text. */
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

static void put_array(struct printer *p, const struct tm_value *v, unsigned depth)
{
    const size_t n = tm_length(v);

    put(p, "[", 1);
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

/* The reasons of the nulls of an object, where it has some.  An object with a member "why" of its own tells them
 * there. */
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

tm_status tm_doc_print(const struct tm_doc *doc, struct tm_run *run, int fd)
{
    struct printer p = { .fd = fd, .used = 0 };

    put_value(&p, tm_doc_root(doc), 0);
    put(&p, "\n", 1);
    flush(&p);
    if (p.problem != 0)
        return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, p.problem, "cannot write the summary");
    return TM_OK;
}
