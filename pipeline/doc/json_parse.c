/* SPDX-License-Identifier: Apache-2.0 */
/* cJSON has one answer for a mistake in the text and for memory that ended: its allocator is asked which it was. */
#include "pipeline/doc/json_parse.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool memory_ended;

static void *allocate(size_t bytes)
{
    void *const block = malloc(bytes);

    memory_ended |= !block;
    return block;
}

static tm_status refuse(const char *text, size_t offset, const char *act, const char *name, struct tm_error *error)
{
    size_t line = 1;

    if (memory_ended)
        return tm_fail(error, TM_ERR_LIMIT, -1, "cannot %s '%s': no memory is left", act, name);
    for (size_t i = 0; i < offset; i++)
        line += text[i] == '\n';
    return tm_fail(error, TM_ERR_USAGE, (int64_t)offset, "cannot %s '%s': line %zu is not JSON", act, name, line);
}

cJSON *tm_json_parse(const char *text, size_t length, const char *act, const char *name, struct tm_error *error)
{
    const char *end = text;
    cJSON *whole;

    memory_ended = false;
    cJSON_InitHooks(&(cJSON_Hooks){ .malloc_fn = allocate, .free_fn = free });
    whole = length ? cJSON_ParseWithLengthOpts(text, length, &end, 0) : NULL;

    size_t stopped = end ? (size_t)(end - text) : 0;

    while (whole && stopped < length && memchr(" \t\r\n", text[stopped], 4))
        stopped++;
    if (whole && stopped >= length)
        return whole;
    cJSON_Delete(whole);
    (void)refuse(text, stopped < length ? stopped : length, act, name, error);
    return NULL;
}
