/* SPDX-License-Identifier: Apache-2.0 */
/* Any names through the redactor, a line each, with a word planted in them that nobody may see; and any bytes as the map of
 * names.  Beside what the sanitizers see: the planted word in what comes out, another pseudonym for the same word, output
 * that is no text, a map that does not give the same names and the same map again.
 * Seeds: names and maps, which seeds_redact.py makes. */
#include <string.h>
#include <strings.h>

#include <xxhash.h>

#include "pipeline/engine/outputs.h"
#include "pipeline/strings.h"
#include "tests/fuzz/fuzz_job.h"

enum { LINES_MOST = 24, LINE_BYTES = 1024, HOST_BYTES = 64, MAP_EVERY = 16 };

/* With vowels: no pseudonym. */
static const char planted[] = "zuqoxiva";

struct names {
    char line[LINES_MOST][LINE_BYTES + 2 * sizeof(planted)];
    size_t count;
};

/* The word stands in each line: between blanks, or right where the line has its first such sign. */
static void plant(struct names *names, const uint8_t *data, size_t size)
{
    const uint8_t *const end = data + size;

    for (names->count = 0; data < end && names->count < LINES_MOST; names->count++) {
        char *const line = names->line[names->count];
        const uint8_t *const stop = memchr(data, '\n', (size_t)(end - data));
        const size_t whole = (size_t)((stop ? stop : end) - data), length = whole < LINE_BYTES ? whole : LINE_BYTES;
        const uint8_t *const sign = memchr(data, '@', length);
        const size_t before = sign ? (size_t)(sign - data) : length;

        (void)snprintf(line, sizeof(names->line[0]), "%.*s%s%s%s%.*s", (int)before, (const char *)data, sign ? "" : " ",
                       planted, sign ? "" : " ", (int)(length - before - (sign != NULL)),
                       sign ? (const char *)sign + 1 : "");
        data += whole + (stop != NULL);
    }
}

static void check_text(const char *text, size_t length)
{
    FUZZ_REQUIRE(text[length] == '\0' && strlen(text) == length && tm_utf8_is_valid(text, length));
    FUZZ_REQUIRE(strcasestr(text, planted) == NULL);
}

/* A word by itself becomes its pseudonym, unless all of the line is the name of a device's host, or the word is part of the
 * name of a host. */
static void check_alone(struct tm_redactor *redactor, const char *line, const char *out)
{
    char pseudonym[TM_PSEUDONYM_BYTES + 1] = "";
    const char *const at = strstr(line, " zuqoxiva ");

    tm_pseudonym(redactor, planted, strlen(planted), pseudonym);
    FUZZ_REQUIRE(!at || strcasestr(out, pseudonym) != NULL || strstr(at, "pu:") != NULL ||
                 strstr(out, "host-") != NULL);
}

static uint64_t redact_all(struct tm_redactor *redactor, const struct names *names)
{
    uint64_t hash = 0;

    /* As the program does before the first text. */
    for (size_t i = 0; i < names->count; i++)
        tm_redactor_know_host(redactor, names->line[i]);
    for (size_t i = 0; i < names->count; i++) {
        const char *const line = names->line[i], *out;
        char host[HOST_BYTES], first[LINE_BYTES];
        size_t length;

        FUZZ_REQUIRE(tm_redact(redactor, line, strlen(line), &out, &length) == TM_OK);
        check_text(out, length);
        check_alone(redactor, line, out);
        hash = XXH3_64bits_withSeed(out, length, hash);
        FUZZ_REQUIRE(tm_redact_into(redactor, first, sizeof(first), line) == TM_OK);
        check_text(first, strlen(first));
        FUZZ_REQUIRE(tm_redact_path(redactor, line, strlen(line), &out, &length) == TM_OK);
        check_text(out, length);
        hash = XXH3_64bits_withSeed(out, length, hash);
        FUZZ_REQUIRE(tm_redact_host(redactor, host, sizeof(host), line) == TM_OK);
        check_text(host, strlen(host));
        hash = XXH3_64bits_withSeed(host, strlen(host), hash);
    }
    return hash;
}

/* --- the map --- */

static const char *map_path(void)
{
    static char path[64];

    if (!path[0])
        (void)snprintf(path, sizeof(path), "%s/tracemill-fuzz-%d.names", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm",
                       getpid());
    return path;
}

static uint64_t hash_of_file(const char *path)
{
    static char bytes[1 << 20];
    FILE *const file = fopen(path, "rb");
    const size_t length = file ? fread(bytes, 1, sizeof(bytes), file) : 0;

    FUZZ_REQUIRE(file && length > 0 && fclose(file) == 0);
    return XXH3_64bits(bytes, length);
}

/* A run with a map, where there is one; out: the hash of what came out, and of the map then */
static uint64_t run_with_map(const struct names *names, uint64_t *map)
{
    const struct tm_options options = { .redact = true, .redact_map = map_path() };
    struct tm_run run;
    uint64_t hash;

    fuzz_run_init(&run);
    FUZZ_REQUIRE(tm_redaction_begin(&run, &options) == TM_OK);
    if (access(map_path(), F_OK) != 0)
        tm_redactor_set_key(run.redactor, (struct tm_secret_key){ 1, 2 });
    hash = redact_all(run.redactor, names);
    FUZZ_REQUIRE(tm_redaction_save(&run, &options, "nothing") == TM_OK);
    *map = hash_of_file(map_path());
    tm_redaction_end(&run);
    fuzz_run_end(&run);
    return hash;
}

static void check_map(const struct names *names)
{
    uint64_t first_map, second_map;

    (void)unlink(map_path());
    const uint64_t first = run_with_map(names, &first_map), second = run_with_map(names, &second_map);

    FUZZ_REQUIRE(first == second && first_map == second_map);
    (void)unlink(map_path());
}

static void use_map(const char *path, size_t size)
{
    const struct tm_options options = { .redact = true, .redact_map = path };
    struct tm_run run;
    tm_status st;

    (void)size;
    fuzz_run_init(&run);
    st = tm_redaction_begin(&run, &options);
    FUZZ_REQUIRE(st == TM_OK || (st == TM_ERR_USAGE && run.error.what[0]));
    tm_redaction_end(&run);
    fuzz_run_end(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct names names;
    struct tm_redactor *redactor;
    struct tm_run run;

    if (size >= 9 && memcmp(data, "tracemill", 9) == 0) {
        fuzz_with_file(data, size, use_map);
        return 0;
    }
    plant(&names, data, size);
    fuzz_run_init(&run);
    redactor = tm_redactor_new(&run, TM_MIB);
    FUZZ_REQUIRE(redactor != NULL);
    tm_redactor_set_key(redactor, (struct tm_secret_key){ 1, 2 });
    const uint64_t first = redact_all(redactor, &names);

    FUZZ_REQUIRE(redact_all(redactor, &names) == first);
    tm_redactor_free(redactor);
    fuzz_run_end(&run);
    if (XXH3_64bits(data, size) % MAP_EVERY == 0)
        check_map(&names);
    return 0;
}
