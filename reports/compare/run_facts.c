/* SPDX-License-Identifier: Apache-2.0 */
/* What comparing asks of one summary. */
#include "reports/compare/run_facts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/bounded_sum.h"
#include "pipeline/version.h"
#include "reports/compare/step_samples.h"
#include "reports/findings/ask.h"

const struct tm_part_kind tm_part_kind[TM_PARTS] = {
    [TM_PART_COMPUTE] = { "compute", "Compute", "compute_ps" },
    [TM_PART_COLLECTIVES] = { "collectives", "Exposed collectives", "exposed_collective_ps" },
    [TM_PART_COPY_H2D] = { "copy_h2d", "Exposed copies to the device", "exposed_copy_ps.h2d" },
    [TM_PART_COPY_D2H] = { "copy_d2h", "Exposed copies to the host", "exposed_copy_ps.d2h" },
    [TM_PART_COPY_P2P] = { "copy_p2p", "Exposed copies between devices", "exposed_copy_ps.p2p" },
    [TM_PART_COPY_D2D] = { "copy_d2d", "Exposed copies inside the device", "exposed_copy_ps.d2d" },
    [TM_PART_COPY_OTHER] = { "copy_other", "Other exposed copies", "exposed_copy_ps.other" },
    [TM_PART_IDLE_DEVICE_WAIT] = { "idle_device_wait", "Idle: waits on the device",
                                   "idle_ps.device_wait" },
    [TM_PART_IDLE_LAUNCH] = { "idle_launch", "Idle: launches", "idle_ps.launch" },
    [TM_PART_IDLE_COMPILE] = { "idle_compile", "Idle: compiling", "idle_ps.compile" },
    [TM_PART_IDLE_INPUT] = { "idle_input", "Idle: input", "idle_ps.input" },
    [TM_PART_IDLE_SYNC] = { "idle_sync", "Idle: host waits for results", "idle_ps.sync" },
    [TM_PART_IDLE_GC] = { "idle_gc", "Idle: garbage collection", "idle_ps.gc" },
    [TM_PART_IDLE_PROFILER] = { "idle_profiler", "Idle: the profiler", "idle_ps.profiler" },
    [TM_PART_IDLE_HOST] = { "idle_host", "Idle: other host code", "idle_ps.host" },
    [TM_PART_IDLE_UNRECORDED] = { "idle_unrecorded", "Idle: not recorded", "idle_ps.unrecorded" },
};

bool tm_has_steps(const struct tm_value *summary)
{
    return tm_int(tm_path(summary, "steps.chosen")) > 0 && !tm_ask_is_session(summary);
}

double tm_device_steps(const struct tm_value *summary)
{
    const double devices = (double)tm_length(tm_get(summary, "devices"));
    const double steps = tm_double(tm_path(summary, "steps.chosen")) > 0 ? tm_analyzed_steps(summary) * devices : 0;

    return steps > 0 ? steps : 1;
}

bool tm_step_parts(const struct tm_value *summary, double part[TM_PARTS], double *total)
{
    const struct tm_value *parts = tm_path(summary, "steps.parts");
    const double device_steps = tm_device_steps(summary);
    const int64_t total_ps = tm_int(tm_get(parts, "total_ps"));
    int64_t left_ps = total_ps;

    *total = (double)total_ps / device_steps;
    for (int i = 0; i < TM_PARTS; i++) {
        const int64_t part_ps = tm_int(tm_path(parts, tm_part_kind[i].path));

        if (part_ps < 0 || part_ps > left_ps)
            return false;
        left_ps -= part_ps;
        part[i] = (double)part_ps / device_steps;
    }
    return total_ps > 0;
}

const char *tm_device_model(const struct tm_value *summary)
{
    const struct tm_value *devices = tm_path(summary, "environment.devices");
    const char *model = tm_text(tm_get(tm_at(devices, 0), "model"));

    for (size_t i = 1; i < tm_length(devices); i++) {
        if (strcmp(model, tm_text(tm_get(tm_at(devices, i), "model"))) != 0)
            return "";
    }
    return model;
}

bool tm_fingerprint(const struct tm_value *summary, char out[TM_RUN_FINGERPRINT_BYTES])
{
    const struct tm_value *files = tm_path(summary, "input.files");
    uint64_t sum = 0;

    out[0] = '\0';
    for (size_t i = 0; i < tm_length(files); i++) {
        const char *hash = tm_text(tm_get(tm_at(files, i), "xxh3"));
        char *end;

        sum += strtoull(hash, &end, 16);
        if (!*hash || *end)
            return false;
    }
    if (tm_length(files) == 0)
        return false;
    (void)snprintf(out, TM_RUN_FINGERPRINT_BYTES, "%016" PRIx64, sum);
    return true;
}

static void add_said(struct tm_value *to, const char *key, const char *text)
{
    if (text)
        tm_add_text(to, key, text, strlen(text));
    else
        tm_add_null(to, key, "none was given");
}

void tm_add_study_head(struct tm_value *root, const char *schema, const struct tm_compare_options *options,
                       bool is_redacted)
{
    struct tm_value *to;

    tm_add_string(root, "schema", schema);
    tm_add_int(root, "schema_version", 1);
    to = tm_add_object(root, "tool");
    tm_add_string(to, "name", "tracemill");
    tm_add_string(to, "version", TM_VERSION);
    to = tm_add_object(root, "report");
    add_said(to, "title", options->title);
    add_said(to, "note", options->note);
    tm_add_bool(to, "redacted", is_redacted);
    to = tm_add_object(root, "settings");
    tm_add_uint(to, "rows", options->rows);
}

void tm_add_ps(struct tm_value *to, const char *key, double ps, const char *why)
{
    if (isfinite(ps))
        tm_add_int(to, key, tm_whole(round(ps)));
    else
        tm_add_null(to, key, why);
}

void tm_add_figure(struct tm_value *to, const char *key, double value, const char *why)
{
    if (isfinite(value))
        tm_add_double(to, key, value);
    else
        tm_add_null(to, key, why);
}

/* The versions of the first host: what a run is made of. */
static void add_versions(struct tm_value *to, const struct tm_value *summary)
{
    static const char *const keys[] = { "jax",    "jaxlib", "cuda",  "cuda_runtime",
                                        "driver", "rocm",   "libtpu" };
    const struct tm_value *host = tm_path(summary, "environment.hosts[0]");
    struct tm_value *versions = tm_add_object(to, "versions");

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct tm_value *version = tm_get(host, keys[i]);

        if (tm_type_of(version) == TM_STRING)
            tm_add_string(versions, keys[i], tm_text(version));
        else if (tm_has(version))
            tm_add_double(versions, keys[i], tm_double(version));
        else
            tm_add_null(versions, keys[i], "not recorded");
    }
}

static void add_steps(struct tm_value *to, const struct tm_value *summary)
{
    static const char *const times[] = { "mean_ps", "median_ps", "p95_ps", "stddev_ps" };
    const struct tm_value *from = tm_get(summary, "steps");
    struct tm_value *steps = tm_add_object(to, "steps");
    const double mean = tm_double(tm_get(from, "mean_ps"));
    const bool has_spread = tm_int(tm_get(from, "samples")) > 1;

    tm_add_string(steps, "source",
                  *tm_text(tm_get(from, "source")) ? tm_text(tm_get(from, "source")) : "session");
    tm_add_string(steps, "basis",
                  *tm_text(tm_get(from, "basis")) ? tm_text(tm_get(from, "basis")) : "period");
    tm_add_int(steps, "chosen", tm_int(tm_get(from, "chosen")));
    tm_add_int(steps, "samples", tm_int(tm_get(from, "samples")));
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        tm_add_ps(steps, times[i],
                  (i < 3 || has_spread) && tm_has(tm_get(from, times[i]))
                      ? tm_double(tm_get(from, times[i]))
                      : NAN,
                  "too few steps have a length");
    tm_add_figure(steps, "cv_pct",
                  has_spread && mean > 0 ? 100 * tm_double(tm_get(from, "stddev_ps")) / mean : NAN,
                  "too few steps have a length");
}

void tm_add_compared_run(struct tm_value *list, const struct tm_compared_run *run)
{
    static const char not_one[] = "not recorded, or not the same in all of the run";
    const struct tm_value *summary = run->summary;
    struct tm_value *to = tm_add_object(list, NULL);
    char fingerprint[17];

    tm_add_text(to, "path", run->path, strlen(run->path));
    tm_add_string(to, "kind", run->is_summary ? "summary" : "profile");
    tm_add_known(to, "run", tm_text(tm_path(summary, "input.run")), not_one);
    if (tm_fingerprint(summary, fingerprint))
        tm_add_string(to, "fingerprint", fingerprint);
    else
        tm_add_null(to, "fingerprint", "a file has no checksum");
    tm_add_bool(to, "partial", tm_is(tm_path(summary, "input.partial")));
    tm_add_string(to, "platform", tm_ask_platform(summary));
    tm_add_known(to, "device_model", tm_device_model(summary), not_one);
    tm_add_uint(to, "devices", tm_length(tm_get(summary, "devices")));
    tm_add_uint(to, "hosts", tm_length(tm_path(summary, "input.hosts")));
    tm_add_known(to, "framework", tm_ask_framework(summary), not_one);
    add_versions(to, summary);
    tm_add_ps(to, "measured_ps", run->measured_ps < 0 ? NAN : (double)run->measured_ps,
              "no benchmark result was given");
    add_steps(to, summary);
}
