/* SPDX-License-Identifier: Apache-2.0 */
/* The section ops out of the groups.  One pass over the operations picks those that take most time, sets down their
 * lengths for the share of the first ones, and finds what the roofline shows. */
#include <stdlib.h>
#include <string.h>

#include "stages/figures/fields.h"
#include "stages/figures/kernel_category.h"
#include "stages/figures/ops.h"
#include "stages/resolve/classes.h"

/* Rows of operations: what is kept of one in a partial and how two become one, which family it is of, and its members in
 * the tables of the summary. */

const struct tm_row_field tm_op_cost_fields[] = {
    TM_FIELD(struct op_cost, flops, WIDE, SUM),
    TM_FIELD(struct op_cost, bytes, WIDE, SUM),
    TM_FIELD(struct op_cost, flops_ps, TIME, SUM),
    TM_FIELD(struct op_cost, bytes_ps, TIME, SUM),
    TM_FIELDS_END,
};

#define ROW(member, kind, merge) TM_FIELD(struct op_row, member, kind, merge)
#define ROW_BELOW(member, kind, merge, limit) TM_FIELD_BELOW(struct op_row, member, kind, merge, limit)

const struct tm_row_field tm_op_fields[] = {
    ROW(key, WORD, KEEP),
    ROW(family, WORD, FIRST),
    TM_FIELD_STRUCTS(struct op_row, cost, struct op_cost, tm_op_cost_fields),
    ROW(count, COUNT, SUM),
    ROW(executions, COUNT, SUM),
    ROW(self_ps, TIME, SUM),
    ROW(total_ps, TIME, SUM),
    ROW(min_ps, TIME, MIN),
    ROW(max_ps, TIME, MAX),
    ROW(self_squares, WIDE, SUM),
    ROW(devices, DEVICES, ANY),
    ROW(first_ps, INSTANT, FIRST),
    ROW(first_dur_ps, TIME, FIRST),
    ROW(first_tie, WORD, FIRST),
    TM_FIELD_LOCAL(struct op_row, first_order, COUNT, FIRST),
    ROW(first_host, HOST, FIRST),
    ROW(first_device, DEVICE, FIRST),
    ROW(name, NAME, KEEP),
    ROW(module, NAME, KEEP),
    ROW(kernel, NAME, FIRST),
    ROW(opcode, NAME, FIRST),
    ROW(details, NAME, FIRST),
    ROW(category, NAME, FIRST),
    ROW(path, NAME, FIRST),
    ROW(source, NAME, FIRST),
    ROW_BELOW(class, U8, FIRST, TM_CLASS_COUNT),
    ROW_BELOW(level, U8, FIRST, TM_LEVEL_NONE + 1),
    ROW_BELOW(precision, U8, KEEP, TM_PRECISION_COUNT),
    ROW(has_matrix, BOOL, ANY),
    ROW(is_hlo, BOOL, ANY),
    ROW(is_opaque, BOOL, ANY),
    ROW(is_wait, BOOL, ANY),
    TM_FIELDS_END,
};

/* What an operation is, is told by its kernels, not by the fills that prepare for them. */
static bool is_earlier(const struct op_row *a, const struct op_row *b)
{
    const bool a_fills = a->class == TM_CLASS_MEMSET, b_fills = b->class == TM_CLASS_MEMSET;

    if (a_fills != b_fills)
        return b_fills;
    if (a->first_host != b->first_host)
        return a->first_host < b->first_host;
    if (a->first_ps != b->first_ps)
        return a->first_ps < b->first_ps;
    if (a->first_device != b->first_device)
        return a->first_device < b->first_device;
    if (a->first_tie != b->first_tie)
        return a->first_tie < b->first_tie;
    return a->first_order < b->first_order;
}

/* The widest type that is known: which of several comes first does not matter. */
static uint8_t wider(uint8_t a, uint8_t b)
{
    if (!a || !b)
        return a ? a : b;
    return a < b ? a : b;
}

void tm_op_merge(struct op_row *a, const struct op_row *b)
{
    tm_fields_merge(tm_op_fields, a, b);
    a->precision = wider(a->precision, b->precision);
    if (is_earlier(b, a))
        tm_fields_take_first(tm_op_fields, a, b);
}

/* Families of operations: those whose names are the same without numbers and whose framework paths are the same without
 * the numbers of layers.  A compiler numbers what comes several times, so that 64 layers are 64 operations. */

enum { TEXT_MOST = 4096 }; /* bytes of a text that are looked at */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Without one number at the end, or one mark of the compiler's: "fusion.17", "loop_add_fusion_3", "fusion.clone",
 * "dot.remat2".  The same where there is none. */
static size_t without_one(const char *text, size_t length)
{
    static const char *const marks[] = { ".clone", ".remat" };
    size_t n = length;

    while (n && is_digit(text[n - 1]))
        n--;
    if (n < length && n > 1 && (text[n - 1] == '.' || text[n - 1] == '_'))
        return n - 1;
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        const size_t mark = strlen(marks[i]);

        if (n > mark && !memcmp(text + n - mark, marks[i], mark))
            return n - mark;
    }
    return length;
}

size_t tm_op_family_name(const char *text, size_t length)
{
    size_t left = length;

    do {
        length = left;
        left = without_one(text, length);
    } while (left < length);
    return left;
}

/* "layer_17", "[17]", "blocks.17.attn": the number of a layer stands behind one of these and ends a word. */
static bool is_layer_number(const char *text, size_t begin, size_t end, size_t length)
{
    if (begin == 0 || !strchr("_.[", text[begin - 1]))
        return false;
    return end == length || strchr("/].:,)", text[end]) != NULL;
}

size_t tm_op_family_path(const char *text, size_t length, char *to, size_t most)
{
    size_t used = 0;

    for (size_t i = 0; i < length && used < most;) {
        size_t end = i, n;
        bool is_layer;

        while (end < length && is_digit(text[end]))
            end++;
        is_layer = end > i && is_layer_number(text, i, end, length);
        while (!is_layer && end < length && !is_digit(text[end]))
            end++;
        n = is_layer ? 1 : end - i;
        n = n < most - used ? n : most - used;
        memcpy(to + used, is_layer ? "*" : text + i, n);
        used += n;
        i = end;
    }
    return used;
}

/* Names that compilers give to whatever they fuse: without a path they tell nothing of what it is. */
static bool is_bare(const char *name, size_t length)
{
    static const char *const bare[] = {
        "fusion",     "loop_fusion", "input_fusion",  "output_fusion", "custom_fusion",
        "ynn_fusion", "xnn_fusion",  "onednn_fusion", "call",          "command_buffer",
    };

    for (size_t i = 0; i < sizeof(bare) / sizeof(bare[0]); i++)
        if (length == strlen(bare[i]) && !memcmp(name, bare[i], length))
            return true;
    return false;
}

/* What a text is in an operation. */
enum part { NAME_ALONE /* it has no path */, NAME, PATH };

/* A text as the family has it.  One so long that it is cut stays as it is, whole.
 * out: to[TEXT_MOST], *length; *is_whole  the text itself is meant */
static void text_of(struct ops *o, tm_strid id, enum part part, char *to, size_t *length, bool *is_whole)
{
    const char *text = tm_names_text(o->names, id, TEXT_MOST, length);

    *is_whole = *length >= TEXT_MOST;
    if (*is_whole)
        return;
    if (part == PATH) {
        *length = tm_op_family_path(text, *length, to, TEXT_MOST);
        return;
    }
    *length = tm_op_family_name(text, *length);
    *is_whole = part == NAME_ALONE && is_bare(text, *length);
    memcpy(to, text, *length);
}

static struct tm_key key_of(struct ops *o, tm_strid id, enum part part)
{
    char text[TEXT_MOST];
    size_t length = 0;
    bool is_whole = false;

    text_of(o, id, part, text, &length, &is_whole);
    return is_whole ? tm_names_info(o->names, id).hash : tm_hash_key(text, length);
}

struct tm_key tm_op_family_of(struct ops *o, const struct op_row *row)
{
    const struct tm_key halves[] = { key_of(o, row->name, row->path ? NAME : NAME_ALONE), key_of(o, row->path, PATH) };

    return tm_hash_key(halves, sizeof(halves));
}

static tm_strid put_text(struct ops *o, tm_strid id, enum part part)
{
    char text[TEXT_MOST];
    size_t length = 0;
    bool is_whole = false;

    text_of(o, id, part, text, &length, &is_whole);
    return is_whole ? id : tm_names_put(o->names, text, length);
}

/* What a family is called, and the path that it has in common, 0 = none.  Of any of its operations. */
static tm_strid family_title(struct ops *o, const struct op_row *row)
{
    return put_text(o, row->name, row->path ? NAME : NAME_ALONE);
}

static tm_strid family_scope(struct ops *o, const struct op_row *row)
{
    return row->path ? put_text(o, row->path, PATH) : 0;
}

/* --- in the summary --- */

enum { HLO_BYTES = 8192 };

const char *const tm_op_bound_name[OP_BOUND_COUNT] = {
    [OP_BOUND_COMPUTE] = "compute", [OP_BOUND_MEMORY] = "memory",   [OP_BOUND_LATENCY] = "latency",
    [OP_BOUND_NONE] = "none",       [OP_BOUND_UNKNOWN] = "unknown",
};

static const char not_told[] = "the profile does not tell";

static const char no_cost[] = "neither the profile nor the program's HLO tells what it costs";

/* in percent */
static double share_of(double part, int64_t whole)
{
    return whole > 0 ? 100 * part / (double)whole : 0;
}

static int64_t mean_of(const struct op_row *row)
{
    return (int64_t)(((unsigned __int128)(uint64_t)row->total_ps + row->count / 2) / row->count);
}

/* The opcode as the HLO has it, or out of the line that names a TPU's operation. */
static void add_opcode(struct ops *o, struct tm_listed_texts *texts, struct tm_value *to, const struct op_row *row)
{
    const char *text, *opcode;
    size_t length, opcode_length;

    if (row->opcode || !row->details) {
        tm_listed_text_or(texts, to, "opcode", row->opcode, not_told);
        return;
    }
    text = tm_names_text(o->names, row->details, HLO_BYTES, &length);
    tm_hlo_opcode(text, length, &opcode, &opcode_length);
    if (opcode_length)
        tm_add_text(to, "opcode", opcode, opcode_length);
    else
        tm_add_null(to, "opcode", not_told);
}

static void add_category(struct ops *o, struct tm_value *to, const struct op_row *row)
{
    const struct tm_category_question question = { .name = row->kernel,
                                                   .hlo_op = row->is_hlo ? row->name : 0,
                                                   .op = row->path,
                                                   .category = row->category,
                                                   .class = row->class,
                                                   .level = row->level,
                                                   .has_matrix = row->has_matrix,
                                                   .is_op = row->is_hlo };

    tm_add_string(to, "category", tm_category_name[tm_kernel_category_of(o->names, &question)]);
}

static void add_amount(struct tm_value *to, const char *key, struct tm_wide amount, bool is_known)
{
    if (!is_known)
        tm_add_null(to, key, no_cost);
    else if (amount.high)
        tm_add_double(to, key, op_number(amount));
    else
        tm_add_uint(to, key, amount.low);
}

static void add_rate(struct tm_value *to, const char *key, double rate, bool is_known)
{
    if (is_known)
        tm_add_double(to, key, rate);
    else
        tm_add_null(to, key, no_cost);
}

static const char *why_no_roof(const struct op_roof *roof)
{
    if (roof->bound == OP_BOUND_NONE)
        return "neither computing nor its memory limits it: it waits, or moves data between devices";
    if (!roof->has_bytes || !roof->has_flops)
        return no_cost;
    return "the peaks of the device are not known";
}

static void add_roof(struct tm_value *to, const struct op_row *row, const struct op_roof *roof)
{
    add_amount(to, "flops", row->cost.flops, roof->has_flops);
    add_amount(to, "bytes", row->cost.bytes, roof->has_bytes);
    add_rate(to, "flop_rate", roof->flop_rate, roof->has_flops);
    if (roof->has_bandwidth || !roof->has_bytes)
        add_rate(to, "bandwidth", roof->bandwidth, roof->has_bytes);
    else
        tm_add_null(to, "bandwidth", "it waits for what moves beside it, in a time of its own");
    if (roof->has_flops && roof->has_bytes && roof->bytes > 0)
        tm_add_double(to, "intensity", roof->flops / roof->bytes);
    else
        tm_add_null(to, "intensity", no_cost);
    tm_add_string(to, "bound", tm_op_bound_name[roof->bound]);
    if (roof->has_roof) {
        tm_add_string(to, "roof", tm_op_bound_name[roof->roof]);
        tm_add_double(to, "roof_pct", roof->roof_pct);
    } else {
        tm_add_null(to, "roof", why_no_roof(roof));
        tm_add_null(to, "roof_pct", why_no_roof(roof));
    }
}

static void add_times(struct tm_value *to, const struct op_row *row)
{
    tm_add_uint(to, "device_count", (uint64_t)__builtin_popcountll(row->devices));
    tm_add_uint(to, "count", row->count);
    tm_add_uint(to, "executions", row->executions);
    tm_add_int(to, "self_ps", row->self_ps);
    tm_add_stddev(to, "self_stddev_ps", row->count, row->self_ps, row->self_squares);
    tm_add_int(to, "total_ps", row->total_ps);
    tm_add_int(to, "mean_ps", mean_of(row));
    tm_add_int(to, "min_ps", row->min_ps);
    tm_add_int(to, "max_ps", row->max_ps);
}

static void add_texts(struct ops *o, struct tm_listed_texts *texts, struct tm_value *to, const struct op_row *row)
{
    tm_listed_text_add(texts, to, "name", row->name);
    tm_listed_text_or(texts, to, "module", row->module, not_told);
    add_opcode(o, texts, to, row);
    add_category(o, to, row);
    tm_listed_text_or(texts, to, "op", row->path, not_told);
    tm_listed_text_or(texts, to, "source", row->source, not_told);
}

/* Where it can be found in the trace: its first event. */
static void add_first(struct ops *o, struct tm_value *to, const struct op_row *row)
{
    const struct op_device *device = tm_rows_at(o->devices, row->first_device);
    struct tm_value *first = tm_add_object(to, "first");

    tm_add_string(first, "device", device->id);
    tm_add_int(first, "begin_ps", row->first_ps);
    tm_add_int(first, "dur_ps", row->first_dur_ps);
}

/* order of struct op_place */
static int by_family(const void *a, const void *b)
{
    return tm_key_order(((const struct op_place *)a)->key, ((const struct op_place *)b)->key);
}

static void add_family_place(const struct ops *o, struct tm_value *to, struct tm_key family)
{
    const struct op_place wanted = { family, 0 };
    const struct op_place *place =
        o->place_count ? bsearch(&wanted, o->places, o->place_count, sizeof(wanted), by_family) : NULL;

    if (place)
        tm_add_uint(to, "family", place->index);
    else
        tm_add_null(to, "family", "its family is not listed");
}

static void add_precision(struct tm_value *to, const struct op_row *row)
{
    if (row->precision)
        tm_add_string(to, "precision", tm_precision_name[row->precision]);
    else
        tm_add_null(to, "precision", not_told);
}

void tm_op_add_row(struct ops *o, struct tm_listed_texts *texts, struct tm_value *to, const struct op_row *row,
                   const struct op_roof *roof)
{
    add_texts(o, texts, to, row);
    add_precision(to, row);
    add_times(to, row);
    tm_add_double(to, "self_share_pct", share_of((double)row->self_ps, o->self_ps));
    add_family_place(o, to, row->family);
    add_roof(to, row, roof);
    add_first(o, to, row);
}

enum { SHARE_OF_FIRST_PCT = 80, FAMILIES_MOST = 500 };

struct report {
    struct ops *o;
    struct tm_top_rows *rows;     /* struct op_row */
    struct tm_groups *by_family;  /* struct family */
    struct tm_top_rows *families; /* struct family */
    struct tm_sorter *members;    /* struct member */
    struct tm_sorter *lengths;    /* int64_t: self time of what counts as one operation */
    uint64_t steps;               /* chosen ones; 1 at least */
    int64_t top_ps;               /* the longest of those */
    struct tm_listed_texts texts;
    struct op_peaks peaks;
    uint64_t distinct, distinct_families;
};

/* Operations of one family. */
struct family {
    struct op_row row; /* all together; key: of the family; name, module and path of the earliest one */
    uint64_t members;
    int64_t top_ps; /* self time of the longest one */
    struct tm_key top;
    tm_strid top_name;
    uint32_t unused; /* rows that spill have no holes */
};

/* Self time of an operation, by its family. */
struct member {
    struct tm_key family;
    int64_t self_ps;
};

/* So many are listed: their rows have more in them than those of operations. */
static uint64_t families_most(const struct ops *o)
{
    return o->settings->table_rows < FAMILIES_MOST ? o->settings->table_rows : FAMILIES_MOST;
}

/* --- orders --- */

static int longest_first(const void *a, const void *b)
{
    const struct op_row *x = a, *y = b;

    if (x->self_ps != y->self_ps)
        return x->self_ps > y->self_ps ? -1 : 1;
    return tm_key_order(x->key, y->key);
}

static int longest_length_first(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x < y) - (x > y);
}

static int longest_family_first(const void *a, const void *b)
{
    return longest_first(&((const struct family *)a)->row, &((const struct family *)b)->row);
}

static int compare_members(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    const int order = tm_key_order(x->family, y->family);

    return order ? order : (x->self_ps > y->self_ps) - (x->self_ps < y->self_ps);
}

/* --- families --- */

static void merge_families(void *into, const void *from)
{
    struct family *a = into;
    const struct family *b = from;

    a->members = tm_sum_counts(a->members, b->members);
    if (b->top_ps > a->top_ps || (b->top_ps == a->top_ps && tm_key_order(b->top, a->top) < 0)) {
        a->top_ps = b->top_ps;
        a->top = b->top;
        a->top_name = b->top_name;
    }
    tm_op_merge(&a->row, &b->row);
}

/* A program has an operation once: where there are more of a family than there are steps, they are one that it has many
 * times, each with a number. */
static bool counts_as_one(const struct report *r, const struct family *family)
{
    return family->members == 1 || family->members > r->steps;
}

static void add_to_family(struct report *r, const struct op_row *row)
{
    const struct member member = { row->family, row->self_ps };
    struct family family = {
        .row = *row, .members = 1, .top_ps = row->self_ps, .top = row->key, .top_name = row->name
    };

    family.row.key = row->family;
    tm_sorter_push(r->members, &member);
    tm_groups_add(r->by_family, &family);
}

static void add_length(struct report *r, int64_t self_ps)
{
    r->top_ps = self_ps > r->top_ps ? self_ps : r->top_ps;
    tm_sorter_push(r->lengths, &self_ps);
}

/* The lengths of what counts as one: of the family, or of each of its members, which come in the order of families.
 * in: *next  the first member; out: the first one of the next family */
static void add_lengths(struct report *r, const struct family *family, const void **next)
{
    const bool is_one = counts_as_one(r, family);

    if (is_one)
        add_length(r, family->row.self_ps);
    while (*next && tm_is_same_key(((const struct member *)*next)->family, family->row.key)) {
        if (!is_one)
            add_length(r, ((const struct member *)*next)->self_ps);
        *next = tm_sorter_next(r->members);
    }
}

static void read_families(struct report *r)
{
    const struct family *family;
    const void *member;

    tm_groups_finish(r->by_family);
    tm_sorter_finish(r->members);
    member = tm_sorter_next(r->members);
    while ((family = tm_groups_next(r->by_family))) {
        r->distinct_families++;
        tm_top_rows_add(r->families, family);
        add_lengths(r, family, &member);
    }
    tm_top_rows_sort(r->families);
}

static void find_places(struct report *r)
{
    struct ops *o = r->o;
    const uint64_t count = tm_top_rows_count(r->families);

    if (!count)
        return;
    o->places = tm_take(&o->run->budget, TM_ACCOUNT_TABLES, count * sizeof(*o->places), &o->run->error);
    if (!o->places)
        return;
    o->place_count = count;
    for (uint64_t i = 0; i < count; i++)
        o->places[i] = (struct op_place){ ((const struct family *)tm_top_rows_at(r->families, i))->row.key, i };
    qsort(o->places, count, sizeof(*o->places), by_family);
}

static void give_places(struct ops *o)
{
    tm_give(&o->run->budget, TM_ACCOUNT_TABLES, o->places, o->place_count * sizeof(*o->places));
    o->places = NULL;
    o->place_count = 0;
}

/* --- the pass --- */

static void take_row(struct report *r, struct op_roofs *roofs, const struct op_row *row)
{
    struct op_roof roof;

    tm_top_rows_add(r->rows, row);
    r->distinct++;
    add_to_family(r, row);
    tm_op_peaks(r->o, row->first_device, &r->peaks);
    tm_op_roof_of(row, &r->peaks.peaks, &roof);
    tm_op_roofs_add(r->o, roofs, row, &roof);
}

static void read_rows(struct report *r, struct op_roofs *roofs)
{
    const void *row;

    tm_groups_finish(r->o->groups);
    while ((row = tm_groups_next(r->o->groups)))
        take_row(r, roofs, row);
    tm_top_rows_sort(r->rows);
}

/* How many operations, or families that count as one, the longest first, make up so much of the self time. */
static uint64_t count_first(struct report *r)
{
    const unsigned __int128 wanted = (unsigned __int128)(uint64_t)r->o->self_ps * SHARE_OF_FIRST_PCT;
    unsigned __int128 sum = 0;
    const int64_t *length;
    uint64_t count = 0;

    tm_sorter_finish(r->lengths);
    for (; sum * 100 < wanted && (length = tm_sorter_next(r->lengths)); count++)
        sum += (uint64_t)*length;
    return count;
}

/* --- values --- */

/* --- the section --- */

static void add_rest(struct report *r, struct tm_value *ops, uint64_t listed, const struct op_row *sum)
{
    const struct ops *o = r->o;
    struct tm_value *rest = tm_add_object(ops, "rest");

    tm_add_uint(rest, "rows", r->distinct - listed);
    tm_add_uint(rest, "count", o->count > sum->count ? o->count - sum->count : 0);
    tm_add_int(rest, "self_ps", o->self_ps > sum->self_ps ? o->self_ps - sum->self_ps : 0);
    tm_add_int(rest, "total_ps", o->total_ps > sum->total_ps ? o->total_ps - sum->total_ps : 0);
}

static void add_rows(struct report *r, struct tm_value *ops)
{
    struct tm_value *list = tm_add_array(ops, "rows");
    const uint64_t count = tm_top_rows_count(r->rows);
    struct op_row sum = { .count = 0 };

    r->texts = tm_listed_texts(r->o->names, r->o->settings->table_rows);
    for (uint64_t i = 0; i < count; i++) {
        const struct op_row *row = tm_top_rows_at(r->rows, i);
        struct tm_value *to = tm_add_object(list, NULL);
        struct op_roof roof;

        tm_op_peaks(r->o, row->first_device, &r->peaks);
        tm_op_roof_of(row, &r->peaks.peaks, &roof);
        tm_op_add_row(r->o, &r->texts, to, row, &roof);
        sum.count = tm_sum_counts(sum.count, row->count);
        sum.self_ps = tm_sum_times(sum.self_ps, row->self_ps);
        sum.total_ps = tm_sum_times(sum.total_ps, row->total_ps);
        tm_add_double(to, "cumulative_pct", share_of((double)sum.self_ps, r->o->self_ps));
    }
    add_rest(r, ops, count, &sum);
}

static void add_family(struct report *r, struct tm_value *to, const struct family *family)
{
    const struct op_row *row = &family->row;
    struct op_roof roof;
    const tm_strid name = family_title(r->o, row), path = family_scope(r->o, row);

    tm_listed_text_add(&r->texts, to, "family", name);
    tm_listed_text_or(&r->texts, to, "op", path, not_told);
    tm_listed_text_add(&r->texts, to, "longest", family->top_name);
    add_category(r->o, to, row);
    tm_listed_text_or(&r->texts, to, "source", row->source, not_told);
    tm_op_peaks(r->o, row->first_device, &r->peaks);
    add_precision(to, row);
    tm_add_uint(to, "members", family->members);
    tm_add_bool(to, "counts_as_one", counts_as_one(r, family));
    add_times(to, row);
    tm_add_double(to, "share_pct", share_of((double)row->self_ps, r->o->self_ps));
    tm_op_roof_of(row, &r->peaks.peaks, &roof);
    add_roof(to, row, &roof);
    add_first(r->o, to, row);
}

static void add_families(struct report *r, struct tm_value *ops)
{
    struct tm_value *list = tm_add_array(ops, "families"), *rest;
    const uint64_t count = tm_top_rows_count(r->families);
    struct family sum = { .members = 0 };

    r->texts = tm_listed_texts(r->o->names, families_most(r->o));
    for (uint64_t i = 0; i < count; i++) {
        const struct family *family = tm_top_rows_at(r->families, i);
        struct tm_value *to = tm_add_object(list, NULL);

        add_family(r, to, family);
        sum.members = tm_sum_counts(sum.members, family->members);
        sum.row.count = tm_sum_counts(sum.row.count, family->row.count);
        sum.row.self_ps = tm_sum_times(sum.row.self_ps, family->row.self_ps);
        sum.row.total_ps = tm_sum_times(sum.row.total_ps, family->row.total_ps);
        tm_add_double(to, "cumulative_pct", share_of((double)sum.row.self_ps, r->o->self_ps));
    }
    rest = tm_add_object(ops, "families_rest");
    tm_add_uint(rest, "rows", r->distinct_families - count);
    tm_add_uint(rest, "members", r->distinct - sum.members);
    tm_add_uint(rest, "count", r->o->count > sum.row.count ? r->o->count - sum.row.count : 0);
    tm_add_int(rest, "self_ps", r->o->self_ps > sum.row.self_ps ? r->o->self_ps - sum.row.self_ps : 0);
    tm_add_int(rest, "total_ps", r->o->total_ps > sum.row.total_ps ? r->o->total_ps - sum.row.total_ps : 0);
}

static void add_section(struct report *r, struct tm_value *summary)
{
    const struct ops *o = r->o;
    struct tm_value *ops = tm_add_object(summary, "ops");
    const uint64_t first = count_first(r);

    tm_add_uint(ops, "count", o->count);
    tm_add_uint(ops, "distinct", r->distinct);
    tm_add_uint(ops, "distinct_families", r->distinct_families);
    tm_add_int(ops, "total_ps", o->total_ps);
    tm_add_int(ops, "self_ps", o->self_ps);
    if (o->self_ps)
        tm_add_double(ops, "top_share_pct", share_of((double)r->top_ps, o->self_ps));
    else
        tm_add_null(ops, "top_share_pct", "no operations in the analyzed steps");
    tm_add_uint(ops, "rows_for_80_pct", first);
    tm_add_string(ops, "basis", o->has_hlo ? "hlo_op" : "kernel");
    add_families(r, ops);
    add_rows(r, ops);
}

static void open_tables(struct report *r)
{
    struct ops *o = r->o;

    r->rows = tm_listed_rows_new(o->run, sizeof(struct op_row), o->settings->table_rows, longest_first);
    r->lengths =
        tm_sorter_new(o->run, TM_ACCOUNT_TABLES, sizeof(int64_t), ops_memory(o->run, OPS_SORT), longest_length_first);
    r->members = tm_sorter_new(o->run, TM_ACCOUNT_TABLES, sizeof(struct member), ops_memory(o->run, OPS_MEMBERS),
                               compare_members);
    r->by_family = tm_groups_new(o->run, TM_ACCOUNT_TABLES, sizeof(struct family), ops_memory(o->run, OPS_FAMILIES),
                                 merge_families);
    r->families = tm_listed_rows_new(o->run, sizeof(struct family), families_most(o), longest_family_first);
}

static uint64_t chosen_steps(const struct tm_value *summary)
{
    const struct tm_value *chosen = tm_path(summary, "steps.chosen");

    return tm_has(chosen) && tm_int(chosen) > 1 ? (uint64_t)tm_int(chosen) : 1;
}

tm_status tm_ops_report(struct tm_stage *s, struct tm_value *summary)
{
    struct report r = { .o = s->state };
    struct op_roofs roofs = { .far = NULL };

    if (!r.o->active_devices) {
        tm_add_null(summary, "ops", "no device activity was recorded");
        tm_add_null(summary, "roofline", "no device activity was recorded");
        return TM_OK;
    }
    r.steps = chosen_steps(summary);
    open_tables(&r);
    tm_op_roofs_open(r.o, &roofs);
    if (!tm_failed(s->run)) {
        read_rows(&r, &roofs);
        read_families(&r);
        find_places(&r);
        add_section(&r, summary);
        tm_op_roofline(r.o, &roofs, summary);
    }
    tm_op_roofs_close(&roofs);
    tm_top_rows_free(r.rows);
    tm_sorter_free(r.lengths);
    tm_sorter_free(r.members);
    give_places(r.o);
    tm_groups_free(r.by_family);
    tm_top_rows_free(r.families);
    return s->run->error.status;
}
