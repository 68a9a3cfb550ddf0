/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of operations: their form in a partial and how two are merged, their family, and its members in the tables of
 * the summary; and their distance from the device's roofline: the section roofline.  Rates are over the devices' busy
 * time; model FLOP utilization is over their span, including idle time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stages/figures/fields.h"
#include "stages/figures/kernel_category.h"
#include "stages/figures/ops.h"
#include "stages/figures/scopes.h"
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

/* An operation is identified by its kernels, not by the memsets that prepare for them. */
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

/* Families of operations: those whose names are equal without numbers and whose framework paths are equal without layer
 * numbers.  A compiler numbers repeated operations, so 64 layers are 64 operations. */

enum { TEXT_MOST = 4096 }; /* bytes of a string that are examined */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Without one number at the end, or one mark of the compiler's: "fusion.17", "loop_add_fusion_3", "fusion.clone",
 * "dot.remat2".  The same if there is none. */
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

/* "layer_17", "[17]", "blocks.17.attn": the number of a layer follows one of these and ends a word. */
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

/* Names that compilers give to whatever they fuse: without a path they say nothing about what it is. */
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

/* The role of a string in an operation. */
enum part { NAME_ALONE /* it has no path */, NAME, PATH };

/* A string in the form of the family. A string that would be truncated is kept unchanged.
 * out: to[TEXT_MOST], *length; *is_whole the text itself is valid */
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

static const char *const bound_name[OP_BOUND_COUNT] = {
    [OP_BOUND_COMPUTE] = "compute", [OP_BOUND_MEMORY] = "memory",   [OP_BOUND_LATENCY] = "latency",
    [OP_BOUND_NONE] = "none",       [OP_BOUND_UNKNOWN] = "unknown",
};

static const char not_told[] = "the profile does not record it";

static const char no_cost[] = "neither the profile nor the program's HLO contains its cost";

double tm_op_share(double part, int64_t whole)
{
    return whole > 0 ? 100 * part / (double)whole : 0;
}

static int64_t mean_of(const struct op_row *row)
{
    return (int64_t)(((unsigned __int128)(uint64_t)row->total_ps + row->count / 2) / row->count);
}

/* The opcode from the HLO, or from the line that names a TPU's operation. */
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
        return "neither compute nor memory limits it: it waits, or moves data between devices";
    if (!roof->has_bytes || !roof->has_flops)
        return no_cost;
    return "the peaks of the device are unknown";
}

void tm_op_add_roof(struct tm_value *to, const struct op_row *row, const struct op_roof *roof)
{
    add_amount(to, "flops", row->cost.flops, roof->has_flops);
    add_amount(to, "bytes", row->cost.bytes, roof->has_bytes);
    add_rate(to, "flop_rate", roof->flop_rate, roof->has_flops);
    if (roof->has_bandwidth || !roof->has_bytes)
        add_rate(to, "bandwidth", roof->bandwidth, roof->has_bytes);
    else
        tm_add_null(to, "bandwidth", "it waits for asynchronous data movement with its own time");
    if (roof->has_flops && roof->has_bytes && roof->bytes > 0)
        tm_add_double(to, "intensity", roof->flops / roof->bytes);
    else
        tm_add_null(to, "intensity", no_cost);
    tm_add_string(to, "bound", bound_name[roof->bound]);
    if (roof->has_roof) {
        tm_add_string(to, "roof", bound_name[roof->roof]);
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

/* Its pass matters if it has its own rule for each pass. */
static void add_custom(struct ops *o, struct tm_value *to, const struct op_row *row)
{
    struct tm_scope_path path;
    size_t length;
    const char *text;

    if (!row->path)
        return;
    text = tm_names_text(o->names, row->path, TM_SCOPE_PATH_MOST + 1, &length);
    if (!length || !memmem(text, length, "custom_", 7))
        return;
    tm_scope_path_read(text, length, &path);
    if (!path.custom)
        return;
    tm_add_string(to, "custom_derivative", tm_custom_name[path.custom]);
    tm_add_string(to, "pass", tm_scope_pass_name[path.pass]);
}

static void add_texts(struct ops *o, struct tm_listed_texts *texts, struct tm_value *to, const struct op_row *row)
{
    tm_listed_text_add(texts, to, "name", row->name);
    tm_listed_text_or(texts, to, "module", row->module, not_told);
    add_opcode(o, texts, to, row);
    tm_op_add_category(o, to, row);
    tm_listed_text_or(texts, to, "op", row->path, not_told);
    add_custom(o, to, row);
    tm_listed_text_or(texts, to, "source", row->source, not_told);
}

/* Its position in the trace: that of its first event. */
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
        tm_add_null(to, "family", "its op family is not listed");
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

/* The two roofs of an operation: the compute peak and the memory bandwidth of its device.  The lower one, at its own
 * intensity, is the attainable rate: docs/metrics.md, "Roofline". */

#define PS_PER_S 1e12

static double per_second(double amount, int64_t ps)
{
    return amount * PS_PER_S / (double)ps;
}

/* One whose FLOPs are unknown, but few compared with its bytes: it is neither a matmul nor opaque. */
static bool is_light(const struct op_row *row, const struct op_roof *roof)
{
    return !roof->has_flops && !row->has_matrix && !row->is_opaque;
}

void tm_op_roof_of(const struct op_row *row, const struct tm_peaks *peaks, struct op_roof *roof)
{
    const double peak = tm_peak_flops(peaks, (enum tm_precision)row->precision, row->has_matrix);
    double of_compute, of_memory;

    *roof = (struct op_roof){
        .has_flops = row->cost.flops_ps > 0,
        .has_bytes = row->cost.bytes_ps > 0,
        .flops = op_number(row->cost.flops),
        .bytes = op_number(row->cost.bytes),
        .bound = op_computes(row->level) && row->level != TM_LEVEL_CONTAINER ? OP_BOUND_UNKNOWN : OP_BOUND_NONE,
    };
    if (roof->has_flops)
        roof->flop_rate = per_second(roof->flops, row->cost.flops_ps);
    roof->has_bandwidth = roof->has_bytes && !row->is_wait;
    if (roof->has_bandwidth)
        roof->bandwidth = per_second(roof->bytes, row->cost.bytes_ps);
    if (roof->bound == OP_BOUND_NONE || !roof->has_bytes || !(roof->has_flops || is_light(row, roof)))
        return;
    if (!(roof->flops > 0) && !(roof->bytes > 0)) {
        roof->bound = OP_BOUND_NONE;
        return;
    }
    if (!(peaks->bandwidth > 0) || (roof->flops > 0 && !(peak > 0)))
        return;
    of_compute = roof->flops > 0 ? roof->flop_rate / peak : 0;
    of_memory = roof->bandwidth / peaks->bandwidth;
    roof->roof = of_compute > of_memory ? OP_BOUND_COMPUTE : OP_BOUND_MEMORY;
    roof->roof_pct = 100 * (of_compute > of_memory ? of_compute : of_memory);
    roof->bound = roof->roof_pct < OPS_BOUND_LEAST_PCT ? OP_BOUND_LATENCY : roof->roof;
    roof->has_roof = true;
}

void tm_op_peaks(struct ops *o, uint32_t device, struct op_peaks *cache)
{
    const struct op_device *row;

    if (cache->is_known && cache->device == device)
        return;
    row = tm_rows_at(o->devices, device);
    tm_peaks_of(&(struct tm_peak_question){ .model = row->model,
                                            .vendor = row->vendor,
                                            .kind = row->kind,
                                            .core_count = row->core_count,
                                            .clock_khz = row->clock_khz,
                                            .memory_bytes = row->memory_bytes,
                                            .memory_bandwidth_bytes = row->memory_bandwidth_bytes,
                                            .capability_major = row->capability_major,
                                            .capability_minor = row->capability_minor,
                                            .peak_tflops = row->peak_tflops },
                &cache->peaks);
    cache->device = device;
    cache->is_known = true;
}

enum { WHY_BYTES = 256 };

enum { FAR_LEAST_PER_MILLE = 10 }; /* of the computing time: less is not listed */

#define FAR_BELOW_PCT 50.0

static const char no_costs[] = "no operation has a known cost";

/* If less of the compute time has known costs, there is no rate: the known part would be read as the total. */
enum { COSTS_KNOWN_LEAST_PCT = 80 };

/* Whether a rate of a whole device may be reported, and else why not. */
struct known_rates {
    bool flops, bytes;
    char no_flops[WHY_BYTES], no_bytes[WHY_BYTES];
};

/* --- the pass over the operations --- */

static int most_lost_first(const void *a, const void *b)
{
    const struct op_far *x = a, *y = b;

    if (x->lost_ps != y->lost_ps)
        return x->lost_ps > y->lost_ps ? -1 : 1;
    return tm_key_order(x->row.key, y->row.key);
}

void tm_op_roofs_open(struct ops *o, struct op_roofs *roofs)
{
    roofs->far = tm_top_rows_new(o->run, TM_ACCOUNT_TABLES, sizeof(struct op_far), OPS_FAR_LISTED,
                                 ops_memory(o->run, OPS_FAR), most_lost_first);
}

void tm_op_roofs_close(struct op_roofs *roofs)
{
    tm_top_rows_free(roofs->far);
}

/* The time of an operation beyond its time at the roof. */
static int64_t lost_ps(const struct op_row *row, const struct op_roof *roof)
{
    return (int64_t)((double)row->cost.bytes_ps * (1 - roof->roof_pct / 100));
}

void tm_op_roofs_add(struct ops *o, struct op_roofs *roofs, const struct op_row *row, const struct op_roof *roof)
{
    struct op_far far = { .row = *row };

    if (!op_computes(row->level))
        return;
    roofs->bound_ps[roof->bound] = tm_sum_times(roofs->bound_ps[roof->bound], row->self_ps);
    if (!roof->has_roof || roof->roof_pct >= FAR_BELOW_PCT || row->self_ps / FAR_LEAST_PER_MILLE < o->compute_ps / 1000)
        return;
    far.lost_ps = lost_ps(row, roof);
    tm_top_rows_add(roofs->far, &far);
}

/* --- the devices --- */

/* Sums over all devices whose peaks are known; what could have been done in the time. */
struct sums {
    int64_t busy_ps;
    struct tm_wide all_flops, all_bytes;
    double flops, bytes;                                /* of devices whose peak is known */
    double flops_in_busy, flops_in_span, bytes_in_busy; /* at the peak */
    char no_flops[WHY_BYTES], no_bandwidth[WHY_BYTES];  /* why the last one without a peak has none */
};

/* The type that its matrix products compute in most of the time; TM_PRECISION_UNKNOWN = none is known. */
static enum tm_precision main_type(const struct op_device *device)
{
    enum tm_precision most = TM_PRECISION_UNKNOWN;

    for (int i = TM_PRECISION_UNKNOWN + 1; i < TM_PRECISION_COUNT; i++)
        if (device->matrix_ps[i] > (most ? device->matrix_ps[most] : 0))
            most = (enum tm_precision)i;
    return most;
}

static bool has_matrices(const struct op_device *device)
{
    for (int i = 0; i < TM_PRECISION_COUNT; i++)
        if (device->matrix_ps[i] > 0)
            return true;
    return false;
}

static void add_number(struct tm_value *to, const char *key, double number, bool is_known, const char *why)
{
    if (is_known)
        tm_add_double(to, key, number);
    else
        tm_add_null(to, key, why);
}

static void add_text_or(struct tm_value *to, const char *key, const char *text)
{
    if (*text)
        tm_add_text(to, key, text, strlen(text));
    else
        tm_add_null(to, key, "not recorded");
}

/* The type that the peak is for. */
static const char *type_of(const struct op_device *device, const struct tm_peaks *peaks, enum tm_precision precision)
{
    const bool has_units = has_matrices(device) && (!precision || peaks->matrix[precision] > 0);

    if (!has_units && peaks->vector_f32 <= 0)
        return "bf16, on Tensor Cores or the MXU"; /* tm_peak_flops has nothing else */
    return has_matrices(device) ? tm_precision_name[precision] : "f32, without Tensor Cores or the MXU";
}

/* The peak that the device is measured by. */
static double peak_of(const struct op_device *device, const struct tm_peaks *peaks, const char **type, const char **why)
{
    const enum tm_precision precision = main_type(device);
    const double peak = tm_peak_flops(peaks, has_matrices(device) ? precision : TM_F32, has_matrices(device));

    *type = type_of(device, peaks, precision);
    *why = peak > 0 ? "" : peaks->flops_source;
    if (has_matrices(device) && precision == TM_PRECISION_UNKNOWN)
        *why = "the type of its matmuls is unknown";
    return peak;
}

static double share_of(double part, double whole)
{
    return 100 * part / whole;
}

static void add_peaks(struct tm_value *to, const struct tm_peaks *peaks, double peak, const char *type, const char *why)
{
    add_number(to, "peak_flops", peak, peak > 0, why);
    if (peak > 0)
        tm_add_string(to, "peak_precision", type);
    else
        tm_add_null(to, "peak_precision", why);
    add_number(to, "peak_bandwidth", peaks->bandwidth, peaks->bandwidth > 0, peaks->bandwidth_source);
    if (peak > 0)
        tm_add_string(to, "peak_source", peaks->flops_source);
    else
        tm_add_null(to, "peak_source", why);
    if (peaks->bandwidth > 0)
        tm_add_string(to, "bandwidth_source", peaks->bandwidth_source);
    else
        tm_add_null(to, "bandwidth_source", peaks->bandwidth_source);
}

static void note_why(struct sums *sums, const char *no_flops, const char *no_bandwidth)
{
    if (*no_flops)
        (void)snprintf(sums->no_flops, sizeof(sums->no_flops), "%s", no_flops);
    if (*no_bandwidth)
        (void)snprintf(sums->no_bandwidth, sizeof(sums->no_bandwidth), "%s", no_bandwidth);
}

static bool is_known_enough(int64_t known_ps, int64_t compute_ps)
{
    return known_ps > 0 && (unsigned __int128)(uint64_t)known_ps * 100 >=
                               (unsigned __int128)(uint64_t)compute_ps * COSTS_KNOWN_LEAST_PCT;
}

static void emit_unknown(char *why, size_t bytes, const char *what, int64_t known_ps, int64_t compute_ps)
{
    (void)snprintf(
        why, bytes,
        "the %s of only %.1f%% of the compute time are known: the compiler recorded none for the other operations",
        what, compute_ps > 0 ? 100 * (double)known_ps / (double)compute_ps : 0.0);
}

/* in: why  no cost is known */
static struct known_rates find_known(const struct ops *o, const char *why)
{
    struct known_rates known = { .flops = is_known_enough(o->cost.flops_ps, o->compute_ps),
                                 .bytes = is_known_enough(o->cost.bytes_ps, o->compute_ps) };

    if (o->cost.flops_ps > 0)
        emit_unknown(known.no_flops, sizeof(known.no_flops), "operations", o->cost.flops_ps, o->compute_ps);
    else
        (void)snprintf(known.no_flops, sizeof(known.no_flops), "%s", why);
    if (o->cost.bytes_ps > 0)
        emit_unknown(known.no_bytes, sizeof(known.no_bytes), "bytes", o->cost.bytes_ps, o->compute_ps);
    else
        (void)snprintf(known.no_bytes, sizeof(known.no_bytes), "%s", why);
    return known;
}

static void add_device(const struct ops *o, const struct op_device *device, const struct tm_peaks *peaks,
                       struct tm_value *list, struct sums *sums)
{
    const struct known_rates known = find_known(o, no_costs);
    const double busy_s = (double)device->busy_ps / PS_PER_S, span_s = (double)device->span_ps / PS_PER_S;
    const double flops = op_number(device->flops), bytes = op_number(device->bytes);
    const bool has_flops = known.flops && busy_s > 0, has_bytes = known.bytes && busy_s > 0;
    struct tm_value *to = tm_add_object(list, NULL);
    const char *type, *why;
    const double peak = peak_of(device, peaks, &type, &why);

    tm_add_string(to, "device", device->id);
    add_text_or(to, "model", device->model);
    add_peaks(to, peaks, peak, type, why);
    add_number(to, "flops", flops, o->cost.flops_ps > 0, no_costs);
    add_number(to, "bytes", bytes, o->cost.bytes_ps > 0, no_costs);
    tm_add_int(to, "busy_ps", device->busy_ps);
    add_number(to, "flop_rate", has_flops ? flops / busy_s : 0, has_flops, known.no_flops);
    add_number(to, "bandwidth", has_bytes ? bytes / busy_s : 0, has_bytes, known.no_bytes);
    add_number(to, "flops_pct", has_flops && peak > 0 ? share_of(flops / busy_s, peak) : 0, has_flops && peak > 0,
               has_flops ? why : known.no_flops);
    add_number(to, "memory_pct", has_bytes && peaks->bandwidth > 0 ? share_of(bytes / busy_s, peaks->bandwidth) : 0,
               has_bytes && peaks->bandwidth > 0, has_bytes ? peaks->bandwidth_source : known.no_bytes);
    sums->busy_ps = tm_sum_times(sums->busy_ps, device->busy_ps);
    sums->all_flops = tm_sum_wide(sums->all_flops, tm_wide_value(device->flops));
    sums->all_bytes = tm_sum_wide(sums->all_bytes, tm_wide_value(device->bytes));
    note_why(sums, peak > 0 ? "" : why, peaks->bandwidth > 0 ? "" : peaks->bandwidth_source);
    if (peak > 0) {
        sums->flops += flops;
        sums->flops_in_busy += peak * busy_s;
        sums->flops_in_span += peak * span_s;
    }
    if (peaks->bandwidth > 0) {
        sums->bytes += bytes;
        sums->bytes_in_busy += peaks->bandwidth * busy_s;
    }
}

static void add_devices(struct ops *o, struct tm_value *to, struct sums *sums)
{
    struct tm_value *list = tm_add_array(to, "devices");

    for (uint64_t i = 0; i < tm_rows_count(o->devices); i++) {
        struct op_peaks peaks = { .is_known = false };

        tm_op_peaks(o, (uint32_t)i, &peaks);
        add_device(o, tm_rows_at(o->devices, i), &peaks.peaks, list, sums);
    }
}

/* --- the section --- */

static const char *source_of(const struct ops *o)
{
    if (o->costs_of_stats && o->costs_of_hlo)
        return "both";
    return o->costs_of_stats ? "stats" : o->costs_of_hlo ? "hlo" : NULL;
}

static void add_rates(const struct ops *o, struct tm_value *to, const struct sums *sums, const char *why)
{
    const double flops = op_number(sums->all_flops), bytes = op_number(sums->all_bytes);
    const double busy_s = (double)sums->busy_ps / PS_PER_S;
    const struct known_rates known = find_known(o, why);
    const bool has_flops = known.flops && busy_s > 0, has_bytes = known.bytes && busy_s > 0;

    add_number(to, "flops", flops, o->cost.flops_ps > 0, why);
    add_number(to, "bytes", bytes, o->cost.bytes_ps > 0, why);
    tm_add_int(to, "busy_ps", sums->busy_ps);
    add_number(to, "flop_rate", has_flops ? flops / busy_s : 0, has_flops, known.no_flops);
    add_number(to, "bandwidth", has_bytes ? bytes / busy_s : 0, has_bytes, known.no_bytes);
    add_number(to, "flops_pct", share_of(sums->flops, sums->flops_in_busy), has_flops && sums->flops_in_busy > 0,
               has_flops ? sums->no_flops : known.no_flops);
    add_number(to, "memory_pct", share_of(sums->bytes, sums->bytes_in_busy), has_bytes && sums->bytes_in_busy > 0,
               has_bytes ? sums->no_bandwidth : known.no_bytes);
    add_number(to, "mfu_pct", share_of(sums->flops, sums->flops_in_span), has_flops && sums->flops_in_span > 0,
               has_flops ? sums->no_flops : known.no_flops);
}

static double pct_of(int64_t part, int64_t whole)
{
    return whole > 0 ? share_of((double)part, (double)whole) : 0;
}

static void add_known(const struct ops *o, struct tm_value *to)
{
    tm_add_int(to, "compute_ps", o->compute_ps);
    tm_add_int(to, "known_ps", o->cost.bytes_ps);
    tm_add_double(to, "known_pct", pct_of(o->cost.bytes_ps, o->compute_ps));
    tm_add_int(to, "flops_known_ps", o->cost.flops_ps);
    tm_add_double(to, "flops_known_pct", pct_of(o->cost.flops_ps, o->compute_ps));
}

/* What limits most of the time, if that is known for half of it. */
static enum op_bound main_bound(const struct op_roofs *roofs, int64_t compute_ps)
{
    const enum op_bound bounds[] = { OP_BOUND_MEMORY, OP_BOUND_COMPUTE, OP_BOUND_LATENCY };
    enum op_bound most = OP_BOUND_MEMORY;
    int64_t known_ps = 0;

    for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
        known_ps = tm_sum_times(known_ps, roofs->bound_ps[bounds[i]]);
        if (roofs->bound_ps[bounds[i]] > roofs->bound_ps[most])
            most = bounds[i];
    }
    return known_ps < compute_ps / 2 || known_ps == 0 ? OP_BOUND_UNKNOWN : most;
}

static void add_bounds(const struct ops *o, const struct op_roofs *roofs, struct tm_value *to)
{
    struct tm_value *bounds;

    tm_add_string(to, "bound", bound_name[main_bound(roofs, o->compute_ps)]);
    bounds = tm_add_object(to, "bound_ps");
    for (int i = 0; i < OP_BOUND_COUNT; i++)
        tm_add_int(bounds, bound_name[i], roofs->bound_ps[i]);
}

static void add_precisions(const struct ops *o, struct tm_value *to)
{
    struct tm_value *list = tm_add_array(to, "precisions");

    for (int i = 0; i < TM_PRECISION_COUNT; i++) {
        const struct precision_sum *sum = &o->precisions[i];
        struct tm_value *row;

        if (!sum->count)
            continue;
        row = tm_add_object(list, NULL);
        tm_add_string(row, "precision", tm_precision_name[i]);
        tm_add_uint(row, "count", sum->count);
        tm_add_int(row, "total_ps", sum->total_ps);
        tm_add_double(row, "share_pct", pct_of(sum->total_ps, o->compute_ps));
        tm_add_int(row, "matrix_ps", sum->matrix_ps);
        tm_add_int(row, "tensor_core_ps", sum->tensor_core_ps);
    }
}

static void add_far(struct ops *o, struct op_roofs *roofs, struct tm_value *to)
{
    struct tm_value *list = tm_add_array(to, "far");
    struct tm_listed_texts texts = tm_listed_texts(o->names, OPS_FAR_LISTED);
    struct op_peaks peaks = { .is_known = false };

    tm_top_rows_sort(roofs->far);
    for (uint64_t i = 0; i < tm_top_rows_count(roofs->far); i++) {
        const struct op_far *far = tm_top_rows_at(roofs->far, i);
        struct tm_value *row = tm_add_object(list, NULL);
        struct op_roof roof;

        tm_op_peaks(o, far->row.first_device, &peaks);
        tm_op_roof_of(&far->row, &peaks.peaks, &roof);
        tm_op_add_row(o, &texts, row, &far->row, &roof);
        tm_add_int(row, "lost_ps", far->lost_ps);
    }
}

/* Why no cost is known, in a buffer of the caller. */
static void find_why(struct ops *o, char *why, size_t bytes)
{
    const char *text;
    size_t length;

    (void)snprintf(why, bytes, "%s",
                   o->has_hlo ? "the profile contains neither operation costs nor the program's HLO"
                              : "the profile does not record which operation its kernels belong to");
    if (!o->hlo_why)
        return;
    text = tm_names_text(o->names, o->hlo_why, bytes - 1, &length);
    (void)snprintf(why, bytes, "%s", text);
}

void tm_op_roofline(struct ops *o, struct op_roofs *roofs, struct tm_value *summary)
{
    struct tm_value *to = tm_add_object(summary, "roofline");
    struct sums sums = { .busy_ps = 0 };
    char why[WHY_BYTES];

    find_why(o, why, sizeof(why));
    if (source_of(o))
        tm_add_string(to, "source", source_of(o));
    else
        tm_add_null(to, "source", why);
    add_devices(o, to, &sums);
    add_rates(o, to, &sums, why);
    add_known(o, to);
    add_bounds(o, roofs, to);
    add_precisions(o, to);
    add_far(o, roofs, to);
}
