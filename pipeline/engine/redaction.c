/* SPDX-License-Identifier: Apache-2.0 */
/* The map of names: read for its key and its words, written with one sort that spills. */
#include "pipeline/engine/outputs.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pipeline/atomic_file.h"
#include "pipeline/doc/doc.h"
#include "pipeline/doc/doc_fields.h"
#include "pipeline/files.h"
#include "pipeline/options.h"
#include "pipeline/redact.h"
#include "pipeline/store/sorter.h"

#define MAP_ENDING ".names"
#define MAP_HEAD "tracemill names 1\n"
#define MAP_KEY "key %016" PRIx64 "%016" PRIx64 "\n"

enum {
    PATH_BYTES = 4096,
    HEX_DIGITS = 16,
    LINE_BYTES = TM_PSEUDONYM_BYTES + 1 + 2 * TM_REDACT_WORD_MOST + 2,
    WORDS_PART = 8,
    SORT_PART = 4
};

/* --- reading --- */

static void refuse_map(struct tm_run *run, const char *path, const char *reason)
{
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot use '%s' as a map of names: %s", path, reason);
    tm_hint(&run->error, "set another file with --redact-map");
}

static bool read_half(const char *text, uint64_t *half)
{
    char digits[HEX_DIGITS + 1];

    memcpy(digits, text, HEX_DIGITS);
    digits[HEX_DIGITS] = '\0';
    *half = strtoull(digits, NULL, 16);
    return strspn(digits, "0123456789abcdef") == HEX_DIGITS;
}

static bool read_key(FILE *map, struct tm_secret_key *key)
{
    static const size_t prefix = sizeof("key ") - 1;
    char line[LINE_BYTES];

    if (!fgets(line, sizeof(line), map) || strcmp(line, MAP_HEAD) != 0 || !fgets(line, sizeof(line), map))
        return false;
    return strlen(line) == prefix + 2 * HEX_DIGITS + 1 && memcmp(line, "key ", prefix) == 0 &&
           read_half(line + prefix, &key->high) && read_half(line + prefix + HEX_DIGITS, &key->low);
}

/* Signs that would end a word, or a line, in a map: only names of hosts have them. */
static const char escaped_signs[] = "\\\t\n\r", escape_letters[] = "\\tnr";

/* In place.  out: the length then */
static size_t unescape(char *word, size_t length)
{
    size_t used = 0;

    for (size_t i = 0; i < length; i++) {
        const char *const letter = word[i] == '\\' && i + 1 < length ? strchr(escape_letters, word[i + 1]) : NULL;

        word[used++] = letter ? escaped_signs[letter - escape_letters] : word[i];
        i += letter != NULL;
    }
    return used;
}

static void print_escaped(const char *word, FILE *to)
{
    for (; *word; word++) {
        const char *const sign = strchr(escaped_signs, *word);

        if (sign)
            (void)fputc('\\', to);
        (void)fputc(sign ? escape_letters[sign - escaped_signs] : *word, to);
    }
}

static void read_words(struct tm_run *run, FILE *map, const char *path)
{
    struct tm_names *words = tm_redactor_words(run->redactor);
    char line[LINE_BYTES];

    while (!tm_failed(run) && fgets(line, sizeof(line), map)) {
        const size_t length = strlen(line), begin = TM_PSEUDONYM_BYTES + 1;

        if (length < begin + 2 || line[length - 1] != '\n' || line[begin - 1] != '\t')
            refuse_map(run, path, "one of its lines is not a pseudonym, a tab and a word");
        else
            (void)tm_names_put(words, line + begin, unescape(line + begin, length - begin - 1));
    }
    if (ferror(map))
        refuse_map(run, path, "it cannot be read");
}

static void read_map(struct tm_run *run, const char *path)
{
    struct tm_secret_key key;
    FILE *map = fopen(path, "re");

    if (!map && errno == ENOENT)
        return;
    if (!map) {
        tm_hint(&run->error, "set another file with --redact-map");
        (void)tm_fail_system(&run->error, TM_ERR_USAGE, -1, errno, "cannot use '%s' as a map of names", path);
        return;
    }
    if (read_key(map, &key)) {
        tm_redactor_set_key(run->redactor, key);
        read_words(run, map, path);
    } else {
        refuse_map(run, path, "it does not start like one");
    }
    (void)fclose(map);
}

static const char map_what[] = "the map of names";

tm_status tm_redaction_begin(struct tm_run *run, const struct tm_options *options)
{
    if (options->redact_map)
        tm_guard_output(run, options->redact_map, map_what);
    if (!tm_failed(run))
        run->redactor = tm_redactor_new(run, tm_budget_share(&run->budget, TM_ACCOUNT_NAMES) / WORDS_PART);
    if (run->redactor && options->redact_map)
        read_map(run, options->redact_map);
    return run->error.status;
}

void tm_redaction_end(struct tm_run *run)
{
    tm_redactor_free(run->redactor);
    run->redactor = NULL;
}

/* --- writing --- */

/* A word, in the order of the map.  Its hash puts words in order that have one pseudonym. */
struct map_row {
    char pseudonym[TM_PSEUDONYM_BYTES];
    struct tm_key hash;
    tm_strid id;
};

static int by_pseudonym(const void *a, const void *b)
{
    const struct map_row *x = a, *y = b;
    const int order = memcmp(x->pseudonym, y->pseudonym, sizeof(x->pseudonym));

    return order ? order : tm_key_order(x->hash, y->hash);
}

static void sort_words(struct tm_run *run, struct tm_sorter *sorter)
{
    struct tm_names *words = tm_redactor_words(run->redactor);
    const uint64_t count = tm_names_count(words);

    for (uint64_t i = 1; i < count && !tm_failed(run); i++) {
        struct map_row row = { .id = (tm_strid)i, .hash = tm_names_info(words, (tm_strid)i).hash };
        size_t length;
        const char *word = tm_names_text(words, row.id, 0, &length);

        tm_pseudonym(run->redactor, word, length, row.pseudonym);
        tm_sorter_push(sorter, &row);
    }
    tm_sorter_finish(sorter);
}

static void print_words(struct tm_run *run, struct tm_sorter *sorter, FILE *to)
{
    struct tm_names *words = tm_redactor_words(run->redactor);
    struct map_row last = { .id = 0 };
    const struct map_row *row;

    while ((row = tm_sorter_next(sorter))) {
        if (last.id && by_pseudonym(row, &last) == 0) /* a word that came twice */
            continue;
        last = *row;
        (void)fprintf(to, "%.*s\t", TM_PSEUDONYM_BYTES, last.pseudonym);
        print_escaped(tm_names_text(words, last.id, 0, NULL), to);
        (void)fputc('\n', to);
    }
}

static void print_map(struct tm_run *run, FILE *to)
{
    const struct tm_secret_key key = tm_redactor_key(run->redactor);
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_SORT);
    struct tm_sorter *sorter =
        tm_sorter_new(run, TM_ACCOUNT_SORT, sizeof(struct map_row), share / SORT_PART, by_pseudonym);

    (void)fputs(MAP_HEAD, to);
    (void)fprintf(to, MAP_KEY, key.high, key.low);
    if (sorter) {
        sort_words(run, sorter);
        print_words(run, sorter, to);
    }
    tm_sorter_free(sorter);
}

/* --- where it is --- */

struct map_place {
    char path[PATH_BYTES], folder[PATH_BYTES]; /* folder: "." if the path has none */
    const char *name;                          /* in path */
};

static void find_place(struct tm_run *run, const char *wanted, const char *output, struct map_place *place)
{
    size_t length = strlen(output);
    const char *slash;
    int n;

    while (length > 1 && output[length - 1] == '/')
        length--;
    n = wanted ? snprintf(place->path, sizeof(place->path), "%s", wanted)
               : snprintf(place->path, sizeof(place->path), "%.*s" MAP_ENDING, (int)length, output);
    if (n < 0 || (size_t)n >= sizeof(place->path))
        (void)tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot write the map of names: its path is too long");
    slash = strrchr(place->path, '/');
    place->name = slash ? slash + 1 : place->path;
    length = slash ? (size_t)(slash - place->path) : 0;
    memcpy(place->folder, slash ? place->path : ".", slash && length ? length : 1);
    place->folder[slash && length ? length : 1] = '\0';
}

/* Whether a folder is another one, or is in it. */
static bool is_inside(const char *folder, const char *other)
{
    char inner[PATH_MAX], outer[PATH_MAX];
    size_t length;

    if (!realpath(folder, inner) || !realpath(other, outer))
        return false;
    length = strlen(outer);
    return strncmp(inner, outer, length) == 0 && (inner[length] == '/' || inner[length] == '\0');
}

static bool is_folder(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Only its owner may read it, from its first byte on. */
static void write_map(struct tm_run *run, const struct map_place *place)
{
    struct tm_atomic_file file = { .stream = NULL };

    if (tm_atomic_open(&file, run, place->folder, place->name))
        return;
    if (fchmod(fileno(file.stream), S_IRUSR | S_IWUSR) != 0)
        (void)tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot restrict access to '%s'", place->path);
    print_map(run, file.stream);
    tm_atomic_commit(&file);
    tm_atomic_abort(&file);
}

tm_status tm_redaction_save(struct tm_run *run, const struct tm_options *options, const char *output)
{
    struct map_place place;

    if (tm_failed(run))
        return run->error.status;
    find_place(run, options->redact_map, output, &place);
    if (is_folder(output) && is_inside(place.folder, output)) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1,
                      "cannot write the map of names to '%s': the map must not be "
                      "shared",
                      output);
        tm_hint(&run->error, "set a file elsewhere with --redact-map");
    }
    if (tm_failed(run))
        return run->error.status;
    tm_guard_output(run, place.path, map_what);
    write_map(run, &place);
    if (!tm_failed(run) && !run->quiet)
        (void)fprintf(stderr, "tracemill: note: '%s' maps pseudonyms to names: do not share it\n", place.path);
    return run->error.status;
}

/* Every string is a name unless its field says otherwise (doc_fields.h): a figure that is added later is redacted
 * unless its field says that it need not be.  Reasons of nulls and keys are the program's own. */

enum { DEPTH_MOST = 66 /* a document nests 64 deep */, HOST_BYTES = 32 /* of a pseudonym */ };

static const char fingerprint_why[] = "not in a redacted report: it is the key of the pseudonyms";

/* A container on the way down. */
struct level {
    struct tm_value *container;
    struct tm_doc_place place;
    size_t next;
};

/* What is done to each string of a document.  in: field  NULL = it is not declared */
typedef void take_text(struct tm_redactor *redactor, struct tm_doc *doc, const struct tm_doc_field *field,
                       struct tm_value *text);

static void know_host(struct tm_redactor *redactor, struct tm_doc *doc, const struct tm_doc_field *field,
                      struct tm_value *text)
{
    (void)doc;
    if (field && tm_doc_kind_of(field) == TM_DOC_HOST)
        tm_redactor_know_host(redactor, tm_text(text));
}

static void redact_text(struct tm_redactor *redactor, struct tm_doc *doc, const struct tm_doc_field *field,
                        struct tm_value *text)
{
    const enum tm_doc_kind kind = field ? tm_doc_kind_of(field) : TM_DOC_NAME;
    char host[HOST_BYTES];
    const char *name = host;
    size_t length = strlen(tm_text(text));

    if (field && (field->shape & TM_DOC_OWN))
        return;
    if (kind == TM_DOC_HOST)
        tm_redact_host(redactor, host, sizeof(host), tm_text(text));
    else if (kind == TM_DOC_PATH)
        tm_redact_path(redactor, tm_text(text), length, &name, &length);
    else
        tm_redact(redactor, tm_text(text), length, &name, &length);
    if (strcmp(name, tm_text(text)) != 0)
        tm_set_text(doc, text, name, strlen(name));
}

/* All strings inside a value.  in: place  of it */
static void take_texts(struct tm_redactor *redactor, struct tm_doc *doc, struct tm_value *root,
                       struct tm_doc_place place, take_text *take)
{
    struct level levels[DEPTH_MOST] = { { root, place, 0 } };
    size_t depth = 1;

    while (depth) {
        struct level *const level = &levels[depth - 1];
        struct tm_value *const value = tm_element(level->container, level->next);
        struct tm_doc_place here = level->place;

        if (value && tm_type_of(level->container) == TM_OBJECT) {
            const char *const key = tm_key_at(level->container, level->next);

            tm_doc_enter(&here, key, strlen(key));
        }
        level->next++;
        if (!value)
            depth--;
        else if (tm_type_of(value) == TM_STRING)
            take(redactor, doc, here.field, value);
        else if ((tm_type_of(value) == TM_OBJECT || tm_type_of(value) == TM_ARRAY) && depth < DEPTH_MOST)
            levels[depth++] = (struct level){ value, here, 0 };
    }
}

static void take_fingerprints(struct tm_redactor *redactor, struct tm_value *files)
{
    for (size_t i = 0; i < tm_length(files); i++) {
        struct tm_value *const file = tm_element(files, i);

        tm_redactor_add_fingerprint(redactor, tm_text(tm_get(file, "xxh3")));
        tm_add_null(file, "xxh3", fingerprint_why);
    }
    tm_redactor_make_key(redactor);
}

/* The sections of a summary.  The user's texts, and the program's own strings of the root, stay. */
static void take_sections(struct tm_redactor *redactor, struct tm_doc *summary, take_text *take)
{
    struct tm_value *const root = tm_doc_root(summary);

    for (size_t i = 0; i < tm_length(root); i++) {
        const char *const key = tm_key_at(root, i);
        struct tm_doc_place place = { .below = tm_summary_schema.fields };

        tm_doc_enter(&place, key, strlen(key));
        if (strcmp(key, "report") != 0 && tm_type_of(tm_element(root, i)) != TM_STRING)
            take_texts(redactor, summary, tm_element(root, i), place, take);
    }
}

tm_status tm_redact_summary(struct tm_redactor *redactor, struct tm_doc *summary)
{
    take_fingerprints(redactor, tm_member(tm_member(tm_doc_root(summary), "input"), "files"));
    take_sections(redactor, summary, know_host);
    take_sections(redactor, summary, redact_text);
    return tm_doc_status(summary);
}
