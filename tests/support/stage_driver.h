/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TEST_STAGE_DRIVER_H
#define TM_TEST_STAGE_DRIVER_H

#include "pipeline/front.h"
#include "pipeline/stage.h"
#include "stages/figures/figure_rows.h"
#include "stages/figures/feed.h"

/* A diagnostic stage on a bench: a made-up host with devices and steps, events by hand, and the
 * summary that the stage writes.  Nothing here asserts, so that tests may refuse memory: failures
 * come out as a status. */
enum { BENCH_DEVICES = 128, BENCH_STEPS = 8 };

struct bench {
    struct tm_run *run; /* the caller's */
    struct tm_settings settings;
    struct tm_doc *doc;
    struct tm_stage stage;
    struct tm_trace trace;
    struct tm_device devices[BENCH_DEVICES];
    struct tm_sites sites; /* of the present host's activities */
    struct tm_feed feed;
    struct tm_rows *configs; /* struct tm_config of the present host's sites, by their numbers */
    bool tells_hosts;        /* in partials: hosts are called h0 and h1, else all are called h0 */
};

/* Open a stage for a run, with a first host "h0" of one GPU and BENCH_STEPS analyzed steps.  The host
 * begins with the first event: its devices and steps may be changed until then. */
tm_status bench_open(struct bench *b, struct tm_run *run, const struct tm_stage_type *type) TM_MUST_USE;
/* Give the present host so many devices of a kind, all active; their window is [begin, end). */
void bench_devices(struct bench *b, uint32_t count, enum tm_device_kind kind, int64_t start_ps, int64_t end_ps);
tm_status bench_begin(struct bench *b) TM_MUST_USE; /* the host begins */
tm_status bench_end(struct bench *b) TM_MUST_USE;   /* the host ends; the next one has the number after it */
tm_status bench_report(struct bench *b) TM_MUST_USE;
void bench_close(struct bench *b); /* after anything */

/* What the stage holds, as a file with its section alone, and read again as what one host gave, whose number in the
 * run is `host`. */
tm_status bench_save(struct bench *b, const char *path) TM_MUST_USE;
tm_status bench_load(struct bench *b, const char *path, uint32_t host) TM_MUST_USE;

tm_strid bench_name(struct bench *b, const char *text); /* 0 where it failed */

/* An activity of a device in step 0, chosen.  Change what is different. */
struct tm_event bench_event(tm_strid name, enum tm_class class, const struct tm_config *config, int64_t start_ps,
                            int64_t dur_ps);
tm_status bench_take(struct bench *b, const struct tm_event *event) TM_MUST_USE;

/* What the tables of a stage and the accumulators of its call sites may take. */
static inline size_t bench_tables_memory(const struct tm_run *run, enum tm_tables_part part)
{
    return tm_tables_memory(run, part, 1, 1) + tm_tables_memory(run, TM_TABLES_SITES, 1, 1);
}

/* A value of the summary by path, and its printed form as JSON in memory that the caller frees. */
const struct tm_value *bench_get(const struct bench *b, const char *path);
char *bench_print(struct bench *b);

#endif
