/* SPDX-License-Identifier: Apache-2.0 */
/* Products in 32-bit floats on a device with matrix units (summary.fusion.matrix). */
#include "reports/findings/finding.h"

enum { ROWS_NAMED = 4 };

static void say_row(struct tm_finding *f, const struct tm_value *row)
{
    const struct tm_value *op = tm_get(row, "op");
    char name[TM_SHORT_NAME_BYTES], path[TM_SHORT_NAME_BYTES], a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES];

    tm_finding_say(f, "'%s'%s%s: %s times, %s.", tm_short_name(name, tm_text(tm_get(row, "name"))),
                   tm_has(op) ? " of " : "", tm_has(op) ? tm_short_name(path, tm_text(op)) : "",
                   tm_format_count(a, tm_int(tm_get(row, "count"))),
                   tm_format_time(b, tm_int(tm_get(row, "total_ps"))));
}

void tm_find_precision(struct tm_findings *all)
{
    const struct tm_value *f32 = tm_path(all->summary, "fusion.matrix.f32"), *rows = tm_get(f32, "rows");
    const int64_t total_ps = tm_int(tm_get(f32, "total_ps"));
    const int64_t stake_ps = total_ps / 2; /* matrix units are several times as fast, memory is not */
    char a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES], c[TM_FORMAT_BYTES];
    struct tm_finding *f;

    if (!tm_is_worth_mention(all, stake_ps))
        return;
    f = tm_finding_of_time(all, "precision_f32", stake_ps);
    tm_finding_say(f, "%s products and convolutions in 32 bits take %s, %s of the kernel time.",
                   tm_format_count(a, tm_int(tm_get(f32, "count"))), tm_format_time(b, total_ps),
                   tm_format_pct(c, tm_share_pct(total_ps, tm_int(tm_path(all->summary, "fusion.kernels.total_ps")))));
    for (size_t i = 0; i < tm_length(rows) && i < ROWS_NAMED; i++)
        say_row(f, tm_at(rows, i));
}
