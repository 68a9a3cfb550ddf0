/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the texts of the page can be read: the contrast of the colours that its style sheet mixes, in both themes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "reports/chart/chart.h"
#include "reports/html/html_page.h"
#include "tests/support/contrast.h"

enum theme { LIGHT, DARK, THEMES };

static uint32_t colour_named(const char *name, enum theme theme)
{
    for (int role = 0; role < TM_ROLE_COUNT; role++)
        if (strcmp(tm_palette[role].name, name) == 0)
            return theme == DARK ? tm_palette[role].dark : tm_palette[role].light;
    fail_msg("the palette has no '%s'", name);
    return 0;
}

static uint32_t mix(uint32_t a, uint32_t b, int pct)
{
    uint32_t out = 0;

    for (int shift = 0; shift <= 16; shift += 8) {
        const int of_a = (int)(a >> shift & 255), of_b = (int)(b >> shift & 255);

        out |= (uint32_t)((of_a * pct + of_b * (100 - pct) + 50) / 100) << shift;
    }
    return out;
}

/* A mixed colour as the style sheet defines it: what stands after `before` is
 * "color-mix(in srgb, var(--c-a) 80%, var(--c-b))".  in: tone  takes the place of var(--tone) */
static uint32_t mixed(const char *before, const char *tone, enum theme theme)
{
    const char *at = strstr(tm_asset_style.bytes, before);
    char first[32], second[32];
    int pct;

    if (!at)
        fail_msg("the style sheet lacks: %s", before);
    assert_int_equal(3, sscanf(at + strlen(before), "color-mix(in srgb, var(--%31[a-z-]) %d%%, var(--%31[a-z-]))",
                               first, &pct, second));
    return mix(colour_named(strcmp(first, "tone") == 0 ? tone : first + 2, theme), colour_named(second + 2, theme),
               pct);
}

static void expect_readable(const char *what, uint32_t text, uint32_t paper, enum theme theme)
{
    if (contrast_of(text, paper) < 4.5)
        fail_msg("%s, %s: contrast %.2f", what, theme == DARK ? "dark" : "light", contrast_of(text, paper));
}

static void texts_and_links_can_be_read_on_every_paper(void **state)
{
    (void)state;
    for (enum theme theme = LIGHT; theme < THEMES; theme++) {
        const uint32_t papers[] = { colour_named("paper", theme), mixed("--surface: ", "", theme),
                                    mixed("--hover: ", "", theme) };

        for (size_t i = 0; i < sizeof(papers) / sizeof(papers[0]); i++) {
            expect_readable("text", colour_named("text", theme), papers[i], theme);
            expect_readable("quiet text", colour_named("quiet", theme), papers[i], theme);
            expect_readable("link", mixed("--link: ", "", theme), papers[i], theme);
        }
        expect_readable("tooltip", colour_named("paper", theme), colour_named("text", theme), theme);
    }
}

static void judgements_can_be_read_on_their_tint(void **state)
{
    static const char *const tones[] = { "good", "warning", "bad", "unknown" };

    (void)state;
    for (enum theme theme = LIGHT; theme < THEMES; theme++)
        for (size_t i = 0; i < sizeof(tones) / sizeof(tones[0]); i++) {
            const uint32_t tint = mixed("padding: 9px 16px;\nbackground: ", tones[i], theme);

            expect_readable(tones[i], colour_named(tones[i], theme), tint, theme);
            expect_readable("text of the verdict", colour_named("text", theme), tint, theme);
            expect_readable(tones[i], colour_named(tones[i], theme), colour_named("paper", theme), theme);
        }
}

/* A theme that the reader chose wins over that of the system; paper is always light. */
static void both_themes_can_be_chosen(void **state)
{
    (void)state;
    assert_non_null(strstr(tm_asset_style.bytes, "@media screen and (prefers-color-scheme:dark)"
                                                 "{:root:not([data-theme=\"light\"]){"));
    assert_non_null(strstr(tm_asset_style.bytes, "@media screen{:root[data-theme=\"dark\"]{"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_and_links_can_be_read_on_every_paper),
        cmocka_unit_test(judgements_can_be_read_on_their_tint),
        cmocka_unit_test(both_themes_can_be_chosen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
