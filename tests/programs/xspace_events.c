/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what the reader of XSpace profiles makes of files: what tests compare with another reader of protobuf.
 *
 *   xspace_events FILE...
 *
 * Of each file a line {"file":true}; one per line of events, ["plane", id, "line"], with the texts as bytes in hexadecimal;
 * behind it one per event that has a place in time, [start, length, "name"] in picoseconds, in the order of the file; then
 * {"partial":false,"problem":"","events":7,"xxh3":1,"tallies":{...}}.  A file that is refused has {"refused":true} alone.
 * All of it comes twice: after {"file":true} as files are read, lines skimmed by the scan; then after {"again":true} with
 * lines walked by the scan.  Both have to be the same. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/engine/analysis.h"
#include "stages/resolve/classes.h"

enum { BUFFER_BYTES = 64 << 10, NAME_MOST = 1 << 16 };

static void print_text(struct tm_names *names, tm_strid name)
{
    size_t length;
    const char *const text = tm_names_text(names, name, NAME_MOST, &length);

    if (tm_names_status(names) != TM_OK)
        exit(1);
    (void)putchar('"');
    for (size_t i = 0; i < length; i++)
        (void)printf("%02x", (uint8_t)text[i]);
    (void)putchar('"');
}

static tm_status print_track(struct tm_host_run *host, uint64_t number, const struct tm_track *track)
{
    const struct tm_source_type *const type = host->source->type;
    struct tm_names *const names = host->trace.names;
    struct tm_raw_record raw;
    bool more = true;
    tm_status st = TM_OK;

    (void)putchar('[');
    print_text(names, track->plane_name);
    (void)printf(",%" PRId64 ",", track->id);
    print_text(names, track->name);
    (void)fputs("]\n", stdout);
    struct tm_cursor *const cursor = type->open(host->source, number, BUFFER_BYTES);

    if (!cursor)
        return host->run->error.status;
    while (st == TM_OK && (st = type->next(cursor, &raw, &more)) == TM_OK && more) {
        (void)printf("[%" PRId64 ",%" PRId64 ",", raw.record.start_ps, raw.record.dur_ps);
        print_text(names, raw.record.name);
        (void)fputs("]\n", stdout);
    }
    type->close(cursor);
    return st;
}

static tm_status print_tracks(struct tm_host_run *host)
{
    const uint64_t count = tm_rows_count(host->trace.tracks);
    tm_status st = TM_OK;

    for (uint64_t i = 0; i < count && st == TM_OK; i++) {
        const struct tm_track *const row = tm_rows_at(host->trace.tracks, i);
        const struct tm_track track = row ? *row : (struct tm_track){ .id = 0 };

        st = row ? print_track(host, i, &track) : host->run->error.status;
    }
    return st;
}

static void print_end(const struct tm_host_run *host)
{
    const char *comma = "";

    (void)printf("{\"partial\":%s,\"problem\":\"", host->trace.partial ? "true" : "false");
    for (const char *at = host->trace.problem; *at; at++)
        (void)printf("%02x", (uint8_t)*at);
    (void)printf("\",\"events\":%" PRIu64 ",\"xxh3\":%" PRIu64 ",\"tallies\":{", host->events, host->input->xxh3);
    for (int i = 0; i < TM_TALLY_COUNT; i++) {
        if (host->run->tallies.count[i] == 0)
            continue;
        (void)printf("%s\"%s\":%" PRIu64, comma, tm_tally_info[i].name, host->run->tallies.count[i]);
        comma = ",";
    }
    (void)fputs("}}\n", stdout);
}

static void print_file(char *path, bool walks_lines)
{
    static struct tm_run run;
    static char host_name[] = "host";
    static struct tm_found_file found;
    struct tm_host_run host = { .run = NULL };
    const struct tm_host_options options = { .walks_lines = walks_lines };
    tm_status st = TM_ERR_LIMIT;

    memset(&run, 0, sizeof(run));
    tm_budget_init(&run.budget, (size_t)TM_MEMORY_LEAST_MIB * TM_MIB);
    run.spill_dir = "/var/tmp";
    run.quiet = true;
    found = (struct tm_found_file){ .path = path, .host = host_name };
    (void)printf("{\"%s\":true}\n", walks_lines ? "again" : "file");
    struct tm_names *const names = tm_names_new(&run, tm_budget_share(&run.budget, TM_ACCOUNT_NAMES), tm_traits_of);

    if (names)
        st = tm_host_open(&host, &run, names, &found, 0, &options);
    if (names && st == TM_OK)
        st = print_tracks(&host);
    if (st == TM_OK)
        print_end(&host);
    else
        (void)printf("{\"refused\":true}\n");
    tm_host_close(&host);
    tm_names_free(names);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        print_file(argv[i], false);
        print_file(argv[i], true);
    }
    return argc > 1 ? 0 : 2;
}
