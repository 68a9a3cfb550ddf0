/* SPDX-License-Identifier: Apache-2.0 */
/* What is different besides time: memory, versions, devices. */
#include <math.h>
#include <string.h>

#include "reports/compare/causes.h"
#include "reports/findings/ask.h"
#include "reports/format/format.h"

static const double memory_least_pct = 5, memory_near_pct = 90;
enum { MEMORY_LEAST_BYTES = 16 << 20 };

/* The highest peak of an allocator. */
static double peak_of(const struct tm_value *summary, const void *key)
{
    const struct tm_value *allocators = tm_path(summary, "memory.allocators");
    double most = NAN;

    for (size_t i = 0; i < tm_length(allocators); i++) {
        const struct tm_value *value = tm_get(tm_at(allocators, i), key);

        if (tm_has(value) && !(tm_double(value) <= most))
            most = tm_double(value);
    }
    return most;
}

static void find_memory(struct causes *k)
{
    const double base = mean_over_runs(&k->c->side[0], peak_of, "peak_bytes");
    const double other = mean_over_runs(&k->c->side[k->side], peak_of, "peak_bytes");
    const double share = mean_over_runs(&k->c->side[k->side], peak_of, "peak_pct");
    const double pct = change_pct(base, other);
    char a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES], p[TM_FORMAT_BYTES];
    struct cause *cause;

    if (!(fabs(pct) >= memory_least_pct) || fabs(other - base) < MEMORY_LEAST_BYTES)
        return;
    cause = cause_of_fact(k, other > base ? "memory_more" : "memory_less");
    cause->is_warning = other > base && share >= memory_near_pct;
    cause_title(cause, "Peak memory %s, before %s: %s %s", tm_format_bytes(b, other),
                tm_format_bytes(a, base), tm_format_pct(p, fabs(pct)), pct > 0 ? "more" : "less");
    cause->value = pct;
    cause->unit = "%";
    if (isfinite(share))
        cause_say(cause, "%s of the allocator's capacity", tm_format_pct(p, share));
}

static void find_environment(struct causes *k)
{
    static const struct {
        const char *path, *words;
    } facts[] = {
        { "environment.platform", "platform" },
        { "environment.devices[0].model", "device model" },
        { "environment.devices[0].vendor", "vendor" },
        { "environment.hosts[0].jax", "jax" },
        { "environment.hosts[0].jaxlib", "jaxlib" },
        { "environment.hosts[0].cuda", "CUDA" },
        { "environment.hosts[0].cuda_runtime", "CUDA runtime" },
        { "environment.hosts[0].driver", "driver" },
        { "environment.hosts[0].rocm", "ROCm" },
        { "environment.hosts[0].libtpu", "libtpu" },
    };
    const struct tm_value *base = k->c->side[0].run[0].summary,
                          *other = k->c->side[k->side].run[0].summary;
    struct cause *cause = NULL;

    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        const struct tm_value *a = tm_path(base, facts[i].path), *b = tm_path(other, facts[i].path);
        const bool is_text = tm_type_of(a) == TM_STRING && tm_type_of(b) == TM_STRING;
        char x[TM_FORMAT_BYTES], y[TM_FORMAT_BYTES], from[TM_SHORT_NAME_BYTES],
            to[TM_SHORT_NAME_BYTES];

        if (!tm_has(a) || !tm_has(b) ||
            (is_text ? strcmp(tm_text(a), tm_text(b)) == 0 : tm_double(a) == tm_double(b)))
            continue;
        (void)tm_short_name(from, is_text ? tm_text(a) : tm_format_number(x, tm_double(a)));
        (void)tm_short_name(to, is_text ? tm_text(b) : tm_format_number(y, tm_double(b)));
        if (!cause) {
            cause = cause_of_fact(k, "environment");
            cause_title(cause, "Other %s: %s, before %s", facts[i].words, to, from);
        }
        cause_say(cause, "%s: %s, before %s", facts[i].words, to, from);
    }
    if (cause && cause->evidence_count > 1)
        cause_title(cause, "The runs differ in %d versions or devices", cause->evidence_count);
}

tm_status find_facts(struct causes *k)
{
    find_memory(k);
    find_environment(k);
    return TM_OK;
}
