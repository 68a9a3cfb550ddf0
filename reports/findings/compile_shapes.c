/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of shapes, "f32[8,128], (s32[], bf16[4])", compared argument by argument. */
#include "reports/findings/compile_shapes.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { SHAPES_NAMED = 4, SHAPE_BYTES = 64 };

/* One argument of a list; borrowed. */
struct shape {
    const char *at;
    size_t length;
};

/* Step to the next argument; false at the end. */
static bool next_shape(const char **list, struct shape *shape)
{
    int depth = 0;
    size_t n = 0;
    const char *at = *list;

    if (!*at)
        return false;
    for (; at[n] && (depth > 0 || at[n] != ','); n++) {
        if (at[n] == '(' || at[n] == '[')
            depth++;
        if (at[n] == ')' || at[n] == ']')
            depth--;
    }
    *shape = (struct shape){ at, n };
    *list = at + n;
    while (**list == ',' || **list == ' ')
        ++*list;
    return true;
}

static bool same(struct shape a, struct shape b)
{
    return a.length == b.length && !memcmp(a.at, b.at, a.length);
}

/* How two lists differ. */
struct change {
    size_t first, count; /* arguments that differ: the first one, from 0, and how many */
    bool lengths_differ;
};

static struct change compare(const char *a, const char *b)
{
    struct change change = { .first = 0 };
    struct shape x, y;

    for (size_t i = 0;; i++) {
        const bool has_x = next_shape(&a, &x), has_y = next_shape(&b, &y);

        if (!has_x || !has_y) {
            change.lengths_differ = has_x != has_y;
            return change;
        }
        if (same(x, y))
            continue;
        if (!change.count++)
            change.first = i;
    }
}

static struct shape shape_at(const char *list, size_t index)
{
    struct shape shape = { "", 0 };

    for (size_t i = 0; i <= index; i++)
        if (!next_shape(&list, &shape))
            return (struct shape){ "?", 1 };
    if (shape.length > SHAPE_BYTES)
        shape.length = SHAPE_BYTES;
    return shape;
}

/* The events of a module on the host of its first one, whose shapes are known. */
struct series {
    const struct tm_value *events;
    const char *module, *host;
    size_t next;
};

static const char *next_shapes(struct series *series)
{
    while (series->next < tm_length(series->events)) {
        const struct tm_value *event = tm_at(series->events, series->next++);

        if (strcmp(tm_text(tm_get(event, "module")), series->module) != 0 || !tm_has(tm_get(event, "shapes")) ||
            (series->host && strcmp(tm_text(tm_get(event, "host")), series->host) != 0))
            continue;
        series->host = tm_text(tm_get(event, "host"));
        return tm_text(tm_get(event, "shapes"));
    }
    return NULL;
}

static void put(char *to, size_t to_bytes, size_t *length, const char *before, struct shape shape)
{
    const int n = snprintf(to + *length, to_bytes - *length, "%s%.*s", before, (int)shape.length, shape.at);

    if (n > 0 && (size_t)n < to_bytes - *length)
        *length += (size_t)n;
    else
        to[*length] = '\0';
}

/* The argument that changed first, from compile to compile. */
static void tell_change(struct series series, struct change change, char *to, size_t to_bytes)
{
    size_t length = 0, named = 0;
    const char *shapes, *first = NULL;
    char more[64];

    while ((shapes = next_shapes(&series))) {
        first = first ? first : shapes;
        if (named == SHAPES_NAMED) {
            put(to, to_bytes, &length, " -> ", (struct shape){ "...", 3 });
            break;
        }
        put(to, to_bytes, &length, named++ ? " -> " : " ", shape_at(shapes, change.first));
    }
    if (change.count > 1) {
        (void)snprintf(more, sizeof(more), " (and %zu more argument%s)", change.count - 1, change.count > 2 ? "s" : "");
        put(to, to_bytes, &length, more, (struct shape){ "", 0 });
    }
}

void tm_compile_shapes(const struct tm_value *events, const char *module, char *to, size_t to_bytes)
{
    const struct series begin = { .events = events, .module = module };
    struct series series = begin;
    const char *first = next_shapes(&series), *shapes = NULL;
    size_t known = first != NULL;

    *to = '\0';
    while (first && (shapes = next_shapes(&series))) {
        const struct change change = compare(first, shapes);

        known++;
        if (change.lengths_differ) {
            (void)snprintf(to, to_bytes, " with another number of arguments");
            return;
        }
        if (change.count) {
            tell_change(begin, change, to, to_bytes);
            return;
        }
    }
    if (known > 1 && !strstr(first, "...")) /* what was left out of a long list may have changed */
        (void)snprintf(to, to_bytes, " always for the same shapes and types, so it was a new function object or "
                                     "another static argument");
}
