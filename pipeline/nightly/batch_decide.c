/* SPDX-License-Identifier: Apache-2.0 */
/* `batch regressions`, `batch ack`, `batch accept`: the ledger of regressions, and what people decide about them.
 * Decisions cannot be made again from results, so they are not in history.db but in OUT/decisions.jsonl, a line for
 * each, which is only appended to.  A line names the regression by its id and by its job, series, figure and time, so
 * that it is found again in a history that was lost and rebuilt (schemas/BATCH.md). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/atomic_file.h"
#include "pipeline/commands/commands.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/nightly/batch.h"
#include "pipeline/nightly/result.h"
#include "pipeline/run.h"
#include "reports/format/format.h"
#include "reports/history/history.h"

enum { LINE_BYTES = 16384, REASON_BYTES = 1024 };

static const char *const kinds[] = { [TM_DECISION_ACKNOWLEDGED] = "acknowledged", [TM_DECISION_ACCEPTED] = "accepted" };

/* --- reading --- */

struct reading {
    struct tm_run *run;
    const char *path;
    struct tm_decision *first, *last;
    uint64_t line;
};

static tm_status refuse(struct reading *r, const char *what)
{
    (void)tm_fail(&r->run->error, TM_ERR_INPUT, -1, "cannot read '%s': line %" PRIu64 " %s", r->path, r->line, what);
    tm_hint(&r->run->error, "correct or remove the line");
    return TM_ERR_INPUT;
}

static void keep(struct reading *r, const struct tm_value *from, enum tm_decision_kind kind)
{
    static const char *const keys[] = { "id", "job", "series", "figure", "reason", "decided" };
    enum { TEXTS = sizeof(keys) / sizeof(keys[0]) };
    const char *text[TEXTS];
    size_t bytes = sizeof(struct tm_decision);
    struct tm_decision *decision;
    char *at;

    for (size_t i = 0; i < TEXTS; i++)
        bytes += strlen(tm_text(tm_get(from, keys[i]))) + 1;
    decision = tm_take(&r->run->budget, TM_ACCOUNT_MODEL, bytes, &r->run->error);
    if (!decision)
        return;
    at = (char *)(decision + 1);
    for (size_t i = 0; i < TEXTS; i++) {
        const char *const value = tm_text(tm_get(from, keys[i]));

        text[i] = memcpy(at, value, strlen(value) + 1);
        at += strlen(value) + 1;
    }
    *decision = (struct tm_decision){ .bytes = bytes,
                                      .kind = kind,
                                      .id = text[0],
                                      .job = text[1],
                                      .series = text[2],
                                      .figure = text[3],
                                      .reason = text[4],
                                      .decided = text[5],
                                      .since_ns = tm_int(tm_get(from, "since_ns")),
                                      .last_ns = tm_int(tm_get(from, "last_ns")),
                                      .before = tm_double_or_nan(tm_get(from, "before")),
                                      .after = tm_double_or_nan(tm_get(from, "after")) };
    *(r->last ? &r->last->next : &r->first) = decision;
    r->last = decision;
}

static void take_line(struct reading *r, const char *line, size_t length)
{
    struct tm_doc *const doc = tm_doc_new(r->run);
    const struct tm_value *root;
    size_t kind = 0;

    if (!doc)
        return;
    root = tm_doc_root(doc);
    if (tm_doc_read(doc, tm_doc_root(doc), line, length, r->path)) {
        if (r->run->error.status == TM_ERR_INPUT) {
            r->run->error = (struct tm_error){ .status = TM_OK };
            (void)refuse(r, "is not a JSON object");
        }
    } else {
        while (kind < sizeof(kinds) / sizeof(kinds[0]) && strcmp(tm_text(tm_get(root, "decision")), kinds[kind]) != 0)
            kind++;
        if (kind == sizeof(kinds) / sizeof(kinds[0]))
            (void)refuse(r, "has no valid 'decision'");
        else if (!tm_is_run_id(tm_text(tm_get(root, "id"))) ||
                 strlen(tm_text(tm_get(root, "id"))) >= TM_LEDGER_ID_BYTES)
            (void)refuse(r, "has no valid 'id'");
        else
            keep(r, root, (enum tm_decision_kind)kind);
    }
    tm_doc_free(doc);
}

/* A last line without an end was interrupted, and does not count. */
static void take_lines(struct reading *r, FILE *file, char *line)
{
    while (!tm_failed(r->run) && fgets(line, LINE_BYTES, file)) {
        const size_t length = strlen(line);

        r->line++;
        if (length && line[length - 1] == '\n') {
            if (length > 1)
                take_line(r, line, length - 1);
        } else if (!feof(file)) {
            (void)refuse(r, "is too long");
        }
    }
    if (ferror(file))
        (void)tm_fail_system(&r->run->error, TM_ERR_INPUT, -1, errno, "cannot read '%s'", r->path);
}

tm_status tm_decisions_read(struct tm_run *run, const char *out, struct tm_decision **first)
{
    char path[TM_OUT_PATH_BYTES];
    struct reading r = { .run = run, .path = path };
    FILE *file;
    char *line;

    *first = NULL;
    if (tm_out_path(run, out, TM_DECISIONS_FILE, path))
        return run->error.status;
    file = fopen(path, "re");
    if (!file)
        return errno == ENOENT ? TM_OK : tm_fail_system(&run->error, TM_ERR_INPUT, -1, errno, "cannot read '%s'", path);
    line = tm_take(&run->budget, TM_ACCOUNT_MODEL, LINE_BYTES, &run->error);
    if (line) {
        take_lines(&r, file, line);
        tm_give(&run->budget, TM_ACCOUNT_MODEL, line, LINE_BYTES);
    }
    (void)fclose(file);
    *first = r.first;
    return run->error.status;
}

void tm_decisions_free(struct tm_run *run, struct tm_decision *first)
{
    while (first) {
        struct tm_decision *const next = first->next;

        tm_give(&run->budget, TM_ACCOUNT_MODEL, first, first->bytes);
        first = next;
    }
}

/* --- deciding --- */

struct deciding {
    struct tm_run *run;
    const struct tm_options *options;
    const char *out, *id;
    enum tm_decision_kind kind;
    char today[11];
    struct tm_doc *doc; /* the lines */
    bool is_found;
};

static tm_status take_if_meant(void *to, const struct tm_history_regression *row)
{
    struct deciding *const d = to;
    struct tm_value *line;

    if (strcmp(row->id, d->id) != 0)
        return TM_OK;
    d->is_found = true;
    if (!tm_ledger_is_open(row))
        return tm_fail(&d->run->error, TM_ERR_USAGE, -1, "the regression '%s' is not open: it is %s", row->id,
                       row->state);
    line = tm_add_object(tm_member(tm_doc_root(d->doc), "lines"), NULL);
    tm_add_string(line, "id", row->id);
    tm_add_string(line, "decision", kinds[d->kind]);
    tm_add_string(line, "decided", d->today);
    tm_add_text(line, "reason", d->options->reason ? d->options->reason : "",
                d->options->reason ? strnlen(d->options->reason, REASON_BYTES) : 0);
    tm_add_text(line, "job", row->job, strlen(row->job));
    tm_add_string(line, "series", row->series);
    tm_add_string(line, "figure", row->figure);
    tm_add_int(line, "since_ns", row->since_ns);
    tm_add_int(line, "last_ns", row->last_ns);
    tm_add_double(line, "before", row->before);
    tm_add_double(line, "after", row->after);
    return tm_doc_status(d->doc);
}

static void find_all(struct deciding *d)
{
    struct tm_history *history = NULL;
    char path[TM_OUT_PATH_BYTES];

    (void)tm_add_array(tm_doc_root(d->doc), "lines");
    if (tm_out_path(d->run, d->out, TM_HISTORY_FILE, path) || tm_history_open(&history, d->run, path))
        return;
    for (size_t i = 1; i < d->options->input_count && !tm_failed(d->run); i++) {
        d->id = d->options->inputs[i];
        d->is_found = false;
        if (!tm_history_visit_regressions(history, NULL, take_if_meant, d) && !d->is_found) {
            (void)tm_fail(&d->run->error, TM_ERR_USAGE, -1, "there is no regression '%.100s' in '%s'", d->id, path);
            tm_hint(&d->run->error, "'tracemill batch regressions %s' lists them", d->out);
        }
    }
    tm_history_close(history);
}

/* What a killed process wrote of its last line is cut off. */
static void cut_torn_line(int fd)
{
    struct stat info;
    off_t end;
    char last = '\n';

    if (fstat(fd, &info) != 0)
        return;
    for (end = info.st_size; end > 0 && pread(fd, &last, 1, end - 1) == 1 && last != '\n'; end--)
        ;
    if (end != info.st_size)
        (void)!ftruncate(fd, end);
}

static void append(struct deciding *d)
{
    const struct tm_value *const lines = tm_get(tm_doc_root(d->doc), "lines");
    char path[TM_OUT_PATH_BYTES];
    FILE *file = NULL;
    int fd;

    if (tm_out_path(d->run, d->out, TM_DECISIONS_FILE, path))
        return;
    fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd >= 0) {
        (void)flock(fd, LOCK_EX); /* best effort: some file systems cannot */
        cut_torn_line(fd);
        file = fdopen(fd, "a");
    }
    if (!file) {
        (void)tm_fail_system(&d->run->error, TM_ERR_OUTPUT, -1, errno, "cannot write '%s'", path);
        if (fd >= 0)
            (void)close(fd);
        return;
    }
    for (size_t i = 0; i < tm_length(lines); i++)
        tm_value_print_line(tm_at(lines, i), file);
    if (fflush(file) != 0 || ferror(file) || fsync(fd) != 0)
        (void)tm_fail_system(&d->run->error, TM_ERR_OUTPUT, -1, errno, "cannot write '%s'", path);
    if (fclose(file) != 0 && !tm_failed(d->run))
        (void)tm_fail_system(&d->run->error, TM_ERR_OUTPUT, -1, errno, "cannot write '%s'", path);
    tm_sync_folder(d->out);
}

static tm_status decide(struct tm_run *run, const struct tm_options *options, enum tm_decision_kind kind)
{
    struct deciding d = { .run = run, .options = options, .out = options->inputs[0], .kind = kind };
    size_t count;

    if (kind == TM_DECISION_ACKNOWLEDGED && (!options->reason || !*options->reason)) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "'batch ack' needs --reason");
        tm_hint(&run->error, "it is shown beside the regression: --reason 'known, fixed in the next release'");
        return run->error.status;
    }
    tm_history_today(d.today);
    d.doc = tm_doc_new(run);
    if (!d.doc)
        return run->error.status;
    find_all(&d);
    count = tm_length(tm_get(tm_doc_root(d.doc), "lines"));
    if (!tm_failed(run))
        append(&d);
    tm_doc_free(d.doc);
    if (!tm_failed(run) && !run->quiet)
        (void)printf("%zu regression%s %s; the next merge updates the page and the history\n", count,
                     tm_format_plural(count), kinds[kind]);
    return run->error.status;
}

static tm_status run_batch_ack(struct tm_run *run, const struct tm_options *options)
{
    return decide(run, options, TM_DECISION_ACKNOWLEDGED);
}

static tm_status run_batch_accept(struct tm_run *run, const struct tm_options *options)
{
    return decide(run, options, TM_DECISION_ACCEPTED);
}

/* --- listing --- */

struct listing {
    struct tm_run *run;
    const struct tm_decision *decisions;
    struct tm_value *list; /* of --json; NULL = lines for people */
    enum tm_ledger_state state;
};

/* A decision counts at once, although the history has it only after the next merge. */
static const struct tm_decision *newer_decision(const struct listing *l, const struct tm_history_regression *row)
{
    const struct tm_decision *last = NULL;

    for (const struct tm_decision *at = l->decisions; at; at = at->next)
        if (strcmp(at->id, row->id) == 0)
            last = at;
    return last && tm_ledger_is_open(row) ? last : NULL;
}

static void add_row(const struct listing *l, const struct tm_history_regression *row)
{
    struct tm_value *const to = tm_add_object(l->list, NULL);

    tm_add_string(to, "id", row->id);
    tm_add_string(to, "state", row->state);
    tm_add_text(to, "job", row->job, strlen(row->job));
    tm_add_string(to, "figure", row->figure);
    tm_add_string(to, "kind", row->kind);
    tm_add_double(to, "before", row->before);
    tm_add_double(to, "after", row->after);
    tm_add_int(to, "runs", row->runs);
    tm_add_string(to, "since", row->since);
    tm_add_string(to, "opened", row->opened);
    tm_add_known(to, "closed", row->closed, "it is open");
    tm_add_known(to, "revision", row->revision, "it is unknown");
    tm_add_known(to, "revision_before", row->revision_before, "it is unknown");
    tm_add_string(to, "first_run", row->first_run);
    tm_add_known(to, "good_run", row->good_run, "no earlier run is in the history");
    tm_add_known(to, "model", row->model, "it is unknown");
    tm_add_known(to, "cause", row->cause, "it is unknown");
    tm_add_known(to, "reason", row->reason, "none was given");
    tm_add_known(to, "decided", row->decided, "there is no decision");
}

static void print_row(const struct tm_history_regression *row)
{
    const struct tm_run_figure *const figure = tm_run_figure_of_id(row->figure);
    char before[TM_FORMAT_BYTES] = "", after[TM_FORMAT_BYTES] = "", change[TM_FORMAT_BYTES] = "";

    if (figure) {
        (void)tm_nightly_value(before, row->before, figure);
        (void)tm_nightly_value(after, row->after, figure);
        (void)tm_nightly_change(change, tm_nightly_change_of(figure, row->before, row->after), figure);
    }
    (void)printf("%-12s  %-12s  ", row->id, row->state);
    tm_print_clean(stdout, row->job);
    (void)printf(": %s %s -> %s", figure ? figure->name : row->figure, before, after);
    (void)printf("%s%s%s since %s", *change ? " (" : "", change, *change ? ")" : "", row->since);
    if (*row->revision) {
        (void)fputs(", revision ", stdout);
        tm_print_clean(stdout, row->revision);
    }
    if (tm_ledger_state_of(row->state) == TM_LEDGER_UNCONFIRMED)
        (void)printf("; shown by %lld run%s so far", (long long)row->runs, tm_format_plural((size_t)row->runs));
    if (*row->reason) {
        (void)fputs("; ", stdout);
        tm_print_clean(stdout, row->reason);
    }
    (void)fputc('\n', stdout);
}

static tm_status list_row(void *to, const struct tm_history_regression *row)
{
    struct listing *const l = to;
    struct tm_history_regression shown = *row;
    const struct tm_decision *const decision = newer_decision(l, row);

    if (decision) {
        shown.state = kinds[decision->kind];
        shown.reason = decision->reason;
        shown.decided = decision->decided;
    }
    if (tm_ledger_state_of(shown.state) != l->state)
        return TM_OK;
    if (l->list)
        add_row(l, &shown);
    else
        print_row(&shown);
    return l->run->error.status;
}

static tm_status run_batch_regressions(struct tm_run *run, const struct tm_options *options)
{
    struct listing l = { .run = run };
    struct tm_decision *decisions = NULL;
    struct tm_history *history = NULL;
    struct tm_doc *const doc = options->json ? tm_doc_new(run) : NULL;
    char path[TM_OUT_PATH_BYTES];

    if (doc) {
        tm_add_string(tm_doc_root(doc), "schema", "tracemill.regressions");
        tm_add_int(tm_doc_root(doc), "schema_version", 1);
        l.list = tm_add_array(tm_doc_root(doc), "regressions");
    }
    if (!tm_failed(run) && !tm_out_path(run, options->inputs[0], TM_HISTORY_FILE, path) &&
        !tm_history_open(&history, run, path) && !tm_decisions_read(run, options->inputs[0], &decisions)) {
        l.decisions = decisions;
        for (int state = 0; state < TM_LEDGER_STATES && !tm_failed(run); state++) {
            l.state = (enum tm_ledger_state)state;
            tm_history_visit_regressions(history, NULL, list_row, &l);
        }
    }
    tm_history_close(history);
    tm_decisions_free(run, decisions);
    if (doc && !tm_failed(run))
        tm_print_document(run, doc);
    tm_doc_free(doc);
    return tm_finish_stdout(run, run->error.status);
}

/* clang-format off */
const struct tm_verb tm_batch_regressions_verb = {
    .name = "batch regressions",
    .summary = "list the regressions of a batch: open, acknowledged, and closed ones",
    .usage = "OUT [OPTION...]",
    .description =
        "Prints a line for each regression in history.db: its id, its state, the job and the figure, by how much and since when it is worse. The state is open, unconfirmed (fewer runs show it than --confirm asked the last merge for, so it is no alarm yet), acknowledged, recovered, fixed, accepted, dismissed (the figure usually varies by as much), withdrawn (the history no longer shows it, for the given reason) or ended (no run for 30 nights).",
    .examples =
        "tracemill batch regressions perf    all of them, open ones first\n",
    .bit = TM_FOR_BATCH_REGRESSIONS,
    .flags = TM_VERB_PRINTS,
    .least = 1,
    .most = 1,
    .run = run_batch_regressions,
};

const struct tm_verb tm_batch_ack_verb = {
    .name = "batch ack",
    .summary = "acknowledge open regressions: they stay listed, but raise no alarm",
    .usage = "OUT ID... --reason TEXT [OPTION...]",
    .description =
        "Appends a decision to OUT/decisions.jsonl. From the next merge on, the regressions are listed as acknowledged, with the reason, until the figure is back, and no longer affect the exit status. One that grows further is open again.",
    .examples =
        "tracemill batch ack perf r-5f1c0a92d3 --reason 'new checkpoint format, fixed in 1.4'\n",
    .words = "",
    .bit = TM_FOR_BATCH_ACK,
    .least = 2,
    .most = SIZE_MAX,
    .run = run_batch_ack,
};

const struct tm_verb tm_batch_accept_verb = {
    .name = "batch accept",
    .summary = "accept open regressions: the new level becomes the baseline",
    .usage = "OUT ID... [--reason TEXT] [OPTION...]",
    .description =
        "Appends a decision to OUT/decisions.jsonl. The next merge closes the regressions; later runs are compared with the new level.",
    .examples =
        "tracemill batch accept perf r-5f1c0a92d3 --reason 'the model has two more layers'\n",
    .words = "",
    .bit = TM_FOR_BATCH_ACCEPT,
    .least = 2,
    .most = SIZE_MAX,
    .run = run_batch_accept,
};
/* clang-format on */
