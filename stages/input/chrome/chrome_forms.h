/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CHROME_FORMS_H
#define TM_CHROME_FORMS_H

#include "stages/input/chrome/chrome_reader.h"

/* The rest of the args of an event, as it is likely to come again: one comparison then takes the place of reading it.
 *
 * A *form* is the text from some argument on to the closing brace, with gaps for the values of which no config is
 * made: numbers, and texts without escapes.  It is found by what comes before: the name of the event, which arguments,
 * and the launch facts among them.  The rest is as before between the gaps, or it is read: nothing is taken for
 * granted.  Where it differs again and again (of a name that many ops share, from the first argument on), forms are
 * made from behind the next launch fact on. */

enum {
    TM_FORM_GAPS = 24,
    TM_FORM_FACTS = 24,
    TM_FORM_GAP_MOST = 64,    /* bytes of a text in a gap */
    TM_FORM_TEXT_MOST = 4096,
    TM_FORM_WAYS = 2,
};

struct tm_form_gap {
    uint16_t before;  /* bytes of the text since the gap before */
    uint16_t length;  /* of the value in the form's own text */
    uint32_t stat;    /* enum tm_stat */
};

/* A fact that lies between the gaps. */
struct tm_form_fact {
    int64_t number;
    double value;
    uint16_t at, length; /* of a text, in the form's own */
    uint16_t stat;
    bool is_text;
};
static_assert(sizeof(struct tm_form_fact) % _Alignof(struct tm_form_gap) == 0, "gaps may lie behind facts");


/* Behind it lie its facts, its gaps, and the text with its padding, side by side. */
struct tm_chrome_form {
    uint64_t begin_hash, config_hash; /* of struct tm_facts: before and after it */
    uint64_t stats;             /* bits of enum tm_stat: all that its keys name */
    uint64_t has;               /* and those that lie between the gaps */
    uint16_t flags;             /* of them */
    uint16_t rest;              /* bytes behind the last gap */
    uint8_t gap_count, fact_count;
    bool has_nested;
    struct tm_form_fact facts[];
};

/* What is known by what comes before. */
struct tm_form_place {
    uint64_t key;
    uint64_t at;      /* where the form was written, counted from the first byte ever; 0 = the key was met once */
    uint32_t strikes; /* how often something else followed */
};
enum { TM_FORM_STRIKES = 4 }; /* then it varies, and forms begin later */

/* Forms are written into a ring, over the oldest ones. */
struct tm_chrome_forms {
    struct tm_run *run;
    uint8_t *ring;
    size_t ring_bytes;            /* a power of two */
    uint64_t head;                /* bytes written, and ring_bytes */
    struct tm_form_place *places; /* TM_FORM_WAYS side by side, the newest first */
    size_t place_count;           /* a power of two */
    uint64_t learned, met;
};

/* Where the args of an event left what is known: a form may be made from there on. */
struct tm_form_tail {
    bool is_found;
    bool has_nested;    /* an argument before */
    uint64_t key;
    uint64_t has, begin_hash; /* struct tm_facts, so far */
    size_t offset;      /* in the args */
};

tm_status tm_chrome_forms_open(struct tm_chrome_forms *forms, struct tm_run *run) TM_MUST_USE;
void tm_chrome_forms_close(struct tm_chrome_forms *forms); /* tolerates a zeroed one */

static inline struct tm_form_place *tm_form_places(const struct tm_chrome_forms *forms, uint64_t key)
{
    return &forms->places[(key >> 32) * TM_FORM_WAYS & (forms->place_count - 1)];
}

/* NULL = the key has not been met lately. */
static inline struct tm_form_place *tm_form_place_of(const struct tm_chrome_forms *forms, uint64_t key)
{
    struct tm_form_place *const places = tm_form_places(forms, key);

    for (int way = 0; way < TM_FORM_WAYS; way++)
        if (places[way].key == key)
            return &places[way];
    return NULL;
}

/* The form that was written there; NULL = there is none, or it has been written over. */
static inline const struct tm_chrome_form *tm_form_at(const struct tm_chrome_forms *forms, uint64_t at)
{
    if (!at || forms->head - at > forms->ring_bytes)
        return NULL;
    return (const struct tm_chrome_form *)(const void *)(forms->ring + (at & (forms->ring_bytes - 1)));
}

static inline const struct tm_form_gap *tm_form_gaps(const struct tm_chrome_form *form)
{
    return (const struct tm_form_gap *)(const void *)(form->facts + form->fact_count);
}

static inline const uint8_t *tm_form_text(const struct tm_chrome_form *form)
{
    return (const uint8_t *)(tm_form_gaps(form) + form->gap_count);
}

/* Make a form, or note that its key was met.
 * in: text   from the tail on; JSON
 *     facts  of all args; the texts of the tail's lie in `text`, or no form is made */
void tm_chrome_forms_learn(struct tm_chrome_forms *forms, const struct tm_form_tail *tail, struct tm_json_text text,
                           const struct tm_facts *facts, bool has_nested);

#endif
