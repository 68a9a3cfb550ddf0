/* SPDX-License-Identifier: Apache-2.0 */
/* What a report contains about itself: how it was made, the quality of its data, definitions, checks, what is
 * missing. */
#include <stdio.h>
#include <string.h>

#include "pipeline/options.h"
#include "pipeline/store/bounded_sum.h"
#include "pipeline/strings.h"
#include "reports/content/content.h"
#include "reports/content/emit.h"
#include "reports/findings/thresholds.h"
#include "reports/format/format.h"

/* How this report was made: the program, the input, the choices, the thresholds, and how to make it again. */

enum { TEXT_BYTES = 160, COMMAND_BYTES = 1024, FILES_IN_COMMAND = 4 };

/* Members of summary.settings. */
static const enum tm_option_index told[] = { TM_OPTION_STEPS, TM_OPTION_SKIP_STEPS, TM_OPTION_WINDOW, TM_OPTION_GAP_MIN,
                                             TM_OPTION_ROWS };

enum { TOLD = sizeof(told) / sizeof(told[0]) };

static const char *setting(const struct tm_content *content, size_t number)
{
    char key[TM_OPTION_NAME_BYTES];

    return tm_text(tm_get(tm_of(content, "settings"), tm_option_key(&tm_option_table[told[number]], key)));
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

static void emit_program(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { "Program", "program", TM_DOC_WORD },
        { "Summary", "summary", TM_DOC_WORD },
        { "Run", "run", TM_DOC_NAME },
        { "Input", "input", TM_DOC_WORD },
        { "Names redacted", "redacted", TM_DOC_WORD },
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
    cell[0] = tm_cell_of_text(TM_DOC_WORD, program);
    cell[1] = tm_cell_of_text(TM_DOC_WORD, summary);
    cell[2] = tm_cell_of_text(TM_DOC_NAME, tm_text(tm_of(content, "input.run")));
    cell[3] = tm_cell_of_text(TM_DOC_WORD, input);
    cell[4] = tm_cell_of_text(TM_DOC_WORD, "yes (--redact)");
    if (content->medium->room.is_short) {
        tm_emit(content, TM_TONE_QUIET, "%s from %s%s%.200s. Figures: %s%s.", program, input,
                *tm_text(tm_of(content, "input.run")) ? " of " : "", tm_text(tm_of(content, "input.run")), summary,
                is_redacted ? ". Names are pseudonyms (--redact)" : "");
        return;
    }
    if (content->medium->facts)
        content->medium->facts(content->to, &(struct tm_table){ .id = "provenance",
                                                                .column = columns,
                                                                .columns = COLUMNS - !is_redacted,
                                                                .cells = cell,
                                                                .cell_rows = 1 });
}

/* --- choices --- */

static void emit_choices(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { "Option", "option", TM_DOC_WORD },
        { "Here", "here", TM_DOC_WORD },
        { "Default", "default", TM_DOC_WORD },
        { "Meaning", "meaning", TM_DOC_PROSE },
    };
    enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };
    struct tm_cell cell[TOLD][COLUMNS];
    char name[TOLD][TEXT_BYTES];
    size_t n = 0;

    for (size_t i = 0; i < TOLD; i++) {
        const struct tm_option *option = &tm_option_table[told[i]];

        if (!*setting(content, i) ||
            (content->medium->room.is_short && strcmp(setting(content, i), option->fallback) == 0))
            continue;
        (void)snprintf(name[n], TEXT_BYTES, "--%s", option->name);
        cell[n][0] = tm_cell_of_text(TM_DOC_WORD, name[n]);
        cell[n][1] = tm_cell_of_text(TM_DOC_WORD, setting(content, i));
        cell[n][2] = tm_cell_of_text(TM_DOC_WORD, option->fallback);
        cell[n++][3] = tm_cell_of_text(TM_DOC_PROSE, option->help);
    }
    tm_emit_table(content,
                  &(struct tm_table){ .id = "choices",
                                      .caption = "Analysis settings",
                                      .shows = "option word = Option, here word = Setting, default word = Default, "
                                               "meaning prose = Meaning",
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

    cell[0] = tm_cell_of_value(TM_DOC_WORD, tm_get(row, "title"));
    cell[1] = tm_cell_of_text(TM_DOC_WORD, changes->here[changes->count]);
    cell[2] = tm_cell_of_text(TM_DOC_WORD, changes->built_in[changes->count]);
    changes->count++;
}

static void put_bands(char *out, double good, double bad, const char *unit)
{
    char from[TM_FORMAT_BYTES], to[TM_FORMAT_BYTES];

    (void)snprintf(out, TEXT_BYTES, "good %s, critical %s", tm_format_limit(from, good, unit),
                   tm_format_limit(to, bad, unit));
}

static void compare_bands(struct changes *changes, const struct tm_value *row, const struct tm_threshold *built_in)
{
    const struct tm_value *good = tm_get(row, "good"), *bad = tm_get(row, "bad");

    if (!row || (tm_has(good) == built_in->has_bands &&
                 (!built_in->has_bands || (tm_double(good) == built_in->good && tm_double(bad) == built_in->bad))))
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

/* The row of an id: in a summary of this version it is at its place, in others anywhere. */
static const struct tm_value *threshold_of(const struct tm_value *list, int place, const char *id)
{
    for (size_t i = 0; i <= tm_length(list); i++) {
        const struct tm_value *row = tm_at(list, i == 0 ? (size_t)place : i - 1);

        if (strcmp(tm_text(tm_get(row, "id")), id) == 0)
            return row;
    }
    return NULL;
}

/* out: how many differ from those that are built in */
static size_t emit_thresholds(const struct tm_content *content)
{
    struct changes changes = { .count = 0 };
    const struct tm_value *kpis = tm_of(content, "thresholds.kpis"), *limits = tm_of(content, "thresholds.limits");
    struct tm_thresholds *const built_in = tm_content_take(content, sizeof(*built_in));

    if (built_in && tm_thresholds_init(built_in, &content->run->error) == TM_OK) {
        for (int i = 0; i < TM_KPI_COUNT; i++)
            compare_bands(&changes, threshold_of(kpis, i, tm_kpi_id[i]), &built_in->kpi[i]);
        for (int i = 0; i < TM_LIMIT_COUNT; i++)
            compare_limit(&changes, threshold_of(limits, i, tm_limit_id[i]), &built_in->limit[i]);
    }
    tm_content_give(content, built_in, sizeof(*built_in));
    tm_emit_table(content,
                  &(struct tm_table){ .id = "thresholds-changed",
                                      .caption = "Changed thresholds",
                                      .shows = "title word = Threshold, here word = Setting, built_in word = Built in",
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

/* Text that does not fit is cut. */
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

/* The path of an archive member cannot be opened. */
static bool has_archives(const struct tm_value *files)
{
    for (size_t i = 0; i < tm_length(files); i++)
        if (tm_is(tm_get(tm_at(files, i), "archived")))
            return true;
    return false;
}

static void emit_command(const struct tm_content *content, bool has_thresholds)
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
    tm_emit(content, content->medium->room.is_short ? TM_TONE_QUIET : TM_TONE_PLAIN, "Reproduce: %s", command.text);
    if (!is_listed)
        tm_emit(content, TM_TONE_QUIET,
                "INPUT: the files listed under \"Data quality\", or the folder or archive that contains them.");
    if (has_thresholds)
        tm_emit(content, TM_TONE_QUIET, "FILE: the section \"thresholds\" of summary.json, saved as a file.");
}

static void emit_provenance(const struct tm_content *content)
{
    size_t changes;

    emit_program(content);
    emit_choices(content);
    changes = emit_thresholds(content);
    emit_command(content, changes > 0);
}

const struct tm_section tm_provenance_section = {
    .id = "provenance", .title = "About this report", .say = emit_provenance, .is_closing = true
};

/* Data quality: what was read, what is not included in the figures, and which figures that affects. */

enum { TEXTS_MOST = 100, CLASSES_MOST = 64, TOUCHED_BYTES = 512, SIGN_BYTES = 8, NEARLY_ALL = 9 };

/* --- effects of losses --- */

/* "Devices, Idle gaps": the sections of the report that a mark affects. */
static void put_touched(char *out, const struct tm_value *mark, const struct tm_value *summary)
{
    const struct tm_value *names = tm_get(mark, "sections");
    size_t at = 0, touched = 0;

    out[0] = 0;
    for (size_t i = 0; i < tm_length(names) && at < TOUCHED_BYTES; i++) {
        const struct tm_section *section = tm_section_of(summary, tm_text(tm_at(names, i)));

        if (!section || !tm_section_is_due(section, summary))
            continue;
        at += (size_t)snprintf(out + at, TOUCHED_BYTES - at, "%s%.60s", at ? ", " : "", section->title);
        touched++;
    }
    if (touched >= NEARLY_ALL)
        (void)snprintf(out, TOUCHED_BYTES, "almost all sections");
}

static void emit_marks(const struct tm_content *content, const struct tm_value *marks)
{
    static const struct tm_column columns[] = {
        { "Mark", "mark", TM_DOC_WORD },
        { "Problem", "text", TM_DOC_PROSE },
        { "Touches", "sections", TM_DOC_PROSE },
    };
    enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };
    struct tm_cell cell[TM_MARKS_SHOWN][COLUMNS];
    char sign[TM_MARKS_SHOWN][SIGN_BYTES], touched[TM_MARKS_SHOWN][TOUCHED_BYTES];
    size_t n = 0;

    for (; n < tm_length(marks) && n < TM_MARKS_SHOWN; n++) {
        (void)snprintf(sign[n], SIGN_BYTES, "[%c]", tm_mark_letter(n));
        put_touched(touched[n], tm_at(marks, n), content->summary);
        cell[n][0] = tm_cell_of_text(TM_DOC_WORD, sign[n]);
        cell[n][1] = tm_cell_of_value(TM_DOC_PROSE, tm_get(tm_at(marks, n), "text"));
        cell[n][2] = tm_cell_of_text(TM_DOC_PROSE, touched[n]);
    }
    tm_emit_table(content,
                  &(struct tm_table){ .id = "marks",
                                      .caption = "Figures affected by losses in the input",
                                      .shows = "mark word = Mark, text prose = Problem, sections prose = Affects",
                                      .cells = cell[0],
                                      .cell_rows = n,
                                      .anchor = "mark",
                                      .paper_rows = TM_MARKS_SHOWN });
    if (n > 0)
        tm_emit(content, TM_TONE_QUIET, "The letters mark the affected figures and headings.");
}

/* --- what was read --- */

static const struct tm_table input_files = {
    .id = "files",
    .caption = "Files of the input",
    .shows = "path, kind, host, bytes sums, events sums, partial rare, xxh3",
    .list = "input.files",
    .paper_rows = 32,
};

/* The entries of files under a key: "problems", "notes". */
static void emit_of_files(const struct tm_content *content, const struct tm_value *files, const char *key,
                          const char *id, const char *caption)
{
    struct tm_cell cell[TEXTS_MOST][2];
    size_t n = 0, more = 0;

    for (size_t i = 0; i < tm_length(files); i++) {
        const struct tm_value *texts = tm_get(tm_at(files, i), key);

        for (size_t k = 0; k < tm_length(texts) && n < TEXTS_MOST; k++, n++) {
            cell[n][0] = tm_cell_of_value(TM_DOC_NAME, tm_get(tm_at(files, i), "path"));
            cell[n][1] = tm_cell_of_value(TM_DOC_PROSE, tm_at(texts, k));
        }
        more += tm_length(texts);
    }
    tm_emit_table(content, &(struct tm_table){ .id = id,
                                               .caption = caption,
                                               .shows = "path name = File, text prose = Problem",
                                               .cells = cell[0],
                                               .cell_rows = n,
                                               .paper_rows = 24 });
    if (more > n)
        tm_emit(content, TM_TONE_QUIET, "%zu more in summary.json.", more - n);
}

static void emit_warnings(const struct tm_content *content, const struct tm_value *warnings)
{
    struct tm_cell cell[TEXTS_MOST];
    size_t n = 0;

    for (; n < tm_length(warnings) && n < TEXTS_MOST; n++)
        cell[n] = tm_cell_of_value(TM_DOC_PROSE, tm_at(warnings, n));
    tm_emit_table(content, &(struct tm_table){ .id = "warnings",
                                               .caption = "Profiler warnings",
                                               .shows = "text prose = Warning",
                                               .cells = cell,
                                               .cell_rows = n,
                                               .paper_rows = 20 });
}

/* --- how events were used --- */

static void emit_tallies(const struct tm_content *content, const struct tm_value *tallies)
{
    if (tm_length(tallies) == 0) {
        tm_emit(content, TM_TONE_GOOD, "Nothing was skipped or repaired.");
        return;
    }
    tm_emit_table(content, &(struct tm_table){ .id = "tallies",
                                               .caption = "Skipped or repaired",
                                               .shows = "help, level, count, @ word = Name",
                                               .list = "coverage.tallies",
                                               .paper_rows = 40 });
    tm_emit(content, TM_TONE_QUIET, "A loss can make figures too small; a note cannot.");
}

/* The class of events in words; a class without a word as named in the summary. */
static const char *words_of_class(const char *class)
{
    static const char *const words[][2] = {
        { "unresolved", "not classified" },
        { "kernel", "kernels" },
        { "collective", "collectives" },
        { "copy", "copies" },
        { "memset", "memsets" },
        { "graph", "CUDA graphs" },
        { "tpu_op", "TPU operations" },
        { "tpu_async", "copies and collectives concurrent with a TPU core" },
        { "cpu_op", "operations run by the CPU" },
        { "derived", "lines derived by the profiler" },
        { "device_other", "other device lines" },
        { "step_marker", "step markers" },
        { "alloc", "allocations" },
        { "free", "frees" },
        { "sync", "host sync" },
        { "launch", "launches" },
        { "compile", "compiles" },
        { "input", "data loading" },
        { "gc", "garbage collection" },
        { "profiler", "profiler" },
        { "python", "Python functions" },
        { "runtime", "runtime and driver calls" },
        { "annotation", "annotations" },
        { "framework_op", "framework operations on the host" },
        { "module", "program executions" },
        { "counter", "counters" },
        { "instant", "instant events" },
        { "flow", "flow arrows" },
        { "async", "asynchronous spans" },
        { "other", "others" },
    };

    return tm_format_word(TM_PAIRS(words), class, class);
}

static void emit_classes(const struct tm_content *content, const struct tm_value *classes)
{
    struct tm_cell cell[CLASSES_MOST][2];
    size_t n = 0;

    for (size_t i = 0; i < tm_length(classes) && n < CLASSES_MOST; i++) {
        if (tm_int(tm_value_at(classes, i)) == 0)
            continue;
        cell[n][0] = tm_cell_of_text(TM_DOC_WORD, words_of_class(tm_key_at(classes, i)));
        cell[n++][1] = tm_cell_of_value(TM_DOC_COUNT, tm_value_at(classes, i));
    }
    tm_emit_table(content, &(struct tm_table){ .id = "event-classes",
                                               .caption = "Events by kind",
                                               .shows = "class word = Kind of event, count count = Events",
                                               .cells = cell[0],
                                               .cell_rows = n,
                                               .paper_rows = CLASSES_MOST });
}

static void emit_coverage(const struct tm_content *content)
{
    const struct tm_value *coverage = tm_of(content, "coverage"), *files = tm_of(content, "input.files");

    if (tm_is(tm_of(content, "input.partial")))
        tm_emit(content, TM_TONE_WARNING, "The input is damaged or truncated: figures may be too small.");
    tm_emit_facts(content, "coverage-facts", "coverage", "events_read, events_used");
    emit_marks(content, tm_get(coverage, "marks"));
    emit_tallies(content, tm_get(coverage, "tallies"));
    emit_warnings(content, tm_get(coverage, "warnings"));
    emit_of_files(content, files, "problems", "file-problems", "Input problems");
    emit_of_files(content, files, "notes", "file-notes", "Incomplete data");
    tm_emit_table(content, &input_files);
    if (tm_has_hosts(content) && !tm_has(tm_of(content, "collectives.skew.clock.list")))
        tm_emit(content, TM_TONE_QUIET,
                "The clocks of the hosts are not aligned by collectives: in a trace of all of them, each is at its "
                "recorded start.");
    if (!content->medium->room.is_short)
        emit_classes(content, tm_get(coverage, "classes"));
}

const struct tm_section tm_coverage_section = {
    .id = "coverage", .title = "Data quality", .key = "coverage", .say = emit_coverage, .is_closing = true
};

/* Definitions: the key figures with their limits, and the figures and columns that the report shows. */

enum { KPIS_MOST = 64, LABEL_BYTES = 320 };

static void emit_figures(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { "Figure", "title", TM_DOC_WORD },
        { "Good", "good", TM_DOC_WORD },
        { "Critical", "bad", TM_DOC_WORD },
        { "Definition", "definition", TM_DOC_PROSE },
    };
    enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };
    struct tm_cell cell[KPIS_MOST][COLUMNS];
    struct tm_key_figure kpi[KPIS_MOST];
    bool has_limits = false;
    size_t n = 0;

    for (; n < tm_kpi_count(content->summary) && n < KPIS_MOST; n++) {
        tm_kpi_at(&kpi[n], content->summary, n);
        has_limits |= *kpi[n].good || *kpi[n].bad;
        cell[n][0] = tm_cell_of_text(TM_DOC_WORD, kpi[n].title);
        cell[n][1] = tm_cell_of_text(TM_DOC_WORD, kpi[n].good);
        cell[n][2] = tm_cell_of_text(TM_DOC_WORD, kpi[n].bad);
        cell[n][3] = tm_cell_of_text(TM_DOC_PROSE, kpi[n].definition);
    }
    tm_emit_table(
        content,
        &(struct tm_table){
            .id = "definitions",
            .caption = "Key figures",
            .shows = "title word = Figure, good word = Good, bad word = Critical, definition prose = Definition",
            .cells = cell[0],
            .cell_rows = n,
            .anchor = "definition",
            .glossary = 1,
            .paper_rows = KPIS_MOST });
    if (has_limits && !content->medium->room.is_short)
        tm_emit(content, TM_TONE_QUIET, "Values between good and critical are warnings.");
}

/* --- which terms the report uses --- */

struct use {
    const struct tm_content *content;
    const char *section;
    bool is_used[TM_TERMS_MOST];
};

static void note_label(struct use *use, const char *label)
{
    const int term = tm_term_find(use->section, label);

    if (term >= 0 && term < TM_TERMS_MOST)
        use->is_used[term] = true;
}

static void note_section(void *to, const struct tm_section *section)
{
    ((struct use *)to)->section = section->id;
}

/* The columns that the medium has room for, those reduced to a word, and rows that the program names. */
static void note_table(void *to, const struct tm_table *table)
{
    struct use *use = to;
    struct tm_layout layout;

    tm_table_lay_out(&layout, table, use->content->summary, &use->content->medium->room);
    for (size_t i = 0; i < layout.columns; i++)
        note_label(use, table->column[layout.column[i]].title);
    for (size_t i = 0; i < layout.notes; i++)
        note_label(use, layout.note[i].title);
    for (size_t r = 0; table->cells && r < layout.rows; r++)
        if (table->cells[r * table->columns].from == TM_FROM_TEXT)
            note_label(use, table->cells[r * table->columns].text);
}

static void note_facts(void *to, const struct tm_table *facts)
{
    for (size_t c = 0; c < facts->columns; c++)
        note_label(to, facts->column[c].title);
}

static void find_used(struct use *use)
{
    const struct tm_medium *medium = use->content->medium;
    const struct tm_medium noting = { .room = medium->room,
                                      .has_charts = medium->has_charts,
                                      .section = note_section,
                                      .table = note_table,
                                      .facts = note_facts };
    const struct tm_content content = {
        .summary = use->content->summary, .medium = &noting, .to = use, .run = use->content->run
    };

    const struct tm_document *document = tm_document_of(content.summary);
    /* on paper, a small profile has only the terms of its findings */
    const bool is_slight = medium->room.is_short && tm_report_is_slight(content.summary);

    for (size_t i = 0; i < document->section_count; i++) {
        const struct tm_section *section = document->sections[i];

        if (!section->key || !tm_section_is_due(section, content.summary) ||
            (is_slight && !tm_section_has_finding(section, content.summary)))
            continue;
        noting.section(use, section);
        tm_content_say_section(&content, section);
    }
}

/* --- the terms --- */

/* "Self time, Total time" of "Self time|Total time". */
static char *put_labels(char *out, const char *labels)
{
    size_t at = 0;

    for (; *labels && at + 3 < LABEL_BYTES; labels++) {
        if (*labels == '|')
            out[at++] = ',';
        out[at++] = *labels == '|' ? ' ' : *labels;
    }
    out[at] = 0;
    return out;
}

/* The section with the term, if there is one. */
static const char *title_of(const struct tm_content *content, const struct tm_term *term)
{
    const struct tm_document *document = tm_document_of(content->summary);
    const char *title = "";

    for (size_t i = 0; i < document->section_count; i++)
        if (tm_term_is_of(term, document->sections[i]->id))
            title = *title ? "several" : document->sections[i]->title;
    return title;
}

/* The table of the terms. */
struct terms {
    struct tm_cell cell[TM_TERMS_MOST][3];
    char labels[TM_TERMS_MOST][LABEL_BYTES];
    char texts[TM_TERMS_MOST][TM_TERM_BYTES];
    char ids[TM_TERMS_MOST][TM_TERM_ID_BYTES];
    const char *anchors[TM_TERMS_MOST];
};

static void emit_terms(const struct tm_content *content)
{
    struct use use = { .content = content, .section = "" };
    struct terms *const terms = tm_content_take(content, sizeof(*terms));
    size_t n = 0;

    if (!terms)
        return;
    find_used(&use);
    for (size_t i = 0; i < tm_term_count && i < TM_TERMS_MOST; i++) {
        if (!use.is_used[i])
            continue;
        terms->anchors[n] = tm_term_id((int)i, terms->ids[n]);
        terms->cell[n][0] = tm_cell_of_text(TM_DOC_WORD, title_of(content, &tm_terms[i]));
        terms->cell[n][1] = tm_cell_of_text(TM_DOC_PROSE, put_labels(terms->labels[n], tm_terms[i].labels));
        terms->cell[n][2] = tm_cell_of_text(TM_DOC_PROSE, tm_term_text((int)i, terms->texts[n]));
        n++;
    }
    tm_emit_table(content,
                  &(struct tm_table){ .id = "terms",
                                      .caption = "Figures and columns by section",
                                      .shows = "section word = Section, labels prose = Figure or column, text prose = "
                                               "Definition",
                                      .cells = terms->cell[0],
                                      .cell_rows = n,
                                      .anchor = "term",
                                      .anchors = terms->anchors,
                                      .glossary = 2,
                                      .paper_rows = TM_TERMS_MOST });
    tm_content_give(content, terms, sizeof(*terms));
}

static void emit_definitions(const struct tm_content *content)
{
    emit_figures(content);
    emit_terms(content);
}

const struct tm_section tm_definitions_section = {
    .id = "definitions", .title = "Definitions", .say = emit_definitions, .is_closing = true
};

/* The identities that the figures satisfy, with their numbers. */

enum { ROWS_MOST = 32 };

static const char *result_of(const struct tm_value *check)
{
    const struct tm_value *holds = tm_get(check, "holds");

    return !tm_has(holds) ? "not applicable" : tm_is(holds) ? "holds" : "failed";
}

/* If all hold, paper has only their number.  out: true if it was written */
static bool emit_all_hold(const struct tm_content *content, const struct tm_value *list)
{
    size_t held = 0, failed = 0;
    char number[TM_FORMAT_BYTES];

    for (size_t i = 0; i < tm_length(list); i++) {
        const struct tm_value *holds = tm_get(tm_at(list, i), "holds");

        held += tm_has(holds) && tm_is(holds);
        failed += tm_has(holds) && !tm_is(holds);
    }
    if (!content->medium->room.is_short || failed > 0)
        return false;
    tm_emit(content, TM_TONE_GOOD,
            "All %s consistency checks passed on this input: the parts of every step, device and table add up to "
            "their totals.",
            tm_format_count(number, (int64_t)held));
    return true;
}

/* Exact numbers: a picosecond is a difference. */
static void emit_checks(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { "Check", "title", TM_DOC_PROSE },       { "Result", "holds", TM_DOC_WORD },
        { "Expected", "expected", TM_DOC_COUNT }, { "Found", "found", TM_DOC_COUNT },
        { "Unit", "unit", TM_DOC_WORD },          { "Where", "where", TM_DOC_NAME | TM_RARE },
    };
    enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };
    const struct tm_value *list = tm_of(content, "checks");
    struct tm_cell cell[ROWS_MOST][COLUMNS];
    size_t rows = 0;

    if (emit_all_hold(content, list))
        return;
    for (; rows < tm_length(list) && rows < ROWS_MOST; rows++) {
        const struct tm_value *check = tm_at(list, rows);

        for (size_t i = 0; i < COLUMNS; i++)
            cell[rows][i] = tm_cell_of_value(tm_column_kind(&columns[i]), tm_get(check, columns[i].key));
        cell[rows][1] = tm_cell_of_text(TM_DOC_WORD, result_of(check));
        cell[rows][5] = tm_cell_of_text(TM_DOC_NAME, tm_text(tm_get(check, "where")));
    }
    tm_emit_table(content,
                  &(struct tm_table){
                      .id = "checks",
                      .caption = "Consistency checks on this input",
                      .shows =
                          "title prose = Check, holds word = Result, expected count = Expected, found count = Found, "
                          "unit word = Unit, where name rare = Where",
                      .cells = cell[0],
                      .cell_rows = rows,
                      .paper_rows = ROWS_MOST });
}

static const char *no_checks(const struct tm_value *summary)
{
    return tm_if_none(summary, "checks", "no trace was read");
}

const struct tm_section tm_checks_section = {
    .id = "checks", .title = "Checks", .key = "checks", .say = emit_checks, .nothing = no_checks, .is_closing = true
};

/* What is not in the report, or in another document: the sections that this input cannot support or that are empty,
 * each with its reason. */

enum { REASONS_MOST = 32, TITLES_BYTES = 384, TITLE_BYTES = 96 };

struct reasons {
    struct tm_cell cell[REASONS_MOST][2];
    char titles[REASONS_MOST][TITLES_BYTES]; /* "Scopes, Balance": the sections with that reason */
    size_t count;
};

static void add_title(char *titles, const char *title)
{
    const size_t used = strlen(titles);

    (void)snprintf(titles + used, TITLES_BYTES - used, "%s%s", used ? ", " : "", title);
}

/* Sections with one reason share a row. */
static void add_section(struct reasons *reasons, const char *title, const char *why)
{
    size_t at = 0;

    while (at < reasons->count && strcmp(reasons->cell[at][1].text, why) != 0)
        at++;
    if (at == REASONS_MOST)
        return;
    if (at == reasons->count) {
        reasons->titles[at][0] = 0;
        reasons->cell[at][0] = tm_cell_of_text(TM_DOC_PROSE, reasons->titles[at]);
        reasons->cell[at][1] = tm_cell_of_text(TM_DOC_PROSE, why);
        reasons->count++;
    }
    add_title(reasons->titles[at], title);
}

static void emit_missing(const struct tm_content *content)
{
    const struct tm_document *document = tm_document_of(content->summary);
    struct reasons reasons = { .count = 0 };

    for (size_t i = 0; i < document->section_count; i++) {
        const struct tm_section *section = document->sections[i];
        const char *why = tm_section_why_not(section, content->summary);
        char sign[TM_SIGN_BYTES] = "", title[TITLE_BYTES];

        if (!*why)
            continue;
        if (tm_has(tm_get(content->summary, section->key))) /* nothing was found, in what could be read */
            (void)tm_sign_of_section(sign, content->summary, section->key);
        (void)snprintf(title, sizeof(title), "%s%s", section->title, sign);
        add_section(&reasons, title, why);
    }
    tm_emit_table(content, &(struct tm_table){ .id = "missing",
                                               .caption = "Sections without a finding and without data",
                                               .glossary = 1,
                                               .shows = "section prose = Section, why prose = Why",
                                               .cells = reasons.cell[0],
                                               .cell_rows = reasons.count,
                                               .paper_rows = REASONS_MOST });
}

static const char *not_missing(const struct tm_value *summary)
{
    const struct tm_document *document = tm_document_of(summary);

    for (size_t i = 0; i < document->section_count; i++)
        if (*tm_section_why_not(document->sections[i], summary))
            return "";
    return "all sections have content";
}

const struct tm_section tm_missing_section = {
    .id = "missing", .title = "Checked, nothing found", .say = emit_missing, .nothing = not_missing, .is_closing = true
};

const struct tm_section tm_missing_compared_section = {
    .id = "missing", .title = "Not in this comparison", .say = emit_missing, .nothing = not_missing
};

const struct tm_section tm_missing_scaled_section = {
    .id = "missing", .title = "Not in this study", .say = emit_missing, .nothing = not_missing
};

const struct tm_section tm_missing_night_section = {
    .id = "missing", .title = "Not available for this night", .say = emit_missing, .nothing = not_missing
};

const struct tm_section tm_missing_checked_section = {
    .id = "missing", .title = "Not in this check", .say = emit_missing, .nothing = not_missing
};
