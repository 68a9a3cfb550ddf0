/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/commands/commands.h"
#include "pipeline/commands/report_job.h"

tm_status tm_command_report(struct tm_run *run, const struct tm_options *options)
{
    return tm_report_make(run, options, NULL);
}
