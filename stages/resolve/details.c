/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/resolve/classes.h"
#include "stages/resolve/name_text.h"

/* The composite strings of device events: "key:value" tokens between blanks, in any order.
 * NVIDIA: "regs:R static_shared:B dynamic_shared:B grid:x,y,z block:x,y,z occ_pct:P", earlier "regs:R shm:B
 * grid:... block:..."; AMD: " grid:... block:... private_mem:B group_mem:B occ_pct:P".  Old files have fields of
 * a wrong union in them: a number past its field means that the figure was not recorded. */

static struct tm_text take_token(struct tm_text *rest)
{
    struct tm_text token;
    size_t begin = 0, end;

    while (begin < rest->length && (rest->at[begin] == ' ' || rest->at[begin] == '\n'))
        begin++;
    for (end = begin; end < rest->length && rest->at[end] != ' ' && rest->at[end] != '\n'; end++)
        ;
    token = (struct tm_text){ rest->at + begin, end - begin };
    *rest = tm_text_from(*rest, end);
    return token;
}

/* Splits at the first colon; false if there is none. */
static bool split(struct tm_text token, struct tm_text *key, struct tm_text *value)
{
    const char *colon = token.length ? memchr(token.at, ':', token.length) : NULL;

    if (!colon)
        return false;
    *key = (struct tm_text){ token.at, (size_t)(colon - token.at) };
    *value = tm_text_from(token, key->length + 1);
    return true;
}

/* Digits at the text's begin; false without any or past `most`. */
static bool take_number(struct tm_text *text, uint64_t most, uint64_t *number)
{
    uint64_t value = 0;
    size_t n = 0;

    for (; n < text->length && text->at[n] >= '0' && text->at[n] <= '9'; n++) {
        const unsigned digit = (unsigned)(text->at[n] - '0');

        if (value > (most - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *text = tm_text_from(*text, n);
    *number = value;
    return n > 0;
}

static bool whole_number(struct tm_text text, uint64_t most, uint64_t *number)
{
    return take_number(&text, most, number) && !text.length;
}

/* "x,y,z"; all or nothing. */
static void read_shape(struct tm_text text, uint32_t shape[3])
{
    uint64_t size[3];

    for (int i = 0; i < 3; i++) {
        if (!take_number(&text, UINT32_MAX, &size[i]))
            return;
        if (i < 2 && (!text.length || *text.at != ','))
            return;
        text = tm_text_from(text, 1);
    }
    for (int i = 0; i < 3; i++)
        shape[i] = (uint32_t)size[i];
}

/* Files that were written again by another program hold a number per line. */
static struct tm_text without_blanks(struct tm_text text)
{
    while (text.length && (*text.at == ' ' || *text.at == '\n' || *text.at == '\t' || *text.at == '\r'))
        text = tm_text_from(text, 1);
    return text;
}

void tm_parse_shape(const char *text, size_t length, uint32_t shape[3])
{
    struct tm_text rest = without_blanks((struct tm_text){ text, length });
    uint64_t size[3];

    for (int i = 0; i < 3; i++) {
        if (!tm_text_begins(rest, i ? "," : "["))
            return;
        rest = without_blanks(tm_text_from(rest, 1));
        if (!take_number(&rest, UINT32_MAX, &size[i]))
            return;
        rest = without_blanks(rest);
    }
    if (!tm_text_begins(rest, "]"))
        return;
    for (int i = 0; i < 3; i++)
        shape[i] = (uint32_t)size[i];
}

/* "66.6667" percent in thousandths, to the nearest; 0 (not recorded) for what is no percentage. */
static uint32_t read_percent(struct tm_text text)
{
    uint64_t parts, unit = 1000; /* ten-thousandths */

    if (!take_number(&text, 100, &parts))
        return 0;
    parts *= 10000;
    if (text.length > 1 && *text.at == '.') {
        text = tm_text_from(text, 1);
        for (; text.length && *text.at >= '0' && *text.at <= '9'; unit /= 10) {
            parts += unit * (unsigned)(*text.at - '0');
            text = tm_text_from(text, 1);
        }
    }
    return text.length || parts > 1000000 ? 0 : (uint32_t)((parts + 5) / 10);
}

void tm_parse_kernel_details(const char *text, size_t length, struct tm_config *config)
{
    struct tm_text rest = { text, length }, token, key, value;
    uint64_t number;

    config->has_kernel = 1;
    while ((token = take_token(&rest)).length) {
        if (!split(token, &key, &value))
            continue;
        if (tm_text_is(key, "grid"))
            read_shape(value, config->grid);
        else if (tm_text_is(key, "block"))
            read_shape(value, config->block);
        else if (tm_text_is(key, "occ_pct"))
            config->occupancy_milli = read_percent(value);
        else if (!whole_number(value, UINT32_MAX, &number))
            continue;
        else if (tm_text_is(key, "regs"))
            config->registers = (uint32_t)number;
        else if (tm_text_is(key, "static_shared") || tm_text_is(key, "dynamic_shared") || tm_text_is(key, "shm") ||
                 tm_text_is(key, "group_mem"))
            config->shared_bytes += number;
    }
}

enum memory { MEMORY_UNKNOWN, MEMORY_HOST, MEMORY_DEVICE };

/* "managed" memory may be on either side. */
static enum memory memory_of(struct tm_text kind)
{
    if (tm_text_is(kind, "pageable") || tm_text_is(kind, "pinned"))
        return MEMORY_HOST;
    if (tm_text_is(kind, "device") || tm_text_is(kind, "device_static") || tm_text_is(kind, "array"))
        return MEMORY_DEVICE;
    return MEMORY_UNKNOWN;
}

static enum tm_direction direction_of(enum memory from, enum memory to)
{
    if (from == MEMORY_HOST && to == MEMORY_DEVICE)
        return TM_H2D;
    if (from == MEMORY_DEVICE && to == MEMORY_HOST)
        return TM_D2H;
    return from == MEMORY_DEVICE && to == MEMORY_DEVICE ? TM_D2D : TM_OTHER_DIRECTION;
}

static void read_bytes(struct tm_text value, struct tm_config *config)
{
    uint64_t number;

    if (!whole_number(value, TM_COPY_BYTES_MOST, &number) || !number)
        return; /* ROCm writes 0 where it does not know */
    config->copy_bytes = number;
    config->has_copy_bytes = 1;
}

void tm_parse_copy_details(const char *text, size_t length, struct tm_config *config)
{
    struct tm_text rest = { text, length }, token, key, value;
    enum memory from = MEMORY_UNKNOWN, to = MEMORY_UNKNOWN;

    config->has_copy = 1;
    config->pageable = 0;
    while ((token = take_token(&rest)).length) {
        if (!split(token, &key, &value))
            continue;
        if (tm_text_is(key, "size"))
            read_bytes(value, config);
        else if (tm_text_is(key, "kind_src"))
            from = memory_of(value);
        else if (tm_text_is(key, "kind_dst"))
            to = memory_of(value);
        else
            continue;
        if (tm_text_is(value, "pageable"))
            config->pageable = 1;
    }
    config->direction = (uint8_t)direction_of(from, to);
}

/* As PyTorch's profiler names them. */
static enum memory named_memory(struct tm_text kind)
{
    if (tm_text_is(kind, "Pageable") || tm_text_is(kind, "Pinned") || tm_text_is(kind, "Host"))
        return MEMORY_HOST;
    return tm_text_is(kind, "Device") || tm_text_is(kind, "Array") ? MEMORY_DEVICE : MEMORY_UNKNOWN;
}

void tm_parse_copy_name(const char *text, size_t length, struct tm_config *config)
{
    const char *open = length ? memchr(text, '(', length) : NULL;
    struct tm_text from, to;
    const char *arrow;

    config->has_copy = 1;
    config->pageable = 0;
    config->direction = TM_OTHER_DIRECTION;
    if (!open)
        return;
    to = tm_text_from((struct tm_text){ text, length }, (size_t)(open - text) + 1);
    arrow = to.length ? memmem(to.at, to.length, " -> ", 4) : NULL;
    if (!arrow || to.at[to.length - 1] != ')')
        return;
    from = (struct tm_text){ to.at, (size_t)(arrow - to.at) };
    to = tm_text_from(to, from.length + 4);
    to.length--;
    config->pageable = tm_text_is(from, "Pageable") || tm_text_is(to, "Pageable");
    config->direction = (uint8_t)direction_of(named_memory(from), named_memory(to));
}

void tm_parse_memset_details(const char *text, size_t length, struct tm_config *config)
{
    struct tm_text rest = { text, length }, token, key, value;

    while ((token = take_token(&rest)).length) {
        if (split(token, &key, &value) && tm_text_is(key, "num_bytes"))
            read_bytes(value, config);
    }
}
