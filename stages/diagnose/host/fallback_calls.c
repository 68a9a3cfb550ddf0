/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the program back to the host, and operations that ran there.  A call back is the outermost span that is
 * named as one; what is inside tells its kind and the user's function. */
#include <string.h>

#include "stages/diagnose/host/fallback_private.h"

enum { TEXT_MOST = 512 }; /* bytes of a name that are looked at */

/* What the key of a row is made of; no gaps in it. */
struct key_text {
    struct tm_key name, op;
    uint64_t sort, kind;
};
static_assert(sizeof(struct key_text) == 48, "hashed as bytes");

tm_status fallback_count(struct fallback *f, const struct fallback_row *about, int64_t begin_ps, int64_t dur_ps)
{
    struct fallback_sum *sum = &f->sums[about->sort];
    struct fallback_row row = *about;
    struct tm_key hashes[2];
    struct key_text text;
    const tm_status st = tm_names_hashes(f->names, (const tm_strid[]){ row.name, row.op }, 2, hashes);

    if (st != TM_OK)
        return st;
    text = (struct key_text){ hashes[0], hashes[1], row.sort, row.kind };
    row.key = tm_hash_key(&text, sizeof(text));
    row.count = 1;
    row.total_ps = dur_ps;
    row.longest = (struct tm_longest){ dur_ps, begin_ps, f->trace->host };
    sum->count = tm_sum_counts(sum->count, 1);
    sum->total_ps = tm_sum_times(sum->total_ps, dur_ps);
    return tm_groups_add(f->rows, &row);
}

/* --- calls back --- */

static tm_status count_callback(struct fallback *f, const struct open_callback *open)
{
    const struct fallback_row row = { .name = open->function, .op = open->op, .sort = FALLBACK_CALLBACK,
                                      .kind = (uint8_t)open->kind };

    return fallback_count(f, &row, open->begin_ps, open->end_ps - open->begin_ps);
}

tm_status fallback_close_callbacks(struct fallback *f, int64_t until_ps)
{
    tm_status st = TM_OK;

    for (uint32_t i = 0; i < f->open_count && st == TM_OK;) {
        if (f->open[i].end_ps > until_ps) {
            i++;
            continue;
        }
        st = count_callback(f, &f->open[i]);
        f->open[i] = f->open[--f->open_count];
    }
    return st;
}

static tm_status look_up(struct fallback *f, const struct tm_event *event, struct tm_callback_name *about)
{
    const bool is_cpu_op = event->record.class == TM_CLASS_CPU_OP;
    const tm_strid name = event->record.name;
    struct fallback_front *front = &f->front[name & (FALLBACK_FRONT - 1)];

    if (!front->is_used || front->name != name || front->is_cpu_op != is_cpu_op) {
        const char *text;
        size_t length;
        const tm_status st = tm_names_text(f->names, name, TEXT_MOST, &text, &length);

        if (st != TM_OK)
            return st;
        *front = (struct fallback_front){ name, true, is_cpu_op, tm_callback_name_of(text, length, is_cpu_op) };
    }
    *about = front->about;
    return TM_OK;
}

/* The call back that is open on a track. */
static struct open_callback *find_open(struct fallback *f, uint32_t track)
{
    for (uint32_t i = 0; i < f->open_count; i++)
        if (f->open[i].track == track)
            return &f->open[i];
    return NULL;
}

static void learn(struct open_callback *open, const struct tm_event *event, struct tm_callback_name about)
{
    if (about.kind != TM_CALLBACK && open->kind != TM_HOST_CUSTOM_CALL)
        open->kind = about.kind;
    if (about.role == TM_ROLE_CALLS)
        open->is_calling = true;
    if (about.kind == TM_DEBUG_PRINT) { /* JAX's own function, behind helpers of others */
        open->function = 0;
        open->is_calling = false;
    }
    if (about.role == TM_ROLE_FUNCTION && open->is_calling && !open->function)
        open->function = event->record.name;
}

static tm_status begin_callback(struct fallback *f, const struct tm_event *event, enum tm_callback_kind kind,
                                int64_t begin_ps, int64_t end_ps)
{
    const struct open_callback open = { .begin_ps = begin_ps, .end_ps = end_ps, .track = event->record.track,
                                        .op = event->config->op, .kind = kind };

    if (f->open_count == FALLBACK_OPEN)
        return count_callback(f, &open);
    f->open[f->open_count++] = open;
    return TM_OK;
}

/* --- events --- */

static tm_status count_cpu_op(struct fallback *f, const struct tm_event *event, int64_t begin_ps, int64_t end_ps)
{
    const struct fallback_row row = { .name = event->record.name, .op = event->config->op, .sort = FALLBACK_CPU_OP };

    return fallback_count(f, &row, begin_ps, end_ps - begin_ps);
}

static tm_status take_cut_span(struct fallback *f, const struct tm_event *event, struct tm_callback_name about,
                               int64_t begin_ps, int64_t end_ps)
{
    const bool is_cpu_op = event->record.class == TM_CLASS_CPU_OP;
    struct open_callback *around = find_open(f, event->record.track);
    const struct tm_hlo_op *op = NULL;
    tm_status st = TM_OK;
    bool is_host;

    if (around) {
        learn(around, event, about);
        return TM_OK;
    }
    if (about.role != TM_ROLE_BEGINS)
        st = tm_trace_hlo(f->trace, event->config, &op);
    if (st != TM_OK)
        return st;
    is_host = op && op->is_host;
    if (about.role == TM_ROLE_BEGINS || is_host)
        return begin_callback(f, event, is_host ? TM_HOST_CUSTOM_CALL : about.kind, begin_ps, end_ps);
    return is_cpu_op && f->is_accelerated ? count_cpu_op(f, event, begin_ps, end_ps) : TM_OK;
}

/* Whether a span is of no concern: it begins no call back, lies in none, and is no operation. */
static bool is_nothing(const struct fallback *f, const struct tm_event *event, struct tm_callback_name about)
{
    return !f->open_count && about.role != TM_ROLE_BEGINS && event->record.class != TM_CLASS_CPU_OP &&
           !f->has_host_op;
}

tm_status fallback_take_span(struct fallback *f, const struct tm_event *event)
{
    int64_t begin_ps = event->record.start_ps, end_ps = tm_sum_times(begin_ps, event->record.dur_ps);
    struct tm_callback_name about;
    const struct tm_track *track;
    tm_status st = TM_OK;

    if (f->open_count)
        st = fallback_close_callbacks(f, begin_ps);
    if (st == TM_OK)
        st = look_up(f, event, &about);
    if (st != TM_OK || is_nothing(f, event, about) || !tm_is_host_span(event) || !f->trace->tracks ||
        event->record.track >= tm_rows_count(f->trace->tracks) || !tm_cut_to_window(&f->window, &begin_ps, &end_ps))
        return st;
    track = tm_rows_at(f->trace->tracks, event->record.track);
    if (!track)
        return f->run->error.status;
    return track->side == TM_SIDE_HOST ? take_cut_span(f, event, about, begin_ps, end_ps) : TM_OK;
}
