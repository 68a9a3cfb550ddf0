/* SPDX-License-Identifier: Apache-2.0 */
/* Finds figures by walking their path piece by piece: each piece is looked up as tm_path does, so gates accept the same
 * syntax as readers of the summary.  The unit is that of the field (doc_fields.h), or is beside the value. */
#include "reports/gates/gates.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "pipeline/doc/doc.h"
#include "pipeline/doc/doc_fields.h"
#include "pipeline/store/sorter.h"
#include "pipeline/doc/run_figures.h"
#include "pipeline/strings.h"

struct walk {
    struct tm_figure *best;
    enum tm_figure_pick pick;
};

struct point {
    const struct tm_value *value, *parent;
    struct tm_doc_place field;
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

/* Take the place in the tables of fields, and the unit, of a piece.
 * in: container  that the piece is of;  piece in the form of tm_figure_piece */
static void enter(struct point *to, const struct tm_value *container, const char *piece, size_t length)
{
    const char *const beside = tm_text(tm_get(container, "unit"));

    tm_doc_enter_piece(&to->field, piece, length);
    to->unit = to->field.field ? tm_doc_unit(tm_doc_kind_of(to->field.field)) : "";
    if (*beside && length == sizeof(".value") - 1 && memcmp(piece, ".value", length) == 0)
        to->unit = beside;
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

/* The reason of a null; in a key figure it is a text beside its value. */
static const char *reason(const struct point *at)
{
    const char *why = tm_why(at->value);

    return *why ? why : tm_text(tm_get(at->parent, "why"));
}

/* A figure is known: the first one, or a more extreme one than the best so far. */
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
    } else if (f->state != TM_FIGURE_KNOWN || (w->pick == TM_FIGURE_MOST ? value > f->value : value < f->value)) {
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

/* Each element, named by its id or name if it has one. */
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
        enter(&next, at.value, piece, strlen(piece));
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
        if (at.value && tm_type_of(at.value) == TM_NULL) { /* members below it still have its unit */
            enter(&at, at.value, at.rest, n);
            at.rest += n;
            continue;
        }
        if (n == 3 && memcmp(at.rest, "[*]", 3) == 0) {
            step_each(w, next, place);
            return;
        }
        memcpy(piece, at.rest, n);
        piece[n] = '\0';
        enter(&next, at.value, piece, n);
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

void tm_figure_find(struct tm_figure *figure, const struct tm_value *from, const char *path, enum tm_figure_pick pick)
{
    char place[TM_FIGURE_PATH];
    struct walk w = { .best = figure, .pick = pick };

    *figure = (struct tm_figure){ .state = TM_FIGURE_WRONG, .why = "" };
    if (*path && from)
        step(&w,
             (struct point){ .value = from, .field = { .below = tm_summary_schema.fields }, .unit = "", .rest = path },
             place);
}

/* --- names --- */

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
    const struct tm_run_figure *figure;

    if (strpbrk(name, ".[]*") || type == TM_INT || type == TM_DOUBLE)
        return name;
    for (size_t i = 0; (figure = tm_run_figure(i)); i++)
        if (figure->short_name && strcmp(name, figure->short_name) == 0)
            return figure->path;
    if (!kpi_of(from, name, strlen(name)))
        return name;
    (void)snprintf(to, TM_FIGURE_PATH, "kpis[%.40s].value", name);
    return to;
}

const char *tm_figure_title(const struct tm_value *from, const char *path, char to[TM_FIGURE_TITLE_BYTES])
{
    const char *id = strncmp(path, "kpis[", 5) == 0 ? path + 5 : "", *end = strchr(id, ']');
    const struct tm_run_figure *const figure = tm_run_figure_at(path);

    if (figure && figure->short_name && strcmp(path, figure->path) == 0 && !*id)
        return tm_figure_headline(to, figure);
    if (!end || strcmp(end, "].value") != 0)
        return NULL;
    const char *title = tm_text(tm_get(kpi_of(from, id, (size_t)(end - id)), "title"));

    return *title ? title : NULL;
}

/* Suggestions for a path that does not exist: of all paths of the document, the three nearest
 * ones, by their whole text or by their end ("median_ps" for "steps.median_ps"), and those that
 * have another name at the place where the path ends.  Elements of a list with an id are
 * suggested by it, others as "[*]"; rows by name only if the path ends among them. Works
 * in fixed memory, by recursion as deep as a document is. */

enum { BEST = 3, IDS_MOST = 64, ROWS_MOST = 4096, DEPTH_MOST = 16, COMPARED_MOST = 63 };

struct candidate {
    size_t distance;
    char path[TM_FIGURE_PATH];
};

struct candidates {
    const struct tm_value *from;
    const char *wrong;
    size_t length, count;
    size_t compared; /* bytes of `wrong` that tm_word_distance reads */
    struct candidate best[BEST];
};

static int nearest_first(const void *a, const void *b)
{
    const struct candidate *const one = a, *const other = b;

    return (one->distance > other->distance) - (one->distance < other->distance);
}

/* A null may be a text as well: one whose unit is known is a figure. */
static bool is_figure(const struct candidates *c, const char *path)
{
    struct tm_figure figure;
    char to[TM_FIGURE_PATH];

    tm_figure_find(&figure, c->from, tm_figure_path(c->from, path, to), TM_FIGURE_MOST);
    return figure.state == TM_FIGURE_KNOWN || (figure.state == TM_FIGURE_NULL && figure.unit[0]);
}

static void offer(struct candidates *c, const char *path, size_t distance)
{
    struct candidate candidate = { .distance = distance };

    if (3 * distance > c->compared + 2 || strlen(path) >= TM_FIGURE_PATH || !is_figure(c, path))
        return;
    for (size_t i = 0; i < c->count; i++) {
        if (strcmp(c->best[i].path, path) == 0)
            return;
    }
    memcpy(candidate.path, path, strlen(path) + 1);
    c->count = tm_sorted_keep(c->best, c->count, BEST, sizeof(candidate), &candidate, nearest_first);
}

/* The difference in length alone rules most words out. */
static size_t near_distance(const struct candidates *c, const char *word)
{
    const size_t length = strnlen(word, COMPARED_MOST);
    const size_t least = length > c->compared ? length - c->compared : c->compared - length;

    return 3 * least > c->compared + 2 ? SIZE_MAX / 4 : tm_word_distance(c->wrong, word);
}

/* A path is as near as its whole text is, or its end after a '.', which is the second best; one
 * that starts with what was typed is near. */
static void offer_path(struct candidates *c, const char *path)
{
    size_t best = near_distance(c, path);

    if (c->length >= 3 && strncasecmp(path, c->wrong, c->length) == 0)
        best = best < 1 ? best : 1;
    for (const char *end = strchr(path, '.'); end; end = strchr(end + 1, '.')) {
        const size_t distance = 1 + near_distance(c, end + 1);

        best = distance < best ? distance : best;
    }
    offer(c, path, best);
}

static void offer_all(struct candidates *c, const struct tm_value *v, char *path, size_t length, int depth);

static void offer_piece(struct candidates *c, const struct tm_value *v, char *path, size_t length, int depth,
                        const char *name)
{
    const bool is_member = *name != '[';
    const int n = snprintf(path + length, TM_FIGURE_PATH - length, "%s%s", is_member && length > 0 ? "." : "", name);

    if (n > 0 && (size_t)n < TM_FIGURE_PATH - length)
        offer_all(c, v, path, length + (size_t)n, depth + 1);
    path[length] = '\0';
}

static void offer_elements(struct candidates *c, const struct tm_value *list, char *path, size_t length, int depth)
{
    const size_t count = tm_length(list);

    if (tm_type_of(tm_at(list, 0)) != TM_OBJECT)
        return;
    offer_piece(c, tm_at(list, 0), path, length, depth, "[*]");
    for (size_t i = 0; i < count && i < IDS_MOST; i++) {
        const char *id = tm_text(tm_get(tm_at(list, i), "id"));

        char piece[TM_FIGURE_PATH];
        const int n = snprintf(piece, sizeof(piece), "[%s]", id);

        if (*id && (size_t)n < sizeof(piece))
            offer_piece(c, tm_at(list, i), path, length, depth, piece);
    }
}

static void offer_all(struct candidates *c, const struct tm_value *v, char *path, size_t length, int depth)
{
    const enum tm_type type = tm_type_of(v);

    if (depth > DEPTH_MOST)
        return;
    if (type == TM_INT || type == TM_DOUBLE || type == TM_BOOL || type == TM_NULL) {
        offer_path(c, path);
    } else if (type == TM_ARRAY) {
        offer_elements(c, v, path, length, depth);
    } else if (type == TM_OBJECT) {
        for (size_t i = 0; i < tm_length(v); i++)
            offer_piece(c, tm_value_at(v, i), path, length, depth, tm_key_at(v, i));
    }
}

/* The distance of a name from the typed text, 0 to 2; more if they differ.  The typed text may be the start of a
 * name. */
static size_t piece_distance(const char *typed, const char *name)
{
    const size_t length = strlen(typed), distance = tm_word_distance(typed, name);

    if (length >= 2 && strncasecmp(typed, name, length) == 0)
        return distance < 1 ? distance : 1;
    return 3 * distance > length + 2 ? SIZE_MAX : distance;
}

/* The path with another name for the piece that is missing. */
static void offer_other(struct candidates *c, size_t begin, size_t end, const char *name)
{
    char path[TM_FIGURE_PATH], typed[TM_FIGURE_PATH];
    const bool is_element = c->wrong[begin] == '[';
    const size_t mark = is_element || c->wrong[begin] == '.', length = end - begin - mark - is_element;

    memcpy(typed, c->wrong + begin + mark, length);
    typed[length] = '\0';
    const size_t distance = piece_distance(typed, name);
    const int n = snprintf(path, sizeof(path), "%.*s%s%s%s", (int)(begin + mark), c->wrong, name, is_element ? "]" : "",
                           c->wrong + end);

    if (*name && distance != SIZE_MAX && n > 0 && (size_t)n < sizeof(path))
        offer(c, path, distance == 0 ? 0 : distance - 1);
}

static void offer_siblings(struct candidates *c, const struct tm_value *v, size_t begin, size_t end)
{
    for (size_t i = 0; i < tm_length(v) && i < ROWS_MOST; i++) {
        if (tm_type_of(v) == TM_OBJECT) {
            offer_other(c, begin, end, tm_key_at(v, i));
        } else {
            offer_other(c, begin, end, tm_text(tm_get(tm_at(v, i), "id")));
            offer_other(c, begin, end, tm_text(tm_get(tm_at(v, i), "name")));
        }
    }
}

/* Go to where the path ends; for "[*]", to the first element. */
static void offer_at_break(struct candidates *c)
{
    const struct tm_value *v = c->from;
    size_t at = 0;

    while (c->wrong[at] != '\0') {
        const size_t n = tm_figure_piece(c->wrong + at);
        char piece[TM_FIGURE_PATH];

        if (n == 0 || n >= sizeof(piece))
            return;
        memcpy(piece, c->wrong + at, n);
        piece[n] = '\0';
        const struct tm_value *next =
            strcmp(piece, "[*]") == 0 && tm_type_of(v) == TM_ARRAY ? tm_at(v, 0) : tm_path(v, piece);

        if (!next) {
            offer_siblings(c, v, at, at + n);
            return;
        }
        v = next;
        at += n;
    }
}

static void offer_short_names(struct candidates *c)
{
    const struct tm_value *kpis = tm_get(c->from, "kpis");
    const struct tm_run_figure *figure;

    for (size_t i = 0; (figure = tm_run_figure(i)); i++)
        if (figure->short_name)
            offer(c, figure->short_name, near_distance(c, figure->short_name));
    for (size_t i = 0; i < tm_length(kpis) && i < IDS_MOST; i++) {
        const char *id = tm_text(tm_get(tm_at(kpis, i), "id"));

        if (*id)
            offer(c, id, near_distance(c, id));
    }
}

void tm_figure_suggest(const struct tm_value *from, const char *wrong_path, char *to, size_t to_bytes)
{
    struct candidates c = { .from = from, .wrong = wrong_path, .length = strlen(wrong_path) };
    char path[TM_FIGURE_PATH] = "";
    size_t length = 0;

    *to = '\0';
    if (c.length >= TM_FIGURE_PATH)
        return; /* no figure has such a path */
    c.compared = c.length < COMPARED_MOST ? c.length : COMPARED_MOST;
    offer_at_break(&c);
    offer_short_names(&c);
    offer_all(&c, from, path, 0, 0);
    while (c.count > 1 && c.best[c.count - 1].distance > c.best[0].distance + 2)
        c.count--; /* far behind the best one */
    for (size_t i = 0; i < c.count && length < to_bytes; i++) {
        const char *between = i == 0 ? "" : i + 1 == c.count ? " or " : ", ";

        if (length + strlen(between) + strlen(c.best[i].path) >= to_bytes)
            break;
        length += (size_t)snprintf(to + length, to_bytes - length, "%s%s", between, c.best[i].path);
    }
}
