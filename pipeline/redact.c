/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/redact.h"

#include <assert.h>
#include <stdbool.h>
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
    HOST_SLOTS = 2048, HOSTS_MOST = 1024, /* that are known again */
};
#define HOST_PREFIX "host-"
enum { HOST_PREFIX_BYTES = sizeof(HOST_PREFIX) - 1 };

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
    bool is_path;            /* the text that is redacted is one */
    bool in_path;            /* or it has one, which is not at its end yet */
    uint64_t hosts[HOST_SLOTS]; /* pseudonyms that hosts have, as they are written; 0 = free */
    size_t host_count;
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

/* Letters of other scripts are parts of words, and whatever else is beyond ASCII with them; but for U+0080 to U+00BF,
 * which have no letters: this program has some of their signs in its own texts. */
enum { SIGN_LEAD = 0xc2 };

static inline bool is_word_byte(char c)
{
    return is_letter(c) || is_digit(c) || ((unsigned char)c >= 0x80 && (unsigned char)c != SIGN_LEAD);
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

/* How many letters at the begin of these are one piece of a joined word: "Launch" of LaunchKernel, "HLO" of
 * HLOModule. */
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

/* What stands behind a number of C++, and behind times. */
static bool is_suffix(const char *letters, size_t length)
{
    static const char *const suffixes[] = { "u", "ul", "ull", "f", "ns", "us", "ms", "s", "d" };

    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
        if (length == strlen(suffixes[i]) && memcmp(letters, suffixes[i], length) == 0)
            return true;
    return false;
}

/* "tilesize128x64", "MemcpyD2D", "128x128", "4ul": letters and short numbers that say nothing of their own. */
static bool is_mixed_public(const char *word, size_t length)
{
    bool has_public = false, is_size = true;

    for (size_t i = 0; i < length;) {
        const size_t digits = count_digits(word + i, length - i);
        const size_t n = digits ? digits : count_letters(word + i, length - i);
        const bool is_unit = !digits && i && i + n == length && is_suffix(word + i, n);

        if (digits ? digits > DIGITS_MOST : !is_unit && !are_letters_public(word + i, n, &has_public))
            return false;
        is_size &= digits || is_unit || (n == 1 && word[i] == 'x');
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

static bool is_among(const char *const *words, size_t count, const char *word, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (length == strlen(words[i]) && memcmp(word, words[i], length) == 0)
            return true;
    return false;
}

/* What stands behind the dots at the end of a path, and folders that every machine has. */
static bool is_path_word(const char *word, size_t length, char before)
{
    static const char *const endings[] = {
        "xplane", "pb", "json", "gz", "zst", "prof", "pt", "trace", "tar", "tgz", "zip", "partial",
        "py", "pyc", "pyx", "c", "cc", "cpp", "cu", "cuh", "h", "hpp", "so",
    };
    static const char *const folders[] = { "usr", "opt", "lib", "lib64", "local", "bin", "site", "dist" };

    return before == '.' ? is_among(endings, sizeof(endings) / sizeof(endings[0]), word, length)
                         : is_among(folders, sizeof(folders) / sizeof(folders[0]), word, length);
}

/* What lies in these folders is somebody else's library: its names are looked at as others are. */
static bool is_library(const char *word, size_t length)
{
    static const char *const names[] = { "packages", "python3", "python2" };

    return is_among(names, sizeof(names) / sizeof(names[0]), word, length);
}

static void put_path_word(struct tm_redactor *r, const char *word, size_t length, char before)
{
    const size_t digits = count_digits(word, length);
    const bool is_end = is_library(word, length) && (before == '/' || before == '-');

    if (is_end || is_path_word(word, length, before) || (digits == length && digits <= DIGITS_MOST))
        put(r, word, length);
    else
        put_pseudonym(r, word, length);
    r->in_path &= !is_end;
    r->is_path &= !is_end;
}

/* Whether a path begins with this slash: "/home/a", "=/tmp", but not the parts of "jit(f)/dot" and "vm/gpu:0", nor
 * "/device:GPU:0". */
static bool begins_path(const char *slash, size_t length, char before)
{
    size_t n = 1;

    if (is_word_byte(before) || (before && !strchr(" \t\n=([\"'`,$<:|;@", before)))
        return false;
    while (n < length && is_word_byte(slash[n]))
        n++;
    return n == length || slash[n] != ':' || !tm_is_public_word(slash + 1, n - 1);
}

/* A sign that is no part of a word goes by.  in: before  the sign before it */
static void pass_sign(struct tm_redactor *r, const char *sign, size_t length, char before)
{
    if (strchr(" \t\n\"'`,()|;:<>", *sign))
        r->in_path = false;
    else if (*sign == '/' && !r->in_path)
        r->in_path = begins_path(sign, length, before);
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

static bool is_address_sign(char c)
{
    return c == '.' || c == '-' || c == '_';
}

/* Four numbers as of an address of the internet, "10.0.3.17" or "ip-10-0-3-17", and not those of a date and a time.
 * in:  behind  a number and one of its signs stand before it
 * out: its length; 0 = none begins there */
static size_t count_address(const char *text, size_t length, bool behind)
{
    size_t at = 0;
    char sign = 0;

    for (int i = 0; i < ADDRESS_NUMBERS; i++) {
        const size_t digits = count_digits(text + at, length - at);

        if (behind || digits == 0 || digits > ADDRESS_DIGITS)
            return 0;
        at += digits;
        if (i == ADDRESS_NUMBERS - 1)
            break;
        if (at == length || !is_address_sign(text[at]) || (sign && text[at] != sign))
            return 0;
        sign = text[at++];
    }
    if (at + 1 < length && text[at] == sign && is_digit(text[at + 1]))
        return 0;
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

/* --- hosts --- */

/* Where the pseudonym of a host is in the table, or belongs. */
static uint64_t *host_slot(struct tm_redactor *r, const char *pseudonym, uint64_t *packed)
{
    size_t i;

    memcpy(packed, pseudonym, sizeof(*packed));
    for (i = *packed * UINT64_C(0x9e3779b97f4a7c15) >> 53; r->hosts[i] && r->hosts[i] != *packed;)
        i = (i + 1) % HOST_SLOTS;
    return &r->hosts[i];
}

/* The length of a host's pseudonym at the begin; 0 = there is none. */
static size_t count_host(struct tm_redactor *r, const char *text, size_t length)
{
    uint64_t packed;

    if (length < HOST_PREFIX_BYTES + TM_PSEUDONYM_BYTES || memcmp(text, HOST_PREFIX, HOST_PREFIX_BYTES) != 0)
        return 0;
    return *host_slot(r, text + HOST_PREFIX_BYTES, &packed) ? HOST_PREFIX_BYTES + TM_PSEUDONYM_BYTES : 0;
}

static void put_host(struct tm_redactor *r, const char *host, size_t length)
{
    const size_t known = count_host(r, host, length);
    uint64_t packed, *slot;

    if (length == 0 || known == length) {
        put(r, host, length);
        return;
    }
    put(r, HOST_PREFIX, HOST_PREFIX_BYTES);
    put_pseudonym(r, host, length < TM_REDACT_WORD_MOST ? length : TM_REDACT_WORD_MOST);
    memcpy(&packed, r->out + r->used - TM_PSEUDONYM_BYTES, sizeof(packed));
    slot = host_slot(r, r->out + r->used - TM_PSEUDONYM_BYTES, &packed);
    r->host_count += *slot == 0;
    if (*slot == 0 && r->host_count <= HOSTS_MOST)
        *slot = packed;
}

/* "vm/gpu:0": the length of what is before the slash; 0 = a text is something else. */
static size_t count_device_host(const char *text, size_t length)
{
    static const char *const kinds[] = { "/gpu:", "/tpu:", "/cpu:" };
    enum { KIND_BYTES = 5 };
    size_t at = length;

    while (at && is_digit(text[at - 1]))
        at--;
    if (at == length || at <= KIND_BYTES)
        return 0;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (memcmp(text + at - KIND_BYTES, kinds[i], KIND_BYTES) == 0)
            return at - KIND_BYTES;
    return 0;
}

/* in: text  valid UTF-8 */
static void redact(struct tm_redactor *r, const char *text, size_t length)
{
    char before = 0;

    for (size_t i = 0; i < length;) {
        const bool behind = i > 1 && is_address_sign(before) && is_digit(text[i - 2]);
        const size_t address = is_word_byte(before) ? 0 : count_address(text + i, length - i, behind);
        const size_t host = is_word_byte(before) ? 0 : count_host(r, text + i, length - i);
        const size_t sign = (unsigned char)text[i] == SIGN_LEAD ? 2 : 1;
        const size_t n = address ? address : host ? host : count_word(text + i, length - i);

        if (n == 0)
            pass_sign(r, text + i, length - i, before);
        if (n == 0 || host)
            put(r, text + i, n ? n : sign);
        else if (address)
            put_pseudonym(r, text + i, n);
        else if (r->is_path || r->in_path)
            put_path_word(r, text + i, n, before);
        else
            put_word(r, text + i, n, before);
        i += n ? n : sign;
        before = n || sign == 1 ? text[i - 1] : ' ';
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

/* Begin with a text: its length, cut, and valid. */
static const char *begin_text(struct tm_redactor *r, const char *text, size_t *length)
{
    *length = *length < TM_REDACT_TEXT_MOST ? *length : TM_REDACT_TEXT_MOST;
    r->used = 0;
    r->is_path = r->in_path = false;
    if (tm_utf8_is_valid(text, *length))
        return text;
    *length = make_valid(r->valid, text, *length);
    return r->valid;
}

static tm_status end_text(struct tm_redactor *r, const char **out, size_t *out_length)
{
    r->out[r->used] = '\0';
    *out = r->out;
    *out_length = r->used;
    return r->status;
}

tm_status tm_redact(struct tm_redactor *r, const char *text, size_t length, const char **out, size_t *out_length)
{
    const char *const valid = begin_text(r, text, &length);
    const size_t host = count_device_host(valid, length);

    put_host(r, valid, host);
    redact(r, valid + host, length - host);
    return end_text(r, out, out_length);
}

tm_status tm_redact_path(struct tm_redactor *r, const char *path, size_t length, const char **out, size_t *out_length)
{
    const char *const valid = begin_text(r, path, &length);

    r->is_path = true;
    redact(r, valid, length);
    return end_text(r, out, out_length);
}

static void copy_into(char *to, size_t bytes, const char *text, size_t length)
{
    length = length < bytes ? length : bytes - 1;
    memmove(to, text, length);
    to[length] = '\0';
}

tm_status tm_redact_host(struct tm_redactor *r, char *to, size_t bytes, const char *host)
{
    size_t length = strlen(host);
    tm_status st = TM_OK;

    if (r) {
        const char *const valid = begin_text(r, host, &length);

        put_host(r, valid, length);
        st = end_text(r, &host, &length);
    }
    copy_into(to, bytes, host, length);
    return st;
}

tm_status tm_redact_into(struct tm_redactor *r, char *to, size_t bytes, const char *text)
{
    size_t length = strlen(text);
    tm_status st = r ? tm_redact(r, text, length, &text, &length) : TM_OK;

    copy_into(to, bytes, text, length);
    return st;
}
