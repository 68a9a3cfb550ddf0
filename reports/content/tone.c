/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/content/tone.h"

#include <stddef.h>
#include <string.h>

enum tm_tone tm_tone_of(const char *word)
{
    static const struct {
        const char *word;
        enum tm_tone tone;
    } tones[] = {
        { "good", TM_TONE_GOOD }, { "warning", TM_TONE_WARNING }, { "bad", TM_TONE_BAD }, { "critical", TM_TONE_CRITICAL }, { "info", TM_TONE_INFO },
    };

    for (size_t i = 0; i < sizeof(tones) / sizeof(tones[0]); i++)
        if (strcmp(tones[i].word, word) == 0)
            return tones[i].tone;
    return TM_TONE_UNKNOWN;
}
