/* SPDX-License-Identifier: Apache-2.0 */
/* What a run belongs to, from its path: part by part, by the template as far as that goes, then by the look of the part
 * (path_parts.h).  The first part of a kind counts; those that are of none make up the job. */
#include "pipeline/batch/run_keys.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

#include "pipeline/batch/key_template.h"
#include "pipeline/discover.h"
#include "pipeline/nearest.h"

enum { PARTS_MOST = 4096, TEXT_BYTES = TM_FOUND_NAME_BYTES };

#define DAY_NS INT64_C(86400000000000)

/* Parts that were put together, with slashes between them; any bytes. */
struct joined {
    char text[TEXT_BYTES];
    size_t length;
};

struct reading {
    struct tm_run_keys *keys;
    struct joined job, path; /* path: all parts so far */
    struct tm_part_date date;
    bool has_date, has_job; /* the template told the job: the other parts are none of it */
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

/* A text of any bytes as a key.  One that is too long, or is not shown as it is, stays distinct by a hash of all of it. */
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
    (void)snprintf(key + strlen(key), TM_KEY_BYTES - strlen(key), "-%016" PRIx64,
                   (uint64_t)XXH3_64bits(text, length));
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
    return text.length > 0 && tm_part_date_head(text, date) == text.length;
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

/* The night and the time of a run.  A night that the path tells counts, and a time in it, too; else the time that
 * discovery tells, unless that is of another day: files that were copied have the time of the copy. */
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
static size_t take_days(struct reading *r, const struct tm_path_part *parts, size_t count, const struct tm_part_date *date)
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

    if (count >= 2 && tm_part_is(parts[0], "plugins") && tm_part_is(parts[1], "profile"))
        return 2;
    if (count >= 3 && tm_part_date_of_three(parts, &date))
        return take_days(r, parts, 3, &date);
    if (tm_part_date(parts[0], &date))
        return take_days(r, parts, 1, &date);
    if (r->keys->step < 0 && tm_part_step(parts[0], &step, &rest)) {
        take_rest(r, rest);
        take_step(r, step, rest);
        return 1;
    }
    join(&r->path, parts[0]);
    if (!r->keys->revision[0] && tm_part_revision(parts[0], &digits))
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
    if (match->is_there[TM_KEY_STEP] && tm_part_number(match->value[TM_KEY_STEP], &step))
        take_step(r, step, (struct tm_path_part){ "", 0 });
}

/* out: how many of the parts were read, 0 = the path does not fit; then nothing is changed */
static size_t read_by_template(struct reading *r, const char *text, const struct tm_path_part *parts, size_t count)
{
    struct tm_path_part pattern[TM_KEY_PARTS_MOST];
    const size_t length = tm_split_parts(text, pattern, TM_KEY_PARTS_MOST);
    struct tm_key_match match;

    if (length > count)
        return 0;
    for (size_t i = 0; i < length; i++) {
        if (!tm_key_part_match(pattern[i], parts[i], &match))
            return 0;
    }
    for (size_t i = 0; i < length; i++) {
        (void)tm_key_part_match(pattern[i], parts[i], &match);
        take_match(r, &match);
        if (!match.is_there[TM_KEY_STEP])
            join(&r->path, parts[i]);
    }
    return length;
}

/* --- labels --- */

/* Which key a label sets, and to what.  out: TM_KEY_KINDS = there is no such key */
static enum tm_key_kind split_label(const char *text, struct tm_path_part *key, struct tm_path_part *value)
{
    const char *equals = strchr(text, '=');

    *key = (struct tm_path_part){ text, equals ? (size_t)(equals - text) : 0 };
    *value = (struct tm_path_part){ equals ? equals + 1 : text, strlen(equals ? equals + 1 : text) };
    if (!equals)
        return TM_KEY_LABEL;
    for (size_t i = TM_KEY_JOB; i < TM_KEY_STEP; i++) {
        if (tm_part_is(*key, tm_key_words[i]))
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
        break; /* refused by tm_run_keys_check */
    }
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
            tm_nearest_offer(&nearest, typed, tm_key_words[i]);
        (void)tm_fail(error, TM_ERR_USAGE, -1, "cannot use '%s' for --label: there is no key '%s'", text, typed);
        if (nearest.word)
            tm_hint(error, "did you mean '%s=%.*s'?", nearest.word, (int)value.length, value.text);
        else
            tm_hint(error, "keys are job, night, revision and label; a text with '=' in it is 'label=%.400s'", text);
        return TM_ERR_USAGE;
    }
    if (value.length == 0)
        return tm_fail(error, TM_ERR_USAGE, -1, "cannot use '%s' for --label: it is empty", text);
    if (which == TM_KEY_NIGHT && !read_night(value, &date)) {
        (void)tm_fail(error, TM_ERR_USAGE, -1, "cannot use '%s' for --label: it is no date", text);
        tm_hint(error, "a night is a date, as in 'night=2026-11-21'");
        return TM_ERR_USAGE;
    }
    return TM_OK;
}

/* --- all of it --- */

tm_status tm_run_keys_check(struct tm_run *run, const struct tm_options *options)
{
    tm_status st = options->keys ? tm_key_template_check(options->keys, &run->error) : TM_OK;

    for (size_t i = 0; i < options->labels.count && st == TM_OK; i++)
        st = check_label(&run->error, options->labels.text[i]);
    return st;
}

/* The job of a run whose path says nothing. */
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
    const size_t count = tm_split_parts(path, parts, PARTS_MOST);
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
    set_times(&r, when_ns);
    return fits;
}
