/* SPDX-License-Identifier: Apache-2.0 */
/* The list of verbs, and how words find one. */
#include "pipeline/commands/commands.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/strings.h"

/* Each stands in the file of its name, those of a batch in pipeline/nightly.  They are declared here, since nobody else
 * calls one of them by its name. */
extern const struct tm_verb tm_report_verb, tm_brief_verb, tm_inspect_verb, tm_convert_verb, tm_split_verb,
    tm_compare_verb, tm_scaling_verb, tm_check_verb, tm_batch_verb, tm_batch_scan_verb, tm_batch_run_verb,
    tm_batch_merge_verb, tm_batch_submit_verb, tm_batch_prune_verb, tm_batch_export_verb, tm_list_verb, tm_extract_verb,
    tm_config_verb, tm_help_verb, tm_version_verb, tm_man_verb, tm_completions_verb;

/* In the order of the help. */
const struct tm_verb *const tm_verbs[] = {
    &tm_report_verb,    &tm_brief_verb,       &tm_inspect_verb,      &tm_convert_verb,     &tm_split_verb,
    &tm_compare_verb,   &tm_scaling_verb,     &tm_check_verb,        &tm_batch_verb,       &tm_batch_scan_verb,
    &tm_batch_run_verb, &tm_batch_merge_verb, &tm_batch_submit_verb, &tm_batch_prune_verb, &tm_batch_export_verb,
    &tm_list_verb,      &tm_extract_verb,     &tm_config_verb,       &tm_help_verb,        &tm_version_verb,
    &tm_man_verb,       &tm_completions_verb,
};

const size_t tm_verb_count = sizeof(tm_verbs) / sizeof(tm_verbs[0]);

const struct tm_verb *tm_verb_by_name(const char *name)
{
    for (size_t i = 0; i < tm_verb_count; i++) {
        if (strcmp(tm_verbs[i]->name, name) == 0)
            return tm_verbs[i];
    }
    return NULL;
}

const struct tm_verb *tm_verb_by_words(char *const *words, size_t count, size_t *used)
{
    char two[64];
    const int length = count > 1 ? snprintf(two, sizeof(two), "%s %s", words[0], words[1]) : -1;
    const struct tm_verb *verb = length > 0 && (size_t)length < sizeof(two) ? tm_verb_by_name(two) : NULL;

    *used = verb ? 2 : 1;
    return verb || !count ? verb : tm_verb_by_name(words[0]);
}

bool tm_verb_is_action_of(const struct tm_verb *action, const struct tm_verb *verb)
{
    const size_t length = strlen(verb->name);

    return strncmp(action->name, verb->name, length) == 0 && action->name[length] == ' ';
}

const char *tm_verb_second_word(const struct tm_verb *action)
{
    const char *blank = strchr(action->name, ' ');

    return blank ? blank + 1 : "";
}

bool tm_verb_has_actions(const struct tm_verb *verb)
{
    for (size_t i = 0; i < tm_verb_count; i++) {
        if (tm_verb_is_action_of(tm_verbs[i], verb))
            return true;
    }
    return false;
}

const struct tm_verb *tm_verb_nearest_action(const struct tm_verb *verb, const char *typed)
{
    struct tm_nearest nearest = { 0 };
    const struct tm_verb *action = NULL;

    for (size_t i = 0; i < tm_verb_count; i++) {
        const size_t distance = nearest.distance;
        const char *const word = nearest.word;

        if (!tm_verb_is_action_of(tm_verbs[i], verb))
            continue;
        tm_nearest_offer(&nearest, typed, tm_verb_second_word(tm_verbs[i]));
        if (nearest.word != word || nearest.distance != distance)
            action = tm_verbs[i];
    }
    return action;
}
