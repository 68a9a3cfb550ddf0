/* SPDX-License-Identifier: Apache-2.0 */
/* Facts as pairs of texts.  Memory: two tables of a fixed size. */
#include "pipeline/commands/trace_facts.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/discover.h"
#include "pipeline/version.h"

enum { FACTS_MOST = 64, HOSTS_MOST = 8 /* that tell facts of their own */ };

struct tm_trace_fact_text {
    char key[96], value[512];
};

tm_status tm_trace_facts_make(struct tm_trace_facts *facts, struct tm_run *run)
{
    struct tm_budget *budget = &run->budget;

    *facts = (struct tm_trace_facts){ .count = 0 };
    facts->list = tm_take(budget, TM_ACCOUNT_MODEL, FACTS_MOST * sizeof(*facts->list), &run->error);
    if (facts->list)
        facts->texts = tm_take(budget, TM_ACCOUNT_MODEL, FACTS_MOST * sizeof(*facts->texts), &run->error);
    return facts->texts ? TM_OK : run->error.status;
}

void tm_trace_facts_free(struct tm_trace_facts *facts, struct tm_run *run)
{
    tm_give(&run->budget, TM_ACCOUNT_MODEL, facts->list, FACTS_MOST * sizeof(*facts->list));
    tm_give(&run->budget, TM_ACCOUNT_MODEL, facts->texts, FACTS_MOST * sizeof(*facts->texts));
    *facts = (struct tm_trace_facts){ .count = 0 };
}

/* in: host  whose name stands before the key; NULL = nobody's */
static void add_fact(struct tm_trace_facts *facts, const char *host, const char *key, const char *value)
{
    struct tm_trace_fact_text *text;

    if (!value[0] || facts->count == FACTS_MOST)
        return;
    text = &facts->texts[facts->count];
    (void)snprintf(text->key, sizeof(text->key), "%s%s%s", host ? host : "", host ? "." : "", key);
    (void)snprintf(text->value, sizeof(text->value), "%s", value);
    facts->list[facts->count++] = (struct tm_out_fact){ text->key, text->value };
}

static void add_number(struct tm_trace_facts *facts, const char *host, const char *key, int64_t value, bool is_known)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%lld", (long long)value);
    add_fact(facts, host, key, is_known ? text : "");
}

/* A number is no name, however long it is: times are. */
static bool is_number(const char *text)
{
    return text[strspn(text, "0123456789")] == '\0';
}

/* The host before a key. */
static tm_status redact_key(struct tm_redactor *redactor, char *key, size_t bytes, const char *bare)
{
    char host[96], rest[32];
    tm_status st;

    (void)snprintf(rest, sizeof(rest), "%.31s", bare);
    (void)snprintf(host, sizeof(host), "%.*s", (int)(bare - key - 1), key);
    st = tm_redact_host(redactor, host, sizeof(host), host);
    if (st == TM_OK)
        (void)snprintf(key, bytes, "%.60s.%s", host, rest);
    return st;
}

static tm_status redact_value(struct tm_redactor *redactor, char *value, size_t bytes, const char *key)
{
    const char *path = value;
    size_t length = strlen(value);
    tm_status st;

    if (is_number(value))
        return TM_OK;
    if (strcmp(key, "host") == 0)
        return tm_redact_host(redactor, value, bytes, value);
    if (strcmp(key, "run") != 0 && strcmp(key, "source") != 0)
        return tm_redact_into(redactor, value, bytes, value);
    st = tm_redact_path(redactor, path, length, &path, &length);
    if (st == TM_OK)
        (void)snprintf(value, bytes, "%s", path);
    return st;
}

tm_status tm_trace_facts_redact(struct tm_trace_facts *facts, struct tm_redactor *redactor)
{
    tm_status st = TM_OK;

    for (size_t i = 0; i < facts->count && st == TM_OK; i++) {
        struct tm_trace_fact_text *const text = &facts->texts[i];
        const char *const dot = strrchr(text->key, '.');
        const char *const key = dot ? dot + 1 : text->key;

        if (strncmp(text->key, "tracemill.", strlen("tracemill.")) == 0)
            continue;
        st = redact_value(redactor, text->value, sizeof(text->value), key);
        if (st == TM_OK && dot)
            st = redact_key(redactor, text->key, sizeof(text->key), key);
    }
    return st;
}

void tm_trace_facts_add_run(struct tm_trace_facts *facts, enum tm_args_level args, const char *run_name)
{
    static const char *const level[] = { "all", "essential", "none" };

    add_fact(facts, NULL, "tracemill.version", TM_VERSION);
    add_fact(facts, NULL, "tracemill.arguments", level[args]);
    add_fact(facts, NULL, "run", run_name);
}

void tm_trace_facts_add_host(struct tm_trace_facts *facts, const struct tm_trace *trace, const char *path,
                             bool is_only)
{
    const struct tm_environment *e = &trace->environment;
    const char *host = is_only ? NULL : trace->host_name;
    size_t length;

    if (trace->host >= HOSTS_MOST)
        return;
    add_fact(facts, host, "source", tm_last_part(path, &length));
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
}
