/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a Perfetto trace: its packets with read sizes that the fuzzer chooses, and the records made from them.
 * Besides what the sanitizers find, it detects packets that depend on the division of the bytes, records out of order or
 * out of range, lists that cannot be read to their end, and memory that is not given back.
 * Seeds: traces of another writer, which seeds_pftrace.py makes. */
#include <string.h>

#include <xxhash.h>

#include "pipeline/engine/analysis.h"
#include "stages/input/perfetto/pftrace_reader.h"
#include "stages/resolve/classes.h"
#include "tests/fuzz/fuzz_job.h"
#include "tests/fuzz/fuzz_mutate.h"

static struct fuzz_choices choices;

static uint64_t mix(uint64_t hash, struct tm_wire bytes)
{
    return XXH3_64bits_withSeed(bytes.at ? bytes.at : (const uint8_t *)"",
                                bytes.at ? (size_t)(bytes.end - bytes.at) : 0, hash);
}

/* All packets, and the damage that is reported. */
static uint64_t read_packets(const char *path, const struct tm_pftrace_options *options)
{
    struct tm_input input = { .fd = -1 };
    struct tm_pftrace_reader *reader = NULL;
    struct tm_pftrace_packet packet;
    struct tm_run run;
    uint64_t hash = 0;

    fuzz_run_init(&run);
    if (tm_input_open(&input, &run, path) == TM_OK)
        reader = tm_pftrace_reader_new(&run, &input, options);
    while (reader && tm_pftrace_next(reader, &packet)) {
        hash = mix(mix(mix(hash, packet.event), packet.track), packet.interned);
        hash ^= packet.timestamp + packet.offset + (uint64_t)packet.sequence * 31;
    }
    if (reader)
        hash ^= tm_pftrace_damage(reader)->bytes + tm_pftrace_damage(reader)->at * 7;
    hash = XXH3_64bits_withSeed(&run.tallies, sizeof(run.tallies), hash);
    tm_pftrace_reader_free(reader);
    tm_input_close(&input);
    fuzz_run_end(&run);
    return hash;
}

static void check_record(const struct tm_trace *trace, const struct tm_raw_record *raw, int64_t *before_ps)
{
    const struct tm_record *const r = &raw->record;

    FUZZ_REQUIRE(r->dur_ps >= 0 && r->start_ps >= *before_ps && r->name < tm_names_count(trace->names));
    FUZZ_REQUIRE(r->kind != TM_BEGIN && r->kind != TM_END && !(r->flags & TM_FLAG_CHAINED));
    FUZZ_REQUIRE(r->config < tm_rows_count(trace->configs));
    if (!(r->flags & TM_FLAG_TEMPLATE))
        FUZZ_REQUIRE(tm_arguments_fitting(raw->own, SIZE_MAX) == raw->own.length);
    *before_ps = r->start_ps;
}

static void read_track(struct tm_host_run *host, uint64_t track)
{
    struct tm_source *const source = host->source;
    struct tm_cursor *const cursor = source->type->open(source, track, 4096);
    struct tm_raw_record raw;
    int64_t before_ps = INT64_MIN;
    bool more;

    if (!cursor)
        return;
    while (source->type->next(cursor, &raw, &more) == TM_OK && more) {
        if (source->type->own(cursor, &raw) != TM_OK)
            break;
        check_record(&host->trace, &raw, &before_ps);
    }
    source->type->close(cursor);
}

static void read_trace(const char *path)
{
    const struct tm_host_options options = { .steps.all = true, .keeps_arguments = true };
    char file[256], name[] = "h0";
    const struct tm_found_file found = { .path = file, .host = name };
    struct tm_host_run host = { .run = NULL };
    struct tm_names *names;
    struct tm_run run;

    fuzz_run_init(&run);
    (void)snprintf(file, sizeof(file), "%s", path);
    names = tm_names_new(&run, TM_MIB, tm_traits_of);
    if (names && tm_host_open(&host, &run, names, &found, 0, &options) == TM_OK)
        for (uint64_t i = 0; i < tm_rows_count(host.trace.tracks); i++)
            read_track(&host, i);
    FUZZ_REQUIRE(run.error.status != TM_ERR_OUTPUT);
    tm_host_close(&host);
    tm_names_free(names);
    fuzz_run_end(&run);
}

static void use_file(const char *path, size_t size)
{
    const size_t window = choices.bytes[0] % 4 ? 0 : 64 + (size_t)choices.bytes[1] * 16;
    const struct tm_pftrace_options whole = { .window_bytes = window },
                                    parts = { .window_bytes = window, .read_bytes = fuzz_step(choices.bytes[2]) };

    (void)size;
    FUZZ_REQUIRE(read_packets(path, &whole) == read_packets(path, &parts));
    read_trace(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices = fuzz_choices_take(data, &size);
    fuzz_with_file(data, size, use_file);
    return 0;
}
