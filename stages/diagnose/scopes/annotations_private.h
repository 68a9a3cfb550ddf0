/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ANNOTATIONS_PRIVATE_H
#define TM_ANNOTATIONS_PRIVATE_H

#include "stages/diagnose/scopes/annotations.h"
#include "stages/diagnose/scopes/tree_order.h"
#include "stages/diagnose/shares.h"
#include "stages/diagnose/sums.h"

enum { ANNOTATION_LAUNCHES = 64 /* a power of two */ };
enum { ANNOTATION_DEPTH_MOST = 64 }; /* annotations in each other; deeper ones count as the one around them */

/* An annotation by its name and those of the annotations around it. */
struct annotation_row {
    struct tm_tree_node node;
    uint64_t count, activities;
    int64_t host_ps, host_self_ps, device_ps;
    tm_strid name;
    uint32_t depth; /* 1 = in no other */
};

/* An annotation that was made, as far as it lies in the chosen steps. */
struct annotation_span {
    struct tm_key key;       /* of its name and those around it */
    int64_t start_ps, host_ps;
    int64_t inner_ps;        /* of host_ps, what annotations in it take */
    int64_t device_ps;
    uint64_t activities;
    tm_strid name;
    uint32_t around;         /* number of the one around it, from 1 on; 0 = none */
    uint32_t before, jump;   /* of those that began before on its thread, 0 = none: the last one, another one */
    uint32_t after;          /* the next one on its thread; 0 = none yet */
    uint32_t ordinal;        /* how many began before on its thread */
    uint32_t depth;          /* 1 = in no other */
};

static inline int64_t annotation_end(const struct annotation_span *span)
{
    return tm_sum_times(span->start_ps, span->host_ps);
}

/* The annotations of a thread. */
struct annotation_thread {
    uint32_t last, open; /* numbers of spans, 0 = none: the last one that began, the innermost one that may be open */
    uint32_t found;      /* the one that was looked for last */
    bool takes_launches; /* as `last` was set */
};

/* The launch of an activity. */
struct launch {
    int64_t at_ps, device_ps;
    uint32_t track, device; /* track: of the launch */
};

/* Activities that were launched on a thread while the same annotations were open. */
struct launches {
    int64_t from_ps, until_ps; /* [from, until): they are open all the time, and no other one is */
    int64_t device_ps;
    uint64_t activities;
    uint32_t track;
    uint32_t span;             /* number of the last one that had begun; 0 = none */
};

struct annotations {
    struct tm_run *run;
    const struct tm_trace *trace; /* of the present host */
    struct tm_names *names;
    struct tm_rows *spans;        /* struct annotation_span, of the present host in the order of their begins */
    struct tm_rows *threads;      /* of it: struct annotation_thread, by track */
    struct tm_sorter *leads;      /* of it: what is open as the chosen steps begin; NULL = they have begun */
    struct tm_rows *early;        /* of it: struct launch, of activities that came before it */
    struct launches launches[ANNOTATION_LAUNCHES]; /* of it, by thread and device */
    struct tm_groups *rows;       /* struct annotation_row */
    int64_t begin_ps, end_ps;     /* what counts of the present host */
    uint64_t launched;            /* activities of which the launch is known */
    uint64_t inside;              /* those whose launch lies in an annotation */
    int64_t host_self_ps, inside_ps;
    bool has_host_events;
};

/* Parts of what the tables of the stage `scopes` may take, in 32nds. */
enum { ANNOTATION_ROWS = 6, ANNOTATION_SPANS = 4, ANNOTATION_LEADS = 1, ANNOTATION_EARLY = 1 };

static inline size_t annotations_memory(struct tm_run *run, int parts)
{
    return tm_tables_memory(run, TM_TABLES_SCOPES, 32, (unsigned)parts);
}

/* --- annotation_spans.c: those of the present host --- */

tm_status open_spans(struct annotations *a) TM_MUST_USE;
void close_spans(struct annotations *a); /* also after open_spans failed */
/* in: in the order of their begins on each track; longer ones first */
tm_status begin_span(struct annotations *a, uint32_t track, int64_t start_ps, int64_t dur_ps,
                     tm_strid name) TM_MUST_USE;
/* Put all of them into a->rows. */
tm_status add_up_spans(struct annotations *a) TM_MUST_USE;

static inline const struct annotation_span *span_at(struct annotations *a, uint32_t number)
{
    return tm_rows_at(a->spans, number - 1);
}

/* --- annotation_launches.c --- */

/* An activity, to all that were open at its launch.  All have been given that had begun by then. */
tm_status add_launch(struct annotations *a, const struct launch *launch) TM_MUST_USE;
/* An annotation begins on a thread: from then on, others are open. */
void end_launches(struct annotations *a, uint32_t track, int64_t at_ps);
/* No more of this host, before add_up_spans. */
tm_status add_up_launches(struct annotations *a) TM_MUST_USE;

#endif
