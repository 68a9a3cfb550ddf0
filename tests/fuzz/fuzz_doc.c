/* SPDX-License-Identifier: Apache-2.0 */
/* JSON of any bytes into a tree and out again.  What was read is printed; that reads again, whether
 * all at once or through a window, and prints the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/doc/doc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* Seeds: what JSON is made of. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char *const seeds[] = {
        "{\"a\": [1, -2.5e+3, \"x\\n\\ud83d\\ude00\\u0000\", null, true, false], \"why\": {\"b\": "
        "\"c\"}}",
        "{\"n\": null, \"why\": {\"n\": \"gone\"}, \"o\": {\"p\": {}, \"p\": []}}",
        "{\"why\": {\"n\": \"later\", \"why\": {}}, \"n\": null, \"big\": 9223372036854775808, "
        "\"huge\": 1e999}",
    };
    const char *folder = getenv("TM_FUZZ_SEEDS");
    char path[4096];

    (void)argc;
    (void)argv;
    for (size_t i = 0; folder && i < sizeof(seeds) / sizeof(seeds[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/doc-%zu", folder, i);
        FILE *file = fopen(path, "we");

        if (!file)
            abort();
        (void)fputs(seeds[i], file);
        (void)fclose(file);
    }
    return 0;
}

/* Read, from bytes or where there are none from the file, and print over what the other file has.
 * out: false: refused */
static bool pass(const uint8_t *data, size_t size, FILE *from, FILE *to)
{
    struct tm_run run = { .quiet = true };
    struct tm_doc *doc;
    tm_status st;

    tm_budget_init(&run.budget, (size_t)TM_MEMORY_LEAST_MIB * TM_MIB);
    doc = tm_doc_new(&run);
    if (!doc)
        abort();
    if (data)
        st = tm_doc_read(doc, tm_doc_root(doc), (const char *)data, size, "bytes");
    else
        st = tm_doc_read_from(doc, tm_doc_root(doc), fileno(from), UINT64_MAX, "file");
    if (st != run.error.status || (st != TM_OK && run.error.what[0] == '\0'))
        abort();
    if (st == TM_OK && (ftruncate(fileno(to), 0) != 0 || lseek(fileno(to), 0, SEEK_SET) != 0 ||
                        tm_doc_print(doc, &run, fileno(to)) != TM_OK || lseek(fileno(to), 0, SEEK_SET) != 0))
        abort();
    tm_doc_free(doc);
    if (run.budget.used_bytes[TM_ACCOUNT_MODEL] != 0)
        abort();
    return st == TM_OK;
}

static size_t take(FILE *file, char **bytes)
{
    const off_t length = lseek(fileno(file), 0, SEEK_END);

    *bytes = malloc((size_t)length + 1);
    if (!*bytes || pread(fileno(file), *bytes, (size_t)length, 0) != length)
        abort();
    return (size_t)length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *first, *second;
    static const uint8_t nothing[1];
    char *a, *b;

    if (!first) {
        first = tmpfile();
        second = tmpfile();
    }
    if (!first || !second)
        abort();
    if (!pass(size ? data : nothing, size, NULL, first))
        return 0;
    if (!pass(NULL, 0, first, second))
        abort();
    const size_t length = take(first, &a);

    if (take(second, &b) != length || memcmp(a, b, length) != 0)
        abort();
    free(a);
    free(b);
    return 0;
}
