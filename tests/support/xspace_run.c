/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/xspace_run.h"

#include <stdlib.h>

#include "stages/input/formats.h"
#include "stages/resolve/classes.h"
#include "tests/support/memory_file.h"
#include "tests/support/test_run.h"

enum { TEXT_MOST = 4096 };

static void keep_warning(void *to, const char *text, size_t length)
{
    struct xspace_run *const x = to;
    const size_t at = strlen(x->warnings);

    (void)snprintf(x->warnings + at, sizeof(x->warnings) - at, "%.*s\n", (int)length, text);
}

static tm_status make_common(struct tm_trace *trace, size_t share)
{
    const struct tm_common_arguments nothing = { .length = 0 };

    trace->common = tm_rows_new(trace->run, TM_ACCOUNT_METADATA, sizeof(struct tm_common_arguments), share / 32);
    trace->common_bytes = tm_rows_new(trace->run, TM_ACCOUNT_METADATA, 1, share / 16);
    trace->templates = tm_argument_templates_new(trace->run);
    if (!trace->common || !trace->common_bytes || !trace->templates)
        return trace->run->error.status;
    tm_rows_append(trace->common, &nothing);
    return trace->run->error.status;
}

static tm_status make_tables(struct xspace_run *x, bool keeps_arguments)
{
    const struct tm_config none = { .level = TM_LEVEL_NONE, .ordinal = TM_NONE };
    const struct tm_hlo_op no_op = { .name = 0 };
    struct tm_trace *const trace = &x->host.trace;
    struct tm_budget *const budget = &x->run.budget;
    const size_t share = tm_budget_share(budget, TM_ACCOUNT_METADATA);

    x->names = tm_names_new(&x->run, tm_budget_share(budget, TM_ACCOUNT_NAMES), tm_traits_of);
    *trace =
        (struct tm_trace){ .run = &x->run, .names = x->names, .host_name = "host", .keeps_arguments = keeps_arguments };
    trace->tracks = tm_rows_new(&x->run, TM_ACCOUNT_METADATA, sizeof(struct tm_track), share / 16);
    trace->configs = tm_rows_new(&x->run, TM_ACCOUNT_METADATA, sizeof(struct tm_config), share / 8);
    trace->hlo_ops = tm_rows_new(&x->run, TM_ACCOUNT_METADATA, sizeof(struct tm_hlo_op), share / 16);
    trace->hlo_modules = tm_rows_new(&x->run, TM_ACCOUNT_METADATA, sizeof(struct tm_hlo_module), share / 32);
    trace->devices = tm_take(budget, TM_ACCOUNT_METADATA, TM_DEVICES_MOST * sizeof(*trace->devices), &x->run.error);
    if (!x->names || !trace->tracks || !trace->configs || !trace->hlo_ops || !trace->hlo_modules || !trace->devices)
        return x->run.error.status;
    tm_rows_append(trace->hlo_ops, &no_op);
    tm_rows_append(trace->configs, &none);
    if (keeps_arguments && make_common(trace, share) != TM_OK)
        return x->run.error.status;
    return x->run.error.status;
}

tm_status xspace_scan_with(struct xspace_run *x, const struct xb_bytes *bytes, const struct xspace_options *options)
{
    const size_t memory_mib = options->memory_mib ? options->memory_mib : TM_MEMORY_LEAST_MIB;
    tm_status st;

    memset(x, 0, sizeof(*x));
    test_run_init(&x->run);
    tm_budget_init(&x->run.budget, memory_mib * TM_MIB);
    x->run.budget.refuse_in = options->refuse_in;
    x->host.run = &x->run;
    x->host.own.fd = -1;
    x->host.input = &x->host.own;
    st = make_tables(x, options->keeps_arguments);
    if (st == TM_OK)
        st = memory_input(x->host.input, &x->run, bytes->at, bytes->length);
    if (st == TM_OK)
        st = tm_xspace_scan(&x->host.trace, x->host.input, keep_warning, x, &x->host.source);
    return st;
}

tm_status xspace_scan(struct xspace_run *x, const struct xb_bytes *bytes, size_t memory_mib)
{
    return xspace_scan_with(x, bytes, &(struct xspace_options){ .memory_mib = memory_mib });
}

tm_status xspace_scan_refusing(struct xspace_run *x, const struct xb_bytes *bytes, uint64_t refuse_in)
{
    return xspace_scan_with(x, bytes, &(struct xspace_options){ .refuse_in = refuse_in });
}

tm_status xspace_scan_space(struct xspace_run *x, const struct xb_space *space, const struct xb_style *style)
{
    static const struct xb_style plain = { .shuffle = 0 };
    struct xb_bytes bytes = { .length = 0 };
    tm_status st;

    xb_encode(space, style ? style : &plain, &bytes);
    st = xspace_scan(x, &bytes, TM_MEMORY_LEAST_MIB);
    xb_free(&bytes);
    return st;
}

tm_status xspace_survey(struct xspace_run *x, const struct tm_chosen_steps *choice)
{
    static const struct tm_chosen_steps automatic = { .all = false };

    return tm_survey(x->host.source, choice ? choice : &automatic, x->host.census, &x->host.resolver);
}

void xspace_close(struct xspace_run *x)
{
    tm_host_close(&x->host);
    tm_names_free(x->names);
    assert_ledger_is_even(&x->run);
}

struct tm_arguments xspace_own(const struct xspace_run *x, struct tm_arguments own, const struct tm_record *record)
{
    static uint8_t whole[TM_TEMPLATE_WHOLE_MOST];

    return record->flags & TM_FLAG_TEMPLATE
               ? tm_arguments_whole(x->host.trace.templates, record->common, own, record->correlation, whole)
               : own;
}

const char *xspace_text(struct xspace_run *x, tm_strid id)
{
    return tm_names_text(x->names, id, TEXT_MOST, NULL);
}

uint64_t xspace_line(struct xspace_run *x, const char *name)
{
    for (uint64_t i = 0; i < tm_rows_count(x->host.trace.tracks); i++) {
        const struct tm_track *const track = tm_rows_at(x->host.trace.tracks, i);

        assert_non_null(track);
        if (!strcmp(xspace_text(x, track->name), name))
            return i;
    }
    fail_msg("no line '%s'", name);
    return 0;
}

/* --- everything as text --- */

static void print_name(struct xspace_run *x, const char *key, tm_strid id, FILE *to)
{
    if (id)
        (void)fprintf(to, " %s='%s'", key, xspace_text(x, id));
}

static void print_config(struct xspace_run *x, uint32_t row, FILE *to)
{
    const struct tm_config *const at = tm_rows_at(x->host.trace.configs, row);
    struct tm_config c;

    assert_non_null(at);
    c = *at;
    (void)fprintf(to, " grid=%u,%u,%u block=%u,%u,%u registers=%u occupancy=%u shared=%llu bytes=%llu", c.grid[0],
                  c.grid[1], c.grid[2], c.block[0], c.block[1], c.block[2], c.registers, c.occupancy_milli,
                  (unsigned long long)c.shared_bytes, (unsigned long long)c.copy_bytes);
    print_name(x, "op", c.op, to);
    print_name(x, "hlo_op", c.hlo_op, to);
    print_name(x, "module", c.module, to);
    print_name(x, "category", c.category, to);
    (void)fprintf(
        to, " program=%lld flops=%llu accessed=%llu graph=%u ordinal=%d copy=%d,%d,%d,%d kernel=%d tpu=%d level=%d",
        (long long)c.program_id, (unsigned long long)c.flops, (unsigned long long)c.bytes_accessed, c.graph_exec,
        (int)c.ordinal, c.has_copy, c.has_copy_bytes, c.direction, c.pageable, c.has_kernel, c.tpu_part, c.level);
}

static void print_args(struct xspace_run *x, const struct tm_raw_record *raw, FILE *to)
{
    if (raw->record.args_length == sizeof(struct tm_number)) {
        (void)fprintf(to, " number=%lld", (long long)((const struct tm_number *)raw->args)->value);
    } else if (raw->record.args_length == sizeof(struct tm_allocation)) {
        const struct tm_allocation a = *(const struct tm_allocation *)raw->args;

        (void)fprintf(to, " has=%x %lld,%lld,%lld,%lld,%lld,%lld,%llx,%g", a.has, (long long)a.bytes_reserved,
                      (long long)a.bytes_allocated, (long long)a.bytes_available, (long long)a.peak_bytes_in_use,
                      (long long)a.requested_bytes, (long long)a.allocation_bytes, (unsigned long long)a.address,
                      a.fragmentation);
        print_name(x, "allocator", a.allocator, to);
        print_name(x, "shape", a.shape, to);
        print_name(x, "region", a.region, to);
    } else {
        assert_int_equal(raw->record.args_length, 0);
    }
}

static void print_line(struct xspace_run *x, uint64_t number, size_t buffer_bytes, FILE *to)
{
    const struct tm_source_type *const type = x->host.source->type;
    const struct tm_track *const row = tm_rows_at(x->host.trace.tracks, number);
    const struct tm_track track = *row;
    struct tm_cursor *const cursor = type->open(x->host.source, number, buffer_bytes);

    assert_non_null(cursor);
    (void)fprintf(to, "line '%s' of ", xspace_text(x, track.name));
    (void)fprintf(to, "'%s' id %lld device %d side %d kind %d events %llu\n", xspace_text(x, track.plane_name),
                  (long long)track.id, (int)track.device, track.side, track.line, (unsigned long long)track.events);
    for (;;) {
        struct tm_raw_record raw;
        bool more;

        assert_int_equal(type->next(cursor, &raw, &more), TM_OK);
        if (!more)
            break;
        assert_int_equal(raw.record.track, number);
        (void)fprintf(to, "  %lld +%lld '%s' correlation %llx flags %x kind %d", (long long)raw.record.start_ps,
                      (long long)raw.record.dur_ps, xspace_text(x, raw.record.name),
                      (unsigned long long)raw.record.correlation, raw.record.flags, raw.record.kind);
        print_args(x, &raw, to);
        if (raw.record.config)
            print_config(x, raw.record.config, to);
        (void)fputc('\n', to);
    }
    type->close(cursor);
}

struct named {
    uint64_t number;
    char name[200];
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static void print_lines(struct xspace_run *x, size_t buffer_bytes, FILE *to)
{
    const uint64_t count = tm_rows_count(x->host.trace.tracks);
    struct named *const lines = calloc(count + 1, sizeof(*lines));

    assert_non_null(lines);
    for (uint64_t i = 0; i < count; i++) {
        const struct tm_track *const track = tm_rows_at(x->host.trace.tracks, i);
        const struct tm_track copy = *track;
        char plane[100];

        (void)snprintf(plane, sizeof(plane), "%s", xspace_text(x, copy.plane_name));
        lines[i].number = i;
        (void)snprintf(lines[i].name, sizeof(lines[i].name), "%s|%.90s|%lld", plane, xspace_text(x, copy.name),
                       (long long)copy.id);
    }
    qsort(lines, count, sizeof(*lines), by_name);
    for (uint64_t i = 0; i < count; i++)
        print_line(x, lines[i].number, buffer_bytes, to);
    free(lines);
}

void xspace_print(struct xspace_run *x, size_t buffer_bytes, FILE *to)
{
    const struct tm_trace *const trace = &x->host.trace;
    const struct tm_environment *const e = &trace->environment;

    for (uint32_t i = 0; i < trace->device_count; i++) {
        const struct tm_device *const d = &trace->devices[i];

        (void)fprintf(to, "device %s '%s' model '%s' vendor '%s' cores %llu bandwidth %llu memory %llu %u.%u %g\n",
                      d->id, d->name, d->model, d->vendor, (unsigned long long)d->core_count,
                      (unsigned long long)d->memory_bandwidth_bytes, (unsigned long long)d->memory_bytes,
                      d->capability_major, d->capability_minor, d->peak_tflops);
    }
    (void)fprintf(to, "host '%s' jax '%s' %llu %llu events %llu partial %d\n", e->host, e->jax,
                  (unsigned long long)e->begin_ns, (unsigned long long)e->end_ns,
                  (unsigned long long)tm_trace_events(trace), trace->partial);
    print_lines(x, buffer_bytes, to);
}
