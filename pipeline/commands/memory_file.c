/* SPDX-License-Identifier: Apache-2.0 */
/* A device memory profile as an input of a run: it has no host and no events. */
#include "pipeline/commands/memory_file.h"

static tm_status read_content(struct tm_run *run, struct tm_names *names, const struct tm_found_file *found,
                              struct tm_input *input, struct tm_device_profiles *profiles, struct tm_file_facts *facts)
{
    struct tm_pprof_damage damage = { .is_damaged = false };
    char name[TM_FOUND_NAME_BYTES];
    tm_status st = tm_input_hold(input);

    tm_names_begin_host(names);
    if (st == TM_OK)
        st = tm_device_profiles_begin(profiles, tm_found_name(found, name));
    if (st == TM_OK)
        st = tm_pprof_read(run, input, names, tm_device_profiles_take, profiles, &damage);
    if (st == TM_OK)
        st = tm_device_profiles_end(profiles);
    if (st == TM_OK)
        st = tm_input_finish(input);
    if (st != TM_OK)
        return tm_while(&run->error, "reading '%s'", tm_found_name(found, name));
    tm_file_facts_take(facts, input, found, NULL, 0);
    facts->is_partial |= damage.is_damaged;
    tm_file_facts_problem(facts, damage.problem);
    return TM_OK;
}

tm_status tm_memory_file_read(struct tm_run *run, struct tm_names *names, const struct tm_found_file *found,
                              struct tm_device_profiles *profiles, struct tm_file_facts *facts)
{
    const struct tm_input_options options = { .member = found->member, .target = found->target,
                                              .position = found->position };
    struct tm_input own = { .run = NULL };
    tm_status st = found->opened ? TM_OK : tm_input_open_with(&own, run, found->path, &options);

    if (st == TM_OK)
        st = read_content(run, names, found, found->opened ? found->opened : &own, profiles, facts);
    tm_input_close(&own);
    return st;
}
