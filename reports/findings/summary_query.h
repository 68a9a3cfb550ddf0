/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SUMMARY_QUERY_H
#define TM_SUMMARY_QUERY_H

#include "pipeline/doc/doc.h"

/* Queries on the summary that several modules share.  All of them accept sections that are null or missing. */

/* The reason for a missing figure at `path`: recorded there, or in the nearest enclosing section. */
const char *tm_reason_of(const struct tm_value *summary, const char *path);

int64_t tm_query_window_ps(const struct tm_value *summary); /* all devices; 0 = none */
/* part / total in percent, 0 to 100; 0 if there is no total */
double tm_share_pct(int64_t part_ps, int64_t whole_ps);
/* No steps are marked, so the entire session, or the selected part of it, counts as one. */
bool tm_query_is_session(const struct tm_value *summary);
/* No check of summary.checks fails; those that do not apply to this input do not count. */
bool tm_query_checks_hold(const struct tm_value *summary);
int64_t tm_query_activities(const struct tm_value *summary); /* of devices, in the input */
/* Fewer than 20 activities, or no marked step and less than 1 ms busy on each device: nothing is assessed. */
bool tm_query_is_too_little(const struct tm_value *summary);
/* A trace was read, and not a device memory profile alone. */
bool tm_query_has_trace(const struct tm_value *summary);
/* "gpu", "tpu", "cpu" or "none" */
const char *tm_query_platform(const struct tm_value *summary);
bool tm_query_is_platform(const struct tm_value *summary, const char *platform);
/* "jax", "pytorch" or "tensorflow"; "" = not known, or several.  If the hosts do not agree, XSpace files indicate
 * JAX. in:     summary  or what `inspect` found */
const char *tm_query_framework(const struct tm_value *summary);
/* All files are Chrome JSON, which JAX writes as a lossy copy of the profile, or Perfetto traces. */
bool tm_query_is_json(const struct tm_value *summary);

/* Devices whose events are dropped, by name: "Ascend NPU", "MTIA and IBM AIU". out: out; *events  of all of them;
 * false: there are none */
bool tm_query_unknown_devices(const struct tm_value *summary, char *out, size_t room, int64_t *events);

/* Calls that launch kernels or graphs, and the recorded kernels, collectives, and graphs.  A launch starts at least one
 * of them; drivers also copy and set memory with kernels.
 * out:    whether kernels were lost: none was recorded, or, including copies and memsets, a twentieth fewer than
 *         launches and at least 20 fewer; never if devices were dropped, because the kernels may have run on them */
struct tm_query_kernels {
    int64_t launches, recorded;
};
bool tm_query_lost_kernels(const struct tm_value *summary, struct tm_query_kernels *kernels);

/* Events of a class in the input; names are those of coverage.classes. */
int64_t tm_query_class_count(const struct tm_value *summary, const char *class);

/* The last part of a path: a view into it. */
const char *tm_file_of(const char *path);

#define TM_NO_FALLBACK "nothing ran on the host that a device could have run, and no data went there and back"

/* The host whose device events are exactly as many as the profiler keeps at most: an element of environment.hosts;
 * NULL = none.  The profilers of JAX and TensorFlow have such a limit, PyTorch's does not. */
const struct tm_value *tm_query_capped_host(const struct tm_value *summary);
/* What the first file that is a copy of JAX's profile lacks, its JSON or a converted trace, in words; NULL = there is
 * none.
 * out: *is_converted  may be NULL */
const char *tm_query_copy_note(const struct tm_value *summary, bool *is_converted);

/* What the share of a finding refers to: "the window", "the window of 1 device", "the windows of 3 devices".
 * out:    out   returned; TM_FORMAT_BYTES */
char *tm_window_of_finding(char *out, const struct tm_value *finding);

/* A name of the trace, for use inside a sentence: visible, and cut in the middle to 60 characters.
 * out:    out   returned; at least TM_SHORT_NAME_BYTES bytes */
enum { TM_SHORT_NAME_BYTES = 256 };
char *tm_short_name(char *out, const char *name);

#endif
