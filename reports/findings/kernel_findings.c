/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels tell (summary.kernels): one that takes most of the time.  Kernel times are of the whole profile;
 * what is at stake of a dominant one is put into the window by its share of kernel time: what it takes beyond the
 * limit. */
#include "reports/findings/finding.h"

/* On a TPU or a CPU the table holds operations, which are not launched one by one. */
static bool has_kernels(const struct tm_findings *all)
{
    return !tm_ask_is_platform(all->summary, "tpu") && !tm_ask_is_platform(all->summary, "cpu");
}

/* The longest by total of a table of kernels. */
static const struct tm_value *longest_of(const struct tm_value *rows)
{
    const struct tm_value *top = NULL;

    for (size_t i = 0; i < tm_length(rows); i++) {
        if (!top || tm_int(tm_get(tm_at(rows, i), "total_ps")) > tm_int(tm_get(top, "total_ps")))
            top = tm_at(rows, i);
    }
    return top;
}

static void say_dominant(struct tm_findings *all, struct tm_finding *f, const struct tm_value *top)
{
    const int64_t total_ps = tm_int(tm_path(all->summary, "kernels.total_ps"));
    const int64_t count = tm_int(tm_get(top, "count"));
    char name[TM_SHORT_NAME_BYTES], a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES], c[TM_FORMAT_BYTES],
        d[TM_FORMAT_BYTES];

    tm_finding_say(f, "'%s' takes %s of %s of all %s.",
                   tm_short_name(name, tm_text(tm_get(top, "name"))),
                   tm_format_time(a, tm_int(tm_get(top, "total_ps"))), tm_format_time(b, total_ps),
                   has_kernels(all) ? "kernels" : "operations");
    if (count > 0)
        tm_finding_say(f, "It runs %s times, %s on average, %s to %s.", tm_format_count(a, count),
                       tm_format_time(b, tm_int(tm_get(top, "total_ps")) / count),
                       tm_format_time(c, tm_int(tm_get(top, "min_ps"))),
                       tm_format_time(d, tm_int(tm_get(top, "max_ps"))));
}

static const char *const faster_kernels[TM_FIXES_OFFERED] = {
    "jax|Find the line it comes from: the operation and framework path stand in the kernel table; "
    "`with jax.named_scope('attention'):` names parts of the model.",
    "jax|Matrix products: use bfloat16 or TF32 (`jax.config.update('jax_default_matmul_precision', "
    "'tensorfloat32')`), and sizes that are multiples of 128.",
    "gpu,jax|Attention: `jax.nn.dot_product_attention(q, k, v, implementation='cudnn')` does it in "
    "one fused kernel.",
    "jax|A loop fusion or a reduction: it is bound by memory; store in a smaller type, recompute "
    "instead of reading, or write it once as a Pallas kernel.",
    "torch|Find the line it comes from: record with `with_stack=True`; `with "
    "torch.profiler.record_function('attention'):` names parts of the model.",
    "torch|Matrix products: `torch.autocast('cuda', dtype=torch.bfloat16)`, or TF32 "
    "(`torch.set_float32_matmul_precision('high')`), and sizes that are multiples of 128.",
    "torch|Attention: `torch.nn.functional.scaled_dot_product_attention(q, k, v)` does it in one "
    "fused kernel.",
    "torch|Elementwise work and reductions are bound by memory: `torch.compile(model)` fuses them.",
    "torch|A collective: its time holds the wait for the last rank; see the findings on "
    "collectives.",
    "other|Find where it is launched from: what the host does at that time stands in the trace "
    "viewer.",
    "other|Use a smaller type, or fuse it with what runs before and after.",
};

static void find_dominant(struct tm_findings *all)
{
    const struct tm_value *top = longest_of(tm_path(all->summary, "kernels.by_name"));
    const double share = tm_share_pct(tm_int(tm_get(top, "total_ps")),
                                      tm_int(tm_path(all->summary, "kernels.total_ps")));
    const double limit = tm_limit_of(all, TM_LIMIT_DOMINANT_KERNEL);
    const double compute_ps = tm_double(tm_path(all->summary, "total.compute_ps"));
    const int64_t stake_ps = tm_whole(compute_ps * (share - limit) / 100);
    const char *word = has_kernels(all) ? "kernel" : "operation";
    char name[TM_SHORT_NAME_BYTES], pct[TM_FORMAT_BYTES];
    struct tm_finding *f;

    if (!tm_is_worth_mention(all, stake_ps) ||
        tm_length(tm_path(all->summary, "kernels.by_name")) < 2)
        return;
    f = tm_finding_of_time(all, "kernel_dominant", stake_ps);
    f->severity = TM_INFO; /* work, not loss: how much of it can be saved is not known */
    tm_finding_title(f, "One %s takes %s of all %s time: %s", word, tm_format_pct(pct, share), word,
                     tm_short_name(name, tm_text(tm_get(top, "name"))));
    tm_finding_value(f, share, "%");
    tm_finding_limit(f, limit);
    f->cause = "Whatever is changed elsewhere, the run can become only a little faster; this "
               "kernel is where work on device time pays most.";
    say_dominant(all, f, top);
    tm_finding_fixes(f, faster_kernels);
}

void tm_find_kernels(struct tm_findings *all)
{
    find_dominant(all);
}
