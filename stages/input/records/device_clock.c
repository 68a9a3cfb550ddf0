/* SPDX-License-Identifier: Apache-2.0 */
/* See device_clock.h.  Devices are processed one after the other: their lines of ops are read, and each stretch of
 * pairs with the same difference is one row of two sorts, by time for the points and by difference for the median.
 * Where the pairs of a device do not come in time order, stretches could overlap: then it is read again, and each pair
 * is its own row. */
#include "stages/input/records/device_clock.h"

#include "pipeline/store/sorter.h"

enum { POINTS_PAGE = 4096 };

static const int64_t jump_ps = 1000000000; /* a change of more than this is a jump */

/* A line of ops. */
struct ops_track {
    uint32_t device, track;
};

/* Ops that follow each other, all with this difference. */
struct stretch {
    int64_t first_ps, last_ps; /* recorded */
    int64_t ahead_ps;          /* recorded - device */
    uint64_t ops;
};

/* The rows of a device, and what places them. */
struct device_points {
    uint64_t first, count; /* count 0 = recorded times */
    int64_t shift_ps;
};

struct tm_device_clock {
    struct tm_trace *trace;
    struct tm_rows *points;        /* struct tm_clock_point, in the order of (recorded, device) for each device */
    struct device_points *devices; /* device_count of them */
    uint32_t device_count;
    /* while a device is read */
    struct tm_sorter *by_time, *by_difference; /* struct stretch */
    struct stretch stretch;                    /* that is being read; ops 0 = none */
    bool is_exact;                             /* each pair is a stretch */
    bool is_out_of_order;                      /* pairs were not in time order */
    uint64_t ops, pairs;
};

bool tm_device_times_in(const struct tm_facts *facts, struct tm_device_times *times)
{
    return tm_facts_whole(facts, TM_STAT_DEVICE_OFFSET, &times->offset_ps) &&
           tm_facts_whole(facts, TM_STAT_DEVICE_DURATION, &times->duration_ps) && tm_device_times_fit(times);
}

/* --- reading --- */

static int by_time(const void *a, const void *b)
{
    const struct stretch *const x = a, *const y = b;

    if (x->first_ps != y->first_ps)
        return x->first_ps < y->first_ps ? -1 : 1;
    return (x->ahead_ps < y->ahead_ps) - (x->ahead_ps > y->ahead_ps); /* the earlier one on the device first */
}

static int by_difference(const void *a, const void *b)
{
    const struct stretch *const x = a, *const y = b;

    return (x->ahead_ps > y->ahead_ps) - (x->ahead_ps < y->ahead_ps);
}

static uint64_t time_prefix(const void *row)
{
    return tm_prefix_of(((const struct stretch *)row)->first_ps);
}

static uint64_t difference_prefix(const void *row)
{
    return tm_prefix_of(((const struct stretch *)row)->ahead_ps);
}

static void end_stretch(struct tm_device_clock *c)
{
    if (c->stretch.ops) {
        tm_sorter_push(c->by_time, &c->stretch);
        tm_sorter_push(c->by_difference, &c->stretch);
    }
    c->stretch.ops = 0;
}

void tm_device_clock_take(struct tm_device_clock *c, int64_t recorded_ps, const struct tm_device_times *times)
{
    struct stretch *const s = &c->stretch;
    int64_t ahead_ps;

    c->ops++;
    if (!times)
        return;
    ahead_ps = recorded_ps - times->offset_ps; /* both fit */
    c->is_out_of_order |=
        c->pairs && (recorded_ps < s->last_ps || (recorded_ps == s->last_ps && ahead_ps > s->ahead_ps));
    c->pairs++;
    if (s->ops && ahead_ps == s->ahead_ps && !c->is_exact) {
        s->last_ps = recorded_ps;
        s->ops++;
        return;
    }
    end_stretch(c);
    *s = (struct stretch){ recorded_ps, recorded_ps, ahead_ps, 1 };
}

static void end_reading(struct tm_device_clock *c)
{
    tm_sorter_free(c->by_time);
    tm_sorter_free(c->by_difference);
    c->by_time = c->by_difference = NULL;
    c->stretch.ops = 0;
}

/* out: false: the run has failed */
static bool begin_reading(struct tm_device_clock *c, bool is_exact)
{
    struct tm_run *const run = c->trace->run;
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_SORT);

    end_reading(c);
    c->is_exact = is_exact;
    c->is_out_of_order = false;
    c->ops = c->pairs = 0;
    c->by_time = tm_sorter_new(run, TM_ACCOUNT_SORT, sizeof(struct stretch), share / 4, by_time);
    c->by_difference = tm_sorter_new(run, TM_ACCOUNT_SORT, sizeof(struct stretch), share / 4, by_difference);
    if (!c->by_time || !c->by_difference)
        return false;
    tm_sorter_set_prefix(c->by_time, time_prefix);
    tm_sorter_set_prefix(c->by_difference, difference_prefix);
    return true;
}

/* --- the result for a device --- */

static void add_points(struct tm_device_clock *c, const struct stretch *s)
{
    const struct tm_clock_point first = { s->first_ps, s->first_ps - s->ahead_ps };
    const struct tm_clock_point last = { s->last_ps, s->last_ps - s->ahead_ps };

    tm_rows_append(c->points, &first);
    if (s->last_ps > s->first_ps)
        tm_rows_append(c->points, &last);
}

static void note_jump(struct tm_device *device, int64_t from_ps, int64_t to_ps)
{
    const uint64_t change = to_ps > from_ps ? (uint64_t)to_ps - (uint64_t)from_ps : (uint64_t)from_ps - (uint64_t)to_ps;
    const int64_t change_ps = change < INT64_MAX ? (int64_t)change : INT64_MAX;

    if (change_ps <= jump_ps)
        return;
    device->clock_jumps++;
    if (change_ps > device->largest_clock_jump_ps)
        device->largest_clock_jump_ps = change_ps;
}

/* The points of a device, and its jumps. */
static void make_points(struct tm_device_clock *c, struct tm_device *device)
{
    struct stretch last = { .ops = 0 };
    const struct stretch *s;

    tm_sorter_finish(c->by_time);
    while ((s = tm_sorter_next(c->by_time))) {
        if (last.ops && s->ahead_ps == last.ahead_ps) {
            last.last_ps = s->last_ps;
            continue;
        }
        if (last.ops) {
            note_jump(device, last.ahead_ps, s->ahead_ps);
            add_points(c, &last);
        }
        last = *s;
    }
    if (last.ops)
        add_points(c, &last);
}

/* The median of the differences; of an even number the lower of the two in the middle. */
static int64_t find_median(struct tm_device_clock *c)
{
    uint64_t before = (c->pairs - 1) / 2;
    const struct stretch *s;

    tm_sorter_finish(c->by_difference);
    while ((s = tm_sorter_next(c->by_difference)) && before >= s->ops)
        before -= s->ops;
    return s ? s->ahead_ps : 0;
}

static void finish_device(struct tm_device_clock *c, uint32_t number)
{
    struct tm_device *const device = &c->trace->devices[number];
    struct device_points *const points = &c->devices[number];

    end_stretch(c);
    if (!c->pairs)
        return;
    if (c->pairs < c->ops - c->pairs) { /* too few to determine the time of the others */
        tm_tally_add(&c->trace->run->tallies, TM_TALLY_DEVICE_CLOCK_UNUSED, c->pairs);
        return;
    }
    points->first = tm_rows_count(c->points);
    make_points(c, device);
    points->count = tm_rows_count(c->points) - points->first;
    points->shift_ps = find_median(c);
    device->has_device_clock = true;
    tm_tally_add(&c->trace->run->tallies, TM_TALLY_CLOCK_MAPPING_JUMP, device->clock_jumps);
}

/* --- the devices of a trace --- */

static int by_device(const void *a, const void *b)
{
    const struct ops_track *const x = a, *const y = b;

    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->track > y->track) - (x->track < y->track);
}

/* The lines of ops, by device. */
static void sort_tracks(struct tm_trace *trace, struct tm_sorter *sorter, struct tm_rows *tracks)
{
    const uint64_t count = tm_rows_count(trace->tracks);
    const void *next;

    for (uint64_t i = 0; i < count; i++) {
        const struct tm_track *const track = tm_rows_at(trace->tracks, i);

        if (track->line == TM_LINE_TPU_OPS && track->device != TM_NONE && track->events) {
            const struct ops_track row = { track->device, (uint32_t)i };

            tm_sorter_push(sorter, &row);
        }
    }
    tm_sorter_finish(sorter);
    while ((next = tm_sorter_next(sorter)))
        tm_rows_append(tracks, next);
}

/* Read the lines of a device: in `tracks` from `number` on.  out: the first line of the device that follows */
static uint64_t read_lines(struct tm_device_clock *c, struct tm_rows *tracks, tm_read_clock *read, void *from,
                           uint32_t device, uint64_t number)
{
    for (; number < tm_rows_count(tracks) && !tm_failed(c->trace->run); number++) {
        const struct ops_track *const row = tm_rows_at(tracks, number);

        if (row->device != device)
            break;
        read(from, c, row->track);
    }
    return number;
}

/* out: as of read_lines */
static uint64_t read_device(struct tm_device_clock *c, struct tm_rows *tracks, tm_read_clock *read, void *from,
                            uint64_t first)
{
    const uint32_t device = ((const struct ops_track *)tm_rows_at(tracks, first))->device;
    uint64_t next = first;

    if (begin_reading(c, false))
        next = read_lines(c, tracks, read, from, device, first);
    if (c->is_out_of_order && begin_reading(c, true))
        next = read_lines(c, tracks, read, from, device, first);
    if (!tm_failed(c->trace->run))
        finish_device(c, device);
    end_reading(c);
    return next;
}

/* owns: the caller's.  errors: NULL, with the error in run->error */
static struct tm_device_clock *make_clock(struct tm_trace *trace)
{
    struct tm_run *const run = trace->run;
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_METADATA);
    struct tm_device_clock *const c = tm_take(&run->budget, TM_ACCOUNT_METADATA, sizeof(*c), &run->error);

    if (!c)
        return NULL;
    *c = (struct tm_device_clock){ .trace = trace, .device_count = trace->device_count };
    c->points = tm_rows_new_paged(run, TM_ACCOUNT_METADATA, sizeof(struct tm_clock_point), share / 64, POINTS_PAGE);
    c->devices = tm_take(&run->budget, TM_ACCOUNT_METADATA, c->device_count * sizeof(*c->devices), &run->error);
    if (c->points && c->devices)
        return c;
    tm_device_clock_free(c);
    return NULL;
}

void tm_device_clock_free(struct tm_device_clock *c)
{
    struct tm_budget *budget;

    if (!c)
        return;
    budget = &c->trace->run->budget;
    end_reading(c);
    tm_rows_free(c->points);
    tm_give(budget, TM_ACCOUNT_METADATA, c->devices, c->devices ? c->device_count * sizeof(*c->devices) : 0);
    tm_give(budget, TM_ACCOUNT_METADATA, c, sizeof(*c));
}

static struct tm_device_clock *read_devices(struct tm_trace *trace, struct tm_rows *tracks, tm_read_clock *read,
                                            void *from)
{
    const uint64_t count = tm_rows_count(tracks);
    struct tm_device_clock *const c = count ? make_clock(trace) : NULL;

    if (!c)
        return NULL;
    for (uint64_t number = 0; number < count && !tm_failed(trace->run);)
        number = read_device(c, tracks, read, from, number);
    if (!tm_failed(trace->run) && tm_rows_count(c->points))
        return c;
    tm_device_clock_free(c);
    return NULL;
}

struct tm_device_clock *tm_device_clock_read(struct tm_trace *trace, tm_read_clock *read, void *from)
{
    struct tm_run *const run = trace->run;
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_SORT);
    struct tm_sorter *const sorter =
        tm_sorter_new(run, TM_ACCOUNT_SORT, sizeof(struct ops_track), share / 8, by_device);
    struct tm_rows *const tracks = tm_rows_new(run, TM_ACCOUNT_SORT, sizeof(struct ops_track), share / 8);
    struct tm_device_clock *clock = NULL;

    if (sorter && tracks)
        sort_tracks(trace, sorter, tracks);
    tm_sorter_free(sorter);
    if (!tm_failed(run))
        clock = read_devices(trace, tracks, read, from);
    tm_rows_free(tracks);
    return clock;
}

/* --- placing --- */

void tm_clock_place_begin(struct tm_device_clock *clock, const struct tm_track *track, struct tm_clock_place *place)
{
    const struct device_points *points;

    *place = (struct tm_clock_place){ .clock = NULL };
    if (!clock || track->device == TM_NONE || track->device >= clock->device_count)
        return;
    points = &clock->devices[track->device];
    if (!points->count)
        return;
    *place = (struct tm_clock_place){ .clock = clock,
                                      .first = points->first,
                                      .count = points->count,
                                      .shift_ps = points->shift_ps,
                                      .is_ops = track->line == TM_LINE_TPU_OPS,
                                      .after = *(const struct tm_clock_point *)tm_rows_at(clock->points, points->first),
                                      .has_after = true };
}

/* A point of the device. */
static struct tm_clock_point point_at(const struct tm_clock_place *place, uint64_t number)
{
    return *(const struct tm_clock_point *)tm_rows_at(place->clock->points, place->first + number);
}

/* How many points are before a time.  Lines are mostly in time order: the stretches that follow are tried first. */
static uint64_t count_before(const struct tm_clock_place *place, int64_t at_ps)
{
    const bool is_behind = place->has_before && at_ps <= place->before.recorded_ps;
    uint64_t low = is_behind ? 0 : place->next, high = is_behind ? place->next : place->count;
    uint64_t step = 1;

    while (low < high) {
        const uint64_t middle = !is_behind && step < high - low ? low + step - 1 : low + (high - low) / 2;

        step *= 2;
        if (point_at(place, middle).recorded_ps < at_ps) {
            low = middle + 1;
        } else {
            high = middle;
            step = UINT64_MAX / 2; /* by halves from here on */
        }
    }
    return low;
}

/* Go to the stretch of a time. */
static void go_to(struct tm_clock_place *place, int64_t at_ps)
{
    if ((!place->has_before || place->before.recorded_ps < at_ps) &&
        (!place->has_after || at_ps <= place->after.recorded_ps))
        return;
    place->next = count_before(place, at_ps);
    place->has_before = place->next > 0;
    place->has_after = place->next < place->count;
    if (place->has_before)
        place->before = point_at(place, place->next - 1);
    if (place->has_after)
        place->after = point_at(place, place->next);
    if (tm_failed(place->clock->trace->run))
        place->has_before = false; /* points may belong to no line */
}

/* On the line through two points; rounded down. */
static int64_t between(const struct tm_clock_point *a, const struct tm_clock_point *b, int64_t at_ps)
{
    const __int128 whole = (__int128)(at_ps - a->recorded_ps) * ((__int128)b->device_ps - a->device_ps);
    const int64_t parts = b->recorded_ps - a->recorded_ps;
    const __int128 share = whole / parts - (whole % parts < 0);

    return (int64_t)(a->device_ps + share);
}

/* The device's time at a recorded one.  Before the first op and after the last one its difference holds.
 * out: false: it does not fit in 64 bits */
static bool carry(struct tm_clock_place *place, int64_t at_ps, int64_t *device_ps)
{
    go_to(place, at_ps);
    if (place->has_after && at_ps == place->after.recorded_ps) {
        *device_ps = place->after.device_ps;
        return true;
    }
    if (place->has_before && place->has_after) {
        *device_ps = between(&place->before, &place->after, at_ps);
        return true;
    }
    const struct tm_clock_point *const near = place->has_after ? &place->after : &place->before;

    return !__builtin_sub_overflow(at_ps, near->recorded_ps - near->device_ps, device_ps);
}

bool tm_clock_place_carry(struct tm_clock_place *place, struct tm_record *r)
{
    const int64_t end_ps = r->start_ps + r->dur_ps; /* tm_time_fits */
    int64_t device_end_ps;

    if (!carry(place, r->start_ps, &r->start_ps))
        return false;
    if (!r->dur_ps)
        return true;
    if (!carry(place, end_ps, &device_end_ps) || __builtin_sub_overflow(device_end_ps, r->start_ps, &r->dur_ps))
        return false;
    if (r->dur_ps < 0) /* ops whose own times decrease while the recorded ones increase */
        r->dur_ps = 0;
    return true;
}
