/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a device memory profile, and what is told of it.  Beside what the sanitizers see: samples past their limits,
 * another number of them the second time, sums that are not those of the samples, a refusal without a reason, and memory
 * that is not given back.
 * Seeds: profiles in each order of their tables, which seeds_pprof.py makes. */
#include <string.h>

#include <xxhash.h>

#include "stages/figures/device_profiles.h"
#include "tests/fuzz/fuzz_job.h"

struct reading {
    struct tm_run run;
    struct tm_input input;
    struct tm_names *names;
    struct tm_device_profiles *profiles;
    struct tm_doc *doc;
    struct tm_pprof_damage damage;
    uint64_t hash, samples;
    double count, bytes;
};

static tm_status take(void *to, const struct tm_memory_sample *sample)
{
    struct reading *const r = to;
    const uint64_t names = tm_names_count(r->names);

    FUZZ_REQUIRE(sample->kind < names && sample->device < names && sample->frame_count <= TM_FRAMES_MOST);
    FUZZ_REQUIRE(sample->site < sample->frame_count || sample->frame_count == 0);
    for (uint32_t i = 0; i < sample->frame_count; i++) {
        const struct tm_frame *const frame = &sample->frames[i];

        FUZZ_REQUIRE(frame->function < names && frame->file < names);
        r->hash = XXH3_64bits_withSeed(&frame->line, sizeof(frame->line),
                                       r->hash ^ frame->function ^ (uint64_t)frame->file << 32);
    }
    r->hash = XXH3_64bits_withSeed(&sample->bytes, sizeof(sample->bytes), r->hash ^ sample->count);
    r->samples++;
    r->count += (double)sample->count;
    r->bytes += (double)sample->bytes;
    return tm_device_profiles_take(r->profiles, sample);
}

static bool is_about(double a, double b)
{
    return a - b <= 1e-9 * b && b - a <= 1e-9 * b;
}

static void check_report(const struct reading *r)
{
    const struct tm_value *const profile = tm_path(tm_doc_root(r->doc), "device_profiles[0]");
    const double bytes = tm_double(tm_get(profile, "total_bytes")), count = tm_double(tm_get(profile, "total_count"));

    FUZZ_REQUIRE(profile != NULL);
    FUZZ_REQUIRE(is_about(bytes, r->bytes) || bytes >= 9.2e18); /* where it stays at the largest number */
    FUZZ_REQUIRE(is_about(count, r->count) || count >= 9.2e18);
}

static tm_status read_all(struct reading *r, const char *path)
{
    tm_status st;

    r->names = tm_names_new(&r->run, TM_MIB, NULL);
    r->profiles = r->names ? tm_device_profiles_new(&r->run, r->names) : NULL;
    r->doc = tm_doc_new(&r->run);
    FUZZ_REQUIRE(r->profiles && r->doc);
    st = tm_input_open(&r->input, &r->run, path);
    if (st == TM_OK)
        st = tm_input_hold(&r->input);
    if (st == TM_OK)
        st = tm_device_profiles_begin(r->profiles, "memory.prof");
    if (st == TM_OK)
        st = tm_pprof_read(&r->run, &r->input, r->names, take, r, &r->damage);
    if (st == TM_OK)
        st = tm_device_profiles_end(r->profiles);
    if (st == TM_OK)
        st = tm_device_profiles_report(r->profiles, tm_doc_root(r->doc));
    return st;
}

static uint64_t read_profile(const char *path)
{
    static struct reading r;
    tm_status st;

    r = (struct reading){ .hash = 1 };
    fuzz_run_init(&r.run);
    st = read_all(&r, path);
    FUZZ_REQUIRE(st == TM_OK || (st == r.run.error.status && r.run.error.what[0]));
    FUZZ_REQUIRE(r.damage.is_damaged == (r.damage.problem[0] != '\0'));
    if (st == TM_OK)
        check_report(&r);
    tm_doc_free(r.doc);
    tm_device_profiles_free(r.profiles);
    tm_names_free(r.names);
    tm_input_close(&r.input);
    fuzz_run_end(&r.run);
    return r.hash ^ r.samples << 32 ^ (uint64_t)st;
}

static void use_file(const char *path, size_t size)
{
    (void)size;
    FUZZ_REQUIRE(read_profile(path) == read_profile(path));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_with_file(data, size, use_file);
    return 0;
}
