/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/writer_rig.h"

#include <stdlib.h>
#include <unistd.h>

static const char file_name[] = "written";

tm_status rig_open(struct writer_rig *rig, struct tm_run *run, const struct tm_trace_writer_type *type,
                   const struct tm_writer_options *options)
{
    memset(rig, 0, sizeof(*rig));
    rig->run = run;
    (void)snprintf(rig->folder, sizeof(rig->folder), "/var/tmp/test-writer-XXXXXX");
    assert_non_null(mkdtemp(rig->folder));
    rig->names = tm_names_new(run, 1 << 20, NULL);
    rig->writer = rig->names ? type->open(run, rig->names, options) : NULL;
    rig->file = rig->writer ? tm_out_file_open(run, rig->folder, file_name, options->is_gzip) : NULL;
    if (rig->file)
        type->begin_file(rig->writer, rig->file);
    return run->error.status;
}

static void path_of(const struct writer_rig *rig, char *path, size_t room)
{
    (void)snprintf(path, room, "%s/%s", rig->folder, file_name);
}

tm_status rig_finish(struct writer_rig *rig)
{
    char path[100];

    rig->writer->type->end_file(rig->writer);
    rig->raw_bytes = rig->writer->type->raw_bytes(rig->writer);
    if (tm_out_file_commit(rig->file, NULL) != TM_OK)
        return rig->run->error.status;
    path_of(rig, path, sizeof(path));
    FILE *in = fopen(path, "rb");

    assert_non_null(in);
    rig->length = fread(rig->text, 1, RIG_TEXT - 1, in);
    assert_true(rig->length < RIG_TEXT - 1);
    rig->text[rig->length] = '\0';
    (void)fclose(in);
    return TM_OK;
}

void rig_close(struct writer_rig *rig)
{
    char path[100];

    path_of(rig, path, sizeof(path));
    if (rig->writer)
        rig->writer->type->free(rig->writer);
    tm_out_file_free(rig->file);
    tm_names_free(rig->names);
    (void)unlink(path);
    assert_int_equal(rmdir(rig->folder), 0);
}

tm_strid rig_text(struct writer_rig *rig, const char *text, size_t length)
{
    return tm_names_put(rig->names, text, length);
}

tm_strid rig_name(struct writer_rig *rig, const char *text)
{
    return rig_text(rig, text, strlen(text));
}

struct tm_arguments_builder *rig_arguments(struct writer_rig *rig)
{
    tm_arguments_begin(&rig->arguments, rig->names, rig->buffer, sizeof(rig->buffer));
    return &rig->arguments;
}
