/* SPDX-License-Identifier: Apache-2.0 */
/* What the reader of Chrome traces remembers of the events before (how they begin, what stands between two values)
 * changes nothing in what it reads: events in one document are what each is in a document of its own, whatever the
 * engine. */
#include <stdlib.h>

#include "tests/support/chrome_reading.h"

enum { EVENTS = 3000, EVENT_MOST = 4096 };

/* --- events by chance, most of them alike --- */

static uint32_t seed;

static uint32_t chance(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

struct text {
    char at[EVENT_MOST];
    size_t length;
};

static void put(struct text *t, const char *word)
{
    const size_t length = strlen(word);

    assert_true(t->length + length < sizeof(t->at));
    memcpy(t->at + t->length, word, length + 1);
    t->length += length;
}

static void put_space(struct text *t)
{
    static const char *const spaces[] = { " ", "\n\t", "   ", "\r\n" };

    if (chance(60) == 0)
        put(t, spaces[chance(4)]);
}

static void put_digits(struct text *t, uint32_t most)
{
    char digit[2] = "1";

    for (uint32_t left = 1 + chance(most); left > 0; left--) {
        put(t, digit);
        digit[0] = (char)('0' + chance(10));
    }
}

static void put_number(struct text *t)
{
    put(t, chance(20) ? "" : "-");
    put_digits(t, chance(8) ? 6 : 22);
    if (chance(3)) {
        put(t, ".");
        put(t, chance(3) ? "" : "0009999");
        put_digits(t, chance(8) ? 4 : 20);
    }
    put(t, chance(50) ? "" : "e2");
}

static void put_any_text(struct text *t)
{
    /* clang-format off */
    static const char *const parts[] = { "loop_add_fusion", ".", "7", "kernel_with_a_long_name_that_goes_on_", "\\u0041", "\xc3\xa9",
                                         "\\ud83d\\ude00", "\x7f", "\\n", "a" };
    /* clang-format on */

    put(t, "\"");
    for (uint32_t left = chance(6); left > 0; left--)
        put(t, parts[chance(chance(4) ? 4 : 10)]);
    put(t, "\"");
}

static void put_value(struct text *t)
{
    static const char *const others[] = { "null",    "true",      "[1,2,[3]]", "{\"a\":{}}", "\"12\"",
                                          "\"007\"", "\"93.75\"", "NaN",       "{}",         "-0" };

    switch (chance(8)) {
    case 0:
        put(t, others[chance(10)]);
        break;
    case 1:
    case 2:
    case 3:
        put_any_text(t);
        break;
    default:
        put_number(t);
    }
}

static void put_key(struct text *t, const char *key)
{
    put_space(t);
    put(t, "\"");
    put(t, key);
    put(t, "\"");
    put_space(t);
    put(t, ":");
    put_space(t);
}

static void put_args(struct text *t)
{
    static const char *const keys[] = {
        "correlation_id", "hlo_op",
        "name",           "External id",
        "grid",           "bytes",
        "hlo\\u005fop",   "a key that is longer than what is held of one, by far, and not known to anybody"
    };

    put(t, "{");
    for (uint32_t i = chance(3); i < 6; i += 1 + chance(20) / 19) {
        put_key(t, keys[chance(40) ? i : chance(8)]);
        put_value(t);
        put_space(t);
        put(t, i < 5 ? "," : "");
    }
    if (t->at[t->length - 1] == ',')
        t->at[--t->length] = '\0';
    put(t, "}");
}

static void put_member(struct text *t, const char *key)
{
    static const char *const phases[] = { "\"X\"", "\"B\"", "\"i\"", "7", "\"\\u0058\"" };
    static const char *const ids[] = { "1",    "13",  "\"stream 7\"", "3152652472",
                                       "null", "1.5", "\"12\"",       "18446744073709551615" };
    static const char *const categories[] = { "\"kernel\"", "\"cpu_op\"", "\"\\u0063\"", "4" };

    put_key(t, key);
    if (!strcmp(key, "ph"))
        put(t, phases[chance(30) ? 0 : chance(5)]);
    else if (!strcmp(key, "pid") || !strcmp(key, "tid"))
        put(t, ids[chance(10) ? chance(3) : chance(8)]);
    else if (!strcmp(key, "cat"))
        put(t, categories[chance(20) ? chance(2) : chance(4)]);
    else if (!strcmp(key, "args"))
        put_args(t);
    else if (!strcmp(key, "name"))
        put_any_text(t);
    else
        put_value(t);
}

static void make_event(struct text *t)
{
    static const char *const orders[][9] = {
        { "ph", "pid", "tid", "ts", "dur", "name", "args" },
        { "ph", "cat", "name", "pid", "tid", "ts", "dur", "args" },
        { "args", "cat", "dur", "name", "ph", "pid", "tid", "ts" },
        { "ph", "tts", "pid", "id", "ts", "id2", "s", "bp" },
    };
    const char *const *const order = orders[chance(20) ? chance(2) : chance(4)];
    bool is_first = true;

    t->length = 0;
    put(t, "{");
    for (int i = 0; order[i]; i++) {
        if (!chance(25))
            continue;
        put(t, is_first ? "" : ",");
        put_member(t, chance(50) ? order[i] : order[chance(6)]);
        put_space(t);
        is_first = false;
    }
    put(t, "}");
}

/* --- reading --- */

static uint64_t hash_of_id(uint64_t hash, const struct tm_json_id *id)
{
    hash = tm_fact_mix(hash, (uint64_t)id->kind << 8 | id->is_unsigned);
    return tm_fact_mix(hash, tm_json_id_number(id));
}

static uint64_t hash_of_facts(uint64_t hash, const struct tm_facts *facts)
{
    hash = tm_fact_mix(hash, facts->has ^ facts->config_hash ^ facts->flags);
    for (uint64_t left = facts->has; left; left &= left - 1) {
        const int stat = __builtin_ctzll(left);
        const struct tm_fact_text *const text = &facts->texts[stat];

        hash = tm_fact_mix(hash, (uint64_t)facts->ints[stat] ^ (uint64_t)(int64_t)(facts->doubles[stat] * 1e-9));
        if (text->kind == TM_FACT_BYTES)
            hash = tm_fact_mix(hash, XXH3_64bits(text->bytes, text->length));
    }
    return hash;
}

static uint64_t hash_of_event(const struct tm_chrome_event *e)
{
    const struct tm_json_slice texts[] = { e->name, e->cat, e->args };
    uint64_t hash = tm_fact_mix(e->has, (uint64_t)e->phase << 8 | (uint64_t)e->scope);

    hash = tm_fact_mix(hash, (uint64_t)e->ts.us);
    hash = tm_fact_mix(hash, (uint64_t)e->ts.ps);
    hash = tm_fact_mix(hash, (uint64_t)e->dur.us);
    hash = tm_fact_mix(hash, (uint64_t)e->dur.ps);
    hash = hash_of_id(hash_of_id(hash_of_id(hash, &e->pid), &e->tid), &e->id);
    for (int i = 0; i < 3; i++)
        hash = tm_fact_mix(hash, XXH3_64bits(texts[i].at, texts[i].length));
    return hash_of_facts(hash, &e->facts);
}

/* Of one event, read without any before it; its tallies are added. */
static uint64_t read_alone(const struct text *event, uint64_t *tallies)
{
    const struct tm_chrome_options plain = { .engine = TM_JSON_PLAIN };
    const struct tm_chrome_event *e;
    struct reading r;
    struct text document = { .length = 0 };
    uint64_t hash = 0;

    put(&document, "[");
    put(&document, event->at);
    put(&document, "]");
    open_reading(&r, document.at, document.length, &plain);
    assert_int_equal(tm_chrome_next(r.reader, &e), TM_OK);
    if (e) {
        hash = hash_of_event(e);
        assert_int_equal(tm_chrome_next(r.reader, &e), TM_OK);
        assert_null(e);
    }
    for (int i = 0; i < TM_TALLY_COUNT; i++)
        tallies[i] += r.run.tallies.count[i];
    close_reading(&r);
    return hash;
}

static void read_together(const char *document, size_t length, const struct tm_chrome_options *options,
                          const uint64_t *hashes, const uint64_t *tallies)
{
    static const enum tm_tally which[] = {
        TM_TALLY_REPEATED_KEY,    TM_TALLY_NESTED_ARGUMENT, TM_TALLY_BAD_NUMBER,        TM_TALLY_STRING_NUMBER,
        TM_TALLY_EXPONENT_NUMBER, TM_TALLY_UNICODE_NAME,    TM_TALLY_CONTROL_CHARACTER, TM_TALLY_LONE_SURROGATE,
    };
    const struct tm_chrome_event *e;
    struct reading r;

    open_reading(&r, document, length, options);
    for (int i = 0; i < EVENTS; i++) {
        if (!hashes[i])
            continue;
        assert_int_equal(tm_chrome_next(r.reader, &e), TM_OK);
        assert_non_null(e);
        if (hash_of_event(e) != hashes[i])
            fail_msg("engine %d, event %d differs: %.60s", (int)options->engine, i, document + e->offset);
    }
    assert_int_equal(tm_chrome_next(r.reader, &e), TM_OK);
    assert_null(e);
    for (size_t i = 0; i < sizeof(which) / sizeof(which[0]); i++)
        assert_int_equal(r.run.tallies.count[which[i]], tallies[which[i]]);
    close_reading(&r);
}

static void what_came_before_changes_nothing(void **state)
{
    char *const document = malloc((size_t)EVENTS * EVENT_MOST);
    uint64_t *const hashes = calloc(EVENTS, sizeof(*hashes));
    uint64_t tallies[TM_TALLY_COUNT] = { 0 };
    size_t length = 0;

    (void)state;
    assert_non_null(document);
    assert_non_null(hashes);
    seed = 1;
    for (int i = 0; i < EVENTS; i++) {
        struct text event;

        make_event(&event);
        hashes[i] = read_alone(&event, tallies);
        document[length++] = i ? ',' : '[';
        memcpy(document + length, event.at, event.length);
        length += event.length;
    }
    document[length++] = ']';
    assert_true(tallies[TM_TALLY_REPEATED_KEY] > 50);
    for (int engine = TM_JSON_BEST; engine < TM_JSON_ENGINES; engine++) {
        const struct tm_chrome_options wide = { .engine = (enum tm_json_engine)engine };
        const struct tm_chrome_options pieces = { .engine = (enum tm_json_engine)engine, .read_bytes = 61 };
        const struct tm_chrome_options narrow = { .engine = (enum tm_json_engine)engine, .window_bytes = 4096 };

        if (!tm_json_engine_works((enum tm_json_engine)engine))
            continue;
        read_together(document, length, &wide, hashes, tallies);
        read_together(document, length, &pieces, hashes, tallies);
        read_together(document, length, &narrow, hashes, tallies);
    }
    free(document);
    free(hashes);
}

/* Zero bytes in a head are like those behind the window, behind which older content of the same layout may stand. */
static void zeros_are_not_what_is_behind_the_window(void **state)
{
    enum { ZEROS = 70, COUNT = 100, BYTES = 256, READS = 128 };
    char *const document = calloc(COUNT, BYTES);
    size_t length = 0;

    (void)state;
    assert_non_null(document);
    for (int i = 0; i < COUNT; i++) {
        length += (size_t)snprintf(document + length, BYTES, "%s{\"cat\":\"", i ? "," : "[") + ZEROS;
        length += (size_t)snprintf(document + length, BYTES, "\",\"ts\":%06d,\"ph\":\"i\"}", 100000 + i);
    }
    document[length++] = ']';
    for (int i = 0; i < 4 * READS; i++) {
        const struct tm_chrome_options options = { .window_bytes = 1024,
                                                   .read_bytes = (size_t)(i / 4) + 1,
                                                   .engine = (enum tm_json_engine)(TM_JSON_BEST + i % 4) };
        const struct tm_chrome_event *e;
        struct reading r;

        if (!tm_json_engine_works(options.engine))
            continue;
        open_reading(&r, document, length, &options);
        for (int at = 0; at < COUNT; at++) {
            assert_int_equal(tm_chrome_next(r.reader, &e), TM_OK);
            assert_non_null(e);
            assert_int_equal(e->ts.us, 100000 + at);
        }
        close_reading(&r);
    }
    free(document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_came_before_changes_nothing),
        cmocka_unit_test(zeros_are_not_what_is_behind_the_window),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
