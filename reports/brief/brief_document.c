/* SPDX-License-Identifier: Apache-2.0 */
/* The brief as a document: the content it takes from a summary, a comparison or a night. */
#include "reports/brief/brief.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "reports/chart/chart.h"
#include "reports/content/content.h"
#include "reports/format/format.h"

enum {
    TEXT_BYTES = 280,
    TEXT_LEAST_BYTES = 40,
    SORTED_MOST = 512,
    SIDES_LEAST = 2,
    LINE_BYTES = 1024,
    MEMBERS_BYTES = 256
};

static const struct {
    const char *key;
    size_t most;
} lists[TM_BRIEF_LISTS] = {
    [TM_BRIEF_NOT_RECORDED] = { "not_recorded", 8 },
    [TM_BRIEF_FIGURES] = { "figures", 8 },
    [TM_BRIEF_JOBS] = { "jobs", 8 },
    [TM_BRIEF_NOTES] = { "notes", 4 },
    [TM_BRIEF_SIDES] = { "sides", 8 },
    [TM_BRIEF_PATH] = { "critical_path", 3 },
    [TM_BRIEF_PARTS] = { "parts", 10 },
    [TM_BRIEF_FAILED_CHECKS] = { "failed_checks", 4 },
    [TM_BRIEF_COMPARABILITY] = { "comparability", 5 },
    [TM_BRIEF_MISSING] = { "missing", 6 },
    [TM_BRIEF_CHANGES] = { "changes", 8 },
    [TM_BRIEF_FAILURES] = { "failures", 6 },
    [TM_BRIEF_KEY_FIGURES] = { "key_figures", 16 },
    [TM_BRIEF_WORSE] = { "worse", 8 },
    [TM_BRIEF_FINDINGS] = { "findings", 5 },
};

void tm_brief_room_init(struct tm_brief_room *room)
{
    for (size_t i = 0; i < TM_BRIEF_LISTS; i++)
        room->rows[i] = lists[i].most;
    room->text_bytes = TEXT_BYTES;
}

bool tm_brief_room_shrink(struct tm_brief_room *room, const size_t rows[TM_BRIEF_LISTS])
{
    for (size_t i = 0; i < TM_BRIEF_LISTS; i++) {
        if (rows[i] <= (i == TM_BRIEF_SIDES ? SIDES_LEAST : 0))
            continue;
        room->rows[i] = rows[i] - 1;
        return true;
    }
    if (room->text_bytes <= TEXT_LEAST_BYTES)
        return false;
    room->text_bytes /= 2;
    return true;
}

/* A brief under construction. */
struct brief {
    struct tm_value *root;
    const struct tm_brief_source *source;
    const struct tm_value *from;
    const struct tm_brief_room *room;
    size_t *rows;                    /* included */
    size_t left_out[TM_BRIEF_LISTS]; /* omitted for lack of room */
};

/* A text of any bytes, made visible and cut to the available room. */
static void add_text(const struct brief *b, struct tm_value *to, const char *key, const char *text)
{
    char shown[TEXT_BYTES];

    tm_format_text(shown, b->room->text_bytes, text);
    tm_add_string(to, key, shown);
}

/* The same for a member, which may be null. */
static void add_member(const struct brief *b, struct tm_value *to, const char *key, const struct tm_value *text)
{
    if (tm_type_of(text) == TM_STRING)
        add_text(b, to, key, tm_text(text));
    else
        tm_add_null(to, key, *tm_why(text) ? tm_why(text) : "not recorded");
}

/* Members of the brief from a row of the document: "job text, run text = id, value, reason known".  For each, its
 * key; "text" if it is a text, which is cut if there is little room, or "known" if it may be null; and its
 * path, if it differs from the key. */
static void add_members(const struct brief *b, struct tm_value *to, const struct tm_value *from, const char *members)
{
    char text[MEMBERS_BYTES], *rest = NULL, *words;

    assert(strlen(members) < sizeof(text));
    (void)snprintf(text, sizeof(text), "%s", members);
    for (char *member = strtok_r(text, ",", &rest); member; member = strtok_r(NULL, ",", &rest)) {
        const char *const path = strstr(member, "= "), *key = strtok_r(member, " ", &words);
        const char *const kind = strtok_r(NULL, " ", &words);
        const struct tm_value *const value = tm_path(from, path ? path + 2 : key);

        if (kind && strcmp(kind, "text") == 0)
            add_text(b, to, key, tm_text(value));
        else if (kind && strcmp(kind, "known") == 0)
            add_member(b, to, key, value);
        else
            tm_add_copy(to, key, value);
    }
}

/* The next row of a list.  out: NULL: no room; the row is counted */
static struct tm_value *add_row(struct brief *b, enum tm_brief_list list, struct tm_value *to)
{
    if (b->rows[list] >= b->room->rows[list]) {
        b->left_out[list]++;
        return NULL;
    }
    b->rows[list]++;
    return tm_add_object(to, NULL);
}

static void add_rows(struct brief *b, enum tm_brief_list list, struct tm_value *to, const struct tm_value *from,
                     const char *members)
{
    for (size_t i = 0; i < tm_length(from); i++) {
        struct tm_value *row = add_row(b, list, to);

        if (row)
            add_members(b, row, tm_at(from, i), members);
    }
}

/* --- common to all briefs --- */

static void add_finding(struct brief *b, struct tm_value *to, const struct tm_value *finding)
{
    struct tm_value *row = add_row(b, TM_BRIEF_FINDINGS, to);
    const bool is_cause = tm_has(tm_get(finding, "change_ps"));
    char stake[TM_FINDING_BYTES];

    if (!row)
        return;
    add_members(b, row, finding, "id text, severity text, title text");
    add_members(b, row, finding, is_cause ? "change_ps, explains_pct" : "at_stake_ps, share_pct");
    add_text(b, row, "stake", is_cause ? tm_finding_part(stake, finding) : tm_finding_stake(stake, finding));
    add_members(b, row, finding, "evidence text = evidence[0], advice text = fix[0]");
}

static void add_findings(struct brief *b)
{
    const struct tm_value *findings = tm_get(b->from, "findings");
    struct tm_value *to = tm_add_array(b->root, "findings");

    for (size_t i = 0; i < tm_length(findings); i++)
        add_finding(b, to, tm_at(findings, i));
}

static void add_command(const struct brief *b, struct tm_value *to, const char *verb, const char *rest,
                        const char *purpose)
{
    struct tm_value *row = tm_add_object(to, NULL);
    const struct tm_brief_source *s = b->source;
    char command[LINE_BYTES];

    (void)snprintf(command, sizeof(command), "tracemill %s %s%s%s", verb, s->operand,
                   strcmp(verb, "inspect") == 0 ? "" : s->settings, rest);
    tm_add_string(row, "command", command);
    tm_add_string(row, "purpose", purpose);
}

static void add_left_out(const struct brief *b)
{
    struct tm_value *to = tm_add_object(b->root, "left_out");

    for (size_t i = 0; i < TM_BRIEF_LISTS; i++)
        if (b->left_out[i])
            tm_add_uint(to, lists[i].key, b->left_out[i]);
}

/* --- a run --- */

static void add_versions(const struct brief *b, struct tm_value *to)
{
    static const char *const keys[][2] = { { "jax", "JAX" },       { "jaxlib", "jaxlib" }, { "cuda", "CUDA" },
                                           { "driver", "driver" }, { "rocm", "ROCm" },     { "libtpu", "libtpu" } };
    const struct tm_value *host = tm_path(b->from, "environment.hosts[0]");
    char text[TEXT_BYTES] = "";

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (*tm_text(tm_get(host, keys[i][0])))
            tm_format_append(text, sizeof(text), "%s%s %.40s", *text ? ", " : "", keys[i][1],
                             tm_text(tm_get(host, keys[i][0])));
    if (*text)
        add_text(b, to, "versions", text);
    else
        tm_add_null(to, "versions", "not recorded");
}

static void add_input(struct brief *b)
{
    struct tm_value *to = tm_add_object(b->root, "input");
    const struct tm_value *files = tm_path(b->from, "input.files");
    double bytes = 0;
    uint64_t damaged = 0;

    for (size_t i = 0; i < tm_length(files); i++) {
        bytes += tm_double(tm_get(tm_at(files, i), "bytes"));
        damaged += tm_is(tm_get(tm_at(files, i), "partial"));
    }
    tm_add_uint(to, "hosts", tm_length(tm_path(b->from, "input.hosts")));
    tm_add_uint(to, "devices", tm_length(tm_get(b->from, "devices")));
    add_members(b, to, b->from,
                "platform text = environment.platform, device_model known = environment.devices[0].model");
    add_versions(b, to);
    tm_add_uint(to, "files", tm_length(files));
    tm_add_uint(to, "damaged_files", damaged);
    tm_add_uint(to, "bytes", (uint64_t)(bytes < 9e18 ? bytes : 9e18));
    add_members(b, to, b->from, "events_read = coverage.events_read, events_used = coverage.events_used");
}

static void add_missing_row(struct brief *b, struct tm_value *to, const char *id, const char *text)
{
    struct tm_value *row = add_row(b, TM_BRIEF_MISSING, to);

    if (!row)
        return;
    add_text(b, row, "id", id);
    add_text(b, row, "text", text);
}

/* What was not read, or not completely: damaged files, what the losses affect, losses, warnings of the profilers. */
static void add_missing(struct brief *b)
{
    struct tm_value *to = tm_add_array(b->root, "missing");
    const struct tm_value *files = tm_path(b->from, "input.files"), *coverage = tm_get(b->from, "coverage");
    const struct tm_value *tallies = tm_get(coverage, "tallies"), *warnings = tm_get(coverage, "warnings");
    char text[LINE_BYTES], count[TM_FORMAT_BYTES];

    for (size_t i = 0; i < tm_length(files); i++) {
        const char *problem = tm_text(tm_at(tm_get(tm_at(files, i), "problems"), 0));

        if (!tm_is(tm_get(tm_at(files, i), "partial")))
            continue;
        (void)snprintf(text, sizeof(text), "%.400s: %.400s", tm_text(tm_get(tm_at(files, i), "path")),
                       *problem ? problem : "damaged");
        add_missing_row(b, to, "file", text);
    }
    add_rows(b, TM_BRIEF_MISSING, to, tm_get(coverage, "marks"), "id text, text text");
    for (size_t i = 0; i < tm_length(tallies); i++) {
        const struct tm_value *tally = tm_value_at(tallies, i);

        if (strcmp(tm_text(tm_get(tally, "level")), "loss") != 0)
            continue;
        (void)snprintf(text, sizeof(text), "%s %.80s: %.400s", tm_format_count(count, tm_int(tm_get(tally, "count"))),
                       tm_key_at(tallies, i), tm_text(tm_get(tally, "help")));
        add_missing_row(b, to, tm_key_at(tallies, i), text);
    }
    for (size_t i = 0; i < tm_length(warnings); i++)
        add_missing_row(b, to, "profiler", tm_text(tm_at(warnings, i)));
}

/* A part of the steps, or of the change of a step. */
struct part {
    char id[32];
    const char *title;
    const char *side; /* of a comparison */
    const struct tm_value *of;
    int64_t weight;
};

/* By weight, ties in order: there are few of them. */
static void sort_parts(struct part *part, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct part moved = part[i];
        size_t at = i;

        for (; at > 0 && part[at - 1].weight < moved.weight; at--)
            part[at] = part[at - 1];
        part[at] = moved;
    }
}

enum { PARTS_MOST = 64 };

static void note_part(struct part *parts, size_t *count, const char *kind, const char *id, const char *title,
                      const struct tm_value *time)
{
    if (tm_int(time) <= 0 || *count == PARTS_MOST)
        return;
    parts[*count] = (struct part){ .title = title, .of = time, .weight = tm_int(time) };
    (void)snprintf(parts[(*count)++].id, sizeof(parts[0].id), "%s%.20s", kind, id);
}

/* out: its row, without its share yet; NULL = omitted */
static struct tm_value *add_part(struct brief *b, enum tm_brief_list list, struct tm_value *to, const struct part *part)
{
    struct tm_value *row = add_row(b, list, to);

    if (!row)
        return NULL;
    tm_add_string(row, "id", part->id);
    tm_add_string(row, "title", part->title);
    tm_add_int(row, "time_ps", part->weight);
    return row;
}

static void add_parts(struct brief *b, struct tm_value *steps, const struct tm_value *of)
{
    const struct tm_value *copies = tm_get(of, "exposed_copy_ps"), *idle = tm_get(of, "idle_ps");
    const double total = tm_double(tm_get(of, "total_ps"));
    struct tm_value *to = tm_add_array(steps, "parts");
    struct part parts[PARTS_MOST];
    size_t count = 0;

    note_part(parts, &count, "", "compute", "compute", tm_get(of, "compute_ps"));
    note_part(parts, &count, "", "collectives", "exposed collectives", tm_get(of, "exposed_collective_ps"));
    for (size_t i = 0; i < tm_length(copies); i++)
        note_part(parts, &count, "copy_", tm_key_at(copies, i),
                  tm_palette[tm_role_of_direction(tm_key_at(copies, i))].label, tm_value_at(copies, i));
    for (size_t i = 0; i < tm_length(idle); i++)
        note_part(parts, &count, "idle_", tm_key_at(idle, i), tm_palette[tm_role_of_cause(tm_key_at(idle, i))].label,
                  tm_value_at(idle, i));
    sort_parts(parts, count);
    for (size_t i = 0; i < count; i++) {
        struct tm_value *row = add_part(b, TM_BRIEF_PARTS, to, &parts[i]);

        if (row)
            tm_add_double(row, "share_pct", total > 0 ? 100 * (double)parts[i].weight / total : 0);
    }
}

static void add_steps(struct brief *b)
{
    const struct tm_value *steps = tm_get(b->from, "steps");
    struct tm_value *to;

    if (!tm_has(steps)) {
        tm_add_null(b->root, "steps", *tm_why(steps) ? tm_why(steps) : "not recorded");
        return;
    }
    to = tm_add_object(b->root, "steps");
    add_members(b, to, steps,
                "source, count, analyzed = chosen, median_ps, mean_ps, p95_ps, min_ps, max_ps, "
                "total_ps = parts.total_ps");
    add_parts(b, to, tm_get(steps, "parts"));
}

/* The kinds of work with the most time on the critical path. */
static void add_critical_path(struct brief *b)
{
    const struct tm_value *path = tm_get(b->from, "critical_path"), *kinds = tm_get(path, "by_kind");
    const struct tm_value *replays = tm_path(path, "replay.rows");
    struct part parts[PARTS_MOST];
    struct tm_value *to;
    size_t count = 0;

    for (size_t i = 0; i < tm_length(kinds); i++)
        note_part(parts, &count, "", tm_key_at(kinds, i), tm_cause_title(tm_key_at(kinds, i)),
                  tm_get(tm_value_at(kinds, i), "total_ps"));
    if (!count)
        return;
    sort_parts(parts, count);
    to = tm_add_array(b->root, "critical_path");
    for (size_t i = 0; i < count; i++) {
        struct tm_value *row = add_part(b, TM_BRIEF_PATH, to, &parts[i]);
        const struct tm_value *saved = tm_get(tm_find(replays, "without", parts[i].id), "saved_ps");

        if (!row)
            continue;
        tm_add_copy(row, "share_pct", tm_get(tm_get(kinds, parts[i].id), "share_pct"));
        if (saved)
            tm_add_copy(row, "saved_ps", saved);
        else
            tm_add_null(row, "saved_ps", "the steps were not replayed");
    }
}

/* Times are whole picoseconds. */
static void add_quantity(struct tm_value *to, const char *key, const struct tm_value *value, double ps)
{
    if (tm_has(value) && ps > 0 && fabs(tm_double(value) * ps) < 9e18)
        tm_add_int(to, key, llround(tm_double(value) * ps));
    else
        tm_add_copy(to, key, value);
}

static void add_key_figure(struct brief *b, struct tm_value *to, const struct tm_key_figure *figure)
{
    struct tm_value *row = add_row(b, TM_BRIEF_KEY_FIGURES, to);
    const char *unit = tm_text(tm_get(figure->kpi, "unit"));
    const double ps = strcmp(unit, "ms") == 0 ? 1e9 : strcmp(unit, "s") == 0 ? 1e12 : 0;

    if (!row)
        return;
    tm_add_string(row, "id", figure->id);
    tm_add_string(row, "title", figure->title);
    add_quantity(row, "value", tm_get(figure->kpi, "value"), ps);
    tm_add_string(row, "unit", ps > 0 ? "ps" : unit);
    tm_add_string(row, "band", *figure->band ? tm_text(tm_get(figure->kpi, "band")) : "unknown");
    add_quantity(row, "good", tm_get(figure->kpi, "good"), ps);
    add_quantity(row, "bad", tm_get(figure->kpi, "bad"), ps);
}

static void add_key_figures(struct brief *b)
{
    const size_t count = tm_kpi_count(b->from);
    struct tm_value *to = tm_add_array(b->root, "key_figures"), *missing = tm_add_array(b->root, "not_recorded");
    struct tm_key_figure figure;

    for (size_t i = 0; i < count; i++) {
        struct tm_value *row;

        tm_kpi_at(&figure, b->from, i);
        if (figure.has_value) {
            add_key_figure(b, to, &figure);
        } else if ((row = add_row(b, TM_BRIEF_NOT_RECORDED, missing))) {
            tm_add_string(row, "id", figure.id);
            tm_add_string(row, "title", figure.title);
            add_text(b, row, "reason", figure.why);
        }
    }
}

static void add_checks(struct brief *b)
{
    const struct tm_value *checks = tm_get(b->from, "checks");
    struct tm_value *to = tm_add_object(b->root, "checks"), *failed;
    uint64_t passed = 0, failures = 0, unknown = 0;

    for (size_t i = 0; i < tm_length(checks); i++) {
        const struct tm_value *holds = tm_get(tm_at(checks, i), "holds");

        passed += tm_is(holds);
        failures += tm_has(holds) && !tm_is(holds);
        unknown += !tm_has(holds);
    }
    tm_add_uint(to, "passed", passed);
    tm_add_uint(to, "failed", failures);
    tm_add_uint(to, "not_applicable", unknown);
    failed = tm_add_array(to, "failed_checks");
    for (size_t i = 0; i < tm_length(checks); i++) {
        const struct tm_value *check = tm_at(checks, i), *holds = tm_get(check, "holds");
        struct tm_value *row = tm_has(holds) && !tm_is(holds) ? add_row(b, TM_BRIEF_FAILED_CHECKS, failed) : NULL;

        if (row)
            add_members(b, row, check, "id text, title text, where known");
    }
}

static void make_of_run(struct brief *b)
{
    struct tm_value *commands;

    add_input(b);
    add_missing(b);
    add_steps(b);
    add_critical_path(b);
    add_key_figures(b);
    add_findings(b);
    add_checks(b);
    commands = tm_add_array(b->root, "commands");
    if (b->source->is_profile) {
        add_command(b, commands, "report", " -o DIR", "all figures, charts and tables");
        add_command(b, commands, "inspect", "", "what was recorded, and how to record more");
        add_command(b, commands, "convert", " -o run.pftrace", "the timeline with findings, for Perfetto");
    }
    add_command(b, commands, "brief", " NEW", "what changed relative to another run");
    add_command(b, commands, "check", " --gate FILE", "check the run against limits");
}

/* --- a comparison --- */

/* The sides that are shown, if there are many. */
static void add_values(const struct brief *b, struct tm_value *to, const struct tm_value *values)
{
    struct tm_value *list = tm_add_array(to, "values");

    for (size_t i = 0; i < tm_length(values) && i < b->rows[TM_BRIEF_SIDES]; i++) {
        const struct tm_value *value = tm_at(values, i);

        if (tm_type_of(value) == TM_STRING)
            add_text(b, list, NULL, tm_text(value));
        else if (tm_has(value))
            tm_add_printed(list, NULL, "%" PRId64, tm_int(value));
        else
            tm_add_null(list, NULL, "not recorded");
    }
}

static void add_sides(struct brief *b)
{
    const struct tm_value *sides = tm_get(b->from, "sides"), *tests = tm_get(b->from, "tests");
    const struct tm_value *comparability = tm_get(b->from, "comparability");
    struct tm_value *to = tm_add_array(b->root, "sides");

    for (size_t i = 0; i < tm_length(sides); i++) {
        const struct tm_value *side = tm_at(sides, i), *test = i ? tm_at(tests, i - 1) : NULL;
        struct tm_value *row = add_row(b, TM_BRIEF_SIDES, to);

        if (!row)
            continue;
        add_members(b, row, side, "id text, label text");
        tm_add_uint(row, "runs", tm_length(tm_get(side, "runs")));
        add_members(b, row, side, "samples, mean_ps, median_ps, p95_ps");
        if (!test) {
            tm_add_null(row, "test", "this side is the base");
            continue;
        }
        add_members(b, tm_add_object(row, "test"), test,
                    "verdict, basis, change_ps, change_pct, low_pct, high_pct, p, reason known");
    }
    to = tm_add_array(b->root, "comparability");
    for (size_t i = 0; i < tm_length(comparability); i++) {
        struct tm_value *row = add_row(b, TM_BRIEF_COMPARABILITY, to);

        if (!row)
            continue;
        add_text(b, row, "id", tm_key_at(comparability, i));
        tm_add_copy(row, "same", tm_get(tm_value_at(comparability, i), "same"));
        add_values(b, row, tm_get(tm_value_at(comparability, i), "values"));
    }
}

static void add_changes(struct brief *b)
{
    const struct tm_value *waterfalls = tm_get(b->from, "waterfalls");
    struct tm_value *to = tm_add_array(b->root, "changes");
    struct part parts[PARTS_MOST];
    size_t count = 0;

    for (size_t i = 0; i < tm_length(waterfalls); i++) {
        const struct tm_value *of = tm_get(tm_at(waterfalls, i), "parts");

        for (size_t k = 0; k < tm_length(of); k++) {
            const int64_t change = tm_int(tm_get(tm_at(of, k), "change_ps"));

            if (!change)
                continue;
            if (count == PARTS_MOST) {
                b->left_out[TM_BRIEF_CHANGES]++;
                continue;
            }
            parts[count++] = (struct part){ .side = tm_text(tm_get(tm_at(waterfalls, i), "side")),
                                            .of = tm_at(of, k),
                                            .weight = change > 0            ? change
                                                      : change == INT64_MIN ? INT64_MAX
                                                                            : -change };
        }
    }
    sort_parts(parts, count);
    for (size_t i = 0; i < count; i++) {
        struct tm_value *row = add_row(b, TM_BRIEF_CHANGES, to);

        if (!row)
            continue;
        add_text(b, row, "side", parts[i].side);
        add_members(b, row, parts[i].of, "id text, title text, base_ps, new_ps, change_ps, significant");
    }
}

static bool is_judged(const char *judgement)
{
    return strcmp(judgement, "better") == 0 || strcmp(judgement, "worse") == 0;
}

/* Key figures that are better or worse; the step time is given for each side. */
static void add_figures(struct brief *b)
{
    const struct tm_value *figures = tm_get(b->from, "figures"), *sides = tm_get(b->from, "sides");
    struct tm_value *to = tm_add_array(b->root, "figures");

    for (size_t i = 0; i < tm_length(figures); i++) {
        const struct tm_value *figure = tm_at(figures, i), *changes = tm_get(figure, "changes");

        for (size_t k = 0; k < tm_length(changes); k++) {
            const struct tm_value *change = tm_at(changes, k);
            const char *judgement = tm_text(tm_get(change, "judgement"));
            struct tm_value *row = is_judged(judgement) ? add_row(b, TM_BRIEF_FIGURES, to) : NULL;

            if (!row)
                continue;
            add_text(b, row, "side", tm_text(tm_get(tm_at(sides, k + 1), "id")));
            add_members(b, row, figure, "id text, title text, kind, base = values[0]");
            tm_add_copy(row, "new", tm_at(tm_get(figure, "values"), k + 1));
            add_members(b, row, change, "change_pct = pct, judgement");
        }
    }
}

static void make_of_comparison(struct brief *b)
{
    struct tm_value *to;

    add_sides(b);
    add_changes(b);
    add_figures(b);
    add_findings(b);
    add_rows(b, TM_BRIEF_NOTES, tm_add_array(b->root, "notes"), tm_get(b->from, "notes"), "id text, text text");
    to = tm_add_array(b->root, "commands");
    if (*b->source->operand) {
        add_command(b, to, "compare", " -o DIR", "all tables and charts");
        add_command(b, to, "compare", " --fail-on regression", "exit with status 1 on a regression, for CI");
    }
}

static void make_of_night(struct brief *b)
{
    const struct tm_value *gates = tm_get(b->from, "gates");
    struct tm_value *to;

    add_member(b, b->root, "night", tm_get(b->from, "night"));
    add_members(b, tm_add_object(b->root, "counts"), tm_get(b->from, "counts"),
                "runs, done, partial, refused, failed, missing, jobs, worse, better, same, new, not_judged, absent");
    if (tm_has(gates))
        tm_add_copy(b->root, "gates", tm_get(gates, "counts"));
    add_rows(b, TM_BRIEF_WORSE, tm_add_array(b->root, "worse"), tm_get(b->from, "regressions"),
             "job text, run text = id, figure text, title text, unit, value = after, before, change, before_text text, "
             "value_text text = after_text, change_text text, since text, regression text");
    add_rows(b, TM_BRIEF_FAILURES, tm_add_array(b->root, "failures"), tm_get(b->from, "failures"),
             "job text, run text = id, status, message known");
    add_findings(b);
    add_rows(b, TM_BRIEF_JOBS, tm_add_array(b->root, "jobs"), tm_get(b->from, "jobs"),
             "job text, run text = id, state, verdict known");
    to = tm_add_array(b->root, "commands");
    add_command(b, to, "brief", "/runs/*/RUN", "what is wrong with a run");
    add_command(b, to, "batch export", "", "the figures of all runs as JSON Lines");
}

/* --- all --- */

static const struct {
    const char *schema, *kind;
    void (*make)(struct brief *b);
} kinds[] = {
    { "tracemill.summary", "run", make_of_run },
    { "tracemill.comparison", "comparison", make_of_comparison },
    { "tracemill.night", "batch", make_of_night },
};

static size_t kind_of(const struct tm_value *root)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(tm_text(tm_get(root, "schema")), kinds[i].schema) == 0)
            return i;
    return 0;
}

static void add_verdict(const struct brief *b)
{
    const struct tm_value *from = tm_get(b->from, "verdict");
    struct tm_value *to = tm_add_object(b->root, "verdict");
    char text[2 * TEXT_BYTES];

    tm_format_text(text, 2 * b->room->text_bytes, tm_text(tm_get(from, "text")));
    if (tm_has(tm_get(from, "verdict")))
        tm_add_copy(to, "verdict", tm_get(from, "verdict"));
    tm_add_string(to, "severity", tm_text(tm_get(from, "severity")));
    tm_add_string(to, "text", text);
}

/* Fill a document with the brief.
 * out:    rows  of each list that are in it */
static void make_brief(struct tm_doc *out, const struct tm_brief_source *source, const struct tm_brief_room *room,
                       size_t rows[TM_BRIEF_LISTS])
{
    const size_t kind = kind_of(source->root);
    struct brief b = { .root = tm_doc_root(out), .source = source, .from = source->root, .room = room, .rows = rows };
    struct tm_value *tool;

    memset(rows, 0, TM_BRIEF_LISTS * sizeof(*rows));
    tm_add_string(b.root, "schema", "tracemill.brief");
    tm_add_int(b.root, "schema_version", 1);
    tool = tm_add_object(b.root, "tool");
    tm_add_string(tool, "name", "tracemill");
    tm_add_string(tool, "version", TM_VERSION);
    tm_add_string(b.root, "kind", kinds[kind].kind);
    add_member(&b, b.root, "run", tm_path(source->root, "input.run"));
    add_verdict(&b);
    tm_add_bool(b.root, "partial", tm_is(tm_path(source->root, "input.partial")));
    tm_add_bool(b.root, "redacted", tm_is(tm_path(source->root, "report.redacted")));
    kinds[kind].make(&b);
    add_left_out(&b);
}

/* out: 0: it is too long */
static size_t print_into(struct tm_run *run, char *bytes, size_t room, const struct tm_value *brief,
                         enum tm_brief_form form)
{
    FILE *to = fmemopen(bytes, room, "w");
    bool fits;
    long length;

    if (!to) {
        (void)tm_fail_system(&run->error, TM_ERR_LIMIT, -1, errno, "cannot print the brief");
        return 0;
    }
    tm_brief_print(brief, form, to);
    fits = fflush(to) == 0 && !ferror(to);
    length = ftell(to);
    (void)fclose(to);
    return fits && length > 0 && length <= TM_BRIEF_BYTES ? (size_t)length : 0;
}

tm_status tm_brief_write(struct tm_run *run, const struct tm_brief_source *source, enum tm_brief_form form, FILE *to)
{
    char bytes[TM_BRIEF_BYTES + 2];
    size_t rows[TM_BRIEF_LISTS], length;
    struct tm_brief_room room;

    tm_brief_room_init(&room);
    do {
        struct tm_doc *doc = tm_doc_new(run);

        if (!doc)
            return run->error.status;
        make_brief(doc, source, &room, rows);
        length = tm_doc_status(doc) == TM_OK ? print_into(run, bytes, sizeof(bytes), tm_doc_root(doc), form) : 0;
        tm_doc_free(doc);
    } while (!length && !tm_failed(run) && tm_brief_room_shrink(&room, rows));
    if (tm_failed(run))
        return run->error.status;
    if (!length)
        return tm_fail(&run->error, TM_ERR_LIMIT, -1, "cannot print the brief: it needs more than %d bytes",
                       TM_BRIEF_BYTES);
    if (fwrite(bytes, 1, length, to) != length)
        return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot write the brief");
    return TM_OK;
}
