/* SPDX-License-Identifier: Apache-2.0 */
/* The schema of a document and its page for people, out of the tables of its fields (pipeline/doc/doc_fields.h):
 *
 *     print_schema NAME json|page
 *
 * An object that has one place is written there; one that has several is a definition with the name of the first. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/doc/doc_fields.h"

enum { FORMS_MOST = 512, PATH_BYTES = 256, LINE_MOST = 118 };

/* What a schema has of each kind: its definition (NULL = a plain type). */
static const struct {
    const char *name, *type, *limits, *meaning;
} kinds[TM_DOC_KIND_COUNT] = {
    [TM_DOC_OBJECT] = { NULL, "object", "", NULL },
    [TM_DOC_BOOL] = { NULL, "boolean", "", NULL },
    [TM_DOC_WORD] = { "text", "string", "", NULL },
    [TM_DOC_TERM] = { "text", "string", "", NULL },
    [TM_DOC_CAUSE] = { "cause", "string", "", "Of idle time: docs/metrics.md." },
    [TM_DOC_DIRECTION] = { "direction", "string", "",
                           "Of a copy: h2d, d2h, p2p (between devices), d2d (inside of one), other." },
    [TM_DOC_PROSE] = { "text", "string", "", NULL },
    [TM_DOC_NAME] = { "text", "string", "", NULL },
    [TM_DOC_DEVICE] = { "text", "string", "", NULL },
    [TM_DOC_HOST] = { "text", "string", "", NULL },
    [TM_DOC_PATH] = { "text", "string", "", NULL },
    [TM_DOC_TIME] = { "duration", "integer", ", \"minimum\": 0", "Picoseconds." },
    [TM_DOC_MOMENT] = { "time", "integer", "",
                        "Picoseconds after the host's origin; events before it have negative times." },
    [TM_DOC_DATE] = { "date", "integer", "", "Nanoseconds since 1970." },
    [TM_DOC_NS] = { "nanoseconds", "integer", ", \"minimum\": 0", NULL },
    [TM_DOC_US] = { "microseconds", "integer", "", NULL },
    [TM_DOC_COUNT] = { "count", "integer", ", \"minimum\": 0", NULL },
    [TM_DOC_INTEGER] = { "whole", "integer", "", NULL },
    [TM_DOC_BYTES] = { "bytes", "number", ", \"minimum\": 0", "Past 2^63 a number with a fraction's precision." },
    [TM_DOC_RATE] = { "rate", "number", ", \"minimum\": 0", "Bytes per second." },
    [TM_DOC_FLOPS] = { "flops", "number", ", \"minimum\": 0", "Floating-point operations." },
    [TM_DOC_FLOP_RATE] = { "flop_rate", "number", ", \"minimum\": 0", "Floating-point operations per second." },
    [TM_DOC_SHARE] = { "share", "number", ", \"minimum\": 0, \"maximum\": 100", "Percent, 0 to 100." },
    [TM_DOC_PERCENT] = { "percent", "number", ", \"minimum\": 0", "Percent; may pass 100." },
    [TM_DOC_VALUE] = { "value", "string", "", NULL },
    [TM_DOC_CHANGE] = { "change", "integer", "", "Picoseconds, with a sign." },
    [TM_DOC_CHANGE_PCT] = { "change_pct", "number", "", "Percent, with a sign." },
    [TM_DOC_P] = { "p", "number", ", \"minimum\": 0, \"maximum\": 1",
                   "How often chance brings as large a change: 0 to 1." },
    [TM_DOC_NUMBER] = { "number", "number", "", NULL },
    [TM_DOC_POINT] = { "point", "array", "", "Time, bytes in use, bytes available." },
    [TM_DOC_ROW] = { NULL, "object", "", NULL },
};

/* The objects of the document, in the order in which they come first. */
static struct form {
    const struct tm_doc_field *fields;
    const char *rule;
    char path[PATH_BYTES]; /* where it comes first */
    int places;
} forms[FORMS_MOST];
static size_t form_count;
static bool is_used[TM_DOC_KIND_COUNT];

static struct form *form_of(const struct tm_doc_field *fields)
{
    for (size_t i = 0; i < form_count; i++)
        if (forms[i].fields == fields)
            return &forms[i];
    return NULL;
}

static void gather(const struct tm_doc_field *fields, const char *rule, const char *path)
{
    struct form *form = form_of(fields);

    if (form) {
        form->places++;
        return;
    }
    if (form_count == FORMS_MOST)
        abort();
    form = &forms[form_count++];
    *form = (struct form){ .fields = fields, .rule = rule, .places = 1 };
    (void)snprintf(form->path, sizeof(form->path), "%s", path);
    for (; fields->key; fields++) {
        char below[PATH_BYTES + 64];

        is_used[tm_doc_kind_of(fields)] = true;
        if (!fields->fields)
            continue;
        (void)snprintf(below, sizeof(below), "%s%s%s%s", path, *path ? "." : "", fields->key,
                       fields->shape & TM_DOC_LIST  ? "[]"
                       : fields->shape & TM_DOC_MAP ? ".*"
                                                    : "");
        gather(fields->fields, fields->rule, below);
    }
}

/* --- the schema --- */

static void print_text(const char *text)
{
    (void)putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            (void)putchar('\\');
        (void)putchar(*text);
    }
    (void)putchar('"');
}

/* "a|b" as "a", "b". */
static void print_words(const char *words)
{
    for (const char *at = words; at; at = strchr(at, '|')) {
        at += *at == '|' && at != words;
        (void)printf("%s\"%.*s\"", at == words ? "" : ", ", (int)strcspn(at, "|"), at);
    }
}

static void print_definition_name(const struct form *form)
{
    for (const char *at = form->path; *at; at++)
        if (isalnum((unsigned char)*at) || *at == '_')
            (void)putchar(*at);
        else if (*at == '.' && at[1] != '*')
            (void)putchar('_');
}

static const char *words_of(const struct tm_doc_field *field)
{
    if (field->words && !(field->shape & TM_DOC_MAP))
        return field->words;
    return tm_doc_kind_of(field) == TM_DOC_CAUSE       ? TM_DOC_CAUSES
           : tm_doc_kind_of(field) == TM_DOC_DIRECTION ? TM_DOC_DIRECTIONS
                                                       : NULL;
}

static void print_type(enum tm_doc_kind kind, bool may_be_null, bool has_fraction)
{
    const char *const type = has_fraction ? "number" : kinds[kind].type;

    if (kind == TM_DOC_VALUE)
        (void)printf("\"type\": [\"string\", \"number\"%s]", may_be_null ? ", \"null\"" : "");
    else
        (void)printf(may_be_null ? "\"type\": [\"%s\", \"null\"]" : "\"type\": \"%s\"", type);
}

static void print_object(const struct form *form, bool may_be_null, int depth);

static void indent(int depth)
{
    (void)printf("\n%*s", 2 * depth, "");
}

/* One value, not the list or the map that it is in. */
static void print_value(const struct tm_doc_field *field, bool may_be_null, int depth)
{
    const enum tm_doc_kind kind = tm_doc_kind_of(field);
    const bool is_one = !(field->shape & (TM_DOC_LIST | TM_DOC_MAP));
    const bool has_limits = is_one && (field->least != 0 || field->most != 0),
               has_pattern = field->pattern && !(field->shape & TM_DOC_MAP);
    const char *const null = may_be_null ? "_or_null" : "", *words = words_of(field);

    if (kind == TM_DOC_OBJECT && form_of(field->fields)->places == 1) {
        print_object(form_of(field->fields), may_be_null, depth);
    } else if (kind == TM_DOC_OBJECT) {
        (void)printf(may_be_null ? "\"oneOf\": [{\"type\": \"null\"}, {\"$ref\": \"#/$defs/" : "\"$ref\": \"#/$defs/");
        print_definition_name(form_of(field->fields));
        (void)printf(may_be_null ? "\"}]" : "\"");
    } else if (words && !strchr(words, '|') && !may_be_null) {
        (void)printf("\"const\": \"%s\"", words);
    } else if (words && field->words) {
        (void)printf("\"enum\": [");
        print_words(words);
        (void)printf("%s]", may_be_null ? ", null" : "");
    } else if (has_limits && field->least == field->most) {
        (void)printf("\"const\": %g", field->least);
    } else if (!kinds[kind].name || has_limits || has_pattern ||
               (field->shape & (TM_DOC_FRACTION | TM_DOC_FILLED | TM_DOC_NOT_NEGATIVE))) {
        const char *const of = tm_doc_is_text(kind) ? "Length" : "imum";

        print_type(kind, may_be_null, field->shape & TM_DOC_FRACTION);
        if (has_limits && field->least != 0)
            (void)printf(", \"min%s\": %g", of, field->least);
        else
            (void)printf("%s", field->shape & TM_DOC_NOT_NEGATIVE ? ", \"minimum\": 0" : kinds[kind].limits);
        if (has_limits && field->most != 0)
            (void)printf(", \"max%s\": %g", of, field->most);
        if (field->shape & TM_DOC_FILLED)
            (void)printf(", \"minLength\": 1");
        if (has_pattern) {
            (void)printf(", \"pattern\": ");
            print_text(field->pattern);
        }
    } else {
        (void)printf("\"$ref\": \"#/$defs/%s%s\"", kinds[kind].name, null);
    }
}

/* The members of the schema of a field, without the braces around. */
static void print_field(const struct tm_doc_field *field, int depth)
{
    const bool may_be_null = field->shape & TM_DOC_OR_NULL, of_nulls = field->shape & TM_DOC_OF_NULLS;

    if (field->help) {
        (void)printf("\"description\": ");
        print_text(field->help);
        (void)printf(", ");
    }
    if (field->shape & TM_DOC_LIST) {
        (void)printf(may_be_null ? "\"type\": [\"array\", \"null\"], " : "\"type\": \"array\", ");
        if (field->least > 0)
            (void)printf("\"minItems\": %g, ", field->least);
        if (field->most > 0)
            (void)printf("\"maxItems\": %g, ", field->most);
        if (field->shape & TM_DOC_UNIQUE)
            (void)printf("\"uniqueItems\": true, ");
        (void)printf("\"items\": {");
        print_value(field, of_nulls, depth);
        (void)printf("}");
    } else if ((field->shape & TM_DOC_MAP) && !field->words) {
        (void)printf(may_be_null ? "\"type\": [\"object\", \"null\"], " : "\"type\": \"object\", ");
        if (field->pattern) {
            (void)printf("\"propertyNames\": {\"pattern\": ");
            print_text(field->pattern);
            (void)printf("}, ");
        }
        (void)printf("\"additionalProperties\": {");
        print_value(field, of_nulls, depth);
        (void)printf("}");
    } else if (field->shape & TM_DOC_MAP) {
        (void)printf(may_be_null ? "\"type\": [\"object\", \"null\"], " : "\"type\": \"object\", ");
        (void)printf("\"properties\": {");
        for (const char *word = field->words; *word;) {
            const size_t length = strcspn(word, "|");

            indent(depth + 1);
            (void)printf("\"%.*s\": {", (int)length, word);
            print_value(field, of_nulls, depth + 1);
            (void)printf("}%s", word[length] || of_nulls ? "," : "");
            word += length + (word[length] == '|');
        }
        if (of_nulls) {
            indent(depth + 1);
            (void)printf("\"why\": {\"$ref\": \"#/$defs/why\"}");
        }
        indent(depth);
        (void)printf("}, \"additionalProperties\": false");
    } else {
        print_value(field, may_be_null, depth);
    }
}

/* The names of the members that are never missing, as many to a line as fit. */
static void print_required(const struct tm_doc_field *fields, int depth)
{
    size_t used = LINE_MOST;
    const char *between = "";

    (void)printf("\"required\": [");
    for (; fields->key; fields++) {
        const size_t length = strlen(fields->key) + 4;

        if (fields->shape & TM_DOC_OPTIONAL)
            continue;
        (void)printf("%s", between);
        if (used + length > LINE_MOST) {
            indent(depth + 1);
            used = 2 * ((size_t)depth + 1);
        } else if (*between) {
            (void)printf(" ");
        }
        (void)printf("\"%s\"", fields->key);
        used += length;
        between = ",";
    }
    indent(depth);
    (void)printf("]");
}

/* Nulls have their reasons in a member beside them, unless `why` is a figure's own. */
static bool has_reasons(const struct tm_doc_field *fields)
{
    bool has = false;

    for (; fields->key; fields++) {
        if (strcmp(fields->key, "why") == 0)
            return false;
        has |= (fields->shape & TM_DOC_OR_NULL) != 0;
    }
    return has;
}

static void print_object(const struct form *form, bool may_be_null, int depth)
{
    (void)printf(may_be_null ? "\"type\": [\"object\", \"null\"], " : "\"type\": \"object\", ");
    print_required(form->fields, depth);
    (void)printf(",");
    indent(depth);
    (void)printf("\"properties\": {");
    for (const struct tm_doc_field *field = form->fields; field->key; field++) {
        indent(depth + 1);
        (void)printf("\"%s\": {", field->key);
        print_field(field, depth + 1);
        (void)printf("}%s", field[1].key || has_reasons(form->fields) ? "," : "");
    }
    if (has_reasons(form->fields)) {
        indent(depth + 1);
        (void)printf("\"why\": {\"$ref\": \"#/$defs/why\"}");
    }
    indent(depth);
    (void)printf("}, \"additionalProperties\": false");
    if (form->rule)
        (void)printf(", %s", form->rule);
}

static void print_kind(enum tm_doc_kind kind, bool may_be_null)
{
    const struct tm_doc_field field = { .key = "", .shape = kind };

    (void)printf(",\n    \"%s%s\": {", kinds[kind].name, may_be_null ? "_or_null" : "");
    if (kinds[kind].meaning && !may_be_null) {
        (void)printf("\"description\": ");
        print_text(kinds[kind].meaning);
        (void)printf(", ");
    }
    if (words_of(&field)) {
        (void)printf("\"enum\": [");
        print_words(words_of(&field));
        (void)printf("%s]}", may_be_null ? ", null" : "");
        return;
    }
    print_type(kind, may_be_null, false);
    (void)printf("%s", kinds[kind].limits);
    if (kind == TM_DOC_POINT)
        (void)printf(", \"items\": {\"type\": [\"number\", \"null\"]}, \"minItems\": 3, \"maxItems\": 3");
    (void)printf("}");
}

/* Is it the first one in the document that has the definition of that name? */
static bool is_first_of_name(enum tm_doc_kind kind)
{
    for (int i = 0; i < (int)kind; i++)
        if (is_used[i] && kinds[i].name && strcmp(kinds[i].name, kinds[kind].name) == 0)
            return false;
    return is_used[kind];
}

static void print_schema(const struct tm_doc_schema *schema)
{
    (void)printf("{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n  \"title\": ");
    print_text(schema->title);
    (void)printf(",\n  \"description\": \"Made from pipeline/doc by make schemas; %s has it for people, "
                 "%s defines the figures.\",\n  ",
                 schema->page_path, schema->definitions);
    print_object(&forms[0], false, 1);
    (void)printf(",\n  \"$defs\": {\n    \"why\": {\"description\": \"The reasons of the nulls of the object around "
                 "it, by their key.\", "
                 "\"type\": \"object\", \"additionalProperties\": {\"type\": \"string\", \"minLength\": 1}}");
    for (int kind = 0; kind < TM_DOC_KIND_COUNT; kind++) {
        if (!kinds[kind].name || !is_first_of_name((enum tm_doc_kind)kind))
            continue;
        print_kind((enum tm_doc_kind)kind, false);
        print_kind((enum tm_doc_kind)kind, true);
    }
    for (size_t i = 0; i < form_count; i++) {
        if (forms[i].places == 1)
            continue;
        (void)printf(",\n    \"");
        print_definition_name(&forms[i]);
        (void)printf("\": {");
        print_object(&forms[i], false, 2);
        (void)printf("}");
    }
    (void)printf("\n  }\n}\n");
}

/* --- the page --- */

/* Signs that end a cell, or mean something to Markdown. */
static void print_cell(const char *text)
{
    for (; *text; text++) {
        if (strchr("|*<_", *text) && *text)
            (void)putchar('\\');
        (void)putchar(*text);
    }
}

static void print_page_words(const char *words)
{
    for (const char *at = words; at; at = strchr(at, '|')) {
        at += *at == '|' && at != words;
        (void)printf("%s%s%.*s%s", at == words ? ": " : ", ", *at ? "`" : "", *at ? (int)strcspn(at, "|") : 5,
                     *at ? at : "empty", *at ? "`" : "");
    }
}

static void print_page_type(const struct tm_doc_field *field)
{
    const enum tm_doc_kind kind = tm_doc_kind_of(field);
    const bool has_words = field->words && strcmp(field->words, TM_DOC_CAUSES) != 0;

    if (field->shape & TM_DOC_LIST)
        (void)printf("list of ");
    if (field->shape & TM_DOC_MAP)
        (void)printf(field->words && !has_words ? "by cause: " : "by name: ");
    if (kind == TM_DOC_OBJECT) {
        const struct form *form = form_of(field->fields);

        (void)printf("`%s`", form->path);
    } else {
        (void)printf("%s", tm_doc_kind_name(kind));
    }
    if ((field->shape & TM_DOC_LIST) && field->least > 0 && field->least == field->most)
        (void)printf(", %g", field->most);
    else if ((field->shape & TM_DOC_LIST) && field->most > 0)
        (void)printf(", at most %g", field->most);
    else if (field->least == field->most && field->most > 0)
        (void)printf(" %g", field->most);
    if (field->shape & TM_DOC_SUM)
        (void)printf(", summed");
    if (field->shape & TM_DOC_OF_NULLS)
        (void)printf(", some null");
    if (field->shape & TM_DOC_OR_NULL)
        (void)printf(", or null");
    if (field->shape & TM_DOC_OPTIONAL)
        (void)printf(", or missing");
    if (has_words && !(field->shape & TM_DOC_MAP))
        print_page_words(field->words);
}

static void print_page_table(const struct tm_doc_field *fields)
{
    (void)printf("| member | what | |\n|---|---|---|\n");
    for (; fields->key; fields++) {
        (void)printf("| `%s` | ", fields->key);
        print_page_type(fields);
        (void)printf(" | ");
        if (fields->title)
            print_cell(fields->title);
        if (fields->title && fields->help)
            (void)printf(". ");
        if (fields->help)
            print_cell(fields->help);
        if ((fields->shape & TM_DOC_MAP) && fields->words && strcmp(fields->words, TM_DOC_CAUSES) != 0)
            print_page_words(fields->words);
        (void)printf(" |\n");
    }
    (void)printf("\n");
}

static const char *const marks[] = { "##", "###" };

static void print_page(const struct tm_doc_schema *schema)
{
    bool has_kinds = false;

    (void)printf("%s", schema->page);
    for (int kind = 0; kind < TM_DOC_KIND_COUNT; kind++) {
        if (!kinds[kind].meaning || !is_used[kind])
            continue;
        if (!has_kinds)
            (void)printf("\n## Kinds of values\n\n| kind | |\n|---|---|\n");
        has_kinds = true;
        (void)printf("| %s | %s |\n", tm_doc_kind_name((enum tm_doc_kind)kind), kinds[kind].meaning);
    }
    (void)printf("\n");
    if (is_used[TM_DOC_NAME])
        (void)printf("In redacted reports, names of the trace, devices, hosts and paths are pseudonyms.\n\n");
    for (size_t i = 0; i < form_count; i++) {
        const struct form *form = &forms[i];

        if (i == 0)
            (void)printf("## The document\n\n");
        else
            (void)printf("%s `%s`\n\n", marks[strpbrk(form->path, ".") != NULL], form->path);
        print_page_table(form->fields);
    }
}

int main(int argc, char **argv)
{
    const struct tm_doc_schema *const schemas[] = { &tm_summary_schema,  &tm_comparison_schema, &tm_scaling_schema,
                                                    &tm_check_schema,    &tm_night_schema,      &tm_brief_schema,
                                                    tm_history_schema(), &tm_split_schema,      &tm_result_schema,
                                                    &tm_show_schema,     &tm_query_schema };

    for (size_t i = 0; i < sizeof(schemas) / sizeof(schemas[0]) && argc == 3; i++) {
        if (strcmp(schemas[i]->name, argv[1]) != 0)
            continue;
        gather(schemas[i]->fields, NULL, "");
        if (strcmp(argv[2], "json") == 0)
            print_schema(schemas[i]);
        else
            print_page(schemas[i]);
        return ferror(stdout) || fflush(stdout) != 0;
    }
    (void)fprintf(stderr, "usage: print_schema NAME json|page\n");
    return 2;
}
