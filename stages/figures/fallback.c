/* SPDX-License-Identifier: Apache-2.0 */
/* Work that ran on the host although a device was available, the stage.  Memory: fixed per device of the current host
 * and for calls that are open; groups by name spill. */
#include "stages/figures/figure_stages.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "pipeline/stage.h"
#include "pipeline/store/groups.h"
#include "stages/figures/fields.h"
#include "stages/figures/figure_rows.h"
#include "stages/figures/host_threads.h"

/* FALLBACK_OPEN: callbacks that are followed at the same time; for more, the function is unknown.  FALLBACK_FRONT: a
 * power of two; names that are cached.  FALLBACK_TRIPS: the longest round trips that are listed. */
enum { FALLBACK_OPEN = 64, FALLBACK_FRONT = 1024, FALLBACK_TRIPS = 20 };

enum fallback_sort {
    FALLBACK_CALLBACK, /* a call of the program back to the host */
    FALLBACK_CPU_OP,   /* an operation of the program on the host of a GPU or TPU */
    FALLBACK_HOST_OP,  /* an operation on the device that works with the host according to the HLO */
    FALLBACK_SORTS
};

/* All of one name and op. */
struct fallback_row {
    struct tm_key key; /* of sort, kind and the two names */
    uint64_t count;
    int64_t total_ps;
    struct tm_longest longest;
    tm_strid name; /* callback: the function that was called, 0 = not known */
    tm_strid op;   /* framework path; 0 = not recorded */
    uint8_t sort;  /* enum fallback_sort */
    uint8_t kind;  /* enum tm_callback_kind, of a callback */
};

struct fallback_sum {
    uint64_t count;
    int64_t total_ps;
};

/* A callback that has not ended. */
struct open_callback {
    int64_t start_ps, end_ps;
    uint32_t track;
    tm_strid function, op;
    enum tm_callback_kind kind;
    bool is_calling; /* the next function is the user's */
};

/* A device, while its host is read. */
struct trip_lane {
    int64_t until_ps; /* it was active up to here */
    bool ends_in_d2h; /* its last activity is a copy to the host, or one of those that end last are */
    uint32_t d2h_step;
    uint64_t d2h_bytes;
    /* the latest gap */
    int64_t gap_begin_ps, gap_end_ps;
    bool is_after_d2h; /* and not counted yet */
    bool is_used;
};

struct fallback_front {
    tm_strid name;
    uint8_t is_used, is_cpu_op;
    struct tm_callback_name about;
};

struct fallback {
    struct tm_run *run;
    const struct tm_settings *settings;
    struct tm_names *names;
    /* of the current host */
    const struct tm_trace *trace;
    struct tm_host_window window;
    struct trip_lane *lanes; /* by the device's index */
    uint32_t lane_count;
    struct open_callback open[FALLBACK_OPEN];
    uint32_t open_count;
    struct fallback_front *front;
    bool is_accelerated; /* it has a GPU or TPU */
    bool has_host_op;    /* the HLO of some op says that it works with the host */
    /* of the run */
    struct tm_groups *rows; /* struct fallback_row */
    struct fallback_sum sums[FALLBACK_SORTS];
    struct tm_stretch trips[FALLBACK_TRIPS]; /* data went to the host and came back, with the device idle between */
    uint32_t trips_listed;
    uint64_t trip_count, trip_bytes, trips_of_unknown_bytes;
    int64_t trip_ps;
    bool has_accelerator, has_cpu_device, has_steps;
};

/* Shares of the memory for the tables of this stage, in sixteenths. */
enum { FALLBACK_ROWS = 6, FALLBACK_PLACES = 6 };

static inline size_t fallback_memory(struct tm_run *run, int parts)
{
    return tm_tables_memory(run, TM_TABLES_FALLBACK, 16, (unsigned)parts);
}

/* Work that ran on the host although a device was available, in a partial: sums, the longest round trips, and all
 * groups in the order of their keys. */

#define ROW(member, kind, merge) TM_FIELD(struct fallback_row, member, kind, merge)

static const struct tm_row_field row_fields[] = {
    ROW(key, WORD, KEEP),
    ROW(count, COUNT, SUM),
    ROW(total_ps, TIME, SUM),
    TM_FIELD_STRUCTS(struct fallback_row, longest, struct tm_longest, tm_longest_fields),
    ROW(name, NAME, KEEP),
    ROW(op, NAME, KEEP),
    TM_FIELD_BELOW(struct fallback_row, sort, U8, KEEP, FALLBACK_SORTS),
    TM_FIELD_BELOW(struct fallback_row, kind, U8, KEEP, TM_CALLBACK_KINDS),
    TM_FIELDS_END,
};

static const struct tm_row_field sum_fields[] = {
    TM_FIELD(struct fallback_sum, count, COUNT, SUM),
    TM_FIELD(struct fallback_sum, total_ps, TIME, SUM),
    TM_FIELDS_END,
};

static const struct tm_row_field stage_fields[] = {
    TM_FIELD_STRUCTS(struct fallback, sums, struct fallback_sum, sum_fields),
    TM_FIELD(struct fallback, trip_count, COUNT, SUM),
    TM_FIELD(struct fallback, trip_bytes, COUNT, SUM),
    TM_FIELD(struct fallback, trips_of_unknown_bytes, COUNT, SUM),
    TM_FIELD(struct fallback, trip_ps, TIME, SUM),
    TM_FIELD(struct fallback, has_accelerator, BOOL, ANY),
    TM_FIELD(struct fallback, has_cpu_device, BOOL, ANY),
    TM_FIELD(struct fallback, has_steps, BOOL, ANY),
    TM_FIELDS_END,
};

static const struct tm_row_field trip_fields[] = {
    TM_FIELD_DEVICE_ID(struct tm_stretch, device, host),
    TM_FIELD(struct tm_stretch, start_ps, INSTANT, KEEP),
    TM_FIELD(struct tm_stretch, dur_ps, TIME, KEEP),
    TM_FIELD(struct tm_stretch, bytes, COUNT, KEEP),
    TM_FIELDS_END,
};

static void merge_rows(void *into, const void *from)
{
    tm_fields_merge(row_fields, into, from);
    tm_longest_merge(&((struct fallback_row *)into)->longest, &((const struct fallback_row *)from)->longest);
}

static tm_status fallback_save(struct tm_stage *s, struct tm_partial_writer *w)
{
    struct fallback *f = s->state;

    tm_fields_save(w, stage_fields, f);
    tm_stretches_save(w, trip_fields, f->trips, f->trips_listed);
    return tm_fields_save_groups(w, row_fields, f->rows);
}

static tm_status fallback_load(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct fallback *f = s->state;

    f->names = tm_partial_names(r);
    tm_fields_load_more(r, stage_fields, f);
    tm_stretches_load(r, trip_fields, f->trips, &f->trips_listed, FALLBACK_TRIPS);
    return tm_fields_load_groups(r, row_fields, f->rows, NULL, NULL);
}

/* Names of callbacks to the host.  A Python function is "$file.py:line function", a builtin "$module function". */

static const char *const callback_kind_name[TM_CALLBACK_KINDS] = { "callback",       "pure_callback", "io_callback",
                                                                   "debug_callback", "debug_print",   "custom_call" };

struct view {
    const char *at;
    size_t length;
};

static bool is(struct view text, const char *word)
{
    return text.length == strlen(word) && memcmp(text.at, word, text.length) == 0;
}

static bool begins(struct view text, const char *word)
{
    const size_t length = strlen(word);

    return text.length >= length && memcmp(text.at, word, length) == 0;
}

static bool holds(struct view text, const char *word)
{
    return text.length && memmem(text.at, text.length, word, strlen(word));
}

/* Functions of JAX's own files that are informative. */
static const struct {
    const char *file, *function;
    struct tm_callback_name name;
} known[] = {
    { "callback.py", "_wrapped_callback", { TM_ROLE_BEGINS, TM_CALLBACK } },
    { "mlir.py", "_wrapped_callback", { TM_ROLE_BEGINS, TM_CALLBACK } },
    { "callback.py", "__call__", { TM_ROLE_CALLS, TM_CALLBACK } },
    { "callback.py", "pure_callback_impl", { TM_ROLE_PLUMBING, TM_PURE_CALLBACK } },
    { "callback.py", "io_callback_impl", { TM_ROLE_PLUMBING, TM_IO_CALLBACK } },
    { "debugging.py", "debug_callback_impl", { TM_ROLE_PLUMBING, TM_DEBUG_CALLBACK } },
    { "debugging.py", "_flat_callback", { TM_ROLE_CALLS, TM_DEBUG_CALLBACK } },
    { "debugging.py", "_format_print_callback", { TM_ROLE_PLUMBING, TM_DEBUG_PRINT } },
};

/* Files of JAX that are between the call and the user's function. */
static const char *const plumbing[] = { "callback.py", "debugging.py", "profiler.py", "tree_util.py", "mlir.py",
                                        "array.py",    "api.py",       "dtypes.py",   "contextlib.py" };

static struct tm_callback_name of_python(struct view text)
{
    const char *space = memchr(text.at, ' ', text.length), *colon = memchr(text.at, ':', text.length);
    struct view file, function;

    if (!space || !colon || colon > space) /* a builtin */
        return (struct tm_callback_name){ TM_ROLE_PLUMBING, TM_CALLBACK };
    file = (struct view){ text.at + 1, (size_t)(colon - text.at) - 1 };
    function = (struct view){ space + 1, text.length - (size_t)(space + 1 - text.at) };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (is(file, known[i].file) && is(function, known[i].function))
            return known[i].name;
    for (size_t i = 0; i < sizeof(plumbing) / sizeof(plumbing[0]); i++)
        if (is(file, plumbing[i]))
            return (struct tm_callback_name){ TM_ROLE_PLUMBING, TM_CALLBACK };
    return (struct tm_callback_name){ TM_ROLE_FUNCTION, TM_CALLBACK };
}

/* "pure_callback.1" */
static struct tm_callback_name of_op(struct view text)
{
    for (int kind = TM_PURE_CALLBACK; kind <= TM_DEBUG_PRINT; kind++)
        if (begins(text, callback_kind_name[kind]))
            return (struct tm_callback_name){ TM_ROLE_BEGINS, (enum tm_callback_kind)kind };
    return (struct tm_callback_name){ TM_ROLE_NONE, TM_CALLBACK };
}

struct tm_callback_name tm_callback_name_of(const char *text, size_t length, bool is_cpu_op)
{
    const struct view name = { text, length };

    if (length && text[0] == '$')
        return of_python(name);
    /* xla_ffi_python_gpu_callback, xla_python_cpu_callback, xla_ffi_partitioned_python_gpu_callback */
    if (holds(name, "python_gpu_callback") || holds(name, "python_cpu_callback"))
        return (struct tm_callback_name){ TM_ROLE_BEGINS, TM_CALLBACK };
    return is_cpu_op ? of_op(name) : (struct tm_callback_name){ TM_ROLE_NONE, TM_CALLBACK };
}

/* Callbacks from the program to the host, and operations that ran there.  A callback is the outermost span with the
 * name of one; nested spans determine its kind and the user's function. */

enum { TEXT_MOST = 512 }; /* bytes of a name that are examined */

/* The parts of the key of a row; without padding. */
struct key_text {
    struct tm_key name, op;
    uint64_t sort, kind;
};

static_assert(sizeof(struct key_text) == 48, "hashed as bytes");

/* Count one of a sort; key and sums of the row are filled in here. */
static void fallback_count(struct fallback *f, const struct fallback_row *about, int64_t start_ps, int64_t dur_ps)
{
    struct fallback_sum *sum = &f->sums[about->sort];
    struct fallback_row row = *about;
    struct tm_key hashes[2];
    struct key_text text;

    tm_names_hashes(f->names, (const tm_strid[]){ row.name, row.op }, 2, hashes);
    text = (struct key_text){ hashes[0], hashes[1], row.sort, row.kind };
    row.key = tm_hash_key(&text, sizeof(text));
    row.count = 1;
    row.total_ps = dur_ps;
    row.longest = (struct tm_longest){ dur_ps, start_ps, f->trace->host };
    sum->count = tm_sum_counts(sum->count, 1);
    sum->total_ps = tm_sum_times(sum->total_ps, dur_ps);
    tm_groups_add(f->rows, &row);
}

/* --- calls back --- */

static void count_callback(struct fallback *f, const struct open_callback *open)
{
    const struct fallback_row row = {
        .name = open->function, .op = open->op, .sort = FALLBACK_CALLBACK, .kind = (uint8_t)open->kind
    };

    fallback_count(f, &row, open->start_ps, open->end_ps - open->start_ps);
}

/* those that end by then */
static void fallback_close_callbacks(struct fallback *f, int64_t until_ps)
{
    for (uint32_t i = 0; i < f->open_count;) {
        if (f->open[i].end_ps > until_ps) {
            i++;
            continue;
        }
        count_callback(f, &f->open[i]);
        f->open[i] = f->open[--f->open_count];
    }
}

TM_NOT_INLINE void fill_front(struct fallback *f, struct fallback_front *front, tm_strid name, bool is_cpu_op)
{
    size_t length;
    const char *text = tm_names_text(f->names, name, TEXT_MOST, &length);

    *front = (struct fallback_front){ name, true, is_cpu_op, tm_callback_name_of(text, length, is_cpu_op) };
}

static inline struct tm_callback_name look_up(struct fallback *f, const struct tm_event *event)
{
    const bool is_cpu_op = event->record.class == TM_CLASS_CPU_OP;
    const tm_strid name = event->record.name;
    struct fallback_front *front = &f->front[name & (FALLBACK_FRONT - 1)];

    if (!front->is_used || front->name != name || front->is_cpu_op != is_cpu_op)
        fill_front(f, front, name, is_cpu_op);
    return front->about;
}

/* The callback that is open on a track. */
static struct open_callback *find_open(struct fallback *f, uint32_t track)
{
    for (uint32_t i = 0; i < f->open_count; i++)
        if (f->open[i].track == track)
            return &f->open[i];
    return NULL;
}

static void learn(struct open_callback *open, const struct tm_event *event, struct tm_callback_name about)
{
    if (about.kind != TM_CALLBACK && open->kind != TM_HOST_CUSTOM_CALL)
        open->kind = about.kind;
    if (about.role == TM_ROLE_CALLS)
        open->is_calling = true;
    if (about.kind == TM_DEBUG_PRINT) { /* JAX's own function, behind helpers of others */
        open->function = 0;
        open->is_calling = false;
    }
    if (about.role == TM_ROLE_FUNCTION && open->is_calling && !open->function)
        open->function = event->record.name;
}

static void begin_callback(struct fallback *f, const struct tm_event *event, enum tm_callback_kind kind,
                           int64_t start_ps, int64_t end_ps)
{
    const struct open_callback open = {
        .start_ps = start_ps, .end_ps = end_ps, .track = event->record.track, .op = event->config->op, .kind = kind
    };

    if (f->open_count == FALLBACK_OPEN)
        count_callback(f, &open);
    else
        f->open[f->open_count++] = open;
}

/* --- events --- */

/* Whether the HLO says that its op works with the host. */
static bool is_host_op(const struct fallback *f, const struct tm_event *event)
{
    const struct tm_hlo_op *op;

    tm_trace_hlo(f->trace, event->config, &op);
    return op && op->is_host;
}

static void take_cut_span(struct fallback *f, const struct tm_event *event, struct tm_callback_name about,
                          int64_t start_ps, int64_t end_ps)
{
    struct open_callback *around = find_open(f, event->record.track);

    if (around) {
        learn(around, event, about);
    } else if (about.role == TM_ROLE_BEGINS) {
        begin_callback(f, event, about.kind, start_ps, end_ps);
    } else if (is_host_op(f, event)) {
        begin_callback(f, event, TM_HOST_CUSTOM_CALL, start_ps, end_ps);
    } else if (event->record.class == TM_CLASS_CPU_OP && f->is_accelerated) {
        const struct fallback_row row = { .name = event->record.name,
                                          .op = event->config->op,
                                          .sort = FALLBACK_CPU_OP };

        fallback_count(f, &row, start_ps, end_ps - start_ps);
    }
}

/* Whether a span is irrelevant: it starts no callback, is in none, and is not an operation. */
static bool is_nothing(const struct fallback *f, const struct tm_event *event, struct tm_callback_name about)
{
    return !f->open_count && about.role != TM_ROLE_BEGINS && event->record.class != TM_CLASS_CPU_OP && !f->has_host_op;
}

/* Thread events */
static void fallback_take_span(struct fallback *f, const struct tm_event *event, struct tm_callback_name about)
{
    int64_t start_ps = event->record.start_ps, end_ps = tm_sum_times(start_ps, event->record.dur_ps);

    if (!tm_is_host_span(event) || !f->trace->tracks || event->record.track >= tm_rows_count(f->trace->tracks) ||
        !tm_cut_to_window(&f->window, &start_ps, &end_ps))
        return;
    if (((const struct tm_track *)tm_rows_at(f->trace->tracks, event->record.track))->side == TM_SIDE_HOST)
        take_cut_span(f, event, about, start_ps, end_ps);
}

/* Most are Python functions, which matter only in a callback. */
static void fallback_take_spans(struct fallback *f, const struct tm_event *events, size_t count, uint32_t wanted)
{
    for (size_t i = 0; i < count; i++) {
        const struct tm_event *const event = &events[i];
        struct tm_callback_name about;

        if (!(event->wanted & wanted))
            continue;
        if (f->open_count)
            fallback_close_callbacks(f, event->record.start_ps);
        about = look_up(f, event);
        if (!is_nothing(f, event, about))
            fallback_take_span(f, event, about);
    }
}

/* The section fallback. */

static const char is_device[] = "the host is the device";

static int longest_first(const void *a, const void *b)
{
    const struct fallback_row *x = a, *y = b;

    if (x->total_ps != y->total_ps)
        return x->total_ps > y->total_ps ? -1 : 1;
    return tm_key_order(x->key, y->key);
}

static void add_row(struct fallback *f, const struct fallback_row *row, const struct tm_value *hosts,
                    struct tm_value *list)
{
    struct tm_value *to = tm_add_object(list, NULL);

    if (row->name)
        tm_add_name(to, "name", f->names, row->name);
    else
        tm_add_string(to, "name", callback_kind_name[row->kind]);
    if (row->sort == FALLBACK_CALLBACK)
        tm_add_string(to, "kind", callback_kind_name[row->kind]);
    tm_add_known_name(to, "op", f->names, row->op, "the profile does not record it");
    tm_add_uint(to, "count", row->count);
    tm_add_int(to, "total_ps", row->total_ps);
    tm_add_string(to, "host", tm_text(tm_at(hosts, row->longest.host)));
    tm_add_int(to, "begin_ps", row->longest.start_ps);
    tm_add_int(to, "longest_ps", row->longest.dur_ps);
}

/* Put the longest rows in order.  out: how many rows there are */
static uint64_t choose_rows(struct fallback *f, enum fallback_sort sort, struct tm_top_rows *top)
{
    const struct fallback_row *row;
    uint64_t distinct = 0;

    tm_groups_finish(f->rows);
    while ((row = tm_groups_next(f->rows))) {
        if (row->sort != sort)
            continue;
        distinct++;
        tm_top_rows_add(top, row);
    }
    tm_top_rows_sort(top);
    return distinct;
}

/* in: summary  with its hosts; section is in it */
static void add_sort(struct fallback *f, enum fallback_sort sort, const char *key, const struct tm_value *summary,
                     struct tm_value *section)
{
    struct tm_value *to = tm_add_object(section, key), *list, *rest;
    struct tm_top_rows *top =
        tm_listed_rows_new(f->run, sizeof(struct fallback_row), f->settings->table_rows, longest_first);
    struct fallback_sum left = f->sums[sort];
    uint64_t distinct;

    if (!top)
        return;
    distinct = choose_rows(f, sort, top);
    tm_add_uint(to, "count", left.count);
    tm_add_int(to, "total_ps", left.total_ps);
    list = tm_add_array(to, "rows");
    for (uint64_t i = 0; i < tm_top_rows_count(top) && !tm_failed(f->run); i++) {
        const struct fallback_row *row = tm_top_rows_at(top, i);

        left.count -= row->count < left.count ? row->count : left.count;
        left.total_ps -= row->total_ps < left.total_ps ? row->total_ps : left.total_ps;
        add_row(f, row, tm_path(summary, "input.hosts"), list);
    }
    rest = tm_add_object(to, "rest");
    tm_add_uint(rest, "rows", distinct - tm_top_rows_count(top));
    tm_add_uint(rest, "count", left.count);
    tm_add_int(rest, "total_ps", left.total_ps);
    tm_top_rows_free(top);
}

/* --- operations by where they ran --- */

/* An operation of a compiled program that the host took part in. */
struct place_row {
    struct tm_key key;           /* of its path; without one, of its name */
    struct fallback_sum sums[2]; /* on the device, on the host */
    tm_strid name, op;
    uint8_t sorts; /* bits of enum fallback_sort */
};

static void merge_places(void *into, const void *from)
{
    struct place_row *const a = into;
    const struct place_row *const b = from;

    for (int i = 0; i < 2; i++) {
        a->sums[i].count = tm_sum_counts(a->sums[i].count, b->sums[i].count);
        a->sums[i].total_ps = tm_sum_times(a->sums[i].total_ps, b->sums[i].total_ps);
    }
    a->name = a->name ? a->name : b->name; /* the rows come in the order of their keys */
    a->sorts |= b->sorts;
}

static int longest_on_host_first(const void *a, const void *b)
{
    const struct place_row *x = a, *y = b;

    for (int i = 1; i >= 0; i--)
        if (x->sums[i].total_ps != y->sums[i].total_ps)
            return x->sums[i].total_ps > y->sums[i].total_ps ? -1 : 1;
    return tm_key_order(x->key, y->key);
}

static void read_places(struct fallback *f, struct tm_groups *places)
{
    const struct fallback_row *row;

    tm_groups_rewind(f->rows);
    while ((row = tm_groups_next(f->rows))) {
        struct place_row place = { .name = row->name, .op = row->op, .sorts = (uint8_t)(1 << row->sort) };
        const char *const kind = callback_kind_name[row->kind];

        place.sums[row->sort != FALLBACK_HOST_OP] = (struct fallback_sum){ row->count, row->total_ps };
        if (!place.name)
            place.name = tm_names_put_string(f->names, kind);
        place.key = tm_names_info(f->names, row->op ? row->op : place.name).hash;
        tm_groups_add(places, &place);
    }
    tm_groups_finish(places);
}

static void add_place(struct fallback *f, const struct place_row *row, struct tm_value *list)
{
    static const char *const causes[] = { "callback", "cpu_op", "host_op" };
    struct tm_value *const to = tm_add_object(list, NULL);

    tm_add_name(to, "name", f->names, row->name);
    tm_add_known_name(to, "op", f->names, row->op, "the profile does not record it");
    tm_add_string(to, "ran_on", !row->sums[0].count ? "host" : row->sums[1].count ? "both" : "device");
    tm_add_string(to, "cause", causes[__builtin_ctz(row->sorts)]);
    tm_add_uint(to, "device_count", row->sums[0].count);
    tm_add_int(to, "device_ps", row->sums[0].total_ps);
    tm_add_uint(to, "host_count", row->sums[1].count);
    tm_add_int(to, "host_ps", row->sums[1].total_ps);
}

static void list_places(struct fallback *f, struct tm_groups *places, struct tm_top_rows *top, struct tm_value *section)
{
    struct tm_value *const to = tm_add_object(section, "placement"), *list, *rest;
    struct fallback_sum left[2] = { { 0, 0 }, { 0, 0 } };
    const struct place_row *row;
    uint64_t distinct = 0;

    for (; (row = tm_groups_next(places)); distinct++) {
        for (int i = 0; i < 2; i++)
            left[i].total_ps = tm_sum_times(left[i].total_ps, row->sums[i].total_ps);
        tm_top_rows_add(top, row);
    }
    tm_top_rows_sort(top);
    list = tm_add_array(to, "rows");
    for (uint64_t i = 0; i < tm_top_rows_count(top) && !tm_failed(f->run); i++) {
        row = tm_top_rows_at(top, i);
        add_place(f, row, list);
        for (int k = 0; k < 2; k++)
            left[k].total_ps -= row->sums[k].total_ps < left[k].total_ps ? row->sums[k].total_ps : left[k].total_ps;
    }
    rest = tm_add_object(to, "rest");
    tm_add_uint(rest, "rows", distinct - tm_top_rows_count(top));
    tm_add_int(rest, "device_ps", left[0].total_ps);
    tm_add_int(rest, "host_ps", left[1].total_ps);
}

static void add_places(struct fallback *f, struct tm_value *section)
{
    struct tm_groups *const places = tm_groups_new(f->run, TM_ACCOUNT_TABLES, sizeof(struct place_row),
                                                   fallback_memory(f->run, FALLBACK_PLACES), merge_places);
    struct tm_top_rows *const top =
        tm_listed_rows_new(f->run, sizeof(struct place_row), f->settings->table_rows, longest_on_host_first);

    if (places && top) {
        read_places(f, places);
        list_places(f, places, top, section);
    }
    tm_groups_free(places);
    tm_top_rows_free(top);
}

/* What the host did in a gap, if that gap is among the longest ones of the run. */
static const char *host_event_of(const struct tm_value *summary, const struct tm_stretch *trip)
{
    const struct tm_value *gaps = tm_path(summary, "gaps.longest");

    for (size_t i = 0; i < tm_length(gaps); i++) {
        const struct tm_value *gap = tm_at(gaps, i);

        if (tm_int(tm_get(gap, "begin_ps")) == trip->start_ps && tm_int(tm_get(gap, "dur_ps")) == trip->dur_ps &&
            strcmp(tm_text(tm_get(gap, "device")), trip->device) == 0)
            return tm_text(tm_get(gap, "host_event"));
    }
    return "";
}

static void add_trip(const struct tm_value *summary, const struct tm_stretch *trip, struct tm_value *list)
{
    struct tm_value *to = tm_add_object(list, NULL);
    const char *event = host_event_of(summary, trip);

    tm_add_string(to, "device", trip->device);
    tm_add_int(to, "begin_ps", trip->start_ps);
    tm_add_int(to, "dur_ps", trip->dur_ps);
    if (trip->bytes)
        tm_add_uint(to, "bytes", trip->bytes);
    else
        tm_add_null(to, "bytes", "the profile does not record the sizes of the copies");
    if (*event)
        tm_add_string(to, "host_event", event);
    else
        tm_add_null(to, "host_event", "only for the longest gaps of the run with host events");
}

static void add_trips(const struct fallback *f, const struct tm_value *summary, struct tm_value *section)
{
    struct tm_value *trips, *longest;

    if (!f->has_steps) {
        tm_add_null(section, "round_trips", "no steps are marked");
        return;
    }
    trips = tm_add_object(section, "round_trips");
    tm_add_uint(trips, "count", f->trip_count);
    tm_add_int(trips, "host_ps", f->trip_ps);
    if (f->trips_of_unknown_bytes < f->trip_count || !f->trip_count)
        tm_add_uint(trips, "bytes", f->trip_bytes);
    else
        tm_add_null(trips, "bytes", "the profile does not record the sizes of the copies");
    longest = tm_add_array(trips, "longest");
    for (uint32_t i = 0; i < f->trips_listed; i++)
        add_trip(summary, &f->trips[i], longest);
}

static tm_status fallback_report(struct tm_stage *s, struct tm_value *summary)
{
    struct fallback *f = s->state;
    struct tm_value *section;

    if (!f->has_accelerator && !f->has_cpu_device) {
        tm_add_null(summary, "fallback", "no device activity was recorded");
        return TM_OK;
    }
    section = tm_add_object(summary, "fallback");
    add_sort(f, FALLBACK_CALLBACK, "callbacks", summary, section);
    if (f->has_accelerator) {
        add_sort(f, FALLBACK_CPU_OP, "cpu_ops", summary, section);
        add_sort(f, FALLBACK_HOST_OP, "host_ops", summary, section);
        add_trips(f, summary, section);
        add_places(f, section);
    } else {
        tm_add_null(section, "cpu_ops", is_device);
        tm_add_null(section, "host_ops", is_device);
        tm_add_null(section, "round_trips", is_device);
        tm_add_null(section, "placement", is_device);
    }
    return s->run->error.status;
}

static tm_status open_stage(struct tm_stage *s)
{
    struct fallback *f = s->state;

    f->run = s->run;
    f->settings = s->settings;
    f->front = tm_take(&s->run->budget, TM_ACCOUNT_TABLES, FALLBACK_FRONT * sizeof(*f->front), &s->run->error);
    f->rows = tm_groups_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct fallback_row),
                            fallback_memory(s->run, FALLBACK_ROWS), merge_rows);
    return s->run->error.status;
}

/* --- hosts --- */

static void give_lanes(struct fallback *f)
{
    tm_give(&f->run->budget, TM_ACCOUNT_TABLES, f->lanes, f->lanes ? f->lane_count * sizeof(*f->lanes) : 0);
    f->lanes = NULL;
    f->lane_count = 0;
}

static void open_lanes(struct fallback *f)
{
    const struct tm_trace *trace = f->trace;

    f->lanes = tm_take(&f->run->budget, TM_ACCOUNT_TABLES, trace->device_count * sizeof(*f->lanes), &f->run->error);
    if (!f->lanes)
        return;
    f->lane_count = trace->device_count;
    for (uint32_t i = 0; i < f->lane_count; i++) {
        const bool is_cpu = trace->devices[i].kind == TM_DEVICE_CPU, is_active = trace->devices[i].activities != 0;

        f->lanes[i] = (struct trip_lane){ .until_ps = INT64_MIN, .is_used = is_active && !is_cpu };
        f->is_accelerated |= is_active && !is_cpu;
        f->has_cpu_device |= is_active && is_cpu;
    }
}

/* Whether the HLO has any op that works with the host. */
static bool look_for_host_ops(const struct tm_trace *trace)
{
    const uint64_t count = tm_rows_count(trace->hlo_ops);

    for (uint64_t i = 0; i < count; i++)
        if (((const struct tm_hlo_op *)tm_rows_at(trace->hlo_ops, i))->is_host)
            return true;
    return false;
}

static tm_status begin_host(struct tm_stage *s, const struct tm_trace *trace)
{
    struct fallback *f = s->state;

    f->trace = trace;
    f->names = trace->names;
    f->open_count = 0;
    f->is_accelerated = false;
    f->has_steps |= trace->steps.source != TM_STEPS_SESSION;
    memset(f->front, 0, FALLBACK_FRONT * sizeof(*f->front));
    f->has_host_op = look_for_host_ops(trace);
    tm_find_host_window(trace, f->settings, &f->window);
    if (trace->device_count)
        open_lanes(f);
    f->has_accelerator |= f->is_accelerated;
    return s->run->error.status;
}

static void fallback_take_activities(struct fallback *f, const struct tm_event *events, size_t count, uint32_t wanted);

/* Events that may be a callback, or describe an open one. */
static bool wants(struct tm_stage *s, const struct tm_event *event)
{
    struct fallback *f = s->state;
    struct tm_callback_name about;

    if (tm_is_on_accelerator(f->trace, event))
        return f->lanes[event->device].is_used && (event->level != TM_LEVEL_NONE || f->has_host_op);
    about = look_up(f, event);
    return about.role != TM_ROLE_NONE || about.kind != TM_CALLBACK || event->record.class == TM_CLASS_CPU_OP ||
           f->has_host_op;
}

static void take(struct tm_stage *s, const struct tm_event *events, size_t count)
{
    struct fallback *f = s->state;

    if (tm_is_on_accelerator(f->trace, events))
        fallback_take_activities(f, events, count, s->bit);
    else
        fallback_take_spans(f, events, count, s->bit);
}

static tm_status end_host(struct tm_stage *s)
{
    struct fallback *f = s->state;

    fallback_close_callbacks(f, INT64_MAX);
    give_lanes(f);
    f->trace = NULL;
    return s->run->error.status;
}

static void close_stage(struct tm_stage *s)
{
    struct fallback *f = s->state;

    if (!f->run)
        return;
    give_lanes(f);
    tm_give(&f->run->budget, TM_ACCOUNT_TABLES, f->front, f->front ? FALLBACK_FRONT * sizeof(*f->front) : 0);
    tm_groups_free(f->rows);
}

const struct tm_stage_type tm_fallback_stage = {
    .name = "fallback",
    .summary = "work on the host although a device is present",
    .state_bytes = sizeof(struct fallback),
    .classes = TM_CLASSES_ALL,
    .open = open_stage,
    .begin_host = begin_host,
    .wants = wants,
    .take = take,
    .end_host = end_host,
    .report = fallback_report,
    .save = fallback_save,
    .load = fallback_load,
    .close = close_stage,
};

/* Round trips of data to the host: a device is idle between the end of a copy to the host and the start of a copy from
 * it, in one step, and the host launches the second one in between: it did something with the data. */

static void count_trip(struct fallback *f, const struct trip_lane *lane, const struct tm_event *event)
{
    struct tm_stretch trip = { .start_ps = lane->gap_begin_ps,
                               .dur_ps = lane->gap_end_ps - lane->gap_begin_ps,
                               .host = f->trace->host };

    if (lane->d2h_bytes && event->config->has_copy_bytes)
        trip.bytes = tm_sum_counts(lane->d2h_bytes, event->config->copy_bytes);
    else
        f->trips_of_unknown_bytes = tm_sum_counts(f->trips_of_unknown_bytes, 1);
    memcpy(trip.device, f->trace->devices[event->device].id, sizeof(trip.device));
    f->trip_count = tm_sum_counts(f->trip_count, 1);
    f->trip_ps = tm_sum_times(f->trip_ps, trip.dur_ps);
    f->trip_bytes = tm_sum_counts(f->trip_bytes, trip.bytes);
    tm_stretches_add(f->trips, &f->trips_listed, FALLBACK_TRIPS, &trip);
}

/* The copy from the host that ends the gap. */
static bool is_back(const struct trip_lane *lane, const struct tm_event *event)
{
    return event->level == TM_LEVEL_H2D && event->chosen && event->record.start_ps == lane->gap_end_ps &&
           event->step == lane->d2h_step && event->launch_track != TM_NONE &&
           event->launch_start_ps >= lane->gap_begin_ps;
}

static void note_end(struct trip_lane *lane, const struct tm_event *event)
{
    const int64_t end_ps = event->record.start_ps + event->record.dur_ps;
    const bool is_d2h = event->level == TM_LEVEL_D2H && event->chosen;

    if (end_ps < lane->until_ps)
        return;
    if (end_ps > lane->until_ps)
        lane->ends_in_d2h = false;
    lane->until_ps = end_ps;
    if (!is_d2h)
        return;
    lane->ends_in_d2h = true;
    lane->d2h_step = event->step;
    lane->d2h_bytes = event->config->has_copy_bytes ? event->config->copy_bytes : 0;
}

/* An op of the device that works with the host. */
static void count_host_op(struct fallback *f, const struct tm_event *event)
{
    const struct tm_config *config = event->config;
    const struct fallback_row row = { .name = config->hlo_op ? config->hlo_op : event->record.name,
                                      .op = config->op,
                                      .sort = FALLBACK_HOST_OP };

    fallback_count(f, &row, event->record.start_ps, event->record.dur_ps);
}

static inline void take_activity(struct fallback *f, struct trip_lane *lane, const struct tm_event *event)
{
    const int64_t start_ps = event->record.start_ps;

    if (event->level != TM_LEVEL_NONE) {
        if (start_ps > lane->until_ps) {
            lane->is_after_d2h = lane->ends_in_d2h;
            lane->gap_begin_ps = lane->until_ps;
            lane->gap_end_ps = start_ps;
        }
        if (lane->is_after_d2h && is_back(lane, event)) {
            count_trip(f, lane, event);
            lane->is_after_d2h = false;
        }
        note_end(lane, event);
    }
    if (event->chosen && f->has_host_op && is_host_op(f, event))
        count_host_op(f, event);
}

/* Events of a device */
static void fallback_take_activities(struct fallback *f, const struct tm_event *events, size_t count, uint32_t wanted)
{
    struct trip_lane *const lane = &f->lanes[events->device];

    for (size_t i = 0; i < count; i++)
        if (events[i].wanted & wanted)
            take_activity(f, lane, &events[i]);
}
