/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of options, and how the text of each kind is read.  Nothing is allocated: a value
 * is a number, a choice, or the text itself, which lives as long as the process. */
#include "pipeline/options.h"

#include <string.h>
#include <strings.h>

#include "pipeline/budget.h"
#include "pipeline/nearest.h"

enum {
    RUNS = TM_FOR_REPORT | TM_FOR_INSPECT | TM_FOR_EXTRACT, /* verbs that choose a run */
    JOBS = TM_FOR_ALL & ~TM_FOR_WORDS,
};

/* Table rows are members of the summary, which is in memory: a few hundred bytes each, in about ten
 * tables. */
enum { ROWS_MOST = 10000 };

/* clang-format off */
const struct tm_option tm_option_table[TM_OPTION_COUNT] = {
    [TM_OPTION_OUTPUT] = {
        "output", 'o', TM_KIND_TEXT, "DIR|FILE", NULL, TM_FOR_REPORT | TM_FOR_EXTRACT,
        "TRACEMILL_OUTPUT", "output", NULL,
        "where to write; report: a folder, NAME.report/ in the working folder if not given",
        offsetof(struct tm_options, output) },
    [TM_OPTION_FORMAT] = {
        "format", 0, TM_KIND_FORMATS, "LIST", "html pdf json text partial", TM_FOR_REPORT,
        "TRACEMILL_FORMAT", "format", "html,pdf,json,text",
        "which files to write, joined by commas",
        offsetof(struct tm_options, formats) },
    [TM_OPTION_STEPS] = {
        "steps", 0, TM_KIND_STEPS, "auto|all|A:B", "auto all", TM_FOR_REPORT,
        "TRACEMILL_STEPS", "steps", "auto",
        "the steps that figures are about: auto leaves warm-up and incomplete ones out, all leaves no"
        " activity out, A:B are those from A up to but not B, counted from 0; either end may be open",
        offsetof(struct tm_options, steps) },
    [TM_OPTION_SKIP_STEPS] = {
        "skip-steps", 0, TM_KIND_SKIP, "N", NULL, TM_FOR_REPORT,
        "TRACEMILL_SKIP_STEPS", "skip_steps", "auto",
        "take the first N steps for warm-up; auto finds out by their length and their compilations",
        offsetof(struct tm_options, skip_steps) },
    [TM_OPTION_WINDOW] = {
        "window", 0, TM_KIND_WINDOW, "steps|session", "steps session", TM_FOR_REPORT,
        "TRACEMILL_WINDOW", "window", "steps",
        "the time that shares refer to: from the first to the last activity of the chosen steps, or the"
        " whole profiling session",
        offsetof(struct tm_options, window) },
    [TM_OPTION_GAP_MIN] = {
        "gap-min", 0, TM_KIND_TIME, "TIME", NULL, TM_FOR_REPORT,
        "TRACEMILL_GAP_MIN", "gap_min", "10us",
        "list idle gaps from this length on; sums hold all of them",
        offsetof(struct tm_options, gap_min_ps) },
    [TM_OPTION_ROWS] = {
        "rows", 0, TM_KIND_COUNT, "N", NULL, TM_FOR_REPORT,
        "TRACEMILL_ROWS", "rows", "500",
        "how many rows a table has at most; one more row holds the rest",
        offsetof(struct tm_options, rows) },
    [TM_OPTION_THRESHOLDS] = {
        "thresholds", 0, TM_KIND_TEXT, "FILE", NULL, TM_FOR_REPORT,
        "TRACEMILL_THRESHOLDS", "thresholds", NULL,
        "bands of the key figures, as JSON, in place of the built-in ones",
        offsetof(struct tm_options, thresholds) },
    [TM_OPTION_RUN] = {
        "run", 0, TM_KIND_TEXT, "NAME", NULL, RUNS,
        "TRACEMILL_RUN", "run", NULL,
        "the run to read of a log directory that holds several",
        offsetof(struct tm_options, run_name) },
    [TM_OPTION_LATEST] = {
        "latest", 0, TM_KIND_FLAG, NULL, NULL, RUNS | TM_FOR_LIST,
        "TRACEMILL_LATEST", "latest", "no",
        "the newest run of a log directory that holds several",
        offsetof(struct tm_options, latest) },
    [TM_OPTION_FORCE] = {
        "force", 0, TM_KIND_FLAG, NULL, NULL, TM_FOR_EXTRACT,
        NULL, NULL, "no",
        "replace files that are there already",
        offsetof(struct tm_options, force) },
    [TM_OPTION_JSON] = {
        "json", 0, TM_KIND_FLAG, NULL, NULL, TM_FOR_ALL,
        "TRACEMILL_JSON", "json", "no",
        "print the result on stdout as JSON",
        offsetof(struct tm_options, json) },
    [TM_OPTION_STRICT] = {
        "strict", 0, TM_KIND_FLAG, NULL, NULL, JOBS,
        "TRACEMILL_STRICT", "strict", "no",
        "take any loss in the input for an error: nothing is written then",
        offsetof(struct tm_options, strict) },
    [TM_OPTION_MEMORY] = {
        "memory", 0, TM_KIND_SIZE, "SIZE", NULL, JOBS,
        "TRACEMILL_MEMORY", "memory", "256M",
        "what may be held in memory, at least 32M; more than that goes to spill files",
        offsetof(struct tm_options, memory_bytes) },
    [TM_OPTION_TMP] = {
        "tmp", 0, TM_KIND_TEXT, "DIR", NULL, JOBS,
        "TRACEMILL_TMP", "tmp", NULL,
        "where spill files go; else $TMPDIR, /var/tmp or the output folder",
        offsetof(struct tm_options, tmp) },
    [TM_OPTION_STATS] = {
        "stats", 0, TM_KIND_FLAG, NULL, NULL, TM_FOR_ALL,
        "TRACEMILL_STATS", "stats", "no",
        "print events, rates, memory and spill files on stderr at the end",
        offsetof(struct tm_options, stats) },
    [TM_OPTION_QUIET] = {
        "quiet", 'q', TM_KIND_FLAG, NULL, NULL, TM_FOR_ALL,
        "TRACEMILL_QUIET", "quiet", "no",
        "no progress and no closing words; errors and warnings stay",
        offsetof(struct tm_options, quiet) },
    [TM_OPTION_COLOR] = {
        "color", 0, TM_KIND_COLOR, "auto|always|never", "auto always never", TM_FOR_ALL,
        "TRACEMILL_COLOR", "color", "auto",
        "colors on the terminal; auto means none where NO_COLOR is set",
        offsetof(struct tm_options, color) },
    [TM_OPTION_CONFIG] = {
        "config", 0, TM_KIND_TEXT, "FILE", NULL, TM_FOR_ALL,
        "TRACEMILL_CONFIG", NULL, NULL,
        "read settings from a JSON file",
        offsetof(struct tm_options, config) },
    [TM_OPTION_VERSION] = {
        "version", 'V', TM_KIND_FLAG, NULL, NULL, TM_FOR_ALL,
        NULL, NULL, "no",
        "print the version, and those of the libraries",
        offsetof(struct tm_options, version) },
    [TM_OPTION_HELP] = {
        "help", 'h', TM_KIND_FLAG, NULL, NULL, TM_FOR_ALL,
        NULL, NULL, "no",
        "print help on the verb",
        offsetof(struct tm_options, help) },
};
/* clang-format on */

bool tm_option_is_setting(const struct tm_option *option)
{
    return option->key != NULL;
}

const struct tm_option *tm_option_by_name(const char *name)
{
    for (size_t i = 0; i < TM_OPTION_COUNT; i++) {
        if (strcmp(tm_option_table[i].name, name) == 0)
            return &tm_option_table[i];
    }
    return NULL;
}

const struct tm_option *tm_option_by_key(const char *key)
{
    for (size_t i = 0; i < TM_OPTION_COUNT; i++) {
        if (tm_option_table[i].key && strcmp(tm_option_table[i].key, key) == 0)
            return &tm_option_table[i];
    }
    return NULL;
}

/* One value on its way from text to field: what a reader needs to fill the field or to say what is
 * wrong. */
struct reading {
    const struct tm_option *option;
    const char *text, *origin;
    void *field;
    struct tm_options *options;
    struct tm_error *error;
};

static tm_status refuse(const struct reading *r, const char *reason)
{
    return tm_fail(r->error, TM_ERR_USAGE, -1, "cannot use '%s' for %s: %s", r->text, r->origin,
                   reason);
}

/* Digits at *text, moved past them.  out: false where there are none or the number passes uint64 */
static bool take_digits(const char **text, uint64_t *number)
{
    const char *at = *text;
    uint64_t n = 0;

    for (; *at >= '0' && *at <= '9'; at++) {
        if (__builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, (uint64_t)(*at - '0'), &n))
            return false;
    }
    if (at == *text)
        return false;
    *text = at;
    *number = n;
    return true;
}

static tm_status read_flag(const struct reading *r)
{
    static const char *const yes[] = { "yes", "true", "on", "1" };
    static const char *const no[] = { "no", "false", "off", "0" };

    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        const bool is_yes = strcasecmp(r->text, yes[i]) == 0;

        if (is_yes || strcasecmp(r->text, no[i]) == 0) {
            *(bool *)r->field = is_yes;
            return TM_OK;
        }
    }
    return refuse(r, "it is neither yes nor no");
}

static tm_status read_text(const struct reading *r)
{
    if (!r->text[0])
        return refuse(r, "it is empty");
    *(const char **)r->field = r->text;
    return TM_OK;
}

static tm_status read_size(const struct reading *r)
{
    static const struct {
        const char *name;
        unsigned shift;
    } unit[] = { { "", 0 },     { "K", 10 }, { "KiB", 10 }, { "M", 20 },
                 { "MiB", 20 }, { "G", 30 }, { "GiB", 30 } };
    const char *at = r->text;
    uint64_t number;

    if (!take_digits(&at, &number)) {
        (void)refuse(r, "it is not a size");
        tm_hint(r->error, "a size is a whole number with K, M, G, KiB, MiB or GiB, such as 512M");
        return TM_ERR_USAGE;
    }
    for (size_t i = 0; i < sizeof(unit) / sizeof(unit[0]); i++) {
        if (strcasecmp(at, unit[i].name) != 0)
            continue;
        if (number > (SIZE_MAX >> 1) >> unit[i].shift)
            return refuse(r, "it is more than memory can be");
        if (number << unit[i].shift < (uint64_t)TM_MEMORY_LEAST_MIB * TM_MIB) {
            (void)refuse(r, "it is less than 32M");
            if (!at[0] && number >= TM_MEMORY_LEAST_MIB && number <= 4096)
                tm_hint(r->error, "a number without a unit is bytes; write %sM", r->text);
            else
                tm_hint(r->error, "give 32M or more; 256M is the default");
            return TM_ERR_USAGE;
        }
        *(size_t *)r->field = (size_t)number << unit[i].shift;
        return TM_OK;
    }
    (void)refuse(r, "its unit is not known");
    tm_hint(r->error, "the units are K, M, G, KiB, MiB and GiB; K is 1024 bytes");
    return TM_ERR_USAGE;
}

struct time_unit {
    const char *name;
    int64_t ps;
};

static const struct time_unit *time_unit_of(const char *name)
{
    static const struct time_unit units[] = {
        { "ps", 1 },          { "ns", 1000 },         { "us", 1000000 }, { "\xc2\xb5s", 1000000 },
        { "ms", 1000000000 }, { "s", 1000000000000 },
    };

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(name, units[i].name) == 0)
            return &units[i];
    }
    return NULL;
}

/* WHOLE[.FRACTION]UNIT in picoseconds, exactly: never through a double. */
static tm_status read_time(const struct reading *r)
{
    const char *at = r->text, *fraction = NULL;
    uint64_t whole;
    int64_t ps;

    if (!take_digits(&at, &whole) || whole > INT64_MAX)
        return refuse(r, "it is not a time such as 10us");
    if (*at == '.') {
        fraction = ++at;
        at += strspn(at, "0123456789");
    }
    const struct time_unit *const unit = time_unit_of(at);

    if (!unit && !(whole == 0 && !fraction && !at[0])) {
        (void)refuse(r, at[0] ? "its unit is not known" : "it has no unit");
        tm_hint(r->error, "the units are ns, us, ms and s, as in 10us");
        return TM_ERR_USAGE;
    }
    if (__builtin_mul_overflow((int64_t)whole, unit ? unit->ps : 1, &ps))
        return refuse(r, "it is longer than 106 days");
    for (int64_t digit_ps = unit ? unit->ps : 1; fraction && fraction < at; fraction++) {
        digit_ps /= 10;
        if (digit_ps == 0 && *fraction != '0')
            return refuse(r, "it is finer than a picosecond");
        if (__builtin_add_overflow(ps, digit_ps * (*fraction - '0'), &ps))
            return refuse(r, "it is longer than 106 days");
    }
    *(int64_t *)r->field = ps;
    return TM_OK;
}

static tm_status read_count(const struct reading *r)
{
    const char *at = r->text;
    uint64_t number;

    if (!take_digits(&at, &number) || at[0] || number < 1 || number > ROWS_MOST)
        return refuse(r, "it is not a whole number from 1 to 10000");
    *(uint64_t *)r->field = number;
    return TM_OK;
}

static tm_status read_skip(const struct reading *r)
{
    const char *at = r->text;
    uint64_t number;

    if (strcmp(at, "auto") == 0) {
        *(int64_t *)r->field = -1;
        return TM_OK;
    }
    if (!take_digits(&at, &number) || at[0] || number > INT64_MAX)
        return refuse(r, "it is neither auto nor a whole number");
    *(int64_t *)r->field = (int64_t)number;
    return TM_OK;
}

/* The number that ends at `stop`; nothing at all leaves *number alone. */
static bool read_end(const char *text, const char *stop, uint64_t *number)
{
    return text == stop || (take_digits(&text, number) && text == stop);
}

static tm_status read_steps(const struct reading *r)
{
    const char *const colon = strchr(r->text, ':');
    struct tm_options *const to = r->options;

    to->steps_begin = 0;
    to->steps_end = UINT64_MAX;
    if (strcmp(r->text, "auto") == 0 || strcmp(r->text, "all") == 0) {
        to->steps = r->text[1] == 'u' ? TM_CHOOSE_AUTO : TM_CHOOSE_ALL;
        return TM_OK;
    }
    if (!colon || !r->text[1] || !read_end(r->text, colon, &to->steps_begin) ||
        !read_end(colon + 1, r->text + strlen(r->text), &to->steps_end)) {
        (void)refuse(r, "it is neither auto, nor all, nor A:B");
        tm_hint(r->error, "A is the first step and B the one after the last, counted from 0, as in"
                          " 10:20, 10: or :20");
        return TM_ERR_USAGE;
    }
    if (to->steps_begin >= to->steps_end)
        return refuse(r, "no step lies between its ends");
    to->steps = TM_CHOOSE_RANGE;
    return TM_OK;
}

/* The index of one of the option's words.  out: -1, with the error set, where it is none of them */
static int word_index(const struct reading *r, const char *text, size_t length)
{
    struct tm_nearest nearest = { 0 };
    char typed[64], known[16][16];
    int count = 0;

    for (const char *at = r->option->words; *at && count < 16; count++) {
        const size_t n = strcspn(at, " ");

        if (n == length && memcmp(at, text, n) == 0)
            return count;
        memcpy(known[count], at, n);
        known[count][n] = '\0';
        at += n + (at[n] == ' ');
    }
    length = length < sizeof(typed) ? length : sizeof(typed) - 1;
    memcpy(typed, text, length);
    typed[length] = '\0';
    for (int i = 0; i < count; i++)
        tm_nearest_offer(&nearest, typed, known[i]);
    (void)tm_fail(r->error, TM_ERR_USAGE, -1, "cannot use '%s' for %s: it is none of %s", typed,
                  r->origin, r->option->words);
    if (nearest.word)
        tm_hint(r->error, "did you mean '%s'?", nearest.word);
    return -1;
}

static tm_status read_formats(const struct reading *r)
{
    uint32_t formats = 0;

    for (const char *at = r->text;; at++) {
        const size_t length = strcspn(at, ",");
        const int index = word_index(r, at, length);

        if (index < 0)
            return TM_ERR_USAGE;
        formats |= (uint32_t)1 << index;
        at += length;
        if (!at[0])
            break;
    }
    *(uint32_t *)r->field = formats;
    return TM_OK;
}

/* Choices: the enums are in the order of the words. */
static tm_status read_window(const struct reading *r)
{
    const int index = word_index(r, r->text, strlen(r->text));

    if (index < 0)
        return TM_ERR_USAGE;
    *(enum tm_window *)r->field = (enum tm_window)index;
    return TM_OK;
}

static tm_status read_color(const struct reading *r)
{
    const int index = word_index(r, r->text, strlen(r->text));

    if (index < 0)
        return TM_ERR_USAGE;
    *(enum tm_color *)r->field = (enum tm_color)index;
    return TM_OK;
}

tm_status tm_option_read(const struct tm_option *option, const char *text, const char *origin,
                         struct tm_options *options, struct tm_error *error)
{
    static tm_status (*const readers[])(const struct reading *) = {
        [TM_KIND_FLAG] = read_flag,   [TM_KIND_TEXT] = read_text, [TM_KIND_FORMATS] = read_formats,
        [TM_KIND_SIZE] = read_size,   [TM_KIND_TIME] = read_time, [TM_KIND_COUNT] = read_count,
        [TM_KIND_STEPS] = read_steps, [TM_KIND_SKIP] = read_skip, [TM_KIND_WINDOW] = read_window,
        [TM_KIND_COLOR] = read_color,
    };
    const struct reading reading = {
        .option = option,
        .text = text,
        .origin = origin,
        .field = (char *)options + option->offset,
        .options = options,
        .error = error,
    };

    return readers[option->kind](&reading);
}
