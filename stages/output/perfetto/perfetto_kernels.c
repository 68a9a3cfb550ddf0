/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels as GpuRenderStageEvents, beside their slices: what the GPU plugin of Perfetto's UI lists, with the launch
 * dimensions (table gpu_slice).  A queue and a stage are entries of one table, InternedData.gpu_specifications: streams are
 * queues, names of kernels are stages of the category compute, since importers up to version 54 show the name of the stage.
 * Entries hold until the tables of names restart, as theirs do.  Memory: one fixed struct.
 * source: protos/perfetto/trace/gpu/gpu_render_stage_event.proto; interned_data.proto */
#include <string.h>

#include "stages/output/perfetto/perfetto_writer.h"

/* Fields of Trace, TracePacket, InternedData, their entries. */
enum { PACKET = 1, TIMESTAMP = 8, SEQUENCE_ID = 10, INTERNED_DATA = 12, SEQUENCE_FLAGS = 13, RENDER_STAGE_EVENT = 53 };
enum { GRAPHICS_CONTEXTS = 23, GPU_SPECIFICATIONS = 24 };
enum { ENTRY_IID = 1, SPECIFICATION_NAME = 2, SPECIFICATION_CATEGORY = 4, CONTEXT_PID = 2, CONTEXT_API = 3 };
enum { CATEGORY_COMPUTE = 2, API_CUDA = 4, API_HIP = 5 };

/* Fields of GpuRenderStageEvent, ComputeKernelLaunch, ExtraComputeArg, Dim3. */
/* clang-format off */
enum {
    EVENT_ID = 1, DURATION = 2, CONTEXT = 5, SUBMISSION_ID = 10, GPU_ID = 11, HW_QUEUE_IID = 13, STAGE_IID = 14,
    LAUNCH = 21
};
/* clang-format on */
enum { GRID_SIZE = 1, WORKGROUP_SIZE = 2, LAUNCH_ARGS = 3 };
enum { ARG_NAME = 2, ARG_UINT = 4, ARG_DOUBLE = 5 };

/* Queues, stages and contexts have numbers of their own in the table that they share. */
static uint64_t queue_iid(const struct tm_out_row *row)
{
    return row->uuid << 1;
}

static uint64_t stage_iid(uint32_t name)
{
    return (uint64_t)name << 1 | 1;
}

static uint8_t *put_literal(uint8_t *to, unsigned field, const char *text)
{
    return tm_pb_bytes(to, field, text, strlen(text));
}

static uint8_t *put_specification(struct tm_perfetto_names *names, uint8_t *to, uint64_t iid, tm_strid name)
{
    uint8_t *begin;

    to = tm_pb_begin(to, GPU_SPECIFICATIONS, &begin);
    to = tm_pb_varint(to, ENTRY_IID, iid);
    tm_perfetto_put_name(names, &to, SPECIFICATION_NAME, name);
    to = tm_pb_varint(to, SPECIFICATION_CATEGORY, CATEGORY_COMPUTE);
    return tm_pb_end(to, begin);
}

static uint8_t *put_context(uint8_t *to, uint64_t iid, const struct tm_out_event *event)
{
    const struct tm_device *const device = &event->trace->devices[event->of->device];
    uint8_t *begin;

    to = tm_pb_begin(to, GRAPHICS_CONTEXTS, &begin);
    to = tm_pb_varint(to, ENTRY_IID, iid);
    to = tm_pb_varint(to, CONTEXT_PID, (uint64_t)event->row->pid);
    to = tm_pb_varint(to, CONTEXT_API, strcmp(device->vendor, "AMD") == 0 ? API_HIP : API_CUDA);
    return tm_pb_end(to, begin);
}

/* A place of a small table: true if the entry was there already. */
static bool is_known(struct tm_perfetto_known_entry *entry, uint64_t id, uint32_t tables)
{
    const bool is_same = entry->id == id && entry->tables == tables;

    *entry = (struct tm_perfetto_known_entry){ id, tables };
    return is_same;
}

/* Put the entries that the event is the first to refer to. */
static uint8_t *put_entries(struct tm_perfetto_kernels *k, struct tm_perfetto_names *names, uint8_t *to,
                            const struct tm_out_event *event, uint32_t name, uint64_t context)
{
    const uint64_t queue = queue_iid(event->row), stage = stage_iid(name);
    uint8_t *begin, *const without = to, *const first = tm_pb_begin(to, INTERNED_DATA, &begin);

    to = first;
    if (!is_known(&k->queues[event->row->uuid % TM_PERFETTO_KNOWN_QUEUES], queue, names->tables))
        to = put_specification(names, to, queue, event->row->name);
    if (!is_known(&k->stages[name % TM_PERFETTO_KNOWN_STAGES], stage, names->tables))
        to = put_specification(names, to, stage, event->name);
    if (!is_known(&k->contexts[context % TM_PERFETTO_KNOWN_QUEUES], context, names->tables))
        to = put_context(to, context, event);
    return to == first ? without : tm_pb_end(to, begin);
}

static uint8_t *put_dimensions(uint8_t *to, unsigned field, const uint32_t dimensions[3])
{
    uint8_t *begin;

    to = tm_pb_begin(to, field, &begin);
    for (unsigned i = 0; i < 3; i++)
        to = tm_pb_varint(to, i + 1, dimensions[i]);
    return tm_pb_end(to, begin);
}

static uint8_t *put_number(uint8_t *to, const char *name, uint64_t number)
{
    uint8_t *begin;

    if (!number)
        return to;
    to = tm_pb_begin(to, LAUNCH_ARGS, &begin);
    to = put_literal(to, ARG_NAME, name);
    to = tm_pb_varint(to, ARG_UINT, number);
    return tm_pb_end(to, begin);
}

static uint8_t *put_launch(uint8_t *to, const struct tm_config *config)
{
    uint8_t *begin, *inner;
    uint64_t threads = 1;

    for (int i = 0; i < 3; i++)
        threads *= (uint64_t)config->grid[i] * config->block[i];
    to = tm_pb_begin(to, LAUNCH, &begin);
    to = put_dimensions(to, GRID_SIZE, config->grid);
    to = put_dimensions(to, WORKGROUP_SIZE, config->block);
    to = put_number(to, "registers_per_thread", config->registers);
    to = put_number(to, "shared_mem_per_block", config->shared_bytes);
    to = put_number(to, "thread_count", threads);
    if (config->occupancy_milli) {
        to = tm_pb_begin(to, LAUNCH_ARGS, &inner);
        to = put_literal(to, ARG_NAME, "occupancy_pct");
        to = tm_pb_double(to, ARG_DOUBLE, config->occupancy_milli / 1000.0);
        to = tm_pb_end(to, inner);
    }
    return tm_pb_end(to, begin);
}

uint8_t *tm_perfetto_put_kernel(struct tm_perfetto_kernels *k, struct tm_perfetto_names *names, uint8_t *to,
                                const struct tm_out_event *event, uint32_t sequence, uint32_t flags)
{
    const struct tm_config *const config = event->of->config;
    const uint32_t name = tm_perfetto_number(names, TM_PERFETTO_NAMES, event->name);
    const uint64_t context = ((uint64_t)event->trace->host << 16 | event->of->device) + 1;
    uint8_t *packet, *begin;

    if (!name) /* too long for the table */
        return to;
    to = tm_pb_begin(to, PACKET, &packet);
    to = tm_pb_varint(to, SEQUENCE_ID, sequence);
    to = tm_pb_varint(to, SEQUENCE_FLAGS, flags);
    to = tm_pb_varint(to, TIMESTAMP, 0); /* with the slice, which is the packet before */
    to = put_entries(k, names, to, event, name, context);
    to = tm_pb_begin(to, RENDER_STAGE_EVENT, &begin);
    to = tm_pb_varint(to, EVENT_ID, ++k->events);
    to = tm_pb_varint(to, DURATION, (uint64_t)(tm_out_ns(event->whole_end_ps) - tm_out_ns(event->whole_begin_ps)));
    to = tm_pb_varint(to, CONTEXT, context);
    if (event->of->record.correlation)
        to = tm_pb_varint(to, SUBMISSION_ID, (uint32_t)event->of->record.correlation);
    to = tm_pb_varint(to, GPU_ID,
                      (uint64_t)event->trace->host << 10 | (uint64_t)event->trace->devices[event->of->device].ordinal);
    to = tm_pb_varint(to, HW_QUEUE_IID, queue_iid(event->row));
    to = tm_pb_varint(to, STAGE_IID, stage_iid(name));
    to = put_launch(to, config);
    to = tm_pb_end(to, begin);
    return tm_pb_end(to, packet);
}
