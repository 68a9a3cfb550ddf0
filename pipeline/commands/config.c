/* SPDX-License-Identifier: Apache-2.0 */
/* `config show`: every setting, its value, and where it comes from; and the thresholds that hold. */
#include <stdio.h>
#include <string.h>

#include "pipeline/commands/commands.h"
#include "pipeline/commands/config_thresholds.h"
#include "pipeline/doc.h"
#include "pipeline/settings.h"

/* Longer values are cut in the table for people; --json prints them whole. */
enum { VALUE_BYTES = 256 };

static tm_status print_json(struct tm_run *run, const struct tm_setting_set *set,
                            const struct tm_effective_thresholds *thresholds)
{
    struct tm_doc *const doc = tm_doc_new(run);
    tm_status st = run->error.status;
    char place[64], joined[VALUE_BYTES];

    if (!doc)
        return st;
    for (int i = 0; i < TM_OPTION_COUNT; i++) {
        const struct tm_option *const row = &tm_option_table[i];

        if (!tm_option_is_setting(row))
            continue;
        struct tm_value *const to = tm_add_object(tm_doc_root(doc), row->key);

        const char *const text = tm_settings_text(set, (enum tm_option_index)i, joined, sizeof(joined));

        if (text)
            tm_add_string(to, "value", text);
        else
            tm_add_null(to, "value", "not set");
        tm_add_string(to, "from",
                      tm_settings_place(set, (enum tm_option_index)i, place, sizeof(place)));
        tm_add_string(to, "environment", row->environment);
    }
    tm_effective_thresholds_add(thresholds, tm_doc_root(doc));
    st = tm_doc_status(doc);
    if (!st)
        st = tm_doc_print(doc, run, fileno(stdout));
    tm_doc_free(doc);
    return st;
}

static void print_table(const struct tm_setting_set *set)
{
    char value[VALUE_BYTES], from[VALUE_BYTES], joined[VALUE_BYTES], place[64];

    (void)printf("%-12s %-20s %s\n", "setting", "value", "from");
    for (int i = 0; i < TM_OPTION_COUNT; i++) {
        const struct tm_option *const row = &tm_option_table[i];
        const char *const typed = tm_settings_text(set, (enum tm_option_index)i, joined, sizeof(joined));
        const char *const text = typed ? typed : "(not set)";
        const char *const origin =
            tm_settings_place(set, (enum tm_option_index)i, place, sizeof(place));

        if (!tm_option_is_setting(row))
            continue;
        tm_clean_text(value, sizeof(value), text, strlen(text));
        tm_clean_text(from, sizeof(from), origin, strlen(origin));
        (void)printf("%-12s %-20s %s\n", row->name, value, from);
    }
}

tm_status tm_command_config(struct tm_run *run, const struct tm_options *options)
{
    if (strcmp(options->inputs[0], "show") != 0) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1,
                      "cannot run 'config %s': there is no such verb", options->inputs[0]);
        tm_hint(&run->error, "write 'tracemill config show'");
        return TM_ERR_USAGE;
    }
    struct tm_effective_thresholds *const thresholds =
        tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*thresholds), &run->error);
    tm_status st = thresholds ? tm_effective_thresholds_read(thresholds, options->thresholds, &run->error)
                              : run->error.status;

    if (!st && options->json) {
        st = print_json(run, options->settings, thresholds);
    } else if (!st) {
        print_table(options->settings);
        tm_effective_thresholds_print(thresholds);
    }
    tm_give(&run->budget, TM_ACCOUNT_MODEL, thresholds, sizeof(*thresholds));
    return st;
}
