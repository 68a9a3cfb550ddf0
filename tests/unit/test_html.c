/* SPDX-License-Identifier: Apache-2.0 */
/* The HTML writer and the page, on summaries made by hand. */
#include "reports/media.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pipeline/strings.h"
#include "reports/chart/chart.h"
#include "reports/content/content.h"
#include "reports/html/html_page.h"
#include "tests/support/sample_summary.h"
#include "tests/support/summary_json.h"
#include "tests/support/test_run.h"

/* --- the writer --- */

static char *text_and_attribute(const char *text)
{
    struct tm_htmlw w = { .depth = 0 };
    char *page = NULL;
    size_t bytes = 0;

    w.to = open_memstream(&page, &bytes);
    assert_non_null(w.to);
    tm_htmlw_open(&w, "p");
    tm_htmlw_attr(&w, "title", text);
    tm_htmlw_text(&w, text);
    tm_htmlw_close(&w);
    assert_int_equal(fclose(w.to), 0);
    return page;
}

static void texts_are_escaped_in_text_and_attribute(void **state)
{
    static const struct {
        const char *from, *to;
    } table[] = {
        { "plain", "plain" },
        { "a<b>&'\"", "a&lt;b&gt;&amp;&#39;&quot;" },
        { "&amp;", "&amp;amp;" },
        { "\xe2\x80\xae"
          "x\n",
          "\\u202ex\\n" },
        { "\xff<", "\\xff&lt;" },
        { "漢", "漢" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        char want[256], *page = text_and_attribute(table[i].from);

        (void)snprintf(want, sizeof(want), "<p title=\"%s\">%s</p>", table[i].to, table[i].to);
        assert_string_equal(page, want);
        free(page);
    }
}

static void every_byte_is_safe(void **state)
{
    char all[256], *page;

    (void)state;
    for (int i = 1; i < 256; i++)
        all[i - 1] = (char)i;
    all[255] = 0;
    page = text_and_attribute(all);
    assert_true(tm_utf8_is_valid(page, strlen(page)));
    for (const char *at = page; *at; at++)
        assert_true((unsigned char)*at >= ' ' && (unsigned char)*at != 0x7f);
    assert_int_equal(strcspn(page, "<"), 0);
    assert_string_equal(strrchr(page, '<'), "</p>");
    free(page);
}

static void numbers_of_attributes_are_short(void **state)
{
    static const struct {
        double value;
        const char *text;
    } table[] = {
        { 0, "0" },     { 12, "12" },   { 12.5, "12.5" }, { -0.25, "-0.25" },
        { 0.004, "0" }, { 1.999, "2" }, { 1e300, "0" },   { -0.001, "0" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct tm_htmlw w = { .depth = 0 };
        char want[64], *page = NULL;
        size_t bytes = 0;

        w.to = open_memstream(&page, &bytes);
        assert_non_null(w.to);
        tm_htmlw_open(&w, "x");
        tm_htmlw_attr_number(&w, "n", table[i].value);
        tm_htmlw_leaf(&w);
        assert_int_equal(fclose(w.to), 0);
        (void)snprintf(want, sizeof(want), "<x n=\"%s\"/>", table[i].text);
        assert_string_equal(page, want);
        free(page);
    }
}

/* --- the page --- */

static char *page_of_doc(struct tm_run *run, const struct tm_doc *doc)
{
    char *page = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&page, &bytes);

    assert_non_null(to);
    assert_int_equal(tm_html_write(run, doc, to), TM_OK);
    assert_int_equal(fclose(to), 0);
    assert_int_equal(strlen(page), bytes); /* no NUL inside */
    return page;
}

static char *page_of(enum tm_sample_profile which)
{
    struct tm_run run;
    struct tm_doc *doc;
    char *page;

    test_run_init(&run);
    doc = tm_sample_summary(&run, which);
    assert_non_null(doc);
    page = page_of_doc(&run, doc);
    tm_doc_free(doc);
    assert_ledger_is_even(&run);
    return page;
}

static char *page_of_json(const char *json)
{
    struct tm_run run;
    struct tm_doc *doc;
    char *page;

    test_run_init(&run);
    doc = tm_doc_new(&run);
    assert_non_null(doc);
    test_summary_load(tm_doc_root(doc), json);
    page = page_of_doc(&run, doc);
    tm_doc_free(doc);
    assert_ledger_is_even(&run);
    return page;
}

static int count(const char *page, const char *what)
{
    int n = 0;

    for (const char *at = strstr(page, what); at; at = strstr(at + 1, what))
        n++;
    return n;
}

static void assert_has(const char *page, const char *what)
{
    if (!strstr(page, what))
        fail_msg("the page lacks: %s", what);
}

static void assert_lacks(const char *page, const char *what)
{
    if (strstr(page, what))
        fail_msg("the page has: %s", what);
}

/* End a page before some place that it has. */
static void cut_at(char *page, const char *what)
{
    char *at = strstr(page, what);

    assert_non_null(at);
    *at = 0;
}

static bool is_void(const char *name, size_t length)
{
    return (length == 5 && memcmp(name, "input", 5) == 0) || (length == 4 && memcmp(name, "meta", 4) == 0);
}

struct open_tag {
    const char *name;
    size_t length;
};

/* names: "td th ", each with a blank after it */
static bool is_one_of(const struct open_tag *tag, const char *names)
{
    const char *const at = memmem(names, strlen(names), tag->name, tag->length);

    return at && at[tag->length] == ' ' && (at == names || at[-1] == ' ');
}

/* Cells and rows have no end tags: the start of the next one ends them, and the end of what they are in.
 * out: how many elements stay open */
static int end_cells(const struct open_tag *open, int depth, const struct open_tag *tag, bool closes)
{
    const char *const ended = closes && is_one_of(tag, "thead tbody tfoot ") ? "td th tr "
                              : closes                                       ? ""
                              : is_one_of(tag, "tr ")                        ? "td th tr "
                              : is_one_of(tag, "td th ")                     ? "td th "
                                                                             : "";

    while (depth > 0 && is_one_of(&open[depth - 1], ended))
        depth--;
    return depth;
}

/* Every attribute value is quoted, but for numbers and words of cells. */
static void check_values(const struct open_tag *tag, const char *end)
{
    bool is_inside = false;

    for (const char *at = tag->name; at < end; at++) {
        if (*at == '"')
            is_inside = !is_inside;
        if (*at != '=' || is_inside || at[1] == '"')
            continue;
        assert_true(is_one_of(tag, "td th "));
        while (at + 1 < end && at[1] != ' ') {
            at++;
            assert_true(isalnum((unsigned char)*at) || strchr("+-._", *at));
        }
    }
    assert_false(is_inside);
}

/* Every element that opens closes, in order. */
static void check_tags(const char *page)
{
    struct open_tag open[64];
    int depth = 0;

    assert_int_equal(strncmp(page, "<!DOCTYPE html>\n", 16), 0);
    for (const char *at = strchr(page + 2, '<'); at; at = strchr(at, '<')) {
        const bool closes = at[1] == '/';
        const char *name = at + 1 + closes, *end = name;
        const size_t length = strcspn(name, " />");

        while (*end != '>') { /* '>' inside a quoted value is escaped */
            assert_true(*end && *end != '<');
            end++;
        }
        check_values(&(struct open_tag){ name, length }, end);
        depth = end_cells(open, depth, &(struct open_tag){ name, length }, closes);
        if (closes) {
            assert_true(depth > 0);
            depth--;
            assert_true(open[depth].length == length && memcmp(open[depth].name, name, length) == 0);
        } else if (end[-1] != '/') {
            assert_false(is_void(name, length));
            assert_true(depth < 64);
            open[depth].name = name;
            open[depth++].length = length;
        }
        at = end;
        if (!closes && (strncmp(name, "style", length) == 0 || strncmp(name, "script", length) == 0)) {
            at = strstr(at, "</"); /* the program's own text; embed.sh refuses end tags inside */
            assert_non_null(at);
        }
    }
    assert_int_equal(depth, 0);
}

static void pages_are_well_formed_and_deterministic(void **state)
{
    (void)state;
    for (int which = 0; which < TM_SAMPLES; which++) {
        char *page = page_of((enum tm_sample_profile)which), *again = page_of((enum tm_sample_profile)which);

        check_tags(page);
        assert_string_equal(page, again);
        assert_true(tm_utf8_is_valid(page, strlen(page)));
        assert_true(strlen(page) < 2000000);
        free(page);
        free(again);
    }
}

static void the_page_brings_everything_and_forbids_the_rest(void **state)
{
    char *page = page_of(TM_SAMPLE_GPU);

    (void)state;
    assert_has(page, "default-src &#39;none&#39;");
    assert_has(page, tm_asset_style.hash);
    assert_int_equal(strncmp(tm_asset_script.hash, "sha256-", 7), 0);
    assert_int_equal(strlen(tm_asset_script.hash), 7 + 44);
    assert_lacks(page, "http://");
    /* Perfetto's page, which is opened on a click; nothing is loaded from it. */
    assert_int_equal(count(page, "https://"), count(page, "'https://ui.perfetto.dev'"));
    assert_lacks(page, " src=");
    assert_lacks(page, " style=");
    assert_int_equal(count(page, "<script"), 1);
    assert_int_equal(count(page, "<link"), 0);
    for (const char *at = strstr(page, "href=\""); at; at = strstr(at + 1, "href=\""))
        assert_int_equal(at[6], '#');
    free(page);
}

static void the_style_sheet_has_the_colours_of_the_palette(void **state)
{
    (void)state;
    for (int role = 0; role < TM_ROLE_COUNT; role++) {
        char text[64];

        (void)snprintf(text, sizeof(text), "--c-%s:#%06x;", tm_palette[role].name, tm_palette[role].light);
        assert_has(tm_asset_style.bytes, text);
        (void)snprintf(text, sizeof(text), "--c-%s:#%06x;", tm_palette[role].name, tm_palette[role].dark);
        assert_has(tm_asset_style.bytes, text);
        (void)snprintf(text, sizeof(text), ".f-%s{", tm_palette[role].name);
        assert_has(tm_asset_style.bytes, text);
    }
}

static void kernels_that_could_be_fused_or_fuller_are_listed(void **state)
{
    char *page = page_of(TM_SAMPLE_GPU);

    (void)state;
    assert_has(page, "<figure class=\"table\" id=\"table-occupancy-low\">");
    assert_has(page, "Kernels below 50% occupancy with at least 1% of the kernel time");
    assert_has(page, "Longest pauses between programs");
    assert_has(page, "jit(train_step)/layer_0/softmax");
    free(page);
}

static void what_findings_rest_on_stands_in_the_tables(void **state)
{
    char *page = page_of(TM_SAMPLE_GPU);

    (void)state;
    assert_has(page, "Pauses between launched work");
    assert_has(page, "5.40\xc2\xa0ms");
    assert_has(page, "Fusion opportunities");
    assert_has(page, "Buffers allocated but not freed");
    assert_has(page, "3rd quarter");
    free(page);
}

static void the_first_screen_names_run_hosts_devices_versions_and_window(void **state)
{
    char *page = page_of(TM_SAMPLE_GPU);

    (void)state;
    cut_at(page, "<main");
    assert_has(page, "<h1>2026_11_20_20_37_30</h1>");
    assert_has(page, "trainer-7");
    assert_has(page, "2 × NVIDIA H100 80GB HBM3");
    assert_has(page, "JAX 0.8.1, jaxlib 0.8.1, CUDA 12.8, driver 570.86.10, CUDA runtime 12080");
    assert_has(page, "440\xc2\xa0ms, analyzed steps, starting at 120\xc2\xa0ms");
    assert_has(page, "30 analyzed of 31, median 14.3\xc2\xa0ms");
    assert_has(page, "The devices are busy for 75.0% of the window;");
    assert_has(page, "<section class=\"verdict");
    assert_has(page, "<h2>Top findings</h2>");
    assert_has(page, "<h2>Key figures</h2>");
    assert_has(page, "id=\"chart-0-0\""); /* the parts of the steps */
    assert_lacks(page, "class=\"banner\"");
    free(page);
}

static void a_run_of_pytorch_has_no_columns_of_jax(void **state)
{
    char *page =
        page_of_json("{'environment': {'hosts': [{'host': 'h', 'framework': 'pytorch', 'rank': 3, 'world_size': "
                     "8, 'driver': '12.4', 'jax': null, 'jaxlib': null}]}, 'input': {'hosts': ['h'], "
                     "'files': [{'path': 'a', 'kind': 'chrome_json'}]}}");

    (void)state;
    assert_has(page, "PyTorch (version not recorded), driver 12.4");
    assert_has(page, "Framework");
    assert_lacks(page, "jaxlib");
    assert_lacks(page, "libtpu");
    free(page);
}

static void figures_have_value_judgement_and_limits(void **state)
{
    char *page = page_of(TM_SAMPLE_GPU);

    (void)state;
    assert_has(page, "Device utilization</a></p><p class=\"figure\"><span class=\"value\">75.0%</span> <a "
                     "href=\"#finding-1\" title=\"Devices wait for input data\"><span "
                     "class=\"band warning\">▲ warning</span></a></p><svg class=\"scale\"");
    /* out of its band, and no finding says that it costs time: no color */
    assert_has(page, "<span class=\"value\">412 µs</span> </p><p class=\"limits\">");
    assert_has(page, "<span>critical &lt; 50%</span> <span>good &gt; 80%</span>");
    assert_has(page, "<span>critical &lt; 0.1 ms</span> <span>good &gt; 1 ms</span>");
    assert_has(page, "<span>critical &gt; 0</span> <span>good 0</span>");
    assert_has(page, "(the profile holds no bytes accessed)");
    assert_int_equal(count(page, "id=\"definition-0\""), 1);
    free(page);
}

static void findings_have_stake_evidence_fix_and_place(void **state)
{
    char *page = page_of(TM_SAMPLE_GPU);

    (void)state;
    assert_has(page, "<article class=\"finding warning\" id=\"finding-1\"><h3><span "
                     "class=\"band warning\">▲ warning</span> "
                     "Devices wait for input data</h3>");
    assert_has(page, "<p class=\"stake\">potential savings 86.0\xc2\xa0ms of device time, 9.8% of the window</p>");
    assert_has(page, "<li>the longest gap took 3.10\xc2\xa0ms before step 12</li>");
    assert_has(page, "<li>load data in threads or processes of their own</li>");
    assert_has(page, "<span>at 0.288000000\xc2\xa0s, for 3.10\xc2\xa0ms, gpu:0</span><code class=\"copy\">"
                     "select id, ts, dur, track_id, name from slice "
                     "where ts &lt; 291100000 and ts + dur &gt; 288000000 order by dur desc</code>");
    assert_has(page, "ts &lt; 303900001 and");                                  /* the end is rounded up */
    assert_has(page, "<a href=\"#finding-1\">Devices wait for input data</a>"); /* among the first ones */
    free(page);
}

static void tables_keep_their_totals_with_a_row_for_the_rest(void **state)
{
    char *page = page_of(TM_SAMPLE_GPU);
    const char *kernels = strstr(page, "<section id=\"kernels\">");

    (void)state;
    assert_non_null(kernels);
    assert_has(kernels, "<tfoot><tr class=\"rest\"><th scope=row>112 remaining rows<td");
    assert_has(kernels, "<td class=n>1.20 ms<td");
    assert_has(kernels, ">Precision</a> (the HLO is not in the file).");
    assert_has(kernels, "data-sortable=\"\" data-filter=\"\">");
    assert_has(kernels, "<td data-v=120000000000>120 ms<td");
    free(page);
}

/* What a row repeats is left out: end tags, and classes that say what the cell says itself. */
static void cells_carry_nothing_twice(void **state)
{
    char *page = page_of_json("{'kernels': {'count': 9, 'total_ps': 9000, 'rows': [{'name': 'a', 'count': 4, "
                              "'total_ps': 2000, 'category': 'gemm'}, {'name': 'b', 'count': 5, 'total_ps': 7000, "
                              "'category': 'copy'}]}}");

    (void)state;
    check_tags(page);
    assert_has(page, "<tr><th scope=row class=name>a<td");
    assert_has(page, "<td data-v=2000>2.00 ns<td");
    assert_has(page, "<td>gemm\n");
    assert_lacks(page, "</td>");
    assert_lacks(page, "</th>");
    assert_lacks(page, "</tr>");
    free(page);
}

static void rows_past_the_cap_are_added_to_the_rest(void **state)
{
    static char json[32768] =
        "{'kernels':{'count':1,'total_ps':1,'rest':{'rows':5,'count':50,'total_ps':7000},'rows':[";
    char *page;

    (void)state;
    for (int i = 0; i < 502; i++)
        (void)snprintf(json + strlen(json), sizeof(json) - strlen(json), "%s{'name':'k%d','count':3,'total_ps':1000}",
                       i ? "," : "", i);
    strcat(json, "]}}");
    page = page_of_json(json);
    assert_has(page, ">k499<td");
    assert_lacks(page, ">k500<");
    assert_has(page, "7 remaining rows<td class=n>9.00 ns<td class=n>56\n");
    free(page);
}

static void scopes_are_indented_below_what_is_around_them(void **state)
{
    char *page = page_of(TM_SAMPLE_GPU);

    (void)state;
    assert_has(page, "<th scope=row class=\"tree d0\">step<td");
    assert_has(page, "<th scope=row class=\"tree d1\">layer_0<td");
    assert_has(page, "<th scope=row class=\"tree d1\">decode<td");
    assert_has(page, "step/layer_1");
    free(page);
}

static void what_is_missing_is_named_with_its_reason(void **state)
{
    char *page = page_of(TM_SAMPLE_CPU);

    (void)state;
    assert_lacks(page, "<section id=kernels>");
    assert_lacks(page, "href=\"#kernels\"");
    assert_lacks(page, "Kernel"); /* a CPU has none, and nobody asked for them */
    assert_lacks(page, "Occupancy");
    assert_lacks(page, "Transfers");
    assert_has(page, ">Memory<td class=prose>no allocator recorded anything\n");
    assert_has(page, "Not recorded: ");
    free(page);
    page = page_of(TM_SAMPLE_EMPTY);
    assert_has(page, ">Steps<td class=prose>the profile holds no events\n");
    assert_has(page, "the profile contains no device activity");
    free(page);
}

static void a_partial_input_is_said_at_the_top(void **state)
{
    char *page = page_of(TM_SAMPLE_HOSTILE);
    const char *banner = strstr(page, "The input is damaged or truncated."), *title = strstr(page, "<h1>");

    (void)state;
    assert_true(banner && title && banner < title);
    assert_has(page, "partial files: 1 of 1");
    assert_has(page, "the data ends inside a message (byte 913408122)");
    free(page);
}

static void hostile_names_stay_texts(void **state)
{
    static const char *const never[] = { "<img", "<svg onload", "</textarea", "\x1b", "\xe2\x80\xae", "\xe2\x80\x8b" };
    char *page = page_of(TM_SAMPLE_HOSTILE);

    (void)state;
    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
        assert_lacks(page, never[i]);
    assert_int_equal(count(page, "<script"), 1);
    assert_int_equal(count(page, "</style"), 1);
    assert_int_equal(count(page, "</title>"), count(page, "<title>"));
    assert_has(page, "&lt;script&gt;document.title=&#39;owned&#39;&lt;/script&gt;");
    assert_has(page, "\\u202egnp.exe\\u200b &amp;lt;b&amp;gt;"); /* entities of the name are text, too */
    free(page);
}

static void long_names_open_to_a_bounded_text(void **state)
{
    char *page = page_of(TM_SAMPLE_HOSTILE);

    (void)state;
    assert_has(page, "… (5000 bytes in total)</span></details>");
    assert_lacks(page, "&lt;script&gt;AAAA"); /* byte 3000 of the long name, wherever it stands */
    free(page);
}

static void strange_values_do_no_harm(void **state)
{
    static const char *const jsons[] = {
        "{}",
        "{'steps':[],'devices':{},'kernels':7,'gaps':'x','memory':true,'kpis':{},'findings':{'a':1}"
        ",'verdict':[],'input':3}",
        "{'steps':{'list':[null,1,'x',[],{}]},'devices':[null,1,{}],'kernels':{'rows':[null,{}]},'"
        "kpis':[null,{}],"
        "'findings':[null,{'where':[null,{}],'evidence':[null,3],'fix':{}}]}",
        "{'steps':{'basis':'period','list':[{'number':-1,'chosen':true,'period_ps':"
        "9223372036854775807,'compute_ps':"
        "9e18,'idle_ps':9e18},{'number':1,'chosen':true,'period_ps':0},{'number':2,'chosen':true,'"
        "period_ps':-5}]}}",
        "{'memory':{'allocators':[{'name':'a','capacity_bytes':-1,'peak_bytes':1e300,'peak_at_ps':"
        "0,'timeline':[[0,1,2],[0]]}]}}",
        "{'gaps':{'histogram':[{'from_ps':0,'count':1,'total_ps':1}],'by_cause':{'launch':{'total_"
        "ps':1}}}}",
        "{'findings':[{'title':'t','where':[{'begin_ps':-9000000000000000000,'end_ps':"
        "9000000000000000000}]}]}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(jsons) / sizeof(jsons[0]); i++) {
        char *page = page_of_json(jsons[i]);

        check_tags(page);
        cut_at(page, "<script");
        assert_lacks(page, "NaN");
        assert_lacks(page, "\"nan");
        assert_lacks(page, "\"inf");
        free(page);
    }
}

static void flags_in_advice_stay_together(void **state)
{
    char *page = page_of_json("{'findings':[{'title':'t','severity':'critical','cause':'c','fix':['Set `F=--a-b=true  "
                              "run`, or `x.y()`.']}]}");

    (void)state;
    assert_has(page,
               "<code>F=<span class=\"flag\"><span class=\"unbroken\">--a</span>-b=<wbr/>true</span>  run</code>, "
               "or <code>x.y()</code>.");
    free(page);
}

static void a_full_disk_is_an_error(void **state)
{
    struct tm_run run;
    struct tm_doc *doc;
    FILE *full = fopen("/dev/full", "w");

    (void)state;
    if (!full)
        skip();
    test_run_init(&run);
    doc = tm_sample_summary(&run, TM_SAMPLE_GPU);
    assert_non_null(doc);
    assert_int_equal(tm_html_write(&run, doc, full), TM_ERR_OUTPUT);
    assert_non_null(strstr(run.error.what, "cannot write the HTML report"));
    (void)fclose(full);
    tm_doc_free(doc);
    assert_ledger_is_even(&run);
}

static tm_status write_page(struct tm_run *run)
{
    struct tm_doc *doc = tm_sample_summary(run, TM_SAMPLE_GPU);
    tm_status status = run->error.status;

    if (doc) {
        FILE *to = fopen("/dev/null", "w");

        assert_non_null(to);
        status = tm_html_write(run, doc, to);
        (void)fclose(to);
    }
    tm_doc_free(doc);
    return status;
}

static void refused_memory_is_a_clean_error(void **state)
{
    (void)state;
    refuse_each_request(write_page);
}

/* A table of gaps with so many rows, all of one device. */
static char *page_with_gaps(int rows)
{
    char *json = NULL, *page;
    size_t bytes = 0;
    FILE *to = open_memstream(&json, &bytes);

    assert_non_null(to);
    (void)fprintf(to, "{'input': {'run': 'a', 'hosts': ['a']}, 'gaps': {'longest': [");
    for (int i = 0; i < rows; i++)
        (void)fprintf(to, "%s{'device': 'a/gpu:%d', 'begin_ps': %d, 'dur_ps': 5}", i ? "," : "", i % 2, i);
    (void)fprintf(to, "]}}");
    assert_int_equal(fclose(to), 0);
    page = page_of_json(json);
    free(json);
    return page;
}

static void long_tables_are_folded_and_short_ones_are_not(void **state)
{
    char *page = page_with_gaps(24);

    (void)state;
    check_tags(page);
    assert_lacks(page, "type=\"checkbox\"");
    free(page);
    page = page_with_gaps(25);
    check_tags(page);
    assert_has(page, "<figure class=\"table folded\" id=\"table-gaps");
    assert_has(page, "<label><input type=\"checkbox\" autocomplete=\"off\"/> Show all 25 rows</label>");
    assert_int_equal(count(page, "<td class=id>gpu:"), 25); /* all are in the page */
    free(page);
}

static void names_that_tell_nothing_are_left_out(void **state)
{
    char *page = page_of_json("{'input': {'run': 'vm', 'hosts': ['vm']}, 'ops': {'rows': ["
                              "{'name': 'a', 'module': 'jit_f', 'self_ps': 5}, {'name': 'b', 'module': 'jit_f', "
                              "'self_ps': 4}]}, 'compile': {'count': 1, 'events': [{'module': 'f', 'host': 'vm', "
                              "'begin_ps': 1, 'dur_ps': 2}]}, 'devices': [{'id': 'vm/gpu:0'}]}");

    (void)state;
    check_tags(page);
    assert_has(page, "Program in all rows: jit_f</p>");
    cut_at(page, "<section id=\"missing\">");
    assert_lacks(page, "<dt>Host</dt>"); /* it is named as the run */
    assert_lacks(page, ">Host<t");
    assert_lacks(page, "vm/gpu:0");
    assert_has(page, ">gpu:0\n");
    free(page);
    page = page_of_json("{'input': {'run': 'r', 'hosts': ['vm', 'wm']}, 'ops': {'rows': ["
                        "{'name': 'a', 'module': 'jit_f', 'self_ps': 5}, {'name': 'b', 'module': 'jit_g', "
                        "'self_ps': 4}]}, 'compile': {'count': 1, 'events': [{'module': 'f', 'host': 'vm', "
                        "'begin_ps': 1, 'dur_ps': 2}]}, 'devices': [{'id': 'vm/gpu:0'}]}");
    assert_lacks(page, "in all rows");
    assert_has(page, ">Host<th");
    assert_has(page, ">vm/gpu:0\n");
    free(page);
}

/* Every link inside the page has its place, and every figure that is linked its definition. */
static void links_lead_somewhere(void **state)
{
    (void)state;
    for (int which = 0; which < TM_SAMPLES; which++) {
        char *page = page_of((enum tm_sample_profile)which);
        int links = 0;

        for (const char *at = strstr(page, "href=\"#"); at; at = strstr(at + 1, "href=\"#"), links++) {
            const char *target = at + strlen("href=\"#");
            char id[80];

            (void)snprintf(id, sizeof(id), " id=\"%.*s\"", (int)strcspn(target, "\""), target);
            if (count(page, id) != 1)
                fail_msg("%d places have%s", count(page, id), id);
        }
        assert_true(links > 1);
        free(page);
    }
}

static void figures_are_linked_to_what_they_are(void **state)
{
    char *page = page_of(TM_SAMPLE_GPU);
    const int term = tm_term_find("host", "Launches per step");
    char id[TM_TERM_ID_BYTES];

    (void)state;
    assert_true(term >= 0);
    assert_int_equal(term, tm_term_find("host", "Launches"));
    assert_int_equal(tm_term_find("host", "Launch"), -1);
    assert_int_equal(tm_term_find("nothing", "Launches"), -1);
    assert_string_equal(tm_term_id(term, id), "host-launches");
    assert_has(page, "<dt><a href=\"#term-host-launches\" class=\"term\"");
    assert_has(page, "<tr id=\"term-host-launches\"><th scope=row>Host<td");
    free(page);
    page = page_of_json("{'host': null}"); /* sections that are not there are not explained */
    assert_lacks(page, "id=\"term-");
    free(page);
}

/* A section without anything in it is one sentence. */
static void nothing_found_is_said_once(void **state)
{
    char *page = page_of_json("{'fallback': {'callbacks': {'count': 0}, 'cpu_ops': {'count': 0}, 'host_ops': {'count': "
                              "0}, 'round_trips': {'count': 0}}}");

    (void)state;
    assert_has(page, "nothing ran on the host that a device could have run");
    assert_lacks(page, "Calls back to the host</a></dt>");
    free(page);
    page = page_of_json("{'fallback': {'callbacks': {'count': 0}, 'cpu_ops': {'count': 0}, 'host_ops': null, "
                        "'round_trips': {'count': 0}}}");
    assert_lacks(page, "Nothing ran on the host"); /* not all was looked for */
    free(page);
}

/* What the sender of a report wrote stands at its top, as text. */
static void title_and_note_are_texts(void **state)
{
    char *page = page_of_json("{'input': {'run': 'r', 'hosts': ['h']}, 'report': {'title': 'After <b>', 'note': "
                              "'first <i>\\nsecond'}}");

    (void)state;
    check_tags(page);
    assert_has(page, "<title>After &lt;b&gt;: tracemill report</title>");
    assert_has(page, "<h1>After &lt;b&gt;</h1>");
    assert_has(page, "<p class=\"subtitle\">r: 1 host, no device activity</p>");
    assert_has(page, "<p class=\"author\">first &lt;i&gt;<br/>second</p>");
    free(page);
}

/* A page of so many findings; the first ones have time at stake. */
static char *page_with_findings(int count, int with_stake)
{
    char *json = NULL, *page;
    size_t bytes = 0;
    FILE *to = open_memstream(&json, &bytes);

    assert_non_null(to);
    (void)fprintf(to, "{'findings': [");
    for (int i = 0; i < count; i++)
        (void)fprintf(to, "%s{'id': 'idle_sync', 'severity': 'critical', 'title': 'no %d', 'at_stake_ps': %d}",
                      i ? "," : "", i, i < with_stake ? 5000000 : 0);
    (void)fprintf(to, "], 'gaps': {}}");
    assert_int_equal(fclose(to), 0);
    page = page_of_json(json);
    check_tags(page);
    free(json);
    return page;
}

static void many_findings_without_time_at_stake_are_folded(void **state)
{
    char *page = page_with_findings(9, 4);

    (void)state;
    assert_has(page, "<details class=\"lower\"><summary>5 more without an estimate</summary>\n"
                     "<article class=\"finding critical\" "
                     "id=\"finding-5\">");
    assert_int_equal(count(page, "<article"), 9);
    assert_has(page, "All 9 findings");
    assert_has(page, "More: <a href=\"#gaps\">Idle gaps</a>");
    assert_int_equal(count(page, "<a href=\"#finding-"), 3); /* what to do first */
    free(page);
    page = page_with_findings(8, 4);
    assert_lacks(page, "class=\"lower\"");
    free(page);
    page = page_with_findings(9, 9);
    assert_lacks(page, "class=\"lower\"");
    free(page);
}

static void a_table_ends_with_its_total(void **state)
{
    char *page = page_of_json("{'kernels': {'count': 7, 'total_ps': 3000, 'rows': [{'name': 'a', 'count': 4, "
                              "'total_ps': "
                              "2000}, {'name': 'b', 'count': 3, 'total_ps': 1000}]}}");

    (void)state;
    assert_has(page, "<tfoot><tr class=\"total\"><th scope=row>all kernels<td class=n>3.00 ns<td "
                     "class=n>7");
    free(page);
}

/* Why a figure has no value is said once for all that have that reason. */
static void reasons_are_told_once(void **state)
{
    char *page = page_of_json("{'kpis': [{'id': 'a', 'title': 'A', 'value': null, 'why': 'no clock'}, {'id': 'b', "
                              "'title': "
                              "'B', 'value': null, 'why': 'no model'}, {'id': 'c', 'title': 'C', 'value': null, 'why': "
                              "'no clock'}, {'id': 'd', 'title': 'D', 'value': 3, 'unit': '%', 'band': 'unknown', "
                              "'why': "
                              "'no limit'}]}");

    (void)state;
    assert_has(page, "<p class=\"note\">Not recorded: A, C (no clock); B (no model).</p>");
    assert_has(page, "<p class=\"note\">Not evaluated: D (no limit).</p>");
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_tables_are_folded_and_short_ones_are_not),
        cmocka_unit_test(title_and_note_are_texts),
        cmocka_unit_test(many_findings_without_time_at_stake_are_folded),
        cmocka_unit_test(a_table_ends_with_its_total),
        cmocka_unit_test(reasons_are_told_once),
        cmocka_unit_test(names_that_tell_nothing_are_left_out),
        cmocka_unit_test(links_lead_somewhere),
        cmocka_unit_test(figures_are_linked_to_what_they_are),
        cmocka_unit_test(nothing_found_is_said_once),
        cmocka_unit_test(texts_are_escaped_in_text_and_attribute),
        cmocka_unit_test(every_byte_is_safe),
        cmocka_unit_test(numbers_of_attributes_are_short),
        cmocka_unit_test(pages_are_well_formed_and_deterministic),
        cmocka_unit_test(the_page_brings_everything_and_forbids_the_rest),
        cmocka_unit_test(the_style_sheet_has_the_colours_of_the_palette),
        cmocka_unit_test(kernels_that_could_be_fused_or_fuller_are_listed),
        cmocka_unit_test(what_findings_rest_on_stands_in_the_tables),
        cmocka_unit_test(the_first_screen_names_run_hosts_devices_versions_and_window),
        cmocka_unit_test(a_run_of_pytorch_has_no_columns_of_jax),
        cmocka_unit_test(figures_have_value_judgement_and_limits),
        cmocka_unit_test(findings_have_stake_evidence_fix_and_place),
        cmocka_unit_test(tables_keep_their_totals_with_a_row_for_the_rest),
        cmocka_unit_test(cells_carry_nothing_twice),
        cmocka_unit_test(rows_past_the_cap_are_added_to_the_rest),
        cmocka_unit_test(scopes_are_indented_below_what_is_around_them),
        cmocka_unit_test(what_is_missing_is_named_with_its_reason),
        cmocka_unit_test(a_partial_input_is_said_at_the_top),
        cmocka_unit_test(hostile_names_stay_texts),
        cmocka_unit_test(long_names_open_to_a_bounded_text),
        cmocka_unit_test(strange_values_do_no_harm),
        cmocka_unit_test(flags_in_advice_stay_together),
        cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(refused_memory_is_a_clean_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
