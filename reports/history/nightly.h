/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_NIGHTLY_H
#define TM_NIGHTLY_H

#include "pipeline/nightly/result.h"
#include "reports/format/format.h"
#include "reports/history/history.h"
#include "reports/statistics/change_points.h"

/* What the parts of tm_nightly_fill share.  The history is gone through once, job by job, which tells how each job stands; then
 * the jobs that matter most are read again, one after the other, for what is told of them.  Only the last runs of one job
 * are in memory at a time, and a short record of each job. */
enum {
    NIGHT_POINTS = 400, /* runs of a job: the last ones */
    NIGHT_BEFORE = 7,   /* good runs that the newest one is held against */
    NIGHT_BEFORE_LEAST = 3,
    NIGHT_SPREAD = 20, /* good runs whose steps from one to the next tell how much a figure varies */
    NIGHT_NIGHTS = 8,  /* the last night and those before it that tell whether a job is usual */
    NIGHT_USUAL = 4,   /* of the others: a job that ran so often is missed */
    NIGHT_TREND_JOBS = 24,
    NIGHT_TRENDS_OF_JOB = 3,
    NIGHT_TRENDS = 48, /* drawn */
    NIGHT_DATE = 11,
    NIGHT_REVISION = 48,
    NIGHT_ID = 128,
    NIGHT_TEXT = 512,
};

/* A run, as a job keeps it. */
struct night_point {
    int64_t when_ns, step; /* step: -1 = not known */
    uint8_t status;        /* enum tm_result_status */
    bool is_judged;        /* it is of the page: tm_history_is_judged */
    bool is_current;       /* its figures keep to the definitions of now; else they are all NaN */
    char night[NIGHT_DATE], revision[NIGHT_REVISION], id[NIGHT_ID];
    char training[TM_KEY_BYTES];
    double figure[TM_FIGURES_MOST]; /* NaN = null */
};

/* What else is told of the newest run of a job. */
struct night_texts {
    char name[NIGHT_TEXT], label[NIGHT_TEXT], message[NIGHT_TEXT], report[NIGHT_TEXT], platform[NIGHT_TEXT],
        model[NIGHT_TEXT], verdict[NIGHT_TEXT], severity[NIGHT_TEXT], finding[NIGHT_TEXT], gates[NIGHT_TEXT];
    int64_t hosts, devices;
};

/* The last runs of one job, oldest first: place i at point[(first + i) % NIGHT_POINTS]. */
struct night_history {
    char job[TM_KEY_BYTES];
    size_t first, count;
    uint64_t runs;                         /* with those that are no longer there */
    char nights[NIGHT_NIGHTS][NIGHT_DATE]; /* its last ones, newest first */
    const struct tm_judged_night *judged;  /* of its newest run the texts are; else of the newest one of all */
    bool is_of_judged;
    struct night_texts texts;
    struct night_point point[NIGHT_POINTS];
};

void tm_nightly_history_begin(struct night_history *history, const char *job, const struct tm_judged_night *judged);
void tm_nightly_history_add(struct night_history *history, const struct tm_history_run *row);
const struct night_point *tm_nightly_point_at(const struct night_history *history, size_t index);
bool tm_nightly_is_good(const struct night_point *point); /* its figures count: done, of an input that is whole */

/* --- how a job stands --- */

enum night_state {               /* in the order in which jobs are told */
                   NIGHT_FAILED, /* its newest run of the page */
                   NIGHT_WORSE,
                   NIGHT_ABSENT,  /* it used to run */
                   NIGHT_PARTIAL, /* its newest run is of a damaged input: its figures are not compared */
                   NIGHT_BETTER,
                   NIGHT_NEW,   /* no run before those of the page */
                   NIGHT_YOUNG, /* too few good runs before to compare with */
                   NIGHT_SAME,
                   NIGHT_GONE, /* of another night, and not missed: not told */
};

extern const char *const tm_nightly_state_words[];

struct night_figure {
    double value, before, band; /* NaN = not known; band: a smaller change is not told */
    double change;              /* in percent; of a share in points */
    double weight;              /* how much it matters, 0 to ...: of a part of the step, as a share of the step */
    enum night_state state;     /* NIGHT_WORSE, NIGHT_BETTER, NIGHT_SAME; NIGHT_YOUNG = not judged */
    size_t runs;                /* that it is held against */
};

struct night_judgement {
    enum night_state state;
    const struct night_point *newest; /* of the page; of an absent job its last one; NULL = it has none */
    size_t worst; /* of a job that got worse or better: the figure that tells it; tm_figure_count = none */
    double weight;
    struct night_figure figure[TM_FIGURES_MOST];
};

/* out: of a job without a run of the page: NIGHT_GONE and its newest run; whether it is missed, the other jobs' nights tell */
void tm_nightly_judge(struct night_judgement *to, const struct night_history *history);
/* Is it a figure by which a job is judged? */
bool tm_nightly_counts(const struct tm_history_figure *figure);

/* --- all jobs --- */

struct night_job {
    char job[TM_KEY_BYTES];
    char nights[NIGHT_NIGHTS][NIGHT_DATE];
    enum night_state state;
    double weight;          /* orders jobs of a state */
    double step_change_pct; /* NaN = not judged */
    bool is_step_worse;
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
    uint64_t status[TM_RESULT_MISSING + 1], of_night; /* runs that are judged */
    uint64_t of_others;                               /* of these: of other nights */
    uint64_t ahead;                                   /* runs in the history that are dated ahead: of no job here */
    struct night_history *history;                    /* room for one */
    double *series, *scratch;                         /* NIGHT_POINTS, 3 * NIGHT_POINTS + 1 */
    size_t trends, jobs_drawn, worse_told;
    uint64_t changes_left_out[2] /* worse, better */, points_left_out;
};

/* --- the parts of the document --- */

void tm_nightly_add_worse_finding(struct night *night, const struct night_judgement *judged);
void tm_nightly_add_trends(struct night *night, const struct night_judgement *judged, bool is_drawn);
void tm_nightly_add_failed_finding(struct night *night);
void tm_nightly_add_gates_finding(struct night *night);
void tm_nightly_add_absent_finding(struct night *night);
void tm_nightly_add_ahead_finding(struct night *night);
void tm_nightly_add_gates(struct night *night);

/* Runs of which a gate failed. */
uint64_t tm_nightly_gates_failed(const struct night *night);

/* --- members --- */

/* A number; a whole one is written as such.  NaN = null */
void tm_nightly_add_number(struct tm_value *to, const char *key, double value, const char *why);

/* A figure with its unit, as people read it.  out: TM_FORMAT_BYTES, returned */
char *tm_nightly_value(char *out, double value, const struct tm_history_figure *figure);
/* "+12.4 %"; of a share "+2.1 points"; "" of NaN.  out: TM_FORMAT_BYTES, returned */
char *tm_nightly_change(char *out, double change, const struct tm_history_figure *figure);

#endif
