/* SPDX-License-Identifier: Apache-2.0 */
/* What a run counts and shows while it works: tallies, limits, progress.
 *
 * The names, levels and explanations of the tallies.  Each one is in every report's footer when it
 * counted something, and in summary.json under its name. */
#include "pipeline/run.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pipeline/error.h"
#include "pipeline/numbers.h"
#include "pipeline/store/budget.h"

/* clang-format off */
const struct tm_tally_info tm_tally_info[TM_TALLY_COUNT] = {
    [TM_TALLY_AGGREGATED_EVENT] = {
        "aggregated-event", TM_TALLY_LOSS,
        "Aggregated events have no time and are not used in figures." },
    [TM_TALLY_BAD_FIELD] = {
        "bad-field", TM_TALLY_LOSS,
        "A field had the wrong wire type and was skipped." },
    [TM_TALLY_CLOCK_OUTLIER] = {
        "clock-outlier", TM_TALLY_LOSS,
        "An event more than 100 days after the start of the profile, or 5 days before it, was skipped." },
    [TM_TALLY_CUT_SHORT] = {
        "cut-short", TM_TALLY_LOSS,
        "The input ends inside a message or an event, which was not read." },
    [TM_TALLY_DERIVED] = {
        "derived", TM_TALLY_NOTE,
        "Events on lines that duplicate other lines are counted, but not used in figures." },
    [TM_TALLY_DUPLICATE_METADATA] = {
        "duplicate-metadata", TM_TALLY_NOTE,
        "Two metadata entries had the same id; the last one was used." },
    [TM_TALLY_DEEP_NESTING] = {
        "deep-nesting", TM_TALLY_NOTE,
        "Too many spans were nested on one thread; the innermost were ignored." },
    [TM_TALLY_INVALID_UTF8] = {
        "invalid-utf8", TM_TALLY_NOTE,
        "A name was not valid UTF-8 and was kept as bytes." },
    [TM_TALLY_LONG_VALUE] = {
        "long-value", TM_TALLY_LOSS,
        "A value was longer than the read buffer; the event was kept without it." },
    [TM_TALLY_NEGATIVE_DURATION] = {
        "negative-duration", TM_TALLY_LOSS,
        "A duration was negative; the event was kept with duration 0." },
    [TM_TALLY_NEGATIVE_START] = {
        "negative-start", TM_TALLY_NOTE,
        "An event starts before the profile does; it was kept." },
    [TM_TALLY_NO_METADATA] = {
        "no-metadata", TM_TALLY_LOSS_OF_FIGURES,
        "An event referred to a missing metadata id; it was kept without a name." },
    [TM_TALLY_UNKNOWN_DEVICE] = {
        "unknown-device", TM_TALLY_LOSS_OF_FIGURES,
        "Events on planes of an unknown device type were skipped." },
    [TM_TALLY_UNKNOWN_FIELD] = {
        "unknown-field", TM_TALLY_NOTE,
        "A field that the format does not define was skipped." },
    [TM_TALLY_UNKNOWN_PLANE] = {
        "unknown-plane", TM_TALLY_NOTE,
        "Events on planes that are neither host nor device were skipped." },
    [TM_TALLY_WRONG_CLOCK] = {
        "wrong-clock", TM_TALLY_NOTE,
        "A launch starts after the device work that it launched; the clocks differ." },
    [TM_TALLY_PROFILER_WARNING] = {
        "profiler-warning", TM_TALLY_NOTE,
        "The profiler recorded a warning or an error." },
    [TM_TALLY_UNSORTED_LINE] = {
        "unsorted-line", TM_TALLY_NOTE,
        "The events of a line were not sorted by time and were sorted." },
    [TM_TALLY_DAMAGED_PROGRAM] = {
        "damaged-program", TM_TALLY_LOSS,
        "A compiled program (HLO) could not be read completely; data about its operations may be missing." },
    [TM_TALLY_CLOCK_MAPPING_JUMP] = {
        "clock-mapping-jump", TM_TALLY_NOTE,
        "The recorded times of a TPU jump by over 1 ms relative to its own clock; figures use its own clock." },
    [TM_TALLY_UNKNOWN_SIZE] = {
        "unknown-size", TM_TALLY_NOTE,
        "An entry of a memory profile has the size -1, which means unknown; it is counted without bytes." },
    [TM_TALLY_DEVICE_CLOCK_UNUSED] = {
        "device-clock-unused", TM_TALLY_NOTE,
        "Some TPU ops have times from the device's own clock, but most do not; figures use the recorded times." },
    [TM_TALLY_EMPTY_OBJECT] = {
        "empty-object", TM_TALLY_NOTE, "The list of events contains an empty object." },
    [TM_TALLY_CLOSING_OBJECT] = {
        "closing-object", TM_TALLY_NOTE, "The list of events ends with an empty object, as JAX writes it." },
    [TM_TALLY_NOT_AN_OBJECT] = {
        "not-an-object", TM_TALLY_LOSS, "The list of events contains something other than an object, which was "
          "skipped." },
    [TM_TALLY_MISSING_PHASE] = {
        "missing-phase", TM_TALLY_LOSS, "An event without a phase (ph) was skipped." },
    [TM_TALLY_UNKNOWN_PHASE] = {
        "unknown-phase", TM_TALLY_LOSS, "An event with an undefined phase was skipped." },
    [TM_TALLY_MISSING_TIME] = {
        "missing-time", TM_TALLY_LOSS, "An event without a time (ts) was skipped." },
    [TM_TALLY_MISSING_DURATION] = {
        "missing-duration", TM_TALLY_LOSS_OF_FIGURES, "A complete event without a duration was kept with duration 0." },
    [TM_TALLY_MISSING_NAME] = {
        "missing-name", TM_TALLY_NOTE, "An event without a name was kept." },
    [TM_TALLY_MISSING_PROCESS] = {
        "missing-process", TM_TALLY_NOTE, "An event without a process was kept on process 0." },
    [TM_TALLY_MISSING_THREAD] = {
        "missing-thread", TM_TALLY_NOTE, "An event without a thread was kept on the thread numbered as its process." },
    [TM_TALLY_BAD_NUMBER] = {
        "bad-number", TM_TALLY_LOSS, "A time or duration was not a number and was treated as missing." },
    [TM_TALLY_NAN_NUMBER] = {
        "nan-number", TM_TALLY_NOTE, "NaN or Infinity in place of a number was treated as missing." },
    [TM_TALLY_STRING_NUMBER] = {
        "string-number", TM_TALLY_NOTE, "A time or duration was written as text and was read as a number." },
    [TM_TALLY_EXPONENT_NUMBER] = {
        "exponent-number", TM_TALLY_NOTE, "A time or duration was written with an exponent and was read exactly." },
    [TM_TALLY_UNICODE_NAME] = {
        "unicode-name", TM_TALLY_NOTE, "A name has characters beyond ASCII." },
    [TM_TALLY_CONTROL_CHARACTER] = {
        "control-character", TM_TALLY_NOTE, "A name has control characters; reports show them escaped." },
    [TM_TALLY_LONE_SURROGATE] = {
        "lone-surrogate", TM_TALLY_NOTE, "A name has an unpaired surrogate; it was kept, and is shown escaped." },
    [TM_TALLY_NESTED_ARGUMENT] = {
        "nested-argument", TM_TALLY_NOTE, "An event has objects, or lists of lists, in its arguments." },
    [TM_TALLY_REPEATED_KEY] = {
        "repeated-key", TM_TALLY_NOTE, "An event has a duplicate key; the last one was used." },
    [TM_TALLY_METADATA_EVENT] = {
        "metadata-event", TM_TALLY_NOTE, "Metadata events name processes and threads; they have no duration." },
    [TM_TALLY_BEGIN_END_EVENT] = {
        "begin-end-event", TM_TALLY_NOTE, "Begin and end events were joined to spans." },
    [TM_TALLY_INSTANT_EVENT] = {
        "instant-event", TM_TALLY_NOTE, "Instant events have no duration." },
    [TM_TALLY_COUNTER_EVENT] = {
        "counter-event", TM_TALLY_NOTE, "Counter events are read, but not used in figures." },
    [TM_TALLY_FLOW_EVENT] = {
        "flow-event", TM_TALLY_NOTE, "Flow events are read, but not used in figures." },
    [TM_TALLY_ASYNC_EVENT] = {
        "async-event", TM_TALLY_NOTE, "Asynchronous events are read, but not used in figures." },
    [TM_TALLY_OTHER_PHASE] = {
        "other-phase", TM_TALLY_NOTE, "Objects, memory dumps, clocks and contexts were skipped: they have no "
          "duration." },
    [TM_TALLY_UNMATCHED_BEGIN] = {
        "unmatched-begin", TM_TALLY_NOTE, "A span that starts but never ends was kept with duration 0." },
    [TM_TALLY_UNMATCHED_END] = {
        "unmatched-end", TM_TALLY_LOSS, "The end of a span without a start was skipped." },
    [TM_TALLY_UNMATCHED_FLOW] = {
        "unmatched-flow", TM_TALLY_NOTE, "A flow has no end, or no start." },
    [TM_TALLY_REUSED_FLOW_ID] = {
        "reused-flow-id", TM_TALLY_NOTE, "A flow reuses the id of one that has ended." },
    [TM_TALLY_OVERLAPPING_SPAN] = {
        "overlapping-span", TM_TALLY_NOTE, "A span starts inside another one on its thread and ends after it." },
    [TM_TALLY_REPEATED_EVENT] = {
        "repeated-event", TM_TALLY_NOTE, "An event equals the previous one in time, duration and name; both count." },
    [TM_TALLY_RENAMED] = {
        "renamed", TM_TALLY_NOTE, "A process or thread was renamed; the last name was used." },
    [TM_TALLY_EVENT_CAP] = {
        "event-cap", TM_TALLY_LOSS,
        "The file has exactly as many events as JAX's limit: the end of the run is missing." },
    [TM_TALLY_BYTE_ORDER_MARK] = {
        "byte-order-mark", TM_TALLY_NOTE, "The file starts with a byte order mark." },
    [TM_TALLY_ZERO_PADDING] = {
        "zero-padding", TM_TALLY_NOTE, "Zero bytes follow the end of the JSON." },
    [TM_TALLY_OPEN_ARRAY] = {
        "open-array", TM_TALLY_NOTE, "The list of events is not closed, which the format allows." },
    [TM_TALLY_STACK_FRAMES] = {
        "stack-frames", TM_TALLY_NOTE, "A table of stack frames was skipped." },
    [TM_TALLY_DAMAGED_TEXT] = {
        "damaged-text", TM_TALLY_LOSS,
        "The JSON is invalid at some position; everything up to the next complete event was skipped." },
    [TM_TALLY_DAMAGED_PACKETS] = {
        "damaged-packets", TM_TALLY_LOSS,
        "The trace is not made of packets at some position; everything up to the next whole packet was skipped." },
    [TM_TALLY_DROPPED_PACKETS] = {
        "dropped-packets", TM_TALLY_LOSS, "The program that wrote the trace lost packets: its buffer was full." },
    [TM_TALLY_MISSING_STATE] = {
        "missing-state", TM_TALLY_LOSS,
        "A packet that needs names from earlier packets was skipped: those packets are lost." },
    [TM_TALLY_UNKNOWN_CLOCK] = {
        "unknown-clock", TM_TALLY_LOSS,
        "An event was skipped: no clock snapshot relates its clock to the clock of the trace." },
    [TM_TALLY_OTHER_PACKET] = {
        "other-packet", TM_TALLY_NOTE, "A packet of another data source, such as ftrace, was skipped." },
    [TM_TALLY_COMPUTED_ROW] = {
        "computed-row", TM_TALLY_NOTE,
        "A slice or value computed by an earlier conversion was skipped; it is computed again." },
    [TM_TALLY_FILTERED_OUT] = {
        "filtered-out", TM_TALLY_NOTE, "Events excluded by --filter were not written." },
    [TM_TALLY_LANE_MOVED] = {
        "lane-moved", TM_TALLY_NOTE,
        "A span that partly overlaps others on its thread was written to a separate lane." },
    [TM_TALLY_LANES_FULL] = {
        "lanes-full", TM_TALLY_LOSS, "A span that overlaps thousands of others on its thread was not written." },
    [TM_TALLY_FLOW_NOT_BEGUN] = {
        "flow-not-begun", TM_TALLY_NOTE, "The end of an arrow without a start was not written." },
    [TM_TALLY_FLOW_WITHOUT_SPAN] = {
        "flow-without-span", TM_TALLY_NOTE,
        "The end of an arrow at a time without a span on its thread was not written." },
    [TM_TALLY_COUNTER_WITHOUT_VALUE] = {
        "counter-without-value", TM_TALLY_NOTE, "A counter value that is not a finite number was not written." },
    [TM_TALLY_COUNTER_NOT_REPEATED] = {
        "counter-not-repeated", TM_TALLY_NOTE,
        "A counter value beyond the first 32,768 of its host is not repeated at the start of a part." },
    [TM_TALLY_LONG_ARGUMENTS] = {
        "long-arguments", TM_TALLY_LOSS,
        "An event with more than 128 KiB of arguments, or more than 24 levels of them, was written without the rest." },
    [TM_TALLY_NUL_IN_ARGUMENTS] = {
        "nul-in-arguments", TM_TALLY_NOTE, "An event has NUL in its arguments; it was written as U+FFFD." },
    [TM_TALLY_UNWRITTEN_MEMBER] = {
        "unwritten-member", TM_TALLY_NOTE,
        "A counter, an arrow or an event of over 256 KiB has members that were not written." },
};

/* clang-format on */

bool tm_tally_is_loss(enum tm_tally which, enum tm_tally_use use)
{
    const enum tm_tally_level level = tm_tally_info[which].level;

    return level == TM_TALLY_LOSS || (level == TM_TALLY_LOSS_OF_FIGURES && use == TM_TALLY_FOR_FIGURES);
}

uint64_t tm_tally_losses(const struct tm_tallies *t, enum tm_tally_use use)
{
    uint64_t sum = 0;

    for (int i = 0; i < TM_TALLY_COUNT; i++) {
        if (tm_tally_is_loss((enum tm_tally)i, use))
            sum += t->count[i];
    }
    return sum;
}

/* The progress line: rewritten in place on a terminal, silent everywhere else. */

enum {
    LOOK_SHIFT = 18,                /* the clock is examined once per 256 KiB */
    PRINT_EVERY_NS = 100 * 1000000, /* ten times a second */
};

static const double plan_most = 0.99;

uint64_t tm_clock_ns(void)
{
    struct timespec t = { 0 };

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void tm_progress_init(struct tm_progress *p, bool quiet)
{
    const char *const terminal = getenv("TERM");
    const bool is_dumb = terminal && strcmp(terminal, "dumb") == 0; /* it has no way back to the start of a line */

    *p = (struct tm_progress){ .shown = !quiet && !is_dumb && isatty(STDERR_FILENO) == 1, .phase = "" };
}

void tm_progress_plan(struct tm_progress *p, uint32_t files, uint64_t bytes)
{
    p->plan_bytes = bytes;
    p->before_bytes = p->file_bytes = 0;
    p->from = 0;
    p->to = 1;
    p->plan_done = 0;
    p->file = p->device = 0;
    p->files = files;
    p->plan_begin_ns = p->shown ? tm_clock_ns() : 0;
}

void tm_progress_passes(struct tm_progress *p, uint32_t passes)
{
    p->plan_bytes *= passes;
}

void tm_progress_file(struct tm_progress *p, uint64_t bytes)
{
    p->before_bytes += p->file_bytes;
    p->file_bytes = bytes;
    p->file = p->file == p->files ? 1 : p->file + 1;
    p->device = 0;
}

void tm_progress_span(struct tm_progress *p, double from, double to)
{
    p->from = from;
    p->to = to;
}

static void print_line(struct tm_progress *p, uint64_t now);

static void begin_phase(struct tm_progress *p, const char *phase, uint64_t total_bytes, uint64_t total_events)
{
    p->phase = phase;
    p->total_bytes = total_bytes;
    p->total_events = total_events;
    p->done_bytes = p->done_events = 0;
    p->device = 0;
    p->events_before = p->events_read ? *p->events_read : 0;
    if (!p->shown)
        return;
    p->begin_ns = tm_clock_ns();
    if (p->plan_bytes && !total_bytes && !total_events && p->begin_ns - p->plan_begin_ns > PRINT_EVERY_NS)
        print_line(p, p->begin_ns); /* nothing will be counted in it */
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
    char done[TM_FORMAT_BYTES], all[TM_FORMAT_BYTES];

    if (!p->done_events && !read)
        return;
    fprintf(stderr, "  %s%s%s events", tm_format_count(done, (int64_t)(p->done_events ? p->done_events : read)),
            p->total_events ? " of " : "", p->total_events ? tm_format_count(all, (int64_t)p->total_events) : "");
}

static void print_counts(const struct tm_progress *p, bool is_of_events, double rate)
{
    print_bytes(p, is_of_events);
    print_events(p);
    if (is_of_events)
        fprintf(stderr, "  %.2f M events/s", rate / 1e6);
    else
        fprintf(stderr, "  %.0f MiB/s", rate / 1048576.0);
}

/* How much of the plan is done: less than 1, since what was read remains to be written. */
static double part_of_plan(struct tm_progress *p, double of_phase)
{
    const double file = (double)p->file_bytes * (p->from + (p->to - p->from) * of_phase);
    const double part = ((double)p->before_bytes + file) / (double)p->plan_bytes;

    p->plan_done = part > p->plan_done ? part : p->plan_done;
    p->plan_done = p->plan_done < plan_most ? p->plan_done : plan_most;
    return p->plan_done;
}

static void print_line(struct tm_progress *p, uint64_t now)
{
    const bool is_of_events = p->total_events != 0;
    const uint64_t all = is_of_events ? p->total_events : p->total_bytes;
    const uint64_t done = is_of_events ? p->done_events : p->done_bytes;
    const double seconds = (double)(now - p->begin_ns) * 1e-9;
    const double rate = seconds > 0 ? (double)done / seconds : 0;
    const double part = all == 0 ? 0 : done < all ? (double)done / (double)all : 1;
    const double whole = p->plan_bytes ? part_of_plan(p, part) : part;

    fprintf(stderr, "\r\033[K%s", p->phase);
    if (p->files > 1 && p->file)
        fprintf(stderr, " file %" PRIu32 " of %" PRIu32, p->file, p->files);
    if (p->devices > 1 && p->device)
        fprintf(stderr, " device %" PRIu32 " of %" PRIu32, p->device, p->devices);
    if (all || p->plan_bytes)
        fprintf(stderr, " %3d%%", (int)(100 * whole));
    if (all || done)
        print_counts(p, is_of_events, rate);
    if (whole > 0 && whole < 1) {
        const double passed = (double)(now - (p->plan_bytes ? p->plan_begin_ns : p->begin_ns)) * 1e-9;
        const uint64_t left = (uint64_t)(passed * (1 - whole) / whole);

        fprintf(stderr, "  %" PRIu64 ":%02" PRIu64 " left", left / 60, left % 60);
    }
    (void)fflush(stderr);
}

void tm_progress_look(struct tm_progress *p)
{
    const uint64_t now = tm_clock_ns();

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

static uint64_t times(const struct tm_run *run)
{
    return run->limit_times ? run->limit_times : 1;
}

uint64_t tm_raised_limit(const struct tm_run *run, uint64_t usual)
{
    uint64_t raised;

    return __builtin_mul_overflow(usual, times(run), &raised) ? UINT64_MAX : raised;
}

void tm_limit_hint(struct tm_run *run, const char *instead)
{
    tm_hint(&run->error, "%s; or, if you trust the file, raise the limits: --raise-limits %" PRIu64, instead,
            4 * times(run));
}
