/* SPDX-License-Identifier: Apache-2.0 */
/* scopes.collapsed.  The rows of the summary are trees in depth-first order, so the frames of a row are the names of
 * the last rows of each depth above it. */
#include "reports/media.h"

#include <errno.h>
#include <inttypes.h>

#include "pipeline/store/bounded_sum.h"
#include "reports/format/format.h"

enum { FRAMES_MOST = 128, NAME_BYTES = 1024, PS_PER_NS = 1000 };

struct collapsed {
    FILE *to;
    const struct tm_value *frame[FRAMES_MOST]; /* the last row of each depth */
    int64_t told_ps, told_ns;                  /* of the lines so far */
};

static void put_frame(FILE *to, const char *name)
{
    char visible[NAME_BYTES];

    tm_format_text(visible, sizeof(visible), *name ? name : "(no name)");
    for (char *c = visible; *c; c++)
        *c = *c == ' ' ? '_' : *c == ';' ? ':' : *c;
    (void)fputs(visible, to);
}

/* What a line adds in whole nanoseconds, so that the sum of all lines is exact to the nanosecond. */
static int64_t take_ns(struct collapsed *c, int64_t ps)
{
    const int64_t before_ns = c->told_ns;

    c->told_ps = tm_sum_times(c->told_ps, ps > 0 ? ps : 0);
    c->told_ns = c->told_ps / PS_PER_NS + (c->told_ps % PS_PER_NS >= PS_PER_NS / 2);
    return c->told_ns - before_ns;
}

/* A line with one frame that is not a scope. */
static void put_other(struct collapsed *c, const char *frame, int64_t ps)
{
    const int64_t ns = take_ns(c, ps);

    if (ns > 0)
        (void)fprintf(c->to, "%s %" PRId64 "\n", frame, ns);
}

static void put_row(struct collapsed *c, const struct tm_value *row)
{
    const int64_t told = tm_int(tm_get(row, "depth"));
    const size_t depth = told < 0 ? 0 : told < FRAMES_MOST ? (size_t)told : FRAMES_MOST - 1;
    const int64_t ns = take_ns(c, tm_int(tm_get(row, "self_ps")));

    c->frame[depth] = row;
    if (ns == 0)
        return;
    put_frame(c->to, tm_text(tm_get(row, "pass")));
    for (size_t i = 0; i <= depth; i++) {
        (void)fputc(';', c->to);
        put_frame(c->to, tm_text(tm_get(c->frame[i], "name")));
    }
    (void)fprintf(c->to, " %" PRId64 "\n", ns);
}

static void put_scopes(struct collapsed *c, const struct tm_value *scopes)
{
    const struct tm_value *rows = tm_get(scopes, "rows");

    for (size_t i = 0; i < tm_length(rows); i++)
        put_row(c, tm_at(rows, i));
    put_other(c, "(rows not listed)", tm_int(tm_path(scopes, "rest.self_ps")));
    put_other(c, "(no scope)", tm_int(tm_path(scopes, "unscoped.self_ps")));
}

/* Without scopes: operations by their category. */
static void put_ops(struct collapsed *c, const struct tm_value *ops)
{
    const struct tm_value *rows = tm_get(ops, "rows");

    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *row = tm_at(rows, i);
        const int64_t ns = take_ns(c, tm_int(tm_get(row, "self_ps")));

        if (ns == 0)
            continue;
        (void)fputs("(no scopes recorded);", c->to);
        put_frame(c->to, tm_text(tm_get(row, "category")));
        (void)fputc(';', c->to);
        put_frame(c->to, tm_text(tm_get(row, "name")));
        (void)fprintf(c->to, " %" PRId64 "\n", ns);
    }
    put_other(c, "(rows not listed)", tm_int(tm_path(ops, "rest.self_ps")));
}

tm_status tm_collapsed_write(struct tm_run *run, const struct tm_doc *doc, FILE *to)
{
    const struct tm_value *summary = tm_doc_root(doc), *scopes = tm_get(summary, "scopes");
    struct collapsed c = { .to = to };

    if (tm_has(tm_get(scopes, "rows")))
        put_scopes(&c, scopes);
    else
        put_ops(&c, tm_get(summary, "ops"));
    if (fflush(to) != 0 || ferror(to))
        return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot write the collapsed stacks");
    return TM_OK;
}
