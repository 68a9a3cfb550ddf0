/* SPDX-License-Identifier: Apache-2.0 */
/* Data quality: what was read, what is in no figure, and which figures that touches. */
#include <stdio.h>
#include <string.h>

#include "reports/content/say.h"
#include "reports/format/mark_signs.h"

enum { TEXTS_MOST = 100, CLASSES_MOST = 64, TOUCHED_BYTES = 512, SIGN_BYTES = 8, NEARLY_ALL = 9 };

/* --- what the losses touch --- */

/* "Devices, Idle gaps": the sections of the report that a mark touches. */
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
        (void)snprintf(out, TOUCHED_BYTES, "nearly all sections");
}

static void say_marks(const struct tm_content *content, const struct tm_value *marks)
{
    static const struct tm_column columns[] = {
        { "Mark", "mark", TM_CELL_WORD },
        { "What happened", "text", TM_CELL_PROSE },
        { "Touches", "sections", TM_CELL_PROSE },
    };
    enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };
    struct tm_cell cell[TM_MARKS_SHOWN][COLUMNS];
    char sign[TM_MARKS_SHOWN][SIGN_BYTES], touched[TM_MARKS_SHOWN][TOUCHED_BYTES];
    size_t n = 0;

    for (; n < tm_length(marks) && n < TM_MARKS_SHOWN; n++) {
        (void)snprintf(sign[n], SIGN_BYTES, "[%c]", tm_mark_letter(n));
        put_touched(touched[n], tm_at(marks, n), content->summary);
        cell[n][0] = tm_cell_of_text(TM_CELL_WORD, sign[n]);
        cell[n][1] = tm_cell_of_value(TM_CELL_PROSE, tm_get(tm_at(marks, n), "text"));
        cell[n][2] = tm_cell_of_text(TM_CELL_PROSE, touched[n]);
    }
    tm_say_table(content, &(struct tm_table){ .id = "marks",
                                              .caption = "What the losses of the input touch",
                                              TM_COLUMNS(columns),
                                              .cells = cell[0],
                                              .cell_rows = n,
                                              .anchor = "mark",
                                              .paper_rows = TM_MARKS_SHOWN });
    if (n > 0)
        tm_say(content, TM_TONE_QUIET, "The letters stand beside the figures and the headings that are touched.");
}

/* --- what was read --- */

static void say_files(const struct tm_content *content, const struct tm_value *files)
{
    static const struct tm_column columns[] = {
        { "File", "path", TM_CELL_NAME },
        { "Kind", "kind", TM_CELL_WORD },
        { "Host", "host", TM_CELL_HOST },
        { "Size", "bytes", TM_CELL_BYTES | TM_SUMS },
        { "Events", "events", TM_CELL_COUNT | TM_SUMS },
        { "Damaged", "partial", TM_CELL_WORD | TM_RARE },
        { "XXH3", "xxh3", TM_CELL_WORD },
    };

    tm_say_table(content, &(struct tm_table){ .id = "files",
                                              .caption = "Files of the input",
                                              TM_COLUMNS(columns),
                                              .rows = files,
                                              .paper_rows = 32 });
}

/* What files tell under a key: "problems", "notes". */
static void say_of_files(const struct tm_content *content, const struct tm_value *files, const char *key,
                         const char *id, const char *caption)
{
    static const struct tm_column columns[] = {
        { "File", "path", TM_CELL_NAME },
        { "What", "text", TM_CELL_PROSE },
    };
    struct tm_cell cell[TEXTS_MOST][2];
    size_t n = 0, more = 0;

    for (size_t i = 0; i < tm_length(files); i++) {
        const struct tm_value *texts = tm_get(tm_at(files, i), key);

        for (size_t k = 0; k < tm_length(texts) && n < TEXTS_MOST; k++, n++) {
            cell[n][0] = tm_cell_of_value(TM_CELL_NAME, tm_get(tm_at(files, i), "path"));
            cell[n][1] = tm_cell_of_value(TM_CELL_PROSE, tm_at(texts, k));
        }
        more += tm_length(texts);
    }
    tm_say_table(content, &(struct tm_table){ .id = id,
                                              .caption = caption,
                                              TM_COLUMNS(columns),
                                              .cells = cell[0],
                                              .cell_rows = n,
                                              .paper_rows = 24 });
    if (more > n)
        tm_say(content, TM_TONE_QUIET, "%zu more in summary.json.", more - n);
}

static void say_warnings(const struct tm_content *content, const struct tm_value *warnings)
{
    static const struct tm_column columns[] = { { "Warning", "text", TM_CELL_PROSE } };
    struct tm_cell cell[TEXTS_MOST];
    size_t n = 0;

    for (; n < tm_length(warnings) && n < TEXTS_MOST; n++)
        cell[n] = tm_cell_of_value(TM_CELL_PROSE, tm_at(warnings, n));
    tm_say_table(content, &(struct tm_table){ .id = "warnings",
                                              .caption = "Warnings of the profiler",
                                              TM_COLUMNS(columns),
                                              .cells = cell,
                                              .cell_rows = n,
                                              .paper_rows = 20 });
}

/* --- what became of it --- */

static void say_tallies(const struct tm_content *content, const struct tm_value *tallies)
{
    static const struct tm_column columns[] = {
        { "What", "help", TM_CELL_PROSE },
        { "Level", "level", TM_CELL_WORD },
        { "Count", "count", TM_CELL_COUNT },
        { "Name", "", TM_CELL_WORD },
    };

    if (tm_length(tallies) == 0) {
        tm_say(content, TM_TONE_GOOD, "Nothing was left out and nothing was repaired.");
        return;
    }
    tm_say_table(content, &(struct tm_table){ .id = "tallies",
                                              .caption = "What is in no figure, or was repaired",
                                              TM_COLUMNS(columns),
                                              .rows = tallies,
                                              .paper_rows = 40 });
    tm_say(content, TM_TONE_QUIET, "A loss may make figures smaller than they were; a note does not.");
}

/* The class of events in words; a class without any as the summary names it. */
static const char *words_of_class(const char *class)
{
    static const char *const words[][2] = {
        { "unresolved", "not told apart" },
        { "kernel", "kernels" },
        { "collective", "collectives" },
        { "copy", "copies" },
        { "memset", "fills of memory" },
        { "graph", "CUDA graphs" },
        { "tpu_op", "operations of a TPU" },
        { "tpu_async", "copies and collectives beside a TPU core" },
        { "cpu_op", "operations run by the CPU" },
        { "derived", "lines that the profiler worked out" },
        { "device_other", "other lines of a device" },
        { "step_marker", "step markers" },
        { "alloc", "allocations" },
        { "free", "frees" },
        { "sync", "waits of the host for a device" },
        { "launch", "launches" },
        { "compile", "compiles" },
        { "input", "loading of data" },
        { "gc", "garbage collection" },
        { "profiler", "the profiler itself" },
        { "python", "Python functions" },
        { "runtime", "runtime and driver calls" },
        { "annotation", "annotations" },
        { "framework_op", "operations of the framework on the host" },
        { "module", "executions of programs" },
        { "counter", "counters" },
        { "instant", "moments without a length" },
        { "flow", "arrows between events" },
        { "async", "asynchronous spans" },
        { "other", "others" },
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(words[i][0], class) == 0)
            return words[i][1];
    return class;
}

static void say_classes(const struct tm_content *content, const struct tm_value *classes)
{
    static const struct tm_column columns[] = {
        { "Kind of event", "class", TM_CELL_WORD },
        { "Events", "count", TM_CELL_COUNT },
    };
    struct tm_cell cell[CLASSES_MOST][2];
    size_t n = 0;

    for (size_t i = 0; i < tm_length(classes) && n < CLASSES_MOST; i++) {
        if (tm_int(tm_value_at(classes, i)) == 0)
            continue;
        cell[n][0] = tm_cell_of_text(TM_CELL_WORD, words_of_class(tm_key_at(classes, i)));
        cell[n++][1] = tm_cell_of_value(TM_CELL_COUNT, tm_value_at(classes, i));
    }
    tm_say_table(content, &(struct tm_table){ .id = "event-classes",
                                              .caption = "Events by kind",
                                              TM_COLUMNS(columns),
                                              .cells = cell[0],
                                              .cell_rows = n,
                                              .paper_rows = CLASSES_MOST });
}

static void say_coverage(const struct tm_content *content)
{
    static const struct tm_column facts[] = {
        { "Events read", "events_read", TM_CELL_COUNT },
        { "Events in figures", "events_used", TM_CELL_COUNT },
    };
    const struct tm_value *coverage = tm_of(content, "coverage"), *files = tm_of(content, "input.files");

    if (tm_is(tm_of(content, "input.partial")))
        tm_say(content, TM_TONE_WARNING, "The input is damaged or cut short: a figure may be smaller than the truth.");
    tm_say_facts(content, "coverage-facts", TM_FACTS(facts), coverage);
    say_marks(content, tm_get(coverage, "marks"));
    say_tallies(content, tm_get(coverage, "tallies"));
    say_warnings(content, tm_get(coverage, "warnings"));
    say_of_files(content, files, "problems", "file-problems", "Problems of the input");
    say_of_files(content, files, "notes", "file-notes", "What the input lacks");
    say_files(content, files);
    say_classes(content, tm_get(coverage, "classes"));
}

const struct tm_section tm_coverage_section = { "coverage", "Data quality", "coverage", say_coverage, NULL };
