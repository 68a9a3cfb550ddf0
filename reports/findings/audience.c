/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/findings/audience.h"

#include <string.h>

#include "reports/findings/ask.h"

enum {
    PLATFORMS = TM_FOR_GPU | TM_FOR_TPU,
    FRAMEWORKS = TM_FOR_JAX | TM_FOR_TORCH | TM_FOR_OTHER,
    PURPOSES = TM_FOR_TRAIN | TM_FOR_INFER,
};

static const struct {
    const char *word;
    size_t length;
    unsigned bit;
} words[] = {
    { "gpu", 3, TM_FOR_GPU },     { "tpu", 3, TM_FOR_TPU },     { "jax", 3, TM_FOR_JAX },
    { "torch", 5, TM_FOR_TORCH }, { "other", 5, TM_FOR_OTHER }, { "train", 5, TM_FOR_TRAIN },
    { "infer", 5, TM_FOR_INFER },
};

static unsigned bit_of(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (words[i].length == length && memcmp(words[i].word, word, length) == 0)
            return words[i].bit;
    }
    return 0;
}

/* It is known of every host that it computes no gradients. */
static bool is_inference(const struct tm_value *summary)
{
    const struct tm_value *hosts = tm_path(summary, "environment.hosts");

    for (size_t i = 0; i < tm_length(hosts); i++) {
        const struct tm_value *backward = tm_get(tm_at(hosts, i), "backward");

        if (!tm_has(backward) || tm_is(backward))
            return false;
    }
    return tm_length(hosts) > 0;
}

unsigned tm_audience_of(const struct tm_value *summary)
{
    const char *platform = tm_ask_platform(summary), *framework = tm_ask_framework(summary);
    const unsigned set = (bit_of(platform, strlen(platform)) & PLATFORMS) |
                         (is_inference(summary) ? TM_FOR_INFER : TM_FOR_TRAIN);

    if (strcmp(framework, "jax") == 0)
        return set | TM_FOR_JAX;
    return set | (strcmp(framework, "pytorch") == 0 ? TM_FOR_TORCH : TM_FOR_OTHER);
}

const char *tm_text_for(unsigned audience, const char *text)
{
    const char *at = text;
    unsigned named = 0;

    for (;;) {
        const size_t length = strcspn(at, ",|");
        const unsigned bit = bit_of(at, length);

        if (!bit || !at[length])
            return text; /* no list of runs: the text itself has begun */
        named |= bit;
        at += length + 1;
        if (at[-1] == '|')
            break;
    }
    if ((named & PLATFORMS && !(named & PLATFORMS & audience)) ||
        (named & FRAMEWORKS && !(named & FRAMEWORKS & audience)) ||
        (named & PURPOSES && !(named & PURPOSES & audience)))
        return NULL;
    return at;
}
