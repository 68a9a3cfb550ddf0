/* SPDX-License-Identifier: Apache-2.0 */
/* XSpace bytes for tests.  See xspace_builder.h. */
#include "tests/support/xspace_builder.h"

#include <stdlib.h>
#include <string.h>

enum { VARINT = 0, FIXED64 = 1, LEN = 2, GROUP = 3, GROUP_END = 4, FIXED32 = 5 };

static void *grown(void *block, size_t bytes)
{
    void *const more = realloc(block, bytes);

    if (!more)
        abort();
    return more;
}

/* --- the wire --- */

void xb_free(struct xb_bytes *bytes)
{
    free(bytes->at);
    *bytes = (struct xb_bytes){ .length = 0 };
}

void xb_raw(struct xb_bytes *to, const void *data, size_t length)
{
    if (to->length + length > to->room) {
        to->room = 2 * (to->length + length) + 16;
        to->at = grown(to->at, to->room);
    }
    if (length)
        memcpy(to->at + to->length, data, length);
    to->length += length;
}

static void put_varint(struct xb_bytes *to, uint64_t value, bool is_long)
{
    uint8_t bytes[10];
    size_t count = 0;

    do {
        bytes[count++] = (uint8_t)(value | 0x80);
        value >>= 7;
    } while (value || (is_long && count < 4));
    bytes[count - 1] &= 0x7f;
    xb_raw(to, bytes, count);
}

void xb_varint(struct xb_bytes *to, uint64_t value)
{
    put_varint(to, value, false);
}

void xb_key(struct xb_bytes *to, uint32_t field, unsigned type)
{
    xb_varint(to, (uint64_t)field << 3 | type);
}

void xb_number(struct xb_bytes *to, uint32_t field, uint64_t value)
{
    xb_key(to, field, VARINT);
    xb_varint(to, value);
}

void xb_chunk(struct xb_bytes *to, uint32_t field, const void *data, size_t length)
{
    xb_key(to, field, LEN);
    xb_varint(to, length);
    xb_raw(to, data, length);
}

void xb_double(struct xb_bytes *to, uint32_t field, double value)
{
    xb_key(to, field, FIXED64);
    xb_raw(to, &value, sizeof(value));
}

/* --- a message: its fields, put in order at the end --- */

struct field {
    uint32_t number;
    struct xb_bytes bytes;
};

struct message {
    const struct xb_style *style;
    uint64_t *state; /* of the shuffling */
    struct field *fields;
    size_t count, room;
};

static uint64_t next(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return z ^ z >> 31;
}

static struct message message_of(const struct message *parent)
{
    return (struct message){ .style = parent->style, .state = parent->state };
}

static struct xb_bytes *add_field(struct message *m, uint32_t number)
{
    if (m->count == m->room) {
        m->room = 2 * m->room + 8;
        m->fields = grown(m->fields, m->room * sizeof(*m->fields));
    }
    m->fields[m->count] = (struct field){ .number = number };
    return &m->fields[m->count++].bytes;
}

static void put_number(struct message *m, uint32_t number, uint64_t value)
{
    struct xb_bytes *bytes;

    if (!value && !m->style->keeps_zeros)
        return;
    bytes = add_field(m, number);
    put_varint(bytes, (uint64_t)number << 3 | VARINT, m->style->long_numbers);
    put_varint(bytes, value, m->style->long_numbers);
}

static void put_chunk(struct message *m, uint32_t number, const void *data, size_t length)
{
    struct xb_bytes *const bytes = add_field(m, number);

    put_varint(bytes, (uint64_t)number << 3 | LEN, m->style->long_numbers);
    put_varint(bytes, length, m->style->long_numbers);
    xb_raw(bytes, data, length);
}

static void put_text(struct message *m, uint32_t number, const char *text)
{
    put_chunk(m, number, text, strlen(text));
}

/* What no reader knows; the groups hold what would be read as this message's own fields by one that does not skip
 * them. */
static void put_strange_fields(struct message *m)
{
    if (m->style->unknown_fields) {
        xb_number(add_field(m, 901), 901, 7);
        xb_chunk(add_field(m, 902), 902, "later", 5);
        xb_double(add_field(m, 903), 903, 1.5);
        xb_key(add_field(m, 904), 904, FIXED32);
        xb_raw(&m->fields[m->count - 1].bytes, "abcd", 4);
    }
    if (m->style->groups) {
        struct xb_bytes *const bytes = add_field(m, 905);

        xb_key(bytes, 905, GROUP);
        for (uint32_t number = 1; number <= 7; number++) {
            xb_number(bytes, number, 99);
            xb_chunk(bytes, number, "\x08\x63\x12\x01x", 5);
        }
        xb_key(bytes, 2, GROUP);
        xb_number(bytes, 1, 98);
        xb_key(bytes, 2, GROUP_END);
        xb_double(bytes, 2, 97);
        xb_key(bytes, 905, GROUP_END);
    }
}

/* Any order, but of one number the first stays first. */
static void shuffle(struct message *m)
{
    struct field *mixed;

    if (m->count < 2)
        return;
    mixed = grown(NULL, m->count * sizeof(*mixed));
    memcpy(mixed, m->fields, m->count * sizeof(*mixed));
    for (size_t i = m->count - 1; i > 0; i--) {
        const size_t other = next(m->state) % (i + 1);
        const struct field kept = mixed[i];

        mixed[i] = mixed[other];
        mixed[other] = kept;
    }
    for (size_t i = 0; i < m->count; i++) {
        const uint32_t number = mixed[i].number;

        for (size_t k = 0; k < m->count; k++)
            if (m->fields[k].number == number) {
                mixed[i] = m->fields[k];
                m->fields[k].number = UINT32_MAX; /* taken */
                break;
            }
    }
    free(m->fields);
    m->fields = mixed;
}

static struct xb_bytes finish(struct message *m)
{
    struct xb_bytes bytes = { .length = 0 };

    put_strange_fields(m);
    if (m->style->shuffle)
        shuffle(m);
    for (size_t i = 0; i < m->count; i++) {
        xb_raw(&bytes, m->fields[i].bytes.at, m->fields[i].bytes.length);
        xb_free(&m->fields[i].bytes);
    }
    free(m->fields);
    return bytes;
}

static void put_message(struct message *m, uint32_t number, struct message *inner)
{
    struct xb_bytes bytes = finish(inner);

    put_chunk(m, number, bytes.at, bytes.length);
    xb_free(&bytes);
}

/* --- what is in the profile --- */

enum stat_kind { STAT_DOUBLE = 2, STAT_UINT = 3, STAT_INT = 4, STAT_STR = 5, STAT_BYTES = 6, STAT_REF = 7 };

struct stat {
    int64_t id;
    enum stat_kind kind;
    uint64_t number; /* also the length of bytes */
    double real;
    char *text;
};

struct stats {
    struct stat *at;
    size_t count;
};

struct event {
    int64_t id, offset_ps, dur_ps, occurrences;
    struct stats stats;
};

struct entry {
    char *name, *display_name;
    int64_t id;
    struct stats stats;
};

struct table {
    struct entry *at;
    size_t count;
};

struct xb_line {
    struct xb_plane *plane;
    int64_t id, timestamp_ns;
    char *name;
    struct event *events;
    size_t count, room;
};

struct xb_plane {
    char *name;
    struct table event_names, stat_names;
    struct stats stats;
    struct xb_line **lines;
    size_t count;
};

struct text {
    uint32_t field;
    char *text;
};

struct xb_space {
    struct xb_plane **planes;
    size_t count;
    struct text *texts;
    size_t text_count;
};

static char *copy_of(const char *text)
{
    const size_t bytes = strlen(text) + 1;

    return memcpy(grown(NULL, bytes), text, bytes);
}

struct xb_space *xb_space_new(void)
{
    struct xb_space *const space = grown(NULL, sizeof(*space));

    *space = (struct xb_space){ .count = 0 };
    return space;
}

static void free_stats(struct stats *stats)
{
    for (size_t i = 0; i < stats->count; i++)
        free(stats->at[i].text);
    free(stats->at);
}

static void free_table(struct table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        free(table->at[i].name);
        free(table->at[i].display_name);
        free_stats(&table->at[i].stats);
    }
    free(table->at);
}

static void free_line(struct xb_line *line)
{
    for (size_t i = 0; i < line->count; i++)
        free_stats(&line->events[i].stats);
    free(line->events);
    free(line->name);
    free(line);
}

static void free_plane(struct xb_plane *plane)
{
    for (size_t i = 0; i < plane->count; i++)
        free_line(plane->lines[i]);
    free(plane->lines);
    free_table(&plane->event_names);
    free_table(&plane->stat_names);
    free_stats(&plane->stats);
    free(plane->name);
    free(plane);
}

void xb_space_free(struct xb_space *space)
{
    for (size_t i = 0; i < space->count; i++)
        free_plane(space->planes[i]);
    for (size_t i = 0; i < space->text_count; i++)
        free(space->texts[i].text);
    free(space->planes);
    free(space->texts);
    free(space);
}

static void add_text(struct xb_space *space, uint32_t field, const char *text)
{
    space->texts = grown(space->texts, (space->text_count + 1) * sizeof(*space->texts));
    space->texts[space->text_count++] = (struct text){ field, copy_of(text) };
}

void xb_error(struct xb_space *space, const char *text)
{
    add_text(space, 2, text);
}

void xb_warning(struct xb_space *space, const char *text)
{
    add_text(space, 3, text);
}

void xb_hostname(struct xb_space *space, const char *text)
{
    add_text(space, 4, text);
}

struct xb_plane *xb_plane(struct xb_space *space, const char *name)
{
    struct xb_plane *const plane = grown(NULL, sizeof(*plane));

    *plane = (struct xb_plane){ .name = copy_of(name) };
    space->planes = grown(space->planes, (space->count + 1) * sizeof(struct xb_plane *));
    space->planes[space->count++] = plane;
    return plane;
}

static struct entry *entry_of(struct table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++)
        if (!strcmp(table->at[i].name, name))
            return &table->at[i];
    table->at = grown(table->at, (table->count + 1) * sizeof(*table->at));
    table->at[table->count] = (struct entry){ .name = copy_of(name), .id = (int64_t)table->count + 1 };
    return &table->at[table->count++];
}

void xb_event_id(struct xb_plane *plane, const char *name, int64_t id)
{
    entry_of(&plane->event_names, name)->id = id;
}

void xb_stat_id(struct xb_plane *plane, const char *name, int64_t id)
{
    entry_of(&plane->stat_names, name)->id = id;
}

void xb_display_name(struct xb_plane *plane, const char *event_name, const char *display_name)
{
    entry_of(&plane->event_names, event_name)->display_name = copy_of(display_name);
}

static void add_stat_of_id(struct stats *stats, struct stat stat)
{
    stats->at = grown(stats->at, (stats->count + 1) * sizeof(*stats->at));
    stats->at[stats->count++] = stat;
}

static void add_stat(struct xb_plane *plane, struct stats *stats, const char *name, struct stat stat)
{
    stat.id = entry_of(&plane->stat_names, name)->id;
    add_stat_of_id(stats, stat);
}

void xb_name_text(struct xb_plane *plane, const char *event_name, const char *stat, const char *text)
{
    add_stat(plane, &entry_of(&plane->event_names, event_name)->stats, stat,
             (struct stat){ .kind = STAT_STR, .text = copy_of(text) });
}

void xb_name_number(struct xb_plane *plane, const char *event_name, const char *stat, uint64_t number)
{
    add_stat(plane, &entry_of(&plane->event_names, event_name)->stats, stat,
             (struct stat){ .kind = STAT_UINT, .number = number });
}

void xb_name_ref(struct xb_plane *plane, const char *event_name, const char *stat, const char *text)
{
    add_stat(plane, &entry_of(&plane->event_names, event_name)->stats, stat,
             (struct stat){ .kind = STAT_REF, .number = (uint64_t)entry_of(&plane->stat_names, text)->id });
}

void xb_name_bytes(struct xb_plane *plane, const char *event_name, const char *stat, const struct xb_bytes *bytes)
{
    char *const copy = grown(NULL, bytes->length + 1);

    if (bytes->length)
        memcpy(copy, bytes->at, bytes->length);
    add_stat(plane, &entry_of(&plane->event_names, event_name)->stats, stat,
             (struct stat){ .kind = STAT_BYTES, .number = bytes->length, .text = copy });
}

void xb_plane_text(struct xb_plane *plane, const char *stat, const char *text)
{
    add_stat(plane, &plane->stats, stat, (struct stat){ .kind = STAT_STR, .text = copy_of(text) });
}

void xb_plane_number(struct xb_plane *plane, const char *stat, uint64_t number)
{
    add_stat(plane, &plane->stats, stat, (struct stat){ .kind = STAT_UINT, .number = number });
}

void xb_plane_real(struct xb_plane *plane, const char *stat, double real)
{
    add_stat(plane, &plane->stats, stat, (struct stat){ .kind = STAT_DOUBLE, .real = real });
}

struct xb_line *xb_line(struct xb_plane *plane, int64_t id, const char *name, int64_t timestamp_ns)
{
    struct xb_line *const line = grown(NULL, sizeof(*line));

    *line = (struct xb_line){ .plane = plane, .id = id, .timestamp_ns = timestamp_ns, .name = copy_of(name) };
    plane->lines = grown(plane->lines, (plane->count + 1) * sizeof(struct xb_line *));
    plane->lines[plane->count++] = line;
    return line;
}

void xb_event_of_id(struct xb_line *line, int64_t id, int64_t offset_ps, int64_t dur_ps)
{
    if (line->count == line->room) {
        line->room = 2 * line->room + 8;
        line->events = grown(line->events, line->room * sizeof(*line->events));
    }
    line->events[line->count++] = (struct event){ .id = id, .offset_ps = offset_ps, .dur_ps = dur_ps };
}

void xb_event(struct xb_line *line, const char *name, int64_t offset_ps, int64_t dur_ps)
{
    xb_event_of_id(line, entry_of(&line->plane->event_names, name)->id, offset_ps, dur_ps);
}

void xb_occurrences(struct xb_line *line, int64_t count)
{
    line->events[line->count - 1].occurrences = count;
}

static void add_to_last(struct xb_line *line, const char *name, struct stat stat)
{
    add_stat(line->plane, &line->events[line->count - 1].stats, name, stat);
}

void xb_int(struct xb_line *line, const char *stat, int64_t number)
{
    add_to_last(line, stat, (struct stat){ .kind = STAT_INT, .number = (uint64_t)number });
}

void xb_uint(struct xb_line *line, const char *stat, uint64_t number)
{
    add_to_last(line, stat, (struct stat){ .kind = STAT_UINT, .number = number });
}

void xb_real(struct xb_line *line, const char *stat, double real)
{
    add_to_last(line, stat, (struct stat){ .kind = STAT_DOUBLE, .real = real });
}

void xb_ref(struct xb_line *line, const char *stat, const char *text)
{
    add_to_last(line, stat,
                (struct stat){ .kind = STAT_REF, .number = (uint64_t)entry_of(&line->plane->stat_names, text)->id });
}

void xb_str(struct xb_line *line, const char *stat, const char *text)
{
    add_to_last(line, stat, (struct stat){ .kind = STAT_STR, .text = copy_of(text) });
}

void xb_bytes_value(struct xb_line *line, const char *stat, const void *bytes, size_t length)
{
    char *const copy = grown(NULL, length + 1);

    if (length)
        memcpy(copy, bytes, length);
    add_to_last(line, stat, (struct stat){ .kind = STAT_BYTES, .number = length, .text = copy });
}

void xb_int_of_id(struct xb_line *line, int64_t stat_id, int64_t number)
{
    add_stat_of_id(&line->events[line->count - 1].stats,
                   (struct stat){ .id = stat_id, .kind = STAT_INT, .number = (uint64_t)number });
}

void xb_ref_of_id(struct xb_line *line, const char *stat, int64_t text_id)
{
    add_to_last(line, stat, (struct stat){ .kind = STAT_REF, .number = (uint64_t)text_id });
}

void xb_blob(struct xb_line *line, const char *stat, size_t length)
{
    add_to_last(line, stat, (struct stat){ .kind = STAT_BYTES, .number = length });
}

/* --- its bytes --- */

static void put_blob(struct message *m, uint32_t number, size_t length)
{
    uint8_t *const blob = memset(grown(NULL, length + 1), 0x5a, length + 1);

    put_chunk(m, number, blob, length);
    free(blob);
}

static void put_stat(struct message *parent, uint32_t field, const struct stat *stat)
{
    struct message m = message_of(parent);

    put_number(&m, 1, (uint64_t)stat->id);
    switch (stat->kind) {
    case STAT_DOUBLE:
        xb_double(add_field(&m, 2), 2, stat->real);
        break;
    case STAT_STR:
        put_text(&m, 5, stat->text);
        break;
    case STAT_BYTES:
        if (stat->text)
            put_chunk(&m, 6, stat->text, (size_t)stat->number);
        else
            put_blob(&m, 6, (size_t)stat->number);
        break;
    case STAT_UINT:
    case STAT_INT:
    case STAT_REF:
        xb_number(add_field(&m, (uint32_t)stat->kind), (uint32_t)stat->kind, stat->number);
        break;
    }
    put_message(parent, field, &m);
}

static void put_event(struct message *parent, const struct event *event)
{
    struct message m = message_of(parent);

    put_number(&m, 1, (uint64_t)event->id);
    if (event->occurrences)
        put_number(&m, 5, (uint64_t)event->occurrences);
    else
        put_number(&m, 2, (uint64_t)event->offset_ps);
    put_number(&m, 3, (uint64_t)event->dur_ps);
    for (size_t i = 0; i < event->stats.count; i++)
        put_stat(&m, 4, &event->stats.at[i]);
    put_message(parent, 4, &m);
}

static void put_line(struct message *parent, const struct xb_line *line)
{
    struct message m = message_of(parent);

    put_number(&m, 1, (uint64_t)line->id);
    if (!m.style->names_last)
        put_text(&m, 2, line->name);
    put_number(&m, 3, (uint64_t)line->timestamp_ns);
    for (size_t i = 0; i < line->count; i++)
        put_event(&m, &line->events[i]);
    put_number(&m, 9, 12345);
    put_number(&m, 10, 3);
    put_text(&m, 11, "shown name");
    if (m.style->names_last)
        put_text(&m, 2, line->name);
    put_message(parent, 3, &m);
}

/* Of planes and names.  Without groups: protobuf-c, which reads these, knows none. */
static void put_table_stats(struct message *m, uint32_t field, const struct stats *stats)
{
    const struct xb_style *const style = m->style;
    struct xb_style without = *style;

    without.groups = false;
    m->style = &without;
    for (size_t i = 0; i < stats->count; i++)
        put_stat(m, field, &stats->at[i]);
    m->style = style;
}

static void put_entry(struct message *parent, uint32_t field, const struct entry *entry, const char *name)
{
    struct message m = message_of(parent), value = message_of(parent);

    put_number(&value, 1, (uint64_t)entry->id);
    put_text(&value, 2, name);
    if (entry->display_name)
        put_text(&value, 4, entry->display_name);
    put_table_stats(&value, 5, &entry->stats);
    put_number(&m, 1, (uint64_t)entry->id);
    put_message(&m, 2, &value);
    put_message(parent, field, &m);
}

static void put_table(struct message *m, uint32_t field, const struct table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        if (m->style->duplicates)
            put_entry(m, field, &table->at[i], "an entry that is replaced");
        put_entry(m, field, &table->at[i], table->at[i].name);
    }
}

static void put_tables(struct message *m, const struct xb_plane *plane)
{
    put_table(m, 4, &plane->event_names);
    put_table(m, 5, &plane->stat_names);
}

static void put_plane(struct message *parent, const struct xb_plane *plane)
{
    struct message m = message_of(parent);

    put_number(&m, 1, 7);
    if (!m.style->names_last)
        put_text(&m, 2, plane->name);
    if (m.style->metadata_first)
        put_tables(&m, plane);
    for (size_t i = 0; i < plane->count; i++)
        put_line(&m, plane->lines[i]);
    if (!m.style->metadata_first)
        put_tables(&m, plane);
    put_table_stats(&m, 6, &plane->stats);
    if (m.style->names_last)
        put_text(&m, 2, plane->name);
    put_message(parent, 1, &m);
}

void xb_encode(const struct xb_space *space, const struct xb_style *style, struct xb_bytes *to)
{
    uint64_t state = style->shuffle;
    struct message m = { .style = style, .state = &state };
    struct xb_bytes bytes;

    for (size_t i = 0; i < space->count; i++)
        put_plane(&m, space->planes[i]);
    for (size_t i = 0; i < space->text_count; i++)
        put_text(&m, space->texts[i].field, space->texts[i].text);
    bytes = finish(&m);
    xb_raw(to, bytes.at, bytes.length);
    xb_free(&bytes);
}
