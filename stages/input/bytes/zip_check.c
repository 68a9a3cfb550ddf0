/* SPDX-License-Identifier: Apache-2.0 */
/* Walks over the directory of a zip and compares each entry with the header before its member. */
#include "stages/input/bytes/archive.h"

#include <string.h>

#include "pipeline/files.h"
#include "pipeline/store/sorter.h"

/* clang-format off */
enum {
    END_BYTES = 22, END_MOST = END_BYTES + UINT16_MAX, END64_BYTES = 56, LOCATOR_BYTES = 20,
    ENTRY_BYTES = 46, HEADER_BYTES = 30, TEXTS_MOST = 2 * UINT16_MAX /* name and extra fields */,
    WINDOW_BYTES = 160 * 1024, HEADER_GUESS = 512,
    FLAG_DESCRIPTOR = 1 << 3, FLAG_MASKED = 1 << 13, EXTRA_ZIP64 = 1,
    SORT_BYTES = 512 * 1024
};
/* clang-format on */

/* The fields of an entry or a header that describe its member. */
struct facts {
    unsigned flags, method;
    uint64_t crc, packed, plain; /* bytes as stored, and unpacked */
    uint64_t at;                 /* of an entry: where its header is */
    const uint8_t *name;
    size_t name_bytes, extra_bytes;
};

/* The extent of a member, from its header to the end of its data. */
struct place {
    uint64_t begin, end;
};

struct check {
    struct tm_run *run;
    const char *shown;
    int fd;
    uint64_t bytes;
    char *problem;
    uint64_t directory, directory_end; /* where it is */
    uint64_t before;                   /* bytes before the zip, which its offsets do not count */
    uint64_t told;                     /* members by the end record */
    bool told_in_16_bits;
    uint64_t count; /* members so far */
    uint64_t last_end;
    bool is_unordered;
    struct tm_sorter *places; /* NULL = they are not gathered */
    uint64_t window_at;
    size_t window_have;
    uint8_t *window, *header; /* WINDOW_BYTES each */
};

static unsigned get16(const uint8_t *at)
{
    return at[0] | (unsigned)at[1] << 8;
}

static uint64_t get32(const uint8_t *at)
{
    return get16(at) | (uint64_t)get16(at + 2) << 16;
}

static uint64_t get64(const uint8_t *at)
{
    return get32(at) | get32(at + 4) << 32;
}

static bool found(const struct check *c)
{
    return c->problem[0] != '\0';
}

/* Without its name, which may be confidential (--redact). */
static void note(struct check *c, const char *what)
{
    (void)snprintf(c->problem, TM_ZIP_PROBLEM_BYTES, "the archive is damaged: in member %llu of its directory, %s",
                   (unsigned long long)c->count, what);
}

static tm_status read_at(struct check *c, uint8_t *to, size_t bytes, uint64_t at, size_t *got)
{
    const uint64_t left = at < c->bytes ? c->bytes - at : 0;
    const int reason = tm_read_at(c->fd, to, left < bytes ? (size_t)left : bytes, at, got);

    return !reason ? TM_OK
                   : tm_fail_system(&c->run->error, TM_ERR_INPUT, (int64_t)at, reason, "cannot read %s", c->shown);
}

/* --- the end of the directory --- */

/* out: false  it ends in no known way: then it was not read by its directory */
static bool read_end(struct check *c, const uint8_t *end, uint64_t end_at)
{
    const uint64_t size = get32(end + 12), offset = get32(end + 16);

    c->told = get16(end + 10);
    c->told_in_16_bits = true;
    if (size > end_at || end_at - size < offset)
        return false;
    c->directory = end_at - size;
    c->directory_end = end_at;
    c->before = c->directory - offset;
    return true;
}

static tm_status read_end64(struct check *c, uint64_t end_at, bool *known)
{
    uint8_t locator[LOCATOR_BYTES], end[END64_BYTES];
    uint64_t at;
    size_t got = 0;
    tm_status st;

    if (end_at < LOCATOR_BYTES)
        return TM_OK;
    st = read_at(c, locator, sizeof(locator), end_at - LOCATOR_BYTES, &got);
    if (st != TM_OK || got != sizeof(locator) || memcmp(locator, "PK\6\7", 4) != 0)
        return st;
    at = get64(locator + 8);
    st = read_at(c, end, sizeof(end), at, &got);
    if (st != TM_OK || got != sizeof(end) || memcmp(end, "PK\6\6", 4) != 0)
        return st;
    c->told = get64(end + 32);
    c->told_in_16_bits = false;
    c->directory = get64(end + 48);
    c->directory_end = at;
    c->before = 0;
    *known = c->directory <= at;
    return TM_OK;
}

/* The last record that looks like an end, as libarchive takes it. */
static tm_status find_directory(struct check *c, bool *known)
{
    const size_t most = c->bytes < END_MOST ? (size_t)c->bytes : END_MOST;
    size_t got;
    const tm_status st = read_at(c, c->window, most, c->bytes - most, &got);

    *known = false;
    if (st != TM_OK || got != most)
        return st;
    for (size_t behind = 0; behind + END_BYTES <= most; behind++) {
        const uint8_t *const end = c->window + most - END_BYTES - behind;
        const uint64_t at = c->bytes - END_BYTES - behind;

        if (memcmp(end, "PK\5\6", 4) == 0) {
            *known = read_end(c, end, at);
            return read_end64(c, at, known);
        }
    }
    return TM_OK;
}

/* --- entries and headers --- */

/* Numbers that do not fit their 32 bits are in an extra field, in this order. */
static void widen(const uint8_t *extra, size_t bytes, uint64_t *const numbers[], size_t count)
{
    while (bytes >= 4) {
        const size_t length = get16(extra + 2);

        if (length > bytes - 4)
            return;
        if (get16(extra) == EXTRA_ZIP64) {
            size_t at = 0;

            for (size_t i = 0; i < count && at + 8 <= length; i++) {
                if (*numbers[i] == UINT32_MAX) {
                    *numbers[i] = get64(extra + 4 + at);
                    at += 8;
                }
            }
            return;
        }
        extra += 4 + length;
        bytes -= 4 + length;
    }
}

/* The bytes of the directory from a place on.  out: NULL = there are fewer */
static tm_status look_at(struct check *c, uint64_t at, size_t bytes, const uint8_t **view)
{
    tm_status st = TM_OK;

    *view = NULL;
    if (at < c->window_at || at + bytes > c->window_at + c->window_have) {
        st = read_at(c, c->window, WINDOW_BYTES, at, &c->window_have);
        c->window_at = at;
    }
    if (st == TM_OK && at + bytes <= c->window_at + c->window_have)
        *view = c->window + (at - c->window_at);
    return st;
}

/* out:    *next  position of the entry after it; 0 = there is none here */
static tm_status read_entry(struct check *c, uint64_t at, struct facts *e, uint64_t *next)
{
    uint64_t *const wide[] = { &e->plain, &e->packed, &e->at };
    const uint8_t *view;
    tm_status st = look_at(c, at, ENTRY_BYTES, &view);

    *next = 0;
    if (st != TM_OK || !view || memcmp(view, "PK\1\2", 4) != 0)
        return st;
    *e = (struct facts){ .flags = get16(view + 8),
                         .method = get16(view + 10),
                         .crc = get32(view + 16),
                         .packed = get32(view + 20),
                         .plain = get32(view + 24),
                         .at = get32(view + 42),
                         .name_bytes = get16(view + 28),
                         .extra_bytes = get16(view + 30) };
    *next = at + ENTRY_BYTES + e->name_bytes + e->extra_bytes + get16(view + 32);
    st = look_at(c, at, ENTRY_BYTES + e->name_bytes + e->extra_bytes, &view);
    if (st != TM_OK || !view) {
        *next = 0;
        return st;
    }
    e->name = view + ENTRY_BYTES;
    widen(e->name + e->name_bytes, e->extra_bytes, wide, 3);
    return TM_OK;
}

/* out: h->name  NULL = there is no header */
static tm_status read_header(struct check *c, uint64_t at, size_t name_guess, struct facts *h)
{
    uint64_t *const wide[] = { &h->plain, &h->packed };
    const uint8_t *const view = c->header;
    size_t got;
    tm_status st = read_at(c, c->header, HEADER_BYTES + name_guess + HEADER_GUESS, at, &got);

    *h = (struct facts){ .name = NULL };
    if (st != TM_OK || got < HEADER_BYTES || memcmp(view, "PK\3\4", 4) != 0)
        return st;
    *h = (struct facts){ .flags = get16(view + 6),
                         .method = get16(view + 8),
                         .crc = get32(view + 14),
                         .packed = get32(view + 18),
                         .plain = get32(view + 22),
                         .name_bytes = get16(view + 26),
                         .extra_bytes = get16(view + 28) };
    if (got < HEADER_BYTES + h->name_bytes + h->extra_bytes)
        st = read_at(c, c->header, HEADER_BYTES + h->name_bytes + h->extra_bytes, at, &got);
    if (st != TM_OK || got < HEADER_BYTES + h->name_bytes + h->extra_bytes)
        return st;
    h->name = view + HEADER_BYTES;
    widen(h->name + h->name_bytes, h->extra_bytes, wide, 2);
    return TM_OK;
}

/* --- what they have to agree on --- */

/* A header that was written before its member leaves these to the record after the data. */
static bool differs(uint64_t here, uint64_t there, bool is_later)
{
    return here != there && !(is_later && here == 0);
}

static void compare(struct check *c, const struct facts *e, const struct facts *h)
{
    const bool is_later = (e->flags | h->flags) & FLAG_DESCRIPTOR;

    if (!h->name)
        note(c, "the header is missing");
    else if ((e->flags | h->flags) & FLAG_MASKED)
        return;
    else if (e->name_bytes != h->name_bytes || memcmp(e->name, h->name, e->name_bytes) != 0)
        note(c, "the name in the header differs");
    else if (e->method != h->method)
        note(c, "directory and header disagree about the compression method");
    else if (differs(h->packed, e->packed, is_later) || differs(h->plain, e->plain, is_later))
        note(c, "directory and header disagree about the size");
    else if (differs(h->crc, e->crc, is_later))
        note(c, "directory and header disagree about the CRC");
}

/* Members in the order of the directory, as nearly all are, need not be gathered. */
static void take_place(struct check *c, const struct facts *e, const struct facts *h)
{
    const uint64_t begin = c->before + e->at;
    struct place place = { .begin = begin };

    if (__builtin_add_overflow(begin + HEADER_BYTES + h->name_bytes + h->extra_bytes, e->packed, &place.end) ||
        place.end > c->directory) {
        note(c, "the data overlaps the directory");
        return;
    }
    c->is_unordered |= place.begin < c->last_end;
    c->last_end = place.end;
    if (c->places)
        tm_sorter_push(c->places, &place);
}

static tm_status check_entry(struct check *c, const struct facts *e)
{
    struct facts h;
    tm_status st;

    if (e->at >= c->bytes - c->before) {
        note(c, "the offset is past the end");
        return TM_OK;
    }
    st = read_header(c, c->before + e->at, e->name_bytes, &h);
    if (st != TM_OK)
        return st;
    if (!c->places)
        compare(c, e, &h);
    if (!found(c))
        take_place(c, e, &h);
    return TM_OK;
}

static tm_status walk(struct check *c)
{
    uint64_t at = c->directory;
    tm_status st = TM_OK;

    c->count = 0;
    while (st == TM_OK && !found(c) && at < c->directory_end) {
        struct facts e;

        st = read_entry(c, at, &e, &at);
        if (st != TM_OK || at == 0)
            break;
        c->count++;
        st = check_entry(c, &e);
    }
    if (st == TM_OK && !found(c) && c->count != c->told && !(c->told_in_16_bits && (c->count & UINT16_MAX) == c->told))
        (void)snprintf(c->problem, TM_ZIP_PROBLEM_BYTES,
                       "the archive is damaged: its directory has %llu members, but its end record says %llu",
                       (unsigned long long)c->count, (unsigned long long)c->told);
    return st;
}

/* --- places --- */

static int by_begin(const void *a, const void *b)
{
    const struct place *const one = a, *const other = b;

    return (one->begin > other->begin) - (one->begin < other->begin);
}

static tm_status check_places(struct check *c)
{
    const struct place *place;
    uint64_t end = 0;
    tm_status st;

    c->places = tm_sorter_new(c->run, TM_ACCOUNT_SORT, sizeof(struct place), SORT_BYTES, by_begin);
    st = c->places ? walk(c) : c->run->error.status;
    if (st == TM_OK) {
        tm_sorter_finish(c->places);
        while (!found(c) && (place = tm_sorter_next(c->places))) {
            if (place->begin < end)
                (void)snprintf(c->problem, TM_ZIP_PROBLEM_BYTES, "the archive is damaged: members overlap");
            end = place->end;
        }
        st = c->run->error.status;
    }
    tm_sorter_free(c->places);
    return st;
}

tm_status tm_zip_check(struct tm_run *run, int fd, uint64_t bytes, const char *shown, char *problem)
{
    struct check c = { .run = run, .shown = shown, .fd = fd, .bytes = bytes, .problem = problem };
    bool known = false;
    tm_status st;

    _Static_assert(WINDOW_BYTES >= ENTRY_BYTES + TEXTS_MOST && WINDOW_BYTES >= END_MOST, "an entry fits");
    _Static_assert(WINDOW_BYTES >= HEADER_BYTES + TEXTS_MOST + HEADER_GUESS, "a header fits");
    problem[0] = '\0';
    c.window = tm_take(&run->budget, TM_ACCOUNT_INPUT, WINDOW_BYTES, &run->error);
    c.header = c.window ? tm_take(&run->budget, TM_ACCOUNT_INPUT, WINDOW_BYTES, &run->error) : NULL;
    st = c.header ? find_directory(&c, &known) : run->error.status;
    if (st == TM_OK && known)
        st = walk(&c);
    if (st == TM_OK && !found(&c) && c.is_unordered)
        st = check_places(&c);
    tm_give(&run->budget, TM_ACCOUNT_INPUT, c.header, c.header ? WINDOW_BYTES : 0);
    tm_give(&run->budget, TM_ACCOUNT_INPUT, c.window, c.window ? WINDOW_BYTES : 0);
    return st;
}
