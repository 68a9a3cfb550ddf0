/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an input and as an archive; the last bytes choose how they are read.  Beside what the sanitizers see:
 * another content for other reads, another engine, or where it is held; members that are past the limits, or are not
 * there when they are opened; links whose target is not where it was found; another content of a member the second
 * time; a refusal without a reason, and memory that is not given back. */
#include <string.h>

#include <xxhash.h>

#include "stages/input/bytes/archive.h"
#include "stages/input/bytes/input_file.h"
#include "tests/fuzz/fuzz_choices.h"
#include "tests/fuzz/fuzz_job.h"

enum { CONTENT_MOST = 256 << 10, MEMBERS_MOST = 2, MEMBER_MOST = 64 << 10, SLOW_STEP = 64, SLOW_MOST = 8 << 10 };

static struct fuzz_choices choices;

/* A read without end would take too long; short ones of much, too. */
static size_t most_of(size_t step, size_t most)
{
    return step < SLOW_STEP ? SLOW_MOST : most;
}

/* What came of a reading. */
struct content {
    uint8_t bytes[CONTENT_MOST];
    size_t length;
    bool is_cut; /* at what is read at most */
    tm_status st;
    char what[512]; /* of the refusal, or the problem */
};

static void require_same(const struct content *a, const struct content *b)
{
    const size_t both = a->length < b->length ? a->length : b->length;

    FUZZ_REQUIRE(memcmp(a->bytes, b->bytes, both) == 0);
    if (a->is_cut || b->is_cut)
        return;
    FUZZ_REQUIRE(a->length == b->length && a->st == b->st && strcmp(a->what, b->what) == 0);
}

static void end_reading(struct content *c, const struct tm_run *run, tm_status st, const char *problem)
{
    c->st = st;
    FUZZ_REQUIRE(st == TM_OK || (st == run->error.status && run->error.what[0]));
    (void)snprintf(c->what, sizeof(c->what), "%s", st == TM_OK ? problem : run->error.what);
}

/* --- an input --- */

static tm_status stream(struct tm_input *in, size_t step, struct content *c)
{
    const size_t most = most_of(step, sizeof(c->bytes));
    size_t got = 1;
    tm_status st = TM_OK;

    while (st == TM_OK && got && c->length < most) {
        const size_t room = most - c->length;

        st = tm_input_next(in, c->bytes + c->length, step < room ? step : room, &got);
        if (st == TM_OK)
            c->length += got;
    }
    c->is_cut = c->length == most;
    /* What ISA-L gave out before it met damage that zlib meets earlier is no part of the content (struct tm_unwrapped). */
    FUZZ_REQUIRE(st != TM_OK || c->is_cut || in->bytes <= c->length);
    if (st == TM_OK && !c->is_cut)
        c->length = (size_t)in->bytes;
    else if (st != TM_OK) /* what is refused in the end has no content */
        c->length = 0;
    return st;
}

static tm_status hold(struct tm_input *in, size_t step, struct content *c)
{
    const size_t most = most_of(step, sizeof(c->bytes));
    size_t got = 1;
    tm_status st = tm_input_hold(in);

    while (st == TM_OK && got && c->length < most) {
        const size_t room = most - c->length, wanted = step < room ? step : room;

        st = tm_input_read(in, c->bytes + c->length, wanted, c->length, &got);
        FUZZ_REQUIRE(st != TM_OK || got == wanted || c->length + got == in->bytes);
        if (st == TM_OK)
            c->length += got;
    }
    c->is_cut = c->length == most;
    return st == TM_OK ? tm_input_finish(in) : st;
}

typedef tm_status read_input(struct tm_input *in, size_t step, struct content *c);

static uint64_t read_file(const char *path, const struct tm_input_options *options, read_input *reads, size_t step,
                          struct content *c)
{
    static struct tm_input in;
    struct tm_run run;
    uint64_t hash;
    tm_status st;

    c->length = 0;
    c->is_cut = false;
    fuzz_run_init(&run);
    st = tm_input_open_with(&in, &run, path, options);
    if (st == TM_OK)
        st = reads(&in, step, c);
    end_reading(c, &run, st, in.problem);
    FUZZ_REQUIRE(in.partial == (in.problem[0] != '\0') || st != TM_OK || c->is_cut);
    hash = in.bytes ^ in.disk_bytes << 20 ^ in.members << 40 ^ in.xxh3 ^ in.problem_at << 30 ^ (uint64_t)in.kind << 56;
    tm_input_close(&in);
    fuzz_run_end(&run);
    return st == TM_OK && !c->is_cut ? hash : 0;
}

/* What holds too much for its size is refused where it has to be held, and only there. */
static void check_input(const char *path)
{
    static struct content first, second;
    static const struct tm_input_options as_usual = { .engine = TM_INFLATE_DEFAULT };
    const struct tm_input_options other = { .engine = choices.bytes[0] & 0x40 ? TM_INFLATE_ZLIB : TM_INFLATE_DEFAULT,
                                            .read_most = choices.bytes[0] & 0x20 ? fuzz_step(choices.bytes[1]) : 0 };
    const uint64_t hash = read_file(path, &as_usual, stream, sizeof(first.bytes), &first);
    const uint64_t other_hash =
        read_file(path, &other, choices.bytes[0] & 0x80 ? hold : stream, fuzz_step(choices.bytes[0]), &second);

    require_same(&first, &second);
    FUZZ_REQUIRE(!hash || !other_hash || hash == other_hash);
}

/* --- an archive --- */

struct place {
    char name[TM_MEMBER_NAME_MOST + 1];
    uint64_t position;
    bool is_last; /* of its name */
};

struct listed {
    struct place place[MEMBERS_MOST];
    size_t count;
    uint64_t position, given;
};

static tm_status note(void *to, const struct tm_member *member)
{
    struct listed *const l = to;

    FUZZ_REQUIRE(member->name[0] && strlen(member->name) <= TM_MEMBER_NAME_MOST);
    FUZZ_REQUIRE(member->position > l->position && member->position <= TM_ARCHIVE_MEMBERS_MOST);
    l->position = member->position;
    l->given++;
    if (!member->is_regular)
        return TM_OK;
    for (size_t i = 0; i < l->count; i++)
        l->place[i].is_last &= strcmp(l->place[i].name, member->name) != 0;
    if (l->count < MEMBERS_MOST) {
        l->place[l->count] = (struct place){ .position = member->position, .is_last = true };
        (void)snprintf(l->place[l->count++].name, sizeof(l->place[0].name), "%s", member->name);
    }
    return TM_OK;
}

static void read_member(const char *path, const struct place *place, uint64_t position, size_t step, struct content *c)
{
    const size_t most = most_of(step, MEMBER_MOST);
    struct tm_archive_member *member = NULL;
    struct tm_run run;
    size_t got = 1;
    tm_status st;

    c->length = 0;
    fuzz_run_init(&run);
    st = tm_archive_open(&member, &run, path, place->name, position);
    FUZZ_REQUIRE((st == TM_OK) == (member != NULL));
    while (st == TM_OK && got && c->length < most) {
        const size_t room = most - c->length;

        st = tm_archive_read(member, c->bytes + c->length, step < room ? step : room, &got);
        c->length += st == TM_OK ? got : 0;
    }
    c->is_cut = c->length == most;
    end_reading(c, &run, st, member && tm_archive_problem(member) ? tm_archive_problem(member) : "");
    tm_archive_close(member);
    fuzz_run_end(&run);
}

static void check_member(const char *path, const struct place *place)
{
    static struct content first, second;
    const struct tm_input_options as_input = { .member = place->name, .position = place->position };

    read_member(path, place, place->position, MEMBER_MOST, &first);
    read_member(path, place, place->is_last ? 0 : place->position, fuzz_step(choices.bytes[0]), &second);
    require_same(&first, &second);
    (void)read_file(path, &as_input, stream, sizeof(second.bytes), &second);
}

/* A file that was found is there, whether its member holds it or one that it is a link to. */
static void open_found(const char *path, const struct tm_found_file *file)
{
    static const char changed[] = "has changed since it was listed"; /* a name may have these words, too */
    const char *const name = file->target ? file->target : file->member;
    struct tm_archive_member *member = NULL;
    struct tm_run run;
    tm_status st;

    fuzz_run_init(&run);
    st = tm_archive_open(&member, &run, path, name, file->position);
    FUZZ_REQUIRE((st == TM_OK) == (member != NULL));
    FUZZ_REQUIRE(strstr(name, changed) || !strstr(run.error.what, changed));
    tm_archive_close(member);
    fuzz_run_end(&run);
}

static void discover(const char *path)
{
    struct tm_found found = { .runs = NULL };
    struct tm_run run;
    size_t opened = 0;
    tm_status st;

    fuzz_run_init(&run);
    st = tm_discover_members(&run, path, tm_archive_list, &found);
    FUZZ_REQUIRE(st == TM_OK ? found.run_count > 0 : st == run.error.status && run.error.what[0]);
    for (size_t i = 0; i < found.run_count; i++)
        for (size_t k = 0; k < found.runs[i].all_count; k++) {
            const struct tm_found_file *const file = &found.runs[i].files[k];

            FUZZ_REQUIRE(file->member && file->position && strlen(file->host) <= TM_HOST_MOST);
            if (opened++ < MEMBERS_MOST)
                open_found(path, file);
        }
    tm_found_free(&found);
    fuzz_run_end(&run);
}

static void check_archive(const char *path)
{
    static struct listed listed;
    struct tm_listing listing;
    struct tm_run run;
    bool is_archive = false;
    tm_status st;

    fuzz_run_init(&run);
    st = tm_kind_is_archive(&run, path, &is_archive);
    FUZZ_REQUIRE(st == TM_OK || st == TM_ERR_LIMIT);
    if (!is_archive)
        return;
    listed = (struct listed){ .count = 0 };
    st = tm_archive_list(&run, path, note, &listed, &listing);
    FUZZ_REQUIRE(st == TM_OK || (st == run.error.status && run.error.what[0]));
    FUZZ_REQUIRE(st != TM_OK || listing.members == listed.given + listing.unnamed);
    fuzz_run_end(&run);
    for (size_t i = 0; i < listed.count; i++)
        check_member(path, &listed.place[i]);
    discover(path);
}

static void use_file(const char *path, size_t size)
{
    (void)size;
    if (!(choices.bytes[1] & 0x80))
        check_input(path);
    if (!(choices.bytes[1] & 0x40))
        check_archive(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices = fuzz_choices_take(data, &size);
    fuzz_with_file(data, size, use_file);
    return 0;
}
