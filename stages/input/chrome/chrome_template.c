/* SPDX-License-Identifier: Apache-2.0 */
/* Complete events seen before, except for their numbers.  A program repeats the same work, so nearly every event of a
 * trace equals an earlier one with other times and ids.  Here | marks a removed number:
 *
 * {"ph":"X","pid":1,"tid":13,"ts":|,"dur":|,"name":"fusion_118","args":{"correlation_id":"|","hlo_op":"fusion.118"}}
 *
 * The pieces of text between the numbers form a tree, because many events share the first ones: after `,"dur":|` there
 * is one piece for each name.  A piece that followed twice is compared first.  Otherwise one is found in a table of recent
 * ones, by a hash of the 32 bytes after what the pieces that follow share, or by a hash of the text after the number,
 * over a number of bytes (1, 8, 16 ... 512) that suits these pieces.  All are compared in full.  An event that reaches
 * a last piece costs only that and its numbers: the template has its name, class, config, and track, as stored by the
 * caller (tm_chrome_remember), which receives such events one after the other.  Any other event is read as if there were
 * no templates: with a number that is not plain (a sign before a time, an exponent, more than 16 digits), another key, an
 * escape, or the end of the window.
 *
 * The varying numbers are the times, the id, and the arguments that differed between two events of one name.  If the
 * numbers of a config or the device differ, the template differs, because its results do.  If arguments are kept, an
 * event is remembered if its list has a template that needs only the correlation id.
 *
 * Measured instructions for reading and storing an event, without inflating: for a generated trace of eight GPUs 2,905
 * without templates and 718 with them (500,000 events, 99% of which match), for a real compilation 470, for PyTorch's
 * 2,660 to 3,360 without and 1,160 to 1,340 with them, excluding flows.
 *
 * Memory: one table of fixed size, in the account `input`; when it is full, it is cleared.  An input without repetition
 * costs little more: learning has a credit that only matches renew, and if nothing matched recently, one event in 16 is
 * looked up. */
#include "stages/input/chrome/chrome_template.h"

#include <string.h>

#include <xxhash.h>

#include "pipeline/store/hash.h"

enum {
    EVENT_MOST = 8 << 10, /* bytes of an event that is worth remembering */
    BYTES_LEAST = 64 << 10,
    BYTES_MOST = 2 << 20,
    PIECE_BYTES = 64, /* there is room for a piece for this many bytes of text */
    SLOTS_LEAST = 256,
    SLOTS_A_PIECE = 2, /* there are this many at the most */
    SLOTS_IN_USE = 4,  /* this many for a piece, while there are enough */
    VOTES = 256,       /* a power of two */
    LEARNING_COSTS = 4,
    LEARNED_TWICE_MOST = 64,
    COMPARED_AT_ONCE = 64,
    LINE_BYTES = 64, /* of the cache */
    SKIP_MOST = TM_JSON_PADDING - TM_RECENT_BYTES,
};

/* The numbers of the last event of a name. */
struct tm_template_votes {
    uint32_t name, count;
    uint32_t values[TM_NUMBERS_MOST];
};

static size_t aligned(size_t bytes)
{
    return (bytes + LINE_BYTES - 1) & ~(size_t)(LINE_BYTES - 1);
}

static_assert(BYTES_MOST / PIECE_BYTES <= UINT16_MAX + 1 && EVENT_MOST <= UINT16_MAX, "as tm_piece has them");

static const struct tm_piece root = { .kind = TM_NUMBER_NONE, .after = UINT32_MAX };

static void forget_all(struct tm_chrome_templates *t)
{
    memset(t->slots, 0, t->most * SLOTS_A_PIECE * sizeof(*t->slots));
    memset(t->texts, 0, t->most * sizeof(*t->texts));
    t->slot_mask = SLOTS_LEAST - 1;
    memset(t->recent, 0, sizeof(t->recent));
    t->pieces[0] = root;
    t->count = 1;
    t->used = 0;
    t->learned_twice = 0;
}

struct tm_chrome_templates *tm_chrome_templates_new(struct tm_run *run)
{
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_INPUT) / 16;
    size_t room = BYTES_LEAST, most, taken;
    struct tm_chrome_templates *t;

    while (room < BYTES_MOST && room * 2 <= share)
        room *= 2;
    most = room / PIECE_BYTES;
    taken = aligned(sizeof(*t)) + aligned(VOTES * sizeof(*t->votes)) + most * sizeof(*t->pieces) +
            most * SLOTS_A_PIECE * sizeof(*t->slots) + most * sizeof(*t->texts) + room + COMPARED_AT_ONCE;
    t = tm_take(&run->budget, TM_ACCOUNT_INPUT, taken, &run->error);
    if (!t)
        return NULL;
    t->taken = taken;
    t->most = (uint32_t)most;
    t->room = room;
    t->votes = (void *)((uint8_t *)t + aligned(sizeof(*t)));
    t->pieces = (void *)((uint8_t *)t->votes + aligned(VOTES * sizeof(*t->votes)));
    t->slots = (void *)(t->pieces + most);
    t->texts = (void *)(t->slots + most * SLOTS_A_PIECE);
    t->bytes = (void *)(t->texts + most);
    t->secret[0] = tm_hash_seed(t);
    for (uint64_t i = 1; i < sizeof(t->secret) / sizeof(t->secret[0]); i++)
        t->secret[i] = tm_hash_mix(i, t->secret[0]);
    t->credit = TM_CREDIT_MOST / 4;
    t->trust = TM_TRUST_MOST;
    t->slot_mask = SLOTS_LEAST - 1;
    t->pieces[0] = root;
    t->count = 1;
    return t;
}

void tm_chrome_templates_free(struct tm_chrome_templates *t, struct tm_run *run)
{
    if (t)
        tm_give(&run->budget, TM_ACCOUNT_INPUT, t, t->taken);
}

/* --- what varies --- */

/* A number of an argument varies if it differs between two events of one name. */
static void vote(struct tm_chrome_reader *r)
{
    const struct tm_chrome_event *const event = &r->event;
    const uint32_t name = (uint32_t)XXH3_64bits(event->name.at, event->name.length);
    struct tm_template_votes *const last = &r->templates->votes[name % VOTES];
    const bool counts = last->name == name && last->count == r->number_count;

    for (uint32_t i = 0; i < r->number_count; i++) {
        const struct tm_noted_number *const number = &r->numbers[i];
        const uint32_t value = (uint32_t)XXH3_64bits(number->at, (size_t)(number->end - number->at));

        if (counts && number->key && value != last->values[i])
            number->key->varies = true;
        last->values[i] = value;
    }
    last->name = name;
    last->count = r->number_count;
}

/* Numbers that are part of a config, and those that give the device, are parts of the text.  Where
 * arguments are kept, so are all but the times and the correlation id, which a template of arguments has a hole for. */
static bool may_vary(const struct tm_noted_number *number, const struct tm_chrome_known *known)
{
    if (known->has_arguments)
        return number->key ? number->key->varies && number->stat && number->stat == known->correlation
                           : number->kind != TM_NUMBER_ID;
    const uint64_t never =
        (known->has_facts ? 0 : tm_config_facts) | TM_FACT_BIT(TM_STAT_DEVICE) | TM_FACT_BIT(TM_STAT_QUEUE_DEVICE);

    return !number->key || (number->key->varies && !(never >> number->stat & 1));
}

/* --- learning --- */

static bool is_usual(const struct tm_chrome_reader *r, const uint8_t *begin, size_t length)
{
    uint32_t times = 0;

    for (uint32_t i = 0; i < r->number_count; i++) {
        if (r->numbers[i].at < begin || r->numbers[i].end > begin + length)
            return false; /* a string without its escapes is stored elsewhere */
        times |= 1U << r->numbers[i].kind;
    }
    return r->event_base == r->window.base && length <= EVENT_MOST && times >> TM_NUMBER_TS & 1 &&
           !(r->dur && !(times >> TM_NUMBER_DUR & 1)) && !r->has_repeated_key && !r->has_long_value &&
           !r->is_outgrown && !r->not_numbers && !memchr(begin, '\0', length);
}

/* out: NULL: it is full */
static void *put_bytes(struct tm_chrome_templates *t, const void *from, size_t length)
{
    uint8_t *const to = t->bytes + t->used;

    if (length > t->room - t->used)
        return NULL;
    t->used += length;
    return memcpy(to, from, length);
}

/* The same string is kept once, regardless of what precedes it: an op that runs on eight devices has it eight times.
 * out: NULL: it is full */
static const uint8_t *put_text(struct tm_chrome_templates *t, const uint8_t *at, uint32_t length)
{
    uint32_t *const place = &t->texts[tm_hash_text(at, length, t->secret[0]) & (t->most - 1)];

    if (*place && *place - 1 + length <= t->used && !memcmp(t->bytes + (*place - 1), at, length))
        return t->bytes + (*place - 1);
    *place = (uint32_t)t->used + 1;
    return put_bytes(t, at, length);
}

static void put_slot(struct tm_chrome_templates *t, uint32_t piece)
{
    uint32_t place = t->pieces[piece].tag & t->slot_mask;

    while (t->slots[place].piece)
        place = (place + 1) & t->slot_mask;
    t->slots[place] = (struct tm_piece_slot){ t->pieces[piece].tag, piece };
}

static void fill_slots(struct tm_chrome_templates *t, uint32_t mask)
{
    t->slot_mask = mask;
    memset(t->slots, 0, (mask + 1) * sizeof(*t->slots));
    for (uint32_t i = 1; i < t->count; i++)
        put_slot(t, i);
}

static struct tm_piece *find_piece(struct tm_chrome_templates *t, const struct tm_piece *wanted, const uint8_t *at)
{
    for (uint32_t place = wanted->tag; t->slots[place & t->slot_mask].piece; place++) {
        struct tm_piece *const piece = &t->pieces[t->slots[place & t->slot_mask].piece];

        if (piece->tag == wanted->tag && piece->after == wanted->after && piece->length == wanted->length &&
            piece->kind == wanted->kind && piece->stat == wanted->stat && !memcmp(piece->text, at, piece->length))
            return piece;
    }
    return NULL;
}

/* How many bytes of a piece may be skipped: those by which it is found precede the number after it, where it is long
 * enough. */
static uint32_t skip_most(const struct tm_piece *piece)
{
    if (piece->kind == TM_NUMBER_NONE || piece->length < TM_RECENT_BYTES)
        return SKIP_MOST;
    return piece->length - TM_RECENT_BYTES < SKIP_MOST ? (uint32_t)piece->length - TM_RECENT_BYTES : SKIP_MOST;
}

/* How much of its text a new piece shares with those that follow the same one. */
static void note_difference(struct tm_chrome_templates *t, struct tm_piece *after, const struct tm_piece *new)
{
    const struct tm_piece *const other = &t->pieces[after->likely];
    uint32_t same = 0, most = skip_most(new);

    if (!after->likely) {
        after->likely = (uint16_t)(new - t->pieces);
        after->skip = (uint8_t)most;
        return;
    }
    most = most < after->skip ? most : after->skip;
    most = most < new->length ? most : new->length;
    most = most < other->length ? most : other->length;
    while (same < most && new->text[same] == other->text[same])
        same++;
    after->skip = (uint8_t)same;
}

/* The piece that follows another one, found or made.  NULL: it is full */
static struct tm_piece *put_piece(struct tm_chrome_templates *t, struct tm_piece *after, const uint8_t *at,
                                  uint32_t length, const struct tm_noted_number *number)
{
    const uint32_t row = tm_piece_span(length), follows = (uint32_t)(after - t->pieces);
    uint64_t sum = 0;
    struct tm_piece new = {
        .tag = tm_piece_tag(tm_piece_hash(t->secret, &sum, at, 0, tm_piece_spans[row]), follows),
        .after = follows,
        .length = (uint16_t)length,
        .kind = number ? number->kind : TM_NUMBER_NONE,
        .stat = number ? number->stat : TM_STAT_UNKNOWN,
    };
    struct tm_piece *const same = find_piece(t, &new, at);

    if (same)
        return same;
    new.text = t->count < t->most ? put_text(t, at, length) : NULL;
    if (!new.text)
        return NULL;
    after->spans |= (uint16_t)(1U << row);
    t->pieces[t->count] = new;
    note_difference(t, after, &t->pieces[t->count++]);
    if (t->count * SLOTS_IN_USE > t->slot_mask && t->slot_mask < t->most * SLOTS_A_PIECE - 1)
        fill_slots(t, 2 * t->slot_mask + 1);
    else
        put_slot(t, t->count - 1);
    return &t->pieces[t->count - 1];
}

/* The same, and the next search finds it there: also one that the full lookup misses among many with the same start. */
static struct tm_piece *put_recent(struct tm_chrome_templates *t, struct tm_piece *after, const uint8_t *at,
                                   uint32_t length, const struct tm_noted_number *number)
{
    struct tm_piece *const piece = put_piece(t, after, at, length, number);

    if (piece)
        *recent_piece(t, after, at) = (uint16_t)(piece - t->pieces);
    return piece;
}

/* out: the piece with which the event ends; NULL: it is full */
static struct tm_piece *put_pieces(struct tm_chrome_reader *r, const uint8_t *begin, const uint8_t *end,
                                   struct tm_chrome_known *known)
{
    struct tm_chrome_templates *const t = r->templates;
    struct tm_piece *piece = t->pieces;
    const uint8_t *at = begin;

    known->varying = 0;
    for (uint32_t i = 0; i < r->number_count && piece; i++) {
        const struct tm_noted_number *const number = &r->numbers[i];

        if (!may_vary(number, known))
            continue;
        piece = put_recent(t, piece, at, (uint32_t)(number->at - at), number);
        at = number->end;
        if (number->kind == TM_NUMBER_ID || number->stat)
            known->varying |= TM_FACT_BIT(number->stat);
    }
    return piece ? put_recent(t, piece, at, (uint32_t)(end - at), NULL) : NULL;
}

static void put_template(struct tm_chrome_reader *r, struct tm_piece *piece, const struct tm_chrome_known *known)
{
    struct tm_chrome_templates *const t = r->templates;
    const struct tm_template whole = { .known = *known,
                                       .has = r->event.has,
                                       .seen = r->seen,
                                       .phase = r->event.phase,
                                       .facts = known->has_facts ? r->event.facts.has : 0,
                                       .name_traits = r->name_traits,
                                       .has_nested_argument = r->has_nested_argument,
                                       .has_others = r->has_others,
                                       .has_tallies = r->name_traits || r->has_nested_argument || r->has_others };

    t->used += -(uintptr_t)(t->bytes + t->used) % LINE_BYTES;
    if (t->used + sizeof(whole) + TM_STAT_COUNT * sizeof(int64_t) > t->room) {
        forget_all(t);
        return;
    }
    piece->whole = (uint32_t)t->used + 1;
    (void)put_bytes(t, &whole, sizeof(whole));
    for (uint64_t left = whole.facts; left; left &= left - 1)
        (void)put_bytes(t, &r->event.facts.ints[__builtin_ctzll(left)], sizeof(int64_t));
}

bool tm_chrome_may_remember(struct tm_chrome_reader *r)
{
    r->templates->is_used = true;
    return r->number_count <= TM_NUMBERS_MOST;
}

void tm_chrome_remember(struct tm_chrome_reader *r, struct tm_chrome_known *known)
{
    struct tm_chrome_templates *const t = r->templates;
    const uint8_t *const begin = (const uint8_t *)r->event.members, *const end = r->at;
    struct tm_piece *piece;

    if (r->event.known || !begin)
        return;
    t->credit -= LEARNING_COSTS;
    if (!is_usual(r, begin, (size_t)(end - begin)))
        return;
    vote(r);
    piece = put_pieces(r, begin, end, known);
    if (!piece)
        forget_all(t);
    else if (!piece->whole)
        put_template(r, piece, known);
    else if (t->is_tried && ++t->learned_twice > LEARNED_TWICE_MOST) /* others are in the way */
        forget_all(t);
}

static void take_facts(struct tm_facts *facts, const struct tm_template *whole)
{
    const int64_t *number = (const void *)(whole + 1);

    facts->has = whole->facts;
    for (uint64_t left = whole->facts; left; left &= left - 1, number++) {
        const int stat = __builtin_ctzll(left);

        facts->texts[stat].kind = TM_FACT_NO_TEXT;
        if (!(whole->known.varying >> stat & 1))
            facts->ints[stat] = *number;
    }
}

void tm_chrome_take_rare(struct tm_chrome_reader *r, const struct tm_template *whole)
{
    if (whole->facts)
        take_facts(&r->event.facts, whole);
    if (!whole->has_tallies)
        return;
    r->name_traits = whole->name_traits;
    r->has_long_value = r->has_repeated_key = false;
    r->has_nested_argument = whole->has_nested_argument;
    r->has_others = whole->has_others;
    tm_chrome_count_traits(r);
}
