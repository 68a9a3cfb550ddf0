/* SPDX-License-Identifier: Apache-2.0 */
/* The section programs. */
#include "stages/diagnose/kernels/programs_private.h"

enum { NAME_MOST = 512 };

static tm_status add_name(struct programs *p, struct tm_value *to, const char *key, tm_strid name)
{
    const char *text;
    size_t length;
    const tm_status st = tm_names_text(p->names, name, NAME_MOST, &text, &length);

    if (st == TM_OK)
        tm_add_text(to, key, text, length);
    return st;
}

static tm_status add_pauses(struct programs *p, struct tm_value *section)
{
    struct tm_value *pauses = tm_add_object(section, "pauses"), *list;
    tm_status st = TM_OK;

    tm_add_int(pauses, "below_ps", PROGRAMS_PAUSE_PS);
    tm_add_uint(pauses, "count", p->pause_count);
    tm_add_int(pauses, "total_ps", p->pause_ps);
    list = tm_add_array(pauses, "longest");
    tm_top_rows_sort(p->longest);
    for (uint64_t i = 0; i < tm_top_rows_count(p->longest) && st == TM_OK; i++) {
        const struct program_pause *pause = tm_top_rows_at(p->longest, i);
        struct tm_value *to = tm_add_object(list, NULL);

        tm_add_string(to, "device", pause->device);
        tm_add_int(to, "begin_ps", pause->begin_ps);
        tm_add_int(to, "dur_ps", pause->dur_ps);
        if (pause->has_step)
            tm_add_int(to, "step", pause->step_number);
        else
            tm_add_null(to, "step", "the step has no number");
        st = add_name(p, to, "before", pause->before);
        if (st == TM_OK)
            st = add_name(p, to, "after", pause->after);
    }
    return st;
}

/* host.eager: how much of the work is sent to the devices op by op. */
static void add_eager(const struct programs *p, struct tm_value *summary)
{
    const struct dispatch_sums *sums = &p->dispatches;
    struct tm_value *host = tm_member(summary, "host"), *eager;

    if (!host)
        host = tm_add_object(summary, "host");
    if (!sums->count || !sums->step_devices) {
        tm_add_null(host, "eager",
                    !p->has_device  ? "no device activity was recorded"
                    : !p->has_steps ? "no steps are marked in this profile"
                                    : "the profile does not tell which operations were started together");
        return;
    }
    eager = tm_add_object(host, "eager");
    tm_add_double(eager, "programs_per_step", (double)sums->count / (double)sums->step_devices);
    tm_add_double(eager, "single_op_programs_pct", 100 * (double)sums->single_count / (double)sums->count);
    tm_add_int(eager, "launch_gap_ps", sums->pause_ps);
    tm_add_int(eager, "small_kernel_ps", sums->small_ps);
    if (sums->execute_ps || sums->call_ps)
        tm_add_int(eager, "host_ps", sums->execute_ps ? sums->execute_ps : sums->call_ps);
    else
        tm_add_null(eager, "host_ps", "the calls of the host that start the work are not recorded");
}

tm_status tm_programs_report(struct tm_stage *s, struct tm_value *summary)
{
    struct programs *p = s->state;
    struct tm_value *section;

    add_eager(p, summary);
    if (!p->has_device || !p->has_steps || !p->step_devices) {
        tm_add_null(summary, "programs",
                    !p->has_device  ? "no device activity was recorded"
                    : !p->has_steps ? "no steps are marked in this profile"
                                    : "the profile does not tell when compiled programs are executed in its steps");
        return TM_OK;
    }
    section = tm_add_object(summary, "programs");
    tm_add_uint(section, "count", p->count);
    tm_add_double(section, "per_step", (double)p->count / (double)p->step_devices);
    tm_add_uint(section, "operations", p->operations);
    tm_add_int(section, "operation_ps", p->operation_ps);
    return add_pauses(p, section);
}
