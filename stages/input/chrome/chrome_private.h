/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CHROME_PRIVATE_H
#define TM_CHROME_PRIVATE_H

#include "stages/input/chrome/chrome_keys.h"
#include "stages/input/chrome/chrome_reader.h"
#include "stages/input/chrome/json_number.h"
#include "stages/input/chrome/json_window.h"

/* Shared by the files of the Chrome reader.
 * Whoever walks the text takes where he is and gives back where he ends, or NULL: damage, told by tm_chrome_fail. */

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

/* A ts or dur as it came. */
enum tm_time_trait {
    TM_TIME_THERE = 1 << 0,
    TM_TIME_BAD = 1 << 1,
    TM_TIME_LONG = 1 << 2, /* no time has room for it */
    TM_TIME_TEXT = 1 << 3, /* a number written as text */
    TM_TIME_EXPONENT = 1 << 4,
};

/* Of `id`, the first that is there. */
enum tm_id_source { TM_ID_OWN, TM_ID_LOCAL, TM_ID_GLOBAL, TM_ID_BIND, TM_ID_SOURCES };

/* How events begin: members that are alike for many, byte by byte up to the first value that is not. */
enum { TM_HEADS = 8, TM_HEAD_BYTES = 96 };
struct tm_chrome_head {
    uint8_t text[TM_HEAD_BYTES];
    uint32_t length;       /* 0 = none */
    uint32_t member, seen; /* of enum event_member: whose value follows, and what has come */
    uint32_t cat_at, cat_length;
    bool has_cat;
    char phase;
    struct tm_json_id pid, tid; /* numbers */
};

struct tm_chrome_engine;

struct tm_chrome_reader {
    struct tm_json_window window;
    struct tm_run *run;
    const struct tm_chrome_engine *engine;
    const uint8_t *at; /* between two calls */

    /* The walk. */
    uint32_t text_traits; /* of the last text: ESCAPED and CONTROL, the latter where it stands as it is */
    bool key_is_cut;      /* the last key was too long to be known */
    uint32_t key_length;
    bool skipped_nested;                      /* what was skipped last had a list or an object inside */
    uint64_t not_numbers;                     /* NaN and Infinity, in the present event or member */
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
    struct tm_chrome_head heads[TM_HEADS];           /* the newest first */
    struct tm_step steps[TM_STEP_MEMBERS][TM_STEPS]; /* behind each member of an event, the newest first */
    uint32_t text_most;                              /* bytes of a text that may stay in the window */
    uint8_t *side; /* texts of the event that are not in the window as they are wanted; padded */
    size_t side_used;
    size_t moved_by; /* the last time */
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
    bool is_first;    /* nothing of the present list or of the document's members has been seen */
    bool waits_empty; /* the last element was {}: what follows tells of which kind */
    struct tm_chrome_header header;
    uint32_t device_capacity;
    bool is_looking; /* ahead: the list is all that there is */
    struct tm_chrome_damage damage;
    bool is_in_damage;       /* no whole event has come since the last damage */
    uint64_t damage_from;    /* of that one: the start of its event, or its byte */
    const uint8_t *go_on_at; /* TM_DOCUMENT_DAMAGED: what has not been looked at; until the window moves */
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

/* Something is wrong, and where: the end of the content, or this byte.  Where the state says so, the reading goes on
 * behind it.
 * out:    NULL */
const uint8_t *tm_chrome_fail(struct tm_chrome_reader *reader, const uint8_t *at, const char *what);

/* The rest of a text that is not plain; see json_walk.h. */
const uint8_t *tm_chrome_text_rest(struct tm_chrome_reader *reader, const uint8_t *at);
const uint8_t *tm_chrome_number(struct tm_chrome_reader *reader, const uint8_t *at); /* to reader->decimal */
const uint8_t *tm_chrome_word(struct tm_chrome_reader *reader, const uint8_t *at);   /* true, null, NaN ... */

/* A text that has just been walked becomes what it says: without escapes, cut where it is too long, copied aside
 * where it cannot stay in the window. */
void tm_chrome_keep_text(struct tm_chrome_reader *reader, struct tm_json_slice *text);
/* The key that has just been walked: at window.token, key_length bytes of it.
 * out:    *length  TM_KEY_BYTES can be loaded; a key that is too long to be known has the length it is written with */
const uint8_t *tm_chrome_escaped_key(struct tm_chrome_reader *reader, uint32_t *length);
uint32_t tm_chrome_text_traits(struct tm_json_slice text);

/* An event begins, and has ended: its tallies. */
void tm_chrome_event_begin(struct tm_chrome_reader *reader, const uint8_t *at);
void tm_chrome_event_end(struct tm_chrome_reader *reader);

/* The number in reader->decimal as a fact; one that is too large for a double is none. */
void tm_chrome_put_number(struct tm_chrome_reader *reader, enum tm_stat stat);
/* What came before under the same key no longer counts. */
void tm_chrome_drop_fact(struct tm_chrome_reader *reader, enum tm_stat stat);
void tm_chrome_drop_args(struct tm_chrome_reader *reader);

/* Without the escapes of JSON.  A text that ends inside an escape ends before it.
 * in:     to       as many bytes as `length`; may be `from`
 * out:    *traits  UNICODE, CONTROL and SURROGATE of what was escaped; returns the bytes */
size_t tm_json_unescape(uint8_t *to, const uint8_t *from, size_t length, uint32_t *traits);

#endif
