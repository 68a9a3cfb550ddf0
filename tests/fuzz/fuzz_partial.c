/* SPDX-License-Identifier: Apache-2.0 */
/* Any sections as the partial of a run, between a right beginning and a right checksum.  What is refused has a reason; what
 * is read makes a summary, and a partial again that makes the same summary.
 * Seeds: the partials of the profiles that seeds_partial.py makes, which this target makes before the first input. */
#include <dirent.h>
#include <string.h>

#include <xxhash.h>

#include "pipeline/engine/analysis.h"
#include "tests/fuzz/fuzz_job.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { CHECKSUM_BYTES = 8, TEXT_MOST = 4 << 20 };

/* A text in memory, which is there until the next one is put into it. */
struct text {
    char bytes[TEXT_MOST];
    size_t length;
};

static void take_text(struct text *to, FILE *file)
{
    FUZZ_REQUIRE(fflush(file) == 0 && fseek(file, 0, SEEK_SET) == 0);
    to->length = fread(to->bytes, 1, sizeof(to->bytes), file);
    (void)fclose(file);
}

/* The summary of a file, and its partial where one is wanted. */
static tm_status analyze(const char *path, struct text *summary, struct text *partial)
{
    char copy[4200], *inputs[] = { copy };
    struct tm_partial_writer *writer = NULL;
    struct tm_options options;
    struct tm_run run;
    struct tm_doc *doc;
    tm_status st;

    (void)snprintf(copy, sizeof(copy), "%s", path);
    fuzz_run_init(&run);
    st = fuzz_options(&options, inputs, &run.error);
    doc = tm_doc_new(&run);
    FUZZ_REQUIRE(st == TM_OK && doc != NULL);
    st = tm_analyze(&run, &options, doc, partial ? &writer : NULL, NULL);
    if (st == TM_OK)
        st = tm_doc_status(doc);
    FUZZ_REQUIRE(st == TM_OK || (st == run.error.status && run.error.what[0]));
    if (st == TM_OK) {
        FILE *const to = tmpfile();

        FUZZ_REQUIRE(to && tm_doc_print(doc, &run, fileno(to)) == TM_OK);
        take_text(summary, to);
    }
    if (writer && st == TM_OK) {
        FILE *const to = tmpfile();

        FUZZ_REQUIRE(to && tm_partial_write(writer, to) == TM_OK);
        take_text(partial, to);
    }
    tm_partial_writer_free(writer);
    tm_doc_free(doc);
    fuzz_run_end(&run);
    return st;
}

/* Each profile in the folder becomes its partial, without what the target puts around it. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static struct text summary, partial;
    const char *const seeds = getenv("TM_FUZZ_SEEDS");
    DIR *const folder = seeds ? opendir(seeds) : NULL;

    (void)argc;
    (void)argv;
    for (const struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        char path[4200];
        FILE *to;

        if (strncmp(entry->d_name, "made-", 5) != 0)
            continue;
        (void)snprintf(path, sizeof(path), "%s/%s", seeds, entry->d_name);
        FUZZ_REQUIRE(analyze(path, &summary, &partial) == TM_OK && unlink(path) == 0);
        (void)snprintf(path, sizeof(path), "%s/partial-%s", seeds, entry->d_name + 5);
        to = fopen(path, "wb");
        FUZZ_REQUIRE(to && partial.length > TM_PARTIAL_MAGIC_BYTES + CHECKSUM_BYTES);
        (void)fwrite(partial.bytes + TM_PARTIAL_MAGIC_BYTES, 1,
                     partial.length - TM_PARTIAL_MAGIC_BYTES - CHECKSUM_BYTES, to);
        FUZZ_REQUIRE(fclose(to) == 0);
    }
    if (folder)
        (void)closedir(folder);
    return 0;
}

static void use_file(const char *path, size_t size)
{
    static struct text summary, partial;

    (void)size;
    (void)analyze(path, &summary, &partial);
}

static void use_again(const char *path, size_t size)
{
    static struct text first, second, partial, last;

    (void)size;
    if (analyze(path, &first, &partial) != TM_OK)
        return;
    const int fd = memfd_create("again", MFD_CLOEXEC);
    char again[64];

    (void)snprintf(again, sizeof(again), "/proc/self/fd/%d", fd);
    FUZZ_REQUIRE(fd >= 0 && write(fd, partial.bytes, partial.length) == (ssize_t)partial.length);
    FUZZ_REQUIRE(analyze(again, &second, &last) == TM_OK);
    FUZZ_REQUIRE(first.length == second.length && memcmp(first.bytes, second.bytes, first.length) == 0);
    FUZZ_REQUIRE(last.length == partial.length && memcmp(last.bytes, partial.bytes, last.length) == 0);
    (void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t whole = TM_PARTIAL_MAGIC_BYTES + size + CHECKSUM_BYTES;
    uint8_t *const file = malloc(whole);
    uint64_t checksum;

    FUZZ_REQUIRE(file != NULL);
    memcpy(file, TM_PARTIAL_MAGIC, TM_PARTIAL_MAGIC_BYTES);
    if (size)
        memcpy(file + TM_PARTIAL_MAGIC_BYTES, data, size);
    checksum = XXH3_64bits(file, whole - CHECKSUM_BYTES);
    for (int i = 0; i < CHECKSUM_BYTES; i++)
        file[whole - CHECKSUM_BYTES + (size_t)i] = (uint8_t)(checksum >> (8 * i));
    fuzz_with_file(file, whole, checksum % 4 ? use_file : use_again);
    free(file);
    return 0;
}
