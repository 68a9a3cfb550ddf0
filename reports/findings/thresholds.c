/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the table of thresholds: the default one that is built in, and a file that replaces parts
 * of it.  A file is small (its size is checked before it is parsed), and an invalid one is refused:
 * a mistyped name would otherwise disable a limit silently.  Form:
 * schemas/thresholds.json, docs/metrics.md. */
#include "reports/findings/thresholds.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "pipeline/doc/doc.h"
#include "pipeline/strings.h"

const char *const tm_kpi_id[TM_KPI_COUNT] = {
    [TM_KPI_MODEL_FLOP_UTILIZATION] = "model_flop_utilization",
    [TM_KPI_STEP_TIME] = "step_time",
    [TM_KPI_DEVICE_UTILIZATION] = "device_utilization",
    [TM_KPI_KERNEL_DURATION] = "kernel_duration",
    [TM_KPI_SMALL_KERNEL_SHARE] = "small_kernel_share",
    [TM_KPI_HOST_OVERHEAD] = "host_overhead",
    [TM_KPI_MEMORY_BANDWIDTH] = "memory_bandwidth",
    [TM_KPI_COMPILE_TIME] = "compile_time",
    [TM_KPI_UNEXPECTED_COMPILES] = "unexpected_compiles",
    [TM_KPI_PEAK_MEMORY] = "peak_memory",
    [TM_KPI_OCCUPANCY] = "occupancy",
    [TM_KPI_TRANSFER_SHARE] = "transfer_share",
    [TM_KPI_TOP_OP_SHARE] = "top_op_share",
    [TM_KPI_EXPOSED_COLLECTIVE] = "exposed_collective",
    [TM_KPI_IMBALANCE] = "imbalance",
};

const char *const tm_limit_id[TM_LIMIT_COUNT] = {
    [TM_LIMIT_CRITICAL_SHARE] = "critical_share",
    [TM_LIMIT_WARNING_SHARE] = "warning_share",
    [TM_LIMIT_MENTION_SHARE] = "mention_share",
    [TM_LIMIT_DOMINANT_KERNEL] = "dominant_kernel",
    [TM_LIMIT_TARGET_OP] = "target_op",
    [TM_LIMIT_TARGET_OP_LONG] = "target_op_long",
    [TM_LIMIT_ROOF_FAR] = "roof_far",
    [TM_LIMIT_ROOF_REACH] = "roof_reach",
    [TM_LIMIT_MEMORY_BOUND] = "memory_bound",
    [TM_LIMIT_PAUSE_SHARE] = "pause_share",
    [TM_LIMIT_PAGEABLE_SHARE] = "pageable_share",
    [TM_LIMIT_REPEATED_SIZE] = "repeated_size",
    [TM_LIMIT_PING_PONG] = "ping_pong",
    [TM_LIMIT_RECOMPILED] = "recompiled",
    [TM_LIMIT_FRAGMENTATION] = "fragmentation",
    [TM_LIMIT_LOST_EVENTS] = "lost_events",
    [TM_LIMIT_STRAGGLER] = "straggler",
    [TM_LIMIT_SMALL_MESSAGE] = "small_message",
    [TM_LIMIT_BUS_BANDWIDTH] = "bus_bandwidth",
    [TM_LIMIT_PROGRAMS_PER_STEP] = "programs_per_step",
    [TM_LIMIT_LAYOUT_COPIES] = "layout_copies",
    [TM_LIMIT_TAIL] = "tail",
    [TM_LIMIT_SLOW_LAYER] = "slow_layer",
    [TM_LIMIT_SMALL_ALLOCATIONS] = "small_allocations",
    [TM_LIMIT_STEPS_TO_FULL] = "steps_to_full",
    [TM_LIMIT_LONG_LAUNCH] = "long_launch",
};

static_assert(TM_KPI_COUNT <= 32 && TM_LIMIT_COUNT <= 32, "findings are marked as seen by one bit per row");

/* State of the reader: the source of messages, and the single place for a failure. */
struct reading {
    struct tm_thresholds *table;
    const char *file;
    struct tm_error *error;
};

static void refuse(const struct reading *r, const char *where, const char *what)
{
    (void)tm_fail(r->error, TM_ERR_USAGE, -1, "cannot use thresholds of '%s': %s %s", r->file, where, what);
}

static int find_word(const char *word, const char *const *known, int count)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(word, known[i]) == 0)
            return i;
    }
    return -1;
}

/* The index of a word, or -1 with the failure and the nearest known word in the error. */
static int expect_word(const struct reading *r, const char *what, const char *word, const char *const *known, int count)
{
    const int index = find_word(word, known, count);
    struct tm_nearest nearest = { 0 };

    if (index >= 0)
        return index;
    for (int i = 0; i < count; i++)
        tm_nearest_offer(&nearest, word, known[i]);
    (void)tm_fail(r->error, TM_ERR_USAGE, -1, "cannot use thresholds of '%s': unknown %s '%s'", r->file, what, word);
    if (nearest.word)
        tm_hint(r->error, "did you mean '%s'", nearest.word);
    return -1;
}

/* Every key is known and occurs once. */
static void check_keys(const struct reading *r, const cJSON *object, const char *const *known, int count)
{
    uint32_t seen = 0;
    const cJSON *member;

    cJSON_ArrayForEach(member, object)
    {
        const int index = expect_word(r, "key", member->string, known, count);

        if (index < 0)
            return;
        if (seen & 1u << index)
            refuse(r, member->string, "occurs twice");
        seen |= 1u << index;
    }
}

/* Texts appear in reports: valid UTF-8, no control characters, no longer than their place. */
static void take_text(const struct reading *r, const cJSON *row, const char *key, char *out, size_t out_bytes)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(row, key);
    size_t length;

    if (!member)
        return;
    if (!cJSON_IsString(member)) {
        refuse(r, key, "is not a string");
        return;
    }
    length = strlen(member->valuestring);
    if (length == 0 || length >= out_bytes) {
        refuse(r, key, length ? "is too long" : "is empty");
        return;
    }
    if (!tm_utf8_is_valid(member->valuestring, length))
        refuse(r, key, "is not valid UTF-8");
    for (const char *at = member->valuestring; *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            refuse(r, key, "contains a control character");
    }
    memcpy(out, member->valuestring, length + 1);
}

/* A text that may be repeated but not changed: it defines the meaning of the values. */
static void take_fixed_text(const struct reading *r, const cJSON *row, const char *key, char *now, size_t now_bytes)
{
    char before[TM_THRESHOLD_DEFINITION_BYTES];

    memcpy(before, now, now_bytes);
    take_text(r, row, key, now, now_bytes);
    if (before[0] && strcmp(before, now) != 0)
        (void)tm_fail(r->error, TM_ERR_USAGE, -1, "cannot use thresholds of '%s': the %s is '%s', not '%s'", r->file,
                      key, before, now);
}

/* The largest value that makes sense: a share ends at 100 %, but an imbalance may be any multiple.
 */
static double most_of(const char *id, const char *unit)
{
    if (strcmp(unit, "%") != 0)
        return 1e12;
    return strcmp(id, tm_kpi_id[TM_KPI_IMBALANCE]) == 0 ? 1e6 : 100;
}

static void take_number(const struct reading *r, const cJSON *member, const char *id, double most, double *out)
{
    if (!member)
        return;
    if (!cJSON_IsNumber(member))
        (void)tm_fail(r->error, TM_ERR_USAGE, -1, "cannot use thresholds of '%s': '%s' of '%s' is not a number",
                      r->file, member->string, id);
    else if (!isfinite(member->valuedouble) || member->valuedouble < 0 || member->valuedouble > most)
        (void)tm_fail(r->error, TM_ERR_USAGE, -1, "cannot use thresholds of '%s': '%s' of '%s' is %g, outside 0 to %g",
                      r->file, member->string, id, member->valuedouble, most);
    else
        *out = member->valuedouble;
}

/* good and bad: both numbers, in the order that the direction requests, or both null. */
static void take_bands(const struct reading *r, const cJSON *row, const char *id, struct tm_threshold *to)
{
    const cJSON *good = cJSON_GetObjectItemCaseSensitive(row, "good");
    const cJSON *bad = cJSON_GetObjectItemCaseSensitive(row, "bad");
    const double most = most_of(id, to->unit);

    if (!good && !bad)
        return;
    if (good && bad && cJSON_IsNull(good) && cJSON_IsNull(bad)) {
        to->has_bands = false;
        return;
    }
    if (!to->has_bands && !(good && bad))
        refuse(r, id, "has no bands yet and needs both 'good' and 'bad'");
    take_number(r, good, id, most, &to->good);
    take_number(r, bad, id, most, &to->bad);
    to->has_bands = true;
    if (to->higher_is_better ? to->good < to->bad : to->good > to->bad)
        (void)tm_fail(
            r->error, TM_ERR_USAGE, -1,
            "cannot use thresholds of '%s': for '%s', a %s value is better, so 'good' (%g) must not be %s 'bad' (%g)",
            r->file, id, to->higher_is_better ? "higher" : "lower", to->good, to->higher_is_better ? "below" : "above",
            to->bad);
}

static void take_direction(const struct reading *r, const cJSON *row, struct tm_threshold *to, bool is_new)
{
    static const char *const words[] = { "lower", "higher" };
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(row, "direction");
    int index;

    if (!member)
        return;
    if (!cJSON_IsString(member)) {
        refuse(r, "direction", "is not a string");
        return;
    }
    index = expect_word(r, "direction", member->valuestring, words, 2);
    if (index >= 0 && !is_new && to->higher_is_better != (index == 1))
        refuse(r, "direction", "cannot be changed");
    to->higher_is_better = index == 1;
}

static void take_texts(const struct reading *r, const cJSON *row, struct tm_threshold *to)
{
    take_text(r, row, "title", to->title, sizeof(to->title));
    take_fixed_text(r, row, "unit", to->unit, sizeof(to->unit));
    take_text(r, row, "definition", to->definition, sizeof(to->definition));
}

static void take_kpi(const struct reading *r, const cJSON *row, int index)
{
    static const char *const keys[] = { "id", "title", "unit", "direction", "good", "bad", "definition" };
    struct tm_threshold *to = &r->table->kpi[index];
    const bool is_new = to->unit[0] == '\0';

    check_keys(r, row, keys, 7);
    take_texts(r, row, to);
    take_direction(r, row, to, is_new);
    take_bands(r, row, tm_kpi_id[index], to);
}

static void take_limit(const struct reading *r, const cJSON *row, int index)
{
    static const char *const keys[] = { "id", "title", "unit", "value", "definition" };
    struct tm_threshold *to = &r->table->limit[index];

    check_keys(r, row, keys, 5);
    take_texts(r, row, to);
    take_number(r, cJSON_GetObjectItemCaseSensitive(row, "value"), tm_limit_id[index],
                most_of(tm_limit_id[index], to->unit), &to->value);
}

/* A former name of a limit. */
static const char *id_now(const char *id)
{
    return strcmp(id, "bad_share") == 0 ? tm_limit_id[TM_LIMIT_CRITICAL_SHARE] : id;
}

/* One of the two tables: an array of rows, each with a known id that is not named twice. */
static void take_rows(const struct reading *r, const cJSON *root, const char *key, const char *what,
                      const char *const *ids, int count,
                      void (*take)(const struct reading *r, const cJSON *row, int index))
{
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(root, key), *row;
    uint32_t seen = 0;

    if (rows && !cJSON_IsArray(rows))
        refuse(r, key, "is not an array");
    cJSON_ArrayForEach(row, rows)
    {
        const cJSON *id = cJSON_GetObjectItemCaseSensitive(row, "id");
        int index;

        if (!cJSON_IsObject(row) || !cJSON_IsString(id)) {
            refuse(r, key, "has a row without an 'id'");
            return;
        }
        index = expect_word(r, what, id_now(id->valuestring), ids, count);
        if (index < 0)
            return;
        if (seen & 1u << index)
            refuse(r, id->valuestring, "occurs twice");
        seen |= 1u << index;
        take(r, row, index);
    }
}

static void check_schema(const struct reading *r, const cJSON *root)
{
    const cJSON *schema = cJSON_GetObjectItemCaseSensitive(root, "schema");
    const cJSON *version = cJSON_GetObjectItemCaseSensitive(root, "schema_version");

    if (schema && !(cJSON_IsString(schema) && strcmp(schema->valuestring, "tracemill.thresholds") == 0))
        refuse(r, "'schema'", "is not \"tracemill.thresholds\"");
    if (version && !(cJSON_IsNumber(version) && version->valuedouble == 1))
        refuse(r, "'schema_version'", "is not 1");
}

/* The warning limit must not be beyond the critical one. */
static void check_shares(const struct reading *r)
{
    const struct tm_threshold *limit = r->table->limit;

    if (limit[TM_LIMIT_MENTION_SHARE].value > limit[TM_LIMIT_WARNING_SHARE].value ||
        limit[TM_LIMIT_WARNING_SHARE].value > limit[TM_LIMIT_CRITICAL_SHARE].value)
        refuse(r, "the limits", "must rise from mention_share over warning_share to critical_share");
}

static void take_root(const struct reading *r, const cJSON *root)
{
    static const char *const keys[] = { "schema", "schema_version", "kpis", "limits" };

    if (!cJSON_IsObject(root)) {
        refuse(r, "it", "is not a JSON object");
        return;
    }
    check_keys(r, root, keys, 4);
    check_schema(r, root);
    take_rows(r, root, "kpis", "kpi", tm_kpi_id, TM_KPI_COUNT, take_kpi);
    take_rows(r, root, "limits", "limit", tm_limit_id, TM_LIMIT_COUNT, take_limit);
    check_shares(r);
}

tm_status tm_thresholds_apply(struct tm_thresholds *t, const char *name, const char *text, size_t length,
                              struct tm_error *error)
{
    struct tm_thresholds changed = *t;
    const struct reading r = { .table = &changed, .file = name, .error = error };
    cJSON *const root = tm_json_parse(text, length, "use thresholds of", name, error);

    if (root)
        take_root(&r, root);
    cJSON_Delete(root);
    if (!error->status)
        *t = changed;
    return error->status;
}

tm_status tm_thresholds_init(struct tm_thresholds *t, struct tm_error *error)
{
    const char *const name = "schemas/thresholds.json";

    memset(t, 0, sizeof(*t));
    tm_thresholds_apply(t, name, tm_thresholds_json, strlen(tm_thresholds_json), error);
    for (int i = 0; i < TM_KPI_COUNT; i++) {
        if (!t->kpi[i].unit[0] || !t->kpi[i].title[0] || !t->kpi[i].definition[0])
            (void)tm_fail(error, TM_ERR_USAGE, -1, "'%s' has no kpi '%s'", name, tm_kpi_id[i]);
    }
    for (int i = 0; i < TM_LIMIT_COUNT; i++) {
        if (!t->limit[i].unit[0] || !t->limit[i].title[0] || !t->limit[i].definition[0])
            (void)tm_fail(error, TM_ERR_USAGE, -1, "'%s' has no limit '%s'", name, tm_limit_id[i]);
    }
    return error->status;
}

tm_status tm_thresholds_read(struct tm_thresholds *t, const char *path, struct tm_error *error)
{
    static char text[TM_THRESHOLDS_FILE_MOST + 1]; /* too large for a small stack */
    FILE *file = fopen(path, "rbe");
    size_t length = 0;

    if (file) {
        errno = 0;
        length = fread(text, 1, sizeof(text), file);
    }
    if (!file || ferror(file))
        (void)tm_fail_system(error, TM_ERR_USAGE, -1, errno, "cannot read thresholds of '%s'", path);
    else if (length == sizeof(text))
        (void)tm_fail(error, TM_ERR_USAGE, -1, "cannot use thresholds of '%s': larger than %d KiB", path,
                      TM_THRESHOLDS_FILE_MOST >> 10);
    if (file)
        (void)fclose(file);
    return error->status ? error->status : tm_thresholds_apply(t, path, text, length, error);
}

bool tm_threshold_equals(const struct tm_threshold *a, const struct tm_threshold *b)
{
    return a->has_bands == b->has_bands && a->higher_is_better == b->higher_is_better && a->good == b->good &&
           a->bad == b->bad && a->value == b->value && strcmp(a->title, b->title) == 0 &&
           strcmp(a->unit, b->unit) == 0 && strcmp(a->definition, b->definition) == 0;
}

static void add_texts(struct tm_value *to, const char *id, const struct tm_threshold *row)
{
    tm_add_string(to, "id", id);
    tm_add_string(to, "title", row->title);
    tm_add_string(to, "unit", row->unit);
}

void tm_thresholds_add(const struct tm_thresholds *t, struct tm_value *summary)
{
    struct tm_value *table = tm_add_object(summary, "thresholds"), *rows;

    tm_add_string(table, "schema", "tracemill.thresholds");
    tm_add_int(table, "schema_version", 1);
    rows = tm_add_array(table, "kpis");
    for (int i = 0; i < TM_KPI_COUNT; i++) {
        const struct tm_threshold *from = &t->kpi[i];
        struct tm_value *row = tm_add_object(rows, NULL);

        add_texts(row, tm_kpi_id[i], from);
        tm_add_string(row, "direction", from->higher_is_better ? "higher" : "lower");
        if (from->has_bands) {
            tm_add_double(row, "good", from->good);
            tm_add_double(row, "bad", from->bad);
        } else {
            tm_add_null(row, "good", NULL);
            tm_add_null(row, "bad", NULL);
        }
        tm_add_string(row, "definition", from->definition);
    }
    rows = tm_add_array(table, "limits");
    for (int i = 0; i < TM_LIMIT_COUNT; i++) {
        struct tm_value *row = tm_add_object(rows, NULL);

        add_texts(row, tm_limit_id[i], &t->limit[i]);
        tm_add_double(row, "value", t->limit[i].value);
        tm_add_string(row, "definition", t->limit[i].definition);
    }
}
