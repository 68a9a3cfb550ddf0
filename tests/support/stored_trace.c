/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/stored_trace.h"

#include <stdio.h>
#include <stdlib.h>

static const char kind_letters[] = "XiCstfBE"; /* in the order of enum tm_kind */

void stored_trace_init(struct stored_trace *stored, struct tm_run *run, uint64_t tracks)
{
    const uint64_t refuse_in = run->budget.refuse_in;

    run->budget.refuse_in = 0;
    *stored = (struct stored_trace){ .run = run, .trace = { .run = run } };
    stored->trace.names = tm_names_new(run, 1 << 20, NULL);
    stored->trace.tracks = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(struct tm_track), 1 << 20);
    assert_non_null(stored->trace.names);
    assert_non_null(stored->trace.tracks);
    for (uint64_t i = 0; i < tracks; i++) {
        const struct tm_track track = { .id = (int64_t)i * 3 };

        tm_rows_append(stored->trace.tracks, &track);
    }
    run->budget.refuse_in = refuse_in;
    stored->store = tm_record_store_new(&stored->trace, NULL);
}

void stored_trace_free(struct stored_trace *stored)
{
    tm_record_store_free(stored->store);
    tm_rows_free(stored->trace.tracks);
    tm_names_free(stored->trace.names);
}

tm_strid stored_name(struct stored_trace *stored, const char *name)
{
    return tm_names_put_string(stored->trace.names, name);
}

/* Read one line of the notation. */
static void read_line(struct stored_trace *stored, char *line, struct tm_record *record,
                      struct tm_arguments_builder *own)
{
    char *rest = NULL;
    const char *letter;

    line += strspn(line, " ");
    letter = strchr(kind_letters, line[0]);
    assert_non_null(letter);
    record->kind = (uint8_t)(letter - kind_letters);
    record->start_ps = strtoll(line + 1, &rest, 10);
    if (*rest == '+')
        record->dur_ps = strtoll(rest + 1, &rest, 10);
    for (char *word = strtok_r(NULL, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (word[0] == '#')
            record->correlation = strtoull(word + 1, NULL, 10);
        else if (word[0] == '=')
            tm_put_text(own, 0, word + 1, strlen(word + 1));
        else
            record->name = stored_name(stored, word);
    }
}

void stored_add(struct stored_trace *stored, uint32_t track, const char *lines)
{
    char copy[4096];
    char *rest = copy;

    assert_true(strlen(lines) < sizeof(copy));
    memcpy(copy, lines, strlen(lines) + 1);
    for (char *line = strsep(&rest, ";"); line; line = strsep(&rest, ";")) {
        struct tm_raw_record raw = { .record = { .track = track } };
        struct tm_arguments_builder own;
        uint8_t bytes[1024];

        tm_arguments_begin(&own, stored->trace.names, bytes, sizeof(bytes));
        read_line(stored, line, &raw.record, &own);
        raw.own = tm_arguments_end(&own);
        tm_record_store_add(stored->store, &raw);
    }
}

static size_t print_words(struct tm_arguments own, char *to, size_t size)
{
    struct tm_argument word;
    size_t used = 0;

    while (tm_arguments_next(&own, true, &word))
        used += (size_t)snprintf(to + used, size - used, " =%.*s", (int)word.length, word.text);
    return used;
}

static int print_record(struct stored_trace *stored, const struct tm_record *r, char *to, size_t size)
{
    const char *const open = r->flags & TM_FLAG_OPEN ? "!" : "";
    char key[24] = "", name[64] = "", dur[24] = "";

    if (r->name)
        (void)snprintf(name, sizeof(name), " %s", tm_names_text(stored->trace.names, r->name, 0, NULL));
    if (tm_is_flow(r) && r->correlation >> 32)
        (void)snprintf(key, sizeof(key), " #hash");
    else if (r->correlation)
        (void)snprintf(key, sizeof(key), " #%llu", (unsigned long long)r->correlation);
    if (r->kind == TM_SPAN)
        (void)snprintf(dur, sizeof(dur), "+%lld", (long long)r->dur_ps);
    return snprintf(to, size, "%c%lld%s%s%s%s", kind_letters[r->kind], (long long)r->start_ps, dur, open, name, key);
}

void assert_stored(struct stored_trace *stored, uint32_t track, const char *expected)
{
    struct tm_record_place place;
    char text[4096] = "";
    size_t at = 0;

    tm_record_store_begin(stored->store, track, &place);
    for (;;) {
        struct tm_raw_record raw;
        uint8_t *own;
        bool more;

        more = tm_record_store_next(&place, &raw);
        if (!more)
            break;
        assert_int_equal(tm_record_store_own(&place, &raw, &own), TM_OK);
        assert_int_equal(raw.record.track, track);
        assert_true(at + 200 < sizeof(text));
        if (at)
            text[at++] = ';';
        at += (size_t)print_record(stored, &raw.record, text + at, sizeof(text) - at);
        at += print_words(raw.own, text + at, sizeof(text) - at);
    }
    tm_record_store_end(&place);
    assert_string_equal(text, expected);
}
