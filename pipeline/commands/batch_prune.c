/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/commands/commands.h"

tm_status tm_command_batch_prune(struct tm_run *run, const struct tm_options *options)
{
    (void)options;
    return tm_fail(&run->error, TM_ERR_USAGE, -1, "not built yet");
}
