/* SPDX-License-Identifier: Apache-2.0 */
/* How this report was made: the program, the input, the choices, the thresholds, and how to make it again. */
#include <stdio.h>
#include <string.h>

#include "pipeline/bounded_sum.h"
#include "pipeline/options.h"
#include "pipeline/shell_text.h"
#include "reports/content/say.h"
#include "reports/findings/thresholds.h"

enum { TEXT_BYTES = 160, COMMAND_BYTES = 1024, FILES_IN_COMMAND = 4 };

/* Members of summary.settings. */
static const enum tm_option_index told[] = { TM_OPTION_STEPS, TM_OPTION_SKIP_STEPS, TM_OPTION_WINDOW, TM_OPTION_GAP_MIN,
                                             TM_OPTION_ROWS };
enum { TOLD = sizeof(told) / sizeof(told[0]) };

static const char *setting(const struct tm_content *content, size_t number)
{
    return tm_text(tm_get(tm_of(content, "settings"), tm_option_table[told[number]].key));
}

/* --- program and input --- */

/* "2 files, 700 KiB, 22,138 events" */
static void put_input(char *out, const struct tm_value *files)
{
    char count[TM_FORMAT_BYTES], bytes[TM_FORMAT_BYTES], events[TM_FORMAT_BYTES];
    double size = 0, number = 0;

    for (size_t i = 0; i < tm_length(files); i++) {
        size += tm_double(tm_get(tm_at(files, i), "bytes"));
        number += tm_double(tm_get(tm_at(files, i), "events"));
    }
    (void)snprintf(out, TEXT_BYTES, "%s file%s, %s, %s events", tm_format_count(count, (int64_t)tm_length(files)),
                   tm_format_plural(tm_length(files)), tm_format_bytes(bytes, size),
                   tm_format_count(events, tm_whole(number)));
}

static void say_program(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { "Program", "program", TM_CELL_WORD },
        { "Summary", "summary", TM_CELL_WORD },
        { "Run", "run", TM_CELL_NAME },
        { "Input", "input", TM_CELL_WORD },
        { "Names are pseudonyms", "redacted", TM_CELL_WORD },
    };
    enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };
    const bool is_redacted = tm_is(tm_of(content, "report.redacted"));
    char program[TEXT_BYTES], summary[TEXT_BYTES], input[TEXT_BYTES];
    struct tm_cell cell[COLUMNS];

    (void)snprintf(program, sizeof(program), "%.60s %.60s", tm_text(tm_of(content, "tool.name")),
                   tm_text(tm_of(content, "tool.version")));
    (void)snprintf(summary, sizeof(summary), "%.60s, version %lld", tm_text(tm_of(content, "schema")),
                   (long long)tm_int(tm_of(content, "schema_version")));
    put_input(input, tm_of(content, "input.files"));
    cell[0] = tm_cell_of_text(TM_CELL_WORD, program);
    cell[1] = tm_cell_of_text(TM_CELL_WORD, summary);
    cell[2] = tm_cell_of_text(TM_CELL_NAME, tm_text(tm_of(content, "input.run")));
    cell[3] = tm_cell_of_text(TM_CELL_WORD, input);
    cell[4] = tm_cell_of_text(TM_CELL_WORD, "yes (--redact)");
    if (content->medium->facts)
        content->medium->facts(content->to, &(struct tm_table){ .id = "provenance",
                                                                .column = columns,
                                                                .columns = COLUMNS - !is_redacted,
                                                                .cells = cell,
                                                                .cell_rows = 1 });
}

/* --- choices --- */

static void say_choices(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { "Option", "option", TM_CELL_WORD },
        { "Here", "here", TM_CELL_WORD },
        { "Default", "default", TM_CELL_WORD },
        { "What it decides", "meaning", TM_CELL_PROSE },
    };
    enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };
    struct tm_cell cell[TOLD][COLUMNS];
    char name[TOLD][TEXT_BYTES];
    size_t n = 0;

    for (size_t i = 0; i < TOLD; i++) {
        const struct tm_option *option = &tm_option_table[told[i]];

        if (!*setting(content, i))
            continue;
        (void)snprintf(name[n], TEXT_BYTES, "--%s", option->name);
        cell[n][0] = tm_cell_of_text(TM_CELL_WORD, name[n]);
        cell[n][1] = tm_cell_of_text(TM_CELL_WORD, setting(content, i));
        cell[n][2] = tm_cell_of_text(TM_CELL_WORD, option->fallback);
        cell[n++][3] = tm_cell_of_text(TM_CELL_PROSE, option->help);
    }
    tm_say_table(content, &(struct tm_table){ .id = "choices",
                                              .caption = "Choices that the figures depend on",
                                              TM_COLUMNS(columns),
                                              .cells = cell[0],
                                              .cell_rows = n });
}

/* --- thresholds --- */

enum { CHANGES_MOST = TM_KPI_COUNT + TM_LIMIT_COUNT };

struct changes {
    struct tm_cell cell[CHANGES_MOST][3];
    char here[CHANGES_MOST][TEXT_BYTES], built_in[CHANGES_MOST][TEXT_BYTES];
    size_t count;
};

static void add_change(struct changes *changes, const struct tm_value *row)
{
    struct tm_cell *cell = changes->cell[changes->count];

    cell[0] = tm_cell_of_value(TM_CELL_WORD, tm_get(row, "title"));
    cell[1] = tm_cell_of_text(TM_CELL_WORD, changes->here[changes->count]);
    cell[2] = tm_cell_of_text(TM_CELL_WORD, changes->built_in[changes->count]);
    changes->count++;
}

static void put_bands(char *out, double good, double bad, const char *unit)
{
    char from[TM_FORMAT_BYTES], to[TM_FORMAT_BYTES];

    (void)snprintf(out, TEXT_BYTES, "good %s, bad %s", tm_format_limit(from, good, unit),
                   tm_format_limit(to, bad, unit));
}

static void compare_bands(struct changes *changes, const struct tm_value *row, const struct tm_threshold *built_in)
{
    const struct tm_value *good = tm_get(row, "good"), *bad = tm_get(row, "bad");

    if (!row || (tm_has(good) == built_in->has_bands && (!built_in->has_bands || (tm_double(good) == built_in->good &&
                                                                                   tm_double(bad) == built_in->bad))))
        return;
    (void)snprintf(changes->here[changes->count], TEXT_BYTES, "none");
    (void)snprintf(changes->built_in[changes->count], TEXT_BYTES, "none");
    if (tm_has(good))
        put_bands(changes->here[changes->count], tm_double(good), tm_double(bad), built_in->unit);
    if (built_in->has_bands)
        put_bands(changes->built_in[changes->count], built_in->good, built_in->bad, built_in->unit);
    add_change(changes, row);
}

static void compare_limit(struct changes *changes, const struct tm_value *row, const struct tm_threshold *built_in)
{
    char text[TM_FORMAT_BYTES];

    if (!row || tm_double(tm_get(row, "value")) == built_in->value)
        return;
    (void)snprintf(changes->here[changes->count], TEXT_BYTES, "%s",
                   tm_format_limit(text, tm_double(tm_get(row, "value")), built_in->unit));
    (void)snprintf(changes->built_in[changes->count], TEXT_BYTES, "%s",
                   tm_format_limit(text, built_in->value, built_in->unit));
    add_change(changes, row);
}

/* The row of an id, of the list of either kind. */
static const struct tm_value *threshold_of(const struct tm_content *content, const char *list, const char *id)
{
    char path[TEXT_BYTES];

    (void)snprintf(path, sizeof(path), "thresholds.%s[%s]", list, id);
    return tm_of(content, path);
}

/* out: how many differ from those that are built in */
static size_t say_thresholds(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { "Threshold", "title", TM_CELL_WORD },
        { "Here", "here", TM_CELL_WORD },
        { "Built in", "built_in", TM_CELL_WORD },
    };
    struct changes changes = { .count = 0 };
    static struct tm_thresholds built_in; /* too much for a small stack */
    struct tm_error error = { 0 };

    if (tm_thresholds_init(&built_in, &error) != TM_OK)
        return 0;
    for (int i = 0; i < TM_KPI_COUNT; i++)
        compare_bands(&changes, threshold_of(content, "kpis", tm_kpi_id[i]), &built_in.kpi[i]);
    for (int i = 0; i < TM_LIMIT_COUNT; i++)
        compare_limit(&changes, threshold_of(content, "limits", tm_limit_id[i]), &built_in.limit[i]);
    tm_say_table(content, &(struct tm_table){ .id = "thresholds-changed",
                                              .caption = "Thresholds that are not those of the program",
                                              TM_COLUMNS(columns),
                                              .cells = changes.cell[0],
                                              .cell_rows = changes.count,
                                              .paper_rows = CHANGES_MOST });
    return changes.count;
}

/* --- again --- */

struct command {
    char text[COMMAND_BYTES];
    size_t used;
};

/* What does not fit is cut. */
static void add_char(struct command *command, char c)
{
    if (command->used + 1 < sizeof(command->text))
        command->text[command->used++] = c;
}

static void add_plain(struct command *command, const char *text)
{
    for (; *text; text++)
        add_char(command, *text);
}

static void add_text(void *to, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        add_char(to, text[i]);
}

static void add_word(struct command *command, const char *word)
{
    add_char(command, ' ');
    if (word[0] == '-' && word[1]) /* a file, no option */
        add_plain(command, "./");
    tm_shell_word(add_text, command, word);
}

static void add_choices(struct command *command, const struct tm_content *content)
{
    for (size_t i = 0; i < TOLD; i++) {
        const struct tm_option *option = &tm_option_table[told[i]];

        if (!*setting(content, i) || strcmp(setting(content, i), option->fallback) == 0)
            continue;
        add_plain(command, " --");
        add_plain(command, option->name);
        add_word(command, setting(content, i));
    }
}

/* The path of a member of an archive is none that can be opened. */
static bool has_archives(const struct tm_value *files)
{
    for (size_t i = 0; i < tm_length(files); i++)
        if (tm_is(tm_get(tm_at(files, i), "archived")))
            return true;
    return false;
}

static void say_command(const struct tm_content *content, bool has_thresholds)
{
    const struct tm_value *files = tm_of(content, "input.files");
    const bool is_redacted = tm_is(tm_of(content, "report.redacted"));
    const bool is_listed =
        tm_length(files) <= FILES_IN_COMMAND && tm_length(files) > 0 && !is_redacted && !has_archives(files);
    struct command command = { .used = 0 };

    add_plain(&command, "tracemill report");
    for (size_t i = 0; is_listed && i < tm_length(files); i++)
        if (strcmp(tm_text(tm_get(tm_at(files, i), "kind")), "missing") != 0) /* it could not be read */
            add_word(&command, tm_text(tm_get(tm_at(files, i), "path")));
    if (!is_listed)
        add_plain(&command, " INPUT");
    add_choices(&command, content);
    add_plain(&command, has_thresholds ? " --thresholds FILE" : "");
    add_plain(&command, is_redacted ? " --redact" : "");
    tm_say(content, TM_TONE_PLAIN, "To make it again: %s", command.text);
    if (!is_listed)
        tm_say(content, TM_TONE_QUIET,
               "INPUT: the files that are listed under \"Data quality\", or the folder or archive that has them.");
    if (has_thresholds)
        tm_say(content, TM_TONE_QUIET, "FILE: the section \"thresholds\" of summary.json, cut out.");
}

static void say_provenance(const struct tm_content *content)
{
    size_t changes;

    say_program(content);
    say_choices(content);
    changes = say_thresholds(content);
    say_command(content, changes > 0);
}

const struct tm_section tm_provenance_section = { "provenance", "How this report was made", NULL, say_provenance,
                                                  NULL };
