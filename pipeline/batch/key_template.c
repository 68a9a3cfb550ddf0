/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a path by a part of a template.  A key takes as few bytes as it can, and more where the rest would not fit
 * then; where the rest did not fit once is remembered, so that no part costs more than its length times its keys. */
#include "pipeline/batch/key_template.h"

#include <string.h>

#include "pipeline/nearest.h"

const char *const tm_key_words[TM_KEY_KINDS] = {
    [TM_KEY_NOTHING] = "",          [TM_KEY_JOB] = "job",     [TM_KEY_NIGHT] = "night",
    [TM_KEY_REVISION] = "revision", [TM_KEY_LABEL] = "label", [TM_KEY_STEP] = "step",
};

size_t tm_split_parts(const char *text, struct tm_path_part *parts, size_t most)
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
    tm_hint(error, "say what each folder below ROOT is, as in '{job}/{night}/{revision}' or '{job}/run-{step}/{}'");
    return TM_ERR_USAGE;
}

static tm_status refuse_key(struct tm_error *error, const char *text, struct tm_path_part key)
{
    struct tm_nearest nearest = { .word = NULL };
    char typed[64];

    tm_clean_text(typed, sizeof(typed), key.text, key.length);
    for (size_t i = TM_KEY_JOB; i < TM_KEY_KINDS; i++)
        tm_nearest_offer(&nearest, typed, tm_key_words[i]);
    (void)tm_fail(error, TM_ERR_USAGE, -1, "cannot use '%s' for --keys: there is no key '%s'", text, typed);
    if (nearest.word)
        tm_hint(error, "did you mean '{%s}'?", nearest.word);
    else
        tm_hint(error, "keys are {job}, {night}, {revision}, {label}, {step}, and {} for what means nothing");
    return TM_ERR_USAGE;
}

static enum tm_key_kind find_key(struct tm_path_part key)
{
    size_t i = 0;

    while (i < TM_KEY_KINDS && !tm_part_is(key, tm_key_words[i]))
        i++;
    return (enum tm_key_kind)i;
}

/* The key that begins at text[0] == '{'.  out: its name, between the braces; false: it has no end */
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
        /* A job may be made of several parts, the others are one thing. */
        if (key != TM_KEY_NOTHING && key != TM_KEY_JOB && (*met & 1u << key))
            return refuse(error, text, "a key is there twice");
        if (++keys > TM_KEY_PART_KEYS_MOST)
            return refuse(error, text, "a part of it has too many keys");
        *met |= 1u << key;
        i += name.length + 2;
        if (i < part.length && part.text[i] == '{')
            return refuse(error, text, "there is nothing between two keys");
    }
    return TM_OK;
}

tm_status tm_key_template_check(const char *text, struct tm_error *error)
{
    struct tm_path_part parts[TM_KEY_PARTS_MOST + 1];
    const size_t count = tm_split_parts(text, parts, TM_KEY_PARTS_MOST + 1);
    uint32_t met = 0;
    tm_status st = TM_OK;

    if (count > TM_KEY_PARTS_MOST)
        return refuse(error, text, "it has too many parts");
    for (size_t i = 0; i < count && st == TM_OK; i++)
        st = check_part(text, parts[i], &met, error);
    if (st == TM_OK && !(met & ~(1u << TM_KEY_NOTHING)))
        return refuse(error, text, "it has no key");
    return st;
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
        return tm_part_date_head(value, &date) == value.length && value.length > 0;
    if (key == TM_KEY_STEP)
        return tm_part_number(value, &step);
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

bool tm_key_part_match(struct tm_path_part pattern, struct tm_path_part part, struct tm_key_match *match)
{
    struct matching m = { .pattern = pattern, .part = part, .match = match };

    *match = (struct tm_key_match){ .is_there = { false } };
    return part.length <= TM_KEY_PART_BYTES && match_from(&m, 0, 0, 0);
}
