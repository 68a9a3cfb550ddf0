/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/content/document.h"

#include <string.h>

static const struct tm_document *const documents[] = {
    &tm_report_document,
    &tm_comparison_document,
    &tm_scaling_document,
    &tm_check_document,
    &tm_night_document,
};

const struct tm_document *tm_document_of(const struct tm_value *root)
{
    const char *schema = tm_text(tm_get(root, "schema"));

    for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++)
        if (strcmp(schema, documents[i]->schema) == 0)
            return documents[i] == &tm_comparison_document && tm_length(tm_get(root, "sides")) > 2 ?
                       &tm_comparison_of_many_document :
                       documents[i];
    return documents[0];
}
