/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_WRITER_RIG_H
#define TM_WRITER_RIG_H

#include "stages/output/trace_writer.h"
#include "tests/support/test_run.h"

/* A trace writer with names and a file in a folder of its own, and what it wrote. */
enum { RIG_TEXT = 4 << 20, RIG_ARGUMENTS = 128 << 10 };

struct writer_rig {
    struct tm_run *run;
    struct tm_names *names;
    struct tm_trace_writer *writer;
    struct tm_out_file *file;
    struct tm_arguments_builder arguments;
    uint8_t buffer[RIG_ARGUMENTS];
    char folder[64];
    char text[RIG_TEXT]; /* after rig_finish */
    size_t length;
    uint64_t raw_bytes;
};

/* The file has begun where the status is TM_OK. */
tm_status rig_open(struct writer_rig *rig, struct tm_run *run, const struct tm_trace_writer_type *type,
                   const struct tm_writer_options *options);
/* End the file and read it. */
tm_status rig_finish(struct writer_rig *rig);
/* Whatever happened; the folder goes away. */
void rig_close(struct writer_rig *rig);

/* A name; fails the test where it cannot be made. */
tm_strid rig_name(struct writer_rig *rig, const char *text);
tm_strid rig_text(struct writer_rig *rig, const char *text, size_t length);
/* Begin a list of arguments in the rig's buffer. */
struct tm_arguments_builder *rig_arguments(struct writer_rig *rig);

#endif
