/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/figures/backward.h"

#include "stages/resolve/classes.h"

static tm_status look_at(const struct tm_trace *trace, tm_strid path, enum tm_backward *backward)
{
    enum tm_backward told;
    struct tm_name name;
    tm_status st;

    if (!path)
        return TM_OK;
    st = tm_names_info(trace->names, path, &name);
    if (st != TM_OK)
        return st;
    told = name.traits & TM_TRAIT_BACKWARD ? TM_BACKWARD_YES : TM_BACKWARD_NO;
    if (told > *backward)
        *backward = told;
    return TM_OK;
}

tm_status tm_backward_in_paths(const struct tm_trace *trace, enum tm_backward *backward)
{
    tm_status st = TM_OK;

    for (uint64_t i = 1; i < tm_rows_count(trace->configs) && st == TM_OK && *backward != TM_BACKWARD_YES; i++) {
        const struct tm_config *config = tm_rows_at(trace->configs, i);

        if (!config)
            return trace->run->error.status;
        if (config->hlo_op || config->has_kernel || config->category) /* of what a device runs */
            st = look_at(trace, config->op, backward);
    }
    for (uint64_t i = 1; i < tm_rows_count(trace->hlo_ops) && st == TM_OK && *backward != TM_BACKWARD_YES; i++) {
        const struct tm_hlo_op *op = tm_rows_at(trace->hlo_ops, i);

        st = op ? look_at(trace, op->path, backward) : trace->run->error.status;
    }
    return st;
}
