/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a Chrome trace, read twice: with engines, windows and lengths of reads that the fuzzer chooses (see
 * fuzz_choices.h).  Each event's arguments become a list, which is read again.  Beside what the sanitizers see: two
 * results, times and texts that cannot be, lists that do not end, and memory that is not given back.
 * Seeds: small documents, written into the folder $TM_FUZZ_SEEDS before the first input. */
#include <string.h>

#include "stages/input/chrome/chrome_maker.h"
#include "tests/fuzz/fuzz_job.h"
#include "tests/fuzz/fuzz_mutate.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
/* --- seeds --- */

static const char *const seeds[] = {
    "{\"displayTimeUnit\":\"ns\",\"metadata\":{\"highres-ticks\":true},\"traceEvents\":[{\"ph\":\"M\",\"pid\":3,"
    "\"name\":"
    "\"process_name\",\"args\":{\"name\":\"/"
    "device:TPU:0\"}},{\"ph\":\"X\",\"pid\":3,\"tid\":2,\"ts\":962334.41700000002,"
    "\"dur\":9.9999999999999995e-07,\"name\":\"fusion.1\",\"args\":{\"correlation_id\":\"100\",\"hlo_op\":\"a\"}},{}]}",
    "\n{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\n      \"id\": 0, \"name\": \"A100\", "
    "\"totalGlobalMem\": "
    "85174583296,\n \"computeMajor\": 8, \"numSms\": 108}\n  ],\n \"distributedInfo\": {\"rank\": 0, \"backend\": "
    "\"nccl\"},\n"
    "\"traceEvents\": [\n  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclKernel\", \"pid\": 0, \"tid\": "
    "\"stream 7\",\n"
    "\"ts\": 1623143093498246, \"dur\": 78,\n \"args\": {\n \"device\": 0, \"grid\": [1, 2, 3], \"Input Dims\": [[3], "
    "[]], "
    "\"est. achieved occupancy %\": 12.5}\n  }\n], \"traceName\": \"t\"}",
    "[{\"ph\":\"b\",\"id2\":{\"local\":\"0x1\"},\"ts\":\"1.5\",\"name\":\"\\ud83d\\ude00\\ud83d\\n\"},null,{\"s\":"
    "\"g\",\"bp\":\"e\",\"bind_id\":1e3},",
    ("[{\"ph\":\"f\",\"bp\":\"e\",\"id\":18446744073709551615,\"ts\":1,\"args\":{\"a\\u0041\":{\"k\":[[],{\"\":-0}]},"
     "\"a\":1.5,\"b\":"
     "\"a text that does not stay in place \\n\",\"c\":-9223372036854775808,\"d\":18446744073709551616}}]"),
    "[{\"args\":{\"a\":[NaN,-Infinity,true,false,null,-1.5E+10,{}],\"bytes\":-5,\"bytes\":null},\"args\":{}}]\0\0",
};

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *const folder = getenv("TM_FUZZ_SEEDS");
    char path[4096];

    (void)argc;
    (void)argv;
    for (size_t i = 0; folder && i < sizeof(seeds) / sizeof(seeds[0]); i++) {
        FILE *to;

        (void)snprintf(path, sizeof(path), "%s/chrome-%zu", folder, i);
        to = fopen(path, "wb");
        if (to) {
            (void)fwrite(seeds[i], 1, strlen(seeds[i]), to);
            (void)fclose(to);
        }
    }
    return 0;
}

/* --- one input --- */

static struct fuzz_choices choices;

static uint64_t mix_text(uint64_t hash, struct tm_json_slice text)
{
    return tm_fact_mix(hash, text.length ? XXH3_64bits(text.at, text.length) : 0);
}

static uint64_t mix_id(uint64_t hash, const struct tm_json_id *id)
{
    hash = tm_fact_mix(hash, id->kind);
    if (id->kind == TM_JSON_NO_ID)
        return hash;
    return id->kind == TM_JSON_TEXT ? mix_text(hash, id->text) : tm_fact_mix(hash, (uint64_t)id->number);
}

static uint64_t mix_facts(uint64_t hash, const struct tm_facts *facts)
{
    for (int stat = 0; stat < TM_STAT_COUNT; stat++) {
        const struct tm_fact_text *const text = &facts->texts[stat];

        if (!tm_facts_have(facts, (enum tm_stat)stat))
            continue;
        if (text->kind == TM_FACT_BYTES && text->length)
            hash = tm_fact_mix(hash, XXH3_64bits(text->bytes, text->length));
        else
            hash = tm_fact_mix(hash, (uint64_t)facts->ints[stat]);
    }
    return tm_fact_mix(hash, facts->has ^ facts->config_hash);
}

static uint64_t mix_event(uint64_t hash, const struct tm_chrome_event *event)
{
    if (event->ts.ps < 0 || event->ts.ps > 999999 || event->dur.ps < 0 || event->dur.ps > 999999)
        abort();
    hash = tm_fact_mix(hash, event->offset ^ (uint64_t)event->has << 40 ^ (uint64_t)(uint8_t)event->phase << 56);
    hash = tm_fact_mix(hash, (uint64_t)event->ts.us ^ (uint64_t)event->ts.ps << 32);
    hash = tm_fact_mix(hash, (uint64_t)event->dur.us ^ (uint64_t)event->dur.ps << 32);
    hash = mix_id(mix_id(mix_id(hash, &event->pid), &event->tid), &event->id);
    hash = mix_text(mix_text(mix_text(hash, event->name), event->cat), event->args);
    return mix_facts(hash, &event->facts);
}

/* All nodes at the top; those inside are walked as the list that they are. */
static void walk_list(struct tm_arguments list)
{
    struct tm_arguments inside[TM_ARGUMENTS_DEEPEST + 1] = { list };
    bool is_array[TM_ARGUMENTS_DEEPEST + 1] = { false };
    size_t depth = 1;

    while (depth) {
        struct tm_argument node;

        if (!tm_arguments_next(&inside[depth - 1], !is_array[depth - 1], &node)) {
            depth--;
            continue;
        }
        if (node.type != TM_ARGUMENT_OBJECT && node.type != TM_ARGUMENT_ARRAY)
            continue;
        if (depth > TM_ARGUMENTS_DEEPEST)
            abort(); /* deeper than it may be */
        inside[depth] = node.inside;
        is_array[depth++] = node.type == TM_ARGUMENT_ARRAY;
    }
}

static uint64_t mix_arguments(uint64_t hash, struct tm_chrome_arguments *arguments, const struct tm_chrome_event *event,
                              struct tm_chrome_words words)
{
    struct tm_arguments list;

    words.has_category = words.has_category && event->has & TM_CHROME_CAT;
    list = tm_chrome_arguments_take(arguments, event, &words);
    if (tm_arguments_fitting(list, SIZE_MAX) != list.length)
        abort(); /* it cannot be read to its end */
    walk_list(list);
    return tm_fact_mix(hash, XXH3_64bits(list.bytes, list.length));
}

/* What one reading made of a file. */
struct reading {
    uint64_t hash; /* of all but the header */
    struct tm_chrome_header header;
    bool is_cut; /* something outgrew the window */
};

static struct tm_chrome_words chosen_words(void)
{
    const uint8_t flags = choices.bytes[5];

    return (struct tm_chrome_words){ .has_category = flags & 1,
                                     .has_id = flags & 2,
                                     .has_place = flags & 4,
                                     .is_enclosed = flags & 16,
                                     .has_texts_only = flags & 32,
                                     .takes_members = flags & 64,
                                     .is_joined = flags & 128,
                                     .is_converted = flags & 1,
                                     .place = 9 };
}

static void look(void *to, const struct tm_chrome_event *event)
{
    *(uint64_t *)to += event->offset;
}

/* What an event says whether it was remembered or not. */
static uint64_t mix_brief(uint64_t hash, const struct tm_chrome_event *event)
{
    hash = tm_fact_mix(hash, event->offset);
    hash = tm_fact_mix(hash, (uint64_t)event->has << 8 | (uint64_t)event->phase);
    if (event->has & TM_CHROME_TS)
        hash = tm_fact_mix(tm_fact_mix(hash, (uint64_t)event->ts.us), (uint64_t)event->ts.ps);
    if (event->has & TM_CHROME_DUR)
        hash = tm_fact_mix(tm_fact_mix(hash, (uint64_t)event->dur.us), (uint64_t)event->dur.ps);
    return hash;
}

/* remembers: every event; all must be as without. */
static uint64_t read_briefly(struct tm_run *run, const char *path, const struct tm_chrome_options *options,
                             bool remembers)
{
    struct tm_input input = { .fd = -1 };
    struct tm_chrome_reader *reader = NULL;
    const struct tm_chrome_event *event = NULL;
    uint64_t hash = 0;

    memset(&run->tallies, 0, sizeof(run->tallies));
    if (tm_input_open(&input, run, path) == TM_OK)
        reader = tm_chrome_reader_new(run, &input, options);
    while (reader && tm_chrome_next(reader, &event) == TM_OK && event) {
        struct tm_chrome_known known = { .has_facts = event->has & 1 };

        hash = mix_brief(hash, event);
        if (remembers && !event->known && tm_chrome_may_remember(reader))
            tm_chrome_remember(reader, &known);
    }
    if (reader)
        hash = tm_fact_mix(hash, tm_chrome_damage(reader)->bytes ^ tm_chrome_damage(reader)->to << 32);
    hash = tm_fact_mix(hash, XXH3_64bits(&run->tallies, sizeof(run->tallies)));
    tm_chrome_reader_free(reader);
    tm_input_close(&input);
    return hash;
}

/* names: of the run; what each reading tells of them is told anew
 * looks: ahead now and then, which changes nothing */
static struct reading read_trace(struct tm_run *run, struct tm_names *names, struct tm_chrome_arguments *arguments,
                                 const char *path, const struct tm_chrome_options *options, bool looks)
{
    struct tm_input input = { .fd = -1 };
    struct tm_chrome_reader *reader = NULL;
    const struct tm_chrome_event *event = NULL;
    const struct tm_chrome_words words = chosen_words();
    struct reading reading = { .hash = 0 };
    uint64_t at, count = 0;

    memset(&run->tallies, 0, sizeof(run->tallies));
    tm_names_begin_host(names);
    if (tm_input_open(&input, run, path) == TM_OK)
        reader = tm_chrome_reader_new(run, &input, options);
    while (reader && tm_chrome_next(reader, &event) == TM_OK && event) {
        uint64_t sum = 0;

        count++;
        reading.is_cut |= !event->members;
        if (looks && (count & (count - 1)) == 0 && tm_chrome_look_ahead(reader, 100, look, &sum) != TM_OK)
            break;
        reading.hash = mix_arguments(mix_event(reading.hash, event), arguments, event, words);
    }
    if (reader) {
        reading.header = *tm_chrome_header(reader);
        reading.hash = tm_fact_mix(reading.hash, tm_chrome_problem(reader, &at) ? at : UINT64_MAX);
        reading.hash = tm_fact_mix(reading.hash, tm_chrome_damage(reader)->bytes ^ tm_chrome_damage(reader)->to << 32);
        reading.hash = tm_fact_mix(reading.hash, XXH3_64bits(&run->tallies, sizeof(run->tallies)));
        reading.is_cut |= run->tallies.count[TM_TALLY_LONG_VALUE] > 0;
    }
    tm_chrome_reader_free(reader);
    tm_input_close(&input);
    return reading;
}

/* 0 = the default: seldom, since it takes long */
static size_t window_bytes(uint8_t choice, uint8_t more)
{
    return choice % 16 == 0 ? (more % 8 ? 16384 : 0) : 256 + (size_t)(choice / 16) * 64 + more;
}

static bool begins_alike(const char *one, const char *other, size_t room, size_t longest)
{
    return strncmp(one, other, longest < room ? longest : room) == 0;
}

/* Texts of a header have their first bytes where they outgrow a window: a sixth of a half, since \u0061 becomes a byte. */
static bool is_same_header(const struct tm_chrome_header *a, const struct tm_chrome_header *b, size_t window)
{
    const size_t longest = (window ? window : sizeof(a->trace_name) * 12) / 12;

    return a->is_list == b->is_list && a->has_events == b->has_events && a->has_highres_ticks == b->has_highres_ticks &&
           a->has_schema_version == b->has_schema_version && a->is_converted == b->is_converted &&
           a->base_time_ns == b->base_time_ns && a->rank == b->rank && a->world_size == b->world_size &&
           a->cuda_driver == b->cuda_driver && a->cuda_runtime == b->cuda_runtime && a->hip_driver == b->hip_driver &&
           a->hip_runtime == b->hip_runtime && a->device_count == b->device_count &&
           begins_alike(a->backend, b->backend, sizeof(a->backend), longest) &&
           begins_alike(a->host, b->host, sizeof(a->host), longest) &&
           begins_alike(a->trace_name, b->trace_name, sizeof(a->trace_name), longest);
}

/* 0 = as many as there is room for */
static size_t read_bytes(uint8_t choice)
{
    return choice < 192 ? choice : (size_t)(choice - 191) * 67;
}

static size_t smaller(size_t a, size_t b) /* of windows */
{
    return b == 0 || (a != 0 && a < b) ? a : b;
}

/* Where both readings have the same window, they tell the same; and where nothing outgrew either one, too. */
static void use_file(const char *path, size_t size)
{
    const uint8_t *const chosen = choices.bytes;
    const bool is_same_window = chosen[5] & 8;
    const struct tm_chrome_options first = { .window_bytes = window_bytes(chosen[1], chosen[2]),
                                             .read_bytes = read_bytes(chosen[3]),
                                             .engine = chosen[0] % 4 };
    const struct tm_chrome_options second = { .window_bytes = is_same_window ? first.window_bytes
                                                                             : window_bytes(chosen[2], chosen[1]),
                                              .read_bytes = read_bytes(chosen[4]),
                                              .engine = chosen[0] / 4 % 4 };
    struct tm_chrome_arguments *arguments = NULL;
    struct tm_names *names;
    struct tm_run run;

    (void)size;
    fuzz_run_init(&run);
    names = tm_names_new(&run, 1 << 20, NULL);
    if (names)
        arguments = tm_chrome_arguments_new(&run, names);
    if (arguments) {
        const struct reading a = read_trace(&run, names, arguments, path, &first, false);

        tm_chrome_arguments_free(
            arguments); /* it knows the keys of one host: those that are no UTF-8 are tallied once */
        arguments = tm_chrome_arguments_new(&run, names);
        if (!arguments)
            abort();
        const struct reading b = read_trace(&run, names, arguments, path, &second, true);

        if (a.hash != b.hash && (is_same_window || (!a.is_cut && !b.is_cut)))
            abort(); /* two results */
        if (!is_same_header(&a.header, &b.header,
                            is_same_window ? 0 : smaller(first.window_bytes, second.window_bytes)))
            abort(); /* two headers */
        if (read_briefly(&run, path, &first, false) != read_briefly(&run, path, &first, true))
            abort(); /* a template was taken for what it is not */
    }
    tm_chrome_arguments_free(arguments);
    tm_names_free(names);
    fuzz_run_end(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices = fuzz_choices_take(data, &size);
    fuzz_with_file(data, size, use_file);
    return 0;
}
