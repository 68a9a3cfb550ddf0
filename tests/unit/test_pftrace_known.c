/* SPDX-License-Identifier: Apache-2.0 */
/* Events of Perfetto traces that were met before: how many call sites are told apart. */
#include "pipeline/run.h"
#include "stages/input/perfetto/pftrace_event.h"
#include "tests/support/test_run.h"

enum { CALL_SITES = 6000, LENGTH = 40, NUMBER_AT = 32, NUMBER_BYTES = 3 };

/* The start of a slice: its type, track, and name, then an annotation whose value varies. */
static struct tm_wire make_event(uint8_t bytes[LENGTH + TM_READER_SLACK], uint32_t site, uint32_t value)
{
    memset(bytes, 0, LENGTH + TM_READER_SLACK);
    bytes[0] = 0x48;
    bytes[1] = 0x01;
    bytes[2] = 0x58;
    memcpy(bytes + 3, &site, sizeof(site));
    for (int i = 0; i < NUMBER_BYTES; i++)
        bytes[NUMBER_AT + i] = (uint8_t)((value >> 7 * i & 0x7f) | (i + 1 < NUMBER_BYTES ? 0x80 : 0));
    return (struct tm_wire){ bytes, bytes + LENGTH };
}

static void as_many_call_sites_as_a_large_program_has_are_remembered(void **state)
{
    const struct tm_pftrace_number number = { .at = NUMBER_AT, .bytes = NUMBER_BYTES };
    struct tm_pftrace_known_events *known;
    uint8_t bytes[LENGTH + TM_READER_SLACK];
    size_t found = 0;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    tm_budget_init(&run.budget, 256 * TM_MIB);
    known = tm_pftrace_known_new(&run);
    assert_non_null(known);
    for (uint32_t site = 1; site <= CALL_SITES; site++) {
        const struct tm_pftrace_known what = { .track = site };
        const struct tm_wire event = make_event(bytes, site, site);

        assert_null(tm_pftrace_known_find(known, 1, event));
        tm_pftrace_known_learn(known, 1, event, &number, 1, &what);
    }
    for (uint32_t site = 1; site <= CALL_SITES; site++) {
        const struct tm_pftrace_known *const what =
            tm_pftrace_known_find(known, 1, make_event(bytes, site, 2 * site + 1));

        assert_true(!what || what->track == site);
        found += what != NULL;
    }
    assert_true(found > CALL_SITES / 100 * 98);
    tm_pftrace_known_free(known);
    assert_ledger_is_even(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_call_sites_as_a_large_program_has_are_remembered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
