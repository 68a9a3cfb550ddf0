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

static void begin_phase(struct tm_progress *p, const char *phase, uint64_t total_bytes, uint64_t total_events)
{
    p->phase = phase;
    p->total_bytes = total_bytes;
    p->total_events = total_events;
    p->done_bytes = p->done_events = 0;
    p->events_before = p->events_read ? *p->events_read : 0;
    if (!p->shown)
        return;
    p->begin_ns = now_ns();
    p->last_print_ns = p->begin_ns; /* a phase shorter than a tenth of a second prints nothing */
}

void tm_progress_phase(struct tm_progress *p, const char *phase, uint64_t total_bytes)
{
    begin_phase(p, phase, total_bytes, 0);
}

void tm_progress_phase_of_events(struct tm_progress *p, const char *phase, uint64_t total_events, uint64_t bytes)
{
    begin_phase(p, phase, bytes, total_events);
}

/* "1,234,567" */
static void print_count(uint64_t count)
{
    char digits[32];
    const int n = snprintf(digits, sizeof(digits), "%" PRIu64, count);

    for (int i = 0; i < n; i++)
        fprintf(stderr, "%s%c", i && (n - i) % 3 == 0 ? "," : "", digits[i]);
}

static void print_bytes(const struct tm_progress *p, bool is_of_events)
{
    const double mib = 1048576.0;

    if (is_of_events && p->total_bytes)
        fprintf(stderr, "  %.0f MiB", (double)p->total_bytes / mib);
    else if (!is_of_events && p->total_bytes >= p->done_bytes)
        fprintf(stderr, "  %.0f of %.0f MiB", (double)p->done_bytes / mib, (double)p->total_bytes / mib);
    else if (!is_of_events)
        fprintf(stderr, "  %.0f MiB", (double)p->done_bytes / mib);
}

static void print_events(const struct tm_progress *p)
{
    const uint64_t read = p->events_read ? *p->events_read - p->events_before : 0;

    if (!p->done_events && !read)
        return;
    (void)fputs("  ", stderr);
    print_count(p->done_events ? p->done_events : read);
    if (p->total_events) {
        (void)fputs(" of ", stderr);
        print_count(p->total_events);
    }
    (void)fputs(" events", stderr);
}

static void print_line(const struct tm_progress *p, uint64_t now)
{
    const bool is_of_events = p->total_events != 0;
    const uint64_t all = is_of_events ? p->total_events : p->total_bytes;
    const uint64_t done = is_of_events ? p->done_events : p->done_bytes;
    const double seconds = (double)(now - p->begin_ns) * 1e-9;
    const double rate = seconds > 0 ? (double)done / seconds : 0;

    fprintf(stderr, "\r\033[K%s", p->phase);
    if (all)
        fprintf(stderr, " %3.0f%%", done < all ? 100 * (double)done / (double)all : 100.0);
    print_bytes(p, is_of_events);
    print_events(p);
    if (is_of_events)
        fprintf(stderr, "  %.2f M events/s", rate / 1e6);
    else
        fprintf(stderr, "  %.0f MiB/s", rate / 1048576.0);
    if (all > done && rate > 0) {
        const uint64_t left = (uint64_t)((double)(all - done) / rate);

        fprintf(stderr, "  %" PRIu64 ":%02" PRIu64 " left", left / 60, left % 60);
    }
    (void)fflush(stderr);
}

void tm_progress_look(struct tm_progress *p)
{
    const uint64_t now = now_ns();

    if (!p->shown || !*p->phase || now - p->last_print_ns < PRINT_EVERY_NS)
        return;
    print_line(p, now);
    p->last_print_ns = now;
}

void tm_progress_add(struct tm_progress *p, uint64_t bytes)
{
    const uint64_t before = p->done_bytes;

    p->done_bytes += bytes;
    if (p->shown && before >> LOOK_SHIFT != p->done_bytes >> LOOK_SHIFT)
        tm_progress_look(p);
}

void tm_progress_end(struct tm_progress *p)
{
    if (!p->shown)
        return;
    (void)fputs("\r\033[K", stderr);
    (void)fflush(stderr);
}
