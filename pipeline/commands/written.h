/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_WRITTEN_H
#define TM_WRITTEN_H

#include "pipeline/doc.h"
#include "stages/output/export/exporter.h"

/* What is told of a trace file that was written: one of `convert`, a part of `split`. */

enum { TM_WRITTEN_NAME_BYTES = 256 };

struct tm_written {
    char name[TM_WRITTEN_NAME_BYTES]; /* in its folder */
    struct tm_export_counts counts;
    uint64_t arguments;               /* of its slices, at the top level */
    uint64_t raw_bytes, bytes;        /* before compression; on disk */
    uint64_t first_step, step_count;  /* of its host, that have a part in it; 0 = none, or it has several hosts */
    char host[128];                   /* "" = all of them */
    char device[192];                 /* "gpu:0"; "host" = what lies on no device; "" = everything */
};

/* What a viewer needs in memory: an estimate, by measurements of one importer.  source: docs/convert.md, "Parts" */
uint64_t tm_written_viewer_bytes(const struct tm_written *written);

/* Its members: file, bytes, ..., as schemas/split.schema.json has them. */
void tm_written_add(const struct tm_written *written, struct tm_value *to);

/* One line for people: of a file; of the page that lists the parts. */
void tm_written_print(const struct tm_written *written, const char *folder, FILE *to);
void tm_written_print_page(const char *folder, const char *name, uint64_t parts, FILE *to);

#endif
