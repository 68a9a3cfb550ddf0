/* SPDX-License-Identifier: Apache-2.0 */
/* What `inspect` has found, for people.  Texts of the trace are made visible; they come last on their line, or are cut,
 * because their width on a terminal is not known. */
#include <string.h>

#include "pipeline/commands/inspect.h"
#include "reports/format/format.h"

enum { VISIBLE_BYTES = 1024, PLANE_CHARS = 28, LINE_CHARS = 60, NAME_CHARS = 72, CUT_BYTES = 4 * NAME_CHARS + 8 };

/* A text of the trace, cut in the middle and filled up to `width` characters (0 = not filled). */
static void print_text(FILE *to, const char *text, size_t most, size_t width)
{
    char visible[VISIBLE_BYTES], cut[CUT_BYTES];
    size_t length;

    if (!text[0])
        text = "(no name)";
    (void)tm_format_visible(visible, sizeof(visible), text, strlen(text));
    (void)tm_format_middle(cut, sizeof(cut), visible, most);
    (void)fputs(cut, to);
    for (length = tm_format_length(cut); length < width; length++)
        (void)fputc(' ', to);
}

static void print_whole(FILE *to, const char *text)
{
    char visible[4 * VISIBLE_BYTES];

    (void)tm_format_visible(visible, sizeof(visible), text, strlen(text));
    (void)fputs(visible, to);
}

/* The micro sign takes two bytes: pad by characters. */
static void print_right(FILE *to, const char *text, size_t width)
{
    for (size_t length = tm_format_length(text); length < width; length++)
        (void)fputc(' ', to);
    (void)fputs(text, to);
}

static void print_list(FILE *to, const char *what, const struct tm_value *texts)
{
    for (size_t i = 0; i < tm_length(texts); i++) {
        (void)fprintf(to, "  %s: ", what);
        print_whole(to, tm_text(tm_at(texts, i)));
        (void)fputc('\n', to);
    }
}

/* What a file is: its format, and of Chrome JSON who wrote it. */
static const char *format_of(const struct tm_value *found, const struct tm_value *file)
{
    const struct tm_value *hosts = tm_path(found, "environment.hosts");

    if (!strcmp(tm_text(tm_get(file, "kind")), "pprof"))
        return "pprof";
    if (strcmp(tm_text(tm_get(file, "kind")), "chrome_json") != 0)
        return "XSpace";
    for (size_t i = 0; i < tm_length(hosts); i++) {
        const struct tm_value *host = tm_at(hosts, i);
        const char *framework = tm_text(tm_get(host, "framework"));

        if (strcmp(tm_text(tm_get(host, "host")), tm_text(tm_get(file, "host"))) != 0)
            continue;
        if (!strcmp(framework, "pytorch"))
            return "Chrome JSON (PyTorch)";
        return !strcmp(framework, "jax") ? "Chrome JSON (JAX)" : "Chrome JSON";
    }
    return "Chrome JSON";
}

/* What one device memory profile tells. */
static void print_profile(FILE *to, const struct tm_value *profile)
{
    const struct tm_value *site = tm_at(tm_get(profile, "sites"), 0);
    char bytes[TM_FORMAT_BYTES], count[TM_FORMAT_BYTES], share[TM_FORMAT_BYTES];

    (void)fprintf(to, "  device memory profile: %s in %s allocations\n",
                  tm_format_bytes(bytes, tm_double(tm_get(profile, "total_bytes"))),
                  tm_format_count(count, tm_int(tm_get(profile, "total_count"))));
    if (!tm_has(tm_get(site, "share_pct")))
        return;
    (void)fprintf(to, "  most is held by (%s, %s): ", tm_format_bytes(bytes, tm_double(tm_get(site, "bytes"))),
                  tm_format_pct(share, tm_double(tm_get(site, "share_pct"))));
    print_text(to, tm_text(tm_get(site, "function")), NAME_CHARS, 0);
    (void)fputs(" at ", to);
    print_whole(to, tm_text(tm_get(site, "source")));
    (void)fputc('\n', to);
}

/* The profile that a file is. */
static const struct tm_value *profile_of(const struct tm_value *found, const struct tm_value *file)
{
    const struct tm_value *profiles = tm_get(found, "device_profiles");

    for (size_t i = 0; i < tm_length(profiles); i++)
        if (!strcmp(tm_text(tm_get(tm_at(profiles, i), "file")), tm_text(tm_get(file, "path"))))
            return tm_at(profiles, i);
    return NULL;
}

static void print_file(FILE *to, const struct tm_value *found, const struct tm_value *file)
{
    const char *const wrapping = tm_text(tm_get(file, "wrapping"));
    char bytes[TM_FORMAT_BYTES], inflated[TM_FORMAT_BYTES], events[TM_FORMAT_BYTES];

    print_whole(to, tm_text(tm_get(file, "path")));
    (void)fprintf(to, "\n  %s, %s", format_of(found, file), tm_format_bytes(bytes, tm_double(tm_get(file, "bytes"))));
    if (strcmp(wrapping, "none") != 0)
        (void)fprintf(to, " (%s of %s)", wrapping, tm_format_bytes(inflated, tm_double(tm_get(file, "inflated_bytes"))));
    if (tm_has(tm_get(file, "host"))) {
        (void)fprintf(to, ", %s events, host ", tm_format_count(events, tm_int(tm_get(file, "events"))));
        print_whole(to, tm_text(tm_get(file, "host")));
    }
    (void)fputs(tm_is(tm_get(file, "partial")) ? ", PARTIAL\n" : "\n", to);
    if (profile_of(found, file))
        print_profile(to, profile_of(found, file));
    print_list(to, "problem", tm_get(file, "problems"));
    print_list(to, "note", tm_get(file, "notes"));
}

/* What the host says of the software and the session. */
static void print_environment(FILE *to, const struct tm_value *e)
{
    static const struct { const char *key, *title; } facts[] = {
        { "framework", "framework" }, { "jax", "JAX" }, { "jaxlib", "jaxlib" }, { "platform_version", "platform" },
        { "cuda", "CUDA" }, { "cuda_runtime", "CUDA runtime" }, { "driver", "driver" }, { "rocm", "ROCm" },
        { "libtpu", "libtpu" },
    };
    const int64_t begin_ns = tm_int(tm_get(e, "begin_ns")), end_ns = tm_int(tm_get(e, "end_ns"));
    const char *comma = "  software: ";
    char text[TM_FORMAT_BYTES];

    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        if (!tm_has(tm_get(e, facts[i].key)))
            continue;
        (void)fprintf(to, "%s%s ", comma, facts[i].title);
        print_text(to, tm_text(tm_get(e, facts[i].key)), NAME_CHARS, 0);
        comma = ", ";
    }
    if (comma[0] == ',')
        (void)fputc('\n', to);
    if (!tm_has(tm_get(e, "begin_ns")))
        return;
    (void)fprintf(to, "  recorded: %s", tm_format_date(text, begin_ns));
    if (end_ns > begin_ns && (end_ns - begin_ns) < INT64_MAX / 1000)
        (void)fprintf(to, ", for %s", tm_format_time(text, (end_ns - begin_ns) * 1000));
    (void)fputc('\n', to);
}

static void print_steps(FILE *to, const struct tm_value *steps)
{
    static const struct { const char *source, *words; } words[] = {
        { "host", "marked on the host" },
        { "group", "from the groups that a viewer left in the file" },
        { "tpu", "from the TPU's own step line" },
        { "module", "not marked: executions of the largest program" },
        { "session", "not marked: the whole session is one" },
    };
    const char *source = tm_text(tm_get(steps, "source"));

    (void)fprintf(to, "  steps: %lld", (long long)tm_int(tm_get(steps, "count")));
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (!strcmp(words[i].source, source))
            (void)fprintf(to, ", %s", words[i].words);
    if (tm_int(tm_get(steps, "warmup")))
        (void)fprintf(to, "; %lld of them warm-up", (long long)tm_int(tm_get(steps, "warmup")));
    if (tm_int(tm_get(steps, "incomplete")))
        (void)fprintf(to, "; %lld incomplete", (long long)tm_int(tm_get(steps, "incomplete")));
    (void)fputc('\n', to);
}

static void print_devices(FILE *to, const struct tm_value *devices)
{
    char text[TM_FORMAT_BYTES];

    for (size_t i = 0; i < tm_length(devices); i++) {
        const struct tm_value *device = tm_at(devices, i);

        (void)fputs("  device: ", to);
        print_text(to, tm_text(tm_get(device, "name")), PLANE_CHARS, 0);
        if (tm_has(tm_get(device, "model"))) {
            (void)fputs(", ", to);
            print_text(to, tm_text(tm_get(device, "model")), PLANE_CHARS, 0);
        }
        if (!tm_int(tm_get(device, "activities"))) {
            (void)fputs(", no activity\n", to);
            continue;
        }
        (void)fprintf(to, ", %s activities", tm_format_count(text, tm_int(tm_get(device, "activities"))));
        (void)fprintf(to, " from %s", tm_format_moment(text, tm_int(tm_get(device, "first_ps"))));
        (void)fprintf(to, " to %s", tm_format_moment(text, tm_int(tm_get(device, "last_ps"))));
        (void)fputs(tm_is(tm_get(device, "has_collapsed_graphs")) ? "; graphs without their kernels\n" : "\n", to);
    }
}

static void print_lines(FILE *to, const struct tm_value *host)
{
    const struct tm_value *lines = tm_get(host, "lines");
    const int64_t more = tm_int(tm_path(host, "more_lines.count")), empty = tm_int(tm_get(host, "empty_lines"));
    char text[TM_FORMAT_BYTES];

    if (tm_length(lines))
        (void)fprintf(to, "\n  %-28s  %12s  %16s  %16s  %-15s  %s\n", "PLANE", "EVENTS", "FIRST", "LAST", "KIND",
                      "LINE");
    for (size_t i = 0; i < tm_length(lines); i++) {
        const struct tm_value *line = tm_at(lines, i);
        const bool has_time = tm_has(tm_get(line, "first_ps"));

        (void)fputs("  ", to);
        print_text(to, tm_text(tm_get(line, "plane")), PLANE_CHARS, PLANE_CHARS);
        (void)fprintf(to, "  %12s", tm_format_count(text, tm_int(tm_get(line, "events"))));
        (void)fprintf(to, "  %16s", has_time ? tm_format_moment(text, tm_int(tm_get(line, "first_ps"))) : "-");
        (void)fprintf(to, "  %16s", has_time ? tm_format_moment(text, tm_int(tm_get(line, "last_ps"))) : "-");
        (void)fprintf(to, "  %-15s  ", tm_text(tm_get(line, "kind")));
        print_text(to, tm_text(tm_get(line, "line")), LINE_CHARS, 0);
        (void)fputc('\n', to);
    }
    if (more)
        (void)fprintf(to, "  and %lld more lines with %s events\n", (long long)more,
                      tm_format_count(text, tm_int(tm_path(host, "more_lines.events"))));
    if (empty)
        (void)fprintf(to, "  and %lld line%s without events\n", (long long)empty, tm_format_plural(empty));
}

static void print_names(FILE *to, const struct tm_value *host)
{
    const struct tm_value *names = tm_get(host, "names");
    char text[TM_FORMAT_BYTES];

    if (!tm_length(names))
        return;
    (void)fprintf(to, "\n  %12s  %10s  %-13s  MOST FREQUENT NAMES", "EVENTS", "TOTAL", "CLASS");
    (void)fprintf(to, " (of %s)\n", tm_format_count(text, tm_int(tm_get(host, "name_count"))));
    for (size_t i = 0; i < tm_length(names); i++) {
        const struct tm_value *name = tm_at(names, i);

        (void)fprintf(to, "  %12s  ", tm_format_count(text, tm_int(tm_get(name, "count"))));
        print_right(to, tm_format_time(text, tm_int(tm_get(name, "total_ps"))), 10);
        (void)fprintf(to, "  %-13s  ", tm_text(tm_get(name, "class")));
        print_text(to, tm_text(tm_get(name, "name")), NAME_CHARS, 0);
        (void)fputc('\n', to);
    }
}

static void print_host(FILE *to, const struct tm_value *found, size_t index)
{
    const struct tm_value *host = tm_at(tm_get(found, "contents"), index);

    (void)fputs("\nhost ", to);
    print_whole(to, tm_text(tm_get(host, "host")));
    (void)fputc('\n', to);
    print_environment(to, tm_at(tm_path(found, "environment.hosts"), index));
    print_steps(to, tm_get(host, "steps"));
    print_devices(to, tm_get(host, "devices"));
    print_lines(to, host);
    print_names(to, host);
}

static void print_coverage(FILE *to, const struct tm_value *coverage)
{
    const struct tm_value *classes = tm_get(coverage, "classes"), *tallies = tm_get(coverage, "tallies");
    char read[TM_FORMAT_BYTES], used[TM_FORMAT_BYTES];
    const char *comma = "  ";

    (void)fprintf(to, "\n%s events read, %s of them used\n",
                  tm_format_count(read, tm_int(tm_get(coverage, "events_read"))),
                  tm_format_count(used, tm_int(tm_get(coverage, "events_used"))));
    for (size_t i = 0; i < tm_length(classes); i++) {
        (void)fprintf(to, "%s%s %s", comma, tm_key_at(classes, i),
                      tm_format_count(read, tm_int(tm_value_at(classes, i))));
        comma = i % 6 == 5 ? ",\n  " : ", ";
    }
    if (tm_length(classes))
        (void)fputc('\n', to);
    for (size_t i = 0; i < tm_length(tallies); i++) {
        const struct tm_value *tally = tm_value_at(tallies, i);

        (void)fprintf(to, "  %s: %s (%s): %s\n", tm_text(tm_get(tally, "level")), tm_key_at(tallies, i),
                      tm_format_count(read, tm_int(tm_get(tally, "count"))), tm_text(tm_get(tally, "help")));
    }
}

/* How many hold; a failed one is a warning, too (tm_print_failed_checks). */
static void print_checks(FILE *to, const struct tm_value *checks)
{
    size_t held = 0, failed = 0;

    for (size_t i = 0; i < tm_length(checks); i++) {
        const struct tm_value *holds = tm_get(tm_at(checks, i), "holds");

        held += tm_has(holds) && tm_is(holds);
        failed += tm_has(holds) && !tm_is(holds);
    }
    if (held + failed)
        (void)fprintf(to, "  checks: %zu of %zu hold\n", held, held + failed);
}

void tm_inspect_print(const struct tm_value *found, FILE *to)
{
    const struct tm_value *files = tm_get(found, "files"), *warnings = tm_get(found, "warnings");
    const struct tm_value *advice = tm_get(found, "advice");
    const size_t more = (size_t)tm_int(tm_get(found, "file_count")) - tm_length(files);

    for (size_t i = 0; i < tm_length(files); i++)
        print_file(to, found, tm_at(files, i));
    if (more)
        (void)fprintf(to, "and %zu more file%s\n", more, tm_format_plural(more));
    for (size_t i = 0; i < tm_length(tm_get(found, "contents")); i++)
        print_host(to, found, i);
    print_coverage(to, tm_get(found, "coverage"));
    for (size_t i = 0; i < tm_length(warnings); i++) {
        (void)fputs("  the profiler says: ", to);
        print_whole(to, tm_text(tm_at(warnings, i)));
        (void)fputc('\n', to);
    }
    print_checks(to, tm_get(found, "checks"));
    if (!tm_length(tm_get(found, "contents")))
        return;
    (void)fputs(tm_length(advice) ? "\nwhat to change in the profiling\n"
                                  : "\nthe profile has all that the figures need\n",
                to);
    for (size_t i = 0; i < tm_length(advice); i++)
        (void)fprintf(to, "  - %s\n    %s\n", tm_text(tm_get(tm_at(advice, i), "what")),
                      tm_text(tm_get(tm_at(advice, i), "fix")));
}
