/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as what is asked of `show`: a name, a condition, an order and fields, a line each, of a summary with all
 * members of the schema, and of one where most is null.  Beside what the sanitizers see: an answer in one form and not in
 * another, sums that do not add up, control characters in a text, a refusal without a reason, and memory that is not given
 * back.  Seeds: queries of all kinds, written into the folder $TM_FUZZ_SEEDS before the first input. */
#include <string.h>

#include "reports/show/show.h"
#include "tests/fuzz/fuzz_job.h"
#include "tests/support/schema_sample.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { LINES = 4, LINE_BYTES = 8192, FORMS = 4, COLUMNS = 100 };

static struct tm_run sample_run;
static const struct tm_value *sample[2];

static const char *const seeds[] = {
    "ops\nself_share_pct > 5 and (bound = memory or name ~ \"copy\")\n-self_ps,name\nname,self_ps,first",
    "steps\nchosen and not idle_ps.host > 10us\n-period_ps\nnumber,idle_ps",
    "figures\nvalue > 1.5GiB or unit is null\npath\n",
    "kpis\nband != good && value >= 1e3 ms\n",
    "gaps.by_cause\ntotal_ps <= 5 us and name !~ 'x''y'\n-count",
    "devices[0].gaps\ndur_ps < begin_ps",
    "kernels.rows.figures\n",
    "memory.allocators[0].timeline\nin_use_bytes is not null\n-at_ps",
    "findings[1].evidence\nvalue ~ a",
    "contents\nrows > 1\n-rows\nname,rows",
    "\nkind = 'table'",
    "step_time",
};

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *const folder = getenv("TM_FUZZ_SEEDS");
    char path[4096];

    (void)argc;
    (void)argv;
    fuzz_run_init(&sample_run);
    for (int i = 0; i < 2; i++) {
        struct tm_doc *const doc = tm_doc_new(&sample_run);

        if (!doc)
            abort();
        test_schema_sample(tm_doc_root(doc), i ? "tpu" : "gpu", i ? 3 : TEST_NOTHING_IS_NULL);
        sample[i] = tm_doc_root(doc);
    }
    for (size_t i = 0; folder && i < sizeof(seeds) / sizeof(seeds[0]); i++) {
        FILE *to;

        (void)snprintf(path, sizeof(path), "%s/show-%zu", folder, i);
        to = fopen(path, "wb");
        if (to) {
            (void)fwrite(seeds[i], 1, strlen(seeds[i]), to);
            (void)fclose(to);
        }
    }
    return 0;
}

/* Of a document of JSON: what is returned and what is left out is all. */
static void check_sums(const char *text, size_t length)
{
    static const char *const keys[] = { "rows", "time_ps", "count", "bytes" };
    struct tm_run run;
    struct tm_doc *doc;

    fuzz_run_init(&run);
    doc = tm_doc_new(&run);
    FUZZ_REQUIRE(doc && tm_doc_read(doc, tm_doc_root(doc), text, length, "answer") == TM_OK);
    const struct tm_value *const root = tm_doc_root(doc);

    FUZZ_REQUIRE(tm_int(tm_get(root, "rows_returned")) == (int64_t)tm_length(tm_get(root, "rows")));
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct tm_value *const total = tm_get(tm_get(root, "total"), keys[i]);
        const int64_t returned = tm_int(tm_get(tm_get(root, "returned"), keys[i])),
                      left_out = tm_int(tm_get(tm_get(root, "left_out"), keys[i]));

        FUZZ_REQUIRE(!tm_has(total) || tm_int(total) == returned + left_out);
    }
    tm_doc_free(doc);
    fuzz_run_end(&run);
}

static tm_status ask(const struct tm_value *root, const struct tm_show_query *query, enum tm_show_form form)
{
    struct tm_run run;
    char *text = NULL;
    size_t length = 0;
    FILE *const to = open_memstream(&text, &length);

    fuzz_run_init(&run);
    const tm_status st = tm_show_write(&run, root, query, form, COLUMNS, to);

    FUZZ_REQUIRE(fclose(to) == 0);
    FUZZ_REQUIRE(st == TM_OK || (st == TM_ERR_USAGE && run.error.status == st && run.error.what[0] && length == 0));
    for (size_t i = 0; i < length; i++)
        FUZZ_REQUIRE((unsigned char)text[i] >= 0x20 || text[i] == '\n');
    if (st == TM_OK && form == TM_SHOW_JSON)
        check_sums(text, length);
    free(text);
    fuzz_run_end(&run);
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char lines[LINES][LINE_BYTES];
    tm_status st[FORMS];

    for (int i = 0; i < LINES; i++) {
        const uint8_t *const end = size > 0 ? memchr(data, '\n', size) : NULL;
        const size_t whole = end ? (size_t)(end - data) : size, n = whole < LINE_BYTES ? whole : LINE_BYTES - 1;

        memcpy(lines[i], data, n);
        lines[i][n] = '\0';
        data += whole + (end != NULL);
        size -= whole + (end != NULL);
    }
    const struct tm_show_query query = { .what = *lines[0] ? lines[0] : NULL,
                                         .where = *lines[1] ? lines[1] : NULL,
                                         .sort = *lines[2] ? lines[2] : NULL,
                                         .fields = *lines[3] ? lines[3] : NULL,
                                         .top = size };

    for (size_t d = 0; d < sizeof(sample) / sizeof(sample[0]); d++) {
        for (int form = 0; form < FORMS; form++)
            st[form] = ask(sample[d], &query, (enum tm_show_form)form);
        /* In cells there are single values: --fields may name what JSON alone has. */
        FUZZ_REQUIRE(st[TM_SHOW_TEXT] == st[TM_SHOW_MARKDOWN] && st[TM_SHOW_TEXT] == st[TM_SHOW_CSV]);
        FUZZ_REQUIRE(st[TM_SHOW_JSON] == TM_OK || st[TM_SHOW_TEXT] != TM_OK);
    }
    return 0;
}
