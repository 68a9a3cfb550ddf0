/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FUZZ_CHANGES_H
#define TM_FUZZ_CHANGES_H

#include <float.h>
#include <limits.h>
#include <string.h>

#include "pipeline/strings.h"
#include "tests/fuzz/fuzz_job.h"
#include "tests/support/schema_sample.h"

/* Summaries that no profile gives: bytes as a list of changes to a summary that has all members of the schema: where, and
 * what stands there instead: another type, null, the largest numbers, a list without end, any text, another key.  Begin
 * with find_next_change; copy_inside(script, to, base(kind), 1) makes the summary. */

enum {
    BASES = 16,      /* platforms by depths of null */
    TEXT_BYTES = 64, /* of a text, before it is repeated */
    LONG_BYTES = 16384,
    ROWS_MOST = 200,     /* of a list that is made longer */
    VALUES_MOST = 20000, /* of a summary: what is repeated may hold what is repeated */
    NESTED = 40,
};

/* --- the bytes --- */

struct script {
    const uint8_t *at;
    size_t left;
    uint32_t until; /* so many values stay as they are before the next change */
    uint32_t values;
};

static inline uint8_t next_byte(struct script *script)
{
    if (!script->left)
        return 0;
    script->left--;
    return *script->at++;
}

static inline uint64_t next_bytes(struct script *script, int count)
{
    uint64_t number = 0;

    while (count-- > 0)
        number = number << 8 | next_byte(script);
    return number;
}

/* Small steps are likely, so that changes come in groups. */
static inline void find_next_change(struct script *script)
{
    const uint8_t near = next_byte(script);

    script->until = !script->left ? UINT32_MAX : near < 0xc0 ? near : (uint32_t)next_bytes(script, 2) % 8192;
}

/* out: length  of a text of any bytes but NUL, LONG_BYTES at most */
static inline const char *next_text(struct script *script, size_t *length)
{
    static char text[LONG_BYTES + 1];
    const size_t taken = next_byte(script), n = taken % TEXT_BYTES, times = taken & 0x80 ? LONG_BYTES / TEXT_BYTES : 1;

    for (size_t i = 0; i < n; i++)
        text[i] = (char)next_byte(script);
    for (size_t i = 1; i < times; i++)
        memcpy(text + i * n, text, n);
    *length = n * times;
    text[*length] = '\0';
    *length = strlen(text);
    return text;
}

/* --- changes --- */

enum change {
    AS_IT_IS,
    NULL_VALUE,
    REASON,
    FLAG,
    EXTREME,
    INTEGER,
    NUMBER,
    TEXT,
    EMPTY_LIST,
    EMPTY_OBJECT,
    NO_VALUE,
    REPEATED,
    OTHER_KEY,
    NESTED_LISTS,
    NEGATIVE,
    SMALL,
    CHANGES
};

static inline void add_extreme(struct script *script, struct tm_value *to, const char *key)
{
    static const int64_t integers[] = {
        0,          1,         -1,        INT64_MAX,        INT64_MIN,    INT64_MAX - 1, INT64_MIN + 1,
        UINT32_MAX, INT32_MAX, INT32_MIN, INT64_C(1) << 53, 1000000000000
    };
    static const double numbers[] = { DBL_MAX, -DBL_MAX, DBL_MIN, -0.0, 1e-300, 1e300, 9.2e18, -9.3e18, 100, 99.99999 };
    const size_t integer_count = sizeof(integers) / sizeof(integers[0]);
    const size_t which = next_byte(script) % (integer_count + sizeof(numbers) / sizeof(numbers[0]));

    if (which < integer_count)
        tm_add_int(to, key, integers[which]);
    else
        tm_add_double(to, key, numbers[which - integer_count]);
}

static inline void add_number(struct script *script, struct tm_value *to, const char *key)
{
    const uint64_t bits = next_bytes(script, 8);
    double number;

    memcpy(&number, &bits, sizeof(number));
    tm_add_double(to, key, number);
}

static inline void add_nested(struct tm_value *to, const char *key)
{
    for (int i = 0; i < NESTED; i++, key = NULL)
        to = tm_add_array(to, key);
}

static inline void add_text(struct script *script, struct tm_value *to, const char *key, bool is_reason)
{
    size_t length;
    const char *const text = next_text(script, &length);

    if (is_reason)
        tm_add_null(to, key, tm_utf8_is_valid(text, length) ? text : "no reason");
    else
        tm_add_text(to, key, text, length);
}

/* A value that is not made of the one that was there. */
static inline void add_other(struct script *script, enum change change, struct tm_value *to, const char *key)
{
    switch (change) {
    case NULL_VALUE:
        tm_add_null(to, key, NULL);
        return;
    case REASON:
        add_text(script, to, key, true);
        return;
    case FLAG:
        tm_add_bool(to, key, next_byte(script) % 2 == 1);
        return;
    case EXTREME:
        add_extreme(script, to, key);
        return;
    case INTEGER:
        tm_add_int(to, key, (int64_t)next_bytes(script, 8));
        return;
    case NUMBER:
        add_number(script, to, key);
        return;
    case TEXT:
        add_text(script, to, key, false);
        return;
    case EMPTY_LIST:
        (void)tm_add_array(to, key);
        return;
    case EMPTY_OBJECT:
        (void)tm_add_object(to, key);
        return;
    case NESTED_LISTS:
        add_nested(to, key);
        return;
    case NEGATIVE:
        tm_add_int(to, key, -(int64_t)next_bytes(script, 3));
        return;
    case SMALL:
        tm_add_int(to, key, next_byte(script));
        return;
    default:
        return; /* there is none */
    }
}

/* --- the summary --- */

static inline void copy(struct script *script, struct tm_value *to, const char *key, const struct tm_value *from);

static inline void copy_inside(struct script *script, struct tm_value *to, const struct tm_value *from, uint32_t times)
{
    const bool is_object = tm_type_of(from) == TM_OBJECT;

    for (size_t i = 0; i < tm_length(from); i++)
        for (uint32_t n = 0; n < (is_object ? 1 : times) && script->values < VALUES_MOST; n++)
            copy(script, to, is_object ? tm_key_at(from, i) : NULL, tm_value_at(from, i));
}

static inline void copy_value(struct script *script, struct tm_value *to, const char *key, const struct tm_value *from,
                              uint32_t times)
{
    switch (tm_type_of(from)) {
    case TM_NULL:
        tm_add_null(to, key, tm_why(from));
        return;
    case TM_BOOL:
        tm_add_bool(to, key, tm_is(from));
        return;
    case TM_INT:
        tm_add_int(to, key, tm_int(from));
        return;
    case TM_DOUBLE:
        tm_add_double(to, key, tm_double(from));
        return;
    case TM_STRING:
        tm_add_string(to, key, tm_text(from));
        return;
    case TM_ARRAY:
        copy_inside(script, tm_add_array(to, key), from, times);
        return;
    case TM_OBJECT:
        copy_inside(script, tm_add_object(to, key), from, times);
        return;
    }
}

/* A key has to be a text. */
static inline const char *next_key(struct script *script)
{
    size_t length;
    const char *const key = next_text(script, &length);

    return tm_utf8_is_valid(key, length) ? key : "another key";
}

/* No deeper than the schema, which is finite. */
static inline void copy(struct script *script, struct tm_value *to, const char *key, const struct tm_value *from)
{
    enum change change = AS_IT_IS;

    script->values++;
    if (script->until) {
        script->until--;
    } else {
        change = (enum change)(next_byte(script) % CHANGES);
        find_next_change(script);
    }
    if (change == AS_IT_IS)
        copy_value(script, to, key, from, 1);
    else if (change == REPEATED)
        copy_value(script, to, key, from, next_byte(script) % ROWS_MOST);
    else if (change == OTHER_KEY && key)
        copy_value(script, to, next_key(script), from, 1);
    else
        add_other(script, change, to, key);
}

/* All members of the schema.  Made once for each platform, each with more of them null. */
static inline const struct tm_value *base(uint8_t number)
{
    static const char *const platforms[] = { "gpu", "tpu", "cpu", "none" };
    static const int null_depths[] = { TEST_NOTHING_IS_NULL, 4, 3, 2 };
    static struct tm_doc *made[BASES];
    static struct tm_run run;
    const uint8_t which = number % BASES;

    if (!made[which]) {
        fuzz_run_init(&run);
        made[which] = tm_doc_new(&run);
        test_schema_sample(tm_doc_root(made[which]), platforms[which % 4], null_depths[which / 4]);
    }
    return tm_doc_root(made[which]);
}

#endif
