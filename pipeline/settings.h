/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SETTINGS_H
#define TM_SETTINGS_H

#include "pipeline/options.h"

/* Where an effective value comes from; a later one overrides an earlier one. */
enum tm_setting_origin { TM_ORIGIN_DEFAULT, TM_ORIGIN_CONFIG, TM_ORIGIN_ENVIRONMENT, TM_ORIGIN_FLAG };

struct tm_setting {
    const char *text; /* as the user typed it; NULL = not set */
    enum tm_setting_origin origin;
};

/* A configuration file is read whole. */
enum { TM_CONFIG_MOST_BYTES = 64 << 10 };

/* The effective text of every option, with its origin.  Holds the texts of the configuration file;
 * those of the command line and of the environment are borrowed.  Not to be moved once it is
 * filled. */
struct tm_setting_set {
    struct tm_setting of[TM_OPTION_COUNT];  /* of an option that may be given several times: the last text */
    struct tm_texts lists[TM_OPTION_COUNT]; /* of such an option: all of them */
    const char *config_path;
    size_t config_used;
    char config_text[2 * TM_CONFIG_MOST_BYTES];
};

/* Start with the defaults of the table. */
void tm_settings_init(struct tm_setting_set *set);

/* Take the options of a command line out of it.  Long names must be written in full, so that a new
 * option never breaks a script; options and operands may be mixed; "--" ends the options.
 * in:     argv      argv[0] is not looked at
 *         has_groups  whether a verb has groups of operands: then "--" behind the first of them stands between two
 *                   groups, comes out as an operand, and options may follow; NULL = none has
 * out:    operands  are moved to argv[1] ... argv[*operand_count]
 * errors: TM_ERR_USAGE, with the nearest option as a hint */
tm_status tm_settings_take_flags(struct tm_setting_set *set, int argc, char **argv,
                                 bool (*has_groups)(const char *verb), size_t *operand_count,
                                 struct tm_error *error) TM_MUST_USE;

/* Take the environment, then the file that --config or TRACEMILL_CONFIG names, if any, for
 * everything that is not set by something stronger.
 * errors: TM_ERR_USAGE for a file that is not there, is no JSON object or has a wrong key or value */
tm_status tm_settings_take_environment(struct tm_setting_set *set, struct tm_error *error) TM_MUST_USE;

/* The same for the text of a configuration file; `path` is for messages and is kept. */
tm_status tm_settings_take_config(struct tm_setting_set *set, const char *path, const char *text, size_t length,
                                  struct tm_error *error) TM_MUST_USE;

/* Refuse options of the command line that the verb does not take.  Its environment and its
 * configuration file may hold settings for other verbs. */
tm_status tm_settings_check_verb(const struct tm_setting_set *set, const char *verb, enum tm_verb_bit bit,
                                 struct tm_error *error) TM_MUST_USE;

/* Read all values; inputs are left as they are.  *options refers to the set afterwards. */
tm_status tm_settings_apply(struct tm_setting_set *set, struct tm_options *options, struct tm_error *error) TM_MUST_USE;

/* An effective value, as the user would type it; several of them joined by blanks.  out: NULL = not set */
const char *tm_settings_text(const struct tm_setting_set *set, enum tm_option_index index, char *out, size_t out_bytes);

/* Where a value comes from, as a user would look for it: "default", "--memory", "TRACEMILL_MEMORY",
 * or the path of the configuration file. */
const char *tm_settings_place(const struct tm_setting_set *set, enum tm_option_index index, char *out,
                              size_t out_bytes);

#endif
