/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_XSPACE_BUILDER_H
#define TM_XSPACE_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes XSpace bytes for tests: first what is in the profile, then any of the byte strings that the format allows
 * for it.  Names become metadata by themselves; their ids count from 1 unless a test gives one.
 * Field numbers: schemas/xplane.proto. */

/* --- the wire: bytes that grow --- */

struct xb_bytes {
    uint8_t *at;
    size_t length, room;
};

void xb_free(struct xb_bytes *bytes);
void xb_raw(struct xb_bytes *to, const void *data, size_t length);
void xb_varint(struct xb_bytes *to, uint64_t value);
void xb_key(struct xb_bytes *to, uint32_t field, unsigned type);
void xb_number(struct xb_bytes *to, uint32_t field, uint64_t value); /* zero too */
void xb_chunk(struct xb_bytes *to, uint32_t field, const void *data, size_t length);
void xb_double(struct xb_bytes *to, uint32_t field, double value);

/* --- what is in the profile --- */

struct xb_space;
struct xb_plane;
struct xb_line;

struct xb_space *xb_space_new(void);
void xb_space_free(struct xb_space *space);
void xb_error(struct xb_space *space, const char *text);
void xb_warning(struct xb_space *space, const char *text);
void xb_hostname(struct xb_space *space, const char *text);

struct xb_plane *xb_plane(struct xb_space *space, const char *name);
/* A name gets this id instead of the next one. */
void xb_event_id(struct xb_plane *plane, const char *name, int64_t id);
void xb_stat_id(struct xb_plane *plane, const char *name, int64_t id);
void xb_display_name(struct xb_plane *plane, const char *event_name, const char *display_name);
/* Statistics of all events of a name. */
void xb_name_text(struct xb_plane *plane, const char *event_name, const char *stat, const char *text);
void xb_name_number(struct xb_plane *plane, const char *event_name, const char *stat, uint64_t number);
void xb_name_ref(struct xb_plane *plane, const char *event_name, const char *stat, const char *text);
void xb_name_bytes(struct xb_plane *plane, const char *event_name, const char *stat, const struct xb_bytes *bytes);
/* Statistics of the plane. */
void xb_plane_text(struct xb_plane *plane, const char *stat, const char *text);
void xb_plane_number(struct xb_plane *plane, const char *stat, uint64_t number);
void xb_plane_real(struct xb_plane *plane, const char *stat, double real);

struct xb_line *xb_line(struct xb_plane *plane, int64_t id, const char *name, int64_t timestamp_ns);
/* An event; the calls below add to the last one of the line. */
void xb_event(struct xb_line *line, const char *name, int64_t offset_ps, int64_t dur_ps);
/* One with any metadata id, which has no entry unless some name has that id. */
void xb_event_of_id(struct xb_line *line, int64_t id, int64_t offset_ps, int64_t dur_ps);
void xb_occurrences(struct xb_line *line, int64_t count); /* aggregated: no start */
void xb_int(struct xb_line *line, const char *stat, int64_t number);
void xb_uint(struct xb_line *line, const char *stat, uint64_t number);
void xb_real(struct xb_line *line, const char *stat, double real);
void xb_ref(struct xb_line *line, const char *stat, const char *text);
void xb_str(struct xb_line *line, const char *stat, const char *text);
void xb_bytes_value(struct xb_line *line, const char *stat, const void *bytes, size_t length);
/* By any ids, which have no entry unless some name has them. */
void xb_int_of_id(struct xb_line *line, int64_t stat_id, int64_t number);
void xb_ref_of_id(struct xb_line *line, const char *stat, int64_t text_id);
void xb_blob(struct xb_line *line, const char *stat, size_t length); /* bytes_value of that many bytes */

/* --- its bytes --- */

struct xb_style {
    uint64_t
        shuffle; /* seed: the fields of every message in any order, but those of one number in theirs; 0: by number */
    bool metadata_first; /* tables before lines; writers put them behind */
    bool names_last;     /* of planes and lines, behind everything else */
    bool keeps_zeros;    /* numbers of 0 are written, writers leave them out */
    bool unknown_fields; /* fields that no reader knows, in every message */
    bool groups;         /* groups that hold fields of the numbers that readers know */
    bool long_numbers;   /* every varint with needless bytes */
    bool duplicates;     /* every metadata entry has a wrong one before it */
};

void xb_encode(const struct xb_space *space, const struct xb_style *style, struct xb_bytes *to);

#endif
