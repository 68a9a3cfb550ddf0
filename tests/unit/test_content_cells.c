/* SPDX-License-Identifier: Apache-2.0 */
/* Cells: how each kind of value looks, what is empty, the exact numbers; tones. */
#include "reports/content/content.h"

#include "tests/support/summary_json.h"
#include "tests/support/test_run.h"

static struct tm_run run;
static struct tm_doc *doc;

static int set_up(void **state)
{
    (void)state;
    test_run_init(&run);
    doc = tm_doc_new(&run);
    assert_non_null(doc);
    test_summary_load(tm_doc_root(doc),
                      "{'input':{'hosts':['train-2026-job-0','train-2026-job-1']},'name':'a \\u202e name','none':'',"
                      "'ps':1500000,"
                      "'negative':-3,'share':12.345,'yes':true,'no':false,'step':12345,"
                      "'device':'train-2026-job-0/gpu:0','host':'train-2026-job-1','nothing':null,"
                      "'why':{'nothing':'no reason'}}");
    tm_add_int(tm_doc_root(doc), "big", INT64_C(9007199254740993));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tm_doc_free(doc);
    assert_ledger_is_even(&run);
    return 0;
}

static const struct tm_value *of(const char *key)
{
    return tm_get(tm_doc_root(doc), key);
}

static void assert_shown(struct tm_cell cell, const char *shown)
{
    char out[TM_FORMAT_BYTES];

    assert_string_equal(tm_cell_shown(&cell, tm_doc_root(doc), out), shown);
    assert_int_equal(tm_cell_is_empty(&cell), *shown == 0);
}

static void assert_exact(struct tm_cell cell, const char *exact)
{
    char out[TM_FORMAT_BYTES];

    assert_string_equal(tm_cell_exact(&cell, out), exact);
}

static void numbers_have_the_form_of_their_kind(void **state)
{
    static const struct {
        enum tm_doc_kind kind;
        int64_t whole;
        const char *shown;
    } wholes[] = {
        { TM_DOC_TIME, 1500000, "1.50 \xc2\xb5s" },
        { TM_DOC_MOMENT, 1500000000, "0.001500000 s" },
        { TM_DOC_COUNT, 1234567, "1,234,567" },
        { TM_DOC_BYTES, 1024, "1.00 KiB" },
        { TM_DOC_RATE, 12300000000, "12.3 GB/s" },
        { TM_DOC_FLOP_RATE, 61900000000000, "61.9 TFLOP/s" },
        { TM_DOC_PERCENT, 45, "45.0%" },
        { TM_DOC_NUMBER, 1230000, "1,230,000" },
        { TM_DOC_WORD, 1234567, "1234567" }, /* a name that is a number */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wholes) / sizeof(wholes[0]); i++)
        assert_shown(tm_cell_of_int(wholes[i].kind, wholes[i].whole), wholes[i].shown);
    assert_shown(tm_cell_of_double(TM_DOC_PERCENT, 12.345), "12.3%");
    assert_shown(tm_cell_of_double(TM_DOC_COUNT, 12.6), "12");
    assert_shown(tm_cell_of_double(TM_DOC_WORD, 0.5), "0.500");
    assert_shown(tm_cell_of_int(TM_DOC_TIME, 0), "0 s");
}

/* A summary from elsewhere may hold any number; the size of the least one is past those of 64 bits. */
static void numbers_at_the_ends_of_the_range_are_shown(void **state)
{
    struct tm_cell change = tm_cell_of_int(TM_DOC_TIME, INT64_MIN);
    char most[TM_FORMAT_BYTES], shown[TM_FORMAT_BYTES + 1];

    (void)state;
    (void)tm_format_time(most, INT64_MAX);
    (void)snprintf(shown, sizeof(shown), "-%s", most);
    change.is_change = true;
    assert_shown(change, shown);
    assert_shown(tm_cell_of_double(TM_DOC_TIME, 1e300), most);
    assert_shown(tm_cell_of_double(TM_DOC_TIME, -1e300), shown);
}

static void values_of_the_summary_have_it_too(void **state)
{
    (void)state;
    assert_shown(tm_cell_of_value(TM_DOC_TIME, of("ps")), "1.50 \xc2\xb5s");
    assert_shown(tm_cell_of_value(TM_DOC_PERCENT, of("share")), "12.3%");
    assert_shown(tm_cell_of_value(TM_DOC_COUNT, of("negative")), "-3");
    assert_shown(tm_cell_of_value(TM_DOC_WORD, of("step")), "12345");
    assert_shown(tm_cell_of_value(TM_DOC_WORD, of("yes")), "yes");
    assert_shown(tm_cell_of_value(TM_DOC_WORD, of("no")), "no");
    assert_shown(tm_cell_of_value(TM_DOC_NAME, of("name")), "a \xe2\x80\xae name");
    assert_shown(tm_cell_of_value(TM_DOC_NAME, of("ps")), "1500000");
}

static void texts_have_the_words_of_their_kind(void **state)
{
    static const struct {
        enum tm_doc_kind kind;
        const char *text, *shown;
    } texts[] = {
        { TM_DOC_WORD, "none", "none" },
        { TM_DOC_NAME, "none", "none" },
        { TM_DOC_PROSE, "A sentence.", "A sentence." },
        { TM_DOC_SOURCE, "host", "step markers on the host" },
        { TM_DOC_SOURCE, "elsewhere", "elsewhere" },
        { TM_DOC_DIRECTION, "h2d", "host to device" },
        { TM_DOC_DIRECTION, "other", "unknown direction" },
        { TM_DOC_TERM, "none", "nothing" },
        { TM_DOC_TERM, "compute", "computing" },
        { TM_DOC_TERM, "shared_memory", "shared memory" },
        { TM_DOC_TERM, "registers", "registers" },
        { TM_DOC_TERM, "graph", "whole graphs" },
    };
    char out[TM_FORMAT_BYTES];
    const struct tm_cell cause = tm_cell_of_text(TM_DOC_CAUSE, "device_wait");

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_shown(tm_cell_of_text(texts[i].kind, texts[i].text), texts[i].shown);
    assert_string_not_equal(tm_cell_shown(&cause, tm_doc_root(doc), out), "device_wait");
    assert_shown(tm_cell_of_value(TM_DOC_DEVICE, of("device")), "job-0/gpu:0");
    assert_shown(tm_cell_of_value(TM_DOC_HOST, of("host")), "job-1");
    assert_shown(tm_cell_of_text(TM_DOC_HOST, "a stranger"), "a stranger");
}

static void what_is_not_there_is_empty(void **state)
{
    (void)state;
    for (enum tm_doc_kind kind = TM_DOC_WORD; kind <= TM_DOC_NUMBER; kind++) {
        assert_shown(tm_cell_of_value(kind, NULL), "");
        assert_shown(tm_cell_of_value(kind, of("nothing")), "");
        assert_shown(tm_cell_of_value(kind, of("none")), "");
        assert_shown(tm_cell_of_text(kind, ""), "");
        assert_exact(tm_cell_of_value(kind, of("nothing")), "");
        assert_exact(tm_cell_of_text(kind, "7"), "");
    }
}

static void exact_numbers_lose_nothing(void **state)
{
    (void)state;
    assert_exact(tm_cell_of_value(TM_DOC_TIME, of("big")), "9007199254740993");
    assert_exact(tm_cell_of_value(TM_DOC_PERCENT, of("share")), "12.345");
    assert_exact(tm_cell_of_int(TM_DOC_BYTES, INT64_MIN), "-9223372036854775808");
    assert_exact(tm_cell_of_double(TM_DOC_NUMBER, 0.1), "0.1");
    assert_exact(tm_cell_of_value(TM_DOC_NAME, of("name")), "");
}

static void a_share_needs_a_whole(void **state)
{
    (void)state;
    assert_shown(tm_cell_of_share(of("share"), of("ps")), "< 0.1%");
    assert_shown(tm_cell_of_share(of("ps"), of("ps")), "100.0%");
    assert_shown(tm_cell_of_share(of("ps"), of("negative")), "");
    assert_shown(tm_cell_of_share(of("ps"), of("nothing")), "");
    assert_shown(tm_cell_of_share(of("nothing"), of("ps")), "");
    assert_shown(tm_cell_of_share(NULL, NULL), "");
}

static void each_kind_of_number_has_its_unit(void **state)
{
    (void)state;
    assert_string_equal(tm_doc_unit(TM_DOC_TIME), "ps");
    assert_string_equal(tm_doc_unit(TM_DOC_MOMENT), "ps");
    assert_string_equal(tm_doc_unit(TM_DOC_BYTES), "bytes");
    assert_string_equal(tm_doc_unit(TM_DOC_RATE), "bytes/s");
    assert_string_equal(tm_doc_unit(TM_DOC_FLOP_RATE), "FLOP/s");
    assert_string_equal(tm_doc_unit(TM_DOC_PERCENT), "%");
    assert_string_equal(tm_doc_unit(TM_DOC_COUNT), "");
    for (enum tm_doc_kind kind = TM_DOC_WORD; kind < TM_DOC_TIME; kind++) {
        assert_string_equal(tm_doc_unit(kind), "");
        assert_false(tm_doc_is_number(kind));
    }
    assert_true(tm_doc_is_number(TM_DOC_TIME) && tm_doc_is_number(TM_DOC_NUMBER));
}

static void a_tone_is_that_of_its_word(void **state)
{
    (void)state;
    assert_int_equal(tm_tone_of("good"), TM_TONE_GOOD);
    assert_int_equal(tm_tone_of("warning"), TM_TONE_WARNING);
    assert_int_equal(tm_tone_of("bad"), TM_TONE_BAD);
    assert_int_equal(tm_tone_of("critical"), TM_TONE_CRITICAL);
    assert_int_equal(tm_tone_of("info"), TM_TONE_INFO);
    assert_int_equal(tm_tone_of("unknown"), TM_TONE_UNKNOWN);
    assert_int_equal(tm_tone_of(""), TM_TONE_UNKNOWN);
    assert_int_equal(tm_tone_of("goodness"), TM_TONE_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_the_form_of_their_kind),
        cmocka_unit_test(numbers_at_the_ends_of_the_range_are_shown),
        cmocka_unit_test(values_of_the_summary_have_it_too),
        cmocka_unit_test(texts_have_the_words_of_their_kind),
        cmocka_unit_test(what_is_not_there_is_empty),
        cmocka_unit_test(exact_numbers_lose_nothing),
        cmocka_unit_test(a_share_needs_a_whole),
        cmocka_unit_test(each_kind_of_number_has_its_unit),
        cmocka_unit_test(a_tone_is_that_of_its_word),
    };

    return cmocka_run_group_tests_name("content_cells", tests, set_up, tear_down);
}
