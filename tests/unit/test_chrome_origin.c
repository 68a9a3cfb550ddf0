/* SPDX-License-Identifier: Apache-2.0 */
/* Who wrote a Chrome trace is told by what is in it. */
#include "stages/input/formats.h"

#include <stdio.h>
#include <unistd.h>

#include "pipeline/engine/analysis.h"
#include "stages/resolve/classes.h"
#include "tests/support/memory_file.h"
#include "tests/support/test_run.h"

#define SPAN(pid, args) "{\"ph\":\"X\",\"name\":\"a\",\"pid\":" pid ",\"tid\":1,\"ts\":1,\"dur\":2" args "}"

static void ignore_warning(void *to, const char *text, size_t length)
{
    (void)to;
    (void)text;
    (void)length;
}

static void who_wrote_a_trace_is_told_by_its_content(void **state)
{
    static const struct {
        const char *json;
        enum tm_origin origin;
        const char *framework;
    } rows[] = {
        { "{\"traceEvents\":[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"/"
          "host:CPU\"}}," SPAN("1", "") "]}",
          TM_ORIGIN_JSON_COPY, "jax" },
        { "{\"schemaVersion\":1,\"traceEvents\":[" SPAN("1", ",\"cat\":\"cpu_op\"") "]}", TM_ORIGIN_PYTORCH,
          "pytorch" },
        { "[" SPAN("1", "") "]", TM_ORIGIN_OTHER, "" },
    };
    const struct tm_host_options options = { .warn = ignore_warning };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tm_host_run host;
        char path[MEMORY_FILE_PATH], name[] = "h0";
        const int fd = memory_file(rows[i].json, strlen(rows[i].json), path);
        const struct tm_found_file found = { .path = path, .host = name };
        struct tm_names *names;
        struct tm_run run;

        test_run_init(&run);
        names = tm_names_new(&run, tm_budget_share(&run.budget, TM_ACCOUNT_NAMES), tm_traits_of);
        assert_non_null(names);
        assert_int_equal(tm_host_open(&host, &run, names, &found, 0, &options), TM_OK);
        assert_int_equal(host.trace.origin, rows[i].origin);
        assert_string_equal(host.trace.environment.framework, rows[i].framework);
        tm_host_close(&host);
        tm_names_free(names);
        assert_ledger_is_even(&run);
        (void)close(fd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_wrote_a_trace_is_told_by_its_content),
    };

    return cmocka_run_group_tests_name("chrome_origin", tests, NULL, NULL);
}
