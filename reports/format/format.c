/* SPDX-License-Identifier: Apache-2.0 */
/* How figures and names look to people: the one place for units, digits and escapes, so that HTML,
 * PDF and text say the same.  Nothing here allocates or depends on the locale or the clock. */
#include "reports/format/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pipeline/doc/doc.h"
#include "pipeline/error.h"
#include "pipeline/strings.h"

#define PS_PER_S INT64_C(1000000000000)

enum { NS_PER_S = 1000000000, SECONDS_MOST = 600, MINUTE = 60, HOUR = 3600, DAY = 86400 };

static uint64_t magnitude(int64_t value)
{
    return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

static char *print_long_time(char *out, const char *sign, uint64_t seconds)
{
    if (seconds < HOUR)
        (void)snprintf(out, TM_FORMAT_BYTES, "%s%" PRIu64 " min %02" PRIu64 " s", sign, seconds / MINUTE,
                       seconds % MINUTE);
    else if (seconds < 2 * DAY)
        (void)snprintf(out, TM_FORMAT_BYTES, "%s%" PRIu64 " h %02" PRIu64 " min", sign, seconds / HOUR,
                       seconds % HOUR / MINUTE);
    else
        (void)snprintf(out, TM_FORMAT_BYTES, "%s%" PRIu64 " d %02" PRIu64 " h", sign, seconds / DAY,
                       seconds % DAY / HOUR);
    return out;
}

char *tm_format_time(char *out, int64_t ps)
{
    static const struct {
        uint64_t ps;
        const char *name;
    } unit[] = { { 1000, "ns" }, { 1000000, "µs" }, { 1000000000, "ms" }, { PS_PER_S, "s" } };
    const char *sign = ps < 0 ? "-" : "";
    const uint64_t value = magnitude(ps);

    if (value == 0)
        return memcpy(out, "0 s", sizeof("0 s"));
    if (value < 1000) {
        (void)snprintf(out, TM_FORMAT_BYTES, "%s%" PRIu64 " ps", sign, value);
        return out;
    }
    if (value >= (uint64_t)SECONDS_MOST * PS_PER_S)
        return print_long_time(out, sign, value / PS_PER_S);
    for (size_t i = 0; i < sizeof(unit) / sizeof(unit[0]); i++) {
        uint64_t scale = 100;

        /* What rounds up to 1000 of a unit is 1.00 of the next one. */
        for (int decimals = 2; decimals >= 0; decimals--, scale /= 10) {
            const uint64_t scaled = (value * scale + unit[i].ps / 2) / unit[i].ps;

            if (scaled >= 1000)
                continue;
            if (decimals == 0)
                (void)snprintf(out, TM_FORMAT_BYTES, "%s%" PRIu64 " %s", sign, scaled, unit[i].name);
            else
                (void)snprintf(out, TM_FORMAT_BYTES, "%s%" PRIu64 ".%0*" PRIu64 " %s", sign, scaled / scale, decimals,
                               scaled % scale, unit[i].name);
            return out;
        }
        if (value < 1000 * unit[i].ps && i + 1 < sizeof(unit) / sizeof(unit[0])) {
            (void)snprintf(out, TM_FORMAT_BYTES, "%s1.00 %s", sign, unit[i + 1].name);
            return out;
        }
    }
    return out; /* not reached: SECONDS_MOST is below 1000 */
}

char *tm_format_time_roughly(char *out, int64_t ps)
{
    const uint64_t value = magnitude(ps);
    uint64_t step = 1, rounded;
    char *unit, *end;

    while (value / step >= 100)
        step *= 10;
    rounded = (value + step / 2) / step * step;
    rounded = rounded < INT64_MAX ? rounded : INT64_MAX;
    tm_format_time(out, ps < 0 ? -(int64_t)rounded : (int64_t)rounded);
    unit = strchr(out, ' ');
    if (!unit || !memchr(out, '.', (size_t)(unit - out)))
        return out;
    end = unit;
    while (end[-1] == '0')
        end--;
    memmove(end[-1] == '.' ? end - 1 : end, unit, strlen(unit) + 1);
    return out;
}

char *tm_format_moment(char *out, int64_t ps)
{
    const uint64_t ns = (magnitude(ps) + 500) / 1000;

    (void)snprintf(out, TM_FORMAT_BYTES, "%s%" PRIu64 ".%09" PRIu64 " s", ps < 0 ? "-" : "", ns / NS_PER_S,
                   ns % NS_PER_S);
    return out;
}

char *tm_format_date(char *out, int64_t unix_ns)
{
    const time_t seconds = (time_t)(unix_ns / NS_PER_S);
    struct tm parts;

    if (unix_ns < 0 || !gmtime_r(&seconds, &parts) ||
        strftime(out, TM_FORMAT_BYTES, "%Y-%m-%d %H:%M:%S UTC", &parts) == 0)
        out[0] = 0;
    return out;
}

/* Three digits of a value below 1024. */
static void print_three(char *out, double value, const char *unit)
{
    const double size = fabs(value);
    const int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;

    (void)snprintf(out, TM_FORMAT_BYTES, "%.*f %s", decimals, value, unit);
}

static char *print_scaled(char *out, double value, double base, const char *const *unit, size_t units)
{
    size_t i = 0;

    if (!isfinite(value)) {
        out[0] = 0;
        return out;
    }
    while (fabs(value) >= base - 0.5 && i + 1 < units) {
        value /= base;
        i++;
    }
    if (i == 0)
        (void)snprintf(out, TM_FORMAT_BYTES, "%.0f %s", value, unit[0]);
    else if (fabs(value) < base)
        print_three(out, value, unit[i]);
    else
        (void)snprintf(out, TM_FORMAT_BYTES, "%.3g %s", value, unit[i]);
    return out;
}

char *tm_format_bytes(char *out, double bytes)
{
    static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };

    return print_scaled(out, bytes, 1024, unit, sizeof(unit) / sizeof(unit[0]));
}

char *tm_format_rate(char *out, double bytes_per_s)
{
    static const char *const unit[] = { "B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s" };

    return print_scaled(out, bytes_per_s, 1000, unit, sizeof(unit) / sizeof(unit[0]));
}

char *tm_format_flop_rate(char *out, double flop_per_s)
{
    static const char *const unit[] = { "FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s" };

    return print_scaled(out, flop_per_s, 1000, unit, sizeof(unit) / sizeof(unit[0]));
}

char *tm_format_count(char *out, int64_t count)
{
    char digits[24];
    const int n = snprintf(digits, sizeof(digits), "%" PRIu64, magnitude(count));
    char *to = out;

    if (count < 0)
        *to++ = '-';
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = 0;
    return out;
}

char *tm_format_pct(char *out, double pct)
{
    if (!isfinite(pct))
        out[0] = 0;
    else if (pct > 0 && pct < 0.05)
        (void)snprintf(out, TM_FORMAT_BYTES, "< 0.1 %%");
    else if (pct >= 99.95 && pct < 100)
        (void)snprintf(out, TM_FORMAT_BYTES, "> 99.9 %%");
    else
        (void)snprintf(out, TM_FORMAT_BYTES, "%.1f %%", pct == 0 ? 0 : pct);
    return out;
}

char *tm_format_number(char *out, double value)
{
    const double size = fabs(value);

    if (!isfinite(value)) {
        out[0] = 0;
    } else if (value == trunc(value) && size < 1e15) {
        return tm_format_count(out, (int64_t)value);
    } else if (size >= 999.5 && size < 1e15) {
        return tm_format_count(out, (int64_t)round(value));
    } else if (size >= 1e15 || size < 1e-4) {
        (void)snprintf(out, TM_FORMAT_BYTES, "%.3g", value);
    } else {
        /* 0.9995 is the least that rounds up to the next power of ten */
        const int decimals = 2 - (int)floor(log10(size / 0.9995));

        (void)snprintf(out, TM_FORMAT_BYTES, "%.*f", decimals, value);
    }
    return out;
}

char *tm_format_unit(char *out, double value, const char *unit)
{
    static const struct {
        const char *name;
        double ps;
    } time_unit[] = { { "ps", 1 }, { "ns", 1e3 }, { "us", 1e6 }, { "µs", 1e6 }, { "ms", 1e9 }, { "s", 1e12 } };
    char number[TM_FORMAT_BYTES];

    for (size_t i = 0; i < sizeof(time_unit) / sizeof(time_unit[0]); i++) {
        const double ps = value * time_unit[i].ps;

        if (strcmp(unit, time_unit[i].name) == 0 && fabs(ps) < 9e18)
            return tm_format_time(out, (int64_t)llround(ps));
    }
    if (strcmp(unit, "%") == 0)
        return tm_format_pct(out, value);
    if (strcmp(unit, "bytes") == 0 || strcmp(unit, "B") == 0)
        return tm_format_bytes(out, value);
    if (strcmp(unit, "bytes/s") == 0 || strcmp(unit, "B/s") == 0)
        return tm_format_rate(out, value);
    (void)tm_format_number(number, value);
    if (unit[0] == 0 || strcmp(unit, "count") == 0)
        return memcpy(out, number, sizeof(number));
    (void)snprintf(out, TM_FORMAT_BYTES, "%.30s %.16s", number, unit);
    return out;
}

/* Most characters: of one byte, and seen as they are. */
static bool is_plain(char c)
{
    return c >= ' ' && c <= '~';
}

static size_t escape(char *out, size_t room, uint32_t c)
{
    const char *fixed = c == '\n' ? "\\n" : c == '\t' ? "\\t" : c == '\r' ? "\\r" : NULL;

    if (fixed)
        return (size_t)snprintf(out, room, "%s", fixed);
    return (size_t)snprintf(out, room, c <= 0xffff ? "\\u%04x" : "\\u{%x}", c);
}

enum { PIECE_BYTES = 16 };

/* What stands for the character at the begin of a text.
 * out:    piece  PIECE_BYTES, not terminated; *taken  bytes of the text;  returned: bytes of the piece */
static size_t show_character(char *piece, const char *text, size_t length, size_t *taken)
{
    uint32_t c = 0;

    *taken = tm_utf8_next(text, length, &c);
    if (*taken == 0) {
        *taken = 1;
        return (size_t)snprintf(piece, PIECE_BYTES, "\\x%02x", (unsigned)(uint8_t)text[0]);
    }
    if (tm_utf8_is_hidden(c))
        return escape(piece, PIECE_BYTES, c);
    memcpy(piece, text, *taken);
    return *taken;
}

/* Make as much of a text visible as fits.  out: *taken  bytes of the text */
static size_t show(char *out, size_t out_bytes, const char *text, size_t length, size_t *taken)
{
    size_t used = 0, n;

    for (*taken = 0; *taken < length; *taken += n) {
        char piece[PIECE_BYTES];
        size_t bytes;

        for (; *taken < length && is_plain(text[*taken]) && used + 1 < out_bytes; ++*taken)
            out[used++] = text[*taken];
        if (*taken == length)
            break;
        bytes = show_character(piece, text + *taken, length - *taken, &n);

        if (bytes >= out_bytes - used)
            break;
        memcpy(out + used, piece, bytes);
        used += bytes;
    }
    out[used] = 0;
    return used;
}

size_t tm_format_visible(char *out, size_t out_bytes, const char *text, size_t length)
{
    size_t taken;

    return out_bytes ? show(out, out_bytes, text, length, &taken) : 0;
}

static bool begins_character(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

/* Where the longest end of a text begins that takes less than so many bytes when it is visible. */
static size_t tail_of(const char *text, size_t length, size_t room)
{
    size_t tail = length, taken;
    char piece[TM_UTF8_LONGEST * PIECE_BYTES];

    while (tail > 0) {
        size_t at = tail - 1, bytes;

        while (at > 0 && tail - at < TM_UTF8_LONGEST && !begins_character(text[at]))
            at--;
        bytes = show(piece, sizeof(piece), text + at, tail - at, &taken);
        if (bytes >= room)
            break;
        room -= bytes;
        tail = at;
    }
    return tail;
}

void tm_format_text(char *out, size_t out_bytes, const char *text)
{
    static const char ellipsis[] = "…";
    const size_t length = strlen(text);
    size_t taken, used;

    (void)show(out, out_bytes, text, length, &taken);
    if (taken == length)
        return;
    used = show(out, out_bytes / 2, text, length, &taken);
    memcpy(out + used, ellipsis, sizeof(ellipsis));
    used += sizeof(ellipsis) - 1;
    taken = tail_of(text, length, out_bytes - used);
    (void)show(out + used, out_bytes - used, text + taken, length - taken, &(size_t){ 0 });
}

size_t tm_format_length(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += begins_character(*text);
    return n;
}

bool tm_format_middle(char *out, size_t out_bytes, const char *text, size_t most)
{
    static const char ellipsis[] = "…";
    const size_t length = tm_format_length(text);
    const size_t head = (most - 1) / 2 + (most - 1) % 2, tail = (most - 1) / 2;
    const char *end = text;
    const char *rest = text;
    size_t seen = 0;

    if (length <= most) {
        (void)snprintf(out, out_bytes, "%s", text);
        return false;
    }
    for (const char *at = text; *at; at++) {
        if (!begins_character(*at))
            continue;
        if (seen == head)
            end = at;
        if (seen == length - tail)
            rest = at;
        seen++;
    }
    (void)snprintf(out, out_bytes, "%.*s%s%s", (int)(end - text), text, ellipsis, rest);
    return true;
}

char *tm_format_limit(char *out, double limit, const char *unit)
{
    const bool plain = unit[0] == 0 || strcmp(unit, "count") == 0;

    (void)snprintf(out, TM_FORMAT_BYTES, "%.6g%s%.16s", limit, plain ? "" : " ", plain ? "" : unit);
    return out;
}

/* --- texts of several parts --- */

void tm_format_append(char *text, size_t text_bytes, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list list;

    va_start(list, format);
    (void)vsnprintf(text + used, text_bytes - used, format, list);
    va_end(list);
}

const char *tm_format_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

bool tm_link_is_safe(const char *path)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/-";

    if (!*path || *path == '/' || path[strspn(path, allowed)])
        return false;
    for (const char *part = path;; part++) {
        const size_t length = strcspn(part, "/");

        if (length == 2 && strncmp(part, "..", 2) == 0)
            return false;
        part += length;
        if (!*part)
            return true;
    }
}

/* Letters for what the losses of an input touch. */

static bool has_text(const struct tm_value *list, const char *text)
{
    for (size_t i = 0; i < tm_length(list); i++)
        if (strcmp(tm_text(tm_at(list, i)), text) == 0)
            return true;
    return false;
}

bool tm_mark_is_of_section(const struct tm_value *mark, const char *section)
{
    return section && has_text(tm_get(mark, "sections"), section);
}

bool tm_mark_is_of_kpi(const struct tm_value *mark, const struct tm_value *kpi)
{
    return has_text(tm_get(kpi, "marks"), tm_text(tm_get(mark, "id")));
}

char tm_mark_letter(size_t at)
{
    return (char)('a' + (at < TM_MARKS_SHOWN ? at : TM_MARKS_SHOWN - 1));
}

/* The letters between brackets. */
static char *put_letters(char *out, const bool touches[TM_MARKS_SHOWN])
{
    size_t used = 0;

    for (size_t i = 0; i < TM_MARKS_SHOWN; i++) {
        if (!touches[i])
            continue;
        if (!used) {
            memcpy(out, " [", 2);
            used = 2;
        }
        out[used++] = tm_mark_letter(i);
    }
    if (used)
        out[used++] = ']';
    out[used] = '\0';
    return out;
}

char *tm_sign_of_section(char *out, const struct tm_value *summary, const char *section)
{
    const struct tm_value *marks = tm_path(summary, "coverage.marks");
    bool touches[TM_MARKS_SHOWN] = { false };

    for (size_t i = 0; i < tm_length(marks) && i < TM_MARKS_SHOWN; i++)
        touches[i] = tm_mark_is_of_section(tm_at(marks, i), section);
    return put_letters(out, touches);
}

char *tm_sign_of_kpi(char *out, const struct tm_value *summary, const struct tm_value *kpi)
{
    const struct tm_value *marks = tm_path(summary, "coverage.marks");
    bool touches[TM_MARKS_SHOWN] = { false };

    for (size_t i = 0; i < tm_length(marks) && i < TM_MARKS_SHOWN; i++)
        touches[i] = tm_mark_is_of_kpi(tm_at(marks, i), kpi);
    return put_letters(out, touches);
}

size_t tm_pick_largest(const struct tm_value *list, const char *key, const char *only, size_t most, size_t *pick)
{
    int64_t largest[TM_PICK_MOST];
    size_t n = 0;

    most = most < TM_PICK_MOST ? most : TM_PICK_MOST;
    for (size_t i = 0; i < tm_length(list); i++) {
        const int64_t figure = tm_int(tm_get(tm_at(list, i), key));
        size_t at = n;

        if (only && !tm_is(tm_get(tm_at(list, i), only)))
            continue;
        while (at > 0 && largest[at - 1] < figure)
            at--;
        if (at == most)
            continue;
        n = n < most ? n + 1 : n;
        memmove(pick + at + 1, pick + at, (n - at - 1) * sizeof(pick[0]));
        memmove(largest + at + 1, largest + at, (n - at - 1) * sizeof(largest[0]));
        pick[at] = i;
        largest[at] = figure;
    }
    return n;
}

static int by_place(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

void tm_pick_in_order(size_t *pick, size_t count)
{
    qsort(pick, count, sizeof(pick[0]), by_place);
}

/* Sections that are not for all. */
static const struct {
    const char *key, *platforms;
} sections[] = {
    { "kernels", "gpu" },
    { "fusion", "gpu" },
    { "occupancy", "gpu" },
    { "transfers", "gpu,tpu" },
};

bool tm_section_is_for_run(const char *key, const struct tm_value *summary)
{
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
        if (strcmp(sections[i].key, key) == 0)
            return tm_is_for(sections[i].platforms, summary);
    return true;
}

enum { LEAST_SAVED = 8 }; /* characters; shorter beginnings stay */

static bool is_separator(char c)
{
    return c != 0 && strchr("-_./:@ ", c) != NULL;
}

/* Back to where the word begins that ends before `at`. */
static size_t word_before(const char *text, size_t at)
{
    while (at > 0 && is_separator(text[at - 1]))
        at--;
    while (at > 0 && !is_separator(text[at - 1]))
        at--;
    return at;
}

/* Bytes at the begin of `name` that all hosts begin with, whole words. */
static size_t beginning_of_all(const struct tm_value *hosts, const char *name)
{
    size_t common = strlen(name);

    for (size_t i = 0; i < tm_length(hosts); i++) {
        const char *host = tm_text(tm_at(hosts, i));
        size_t n = 0;

        while (n < common && host[n] && host[n] == name[n])
            n++;
        common = n;
    }
    while (common > 0 && !is_separator(name[common - 1]))
        common--;
    return common;
}

/* The same without the last word of it, which tells what the rest is ("job-0").  0 where too little would be saved. */
static size_t common_bytes(const struct tm_value *hosts, const char *name)
{
    const size_t common = word_before(name, beginning_of_all(hosts, name));

    return common >= LEAST_SAVED ? common : 0;
}

const char *tm_shown_host(const struct tm_value *summary, const char *host)
{
    const struct tm_value *hosts = tm_path(summary, "input.hosts");

    return tm_length(hosts) < 2 ? host : host + common_bytes(hosts, host);
}

const char *tm_shown_device(const struct tm_value *summary, const char *id)
{
    const struct tm_value *hosts = tm_path(summary, "input.hosts");
    const char *host = tm_text(tm_at(hosts, 0));
    const size_t length = strlen(host);

    if (tm_length(hosts) != 1)
        return tm_shown_host(summary, id);
    return strncmp(id, host, length) == 0 && id[length] == '/' && id[length + 1] ? id + length + 1 : id;
}

const char *tm_shown_run(const struct tm_value *summary, char *out, size_t out_bytes)
{
    const struct tm_value *hosts = tm_path(summary, "input.hosts");
    const char *run = tm_text(tm_path(summary, "input.run"));
    size_t bytes = strlen(run);

    if (tm_length(hosts) > 1 && strcmp(tm_text(tm_at(hosts, 0)), run) == 0)
        bytes = beginning_of_all(hosts, run);
    while (bytes > 0 && bytes < strlen(run) && is_separator(run[bytes - 1]))
        bytes--;
    bytes = bytes ? bytes : strlen(run); /* they have nothing in common */
    (void)snprintf(out, out_bytes, "%.*s", (int)(bytes < out_bytes ? bytes : out_bytes), run);
    return out;
}

bool tm_is_named_as_run(const struct tm_value *summary)
{
    const struct tm_value *hosts = tm_path(summary, "input.hosts");

    return tm_length(hosts) == 1 && strcmp(tm_text(tm_at(hosts, 0)), tm_text(tm_path(summary, "input.run"))) == 0;
}
