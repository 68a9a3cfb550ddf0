/* SPDX-License-Identifier: Apache-2.0 */
/* Leases: files that O_EXCL creates, with a line of text: the owner, and a number that grows with each renewal. */
#include "pipeline/nightly/leases.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <xxhash.h>

#include "pipeline/atomic_file.h"
#include "pipeline/clock.h"
#include "pipeline/files.h"
#include "pipeline/nightly/result.h"

enum { TAKES = 5, ASIDE_BYTES = 4096 + 32 };

#define LEASES "leases"

static uint64_t random_number(void)
{
    uint64_t number = 0;

    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        number = tm_clock_ns() ^ (uint64_t)getpid() << 32;
    return number;
}

static tm_status find_path(struct tm_run *run, const char *out, const struct tm_batch_run *batch_run,
                           const struct tm_batch_file *part, char path[TM_OUT_PATH_BYTES])
{
    char name[2 * TM_RUN_ID_BYTES + 16];

    (void)snprintf(name, sizeof(name), LEASES "/%s%s%s", batch_run->id, part ? "@" : "", part ? part->id : "");
    return tm_out_path(run, out, name, path);
}

/* out: false: there is none */
static bool read_lease(const char *path, char text[TM_LEASE_BYTES])
{
    const int fd = tm_open_to_read(path, O_NOFOLLOW);
    size_t length = 0;

    if (fd < 0)
        return false;
    if (tm_read_on(fd, text, TM_LEASE_BYTES - 1, &length) != 0)
        length = 0;
    text[length] = '\0';
    (void)close(fd);
    return true;
}

/* A lease that cannot be written is one that expires. */
static void write_lease(int fd, struct tm_lease *lease)
{
    char text[TM_LEASE_BYTES + 32];
    const int length = snprintf(text, sizeof(text), "%s %020" PRIu64 "\n", lease->owner, ++lease->count);

    if (pwrite(fd, text, (size_t)length, 0) == length)
        lease->renewed_ns = tm_clock_ns();
}

static bool is_held(const struct tm_lease *lease)
{
    char text[TM_LEASE_BYTES];

    return lease->owner[0] && read_lease(lease->path, text) && strncmp(text, lease->owner, strlen(lease->owner)) == 0;
}

tm_status tm_lease_take(struct tm_run *run, const char *out, const struct tm_batch_run *batch_run,
                        const struct tm_batch_file *part, struct tm_lease *lease, bool *is_taken)
{
    char folder[TM_OUT_PATH_BYTES], host[64] = "";
    int fd = -1;

    *lease = (struct tm_lease){ .owner = "" };
    *is_taken = false;
    if (find_path(run, out, batch_run, part, lease->path) || tm_out_path(run, out, LEASES, folder))
        return run->error.status;
    /* The process that removes the last lease also removes the folder. */
    for (int i = 0; i < TAKES && fd < 0; i++) {
        fd = open(lease->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd < 0 && errno == EEXIST)
            return TM_OK;
        if (fd < 0 && (errno != ENOENT || tm_make_folder(run, folder)))
            break;
    }
    if (fd < 0)
        return tm_failed(run)
                   ? run->error.status
                   : tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot create '%s'", lease->path);
    (void)gethostname(host, sizeof(host) - 1);
    (void)snprintf(lease->owner, sizeof(lease->owner), "%s %ld %016" PRIx64, host, (long)getpid(), random_number());
    write_lease(fd, lease);
    (void)close(fd);
    *is_taken = true;
    return TM_OK;
}

void tm_lease_renew(struct tm_lease *lease, int64_t time_ps)
{
    if (!lease->owner[0] || (int64_t)((tm_clock_ns() - lease->renewed_ns) * 1000) < time_ps / 3)
        return;

    const int fd = is_held(lease) ? open(lease->path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW) : -1;

    if (fd < 0) {
        lease->owner[0] = '\0';
        return;
    }
    write_lease(fd, lease);
    (void)close(fd); /* after this, other machines see it */
}

void tm_lease_give(struct tm_lease *lease)
{
    if (is_held(lease))
        (void)unlink(lease->path);
    lease->owner[0] = '\0';
}

static uint64_t mark_of(const char *path)
{
    char text[TM_LEASE_BYTES];

    return read_lease(path, text) ? XXH3_64bits(text, strlen(text)) | 1 : 0;
}

uint64_t tm_lease_mark(struct tm_run *run, const char *out, const struct tm_batch_run *batch_run,
                       const struct tm_batch_file *part)
{
    char path[TM_OUT_PATH_BYTES];

    return find_path(run, out, batch_run, part, path) ? 0 : mark_of(path);
}

/* Of several that find it expired, rename lets one have it.  A slow one may get the lease that another has just
 * created: it is put back. */
void tm_lease_break(struct tm_run *run, const char *out, const struct tm_batch_run *batch_run,
                    const struct tm_batch_file *part, uint64_t mark)
{
    char path[TM_OUT_PATH_BYTES], folder[TM_OUT_PATH_BYTES], aside[ASIDE_BYTES + 64];

    if (find_path(run, out, batch_run, part, path) || tm_out_path(run, out, LEASES, folder) || mark_of(path) != mark)
        return;
    (void)snprintf(aside, sizeof(aside), "%s/.%016" PRIx64, folder, random_number());
    if (rename(path, aside) != 0)
        return;
    if (mark_of(aside) != mark)
        (void)!link(aside, path);
    (void)unlink(aside);
}

void tm_leases_remove(const char *out)
{
    char folder[ASIDE_BYTES];
    const int length = snprintf(folder, sizeof(folder), "%s/" LEASES, out);
    DIR *const dir = length > 0 && (size_t)length < sizeof(folder) ? opendir(folder) : NULL;
    const struct dirent *entry;

    if (!dir)
        return;
    while ((entry = readdir(dir)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
    (void)closedir(dir);
    (void)rmdir(folder);
}

void tm_leases_end(const char *out)
{
    char folder[ASIDE_BYTES];
    const int length = snprintf(folder, sizeof(folder), "%s/" LEASES, out);

    if (length > 0 && (size_t)length < sizeof(folder))
        (void)rmdir(folder);
}
