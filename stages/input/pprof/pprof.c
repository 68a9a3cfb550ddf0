/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a device memory profile in two goes: the tables, of which the strings come last, and then the samples.
 * Memory: three buffers; the tables spill. */
#include "stages/input/pprof/pprof.h"

#include <stdio.h>
#include <string.h>

#include "stages/input/pprof/pprof_private.h"

void pprof_damaged(struct pprof *p, const char *what, uint64_t at)
{
    if (p->damage->is_damaged)
        return;
    p->damage->is_damaged = true;
    (void)snprintf(p->damage->problem, sizeof(p->damage->problem), "the memory profile is damaged: %s (byte %llu)",
                   what, (unsigned long long)at);
}

tm_status pprof_next_field(struct pprof *p, struct tm_reader *w, struct tm_head *head, bool *more)
{
    bool damaged;
    const tm_status st = tm_reader_head(w, head, more, &damaged);

    if (st != TM_OK || !*more || !damaged)
        return st;
    pprof_damaged(p, "it ends in the middle of a message, or is none", head->offset);
    tm_tally_add(&p->run->tallies, TM_TALLY_CUT_SHORT, w->end - head->offset);
    p->end = head->offset;
    *more = false;
    return TM_OK;
}

/* --- whose code --- */

static bool has(const char *text, size_t length, const char *part)
{
    return memmem(text, length, part, strlen(part)) != NULL;
}

static bool begins(const char *text, size_t length, const char *part)
{
    return length >= strlen(part) && memcmp(text, part, strlen(part)) == 0;
}

enum tm_code_owner tm_code_owner_of(const char *file, size_t length)
{
    static const char *const runtime[] = { "/jax/_src/", "-packages/jax/", "/jaxlib/", "-packages/jaxlib/" };
    static const char *const runtime_begin[] = { "jax/_src/", "jaxlib/", "xla/", "external/" };
    static const char *const library[] = { "/site-packages/", "/dist-packages/", "/lib/python3", "\\site-packages\\" };

    if (length == 0)
        return TM_CODE_RUNTIME;
    if (has(file, length, "/jax/_src/traceback_util.py"))
        return TM_CODE_WRAPPER;
    for (size_t i = 0; i < sizeof(runtime) / sizeof(runtime[0]); i++)
        if (has(file, length, runtime[i]) || begins(file, length, runtime_begin[i]))
            return TM_CODE_RUNTIME;
    for (size_t i = 0; i < sizeof(library) / sizeof(library[0]); i++)
        if (has(file, length, library[i]))
            return TM_CODE_LIBRARY;
    return begins(file, length, "<frozen ") ? TM_CODE_LIBRARY : TM_CODE_USER;
}

/* --- reading --- */

tm_status tm_pprof_read(struct tm_run *run, const struct tm_input *input, struct tm_names *names,
                        tm_take_memory_sample *take, void *to, struct tm_pprof_damage *damage)
{
    struct pprof p = { .run = run, .input = input, .names = names, .damage = damage, .end = input->bytes };
    tm_status st;

    *damage = (struct tm_pprof_damage){ .is_damaged = false };
    p.buffer = tm_take(&run->budget, TM_ACCOUNT_INPUT, PPROF_BUFFER, &run->error);
    p.sample_buffer = p.buffer ? tm_take(&run->budget, TM_ACCOUNT_INPUT, PPROF_SAMPLE_BUFFER, &run->error) : NULL;
    p.text = p.sample_buffer ? tm_take(&run->budget, TM_ACCOUNT_INPUT, PPROF_BUFFER, &run->error) : NULL;
    st = p.text ? pprof_read_tables(&p) : run->error.status;
    if (st == TM_OK)
        st = pprof_read_samples(&p, take, to);
    pprof_free_tables(&p);
    tm_give(&run->budget, TM_ACCOUNT_INPUT, p.text, p.text ? PPROF_BUFFER : 0);
    tm_give(&run->budget, TM_ACCOUNT_INPUT, p.sample_buffer, p.sample_buffer ? PPROF_SAMPLE_BUFFER : 0);
    tm_give(&run->budget, TM_ACCOUNT_INPUT, p.buffer, p.buffer ? PPROF_BUFFER : 0);
    return st;
}
