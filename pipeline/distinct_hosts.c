/* SPDX-License-Identifier: Apache-2.0 */
/* Gives each file a host of its own.  Each number is used for one file only, so two made names never meet; a
 * made name that another file has already is passed over. */
#include "pipeline/discover.h"

#include <stdlib.h>
#include <string.h>

static void give_host(struct tm_run *run, char *host)
{
    if (host)
        tm_give(&run->budget, TM_ACCOUNT_MODEL, host, strlen(host) + 1);
}

static char *copy_host(struct tm_run *run, const char *host, size_t length)
{
    char *const copy = tm_take(&run->budget, TM_ACCOUNT_MODEL, length + 1, &run->error);

    if (copy)
        memcpy(copy, host, length);
    return copy;
}

/* A host as the first file that has it sees it: where it stands among the files. */
struct taken {
    const char *host;
    size_t at;
};

static int by_taken(const void *a, const void *b)
{
    const struct taken *const one = a, *const other = b;
    const int hosts = strcmp(one->host, other->host);

    return hosts ? hosts : (one->at > other->at) - (one->at < other->at);
}

static bool is_taken(const struct taken *table, size_t count, const char *host)
{
    size_t low = 0, high = count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(table[middle].host, host);

        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* "host#N" with an N that no other file gets: its place, plus the count as often as needed. */
static char *numbered_host(struct tm_run *run, const struct taken *table, size_t count, size_t row)
{
    char host[TM_HOST_MOST + 1], suffix[32];

    for (size_t number = table[row].at + 1;; number += count) {
        const size_t suffix_bytes = (size_t)snprintf(suffix, sizeof(suffix), "#%zu", number);
        size_t bytes;

        tm_clean_text(host, sizeof(host) - suffix_bytes, table[row].host, strlen(table[row].host));
        bytes = strlen(host);
        memcpy(host + bytes, suffix, suffix_bytes + 1); /* that much was kept free */
        if (!is_taken(table, count, host))
            return copy_host(run, host, bytes + suffix_bytes);
    }
}

/* Number those that are not the first of their host.  The texts of `table` stay valid until all are made. */
static tm_status number_hosts(struct tm_run *run, struct tm_found_file *const *files,
                              const struct taken *table, size_t count, char **fresh)
{
    for (size_t i = 1; i < count; i++) {
        if (strcmp(table[i].host, table[i - 1].host) != 0)
            continue;
        fresh[i] = numbered_host(run, table, count, i);
        if (!fresh[i])
            return run->error.status;
    }
    for (size_t i = 0; i < count; i++) {
        if (!fresh[i])
            continue;
        give_host(run, files[table[i].at]->host);
        files[table[i].at]->host = fresh[i];
        fresh[i] = NULL;
    }
    return TM_OK;
}

tm_status tm_distinct_hosts(struct tm_run *run, struct tm_found_file *const *files, size_t count)
{
    struct taken *const table = tm_take(&run->budget, TM_ACCOUNT_MODEL, count * sizeof(*table), &run->error);
    char **const fresh =
        table ? tm_take(&run->budget, TM_ACCOUNT_MODEL, count * sizeof(*fresh), &run->error) : NULL;
    tm_status st = run->error.status;

    if (table && fresh) {
        for (size_t i = 0; i < count; i++)
            table[i] = (struct taken){ files[i]->host, i };
        qsort(table, count, sizeof(*table), by_taken);
        st = number_hosts(run, files, table, count, fresh);
        for (size_t i = 0; i < count; i++)
            give_host(run, fresh[i]);
    }
    tm_give(&run->budget, TM_ACCOUNT_MODEL, fresh, count * sizeof(*fresh));
    tm_give(&run->budget, TM_ACCOUNT_MODEL, table, count * sizeof(*table));
    return st;
}
