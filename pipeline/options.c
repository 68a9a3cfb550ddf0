/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of options, and how the text of each kind is read, filters among them.  Nothing is allocated: a value
 * is a number, a choice, or the text itself, which lives as long as the process. */
#include "pipeline/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "pipeline/error.h"
#include "pipeline/record.h"
#include "pipeline/stage.h"
#include "pipeline/store/budget.h"
#include "pipeline/strings.h"

/* --- filters --- Parses a filter into a term.  Each kind has a row: its keyword, its value, and its parser.  Nothing
 * is copied: patterns and names refer to the original text. */

/* On both sides of an event, if not given. */
#define TM_AROUND_PS INT64_C(1000000000)

/* A term on its way from text to numbers. */
struct reading {
    const char *text, *origin; /* all of it, for messages */
    const char *value;         /* after the word */
    struct tm_filter_term *term;
    struct tm_error *error;
};

static tm_status refuse_filter(const struct reading *r, const char *reason, const char *hint)
{
    (void)tm_fail(r->error, TM_ERR_USAGE, -1, "cannot use '%s' for %s: %s", r->text, r->origin, reason);
    if (hint)
        tm_hint(r->error, "%s", hint);
    return TM_ERR_USAGE;
}

static tm_status read_period(const struct reading *r)
{
    static const char hint[] = "a time is BEGIN:END after the first event, as in time=1.5s:2s, time=1.5s: or time=:2s";
    const char *const colon = strchr(r->value, ':');
    struct tm_filter_term *const term = r->term;
    struct tm_wrong wrong;

    term->begin = 0;
    term->end = INT64_MAX;
    if (!colon || !r->value[1])
        return refuse_filter(r, "it is not a time range", hint);
    if (colon > r->value && !tm_read_time(r->value, (size_t)(colon - r->value), &term->begin, &wrong))
        return refuse_filter(r, wrong.reason, wrong.hint ? wrong.hint : hint);
    if (colon[1] && !tm_read_time(colon + 1, strlen(colon + 1), &term->end, &wrong))
        return refuse_filter(r, wrong.reason, wrong.hint ? wrong.hint : hint);
    return term->begin < term->end ? TM_OK : refuse_filter(r, "the range is empty", NULL);
}

static tm_status read_least(const struct reading *r)
{
    struct tm_wrong wrong;

    if (!tm_read_time(r->value, strlen(r->value), &r->term->begin, &wrong))
        return refuse_filter(r, wrong.reason, wrong.hint ? wrong.hint : "write it as in min=10us");
    return TM_OK;
}

static tm_status read_step_term(const struct reading *r)
{
    static const char hint[] =
        "steps are numbered from 0: step=3:7 selects 3, 4, 5 and 6, step=3 only step 3, step=3: all from step 3 on";
    const char *at = r->value;
    uint64_t begin, end;

    if (tm_take_digits(&at, &begin) && !at[0])
        end = begin + (begin < INT64_MAX);
    else if (!tm_read_range(r->value, &begin, &end))
        return refuse_filter(r, "it is neither a step nor a range of steps", hint);
    if (begin >= end || begin > INT64_MAX)
        return refuse_filter(r, "the range is empty", NULL);
    r->term->begin = (int64_t)begin;
    r->term->end = end > INT64_MAX ? INT64_MAX : (int64_t)end;
    return TM_OK;
}

/* Whether it is KIND or KIND:N; "host" has no number. */
static bool is_device(const char *text)
{
    static const char *const kinds[] = { "gpu", "tpu", "cpu" };
    const size_t length = strcspn(text, ":");
    const char *number = text + length + 1;
    uint64_t ordinal;

    if (strcmp(text, "host") == 0)
        return true;
    if (text[length] && (!tm_take_digits(&number, &ordinal) || number[0]))
        return false;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strlen(kinds[i]) == length && memcmp(text, kinds[i], length) == 0)
            return true;
    }
    return false;
}

static tm_status read_device(const struct reading *r)
{
    const char *const slash = strrchr(r->value, '/');

    if (slash == r->value || !is_device(slash ? slash + 1 : r->value))
        return refuse_filter(
            r, "it is not a device",
            "use device=gpu:0, device=HOST/gpu:0, device=gpu for all GPUs, or device=host for events that belong to "
            "no device");
    r->term->text = r->value;
    return TM_OK;
}

static tm_status read_pattern(const struct reading *r)
{
    const char *const wrong = tm_glob_wrong(r->value);

    if (wrong)
        return refuse_filter(r, wrong, "patterns work as in a shell: * any text, ? one character, [a-z] one of these");
    r->term->text = r->value;
    return TM_OK;
}

/* The times of events: a pattern, and for `around` how much more on both sides. */
static tm_status read_within(const struct reading *r)
{
    return *r->value ? read_pattern(r) : refuse_filter(r, "it has no name", "write it as in within='train_step*'");
}

static tm_status read_around(const struct reading *r)
{
    const char *const colon = strchr(r->value, ':');
    struct reading name = *r;
    struct tm_wrong wrong;

    r->term->begin = TM_AROUND_PS;
    if (colon && tm_read_time(r->value, (size_t)(colon - r->value), &r->term->begin, &wrong))
        name.value = colon + 1;
    else
        r->term->begin = TM_AROUND_PS;
    return read_within(&name);
}

static tm_status read_class(const struct reading *r)
{
    struct tm_nearest nearest = { 0 };

    for (int class = TM_CLASS_UNRESOLVED + 1; class < TM_CLASS_COUNT; class ++) {
        if (strcmp(r->value, tm_class_name[class]) == 0) {
            r->term->begin = class;
            r->term->text = r->value;
            return TM_OK;
        }
        tm_nearest_offer(&nearest, r->value, tm_class_name[class]);
    }
    (void)refuse_filter(r, "there is no such class", NULL);
    if (nearest.word)
        tm_hint(r->error, "did you mean 'class=%s'?", nearest.word);
    else
        tm_hint(r->error, "the classes are kernel, collective, copy, python and others: docs/classes.md");
    return TM_ERR_USAGE;
}

/* "python=100us", behind "min." */
static tm_status read_least_of_class(const struct reading *r)
{
    static const char hint[] = "write it as in min.python=100us";
    const char *const sign = strchr(r->value, '=');
    char name[64];
    struct reading class = *r, least = *r;

    if (!sign || (size_t)(sign - r->value) >= sizeof(name))
        return refuse_filter(r, "it names no class and time", hint);
    memcpy(name, r->value, (size_t)(sign - r->value));
    name[sign - r->value] = '\0';
    class.value = name;
    least.value = sign + 1;
    if (read_class(&class))
        return TM_ERR_USAGE;
    r->term->end = r->term->begin;
    r->term->text = NULL; /* it was the copy */
    return read_least(&least);
}

static const struct {
    const char *word; /* with what is before the value */
    tm_status (*read)(const struct reading *r);
    enum tm_filter_kind kind;
} kinds[] = {
    { "time=", read_period, TM_FILTER_TIME },       { "device=", read_device, TM_FILTER_DEVICE },
    { "step=", read_step_term, TM_FILTER_STEP },    { "name=", read_pattern, TM_FILTER_NAME },
    { "name!=", read_pattern, TM_FILTER_NOT_NAME }, { "min=", read_least, TM_FILTER_MIN },
    { "class=", read_class, TM_FILTER_CLASS },      { "class!=", read_class, TM_FILTER_NOT_CLASS },
    { "track=", read_pattern, TM_FILTER_TRACK },    { "min.", read_least_of_class, TM_FILTER_MIN_CLASS },
    { "within=", read_within, TM_FILTER_AROUND },   { "around=", read_around, TM_FILTER_AROUND },
};

tm_status tm_filter_read(struct tm_filter *filter, const char *text, const char *origin, struct tm_error *error)
{
    struct reading r = { .text = text, .origin = origin, .error = error };

    if (filter->count == TM_FILTER_TERMS)
        return tm_fail(error, TM_ERR_USAGE, -1, "cannot use '%s' for %s: there are more than %d filters", text, origin,
                       TM_FILTER_TERMS);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const size_t length = strlen(kinds[i].word);
        tm_status st;

        if (strncmp(text, kinds[i].word, length) != 0)
            continue;
        r.value = text + length;
        r.term = &filter->terms[filter->count];
        *r.term = (struct tm_filter_term){ .kind = (uint8_t)kinds[i].kind };
        st = kinds[i].read(&r);
        filter->count += st == TM_OK;
        return st;
    }
    return refuse_filter(&r, "it is not a filter",
                         "a filter is time=, within=, around=, device=, step=, name=, name!=, min=, min.CLASS=, "
                         "class=, class!= or track=,"
                         " and a value,"
                         " as in name='fusion*'");
}

/* --- options --- */

/* verbs that write traces */
#define TRACES (TM_FOR_CONVERT | TM_FOR_SPLIT)
/* verbs that write a document of several runs */
#define STUDIES (TM_FOR_COMPARE | TM_FOR_SCALING)
/* verbs that write a document */
#define REPORTS (TM_FOR_REPORT | STUDIES)
/* verbs that analyze traces of a batch */
#define WORKS (TM_FOR_BATCH | TM_FOR_BATCH_RUN | TM_FOR_BATCH_ITEM | TM_FOR_BATCH_SUBMIT)
/* and by which its results are put together */
#define JOINS (TM_FOR_BATCH | TM_FOR_BATCH_MERGE | TM_FOR_BATCH_SUBMIT)
/* and whose results a bucket has, too */
#define MIRRORS (JOINS | TM_FOR_BATCH_PRUNE)
/* and by which they are found */
#define SCANS (TM_FOR_BATCH | TM_FOR_BATCH_SCAN | TM_FOR_BATCH_SUBMIT)
#define BATCHES (WORKS | JOINS | SCANS | TM_FOR_BATCH_PRUNE | TM_FOR_BATCH_EXPORT | TM_FOR_BATCH_JOIN)
/* verbs that write reports: merging joins hosts to runs */
#define ANALYSES (TM_FOR_REPORT | WORKS | TM_FOR_BATCH_MERGE)
/* of a run it makes a report and a trace */
#define OPENS TM_FOR_OPEN
/* verbs that print some of the figures */
#define PRINTS (TM_FOR_BRIEF | TM_FOR_SHOW | TM_FOR_QUERY)
/* verbs that compute figures */
#define FIGURES (REPORTS | TRACES | TM_FOR_CHECK | ANALYSES | PRINTS | OPENS)
/* of them those of one run */
#define CHOICES (STUDIES | TRACES | TM_FOR_CHECK | TM_FOR_REPORT | PRINTS | OPENS)
/* verbs that choose a run */
#define RUNS (CHOICES | TM_FOR_INSPECT | TM_FOR_EXTRACT)
/* verbs that read buckets */
#define BUCKETS (RUNS | TM_FOR_LIST | BATCHES)
#define JOBS (TM_FOR_ALL & ~TM_FOR_WORDS)

/* A part has to hold its rows and an event: a few hundred bytes for each row. */
enum { PART_LEAST_BYTES = 64 << 10 };

/* Processes, tasks and shares: more than any machine or array job has. */
enum { TM_NUMBER_MOST = 100000 };

/* One value being parsed: the data that a parser needs to fill the field or to report an error. */
struct tm_reading {
    const struct tm_option *option;
    const char *text, *origin;
    void *field;
    struct tm_options *options;
    struct tm_error *error;
};

static tm_option_reader read_steps, read_by, read_shard, read_filter;

#define FIELD(name) offsetof(struct tm_options, name)

/* A number as the table has defaults. */
#define TEXT_OF(number) #number
#define NUMBER_TEXT(number) TEXT_OF(number)

/* clang-format off */
const struct tm_option tm_option_table[TM_OPTION_COUNT] = {
    [TM_OPTION_OUTPUT] = {
        "output", TM_KIND_TEXT, REPORTS | TRACES | TM_FOR_EXTRACT | (BATCHES & ~TM_FOR_BATCH_PRUNE), FIELD(output),
        .letter = 'o', .argument = "DIR|FILE",
        .help =
        "output path; report, compare, scaling: a folder (default: NAME.report/ etc. in the working folder); "
        "convert: a file, whose extension selects the format (default: NAME.pftrace); split: a folder (default: "
        "NAME.split/); batch: the output folder; batch scan, batch export: a file (default: stdout)" },
    [TM_OPTION_FORMAT] = {
        "format", TM_KIND_WORDS, REPORTS | TM_FOR_SPLIT | ANALYSES, FIELD(formats),
        .argument = "LIST", .words = "html pdf json text partial perfetto pftrace markdown csv collapsed",
        .fallback = "html,pdf,json,text",
        .help =
        "output formats, separated by commas; report and batch: html, pdf, json, text, markdown, csv, collapsed, partial "
        "and perfetto; compare: html, pdf, json, text, markdown, csv and perfetto; scaling: html, pdf, json, text, markdown and csv; split: pftrace (default) or json" },
    [TM_OPTION_TITLE] = {
        "title", TM_KIND_TEXT, REPORTS, FIELD(title), .argument = "TEXT",
        .help = "title of the report (default: the name of the run)" },
    [TM_OPTION_NOTE] = {
        "note", TM_KIND_TEXT, REPORTS | ANALYSES, FIELD(note), .argument = "TEXT",
        .help = "a paragraph at the top of the report" },
    [TM_OPTION_PAPER] = {
        "paper", TM_KIND_WORD, REPORTS | ANALYSES, FIELD(paper), .argument = "a4|letter",
        .words = "a4 letter", .fallback = "a4",
        .help = "paper size of the PDF" },
    [TM_OPTION_REDACT] = {
        "redact", TM_KIND_FLAG, TM_FOR_REPORT | TM_FOR_BRIEF | TM_FOR_SHOW | TRACES, FIELD(redact),
        .help =
        "replace names of hosts, users, paths, programs and operations by pseudonyms in all outputs" },
    [TM_OPTION_REDACT_MAP] = {
        "redact-map", TM_KIND_TEXT, TM_FOR_REPORT | TRACES, FIELD(redact_map),
        .argument = "FILE",
        .help =
        "with --redact: write the map from pseudonyms to names to FILE, and reuse its existing pseudonyms; do not "
        "share this file" },
    [TM_OPTION_STEPS] = {
        "steps", TM_KIND_OWN, FIGURES, FIELD(steps), .argument = "auto|all|A:B",
        .words = "auto all", .fallback = "auto", .read = read_steps,
        .help = "steps to analyze: auto excludes warm-up and incomplete steps, all includes all activity, A:B "
          "selects steps A to B-1, numbered from 0; either end can be omitted" },
    [TM_OPTION_SKIP_STEPS] = {
        "skip-steps", TM_KIND_NUMBER, FIGURES, FIELD(skip_steps), .argument = "N",
        .fallback = "auto", .most = INT64_MAX, .flags = TM_OPTION_AUTO,
        .help = "treat the first N steps as warm-up; auto decides by step time and compiles" },
    [TM_OPTION_WINDOW] = {
        "window", TM_KIND_WORD, FIGURES, FIELD(window), .argument = "steps|session",
        .words = "steps session", .fallback = "steps",
        .help =
        "time range that shares refer to: from the start of the first analyzed step to the end of the last one, or "
        "the whole profiling session" },
    [TM_OPTION_GAP_MIN] = {
        "gap-min", TM_KIND_TIME, FIGURES, FIELD(gap_min_ps), .argument = "TIME",
        .fallback = "10us",
        .help = "minimum duration of listed idle gaps; sums include all gaps" },
    [TM_OPTION_ROWS] = {
        "rows", TM_KIND_NUMBER, REPORTS | TM_FOR_CHECK | TM_FOR_SHOW | TM_FOR_QUERY | ANALYSES, FIELD(rows), .argument = "N",
        .fallback = NUMBER_TEXT(TM_ROWS_USUAL), .least = 1, .most = TM_ROWS_MOST,
        .help =
        "maximum number of rows per table, plus one for the rest; 2,000 with --format csv; for steps, the first and "
        "the slowest 1,000 each" },
    [TM_OPTION_TOP] = {
        "top", TM_KIND_NUMBER, TM_FOR_SHOW | TM_FOR_QUERY, FIELD(top), .argument = "N",
        .least = 1, .most = TM_ROWS_MOST, .flags = TM_OPTION_NO_KEY | TM_OPTION_NO_ENVIRONMENT,
        .help = "print only the first N rows after filtering and sorting" },
    [TM_OPTION_WHERE] = {
        "where", TM_KIND_TEXT, TM_FOR_SHOW, FIELD(where), .argument = "CONDITION",
        .flags = TM_OPTION_NO_KEY | TM_OPTION_NO_ENVIRONMENT,
        .help =
        "print only matching rows, as in 'self_share_pct > 5 and not name ~ \"copy\"': fields of the rows, = != < <= "
        "> >=, ~ and !~ (contains), is null, and, or, not, parentheses; numbers can have units: 10us, 5%, 1GiB" },
    [TM_OPTION_SORT] = {
        "sort", TM_KIND_TEXT, TM_FOR_SHOW, FIELD(sort), .argument = "FIELD,...",
        .flags = TM_OPTION_NO_KEY | TM_OPTION_NO_ENVIRONMENT,
        .help = "sort rows by this field in ascending order; -FIELD: in descending order" },
    [TM_OPTION_FIELDS] = {
        "fields", TM_KIND_TEXT, TM_FOR_SHOW, FIELD(fields), .argument = "FIELD,...",
        .flags = TM_OPTION_NO_KEY | TM_OPTION_NO_ENVIRONMENT,
        .help = "print these fields of each row, in this order; for members of a field, write idle_ps.host" },
    [TM_OPTION_FILTER] = {
        "filter", TM_KIND_OWN, TRACES | TM_FOR_QUERY, FIELD(filter), .argument = "TERM", .read = read_filter,
        .flags = TM_OPTION_MANY,
        .help = "write only matching events: time=A:B, within=GLOB (the time of events of that name), around=TIME:GLOB, "
          "device=gpu:0, step=A:B, name=GLOB, name!=GLOB, min=TIME, min.CLASS=TIME, class=NAME, class!=NAME, track=GLOB; can "
          "be repeated" },
    [TM_OPTION_ARGS] = {
        "args", TM_KIND_WORD, TRACES | TM_FOR_QUERY | TM_FOR_OPEN | TM_FOR_COMPARE, FIELD(args), .argument = "all|essential|none",
        .words = "all essential none", .fallback = "all",
        .help = "event arguments to write; fewer arguments make a trace much faster to open" },
    [TM_OPTION_ARGUMENTS] = {
        "arguments", TM_KIND_FLAG, TM_FOR_INSPECT, FIELD(arguments),
        .help = "list the arguments of events by the bytes that they take, and which of them --args essential keeps; reads the "
        "events once more" },
    [TM_OPTION_ZSTD] = {
        "zstd", TM_KIND_FLAG, TRACES | TM_FOR_COMPARE, FIELD(zstd),
        .help = "compress the packets of a .pftrace with zstd: a smaller file, which only Perfetto 58 or later can read" },
    [TM_OPTION_PLAIN] = {
        "plain", TM_KIND_FLAG, TRACES, FIELD(plain),
        .help = "write only recorded events, without analysis: no steps, gaps, counters or findings" },
    [TM_OPTION_DEVICE_ROWS] = {
        "device-rows", TM_KIND_WORDS, TRACES | TM_FOR_OPEN | TM_FOR_COMPARE, FIELD(device_rows), .argument = "LIST",
        .words = "modules scopes ops sources collectives kernels none", .fallback = "modules,scopes,collectives",
        .help =
        "rows beside the streams of a device, separated by commas: XLA modules, framework scopes, HLO ops, source lines, "
        "collectives by communicator; kernels: again as the GPU plugin of Perfetto 58 reads them, with launch details" },
    [TM_OPTION_OVERVIEW] = {
        "overview", TM_KIND_FLAG, TRACES, FIELD(overview),
        .help = "write an overview that opens in seconds, whatever the size of the run: short slices of a row are merged, "
          "with their number, sum and maximum; convert: for .pftrace; split: overview.pftrace beside the parts, in which each "
          "step names its part, even if there is only one part" },
    [TM_OPTION_NO_OVERVIEW] = {
        "no-overview", TM_KIND_FLAG, TM_FOR_SPLIT, FIELD(no_overview),
        .help = "write no overview.pftrace beside the parts, which takes some time and memory" },
    [TM_OPTION_RAW] = {
        "raw", TM_KIND_FLAG, REPORTS | TM_FOR_CONVERT | TM_FOR_SHOW | TM_FOR_QUERY, FIELD(raw),
        .help =
        "write texts in CSV without escapes: control characters and bidirectional marks as recorded" },
    [TM_OPTION_BY] = {
        "by", TM_KIND_OWN, TM_FOR_SPLIT, FIELD(by), .argument = "WHERE",
        .words = "step device time=1s", .read = read_by,
        .help =
        "additional boundaries of parts: step or step=N, after every N steps; time=TIME, after this time; name=GLOB, where an "
        "event of that name starts; device: separate parts per device, and for events that belong to no device" },
    [TM_OPTION_MAX_EVENTS] = {
        "max-events", TM_KIND_NUMBER, TM_FOR_SPLIT | TM_FOR_COMPARE, FIELD(part_events), .argument = "N",
        .fallback = "1000000", .least = 1, .most = UINT64_MAX,
        .help = "split: maximum number of slices per part; compare: maximum number of slices in the trace, in whole steps" },
    [TM_OPTION_MAX_SIZE] = {
        "max-size", TM_KIND_SIZE, TM_FOR_SPLIT, FIELD(part_bytes), .argument = "SIZE",
        .fallback = "95M", .least = PART_LEAST_BYTES, .why_least = ", which a part needs",
        .help = "maximum size of a part, before compression" },
    [TM_OPTION_RESULTS] = {
        "results", TM_KIND_TEXT, TM_FOR_COMPARE, FIELD(results), .argument = "FILE",
        .help =
        "benchmark results as JSON, {\"NAME\": {\"execution_time\": SECONDS, \"tensorboard_trace\": PATH}}: each "
        "trace becomes a run with that name and measured time" },
    [TM_OPTION_TIME_UNIT] = {
        "time-unit", TM_KIND_WORD, TM_FOR_COMPARE, FIELD(time_unit), .argument = "auto|s|ms|us|ns",
        .words = "auto s ms us ns", .fallback = "auto",
        .help =
        "unit of the times in --results; auto: seconds, or the unit in which all of them are the step times of their "
        "profiles" },
    [TM_OPTION_FAIL_ON] = {
        "fail-on", TM_KIND_TEXT, TM_FOR_COMPARE, FIELD(fail_on), .argument = "GATE",
        .flags = TM_OPTION_MANY,
        .help =
        "exit with status 1 if this condition is true, as in 'step_time>+5%': a figure of the summary, then a value "
        "or a change (per step for sums); or regression, the verdict of the comparison; can be repeated" },
    [TM_OPTION_HISTORY] = {
        "history", TM_KIND_TEXT, TM_FOR_COMPARE | TM_FOR_BRIEF, FIELD(history), .argument = "[JOB=]DB",
        .help =
        "history.db of a batch, as the source of the run-to-run variation that a change of the step time or of a "
        "gate's figure must exceed; the job is that of the runs, or JOB" },
    [TM_OPTION_RUN_SPREAD] = {
        "run-spread", TM_KIND_TEXT, TM_FOR_COMPARE | TM_FOR_BRIEF, FIELD(run_spread), .argument = "PCT",
        .help =
        "run-to-run variation of the same program, such as 3%, which a change of the step time must exceed" },
    [TM_OPTION_GATE] = {
        "gate", TM_KIND_TEXT, TM_FOR_CHECK | JOINS, FIELD(gate), .argument = "FILE",
        .help = "gate file (limits as JSON)" },
    [TM_OPTION_BASELINE] = {
        "baseline", TM_KIND_TEXT, TM_FOR_CHECK | JOINS, FIELD(baseline), .argument = "PATH",
        .flags = TM_OPTION_MANY,
        .help =
        "summary or profile that relative limits refer to; can be repeated for several runs of the same program; "
        "batch: for each job, the last good run (last-good), the last N (median:N), those of a night (night:DATE) or "
        "with a label (label:TEXT), or a path" },
    [TM_OPTION_FAIL_ON_REGRESSION] = {
        "fail-on-regression", TM_KIND_WORD, JOINS, FIELD(fail_on_regression), .argument = "yes|no",
        .words = "yes no", .fallback = "yes",
        .help = "exit with status 1 while a regression is open and not acknowledged" },
    [TM_OPTION_REASON] = {
        "reason", TM_KIND_TEXT, TM_FOR_BATCH_ACK | TM_FOR_BATCH_ACCEPT, FIELD(reason), .argument = "TEXT",
        .flags = TM_OPTION_NO_KEY | TM_OPTION_NO_ENVIRONMENT,
        .help = "why a regression is acknowledged or accepted: shown beside it" },
    [TM_OPTION_INIT] = {
        "init", TM_KIND_FLAG, TM_FOR_CHECK, FIELD(init),
        .flags = TM_OPTION_NO_ENVIRONMENT,
        .help = "create a gate file from the run and write it to --gate (default: stdout)" },
    [TM_OPTION_JUNIT] = {
        "junit", TM_KIND_TEXT, TM_FOR_CHECK | JOINS, FIELD(junit), .argument = "FILE",
        .help = "also write the result as JUnit XML" },
    [TM_OPTION_CSV] = {
        "csv", TM_KIND_FLAG, TM_FOR_SHOW | TM_FOR_QUERY | TM_FOR_BATCH_TREND, FIELD(as_csv),
        .flags = TM_OPTION_NO_KEY | TM_OPTION_NO_ENVIRONMENT,
        .help = "print CSV for spreadsheets and data frames: all fields, exact numbers" },
    [TM_OPTION_AS_MARKDOWN] = {
        "markdown", TM_KIND_FLAG, PRINTS | TM_FOR_SCHEMA, FIELD(as_markdown),
        .flags = TM_OPTION_NO_KEY | TM_OPTION_NO_ENVIRONMENT, .of_verbs = "brief show query schema",
        .help = "print Markdown for pull requests and chats" },
    [TM_OPTION_MARKDOWN] = {
        "markdown", TM_KIND_TEXT, TM_FOR_CHECK | JOINS, FIELD(markdown), .argument = "FILE",
        .help = "also write the result as Markdown" },
    [TM_OPTION_MANIFEST] = {
        "manifest", TM_KIND_TEXT, TM_FOR_BATCH_RUN | TM_FOR_BATCH_ITEM | TM_FOR_BATCH_SUBMIT, FIELD(manifest),
        .argument = "FILE",
        .help = "the list of traces written by batch scan" },
    [TM_OPTION_JOBS] = {
        "jobs", TM_KIND_NUMBER, WORKS | JOINS | FIGURES | TM_FOR_INSPECT, FIELD(jobs), .letter = 'j', .argument = "N|auto",
        .words = "auto", .fallback = "auto", .least = 1, .most = TM_NUMBER_MOST, .flags = TM_OPTION_AUTO,
        .help = "number of traces to read in parallel, with one process each; more than "
          "1: also read a large file with a second thread and write its outputs in parallel; auto: as many as cores and "
          "memory allow" },
    [TM_OPTION_SHARD] = {
        "shard", TM_KIND_OWN, TM_FOR_BATCH_RUN, FIELD(shard), .argument = "I/N|auto/N",
        .fallback = "auto", .read = read_shard,
        .help =
        "process share I of N, numbered from 0; auto: take I, and N unless given, from the environment of Slurm, "
        "Kubernetes or GNU parallel; otherwise process everything" },
    [TM_OPTION_ITEM] = {
        "item", TM_KIND_TEXT, TM_FOR_BATCH_ITEM, FIELD(item), .argument = "ITEM",
        .flags = TM_OPTION_NO_KEY | TM_OPTION_NO_ENVIRONMENT,
        .help = "the item of the manifest to process: its number, from 0, ID, or ID/HOST" },
    [TM_OPTION_LEASE] = {
        "lease", TM_KIND_TIME, TM_FOR_BATCH_RUN | TM_FOR_BATCH_ITEM, FIELD(lease_ps), .argument = "TIME",
        .fallback = "0s",
        .help =
        "take one trace after the other, beside any number of other workers with this option; what a killed worker "
        "held is taken over after TIME; 0s: batch run works alone, or on its share, batch item uses 60s" },
    [TM_OPTION_ITEM_TIMEOUT] = {
        "item-timeout", TM_KIND_TIME, WORKS | JOINS, FIELD(item_time_ps), .argument = "TIME",
        .fallback = "3600s",
        .help = "time limit per trace; 0s: none" },
    [TM_OPTION_RETRY] = {
        "retry", TM_KIND_FLAG, WORKS, FIELD(retry),
        .help = "retry traces that could not be read before, although they have not changed" },
    [TM_OPTION_KEYS] = {
        "keys", TM_KIND_TEXT, SCANS, FIELD(keys), .argument = "TEMPLATE",
        .help =
        "meaning of the folder levels below ROOT, as in '{job}/{night}/{revision}': job, night, revision, label, "
        "step, and {} for anything else (default: guessed from the path)" },
    [TM_OPTION_LABEL] = {
        "label", TM_KIND_TEXT, SCANS, FIELD(labels), .argument = "KEY=VALUE",
        .flags = TM_OPTION_MANY,
        .help = "set a key of all traces: job, night, revision, label, or any other, which separates series; can be repeated" },
    [TM_OPTION_NIGHT_OF] = {
        "night-of", TM_KIND_TEXT, SCANS, FIELD(night_of), .argument = "TZ,HH:MM",
        .help = "time zone, and the local time at which a night starts, as in 'Europe/Berlin, 18:00': runs of the 24 hours "
        "after it are one night (default: days in UTC)" },
    [TM_OPTION_CONFIRM] = {
        "confirm", TM_KIND_NUMBER, JOINS, FIELD(confirm), .argument = "N",
        .fallback = "1", .least = 1, .most = 100,
        .help = "raise an alarm for a regression only once N runs show it; jobs to run again are listed in OUT/confirm.txt" },
    [TM_OPTION_SERIES_BY] = {
        "series-by", TM_KIND_WORDS, JOINS, FIELD(series_by), .argument = "LIST",
        .words = "host driver libraries",
        .help = "what also separates the series of a job, separated by commas: host, driver, libraries; model, number of "
        "devices and hosts, and --label KEY=VALUE always do" },
    [TM_OPTION_OPENMETRICS] = {
        "openmetrics", TM_KIND_TEXT, JOINS, FIELD(openmetrics), .argument = "FILE",
        .help = "also write the newest figures of each job for a metrics scraper" },
    [TM_OPTION_SLURM] = {
        "slurm", TM_KIND_FLAG, TM_FOR_BATCH_SUBMIT, FIELD(slurm),
        .flags = TM_OPTION_NO_ENVIRONMENT,
        .help = "submit to Slurm: an array job and a dependent merge job" },
    [TM_OPTION_KUBERNETES] = {
        "kubernetes", TM_KIND_FLAG, TM_FOR_BATCH_SUBMIT, FIELD(kubernetes),
        .flags = TM_OPTION_NO_ENVIRONMENT,
        .help = "print an Indexed Job and a merge Job for 'kubectl apply -f -'" },
    [TM_OPTION_IMAGE] = {
        "image", TM_KIND_TEXT, TM_FOR_BATCH_SUBMIT, FIELD(image), .argument = "IMAGE",
        .help = "container image of the Kubernetes Jobs, with tracemill and sh in it" },
    [TM_OPTION_MOUNT] = {
        "mount", TM_KIND_TEXT, TM_FOR_BATCH_SUBMIT, FIELD(mounts), .argument = "CLAIM:PATH[:ro]",
        .flags = TM_OPTION_MANY,
        .help = "volume claim of the Kubernetes Jobs and its path, which is the same here; can be repeated" },
    [TM_OPTION_TASKS] = {
        "tasks", TM_KIND_NUMBER, TM_FOR_BATCH_SUBMIT, FIELD(tasks), .argument = "N|auto",
        .words = "auto", .fallback = "auto", .least = 1, .most = TM_NUMBER_MOST, .flags = TM_OPTION_AUTO,
        .help = "number of tasks of the array job; auto: depends on the amount of work" },
    [TM_OPTION_SBATCH] = {
        "sbatch", TM_KIND_TEXT, TM_FOR_BATCH_SUBMIT, FIELD(sbatch), .argument = "OPTION",
        .flags = TM_OPTION_MANY,
        .help = "sbatch option for both jobs, as in '--sbatch=--partition=night'; can be repeated" },
    [TM_OPTION_DRY_RUN] = {
        "dry-run", TM_KIND_FLAG, WORKS | TM_FOR_BATCH_PRUNE, FIELD(dry_run),
        .flags = TM_OPTION_NO_ENVIRONMENT,
        .help = "only print what would be done" },
    [TM_OPTION_KEEP_DATABASE] = {
        "keep", TM_KIND_TEXT, TM_FOR_QUERY, FIELD(keep_database), .argument = "FILE",
        .flags = TM_OPTION_NO_KEY | TM_OPTION_NO_ENVIRONMENT, .of_verbs = "query",
        .help = "write all tables: to FILE.sqlite, which query and any SQLite client read, or as Parquet files into a folder (DIR/);"
                " FILE.parquet: only the events; --args none omits event arguments" },
    [TM_OPTION_KEEP] = {
        "keep", TM_KIND_NUMBER, TM_FOR_BATCH_PRUNE, FIELD(keep), .argument = "N",
        .fallback = "30", .least = 1, .most = UINT64_MAX,
        .help = "number of nights whose reports are kept" },
    [TM_OPTION_TIME_LIMIT] = {
        "time-limit", TM_KIND_TIME, TM_FOR_QUERY, FIELD(time_limit_ps), .argument = "TIME",
        .fallback = "300s",
        .help = "give up a query that runs longer than this; 0s: never" },
    [TM_OPTION_ROOT] = {
        "root", TM_KIND_TEXT, TM_FOR_MCP, FIELD(root), .argument = "DIR",
        .help = "read profiles below this folder only; the working folder by default" },
    [TM_OPTION_INSTALL] = {
        "install", TM_KIND_TEXT, TM_FOR_SKILL, FIELD(install), .argument = "DIR",
        .flags = TM_OPTION_NO_KEY | TM_OPTION_NO_ENVIRONMENT,
        .help = "write it to DIR/tracemill/SKILL.md" },
    [TM_OPTION_NO_BROWSER] = {
        "no-browser", TM_KIND_FLAG, TM_FOR_OPEN, FIELD(no_browser),
        .help = "start no browser: print the address and serve" },
    [TM_OPTION_PERFETTO_URL] = {
        "perfetto-url", TM_KIND_TEXT, TM_FOR_OPEN, FIELD(perfetto_url), .argument = "URL",
        .fallback = TM_PERFETTO_URL,
        .help = "address of the Perfetto UI, for one that you host yourself" },
    [TM_OPTION_PERFETTO_LINK] = {
        "perfetto-link", TM_KIND_FLAG, TM_FOR_OPEN, FIELD(perfetto_link),
        .help = "open Perfetto itself instead of the page: it fetches the trace from 127.0.0.1:9001, as with JAX's "
          "create_perfetto_link" },
    [TM_OPTION_THRESHOLDS] = {
        "thresholds", TM_KIND_TEXT, FIGURES, FIELD(thresholds), .argument = "FILE",
        .help = "thresholds as JSON, replacing the built-in ones" },
    [TM_OPTION_RUN] = {
        "run", TM_KIND_TEXT, RUNS, FIELD(run_name), .argument = "NAME",
        .help = "the run to read from a log directory with several" },
    [TM_OPTION_LATEST] = {
        "latest", TM_KIND_FLAG, RUNS | TM_FOR_LIST, FIELD(latest),
        .help = "read the newest run of a log directory" },
    [TM_OPTION_FOLLOW_LINKS] = {
        "follow-links", TM_KIND_FLAG, RUNS | TM_FOR_LIST | SCANS | WORKS | JOINS, FIELD(follow_links),
        .help = "follow symbolic links that point outside the searched folder" },
    [TM_OPTION_FETCH] = {
        "fetch", TM_KIND_TEXT, BUCKETS, FIELD(helpers.fetch), .argument = "CMD",
        .flags = TM_OPTION_NO_KEY,
        .help =
        "command that writes an object of a bucket to its stdout, with {uri}, {bucket} and {key} replaced (default: "
        "gcloud storage, aws s3 or rclone)" },
    [TM_OPTION_LISTING] = {
        "listing", TM_KIND_TEXT, BUCKETS, FIELD(helpers.listing), .argument = "CMD",
        .flags = TM_OPTION_NO_KEY,
        .help =
        "command that lists the objects below {uri}, or {bucket} and {key}, as JSON with name, size, version and "
        "modified of each" },
    [TM_OPTION_STORE] = {
        "store", TM_KIND_TEXT, MIRRORS, FIELD(helpers.store), .argument = "CMD",
        .flags = TM_OPTION_NO_KEY,
        .help =
        "command that stores its stdin as the object {uri}, or all files below {folder} as objects below it, for "
        "--mirror (default: gcloud storage, aws s3 or rclone)" },
    [TM_OPTION_REMOVE] = {
        "remove", TM_KIND_TEXT, MIRRORS, FIELD(helpers.remove), .argument = "CMD",
        .flags = TM_OPTION_NO_KEY,
        .help =
        "command that removes the objects whose addresses are the lines of its stdin, for pruned runs in --mirror "
        "(default: gcloud storage, aws s3 or rclone; none with --store)" },
    [TM_OPTION_MIRROR] = {
        "mirror", TM_KIND_TEXT, MIRRORS, FIELD(mirror), .argument = "URI",
        .flags = TM_OPTION_NO_KEY,
        .help =
        "batch, batch merge and batch submit: copy new results, history and pages to this prefix of a bucket, from which "
        "an empty OUT is restored first; batch prune: update the copy at this prefix of a bucket, and remove the reports "
        "from it, too" },
    [TM_OPTION_FETCH_TIMEOUT] = {
        "fetch-timeout", TM_KIND_TIME, BUCKETS, FIELD(helpers.wait_ps), .argument = "TIME",
        .fallback = "120s",
        .help = "give up on a bucket that sends or takes nothing for this long; 0s waits without limit" },
    [TM_OPTION_FORCE] = {
        "force", TM_KIND_FLAG, TM_FOR_SPLIT | TM_FOR_EXTRACT | STUDIES | TM_FOR_BRIEF | TM_FOR_CHECK | WORKS, FIELD(force),
        .flags = TM_OPTION_NO_ENVIRONMENT,
        .help =
        "overwrite existing files; split: write to a folder that is not empty; compare, scaling, brief: continue "
        "although the runs are not comparable; batch: start more jobs than the machine's memory allows" },
    [TM_OPTION_JSON] = {
        "json", TM_KIND_FLAG, TM_FOR_ALL, FIELD(json),
        .help = "print the result on stdout as JSON" },
    [TM_OPTION_STRICT] = {
        "strict", TM_KIND_FLAG, JOBS, FIELD(strict),
        .help = "treat any loss in the input as an error, and write nothing" },
    [TM_OPTION_MEMORY] = {
        "memory", TM_KIND_SIZE, JOBS, FIELD(memory_bytes), .argument = "SIZE",
        .fallback = "256M", .least = (uint64_t)TM_MEMORY_LEAST_MIB * TM_MIB,
        .help = "memory limit, at least 32M; further data goes to spill files" },
    [TM_OPTION_RAISE_LIMITS] = {
        "raise-limits", TM_KIND_NUMBER, JOBS, FIELD(limit_times), .argument = "TIMES",
        .fallback = "1", .least = 1, .most = TM_ROWS_MOST,
        .help = "multiply the limits on declared sizes, decompressed sizes and numbers of files" },
    [TM_OPTION_TMP] = {
        "tmp", TM_KIND_TEXT, JOBS, FIELD(tmp), .argument = "DIR",
        .help = "folder for spill files (default: $TMPDIR, /var/tmp or the output folder)" },
    [TM_OPTION_STATS] = {
        "stats", TM_KIND_FLAG, TM_FOR_ALL, FIELD(stats),
        .help = "print events, rates, memory and spill files on stderr at the end" },
    [TM_OPTION_QUIET] = {
        "quiet", TM_KIND_FLAG, TM_FOR_ALL, FIELD(quiet), .letter = 'q',
        .help = "print only errors and warnings" },
    [TM_OPTION_COLOR] = {
        "color", TM_KIND_WORD, TM_FOR_ALL, FIELD(color), .argument = "auto|always|never",
        .words = "auto always never", .fallback = "auto",
        .help = "colors on the terminal; auto disables them if NO_COLOR is set" },
    [TM_OPTION_CONFIG] = {
        "config", TM_KIND_TEXT, TM_FOR_ALL, FIELD(config), .argument = "FILE",
        .flags = TM_OPTION_NO_KEY,
        .help = "read settings from a JSON file" },
    [TM_OPTION_VERSION] = {
        "version", TM_KIND_FLAG, TM_FOR_ALL, FIELD(version), .letter = 'V',
        .flags = TM_OPTION_NO_ENVIRONMENT,
        .help = "print the versions of tracemill and its libraries" },
    [TM_OPTION_HELP] = {
        "help", TM_KIND_FLAG, TM_FOR_ALL, FIELD(help), .letter = 'h',
        .flags = TM_OPTION_NO_ENVIRONMENT,
        .help = "print help for the verb" },
};
/* clang-format on */

/* `prefix` and the name with '_' for '-'. */
static const char *spell(char *out, const char *prefix, const char *name, bool is_upper)
{
    (void)snprintf(out, TM_OPTION_NAME_BYTES, "%s%s", prefix, name);
    for (char *at = out; *at; at++)
        *at = *at == '-' ? '_' : is_upper && *at >= 'a' ? (char)(*at - 'a' + 'A') : *at;
    return out;
}

const char *tm_option_key(const struct tm_option *option, char out[TM_OPTION_NAME_BYTES])
{
    return tm_option_is_setting(option) ? spell(out, "", option->name, false) : NULL;
}

const char *tm_option_environment(const struct tm_option *option, char out[TM_OPTION_NAME_BYTES])
{
    return option->flags & TM_OPTION_NO_ENVIRONMENT ? NULL : spell(out, "TRACEMILL_", option->name, true);
}

bool tm_option_is_setting(const struct tm_option *option)
{
    return !(option->flags & (TM_OPTION_NO_KEY | TM_OPTION_NO_ENVIRONMENT));
}

bool tm_option_is_list(const struct tm_option *option)
{
    return option->flags & TM_OPTION_MANY;
}

const struct tm_option *tm_option_by_key(const char *key)
{
    char known[TM_OPTION_NAME_BYTES];

    for (size_t i = 0; i < TM_OPTION_COUNT; i++) {
        if (tm_option_key(&tm_option_table[i], known) && strcmp(known, key) == 0)
            return &tm_option_table[i];
    }
    return NULL;
}

static tm_status refuse(const struct tm_reading *r, const char *reason)
{
    return tm_fail(r->error, TM_ERR_USAGE, -1, "cannot use '%s' for %s: %s", r->text, r->origin, reason);
}

static tm_status refuse_wrong(const struct tm_reading *r, const struct tm_wrong *wrong)
{
    (void)refuse(r, wrong->reason);
    if (wrong->hint)
        tm_hint(r->error, "%s", wrong->hint);
    return TM_ERR_USAGE;
}

static tm_status read_flag(const struct tm_reading *r)
{
    static const char *const yes[] = { "yes", "true", "on", "1" };
    static const char *const no[] = { "no", "false", "off", "0" };

    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        const bool is_yes = strcasecmp(r->text, yes[i]) == 0;

        if (is_yes || strcasecmp(r->text, no[i]) == 0) {
            *(bool *)r->field = is_yes;
            return TM_OK;
        }
    }
    return refuse(r, "it is neither yes nor no");
}

static tm_status read_text(const struct tm_reading *r)
{
    struct tm_texts *const list = r->field;

    if (!r->text[0])
        return refuse(r, "it is empty");
    if (!tm_option_is_list(r->option)) {
        *(const char **)r->field = r->text;
        return TM_OK;
    }
    if (list->count == TM_TEXTS_MOST)
        return refuse(r, "there are too many of them");
    list->text[list->count++] = r->text;
    return TM_OK;
}

static tm_status refuse_small(const struct tm_reading *r, uint64_t bytes)
{
    const struct tm_option *const option = r->option;
    const bool is_mib = option->least >= TM_MIB;
    char least[32], reason[128];

    (void)snprintf(least, sizeof(least), "%llu%c", (unsigned long long)option->least >> (is_mib ? 20 : 10),
                   is_mib ? 'M' : 'K');
    (void)snprintf(reason, sizeof(reason), "it is less than %s%s", least, option->why_least ? option->why_least : "");
    (void)refuse(r, reason);
    if (option->why_least)
        return TM_ERR_USAGE;
    if (strspn(r->text, "0123456789") == strlen(r->text) && bytes >= option->least / TM_MIB && bytes <= 4096)
        tm_hint(r->error, "a number without a unit is bytes; write %sM", r->text);
    else
        tm_hint(r->error, "use %s or more; the default is %s", least, option->fallback);
    return TM_ERR_USAGE;
}

static tm_status read_size(const struct tm_reading *r)
{
    struct tm_wrong wrong;
    uint64_t bytes;

    if (!tm_read_bytes(r->text, &bytes, &wrong))
        return refuse_wrong(r, &wrong);
    if (bytes < r->option->least)
        return refuse_small(r, bytes);
    *(uint64_t *)r->field = bytes;
    return TM_OK;
}

static tm_status read_time(const struct tm_reading *r)
{
    struct tm_wrong wrong;

    return tm_read_time(r->text, strlen(r->text), r->field, &wrong) ? TM_OK : refuse_wrong(r, &wrong);
}

static tm_status refuse_number(const struct tm_reading *r)
{
    const struct tm_option *const option = r->option;
    const unsigned long long least = option->least, most = option->most;
    char range[64] = "", reason[128];

    if (least && most == UINT64_MAX)
        (void)snprintf(range, sizeof(range), " from %llu on", least);
    else if (least)
        (void)snprintf(range, sizeof(range), " from %llu to %llu", least, most);
    (void)snprintf(reason, sizeof(reason), "it is %s a whole number%s",
                   option->flags & TM_OPTION_AUTO ? "neither auto nor" : "not", range);
    return refuse(r, reason);
}

static tm_status read_number(const struct tm_reading *r)
{
    const struct tm_option *const option = r->option;
    const bool is_auto = (option->flags & TM_OPTION_AUTO) && strcmp(r->text, "auto") == 0;
    const char *at = r->text;
    uint64_t number = option->least - 1;

    if (!is_auto && (!tm_take_digits(&at, &number) || at[0] || number < option->least || number > option->most))
        return refuse_number(r);
    *(uint64_t *)r->field = number;
    return TM_OK;
}

static tm_status read_shard(const struct tm_reading *r)
{
    struct tm_shard *const to = r->field;
    const char *at = r->text;
    uint64_t index = 0, count = 0;
    const bool is_auto = strncmp(at, "auto", 4) == 0;

    *to = (struct tm_shard){ .is_index_told = !is_auto };
    if (strcmp(at, "auto") == 0)
        return TM_OK;
    at += is_auto ? 4 : 0;
    if ((!is_auto && !tm_take_digits(&at, &index)) || *at++ != '/' || !tm_take_digits(&at, &count) || *at ||
        count < 1 || count > TM_NUMBER_MOST) {
        (void)refuse(r, "it is neither auto, nor auto/N, nor I/N");
        tm_hint(r->error, "'--shard 0/4' is the first of four shares, '--shard 3/4' the last one");
        return TM_ERR_USAGE;
    }
    if (index >= count) {
        (void)refuse(r, "there is no such share");
        tm_hint(r->error, "shares are numbered from 0: the last one of %llu is %llu/%llu", (unsigned long long)count,
                (unsigned long long)count - 1, (unsigned long long)count);
        return TM_ERR_USAGE;
    }
    to->index = (uint32_t)index;
    to->count = (uint32_t)count;
    return TM_OK;
}

static tm_status read_steps(const struct tm_reading *r)
{
    struct tm_options *const to = r->options;

    to->steps_begin = 0;
    to->steps_end = UINT64_MAX;
    if (strcmp(r->text, "auto") == 0 || strcmp(r->text, "all") == 0) {
        to->steps = r->text[1] == 'u' ? TM_CHOOSE_AUTO : TM_CHOOSE_ALL;
        return TM_OK;
    }
    if (!tm_read_range(r->text, &to->steps_begin, &to->steps_end)) {
        (void)refuse(r, "it is neither auto, nor all, nor A:B");
        tm_hint(r->error, "A is the first step and B the one after the last, numbered from 0, as in 10:20, 10: or :20");
        return TM_ERR_USAGE;
    }
    if (to->steps_begin >= to->steps_end)
        return refuse(r, "the range is empty");
    to->steps = TM_CHOOSE_RANGE;
    return TM_OK;
}

/* The index of one of the option's words.  out: -1, with the error set, if it is none of them */
static int word_index(const struct tm_reading *r, const char *text, size_t length)
{
    struct tm_nearest nearest = { 0 };
    char typed[64], known[16][16];
    int count = 0;

    for (const char *at = r->option->words; *at && count < 16; count++) {
        const size_t n = strcspn(at, " ");

        if (n == length && memcmp(at, text, n) == 0)
            return count;
        memcpy(known[count], at, n);
        known[count][n] = '\0';
        at += n + (at[n] == ' ');
    }
    length = length < sizeof(typed) ? length : sizeof(typed) - 1;
    memcpy(typed, text, length);
    typed[length] = '\0';
    for (int i = 0; i < count; i++)
        tm_nearest_offer(&nearest, typed, known[i]);
    (void)tm_fail(r->error, TM_ERR_USAGE, -1, "cannot use '%s' for %s: it is none of %s", typed, r->origin,
                  r->option->words);
    if (nearest.word)
        tm_hint(r->error, "did you mean '%s'?", nearest.word);
    return -1;
}

static tm_status read_words(const struct tm_reading *r)
{
    uint32_t bits = 0;

    for (const char *at = r->text;; at++) {
        const size_t length = strcspn(at, ",");
        const int index = word_index(r, at, length);

        if (index < 0)
            return TM_ERR_USAGE;
        bits |= (uint32_t)1 << index;
        at += length;
        if (!at[0])
            break;
    }
    *(uint32_t *)r->field = bits;
    return TM_OK;
}

/* The enums are in the order of the words. */
static tm_status read_word(const struct tm_reading *r)
{
    const int index = word_index(r, r->text, strlen(r->text));

    if (index < 0)
        return TM_ERR_USAGE;
    memcpy(r->field, &index, sizeof(index));
    return TM_OK;
}

_Static_assert(sizeof(enum tm_paper) == sizeof(int) && sizeof(enum tm_time_unit) == sizeof(int) &&
                   sizeof(enum tm_window_choice) == sizeof(int) && sizeof(enum tm_color) == sizeof(int) &&
                   sizeof(enum tm_args_level) == sizeof(int),
               "an index fills each choice");

static tm_status refuse_by(const struct tm_reading *r, const char *reason)
{
    (void)refuse(r, reason);
    tm_hint(r->error, "parts end by step, step=10, device or time=5s");
    return TM_ERR_USAGE;
}

/* What follows a word and '='; NULL = it does not start so. */
static const char *value_of(const char *text, const char *word)
{
    const size_t length = strlen(word);

    return strncmp(text, word, length) == 0 && text[length] == '=' ? text + length + 1 : NULL;
}

static tm_status read_by(const struct tm_reading *r)
{
    struct tm_options *const to = r->options;
    const char *steps = value_of(r->text, "step");
    const char *const time = value_of(r->text, "time"), *const name = value_of(r->text, "name");
    struct tm_wrong wrong;

    to->by_steps = 1;
    if (strcmp(r->text, "device") == 0) {
        to->by = TM_BY_DEVICE;
    } else if (steps || strcmp(r->text, "step") == 0) {
        to->by = TM_BY_STEP;
        if (steps && (!tm_take_digits(&steps, &to->by_steps) || steps[0] || to->by_steps < 1))
            return refuse_by(r, "the number of steps is missing");
    } else if (time) {
        to->by = TM_BY_TIME;
        if (!tm_read_time(time, strlen(time), &to->by_time_ps, &wrong))
            return refuse_by(r, wrong.reason);
        if (to->by_time_ps == 0)
            return refuse_by(r, "it is zero");
    } else if (name) {
        to->by = TM_BY_NAME;
        to->by_name = name;
        if (tm_glob_wrong(name))
            return refuse_by(r, tm_glob_wrong(name));
    } else {
        return refuse_by(r, "it is none of step, device, time and name");
    }
    return TM_OK;
}

static tm_status read_filter(const struct tm_reading *r)
{
    return tm_filter_read(r->field, r->text, r->origin, r->error);
}

tm_status tm_option_read(const struct tm_option *option, const char *text, const char *origin,
                         struct tm_options *options, struct tm_error *error)
{
    static tm_option_reader *const readers[] = {
        [TM_KIND_FLAG] = read_flag,     [TM_KIND_TEXT] = read_text, [TM_KIND_WORD] = read_word,
        [TM_KIND_WORDS] = read_words,   [TM_KIND_SIZE] = read_size, [TM_KIND_TIME] = read_time,
        [TM_KIND_NUMBER] = read_number,
    };
    const struct tm_reading reading = {
        .option = option,
        .text = text,
        .origin = origin,
        .field = (char *)options + option->offset,
        .options = options,
        .error = error,
    };

    return (option->kind == TM_KIND_OWN ? option->read : readers[option->kind])(&reading);
}
