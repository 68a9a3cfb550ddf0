/* SPDX-License-Identifier: Apache-2.0 */
/* Rows in pages.  While nothing is spilled, frame i holds page i, and access is a shift, a mask, and a multiplication. 
 * After that a frame holds any page: frames are found with a small hash table with chains, and the frame to evict is
 * found by the clock algorithm (a hand that passes over recently used frames once).  Page p is at p * page_bytes of the
 * spill file, so no table grows with the number of pages. */
#include "pipeline/store/rows.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "pipeline/files.h"
#include "pipeline/platform.h"
#include "pipeline/process.h"
#include "pipeline/run.h"

/* Spill files: nameless, private, gone when the process is, however it ends. */

/* One system call moves at most this much, so that a signal is noticed in time. */
enum { CALL_BYTES = 1 << 26 };

/* Returns a descriptor, or -1 with errno. */
static int open_nameless(const char *folder)
{
    const int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return fd;
    /* The file system has no nameless files (NFS, overlay of old kernels): named for a moment. */
    char path[4096];
    const int n = snprintf(path, sizeof(path), "%s/.tracemill-XXXXXX", folder);

    if (n < 0 || (size_t)n >= sizeof(path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    sigset_t before;
    int named, problem;

    tm_signals_hold(&before); /* none comes while it has a name */
    named = mkostemp(path, O_CLOEXEC);
    problem = errno;
    if (named >= 0)
        (void)unlink(path);
    tm_signals_let(&before);
    errno = problem;
    return named;
}

/* Returns 0, or the errno of the attempt. */
static int try_folder(const char *folder)
{
    const int fd = open_nameless(folder);

    if (fd < 0)
        return errno;
    (void)close(fd);
    return 0;
}

static void warn_of_tmpfs(const struct tm_run *run)
{
    char folder[256];

    if (run->quiet)
        return;
    tm_clean_text(folder, sizeof(folder), run->spill_dir, strlen(run->spill_dir));
    fprintf(stderr, "tracemill: warning: spill files in '%s' are in memory (tmpfs), in addition to --memory\n", folder);
}

tm_status tm_spill_choose_dir(struct tm_run *run, const char *wanted, const char *output_dir)
{
    if (wanted) {
        const int problem = try_folder(wanted);

        if (problem != 0) {
            (void)tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, problem, "cannot write spill files in '%s'", wanted);
            tm_hint(&run->error, "set a folder on a disk with --tmp");
            return run->error.status;
        }
        run->spill_dir = wanted;
        if (tm_folder_is_in_memory(wanted))
            warn_of_tmpfs(run);
        return TM_OK;
    }
    const char *const folders[] = { getenv("TMPDIR"), "/var/tmp", output_dir };

    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        if (folders[i] && folders[i][0] != '\0' && !tm_folder_is_in_memory(folders[i]) && try_folder(folders[i]) == 0) {
            run->spill_dir = folders[i];
            return TM_OK;
        }
    }
    if (output_dir && try_folder(output_dir) == 0) {
        /* In memory, but the user chose it, and there is nothing else. */
        run->spill_dir = output_dir;
        warn_of_tmpfs(run);
        return TM_OK;
    }
    (void)tm_fail(&run->error, TM_ERR_OUTPUT, -1,
                  "cannot write spill files in $TMPDIR, '/var/tmp' or '%s' (folders in memory are skipped)",
                  output_dir ? output_dir : "the output folder");
    tm_hint(&run->error, "set a folder with --tmp");
    return TM_ERR_OUTPUT;
}

tm_status tm_spill_open(struct tm_spill *spill, struct tm_run *run)
{
    *spill = (struct tm_spill){ .run = run, .fd = -1 };
    const char *folder = run->spill_dir ? run->spill_dir : "/var/tmp";

    spill->fd = open_nameless(folder);
    if (spill->fd >= 0)
        return TM_OK;
    (void)tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot create a spill file in '%s'", folder);
    tm_hint(&run->error, "set another folder with --tmp");
    return run->error.status;
}

void tm_spill_expect_random(const struct tm_spill *spill)
{
    (void)posix_fadvise(spill->fd, 0, 0, POSIX_FADV_RANDOM); /* only advice */
}

static tm_status fail_write(const struct tm_spill *spill, size_t bytes, int problem)
{
    struct tm_error *error = &spill->run->error;
    const char *folder = spill->run->spill_dir ? spill->run->spill_dir : "/var/tmp";
    struct statvfs info;

    if ((problem == ENOSPC || problem == EDQUOT) && fstatvfs(spill->fd, &info) == 0) {
        const unsigned long long left = (unsigned long long)info.f_bavail * info.f_frsize;

        (void)tm_fail(error, TM_ERR_OUTPUT, -1,
                      "cannot write %zu bytes to the spill file in '%s': %s, %llu bytes are free", bytes, folder,
                      strerror(problem), left);
        tm_hint(error, "set a folder with more space with --tmp");
    } else {
        (void)tm_fail_system(error, TM_ERR_OUTPUT, -1, problem, "cannot write %zu bytes to the spill file in '%s'",
                             bytes, folder);
        tm_hint(error, "set another folder with --tmp");
    }
    return error->status;
}

static tm_status write_at(struct tm_spill *spill, const void *data, size_t bytes, uint64_t at)
{
    const char *from = data;
    size_t left = bytes;

    if (tm_failed(spill->run))
        return spill->run->error.status;
    while (left > 0) {
        const ssize_t n = pwrite(spill->fd, from, left < CALL_BYTES ? left : CALL_BYTES, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail_write(spill, bytes, n < 0 ? errno : EIO);
        from += n;
        at += (uint64_t)n;
        left -= (size_t)n;
    }
    spill->run->budget.spilled_bytes += bytes;
    return TM_OK;
}

tm_status tm_spill_append(struct tm_spill *spill, const void *data, size_t bytes, uint64_t *at)
{
    if (at)
        *at = spill->bytes;
    if (bytes > INT64_MAX - spill->bytes)
        return fail_write(spill, bytes, EFBIG);
    if (write_at(spill, data, bytes, spill->bytes))
        return spill->run->error.status;
    spill->bytes += bytes;
    return TM_OK;
}

tm_status tm_spill_write(struct tm_spill *spill, const void *data, size_t bytes, uint64_t at)
{
    assert(at <= spill->bytes && bytes <= spill->bytes - at);
    return write_at(spill, data, bytes, at);
}

tm_status tm_spill_read(const struct tm_spill *spill, void *data, size_t bytes, uint64_t at)
{
    size_t got;

    assert(at <= spill->bytes && bytes <= spill->bytes - at);
    const int problem = tm_read_at(spill->fd, data, bytes, at, &got);

    if (problem || got < bytes)
        return tm_fail(&spill->run->error, TM_ERR_OUTPUT, -1, "cannot read %zu bytes back from a spill file: %s", bytes,
                       problem ? strerror(problem) : "it is shorter than what was written");
    return TM_OK;
}

tm_status tm_spill_resize(struct tm_spill *spill, uint64_t bytes)
{
    if (bytes > INT64_MAX)
        return fail_write(spill, 0, EFBIG);
    while (ftruncate(spill->fd, (off_t)bytes) != 0) {
        if (errno != EINTR)
            return fail_write(spill, 0, errno);
    }
    spill->bytes = bytes;
    return TM_OK;
}

void tm_spill_forget(const struct tm_spill *spill, uint64_t at, uint64_t bytes)
{
    (void)fallocate(spill->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)bytes);
}

void tm_spill_close(struct tm_spill *spill)
{
    if (spill->run && spill->fd >= 0)
        (void)close(spill->fd);
    *spill = (struct tm_spill){ .fd = -1 };
}

enum { PAGE_BYTES = 64 << 10, FRAMES_LEAST = 2, DRAWN_PAGES_LEAST = 4, LARGE_BYTES = 2 << 20, NO_FRAME = 0xffffffff };

static const uint64_t NO_PAGE = UINT64_MAX;

struct frame {
    uint8_t *data;
    uint64_t page;        /* NO_PAGE = free */
    uint32_t next;        /* in its chain, or of the free frames */
    uint32_t forgotten;   /* rows, since the page is in the frame */
    uint32_t block_pages; /* of the block that starts with its page; 0 = it is in one that started before */
    bool dirty;           /* differs from the spill file */
    bool recent;          /* used since the hand passed */
};

struct tm_rows {
    struct tm_run *run;
    enum tm_account account;
    size_t row_bytes, page_bytes;
    uint32_t shift; /* rows of a page = 1 << shift */
    uint64_t mask;
    uint64_t count;
    struct frame *frames;
    uint32_t frame_count, frame_capacity, frames_most;
    uint32_t ready_count; /* frames that have a page: those in use, and after them some more of the last block */
    size_t memory_bytes, drawn_bytes; /* its own, and from the pool */
    bool is_spilled;
    struct tm_spill spill;
    uint32_t *heads; /* chains of frames, by hash of the page; only when spilled */
    uint32_t head_bits;
    uint32_t hand;
    uint32_t last_frame; /* the one used last; only when spilled */
    uint32_t first_free; /* of the frames whose page was forgotten; NO_FRAME = none */
};

/* Frames that fit into the memory, with their share of the tables (heads: at most 2 per frame). */
static uint32_t frames_for(const struct tm_rows *rows, size_t memory_bytes)
{
    const size_t per_frame = rows->page_bytes + sizeof(struct frame) + 2 * sizeof(uint32_t);
    const size_t n = memory_bytes > sizeof(*rows) ? (memory_bytes - sizeof(*rows)) / per_frame : 0;

    if (n < FRAMES_LEAST)
        return FRAMES_LEAST;
    return n < NO_FRAME / 4 ? (uint32_t)n : NO_FRAME / 4;
}

struct tm_rows *tm_rows_new_paged(struct tm_run *run, enum tm_account account, size_t row_bytes, size_t memory_bytes,
                                  size_t page_bytes)
{
    assert(row_bytes <= TM_ROW_BYTES_MOST);
    assert(row_bytes > 0);
    struct tm_rows *rows = tm_take(&run->budget, account, sizeof(*rows), &run->error);

    if (!rows)
        return NULL;
    rows->run = run;
    rows->account = account;
    rows->row_bytes = row_bytes;
    while (row_bytes << (rows->shift + 1) <= page_bytes)
        rows->shift++;
    rows->mask = (UINT64_C(1) << rows->shift) - 1;
    rows->page_bytes = row_bytes << rows->shift;
    rows->memory_bytes = memory_bytes;
    rows->frames_most = frames_for(rows, memory_bytes);
    rows->spill.fd = -1;
    rows->first_free = NO_FRAME;
    return rows;
}

struct tm_rows *tm_rows_new(struct tm_run *run, enum tm_account account, size_t row_bytes, size_t memory_bytes)
{
    return tm_rows_new_paged(run, account, row_bytes, memory_bytes, PAGE_BYTES);
}

static void give_heads(struct tm_rows *rows)
{
    tm_give(&rows->run->budget, rows->account, rows->heads, sizeof(uint32_t) << rows->head_bits);
    rows->heads = NULL;
}

void tm_rows_free(struct tm_rows *rows)
{
    if (!rows)
        return;
    struct tm_budget *budget = &rows->run->budget;

    for (uint32_t i = 0; i < rows->ready_count; i++) {
        if (rows->frames[i].block_pages)
            tm_give(budget, rows->account, rows->frames[i].data, rows->frames[i].block_pages * rows->page_bytes);
    }
    tm_give(budget, rows->account, rows->frames, rows->frame_capacity * sizeof(struct frame));
    give_heads(rows);
    tm_spill_close(&rows->spill);
    tm_budget_put_back(budget, rows->drawn_bytes);
    tm_give(budget, rows->account, rows, sizeof(*rows));
}

uint64_t tm_rows_count(const struct tm_rows *rows)
{
    return rows ? rows->count : 0;
}

bool tm_rows_are_in_memory(const struct tm_rows *rows)
{
    return !rows || !rows->is_spilled;
}

size_t tm_rows_row_bytes(const struct tm_rows *rows)
{
    return rows->row_bytes;
}

tm_status tm_rows_status(const struct tm_rows *rows)
{
    return rows->run->error.status;
}

static uint32_t *head_of(const struct tm_rows *rows, uint64_t page)
{
    return &rows->heads[page * UINT64_C(0x9e3779b97f4a7c15) >> (64 - rows->head_bits)];
}

static void link_frame(struct tm_rows *rows, uint32_t which)
{
    uint32_t *head = head_of(rows, rows->frames[which].page);

    rows->frames[which].next = *head;
    *head = which;
}

static void unlink_frame(struct tm_rows *rows, uint32_t which)
{
    uint32_t *at = head_of(rows, rows->frames[which].page);

    while (*at != which)
        at = &rows->frames[*at].next;
    *at = rows->frames[which].next;
}

/* Make the chains again for the current number of frames_most. */
static tm_status build_heads(struct tm_rows *rows)
{
    uint32_t bits = 1;

    give_heads(rows);
    while ((UINT32_C(2) << bits) <= 2 * rows->frames_most)
        bits++;
    rows->heads = tm_take(&rows->run->budget, rows->account, sizeof(uint32_t) << bits, &rows->run->error);
    if (!rows->heads)
        return rows->run->error.status;
    rows->head_bits = bits;
    memset(rows->heads, 0xff, sizeof(uint32_t) << bits);
    for (uint32_t i = 0; i < rows->frame_count; i++)
        if (rows->frames[i].page != NO_PAGE)
            link_frame(rows, i);
    return TM_OK;
}

void tm_rows_allow(struct tm_rows *rows, size_t memory_bytes)
{
    const uint32_t most = frames_for(rows, memory_bytes + rows->drawn_bytes);

    rows->memory_bytes = memory_bytes;
    rows->frames_most = most > rows->ready_count ? most : rows->ready_count;
    if (rows->is_spilled && !tm_failed(rows->run))
        (void)build_heads(rows);
}

static tm_status start_spilling(struct tm_rows *rows)
{
    tm_status status = tm_spill_open(&rows->spill, rows->run);

    if (status == TM_OK)
        status = build_heads(rows);
    rows->is_spilled = status == TM_OK;
    return status;
}

/* Room for this many frames in all, at most frames_most. */
static tm_status reserve_frames(struct tm_rows *rows, uint32_t count)
{
    struct tm_run *run = rows->run;
    uint32_t capacity = rows->frame_capacity != 0 ? rows->frame_capacity : 2;

    while (capacity < count)
        capacity *= 2;
    capacity = capacity < rows->frames_most ? capacity : rows->frames_most;
    if (capacity <= rows->frame_capacity)
        return TM_OK;
    struct frame *frames =
        tm_retake(&run->budget, rows->account, rows->frames, rows->frame_capacity * sizeof(struct frame),
                  capacity * sizeof(struct frame), &run->error);

    if (!frames)
        return run->error.status;
    rows->frames = frames;
    rows->frame_capacity = capacity;
    return TM_OK;
}

/* Take a block of pages for the next frames: one page, or a large block once there is as much already. */
static tm_status take_block(struct tm_rows *rows)
{
    struct tm_run *run = rows->run;
    const uint32_t first = rows->ready_count;
    const size_t wanted = (LARGE_BYTES + rows->page_bytes - 1) / rows->page_bytes;
    const uint32_t count = first >= wanted && rows->frames_most - first >= wanted ? (uint32_t)wanted : 1;

    if (reserve_frames(rows, first + count) != TM_OK)
        return run->error.status;
    uint8_t *data = tm_take(&run->budget, rows->account, count * rows->page_bytes, &run->error);

    if (!data)
        return run->error.status;
    for (uint32_t i = 0; i < count; i++)
        rows->frames[first + i] = (struct frame){ .data = data + i * rows->page_bytes };
    rows->frames[first].block_pages = count;
    rows->ready_count += count;
    return TM_OK;
}

/* A new frame with a zeroed page.  Sets *which. */
static tm_status add_frame(struct tm_rows *rows, uint64_t page, uint32_t *which)
{
    if (rows->frame_count == rows->ready_count && take_block(rows) != TM_OK)
        return rows->run->error.status;
    *which = rows->frame_count++;
    struct frame *frame = &rows->frames[*which];

    frame->page = page;
    frame->dirty = true;
    frame->recent = true;
    return TM_OK;
}

/* Pick the frame to give up, and empty it. */
static tm_status free_frame(struct tm_rows *rows, uint32_t *which)
{
    while (rows->frames[rows->hand].recent || rows->hand == rows->last_frame) {
        rows->frames[rows->hand].recent = false;
        rows->hand = rows->hand + 1 < rows->frame_count ? rows->hand + 1 : 0;
    }
    struct frame *frame = &rows->frames[rows->hand];
    const uint64_t at = frame->page * rows->page_bytes;

    *which = rows->hand;
    if (frame->dirty) {
        tm_status status = TM_OK;

        /* Pages are mostly written in the order of their creation: one call instead of two. */
        if (at == rows->spill.bytes) {
            status = tm_spill_append(&rows->spill, frame->data, rows->page_bytes, NULL);
        } else {
            if (at > rows->spill.bytes)
                status = tm_spill_resize(&rows->spill, at + rows->page_bytes);
            if (status == TM_OK)
                status = tm_spill_write(&rows->spill, frame->data, rows->page_bytes, at);
        }
        if (status != TM_OK)
            return status;
        frame->dirty = false;
    }
    unlink_frame(rows, *which);
    return TM_OK;
}

/* Bring a page, new or from the spill file, into a frame. */
static tm_status load_page(struct tm_rows *rows, uint64_t page, uint32_t *which)
{
    const uint64_t at = page * rows->page_bytes;
    tm_status status = TM_OK;

    if (rows->first_free != NO_FRAME) {
        *which = rows->first_free;
        rows->first_free = rows->frames[*which].next;
    } else if (rows->frame_count < rows->frames_most) {
        status = add_frame(rows, page, which);
    } else {
        status = free_frame(rows, which);
    }
    if (status != TM_OK)
        return status;
    struct frame *frame = &rows->frames[*which];

    frame->page = page;
    frame->forgotten = 0;
    frame->recent = true;
    if (at + rows->page_bytes <= rows->spill.bytes) {
        frame->dirty = false;
        status = tm_spill_read(&rows->spill, frame->data, rows->page_bytes, at);
    } else {
        frame->dirty = true;
        memset(frame->data, 0, rows->page_bytes);
    }
    link_frame(rows, *which);
    return status;
}

static uint8_t *spilled_page(struct tm_rows *rows, uint64_t page, bool dirty)
{
    uint32_t which = rows->last_frame;

    if (rows->frames[which].page != page) {
        which = *head_of(rows, page);
        while (which != NO_FRAME && rows->frames[which].page != page)
            which = rows->frames[which].next;
        if (which == NO_FRAME && (tm_failed(rows->run) || load_page(rows, page, &which) != TM_OK))
            return NULL;
        rows->last_frame = which;
        rows->frames[which].recent = true;
    }
    rows->frames[which].dirty |= dirty;
    return rows->frames[which].data;
}

/* The page in memory, or NULL with an error. */
static inline uint8_t *page_at(struct tm_rows *rows, uint64_t page, bool dirty)
{
    if (__builtin_expect(!rows->is_spilled, 1))
        return rows->frames[page].data;
    return spilled_page(rows, page, dirty);
}

/* A row that is in the spill file, or none after a failure. */
TM_NOT_INLINE void *other_row(struct tm_rows *rows, uint64_t index, bool dirty)
{
    uint8_t *const page = index < rows->count ? page_at(rows, index >> rows->shift, dirty) : NULL;

    if (page)
        return page + (index & rows->mask) * rows->row_bytes;
    assert(tm_failed(rows->run));
    return memset(rows->run->no_row, 0, rows->row_bytes);
}

static inline void *row_at(struct tm_rows *rows, uint64_t index, bool dirty)
{
    if (__builtin_expect(index >= rows->count || rows->is_spilled, 0))
        return other_row(rows, index, dirty);
    return rows->frames[index >> rows->shift].data + (index & rows->mask) * rows->row_bytes;
}

const void *tm_rows_at(struct tm_rows *rows, uint64_t index)
{
    return row_at(rows, index, false);
}

void *tm_rows_change(struct tm_rows *rows, uint64_t index)
{
    return row_at(rows, index, true);
}

void tm_rows_forget(struct tm_rows *rows, uint64_t first, uint64_t count)
{
    struct frame *const frame = rows->is_spilled ? &rows->frames[rows->last_frame] : NULL;

    if (!frame || frame->page != first >> rows->shift)
        return;
    frame->forgotten += (uint32_t)count;
    if (frame->forgotten <= rows->mask)
        return;
    unlink_frame(rows, rows->last_frame);
    frame->page = NO_PAGE;
    frame->next = rows->first_free;
    rows->first_free = rows->last_frame;
}

const void *tm_rows_span(struct tm_rows *rows, uint64_t index, uint64_t *count)
{
    const uint64_t in_page = rows->mask + 1 - (index & rows->mask);
    const void *const row = row_at(rows, index, false);

    *count = row == rows->run->no_row ? 1 : in_page < rows->count - index ? in_page : rows->count - index;
    return row;
}

void tm_rows_change_page(struct tm_rows *rows, uint64_t index, struct tm_row_page *page)
{
    const uint64_t first = index & ~rows->mask, in_page = rows->mask + 1;
    uint8_t *const row = row_at(rows, index, true);

    if (row == (uint8_t *)rows->run->no_row)
        *page = (struct tm_row_page){ .rows = row, .first = index, .count = 1 };
    else
        *page = (struct tm_row_page){ .rows = row - (index - first) * rows->row_bytes,
                                      .first = first,
                                      .count = in_page < rows->count - first ? in_page : rows->count - first };
}

void tm_rows_copy(struct tm_rows *rows, uint64_t index, void *to, uint64_t count)
{
    for (uint64_t done = 0; done < count;) {
        uint64_t span;
        const void *const from = tm_rows_span(rows, index + done, &span);

        span = span < count - done ? span : count - done;
        memcpy((uint8_t *)to + done * rows->row_bytes, from, span * rows->row_bytes);
        done += span;
    }
}

/* True if there may be one more frame: within the memory, or because the pool gave a quarter on top of it. */
static bool may_add_frame(struct tm_rows *rows)
{
    const size_t all = rows->memory_bytes + rows->drawn_bytes;
    const size_t least = (size_t)DRAWN_PAGES_LEAST * rows->page_bytes;
    const size_t wanted = all / 4 < least ? least : all / 4;

    if (rows->frame_count < rows->frames_most)
        return true;
    if (!tm_budget_draw_spare(&rows->run->budget, wanted))
        return false;
    rows->drawn_bytes += wanted;
    rows->frames_most = frames_for(rows, rows->memory_bytes + rows->drawn_bytes);
    return rows->frame_count < rows->frames_most;
}

/* Make room for one more page while all pages are in memory, or start to spill. */
static tm_status grow_page(struct tm_rows *rows)
{
    uint32_t which;

    if (may_add_frame(rows))
        return add_frame(rows, rows->frame_count, &which);
    return start_spilling(rows);
}

void tm_rows_append(struct tm_rows *rows, const void *row)
{
    tm_rows_append_many(rows, row, 1);
}

void tm_rows_append_many(struct tm_rows *rows, const void *first, uint64_t count)
{
    const uint8_t *from = first;

    while (count > 0) {
        const uint64_t index = rows->count;
        const uint64_t page = index >> rows->shift;
        const uint64_t in_page = rows->mask + 1 - (index & rows->mask);
        const uint64_t n = count < in_page ? count : in_page;

        if (!rows->is_spilled && page >= rows->frame_count && (tm_failed(rows->run) || grow_page(rows) != TM_OK))
            return;
        uint8_t *to = page_at(rows, page, true);

        if (!to)
            return;
        memcpy(to + (index & rows->mask) * rows->row_bytes, from, n * rows->row_bytes);
        from += n * rows->row_bytes;
        rows->count += n;
        count -= n;
    }
}

/* Zero everything beyond the new count, so that growing again finds zeros. */
static tm_status shrink(struct tm_rows *rows, uint64_t count)
{
    const uint64_t pages = (count + rows->mask) >> rows->shift;

    for (uint32_t i = 0; i < rows->frame_count; i++) {
        if (rows->frames[i].page >= pages && rows->frames[i].page != NO_PAGE) {
            memset(rows->frames[i].data, 0, rows->page_bytes);
            rows->frames[i].dirty = true;
        }
    }
    if (rows->is_spilled && pages * rows->page_bytes < rows->spill.bytes) {
        const tm_status status = tm_spill_resize(&rows->spill, pages * rows->page_bytes);

        if (status != TM_OK)
            return status;
    }
    if ((count & rows->mask) != 0) {
        uint8_t *page = page_at(rows, count >> rows->shift, true);

        if (!page)
            return rows->run->error.status;
        const size_t kept = (count & rows->mask) * rows->row_bytes;

        memset(page + kept, 0, rows->page_bytes - kept);
    }
    rows->count = count;
    return TM_OK;
}

static tm_status lengthen(struct tm_rows *rows, uint64_t count)
{
    /* Offsets in the spill file are signed 64-bit numbers. */
    if (count > (uint64_t)INT64_MAX / rows->row_bytes - 2 * (rows->mask + 1))
        return tm_fail(&rows->run->error, TM_ERR_LIMIT, -1, "cannot hold that many rows");
    const uint64_t pages = (count + rows->mask) >> rows->shift;

    while (!rows->is_spilled && rows->frame_count < pages) {
        const tm_status status = grow_page(rows);

        if (status != TM_OK)
            return status;
    }
    rows->count = count;
    return TM_OK;
}

void tm_rows_resize(struct tm_rows *rows, uint64_t count)
{
    if (!tm_failed(rows->run))
        (void)(count < rows->count ? shrink(rows, count) : lengthen(rows, count));
}
