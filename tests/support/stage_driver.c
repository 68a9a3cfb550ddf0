/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/stage_driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stages/input/records/facts.h"
#include "stages/resolve/classes.h"

void bench_devices(struct bench *b, uint32_t count, enum tm_device_kind kind, int64_t start_ps, int64_t end_ps)
{
    static const char *const kinds[] = { "gpu", "tpu", "cpu" };

    for (uint32_t i = 0; i < count; i++) {
        b->devices[i] = (struct tm_device){ .index = i,
                                            .kind = (uint8_t)kind,
                                            .ordinal = i,
                                            .activities = 1,
                                            .first_ps = start_ps,
                                            .last_ps = end_ps,
                                            .chosen_begin_ps = start_ps,
                                            .chosen_end_ps = end_ps };
        (void)snprintf(b->devices[i].id, sizeof(b->devices[i].id), "h%u/%s:%u", b->trace.host, kinds[kind], i);
    }
    b->trace.devices = b->devices;
    b->trace.device_count = count;
}

tm_status bench_open(struct bench *b, struct tm_run *run, const struct tm_stage_type *type)
{
    memset(b, 0, sizeof(*b));
    b->run = run;
    b->settings = (struct tm_settings){ .gap_min_ps = 10000000, .table_rows = 500 };
    b->stage = (struct tm_stage){ .type = type, .run = run, .settings = &b->settings, .feed = &b->feed };
    b->trace.run = run;
    b->trace.steps = (struct tm_steps){ .source = TM_STEPS_HOST, .count = BENCH_STEPS, .chosen_end = BENCH_STEPS };
    bench_devices(b, 1, TM_DEVICE_GPU, 0, INT64_MAX);
    b->doc = tm_doc_new(run);
    if (!b->doc)
        return run->error.status;
    b->trace.names = tm_names_new(run, tm_budget_share(&run->budget, TM_ACCOUNT_NAMES), tm_traits_of);
    b->stage.state = calloc(1, type->state_bytes);
    if (!b->trace.names || !b->stage.state)
        return run->error.status;
    b->configs = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(struct tm_config), 1 << 16);
    if (!b->configs || tm_feed_init(&b->feed, run, &b->stage, 1) != TM_OK)
        return run->error.status;
    return type->open(&b->stage);
}

tm_status bench_begin(struct bench *b)
{
    tm_status st;

    tm_sites_release(&b->sites);
    st = tm_sites_init(&b->sites, b->run, TM_ACCOUNT_LAUNCHES, 1 << 16);
    if (st != TM_OK)
        return st;
    tm_feed_begin_host(&b->feed, &b->trace);
    b->feed.configs = b->configs;
    return b->run->error.status;
}

tm_status bench_end(struct bench *b)
{
    tm_feed_end_host(&b->feed);
    b->trace.host++;
    return b->run->error.status;
}

tm_status bench_report(struct bench *b)
{
    const tm_status st = b->stage.type->report(&b->stage, tm_doc_root(b->doc));

    return st == TM_OK ? tm_doc_status(b->doc) : st;
}

void bench_close(struct bench *b)
{
    if (b->stage.state)
        b->stage.type->close(&b->stage);
    free(b->stage.state);
    tm_feed_release(&b->feed);
    tm_rows_free(b->configs);
    tm_sites_release(&b->sites);
    tm_names_free(b->trace.names);
    tm_doc_free(b->doc);
}

static const char *name_of_host(const void *of, uint32_t host)
{
    const struct bench *b = of;

    return b->tells_hosts && host ? "h1" : "h0";
}

tm_status bench_save(struct bench *b, const char *path)
{
    struct tm_partial_writer *w = tm_partial_writer_new(b->run, b->trace.names, name_of_host, b);
    FILE *to = fopen(path, "wb");
    tm_status st = w && to ? TM_OK : TM_ERR_OUTPUT;

    if (st == TM_OK) {
        tm_partial_begin(w, b->stage.type->name);
        st = b->stage.type->save(&b->stage, w);
    }
    if (st == TM_OK)
        st = tm_partial_end(w);
    if (st == TM_OK)
        st = tm_partial_write(w, to);
    if (to && fclose(to) != 0)
        st = TM_ERR_OUTPUT;
    tm_partial_writer_free(w);
    return st;
}

tm_status bench_load(struct bench *b, const char *path, uint32_t host)
{
    struct tm_partial_reader *reader = tm_partial_open(b->run, path);

    if (!reader)
        return b->run->error.status;
    tm_partial_bind(reader, b->trace.names, name_of_host, b, host, 1);
    tm_partial_enter(reader, b->stage.type->name);
    (void)b->stage.type->load(&b->stage, reader);
    tm_partial_leave(reader);
    tm_partial_finish(reader);
    tm_partial_close(reader);
    return b->run->error.status;
}

tm_strid bench_name(struct bench *b, const char *text)
{
    return tm_names_put_string(b->trace.names, text);
}

struct tm_event bench_event(tm_strid name, enum tm_class class, const struct tm_config *config, int64_t start_ps,
                            int64_t dur_ps)
{
    static const enum tm_level level_of[TM_DIRECTION_COUNT] = {
        [TM_H2D] = TM_LEVEL_H2D,
        [TM_D2H] = TM_LEVEL_D2H,
        [TM_P2P] = TM_LEVEL_P2P,
        [TM_D2D] = TM_LEVEL_D2D,
        [TM_OTHER_DIRECTION] = TM_LEVEL_OTHER_COPY,
    };
    struct tm_event event = {
        .record = { .start_ps = start_ps, .dur_ps = dur_ps, .name = name, .class = (uint8_t) class },
        .config = config,
        .direction = config->has_copy ? config->direction : TM_OTHER_DIRECTION,
        .chosen = true,
        .thread = TM_NONE,
        .launch_track = TM_NONE,
        .launch_thread = TM_NONE,
    };

    event.level = TM_LEVEL_COMPUTE;
    if (class == TM_CLASS_COPY)
        event.level = (uint8_t)level_of[event.direction];
    else if (class == TM_CLASS_COLLECTIVE)
        event.level = TM_LEVEL_COLLECTIVE;
    else if (class == TM_CLASS_TPU_OP)
        event.level = config->level;
    return event;
}

/* As a resolver numbers them, but that configurations are told apart by what they hold, too. */
static uint64_t site_of(struct bench *b, const struct tm_event *event)
{
    const struct tm_record *record = &event->record;
    const uint32_t config = record->config ^ (uint32_t)tm_config_hash(event->config);
    const struct tm_site site = {
        .name_and_config = (uint64_t)record->name << 32 | config,
        .rest = (uint64_t)event->device << 33 | (uint64_t)(event->thread != TM_NONE) << 32 |
                (uint64_t)record->flags << 16 | (uint64_t)record->class << 8 | (uint64_t)event->level << 4 |
                event->direction,
    };

    bool is_new;
    const struct tm_sites_slot *const slot = tm_sites_at(&b->sites, &site, &is_new);

    return slot ? slot->number : 0;
}

tm_status bench_take(struct bench *b, const struct tm_event *event)
{
    struct tm_event numbered = *event;

    numbered.site = site_of(b, event);
    if (!numbered.site)
        return b->run->error.status;
    for (uint64_t i = tm_rows_count(b->configs); i <= numbered.site && !tm_failed(b->run); i++)
        tm_rows_append(b->configs, event->config);
    numbered.record.config = (uint32_t)numbered.site;
    tm_feed_take(&b->feed, &numbered);
    tm_feed_flush(&b->feed); /* what is wrong with it comes out now */
    return b->run->error.status;
}

const struct tm_value *bench_get(const struct bench *b, const char *path)
{
    return tm_path(tm_doc_root(b->doc), path);
}

char *bench_print(struct bench *b)
{
    FILE *file = tmpfile();
    char *text = NULL;
    long length = -1;

    if (!file)
        return NULL;
    if (tm_doc_print(b->doc, b->run, fileno(file)) == TM_OK && fseek(file, 0, SEEK_END) == 0)
        length = ftell(file);
    text = length >= 0 ? calloc(1, (size_t)length + 1) : NULL;
    if (text && pread(fileno(file), text, (size_t)length, 0) != length) {
        free(text);
        text = NULL;
    }
    (void)fclose(file);
    return text;
}
