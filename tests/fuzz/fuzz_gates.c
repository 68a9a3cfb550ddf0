/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a gate file, and as expressions, a line each, held against a summary with all
 * members of the schema, with another one as its baseline.  Beside what the sanitizers see: a
 * status that is neither a result nor a refusal with a reason, counts that do not add up, control
 * characters in the JUnit XML, and memory that is not given back. Seeds: gates of all kinds,
 * written into the folder $TM_FUZZ_SEEDS before the first input. */
#include <string.h>

#include "reports/gates/gates.h"
#include "tests/fuzz/fuzz_job.h"
#include "tests/support/schema_sample.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { LINES_MOST = 4, LINE_BYTES = 1024 };

/* --- what is held against what: made once --- */

static struct tm_run sample_run;
static struct tm_compared_run sample[2];

static const char *const seeds[] = {
    "{\"schema\":\"tracemill.gates\",\"schema_version\":1,\"note\":\"n\",\"gates\":[{\"figure\":"
    "\"steps.median_ps\",\"max\":\"150ms\","
    "\"max_increase_pct\":5,\"min_effect_pct\":\"1%\",\"title\":\"t\"},{\"figure\":\"kpis[device_"
    "utilization].value\",\"min\":80}]}",
    "{\"gates\":[{\"figure\":\"devices[*].busy_ps\",\"max_increase\":\"1.5s\",\"required\":false,"
    "\"allow_partial\":true},"
    "{\"figure\":\"memory.allocators[*].peak_bytes\",\"max\":\"1.5x\"},{\"figure\":\"input."
    "partial\",\"equals\":false}]}",
    "steps.median_ps>+5%\nutilization<80%\ngaps.by_cause[*].total_ps>=1e3us\nops.rows[a->b].self_"
    "ps!=-5\n",
    "step_time<-2%\nroofline.bandwidth<900GB/"
    "s\ntotal.utilisation_pct>-0.5x\ncompile.inside_steps.count>+0\n",
};

static void make_samples(void)
{
    fuzz_run_init(&sample_run);
    for (int i = 0; i < 2; i++) {
        struct tm_doc *const doc = tm_doc_new(&sample_run);

        if (!doc)
            abort();
        test_schema_sample(tm_doc_root(doc), "gpu", i == 0 ? TEST_NOTHING_IS_NULL : 3);
        /* Two runs of whole input, of which nobody knows that they are the same. */
        struct tm_value *const input = tm_member(tm_doc_root(doc), "input");

        tm_add_bool(input, "partial", false);
        (void)tm_add_array(input, "files");
        sample[i] = (struct tm_compared_run){ .summary = tm_doc_root(doc), .path = "run", .measured_ps = -1 };
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *const folder = getenv("TM_FUZZ_SEEDS");
    char path[4096];

    (void)argc;
    (void)argv;
    make_samples();
    for (size_t i = 0; folder && i < sizeof(seeds) / sizeof(seeds[0]); i++) {
        FILE *to;

        (void)snprintf(path, sizeof(path), "%s/gates-%zu", folder, i);
        to = fopen(path, "wb");
        if (to) {
            (void)fwrite(seeds[i], 1, strlen(seeds[i]), to);
            (void)fclose(to);
        }
    }
    return 0;
}

/* --- one input --- */

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static void check_junit(struct tm_run *run, const struct tm_doc *result)
{
    char *text = NULL;
    size_t length = 0;
    FILE *const to = open_memstream(&text, &length);

    expect(to && tm_junit_write(run, result, to) == TM_OK && fclose(to) == 0);
    for (size_t i = 0; i < length; i++)
        expect((unsigned char)text[i] >= 0x20 || text[i] == '\n');
    free(text);
}

static void check_result(struct tm_run *run, const struct tm_doc *result, size_t failed)
{
    const struct tm_value *const root = tm_doc_root(result), *const counts = tm_get(root, "counts");
    int64_t all = 0;

    for (size_t i = 0; i < tm_length(counts); i++)
        all += tm_int(tm_value_at(counts, i));
    expect(all == (int64_t)tm_length(tm_get(root, "gates")));
    expect(tm_int(tm_get(counts, "failed")) == (int64_t)failed);
    check_junit(run, result);
}

/* Gates that were read, or not: with and without a baseline. */
static void judge(struct tm_run *run, tm_status st, struct tm_gates *gates)
{
    const struct tm_comparison_side baseline = { "base", &sample[1], 1 };
    size_t failed = 0;

    expect((st == TM_OK) == (gates != NULL));
    for (int i = 0; i < 2 && st == TM_OK; i++) {
        struct tm_doc *const result = tm_doc_new(run);

        st = result ? tm_gates_judge(run, result, gates, &sample[0], i ? &baseline : NULL, &failed) : TM_ERR_LIMIT;
        if (st == TM_OK)
            check_result(run, result, failed);
        tm_doc_free(result);
    }
    expect(st == TM_OK ||
           ((st == TM_ERR_USAGE || st == TM_ERR_LIMIT) && run->error.status == st && run->error.what[0]));
    tm_gates_free(gates);
}

static void use_file(const char *path, size_t size)
{
    struct tm_gates *gates = NULL;
    struct tm_run run;

    (void)size;
    fuzz_run_init(&run);
    const tm_status st = tm_gates_read(&run, &gates, path);

    judge(&run, st, gates);
    fuzz_run_end(&run);
}

static void use_lines(const uint8_t *data, size_t size)
{
    char line[LINE_BYTES];

    for (int count = 0; size > 0 && count < LINES_MOST; count++) {
        const uint8_t *const end = memchr(data, '\n', size);
        const size_t whole = end ? (size_t)(end - data) : size, n = whole < LINE_BYTES ? whole : LINE_BYTES - 1;
        const char *const expression = line;
        struct tm_gates *gates = NULL;
        struct tm_run run;

        memcpy(line, data, n);
        line[n] = '\0';
        fuzz_run_init(&run);
        const tm_status st = tm_gates_parse(&run, &gates, &expression, 1);

        judge(&run, st, gates);
        fuzz_run_end(&run);
        data += whole + (end != NULL);
        size -= whole + (end != NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_with_file(data, size, use_file);
    use_lines(data, size);
    return 0;
}
