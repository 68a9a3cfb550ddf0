/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_JSON_WINDOW_H
#define TM_JSON_WINDOW_H

#include "stages/input/bytes/input_file.h"

/* A window of fixed size that slides over the text of a document.  Whoever walks the text moves a pointer, without
 * asking whether there is more, until he meets the zero byte that stands behind the last byte that was read; then
 * tm_json_more reads on.  That may move what is in the window: pointers into it hold until then, but for `keep`,
 * `token`, and those that `moved` puts right. */
enum {
    TM_JSON_PADDING = 64, /* zero bytes behind the end: what may be loaded beyond it at once */
    TM_JSON_WINDOW_LEAST = 256,
    TM_JSON_WINDOW_DEFAULT = 256 << 10, /* of an L2 cache, with what it is made into */
};

struct tm_json_window {
    struct tm_run *run;
    struct tm_input *input;
    uint8_t *buffer;
    size_t capacity;    /* of the buffer, without the padding */
    size_t read_bytes;  /* read at most so many at once */
    const uint8_t *end; /* behind the last byte that is there */
    uint64_t base;      /* where the buffer's first byte stands in the content */
    bool at_end;        /* nothing follows; also after a failure */
    tm_status status;
    /* What has to stay, or NULL: all from the begin of the event on, else all from the begin of a text or number. */
    const uint8_t *keep, *token;
    void (*moved)(void *to, size_t by); /* everything has moved to the front by so many bytes */
    void (*outgrown)(void *to);         /* what is kept does not fit: it is copied elsewhere and no longer kept */
    void *to;
};

/* bytes: of the window; at least TM_JSON_WINDOW_LEAST.  run, input, read_bytes and the two calls are set.
 * errors: in run->error */
tm_status tm_json_window_open(struct tm_json_window *window, size_t bytes) TM_MUST_USE;
void tm_json_window_close(struct tm_json_window *window); /* tolerates a zeroed one */

/* Read on.  A token that fills the window is cut: what is left of it is longer than tm_json_longest, and only as much
 * of it is as it was.
 * in:     at == window->end
 * out:    where `at` is now: a byte that has been read, or window->end where nothing follows */
const uint8_t *tm_json_read_on(struct tm_json_window *window, const uint8_t *at);

static inline const uint8_t *tm_json_more(struct tm_json_window *window, const uint8_t *at)
{
    return at == window->end ? tm_json_read_on(window, at) : at;
}

/* Move what is there from `at` on to the front, and read until the window is full or nothing follows. */
void tm_json_fill(struct tm_json_window *window, const uint8_t *at);

/* Where a byte of the window stands in the content. */
static inline uint64_t tm_json_offset(const struct tm_json_window *window, const uint8_t *at)
{
    return window->base + (uint64_t)(at - window->buffer);
}

/* The longest text that is kept whole. */
static inline size_t tm_json_longest(const struct tm_json_window *window)
{
    return window->capacity / 2;
}

/* Step over a word.
 * out:    *fits  the text goes on with it; else where it differs is returned */
const uint8_t *tm_json_walk_word(struct tm_json_window *window, const uint8_t *at, const char *word, bool *fits);

#endif
