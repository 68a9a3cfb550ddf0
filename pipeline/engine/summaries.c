/* SPDX-License-Identifier: Apache-2.0 */
/* From operands to summaries in memory.  An analysis needs the entire ledger, so its result is printed into a spill
 * file and freed; finally all are read, when no stage uses memory.  A profile and its summary.json are treated alike
 * from there on, and give the same result. */
#include "pipeline/engine/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/doc/doc.h"
#include "pipeline/engine/analysis.h"
#include "pipeline/files.h"
#include "pipeline/remote.h"
#include "pipeline/run.h"
#include "pipeline/store/rows.h"
#include "pipeline/strings.h"
#include "reports/findings/summary_query.h"

/* What all summaries together may take of the limit, in percent: the rest is for what is made from
 * them. */
enum { SUMMARIES_PCT = 60, HEAD_BYTES = 256, HINT_BYTES = 440, PATH_BYTES = 4096 };

static const char summary_schema[] = "tracemill.summary";

/* The path of the printed summary of a run. */
struct printed {
    uint64_t at, bytes;
};

struct loading {
    struct tm_run *run;
    const struct tm_options *options;
    const char *act;
    struct tm_spill spill;
    struct printed *printed; /* of each run */
    struct counts {
        struct tm_tallies tallies;
        uint64_t events, bytes;
    } sum; /* over all runs */
};

/* --- operands --- */

tm_status tm_run_operands_check(struct tm_run *run, const struct tm_run_operand *operand, size_t count)
{
    size_t streams = 0;
    struct stat info;

    if (count > TM_RUNS_MOST)
        return tm_fail(&run->error, TM_ERR_LIMIT, -1, "cannot read more than %d runs at once", TM_RUNS_MOST);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(operand[i].path, "-") == 0) {
            streams++;
        } else if (!tm_remote_is(operand[i].path) && stat(operand[i].path, &info) != 0) {
            (void)tm_fail_system(&run->error, TM_ERR_INPUT, -1, errno, "cannot open '%s'", operand[i].path);
            if (operand[i].label_length)
                tm_hint(&run->error, "the text before '=' is a label");
            return run->error.status;
        }
    }
    if (streams > 1)
        return tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot read stdin twice: '-' is given %zu times", streams);
    return TM_OK;
}

tm_status tm_refuse_redaction(struct tm_run *run, const struct tm_options *options, const char *act)
{
    if (!options->redact)
        return TM_OK;
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot %s with --redact", act);
    tm_hint(&run->error, "write each summary with 'tracemill report --redact --format json', and %s those", act);
    return TM_ERR_USAGE;
}

/* What documents may hold, all of them together. */
static size_t most_bytes(const struct tm_run *run)
{
    return run->budget.limit_bytes / 100 * SUMMARIES_PCT;
}

/* --- which are summaries --- */

/* What follows blanks and the text, in `at`; NULL if it does not exist. */
static const char *past(const char *at, const char *text)
{
    if (at)
        at += strspn(at, " \t\r\n");
    return at && strncmp(at, text, strlen(text)) == 0 ? at + strlen(text) : NULL;
}

/* A document of this program starts with its schema. */
static bool is_document(const char *path, const char *schema)
{
    char head[HEAD_BYTES];
    struct stat info;
    size_t got;
    const int fd = stat(path, &info) == 0 && S_ISREG(info.st_mode) ? tm_open_to_read(path, 0) : -1;

    if (fd < 0)
        return false;
    (void)tm_read_on(fd, head, sizeof(head) - 1, &got);
    (void)close(fd);
    head[got] = '\0';
    return past(past(past(past(past(head, "{"), "\"schema\""), ":"), "\""), schema) != NULL;
}

/* An object is a document if its name says so: it is fetched only once. */
static bool find_object(const char *uri, const char *name, char file[TM_PLACE_BYTES])
{
    const char *const slash = strrchr(uri, '/');
    const int n = snprintf(file, TM_PLACE_BYTES, "%s", uri);

    return strcmp(slash + 1, name) == 0 && n > 0 && n < TM_PLACE_BYTES;
}

bool tm_document_find(const char *path, const char *name, const char *schema, char file[TM_PLACE_BYTES])
{
    const size_t length = strlen(path);
    const char *slash = length && path[length - 1] == '/' ? "" : "/";
    struct stat info;
    int n;

    if (tm_remote_is(path))
        return find_object(path, name, file);
    if (stat(path, &info) != 0)
        return false;
    if (S_ISDIR(info.st_mode))
        n = snprintf(file, TM_PLACE_BYTES, "%s%s%s", path, slash, name);
    else
        n = snprintf(file, TM_PLACE_BYTES, "%s", path);
    return n > 0 && n < TM_PLACE_BYTES && is_document(file, schema);
}

/* By way of a spill file. */
static tm_status read_object(struct tm_run *run, struct tm_doc *doc, const char *uri)
{
    struct tm_helper helper = { .run = NULL };
    struct tm_spill spill = { .fd = -1 };
    char name[TM_ERROR_TEXT / 2], block[4096];
    size_t got = 1;
    uint64_t at;

    (void)snprintf(name, sizeof(name), "'%.200s'", uri);
    if (!tm_spill_open(&spill, run) && !tm_fetch_start(&helper, run, uri, name))
        while (got > 0 && !tm_helper_read(&helper, block, sizeof(block), &got) &&
               !tm_spill_append(&spill, block, got, &at))
            ;
    tm_helper_stop(&helper);
    if (!tm_failed(run) && lseek(spill.fd, 0, SEEK_SET) == 0)
        tm_doc_read_from(doc, tm_doc_root(doc), spill.fd, UINT64_MAX, uri);
    tm_spill_close(&spill);
    return run->error.status;
}

static tm_status read_text_of(struct tm_run *run, struct tm_doc *doc, const char *file)
{
    return tm_remote_is(file) ? read_object(run, doc, file) : tm_doc_read_file(doc, tm_doc_root(doc), file);
}

tm_status tm_document_read(struct tm_run *run, struct tm_doc *doc, const struct tm_options *options, const char *file,
                           const char *act)
{
    const struct tm_value *const root = tm_doc_root(doc);
    tm_status st;

    tm_doc_set_most(doc, most_bytes(run));
    st = read_text_of(run, doc, file);
    if (st)
        return st;
    if (tm_int(tm_get(root, "schema_version")) != 1) {
        (void)tm_fail(&run->error, TM_ERR_INPUT, -1,
                      "cannot use '%s': its schema version is %lld; this program reads version 1", file,
                      (long long)tm_int(tm_get(root, "schema_version")));
        tm_hint(&run->error, "create it again with the same verb");
        return TM_ERR_INPUT;
    }
    if (options->redact && !tm_is(tm_path(root, "report.redacted")))
        return tm_refuse_redaction(run, options, "read a document");
    return tm_check_strict(run, tm_is(tm_path(root, "input.partial")), act);
}

/* What is another document is refused when it is read. */
static bool find_summary(const char *path, char file[TM_PLACE_BYTES])
{
    return tm_document_find(path, "summary.json", "tracemill.", file);
}

/* A command line that is put together. */
struct command {
    char text[HINT_BYTES];
    size_t used;
    bool is_cut;
};

static void put_word(void *to, const char *text, size_t length)
{
    struct command *c = to;

    c->is_cut |= length >= sizeof(c->text) - c->used;
    if (c->is_cut)
        return;
    memcpy(c->text + c->used, text, length);
    c->used += length;
    c->text[c->used] = '\0';
}

static void put_text(struct command *c, const char *text)
{
    put_word(c, text, strlen(text));
}

/* What the options of a summary were, if they are not the defaults: figures depend on them. */
static void put_settings(struct command *c, const struct tm_value *settings)
{
    static const enum tm_option_index told[] = { TM_OPTION_STEPS, TM_OPTION_SKIP_STEPS, TM_OPTION_WINDOW,
                                                 TM_OPTION_GAP_MIN };

    for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
        const struct tm_option *option = &tm_option_table[told[i]];
        char key[TM_OPTION_NAME_BYTES];
        const char *text = tm_text(tm_get(settings, tm_option_key(option, key)));

        if (!*text || (option->fallback && strcmp(text, option->fallback) == 0))
            continue;
        put_text(c, " --");
        put_text(c, option->name);
        put_text(c, " ");
        tm_shell_word(put_word, c, text);
    }
}

/* The command that creates a current summary from its own inputs, if their paths are known. */
static void hint_anew(struct tm_run *run, const struct tm_value *root)
{
    const struct tm_value *files = tm_path(root, "input.files");
    struct command c = { .used = 0 };
    bool has_paths = tm_length(files) > 0 && !tm_is(tm_path(root, "report.redacted"));

    put_text(&c, "tracemill report");
    for (size_t i = 0; i < tm_length(files); i++) {
        const struct tm_value *file = tm_at(files, i);
        const char *path = tm_text(tm_get(file, "path"));

        has_paths = has_paths && *path && strcmp(path, "-") != 0 && !tm_is(tm_get(file, "archived"));
        put_text(&c, " ");
        tm_shell_word(put_word, &c, path);
    }
    if (!has_paths || c.is_cut) {
        c = (struct command){ .used = 0 };
        put_text(&c, "tracemill report INPUT");
    }
    put_settings(&c, tm_get(root, "settings"));
    put_text(&c, " --format json");
    tm_hint(&run->error, "create a new one from the profile: %s",
            c.is_cut ? "tracemill report INPUT --format json" : c.text);
}

static void check_schema(struct tm_run *run, const struct tm_value *root, const char *path)
{
    const char *schema = tm_text(tm_get(root, "schema"));
    const int64_t version = tm_int(tm_get(root, "schema_version"));

    if (strcmp(schema, summary_schema) != 0) {
        (void)tm_fail(&run->error, TM_ERR_INPUT, -1, "cannot use '%s': it is a '%s', not a summary of a run", path,
                      schema);
        tm_hint(&run->error, "'tracemill report --format json' writes the summary of a run");
    } else if (version == 1) {
        (void)tm_fail(&run->error, TM_ERR_INPUT, -1,
                      "cannot use '%s': it is a summary of version 1, whose figures are defined differently; this "
                      "program reads version %d",
                      path, TM_SUMMARY_VERSION);
        hint_anew(run, root);
    } else if (version != TM_SUMMARY_VERSION) {
        (void)tm_fail(&run->error, TM_ERR_INPUT, -1,
                      "cannot use '%s': its schema version is %lld; this program reads version %d", path,
                      (long long)version, TM_SUMMARY_VERSION);
        tm_hint(&run->error, "create it again from the profile: 'tracemill report --format json'");
    }
}

tm_status tm_summary_read(struct tm_run *run, struct tm_doc *doc, const char *file)
{
    if (!read_text_of(run, doc, file))
        check_schema(run, tm_doc_root(doc), file);
    return run->error.status;
}

/* --- analyzing --- */

/* Every analysis counts from 0: its summary reports what it read. */
static void begin_counts(struct tm_run *run)
{
    memset(&run->tallies, 0, sizeof(run->tallies));
    run->events_read = 0;
    run->bytes_read = 0;
}

static void add_counts(struct counts *to, const struct tm_run *run)
{
    for (int i = 0; i < TM_TALLY_COUNT; i++)
        to->tallies.count[i] += run->tallies.count[i];
    to->events += run->events_read;
    to->bytes += run->bytes_read;
}

static void tell_counts(const struct counts *from, struct tm_run *run)
{
    run->tallies = from->tallies;
    run->events_read = from->events;
    run->bytes_read = from->bytes;
}

/* Behind those that are there. */
static void print_summary(struct loading *l, const struct tm_doc *doc, struct printed *printed)
{
    off_t end = -1;

    if (!l->spill.run && tm_spill_open(&l->spill, l->run))
        return;
    printed->at = l->spill.bytes;
    if (lseek(l->spill.fd, (off_t)printed->at, SEEK_SET) >= 0) {
        tm_doc_print(doc, l->run, l->spill.fd);
        end = lseek(l->spill.fd, 0, SEEK_CUR);
    }
    if (end < 0)
        (void)tm_fail_system(&l->run->error, TM_ERR_OUTPUT, -1, errno, "cannot write a spill file");
    if (tm_failed(l->run))
        return;
    l->spill.bytes = (uint64_t)end;
    printed->bytes = l->spill.bytes - printed->at;
    l->run->budget.spilled_bytes += printed->bytes;
}

/* With one run as the only operand. */
static struct tm_options options_of(const struct loading *l, const struct tm_loaded_run *run, char **input)
{
    struct tm_options options = *l->options;

    *input = (char *)(uintptr_t)run->path; /* which is never changed */
    options.inputs = input;
    options.input_count = 1;
    return options;
}

static void analyze(struct loading *l, struct tm_loaded_run *run, struct printed *printed)
{
    char *input;
    const struct tm_options options = options_of(l, run, &input);
    struct tm_doc *doc = tm_doc_new(l->run);

    if (!doc)
        return;
    begin_counts(l->run);
    if (!tm_analyze(l->run, &options, doc, NULL, NULL)) {
        run->is_partial = tm_is(tm_path(tm_doc_root(doc), "input.partial")) || !tm_query_checks_hold(tm_doc_root(doc));
        tm_check_strict(l->run, run->is_partial, l->act);
    }
    if (!tm_failed(l->run))
        print_summary(l, doc, printed);
    tm_doc_free(doc);
    tm_progress_end(&l->run->progress);
    add_counts(&l->sum, l->run);
    (void)tm_while(&l->run->error, "analyzing '%s'", run->path);
}

/* --- reading --- */

static void read_file(struct loading *l, struct tm_loaded_run *run)
{
    struct tm_value *const root = tm_doc_root(run->doc);
    char file[TM_PLACE_BYTES];

    if (find_summary(run->path, file))
        tm_summary_read(l->run, run->doc, file);
    else
        (void)tm_fail(&l->run->error, TM_ERR_INPUT, -1, "cannot read '%s': it has changed", run->path);
    run->is_partial = tm_is(tm_path(root, "input.partial")) || !tm_query_checks_hold(root);
    begin_counts(l->run); /* losses were reported when it was written */
    if (!tm_failed(l->run))
        tm_check_strict(l->run, run->is_partial, l->act);
}

static void read_printed(const struct loading *l, const struct tm_loaded_run *run, const struct printed *printed)
{
    if (lseek(l->spill.fd, (off_t)printed->at, SEEK_SET) < 0)
        (void)tm_fail_system(&l->run->error, TM_ERR_OUTPUT, -1, errno, "cannot read a spill file");
    else
        tm_doc_read_from(run->doc, tm_doc_root(run->doc), l->spill.fd, printed->bytes, run->path);
}

/* All of them, in what the limit gives to summaries. */
static void read_all(struct loading *l, struct tm_summaries *s)
{
    const struct tm_budget *budget = &l->run->budget;
    const size_t before = budget->used_bytes[TM_ACCOUNT_MODEL];
    const size_t most = most_bytes(l->run);

    for (size_t i = 0; i < s->count && !tm_failed(l->run); i++) {
        const size_t used = budget->used_bytes[TM_ACCOUNT_MODEL] - before;

        s->run[i].doc = tm_doc_new(l->run);
        if (!s->run[i].doc)
            return;
        tm_doc_set_most(s->run[i].doc, used < most ? most - used : 0);
        if (s->run[i].is_summary)
            read_file(l, &s->run[i]);
        else
            read_printed(l, &s->run[i], &l->printed[i]);
        if (l->run->error.status == TM_ERR_LIMIT)
            (void)tm_while(&l->run->error, "holding %zu summaries in memory at once, of them '%s'", s->count,
                           s->run[i].path);
    }
}

/* --- all --- */

/* Which run of a folder is selected, if any. */
static void choose(struct loading *l, const struct tm_loaded_run *run)
{
    struct tm_inputs inputs = { .run = NULL };
    char *input;
    const struct tm_options options = options_of(l, run, &input);

    tm_inputs_find(&inputs, l->run, &options);
    tm_inputs_free(&inputs);
}

static void try_summary(struct loading *l, const struct tm_loaded_run *run)
{
    struct tm_loaded_run trial = *run;

    trial.doc = tm_doc_new(l->run);
    if (!trial.doc)
        return;
    tm_doc_set_most(trial.doc, most_bytes(l->run));
    read_file(l, &trial);
    tm_doc_free(trial.doc);
}

/* What can be refused quickly is, before the first analysis. */
static void foresee(struct loading *l, const struct tm_summaries *s, size_t profiles)
{
    struct stat info;

    for (size_t i = 0; i < s->count && !tm_failed(l->run); i++) {
        const struct tm_loaded_run *run = &s->run[i];

        if (run->is_summary && profiles)
            try_summary(l, run);
        else if (!run->is_summary && stat(run->path, &info) == 0 && S_ISDIR(info.st_mode))
            choose(l, run);
    }
}

static void load(struct loading *l, struct tm_summaries *s)
{
    char file[TM_PLACE_BYTES];
    size_t profiles = 0;

    for (size_t i = 0; i < s->count; i++) {
        s->run[i].is_summary = find_summary(s->run[i].path, file);
        profiles += !s->run[i].is_summary;
    }
    foresee(l, s, profiles);
    for (size_t i = 0; i < s->count && !tm_failed(l->run); i++)
        if (!s->run[i].is_summary)
            analyze(l, &s->run[i], &l->printed[i]);
    read_all(l, s);
}

tm_status tm_summaries_load(struct tm_summaries *summaries, struct tm_run *run, const struct tm_options *options,
                            const struct tm_run_operand *operand, size_t count, const char *act)
{
    struct loading l = { .run = run, .options = options, .act = act, .spill = { .fd = -1 } };

    *summaries = (struct tm_summaries){ .of = run };
    tm_run_operands_check(run, operand, count);
    if (tm_failed(run))
        return run->error.status;
    summaries->run = tm_take(&run->budget, TM_ACCOUNT_MODEL, count * sizeof(*summaries->run), &run->error);
    if (!summaries->run)
        return run->error.status;
    summaries->count = count;
    l.printed = tm_take(&run->budget, TM_ACCOUNT_MODEL, count * sizeof(*l.printed), &run->error);
    for (size_t i = 0; i < count; i++)
        summaries->run[i].path = operand[i].path;
    if (l.printed)
        load(&l, summaries);
    if (!tm_failed(run))
        tm_label_runs(summaries->run, operand, count);
    tell_counts(&l.sum, run);
    tm_spill_close(&l.spill);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, l.printed, l.printed ? count * sizeof(*l.printed) : 0);
    return run->error.status;
}

void tm_summaries_free(struct tm_summaries *summaries)
{
    if (!summaries->of)
        return;
    for (size_t i = 0; i < summaries->count; i++)
        tm_doc_free(summaries->run[i].doc);
    tm_give(&summaries->of->budget, TM_ACCOUNT_MODEL, summaries->run, summaries->count * sizeof(*summaries->run));
    *summaries = (struct tm_summaries){ .of = NULL };
}

/* Labels of runs that are shown together: the shortest suffix of each path, in whole parts, that no other path has; for
 * long ones, the parts that differ. */

enum { NUMBER_BYTES = 12 /* " #4096" and some room */, LONG_BYTES = 24 /* what charts have room for */ };

struct piece {
    const char *text;
    size_t length;
};

static struct piece without_slashes(struct piece p)
{
    while (p.length > 0 && p.text[p.length - 1] == '/')
        p.length--;
    return p;
}

/* Where the last part starts. */
static size_t last_part(struct piece p)
{
    size_t at = p.length;

    while (at > 0 && p.text[at - 1] != '/')
        at--;
    return at;
}

static bool is_text(struct piece p, const char *text)
{
    return p.length == strlen(text) && memcmp(p.text, text, p.length) == 0;
}

/* The part of a path that identifies its run: without the file name that every summary has, and without endings. */
static struct piece telling_part(const struct tm_loaded_run *run)
{
    static const char file[] = "summary.json";
    struct piece p = without_slashes((struct piece){ run->path, strlen(run->path) });
    struct piece last = { p.text + last_part(p), p.length - last_part(p) };

    if (is_text(last, file))
        p = without_slashes((struct piece){ p.text, p.length - last.length });
    last = (struct piece){ p.text + last_part(p), p.length - last_part(p) };
    if (is_text(last, "") || is_text(last, ".") || is_text(last, "..") || is_text(last, "-")) {
        p.text = tm_text(tm_path(tm_doc_root(run->doc), "input.run"));
        p.length = strlen(p.text);
        last = p;
    }
    p.length -= last.length - tm_plain_name_length(last.text, last.length);
    return p;
}

/* The last `parts` parts of it; all of it if it has fewer. */
static struct piece ending_of(struct piece p, size_t parts)
{
    size_t at = p.length;

    for (; parts > 0 && at > 0; parts--) {
        while (at > 0 && p.text[at - 1] == '/')
            at--;
        while (at > 0 && p.text[at - 1] != '/')
            at--;
    }
    return (struct piece){ p.text + at, p.length - at };
}

static bool is_same(struct piece a, struct piece b)
{
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

/* True if another path has that ending; identical paths cannot be distinguished. */
static bool another_has(const struct tm_loaded_run *run, const struct tm_run_operand *operand, size_t count,
                        struct piece whole, struct piece ending, size_t parts)
{
    for (size_t i = 0; i < count; i++) {
        const struct piece other = telling_part(&run[i]);

        if (!operand[i].label_length && !is_same(other, whole) && is_same(ending_of(other, parts), ending))
            return true;
    }
    return false;
}

static struct piece shortest_ending(const struct tm_loaded_run *run, const struct tm_run_operand *operand, size_t count,
                                    size_t of)
{
    const struct piece whole = telling_part(&run[of]);
    struct piece ending = ending_of(whole, 1);

    for (size_t parts = 1; ending.length < whole.length && another_has(run, operand, count, whole, ending, parts);)
        ending = ending_of(whole, ++parts);
    return ending;
}

/* --- long labels --- */

static bool is_separator(char c)
{
    return strchr("-_/. ", c) != NULL;
}

/* How many bytes all labels start with (or end with), up to and with a separator. */
static size_t shared_bytes(const struct tm_loaded_run *run, size_t count, bool at_end)
{
    const size_t first = strlen(run[0].label);
    size_t shared = 0;

    for (size_t n = 0; n + 1 < first; n++) {
        const char c = run[0].label[at_end ? first - 1 - n : n];

        for (size_t i = 1; i < count; i++) {
            const size_t length = strlen(run[i].label);

            if (n + 1 >= length || run[i].label[at_end ? length - 1 - n : n] != c)
                return shared;
        }
        if (is_separator(c))
            shared = n + 1;
    }
    return shared;
}

/* Where one has no room beside a chart, all lose what they share at their two ends, "bench-h100-train" and
 * "bench-mi300-train" are "h100" and "mi300", unless nothing would be left of one, or a user gave one. */
static void shorten(struct tm_loaded_run *run, size_t count)
{
    const size_t begin = count > 1 ? shared_bytes(run, count, false) : 0;
    const size_t end = count > 1 ? shared_bytes(run, count, true) : 0;
    bool is_long = false;

    for (size_t i = 0; i < count; i++) {
        is_long |= strlen(run[i].label) > LONG_BYTES;
        if (run[i].is_labelled || strlen(run[i].label) <= begin + end)
            return;
    }
    for (size_t i = 0; i < count && is_long; i++) {
        const size_t length = strlen(run[i].label) - begin - end;

        memmove(run[i].label, run[i].label + begin, length);
        run[i].label[length] = '\0';
    }
}

static bool is_taken(const char *label, tm_other_label *other, const void *of, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(other(of, i), label) == 0)
            return true;
    return false;
}

void tm_make_label_distinct(char label[TM_LABEL_BYTES], tm_other_label *other, const void *of, size_t count)
{
    char plain[TM_LABEL_BYTES - NUMBER_BYTES];

    tm_clean_text(plain, sizeof(plain), label, strlen(label));
    for (unsigned number = 2; is_taken(label, other, of, count); number++)
        (void)snprintf(label, TM_LABEL_BYTES, "%s #%u", plain, number);
}

static const char *label_of_run(const void *of, size_t i)
{
    return ((const struct tm_loaded_run *)of)[i].label;
}

void tm_label_runs(struct tm_loaded_run *run, const struct tm_run_operand *operand, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        run[i].is_labelled = operand[i].label_length > 0;
        const struct piece said = run[i].is_labelled ? (struct piece){ operand[i].label, operand[i].label_length }
                                                     : shortest_ending(run, operand, count, i);

        tm_clean_text(run[i].label, sizeof(run[i].label), said.text, said.length);
        if (!run[i].label[0])
            (void)snprintf(run[i].label, sizeof(run[i].label), "run");
    }
    shorten(run, count);
    for (size_t i = 0; i < count; i++)
        tm_make_label_distinct(run[i].label, label_of_run, run, i);
}

/* --- results of a benchmark: the file is not ours, so every name and path in it may be anything --- */

static const double seconds_most = 9e6; /* of 64 bits in picoseconds */

/* The path from a folder, which is empty or ends with a slash.  '-' is a path here, not a stream. */
static bool is_there(char out[PATH_BYTES], const char *folder, size_t length, const char *path)
{
    const char *here = length == 0 && strcmp(path, "-") == 0 ? "./" : "";
    struct stat info;
    const int n = snprintf(out, PATH_BYTES, "%.*s%s%s", (int)length, folder, here, path);

    return n > 0 && n < PATH_BYTES && stat(out, &info) == 0;
}

static bool find_trace(char out[PATH_BYTES], const char *file, const char *path)
{
    const char *slash = strrchr(file, '/');
    const size_t folder = slash && path[0] != '/' ? (size_t)(slash - file) + 1 : 0;

    return (folder > 0 && folder < PATH_BYTES && is_there(out, file, folder, path)) || is_there(out, "", 0, path);
}

int64_t tm_result_ps(const struct tm_result *result, enum tm_time_unit unit)
{
    static const double ps[] = { 1e12, 1e12, 1e9, 1e6, 1e3 };
    const double time_ps = result->measured * ps[unit];

    return time_ps > 0 && time_ps < seconds_most * 1e12 ? llround(time_ps) : -1;
}

static double measured(const struct tm_value *method)
{
    const struct tm_value *time = tm_get(method, "execution_time");
    const struct tm_value *mean = tm_type_of(time) == TM_OBJECT ? tm_get(time, "mean") : time;

    return tm_double(mean);
}

static void add_result(struct tm_results *results, const char *label, const struct tm_value *method, const char *file)
{
    const double time = measured(method);
    struct tm_value *path = NULL;
    const char *const named = tm_text(tm_get(method, "tensorboard_trace"));
    char found[PATH_BYTES];

    if (!named[0])
        return;
    if (!find_trace(found, file, named)) {
        (void)tm_fail(&results->run->error, TM_ERR_USAGE, -1, "cannot find the trace '%s' of '%s' in '%s'", named,
                      label, file);
        tm_hint(&results->run->error, "its path is resolved relative to the folder of that file, then to the working "
                                      "folder");
        return;
    }
    path = tm_add_array(tm_doc_root(results->doc), label); /* instead of the method, which was read */
    tm_add_string(path, NULL, found);
    results->result[results->count++] = (struct tm_result){
        .operand = { .path = tm_text(tm_at(path, 0)), .label = label, .label_length = strlen(label) },
        .measured = time,
    };
}

tm_status tm_results_read(struct tm_results *results, struct tm_run *run, const char *path)
{
    const struct tm_value *root;

    *results = (struct tm_results){ .run = run, .doc = tm_doc_new(run) };
    if (!results->doc || tm_doc_read_file(results->doc, tm_doc_root(results->doc), path))
        return run->error.status;
    root = tm_doc_root(results->doc);
    if (tm_length(root) > TM_RUNS_MOST)
        return tm_fail(&run->error, TM_ERR_LIMIT, -1, "cannot use '%s': it has more than %d results", path,
                       TM_RUNS_MOST);
    results->room = tm_length(root);
    results->result =
        tm_take(&run->budget, TM_ACCOUNT_MODEL, (results->room + 1) * sizeof(*results->result), &run->error);
    if (!results->result)
        return run->error.status;
    for (size_t i = 0; i < results->room && !tm_failed(run); i++)
        add_result(results, tm_key_at(root, i), tm_value_at(root, i), path);
    if (!results->count) {
        (void)tm_fail(&run->error, TM_ERR_INPUT, -1, "cannot use '%s': it contains no trace path", path);
        tm_hint(&run->error, "the expected format is {\"NAME\": {\"execution_time\": 1.5, \"tensorboard_trace\": "
                             "\"PATH\"}}");
    }
    return run->error.status;
}

void tm_results_free(struct tm_results *results)
{
    if (!results->run)
        return;
    tm_give(&results->run->budget, TM_ACCOUNT_MODEL, results->result,
            results->result ? (results->room + 1) * sizeof(*results->result) : 0);
    tm_doc_free(results->doc);
    *results = (struct tm_results){ .run = NULL };
}
