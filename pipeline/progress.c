/* SPDX-License-Identifier: Apache-2.0 */
/* The progress line: rewritten in place on a terminal, silent everywhere else. */
#include "pipeline/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum {
    LOOK_SHIFT = 18,                /* the clock is looked at once per 256 KiB */
    PRINT_EVERY_NS = 100 * 1000000, /* ten times a second */
};

static uint64_t now_ns(void)
{
    struct timespec t = { 0 };

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void tm_progress_init(struct tm_progress *p, bool quiet)
{
    *p = (struct tm_progress){ .shown = !quiet && isatty(STDERR_FILENO) == 1, .phase = "" };
}

void tm_progress_phase(struct tm_progress *p, const char *phase, uint64_t total_bytes)
{
    p->phase = phase;
    p->total_bytes = total_bytes;
    p->done_bytes = 0;
    if (!p->shown)
        return;
    p->begin_ns = now_ns();
    p->last_print_ns = p->begin_ns; /* a phase shorter than a tenth of a second prints nothing */
}

static void print_line(const struct tm_progress *p, uint64_t now)
{
    const double seconds = (double)(now - p->begin_ns) * 1e-9;
    const double rate = seconds > 0 ? (double)p->done_bytes / seconds : 0;
    const double mib = 1048576.0;

    fprintf(stderr, "\r\033[K%s", p->phase);
    if (p->total_bytes != 0) {
        const double done = (double)p->done_bytes / (double)p->total_bytes;

        fprintf(stderr, " %3.0f%%", 100 * (done < 1 ? done : 1));
    }
    fprintf(stderr, "  %.0f MiB  %.0f MiB/s", (double)p->done_bytes / mib, rate / mib);
    if (p->total_bytes > p->done_bytes && rate > 0) {
        const uint64_t left = (uint64_t)((double)(p->total_bytes - p->done_bytes) / rate);

        fprintf(stderr, "  %" PRIu64 ":%02" PRIu64 " left", left / 60, left % 60);
    }
    (void)fflush(stderr);
}

void tm_progress_add(struct tm_progress *p, uint64_t bytes)
{
    const uint64_t before = p->done_bytes;

    p->done_bytes += bytes;
    if (!p->shown || before >> LOOK_SHIFT == p->done_bytes >> LOOK_SHIFT)
        return;
    const uint64_t now = now_ns();

    if (now - p->last_print_ns < PRINT_EVERY_NS)
        return;
    print_line(p, now);
    p->last_print_ns = now;
}

void tm_progress_end(struct tm_progress *p)
{
    if (!p->shown)
        return;
    (void)fputs("\r\033[K", stderr);
    (void)fflush(stderr);
}
