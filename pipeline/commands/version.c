/* SPDX-License-Identifier: Apache-2.0 */
/* The version, and those of the loaded libraries (reported by the libraries themselves, except for ISA-L, whose header
 * provides it). */
#include "pipeline/commands/commands.h"

#include <stdio.h>
#include <string.h>

#include <archive.h>
#include <cjson/cJSON.h>
#include <hpdf.h>
#include <protobuf-c/protobuf-c.h>
#include <sqlite3.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

#include "pipeline/doc/doc.h"
#include "pipeline/options.h"
#include "pipeline/run.h"

#ifdef TM_HAVE_ISAL
#include <isa-l.h>
#endif

#ifdef TM_HAVE_JEMALLOC
#include <jemalloc/jemalloc.h>
#endif

enum { VERSION_BYTES = 64, LIBRARIES_MOST = 10 };

struct library {
    const char *name;
    char version[VERSION_BYTES];
};

/* Up to the first blank or '-': jemalloc adds the commit that it was built from. */
static void set_version(struct library *library, const char *name, const char *version)
{
    const size_t length = strcspn(version, " -");

    library->name = name;
    (void)snprintf(library->version, sizeof(library->version), "%.*s",
                   (int)(length < VERSION_BYTES ? length : VERSION_BYTES - 1), version);
}

#ifdef TM_HAVE_JEMALLOC
static const char *jemalloc_version(void)
{
    const char *version = NULL;
    size_t bytes = sizeof(version);

    return mallctl("version", &version, &bytes, NULL, 0) == 0 && version ? version : JEMALLOC_VERSION;
}
#endif

static size_t list_libraries(struct library *libraries)
{
    const unsigned xxhash = XXH_versionNumber();
    const int archive = archive_version_number();
    char text[VERSION_BYTES];
    size_t count = 0;

    set_version(&libraries[count++], "zlib", zlibVersion());
#ifdef TM_HAVE_ISAL
    (void)snprintf(text, sizeof(text), "%d.%d.%d", ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION, ISAL_PATCH_VERSION);
    set_version(&libraries[count++], "ISA-L", text);
#endif
    set_version(&libraries[count++], "zstd", ZSTD_versionString());
    (void)snprintf(text, sizeof(text), "%d.%d.%d", archive / 1000000, archive / 1000 % 1000, archive % 1000);
    set_version(&libraries[count++], "libarchive", text);
    set_version(&libraries[count++], "protobuf-c", protobuf_c_version());
    set_version(&libraries[count++], "cJSON", cJSON_Version());
    set_version(&libraries[count++], "libharu", HPDF_GetVersion());
    set_version(&libraries[count++], "SQLite", sqlite3_libversion());
#ifdef TM_HAVE_JEMALLOC
    set_version(&libraries[count++], "jemalloc", jemalloc_version());
#endif
    (void)snprintf(text, sizeof(text), "%u.%u.%u", xxhash / 10000, xxhash / 100 % 100, xxhash % 100);
    set_version(&libraries[count++], "xxHash", text);
    return count;
}

static tm_status print_json(struct tm_run *run, const struct library *libraries, size_t count)
{
    struct tm_doc *const doc = tm_doc_new(run);

    if (!doc)
        return run->error.status;
    struct tm_value *const root = tm_doc_root(doc);

    tm_add_string(root, "name", "tracemill");
    tm_add_string(root, "version", TM_VERSION);
    struct tm_value *const list = tm_add_object(root, "libraries");

    for (size_t i = 0; i < count; i++)
        tm_add_string(list, libraries[i].name, libraries[i].version);
    tm_doc_print(doc, run, fileno(stdout));
    tm_doc_free(doc);
    return run->error.status;
}

static tm_status run_version(struct tm_run *run, const struct tm_options *options)
{
    struct library libraries[LIBRARIES_MOST];
    const size_t count = list_libraries(libraries);

    if (options->json)
        return print_json(run, libraries, count);
    (void)printf("tracemill %s\n", TM_VERSION);
    for (size_t i = 0; i < count; i++)
        (void)printf("  %-10s %s\n", libraries[i].name, libraries[i].version);
    return TM_OK;
}

/* clang-format off */
const struct tm_verb tm_version_verb = {
    .name = "version",
    .summary = "print the versions of tracemill and its libraries",
    .usage = "[--json]",
    .description = "The same as 'tracemill --version'.",
    .examples = "",
    .bit = TM_FOR_WORDS,
    .flags = TM_VERB_PRINTS | TM_VERB_NO_CONFIG,
    .run = run_version,
};
/* clang-format on */
