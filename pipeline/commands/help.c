/* SPDX-License-Identifier: Apache-2.0 */
/* `help`, and the hidden verbs `man` and `completions`. */
#include <stdio.h>

#include "pipeline/commands/commands.h"
#include "pipeline/help_text.h"
#include "pipeline/nearest.h"

static tm_status refuse_action(struct tm_run *run, const struct tm_verb *verb, const char *typed)
{
    const struct tm_verb *const action = tm_verb_nearest_action(verb, typed);

    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot help with '%s %s': there is no such verb", verb->name, typed);
    if (action)
        tm_hint(&run->error, "did you mean '%s'?", action->name);
    else
        tm_hint(&run->error, "'tracemill help' lists the verbs");
    return TM_ERR_USAGE;
}

tm_status tm_command_help(struct tm_run *run, const struct tm_options *options)
{
    struct tm_nearest nearest = { 0 };
    size_t used;

    if (options->input_count == 0) {
        tm_help_overview(stdout);
        return TM_OK;
    }
    /* a second word, as in `help config show`, belongs to the verb */
    const struct tm_verb *const verb = tm_verb_by_words(options->inputs, options->input_count, &used);

    if (verb && tm_verb_has_actions(verb) && used < options->input_count)
        return refuse_action(run, verb, options->inputs[used]);
    if (verb) {
        tm_help_verb(verb, stdout);
        return TM_OK;
    }
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot help with '%s': there is no such verb",
                  options->inputs[0]);
    for (size_t i = 0; i < tm_verb_count; i++)
        tm_nearest_offer(&nearest, options->inputs[0], tm_verb_table[i].name);
    if (nearest.word)
        tm_hint(&run->error, "did you mean '%s'?", nearest.word);
    else
        tm_hint(&run->error, "'tracemill help' lists the verbs");
    return TM_ERR_USAGE;
}

tm_status tm_command_man(struct tm_run *run, const struct tm_options *options)
{
    (void)run;
    (void)options;
    tm_help_manual(stdout);
    return TM_OK;
}

tm_status tm_command_completions(struct tm_run *run, const struct tm_options *options)
{
    if (tm_help_completions(options->inputs[0], stdout))
        return TM_OK;
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1,
                  "cannot print completions for '%s': there are none", options->inputs[0]);
    tm_hint(&run->error, "the shells are bash, zsh and fish");
    return TM_ERR_USAGE;
}
