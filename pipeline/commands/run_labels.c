/* SPDX-License-Identifier: Apache-2.0 */
/* What runs are called beside one another: the shortest end of each path, in whole parts, that no
 * other path has; of long ones what they do not share. */
#include "pipeline/commands/run_labels.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/commands/out_place.h"

enum { NUMBER_BYTES = 12 /* " #4096" and some room */, LONG_BYTES = 24 /* what charts have room for */ };

struct piece {
    const char *text;
    size_t length;
};

static struct piece without_slashes(struct piece p)
{
    while (p.length > 0 && p.text[p.length - 1] == '/')
        p.length--;
    return p;
}

/* Where the last part begins. */
static size_t last_part(struct piece p)
{
    size_t at = p.length;

    while (at > 0 && p.text[at - 1] != '/')
        at--;
    return at;
}

static bool is_text(struct piece p, const char *text)
{
    return p.length == strlen(text) && memcmp(p.text, text, p.length) == 0;
}

/* What tells of a path which run it is: without the name that every summary has, and without
 * endings. */
static struct piece telling_part(const struct tm_loaded_run *run)
{
    static const char file[] = "summary.json";
    struct piece p = without_slashes((struct piece){ run->path, strlen(run->path) });
    struct piece last = { p.text + last_part(p), p.length - last_part(p) };

    if (is_text(last, file))
        p = without_slashes((struct piece){ p.text, p.length - last.length });
    last = (struct piece){ p.text + last_part(p), p.length - last_part(p) };
    if (is_text(last, "") || is_text(last, ".") || is_text(last, "..") || is_text(last, "-")) {
        p.text = tm_text(tm_path(tm_doc_root(run->doc), "input.run"));
        p.length = strlen(p.text);
        last = p;
    }
    p.length -= last.length - tm_plain_name_length(last.text, last.length);
    return p;
}

/* The last `parts` parts of it; all of it where there are not so many. */
static struct piece ending_of(struct piece p, size_t parts)
{
    size_t at = p.length;

    for (; parts > 0 && at > 0; parts--) {
        while (at > 0 && p.text[at - 1] == '/')
            at--;
        while (at > 0 && p.text[at - 1] != '/')
            at--;
    }
    return (struct piece){ p.text + at, p.length - at };
}

static bool is_same(struct piece a, struct piece b)
{
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

/* True if another path has that ending; what is wholly the same no ending tells apart. */
static bool another_has(const struct tm_loaded_run *run, const struct tm_run_operand *operand,
                        size_t count, struct piece whole, struct piece ending, size_t parts)
{
    for (size_t i = 0; i < count; i++) {
        const struct piece other = telling_part(&run[i]);

        if (!operand[i].label_length && !is_same(other, whole) &&
            is_same(ending_of(other, parts), ending))
            return true;
    }
    return false;
}

static struct piece shortest_ending(const struct tm_loaded_run *run,
                                    const struct tm_run_operand *operand, size_t count, size_t of)
{
    const struct piece whole = telling_part(&run[of]);
    struct piece ending = ending_of(whole, 1);

    for (size_t parts = 1;
         ending.length < whole.length && another_has(run, operand, count, whole, ending, parts);)
        ending = ending_of(whole, ++parts);
    return ending;
}

/* --- long labels --- */

static bool is_separator(char c)
{
    return strchr("-_/. ", c) != NULL;
}

/* How many bytes all labels begin with (or end with), up to and with a separator. */
static size_t shared_bytes(const struct tm_loaded_run *run, size_t count, bool at_end)
{
    const size_t first = strlen(run[0].label);
    size_t shared = 0;

    for (size_t n = 0; n + 1 < first; n++) {
        const char c = run[0].label[at_end ? first - 1 - n : n];

        for (size_t i = 1; i < count; i++) {
            const size_t length = strlen(run[i].label);

            if (n + 1 >= length || run[i].label[at_end ? length - 1 - n : n] != c)
                return shared;
        }
        if (is_separator(c))
            shared = n + 1;
    }
    return shared;
}

/* Where one has no room beside a chart, all lose what they share at their two ends, "bench-h100-train" and
 * "bench-mi300-train" are "h100" and "mi300", unless nothing would be left of one, or a user gave one. */
static void shorten(struct tm_loaded_run *run, size_t count)
{
    const size_t begin = count > 1 ? shared_bytes(run, count, false) : 0;
    const size_t end = count > 1 ? shared_bytes(run, count, true) : 0;
    bool is_long = false;

    for (size_t i = 0; i < count; i++) {
        is_long |= strlen(run[i].label) > LONG_BYTES;
        if (run[i].is_labelled || strlen(run[i].label) <= begin + end)
            return;
    }
    for (size_t i = 0; i < count && is_long; i++) {
        const size_t length = strlen(run[i].label) - begin - end;

        memmove(run[i].label, run[i].label + begin, length);
        run[i].label[length] = '\0';
    }
}

static bool is_taken(const char *label, tm_other_label *other, const void *of, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(other(of, i), label) == 0)
            return true;
    return false;
}

void tm_make_label_distinct(char label[TM_LABEL_BYTES], tm_other_label *other, const void *of,
                            size_t count)
{
    char plain[TM_LABEL_BYTES - NUMBER_BYTES];

    tm_clean_text(plain, sizeof(plain), label, strlen(label));
    for (unsigned number = 2; is_taken(label, other, of, count); number++)
        (void)snprintf(label, TM_LABEL_BYTES, "%s #%u", plain, number);
}

static const char *label_of_run(const void *of, size_t i)
{
    return ((const struct tm_loaded_run *)of)[i].label;
}

void tm_label_runs(struct tm_loaded_run *run, const struct tm_run_operand *operand, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        run[i].is_labelled = operand[i].label_length > 0;
        const struct piece said = run[i].is_labelled
                                      ? (struct piece){ operand[i].label, operand[i].label_length }
                                      : shortest_ending(run, operand, count, i);

        tm_clean_text(run[i].label, sizeof(run[i].label), said.text, said.length);
        if (!run[i].label[0])
            (void)snprintf(run[i].label, sizeof(run[i].label), "run");
    }
    shorten(run, count);
    for (size_t i = 0; i < count; i++)
        tm_make_label_distinct(run[i].label, label_of_run, run, i);
}
