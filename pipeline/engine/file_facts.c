/* SPDX-License-Identifier: Apache-2.0 */
/* One table of the reported properties of a file.  The order of its rows is that of the summary, and of a partial. */
#include "pipeline/engine/analysis.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/discover.h"
#include "pipeline/doc/doc.h"
#include "pipeline/partial.h"
#include "pipeline/redact.h"
#include "pipeline/run.h"
#include "pipeline/strings.h"
#include "pipeline/trace.h"
#include "stages/figures/device_profiles.h"
#include "stages/input/bytes/input_file.h"
#include "stages/output/trace_writer.h"

/* Clocks of hosts: their recorded values, and their positions.  Allocates no memory. */

/* Hosts of one run start within this time; clocks that are further apart do not agree. */
static const int64_t clocks_apart_ns = INT64_C(2) * 86400 * 1000000000;
/* Before the first event of all hosts, where their clocks are aligned. */
static const int64_t empty_most_ns = 1000000000;

static int64_t floor_ns(int64_t ps)
{
    return ps / 1000 - (ps % 1000 < 0);
}

/* What the clock of a host read at its time 0; 0 = not recorded. */
static int64_t host_clock_base(const struct tm_trace *trace)
{
    int64_t base_ns;

    if (trace->origin == TM_ORIGIN_XSPACE)
        return trace->clock_ns <= INT64_MAX / 2 ? trace->clock_ns : 0;
    if (__builtin_mul_overflow(trace->origin_us, 1000, &base_ns) || base_ns > INT64_MAX / 2 || base_ns < 0)
        return 0;
    return base_ns;
}

void tm_host_clock_note(struct tm_host_clock *clock, const struct tm_trace *trace)
{
    *clock = (struct tm_host_clock){ .base_ns = host_clock_base(trace), .first_ps = trace->first_ps, .is_noted = true };
}

/* By the recorded starts.  out: the reading of the clock where the earliest starts */
static int64_t place_recorded(struct tm_host_clock *clocks, uint32_t count)
{
    int64_t base_ns = INT64_MAX;

    for (uint32_t i = 0; i < count; i++)
        if (clocks[i].base_ns && clocks[i].base_ns < base_ns)
            base_ns = clocks[i].base_ns;
    base_ns = base_ns == INT64_MAX ? 0 : base_ns;
    for (uint32_t i = 0; i < count; i++) {
        struct tm_host_clock *clock = &clocks[i];

        if (!clock->base_ns || clock->base_ns - base_ns > clocks_apart_ns)
            clock->base_ns = base_ns;
        clock->to_output = (struct tm_clock){ .offset_ps = 0 };
        if (__builtin_mul_overflow(clock->base_ns - base_ns, 1000, &clock->to_output.offset_ps))
            clock->to_output.offset_ps = INT64_MAX; /* its events will not fit */
    }
    return base_ns;
}

int64_t tm_host_clocks_first(const struct tm_host_clock *clocks, uint32_t count)
{
    int64_t first_ps = INT64_MAX, at_ps;

    for (uint32_t i = 0; i < count; i++)
        if (tm_clock_at(&clocks[i].to_output, clocks[i].first_ps, &at_ps) && at_ps < first_ps)
            first_ps = at_ps;
    return first_ps == INT64_MAX ? 0 : first_ps;
}

/* By the clocks that collectives show, where all hosts have one. */
static bool place_aligned(struct tm_host_clock *clocks, uint32_t count, const struct tm_value *summary)
{
    struct tm_clock clock;

    for (uint32_t i = 0; i < count; i++)
        if (!tm_clock_of_host(summary, i, &clock))
            return false;
    for (uint32_t i = 0; i < count; i++)
        tm_clock_of_host(summary, i, &clocks[i].to_output);
    return true;
}

int64_t tm_host_clocks_place(struct tm_host_clock *clocks, uint32_t count, const struct tm_value *summary)
{
    const int64_t base_ns = place_recorded(clocks, count);
    const bool is_aligned = place_aligned(clocks, count, summary);
    const int64_t first_ns = floor_ns(tm_host_clocks_first(clocks, count));
    int64_t origin_ns = INT64_MAX;

    for (uint32_t i = 0; i < count; i++) {
        int64_t first_ps;

        if (!tm_clock_at(&clocks[i].to_output, clocks[i].first_ps < 0 ? clocks[i].first_ps : 0, &first_ps))
            first_ps = clocks[i].first_ps < 0 ? INT64_MIN : INT64_MAX;
        origin_ns = floor_ns(first_ps) < origin_ns ? floor_ns(first_ps) : origin_ns;
    }
    /* A start that a wrong clock recorded long before anything happened is where nothing is. */
    if (is_aligned && first_ns - empty_most_ns > origin_ns)
        origin_ns = first_ns;
    for (uint32_t i = 0; i < count; i++) {
        int64_t *const offset_ps = &clocks[i].to_output.offset_ps;

        if (__builtin_sub_overflow(*offset_ps, (__int128)origin_ns * 1000, offset_ps))
            *offset_ps = INT64_MAX; /* its events will not fit */
    }
    return base_ns && base_ns + origin_ns > 0 ? base_ns + origin_ns : 0; /* no clock of a trace reads less than 0 */
}

/* Facts as pairs of strings.  Memory: two tables of a fixed size. */

enum { FACTS_MOST = 192, HOSTS_MOST = 8 /* with additional facts */, DEVICE_KINDS_MOST = 8 /* of a host */ };

struct tm_trace_fact_text {
    char key[96], value[512];
    bool is_number; /* which is not a name, however long it is: times are, and figures of devices */
};

tm_status tm_trace_facts_make(struct tm_trace_facts *facts, struct tm_run *run)
{
    struct tm_budget *budget = &run->budget;

    *facts = (struct tm_trace_facts){ .count = 0 };
    facts->list = tm_take(budget, TM_ACCOUNT_MODEL, FACTS_MOST * sizeof(*facts->list), &run->error);
    facts->texts = tm_take(budget, TM_ACCOUNT_MODEL, FACTS_MOST * sizeof(*facts->texts), &run->error);
    return run->error.status;
}

void tm_trace_facts_free(struct tm_trace_facts *facts, struct tm_run *run)
{
    tm_give(&run->budget, TM_ACCOUNT_MODEL, facts->list, facts->list ? FACTS_MOST * sizeof(*facts->list) : 0);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, facts->texts, facts->texts ? FACTS_MOST * sizeof(*facts->texts) : 0);
    *facts = (struct tm_trace_facts){ .count = 0 };
}

/* in: host  whose name is before the key; NULL = none */
static void add_fact(struct tm_trace_facts *facts, const char *host, const char *key, const char *value)
{
    struct tm_trace_fact_text *text;

    if (!value[0] || facts->count == FACTS_MOST)
        return;
    text = &facts->texts[facts->count];
    (void)snprintf(text->key, sizeof(text->key), "%s%s%s", host ? host : "", host ? "." : "", key);
    (void)snprintf(text->value, sizeof(text->value), "%s", value);
    text->is_number = false;
    facts->list[facts->count++] = (struct tm_out_fact){ text->key, text->value };
}

/* A value that is not a name. */
static void add_figure(struct tm_trace_facts *facts, const char *host, const char *key, const char *text)
{
    const size_t before = facts->count;

    add_fact(facts, host, key, text);
    if (facts->count > before)
        facts->texts[before].is_number = true;
}

static void add_number(struct tm_trace_facts *facts, const char *host, const char *key, int64_t value, bool is_known)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%lld", (long long)value);
    add_figure(facts, host, key, is_known ? text : "");
}

/* The host before a key. */
static void redact_key(struct tm_redactor *redactor, char *key, size_t bytes, const char *bare)
{
    char host[96], rest[32];

    (void)snprintf(rest, sizeof(rest), "%.31s", bare);
    (void)snprintf(host, sizeof(host), "%.*s", (int)(bare - key - 1), key);
    tm_redact_host(redactor, host, sizeof(host), host);
    (void)snprintf(key, bytes, "%.60s.%s", host, rest);
}

static void redact_value(struct tm_redactor *redactor, char *value, size_t bytes, const char *key)
{
    const char *path = value;
    size_t length = strlen(value);

    if (strcmp(key, "host") == 0) {
        tm_redact_host(redactor, value, bytes, value);
    } else if (strcmp(key, "run") != 0 && strcmp(key, "source") != 0) {
        tm_redact_into(redactor, value, bytes, value);
    } else {
        tm_redact_path(redactor, path, length, &path, &length);
        (void)snprintf(value, bytes, "%s", path);
    }
}

static const char *bare_key(const struct tm_trace_fact_text *text)
{
    const char *const dot = strrchr(text->key, '.');

    return dot ? dot + 1 : text->key;
}

void tm_trace_facts_redact(struct tm_trace_facts *facts, struct tm_redactor *redactor)
{
    for (size_t i = 0; i < facts->count; i++)
        if (strcmp(bare_key(&facts->texts[i]), "host") == 0)
            tm_redactor_know_host(redactor, facts->texts[i].value);
    for (size_t i = 0; i < facts->count; i++) {
        struct tm_trace_fact_text *const text = &facts->texts[i];
        const char *const key = bare_key(text);

        if (strncmp(text->key, "tracemill.", strlen("tracemill.")) == 0)
            continue;
        if (!text->is_number)
            redact_value(redactor, text->value, sizeof(text->value), key);
        if (key != text->key)
            redact_key(redactor, text->key, sizeof(text->key), key);
    }
}

void tm_trace_facts_add_run(struct tm_trace_facts *facts, enum tm_args_level args, const char *run_name)
{
    static const char *const level[] = { "all", "essential", "none" };

    add_fact(facts, NULL, "tracemill.version", TM_VERSION);
    add_fact(facts, NULL, "tracemill.arguments", level[args]);
    add_fact(facts, NULL, "run", run_name);
}

/* --- what a profile says of its devices --- */

static bool has_capabilities(const struct tm_device *d)
{
    return d->model[0] || d->vendor[0] || d->core_count || d->memory_bandwidth_bytes || d->memory_bytes ||
           d->clock_khz || d->capability_major || d->capability_minor || d->peak_tflops > 0;
}

static bool is_same_model(const struct tm_device *a, const struct tm_device *b)
{
    return a->kind == b->kind && strcmp(a->model, b->model) == 0 && strcmp(a->vendor, b->vendor) == 0 &&
           a->core_count == b->core_count && a->memory_bandwidth_bytes == b->memory_bandwidth_bytes &&
           a->memory_bytes == b->memory_bytes && a->clock_khz == b->clock_khz &&
           a->capability_major == b->capability_major && a->capability_minor == b->capability_minor &&
           a->peak_tflops == b->peak_tflops;
}

/* Those like devices[first], in the order of their ordinals: "0-3,6".  out: false: they do not fit */
static bool list_ordinals(const struct tm_trace *trace, uint32_t first, char *text, size_t size)
{
    size_t used = 0;

    for (uint32_t i = first; i < trace->device_count; i++) {
        const int64_t from = trace->devices[i].ordinal;
        int64_t to = from;

        if (!is_same_model(&trace->devices[first], &trace->devices[i]))
            continue;
        while (i + 1 < trace->device_count && trace->devices[i + 1].ordinal == to + 1 &&
               is_same_model(&trace->devices[first], &trace->devices[i + 1])) {
            to++;
            i++;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%lld", used ? "," : "", (long long)from);
        if (to > from && used < size)
            used += (size_t)snprintf(text + used, size - used, "-%lld", (long long)to);
        if (used >= size)
            return false;
    }
    return true;
}

static void add_number_of(char text[512], const char *key, uint64_t value)
{
    const size_t used = strlen(text);

    if (value)
        (void)snprintf(text + used, 512 - used, " %s=%llu", key, (unsigned long long)value);
}

/* Devices with the same capabilities are one fact, with the ids of all of them, and two more for the names:
 *
 *     device_0         gpu:0-7 capability=9.0 cores=132 clock_khz=1980000 memory=85017624576 bandwidth=3352320000000
 *     device_0_model   NVIDIA H100 80GB HBM3
 *     device_0_vendor  Nvidia
 *
 * stages/input/perfetto reads them again. */
static void add_devices(struct tm_trace_facts *facts, const char *host, const struct tm_trace *trace)
{
    unsigned number = 0;

    for (uint32_t i = 0; i < trace->device_count && number < DEVICE_KINDS_MOST; i++) {
        const struct tm_device *const d = &trace->devices[i];
        char key[32], text[512], ordinals[200];
        bool is_first = has_capabilities(d);
        size_t used;

        for (uint32_t k = 0; k < i && is_first; k++)
            is_first = !is_same_model(&trace->devices[k], d);
        if (!is_first || !list_ordinals(trace, i, ordinals, sizeof(ordinals)))
            continue;
        (void)snprintf(text, sizeof(text), "%s:%s", tm_device_kind_name[d->kind], ordinals);
        used = strlen(text);
        if (d->capability_major || d->capability_minor)
            (void)snprintf(text + used, sizeof(text) - used, " capability=%u.%u", d->capability_major,
                           d->capability_minor);
        add_number_of(text, "cores", d->core_count);
        add_number_of(text, "clock_khz", d->clock_khz);
        add_number_of(text, "memory", d->memory_bytes);
        add_number_of(text, "bandwidth", d->memory_bandwidth_bytes);
        used = strlen(text);
        if (d->peak_tflops > 0)
            (void)snprintf(text + used, sizeof(text) - used, " peak_tflops=%.17g", d->peak_tflops);
        (void)snprintf(key, sizeof(key), "device_%u", number);
        add_figure(facts, host, key, text);
        (void)snprintf(key, sizeof(key), "device_%u_model", number);
        add_fact(facts, host, key, d->model);
        (void)snprintf(key, sizeof(key), "device_%u_vendor", number++);
        add_fact(facts, host, key, d->vendor);
    }
}

/* Those whose times are on clocks of their own: "tpu:0=93/27520000000 tpu:1=91/...", their jumps and the largest one in ps.  The
 * first ones, as far as there is room. */
static void add_device_clocks(struct tm_trace_facts *facts, const char *host, const struct tm_trace *trace)
{
    char text[512] = "";
    size_t used = 0;

    for (uint32_t i = 0; i < trace->device_count && used + 64 < sizeof(text); i++) {
        const struct tm_device *const d = &trace->devices[i];

        if (d->has_device_clock)
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s:%lld=%llu/%lld", used ? " " : "",
                                     tm_device_kind_name[d->kind], (long long)d->ordinal,
                                     (unsigned long long)d->clock_jumps, (long long)d->largest_clock_jump_ps);
    }
    add_figure(facts, host, "device_clocks", text);
}

void tm_trace_facts_add_host(struct tm_trace_facts *facts, const struct tm_trace *trace, const char *path, bool is_only)
{
    const struct tm_environment *e = &trace->environment;
    const char *host = is_only ? NULL : trace->host_name;
    size_t length;

    if (!is_only && trace->host >= HOSTS_MOST)
        return;
    add_fact(facts, host, "source", tm_last_part(path, &length));
    add_figure(facts, host, "origin", tm_origin_name[trace->origin]);
    add_fact(facts, host, "host", e->host[0] ? e->host : trace->host_name);
    add_fact(facts, host, "framework", e->framework);
    add_fact(facts, host, "jax", e->jax);
    add_fact(facts, host, "jaxlib", e->jaxlib);
    add_fact(facts, host, "platform_version", e->platform_version);
    add_fact(facts, host, "cuda", e->cuda);
    add_fact(facts, host, "cuda_runtime", e->cuda_runtime);
    add_fact(facts, host, "driver", e->driver);
    add_fact(facts, host, "rocm", e->rocm);
    add_fact(facts, host, "libtpu", e->libtpu);
    add_fact(facts, host, "profile_options", e->profile_options);
    add_number(facts, host, "rank", e->rank, e->rank >= 0);
    add_number(facts, host, "world_size", e->world_size, e->world_size >= 0);
    add_number(facts, host, "profile_begin_ns", (int64_t)e->begin_ns, e->begin_ns && e->begin_ns <= INT64_MAX);
    add_number(facts, host, "profile_end_ns", (int64_t)e->end_ns, e->end_ns && e->end_ns <= INT64_MAX);
    add_devices(facts, host, trace);
    add_device_clocks(facts, host, trace);
}

void tm_trace_facts_add_clocks(struct tm_trace_facts *facts, const struct tm_value *summary, uint32_t hosts)
{
    const struct tm_value *list = tm_path(summary, "collectives.skew.clock.list");

    if (hosts < 2)
        return;
    add_fact(facts, NULL, "tracemill.clocks", tm_length(list) == hosts ? "aligned" : "recorded start");
    for (size_t i = 0; i < tm_length(list) && i < HOSTS_MOST; i++) {
        const struct tm_value *row = tm_at(list, i), *uncertainty = tm_get(row, "uncertainty_ps");
        const char *host = tm_text(tm_get(row, "host"));
        char drift[32];

        (void)snprintf(drift, sizeof(drift), "%.6f", tm_double(tm_get(row, "drift_ppm")));
        add_fact(facts, host, "clock", tm_text(tm_get(row, "method")));
        add_number(facts, host, "clock_offset_ps", tm_int(tm_get(row, "offset_ps")), true);
        add_fact(facts, host, "clock_drift_ppm", drift);
        add_number(facts, host, "clock_uncertainty_ps", tm_int(uncertainty), tm_has(uncertainty));
    }
}

void tm_trace_facts_add_clock_of(struct tm_trace_facts *facts, const struct tm_trace_facts *from, const char *host)
{
    const size_t length = strlen(host);

    for (size_t i = 0; i < from->count; i++) {
        const char *const key = from->list[i].key;

        if (strcmp(key, "tracemill.clocks") == 0)
            add_fact(facts, NULL, key, from->list[i].value);
        else if (strncmp(key, host, length) == 0 && strncmp(key + length, ".clock", 6) == 0)
            add_fact(facts, NULL, key + length + 1, from->list[i].value);
    }
}

enum fact_kind { FACT_TEXT, FACT_TEXT_OR_NULL, FACT_COUNT, FACT_TIME, FACT_BOOL, FACT_TEXTS };

/* A member of struct tm_file_facts. */
struct fact {
    const char *key;
    enum fact_kind kind;
    unsigned places;       /* enum tm_facts_place */
    size_t at, bytes;      /* bytes: of a string */
    size_t count_at, most; /* of strings: the position of their number, and its maximum */
};

#define MEMBER(name) offsetof(struct tm_file_facts, name)
#define TEXT(name) MEMBER(name), sizeof(((struct tm_file_facts *)0)->name), 0, 0
#define TEXTS(name, count)                                                                                             \
    MEMBER(name), sizeof(((struct tm_file_facts *)0)->name[0]), MEMBER(count),                                         \
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

/* more than fit are left out */
static void file_facts_problem(struct tm_file_facts *facts, const char *text)
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
                   : tm_kind_is_streamed(input->kind)   ? "perfetto"
                                                        : "xspace");
    (void)snprintf(facts->wrapping, sizeof(facts->wrapping), "%s", wrappings[input->wrapping]);
    tm_file_facts_fingerprint(input, facts->xxh3);
    facts->is_gzip = input->wrapping == TM_GZIP;
    facts->bytes = input->disk_bytes;
    facts->inflated_bytes = input->bytes;
    facts->events = events;
    facts->is_archived = found->member != NULL;
    facts->is_partial = input->partial || found->problem || (trace && trace->partial);
    file_facts_problem(facts, input->problem);
    file_facts_problem(facts, found->problem);
    if (!trace)
        return;
    (void)snprintf(facts->host, sizeof(facts->host), "%s", found->host);
    facts->origin_us = trace->origin_us;
    facts->clock_ns = host_clock_base(trace);
    facts->first_ps = trace->first_ps;
    file_facts_problem(facts, trace->problem);
    if (trace->note[0])
        memcpy(facts->notes[facts->note_count++], trace->note, sizeof(facts->notes[0]));
}

/* --- in documents --- */

static void put_fact(const struct tm_file_facts *facts, const struct fact *fact, struct tm_value *to)
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
            tm_add_null(to, fact->key, "a device memory profile has no host");
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
            put_fact(facts, &file_facts[i], to);
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

/* A string that has been in a document: valid UTF-8, so that it keeps its length in the next one. */
static void load_text(struct tm_partial_reader *r, char *to, size_t bytes)
{
    tm_partial_text(r, to, bytes);
    if (!tm_utf8_is_valid(to, strlen(to)))
        (void)tm_partial_damaged(r, "a text is not valid UTF-8");
}

static void load_fact(struct tm_partial_reader *r, const struct fact *fact, struct tm_file_facts *facts)
{
    char *at = (char *)facts + fact->at;
    uint32_t count;

    switch (fact->kind) {
    case FACT_TEXT:
        load_text(r, at, fact->bytes);
        break;
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
            load_text(r, at + i * fact->bytes, fact->bytes);
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

/* A device memory profile as an input of a run: it has no host and no events. */

static void read_content(struct tm_run *run, struct tm_names *names, const struct tm_found_file *found,
                         struct tm_input *input, struct tm_device_profiles *profiles, struct tm_file_facts *facts)
{
    struct tm_pprof_damage damage = { .is_damaged = false };
    char name[TM_FOUND_NAME_BYTES];

    tm_names_begin_host(names);
    tm_input_hold(input);
    if (!tm_failed(run))
        tm_device_profiles_begin(profiles, tm_found_name(found, name));
    if (!tm_failed(run)) {
        tm_pprof_read(run, input, names, tm_device_profiles_take, profiles, &damage);
        tm_device_profiles_end(profiles);
    }
    if (!tm_failed(run))
        tm_input_finish(input);
    if (tm_while(&run->error, "reading '%s'", tm_found_name(found, name)))
        return;
    tm_file_facts_take(facts, input, found, NULL, 0);
    facts->is_partial |= damage.is_damaged;
    file_facts_problem(facts, damage.problem);
}

tm_status tm_memory_file_read(struct tm_run *run, struct tm_names *names, const struct tm_found_file *found,
                              struct tm_device_profiles *profiles, struct tm_file_facts *facts)
{
    const struct tm_input_options options = { .member = found->member,
                                              .target = found->target,
                                              .position = found->position };
    struct tm_input own = { .run = NULL };

    if (found->opened || !tm_input_open_with(&own, run, found->path, &options))
        read_content(run, names, found, found->opened ? found->opened : &own, profiles, facts);
    tm_input_close(&own);
    return run->error.status;
}
