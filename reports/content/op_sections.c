/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels: how many, how long, which. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "reports/content/content.h"
#include "reports/content/emit.h"
#include "reports/format/format.h"

/* Scopes: where in the program device time comes from: framework scopes, layers, annotations of the host. */

enum { FACTS_BYTES = 256 };

/* A tree; its rows with the largest `key` are shown. */
static void emit_tree(const struct tm_content *content, struct tm_table tree, const char *key)
{
    const struct tm_room *room = &content->medium->room;
    const size_t on_paper = content->is_brief && tree.brief_rows ? tree.brief_rows : tree.paper_rows;
    const size_t most = room->is_paper && on_paper < room->rows ? on_paper : room->rows;
    const struct tm_value *rows = tm_of(content, tree.list);
    size_t pick[TM_PICK_MOST];

    if (tm_length(rows) > most) {
        tree.pick = pick;
        tree.picks = tm_pick_largest(rows, key, NULL, most, pick);
        tm_pick_in_order(pick, tree.picks);
    }
    tree.depth = "depth";
    tm_emit_table(content, &tree);
}

/* For a training step, by pass. */
static bool has_passes(const struct tm_value *scopes)
{
    return tm_int(tm_path(scopes, "passes.backward")) > 0 || tm_int(tm_path(scopes, "passes.forward")) > 0;
}

static void emit_scope_facts(const struct tm_content *content, const struct tm_value *scopes)
{
    char facts[FACTS_BYTES];

    (void)snprintf(facts, sizeof(facts), "self_ps, unscoped.self_ps = Without a scope%s%s",
                   has_passes(scopes) ? ", passes.forward, passes.backward, passes.other" : "",
                   tm_int(tm_path(scopes, "recomputed.self_ps")) > 0
                       ? ", recomputed.self_ps = Recomputed (part of backward)"
                       : "");
    tm_emit_facts(content, "scope-facts", "scopes", facts);
}

static const struct tm_table custom_derivatives = {
    .id = "scopes-custom",
    .caption = "Functions with their own derivative rule",
    .shows = "kind, count sums, forward_ps sums, backward_ps sums, other_ps sums",
    .list = "scopes.custom_derivatives",
    .paper_rows = 2,
};

static void emit_scope_tree(const struct tm_content *content, const struct tm_value *scopes)
{
    emit_tree(content,
              (struct tm_table){ .id = "scopes",
                                 .caption = "Device time by scope (tree)",
                                 .shows = has_passes(scopes) ? "name, count, total_ps, share_pct, self_ps sums, pass"
                                                             : "name, count, total_ps, share_pct, self_ps sums",
                                 .list = "scopes.rows",
                                 .rest_at = "scopes.rest",
                                 .total_at = "scopes",
                                 .total_title = "all scopes",
                                 .paper_rows = 20,
                                 .brief_rows = 12 },
              "total_ps");
}

static const struct tm_table layers = {
    .id = "layers",
    .caption = "Layers: similar numbered scopes",
    .shows = "path, count, forward_ps, backward_ps, other_ps, total_ps sums",
    .list = "scopes.layers",
    .rest_at = "scopes.layers_rest",
    .paper_rows = 24,
    .is_detail = true,
};

static const struct tm_table annotations = {
    .id = "annotations",
    .caption = "Annotations on host threads (tree)",
    .shows = "name, count, host_ps, host_self_ps sums, activities, device_ps",
    .list = "scopes.annotations",
    .rest_at = "scopes.annotations_rest",
    .paper_rows = 16,
    .is_detail = true,
};

static void emit_scopes(const struct tm_content *content)
{
    const struct tm_value *scopes = tm_of(content, "scopes");

    if (!tm_emit_missing(content, tm_get(scopes, "rows"), "Scopes")) {
        emit_scope_facts(content, scopes);
        tm_emit_charts(content, TM_CHART_SCOPES);
        emit_scope_tree(content, scopes);
        tm_emit_table(content, &custom_derivatives);
        tm_emit_table(content, &layers);
    }
    emit_tree(content, annotations, "host_ps");
}

/* If there are neither scopes nor annotations, the reason for missing scopes, which most readers look for. */
static const char *no_scopes(const struct tm_value *summary)
{
    const struct tm_value *rows = tm_path(summary, "scopes.rows");

    if (tm_length(rows) > 0 || tm_length(tm_path(summary, "scopes.annotations")) > 0)
        return "";
    return tm_has(rows) || !*tm_why(rows) ? "no operation has a scope" : tm_why(rows);
}

const struct tm_section tm_scopes_section = {
    .id = "scopes", .title = "Scopes", .key = "scopes", .say = emit_scopes, .nothing = no_scopes
};

/* Occupancy: how full the kernels keep the devices, and what limits them. */

enum { LIMITERS_MOST = 8 };

static void emit_limiters(const struct tm_content *content, const struct tm_value *occupancy)
{
    const struct tm_value *limiters = tm_get(occupancy, "limiters");
    struct tm_cell cell[LIMITERS_MOST][3];
    size_t n = 0;

    for (size_t i = 0; i < tm_length(limiters) && n < LIMITERS_MOST; i++) {
        const struct tm_value *time = tm_value_at(limiters, i);

        if (tm_int(time) <= 0)
            continue;
        cell[n][0] = tm_cell_of_text(TM_DOC_TERM, tm_key_at(limiters, i));
        cell[n][1] = tm_cell_of_value(TM_DOC_TIME, time);
        cell[n++][2] = tm_cell_of_share(time, tm_get(occupancy, "known_ps"));
    }
    tm_emit_table(content, &(struct tm_table){
                               .id = "occupancy-limiters",
                               .caption = "Kernel time by occupancy limiter",
                               .shows = "limiter term = Limited by, total_ps time = Kernel time, share_pct pct = Share",
                               .cells = cell[0],
                               .cell_rows = n });
}

static const struct tm_table histogram = {
    .id = "occupancy-histogram",
    .caption = "Kernels by occupancy",
    .shows = "from_pct, to_pct, count, total_ps",
    .list = "occupancy.histogram",
    .where = "count",
    .is_detail = true,
};

static const struct tm_table low = {
    .id = "occupancy-low",
    .caption = "Kernels below 50% occupancy with at least 1% of the kernel time",
    .shows = "name, op, total_ps, share_pct, occupancy_pct, limiter, variants, grid wide, block wide, registers wide, "
             "shared_bytes wide, waves wide, tail_pct wide, lost_ps wide, count wide, category wide",
    .list = "occupancy.low",
    .paper_rows = 10,
};

static const struct tm_table tail = {
    .id = "occupancy-tail",
    .caption = "Kernels with the largest tail effect",
    .shows = "name, op, lost_ps, tail_pct, total_ps, waves, variants, grid wide, block wide, share_pct wide, "
             "occupancy_pct wide, limiter wide, registers wide, shared_bytes wide, count wide, category wide",
    .list = "occupancy.tail.rows",
    .paper_rows = 5,
    .is_detail = true,
};

static void emit_occupancy(const struct tm_content *content)
{
    const struct tm_value *occupancy = tm_of(content, "occupancy");

    tm_emit_facts(content, "occupancy-facts", "occupancy",
                  "mean_pct, known_ps, unknown_ps, tail.lost_ps, tail.idle_multiprocessors_ps");
    tm_emit_detail_charts(content, TM_CHART_OCCUPANCY);
    tm_emit_table(content, &low);
    emit_limiters(content, occupancy);
    tm_emit_table(content, &tail);
    tm_emit_table(content, &histogram);
}

const struct tm_section tm_occupancy_section = { .id = "occupancy",
                                                 .title = "Occupancy",
                                                 .key = "occupancy",
                                                 .say = emit_occupancy,
                                                 .platforms = "gpu",
                                                 .wants_enough = true };

/* Fusion: kernels that are so small or so many that one could replace several. */

enum { LOSS_COLUMNS = 7, TEXT_BYTES = 512 };

/* --- what could be one kernel --- */

/* A kind of loss, and where in the section its figures are; NULL = it has none. */
struct loss {
    const char *title, *key, *kernels, *time, *saved;
    bool is_no_kernel; /* its time is not part of the kernels' time */
};

static const struct loss losses[] = {
    { "Sequences of small kernels", "runs", "kernels", "kernel_ps", "at_stake_ps", false },
    { "Chains of pointwise kernels", "eager_chains", "kernels", "total_ps", "saved_ps", false },
    { "Under 100 \xc2\xb5s", "small", NULL, "total_ps", NULL, false },
    { "Under 10 \xc2\xb5s", "tiny", NULL, "total_ps", NULL, false },
    { "Repeated over 10 times per step", "repeated_total", NULL, "total_ps", NULL, false },
    { "Softmax between two matmuls", "attention_unfused", NULL, "total_ps", NULL, false },
    { "Layout copies", "layout_copies", NULL, "total_ps", NULL, false },
    { "32-bit matmuls without Tensor Cores", "matrix.f32", NULL, "total_ps", NULL, false },
    { "Collectives under 100 \xc2\xb5s", "small.collectives", NULL, "total_ps", NULL, true },
};

enum { LOSSES = sizeof(losses) / sizeof(losses[0]) };

static struct tm_cell figure(enum tm_doc_kind kind, const struct tm_value *of, const char *key)
{
    return key ? tm_cell_of_value(kind, tm_get(of, key)) : tm_cell_of_text(kind, "");
}

static void fill_loss(struct tm_cell *row, const struct loss *loss, const struct tm_value *fusion,
                      char meaning[TM_TERM_BYTES])
{
    const struct tm_value *of = tm_path(fusion, loss->key), *whole = tm_path(fusion, "kernels.total_ps");
    const int term = tm_term_find("fusion", loss->title);

    row[0] = tm_cell_of_text(TM_DOC_WORD, loss->title);
    row[1] = tm_cell_of_value(TM_DOC_COUNT, tm_get(of, "count"));
    row[2] = figure(TM_DOC_COUNT, of, loss->kernels);
    row[3] = figure(TM_DOC_TIME, of, loss->time);
    row[4] = tm_cell_of_share(loss->is_no_kernel ? NULL : tm_get(of, loss->time), whole);
    row[5] = figure(TM_DOC_TIME, of, loss->saved);
    row[6] = tm_cell_of_text(TM_DOC_PROSE, term < 0 ? "" : tm_term_text(term, meaning));
}

/* The titles of fusion opportunities that were checked and not found, in one sentence. */
static void emit_what_is_not(const struct tm_content *content, const struct tm_value *fusion)
{
    char text[TEXT_BYTES] = "";
    size_t length = 0;

    for (size_t i = 0; i < LOSSES && length < sizeof(text); i++) {
        const struct tm_value *count = tm_get(tm_path(fusion, losses[i].key), "count");

        if (tm_has(count) && tm_int(count) == 0)
            length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%c%s", length ? "; " : "",
                                       tolower((unsigned char)losses[i].title[0]), losses[i].title + 1);
    }
    if (length)
        tm_emit(content, TM_TONE_QUIET, "Checked, not present: %s.", text);
}

static void emit_losses(const struct tm_content *content, const struct tm_value *fusion)
{
    struct tm_cell cell[LOSSES][LOSS_COLUMNS];
    char meaning[LOSSES][TM_TERM_BYTES];
    size_t n = 0;

    for (size_t i = 0; i < LOSSES; i++)
        if (tm_int(tm_get(tm_path(fusion, losses[i].key), "count")) > 0)
            fill_loss(cell[n++], &losses[i], fusion, meaning[i]);
    tm_emit_table(content,
                  &(struct tm_table){
                      .id = "fusion-kinds",
                      .caption = "Fusion opportunities",
                      .shows = "what word = Kernels, count count = Count, kernels count = Kernels in them, "
                               "total_ps time = Time, share_pct pct = Share, at_stake_ps time = Potential savings, "
                               "meaning prose wide = Meaning",
                      .cells = cell[0],
                      .cell_rows = n });
    emit_what_is_not(content, fusion);
    for (size_t i = 0; i < LOSSES; i++)
        if (tm_path(fusion, losses[i].key))
            (void)tm_emit_missing(content, tm_path(fusion, losses[i].key), losses[i].title);
}

/* --- which ones --- */

static const struct tm_table runs = {
    .id = "fusion-runs",
    .caption = "Longest sequences of small kernels on a stream",
    .shows = "begin_ps, dur_ps, at_stake_ps, kernels, device, step, names[0] = First kernel, gap_ps, "
             "kernel_ps wide, track wide",
    .list = "fusion.runs.longest",
    .paper_rows = 5,
    .is_detail = true,
};

static const struct tm_table repeated = {
    .id = "fusion-repeated",
    .caption = "Small kernels that run more than 10 times per step",
    .shows = "name, op, per_step, count, total_ps, mean_ps",
    .list = "fusion.repeated",
    .paper_rows = 8,
    .is_detail = true,
};

static void emit_kernels(const struct tm_content *content, struct tm_table kernels)
{
    kernels.shows = "name, op, count sums, total_ps sums";
    kernels.paper_rows = 8;
    tm_emit_table(content, &kernels);
}

static void emit_fusion(const struct tm_content *content)
{
    const struct tm_value *fusion = tm_of(content, "fusion");

    tm_emit_facts(content, "fusion-facts", "fusion",
                  "kernels.count = Kernels, kernels.total_ps = Total time, per_step, matrix.total_ps, "
                  "matrix.share_pct, runs.gap_ps");
    emit_losses(content, fusion);
    tm_emit_table(content, &runs);
    tm_emit_table(content, &repeated);
    emit_kernels(content, (struct tm_table){ .id = "fusion-attention",
                                             .caption = "Unfused attention: kernels between the matmuls",
                                             .list = "fusion.attention_unfused.rows",
                                             .rest_at = "fusion.attention_unfused.rest" });
    emit_kernels(content, (struct tm_table){ .id = "fusion-layout-copies",
                                             .caption = "Layout copies and transposes",
                                             .list = "fusion.layout_copies.rows",
                                             .rest_at = "fusion.layout_copies.rest" });
    emit_kernels(content, (struct tm_table){ .id = "fusion-32-bit",
                                             .caption = "32-bit matmuls without Tensor Cores",
                                             .list = "fusion.matrix.f32.rows",
                                             .rest_at = "fusion.matrix.f32.rest" });
}

static const char *no_fusion(const struct tm_value *summary)
{
    return tm_if_none(summary, "fusion.kernels.count", "no kernel ran in the analyzed steps");
}

const struct tm_section tm_fusion_section = { .id = "fusion",
                                              .title = "Fusion",
                                              .key = "fusion",
                                              .say = emit_fusion,
                                              .nothing = no_fusion,
                                              .platforms = "gpu",
                                              .wants_enough = true };

/* Operations: which ones take device time, and where in the program they come from. */

enum { OPS_ON_PAPER = 12, ORIGINS_MOST = 12 };

static const struct tm_table op_categories = {
    .id = "op-categories",
    .caption = "Time by category",
    .shows = "category, count, total_ps, share_pct",
    .list = "kernels.by_category",
};

static const struct tm_table families = {
    .id = "op-families",
    .caption = "Op families by self time",
    .shows = "family, members sums, self_ps sums, share_pct, executions, category, bound, roof_pct, "
             "cumulative_pct, precision wide, mean_ps wide, intensity wide, flop_rate wide, "
             "bandwidth wide, op wide, longest wide, source wide, count wide sums, device_count wide",
    .list = "ops.families",
    .rest_at = "ops.families_rest",
    .total_at = "ops",
    .total_title = "all operations",
    .paper_rows = OPS_ON_PAPER,
    .brief_rows = 8,
};

static const struct tm_table op_table = {
    .id = "ops",
    .caption = "Operations by self time",
    .shows = "name, self_ps sums, self_share_pct, executions, category, bound, roof_pct, "
             "cumulative_pct, precision wide, mean_ps wide, min_ps wide, max_ps wide, intensity wide, "
             "flop_rate wide, bandwidth wide, op wide, source wide, module wide, count wide sums, "
             "total_ps wide sums, device_count wide, first.begin_ps wide = First at, "
             "first.device wide = On",
    .list = "ops.rows",
    .rest_at = "ops.rest",
    .total_at = "ops",
    .total_title = "all operations",
    .paper_rows = OPS_ON_PAPER,
    .brief_rows = 8,
};

/* Paper has room only for the framework path, without which operations of one name look alike. */
static const char families_on_paper[] = "family, op, self_ps sums, share_pct, executions, category, bound, roof_pct";
static const char ops_on_paper[] = "name, op, self_ps sums, self_share_pct, executions, category, bound, roof_pct";

/* Paper has no room for the line of the source in the table of the operations. */
static void emit_origins(const struct tm_content *content, const struct tm_value *rows)
{
    size_t pick[ORIGINS_MOST], n = 0;

    if (!content->medium->room.is_paper)
        return;
    for (size_t i = 0; i < tm_length(rows) && i < OPS_ON_PAPER && n < ORIGINS_MOST; i++)
        if (tm_has(tm_get(tm_at(rows, i), "source")))
            pick[n++] = i;
    tm_emit_table(content, &(struct tm_table){ .id = "op-origins",
                                               .caption = "Source of the longest operations",
                                               .is_detail = true,
                                               .shows = "name, source",
                                               .list = "ops.rows",
                                               .pick = pick,
                                               .picks = n,
                                               .is_only_picked = true });
}

static void emit_ops(const struct tm_content *content)
{
    const struct tm_value *ops = tm_of(content, "ops");

    tm_emit_facts(content, "op-facts", "ops", "distinct, distinct_families, self_ps, top_share_pct, rows_for_80_pct");
    if (strcmp(tm_text(tm_get(ops, "basis")), "kernel") == 0)
        tm_emit(content, TM_TONE_INFO,
                "The profile does not record which operations its kernels belong to, so kernels are listed instead.");
    if (!tm_is_for("gpu", content->summary)) /* with GPUs it is listed with the kernels */
        tm_emit_table(content, &op_categories);
    /* if each operation is its own family, the table of operations suffices */
    const bool has_families = tm_int(tm_get(ops, "distinct_families")) != tm_int(tm_get(ops, "distinct"));
    struct tm_table all = op_table, by_family = families;

    if (content->medium->room.is_paper) {
        all.shows = ops_on_paper;
        by_family.shows = families_on_paper;
    }
    all.is_detail = has_families; /* which paper has instead */
    if (content->medium->room.is_data || has_families) {
        tm_emit_table(content, &by_family);
        tm_emit(content, TM_TONE_QUIET,
                "An op family consists of all operations with equal names without numbers and equal framework paths "
                "without layer numbers.");
    }
    tm_emit_table(content, &all);
    emit_origins(content, tm_get(ops, "rows"));
}

static const char *no_ops(const struct tm_value *summary)
{
    return tm_if_none(summary, "ops.rows", "no operation ran in the analyzed steps");
}

const struct tm_section tm_ops_section = {
    .id = "ops", .title = "Operations", .key = "ops", .say = emit_ops, .nothing = no_ops
};

enum { KERNELS_ON_PAPER = 20, UNFOLDED_MOST = 60, VARIANTS_EACH = 8, PAPER_VARIANTS = 3 };

static const struct tm_table kernel_categories = {
    .id = "kernel-categories",
    .caption = "Time by category",
    .shows = "category, count, total_ps, share_pct",
    .list = "kernels.by_category",
    .total_at = "kernels",
    .total_title = "all kernels",
};

/* The columns of a name and of its variants, which each fill some of them.  A variant is named by its grid and
 * block. */
static const struct tm_column tree_columns[] = {
    { "Kernel", "name", TM_DOC_NAME },
    { "Total", "total_ps", TM_DOC_TIME | TM_SUMS },
    { "Share", "share_pct", TM_DOC_PERCENT },
    { "Count", "count", TM_DOC_COUNT | TM_SUMS },
    { "Mean", "mean_ps", TM_DOC_TIME },
    { "Op", "op", TM_DOC_NAME },
    { "Category", "category", TM_DOC_WORD },
    { "Occupancy", "occupancy_pct", TM_DOC_PERCENT },
    { "p95", "p95_ps", TM_DOC_TIME | TM_WIDE },
    { "Max", "max_ps", TM_DOC_TIME | TM_WIDE },
    { "Variants", "variants", TM_DOC_COUNT | TM_WIDE },
    { "Grid", "grid", TM_DOC_WORD | TM_WIDE },
    { "Block", "block", TM_DOC_WORD | TM_WIDE },
    { "Registers", "registers", TM_DOC_COUNT | TM_WIDE },
    { "Shared memory", "shared_bytes", TM_DOC_BYTES | TM_WIDE },
    { "Precision", "precision", TM_DOC_WORD | TM_WIDE },
    { "HLO op", "hlo_op", TM_DOC_NAME | TM_WIDE },
    { "Devices", "device_count", TM_DOC_COUNT | TM_WIDE },
};

enum { TREE_COLUMNS = sizeof(tree_columns) / sizeof(tree_columns[0]), SHAPE_BYTES = 80 };

struct kernel_row {
    struct tm_cell cell[TREE_COLUMNS];
};

struct kernel_tree {
    struct kernel_row *row;
    char (*shape)[SHAPE_BYTES];
    uint8_t *depth;
    size_t rows, room;
    const char **name; /* of each variant: looked up once, and compared with the name of each row */
    size_t variants;
};

/* in: also  where a figure that `of` lacks is looked up; NULL = nowhere */
static void add_kernel(struct kernel_tree *tree, const struct tm_value *of, const struct tm_value *also, int depth)
{
    struct tm_cell *cell = tree->row[tree->rows].cell;

    for (size_t c = 0; c < TREE_COLUMNS; c++) {
        const struct tm_value *value = tm_get(of, tree_columns[c].key);

        cell[c] = tm_cell_of_value(tm_column_kind(&tree_columns[c]),
                                   value || !also ? value : tm_get(also, tree_columns[c].key));
    }
    if (depth > 0) {
        (void)snprintf(tree->shape[tree->rows], SHAPE_BYTES, "%.30s \xc3\x97 %.30s", tm_text(tm_get(of, "grid")),
                       tm_text(tm_get(of, "block")));
        cell[0] = tm_cell_of_text(TM_DOC_WORD, tree->shape[tree->rows]);
    }
    tree->depth[tree->rows++] = (uint8_t)depth;
}

/* out: pick  the places of the variants of a name, the longest first; returned: how many, VARIANTS_EACH at most */
static size_t pick_variants(const struct kernel_tree *tree, const char *name, size_t pick[VARIANTS_EACH])
{
    size_t n = 0;

    for (size_t i = 0; i < tree->variants && n < VARIANTS_EACH; i++)
        if (strcmp(tree->name[i], name) == 0)
            pick[n++] = i;
    return n;
}

/* Names, each followed by its variants if there are several.  The op of a name is that of all its variants. */
static void fill_tree(struct kernel_tree *tree, const struct tm_value *kernels, size_t variants_most)
{
    const struct tm_value *names = tm_get(kernels, "by_name"), *rows = tm_get(kernels, "rows");

    for (size_t i = 0; i < tree->variants; i++)
        tree->name[i] = tm_text(tm_get(tm_at(rows, i), "name"));
    for (size_t i = 0; i < tm_length(names); i++) {
        const struct tm_value *name = tm_at(names, i);
        size_t pick[VARIANTS_EACH];
        const size_t count = i < UNFOLDED_MOST ? pick_variants(tree, tm_text(tm_get(name, "name")), pick) : 0;
        const bool is_one = count == 1 && tm_int(tm_get(name, "variants")) <= 1;

        add_kernel(tree, name, is_one ? tm_at(rows, pick[0]) : NULL, 0);
        for (size_t k = 0; !is_one && k < count && k < variants_most; k++)
            add_kernel(tree, tm_at(rows, pick[k]), NULL, 1);
    }
}

static void emit_kernel_tree(const struct tm_content *content, const struct tm_value *kernels)
{
    const size_t names = tm_length(tm_get(kernels, "by_name")),
                 unfolded = names < UNFOLDED_MOST ? names : UNFOLDED_MOST;
    struct kernel_tree tree = { .room = names + unfolded * VARIANTS_EACH,
                                .variants = tm_length(tm_get(kernels, "rows")) };

    tree.row = tm_content_take(content, tree.room * sizeof(*tree.row));
    tree.shape = tm_content_take(content, tree.room * sizeof(*tree.shape));
    tree.depth = tm_content_take(content, tree.room);
    tree.name = tm_content_take(content, tree.variants * sizeof(*tree.name));
    if (tree.row && tree.shape && tree.depth && tree.name) {
        fill_tree(&tree, kernels, content->medium->room.is_paper ? PAPER_VARIANTS : VARIANTS_EACH);
        tm_emit_table(content, &(struct tm_table){ .id = "kernel-names",
                                                   .caption = "Kernels by total time, variants below each",
                                                   TM_COLUMNS(tree_columns),
                                                   .cells = tree.row->cell,
                                                   .cell_rows = tree.rows,
                                                   .depths = tree.depth,
                                                   .rest_at = "kernels.by_name_rest",
                                                   .total_at = "kernels",
                                                   .total_title = "all kernels",
                                                   .note = "Below a name are its variants: grid \xc3\x97 block.",
                                                   .paper_rows = KERNELS_ON_PAPER });
    }
    tm_content_give(content, tree.row, tree.room * sizeof(*tree.row));
    tm_content_give(content, tree.shape, tree.room * sizeof(*tree.shape));
    tm_content_give(content, tree.depth, tree.room);
    tm_content_give(content, tree.name, tree.variants * sizeof(*tree.name));
}

/* The two lists: for programs, and where only variants are known. */
static void emit_kernel_lists(const struct tm_content *content)
{
    static const struct tm_table names_alone = {
        .id = "kernel-names",
        .caption = "Kernels by total time",
        .shows = "name, total_ps sums, share_pct, count sums, mean_ps, p95_ps, max_ps, category, variants, "
                 "min_ps, p50_ps, device_count",
        .list = "kernels.by_name",
        .rest_at = "kernels.by_name_rest",
    };
    static const struct tm_table variants = {
        .id = "kernels",
        .caption = "Variants of each kernel",
        .shows = "name, grid, block, total_ps sums, share_pct, count sums, mean_ps, occupancy_pct, "
                 "registers wide, shared_bytes wide, op wide, hlo_op wide, precision wide, category wide, "
                 "class wide, min_ps wide, p50_ps wide, p95_ps wide, max_ps wide, device_count wide",
        .list = "kernels.rows",
        .rest_at = "kernels.rest",
        .total_at = "kernels",
        .total_title = "all kernels",
        .paper_rows = KERNELS_ON_PAPER,
    };

    tm_emit_table(content, &names_alone);
    tm_emit_table(content, &variants);
}

static void emit_kernel_rows(const struct tm_content *content)
{
    const struct tm_value *kernels = tm_of(content, "kernels");

    tm_emit_facts(content, "kernel-facts", "kernels",
                  "count, total_ps, distinct_names, distinct, compute_mean_ps, weighted_mean_ps");
    if (!content->is_brief || tm_length(tm_get(kernels, "by_category")) > 1)
        tm_emit_table(content, &kernel_categories);
    if (content->medium->room.is_data || tm_length(tm_get(kernels, "by_name")) == 0)
        emit_kernel_lists(content);
    else
        emit_kernel_tree(content, kernels);
}

static const char *no_kernels(const struct tm_value *summary)
{
    return tm_if_none(summary, "kernels.rows", "no kernel ran in the analyzed steps");
}

const struct tm_section tm_kernels_section = { .id = "kernels",
                                               .title = "Kernels",
                                               .key = "kernels",
                                               .say = emit_kernel_rows,
                                               .nothing = no_kernels,
                                               .platforms = "gpu" };

/* Roofline: how close the run comes to the peaks of its devices. */

enum { BOUNDS_MOST = 8, DEVICES_ON_PAPER = 16 };

static void emit_bounds(const struct tm_content *content, const struct tm_value *roofline)
{
    const struct tm_value *bounds = tm_get(roofline, "bound_ps");
    struct tm_cell cell[BOUNDS_MOST][2];
    size_t n = 0;

    for (size_t i = 0; i < tm_length(bounds) && n < BOUNDS_MOST; i++) {
        if (tm_int(tm_value_at(bounds, i)) <= 0)
            continue;
        cell[n][0] = tm_cell_of_text(TM_DOC_TERM, tm_key_at(bounds, i));
        cell[n++][1] = tm_cell_of_value(TM_DOC_TIME, tm_value_at(bounds, i));
    }
    tm_emit_table(content, &(struct tm_table){ .id = "roofline-bounds",
                                               .caption = "Compute time by limit",
                                               .is_detail = true,
                                               .shows = "bound term = Bound by, total_ps time = Time",
                                               .cells = cell[0],
                                               .cell_rows = n });
}

/* Paper has no room for this column, so each source is named once. */
static void emit_sources(const struct tm_content *content, const struct tm_value *devices, const char *key,
                         const char *title)
{
    const char *said = "";

    for (size_t i = 0; i < tm_length(devices) && i < DEVICES_ON_PAPER; i++) {
        const char *source = tm_text(tm_get(tm_at(devices, i), key));

        if (*source && strcmp(source, said) != 0)
            tm_emit(content, TM_TONE_QUIET, "%s: %s.", title, source);
        said = *source ? source : said;
    }
}

static void emit_peaks(const struct tm_content *content, const struct tm_value *devices, bool has_costs)
{
    const char *caption = has_costs ? "Achieved vs. peak" : "Peak rates";

    tm_emit_table(
        content,
        &(struct tm_table){ .id = "roofline-devices",
                            .caption = caption,
                            .shows = "device, bandwidth, memory_pct, peak_bandwidth, flop_rate, flops_pct, peak_flops, "
                                     "peak_precision, bandwidth_source wide, peak_source wide",
                            .list = "roofline.devices",
                            .paper_rows = DEVICES_ON_PAPER,
                            .is_detail = has_costs && tm_length(devices) > 1 }); /* the facts have the totals */
    if (!content->medium->room.is_paper || content->is_brief)
        return;
    emit_sources(content, devices, "peak_source", "Peak compute");
    emit_sources(content, devices, "bandwidth_source", "Peak memory bandwidth");
}

/* Shares above 100%: noted where they are shown. */
static void warn_of_impossible(const struct tm_content *content)
{
    const struct tm_value *rows = tm_of(content, "ops.rows");
    size_t count = 0;

    for (size_t i = 0; i < tm_length(rows); i++)
        count += tm_double(tm_get(tm_at(rows, i), "roof_pct")) > 100;
    if (count)
        tm_emit(content, TM_TONE_WARNING,
                "%zu operation%s 100%% of %s roofline, which is not possible: caches serve part of the bytes, or the "
                "cost is overestimated.",
                count, count == 1 ? " exceeds" : "s exceed", count == 1 ? "its" : "their");
}

static const struct tm_table far = {
    .id = "roofline-far",
    .caption = "Operations below half of their roofline",
    .shows =
        "name, op, self_ps, lost_ps, bound, roof_pct, intensity wide, flop_rate wide, bandwidth wide, precision wide, "
        "source wide",
    .list = "roofline.far",
    .paper_rows = 8,
    .is_detail = true,
};

static const struct tm_table types = {
    .id = "types",
    .caption = "Compute time by number type",
    .shows = "precision, total_ps, share_pct, matrix_ps, tensor_core_ps, count",
    .list = "roofline.precisions",
    .by = "total_ps",
    .is_detail = true,
};

static void emit_roofline(const struct tm_content *content)
{
    const struct tm_value *roofline = tm_of(content, "roofline");

    if (!tm_emit_missing(content, tm_get(roofline, "source"), "Operation costs")) {
        tm_emit_facts(content, "roofline-facts", "roofline",
                      "bound, memory_pct, flops_pct, mfu_pct, known_pct, flops_known_pct");
        tm_emit_charts(content, TM_CHART_ROOFLINE);
        warn_of_impossible(content);
        tm_emit_table(content, &far);
        emit_bounds(content, roofline);
    }
    emit_peaks(content, tm_get(roofline, "devices"), tm_has(tm_get(roofline, "source")));
    tm_emit_table(content, &types);
}

const struct tm_section tm_roofline_section = {
    .id = "roofline", .title = "Roofline", .key = "roofline", .say = emit_roofline, .wants_enough = true
};

/* Programs: how many run in a step, and the pauses between them. */

static const struct tm_table pauses = {
    .id = "program-pauses",
    .caption = "Longest pauses between programs",
    .shows = "begin_ps, dur_ps, device, step, before, after",
    .list = "programs.pauses.longest",
    .paper_rows = 5,
    .is_detail = true,
};

static void emit_programs(const struct tm_content *content)
{
    tm_emit_facts(content, "program-facts", "programs",
                  "per_step, count, operations, operation_ps, pauses.count, pauses.total_ps rare");
    tm_emit_table(content, &pauses);
}

static const char *no_programs(const struct tm_value *summary)
{
    return tm_if_none(summary, "programs.count", "no compiled program ran in the analyzed steps");
}

const struct tm_section tm_programs_section = { .id = "programs",
                                                .title = "Programs",
                                                .key = "programs",
                                                .say = emit_programs,
                                                .nothing = no_programs,
                                                .wants_enough = true };
