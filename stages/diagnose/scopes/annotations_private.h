/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ANNOTATIONS_PRIVATE_H
#define TM_ANNOTATIONS_PRIVATE_H

#include "stages/diagnose/scopes/annotations.h"
#include "stages/diagnose/scopes/tree_order.h"
#include "stages/diagnose/shares.h"
#include "stages/diagnose/sums.h"

enum { ANNOTATION_DEPTH_MOST = 64 }; /* annotations in each other; deeper ones count as the one around them */

/* An annotation by its name and those of the annotations around it. */
struct annotation_row {
    struct tm_tree_node node;
    uint64_t count, activities;
    int64_t host_ps, host_self_ps, device_ps;
    tm_strid name;
    uint32_t depth; /* 1 = in no other */
};

struct annotations {
    struct tm_run *run;
    const struct tm_trace *trace; /* of the present host */
    struct tm_names *names;
    struct tm_sorter *marks;      /* struct mark, of the present host */
    struct tm_groups *rows;       /* struct annotation_row */
    int64_t begin_ps, end_ps;     /* what counts of the present host */
    uint64_t launched;            /* activities of which the launch is known */
    uint64_t inside;              /* those whose launch lies in an annotation */
    int64_t host_self_ps, inside_ps;
    bool has_host_events;
};

/* Parts of what the tables of the stage `scopes` may take, in sixteenths. */
enum { ANNOTATION_ROWS = 3, ANNOTATION_MARKS = 3 };

static inline size_t annotations_memory(struct tm_run *run, int parts)
{
    return tm_tables_memory(run, TM_TABLES_SCOPES, 16, (unsigned)parts);
}

#endif
