/* SPDX-License-Identifier: Apache-2.0 */
/* A filter's terms against events.  What depends on a host alone (devices, times of steps) is looked up once for each;
 * what a pattern says about a name is kept in a table of fixed size, so that most events need no text comparison. */
#include "stages/output/export/exporter.h"

#include <stdlib.h>
#include <string.h>

#include "pipeline/options.h"

enum { NAME_MOST = 4096, EVENT_NAMES = 4096, TRACK_NAMES = 256 /* powers of two */ };

struct times {
    int64_t start_ps, end_ps; /* end not included */
};

struct tm_event_filter {
    struct tm_run *run;
    struct tm_names *names;
    const struct tm_filter *filter;
    uint32_t has[TM_FILTER_KINDS]; /* how many terms of a kind */
    /* of the current host */
    struct times wanted[TM_FILTER_TERMS]; /* in order and disjoint */
    size_t wanted_count;
    struct times steps[TM_FILTER_TERMS]; /* of the host */
    size_t step_count;
    struct times work[TM_FILTER_TERMS]; /* of those steps, on the host and on its devices; as requested */
    size_t work_count;
    bool devices[TM_DEVICES_MOST], no_device;
    struct tm_rows *around; /* struct times, in order and disjoint: of AROUND; NULL = not wanted */
    struct tm_name_answer events[EVENT_NAMES], tracks[TRACK_NAMES]; /* what the patterns say about their names */
};

struct tm_event_filter *tm_event_filter_new(struct tm_run *run, struct tm_names *names, const struct tm_filter *filter)
{
    struct tm_event_filter *const f = tm_take(&run->budget, TM_ACCOUNT_TABLES, sizeof(*f), &run->error);

    if (!f)
        return NULL;
    f->run = run;
    f->names = names;
    f->filter = filter;
    for (size_t i = 0; i < filter->count; i++)
        f->has[filter->terms[i].kind]++;
    return f;
}

/* --- the times of events, by name --- */

enum { AROUND_BYTES = 64 << 10, AROUND_PAGE = 4 << 10 };

bool tm_event_filter_wants_scan(const struct tm_event_filter *f)
{
    return f->has[TM_FILTER_AROUND] > 0;
}

void tm_event_filter_begin_scan(struct tm_event_filter *f)
{
    tm_rows_free(f->around);
    f->around = tm_rows_new_paged(f->run, TM_ACCOUNT_TABLES, sizeof(struct times), AROUND_BYTES, AROUND_PAGE);
}

static int64_t after(int64_t first_ps, int64_t ps);

static void add_around(struct tm_event_filter *f, int64_t start_ps, int64_t end_ps)
{
    struct times times = { start_ps, end_ps };
    uint64_t count;

    /* With a larger margin, it may reach back over several. */
    while ((count = tm_rows_count(f->around))) {
        const struct times last = *(const struct times *)tm_rows_at(f->around, count - 1);

        if (times.start_ps > last.end_ps)
            break;
        times.start_ps = last.start_ps < times.start_ps ? last.start_ps : times.start_ps;
        times.end_ps = last.end_ps > times.end_ps ? last.end_ps : times.end_ps;
        tm_rows_resize(f->around, count - 1);
    }
    tm_rows_append(f->around, &times);
}

/* The margin around the event; -1 = it has none of the names. */
static int64_t margin_of(const struct tm_event_filter *f, tm_strid name)
{
    int64_t margin_ps = -1;
    size_t length;
    const char *const text = tm_names_text(f->names, name, NAME_MOST, &length);

    for (size_t i = 0; i < f->filter->count; i++) {
        const struct tm_filter_term *const term = &f->filter->terms[i];

        if (term->kind == TM_FILTER_AROUND && term->begin > margin_ps && tm_glob_fits(term->text, text, length))
            margin_ps = term->begin;
    }
    return margin_ps;
}

void tm_event_filter_scan(struct tm_event_filter *f, const struct tm_event *event)
{
    const struct tm_record *const r = &event->record;
    struct tm_name_answer *const known = tm_name_answer(f->events, EVENT_NAMES, r->name);
    int64_t margin_ps;

    if (r->kind >= TM_COUNTER || !r->name || (known->is_known && !known->answer))
        return;
    margin_ps = margin_of(f, r->name);
    known->is_known = true;
    known->answer = margin_ps >= 0;
    if (known->answer)
        add_around(f, r->start_ps - margin_ps, after(r->start_ps, r->dur_ps + margin_ps));
}

void tm_event_filter_free(struct tm_event_filter *f)
{
    if (!f)
        return;
    tm_rows_free(f->around);
    tm_give(&f->run->budget, TM_ACCOUNT_TABLES, f, sizeof(*f));
}

/* --- a host starts --- */

static int by_begin(const void *a, const void *b)
{
    const struct times *x = a, *y = b;

    return (x->start_ps > y->start_ps) - (x->start_ps < y->start_ps);
}

static int64_t after(int64_t first_ps, int64_t ps)
{
    int64_t sum;

    return ps == INT64_MAX || __builtin_add_overflow(first_ps, ps, &sum) ? INT64_MAX : sum;
}

/* out: how many are left: in order and disjoint */
static size_t merge_times(struct times *times, size_t count)
{
    size_t merged = 0;

    qsort(times, count, sizeof(*times), by_begin);
    for (size_t i = 0; i < count; i++) {
        struct times *const last = merged ? &times[merged - 1] : NULL;

        if (!last || times[i].start_ps > last->end_ps)
            times[merged++] = times[i];
        else if (times[i].end_ps > last->end_ps)
            last->end_ps = times[i].end_ps;
    }
    return merged;
}

static void find_times(struct tm_event_filter *f, int64_t first_ps)
{
    size_t count = 0;

    for (size_t i = 0; i < f->filter->count; i++) {
        const struct tm_filter_term *const term = &f->filter->terms[i];

        if (term->kind == TM_FILTER_TIME)
            f->wanted[count++] = (struct times){ after(first_ps, term->begin), after(first_ps, term->end) };
    }
    f->wanted_count = merge_times(f->wanted, count);
}

static void widen(struct times *times, int64_t start_ps, int64_t end_ps)
{
    times->start_ps = start_ps < times->start_ps ? start_ps : times->start_ps;
    times->end_ps = end_ps > times->end_ps ? end_ps : times->end_ps;
}

/* A step's work may start on the devices when its host has gone on to the next ones. */
static void widen_by_work(struct times *work, const struct tm_trace *trace, uint64_t ordinal)
{
    const struct tm_step_row *row;

    for (uint32_t i = 0; i < trace->device_count && trace->steps.rows; i++) {
        if (!trace->devices[i].activities)
            continue;
        row = tm_rows_at(trace->steps.rows, trace->devices[i].first_step_row + ordinal);
        if (row->activities)
            widen(work, row->start_ps, row->end_ps);
    }
}

/* The time of the steps of a term: from the start of the first to the end of the last. */
static void find_steps(struct tm_event_filter *f, const struct tm_trace *trace, const struct tm_filter_term *term)
{
    const uint64_t count = tm_rows_count(trace->steps.marks);
    struct times *const times = &f->steps[f->step_count], *const work = &f->work[f->step_count];

    *times = *work = (struct times){ INT64_MAX, INT64_MIN };
    for (uint64_t k = term->begin < 0 ? 0 : (uint64_t)term->begin; k < count && (int64_t)k < term->end; k++) {
        const struct tm_step_mark *const mark = tm_rows_at(trace->steps.marks, k);

        widen(times, mark->start_ps, mark->start_ps + mark->dur_ps);
        widen(work, mark->start_ps, mark->start_ps + mark->dur_ps);
        widen_by_work(work, trace, k);
    }
    f->step_count += times->start_ps <= times->end_ps;
}

static bool is_named(const struct tm_device *device, const char *text)
{
    const char *const slash = strrchr(device->id, '/'), *const of_host = slash ? slash + 1 : device->id;
    const char *const kind = tm_device_kind_name[device->kind];
    const size_t host = (size_t)(of_host - device->id);

    if (strcmp(text, device->id) == 0 || strcmp(text, of_host) == 0 || strcmp(text, kind) == 0)
        return true;
    return strncmp(text, device->id, host) == 0 && strcmp(text + host, kind) == 0;
}

static void find_devices(struct tm_event_filter *f, const struct tm_trace *trace)
{
    memset(f->devices, 0, sizeof(f->devices));
    f->no_device = false;
    for (size_t i = 0; i < f->filter->count; i++) {
        const struct tm_filter_term *const term = &f->filter->terms[i];

        if (term->kind != TM_FILTER_DEVICE)
            continue;
        f->no_device |= strcmp(term->text, "host") == 0;
        for (uint32_t k = 0; k < trace->device_count; k++)
            f->devices[k] |= is_named(&trace->devices[k], term->text);
    }
}

void tm_event_filter_begin_host(struct tm_event_filter *f, const struct tm_trace *trace)
{
    if (f->has[TM_FILTER_AROUND]) /* the names meant something else */
        memset(f->events, 0, sizeof(f->events));
    find_times(f, trace->first_ps);
    find_devices(f, trace);
    f->step_count = 0;
    for (size_t i = 0; i < f->filter->count; i++)
        if (f->filter->terms[i].kind == TM_FILTER_STEP)
            find_steps(f, trace, &f->filter->terms[i]);
    f->work_count = merge_times(f->work, f->step_count);
}

/* --- time, device, step --- */

static bool lies_in(const struct times *times, int64_t start_ps, int64_t end_ps)
{
    if (start_ps == end_ps)
        return start_ps >= times->start_ps && start_ps < times->end_ps;
    return start_ps < times->end_ps && end_ps > times->start_ps;
}

/* Cut the part of an event to these times, which are in order; false: it is outside. */
static bool cut(const struct times *wanted, size_t count, struct tm_wanted *part)
{
    const int64_t start_ps = part->start_ps, end_ps = part->end_ps;
    bool is_in = false;

    for (size_t i = 0; i < count; i++) {
        const struct times *const times = &wanted[i];

        if (!lies_in(times, start_ps, end_ps))
            continue;
        if (!is_in && start_ps < times->start_ps)
            part->start_ps = times->start_ps;
        part->end_ps = end_ps < times->end_ps ? end_ps : times->end_ps;
        is_in = true;
    }
    return is_in;
}

/* The first of the times around events that ends after a time; count if none does. */
static uint64_t first_around(const struct tm_event_filter *f, int64_t start_ps)
{
    uint64_t from = 0, to = tm_rows_count(f->around);

    while (from < to) {
        const uint64_t middle = from + (to - from) / 2;

        if (((const struct times *)tm_rows_at(f->around, middle))->end_ps > start_ps)
            to = middle;
        else
            from = middle + 1;
    }
    return from;
}

/* As cut, for any number of times. */
static bool cut_around(const struct tm_event_filter *f, struct tm_wanted *part)
{
    const int64_t start_ps = part->start_ps, end_ps = part->end_ps;
    const uint64_t count = f->around ? tm_rows_count(f->around) : 0;
    bool is_in = false;

    for (uint64_t i = f->around ? first_around(f, start_ps) : 0; i < count; i++) {
        const struct times times = *(const struct times *)tm_rows_at(f->around, i);

        if (times.start_ps > end_ps)
            break;
        if (!lies_in(&times, start_ps, end_ps))
            continue;
        if (!is_in && start_ps < times.start_ps)
            part->start_ps = times.start_ps;
        part->end_ps = end_ps < times.end_ps ? end_ps : times.end_ps;
        is_in = true;
    }
    return is_in;
}

static bool is_on(const struct tm_event_filter *f, uint32_t device)
{
    return device < TM_DEVICES_MOST ? f->devices[device] : f->no_device;
}

bool tm_event_filter_is_on(const struct tm_event_filter *f, uint32_t device)
{
    return !f->has[TM_FILTER_DEVICE] || is_on(f, device);
}

static bool is_in_steps(const struct tm_event_filter *f, uint32_t step, int64_t start_ps, int64_t end_ps)
{
    if (step == TM_NONE) {
        for (size_t i = 0; i < f->step_count; i++)
            if (lies_in(&f->steps[i], start_ps, end_ps))
                return true;
        return false;
    }
    for (size_t i = 0; i < f->filter->count; i++) {
        const struct tm_filter_term *const term = &f->filter->terms[i];

        if (term->kind == TM_FILTER_STEP && (int64_t)step >= term->begin && (int64_t)step < term->end)
            return true;
    }
    return false;
}

/* --- names --- */

/* out: of those given: any of a kind, none of NOT_NAME */
static bool fits(const struct tm_event_filter *f, const char *text, size_t length, enum tm_filter_kind kind)
{
    for (size_t i = 0; i < f->filter->count; i++)
        if (f->filter->terms[i].kind == kind && tm_glob_fits(f->filter->terms[i].text, text, length))
            return true;
    return f->has[kind] == 0;
}

/* What the patterns say about a name of that kind.  in: known  of the name */
static bool ask(struct tm_event_filter *f, struct tm_name_answer *known, enum tm_filter_kind kind)
{
    const char *text;
    size_t length;

    if (!known->is_known) {
        text = tm_names_text(f->names, known->name, NAME_MOST, &length);
        known->is_known = true;
        known->answer = fits(f, text, length, kind);
        if (kind == TM_FILTER_NAME && f->has[TM_FILTER_NOT_NAME] && fits(f, text, length, TM_FILTER_NOT_NAME))
            known->answer = false;
    }
    return known->answer;
}

/* --- events --- */

static bool has_class(const struct tm_event_filter *f, enum tm_filter_kind kind, uint8_t class)
{
    for (size_t i = 0; i < f->filter->count; i++)
        if (f->filter->terms[i].kind == kind && f->filter->terms[i].begin == class)
            return true;
    return false;
}

static bool is_long_enough(const struct tm_event_filter *f, const struct tm_record *record)
{
    if (record->kind >= TM_COUNTER || tm_event_is_instant(record))
        return true;
    for (size_t i = 0; i < f->filter->count; i++)
        if (f->filter->terms[i].kind == TM_FILTER_MIN && record->dur_ps >= f->filter->terms[i].begin)
            return true;
    return false;
}

/* Classes without a term of their own are of any length. */
static bool is_long_for_class(const struct tm_event_filter *f, const struct tm_record *record)
{
    bool has_term = false;

    if (record->kind >= TM_COUNTER || tm_event_is_instant(record))
        return true;
    for (size_t i = 0; i < f->filter->count; i++) {
        const struct tm_filter_term *const term = &f->filter->terms[i];

        if (term->kind != TM_FILTER_MIN_CLASS || term->end != record->class)
            continue;
        if (record->dur_ps >= term->begin)
            return true;
        has_term = true;
    }
    return !has_term;
}

/* Tests that need no text, the cheapest first. */
static bool passes(const struct tm_event_filter *f, const struct tm_track *track, const struct tm_event *event,
                   bool is_launch, struct tm_wanted *part)
{
    if (f->has[TM_FILTER_CLASS] && !has_class(f, TM_FILTER_CLASS, event->record.class))
        return false;
    if (f->has[TM_FILTER_NOT_CLASS] && has_class(f, TM_FILTER_NOT_CLASS, event->record.class))
        return false;
    if (f->has[TM_FILTER_MIN] && !is_long_enough(f, &event->record))
        return false;
    if (f->has[TM_FILTER_MIN_CLASS] && !is_long_for_class(f, &event->record))
        return false;
    if (f->has[TM_FILTER_DEVICE] && !is_launch && !is_on(f, tm_event_device(track, event)))
        return false;
    if (f->has[TM_FILTER_AROUND] && !cut_around(f, part))
        return false;
    if (f->has[TM_FILTER_STEP] && !is_in_steps(f, event->step, part->start_ps, part->end_ps))
        return false;
    return !f->has[TM_FILTER_TIME] || cut(f->wanted, f->wanted_count, part);
}

void tm_event_filter_take(struct tm_event_filter *f, const struct tm_track *track, const struct tm_event *event,
                          bool is_launch, struct tm_wanted *wanted)
{
    const struct tm_record *const record = &event->record;

    *wanted = (struct tm_wanted){ true, record->start_ps, record->start_ps + record->dur_ps };
    wanted->is_wanted = passes(f, track, event, is_launch, wanted);
    if (wanted->is_wanted && f->has[TM_FILTER_TRACK])
        wanted->is_wanted = ask(f, tm_name_answer(f->tracks, TRACK_NAMES, track->name), TM_FILTER_TRACK);
    if (wanted->is_wanted && (f->has[TM_FILTER_NAME] || f->has[TM_FILTER_NOT_NAME]))
        wanted->is_wanted = ask(f, tm_name_answer(f->events, EVENT_NAMES, record->name), TM_FILTER_NAME);
}

void tm_event_filter_take_derived(const struct tm_event_filter *f, const struct tm_derived_row *row,
                                  struct tm_wanted *wanted)
{
    *wanted = (struct tm_wanted){ true, row->start_ps, row->end_ps };
    if (f->has[TM_FILTER_DEVICE] && !is_on(f, row->device))
        wanted->is_wanted = false;
    if (wanted->is_wanted && f->has[TM_FILTER_STEP])
        wanted->is_wanted = row->of_step ? is_in_steps(f, row->of_step - 1, row->start_ps, row->end_ps)
                                         : cut(f->work, f->work_count, wanted);
    if (wanted->is_wanted && f->has[TM_FILTER_TIME])
        wanted->is_wanted = cut(f->wanted, f->wanted_count, wanted);
    if (wanted->is_wanted && f->has[TM_FILTER_AROUND])
        wanted->is_wanted = cut_around(f, wanted);
}
