/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_REDACT_H
#define TM_REDACT_H

#include <stddef.h>
#include <stdint.h>

#include "pipeline/store/names.h"

/* A keyed hash that cannot be computed or inverted without the key, however many results are known: for data that
 * leaves the program.  (Table hashes such as XXH3 reveal their seed after a few results.)
 * source: J.-P.  Aumasson, D.  J.  Bernstein: SipHash: a fast short-input PRF (2012); here SipHash-2-4 */
struct tm_secret_key {
    uint64_t low, high;
};

uint64_t tm_keyed_hash(struct tm_secret_key key, const void *bytes, size_t length);

/* Pseudonyms for names: published outputs have these instead of words that somebody chose.
 *
 * A string is split at all characters that are not letters or digits.  Each part between them stays or becomes a
 * pseudonym, on its own and always the same one, so equal names stay equal everywhere, and the form of a name stays:
 * "pooler_3/perceiver" becomes "kq7bz4mw_3/rx2gd8kt".  The caller identifies hosts and paths.  These parts stay:
 *     public words (redact.c), also joined as in cudaLaunchKernel, tilesize128x64, f32
 *     single letters, and numbers of up to 4 digits; longer ones where a shape or an instruction has them:
 *     "[131072,8]", "fusion.12345"; but no four numbers that may be an IP address
 * A pseudonym is a keyed hash of the lower-case word, which needs the key to be checked or made: 8 letters and digits,
 * without vowels so that it is never a word, in the case of the word.  Memory: the words seen so far, which spill, and
 * two buffers, all in the account `names`. */
struct tm_redactor;

enum {
    TM_REDACT_TEXT_MOST = 32 << 10, /* longer strings are cut there */
    TM_REDACT_WORD_MOST = 256,      /* longer words are taken in pieces */
    TM_PSEUDONYM_BYTES = 8,
};

/* in:     memory_bytes  for the words
 * errors: NULL, with the error in run->error */
struct tm_redactor *tm_redactor_new(struct tm_run *run, size_t memory_bytes) TM_MUST_USE;
void tm_redactor_free(struct tm_redactor *redactor); /* tolerates NULL */

/* Set a key from elsewhere, or, if there is none yet, derive one from the identity of the input: the fingerprints of
 * its files, in order, then made_of.  The same input gives the same key. */
void tm_redactor_set_key(struct tm_redactor *redactor, struct tm_secret_key key);
void tm_redactor_add_fingerprint(struct tm_redactor *redactor, const char *fingerprint);
void tm_redactor_make_key(struct tm_redactor *redactor);
struct tm_secret_key tm_redactor_key(const struct tm_redactor *redactor);

/* A string without names.  Failures are recorded in run->error, as the status says; a string is returned in any case.
 * in:     text  any bytes
 * out:    *out  valid UTF-8, NUL-terminated, *out_length bytes; valid until the next call */
tm_status tm_redact(struct tm_redactor *redactor, const char *text, size_t length, const char **out,
                    size_t *out_length);

/* The same into a string of N bytes, which may be `text`; what does not fit is cut.
 * in: redactor  NULL: a copy */
tm_status tm_redact_into(struct tm_redactor *redactor, char *to, size_t bytes, const char *text);

/* The name of a host, replaced as a unit, whatever words it contains: "host-kq7bz4mw"; for a device, the host before
 * the slash of "vm/gpu:0", which tm_redact recognizes itself.  The result stays unchanged in later strings. */
tm_status tm_redact_host(struct tm_redactor *redactor, char *to, size_t bytes, const char *host);

/* A host whose name is replaced in all strings from now on, even if it consists of words that normally stay: the
 * complete name ("gpu-node-17.example.com") and its first part. tm_redact_host does this too. */
void tm_redactor_know_host(struct tm_redactor *redactor, const char *host);

/* A path: none of its words stay, except for its endings and parts inside a Python library. tm_redact recognizes an
 * absolute path inside a string itself. */
tm_status tm_redact_path(struct tm_redactor *redactor, const char *path, size_t length, const char **out,
                         size_t *out_length);

/* The words that have pseudonyms, for the map.  A word may occur twice. */
struct tm_names *tm_redactor_words(struct tm_redactor *redactor);
/* in: word  as it was seen; out: pseudonym  TM_PSEUDONYM_BYTES, without a NUL */
void tm_pseudonym(const struct tm_redactor *redactor, const char *word, size_t length, char *pseudonym);

#endif
