/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of verbs. */
#include "pipeline/commands/commands.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/strings.h"

/* clang-format off */
const struct tm_verb tm_verb_table[] = {
    {
        .name = "report",
        .summary = "diagnose a run: what slows it down, as HTML, PDF, text and JSON",
        .usage = "INPUT... [-o DIR] [OPTION...]",
        .description =
            "Reads the profile of a run in bounded memory and writes report.html,"
            " report.pdf, report.txt and summary.json into a folder. Older files of these names"
            " are replaced, each as a whole. --format also gives report.md for pull requests (markdown), the"
            " folder csv with every table in full (csv), scopes.collapsed for flame graph tools (collapsed),"
            " run.partial (partial) and trace.pftrace (perfetto).\n"
            "INPUT is a trace file (*.xplane.pb, *.trace.json, *.prof; plain, gzip or zstd), the folder of a run, a log"
            " directory that holds runs at any depth, or a .tar, .tar.gz, .tar.zst or .zip of one,"
            " which is read as it is; with several runs, --latest or --run NAME chooses one."
            " Several INPUTs are the hosts of one run. File types are detected by content, not by name.",
        .examples =
            "tracemill report logdir --latest -o report       the newest run of a log directory\n"
            "tracemill report host.xplane.pb --format html    one file, one page\n"
            "tracemill report logdir --run warm --json        the summary on stdout as well\n",
        .bit = TM_FOR_REPORT,
        .flags = TM_VERB_SPILLS,
        .least = 1,
        .most = SIZE_MAX,
        .run = tm_command_report,
    },
    {
        .name = "inspect",
        .summary = "show what is in a trace, and why a report may be empty",
        .usage = "INPUT... [OPTION...]",
        .description =
            "Prints the hosts, planes, lines and events of the inputs, what is damaged or"
            " missing in them, and what to change in how they are profiled.",
        .examples =
            "tracemill inspect logdir --latest    the newest run of a log directory\n"
            "tracemill inspect host.xplane.pb     one file\n",
        .bit = TM_FOR_INSPECT,
        .flags = TM_VERB_SPILLS | TM_VERB_PRINTS,
        .least = 1,
        .most = SIZE_MAX,
        .run = tm_command_inspect,
    },
    {
        .name = "convert",
        .summary = "convert a trace for Perfetto, to clean JSON, or to a table",
        .usage = "INPUT... [-o FILE] [OPTION...]",
        .description =
            "Reads what report reads and writes it as one file, in bounded memory; the file's ending tells the format:"
            " .pftrace, .pftrace.gz, .perfetto-trace, .json, .json.gz, .csv or .csv.gz. Spans that"
            " overlap get lanes of their own, times keep every digit, and nothing is lost without a word.\n"
            "A .pftrace opens at https://ui.perfetto.dev: drop it onto the page, it stays on this machine."
            " What was worked out stands beside what was recorded, unless --plain is given: the verdict in the"
            " first row, findings, steps, idle gaps with their cause, queue depth, busy share. Several INPUTs are the"
            " hosts of one run; their clocks are put together as far as they tell when they began.",
        .examples =
            "tracemill convert host.xplane.pb -o run.pftrace    for ui.perfetto.dev\n"
            "tracemill convert vm.trace.json.gz -o clean.json.gz --plain    the same format, mended\n"
            "tracemill convert logdir --latest --args essential -o small.pftrace    opens in less memory\n"
            "tracemill convert run.xplane.pb --filter device=gpu:0 --filter min=10us -o gpu0.csv    a table\n",
        .bit = TM_FOR_CONVERT,
        .flags = TM_VERB_SPILLS | TM_VERB_TRACES,
        .least = 1,
        .most = SIZE_MAX,
        .run = tm_command_convert,
    },
    {
        .name = "split",
        .summary = "cut a trace that is too large to open into parts that are not",
        .usage = "INPUT... [-o DIR] [OPTION...]",
        .description =
            "Writes a trace as convert does, in parts that each open alone: a part ends before it has more than"
            " --max-events slices or --max-size bytes, and where --by tells. A slice that is open at a cut"
            " lies in both parts and says so. index.html and index.json list the parts; an older"
            " split in the folder is replaced. A trace that fits into one part gets one.\n"
            "All parts have one clock and the same rows: 'cat part-*.pftrace > whole.pftrace' joins them again.",
        .examples =
            "tracemill split huge.trace.json.gz -o parts    parts that any browser opens\n"
            "tracemill split logdir --latest --by step=10    ten steps in each\n"
            "tracemill split run.xplane.pb --by device --format json    parts for each device, as JSON\n",
        .bit = TM_FOR_SPLIT,
        .flags = TM_VERB_SPILLS | TM_VERB_TRACES,
        .least = 1,
        .most = SIZE_MAX,
        .run = tm_command_split,
    },
    {
        .name = "compare",
        .summary = "compare runs: what changed, by how much, and whether it is more than noise",
        .usage = "BASE NEW... [-o DIR] [OPTION...]",
        .description =
            "Reads a run per INPUT, or its summary.json, or the folder of its report, and writes compare.html,"
            " compare.pdf, compare.txt and compare.json: step times with a test, a waterfall from the old step time to the"
            " new one, and the kernels, ops, scopes, collectives, gaps and compilations that account for it. --format also"
            " gives compare.md (markdown) and the folder csv. The first run is the base; LABEL=PATH names one.\n"
            "With '--' between them, groups of runs of the same thing are compared: A... -- B... [-- C...]; then the spread"
            " between runs is what a change has to stand out from. Of two single runs it is not known; take it from --history or"
            " --run-spread. --fail-on ends with status 1 where a gate fails.",
        .examples =
            "tracemill compare before.xplane.pb after.xplane.pb    two profiles\n"
            "tracemill compare autodiff=logs/a vjp=logs/b -o out    two methods, by name\n"
            "tracemill compare nightly/1 nightly/2 nightly/3 -- today/1 today/2 today/3    groups of runs\n"
            "tracemill compare main.report pr.report --fail-on 'step_time>+5%' --fail-on regression    for CI\n"
            "tracemill compare main.report pr.report --history night/history.db    beyond what runs differ by\n",
        .bit = TM_FOR_COMPARE,
        .flags = TM_VERB_SPILLS | TM_VERB_GROUPS,
        .least = 0,
        .most = SIZE_MAX,
        .run = tm_command_compare,
    },
    {
        .name = "scaling",
        .summary = "show how a program scales over devices: speed-up, efficiency, and what grows",
        .usage = "RUN RUN... [-o DIR] [OPTION...]",
        .description =
            "Reads runs of one program on different numbers of devices, as profiles or summaries, and writes scaling.html,"
            " scaling.pdf, scaling.txt and scaling.json: speed-up and efficiency against the smallest number, what"
            " communication, idle time and imbalance take of it, and from four numbers of devices on the"
            " serial share.\n"
            "How many devices a run has, its profile tells; N=PATH says otherwise. Runs of the same number are"
            " taken together.",
        .examples =
            "tracemill scaling logs/1gpu logs/2gpu logs/4gpu logs/8gpu    four numbers of devices\n"
            "tracemill scaling 8=a.xplane.pb 16=b.xplane.pb -o out    numbers that the profile does not tell\n",
        .bit = TM_FOR_SCALING,
        .flags = TM_VERB_SPILLS,
        .least = 2,
        .most = SIZE_MAX,
        .run = tm_command_scaling,
    },
    {
        .name = "check",
        .summary = "check a run against limits, for CI: exit status 1 if one is exceeded",
        .usage = "INPUT --gate FILE [--baseline PATH] [OPTION...]",
        .description =
            "Reads a run, or its summary, and holds its figures to the limits of a gate file: absolute ones, or relative to"
            " a baseline, with the noise of both in mind. Prints the result, or with --json its JSON; --junit and"
            " --markdown write it for others. The status is 1 only where a gate failed, and 4 where one could not be"
            " judged or the input is partial.\n"
            "--init makes a gate file of a run as it is, to begin with.",
        .examples =
            "tracemill check logdir --latest --init --gate gates.json    limits from a run\n"
            "tracemill check logdir --latest --gate gates.json --junit gates.xml    for CI\n"
            "tracemill check new.report --gate gates.json --baseline main.report    against an older run\n",
        .bit = TM_FOR_CHECK,
        .flags = TM_VERB_SPILLS,
        .least = 1,
        .most = 1,
        .run = tm_command_check,
    },
    {
        .name = "batch",
        .summary = "process a folder of many runs, with history, trends and gates: scan, run and merge",
        .usage = "ROOT... -o OUT [OPTION...]",
        .description =
            "Finds every run below ROOT, writes a report of each into OUT, one process for each trace, and puts them"
            " together: index.html with the last night and what came with it, what got worse and trends, history.db for SQL,"
            " one exit status."
            " What stands in OUT already and has not changed is not done again, so that a batch which was stopped, in"
            " whatever way, goes on where it was. A trace that fails is a row with its message.\n"
            "The parts are verbs of their own, for many machines: 'batch scan' lists the traces, 'batch run' works a share"
            " of them, 'batch merge' puts together, 'batch submit' hands it all to Slurm. 'batch prune' makes room,"
            " 'batch export' prints the history.",
        .examples =
            "tracemill batch /data/profiles -o /data/perf          last night, and all before it\n"
            "tracemill batch logs -o perf --gate gates.json --baseline median:7 --junit night.xml    for CI\n"
            "tracemill batch logs -o perf --keys '{job}/{night}'   what the folders mean\n",
        .bit = TM_FOR_BATCH,
        .flags = TM_VERB_SPILLS,
        .least = 1,
        .most = SIZE_MAX,
        .run = tm_command_batch,
    },
    {
        .name = "batch scan",
        .summary = "list the traces below a folder as a manifest",
        .usage = "ROOT... [-o FILE] [OPTION...]",
        .description =
            "Finds every run below ROOT and writes a line of JSON for each: what its path tells of job, night, revision and"
            " training step, and its traces with path, size and fingerprint. 'batch run' works what the list names. With"
            " -o DIR of a folder that is there, it is written to DIR/manifest.jsonl.",
        .examples =
            "tracemill batch scan /data/profiles -o manifest.jsonl    for batch run and batch submit\n"
            "tracemill batch scan logs --keys '{job}/{night}/{}' | head    see what the keys become\n",
        .bit = TM_FOR_BATCH_SCAN,
        .least = 1,
        .most = SIZE_MAX,
        .run = tm_command_batch_scan,
    },
    {
        .name = "batch run",
        .summary = "process the traces of a manifest, or a share of them",
        .usage = "--manifest FILE -o OUT [--shard I/N] [--jobs N] [OPTION...]",
        .description =
            "Writes a report for each run of the manifest, and a partial for each host of a run of several hosts, one process"
            " for each trace, the largest first. What is done already is not done again.",
        .examples =
            "tracemill batch run --manifest manifest.jsonl -o perf --jobs 8    on one machine\n"
            "tracemill batch run --manifest manifest.jsonl -o perf --shard 3/16    a share of sixteen\n",
        .bit = TM_FOR_BATCH_RUN,
        .flags = TM_VERB_SPILLS,
        .least = 0,
        .most = 0,
        .run = tm_command_batch_run,
    },
    {
        .name = "batch merge",
        .summary = "merge the results of a batch: index page, history, gates",
        .usage = "OUT [OPTION...]",
        .description =
            "Joins the hosts of runs, takes the results into the history, judges the last night and the runs of other nights"
            " that came with it by the gates, and writes index.html, index.json and history.db. The same results give the"
            " same files, however they came about. Runs that are dated more than a day ahead are told and not judged.",
        .examples =
            "tracemill batch merge perf    after all shares are worked\n"
            "tracemill batch merge perf --gate gates.json --baseline last-good --junit night.xml    with gates\n",
        .bit = TM_FOR_BATCH_MERGE,
        .flags = TM_VERB_SPILLS,
        .least = 1,
        .most = 1,
        .run = tm_command_batch_merge,
    },
    {
        .name = "batch submit",
        .summary = "submit a batch to a cluster: an array job, and a job that merges",
        .usage = "--slurm (ROOT... | --manifest FILE) -o OUT [OPTION...]",
        .description =
            "Writes the scripts of an array job that works what is missing in OUT, and of a job after it that merges, and"
            " gives both to sbatch. A second submit does what the first one left. OUT has to be a folder that all nodes see.",
        .examples =
            "tracemill batch submit --slurm /data/profiles -o /data/perf --tasks 32    32 tasks\n"
            "tracemill batch submit --slurm logs -o perf --sbatch=--partition=night --dry-run    only the scripts\n",
        .bit = TM_FOR_BATCH_SUBMIT,
        .flags = TM_VERB_SPILLS,
        .least = 0,
        .most = SIZE_MAX,
        .run = tm_command_batch_submit,
    },
    {
        .name = "batch prune",
        .summary = "remove the reports of old nights; the history keeps their figures",
        .usage = "OUT [--keep N] [OPTION...]",
        .description =
            "Removes the files of runs that are older than the last N nights. Figures and trends stay, and so do the"
            " summaries that gates of coming nights compare with: the last good run and the last seven of each job.",
        .examples =
            "tracemill batch prune perf --keep 30 --dry-run    what would go, and how much room that makes\n",
        .bit = TM_FOR_BATCH_PRUNE,
        .flags = TM_VERB_SPILLS,
        .least = 1,
        .most = 1,
        .run = tm_command_batch_prune,
    },
    {
        .name = "batch export",
        .summary = "print the history of a batch as JSON Lines",
        .usage = "OUT [-o FILE] [OPTION...]",
        .description = "A line of JSON for each run, in the order of jobs and time. history.db has the same as SQL.",
        .examples =
            "tracemill batch export perf > history.jsonl    everything\n",
        .bit = TM_FOR_BATCH_EXPORT,
        .least = 1,
        .most = 1,
        .run = tm_command_batch_export,
    },
    {
        .name = "list",
        .summary = "list the runs found in log directories",
        .usage = "LOGDIR... [--latest] [OPTION...]",
        .description =
            "Searches log directories, or archives of them, at any depth for the folders of runs,"
            " and prints each with its time, hosts and size. Files that end in .json or .pb and do not"
            " have the name of a trace are found by content. Links in an archive are read as the"
            " members that they lead to. What is skipped is counted.",
        .examples =
            "tracemill list logdir             all runs, oldest first\n"
            "tracemill list logdir --latest    only the newest one\n"
            "tracemill list logdir.tar.gz      what is in an archive\n",
        .bit = TM_FOR_LIST,
        .flags = TM_VERB_PRINTS,
        .least = 1,
        .most = SIZE_MAX,
        .run = tm_command_list,
    },
    {
        .name = "extract",
        .summary = "copy the trace files of a run out of a log directory",
        .usage = "LOGDIR -o DIR [--latest | --run NAME] [--force] [OPTION...]",
        .description =
            "Copies the trace files of one run out of a log directory, or an archive of one, into"
            " a folder, each as a whole or not at all. A link in an archive is copied as the file that it"
            " leads to. Of a damaged archive what is whole is copied, with exit status 4."
            " Files that are there already stay, and are an error, unless --force is given.",
        .examples =
            "tracemill extract logdir --latest -o newest    the files of the newest run\n",
        .bit = TM_FOR_EXTRACT,
        .flags = 0,
        .least = 1,
        .most = SIZE_MAX,
        .run = tm_command_extract,
    },
    {
        .name = "config",
        .summary = "show every setting and threshold, its value and where it comes from",
        .usage = "show [OPTION...]",
        .description =
            "Options of the command line override variables TRACEMILL_*, these override the"
            " file that --config or TRACEMILL_CONFIG names, and that overrides the defaults. The"
            " file is a JSON object, such as {\"memory\": \"512M\", \"strict\": true}; its keys"
            " are the names of the settings, with '_' in place of '-'. The settings of all verbs"
            " may be given here as options.",
        .examples =
            "tracemill config show                       what holds now\n"
            "tracemill config show --config ci.json      what would hold with this file\n"
            "tracemill config show --thresholds my.json  which thresholds it changes\n",
        .words = "show",
        .bit = TM_FOR_CONFIG,
        .flags = TM_VERB_PRINTS,
        .least = 1,
        .most = 1,
        .run = tm_command_config,
    },
    {
        .name = "help",
        .summary = "print help on a verb",
        .usage = "[VERB]",
        .description = "Without a verb: the verbs, and what the exit status means.",
        .examples = "",
        .bit = TM_FOR_WORDS,
        .flags = TM_VERB_PRINTS | TM_VERB_NO_CONFIG,
        .least = 0,
        .most = 2,
        .run = tm_command_help,
    },
    {
        .name = "version",
        .summary = "print the version, and those of the libraries",
        .usage = "[--json]",
        .description = "The same as 'tracemill --version'.",
        .examples = "",
        .bit = TM_FOR_WORDS,
        .flags = TM_VERB_PRINTS | TM_VERB_NO_CONFIG,
        .least = 0,
        .most = 0,
        .run = tm_command_version,
    },
    {
        .name = "man",
        .summary = "print the manual page as roff",
        .usage = "",
        .description = "For packagers: 'tracemill man > tracemill.1'.",
        .examples = "",
        .bit = TM_FOR_WORDS,
        .flags = TM_VERB_HIDDEN | TM_VERB_PRINTS | TM_VERB_NO_CONFIG,
        .least = 0,
        .most = 0,
        .run = tm_command_man,
    },
    {
        .name = "completions",
        .summary = "print the completions for a shell",
        .usage = "bash|zsh|fish",
        .description =
            "For packagers and shell start-up files: 'source <(tracemill completions bash)'.",
        .examples = "",
        .words = "bash zsh fish",
        .bit = TM_FOR_WORDS,
        .flags = TM_VERB_HIDDEN | TM_VERB_PRINTS | TM_VERB_NO_CONFIG,
        .least = 1,
        .most = 1,
        .run = tm_command_completions,
    },
};
/* clang-format on */

const size_t tm_verb_count = sizeof(tm_verb_table) / sizeof(tm_verb_table[0]);

const struct tm_verb *tm_verb_by_name(const char *name)
{
    for (size_t i = 0; i < tm_verb_count; i++) {
        if (strcmp(tm_verb_table[i].name, name) == 0)
            return &tm_verb_table[i];
    }
    return NULL;
}

const struct tm_verb *tm_verb_by_words(char *const *words, size_t count, size_t *used)
{
    char two[64];
    const int length = count > 1 ? snprintf(two, sizeof(two), "%s %s", words[0], words[1]) : -1;
    const struct tm_verb *verb = length > 0 && (size_t)length < sizeof(two) ? tm_verb_by_name(two) : NULL;

    *used = verb ? 2 : 1;
    return verb || !count ? verb : tm_verb_by_name(words[0]);
}

bool tm_verb_is_action_of(const struct tm_verb *action, const struct tm_verb *verb)
{
    const size_t length = strlen(verb->name);

    return strncmp(action->name, verb->name, length) == 0 && action->name[length] == ' ';
}

const char *tm_verb_second_word(const struct tm_verb *action)
{
    const char *blank = strchr(action->name, ' ');

    return blank ? blank + 1 : "";
}

bool tm_verb_has_actions(const struct tm_verb *verb)
{
    for (size_t i = 0; i < tm_verb_count; i++) {
        if (tm_verb_is_action_of(&tm_verb_table[i], verb))
            return true;
    }
    return false;
}

const struct tm_verb *tm_verb_nearest_action(const struct tm_verb *verb, const char *typed)
{
    struct tm_nearest nearest = { 0 };
    const struct tm_verb *action = NULL;

    for (size_t i = 0; i < tm_verb_count; i++) {
        const size_t distance = nearest.distance;
        const char *const word = nearest.word;

        if (!tm_verb_is_action_of(&tm_verb_table[i], verb))
            continue;
        tm_nearest_offer(&nearest, typed, tm_verb_second_word(&tm_verb_table[i]));
        if (nearest.word != word || nearest.distance != distance)
            action = &tm_verb_table[i];
    }
    return action;
}
