/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of an input as they lie on disk: out of a file with pread, out of a stream with read.  No memory but
 * the state of the fingerprint (576 bytes of xxHash). */
#include "stages/input/bytes/raw_bytes.h"

#include <string.h>

#include <xxhash.h>

#include "pipeline/unchanged.h"
#include "pipeline/whole_read.h"

tm_status tm_raw_read_at(struct tm_run *run, const char *name, int fd, void *to, size_t bytes, uint64_t at,
                         size_t *got)
{
    const int problem = tm_read_at(fd, to, bytes, at, got);

    return !problem ? TM_OK :
                      tm_fail_system(&run->error, TM_ERR_INPUT, (int64_t)(at + *got), problem, "cannot read %s", name);
}

static tm_status read_file(struct tm_raw_bytes *raw, uint8_t *to, size_t bytes, size_t *got)
{
    const uint64_t left = raw->size - raw->at;
    const size_t want = left < bytes ? (size_t)left : bytes;
    const tm_status st = tm_raw_read_at(raw->run, raw->name, raw->fd, to, want, raw->at, got);

    if (st != TM_OK || *got == want)
        return st;
    return tm_unchanged_refuse_short(raw->run, raw->name, raw->size, raw->at + *got);
}

static tm_status restart_file(struct tm_raw_bytes *raw)
{
    (void)raw; /* read_file goes by the place alone */
    return TM_OK;
}

static tm_status read_stream(struct tm_raw_bytes *raw, uint8_t *to, size_t bytes, size_t *got)
{
    const int problem = tm_read_on(raw->fd, to, bytes, got);

    return !problem ? TM_OK :
                      tm_fail_system(&raw->run->error, TM_ERR_INPUT, (int64_t)(raw->at + *got), problem,
                                     "cannot read %s", raw->name);
}

const struct tm_raw_type tm_raw_file = { .read = read_file, .restart = restart_file };
const struct tm_raw_type tm_raw_stream = { .read = read_stream };

tm_status tm_raw_open(struct tm_raw_bytes *raw)
{
    raw->hash = XXH3_createState();
    if (!raw->hash || XXH3_64bits_reset(raw->hash) != XXH_OK)
        return tm_fail(&raw->run->error, TM_ERR_LIMIT, -1, "cannot open %s: no memory left", raw->name);
    return TM_OK;
}

tm_status tm_raw_note(struct tm_raw_bytes *raw, uint64_t at, const void *bytes, size_t length)
{
    const uint64_t end = at + length;

    if (at > raw->seen || end <= raw->seen)
        return TM_OK;
    if (XXH3_64bits_update(raw->hash, (const uint8_t *)bytes + (raw->seen - at), end - raw->seen) != XXH_OK)
        return tm_fail(&raw->run->error, TM_ERR_LIMIT, -1, "cannot take the fingerprint of %s", raw->name);
    raw->seen = end;
    return TM_OK;
}

tm_status tm_raw_read(struct tm_raw_bytes *raw, void *to, size_t bytes, size_t *got)
{
    const uint64_t at = raw->at, seen = raw->seen; /* what was not seen before a restart is new */
    tm_status st = raw->type->read(raw, to, bytes, got);

    if (st != TM_OK)
        return st;
    raw->at += *got;
    st = tm_raw_note(raw, at, to, *got);
    tm_progress_add(&raw->run->progress, raw->seen - seen);
    return st;
}

bool tm_raw_can_restart(const struct tm_raw_bytes *raw)
{
    return raw->type->restart != NULL;
}

tm_status tm_raw_restart(struct tm_raw_bytes *raw)
{
    raw->at = 0;
    return raw->type->restart(raw);
}

uint64_t tm_raw_xxh3(const struct tm_raw_bytes *raw)
{
    return XXH3_64bits_digest(raw->hash);
}

void tm_raw_close(struct tm_raw_bytes *raw)
{
    if (!raw->type)
        return;
    if (raw->type->close)
        raw->type->close(raw);
    (void)XXH3_freeState(raw->hash);
    *raw = (struct tm_raw_bytes){ .fd = -1 };
}
