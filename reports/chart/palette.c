/* SPDX-License-Identifier: Apache-2.0 */
/* The colors of all reports, one row per meaning.  reports/html/embed.sh reads the rows of the
 * table to write the style sheet, so each row stays on one line in this form.  The hues are those
 * that Okabe and Ito chose for color-blind readers ("Color universal design", 2008), made darker or
 * lighter until the contrast of every part with its background is 3:1 and of every text 4.5:1
 * (WCAG 2.1, 1.4.11 and 1.4.3); tests/unit/test_svg.c measures it. */
#include "reports/chart/chart.h"
#include "reports/format/format.h"

#include <stddef.h>
#include <string.h>

const struct tm_colour tm_palette[TM_ROLE_COUNT] = {
    /* clang-format off */
    [TM_ROLE_COMPUTE] = { "compute", 0x0067a8, 0x4aa3dc, "compute" },
    [TM_ROLE_COLLECTIVE] = { "collective", 0xcf7a00, 0xf0a630, "exposed collective" },
    [TM_ROLE_COPY_H2D] = { "h2d", 0x00805c, 0x1fb98e, "exposed host-to-device copy" },
    [TM_ROLE_COPY_D2H] = { "d2h", 0x4aa02c, 0x8fd16a, "exposed device-to-host copy" },
    [TM_ROLE_COPY_P2P] = { "p2p", 0x2b9a9a, 0x66d0d0, "exposed device-to-device copy" },
    [TM_ROLE_COPY_D2D] = { "d2d", 0x3d6b4f, 0x9cc0a8, "exposed copy within a device" },
    [TM_ROLE_COPY_OTHER] = { "copy-other", 0x6f7f3a, 0xb7c483, "exposed copy of unknown direction" },
    [TM_ROLE_HIDDEN] = { "hidden", 0x8c8270, 0xb3a993, "overlapped with other work" },
    [TM_ROLE_IDLE_DEVICE_WAIT] = { "device-wait", 0x6a7f9c, 0x8fa5c4, "idle: device stall" },
    [TM_ROLE_IDLE_LAUNCH] = { "launch", 0xc94f00, 0xf07f3c, "idle: launch overhead" },
    [TM_ROLE_IDLE_COMPILE] = { "compile", 0x7a4fb0, 0xb08be0, "idle: compilation" },
    [TM_ROLE_IDLE_INPUT] = { "input", 0xa8870a, 0xe6d23c, "idle: input pipeline" },
    [TM_ROLE_IDLE_SYNC] = { "sync", 0xc45a96, 0xe59ac4, "idle: host sync" },
    [TM_ROLE_IDLE_GC] = { "gc", 0x8c5a2b, 0xc79a6b, "idle: garbage collection" },
    [TM_ROLE_IDLE_PROFILER] = { "profiler", 0x6b6bb5, 0x9c9ce6, "idle: profiler overhead" },
    [TM_ROLE_IDLE_HOST] = { "host", 0xb3263a, 0xf0707f, "idle: host code" },
    [TM_ROLE_IDLE_UNRECORDED] = { "unrecorded", 0x757575, 0x9a9a9a, "idle: not recorded" },
    [TM_ROLE_IDLE] = { "idle", 0x8a94a3, 0x77839a, "idle" },
    [TM_ROLE_GOOD] = { "good", 0x0b6e4f, 0x4cc79b, "good" },
    [TM_ROLE_WARNING] = { "warning", 0x8a5a00, 0xf0b429, "warning" },
    [TM_ROLE_BAD] = { "bad", 0xb3261e, 0xff8a80, "bad" },
    [TM_ROLE_UNKNOWN] = { "unknown", 0x5b6573, 0xa3adba, "unknown" },
    [TM_ROLE_PASS_FORWARD] = { "pass-forward", 0x0067a8, 0x4aa3dc, "forward" },
    [TM_ROLE_PASS_BACKWARD] = { "pass-backward", 0x7a4fb0, 0xb08be0, "backward" },
    [TM_ROLE_PASS_OTHER] = { "pass-other", 0x566070, 0xa9b3c0, "neither" },
    [TM_ROLE_USE_0] = { "use-0", 0xe4ebf2, 0x212b37, "under 5% busy" },
    [TM_ROLE_USE_1] = { "use-1", 0xb5cfe6, 0x24496b, "5 to 25%" },
    [TM_ROLE_USE_2] = { "use-2", 0x76a9d4, 0x3370a5, "25 to 50%" },
    [TM_ROLE_USE_3] = { "use-3", 0x2f7ab8, 0x62a3d8, "50 to 80%" },
    [TM_ROLE_USE_4] = { "use-4", 0x0b3f6f, 0xb9dcf7, "80% and more" },
    [TM_ROLE_SERIES] = { "series", 0x0067a8, 0x4aa3dc, "value" },
    [TM_ROLE_AREA] = { "area", 0xcfe3f2, 0x1d3a52, "value" },
    [TM_ROLE_TEXT] = { "text", 0x1b2430, 0xe8ecf1, "text" },
    [TM_ROLE_QUIET] = { "quiet", 0x566070, 0xa9b3c0, "note" },
    [TM_ROLE_GRID] = { "grid", 0xd5dae1, 0x343d4a, "grid" },
    [TM_ROLE_PAPER] = { "paper", 0xffffff, 0x141a22, "paper" },
    /* clang-format on */
};

struct word {
    const char *text;
    enum tm_role role;
};

static enum tm_role look_up(const struct word *words, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i].text, text) == 0)
            return words[i].role;
    return TM_ROLE_UNKNOWN;
}

enum tm_role tm_role_of_cause(const char *cause)
{
    static const struct word words[] = {
        { "device_wait", TM_ROLE_IDLE_DEVICE_WAIT },
        { "launch", TM_ROLE_IDLE_LAUNCH },
        { "compile", TM_ROLE_IDLE_COMPILE },
        { "input", TM_ROLE_IDLE_INPUT },
        { "sync", TM_ROLE_IDLE_SYNC },
        { "gc", TM_ROLE_IDLE_GC },
        { "profiler", TM_ROLE_IDLE_PROFILER },
        { "host", TM_ROLE_IDLE_HOST },
        { "unrecorded", TM_ROLE_IDLE_UNRECORDED },
    };

    return look_up(words, sizeof(words) / sizeof(words[0]), cause);
}

enum tm_role tm_role_of_direction(const char *direction)
{
    static const struct word words[] = {
        { "h2d", TM_ROLE_COPY_H2D }, { "d2h", TM_ROLE_COPY_D2H },     { "p2p", TM_ROLE_COPY_P2P },
        { "d2d", TM_ROLE_COPY_D2D }, { "other", TM_ROLE_COPY_OTHER },
    };

    return look_up(words, sizeof(words) / sizeof(words[0]), direction);
}

const char *tm_direction_title(const char *direction)
{
    static const char *const titles[][2] = {
        { "h2d", "host to device" },  { "d2h", "device to host" },      { "p2p", "device to device" },
        { "d2d", "within a device" }, { "other", "unknown direction" },
    };

    return tm_format_word(TM_PAIRS(titles), direction, direction);
}

const char *tm_cause_title(const char *cause)
{
    static const char prefix[] = "idle: "; /* as legends need it; a table of causes does not */
    static const char *const parts[][2] = { { "compute_half", "half of compute" },
                                            { "imbalance", "unequal work" },
                                            { "compute_quarter", "a quarter of compute" } };
    const enum tm_role role = tm_role_of_cause(cause);
    const char *label =
        role == TM_ROLE_UNKNOWN ? tm_format_word(TM_PAIRS(parts), cause, cause) : tm_palette[role].label;

    return strncmp(label, prefix, sizeof(prefix) - 1) == 0 ? label + sizeof(prefix) - 1 : label;
}
