/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of options, and how the text of each kind is read.  Nothing is allocated: a value
 * is a number, a choice, or the text itself, which lives as long as the process. */
#include "pipeline/options.h"

#include <string.h>
#include <strings.h>

#include "pipeline/stage.h"
#include "pipeline/store/budget.h"
#include "pipeline/strings.h"

enum {
    TRACES = TM_FOR_CONVERT | TM_FOR_SPLIT,                          /* verbs that write traces */
    STUDIES = TM_FOR_COMPARE | TM_FOR_SCALING,                       /* verbs that write a document of several runs */
    REPORTS = TM_FOR_REPORT | STUDIES,                               /* verbs that write a document */
    WORKS = TM_FOR_BATCH | TM_FOR_BATCH_RUN | TM_FOR_BATCH_SUBMIT,   /* verbs by which traces of a batch are analyzed */
    JOINS = TM_FOR_BATCH | TM_FOR_BATCH_MERGE | TM_FOR_BATCH_SUBMIT, /* and by which its results are put together */
    SCANS = TM_FOR_BATCH | TM_FOR_BATCH_SCAN | TM_FOR_BATCH_SUBMIT,  /* and by which they are found */
    BATCHES = WORKS | JOINS | SCANS | TM_FOR_BATCH_PRUNE | TM_FOR_BATCH_EXPORT,
    ANALYSES = TM_FOR_REPORT | WORKS | TM_FOR_BATCH_MERGE, /* verbs that write reports: merging joins hosts to runs */
    FIGURES = REPORTS | TRACES | TM_FOR_CHECK | ANALYSES,  /* verbs that work figures out */
    CHOICES = STUDIES | TRACES | TM_FOR_CHECK | TM_FOR_REPORT, /* of them those of one run */
    RUNS = CHOICES | TM_FOR_INSPECT | TM_FOR_EXTRACT,          /* verbs that choose a run */
    JOBS = TM_FOR_ALL & ~TM_FOR_WORDS,
};

/* A part has to hold its rows and an event: a few hundred bytes for each row. */
enum { PART_LEAST_KIB = 64 };

/* Processes, tasks and shares: more than any machine or array job has. */
enum { TM_NUMBER_MOST = 100000 };

/* A number as the table has defaults. */
#define TEXT_OF(number) #number
#define NUMBER_TEXT(number) TEXT_OF(number)

/* clang-format off */
const struct tm_option tm_option_table[TM_OPTION_COUNT] = {
    [TM_OPTION_OUTPUT] = {
        "output", 'o', TM_KIND_TEXT, "DIR|FILE", NULL, REPORTS | TRACES | TM_FOR_EXTRACT | (BATCHES & ~TM_FOR_BATCH_PRUNE),
        "TRACEMILL_OUTPUT", "output", NULL,
        "where to write; report, compare, scaling: a folder, NAME.report/ and so on in the working folder if not given;"
        " convert: a file, whose ending tells the format, else NAME.pftrace; split: a folder, else NAME.split/; batch: the folder that holds everything; batch scan, batch export: a file, else stdout",
        offsetof(struct tm_options, output) },
    [TM_OPTION_FORMAT] = {
        "format", 0, TM_KIND_FORMATS, "LIST", "html pdf json text partial perfetto pftrace markdown csv collapsed",
        REPORTS | TM_FOR_SPLIT | ANALYSES,
        "TRACEMILL_FORMAT", "format", "html,pdf,json,text",
        "which files to write; report: html, pdf, json, text, markdown, csv, collapsed, partial and perfetto, joined by"
        " commas; compare and scaling: the first six; split: pftrace, which it writes if not told, or json",
        offsetof(struct tm_options, formats) },
    [TM_OPTION_TITLE] = {
        "title", 0, TM_KIND_TEXT, "TEXT", NULL, REPORTS,
        "TRACEMILL_TITLE", "title", NULL,
        "the heading of the report, in place of the name of the run",
        offsetof(struct tm_options, title) },
    [TM_OPTION_NOTE] = {
        "note", 0, TM_KIND_TEXT, "TEXT", NULL, REPORTS | ANALYSES,
        "TRACEMILL_NOTE", "note", NULL,
        "a paragraph at the top of the report: what was tried, what to look at",
        offsetof(struct tm_options, note) },
    [TM_OPTION_PAPER] = {
        "paper", 0, TM_KIND_PAPER, "a4|letter", "a4 letter", REPORTS | ANALYSES,
        "TRACEMILL_PAPER", "paper", "a4",
        "the paper of the PDF",
        offsetof(struct tm_options, paper) },
    [TM_OPTION_REDACT] = {
        "redact", 0, TM_KIND_FLAG, NULL, NULL, TM_FOR_REPORT | TRACES,
        "TRACEMILL_REDACT", "redact", "no",
        "put pseudonyms for names of hosts, users, paths, programs and operations in everything that is written",
        offsetof(struct tm_options, redact) },
    [TM_OPTION_REDACT_MAP] = {
        "redact-map", 0, TM_KIND_TEXT, "FILE", NULL, TM_FOR_REPORT | TRACES,
        "TRACEMILL_REDACT_MAP", "redact_map", NULL,
        "with --redact: write which pseudonym stands for what to FILE, and take those that it has already; it is not"
        " for sharing",
        offsetof(struct tm_options, redact_map) },
    [TM_OPTION_STEPS] = {
        "steps", 0, TM_KIND_STEPS, "auto|all|A:B", "auto all", FIGURES,
        "TRACEMILL_STEPS", "steps", "auto",
        "the steps that figures are about: auto leaves warm-up and incomplete ones out, all leaves no"
        " activity out, A:B are those from A up to but not B, counted from 0; either end may be open",
        offsetof(struct tm_options, steps) },
    [TM_OPTION_SKIP_STEPS] = {
        "skip-steps", 0, TM_KIND_SKIP, "N", NULL, FIGURES,
        "TRACEMILL_SKIP_STEPS", "skip_steps", "auto",
        "take the first N steps for warm-up; auto finds out by their length and their compilations",
        offsetof(struct tm_options, skip_steps) },
    [TM_OPTION_WINDOW] = {
        "window", 0, TM_KIND_WINDOW, "steps|session", "steps session", FIGURES,
        "TRACEMILL_WINDOW", "window", "steps",
        "the time that shares refer to: from the start of the first analyzed step to the end of the last one, or the"
        " whole profiling session",
        offsetof(struct tm_options, window) },
    [TM_OPTION_GAP_MIN] = {
        "gap-min", 0, TM_KIND_TIME, "TIME", NULL, FIGURES,
        "TRACEMILL_GAP_MIN", "gap_min", "10us",
        "list idle gaps from this length on; sums hold all of them",
        offsetof(struct tm_options, gap_min_ps) },
    [TM_OPTION_ROWS] = {
        "rows", 0, TM_KIND_COUNT, "N", NULL, REPORTS | TM_FOR_CHECK | ANALYSES,
        "TRACEMILL_ROWS", "rows", NUMBER_TEXT(TM_ROWS_USUAL),
        "how many rows a table has at most, one more row holds the rest; with --format csv 2,000 by default; of steps the"
        " first and the slowest, 1,000 each by default",
        offsetof(struct tm_options, rows) },
    [TM_OPTION_FILTER] = {
        "filter", 0, TM_KIND_FILTER, "TERM", NULL, TRACES,
        "TRACEMILL_FILTER", "filter", NULL,
        "write only what fits: time=A:B, device=gpu:0, step=A:B, name=GLOB, name!=GLOB, min=TIME, class=NAME,"
        " track=GLOB; may be given several times",
        offsetof(struct tm_options, filter) },
    [TM_OPTION_ARGS] = {
        "args", 0, TM_KIND_ARGS, "all|essential|none", "all essential none", TRACES,
        "TRACEMILL_ARGS", "args", "all",
        "which arguments of events to write; fewer of them make a trace much easier to open",
        offsetof(struct tm_options, args) },
    [TM_OPTION_PLAIN] = {
        "plain", 0, TM_KIND_FLAG, NULL, NULL, TRACES,
        "TRACEMILL_PLAIN", "plain", "no",
        "write what was recorded, and nothing that was worked out: no steps, gaps, counters, findings",
        offsetof(struct tm_options, plain) },
    [TM_OPTION_RAW] = {
        "raw", 0, TM_KIND_FLAG, NULL, NULL, REPORTS | TM_FOR_CONVERT,
        "TRACEMILL_RAW", "raw", "no",
        "write texts in CSV with all their characters: control characters and marks of writing direction as they were"
        " recorded, in place of escapes",
        offsetof(struct tm_options, raw) },
    [TM_OPTION_BY] = {
        "by", 0, TM_KIND_BY, "WHERE", "step device time=1s", TM_FOR_SPLIT,
        "TRACEMILL_BY", "by", NULL,
        "where parts end, beside their limits: step or step=N, after every step or N of them; time=TIME, after so much"
        " time; device: parts for each device, and for what lies on none",
        offsetof(struct tm_options, by) },
    [TM_OPTION_MAX_EVENTS] = {
        "max-events", 0, TM_KIND_EVENTS, "N", NULL, TM_FOR_SPLIT,
        "TRACEMILL_MAX_EVENTS", "max_events", "1000000",
        "how many slices a part has at most",
        offsetof(struct tm_options, part_events) },
    [TM_OPTION_MAX_SIZE] = {
        "max-size", 0, TM_KIND_BYTES, "SIZE", NULL, TM_FOR_SPLIT,
        "TRACEMILL_MAX_SIZE", "max_size", "95M",
        "how many bytes a part has at most, before compression",
        offsetof(struct tm_options, part_bytes) },
    [TM_OPTION_RESULTS] = {
        "results", 0, TM_KIND_TEXT, "FILE", NULL, TM_FOR_COMPARE,
        "TRACEMILL_RESULTS", "results", NULL,
        "the JSON of a benchmark, {\"NAME\": {\"execution_time\": SECONDS, \"tensorboard_trace\": PATH}}: each trace"
        " is a run of that name, with its measured time beside it",
        offsetof(struct tm_options, results) },
    [TM_OPTION_FAIL_ON] = {
        "fail-on", 0, TM_KIND_TEXTS, "GATE", NULL, TM_FOR_COMPARE,
        "TRACEMILL_FAIL_ON", "fail_on", NULL,
        "end with status 1 where this holds, as in 'step_time>+5%': a figure of the summary, then a value or a"
        " change, which is per step for sums; or regression, the verdict of the comparison; may be given several times",
        offsetof(struct tm_options, fail_on) },
    [TM_OPTION_HISTORY] = {
        "history", 0, TM_KIND_TEXT, "[JOB=]DB", NULL, TM_FOR_COMPARE,
        "TRACEMILL_HISTORY", "history", NULL,
        "history.db of a batch: a change between two single runs, of the step time or the figure of a gate, has to exceed"
        " what runs of the job differ by in it; the job is that of the runs, or JOB",
        offsetof(struct tm_options, history) },
    [TM_OPTION_RUN_SPREAD] = {
        "run-spread", 0, TM_KIND_TEXT, "PCT", NULL, TM_FOR_COMPARE,
        "TRACEMILL_RUN_SPREAD", "run_spread", NULL,
        "by how much two runs of the same program differ, as in 3%: a change of the step time has to exceed it",
        offsetof(struct tm_options, run_spread) },
    [TM_OPTION_GATE] = {
        "gate", 0, TM_KIND_TEXT, "FILE", NULL, TM_FOR_CHECK | JOINS,
        "TRACEMILL_GATE", "gate", NULL,
        "the limits, as JSON",
        offsetof(struct tm_options, gate) },
    [TM_OPTION_BASELINE] = {
        "baseline", 0, TM_KIND_TEXTS, "PATH", NULL, TM_FOR_CHECK | JOINS,
        "TRACEMILL_BASELINE", "baseline", NULL,
        "a summary, or a profile, that relative limits compare with; may be given several times: runs of the same thing;"
        " batch: of each job the last good run (last-good), the last N (median:N), those of a night (night:DATE) or with a"
        " label (label:TEXT), or a path",
        offsetof(struct tm_options, baseline) },
    [TM_OPTION_INIT] = {
        "init", 0, TM_KIND_FLAG, NULL, NULL, TM_FOR_CHECK,
        NULL, NULL, "no",
        "write a gate file from the run as it is, to --gate, else to stdout",
        offsetof(struct tm_options, init) },
    [TM_OPTION_JUNIT] = {
        "junit", 0, TM_KIND_TEXT, "FILE", NULL, TM_FOR_CHECK | JOINS,
        "TRACEMILL_JUNIT", "junit", NULL,
        "write the result as JUnit XML as well",
        offsetof(struct tm_options, junit) },
    [TM_OPTION_MARKDOWN] = {
        "markdown", 0, TM_KIND_TEXT, "FILE", NULL, TM_FOR_CHECK | JOINS,
        "TRACEMILL_MARKDOWN", "markdown", NULL,
        "write the result as Markdown as well",
        offsetof(struct tm_options, markdown) },
    [TM_OPTION_MANIFEST] = {
        "manifest", 0, TM_KIND_TEXT, "FILE", NULL, TM_FOR_BATCH_RUN | TM_FOR_BATCH_SUBMIT,
        "TRACEMILL_MANIFEST", "manifest", NULL,
        "the list of traces that batch scan wrote",
        offsetof(struct tm_options, manifest) },
    [TM_OPTION_JOBS] = {
        "jobs", 'j', TM_KIND_NUMBER, "N|auto", "auto", WORKS | JOINS,
        "TRACEMILL_JOBS", "jobs", "auto",
        "how many traces are worked at once; auto: as many as there are cores and memory for",
        offsetof(struct tm_options, jobs) },
    [TM_OPTION_SHARD] = {
        "shard", 0, TM_KIND_SHARD, "I/N|auto/N", NULL, TM_FOR_BATCH_RUN,
        "TRACEMILL_SHARD", "shard", "auto",
        "work share I of N, counted from 0; auto: I, and N where it is not given, are what Slurm, Kubernetes or GNU"
        " parallel tells in the environment, and without them everything is worked",
        offsetof(struct tm_options, shard) },
    [TM_OPTION_ITEM_TIMEOUT] = {
        "item-timeout", 0, TM_KIND_TIME, "TIME", NULL, WORKS | JOINS,
        "TRACEMILL_ITEM_TIMEOUT", "item_timeout", "3600s",
        "give up a trace after this time; 0s: never",
        offsetof(struct tm_options, item_time_ps) },
    [TM_OPTION_RETRY] = {
        "retry", 0, TM_KIND_FLAG, NULL, NULL, WORKS,
        "TRACEMILL_RETRY", "retry", "no",
        "work traces again that could not be read the last time, though they have not changed",
        offsetof(struct tm_options, retry) },
    [TM_OPTION_KEYS] = {
        "keys", 0, TM_KIND_TEXT, "TEMPLATE", NULL, SCANS,
        "TRACEMILL_KEYS", "keys", NULL,
        "what the folders below ROOT are, as in '{job}/{night}/{revision}': job, night, revision, label, step, and {}"
        " for what means nothing; told by their look if not given",
        offsetof(struct tm_options, keys) },
    [TM_OPTION_LABEL] = {
        "label", 0, TM_KIND_TEXTS, "KEY=VALUE", NULL, SCANS,
        "TRACEMILL_LABEL", "label", NULL,
        "set a key of all traces: job, night, revision, label; may be given several times",
        offsetof(struct tm_options, labels) },
    [TM_OPTION_OPENMETRICS] = {
        "openmetrics", 0, TM_KIND_TEXT, "FILE", NULL, JOINS,
        "TRACEMILL_OPENMETRICS", "openmetrics", NULL,
        "write the newest figures of each job for a scraper as well",
        offsetof(struct tm_options, openmetrics) },
    [TM_OPTION_SLURM] = {
        "slurm", 0, TM_KIND_FLAG, NULL, NULL, TM_FOR_BATCH_SUBMIT,
        NULL, NULL, "no",
        "hand it to Slurm: an array job, and a job after it that merges",
        offsetof(struct tm_options, slurm) },
    [TM_OPTION_TASKS] = {
        "tasks", 0, TM_KIND_NUMBER, "N|auto", "auto", TM_FOR_BATCH_SUBMIT,
        "TRACEMILL_TASKS", "tasks", "auto",
        "how many tasks the array job has; auto: by how much there is to do",
        offsetof(struct tm_options, tasks) },
    [TM_OPTION_SBATCH] = {
        "sbatch", 0, TM_KIND_TEXTS, "OPTION", NULL, TM_FOR_BATCH_SUBMIT,
        "TRACEMILL_SBATCH", "sbatch", NULL,
        "an option of sbatch for both jobs, as in '--sbatch=--partition=night'; may be given several times",
        offsetof(struct tm_options, sbatch) },
    [TM_OPTION_DRY_RUN] = {
        "dry-run", 0, TM_KIND_FLAG, NULL, NULL, WORKS | TM_FOR_BATCH_PRUNE,
        NULL, NULL, "no",
        "only say what would be done",
        offsetof(struct tm_options, dry_run) },
    [TM_OPTION_KEEP] = {
        "keep", 0, TM_KIND_EVENTS, "N", NULL, TM_FOR_BATCH_PRUNE,
        "TRACEMILL_KEEP", "keep", "30",
        "how many of the last nights keep their reports",
        offsetof(struct tm_options, keep) },
    [TM_OPTION_THRESHOLDS] = {
        "thresholds", 0, TM_KIND_TEXT, "FILE", NULL, FIGURES,
        "TRACEMILL_THRESHOLDS", "thresholds", NULL,
        "bands of the key figures, as JSON, in place of the built-in ones",
        offsetof(struct tm_options, thresholds) },
    [TM_OPTION_RUN] = {
        "run", 0, TM_KIND_TEXT, "NAME", NULL, RUNS,
        "TRACEMILL_RUN", "run", NULL,
        "the run to read of a log directory that holds several",
        offsetof(struct tm_options, run_name) },
    [TM_OPTION_LATEST] = {
        "latest", 0, TM_KIND_FLAG, NULL, NULL, RUNS | TM_FOR_LIST,
        "TRACEMILL_LATEST", "latest", "no",
        "the newest run of a log directory that holds several",
        offsetof(struct tm_options, latest) },
    [TM_OPTION_FOLLOW_LINKS] = {
        "follow-links", 0, TM_KIND_FLAG, NULL, NULL, RUNS | TM_FOR_LIST | SCANS | WORKS | JOINS,
        "TRACEMILL_FOLLOW_LINKS", "follow_links", "no",
        "follow symbolic links that lead out of a folder that is searched",
        offsetof(struct tm_options, follow_links) },
    [TM_OPTION_FORCE] = {
        "force", 0, TM_KIND_FLAG, NULL, NULL, TM_FOR_SPLIT | TM_FOR_EXTRACT | STUDIES | TM_FOR_CHECK | WORKS,
        NULL, NULL, "no",
        "replace files that are there already; split: write into a folder that is not empty; compare and scaling: go on"
        " where the runs do not fit together; batch: start more jobs than the memory of the machine is for",
        offsetof(struct tm_options, force) },
    [TM_OPTION_JSON] = {
        "json", 0, TM_KIND_FLAG, NULL, NULL, TM_FOR_ALL,
        "TRACEMILL_JSON", "json", "no",
        "print the result on stdout as JSON",
        offsetof(struct tm_options, json) },
    [TM_OPTION_STRICT] = {
        "strict", 0, TM_KIND_FLAG, NULL, NULL, JOBS,
        "TRACEMILL_STRICT", "strict", "no",
        "take any loss in the input for an error: nothing is written then",
        offsetof(struct tm_options, strict) },
    [TM_OPTION_MEMORY] = {
        "memory", 0, TM_KIND_SIZE, "SIZE", NULL, JOBS,
        "TRACEMILL_MEMORY", "memory", "256M",
        "what may be held in memory, at least 32M; more than that goes to spill files",
        offsetof(struct tm_options, memory_bytes) },
    [TM_OPTION_RAISE_LIMITS] = {
        "raise-limits", 0, TM_KIND_COUNT, "TIMES", NULL, JOBS,
        "TRACEMILL_RAISE_LIMITS", "raise_limits", "1",
        "take so many times what files may otherwise claim to hold, unpack to, or be in number",
        offsetof(struct tm_options, limit_times) },
    [TM_OPTION_TMP] = {
        "tmp", 0, TM_KIND_TEXT, "DIR", NULL, JOBS,
        "TRACEMILL_TMP", "tmp", NULL,
        "where spill files go; else $TMPDIR, /var/tmp or the output folder",
        offsetof(struct tm_options, tmp) },
    [TM_OPTION_STATS] = {
        "stats", 0, TM_KIND_FLAG, NULL, NULL, TM_FOR_ALL,
        "TRACEMILL_STATS", "stats", "no",
        "print events, rates, memory and spill files on stderr at the end",
        offsetof(struct tm_options, stats) },
    [TM_OPTION_QUIET] = {
        "quiet", 'q', TM_KIND_FLAG, NULL, NULL, TM_FOR_ALL,
        "TRACEMILL_QUIET", "quiet", "no",
        "no progress and no closing words; errors and warnings stay",
        offsetof(struct tm_options, quiet) },
    [TM_OPTION_COLOR] = {
        "color", 0, TM_KIND_COLOR, "auto|always|never", "auto always never", TM_FOR_ALL,
        "TRACEMILL_COLOR", "color", "auto",
        "colors on the terminal; auto means none where NO_COLOR is set",
        offsetof(struct tm_options, color) },
    [TM_OPTION_CONFIG] = {
        "config", 0, TM_KIND_TEXT, "FILE", NULL, TM_FOR_ALL,
        "TRACEMILL_CONFIG", NULL, NULL,
        "read settings from a JSON file",
        offsetof(struct tm_options, config) },
    [TM_OPTION_VERSION] = {
        "version", 'V', TM_KIND_FLAG, NULL, NULL, TM_FOR_ALL,
        NULL, NULL, "no",
        "print the version, and those of the libraries",
        offsetof(struct tm_options, version) },
    [TM_OPTION_HELP] = {
        "help", 'h', TM_KIND_FLAG, NULL, NULL, TM_FOR_ALL,
        NULL, NULL, "no",
        "print help on the verb",
        offsetof(struct tm_options, help) },
};
/* clang-format on */

bool tm_option_is_setting(const struct tm_option *option)
{
    return option->key != NULL;
}

bool tm_option_is_list(const struct tm_option *option)
{
    return option->kind == TM_KIND_FILTER || option->kind == TM_KIND_TEXTS;
}

const struct tm_option *tm_option_by_name(const char *name)
{
    for (size_t i = 0; i < TM_OPTION_COUNT; i++) {
        if (strcmp(tm_option_table[i].name, name) == 0)
            return &tm_option_table[i];
    }
    return NULL;
}

const struct tm_option *tm_option_by_key(const char *key)
{
    for (size_t i = 0; i < TM_OPTION_COUNT; i++) {
        if (tm_option_table[i].key && strcmp(tm_option_table[i].key, key) == 0)
            return &tm_option_table[i];
    }
    return NULL;
}

/* One value on its way from text to field: what a reader needs to fill the field or to say what is
 * wrong. */
struct reading {
    const struct tm_option *option;
    const char *text, *origin;
    void *field;
    struct tm_options *options;
    struct tm_error *error;
};

static tm_status refuse(const struct reading *r, const char *reason)
{
    return tm_fail(r->error, TM_ERR_USAGE, -1, "cannot use '%s' for %s: %s", r->text, r->origin, reason);
}

static tm_status refuse_wrong(const struct reading *r, const struct tm_wrong *wrong)
{
    (void)refuse(r, wrong->reason);
    if (wrong->hint)
        tm_hint(r->error, "%s", wrong->hint);
    return TM_ERR_USAGE;
}

static tm_status read_flag(const struct reading *r)
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

static tm_status read_text(const struct reading *r)
{
    if (!r->text[0])
        return refuse(r, "it is empty");
    *(const char **)r->field = r->text;
    return TM_OK;
}

static tm_status read_texts(const struct reading *r)
{
    struct tm_texts *const to = r->field;

    if (!r->text[0])
        return refuse(r, "it is empty");
    if (to->count == TM_TEXTS_MOST)
        return refuse(r, "there are too many of them");
    to->text[to->count++] = r->text;
    return TM_OK;
}

static tm_status read_size(const struct reading *r)
{
    const size_t length = strlen(r->text);
    struct tm_wrong wrong;
    uint64_t bytes;

    if (!tm_read_bytes(r->text, &bytes, &wrong))
        return refuse_wrong(r, &wrong);
    if (bytes < (uint64_t)TM_MEMORY_LEAST_MIB * TM_MIB) {
        (void)refuse(r, "it is less than 32M");
        if (strspn(r->text, "0123456789") == length && bytes >= TM_MEMORY_LEAST_MIB && bytes <= 4096)
            tm_hint(r->error, "a number without a unit is bytes; write %sM", r->text);
        else
            tm_hint(r->error, "give 32M or more; 256M is the default");
        return TM_ERR_USAGE;
    }
    *(size_t *)r->field = (size_t)bytes;
    return TM_OK;
}

static tm_status read_bytes(const struct reading *r)
{
    struct tm_wrong wrong;
    uint64_t bytes;

    if (!tm_read_bytes(r->text, &bytes, &wrong))
        return refuse_wrong(r, &wrong);
    if (bytes < (uint64_t)PART_LEAST_KIB << 10)
        return refuse(r, "it is less than 64K, which a part needs");
    *(uint64_t *)r->field = bytes;
    return TM_OK;
}

static tm_status read_time(const struct reading *r)
{
    struct tm_wrong wrong;

    return tm_read_time(r->text, strlen(r->text), r->field, &wrong) ? TM_OK : refuse_wrong(r, &wrong);
}

static tm_status read_count(const struct reading *r)
{
    const char *at = r->text;
    uint64_t number;

    if (!tm_take_digits(&at, &number) || at[0] || number < 1 || number > TM_ROWS_MOST)
        return refuse(r, "it is not a whole number from 1 to 10000");
    *(uint64_t *)r->field = number;
    return TM_OK;
}

static tm_status read_events(const struct reading *r)
{
    const char *at = r->text;
    uint64_t number;

    if (!tm_take_digits(&at, &number) || at[0] || number < 1)
        return refuse(r, "it is not a whole number from 1 on");
    *(uint64_t *)r->field = number;
    return TM_OK;
}

static tm_status read_number(const struct reading *r)
{
    const char *at = r->text;
    uint64_t number = 0;

    if (strcmp(at, "auto") != 0 && (!tm_take_digits(&at, &number) || at[0] || number < 1 || number > TM_NUMBER_MOST))
        return refuse(r, "it is neither auto nor a whole number from 1 to 100000");
    *(uint64_t *)r->field = number;
    return TM_OK;
}

static tm_status read_shard(const struct reading *r)
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
        tm_hint(r->error, "shares are counted from 0: the last one of %llu is %llu/%llu", (unsigned long long)count,
                (unsigned long long)count - 1, (unsigned long long)count);
        return TM_ERR_USAGE;
    }
    to->index = (uint32_t)index;
    to->count = (uint32_t)count;
    return TM_OK;
}

static tm_status read_skip(const struct reading *r)
{
    const char *at = r->text;
    uint64_t number;

    if (strcmp(at, "auto") == 0) {
        *(int64_t *)r->field = -1;
        return TM_OK;
    }
    if (!tm_take_digits(&at, &number) || at[0] || number > INT64_MAX)
        return refuse(r, "it is neither auto nor a whole number");
    *(int64_t *)r->field = (int64_t)number;
    return TM_OK;
}

static tm_status read_steps(const struct reading *r)
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
        tm_hint(r->error, "A is the first step and B the one after the last, counted from 0, as in"
                          " 10:20, 10: or :20");
        return TM_ERR_USAGE;
    }
    if (to->steps_begin >= to->steps_end)
        return refuse(r, "no step lies between its ends");
    to->steps = TM_CHOOSE_RANGE;
    return TM_OK;
}

/* The index of one of the option's words.  out: -1, with the error set, where it is none of them */
static int word_index(const struct reading *r, const char *text, size_t length)
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

static tm_status read_formats(const struct reading *r)
{
    uint32_t formats = 0;

    for (const char *at = r->text;; at++) {
        const size_t length = strcspn(at, ",");
        const int index = word_index(r, at, length);

        if (index < 0)
            return TM_ERR_USAGE;
        formats |= (uint32_t)1 << index;
        at += length;
        if (!at[0])
            break;
    }
    *(uint32_t *)r->field = formats;
    return TM_OK;
}

/* Choices: the enums are in the order of the words. */
static tm_status read_paper(const struct reading *r)
{
    const int index = word_index(r, r->text, strlen(r->text));

    if (index < 0)
        return TM_ERR_USAGE;
    *(enum tm_paper *)r->field = (enum tm_paper)index;
    return TM_OK;
}

static tm_status read_window(const struct reading *r)
{
    const int index = word_index(r, r->text, strlen(r->text));

    if (index < 0)
        return TM_ERR_USAGE;
    *(enum tm_window_choice *)r->field = (enum tm_window_choice)index;
    return TM_OK;
}

static tm_status read_color(const struct reading *r)
{
    const int index = word_index(r, r->text, strlen(r->text));

    if (index < 0)
        return TM_ERR_USAGE;
    *(enum tm_color *)r->field = (enum tm_color)index;
    return TM_OK;
}

static tm_status read_args(const struct reading *r)
{
    const int index = word_index(r, r->text, strlen(r->text));

    if (index < 0)
        return TM_ERR_USAGE;
    *(enum tm_args_level *)r->field = (enum tm_args_level)index;
    return TM_OK;
}

static tm_status refuse_by(const struct reading *r, const char *reason)
{
    (void)refuse(r, reason);
    tm_hint(r->error, "parts end by step, step=10, device or time=5s");
    return TM_ERR_USAGE;
}

/* What follows a word and '='; NULL = it does not begin so. */
static const char *value_of(const char *text, const char *word)
{
    const size_t length = strlen(word);

    return strncmp(text, word, length) == 0 && text[length] == '=' ? text + length + 1 : NULL;
}

static tm_status read_by(const struct reading *r)
{
    struct tm_options *const to = r->options;
    const char *steps = value_of(r->text, "step");
    const char *const time = value_of(r->text, "time");
    struct tm_wrong wrong;

    to->by_steps = 1;
    if (strcmp(r->text, "device") == 0) {
        to->by = TM_BY_DEVICE;
    } else if (steps || strcmp(r->text, "step") == 0) {
        to->by = TM_BY_STEP;
        if (steps && (!tm_take_digits(&steps, &to->by_steps) || steps[0] || to->by_steps < 1))
            return refuse_by(r, "it does not say how many steps");
    } else if (time) {
        to->by = TM_BY_TIME;
        if (!tm_read_time(time, strlen(time), &to->by_time_ps, &wrong))
            return refuse_by(r, wrong.reason);
        if (to->by_time_ps == 0)
            return refuse_by(r, "it is no time at all");
    } else {
        return refuse_by(r, "it is none of step, device and time");
    }
    return TM_OK;
}

static tm_status read_filter(const struct reading *r)
{
    return tm_filter_read(r->field, r->text, r->origin, r->error);
}

tm_status tm_option_read(const struct tm_option *option, const char *text, const char *origin,
                         struct tm_options *options, struct tm_error *error)
{
    static tm_status (*const readers[])(const struct reading *) = {
        [TM_KIND_FLAG] = read_flag,     [TM_KIND_TEXT] = read_text,     [TM_KIND_FORMATS] = read_formats,
        [TM_KIND_SIZE] = read_size,     [TM_KIND_TIME] = read_time,     [TM_KIND_COUNT] = read_count,
        [TM_KIND_STEPS] = read_steps,   [TM_KIND_SKIP] = read_skip,     [TM_KIND_WINDOW] = read_window,
        [TM_KIND_PAPER] = read_paper,   [TM_KIND_COLOR] = read_color,   [TM_KIND_ARGS] = read_args,
        [TM_KIND_BY] = read_by,         [TM_KIND_EVENTS] = read_events, [TM_KIND_BYTES] = read_bytes,
        [TM_KIND_FILTER] = read_filter, [TM_KIND_TEXTS] = read_texts,   [TM_KIND_NUMBER] = read_number,
        [TM_KIND_SHARD] = read_shard,
    };
    const struct reading reading = {
        .option = option,
        .text = text,
        .origin = origin,
        .field = (char *)options + option->offset,
        .options = options,
        .error = error,
    };

    return readers[option->kind](&reading);
}
