/* SPDX-License-Identifier: Apache-2.0 */
/* The container of partials.  A string is written where it is named first, and by its number from then on; so neither
 * side needs all strings at once, and a reader reads the file once.  Memory: a buffer on either side, the
 * numbers of strings in arrays that spill, and the one string that is read. */
#include "pipeline/partial.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "pipeline/files.h"
#include "pipeline/platform.h"
#include "pipeline/record.h"
#include "pipeline/store/rows.h"
#include "pipeline/store/sorter.h"

enum {
    BUFFER_BYTES = 64 << 10,
    PACKED_MOST = 10, /* bytes of a packed number: 7 bits in each */
    CHECKSUM_BYTES = 8,
    SECTION_NAME_MOST = 63,
    NUMBERS_PAGE_BYTES = 8 << 10,
    ANY_VERSION_BYTES = 18
};
static_assert(sizeof(TM_PARTIAL_MAGIC) - 1 == TM_PARTIAL_MAGIC_BYTES, "as the header says");

static inline void encode(uint8_t *to, uint64_t value, int bytes)
{
    const uint64_t little = htole64(value);

    memcpy(to, &little, (size_t)bytes);
}

static inline uint64_t decode(const uint8_t *from, int bytes)
{
    uint64_t little = 0;

    memcpy(&little, from, (size_t)bytes);
    return le64toh(little);
}

/* Memory for the numbers of strings, in quarters of an account that is otherwise unused at that time. */
enum { NUMBERS_QUARTERS = 2, TWINS_QUARTERS = 1 };

static size_t quarters(struct tm_run *run, int count)
{
    return tm_budget_share(&run->budget, TM_ACCOUNT_INPUT) / 4 * (size_t)count;
}

/* The tables whose rows came in the current section. */
struct tables {
    const void *table[TM_PARTIAL_TABLES_MOST], *last;
    size_t count;
};

/* out: whether it is the first time */
static bool meet_table(struct tables *met, const void *table)
{
    if (met->last == table)
        return false;
    met->last = table;
    for (size_t i = 0; i < met->count; i++)
        if (met->table[i] == table)
            return false;
    assert(met->count < TM_PARTIAL_TABLES_MOST);
    met->table[met->count++] = table;
    return true;
}

/* --- writing --- */

struct tm_partial_writer {
    struct tm_run *run;
    struct tm_names *names;
    tm_partial_host *host;
    const void *of;
    struct tm_spill spill;
    uint8_t *buffer;
    size_t used;
    struct tm_rows *numbers; /* uint32_t by handle: number of the text, 0 = not written yet */
    uint32_t texts;
    struct tm_index *duplicates; /* struct twin: the first handle of each string; NULL = every string has one */
    uint64_t length_at;          /* of the current section: where its length is written */
    struct tables tables;
};

/* A string may have several handles, and which ones depends on the memory.  The first one represents all. */
struct duplicate {
    uint64_t low, high; /* of the hash */
    uint64_t handle;
};

static void find_duplicates(struct tm_partial_writer *w)
{
    w->duplicates = tm_index_new(w->run, TM_ACCOUNT_INPUT, sizeof(struct duplicate), quarters(w->run, TWINS_QUARTERS),
                                 TM_INDEX_FIRST, NULL);
    if (!w->duplicates)
        return;
    for (uint64_t i = 1; i < tm_names_count(w->names) && !tm_failed(w->run); i++) {
        const struct tm_name info = tm_names_info(w->names, (tm_strid)i);

        tm_index_put(w->duplicates, &(struct duplicate){ info.hash.low, info.hash.high, i });
    }
    tm_index_finish(w->duplicates);
}

static tm_strid first_duplicate(struct tm_partial_writer *w, tm_strid name)
{
    struct tm_key hash;
    const struct duplicate *row;

    if (!w->duplicates)
        return name;
    hash = tm_names_info(w->names, name).hash;
    row = tm_index_get(w->duplicates, hash.low);
    return row && row->high == hash.high ? (tm_strid)row->handle : name;
}

struct tm_partial_writer *tm_partial_writer_new(struct tm_run *run, struct tm_names *names, tm_partial_host *host,
                                                const void *of)
{
    struct tm_partial_writer *w = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*w), &run->error);

    if (!w)
        return NULL;
    *w = (struct tm_partial_writer){ .run = run, .names = names, .host = host, .of = of, .spill.fd = -1 };
    w->buffer = tm_take(&run->budget, TM_ACCOUNT_INPUT, BUFFER_BYTES, &run->error);
    w->numbers =
        tm_rows_new_paged(run, TM_ACCOUNT_INPUT, sizeof(uint32_t), quarters(run, NUMBERS_QUARTERS), NUMBERS_PAGE_BYTES);
    if (w->buffer && w->numbers) {
        tm_rows_resize(w->numbers, tm_names_count(names));
        if (tm_names_have_duplicates(names))
            find_duplicates(w);
        if (!tm_failed(run))
            tm_spill_open(&w->spill, run);
    }
    if (!tm_failed(run))
        return w;
    tm_partial_writer_free(w);
    return NULL;
}

void tm_partial_writer_free(struct tm_partial_writer *w)
{
    if (!w)
        return;
    tm_rows_free(w->numbers);
    tm_index_free(w->duplicates);
    tm_spill_close(&w->spill);
    tm_give(&w->run->budget, TM_ACCOUNT_INPUT, w->buffer, BUFFER_BYTES);
    tm_give(&w->run->budget, TM_ACCOUNT_INPUT, w, sizeof(*w));
}

static void flush(struct tm_partial_writer *w)
{
    if (w->used)
        tm_spill_append(&w->spill, w->buffer, w->used, NULL);
    w->used = 0;
}

/* Room for up to BUFFER_BYTES more. */
static inline uint8_t *room_for(struct tm_partial_writer *w, size_t bytes)
{
    uint8_t *at;

    if (w->used + bytes > BUFFER_BYTES)
        flush(w);
    at = w->buffer + w->used;
    w->used += bytes;
    return at;
}

static inline void put_number(struct tm_partial_writer *w, uint64_t value, int bytes)
{
    encode(room_for(w, (size_t)bytes), value, bytes);
}

void tm_partial_put_u8(struct tm_partial_writer *w, unsigned value)
{
    assert(value <= UINT8_MAX);
    put_number(w, value, 1);
}

void tm_partial_put_u32(struct tm_partial_writer *w, uint32_t value)
{
    put_number(w, value, 4);
}

void tm_partial_put_u64(struct tm_partial_writer *w, uint64_t value)
{
    put_number(w, value, 8);
}

void tm_partial_put_i64(struct tm_partial_writer *w, int64_t value)
{
    put_number(w, (uint64_t)value, 8);
}

void tm_partial_put_packed(struct tm_partial_writer *w, uint64_t value)
{
    uint8_t *at = room_for(w, PACKED_MOST);

    for (w->used -= PACKED_MOST; value > INT8_MAX; value >>= 7, w->used++)
        *at++ = (uint8_t)(value | 1 << 7);
    *at = (uint8_t)value;
    w->used++;
}

void tm_partial_put_double(struct tm_partial_writer *w, double value)
{
    tm_partial_put_words(w, &value, 1);
}

void tm_partial_put_words(struct tm_partial_writer *w, const void *first, size_t count)
{
    const uint8_t *from = first;

    for (size_t i = 0; i < count; i++) {
        uint64_t word;

        memcpy(&word, from + i * sizeof(word), sizeof(word));
        put_number(w, word, 8);
    }
}

void tm_partial_put_text(struct tm_partial_writer *w, const char *text)
{
    const size_t length = strlen(text);

    tm_partial_put_u32(w, (uint32_t)length);
    for (size_t at = 0; at < length;) {
        const size_t n = length - at < BUFFER_BYTES ? length - at : BUFFER_BYTES;

        memcpy(room_for(w, n), text + at, n);
        at += n;
    }
}

/* The text after a handle, as long as it is. */
static void put_whole_name(struct tm_partial_writer *w, tm_strid name)
{
    const uint32_t length = tm_names_info(w->names, name).length;

    tm_partial_put_u32(w, length);
    for (uint64_t at = 0; at < length;) {
        const uint64_t left = length - at;
        const size_t n = left < BUFFER_BYTES ? (size_t)left : BUFFER_BYTES;

        tm_names_copy(w->names, name, at, room_for(w, n), n);
        at += n;
    }
}

void tm_partial_put_name(struct tm_partial_writer *w, tm_strid name)
{
    tm_strid first;
    uint32_t *number;

    if (name == 0) {
        tm_partial_put_u32(w, 0);
        return;
    }
    first = first_duplicate(w, name);
    number = tm_rows_change(w->numbers, first);
    if (*number != 0) {
        tm_partial_put_u32(w, *number);
        return;
    }
    *number = ++w->texts; /* there are no more strings than handles */
    tm_partial_put_u32(w, w->texts);
    put_whole_name(w, first);
}

void tm_partial_put_id(struct tm_partial_writer *w, uint32_t host, const char *id)
{
    const char *const name = w->host(w->of, host);
    const size_t length = strlen(name);
    const bool has_host = strncmp(id, name, length) == 0;

    tm_partial_put_u8(w, has_host);
    tm_partial_put_text(w, has_host ? id + length : id);
}

void tm_partial_put_device(struct tm_partial_writer *w, uint32_t host, const char *id)
{
    tm_partial_put_u32(w, host);
    tm_partial_put_id(w, host, id);
}

void tm_partial_begin(struct tm_partial_writer *w, const char *section)
{
    assert(strlen(section) <= SECTION_NAME_MOST);
    tm_partial_put_text(w, section);
    flush(w);
    w->length_at = w->spill.bytes;
    w->tables = (struct tables){ .count = 0 };
    tm_partial_put_u64(w, 0);
}

bool tm_partial_begin_table(struct tm_partial_writer *w, const void *table)
{
    return meet_table(&w->tables, table);
}

tm_status tm_partial_writer_status(const struct tm_partial_writer *w)
{
    return w->run->error.status;
}

tm_status tm_partial_end(struct tm_partial_writer *w)
{
    uint8_t length[8];

    flush(w);
    encode(length, w->spill.bytes - w->length_at - sizeof(length), sizeof(length));
    if (!tm_failed(w->run))
        tm_spill_write(&w->spill, length, sizeof(length), w->length_at);
    return w->run->error.status;
}

static tm_status refuse_output(struct tm_run *run)
{
    return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot write the partial");
}

static tm_status copy_sections(struct tm_partial_writer *w, FILE *to, XXH3_state_t *hash)
{
    uint8_t checksum[CHECKSUM_BYTES];

    if (fwrite(TM_PARTIAL_MAGIC, 1, TM_PARTIAL_MAGIC_BYTES, to) != TM_PARTIAL_MAGIC_BYTES)
        return refuse_output(w->run);
    (void)XXH3_64bits_reset(hash);
    (void)XXH3_64bits_update(hash, TM_PARTIAL_MAGIC, TM_PARTIAL_MAGIC_BYTES);
    for (uint64_t at = 0; at < w->spill.bytes;) {
        const uint64_t left = w->spill.bytes - at;
        const size_t n = left < BUFFER_BYTES ? (size_t)left : BUFFER_BYTES;

        if (tm_spill_read(&w->spill, w->buffer, n, at))
            return w->run->error.status;
        (void)XXH3_64bits_update(hash, w->buffer, n);
        if (fwrite(w->buffer, 1, n, to) != n)
            return refuse_output(w->run);
        at += n;
    }
    encode(checksum, XXH3_64bits_digest(hash), CHECKSUM_BYTES);
    return fwrite(checksum, 1, CHECKSUM_BYTES, to) == CHECKSUM_BYTES ? TM_OK : refuse_output(w->run);
}

tm_status tm_partial_write(struct tm_partial_writer *w, FILE *to)
{
    XXH3_state_t *hash;
    tm_status st;

    assert(w->used == 0); /* the last section has ended */
    if (tm_failed(w->run))
        return w->run->error.status;
    hash = XXH3_createState();
    if (!hash)
        return tm_fail(&w->run->error, TM_ERR_LIMIT, -1, "cannot write the partial: out of memory");
    st = copy_sections(w, to, hash);
    (void)XXH3_freeState(hash);
    return st;
}

/* --- reading --- */

struct tm_partial_reader {
    struct tm_run *run;
    struct tm_names *names;
    tm_partial_host *host;
    const void *of;
    uint32_t first_host, host_count;
    uint32_t first_device, device_count;
    int fd;
    struct tm_unchanged opened;
    uint64_t sum; /* of the content */
    uint64_t end; /* of the sections */
    uint8_t *buffer;
    uint64_t base;           /* of the buffer in the file */
    size_t have, used;       /* bytes in the buffer, and those already taken */
    uint64_t section_end;    /* of the current section; of the file's sections between two */
    struct tm_rows *handles; /* tm_strid by number of the text, less 1 */
    char *text;              /* of a name */
    size_t text_bytes;
    struct tables tables;
    char name[320]; /* of the file, for messages */
};

static uint64_t place(const struct tm_partial_reader *r)
{
    return r->base + r->used;
}

tm_status tm_partial_damaged(struct tm_partial_reader *r, const char *what)
{
    if (!tm_failed(r->run)) {
        (void)tm_fail(&r->run->error, TM_ERR_INPUT, (int64_t)place(r), "the partial %s is damaged: %s", r->name, what);
        tm_hint(&r->run->error, "create it again from the profile, or copy it again from its original location");
    }
    return r->run->error.status;
}

bool tm_partial_is_ok(const struct tm_partial_reader *r)
{
    return !tm_failed(r->run);
}

tm_status tm_partial_status(const struct tm_partial_reader *r)
{
    return r->run->error.status;
}

/* Fill the buffer from where it ends. */
static void refill(struct tm_partial_reader *r)
{
    const uint64_t at = r->base + r->have;
    const uint64_t left = r->end - at;
    const size_t wanted = left < BUFFER_BYTES ? (size_t)left : BUFFER_BYTES;
    size_t got;

    r->base = at;
    r->have = r->used = 0;
    const int problem = tm_read_at(r->fd, r->buffer, wanted, at, &got);

    if (problem)
        (void)tm_fail_system(&r->run->error, TM_ERR_INPUT, (int64_t)(at + got), problem, "cannot read %s", r->name);
    else if (got < wanted)
        (void)tm_partial_damaged(r, "it was truncated while it was read");
    if (tm_failed(r->run))
        return;
    r->have = got;
    tm_progress_add(&r->run->progress, got);
}

static void take_bytes(struct tm_partial_reader *r, void *to, uint64_t bytes)
{
    uint8_t *out = to;

    if (!tm_failed(r->run) && bytes > r->section_end - place(r))
        (void)tm_partial_damaged(r, "a section ends too early");
    while (!tm_failed(r->run) && bytes > 0) {
        size_t n = r->have - r->used;

        if (n == 0) {
            refill(r);
            continue;
        }
        n = bytes < n ? (size_t)bytes : n;
        memcpy(out, r->buffer + r->used, n);
        r->used += n;
        out += n;
        bytes -= n;
    }
}

static inline uint64_t take_number(struct tm_partial_reader *r, int bytes)
{
    uint8_t number[8] = { 0 };

    if (!tm_failed(r->run) && r->have - r->used >= (size_t)bytes && r->section_end - place(r) >= (uint64_t)bytes) {
        r->used += (size_t)bytes;
        return decode(r->buffer + r->used - bytes, bytes);
    }
    take_bytes(r, number, (uint64_t)bytes);
    return !tm_failed(r->run) ? decode(number, bytes) : 0;
}

/* --- opening --- */

bool tm_partial_is(const char *path)
{
    char magic[TM_PARTIAL_MAGIC_BYTES];
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat info;
    size_t got;
    bool is;

    if (fd < 0)
        return false;
    is = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && tm_read_at(fd, magic, sizeof(magic), 0, &got) == 0 &&
         got == sizeof(magic) && memcmp(magic, TM_PARTIAL_MAGIC, ANY_VERSION_BYTES) == 0;
    (void)close(fd);
    return is;
}

static void look_at_file(struct tm_partial_reader *r)
{
    struct stat info;

    if (r->fd < 0 || fstat(r->fd, &info) != 0) {
        (void)tm_fail_system(&r->run->error, TM_ERR_INPUT, -1, errno, "cannot open %s", r->name);
    } else if (!S_ISREG(info.st_mode)) {
        (void)tm_fail(&r->run->error, TM_ERR_INPUT, -1, "%s is not a file", r->name);
    } else if (info.st_size < TM_PARTIAL_MAGIC_BYTES + CHECKSUM_BYTES) {
        (void)tm_partial_damaged(r, "it is truncated");
    } else {
        r->end = (uint64_t)info.st_size;
        r->opened = tm_unchanged_since(&info);
        tm_progress_file(&r->run->progress, r->end);
        tm_progress_span(&r->run->progress, 0, 1);
        tm_progress_phase(&r->run->progress, "reading", 2 * r->end);
    }
}

static void hint_to_make_anew(struct tm_partial_reader *r)
{
    tm_hint(&r->run->error, "create a new one from the profile: tracemill report PROFILE --format partial");
}

static void check_magic(struct tm_partial_reader *r)
{
    char magic[TM_PARTIAL_MAGIC_BYTES];

    r->section_end = r->end;
    take_bytes(r, magic, sizeof(magic));
    if (tm_failed(r->run) || memcmp(magic, TM_PARTIAL_MAGIC, sizeof(magic)) == 0)
        return;
    if (memcmp(magic, TM_PARTIAL_MAGIC, ANY_VERSION_BYTES) == 0 && magic[ANY_VERSION_BYTES + 1] == '\n' &&
        magic[ANY_VERSION_BYTES] > '0' && magic[ANY_VERSION_BYTES] < TM_PARTIAL_MAGIC[ANY_VERSION_BYTES]) {
        (void)tm_fail(&r->run->error, TM_ERR_INPUT, 0,
                      "%s is a partial of format %c, of an older tracemill that defined figures differently; "
                      "this program reads format %c",
                      r->name, magic[ANY_VERSION_BYTES], TM_PARTIAL_MAGIC[ANY_VERSION_BYTES]);
        hint_to_make_anew(r);
    } else {
        (void)tm_fail(&r->run->error, TM_ERR_INPUT, 0, "%s is not a partial of a version that this program reads",
                      r->name);
        tm_hint(&r->run->error, "create it again from the profile, with this version");
    }
}

/* One look at all of it. */
static void check_sum(struct tm_partial_reader *r)
{
    XXH3_state_t *hash = XXH3_createState();
    const uint64_t end = r->end - CHECKSUM_BYTES;
    uint8_t checksum[CHECKSUM_BYTES];

    if (!hash) {
        (void)tm_fail(&r->run->error, TM_ERR_LIMIT, -1, "cannot open %s: out of memory", r->name);
        return;
    }
    (void)XXH3_64bits_reset(hash);
    r->base = r->have = r->used = 0;
    while (!tm_failed(r->run) && r->base + r->have < r->end) {
        refill(r);
        if (r->base < end)
            (void)XXH3_64bits_update(hash, r->buffer, r->base + r->have < end ? r->have : (size_t)(end - r->base));
        r->used = r->have;
    }
    r->base = end;
    r->have = r->used = 0;
    take_bytes(r, checksum, sizeof(checksum));
    r->sum = XXH3_64bits_digest(hash);
    if (!tm_failed(r->run) && decode(checksum, CHECKSUM_BYTES) != r->sum) {
        r->used = 0; /* where the checksum is */
        (void)tm_partial_damaged(r, "its checksum does not match its content");
    }
    (void)XXH3_freeState(hash);
    r->end = end;
    r->section_end = end;
    r->base = TM_PARTIAL_MAGIC_BYTES;
    r->have = r->used = 0;
}

/* in: fd  the reader's; -1 = it could not be opened, and errno says why */
static struct tm_partial_reader *open_reader(struct tm_run *run, int fd, const char *name)
{
    const int problem = errno;
    struct tm_partial_reader *r = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*r), &run->error);
    char clean[sizeof(r->name) - 3];

    if (!r) {
        if (fd >= 0)
            (void)close(fd);
        return NULL;
    }
    r->run = run;
    r->fd = fd;
    tm_clean_text(clean, sizeof(clean), name, strlen(name));
    (void)snprintf(r->name, sizeof(r->name), "'%s'", clean);
    r->buffer = tm_take(&run->budget, TM_ACCOUNT_INPUT, BUFFER_BYTES, &run->error);
    r->handles =
        tm_rows_new_paged(run, TM_ACCOUNT_INPUT, sizeof(tm_strid), quarters(run, NUMBERS_QUARTERS), NUMBERS_PAGE_BYTES);
    errno = problem;
    if (!tm_failed(run))
        look_at_file(r);
    if (!tm_failed(run))
        check_magic(r);
    if (!tm_failed(run))
        check_sum(r);
    if (!tm_failed(run))
        return r;
    tm_partial_close(r);
    return NULL;
}

struct tm_partial_reader *tm_partial_open(struct tm_run *run, const char *path)
{
    return open_reader(run, open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), path);
}

struct tm_partial_reader *tm_partial_open_file(struct tm_run *run, int fd, const char *name)
{
    return open_reader(run, fcntl(fd, F_DUPFD_CLOEXEC, 0), name);
}

uint64_t tm_partial_sum(const struct tm_partial_reader *r)
{
    return r->sum;
}

void tm_partial_close(struct tm_partial_reader *r)
{
    if (!r)
        return;
    if (r->fd >= 0)
        (void)close(r->fd); /* it was only read */
    tm_rows_free(r->handles);
    tm_give(&r->run->budget, TM_ACCOUNT_INPUT, r->buffer, BUFFER_BYTES);
    tm_give(&r->run->budget, TM_ACCOUNT_METADATA, r->text, r->text_bytes);
    tm_give(&r->run->budget, TM_ACCOUNT_INPUT, r, sizeof(*r));
}

/* --- what it belongs to --- */

void tm_partial_bind(struct tm_partial_reader *r, struct tm_names *names, tm_partial_host *host, const void *of,
                     uint32_t first, uint32_t count)
{
    r->names = names;
    r->host = host;
    r->of = of;
    r->first_host = first;
    r->host_count = count;
}

void tm_partial_bind_devices(struct tm_partial_reader *r, uint32_t first, uint32_t count)
{
    r->first_device = first;
    r->device_count = count;
}

uint32_t tm_partial_first_device(const struct tm_partial_reader *r)
{
    return r->first_device;
}

struct tm_names *tm_partial_names(const struct tm_partial_reader *r)
{
    return r->names;
}

uint32_t tm_partial_first_host(const struct tm_partial_reader *r)
{
    return r->first_host;
}

uint32_t tm_partial_host_count(const struct tm_partial_reader *r)
{
    return r->host_count;
}

/* counted in the partial */
static const char *partial_host_name(const struct tm_partial_reader *r, uint32_t host)
{
    assert(host < r->host_count);
    return r->host(r->of, r->first_host + host);
}

void tm_partial_copy_host(const struct tm_partial_reader *r, uint32_t host, char *to, size_t to_bytes)
{
    (void)snprintf(to, to_bytes, "%s", partial_host_name(r, host));
}

/* --- sections --- */

void tm_partial_enter(struct tm_partial_reader *r, const char *section)
{
    char name[SECTION_NAME_MOST + 1], what[SECTION_NAME_MOST + 64];
    uint64_t length;

    tm_partial_text(r, name, sizeof(name));
    if (strcmp(name, section) != 0) {
        (void)snprintf(what, sizeof(what), "the section '%s' is not where it should be", section);
        (void)tm_partial_damaged(r, what);
    }
    length = tm_partial_u64(r);
    if (length > r->end - place(r))
        (void)tm_partial_damaged(r, "a section is longer than the file");
    if (!tm_failed(r->run))
        r->section_end = place(r) + length;
    r->tables = (struct tables){ .count = 0 };
}

bool tm_partial_enter_table(struct tm_partial_reader *r, const void *table)
{
    return meet_table(&r->tables, table);
}

tm_status tm_partial_refuse_layout(struct tm_partial_reader *r)
{
    if (!tm_failed(r->run)) {
        (void)tm_fail(&r->run->error, TM_ERR_INPUT, (int64_t)place(r),
                      "%s is a partial of a different tracemill, whose tables have other fields", r->name);
        hint_to_make_anew(r);
    }
    return r->run->error.status;
}

void tm_partial_leave(struct tm_partial_reader *r)
{
    if (place(r) != r->section_end)
        (void)tm_partial_damaged(r, "a section is longer than what is in it");
    r->section_end = r->end;
}

void tm_partial_finish(struct tm_partial_reader *r)
{
    if (place(r) != r->end)
        (void)tm_partial_damaged(r, "there is data after the last section");
    if (!tm_failed(r->run))
        tm_unchanged_check(r->opened, r->fd, false, r->run, r->name);
}

/* --- values --- */

uint32_t tm_partial_u32(struct tm_partial_reader *r)
{
    return (uint32_t)take_number(r, 4);
}

uint64_t tm_partial_u64(struct tm_partial_reader *r)
{
    return take_number(r, 8);
}

int64_t tm_partial_i64(struct tm_partial_reader *r)
{
    return (int64_t)take_number(r, 8);
}

/* A packed number from memory, of which at least PACKED_MOST bytes are there.  out: its bytes; 0: it has too many bits */
static inline size_t unpack(const uint8_t *from, uint64_t *value)
{
    *value = 0;
    for (unsigned i = 0; i < PACKED_MOST; i++) {
        *value |= (uint64_t)(from[i] & INT8_MAX) << 7 * i;
        if (from[i] <= INT8_MAX)
            return i < PACKED_MOST - 1 || from[i] <= 1 ? i + 1 : 0;
    }
    return 0;
}

uint64_t tm_partial_packed(struct tm_partial_reader *r)
{
    uint8_t bytes[PACKED_MOST] = { 0 };
    uint64_t value = 0;
    size_t taken;

    if (r->have - r->used >= PACKED_MOST && r->section_end - place(r) >= PACKED_MOST && !tm_failed(r->run)) {
        taken = unpack(r->buffer + r->used, &value);
        r->used += taken;
    } else {
        for (size_t i = 0; i < PACKED_MOST && (i == 0 || bytes[i - 1] > INT8_MAX); i++)
            bytes[i] = (uint8_t)take_number(r, 1);
        taken = unpack(bytes, &value);
    }
    if (!taken)
        (void)tm_partial_damaged(r, "a number is out of its range");
    return !tm_failed(r->run) ? value : 0;
}

double tm_partial_double(struct tm_partial_reader *r)
{
    double value;

    tm_partial_words(r, &value, 1);
    return value;
}

static uint64_t take_below(struct tm_partial_reader *r, int bytes, uint64_t limit)
{
    const uint64_t value = take_number(r, bytes);

    if (!tm_failed(r->run) && value >= limit)
        (void)tm_partial_damaged(r, "a number is out of its range");
    return !tm_failed(r->run) ? value : 0;
}

bool tm_partial_bool(struct tm_partial_reader *r)
{
    return take_below(r, 1, 2) != 0;
}

int64_t tm_partial_time(struct tm_partial_reader *r)
{
    return (int64_t)take_below(r, 8, (uint64_t)INT64_MAX + 1);
}

uint8_t tm_partial_below_u8(struct tm_partial_reader *r, uint32_t limit)
{
    return (uint8_t)take_below(r, 1, limit);
}

uint32_t tm_partial_below_u32(struct tm_partial_reader *r, uint64_t limit)
{
    return (uint32_t)take_below(r, 4, limit);
}

uint64_t tm_partial_below_u64(struct tm_partial_reader *r, uint64_t limit)
{
    return take_below(r, 8, limit);
}

void tm_partial_words(struct tm_partial_reader *r, void *first, size_t count)
{
    uint8_t *to = first;

    for (size_t i = 0; i < count; i++) {
        const uint64_t word = take_number(r, 8);

        memcpy(to + i * sizeof(word), &word, sizeof(word));
    }
}

void tm_partial_text(struct tm_partial_reader *r, char *to, size_t to_bytes)
{
    const uint32_t length = tm_partial_u32(r);

    to[0] = '\0';
    if (!tm_failed(r->run) && length >= to_bytes)
        (void)tm_partial_damaged(r, "a text is too long");
    take_bytes(r, to, length);
    if (!tm_failed(r->run) && memchr(to, '\0', length))
        (void)tm_partial_damaged(r, "a text has a zero in it");
    to[!tm_failed(r->run) ? length : 0] = '\0';
}

/* Space for a name, taken from the metadata tables, which do not exist while a partial is read. */
static void widen_text(struct tm_partial_reader *r, size_t bytes)
{
    struct tm_run *run = r->run;
    const size_t most = tm_budget_share(&run->budget, TM_ACCOUNT_METADATA) / 2;
    size_t wanted = r->text_bytes ? 2 * r->text_bytes : 4096;

    if (bytes <= r->text_bytes)
        return;
    if (bytes > most) {
        (void)tm_fail(&run->error, TM_ERR_LIMIT, (int64_t)place(r), "cannot hold a name of %zu bytes", bytes);
        tm_hint(&run->error, "raise --memory");
        return;
    }
    wanted = wanted < bytes ? bytes : wanted < most ? wanted : most;
    tm_give(&run->budget, TM_ACCOUNT_METADATA, r->text, r->text_bytes);
    r->text = tm_take(&run->budget, TM_ACCOUNT_METADATA, wanted, &run->error);
    r->text_bytes = r->text ? wanted : 0;
}

/* The text of a number that occurs for the first time. */
static tm_strid take_new_name(struct tm_partial_reader *r)
{
    const uint32_t length = tm_partial_u32(r);
    tm_strid id;

    if (length > r->section_end - place(r))
        (void)tm_partial_damaged(r, "a text is longer than its section");
    if (!tm_failed(r->run))
        widen_text(r, length);
    take_bytes(r, r->text, length);
    if (tm_failed(r->run))
        return 0;
    id = tm_names_put(r->names, r->text, length);
    tm_rows_append(r->handles, &id);
    return id;
}

tm_strid tm_partial_name(struct tm_partial_reader *r)
{
    const uint64_t known = tm_rows_count(r->handles);
    const uint32_t number = tm_partial_u32(r);

    if (number == 0)
        return 0;
    if (number == known + 1)
        return take_new_name(r);
    if (number > known) {
        (void)tm_partial_damaged(r, "a name is used before it is defined");
        return 0;
    }
    return *(const tm_strid *)tm_rows_at(r->handles, number - 1);
}

void tm_partial_id(struct tm_partial_reader *r, uint32_t host, char *to, size_t to_bytes)
{
    const bool has_host = tm_partial_bool(r);
    size_t length = 0;

    to[0] = '\0';
    if (!tm_failed(r->run) && has_host) {
        tm_partial_copy_host(r, host, to, to_bytes);
        length = strlen(to);
    }
    tm_partial_text(r, to + length, to_bytes - length);
}

uint32_t tm_partial_run_host(struct tm_partial_reader *r)
{
    return r->first_host + tm_partial_below_u32(r, r->host_count);
}

uint32_t tm_partial_run_device(struct tm_partial_reader *r)
{
    return r->first_device + tm_partial_below_u32(r, r->device_count);
}

uint32_t tm_partial_run_device_or_none(struct tm_partial_reader *r)
{
    const uint32_t device = tm_partial_u32(r);

    if (device < r->device_count)
        return r->first_device + device;
    if (device != TM_NONE)
        (void)tm_partial_damaged(r, "a device that does not exist");
    return TM_NONE;
}

uint32_t tm_partial_device(struct tm_partial_reader *r, char *id, size_t id_bytes)
{
    const uint32_t host = tm_partial_below_u32(r, r->host_count);

    tm_partial_id(r, host, id, id_bytes);
    return r->first_host + host;
}
