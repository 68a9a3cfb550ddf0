/* SPDX-License-Identifier: Apache-2.0 */
/* `skill`: what a coding agent has to know to use this program, as one Markdown file. */
#include <stdio.h>
#include <string.h>

#include "pipeline/atomic_file.h"
#include "pipeline/commands/commands.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/files.h"

extern const char tm_skill_md[]; /* docs/skill.md */

static tm_status install(struct tm_run *run, const char *folder)
{
    struct tm_atomic_file file = { .stream = NULL };
    char place[TM_PLACE_BYTES];
    const int n = snprintf(place, sizeof(place), "%s/tracemill", folder);

    if (n < 0 || (size_t)n >= sizeof(place))
        return tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot install into '%.200s...': the path is too long", folder);
    tm_make_folder(run, place);
    if (!tm_atomic_open(&file, run, place, "SKILL.md"))
        (void)fputs(tm_skill_md, file.stream);
    if (!tm_failed(run))
        tm_atomic_commit(&file);
    tm_atomic_abort(&file);
    if (!tm_failed(run) && !run->quiet)
        (void)printf("%s/SKILL.md\n", place);
    return run->error.status;
}

static tm_status run_skill(struct tm_run *run, const struct tm_options *options)
{
    if (options->install)
        return tm_finish_stdout(run, install(run, options->install));
    (void)fputs(tm_skill_md, stdout);
    return tm_finish_stdout(run, run->error.status);
}

/* clang-format off */
const struct tm_verb tm_skill_verb = {
    .name = "skill",
    .summary = "how to use tracemill, for coding agents: print it, or install it as a skill",
    .usage = "[--install DIR]",
    .description =
        "Prints one Markdown file: which verb answers what, how to read the answers, traps, and how to take a better profile."
        " With --install it is written to DIR/tracemill/SKILL.md, where agents look for skills.",
    .examples =
        "tracemill skill\n"
        "tracemill skill --install skills    writes skills/tracemill/SKILL.md\n",
    .bit = TM_FOR_SKILL,
    .flags = TM_VERB_PRINTS,
    .least = 0,
    .most = 0,
    .run = run_skill,
};
/* clang-format on */
