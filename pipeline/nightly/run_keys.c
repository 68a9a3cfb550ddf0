/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of a run from its path: part by part, by the template as far as it reaches, then by the form of the part
 * (manifest.h).  The first part of a kind counts; the remaining parts make up the job. */
#include "pipeline/nightly/manifest.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include <xxhash.h>

#include "pipeline/discover.h"
#include "pipeline/options.h"
#include "pipeline/run.h"
#include "pipeline/strings.h"

/* The template of --keys: parts of a path, from the left, in which {job}, {night}, {revision}, {label}, {step}, and {}
 * match the text there. */
enum tm_key_kind { TM_KEY_NOTHING, TM_KEY_JOB, TM_KEY_NIGHT, TM_KEY_REVISION, TM_KEY_LABEL, TM_KEY_STEP, TM_KEY_KINDS };

enum { TM_KEY_PARTS_MOST = 32, TM_KEY_PART_BYTES = 255, TM_KEY_PART_KEYS_MOST = 8 };

/* Match one part of a path against one part of a checked template.
 * out:    values  for each key, a view into `part`; the template has it `count[key]` times, at most once per part */
struct tm_key_match {
    bool is_there[TM_KEY_KINDS];
    struct tm_path_part value[TM_KEY_KINDS];
};

/* A date in a part, at its start or its end: 2026-11-21, 2026_11_21, 20261121, and a time after it. */
struct tm_part_date {
    char night[11];           /* "2026-11-21" */
    int64_t midnight_ns;      /* since 1970, as if it were UTC */
    int64_t time_ns;          /* of the day; -1 = not recorded */
    struct tm_path_part rest; /* what is beside the date and the time; may be empty */
};

/* Parts of paths by their look.  Bytes are compared as ASCII; nothing is allocated. */

#define DAY_NS INT64_C(86400000000000)

enum { LABELS_MOST = 16, LABEL_KEY_BYTES = 64, ZONE_BYTES = 64 };

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

static bool part_is(struct tm_path_part part, const char *word)
{
    return strlen(word) == part.length && memcmp(word, part.text, part.length) == 0;
}

bool tm_part_has_ending(struct tm_path_part part, const char *ending)
{
    const size_t length = strlen(ending);

    return part.length > length && memcmp(part.text + part.length - length, ending, length) == 0;
}

/* Digits only.  out: false also past 2^63 - 1 */
static bool part_number(struct tm_path_part part, int64_t *number)
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

    if (at + length > part.length || !part_number((struct tm_path_part){ part.text + at, length }, &value))
        return false;
    *number = (int)value;
    return true;
}

/* --- dates --- */

/* A valid day whose nanoseconds fit in 64 bits: timegm would turn the 31st of June into the 1st of July. */
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

/* The same of a part that starts with a date.  out: how many bytes it takes, 0 = it does not */
static size_t part_date_head(struct tm_path_part part, struct tm_part_date *date)
{
    const bool is_spread = part.length >= 10 && is_between(part.text[4]) && part.text[7] == part.text[4];
    const size_t gap = is_spread ? 1 : 0, length = 8 + 2 * gap;
    int year, month, day;

    if (!read_number(part, 0, 4, &year) || !read_number(part, 4 + gap, 2, &month) ||
        !read_number(part, 6 + 2 * gap, 2, &day) || (part.length > length && is_digit(part.text[length])))
        return 0;
    return set_day(date, year, month, day) ? length : 0;
}

/* The parts year, month and day. */
static bool part_date_of_three(const struct tm_path_part parts[3], struct tm_part_date *date)
{
    int year, month, day;

    date->rest = (struct tm_path_part){ "", 0 };
    return parts[0].length == 4 && parts[1].length == 2 && parts[2].length == 2 && read_number(parts[0], 0, 4, &year) &&
           read_number(parts[1], 0, 2, &month) && read_number(parts[2], 0, 2, &day) && set_day(date, year, month, day);
}

/* What follows a date, if it is a time: hh mm or hh mm ss, with or without something between, maybe T before and Z
 * after it.  out: how many bytes it takes */
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

/* Without what is between words at its ends. */
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

static bool part_date(struct tm_path_part part, struct tm_part_date *date)
{
    for (size_t at = 0; at + 8 <= part.length; at++) {
        const struct tm_path_part tail = { part.text + at, part.length - at };
        size_t used;

        /* At its start, or after a word that ends there: 'nightly-2026-11-21'. */
        if (at > 0 && !is_between(part.text[at - 1]))
            continue;
        used = part_date_head(tail, date);
        if (used == 0)
            continue;
        used += read_time((struct tm_path_part){ tail.text + used, tail.length - used }, &date->time_ns);
        if (used < tail.length && !is_between(tail.text[used]))
            continue; /* digits of something else: a hash, a number of a job */
        if (at > 0 && used < tail.length)
            continue; /* amid other words: it may mean anything */
        date->rest = trim(at > 0 ? (struct tm_path_part){ part.text, at }
                                 : (struct tm_path_part){ tail.text + used, tail.length - used });
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

/* A step of a training run: step_1000, step-1000, step1000, also of iter, iteration, ckpt, checkpoint, and behind other
 * words.  out: rest  those words; may be empty */
static bool part_step(struct tm_path_part part, int64_t *step, struct tm_path_part *rest)
{
    static const char *const words[] = { "global_step", "global-step", "globalstep", "iteration", "checkpoint",
                                         "steps",       "step",        "iter",       "ckpt" };
    size_t digits = part.length;

    while (digits > 0 && is_digit(part.text[digits - 1]))
        digits--;
    if (!part_number((struct tm_path_part){ part.text + digits, part.length - digits }, step))
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

/* A revision: 7 to 40 hexadecimal digits with at least one letter and one digit; the letter may be missing behind
 * "git-", "rev-", "sha-" or "commit-"; v1.2-14-g2414721, too.  out: of it the digits */
static bool part_revision(struct tm_path_part part, struct tm_path_part *digits)
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
    while (at > 0 && part.text[at - 1] != '-') /* as printed by 'git describe'; also 'g' and the digits alone */
        at--;
    if (at == part.length || part.text[at] != 'g')
        return false;
    *digits = from(part, at + 1);
    return is_hex(*digits, at > 0);
}

/* Parts of a path by a part of a template.  A key takes as few bytes as it can, and more where the rest would not fit
 * then; where the rest did not fit once is remembered, so that no part costs more than its length times its keys. */

static const char *const key_words[TM_KEY_KINDS] = {
    [TM_KEY_NOTHING] = "",          [TM_KEY_JOB] = "job",     [TM_KEY_NIGHT] = "night",
    [TM_KEY_REVISION] = "revision", [TM_KEY_LABEL] = "label", [TM_KEY_STEP] = "step",
};

/* The parts of a string between slashes, without empty ones.  out: how many, at most `most` */
static size_t split_parts(const char *text, struct tm_path_part *parts, size_t most)
{
    size_t count = 0;

    while (*text && count < most) {
        const size_t length = strcspn(text, "/");

        if (length > 0)
            parts[count++] = (struct tm_path_part){ text, length };
        text += length;
        text += *text == '/';
    }
    return count;
}

/* --- checking --- */

static tm_status refuse(struct tm_error *error, const char *text, const char *reason)
{
    (void)tm_fail(error, TM_ERR_USAGE, -1, "cannot use '%s' for --keys: %s", text, reason);
    tm_hint(error, "describe each folder level below ROOT, as in '{job}/{night}/{revision}' or '{job}/run-{step}/{}'");
    return TM_ERR_USAGE;
}

static tm_status refuse_key(struct tm_error *error, const char *text, struct tm_path_part key)
{
    struct tm_nearest nearest = { .word = NULL };
    char typed[64];

    tm_clean_text(typed, sizeof(typed), key.text, key.length);
    for (size_t i = TM_KEY_JOB; i < TM_KEY_KINDS; i++)
        tm_nearest_offer(&nearest, typed, key_words[i]);
    (void)tm_fail(error, TM_ERR_USAGE, -1, "cannot use '%s' for --keys: there is no key '%s'", text, typed);
    if (nearest.word)
        tm_hint(error, "did you mean '{%s}'?", nearest.word);
    else
        tm_hint(error, "keys are {job}, {night}, {revision}, {label}, {step}, and {} for anything else");
    return TM_ERR_USAGE;
}

static enum tm_key_kind find_key(struct tm_path_part key)
{
    size_t i = 0;

    while (i < TM_KEY_KINDS && !part_is(key, key_words[i]))
        i++;
    return (enum tm_key_kind)i;
}

/* The key that starts at text[0] == '{'.  out: its name, between the braces; false: it has no end */
static bool name_of_key(struct tm_path_part at, struct tm_path_part *name)
{
    const char *end = memchr(at.text, '}', at.length);

    if (!end)
        return false;
    *name = (struct tm_path_part){ at.text + 1, (size_t)(end - at.text) - 1 };
    return true;
}

static tm_status check_part(const char *text, struct tm_path_part part, uint32_t *met, struct tm_error *error)
{
    size_t i = 0, keys = 0;

    if (part.length > TM_KEY_PART_BYTES)
        return refuse(error, text, "a part of it is too long");
    while (i < part.length) {
        struct tm_path_part name;
        enum tm_key_kind key;

        if (part.text[i] != '{') {
            if (part.text[i] == '}')
                return refuse(error, text, "a '}' has no '{'");
            i++;
            continue;
        }
        if (!name_of_key((struct tm_path_part){ part.text + i, part.length - i }, &name))
            return refuse(error, text, "a '{' has no '}'");
        key = find_key(name);
        if (key == TM_KEY_KINDS)
            return refuse_key(error, text, name);
        /* A job may be made of several parts, the others have one part. */
        if (key != TM_KEY_NOTHING && key != TM_KEY_JOB && (*met & 1u << key))
            return refuse(error, text, "a key occurs twice");
        if (++keys > TM_KEY_PART_KEYS_MOST)
            return refuse(error, text, "a part of it has too many keys");
        *met |= 1u << key;
        i += name.length + 2;
        if (i < part.length && part.text[i] == '{')
            return refuse(error, text, "there is nothing between two keys");
    }
    return TM_OK;
}

/* errors: TM_ERR_USAGE, with what would be right */
static void key_template_check(const char *text, struct tm_error *error)
{
    struct tm_path_part parts[TM_KEY_PARTS_MOST + 1];
    const size_t count = split_parts(text, parts, TM_KEY_PARTS_MOST + 1);
    uint32_t met = 0;

    if (count > TM_KEY_PARTS_MOST) {
        (void)refuse(error, text, "it has too many parts");
        return;
    }
    for (size_t i = 0; i < count; i++)
        if (check_part(text, parts[i], &met, error))
            return;
    if (!(met & ~(1u << TM_KEY_NOTHING)))
        (void)refuse(error, text, "it has no key");
}

/* --- matching --- */

struct matching {
    struct tm_path_part pattern, part;
    struct tm_key_match *match;
    uint64_t failed[TM_KEY_PART_KEYS_MOST][(TM_KEY_PART_BYTES + 64) / 64]; /* bits: key number, byte of the part */
};

static bool match_from(struct matching *m, size_t pattern_at, size_t part_at, size_t keys);

/* May these bytes be the value of a key? */
static bool fits(enum tm_key_kind key, struct tm_path_part value)
{
    struct tm_part_date date;
    int64_t step;

    if (key == TM_KEY_NIGHT)
        return part_date_head(value, &date) == value.length && value.length > 0;
    if (key == TM_KEY_STEP)
        return part_number(value, &step);
    return value.length > 0;
}

static bool match_key(struct matching *m, size_t pattern_at, size_t part_at, size_t keys)
{
    const struct tm_path_part rest = { m->pattern.text + pattern_at, m->pattern.length - pattern_at };
    uint64_t *const failed = &m->failed[keys][part_at / 64];
    struct tm_path_part name;

    if (!name_of_key(rest, &name) || *failed >> part_at % 64 & 1)
        return false;
    const enum tm_key_kind key = find_key(name);

    for (size_t length = 1; part_at + length <= m->part.length; length++) {
        const struct tm_path_part value = { m->part.text + part_at, length };

        if (fits(key, value) && match_from(m, pattern_at + name.length + 2, part_at + length, keys + 1)) {
            if (key == TM_KEY_JOB && m->match->is_there[key]) /* several in one part: from the first to the last */
                m->match->value[key].length += (size_t)(m->match->value[key].text - value.text);
            else
                m->match->value[key].length = length;
            m->match->value[key].text = value.text;
            m->match->is_there[key] = true;
            return true;
        }
    }
    *failed |= UINT64_C(1) << part_at % 64;
    return false;
}

static bool match_from(struct matching *m, size_t pattern_at, size_t part_at, size_t keys)
{
    while (pattern_at < m->pattern.length && m->pattern.text[pattern_at] != '{') {
        if (part_at == m->part.length || m->part.text[part_at] != m->pattern.text[pattern_at])
            return false;
        pattern_at++;
        part_at++;
    }
    if (pattern_at == m->pattern.length)
        return part_at == m->part.length;
    return match_key(m, pattern_at, part_at, keys);
}

static bool key_part_match(struct tm_path_part pattern, struct tm_path_part part, struct tm_key_match *match)
{
    struct matching m = { .pattern = pattern, .part = part, .match = match };

    *match = (struct tm_key_match){ .is_there = { false } };
    return part.length <= TM_KEY_PART_BYTES && match_from(&m, 0, 0, 0);
}

enum { PARTS_MOST = 4096, TEXT_BYTES = TM_FOUND_NAME_BYTES };

/* Parts that were put together, with slashes between them; any bytes. */
struct joined {
    char text[TEXT_BYTES];
    size_t length;
};

struct reading {
    struct tm_run_keys *keys;
    struct joined job, path; /* path: all parts so far */
    struct tm_part_date date;
    bool has_date, has_job; /* the template provided the job: the other parts do not belong to it */
    int64_t time_ns;        /* since 1970, of the last part with a date and a time; -1 = none */
};

static void join(struct joined *to, struct tm_path_part part)
{
    const size_t slash = to->length > 0 && part.length > 0;

    if (to->length + slash + part.length >= sizeof(to->text))
        return; /* longer than any path that can be opened */
    if (slash)
        to->text[to->length] = '/';
    memcpy(to->text + to->length + slash, part.text, part.length);
    to->length += slash + part.length;
}

/* A string of any bytes as a key.  One that is too long, or is not shown as it is, stays distinct by a hash of all
 * of it. */
static void set_key(char key[TM_KEY_BYTES], const char *text, size_t length)
{
    enum { HASH_BYTES = 17 };
    char clean[TEXT_BYTES];

    tm_clean_text(clean, sizeof(clean), text, length);
    if (strlen(clean) == length && length < TM_KEY_BYTES && memcmp(clean, text, length) == 0) {
        memcpy(key, clean, length + 1);
        return;
    }
    tm_clean_text(key, TM_KEY_BYTES - HASH_BYTES, text, length); /* may end with "..." */
    (void)snprintf(key + strlen(key), TM_KEY_BYTES - strlen(key), "-%016" PRIx64, (uint64_t)XXH3_64bits(text, length));
}

static void set_part(char key[TM_KEY_BYTES], struct tm_path_part part)
{
    set_key(key, part.text, part.length);
}

/* --- dates --- */

static void take_date(struct reading *r, const struct tm_part_date *date)
{
    if (!r->has_date)
        r->date = *date;
    r->has_date = true;
    if (date->time_ns >= 0 && date->time_ns <= INT64_MAX - date->midnight_ns)
        r->time_ns = date->midnight_ns + date->time_ns;
}

static bool read_night(struct tm_path_part text, struct tm_part_date *date)
{
    return text.length > 0 && part_date_head(text, date) == text.length;
}

bool tm_is_night(const char *text)
{
    const struct tm_path_part part = { text, strlen(text) };
    struct tm_part_date date;

    return read_night(part, &date) && strcmp(date.night, text) == 0;
}

bool tm_is_run_id(const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    const size_t length = strspn(text, plain);

    return length > 0 && length < TM_RUN_ID_BYTES && text[0] != '.' && text[length] == '\0';
}

static void set_day_of(char night[11], int64_t ns)
{
    const time_t seconds = (time_t)(ns >= 0 ? ns / 1000000000 : 0);
    struct tm t;

    if (!gmtime_r(&seconds, &t) || strftime(night, 11, "%Y-%m-%d", &t) != 10)
        memcpy(night, "1970-01-01", 11);
}

/* The night and the time of a run.  A night in the path takes precedence, and a time in it, too; else the time from
 * discovery, unless that is of another day: copied files have the time of the copy. */
static void set_times(struct reading *r, int64_t when_ns)
{
    struct tm_run_keys *keys = r->keys;

    keys->when_ns = r->time_ns >= 0 ? r->time_ns : when_ns;
    if (!r->has_date) {
        set_day_of(keys->night, keys->when_ns);
        return;
    }
    memcpy(keys->night, r->date.night, sizeof(keys->night));
    if (keys->when_ns < r->date.midnight_ns || keys->when_ns - r->date.midnight_ns >= 2 * DAY_NS)
        keys->when_ns = r->date.midnight_ns;
}

/* --- by the look --- */

static void take_step(struct reading *r, int64_t step, struct tm_path_part rest)
{
    join(&r->path, rest);
    r->keys->step = step;
    set_key(r->keys->training, r->path.text, r->path.length);
}

static void take_rest(struct reading *r, struct tm_path_part part)
{
    if (!r->has_job)
        join(&r->job, part);
}

/* out: as of read_by_look */
static size_t take_days(struct reading *r, const struct tm_path_part *parts, size_t count,
                        const struct tm_part_date *date)
{
    for (size_t i = 0; i < count; i++)
        join(&r->path, parts[i]);
    take_date(r, date);
    take_rest(r, date->rest);
    return count;
}

/* out: how many parts were read: 1, of a date that has a part for year, month and day 3 */
static size_t read_by_look(struct reading *r, const struct tm_path_part *parts, size_t count)
{
    struct tm_part_date date;
    struct tm_path_part digits, rest;
    int64_t step;

    if (count >= 2 && part_is(parts[0], "plugins") && part_is(parts[1], "profile"))
        return 2;
    if (count >= 3 && part_date_of_three(parts, &date))
        return take_days(r, parts, 3, &date);
    if (part_date(parts[0], &date))
        return take_days(r, parts, 1, &date);
    if (r->keys->step < 0 && part_step(parts[0], &step, &rest)) {
        take_rest(r, rest);
        take_step(r, step, rest);
        return 1;
    }
    join(&r->path, parts[0]);
    if (!r->keys->revision[0] && part_revision(parts[0], &digits))
        set_part(r->keys->revision, digits);
    else
        take_rest(r, parts[0]);
    return 1;
}

/* --- by the template --- */

static void take_match(struct reading *r, const struct tm_key_match *match)
{
    struct tm_part_date date;
    int64_t step;

    if (match->is_there[TM_KEY_JOB])
        join(&r->job, match->value[TM_KEY_JOB]);
    r->has_job |= match->is_there[TM_KEY_JOB];
    if (match->is_there[TM_KEY_NIGHT] && read_night(match->value[TM_KEY_NIGHT], &date))
        take_date(r, &date);
    if (match->is_there[TM_KEY_REVISION])
        set_part(r->keys->revision, match->value[TM_KEY_REVISION]);
    if (match->is_there[TM_KEY_LABEL])
        set_part(r->keys->label, match->value[TM_KEY_LABEL]);
    if (match->is_there[TM_KEY_STEP] && part_number(match->value[TM_KEY_STEP], &step))
        take_step(r, step, (struct tm_path_part){ "", 0 });
}

/* out: how many of the parts were read, 0 = the path does not fit; then nothing is changed */
static size_t read_by_template(struct reading *r, const char *text, const struct tm_path_part *parts, size_t count)
{
    struct tm_path_part pattern[TM_KEY_PARTS_MOST];
    const size_t length = split_parts(text, pattern, TM_KEY_PARTS_MOST);
    struct tm_key_match match;

    if (length > count)
        return 0;
    for (size_t i = 0; i < length; i++) {
        if (!key_part_match(pattern[i], parts[i], &match))
            return 0;
    }
    for (size_t i = 0; i < length; i++) {
        (void)key_part_match(pattern[i], parts[i], &match);
        take_match(r, &match);
        if (!match.is_there[TM_KEY_STEP])
            join(&r->path, parts[i]);
    }
    return length;
}

/* --- labels --- */

/* The key and the value that a label sets. out: TM_KEY_KINDS = there is no such key */
static enum tm_key_kind split_label(const char *text, struct tm_path_part *key, struct tm_path_part *value)
{
    const char *equals = strchr(text, '=');

    *key = (struct tm_path_part){ text, equals ? (size_t)(equals - text) : 0 };
    *value = (struct tm_path_part){ equals ? equals + 1 : text, strlen(equals ? equals + 1 : text) };
    if (!equals)
        return TM_KEY_LABEL;
    for (size_t i = TM_KEY_JOB; i < TM_KEY_STEP; i++) {
        if (part_is(*key, key_words[i]))
            return (enum tm_key_kind)i;
    }
    return TM_KEY_KINDS;
}

static void take_label(struct reading *r, const char *text)
{
    struct tm_path_part key, value;
    struct tm_part_date date;

    switch (split_label(text, &key, &value)) {
    case TM_KEY_JOB:
        set_part(r->keys->job, value);
        break;
    case TM_KEY_REVISION:
        set_part(r->keys->revision, value);
        break;
    case TM_KEY_LABEL:
        set_part(r->keys->label, value);
        break;
    case TM_KEY_NIGHT:
        if (read_night(value, &date)) {
            r->has_date = false;
            take_date(r, &date);
        }
        break;
    default:
        break; /* of all others: set_labels */
    }
}

/* Other keys: a JSON object, in the order of the keys, so that the same labels are the same text. */
static bool is_label_key(struct tm_path_part key)
{
    for (size_t i = 0; i < key.length; i++)
        if (!is_letter(key.text[i]) && !is_digit(key.text[i]) && !strchr("_.-", key.text[i]))
            return false;
    return key.length > 0 && key.length < LABEL_KEY_BYTES;
}

struct label {
    struct tm_path_part key, value;
};

static int by_key(const void *a, const void *b)
{
    const struct label *const x = a, *const y = b;
    const size_t length = x->key.length < y->key.length ? x->key.length : y->key.length;
    const int order = memcmp(x->key.text, y->key.text, length);

    return order                            ? order
           : x->key.length != y->key.length ? (x->key.length < y->key.length ? -1 : 1)
                                            : (x->value.text > y->value.text) - (x->value.text < y->value.text);
}

/* out: false: there are too many, or they are too long */
static bool set_labels(char labels[TM_KEY_BYTES], const struct tm_texts *texts)
{
    struct label label[LABELS_MOST];
    size_t count = 0, used = 0;

    labels[0] = '\0';
    for (size_t i = 0; i < texts->count; i++) {
        struct label of;

        if (split_label(texts->text[i], &of.key, &of.value) != TM_KEY_KINDS)
            continue;
        if (count == LABELS_MOST)
            return false;
        label[count++] = of;
    }
    qsort(label, count, sizeof(label[0]), by_key);
    for (size_t i = 0; i < count && used < TM_KEY_BYTES; i++) {
        char value[TM_KEY_BYTES];

        tm_clean_text(value, sizeof(value), label[i].value.text, label[i].value.length);
        used += (size_t)snprintf(labels + used, TM_KEY_BYTES - used, "%s\"%.*s\":\"", i ? "," : "{",
                                 (int)label[i].key.length, label[i].key.text);
        for (const char *at = value; *at && used + 3 < TM_KEY_BYTES; at++) {
            if (*at == '"' || *at == '\\')
                labels[used++] = '\\';
            labels[used++] = *at;
        }
        used += used < TM_KEY_BYTES
                    ? (size_t)snprintf(labels + used, TM_KEY_BYTES - used, "\"%s", i + 1 < count ? "" : "}")
                    : 0;
    }
    if (used < TM_KEY_BYTES)
        return true;
    labels[0] = '\0';
    return false;
}

static tm_status check_label(struct tm_error *error, const char *text)
{
    struct tm_nearest nearest = { .word = NULL };
    struct tm_path_part key, value;
    struct tm_part_date date;
    const enum tm_key_kind which = split_label(text, &key, &value);

    if (which == TM_KEY_KINDS) {
        char typed[64];

        tm_clean_text(typed, sizeof(typed), key.text, key.length);
        for (size_t i = TM_KEY_JOB; i < TM_KEY_STEP; i++)
            tm_nearest_offer(&nearest, typed, key_words[i]);
        if (!nearest.word && is_label_key(key) && value.length)
            return TM_OK;
        (void)tm_fail(error, TM_ERR_USAGE, -1, "cannot use '%s' for --label: there is no key '%s'", text, typed);
        if (nearest.word)
            tm_hint(error, "did you mean '%s=%.*s'?", nearest.word, (int)value.length, value.text);
        else
            tm_hint(error, "a key has letters, digits, '_', '.' and '-'; a text with '=' in it is 'label=%.400s'",
                    text);
        return TM_ERR_USAGE;
    }
    if (value.length == 0)
        return tm_fail(error, TM_ERR_USAGE, -1, "cannot use '%s' for --label: it is empty", text);
    if (which == TM_KEY_NIGHT && !read_night(value, &date)) {
        (void)tm_fail(error, TM_ERR_USAGE, -1, "cannot use '%s' for --label: it is not a date", text);
        tm_hint(error, "a night is a date, as in 'night=2026-11-21'");
        return TM_ERR_USAGE;
    }
    return TM_OK;
}

/* --- nights that do not start at midnight --- */

/* "Europe/Berlin, 18:00", "18:00", "Asia/Tokyo".
 * out: zone  "" = UTC;  start_s  of the night, after midnight */
static bool read_night_of(const char *text, char zone[ZONE_BYTES], int64_t *start_s)
{
    const char *const comma = strchr(text, ','), *at = comma ? comma + 1 : text;
    size_t length = comma ? (size_t)(comma - text) : 0;
    int hour = 0, minute = 0;
    struct tm_path_part time;

    while (*at == ' ')
        at++;
    if (!*text)
        return false;
    if (!comma && !is_digit(*at)) {
        length = strlen(text);
        at = "00:00";
    }
    time = (struct tm_path_part){ at, strlen(at) };
    if (length >= ZONE_BYTES || time.length != 5 || at[2] != ':' || !read_number(time, 0, 2, &hour) ||
        !read_number(time, 3, 2, &minute) || hour > 23 || minute > 59)
        return false;
    memcpy(zone, text, length);
    zone[length] = '\0';
    *start_s = (int64_t)hour * 3600 + (int64_t)minute * 60;
    return true;
}

static bool is_zone(const char *zone)
{
    const char *const folder = getenv("TZDIR");
    char path[ZONE_BYTES + 256];

    if (!*zone || strcmp(zone, "UTC") == 0)
        return true;
    (void)snprintf(path, sizeof(path), "%.200s/%s", folder && *folder ? folder : "/usr/share/zoneinfo", zone);
    return zone[0] != '/' && !strstr(zone, "..") && access(path, R_OK) == 0;
}

static tm_status check_night_of(struct tm_error *error, const char *text)
{
    char zone[ZONE_BYTES];
    int64_t start_s;

    if (!read_night_of(text, zone, &start_s)) {
        (void)tm_fail(error, TM_ERR_USAGE, -1, "cannot use '%s' for --night-of: it is not a time zone and a time",
                      text);
        tm_hint(error, "as in 'Europe/Berlin, 18:00' or '06:00' (UTC)");
    } else if (!is_zone(zone)) {
        (void)tm_fail(error, TM_ERR_USAGE, -1, "cannot use '%s' for --night-of: there is no time zone '%s'", text,
                      zone);
        tm_hint(error, "zones are the files in /usr/share/zoneinfo, as in 'America/New_York'");
    } else {
        (void)setenv("TZ", *zone ? zone : "UTC", 1);
        tzset();
    }
    return error->status;
}

/* The day on which the night of a time starts. */
static void set_night_of(char night[11], int64_t ns, const char *text)
{
    char zone[ZONE_BYTES];
    int64_t start_s = 0;
    struct tm t;
    time_t seconds = (time_t)(ns >= 0 ? ns / 1000000000 : 0);

    (void)read_night_of(text, zone, &start_s);
    if (localtime_r(&seconds, &t) && (int64_t)t.tm_hour * 3600 + t.tm_min * 60 + t.tm_sec < start_s)
        t.tm_mday--; /* mktime would need the offset of that day: only the date counts */
    t.tm_hour = 12;
    t.tm_min = t.tm_sec = t.tm_isdst = 0;
    seconds = timegm(&t);
    if (!gmtime_r(&seconds, &t) || strftime(night, 11, "%Y-%m-%d", &t) != 10)
        memcpy(night, "1970-01-01", 11);
}

/* --- all of it --- */

tm_status tm_run_keys_check(struct tm_run *run, const struct tm_options *options)
{
    char labels[TM_KEY_BYTES];

    if (options->keys)
        key_template_check(options->keys, &run->error);
    for (size_t i = 0; i < options->labels.count; i++)
        (void)check_label(&run->error, options->labels.text[i]);
    if (!tm_failed(run) && !set_labels(labels, &options->labels))
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "the keys and values of --label are longer than %d bytes",
                      TM_KEY_BYTES - 1);
    if (options->night_of && !tm_failed(run))
        (void)check_night_of(&run->error, options->night_of);
    return run->error.status;
}

/* The job of a run whose path does not name one. */
static struct tm_path_part last_of_root(const char *root)
{
    struct tm_path_part last;

    last.text = tm_last_part(root, &last.length);
    return last.length > 0 ? last : (struct tm_path_part){ "profiles", sizeof("profiles") - 1 };
}

bool tm_run_keys_read(struct tm_run_keys *keys, const char *root, const char *path, int64_t when_ns,
                      const struct tm_options *options)
{
    static struct tm_path_part parts[PARTS_MOST]; /* too much for a small stack */
    const size_t count = split_parts(path, parts, PARTS_MOST);
    struct reading r = { .keys = keys, .time_ns = -1 };
    size_t at = 0;

    *keys = (struct tm_run_keys){ .step = -1 };
    if (options->keys)
        at = read_by_template(&r, options->keys, parts, count);
    const bool fits = at > 0 || !options->keys;

    while (at < count)
        at += read_by_look(&r, parts + at, count - at);
    if (r.job.length == 0)
        join(&r.job, last_of_root(root));
    set_key(keys->job, r.job.text, r.job.length);
    if (keys->step >= 0 && !keys->training[0])
        memcpy(keys->training, keys->job, sizeof(keys->training));
    for (size_t i = 0; i < options->labels.count; i++)
        take_label(&r, options->labels.text[i]);
    (void)set_labels(keys->labels, &options->labels);
    set_times(&r, when_ns);
    if (options->night_of && (!r.has_date || r.date.time_ns >= 0))
        set_night_of(keys->night, keys->when_ns, options->night_of);
    return fits;
}
