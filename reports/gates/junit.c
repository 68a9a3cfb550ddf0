/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a check as JUnit XML, as Jenkins and GitLab read it: one suite, a case for each
 * gate.  A failed gate is a failure, one that cannot be judged an error, a skipped one is skipped.
 * Source: the schema of Jenkins' xUnit plugin, junit-10.xsd. */
#include <inttypes.h>

#include "reports/gates/gates.h"
#include "reports/gates/junit_parts.h"

static void put_counts(FILE *to, const struct tm_value *root)
{
    const struct tm_value *counts = tm_get(root, "counts");

    (void)fprintf(to, " tests=\"%zu\" failures=\"%" PRId64 "\" errors=\"%" PRId64 "\"",
                  tm_length(tm_get(root, "gates")), tm_int(tm_get(counts, "failed")),
                  tm_int(tm_get(counts, "unknown")));
}

tm_status tm_junit_write(struct tm_run *run, const struct tm_doc *result, FILE *to)
{
    const struct tm_value *const root = tm_doc_root(result);

    (void)fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", to);
    put_counts(to, root);
    (void)fputs(" time=\"0\">\n  <testsuite", to);
    tm_junit_attribute(to, "name", "tracemill check");
    put_counts(to, root);
    (void)fprintf(to, " skipped=\"%" PRId64 "\" time=\"0\">\n    <properties>\n",
                  tm_int(tm_path(root, "counts.skipped")));
    tm_junit_property(to, "input", tm_text(tm_path(root, "input.path")));
    tm_junit_property(to, "run", tm_text(tm_path(root, "input.run")));
    (void)fputs("    </properties>\n", to);
    tm_junit_cases(to, tm_get(root, "gates"), "tracemill.check");
    (void)fputs("  </testsuite>\n", to);
    return tm_junit_end(run, to);
}
