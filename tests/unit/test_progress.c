/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/run.h"

#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/test_run.h"

/* Run the job with stderr in a file and give out what was written there. */
static void capture(void (*job)(void), char *text, size_t room)
{
    FILE *file = tmpfile();
    const int old = dup(STDERR_FILENO);

    assert_non_null(file);
    assert_true(old >= 0);
    assert_int_equal(dup2(fileno(file), STDERR_FILENO), STDERR_FILENO);
    job();
    assert_int_equal(dup2(old, STDERR_FILENO), STDERR_FILENO);
    (void)close(old);
    const ssize_t n = pread(fileno(file), text, room - 1, 0);

    assert_true(n >= 0);
    text[n] = '\0';
    (void)fclose(file);
}

/* Of what takes longer than it pauses on a busy machine: more is shown then, and more time is left. */
enum { TRIES = 5 };

static void read_for_a_while(struct tm_progress *p, uint64_t total)
{
    const struct timespec pause = { .tv_nsec = 120 * 1000000 };

    tm_progress_phase(p, "reading", total);
    tm_progress_add(p, 1 << 20);
    (void)nanosleep(&pause, NULL);
    tm_progress_add(p, 1 << 20);
    tm_progress_add(p, 1 << 20); /* too soon after the one before */
    tm_progress_end(p);
    assert_int_equal(p->done_bytes, 3 << 20);
}

static void work_off_a_terminal(void)
{
    struct tm_progress p;

    tm_progress_init(&p, false);
    assert_false(p.shown);
    read_for_a_while(&p, 10 << 20);
}

static void work_as_on_a_terminal(void)
{
    struct tm_progress p;

    tm_progress_init(&p, false);
    p.shown = true;
    read_for_a_while(&p, 10 << 20);
}

static void work_of_unknown_length(void)
{
    struct tm_progress p;

    tm_progress_init(&p, false);
    p.shown = true;
    read_for_a_while(&p, 0);
}

static void it_is_silent_where_stderr_is_no_terminal(void **state)
{
    char text[256];

    (void)state;
    capture(work_off_a_terminal, text, sizeof(text));
    assert_string_equal(text, "");
}

static void one_line_is_written_in_place_and_cleared_at_the_end(void **state)
{
    char text[256];

    (void)state;
    for (int i = 0; i < TRIES && (i == 0 || strstr(text, "30%")); i++)
        capture(work_as_on_a_terminal, text, sizeof(text));
    assert_non_null(strstr(text, "reading  20%"));
    assert_non_null(strstr(text, "2 of 10 MiB"));
    assert_non_null(strstr(text, "left"));
    assert_null(strchr(text, '\n'));
    assert_string_equal(text + strlen(text) - 4, "\r\033[K");
    assert_null(strstr(text, "30%"));
}

static void an_unknown_length_gives_no_share_and_no_time_left(void **state)
{
    char text[256];

    (void)state;
    capture(work_of_unknown_length, text, sizeof(text));
    assert_non_null(strstr(text, "reading"));
    assert_null(strchr(text, '%'));
    assert_null(strstr(text, "left"));
}

static void work_on_events(void)
{
    const struct timespec pause = { .tv_nsec = 120 * 1000000 };
    static uint64_t read;
    struct tm_progress p;

    tm_progress_init(&p, false);
    p.shown = true;
    p.events_read = &read;
    read = 5;
    tm_progress_add(&p, 1 << 20); /* before the first phase nothing is told */
    tm_progress_phase(&p, "reading", 10 << 20);
    read += 1234567;
    (void)nanosleep(&pause, NULL);
    tm_progress_add(&p, 1 << 20);
    tm_progress_phase_of_events(&p, "analyzing", 4 << 14, 3 << 20);
    (void)nanosleep(&pause, NULL);
    for (int i = 0; i < 1 << 14; i++)
        tm_progress_event(&p);
    tm_progress_end(&p);
}

static void a_phase_of_events_tells_them_their_rate_and_the_bytes(void **state)
{
    char text[512];

    (void)state;
    for (int i = 0; i < TRIES && (i == 0 || !strstr(text, "0:00 left")); i++)
        capture(work_on_events, text, sizeof(text));
    assert_non_null(strstr(text, "\r\033[Kreading  10%  1 of 10 MiB  1,234,567 events  "));
    assert_non_null(strstr(text, "\r\033[Kanalyzing  25%  3 MiB  16,384 of 65,536 events  0."));
    assert_non_null(strstr(text, " M events/s  0:00 left"));
    assert_int_equal(strncmp(text, "\r\033[Kreading", 11), 0);
}

static void quiet_is_never_shown(void **state)
{
    struct tm_progress p;

    (void)state;
    tm_progress_init(&p, true);
    assert_false(p.shown);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_silent_where_stderr_is_no_terminal),
        cmocka_unit_test(one_line_is_written_in_place_and_cleared_at_the_end),
        cmocka_unit_test(an_unknown_length_gives_no_share_and_no_time_left),
        cmocka_unit_test(a_phase_of_events_tells_them_their_rate_and_the_bytes),
        cmocka_unit_test(quiet_is_never_shown),
    };

    return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}
