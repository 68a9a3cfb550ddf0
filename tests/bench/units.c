/* SPDX-License-Identifier: Apache-2.0 */
/* The inner loops, each alone: what a kind of work costs an item.
 *
 *     units TRACE.json PROFILE.xplane.pb
 *
 * Prints a line per unit: its name, how many items, nanoseconds an item.  Under valgrind's callgrind, begun with
 * --instr-atstart=no, each unit leaves a dump of its own, named by its trigger: tests/bench/check.py reads the
 * instructions from it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

#include "pipeline/engine/analysis.h"
#include "pipeline/front.h"
#include "pipeline/run.h"
#include "pipeline/store/lengths.h"
#include "pipeline/store/rows.h"
#include "stages/figures/feed.h"
#include "stages/input/chrome/chrome_reader.h"
#include "stages/resolve/classes.h"

enum { ITEMS = 100000, NAMES = 1000, NAME_BYTES = 64, KEYS = 5000 };

/* In the place of the C library's: with the same seeds the tables of every run lie alike, and counts of instructions can
 * be compared to a percent.  Chance alone moves them by 8 %. */
int getentropy(void *bytes, size_t length)
{
    memset(bytes, 0x5a, length);
    return 0;
}

struct units {
    struct tm_run *run;
    const char *json, *profile;
    struct timespec begin;
};

static void die(const struct units *u, const char *what)
{
    (void)fprintf(stderr, "units: %s failed\n", what);
    tm_error_print(&u->run->error, stderr);
    exit(1);
}

static void need(const struct units *u, tm_status st, const char *what)
{
    if (st != TM_OK)
        die(u, what);
}

static void begin(struct units *u)
{
    (void)clock_gettime(CLOCK_MONOTONIC, &u->begin);
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
}

static void end(struct units *u, const char *name, uint64_t items)
{
    char trigger[128];
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    (void)snprintf(trigger, sizeof(trigger), "%s %" PRIu64, name, items);
    CALLGRIND_DUMP_STATS_AT(trigger);
    CALLGRIND_STOP_INSTRUMENTATION;
    if (tm_failed(u->run))
        die(u, name);
    const double ns = (double)(now.tv_sec - u->begin.tv_sec) * 1e9 + (double)(now.tv_nsec - u->begin.tv_nsec);

    printf("%-24s %9" PRIu64 " %9.1f\n", name, items, items ? ns / (double)items : 0);
}

static uint64_t next_number(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 20;
}

/* --- the engine --- */

static void add_counts(void *into, const void *from)
{
    ((struct tm_length *)into)->count += ((const struct tm_length *)from)->count;
}

static struct tm_length row_of(uint64_t number)
{
    const struct tm_key key = tm_hash_key(&number, sizeof(number));

    return (struct tm_length){ key.high, key.low, 1 };
}

/* in: memory_bytes  small: they spill */
static void unit_groups(struct units *u, const char *name, uint64_t keys, size_t memory_bytes)
{
    struct tm_groups *groups =
        tm_groups_new(u->run, TM_ACCOUNT_TABLES, sizeof(struct tm_length), memory_bytes, add_counts);
    uint64_t state = 1;

    if (!groups)
        die(u, name);
    begin(u);
    for (int i = 0; i < ITEMS; i++) {
        const struct tm_length one = row_of(next_number(&state) % keys);

        tm_groups_add(groups, &one);
    }
    tm_groups_finish(groups);
    while (tm_groups_next(groups))
        continue;
    end(u, name, ITEMS);
    tm_groups_free(groups);
}

static void unit_front(struct units *u)
{
    struct tm_groups *groups = tm_groups_new(u->run, TM_ACCOUNT_TABLES, sizeof(struct tm_length), 8 << 20, add_counts);
    struct tm_front front = { .run = NULL };
    uint64_t state = 1;

    need(u,
         groups ? tm_front_init(&front, u->run, TM_ACCOUNT_TABLES, sizeof(struct tm_length), 1 << 20, groups)
                : TM_ERR_LIMIT,
         "front");
    begin(u);
    for (int i = 0; i < ITEMS; i++) {
        const uint64_t site = next_number(&state) % KEYS + 1;
        bool is_new;
        struct tm_length *row = tm_front_at(&front, site, &is_new);

        if (!row)
            die(u, "front");
        if (is_new)
            *row = row_of(site);
        row->count++;
    }
    need(u, tm_front_flush(&front), "front");
    end(u, "front", ITEMS);
    tm_front_release(&front);
    tm_groups_free(groups);
}

static void unit_sites(struct units *u)
{
    struct tm_sites sites;
    uint64_t state = 1;
    bool is_new;

    need(u, tm_sites_init(&sites, u->run, TM_ACCOUNT_LAUNCHES, 1 << 20), "sites");
    begin(u);
    for (int i = 0; i < ITEMS; i++) {
        const struct tm_site site = { .name_and_config = next_number(&state) % KEYS << 32, .rest = 7 };

        need(u, tm_sites_at(&sites, &site, &is_new) ? TM_OK : u->run->error.status, "sites");
    }
    end(u, "sites", ITEMS);
    tm_sites_release(&sites);
}

static void unit_lengths(struct units *u, const char *name, size_t memory_bytes)
{
    struct tm_lengths *lengths = tm_lengths_new(u->run, TM_ACCOUNT_TABLES, memory_bytes);
    tm_length_place places[50] = { 0 };
    uint64_t state = 1;

    if (!lengths)
        die(u, name);
    begin(u);
    for (int i = 0; i < ITEMS; i++) {
        const uint64_t group = next_number(&state) % 50;

        tm_lengths_add_at(lengths, &places[group], group, next_number(&state) % 1000000);
    }
    tm_lengths_finish(lengths);
    while (tm_lengths_next(lengths))
        continue;
    end(u, name, ITEMS);
    tm_lengths_free(lengths);
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void unit_sorter(struct units *u, const char *name, size_t memory_bytes)
{
    struct tm_sorter *sorter = tm_sorter_new(u->run, TM_ACCOUNT_SORT, 4 * sizeof(uint64_t), memory_bytes, by_number);
    uint64_t state = 1;

    if (!sorter)
        die(u, name);
    begin(u);
    for (int i = 0; i < ITEMS; i++) {
        const uint64_t one[4] = { next_number(&state), 1, 2, 3 };

        tm_sorter_push(sorter, one);
    }
    tm_sorter_finish(sorter);
    while (tm_sorter_next(sorter))
        continue;
    end(u, name, ITEMS);
    tm_sorter_free(sorter);
}

struct index_row {
    uint64_t key, rest[4];
};

static void unit_index(struct units *u)
{
    struct tm_index *index =
        tm_index_new(u->run, TM_ACCOUNT_LAUNCHES, sizeof(struct index_row), 16 << 20, TM_INDEX_FIRST, NULL);
    uint64_t state = 1;

    if (!index)
        die(u, "index");
    begin(u);
    for (uint64_t i = 0; i < ITEMS; i++) {
        const struct index_row row = { .key = i + 1, .rest = { i } };

        tm_index_put(index, &row);
    }
    tm_index_finish(index);
    for (int i = 0; i < ITEMS; i++) {
        uint64_t number;

        (void)tm_index_find(index, next_number(&state) % ITEMS + 1, &number);
    }
    end(u, "index", ITEMS);
    tm_index_free(index);
}

static void unit_names(struct units *u)
{
    struct tm_names *names = tm_names_new(u->run, 16 << 20, tm_traits_of);
    uint64_t state = 1;

    if (!names)
        die(u, "names");
    begin(u);
    for (int i = 0; i < ITEMS; i++) {
        char text[NAME_BYTES];
        const int length = snprintf(text, sizeof(text), "loop_multiply_fusion_%" PRIu64, next_number(&state) % NAMES);

        (void)tm_names_put(names, text, (size_t)length);
    }
    end(u, "names", ITEMS);
    tm_names_free(names);
}

/* --- reading --- */

static void unit_json_scan(struct units *u)
{
    const struct tm_chrome_options options = { .window_bytes = 0 };
    struct tm_input input = { .fd = -1 };
    const struct tm_chrome_event *event = NULL;
    struct tm_chrome_reader *reader;
    uint64_t events = 0;

    need(u, tm_input_open(&input, u->run, u->json), "json-scan");
    reader = tm_chrome_reader_new(u->run, &input, &options);
    if (!reader)
        die(u, "json-scan");
    begin(u);
    for (;; events++) {
        need(u, tm_chrome_next(reader, &event), "json-scan");
        if (!event)
            break;
    }
    end(u, "json-scan", events);
    tm_chrome_reader_free(reader);
    tm_input_close(&input);
}

static void open_host(struct units *u, struct tm_host_run *host, struct tm_names *names, const char *path,
                      bool keeps_records)
{
    char name[TM_FOUND_NAME_BYTES] = "host", file[4096];
    const struct tm_host_options options = { .keeps_records = keeps_records };

    (void)snprintf(file, sizeof(file), "%s", path);
    const struct tm_found_file found = { .path = file, .host = name };

    need(u, tm_host_open(host, u->run, names, &found, 0, &options), path);
}

static uint64_t read_tracks(struct units *u, struct tm_source *source)
{
    const uint64_t tracks = tm_rows_count(source->trace->tracks);
    uint64_t events = 0;

    for (uint64_t i = 0; i < tracks; i++) {
        struct tm_cursor *cursor = source->type->open(source, i, 64 << 10);
        struct tm_raw_record raw;
        bool more = true;

        if (!cursor)
            die(u, "walk");
        while (more) {
            need(u, source->type->next(cursor, &raw, &more), "walk");
            events += more;
        }
        source->type->close(cursor);
    }
    return events;
}

/* --- stages --- */

enum { STAGES_MOST = 24 };

/* Events as stages get them, kept. */
struct kept_events {
    struct tm_event *events;
    union tm_args *args;
    size_t count, capacity;
};

static tm_status keep_event(void *to, const struct tm_event *event)
{
    struct kept_events *kept = to;

    if (kept->count == kept->capacity)
        return TM_ERR_LIMIT;
    struct tm_event *copy = &kept->events[kept->count];

    *copy = *event;
    if (event->record.args_length) {
        memcpy(&kept->args[kept->count], event->args, event->record.args_length);
        copy->args = &kept->args[kept->count];
    }
    kept->count++;
    return TM_OK;
}

static tm_status take_nothing(void *to, const struct tm_event *event)
{
    *(uint64_t *)to += event->site;
    return TM_OK;
}

/* in: name  of the unit; first  the stages that are fed, of the registry: `count` of them.  One alone takes what the feed
 * does for it, too */
static void unit_feed(struct units *u, const char *name, size_t first, size_t count, const struct tm_trace *trace,
                      const struct kept_events *kept)
{
    const struct tm_settings settings = { .gap_min_ps = 10000000, .table_rows = 500 };
    struct tm_feed feed;
    struct tm_stage stages[STAGES_MOST];

    for (size_t i = 0; i < count; i++) {
        const struct tm_stage_type *const type = tm_registry[first + i];

        stages[i] = (struct tm_stage){ .type = type, .run = u->run, .settings = &settings, .feed = &feed };
        stages[i].state = calloc(1, type->state_bytes);
        if (!stages[i].state)
            die(u, name);
        need(u, type->open(&stages[i]), name);
    }
    need(u, tm_feed_init(&feed, u->run, stages, count), name);
    tm_feed_begin_host(&feed, trace);
    begin(u);
    for (size_t i = 0; i < kept->count; i++)
        tm_feed_take(&feed, &kept->events[i]);
    tm_feed_end_host(&feed);
    need(u, u->run->error.status, name);
    end(u, name, kept->count);
    tm_feed_release(&feed);
    for (size_t i = 0; i < count; i++) {
        stages[i].type->close(&stages[i]);
        free(stages[i].state);
    }
}

static void unit_stages(struct units *u, struct tm_host_run *host)
{
    struct kept_events kept = { .capacity = host->events };

    kept.events = calloc(kept.capacity + 1, sizeof(*kept.events));
    kept.args = calloc(kept.capacity + 1, sizeof(*kept.args));
    if (!kept.events || !kept.args)
        die(u, "stages");
    need(u, tm_host_events_by_device(host, keep_event, &kept), "stages");
    for (size_t i = 0; i < kept.count; i++) /* the resolver's own do not stay */
        kept.events[i].config = tm_rows_at(host->trace.configs, kept.events[i].record.config);
    unit_feed(u, "feed", 0, 0, &host->trace, &kept);
    for (size_t i = 0; i < tm_registry_count; i++) {
        char name[64];

        (void)snprintf(name, sizeof(name), "stage-%s", tm_registry[i]->name);
        unit_feed(u, name, i, 1, &host->trace, &kept);
    }
    unit_feed(u, "stages", 0, tm_registry_count, &host->trace, &kept);
    free(kept.events);
    free(kept.args);
}

static void unit_file(struct units *u, const char *kind, const char *path, bool keeps_records, bool has_stages)
{
    struct tm_names *names = tm_names_new(u->run, 16 << 20, tm_traits_of);
    struct tm_host_run host;
    uint64_t sum = 0, events;
    char name[64];

    if (!names)
        die(u, kind);
    begin(u);
    open_host(u, &host, names, path, keeps_records);
    (void)snprintf(name, sizeof(name), "%s-open", kind);
    end(u, name, host.events);
    begin(u);
    events = read_tracks(u, host.source);
    (void)snprintf(name, sizeof(name), "%s-walk", kind);
    end(u, name, events);
    begin(u);
    need(u, tm_host_events_by_device(&host, take_nothing, &sum), kind);
    (void)snprintf(name, sizeof(name), "%s-order", kind);
    end(u, name, host.events);
    if (has_stages)
        unit_stages(u, &host);
    tm_host_close(&host);
    tm_names_free(names);
}

int main(int argc, char **argv)
{
    struct tm_run run = { .quiet = true };
    struct units u = { .run = &run, .json = argc == 3 ? argv[1] : NULL, .profile = argc == 3 ? argv[2] : NULL };

    if (argc != 3) {
        (void)fputs("usage: units TRACE.json PROFILE.xplane.pb\n", stderr);
        return TM_ERR_USAGE;
    }
    tm_budget_init(&run.budget, (size_t)TM_MEMORY_DEFAULT_MIB * TM_MIB);
    need(&u, tm_spill_choose_dir(&run, NULL, "."), "spill folder");
    unit_names(&u);
    unit_sites(&u);
    unit_front(&u);
    unit_groups(&u, "groups", KEYS, 8 << 20);
    unit_groups(&u, "groups-many", ITEMS, 16 << 20);
    unit_groups(&u, "groups-spilled", ITEMS, 512 << 10);
    unit_lengths(&u, "lengths", 16 << 20);
    unit_lengths(&u, "lengths-spilled", 512 << 10);
    unit_sorter(&u, "sorter", 16 << 20);
    unit_sorter(&u, "sorter-spilled", 512 << 10);
    unit_index(&u);
    unit_json_scan(&u);
    unit_file(&u, "json", u.json, false, false);
    unit_file(&u, "xspace", u.profile, false, true);
    unit_file(&u, "xspace-kept", u.profile, true, false);
    return TM_OK;
}
