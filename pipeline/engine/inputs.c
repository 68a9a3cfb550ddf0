/* SPDX-License-Identifier: Apache-2.0 */
/* From operands to the files of one run, and from files to its hosts. */
#include "pipeline/engine/analysis.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/discover.h"
#include "pipeline/doc/doc.h"
#include "pipeline/options.h"
#include "pipeline/partial.h"
#include "pipeline/remote.h"
#include "pipeline/run.h"
#include "stages/input/bytes/archive.h"
#include "stages/input/bytes/input_file.h"

enum { TM_INPUT_FILES_MOST = 100000 };

/* The sections of a partial that belong to no stage. */

/* --- settings --- */

/* What was chosen, as numbers; a choice that says nothing about an end or a count leaves 0 there. */
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

void tm_partial_save_settings(struct tm_partial_writer *w, const struct tm_options *options, const char *run_name)
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
    tm_partial_end(w);
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
static void compare_choices(struct tm_run *run, const char *path, const struct choices *made,
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
        return;
    tell(made, made_with);
    tell(asked, asked_for);
    tm_clean_text(clean, sizeof(clean), path, strlen(path));
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot use the partial '%s': it was created with %s, not with %s",
                  clean, made_with, asked_for);
    tm_hint(&run->error, "use %s here, or create the partial again", made_with);
}

void tm_partial_load_settings(struct tm_partial_reader *r, struct tm_run *run, const char *path,
                              const struct tm_options *options, char *run_name, size_t run_name_bytes)
{
    const struct choices asked = choices_of(options);
    struct choices made;
    char version[32], clean[256];

    tm_partial_enter(r, "settings");
    tm_partial_text(r, version, sizeof(version));
    if (tm_partial_is_ok(r) && strcmp(version, TM_VERSION) != 0) {
        tm_clean_text(clean, sizeof(clean), path, strlen(path));
        (void)tm_fail(&run->error, TM_ERR_INPUT, -1,
                      "the partial '%s' was created by a different version than " TM_VERSION, clean);
        tm_hint(&run->error, "create it again from the profile, with this version");
    }
    made.steps = tm_partial_below_u64(r, TM_CHOOSE_RANGE + 1);
    made.begin = tm_partial_u64(r);
    made.end = tm_partial_u64(r);
    made.has_skip = tm_partial_below_u64(r, 2);
    made.skip = tm_partial_u64(r);
    made.window = tm_partial_below_u64(r, TM_WINDOW_SESSION + 1);
    made.gap_min_ps = tm_partial_time(r);
    tm_partial_text(r, run_name, run_name_bytes);
    tm_partial_leave(r);
    if (tm_partial_is_ok(r))
        compare_choices(run, path, &made, &asked);
}

/* --- files --- */

void tm_partial_save_files(struct tm_partial_writer *w, const struct tm_value *files, char *const *hosts)
{
    tm_partial_begin(w, "files");
    tm_partial_put_u32(w, (uint32_t)tm_length(files));
    for (size_t i = 0; i < tm_length(files); i++) {
        const struct tm_value *file = tm_at(files, i);

        tm_file_facts_save(w, file, tm_has(tm_get(file, "host")) ? *hosts++ : NULL);
    }
    tm_partial_end(w);
}

uint32_t tm_partial_load_file_count(struct tm_partial_reader *r)
{
    uint32_t count;

    tm_partial_enter(r, "files");
    count = tm_partial_u32(r);
    if (count == 0)
        (void)tm_partial_damaged(r, "it refers to no file");
    return count;
}

void tm_partial_load_file(struct tm_partial_reader *r, struct tm_file_facts *file)
{
    tm_file_facts_load(r, file);
    if (!file->host[0] && strcmp(file->format, "pprof") != 0)
        (void)tm_partial_damaged(r, "an unnamed host");
}

/* --- coverage --- */

void tm_partial_save_coverage(struct tm_partial_writer *w, const struct tm_run *run, const struct tm_warnings *warnings)
{
    tm_partial_begin(w, "coverage");
    tm_partial_put_u64(w, run->events_read);
    tm_partial_put_u32(w, TM_TALLY_COUNT);
    tm_partial_put_words(w, run->tallies.count, TM_TALLY_COUNT);
    tm_partial_put_u32(w, warnings->count);
    for (uint32_t i = 0; i < warnings->count; i++)
        tm_partial_put_text(w, warnings->text[i]);
    tm_partial_end(w);
}

void tm_partial_load_coverage(struct tm_partial_reader *r, struct tm_run *run, struct tm_warnings *warnings)
{
    uint32_t count;

    tm_partial_enter(r, "coverage");
    run->events_read += tm_partial_u64(r);
    if (tm_partial_u32(r) != TM_TALLY_COUNT)
        (void)tm_partial_damaged(r, "it has other tallies than this version");
    for (int i = 0; i < TM_TALLY_COUNT; i++)
        tm_tally_add(&run->tallies, (enum tm_tally)i, tm_partial_u64(r));
    count = tm_partial_below_u32(r, TM_WARNINGS_MOST + 1);
    for (uint32_t i = 0; i < count && tm_partial_is_ok(r); i++) {
        char text[TM_WARNING_BYTES];

        tm_partial_text(r, text, sizeof(text));
        if (tm_partial_is_ok(r) && warnings->count < TM_WARNINGS_MOST)
            memcpy(warnings->text[warnings->count++], text, sizeof(text));
    }
    tm_partial_leave(r);
}

tm_status tm_find_operand(struct tm_run *run, const char *input, struct tm_found *found)
{
    bool is_archive = false;

    *found = (struct tm_found){ .run = NULL };
    if (tm_remote_is(input))
        return tm_discover_objects(run, input, found);
    if (strcmp(input, "-") != 0 && tm_kind_is_archive(run, input, &is_archive))
        return run->error.status;
    return is_archive ? tm_discover_members(run, input, tm_archive_list, found)
                      : tm_discover(run, input, tm_sniff_file, found);
}

static void warn_of(uint64_t count, const char *one, const char *many)
{
    if (count > 0)
        (void)fprintf(stderr, "tracemill: warning: %" PRIu64 " %s\n", count, count == 1 ? one : many);
}

void tm_warn_skipped(const struct tm_left_out *s)
{
    warn_of(s->lost_links, "link in an archive is skipped: its target is not in the archive",
            "links in archives are skipped: their targets are not in the archive");
    warn_of(s->special, "device, pipe or socket in an archive is skipped",
            "devices, pipes or sockets in archives are skipped");
    warn_of(s->replaced, "file in an archive is skipped: a later one has the same name",
            "files in archives are skipped: later ones have the same names");
    warn_of(s->hidden, "trace in a hidden folder of an archive is skipped",
            "traces in hidden folders of archives are skipped");
    warn_of(s->unseen, ".json or .pb file is not looked into: there are too many of them",
            ".json or .pb files are not looked into: there are too many of them");
}

void tm_warn_damaged(const struct tm_found *found)
{
    warn_of(found->damaged, "archive is damaged: runs and files may be missing",
            "archives are damaged: runs and files may be missing");
}

void tm_note_not_traces(const struct tm_left_out *s)
{
    if (s->not_traces > 0)
        (void)fprintf(stderr, "tracemill: note: %" PRIu64 " other .json or .pb file%s\n", s->not_traces,
                      s->not_traces == 1 ? " is not a trace" : "s are not traces");
}

void tm_add_skipped(struct tm_value *to, const struct tm_left_out *s)
{
    tm_add_uint(to, "links_skipped", s->lost_links);
    tm_add_uint(to, "special_skipped", s->special);
    tm_add_uint(to, "replaced_skipped", s->replaced);
    tm_add_uint(to, "hidden_skipped", s->hidden);
    tm_add_uint(to, "not_traces", s->not_traces);
    tm_add_uint(to, "not_looked_into", s->unseen);
}

void tm_warn_left_out(const struct tm_found *found)
{
    if (found->unreadable > 0)
        (void)fprintf(stderr, "tracemill: warning: %" PRIu64 " %s could not be read\n", found->unreadable,
                      found->unreadable == 1 ? "folder or file" : "folders or files");
    if (found->links > 0)
        (void)fprintf(stderr,
                      "tracemill: warning: %" PRIu64
                      " link%s out of the folder and %s not followed; --follow-links follows %s\n",
                      found->links, found->links == 1 ? " leads" : "s lead", found->links == 1 ? "is" : "are",
                      found->links == 1 ? "it" : "them");
    if (found->too_deep > 0)
        (void)fprintf(stderr, "tracemill: warning: %" PRIu64 " folder%s deeper than %d levels not searched\n",
                      found->too_deep, found->too_deep == 1 ? " is" : "s are", (int)TM_DISCOVER_DEPTH_MOST);
    if (found->unnamed > 0)
        (void)fprintf(stderr, "tracemill: warning: %" PRIu64 " member%s skipped because of unusable names\n",
                      found->unnamed, found->unnamed == 1 ? " is" : "s are");
    tm_warn_skipped(&found->left_out);
}

static void refuse_count(struct tm_run *run)
{
    (void)tm_fail(&run->error, TM_ERR_LIMIT, -1, "the run has more than %" PRIu64 " files",
                  tm_raised_limit(run, TM_INPUT_FILES_MOST));
    tm_limit_hint(run, "pass a part of it");
}

static void add_files(struct tm_inputs *inputs, struct tm_found_file *found, size_t count)
{
    struct tm_run *run = inputs->run;
    const size_t row = sizeof(*inputs->files);
    struct tm_found_file **files;

    if (count > tm_raised_limit(run, TM_INPUT_FILES_MOST) - inputs->file_count) {
        refuse_count(run);
        return;
    }
    files = tm_retake(&run->budget, TM_ACCOUNT_MODEL, inputs->files, inputs->file_count * row,
                      (inputs->file_count + count) * row, &run->error);
    if (!files)
        return;
    inputs->files = files;
    for (size_t i = 0; i < count; i++)
        inputs->files[inputs->file_count++] = &found[i];
}

static bool is_chosen(const struct tm_found_file *file, const struct tm_input_choice *choice)
{
    return strcmp(file->path, choice->path) == 0 && !file->member == !choice->member &&
           (!file->member || strcmp(file->member, choice->member) == 0);
}

/* The one file that a batch requests, whatever else has come to be there. */
static void add_chosen(struct tm_inputs *inputs, const struct tm_found *found, const struct tm_input_choice *choice)
{
    for (size_t i = 0; i < found->run_count; i++) {
        const struct tm_found_run *r = &found->runs[i];

        for (size_t k = 0; k < r->all_count; k++) {
            if (!is_chosen(&r->files[k], choice))
                continue;
            inputs->run_name = r->name;
            add_files(inputs, &r->files[k], 1);
            return;
        }
    }
    (void)tm_fail(&inputs->run->error, TM_ERR_INPUT, -1, "cannot open '%s': it no longer exists",
                  choice->member ? choice->member : choice->path);
}

static void add_run(struct tm_inputs *inputs, const struct tm_found *found, const struct tm_options *options,
                    bool is_first)
{
    const struct tm_found_run *chosen;

    if (tm_choose_run(inputs->run, found, options->run_name, options->latest, &chosen))
        return;
    add_files(inputs, chosen->files, chosen->file_count);
    if (is_first)
        inputs->run_name = chosen->name;
}

static void find_files(struct tm_inputs *inputs, const struct tm_options *options)
{
    const struct tm_input_choice *choice = options->choice;
    struct tm_run *run = inputs->run;

    inputs->found = tm_take(&run->budget, TM_ACCOUNT_MODEL, options->input_count * sizeof(*inputs->found), &run->error);
    if (!inputs->found)
        return;
    inputs->found_count = options->input_count;
    for (size_t i = 0; i < inputs->found_count && !tm_failed(run); i++) {
        if (tm_find_operand(run, options->inputs[i], &inputs->found[i]))
            return;
        tm_warn_left_out(&inputs->found[i]);
        if (choice && choice->path)
            add_chosen(inputs, &inputs->found[i], choice);
        else
            add_run(inputs, &inputs->found[i], options, i == 0);
    }
}

/* --- hosts --- */

static void add_loaded(struct tm_inputs *inputs, const char *host)
{
    struct tm_run *run = inputs->run;
    const size_t row = sizeof(*inputs->loaded);
    char *copy;

    if (inputs->loaded_count == inputs->loaded_most) {
        const uint32_t most = inputs->loaded_most ? 2 * inputs->loaded_most : 8;
        struct tm_found_file *loaded = tm_retake(&run->budget, TM_ACCOUNT_MODEL, inputs->loaded,
                                                 inputs->loaded_most * row, most * row, &run->error);

        if (!loaded)
            return;
        inputs->loaded = loaded;
        inputs->loaded_most = most;
    }
    copy = tm_take_text(&run->budget, TM_ACCOUNT_MODEL, host, &run->error);
    if (copy)
        inputs->loaded[inputs->loaded_count++] = (struct tm_found_file){ .host = copy };
}

/* The hosts that a partial holds, and that it was made as the options say. */
static void look_into(struct tm_inputs *inputs, size_t at, const struct tm_options *options)
{
    struct tm_run *run = inputs->run;
    struct tm_input_part *part = &inputs->parts[at];
    const char *path = inputs->files[at]->path;
    struct tm_file_facts *file = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*file), &run->error);
    char run_name[sizeof(inputs->partial_run_name)];
    struct tm_partial_reader *r = file ? tm_partial_open(run, path) : NULL;

    if (r) {
        tm_partial_load_settings(r, run, path, options, run_name, sizeof(run_name));
        part->file_count = tm_partial_load_file_count(r);
        part->sum = tm_partial_sum(r);
        for (uint32_t i = 0; i < part->file_count && !tm_failed(run); i++) {
            tm_partial_load_file(r, file);
            if (!tm_failed(run) && inputs->loaded_count >= tm_raised_limit(run, TM_INPUT_FILES_MOST))
                refuse_count(run);
            if (!tm_failed(run) && file->host[0]) {
                add_loaded(inputs, file->host);
                part->host_count++;
            }
        }
        if (at == 0) {
            memcpy(inputs->partial_run_name, run_name, sizeof(run_name));
            inputs->run_name = inputs->partial_run_name;
        }
    }
    tm_partial_close(r);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, file, file ? sizeof(*file) : 0);
}

/* Open a file for its kind; false if it cannot be opened: reading it will say why.
 * owns:   *input is the caller's, also after a failure
 * errors: of stdin, which can be read only once, and of memory */
static bool open_for_kind(struct tm_run *run, const struct tm_found_file *file, struct tm_input *input)
{
    const struct tm_input_options options = { .member = file->member,
                                              .target = file->target,
                                              .position = file->position };

    tm_input_open_with(input, run, file->path, &options);
    if (!tm_failed(run))
        return true;
    if (run->error.status == TM_ERR_LIMIT || strcmp(file->path, "-") == 0 || tm_remote_is(file->path))
        (void)tm_while(&run->error, "reading '%s'", file->path);
    else
        run->error = (struct tm_error){ .status = TM_OK };
    return false;
}

/* Distinguish a device memory profile from a trace. */
static void look_at_kind(struct tm_inputs *inputs, size_t at)
{
    struct tm_run *run = inputs->run;
    struct tm_found_file *file = inputs->files[at];
    struct tm_input *input = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*input), &run->error);

    if (!input)
        return;
    if (open_for_kind(run, file, input) && input->kind == TM_FILE_PPROF) {
        inputs->parts[at].kind = TM_PART_MEMORY;
        inputs->parts[at].host_count = 0;
    }
    if ((strcmp(file->path, "-") == 0 || tm_remote_is(file->path)) && !inputs->standard_input && !tm_failed(run)) {
        inputs->standard_input = file->opened = input;
        return;
    }
    tm_input_close(input);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, input, sizeof(*input));
}

/* Which hosts each file holds. */
static void find_parts(struct tm_inputs *inputs, const struct tm_options *options)
{
    struct tm_run *run = inputs->run;

    inputs->parts = tm_take(&run->budget, TM_ACCOUNT_MODEL, inputs->file_count * sizeof(*inputs->parts), &run->error);
    if (!inputs->parts)
        return;
    for (size_t i = 0; i < inputs->file_count && !tm_failed(run); i++) {
        const struct tm_found_file *file = inputs->files[i];
        struct tm_input_part *part = &inputs->parts[i];

        *part = (struct tm_input_part){ .first_host = inputs->host_count, .host_count = 1, .file_count = 1 };
        if (file->kind != TM_FOUND_FILE) {
            /* its name shows what it is */
        } else if (!file->member && strcmp(file->path, "-") != 0 && !tm_remote_is(file->path) &&
                   tm_partial_is(file->path)) {
            part->kind = TM_PART_PARTIAL;
            part->host_count = 0;
            look_into(inputs, i, options);
        } else {
            look_at_kind(inputs, i);
        }
        inputs->host_count += inputs->parts[i].host_count;
    }
}

static void name_hosts(struct tm_inputs *inputs)
{
    struct tm_run *run = inputs->run;
    struct tm_found_file *loaded = inputs->loaded;
    const size_t bytes = inputs->host_count * sizeof(*inputs->hosts);
    uint32_t n = 0;

    inputs->hosts = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);
    inputs->plain_hosts = inputs->hosts ? tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error) : NULL;
    if (!inputs->plain_hosts)
        return;
    for (size_t i = 0; i < inputs->file_count; i++)
        for (uint32_t k = 0; k < inputs->parts[i].host_count; k++)
            inputs->hosts[n++] = inputs->parts[i].kind == TM_PART_PARTIAL ? loaded++ : inputs->files[i];
    for (uint32_t i = 0; i < n; i++) {
        inputs->plain_hosts[i] = tm_take_text(&run->budget, TM_ACCOUNT_MODEL, inputs->hosts[i]->host, &run->error);
        if (!inputs->plain_hosts[i])
            return;
    }
    tm_distinct_hosts(run, inputs->hosts, inputs->host_count);
}

static void plan_progress(const struct tm_inputs *inputs)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < inputs->file_count; i++)
        bytes += inputs->files[i]->bytes;
    tm_progress_plan(&inputs->run->progress, (uint32_t)inputs->file_count, bytes);
}

tm_status tm_inputs_find(struct tm_inputs *inputs, struct tm_run *run, const struct tm_options *options)
{
    *inputs = (struct tm_inputs){ .run = run, .run_name = "" };
    find_files(inputs, options);
    if (!tm_failed(run))
        find_parts(inputs, options);
    if (options->choice && options->choice->run_name)
        inputs->run_name = options->choice->run_name;
    if (!tm_failed(run))
        name_hosts(inputs);
    plan_progress(inputs);
    return run->error.status;
}

void tm_inputs_free(struct tm_inputs *inputs)
{
    struct tm_run *run = inputs->run;
    const size_t hosts_bytes = inputs->host_count * sizeof(*inputs->hosts);

    if (!run)
        return;
    for (uint32_t i = 0; inputs->plain_hosts && i < inputs->host_count; i++)
        tm_give_text(&run->budget, TM_ACCOUNT_MODEL, inputs->plain_hosts[i]);
    for (uint32_t i = 0; i < inputs->loaded_count; i++)
        tm_give_text(&run->budget, TM_ACCOUNT_MODEL, inputs->loaded[i].host);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, inputs->plain_hosts, hosts_bytes);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, inputs->hosts, hosts_bytes);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, inputs->loaded, inputs->loaded_most * sizeof(*inputs->loaded));
    tm_give(&run->budget, TM_ACCOUNT_MODEL, inputs->parts, inputs->file_count * sizeof(*inputs->parts));
    if (inputs->standard_input)
        tm_input_close(inputs->standard_input);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, inputs->standard_input,
            inputs->standard_input ? sizeof(*inputs->standard_input) : 0);
    for (size_t i = 0; i < inputs->found_count; i++)
        tm_found_free(&inputs->found[i]);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, inputs->found, inputs->found_count * sizeof(*inputs->found));
    tm_give(&run->budget, TM_ACCOUNT_MODEL, inputs->files, inputs->file_count * sizeof(*inputs->files));
    *inputs = (struct tm_inputs){ .run = NULL };
}

tm_status tm_check_strict(struct tm_run *run, bool is_partial, const char *act)
{
    const uint64_t losses = tm_tally_losses(&run->tallies, run->tally_use);

    if (!run->strict || (!is_partial && losses == 0))
        return TM_OK;
    if (losses > 0)
        (void)tm_fail(&run->error, TM_ERR_INPUT, -1, "cannot %s under --strict: %llu %s in the input", act,
                      (unsigned long long)losses, losses == 1 ? "loss" : "losses");
    else
        (void)tm_fail(&run->error, TM_ERR_INPUT, -1, "cannot %s under --strict: the input is partial", act);
    tm_hint(&run->error, "'tracemill inspect' shows the losses; without --strict, the rest is written");
    return TM_ERR_INPUT;
}
