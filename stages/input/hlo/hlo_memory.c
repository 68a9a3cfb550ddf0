/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a program, from its buffer assignment: allocations by kind, and the values that are live when most
 * memory is in use.  The compiler packs values into an allocation by simulating a heap, and the profile has the events
 * of that simulation: it is replayed twice, first to find the peak, then up to it.  Memory: a row for each value, which
 * spills.
 * source: BufferAssignmentProto {logical_buffers 1, buffer_allocations 3, heap_simulator_traces 4}, LogicalBufferProto
 *         {id 1, size 2, defined_at 3 {instruction_name 2, instruction_id 4}}, BufferAllocationProto {index 1, size 2,
 *         is_thread_local 3, is_entry_computation_parameter 5, maybe_live_out 7, assigned 9 {logical_buffer_id 1,
 *         size 3}, is_constant 12}, HeapSimulatorTrace {events 1 {kind 1, buffer_id 2, instruction_name 4,
 *         share_with_canonical_id 5}}; xla/service/hlo.proto */
#include "stages/input/hlo/hlo_private.h"

/* clang-format off */
enum {
    VALUES_MOST = 1 << 22, /* ids of values beyond it are ignored */
    NAME_MOST = 512,
    BUFFERS_VALUES = 1, BUFFERS_ALLOCATIONS = 3, BUFFERS_TRACES = 4,
    VALUE_ID = 1, VALUE_SIZE = 2, VALUE_PLACE = 3, PLACE_NAME = 2, PLACE_ID = 4,
    ALLOCATION_INDEX = 1, ALLOCATION_SIZE = 2, ALLOCATION_THREAD_LOCAL = 3, ALLOCATION_PARAMETER = 5,
    ALLOCATION_LIVE_OUT = 7, ALLOCATION_ASSIGNED = 9, ALLOCATION_CONSTANT = 12,
    ASSIGNED_VALUE = 1, ASSIGNED_SIZE = 3,
    TRACE_EVENT = 1, EVENT_KIND = 1, EVENT_VALUE = 2, EVENT_NAME = 4, EVENT_CANONICAL = 5,
};
/* clang-format on */

enum { ALLOCATE, FREE, SHARE };

/* A value, by its id. */
struct value {
    uint64_t bytes;
    int64_t instruction; /* id; 0 = not recorded: the name is */
    uint64_t canonical;  /* the value whose memory it shares, plus one; 0 = its own */
    uint32_t users;      /* values in its memory that are live */
    tm_strid name;
};

struct reading {
    struct tm_hlo *hlo;
    const struct tm_hlo_program *program;
    struct tm_hlo_memory *memory;
    struct tm_rows *values; /* struct value */
    struct tm_reader w;
};

bool tm_hlo_enter(struct tm_hlo *hlo, const struct tm_hlo_program *program, struct tm_reader *w, uint32_t part,
                  uint64_t *end)
{
    struct tm_head head;
    bool damaged = false;

    tm_reader_init(w, hlo->input, hlo->buffer, HLO_BUFFER, program->begin, program->end);
    while (!tm_failed(hlo->run) && tm_hlo_next_field(w, program->end, &head, &damaged)) {
        *end = tm_reader_offset(w) + (head.type == TM_WIRE_LEN ? head.value : 0);
        if (head.number == part && head.type == TM_WIRE_LEN)
            return true;
        tm_hlo_leave(w, *end);
    }
    return false;
}

/* The parts of one sort of the buffer assignment, or of one of its messages, one by one.
 * out: false: no more */
static bool next_part(struct tm_reader *w, uint64_t end, uint32_t number, uint64_t *part_end, bool *damaged)
{
    struct tm_head head;

    while (tm_hlo_next_field(w, end, &head, damaged)) {
        *part_end = tm_reader_offset(w) + (head.type == TM_WIRE_LEN ? head.value : 0);
        if (head.number == number && head.type == TM_WIRE_LEN)
            return true;
        tm_hlo_leave(w, *part_end);
    }
    return false;
}

/* A message that is small, as a view of its bytes; a longer one is cut. */
static struct tm_wire view_of(struct tm_reader *w, uint64_t end)
{
    const uint64_t bytes = end - tm_reader_offset(w);

    return tm_reader_peek(w, (size_t)(bytes < HLO_BUFFER ? bytes : HLO_BUFFER));
}

static tm_strid text_in(struct reading *r, struct tm_wire message, uint32_t number)
{
    struct tm_field field;

    while (tm_wire_next(&message, &field))
        if (field.key == TM_WIRE_KEY(number, TM_WIRE_LEN) && field.value)
            return tm_names_put(r->hlo->trace->names, (const char *)field.bytes,
                                field.value < NAME_MOST ? (size_t)field.value : NAME_MOST);
    return 0;
}

static struct value *value_of(struct reading *r, uint64_t id)
{
    if (id >= VALUES_MOST)
        return NULL;
    if (id >= tm_rows_count(r->values))
        tm_rows_resize(r->values, id + 1);
    return tm_failed(r->hlo->run) ? NULL : tm_rows_change(r->values, id);
}

static void take_value(struct reading *r, struct tm_wire message)
{
    struct value *const value = value_of(r, tm_hlo_number_in(message, VALUE_ID));
    struct tm_field field;
    struct value row = { .bytes = tm_hlo_number_in(message, VALUE_SIZE) };

    if (!value)
        return;
    if (row.bytes > INT64_MAX / VALUES_MOST) /* damage: sums of the others do not overflow */
        row.bytes = 0;
    while (tm_wire_next(&message, &field))
        if (field.key == TM_WIRE_KEY(VALUE_PLACE, TM_WIRE_LEN)) {
            row.instruction = (int64_t)tm_hlo_number_in(tm_wire_of(&field), PLACE_ID);
            row.name = row.instruction ? 0 : text_in(r, tm_wire_of(&field), PLACE_NAME);
        }
    *value = row;
}

static void read_values(struct reading *r)
{
    uint64_t end, part;
    bool damaged = false;

    if (!tm_hlo_enter(r->hlo, r->program, &r->w, PROTO_BUFFERS, &end))
        return;
    while (!tm_failed(r->hlo->run) && next_part(&r->w, end, BUFFERS_VALUES, &part, &damaged)) {
        take_value(r, view_of(&r->w, part));
        tm_hlo_leave(&r->w, part);
    }
}

/* --- allocations --- */

static void keep_largest(struct tm_hlo_buffer *list, size_t *listed, const struct tm_hlo_buffer *buffer)
{
    size_t at = *listed;

    while (at > 0 && list[at - 1].bytes < buffer->bytes)
        at--;
    if (at == TM_HLO_BUFFERS)
        return;
    if (*listed < TM_HLO_BUFFERS)
        ++*listed;
    memmove(&list[at + 1], &list[at], (*listed - 1 - at) * sizeof(*buffer));
    list[at] = *buffer;
}

/* The values of an allocation.  Heaps and allocations are numbered separately: the allocation of a heap contains the
 * values that are live in it. */
struct assigned {
    uint64_t largest;
    bool is_heap;
};

/* Name an allocation by the largest value in it, the first of equal ones. */
static void take_assigned(struct reading *r, struct tm_wire message, struct tm_hlo_buffer *buffer, struct assigned *all)
{
    const uint64_t bytes = tm_hlo_number_in(message, ASSIGNED_SIZE);
    const struct value *const value = value_of(r, tm_hlo_number_in(message, ASSIGNED_VALUE));

    all->is_heap |= value && value->users;
    if (buffer->values++ && bytes <= all->largest)
        return;
    all->largest = bytes;
    buffer->instruction = value ? value->instruction : 0;
    buffer->name = value ? value->name : 0;
}

/* Scratch memory of a thread is not device memory. */
static void take_allocation(struct reading *r, uint64_t end)
{
    struct tm_hlo_memory *const m = r->memory;
    struct tm_hlo_buffer buffer = { .kind = TM_HLO_TEMPORARY };
    bool is_argument = false, is_constant = false, is_output = false, is_of_thread = false, damaged = false;
    struct assigned all = { .largest = 0 };
    struct tm_head head;

    while (tm_hlo_next_field(&r->w, end, &head, &damaged)) {
        const uint64_t field_end = tm_reader_offset(&r->w) + (head.type == TM_WIRE_LEN ? head.value : 0);
        const bool is_number = head.type == TM_WIRE_VARINT;

        if (head.number == ALLOCATION_ASSIGNED && head.type == TM_WIRE_LEN)
            take_assigned(r, view_of(&r->w, field_end), &buffer, &all);
        else if (is_number && head.number == ALLOCATION_INDEX)
            buffer.index = head.value;
        else if (is_number && head.number == ALLOCATION_SIZE)
            buffer.bytes = head.value;
        is_of_thread |= is_number && head.number == ALLOCATION_THREAD_LOCAL && head.value;
        is_argument |= is_number && head.number == ALLOCATION_PARAMETER && head.value;
        is_output |= is_number && head.number == ALLOCATION_LIVE_OUT && head.value;
        is_constant |= is_number && head.number == ALLOCATION_CONSTANT && head.value;
        tm_hlo_leave(&r->w, field_end);
    }
    if (is_of_thread || buffer.bytes > INT64_MAX)
        return;
    buffer.kind = is_argument   ? TM_HLO_ARGUMENT
                  : is_constant ? TM_HLO_CONSTANT
                  : is_output   ? TM_HLO_OUTPUT
                                : TM_HLO_TEMPORARY;
    m->overflows |= __builtin_add_overflow(m->bytes[buffer.kind], buffer.bytes, &m->bytes[buffer.kind]);
    m->count++;
    keep_largest(m->largest, &m->largest_count, &buffer);
    if (all.is_heap && buffer.kind == TM_HLO_TEMPORARY)
        m->heap = buffer.index;
    else
        keep_largest(m->live, &m->live_count, &buffer);
}

static void read_allocations(struct reading *r)
{
    uint64_t end, part;
    bool damaged = false;

    if (!tm_hlo_enter(r->hlo, r->program, &r->w, PROTO_BUFFERS, &end))
        return;
    while (!tm_failed(r->hlo->run) && next_part(&r->w, end, BUFFERS_ALLOCATIONS, &part, &damaged)) {
        take_allocation(r, part);
        tm_hlo_leave(&r->w, part);
    }
    r->memory->is_recorded = r->memory->count != 0 && !damaged;
}

/* --- the heap --- */

struct heap {
    uint64_t events, live, peak, peak_event; /* bytes; events up to the peak */
    tm_strid peak_at;
};

/* The value whose memory it is in. */
static struct value *owner_of(struct reading *r, uint64_t id)
{
    struct value *value = value_of(r, id);

    for (int i = 0; value && value->canonical && i < 64; i++)
        value = value_of(r, value->canonical - 1);
    return value;
}

static void replay_event(struct reading *r, struct heap *heap, struct tm_wire event)
{
    const uint64_t kind = tm_hlo_number_in(event, EVENT_KIND), id = tm_hlo_number_in(event, EVENT_VALUE);
    struct value *value = value_of(r, id);

    heap->events++;
    if (!value)
        return;
    if (kind == SHARE)
        value->canonical =
            tm_hlo_number_in(event, EVENT_CANONICAL) == id ? 0 : tm_hlo_number_in(event, EVENT_CANONICAL) + 1;
    else if (kind == ALLOCATE)
        value->canonical = 0;
    value = owner_of(r, id);
    if (!value)
        return;
    if (kind == FREE) {
        heap->live -= value->users == 1 ? value->bytes : 0;
        value->users -= value->users > 0;
        return;
    }
    heap->live += value->users++ == 0 ? value->bytes : 0;
    if (heap->live <= heap->peak)
        return;
    heap->peak = heap->live;
    heap->peak_event = heap->events;
    heap->peak_at = text_in(r, event, EVENT_NAME);
}

static void forget_users(struct reading *r)
{
    for (uint64_t i = 0; i < tm_rows_count(r->values) && !tm_failed(r->hlo->run); i++) {
        struct value *const value = tm_rows_change(r->values, i);

        value->users = 0;
        value->canonical = 0;
    }
}

/* Replay the trace that the reader is at, up to an event. */
static struct heap replay(struct reading *r, uint64_t end, uint64_t most_events)
{
    struct heap heap = { .events = 0 };
    struct tm_head head;
    bool damaged = false;

    forget_users(r);
    while (!tm_failed(r->hlo->run) && tm_hlo_next_field(&r->w, end, &head, &damaged)) {
        const uint64_t field_end = tm_reader_offset(&r->w) + (head.type == TM_WIRE_LEN ? head.value : 0);

        if (head.number == TRACE_EVENT && head.type == TM_WIRE_LEN && heap.events < most_events)
            replay_event(r, &heap, view_of(&r->w, field_end));
        tm_hlo_leave(&r->w, field_end);
    }
    return heap;
}

static void take_live(struct reading *r)
{
    for (uint64_t i = 0; i < tm_rows_count(r->values) && !tm_failed(r->hlo->run); i++) {
        const struct value *const value = tm_rows_at(r->values, i);
        const struct tm_hlo_buffer buffer = { .index = r->memory->heap,
                                              .bytes = value->bytes,
                                              .values = value->users,
                                              .instruction = value->instruction,
                                              .name = value->name,
                                              .kind = TM_HLO_TEMPORARY };

        if (value->users && !value->canonical)
            keep_largest(r->memory->live, &r->memory->live_count, &buffer);
    }
}

/* Of several heaps, one for each memory space, the largest counts. */
static void read_heap(struct reading *r)
{
    struct heap largest = { .events = 0 };
    uint64_t end, part, number = 0, chosen = 0;
    bool damaged = false;

    if (!tm_hlo_enter(r->hlo, r->program, &r->w, PROTO_BUFFERS, &end))
        return;
    for (; !tm_failed(r->hlo->run) && next_part(&r->w, end, BUFFERS_TRACES, &part, &damaged); number++) {
        const struct heap heap = replay(r, part, UINT64_MAX);

        if (heap.peak > largest.peak) {
            largest = heap;
            chosen = number;
            r->memory->has_heap = true;
        }
        tm_hlo_leave(&r->w, part);
    }
    if (!r->memory->has_heap || damaged)
        forget_users(r);
    if (!r->memory->has_heap || damaged || !tm_hlo_enter(r->hlo, r->program, &r->w, PROTO_BUFFERS, &end))
        return;
    r->memory->heap_peak = largest.peak;
    r->memory->peak_at = largest.peak_at;
    for (number = 0; number <= chosen && next_part(&r->w, end, BUFFERS_TRACES, &part, &damaged); number++) {
        if (number == chosen)
            (void)replay(r, part, largest.peak_event);
        tm_hlo_leave(&r->w, part);
    }
}

void tm_hlo_read_memory(struct tm_hlo *hlo, const struct tm_hlo_program *program, struct tm_hlo_memory *memory)
{
    const size_t share = tm_budget_share(&hlo->run->budget, TM_ACCOUNT_SORT);
    struct reading r = { .hlo = hlo, .program = program, .memory = memory };

    *memory = (struct tm_hlo_memory){ .count = 0 };
    r.values = tm_rows_new(hlo->run, TM_ACCOUNT_SORT, sizeof(struct value), share / 16);
    if (r.values) {
        read_values(&r);
        read_heap(&r);
        read_allocations(&r);
        take_live(&r);
    }
    tm_rows_free(r.values);
}
