/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FACTS_H
#define TM_FACTS_H

#include <stddef.h>
#include <string.h>

#include <xxhash.h>

#include "pipeline/arguments.h"
#include "pipeline/run.h"
#include "pipeline/source.h"
#include "pipeline/store/hash.h"
#include "pipeline/trace.h"

/* Interning of launch facts.  A set-associative cache of bounded size maps the hash of a config's sources to its row in
 * trace->configs.  An entry that was evicted gets a second row of equal content when it occurs again; configs are
 * therefore compared by their content's hash, never by their row. */
struct tm_configs;

/* in:     trace  its configs made; must outlive the cache
 * errors: NULL, with the error in run->error */
struct tm_configs *tm_configs_new(struct tm_trace *trace) TM_MUST_USE;
void tm_configs_free(struct tm_configs *configs); /* tolerates NULL */
/* Add a row. hash: of its sources.  Failures here and below are recorded in run->error */
uint32_t tm_configs_put(struct tm_configs *configs, uint64_t hash, const struct tm_config *config);

/* For a config whose hash is 0; excludes padding after the last member, which is undefined. */
static inline uint64_t tm_config_hash(const struct tm_config *config)
{
    return XXH3_64bits(config, offsetof(struct tm_config, level) + sizeof(config->level));
}

/* The data of one event besides its name and time: the statistics of an XSpace event, the arguments of a
 * Chrome event.  Those that are used are selected by number; the same code then makes the launch
 * facts, the correlation and the arguments of the record, whatever the format. */
enum tm_stat {
    TM_STAT_UNKNOWN,
    TM_STAT_CORRELATION_ID, /* PyTorch: correlation */
    TM_STAT_KERNEL_DETAILS,
    TM_STAT_MEMCPY_DETAILS,
    TM_STAT_MEMSET_DETAILS,
    TM_STAT_HLO_OP,
    TM_STAT_HLO_MODULE,
    TM_STAT_PROGRAM_ID,
    TM_STAT_NAME,
    TM_STAT_TF_OP,
    TM_STAT_OCCUPANCY, /* PyTorch: est. achieved occupancy %, where 0 is a value; of a statistic it is not recorded */
    TM_STAT_GRAPH_EXEC,
    TM_STAT_GRAPH_NODE,
    TM_STAT_STEP_NUM,
    TM_STAT_ROOT,
    TM_STAT_GROUP_ID,
    TM_STAT_RUN_ID,
    TM_STAT_DEVICE_ORDINAL,
    TM_STAT_SIZE,
    TM_STAT_MODULE_NAME,
    TM_STAT_HLO_CATEGORY,
    TM_STAT_FLOPS, /* JSON: model_flops */
    TM_STAT_BYTES_ACCESSED,
    TM_STAT_ALLOCATOR_NAME,
    TM_STAT_BYTES_RESERVED,
    TM_STAT_BYTES_ALLOCATED,
    TM_STAT_BYTES_AVAILABLE,
    TM_STAT_FRAGMENTATION,
    TM_STAT_PEAK_BYTES,
    TM_STAT_REQUESTED_BYTES,
    TM_STAT_ALLOCATION_BYTES,
    TM_STAT_ADDRESS,
    TM_STAT_REGION_TYPE,
    TM_STAT_DATA_TYPE,
    TM_STAT_SHAPE,
    TM_STAT_INDEX_ON_HOST,
    TM_STAT_SOURCE, /* "file.py:12" */
    TM_STAT_COUNTER_VALUE,
    TM_STAT_DEVICE_OFFSET, /* of a TPU's op: by its own clock */
    TM_STAT_DEVICE_DURATION,
    /* Chrome JSON only */
    TM_STAT_LONG_NAME,  /* JAX: the name where `name` is the short one (TPU: the HLO text) */
    TM_STAT_LABELS,     /* of metadata: process_labels */
    TM_STAT_SORT_INDEX, /* of metadata: process_sort_index, thread_sort_index */
    TM_STAT_DEVICE,     /* PyTorch: device */
    TM_STAT_GRID,       /* [x,y,z], as text */
    TM_STAT_BLOCK,
    TM_STAT_REGISTERS,
    TM_STAT_SHARED_MEMORY,
    TM_STAT_BYTES, /* of a copy, a memset; signed: of an allocation (below 0: freed) */
    TM_STAT_TOTAL_ALLOCATED,
    TM_STAT_TOTAL_RESERVED,
    TM_STAT_DEVICE_TYPE, /* 0 CPU, 1 CUDA; c10::DeviceType */
    TM_STAT_DEVICE_ID,
    TM_STAT_COLLECTIVE,  /* Collective name */
    TM_STAT_ELEMENTS_IN, /* In msg nelems */
    TM_STAT_ELEMENTS_OUT,
    TM_STAT_GROUP_SIZE,
    TM_STAT_ELEMENT_TYPE, /* dtype */
    TM_STAT_GROUP_NAME,   /* Process Group Name */
    TM_STAT_GROUP_RANKS,
    TM_STAT_SEQUENCE,     /* Seq: of a collective in its process group */
    TM_STAT_DESCRIPTION,  /* rocmProfileData: desc */
    TM_STAT_QUEUE_DEVICE, /* rocprof: dev-id */
    TM_STAT_COUNT
};

static_assert(TM_STAT_COUNT <= 64, "statistics are bits of a 64-bit set");

/* The number of a statistic by its name; of an argument of a Chrome event by its key.  JAX uses the names of
 * statistics, PyTorch its own.  Called for every key of every event. */
enum tm_stat tm_stat_of(const char *name, size_t length);
enum tm_stat tm_argument_of(const char *key, size_t length);

/* A string of an event: by reference into a table of its plane, or its bytes. */
struct tm_fact_text {
    enum { TM_FACT_NO_TEXT, TM_FACT_REF, TM_FACT_BYTES } kind;
    uint64_t ref;
    const uint8_t *bytes;
    size_t length;
};

struct tm_facts {
    uint64_t has;                             /* bit 1 << enum tm_stat */
    uint16_t flags;                           /* enum tm_record_flag */
    uint64_t config_hash;                     /* of the statistics that make a config, in their order */
    uint64_t secret;                          /* of this process: of config_hash, which cannot be chosen */
    int64_t ints[TM_STAT_COUNT];              /* of those that are numbers */
    double doubles[TM_STAT_COUNT];            /* occupancy and fragmentation */
    struct tm_fact_text texts[TM_STAT_COUNT]; /* of those that are strings */
};

static inline bool tm_facts_have(const struct tm_facts *facts, enum tm_stat stat)
{
    return facts->has >> stat & 1;
}

/* Reset all facts.  Only members whose bit is set in `has` are written later. seed: of config_hash; events whose
 * strings refer to different tables need different ones */
void tm_facts_begin(struct tm_facts *facts, uint64_t seed);

/* What a config is made from. */
#define TM_FACT_BIT(stat) ((uint64_t)1 << (stat))

static const uint64_t tm_config_facts =
    TM_FACT_BIT(TM_STAT_KERNEL_DETAILS) | TM_FACT_BIT(TM_STAT_MEMCPY_DETAILS) | TM_FACT_BIT(TM_STAT_MEMSET_DETAILS) |
    TM_FACT_BIT(TM_STAT_HLO_OP) | TM_FACT_BIT(TM_STAT_HLO_MODULE) | TM_FACT_BIT(TM_STAT_PROGRAM_ID) |
    TM_FACT_BIT(TM_STAT_NAME) | TM_FACT_BIT(TM_STAT_TF_OP) | TM_FACT_BIT(TM_STAT_OCCUPANCY) |
    TM_FACT_BIT(TM_STAT_GRAPH_EXEC) | TM_FACT_BIT(TM_STAT_DEVICE_ORDINAL) | TM_FACT_BIT(TM_STAT_MODULE_NAME) |
    TM_FACT_BIT(TM_STAT_LONG_NAME) | TM_FACT_BIT(TM_STAT_GRID) | TM_FACT_BIT(TM_STAT_BLOCK) |
    TM_FACT_BIT(TM_STAT_REGISTERS) | TM_FACT_BIT(TM_STAT_SHARED_MEMORY) | TM_FACT_BIT(TM_STAT_BYTES) |
    TM_FACT_BIT(TM_STAT_COLLECTIVE) | TM_FACT_BIT(TM_STAT_ELEMENTS_IN) | TM_FACT_BIT(TM_STAT_ELEMENTS_OUT) |
    TM_FACT_BIT(TM_STAT_GROUP_SIZE) | TM_FACT_BIT(TM_STAT_ELEMENT_TYPE) | TM_FACT_BIT(TM_STAT_GROUP_NAME) |
    TM_FACT_BIT(TM_STAT_GROUP_RANKS) | TM_FACT_BIT(TM_STAT_SOURCE);

/* The hash of a config's sources identifies it: each number is multiplied by a secret, a different one for each kind of
 * number, so two lists cannot be constructed with the same hash. */
static inline uint64_t tm_facts_mix(const struct tm_facts *facts, uint64_t hash, uint32_t kind, uint64_t value)
{
    return tm_hash_fold(hash ^ value, facts->secret + kind * UINT64_C(0xd1342543de82ef95));
}

static inline uint64_t tm_fact_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

extern const uint16_t tm_fact_flags[TM_STAT_COUNT]; /* of a record, that a fact sets */

enum tm_fact_kind { TM_FACT_INT, TM_FACT_DOUBLE, TM_FACT_TEXT, TM_FACT_TEXT_REF }; /* 5 and "5" are distinguished */

/* Mark a fact as present. hashed: its value, as a number. */
static inline void tm_facts_note(struct tm_facts *facts, enum tm_stat stat, enum tm_fact_kind kind, uint64_t hashed)
{
    facts->has |= TM_FACT_BIT(stat);
    facts->flags |= tm_fact_flags[stat];
    if (tm_config_facts >> stat & 1)
        facts->config_hash = tm_facts_mix(facts, facts->config_hash, (uint32_t)stat << 2 | kind, hashed);
}

/* Set one; a repeated one replaces the previous value. text may be borrowed until the facts are used. */
static inline void tm_facts_put_int(struct tm_facts *facts, enum tm_stat stat, int64_t value)
{
    facts->ints[stat] = value;
    facts->doubles[stat] = (double)value;
    facts->texts[stat].kind = TM_FACT_NO_TEXT;
    tm_facts_note(facts, stat, TM_FACT_INT, (uint64_t)value);
}

static inline void tm_facts_put_ref(struct tm_facts *facts, enum tm_stat stat, uint64_t ref)
{
    facts->ints[stat] = 0;
    facts->doubles[stat] = 0;
    facts->texts[stat].kind = TM_FACT_REF;
    facts->texts[stat].ref = ref;
    tm_facts_note(facts, stat, TM_FACT_TEXT_REF, ref);
}

/* A string that spells this number, or 0 for none. */
TM_INLINE void tm_facts_put_text_of(struct tm_facts *facts, enum tm_stat stat, const char *text, size_t length,
                                    int64_t number)
{
    facts->ints[stat] = number;
    facts->doubles[stat] = (double)number;
    facts->texts[stat] =
        (struct tm_fact_text){ .kind = TM_FACT_BYTES, .bytes = (const uint8_t *)text, .length = length };
    tm_facts_note(facts, stat, TM_FACT_TEXT,
                  tm_config_facts >> stat & 1 ? tm_hash_text(text, length, facts->secret) : 0);
}

static inline void tm_facts_put_text(struct tm_facts *facts, enum tm_stat stat, const char *text, size_t length)
{
    tm_facts_put_text_of(facts, stat, text, length, 0);
}

void tm_facts_put_double(struct tm_facts *facts, enum tm_stat stat, double value);

/* A number that is written as text (JAX's JSON has only strings): both are kept, the number if it is one.
 * A decimal fraction is stored as a double, and truncated for ints. */
void tm_facts_put_number_text(struct tm_facts *facts, enum tm_stat stat, const char *text, size_t length);

/* A fact that is an integer, or a string of one.  false: it does not exist, or something else */
bool tm_facts_whole(const struct tm_facts *facts, enum tm_stat stat, int64_t *number);

/* The flags of a record whose category says that it is a kernel, a copy or a memset: as if its statistics did. */
uint16_t tm_facts_flags(const struct tm_facts *facts, enum tm_class given);

struct tm_hlo;

/* What is needed to convert facts. */
struct tm_fact_maker {
    struct tm_trace *trace;
    struct tm_configs *configs;
    /* Looks up a string by reference; NULL if the format has none. out: 0 if there is no such entry */
    tm_strid (*ref)(void *to, uint64_t plane, uint64_t ref);
    void *to;
    uint64_t plane;
    /* For the current event, in Chrome JSON only: the class of its category (TM_CLASS_UNRESOLVED: none), and its name,
     * which provides the memory kinds of a copy, and the HLO text of a TPU op without a long name */
    enum tm_class given;
    const char *name;
    size_t name_length;
    struct tm_hlo *hlo; /* the programs of the file; NULL if the format has none */
};

/* The handle of a string; 0 = none. */
tm_strid tm_facts_text(const struct tm_fact_maker *maker, const struct tm_facts *facts, enum tm_stat stat);

/* The framework path in tf_op: "a/b:Add" ends with a type, which is removed if it is empty ("a/b:"); "XlaModule:" is
 * not a path: 0. */
tm_strid tm_path_of_tf_op(struct tm_names *names, tm_strid tf_op);

/* The config of an event; op_config if it records nothing. op_config: from the event's metadata.  Bytes belong to a
 * copy or memset only if the category says that it is one.  A long name that is an HLO text makes a TPU op, a
 * collective's arguments make a message. */
uint32_t tm_facts_config(const struct tm_fact_maker *maker, const struct tm_facts *facts, uint32_t op_config);

/* All that a record whose class is the one of its category, and whose traits are known, gets from its facts: flags,
 * correlation, config, and its number or its allocation, in *args.
 * out:    *from  which facts are its correlation and its number; TM_STAT_UNKNOWN = none */
struct tm_fact_numbers {
    uint8_t correlation, number; /* enum tm_stat */
};

void tm_facts_take(const struct tm_fact_maker *maker, const struct tm_facts *facts, struct tm_raw_record *raw,
                   union tm_args *args, struct tm_fact_numbers *from);

/* What a call or an execution on a TPU is joined by: its run and the device, which are known when all tracks are.
 * to: the trace.  A tm_finish_record, for records with TM_FLAG_RUN_ID */
void tm_finish_run(void *to, const struct tm_track *track, struct tm_raw_record *raw);

/* The values of an allocator.  JAX: MemoryAllocation.  PyTorch: [memory], where the allocator is named after the
 * device, "gpu:0"; available is what it has reserved but not allocated; a freed block's size, which is written below
 * 0, becomes its length.  Older files have no totals: then only the size is known. */
void tm_facts_allocation(const struct tm_fact_maker *maker, const struct tm_facts *facts,
                         struct tm_allocation *allocation);

/* Recent argument lists, with the input bytes they were made from, part by part: a part is one argument of the input. 
 * A program runs the same kernels repeatedly, and such an event differs from the previous one of its name in a number
 * or two: the equal parts are copied, a run of parts at a time.  A part ends with bytes that end it in any text (a
 * length before it, or a comma after it), so equal bytes have the same meaning, which must not change during the
 * lifetime of the table.  Memory: a table of fixed size; evicted entries are created again, with the same result. */
struct tm_met_lists;

enum { TM_MET_PARTS = 24, TM_MET_LIST_BYTES = 256 };

struct tm_met_part {
    uint16_t from_end, list_end; /* where it ends in the input's bytes, in the list */
    uint16_t spared_end;         /* as tm_arguments_builder.spared grew up to there */
};

struct tm_met_list {
    uint64_t key;
    uint8_t credit; /* grows by an event that is mostly the same, shrinks by others; 0 = free */
    uint8_t count;  /* of parts; 0 = it could not be kept */
    struct tm_met_part parts[TM_MET_PARTS];
    uint8_t list[TM_MET_LIST_BYTES];
    uint8_t from[];
};

/* in:     from_most  bytes of the input that a list may be made from; longer ones are not kept
 * errors: NULL, with the error in run->error */
struct tm_met_lists *tm_met_lists_new(struct tm_run *run, size_t from_most) TM_MUST_USE;
void tm_met_lists_free(struct tm_met_lists *lists); /* tolerates NULL */

/* The state for one event, in the caller's memory. */
struct tm_met_turn {
    struct tm_met_list *list;        /* NULL: neither of the others */
    const uint8_t *from;             /* the event's bytes */
    size_t list_begin, spared_begin; /* of the builder */
    uint32_t part, made;             /* the next one; those that were not copied */
    bool is_learning;                /* parts are noted */
};

/* Start an event.
 * in:     key   groups similar events
 *         from  its bytes, which stay valid until it ends
 *         b     receives its parts, at the top of a list */
void tm_met_begin(struct tm_met_lists *lists, uint64_t key, const uint8_t *from, const struct tm_arguments_builder *b,
                  struct tm_met_turn *turn);

size_t tm_met_copy_run(struct tm_met_turn *turn, const uint8_t *at, size_t length, struct tm_arguments_builder *b);

/* Add the next parts as far as they are known.
 * in:     at, length  the rest of the event's bytes
 * out:    how many bytes matched: complete parts */
static inline size_t tm_met_copy(struct tm_met_turn *turn, const uint8_t *at, size_t length,
                                 struct tm_arguments_builder *b)
{
    const bool is_there = turn->list && !turn->is_learning && turn->part < turn->list->count;

    return is_there ? tm_met_copy_run(turn, at, length, b) : 0;
}

/* A part that ends at `end` was put in by the caller. */
static inline void tm_met_note(struct tm_met_turn *turn, const uint8_t *end, const struct tm_arguments_builder *b)
{
    if (turn->is_learning && turn->part < TM_MET_PARTS)
        turn->list->parts[turn->part] =
            (struct tm_met_part){ (uint16_t)(end - turn->from), (uint16_t)(b->used - turn->list_begin),
                                  (uint16_t)(b->spared - turn->spared_begin) };
    turn->part++;
    turn->made++;
}

/* The event has ended, at the end of the part that was noted last. */
void tm_met_end(struct tm_met_lists *lists, struct tm_met_turn *turn, const uint8_t *end,
                const struct tm_arguments_builder *b);

#endif
