/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of paths by their look.  Bytes are compared as ASCII; nothing is allocated. */
#include "pipeline/batch/path_parts.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define DAY_NS INT64_C(86400000000000)

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_between(char c)
{
    return c == '-' || c == '_' || c == '.';
}

bool tm_part_is(struct tm_path_part part, const char *word)
{
    return strlen(word) == part.length && memcmp(word, part.text, part.length) == 0;
}

bool tm_part_has_ending(struct tm_path_part part, const char *ending)
{
    const size_t length = strlen(ending);

    return part.length > length && memcmp(part.text + part.length - length, ending, length) == 0;
}

bool tm_part_number(struct tm_path_part part, int64_t *number)
{
    int64_t value = 0;

    for (size_t i = 0; i < part.length; i++) {
        const int digit = part.text[i] - '0';

        if (!is_digit(part.text[i]) || value > (INT64_MAX - digit) / 10)
            return false;
        value = 10 * value + digit;
    }
    *number = value;
    return part.length > 0;
}

static bool read_number(struct tm_path_part part, size_t at, size_t length, int *number)
{
    int64_t value;

    if (at + length > part.length || !tm_part_number((struct tm_path_part){ part.text + at, length }, &value))
        return false;
    *number = (int)value;
    return true;
}

/* --- dates --- */

/* A day that there is, and whose nanoseconds 64 bits hold: timegm would move the 31st of June on to July. */
static bool set_day(struct tm_part_date *date, int year, int month, int day)
{
    struct tm t = { .tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day };

    if (year < 1970 || year > 2262 || month < 1 || month > 12 || day < 1 || day > 31)
        return false;
    if (__builtin_mul_overflow((int64_t)timegm(&t), INT64_C(1000000000), &date->midnight_ns) || t.tm_mon != month - 1)
        return false;
    date->time_ns = -1;
    (void)snprintf(date->night, sizeof(date->night), "%04d-%02d-%02d", year % 10000, month % 100, day % 100);
    return true;
}

size_t tm_part_date_head(struct tm_path_part part, struct tm_part_date *date)
{
    const bool is_spread = part.length >= 10 && is_between(part.text[4]) && part.text[7] == part.text[4];
    const size_t gap = is_spread ? 1 : 0, length = 8 + 2 * gap;
    int year, month, day;

    if (!read_number(part, 0, 4, &year) || !read_number(part, 4 + gap, 2, &month) ||
        !read_number(part, 6 + 2 * gap, 2, &day) || (part.length > length && is_digit(part.text[length])))
        return 0;
    return set_day(date, year, month, day) ? length : 0;
}

bool tm_part_date_of_three(const struct tm_path_part parts[3], struct tm_part_date *date)
{
    int year, month, day;

    date->rest = (struct tm_path_part){ "", 0 };
    return parts[0].length == 4 && parts[1].length == 2 && parts[2].length == 2 && read_number(parts[0], 0, 4, &year) &&
           read_number(parts[1], 0, 2, &month) && read_number(parts[2], 0, 2, &day) && set_day(date, year, month, day);
}

/* What follows a date, if it is a time: hh mm or hh mm ss, with or without something between, maybe T before and Z
 * behind it.  out: how many bytes it takes */
static size_t read_time(struct tm_path_part rest, int64_t *ns)
{
    int number[3] = { 0 };
    size_t at = 0, count = 0;

    if (at < rest.length && (is_between(rest.text[at]) || rest.text[at] == 'T' || rest.text[at] == ' '))
        at++;
    while (count < 3 && read_number(rest, at, 2, &number[count])) {
        count++;
        at += 2;
        if (count < 3 && at + 2 < rest.length && (is_between(rest.text[at]) || rest.text[at] == ':') &&
            is_digit(rest.text[at + 1]))
            at++;
    }
    if (count < 2 || number[0] > 23 || number[1] > 59 || number[2] > 60)
        return 0;
    at += at < rest.length && rest.text[at] == 'Z';
    if (at < rest.length && (is_digit(rest.text[at]) || is_letter(rest.text[at])))
        return 0;
    *ns = ((int64_t)number[0] * 3600 + number[1] * 60 + number[2]) * 1000000000;
    return at;
}

/* Without what stands between words at its ends. */
static struct tm_path_part trim(struct tm_path_part part)
{
    while (part.length > 0 && is_between(part.text[0])) {
        part.text++;
        part.length--;
    }
    while (part.length > 0 && is_between(part.text[part.length - 1]))
        part.length--;
    return part;
}

bool tm_part_date(struct tm_path_part part, struct tm_part_date *date)
{
    for (size_t at = 0; at + 8 <= part.length; at++) {
        const struct tm_path_part tail = { part.text + at, part.length - at };
        size_t used;

        /* At its begin, or behind a word that ends there: 'nightly-2026-11-21'. */
        if (at > 0 && !is_between(part.text[at - 1]))
            continue;
        used = tm_part_date_head(tail, date);
        if (used == 0)
            continue;
        used += read_time((struct tm_path_part){ tail.text + used, tail.length - used }, &date->time_ns);
        if (used < tail.length && !is_between(tail.text[used]))
            continue; /* digits of something else: a hash, a number of a job */
        if (at > 0 && used < tail.length)
            continue; /* amid other words: it may mean anything */
        date->rest = trim(at > 0 ? (struct tm_path_part){ part.text, at } :
                                   (struct tm_path_part){ tail.text + used, tail.length - used });
        return true;
    }
    return false;
}

/* --- steps --- */

static bool begins(struct tm_path_part part, const char *word)
{
    const size_t length = strlen(word);

    return part.length >= length && strncasecmp(part.text, word, length) == 0;
}

bool tm_part_step(struct tm_path_part part, int64_t *step, struct tm_path_part *rest)
{
    static const char *const words[] = { "global_step", "global-step", "globalstep", "iteration", "checkpoint",
                                         "steps",       "step",        "iter",       "ckpt" };
    size_t digits = part.length;

    while (digits > 0 && is_digit(part.text[digits - 1]))
        digits--;
    if (!tm_part_number((struct tm_path_part){ part.text + digits, part.length - digits }, step))
        return false;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        const size_t length = strlen(words[i]);
        const size_t gap = digits > 0 && is_between(part.text[digits - 1]);
        const size_t at = digits >= length + gap ? digits - length - gap : part.length;

        if (!begins((struct tm_path_part){ part.text + at, part.length - at }, words[i]) ||
            (at > 0 && !is_between(part.text[at - 1])))
            continue;
        *rest = trim((struct tm_path_part){ part.text, at });
        return true;
    }
    return false;
}

/* --- revisions --- */

static bool is_hex(struct tm_path_part part, bool is_told)
{
    bool has_letter = false, has_digit = false;

    for (size_t i = 0; i < part.length; i++) {
        const char c = part.text[i];

        if (is_digit(c))
            has_digit = true;
        else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
            has_letter = true;
        else
            return false;
    }
    return part.length >= 7 && part.length <= 40 && (is_told || (has_letter && has_digit));
}

static struct tm_path_part from(struct tm_path_part part, size_t at)
{
    return (struct tm_path_part){ part.text + at, part.length - at };
}

bool tm_part_revision(struct tm_path_part part, struct tm_path_part *digits)
{
    static const char *const prefixes[] = { "git-", "git_", "rev-", "rev_", "sha-", "sha_", "commit-", "commit_" };
    size_t at = part.length;

    *digits = part;
    if (is_hex(*digits, false))
        return true;
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        if (begins(part, prefixes[i])) {
            *digits = from(part, strlen(prefixes[i]));
            digits->text += digits->length > 0 && digits->text[0] == 'g';
            digits->length = part.length - (size_t)(digits->text - part.text);
            return is_hex(*digits, true);
        }
    }
    while (at > 0 && part.text[at - 1] != '-') /* as 'git describe' has it; 'g' and the digits alone, too */
        at--;
    if (at == part.length || part.text[at] != 'g')
        return false;
    *digits = from(part, at + 1);
    return is_hex(*digits, at > 0);
}
