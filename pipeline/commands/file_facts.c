/* SPDX-License-Identifier: Apache-2.0 */
/* One table of what is told of a file.  The order of its rows is that of the summary, and of a partial. */
#include "pipeline/commands/file_facts.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/commands/host_clocks.h"

enum fact_kind { FACT_TEXT, FACT_TEXT_OR_NULL, FACT_COUNT, FACT_TIME, FACT_BOOL, FACT_TEXTS };

/* A member of struct tm_file_facts. */
struct fact {
    const char *key;
    enum fact_kind kind;
    unsigned places;     /* enum tm_facts_place */
    size_t at, bytes;    /* bytes: of a text */
    size_t count_at, most; /* of texts: where their number stands, and how many there may be */
};

#define MEMBER(name) offsetof(struct tm_file_facts, name)
#define TEXT(name) MEMBER(name), sizeof(((struct tm_file_facts *)0)->name), 0, 0
#define TEXTS(name, count) \
    MEMBER(name), sizeof(((struct tm_file_facts *)0)->name[0]), MEMBER(count), \
        sizeof(((struct tm_file_facts *)0)->name) / sizeof(((struct tm_file_facts *)0)->name[0])

enum { BOTH = TM_FACTS_SUMMARY | TM_FACTS_INSPECT };

static const struct fact file_facts[] = {
    { "path", FACT_TEXT, BOTH, TEXT(path) },
    { "kind", FACT_TEXT, BOTH, TEXT(format) },
    { "bytes", FACT_COUNT, BOTH, MEMBER(bytes), 0, 0, 0 },
    { "gzip", FACT_BOOL, TM_FACTS_INSPECT, MEMBER(is_gzip), 0, 0, 0 },
    { "wrapping", FACT_TEXT, TM_FACTS_INSPECT, TEXT(wrapping) },
    { "inflated_bytes", FACT_COUNT, TM_FACTS_INSPECT, MEMBER(inflated_bytes), 0, 0, 0 },
    { "xxh3", FACT_TEXT, BOTH, TEXT(xxh3) },
    { "host", FACT_TEXT_OR_NULL, BOTH, TEXT(host) },
    { "events", FACT_COUNT, BOTH, MEMBER(events), 0, 0, 0 },
    { "origin_us", FACT_TIME, TM_FACTS_SUMMARY, MEMBER(origin_us), 0, 0, 0 },
    { "clock_ns", FACT_TIME, TM_FACTS_SUMMARY, MEMBER(clock_ns), 0, 0, 0 },
    { "first_ps", FACT_TIME, TM_FACTS_SUMMARY, MEMBER(first_ps), 0, 0, 0 },
    { "archived", FACT_BOOL, TM_FACTS_SUMMARY, MEMBER(is_archived), 0, 0, 0 },
    { "partial", FACT_BOOL, BOTH, MEMBER(is_partial), 0, 0, 0 },
    { "problems", FACT_TEXTS, BOTH, TEXTS(problems, problem_count) },
    { "notes", FACT_TEXTS, BOTH, TEXTS(notes, note_count) },
};
enum { FACTS = sizeof(file_facts) / sizeof(file_facts[0]) };

/* --- what a file is --- */

void tm_file_facts_problem(struct tm_file_facts *facts, const char *text)
{
    if (text && text[0] && facts->problem_count < TM_PROBLEMS_MOST)
        (void)snprintf(facts->problems[facts->problem_count++], sizeof(facts->problems[0]), "%s", text);
}

void tm_file_facts_fingerprint(const struct tm_input *input, char text[TM_CONTENT_HASH_BYTES])
{
    (void)snprintf(text, TM_CONTENT_HASH_BYTES, "%016llx", (unsigned long long)input->xxh3);
}

void tm_file_facts_take(struct tm_file_facts *facts, const struct tm_input *input, const struct tm_found_file *found,
                        const struct tm_trace *trace, uint64_t events)
{
    static const char *const wrappings[] = { [TM_PLAIN] = "none", [TM_GZIP] = "gzip", [TM_ZSTD] = "zstd" };
    char name[TM_FOUND_NAME_BYTES];

    memset(facts, 0, sizeof(*facts));
    (void)snprintf(facts->path, sizeof(facts->path), "%s", tm_found_name(found, name));
    (void)snprintf(facts->format, sizeof(facts->format), "%s",
                   input->kind == TM_FILE_PPROF         ? "pprof"
                   : input->kind == TM_FILE_CHROME_JSON ? "chrome_json"
                                                        : "xspace");
    (void)snprintf(facts->wrapping, sizeof(facts->wrapping), "%s", wrappings[input->wrapping]);
    tm_file_facts_fingerprint(input, facts->xxh3);
    facts->is_gzip = input->wrapping == TM_GZIP;
    facts->bytes = input->disk_bytes;
    facts->inflated_bytes = input->bytes;
    facts->events = events;
    facts->is_archived = found->member != NULL;
    facts->is_partial = input->partial || found->problem || (trace && trace->partial);
    tm_file_facts_problem(facts, input->problem);
    tm_file_facts_problem(facts, found->problem);
    if (!trace)
        return;
    (void)snprintf(facts->host, sizeof(facts->host), "%s", found->host);
    facts->origin_us = trace->origin_us;
    facts->clock_ns = tm_host_clock_base(trace);
    facts->first_ps = trace->first_ps;
    tm_file_facts_problem(facts, trace->problem);
    if (trace->note[0])
        memcpy(facts->notes[facts->note_count++], trace->note, sizeof(facts->notes[0]));
}

/* --- in documents --- */

static void add_fact(const struct tm_file_facts *facts, const struct fact *fact, struct tm_value *to)
{
    const char *at = (const char *)facts + fact->at;
    struct tm_value *list;
    uint32_t count;

    switch (fact->kind) {
    case FACT_TEXT:
    case FACT_TEXT_OR_NULL:
        if (fact->kind == FACT_TEXT || at[0])
            tm_add_text(to, fact->key, at, strlen(at));
        else
            tm_add_null(to, fact->key, "a device memory profile tells no host");
        break;
    case FACT_COUNT:
        tm_add_uint(to, fact->key, *(const uint64_t *)(const void *)at);
        break;
    case FACT_TIME:
        tm_add_int(to, fact->key, *(const int64_t *)(const void *)at);
        break;
    case FACT_BOOL:
        tm_add_bool(to, fact->key, *(const bool *)at);
        break;
    case FACT_TEXTS:
        list = tm_add_array(to, fact->key);
        memcpy(&count, (const char *)facts + fact->count_at, sizeof(count));
        for (uint32_t i = 0; i < count; i++)
            tm_add_text(list, NULL, at + i * fact->bytes, strlen(at + i * fact->bytes));
        break;
    }
}

void tm_file_facts_add(const struct tm_file_facts *facts, enum tm_facts_place place, struct tm_value *list)
{
    struct tm_value *to = tm_add_object(list, NULL);

    for (size_t i = 0; i < FACTS; i++)
        if (file_facts[i].places & place)
            add_fact(facts, &file_facts[i], to);
}

/* --- in partials --- */

static void save_fact(struct tm_partial_writer *w, const struct fact *fact, const struct tm_value *value)
{
    switch (fact->kind) {
    case FACT_TEXT:
    case FACT_TEXT_OR_NULL:
        tm_partial_put_text(w, tm_text(value));
        break;
    case FACT_COUNT:
    case FACT_TIME:
        tm_partial_put_i64(w, tm_int(value));
        break;
    case FACT_BOOL:
        tm_partial_put_u8(w, tm_is(value));
        break;
    case FACT_TEXTS:
        tm_partial_put_u32(w, (uint32_t)tm_length(value));
        for (size_t i = 0; i < tm_length(value); i++)
            tm_partial_put_text(w, tm_text(tm_at(value, i)));
        break;
    }
}

void tm_file_facts_save(struct tm_partial_writer *w, const struct tm_value *file, const char *host)
{
    for (size_t i = 0; i < FACTS; i++) {
        if (file_facts[i].kind == FACT_TEXT_OR_NULL)
            tm_partial_put_text(w, host ? host : "");
        else if (file_facts[i].places & TM_FACTS_SUMMARY)
            save_fact(w, &file_facts[i], tm_get(file, file_facts[i].key));
    }
}

static void load_fact(struct tm_partial_reader *r, const struct fact *fact, struct tm_file_facts *facts)
{
    char *at = (char *)facts + fact->at;
    uint32_t count;

    switch (fact->kind) {
    case FACT_TEXT:
    case FACT_TEXT_OR_NULL:
        tm_partial_text(r, at, fact->bytes);
        break;
    case FACT_COUNT:
        *(uint64_t *)(void *)at = tm_partial_u64(r);
        break;
    case FACT_TIME:
        *(int64_t *)(void *)at = tm_partial_i64(r);
        break;
    case FACT_BOOL:
        *(bool *)at = tm_partial_bool(r);
        break;
    case FACT_TEXTS:
        count = tm_partial_below_u32(r, fact->most + 1);
        for (uint32_t i = 0; i < count; i++)
            tm_partial_text(r, at + i * fact->bytes, fact->bytes);
        memcpy((char *)facts + fact->count_at, &count, sizeof(count));
        break;
    }
}

tm_status tm_file_facts_load(struct tm_partial_reader *r, struct tm_file_facts *facts)
{
    memset(facts, 0, sizeof(*facts));
    for (size_t i = 0; i < FACTS; i++)
        if (file_facts[i].places & TM_FACTS_SUMMARY)
            load_fact(r, &file_facts[i], facts);
    return tm_partial_status(r);
}
