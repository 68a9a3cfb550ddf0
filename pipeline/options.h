/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_OPTIONS_H
#define TM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/arguments.h"
#include "pipeline/error.h"

/* --filter, which can be repeated; an event must match every kind that is given, and any of the terms of a kind:
 *     time=1.5s:2s      in that time after the first event; spans are clipped; either end can be omitted
 *     within=GLOB       in the time of an event of that name; spans are clipped
 *     around=TIME:GLOB   the same, and TIME before and after it (around=GLOB: 1 ms)
 *     device=gpu:0      on that device, and the calls that launched its work (also "HOST/gpu:0", "gpu", "host" for
 *     everything on no device)
 *     step=3:7          belongs to a step of that ordinal, from 0, up to but excluding 7 (step=3: that one); events
 *     without a step: in the time of one of them
 *     name=GLOB         *, ? and [a-z] as in a shell; name!=GLOB: not of that name
 *     min=10us          lasts at least that long (not applied to instants, counters, and arrows); min.python=100us: of
 *     events of that class
 *     class=kernel      of that class (docs/classes.md); class!=python: of any other class
 *     track=GLOB        on a row of that name */
enum { TM_FILTER_TERMS = 64 };

enum tm_filter_kind {
    TM_FILTER_TIME,
    TM_FILTER_DEVICE,
    TM_FILTER_STEP,
    TM_FILTER_NAME,
    TM_FILTER_NOT_NAME,
    TM_FILTER_MIN,
    TM_FILTER_MIN_CLASS,
    TM_FILTER_CLASS,
    TM_FILTER_NOT_CLASS,
    TM_FILTER_TRACK,
    TM_FILTER_AROUND,
    TM_FILTER_KINDS
};

struct tm_filter_term {
    uint8_t kind;       /* enum tm_filter_kind */
    int64_t begin, end; /* TIME in ps, STEP in ordinals, [begin, end): an end that was left out is 0, or INT64_MAX;
                              MIN: begin, in ps; MIN_CLASS: end is the class; AROUND: begin, in ps on both sides */
    const char *text;   /* DEVICE, NAME, NOT_NAME, TRACK, AROUND; CLASS too: begin is its number */
};

struct tm_filter {
    struct tm_filter_term terms[TM_FILTER_TERMS];
    size_t count;
};

/* Add one --filter.
 * in:     origin  as in tm_option_read
 * owns:   *filter keeps text
 * errors: TM_ERR_USAGE, with the valid syntax */
tm_status tm_filter_read(struct tm_filter *filter, const char *text, const char *origin,
                         struct tm_error *error) TM_MUST_USE;

struct tm_input_choice; /* pipeline/engine/analysis.h */
struct tm_setting_set;

/* The verbs, as bits: which of them take an option.  An enumerator has 32 bits. */
typedef uint64_t tm_verb_bits;

#define TM_FOR_REPORT (UINT64_C(1) << 0)
#define TM_FOR_INSPECT (UINT64_C(1) << 1)
#define TM_FOR_CONVERT (UINT64_C(1) << 2)
#define TM_FOR_SPLIT (UINT64_C(1) << 3)
#define TM_FOR_LIST (UINT64_C(1) << 4)
#define TM_FOR_EXTRACT (UINT64_C(1) << 5)
#define TM_FOR_CONFIG (UINT64_C(1) << 6)
#define TM_FOR_WORDS (UINT64_C(1) << 7) /* help, version, man, completions: they only print text */
#define TM_FOR_COMPARE (UINT64_C(1) << 8)
#define TM_FOR_SCALING (UINT64_C(1) << 9)
#define TM_FOR_CHECK (UINT64_C(1) << 10)
#define TM_FOR_BATCH (UINT64_C(1) << 11) /* all steps: scan, run, merge */
#define TM_FOR_BATCH_SCAN (UINT64_C(1) << 12)
#define TM_FOR_BATCH_RUN (UINT64_C(1) << 13)
#define TM_FOR_BATCH_MERGE (UINT64_C(1) << 14)
#define TM_FOR_BATCH_SUBMIT (UINT64_C(1) << 15)
#define TM_FOR_BATCH_PRUNE (UINT64_C(1) << 16)
#define TM_FOR_BATCH_EXPORT (UINT64_C(1) << 17)
#define TM_FOR_BRIEF (UINT64_C(1) << 18)
#define TM_FOR_SHOW (UINT64_C(1) << 19)
#define TM_FOR_QUERY (UINT64_C(1) << 20)
#define TM_FOR_SCHEMA (UINT64_C(1) << 21)
#define TM_FOR_SKILL (UINT64_C(1) << 22)
#define TM_FOR_MCP (UINT64_C(1) << 23)
#define TM_FOR_OPEN (UINT64_C(1) << 24)
#define TM_FOR_BATCH_REGRESSIONS (UINT64_C(1) << 25)
#define TM_FOR_BATCH_ACK (UINT64_C(1) << 26)
#define TM_FOR_BATCH_ACCEPT (UINT64_C(1) << 27)
#define TM_FOR_BATCH_ITEM (UINT64_C(1) << 28)
#define TM_FOR_BATCH_JOIN (UINT64_C(1) << 29)
#define TM_FOR_BATCH_TREND (UINT64_C(1) << 30)
#define TM_FOR_ALL ((UINT64_C(1) << 31) - 1)

/* What `report` and `split` write, as bits. */
enum tm_format {
    TM_FORMAT_HTML = 1 << 0,
    TM_FORMAT_PDF = 1 << 1,
    TM_FORMAT_JSON = 1 << 2,
    TM_FORMAT_TEXT = 1 << 3,
    TM_FORMAT_PARTIAL = 1 << 4,  /* schemas/PARTIAL.md */
    TM_FORMAT_PERFETTO = 1 << 5, /* beside a report */
    TM_FORMAT_PFTRACE = 1 << 6,  /* parts */
    TM_FORMAT_MARKDOWN = 1 << 7,
    TM_FORMAT_CSV = 1 << 8,       /* a folder: each table of the report in full */
    TM_FORMAT_COLLAPSED = 1 << 9, /* stacks of scopes, as flame graph tools read them */
};

/* Rows that a trace gets beside the streams of a device, as bits: the first five as enum tm_derived_work. */
enum tm_device_rows {
    TM_ROWS_MODULES = 1 << 0,
    TM_ROWS_SCOPES = 1 << 1,
    TM_ROWS_OPS = 1 << 2,
    TM_ROWS_SOURCES = 1 << 3,
    TM_ROWS_COLLECTIVES = 1 << 4,
    TM_ROWS_KERNELS = 1 << 5, /* as Perfetto's GPU plugin reads them */
    TM_ROWS_NONE = 1 << 6,
};

/* What separates the series of a job besides its hardware and its labels, as bits. */
enum tm_series_key {
    TM_SERIES_HOST = 1 << 0,
    TM_SERIES_DRIVER = 1 << 1,
    TM_SERIES_LIBRARIES = 1 << 2, /* framework, runtime and their versions */
};

/* Where `split` ends a part, besides its limits. */
enum tm_split_by { TM_BY_LIMITS, TM_BY_STEP, TM_BY_DEVICE, TM_BY_TIME, TM_BY_NAME };

enum tm_color { TM_COLOR_AUTO, TM_COLOR_ALWAYS, TM_COLOR_NEVER };

/* Table rows are members of the summary, which is in memory: a few hundred bytes each, in about ten tables. */
enum { TM_ROWS_MOST = 10000 };
/* For CSV, if not given: as many rows of several long tables as fit in the minimum memory. */
#define TM_ROWS_OF_CSV "2000"
/* Where traces are opened, if --perfetto-url is not given. */
#define TM_PERFETTO_URL "https://ui.perfetto.dev"

/* Which steps the figures are about (METRICS "analyzed steps"). */
enum tm_step_choice {
    TM_CHOOSE_AUTO,  /* complete steps that are not warm-up */
    TM_CHOOSE_ALL,   /* every activity, no choice at all */
    TM_CHOOSE_RANGE, /* steps_begin up to steps_end */
};

enum tm_window_choice { TM_WINDOW_STEPS, TM_WINDOW_SESSION };

/* For times in a file of --results; auto: seconds, unless the profiles say otherwise. */
enum tm_yes_no { TM_YES, TM_NO };
enum tm_time_unit { TM_UNIT_AUTO, TM_UNIT_S, TM_UNIT_MS, TM_UNIT_US, TM_UNIT_NS };

enum tm_paper { TM_PAPER_A4, TM_PAPER_LETTER };

/* Which share of a manifest to process (--shard).  The index counts from 0. */
struct tm_shard {
    uint32_t index, count; /* count 0 = not given: from the scheduler, else everything */
    bool is_index_told;    /* false: a scheduler's variable provides the index */
};

/* Strings of an option that may be given several times. */
enum { TM_TEXTS_MOST = TM_FILTER_TERMS };
struct tm_texts {
    const char *text[TM_TEXTS_MOST];
    size_t count;
};

/* The settings of the command line, the environment, and the configuration file, with defaults.  Strings are borrowed:
 * they live as long as the process.  An unset one is NULL. */
struct tm_options {
    char *const *inputs; /* the operands after the verb */
    size_t input_count;

    const char *output;     /* --output: a folder or a file */
    const char *tmp;        /* --tmp */
    const char *thresholds; /* --thresholds: a file */
    const char *run_name;   /* --run */
    const char *config;     /* --config: a file */
    uint32_t formats;       /* enum tm_format */
    uint64_t memory_bytes;  /* --memory, at least TM_MEMORY_LEAST_MIB MiB */
    uint64_t limit_times;   /* --raise-limits */
    uint64_t rows;          /* cap of tables */
    int64_t gap_min_ps;     /* shown gaps */

    const char *title;      /* --title of a report */
    const char *note;       /* --note, a paragraph at its top */
    enum tm_paper paper;    /* --paper of the PDF */
    bool raw;               /* --raw: strings in CSV with all their characters */
    bool redact;            /* --redact: pseudonyms for what names people, hosts, paths and programs */
    const char *redact_map; /* --redact-map: maps pseudonyms to names; private to the user */

    struct tm_filter filter; /* --filter, all of them */
    enum tm_args_level args; /* --args */
    bool arguments;          /* --arguments of inspect: what they take */
    bool zstd;               /* --zstd: packets are compressed with it */
    bool plain;              /* --plain: nothing that was computed */
    uint32_t device_rows;    /* --device-rows: enum tm_device_rows */
    bool overview;           /* --overview: what is too short to be seen is merged; of split: also of one part */
    bool no_overview;        /* --no-overview of split */
    enum tm_split_by by;     /* --by */
    uint64_t by_steps;       /* number of steps in a part */
    int64_t by_time_ps;      /* so much time */
    const char *by_name;     /* a pattern of the events at which parts end */
    uint64_t part_events;    /* --max-events: slices */
    uint64_t part_bytes;     /* --max-size: before compression */

    enum tm_time_unit time_unit;       /* --time-unit of its times */
    const char *results;               /* --results: a file of an external benchmark */
    struct tm_texts fail_on;           /* --fail-on: gates as expressions */
    const char *history;               /* --history: a database of a batch */
    const char *run_spread;            /* --run-spread: a percentage */
    const char *gate;                  /* --gate: a file */
    enum tm_yes_no fail_on_regression; /* --fail-on-regression: of a batch */
    struct tm_texts baseline;          /* --baseline: runs that gates compare with */
    const char *reason;                /* --reason: of a decision about regressions */
    const char *junit;                 /* --junit: a file to write */
    const char *markdown;              /* --markdown: a file to write */
    bool as_markdown;                  /* --markdown of brief and show: the form on stdout */
    bool as_csv;                       /* --csv: the form on stdout */
    uint64_t top;                      /* --top: rows; 0 = all */
    const char *where;                 /* --where: a condition on rows */
    const char *sort;                  /* --sort: fields */
    const char *fields;                /* --fields: what of a row */
    const char *keep_database;         /* --keep of query: a file to write */
    int64_t time_limit_ps;             /* --time-limit: clock time of a query; 0 = any */
    const char *root;                  /* --root: what `mcp` may read */
    const char *install;               /* --install: a folder of skills */
    bool no_browser;                   /* --no-browser: print the address only */
    const char *perfetto_url;          /* --perfetto-url; NULL = the public one */
    bool perfetto_link;                /* --perfetto-link: it fetches the trace */
    bool init;                         /* --init: write the gate file */

    const char *manifest;    /* --manifest: a file */
    uint64_t jobs;           /* --jobs: processes at once; 0 = as many as the machine can run */
    struct tm_shard shard;   /* --shard */
    const char *item;        /* --item: number, ID, or ID/HOST */
    int64_t lease_ps;        /* --lease: clock time; 0 = no leases */
    int64_t item_time_ps;    /* --item-timeout: clock time of one worker; 0 = no limit */
    bool retry;              /* --retry: do again what could not be read */
    const char *keys;        /* --keys: a template of path parts */
    struct tm_texts labels;  /* --label: KEY=VALUE, or a string */
    const char *night_of;    /* --night-of: "TZ, HH:MM"; NULL = days in UTC */
    uint32_t series_by;      /* --series-by: bits of enum tm_series_key */
    uint64_t confirm;        /* --confirm: runs that a regression needs */
    const char *openmetrics; /* --openmetrics: a file to write */
    const char *mirror;      /* --mirror: address of a bucket, and a prefix in it */
    bool slurm, kubernetes;  /* --slurm, --kubernetes */
    const char *image;       /* --image: of containers */
    struct tm_texts mounts;  /* --mount: CLAIM:PATH[:ro] */
    uint64_t tasks;          /* --tasks: of an array job; 0 = by size */
    struct tm_texts sbatch;  /* --sbatch: options of sbatch, unchanged */
    bool dry_run;            /* --dry-run: say it, do nothing */
    uint64_t keep;           /* --keep: nights */

    enum tm_step_choice steps;
    uint64_t steps_begin, steps_end; /* of a range: ordinals from 0, [begin, end); 0 and UINT64_MAX
                                        where an end was left open */
    int64_t skip_steps;              /* the number of leading steps that are warm-up; -1 = the rule decides */
    enum tm_window_choice window;
    enum tm_color color;

    bool latest, follow_links, force, json, stats, strict, quiet, help, version;

    struct tm_helpers helpers; /* --fetch, --listing, --store, --remove, --fetch-timeout */

    const struct tm_input_choice *choice; /* of inputs, by a batch; NULL = none: it cannot be typed */

    const struct tm_setting_set *settings; /* where each value comes from; never NULL in a verb */
};

/* How the text of an option is read. */
enum tm_option_kind {
    TM_KIND_FLAG,   /* yes or no; no by default */
    TM_KIND_TEXT,   /* a path or a name, not empty: const char *, or struct tm_texts of TM_OPTION_MANY */
    TM_KIND_WORD,   /* one of its words: an enum in their order */
    TM_KIND_WORDS,  /* some of them joined by commas: bits in their order */
    TM_KIND_SIZE,   /* bytes with K M G KiB MiB GiB: uint64_t */
    TM_KIND_TIME,   /* ns us ms s: int64_t in ps */
    TM_KIND_NUMBER, /* an integer: uint64_t, or int64_t if `most` fits */
    TM_KIND_OWN,    /* what `read` takes */
};

enum tm_option_flag {
    TM_OPTION_MANY = 1 << 0,           /* may be given several times */
    TM_OPTION_AUTO = 1 << 1,           /* NUMBER: also "auto", which is one less than `least` */
    TM_OPTION_NO_KEY = 1 << 2,         /* not from a configuration file */
    TM_OPTION_NO_ENVIRONMENT = 1 << 3, /* nor from the environment: on the command line alone */
};

struct tm_reading;
typedef tm_status tm_option_reader(const struct tm_reading *reading);

/* One row per option: the command line, the environment, the configuration file, the help strings,
 * the manual page and the completions are all made from it. */
struct tm_option {
    const char *name; /* after "--" */
    enum tm_option_kind kind;
    tm_verb_bits verbs;
    size_t offset;         /* of its field in struct tm_options */
    const char *help;      /* one clause, no full stop */
    char letter;           /* after "-"; 0 = none */
    uint32_t flags;        /* enum tm_option_flag */
    const char *argument;  /* as help shows it; NULL = takes none */
    const char *words;     /* what it may be, by blanks, for completions too; NULL = anything */
    const char *fallback;  /* as the user would type it; NULL = not set */
    uint64_t least, most;  /* of a NUMBER; least of a SIZE too, in whole KiB */
    const char *why_least; /* of a SIZE: a clause behind "it is less than 64K" */
    tm_option_reader *read;
    const char *of_verbs; /* of these verbs alone, by blanks; is before the row of that name for others; NULL = any
                           * verb */
};

/* Rows of tm_option_table, in the order in which help shows them. */
enum tm_option_index {
    TM_OPTION_OUTPUT,
    TM_OPTION_FORMAT,
    TM_OPTION_TITLE,
    TM_OPTION_NOTE,
    TM_OPTION_PAPER,
    TM_OPTION_REDACT,
    TM_OPTION_REDACT_MAP,
    TM_OPTION_STEPS,
    TM_OPTION_SKIP_STEPS,
    TM_OPTION_WINDOW,
    TM_OPTION_GAP_MIN,
    TM_OPTION_ROWS,
    TM_OPTION_TOP,
    TM_OPTION_WHERE,
    TM_OPTION_SORT,
    TM_OPTION_FIELDS,
    TM_OPTION_FILTER,
    TM_OPTION_ARGS,
    TM_OPTION_ARGUMENTS,
    TM_OPTION_ZSTD,
    TM_OPTION_PLAIN,
    TM_OPTION_DEVICE_ROWS,
    TM_OPTION_OVERVIEW,
    TM_OPTION_NO_OVERVIEW,
    TM_OPTION_RAW,
    TM_OPTION_BY,
    TM_OPTION_MAX_EVENTS,
    TM_OPTION_MAX_SIZE,
    TM_OPTION_RESULTS,
    TM_OPTION_TIME_UNIT,
    TM_OPTION_FAIL_ON,
    TM_OPTION_HISTORY,
    TM_OPTION_RUN_SPREAD,
    TM_OPTION_GATE,
    TM_OPTION_BASELINE,
    TM_OPTION_INIT,
    TM_OPTION_JUNIT,
    TM_OPTION_CSV,
    TM_OPTION_AS_MARKDOWN,
    TM_OPTION_MARKDOWN,
    TM_OPTION_MANIFEST,
    TM_OPTION_JOBS,
    TM_OPTION_SHARD,
    TM_OPTION_ITEM,
    TM_OPTION_LEASE,
    TM_OPTION_ITEM_TIMEOUT,
    TM_OPTION_RETRY,
    TM_OPTION_KEYS,
    TM_OPTION_LABEL,
    TM_OPTION_OPENMETRICS,
    TM_OPTION_SLURM,
    TM_OPTION_KUBERNETES,
    TM_OPTION_IMAGE,
    TM_OPTION_MOUNT,
    TM_OPTION_TASKS,
    TM_OPTION_SBATCH,
    TM_OPTION_DRY_RUN,
    TM_OPTION_KEEP_DATABASE,
    TM_OPTION_KEEP,
    TM_OPTION_TIME_LIMIT,
    TM_OPTION_ROOT,
    TM_OPTION_INSTALL,
    TM_OPTION_NO_BROWSER,
    TM_OPTION_FAIL_ON_REGRESSION,
    TM_OPTION_REASON,
    TM_OPTION_NIGHT_OF,
    TM_OPTION_SERIES_BY,
    TM_OPTION_CONFIRM,
    TM_OPTION_PERFETTO_URL,
    TM_OPTION_PERFETTO_LINK,
    TM_OPTION_THRESHOLDS,
    TM_OPTION_RUN,
    TM_OPTION_LATEST,
    TM_OPTION_FOLLOW_LINKS,
    TM_OPTION_FETCH,
    TM_OPTION_LISTING,
    TM_OPTION_STORE,
    TM_OPTION_REMOVE,
    TM_OPTION_MIRROR,
    TM_OPTION_FETCH_TIMEOUT,
    TM_OPTION_FORCE,
    TM_OPTION_JSON,
    TM_OPTION_STRICT,
    TM_OPTION_MEMORY,
    TM_OPTION_RAISE_LIMITS,
    TM_OPTION_TMP,
    TM_OPTION_STATS,
    TM_OPTION_QUIET,
    TM_OPTION_COLOR,
    TM_OPTION_CONFIG,
    TM_OPTION_VERSION,
    TM_OPTION_HELP,
    TM_OPTION_COUNT
};

extern const struct tm_option tm_option_table[TM_OPTION_COUNT];

/* The name of an option elsewhere: "skip_steps" of the configuration file, "TRACEMILL_SKIP_STEPS" of the environment.
 * out: `out`; NULL = it is not taken from there */
enum { TM_OPTION_NAME_BYTES = 40 };
const char *tm_option_key(const struct tm_option *option, char out[TM_OPTION_NAME_BYTES]);
const char *tm_option_environment(const struct tm_option *option, char out[TM_OPTION_NAME_BYTES]);

/* True for options that a run can be configured with: all but help, version, config and force. */
bool tm_option_is_setting(const struct tm_option *option);

/* True for options that may be given several times. */
bool tm_option_is_list(const struct tm_option *option);

/* Read one value into its field.
 * in:     origin  where the user would look: "--memory", "TRACEMILL_MEMORY", "'memory' in 'x.json'"
 * owns:   *options keeps `text`
 * errors: TM_ERR_USAGE, with the reason and what would be right */
tm_status tm_option_read(const struct tm_option *option, const char *text, const char *origin,
                         struct tm_options *options, struct tm_error *error) TM_MUST_USE;

/* The option of this configuration key; NULL if there is none.  Rows that only one verb has are excluded. */
const struct tm_option *tm_option_by_key(const char *key);

/* Where an effective value comes from; a later one overrides an earlier one. */
enum tm_setting_origin { TM_ORIGIN_DEFAULT, TM_ORIGIN_CONFIG, TM_ORIGIN_ENVIRONMENT, TM_ORIGIN_FLAG };

struct tm_setting {
    const char *text; /* as the user typed it; NULL = not set */
    enum tm_setting_origin origin;
};

/* A configuration file is read whole. */
enum { TM_CONFIG_MOST_BYTES = 64 << 10 };

/* The effective text of every option, with its origin.  Holds the strings of the configuration file;
 * those of the command line and of the environment are borrowed.  Not to be moved once it is
 * filled. */
struct tm_setting_set {
    struct tm_setting of[TM_OPTION_COUNT];  /* of an option that may be given several times: the last text */
    struct tm_texts lists[TM_OPTION_COUNT]; /* of such an option: all of them */
    const char *config_path;
    size_t config_used;
    char config_text[2 * TM_CONFIG_MOST_BYTES];
};

/* Start with the defaults of the table. */
void tm_settings_init(struct tm_setting_set *set);

/* Remove the options from a command line.  Long names must be complete, so a new option never breaks a script.  Options
 * and operands may be mixed; "--" ends the options.
 * in:     argv      argv[0] is skipped
 *         has_groups  whether a verb has groups of operands: "--" after the first of them then separates two groups, is
 *         returned as an operand, and options may follow; NULL = none has
 * out:    operands  are moved to argv[1] ... argv[*operand_count]
 * errors: TM_ERR_USAGE, with the nearest option as a hint */
tm_status tm_settings_take_flags(struct tm_setting_set *set, int argc, char **argv,
                                 bool (*has_groups)(const char *verb), size_t *operand_count,
                                 struct tm_error *error) TM_MUST_USE;

/* Take the environment, then the file that --config or TRACEMILL_CONFIG names, if any, for
 * everything that is not set by something stronger.
 * errors: TM_ERR_USAGE for a file that is missing, is not JSON object or has a wrong key or value */
tm_status tm_settings_take_environment(struct tm_setting_set *set, struct tm_error *error) TM_MUST_USE;

/* The same for the text of a configuration file; `path` is for messages and is kept. */
tm_status tm_settings_take_config(struct tm_setting_set *set, const char *path, const char *text, size_t length,
                                  struct tm_error *error) TM_MUST_USE;

/* Refuse options of the command line that the verb does not take.  Its environment and its
 * configuration file may hold settings for other verbs. */
tm_status tm_settings_check_verb(const struct tm_setting_set *set, const char *verb, tm_verb_bits bit,
                                 struct tm_error *error) TM_MUST_USE;

/* Read all values; inputs are left as they are.  *options refers to the set afterwards. */
tm_status tm_settings_apply(struct tm_setting_set *set, struct tm_options *options, struct tm_error *error) TM_MUST_USE;

/* An effective value, as the user would type it; several of them joined by blanks.  out: NULL = not set */
const char *tm_settings_text(const struct tm_setting_set *set, enum tm_option_index index, char *out, size_t out_bytes);

/* Where a value comes from, as a user would look for it: "default", "--memory", "TRACEMILL_MEMORY",
 * or the path of the configuration file. */
const char *tm_settings_place(const struct tm_setting_set *set, enum tm_option_index index, char *out,
                              size_t out_bytes);

#endif
