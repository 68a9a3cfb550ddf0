/* SPDX-License-Identifier: Apache-2.0 */
/* A member of an archive as raw bytes of an input.  Its memory is that of the open archive. */
#include "stages/input/bytes/raw_member.h"

#include "stages/input/bytes/archive.h"

struct own {
    struct tm_member_place place;
    struct tm_archive_member *member; /* NULL after a restart that failed */
};

static tm_status read_member(struct tm_raw_bytes *raw, uint8_t *to, size_t bytes, size_t *got)
{
    struct own *const own = raw->own;
    size_t some = 1;

    for (*got = 0; *got < bytes && some > 0; *got += some) {
        const tm_status st = tm_archive_read(own->member, to + *got, bytes - *got, &some);

        if (st != TM_OK)
            return st;
    }
    return TM_OK;
}

static tm_status restart_member(struct tm_raw_bytes *raw)
{
    struct own *const own = raw->own;

    tm_archive_close(own->member);
    return tm_archive_open(&own->member, raw->run, own->place.path, own->place.member, own->place.position);
}

static const char *problem_of_member(const struct tm_raw_bytes *raw)
{
    const struct own *const own = raw->own;

    return own->member ? tm_archive_problem(own->member) : NULL;
}

static void close_member(struct tm_raw_bytes *raw)
{
    struct own *const own = raw->own;

    tm_archive_close(own->member);
    tm_give(&raw->run->budget, TM_ACCOUNT_INPUT, own, sizeof(*own));
    raw->own = NULL;
}

static const struct tm_raw_type raw_member = { .read = read_member, .restart = restart_member,
                                               .problem = problem_of_member, .close = close_member };

tm_status tm_raw_member_open(struct tm_raw_bytes *raw, struct tm_run *run, const struct tm_member_place *place,
                             struct tm_member_facts *facts)
{
    struct own *const own = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*own), &run->error);
    tm_status st;

    if (!own)
        return run->error.status;
    own->place = *place;
    st = tm_archive_open(&own->member, run, place->path, place->member, place->position);
    if (st != TM_OK) {
        tm_give(&run->budget, TM_ACCOUNT_INPUT, own, sizeof(*own));
        return st;
    }
    *facts = (struct tm_member_facts){ tm_archive_bytes(own->member), tm_archive_modified_ns(own->member) };
    *raw = (struct tm_raw_bytes){ .type = &raw_member, .run = run, .fd = -1, .own = own };
    return TM_OK;
}
