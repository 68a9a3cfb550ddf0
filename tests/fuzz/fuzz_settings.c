/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as what users write: a configuration, a table of thresholds, a filter, a pattern, a size, a time, a range, a
 * template of keys.  The first byte chooses which.  Beside what the sanitizers see: a refusal without a reason, numbers that
 * are not those of the text, patterns that fit other texts than fnmatch says, keys that are no text, bands in a wrong order.
 * Seeds: one of each, which seeds_settings.py makes. */
#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <string.h>

#include "pipeline/engine/outputs.h"
#include "pipeline/nightly/manifest.h"
#include "pipeline/options.h"
#include "pipeline/strings.h"
#include "reports/findings/thresholds.h"
#include "tests/fuzz/fuzz_job.h"

static void check_refusal(tm_status st, const struct tm_error *error)
{
    FUZZ_REQUIRE(st == TM_OK || (st == TM_ERR_USAGE && error->status == st && error->what[0]));
}

static void require_text(const char *text, size_t room)
{
    FUZZ_REQUIRE(memchr(text, '\0', room) != NULL && tm_utf8_is_valid(text, strlen(text)));
}

/* --- files --- */

static void read_config(const char *text, size_t length)
{
    static struct tm_setting_set settings;
    struct tm_options options = { .input_count = 0 };
    struct tm_error error = { .status = TM_OK };
    tm_status st;

    tm_settings_init(&settings);
    st = tm_settings_take_config(&settings, "config.json", text, length, &error);
    check_refusal(st, &error);
    if (st == TM_OK) {
        st = tm_settings_apply(&settings, &options, &error);
        check_refusal(st, &error);
    }
    for (int i = 0; st == TM_OK && i < TM_OPTION_COUNT; i++) {
        char value[4096], place[4096];
        const char *const told = tm_settings_text(&settings, (enum tm_option_index)i, value, sizeof(value));

        FUZZ_REQUIRE(!told || strlen(told) <= sizeof(settings.config_text));
        FUZZ_REQUIRE(tm_settings_place(&settings, (enum tm_option_index)i, place, sizeof(place)) != NULL);
    }
}

static void read_thresholds(const char *text, size_t length)
{
    static struct tm_thresholds t, was;
    struct tm_error error = { .status = TM_OK };
    tm_status st;

    FUZZ_REQUIRE(tm_thresholds_init(&t, &error) == TM_OK);
    was = t;
    st = tm_thresholds_apply(&t, "thresholds.json", text, length, &error);
    check_refusal(st, &error);
    for (int i = 0; st == TM_OK && i < TM_KPI_COUNT; i++) {
        const struct tm_threshold *const row = &t.kpi[i];

        require_text(row->title, sizeof(row->title));
        require_text(row->definition, sizeof(row->definition));
        FUZZ_REQUIRE(strcmp(row->unit, was.kpi[i].unit) == 0 && row->higher_is_better == was.kpi[i].higher_is_better);
        FUZZ_REQUIRE(!row->has_bands || (isfinite(row->good) && isfinite(row->bad)));
        FUZZ_REQUIRE(!row->has_bands || (row->higher_is_better ? row->good >= row->bad : row->good <= row->bad));
    }
    for (int i = 0; st == TM_OK && i < TM_LIMIT_COUNT; i++)
        FUZZ_REQUIRE(isfinite(t.limit[i].value));
}

/* --- expressions: a NUL ends them --- */

static void read_filter(const char *text)
{
    struct tm_filter filter = { .count = 0 };
    struct tm_error error = { .status = TM_OK };

    check_refusal(tm_filter_read(&filter, text, "--filter", &error), &error);
    FUZZ_REQUIRE(filter.count <= TM_FILTER_TERMS);
    for (size_t i = 0; i < filter.count; i++)
        FUZZ_REQUIRE(filter.terms[i].kind < TM_FILTER_KINDS && filter.terms[i].begin >= 0 &&
                     (filter.terms[i].kind > TM_FILTER_TIME || filter.terms[i].begin <= filter.terms[i].end));
}

static bool is_ascii(const char *text)
{
    while (*text > 0)
        text++;
    return *text == '\0';
}

/* A pattern, a line end, a text: as POSIX has it, where both have the same signs. */
static void fit_pattern(const char *text)
{
    static char pattern[4096];
    const char *const line = strchr(text, '\n');

    if (!line || (size_t)(line - text) >= sizeof(pattern))
        return;
    memcpy(pattern, text, (size_t)(line - text));
    pattern[line - text] = '\0';
    if (tm_glob_wrong(pattern))
        return;
    const bool fits = tm_glob_fits(pattern, line + 1, strlen(line + 1));

    if (is_ascii(text) && !strpbrk(pattern, "["))
        FUZZ_REQUIRE(fits == (fnmatch(pattern, line + 1, 0) == 0));
}

static void read_size(const char *text)
{
    struct tm_wrong wrong = { NULL, NULL };
    uint64_t bytes = 0;

    if (!tm_read_bytes(text, &bytes, &wrong)) {
        FUZZ_REQUIRE(wrong.reason != NULL);
        return;
    }
    const char *const unit = text + strspn(text, "0123456789");
    const int shift = *unit == '\0' ? 0 : toupper(*unit) == 'K' ? 10 : toupper(*unit) == 'M' ? 20 : 30;

    FUZZ_REQUIRE(bytes >> shift == strtoull(text, NULL, 10) && bytes % (UINT64_C(1) << shift) == 0);
}

static void read_time(const char *text)
{
    struct tm_wrong wrong = { NULL, NULL };
    int64_t ps = -1;
    char *end;

    if (!tm_read_time(text, strlen(text), &ps, &wrong)) {
        FUZZ_REQUIRE(wrong.reason != NULL);
        return;
    }
    const long double number = strtold(text, &end);
    const long double unit = *end == '\0' || *end == 'p' ? 1
                             : *end == 'n'               ? 1e3L
                             : *end == 'm'               ? 1e9L
                             : *end == 's'               ? 1e12L
                                                         : 1e6L;

    FUZZ_REQUIRE(ps >= 0 && fabsl(number * unit - (long double)ps) <= 1e-18L * (long double)ps + 0.5L);
}

static void read_range(const char *text)
{
    uint64_t begin, end;

    if (!tm_read_range(text, &begin, &end))
        return;
    FUZZ_REQUIRE(begin == 0 || begin == strtoull(text, NULL, 10));
    FUZZ_REQUIRE(end == UINT64_MAX || end == strtoull(strchr(text, ':') + 1, NULL, 10));
}

/* --- keys --- */

static void check_keys(const struct tm_run_keys *keys)
{
    require_text(keys->job, sizeof(keys->job));
    require_text(keys->revision, sizeof(keys->revision));
    require_text(keys->label, sizeof(keys->label));
    require_text(keys->training, sizeof(keys->training));
    FUZZ_REQUIRE(keys->job[0] && tm_is_night(keys->night) && keys->step >= -1);
    for (const char *at = keys->job; *at; at++)
        FUZZ_REQUIRE((unsigned char)*at >= 0x20);
}

/* A template, a label and a path, a line each. */
static void read_keys(char *text)
{
    char *const label = strchr(text, '\n'), *const path = label ? strchr(label + 1, '\n') : NULL;
    struct tm_options options = { .keys = *text == '\n' ? NULL : text };
    struct tm_run_keys keys;
    struct tm_run run;

    if (!path)
        return;
    *label = *path = '\0';
    fuzz_run_init(&run);
    if (label[1])
        options.labels = (struct tm_texts){ .text = { label + 1 }, .count = 1 };
    const tm_status st = tm_run_keys_check(&run, &options);

    check_refusal(st, &run.error);
    if (st != TM_OK)
        return;
    (void)tm_run_keys_read(&keys, "/data/root", path + 1, INT64_C(1795204800000000000), &options);
    check_keys(&keys);
}

static void read_operand(const char *text)
{
    struct tm_run_operand operand;

    tm_run_operand_read(&operand, text);
    FUZZ_REQUIRE(operand.path >= text && operand.path <= text + strlen(text));
    FUZZ_REQUIRE(operand.label_length < strlen(text) + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *const text = malloc(size + 1);
    const size_t length = size ? size - 1 : 0;

    FUZZ_REQUIRE(text != NULL);
    if (size)
        memcpy(text, data + 1, length);
    text[length] = '\0';
    switch (size ? data[0] % 10 : 0) {
    case 0:
        read_config(text, length);
        break;
    case 1:
        read_thresholds(text, length);
        break;
    case 2:
        read_filter(text);
        break;
    case 3:
        fit_pattern(text);
        break;
    case 4:
        read_size(text);
        break;
    case 5:
        read_time(text);
        break;
    case 6:
        read_range(text);
        break;
    case 7:
        read_operand(text);
        break;
    default:
        read_keys(text);
        break;
    }
    free(text);
    return 0;
}
