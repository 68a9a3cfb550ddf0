/* SPDX-License-Identifier: Apache-2.0 */
/* Balance: whether the devices of the run have the same to do. */
#include "reports/content/say.h"
#include "reports/format/platforms.h"

static void say_facts(const struct tm_content *content, const struct tm_value *balance)
{
    static const struct tm_column facts[] = {
        { "Imbalance of compute", "imbalance_pct", TM_CELL_PCT },
        { "Slowest device", "slowest", TM_CELL_DEVICE },
        { "By step, median", "steps.spread_median_pct", TM_CELL_PCT },
        { "By step, at most", "steps.spread_max_pct", TM_CELL_PCT },
        { "Most uneven step", "steps.worst_step", TM_CELL_WORD },
        { "Same work differs by", "same_work.spread_pct", TM_CELL_PCT },
        { "Slowest at the same work", "same_work.slowest", TM_CELL_DEVICE },
    };

    tm_say_facts(content, "balance-facts", TM_FACTS(facts), balance);
}

static void say_devices(const struct tm_content *content, const struct tm_value *balance)
{
    const struct tm_column columns[] = {
        { "Device", "device", TM_CELL_DEVICE },
        { "Busy", "busy_ps", TM_CELL_TIME },
        { "Compute", "compute_ps", TM_CELL_TIME },
        { "Exposed collectives", "exposed_collective_ps", TM_CELL_TIME | TM_RARE },
        { tm_is_for("gpu", content->summary) ? "Kernels" : "Operations", "kernels", TM_CELL_COUNT },
    };
    static const struct tm_column same[] = {
        { "Device", "device", TM_CELL_DEVICE },
        { "Time", "total_ps", TM_CELL_TIME },
    };

    tm_say_table(content, &(struct tm_table){ .id = "balance-devices",
                                              .caption = "What each device does",
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(balance, "busy"),
                                              .paper_rows = 32,
                                              .repeats_chart = true });
    tm_say_table(content, &(struct tm_table){ .id = "balance-same-work",
                                              .caption = "Time of each device for the same work",
                                              TM_COLUMNS(same),
                                              .rows = tm_path(balance, "same_work.devices"),
                                              .paper_rows = 32 });
    if (tm_length(tm_path(balance, "same_work.devices")) > 0)
        tm_say(content, TM_TONE_QUIET, "The same work: operations that all devices run equally often.");
}

static void say_ops(const struct tm_content *content, const struct tm_value *balance)
{
    static const struct tm_column columns[] = {
        { "Operation", "name", TM_CELL_NAME },
        { "Module", "module", TM_CELL_NAME | TM_WIDE },
        { "Run by", "kind", TM_CELL_TERM },
        { "Devices", "devices", TM_CELL_COUNT | TM_WIDE },
        { "Count", "count", TM_CELL_COUNT | TM_WIDE },
        { "Least", "min_ps", TM_CELL_TIME },
        { "Mean", "mean_ps", TM_CELL_TIME },
        { "Most", "max_ps", TM_CELL_TIME },
        { "Spread", "spread_pct", TM_CELL_PCT },
        { "Slowest", "slowest", TM_CELL_DEVICE },
        { "Excess", "excess_ps", TM_CELL_TIME | TM_SUMS },
    };

    tm_say_table(content, &(struct tm_table){ .id = "balance-ops",
                                              .caption = "Operations that differ most between devices",
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(balance, "ops"),
                                              .paper_rows = 12 });
    if (tm_length(tm_get(balance, "ops")) > 0)
        tm_say(content, TM_TONE_QUIET, "Times are sums per device.");
}

static void say_balance(const struct tm_content *content)
{
    const struct tm_value *balance = tm_of(content, "balance");

    tm_say_charts(content, TM_CHART_BALANCE);
    say_facts(content, balance);
    say_devices(content, balance);
    say_ops(content, balance);
}

/* One device has nothing to be compared with. */
static const char *nothing(const struct tm_value *summary)
{
    const struct tm_value *imbalance = tm_path(summary, "balance.imbalance_pct");

    return tm_has(imbalance) ? "" : *tm_why(imbalance) ? tm_why(imbalance) : "not recorded";
}

const struct tm_section tm_balance_section = { "balance", "Balance", "balance", say_balance, nothing };
