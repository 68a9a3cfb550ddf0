/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/format/shown_names.h"

#include <stdio.h>
#include <string.h>

enum { LEAST_SAVED = 8 }; /* characters; shorter beginnings stay */

static bool is_separator(char c)
{
    return c != 0 && strchr("-_./:@ ", c) != NULL;
}

/* Back to where the word begins that ends before `at`. */
static size_t word_before(const char *text, size_t at)
{
    while (at > 0 && is_separator(text[at - 1]))
        at--;
    while (at > 0 && !is_separator(text[at - 1]))
        at--;
    return at;
}

/* Bytes at the begin of `name` that all hosts begin with, whole words. */
static size_t beginning_of_all(const struct tm_value *hosts, const char *name)
{
    size_t common = strlen(name);

    for (size_t i = 0; i < tm_length(hosts); i++) {
        const char *host = tm_text(tm_at(hosts, i));
        size_t n = 0;

        while (n < common && host[n] && host[n] == name[n])
            n++;
        common = n;
    }
    while (common > 0 && !is_separator(name[common - 1]))
        common--;
    return common;
}

/* The same without the last word of it, which tells what the rest is ("job-0").  0 where too little would be saved. */
static size_t common_bytes(const struct tm_value *hosts, const char *name)
{
    const size_t common = word_before(name, beginning_of_all(hosts, name));

    return common >= LEAST_SAVED ? common : 0;
}

const char *tm_shown_host(const struct tm_value *summary, const char *host)
{
    const struct tm_value *hosts = tm_path(summary, "input.hosts");

    return tm_length(hosts) < 2 ? host : host + common_bytes(hosts, host);
}

const char *tm_shown_device(const struct tm_value *summary, const char *id)
{
    const struct tm_value *hosts = tm_path(summary, "input.hosts");
    const char *host = tm_text(tm_at(hosts, 0));
    const size_t length = strlen(host);

    if (tm_length(hosts) != 1)
        return tm_shown_host(summary, id);
    return strncmp(id, host, length) == 0 && id[length] == '/' && id[length + 1] ? id + length + 1
                                                                                 : id;
}

const char *tm_shown_run(const struct tm_value *summary, char *out, size_t out_bytes)
{
    const struct tm_value *hosts = tm_path(summary, "input.hosts");
    const char *run = tm_text(tm_path(summary, "input.run"));
    size_t bytes = strlen(run);

    if (tm_length(hosts) > 1 && strcmp(tm_text(tm_at(hosts, 0)), run) == 0)
        bytes = beginning_of_all(hosts, run);
    while (bytes > 0 && bytes < strlen(run) && is_separator(run[bytes - 1]))
        bytes--;
    bytes = bytes ? bytes : strlen(run); /* they have nothing in common */
    (void)snprintf(out, out_bytes, "%.*s", (int)(bytes < out_bytes ? bytes : out_bytes), run);
    return out;
}

bool tm_is_named_as_run(const struct tm_value *summary)
{
    const struct tm_value *hosts = tm_path(summary, "input.hosts");

    return tm_length(hosts) == 1 &&
           strcmp(tm_text(tm_at(hosts, 0)), tm_text(tm_path(summary, "input.run"))) == 0;
}
