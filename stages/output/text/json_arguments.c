/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of an event as members of an object.  Objects and arrays inside are walked with a stack of
 * TM_ARGUMENTS_DEEPEST lists; what is deeper, which no builder makes, is written as null. */
#include "stages/output/text/json_arguments.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/numbers.h"
#include "pipeline/store/hash.h"
#include "pipeline/store/names.h"
#include "pipeline/strings.h"
#include "stages/output/file/out_file.h"
#include "stages/output/trace_writer.h"

/* --- what is essential ---
 * The arguments that are written at --args essential: what an event is part of in the program, and how large its work
 * is.  Ids that join events are not among them, since arrows do that, nor what its row says: device, stream, module.
 * One table for all inputs, in the order of bytes, bisected.
 * source: tsl/profiler/utils/xplane_schema.cc names the statistics of an XSpace; kineto's output_json.cpp and PyTorch's
 *         profiler name the arguments of their JSON; checked against recorded files */

static const char *const essential[] = {
    "Bytes",
    "Collective name",
    "Dst Rank",
    "Group size",
    "In msg nelems",
    "Input Dims",
    "Input dims",
    "MemFree_details",
    "Memset_details",
    "Module Hierarchy",
    "Out msg nelems",
    "Process Group Name",
    "Src Rank",
    "allocation_bytes",
    "block",
    "bytes",
    "bytes_accessed",
    "bytes_transferred",
    "counter_value",
    "direction",
    "dst",
    "dtype",
    "flops",
    "grid",
    "hlo_category",
    "hlo_op",
    "iter_num",
    "kernel_details",
    "labels",
    "mem size",
    "memalloc_details",
    "memcpy_details",
    "memset_details",
    "name",
    "num_bytes",
    "nvtx_range",
    "payload_size_bytes",
    "shape",
    "source",
    "src",
    "step_name",
    "step_num",
    "tf_op",
};

struct key {
    const char *text;
    size_t length;
};

/* As memcmp, and a string comes after what it starts with. */
static int compare(const void *key, const void *known)
{
    const struct key *const k = key;
    const char *const with = *(const char *const *)known;
    const size_t other = strlen(with);
    const int order = memcmp(k->text, with, k->length < other ? k->length : other);

    return order != 0 ? order : (k->length > other) - (k->length < other);
}

bool tm_is_essential_argument(const char *key, size_t length)
{
    return bsearch(&(struct key){ key, length }, essential, sizeof(essential) / sizeof(essential[0]),
                   sizeof(essential[0]), compare) != NULL;
}

/* The keys of the objects of an event: an open table by hash, of a fixed size, that is never emptied: entries of
 * earlier events count as empty.  Two keys of one hash would give the second one a number that it does not need. */

/* FNV-1a: a longer key continues from the hash of its prefix.
 * source: RFC 9923 */
static const uint64_t hash_begin = UINT64_C(0xcbf29ce484222325), hash_factor = UINT64_C(0x100000001b3);

static uint64_t hash_on(uint64_t hash, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * hash_factor;
    return hash;
}

uint64_t tm_json_key_hash(const char *text, size_t length)
{
    uint64_t hash = hash_begin;

    for (;;) {
        const size_t n = tm_utf8_head(text, length);

        hash = hash_on(hash, text, n);
        if (n == length)
            return hash;
        hash = hash_on(hash, TM_UTF8_REPLACEMENT, TM_UTF8_REPLACEMENT_BYTES);
        text += n + 1;
        length -= n + 1;
    }
}

void tm_json_keys_begin(struct tm_json_keys *keys)
{
    if (keys->event == UINT32_MAX)
        memset(keys, 0, sizeof(*keys));
    if (keys->event == 0)
        keys->seed = tm_hash_seed(keys);
    keys->event++;
    keys->used = 0;
    keys->past = 0;
}

static bool has(struct tm_json_keys *keys, uint64_t hash)
{
    return tm_json_keys_find(keys, hash)->event == keys->event;
}

static void add(struct tm_json_keys *keys, uint64_t hash)
{
    struct tm_json_key *const slot = tm_json_keys_find(keys, hash);

    if (slot->event == keys->event || keys->used == TM_JSON_KEYS_MOST)
        return;
    *slot = (struct tm_json_key){ hash, keys->event, 1 };
    keys->used++;
}

/* The hash of the key with a number after it. */
static uint64_t numbered(uint64_t hash, uint32_t object, uint64_t number)
{
    char after[32];
    const int n = snprintf(after, sizeof(after), " (%llu)", (unsigned long long)number);

    return tm_json_keys_in(hash_on(hash, after, (size_t)n), object);
}

uint64_t tm_json_keys_again(struct tm_json_keys *keys, uint64_t hash, uint32_t object)
{
    struct tm_json_key *const slot = tm_json_keys_find(keys, tm_json_keys_in(hash, object));
    uint64_t number;

    if (keys->used == TM_JSON_KEYS_MOST) {
        do
            number = TM_JSON_KEYS_MOST + ++keys->past;
        while (has(keys, numbered(hash, object, number)));
        return number;
    }
    do
        number = ++slot->count;
    while (has(keys, numbered(hash, object, number)));
    add(keys, numbered(hash, object, number));
    return number;
}

/* Decimal numbers, so that every reader interprets them correctly.  Perfetto (v52) reads the digits before the point,
 * and those after it, as integers of 64 bits each: more digits than fit make another number, zeros in front too. It
 * drops all arguments after a number past the range of a double.
 * source: RFC 8259 section 6; measured with the importer */

enum { DIGITS_MOST = 18, EXPONENT_MOST = 308 };

/* The parts of a number: positions in its text. */
struct decimal {
    size_t whole, point, fraction, end; /* the first digit; after the last one before the point; the first one after
                                           the point; after the last one */
    long exponent;
};

static size_t skip_digits(const char *text, size_t length, size_t at)
{
    while (at < length && text[at] >= '0' && text[at] <= '9')
        at++;
    return at;
}

/* The exponent, from 'e' on; past EXPONENT_MOST if it is too large or none.  out: *end */
static long read_exponent(const char *text, size_t length, size_t at, size_t *end)
{
    long exponent = 0;
    bool is_negative = false;

    *end = at;
    if (at == length || (text[at] != 'e' && text[at] != 'E'))
        return 0;
    at++;
    if (at < length && (text[at] == '+' || text[at] == '-'))
        is_negative = text[at++] == '-';
    *end = skip_digits(text, length, at);
    if (*end == at)
        return EXPONENT_MOST + 1;
    for (; at < *end; at++)
        exponent = exponent > EXPONENT_MOST ? exponent : exponent * 10 + (text[at] - '0');
    return is_negative ? -exponent : exponent;
}

/* false: it is not a number of RFC 8259, or too large for readers. */
static bool take_apart(const char *text, size_t length, struct decimal *d)
{
    size_t end;

    d->whole = length && text[0] == '-' ? 1 : 0;
    d->point = skip_digits(text, length, d->whole);
    const size_t digits = d->point - d->whole;

    if (digits == 0 || digits > DIGITS_MOST || (digits > 1 && text[d->whole] == '0'))
        return false;
    d->fraction = d->end = d->point;
    if (d->point < length && text[d->point] == '.') {
        d->fraction = d->point + 1;
        d->end = skip_digits(text, length, d->fraction);
        if (d->end == d->fraction)
            return false;
    }
    d->exponent = read_exponent(text, length, d->end, &end);
    return end == length && d->exponent + (long)digits <= EXPONENT_MOST;
}

/* A fraction with too many digits: leading zeros are moved to the exponent, the rest is truncated. */
static void put_shorter(struct tm_json_text *json, const char *text, size_t length, const struct decimal *d)
{
    struct tm_text_sink *const sink = &json->sink;
    size_t first = d->fraction;
    char exponent[32];

    while (text[d->whole] == '0' && first < d->end && text[first] == '0')
        first++;
    if (first == d->end) {
        tm_sink_text(sink, "0.0");
        return;
    }
    if (text[d->whole] != '0') {
        tm_sink_put(sink, text, d->fraction + DIGITS_MOST);
        tm_sink_put(sink, text + d->end, length - d->end);
        return;
    }
    const size_t left = d->end - first - 1;

    tm_sink_put(sink, text, d->whole);
    tm_sink_put(sink, text + first, 1);
    if (left) {
        tm_sink_text(sink, ".");
        tm_sink_put(sink, text + first + 1, left < DIGITS_MOST ? left : DIGITS_MOST);
    }
    (void)snprintf(exponent, sizeof(exponent), "e%ld", d->exponent - (long)(first - d->fraction) - 1);
    tm_sink_text(sink, exponent);
}

/* A number as it was written.
 * out:    false: nothing is written, since it is not a number of RFC 8259, or one that readers would take for
 * another */
static bool json_decimal(struct tm_json_text *json, const char *text, size_t length)
{
    struct decimal d;

    if (!take_apart(text, length, &d))
        return false;
    if (d.end - d.fraction > DIGITS_MOST)
        put_shorter(json, text, length, &d);
    else
        tm_sink_put(&json->sink, text, length);
    return true;
}

/* Strings and numbers as JSON.  Names recur: the quoted and escaped form of a short one is kept by its handle
 * in a table of a fixed size in which a later one takes the place of an earlier one.
 * source: RFC 8259 section 6 and 7 */

enum { ESCAPE_MOST = 7 /* bytes that one becomes: "\u001f", and a quote in a cell */ };

void tm_json_init(struct tm_json_text *json, struct tm_names *names, bool is_cell)
{
    json->names = names;
    json->quote = is_cell ? "\"\"" : "\"";
    json->quote_bytes = is_cell ? 2 : 1;
}

/* Whether a byte of valid UTF-8 represents itself. */
static inline bool is_plain(char byte)
{
    return (unsigned char)byte >= 0x20 && byte != '"' && byte != '\\';
}

/* in: to  ESCAPE_MOST bytes.  out: bytes written */
static size_t escape(const struct tm_json_text *json, char *to, char byte)
{
    if (byte != '"')
        return tm_json_escape(to, (unsigned char)byte);
    to[0] = '\\';
    memcpy(to + 1, json->quote, json->quote_bytes);
    return 1 + json->quote_bytes;
}

/* Valid UTF-8.  The last byte of a string is never a backslash: Perfetto (v52) takes the quotation mark after it for a
 * part of the text, and refuses the file.
 * in: to  ESCAPE_MOST bytes for each of the text.  out: bytes written */
static size_t escape_run(const struct tm_json_text *json, char *to, const char *text, size_t length)
{
    static const char last_backslash[] = "\\u005c";
    const char apart =
        json->quote_bytes == 2 ? ';' : '"'; /* in a cell a spreadsheet may start another one there (strings.h) */
    size_t used = 0;

    for (size_t i = 0; i < length; i++) {
        if (is_plain(text[i]) && text[i] != apart) {
            to[used++] = text[i];
        } else if (text[i] == '\\' && i + 1 == length) {
            memcpy(to + used, last_backslash, sizeof(last_backslash) - 1);
            used += sizeof(last_backslash) - 1;
        } else {
            used += escape(json, to + used, text[i]);
        }
    }
    return used;
}

/* Put the start of a string, which is invalid or hidden.  out: bytes of the text */
static size_t put_hidden(struct tm_json_text *json, const char *text, size_t length)
{
    uint32_t code;
    const size_t n = tm_utf8_next(text, length, &code);
    char escape[TM_JSON_ESCAPE];

    if (!n || !code) {
        tm_sink_put(&json->sink, TM_UTF8_REPLACEMENT, TM_UTF8_REPLACEMENT_BYTES);
        return 1;
    }
    tm_sink_put(&json->sink, escape, tm_json_escape(escape, code));
    return n;
}

/* A string without quotes, with escapes. */
static void json_escaped(struct tm_json_text *json, const char *text, size_t length)
{
    const size_t piece = TM_SINK_PIECE / ESCAPE_MOST;

    while (length) {
        /* A piece that ends inside a sequence is valid up to there; one that starts with it has all of it. */
        const size_t most = length < piece ? length : piece;
        size_t n = json->escapes_hidden ? tm_utf8_visible_head(text, most) : tm_utf8_head(text, most);

        if (n) {
            char *const to = tm_sink_room(&json->sink);

            json->sink.used += escape_run(json, to, text, n);
        } else {
            n = put_hidden(json, text, length);
        }
        text += n;
        length -= n;
    }
}

void tm_json_string(struct tm_json_text *json, const char *text, size_t length)
{
    tm_sink_put(&json->sink, json->quote, json->quote_bytes);
    json_escaped(json, text, length);
    tm_sink_put(&json->sink, json->quote, json->quote_bytes);
}

/* Make the entry.  false: the text is too long for one. */
static bool make_ready(struct tm_json_text *json, struct tm_json_ready *ready, const char *text, size_t length)
{
    char valid[TM_UTF8_REPLACEMENT_BYTES * TM_JSON_READY_MOST], quoted[ESCAPE_MOST * sizeof(valid)];

    if (length > TM_JSON_READY_MOST || (json->escapes_hidden && tm_utf8_visible_head(text, length) < length))
        return false;
    const size_t n = escape_run(json, quoted, valid, tm_out_utf8(valid, text, length));

    if (n + 2 * json->quote_bytes > TM_JSON_READY_MOST)
        return false;
    memcpy(ready->quoted, json->quote, json->quote_bytes);
    memcpy(ready->quoted + json->quote_bytes, quoted, n);
    memcpy(ready->quoted + json->quote_bytes + n, json->quote, json->quote_bytes);
    ready->length = (uint8_t)(n + 2 * json->quote_bytes);
    ready->hash = tm_json_key_hash(text, length);
    ready->is_essential = tm_is_essential_argument(text, length);
    return true;
}

/* The entry of a name; NULL if it is too long for one: then *text. */
static const struct tm_json_ready *json_look_up(struct tm_json_text *json, tm_strid name, const char **text,
                                                size_t *length)
{
    struct tm_json_ready *const ready = &json->ready[name % TM_JSON_READY];

    *text = NULL;
    if (ready->id == name && name)
        return ready;
    /* Lists of arguments are not trusted. */
    const tm_strid known = name < tm_names_count(json->names) ? name : 0;

    *text = tm_names_text(json->names, known, 0, length);
    ready->id = 0;
    if (!make_ready(json, ready, *text, *length))
        return NULL;
    ready->id = known;
    return ready;
}

void tm_json_name(struct tm_json_text *json, tm_strid name)
{
    const char *text;
    size_t length;
    const struct tm_json_ready *const ready = json_look_up(json, name, &text, &length);

    if (ready)
        tm_sink_put(&json->sink, ready->quoted, ready->length);
    else
        tm_json_string(json, text, length);
}

void tm_json_double(struct tm_json_text *json, double value)
{
    char digits[TM_DOUBLE_TEXT];

    if (!isfinite(value)) {
        const char *const text = tm_out_not_finite(value);

        tm_json_string(json, text, strlen(text));
        return;
    }
    const size_t n = tm_double_text(digits, value);

    if (!json_decimal(json, digits, n)) /* of the largest ones only a double is known to be in range */
        tm_sink_put(&json->sink, digits, n);
    /* It stays a number that is not an integer. */
    if (!memchr(digits, '.', n) && !memchr(digits, 'e', n))
        tm_sink_put(&json->sink, ".0", 2);
}

/* An object or an array that is open. */
struct open_list {
    struct tm_arguments rest;
    uint32_t object; /* its number in the event; the top is 0 */
    bool is_array;
    uint32_t members;
};

struct walk {
    struct tm_json_text *json;
    const char *head; /* before the first member of the top */
    enum tm_args_level level;
    uint32_t objects; /* that have been opened */
    size_t depth;     /* lists that are open besides the top */
    struct open_list open[TM_ARGUMENTS_DEEPEST + 1];
};

/* --- numbers --- */

/* Digits of an integer past INT64_MAX as a string. */
static void put_uint(struct tm_json_text *json, uint64_t value)
{
    const bool is_text = value > INT64_MAX;

    if (is_text)
        tm_sink_put(&json->sink, json->quote, json->quote_bytes);
    tm_sink_uint(&json->sink, value);
    if (is_text)
        tm_sink_put(&json->sink, json->quote, json->quote_bytes);
}

static void put_number(struct tm_json_text *json, const char *text, size_t length)
{
    if (!json_decimal(json, text, length))
        tm_json_string(json, text, length);
}

/* --- members --- */

/* in: length  of the text without quotes, which is given where `ready` is NULL */
static void put_numbered(struct tm_json_text *json, const struct tm_json_ready *ready, const char *text, size_t length,
                         uint64_t number)
{
    char after[32];
    const int n = snprintf(after, sizeof(after), " (%llu)", (unsigned long long)number);

    if (ready) {
        tm_sink_put(&json->sink, ready->quoted, ready->length - json->quote_bytes);
    } else {
        tm_sink_put(&json->sink, json->quote, json->quote_bytes);
        json_escaped(json, text, length);
    }
    tm_sink_put(&json->sink, after, (size_t)n);
    tm_sink_put(&json->sink, json->quote, json->quote_bytes);
}

/* Put what precedes a member or an element. */
static void put_comma(struct walk *w)
{
    struct open_list *const list = &w->open[w->depth];

    if (list->members)
        tm_sink_put(&w->json->sink, ",", 1);
    else if (w->depth == 0)
        tm_sink_text(&w->json->sink, w->head);
    list->members++;
}

/* A key, quoted, and the colon.
 * in:     ready  NULL: a string of length bytes, and its hash */
static void put_key(struct walk *w, const struct tm_json_ready *ready, uint64_t hash, const char *text, size_t length)
{
    struct tm_json_text *const json = w->json;
    const uint64_t number = tm_json_keys_take(&json->keys, hash, w->open[w->depth].object);

    put_comma(w);
    if (ready && !number)
        tm_sink_put(&json->sink, ready->quoted, ready->length);
    else if (number)
        put_numbered(json, ready, text, length, number);
    else
        tm_json_string(json, text, length);
    tm_sink_put(&json->sink, ":", 1);
}

/* The key of an argument.
 * out: false: the argument is not needed */
static bool take_key(struct walk *w, tm_strid key)
{
    const char *text;
    size_t length = 0;
    const struct tm_json_ready *ready = json_look_up(w->json, key, &text, &length);

    if (w->depth == 0 && w->level == TM_ARGS_ESSENTIAL &&
        !(ready ? ready->is_essential : tm_is_essential_argument(text, length)))
        return false;
    put_key(w, ready, ready ? ready->hash : tm_json_key_hash(text, length), text, length);
    return true;
}

static void open_list(struct walk *w, const struct tm_argument *argument)
{
    const bool is_array = argument->type == TM_ARGUMENT_ARRAY;

    if (w->depth == TM_ARGUMENTS_DEEPEST) {
        tm_sink_text(&w->json->sink, "null");
        return;
    }
    tm_sink_put(&w->json->sink, is_array ? "[" : "{", 1);
    w->open[++w->depth] = (struct open_list){ .rest = argument->inside, .object = ++w->objects, .is_array = is_array };
}

static void put_value(struct walk *w, const struct tm_argument *argument)
{
    struct tm_json_text *const json = w->json;

    switch (argument->type) {
    case TM_ARGUMENT_FALSE:
        tm_sink_text(&json->sink, "false");
        break;
    case TM_ARGUMENT_TRUE:
        tm_sink_text(&json->sink, "true");
        break;
    case TM_ARGUMENT_INT:
        tm_sink_int(&json->sink, argument->number);
        break;
    case TM_ARGUMENT_UINT:
        put_uint(json, argument->value);
        break;
    case TM_ARGUMENT_DOUBLE:
        tm_json_double(json, argument->real);
        break;
    case TM_ARGUMENT_NUMBER:
        put_number(json, argument->text, argument->length);
        break;
    case TM_ARGUMENT_TEXT:
        tm_json_string(json, argument->text, argument->length);
        break;
    case TM_ARGUMENT_NAME:
        tm_json_name(json, (tm_strid)argument->value);
        break;
    case TM_ARGUMENT_OBJECT:
    case TM_ARGUMENT_ARRAY:
        open_list(w, argument);
        break;
    default:
        tm_sink_text(&json->sink, "null");
    }
}

/* A member of the top, and all that is in it. */
static void put_member(struct walk *w, const struct tm_argument *member)
{
    struct tm_argument argument;

    if (!take_key(w, member->key))
        return;
    put_value(w, member);
    while (w->depth) {
        struct open_list *const open = &w->open[w->depth];

        if (!tm_arguments_next(&open->rest, !open->is_array, &argument)) {
            tm_sink_put(&w->json->sink, open->is_array ? "]" : "}", 1);
            w->depth--;
            continue;
        }
        if (!tm_argument_is_value(&argument))
            continue;
        if (open->is_array)
            put_comma(w);
        else if (!take_key(w, argument.key))
            continue;
        put_value(w, &argument);
    }
}

static void put_members(struct walk *w, struct tm_arguments list)
{
    struct tm_argument argument;

    while (tm_arguments_next(&list, true, &argument))
        if (tm_argument_is_value(&argument))
            put_member(w, &argument);
}

/* --- arguments by template --- */

enum { CACHED_MOST = TM_SINK_PIECE - TM_ARGUMENT_HOLES * TM_INT_TEXT - TM_ARG_CACHE_COPIED /* copied in one piece */ };

static_assert(TM_ARG_CACHE_TEMPLATES % 2 == 0 && !(TM_TEMPLATE_CORRELATION % TM_ARG_CACHE_TEMPLATES),
              "the flag of a template is no part of its place");

/* Store the output for a template. in: args  except for its bytes, which are `bytes` */
static void store_output(struct tm_arg_cache *c, uint32_t template, const struct tm_cached_args *args,
                         const uint8_t *bytes)
{
    const size_t align = _Alignof(struct tm_cached_args);
    const size_t whole = (sizeof(*args) + args->length + align - 1) / align * align;

    if (whole > TM_ARG_CACHE_BYTES - c->used) {
        memset(c->at, 0, sizeof(c->at));
        c->used = 0;
    }
    struct tm_cached_args *const kept = (struct tm_cached_args *)(void *)(c->room + c->used);

    *kept = *args;
    memcpy(kept->bytes, bytes, args->length);
    c->at[template % TM_ARG_CACHE_TEMPLATES] = (uint32_t)c->used + 1;
    c->used += whole;
}

/* Put in the members of a template with the numbers of an event, and keep them without. */
TM_NOT_INLINE void put_template(struct walk *w, const struct tm_argument_template *template,
                                const struct tm_out_event *event)
{
    const struct tm_text_sink *const sink = &w->json->sink;
    const uint64_t begin = tm_sink_position(sink);
    struct tm_arguments list = { .bytes = template->list, .length = template->length };
    struct tm_cached_args *const made = &(struct tm_cached_args){ .length = 0 };
    uint8_t room[TM_TEMPLATE_NUMBERS_MOST + 10];
    const uint8_t *number = tm_hole_numbers(event->template, event->own, event->correlation, room);
    uint8_t bytes[CACHED_MOST];
    uint64_t at = begin; /* of what is not in `bytes` yet */
    bool is_kept = true;
    struct tm_argument argument;

    while (tm_arguments_next(&list, true, &argument)) {
        const uint64_t before = tm_sink_position(sink);
        const bool is_hole =
            made->holes < template->holes && template->list + template->hole_at[made->holes] + 1 == list.bytes;
        uint64_t value, digits_bytes = 0;
        char digits[TM_INT_TEXT];

        if (is_hole) {
            number = tm_take_hole(number, &value);
            argument.number = (int64_t)value;
            digits_bytes = tm_int_text(digits, argument.number);
        }
        if (tm_argument_is_value(&argument))
            put_member(w, &argument);
        const uint64_t end = tm_sink_position(sink);
        const bool is_left = end == before;
        const uint64_t piece = end - at - (is_left ? 0 : digits_bytes);

        is_kept = is_kept && at >= sink->passed && piece <= sizeof(bytes) - made->length;
        if (is_kept) {
            memcpy(bytes + made->length, sink->bytes + (at - sink->passed), piece);
            made->length = (uint16_t)(made->length + piece);
        }
        at = end;
        if (is_hole)
            made->hole[made->holes++] = (struct tm_cached_hole){ .end = made->length, .is_left = is_left };
    }
    made->count = w->open[0].members;
    if (is_kept)
        store_output(&w->json->cache, event->template, made, bytes);
}

static void put_cached(struct walk *w, const struct tm_cached_args *made, const uint8_t *number)
{
    struct tm_text_sink *const sink = &w->json->sink;
    uint8_t *const begin = (uint8_t *)tm_sink_room(sink), *to = begin;
    size_t at = 0;

    for (size_t i = 0; i < made->holes; i++) {
        const struct tm_cached_hole hole = made->hole[i];
        uint64_t value;

        to = tm_arg_cache_copy(to, made->bytes + at, hole.end - at);
        at = hole.end;
        number = tm_take_hole(number, &value);
        if (!hole.is_left)
            to += tm_int_text((char *)to, (int64_t)value);
    }
    to = tm_arg_cache_copy(to, made->bytes + at, made->length - at);
    sink->used += (size_t)(to - begin);
    w->open[0].members += made->count;
}

/* The event's own arguments, and those that it shares. */
static void put_lists(struct walk *w, const struct tm_out_event *event)
{
    struct tm_arg_cache *const cache = &w->json->cache;
    uint8_t whole[TM_TEMPLATE_WHOLE_MOST], room[TM_TEMPLATE_NUMBERS_MOST + 10];
    const struct tm_cached_args *made;

    if (!event->template || w->open[0].members || event->common.length) {
        put_members(w, tm_out_own(event, whole));
        put_members(w, event->common);
        return;
    }
    tm_arg_cache_turn(cache, event->trace);
    made = tm_arg_cache_find(cache, event->template);
    if (made)
        put_cached(w, made, tm_hole_numbers(event->template, event->own, event->correlation, room));
    else
        put_template(w, tm_argument_template(event->trace->templates, event->template), event);
}

/* --- marks --- */

static void put_mark_key(struct walk *w, const char *key)
{
    put_key(w, NULL, tm_json_key_hash(key, strlen(key)), key, strlen(key));
}

static void put_marks(struct walk *w, const struct tm_out_event *event)
{
    if (event->marks & TM_OUT_CUTS) {
        const char *const where = tm_out_cut_text(event->marks);

        put_mark_key(w, TM_OUT_KEY_CUT);
        tm_json_string(w->json, where, strlen(where));
        put_mark_key(w, TM_OUT_KEY_BEGIN);
        tm_sink_int(&w->json->sink, tm_out_ns(event->whole_begin_ps));
        put_mark_key(w, TM_OUT_KEY_DURATION);
        tm_sink_int(&w->json->sink, tm_out_ns(event->whole_end_ps) - tm_out_ns(event->whole_begin_ps));
    }
    if (event->marks & TM_OUT_UNFINISHED) {
        put_mark_key(w, TM_OUT_KEY_UNFINISHED);
        tm_sink_text(&w->json->sink, "true");
    }
}

bool tm_json_arguments(struct tm_json_text *json, const struct tm_out_event *event, enum tm_args_level level,
                       const char *head)
{
    struct walk w;

    w.json = json;
    w.head = head;
    w.level = event->marks & TM_OUT_DERIVED ? TM_ARGS_ALL : level;
    w.objects = 0;
    w.depth = 0;
    w.open[0] = (struct open_list){ .object = 0 };
    tm_json_keys_begin(&json->keys);
    put_marks(&w, event);
    if (w.level != TM_ARGS_NONE)
        put_lists(&w, event);
    json->arguments += w.open[0].members;
    return w.open[0].members > 0;
}
