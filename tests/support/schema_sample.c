/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/schema_sample.h"

#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "pipeline/doc/run_figures.h"

struct sample {
    cJSON *schema;
    const char *platform;
    int null_depth;
    int64_t next; /* figures and texts differ from each other */
};

static const cJSON *member(const cJSON *of, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(of, key);
}

/* What a reference points to; of several forms the one that is not null. */
static const cJSON *resolved(const struct sample *sample, const cJSON *schema)
{
    static const char definitions[] = "#/$defs/";
    const cJSON *ref, *form, *forms = member(schema, "oneOf");

    cJSON_ArrayForEach(form, forms)
    {
        const cJSON *type = member(form, "type");

        if (!cJSON_IsString(type) || strcmp(type->valuestring, "null") != 0)
            return resolved(sample, form);
    }
    ref = member(schema, "$ref");
    if (!ref)
        return schema;
    assert_memory_equal(ref->valuestring, definitions, sizeof(definitions) - 1);
    return resolved(sample, member(member(sample->schema, "$defs"), ref->valuestring + sizeof(definitions) - 1));
}

static bool has_type(const cJSON *schema, const char *name)
{
    const cJSON *types = member(schema, "type"), *type;

    if (cJSON_IsString(types))
        return strcmp(types->valuestring, name) == 0;
    cJSON_ArrayForEach(type, types) if (strcmp(type->valuestring, name) == 0) return true;
    return false;
}

static bool may_be_null(const struct sample *sample, const cJSON *schema)
{
    const cJSON *form, *forms = member(schema, "oneOf");

    cJSON_ArrayForEach(form, forms) if (has_type(form, "null")) return true;
    return has_type(resolved(sample, schema), "null");
}

static void add(struct sample *sample, struct tm_value *to, const char *key, const cJSON *schema, int depth);

static void add_members(struct sample *sample, struct tm_value *to, const cJSON *schema, int depth)
{
    const cJSON *others = member(schema, "additionalProperties"), *property;

    cJSON_ArrayForEach(property, member(schema, "properties"))
    {
        if (strcmp(property->string, "platform") == 0)
            tm_add_string(to, "platform", sample->platform);
        else if (strcmp(property->string, "why") != 0 || has_type(resolved(sample, property), "string"))
            add(sample, to, property->string, property, depth + 1);
    }
    if (cJSON_IsObject(others))
        add(sample, to, "one-more", others, depth + 1);
    for (size_t i = 0; member(schema, "propertyNames") && i < tm_figure_count; i++) /* it may be a map by figures */
        add(sample, to, tm_figure_table[i].id, others, depth + 1);
}

static void add_elements(struct sample *sample, struct tm_value *to, const cJSON *schema, int depth)
{
    const cJSON *most = member(schema, "maxItems"), *least = member(schema, "minItems");
    int count = least && least->valueint > 2 ? least->valueint : 2;

    count = most && most->valueint < count ? most->valueint : count;
    for (int i = 0; i < count; i++)
        add(sample, to, NULL, member(schema, "items"), depth + 1);
}

static void add_text(struct sample *sample, struct tm_value *to, const char *key, const cJSON *schema)
{
    const cJSON *words = member(schema, "enum"), *constant = member(schema, "const"), *word;
    char text[32];

    word = words ? cJSON_GetArrayItem(words, (int)(sample->next % cJSON_GetArraySize(words))) : constant;
    (void)snprintf(text, sizeof(text), "text-%d", (int)sample->next);
    tm_add_string(to, key, cJSON_IsString(word) ? word->valuestring : text);
}

static void add(struct sample *sample, struct tm_value *to, const char *key, const cJSON *schema, int depth)
{
    const cJSON *form = resolved(sample, schema);

    sample->next++;
    if (depth >= sample->null_depth && may_be_null(sample, schema))
        tm_add_null(to, key, "it is not in this profile");
    else if (has_type(form, "object"))
        add_members(sample, tm_add_object(to, key), form, depth);
    else if (has_type(form, "array"))
        add_elements(sample, tm_add_array(to, key), form, depth);
    else if (has_type(form, "boolean"))
        tm_add_bool(to, key, true);
    else if (has_type(form, "integer"))
        tm_add_int(to, key, sample->next * 1000000);
    else if (has_type(form, "number"))
        tm_add_double(to, key, (double)sample->next / 10);
    else
        add_text(sample, to, key, form);
}

static cJSON *read_schema(const char *name)
{
    static char text[256 * 1024];
    char path[64];
    FILE *in;
    size_t length;
    cJSON *schema;

    (void)snprintf(path, sizeof(path), "schemas/%s.schema.json", name);
    in = fopen(path, "re");
    assert_non_null(in);
    length = fread(text, 1, sizeof(text) - 1, in);
    (void)fclose(in);
    assert_true(length < sizeof(text) - 1);
    text[length] = 0;
    schema = cJSON_Parse(text);
    assert_non_null(schema);
    return schema;
}

void test_schema_sample_of(struct tm_value *to, const char *schema, const char *platform, int null_depth)
{
    struct sample sample = { .schema = read_schema(schema), .platform = platform, .null_depth = null_depth };

    add_members(&sample, to, sample.schema, 0);
    cJSON_Delete(sample.schema);
}

void test_schema_sample(struct tm_value *to, const char *platform, int null_depth)
{
    test_schema_sample_of(to, "summary", platform, null_depth);
}
