/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_XSPACE_PRIVATE_H
#define TM_XSPACE_PRIVATE_H

#include "pipeline/index.h"
#include "stages/input/hlo/hlo.h"
#include "stages/input/records/device_clock.h"
#include "stages/input/xspace/xspace.h"
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
    int64_t timestamp_ns;
    uint64_t plane;
    uint64_t next;    /* the part that follows: row of more_lines, plus one; 0 = none */
    uint64_t last;    /* of the first part: the last one, likewise */
    uint64_t longest; /* of the first part: the most bytes that a part has */
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
    const struct tm_input *input;
    struct tm_rows *planes;     /* struct tm_plane */
    struct tm_rows *lines;      /* struct tm_line_row; row i is the first part of track i */
    struct tm_rows *more_lines; /* struct tm_line_row: further lines of the same plane name, id and name, which
                                   are one timeline */
    struct tm_xspace_arguments *arguments; /* NULL = not kept: xspace_arguments.h */
    struct tm_timeline_slot *timelines;    /* a cache: what falls out of it stays a track of its own */
    struct tm_index *stats;                /* struct tm_stat_row */
    struct tm_index *events;               /* struct tm_event_row */
    struct tm_xknown *known;               /* events that were met before: xspace_tables.h */
    struct tm_device_clock *clock;         /* NULL: recorded times hold */
    struct tm_configs *configs;
    struct tm_hlo *hlo; /* the programs that the file holds */
    int64_t origin_ns;  /* subtracted from line times from it on: 0 where lines count from the profile's start */
    uint8_t *scratch;   /* for names and statistics of the tables */
    size_t scratch_bytes;
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

/* The entry of a statistic's id.  *row = NULL where there is none; valid until the next look-up */
tm_status tm_xspace_stat_row(struct tm_xspace *x, uint64_t plane, int64_t id,
                             const struct tm_stat_row **row) TM_MUST_USE;
/* Look up a text by ref_value.  *name = 0 where there is no such entry. */
tm_status tm_xspace_ref(struct tm_xspace *x, uint64_t plane, int64_t id, tm_strid *name) TM_MUST_USE;
tm_status tm_xspace_stat(struct tm_xspace *x, uint64_t plane, int64_t id, enum tm_stat *stat) TM_MUST_USE;

/* xspace_tables.c: one entry of a table, or one statistic of a plane; the window stands at its first byte.
 * out: *is_damaged  set where an entry is: what could be read of it counts */
tm_status tm_xspace_stat_entry(struct tm_xspace *x, uint64_t plane, struct tm_reader *w, bool *is_damaged) TM_MUST_USE;
tm_status tm_xspace_event_entry(struct tm_xspace *x, uint64_t plane, struct tm_reader *w, bool *is_damaged) TM_MUST_USE;
tm_status tm_xspace_plane_stat(struct tm_xspace *x, uint64_t plane, const struct tm_wire *bytes) TM_MUST_USE;

/* xspace_scan.c: a compiled program in an entry of the plane /host:metadata; it is not read here. */
struct tm_program_entry {
    struct tm_hlo_program program;
    bool found;
};
/* One statistic of the entry.  in: begin, end  of its bytes */
tm_status tm_xspace_program_stat(struct tm_xspace *x, uint64_t plane, uint64_t begin, uint64_t end,
                                 struct tm_program_entry *entry) TM_MUST_USE;
/* All of the entry is known: note the program.  in: name  of the entry, "jit_step(12)" */
tm_status tm_xspace_add_program(struct tm_xspace *x, tm_strid name, struct tm_program_entry *entry) TM_MUST_USE;

/* xspace_cursor.c */
tm_read_clock tm_xspace_read_clock; /* in: from  struct tm_xspace */
extern const struct tm_source_type tm_xspace_source_type;

#endif
