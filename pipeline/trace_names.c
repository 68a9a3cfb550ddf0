/* SPDX-License-Identifier: Apache-2.0 */
/* What the names of trace files and of run folders tell. */
#include "pipeline/discover_private.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

const char *tm_last_part(const char *path, size_t *length)
{
    size_t end = strlen(path), begin;

    while (end > 0 && path[end - 1] == '/')
        end--;
    for (begin = end; begin > 0 && path[begin - 1] != '/'; begin--)
        ;
    *length = end - begin;
    return path + begin;
}

size_t tm_name_without(const char *name, size_t length, const char *ending)
{
    const size_t bytes = strlen(ending);

    if (length <= bytes || memcmp(name + length - bytes, ending, bytes) != 0)
        return 0;
    return length - bytes;
}

const char *tm_member_path(const char *name)
{
    for (;;) {
        if (name[0] == '/')
            name++;
        else if (name[0] == '.' && name[1] == '/')
            name += 2;
        else
            return name;
    }
}

/* Length without a dot and digits at the end, as the time in the names of PyTorch; the same where there are none. */
static size_t without_number(const char *name, size_t length)
{
    size_t end = length;

    while (end > 0 && isdigit((unsigned char)name[end - 1]))
        end--;
    return end > 1 && end < length && name[end - 1] == '.' ? end - 1 : length;
}

static size_t without_compression(const char *name, size_t length)
{
    size_t bare = tm_name_without(name, length, ".gz");

    bare = bare ? bare : tm_name_without(name, length, ".zst");
    return bare ? bare : length;
}

bool tm_trace_name_read(const char *name, struct tm_trace_name *told)
{
    static const char perfetto[] = "perfetto_trace.json";
    const size_t whole = strlen(name), length = without_compression(name, whole);
    size_t bare;

    *told = (struct tm_trace_name){ .kind = TM_FOUND_XPLANE, .compressed = length < whole };
    told->host_length = told->data_length = tm_name_without(name, length, ".xplane.pb");
    if (told->host_length > 0)
        return true;
    told->kind = TM_FOUND_TRACE_JSON;
    bare = tm_name_without(name, length, ".pt.trace.json");
    if (bare > 0) { /* WORKER.TIME.pt.trace.json: of one worker there may be several, each of another time */
        told->data_length = bare;
        told->host_length = without_number(name, bare);
        return true;
    }
    told->host_length = told->data_length = tm_name_without(name, length, ".trace.json");
    if (told->host_length > 0)
        return true;
    told->kind = TM_FOUND_PERFETTO_JSON;
    told->host_length = told->data_length = sizeof("perfetto_trace") - 1;
    return length == sizeof(perfetto) - 1 && memcmp(name, perfetto, length) == 0;
}

bool tm_plain_name_read(const char *name, struct tm_trace_name *told)
{
    const size_t whole = strlen(name), length = without_compression(name, whole);
    const size_t json = tm_name_without(name, length, ".json");
    const size_t bare = json ? json : tm_name_without(name, length, ".pb");

    *told = (struct tm_trace_name){ .kind = json ? TM_FOUND_TRACE_JSON : TM_FOUND_XPLANE, .host_length = bare,
                                    .data_length = bare, .compressed = length < whole };
    return bare > 0;
}

bool tm_sniffed_kind(enum tm_sniffed sniffed, enum tm_found_kind *kind)
{
    *kind = sniffed == TM_SNIFFED_XSPACE ? TM_FOUND_XPLANE : TM_FOUND_TRACE_JSON;
    return sniffed != TM_SNIFFED_OTHER;
}

char *tm_file_host(struct tm_run *run, const char *path)
{
    struct tm_trace_name told;
    size_t length;
    const char *const last = tm_last_part(path, &length);

    if (strcmp(path, "-") == 0)
        return tm_find_copy(run, "stdin", sizeof("stdin") - 1);
    if (tm_trace_name_read(last, &told) || tm_plain_name_read(last, &told))
        return tm_find_host(run, last, told.host_length);
    return tm_find_host(run, last, without_compression(last, length));
}

char *tm_find_host(struct tm_run *run, const char *name, size_t length)
{
    char host[TM_HOST_MOST + 1];

    tm_clean_text(host, sizeof(host), name, length);
    return tm_find_copy(run, host, strlen(host));
}

/* Digits at [at, at + count) of text. */
static bool read_digits(const char *text, size_t at, size_t count, int *value)
{
    *value = 0;
    for (size_t i = at; i < at + count; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *value = *value * 10 + (text[i] - '0');
    }
    return true;
}

bool tm_run_date(const char *name, size_t length, int64_t *ns)
{
    enum { DATE_BYTES = 19 };
    struct tm t = { 0 };

    if (length < DATE_BYTES || (length > DATE_BYTES && isalnum((unsigned char)name[DATE_BYTES])))
        return false;
    for (size_t at = 4; at < DATE_BYTES; at += 3) {
        if (name[at] != '_')
            return false;
    }
    if (!read_digits(name, 0, 4, &t.tm_year) || !read_digits(name, 5, 2, &t.tm_mon) ||
        !read_digits(name, 8, 2, &t.tm_mday) || !read_digits(name, 11, 2, &t.tm_hour) ||
        !read_digits(name, 14, 2, &t.tm_min) || !read_digits(name, 17, 2, &t.tm_sec))
        return false;
    if (t.tm_year < 1970 || t.tm_year > 2200 || t.tm_mon < 1 || t.tm_mon > 12 || t.tm_mday < 1 ||
        t.tm_mday > 31 || t.tm_hour > 23 || t.tm_min > 59 || t.tm_sec > 60)
        return false;
    t.tm_year -= 1900;
    t.tm_mon -= 1;
    *ns = (int64_t)timegm(&t) * 1000000000; /* as if it were UTC: only its order counts */
    return true;
}
