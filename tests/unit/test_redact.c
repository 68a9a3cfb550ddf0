/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/redact.h"

#include <string.h>

#include "pipeline/store/waiting_names.h"
#include "pipeline/strings.h"
#include "pipeline/trace.h"
#include "stages/resolve/classes.h"
#include "tests/support/test_run.h"

static const struct tm_secret_key some_key = { 1, 2 };

static struct tm_redactor *make_redactor(struct tm_run *run, struct tm_secret_key key)
{
    struct tm_redactor *redactor = tm_redactor_new(run, 1 << 20);

    assert_non_null(redactor);
    tm_redactor_set_key(redactor, key);
    return redactor;
}

/* out: good until the next call */
static const char *redacted(struct tm_redactor *redactor, const char *text)
{
    const char *out;
    size_t length;

    assert_int_equal(tm_redact(redactor, text, strlen(text), &out, &length), TM_OK);
    assert_int_equal(length, strlen(out));
    return out;
}

static void the_hash_is_that_of_its_authors(void **state)
{
    const struct tm_secret_key key = { UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908) };
    uint8_t bytes[15];

    (void)state;
    for (uint8_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = i;
    assert_true(tm_keyed_hash(key, bytes, sizeof(bytes)) == UINT64_C(0xa129ca6149be45e5));
    assert_true(tm_keyed_hash(key, bytes, 0) == UINT64_C(0x726fdb47dd0e0e31));
}

static void public_words_stay(void **state)
{
    /* clang-format off */
    static const char *const texts[] = {
        "", "fusion.12", "fusion.123456", "all-reduce-start.3", "cudaLaunchKernel", "hipMemcpyAsync", "MemcpyD2D",
        "TfrtCpuExecutable::Execute", "PjRtCpuClient", "ampere_sgemm_128x64_nn", "f32[131072,8]{1,0:T(8,128)}",
        "bf16[8,128]", "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3", "/device:GPU:0", "/host:CPU",
        "jit(transpose(jvp(while)))/body/dot_general", "x", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
        "void at::native::vectorized_elementwise_kernel<4, (anonymous namespace)>", "0.4.35", "132,1,1",
        "2026_11_20_20_37_30", "1.2.3.4.5", "Params<4096ul>", "128x64x1", "queue depth \xc2\xb7 x", "p0", "H2D",
        "$queue.py:154 get",
        "/usr/lib/python3.11/threading.py:33 wait", "jit(f)/transpose", "x: /host:CPU", "where JAX stops writing",
    };
    /* clang-format on */
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    struct tm_redactor *redactor = make_redactor(&run, some_key);

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_string_equal(redacted(redactor, texts[i]), texts[i]);
    assert_int_equal(tm_names_count(tm_redactor_words(redactor)), 1);
    tm_redactor_free(redactor);
    assert_ledger_is_even(&run);
}

/* What classes are told by must be the same in a trace with pseudonyms. */
static void names_that_the_program_looks_for_stay(void **state)
{
    static const char *const processes[] = { "Ascend Hardware", "Communication", "HCCL",  "Overlap Analysis",
                                             "AIU Device0",     "NPU",           "AIU 0", "UserMarker frame: 3 ops" };
    static const char *const built_in[] = { "<built-in method acquire of ",    "<built-in method poll of ",
                                            "<built-in method get of _queue.", "<built-in method wait of _thread.",
                                            "<built-in function select>",      "<built-in function sleep>" };
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    struct tm_redactor *redactor = make_redactor(&run, some_key);

    for (size_t i = 0; i < tm_known_name_count; i++)
        assert_string_equal(redacted(redactor, tm_known_names[i].text), tm_known_names[i].text);
    for (size_t i = 0; i < tm_input_word_count; i++)
        assert_string_equal(redacted(redactor, tm_input_words[i]), tm_input_words[i]);
    for (size_t i = 0; i < tm_waiting_name_count; i++) {
        const struct tm_waiting_name *const f = &tm_waiting_names[i];

        assert_string_equal(redacted(redactor, f->file), f->file);
        assert_string_equal(redacted(redactor, f->function), f->function);
    }
    for (size_t i = 0; i < sizeof(built_in) / sizeof(built_in[0]); i++)
        assert_string_equal(redacted(redactor, built_in[i]), built_in[i]);
    for (int i = 0; i < TM_ACCELERATOR_COUNT; i++)
        assert_string_equal(redacted(redactor, tm_accelerator_name[i]), tm_accelerator_name[i]);
    for (size_t i = 0; i < sizeof(processes) / sizeof(processes[0]); i++)
        assert_string_equal(redacted(redactor, processes[i]), processes[i]);
    for (size_t i = 0; i < tm_collective_part_count; i++)
        assert_string_equal(redacted(redactor, tm_collective_parts[i]), tm_collective_parts[i]);
    tm_redactor_free(redactor);
}

static void other_words_go(void **state)
{
    static const struct {
        const char *text, *word;
    } rows[] = {
        { "zsecret", "secret" },
        { "Zsecret17q/fusion", "17q" },
        { "my_zsecret_3", "secret" },
        { "fusedZsecretKernel", "ecret" },
        { "ZSECRET", "SECRET" },
        { "user_48210233", "48210233" },
        { "10.12.0.7", "12" },
        { "ip-10-12-0-77.x", "77" },
        { "deadbeef01", "beef" },
        { "7f3ab2c9", "7f3a" },
        { "u1234", "1234" },
        { "/home/alice/train.py:12", "alice" },
        { "/home/alice/train.py:12", "home" },
        { "/home/alice/train.py:12", "train" },
        { "load file:///train/model", "model" },
        { "--dir=/train/model", "train" },
        { "caf\xc3\xa9", "\xc3\xa9" },
        { "\xff\xfe"
          "zsecret",
          "zsecret" },
        { "a\xe2\x80\xae"
          "zsecret",
          "zsecret" },
        { "param_zsecret.1", "zsecret" },
        { "1secret", "secret" },
    };
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    struct tm_redactor *redactor = make_redactor(&run, some_key);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strstr(redacted(redactor, rows[i].text), rows[i].word))
            fail_msg("'%s' became '%s'", rows[i].text, redacted(redactor, rows[i].text));
    tm_redactor_free(redactor);
}

static void the_form_of_a_name_stays(void **state)
{
    char first[64], second[64], other[64];
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    struct tm_redactor *redactor = make_redactor(&run, some_key);
    struct tm_redactor *another = make_redactor(&run, (struct tm_secret_key){ 1, 3 });

    (void)snprintf(first, sizeof(first), "%s", redacted(redactor, "zebra_3/okapi.1"));
    (void)snprintf(second, sizeof(second), "%s", redacted(redactor, "okapi(zebra)"));
    (void)snprintf(other, sizeof(other), "%s", redacted(another, "okapi(zebra)"));
    assert_int_equal(strlen(first), 8 + 3 + 8 + 2);
    assert_memory_equal(first + 8, "_3/", 3);
    assert_memory_equal(first + 19, ".1", 3);
    assert_memory_equal(first, second + 9, 8);
    assert_memory_equal(first + 11, second, 8);
    assert_string_not_equal(second, other);
    (void)snprintf(second, sizeof(second), "%s", redacted(redactor, "ZEBRA Zebra"));
    assert_true(second[0] >= 'B' && second[0] <= 'Z' && second[9] == second[0]);
    tm_redactor_free(redactor);
    tm_redactor_free(another);
}

static void hosts_and_paths_keep_no_word(void **state)
{
    char host[64], device[64], row[128];
    const char *out;
    size_t length;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    struct tm_redactor *redactor = make_redactor(&run, some_key);

    assert_int_equal(tm_redact_host(redactor, host, sizeof(host), "gpu-host-01"), TM_OK);
    assert_memory_equal(host, "host-", 5);
    assert_int_equal(strlen(host), 13);
    (void)snprintf(device, sizeof(device), "%s", redacted(redactor, "gpu-host-01/gpu:0"));
    assert_memory_equal(device, host, 13);
    assert_string_equal(device + 13, "/gpu:0");
    assert_string_equal(redacted(redactor, device), device);
    (void)snprintf(row, sizeof(row), "python of %s", host);
    assert_string_equal(redacted(redactor, row), row);
    assert_string_not_equal(redacted(redactor, "host-bcdfghjk"), "host-bcdfghjk");
    assert_int_equal(tm_redact_path(redactor, "/train/model_3/gpu.xplane.pb", 28, &out, &length), TM_OK);
    assert_null(strstr(out, "train"));
    assert_null(strstr(out, "model"));
    assert_null(strstr(out, "gpu"));
    assert_string_equal(out + length - 10, ".xplane.pb");
    tm_redactor_free(redactor);
}

/* "gpu-node-17" consists of words that stay, but names a machine. */
static void names_of_hosts_are_found_in_texts(void **state)
{
    static const char *const texts[] = { "on gpu-node-17", "GPU-Node-17:8471", "/dev/gpu-node-17.xplane.pb",
                                         "gpu-node-17.core.cluster.local", "data from (gpu-node-17)" };
    char host[64];
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    struct tm_redactor *redactor = make_redactor(&run, some_key);

    assert_string_equal(redacted(redactor, "on gpu-node-17"), "on gpu-node-17");
    tm_redactor_know_host(redactor, "gpu-node-17.core.cluster.local");
    tm_redactor_know_host(redactor, "localhost");
    tm_redactor_know_host(redactor, "10.0.3.17");
    assert_int_equal(tm_redact_host(redactor, host, sizeof(host), "gpu-node-17"), TM_OK);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_null(strcasestr(redacted(redactor, texts[i]), "node"));
        assert_null(strstr(redacted(redactor, texts[i]), "17"));
        assert_non_null(strstr(redacted(redactor, texts[i]), "host-"));
    }
    assert_non_null(strstr(redacted(redactor, "on gpu-node-17"), host));
    assert_string_equal(redacted(redactor, "gpu-node-171 gpu node 17 node-17"), "gpu-node-171 gpu node 17 node-17");
    assert_string_equal(redacted(redactor, "localhost 10"), "localhost 10");
    tm_redactor_free(redactor);
}

/* Whatever comes in, what comes out is shorter than the room for it, and valid. */
static void long_and_broken_texts_fit(void **state)
{
    static const char *const patterns[] = { "\xff.", "ab.", "AbCd", "\xc3\xa9.", "a", "\xf0\x9f\x98\x80", "\xc2", "9" };
    static char text[TM_REDACT_TEXT_MOST + 100];
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    struct tm_redactor *redactor = make_redactor(&run, some_key);

    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        const size_t n = strlen(patterns[i]);
        const char *out;
        size_t length;

        for (size_t k = 0; k < sizeof(text); k++)
            text[k] = patterns[i][k % n];
        assert_int_equal(tm_redact(redactor, text, sizeof(text), &out, &length), TM_OK);
        assert_true(length > 0 && length <= 5 * TM_REDACT_TEXT_MOST);
        assert_true(tm_utf8_is_valid(out, length));
    }
    tm_redactor_free(redactor);
}

static void a_key_is_made_of_fingerprints_in_their_order(void **state)
{
    static const char *const orders[][2] = { { "a", "b" }, { "b", "a" }, { "a", "b" } };
    struct tm_secret_key keys[3];
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    for (size_t i = 0; i < 3; i++) {
        struct tm_redactor *redactor = tm_redactor_new(&run, 1 << 20);

        assert_non_null(redactor);
        tm_redactor_add_fingerprint(redactor, orders[i][0]);
        tm_redactor_add_fingerprint(redactor, orders[i][1]);
        tm_redactor_make_key(redactor);
        keys[i] = tm_redactor_key(redactor);
        tm_redactor_free(redactor);
    }
    assert_true(keys[0].low == keys[2].low && keys[0].high == keys[2].high);
    assert_true(keys[0].low != keys[1].low && keys[0].high != keys[1].high && keys[0].low != keys[0].high);
    assert_ledger_is_even(&run);
}

static tm_status use_redactor(struct tm_run *run)
{
    struct tm_redactor *redactor = tm_redactor_new(run, 1 << 20);
    tm_status st = redactor ? TM_OK : run->error.status;
    char text[64];

    if (redactor)
        tm_redactor_set_key(redactor, some_key);
    for (int i = 0; i < 2000 && st == TM_OK; i++) {
        (void)snprintf(text, sizeof(text), "word%dword", i);
        st = tm_redact_into(redactor, text, sizeof(text), text);
    }
    tm_redactor_free(redactor);
    return st;
}

static void each_refused_request_ends_clean(void **state)
{
    (void)state;
    refuse_each_request(use_redactor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hash_is_that_of_its_authors),
        cmocka_unit_test(public_words_stay),
        cmocka_unit_test(names_that_the_program_looks_for_stay),
        cmocka_unit_test(other_words_go),
        cmocka_unit_test(the_form_of_a_name_stays),
        cmocka_unit_test(hosts_and_paths_keep_no_word),
        cmocka_unit_test(names_of_hosts_are_found_in_texts),
        cmocka_unit_test(long_and_broken_texts_fit),
        cmocka_unit_test(a_key_is_made_of_fingerprints_in_their_order),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
