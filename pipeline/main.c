/* SPDX-License-Identifier: Apache-2.0 */
/* tracemill: reads profiler traces, of JAX, PyTorch and others, and reports what slows the run down.
 * Here: from the command line to a verb, and from its status to messages and the exit status.  The
 * locale stays "C": numbers in the outputs do not depend on where the program runs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "pipeline/commands/commands.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/files.h"
#include "pipeline/options.h"
#include "pipeline/process.h"
#include "pipeline/store/rows.h"
#include "pipeline/strings.h"

static bool is_there(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0;
}

static bool is_folder(const char *path)
{
    struct stat info;

    return path && stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static double cpu_seconds_of(int who)
{
    struct rusage usage;

    if (getrusage(who, &usage) != 0)
        return 0;
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* For this process and its children. */
static double cpu_seconds(void)
{
    return cpu_seconds_of(RUSAGE_SELF) + cpu_seconds_of(RUSAGE_CHILDREN);
}

static tm_status refuse_verb(const char *typed, struct tm_error *error)
{
    struct tm_nearest nearest = { 0 };

    (void)tm_fail(error, TM_ERR_USAGE, -1, "cannot run '%s': there is no such verb", typed);
    for (size_t i = 0; i < tm_verb_count; i++) {
        if (!(tm_verbs[i]->flags & TM_VERB_HIDDEN))
            tm_nearest_offer(&nearest, typed, tm_verbs[i]->name);
    }
    if (nearest.word)
        tm_hint(error, "did you mean '%s'?", nearest.word);
    else if (is_there(typed))
        tm_hint(error, "the verb comes first: 'tracemill report %s'", typed);
    else
        tm_hint(error, "'tracemill help' lists the verbs");
    return TM_ERR_USAGE;
}

/* A second word that is neither an action nor a path is a mistyped action. */
static tm_status check_action(const struct tm_verb *verb, const char *typed, struct tm_error *error)
{
    const struct tm_verb *const action = is_there(typed) ? NULL : tm_verb_nearest_action(verb, typed);

    if (!action)
        return TM_OK;
    (void)tm_fail(error, TM_ERR_USAGE, -1, "cannot run '%s %s': there is no such verb, and no such path", verb->name,
                  typed);
    tm_hint(error, "did you mean '%s'?", action->name);
    return TM_ERR_USAGE;
}

static tm_status check_operands(const struct tm_verb *verb, char *const *operands, size_t count, struct tm_error *error)
{
    if (count < verb->least)
        (void)tm_fail(error, TM_ERR_USAGE, -1, "cannot run '%s': %s is missing", verb->name,
                      verb->words ? "a word" : "the INPUT");
    else if (count > verb->most)
        (void)tm_fail(error, TM_ERR_USAGE, -1, "cannot run '%s': unexpected argument '%s'", verb->name,
                      operands[verb->most]);
    else
        return TM_OK;
    tm_hint(error, "usage: tracemill %s %s", verb->name, verb->usage);
    return TM_ERR_USAGE;
}

static bool has_flag(const struct tm_setting_set *set, enum tm_option_index index)
{
    return set->of[index].origin == TM_ORIGIN_FLAG && strcmp(set->of[index].text, "yes") == 0;
}

static bool has_groups(const char *word)
{
    const struct tm_verb *const verb = tm_verb_by_name(word);

    return verb && (verb->flags & TM_VERB_GROUPS);
}

/* The verb that a command line means, and its operands.  --help and --version are verbs
 * too; `VERB --help` is `help VERB`. */
static const struct tm_verb *choose_verb(const struct tm_setting_set *set, char **words, size_t count,
                                         struct tm_options *options, struct tm_error *error)
{
    const struct tm_verb *verb = NULL;
    size_t used;

    options->inputs = words;
    options->input_count = count;
    if (has_flag(set, TM_OPTION_VERSION)) {
        options->input_count = 0;
        return tm_verb_by_name("version");
    }
    if (has_flag(set, TM_OPTION_HELP)) {
        return tm_verb_by_name("help");
    }
    if (count == 0) {
        (void)tm_fail(error, TM_ERR_USAGE, -1, "cannot run without a verb");
        tm_hint(error, "'tracemill help' lists the verbs");
        return NULL;
    }
    verb = tm_verb_by_words(words, count, &used);
    if (!verb) {
        (void)refuse_verb(words[0], error);
        return NULL;
    }
    options->inputs += used;
    options->input_count -= used;
    if (options->input_count > 0 && check_action(verb, options->inputs[0], error))
        return NULL;
    if (tm_settings_check_verb(set, verb->name, verb->bit, error) ||
        check_operands(verb, options->inputs, options->input_count, error))
        return NULL;
    return verb;
}

/* Losses are reported once, at the end, by name. */
static void warn_losses(const struct tm_tallies *tallies, enum tm_tally_use use)
{
    const char *separator = ": ";

    if (tm_tally_losses(tallies, use) == 0)
        return;
    (void)fprintf(stderr, "tracemill: warning: %s not contain all of the input",
                  use == TM_TALLY_FOR_TRACES ? "the output does" : "the figures do");
    for (int i = 0; i < TM_TALLY_COUNT; i++) {
        if (!tm_tally_is_loss((enum tm_tally)i, use) || tallies->count[i] == 0)
            continue;
        (void)fprintf(stderr, "%s%s %" PRIu64, separator, tm_tally_info[i].name, tallies->count[i]);
        separator = ", ";
    }
    (void)fputc('\n', stderr);
}

/* "PATH", or "NAME=PATH". */
static void add_operand(struct tm_run *run, const char *text)
{
    struct tm_run_operand operand;

    if (!text || strcmp(text, "-") == 0)
        return;
    tm_run_operand_read(&operand, text);
    tm_guard_input(run, operand.path, NULL);
}

/* The files that the command line, the environment, and the configuration name for reading.  Folders and archives add
 * theirs during the search. */
static tm_status guard_options(struct tm_run *run, const struct tm_options *options)
{
    const char *const named[] = { options->history, options->results, options->thresholds, options->config,
                                  options->init ? NULL : options->gate };

    for (size_t i = 0; i < options->input_count; i++)
        add_operand(run, options->inputs[i]);
    for (size_t i = 0; i < options->baseline.count; i++)
        add_operand(run, options->baseline.text[i]);
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
        add_operand(run, named[i]);
    return run->error.status;
}

static tm_status run_verb(const struct tm_verb *verb, struct tm_run *run, const struct tm_options *options)
{
    tm_status st;

    run->strict = options->strict;
    run->raw = options->raw;
    run->follow_links = options->follow_links;
    run->helpers = options->helpers;
    run->tally_use = verb->flags & TM_VERB_TRACES ? TM_TALLY_FOR_TRACES : TM_TALLY_FOR_FIGURES;
    run->limit_times = options->limit_times;
    run->quiet = options->quiet;
    run->jobs = options->jobs ? options->jobs : TM_JOBS_AUTO;
    tm_budget_init(&run->budget, options->memory_bytes);
    tm_budget_add_spare(&run->budget);
    tm_progress_init(&run->progress, options->quiet);
    run->progress.events_read = &run->events_read;
    if (verb->flags & TM_VERB_SPILLS)
        tm_spill_choose_dir(run, options->tmp, is_folder(options->output) ? options->output : ".");
    tm_guard_begin(run);
    guard_options(run, options);
    st = tm_failed(run) ? run->error.status : verb->run(run, options);
    tm_close_left_open(run);
    tm_guard_end(run);
    /* The first failure wins: this one is seen only if none was reported. */
    if (st != TM_OK && st != TM_PARTIAL && st != TM_GATE)
        (void)tm_fail(&run->error, st, -1, "cannot finish '%s'", verb->name);
    tm_progress_end(&run->progress);
    if (st == TM_ERR_OUTPUT && (verb->flags & TM_VERB_PRINTS) && tm_terminal_reader_is_gone()) {
        run->error = (struct tm_error){ .status = TM_OK };
        st = TM_OK;
    }
    if (st == TM_OK || st == TM_PARTIAL || st == TM_GATE)
        warn_losses(&run->tallies, run->tally_use);
    if (st == TM_OK && tm_tally_losses(&run->tallies, run->tally_use) > 0)
        st = TM_PARTIAL;
    if (options->stats)
        tm_stats_print(run, cpu_seconds(), stderr);
    return st;
}

static tm_status run_command_line(int argc, char **argv, struct tm_run *run)
{
    static struct tm_setting_set set;
    struct tm_options options = { .inputs = NULL };
    size_t count;

    tm_settings_init(&set);
    tm_status st = tm_settings_take_flags(&set, argc, argv, has_groups, &count, &run->error);

    if (st)
        return st;
    const struct tm_verb *const verb = choose_verb(&set, argv + 1, count, &options, &run->error);

    if (!verb)
        return TM_ERR_USAGE;
    if (!(verb->flags & TM_VERB_NO_CONFIG))
        st = tm_settings_take_environment(&set, &run->error);
    if (!st)
        st = tm_settings_apply(&set, &options, &run->error);
    return st ? st : run_verb(verb, run, &options);
}

int main(int argc, char **argv)
{
    static struct tm_run run;
    tm_status st = TM_ERR_USAGE;

    tm_terminal_keep_numbers();
    tm_signals_install();
    if (argc < 2)
        tm_help_overview(stdout);
    else
        st = run_command_line(argc, argv, &run);

    tm_error_print(&run.error, stderr);
    struct tm_error closing = { .status = TM_OK };

    if (tm_terminal_finish(&closing)) {
        tm_error_print(&closing, stderr);
        st = st == TM_OK || st == TM_PARTIAL ? TM_ERR_OUTPUT : st;
    }
    return (int)st;
}
