/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FILE_TIME_H
#define TM_FILE_TIME_H

#include <stdint.h>
#include <sys/stat.h>

/* When a file was changed, in nanoseconds since 1970.  Some file systems hold years that 64 bits do not: these are the first
 * or the last nanosecond that they do. */
static inline int64_t tm_file_time_ns(const struct stat *info)
{
    int64_t ns;

    if (__builtin_mul_overflow((int64_t)info->st_mtim.tv_sec, INT64_C(1000000000), &ns) ||
        __builtin_add_overflow(ns, (int64_t)info->st_mtim.tv_nsec, &ns))
        return info->st_mtim.tv_sec < 0 ? INT64_MIN : INT64_MAX;
    return ns;
}

#endif
