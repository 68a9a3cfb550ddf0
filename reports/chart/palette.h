/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PALETTE_H
#define TM_PALETTE_H

#include <stdint.h>

/* What a colour means.  Charts name roles; the back ends look the colour up (PDF) or name a class
 * of the style sheet (SVG, HTML: "f-compute" fills, "s-compute" strokes), so that light, dark and
 * print stay one drawing. */
enum tm_role {
    /* Parts of device time, in the order of stacking. */
    TM_ROLE_COMPUTE,
    TM_ROLE_COLLECTIVE,
    TM_ROLE_COPY_H2D,
    TM_ROLE_COPY_D2H,
    TM_ROLE_COPY_P2P,
    TM_ROLE_COPY_D2D,
    TM_ROLE_COPY_OTHER,
    TM_ROLE_HIDDEN, /* of a collective or a copy: what other work runs beside */
    /* Idle by cause, in the order of the summary. */
    TM_ROLE_IDLE_DEVICE_WAIT,
    TM_ROLE_IDLE_LAUNCH,
    TM_ROLE_IDLE_COMPILE,
    TM_ROLE_IDLE_INPUT,
    TM_ROLE_IDLE_SYNC,
    TM_ROLE_IDLE_GC,
    TM_ROLE_IDLE_PROFILER,
    TM_ROLE_IDLE_HOST,
    TM_ROLE_IDLE_UNRECORDED,
    TM_ROLE_IDLE, /* idle that is not split */
    /* Judgements. */
    TM_ROLE_GOOD,
    TM_ROLE_WARNING,
    TM_ROLE_BAD,
    TM_ROLE_UNKNOWN,
    /* Passes of a training step. */
    TM_ROLE_PASS_FORWARD,
    TM_ROLE_PASS_BACKWARD,
    TM_ROLE_PASS_OTHER,
    /* How busy a device is, from hardly to always: steps of one hue. */
    TM_ROLE_USE_0,
    TM_ROLE_USE_1,
    TM_ROLE_USE_2,
    TM_ROLE_USE_3,
    TM_ROLE_USE_4,
    /* Everything else. */
    TM_ROLE_SERIES, /* one series of data without a meaning of its own */
    TM_ROLE_AREA,   /* the area below that series */
    TM_ROLE_TEXT,
    TM_ROLE_QUIET, /* axis labels, notes */
    TM_ROLE_GRID,  /* axes and grid lines */
    TM_ROLE_PAPER, /* background; gaps between parts */
    TM_ROLE_COUNT
};

struct tm_colour {
    const char *name;  /* of the style class, after "f-" or "s-" */
    uint32_t light;    /* 0xRRGGBB on white paper, screen and print */
    uint32_t dark;     /* on dark paper */
    const char *label; /* as legends say it */
};

/* Indexed by the enum. */
extern const struct tm_colour tm_palette[TM_ROLE_COUNT];

/* The role of a part of the summary: "device_wait" ... "unrecorded"; "h2d" ... "other".
 * out:    the role, TM_ROLE_UNKNOWN for a word that is not known */
enum tm_role tm_role_of_cause(const char *cause);
enum tm_role tm_role_of_direction(const char *direction);

/* The direction of a copy in words: "host to device"; a word that is not known as it is. */
const char *tm_direction_title(const char *direction);

/* The cause of idle time in words. */
const char *tm_cause_title(const char *cause);

#endif
