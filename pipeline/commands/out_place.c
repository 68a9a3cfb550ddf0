/* SPDX-License-Identifier: Apache-2.0 */
/* Where outputs go, what they are called, and when there are none. */
#include "pipeline/commands/out_place.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/redact.h"

enum { NAME_MOST = 200, NAME_LONGEST = 255 };

tm_status tm_check_folder(struct tm_run *run, const char *path)
{
    char at[TM_PLACE_BYTES];
    struct stat info;

    if (strlen(path) >= sizeof(at))
        return tm_fail(&run->error, TM_ERR_OUTPUT, -1,
                       "cannot write into '%s': the path is too long", path);
    memcpy(at, path, strlen(path) + 1);
    while (stat(at, &info) != 0) {
        char *const slash = strrchr(at, '/');

        if (errno != ENOENT)
            return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot write into '%s'", path);
        if (slash && slash != at)
            *slash = '\0';
        else
            memcpy(at, slash ? "/" : ".", 2);
    }
    if (!S_ISDIR(info.st_mode)) {
        (void)tm_fail(&run->error, TM_ERR_OUTPUT, -1,
                      "cannot write into '%s': '%s' is not a folder", path, at);
        tm_hint(&run->error, "name another folder with -o");
        return TM_ERR_OUTPUT;
    }
    if (access(at, W_OK | X_OK) != 0) {
        (void)tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot write into '%s'", path);
        tm_hint(&run->error, "name another folder with -o");
        return run->error.status;
    }
    return TM_OK;
}

static size_t without_ending(const char *name, size_t length, const char *ending)
{
    const size_t cut = strlen(ending);

    return length > cut && memcmp(name + length - cut, ending, cut) == 0 ? length - cut : length;
}

tm_status tm_find_place(struct tm_run *run, const char *path, struct tm_file_place *place)
{
    const char *slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) : 0;
    struct stat info;

    *place = (struct tm_file_place){ .folder = ".",
                                     .name = slash ? slash + 1 : path,
                                     .has_folder = slash != NULL };
    if (length >= sizeof(place->folder) || strlen(place->name) > NAME_LONGEST)
        return tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot write '%s': the path is too long",
                       path);
    if (slash) {
        memcpy(place->folder, path, length ? length : 1);
        place->folder[length ? length : 1] = '\0';
    }
    const bool is_there = stat(path, &info) == 0;

    if (!place->name[0] || (is_there && S_ISDIR(info.st_mode)))
        return tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot write '%s': it is a folder", path);
    /* A new file takes the name, of a device too; of a link the link alone. */
    if (lstat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode))
        return tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot write '%s': it is a device or a pipe, and no file", path);
    return tm_check_folder(run, place->folder);
}

/* The first ones may end names of reports, all of them names of traces. */
static const char *const endings[] = { ".gz",       ".zst",       ".tgz",   ".tar",
                                       ".zip",      ".xplane.pb", ".prof",  ".json",
                                       ".pt.trace", ".trace",     ".report" };
enum { REPORT_ENDINGS = 7, TRACE_ENDINGS = 10, ENDINGS = sizeof(endings) / sizeof(endings[0]) };

static size_t plain_length(const char *name, size_t length, size_t count)
{
    for (size_t i = 0; i < count; i++)
        length = without_ending(name, length, endings[i]);
    return length;
}

size_t tm_plain_name_length(const char *name, size_t length)
{
    return plain_length(name, length, ENDINGS);
}

/* The name of the file, or the run, without its endings. */
static const char *name_of(const struct tm_options *options, const char *run_name, bool is_trace,
                           size_t *length)
{
    const char *const input = options->inputs[0];
    const char *const slash = strrchr(input, '/');
    const char *name = slash ? slash + 1 : input;
    struct stat info;

    if (strcmp(input, "-") == 0)
        name = "stdin";
    else if (options->input_count > 1 || stat(input, &info) != 0 || S_ISDIR(info.st_mode))
        name = run_name;
    *length = plain_length(name, strlen(name), is_trace ? TRACE_ENDINGS : REPORT_ENDINGS);
    return name;
}

void tm_place_name(char out[TM_PLACE_BYTES], const char *name, size_t length, const char *ending)
{
    size_t used = 0;

    for (; used < length && used < NAME_MOST; used++) {
        const unsigned char c = (unsigned char)name[used];

        out[used] = c < 0x20 || c == 0x7f || c == '/' || (used == 0 && c == '-') ? '_' : (char)c;
    }
    (void)snprintf(out + used, TM_PLACE_BYTES - used, "%s%s", used ? "" : "trace", ending);
}

tm_status tm_default_name(char out[TM_PLACE_BYTES], struct tm_run *run,
                          const struct tm_options *options, const char *run_name,
                          const char *ending, bool is_trace)
{
    size_t length;
    const char *name = name_of(options, run_name, is_trace, &length);

    if (run->redactor && name != run_name &&
        tm_redact_path(run->redactor, name, length, &name, &length) != TM_OK)
        return run->error.status;
    tm_place_name(out, name, length, ending);
    return TM_OK;
}

tm_status tm_check_strict(struct tm_run *run, bool is_partial, const char *act)
{
    const uint64_t losses = tm_tally_losses(&run->tallies, run->tally_use);

    if (!run->strict || (!is_partial && losses == 0))
        return TM_OK;
    if (losses > 0)
        (void)tm_fail(&run->error, TM_ERR_INPUT, -1,
                      "cannot %s under --strict: %llu %s in the input", act, (unsigned long long)losses,
                      losses == 1 ? "loss" : "losses");
    else
        (void)tm_fail(&run->error, TM_ERR_INPUT, -1,
                      "cannot %s under --strict: the input is partial", act);
    tm_hint(&run->error,
            "'tracemill inspect' tells what is lost; without --strict the rest is written");
    return TM_ERR_INPUT;
}
