/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TEST_HOST_CHECKS_H
#define TM_TEST_HOST_CHECKS_H

#include "tests/support/host_rig.h"
#include "tests/support/test_run.h"

/* What tests with a host_rig put in and look at, where nothing is to fail. */

/* Of a host that has ended; how many steps there are the stage of device time reports before. */
static inline void report_ended_rig(struct host_rig *r)
{
    tm_add_uint(tm_add_object(tm_doc_root(r->bench.doc), "steps"), "chosen", BENCH_STEPS);
    assert_int_equal(bench_report(&r->bench), TM_OK);
}

static inline void report_rig(struct host_rig *r)
{
    assert_int_equal(bench_end(&r->bench), TM_OK);
    report_ended_rig(r);
}

static inline void span(struct host_rig *r, uint32_t track, const char *name, enum tm_class class, int64_t start_us,
                        int64_t dur_us)
{
    const struct tm_event event = host_rig_span(r, track, name, class, start_us, dur_us);

    assert_int_equal(bench_take(&r->bench, &event), TM_OK);
}

static inline int64_t integer(const struct host_rig *r, const char *path)
{
    if (!tm_has(bench_get(&r->bench, path)))
        fail_msg("%s is missing", path);
    return tm_int(bench_get(&r->bench, path));
}

static inline const char *text(const struct host_rig *r, const char *path)
{
    return tm_text(bench_get(&r->bench, path));
}

#endif
