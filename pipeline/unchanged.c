/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/unchanged.h"

#include "pipeline/file_time.h"

#define HINT "wait until the profiler has finished writing, or copy the file first"

struct tm_unchanged tm_unchanged_since(const struct stat *info)
{
    return (struct tm_unchanged){ (uint64_t)info->st_size, tm_file_time_ns(info) };
}

tm_status tm_unchanged_refuse_short(struct tm_run *run, const char *name, uint64_t bytes, uint64_t at)
{
    (void)tm_fail(&run->error, TM_ERR_INPUT, (int64_t)at, "%s became shorter while it was read (it had %llu bytes)",
                  name, (unsigned long long)bytes);
    tm_hint(&run->error, HINT);
    return TM_ERR_INPUT;
}

tm_status tm_unchanged_check(struct tm_unchanged before, int fd, bool may_grow, struct tm_run *run, const char *name)
{
    struct tm_unchanged now;
    struct stat info;

    if (before.bytes == 0 || fstat(fd, &info) != 0)
        return TM_OK;
    now = tm_unchanged_since(&info);
    if (now.bytes < before.bytes)
        return tm_unchanged_refuse_short(run, name, before.bytes, now.bytes);
    if ((now.bytes > before.bytes && may_grow) || (now.bytes == before.bytes && now.modified_ns == before.modified_ns))
        return TM_OK;
    (void)tm_fail(&run->error, TM_ERR_INPUT, -1, "%s was written while it was read", name);
    tm_hint(&run->error, HINT);
    return TM_ERR_INPUT;
}
