/* SPDX-License-Identifier: Apache-2.0 */
/* Parses framework paths.  JAX writes a transformed function as "transform(name)", nested for each transformation, and
 * adds parts for control flow; TensorFlow puts gradients under gradient_tape.  Sorts the rows of a tree of scopes. */
#include "stages/figures/scopes.h"

#include <stdlib.h>
#include <string.h>

#include "pipeline/record.h"

const char *const tm_scope_pass_name[TM_PASS_COUNT] = { "forward", "backward", "other" };

const char *const tm_custom_name[TM_CUSTOM_COUNT] = { "", "custom_jvp", "custom_vjp" };

enum { WRAPS_MOST = 16, DIGITS_MOST = 18 };

/* A part as it is read. */
struct part {
    const char *at;
    size_t length;
    bool is_wrapped, is_jit; /* was inside a transform; one of them is jit or similar */
};

/* State while a path is read. */
struct reading {
    const char *text;
    struct tm_scope_path *path;
    bool has_jvp, has_transpose;
    const char *rest; /* what comes after the current part */
    size_t rest_length;
    bool after_jit;      /* the part before was jit(...) */
    bool expects_branch; /* it was `while` or `cond`: this one is a branch of it */
    bool is_flat;        /* brackets do not match: every '/' splits */
};

static bool is_text(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(at, word, length) == 0;
}

static bool is_one_of(const char *at, size_t length, const char *const *words)
{
    for (; *words; words++)
        if (is_text(at, length, *words))
            return true;
    return false;
}

/* --- one part --- */

/* The length of the part that starts here: up to a '/' outside of all brackets. */
static size_t part_length(struct reading *r, const char *at, size_t length)
{
    size_t nesting = 0;

    for (size_t i = 0; i < length && !r->is_flat; i++) {
        if (at[i] == '/' && !nesting)
            return i;
        if (at[i] == '(' || at[i] == '[')
            nesting++;
        else if ((at[i] == ')' || at[i] == ']') && nesting)
            nesting--;
    }
    if (nesting)
        r->is_flat = true;
    if (r->is_flat) {
        const char *slash = memchr(at, '/', length);

        return slash ? (size_t)(slash - at) : length;
    }
    return length;
}

/* Whether the bracket that opens at `open` closes with the last byte. */
static bool closes_at_end(const struct part *part, size_t open)
{
    size_t nesting = 0;

    for (size_t i = open; i < part->length; i++) {
        if (part->at[i] == '(')
            nesting++;
        else if (part->at[i] == ')' && --nesting == 0)
            return i + 1 == part->length;
    }
    return false;
}

/* Strip one transform: "jvp(layer_0)" becomes "layer_0". */
static bool unwrap(struct reading *r, struct part *part)
{
    static const char *const calls[] = { "jit", "pjit", "pmap", "xla_call", "xla_pmap", "core_call", NULL };
    static const char *const transforms[] = { "vmap",       "jvp",        "transpose", "vjp",
                                              "linearize",  "checkpoint", "remat",     "rematted_computation",
                                              "custom_jvp", "custom_vjp", "shard_map", "xmap",
                                              "named_call", "soft_pmap",  NULL };
    const char *open = memchr(part->at, '(', part->length);
    const size_t name = open ? (size_t)(open - part->at) : 0;
    const bool is_call = name && is_one_of(part->at, name, calls);

    if (!name || !(is_call || is_one_of(part->at, name, transforms)) || !closes_at_end(part, name))
        return false;
    r->has_jvp |= is_text(part->at, name, "jvp");
    r->has_transpose |= is_text(part->at, name, "transpose");
    r->path->is_recomputed |= is_text(part->at, name, "rematted_computation");
    part->is_jit |= is_call;
    part->is_wrapped = true;
    part->at = open + 1;
    part->length -= name + 2;
    return true;
}

/* --- which parts are scopes --- */

static bool begins(const struct reading *r, const char *word)
{
    return r->rest_length >= strlen(word) && memcmp(r->rest, word, strlen(word)) == 0;
}

/* Control flow: "while/body", "while/cond", "cond/branch_1_fun"; not a scope that only has such a name. */
static bool is_control(struct reading *r, const struct part *part)
{
    if (r->expects_branch) {
        r->expects_branch = false;
        return true;
    }
    if (is_text(part->at, part->length, "while"))
        r->expects_branch = begins(r, "body/") || begins(r, "cond/");
    else if (is_text(part->at, part->length, "cond"))
        r->expects_branch = begins(r, "branch_");
    return r->expects_branch;
}

/* Parts that JAX, Flax, Haiku and TensorFlow add. */
static bool is_structure(struct reading *r, const struct part *part)
{
    /* clang-format off */
    static const char *const words[] = {
        "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call", "custom_jvp_call_jaxpr", "custom_vjp_call_jaxpr", "custom_lin",
        "custom_transpose_call", "custom_partitioning", "checkpoint", "remat", "remat2", "rematted_computation",
        "shard_map", "xmap", "pjit", "xla_call", "xla_pmap", "gradient_tape", "gradients", "~", NULL
    };
    /* clang-format on */

    if (is_control(r, part))
        return true;
    if (!is_one_of(part->at, part->length, words))
        return false;
    r->path->is_recomputed |= is_text(part->at, part->length, "rematted_computation");
    r->has_transpose |= part->length > 8 && memcmp(part->at, "gradient", 8) == 0;
    return true;
}

static bool repeats_last(const struct reading *r, const struct part *part)
{
    const struct tm_scope_part *last;

    if (!r->path->depth)
        return false;
    last = &r->path->parts[r->path->depth - 1];
    return last->length == part->length && memcmp(r->text + last->at, part->at, part->length) == 0;
}

/* "custom_vjp_call", "custom_jvp_call_jaxpr[...]", "transpose(jvp(custom_vjp(f)))"; the transposed part of a custom_vjp
 * is a custom_lin. */
static void note_custom(struct reading *r, const struct part *part)
{
    static const struct {
        const char *word;
        enum tm_custom_derivative custom;
    } words[] = { { "custom_jvp", TM_CUSTOM_JVP }, { "custom_vjp", TM_CUSTOM_VJP }, { "custom_lin", TM_CUSTOM_VJP } };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        const size_t length = strlen(words[i].word);
        const char *const at = memmem(part->at, part->length, words[i].word, length);
        const size_t left = at ? part->length - (size_t)(at - part->at) - length : 0;
        const bool ends = at && (!left || strchr("()[", at[length]) || (left >= 5 && !memcmp(at + length, "_call", 5)));

        if (ends && (at == part->at || at[-1] == '('))
            r->path->custom = words[i].custom;
    }
}

/* in: is_last what is not a wrapped function is then the op itself */
static void take_part(struct reading *r, struct part part, bool is_last)
{
    const bool after_jit = r->after_jit;
    struct tm_scope_path *path = r->path;

    note_custom(r, &part);
    for (unsigned i = 0; i < WRAPS_MOST && unwrap(r, &part); i++)
        ;
    r->after_jit = part.is_jit;
    if (!part.length || (is_last && !part.is_wrapped))
        return;
    if (part.is_wrapped &&
        ((after_jit && part.is_jit && is_text(part.at, part.length, "main")) || repeats_last(r, &part)))
        return; /* "jit(f)/jit(main)", "transpose(jvp(M))/jvp(M)/checkpoint" */
    if (!part.is_jit && is_structure(r, &part))
        return;
    if (path->depth == TM_SCOPE_DEPTH_MOST)
        path->is_cut = true;
    else
        path->parts[path->depth++] = (struct tm_scope_part){ (uint32_t)(part.at - r->text), (uint32_t)part.length };
}

/* XLA joins the paths of ops that it merges into one: "jit(f)/a/reshape;jit(f)/b/mul".  The first one counts. */
static size_t first_path(const char *text, size_t length)
{
    const char *second = memmem(text, length, ";jit(", 5);

    return second ? (size_t)(second - text) : length;
}

void tm_scope_path_read(const char *text, size_t length, struct tm_scope_path *path)
{
    struct reading r = { .text = text, .path = path };
    size_t at = 0;

    *path = (struct tm_scope_path){ .is_cut = length > TM_SCOPE_PATH_MOST };
    length = first_path(text, path->is_cut ? TM_SCOPE_PATH_MOST : length);
    while (at < length) {
        const size_t n = part_length(&r, text + at, length - at);

        r.rest_length = at + n < length ? length - at - n - 1 : 0;
        r.rest = text + length - r.rest_length;
        take_part(&r, (struct part){ .at = text + at, .length = n }, at + n >= length);
        at += n + 1;
    }
    path->pass = r.has_transpose ? TM_PASS_BACKWARD : r.has_jvp ? TM_PASS_FORWARD : TM_PASS_OTHER;
}

void tm_scope_path_keys(const char *text, const struct tm_scope_path *path, struct tm_key *keys)
{
    keys[0] = (struct tm_key){ 0, (uint64_t)path->pass };
    for (uint32_t i = 0; i < path->depth; i++) {
        const struct tm_key link[2] = { keys[i], tm_hash_key(text + path->parts[i].at, path->parts[i].length) };

        keys[i + 1] = tm_hash_key(link, sizeof(link));
    }
}

size_t tm_scope_path_join(const char *text, const struct tm_scope_path *path, uint32_t depth, char *to)
{
    size_t length = 0;

    for (uint32_t i = 0; i < depth && i < path->depth; i++) {
        if (i)
            to[length++] = '/';
        memcpy(to + length, text + path->parts[i].at, path->parts[i].length);
        length += path->parts[i].length;
    }
    return length;
}

bool tm_scope_is_layer(const char *name, size_t length, size_t *digits_at, uint64_t *number)
{
    size_t at = length;

    *number = 0;
    while (at && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    if (at == length || length - at > DIGITS_MOST)
        return false;
    for (size_t i = at; i < length; i++)
        *number = *number * 10 + (uint64_t)(name[i] - '0');
    *digits_at = at;
    return true;
}

/* --- trees --- */

/* Puts rows into the order of their tree.  Memory: 20 bytes per row while it works. */

/* Links of a row; TM_NONE = none. */
struct links {
    uint32_t outer, first, last, next; /* its parent, its first and last child, the next one of its parent */
};

struct tree {
    const uint8_t *rows;
    size_t row_bytes;
    uint32_t count;
    uint32_t *by_key; /* numbers of rows */
    struct links *links;
};

static const struct tm_tree_node *node_at(const struct tree *t, uint32_t number)
{
    return (const struct tm_tree_node *)(const void *)(t->rows + number * t->row_bytes);
}

static int by_key(const void *a, const void *b, void *tree)
{
    return tm_key_order(node_at(tree, *(const uint32_t *)a)->key, node_at(tree, *(const uint32_t *)b)->key);
}

struct wanted {
    const struct tree *t;
    struct tm_key key;
};

static int key_to_node(const void *wanted, const void *number)
{
    const struct wanted *const w = wanted;

    return tm_key_order(w->key, node_at(w->t, *(const uint32_t *)number)->key);
}

static uint32_t find(const struct tree *t, struct tm_key key)
{
    const struct wanted wanted = { t, key };
    const uint32_t *const found = bsearch(&wanted, t->by_key, t->count, sizeof(*t->by_key), key_to_node);

    return found ? *found : TM_NONE;
}

/* Link each row to its parent; *first_root starts the chain of the roots. */
static void link_rows(struct tree *t, tm_tree_is_root *is_root, uint32_t *first_root)
{
    uint32_t last_root = TM_NONE;

    *first_root = TM_NONE;
    for (uint32_t i = 0; i < t->count; i++)
        t->links[i] = (struct links){ TM_NONE, TM_NONE, TM_NONE, TM_NONE };
    for (uint32_t i = 0; i < t->count; i++) {
        const bool root = is_root(node_at(t, i));
        const uint32_t outer = root ? TM_NONE : find(t, node_at(t, i)->outer);
        uint32_t *last = root ? &last_root : outer != TM_NONE ? &t->links[outer].last : NULL;

        if (!last || outer == i)
            continue;
        t->links[i].outer = outer;
        if (*last != TM_NONE)
            t->links[*last].next = i;
        else if (root)
            *first_root = i;
        else
            t->links[outer].first = i;
        *last = i;
    }
}

/* The row after this one; going up, never down, ends at a root. */
static uint32_t next_row(const struct tree *t, uint32_t at)
{
    if (t->links[at].first != TM_NONE)
        return t->links[at].first;
    while (at != TM_NONE && t->links[at].next == TM_NONE)
        at = t->links[at].outer;
    return at == TM_NONE ? TM_NONE : t->links[at].next;
}

tm_status tm_tree_order(struct tm_run *run, enum tm_account account, const void *rows, uint32_t count, size_t row_bytes,
                        tm_tree_is_root *is_root, uint32_t *order, uint32_t *listed)
{
    struct tree t = { .rows = rows, .row_bytes = row_bytes, .count = count };
    const size_t key_bytes = count * sizeof(*t.by_key), link_bytes = count * sizeof(*t.links);
    uint32_t at;

    *listed = 0;
    if (!count)
        return TM_OK;
    t.by_key = tm_take(&run->budget, account, key_bytes, &run->error);
    t.links = t.by_key ? tm_take(&run->budget, account, link_bytes, &run->error) : NULL;
    if (t.links) {
        for (uint32_t i = 0; i < count; i++)
            t.by_key[i] = i;
        qsort_r(t.by_key, count, sizeof(*t.by_key), by_key, &t);
        link_rows(&t, is_root, &at);
        for (; at != TM_NONE; at = next_row(&t, at))
            order[(*listed)++] = at;
    }
    tm_give(&run->budget, account, t.links, t.links ? link_bytes : 0);
    tm_give(&run->budget, account, t.by_key, t.by_key ? key_bytes : 0);
    return t.links ? TM_OK : run->error.status;
}
