/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels: how many, how long, which. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "reports/content/content.h"
#include "reports/content/emit.h"
#include "reports/format/format.h"

/* Scopes: where in the program device time comes from: framework scopes, layers, annotations of the host. */

enum { SCOPES_ON_PAPER = 30, ANNOTATIONS_ON_PAPER = 16, LAYERS_ON_PAPER = 24 };

/* A tree of which those rows are shown that have most of `key`. */
static void emit_tree(const struct tm_content *content, struct tm_table tree, const char *key)
{
    const struct tm_room *room = &content->medium->room;
    const size_t most = room->is_paper && tree.paper_rows < room->rows ? tree.paper_rows : room->rows;
    size_t pick[TM_PICK_MOST];

    if (tm_length(tree.rows) > most) {
        tree.pick = pick;
        tree.picks = tm_pick_largest(tree.rows, key, NULL, most, pick);
        tm_pick_in_order(pick, tree.picks);
    }
    tree.depth = "depth";
    tm_emit_table(content, &tree);
}

/* Of a training step, whose passes are told apart. */
static bool has_passes(const struct tm_value *scopes)
{
    return tm_int(tm_path(scopes, "passes.backward")) > 0 || tm_int(tm_path(scopes, "passes.forward")) > 0;
}

static void emit_scope_facts(const struct tm_content *content, const struct tm_value *scopes)
{
    struct tm_column facts[6] = {
        { .key = "self_ps" },
        { .title = "Without a scope", .key = "unscoped.self_ps" },
    };
    size_t n = 2;

    if (has_passes(scopes)) {
        facts[n++] = (struct tm_column){ .key = "passes.forward" };
        facts[n++] = (struct tm_column){ .key = "passes.backward" };
        facts[n++] = (struct tm_column){ .key = "passes.other" };
    }
    if (tm_int(tm_path(scopes, "recomputed.self_ps")) > 0)
        facts[n++] = (struct tm_column){ .title = "Computed again (part of backward)", .key = "recomputed.self_ps" };
    tm_emit_facts(content, "scope-facts", facts, n, "scopes");
}

static void emit_scope_tree(const struct tm_content *content, const struct tm_value *scopes)
{
    static const struct tm_column columns[] = {
        { .key = "name" },
        { .key = "count" },
        { .key = "total_ps" },
        { .key = "share_pct" },
        { .key = "self_ps", .shape = TM_SUMS },
        { .key = "pass" },
    };

    emit_tree(content,
              (struct tm_table){ .id = "scopes",
                                 .caption = "Device time by scope: a scope, then what is in it",
                                 .column = columns,
                                 .columns = sizeof(columns) / sizeof(columns[0]) - !has_passes(scopes),
                                 .list = "scopes.rows",
                                 .rows = tm_get(scopes, "rows"),
                                 .rest = tm_get(scopes, "rest"),
                                 .total = scopes,
                                 .total_title = "all scopes",
                                 .paper_rows = SCOPES_ON_PAPER },
              "total_ps");
}

static void emit_layers(const struct tm_content *content, const struct tm_value *scopes)
{
    static const struct tm_column columns[] = {
        { .key = "path" },        { .key = "count" },    { .key = "forward_ps" },
        { .key = "backward_ps" }, { .key = "other_ps" }, { .key = "total_ps", .shape = TM_SUMS },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "layers",
                                               .caption = "Layers: numbered scopes that are alike",
                                               TM_COLUMNS(columns),
                                               .list = "scopes.layers",
                                               .rest = tm_get(scopes, "layers_rest"),
                                               .paper_rows = LAYERS_ON_PAPER });
}

static void emit_annotations(const struct tm_content *content, const struct tm_value *scopes)
{
    static const struct tm_column columns[] = {
        { .key = "name" },       { .key = "count" },
        { .key = "host_ps" },    { .key = "host_self_ps", .shape = TM_SUMS },
        { .key = "activities" }, { .key = "device_ps" },
    };

    if (tm_length(tm_get(scopes, "annotations")) > 0)
        emit_tree(content,
                  (struct tm_table){ .id = "annotations",
                                     .caption = "Annotations on host threads: one, then what is in it",
                                     TM_COLUMNS(columns),
                                     .list = "scopes.annotations",
                                     .rows = tm_get(scopes, "annotations"),
                                     .rest = tm_get(scopes, "annotations_rest"),
                                     .paper_rows = ANNOTATIONS_ON_PAPER },
                  "host_ps");
}

static void emit_scopes(const struct tm_content *content)
{
    const struct tm_value *scopes = tm_of(content, "scopes");

    if (!tm_emit_missing(content, tm_get(scopes, "rows"), "Scopes")) {
        emit_scope_facts(content, scopes);
        tm_emit_charts(content, TM_CHART_SCOPES);
        emit_scope_tree(content, scopes);
        emit_layers(content, scopes);
    }
    emit_annotations(content, scopes);
}

/* Neither scopes nor annotations: the reason for the former, which most readers look for. */
static const char *no_scopes(const struct tm_value *summary)
{
    const struct tm_value *rows = tm_path(summary, "scopes.rows");

    if (tm_length(rows) > 0 || tm_length(tm_path(summary, "scopes.annotations")) > 0)
        return "";
    return tm_has(rows) || !*tm_why(rows) ? "no operation tells a scope" : tm_why(rows);
}

const struct tm_section tm_scopes_section = {
    .id = "scopes", .title = "Scopes", .key = "scopes", .say = emit_scopes, .nothing = no_scopes
};

/* Occupancy: how full the kernels keep the devices, and what limits them. */

enum { BINS_MOST = 32, LIMITERS_MOST = 8, LOW_ON_PAPER = 10, TAIL_ON_PAPER = 5 };

static void emit_occupancy_facts(const struct tm_content *content)
{
    static const struct tm_column facts[] = {
        { .key = "mean_pct" },
        { .key = "known_ps" },
        { .key = "unknown_ps" },
        { .key = "tail.lost_ps" },
        { .key = "tail.idle_multiprocessors_ps" },
    };

    tm_emit_facts(content, "occupancy-facts", TM_FACTS(facts), "occupancy");
}

static void emit_limiters(const struct tm_content *content, const struct tm_value *occupancy)
{
    static const struct tm_column columns[] = {
        { "Limited by", "limiter", TM_CELL_TERM },
        { "Kernel time", "total_ps", TM_CELL_TIME },
        { "Share", "share_pct", TM_CELL_PCT },
    };
    const struct tm_value *limiters = tm_get(occupancy, "limiters");
    struct tm_cell cell[LIMITERS_MOST][3];
    size_t n = 0;

    for (size_t i = 0; i < tm_length(limiters) && n < LIMITERS_MOST; i++) {
        const struct tm_value *time = tm_value_at(limiters, i);

        if (tm_int(time) <= 0)
            continue;
        cell[n][0] = tm_cell_of_text(TM_CELL_TERM, tm_key_at(limiters, i));
        cell[n][1] = tm_cell_of_value(TM_CELL_TIME, time);
        cell[n++][2] = tm_cell_of_share(time, tm_get(occupancy, "known_ps"));
    }
    tm_emit_table(content, &(struct tm_table){ .id = "occupancy-limiters",
                                               .caption = "Kernel time by what limits the occupancy",
                                               TM_COLUMNS(columns),
                                               .cells = cell[0],
                                               .cell_rows = n });
}

static void emit_histogram(const struct tm_content *content, const struct tm_value *occupancy)
{
    static const struct tm_column columns[] = {
        { .key = "from_pct" },
        { .key = "to_pct" },
        { .key = "count" },
        { .key = "total_ps" },
    };

    const struct tm_value *rows = tm_get(occupancy, "histogram");
    size_t pick[BINS_MOST], n = 0;

    for (size_t i = 0; i < tm_length(rows) && n < BINS_MOST; i++)
        if (tm_int(tm_get(tm_at(rows, i), "count")) > 0)
            pick[n++] = i;
    tm_emit_table(content, &(struct tm_table){ .id = "occupancy-histogram",
                                               .caption = "Kernels by occupancy",
                                               TM_COLUMNS(columns),
                                               .list = "occupancy.histogram",
                                               .pick = pick,
                                               .picks = n,
                                               .is_only_picked = true });
}

static void emit_low(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { .key = "name" },
        { .key = "total_ps" },
        { .key = "share_pct" },
        { .key = "occupancy_pct" },
        { .key = "limiter" },
        { .key = "grid" },
        { .key = "block" },
        { .key = "registers", .shape = TM_WIDE },
        { .key = "shared_bytes", .shape = TM_WIDE },
        { .key = "waves", .shape = TM_WIDE },
        { .key = "tail_pct", .shape = TM_WIDE },
        { .key = "lost_ps", .shape = TM_WIDE },
        { .key = "count", .shape = TM_WIDE },
        { .key = "variants", .shape = TM_WIDE },
        { .key = "category", .shape = TM_WIDE },
        { .key = "op", .shape = TM_WIDE },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "occupancy-low",
                                               .caption = "Kernels under 50 % occupancy, of 1 % of the kernel time "
                                                          "or more",
                                               TM_COLUMNS(columns),
                                               .list = "occupancy.low",
                                               .paper_rows = LOW_ON_PAPER });
}

static void emit_tail(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { .key = "name" },
        { .key = "lost_ps" },
        { .key = "tail_pct" },
        { .key = "total_ps" },
        { .key = "waves" },
        { .key = "grid" },
        { .key = "block" },
        { .key = "share_pct", .shape = TM_WIDE },
        { .key = "occupancy_pct", .shape = TM_WIDE },
        { .key = "limiter", .shape = TM_WIDE },
        { .key = "registers", .shape = TM_WIDE },
        { .key = "shared_bytes", .shape = TM_WIDE },
        { .key = "count", .shape = TM_WIDE },
        { .key = "variants", .shape = TM_WIDE },
        { .key = "category", .shape = TM_WIDE },
        { .key = "op", .shape = TM_WIDE },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "occupancy-tail",
                                               .caption = "Kernels whose last wave of blocks loses most",
                                               TM_COLUMNS(columns),
                                               .list = "occupancy.tail.rows",
                                               .paper_rows = TAIL_ON_PAPER });
}

static void emit_occupancy(const struct tm_content *content)
{
    const struct tm_value *occupancy = tm_of(content, "occupancy");

    emit_occupancy_facts(content);
    tm_emit_charts(content, TM_CHART_OCCUPANCY);
    emit_low(content);
    emit_limiters(content, occupancy);
    emit_tail(content);
    emit_histogram(content, occupancy);
}

const struct tm_section tm_occupancy_section = {
    .id = "occupancy", .title = "Occupancy", .key = "occupancy", .say = emit_occupancy, .platforms = "gpu"
};

/* Fusion: kernels so small or so many that one could do the work of several. */

enum { LOSS_COLUMNS = 7, RUNS_ON_PAPER = 5, OPS_ON_PAPER = 8, TEXT_BYTES = 512 };

static void emit_fusion_facts(const struct tm_content *content)
{
    static const struct tm_column facts[] = {
        { .title = "Kernels", .key = "kernels.count" },
        { .title = "Their time", .key = "kernels.total_ps" },
        { .key = "per_step" },
        { .key = "matrix.total_ps" },
        { .key = "matrix.share_pct" },
        { .key = "runs.gap_ps" },
    };

    tm_emit_facts(content, "fusion-facts", TM_FACTS(facts), "fusion");
}

/* --- what could be one kernel --- */

/* A kind of loss, and where in the section its figures are; NULL = it has none. */
struct loss {
    const char *title, *key, *kernels, *time, *saved;
    bool is_no_kernel; /* its time is no part of the kernels' */
};

static const struct loss losses[] = {
    { "Runs of small kernels", "runs", "kernels", "kernel_ps", "at_stake_ps", false },
    { "Chains of pointwise kernels", "eager_chains", "kernels", "total_ps", "saved_ps", false },
    { "Under 100 \xc2\xb5s", "small", NULL, "total_ps", NULL, false },
    { "Under 10 \xc2\xb5s", "tiny", NULL, "total_ps", NULL, false },
    { "Repeated over 10 times a step", "repeated_total", NULL, "total_ps", NULL, false },
    { "Softmax between two products", "attention_unfused", NULL, "total_ps", NULL, false },
    { "Layout copies", "layout_copies", NULL, "total_ps", NULL, false },
    { "32-bit products beside matrix units", "matrix.f32", NULL, "total_ps", NULL, false },
    { "Collectives under 100 \xc2\xb5s", "small.collectives", NULL, "total_ps", NULL, true },
};

enum { LOSSES = sizeof(losses) / sizeof(losses[0]) };

static struct tm_cell figure(enum tm_cell_kind kind, const struct tm_value *of, const char *key)
{
    return key ? tm_cell_of_value(kind, tm_get(of, key)) : tm_cell_of_text(kind, "");
}

static void fill_loss(struct tm_cell *row, const struct loss *loss, const struct tm_value *fusion,
                      char meaning[TM_TERM_BYTES])
{
    const struct tm_value *of = tm_path(fusion, loss->key), *whole = tm_path(fusion, "kernels.total_ps");
    const int term = tm_term_find("fusion", loss->title);

    row[0] = tm_cell_of_text(TM_CELL_WORD, loss->title);
    row[1] = tm_cell_of_value(TM_CELL_COUNT, tm_get(of, "count"));
    row[2] = figure(TM_CELL_COUNT, of, loss->kernels);
    row[3] = figure(TM_CELL_TIME, of, loss->time);
    row[4] = tm_cell_of_share(loss->is_no_kernel ? NULL : tm_get(of, loss->time), whole);
    row[5] = figure(TM_CELL_TIME, of, loss->saved);
    row[6] = tm_cell_of_text(TM_CELL_PROSE, term < 0 ? "" : tm_term_text(term, meaning));
}

/* The titles of what was looked for and is not there, in one sentence. */
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
        tm_emit(content, TM_TONE_QUIET, "Looked for and not found: %s.", text);
}

static void emit_losses(const struct tm_content *content, const struct tm_value *fusion)
{
    static const struct tm_column columns[LOSS_COLUMNS] = {
        { "Kernels", "what", TM_CELL_WORD },
        { "Count", "count", TM_CELL_COUNT },
        { "Kernels in them", "kernels", TM_CELL_COUNT },
        { "Time", "total_ps", TM_CELL_TIME },
        { "Share", "share_pct", TM_CELL_PCT },
        { "Potential savings", "at_stake_ps", TM_CELL_TIME },
        { "Meaning", "meaning", TM_CELL_PROSE | TM_WIDE },
    };
    struct tm_cell cell[LOSSES][LOSS_COLUMNS];
    char meaning[LOSSES][TM_TERM_BYTES];
    size_t n = 0;

    for (size_t i = 0; i < LOSSES; i++)
        if (tm_int(tm_get(tm_path(fusion, losses[i].key), "count")) > 0)
            fill_loss(cell[n++], &losses[i], fusion, meaning[i]);
    tm_emit_table(content, &(struct tm_table){ .id = "fusion-kinds",
                                               .caption = "Kernels that could be fewer or faster",
                                               TM_COLUMNS(columns),
                                               .cells = cell[0],
                                               .cell_rows = n });
    emit_what_is_not(content, fusion);
    for (size_t i = 0; i < LOSSES; i++)
        if (tm_path(fusion, losses[i].key))
            (void)tm_emit_missing(content, tm_path(fusion, losses[i].key), losses[i].title);
}

/* --- which ones --- */

static void emit_runs(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { .key = "begin_ps" },
        { .key = "dur_ps" },
        { .key = "at_stake_ps" },
        { .key = "kernels" },
        { .key = "device" },
        { .key = "step" },
        { .title = "First kernel", .key = "names[0]" },
        { .key = "gap_ps" },
        { .key = "kernel_ps", .shape = TM_WIDE },
        { .key = "track", .shape = TM_WIDE },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "fusion-runs",
                                               .caption = "Longest runs of small kernels on a stream",
                                               TM_COLUMNS(columns),
                                               .list = "fusion.runs.longest",
                                               .paper_rows = RUNS_ON_PAPER });
}

static void emit_repeated(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { .key = "name" },  { .key = "op" },       { .key = "per_step" },
        { .key = "count" }, { .key = "total_ps" }, { .key = "mean_ps" },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "fusion-repeated",
                                               .caption = "Small kernels that come more than 10 times in a step",
                                               TM_COLUMNS(columns),
                                               .list = "fusion.repeated",
                                               .paper_rows = OPS_ON_PAPER });
}

/* The kernels of one kind: {"rows", "rest"}. */
static void emit_kernels(const struct tm_content *content, const struct tm_value *of, const char *id,
                         const char *caption)
{
    static const struct tm_column columns[] = {
        { "Kernel", "name", TM_CELL_NAME },
        { "Op", "op", TM_CELL_NAME },
        { "Count", "count", TM_CELL_COUNT | TM_SUMS },
        { "Total", "total_ps", TM_CELL_TIME | TM_SUMS },
    };

    tm_emit_table(content, &(struct tm_table){ .id = id,
                                               .caption = caption,
                                               TM_COLUMNS(columns),
                                               .rows = tm_get(of, "rows"),
                                               .rest = tm_get(of, "rest"),
                                               .paper_rows = OPS_ON_PAPER });
}

static void emit_fusion(const struct tm_content *content)
{
    const struct tm_value *fusion = tm_of(content, "fusion");

    emit_fusion_facts(content);
    emit_losses(content, fusion);
    emit_runs(content);
    emit_repeated(content);
    emit_kernels(content, tm_get(fusion, "attention_unfused"), "fusion-attention",
                 "Attention in pieces: what stands between the products");
    emit_kernels(content, tm_get(fusion, "layout_copies"), "fusion-layout-copies",
                 "Copies and transposes that no operation asked for");
    emit_kernels(content, tm_path(fusion, "matrix.f32"), "fusion-32-bit", "32-bit products beside the matrix units");
}

static const char *no_fusion(const struct tm_value *summary)
{
    return tm_if_none(summary, "fusion.kernels.count", "no kernel ran in the analyzed steps");
}

const struct tm_section tm_fusion_section = {
    .id = "fusion", .title = "Fusion", .key = "fusion", .say = emit_fusion, .nothing = no_fusion, .platforms = "gpu"
};

/* Operations: which ones device time goes to, and where in the program they come from. */

enum { OPS_SECTION_OPS_ON_PAPER = 20, ORIGINS_MOST = 12 };

static void emit_op_facts(const struct tm_content *content, const struct tm_value *ops)
{
    static const struct tm_column facts[] = {
        { .key = "distinct" },      { .key = "distinct_families" }, { .key = "self_ps" },
        { .key = "top_share_pct" }, { .key = "rows_for_80_pct" },
    };

    tm_emit_facts(content, "op-facts", TM_FACTS(facts), "ops");
    if (strcmp(tm_text(tm_get(ops, "basis")), "kernel") == 0)
        tm_emit(content, TM_TONE_INFO,
                "The profile does not tell which operations its kernels are of: kernels stand for them.");
}

/* With GPUs it stands with the kernels. */
static void emit_categories(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { .key = "category" },
        { .key = "count" },
        { .key = "total_ps" },
        { .key = "share_pct" },
    };

    if (!tm_is_for("gpu", content->summary))
        tm_emit_table(content, &(struct tm_table){ .id = "op-categories",
                                                   .caption = "Time by category",
                                                   TM_COLUMNS(columns),
                                                   .list = "kernels.by_category" });
}

/* Where each operation is a family of its own, the table of operations says it all. */
static void emit_families(const struct tm_content *content, const struct tm_value *ops)
{
    static const struct tm_column columns[] = {
        { .key = "family" },
        { .key = "members", .shape = TM_SUMS },
        { .key = "self_ps", .shape = TM_SUMS },
        { .key = "share_pct" },
        { .key = "executions" },
        { .key = "category" },
        { .key = "bound" },
        { .key = "roof_pct" },
        { .key = "cumulative_pct" },
        { .key = "precision", .shape = TM_WIDE },
        { .key = "mean_ps", .shape = TM_WIDE },
        { .key = "intensity", .shape = TM_WIDE },
        { .key = "flop_rate", .shape = TM_WIDE },
        { .key = "bandwidth", .shape = TM_WIDE },
        { .key = "op", .shape = TM_WIDE },
        { .key = "longest", .shape = TM_WIDE },
        { .key = "source", .shape = TM_WIDE },
        { .key = "count", .shape = TM_WIDE | TM_SUMS },
        { .key = "device_count", .shape = TM_WIDE },
    };

    if (!content->medium->room.is_data && tm_int(tm_get(ops, "distinct_families")) == tm_int(tm_get(ops, "distinct")))
        return;
    tm_emit_table(content, &(struct tm_table){ .id = "op-families",
                                               .caption = "Families of operations by self time",
                                               TM_COLUMNS(columns),
                                               .list = "ops.families",
                                               .rest = tm_get(ops, "families_rest"),
                                               .total = ops,
                                               .total_title = "all operations",
                                               .paper_rows = OPS_SECTION_OPS_ON_PAPER });
    tm_emit(
        content, TM_TONE_QUIET,
        "A family is all operations whose names are equal without numbers and whose framework paths are equal without "
        "layer numbers.");
}

static void emit_op_table(const struct tm_content *content, const struct tm_value *ops)
{
    static const struct tm_column columns[] = {
        { .key = "name" },
        { .key = "self_ps", .shape = TM_SUMS },
        { .key = "self_share_pct" },
        { .key = "executions" },
        { .key = "category" },
        { .key = "bound" },
        { .key = "roof_pct" },
        { .key = "cumulative_pct" },
        { .key = "precision", .shape = TM_WIDE },
        { .key = "mean_ps", .shape = TM_WIDE },
        { .key = "min_ps", .shape = TM_WIDE },
        { .key = "max_ps", .shape = TM_WIDE },
        { .key = "intensity", .shape = TM_WIDE },
        { .key = "flop_rate", .shape = TM_WIDE },
        { .key = "bandwidth", .shape = TM_WIDE },
        { .key = "op", .shape = TM_WIDE },
        { .key = "source", .shape = TM_WIDE },
        { .key = "module", .shape = TM_WIDE },
        { .key = "count", .shape = TM_WIDE | TM_SUMS },
        { .key = "total_ps", .shape = TM_WIDE | TM_SUMS },
        { .key = "device_count", .shape = TM_WIDE },
        { .title = "First at", .key = "first.begin_ps", .shape = TM_WIDE },
        { .title = "On", .key = "first.device", .shape = TM_WIDE },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "ops",
                                               .caption = "Operations by self time",
                                               TM_COLUMNS(columns),
                                               .list = "ops.rows",
                                               .rest = tm_get(ops, "rest"),
                                               .total = ops,
                                               .total_title = "all operations",
                                               .paper_rows = OPS_SECTION_OPS_ON_PAPER });
}

/* Paper has no room for it in the table of the operations. */
static void emit_origins(const struct tm_content *content, const struct tm_value *rows)
{
    static const struct tm_column columns[] = {
        { .key = "name" },
        { .key = "op" },
        { .key = "source" },
    };
    size_t pick[ORIGINS_MOST], n = 0;

    if (!content->medium->room.is_paper)
        return;
    for (size_t i = 0; i < tm_length(rows) && i < OPS_SECTION_OPS_ON_PAPER && n < ORIGINS_MOST; i++)
        if (tm_has(tm_get(tm_at(rows, i), "op")) || tm_has(tm_get(tm_at(rows, i), "source")))
            pick[n++] = i;
    if (n == 0)
        return;
    tm_emit_table(content, &(struct tm_table){ .id = "op-origins",
                                               .caption = "Where the longest operations come from",
                                               TM_COLUMNS(columns),
                                               .list = "ops.rows",
                                               .pick = pick,
                                               .picks = n,
                                               .is_only_picked = true });
}

static void emit_ops(const struct tm_content *content)
{
    const struct tm_value *ops = tm_of(content, "ops");

    emit_op_facts(content, ops);
    emit_categories(content);
    emit_families(content, ops);
    emit_op_table(content, ops);
    emit_origins(content, tm_get(ops, "rows"));
}

static const char *no_ops(const struct tm_value *summary)
{
    return tm_if_none(summary, "ops.rows", "no operation lies in the analyzed steps");
}

const struct tm_section tm_ops_section = {
    .id = "ops", .title = "Operations", .key = "ops", .say = emit_ops, .nothing = no_ops
};

enum { KERNELS_ON_PAPER = 20, NAMES_MOST = 100, VARIANTS_MOST = 512 };

static void emit_kernel_categories(const struct tm_content *content, const struct tm_value *kernels)
{
    static const struct tm_column columns[] = {
        { .key = "category" },
        { .key = "count" },
        { .key = "total_ps" },
        { .key = "share_pct" },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "kernel-categories",
                                               .caption = "Time by category",
                                               TM_COLUMNS(columns),
                                               .list = "kernels.by_category",
                                               .total = kernels,
                                               .total_title = "all kernels" });
}

static void emit_names(const struct tm_content *content, const struct tm_value *kernels)
{
    static const struct tm_column columns[] = {
        { .key = "name" },
        { .key = "total_ps", .shape = TM_SUMS },
        { .key = "share_pct" },
        { .key = "count", .shape = TM_SUMS },
        { .key = "mean_ps" },
        { .key = "p95_ps" },
        { .key = "max_ps" },
        { .key = "category" },
        { .key = "variants" },
        { .key = "min_ps", .shape = TM_WIDE },
        { .key = "p50_ps", .shape = TM_WIDE },
        { .key = "device_count", .shape = TM_WIDE },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "kernel-names",
                                               .caption = "Kernels by total time",
                                               TM_COLUMNS(columns),
                                               .list = "kernels.by_name",
                                               .rest = tm_get(kernels, "by_name_rest"),
                                               .total = kernels,
                                               .total_title = "all kernels",
                                               .paper_rows = KERNELS_ON_PAPER });
}

/* The variants of the names that take most time, those of a name together.
 * out: pick[VARIANTS_MOST]; returns how many */
static size_t pick_variants(const struct tm_value *names, const struct tm_value *rows, size_t pick[VARIANTS_MOST])
{
    size_t n = 0;

    for (size_t i = 0; i < tm_length(names) && i < NAMES_MOST; i++) {
        const char *name = tm_text(tm_get(tm_at(names, i), "name"));

        for (size_t k = 0; k < tm_length(rows) && n < VARIANTS_MOST; k++)
            if (strcmp(tm_text(tm_get(tm_at(rows, k), "name")), name) == 0)
                pick[n++] = k;
    }
    return n;
}

static void emit_variants(const struct tm_content *content, const struct tm_value *kernels)
{
    static const struct tm_column columns[] = {
        { .key = "name" },
        { .key = "grid" },
        { .key = "block" },
        { .key = "total_ps", .shape = TM_SUMS },
        { .key = "share_pct" },
        { .key = "count", .shape = TM_SUMS },
        { .key = "mean_ps" },
        { .key = "occupancy_pct" },
        { .key = "registers", .shape = TM_WIDE },
        { .key = "shared_bytes", .shape = TM_WIDE },
        { .key = "op", .shape = TM_WIDE },
        { .key = "hlo_op", .shape = TM_WIDE },
        { .key = "precision", .shape = TM_WIDE },
        { .key = "category", .shape = TM_WIDE },
        { .key = "class", .shape = TM_WIDE },
        { .key = "min_ps", .shape = TM_WIDE },
        { .key = "p50_ps", .shape = TM_WIDE },
        { .key = "p95_ps", .shape = TM_WIDE },
        { .key = "max_ps", .shape = TM_WIDE },
        { .key = "device_count", .shape = TM_WIDE },
    };
    const struct tm_value *rows = tm_get(kernels, "rows");
    const bool is_data = content->medium->room.is_data; /* has all rows anyway */
    size_t pick[VARIANTS_MOST];
    const size_t picks = is_data ? 0 : pick_variants(tm_get(kernels, "by_name"), rows, pick);

    tm_emit_table(content, &(struct tm_table){ .id = "kernels",
                                               .caption = "Variants of each kernel",
                                               TM_COLUMNS(columns),
                                               .list = "kernels.rows",
                                               .pick = picks ? pick : NULL,
                                               .picks = picks,
                                               .rest = tm_get(kernels, "rest"),
                                               .total = kernels,
                                               .total_title = "all kernels",
                                               .paper_rows = KERNELS_ON_PAPER });
    if (tm_length(rows) > 0)
        tm_emit(content, TM_TONE_QUIET,
                "A variant is a kernel with one grid, block, number of registers, size of shared memory, and op.");
}

static void emit_kernel_rows(const struct tm_content *content)
{
    static const struct tm_column facts[] = {
        { .key = "count" },    { .key = "total_ps" },        { .key = "distinct_names" },
        { .key = "distinct" }, { .key = "compute_mean_ps" }, { .key = "weighted_mean_ps" },
    };
    const struct tm_value *kernels = tm_of(content, "kernels");

    tm_emit_facts(content, "kernel-facts", TM_FACTS(facts), "kernels");
    emit_kernel_categories(content, kernels);
    emit_names(content, kernels);
    emit_variants(content, kernels);
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

/* Roofline: how near the run comes to what its devices can compute and move. */

enum { BOUNDS_MOST = 8, TYPES_MOST = 32, DEVICES_ON_PAPER = 16, FAR_ON_PAPER = 8 };

static void emit_roofline_facts(const struct tm_content *content)
{
    static const struct tm_column facts[] = {
        { .key = "bound" },   { .key = "memory_pct" }, { .key = "flops_pct" },
        { .key = "mfu_pct" }, { .key = "known_pct" },  { .key = "flops_known_pct" },
    };

    tm_emit_facts(content, "roofline-facts", TM_FACTS(facts), "roofline");
}

static void emit_bounds(const struct tm_content *content, const struct tm_value *roofline)
{
    static const struct tm_column columns[] = {
        { "Bound by", "bound", TM_CELL_TERM },
        { "Time", "total_ps", TM_CELL_TIME },
    };
    const struct tm_value *bounds = tm_get(roofline, "bound_ps");
    struct tm_cell cell[BOUNDS_MOST][2];
    size_t n = 0;

    for (size_t i = 0; i < tm_length(bounds) && n < BOUNDS_MOST; i++) {
        if (tm_int(tm_value_at(bounds, i)) <= 0)
            continue;
        cell[n][0] = tm_cell_of_text(TM_CELL_TERM, tm_key_at(bounds, i));
        cell[n++][1] = tm_cell_of_value(TM_CELL_TIME, tm_value_at(bounds, i));
    }
    tm_emit_table(content, &(struct tm_table){ .id = "roofline-bounds",
                                               .caption = "Computing time by what bounds it",
                                               TM_COLUMNS(columns),
                                               .cells = cell[0],
                                               .cell_rows = n });
}

/* Paper has no room for a column with it: each source is said once. */
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
    static const struct tm_column columns[] = {
        { .key = "device" },
        { .key = "bandwidth" },
        { .key = "memory_pct" },
        { .key = "peak_bandwidth" },
        { .key = "flop_rate" },
        { .key = "flops_pct" },
        { .key = "peak_flops" },
        { .key = "peak_precision" },
        { .key = "bandwidth_source", .shape = TM_WIDE },
        { .key = "peak_source", .shape = TM_WIDE },
    };

    const char *caption = has_costs ? "What the devices did of what they can do" : "What the devices can do";

    tm_emit_table(content, &(struct tm_table){ .id = "roofline-devices",
                                               .caption = caption,
                                               TM_COLUMNS(columns),
                                               .list = "roofline.devices",
                                               .paper_rows = DEVICES_ON_PAPER });
    if (!content->medium->room.is_paper)
        return;
    emit_sources(content, devices, "peak_source", "Peak of computing");
    emit_sources(content, devices, "bandwidth_source", "Peak of memory");
}

/* Shares past what can be: said where they are shown. */
static void warn_of_impossible(const struct tm_content *content)
{
    const struct tm_value *rows = tm_of(content, "ops.rows");
    size_t count = 0;

    for (size_t i = 0; i < tm_length(rows); i++)
        count += tm_double(tm_get(tm_at(rows, i), "roof_pct")) > 100;
    if (count)
        tm_emit(content, TM_TONE_WARNING,
                "%zu operation%s 100 %% of %s roof, which cannot be: caches serve part of the bytes, or the cost is "
                "counted too high.",
                count, count == 1 ? " passes" : "s pass", count == 1 ? "its" : "their");
}

static void emit_far(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { .key = "name" },
        { .key = "self_ps" },
        { .key = "lost_ps" },
        { .key = "bound" },
        { .key = "roof_pct" },
        { .key = "intensity" },
        { .key = "flop_rate" },
        { .key = "bandwidth" },
        { .key = "precision", .shape = TM_WIDE },
        { .key = "op", .shape = TM_WIDE },
        { .key = "source", .shape = TM_WIDE },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "roofline-far",
                                               .caption = "Operations under half of their roof",
                                               TM_COLUMNS(columns),
                                               .list = "roofline.far",
                                               .paper_rows = FAR_ON_PAPER });
}

static void emit_types(const struct tm_content *content, const struct tm_value *roofline)
{
    static const struct tm_column columns[] = {
        { .key = "precision" }, { .key = "total_ps" },       { .key = "share_pct" },
        { .key = "matrix_ps" }, { .key = "tensor_core_ps" }, { .key = "count" },
    };

    const struct tm_value *rows = tm_get(roofline, "precisions");
    size_t pick[TYPES_MOST];

    tm_emit_table(content, &(struct tm_table){ .id = "types",
                                               .caption = "Computing time by type of number",
                                               TM_COLUMNS(columns),
                                               .list = "roofline.precisions",
                                               .pick = pick,
                                               .picks = tm_pick_largest(rows, "total_ps", NULL, TYPES_MOST, pick) });
}

static void emit_roofline(const struct tm_content *content)
{
    const struct tm_value *roofline = tm_of(content, "roofline");

    if (!tm_emit_missing(content, tm_get(roofline, "source"), "What operations cost")) {
        emit_roofline_facts(content);
        tm_emit_charts(content, TM_CHART_ROOFLINE);
        warn_of_impossible(content);
        emit_far(content);
        emit_bounds(content, roofline);
    }
    emit_peaks(content, tm_get(roofline, "devices"), tm_has(tm_get(roofline, "source")));
    emit_types(content, roofline);
}

const struct tm_section tm_roofline_section = {
    .id = "roofline", .title = "Roofline", .key = "roofline", .say = emit_roofline
};

/* Programs: how many run in a step, and the pauses between two of them. */

enum { PAUSES_ON_PAPER = 5 };

static void emit_pauses(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { .key = "begin_ps" }, { .key = "dur_ps" }, { .key = "device" },
        { .key = "step" },     { .key = "before" }, { .key = "after" },
    };

    tm_emit_table(content, &(struct tm_table){ .id = "program-pauses",
                                               .caption = "Longest pauses between two programs",
                                               TM_COLUMNS(columns),
                                               .list = "programs.pauses.longest",
                                               .paper_rows = PAUSES_ON_PAPER });
}

static void emit_programs(const struct tm_content *content)
{
    static const struct tm_column facts[] = {
        { .key = "per_step" },     { .key = "count" },        { .key = "operations" },
        { .key = "operation_ps" }, { .key = "pauses.count" }, { .key = "pauses.total_ps", .shape = TM_RARE },
    };

    tm_emit_facts(content, "program-facts", TM_FACTS(facts), "programs");
    emit_pauses(content);
}

static const char *no_programs(const struct tm_value *summary)
{
    return tm_if_none(summary, "programs.count", "no compiled program ran in the analyzed steps");
}

const struct tm_section tm_programs_section = {
    .id = "programs", .title = "Programs", .key = "programs", .say = emit_programs, .nothing = no_programs
};
