/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what the Chrome reader makes of a file, one line of JSON per event, then the header, the tallies and the
 * problem: what tests compare with another reader of JSON.  Times are whole picoseconds, texts are bytes in
 * hexadecimal, so that nothing is rounded or replaced.
 *
 *   chrome_events [-e plain|sse2|avx2|neon|best] [-w WINDOW_BYTES] [-r READ_BYTES] FILE...
 *   chrome_events -t ... FILE       prints only how many events there are, and what reading them cost
 *   chrome_events -R 1-4096 ... FILE   prints the sizes of reads, or (-W) of windows, with which the lines would be
 *                                      others than without
 *   chrome_events -k KEY...         prints the number of the argument that each key names */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <xxhash.h>

#include "stages/input/chrome/chrome_maker.h"

struct job {
    const char *path;
    struct tm_chrome_options options;
    FILE *out;              /* NULL = nothing is printed */
    struct tm_names *names; /* of what is printed */
    struct tm_chrome_arguments *arguments;
    double seconds;
};

static void print_text(FILE *out, struct tm_json_slice text)
{
    (void)fputc('"', out);
    for (uint32_t i = 0; i < text.length; i++)
        (void)fprintf(out, "%02x", (uint8_t)text.at[i]);
    (void)fputc('"', out);
}

/* us * 1000000 + ps, which may need more than 64 bits. */
static void print_time(FILE *out, const char *key, struct tm_json_time time)
{
    const __int128 ps = (__int128)time.us * 1000000 + time.ps;
    const unsigned __int128 size = ps < 0 ? -(unsigned __int128)ps : (unsigned __int128)ps;
    const uint64_t billion = 1000000000;
    const uint64_t low = (uint64_t)(size % billion), middle = (uint64_t)(size / billion % billion),
                   high = (uint64_t)(size / billion / billion);

    (void)fprintf(out, ",\"%s\":\"%s%" PRIu64 "%09" PRIu64 "%09" PRIu64 "\"", key, ps < 0 ? "-" : "", high, middle,
                  low);
}

static void print_id(FILE *out, const char *key, const struct tm_json_id *id)
{
    if (id->kind == TM_JSON_NO_ID)
        return;
    (void)fprintf(out, ",\"%s\":", key);
    if (id->kind == TM_JSON_TEXT)
        print_text(out, id->text);
    else if (id->is_unsigned)
        (void)fprintf(out, "%" PRIu64, (uint64_t)id->number);
    else
        (void)fprintf(out, "%" PRId64, id->number);
}

static void print_facts(FILE *out, const struct tm_facts *facts)
{
    const char *comma = "";

    (void)fputs(",\"facts\":{", out);
    for (int stat = 0; stat < TM_STAT_COUNT; stat++) {
        const struct tm_fact_text *const text = &facts->texts[stat];

        if (!tm_facts_have(facts, (enum tm_stat)stat))
            continue;
        (void)fprintf(out, "%s\"%d\":", comma, stat);
        if (text->kind == TM_FACT_BYTES)
            print_text(out, (struct tm_json_slice){ (const char *)text->bytes, (uint32_t)text->length });
        else
            (void)fprintf(out, "[%" PRId64 ",\"%a\"]", facts->ints[stat], facts->doubles[stat]);
        comma = ",";
    }
    (void)fputs("}", out);
}

static void print_hex_name(FILE *out, struct tm_names *names, uint64_t name)
{
    size_t length;
    const char *const text = tm_names_text(names, (tm_strid)name, 0, &length);

    if (tm_names_status(names) != TM_OK)
        exit(1);
    print_text(out, (struct tm_json_slice){ text, (uint32_t)length });
}

/* What a node holds; what is inside comes behind it. */
static void print_node(FILE *out, struct tm_names *names, const struct tm_argument *node)
{
    switch (node->type) {
    case TM_ARGUMENT_NULL:
        (void)fputs("null", out);
        return;
    case TM_ARGUMENT_FALSE:
        (void)fputs("false", out);
        return;
    case TM_ARGUMENT_TRUE:
        (void)fputs("true", out);
        return;
    case TM_ARGUMENT_INT:
        (void)fprintf(out, "%" PRId64, node->number);
        return;
    case TM_ARGUMENT_UINT:
        (void)fprintf(out, "%" PRIu64, node->value);
        return;
    case TM_ARGUMENT_NUMBER:
        (void)fprintf(out, "{\"number\":\"%.*s\"}", (int)node->length, node->text);
        return;
    case TM_ARGUMENT_NAME:
        print_hex_name(out, names, node->value);
        return;
    case TM_ARGUMENT_TEXT:
        print_text(out, (struct tm_json_slice){ node->text, (uint32_t)node->length });
        return;
    default:
        (void)fputs(node->type == TM_ARGUMENT_OBJECT ? "{\"pairs\":[" : "[", out);
    }
}

/* Objects are {"pairs": [key, value, ...]}, numbers that are no integers {"number": as it is written}. */
static void print_list(FILE *out, struct tm_names *names, struct tm_arguments list)
{
    struct tm_arguments left[TM_ARGUMENTS_DEEPEST + 1] = { list };
    bool is_array[TM_ARGUMENTS_DEEPEST + 1] = { false };
    const char *comma = "";
    int depth = 0;

    (void)fputs(",\"list\":{\"pairs\":[", out);
    while (depth >= 0) {
        struct tm_argument node;

        if (!tm_arguments_next(&left[depth], !is_array[depth], &node)) {
            (void)fputs(is_array[depth--] ? "]" : "]}", out);
            comma = ",";
            continue;
        }
        (void)fputs(comma, out);
        comma = ",";
        if (!is_array[depth]) {
            print_hex_name(out, names, node.key);
            (void)fputc(',', out);
        }
        print_node(out, names, &node);
        if (node.type != TM_ARGUMENT_OBJECT && node.type != TM_ARGUMENT_ARRAY)
            continue;
        left[++depth] = node.inside;
        is_array[depth] = node.type == TM_ARGUMENT_ARRAY;
        comma = "";
    }
}

static void print_arguments(struct job *job, const struct tm_chrome_event *event)
{
    const struct tm_chrome_words none = { .has_id = false };
    struct tm_arguments list;

    if (!event->args.at)
        return;
    list = tm_chrome_arguments_take(job->arguments, event, &none);
    print_list(job->out, job->names, list);
}

static void print_event(struct job *job, const struct tm_chrome_event *event)
{
    FILE *const out = job->out;

    (void)fprintf(out, "{\"offset\":%" PRIu64 ",\"ph\":%d", event->offset, event->phase);
    if (event->has & TM_CHROME_TS)
        print_time(out, "ts", event->ts);
    if (event->has & TM_CHROME_DUR)
        print_time(out, "dur", event->dur);
    if (event->has & TM_CHROME_LONG_DUR)
        (void)fputs(",\"long_dur\":true", out);
    if (event->has & TM_CHROME_SCOPE)
        (void)fprintf(out, ",\"s\":\"%c\"", event->scope);
    if (event->has & TM_CHROME_BIND_ENCLOSING)
        (void)fputs(",\"bp\":true", out);
    print_id(out, "pid", &event->pid);
    print_id(out, "tid", &event->tid);
    print_id(out, "id", &event->id);
    if (event->has & TM_CHROME_NAME) {
        (void)fputs(",\"name\":", out);
        print_text(out, event->name);
    }
    if (event->has & TM_CHROME_CAT) {
        (void)fputs(",\"cat\":", out);
        print_text(out, event->cat);
    }
    if (event->has & TM_CHROME_ARGS)
        (void)fprintf(out, ",\"args\":[%u,\"%016" PRIx64 "\"]", event->args.length,
                      event->args.at ? (uint64_t)XXH3_64bits(event->args.at, event->args.length) : 0);
    print_facts(out, &event->facts);
    print_arguments(job, event);
    (void)fputs("}\n", out);
}

static void print_string(FILE *out, const char *key, const char *text)
{
    (void)fprintf(out, ",\"%s\":", key);
    print_text(out, (struct tm_json_slice){ text, (uint32_t)strlen(text) });
}

static void print_header(FILE *out, const struct tm_chrome_header *header)
{
    (void)fprintf(out,
                  "{\"header\":{\"is_list\":%d,\"highres\":%d,\"schema\":%d,\"base\":%" PRId64 ",\"rank\":%" PRId64
                  ",\"world\":%" PRId64 ",\"cuda\":[%" PRId64 ",%" PRId64 "],\"hip\":[%" PRId64 ",%" PRId64 "]",
                  header->is_list, header->has_highres_ticks, header->has_schema_version, header->base_time_ns,
                  header->rank, header->world_size, header->cuda_driver, header->cuda_runtime, header->hip_driver,
                  header->hip_runtime);
    print_string(out, "backend", header->backend);
    print_string(out, "host", header->host);
    print_string(out, "trace_name", header->trace_name);
    (void)fputs(",\"devices\":[", out);
    for (uint32_t i = 0; i < header->device_count; i++) {
        const struct tm_chrome_device *const device = &header->devices[i];

        (void)fprintf(out, "%s{\"id\":%" PRId64 ",\"memory\":%" PRIu64 ",\"cores\":%" PRIu64 ",\"capability\":[%u,%u]",
                      i ? "," : "", device->id, device->memory_bytes, device->core_count, device->capability_major,
                      device->capability_minor);
        print_string(out, "name", device->name);
        (void)fputs("}", out);
    }
    (void)fputs("]}}\n", out);
}

static void print_end(FILE *out, const struct tm_run *run, const struct tm_chrome_reader *reader)
{
    const struct tm_chrome_damage *const damage = tm_chrome_damage(reader);
    const char *comma = "";

    print_header(out, tm_chrome_header(reader));
    (void)fputs("{\"tallies\":{", out);
    for (int i = 0; i < TM_TALLY_COUNT; i++) {
        if (run->tallies.count[i] == 0)
            continue;
        (void)fprintf(out, "%s\"%s\":%" PRIu64, comma, tm_tally_info[i].name, run->tallies.count[i]);
        comma = ",";
    }
    (void)fputs("}}\n", out);
    if (damage->problem)
        (void)fprintf(
            out, "{\"problem\":\"%s\",\"damage\":[%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%d]}\n",
            damage->problem, damage->at, damage->from, damage->to, damage->places, damage->bytes, damage->is_left);
}

/* It changes nothing. */
static void look(void *to, const struct tm_chrome_event *event)
{
    *(uint64_t *)to += event->offset;
}

static double cpu_seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* out:    the events; -1 = an error, which has been printed
 *         job->seconds  of CPU for them, once the file was open */
static int64_t read_file(struct job *job)
{
    static struct tm_run run, naming; /* what names find out is no tally of the reader */
    struct tm_input input = { .fd = -1 };
    struct tm_chrome_reader *reader = NULL;
    const struct tm_chrome_event *event = NULL;
    int64_t count = 0;
    tm_status st;

    memset(&run, 0, sizeof(run));
    tm_budget_init(&run.budget, (size_t)TM_MEMORY_DEFAULT_MIB * TM_MIB);
    run.spill_dir = "/var/tmp";
    run.quiet = true;
    naming = run;
    job->names = tm_names_new(&naming, 1 << 20, NULL);
    job->arguments = job->names ? tm_chrome_arguments_new(&naming, job->names) : NULL;
    st = job->arguments ? tm_input_open(&input, &run, job->path) : naming.error.status;
    job->seconds = cpu_seconds();
    if (st == TM_OK) {
        reader = tm_chrome_reader_new(&run, &input, &job->options);
        st = reader ? tm_chrome_next(reader, &event) : run.error.status;
    }
    for (; st == TM_OK && event; st = tm_chrome_next(reader, &event)) {
        uint64_t sum = 0;

        count++;
        if (job->out && (count & (count - 1)) == 0 && tm_chrome_look_ahead(reader, 100, look, &sum) != TM_OK)
            st = run.error.status;
        if (job->out && st == TM_OK)
            print_event(job, event);
    }
    job->seconds = cpu_seconds() - job->seconds;
    if (st != TM_OK && job->out)
        (void)fputs("{\"refused\":true}\n", job->out);
    if (st == TM_OK && job->out)
        print_end(job->out, &run, reader);
    if (st != TM_OK)
        tm_error_print(&run.error, stderr);
    tm_chrome_reader_free(reader);
    tm_chrome_arguments_free(job->arguments);
    tm_names_free(job->names);
    tm_input_close(&input);
    return st == TM_OK ? count : -1;
}

static int measure(struct job *job)
{
    for (int turn = 0; turn < 5; turn++) {
        const int64_t count = read_file(job);

        if (count < 0)
            return 1;
        (void)printf("%" PRId64 " events in %.3f s of CPU\n", count, job->seconds);
    }
    return 0;
}

static char *print_to_memory(struct job *job, size_t *length)
{
    char *text = NULL;

    job->out = open_memstream(&text, length);
    if (!job->out || read_file(job) < 0)
        exit(1);
    (void)fclose(job->out);
    return text;
}

/* Reads it with every size of reads or windows; tells those with another result than the first. */
static int sweep(struct job *job, const char *sizes, size_t *size)
{
    size_t first, last, length, same;
    char *const rest = strchr(sizes, '-'), *usual, *text;

    first = strtoull(sizes, NULL, 10);
    last = rest ? strtoull(rest + 1, NULL, 10) : first;
    usual = print_to_memory(job, &length);
    for (*size = first; *size <= last; ++*size) {
        text = print_to_memory(job, &same);
        if (same != length || memcmp(text, usual, length) != 0)
            (void)printf("%zu\n", *size);
        free(text);
    }
    free(usual);
    return 0;
}

static enum tm_json_engine engine_of(const char *name)
{
    static const char *const names[] = { "best", "plain", "sse2", "avx2", "neon" };

    for (int i = 0; i < TM_JSON_ENGINES; i++) {
        if (strcmp(name, names[i]) == 0 && tm_json_engine_works((enum tm_json_engine)i))
            return (enum tm_json_engine)i;
    }
    exit(77);
}

static int print_keys(char **keys)
{
    for (; *keys; keys++)
        (void)printf("%d\n", tm_argument_of(*keys, strlen(*keys)));
    return 0;
}

static int print_files(struct job *job, char **paths)
{
    for (; *paths; paths++) {
        job->path = *paths;
        (void)printf("{\"file\":true}\n");
        (void)read_file(job);
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct job job = { .out = stdout };
    const char *reads = NULL, *windows = NULL;
    bool measures = false;
    int option;

    while ((option = getopt(argc, argv, "e:w:r:tkR:W:")) != -1) {
        if (option == 'e')
            job.options.engine = engine_of(optarg);
        else if (option == 'w')
            job.options.window_bytes = strtoull(optarg, NULL, 10);
        else if (option == 'r')
            job.options.read_bytes = strtoull(optarg, NULL, 10);
        else if (option == 'R')
            reads = optarg;
        else if (option == 'W')
            windows = optarg;
        else if (option == 'k')
            return print_keys(argv + optind);
        else
            measures = true;
    }
    if (optind >= argc)
        return 2;
    job.path = argv[optind];
    if (reads)
        return sweep(&job, reads, &job.options.read_bytes);
    if (windows)
        return sweep(&job, windows, &job.options.window_bytes);
    if (measures) {
        job.out = NULL;
        return measure(&job);
    }
    return print_files(&job, argv + optind);
}
