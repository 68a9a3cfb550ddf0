/* SPDX-License-Identifier: Apache-2.0 */
/* Copies the trace files of one run out of a log directory or an archive, each as a whole or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "pipeline/atomic_file.h"
#include "pipeline/commands/commands.h"
#include "pipeline/engine/analysis.h"
#include "pipeline/files.h"
#include "pipeline/strings.h"
#include "reports/format/format.h"
#include "stages/input/bytes/archive.h"

enum {
    COPY_BYTES = 256 * 1024,
    PART_BYTES = 32, /* the suffix of the name of an incomplete file */
    NAME_BYTES = NAME_MAX - PART_BYTES + 1,
    PATH_BYTES = 4096 + NAME_BYTES,
    ENDING_MOST = 24, /* of a name, from a dot on: ".trace.json.gz" */
    HASH_DIGITS = 16
};

static bool is_plain(uint32_t code, bool first)
{
    return !tm_utf8_is_hidden(code) && code != '%' && code != '/' && code != '\\' && !(first && code == '-');
}

/* Characters that are invisible, or that could break a terminal or a script, become %XX, and '%' itself as well, so
 * that two names never become one.
 * out: false  not all of it fits into the room */
static bool clean_name(char *out, size_t room, const char *name, size_t length)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t used = 0, at = 0;

    while (at < length) {
        uint32_t code = 0;
        const size_t bytes = tm_utf8_next(name + at, length - at, &code);
        const bool plain = bytes > 0 && is_plain(code, at == 0);

        if (used + (plain ? bytes : 3) >= room)
            break;
        if (plain) {
            memcpy(out + used, name + at, bytes);
            used += bytes;
            at += bytes;
        } else {
            out[used++] = '%';
            out[used++] = digits[(unsigned char)name[at] >> 4];
            out[used++] = digits[(unsigned char)name[at] & 15];
            at++;
        }
    }
    out[used] = '\0';
    return at == length;
}

/* The name for the copy.  One that is longer than a name may be keeps its start and its ending, and has a hash of the
 * whole between them. */
static void name_copy(char out[NAME_BYTES], const struct tm_found_file *file)
{
    size_t length;
    const char *const last = tm_last_part(file->member ? file->member : file->path, &length);
    const size_t ending_most = length < ENDING_MOST ? length : ENDING_MOST;
    const char *const dot = memchr(last + length - ending_most, '.', ending_most);
    const size_t ending_bytes = dot ? (size_t)(last + length - dot) : 0;
    char ending[3 * ENDING_MOST + 1] = "";

    if (clean_name(out, NAME_BYTES, last, length))
        return;
    if (dot)
        (void)clean_name(ending, sizeof(ending), dot, ending_bytes);
    (void)clean_name(out, NAME_BYTES - 1 - HASH_DIGITS - strlen(ending), last, length - ending_bytes);
    tm_format_append(out, NAME_BYTES, "-%016" PRIx64 "%s", (uint64_t)XXH3_64bits(last, length), ending);
}

/* Nothing is copied unless everything can be. */
static tm_status check_free(struct tm_run *run, const struct tm_found_run *chosen, const char *folder, bool is_forced)
{
    for (size_t i = 0; i < chosen->all_count; i++) {
        char name[NAME_BYTES], path[PATH_BYTES];
        struct stat info;

        name_copy(name, &chosen->files[i]);
        if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
            return tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot write to '%.200s': the path is too long", folder);
        if (tm_guard_check(run, path) != TM_OK)
            return run->error.status;
        if (!is_forced && lstat(path, &info) == 0) {
            (void)tm_fail(&run->error, TM_ERR_OUTPUT, -1, "'%s' already exists", path);
            tm_hint(&run->error, "replace it with --force, or set another folder with -o");
            return TM_ERR_OUTPUT;
        }
    }
    return TM_OK;
}

/* A file that is read once: of a folder, or of an archive. */
struct original {
    struct tm_run *run;
    const char *name; /* for messages */
    int fd;           /* -1 = not open */
    struct tm_unchanged opened;
    struct tm_archive_member *member; /* NULL = not of an archive */
    uint64_t at;                      /* bytes read so far */
};

static void open_original(struct original *o, const struct tm_found_file *file)
{
    struct tm_error *const error = &o->run->error;
    struct stat info;

    if (file->member) {
        tm_archive_open(&o->member, o->run, file->path, file->target ? file->target : file->member, file->position);
        return;
    }
    o->fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (o->fd < 0) {
        (void)tm_fail_system(error, TM_ERR_INPUT, -1, errno, "cannot open '%s'", o->name);
    } else if (fstat(o->fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        (void)tm_fail(error, TM_ERR_INPUT, -1, "'%s' is no longer a file", o->name);
    } else {
        o->opened = tm_unchanged_since(&info);
        (void)posix_fadvise(o->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
}

static void close_original(struct original *o)
{
    tm_archive_close(o->member);
    if (o->fd >= 0)
        (void)close(o->fd); /* it was only read */
}

/* How many bytes there are; 0 at the end, and after a failure. */
static size_t read_original(struct original *o, char *buffer)
{
    const char *problem;
    size_t got = 0;

    if (o->member) {
        (void)tm_archive_read(o->member, buffer, COPY_BYTES, &got);
        problem = tm_archive_problem(o->member);
        if (problem) /* what is damaged is not copied: the copy would look whole */
            (void)tm_fail(&o->run->error, TM_ERR_INPUT, -1, "cannot copy '%s': %s", o->name, problem);
    } else {
        const int error = tm_read_on(o->fd, buffer, COPY_BYTES, &got);

        if (error)
            (void)tm_fail_system(&o->run->error, TM_ERR_INPUT, (int64_t)o->at, error, "cannot read '%s'", o->name);
    }
    return tm_failed(o->run) ? 0 : got;
}

/* A copy of two files would look whole. */
static void check_original(const struct original *o)
{
    char name[TM_FOUND_NAME_BYTES + 3];

    if (o->member) /* the archive was examined */
        return;
    (void)snprintf(name, sizeof(name), "'%s'", o->name);
    tm_unchanged_check(o->opened, o->fd, false, o->run, name);
}

static void copy_bytes(struct original *o, FILE *to, char *buffer)
{
    size_t got;

    while ((got = read_original(o, buffer)) > 0) {
        if (fwrite(buffer, 1, got, to) != got) {
            (void)tm_fail_system(&o->run->error, TM_ERR_OUTPUT, (int64_t)o->at, errno, "cannot write the copy of '%s'",
                                 o->name);
            return;
        }
        o->at += got;
        tm_progress_add(&o->run->progress, got);
    }
    check_original(o);
}

static void copy_file(struct tm_run *run, const struct tm_found_file *file, const char *folder, const char *name,
                      char *buffer, uint64_t *bytes)
{
    char text[TM_FOUND_NAME_BYTES];
    struct original original = { .run = run, .name = tm_found_name(file, text), .fd = -1 };
    struct tm_atomic_file copy = { .stream = NULL };

    open_original(&original, file);
    if (!tm_atomic_open(&copy, run, folder, name)) {
        copy_bytes(&original, copy.stream, buffer);
        tm_atomic_commit(&copy);
    }
    tm_atomic_abort(&copy);
    close_original(&original);
    *bytes = original.at;
}

static void copy_files(struct tm_run *run, const struct tm_found_run *chosen, const char *folder)
{
    char *const buffer = tm_take(&run->budget, TM_ACCOUNT_INPUT, COPY_BYTES, &run->error);

    if (!buffer)
        return;
    tm_progress_phase(&run->progress, "copying", chosen->bytes);
    for (size_t i = 0; i < chosen->all_count; i++) {
        char name[NAME_BYTES], shown[PATH_BYTES], bytes[TM_FORMAT_BYTES];
        uint64_t copied;

        name_copy(name, &chosen->files[i]);
        copy_file(run, &chosen->files[i], folder, name, buffer, &copied);
        if (tm_failed(run))
            break;
        (void)tm_format_visible(shown, sizeof(shown), folder, strlen(folder));
        (void)printf("%s/%s  %s\n", shown, name, tm_format_bytes(bytes, (double)copied));
    }
    tm_give(&run->budget, TM_ACCOUNT_INPUT, buffer, COPY_BYTES);
}

static void check_usage(struct tm_run *run, const struct tm_options *options)
{
    if (!options->output) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot extract: no output folder is given");
        tm_hint(&run->error, "set it with -o DIR");
    }
    for (size_t i = 0; i < options->input_count; i++) {
        if (strcmp(options->inputs[i], "-") == 0) {
            (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot extract from stdin");
            tm_hint(&run->error, "pass a log directory, or an archive of one");
        }
    }
}

/* What is wrong with the archive of a run is kept with the first of its files: the copies are whole, others may be
 * missing.  Gives the status where all are copied. */
static tm_status check_archive(struct tm_run *run, const struct tm_found_run *chosen)
{
    const struct tm_found_file *const first = &chosen->files[0];
    char path[PATH_BYTES], problem[256];

    if (!first->problem)
        return TM_OK;
    if (run->strict)
        return tm_fail(&run->error, TM_ERR_INPUT, -1, "cannot extract under --strict: %s", first->problem);
    (void)tm_format_visible(path, sizeof(path), first->path, strlen(first->path));
    (void)tm_format_visible(problem, sizeof(problem), first->problem, strlen(first->problem));
    (void)fprintf(stderr, "tracemill: warning: '%s': %s\n", path, problem);
    return TM_PARTIAL;
}

static tm_status extract(struct tm_run *run, const struct tm_options *options, const struct tm_found *found)
{
    const struct tm_found_run *chosen;
    tm_status end;

    tm_warn_left_out(found);
    if (tm_choose_run(run, found, options->run_name, options->latest, &chosen))
        return run->error.status;
    end = check_archive(run, chosen);
    if (tm_failed(run) || check_free(run, chosen, options->output, options->force) ||
        tm_make_folder(run, options->output))
        return run->error.status;
    copy_files(run, chosen, options->output);
    return tm_failed(run) ? run->error.status : end;
}

static tm_status run_extract(struct tm_run *run, const struct tm_options *options)
{
    struct tm_found found = { .run = NULL };
    tm_status st;

    check_usage(run, options);
    if (!tm_failed(run))
        tm_discover_all(run, options->inputs, options->input_count, tm_find_operand, &found);
    st = tm_failed(run) ? run->error.status : extract(run, options, &found);
    tm_found_free(&found);
    return st;
}

/* clang-format off */
const struct tm_verb tm_extract_verb = {
    .name = "extract",
    .summary = "copy the trace files of a run from a log directory",
    .usage = "LOGDIR -o DIR [--latest | --run NAME] [--force] [OPTION...]",
    .description =
        "Copies the trace files of one run from a log directory, or an archive of one, to a folder; incomplete "
        "copies are removed. A link in an archive is copied as its target. From a damaged archive, intact files are "
        "copied, with exit status 4. Existing files are kept and cause an error unless --force is given.",
    .examples =
        "tracemill extract logdir --latest -o newest    the files of the newest run\n",
    .bit = TM_FOR_EXTRACT,
    .flags = 0,
    .least = 1,
    .most = SIZE_MAX,
    .run = run_extract,
};
/* clang-format on */
