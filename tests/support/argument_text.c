/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/argument_text.h"

#include <inttypes.h>

#include "tests/support/test_run.h"

/* A list that is being printed. */
struct level {
    struct tm_arguments left;
    bool is_array;
    bool is_first;
};

static void print_name(FILE *to, struct tm_names *names, tm_strid name)
{
    size_t length;
    const char *const text = tm_names_text(names, name, 0, &length);

    (void)fwrite(text, 1, length, to);
}

static void print_quoted(FILE *to, const char *before, const struct tm_argument *argument)
{
    (void)fprintf(to, "%s'%.*s'", before, (int)argument->length, argument->text);
}

static void print_value(FILE *to, struct tm_names *names, const struct tm_argument *argument)
{
    switch (argument->type) {
    case TM_ARGUMENT_NULL:
        (void)fputs("null", to);
        return;
    case TM_ARGUMENT_FALSE:
        (void)fputs("false", to);
        return;
    case TM_ARGUMENT_TRUE:
        (void)fputs("true", to);
        return;
    case TM_ARGUMENT_INT:
        (void)fprintf(to, "%" PRId64, argument->number);
        return;
    case TM_ARGUMENT_UINT:
        (void)fprintf(to, "%" PRIu64 "u", argument->value);
        return;
    case TM_ARGUMENT_DOUBLE:
        (void)fprintf(to, "~%g", argument->real);
        return;
    case TM_ARGUMENT_NUMBER:
        (void)fprintf(to, "#%.*s", (int)argument->length, argument->text);
        return;
    case TM_ARGUMENT_TEXT:
        print_quoted(to, "", argument);
        return;
    case TM_ARGUMENT_NAME:
        (void)fputc('@', to);
        print_name(to, names, (tm_strid)argument->value);
        return;
    case TM_ARGUMENT_CATEGORY:
        print_quoted(to, "cat=", argument);
        return;
    case TM_ARGUMENT_ID:
        print_quoted(to, "id=", argument);
        return;
    case TM_ARGUMENT_PLACE:
        (void)fprintf(to, "place=%" PRIu64, argument->value);
        return;
    case TM_ARGUMENT_ENCLOSED:
        (void)fputs("enclosed", to);
        return;
    default:
        (void)fputs(argument->type == TM_ARGUMENT_OBJECT ? "{" : "[", to);
    }
}

void print_arguments(FILE *to, struct tm_names *names, struct tm_arguments list)
{
    struct level levels[TM_ARGUMENTS_DEEPEST + 1] = { { .left = list, .is_first = true } };
    size_t depth = 1;

    while (depth) {
        struct level *const level = &levels[depth - 1];
        struct tm_argument argument;

        if (!tm_arguments_next(&level->left, !level->is_array, &argument)) {
            if (--depth)
                (void)fputc(level->is_array ? ']' : '}', to);
            continue;
        }
        if (!level->is_first)
            (void)fputc(' ', to);
        level->is_first = false;
        if (!level->is_array && tm_argument_is_value(&argument)) {
            print_name(to, names, argument.key);
            (void)fputc(':', to);
        }
        print_value(to, names, &argument);
        if (argument.type != TM_ARGUMENT_OBJECT && argument.type != TM_ARGUMENT_ARRAY)
            continue;
        assert_true(depth <= TM_ARGUMENTS_DEEPEST);
        levels[depth++] =
            (struct level){ .left = argument.inside, .is_array = argument.type == TM_ARGUMENT_ARRAY, .is_first = true };
    }
}

void arguments_as_text(char *to, size_t size, struct tm_names *names, struct tm_arguments list)
{
    FILE *const file = fmemopen(to, size, "w");

    assert_non_null(file);
    print_arguments(file, names, list);
    (void)fputc('\0', file);
    assert_int_equal(fclose(file), 0);
    to[size - 1] = '\0';
}
