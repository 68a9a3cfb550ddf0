/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the statistics and arguments that mean something to us: a hash table without collisions, made by the
 * compiler, which warns of two names in one slot.  A name's slot is told by its length and four of its letters.
 * source: tsl/profiler/utils/xplane_schema.cc names the statistics; kineto's output_json.cpp and the profiler of
 *         PyTorch name the arguments; checked against real files */
#include <string.h>

#include "stages/input/records/facts.h"

enum { SLOTS = 256, LONGEST_NAME = 25 };
/* The factors were searched for: any that part all names will do. */
#define SLOT(length, first, quarter, later, last)                                                                      \
    (((length)*106u + (first)*188u + (quarter)*148u + (later)*14u + (last)*247u) % SLOTS)

struct known {
    const char *name;
    uint8_t length;
    uint8_t stat;      /* enum tm_stat */
    bool is_statistic; /* of an XSpace, too */
};

/* The letters stand at 0, a quarter, five eighths and the end of the name. */
static const struct known known_names[SLOTS] = {
    /* statistics: of an XSpace, and JAX's JSON */
    [SLOT(14, 'M', 's', 'e', 's')] = { "Memset_details", 14, TM_STAT_MEMSET_DETAILS, true },
    [SLOT(2, '_', '_', 'r', 'r')] = { "_r", 2, TM_STAT_ROOT, true },
    [SLOT(4, 'a', 'd', 'd', 'r')] = { "addr", 4, TM_STAT_ADDRESS, true },
    [SLOT(16, 'a', 'c', '_', 's')] = { "allocation_bytes", 16, TM_STAT_ALLOCATION_BYTES, true },
    [SLOT(14, 'a', 'o', 'r', 'e')] = { "allocator_name", 14, TM_STAT_ALLOCATOR_NAME, true },
    [SLOT(14, 'b', 'e', 'c', 'd')] = { "bytes_accessed", 14, TM_STAT_BYTES_ACCESSED, true },
    [SLOT(15, 'b', 'e', 'o', 'd')] = { "bytes_allocated", 15, TM_STAT_BYTES_ALLOCATED, true },
    [SLOT(15, 'b', 'e', 'i', 'e')] = { "bytes_available", 15, TM_STAT_BYTES_AVAILABLE, true },
    [SLOT(14, 'b', 'e', 's', 'd')] = { "bytes_reserved", 14, TM_STAT_BYTES_RESERVED, true },
    [SLOT(14, 'c', 'r', 'i', 'd')] = { "correlation_id", 14, TM_STAT_CORRELATION_ID, true },
    [SLOT(13, 'c', 'n', 'v', 'e')] = { "counter_value", 13, TM_STAT_COUNTER_VALUE, true },
    [SLOT(18, 'c', '_', 'e', 'd')] = { "cuda_graph_exec_id", 18, TM_STAT_GRAPH_EXEC, true },
    [SLOT(18, 'c', '_', 'n', 'd')] = { "cuda_graph_node_id", 18, TM_STAT_GRAPH_NODE, true },
    [SLOT(9, 'd', 't', 't', 'e')] = { "data_type", 9, TM_STAT_DATA_TYPE, true },
    [SLOT(18, 'd', 'c', 't', 's')] = { "device_duration_ps", 18, TM_STAT_DEVICE_DURATION, true },
    [SLOT(16, 'd', 'c', 's', 's')] = { "device_offset_ps", 16, TM_STAT_DEVICE_OFFSET, true },
    [SLOT(14, 'd', 'i', 'r', 'l')] = { "device_ordinal", 14, TM_STAT_DEVICE_ORDINAL, true },
    [SLOT(5, 'f', 'l', 'p', 's')] = { "flops", 5, TM_STAT_FLOPS, true },
    [SLOT(13, 'f', 'g', 'a', 'n')] = { "fragmentation", 13, TM_STAT_FRAGMENTATION, true },
    [SLOT(8, 'g', 'o', '_', 'd')] = { "group_id", 8, TM_STAT_GROUP_ID, true },
    [SLOT(12, 'h', '_', 'e', 'y')] = { "hlo_category", 12, TM_STAT_HLO_CATEGORY, true },
    [SLOT(10, 'h', 'o', 'd', 'e')] = { "hlo_module", 10, TM_STAT_HLO_MODULE, true },
    [SLOT(6, 'h', 'l', '_', 'p')] = { "hlo_op", 6, TM_STAT_HLO_OP, true },
    [SLOT(13, 'i', 'e', '_', 't')] = { "index_on_host", 13, TM_STAT_INDEX_ON_HOST, true },
    [SLOT(14, 'k', 'n', 'e', 's')] = { "kernel_details", 14, TM_STAT_KERNEL_DETAILS, true },
    [SLOT(14, 'm', 'c', 'e', 's')] = { "memcpy_details", 14, TM_STAT_MEMCPY_DETAILS, true },
    [SLOT(14, 'm', 's', 'e', 's')] = { "memset_details", 14, TM_STAT_MEMSET_DETAILS, true },
    [SLOT(11, 'm', 'd', '_', 'e')] = { "module_name", 11, TM_STAT_MODULE_NAME, true },
    [SLOT(4, 'n', 'a', 'm', 'e')] = { "name", 4, TM_STAT_NAME, true },
    [SLOT(17, 'p', '_', '_', 'e')] = { "peak_bytes_in_use", 17, TM_STAT_PEAK_BYTES, true },
    [SLOT(10, 'p', 'o', 'm', 'd')] = { "program_id", 10, TM_STAT_PROGRAM_ID, true },
    [SLOT(11, 'r', 'g', '_', 'e')] = { "region_type", 11, TM_STAT_REGION_TYPE, true },
    [SLOT(15, 'r', 'u', '_', 's')] = { "requested_bytes", 15, TM_STAT_REQUESTED_BYTES, true },
    [SLOT(6, 'r', 'u', '_', 'd')] = { "run_id", 6, TM_STAT_RUN_ID, true },
    [SLOT(5, 's', 'h', 'p', 'e')] = { "shape", 5, TM_STAT_SHAPE, true },
    [SLOT(4, 's', 'i', 'z', 'e')] = { "size", 4, TM_STAT_SIZE, true },
    [SLOT(6, 's', 'o', 'r', 'e')] = { "source", 6, TM_STAT_SOURCE, true },
    [SLOT(8, 's', 'e', 'n', 'm')] = { "step_num", 8, TM_STAT_STEP_NUM, true },
    [SLOT(5, 't', 'f', 'o', 'p')] = { "tf_op", 5, TM_STAT_TF_OP, true },
    [SLOT(25, 't', 't', 'u', 't')] = { "theoretical_occupancy_pct", 25, TM_STAT_OCCUPANCY, true },
    /* JAX's JSON alone */
    [SLOT(6, 'l', 'a', 'e', 's')] = { "labels", 6, TM_STAT_LABELS, false },
    [SLOT(9, 'l', 'n', 'n', 'e')] = { "long_name", 9, TM_STAT_LONG_NAME, false },
    [SLOT(11, 'm', 'd', 'f', 's')] = { "model_flops", 11, TM_STAT_FLOPS, false },
    [SLOT(10, 's', 'r', 'n', 'x')] = { "sort_index", 10, TM_STAT_SORT_INDEX, false },
    /* PyTorch */
    [SLOT(11, 'c', 'r', 'a', 'n')] = { "correlation", 11, TM_STAT_CORRELATION_ID, false },
    [SLOT(6, 'd', 'e', 'i', 'e')] = { "device", 6, TM_STAT_DEVICE, false },
    [SLOT(4, 'g', 'r', 'i', 'd')] = { "grid", 4, TM_STAT_GRID, false },
    [SLOT(5, 'b', 'l', 'c', 'k')] = { "block", 5, TM_STAT_BLOCK, false },
    [SLOT(20, 'r', 't', 'r', 'd')] = { "registers per thread", 20, TM_STAT_REGISTERS, false },
    [SLOT(13, 's', 'r', 'e', 'y')] = { "shared memory", 13, TM_STAT_SHARED_MEMORY, false },
    [SLOT(25, 'e', 'c', 'c', '%')] = { "est. achieved occupancy %", 25, TM_STAT_OCCUPANCY, false },
    [SLOT(5, 'b', 'y', 'e', 's')] = { "bytes", 5, TM_STAT_BYTES, false },
    [SLOT(5, 'B', 'y', 'e', 's')] = { "Bytes", 5, TM_STAT_BYTES, false },
    [SLOT(15, 'T', 'a', 'o', 'd')] = { "Total Allocated", 15, TM_STAT_TOTAL_ALLOCATED, false },
    [SLOT(14, 'T', 'a', 's', 'd')] = { "Total Reserved", 14, TM_STAT_TOTAL_RESERVED, false },
    [SLOT(11, 'D', 'v', ' ', 'e')] = { "Device Type", 11, TM_STAT_DEVICE_TYPE, false },
    [SLOT(9, 'D', 'v', 'e', 'd')] = { "Device Id", 9, TM_STAT_DEVICE_ID, false },
    [SLOT(4, 'd', 'e', 's', 'c')] = { "desc", 4, TM_STAT_DESCRIPTION, false },
    [SLOT(6, 'd', 'e', '-', 'd')] = { "dev-id", 6, TM_STAT_QUEUE_DEVICE, false },
    [SLOT(4, 'A', 'd', 'd', 'r')] = { "Addr", 4, TM_STAT_ADDRESS, false },
    [SLOT(15, 'C', 'l', 'e', 'e')] = { "Collective name", 15, TM_STAT_COLLECTIVE, false },
    [SLOT(13, 'I', 'm', 'e', 's')] = { "In msg nelems", 13, TM_STAT_ELEMENTS_IN, false },
    [SLOT(14, 'O', ' ', 'n', 's')] = { "Out msg nelems", 14, TM_STAT_ELEMENTS_OUT, false },
    [SLOT(10, 'G', 'o', 's', 'e')] = { "Group size", 10, TM_STAT_GROUP_SIZE, false },
    [SLOT(5, 'd', 't', 'p', 'e')] = { "dtype", 5, TM_STAT_ELEMENT_TYPE, false },
    [SLOT(18, 'P', 'e', 'u', 'e')] = { "Process Group Name", 18, TM_STAT_GROUP_NAME, false },
    [SLOT(19, 'P', 'e', 'u', 's')] = { "Process Group Ranks", 19, TM_STAT_GROUP_RANKS, false },
    [SLOT(3, 'S', 'S', 'e', 'q')] = { "Seq", 3, TM_STAT_SEQUENCE, false },
};

static const struct known *find(const char *name, size_t length)
{
    const unsigned char *at = (const unsigned char *)name;
    const struct known *row;

    if (!length || length > LONGEST_NAME)
        return NULL;
    row = &known_names[SLOT((unsigned)length, at[0], at[length / 4], at[length * 5 / 8], at[length - 1])];
    return row->length == length && !memcmp(row->name, name, length) ? row : NULL;
}

enum tm_stat tm_stat_of(const char *name, size_t length)
{
    const struct known *row = find(name, length);

    return row && row->is_statistic ? (enum tm_stat)row->stat : TM_STAT_UNKNOWN;
}

enum tm_stat tm_argument_of(const char *key, size_t length)
{
    const struct known *row = find(key, length);

    return row ? (enum tm_stat)row->stat : TM_STAT_UNKNOWN;
}
