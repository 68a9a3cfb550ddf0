/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses one of the runs that were found. */
#include "pipeline/discover.h"

#include <string.h>

/* The newest runs by name, as many as a message holds. */
static void list_runs(const struct tm_found *found, char *text, size_t room)
{
    enum { NAMES_MOST = 20, REST_BYTES = 32 };
    size_t used = 0, told = 0;

    text[0] = '\0';
    for (size_t i = found->run_count; i > 0 && told < NAMES_MOST; i--, told++) {
        const char *const name = found->runs[i - 1].name;
        const size_t bytes = strlen(name) + 2;

        if (used + bytes + REST_BYTES > room)
            break;
        used += (size_t)snprintf(text + used, room - used, "%s%s", told ? ", " : "", name);
    }
    if (told < found->run_count)
        (void)snprintf(text + used, room - used, "%s%zu more", told ? ", and " : "", found->run_count - told);
}

static bool same_folder(const char *folder, const char *wanted, size_t wanted_bytes)
{
    size_t bytes = strlen(folder);

    while (bytes > 1 && folder[bytes - 1] == '/')
        bytes--;
    return bytes == wanted_bytes && memcmp(folder, wanted, bytes) == 0;
}

/* The run of that name or folder; else the only one whose folder ends so. */
static const struct tm_found_run *find_run(const struct tm_found *found, const char *wanted, size_t *fits)
{
    const struct tm_found_run *hit = NULL;
    size_t bytes = strlen(wanted);

    while (bytes > 1 && wanted[bytes - 1] == '/')
        bytes--;
    *fits = 1;
    for (size_t i = 0; i < found->run_count; i++) {
        const struct tm_found_run *const r = &found->runs[i];

        if (same_folder(r->name, wanted, bytes) || same_folder(r->folder, wanted, bytes))
            return r;
    }
    *fits = 0;
    for (size_t i = 0; i < found->run_count; i++) {
        size_t length;
        const char *const last = tm_last_part(found->runs[i].folder, &length);

        if (length == bytes && memcmp(last, wanted, bytes) == 0) {
            hit = &found->runs[i];
            ++*fits;
        }
    }
    return *fits == 1 ? hit : NULL;
}

static tm_status refuse_wanted(struct tm_run *run, const struct tm_found *found, const char *wanted, size_t fits)
{
    char names[TM_ERROR_TEXT - 128];

    list_runs(found, names, sizeof(names));
    if (fits > 1)
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "%zu runs are called '%.64s'; there are: %s", fits, wanted,
                      names);
    else
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "no run is called '%.64s'; there are: %s", wanted, names);
    tm_hint(&run->error, "give one of these names with --run; 'tracemill list DIR' shows them all");
    return TM_ERR_USAGE;
}

tm_status tm_choose_run(struct tm_run *run, const struct tm_found *found, const char *wanted, bool latest,
                        const struct tm_found_run **chosen)
{
    char names[TM_ERROR_TEXT - 64];
    size_t fits;

    *chosen = NULL;
    if (wanted) {
        *chosen = find_run(found, wanted, &fits);
        return *chosen ? TM_OK : refuse_wanted(run, found, wanted, fits);
    }
    if (latest || found->run_count == 1) {
        *chosen = &found->runs[found->run_count - 1];
        return TM_OK;
    }
    list_runs(found, names, sizeof(names));
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "%zu runs found: %s", found->run_count, names);
    tm_hint(&run->error, "choose one with --run NAME, or take the newest with --latest");
    return TM_ERR_USAGE;
}
