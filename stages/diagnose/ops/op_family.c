/* SPDX-License-Identifier: Apache-2.0 */
/* Families of operations: those whose names are the same without numbers and whose framework paths are the same without
 * the numbers of layers.  A compiler numbers what comes several times, so that 64 layers are 64 operations. */
#include <string.h>

#include "stages/diagnose/ops/ops_private.h"

enum { TEXT_MOST = 4096 }; /* bytes of a text that are looked at */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Without one number at the end, or one mark of the compiler's: "fusion.17", "loop_add_fusion_3", "fusion.clone",
 * "dot.remat2".  The same where there is none. */
static size_t without_one(const char *text, size_t length)
{
    static const char *const marks[] = { ".clone", ".remat" };
    size_t n = length;

    while (n && is_digit(text[n - 1]))
        n--;
    if (n < length && n > 1 && (text[n - 1] == '.' || text[n - 1] == '_'))
        return n - 1;
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        const size_t mark = strlen(marks[i]);

        if (n > mark && !memcmp(text + n - mark, marks[i], mark))
            return n - mark;
    }
    return length;
}

size_t tm_op_family_name(const char *text, size_t length)
{
    size_t left = length;

    do {
        length = left;
        left = without_one(text, length);
    } while (left < length);
    return left;
}

/* "layer_17", "[17]", "blocks.17.attn": the number of a layer stands behind one of these and ends a word. */
static bool is_layer_number(const char *text, size_t begin, size_t end, size_t length)
{
    if (begin == 0 || !strchr("_.[", text[begin - 1]))
        return false;
    return end == length || strchr("/].:,)", text[end]) != NULL;
}

size_t tm_op_family_path(const char *text, size_t length, char *to, size_t most)
{
    size_t used = 0;

    for (size_t i = 0; i < length && used < most;) {
        size_t end = i, n;
        bool is_layer;

        while (end < length && is_digit(text[end]))
            end++;
        is_layer = end > i && is_layer_number(text, i, end, length);
        while (!is_layer && end < length && !is_digit(text[end]))
            end++;
        n = is_layer ? 1 : end - i;
        n = n < most - used ? n : most - used;
        memcpy(to + used, is_layer ? "*" : text + i, n);
        used += n;
        i = end;
    }
    return used;
}

/* Names that compilers give to whatever they fuse: without a path they tell nothing of what it is. */
static bool is_bare(const char *name, size_t length)
{
    static const char *const bare[] = {
        "fusion", "loop_fusion", "input_fusion", "output_fusion", "custom_fusion", "ynn_fusion", "xnn_fusion",
        "onednn_fusion", "call", "command_buffer",
    };

    for (size_t i = 0; i < sizeof(bare) / sizeof(bare[0]); i++)
        if (length == strlen(bare[i]) && !memcmp(name, bare[i], length))
            return true;
    return false;
}

/* What a text is in an operation. */
enum part { NAME_ALONE /* it has no path */, NAME, PATH };

/* A text as the family has it.  One so long that it is cut stays as it is, whole.
 * out: to[TEXT_MOST], *length; *is_whole  the text itself is meant */
static tm_status text_of(struct ops *o, tm_strid id, enum part part, char *to, size_t *length, bool *is_whole)
{
    const char *text;
    const tm_status st = tm_names_text(o->names, id, TEXT_MOST, &text, length);

    *is_whole = *length >= TEXT_MOST;
    if (st != TM_OK || *is_whole)
        return st;
    if (part == PATH) {
        *length = tm_op_family_path(text, *length, to, TEXT_MOST);
        return TM_OK;
    }
    *length = tm_op_family_name(text, *length);
    *is_whole = part == NAME_ALONE && is_bare(text, *length);
    memcpy(to, text, *length);
    return TM_OK;
}

static tm_status key_of(struct ops *o, tm_strid id, enum part part, struct tm_key *key)
{
    char text[TEXT_MOST];
    size_t length = 0;
    bool is_whole = false;
    const tm_status st = text_of(o, id, part, text, &length, &is_whole);

    if (st == TM_OK && is_whole)
        return tm_names_hashes(o->names, &id, 1, key);
    *key = tm_hash_key(text, length);
    return st;
}

tm_status tm_op_family_of(struct ops *o, const struct op_row *row, struct tm_key *family)
{
    struct tm_key halves[2];
    tm_status st = key_of(o, row->name, row->path ? NAME : NAME_ALONE, &halves[0]);

    if (st == TM_OK)
        st = key_of(o, row->path, PATH, &halves[1]);
    if (st == TM_OK)
        *family = tm_hash_key(halves, sizeof(halves));
    return st;
}

static tm_status put_text(struct ops *o, tm_strid id, enum part part, tm_strid *to)
{
    char text[TEXT_MOST];
    size_t length = 0;
    bool is_whole = false;
    const tm_status st = text_of(o, id, part, text, &length, &is_whole);

    *to = id;
    return st == TM_OK && !is_whole ? tm_names_put(o->names, text, length, to) : st;
}

tm_status tm_op_family_texts(struct ops *o, tm_strid name, tm_strid path, tm_strid *family, tm_strid *family_path)
{
    const tm_status st = put_text(o, name, path ? NAME : NAME_ALONE, family);

    *family_path = 0;
    return st == TM_OK && path ? put_text(o, path, PATH, family_path) : st;
}
