/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HISTORY_H
#define TM_HISTORY_H

#include <sqlite3.h>

#include "pipeline/doc/doc.h"
#include "pipeline/doc/run_figures.h"
#include "pipeline/nightly/manifest.h"
#include "pipeline/nightly/result.h"
#include "pipeline/run.h"
#include "reports/format/format.h"
#include "reports/statistics/statistics.h"

/* The history of a batch: history.db, a SQLite database with a row for each run (schemas/BATCH.md has the tables, for
 * SQL users).  Only merging writes it, completely each time: the old one is copied row by row into a file beside
 * it, which is then renamed.  It therefore needs no lock and no journal, is always complete, and has the same
 * bytes for the same rows. */

/* One row.  Texts are valid UTF-8; "" = null in the table. */
struct tm_history_run {
    const char *id, *name, *path; /* path: of the run below its root, as in the manifest */
    struct tm_run_keys keys;
    const char *status;  /* tm_result_status_words */
    const char *message; /* why it failed */
    const char *report;  /* folder of its report, from OUT: "runs/ab/ID"; "" = none, or pruned */
    const char *summary; /* its summary, from OUT: "runs/ab/ID/summary.json"; pruned runs that gates compare with
                                     keep it; "" = none */
    const char *platform, *model;
    int64_t hosts, devices;               /* -1 = not known */
    const char *environment[TM_ENV_KEYS]; /* tm_environment_facts */
    const char *verdict, *severity, *finding;
    const char *gates;      /* "passed", "failed", "unknown"; "" = never assessed */
    const char *gates_text; /* the first that failed */
    const char *fingerprint, *version, *options;
    const char *page;    /* the night whose page shows and assesses it: the last one when it was added or changed;
                            "" = none yet (tm_history_settle) */
    int64_t definitions; /* version of the definitions of its figures: only those of TM_SUMMARY_VERSION are compared */
    double figure[TM_FIGURES_MOST]; /* NaN = null; tm_figure_count of them */
};

/* Whether its figures follow the current definitions.  Others stay in the history, for SQL, and are in no baseline,
 * trend, change point or gate. */
bool tm_history_is_current(const struct tm_history_run *row);

/* The severity of its verdict in current words: rows of version 1 have "bad" for "critical". */
const char *tm_history_severity(const struct tm_history_run *row);

struct tm_history;

/* Open for reading.
 * owns:   the caller; tm_history_close
 * errors: TM_ERR_INPUT  missing, damaged (by PRAGMA integrity_check), of another version or program: with the remedy */
tm_status tm_history_open(struct tm_history **history, struct tm_run *run, const char *path);
/* Start the next one with a copy of the file at `path`, if it exists. errors: also TM_ERR_OUTPUT */
tm_status tm_history_renew(struct tm_history **history, struct tm_run *run, const char *path);

/* Add a row, or replace the one with its id. Gate results of the same fingerprint and options are kept.  So
 * does its page if the row has none and the run is the same: job, night, status, fingerprint, options, version. */
tm_status tm_history_put(struct tm_history *history, const struct tm_history_run *row);
tm_status tm_history_set_gates(struct tm_history *history, const char *id, const char *gates, const char *text);
/* A renewed one replaces the old one.  Its rows can be visited before and afterwards. */
tm_status tm_history_commit(struct tm_history *history);
void tm_history_close(struct tm_history *history); /* removes what was not committed; tolerates NULL */

/* Go through rows.  The row is borrowed until `take` returns; `take` may not write. */
enum tm_history_order {
    TM_HISTORY_BY_JOB,  /* job, when, id: each job's runs one after the other, oldest first */
    TM_HISTORY_BY_TIME, /* when, id, newest first */
    TM_HISTORY_OLDEST,  /* when, id */
    TM_HISTORY_BY_ID,
};

struct tm_judged_night;

struct tm_history_query {
    enum tm_history_order order;
    const char *job;                      /* only this one; NULL = all */
    const struct tm_judged_night *judged; /* only its runs; NULL = all */
    const char *until, *after;            /* only nights up to this one; only later ones; NULL = all */
    uint64_t most;                        /* rows; 0 = all */
};

typedef tm_status tm_take_history_run(void *to, const struct tm_history_run *row);

tm_status tm_history_visit(struct tm_history *history, const struct tm_history_query *query, tm_take_history_run *take,
                           void *to);

/* The names of all jobs, sorted, each once: `take` is called with each until it fails. */
typedef tm_status tm_take_job(void *to, const char *job);
tm_status tm_history_visit_jobs(struct tm_history *history, tm_take_job *take, void *to);

/* The run with this id: `take` is called once, or not at all. */
tm_status tm_history_find(struct tm_history *history, const char *id, tm_take_history_run *take, void *to);

/* --- the ledger of regressions (ledger.c) --- */

enum tm_ledger_state {
    TM_LEDGER_OPEN,
    TM_LEDGER_UNCONFIRMED,  /* open, but shown by fewer runs than --confirm wants: no alarm */
    TM_LEDGER_ACKNOWLEDGED, /* still open, but known: no alarm unless it grows */
    TM_LEDGER_RECOVERED,    /* the figure is back, at the same revision or an unknown one */
    TM_LEDGER_FIXED,        /* the figure is back since another revision */
    TM_LEDGER_ACCEPTED,     /* the new level is the baseline */
    TM_LEDGER_DISMISSED,    /* the figure usually varies by as much */
    TM_LEDGER_WITHDRAWN,    /* the rows no longer show what was open in an earlier merge: the reason says why */
    TM_LEDGER_ENDED,        /* no run of the series for TM_LEDGER_NIGHTS nights */
    TM_LEDGER_STATES
};

enum { TM_LEDGER_NIGHTS = 30, TM_LEDGER_ID_BYTES = 16 };

extern const char *const tm_ledger_state_words[];
enum tm_ledger_state tm_ledger_state_of(const char *word); /* TM_LEDGER_STATES = none of them */

/* A regression of a figure of a job on some hardware.  Texts are valid UTF-8; "" = null in the table. */
struct tm_history_regression {
    const char *id; /* stays the same while the regression is in the ledger */
    const char *job;
    const char *series; /* 16 hex digits: of the hardware and other properties that its runs share */
    const char *model;
    int64_t hosts, devices; /* -1 = not known */
    const char *figure;     /* id in tm_figure_table */
    const char *kind;       /* "step", "drift" */
    const char *state;      /* tm_ledger_state_words */
    double before, after;   /* level of the baseline; median of the last three runs */
    double score;           /* of the change when it was found: 1 = the limit */
    int64_t runs;           /* at the new level */
    const char *since;      /* night of its first run */
    int64_t since_ns;
    const char *first_run, *revision;
    const char *good_run, *revision_before; /* the run before it */
    const char *opened, *opened_run;        /* the run that showed it, and its night */
    const char *closed, *closed_run;        /* the run that closed it, and its night; without a run, that of the page */
    const char *last;                       /* night of the newest run of the series, or of the one that closed it */
    int64_t last_ns;
    const char *cause;
    const char *reason;  /* of who acknowledged or accepted it, from decisions.jsonl; why it was withdrawn or ended */
    const char *decided; /* the day of the decision */
};

/* Open: an alarm, to be confirmed, or acknowledged. */
bool tm_ledger_is_open(const struct tm_history_regression *row);

typedef tm_status tm_take_regression(void *to, const struct tm_history_regression *row);

/* By job, figure and time.  The row is borrowed until `take` returns; `take` may not change the ledger.
 * in: job  only this one; NULL = all */
tm_status tm_history_visit_regressions(struct tm_history *history, const char *job, tm_take_regression *take, void *to);
tm_status tm_history_put_regression(struct tm_history *history, const struct tm_history_regression *row);
tm_status tm_history_drop_regressions(struct tm_history *history, const char *job);
/* Those without a run in the last TM_LEDGER_NIGHTS nights up to this one end, with the page that showed the last of
 * these first.  All runs have a page by then (tm_history_settle). */
tm_status tm_history_end_regressions(struct tm_history *history, const char *until);

/* Of those that started between these runs. */
tm_status tm_history_set_cause(struct tm_history *history, const char *good_run, const char *first_run,
                               const char *cause);

/* Decisions about regressions: kept beside the history, since they cannot be derived from results. */
enum tm_decision_kind { TM_DECISION_ACKNOWLEDGED, TM_DECISION_ACCEPTED };

struct tm_decision {
    struct tm_decision *next;
    size_t bytes; /* that it takes */
    enum tm_decision_kind kind;
    const char *id, *job, *series, *figure, *reason, *decided;
    int64_t since_ns, last_ns; /* of the regression at the time of the decision, so that it is found without its id */
    double before, after;
};

/* Bring the ledger of a renewed history up to date with its rows and the decisions: docs/night.md, "The ledger". */
tm_status tm_ledger_update(struct tm_run *run, struct tm_history *history, const struct tm_judged_night *judged,
                           const struct tm_decision *decisions);

/* --- nights --- */

/* What a merge shows and assesses: the runs of the last night, and those of other nights that were added or changed
 * while it was the last one.  A run that is dated more than a day ahead of the clock belongs to no night: otherwise a
 * wrong clock or a wrong name would hide all others. */
struct tm_judged_night {
    char last[11];      /* the newest night up to that; "" = there is none */
    char until[11];     /* the day after today, UTC */
    uint32_t series_by; /* enum tm_series_key */
    uint64_t confirm;   /* runs that a regression needs before it is an alarm: --confirm */
};

/* The day after today by the machine's clock, or by SOURCE_DATE_EPOCH if that is later. */
void tm_history_until(char until[11]);
/* The day of that clock, UTC. */
void tm_history_today(char day[11]);
/* in: until  filled by tm_history_until.  out: last */
tm_status tm_history_last_night(struct tm_history *history, struct tm_judged_night *judged);
/* The same for a renewed one with all its rows: those that have no page yet, and have no future dates, get this one. */
tm_status tm_history_settle(struct tm_history *history, struct tm_judged_night *judged);
/* Is a run shown and assessed?  Runs of older nights are not, once their reports were pruned. */
bool tm_history_is_judged(const struct tm_judged_night *judged, const struct tm_history_run *row);
bool tm_history_is_ahead(const struct tm_judged_night *judged, const struct tm_history_run *row);
/* The oldest of this many newest nights up to `until`; "" = there are no more nights. */
tm_status tm_history_oldest_of(struct tm_history *history, const char *until, uint64_t nights, char night[11]);

/* A line of JSON per row, by job: the same bytes for the same rows. */
tm_status tm_history_export(struct tm_history *history, FILE *to);

/* --- documents made from it --- */

/* Fill a document "tracemill.night" (schemas/NIGHT.md): the last night, what regressed and improved, trends, change
 * points, failures.
 * in:     rows  of each table
 * errors: TM_ERR_LIMIT if memory runs out */
struct tm_nightly_options {
    const char *title, *note; /* NULL = none */
    size_t rows;
    const char *report; /* name of the file of a run's folder that links lead to: "report.html"; NULL = to the folder */
    const struct tm_judged_night *judged;
    const struct tm_value *gates; /* of this merge: tm_nightly_gates; NULL = none were requested */
};

tm_status tm_nightly_fill(struct tm_run *run, struct tm_doc *out, struct tm_history *history,
                          const struct tm_nightly_options *options);

/* feed.atom and status.svg, of the document of a night.  errors: TM_ERR_OUTPUT */
tm_status tm_night_feed_write(struct tm_run *run, const struct tm_value *night, FILE *to) TM_MUST_USE;
tm_status tm_night_badge_write(struct tm_run *run, const struct tm_value *night, FILE *to) TM_MUST_USE;

/* The newest figures of each job, and the status of its newest run, in the OpenMetrics text format.
 * in:  night  its document; NULL = not known */
tm_status tm_openmetrics_write(struct tm_run *run, struct tm_history *history, const struct tm_judged_night *judged,
                               const struct tm_value *night, FILE *to) TM_MUST_USE;

/* Shared by the files history*.c. */

enum {
    HISTORY_APPLICATION = 0x544d4842, /* "TMHB" */
    HISTORY_PAGE_BYTES = 8192,        /* a row takes up to a quarter of a page before it overflows */
    HISTORY_SQL_BYTES = 8192,
    TM_HISTORY_OP_STATEMENTS = 7, /* of op_times.c */
    HISTORY_PATH_BYTES = 4096
};

struct tm_history {
    struct tm_run *run;
    sqlite3 *db;                                          /* the file, read only; of a renewed one: a nameless file */
    sqlite3_stmt *put, *gates, *put_regression;           /* of a renewed one, after their first use */
    sqlite3_stmt *find, *records_of_job;                  /* of tm_history_find and tm_history_visit_regressions */
    sqlite3_stmt *put_levels, *find_levels;               /* of the functions of these names */
    sqlite3_stmt *op_statement[TM_HISTORY_OP_STATEMENTS]; /* likewise, of op_times.c */
    bool is_renewed, is_committed;
    int64_t tables;                  /* their version: PRAGMA user_version */
    char path[HISTORY_PATH_BYTES];   /* as given by the caller: for messages */
    char folder[HISTORY_PATH_BYTES]; /* of it, without links */
    const char *name;                /* in that folder: the end of path */
};

/* --- history.c: the contents of the file --- */

/* CREATE statements, in execution order.
 * in:     schema  "main", or another: the prefix of the name in the statement; "" = as in sqlite_schema
 *         tables  their version
 * out:    NULL = no more */
const char *tm_history_object(char sql[HISTORY_SQL_BYTES], const char *schema, int64_t tables, size_t index);

/* --- history_sql.c: statements on the file --- */

#define TM_HISTORY_HINT "move it away and merge again: a new one is created from the results in the manifest"

/* NULL after a failure. */
sqlite3_stmt *tm_history_prepare(struct tm_history *history, const char *sql);
/* SQLite's message about the last failed call.  in: db  another than that of the history; NULL = out of memory */
tm_status tm_history_fail(struct tm_history *history);
tm_status tm_history_fail_of(struct tm_history *history, sqlite3 *db);
tm_status tm_history_damaged(struct tm_history *history, const char *what);

/* --- common --- */

/* Shared state of the parts of tm_nightly_fill.  One pass over the history, job by job, determines the state of each
 * job; then the most important jobs are read again, one after the other, for their details.  Only the last runs of one
 * job are in memory at a time, and a short record of each job. */
enum {
    NIGHT_POINTS = 400, /* runs of a job: the last ones */
    NIGHT_NIGHTS = 8,   /* the last night, and previous ones that determine whether a job usually runs */
    NIGHT_USUAL = 4,    /* of the previous nights: a job that ran this often is missed */
    NIGHT_RECENT = 30,  /* runs in the row of a job */
    NIGHT_TREND_JOBS = 24,
    NIGHT_LISTED = 2000, /* jobs, and runs, unless --rows requests shorter tables than the default */
    NIGHT_TRENDS_OF_JOB = 3,
    NIGHT_TRENDS = 48, /* drawn */
    NIGHT_DATE = 11,
    NIGHT_REVISION = 48,
    NIGHT_MODEL = 96,
    NIGHT_HOST = 64,
    NIGHT_MACHINES = 32,
    NIGHT_ID = 128,
    NIGHT_TEXT = 512,
};

/* A run, as a job keeps it. */
struct night_point {
    int64_t when_ns, step; /* step: -1 = not known */
    uint8_t status;        /* enum tm_result_status */
    bool is_judged;        /* it is on the page: tm_history_is_judged */
    uint64_t hardware;     /* hash of its devices' model and number, and of the number of hosts */
    char model[NIGHT_MODEL], host[NIGHT_HOST];
    bool is_on_slow_host; /* tm_nightly_mark_machines */
    int64_t hosts, devices;
    bool is_current; /* its figures follow the current definitions; otherwise all are NaN */
    char night[NIGHT_DATE], revision[NIGHT_REVISION], id[NIGHT_ID];
    char training[TM_KEY_BYTES];
    double figure[TM_FIGURES_MOST]; /* NaN = null */
};

/* Further data about the newest run of a job. */
struct night_texts {
    char name[NIGHT_TEXT], label[NIGHT_TEXT], labels[NIGHT_TEXT], message[NIGHT_TEXT], report[NIGHT_TEXT],
        platform[NIGHT_TEXT], model[NIGHT_TEXT], verdict[NIGHT_TEXT], severity[NIGHT_TEXT], finding[NIGHT_TEXT],
        gates[NIGHT_TEXT];
    int64_t hosts, devices;
};

/* The last runs of one job, oldest first: place i at point[(first + i) % NIGHT_POINTS]. */
struct night_history {
    char job[TM_KEY_BYTES];
    size_t first, count;
    uint64_t runs;                         /* including those that no longer exist */
    char nights[NIGHT_NIGHTS][NIGHT_DATE]; /* its last ones, newest first */
    const struct tm_judged_night *judged;  /* of the newest run on the page; else of the newest of all */
    bool is_of_judged;
    struct night_texts texts;
    struct night_point point[NIGHT_POINTS];
};

void tm_nightly_history_begin(struct night_history *history, const char *job, const struct tm_judged_night *judged);
void tm_nightly_history_add(struct night_history *history, const struct tm_history_run *row);
/* Insert a night into the newest ones, newest first, without duplicates. */
void tm_nightly_keep_night(char nights[NIGHT_NIGHTS][NIGHT_DATE], const char *night);
const struct night_point *tm_nightly_point_at(const struct night_history *history, size_t index);

/* --- its regressions (ledger.c) --- */

/* Is it a figure by which a job is assessed? */
bool tm_nightly_counts(const struct tm_run_figure *figure);
/* A smaller change is not reported. */
struct tm_least_change tm_nightly_least_change(const struct tm_run_figure *figure);

struct night_record {
    struct night_record *next;
    size_t bytes;
    bool is_taken;
    struct tm_history_regression of; /* its texts follow it */
};

/* Of one job, by figure and time. */
struct night_records {
    struct tm_run *run;
    struct night_record *first, *last;
    bool is_decided_anew; /* `decisions` has what was accepted, not the records */
    const struct tm_decision *decisions;
};

/* owns: the caller; tm_nightly_free_records, also after a failure */
tm_status tm_nightly_read_records(struct night_records *records, struct tm_run *run, struct tm_history *history,
                                  const char *job);
void tm_nightly_free_records(struct night_records *records);

/* The good runs of a job on some hardware.  Those of one night and revision are a group, whose median is one value;
 * checkpoints of a training run are values of their own. */
struct night_series {
    char text[TM_FINGERPRINT_BYTES];                  /* of its key: as a record has it */
    uint16_t group_of[NIGHT_POINTS];                  /* of each point; UINT16_MAX = of none */
    uint16_t first[NIGHT_POINTS], last[NIGHT_POINTS]; /* points of each group */
    size_t count;                                     /* of groups */
    /* of the figure that was chosen last */
    double value[NIGHT_POINTS];
    uint16_t group[NIGHT_POINTS]; /* of each value */
    size_t values;
    struct tm_watched watched;
    bool is_improved; /* by a run of the page */
};

/* The noise of the figures of jobs that run on the same machines: estimated from a sample of them. */
struct night_noise;

/* Read it from the last nights of a history.
 * in:     room   for the runs of a job
 * owns:   the caller; tm_nightly_free_noise, also after a failure */
tm_status tm_nightly_learn_noise(struct night_noise **noise, struct tm_run *run, struct tm_history *history,
                                 const struct tm_judged_night *judged, struct night_history *room,
                                 struct night_series *series);
void tm_nightly_free_noise(struct night_noise *noise, struct tm_run *run); /* tolerates NULL */
/* Of jobs on devices of this model; of all if there are too few of them. */
struct tm_shared_noise tm_nightly_noise_of(const struct night_noise *noise, size_t figure, const char *model);

/* Is it an alarm: open, not acknowledged, and shown by as many runs as --confirm wants? */
bool tm_ledger_is_alarm(const struct tm_history_regression *row);

/* Hosts on which a job is always slow, unlike on others before and after: their runs belong to no series,
 * since they reflect the machine and not the job. */
struct night_machine {
    char host[NIGHT_HOST];
    size_t runs, jobs;
    double slower_pct;      /* the median over the runs; of several jobs the largest */
    char night[NIGHT_DATE]; /* of its last run */
};

size_t tm_nightly_mark_machines(struct night_history *history, struct night_machine found[NIGHT_MACHINES]);

/* The series of a job, those that ran last first.  out: keys (struct night_point's hardware), their number */
size_t tm_nightly_series(const struct night_history *history, uint64_t keys[], size_t most);
void tm_nightly_choose_series(struct night_series *series, const struct night_history *history, uint64_t key);
/* The values of one figure of the chosen series. */
void tm_nightly_find_values(struct night_series *series, const struct night_history *history, size_t figure);
/* The smallest change of a figure of the chosen series that counts: of a part of the step also a share of the step. */
struct tm_least_change tm_nightly_least_of(const struct night_series *series, const struct night_history *history,
                                           size_t figure);
/* Find regressions and follow them.
 * in:  noise  of other jobs
 * out: the record that the first regression found continues, since its start is not in memory; NULL = none */
const struct tm_history_regression *tm_nightly_watch(struct night_series *series, const struct night_history *history,
                                                     size_t figure, const struct night_records *records,
                                                     const struct night_noise *noise);
/* The first and the last run of a value. */
const struct night_point *tm_nightly_first_of(const struct night_series *series, const struct night_history *history,
                                              size_t value);
const struct night_point *tm_nightly_last_of(const struct night_series *series, const struct night_history *history,
                                             size_t value);
/* Is it a record of this figure of a series?  in: text  of its key */
bool tm_nightly_is_of(const struct tm_history_regression *row, const char *text, size_t figure);
void tm_nightly_series_text(char text[TM_FINGERPRINT_BYTES], uint64_t key);

/* --- the state of a job --- */

enum night_state {               /* in the order in which jobs are listed */
                   NIGHT_FAILED, /* its newest run of the page */
                   NIGHT_WORSE,
                   NIGHT_ABSENT,  /* it used to run */
                   NIGHT_PARTIAL, /* its newest run has a damaged input: its figures are not compared */
                   NIGHT_BETTER,
                   NIGHT_NEW,   /* no run before those of the page */
                   NIGHT_YOUNG, /* too few good runs before to compare with */
                   NIGHT_SAME,
                   NIGHT_GONE, /* of another night, and not missed: not listed */
};

extern const char *const tm_nightly_state_words[];

struct night_figure {
    double value, before, band; /* NaN = not known; band: a smaller change is not reported */
    double change;              /* in percent; of a share in points */
    double weight;              /* how much it matters, 0 to ...: of a part of the step, as a share of the step */
    enum night_state state;     /* NIGHT_WORSE, NIGHT_BETTER, NIGHT_SAME; NIGHT_YOUNG = not assessed */
    size_t runs;                /* values of the baseline */
    const struct tm_history_regression *open; /* its record, also an acknowledged one; NULL = none */
};

/* What the ledger knows of a figure: struct tm_watched. */
struct night_level {
    double level, band, improved_from; /* NaN = not known */
    uint64_t values;
    bool is_improved; /* by a run of the page */
};

/* Of the figures by which a job is assessed, in the order of their table, for the series of the newest run of the page. */
enum { NIGHT_LEVELS = 16 };
struct night_levels {
    uint64_t hardware; /* struct night_point's, of the series; 0 = there is none */
    struct night_level of[NIGHT_LEVELS];
};

/* tm_ledger_update keeps them beside the rows, until the history is closed. */
tm_status tm_history_put_levels(struct tm_history *history, const char *job, const struct night_levels *levels);
/* out: hardware 0 if the ledger was not updated */
tm_status tm_history_find_levels(struct tm_history *history, const char *job, struct night_levels *levels);

struct night_judgement {
    enum night_state state;
    const struct night_point *newest; /* of the page; of an absent job its last one; NULL = it has none */
    size_t worst; /* of a job that regressed or improved: the figure that shows it; tm_figure_count = none */
    double weight;
    struct night_figure figure[TM_FIGURES_MOST];
};

/* in:     records  of the job
 *         levels   of the job, from the ledger
 * out:    of a job without a run on the page: NIGHT_GONE and its newest run; whether it is missed depends on the nights
 *         of other jobs */
void tm_nightly_judge(struct night_judgement *to, const struct night_history *history,
                      const struct night_records *records, const struct night_levels *levels);
/* The place after its newest run that is assessed; 0 = there is none. */
size_t tm_nightly_newest(const struct night_history *history);
/* In percent, or in points of a share; NaN = it was 0. */
double tm_nightly_change_of(const struct tm_run_figure *figure, double before, double after);

/* --- all jobs --- */

/* The regressions on the page, in the order of its lists. */
enum night_part {
    NIGHT_OPENED,      /* by a run of the page */
    NIGHT_OPEN,        /* since an earlier one */
    NIGHT_UNCONFIRMED, /* shown by too few runs */
    NIGHT_ACKNOWLEDGED,
    NIGHT_CLOSED, /* by a run of the page, or withdrawn or ended on it */
    NIGHT_PARTS
};

/* Open and not acknowledged.  in: regressions  of a job or of all */
static inline size_t tm_nightly_alarms(const size_t regressions[NIGHT_PARTS])
{
    return regressions[NIGHT_OPENED] + regressions[NIGHT_OPEN];
}

struct night_job {
    char job[TM_KEY_BYTES];
    char nights[NIGHT_NIGHTS][NIGHT_DATE];
    enum night_state state;
    double weight;          /* orders jobs of a state */
    double step_change_pct; /* NaN = not assessed */
    bool is_step_worse;
    size_t regressions[NIGHT_PARTS]; /* of its figures */
    double spread_pct;               /* of its step time; NaN = it is stable, or unknown */
    size_t spread_runs;
    bool differs_by_host; /* the reason */
};

struct night {
    struct tm_run *run;
    struct tm_doc *doc;
    struct tm_value *root;
    struct tm_history *source;
    const struct tm_nightly_options *options;
    const struct tm_judged_night *judged;
    const char *date; /* the last night */
    char usual[NIGHT_NIGHTS][NIGHT_DATE];
    struct night_job *job;            /* by importance once all are there */
    size_t jobs, room, jobs_that_ran; /* of the page */
    size_t of_state[NIGHT_GONE + 1];
    uint64_t runs, nights;                            /* in the history */
    uint64_t older;                                   /* of the runs: of older definitions */
    uint64_t status[TM_RESULT_MISSING + 1], of_night; /* runs that are assessed */
    uint64_t of_others;                               /* of these: of other nights */
    uint64_t ahead;                                   /* runs in the history with future dates: of no job here */
    struct night_history *history;                    /* room for one */
    struct night_series *watched;                     /* likewise */
    struct night_records records;                     /* of the job that was read last */
    double *series, *scratch;                         /* NIGHT_POINTS, 3 * NIGHT_POINTS + 1 */
    size_t regressions[NIGHT_PARTS];
    struct night_machine machine[NIGHT_MACHINES];
    size_t machines;
    size_t jobs_opened; /* jobs in which one opened */
    uint64_t regressions_left_out;
    size_t trends, jobs_drawn, worse_told;
    uint64_t changes_left_out, points_left_out;
};

/* --- the parts of the document --- */

void tm_nightly_add_worse_finding(struct night *night, const struct night_judgement *judged);
void tm_nightly_add_trends(struct night *night, const struct night_judgement *judged, bool is_drawn);
void tm_nightly_add_failed_finding(struct night *night);
void tm_nightly_add_gates_finding(struct night *night);
void tm_nightly_add_absent_finding(struct night *night);
void tm_nightly_add_ahead_finding(struct night *night);
void tm_nightly_add_machine_findings(struct night *night);
/* Of the series of the newest run: does the step time vary too much? */
void tm_nightly_note_spread(struct night *night, struct night_job *job);
void tm_nightly_add_unstable(struct night *night); /* "unstable", "machines" */
void tm_nightly_add_gates(struct night *night);

/* The regressions in night->records: count them, or write those of a part. */
void tm_nightly_count_regressions(struct night *night, struct night_job *job);
void tm_nightly_add_regressions(struct night *night, enum night_part part);
void tm_nightly_add_groups(struct night *night); /* once they are there: those of several jobs between two revisions */
/* "runs/ab/ID/report.html" of a folder "runs/ab/ID"; a null with a reason if there is none that is safe to link to. */
void tm_nightly_add_link(struct tm_value *to, const char *key, const struct night *night, const char *report);

/* Runs with a failed gate. */
uint64_t tm_nightly_gates_failed(const struct night *night);

/* --- members --- */

/* A number; an integer is written as such.  NaN = null */
void tm_nightly_add_number(struct tm_value *to, const char *key, double value, const char *why);

/* A figure with its unit, as people read it.  out: TM_FORMAT_BYTES, returned */
char *tm_nightly_value(char *out, double value, const struct tm_run_figure *figure);
/* "+12.4 %"; of a share "+2.1 points"; "" of NaN.  out: TM_FORMAT_BYTES, returned */
char *tm_nightly_change(char *out, double change, const struct tm_run_figure *figure);

#endif
