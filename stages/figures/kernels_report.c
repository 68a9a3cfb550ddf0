/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the section kernels from the groups.  One pass over the kernels picks the longest ones, folds them by name,
 * and stores what categories need in the order of the names, so that spilled strings are read sequentially.  A second
 * pass, over the lengths, finds the quantiles of the rows that are listed.  Lengths are kept by variant: those of a
 * name with several are sorted once more. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stages/figures/figure_rows.h"
#include "stages/figures/kernel_category.h"
#include "stages/figures/kernels.h"

enum { TEXT_WHOLE_BYTES = 8192, TIE_BYTES = 512 };

static const char not_recorded[] = "the profile does not record it";

struct report {
    struct tm_run *run;
    struct kernels *k;
    uint64_t table_rows;
    struct tm_listed_texts texts;
    struct tm_top_rows *rows;      /* struct kernel_row */
    struct tm_groups *by_name;     /* struct kernel_name_row */
    struct tm_top_rows *names;     /* struct kernel_name_row */
    struct tm_sorter *categories;  /* struct work */
    struct tm_sorter *variants;    /* struct variant */
    struct tm_lengths *of_names;   /* of names with several variants */
    const struct variant *variant; /* where the lengths are, in variants */
    bool is_of_several;            /* its name is a listed one with several variants */
    struct quantile_row *several;  /* of listed names with several variants */
    uint64_t several_count;
    uint64_t distinct, distinct_names;
};

/* The data that determines the category of a kernel, and its contribution. */
struct work {
    struct tm_category_question question;
    uint32_t unused; /* spilled rows have no padding */
    uint64_t count;
    int64_t total_ps;
};

/* The owner of the lengths of a variant. */
struct variant {
    uint64_t key, name; /* low halves */
};

/* Quantiles of one listed kernel, or name. */
struct quantile_row {
    uint64_t key;   /* low half */
    uint64_t index; /* of the listed row; names come after the kernels */
    uint64_t seen, p50_rank, p95_rank;
    int64_t p50_ps, p95_ps;
};

static struct tm_category_question question_of(const struct kernel_row *row)
{
    return (struct tm_category_question){ .name = row->name,
                                          .hlo_op = row->hlo_op,
                                          .op = row->op,
                                          .category = row->category,
                                          .class = row->class,
                                          .level = row->level,
                                          .has_matrix = row->matrix == KERNEL_WITH_MATRIX,
                                          .is_op = row->class == TM_CLASS_TPU_OP || row->class == TM_CLASS_CPU_OP };
}

/* --- orders --- */

static int longest_row_first(const void *a, const void *b)
{
    const struct kernel_row *x = a, *y = b;

    if (x->total_ps != y->total_ps)
        return x->total_ps > y->total_ps ? -1 : 1;
    return tm_key_order(x->key, y->key);
}

static int longest_name_first(const void *a, const void *b)
{
    const struct kernel_name_row *x = a, *y = b;

    if (x->total_ps != y->total_ps)
        return x->total_ps > y->total_ps ? -1 : 1;
    return tm_key_order(x->key, y->key);
}

static int by_variant(const void *a, const void *b)
{
    const struct variant *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

static int by_text_number(const void *a, const void *b)
{
    const struct work *x = a, *y = b;

    return (x->question.name > y->question.name) - (x->question.name < y->question.name);
}

/* The order of the bytes of two names, up to a length. */
static int by_name_text(struct tm_names *names, tm_strid a, tm_strid b)
{
    char kept[TIE_BYTES];
    const char *text;
    size_t kept_length, length;
    int difference;

    text = tm_names_text(names, a, sizeof(kept), &kept_length);
    memcpy(kept, text, kept_length);
    text = tm_names_text(names, b, sizeof(kept), &length);
    difference = memcmp(kept, text, length < kept_length ? length : kept_length);
    return difference ? difference : (kept_length > length) - (kept_length < length);
}

static int row_as_listed(const void *a, const void *b, void *to)
{
    const struct kernel_row *x = a, *y = b;
    const int difference = x->total_ps == y->total_ps ? by_name_text(to, x->name, y->name) : 0;

    return difference ? difference : longest_row_first(a, b);
}

static int name_as_listed(const void *a, const void *b, void *to)
{
    const struct kernel_name_row *x = a, *y = b;
    const int difference = x->total_ps == y->total_ps ? by_name_text(to, x->name, y->name) : 0;

    return difference ? difference : longest_name_first(a, b);
}

static void list_in_order(const struct report *r, struct tm_top_rows *top, size_t row_bytes,
                          int (*order)(const void *, const void *, void *))
{
    const uint64_t count = tm_top_rows_count(top);

    if (count > 1)
        qsort_r(tm_top_rows_at(top, 0), count, row_bytes, order, r->k->names);
}

/* --- the pass over the kernels --- */

static void merge_names(void *into, const void *from)
{
    struct kernel_name_row *a = into;
    const struct kernel_name_row *b = from;

    a->count += b->count;
    a->variants += b->variants;
    a->total_ps = tm_sum_times(a->total_ps, b->total_ps);
    a->min_ps = b->min_ps < a->min_ps ? b->min_ps : a->min_ps;
    a->max_ps = b->max_ps > a->max_ps ? b->max_ps : a->max_ps;
    a->squares = tm_sum_wide(a->squares, tm_wide_value(b->squares));
    a->devices |= b->devices;
    if (b->top_ps < a->top_ps || (b->top_ps == a->top_ps && tm_key_order(b->top, a->top) >= 0))
        return;
    a->top = b->top;
    a->top_ps = b->top_ps;
    a->hlo_op = b->hlo_op;
    a->op = b->op;
    a->category = b->category;
    a->class = b->class;
    a->level = b->level;
    a->matrix = b->matrix;
}

static void open_tables(struct report *r)
{
    struct tm_run *run = r->run;
    r->rows = tm_listed_rows_new(run, sizeof(struct kernel_row), r->table_rows, longest_row_first);
    r->by_name = tm_groups_new(run, TM_ACCOUNT_TABLES, sizeof(struct kernel_name_row),
                               kernels_memory(run, KERNELS_NAMES), merge_names);
    r->categories =
        tm_sorter_new(run, TM_ACCOUNT_TABLES, sizeof(struct work), kernels_memory(run, KERNELS_SORT), by_text_number);
    r->variants = tm_sorter_new(run, TM_ACCOUNT_TABLES, sizeof(struct variant), kernels_memory(run, KERNELS_VARIANTS),
                                by_variant);
}

static void add_row(struct report *r, const struct kernel_row *row)
{
    const struct kernel_name_row name = { .key = row->name_hash,
                                          .count = row->count,
                                          .variants = 1,
                                          .total_ps = row->total_ps,
                                          .min_ps = row->min_ps,
                                          .max_ps = row->max_ps,
                                          .squares = row->squares,
                                          .devices = row->devices,
                                          .top = row->key,
                                          .top_ps = row->total_ps,
                                          .name = row->name,
                                          .hlo_op = row->hlo_op,
                                          .op = row->op,
                                          .category = row->category,
                                          .class = row->class,
                                          .level = row->level,
                                          .matrix = row->matrix };
    const struct variant variant = { row->key.low, row->name_hash.low };
    const struct work work = {
        .question = question_of(row),
        .count = row->count,
        .total_ps = row->total_ps,
    };

    tm_top_rows_add(r->rows, row);
    r->distinct++;
    tm_groups_add(r->by_name, &name);
    tm_sorter_push(r->variants, &variant);
    tm_sorter_push(r->categories, &work);
}

static void read_kernels(struct report *r)
{
    const void *row;

    tm_groups_finish(r->k->by_key);
    while ((row = tm_groups_next(r->k->by_key)))
        add_row(r, row);
    tm_groups_free(r->k->by_key); /* frees its memory for what follows */
    r->k->by_key = NULL;
    list_in_order(r, r->rows, sizeof(struct kernel_row), row_as_listed);
}

static void read_names(struct report *r)
{
    const void *row;

    tm_groups_finish(r->by_name);
    r->names = tm_listed_rows_new(r->run, sizeof(struct kernel_name_row), r->table_rows, longest_name_first);
    if (!r->names)
        return;
    while ((row = tm_groups_next(r->by_name))) {
        r->distinct_names++;
        tm_top_rows_add(r->names, row);
    }
    list_in_order(r, r->names, sizeof(struct kernel_name_row), name_as_listed);
}

/* --- values --- */

static void add_name(struct report *r, struct tm_value *to, const char *key, tm_strid id)
{
    tm_listed_text_add(&r->texts, to, key, id);
}

static void add_known_name(struct report *r, struct tm_value *to, const char *key, tm_strid id)
{
    tm_listed_text_or(&r->texts, to, key, id, not_recorded);
}

static void add_shape(struct tm_value *to, const char *key, const uint32_t shape[3])
{
    char text[40];

    if (!shape[0] && !shape[1] && !shape[2]) {
        tm_add_null(to, key, not_recorded);
        return;
    }
    (void)snprintf(text, sizeof(text), "%u,%u,%u", shape[0], shape[1], shape[2]);
    tm_add_string(to, key, text);
}

/* The precision by the op's HLO, else by the kernel's name or the op's HLO line.  Only the kernel's name shows that an
 * f32 product is computed in tf32. */
static const char *precision_of(const struct kernel_row *row, bool is_op, const char *text, size_t length)
{
    const char *told = is_op ? tm_precision_of_hlo(text, length) : tm_precision_in(text, length);

    if (!row->precision || (row->precision == TM_F32 && told && !strcmp(told, "tf32")))
        return told;
    return tm_precision_name[row->precision];
}

/* Whether it uses Tensor Cores: 1 yes, 0 no, -1 unknown.  Without a matmul it does not; otherwise the name decides,
 * else the type: narrow types are multiplied nowhere else. */
static int tensor_core_of(const struct kernel_row *row, const char *name, size_t length)
{
    const int told = tm_tensor_core_in(name, length);

    if (row->class == TM_CLASS_COPY || row->class == TM_CLASS_MEMSET || row->matrix == KERNEL_WITHOUT_MATRIX)
        return 0;
    if (told >= 0 || row->matrix != KERNEL_WITH_MATRIX)
        return told;
    switch ((enum tm_precision)row->precision) {
    case TM_TF32:
    case TM_BF16:
    case TM_F16:
    case TM_F8:
    case TM_INT8:
    case TM_INT4:
        return 1;
    default:
        return -1;
    }
}

/* Precision, and whether it runs on Tensor Cores. */
static void add_precision(struct report *r, struct tm_value *to, const struct kernel_row *row)
{
    const bool is_op = row->class == TM_CLASS_TPU_OP || row->class == TM_CLASS_CPU_OP;
    const char *precision, *text;
    size_t length;
    int tensor_core;

    text = tm_names_text(r->k->names, is_op ? row->details : row->name, TEXT_WHOLE_BYTES, &length);
    precision = precision_of(row, is_op, text, length);
    tensor_core = is_op ? -1 : tensor_core_of(row, text, length);
    if (precision)
        tm_add_string(to, "precision", precision);
    else
        tm_add_null(to, "precision", is_op ? not_recorded : "not derivable from the name");
    if (tensor_core >= 0)
        tm_add_bool(to, "tensor_core", tensor_core == 1);
    else
        tm_add_null(to, "tensor_core", is_op ? "only GPU kernels are classified" : "not derivable from the name");
}

static void add_launch(struct tm_value *to, const struct kernel_row *row)
{
    if (row->occupancy_ps > 0)
        tm_add_double(to, "occupancy_pct", (double)tm_wide_value(row->occupancy) / (double)row->occupancy_ps / 1000.0);
    else
        tm_add_null(to, "occupancy_pct", not_recorded);
    add_shape(to, "grid", row->grid);
    add_shape(to, "block", row->block);
    if (row->registers)
        tm_add_uint(to, "registers", row->registers);
    else
        tm_add_null(to, "registers", not_recorded);
    if (row->has_kernel)
        tm_add_uint(to, "shared_bytes", row->shared_bytes);
    else
        tm_add_null(to, "shared_bytes", not_recorded);
    tm_add_uint(to, "device_count", (uint64_t)__builtin_popcountll(row->devices));
}

static void add_quantiles(struct tm_value *to, const struct quantile_row *q, uint64_t count)
{
    const char *const unclear = "two kernels could not be told apart";

    if (q->seen == count) {
        tm_add_int(to, "p50_ps", q->p50_ps);
        tm_add_int(to, "p95_ps", q->p95_ps);
        return;
    }
    tm_add_null(to, "p50_ps", unclear);
    tm_add_null(to, "p95_ps", unclear);
}

static int64_t mean_of(int64_t total, uint64_t count)
{
    return (int64_t)(((unsigned __int128)(uint64_t)total + count / 2) / count);
}

static void add_kernel(struct report *r, struct tm_value *rows, const struct kernel_row *row,
                       const struct quantile_row *q)
{
    const struct tm_category_question question = question_of(row);
    struct tm_value *to = tm_add_object(rows, NULL);

    add_name(r, to, "name", row->name);
    tm_add_string(to, "class", tm_class_name[row->class]);
    add_known_name(r, to, "op", row->op);
    add_known_name(r, to, "hlo_op", row->hlo_op);
    tm_add_string(to, "category", tm_category_name[tm_kernel_category_of(r->k->names, &question)]);
    tm_add_uint(to, "count", row->count);
    tm_add_int(to, "total_ps", row->total_ps);
    tm_add_int(to, "min_ps", row->min_ps);
    tm_add_int(to, "max_ps", row->max_ps);
    tm_add_int(to, "mean_ps", mean_of(row->total_ps, row->count));
    tm_add_stddev(to, "stddev_ps", row->count, row->total_ps, row->squares);
    add_quantiles(to, q, row->count);
    tm_add_double(to, "share_pct", tm_share_of(row->total_ps, r->k->total_ps));
    add_launch(to, row);
    add_precision(r, to, row);
}

/* --- quantiles --- */

static int compare_keys(const void *a, const void *b)
{
    const struct quantile_row *x = a, *y = b;

    return (x->key > y->key) - (x->key < y->key);
}

static int by_index(const void *a, const void *b)
{
    const struct quantile_row *x = a, *y = b;

    return (x->index > y->index) - (x->index < y->index);
}

/* The index of the smallest value that at least `per_mille` of the values do not exceed (nearest rank). */
static uint64_t rank_of(uint64_t count, unsigned per_mille)
{
    return (uint64_t)(((unsigned __int128)count * per_mille + 999) / 1000) - 1;
}

static void count_lengths(struct quantile_row *q, struct tm_length_span *span)
{
    const uint64_t count = tm_length_span_total(span);

    /* A rank that was passed is far above: the difference wraps around. */
    if (q->p50_rank - q->seen < count)
        q->p50_ps = (int64_t)tm_length_span_at_rank(span, q->p50_rank - q->seen);
    if (q->p95_rank - q->seen < count)
        q->p95_ps = (int64_t)tm_length_span_at_rank(span, q->p95_rank - q->seen);
    q->seen += count;
}

static void count_in(struct quantile_row *q, uint64_t count, uint64_t *at, struct tm_length_span *span)
{
    while (*at < count && q[*at].key < span->group)
        ++*at;
    if (*at < count && q[*at].key == span->group)
        count_lengths(&q[*at], span);
}

/* A kernel and a name with this kernel only have the same key, and the first of them was counted for both. */
static void share_quantiles(struct quantile_row *q, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++) {
        if (q[i].key != q[i - 1].key)
            continue;
        q[i].seen = q[i - 1].seen;
        q[i].p50_ps = q[i - 1].p50_ps;
        q[i].p95_ps = q[i - 1].p95_ps;
    }
}

static void next_variant(struct report *r)
{
    struct quantile_row wanted = { .key = 0 };

    r->variant = tm_sorter_next(r->variants);
    wanted.key = r->variant ? r->variant->name : 0;
    r->is_of_several =
        r->variant && bsearch(&wanted, r->several, r->several_count, sizeof(wanted), compare_keys) != NULL;
}

/* Lengths of a variant, passed on if it is one of several that a listed name has.  Lengths and variants both come in
 * the order of the key. */
static void hand_on_lengths(struct report *r, const struct tm_length_span *span)
{
    tm_length_place place = 0;

    while (r->variant && r->variant->key < span->group)
        next_variant(r);
    if (!r->is_of_several || r->variant->key != span->group)
        return;
    for (size_t i = 0; i < span->count; i++) {
        const uint64_t value = tm_length_span_value(span, i), count = tm_length_span_count(span, i);

        if (count == 1)
            tm_lengths_add_at(r->of_names, &place, r->variant->name, value);
        else
            tm_lengths_add(r->of_names, r->variant->name, value, count);
    }
}

/* For the kernels and the names with one variant; lengths of the others are passed on. */
static void read_lengths(struct report *r, struct quantile_row *q, uint64_t count)
{
    struct tm_length_span span;
    uint64_t at = 0;

    tm_sorter_finish(r->variants);
    next_variant(r);
    tm_lengths_finish_spans(r->k->lengths);
    while (tm_lengths_next_span(r->k->lengths, &span)) {
        count_in(q, count, &at, &span);
        if (r->several_count)
            hand_on_lengths(r, &span);
    }
}

static void read_lengths_of_names(struct report *r)
{
    struct tm_length_span span;
    uint64_t at = 0;

    tm_lengths_finish_spans(r->of_names);
    while (tm_lengths_next_span(r->of_names, &span))
        count_in(r->several, r->several_count, &at, &span);
}

static struct quantile_row begin_quantiles(uint64_t key, uint64_t index, uint64_t count)
{
    return (struct quantile_row){
        .key = key, .index = index, .p50_rank = rank_of(count, 500), .p95_rank = rank_of(count, 950)
    };
}

/* For the listed kernels, followed by the listed names. A name with one variant has its lengths. */
static void find_quantiles(struct report *r, struct quantile_row *q)
{
    const uint64_t kernels = tm_top_rows_count(r->rows), names = tm_top_rows_count(r->names);
    uint64_t first = 0, last = kernels + names;

    for (uint64_t i = 0; i < kernels; i++) {
        const struct kernel_row *row = tm_top_rows_at(r->rows, i);

        q[first++] = begin_quantiles(row->key.low, i, row->count);
    }
    for (uint64_t i = 0; i < names; i++) {
        const struct kernel_name_row *row = tm_top_rows_at(r->names, i);

        if (row->variants > 1)
            q[--last] = begin_quantiles(row->key.low, kernels + i, row->count);
        else
            q[first++] = begin_quantiles(row->top.low, kernels + i, row->count);
    }
    r->several = q + first;
    r->several_count = kernels + names - first;
    qsort(q, first, sizeof(*q), compare_keys);
    qsort(r->several, r->several_count, sizeof(*q), compare_keys);
    read_lengths(r, q, first);
    share_quantiles(q, first);
    if (r->several_count)
        read_lengths_of_names(r);
    qsort(q, kernels + names, sizeof(*q), by_index);
}

static void add_rest(struct tm_value *kernels, const char *key, uint64_t rows, uint64_t count, int64_t total_ps)
{
    struct tm_value *rest = tm_add_object(kernels, key);

    tm_add_uint(rest, "rows", rows);
    tm_add_uint(rest, "count", count);
    tm_add_int(rest, "total_ps", total_ps);
}

static void add_rows(struct report *r, struct tm_value *kernels, const struct quantile_row *q)
{
    const uint64_t count = tm_top_rows_count(r->rows);
    struct tm_value *rows = tm_add_array(kernels, "rows");
    uint64_t listed = 0;
    int64_t listed_ps = 0;

    for (uint64_t i = 0; i < count; i++) {
        const struct kernel_row *row = tm_top_rows_at(r->rows, i);

        listed += row->count;
        listed_ps = tm_sum_times(listed_ps, row->total_ps);
        add_kernel(r, rows, row, &q[i]);
    }
    add_rest(kernels, "rest", r->distinct - count, r->k->count - listed, r->k->total_ps - listed_ps);
}

/* --- the other tables --- */

/* The time-weighted mean length: the sum of squares over the sum. */
static int64_t weighted_mean_of(const struct kernels *k)
{
    unsigned __int128 mean = tm_wide_value(k->compute_squares);

    if (!k->compute_ps)
        return 0;
    mean = mean / (uint64_t)k->compute_ps + (mean % (uint64_t)k->compute_ps * 2 >= (uint64_t)k->compute_ps);
    return mean > INT64_MAX ? INT64_MAX : (int64_t)mean;
}

static void add_means(struct report *r, struct tm_value *kernels)
{
    const struct kernels *k = r->k;
    static const char none[] = "no kernels in the analyzed steps";
    static const char none_computes[] = "no kernels that compute in the analyzed steps";

    tm_add_uint(kernels, "compute_count", k->compute_count);
    tm_add_int(kernels, "compute_ps", k->compute_ps);
    if (k->compute_count) {
        tm_add_int(kernels, "weighted_mean_ps", weighted_mean_of(k));
        tm_add_int(kernels, "compute_mean_ps", mean_of(k->compute_ps, k->compute_count));
    } else {
        tm_add_null(kernels, "weighted_mean_ps", none_computes);
        tm_add_null(kernels, "compute_mean_ps", none_computes);
    }
    if (k->count)
        tm_add_int(kernels, "mean_ps", mean_of(k->total_ps, k->count));
    else
        tm_add_null(kernels, "mean_ps", none);
}

struct category_sum {
    enum tm_kernel_category category;
    uint64_t count;
    int64_t total_ps;
};

static int longest_category_first(const void *a, const void *b)
{
    const struct category_sum *x = a, *y = b;

    if (x->total_ps != y->total_ps)
        return x->total_ps > y->total_ps ? -1 : 1;
    return (x->category > y->category) - (x->category < y->category);
}

static void sum_categories(struct report *r, struct category_sum sums[TM_CATEGORY_COUNT])
{
    const struct work *work;

    tm_sorter_finish(r->categories);
    while ((work = tm_sorter_next(r->categories))) {
        const enum tm_kernel_category category = tm_kernel_category_of(r->k->names, &work->question);

        sums[category].count += work->count;
        sums[category].total_ps = tm_sum_times(sums[category].total_ps, work->total_ps);
    }
}

static void add_categories(struct report *r, struct tm_value *kernels)
{
    struct tm_value *list = tm_add_array(kernels, "by_category");
    struct category_sum sums[TM_CATEGORY_COUNT] = { { .count = 0 } };

    sum_categories(r, sums);
    for (int i = 0; i < TM_CATEGORY_COUNT; i++)
        sums[i].category = (enum tm_kernel_category)i;
    qsort(sums, TM_CATEGORY_COUNT, sizeof(sums[0]), longest_category_first);
    for (int i = 0; i < TM_CATEGORY_COUNT; i++) {
        struct tm_value *to;

        if (!sums[i].count)
            continue;
        to = tm_add_object(list, NULL);
        tm_add_string(to, "category", tm_category_name[sums[i].category]);
        tm_add_uint(to, "count", sums[i].count);
        tm_add_int(to, "total_ps", sums[i].total_ps);
        tm_add_double(to, "share_pct", tm_share_of(sums[i].total_ps, r->k->total_ps));
    }
}

static void add_name_row(struct report *r, struct tm_value *to, const struct kernel_name_row *row,
                         const struct quantile_row *q)
{
    const struct tm_category_question question = {
        .name = row->name,
        .hlo_op = row->hlo_op,
        .op = row->op,
        .category = row->category,
        .class = row->class,
        .level = row->level,
        .has_matrix = row->matrix == KERNEL_WITH_MATRIX,
        .is_op = row->class == TM_CLASS_TPU_OP || row->class == TM_CLASS_CPU_OP,
    };

    add_name(r, to, "name", row->name);
    tm_add_string(to, "category", tm_category_name[tm_kernel_category_of(r->k->names, &question)]);
    tm_add_uint(to, "variants", row->variants);
    tm_add_uint(to, "count", row->count);
    tm_add_int(to, "total_ps", row->total_ps);
    tm_add_double(to, "share_pct", tm_share_of(row->total_ps, r->k->total_ps));
    tm_add_int(to, "min_ps", row->min_ps);
    tm_add_int(to, "max_ps", row->max_ps);
    tm_add_int(to, "mean_ps", mean_of(row->total_ps, row->count));
    tm_add_stddev(to, "stddev_ps", row->count, row->total_ps, row->squares);
    add_quantiles(to, q, row->count);
    tm_add_uint(to, "device_count", (uint64_t)__builtin_popcountll(row->devices));
}

/* in: q  of the names */
static void add_names(struct report *r, struct tm_value *kernels, const struct quantile_row *q)
{
    struct tm_value *list = tm_add_array(kernels, "by_name");
    const uint64_t rows = tm_top_rows_count(r->names);
    uint64_t listed = 0;
    int64_t listed_ps = 0;

    for (uint64_t i = 0; i < rows; i++) {
        const struct kernel_name_row *row = tm_top_rows_at(r->names, i);

        add_name_row(r, tm_add_object(list, NULL), row, &q[i]);
        listed += row->count;
        listed_ps = tm_sum_times(listed_ps, row->total_ps);
    }
    tm_add_uint(kernels, "distinct_names", r->distinct_names);
    add_rest(kernels, "by_name_rest", r->distinct_names - rows, r->k->count - listed, r->k->total_ps - listed_ps);
}

static void add_tables(struct report *r, struct tm_value *kernels, const struct quantile_row *q)
{
    r->texts = tm_listed_texts(r->k->names, r->table_rows);
    add_rows(r, kernels, q);
    add_means(r, kernels);
    add_categories(r, kernels);
    r->texts = tm_listed_texts(r->k->names, r->table_rows);
    r->texts.room_bytes /= 2;
    add_names(r, kernels, q + tm_top_rows_count(r->rows));
}

static void add_section(struct report *r, struct tm_value *summary)
{
    struct tm_value *kernels = tm_add_object(summary, "kernels");
    const size_t bytes = (tm_top_rows_count(r->rows) + tm_top_rows_count(r->names)) * sizeof(struct quantile_row);
    struct quantile_row *q = tm_take(&r->run->budget, TM_ACCOUNT_TABLES, bytes, &r->run->error);

    if (!q)
        return;
    tm_add_uint(kernels, "count", r->k->count);
    tm_add_int(kernels, "total_ps", r->k->total_ps);
    tm_add_uint(kernels, "distinct", r->distinct);
    find_quantiles(r, q);
    add_tables(r, kernels, q);
    tm_give(&r->run->budget, TM_ACCOUNT_TABLES, q, bytes);
}

tm_status tm_kernels_report(struct tm_stage *s, struct tm_value *summary)
{
    struct report r = { .run = s->run, .k = s->state, .table_rows = s->settings->table_rows };

    if (!r.k->active_devices) {
        tm_add_null(summary, "kernels", "no device activity was recorded");
        return TM_OK;
    }
    open_tables(&r);
    if (!tm_failed(s->run)) {
        read_kernels(&r);
        read_names(&r);
        r.of_names = tm_lengths_new(s->run, TM_ACCOUNT_TABLES, kernels_memory(s->run, KERNELS_OF_NAMES));
    }
    if (!tm_failed(s->run))
        add_section(&r, summary);
    tm_top_rows_free(r.rows);
    tm_top_rows_free(r.names);
    tm_groups_free(r.by_name);
    tm_sorter_free(r.categories);
    tm_sorter_free(r.variants);
    tm_lengths_free(r.of_names);
    return s->run->error.status;
}
