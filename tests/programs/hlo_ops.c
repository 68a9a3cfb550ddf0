/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what the HLO programs of an XSpace say, one line of JSON per op, then one per program, then how many events
 * name an op and how many were joined with what the HLO says of it.
 *
 *   hlo_ops [-m MEMORY_MIB] FILE */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/engine/analysis.h"
#include "stages/resolve/classes.h"

struct counts {
    uint64_t named, joined;
};

static void ignore_warning(void *to, const char *text, size_t length)
{
    (void)to;
    (void)text;
    (void)length;
}

static void print_text(struct tm_names *names, const char *key, tm_strid id)
{
    size_t length;
    const char *const text = tm_names_text(names, id, 0, &length);

    if (tm_names_status(names) != TM_OK)
        exit(1);
    (void)printf(",\"%s\":\"", key);
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];

        if (c < 0x20 || c == '"' || c == '\\' || c >= 0x7f)
            (void)printf("\\u%04x", c);
        else
            (void)putchar(c);
    }
    (void)putchar('"');
}

static void print_op(struct tm_names *names, const struct tm_hlo_op *op)
{
    static const char *const flags[] = { "false", "true" };

    (void)printf("{\"program_id\":%" PRId64, op->program_id);
    print_text(names, "name", op->name);
    print_text(names, "module", op->module);
    print_text(names, "opcode", op->opcode);
    print_text(names, "path", op->path);
    print_text(names, "source", op->source);
    print_text(names, "target", op->target);
    print_text(names, "groups", op->groups);
    if (op->has_flops)
        (void)printf(",\"flops\":%" PRIu64, op->flops);
    if (op->has_bytes)
        (void)printf(",\"bytes\":%" PRIu64, op->bytes);
    (void)printf(",\"message_bytes\":%" PRIu64 ",\"group_size\":%" PRIu32 ",\"precision\":\"%s\"", op->message_bytes,
                 op->group_size, tm_precision_name[op->precision]);
    (void)printf(",\"matrix\":%s,\"softmax\":%s,\"batched\":%s,\"host\":%s,\"fusion\":%s}\n", flags[op->has_matrix],
                 flags[op->has_softmax], flags[op->is_batched], flags[op->is_host], flags[op->is_fusion]);
}

static void print_module(struct tm_names *names, const struct tm_hlo_module *module)
{
    (void)printf("{\"instructions\":%" PRIu64 ",\"program_id\":%" PRId64, module->instructions, module->program_id);
    print_text(names, "module", module->name);
    print_text(names, "shapes", module->shapes);
    print_text(names, "why", module->why);
    (void)puts("}");
}

static tm_status count(void *to, const struct tm_event *event)
{
    struct counts *counts = to;

    counts->named += event->config->hlo_op || event->record.class == TM_CLASS_TPU_OP;
    counts->joined += event->config->hlo != 0;
    return TM_OK;
}

static tm_status print_all(struct tm_host_run *host)
{
    struct counts counts = { 0, 0 };
    tm_status st;

    for (uint64_t i = 1; i < tm_rows_count(host->trace.hlo_ops); i++) {
        const struct tm_hlo_op *op = tm_rows_at(host->trace.hlo_ops, i);

        if (!op)
            return host->run->error.status;
        print_op(host->trace.names, op);
    }
    for (uint64_t i = 0; i < tm_rows_count(host->trace.hlo_modules); i++) {
        const struct tm_hlo_module *module = tm_rows_at(host->trace.hlo_modules, i);

        if (!module)
            return host->run->error.status;
        print_module(host->trace.names, module);
    }
    st = tm_host_events(host, count, &counts);
    (void)printf("{\"named\":%" PRIu64 ",\"joined\":%" PRIu64 "}\n", counts.named, counts.joined);
    return st;
}

int main(int argc, char **argv)
{
    struct tm_run run = { .quiet = true, .spill_dir = "/var/tmp" };
    const struct tm_host_options options = { .steps.all = true, .warn = ignore_warning };
    char host_name[] = "host";
    struct tm_found_file file = { .host = host_name };
    struct tm_names *names;
    struct tm_host_run host;
    size_t memory_mib = TM_MEMORY_DEFAULT_MIB;
    tm_status st;

    if (argc == 4 && !strcmp(argv[1], "-m"))
        memory_mib = (size_t)strtoul(argv[2], NULL, 10);
    else if (argc != 2)
        return 2;
    file.path = argv[argc - 1];
    tm_budget_init(&run.budget, memory_mib * TM_MIB);
    names = tm_names_new(&run, tm_budget_share(&run.budget, TM_ACCOUNT_NAMES), tm_traits_of);
    if (!names)
        return 1;
    st = tm_host_open(&host, &run, names, &file, 0, &options);
    if (st == TM_OK)
        st = print_all(&host);
    tm_host_close(&host);
    tm_names_free(names);
    if (st != TM_OK)
        (void)fprintf(stderr, "%s\n", run.error.what);
    return st == TM_OK ? 0 : 1;
}
