/* SPDX-License-Identifier: Apache-2.0 */
/* From where the times of a Chrome trace are counted.  Clocks that count from an epoch would not fit in 64 bits of
 * picoseconds, and nobody reads them.  One wrong time at the start must not leave everything else out: so the first
 * events are looked at together, and the time that most of them are near decides. */
#include <stdlib.h>

#include "stages/input/chrome/chrome_maker.h"
#include "stages/resolve/categories.h"

static const int64_t us_per_s = 1000000, us_per_day = (int64_t)86400 * 1000000;
/* A clock that reads more does not count from the start of the profile.  PyTorch's counts from a date or from when the
 * machine was started, the same for all events; of other writers it may be several clocks, which must all fit. */
static const int64_t latest_first_us = 100 * us_per_day, latest_torch_us = 3600 * us_per_s;
/* From an origin so far back, and so far on: tm_time_fits, less what the rest of the profile may take. */
static const int64_t before_us = 5 * us_per_day, after_us = 95 * us_per_day;

/* Where the first few do not agree, more are asked. */
enum { FEW = 64, LOOKED_AT = 1024 };

struct sample {
    size_t count;
    int64_t sorted[LOOKED_AT]; /* times */
    int64_t origin[LOOKED_AT]; /* if that event decided */
};

static int64_t whole_second(int64_t us)
{
    const int64_t rest = us % us_per_s;

    return us - (rest < 0 ? rest + us_per_s : rest);
}

static int64_t origin_of(const struct tm_chrome_event *event)
{
    const int64_t us = event->ts.us;
    struct tm_category category;
    const bool is_torch = event->has & TM_CHROME_CAT && tm_category_of(event->cat.at, event->cat.length, &category);
    const int64_t latest_us = is_torch ? latest_torch_us : latest_first_us;

    if (us < latest_us && us > -latest_us)
        return 0;
    return us < INT64_MIN + us_per_s ? 0 : whole_second(us);
}

static void take_sample(void *to, const struct tm_chrome_event *event)
{
    struct sample *const s = to;

    if (!tm_chrome_has_time(event))
        return;
    s->sorted[s->count] = event->ts.us;
    s->origin[s->count++] = origin_of(event);
}

static int compare_times(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* How many of the sorted times lie before this one. */
static size_t count_before(const struct sample *s, int64_t us)
{
    size_t from = 0, to = s->count;

    while (from < to) {
        const size_t middle = from + (to - from) / 2;

        if (s->sorted[middle] < us)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static int64_t add_within(int64_t us, int64_t more)
{
    int64_t sum;

    return __builtin_add_overflow(us, more, &sum) ? (more < 0 ? INT64_MIN : INT64_MAX) : sum;
}

/* The first event that has the most others near it.
 * out:    *agreed  it has all of them near it */
static int64_t choose_origin(struct sample *s, bool *agreed)
{
    size_t most = 0, chosen = 0;

    qsort(s->sorted, s->count, sizeof(s->sorted[0]), compare_times);
    for (size_t i = 0; i < s->count && most < s->count; i++) {
        const size_t near = count_before(s, add_within(s->origin[i], after_us + 1)) -
                            count_before(s, add_within(s->origin[i], -before_us));

        if (near > most) {
            most = near;
            chosen = i;
        }
    }
    *agreed = most == s->count;
    return s->count ? s->origin[chosen] : 0;
}

tm_status tm_chrome_set_origin(struct tm_chrome_maker *m)
{
    struct sample *const sample = tm_take(&m->run->budget, TM_ACCOUNT_INPUT, sizeof(*sample), &m->run->error);
    bool agreed = false;
    tm_status st = TM_OK;

    if (!sample)
        return m->run->error.status;
    for (size_t most = FEW; !agreed && most <= LOOKED_AT && st == TM_OK; most *= LOOKED_AT / FEW) {
        sample->count = 0;
        st = tm_chrome_look_ahead(m->reader, most, take_sample, sample);
        m->origin_us = choose_origin(sample, &agreed);
    }
    m->has_origin = true;
    tm_give(&m->run->budget, TM_ACCOUNT_INPUT, sample, sizeof(*sample));
    return st;
}
