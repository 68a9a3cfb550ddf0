/* SPDX-License-Identifier: Apache-2.0 */
/* Several devices (summary.devices, summary.balance): uneven work, and one device that is slower at the same work.
 * Collectives (summary.collectives, summary.total): exposed ones, many small ones, slow ones, and stragglers.  Advice
 * for one kind of parallelism is wrong for another, so the kind is derived from names in the profile. */
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "pipeline/clock.h"
#include "pipeline/store/bounded_sum.h"
#include "reports/findings/finding.h"

/* --- balance --- */

/* Compute times of devices that run at the same time. */
struct loads {
    int64_t count;
    bool is_all; /* of the devices that compute */
    const struct tm_value *most, *least;
    int64_t most_ps, least_ps;
    double sum_ps;
    double work; /* sum of the counts of kernels, or of activities if there are no kernels */
};

static int64_t work_of(const struct tm_value *device)
{
    const int64_t kernels = tm_int(tm_path(device, "kernels.count"));

    return kernels > 0 ? kernels : tm_int(tm_get(device, "activities"));
}

/* A time of the host of a row, on the clock of all hosts where there is one. */
static int64_t shared_time(const struct tm_value *summary, const struct tm_value *row, const char *key)
{
    const int64_t ps = tm_int(tm_get(row, key));
    struct tm_clock clock;
    int64_t at_ps;

    tm_clock_of_name(summary, tm_text(tm_get(row, "host")), &clock);
    return tm_clock_at(&clock, ps, &at_ps) ? at_ps : ps;
}

/* Does a device run at the same time as a group?  Their windows have to overlap by at least half of the shorter one.
 * Devices on hosts whose clocks are not aligned count as overlapping.
 * in:     group  of window.hosts; NULL = there are none */
static bool is_beside(const struct tm_value *summary, const struct tm_value *device, const struct tm_value *group)
{
    const struct tm_value *aligned = tm_path(summary, "collectives.skew.clock.aligned"),
                          *begin = tm_get(device, "window_begin_ps");
    const int64_t start_ps = shared_time(summary, device, "window_begin_ps"),
                  end_ps = shared_time(summary, device, "window_end_ps"),
                  group_begin_ps = shared_time(summary, group, "begin_ps"),
                  group_end_ps = shared_time(summary, group, "end_ps");
    const double first_ps = (double)(start_ps > group_begin_ps ? start_ps : group_begin_ps),
                 last_ps = (double)(end_ps < group_end_ps ? end_ps : group_end_ps);
    const bool is_other_host = strcmp(tm_text(tm_get(device, "host")), tm_text(tm_get(group, "host"))) != 0;

    if (!group || !tm_has(begin) || (is_other_host && tm_has(aligned) && !tm_is(aligned)))
        return true;
    return 2 * (last_ps - first_ps) >=
           fmin((double)end_ps - (double)start_ps, (double)group_end_ps - (double)group_begin_ps);
}

static struct loads loads_of(const struct tm_value *summary, const struct tm_value *group)
{
    const struct tm_value *devices = tm_get(summary, "devices");
    struct loads loads = { .is_all = true }, *const l = &loads;

    for (size_t i = 0; i < tm_length(devices); i++) {
        const struct tm_value *d = tm_at(devices, i);
        const int64_t compute_ps = tm_int(tm_get(d, "compute_ps"));

        if (compute_ps <= 0)
            continue;
        if (!is_beside(summary, d, group)) {
            l->is_all = false;
            continue;
        }
        l->count++;
        l->sum_ps += (double)compute_ps;
        l->work += (double)work_of(d);
        if (!l->most || compute_ps > l->most_ps) {
            l->most = d;
            l->most_ps = compute_ps;
        }
        if (!l->least || compute_ps < l->least_ps) {
            l->least = d;
            l->least_ps = compute_ps;
        }
    }
    return loads;
}

/* The time that the other devices may wait for the slowest one. */
static double lost_ps(const struct loads *l)
{
    return l->count < 2 ? 0 : (double)l->most_ps * (double)l->count - l->sum_ps;
}

/* The group that loses the most time.  Devices that do not run at the same time do not wait for each other. */
static struct loads worst_loads(const struct tm_value *summary)
{
    const struct tm_value *groups = tm_path(summary, "window.hosts");
    struct loads worst = loads_of(summary, NULL);

    for (size_t i = 0; i < tm_length(groups); i++) {
        const struct tm_value *group = tm_at(groups, i);
        struct loads loads;

        if (!tm_has(tm_get(group, "begin_ps")))
            continue;
        loads = loads_of(summary, group);
        if (loads.is_all) /* the usual case: all run together */
            return loads;
        if (worst.is_all || lost_ps(&loads) > lost_ps(&worst))
            worst = loads;
    }
    return worst;
}

/* Does the slowest device run as many kernels as the others on average, within 1 %? */
static bool is_same_work(const struct loads *l)
{
    const double own = (double)work_of(l->most), others = (l->work - own) / (double)(l->count - 1);

    return own > 0 && own <= others * 1.01 && own >= others * 0.99;
}

/* Is the device with the most compute time as much slower in the ops that all devices run equally often? */
static bool is_slow_at_same_work(const struct tm_value *summary, const struct loads *l, double pct)
{
    const struct tm_value *same = tm_path(summary, "balance.same_work");

    return strcmp(tm_text(tm_get(same, "slowest")), tm_text(tm_get(l->most, "id"))) == 0 &&
           tm_double(tm_get(same, "spread_pct")) >= pct;
}

/* Each device's time in the ops that all devices run equally often. */
static void emit_same_work(struct tm_finding *f, const struct tm_value *same)
{
    const struct tm_value *devices = tm_get(same, "devices");
    int64_t most_ps = 0, least_ps = INT64_MAX;

    for (size_t i = 0; i < tm_length(devices); i++) {
        const int64_t ps = tm_int(tm_get(tm_at(devices, i), "total_ps"));

        most_ps = ps > most_ps ? ps : most_ps;
        least_ps = ps < least_ps ? ps : least_ps;
    }
    if (tm_length(devices) > 1)
        tm_finding_emit_with(f, "same_work", same, tm_given_int("most_ps", most_ps),
                             tm_given_int("least_ps", least_ps));
}

/* The op with the largest excess; for a slow device, one that all devices run equally often. */
static void emit_worst_op(struct tm_finding *f, const struct tm_value *ops, bool is_slow)
{
    const struct tm_value *op = tm_at(ops, 0);

    for (size_t i = 1; is_slow && op && strcmp(tm_text(tm_get(op, "kind")), "all") != 0; i++)
        op = tm_at(ops, i);
    if (tm_int(tm_get(op, "excess_ps")) > 0)
        tm_finding_emit(f, "worst_op", op);
}

/* The step in which the devices differ most, and where it is. */
static void emit_worst_step(struct tm_findings *all, struct tm_finding *f)
{
    const struct tm_value *balance = tm_path(all->summary, "balance.steps");
    const struct tm_value *steps = tm_path(all->summary, "steps.list");
    const int64_t number = tm_int(tm_get(balance, "worst_step"));

    if (!tm_has(balance))
        return;
    tm_finding_emit(f, "worst_step", balance);
    for (size_t i = 0; i < tm_length(steps); i++) {
        const struct tm_value *step = tm_at(steps, i);

        if (tm_int(tm_get(step, "number")) == number && tm_is(tm_get(step, "chosen")))
            tm_finding_where(f, tm_int(tm_get(step, "begin_ps")), tm_int(tm_get(step, "period_ps")),
                             tm_text(tm_get(step, tm_has(tm_get(step, "device")) ? "device" : "host")));
    }
}

/* Compares compute time, not busy time: a device that waits in a collective is busy, too. */
void tm_find_balance(struct tm_findings *all)
{
    /* where devices with less work wait */
    static const enum tm_wait busy[] = { TM_WAIT_COLLECTIVE };
    static const enum tm_wait idle[] = { TM_WAIT_DEVICE, TM_WAIT_SYNC, TM_WAIT_HOST, TM_WAIT_LAUNCH,
                                         TM_WAIT_UNRECORDED };
    const struct tm_threshold *kpi = &all->thresholds->kpi[TM_KPI_IMBALANCE];
    struct tm_claim claim = { .ps = { 0 } };
    double pct;
    int64_t stake_ps, busy_ps, idle_ps;
    bool is_slow;
    struct tm_finding *f;
    const struct loads l = worst_loads(all->summary);

    if (!kpi->has_bands || l.count < 2)
        return;
    pct = 100 * ((double)l.most_ps * (double)l.count / l.sum_ps - 1);
    stake_ps = tm_whole(lost_ps(&l));
    if (pct < kpi->good || !tm_is_worth_mention(all, stake_ps))
        return;
    is_slow = is_same_work(&l) || (l.is_all && is_slow_at_same_work(all->summary, &l, pct));
    busy_ps = tm_wait_explain(all, busy, sizeof(busy) / sizeof(busy[0]), stake_ps, &claim);
    idle_ps = tm_wait_explain(all, idle, sizeof(idle) / sizeof(idle[0]), stake_ps - busy_ps, &claim);
    if (!tm_is_worth_mention(all, busy_ps + idle_ps)) /* the others do not have to wait */
        return;
    f = tm_finding_of_idle(all, is_slow ? "slow_device" : "imbalance", busy_ps + idle_ps, idle_ps, NULL);
    tm_finding_claim(f, &claim);
    tm_finding_value(f, pct, "%");
    tm_finding_limit(f, kpi->good);
    tm_finding_emit_with(
        f, "most_work", l.most, tm_given_int("load_ps", l.most_ps), tm_given_int("work", work_of(l.most)),
        tm_given_text("unit", tm_int(tm_path(l.most, "kernels.count")) > 0 ? "kernels" : "operations"));
    tm_finding_emit_with(f, "least_work", l.least, tm_given_int("load_ps", l.least_ps),
                         tm_given_int("work", work_of(l.least)));
    tm_finding_emit_with(f, "mean_work", NULL, tm_given_int("device_count", l.count),
                         tm_given_int("mean_ps", tm_whole(l.sum_ps / (double)l.count)));
    if (is_slow && l.is_all)
        emit_same_work(f, tm_path(all->summary, "balance.same_work"));
    if (l.is_all) { /* these compare all devices */
        emit_worst_op(f, tm_path(all->summary, "balance.ops"), is_slow);
        emit_worst_step(all, f);
    }
}

/* --- collectives --- */

/* --- the kind of parallelism ---
 * Derived from the names of annotations, Python functions, operations, kernels and host events in idle gaps.  The
 * profile also has to contain a collective that this kind of parallelism uses. */

enum parallelism {
    DATA_PARALLEL = 1,       /* each device has the whole model: all-reduces of gradients */
    SHARDED_PARALLEL = 2,    /* FSDP, ZeRO: all-gathers of parameters, reduce-scatters of gradients */
    TENSOR_PARALLEL = 4,     /* layers are split: all-reduces, or all-gathers and reduce-scatters,
                               inside each layer */
    EXPERT_PARALLEL = 8,     /* experts are split: all-to-alls of tokens */
    EMBEDDING_PARALLEL = 16, /* embedding tables are split: all-to-alls of lookups and their gradients */
    PIPELINE_PARALLEL = 32,  /* layers are on different devices: sends and receives of activations */
};

/* Kinds of collectives, as bits. */
enum collective_bit {
    BIT_ALL_REDUCE = 1,
    BIT_ALL_GATHER = 2,
    BIT_REDUCE_SCATTER = 4,
    BIT_ALL_TO_ALL = 8, /* with sends and receives: NCCL runs all-to-alls as these */
    BIT_OTHER = 16,
};

enum { PARALLELISM_BYTES = 200 };

/* Where the summary is searched for names: a list, and a member of its rows. */
static const struct {
    const char *list, *key;
} places[] = {
    { "scopes.annotations", "name" },
    { "scopes.rows", "path" },
    { "host.annotations", "name" },
    { "host.python", "name" },
    { "host.sync.rows", "caller" },
    { "ops.rows", "name" },
    { "ops.rows", "op" },
    { "kernels.rows", "name" },
    { "gaps.longest", "host_event" },
    { "collectives.skew.worst", "name" },
};

/* A name, in upper or lower case, and the parallelism that it implies. */
static const struct {
    const char *word;
    unsigned parallelism;
} words[] = {
    { "DistributedDataParallel", DATA_PARALLEL },
    { "FullyShardedDataParallel", SHARDED_PARALLEL },
    { "FSDP::", SHARDED_PARALLEL },
    { "fsdp/", SHARDED_PARALLEL },
    { "deepspeed/runtime/zero", SHARDED_PARALLEL },
    { "tensor_parallel", TENSOR_PARALLEL },
    { "tensor_model_parallel", TENSOR_PARALLEL },
    { "LinearWithGradAccumulationAndAsyncCommunication", TENSOR_PARALLEL },
    { "ColumnParallelLinear", TENSOR_PARALLEL },
    { "RowParallelLinear", TENSOR_PARALLEL },
    { "ModelParallelRegion", TENSOR_PARALLEL },
    { "cross_device_reduce", TENSOR_PARALLEL },
    { "vllm/distributed", TENSOR_PARALLEL },
    { "sglang/srt/distributed", TENSOR_PARALLEL },
    { "moe", EXPERT_PARALLEL },
    { "expert", EXPERT_PARALLEL },
    { "deep_ep", EXPERT_PARALLEL },
    { "EmbeddingsAwaitable", EMBEDDING_PARALLEL },
    { "KJTAllToAll", EMBEDDING_PARALLEL },
    { "torchrec", EMBEDDING_PARALLEL },
    { "split_embedding", EMBEDDING_PARALLEL },
    { "sparse_data_dist", EMBEDDING_PARALLEL },
    { "dlrm", EMBEDDING_PARALLEL },
    { "pipeline_parallel", PIPELINE_PARALLEL },
    { "PipelineStage", PIPELINE_PARALLEL },
};

/* The kinds of collectives; at least one has to be present. */
static const struct {
    unsigned parallelism, kinds;
    const char *name;
} needs[] = {
    { DATA_PARALLEL, BIT_ALL_REDUCE | BIT_OTHER, "data parallelism" },
    { SHARDED_PARALLEL, BIT_ALL_GATHER | BIT_REDUCE_SCATTER | BIT_OTHER, "sharded data parallelism" },
    { TENSOR_PARALLEL, BIT_ALL_REDUCE | BIT_ALL_GATHER | BIT_REDUCE_SCATTER | BIT_OTHER, "tensor parallelism" },
    { EXPERT_PARALLEL, BIT_ALL_TO_ALL, "expert parallelism" },
    { EMBEDDING_PARALLEL, BIT_ALL_TO_ALL, "sharded embeddings" },
    { PIPELINE_PARALLEL, BIT_ALL_TO_ALL, "pipeline parallelism" },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static unsigned bit_of(const char *kind)
{
    static const struct {
        const char *kind;
        unsigned bit;
    } rows[] = {
        { "all-reduce", BIT_ALL_REDUCE }, { "all-gather", BIT_ALL_GATHER }, { "reduce-scatter", BIT_REDUCE_SCATTER },
        { "all-to-all", BIT_ALL_TO_ALL }, { "send-recv", BIT_ALL_TO_ALL },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        if (strcmp(rows[i].kind, kind) == 0)
            return rows[i].bit;
    return BIT_OTHER;
}

/* Exposed time that is not known to be a wait for a late device. */
static double exposed_of(const struct tm_value *row)
{
    return tm_double(tm_get(row, "exposed_ps")) - tm_double(tm_get(row, "exposed_wait_ps"));
}

static unsigned exposed_kinds(const struct tm_value *summary, double least_pct)
{
    const struct tm_value *rows = tm_path(summary, "collectives.rows");
    double all_ps = 0, of_bit_ps[BIT_OTHER + 1] = { 0 };
    unsigned set = 0;

    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *row = tm_at(rows, i);

        of_bit_ps[bit_of(tm_text(tm_get(row, "kind")))] += exposed_of(row);
        all_ps += exposed_of(row);
    }
    for (unsigned bit = 1; bit <= BIT_OTHER; bit <<= 1)
        if (of_bit_ps[bit] > 0 && of_bit_ps[bit] * 100 >= all_ps * least_pct)
            set |= bit;
    return set;
}

static bool has_letter_at(const char *text, const char *at)
{
    return at > text && ((at[-1] >= 'a' && at[-1] <= 'z') || (at[-1] >= 'A' && at[-1] <= 'Z'));
}

/* For each character, in upper or lower case, the set of words with it as their first, second or third one. */
struct beginnings {
    uint32_t of[3][UCHAR_MAX + 1];
};

static_assert(COUNT(words) <= 32, "similar parts of each");

static void note_beginnings(struct beginnings *b)
{
    *b = (struct beginnings){ .of = { { 0 } } };
    for (size_t i = 0; i < COUNT(words); i++) {
        for (size_t k = 0; k < COUNT(b->of); k++) {
            const unsigned char c = (unsigned char)words[i].word[k];

            b->of[k][c] |= UINT32_C(1) << i;
            if (c >= 'a' && c <= 'z')
                b->of[k][c - 'a' + 'A'] |= UINT32_C(1) << i;
            else if (c >= 'A' && c <= 'Z')
                b->of[k][c - 'A' + 'a'] |= UINT32_C(1) << i;
        }
    }
}

/* The words that may start at a character other than NUL. */
static inline uint32_t beginning_at(const struct beginnings *b, const char *at)
{
    uint32_t set = b->of[0][(unsigned char)at[0]];

    if (set)
        set &= b->of[1][(unsigned char)at[1]]; /* NUL starts no word */
    return set ? set & b->of[2][(unsigned char)at[2]] : 0;
}

/* A short word has to start at a word boundary: it matches in "fused_moe", but not inside a longer word. */
static bool stands_at(const char *text, const char *at, const char *word)
{
    const size_t length = strlen(word);

    return strncasecmp(at, word, length) == 0 && (length > 6 || !has_letter_at(text, at));
}

static unsigned named_in(const struct beginnings *b, const char *text)
{
    unsigned set = 0;

    for (const char *at = text; *at; at++) {
        for (uint32_t left = beginning_at(b, at); left; left &= left - 1) {
            const size_t i = (size_t)__builtin_ctz(left);

            if (!(set & words[i].parallelism) && stands_at(text, at, words[i].word))
                set |= words[i].parallelism;
        }
    }
    return set;
}

static unsigned parallelism_of(const struct tm_value *summary)
{
    const struct tm_value *rows = tm_path(summary, "collectives.rows");
    unsigned kinds = 0, named = 0, set = 0;
    struct beginnings b;

    for (size_t i = 0; i < tm_length(rows); i++)
        kinds |= bit_of(tm_text(tm_get(tm_at(rows, i), "kind")));
    note_beginnings(&b);
    for (size_t i = 0; i < COUNT(places); i++) {
        const struct tm_value *list = tm_path(summary, places[i].list);

        for (size_t k = 0; k < tm_length(list); k++)
            named |= named_in(&b, tm_text(tm_get(tm_at(list, k), places[i].key)));
    }
    for (size_t i = 0; i < COUNT(needs); i++)
        if (named & needs[i].parallelism && kinds & needs[i].kinds)
            set |= needs[i].parallelism;
    return set;
}

static char *parallelism_names(char *out, unsigned set)
{
    unsigned left = 0, said = 0;
    size_t length = 0;

    for (size_t i = 0; i < COUNT(needs); i++)
        left += (set & needs[i].parallelism) != 0;
    *out = '\0';
    for (size_t i = 0; i < COUNT(needs); i++) {
        if (!(set & needs[i].parallelism))
            continue;
        left--;
        length += (size_t)snprintf(out + length, PARALLELISM_BYTES - length, "%s%s",
                                   !said  ? ""
                                   : left ? ", "
                                          : " and ",
                                   needs[i].name);
        said++;
    }
    return out;
}

/* --- exposed collectives --- */

enum { SMALL_PER_STEP = 10, SLOW_FROM_BYTES = 1 << 20, PLACES = 3 };
/* The time that decides which devices the findings on collectives are about. */
#define EXPOSED "exposed_collective_ps"

/* Advice covers the kinds of collectives that have at least this share of the exposed time. */
enum { KIND_LEAST_PCT = 10 };

/* Exposed time of a row or a device, without waits for late devices. */
static int64_t own_exposed_of(const struct tm_value *of, const char *exposed)
{
    return tm_int(tm_get(of, exposed)) - tm_int(tm_get(of, "exposed_wait_ps"));
}

static double own_exposed_of_device(const struct tm_value *device)
{
    return (double)own_exposed_of(device, EXPOSED);
}

static void emit_worst_exposed(struct tm_findings *all, struct tm_finding *f)
{
    const struct tm_value *devices = tm_get(all->summary, "devices");
    const struct tm_value *worst = tm_highest_row(devices, own_exposed_of_device);

    if (tm_length(devices) > 1)
        tm_finding_emit_with(f, "worst_device", worst, tm_given_int("own_ps", own_exposed_of(worst, EXPOSED)));
}

/* Do any exposed collectives cross nodes? */
static bool reaches_nodes(const struct tm_value *summary)
{
    const struct tm_value *rows = tm_path(summary, "collectives.rows");

    for (size_t i = 0; i < tm_length(rows); i++)
        if (strcmp(tm_text(tm_get(tm_at(rows, i), "reach")), "nodes") == 0 &&
            own_exposed_of(tm_at(rows, i), "exposed_ps") > 0)
            return true;
    return false;
}

/* The row with the most exposed time: kind, size and bandwidth. */
static void emit_worst_row(struct tm_findings *all, struct tm_finding *f)
{
    const struct tm_value *worst = tm_highest_row(tm_path(all->summary, "collectives.rows"), exposed_of);

    if (own_exposed_of(worst, "exposed_ps") > 0)
        tm_finding_emit_with(f, "worst_row", worst, tm_given_int("own_ps", own_exposed_of(worst, "exposed_ps")));
}

/* The analyzed steps with the most exposed time, the longest first. */
static void point_at_steps(struct tm_findings *all, struct tm_finding *f)
{
    const struct tm_value *list = tm_path(all->summary, "steps.list"), *said[PLACES] = { NULL };

    for (int n = 0; n < PLACES; n++) {
        const struct tm_value *worst = NULL;
        int64_t worst_ps = 0;

        for (size_t i = 0; i < tm_length(list); i++) {
            const struct tm_value *step = tm_at(list, i);
            const int64_t ps = tm_int(tm_get(step, "exposed_collective_ps"));

            if (ps > worst_ps && tm_is(tm_get(step, "chosen")) && step != said[0] && step != said[1]) {
                worst = step;
                worst_ps = ps;
            }
        }
        said[n] = worst;
        if (!worst)
            return;
        tm_finding_where(f, tm_int(tm_get(worst, "begin_ps")), tm_int(tm_get(worst, "period_ps")),
                         tm_text(tm_get(worst, tm_has(tm_get(worst, "device")) ? "device" : "host")));
    }
}

/* Exposed time of collectives that are not matched with another device. */
static int64_t unmatched_of(const struct tm_findings *all)
{
    const struct tm_value *total = tm_get(all->summary, "total"), *unmatched = tm_get(total, "exposed_unmatched_ps");

    return tm_int(tm_has(unmatched) ? unmatched : tm_get(total, "exposed_collective_ps"));
}

/* The advice depends on the kind of parallelism and of collectives. */
static void give_cases(struct tm_finding *f, unsigned parallelism, unsigned kinds)
{
    static const struct {
        unsigned bit;
        const char *name;
    } purposes[] = {
        { DATA_PARALLEL, "data_parallel" },     { SHARDED_PARALLEL, "sharded_parallel" },
        { TENSOR_PARALLEL, "tensor_parallel" }, { EXPERT_PARALLEL, "expert_parallel" },
        { EMBEDDING_PARALLEL, "embedding_parallel" }, { PIPELINE_PARALLEL, "pipeline_parallel" },
    }, sorts[] = {
        { BIT_ALL_REDUCE, "all_reduce" }, { BIT_ALL_GATHER, "all_gather" },
        { BIT_REDUCE_SCATTER, "reduce_scatter" }, { BIT_ALL_TO_ALL, "all_to_all" }, { BIT_OTHER, "other_kind" },
    };

    for (size_t i = 0; i < sizeof(purposes) / sizeof(purposes[0]); i++)
        if (parallelism & purposes[i].bit)
            tm_finding_case(f, purposes[i].name);
    for (size_t i = 0; i < sizeof(sorts) / sizeof(sorts[0]); i++)
        if (kinds & sorts[i].bit)
            tm_finding_case(f, sorts[i].name);
}

/* The parallelism that the names imply. */
static void advise(struct tm_findings *all, struct tm_finding *f)
{
    const unsigned parallelism = parallelism_of(all->summary), kinds = exposed_kinds(all->summary, KIND_LEAST_PCT);
    char names[PARALLELISM_BYTES];

    if (parallelism)
        tm_finding_emit_with(f, "names", NULL, tm_given_text("purposes", parallelism_names(names, parallelism)));
    else if (kinds)
        tm_finding_emit(f, "no_names", NULL);
    give_cases(f, parallelism, kinds);
    if (unmatched_of(all) > 0)
        tm_finding_case(f, "unmatched");
    if (reaches_nodes(all->summary))
        tm_finding_case(f, "across_nodes");
}

/* Time in which data moves, or which may be waiting.  Known waits for late devices have their own finding. */
static int64_t left_of_exposed(const struct tm_findings *all)
{
    const int64_t unmatched_ps = unmatched_of(all), left_ps = tm_wait_left(all, TM_WAIT_COLLECTIVE);

    return tm_sum_times(left_ps < unmatched_ps ? left_ps : unmatched_ps, tm_wait_left(all, TM_WAIT_MOVE));
}

/* The number of ranks in the job: the largest one that a host recorded; 0 = not recorded. */
static int64_t world_of(const struct tm_findings *all)
{
    const struct tm_value *hosts = tm_path(all->summary, "environment.hosts");
    int64_t world = 0;

    for (size_t i = 0; i < tm_length(hosts); i++)
        world = tm_int(tm_get(tm_at(hosts, i), "world_size")) > world ? tm_int(tm_get(tm_at(hosts, i), "world_size"))
                                                                      : world;
    return world;
}

/* CPU devices are threads of one process and compete for its cores. */
static bool shares_cores(const struct tm_findings *all)
{
    return tm_query_is_platform(all->summary, "cpu") && tm_length(tm_get(all->summary, "devices")) > 1;
}

static const char *cores_of(const struct tm_findings *all)
{
    return shares_cores(all) ? "shared" : "own";
}

/* Apparent data movement may be a wait for a device that is not in the profile. */
static void emit_missing_members(const struct tm_findings *all, struct tm_finding *f)
{
    const struct tm_value *skew = tm_path(all->summary, "collectives.skew");
    const int64_t incomplete = tm_int(tm_get(skew, "incomplete")), unmatched_ps = unmatched_of(all);
    const int64_t devices = (int64_t)tm_length(tm_get(all->summary, "devices")), world = world_of(all);

    if (incomplete > 0)
        tm_finding_emit(f, "members_missing", skew);
    else if (unmatched_ps > 0 && world > devices)
        tm_finding_emit_with(f, "ranks_missing", NULL, tm_given_int("device_count", devices),
                             tm_given_int("rank_count", world), tm_given_int("unmatched_ps", unmatched_ps));
    else if (unmatched_ps > 0)
        tm_finding_emit_with(f, "unmatched", NULL, tm_given_int("unmatched_ps", unmatched_ps));
    else if (tm_int(tm_get(skew, "matched")) > 0 && world > devices)
        tm_finding_emit_with(f, "larger_job", NULL, tm_given_int("device_count", devices),
                             tm_given_int("rank_count", world));
}

/* How much of it is known to be waiting. */
static void emit_waiting(const struct tm_findings *all, struct tm_finding *f)
{
    if (tm_int(tm_path(all->summary, "total.exposed_wait_ps")) > 0)
        tm_finding_emit_with(f, "waiting", NULL, tm_given_text("cores", cores_of(all)));
    if (shares_cores(all))
        tm_finding_emit(f, "shared_cores", NULL);
    emit_missing_members(all, f);
}

/* If waiting cannot be distinguished from moving data, the title says so, and the first advice is how to find out. */
static void name_exposed(const struct tm_findings *all, struct tm_finding *f, int64_t left_ps)
{
    const bool is_unmatched = unmatched_of(all) > left_ps / 2;
    const size_t devices = tm_length(tm_get(all->summary, "devices"));

    if (is_unmatched)
        tm_finding_case(f, "mostly_unmatched");
    if (is_unmatched && (devices < 2 || world_of(all) > (int64_t)devices))
        tm_finding_case(f, "ranks_missing");
    if (shares_cores(all))
        tm_finding_case(f, "shared_cores");
}

static void find_exposed(struct tm_findings *all)
{
    const int64_t exposed_ps = tm_int(tm_path(all->summary, "total.exposed_collective_ps"));
    const int64_t wait_ps = tm_int(tm_path(all->summary, "total.exposed_wait_ps"));
    const struct tm_threshold *kpi = &all->thresholds->kpi[TM_KPI_EXPOSED_COLLECTIVE];
    const int64_t left_ps = left_of_exposed(all);
    const int64_t total_ps = tm_int(tm_path(all->summary, "total.collective_ps"));
    struct tm_finding *f;

    if (!tm_is_worth_mention_on(all, left_ps, EXPOSED) ||
        (kpi->has_bands && tm_share_on(all, left_ps, EXPOSED) < kpi->good))
        return; /* every run on several devices has some */
    f = tm_finding_of_idle(all, "collective_exposed", left_ps, 0, EXPOSED);
    name_exposed(all, f, left_ps);
    if (wait_ps > 0 || tm_has(tm_path(all->summary, "total.exposed_move_ps")))
        tm_finding_case(f, "split");
    tm_finding_emit_with(f, "all", NULL, tm_given_double("overlap_pct", 100 - tm_share_pct(exposed_ps, total_ps)));
    tm_finding_emit_scope(all, f, EXPOSED);
    emit_waiting(all, f);
    emit_worst_row(all, f);
    emit_worst_exposed(all, f);
    point_at_steps(all, f);
    advise(all, f);
}

/* --- small messages --- */

/* Sums over the rows with small messages. */
struct small {
    int64_t count, exposed_ps, total_ps;
    const struct tm_value *most; /* the one with most calls */
};

static void add_small(struct small *s, const struct tm_value *row, double below_bytes)
{
    const struct tm_value *bytes = tm_get(row, "message_bytes");

    if (!tm_has(bytes) || tm_double(bytes) >= below_bytes)
        return;
    s->count = tm_sum_times(s->count, tm_int(tm_get(row, "count")));
    s->exposed_ps = tm_sum_times(s->exposed_ps, tm_int(tm_get(row, "exposed_ps")));
    s->total_ps = tm_sum_times(s->total_ps, tm_int(tm_get(row, "total_ps")));
    if (!s->most || tm_int(tm_get(row, "count")) > tm_int(tm_get(s->most, "count")))
        s->most = row;
}

static void find_small(struct tm_findings *all)
{
    const struct tm_value *rows = tm_path(all->summary, "collectives.rows");
    const double limit_bytes = tm_limit_of(all, TM_LIMIT_SMALL_MESSAGE) * 1024;
    const double steps = tm_double(tm_path(all->summary, "steps.chosen"));
    const double devices = (double)tm_length(tm_get(all->summary, "devices"));
    struct small s = { .count = 0 };
    struct tm_finding *f;

    for (size_t i = 0; i < tm_length(rows); i++)
        add_small(&s, tm_at(rows, i), limit_bytes);
    if ((double)s.count < SMALL_PER_STEP * (steps > 1 ? steps : 1) * (devices > 1 ? devices : 1) ||
        !tm_is_worth_mention_on(all, s.exposed_ps, EXPOSED))
        return;
    f = tm_finding_of_share(all, "collective_small", s.exposed_ps, EXPOSED); /* potential savings, as exposed time */
    tm_finding_emit_with(f, "all", NULL, tm_given_int("small_count", s.count),
                         tm_given_double("limit_bytes", limit_bytes), tm_given_int("small_ps", s.total_ps));
    tm_finding_emit(f, "most", s.most);
}

/* --- slow links --- */

static void find_slow(struct tm_findings *all)
{
    const struct tm_value *rows = tm_path(all->summary, "collectives.rows"), *worst = NULL;
    const double limit = tm_limit_of(all, TM_LIMIT_BUS_BANDWIDTH) * 1e9;
    int64_t stake_ps = 0, worst_ps = 0;
    bool is_moving;
    struct tm_finding *f;

    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *row = tm_at(rows, i);
        const double rate = tm_double(tm_get(row, "bus_bandwidth"));
        int64_t lost_ps;

        if (!tm_has(tm_get(row, "bus_bandwidth")) || rate >= limit ||
            tm_double(tm_get(row, "message_bytes")) < SLOW_FROM_BYTES)
            continue;
        lost_ps = tm_whole((double)own_exposed_of(row, "exposed_ps") * (1 - rate / limit));
        stake_ps = tm_sum_times(stake_ps, lost_ps);
        if (!worst || lost_ps > worst_ps) {
            worst = row;
            worst_ps = lost_ps;
        }
    }
    if (!worst || !tm_is_worth_mention_on(all, stake_ps, EXPOSED) ||
        tm_query_is_platform(all->summary, "cpu")) /* threads of one process have no links */
        return;
    is_moving = strcmp(tm_text(tm_get(worst, "bandwidth_over")), "duration") != 0;
    if (!is_moving && tm_has(tm_path(all->summary, "collectives.skew.straggler")))
        return;                                                         /* its own waits are unknown, and others wait */
    f = tm_finding_of_share(all, "collective_slow", stake_ps, EXPOSED); /* potential savings, as exposed time */
    tm_finding_case(f, is_moving ? "moving" : "waiting_too");
    tm_finding_emit(f, "worst", worst);
    tm_finding_emit_with(f, "saved", NULL, tm_given_double("limit", limit), tm_given_int("saved_ps", stake_ps));
}

/* --- stragglers --- */

/* Devices that cause at least 3 % of the waiting, the worst first; there are at most 33. */
enum { LATE_LEAST_PCT = 3, LATE_MOST = 33, LATE_PER_LINE = 8, LATE_IN_TITLE = 3, LATE_TITLE_BYTES = 200 };

struct late_devices {
    const struct tm_value *rows[LATE_MOST]; /* of collectives.skew.members */
    size_t count, members;                  /* members: that were compared */
};

static struct late_devices find_late(const struct tm_value *skew)
{
    const struct tm_value *members = tm_get(skew, "members");
    struct late_devices late = { .count = 0 };

    for (size_t i = 0; i < tm_length(members); i++) {
        const struct tm_value *row = tm_at(members, i);
        size_t at = late.count;

        late.members += tm_int(tm_get(row, "count")) > 0;
        if (tm_double(tm_get(row, "caused_pct")) < LATE_LEAST_PCT || late.count == LATE_MOST)
            continue;
        for (; at && tm_int(tm_get(late.rows[at - 1], "caused_ps")) < tm_int(tm_get(row, "caused_ps")); at--)
            late.rows[at] = late.rows[at - 1];
        late.rows[at] = row;
        late.count++;
    }
    return late;
}

static void name_late(struct tm_finding *f, const struct late_devices *late)
{
    char title[LATE_TITLE_BYTES] = "", name[TM_SHORT_NAME_BYTES], a[TM_FORMAT_BYTES];
    size_t length = 0;

    if (late->count > LATE_IN_TITLE && late->count < late->members) {
        tm_finding_case(f, "counted");
        tm_finding_argument(f, "count", "%zu", late->count);
    }
    if (!late->count || late->count > LATE_IN_TITLE)
        return;
    for (size_t i = 0; i < late->count && length < sizeof(title); i++)
        length += (size_t)snprintf(title + length, sizeof(title) - length, "%s%s (%s)",
                                   !i                    ? ""
                                   : i + 1 < late->count ? ", "
                                                         : " and ",
                                   tm_finding_device(f, name, tm_get(late->rows[i], "device")),
                                   tm_row_pct(a, late->rows[i], "caused_pct"));
    tm_finding_case(f, late->count > 1 ? "several" : "named");
    tm_finding_argument(f, "devices", "%s", title);
}

/* Each late device with its share of the waiting. */
static void emit_late(struct tm_finding *f, const struct late_devices *late)
{
    char name[TM_SHORT_NAME_BYTES], a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES], c[TM_FORMAT_BYTES], d[TM_FORMAT_BYTES];

    for (size_t i = 0; i < late->count; i += LATE_PER_LINE) {
        char line[TM_EVIDENCE_BYTES] = "";
        size_t length = 0;

        for (size_t k = i; k < late->count && k < i + LATE_PER_LINE && length < sizeof(line); k++) {
            const struct tm_value *row = late->rows[k];

            length += (size_t)snprintf(
                line + length, sizeof(line) - length,
                late->count > LATE_IN_TITLE ? "%s%s %s" : "%s%s causes %s (%s; arrives last in %s of %s)",
                k > i ? ", " : "", tm_finding_device(f, name, tm_get(row, "device")), tm_row_pct(a, row, "caused_pct"),
                tm_row_time(b, row, "caused_ps"), tm_row_count(c, row, "last_count"), tm_row_count(d, row, "count"));
        }
        tm_finding_emit_with(f, "late", NULL, tm_given_text("late_devices", line));
    }
}

/* Savings if only the worst one were fixed: small if another one is nearly as late. */
static void emit_alone(const struct tm_findings *all, struct tm_finding *f, const struct late_devices *late)
{
    const struct tm_value *members = tm_path(all->summary, "collectives.skew.members");
    double others_ps = 0;

    if (!late->count || late->members < 2)
        return;
    for (size_t i = 0; i < tm_length(members); i++)
        others_ps += tm_at(members, i) == late->rows[0] ? 0 : tm_double(tm_get(tm_at(members, i), "late_ps"));
    if (tm_double(tm_get(late->rows[0], "late_ps")) * (double)(late->members - 1) >=
        others_ps * tm_limit_of(all, TM_LIMIT_STRAGGLER))
        tm_finding_emit(f, "alone", late->rows[0]);
}

static bool is_late(const struct late_devices *late, const char *device)
{
    for (size_t i = 0; i < late->count; i++)
        if (strcmp(tm_text(tm_get(late->rows[i], "device")), device) == 0)
            return true;
    return false;
}

/* The latest arrivals, and where they are in the profile. */
static void point_at_arrivals(struct tm_finding *f, const struct tm_value *worst, const struct late_devices *late)
{
    int said = 0;

    for (size_t i = 0; i < tm_length(worst); i++) {
        const struct tm_value *row = tm_at(worst, i);
        const int64_t skew_ps = tm_int(tm_get(row, "skew_ps")), start_ps = tm_int(tm_get(row, "begin_ps"));

        if (!is_late(late, tm_text(tm_get(row, "last"))))
            continue;
        if (said++ < 1)
            tm_finding_emit(f, "arrival", row);
        tm_finding_where(f, start_ps < INT64_MIN + skew_ps ? INT64_MIN : start_ps - skew_ps, skew_ps,
                         tm_text(tm_get(row, "last")));
    }
}

/* Exposed waits in collectives.  If a device is late because it has more work, the finding on imbalance explains the
 * wait first. */
static void find_waiting(struct tm_findings *all)
{
    static const enum tm_wait wait = TM_WAIT_COLLECTIVE;
    const struct tm_value *skew = tm_path(all->summary, "collectives.skew"), *total = tm_get(all->summary, "total");
    const int64_t wait_ps = tm_int(tm_get(total, "exposed_wait_ps")), claimed_ps = all->claimed_ps[wait];
    const int64_t stake_ps = wait_ps > claimed_ps ? wait_ps - claimed_ps : 0;
    const struct late_devices late = find_late(skew);
    struct tm_claim claim = { .ps = { 0 } };
    struct tm_finding *f;

    if (!tm_is_worth_mention_on(all, stake_ps, EXPOSED))
        return;
    (void)tm_wait_explain(all, &wait, 1, stake_ps, &claim);
    f = tm_finding_of_idle(all, "straggler", stake_ps, 0, EXPOSED);
    tm_finding_claim(f, &claim);
    name_late(f, &late);
    tm_finding_emit_with(f, "all", NULL, tm_given_text("cores", cores_of(all)));
    tm_finding_emit_scope(all, f, EXPOSED);
    emit_late(f, &late);
    emit_alone(all, f, &late);
    point_at_arrivals(f, tm_get(skew, "worst"), &late);
}

void tm_find_collectives(struct tm_findings *all)
{
    find_waiting(all);
    find_exposed(all);
    find_small(all);
    find_slow(all);
}
