/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the server of `open`, whole and in pieces. */
#include <stdio.h>
#include <string.h>

#include "pipeline/serve.h"
#include "tests/support/test_run.h"

#define HOST "Host: 127.0.0.1:80\r\n"

static void requests_are_read_or_refused(void **state)
{
    static const struct {
        const char *text;
        int status;
    } cases[] = {
        { "GET / HTTP/1.1\r\n" HOST "\r\n", 200 },
        { "HEAD /a?b=c#d HTTP/1.0\nhOST: x\n\n", 200 },
        { "GET / HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n", 200 },
        { "GET / HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\nx", 400 },
        { "GET / HTTP/1.1\r\n" HOST "Content-Length: +0\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\n" HOST HOST "\r\n", 400 },
        { "GET / HTTP/1.1\r\n\r\n", 400 },
        { "\r\nGET / HTTP/1.1\r\n" HOST "\r\n", 400 },
        { "GET  / HTTP/1.1\r\n", 400 },
        { "GET x HTTP/1.1\r\n", 400 },
        { "GET / HTTP/1.1 \r\n", 400 },
        { "GET /\r\n", 400 },
        { "GET /\x7f HTTP/1.1\r\n", 400 },
        { "GET / HTTP/1.1\r\n" HOST "Name : x\r\n", 400 },
        { "GET / HTTP/1.1\r\n" HOST " folded\r\n", 400 },
        { "GET / HTTP/1.1\r\n" HOST "A: \x02\r\n", 400 },
        { "GET / HTTP/1.2\r\n", 505 },
        { "GET / HTTP/2.0\r\n", 505 },
        { "POST / HTTP/1.1\r\n", 405 },
        { "get / HTTP/1.1\r\n", 405 },
        { "GETX / HTTP/1.1\r\n", 405 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const size_t length = strlen(cases[i].text);
        struct tm_http_request request;
        int status = 0;

        for (size_t n = 0; n <= length && !status; n++)
            status = tm_http_parse(cases[i].text, n, &request);
        if (status != cases[i].status)
            print_error("case %zu: %d\n", i, status);
        assert_int_equal(status, cases[i].status);
    }
}

static void a_request_is_its_parts(void **state)
{
    static const char text[] =
        "GET /token/name?query HTTP/1.1\r\nA: b\r\nHost:  localhost:7 \r\nRange: bytes=5-9\r\n\r\n";
    struct tm_http_request r;

    (void)state;
    assert_int_equal(tm_http_parse(text, sizeof(text) - 1, &r), 200);
    assert_false(r.is_head);
    assert_int_equal(r.path_length, strlen("token/name"));
    assert_memory_equal(r.path, "token/name", r.path_length);
    assert_int_equal(r.host_length, strlen("localhost:7"));
    assert_memory_equal(r.host, "localhost:7", r.host_length);
    assert_true(r.has_range && r.first == 5 && r.last == 9);
}

static void ranges_are_read_or_ignored(void **state)
{
    static const struct {
        const char *text;
        bool is_range;
        uint64_t first, last;
    } cases[] = {
        { "bytes=0-0", true, 0, 0 },
        { "bytes=7-", true, 7, UINT64_MAX },
        { "bytes=-7", true, UINT64_MAX, 7 },
        { "bytes=999999999999999999-", true, 999999999999999999, UINT64_MAX },
        { "bytes=9999999999999999999-", false, 0, 0 },
        { "bytes=7-6", false, 0, 0 },
        { "bytes=-", false, 0, 0 },
        { "bytes=", false, 0, 0 },
        { "bytes=1-2,4-5", false, 0, 0 },
        { "bytes=1-2x", false, 0, 0 },
        { "bytes=1", false, 0, 0 },
        { "lines=1-2", false, 0, 0 },
        { "", false, 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tm_http_request r;
        char text[128];
        const int n = snprintf(text, sizeof(text), "GET / HTTP/1.1\r\n" HOST "Range: %s\r\n\r\n", cases[i].text);

        assert_int_equal(tm_http_parse(text, (size_t)n, &r), 200);
        assert_int_equal(r.has_range, cases[i].is_range);
        if (r.has_range)
            assert_true(r.first == cases[i].first && r.last == cases[i].last);
    }
}

static void a_request_without_an_end_is_refused(void **state)
{
    static char text[TM_HTTP_HEAD_BYTES];
    struct tm_http_request r;

    (void)state;
    memset(text, 'a', sizeof(text));
    assert_int_equal(tm_http_parse(text, sizeof(text) - 1, &r), 0);
    assert_int_equal(tm_http_parse(text, sizeof(text), &r), 431);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_read_or_refused),
        cmocka_unit_test(a_request_is_its_parts),
        cmocka_unit_test(ranges_are_read_or_ignored),
        cmocka_unit_test(a_request_without_an_end_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
