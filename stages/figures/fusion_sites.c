/* SPDX-License-Identifier: Apache-2.0 */
/* The properties of a kernel, from the program's HLO, else from its names.  Unfused attention requires good evidence: a
 * matmul counts as batched if the HLO, the einsum or the scope of its path, its name, or the third dimension of its
 * grid says so, and the softmax of a loss (log_softmax) is excluded.  Matrix-vector products are excluded too, because
 * gates and routers consist of them. */
#include "stages/figures/fusion.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "stages/figures/kernel_category.h"
#include "stages/figures/kernels.h"
#include "stages/resolve/classes.h"

enum {
    TEXT_MOST = 1024,  /* bytes of a string that are examined */
    BATCHED_LAYERS = 8 /* of a grid: a batch of heads has as many, a split of the inner axis seldom does */
};

static const char aten[] = "at::native", many[] = "multi_tensor_apply"; /* of many arrays at once already */

void tm_fusion_key(struct fusion *f, struct fusion_op *row)
{
    struct {
        struct tm_key name, op;
        uint64_t kind;
    } text = { .kind = row->kind };
    struct tm_key hashes[2];

    tm_names_hashes(f->names, (const tm_strid[]){ row->name, row->op }, 2, hashes);
    text.name = hashes[0];
    text.op = hashes[1];
    row->key = tm_hash_key(&text, sizeof(text));
}

/* --- the role in an attention --- */

/* A lowercase, truncated copy of a string. */
static void lower(struct tm_names *names, tm_strid id, char *to, struct tm_text *lowered)
{
    const char *text;
    size_t length;

    *lowered = (struct tm_text){ to, 0 };
    if (!id)
        return;
    text = tm_names_text(names, id, TEXT_MOST, &length);
    lowered->length = length < TEXT_MOST ? length : TEXT_MOST;
    for (size_t i = 0; i < lowered->length; i++)
        to[i] = (char)tolower((unsigned char)text[i]);
}

static bool has(struct tm_text text, const char *part)
{
    return text.length && memmem(text.at, text.length, part, strlen(part));
}

/* PyTorch: softmax_warp_forward<input, output, sums, log2_elements, is_log_softmax, is_masked>. */
static bool is_log_of_warp(struct tm_text name)
{
    const char *at = name.length ? memmem(name.at, name.length, "softmax_warp_", 13) : NULL;
    const char *const end = name.at + name.length;

    for (int commas = 0; at && commas < 4; commas++) {
        at = memchr(at, ',', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    while (at && at < end && *at == ' ')
        at++;
    return at && ((end - at >= 4 && !memcmp(at, "true", 4)) || (end - at >= 7 && !memcmp(at, "(bool)1", 7)));
}

static bool is_softmax(struct tm_text text)
{
    return has(text, "softmax") && !has(text, "log_softmax") && !has(text, "logsoftmax") && !is_log_of_warp(text);
}

static bool is_in(char c, const char *from, const char *to)
{
    return memchr(from, c, (size_t)(to - from)) != NULL;
}

/* A part of a path such as "bqhd,bkhd->bhqk": some letter is on both sides of the comma and after the arrow. */
static bool is_batched_einsum(struct tm_text path)
{
    const char *const end = path.at + path.length;
    const char *arrow = path.length ? memmem(path.at, path.length, "->", 2) : NULL;
    const char *comma, *begin, *stop;

    if (!arrow)
        return false;
    comma = memrchr(path.at, ',', (size_t)(arrow - path.at));
    if (!comma)
        return false;
    for (begin = comma; begin > path.at && isalpha((unsigned char)begin[-1]);)
        begin--;
    for (stop = arrow + 2; stop < end && isalpha((unsigned char)*stop);)
        stop++;
    for (const char *c = begin; c < comma; c++)
        if (is_in(*c, comma + 1, arrow) && is_in(*c, arrow + 2, stop))
            return true;
    return false;
}

static bool is_batched(const struct tm_config *config, struct tm_text name, struct tm_text path)
{
    if (has(name, "gemv"))
        return false;
    if (has(name, "batched") || has(name, "bmm"))
        return true;
    if (path.length)
        return is_batched_einsum(path) || has(path, "attention") || has(path, "attn");
    return config->grid[2] >= BATCHED_LAYERS;
}

static void role_of_names(struct fusion *f, const struct tm_event *event, enum tm_kernel_category category, tm_strid op,
                          enum fusion_role *role)
{
    char name_bytes[TEXT_MOST], path_bytes[TEXT_MOST];
    struct tm_text name, path;

    lower(f->names, event->record.name, name_bytes, &name);
    lower(f->names, op, path_bytes, &path);
    if (category == TM_CATEGORY_GEMM)
        *role = is_batched(event->config, name, path) ? FUSION_PRODUCT : FUSION_APART;
    else if (is_softmax(name) || (!has(name, "softmax") && is_softmax(path)))
        *role = FUSION_SOFTMAX;
    else
        *role = FUSION_BETWEEN;
}

static void find_role(struct fusion *f, const struct tm_event *event, const struct tm_hlo_op *hlo,
                      enum tm_kernel_category category, tm_strid op, enum fusion_role *role)
{
    if (category == TM_CATEGORY_ATTENTION || category == TM_CATEGORY_CONVOLUTION) {
        *role = FUSION_APART;
        return;
    }
    if (!hlo) {
        role_of_names(f, event, category, op, role);
        return;
    }
    if (hlo->has_matrix)
        *role = hlo->is_batched && !hlo->has_softmax ? FUSION_PRODUCT : FUSION_APART;
    else
        *role = hlo->has_softmax ? FUSION_SOFTMAX : FUSION_BETWEEN;
}

/* --- precision --- */

/* A product of 32-bit floats that does not run on Tensor Cores.  The HLO gives the type, but not whether it was reduced
 * to TF32: only the kernel's name does, and if it does not, no claim is made. */
static void find_f32(struct fusion *f, const struct tm_event *event, const struct tm_hlo_op *hlo, bool *is_f32)
{
    const char *text, *precision;
    size_t length;

    text = tm_names_text(f->names, event->record.name, TEXT_MOST, &length);
    *is_f32 = false;
    if (tm_tensor_core_in(text, length) != 0)
        return;
    if (hlo && hlo->precision != TM_PRECISION_UNKNOWN) {
        *is_f32 = hlo->precision == TM_F32;
        return;
    }
    precision = tm_precision_in(text, length);
    *is_f32 = precision && strcmp(precision, "f32") == 0;
}

/* Whether a compiler would fuse it with its neighbors. */
static bool is_light(enum tm_kernel_category category)
{
    switch (category) {
    case TM_CATEGORY_ELEMENTWISE:
    case TM_CATEGORY_ELEMENTWISE_ALONE:
    case TM_CATEGORY_NORMALIZATION:
    case TM_CATEGORY_SOFTMAX:
    case TM_CATEGORY_REDUCTION:
    case TM_CATEGORY_GATHER:
    case TM_CATEGORY_RANDOM:
    case TM_CATEGORY_COPY:
        return true;
    default:
        return false;
    }
}

/* Its own operation of PyTorch's eager mode: pointwise, a copy or a reduction, by a kernel of ATen.  Kernels that
 * a compiler made (XLA, Triton) are as large as it could make them. */
static void find_eager(struct fusion *f, const struct tm_event *event, enum tm_kernel_category category, bool *is_eager)
{
    const char *text;
    size_t length;

    *is_eager = false;
    if (!is_light(category))
        return;
    text = tm_names_text(f->names, event->record.name, TEXT_MOST, &length);
    *is_eager = memmem(text, length, aten, sizeof(aten) - 1) && !memmem(text, length, many, sizeof(many) - 1);
}

/* --- all of it --- */

/* Whether a GPU has Tensor Cores or Matrix Cores: tensor cores from compute capability 7.0 on, CDNA of AMD. */
bool tm_fusion_has_matrix_units(const struct tm_device *device)
{
    enum { CDNA_CORES = 100 }; /* the largest GCN of the same capability has 64 */

    if (strncasecmp(device->vendor, "amd", 3) == 0)
        return device->capability_major == 9 && (device->capability_minor >= 4 || device->core_count >= CDNA_CORES);
    return device->capability_major >= 7;
}

static enum fusion_sort sort_of(const struct fusion *f, const struct tm_event *event, const struct fusion_site *site,
                                enum tm_kernel_category category, bool has_matrix)
{
    if (category == TM_CATEGORY_COPY && !site->has_op)
        return FUSION_COPY;
    has_matrix |= category == TM_CATEGORY_GEMM || category == TM_CATEGORY_CONVOLUTION;
    return has_matrix && tm_fusion_has_matrix_units(&f->trace->devices[event->device]) ? FUSION_UNIT : FUSION_PLAIN;
}

/* Find its place among the ops. */
static void find_op(struct fusion *f, struct fusion_site *site)
{
    struct fusion_op repeated = { .kind = FUSION_REPEATED_OP, .name = site->name, .op = site->op };
    struct tm_name info;

    tm_fusion_key(f, &repeated);
    info = tm_names_info(f->names, site->name);
    site->key = repeated.key;
    site->name_hash = info.hash.low;
    site->cell = 0;
}

void tm_fusion_learn_site(struct fusion *f, const struct tm_event *event, struct fusion_site *site)
{
    const struct tm_config *config = event->config;
    const struct tm_category_question question = { .name = event->record.name,
                                                   .hlo_op = config->hlo_op,
                                                   .op = config->op,
                                                   .category = config->category,
                                                   .class = event->record.class,
                                                   .level = event->level };
    enum tm_kernel_category category;
    enum fusion_role role = FUSION_BETWEEN;
    const struct tm_hlo_op *hlo;
    bool is_f32 = false;

    tm_trace_hlo(f->trace, config, &hlo);
    category = tm_kernel_category_of(f->names, &question);
    site->name = tm_short_kernel_name(f->names, event->record.name);
    site->op = config->op || !hlo ? config->op : hlo->path;
    site->has_op = site->op != 0;
    site->sort = (uint8_t)sort_of(f, event, site, category, hlo && hlo->has_matrix);
    find_role(f, event, hlo, category, site->op, &role);
    site->role = (uint8_t)role;
    if (site->sort == FUSION_UNIT)
        find_f32(f, event, hlo, &is_f32);
    if (is_f32)
        site->sort = FUSION_BESIDE;
    find_eager(f, event, category, &site->is_eager);
    find_op(f, site);
}
