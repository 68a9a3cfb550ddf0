/* SPDX-License-Identifier: Apache-2.0 */
/* Fusion: kernels so small or so many that one could do the work of several. */
#include <ctype.h>
#include <stdio.h>

#include "reports/content/say.h"
#include "reports/content/terms.h"

enum { LOSS_COLUMNS = 7, RUNS_ON_PAPER = 5, OPS_ON_PAPER = 8, TEXT_BYTES = 512 };

static void say_facts(const struct tm_content *content, const struct tm_value *fusion)
{
    static const struct tm_column facts[] = {
        { "Kernels", "kernels.count", TM_CELL_COUNT },
        { "Their time", "kernels.total_ps", TM_CELL_TIME },
        { "Kernels per step and device", "per_step", TM_CELL_NUMBER },
        { "Time of matrix products", "matrix.total_ps", TM_CELL_TIME },
        { "Their share", "matrix.share_pct", TM_CELL_PCT },
        { "Pauses in runs of small kernels", "runs.gap_ps", TM_CELL_TIME },
    };

    tm_say_facts(content, "fusion-facts", TM_FACTS(facts), fusion);
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

static void fill_loss(struct tm_cell *row, const struct loss *loss, const struct tm_value *fusion)
{
    const struct tm_value *of = tm_path(fusion, loss->key), *whole = tm_path(fusion, "kernels.total_ps");
    const int term = tm_term_find("fusion", loss->title);

    row[0] = tm_cell_of_text(TM_CELL_WORD, loss->title);
    row[1] = tm_cell_of_value(TM_CELL_COUNT, tm_get(of, "count"));
    row[2] = figure(TM_CELL_COUNT, of, loss->kernels);
    row[3] = figure(TM_CELL_TIME, of, loss->time);
    row[4] = tm_cell_of_share(loss->is_no_kernel ? NULL : tm_get(of, loss->time), whole);
    row[5] = figure(TM_CELL_TIME, of, loss->saved);
    row[6] = tm_cell_of_text(TM_CELL_PROSE, term < 0 ? "" : tm_terms[term].text);
}

/* The titles of what was looked for and is not there, in one sentence. */
static void say_what_is_not(const struct tm_content *content, const struct tm_value *fusion)
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
        tm_say(content, TM_TONE_QUIET, "Looked for and not found: %s.", text);
}

static void say_losses(const struct tm_content *content, const struct tm_value *fusion)
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
    size_t n = 0;

    for (size_t i = 0; i < LOSSES; i++)
        if (tm_int(tm_get(tm_path(fusion, losses[i].key), "count")) > 0)
            fill_loss(cell[n++], &losses[i], fusion);
    tm_say_table(content, &(struct tm_table){ .id = "fusion-kinds",
                                              .caption = "Kernels that could be fewer or faster",
                                              TM_COLUMNS(columns),
                                              .cells = cell[0],
                                              .cell_rows = n });
    say_what_is_not(content, fusion);
    for (size_t i = 0; i < LOSSES; i++)
        if (tm_path(fusion, losses[i].key))
            (void)tm_say_missing(content, tm_path(fusion, losses[i].key), losses[i].title);
}

/* --- which ones --- */

static void say_runs(const struct tm_content *content, const struct tm_value *fusion)
{
    static const struct tm_column columns[] = {
        { "Begin", "begin_ps", TM_CELL_MOMENT },
        { "Length", "dur_ps", TM_CELL_TIME },
        { "Potential savings", "at_stake_ps", TM_CELL_TIME },
        { "Kernels", "kernels", TM_CELL_COUNT },
        { "Device", "device", TM_CELL_DEVICE },
        { "Step", "step", TM_CELL_WORD },
        { "First kernel", "names[0]", TM_CELL_NAME },
        { "Pauses", "gap_ps", TM_CELL_TIME },
        { "Work", "kernel_ps", TM_CELL_TIME | TM_WIDE },
        { "Stream", "track", TM_CELL_NAME | TM_WIDE },
    };

    tm_say_table(content, &(struct tm_table){ .id = "fusion-runs",
                                              .caption = "Longest runs of small kernels on a stream",
                                              TM_COLUMNS(columns),
                                              .rows = tm_path(fusion, "runs.longest"),
                                              .paper_rows = RUNS_ON_PAPER });
}

static void say_repeated(const struct tm_content *content, const struct tm_value *fusion)
{
    static const struct tm_column columns[] = {
        { "Kernel", "name", TM_CELL_NAME },
        { "Op", "op", TM_CELL_NAME },
        { "Per step", "per_step", TM_CELL_NUMBER },
        { "Count", "count", TM_CELL_COUNT },
        { "Total", "total_ps", TM_CELL_TIME },
        { "Mean", "mean_ps", TM_CELL_TIME },
    };

    tm_say_table(content, &(struct tm_table){ .id = "fusion-repeated",
                                              .caption = "Small kernels that come more than 10 times in a step",
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(fusion, "repeated"),
                                              .paper_rows = OPS_ON_PAPER });
}

/* The kernels of one kind: {"rows", "rest"}. */
static void say_kernels(const struct tm_content *content, const struct tm_value *of, const char *id,
                        const char *caption)
{
    static const struct tm_column columns[] = {
        { "Kernel", "name", TM_CELL_NAME },
        { "Op", "op", TM_CELL_NAME },
        { "Count", "count", TM_CELL_COUNT | TM_SUMS },
        { "Total", "total_ps", TM_CELL_TIME | TM_SUMS },
    };

    tm_say_table(content, &(struct tm_table){ .id = id,
                                              .caption = caption,
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(of, "rows"),
                                              .rest = tm_get(of, "rest"),
                                              .paper_rows = OPS_ON_PAPER });
}

static void say_fusion(const struct tm_content *content)
{
    const struct tm_value *fusion = tm_of(content, "fusion");

    say_facts(content, fusion);
    say_losses(content, fusion);
    say_runs(content, fusion);
    say_repeated(content, fusion);
    say_kernels(content, tm_get(fusion, "attention_unfused"), "fusion-attention",
                "Attention in pieces: what stands between the products");
    say_kernels(content, tm_get(fusion, "layout_copies"), "fusion-layout-copies",
                "Copies and transposes that no operation asked for");
    say_kernels(content, tm_path(fusion, "matrix.f32"), "fusion-32-bit", "32-bit products beside the matrix units");
}

static const char *nothing(const struct tm_value *summary)
{
    return tm_if_none(summary, "fusion.kernels.count", "no kernel ran in the analyzed steps");
}

const struct tm_section tm_fusion_section = { "fusion", "Fusion", "fusion", say_fusion, nothing };
