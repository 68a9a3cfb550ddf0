/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TONE_H
#define TM_TONE_H

/* What a text says about itself; a medium with colours may use it, the words never depend on it. */
enum tm_tone {
    TM_TONE_PLAIN,
    TM_TONE_GOOD,
    TM_TONE_WARNING,
    TM_TONE_BAD,      /* a figure */
    TM_TONE_CRITICAL, /* a finding */
    TM_TONE_INFO,
    TM_TONE_UNKNOWN,
    TM_TONE_QUIET, /* a remark on what stands above it */
};

/* The tone of a band or a severity: "good", "warning", "bad", "critical", "info", "unknown". */
enum tm_tone tm_tone_of(const char *word);

#endif
