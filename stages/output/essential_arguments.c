/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments that are written at --args essential: what joins an event with another one, places it, and tells how
 * large its work is.  One table for all inputs, in the order of bytes, bisected.
 * source: tsl/profiler/utils/xplane_schema.cc names the statistics of an XSpace; kineto's output_json.cpp and PyTorch's
 *         profiler name the arguments of their JSON; checked against recorded files */
#include <stdlib.h>
#include <string.h>

#include "stages/output/trace_writer.h"

static const char *const essential[] = {
    "Addr",
    "Bytes",
    "Collective name",
    "Device Id",
    "Device Type",
    "Dst Rank",
    "External id",
    "Fwd thread id",
    "Group size",
    "In msg nelems",
    "In split size",
    "Input Dims",
    "Input dims",
    "MemFree_details",
    "MemoryResidency_details",
    "Memset_details",
    "Module Hierarchy",
    "Out msg nelems",
    "Out split size",
    "Process Group Description",
    "Process Group Name",
    "Process Group Ranks",
    "Rank",
    "Seq",
    "Sequence number",
    "Src Rank",
    "Total Allocated",
    "Total Reserved",
    "_r",
    "addr",
    "all_reduce_id",
    "all_reduce_unique_id",
    "allocation_bytes",
    "allocator_name",
    "async_id",
    "block",
    "bytes",
    "bytes_accessed",
    "bytes_allocated",
    "bytes_available",
    "bytes_reserved",
    "bytes_transferred",
    "consumer_id",
    "consumer_type",
    "context_id",
    "core_type",
    "correlation",
    "correlation_id",
    "counter_value",
    "cuda_graph_exec_id",
    "cuda_graph_id",
    "cuda_graph_node_id",
    "data_type",
    "dcn_chunk",
    "dcn_destination_slice_id",
    "dcn_label",
    "dcn_source_slice_id",
    "device",
    "device_id",
    "device_ordinal",
    "direction",
    "dst",
    "dtype",
    "est. achieved occupancy %",
    "external id",
    "flops",
    "flow",
    "fragmentation",
    "global_device_id",
    "graph id",
    "graph node id",
    "grid",
    "group_id",
    "hlo_category",
    "hlo_module",
    "hlo_op",
    "index_on_host",
    "iter_num",
    "kernel_details",
    "kernel_file",
    "labels",
    "launch_id",
    "long_name",
    "mem size",
    "memalloc_details",
    "memcpy_details",
    "memset_details",
    "model_flops",
    "module",
    "module_name",
    "name",
    "num_bytes",
    "nvtx_range",
    "partition",
    "partition_id",
    "payload_size_bytes",
    "peak_bytes_in_use",
    "producer_id",
    "producer_type",
    "program_id",
    "queue",
    "queue_id",
    "raw_bytes_accessed",
    "region_type",
    "registers per thread",
    "replica",
    "replica_id",
    "requested_bytes",
    "run_id",
    "scope_range_id",
    "shape",
    "shape_with_layout",
    "shared memory",
    "size",
    "source",
    "src",
    "step_name",
    "step_num",
    "stream",
    "stream_id",
    "tf_op",
    "theoretical_occupancy_pct",
    "wait_on_cuda_event_id",
    "wait_on_cuda_event_record_corr_id",
    "wait_on_stream",
};

struct key {
    const char *text;
    size_t length;
};

/* As memcmp, and a text comes after what it begins with. */
static int compare(const void *key, const void *known)
{
    const struct key *const k = key;
    const char *const with = *(const char *const *)known;
    const size_t other = strlen(with);
    const int order = memcmp(k->text, with, k->length < other ? k->length : other);

    return order != 0 ? order : (k->length > other) - (k->length < other);
}

bool tm_is_essential_argument(const char *key, size_t length)
{
    return bsearch(&(struct key){ key, length }, essential, sizeof(essential) / sizeof(essential[0]),
                   sizeof(essential[0]), compare) != NULL;
}
