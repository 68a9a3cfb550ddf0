/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a request to the server of `open`.  Beside what the sanitizers see: a status that is none, views that leave
 * the bytes, another answer where more of the same comes, and a range that ends before it starts.
 * Seeds: requests of a browser, which seeds_request.py makes. */
#include <string.h>

#include "pipeline/serve.h"
#include "tests/fuzz/fuzz_job.h"

static bool lies_in(const char *at, size_t length, const char *bytes, size_t size)
{
    return length == 0 || (at >= bytes && at + length <= bytes + size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *const bytes = (const char *)data;
    struct tm_http_request whole, part;
    int status;

    if (size > TM_HTTP_HEAD_BYTES)
        return 0;
    status = tm_http_parse(bytes, size, &whole);
    FUZZ_REQUIRE(status == 0 || status == 200 || status == 400 || status == 405 || status == 431 || status == 505);
    FUZZ_REQUIRE((status == 0) <= (size < TM_HTTP_HEAD_BYTES));
    FUZZ_REQUIRE(lies_in(whole.path, whole.path_length, bytes, size) &&
                 lies_in(whole.host, whole.host_length, bytes, size));
    if (whole.has_range && whole.first != UINT64_MAX)
        FUZZ_REQUIRE(whole.first <= whole.last);
    /* What was decided stays decided: the server reads until then, wherever the pieces end. */
    for (size_t n = 0; n < size; n += size / 16 + 1) {
        const int early = tm_http_parse(bytes, n, &part);

        FUZZ_REQUIRE(early == 0 || early == status);
    }
    return 0;
}
