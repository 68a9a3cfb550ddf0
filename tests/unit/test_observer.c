/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/engine/analysis.h"

#include <stdio.h>
#include <unistd.h>

#include "pipeline/options.h"
#include "stages/resolve/classes.h"
#include "tests/support/memory_file.h"
#include "tests/support/test_run.h"
#include "tests/support/xspace_builder.h"

#define US INT64_C(1000000)

static struct tm_setting_set settings; /* too large for a stack */

struct seen {
    bool is_open;
    uint64_t hosts, events, gaps;
    int64_t gap_ps;
    struct tm_names *names;
    tm_strid after;
    uint64_t fails_at; /* the event that fails; 0 = none */
    struct tm_error *error;
};

static tm_status begin_host(void *to, const struct tm_trace *trace)
{
    struct seen *s = to;

    assert_false(s->is_open);
    assert_int_equal(trace->device_count, 1);
    assert_ptr_equal(trace->names, s->names);
    s->is_open = true;
    return TM_OK;
}

static tm_status take(void *to, const struct tm_event *event)
{
    struct seen *s = to;

    assert_true(s->is_open && event->config != NULL);
    return ++s->events == s->fails_at ? tm_fail(s->error, TM_ERR_OUTPUT, -1, "no more") : TM_OK;
}

static tm_status take_gap(void *to, const struct tm_idle_gap *gap)
{
    struct seen *s = to;

    assert_true(s->is_open && gap->host == 0 && gap->device == 0);
    s->gaps++;
    s->gap_ps += gap->end_ps - gap->start_ps;
    s->after = gap->after;
    return TM_OK;
}

static tm_status end_host(void *to)
{
    struct seen *s = to;

    assert_true(s->is_open);
    s->is_open = false;
    s->hosts++;
    return TM_OK;
}

static const struct tm_observer_type watching = {
    .begin_host = begin_host, .take = take, .take_gap = take_gap, .end_host = end_host
};

/* Five kernels of 20 us every 100 us, and two that follow after 5 us. */
static int open_profile(char path[MEMORY_FILE_PATH])
{
    static const struct xb_style plain = { .shuffle = 0 };
    struct xb_space *space = xb_space_new();
    struct xb_line *stream = xb_line(xb_plane(space, "/device:GPU:0"), 7, "Stream #7", 0);
    struct xb_bytes bytes = { .length = 0 };
    int fd;

    for (int64_t i = 0; i < 5; i++)
        xb_event(stream, "k", i * 100 * US, 20 * US);
    xb_event(stream, "k", 425 * US, 20 * US);
    xb_event(stream, "k", 450 * US, 20 * US);
    xb_encode(space, &plain, &bytes);
    fd = memory_file(bytes.at, bytes.length, path);
    xb_free(&bytes);
    xb_space_free(space);
    return fd;
}

/* out: *seen  what the observer saw; its names are freed */
static tm_status analyze(struct seen *seen, char after[16])
{
    char path[MEMORY_FILE_PATH];
    const int fd = open_profile(path);
    char *inputs[] = { path };
    struct tm_options options = { .input_count = 0 };
    struct tm_run run;
    struct tm_doc *doc;
    tm_status st;

    test_run_init(&run);
    tm_settings_init(&settings);
    assert_int_equal(tm_settings_apply(&settings, &options, &run.error), TM_OK);
    tm_progress_init(&run.progress, true);
    options.inputs = inputs;
    options.input_count = 1;
    doc = tm_doc_new(&run);
    seen->names = tm_names_new(&run, tm_budget_share(&run.budget, TM_ACCOUNT_NAMES), tm_traits_of);
    seen->error = &run.error;
    assert_non_null(seen->names);
    assert_non_null(doc);
    const struct tm_observer observer = { .type = &watching, .to = seen, .names = seen->names };

    st = tm_analyze(&run, &options, doc, NULL, &observer);
    if (st == TM_OK)
        assert_int_equal(tm_int(tm_path(tm_doc_root(doc), "gaps.count_min")), seen->gaps);
    (void)snprintf(after, 16, "%s", tm_names_text(seen->names, seen->after, 0, NULL));
    tm_names_free(seen->names);
    tm_doc_free(doc);
    assert_ledger_is_even(&run);
    (void)close(fd);
    return st;
}

static void events_and_gaps_of_a_host_are_shown(void **state)
{
    struct seen seen = { .events = 0 };
    char after[16];

    (void)state;
    assert_int_equal(analyze(&seen, after), TM_OK);
    assert_int_equal(seen.hosts, 1);
    assert_int_equal(seen.events, 7);
    assert_int_equal(seen.gaps, 4); /* those of 5 us are shorter than --gap-min */
    assert_int_equal(seen.gap_ps, 4 * 80 * US);
    assert_string_equal(after, "k");
}

static void a_failure_of_the_observer_ends_the_analysis(void **state)
{
    struct seen seen = { .fails_at = 3 };
    char after[16];

    (void)state;
    assert_int_equal(analyze(&seen, after), TM_ERR_OUTPUT);
    assert_int_equal(seen.events, 3);
    assert_int_equal(seen.hosts, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_and_gaps_of_a_host_are_shown),
        cmocka_unit_test(a_failure_of_the_observer_ends_the_analysis),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
