/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_KEY_TEMPLATE_H
#define TM_KEY_TEMPLATE_H

#include "pipeline/batch/path_parts.h"
#include "pipeline/run.h"

/* The template of --keys: parts of a path, from the left, in which {job}, {night}, {revision}, {label}, {step} and {}
 * stand for what is there. */
enum tm_key_kind { TM_KEY_NOTHING, TM_KEY_JOB, TM_KEY_NIGHT, TM_KEY_REVISION, TM_KEY_LABEL, TM_KEY_STEP, TM_KEY_KINDS };
extern const char *const tm_key_words[TM_KEY_KINDS]; /* "" for {} */

enum { TM_KEY_PARTS_MOST = 32, TM_KEY_PART_BYTES = 255, TM_KEY_PART_KEYS_MOST = 8 };

/* The parts of a text between slashes, without empty ones.  out: how many, at most `most` */
size_t tm_split_parts(const char *text, struct tm_path_part *parts, size_t most);

/* errors: TM_ERR_USAGE, with what would be right */
tm_status tm_key_template_check(const char *text, struct tm_error *error) TM_MUST_USE;

/* What one part of a path is by one part of a checked template.
 * out:    values  where a key stands, a view into `part`; the template has it `count[key]` times, at most once per part */
struct tm_key_match {
    bool is_there[TM_KEY_KINDS];
    struct tm_path_part value[TM_KEY_KINDS];
};
bool tm_key_part_match(struct tm_path_part pattern, struct tm_path_part part, struct tm_key_match *match);

#endif
