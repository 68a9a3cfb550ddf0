/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_DOC_H
#define TM_DOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/run.h"

/* A tree of values: the summary of a run.  Stages write it, findings and reports read it, and renderers compute
 * nothing.  Integers are 64-bit (picoseconds exceed 2^53).  Members keep their insertion order.  A null has its reason.
 *  Lives in an arena of the account `model`; values are not freed individually. */
enum tm_type { TM_NULL, TM_BOOL, TM_INT, TM_DOUBLE, TM_STRING, TM_ARRAY, TM_OBJECT };

struct tm_value;
struct tm_doc;

struct tm_doc *tm_doc_new(struct tm_run *run) TM_MUST_USE; /* NULL: error in run->error */
void tm_doc_free(struct tm_doc *doc);
/* All hosts have been read: give the ledger's memory for launches and threads to the summary, whose tables come now. */
void tm_doc_end_reading(struct tm_doc *doc);
/* Let it grow to N bytes instead of its share, for callers that control all accounts. */
void tm_doc_set_most(struct tm_doc *doc, size_t bytes);
struct tm_run *tm_doc_run(const struct tm_doc *doc);    /* that it was made with */
struct tm_value *tm_doc_root(const struct tm_doc *doc); /* an object; only its creator may change it */

/* Add a member to an object (key) or an element to an array (key NULL).  Strings and keys are copied.  A key
 * that already exists is replaced in its place.  When memory ends, the failure is remembered in run->error
 * and the result is a value that swallows further calls: check tm_doc_status once, at the end. */
struct tm_value *tm_add_object(struct tm_value *to, const char *key);
struct tm_value *tm_add_array(struct tm_value *to, const char *key);
void tm_add_int(struct tm_value *to, const char *key, int64_t value);
void tm_add_uint(struct tm_value *to, const char *key, uint64_t value); /* past int64: a double */
void tm_add_double(struct tm_value *to, const char *key, double value); /* not finite: null */
void tm_add_bool(struct tm_value *to, const char *key, bool value);
void tm_add_string(struct tm_value *to, const char *key, const char *text);
void tm_add_printed(struct tm_value *to, const char *key, const char *format, ...) TM_PRINTF(3, 4); /* up to 1 KiB */
void tm_add_text(struct tm_value *to, const char *key, const char *text, size_t length);            /* any bytes; made
                                                               valid UTF-8 (U+FFFD) when it is added */
/* A string of any bytes, or null with that reason if it is NULL or "". */
void tm_add_known(struct tm_value *to, const char *key, const char *text, const char *why);
void tm_add_null(struct tm_value *to, const char *key, const char *why); /* why: kept for the reports and
                                     printed as member "why": {key: reason} of the same object */

/* Replace the text of a string.
 * in: string  of this document; text: any bytes, not its own */
void tm_set_text(struct tm_doc *doc, struct tm_value *string, const char *text, size_t length);
tm_status tm_doc_status(const struct tm_doc *doc);

/* A member for adding to it; NULL if there is none. */
struct tm_value *tm_member(struct tm_value *object, const char *key);
/* The member of an object, or the element of an array, of that number; NULL if there is none. */
struct tm_value *tm_element(struct tm_value *container, size_t index);

/* Reading.  Every function tolerates NULL and the wrong type (NULL, 0, "" or false). */
enum tm_type tm_type_of(const struct tm_value *v);
const struct tm_value *tm_get(const struct tm_value *object, const char *key);
const struct tm_value *tm_at(const struct tm_value *array, size_t index);
/* The first object of an array whose member `key` is this string; NULL = none. */
const struct tm_value *tm_find(const struct tm_value *array, const char *key, const char *text);
size_t tm_length(const struct tm_value *array_or_object);
const char *tm_key_at(const struct tm_value *object, size_t index);
const struct tm_value *tm_value_at(const struct tm_value *object, size_t index);

int64_t tm_int(const struct tm_value *v); /* a double is rounded */

double tm_double(const struct tm_value *v);        /* an int is converted */
double tm_double_or_nan(const struct tm_value *v); /* the same; NaN = not a number */
const char *tm_text(const struct tm_value *v);

bool tm_is(const struct tm_value *v); /* a bool that is true */

bool tm_has(const struct tm_value *v);                 /* there, and not null */
const char *tm_why(const struct tm_value *null_value); /* "" if none was given */
/* By path: "steps.median_ps", "devices[0].busy_ps", "kpis[device_utilization].value" (an element by its `id`). */
const struct tm_value *tm_path(const struct tm_value *from, const char *path);

/* Print as JSON: two spaces of indentation, members in order, strict UTF-8, doubles with the fewest digits
 * that read back the same, ends with a newline. */
tm_status tm_doc_print(const struct tm_doc *doc, struct tm_run *run, int fd);

/* A value on a line, with blanks only after ':' and ',', for JSON Lines.  Check ferror() for write errors. */
void tm_value_print_line(const struct tm_value *value, FILE *to);

/* The same, with a list that is generated while it is printed: the empty array in the member `list` is replaced by the
 * values that `next` returns, one per line, until it returns NULL. */
typedef const struct tm_value *tm_next_value(void *of);
void tm_value_print_rows(const struct tm_value *value, const char *list, tm_next_value *next, void *of, FILE *to);

/* Add a copy of a value and everything below it as a member (key) or an element (key NULL); nulls keep their reasons.
 * in:     to    not below `from`; of the same document or another; if memory runs out: see tm_doc_status of its
 *         document
 *         from  NULL = a null without a reason */
void tm_add_copy(struct tm_value *to, const char *key, const struct tm_value *from);

/* Parse a document that tm_doc_print printed, or any other JSON, into a tree; printing it again gives the same bytes. 
 * Nulls get their reasons from the member "why" of their object, which is removed if it has no other content.  Integers
 * of 64 bits are integers, other numbers are doubles, and numbers beyond the range of a double are null.  Of duplicate
 * members the last one counts.  The input may be any bytes: strings are made valid UTF-8, nesting and size are limited,
 * and only the tree is kept.
 *
 * in:     bytes  their number; name  of the file, for messages
 * out:    to     gets the members of the object
 * errors: TM_ERR_INPUT with the byte if it is not JSON, or not an object; TM_ERR_LIMIT beyond TM_DOC_BYTES_MOST
 *         bytes, TM_DOC_DEPTH_MOST levels, or TM_DOC_TEXT_MOST bytes of a string, or if memory runs out */
enum { TM_DOC_DEPTH_MOST = 64, TM_DOC_BYTES_MOST = 64 << 20, TM_DOC_TEXT_MOST = 1 << 20 };

tm_status tm_doc_read(struct tm_doc *doc, struct tm_value *to, const char *bytes, size_t length, const char *name);

/* The same of a whole file.  errors: also TM_ERR_INPUT if it cannot be read */
tm_status tm_doc_read_file(struct tm_doc *doc, struct tm_value *to, const char *path);
/* Only what precedes one of its members; what follows is neither read nor checked.
 * in: until  its key; NULL, or a key that the object does not have = all of it */
tm_status tm_doc_read_file_until(struct tm_doc *doc, struct tm_value *to, const char *path, const char *until);

/* The same of an open file, from its position on.
 * in: most  bytes after which it ends, whatever follows; UINT64_MAX = all of it */
tm_status tm_doc_read_from(struct tm_doc *doc, struct tm_value *to, int fd, uint64_t most, const char *name);

struct cJSON;

/* A small JSON text that a user wrote, as a cJSON tree.
 * in:     length  of the text; only blanks may follow its value
 *         act     starts the messages: "use thresholds of"; name  of the file
 * owns:   the caller; cJSON_Delete
 * errors: NULL, with the error set: TM_ERR_USAGE with the byte if it is not JSON; TM_ERR_LIMIT if out of memory,
 *         which cJSON cannot distinguish from an error */
struct cJSON *tm_json_parse(const char *text, size_t length, const char *act, const char *name,
                            struct tm_error *error) TM_MUST_USE;

#endif
