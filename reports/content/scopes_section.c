/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes: where in the program device time comes from: framework scopes, layers, annotations of the host. */
#include "reports/content/say.h"
#include "reports/format/pick.h"

enum { SCOPES_ON_PAPER = 30, ANNOTATIONS_ON_PAPER = 16, LAYERS_ON_PAPER = 24 };

/* A tree of which those rows are shown that have most of `key`. */
static void say_tree(const struct tm_content *content, struct tm_table tree, const char *key)
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
    tm_say_table(content, &tree);
}

/* Of a training step, whose passes are told apart. */
static bool has_passes(const struct tm_value *scopes)
{
    return tm_int(tm_path(scopes, "passes.backward")) > 0 || tm_int(tm_path(scopes, "passes.forward")) > 0;
}

static void say_facts(const struct tm_content *content, const struct tm_value *scopes)
{
    struct tm_column facts[6] = {
        { "Device time in scopes", "self_ps", TM_CELL_TIME },
        { "Without a scope", "unscoped.self_ps", TM_CELL_TIME },
    };
    size_t n = 2;

    if (has_passes(scopes)) {
        facts[n++] = (struct tm_column){ "Forward", "passes.forward", TM_CELL_TIME };
        facts[n++] = (struct tm_column){ "Backward", "passes.backward", TM_CELL_TIME };
        facts[n++] = (struct tm_column){ "Neither", "passes.other", TM_CELL_TIME };
    }
    if (tm_int(tm_path(scopes, "recomputed.self_ps")) > 0)
        facts[n++] = (struct tm_column){ "Computed again (part of backward)", "recomputed.self_ps", TM_CELL_TIME };
    tm_say_facts(content, "scope-facts", facts, n, scopes);
}

static void say_scope_tree(const struct tm_content *content, const struct tm_value *scopes)
{
    static const struct tm_column columns[] = {
        { "Scope", "name", TM_CELL_NAME },
        { "Count", "count", TM_CELL_COUNT },
        { "Total", "total_ps", TM_CELL_TIME },
        { "Share", "share_pct", TM_CELL_PCT },
        { "Itself", "self_ps", TM_CELL_TIME | TM_SUMS },
        { "Pass", "pass", TM_CELL_TERM },
    };

    say_tree(content,
             (struct tm_table){ .id = "scopes",
                                .caption = "Device time by scope: a scope, then what is in it",
                                .column = columns,
                                .columns = sizeof(columns) / sizeof(columns[0]) - !has_passes(scopes),
                                .rows = tm_get(scopes, "rows"),
                                .rest = tm_get(scopes, "rest"),
                                .total = scopes,
                                .total_title = "all scopes",
                                .paper_rows = SCOPES_ON_PAPER },
             "total_ps");
}

static void say_layers(const struct tm_content *content, const struct tm_value *scopes)
{
    static const struct tm_column columns[] = {
        { "Layer", "path", TM_CELL_NAME },
        { "Count", "count", TM_CELL_COUNT },
        { "Forward", "forward_ps", TM_CELL_TIME },
        { "Backward", "backward_ps", TM_CELL_TIME },
        { "Neither", "other_ps", TM_CELL_TIME },
        { "Total", "total_ps", TM_CELL_TIME | TM_SUMS },
    };

    tm_say_table(content, &(struct tm_table){ .id = "layers",
                                              .caption = "Layers: numbered scopes that are alike",
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(scopes, "layers"),
                                              .rest = tm_get(scopes, "layers_rest"),
                                              .paper_rows = LAYERS_ON_PAPER });
}

static void say_annotations(const struct tm_content *content, const struct tm_value *scopes)
{
    static const struct tm_column columns[] = {
        { "Annotation", "name", TM_CELL_NAME },
        { "Count", "count", TM_CELL_COUNT },
        { "Host", "host_ps", TM_CELL_TIME },
        { "Itself", "host_self_ps", TM_CELL_TIME | TM_SUMS },
        { "Launched", "activities", TM_CELL_COUNT },
        { "Their device time", "device_ps", TM_CELL_TIME },
    };

    if (tm_length(tm_get(scopes, "annotations")) > 0)
        say_tree(content,
                 (struct tm_table){ .id = "annotations",
                                    .caption = "Annotations on host threads: one, then what is in it",
                                    TM_COLUMNS(columns),
                                    .rows = tm_get(scopes, "annotations"),
                                    .rest = tm_get(scopes, "annotations_rest"),
                                    .paper_rows = ANNOTATIONS_ON_PAPER },
                 "host_ps");
}

static void say_scopes(const struct tm_content *content)
{
    const struct tm_value *scopes = tm_of(content, "scopes");

    if (!tm_say_missing(content, tm_get(scopes, "rows"), "Scopes")) {
        say_facts(content, scopes);
        tm_say_charts(content, TM_CHART_SCOPES);
        say_scope_tree(content, scopes);
        say_layers(content, scopes);
    }
    say_annotations(content, scopes);
}

/* Neither scopes nor annotations: the reason for the former, which most readers look for. */
static const char *nothing(const struct tm_value *summary)
{
    const struct tm_value *rows = tm_path(summary, "scopes.rows");

    if (tm_length(rows) > 0 || tm_length(tm_path(summary, "scopes.annotations")) > 0)
        return "";
    return tm_has(rows) || !*tm_why(rows) ? "no operation tells a scope" : tm_why(rows);
}

const struct tm_section tm_scopes_section = { "scopes", "Scopes", "scopes", say_scopes, nothing };
