/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves a name to a table: a list or a map of the document, the figures of an object, a single figure, or the
 * contents.  A table that is not a list of the document is built as a document of rows. */
#include <inttypes.h>
#include <string.h>

#include "pipeline/store/bounded_sum.h"
#include "pipeline/strings.h"
#include "reports/gates/gates.h"
#include "reports/show/show.h"

enum { UNITS_BYTES = 128, HINT_BYTES = 400 };

static const char FIGURES[] = "figures", CONTENTS[] = "contents";

static bool is_table(const struct tm_doc_field *field)
{
    return field->shape & (TM_DOC_LIST | TM_DOC_MAP);
}

/* "a.b"; out: false: no room for it */
static bool join(char out[TM_SHOW_PATH], const char *path, const char *key)
{
    const bool in_brackets = strpbrk(key, ".[") != NULL;
    const int n = snprintf(out, TM_SHOW_PATH, "%s%s%s%s", path,
                           in_brackets ? "["
                           : *path     ? "."
                                       : "",
                           key, in_brackets ? "]" : "");

    return n > 0 && n < TM_SHOW_PATH;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), n = strlen(end);

    return length >= n && strcmp(text + length - n, end) == 0;
}

static const struct tm_doc_field *fields_of(const struct tm_value *root)
{
    return tm_document_of(root)->fields->fields;
}

/* --- walks --- */

void tm_show_walk(const struct tm_doc_field *fields, const char *prefix, tm_show_each *each, void *to)
{
    for (; fields && fields->key; fields++) {
        const bool is_object = tm_doc_kind_of(fields) == TM_DOC_OBJECT;
        char path[TM_SHOW_PATH], below[TM_SHOW_PATH];

        if (!join(path, prefix, fields->key))
            continue;
        if (!(fields->shape & TM_DOC_MAP)) {
            if (!is_object)
                each(to, path, fields);
            else if (!(fields->shape & TM_DOC_LIST))
                tm_show_walk(fields->fields, path, each, to);
            continue;
        }
        for (const char *word = fields->words; word && *word;) {
            const size_t length = strcspn(word, "|");
            const int n = snprintf(below, sizeof(below), "%s.%.*s", path, (int)length, word);

            if (n < TM_SHOW_PATH && is_object)
                tm_show_walk(fields->fields, below, each, to);
            else if (n < TM_SHOW_PATH)
                each(to, below, fields);
            word += length + (word[length] == '|');
        }
    }
}

/* The tables below an object, those that are missing with their reason. */
typedef void each_table(void *to, const char *path, const struct tm_doc_field *field, const struct tm_value *value,
                        const struct tm_value *parent);

static void walk_tables(const struct tm_doc_field *fields, const struct tm_value *object, const char *prefix,
                        each_table *each, void *to)
{
    for (; fields && fields->key; fields++) {
        const struct tm_value *const value = tm_get(object, fields->key);
        char path[TM_SHOW_PATH];

        if (!join(path, prefix, fields->key) || (!value && (fields->shape & TM_DOC_OPTIONAL)))
            continue;
        if (is_table(fields) || tm_doc_kind_of(fields) == TM_DOC_OBJECT)
            each(to, path, fields, value, object);
        if (!is_table(fields) && tm_doc_kind_of(fields) == TM_DOC_OBJECT && tm_has(value))
            walk_tables(fields->fields, value, path, each, to);
    }
}

/* The figures below an object. */
typedef void each_figure(void *to, const char *path, const struct tm_doc_field *field, const struct tm_value *value,
                         const struct tm_value *parent);

static void walk_figures(const struct tm_doc_field *fields, const struct tm_value *object, const char *prefix,
                         each_figure *each, void *to);

static void walk_members(const struct tm_doc_field *field, const struct tm_value *map, const char *prefix,
                         each_figure *each, void *to)
{
    for (size_t i = 0; i < tm_length(map); i++) {
        char path[TM_SHOW_PATH];

        if (!join(path, prefix, tm_key_at(map, i)))
            continue;
        if (tm_doc_kind_of(field) == TM_DOC_OBJECT)
            walk_figures(field->fields, tm_value_at(map, i), path, each, to);
        else
            each(to, path, field, tm_value_at(map, i), map);
    }
}

static void walk_figures(const struct tm_doc_field *fields, const struct tm_value *object, const char *prefix,
                         each_figure *each, void *to)
{
    for (; fields && fields->key; fields++) {
        const struct tm_value *const value = tm_get(object, fields->key);
        const enum tm_doc_kind kind = tm_doc_kind_of(fields);
        char path[TM_SHOW_PATH];

        if ((fields->shape & TM_DOC_LIST) || !value || !join(path, prefix, fields->key))
            continue;
        if (tm_type_of(value) == TM_OBJECT && (fields->shape & TM_DOC_MAP))
            walk_members(fields, value, path, each, to);
        else if (tm_type_of(value) == TM_OBJECT && kind == TM_DOC_OBJECT)
            walk_figures(fields->fields, value, path, each, to);
        else if (tm_type_of(value) != TM_OBJECT && tm_type_of(value) != TM_ARRAY)
            each(to, path, fields, value, object);
    }
}

/* --- generated rows --- */

struct making {
    struct tm_value *rows;
    int64_t count;
};

static void add_unit(struct tm_value *row, const char *unit)
{
    tm_add_known(row, "unit", unit, NULL);
}

static void add_figure(void *to, const char *path, const struct tm_doc_field *field, const struct tm_value *value,
                       const struct tm_value *parent)
{
    struct making *const m = to;
    const char *const beside = tm_text(tm_get(parent, "unit"));
    const bool has_own = *beside && tm_show_has_unit_beside(field);
    struct tm_value *const row = tm_add_object(m->rows, NULL);

    tm_add_string(row, "path", path);
    tm_add_copy(row, "value", value);
    if (value && !tm_has(value) && !*tm_why(value) && tm_type_of(tm_get(parent, "why")) == TM_STRING)
        tm_add_null(row, "value", tm_text(tm_get(parent, "why"))); /* as in key figures */
    add_unit(row, has_own ? beside : tm_doc_unit(tm_doc_kind_of(field)));
    tm_add_string(row, "title", field->title ? field->title : field->help);
    m->count++;
}

static void count_figure(void *to, const char *path, const struct tm_doc_field *field, const struct tm_value *value,
                         const struct tm_value *parent)
{
    (void)path;
    (void)field;
    (void)value;
    (void)parent;
    ((struct making *)to)->count++;
}

static struct tm_value *make_rows(struct tm_run *run, struct tm_show_table *table)
{
    table->made = tm_doc_new(run);
    if (!table->made)
        return NULL;
    tm_doc_set_most(table->made, run->budget.limit_bytes / 8);
    struct tm_value *const rows = tm_add_array(tm_doc_root(table->made), "rows");

    table->rows = rows;
    return rows;
}

static void show_figures(struct tm_run *run, struct tm_show_table *table, const struct tm_value *object,
                         const struct tm_doc_field *fields, const char *path)
{
    struct making m = { .rows = make_rows(run, table) };

    if (*path)
        (void)join(table->path, path, FIGURES);
    else
        (void)snprintf(table->path, sizeof(table->path), "%s", FIGURES);
    table->fields = tm_doc_figure_row;
    table->has_figures = true;
    if (m.rows)
        walk_figures(fields, object, path, add_figure, &m);
}

static void show_figure(struct tm_run *run, struct tm_show_table *table, const struct tm_value *root, const char *path,
                        const struct tm_doc_field *field)
{
    struct making m = { .rows = make_rows(run, table) };
    char parent[TM_SHOW_PATH];

    (void)snprintf(table->path, sizeof(table->path), "%s", path);
    table->title = tm_figure_title(root, path, table->headline);
    table->title = table->title ? table->title : field->title;
    table->help = field->help;
    table->fields = tm_doc_figure_row;
    table->has_figures = true;
    (void)snprintf(parent, sizeof(parent), "%s", path);
    parent[strcspn(parent, ".") == strlen(parent) ? 0 : (size_t)(strrchr(parent, '.') - parent)] = '\0';
    if (m.rows)
        add_figure(&m, path, field, tm_path(root, path), *parent ? tm_path(root, parent) : root);
    if (m.rows && table->title)
        tm_add_string(tm_element(m.rows, 0), "title", table->title);
}

/* Rows from the elements of a list, or the members of a map, that are not objects with fields: each with its number or
 * name. */
static void add_element(struct tm_value *rows, const struct tm_doc_field *field, const char *name, size_t number,
                        const struct tm_value *value)
{
    struct tm_value *const row = tm_add_object(rows, NULL);

    if (name)
        tm_add_string(row, "name", name);
    else
        tm_add_uint(row, "index", number);
    if (tm_doc_kind_of(field) == TM_DOC_POINT) {
        tm_add_copy(row, "at_ps", tm_at(value, 0));
        tm_add_copy(row, "in_use_bytes", tm_at(value, 1));
        tm_add_copy(row, "available_bytes", tm_at(value, 2));
    } else if (tm_doc_kind_of(field) == TM_DOC_OBJECT) {
        for (size_t i = 0; i < tm_length(value); i++)
            tm_add_copy(row, tm_key_at(value, i), tm_value_at(value, i));
    } else {
        tm_add_copy(row, "value", value);
    }
}

static void make_fields(struct tm_show_table *table, const struct tm_doc_field *field, bool is_map)
{
    const bool has_causes = is_map && field->words && strcmp(field->words, TM_DOC_CAUSES) == 0;
    struct tm_doc_field *own = table->own;
    size_t n = 0;

    own[n++] = is_map ? (struct tm_doc_field){ "name", has_causes ? TM_DOC_CAUSE : TM_DOC_NAME, .title = "Name" }
                      : (struct tm_doc_field){ "index", TM_DOC_COUNT, .title = "Number" };
    if (tm_doc_kind_of(field) == TM_DOC_POINT) {
        own[n++] = (struct tm_doc_field){ "at_ps", TM_DOC_MOMENT, .title = "Time" };
        own[n++] = (struct tm_doc_field){ "in_use_bytes", TM_DOC_BYTES, .title = "In use" };
        own[n++] = (struct tm_doc_field){ "available_bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "Available" };
    } else if (tm_doc_kind_of(field) == TM_DOC_OBJECT) {
        for (size_t i = 0; field->fields[i].key && n + 1 < TM_SHOW_FIELDS; i++)
            own[n++] = field->fields[i];
    } else {
        own[n++] = (struct tm_doc_field){ "value", (unsigned)tm_doc_kind_of(field) | TM_DOC_OR_NULL, .title = "Value" };
    }
    own[n] = (struct tm_doc_field){ .key = NULL };
    table->fields = own;
}

static void make_elements(struct tm_run *run, struct tm_show_table *table, const struct tm_doc_field *field,
                          const struct tm_value *value, bool is_map)
{
    struct tm_value *const rows = make_rows(run, table);

    make_fields(table, field, is_map);
    for (size_t i = 0; rows && i < tm_length(value) && !tm_failed(run); i++)
        add_element(rows, field, is_map ? tm_key_at(value, i) : NULL, i,
                    is_map ? tm_value_at(value, i) : tm_at(value, i));
}

/* --- unlisted rows --- */

/* `rows` may be followed by `rest`, `python` by `python_rest`, and a `rest` may have a member for each list. */
static const struct tm_value *find_rest(const struct tm_value *parent, const char *key)
{
    char name[TM_SHOW_KEY];
    const struct tm_value *rest = tm_get(parent, "rest");

    (void)snprintf(name, sizeof(name), "%s_rest", key);
    if (tm_has(tm_get(parent, name)))
        return tm_get(parent, name);
    if (tm_has(tm_get(rest, key)) && tm_type_of(tm_get(rest, key)) == TM_OBJECT)
        return tm_get(rest, key);
    return strcmp(key, "rows") == 0 && tm_has(rest) ? rest : NULL;
}

/* The first field of that measure that rows and rest have, or that is declared to add up. */
static const char *find_measure(const struct tm_doc_field *fields, const struct tm_value *rest,
                                enum tm_show_measure measure)
{
    static const enum tm_doc_kind kinds[] = {
        [TM_SHOW_TIME] = TM_DOC_TIME, [TM_SHOW_COUNT] = TM_DOC_COUNT, [TM_SHOW_BYTES] = TM_DOC_BYTES
    };
    const unsigned flag = measure == TM_SHOW_COUNT ? TM_DOC_SUM : TM_DOC_ADDS;
    const char *other = NULL;

    for (; fields && fields->key; fields++) {
        const bool is_marked = fields->shape & flag;

        if (tm_doc_kind_of(fields) != kinds[measure] || (fields->shape & (TM_DOC_LIST | TM_DOC_MAP)))
            continue;
        if (rest ? tm_get(rest, fields->key) != NULL && (is_marked || measure != TM_SHOW_COUNT) : is_marked)
            return fields->key;
        if (rest && tm_get(rest, fields->key))
            other = other ? other : fields->key;
    }
    return other;
}

/* A list of the longest ones is next to the figures of all of them. */
static void make_rest(struct tm_run *run, struct tm_show_table *table, const struct tm_doc_field *field,
                      const struct tm_value *parent)
{
    const char *const time = strchr(field->whole, '|');
    char key[TM_SHOW_KEY];
    const int64_t listed = (int64_t)tm_length(table->rows);
    int64_t rows, whole_ps, listed_ps = 0;

    (void)snprintf(key, sizeof(key), "%.*s", (int)strcspn(field->whole, "|"), field->whole);
    rows = tm_int(tm_get(parent, key));
    whole_ps = time ? tm_int(tm_get(parent, time + 1)) : 0;
    for (int64_t i = 0; time && i < listed; i++)
        listed_ps =
            tm_sum_times(listed_ps, tm_int(tm_get(tm_at(table->rows, (size_t)i), table->measure[TM_SHOW_TIME])));
    if (!tm_has(tm_get(parent, key)) || rows < listed || listed_ps < 0 || whole_ps < listed_ps)
        return;
    if (!table->made)
        table->made = tm_doc_new(run);
    if (!table->made)
        return;
    struct tm_value *const rest = tm_add_object(tm_doc_root(table->made), "rest");

    tm_add_int(rest, "rows", rows - listed);
    if (time)
        tm_add_int(rest, table->measure[TM_SHOW_TIME], whole_ps - listed_ps);
    table->rest = rest;
}

static void find_left_out(struct tm_run *run, struct tm_show_table *table, const struct tm_doc_field *field,
                          const struct tm_value *parent)
{
    table->rest = find_rest(parent, field->key);
    for (int i = 0; i < TM_SHOW_MEASURES; i++)
        table->measure[i] = find_measure(table->fields, table->rest, (enum tm_show_measure)i);
    if (!table->rest && field->whole && table->measure[TM_SHOW_TIME])
        make_rest(run, table, field, parent);
    if (!table->rest && (field->shape & TM_DOC_LIST) && field->most > 0)
        table->most = (int64_t)field->most;
}

/* --- tables of the document --- */

/* Why a path does not exist: the reason of the first null along it. */
static const char *why_missing(const struct tm_value *root, const char *path)
{
    char part[TM_SHOW_PATH];

    for (size_t n = tm_figure_piece(path); n > 0; n += tm_figure_piece(path + n)) {
        (void)snprintf(part, sizeof(part), "%.*s", (int)n, path);
        const struct tm_value *const value = tm_path(root, part);

        if (!tm_has(value))
            return *tm_why(value) ? tm_why(value) : "not recorded";
        if (!path[n])
            break;
    }
    return NULL;
}

static void show_list(struct tm_run *run, struct tm_show_table *table, const struct tm_value *root, const char *path,
                      const struct tm_doc_field *field)
{
    const struct tm_value *const value = tm_path(root, path);
    const bool is_map = (field->shape & TM_DOC_MAP) && !(field->shape & TM_DOC_LIST);
    struct tm_doc_place place;
    char parent[TM_SHOW_PATH];
    char *end;

    (void)snprintf(table->path, sizeof(table->path), "%s", path);
    table->title = field->title;
    table->help = field->help;
    table->why = why_missing(root, path);
    if (is_map || tm_doc_kind_of(field) != TM_DOC_OBJECT) {
        make_elements(run, table, field, value, is_map);
    } else {
        table->fields = field->fields;
        table->rows = tm_type_of(value) == TM_ARRAY ? value : NULL;
    }
    (void)snprintf(parent, sizeof(parent), "%s", path);
    end = strrchr(parent, '.');
    if (end)
        *end = '\0';
    if ((field->shape & TM_DOC_MAIN) && end && tm_doc_place_at(&place, fields_of(root), parent)) {
        table->title = place.field->title;
        table->help = place.field->help ? place.field->help : field->help;
    }
    find_left_out(run, table, field, end ? tm_path(root, parent) : root);
}

/* The list that the name of an object represents; NULL = none. */
static const struct tm_doc_field *main_list(const struct tm_doc_field *fields)
{
    for (; fields && fields->key; fields++)
        if (fields->shape & TM_DOC_MAIN)
            return fields;
    return NULL;
}

/* --- contents --- */

static void add_units(void *to, const char *path, const struct tm_doc_field *field)
{
    const char *const unit = tm_doc_unit(tm_doc_kind_of(field));
    char *const units = to, known[UNITS_BYTES + 4], this[32];
    const size_t used = strlen(units);

    (void)path;
    (void)snprintf(known, sizeof(known), ", %s,", units);
    (void)snprintf(this, sizeof(this), ", %s,", unit);
    if (*unit && !strstr(known, this))
        (void)snprintf(units + used, UNITS_BYTES - used, "%s%s", used ? ", " : "", unit);
}

struct contents {
    struct tm_run *run;
    const struct tm_value *root;
    struct tm_value *rows;
};

static struct tm_value *add_content(struct tm_value *rows, const char *name, const char *kind)
{
    struct tm_value *const row = tm_add_object(rows, NULL);

    tm_add_string(row, "name", name);
    tm_add_string(row, "kind", kind);
    return row;
}

static void end_content(struct tm_value *row, const char *unit, const struct tm_doc_field *field, const char *why)
{
    add_unit(row, unit);
    if (why && *why)
        tm_add_printed(row, "title", "%s%snot recorded (%s)", field && field->title ? field->title : "",
                       field && field->title ? ": " : "", why);
    else
        tm_add_string(row, "title", !field ? "" : field->title ? field->title : field->help);
}

static void add_figures_of(struct contents *c, const char *path, const struct tm_doc_field *field,
                           const struct tm_value *object)
{
    struct making m = { .count = 0 };
    char name[TM_SHOW_PATH];

    if (!field && tm_doc_field_by_key(fields_of(c->root), FIGURES, strlen(FIGURES)))
        return; /* a table of the document has that name */
    walk_figures(field ? field->fields : fields_of(c->root), object, path, count_figure, &m);
    if (m.count == 0 || (*path && !join(name, path, FIGURES)))
        return;
    struct tm_value *const row = add_content(c->rows, *path ? name : FIGURES, "figures");

    tm_add_int(row, "rows", m.count);
    tm_add_null(row, "not_listed", NULL);
    tm_add_null(row, "value", NULL);
    end_content(row, "", field, NULL);
    if (!field)
        tm_add_string(row, "title", "All figures outside lists");
}

static const char *why_null(const struct tm_value *value)
{
    return *tm_why(value) ? tm_why(value) : "not recorded";
}

static void add_missing(struct contents *c, const char *path, const struct tm_doc_field *field,
                        const struct tm_value *value, const char *kind)
{
    struct tm_value *const row = add_content(c->rows, path, kind);

    tm_add_null(row, "rows", why_null(value));
    tm_add_null(row, "not_listed", NULL);
    tm_add_null(row, "value", NULL);
    end_content(row, "", field, why_null(value));
}

/* in: named  the field that people know it by: of the main list of an object the object */
static void add_table(struct contents *c, const char *name, const struct tm_doc_field *named,
                      const struct tm_doc_field *field, const struct tm_value *value, const struct tm_value *parent)
{
    const struct tm_value *const rest = find_rest(parent, field->key);
    const struct tm_doc_field *const scalar = tm_doc_kind_of(field) == TM_DOC_OBJECT ? NULL : field;
    struct tm_value *const row = add_content(c->rows, name, "table");
    char units[UNITS_BYTES] = "";

    if (tm_has(value))
        tm_add_uint(row, "rows", tm_length(value));
    else
        tm_add_null(row, "rows", why_null(value));
    if (rest && tm_int(tm_get(rest, "rows")) > 0)
        tm_add_int(row, "not_listed", tm_int(tm_get(rest, "rows")));
    else
        tm_add_null(row, "not_listed", NULL);
    tm_add_null(row, "value", NULL);
    if (scalar)
        add_units(units, name, scalar);
    else
        tm_show_walk(field->fields, "", add_units, units);
    end_content(row, units, named, tm_has(value) ? NULL : why_null(value));
}

/* Tables at any level; figures of whole sections, including those of their parts. */
static void add_contents(void *to, const char *path, const struct tm_doc_field *field, const struct tm_value *value,
                         const struct tm_value *parent)
{
    struct contents *const c = to;
    const struct tm_doc_field *const list = is_table(field) ? NULL : main_list(field->fields);
    const bool is_section = !strchr(path, '.');

    if (is_table(field) && !(field->shape & TM_DOC_MAIN))
        add_table(c, path, field, field, value, parent);
    else if (list && tm_has(value))
        add_table(c, path, field, list, tm_get(value, list->key), value);
    if (is_table(field) || (!list && !is_section))
        return;
    if (tm_has(value) && is_section)
        add_figures_of(c, path, field, value);
    else if (!tm_has(value))
        add_missing(c, path, field, value, list ? "table" : "figures");
}

static void add_key_figures(struct contents *c)
{
    const struct tm_value *const kpis = tm_get(c->root, "kpis");

    for (size_t i = 0; i < tm_length(kpis); i++) {
        const struct tm_value *const kpi = tm_at(kpis, i);
        const char *const id = tm_text(tm_get(kpi, "id"));
        const bool is_section = tm_doc_field_by_key(fields_of(c->root), id, strlen(id)) != NULL;
        struct tm_value *row;
        char name[TM_SHOW_KEY];

        (void)snprintf(name, sizeof(name), is_section ? "kpis[%.60s].value" : "%.60s", id);
        row = add_content(c->rows, name, "figure");

        tm_add_null(row, "rows", NULL);
        tm_add_null(row, "not_listed", NULL);
        tm_add_copy(row, "value", tm_get(kpi, "value"));
        add_unit(row, tm_text(tm_get(kpi, "unit")));
        if (tm_has(tm_get(kpi, "value")))
            tm_add_string(row, "title", tm_text(tm_get(kpi, "title")));
        else
            tm_add_printed(row, "title", "%s: not recorded (%s)", tm_text(tm_get(kpi, "title")),
                           tm_text(tm_get(kpi, "why")));
    }
}

static void show_contents(struct tm_run *run, struct tm_show_table *table, const struct tm_value *root)
{
    struct contents c = { .run = run, .root = root, .rows = make_rows(run, table) };

    (void)snprintf(table->path, sizeof(table->path), "%s", CONTENTS);
    table->title = "Available tables";
    table->fields = tm_doc_content_row;
    if (!c.rows)
        return;
    add_figures_of(&c, "", NULL, root);
    walk_tables(fields_of(root), root, "", add_contents, &c);
    add_key_figures(&c);
}

/* --- names --- */

struct search {
    const char *end; /* required end of the path */
    char found[TM_SHOW_PATH], others[TM_SHOW_PATH];
    size_t count;
};

static void match(void *to, const char *path, const struct tm_doc_field *field, const struct tm_value *value,
                  const struct tm_value *parent)
{
    struct search *const s = to;
    const size_t length = strlen(path), n = strlen(s->end), used = strlen(s->others);

    (void)field;
    (void)value;
    (void)parent;
    if (length <= n || strcmp(path + length - n, s->end) != 0 || path[length - n - 1] != '.')
        return;
    if (s->count++ == 0)
        (void)snprintf(s->found, sizeof(s->found), "%s", path);
    (void)snprintf(s->others + used, sizeof(s->others) - used, "%s%s", used ? ", " : "", path);
}

/* The search for the closest table, by its whole path or its last part. */
struct near_table {
    const char *wrong;
    struct tm_nearest nearest;
    char path[TM_SHOW_PATH];
};

static void offer_table(void *to, const char *path, const struct tm_doc_field *field, const struct tm_value *value,
                        const struct tm_value *parent)
{
    struct near_table *const n = to;
    const char *const dot = strrchr(path, '.');
    struct tm_nearest nearest = n->nearest;

    (void)value;
    (void)parent;
    if (!is_table(field) && !main_list(field->fields))
        return;
    nearest.word = nearest.word ? "" : NULL; /* so that another one can be distinguished from it */
    tm_nearest_offer(&nearest, n->wrong, path);
    if (dot)
        tm_nearest_offer(&nearest, n->wrong, dot + 1);
    if (!nearest.word || !*nearest.word)
        return;
    n->nearest = nearest;
    (void)snprintf(n->path, sizeof(n->path), "%s", path);
}

static void suggest(struct tm_run *run, const struct tm_value *root, const char *what)
{
    struct near_table table = { .wrong = what };
    char figures[HINT_BYTES], section[TM_SHOW_KEY];

    tm_figure_suggest(root, what, figures, sizeof(figures));
    walk_tables(fields_of(root), root, "", offer_table, &table);
    (void)snprintf(section, sizeof(section), "%.*s", (int)strcspn(what, ".["), what);
    table.wrong = section;
    if (!*table.path && !*figures)
        walk_tables(fields_of(root), root, "", offer_table, &table);
    if (*table.path && *figures)
        tm_hint(&run->error, "did you mean %s, or %s?", table.path, figures);
    else if (*table.path || *figures)
        tm_hint(&run->error, "did you mean %s?", *figures ? figures : table.path);
    else
        tm_hint(&run->error, "'tracemill show RUN' lists the tables; paths lead further down: devices[0].gaps.longest");
}

/* The value at a path of the document.  out: false: none */
static bool show_path(struct tm_run *run, struct tm_show_table *table, const struct tm_value *root, const char *path)
{
    const struct tm_doc_field *list;
    struct tm_doc_place place;
    char below[TM_SHOW_PATH];

    if (!tm_doc_place_at(&place, fields_of(root), path))
        return false;
    const struct tm_value *const value = tm_path(root, path);
    const bool is_element = path[strlen(path) - 1] == ']' && tm_type_of(value) != TM_ARRAY,
               is_object = tm_doc_kind_of(place.field) == TM_DOC_OBJECT;
    const bool is_list = (place.field->shape & TM_DOC_LIST) && !is_element;

    if (!value && (is_element || !why_missing(root, path)))
        return false;
    list = is_object && !is_list && !place.is_map && !is_element ? main_list(place.field->fields) : NULL;
    if (list && join(below, path, list->key))
        show_list(run, table, root, below, list);
    else if (is_list || place.is_map)
        show_list(run, table, root, path, place.field);
    else if (is_object)
        show_figures(run, table, value, place.field->fields, path);
    else
        show_figure(run, table, root, path, place.field);
    if (is_object && !is_list && !place.is_map && !list) {
        table->title = place.field->title;
        table->why = why_missing(root, path);
    }
    return true;
}

/* "steps.figures" beside the list of the steps, "gaps.rows" if the list has another name. */
static bool show_part(struct tm_run *run, struct tm_show_table *table, const struct tm_value *root, const char *what)
{
    char path[TM_SHOW_PATH];
    struct tm_doc_place place;

    if (strcmp(what, FIGURES) == 0) {
        show_figures(run, table, root, fields_of(root), "");
        return true;
    }
    if (!ends_with(what, ".figures") && !ends_with(what, ".rows"))
        return false;
    (void)snprintf(path, sizeof(path), "%.*s", (int)(strrchr(what, '.') - what), what);
    if (!tm_doc_place_at(&place, fields_of(root), path) || tm_doc_kind_of(place.field) != TM_DOC_OBJECT)
        return false;
    if (ends_with(what, ".rows"))
        return main_list(place.field->fields) && show_path(run, table, root, path);
    if (tm_type_of(tm_path(root, path)) == TM_ARRAY)
        return false;
    show_figures(run, table, tm_path(root, path), place.field->fields, path);
    table->why = why_missing(root, path);
    return true;
}

static bool show_name(struct tm_run *run, struct tm_show_table *table, const struct tm_value *root, const char *what)
{
    char room[TM_SHOW_PATH];
    const char *const figure = tm_figure_path(root, what, room);
    struct search s = { .end = what };

    if (strcmp(figure, what) != 0)
        return show_path(run, table, root, figure);
    walk_tables(fields_of(root), root, "", match, &s);
    if (s.count == 0)
        walk_figures(fields_of(root), root, "", match, &s);
    if (s.count == 1)
        return show_path(run, table, root, s.found);
    if (s.count == 0)
        return false;
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot show '%s': there are %zu of that name", what, s.count);
    tm_hint(&run->error, "write the path: %s", s.others);
    return true;
}

/* For a path that ends among the elements of a list, report their number. */
static void refuse_name(struct tm_run *run, const struct tm_value *root, const char *what)
{
    const char *const bracket = strrchr(what, '[');
    char list[TM_SHOW_PATH];

    (void)snprintf(list, sizeof(list), "%.*s", bracket ? (int)(bracket - what) : 0, what);
    if (bracket && ends_with(what, "]") && tm_type_of(tm_path(root, list)) == TM_ARRAY) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1,
                      "cannot show '%s': the list has %zu elements, and none with that number or name", what,
                      tm_length(tm_path(root, list)));
        tm_hint(&run->error, "'tracemill show RUN %s' prints them; the first is %s[0]", list, list);
        return;
    }
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot show '%s': there is no table or figure with that name", what);
    suggest(run, root, what);
}

/* "critical-path", as sections are called on the page: the names of documents have no hyphens.
 * in: room  TM_SHOW_PATH */
static const char *name_of_section(const struct tm_value *root, const char *what, char *room)
{
    size_t i = 0;

    for (; what[i] && i + 1 < TM_SHOW_PATH; i++)
        room[i] = what[i] == '-' ? '_' : what[i];
    room[i] = 0;
    return tm_doc_field_by_key(fields_of(root), room, i) ? room : what;
}

tm_status tm_show_find(struct tm_run *run, struct tm_show_table *table, const struct tm_value *root, const char *what)
{
    char room[TM_SHOW_PATH];

    if (what)
        what = name_of_section(root, what, room);
    if (!what || strcmp(what, CONTENTS) == 0) {
        show_contents(run, table, root);
    } else if (strlen(what) >= TM_SHOW_PATH - sizeof(".figures")) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot show '%.60s...': the path is too long", what);
    } else if (!show_path(run, table, root, what) && !show_part(run, table, root, what) &&
               !show_name(run, table, root, what)) {
        refuse_name(run, root, what);
    }
    return table->made && !tm_failed(run) ? tm_doc_status(table->made) : run->error.status;
}

void tm_show_close(struct tm_show_table *table)
{
    tm_doc_free(table->made);
    table->made = NULL;
}

/* --- near fields --- */

struct nearest_field {
    struct tm_nearest nearest;
    const char *wrong;
    char word[TM_SHOW_PATH];
    char all[HINT_BYTES];
};

static void offer_field(void *to, const char *path, const struct tm_doc_field *field)
{
    struct nearest_field *const n = to;
    const size_t distance = n->nearest.distance, used = strlen(n->all);
    const char *const dot = strrchr(path, '.'), *const before = n->nearest.word;

    (void)field;
    tm_nearest_offer(&n->nearest, n->wrong, path);
    if (dot)
        tm_nearest_offer(&n->nearest, n->wrong, dot + 1);
    if (n->nearest.word != before || (before && n->nearest.distance != distance)) {
        (void)snprintf(n->word, sizeof(n->word), "%s", path);
        n->nearest.word = n->word;
    }
    if (used + strlen(path) + 3 < sizeof(n->all))
        (void)snprintf(n->all + used, sizeof(n->all) - used, "%s%s", used ? ", " : "", path);
}

void tm_show_suggest(struct tm_run *run, const struct tm_doc_field *fields, const char *wrong)
{
    struct nearest_field n = { .wrong = wrong };

    tm_show_walk(fields, "", offer_field, &n);
    if (n.nearest.word)
        tm_hint(&run->error, "did you mean '%s'?", n.word);
    else
        tm_hint(&run->error, "the fields are %s", n.all);
}
