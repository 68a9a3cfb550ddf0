/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CHROME_READER_H
#define TM_CHROME_READER_H

#include <stddef.h>
#include <string.h>

#include "stages/input/bytes/input_file.h"
#include "stages/input/chrome/json_digits.h"
#include "stages/input/records/facts.h"

/* The events of a Chrome trace in JSON, one after the other, out of a byte stream: without a document tree, without
 * floating point for times, in bounded memory for any file.  The entire text is validated as JSON (RFC 8259), including
 * skipped parts.  After damage, reading resumes at the next object that is complete, has a phase, and is not a member's
 * value; the text between is counted, and the position of the first such place is reported.  Forms: {"traceEvents":
 * [...], other keys} in any order, and the bare list, which may be unterminated.
 * source: the Trace Event Format; the output of JAX and PyTorch was checked on real files */

/* A string of the document without its escapes; half a surrogate pair becomes the three bytes that UTF-8 would have
 * for it.  Not NUL-terminated.  Borrowed until the next event. */
struct tm_json_slice {
    const char *at;
    uint32_t length;
};

/* A time or a length.  value = us + ps * 1e-6, rounded to a picosecond (halves away from 0). */
struct tm_json_time {
    int64_t us;
    int32_t ps; /* 0 ... 999999 */
};

/* What names a process, a thread, an async span or a flow: a number or a string.  A string that is a plain decimal
 * number that fits is returned as that number, since writers mix the two; a number that is not an integer of 64 bits is
 * returned as its text. */
struct tm_json_id {
    enum { TM_JSON_NO_ID, TM_JSON_NUMBER, TM_JSON_TEXT } kind;
    bool is_unsigned; /* above INT64_MAX: number holds the bits of a uint64_t */
    int64_t number;
    struct tm_json_slice text;
};

static inline bool tm_json_text_is(struct tm_json_slice text, const char *wanted)
{
    return text.length == strlen(wanted) && memcmp(text.at, wanted, text.length) == 0;
}

/* An id in 64 bits, which others may share: a string is its hash. */
static inline uint64_t tm_json_id_number(const struct tm_json_id *id)
{
    return id->kind == TM_JSON_TEXT ? XXH3_64bits(id->text.at, id->text.length) : (uint64_t)id->number;
}

enum tm_chrome_has {
    TM_CHROME_TS = 1 << 0,
    TM_CHROME_DUR = 1 << 1,
    TM_CHROME_NAME = 1 << 2,
    TM_CHROME_CAT = 1 << 3,
    TM_CHROME_ARGS = 1 << 4, /* an object */
    TM_CHROME_SCOPE = 1 << 5,
    TM_CHROME_BIND_ENCLOSING = 1 << 6, /* bp: "e" */
    TM_CHROME_LONG_DUR = 1 << 7,       /* dur does not fit: it is INT64_MAX us */
    TM_CHROME_OTHERS = 1 << 8,         /* members that are not below, or args that is not an object: see members */
};

/* One event of the file.  An invalid value of a member (a list as name, a dur of true) counts as missing.  A string
 * longer than half the window keeps its first part.  An event larger than the window is read to its end, but at most a
 * window of it is kept, without the text of its args.  Both are tallied as a long value. */
struct tm_chrome_event {
    uint64_t offset; /* of its first byte in the content */
    uint32_t has;    /* enum tm_chrome_has */
    char phase;      /* ph; 0 = missing; any text but one character of ASCII: '?' */
    char scope;      /* s: g, p, t */
    struct tm_json_time ts, dur;
    struct tm_json_id pid, tid, id; /* id: of id, else id2.local, else id2.global, else bind_id */
    struct tm_json_slice name, cat;
    struct tm_json_slice args;           /* the text of the args object; nothing where the event outgrows the window */
    const char *members;                 /* all of its text, from its brace on; NULL: it is larger than the window */
    const struct tm_chrome_known *known; /* see tm_chrome_remember; NULL = all fields above and below are set */
    struct tm_facts facts; /* of args: keys of tm_argument_of, at the first level.  Numbers that are written
                                      as text are both; lists of numbers are their JSON text */
};

/* The caller's result for an event, for events that are the same except for their numbers. */
struct tm_chrome_known {
    struct tm_record record; /* without its times */
    uint32_t signature;      /* of a span that has both times and nothing else that is needed, or 0 */
    uint8_t correlation;     /* enum tm_stat: whose value it is; TM_STAT_UNKNOWN = it is the one of the record */
    uint8_t number;          /* the same of `value` */
    int8_t tally;            /* enum tm_tally; below 0 = none */
    uint64_t varying;        /* set by tm_chrome_remember: bits of enum tm_stat; of TM_STAT_UNKNOWN: the id */
    uint32_t traits;         /* of its name */
    bool has_number;
    bool has_facts;     /* all facts are needed: each is a number, and no config is made of them */
    bool has_arguments; /* its own data is kept: only the correlation may be another one */
    bool has_key;       /* parts of the correlation; the first one is the number of the id */
    uint64_t key[4];
    int64_t value;
    uint32_t thread; /* where arguments are kept: as in tm_chrome_lately; TM_NONE = on none */
};

static_assert(offsetof(struct tm_chrome_known, traits) == 64, "what a plain one needs is one cache line");

/* A device from deviceProperties (PyTorch). 0 or "" = not recorded. */
struct tm_chrome_device {
    int64_t id;
    char name[128];
    uint64_t memory_bytes, core_count;           /* totalGlobalMem, numSms */
    uint32_t capability_major, capability_minor; /* computeMajor, computeMinor */
};

/* What the document contains besides its events: complete when the last event has been returned. */
struct tm_chrome_header {
    bool is_list;             /* the bare list */
    bool has_events;          /* a member traceEvents has been seen */
    bool has_highres_ticks;   /* metadata.highres-ticks: as JAX's writer does */
    bool has_schema_version;  /* schemaVersion: as PyTorch's writer does */
    bool is_converted;        /* otherData.tracemill.version: as our writer does */
    int64_t base_time_ns;     /* baseTimeNanoseconds: of ts 0, epoch; 0 = not recorded */
    int64_t rank, world_size; /* distributedInfo; -1 = not recorded */
    char backend[32];         /* distributedInfo.backend: "nccl" */
    char host[128];           /* host_name */
    char trace_name[256];
    int64_t cuda_driver, cuda_runtime, hip_driver, hip_runtime; /* as the file has them; 0 = not recorded */
    struct tm_chrome_device *devices;
    uint32_t device_count; /* at most TM_DEVICES_MOST */
};

struct tm_chrome_reader;

/* For tests.  Zeroed = the defaults. */
struct tm_chrome_options {
    size_t window_bytes; /* of the window on the text; 0 = 256 KiB.  The longest text that is kept whole is half */
    size_t read_bytes;   /* bytes per read; 0 = as many as fit */
    enum tm_json_engine {
        TM_JSON_BEST,
        TM_JSON_PLAIN,
        TM_JSON_SSE2,
        TM_JSON_AVX2,
        TM_JSON_NEON,
        TM_JSON_ENGINES
    } engine;
};

bool tm_json_engine_works(enum tm_json_engine engine); /* on this processor, in this build */

/* in:     input   open, not yet streamed or held; must outlive the reader
 * errors: NULL, with the error in run->error */
struct tm_chrome_reader *tm_chrome_reader_new(struct tm_run *run, struct tm_input *input,
                                              const struct tm_chrome_options *options) TM_MUST_USE;
void tm_chrome_reader_free(struct tm_chrome_reader *reader); /* tolerates NULL */

/* The next nonempty object of the list.  Its problems are tallied in the run: the section "what an event is made
 * of" of run.h except for MISSING_* and UNKNOWN_PHASE, which depend on the phase, and the section "the document".
 * out:    *event  valid until the next call; NULL at the end of the document
 * errors: as in tm_input_next; damage is not an error: see below */
tm_status tm_chrome_next(struct tm_chrome_reader *reader, const struct tm_chrome_event **event) TM_MUST_USE;

/* Remember the current event, from which *known was made, as one that may occur again with other numbers: its times,
 * the number of its id, and integer arguments that are not in a config and do not name a device.  A matching event has
 * `known`, and otherwise only offset, has, phase, ts, dur, id.number, and facts.ints of those in known->varying; with
 * known->has_facts, which lets every number vary, all of facts.has and facts.ints.  Its tallies are counted in any
 * case.  This function decides how long it is remembered, and tm_chrome_may_remember decides whether. */
bool tm_chrome_may_remember(struct tm_chrome_reader *reader);
void tm_chrome_remember(struct tm_chrome_reader *reader, struct tm_chrome_known *known);

/* Pass known events to a function as they are found, instead of tm_chrome_next. */
typedef void tm_chrome_take(void *to, const struct tm_chrome_event *event);

void tm_chrome_take_known(struct tm_chrome_reader *reader, tm_chrome_take *take, void *to);

/* Look ahead at the current event and those after it, as far as the window has them, independent of read sizes.  They
 * are not consumed or counted.
 * in:     look  called for each, at most `most` times
 * errors: as in tm_input_next.  The current event is unchanged, at the same position */
typedef void tm_chrome_look(void *to, const struct tm_chrome_event *event);

tm_status tm_chrome_look_ahead(struct tm_chrome_reader *reader, size_t most, tm_chrome_look *look,
                               void *to) TM_MUST_USE;

const struct tm_chrome_header *tm_chrome_header(const struct tm_chrome_reader *reader);

/* What is wrong with the document, or NULL: "the JSON ends inside an event", "a comma is missing".
 * out: *at  byte of the content */
const char *tm_chrome_problem(const struct tm_chrome_reader *reader, uint64_t *at);

/* All that is wrong.  Places are bytes of the content. */
struct tm_chrome_damage {
    const char *problem; /* the first one; NULL = none */
    uint64_t at;         /* its byte */
    uint64_t from, to;   /* bytes skipped: from its event's start, or its byte, to the next complete event */
    uint64_t places;     /* where something is wrong: not where the content ends too early */
    uint64_t bytes;      /* skipped in total */
    bool is_left;        /* the following data was not read: it is not part of the document */
};

const struct tm_chrome_damage *tm_chrome_damage(const struct tm_chrome_reader *reader);

/* A window of fixed size that slides over the text of a document.  A parser advances a pointer without bounds checks
 * until it reaches the zero byte after the last byte read; then tm_json_more reads on.  That may move the content of
 * the window: pointers into it are valid until then, except for `keep`, `token`, and those that `moved` adjusts. */
enum {
    TM_JSON_PADDING = 160, /* zero bytes after the end: what may be loaded beyond it at once */
    TM_JSON_WINDOW_LEAST = 256,
    TM_JSON_WINDOW_DEFAULT = 256 << 10, /* fits the L2 cache together with the data made from it */
};

struct tm_json_window {
    struct tm_run *run;
    struct tm_input *input;
    uint8_t *buffer; /* `own`, or where the input has lent its bytes, with what is kept in front of them */
    uint8_t *own;
    bool is_lent;
    size_t capacity;    /* of the buffer, without the padding */
    size_t read_bytes;  /* read at most this many at once */
    const uint8_t *end; /* after the last byte that was read */
    uint64_t base;      /* where the buffer's first byte is in the content */
    bool at_end;        /* nothing follows; also after a failure */
    tm_status status;
    /* What must be kept, or NULL: all from the start of the event on, else all from the start of a string or number. */
    const uint8_t *keep, *token;
    void (*moved)(void *to,
                  ptrdiff_t by); /* everything moves to the front by N bytes; the buffer is still the old one */
    void (*outgrown)(void *to);  /* what is kept does not fit: it is copied elsewhere and no longer kept */
    void *to;
};

/* bytes: of the window; at least TM_JSON_WINDOW_LEAST.  run, input, read_bytes and the two calls are set.
 * errors: in run->error */
tm_status tm_json_window_open(struct tm_json_window *window, size_t bytes) TM_MUST_USE;
void tm_json_window_close(struct tm_json_window *window); /* tolerates a zeroed one */

/* Read on.  A token that fills the window is truncated: the rest of it is longer than tm_json_longest, and only that
 * much of it is unchanged.
 * in:     at == window->end
 * out:    the new position of `at`: a byte that was read, or window->end if nothing follows */
const uint8_t *tm_json_read_on(struct tm_json_window *window, const uint8_t *at);

static inline const uint8_t *tm_json_more(struct tm_json_window *window, const uint8_t *at)
{
    return at == window->end ? tm_json_read_on(window, at) : at;
}

/* Move the bytes from `at` on to the front, and read until the window is full or nothing follows. */
void tm_json_fill(struct tm_json_window *window, const uint8_t *at);

/* Where a byte of the window is in the content. */
static inline uint64_t tm_json_offset(const struct tm_json_window *window, const uint8_t *at)
{
    return window->base + (uint64_t)(at - window->buffer);
}

/* The longest text that is kept whole. */
static inline size_t tm_json_longest(const struct tm_json_window *window)
{
    return window->capacity / 2;
}

/* Step over a word.
 * out:    *fits the text continues with it; else the position of the difference is returned */
const uint8_t *tm_json_walk_word(struct tm_json_window *window, const uint8_t *at, const char *word, bool *fits);

/* Numbers of JSON as their digits: any length, any exponent, not rounded before the target type is known. */

/* For a double that is read exactly: further digits never decide more than one nonzero digit would. */
enum { TM_DECIMAL_DIGITS = 800 };

/* value = 0.d1d2d3... * 10^point; no digits = 0. */
struct tm_json_decimal {
    enum {
        TM_DECIMAL_BEGIN,
        TM_DECIMAL_MINUS,
        TM_DECIMAL_ZERO,
        TM_DECIMAL_INTEGER,
        TM_DECIMAL_POINT,
        TM_DECIMAL_FRACTION,
        TM_DECIMAL_E,
        TM_DECIMAL_E_SIGN,
        TM_DECIMAL_EXPONENT,
    } state; /* how much of the grammar has been seen */
    bool negative;
    bool has_exponent;
    bool negative_exponent;
    bool has_rest; /* a digit above 0 follows the ones that are kept */
    uint32_t count;
    int64_t point;
    int64_t exponent;
    uint8_t digits[TM_DECIMAL_DIGITS]; /* 0 ... 9; the first one is above 0 */
};

/* Walk a number.
 * out:    where it ends.  tm_json_decimal_is_whole: it is one by RFC 8259 */
const uint8_t *tm_json_walk_number(struct tm_json_window *window, const uint8_t *at, struct tm_json_decimal *decimal);
bool tm_json_decimal_is_whole(const struct tm_json_decimal *decimal);

/* A string that is a number and nothing else. */
bool tm_json_decimal_of(const char *text, size_t length, struct tm_json_decimal *decimal);

/* out:    false  it does not fit: *time is the largest or smallest there is */
bool tm_json_time_of(const struct tm_json_decimal *decimal, struct tm_json_time *time);

/* Whether it is whole and fits int64_t, or uint64_t; an id has both. */
bool tm_json_int_of(const struct tm_json_decimal *decimal, int64_t *value);
bool tm_json_uint_of(const struct tm_json_decimal *decimal, uint64_t *value);

/* The nearest double; infinite if it is too large. */
double tm_json_double_of(const struct tm_json_decimal *decimal);

/* The id that a string is: itself, or the number that is written plainly ("12", but not "012" or "1e1"). */
void tm_json_id_of_text(struct tm_json_slice text, struct tm_json_id *id);
/* The id that a number is.  text: as it is written, for one that is not an integer of 64 bits */
void tm_json_id_of_number(const struct tm_json_decimal *decimal, struct tm_json_slice text, struct tm_json_id *id);

/* Recent keys: the argument of each one, and whether the current event has had it.  A table of fixed size that is
 * emptied between two events when it fills; in an event with more than a few hundred keys, further keys are
 * not checked for duplicates. */
enum {
    TM_KEY_SLOTS = 256,  /* a power of two */
    TM_KEYS_MOST = 224,  /* in use */
    TM_KEYS_ENOUGH = 96, /* emptied before an event that starts with more */
    TM_KEY_BYTES = 32,   /* of a key that is held itself; may be loaded whatever its length */
};

/* The context of a key: the same word means different things. */
enum tm_key_place { TM_KEY_OF_EVENT, TM_KEY_OF_ARGUMENTS, TM_KEY_OF_ID };

/* Up to TM_KEY_BYTES: the key in words that overlap; above, its hash of 128 bits. */
struct tm_key_name {
    uint64_t words[4];
    uint32_t length; /* 0 = the slot is free: lengths are kept plus one */
    uint32_t place;
};

struct tm_key_slot {
    struct tm_key_name name;
    uint32_t event; /* the last one that had it */
    uint16_t stat;  /* enum tm_stat, of arguments */
    bool varies;    /* its numbers differ between events that are otherwise the same */
};

/* What is between two values, byte by byte: `,"ts":`.  Writers repeat themselves, so a comparison with what
 * followed recently usually replaces reading a key. */
enum { TM_STEP_BYTES = 60, TM_STEPS = 4, TM_ARGUMENT_STEPS = 2 };

struct tm_step {
    uint8_t text[TM_STEP_BYTES];
    uint16_t length; /* 0 = none */
    uint16_t to;     /* whose value follows: enum event_member; of arguments a slot or TM_KEY_END */
};

static_assert(sizeof(struct tm_step) == 64, "a power of two, of which 64 bytes can be loaded");

/* Numbers of slots outside the table. */
enum { TM_KEY_SPARE = TM_KEY_SLOTS, TM_KEY_BEGIN, TM_KEY_END };

struct tm_chrome_keys {
    struct tm_key_slot slots[TM_KEY_SLOTS + 1]; /* the last one is spare: of a key that is not in the table */
    uint32_t used;
    uint32_t event;                                            /* the current one */
    struct tm_step steps[TM_KEY_BEGIN + 1][TM_ARGUMENT_STEPS]; /* behind the value of each argument, the newest first */
};

/* An event starts.  The table may be zeroed at first. */
void tm_chrome_keys_begin(struct tm_chrome_keys *keys);

/* Not in the table yet, or too long to be held itself. */
struct tm_key_slot *tm_chrome_key_slow(struct tm_chrome_keys *keys, const uint8_t *key, struct tm_key_name *name);
/* The spare one, for this key alone. */
struct tm_key_slot *tm_chrome_key_spare(struct tm_chrome_keys *keys, enum tm_stat stat);
/* Its name if it is longer than TM_KEY_BYTES. */
void tm_chrome_key_hash(const uint8_t *key, struct tm_key_name *name);

static inline uint64_t tm_key_head(const uint8_t *key, uint32_t length)
{
    const uint64_t word = tm_load_word(key);

    return length >= 8 ? word : word & ((UINT64_C(1) << (8 * length)) - 1);
}

static inline void tm_chrome_key_name(const uint8_t *key, uint32_t length, enum tm_key_place place,
                                      struct tm_key_name *name)
{
    *name = (struct tm_key_name){ .length = length + 1, .place = place };
    if (length > TM_KEY_BYTES) {
        tm_chrome_key_hash(key, name);
        return;
    }
    name->words[0] = tm_key_head(key, length);
    if (length > 8)
        name->words[1] = tm_load_word(key + length - 8);
    if (length > 16)
        name->words[2] = tm_load_word(key + 8);
    if (length > 24)
        name->words[3] = tm_load_word(key + 16);
}

static inline bool tm_key_names_equal(const struct tm_key_name *a, const struct tm_key_name *b)
{
    return a->words[0] == b->words[0] && a->words[1] == b->words[1] && a->words[2] == b->words[2] &&
           a->words[3] == b->words[3] && a->length == b->length && a->place == b->place;
}

static inline uint32_t tm_key_first_slot(const struct tm_key_name *name)
{
    const uint64_t mix = (name->words[0] ^ (name->words[1] << 21 | name->words[1] >> 43) ^ name->words[2]) +
                         ((uint64_t)name->length << 32) + name->place;

    return (uint32_t)(mix * UINT64_C(0x9e3779b97f4a7c15) >> 56) & (TM_KEY_SLOTS - 1);
}

/* The slot of a key, which it has until the event ends.  TM_KEY_BYTES are loaded from it on. */
static inline struct tm_key_slot *tm_chrome_key(struct tm_chrome_keys *keys, const uint8_t *key, uint32_t length,
                                                enum tm_key_place place)
{
    struct tm_key_name name;
    struct tm_key_slot *slot;

    tm_chrome_key_name(key, length, place, &name);
    slot = &keys->slots[tm_key_first_slot(&name)];
    return tm_key_names_equal(&slot->name, &name) ? slot : tm_chrome_key_slow(keys, key, &name);
}

/* The current event has the key.
 * out:    whether it had it before */
static inline bool tm_chrome_key_repeats(const struct tm_chrome_keys *keys, struct tm_key_slot *slot)
{
    const bool repeats = slot->event == keys->event;

    slot->event = keys->event;
    return repeats;
}

/* Shared by the files of the Chrome reader.  Each parser takes its position and returns its end, or NULL: damage,
 * reported by tm_chrome_fail. */

enum {
    TM_JSON_DEEPEST = 4096, /* lists and objects in one another */
    TM_STEP_MEMBERS = 16,   /* of enum event_member */
};

enum tm_text_trait {
    TM_TEXT_ESCAPED = 1 << 0,
    TM_TEXT_CONTROL = 1 << 1,   /* characters below 0x20, and 0x7f */
    TM_TEXT_UNICODE = 1 << 2,   /* beyond ASCII */
    TM_TEXT_SURROGATE = 1 << 3, /* half of a pair */
};

/* A ts or dur as read. */
enum tm_time_trait {
    TM_TIME_THERE = 1 << 0,
    TM_TIME_BAD = 1 << 1,
    TM_TIME_LONG = 1 << 2, /* too large for any time */
    TM_TIME_TEXT = 1 << 3, /* a number written as text */
    TM_TIME_EXPONENT = 1 << 4,
};

/* The first `id` that is present. */
enum tm_id_source { TM_ID_OWN, TM_ID_LOCAL, TM_ID_GLOBAL, TM_ID_BIND, TM_ID_SOURCES };

/* A number of the current event, as it is in the window. */
enum tm_number_kind { TM_NUMBER_TS, TM_NUMBER_DUR, TM_NUMBER_ID, TM_NUMBER_FACT, TM_NUMBER_SKIPPED, TM_NUMBER_NONE };
enum { TM_NUMBERS_MOST = 12 };

struct tm_noted_number {
    const uint8_t *at, *end; /* without the quotes of a string */
    struct tm_key_slot *key; /* of an argument */
    uint8_t kind;            /* enum tm_number_kind */
    uint8_t stat;            /* enum tm_stat */
};

struct tm_chrome_templates;
struct tm_chrome_engine;

struct tm_chrome_reader {
    struct tm_json_window window;
    struct tm_run *run;
    const struct tm_chrome_engine *engine;
    const uint8_t *at; /* between two calls */

    /* The walk. */
    uint32_t text_traits; /* of the last string: ESCAPED and CONTROL, the latter if it contains one literally */
    bool key_is_cut;      /* the last key was too long to be known */
    uint32_t key_length;
    bool skipped_nested;                      /* what was skipped last had a list or an object inside */
    uint64_t not_numbers;                     /* NaN and Infinity, in the current event or member */
    uint64_t is_object[TM_JSON_DEEPEST / 64]; /* bit of a level: an object, else a list */

    /* The event. */
    struct tm_chrome_event event;
    uint32_t ts, dur; /* enum tm_time_trait */
    struct tm_json_id ids[TM_ID_SOURCES];
    uint32_t name_traits;
    uint32_t seen;    /* members of enum event_member */
    bool is_outgrown; /* it is larger than the window: what is to stay is copied */
    bool has_long_value, has_repeated_key, has_nested_argument, has_others;
    struct tm_chrome_keys keys;
    struct tm_noted_number numbers[TM_NUMBERS_MOST];
    uint32_t number_count; /* more than can occur: not needed */
    uint64_t event_base;   /* of the window, when it started */
    struct tm_chrome_templates *templates;
    struct {
        tm_chrome_take *take; /* NULL: they are returned as others are */
        void *to;
    } known;
    struct tm_step steps[TM_STEP_MEMBERS][TM_STEPS]; /* behind each member of an event, the newest first */
    uint32_t text_most;                              /* bytes of a string that may stay in the window */
    uint8_t *side; /* converted strings of the event that are not in the window; padded */
    size_t side_used;
    ptrdiff_t moved_by; /* the last time */
    struct tm_json_decimal decimal;

    /* The document. */
    enum {
        TM_DOCUMENT_BEGIN,
        TM_DOCUMENT_MEMBERS,
        TM_DOCUMENT_LIST,
        TM_DOCUMENT_TAIL,
        TM_DOCUMENT_DAMAGED,
        TM_DOCUMENT_END
    } state;
    bool in_event;
    bool is_first;    /* nothing of the current list or of the document's members has been seen */
    bool waits_empty; /* the last element was {}: the next one determines the kind */
    struct tm_chrome_header header;
    uint32_t device_capacity;
    bool is_looking; /* ahead: the list is all that there is */
    struct tm_chrome_damage damage;
    bool is_in_damage;       /* no complete event since the last damage */
    uint64_t damage_from;    /* of that one: the start of its event, or its byte */
    const uint8_t *go_on_at; /* TM_DOCUMENT_DAMAGED: what has not been examined; until the window moves */
};

/* What is compiled for each kind of processor. */
struct tm_chrome_engine {
    /* An object of the list, from its brace on.  out: reader->event */
    const uint8_t *(*event)(struct tm_chrome_reader *reader, const uint8_t *at);
    /* Any value, checked and stepped over. */
    const uint8_t *(*skip)(struct tm_chrome_reader *reader, const uint8_t *at);
};

extern const struct tm_chrome_engine tm_chrome_engine_plain;

#ifdef __x86_64__
extern const struct tm_chrome_engine tm_chrome_engine_sse2, tm_chrome_engine_avx2;
#endif
#ifdef __AARCH64EL__
extern const struct tm_chrome_engine tm_chrome_engine_neon;
#endif

/* Report a problem at the end of the content, or at this byte.  If the state allows it, reading resumes after it.
 * out:    NULL */
const uint8_t *tm_chrome_fail(struct tm_chrome_reader *reader, const uint8_t *at, const char *what);
/* What was skipped ends before this byte of the content. */
void tm_chrome_end_damage(struct tm_chrome_reader *reader, uint64_t to);
/* The window's calls. */
void tm_chrome_moved(void *to, ptrdiff_t by);
void tm_chrome_outgrown(void *to);

/* The rest of a string that is not plain; see json_walk.h. */
const uint8_t *tm_chrome_text_rest(struct tm_chrome_reader *reader, const uint8_t *at);
const uint8_t *tm_chrome_number(struct tm_chrome_reader *reader, const uint8_t *at); /* to reader->decimal */

const uint8_t *tm_chrome_word(struct tm_chrome_reader *reader, const uint8_t *at); /* true, null, NaN ... */

/* A string that has just been walked is decoded: without escapes, cut if it is too long, copied aside
 * where it cannot stay in the window. */
void tm_chrome_keep_text(struct tm_chrome_reader *reader, struct tm_json_slice *text);

/* The key that has just been walked: at window.token, key_length bytes of it.
 * out:    *length  TM_KEY_BYTES can be loaded; a key that is too long to be known has the length it is written with */
const uint8_t *tm_chrome_escaped_key(struct tm_chrome_reader *reader, uint32_t *length);
uint32_t tm_chrome_text_traits(struct tm_json_slice text);

/* An event starts, and has ended: its tallies. */
void tm_chrome_event_begin(struct tm_chrome_reader *reader, const uint8_t *at);
void tm_chrome_event_end(struct tm_chrome_reader *reader);
void tm_chrome_count_traits(struct tm_chrome_reader *reader); /* those that are not of its times */

/* The number in reader->decimal as a fact; one that is too large for a double is ignored. */
void tm_chrome_put_number(struct tm_chrome_reader *reader, enum tm_stat stat);
/* What came before under the same key no longer counts. */
void tm_chrome_drop_fact(struct tm_chrome_reader *reader, enum tm_stat stat);
void tm_chrome_drop_args(struct tm_chrome_reader *reader);

/* Without the escapes of JSON.  A string that ends inside an escape ends before it.
 * in:     to       as many bytes as `length`; may be `from`
 * out:    *traits  UNICODE, CONTROL and SURROGATE of what was escaped; returns the bytes */
size_t tm_json_unescape(uint8_t *to, const uint8_t *from, size_t length, uint32_t *traits);

#endif
