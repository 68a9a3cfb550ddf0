/* SPDX-License-Identifier: Apache-2.0 */
/* What the collectives of a run are for.  Names of annotations, Python functions, operations,
 * kernels and what the host did in idle gaps tell it; and a kind of collective has to be there that
 * this way of splitting a model needs. */
#include "reports/findings/parallelism.h"

#include <assert.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Texts of the summary that names are looked for in: a list, and the member of its rows. */
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

/* A name, in any case, and what it tells. */
static const struct {
    const char *word;
    unsigned parallelism;
} words[] = {
    { "DistributedDataParallel", TM_DATA_PARALLEL },
    { "FullyShardedDataParallel", TM_SHARDED_PARALLEL },
    { "FSDP::", TM_SHARDED_PARALLEL },
    { "fsdp/", TM_SHARDED_PARALLEL },
    { "deepspeed/runtime/zero", TM_SHARDED_PARALLEL },
    { "tensor_parallel", TM_TENSOR_PARALLEL },
    { "tensor_model_parallel", TM_TENSOR_PARALLEL },
    { "LinearWithGradAccumulationAndAsyncCommunication", TM_TENSOR_PARALLEL },
    { "ColumnParallelLinear", TM_TENSOR_PARALLEL },
    { "RowParallelLinear", TM_TENSOR_PARALLEL },
    { "ModelParallelRegion", TM_TENSOR_PARALLEL },
    { "cross_device_reduce", TM_TENSOR_PARALLEL },
    { "vllm/distributed", TM_TENSOR_PARALLEL },
    { "sglang/srt/distributed", TM_TENSOR_PARALLEL },
    { "moe", TM_EXPERT_PARALLEL },
    { "expert", TM_EXPERT_PARALLEL },
    { "deep_ep", TM_EXPERT_PARALLEL },
    { "EmbeddingsAwaitable", TM_EMBEDDING_PARALLEL },
    { "KJTAllToAll", TM_EMBEDDING_PARALLEL },
    { "torchrec", TM_EMBEDDING_PARALLEL },
    { "split_embedding", TM_EMBEDDING_PARALLEL },
    { "sparse_data_dist", TM_EMBEDDING_PARALLEL },
    { "dlrm", TM_EMBEDDING_PARALLEL },
    { "pipeline_parallel", TM_PIPELINE_PARALLEL },
    { "PipelineStage", TM_PIPELINE_PARALLEL },
};

/* Kinds of which one has to be there. */
static const struct {
    unsigned parallelism, kinds;
    const char *name;
} needs[] = {
    { TM_DATA_PARALLEL, TM_BIT_ALL_REDUCE | TM_BIT_OTHER, "data parallelism" },
    { TM_SHARDED_PARALLEL, TM_BIT_ALL_GATHER | TM_BIT_REDUCE_SCATTER | TM_BIT_OTHER,
      "sharded data parallelism" },
    { TM_TENSOR_PARALLEL,
      TM_BIT_ALL_REDUCE | TM_BIT_ALL_GATHER | TM_BIT_REDUCE_SCATTER | TM_BIT_OTHER,
      "tensor parallelism" },
    { TM_EXPERT_PARALLEL, TM_BIT_ALL_TO_ALL, "expert parallelism" },
    { TM_EMBEDDING_PARALLEL, TM_BIT_ALL_TO_ALL, "sharded embeddings" },
    { TM_PIPELINE_PARALLEL, TM_BIT_ALL_TO_ALL, "pipeline parallelism" },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static unsigned bit_of(const char *kind)
{
    static const struct {
        const char *kind;
        unsigned bit;
    } rows[] = {
        { "all-reduce", TM_BIT_ALL_REDUCE },         { "all-gather", TM_BIT_ALL_GATHER },
        { "reduce-scatter", TM_BIT_REDUCE_SCATTER }, { "all-to-all", TM_BIT_ALL_TO_ALL },
        { "send-recv", TM_BIT_ALL_TO_ALL },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        if (strcmp(rows[i].kind, kind) == 0)
            return rows[i].bit;
    return TM_BIT_OTHER;
}

/* Exposed time that does not come of a late device, as far as is known. */
static double exposed_of(const struct tm_value *row)
{
    return tm_double(tm_get(row, "exposed_ps")) - tm_double(tm_get(row, "exposed_wait_ps"));
}

unsigned tm_exposed_kinds(const struct tm_value *summary, double least_pct)
{
    const struct tm_value *rows = tm_path(summary, "collectives.rows");
    double all_ps = 0, of_bit_ps[TM_BIT_OTHER + 1] = { 0 };
    unsigned set = 0;

    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *row = tm_at(rows, i);

        of_bit_ps[bit_of(tm_text(tm_get(row, "kind")))] += exposed_of(row);
        all_ps += exposed_of(row);
    }
    for (unsigned bit = 1; bit <= TM_BIT_OTHER; bit <<= 1)
        if (of_bit_ps[bit] > 0 && of_bit_ps[bit] * 100 >= all_ps * least_pct)
            set |= bit;
    return set;
}

static bool has_letter_at(const char *text, const char *at)
{
    return at > text && ((at[-1] >= 'a' && at[-1] <= 'z') || (at[-1] >= 'A' && at[-1] <= 'Z'));
}

/* Which words have a character, in any case, as their first, second and third: a bit of each. */
struct beginnings {
    uint32_t of[3][UCHAR_MAX + 1];
};

static_assert(COUNT(words) <= 32, "a bit of each");

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

/* The words that may begin at a character, which is not the NUL. */
static inline uint32_t beginning_at(const struct beginnings *b, const char *at)
{
    uint32_t set = b->of[0][(unsigned char)at[0]];

    if (set)
        set &= b->of[1][(unsigned char)at[1]]; /* of no word a NUL */
    return set ? set & b->of[2][(unsigned char)at[2]] : 0;
}

/* A short word has to begin where no other word goes on: "fused_moe", but not "smoe" in the middle
 * of one. */
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

unsigned tm_parallelism_of(const struct tm_value *summary)
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

char *tm_parallelism_names(char *out, unsigned set)
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
        length += (size_t)snprintf(out + length, TM_PARALLELISM_BYTES - length, "%s%s",
                                   !said  ? ""
                                   : left ? ", "
                                          : " and ",
                                   needs[i].name);
        said++;
    }
    return out;
}
