/* SPDX-License-Identifier: Apache-2.0 */
/* Two summaries that no profile gives (fuzz_changes.h), as files that somebody else wrote: read, compared with each other,
 * set side by side as a scaling study, and held to gates; each document on a medium.  Beside what the sanitizers see: a
 * refusal without a reason, a document that does not read again as it was, and memory that is not given back. */
#include "pipeline/doc/doc.h"
#include "pipeline/engine/outputs.h"
#include "reports/gates/gates.h"
#include "reports/scaling/speedup.h"
#include "tests/fuzz/fuzz_changes.h"
#include "tests/fuzz/fuzz_media.h"

enum { VERSION = 1, /* of the schema of summaries */ ROWS = 30, QUICK = 5 * FUZZ_COLLAPSED };

static void require_reason(const struct tm_run *run, tm_status st)
{
    FUZZ_REQUIRE(st == TM_OK || ((st == TM_ERR_USAGE || st == TM_ERR_INPUT || st == TM_ERR_LIMIT) &&
                                 run->error.status == st && run->error.what[0]));
}

/* Print a document into a file without a name, and read it with `reads`. */
typedef tm_status read_again(struct tm_run *run, struct tm_doc *doc, const char *file);

static tm_status pass_through(struct tm_run *run, const struct tm_doc *from, struct tm_doc *to, read_again *reads)
{
    const int fd = memfd_create("summary", MFD_CLOEXEC);
    char path[64];
    tm_status st;

    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    FUZZ_REQUIRE(fd >= 0 && tm_doc_print(from, run, fd) == TM_OK && lseek(fd, 0, SEEK_SET) == 0);
    st = reads(run, to, path);
    (void)close(fd);
    return st;
}

static struct tm_doc *new_doc(struct tm_run *run)
{
    struct tm_doc *const doc = tm_doc_new(run);

    FUZZ_REQUIRE(doc != NULL);
    return doc;
}

/* out: NULL where the summary was refused */
static struct tm_doc *make_summary(struct tm_run *run, struct script *script, uint8_t kind)
{
    struct tm_doc *const made = new_doc(run), *read = new_doc(run);
    tm_status st;

    find_next_change(script);
    copy_inside(script, tm_doc_root(made), base(kind), 1);
    tm_add_string(tm_doc_root(made), "schema", "tracemill.summary"); /* or it would go no further */
    tm_add_int(tm_doc_root(made), "schema_version", VERSION);
    st = tm_doc_status(made);
    if (st == TM_OK)
        st = pass_through(run, made, read, tm_summary_read);
    require_reason(run, st);
    tm_doc_free(made);
    if (st == TM_OK)
        return read;
    tm_doc_free(read);
    return NULL;
}

static tm_status read_any(struct tm_run *run, struct tm_doc *doc, const char *file)
{
    (void)run;
    return tm_doc_read_file(doc, tm_doc_root(doc), file);
}

/* Texts of JSON, CSV and the like, now and then a PDF. */
static enum fuzz_medium medium_of(uint8_t byte)
{
    const int which = byte % (QUICK + 1);

    return which == QUICK ? FUZZ_PDF : (enum fuzz_medium)(which % FUZZ_COLLAPSED);
}

static void deliver(struct tm_run *run, struct tm_doc *doc, tm_status st, uint8_t medium)
{
    require_reason(run, st);
    if (st == TM_OK && tm_doc_status(doc) == TM_OK) {
        struct tm_doc *const again = new_doc(run);

        st = pass_through(run, doc, again, read_any);
        FUZZ_REQUIRE(st == TM_OK || st == TM_ERR_LIMIT);
        tm_doc_free(again);
        (void)fuzz_write(run, doc, medium_of(medium));
    }
    tm_doc_free(doc);
}

static void begin_again(struct tm_run *run)
{
    run->error = (struct tm_error){ .status = TM_OK };
}

static void compare(struct tm_run *run, const struct tm_comparison_side side[2], uint8_t medium)
{
    const struct tm_compare_options options = { .rows = ROWS, .is_forced = true };
    struct tm_doc *const doc = new_doc(run);

    begin_again(run);
    require_reason(run, tm_compare_check(run, side, 2));
    begin_again(run);
    deliver(run, doc, tm_compare(run, doc, side, 2, &options), medium);
}

static void scale(struct tm_run *run, const struct tm_comparison_side side[2], uint8_t medium)
{
    const struct tm_compare_options options = { .rows = ROWS, .is_forced = true };
    const uint32_t first = tm_scaling_devices(side[0].run->summary), second = tm_scaling_devices(side[1].run->summary);
    const bool in_order = first < second;
    const struct tm_scaling_point points[2] = { { side[!in_order], in_order ? first : second },
                                                { side[in_order], in_order ? second : first } };
    tm_status st;

    begin_again(run);
    st = tm_scaling_check(run, points, 2);
    require_reason(run, st);
    if (st == TM_OK) {
        struct tm_doc *const doc = new_doc(run);

        deliver(run, doc, tm_scaling(run, doc, points, 2, &options), medium);
    }
}

static void check(struct tm_run *run, const struct tm_comparison_side side[2], uint8_t medium)
{
    static const char *const expressions[] = { "steps.median_ps>+5%", "kpis[device_utilization].value<80",
                                               "gaps.by_cause[*].total_ps>=5us" };
    struct tm_gates *gates = NULL;

    begin_again(run);
    FUZZ_REQUIRE(tm_gates_parse(run, &gates, expressions, sizeof(expressions) / sizeof(expressions[0])) == TM_OK);
    struct tm_doc *const doc = new_doc(run);
    size_t failed = 0;

    begin_again(run);
    deliver(run, doc, tm_gates_judge(run, doc, gates, side[0].run, medium & 1 ? &side[1] : NULL, &failed), medium / 2);
    tm_gates_free(gates);
}

enum { USES = 3 };
typedef void use_both(struct tm_run *run, const struct tm_comparison_side side[2], uint8_t medium);
static use_both *const use[USES] = { compare, scale, check };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct script script = { data, size, 0, 0 };
    const uint8_t medium = next_byte(&script), kind = next_byte(&script), share = next_byte(&script);
    struct script second = script;
    struct tm_compared_run runs[2];
    struct tm_doc *docs[2];
    struct tm_run run;

    script.left = script.left * share / 256;
    second.at += script.left;
    second.left -= script.left;
    fuzz_run_init(&run);
    docs[0] = make_summary(&run, &script, kind);
    docs[1] = docs[0] ? make_summary(&run, &second, (uint8_t)(kind / BASES)) : NULL;
    if (docs[1]) {
        for (int i = 0; i < 2; i++)
            runs[i] = (struct tm_compared_run){
                .summary = tm_doc_root(docs[i]), .path = "summary.json", .is_summary = true, .measured_ps = -1
            };
        const struct tm_comparison_side side[2] = { { "a", &runs[0], 1 }, { "b", &runs[1], 1 } };

        use[medium % USES](&run, side, medium / USES);
    }
    tm_doc_free(docs[0]);
    tm_doc_free(docs[1]);
    fuzz_run_end(&run);
    return 0;
}
