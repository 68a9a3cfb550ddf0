/* SPDX-License-Identifier: Apache-2.0 */
/* The state of sequences.  A name is found by its sequence, table and number: a small table by hash precedes a map that
 * spills.  Clearing a sequence increments its generation, which invalidates older entries without visiting them. */
#include "stages/input/perfetto/pftrace_state.h"

#include <string.h>

#include "pipeline/store/hash.h"
#include "pipeline/store/rows.h"
#include "stages/input/records/facts.h"

enum {
    NEAR_ENTRIES = 2048, /* a power of two */
    CLOCKS_MOST = 64,    /* known to all sequences */
    READINGS_MOST = 32,  /* of one snapshot */
    STEPS_BACK = 1024,   /* from the last snapshot to the one that applies */
    BOOTTIME = 6,
    REALTIME = 1,
    MONOTONIC = 3,
    FIRST_OWN_CLOCK = 64, /* of a sequence */
    LAST_OWN_CLOCK = 127,
    NUMBER_TEXT_MOST = 24,
};

static const int64_t longest_ns = INT64_MAX / 2;

/* Fields. */
enum { IID = 1, NAME = 2 };
enum { LOCATION_FILE = 2, LOCATION_FUNCTION = 3, LOCATION_LINE = 4 };
enum { SNAPSHOT_CLOCKS = 1, SNAPSHOT_PRIMARY = 2 };
enum { CLOCK_ID = 1, CLOCK_TIME = 2, CLOCK_INCREMENTAL = 3, CLOCK_UNIT = 4 };
enum { DEFAULTS_EVENT = 11, DEFAULTS_CLOCK = 58 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_REFERENCE_US = 6 };

struct near_entry {
    uint64_t iid;
    uint32_t sequence;
    uint8_t table, is_used;
    struct tm_pftrace_entry entry;
};

/* One moment, on a clock and on the trace's. */
struct point {
    int64_t clock_ns, trace_ns;
    uint64_t before; /* the one before it on the same clock, plus one; 0 = none */
};

struct shared_clock {
    uint64_t id;   /* with the machine */
    uint64_t last; /* point, plus one; 0 = none */
    struct point first;
};

struct reading {
    uint32_t id;
    bool is_incremental;
    uint64_t unit_ns;
    int64_t ns;
};

struct tm_pftrace_state {
    struct tm_run *run;
    struct tm_trace *trace;
    struct tm_key_map *sequence_numbers, *entry_numbers;
    struct tm_rows *sequences; /* struct tm_pftrace_sequence */
    struct tm_rows *entries;   /* struct tm_pftrace_entry */
    struct tm_rows *points;    /* struct point */
    struct tm_pftrace_sequence now;
    bool has_now;
    uint64_t now_id; /* of the sequence, with its machine */
    uint32_t trace_clock;
    bool has_trace_clock; /* a snapshot has chosen it */
    struct shared_clock clocks[CLOCKS_MOST];
    uint32_t clock_count, changes;
    struct near_entry near[NEAR_ENTRIES];
};

struct tm_pftrace_state *tm_pftrace_state_new(struct tm_trace *trace)
{
    struct tm_run *const run = trace->run;
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_METADATA);
    struct tm_pftrace_state *const s = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*s), &run->error);

    if (!s)
        return NULL;
    s->run = run;
    s->trace = trace;
    s->trace_clock = BOOTTIME;
    s->sequence_numbers = tm_key_map_new(run, TM_ACCOUNT_METADATA, share / 16);
    s->entry_numbers = tm_key_map_new(run, TM_ACCOUNT_METADATA, share / 8);
    s->sequences = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(struct tm_pftrace_sequence), share / 16);
    s->entries = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(struct tm_pftrace_entry), share / 8);
    s->points = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(struct point), share / 32);
    if (!tm_failed(run))
        return s;
    tm_pftrace_state_free(s);
    return NULL;
}

void tm_pftrace_state_free(struct tm_pftrace_state *s)
{
    if (!s)
        return;
    tm_key_map_free(s->sequence_numbers);
    tm_key_map_free(s->entry_numbers);
    tm_rows_free(s->sequences);
    tm_rows_free(s->entries);
    tm_rows_free(s->points);
    tm_give(&s->run->budget, TM_ACCOUNT_INPUT, s, sizeof(*s));
}

/* --- entries --- */

static struct near_entry *near_of(struct tm_pftrace_state *s, uint32_t sequence, enum tm_pftrace_table table,
                                  uint64_t iid)
{
    const uint64_t mixed = (iid * TM_PFTRACE_TABLES + (uint64_t)table) ^ (uint64_t)sequence << 40;

    return &s->near[mixed * UINT64_C(0x9e3779b97f4a7c15) >> 53];
}

static_assert(NEAR_ENTRIES == 1 << (64 - 53), "the place is the highest bits of the hash");

static bool is_near(const struct near_entry *near, uint32_t sequence, enum tm_pftrace_table table, uint64_t iid)
{
    return near->is_used && near->iid == iid && near->sequence == sequence && near->table == (uint8_t)table;
}

/* The row of an entry, which is made if there is none. */
static uint64_t row_of(struct tm_pftrace_state *s, enum tm_pftrace_table table, uint64_t iid)
{
    const uint64_t parts[] = { (uint64_t)s->now.number << 8 | (uint64_t)table, iid >> TM_KEY_MEMBER_BITS };
    const uint64_t row = tm_key_map_number(s->entry_numbers, tm_hash_key(parts, sizeof(parts)),
                                           (uint32_t)iid & ((1U << TM_KEY_MEMBER_BITS) - 1));

    if (row >= tm_rows_count(s->entries))
        tm_rows_resize(s->entries, row + 1);
    return row;
}

static void put_entry(struct tm_pftrace_state *s, enum tm_pftrace_table table, uint64_t iid,
                      struct tm_pftrace_entry *entry)
{
    const uint64_t row = row_of(s, table, iid);
    struct tm_pftrace_entry *kept;

    if (tm_failed(s->run))
        return;
    entry->generation = s->now.generation;
    kept = tm_rows_change(s->entries, row);
    s->changes += kept->generation == entry->generation;
    *kept = *entry;
    *near_of(s, s->now.number, table, iid) = (struct near_entry){ iid, s->now.number, (uint8_t)table, true, *entry };
}

bool tm_pftrace_find(struct tm_pftrace_state *s, enum tm_pftrace_table table, uint64_t iid,
                     struct tm_pftrace_entry *entry)
{
    struct near_entry *const near = near_of(s, s->now.number, table, iid);

    if (!is_near(near, s->now.number, table, iid)) {
        const uint64_t row = row_of(s, table, iid);

        *entry = (struct tm_pftrace_entry){ .text = 0 };
        if (tm_failed(s->run))
            return false;
        *near = (struct near_entry){ iid, s->now.number, (uint8_t)table, true,
                                     *(const struct tm_pftrace_entry *)tm_rows_at(s->entries, row) };
    }
    *entry = near->entry;
    if (entry->generation == s->now.generation)
        return true;
    *entry = (struct tm_pftrace_entry){ .text = 0 };
    return false;
}

uint32_t tm_pftrace_changes(const struct tm_pftrace_state *s)
{
    return s->changes;
}

static bool may_be_number(struct tm_wire text)
{
    const size_t length = (size_t)(text.end - text.at);

    return length && length <= NUMBER_TEXT_MOST &&
           ((*text.at >= '0' && *text.at <= '9') || *text.at == '-' || *text.at == '.');
}

static tm_strid put_text(struct tm_pftrace_state *s, struct tm_wire text)
{
    return tm_names_put(s->trace->names, (const char *)text.at, (size_t)(text.end - text.at));
}

/* out: the number of the location; 0 = none */
static uint64_t read_location(struct tm_pftrace_state *s, struct tm_wire bytes, struct tm_pftrace_entry *entry)
{
    struct tm_field field;
    uint64_t iid = 0;

    while (tm_wire_next(&bytes, &field)) {
        if (field.key == TM_WIRE_KEY(IID, TM_WIRE_VARINT))
            iid = field.value;
        else if (field.key == TM_WIRE_KEY(LOCATION_FILE, TM_WIRE_LEN))
            entry->text = put_text(s, tm_wire_of(&field));
        else if (field.key == TM_WIRE_KEY(LOCATION_FUNCTION, TM_WIRE_LEN))
            entry->function = put_text(s, tm_wire_of(&field));
        else if (field.key == TM_WIRE_KEY(LOCATION_LINE, TM_WIRE_VARINT))
            entry->line = (uint32_t)field.value;
    }
    tm_pftrace_check_end(s->run, &bytes);
    return iid;
}

void tm_pftrace_location(struct tm_pftrace_state *s, struct tm_wire bytes, struct tm_pftrace_entry *entry)
{
    *entry = (struct tm_pftrace_entry){ .text = 0 };
    (void)read_location(s, bytes, entry);
}

static void take_entry(struct tm_pftrace_state *s, enum tm_pftrace_table table, struct tm_wire bytes)
{
    struct tm_pftrace_entry entry = { .text = 0 };
    struct tm_wire text = { NULL, NULL };
    struct tm_field field;
    uint64_t iid = 0;

    if (table == TM_PFTRACE_LOCATIONS) {
        iid = read_location(s, bytes, &entry);
    } else {
        while (tm_wire_next(&bytes, &field)) {
            if (field.key == TM_WIRE_KEY(IID, TM_WIRE_VARINT))
                iid = field.value;
            else if (field.key == TM_WIRE_KEY(NAME, TM_WIRE_LEN))
                text = tm_wire_of(&field);
        }
        tm_pftrace_check_end(s->run, &bytes);
        if (text.at)
            entry.text =
                tm_names_put_often(s->trace->names, (const char *)text.at, (size_t)(text.end - text.at), &entry.traits);
        if (table == TM_PFTRACE_KEYS && text.at)
            entry.stat = (uint8_t)tm_argument_of((const char *)text.at, (size_t)(text.end - text.at));
        entry.is_number = table == TM_PFTRACE_STRINGS && text.at && may_be_number(text);
    }
    if (iid)
        put_entry(s, table, iid, &entry);
}

static void take_interned(struct tm_pftrace_state *s, struct tm_wire bytes)
{
    static const struct {
        uint64_t key;
        enum tm_pftrace_table table;
    } tables[] = {
        { TM_WIRE_KEY(1, TM_WIRE_LEN), TM_PFTRACE_CATEGORIES }, { TM_WIRE_KEY(2, TM_WIRE_LEN), TM_PFTRACE_NAMES },
        { TM_WIRE_KEY(3, TM_WIRE_LEN), TM_PFTRACE_KEYS },       { TM_WIRE_KEY(4, TM_WIRE_LEN), TM_PFTRACE_LOCATIONS },
        { TM_WIRE_KEY(29, TM_WIRE_LEN), TM_PFTRACE_STRINGS },
    };
    struct tm_field field;

    while (tm_wire_next(&bytes, &field))
        for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
            if (field.key == tables[i].key)
                take_entry(s, tables[i].table, tm_wire_of(&field));
    tm_pftrace_check_end(s->run, &bytes);
}

/* --- sequences --- */

static void store_sequence(struct tm_pftrace_state *s)
{
    if (s->has_now && !tm_failed(s->run))
        *(struct tm_pftrace_sequence *)tm_rows_change(s->sequences, s->now.number) = s->now;
}

static void turn_to(struct tm_pftrace_state *s, const struct tm_pftrace_packet *packet)
{
    const uint64_t id = (uint64_t)packet->machine << 32 | packet->sequence;
    const uint64_t family = id >> TM_KEY_MEMBER_BITS;
    uint64_t number;

    if (s->has_now && s->now_id == id)
        return;
    store_sequence(s);
    number = tm_key_map_number(s->sequence_numbers, tm_hash_key(&family, sizeof(family)),
                               (uint32_t)id & ((1U << TM_KEY_MEMBER_BITS) - 1));
    if (number >= tm_rows_count(s->sequences)) {
        const struct tm_pftrace_sequence fresh = { .number = (uint32_t)number, .generation = 1 };

        tm_rows_append(s->sequences, &fresh);
    }
    s->now = *(const struct tm_pftrace_sequence *)tm_rows_at(s->sequences, number);
    s->now_id = id;
    s->has_now = true;
}

static void put_extra(uint64_t *tracks, uint8_t *count, uint64_t track)
{
    if (*count < TM_PFTRACE_EXTRA_MOST)
        tracks[(*count)++] = track;
}

/* Defaults of events: a repeated number may be packed. */
static void take_extra(uint64_t *tracks, uint8_t *count, const struct tm_field *field)
{
    struct tm_wire bytes;
    uint64_t value;

    if ((field->key & 7) == TM_WIRE_VARINT) {
        put_extra(tracks, count, field->value);
        return;
    }
    bytes = tm_wire_of(field);
    while (bytes.at < bytes.end && tm_wire_varint(&bytes, &value))
        put_extra(tracks, count, value);
}

static void take_event_defaults(struct tm_pftrace_state *s, struct tm_wire bytes)
{
    struct tm_pftrace_sequence *const now = &s->now;
    struct tm_field field;

    while (tm_wire_next(&bytes, &field)) {
        const uint64_t number = field.key >> TM_WIRE_TYPE_BITS;

        if (field.key == TM_WIRE_KEY(TM_PFTRACE_FIELD_TRACK, TM_WIRE_VARINT)) {
            now->track = field.value;
            now->has_track = true;
        } else if (number == TM_PFTRACE_FIELD_EXTRA_TRACKS) {
            take_extra(now->extra, &now->extra_count, &field);
        } else if (number == TM_PFTRACE_FIELD_EXTRA_REAL_TRACKS) {
            take_extra(now->extra_real, &now->extra_real_count, &field);
        }
    }
    tm_pftrace_check_end(s->run, &bytes);
}

static void forget_defaults(struct tm_pftrace_state *s)
{
    s->now.clock = 0;
    s->now.has_track = false;
    s->now.extra_count = s->now.extra_real_count = 0;
}

static void take_defaults(struct tm_pftrace_state *s, struct tm_wire bytes)
{
    struct tm_field field;

    forget_defaults(s);
    while (tm_wire_next(&bytes, &field)) {
        if (field.key == TM_WIRE_KEY(DEFAULTS_CLOCK, TM_WIRE_VARINT))
            s->now.clock = (uint32_t)field.value;
        else if (field.key == TM_WIRE_KEY(DEFAULTS_EVENT, TM_WIRE_LEN))
            take_event_defaults(s, tm_wire_of(&field));
    }
    tm_pftrace_check_end(s->run, &bytes);
}

/* The thread of all events of the sequence, as older writers record it. */
static void take_thread(struct tm_pftrace_state *s, struct tm_wire bytes)
{
    struct tm_field field;

    s->now.has_thread = true;
    while (tm_wire_next(&bytes, &field)) {
        if (field.key == TM_WIRE_KEY(THREAD_PID, TM_WIRE_VARINT))
            s->now.pid = (int32_t)field.value;
        else if (field.key == TM_WIRE_KEY(THREAD_TID, TM_WIRE_VARINT))
            s->now.tid = (int64_t)field.value;
        else if (field.key == TM_WIRE_KEY(THREAD_REFERENCE_US, TM_WIRE_VARINT))
            s->now.reference_us = (int64_t)field.value;
    }
    tm_pftrace_check_end(s->run, &bytes);
}

/* --- clocks --- */

static bool is_own_clock(uint32_t id)
{
    return id >= FIRST_OWN_CLOCK && id <= LAST_OWN_CLOCK;
}

static uint64_t shared_id(const struct tm_pftrace_state *s, uint32_t id)
{
    return (s->now_id >> 32 << 32) | id;
}

static struct shared_clock *find_clock(struct tm_pftrace_state *s, uint32_t id)
{
    const uint64_t wanted = shared_id(s, id);

    for (uint32_t i = 0; i < s->clock_count; i++)
        if (s->clocks[i].id == wanted)
            return &s->clocks[i];
    return NULL;
}

static struct tm_pftrace_clock *find_own_clock(struct tm_pftrace_state *s, uint32_t id, bool makes)
{
    for (int i = 0; i < TM_PFTRACE_CLOCKS_MOST; i++)
        if (s->now.clocks[i].id == id || (makes && !s->now.clocks[i].id))
            return &s->now.clocks[i];
    return NULL;
}

/* The time of the trace at a reading of a clock: by the last snapshot before it, else by the first one. */
static bool trace_time(struct tm_pftrace_state *s, uint32_t id, int64_t clock_ns, int64_t *ns)
{
    const struct shared_clock *clock;
    struct point point;

    if (!id || id == s->trace_clock) {
        *ns = clock_ns;
        return true;
    }
    clock = find_clock(s, id);
    if (!clock || !clock->last)
        return false;
    point = *(const struct point *)tm_rows_at(s->points, clock->last - 1);
    for (int steps = 0; point.clock_ns > clock_ns && point.before && steps < STEPS_BACK; steps++)
        point = *(const struct point *)tm_rows_at(s->points, point.before - 1);
    return !__builtin_add_overflow(point.trace_ns, clock_ns - point.clock_ns, ns);
}

static void add_point(struct tm_pftrace_state *s, uint32_t id, int64_t clock_ns, int64_t trace_ns)
{
    struct shared_clock *clock = find_clock(s, id);
    struct point point = { clock_ns, trace_ns, 0 };

    if (!clock && s->clock_count == CLOCKS_MOST)
        return;
    if (!clock) {
        clock = &s->clocks[s->clock_count++];
        *clock = (struct shared_clock){ .id = shared_id(s, id), .first = point };
    }
    point.before = clock->last;
    tm_rows_append(s->points, &point);
    clock->last = tm_rows_count(s->points);
}

static bool read_reading(struct tm_pftrace_state *s, struct tm_wire bytes, struct reading *reading)
{
    struct tm_field field;
    uint64_t value = 0;

    *reading = (struct reading){ .unit_ns = 1 };
    while (tm_wire_next(&bytes, &field)) {
        if (field.key == TM_WIRE_KEY(CLOCK_ID, TM_WIRE_VARINT))
            reading->id = (uint32_t)field.value;
        else if (field.key == TM_WIRE_KEY(CLOCK_TIME, TM_WIRE_VARINT))
            value = field.value;
        else if (field.key == TM_WIRE_KEY(CLOCK_INCREMENTAL, TM_WIRE_VARINT))
            reading->is_incremental = field.value != 0;
        else if (field.key == TM_WIRE_KEY(CLOCK_UNIT, TM_WIRE_VARINT) && field.value)
            reading->unit_ns = field.value;
    }
    tm_pftrace_check_end(s->run, &bytes);
    return reading->id && !__builtin_mul_overflow(value, reading->unit_ns, &reading->ns) && reading->ns >= 0 &&
           reading->ns <= longest_ns;
}

/* The time of the trace of a snapshot. */
static bool time_of_snapshot(struct tm_pftrace_state *s, const struct reading *readings, size_t count, int64_t *ns)
{
    for (size_t i = 0; i < count; i++)
        if (readings[i].id == s->trace_clock) {
            *ns = readings[i].ns;
            return true;
        }
    for (size_t i = 0; i < count; i++)
        if (!is_own_clock(readings[i].id) && trace_time(s, readings[i].id, readings[i].ns, ns))
            return true;
    return false;
}

static void take_own_clock(struct tm_pftrace_state *s, const struct reading *reading, int64_t trace_ns)
{
    struct tm_pftrace_clock *const clock = find_own_clock(s, reading->id, true);
    int64_t offset_ns;

    if (clock && !__builtin_sub_overflow(trace_ns, reading->ns, &offset_ns))
        *clock = (struct tm_pftrace_clock){ .id = reading->id,
                                            .is_incremental = reading->is_incremental,
                                            .unit_ns = reading->unit_ns,
                                            .now_ns = reading->ns,
                                            .offset_ns = offset_ns };
}

static void take_snapshot(struct tm_pftrace_state *s, struct tm_wire bytes)
{
    struct reading readings[READINGS_MOST];
    struct tm_field field;
    size_t count = 0;
    uint64_t primary = 0;
    int64_t ns;

    while (tm_wire_next(&bytes, &field)) {
        if (field.key == TM_WIRE_KEY(SNAPSHOT_CLOCKS, TM_WIRE_LEN) && count < READINGS_MOST)
            count += read_reading(s, tm_wire_of(&field), &readings[count]);
        else if (field.key == TM_WIRE_KEY(SNAPSHOT_PRIMARY, TM_WIRE_VARINT))
            primary = field.value;
    }
    tm_pftrace_check_end(s->run, &bytes);
    if (!s->has_trace_clock && primary && primary < FIRST_OWN_CLOCK) {
        s->trace_clock = (uint32_t)primary;
        s->has_trace_clock = true;
    }
    if (!time_of_snapshot(s, readings, count, &ns))
        return;
    for (size_t i = 0; i < count; i++) {
        if (is_own_clock(readings[i].id))
            take_own_clock(s, &readings[i], ns);
        else if (readings[i].id != s->trace_clock)
            add_point(s, readings[i].id, readings[i].ns, ns);
    }
}

/* A reading of a clock of the sequence. */
static bool own_time(struct tm_pftrace_state *s, uint32_t id, uint64_t value, int64_t *ns)
{
    struct tm_pftrace_clock *const clock = find_own_clock(s, id, false);
    int64_t read_ns;

    if (!clock || __builtin_mul_overflow(value, clock->unit_ns, &read_ns))
        return false;
    if (clock->is_incremental) {
        if (__builtin_add_overflow(clock->now_ns, read_ns, &read_ns) || read_ns > longest_ns)
            return false;
        clock->now_ns = read_ns;
    }
    return !__builtin_add_overflow(clock->offset_ns, read_ns, ns);
}

bool tm_pftrace_time(struct tm_pftrace_state *s, const struct tm_pftrace_packet *packet, int64_t *ns)
{
    const uint32_t id = packet->clock ? packet->clock : s->now.clock;
    const bool fits = is_own_clock(id) || packet->timestamp <= (uint64_t)longest_ns;

    if (fits &&
        (is_own_clock(id) ? own_time(s, id, packet->timestamp, ns) : trace_time(s, id, (int64_t)packet->timestamp, ns)))
        return true;
    if (packet->event.at)
        tm_tally_add(&s->run->tallies, fits ? TM_TALLY_UNKNOWN_CLOCK : TM_TALLY_CLOCK_OUTLIER, 1);
    return false;
}

int64_t tm_pftrace_clock_at(const struct tm_pftrace_state *s, int64_t ns)
{
    static const uint32_t wanted[] = { REALTIME, MONOTONIC };

    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        for (uint32_t k = 0; k < s->clock_count; k++) {
            const struct point *const first = &s->clocks[k].first;
            int64_t passed, read;

            if (s->clocks[k].id != wanted[i] || __builtin_sub_overflow(ns, first->trace_ns, &passed) ||
                __builtin_add_overflow(first->clock_ns, passed, &read))
                continue;
            return read > 0 ? read : 0;
        }
    return ns > 0 ? ns : 0;
}

/* --- packets --- */

const struct tm_pftrace_sequence *tm_pftrace_enter(struct tm_pftrace_state *s, const struct tm_pftrace_packet *packet)
{
    turn_to(s, packet);
    if (packet->is_after_loss) {
        tm_tally_add(&s->run->tallies, TM_TALLY_DROPPED_PACKETS, s->now.generation > 1); /* at its start it is usual */
        s->now.is_valid = false;
    }
    if (packet->is_clean) {
        s->now.generation++;
        s->now.is_valid = true;
        forget_defaults(s);
    }
    if (packet->defaults.at)
        take_defaults(s, packet->defaults);
    if (packet->interned.at)
        take_interned(s, packet->interned);
    if (packet->snapshot.at)
        take_snapshot(s, packet->snapshot);
    if (packet->thread.at)
        take_thread(s, packet->thread);
    if (!packet->uses_state || s->now.is_valid)
        return &s->now;
    tm_tally_add(&s->run->tallies, TM_TALLY_MISSING_STATE, packet->event.at != NULL);
    return NULL;
}
