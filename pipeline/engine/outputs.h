/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_OUTPUTS_H
#define TM_OUTPUTS_H

#include "pipeline/doc/doc.h"
#include "pipeline/options.h"
#include "pipeline/redact.h"
#include "pipeline/run.h"
#include "stages/output/export/exporter.h"

/* Summaries of runs: an operand that is a summary.json, or the folder of a report with one in it, is read; any other is
 * analyzed like an INPUT of `report`, one after the other, with separate tallies.  During an analysis, earlier
 * summaries wait in a spill file.  Finally all are read into memory, where they may take most of --memory. */

enum { TM_LABEL_BYTES = 256, TM_PLACE_BYTES = 4096 };

/* A run as the user names it. */
struct tm_run_operand {
    const char *path;
    const char *label;   /* label_length bytes, whatever they are */
    size_t label_length; /* 0 = none was given */
};

/* "LABEL=PATH", or a path: if a file has that complete name, or '/' is before the '='.
 * owns: *operand refers to the text */
void tm_run_operand_read(struct tm_run_operand *operand, const char *text);

struct tm_loaded_run {
    struct tm_doc *doc;         /* its summary */
    const char *path;           /* as given, without the label */
    char label[TM_LABEL_BYTES]; /* valid UTF-8 without control characters, not empty; distinct among
                                   the runs of one call: as the user says, else the shortest end of
                                   the path, or the name of the run, that is different from the
                                   others */
    bool is_labelled;           /* by the user */
    bool is_summary;            /* read, not analyzed */
    bool is_partial;
};

struct tm_summaries {
    struct tm_loaded_run *run; /* in the order of the operands */
    size_t count;
    struct tm_run *of; /* private */
};

enum { TM_RUNS_MOST = 4096 };

/* The file of a document of this program: the operand itself, or the file `name` in that folder.
 * in:     schema  prefix of its schema: "tracemill.night"; "tracemill." = any
 * out:    false: there is no such document */
bool tm_document_find(const char *path, const char *name, const char *schema, char file[TM_PLACE_BYTES]);

/* Read a document that tm_document_find has found and that is not a summary: a comparison, a study, a check, a night.
 * in:     act  the purpose, for messages: "brief"
 * out:    doc  must be empty; gets as much of it as fits in the memory of one document
 * errors: TM_ERR_INPUT  it cannot be read, has another schema version, or with --strict is partial; TM_ERR_USAGE
 *         --redact, but it contains names; TM_ERR_LIMIT */
tm_status tm_document_read(struct tm_run *run, struct tm_doc *doc, const struct tm_options *options, const char *file,
                           const char *act);

/* Check before any work that every operand exists and that stdin is given only once.  Nothing is
 * analyzed. errors: TM_ERR_INPUT, TM_ERR_USAGE; TM_ERR_LIMIT past TM_RUNS_MOST */
tm_status tm_run_operands_check(struct tm_run *run, const struct tm_run_operand *operand, size_t count);

/* in:     act  what they are for, for messages: "compare"
 * out:    run->tallies  the sum over all that were analyzed
 * owns:   the caller; tm_summaries_free, also after a failure
 * errors: as in tm_analyze and tm_doc_read_file; a summary of another schema version: TM_ERR_INPUT;
 * with --strict: any loss; TM_ERR_LIMIT if they do not fit into memory together */
tm_status tm_summaries_load(struct tm_summaries *summaries, struct tm_run *run, const struct tm_options *options,
                            const struct tm_run_operand *operand, size_t count, const char *act);
void tm_summaries_free(struct tm_summaries *summaries); /* tolerates a zeroed one */

/* Read a single summary.json.
 * out:    doc  must be empty; gets as much of it as tm_doc_set_most allows
 * errors: TM_ERR_INPUT  it cannot be read, is another document, or has another schema version; TM_ERR_LIMIT */
tm_status tm_summary_read(struct tm_run *run, struct tm_doc *doc, const char *file);

/* Verbs that read several runs cannot make pseudonyms.
 * errors: TM_ERR_USAGE if the settings ask for --redact */
tm_status tm_refuse_redaction(struct tm_run *run, const struct tm_options *options, const char *act);

/* What the verbs that write files share. */

/* Check early that a folder can be written, before doing work that would be lost. Nothing is
 * created yet: the nearest part of the path that exists is examined. errors: TM_ERR_OUTPUT */
tm_status tm_check_folder(struct tm_run *run, const char *path);

/* A file to write: its folder and its name. */
struct tm_file_place {
    char folder[TM_PLACE_BYTES]; /* "." if the path has none */
    const char *name;            /* a view into the path */
    bool has_folder;             /* the path has one */
};

/* Split the path of a file that is to be written, and check early that it can be written.
 * errors: TM_ERR_OUTPUT  too long, a folder, a device, a pipe, or as in tm_check_folder */
tm_status tm_find_place(struct tm_run *run, const char *path, struct tm_file_place *place);

/* The length of a name without the endings of traces, archives and reports. */
size_t tm_plain_name_length(const char *name, size_t length);

/* A name of `length` bytes and an ending as one plain part of a path: invalid characters become '_'. */
void tm_place_name(char out[TM_PLACE_BYTES], const char *name, size_t length, const char *ending);

/* NAME and an ending, one plain part of a path.  NAME is that of the file if there is only one, else that of the run;
 * with --redact its pseudonym, for which the key must exist.
 * in:     run_name  as it is to be shown
 *         is_trace  also remove JSON endings */
tm_status tm_default_name(char out[TM_PLACE_BYTES], struct tm_run *run, const struct tm_options *options,
                          const char *run_name, const char *ending, bool is_trace);

/* Files that options name, each in its own place: a gate file, JUnit, Markdown, metrics. */
typedef tm_status tm_write_side_file(const void *of, FILE *to);

struct tm_side_file {
    const char *path; /* NULL = not wanted */
    const char *what; /* "the file of --junit": for the guard */
    tm_write_side_file *write;
};

/* Check before any work that they can be written and replace nothing.  errors: as in tm_find_place and
 * tm_guard_output */
tm_status tm_side_files_check(struct tm_run *run, const struct tm_side_file *files, size_t count);

/* Write them: all are written before the first gets its name.
 * in:     of  given to each `write`
 * errors: those of `write`; TM_ERR_OUTPUT */
tm_status tm_side_files_write(struct tm_run *run, const struct tm_side_file *files, size_t count, const void *of);

/* The results of an external benchmark:
 *     {"NAME": {"execution_time": TIME or {"mean": TIME, ...}, "tensorboard_trace": PATH, ...}, ...}
 * Each trace that is named is a run, labelled by its NAME.  A PATH is taken from the folder of the file, and if nothing
 * is there, from the working folder.  Members of other kinds are ignored. */
struct tm_result {
    struct tm_run_operand operand;
    double measured; /* in the unit of the file; 0 = none */
};

/* Its time; -1 = none, or an invalid one. */
int64_t tm_result_ps(const struct tm_result *result, enum tm_time_unit unit);

struct tm_results {
    struct tm_result *result; /* in the order of the file */
    size_t count;
    struct tm_run *run; /* private, as what follows */
    struct tm_doc *doc;
    size_t room;
};

/* owns:   the caller; tm_results_free, also after a failure; the operands live as long
 * errors: TM_ERR_INPUT  it cannot be read, or names no trace; TM_ERR_USAGE  a trace that is named does not exist */
tm_status tm_results_read(struct tm_results *results, struct tm_run *run, const char *path);
void tm_results_free(struct tm_results *results); /* tolerates a zeroed one */

/* Reported data of a trace file: one of `convert`, or a part of `split`. */

enum { TM_WRITTEN_NAME_BYTES = 256 };

struct tm_written {
    char name[TM_WRITTEN_NAME_BYTES]; /* in its folder */
    struct tm_export_counts counts;
    uint64_t arguments;              /* of its slices, at the top level */
    uint64_t raw_bytes, bytes;       /* before compression; on disk */
    uint64_t first_step, step_count; /* of its host, that overlap it; 0 = none, or it has several hosts */
    char host[128];                  /* "" = all of them */
    char device[192];                /* "gpu:0"; "host" = what is on no device; "" = everything */
};

/* Its members: file, bytes, ..., as schemas/split.schema.json has them. */
void tm_written_add(const struct tm_written *written, struct tm_value *to);

/* One line for people: of a file; of the page that lists the parts. */
void tm_written_print(const struct tm_written *written, const char *folder, FILE *to);
void tm_written_print_page(const char *folder, const char *name, uint64_t parts, FILE *to);

struct tm_conversion;
struct tm_partial_writer;
struct tm_document;

/* A document to write: a report, a comparison, a scaling study.  Its "schema" determines its kind
 * (reports/content/content.h), and the kind determines the file names. */
struct tm_document_result {
    struct tm_doc *doc;
    struct tm_partial_writer *partial; /* of a report; NULL = not wanted */
    struct tm_conversion *conversion;  /* of a report; NULL = the trace is not wanted */
    enum tm_paper paper;
};

/* Write each format into the folder, which is created if necessary; older files of the same names are replaced after
 * all are written.  With a redactor, the map of names is also written, before any file gets its name. in: options
 * formats, and the path of the map */
tm_status tm_document_write(struct tm_run *run, const struct tm_document_result *result, const char *folder,
                            const struct tm_options *options);

/* Files that are written side by side: the task for each, by its number. */
struct tm_output_files {
    /* in: run  of its process; to  the file there, NULL in this process */
    void (*write)(void *of, struct tm_run *run, size_t index, FILE *to);
    int (*descriptor)(void *of, size_t index); /* of the file, which is open and empty */
    bool (*takes_long)(void *of, size_t index);
    void (*has_written)(void *of, size_t index); /* a process did */
};

/* Write files in separate processes, as far as cores and memory are free; the caller writes the others.
 * errors: those of the first file that failed, in their order; TM_ERR_LIMIT  a process was killed */
void tm_outputs_side_by_side(struct tm_run *run, const struct tm_output_files *files, void *of, size_t count);

/* The name of the index-th file of a document that these formats, bits of enum tm_format, make: a
 * view into `name`; NULL = there are fewer. */
enum { TM_DOCUMENT_FILE_BYTES = 64 };

const char *tm_document_file(char name[TM_DOCUMENT_FILE_BYTES], const struct tm_value *root, uint32_t formats,
                             size_t index);

/* The outputs that verbs report to the guard (pipeline/files.h) before they start to work. */

/* The files of a document in a folder.  in: formats  bits of enum tm_format */
tm_status tm_guard_document(struct tm_run *run, const char *folder, const struct tm_document *document,
                            uint32_t formats);

/* How the verbs that write a document end. */

/* Write it into the folder, then say what is in it: with --json the document on stdout; on a
 * terminal the verdict, the first findings and the names of the files. */
tm_status tm_document_deliver(struct tm_run *run, const struct tm_document_result *result, const char *folder,
                              const struct tm_options *options);

/* A document on stdout as JSON.  A closed pipe is not a failure. */
tm_status tm_print_document(struct tm_run *run, const struct tm_doc *doc);

/* Columns of a line on stdout: of the terminal, or as wide as a string report where it is piped or redirected. */
int tm_columns_of_line(void);

/* Finish the output: flush the buffer.  A reader that closed the pipe is not a failure.
 * in:     st  the status of printing
 * errors: that; TM_ERR_OUTPUT */
tm_status tm_finish_stdout(struct tm_run *run, tm_status st);

/* A string of an input as words for a terminal, cut if it is long. */
void tm_print_clean(FILE *to, const char *text);

/* A line on stderr for a gate that failed or could not be assessed (a row of "gates", schemas/CHECK.md); others:
 * nothing.
 * in: label  of the run */
void tm_print_gate(const struct tm_value *gate, const char *label);

/* In a job of GitHub Actions: the document as Markdown at the end of the job's summary ($GITHUB_STEP_SUMMARY);
 * elsewhere, and where it cannot be written, nothing. */
void tm_actions_add_summary(struct tm_run *run, const struct tm_doc *doc);
/* Likewise: an annotation for a gate that failed (error) or could not be assessed (warning), on stderr, which GitHub
 * also scans for them. */
void tm_actions_annotate_gate(const struct tm_value *gate, const char *label);
bool tm_gate_is_noteworthy(const struct tm_value *gate); /* it failed, or could not be assessed */

/* One line on stderr: which files of a summary are damaged, and how far the figures reach.
 * in: what  depends on the summary, with its verb: "report is" */
void tm_print_partial(const struct tm_value *summary, const char *what);

/* One warning for each failed check of a summary or an inspection, on stderr. */
void tm_print_failed_checks(const struct tm_value *root);

/* --redact of a verb: pseudonyms in all that it writes, and the map that says what they represent.
 * The map is a string: "tracemill names 1", "key " and 32 hexadecimal digits, then a line for each word, in the order
 * of the pseudonyms: the pseudonym, a tab, the word. */

/* Start: run->redactor exists from now on.  A map that already exists gives its key, and its words stay in it.
 * errors: TM_ERR_USAGE  a file that is not a map */
tm_status tm_redaction_begin(struct tm_run *run, const struct tm_options *options);
void tm_redaction_end(struct tm_run *run);

/* Memory for the names of a run: beside a redactor, which needs words and buffers, five eighths of it. */
static inline size_t tm_redaction_names_bytes(const struct tm_run *run)
{
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_NAMES);

    return run->redactor ? share / 8 * 5 : share;
}

/* Write the map, before its output gets its name: --redact-map, else OUTPUT.names.
 * in:     output  the file or the folder that is written; a folder exists
 * errors: TM_ERR_USAGE  it would be in the output, which is for sharing; TM_ERR_OUTPUT */
tm_status tm_redaction_save(struct tm_run *run, const struct tm_options *options, const char *output);

/* Replace the names in a summary that has recorded data only, nothing derived from it: key figures, findings, and the
 * verdict come later and then use pseudonyms.  Removes the fingerprints of files, from which the key is made.  Creates
 * the key if there is none. */
tm_status tm_redact_summary(struct tm_redactor *redactor, struct tm_doc *summary);

/* Give each run its label.
 * in: operand  of each run, in their order; the runs have path and doc */
void tm_label_runs(struct tm_loaded_run *run, const struct tm_run_operand *operand, size_t count);

/* Add a number to a label that another run has: "a #2".
 * in: other  the i-th of those that have theirs */
typedef const char *tm_other_label(const void *of, size_t i);

void tm_make_label_distinct(char label[TM_LABEL_BYTES], tm_other_label *other, const void *of, size_t count);

#endif
