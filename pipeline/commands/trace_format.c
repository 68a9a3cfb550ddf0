/* SPDX-License-Identifier: Apache-2.0 */
/* The endings of traces. */
#include "pipeline/commands/trace_format.h"

#include <string.h>

static const struct tm_trace_format formats[] = {
    { ".pftrace", &tm_perfetto_writer, false, true },
    { ".pftrace.gz", &tm_perfetto_writer, true, true },
    { ".perfetto-trace", &tm_perfetto_writer, false, true },
    { ".json", &tm_chrome_json_writer, false, true },
    { ".json.gz", &tm_chrome_json_writer, true, true },
    { ".csv", &tm_csv_writer, false, false },
    { ".csv.gz", &tm_csv_writer, true, false },
};

const struct tm_trace_format *tm_trace_format_of(const char *name)
{
    const size_t length = strlen(name);

    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        const size_t ending = strlen(formats[i].ending);

        if (length > ending && strcmp(name + length - ending, formats[i].ending) == 0)
            return &formats[i];
    }
    return NULL;
}
