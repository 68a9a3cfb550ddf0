/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the statistics that mean something to us.
 * source: tsl/profiler/utils/xplane_schema.cc names them; checked against real files. */
#include <stdlib.h>

#include "stages/input/xspace_private.h"

struct known {
    const char *name;
    enum tm_stat stat;
};

/* In the order of strcmp. */
static const struct known known_stats[] = {
    { "Memset_details", TM_STAT_MEMSET_DETAILS },
    { "_r", TM_STAT_ROOT },
    { "addr", TM_STAT_ADDRESS },
    { "allocation_bytes", TM_STAT_ALLOCATION_BYTES },
    { "allocator_name", TM_STAT_ALLOCATOR_NAME },
    { "bytes_accessed", TM_STAT_BYTES_ACCESSED },
    { "bytes_allocated", TM_STAT_BYTES_ALLOCATED },
    { "bytes_available", TM_STAT_BYTES_AVAILABLE },
    { "bytes_reserved", TM_STAT_BYTES_RESERVED },
    { "correlation_id", TM_STAT_CORRELATION_ID },
    { "cuda_graph_exec_id", TM_STAT_GRAPH_EXEC },
    { "cuda_graph_node_id", TM_STAT_GRAPH_NODE },
    { "data_type", TM_STAT_DATA_TYPE },
    { "device_ordinal", TM_STAT_DEVICE_ORDINAL },
    { "flops", TM_STAT_FLOPS },
    { "fragmentation", TM_STAT_FRAGMENTATION },
    { "group_id", TM_STAT_GROUP_ID },
    { "hlo_category", TM_STAT_HLO_CATEGORY },
    { "hlo_module", TM_STAT_HLO_MODULE },
    { "hlo_op", TM_STAT_HLO_OP },
    { "index_on_host", TM_STAT_INDEX_ON_HOST },
    { "kernel_details", TM_STAT_KERNEL_DETAILS },
    { "memcpy_details", TM_STAT_MEMCPY_DETAILS },
    { "memset_details", TM_STAT_MEMSET_DETAILS },
    { "module_name", TM_STAT_MODULE_NAME },
    { "name", TM_STAT_NAME },
    { "peak_bytes_in_use", TM_STAT_PEAK_BYTES },
    { "program_id", TM_STAT_PROGRAM_ID },
    { "region_type", TM_STAT_REGION_TYPE },
    { "requested_bytes", TM_STAT_REQUESTED_BYTES },
    { "run_id", TM_STAT_RUN_ID },
    { "shape", TM_STAT_SHAPE },
    { "size", TM_STAT_SIZE },
    { "step_num", TM_STAT_STEP_NUM },
    { "tf_op", TM_STAT_TF_OP },
    { "theoretical_occupancy_pct", TM_STAT_OCCUPANCY },
};

static int compare(const void *wanted, const void *row)
{
    return strcmp(wanted, ((const struct known *)row)->name);
}

enum tm_stat tm_stat_of(const char *name, size_t length)
{
    char text[32];
    const struct known *found;

    if (length >= sizeof(text))
        return TM_STAT_UNKNOWN;
    memcpy(text, name, length);
    text[length] = '\0';
    found = bsearch(text, known_stats, sizeof(known_stats) / sizeof(known_stats[0]), sizeof(known_stats[0]),
                    compare);
    return found ? found->stat : TM_STAT_UNKNOWN;
}
