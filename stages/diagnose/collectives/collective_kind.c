/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/diagnose/collectives/collective_kind.h"

#include <stdbool.h>

const char *const tm_collective_kind_name[TM_COLLECTIVE_KIND_COUNT] = {
    [TM_ALL_REDUCE] = "all-reduce",   [TM_ALL_GATHER] = "all-gather", [TM_REDUCE_SCATTER] = "reduce-scatter",
    [TM_ALL_TO_ALL] = "all-to-all",   [TM_BROADCAST] = "broadcast",   [TM_SEND_RECV] = "send-recv",
    [TM_PERMUTE] = "permute",         [TM_OTHER_COLLECTIVE] = "other",
};

/* The first one that the text holds: a fused "all-reduce-scatter" is a reduce-scatter. */
static const struct {
    const char *word;
    enum tm_collective_kind kind;
} words[] = {
    { "reducescatter", TM_REDUCE_SCATTER }, { "allreduce", TM_ALL_REDUCE },   { "crossdevicereduce", TM_ALL_REDUCE },
    { "allgather", TM_ALL_GATHER },         { "alltoall", TM_ALL_TO_ALL },    { "all2all", TM_ALL_TO_ALL },
    { "permute", TM_PERMUTE },              { "broadcast", TM_BROADCAST },    { "bcast", TM_BROADCAST },
    { "sendrecv", TM_SEND_RECV },           { "send", TM_SEND_RECV },         { "recv", TM_SEND_RECV },
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Does the text begin with the word, if '_' and '-' inside of it are left out? */
static bool begins(const char *text, size_t length, const char *word)
{
    size_t n = 0;

    if (!length || lower(*text) != *word)
        return false;
    for (; *word; word++) {
        while (n < length && (text[n] == '_' || text[n] == '-'))
            n++;
        if (n == length || lower(text[n++]) != *word)
            return false;
    }
    return true;
}

enum tm_collective_kind tm_collective_kind_in(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        for (size_t at = 0; at < length; at++) {
            if (begins(text + at, length - at, words[i].word))
                return words[i].kind;
        }
    }
    return TM_OTHER_COLLECTIVE;
}
