/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of annotations: its rows in the summary, and what a partial holds of it. */
#include <string.h>

#include "stages/diagnose/scopes/annotations_private.h"
#include "stages/diagnose/row_text.h"
#include "stages/diagnose/top_rows.h"

enum { PATH_MOST = 8192, NAME_MOST = 2048 }; /* bytes that are looked at */

static int longest_first(const void *a, const void *b)
{
    const struct annotation_row *x = a, *y = b;

    if (x->host_ps != y->host_ps)
        return x->host_ps > y->host_ps ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return tm_key_order(x->node.key, y->node.key);
}

static bool is_root(const void *row)
{
    return ((const struct annotation_row *)row)->depth == 1;
}

/* --- rows --- */

/* Names on the way to the row that is written. */
struct writer {
    struct annotations *a;
    struct tm_value *list;
    const char *no_device; /* why there is no device time; NULL = there is */
    char path[PATH_MOST];
    size_t length_at[ANNOTATION_DEPTH_MOST + 1]; /* of the path, by depth */
    size_t room;                /* for long texts */
    int64_t self_ps, device_ps; /* of the rows that are listed; device_ps: of the roots */
};

static void write_row(struct writer *w, const struct annotation_row *row, const char *name, size_t length)
{
    struct tm_value *to = tm_add_object(w->list, NULL);

    tm_add_row_text(to, "path", w->path, w->length_at[row->depth], &w->room);
    tm_add_row_text(to, "name", name, length, &w->room);
    tm_add_uint(to, "depth", row->depth - 1);
    tm_add_uint(to, "count", row->count);
    tm_add_int(to, "host_ps", row->host_ps);
    tm_add_int(to, "host_self_ps", row->host_self_ps);
    if (w->no_device) {
        tm_add_null(to, "device_ps", w->no_device);
        tm_add_null(to, "activities", w->no_device);
    } else {
        tm_add_int(to, "device_ps", row->device_ps);
        tm_add_uint(to, "activities", row->activities);
    }
    w->self_ps = tm_sum_times(w->self_ps, row->host_self_ps);
    if (row->depth == 1)
        w->device_ps = tm_sum_times(w->device_ps, row->device_ps);
}

/* Rows come in the order of the tree: the path of the parent is there. */
static tm_status add_row(struct writer *w, const struct annotation_row *row)
{
    size_t at = w->length_at[row->depth - 1], length;
    const char *name;
    const tm_status st = tm_names_text(w->a->names, row->name, NAME_MOST + 1, &name, &length);

    if (st != TM_OK)
        return st;
    length = tm_whole_characters(name, length, NAME_MOST);
    if (row->depth > 1 && at < PATH_MOST)
        w->path[at++] = '/';
    w->length_at[row->depth] = at + tm_whole_characters(name, length, PATH_MOST - at);
    memcpy(w->path + at, name, w->length_at[row->depth] - at);
    write_row(w, row, name, length);
    return TM_OK;
}

static tm_status add_rows(struct writer *w, struct tm_top_rows *top, uint32_t *listed)
{
    const uint32_t count = (uint32_t)tm_top_rows_count(top);
    struct tm_run *run = w->a->run;
    uint32_t *order;
    tm_status st;

    if (!count)
        return TM_OK;
    order = tm_take(&run->budget, TM_ACCOUNT_TABLES, count * sizeof(*order), &run->error);
    if (!order)
        return run->error.status;
    st = tm_tree_order(run, TM_ACCOUNT_TABLES, tm_top_rows_at(top, 0), count, sizeof(struct annotation_row), is_root,
                       order, listed);
    for (uint32_t i = 0; i < *listed && st == TM_OK; i++)
        st = add_row(w, tm_top_rows_at(top, order[i]));
    tm_give(&run->budget, TM_ACCOUNT_TABLES, order, count * sizeof(*order));
    return st;
}

static tm_status choose(struct annotations *a, struct tm_top_rows *top, uint64_t *distinct)
{
    const void *row = NULL;
    tm_status st = tm_groups_finish(a->rows);

    *distinct = 0;
    while (st == TM_OK && (st = tm_groups_next(a->rows, &row)) == TM_OK && row) {
        ++*distinct;
        st = tm_top_rows_add(top, row);
    }
    if (st == TM_OK)
        tm_top_rows_sort(top);
    return st;
}

static const char *why_no_device(const struct annotations *a)
{
    if (!a->launched)
        return "the profile does not tell which host thread launched the device's work";
    if (!a->inside)
        return "no device work was launched inside an annotation, by the thread that made it";
    return NULL;
}

tm_status tm_annotations_report(struct annotations *a, uint64_t most, struct tm_value *to)
{
    struct tm_top_rows *top = tm_listed_rows_new(a->run, sizeof(struct annotation_row), most, longest_first);
    struct writer *w = tm_take(&a->run->budget, TM_ACCOUNT_TABLES, sizeof(*w), &a->run->error);
    struct tm_value *rest;
    uint64_t distinct = 0;
    uint32_t listed = 0;
    tm_status st = top && w ? choose(a, top, &distinct) : a->run->error.status;

    if (st == TM_OK && !distinct) {
        tm_add_null(to, "annotations", a->has_host_events ? "the program annotated nothing on its host threads"
                                                          : "no host events are in the profile");
        tm_add_null(to, "annotations_rest", "there are no annotations");
    } else if (st == TM_OK) {
        w->a = a;
        w->list = tm_add_array(to, "annotations");
        w->no_device = why_no_device(a);
        w->room = most * TM_ROW_TEXT_ROOM;
        st = add_rows(w, top, &listed);
        rest = tm_add_object(to, "annotations_rest");
        tm_add_uint(rest, "rows", distinct - listed);
        tm_add_int(rest, "host_self_ps", a->host_self_ps > w->self_ps ? a->host_self_ps - w->self_ps : 0);
        if (w->no_device)
            tm_add_null(rest, "device_ps", w->no_device);
        else
            tm_add_int(rest, "device_ps", a->inside_ps > w->device_ps ? a->inside_ps - w->device_ps : 0);
    }
    tm_give(&a->run->budget, TM_ACCOUNT_TABLES, w, w ? sizeof(*w) : 0);
    tm_top_rows_free(top);
    return st;
}

/* --- partials --- */

static void save_row(struct tm_partial_writer *w, const void *of)
{
    const struct annotation_row *row = of;

    tm_partial_put_words(w, &row->node, 4);
    tm_partial_put_u64(w, row->count);
    tm_partial_put_u64(w, row->activities);
    tm_partial_put_i64(w, row->host_ps);
    tm_partial_put_i64(w, row->host_self_ps);
    tm_partial_put_i64(w, row->device_ps);
    tm_partial_put_name(w, row->name);
    tm_partial_put_u32(w, row->depth - 1);
}

tm_status tm_annotations_save(struct annotations *a, struct tm_partial_writer *w)
{
    tm_partial_put_u64(w, a->launched);
    tm_partial_put_u64(w, a->inside);
    tm_partial_put_i64(w, a->inside_ps);
    tm_partial_put_i64(w, a->host_self_ps);
    tm_partial_put_u8(w, a->has_host_events);
    return tm_partial_put_groups(w, a->rows, save_row);
}

static void load_row(struct tm_partial_reader *r, void *to)
{
    struct annotation_row *row = to;

    tm_partial_words(r, &row->node, 4);
    row->count = tm_partial_u64(r);
    row->activities = tm_partial_u64(r);
    row->host_ps = tm_partial_time(r);
    row->host_self_ps = tm_partial_time(r);
    row->device_ps = tm_partial_time(r);
    row->name = tm_partial_name(r);
    row->depth = tm_partial_below_u32(r, ANNOTATION_DEPTH_MOST) + 1;
}

tm_status tm_annotations_load(struct annotations *a, struct tm_partial_reader *r)
{
    struct annotation_row row;

    a->names = tm_partial_names(r);
    a->launched = tm_sum_counts(a->launched, tm_partial_u64(r));
    a->inside = tm_sum_counts(a->inside, tm_partial_u64(r));
    a->inside_ps = tm_sum_times(a->inside_ps, tm_partial_time(r));
    a->host_self_ps = tm_sum_times(a->host_self_ps, tm_partial_time(r));
    a->has_host_events |= tm_partial_bool(r);
    return tm_partial_take_groups(r, a->rows, load_row, &row);
}
