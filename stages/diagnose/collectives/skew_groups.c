/* SPDX-License-Identifier: Apache-2.0 */
/* The replica groups of an HLO collective, as XLA prints them: "{{0,1},{2,3}}"; "{}" and "" are one group of all.
 * source: https://openxla.org/xla/operation_semantics#allreduce */
#include "stages/diagnose/collectives/skew_private.h"

static void fill(uint32_t *groups, uint32_t count, uint32_t group)
{
    for (uint32_t i = 0; i < count; i++)
        groups[i] = group;
}

/* The number at *at, which is left behind it; TM_NONE where it is too large. */
static uint32_t read_number(const char **at)
{
    uint32_t number = 0;

    for (; **at >= '0' && **at <= '9'; ++*at) {
        const uint32_t digit = (uint32_t)(**at - '0');

        number = number >= TM_NONE / 10 - 1 ? TM_NONE / 10 - 1 : number * 10 + digit;
    }
    return number;
}

/* out: *numbers  how many there are, *groups  how many groups have one; false where the text is of another form */
static bool put_groups(const char *text, uint32_t *groups, uint32_t count, uint32_t *numbers, uint32_t *group_count)
{
    uint32_t depth = 0;

    *numbers = *group_count = 0;
    for (const char *at = text; *at;) {
        if (*at >= '0' && *at <= '9') {
            const uint32_t number = read_number(&at);

            if (depth != 2 || number >= count || groups[number] != TM_NONE)
                return false;
            groups[number] = *group_count - 1;
            ++*numbers;
            continue;
        }
        depth += *at == '{';
        *group_count += *at == '{' && depth == 2;
        if (depth > 2 || (*at == '}' && depth-- == 0) || (*at != '{' && *at != '}' && *at != ',' && *at != ' '))
            return false;
        at++;
    }
    return depth == 0;
}

/* A text of one group is about all devices, whatever their numbers: those that are here are in it. */
static bool is_one_group(const char *text)
{
    uint32_t opened = 0;

    for (; *text; text++)
        opened += *text == '{';
    return opened <= 2;
}

void find_subgroups(const char *text, uint32_t *groups, uint32_t count)
{
    uint32_t numbers, group_count;

    if (is_one_group(text) && *text != '[') {
        fill(groups, count, 0);
        return;
    }
    fill(groups, count, TM_NONE);
    if (!put_groups(text, groups, count, &numbers, &group_count) || numbers != count)
        fill(groups, count, TM_NONE);
}
