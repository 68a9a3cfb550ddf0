/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of a run.  See members.h. */
#include "stages/figures/members.h"

#include <string.h>

static struct tm_run_member *new_member(struct tm_members *m, struct tm_run *run)
{
    if (m->count == m->most) {
        const uint32_t most = m->most ? m->most * 2 : 8;
        struct tm_run_member *rows = tm_retake(&run->budget, TM_ACCOUNT_MODEL, m->rows, m->most * sizeof(*rows),
                                               most * sizeof(*rows), &run->error);

        if (!rows)
            return NULL;
        m->rows = rows;
        m->most = most;
    }
    m->rows[m->count] = (struct tm_run_member){ .host = m->host_count };
    return &m->rows[m->count++];
}

void tm_members_begin_host(struct tm_members *m, struct tm_run *run, const struct tm_trace *trace)
{
    memset(m->by_device, 0xff, sizeof(m->by_device)); /* TM_NONE */
    for (uint32_t i = 0; i < trace->device_count; i++) {
        struct tm_run_member *member = trace->devices[i].activities ? new_member(m, run) : NULL;

        if (!member)
            continue;
        m->by_device[i] = m->count - 1;
        memcpy(member->device, trace->devices[i].id, sizeof(member->device));
    }
    m->host_count++;
}

void tm_members_free(struct tm_members *m, struct tm_run *run)
{
    tm_give(&run->budget, TM_ACCOUNT_MODEL, m->rows, m->most * sizeof(*m->rows));
    m->rows = NULL;
    m->count = m->most = 0;
}

void tm_members_save(const struct tm_members *m, struct tm_partial_writer *w)
{
    tm_partial_put_u32(w, m->count);
    for (uint32_t i = 0; i < m->count; i++)
        tm_partial_put_device(w, m->rows[i].host, m->rows[i].device);
}

uint32_t tm_members_load(struct tm_members *m, struct tm_run *run, struct tm_partial_reader *r)
{
    const uint32_t first = m->count, count = tm_partial_below_u32(r, TM_NONE - (uint64_t)first);

    for (uint32_t i = 0; i < count && !tm_failed(run); i++) {
        const uint32_t host = tm_partial_below_u32(r, tm_partial_host_count(r));
        struct tm_run_member *member = new_member(m, run);

        if (!member)
            break;
        member->host += host;
        tm_partial_id(r, host, member->device, sizeof(member->device));
    }
    m->host_count += tm_partial_host_count(r);
    return first;
}

int64_t tm_step_number(const struct tm_trace *trace, uint32_t step)
{
    if (step == TM_NONE || trace->steps.source == TM_STEPS_SESSION)
        return TM_NO_STEP;
    return ((const struct tm_step_mark *)tm_rows_at(trace->steps.marks, step))->number;
}
