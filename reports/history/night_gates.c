/* SPDX-License-Identifier: Apache-2.0 */
/* What the gates of this merge say of the night's runs: those that failed first. */
#include <string.h>

#include "reports/history/night.h"

static const char *const shown[] = { "failed", "unknown" };

static void copy_text(struct tm_value *to, const char *key, const struct tm_value *from, const char *why)
{
    tm_add_known(to, key, tm_text(tm_get(from, key)), why);
}

static void add_gate(struct tm_value *list, const struct tm_value *run, const struct tm_value *gate)
{
    struct tm_value *to = tm_add_object(list, NULL);

    copy_text(to, "job", run, "it is not known");
    copy_text(to, "id", run, "it is not known");
    copy_text(to, "status", gate, "it is not known");
    copy_text(to, "figure", gate, "it is not known");
    copy_text(to, "title", gate, "it has none");
    copy_text(to, "value_text", gate, "the run does not have it");
    copy_text(to, "limit_text", gate, "it is not known");
    copy_text(to, "baseline_text", gate, "there is none");
    tm_add_known(to, "reason", tm_text(tm_get(gate, "why")), "the value tells");
}

static void add_of_status(struct tm_value *list, struct night *night, const char *status)
{
    const struct tm_value *runs = tm_get(night->options->gates, "runs");

    for (size_t i = 0; i < tm_length(runs); i++) {
        const struct tm_value *gates = tm_get(tm_at(runs, i), "gates");

        for (size_t k = 0; k < tm_length(gates); k++)
            if (strcmp(tm_text(tm_get(tm_at(gates, k), "status")), status) == 0 && tm_length(list) < night->options->rows)
                add_gate(list, tm_at(runs, i), tm_at(gates, k));
    }
}

static void add_counts(struct tm_value *to, const struct tm_value *counts)
{
    for (size_t i = 0; i < tm_length(counts); i++)
        if (tm_type_of(tm_value_at(counts, i)) == TM_INT)
            tm_add_int(to, tm_key_at(counts, i), tm_int(tm_value_at(counts, i)));
}

uint64_t night_gates_failed(const struct night *night)
{
    return (uint64_t)tm_int(tm_path(night->options->gates, "counts.failed"));
}

void night_add_gates(struct night *night)
{
    const struct tm_value *gates = night->options->gates;
    struct tm_value *to, *list;

    if (!gates) {
        tm_add_null(night->root, "gates", "none were asked for");
        return;
    }
    to = tm_add_object(night->root, "gates");
    copy_text(to, "gate_file", gates, "they are expressions");
    copy_text(to, "baseline", gates, "there is none");
    add_counts(tm_add_object(to, "counts"), tm_get(gates, "counts"));
    list = tm_add_array(to, "list");
    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
        add_of_status(list, night, shown[i]);
}
