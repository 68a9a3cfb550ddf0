/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of operations: what is kept of one in a partial and how two become one, which family it is of, and its members in
 * the tables of the summary. */
#include <stdlib.h>
#include <string.h>

#include "stages/figures/fields.h"
#include "stages/figures/kernel_category.h"
#include "stages/figures/ops.h"
#include "stages/resolve/classes.h"

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

tm_strid tm_op_family_title(struct ops *o, const struct op_row *row)
{
    return put_text(o, row->name, row->path ? NAME : NAME_ALONE);
}

tm_strid tm_op_family_scope(struct ops *o, const struct op_row *row)
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

double tm_op_share(double part, int64_t whole)
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

void tm_op_add_category(struct ops *o, struct tm_value *to, const struct op_row *row)
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

void tm_op_add_roof(struct tm_value *to, const struct op_row *row, const struct op_roof *roof)
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

void tm_op_add_times(struct tm_value *to, const struct op_row *row)
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
    tm_op_add_category(o, to, row);
    tm_listed_text_or(texts, to, "op", row->path, not_told);
    tm_listed_text_or(texts, to, "source", row->source, not_told);
}

/* Where it can be found in the trace: its first event. */
void tm_op_add_first(struct ops *o, struct tm_value *to, const struct op_row *row)
{
    const struct op_device *device = tm_rows_at(o->devices, row->first_device);
    struct tm_value *first = tm_add_object(to, "first");

    tm_add_string(first, "device", device->id);
    tm_add_int(first, "begin_ps", row->first_ps);
    tm_add_int(first, "dur_ps", row->first_dur_ps);
}

int tm_op_by_family(const void *a, const void *b)
{
    return tm_key_order(((const struct op_place *)a)->key, ((const struct op_place *)b)->key);
}

static void add_family_place(const struct ops *o, struct tm_value *to, struct tm_key family)
{
    const struct op_place wanted = { family, 0 };
    const struct op_place *place =
        o->place_count ? bsearch(&wanted, o->places, o->place_count, sizeof(wanted), tm_op_by_family) : NULL;

    if (place)
        tm_add_uint(to, "family", place->index);
    else
        tm_add_null(to, "family", "its family is not listed");
}

void tm_op_add_precision(struct tm_value *to, const struct op_row *row)
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
    tm_op_add_precision(to, row);
    tm_op_add_times(to, row);
    tm_add_double(to, "self_share_pct", tm_op_share((double)row->self_ps, o->self_ps));
    add_family_place(o, to, row->family);
    tm_op_add_roof(to, row, roof);
    tm_op_add_first(o, to, row);
}
