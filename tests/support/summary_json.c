/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/summary_json.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static cJSON *parse(const char *json)
{
    char text[32768];
    const size_t length = strlen(json);
    cJSON *root;

    assert_true(length < sizeof(text));
    for (size_t i = 0; i <= length; i++)
        text[i] = json[i] == '\'' ? '"' : json[i];
    root = cJSON_Parse(text);
    if (!root)
        fail_msg("not valid JSON at: %.60s", cJSON_GetErrorPtr());
    return root;
}

static void merge(cJSON *into, const cJSON *patch)
{
    const cJSON *member;

    cJSON_ArrayForEach(member, patch)
    {
        cJSON *old = cJSON_GetObjectItemCaseSensitive(into, member->string);

        if (cJSON_IsObject(old) && cJSON_IsObject(member))
            merge(old, member);
        else if (old)
            assert_true(cJSON_ReplaceItemInObjectCaseSensitive(into, member->string, cJSON_Duplicate(member, true)));
        else
            assert_true(cJSON_AddItemToObject(into, member->string, cJSON_Duplicate(member, true)));
    }
}

static void put(struct tm_value *to, const char *key, const cJSON *from, const char *why);

static void put_members(struct tm_value *to, const cJSON *from)
{
    const cJSON *why = cJSON_GetObjectItemCaseSensitive(from, "why"), *member;

    cJSON_ArrayForEach(member, from)
    {
        const cJSON *reason = cJSON_GetObjectItemCaseSensitive(why, member->string);

        if (member != why || !cJSON_IsObject(why))
            put(to, member->string, member, cJSON_IsString(reason) ? reason->valuestring : NULL);
    }
}

static void put(struct tm_value *to, const char *key, const cJSON *from, const char *why)
{
    const cJSON *element;

    if (cJSON_IsObject(from)) {
        put_members(tm_add_object(to, key), from);
    } else if (cJSON_IsArray(from)) {
        struct tm_value *array = tm_add_array(to, key);

        cJSON_ArrayForEach(element, from)
        {
            put(array, NULL, element, NULL);
        }
    } else if (cJSON_IsString(from)) {
        tm_add_string(to, key, from->valuestring);
    } else if (cJSON_IsBool(from)) {
        tm_add_bool(to, key, cJSON_IsTrue(from));
    } else if (cJSON_IsNumber(from) && floor(from->valuedouble) == from->valuedouble &&
               fabs(from->valuedouble) < 9007199254740992.0) {
        tm_add_int(to, key, (int64_t)from->valuedouble);
    } else if (cJSON_IsNumber(from)) {
        tm_add_double(to, key, from->valuedouble);
    } else {
        tm_add_null(to, key, why);
    }
}

void test_summary_load_changed(struct tm_value *to, const char *json, const char *patch)
{
    cJSON *root = parse(json), *changes = parse(patch);

    merge(root, changes);
    put_members(to, root);
    cJSON_Delete(root);
    cJSON_Delete(changes);
}

void test_summary_load(struct tm_value *to, const char *json)
{
    test_summary_load_changed(to, json, "{}");
}

/* One of two devices that are alike: 93 ms compute, 0.8 ms exposed collectives, 1.2 ms exposed
 * copies. */
#define WAITS "{'device_wait': {'count': 2000, 'total_ps': 5000000000}}"
#define DEVICE(n)                                                                                                      \
    "{'id': 'vm/gpu:" n "', 'host': 'vm', 'name': '/device:GPU:" n "', 'kind': 'gpu', 'model': 'GPU',"                 \
    " 'window_begin_ps': 20000000000, 'window_end_ps': 120000000000,"                                                  \
    " 'first_ps': 20000000000, 'last_ps': 120000000000, 'span_ps': 100000000000, 'busy_ps': "                          \
    "95000000000,"                                                                                                     \
    " 'idle_ps': 5000000000, 'lead_ps': 0, 'trail_ps': 0, 'compute_ps': 93000000000,"                                  \
    " 'collective_ps': 4000000000, 'exposed_collective_ps': 800000000, 'copy_ps': 2500000000,"                         \
    " 'exposed_copy_ps': 1200000000, 'exposed_by_direction_ps': {'h2d': 700000000, 'd2h': "                            \
    "500000000, 'p2p': 0,"                                                                                             \
    " 'd2d': 0, 'other': 0}, 'wait_ps': 0, 'wait_copy_ps': 0, 'wait_collective_ps': 0, "                               \
    "'wait_host_ps': 0,"                                                                                               \
    " 'in_flight_ps': 0, 'hidden_ps': null, 'tpu': null, 'utilization_pct': 95, 'activities': "                        \
    "10030,"                                                                                                           \
    " 'gaps': {'count': 2000, 'count_min': 50, 'total_ps': 5000000000, 'by_cause': " WAITS ", 'longest': []},"         \
    " 'kernels': {'count': 10000, 'total_ps': 93000000000, 'min_ps': 9000000, 'max_ps': "                              \
    "11000000},"                                                                                                       \
    " 'collectives': {'count': 10, 'total_ps': 4000000000}, 'copies': {'count': 20, 'total_ps': "                      \
    "2500000000,"                                                                                                      \
    " 'bytes': 10485800}, 'memsets': {'count': 0, 'total_ps': 0, 'bytes': 0}, 'graphs': "                              \
    "{'count': 0,"                                                                                                     \
    " 'total_ps': 0}, 'reliability': 'full', 'steps': {'first_ps': [], 'last_ps': [], "                                \
    "'period_ps': [],"                                                                                                 \
    " 'device_span_ps': [], 'busy_ps': [], 'activities': []}, 'aliases': {'computation': "                             \
    "93000000000,"                                                                                                     \
    " 'exposed_comm': 800000000, 'exposed_memcpy': 1200000000, 'busy': 95000000000, 'idle': "                          \
    "5000000000},"                                                                                                     \
    " 'why': {'hidden_ps': 'only a TPU tells it'}}"

/* 2 devices, each with a window of 10 steps of 10 ms: 200 ms of device time, 190 ms busy. */
const char test_healthy_summary[] =
    "{'schema': 'tracemill.summary', 'schema_version': 2, 'tool': {'name': 'tracemill', 'version': "
    "'0.1.0'},"
    "'input': {'run': 'run', 'hosts': ['vm'], 'partial': false, 'files': [{'path': "
    "'run/vm.xplane.pb',"
    " 'kind': 'xspace', 'bytes': 1000000, 'xxh3': '0123456789abcdef', 'host': 'vm', 'events': "
    "100000,"
    " 'origin_us': 0, 'clock_ns': 0, 'first_ps': 0, 'trace_ps': 0, 'archived': false, 'partial': false, 'problems': "
    "[], 'notes': []}]},"
    "'environment': {'platform': 'gpu', 'hosts': [{'host': 'vm', 'jax': '0.10.2', 'jaxlib': "
    "'0.10.2',"
    " 'platform_version': null, 'cuda': '12.9', 'cuda_runtime': null, 'driver': null, 'rocm': "
    "null, 'libtpu': null,"
    " 'process_id': 7, 'begin_ns': 1763000000000000000, 'end_ns': 1763000001000000000, "
    "'profile_options': null}],"
    " 'devices': [{'model': 'GPU', 'vendor': 'Nvidia', 'kind': 'gpu', 'count': 2, 'used': 2, "
    "'core_count': 132,"
    " 'memory_bytes': 80000000000, 'memory_bandwidth_bytes': 3000000000000, 'peak_tflops': null}]},"
    "'coverage': {'events_read': 100000, 'events_used': 99000, 'classes': {'kernel': 20000, "
    "'collective': 20,"
    " 'copy': 40, 'memset': 0, 'graph': 0, 'device_other': 0, 'step_marker': 12, 'launch': 20000, "
    "'python': 30000,"
    " 'module': 24, 'runtime': 20000, 'compile': 2}, 'tallies': {'derived': {'count': 1000, "
    "'level': 'note',"
    " 'help': 'Events on lines that repeat what other lines hold are counted, but are in no "
    "figure.'}},"
    " 'warnings': []},"
    "'window': {'mode': 'steps', 'hosts': [{'host': 'vm', 'begin_ps': 20000000000, 'end_ps': "
    "120000000000,"
    " 'devices': 2, 'span_ps': 100000000000, 'steps_ps': 100000000000}], 'total_ps': 200000000000},"
    "'steps': {'source': 'host', 'module': null, 'count': 12, 'chosen': 10, 'warmup': 2, "
    "'incomplete': 0,"
    " 'skipped': [{'number': 0, 'reason': 'warm-up'}, {'number': 1, 'reason': 'warm-up'}], "
    "'basis': 'period',"
    " 'samples': 9, 'mean_ps': 10000000000, 'median_ps': 10000000000, 'p90_ps': 10100000000,"
    " 'p95_ps': 10200000000, 'stddev_ps': 50000000, 'min_ps': 9900000000, 'max_ps': 10200000000,"
    " 'samples_ps': [10000000000, 9900000000, 10200000000], 'parts': {'compute_ps': 186000000000,"
    " 'exposed_collective_ps': 1600000000, 'exposed_copy_ps': {'h2d': 1400000000, 'd2h': "
    "1000000000, 'p2p': 0,"
    " 'd2d': 0, 'other': 0}, 'idle_ps': {'device_wait': 1200000000, 'launch': 1500000000, "
    "'compile': 0,"
    " 'input': 1300000000, 'sync': 1500000000, 'gc': 1000000000, 'profiler': 500000000,"
    " 'host': 1500000000, 'unrecorded': 1500000000}, 'total_ps': 200000000000}, 'list': []},"
    "'devices': [" DEVICE("0") ", " DEVICE(
        "1") "],"
             "'unused': [],"
             "'total': {'devices': 2, 'window_ps': 200000000000, 'busy_ps': 190000000000, "
             "'idle_ps': 10000000000,"
             " 'compute_ps': 186000000000, 'collective_ps': 8000000000, 'exposed_collective_ps': "
             "1600000000,"
             " 'copy_ps': 5000000000, 'exposed_copy_ps': 2400000000,"
             " 'exposed_by_direction_ps': {'h2d': 1400000000, 'd2h': 1000000000, 'p2p': 0, 'd2d': "
             "0, 'other': 0},"
             " 'utilization_pct': 95, "
             "'worst_device': 'vm/gpu:0',"
             " 'worst_utilization_pct': 95},"
             "'gaps': {'count': 4000, 'count_min': 100, 'total_ps': 10000000000, 'gap_min_ps': "
             "10000000, 'by_cause': {"
             " 'device_wait': {'count': 1000, 'total_ps': 1200000000, 'share_pct': 12},"
             " 'launch': {'count': 1000, 'total_ps': 1500000000, 'share_pct': 15},"
             " 'compile': {'count': 0, 'total_ps': 0, 'share_pct': 0},"
             " 'input': {'count': 500, 'total_ps': 1300000000, 'share_pct': 13},"
             " 'sync': {'count': 500, 'total_ps': 1500000000, 'share_pct': 15},"
             " 'gc': {'count': 400, 'total_ps': 1000000000, 'share_pct': 10},"
             " 'profiler': {'count': 100, 'total_ps': 500000000, 'share_pct': 5},"
             " 'host': {'count': 500, 'total_ps': 1500000000, 'share_pct': 15},"
             " 'unrecorded': {'count': 0, 'total_ps': 1500000000, 'share_pct': 15}}, 'histogram': "
             "[], 'longest': []},"
             "'kernels': {'count': 20000, 'total_ps': 186000000000, 'distinct': 3, 'rows': [], "
             "'rest': {'rows': 3, 'count': 20000,"
             " 'total_ps': 186000000000}, 'compute_count': 20000, 'weighted_mean_ps': 1500000000, 'compute_mean_ps': "
             "9300000, 'by_category': "
             "[], 'by_name': ["
             " {'name': 'gemm_a', 'count': 5000, 'total_ps': 50000000000, 'min_ps': 9000000, "
             "'max_ps': 11000000},"
             " {'name': 'gemm_b', 'count': 5000, 'total_ps': 48000000000, 'min_ps': 9000000, "
             "'max_ps': 11000000},"
             " {'name': 'fusion', 'count': 5000, 'total_ps': 45000000000, 'min_ps': 9000000, "
             "'max_ps': 11000000},"
             " {'name': 'copy_fusion', 'count': 5000, 'total_ps': 43000000000, 'min_ps': 9000000, "
             "'max_ps': 11000000}],"
             " 'by_name_rest': {'rows': 0, 'count': 0, 'total_ps': 0}},"
             "'fusion': null, 'occupancy': null,"
             "'transfers': {'by_direction': [{'direction': 'h2d', 'count': 20, 'bytes': 20971520, "
             "'total_ps': 3000000000,"
             " 'exposed_ps': 1400000000, 'mean_bandwidth': 7000000000, 'max_bandwidth': 9000000000,"
             " 'unknown_bytes_count': 0, 'outside': {'count': 0, 'bytes': 0, 'total_ps': 0}},"
             " {'direction': 'd2h', 'count': 20, 'bytes': 80, 'total_ps': 2000000000, "
             "'exposed_ps': 1000000000,"
             " 'mean_bandwidth': 40000, 'max_bandwidth': 50000, 'unknown_bytes_count': 0,"
             " 'outside': {'count': 0, 'bytes': 0, 'total_ps': 0}}], 'by_pair': [], 'sizes': [], "
             "'pageable': {'count': 0,"
             " 'total_ps': 0, 'share_pct': 0}, 'largest': [], 'repeated': [{'direction': 'h2d', "
             "'bytes': 1048576,"
             " 'per_step': 1, 'count': 20, 'total_ps': 1900000000}], 'ping_pong': {'count': 0}, "
             "'tpu_host': []},"
             "'ops': null, 'scopes': null, 'collectives': null,"
             "'host': {'overhead_pct': 2.9, 'overhead_ps': 5800000000, 'launches': {'count': 20000, "
             "'per_step': 1000, 'unknown_count': 0}, 'launch_delay': {'count': 20000,"
             " 'p50_ps': 100000000, 'p95_ps': 200000000, 'max_ps': 300000000, 'negative': 0}, 'queue_empty': {'count':"
             " 20, 'total_ps': 1000000000, 'share_pct': 0.5, 'longest': []}},"
             "'compile': {'count': 2, 'total_ps': 1500000000000, 'longest_ps': 1000000000000, "
             "'inside_steps': {'count': 0,"
             " 'total_ps': 0}, 'source': 'backend_compile', 'recompiled': [], 'events': []},"
             "'memory': {'small_below_bytes': 1024, 'allocators': [{'name': 'GPU_0_bfc', 'host': 'vm', "
             "'capacity_bytes': "
             "60000000000,"
             " 'peak_bytes': 30000000000, 'peak_at_ps': 50000000000, 'lifetime_peak_bytes': "
             "30000000000,"
             " 'fragmentation_pct': 10, 'allocations': 100, 'deallocations': 100, "
             "'allocated_bytes': 90000000000,"
             " 'small_allocations': 5, 'timeline': [], 'holders': [], 'spikes': [], 'peak_pct': "
             "50}]},"
             "'roofline': null, 'balance': {'devices': 2, 'imbalance_pct': 0, 'slowest': "
             "'vm/gpu:0', 'busy': []},"
             "'fallback': null,"
             "'why': {'fusion': 'not computed by this version', 'occupancy': 'not computed by "
             "this version',"
             " 'ops': 'not computed by this version', 'scopes': 'not computed by this version',"
             " 'collectives': 'not computed by this version', 'roofline': 'not computed by "
             "this version',"
             " 'fallback': 'not computed by this version'}}";
