/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_XSPACE_PRIVATE_H
#define TM_XSPACE_PRIVATE_H

#include "pipeline/store/sorter.h"
#include "stages/input/formats.h"
#include "stages/input/hlo/hlo.h"
#include "stages/input/records/device_clock.h"
#include "stages/input/records/facts.h"
#include "stages/input/xspace/xspace_reader.h"

/* Shared by the xspace_*.c files: the tables of a scanned XSpace. */

enum {
    TM_SMALL_STATS = 512,      /* ids of statistics below this are looked up in a small table per plane */
    TM_LARGEST_NAME = 4 << 20, /* a longer name is cut, and tallied */
    TM_TIMELINE_SLOTS = 8192,  /* a power of two */
};

struct tm_plane {
    tm_strid name;
    uint8_t side;        /* enum tm_side */
    uint8_t device_kind; /* enum tm_device_kind, device planes only */
    uint8_t is_environment, is_metadata, accelerator;
    uint32_t process;                    /* the first plane of its name */
    uint64_t lines;                      /* of that one: lines that its process has so far */
    uint32_t device;                     /* index into trace.devices, or TM_NONE */
    uint64_t begin, end;                 /* of its bytes */
    uint8_t small_stats[TM_SMALL_STATS]; /* enum tm_stat by id */
};

struct tm_line_row {
    uint64_t begin, end; /* of its bytes */
    uint64_t skimmed_to; /* the scan has read it up to here; UINT64_MAX: all of it */
    int64_t timestamp_ns;
    uint64_t plane;
    uint64_t next;    /* the part that follows: row of more_lines, plus one; 0 = none */
    uint64_t last;    /* of the first part: the last one, likewise */
    uint64_t longest; /* of the first part: the maximum size of a part */
};

/* Where a timeline was seen first. */
struct tm_timeline_slot {
    uint64_t hash;
    uint64_t track; /* plus one; 0 = empty */
};

/* A row of the statistics' table: what an id means, and its text for ref_value. */
struct tm_stat_row {
    uint64_t key; /* tm_metadata_key */
    int64_t id;
    uint64_t plane;
    tm_strid name;
    uint32_t stat; /* enum tm_stat */
};

/* A row of the events' table. */
struct tm_event_row {
    uint64_t key;
    int64_t id;
    uint64_t plane;
    tm_strid name;
    uint32_t traits;
    uint32_t config; /* TPU ops: what their metadata says; 0 = nothing */
    uint32_t common; /* row of tm_trace.common; 0 = none, or not kept */
};

struct tm_xspace {
    struct tm_source source; /* first: a tm_source is cast to it */
    struct tm_signatures signatures;
    const struct tm_input *input;
    struct tm_rows *planes;     /* struct tm_plane */
    struct tm_rows *lines;      /* struct tm_line_row; row i is the first part of track i */
    struct tm_rows *more_lines; /* struct tm_line_row: further lines of the same plane name, id and name, which
                                   are one timeline */
    struct tm_xspace_arguments *arguments; /* NULL = not kept */
    struct tm_timeline_slot *timelines;    /* a cache: an evicted track remains a separate track */
    struct tm_index *stats;                /* struct tm_stat_row */
    struct tm_index *events;               /* struct tm_event_row */
    struct tm_xknown *known;               /* events that were seen before */
    bool is_plain;                         /* they are found without optional processor instructions: for tests */
    struct tm_device_clock *clock;         /* NULL: recorded times hold */
    struct tm_configs *configs;
    struct tm_hlo *hlo; /* the programs that the file holds */
    int64_t origin_ns;  /* subtracted from line times from it on: 0 if lines count from the profile's start */
    uint8_t *scratch;   /* for names and statistics of the tables */
    size_t scratch_bytes;
    uint8_t *spare_window; /* for the next cursor: new memory costs a page fault for each 4 KiB.  NULL = none */
    size_t spare_bytes;
    void (*warn)(void *to, const char *text, size_t length);
    void *warn_to;
};

/* One key per (plane, id): ids of tables are small numbers, or 64-bit hashes. */
static inline uint64_t tm_metadata_key(uint64_t plane, int64_t id)
{
    uint64_t mixed;

    if (id >= 0 && id < (int64_t)1 << 40 && plane < 1 << 22)
        return plane << 40 | (uint64_t)id;
    mixed = ((uint64_t)id ^ plane * 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;
    return (mixed ^ mixed >> 32) | (uint64_t)1 << 63;
}

/* xspace_tables.c.  Failures here and below are recorded in run->error.  The meaning of an id in a plane's table, which
 * is also the text of a ref_value. 0 if there is no such entry. */
tm_strid tm_xspace_ref(struct tm_xspace *x, uint64_t plane, int64_t id);
enum tm_stat tm_xspace_stat(struct tm_xspace *x, uint64_t plane, int64_t id);

/* One entry of a table, or one statistic of a plane; the window is at its first byte.
 * out:    *is_damaged  set if an entry is damaged: its readable part counts */
void tm_xspace_stat_entry(struct tm_xspace *x, uint64_t plane, struct tm_reader *w, bool *is_damaged);
void tm_xspace_event_entry(struct tm_xspace *x, uint64_t plane, struct tm_reader *w, bool *is_damaged);
void tm_xspace_plane_stat(struct tm_xspace *x, uint64_t plane, const struct tm_wire *bytes);

/* Fields of a line. */
enum {
    TM_XLINE_ID = 1,
    TM_XLINE_NAME = 2,
    TM_XLINE_TIMESTAMP = 3,
    TM_XLINE_EVENT = 4,
    TM_XLINE_DURATION = 9,
    TM_XLINE_DISPLAY_ID = 10,
    TM_XLINE_DISPLAY_NAME = 11,
};

/* xspace_cursor.c */
/* Fields of a line that are not used here.  Of another type they are something else: an event, before a byte changed. */
bool tm_xspace_passes_over(const struct tm_head *head);
tm_read_clock tm_xspace_read_clock; /* in: from  struct tm_xspace */
extern const struct tm_source_type tm_xspace_source_type;

/* Known events.  A program runs the same kernels repeatedly: their events have the same statistics except for a few
 * numbers (a correlation id).  The first event of a metadata entry defines the *shape*: the positions of those numbers.
 *  The result of an event is stored under all its other bytes, so for an event that differs only in its numbers, only
 * these are parsed.  Memory: two tables of fixed size; evicted entries are parsed again, with the same result. */
struct tm_xknown;

/* Whose events are equal if their statistics are. */
struct tm_xkin {
    uint64_t plane;
    int64_t metadata_id;
    uint8_t line; /* enum tm_line */
};

/* The result for an event, except for its times and the numbers that vary. */
struct tm_xresult {
    tm_strid name;
    uint32_t traits, config, common;
    uint32_t template; /* of its arguments, together with those of `common`; 0 = none yet */
    uint16_t flags;
    int16_t ordinal;          /* TM_STAT_DEVICE_ORDINAL */
    bool has_no_template : 1; /* and gets none */
    bool is_counter : 1;
    bool has_step_num : 1, has_size : 1, has_ordinal : 1; /* a size that is a string is none */
    bool has_device_times : 1;
    bool is_usual : 1;       /* of its numbers a correlation id is used at the most */
    bool has_one_number : 1; /* a usual one; beside a correlation id, its arguments vary in one number: its records'
                              * signatures are kept by that number */
    uint16_t signature[2];   /* of a usual one's records on `track`: with a length, without; 0 = not requested yet */
    uint32_t track;
};

/* owns:   the caller frees it; x must outlive it
 * errors: NULL, with the error in run->error */
struct tm_xknown *tm_xknown_new(struct tm_xspace *x) TM_MUST_USE;
void tm_xknown_free(struct tm_xknown *known); /* tolerates NULL */

/* The fields of an event in front of its statistics. */
struct tm_xhead {
    int64_t metadata_id, offset_ps, duration_ps;
    struct tm_wire stats; /* what follows them */
    bool is_usual;        /* they are written as usual: each once, in order; else nothing else is set */
};

/* XEvent {metadata_id 1, offset_ps 2, duration_ps 3, stats 4, num_occurrences 5} */
enum {
    TM_XEVENT_METADATA_ID = 1,
    TM_XEVENT_OFFSET = 2,
    TM_XEVENT_DURATION = 3,
    TM_XEVENT_STATS = 4,
    TM_XEVENT_OCCURRENCES = 5,
    TM_XEVENT_LARGEST = 64 << 10, /* of a longer one only the beginning is read, whatever the buffer */
};

/* The head of an event if it is written as usual.
 * in:     bytes  TM_READER_SLACK more can be read after them
 * out:    *head  but is_usual; true: it is */
TM_INLINE bool tm_xhead_read(const struct tm_wire *bytes, struct tm_xhead *head, tm_wire_packing *pack)
{
    const uint8_t *at = bytes->at;
    uint64_t id, offset, duration = 0;

    if (at >= bytes->end || *at != TM_WIRE_KEY(TM_XEVENT_METADATA_ID, TM_WIRE_VARINT))
        return false;
    at = tm_wire_number(at + 1, &id, pack);
    if (!at || at >= bytes->end || *at != TM_WIRE_KEY(TM_XEVENT_OFFSET, TM_WIRE_VARINT))
        return false;
    at = tm_wire_number(at + 1, &offset, pack);
    if (at && at < bytes->end && *at == TM_WIRE_KEY(TM_XEVENT_DURATION, TM_WIRE_VARINT))
        at = tm_wire_number(at + 1, &duration, pack);
    if (!at || at > bytes->end)
        return false;
    head->metadata_id = (int64_t)id;
    head->offset_ps = (int64_t)offset;
    head->duration_ps = (int64_t)duration;
    head->stats = (struct tm_wire){ at, bytes->end };
    return true;
}

/* Find the result of an earlier event that was equal except for its numbers.
 * in:     bytes  of the event, with TM_READER_SLACK readable bytes after them
 *         kin    except for metadata_id, which is written
 * out:    numbers  by enum tm_stat: those that vary
 *         NULL     it must be parsed, and then learned; else valid until the next call of either; the caller may give
 *         it signatures */
typedef struct tm_xresult *tm_find_known(struct tm_xknown *known, struct tm_xkin *kin, const struct tm_wire *bytes,
                                         struct tm_xhead *head, int64_t numbers[TM_STAT_COUNT]);

/* Events of a line that follow each other in its window, which go into a batch if all but their times and their id is
 * known, as for nearly all events. */
struct tm_xevents {
    struct tm_reader *window;
    struct tm_xkin *kin;
    int64_t *numbers; /* TM_STAT_COUNT of them, as of tm_find_known */
    struct tm_batch *batch;
    int64_t line_ps;      /* what offsets count from */
    uint32_t track;       /* TM_NONE = none of them goes into the batch */
    bool has_usual_ids;   /* an event with a negative id does not: it may be a number past all holes */
    uint64_t count;       /* out: that were read */
    bool is_left;         /* out: the last of these did not go into the batch, and the following members are valid */
    struct tm_wire bytes; /* as of tm_find_known, like the rest */
    struct tm_xhead head;
    struct tm_xresult *known;
};

/* Take events until one is left, none is in the window as a whole, or the batch is full. */
typedef void tm_take_known(struct tm_xknown *known, struct tm_xevents *events);

/* The functions that do it. */
struct tm_xfinder {
    tm_find_known *find;
    tm_take_known *take;
};

/* in: may_be_best  the ones that this processor does it fastest with; all do the same */
const struct tm_xfinder *tm_xknown_finder(bool may_be_best);
extern const struct tm_xfinder tm_xknown_finder_bmi2; /* xspace_known_bmi2.c; not every processor has what it needs */

/* Remember the result of an event that was not found and was parsed without damage.  Not for an event whose other
 * numbers matter, too (an allocation). */
void tm_xknown_learn(struct tm_xknown *known, const struct tm_xkin *kin, const struct tm_wire *stats,
                     const struct tm_xresult *result);

/* Whether the numbers of an event that was found are one number, and a correlation id where it has one. */
bool tm_xknown_has_one_number(struct tm_xknown *known, const struct tm_xkin *kin, bool has_id);
/* Keep the signature of such an event's record, which has a length and whose arguments are those of a template.
 * in:     number  numbers[TM_STAT_UNKNOWN] of the event */
void tm_xknown_keep_signature(struct tm_xknown *known, const struct tm_xresult *result, int64_t number, uint32_t track,
                              uint16_t signature);

/* Which statistics of an event that was found are numbers that vary.
 * out:    *holes   bit n: the n-th one
 *         *has_id  the first of them is its correlation id
 *         false    some value that varies is none that a template of arguments has a hole for */
bool tm_xknown_holes(struct tm_xknown *known, const struct tm_xkin *kin, const struct tm_wire *stats, uint64_t *holes,
                     bool *has_id);
/* Those numbers of an event that was found, as the holes of a template take them.
 * in:     without_id  the first one is left out
 *         to          TM_TEMPLATE_NUMBERS_MOST bytes
 * out:    their bytes; SIZE_MAX: some number is none that a hole takes */
size_t tm_xknown_numbers(struct tm_xknown *known, const struct tm_xkin *kin, const struct tm_wire *stats,
                         bool without_id, uint8_t *to);

/* A statistic on the wire: XStat {metadata_id 1, double 2, uint64 3, int64 4, str 5, bytes 6, ref 7}. */
enum {
    TM_XSTAT_ID = 1,
    TM_XSTAT_DOUBLE = 2,
    TM_XSTAT_UINT = 3,
    TM_XSTAT_INT = 4,
    TM_XSTAT_STR = 5,
    TM_XSTAT_BYTES = 6,
    TM_XSTAT_REF = 7,
    TM_XSTAT_LARGEST = 64 << 10, /* a larger one is examined where it is */
};

struct tm_xstat {
    int64_t id;
    struct tm_field value; /* key 0: it has none */
};

/* Its fields, whatever their order.  What comes later in the format is not a value. */
static inline void tm_xstat_read(struct tm_wire *bytes, struct tm_xstat *stat)
{
    struct tm_field field;

    while (tm_wire_next(bytes, &field)) {
        if (field.key == TM_WIRE_KEY(TM_XSTAT_ID, TM_WIRE_VARINT))
            stat->id = (int64_t)field.value;
        else if (field.key < TM_WIRE_KEY(TM_XSTAT_REF + 1, 0))
            stat->value = field;
    }
}

/* What it means and where its value is, of one that may be of any length.  The value is not read. */
struct tm_xstat_place {
    int64_t id;
    struct tm_head value; /* type TM_WIRE_END: it has none */
    uint64_t value_at;    /* LEN: of its first byte */
};

/* Statistics as arguments (pipeline/arguments.h): the key is the statistic's name, integers, numbers and strings
 * keep their kind.  What cannot be determined is said in words: a statistic without a name is `stat ID`, a string that
 * a table lacks `(no text ID)`, bytes that are not text `(N bytes)`, a string longer than 64 KiB likewise. */

/* What the table of a plane calls an id.  It does not change once the tables were read. */
enum { TM_XARGUMENTS_KEYS = 256, TM_XARGUMENTS_TEXTS = 1024 };
struct tm_xarguments_name {
    uint64_t plane;
    int64_t id;
    tm_strid name; /* 0 = free */
};

/* Where the lists of a source are made, one at a time. */
struct tm_xspace_arguments {
    uint8_t list[TM_ARGUMENTS_MOST];
    struct tm_xarguments_name keys[TM_XARGUMENTS_KEYS];   /* what statistics are called */
    struct tm_xarguments_name texts[TM_XARGUMENTS_TEXTS]; /* what values refer to */
    tm_strid long_name, display_name;                     /* the keys of that name */
};

/* in: x  its trace keeps arguments.  owns: x->arguments, freed with tm_xarguments_free */
void tm_xarguments_make(struct tm_xspace *x);
void tm_xarguments_free(struct tm_xspace *x); /* tolerates that there are none */

/* Start a list in x->arguments; the previous one is lost. */
void tm_xarguments_begin(struct tm_xspace *x, struct tm_arguments_builder *b);

/* All statistics of an event: of its bytes; of one that may be of any length, read through the scratch memory. */
void tm_xarguments_event(struct tm_xspace *x, uint64_t plane, struct tm_wire bytes, struct tm_arguments_builder *b);
void tm_xarguments_long_event(struct tm_xspace *x, uint64_t plane, uint64_t begin, uint64_t end,
                              struct tm_arguments_builder *b);

#endif
