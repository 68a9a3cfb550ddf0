/* SPDX-License-Identifier: Apache-2.0 */
/* What all decoders share. */
#include "stages/input/bytes/decoder.h"

#include <stdarg.h>
#include <stdio.h>

void tm_decoder_note(struct tm_decoder *decoder, uint64_t at, const char *format, ...)
{
    va_list args;

    if (decoder->problem[0])
        return;
    va_start(args, format);
    (void)vsnprintf(decoder->problem, sizeof(decoder->problem), format, args);
    va_end(args);
    decoder->problem_at = at;
}

unsigned long long tm_decoder_member(const struct tm_decoder *decoder)
{
    return (unsigned long long)decoder->members + 1;
}

void tm_decoder_skip(struct tm_decoder *decoder, struct tm_flow *flow)
{
    decoder->at += flow->in_left;
    flow->in += flow->in_left;
    flow->in_left = 0;
}

void tm_decoder_free(struct tm_decoder *decoder)
{
    if (decoder)
        decoder->type->free(decoder);
}
