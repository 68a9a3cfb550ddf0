/* SPDX-License-Identifier: Apache-2.0 */
/* Every string is a name unless its key is on a list: a figure that is added later is redacted until somebody says that
 * it need not be.  Reasons of nulls and keys are the program's own. */
#include "pipeline/commands/redact_summary.h"

#include <string.h>

enum { DEPTH_MOST = 66 /* a document nests 64 deep */, HOST_BYTES = 32 /* of a pseudonym */ };

static const char fingerprint_why[] = "not in a report with pseudonyms: they are made with it";

static bool is_one_of(const char *key, const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

bool tm_is_own_text(const char *key)
{
    /* an address is a number of the profile that is written in hexadecimal digits */
    static const char *const own[] = { "schema", "version", "help", "grid", "block", "address" };

    return is_one_of(key, own, sizeof(own) / sizeof(own[0]));
}

/* A container on the way down. */
struct level {
    struct tm_value *container;
    const char *key; /* its own, or that of the list that it is in */
    size_t next;
};

static tm_status redact_text(struct tm_redactor *redactor, struct tm_doc *doc, const char *key, struct tm_value *text)
{
    static const char *const hosts[] = { "host", "hosts" }, *const paths[] = { "path", "file", "run" };
    char host[HOST_BYTES];
    const char *name = host;
    size_t length = strlen(tm_text(text));
    tm_status st;

    if (is_one_of(key, hosts, sizeof(hosts) / sizeof(hosts[0])))
        st = tm_redact_host(redactor, host, sizeof(host), tm_text(text));
    else if (is_one_of(key, paths, sizeof(paths) / sizeof(paths[0])))
        st = tm_redact_path(redactor, tm_text(text), length, &name, &length);
    else
        st = tm_redact(redactor, tm_text(text), length, &name, &length);
    length = strlen(name);
    if (st == TM_OK && strcmp(name, tm_text(text)) != 0)
        tm_set_text(doc, text, name, length);
    return st;
}

/* All that lies inside of a value. */
static tm_status redact_all(struct tm_redactor *redactor, struct tm_doc *doc, struct tm_value *root, const char *key)
{
    struct level levels[DEPTH_MOST] = { { root, key, 0 } };
    size_t depth = 1;
    tm_status st = TM_OK;

    while (depth && st == TM_OK) {
        struct level *const level = &levels[depth - 1];
        struct tm_value *const value = tm_element(level->container, level->next);
        const bool is_object = tm_type_of(level->container) == TM_OBJECT;
        const char *const here = is_object ? tm_key_at(level->container, level->next) : level->key;

        level->next++;
        if (!value)
            depth--;
        else if (tm_type_of(value) == TM_STRING && !tm_is_own_text(here))
            st = redact_text(redactor, doc, here, value);
        else if ((tm_type_of(value) == TM_OBJECT || tm_type_of(value) == TM_ARRAY) && depth < DEPTH_MOST)
            levels[depth++] = (struct level){ value, here, 0 };
    }
    return st;
}

static void take_fingerprints(struct tm_redactor *redactor, struct tm_value *files)
{
    for (size_t i = 0; i < tm_length(files); i++) {
        struct tm_value *const file = tm_element(files, i);

        tm_redactor_add_fingerprint(redactor, tm_text(tm_get(file, "xxh3")));
        tm_add_null(file, "xxh3", fingerprint_why);
    }
    tm_redactor_make_key(redactor);
}

tm_status tm_redact_summary(struct tm_redactor *redactor, struct tm_doc *summary)
{
    struct tm_value *const root = tm_doc_root(summary);
    tm_status st = TM_OK;

    take_fingerprints(redactor, tm_member(tm_member(root, "input"), "files"));
    for (size_t i = 0; i < tm_length(root) && st == TM_OK; i++) /* what the user said of it is to be read */
        if (strcmp(tm_key_at(root, i), "report") != 0 && tm_type_of(tm_element(root, i)) != TM_STRING)
            st = redact_all(redactor, summary, tm_element(root, i), tm_key_at(root, i));
    return st == TM_OK ? tm_doc_status(summary) : st;
}
