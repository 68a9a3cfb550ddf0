/* SPDX-License-Identifier: Apache-2.0 */
/* `config show`: every setting, its value, and where it comes from; and the thresholds in effect. */
#include <stdio.h>
#include <string.h>

#include "pipeline/commands/commands.h"
#include "pipeline/doc/doc.h"
#include "pipeline/numbers.h"
#include "pipeline/options.h"
#include "reports/findings/thresholds.h"

/* The thresholds in effect, for `config show`: the built-in table with the changes of a file. */
struct tm_effective_thresholds {
    struct tm_thresholds built_in, now;
    const char *file; /* NULL = none was named */
};

/* The table of thresholds in `config show`. */

enum { FROM_BYTES = 256, VALUE_BYTES = 48 };

/* errors: as in tm_thresholds_read */
static void effective_thresholds_read(struct tm_effective_thresholds *t, const char *file, struct tm_error *error)
{
    tm_thresholds_init(&t->built_in, error);

    t->file = file;
    t->now = t->built_in;
    if (file && !error->status)
        tm_thresholds_read(&t->now, file, error);
}

static const char *origin(const struct tm_effective_thresholds *t, const struct tm_threshold *was,
                          const struct tm_threshold *now)
{
    return tm_threshold_equals(was, now) ? "default" : t->file;
}

/* --- for people --- */

static void print_row(const char *id, const char *good, const char *bad, const char *unit, const char *from)
{
    char clean[FROM_BYTES];

    tm_clean_text(clean, sizeof(clean), from, strlen(from));
    (void)printf("%-20s %-10s %-10s %-6s %s\n", id, good, bad, unit, clean);
}

/* "> 80"; "-" if there is no limit. */
static void tell_limit(char out[VALUE_BYTES], bool is_set, const char *sign, double limit)
{
    char number[TM_FORMAT_BYTES];

    (void)snprintf(out, VALUE_BYTES, "%s%s", is_set ? sign : "-", is_set ? tm_format_limit(number, limit, "") : "");
}

/* As a table for people on stdout, and as the member "threshold_table": of each row its values, and where it is from:
 * "default" or the file. */
static void effective_thresholds_print(const struct tm_effective_thresholds *t)
{
    char good[VALUE_BYTES], bad[VALUE_BYTES];

    (void)puts("");
    print_row("key figure", "good", "bad", "unit", "from");
    for (int i = 0; i < TM_KPI_COUNT; i++) {
        const struct tm_threshold *now = &t->now.kpi[i];
        const char *better = now->higher_is_better ? "> " : "< ", *worse = now->higher_is_better ? "< " : "> ";

        tell_limit(good, now->has_bands, now->good == now->bad ? "" : better, now->good);
        tell_limit(bad, now->has_bands, worse, now->bad);
        print_row(tm_kpi_id[i], good, bad, now->unit, origin(t, &t->built_in.kpi[i], now));
    }
    (void)puts("");
    print_row("limit of findings", "value", "", "unit", "from");
    for (int i = 0; i < TM_LIMIT_COUNT; i++) {
        tell_limit(good, true, "", t->now.limit[i].value);
        print_row(tm_limit_id[i], good, "", t->now.limit[i].unit, origin(t, &t->built_in.limit[i], &t->now.limit[i]));
    }
}

/* --- for programs --- */

static void add_value(struct tm_value *to, const char *key, bool has, double value)
{
    if (has)
        tm_add_double(to, key, value);
    else
        tm_add_null(to, key, "no limit is set");
}

static void effective_thresholds_add(const struct tm_effective_thresholds *t, struct tm_value *to)
{
    struct tm_value *table = tm_add_object(to, "threshold_table"), *rows = tm_add_array(table, "kpis");

    for (int i = 0; i < TM_KPI_COUNT; i++) {
        const struct tm_threshold *now = &t->now.kpi[i];
        struct tm_value *row = tm_add_object(rows, NULL);

        tm_add_string(row, "id", tm_kpi_id[i]);
        tm_add_string(row, "unit", now->unit);
        tm_add_string(row, "direction", now->higher_is_better ? "higher" : "lower");
        add_value(row, "good", now->has_bands, now->good);
        add_value(row, "bad", now->has_bands, now->bad);
        tm_add_string(row, "from", origin(t, &t->built_in.kpi[i], now));
    }
    rows = tm_add_array(table, "limits");
    for (int i = 0; i < TM_LIMIT_COUNT; i++) {
        const struct tm_threshold *now = &t->now.limit[i];
        struct tm_value *row = tm_add_object(rows, NULL);

        tm_add_string(row, "id", tm_limit_id[i]);
        tm_add_string(row, "unit", now->unit);
        tm_add_double(row, "value", now->value);
        tm_add_string(row, "from", origin(t, &t->built_in.limit[i], now));
    }
}

/* Longer values are cut in the table for people; --json prints them whole. */
enum { SETTING_BYTES = 256 };

static void print_json(struct tm_run *run, const struct tm_setting_set *set,
                       const struct tm_effective_thresholds *thresholds)
{
    struct tm_doc *const doc = tm_doc_new(run);
    char name[TM_OPTION_NAME_BYTES], place[64], joined[SETTING_BYTES];

    if (!doc)
        return;
    for (int i = 0; i < TM_OPTION_COUNT; i++) {
        const struct tm_option *const row = &tm_option_table[i];

        if (!tm_option_is_setting(row))
            continue;
        struct tm_value *const to = tm_add_object(tm_doc_root(doc), tm_option_key(row, name));

        const char *const text = tm_settings_text(set, (enum tm_option_index)i, joined, sizeof(joined));

        if (text)
            tm_add_string(to, "value", text);
        else
            tm_add_null(to, "value", "not set");
        tm_add_string(to, "from", tm_settings_place(set, (enum tm_option_index)i, place, sizeof(place)));
        tm_add_string(to, "environment", tm_option_environment(row, name));
    }
    effective_thresholds_add(thresholds, tm_doc_root(doc));
    tm_doc_print(doc, run, fileno(stdout));
    tm_doc_free(doc);
}

static void print_table(const struct tm_setting_set *set)
{
    char value[SETTING_BYTES], from[SETTING_BYTES], joined[SETTING_BYTES], place[64];

    (void)printf("%-12s %-20s %s\n", "setting", "value", "from");
    for (int i = 0; i < TM_OPTION_COUNT; i++) {
        const struct tm_option *const row = &tm_option_table[i];
        const char *const typed = tm_settings_text(set, (enum tm_option_index)i, joined, sizeof(joined));
        const char *const text = typed ? typed : "(not set)";
        const char *const origin = tm_settings_place(set, (enum tm_option_index)i, place, sizeof(place));

        if (!tm_option_is_setting(row))
            continue;
        tm_clean_text(value, sizeof(value), text, strlen(text));
        tm_clean_text(from, sizeof(from), origin, strlen(origin));
        (void)printf("%-12s %-20s %s\n", row->name, value, from);
    }
}

static tm_status run_config(struct tm_run *run, const struct tm_options *options)
{
    if (strcmp(options->inputs[0], "show") != 0) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot run 'config %s': there is no such verb",
                      options->inputs[0]);
        tm_hint(&run->error, "write 'tracemill config show'");
        return TM_ERR_USAGE;
    }
    struct tm_effective_thresholds *const thresholds =
        tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*thresholds), &run->error);

    if (!thresholds)
        return run->error.status;
    effective_thresholds_read(thresholds, options->thresholds, &run->error);
    if (options->json) {
        print_json(run, options->settings, thresholds);
    } else if (!tm_failed(run)) {
        print_table(options->settings);
        effective_thresholds_print(thresholds);
    }
    tm_give(&run->budget, TM_ACCOUNT_MODEL, thresholds, sizeof(*thresholds));
    return run->error.status;
}

/* clang-format off */
const struct tm_verb tm_config_verb = {
    .name = "config",
    .summary = "show every setting and threshold, its value and its source",
    .usage = "show [OPTION...]",
    .description =
        "Command-line options override TRACEMILL_* variables, which override the file given by --config or "
        "TRACEMILL_CONFIG, which overrides the defaults. The file is a JSON object, such as {\"memory\": \"512M\", "
        "\"strict\": true}; its keys are the names of the settings, with '_' instead of '-'. The settings of all "
        "verbs can be passed here as options.",
    .examples =
        "tracemill config show                       the current settings\n"
        "tracemill config show --config ci.json      the settings with this file\n"
        "tracemill config show --thresholds my.json  the thresholds that it changes\n",
    .words = "show",
    .bit = TM_FOR_CONFIG,
    .flags = TM_VERB_PRINTS,
    .least = 1,
    .most = 1,
    .run = run_config,
};
/* clang-format on */
