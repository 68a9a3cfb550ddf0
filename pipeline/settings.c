/* SPDX-License-Identifier: Apache-2.0 */
/* From a command line, an environment and a configuration file to one set of effective settings:
 * flags, then TRACEMILL_*, then the file, then the defaults.  The set keeps strings only; values are
 * read from them in one place, so that every origin obeys the same rules.  Configuration files are
 * small, hence whole in memory. */
#include "pipeline/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "pipeline/doc/doc.h"
#include "pipeline/strings.h"

/* What getopt_long returns for row i: LONG_OPTION + i, past all letters. */
enum { LONG_OPTION = 1000 };

void tm_settings_init(struct tm_setting_set *set)
{
    set->config_path = NULL;
    set->config_used = 0;
    for (size_t i = 0; i < TM_OPTION_COUNT; i++) {
        set->of[i].text = tm_option_table[i].kind == TM_KIND_FLAG ? "no" : tm_option_table[i].fallback;
        set->of[i].origin = TM_ORIGIN_DEFAULT;
        set->lists[i].count = 0;
    }
}

/* An option takes a string.  A source of higher precedence replaces the value; for an option that may be repeated,
 * values of the same source are added.
 * out:    false: there are more than can be kept */
static bool set_text(struct tm_setting_set *set, size_t index, const char *text, enum tm_setting_origin origin)
{
    struct tm_setting *const to = &set->of[index];

    if (tm_option_is_list(&tm_option_table[index])) {
        struct tm_texts *const list = &set->lists[index];

        list->count = to->origin == origin ? list->count : 0;
        if (list->count == TM_TEXTS_MOST)
            return false;
        list->text[list->count++] = text;
    }
    *to = (struct tm_setting){ .text = text, .origin = origin };
    return true;
}

/* ---- the command line ---- */

struct getopt_tables {
    struct option longs[TM_OPTION_COUNT + 1];
    char letters[2 + 3 * TM_OPTION_COUNT + 1];
};

/* in: words  by blanks */
static bool has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);

    for (const char *at = words; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strcspn(at, " ") == length && memcmp(at, word, length) == 0)
            return true;
    return false;
}

/* in:     verb  as far as it is known; NULL = not yet */
static void make_tables(struct getopt_tables *tables, const char *verb)
{
    char *letter = tables->letters;
    size_t count = 0;

    *letter++ = '-'; /* operands in their place, as option 1 */
    *letter++ = ':'; /* a missing argument is distinguished */
    for (int i = 0; i < TM_OPTION_COUNT; i++) {
        const struct tm_option *const row = &tm_option_table[i];

        if (row->of_verbs && (!verb || !has_word(row->of_verbs, verb)))
            continue;
        tables->longs[count++] = (struct option){
            .name = row->name,
            .has_arg = row->kind == TM_KIND_FLAG ? optional_argument : required_argument,
            .val = LONG_OPTION + i,
        };
        if (!row->letter)
            continue;
        *letter++ = row->letter;
        if (row->kind != TM_KIND_FLAG)
            *letter++ = ':';
    }
    *letter = '\0';
    tables->longs[count] = (struct option){ .name = NULL };
}

static tm_status refuse_unknown(const char *typed, struct tm_error *error)
{
    struct tm_nearest nearest = { 0 };
    const size_t length = strcspn(typed, "=");
    /* Without its value; what is longer is cut in a message anyway. */
    char name[TM_ERROR_TEXT] = "";

    memcpy(name, typed, length < sizeof(name) ? length : sizeof(name) - 1);
    (void)tm_fail(error, TM_ERR_USAGE, -1, "unknown option '%s'", name);
    for (size_t i = 0; i < TM_OPTION_COUNT && strncmp(name, "--", 2) == 0; i++)
        tm_nearest_offer(&nearest, name + 2, tm_option_table[i].name);
    if (nearest.word)
        tm_hint(error, "did you mean '--%s'?", nearest.word);
    else
        tm_hint(error, "'tracemill help' lists the verbs, 'tracemill help VERB' the options of a verb");
    return TM_ERR_USAGE;
}

/* The text of the option as it was typed, for messages. */
static tm_status refuse_element(const char *element, int letter, struct tm_error *error)
{
    const char typed[] = { '-', (char)letter, '\0' };

    return refuse_unknown(letter && strncmp(element, "--", 2) != 0 ? typed : element, error);
}

static int index_of_letter(int letter)
{
    for (int i = 0; i < TM_OPTION_COUNT; i++) {
        if (tm_option_table[i].letter && tm_option_table[i].letter == letter)
            return i;
    }
    return -1;
}

static bool is_whole_name(const char *element, const struct tm_option *row)
{
    const size_t length = strlen(row->name);

    return strncmp(element, "--", 2) == 0 && strncmp(element + 2, row->name, length) == 0 &&
           (element[2 + length] == '\0' || element[2 + length] == '=');
}

/* One answer of getopt_long other than an operand.
 * in:     element  the word of the command line that it was found in */
static tm_status take_flag(struct tm_setting_set *set, int answer, const char *element, struct tm_error *error)
{
    if (answer == '?')
        return refuse_element(element, optopt, error);

    const int named = answer == ':' ? optopt : answer;
    const int index = named >= LONG_OPTION ? named - LONG_OPTION : index_of_letter(named);

    if (index < 0)
        return refuse_element(element, named, error);

    const struct tm_option *const row = &tm_option_table[index];

    if (named >= LONG_OPTION && !is_whole_name(element, row))
        return refuse_unknown(element, error);
    if (answer == ':') {
        (void)tm_fail(error, TM_ERR_USAGE, -1, "'--%s' needs a value: %s", row->name, row->argument);
        tm_hint(error, "write '--%s %s'", row->name, row->fallback ? row->fallback : row->argument);
        return TM_ERR_USAGE;
    }
    if (!set_text(set, (size_t)index, optarg ? optarg : "yes", TM_ORIGIN_FLAG))
        return tm_fail(error, TM_ERR_USAGE, -1, "'--%s' is given more than %d times", row->name, TM_TEXTS_MOST);
    return TM_OK;
}

/* The words of a command line up to its end, or up to the "--" that ends the options.
 * in:     argv  argv[0] is not examined
 *         operands  get those that are there, which are `count` then
 * out:    end   the number of the "--"; argc if there is none */
static tm_status take_words(struct tm_setting_set *set, int argc, char **argv, char **operands, size_t *count, int *end,
                            struct tm_error *error)
{
    struct getopt_tables tables = { .letters = "" };

    make_tables(&tables, *count ? operands[0] : NULL);
    optind = 0; /* start again: glibc's way */
    opterr = 0;
    for (;;) {
        *end = optind ? optind : 1;
        optopt = 0;
        const int answer = getopt_long(argc, argv, tables.letters, tables.longs, NULL);

        if (answer == -1)
            return TM_OK;
        if (answer == 1) {
            operands[(*count)++] = optarg; /* never past the word that was just read */
            if (*count == 1)
                make_tables(&tables, operands[0]);
            continue;
        }
        const tm_status st = take_flag(set, answer, argv[*end], error);

        if (st)
            return st;
    }
}

tm_status tm_settings_take_flags(struct tm_setting_set *set, int argc, char **argv,
                                 bool (*has_groups)(const char *verb), size_t *operand_count, struct tm_error *error)
{
    char **const operands = argv + 1;
    size_t count = 0;
    int at = 0;

    *operand_count = 0;
    while (at < argc) {
        int end;
        const tm_status st = take_words(set, argc - at, argv + at, operands, &count, &end, error);

        if (st)
            return st;
        at += end;
        if (at < argc && count > 1 && has_groups && has_groups(operands[0])) {
            operands[count++] = argv[at];
            continue;
        }
        while (++at < argc)
            operands[count++] = argv[at];
    }
    *operand_count = count;
    return TM_OK;
}

tm_status tm_settings_check_verb(const struct tm_setting_set *set, const char *verb, tm_verb_bits bit,
                                 struct tm_error *error)
{
    for (size_t i = 0; i < TM_OPTION_COUNT; i++) {
        const struct tm_option *const row = &tm_option_table[i];
        /* `config show` prints any setting. */
        const bool is_taken = (row->verbs & bit) || (bit == TM_FOR_CONFIG && tm_option_is_setting(row));

        if (set->of[i].origin != TM_ORIGIN_FLAG || is_taken)
            continue;
        (void)tm_fail(error, TM_ERR_USAGE, -1, "'%s' does not support '--%s'", verb, row->name);
        tm_hint(error, "'tracemill help %s' lists its options", verb);
        return TM_ERR_USAGE;
    }
    return TM_OK;
}

/* ---- the configuration file ---- */

/* The copy of a string that lives as long as the set.  A decoded JSON text is never longer than its
 * source, and integers are short, so twice the file always suffices. */
static const char *keep(struct tm_setting_set *set, const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *const at = set->config_text + set->config_used;

    if (bytes > sizeof(set->config_text) - set->config_used)
        return NULL;
    memcpy(at, text, bytes);
    set->config_used += bytes;
    return at;
}

static tm_status refuse_member(const char *path, const char *key, const char *reason, struct tm_error *error)
{
    return tm_fail(error, TM_ERR_USAGE, -1, "cannot use '%s' in '%s': %s", key, path, reason);
}

static tm_status refuse_key(const char *path, const char *key, struct tm_error *error)
{
    char known[TM_OPTION_COUNT][TM_OPTION_NAME_BYTES];
    struct tm_nearest nearest = { 0 };

    for (size_t i = 0; i < TM_OPTION_COUNT; i++) {
        if (tm_option_key(&tm_option_table[i], known[i]))
            tm_nearest_offer(&nearest, key, known[i]);
    }
    (void)refuse_member(path, key, "there is no such setting", error);
    if (nearest.word)
        tm_hint(error, "did you mean '%s'?", nearest.word);
    else
        tm_hint(error, "'tracemill config show' lists the settings");
    return TM_ERR_USAGE;
}

/* ["html", "pdf"] as "html,pdf" */
static const char *join(const cJSON *array, char *out, size_t out_bytes)
{
    size_t used = 0;
    const cJSON *word;

    out[0] = '\0';
    cJSON_ArrayForEach(word, array)
    {
        const size_t length = cJSON_IsString(word) ? strlen(word->valuestring) : out_bytes;

        if (length + 2 > out_bytes - used)
            return NULL;
        if (used)
            out[used++] = ',';
        memcpy(out + used, word->valuestring, length + 1);
        used += length;
    }
    return out;
}

/* The text of a JSON value, as if it had been typed on the command line.
 * out: NULL, with *wanted = what it should have been, where the type is wrong */
static const char *member_text(const cJSON *member, const struct tm_option *row, char *scratch, size_t scratch_bytes,
                               const char **wanted)
{
    const enum tm_option_kind kind = row->kind;
    const bool is_list = tm_option_is_list(row);
    const bool is_number = kind == TM_KIND_SIZE || kind == TM_KIND_NUMBER;

    *wanted = kind == TM_KIND_FLAG    ? "it is not true or false"
              : kind == TM_KIND_WORDS ? "it is not a list of strings"
              : is_list               ? "it is neither a string nor a list of strings"
              : is_number             ? "it is neither a string nor an integer"
                                      : "it is not a string";
    if (kind == TM_KIND_FLAG)
        return cJSON_IsBool(member) ? (cJSON_IsTrue(member) ? "yes" : "no") : NULL;
    if (cJSON_IsString(member))
        return member->valuestring;
    if (kind == TM_KIND_WORDS && cJSON_IsArray(member))
        return join(member, scratch, scratch_bytes);
    if (!is_number || !cJSON_IsNumber(member))
        return NULL;

    const double number = member->valuedouble; /* integers are exact up to 2^53 */

    if (!(number >= 0 && number <= 9007199254740992.0) || number != (double)(uint64_t)number)
        return NULL;
    (void)snprintf(scratch, scratch_bytes, "%llu", (unsigned long long)number);
    return scratch;
}

static tm_status take_value(struct tm_setting_set *set, const cJSON *value, const char *key,
                            const struct tm_option *row, struct tm_error *error)
{
    const size_t index = (size_t)(row - tm_option_table);
    char scratch[256];
    const char *wanted;
    const char *text = member_text(value, row, scratch, sizeof(scratch), &wanted);

    if (!text)
        return refuse_member(set->config_path, key, wanted, error);
    if (set->of[index].origin > TM_ORIGIN_CONFIG)
        return TM_OK;
    text = keep(set, text);
    if (!text)
        return refuse_member(set->config_path, key, "the file is too long", error);
    return set_text(set, index, text, TM_ORIGIN_CONFIG)
               ? TM_OK
               : refuse_member(set->config_path, key, "there are too many", error);
}

static tm_status take_member(struct tm_setting_set *set, const cJSON *member, bool seen[TM_OPTION_COUNT],
                             struct tm_error *error)
{
    const struct tm_option *const row = tm_option_by_key(member->string);

    if (!row)
        return refuse_key(set->config_path, member->string, error);

    const size_t index = (size_t)(row - tm_option_table);

    if (seen[index])
        return refuse_member(set->config_path, member->string, "it is given twice", error);
    seen[index] = true;
    if (tm_option_is_list(row) && cJSON_IsArray(member)) {
        tm_status st = TM_OK;
        const cJSON *each;

        cJSON_ArrayForEach(each, member) st = st ? st : take_value(set, each, member->string, row, error);
        return st;
    }
    return take_value(set, member, member->string, row, error);
}

tm_status tm_settings_take_config(struct tm_setting_set *set, const char *path, const char *text, size_t length,
                                  struct tm_error *error)
{
    bool seen[TM_OPTION_COUNT] = { false };
    tm_status st = TM_OK;

    if (length > TM_CONFIG_MOST_BYTES)
        return tm_fail(error, TM_ERR_USAGE, -1, "cannot read the settings in '%s': it is longer than %d KiB", path,
                       TM_CONFIG_MOST_BYTES >> 10);
    set->config_path = path;
    cJSON *const whole = tm_json_parse(text, length, "read the settings in", path, error);
    const cJSON *member;

    if (!whole) {
        tm_hint(error, "a configuration file looks like {\"memory\": \"512M\", \"strict\": true}");
        return error->status;
    }
    if (!cJSON_IsObject(whole))
        st = tm_fail(error, TM_ERR_USAGE, -1, "cannot read the settings in '%s': it is not a JSON object", path);
    if (!st) {
        cJSON_ArrayForEach(member, whole)
        {
            st = take_member(set, member, seen, error);
            if (st)
                break;
        }
    }
    cJSON_Delete(whole);
    return st;
}

static tm_status take_config_file(struct tm_setting_set *set, const char *path, struct tm_error *error)
{
    static char text[TM_CONFIG_MOST_BYTES + 2];
    FILE *const file = fopen(path, "rbe");

    if (!file)
        return tm_fail_system(error, TM_ERR_USAGE, -1, errno, "cannot open the settings in '%s'", path);
    const size_t length = fread(text, 1, sizeof(text) - 1, file);
    const int failed = ferror(file) ? errno : 0;

    (void)fclose(file);
    if (failed)
        return tm_fail_system(error, TM_ERR_USAGE, -1, failed, "cannot read the settings in '%s'", path);
    text[length] = '\0';
    return tm_settings_take_config(set, path, text, length, error);
}

tm_status tm_settings_take_environment(struct tm_setting_set *set, struct tm_error *error)
{
    for (size_t i = 0; i < TM_OPTION_COUNT; i++) {
        char name[TM_OPTION_NAME_BYTES];
        const char *const text = tm_option_environment(&tm_option_table[i], name) ? getenv(name) : NULL;

        if (text && text[0] && set->of[i].origin < TM_ORIGIN_ENVIRONMENT)
            (void)set_text(set, i, text, TM_ORIGIN_ENVIRONMENT); /* the first from there: there is room */
    }
    const char *const config = set->of[TM_OPTION_CONFIG].text;

    return config ? take_config_file(set, config, error) : TM_OK;
}

/* ---- values ---- */

const char *tm_settings_text(const struct tm_setting_set *set, enum tm_option_index index, char *out, size_t out_bytes)
{
    size_t used = 0;

    const struct tm_texts *const list = &set->lists[index];

    if (list->count < 2)
        return set->of[index].text;
    for (size_t i = 0; i < list->count && used < out_bytes; i++) {
        const int length = snprintf(out + used, out_bytes - used, "%s%s", i ? " " : "", list->text[i]);

        used += length > 0 ? (size_t)length : 0;
    }
    return out;
}

const char *tm_settings_place(const struct tm_setting_set *set, enum tm_option_index index, char *out, size_t out_bytes)
{
    const struct tm_option *const row = &tm_option_table[index];

    switch (set->of[index].origin) {
    case TM_ORIGIN_FLAG:
        (void)snprintf(out, out_bytes, "--%s", row->name);
        return out;
    case TM_ORIGIN_ENVIRONMENT:
        return tm_option_environment(row, out);
    case TM_ORIGIN_CONFIG:
        return set->config_path;
    case TM_ORIGIN_DEFAULT:
        break;
    }
    return "default";
}

/* Where a wrong value is to be fixed. */
static const char *name_origin(const struct tm_setting_set *set, enum tm_option_index index, char *out,
                               size_t out_bytes)
{
    if (set->of[index].origin != TM_ORIGIN_CONFIG)
        return tm_settings_place(set, index, out, out_bytes);
    char key[TM_OPTION_NAME_BYTES];

    (void)snprintf(out, out_bytes, "'%s' in '%s'", tm_option_key(&tm_option_table[index], key), set->config_path);
    return out;
}

/* The strings of one option, into its field. */
static tm_status apply(const struct tm_setting_set *set, enum tm_option_index index, struct tm_options *options,
                       struct tm_error *error)
{
    const struct tm_option *const row = &tm_option_table[index];
    const bool is_list = tm_option_is_list(row);
    const char *const *const text = is_list ? set->lists[index].text : &set->of[index].text;
    const size_t count = is_list ? set->lists[index].count : set->of[index].text != NULL;
    char scratch[512];
    const char *const origin = name_origin(set, index, scratch, sizeof(scratch));
    tm_status st = TM_OK;

    for (size_t i = 0; i < count && st == TM_OK; i++)
        st = tm_option_read(row, text[i], origin, options, error);
    return st;
}

/* A default that depends on options before it in the table: tables as data have a larger limit. */
static void imply(struct tm_setting_set *set, enum tm_option_index index, const struct tm_options *options)
{
    struct tm_setting *const setting = &set->of[index];

    if (index == TM_OPTION_ROWS && setting->origin == TM_ORIGIN_DEFAULT && (options->formats & TM_FORMAT_CSV))
        setting->text = TM_ROWS_OF_CSV;
}

tm_status tm_settings_apply(struct tm_setting_set *set, struct tm_options *options, struct tm_error *error)
{
    options->settings = set;
    for (int i = 0; i < TM_OPTION_COUNT; i++) {
        tm_status st;

        imply(set, (enum tm_option_index)i, options);
        st = apply(set, (enum tm_option_index)i, options, error);
        if (st)
            return st;
    }
    if (set->of[TM_OPTION_STEPS].origin == TM_ORIGIN_FLAG && options->steps != TM_CHOOSE_AUTO &&
        set->of[TM_OPTION_SKIP_STEPS].origin == TM_ORIGIN_FLAG && options->skip_steps >= 0)
        return tm_fail(error, TM_ERR_USAGE, -1, "cannot use '--skip-steps' with '--steps %s': both select steps",
                       set->of[TM_OPTION_STEPS].text);
    if (set->of[TM_OPTION_REDACT_MAP].origin == TM_ORIGIN_FLAG && options->redact_map && !options->redact) {
        tm_hint(error, "add --redact");
        return tm_fail(error, TM_ERR_USAGE, -1, "cannot write a map of names: no name is replaced");
    }
    return TM_OK;
}
