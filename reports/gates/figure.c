/* SPDX-License-Identifier: Apache-2.0 */
/* Finds figures by walking their path piece by piece: each piece is looked up as tm_path does, so
 * that what the summary's readers write is what gates understand.  The unit is that of the nearest
 * name on the path that has one. */
#include "reports/gates/figure.h"

#include <stdio.h>
#include <string.h>

struct walk {
    struct tm_figure *best;
    enum tm_figure_pick pick;
};

struct point {
    const struct tm_value *value, *parent;
    const char *unit;
    const char *rest; /* of the path */
    size_t place_length;
    int depth;
};

size_t tm_figure_piece(const char *path)
{
    if (*path == '[') {
        const char *end = strchr(path, ']');

        return end ? (size_t)(end - path) + 1 : 0;
    }
    const size_t dot = *path == '.', n = strcspn(path + dot, ".[");

    return n == 0 ? 0 : dot + n;
}

/* --- units --- */

static bool ends_with(const char *text, size_t length, const char *end)
{
    const size_t n = strlen(end);

    return length >= n && memcmp(text + length - n, end, n) == 0;
}

/* The unit by the name of a member; NULL = the name tells none. */
static const char *unit_by_name(const char *name, size_t length)
{
    static const struct {
        const char *end, *unit;
        bool is_whole;
    } known[] = {
        { "_ps", "ps", false },
        { "_ns", "ns", false },
        { "_us", "us", false },
        { "_bytes", "bytes", false },
        { "_pct", "%", false },
        { "bytes", "bytes", true },
        { "bandwidth", "bytes/s", false },
        { "flop_rate", "FLOP/s", true },
        { "peak_flops", "FLOP/s", true },
        { "aliases", "ps", true },
        { "limiters", "ps", true },
        { "passes", "ps", true },
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (ends_with(name, length, known[i].end) &&
            (!known[i].is_whole || length == strlen(known[i].end)))
            return known[i].unit;
    }
    return NULL;
}

/* in: piece  as tm_figure_piece has it */
static const char *unit_of(const struct point *at, const char *piece, size_t length)
{
    const size_t dot = *piece == '.';
    const char *beside = tm_text(tm_get(at->value, "unit")), *named;

    if (*piece == '[')
        return at->unit;
    if (*beside && length - dot == 5 && memcmp(piece + dot, "value", 5) == 0)
        return beside;
    named = unit_by_name(piece + dot, length - dot);
    return named ? named : at->unit;
}

/* --- the walk --- */

static void keep(struct walk *w, const struct point *at, enum tm_figure_state state, double value)
{
    struct tm_figure *f = w->best;

    f->state = state;
    f->value = value;
    f->type = tm_type_of(at->value);
    (void)snprintf(f->unit, sizeof(f->unit), "%s", at->unit);
}

/* The reason of a null; a key figure has it as a text beside its value. */
static const char *reason(const struct point *at)
{
    const char *why = tm_why(at->value);

    return *why ? why : tm_text(tm_get(at->parent, "why"));
}

/* A figure is known: the first one, or one that is further out than the best so far. */
static void arrive(struct walk *w, const struct point *at, const char *place)
{
    const enum tm_type type = tm_type_of(at->value);
    const bool is_number = type == TM_INT || type == TM_DOUBLE || type == TM_BOOL;
    const double value = type == TM_BOOL ? tm_is(at->value) : tm_double(at->value);
    struct tm_figure *f = w->best;

    if (type == TM_NULL) {
        if (f->state == TM_FIGURE_NULL && !*f->why)
            f->why = reason(at);
        if (f->state != TM_FIGURE_WRONG)
            return;
        f->why = reason(at);
        keep(w, at, TM_FIGURE_NULL, 0);
    } else if (!is_number) {
        if (f->state == TM_FIGURE_WRONG)
            keep(w, at, TM_FIGURE_OTHER, 0);
        return;
    } else if (f->state != TM_FIGURE_KNOWN ||
               (w->pick == TM_FIGURE_MOST ? value > f->value : value < f->value)) {
        keep(w, at, TM_FIGURE_KNOWN, value);
    } else {
        return;
    }
    memcpy(f->place, place, at->place_length);
    f->place[at->place_length] = '\0';
}

static size_t put_place(char *place, size_t length, const char *piece, size_t bytes)
{
    if (length + bytes >= TM_FIGURE_PATH)
        return length;
    memcpy(place + length, piece, bytes);
    return length + bytes;
}

static void step(struct walk *w, struct point at, char *place);

/* Each element, named by its id or name where it has one. */
static void step_each(struct walk *w, struct point at, char *place)
{
    const bool is_object = tm_type_of(at.value) == TM_OBJECT;
    const size_t count = is_object || tm_type_of(at.value) == TM_ARRAY ? tm_length(at.value) : 0;
    struct tm_figure *f = w->best;

    if (count == 0 && f->state == TM_FIGURE_WRONG) {
        f->why = "there are none";
        keep(w, &at, TM_FIGURE_NULL, 0);
    }
    for (size_t i = 0; i < count; i++) {
        const struct tm_value *v = is_object ? tm_value_at(at.value, i) : tm_at(at.value, i);
        const char *id = is_object ? tm_key_at(at.value, i) : tm_text(tm_get(v, "id"));
        char piece[128];
        struct point next = at;

        if (*id && strlen(id) < 100)
            (void)snprintf(piece, sizeof(piece), "[%s]", id);
        else
            (void)snprintf(piece, sizeof(piece), "[%zu]", i);
        next.value = v;
        next.parent = at.value;
        next.place_length = put_place(place, at.place_length, piece, strlen(piece));
        step(w, next, place);
    }
}

static void step(struct walk *w, struct point at, char *place)
{
    struct tm_figure *f = w->best;
    char piece[TM_FIGURE_PATH];

    while (*at.rest != '\0') {
        const size_t n = tm_figure_piece(at.rest);
        struct point next = at;

        if (n == 0 || n >= sizeof(piece) || at.depth++ > TM_FIGURE_DEPTH)
            return;
        next.depth = at.depth;
        next.rest = at.rest + n;
        if (at.value &&
            tm_type_of(at.value) == TM_NULL) { /* what lies below it has its unit all the same */
            at.unit = unit_of(&at, at.rest, n);
            at.rest += n;
            continue;
        }
        if (n == 3 && memcmp(at.rest, "[*]", 3) == 0) {
            step_each(w, next, place);
            return;
        }
        memcpy(piece, at.rest, n);
        piece[n] = '\0';
        next.unit = unit_of(&at, at.rest, n);
        next.value = tm_path(at.value, piece);
        next.parent = at.value;
        next.place_length = put_place(place, at.place_length, piece, n);
        if (!next.value) {
            if (*piece == '[' && f->state == TM_FIGURE_WRONG && tm_type_of(at.value) == TM_ARRAY)
                f->state = TM_FIGURE_NO_ELEMENT;
            return;
        }
        at = next;
    }
    arrive(w, &at, place);
}

void tm_figure_find(struct tm_figure *figure, const struct tm_value *from, const char *path,
                    enum tm_figure_pick pick)
{
    char place[TM_FIGURE_PATH];
    struct walk w = { .best = figure, .pick = pick };

    *figure = (struct tm_figure){ .state = TM_FIGURE_WRONG, .why = "" };
    if (*path && from)
        step(&w, (struct point){ .value = from, .unit = "", .rest = path }, place);
}

/* --- names --- */

static const struct {
    const char *name, *path, *title;
} short_names[] = {
    { "step_time", "steps.median_ps", "Step time" },
    { "mean_step_time", "steps.mean_ps", "Mean step time" },
    { "utilization", "kpis[device_utilization].value", NULL },
};

const char *tm_figure_short_name(size_t number)
{
    return number < sizeof(short_names) / sizeof(short_names[0]) ? short_names[number].name : NULL;
}

static const struct tm_value *kpi_of(const struct tm_value *from, const char *id, size_t length)
{
    char path[64];

    if (length == 0 || length > 40)
        return NULL;
    (void)snprintf(path, sizeof(path), "kpis[%.*s]", (int)length, id);
    const struct tm_value *kpi = tm_path(from, path);

    return *tm_text(tm_get(kpi, "id")) ? kpi : NULL;
}

const char *tm_figure_path(const struct tm_value *from, const char *name, char to[TM_FIGURE_PATH])
{
    const enum tm_type type = tm_type_of(tm_get(from, name));

    if (strpbrk(name, ".[]*") || type == TM_INT || type == TM_DOUBLE)
        return name;
    for (size_t i = 0; i < sizeof(short_names) / sizeof(short_names[0]); i++) {
        if (strcmp(name, short_names[i].name) == 0)
            return short_names[i].path;
    }
    if (!kpi_of(from, name, strlen(name)))
        return name;
    (void)snprintf(to, TM_FIGURE_PATH, "kpis[%.40s].value", name);
    return to;
}

const char *tm_figure_title(const struct tm_value *from, const char *path)
{
    const char *id = strncmp(path, "kpis[", 5) == 0 ? path + 5 : "", *end = strchr(id, ']');

    for (size_t i = 0; i < sizeof(short_names) / sizeof(short_names[0]); i++) {
        if (short_names[i].title && strcmp(path, short_names[i].path) == 0)
            return short_names[i].title;
    }
    if (!end || strcmp(end, "].value") != 0)
        return NULL;
    const char *title = tm_text(tm_get(kpi_of(from, id, (size_t)(end - id)), "title"));

    return *title ? title : NULL;
}
