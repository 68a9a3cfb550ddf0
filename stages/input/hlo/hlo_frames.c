/* SPDX-License-Identifier: Apache-2.0 */
/* Where an op stands in the source.  Its metadata says it, or names a frame of the module's table: frames name
 * locations, locations files, all by numbers that count from 1.
 * source: StackFrameIndexProto {file_names 1, file_locations 3 {file_name_id 1, line 3}, stack_frames 4
 *         {file_location_id 1}}; xla/service/hlo.proto */
#include <stdio.h>

#include "stages/input/hlo/hlo_private.h"

enum {
    INDEX_FILE = 1, INDEX_LOCATION = 3, INDEX_FRAME = 4, LOCATION_FILE = 1, LOCATION_LINE = 3, FRAME_LOCATION = 1,
    ROW_BYTES_MOST = 256, /* of a location or frame: six numbers */
};

static tm_status put_source(struct tm_hlo *hlo, struct tm_text file, int64_t line, tm_strid *source)
{
    char text[HLO_TEXT_MOST + 32];
    const int length = (int)(file.length < HLO_TEXT_MOST ? file.length : HLO_TEXT_MOST);
    int written;

    *source = 0;
    if (!length)
        return TM_OK;
    if (line <= 0)
        return tm_names_put(hlo->trace->names, file.at, (size_t)length, source);
    memcpy(text, file.at, (size_t)length);
    written = snprintf(text + length, sizeof(text) - (size_t)length, ":%lld", (long long)line);
    return tm_names_put(hlo->trace->names, text, (size_t)length + (size_t)written, source);
}

static tm_status put_file(struct tm_hlo *hlo, struct hlo_module *module, struct tm_wire view)
{
    tm_strid name;
    const tm_status st = tm_names_put(hlo->trace->names, (const char *)view.at, (size_t)(view.end - view.at), &name);

    module->files++;
    return st == TM_OK ? tm_rows_append(hlo->files, &name) : st;
}

static uint64_t number_in(struct tm_wire message, uint32_t number)
{
    struct tm_field field;
    uint64_t value = 0;

    while (tm_wire_next(&message, &field))
        if (field.key == TM_WIRE_KEY(number, TM_WIRE_VARINT))
            value = field.value;
    return value;
}

static tm_status put_row(struct tm_hlo *hlo, struct hlo_module *module, uint32_t field, struct tm_wire view)
{
    struct hlo_location location;
    uint64_t frame;

    if (field == INDEX_FRAME) {
        module->frames++;
        frame = number_in(view, FRAME_LOCATION);
        return tm_rows_append(hlo->frames, &frame);
    }
    module->locations++;
    location.file = number_in(view, LOCATION_FILE);
    location.line = (int64_t)number_in(view, LOCATION_LINE);
    return tm_rows_append(hlo->locations, &location);
}

static uint64_t rows_of_all(const struct tm_hlo *hlo)
{
    return tm_rows_count(hlo->files) + tm_rows_count(hlo->locations) + tm_rows_count(hlo->frames);
}

tm_status tm_hlo_frames(struct tm_hlo *hlo, struct hlo_module *module, struct tm_reader *w, uint64_t end)
{
    tm_status st = TM_OK;

    if (module->frames || module->locations || module->files) /* a second table is none of the format's */
        return TM_OK;
    module->first_file = tm_rows_count(hlo->files);
    module->first_location = tm_rows_count(hlo->locations);
    module->first_frame = tm_rows_count(hlo->frames);
    while (st == TM_OK && tm_reader_offset(w) < end && rows_of_all(hlo) < HLO_INSTRUCTIONS_MOST) {
        struct tm_head head;
        struct tm_wire view;
        bool more, damaged;
        uint64_t most;

        st = tm_reader_head(w, &head, &more, &damaged);
        if (st != TM_OK)
            break;
        if (more && !damaged && tm_reader_offset(w) <= end && head.type != TM_WIRE_LEN)
            continue; /* a field of a later version */
        if (!more || damaged || tm_reader_offset(w) > end || head.value > end - tm_reader_offset(w)) {
            module->damaged_at = module->is_damaged ? module->damaged_at : head.offset;
            module->is_damaged = 1;
            break;
        }
        most = head.number == INDEX_FILE ? HLO_TEXT_MOST : ROW_BYTES_MOST;
        st = tm_reader_peek(w, (size_t)(head.value < most ? head.value : most), &view);
        if (st == TM_OK && head.number == INDEX_FILE)
            st = put_file(hlo, module, view);
        else if (st == TM_OK && (head.number == INDEX_LOCATION || head.number == INDEX_FRAME))
            st = put_row(hlo, module, head.number, view);
        tm_reader_skip(w, head.value);
    }
    return st;
}

/* Row `number` (from 1) of a module's part of a table; NULL = there is none, or the spill file failed. */
static const void *row_of(struct tm_rows *rows, uint64_t first, uint64_t count, uint64_t number)
{
    return number && number <= count ? tm_rows_at(rows, first + number - 1) : NULL;
}

static tm_status source_of_frame(struct tm_hlo *hlo, const struct hlo_module *module, uint64_t frame, tm_strid *source)
{
    const uint64_t *number = row_of(hlo->frames, module->first_frame, module->frames, frame);
    const struct hlo_location *location =
        number ? row_of(hlo->locations, module->first_location, module->locations, *number) : NULL;
    const tm_strid *file = location ? row_of(hlo->files, module->first_file, module->files, location->file) : NULL;
    const char *text;
    char copy[HLO_TEXT_MOST + 1];
    size_t length;
    int64_t line;
    tm_status st;

    if (!file)
        return hlo->run->error.status;
    line = location->line;
    st = tm_names_text(hlo->trace->names, *file, sizeof(copy), &text, &length);
    if (st != TM_OK)
        return st;
    memcpy(copy, text, length < sizeof(copy) ? length : sizeof(copy)); /* putting a text in may move it */
    return put_source(hlo, (struct tm_text){ copy, length < sizeof(copy) ? length : sizeof(copy) }, line, source);
}

tm_status tm_hlo_source(struct tm_hlo *hlo, const struct hlo_module *module, const struct tm_hlo_instruction *in,
                        tm_strid *source)
{
    *source = 0;
    if (in->source_file.length)
        return put_source(hlo, in->source_file, in->source_line, source);
    return in->stack_frame > 0 ? source_of_frame(hlo, module, (uint64_t)in->stack_frame, source) : TM_OK;
}
