/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of a partial that belong to no stage. */
#include "pipeline/engine/partial_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/version.h"

/* --- settings --- */

/* What was chosen, as numbers; a choice that says nothing of an end or a count leaves 0 there. */
struct choices {
    uint64_t steps, begin, end, has_skip, skip, window;
    int64_t gap_min_ps;
};

static struct choices choices_of(const struct tm_options *o)
{
    struct choices c = {
        .steps = o->steps, .has_skip = o->skip_steps >= 0, .window = o->window, .gap_min_ps = o->gap_min_ps
    };

    if (o->steps == TM_CHOOSE_RANGE) {
        c.begin = o->steps_begin;
        c.end = o->steps_end;
    }
    if (c.has_skip)
        c.skip = (uint64_t)o->skip_steps;
    return c;
}

tm_status tm_partial_save_settings(struct tm_partial_writer *w, const struct tm_options *options, const char *run_name)
{
    const struct choices c = choices_of(options);

    tm_partial_begin(w, "settings");
    tm_partial_put_text(w, TM_VERSION);
    tm_partial_put_u64(w, c.steps);
    tm_partial_put_u64(w, c.begin);
    tm_partial_put_u64(w, c.end);
    tm_partial_put_u64(w, c.has_skip);
    tm_partial_put_u64(w, c.skip);
    tm_partial_put_u64(w, c.window);
    tm_partial_put_i64(w, c.gap_min_ps);
    tm_partial_put_text(w, run_name);
    return tm_partial_end(w);
}

enum { CHOICE_BYTES = 64 };

static void tell_steps(const struct choices *c, char text[CHOICE_BYTES])
{
    if (c->steps != TM_CHOOSE_RANGE)
        (void)snprintf(text, CHOICE_BYTES, "--steps %s", c->steps == TM_CHOOSE_ALL ? "all" : "auto");
    else if (c->end == UINT64_MAX)
        (void)snprintf(text, CHOICE_BYTES, "--steps %" PRIu64 ":", c->begin);
    else
        (void)snprintf(text, CHOICE_BYTES, "--steps %" PRIu64 ":%" PRIu64, c->begin, c->end);
}

static void tell_skip(const struct choices *c, char text[CHOICE_BYTES])
{
    if (c->has_skip)
        (void)snprintf(text, CHOICE_BYTES, "--skip-steps %" PRIu64, c->skip);
    else
        (void)snprintf(text, CHOICE_BYTES, "--skip-steps auto");
}

static void tell_window(const struct choices *c, char text[CHOICE_BYTES])
{
    (void)snprintf(text, CHOICE_BYTES, "--window %s", c->window == TM_WINDOW_SESSION ? "session" : "steps");
}

static void tell_gap_min(const struct choices *c, char text[CHOICE_BYTES])
{
    (void)snprintf(text, CHOICE_BYTES, "--gap-min %" PRId64 "ps", c->gap_min_ps);
}

/* The first choice that differs, in the words of the command line. */
static tm_status compare_choices(struct tm_run *run, const char *path, const struct choices *made,
                                 const struct choices *asked)
{
    void (*tell)(const struct choices *, char[CHOICE_BYTES]) = NULL;
    char made_with[CHOICE_BYTES], asked_for[CHOICE_BYTES], clean[256];

    if (made->steps != asked->steps || made->begin != asked->begin || made->end != asked->end)
        tell = tell_steps;
    else if (made->has_skip != asked->has_skip || made->skip != asked->skip)
        tell = tell_skip;
    else if (made->window != asked->window)
        tell = tell_window;
    else if (made->gap_min_ps != asked->gap_min_ps)
        tell = tell_gap_min;
    if (!tell)
        return TM_OK;
    tell(made, made_with);
    tell(asked, asked_for);
    tm_clean_text(clean, sizeof(clean), path, strlen(path));
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot use the partial '%s': it was made with %s, not with %s", clean,
                  made_with, asked_for);
    tm_hint(&run->error, "give %s here, or make the partial again", made_with);
    return TM_ERR_USAGE;
}

tm_status tm_partial_load_settings(struct tm_partial_reader *r, struct tm_run *run, const char *path,
                                   const struct tm_options *options, char *run_name, size_t run_name_bytes)
{
    const struct choices asked = choices_of(options);
    struct choices made;
    char version[32], clean[256];
    tm_status st = tm_partial_enter(r, "settings");

    tm_partial_text(r, version, sizeof(version));
    if (tm_partial_is_ok(r) && strcmp(version, TM_VERSION) != 0) {
        tm_clean_text(clean, sizeof(clean), path, strlen(path));
        (void)tm_fail(&run->error, TM_ERR_INPUT, -1, "the partial '%s' was made by another version than " TM_VERSION,
                      clean);
        tm_hint(&run->error, "make it again from the profile, with this version");
        return TM_ERR_INPUT;
    }
    made.steps = tm_partial_below_u64(r, TM_CHOOSE_RANGE + 1);
    made.begin = tm_partial_u64(r);
    made.end = tm_partial_u64(r);
    made.has_skip = tm_partial_below_u64(r, 2);
    made.skip = tm_partial_u64(r);
    made.window = tm_partial_below_u64(r, TM_WINDOW_SESSION + 1);
    made.gap_min_ps = tm_partial_time(r);
    tm_partial_text(r, run_name, run_name_bytes);
    if (st == TM_OK)
        st = tm_partial_leave(r);
    return st == TM_OK ? compare_choices(run, path, &made, &asked) : st;
}

/* --- files --- */

tm_status tm_partial_save_files(struct tm_partial_writer *w, const struct tm_value *files, char *const *hosts)
{
    tm_partial_begin(w, "files");
    tm_partial_put_u32(w, (uint32_t)tm_length(files));
    for (size_t i = 0; i < tm_length(files); i++) {
        const struct tm_value *file = tm_at(files, i);

        tm_file_facts_save(w, file, tm_has(tm_get(file, "host")) ? *hosts++ : NULL);
    }
    return tm_partial_end(w);
}

tm_status tm_partial_load_file_count(struct tm_partial_reader *r, uint32_t *count)
{
    const tm_status st = tm_partial_enter(r, "files");

    *count = tm_partial_u32(r);
    if (st == TM_OK && tm_partial_is_ok(r) && *count == 0)
        return tm_partial_damaged(r, "it is of no file");
    return tm_partial_status(r);
}

tm_status tm_partial_load_file(struct tm_partial_reader *r, struct tm_file_facts *file)
{
    const tm_status st = tm_file_facts_load(r, file);

    if (st == TM_OK && !file->host[0] && strcmp(file->format, "pprof") != 0)
        return tm_partial_damaged(r, "a host without a name");
    return st;
}

/* --- coverage --- */

tm_status tm_partial_save_coverage(struct tm_partial_writer *w, const struct tm_run *run,
                                   const struct tm_warnings *warnings)
{
    tm_partial_begin(w, "coverage");
    tm_partial_put_u64(w, run->events_read);
    tm_partial_put_u32(w, TM_TALLY_COUNT);
    tm_partial_put_words(w, run->tallies.count, TM_TALLY_COUNT);
    tm_partial_put_u32(w, warnings->count);
    for (uint32_t i = 0; i < warnings->count; i++)
        tm_partial_put_text(w, warnings->text[i]);
    return tm_partial_end(w);
}

tm_status tm_partial_load_coverage(struct tm_partial_reader *r, struct tm_run *run, struct tm_warnings *warnings)
{
    tm_status st = tm_partial_enter(r, "coverage");
    const uint64_t events = tm_partial_u64(r);
    uint32_t count;

    run->events_read += events;
    if (tm_partial_u32(r) != TM_TALLY_COUNT && tm_partial_is_ok(r))
        return tm_partial_damaged(r, "it has other tallies than this version");
    for (int i = 0; i < TM_TALLY_COUNT; i++)
        tm_tally_add(&run->tallies, (enum tm_tally)i, tm_partial_u64(r));
    count = tm_partial_below_u32(r, TM_WARNINGS_MOST + 1);
    for (uint32_t i = 0; i < count && tm_partial_is_ok(r); i++) {
        char text[TM_WARNING_BYTES];

        tm_partial_text(r, text, sizeof(text));
        if (tm_partial_is_ok(r) && warnings->count < TM_WARNINGS_MOST)
            memcpy(warnings->text[warnings->count++], text, sizeof(text));
    }
    if (st == TM_OK)
        st = tm_partial_leave(r);
    return st;
}
