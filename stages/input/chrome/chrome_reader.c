/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of Chrome traces: its memory, which is fixed, and which engine it runs on. */
#include "stages/input/chrome/chrome_private.h"

bool tm_json_engine_works(enum tm_json_engine engine)
{
    switch (engine) {
    case TM_JSON_BEST:
    case TM_JSON_PLAIN:
        return true;
#ifdef __x86_64__
    case TM_JSON_SSE2:
        return true;
    case TM_JSON_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
#endif
    default:
        return false;
    }
}

static const struct tm_chrome_engine *choose_engine(enum tm_json_engine engine)
{
#ifdef __x86_64__
    if ((engine == TM_JSON_AVX2 || engine == TM_JSON_BEST) && tm_json_engine_works(TM_JSON_AVX2))
        return &tm_chrome_engine_avx2;
    if (engine == TM_JSON_SSE2 || engine == TM_JSON_BEST)
        return &tm_chrome_engine_sse2;
#endif
    (void)engine;
    return &tm_chrome_engine_plain;
}

static size_t window_bytes(const struct tm_chrome_options *options)
{
    const size_t bytes = options && options->window_bytes ? options->window_bytes : TM_JSON_WINDOW_DEFAULT;

    return bytes < TM_JSON_WINDOW_LEAST ? TM_JSON_WINDOW_LEAST : bytes;
}

static tm_status open_memory(struct tm_chrome_reader *reader, const struct tm_chrome_options *options)
{
    const size_t bytes = window_bytes(options);
    const tm_status st = tm_json_window_open(&reader->window, bytes);

    if (st != TM_OK)
        return st;
    reader->side = tm_take(&reader->run->budget, TM_ACCOUNT_INPUT, bytes + TM_JSON_PADDING, &reader->run->error);
    return reader->side ? TM_OK : reader->run->error.status;
}

struct tm_chrome_reader *tm_chrome_reader_new(struct tm_run *run, struct tm_input *input,
                                              const struct tm_chrome_options *options)
{
    struct tm_chrome_reader *const reader =
        tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(struct tm_chrome_reader), &run->error);

    if (!reader)
        return NULL;
    reader->run = run;
    reader->engine = choose_engine(options ? options->engine : TM_JSON_BEST);
    reader->header.rank = reader->header.world_size = -1;
    reader->window = (struct tm_json_window){
        .run = run,
        .input = input,
        .read_bytes = options && options->read_bytes ? options->read_bytes : SIZE_MAX,
        .moved = tm_chrome_moved,
        .outgrown = tm_chrome_outgrown,
        .to = reader,
    };
    if (open_memory(reader, options) != TM_OK) {
        tm_chrome_reader_free(reader);
        return NULL;
    }
    reader->at = reader->window.buffer;
    return reader;
}

void tm_chrome_reader_free(struct tm_chrome_reader *reader)
{
    struct tm_budget *budget;

    if (!reader)
        return;
    budget = &reader->run->budget;
    tm_give(budget, TM_ACCOUNT_METADATA, reader->header.devices,
            reader->device_capacity * sizeof(*reader->header.devices));
    if (reader->side)
        tm_give(budget, TM_ACCOUNT_INPUT, reader->side, reader->window.capacity + TM_JSON_PADDING);
    tm_json_window_close(&reader->window);
    tm_give(budget, TM_ACCOUNT_INPUT, reader, sizeof(*reader));
}

tm_status tm_chrome_next(struct tm_chrome_reader *reader, const struct tm_chrome_event **event)
{
    const bool got = tm_chrome_document_next(reader);

    *event = got && reader->window.status == TM_OK ? &reader->event : NULL;
    return reader->window.status;
}

const struct tm_chrome_header *tm_chrome_header(const struct tm_chrome_reader *reader)
{
    return &reader->header;
}

const char *tm_chrome_problem(const struct tm_chrome_reader *reader, uint64_t *at)
{
    *at = reader->damage.at;
    return reader->damage.problem;
}

const struct tm_chrome_damage *tm_chrome_damage(const struct tm_chrome_reader *reader)
{
    return &reader->damage;
}
