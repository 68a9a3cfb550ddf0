/* SPDX-License-Identifier: Apache-2.0 */
/* A walk over the text notes where each value begins and ends, and the member that it belongs to; each change puts other
 * bytes in the place of one of these, and the text is walked again.
 * source: RFC 8259; keys and phases: the Trace Event Format, JAX, PyTorch */
#include "tests/support/mutate_json.h"

#include <stdbool.h>
#include <stdio.h>

MUTATE_UNWATCHED_BEGIN

enum { SPANS_MOST = 8192, DEEPEST = 256, CHANGES_MOST = 4, COPIES_MOST = 200, NESTS_MOST = 300, TEXT_MOST = 4096 };

/* A value.  Of a member, `from` is where its key begins; of an element, and of the document, where the value does. */
struct span {
    uint32_t from, begin, end;
    uint8_t kind; /* its first byte */
    bool has_key, is_whole;
};

struct walk {
    struct span spans[SPANS_MOST];
    uint32_t count;
    uint8_t *data;
    size_t size, most;
    struct mutate_dice dice;
    mutate_bytes_fn *bytes;
    uint8_t scratch[2 * MUTATE_MOST];
};

static struct walk walk; /* too large for a stack */

/* --- reading --- */

static bool is_space(uint8_t c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static bool is_plain(uint8_t c) /* of a number or a word */
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '+' ||
           c == '.';
}

static size_t end_of_text(size_t at)
{
    for (at++; at < walk.size && walk.data[at] != '"'; at++)
        at += walk.data[at] == '\\';
    return at < walk.size ? at + 1 : walk.size;
}

static size_t end_of_space(size_t at)
{
    while (at < walk.size && is_space(walk.data[at]))
        at++;
    return at;
}

struct state {
    uint32_t open[DEEPEST], depth;
    size_t key; /* where the key of the next value begins; SIZE_MAX = it has none */
};

static uint32_t note(struct state *state, size_t begin, size_t end)
{
    struct span *const span = &walk.spans[walk.count];

    if (walk.count == SPANS_MOST)
        return UINT32_MAX;
    *span = (struct span){ .from = (uint32_t)(state->key == SIZE_MAX ? begin : state->key),
                           .begin = (uint32_t)begin,
                           .end = (uint32_t)end,
                           .kind = walk.data[begin],
                           .has_key = state->key != SIZE_MAX,
                           .is_whole = true };
    state->key = SIZE_MAX;
    return walk.count++;
}

static void open_one(struct state *state, size_t at)
{
    const uint32_t index = note(state, at, walk.size);

    if (index == UINT32_MAX || state->depth == DEEPEST)
        return;
    walk.spans[index].is_whole = false; /* until it ends */
    state->open[state->depth++] = index;
}

static void close_one(struct state *state, size_t end)
{
    if (state->depth == 0)
        return;
    walk.spans[state->open[--state->depth]].end = (uint32_t)end;
    walk.spans[state->open[state->depth]].is_whole = true;
    state->key = SIZE_MAX;
}

static size_t take_text(struct state *state, size_t at)
{
    const size_t end = end_of_text(at), after = end_of_space(end);

    if (after < walk.size && walk.data[after] == ':') {
        state->key = at;
        return after + 1;
    }
    (void)note(state, at, end);
    return end;
}

static size_t take_plain(struct state *state, size_t at)
{
    size_t end = at;

    while (end < walk.size && is_plain(walk.data[end]))
        end++;
    (void)note(state, at, end);
    return end;
}

static void read_text(void)
{
    struct state state = { .key = SIZE_MAX };
    size_t at = 0;

    walk.count = 0;
    while (at < walk.size) {
        const uint8_t c = walk.data[at];

        if (c == '"') {
            at = take_text(&state, at);
        } else if (is_plain(c)) {
            at = take_plain(&state, at);
        } else {
            if (c == '{' || c == '[')
                open_one(&state, at);
            else if (c == '}' || c == ']')
                close_one(&state, at + 1);
            at++;
        }
    }
}

/* --- writing --- */

/* Other bytes in the place of some.  They may lie in the text itself.  False where they do not fit. */
static bool put(size_t begin, size_t end, const void *with, size_t length)
{
    if (length > sizeof(walk.scratch) || walk.size - (end - begin) + length > walk.most)
        return false;
    if (length)
        memmove(walk.scratch, with, length);
    memmove(walk.data + begin + length, walk.data + end, walk.size - end);
    memcpy(walk.data + begin, walk.scratch, length);
    walk.size = walk.size - (end - begin) + length;
    return true;
}

static bool put_string(size_t begin, size_t end, const char *with)
{
    return put(begin, end, with, strlen(with));
}

/* --- what is put in --- */

/* clang-format off */
static const char *const numbers[] = {
    "0", "-0", "1", "-1", "7", "12.5", "0.0000005", "0.00000049", "1e3", "2.5E+1", "1e-7", "5e-7", "123456789012345678",
    "2147483647", "2147483648", "4294967295", "4294967296", "9007199254740993", "9223372036854775807", "9223372036854775808",
    "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616", "9223372036854.775807",
    "9223372036854.775808", "9223372036854775807.9999996", "1e18", "9.3e18", "1e400", "-1e400", "1e-400", "0e5", "1e99999999999",
    "1E-99999999999", "962334.41700000002", "9.9999999999999995e-07", "0.9999995", "99999999.99999999", "100e-2",
    "0.333333333333333333333333333333333333333333333333333333333333333333333333", "77777777777777777777777777777777777777777",
    "1666382280874284.1234567", "\"1.5\"", "\"-3\"", "\"18446744073709551615\"", "\"1e3\"", "01", "1.", ".5", "+1", "-", "1e", "0x1f",
};
/* clang-format on */

/* clang-format off */
static const char *const values[] = {
    "null", "true", "false", "NaN", "Infinity", "-Infinity", "{}", "[]", "[[]]", "[{}]", "{\"\":{}}", "\"\"", "[1,2,3]",
    "{\"a\":1,\"a\":2}", "{\"name\":\"/device:TPU:0\"}", "{\"sort_index\":-1}", "{\"labels\":\"GPU 0\"}", "{\"local\":\"0x1\"}",
    "{\"global\":18446744073709551615}", "[[3,4],[]]", "{\"correlation\":80,\"External id\":1}", "nul", "tru", "\"",
};
/* clang-format on */

/* What keys and texts may be, without their quotes. */
/* clang-format off */
static const char *const words[] = {
    "X", "B", "E", "b", "e", "n", "i", "I", "C", "M", "s", "t", "f", "P", "N", "O", "D", "v", "R", "c", "XX", "", "g", "p",
    "process_name", "thread_name", "process_sort_index", "thread_sort_index", "process_labels", "/device:GPU:0",
    "/device:TPU:0", "/host:CPU", "XLA Ops", "XLA Modules", "Steps", "Stream #13(Compute)", "python", "kernel", "gpu_memcpy",
    "gpu_memset", "cpu_op", "cuda_runtime", "cuda_driver", "user_annotation", "gpu_user_annotation", "cpu_instant_event", "ac2g",
    "fwdbwd", "Trace", "overhead", "ProfilerStep#1", "train", "PjitFunction(f)", "cuLaunchKernel", "cudaLaunchKernel",
    "cudaMemcpyAsync", "cudaDeviceSynchronize", "MemcpyD2H", "Memcpy DtoH (Device -> Pinned)", "Memset (Device)", "aten::mm",
    "nccl:all_reduce", "ncclDevKernel_AllReduce", "record_param_comms", "DistributedDataParallel.forward", "sgemm",
    "loop_add_fusion", "fusion.1", "%all-reduce.2 = f32[8]{0} all-reduce(f32[8]{0} %a)", "[memory]", "Iteration Start: PyTorch Profiler",
    "kind_src:device kind_dst:host size:64", "regs:32 static_shared:0 dynamic_shared:0 grid:8,1,1 block:64,1,1 occ_pct:50",
    "allreduce", "_allgather_base", "BFloat16", "[0, 1]", "0", "-1", "17", "0x1f", "18446744073709551615", "1.5", "1e400",
    "\\u0000", "\\u0041", "\\ud83d\\ude00", "\\ud83d", "\\ude00", "\\ud83dx", "\\ud83d\\u0041", "\\n", "\\\\", "\\\"", "\\/",
    "\\x", "\\u12", "\\", "\xff", "\xed\xa0\x80", "\xc0\x80", "\xf0\x9f\x98\x80", "\x01", "\n", "\x7f", "\xe2\x80\xa8", "=1+1", "<script>",
    "../../x", "a/b/c",
};
/* clang-format on */

/* clang-format off */
static const char *const keys[] = {
    "ph", "ts", "dur", "tts", "tdur", "pid", "tid", "name", "cat", "args", "id", "id2", "local", "global", "bind_id", "s", "bp", "sf",
    "cname", "traceEvents", "displayTimeUnit", "metadata", "highres-ticks", "schemaVersion", "deviceProperties", "distributedInfo",
    "baseTimeNanoseconds", "host_name", "traceName", "stackFrames", "otherData", "tracemill", "version", "backend", "rank",
    "world_size", "pg_config", "cuda_driver_version", "cuda_runtime_version", "totalGlobalMem", "computeMajor", "computeMinor",
    "numSms", "sort_index", "labels", "correlation_id", "correlation", "External id", "device", "stream", "context", "grid",
    "block", "registers per thread", "shared memory", "est. achieved occupancy %", "blocks per SM", "warps per SM", "queued",
    "hlo_op", "hlo_module", "hlo_category", "kernel_details", "memcpy_details", "step_num", "group_id", "run_id", "device_ordinal",
    "long_name", "tf_op", "source", "flops", "model_flops", "bytes_accessed", "bytes", "Bytes", "Addr", "Total Allocated",
    "Total Reserved", "Device Type", "Device Id", "memory bandwidth (GB/s)", "Input Dims", "Input type", "Concrete Inputs",
    "Collective name", "dtype", "In msg nelems", "Out msg nelems", "Group size", "Process Group Name", "Process Group Ranks",
    "Python id", "Python parent id", "_r", "_p", "_c", "", "a", "n\\u0061me", "arg\\u0073", "\\u0000",
};
/* clang-format on */

/* clang-format off */
static const char *const elements[] = {
    "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":100,\"dur\":50,\"name\":\"a\"}", "{\"ph\":\"B\",\"pid\":1,\"tid\":2,\"ts\":1,\"name\":\"b\"}",
    "{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":9}", "{\"ph\":\"b\",\"cat\":\"io\",\"id\":\"0x1\",\"pid\":1,\"ts\":2,\"name\":\"n\"}",
    "{\"ph\":\"e\",\"cat\":\"io\",\"id\":\"0x1\",\"pid\":1,\"ts\":5,\"name\":\"n\"}", "{\"ph\":\"s\",\"id\":7,\"pid\":1,\"tid\":2,\"ts\":3}",
    "{\"ph\":\"f\",\"bp\":\"e\",\"id\":7,\"pid\":0,\"tid\":7,\"ts\":60}", "{\"ph\":\"C\",\"pid\":1,\"ts\":3,\"name\":\"m\",\"args\":{\"used\":5}}",
    "{\"ph\":\"i\",\"s\":\"g\",\"pid\":1,\"tid\":2,\"ts\":4,\"name\":\"mark\"}", "{\"ph\":\"X\",\"ts\":-5,\"dur\":-1}",
    "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"/device:GPU:0\"}}", "{}", "null", "7", "\"text\"", "[]",
    "{\"ph\":\"M\",\"pid\":1,\"tid\":2,\"name\":\"thread_name\",\"args\":{\"name\":\"Stream #13(Compute)\"}}",
    ("{\"ph\":\"X\",\"cat\":\"kernel\",\"pid\":0,\"tid\":7,\"ts\":60,\"dur\":20,\"name\":\"sgemm\",\"args\":{\"device\":0,\"stream\":7,"
     "\"correlation\":80,\"External id\":1,\"grid\":[8,1,1],\"block\":[64,1,1]}}"),
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"pid\":7,\"tid\":7,\"ts\":9,\"dur\":4,\"name\":\"cudaLaunchKernel\",\"args\":{\"correlation\":80}}",
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"pid\":7,\"tid\":7,\"ts\":0,\"dur\":800,\"name\":\"ProfilerStep#3\"}",
};
/* clang-format on */

static const char *const broken[] = { "{", "}", "[", "]",    "\"", ",", ":",  "\\",
                                      "-", "e", ".", "\xff", "//", "'", "}}", "]]" };
static const char *const spaces[] = { " ",    "\n",       "\t",
                                      "\r\n", "\n      ", "                                                  " };

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define ANY(list) ((list)[below(COUNT(list))])

static size_t below(size_t most)
{
    return mutate_below(&walk.dice, most);
}

static const struct span *any_span(void)
{
    return walk.count ? &walk.spans[below(walk.count)] : NULL;
}

/* One of a kind, by its first byte; NULL where none was met. */
static const struct span *any_of(const char *first)
{
    for (int tries = 0; tries < 16; tries++) {
        const struct span *const span = any_span();

        if (span && span->is_whole && strchr(first, span->kind))
            return span;
    }
    return NULL;
}

/* --- changes --- */

static void set_value(const struct span *span)
{
    (void)put_string(span->begin, span->end, below(2) ? ANY(values) : ANY(numbers));
}

/* A digit, the sign, the exponent, or all of it. */
static void change_number(const struct span *span)
{
    const struct span *const other = any_of("-0123456789");
    const size_t at = span->begin + below(span->end - span->begin);
    char digits[24];

    switch (below(5)) {
    case 0:
        walk.data[at] = (uint8_t)('0' + below(10));
        break;
    case 1:
        (void)put_string(at, at, ANY(((const char *const[]){ "9", "0", ".", "e", "E-", "-", "00000000", "99999999" })));
        break;
    case 2:
        (void)snprintf(digits, sizeof(digits), "%lld", (long long)(mutate_bits(&walk.dice) >> below(64)));
        (void)put_string(span->begin, span->end, digits);
        break;
    case 3:
        if (other) { /* the same id, the same time */
            (void)put(span->begin, span->end, walk.data + other->begin, other->end - other->begin);
            break;
        }
        /* fall through */
    default:
        (void)put_string(span->begin, span->end, ANY(numbers));
        break;
    }
}

/* One byte again and again, or a letter of several bytes. */
static size_t repeat_letter(char *out, size_t most)
{
    const char *const letter =
        ANY(((const char *const[]){ "a", "\\n", "\\u00e9", "\xe6\xbc\xa2", "\\\\", " ", "\\ud83d\\ude00" }));
    const size_t length = strlen(letter), wanted = below(below(4) ? 200 : most);
    size_t at = 0;

    for (; at + length <= wanted && at + length <= most; at += length)
        memcpy(out + at, letter, length);
    return at;
}

/* What is inside the quotes from `begin` to `end`. */
static void change_inside(size_t begin, size_t end)
{
    static char text[TEXT_MOST];
    const size_t length = end - begin < TEXT_MOST / 2 ? end - begin : TEXT_MOST / 2;
    const char *const word = ANY(words);
    const size_t at = begin + below(end - begin + 1);

    switch (below(6)) {
    case 0:
        (void)put_string(at, at, word);
        break;
    case 1:
        (void)put(begin, end, text, repeat_letter(text, sizeof(text)));
        break;
    case 2:
        memcpy(text, walk.data + begin, length);
        if (walk.bytes)
            (void)put(begin, end, text, walk.bytes((uint8_t *)text, length, length + 64));
        break;
    default:
        (void)put_string(begin, end, word);
        break;
    }
}

static void change_text(const struct span *span)
{
    if (span->end - span->begin >= 2)
        change_inside(span->begin + 1, span->end - 1);
}

static void change_key(const struct span *span)
{
    const size_t begin = span->from + 1, end = end_of_text(span->from) - 1;
    const struct span *const other = any_span();

    if (!span->has_key || end < begin)
        return;
    if (below(8) == 0)
        change_inside(begin, end);
    else if (below(3) == 0 && other->has_key)
        (void)put(begin, end, walk.data + other->from + 1, end_of_text(other->from) - 1 - (other->from + 1));
    else
        (void)put_string(begin, end, ANY(keys));
}

static void change_value(const struct span *span)
{
    if (below(4) == 0)
        set_value(span);
    else if (span->kind == '"')
        change_text(span);
    else if (strchr("-0123456789", span->kind))
        change_number(span);
    else if (below(3) == 0)
        set_value(span);
}

/* With the comma before or behind it. */
static void drop(const struct span *span)
{
    size_t begin = span->from, end = end_of_space(span->end);

    if (end < walk.size && walk.data[end] == ',') {
        end++;
    } else {
        end = span->end;
        while (begin > 0 && is_space(walk.data[begin - 1]))
            begin--;
        if (begin > 0 && walk.data[begin - 1] == ',')
            begin--;
    }
    (void)put(begin, end, "", 0);
}

/* A comma and a copy behind it. */
static void repeat(struct span span)
{
    const size_t length = span.end - span.from + 1;

    for (size_t n = mutate_few(&walk.dice, COPIES_MOST); n > 0; n--) {
        if (!put(span.end, span.end, ",", 1))
            return;
        if (!put(span.end + 1, span.end + 1, walk.data + span.from, length - 1)) {
            (void)put(span.end, span.end + 1, "", 0);
            return;
        }
    }
}

static void swap(struct span a, struct span b)
{
    static uint8_t held[MUTATE_MOST];
    const struct span first = a.begin < b.begin ? a : b, last = a.begin < b.begin ? b : a;
    const size_t first_bytes = first.end - first.begin, last_bytes = last.end - last.begin;

    if (first.end > last.begin || first_bytes > sizeof(held))
        return; /* one inside the other */
    memcpy(held, walk.data + first.begin, first_bytes);
    /* the length stays, so both fit */
    uint8_t *const text = walk.data + first.begin;
    const size_t between = last.begin - first.end;

    memcpy(walk.scratch, walk.data + last.begin, last_bytes);
    memmove(text + last_bytes, text + first_bytes, between);
    memcpy(text, walk.scratch, last_bytes);
    memcpy(text + last_bytes + between, held, first_bytes);
}

static void splice(const struct span *span, const struct span *other)
{
    (void)put(span->begin, span->end, walk.data + other->begin, other->end - other->begin);
}

static void nest(const struct span *span)
{
    static char text[NESTS_MOST * 5 + 1];
    const bool is_list = below(2);
    const size_t n = below(3) ? 1 + below(30) : 1 + below(NESTS_MOST), end = span->end, begin = span->begin;
    size_t length = 0;

    for (size_t i = 0; i < n; i++)
        text[length++] = is_list ? ']' : '}';
    if (walk.size + n + n * (is_list ? 1 : 5) > walk.most || !put(end, end, text, length))
        return;
    length = 0;
    for (size_t i = 0; i < n; i++) {
        memcpy(text + length, is_list ? "[" : "{\"a\":", is_list ? 1 : 5);
        length += is_list ? 1 : 5;
    }
    (void)put(begin, begin, text, length);
}

/* A member or an event more, at the begin of what is not empty. */
static void insert(const struct span *list)
{
    const size_t at = list->begin + 1;
    const bool is_empty = end_of_space(at) + 1 >= list->end;
    static char text[1024];

    if (list->kind == '[')
        (void)snprintf(text, sizeof(text), "%s%s", ANY(elements), is_empty ? "" : ",");
    else
        (void)snprintf(text, sizeof(text), "\"%s\":%s%s", ANY(keys), below(2) ? ANY(values) : ANY(numbers),
                       is_empty ? "" : ",");
    (void)put_string(at, at, text);
}

static bool has_key(const struct span *span, const char *key)
{
    const size_t length = strlen(key);

    return span->has_key && span->begin - span->from > length && memcmp(walk.data + span->from, key, length) == 0;
}

static void set_phase(void)
{
    static const char phases[] = "XBEbneiICMstfPNODvRc?";
    const char text[] = { '"', phases[below(sizeof(phases) - 1)], '"', 0 };

    for (int tries = 0; tries < 50; tries++) {
        const struct span *const span = any_span();

        if (has_key(span, "\"ph\"")) {
            (void)put_string(span->begin, span->end, text);
            return;
        }
    }
}

static void add_space(const struct span *span)
{
    const size_t places[] = { span->from, span->begin, span->end };
    const size_t at = ANY(places);

    (void)put_string(at, at, ANY(spaces));
}

/* No JSON any more, most likely. */
static void damage(const struct span *span)
{
    const size_t places[] = { span->from, span->begin, span->end, below(walk.size) };
    const size_t at = ANY(places), left = walk.size - at;

    switch (below(4)) {
    case 0:
        (void)put(at, at + (left > 0), "", 0);
        break;
    case 1:
        walk.size = at ? at : walk.size;
        break; /* cut there */
    default:
        (void)put_string(at, at, ANY(broken));
        break;
    }
}

/* To the values of events more often than to the few around them. */
static void change(void)
{
    const struct span *const span = any_span(), *other = any_span();

    if (!span)
        return;
    switch (below(24)) {
    case 0:
    case 1:
        change_key(span);
        break;
    case 2:
    case 3:
        if (span->begin)
            drop(span);
        break;
    case 4:
    case 5:
        if (span->begin)
            repeat(*span);
        break;
    case 6:
        swap(*span, *other);
        break;
    case 7:
    case 8:
        splice(span, other);
        break;
    case 9:
        nest(span);
        break;
    case 10:
    case 11:
        other = any_of("[{");
        if (other)
            insert(other);
        break;
    case 12:
    case 13:
        set_phase();
        break;
    case 14:
        add_space(span);
        break;
    case 15:
        if (below(4) == 0)
            damage(span);
        break;
    default:
        change_value(span);
        break;
    }
}

static bool begin(uint8_t *data, size_t size, size_t most, unsigned seed, mutate_bytes_fn *bytes)
{
    walk.data = data;
    walk.size = size;
    walk.most = most < MUTATE_MOST ? most : MUTATE_MOST;
    walk.dice.state = seed;
    walk.bytes = bytes;
    return size > 0 && size <= walk.most;
}

size_t mutate_json(uint8_t *data, size_t size, size_t most, unsigned seed, mutate_bytes_fn *bytes)
{
    if (!begin(data, size, most, seed, bytes))
        return 0;
    for (size_t n = 1 + below(CHANGES_MOST); n > 0; n--) {
        read_text();
        change();
    }
    return walk.size;
}

size_t mutate_json_cross(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out, size_t most,
                         unsigned seed)
{
    static uint8_t from[MUTATE_MOST];
    struct span chosen;
    size_t length;

    if (b_size > sizeof(from) || a_size > most || !begin(from, b_size, sizeof(from), seed, NULL))
        return 0;
    memcpy(from, b, b_size);
    read_text();
    if (walk.count == 0)
        return 0;
    chosen = *any_span();
    memcpy(out, a, a_size);
    if (!begin(out, a_size, most, seed + 1, NULL))
        return 0;
    read_text();
    if (walk.count == 0)
        return 0;
    const struct span *const to = any_span();
    const bool is_added = to->begin && to->has_key == chosen.has_key && below(2);
    const size_t at = is_added ? chosen.from : chosen.begin;

    length = chosen.end - at;
    if (is_added) /* behind it, with its key where it has one */
        (void)(put_string(to->end, to->end, ",") && put(to->end + 1, to->end + 1, from + at, length));
    else
        (void)put(to->begin, to->end, from + at, length);
    return walk.size;
}

MUTATE_UNWATCHED_END
