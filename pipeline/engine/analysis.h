/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ANALYSIS_H
#define TM_ANALYSIS_H

#include "pipeline/clock.h"
#include "pipeline/discover.h"
#include "pipeline/doc/doc.h"
#include "pipeline/options.h"
#include "pipeline/partial.h"
#include "pipeline/redact.h"
#include "pipeline/run.h"
#include "pipeline/stage.h"
#include "pipeline/trace.h"
#include "stages/figures/device_profiles.h"
#include "stages/input/bytes/input_file.h"
#include "stages/output/trace_writer.h"
#include "stages/survey/survey.h"

/* Reported properties of a file that was read: in the summary, by `inspect`, and in the partial of a run. */

enum { TM_PROBLEMS_MOST = 4, TM_CONTENT_HASH_BYTES = 20 };

struct tm_file_facts {
    char host[128]; /* "" = without a host */
    char path[16384];
    char format[16]; /* "xspace", "chrome_json", "perfetto", "pprof" */
    char xxh3[TM_CONTENT_HASH_BYTES];
    char wrapping[8]; /* "none", "gzip", "zstd" */
    char problems[TM_PROBLEMS_MOST][2048];
    char notes[1][512];
    uint32_t problem_count, note_count;
    uint64_t bytes, inflated_bytes, events;
    int64_t origin_us;
    int64_t clock_ns;                      /* the reading of its host's clock at time 0; 0 = not recorded, or no host */
    int64_t first_ps;                      /* its first event, after time 0 */
    bool is_gzip, is_archived, is_partial; /* is_archived: a member of an archive; is_partial: truncated or damaged */
};

/* Which of them are reported where. */
enum tm_facts_place { TM_FACTS_SUMMARY = 1, TM_FACTS_INSPECT = 2 };

/* The fingerprint of a file as text.  in: input  read completely */
void tm_file_facts_fingerprint(const struct tm_input *input, char text[TM_CONTENT_HASH_BYTES]);

/* A file that was read.
 * in:     input  read completely
 *         trace  NULL = it has none, and no host */
void tm_file_facts_take(struct tm_file_facts *facts, const struct tm_input *input, const struct tm_found_file *found,
                        const struct tm_trace *trace, uint64_t events);

/* Add them as an element of a list. */
void tm_file_facts_add(const struct tm_file_facts *facts, enum tm_facts_place place, struct tm_value *list);

/* Inside a section of a partial that is open.
 * in: file  an element of the list of the summary;  host  as its file is called; NULL = without a host */
void tm_file_facts_save(struct tm_partial_writer *w, const struct tm_value *file, const char *host);
tm_status tm_file_facts_load(struct tm_partial_reader *r, struct tm_file_facts *facts);

/* What a trace file says about itself: the run, the tool, the hosts' environments.  A table of a fixed size, in the
 * account `model`: what does not fit is left out. */
struct tm_trace_facts {
    struct tm_out_fact *list; /* `count` of them */
    size_t count;
    struct tm_trace_fact_text *texts;
};

/* owns: tm_trace_facts_free releases it, also after a failure */
tm_status tm_trace_facts_make(struct tm_trace_facts *facts, struct tm_run *run);
void tm_trace_facts_free(struct tm_trace_facts *facts, struct tm_run *run); /* tolerates zeroed memory */

/* Facts of the run. */
void tm_trace_facts_add_run(struct tm_trace_facts *facts, enum tm_args_level args, const char *run_name);

/* Facts of a host; of the first few hosts only.
 * in: path      of the file that it was read from
 *     is_only   else its name is before the keys */
void tm_trace_facts_add_host(struct tm_trace_facts *facts, const struct tm_trace *trace, const char *path,
                             bool is_only);

/* How the clocks of several hosts were put on one; after the pseudonyms, which the summary has too.
 * in: summary  NULL = nothing was analyzed */
void tm_trace_facts_add_clocks(struct tm_trace_facts *facts, const struct tm_value *summary, uint32_t hosts);

/* Those of one host, without its name before the keys. */
void tm_trace_facts_add_clock_of(struct tm_trace_facts *facts, const struct tm_trace_facts *from, const char *host);

/* Pseudonyms for their names, and for hosts in front of keys; once, when all have been added. */
void tm_trace_facts_redact(struct tm_trace_facts *facts, struct tm_redactor *redactor);

/* Read a device memory profile, from its bytes to the tables.
 * out:    facts  of the file
 * errors: as in tm_input_open and tm_pprof_read */
tm_status tm_memory_file_read(struct tm_run *run, struct tm_names *names, const struct tm_found_file *found,
                              struct tm_device_profiles *profiles, struct tm_file_facts *facts);

/* The clocks of the hosts of a run, put on one.  docs/convert.md, "Files" */
struct tm_host_clock {
    int64_t base_ns;  /* the reading of its clock at its time 0; 0 = not recorded */
    int64_t first_ps; /* its first event, after that */
    struct tm_clock to_output;
    bool is_noted, is_written;
};

/* The clock of a host. in: trace  surveyed */
void tm_host_clock_note(struct tm_host_clock *clock, const struct tm_trace *trace);

/* One clock for all of them: fill to_output.
 * in:     clocks   noted
 *         summary  has the clocks that the collectives show; NULL, or without them: by what is recorded
 * out:    the reading of that clock at time 0 */
int64_t tm_host_clocks_place(struct tm_host_clock *clocks, uint32_t count, const struct tm_value *summary);
/* The first event of all of them, on the output's clock. in: clocks  placed */
int64_t tm_host_clocks_first(const struct tm_host_clock *clocks, uint32_t count);

enum tm_input_part_kind { TM_PART_TRACE, TM_PART_PARTIAL, TM_PART_MEMORY };

/* The hosts of a file: a trace has one, a partial any number, a device memory profile none. */
struct tm_input_part {
    enum tm_input_part_kind kind;
    uint32_t first_host, host_count; /* in tm_inputs.hosts */
    uint64_t sum;                    /* of a partial's content */
    uint32_t file_count;             /* files that it represents: 1, of a partial those that it was made of */
};

/* The files of one run, found after the operands of a verb. */
struct tm_inputs {
    struct tm_run *run;
    struct tm_found *found; /* one per operand */
    size_t found_count;
    struct tm_found_file **files; /* of the chosen runs */
    struct tm_input_part *parts;  /* of each file */
    size_t file_count;
    struct tm_found_file **hosts; /* of all files, in their order; their names are distinct; may be none */
    char **plain_hosts;           /* their names before they were made distinct */
    uint32_t host_count;
    const char *run_name;
    /* private */
    struct tm_found_file *loaded; /* hosts of partials */
    uint32_t loaded_count, loaded_most;
    char partial_run_name[4096];
    struct tm_input *standard_input; /* where it was examined */
};

/* Reads `count` files of a run from `file` on, traces or partials, and writes their partial; in its own process.
 * Failures: run->error. */
typedef void tm_host_partial_write(struct tm_run *run, const struct tm_options *options, const struct tm_inputs *inputs,
                                   size_t file, size_t count, FILE *to);

/* What a process has read: a file of the run, and those after it. */
struct tm_host_partial {
    struct tm_spill partial;
    size_t files; /* 0 = none starts with this file: it is to be read */
};

/* Partials of the hosts of a run, made by processes side by side (--jobs): as many as there are cores and memory for.
 * A process reads adjacent hosts one after the other, and its partial has all of them, so saving and merging cost
 * little.  If there are no more shares than processes, this process takes the first one itself, without a partial. */
struct tm_host_partials {
    struct tm_run *run;
    const struct tm_options *options;
    const struct tm_inputs *inputs;
    tm_host_partial_write *write;
    struct tm_host_partial *files;     /* by file of the run */
    size_t count, until;               /* until: those before it were made, are being made, or will not be */
    struct tm_host_processes *at_work; /* NULL = none */
};

/* Start with the first ones, before anything depends on the limit of memory, a part of which the processes use.
 * errors: of the ledger, and as below */
void tm_host_partials_init(struct tm_host_partials *partials, struct tm_run *run, const struct tm_options *options,
                           const struct tm_inputs *inputs, tm_host_partial_write *write);
/* The partial that starts with a file: made, or waited for if it is in the making.  Not all are made at once if too many
 * files would be open.
 * in:     partials  after tm_host_partials_init
 * out:    NULL: none does, and the file is to be read; or see the run's error
 * errors: of the first host that has one; TM_ERR_LIMIT  its process was killed */
struct tm_host_partial *tm_host_partials_at(struct tm_host_partials *partials, size_t file);
void tm_host_partials_free(struct tm_host_partials *partials); /* tolerates a zeroed one */

/* Stages in a process of their own: one host on two cores.
 *
 * The merge of a host's lines and the events that are made of it are one stream, but what the stages do with it are parts
 * without anything in common, of about the same length.  So after the survey, where all tables are complete, a process is
 * forked that has them as well, without records.  It gets the batches of events through shared memory (pipeline/ring.h),
 * runs the stages that take longest, and writes their sections of a partial, which this process loads as those of any
 * other partial.
 *
 *     survey ─► fork ─► merge ─► batches ─┬─► kernels, host, ops ... ─► end of the host ─► load ─► report
 *                 │                       └ring┐                                             │
 *                 └─ without records ──────────┴─► device time, fusion ─► end ─► partial ────┘
 *
 * A section is the same in both, so the result is.  Memory: shares belong to one structure each, which only one
 * of the processes uses; the pool is split between them, without a part for pages that both of them change. */
struct tm_stage_process;

/* Of a host: for fewer, a process, its partial, and copies of pages that both change, about 5 ms, cost more. */
enum { TM_STAGE_PROCESS_EVENTS = 100000 };

struct tm_stage_work {
    struct tm_run *run;
    struct tm_stage *stages; /* opened */
    size_t stage_count;
    struct tm_feed *feed; /* which has started the host */
    struct tm_names *names;
    tm_partial_host *host_name;   /* for the partial */
    const void *of;               /* of host_name */
    uint32_t host;                /* its number in the run */
    struct tm_host_run *host_run; /* whose records only the merge needs */
};

/* Start it where there is a core and memory for it.
 * in:     work  copied
 * out:    NULL: all is done here; or see the run's error
 * owns:   the caller; tm_stage_process_end */
struct tm_stage_process *tm_stage_process_start(const struct tm_stage_work *work);
/* After tm_feed_end_host: wait for it, and load what it has found.
 * errors: of its stages; TM_ERR_LIMIT  it was killed */
void tm_stage_process_end(struct tm_stage_process *process);

/* A file of the run that is reported but not read. */
struct tm_missing_input {
    const char *path;
    uint64_t bytes;
    const char *problem;
};

/* Data that a batch has about its inputs besides their paths (tm_options.choice). */
struct tm_input_choice {
    const char *path, *member; /* the only file of the operand to be read, as tm_found_file; NULL = all */
    const char *run_name;      /* the name of the run; NULL = as found */
    const struct tm_missing_input *missing;
    size_t missing_count;
};

/* Find the runs of one operand: a file, a folder, or an archive of folders, detected by its content.
 * owns:   the caller; tm_found_free releases it, also after a failure
 * errors: as in tm_discover, tm_discover_members, tm_archive_is and tm_archive_list */
tm_status tm_find_operand(struct tm_run *run, const char *input, struct tm_found *found);

/* What was excluded from the search is reported, which explains missing runs. */
void tm_warn_left_out(const struct tm_found *found);
/* The part of it that also applies to the search of a batch. */
void tm_warn_skipped(const struct tm_left_out *skipped);
/* For verbs that do not continue: reading reports this for each file. */
void tm_warn_damaged(const struct tm_found *found);
/* For verbs that list: files whose content was examined, and is not a trace. */
void tm_note_not_traces(const struct tm_left_out *skipped);

/* As members of a document. */
struct tm_value;

void tm_add_skipped(struct tm_value *to, const struct tm_left_out *skipped);

/* Every operand is the run, one of its hosts, a partial of some of its hosts, or a folder or archive from which
 * options->run_name and latest select a run.
 * owns:   the caller; tm_inputs_free releases it, also after a failure
 * errors: as in tm_find_operand and tm_choose_run; TM_ERR_LIMIT beyond TM_INPUT_FILES_MOST files; of a partial:
 *         damaged, or made with other options */
tm_status tm_inputs_find(struct tm_inputs *inputs, struct tm_run *run, const struct tm_options *options);
void tm_inputs_free(struct tm_inputs *inputs); /* tolerates a zeroed one */

/* The content of a partial besides the stages: its options, its files, and what was read. */

enum { TM_WARNINGS_MOST = 100, TM_WARNING_BYTES = 512 };

/* Messages of the profilers about themselves; the first ones of the run. */
struct tm_warnings {
    char text[TM_WARNINGS_MOST][TM_WARNING_BYTES];
    uint32_t count;
};

/* Section "settings": the version, the choices that change what is counted, the name of the run.
 * in:     path  for messages
 * errors: TM_ERR_USAGE if other choices were made, with the first one that differs; TM_ERR_INPUT */
void tm_partial_save_settings(struct tm_partial_writer *w, const struct tm_options *options, const char *run_name);
void tm_partial_load_settings(struct tm_partial_reader *r, struct tm_run *run, const char *path,
                              const struct tm_options *options, char *run_name, size_t run_name_bytes);

/* Section "files".  in: files as the summary has them; hosts: names of those that are of a host, in their order
 * out: of loading  tm_partial_load_file has to be called this many times, then tm_partial_leave */
void tm_partial_save_files(struct tm_partial_writer *w, const struct tm_value *files, char *const *hosts);
uint32_t tm_partial_load_file_count(struct tm_partial_reader *r);
void tm_partial_load_file(struct tm_partial_reader *r, struct tm_file_facts *file);

/* Section "coverage": events, tallies, warnings; added to what the run has. */
void tm_partial_save_coverage(struct tm_partial_writer *w, const struct tm_run *run,
                              const struct tm_warnings *warnings);
void tm_partial_load_coverage(struct tm_partial_reader *r, struct tm_run *run, struct tm_warnings *warnings);

/* One host's file on its way from bytes to ordered events: opened, scanned, surveyed. */
struct tm_host_run {
    struct tm_run *run;
    struct tm_input *input; /* `own`, or one that was opened before */
    struct tm_input own;
    struct tm_trace trace;
    struct tm_source *source;
    struct tm_survey_stats *census; /* NULL = none */
    struct tm_resolver resolver;
    uint64_t events; /* read from this file */
};

/* Receives the profiler's own messages. */
typedef void tm_take_warning(void *to, const char *text, size_t length);

struct tm_host_options {
    struct tm_chosen_steps steps;
    bool keeps_arguments; /* records include their arguments */
    bool keeps_records;   /* its events will be requested: reading them again should be cheap */
    bool counts;          /* for tm_host_counts */
    bool reads_ahead;     /* of an XSpace: no other process of this run has the second core */
    bool walks_lines;     /* for tests: the scan of an XSpace reads all of each line, as for unusual ones */
    bool only_scans;      /* its tables and programs; nothing of its events */
    bool has_inert_flows; /* only figures are computed, and no figure depends on a flow's time, key or flags */
    bool drops_flows;     /* with has_inert_flows: records of flows are not requested */
    tm_take_warning *warn;
    void *to; /* of warn */
};

/* The steps that the options choose. */
struct tm_chosen_steps tm_host_steps(const struct tm_options *options);

/* Open, scan and survey a file, or a member of an archive.
 * in:     names   of the whole run: strings outlive the host
 * owns:   the caller; tm_host_close releases it, also after a failure
 * errors: of the input: unreadable, of a kind that this version does not read; limits; spill files */
tm_status tm_host_open(struct tm_host_run *host, struct tm_run *run, struct tm_names *names,
                       const struct tm_found_file *found, uint32_t number, const struct tm_host_options *options);
void tm_host_close(struct tm_host_run *host);
/* No more of its events are requested: frees their records, and what they are resolved with. */
void tm_host_free_records(struct tm_host_run *host);

/* Give all its events, in order and resolved, to `take`; as often as wanted. */
typedef tm_status tm_take_event(void *to, const struct tm_event *event);

tm_status tm_host_events(struct tm_host_run *host, tm_take_event *take, void *to);
/* The same, with or without their own arguments, even if these are kept; and for one who looks up something for each
 * event: most events that will be given are passed before, a few at a time, so that it can be fetched meanwhile.
 * in:     expect  NULL: nothing is */
typedef void tm_expect_events(void *to, const struct tm_event *events, uint32_t count);

tm_status tm_host_written_events(struct tm_host_run *host, bool gives_own, tm_expect_events *expect,
                                 tm_take_event *take, void *to);
/* The same in parts: tm_order_in_parts.
 * in:     is_later  whether an event belongs to a later part; track: NULL = of a track that is not in order; step: of
 *                   work of a device, TM_NONE = of none that is known
 *         end_part  what comes from now on does
 *         is_bare   without their own arguments */
struct tm_events_in_parts {
    tm_take_event *take;
    bool (*is_later)(void *to, const struct tm_track *track, int64_t start_ps, uint32_t step);
    tm_status (*end_part)(void *to);
    void *to;
    bool is_bare;
};

tm_status tm_host_events_in_parts(struct tm_host_run *host, const struct tm_events_in_parts *parts);
/* The same device by device, in the order of tm_order_by_device: for figures. */
tm_status tm_host_events_by_device(struct tm_host_run *host, tm_take_event *take, void *to);
/* Report the number of events of each kind, once; if options.counts is set. */
tm_status tm_host_counts(struct tm_host_run *host, tm_take_site *take, void *to);

/* Observes the reading of files; it does not see hosts that come as partials. */
struct tm_observer {
    const struct tm_observer_type *type;
    void *to;
    struct tm_names *names;   /* of the run, made by the caller, so that strings outlive the analysis */
    struct tm_inputs *inputs; /* found by the caller; NULL = find them */
    /* Where the only host stays open after it was read, with its arguments where keeps_arguments: the caller closes it.
     * NULL = every host is closed */
    struct tm_host_run *kept;
    bool keeps_arguments;
    bool findings_only; /* as in struct tm_settings */
};

/* Read the inputs once and fill the entire summary, including key figures, verdict, and findings.
 *
 * in:     options   inputs, input_count, and their selection: run_name, latest, steps, skip_steps, window; gap_min_ps,
 *         rows, thresholds
 *         observer  may be NULL
 * out:    summary   as defined by schemas/SUMMARY.md; input.partial says whether an input was truncated or damaged; the
 *         result is then still TM_OK
 *         partial   NULL = not wanted; else the complete content of the run's partial, for tm_partial_write
 * owns:   the caller owns *partial, which tm_partial_writer_free releases; NULL after a failure
 * errors: TM_ERR_INPUT if nothing could be read, TM_ERR_USAGE for thresholds, TM_ERR_OUTPUT for spill files,
 *         TM_ERR_LIMIT */
tm_status tm_analyze(struct tm_run *run, const struct tm_options *options, struct tm_doc *summary,
                     struct tm_partial_writer **partial, const struct tm_observer *observer);

/* The stages at the end of the pipeline, in the order in which they take events and report.  A new diagnostic is a
 * file in stages/figures/ and a row here. */
extern const struct tm_stage_type *const tm_registry[];
extern const size_t tm_registry_count;

/* --strict: an incomplete input gives no output.
 * in:     act  "report"
 * errors: TM_ERR_INPUT */
tm_status tm_check_strict(struct tm_run *run, bool is_partial, const char *act);

#endif
