/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/redact.h"

#include <assert.h>
#include <string.h>

#include "pipeline/public_words.h"
#include "pipeline/utf8.h"

enum {
    OUT_BYTES = 5 * TM_REDACT_TEXT_MOST, /* a byte that is no UTF-8 and a dot give nine: nothing gives more */
    VALID_BYTES = 3 * TM_REDACT_TEXT_MOST,
    DIGITS_MOST = 4,          /* of a number that stays */
    SHAPE_DIGITS_MOST = 12,   /* of a dimension */
    ORDINAL_DIGITS_MOST = 6,  /* of an instruction */
    LETTER_DIGITS_MOST = 2,   /* behind a single letter */
    PUBLIC_PIECE_LEAST = 3,   /* letters that make a mixed word one that belongs to everybody */
    ADDRESS_NUMBERS = 4, ADDRESS_DIGITS = 3,
};
/* What a pseudonym is made of: consonants, and digits that are not taken for letters. */
static const char pseudonym_signs[] = "bcdfghjkmnpqrstvwxyz23456789";
enum { FIRST_SIGNS = 20, ALL_SIGNS = 28 };

struct tm_redactor {
    struct tm_run *run;
    struct tm_secret_key key, made_from;
    bool has_key;
    struct tm_names *words;
    tm_status status;        /* of the words; the first failure stays */
    char *out, *valid;       /* OUT_BYTES + 1, VALID_BYTES */
    size_t used;             /* of out */
};

/* --- made and released --- */

struct tm_redactor *tm_redactor_new(struct tm_run *run, size_t memory_bytes)
{
    struct tm_redactor *r = tm_take(&run->budget, TM_ACCOUNT_NAMES, sizeof(*r), &run->error);

    if (!r)
        return NULL;
    r->run = run;
    r->words = tm_names_new(run, memory_bytes, NULL);
    r->out = r->words ? tm_take(&run->budget, TM_ACCOUNT_NAMES, OUT_BYTES + 1, &run->error) : NULL;
    r->valid = r->out ? tm_take(&run->budget, TM_ACCOUNT_NAMES, VALID_BYTES, &run->error) : NULL;
    if (r->valid)
        return r;
    tm_redactor_free(r);
    return NULL;
}

void tm_redactor_free(struct tm_redactor *r)
{
    if (!r)
        return;
    tm_names_free(r->words);
    tm_give(&r->run->budget, TM_ACCOUNT_NAMES, r->out, r->out ? OUT_BYTES + 1 : 0);
    tm_give(&r->run->budget, TM_ACCOUNT_NAMES, r->valid, r->valid ? VALID_BYTES : 0);
    tm_give(&r->run->budget, TM_ACCOUNT_NAMES, r, sizeof(*r));
}

/* --- the key --- */

void tm_redactor_set_key(struct tm_redactor *r, struct tm_secret_key key)
{
    r->key = key;
    r->has_key = true;
}

void tm_redactor_add_fingerprint(struct tm_redactor *r, const char *fingerprint)
{
    const struct tm_secret_key so_far = r->made_from, other = { ~so_far.low, ~so_far.high };

    r->made_from.low = tm_keyed_hash(so_far, fingerprint, strlen(fingerprint));
    r->made_from.high = tm_keyed_hash(other, fingerprint, strlen(fingerprint));
}

void tm_redactor_make_key(struct tm_redactor *r)
{
    if (!r->has_key)
        tm_redactor_set_key(r, tm_stretch_key(r->made_from));
}

bool tm_redactor_has_key(const struct tm_redactor *r)
{
    return r->has_key;
}

struct tm_secret_key tm_redactor_key(const struct tm_redactor *r)
{
    return r->key;
}

struct tm_names *tm_redactor_words(struct tm_redactor *r)
{
    return r->words;
}

/* --- signs --- */

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool is_letter(char c)
{
    return is_upper(c) || (c >= 'a' && c <= 'z');
}

/* Letters of other scripts are parts of words, and whatever else is beyond ASCII with them. */
static inline bool is_word_byte(char c)
{
    return is_letter(c) || is_digit(c) || (unsigned char)c >= 0x80;
}

static size_t count_digits(const char *text, size_t length)
{
    size_t n = 0;

    while (n < length && is_digit(text[n]))
        n++;
    return n;
}

static size_t count_letters(const char *text, size_t length)
{
    size_t n = 0;

    while (n < length && is_letter(text[n]))
        n++;
    return n;
}

/* How many letters at the begin of these are one piece of a joined word: "Launch" of LaunchKernel, "HLO" of HLOModule. */
static size_t count_piece(const char *letters, size_t length)
{
    size_t n = 1;

    while (n < length && is_upper(letters[n]) && is_upper(letters[n - 1]))
        n++;
    if (n > 1)
        return n < length ? n - 1 : n;
    while (n < length && !is_upper(letters[n]))
        n++;
    return n;
}

/* --- pseudonyms --- */

static void put(struct tm_redactor *r, const char *text, size_t length)
{
    assert(length <= OUT_BYTES - r->used);
    memcpy(r->out + r->used, text, length);
    r->used += length;
}

/* Small letters are as they are made; a word in capitals, or with a capital in front, has its pseudonym so too. */
static void set_case(const char *word, size_t length, char *pseudonym)
{
    const bool is_all = length > 1 && is_upper(word[1]);

    if (!is_upper(word[0]))
        return;
    for (size_t i = 0; i < (is_all ? TM_PSEUDONYM_BYTES : 1); i++)
        pseudonym[i] = (char)(pseudonym[i] >= 'a' ? pseudonym[i] - 'a' + 'A' : pseudonym[i]);
}

void tm_pseudonym(const struct tm_redactor *r, const char *word, size_t length, char *pseudonym)
{
    char lower[TM_REDACT_WORD_MOST];
    uint64_t hash;

    assert(length <= sizeof(lower) && r->has_key);
    for (size_t i = 0; i < length; i++)
        lower[i] = (char)(is_upper(word[i]) ? word[i] - 'A' + 'a' : word[i]);
    hash = tm_keyed_hash(r->key, lower, length);
    pseudonym[0] = pseudonym_signs[hash % FIRST_SIGNS];
    hash /= FIRST_SIGNS;
    for (size_t i = 1; i < TM_PSEUDONYM_BYTES; i++, hash /= ALL_SIGNS)
        pseudonym[i] = pseudonym_signs[hash % ALL_SIGNS];
    set_case(word, length, pseudonym);
}

static void put_pseudonym(struct tm_redactor *r, const char *word, size_t length)
{
    char pseudonym[TM_PSEUDONYM_BYTES];
    tm_strid id;

    tm_pseudonym(r, word, length, pseudonym);
    put(r, pseudonym, sizeof(pseudonym));
    if (r->status == TM_OK)
        r->status = tm_names_put(r->words, word, length, &id);
}

/* --- words --- */

/* Letters all of whose pieces belong to everybody, single ones too.
 * out: *has_public  set where one of them is a word by itself */
static bool are_letters_public(const char *letters, size_t length, bool *has_public)
{
    for (size_t i = 0; i < length;) {
        const size_t n = count_piece(letters + i, length - i);

        if (n > 1 && !tm_is_public_word(letters + i, n))
            return false;
        *has_public |= n >= PUBLIC_PIECE_LEAST;
        i += n;
    }
    return true;
}

/* "tilesize128x64", "MemcpyD2D", "128x128": letters and short numbers that say nothing of their own. */
static bool is_mixed_public(const char *word, size_t length)
{
    bool has_public = false, is_size = true;

    for (size_t i = 0; i < length;) {
        const size_t digits = count_digits(word + i, length - i);
        const size_t n = digits ? digits : count_letters(word + i, length - i);

        if (digits ? digits > DIGITS_MOST : !are_letters_public(word + i, n, &has_public))
            return false;
        is_size &= digits || (n == 1 && word[i] == 'x');
        i += n;
    }
    return has_public || is_size;
}

/* in: before  the sign before it; 0 = none */
static bool is_number_public(size_t digits, char before)
{
    return digits <= DIGITS_MOST || (digits <= SHAPE_DIGITS_MOST && (before == '[' || before == ',')) ||
           (digits <= ORDINAL_DIGITS_MOST && before == '.');
}

static bool is_ascii(const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)word[i] >= 0x80)
            return false;
    return true;
}

/* Letters, joined as in LayerNorm, with a short number behind them or none. */
static void put_joined(struct tm_redactor *r, const char *word, size_t letters, size_t length)
{
    for (size_t i = 0; i < letters;) {
        const size_t n = count_piece(word + i, letters - i);

        if (n == 1 || tm_is_public_word(word + i, n))
            put(r, word + i, n);
        else
            put_pseudonym(r, word + i, n);
        i += n;
    }
    put(r, word + letters, length - letters);
}

static void put_word(struct tm_redactor *r, const char *word, size_t length, char before)
{
    const size_t digits = count_digits(word, length), letters = count_letters(word, length);
    const size_t rest = letters + count_digits(word + letters, length - letters);

    if (digits == length ? is_number_public(digits, before)
                         : is_ascii(word, length) && (tm_is_public_word(word, length) || is_mixed_public(word, length)))
        put(r, word, length);
    else if (letters == 1 && rest == length && length - letters <= LETTER_DIGITS_MOST)
        put(r, word, length);
    else if (letters > 1 && rest == length && length - letters <= DIGITS_MOST)
        put_joined(r, word, letters, length);
    else
        put_pseudonym(r, word, length);
}

/* --- texts --- */

/* Four numbers as of an address of the internet, "10.0.3.17" or "ip-10-0-3-17".
 * out: its length; 0 = none begins there */
static size_t count_address(const char *text, size_t length)
{
    size_t at = 0;
    char sign = 0;

    for (int i = 0; i < ADDRESS_NUMBERS; i++) {
        const size_t digits = count_digits(text + at, length - at);

        if (digits == 0 || digits > ADDRESS_DIGITS)
            return 0;
        at += digits;
        if (i == ADDRESS_NUMBERS - 1)
            break;
        if (at == length || (text[at] != '.' && text[at] != '-' && text[at] != '_') || (sign && text[at] != sign))
            return 0;
        sign = text[at++];
    }
    return at < length && is_word_byte(text[at]) ? 0 : at;
}

/* The length of the word at the begin, which is cut between characters where it is too long. */
static size_t count_word(const char *text, size_t length)
{
    size_t n = 0;

    while (n < length && n < TM_REDACT_WORD_MOST && is_word_byte(text[n]))
        n++;
    while (n > 1 && n < length && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    return n;
}

/* in: text  valid UTF-8 */
static void redact(struct tm_redactor *r, const char *text, size_t length)
{
    char before = 0;

    for (size_t i = 0; i < length;) {
        const size_t address = is_word_byte(before) ? 0 : count_address(text + i, length - i);
        const size_t n = address ? address : count_word(text + i, length - i);

        if (n == 0)
            put(r, text + i, 1);
        else if (address)
            put_pseudonym(r, text + i, n);
        else
            put_word(r, text + i, n, before);
        i += n ? n : 1;
        before = text[i - 1];
    }
}

/* Whole characters of a text, each byte that begins none as U+FFFD. */
static size_t make_valid(char *to, const char *text, size_t length)
{
    size_t used = 0;

    for (size_t i = 0; i < length;) {
        uint32_t code;
        const size_t step = tm_utf8_next(text + i, length - i, &code), n = step ? step : 3;

        memcpy(to + used, step ? text + i : "\xef\xbf\xbd", n);
        used += n;
        i += step ? step : 1;
    }
    return used;
}

tm_status tm_redact(struct tm_redactor *r, const char *text, size_t length, const char **out, size_t *out_length)
{
    length = length < TM_REDACT_TEXT_MOST ? length : TM_REDACT_TEXT_MOST;
    r->used = 0;
    if (!tm_utf8_is_valid(text, length)) {
        length = make_valid(r->valid, text, length);
        text = r->valid;
    }
    redact(r, text, length);
    r->out[r->used] = '\0';
    *out = r->out;
    *out_length = r->used;
    return r->status;
}

tm_status tm_redact_into(struct tm_redactor *r, char *to, size_t bytes, const char *text)
{
    size_t length = strlen(text);
    tm_status st = r ? tm_redact(r, text, length, &text, &length) : TM_OK;

    length = length < bytes ? length : bytes - 1;
    memmove(to, text, length);
    to[length] = '\0';
    return st;
}
