/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/commands/commands.h"

#include "tests/support/test_run.h"

#include <stdlib.h>

#include "tests/support/summary_json.h"

/* A run of a GPU that has everything. */
static const char whole[] =
    "{'files':[{'path':'log/"
    "h0.xplane.pb','host':'h0','bytes':2048,'gzip':true,'wrapping':'gzip','inflated_bytes':8192,'events':12,"
    "'partial':false,'problems':[]}],'file_count':1,'partial':false,'warnings':[],'environment':{'platform':'gpu',"
    "'hosts':[{'host':'h0','jax':'0.8.1','begin_ns':1790000000000000000,'end_ns':1790000001000000000}]},'coverage':"
    "{'events_read':1234567,'events_used':1200000,'classes':{'kernel':5,'python':3,'compile':1,'step_marker':3,"
    "'alloc':2,'free':2},'tallies':{'negative-start':{'count':2,'level':'note','help':'starts before the profile'}}},"
    "'unused':[],'contents':[{'host':'h0','steps':{'source':'host','count':12,'chosen':10,'warmup':2,'incomplete':0},"
    "'devices':[{'name':'/"
    "device:GPU:0','kind':'gpu','model':'H200','activities':5,'first_ps':1000000,'last_ps':2000000,"
    "'has_collapsed_graphs':false}],'lines':[{'plane':'/device:GPU:0','line':'Stream #1','id':1,'kind':'GPU stream',"
    "'events':5,'first_ps':1000000,'last_ps':2000000}],'line_count':1,'empty_lines':1,'more_lines':{'count':0,'events':"
    "0},"
    "'names':[{'name':'gemm','class':'kernel','count':5,'total_ps':500000}],'name_count':1}]}";

struct fixture {
    struct tm_run run;
    struct tm_doc *doc;
};

static void begin(struct fixture *f, const char *patch)
{
    test_run_init(&f->run);
    f->doc = tm_doc_new(&f->run);
    assert_non_null(f->doc);
    test_summary_load_changed(tm_doc_root(f->doc), whole, patch);
    tm_inspect_advise(tm_doc_root(f->doc));
    assert_int_equal(tm_doc_status(f->doc), TM_OK);
}

static void finish(struct fixture *f)
{
    tm_doc_free(f->doc);
    assert_ledger_is_even(&f->run);
}

/* What is printed; the caller frees it. */
static char *printed(const struct fixture *f)
{
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);

    assert_non_null(to);
    tm_inspect_print(tm_doc_root(f->doc), to);
    assert_int_equal(fclose(to), 0);
    return text;
}

static void what_is_missing_is_advised(void **state)
{
    static const struct {
        const char *patch, *advice; /* ids, joined */
    } rows[] = {
        { "{}", "" },
        { "{'coverage':{'events_read':0}}", "no-events" },
        { "{'partial':true}", "partial" },
        { "{'environment':{'platform':'none'},'unused':[{'host':'h0','name':'/device:GPU:0'}]}", "no-device-activity" },
        { "{'environment':{'platform':'none'}}", "no-device-activity" },
        { "{'environment':{'platform':'none'},'coverage':{'kernel_launches':50,'classes':{'kernel':0}}}",
          "kernels-lost" },
        { "{'coverage':{'kernel_launches':50,'classes':{'kernel':30}}}", "kernels-lost" },
        { "{'coverage':{'kernel_launches':50,'classes':{'kernel':50}}}", "" },
        { "{'environment':{'platform':'none'},'coverage':{'unknown_devices':[{'name':'MTIA','events':5}]}}",
          "unknown-device" },
        { "{'coverage':{'unknown_devices':[{'name':'MTIA','events':5}]}}", "unknown-device" },
        { "{'environment':{'hosts':[{'host':'h0','framework':'jax','device_events':2097152}]}}", "events-capped" },
        { "{'environment':{'hosts':[{'host':'h0','framework':'jax','device_events':2097153}]}}", "" },
        { "{'coverage':{'classes':{'kernel':5,'python':0,'compile':0,'step_marker':0}}}", "no-host-events" },
        { "{'coverage':{'classes':{'kernel':5,'python':0,'step_marker':3,'alloc':1}}}", "no-python" },
        { "{'coverage':{'classes':{'kernel':5,'python':1,'alloc':0,'free':0}}}", "no-memory-events" },
        { "{'environment':{'platform':'cpu'},'coverage':{'classes':{'alloc':0,'free':0}}}", "" },
        { "{'contents':[{'steps':{'source':'session','count':1,'chosen':1}}]}", "no-steps" },
        { "{'contents':[{'steps':{'source':'module','count':9,'chosen':8}}]}", "no-steps" },
        { "{'contents':[{'steps':{'source':'host','count':2,'chosen':1}}]}", "one-step" },
        { "{'contents':[{'steps':{'source':'host','chosen':9},'devices':[{'has_collapsed_graphs':true}]}]}",
          "graphs-collapsed" },
        { "{'warnings':['dropped 5 events']}", "profiler-warnings" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct tm_value *advice;
        char ids[256] = "";
        struct fixture f;

        begin(&f, rows[i].patch);
        advice = tm_get(tm_doc_root(f.doc), "advice");
        for (size_t k = 0; k < tm_length(advice); k++) {
            (void)strncat(ids, k ? " " : "", sizeof(ids) - strlen(ids) - 1);
            (void)strncat(ids, tm_text(tm_get(tm_at(advice, k), "id")), sizeof(ids) - strlen(ids) - 1);
            assert_true(strlen(tm_text(tm_get(tm_at(advice, k), "fix"))) > 0);
        }
        if (strcmp(ids, rows[i].advice) != 0)
            fail_msg("%s: advised '%s', not '%s'", rows[i].patch, ids, rows[i].advice);
        finish(&f);
    }
}

#define TORCH                                                                                                          \
    "{'files':[{'path':'a.json','host':'h0','kind':'chrome_json'}],'environment':{'platform':'gpu','hosts':"           \
    "[{'host':'h0','framework':'pytorch'}]},"
#define COPY                                                                                                           \
    "{'files':[{'path':'a.json','host':'h0','kind':'chrome_json'}],'environment':{'platform':'gpu','hosts':"           \
    "[{'host':'h0','framework':'jax'}]},"
#define FOREIGN                                                                                                        \
    "{'files':[{'path':'a.json','host':'h0','kind':'chrome_json'}],'environment':{'platform':'none','hosts':"          \
    "[{'host':'h0','framework':null}]},"

static void advice_is_of_the_framework(void **state)
{
    static const struct {
        const char *patch, *id, *fix; /* fix NULL: no such advice */
    } rows[] = {
        { TORCH "'coverage':{'classes':{'python':0,'framework_op':9}}}", "no-python", "with_stack=True" },
        { TORCH "'coverage':{'classes':{'alloc':0,'free':0}}}", "no-memory-events", "profile_memory=True" },
        { TORCH "'coverage':{'classes':{'kernel':5,'launch':9,'python':0,'step_marker':0,'compile':0}}}",
          "no-host-events", "ProfilerActivity.CPU" },
        { TORCH "'contents':[{'steps':{'source':'session','count':1,'chosen':1}}]}", "no-steps", "prof.step()" },
        { TORCH "'contents':[{'steps':{'source':'host','count':2,'chosen':1}}]}", "one-step",
          "torch.profiler.schedule" },
        { TORCH "'partial':true}", "partial", "export_chrome_trace" },
        { COPY "'coverage':{'classes':{'alloc':0,'free':0}}}", "no-memory-events", NULL },
        { "{'files':[{'path':'a.json','host':'h0','kind':'chrome_json','notes':['it lacks "
          "HLO']}],'environment':{'platform':"
          "'gpu','hosts':[{'host':'h0','framework':'jax'}]}}",
          "json-copy", ".xplane.pb" },
        { FOREIGN "'coverage':{'classes':{'python':0,'runtime':9}}}", "no-python", NULL },
        { FOREIGN "'unused':[]}", "no-device-activity", "JAX or PyTorch" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct tm_value *advice;
        const char *fix = NULL;
        struct fixture f;

        begin(&f, rows[i].patch);
        advice = tm_get(tm_doc_root(f.doc), "advice");
        for (size_t k = 0; k < tm_length(advice); k++) {
            const char *text = tm_text(tm_get(tm_at(advice, k), "fix"));

            if (!strcmp(tm_text(tm_get(tm_at(advice, k), "id")), rows[i].id))
                fix = text;
            assert_true(*text && *tm_text(tm_get(tm_at(advice, k), "what")));
            assert_null(strchr(text, '|'));
        }
        if (!fix != !rows[i].fix || (fix && !strstr(fix, rows[i].fix)))
            fail_msg("%s: the fix of %s is '%s'", rows[i].patch, rows[i].id, fix ? fix : "not there");
        finish(&f);
    }
}

static void a_file_is_called_what_it_is(void **state)
{
    static const struct {
        const char *patch, *words;
    } rows[] = {
        { "{}", "XSpace, 2.00 KiB (gzip of 8.00 KiB)" },
        { TORCH "'unused':[]}", "Chrome JSON (PyTorch), " },
        { COPY "'unused':[]}", "Chrome JSON (JAX), " },
        { FOREIGN "'unused':[]}", "Chrome JSON, " },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;
        char *text;

        begin(&f, rows[i].patch);
        text = printed(&f);
        if (!strstr(text, rows[i].words))
            fail_msg("'%s' is not in\n%s", rows[i].words, text);
        free(text);
        finish(&f);
    }
}

static void everything_that_was_found_is_printed(void **state)
{
    /* clang-format off */
    static const char *const parts[] = {
        "log/h0.xplane.pb", "2.00 KiB (gzip of 8.00 KiB)", "JAX 0.8.1", "2026-09-21", "12, marked on the host",
        "2 of them warm-up", "/device:GPU:0, H200, 5 activities", "Stream #1", "1 line without events", "gemm",
        "1,234,567 events read, 1,200,000 of them used", "kernel 5", "note: negative-start (2)",
        "the profile contains everything the figures need",
    };
    /* clang-format on */
    struct fixture f;
    char *text;

    (void)state;
    begin(&f, "{}");
    text = printed(&f);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (!strstr(text, parts[i]))
            fail_msg("'%s' is not in\n%s", parts[i], text);
    free(text);
    finish(&f);
}

static void texts_of_the_trace_cannot_write_to_the_terminal(void **state)
{
    struct fixture f;
    char *text;

    (void)state;
    begin(&f, "{'warnings':['a\\u001b[2Jb\\nc'],'contents':[{'host':'h\\u001b]0;x\\u0007','lines':[{'plane':'\\u009bp',"
              "'line':'l\\r\\u202e','kind':'other','events':1,'first_ps':null,'last_ps':null}],'names':[{'name':"
              "'n\\u0000\\u001b','class':'other','count':1,'total_ps':1}]}]}");
    text = printed(&f);
    for (const char *at = text; *at; at++)
        if ((unsigned char)*at < 0x20 && *at != '\n')
            fail_msg("a control character in\n%s", text);
    assert_null(strstr(text, "\xc2\x9b"));
    assert_null(strstr(text, "\xe2\x80\xae"));
    assert_non_null(strstr(text, "\\n"));
    free(text);
    finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_missing_is_advised),
        cmocka_unit_test(advice_is_of_the_framework),
        cmocka_unit_test(a_file_is_called_what_it_is),
        cmocka_unit_test(everything_that_was_found_is_printed),
        cmocka_unit_test(texts_of_the_trace_cannot_write_to_the_terminal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
