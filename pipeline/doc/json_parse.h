/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_JSON_PARSE_H
#define TM_JSON_PARSE_H

#include <cjson/cJSON.h>

#include "pipeline/error.h"

/* A small JSON text that a user wrote, as cJSON's tree.
 * in:     length  of the text; behind its value there may be blanks only
 *         act     begins the messages: "use thresholds of"; name  of the file
 * owns:   the caller; cJSON_Delete
 * errors: NULL, with the error set: TM_ERR_USAGE with the byte where it is no JSON; TM_ERR_LIMIT without memory, which
 *         cJSON itself does not tell from a mistake */
cJSON *tm_json_parse(const char *text, size_t length, const char *act, const char *name,
                     struct tm_error *error) TM_MUST_USE;

#endif
