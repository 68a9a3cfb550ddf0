/* SPDX-License-Identifier: Apache-2.0 */
/* Memory: what the allocators handed out, what held it at the peak, what was kept, and device memory profiles. */
#include <stdio.h>

#include "reports/content/say.h"
#include "reports/findings/ask.h"

enum { PROFILES_MOST = 8, PAPER_PROFILES = 4, KEPT_MOST = 64, ID_BYTES = 40 };
enum {
    HOLDER_COLUMNS = 6,
    HOLDERS_EACH = 20,  /* of an allocator; on paper they share the rows, and each has HOLDERS_LEAST at least */
    HOLDERS_LEAST = 2,
    HOLDERS_MOST = 320,
    PAPER_HOLDERS = 24,
};

/* --- allocators --- */

static void say_allocators(const struct tm_content *content, const struct tm_value *allocators)
{
    static const struct tm_column columns[] = {
        { "Allocator", "name", TM_CELL_NAME },
        { "Host", "host", TM_CELL_HOST },
        { "Peak", "peak_bytes", TM_CELL_BYTES },
        { "Of capacity", "peak_pct", TM_CELL_PCT },
        { "Capacity", "capacity_bytes", TM_CELL_BYTES },
        { "Peak at", "peak_at_ps", TM_CELL_MOMENT },
        { "Lifetime peak", "lifetime_peak_bytes", TM_CELL_BYTES },
        { "Fragmentation", "fragmentation_pct", TM_CELL_PCT },
        { "Allocations", "allocations", TM_CELL_COUNT },
        { "Frees", "deallocations", TM_CELL_COUNT | TM_WIDE },
        { "Allocated in all", "allocated_bytes", TM_CELL_BYTES | TM_WIDE },
        { "Small allocations", "small_allocations", TM_CELL_COUNT | TM_WIDE },
        { "Allocations a second", "allocations_per_s", TM_CELL_NUMBER | TM_WIDE },
        { "Allocated a second", "allocated_bytes_per_s", TM_CELL_RATE | TM_WIDE },
    };

    tm_say_table(content, &(struct tm_table){ .id = "memory-allocators",
                                              .caption = "Allocators",
                                              TM_COLUMNS(columns),
                                              .rows = allocators,
                                              .paper_rows = 24 });
}

static void say_kept(const struct tm_content *content, const struct tm_value *allocators)
{
    static const struct tm_column columns[] = {
        { "Allocator", "name", TM_CELL_NAME },
        { "Host", "host", TM_CELL_HOST },
        { "Buffers", "kept.count", TM_CELL_COUNT },
        { "1st quarter", "kept.quarters_bytes[0]", TM_CELL_BYTES },
        { "2nd quarter", "kept.quarters_bytes[1]", TM_CELL_BYTES },
        { "3rd quarter", "kept.quarters_bytes[2]", TM_CELL_BYTES },
        { "4th quarter", "kept.quarters_bytes[3]", TM_CELL_BYTES },
        { "Largest", "kept.largest_bytes", TM_CELL_BYTES },
        { "Its op", "kept.op", TM_CELL_NAME },
        { "Its shape", "kept.shape", TM_CELL_NAME | TM_WIDE },
    };
    size_t pick[KEPT_MOST], n = 0;

    for (size_t i = 0; i < tm_length(allocators) && n < KEPT_MOST; i++)
        if (tm_int(tm_path(tm_at(allocators, i), "kept.count")) > 0)
            pick[n++] = i;
    tm_say_table(content, &(struct tm_table){ .id = "memory-kept",
                                              .caption = "Buffers taken in the profile and not given back in it",
                                              TM_COLUMNS(columns),
                                              .rows = allocators,
                                              .pick = pick,
                                              .picks = n,
                                              .is_only_picked = true });
    if (n > 0)
        tm_say(content, TM_TONE_QUIET,
               "By the quarter of the profile in which they were taken: bytes in every quarter are a sign of growth.");
}

struct holders {
    struct tm_cell cell[HOLDERS_MOST][HOLDER_COLUMNS];
    size_t count;
    bool are_named; /* the op or the shape of one is known */
};

static void add_holders(struct holders *holders, const struct tm_value *allocator, size_t most)
{
    const struct tm_value *rows = tm_get(allocator, "holders");

    for (size_t i = 0; i < tm_length(rows) && i < most && holders->count < HOLDERS_MOST; i++) {
        const struct tm_value *row = tm_at(rows, i);
        struct tm_cell *cell = holders->cell[holders->count++];

        cell[0] = tm_cell_of_value(TM_CELL_NAME, tm_get(allocator, "name"));
        cell[1] = tm_cell_of_value(TM_CELL_HOST, tm_get(allocator, "host"));
        cell[2] = tm_cell_of_value(TM_CELL_NAME, tm_get(row, "op"));
        cell[3] = tm_cell_of_value(TM_CELL_NAME, tm_get(row, "shape"));
        cell[4] = tm_cell_of_value(TM_CELL_BYTES, tm_get(row, "bytes"));
        cell[5] = tm_cell_of_value(TM_CELL_WORD, tm_get(row, "address"));
        holders->are_named |= !tm_cell_is_empty(&cell[2]) || !tm_cell_is_empty(&cell[3]);
    }
}

/* The largest few of each allocator; sizes alone are nothing for paper. */
static void say_holders(const struct tm_content *content, const struct tm_value *allocators)
{
    static const struct tm_column columns[HOLDER_COLUMNS] = {
        { "Allocator", "name", TM_CELL_NAME },
        { "Host", "host", TM_CELL_HOST },
        { "Op", "op", TM_CELL_NAME },
        { "Shape", "shape", TM_CELL_NAME },
        { "Bytes", "bytes", TM_CELL_BYTES },
        { "Address", "address", TM_CELL_WORD | TM_WIDE },
    };
    const size_t n = tm_length(allocators);
    const size_t share = content->medium->room.is_paper && n > 0 ? PAPER_HOLDERS / n : HOLDERS_EACH;
    static struct holders holders; /* too much for a small stack */

    holders.count = 0;
    holders.are_named = false;
    for (size_t i = 0; i < n; i++)
        add_holders(&holders, tm_at(allocators, i), share < HOLDERS_LEAST ? HOLDERS_LEAST : share);
    if (content->medium->room.is_paper && !holders.are_named)
        return;
    tm_say_table(content, &(struct tm_table){ .id = "memory-holders",
                                              .caption = "Largest buffers at the peak of each allocator",
                                              TM_COLUMNS(columns),
                                              .cells = holders.cell[0],
                                              .cell_rows = holders.count,
                                              .paper_rows = PAPER_HOLDERS });
}

static void say_of_allocators(const struct tm_content *content)
{
    const struct tm_value *allocators = tm_of(content, "memory.allocators");

    if (!tm_ask_has_trace(content->summary) || tm_say_missing(content, allocators, "Use of memory over time"))
        return;
    if (tm_length(allocators) == 0)
        tm_say(content, TM_TONE_PLAIN, "No allocator recorded anything.");
    say_allocators(content, allocators);
    tm_say_charts(content, TM_CHART_MEMORY);
    say_holders(content, allocators);
    say_kept(content, allocators);
}

/* --- device memory profiles --- */

static void say_shares(const struct tm_content *content, const struct tm_value *profile, size_t number)
{
    static const struct tm_column kinds[] = {
        { "Kind", "kind", TM_CELL_TERM },
        { "Count", "count", TM_CELL_COUNT | TM_SUMS },
        { "Bytes", "bytes", TM_CELL_BYTES | TM_SUMS },
        { "Share", "share_pct", TM_CELL_PCT },
    };
    static const struct tm_column devices[] = {
        { "Device", "device", TM_CELL_DEVICE },
        { "Count", "count", TM_CELL_COUNT | TM_SUMS },
        { "Bytes", "bytes", TM_CELL_BYTES | TM_SUMS },
        { "Share", "share_pct", TM_CELL_PCT },
    };
    char id[ID_BYTES];

    (void)snprintf(id, sizeof(id), "memory-kinds-%zu", number);
    tm_say_table(content, &(struct tm_table){ .id = id,
                                              .caption = "Held memory by kind",
                                              TM_COLUMNS(kinds),
                                              .rows = tm_get(profile, "kinds"),
                                              .rest = tm_path(profile, "rest.kinds"),
                                              .paper_rows = 8 });
    (void)snprintf(id, sizeof(id), "memory-devices-%zu", number);
    tm_say_table(content, &(struct tm_table){ .id = id,
                                              .caption = "Held memory by device",
                                              TM_COLUMNS(devices),
                                              .rows = tm_get(profile, "devices"),
                                              .rest = tm_path(profile, "rest.devices"),
                                              .paper_rows = 8 });
}

static void say_code(const struct tm_content *content, const struct tm_value *profile, size_t number)
{
    static const struct tm_column sites[] = {
        { "Held by", "function", TM_CELL_NAME },
        { "Source", "source", TM_CELL_NAME },
        { "Kind", "kind", TM_CELL_TERM },
        { "Called there", "stack[0]", TM_CELL_NAME | TM_WIDE },
        { "Count", "count", TM_CELL_COUNT | TM_SUMS },
        { "Bytes", "bytes", TM_CELL_BYTES | TM_SUMS },
        { "Share", "share_pct", TM_CELL_PCT },
    };
    static const struct tm_column functions[] = {
        { "Function", "function", TM_CELL_NAME },
        { "File", "source", TM_CELL_NAME },
        { "Count", "count", TM_CELL_COUNT | TM_SUMS },
        { "Bytes", "bytes", TM_CELL_BYTES | TM_SUMS },
        { "Share", "share_pct", TM_CELL_PCT },
    };
    char id[ID_BYTES];

    (void)snprintf(id, sizeof(id), "memory-sites-%zu", number);
    tm_say_table(content, &(struct tm_table){ .id = id,
                                              .caption = "Held memory by place in the code",
                                              TM_COLUMNS(sites),
                                              .rows = tm_get(profile, "sites"),
                                              .rest = tm_path(profile, "rest.sites"),
                                              .paper_rows = 12 });
    (void)snprintf(id, sizeof(id), "memory-functions-%zu", number);
    tm_say_table(content, &(struct tm_table){ .id = id,
                                              .caption = "Held memory by function",
                                              TM_COLUMNS(functions),
                                              .rows = tm_get(profile, "functions"),
                                              .rest = tm_path(profile, "rest.functions"),
                                              .paper_rows = 8 });
}

static void say_profile(const struct tm_content *content, const struct tm_value *profile, size_t number)
{
    static const struct tm_column facts[] = {
        { "File", "file", TM_CELL_NAME },
        { "Held in all", "total_bytes", TM_CELL_BYTES },
        { "Buffers and programs", "total_count", TM_CELL_COUNT },
    };
    char id[ID_BYTES];

    tm_say_subheading(content, "Device memory profile");
    (void)snprintf(id, sizeof(id), "memory-profile-%zu", number);
    tm_say_facts(content, id, TM_FACTS(facts), profile);
    say_shares(content, profile, number);
    say_code(content, profile, number);
}

static void say_memory(const struct tm_content *content)
{
    const struct tm_value *profiles = tm_of(content, "memory.device_profiles");
    const size_t n = tm_length(profiles), most = content->medium->room.is_paper ? PAPER_PROFILES : PROFILES_MOST;

    say_of_allocators(content);
    for (size_t i = 0; i < n && i < most; i++)
        say_profile(content, tm_at(profiles, i), i + 1);
    if (n > most)
        tm_say(content, TM_TONE_QUIET, "%zu more device memory profiles are in summary.json.", n - most);
}

const struct tm_section tm_memory_section = { "memory", "Memory", "memory", say_memory, NULL };
