/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CHROME_READER_H
#define TM_CHROME_READER_H

#include <string.h>

#include "stages/input/bytes/input_file.h"
#include "stages/input/records/facts.h"

/* The events of a Chrome trace in JSON, one after the other, out of a stream of bytes: no tree of the document, no
 * floating point for times, bounded memory whatever the file.  The whole text is checked as JSON (RFC 8259), also
 * what is skipped.  Behind damage the reading goes on at the next object that is whole, says its phase, and is no
 * member's value; what lies between is counted, and it is said where the first of it is.
 * Forms: {"traceEvents": [...], other keys} in any order, and the bare list; the list may be left open.
 * source: the Trace Event Format; what JAX and PyTorch write was checked on real files */

/* A text of the document without its escapes; half a surrogate pair becomes the three bytes that UTF-8 would have
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

/* What names a process, a thread, an async span or a flow: a number or a text.  A text that is a plain decimal
 * number that fits is given as that number, since writers mix the two; a number that is no integer of 64 bits is
 * given as the text that it is written as. */
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

/* An id in 64 bits, which others may share: a text is its hash. */
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
    TM_CHROME_OTHERS = 1 << 8,         /* members that are not below, or args that is no object: see members */
};

/* One event as it stands in the file.  What a member's value cannot be (a list as name, a dur of true) counts as
 * missing.  A text that is longer than half the window keeps its first part; an event that is larger than the window
 * is read to its end, but what is kept of it is at most as large as the window, without the text of its args: both
 * are tallied as a long value. */
struct tm_chrome_event {
    uint64_t offset; /* of its first byte in the content */
    uint32_t has;    /* enum tm_chrome_has */
    char phase;      /* ph; 0 = missing; any text but one character of ASCII: '?' */
    char scope;      /* s: g, p, t */
    struct tm_json_time ts, dur;
    struct tm_json_id pid, tid, id; /* id: of id, else id2.local, else id2.global, else bind_id */
    struct tm_json_slice name, cat;
    struct tm_json_slice args; /* the text of the args object; nothing where the event outgrows the window */
    const char *members;       /* all of it as it is written, from its brace on; NULL: it outgrows the window */
    struct tm_facts facts;     /* of args: keys of tm_argument_of, at the first level.  Numbers that are written
                                      as text are both; lists of numbers are their JSON text */
};

/* A device as deviceProperties tells it (PyTorch).  0 or "" = not told. */
struct tm_chrome_device {
    int64_t id;
    char name[128];
    uint64_t memory_bytes, core_count;           /* totalGlobalMem, numSms */
    uint32_t capability_major, capability_minor; /* computeMajor, computeMinor */
};

/* What the document says beside its events: complete when the last event has been given out. */
struct tm_chrome_header {
    bool is_list;             /* the bare list */
    bool has_events;          /* a member traceEvents has been seen */
    bool has_highres_ticks;   /* metadata.highres-ticks: as JAX's writer does */
    bool has_schema_version;  /* schemaVersion: as PyTorch's writer does */
    bool is_converted;        /* otherData.tracemill.version: as our writer does */
    int64_t base_time_ns;     /* baseTimeNanoseconds: of ts 0, epoch; 0 = not told */
    int64_t rank, world_size; /* distributedInfo; -1 = not told */
    char backend[32];         /* distributedInfo.backend: "nccl" */
    char host[128];           /* host_name */
    char trace_name[256];
    int64_t cuda_driver, cuda_runtime, hip_driver, hip_runtime; /* as the file has them; 0 = not told */
    struct tm_chrome_device *devices;
    uint32_t device_count; /* at most TM_DEVICES_MOST */
};

struct tm_chrome_reader;

/* For tests.  Zeroed = the defaults. */
struct tm_chrome_options {
    size_t window_bytes; /* of the window on the text; 0 = 256 KiB.  The longest text that is kept whole is half */
    size_t read_bytes;   /* read at most so many at once; 0 = what there is room for */
    enum tm_json_engine { TM_JSON_BEST, TM_JSON_PLAIN, TM_JSON_SSE2, TM_JSON_AVX2 } engine;
};

bool tm_json_engine_works(enum tm_json_engine engine); /* on this processor, in this build */

/* in:     input   open, not yet streamed or held; must outlive the reader
 * errors: NULL, with the error in run->error */
struct tm_chrome_reader *tm_chrome_reader_new(struct tm_run *run, struct tm_input *input,
                                              const struct tm_chrome_options *options) TM_MUST_USE;
void tm_chrome_reader_free(struct tm_chrome_reader *reader); /* tolerates NULL */

/* The next object of the list that is not empty.  What it is made of goes to the tallies of the run: the section
 * "what an event is made of" of tally.h but for MISSING_* and UNKNOWN_PHASE, which depend on the phase, and the
 * section "the document".
 * out:    *event  valid until the next call; NULL at the end of the document
 * errors: as of tm_input_next; damage is none: see below */
tm_status tm_chrome_next(struct tm_chrome_reader *reader, const struct tm_chrome_event **event) TM_MUST_USE;

/* Look at the present event and at those that follow it, as far as the window holds them: the same whatever the reads.
 * None of it is taken, and nothing counted.
 * in:     look  called for each; most: so many of them
 * errors: as of tm_input_next.  The present event is as it was, at the same place */
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
    uint64_t from, to;   /* what was skipped for it: from its event's start, or its byte, to the next whole event */
    uint64_t places;     /* where something is wrong: not where the content ends too early */
    uint64_t bytes;      /* skipped, all told */
    bool is_left;        /* what follows was not read: it is no part of the document */
};

const struct tm_chrome_damage *tm_chrome_damage(const struct tm_chrome_reader *reader);

#endif
