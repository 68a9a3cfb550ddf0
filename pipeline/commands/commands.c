/* SPDX-License-Identifier: Apache-2.0 */
/* The list of verbs, how words find one, and what is printed about all of them: `help`, and the hidden verbs `man` and
 * `completions`. */
#include "pipeline/commands/commands.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/engine/outputs.h"
#include "pipeline/options.h"
#include "pipeline/run.h"
#include "pipeline/strings.h"

/* Each is in the file of its name, those of a batch in pipeline/nightly, and those that print the list in this file. 
 * They are declared here because no other code refers to them by name. */
extern const struct tm_verb tm_report_verb, tm_brief_verb, tm_show_verb, tm_query_verb, tm_schema_verb, tm_mcp_verb,
    tm_skill_verb, tm_open_verb, tm_inspect_verb, tm_convert_verb, tm_split_verb, tm_compare_verb, tm_scaling_verb,
    tm_check_verb, tm_batch_verb, tm_batch_scan_verb, tm_batch_run_verb, tm_batch_item_verb, tm_batch_join_verb,
    tm_batch_merge_verb, tm_batch_submit_verb, tm_batch_prune_verb, tm_batch_export_verb, tm_batch_regressions_verb,
    tm_batch_trend_verb, tm_batch_ack_verb, tm_batch_accept_verb, tm_list_verb, tm_extract_verb, tm_config_verb,
    tm_help_verb, tm_version_verb, tm_man_verb, tm_completions_verb;

/* In the order of the help. */
const struct tm_verb *const tm_verbs[] = {
    &tm_report_verb,       &tm_open_verb,
    &tm_brief_verb,        &tm_show_verb,
    &tm_query_verb,        &tm_schema_verb,
    &tm_inspect_verb,      &tm_convert_verb,
    &tm_split_verb,        &tm_compare_verb,
    &tm_scaling_verb,      &tm_check_verb,
    &tm_batch_verb,        &tm_batch_scan_verb,
    &tm_batch_run_verb,    &tm_batch_item_verb,
    &tm_batch_join_verb,   &tm_batch_merge_verb,
    &tm_batch_submit_verb, &tm_batch_prune_verb,
    &tm_batch_export_verb, &tm_batch_regressions_verb,
    &tm_batch_ack_verb,    &tm_batch_accept_verb,
    &tm_batch_trend_verb,  &tm_list_verb,
    &tm_extract_verb,      &tm_mcp_verb,
    &tm_skill_verb,        &tm_config_verb,
    &tm_help_verb,         &tm_version_verb,
    &tm_man_verb,          &tm_completions_verb,
};

const size_t tm_verb_count = sizeof(tm_verbs) / sizeof(tm_verbs[0]);

const struct tm_verb *tm_verb_by_name(const char *name)
{
    for (size_t i = 0; i < tm_verb_count; i++) {
        if (strcmp(tm_verbs[i]->name, name) == 0)
            return tm_verbs[i];
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

/* Verbs of two words that start with this one: "batch scan" is an action of "batch". */
static bool is_action_of(const struct tm_verb *action, const struct tm_verb *verb)
{
    const size_t length = strlen(verb->name);

    return strncmp(action->name, verb->name, length) == 0 && action->name[length] == ' ';
}

static const char *second_word(const struct tm_verb *action)
{
    const char *blank = strchr(action->name, ' ');

    return blank ? blank + 1 : "";
}

static bool has_actions(const struct tm_verb *verb)
{
    for (size_t i = 0; i < tm_verb_count; i++) {
        if (is_action_of(tm_verbs[i], verb))
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

        if (!is_action_of(tm_verbs[i], verb))
            continue;
        tm_nearest_offer(&nearest, typed, second_word(tm_verbs[i]));
        if (nearest.word != word || nearest.distance != distance)
            action = tm_verbs[i];
    }
    return action;
}

/* Help for people and the manual page, both made from the tables of verbs and options.
 * roff: man(7) macros only, every string escaped in one place (roff_text). */

enum {
    WIDTH_MOST = 96,
    INDENT = 2,            /* of entries */
    GAP = 2,               /* blanks at least between an entry and its text */
    TEXT_COLUMN_MOST = 34, /* an entry that reaches it has its text below */
    EXAMPLE_COLUMN = 6     /* the text of an example, below its command */
};

static const char tagline[] = "diagnose slow training and inference runs from JAX, PyTorch and TPU profiles";

static const struct {
    int status;
    const char *meaning;
} exit_statuses[] = {
    { TM_OK, "done" },
    { TM_GATE, "a gate failed ('check', a batch, or 'compare --fail-on'), or a regression is open (a batch)" },
    { TM_ERR_USAGE, "invalid command line or configuration file" },
    { TM_ERR_INPUT, "the input is unreadable, empty or not a trace; with --strict: the input has losses" },
    { TM_PARTIAL, "done, but the input was damaged or incomplete, or traces of a batch failed" },
    { TM_ERR_OUTPUT, "an output or a spill file could not be written" },
    { TM_ERR_LIMIT, "a limit was reached, including memory" },
};

static const char signal_meaning[] = "terminated by signal n; incomplete outputs are removed";

/* ---- plain text ---- */

/* Of lines: that of the terminal, if it is narrower. */
static int line_width(void)
{
    const int columns = tm_columns_of_line();

    return columns < WIDTH_MOST ? columns : WIDTH_MOST;
}

/* Words from `column` on, broken at the width of lines, later lines indented; ends the line. */
static void print_wrapped(FILE *to, const char *text, size_t length, int column, int indent)
{
    const char *const end = text + length;
    const int width = line_width();
    int at = column;

    while (text < end) {
        size_t word = 0;

        while (text + word < end && text[word] != ' ')
            word++;
        if (at > indent && at + 1 + (int)word > width) {
            (void)fprintf(to, "\n%*s", indent, "");
            at = indent;
        } else if (at > indent) {
            (void)fputc(' ', to);
            at++;
        }
        (void)fwrite(text, 1, word, to);
        at += (int)word;
        text += word;
        text += text < end;
    }
    (void)fputc('\n', to);
}

static void print_paragraphs(FILE *to, const char *text)
{
    for (;;) {
        const size_t length = strcspn(text, "\n");

        print_wrapped(to, text, length, 0, 0);
        text += length;
        if (!*text++)
            break;
        (void)fputc('\n', to);
    }
}

/* The column where the texts of a list start.
 * in:  width  of the entry that has the most bytes, or of some that ends before TEXT_COLUMN_MOST */
static int text_column(int width)
{
    const int column = INDENT + width + GAP;

    return column < TEXT_COLUMN_MOST ? column : TEXT_COLUMN_MOST;
}

/* An entry of a list and its text, which is wrapped in its column; below the entry if that is too wide. */
static void print_entry(FILE *to, const char *entry, const char *text, int column)
{
    int at = fprintf(to, "%*s%s", INDENT, "", entry);

    if (at + GAP > column) {
        (void)fputc('\n', to);
        at = 0;
    }
    (void)fprintf(to, "%*s", column - at, "");
    print_wrapped(to, text, strlen(text), column, column);
}

/* Examples: a command, broken as a shell continues it, and below it what it does. */
static void print_examples(FILE *to, const char *text)
{
    const int width = line_width();

    while (*text) {
        const size_t length = strcspn(text, "\n");
        const char *const gap = strstr(text, "  ");
        size_t from = 0, command = gap && (size_t)(gap - text) < length ? (size_t)(gap - text) : length,
               words = command;
        int indent = INDENT;

        while (words < length && text[words] == ' ')
            words++;
        while (command - from > (size_t)(width - indent)) {
            size_t end = from + (size_t)(width - indent - 2);

            while (end > from && text[end] != ' ')
                end--;
            if (end == from)
                break; /* one word */
            (void)fprintf(to, "%*s%.*s \\\n", indent, "", (int)(end - from), text + from);
            from = end + 1;
            indent = EXAMPLE_COLUMN;
        }
        (void)fprintf(to, "%*s%.*s\n", indent, "", (int)(command - from), text + from);
        if (words < length) {
            (void)fprintf(to, "%*s", EXAMPLE_COLUMN, "");
            print_wrapped(to, text + words, length - words, EXAMPLE_COLUMN, EXAMPLE_COLUMN);
        }
        text += length + (text[length] == '\n');
    }
}

enum { HELP_BYTES = 1024 };

/* The form of the list of verbs before a colon: "report, compare and scaling". */
enum for_verb { FOR_NONE, FOR_OTHERS, FOR_FAMILY, FOR_IT }; /* the list has "batch", and the verb is "batch run" */

static enum for_verb list_fits(const char *list, size_t length, const struct tm_verb *verb)
{
    char text[HELP_BYTES], *rest = NULL;
    enum for_verb fits = FOR_NONE;

    (void)snprintf(text, sizeof(text), "%.*s", (int)length, list);
    for (char *and; (and = strstr(text, " and ")) != NULL;) {
        and[0] = ',';
        memmove(and+1, and+4, strlen(and+4) + 1);
    }
    for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        const struct tm_verb *const said = tm_verb_by_name(word + strspn(word, " "));
        enum for_verb its = FOR_OTHERS;

        if (!said)
            return FOR_NONE; /* a word of the option */
        if (said == verb)
            its = FOR_IT;
        else if (is_action_of(verb, said))
            its = FOR_FAMILY;
        fits = its > fits ? its : fits;
    }
    return fits;
}

/* A part of a help text: up to "; ".  out: text  without the list of verbs */
static enum for_verb take_part(const char **at, const struct tm_verb *verb, const char **text, size_t *length)
{
    const char *const end = strstr(*at, "; "), *const stop = end ? end : *at + strlen(*at);
    const char *const colon = strstr(*at, ": ");
    enum for_verb fits = FOR_NONE;

    *text = *at;
    if (colon && colon < stop)
        fits = list_fits(*at, (size_t)(colon - *at), verb);
    if (fits != FOR_NONE)
        *text = colon + 2;
    *length = (size_t)(stop - *text);
    *at = end ? end + 2 : stop;
    return fits;
}

/* What the help of an option says for a verb: the parts for all verbs, and its own. */
static void help_for(const struct tm_verb *verb, const char *help, char out[HELP_BYTES])
{
    enum for_verb best = FOR_FAMILY, fits;
    size_t length, used = 0;
    const char *text;

    for (const char *at = help; *at;)
        if (take_part(&at, verb, &text, &length) == FOR_IT)
            best = FOR_IT; /* which takes precedence over the text of its family */
    out[0] = 0;
    for (const char *at = help; *at;) {
        fits = take_part(&at, verb, &text, &length);
        if (fits != FOR_NONE && fits != best)
            continue;
        used += (size_t)snprintf(out + used, HELP_BYTES - used, "%s%.*s", used ? "; " : "", (int)length, text);
        if (used >= HELP_BYTES)
            return;
    }
}

enum { ENTRY_BYTES = 128 };

/* "-o, --output DIR" */
static int option_entry(const struct tm_option *option, char out[ENTRY_BYTES])
{
    const char letter[] = { '-', option->letter ? option->letter : ' ', ',', '\0' };
    const char *const argument = option->argument;

    return snprintf(out, ENTRY_BYTES, "%s --%s%s%s", option->letter ? letter : "   ", option->name, argument ? " " : "",
                    argument ? argument : "");
}

/* The default follows, unless the text for this verb has its own. */
static void print_option(FILE *to, const struct tm_option *option, const struct tm_verb *verb, int column)
{
    char entry[ENTRY_BYTES], own[HELP_BYTES], help[HELP_BYTES + 64];

    help_for(verb, option->help, own);
    const char *const fallback = strstr(own, "(default") ? NULL : option->fallback;

    (void)option_entry(option, entry);
    (void)snprintf(help, sizeof(help), "%s%s%s%s", own, fallback ? " (default " : "", fallback ? fallback : "",
                   fallback ? ")" : "");
    print_entry(to, entry, help, column);
}

static void print_options(FILE *to, const struct tm_verb *verb)
{
    char entry[ENTRY_BYTES];
    int widest = 0;

    for (size_t i = 0; i < TM_OPTION_COUNT; i++) {
        const int width = option_entry(&tm_option_table[i], entry);

        if ((tm_option_table[i].verbs & verb->bit) && width > widest && INDENT + width + GAP <= TEXT_COLUMN_MOST)
            widest = width;
    }
    for (size_t i = 0; i < TM_OPTION_COUNT; i++) {
        if (tm_option_table[i].verbs & verb->bit)
            print_option(to, &tm_option_table[i], verb, text_column(widest));
    }
}

void tm_help_overview(FILE *to)
{
    int widest = 0, column;

    column = fprintf(to, "tracemill %s:", TM_VERSION);
    print_wrapped(to, tagline, strlen(tagline), column, INDENT);
    (void)fputs("\nusage: tracemill VERB [OPTION...] [INPUT...]\n\nverbs:\n", to);
    for (size_t i = 0; i < tm_verb_count; i++) {
        if (!(tm_verbs[i]->flags & TM_VERB_HIDDEN) && (int)strlen(tm_verbs[i]->name) > widest)
            widest = (int)strlen(tm_verbs[i]->name);
    }
    column = text_column(widest);
    for (size_t i = 0; i < tm_verb_count; i++) {
        if (!(tm_verbs[i]->flags & TM_VERB_HIDDEN))
            print_entry(to, tm_verbs[i]->name, tm_verbs[i]->summary, column);
    }
    (void)fputs("\nexit status:\n", to);
    for (size_t i = 0; i < sizeof(exit_statuses) / sizeof(exit_statuses[0]); i++) {
        const char status[] = { (char)('0' + exit_statuses[i].status), '\0' };

        print_entry(to, status, exit_statuses[i].meaning, column);
    }
    print_entry(to, "128+n", signal_meaning, column);
    (void)fputs("\n'tracemill help VERB' describes a verb and its options.\n", to);
}

/* one verb and its options */
static void help_verb(const struct tm_verb *verb, FILE *to)
{
    const int column = fprintf(to, "usage: tracemill %s%s", verb->name, verb->usage[0] ? " " : "");

    print_wrapped(to, verb->usage, strlen(verb->usage), column, column);
    (void)fputc('\n', to);
    print_paragraphs(to, verb->description);
    (void)fputs("\noptions:\n", to);
    print_options(to, verb);
    if (verb->examples[0]) {
        (void)fputs("\nexamples:\n", to);
        print_examples(to, verb->examples);
    }
    if (!(verb->flags & TM_VERB_NO_CONFIG)) {
        (void)fputc('\n', to);
        print_paragraphs(to,
                         "The settings listed by 'tracemill config show' can also be set by environment variables, "
                         "such as TRACEMILL_MEMORY, or in the file given by --config. --OPTION=no disables an option "
                         "that was enabled there.");
    }
}

/* ---- the manual page ---- */

/* Text as roff prints it: no byte of it is taken for a request, '-' can be copied and pasted. */
static void roff_text(FILE *to, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const bool begins_line = i == 0 || text[i - 1] == '\n';

        if (begins_line && (text[i] == '.' || text[i] == '\''))
            (void)fputs("\\&", to);
        if (text[i] == '\\')
            (void)fputs("\\e", to);
        else if (text[i] == '-')
            (void)fputs("\\-", to);
        else if (text[i] == '\'')
            (void)fputs("\\(aq", to);
        else
            (void)fputc(text[i], to);
    }
}

static void roff_line(FILE *to, const char *text)
{
    roff_text(to, text, strlen(text));
    (void)fputc('\n', to);
}

static void roff_paragraphs(FILE *to, const char *text)
{
    for (;;) {
        const size_t length = strcspn(text, "\n");

        roff_text(to, text, length);
        (void)fputc('\n', to);
        text += length;
        if (!*text++)
            break;
        (void)fputs(".PP\n", to);
    }
}

/* Examples: an example, then what it does as its paragraph. */
static void roff_examples(FILE *to, const char *text)
{
    while (*text) {
        const size_t length = strcspn(text, "\n");
        const char *const gap = strstr(text, "  ");
        const size_t command = gap && (size_t)(gap - text) < length ? (size_t)(gap - text) : length;
        size_t words = command;

        while (words < length && text[words] == ' ')
            words++;
        (void)fputs(".TP\n.B ", to);
        roff_text(to, text, command);
        (void)fputc('\n', to);
        roff_text(to, text + words, length - words);
        (void)fputc('\n', to);
        text += length + (text[length] == '\n');
    }
}

static void roff_verb(FILE *to, const struct tm_verb *verb)
{
    (void)fputs(".SS ", to);
    roff_text(to, "tracemill ", 10);
    roff_text(to, verb->name, strlen(verb->name));
    (void)fputc(' ', to);
    roff_line(to, verb->usage);
    roff_paragraphs(to, verb->description);
}

/* The names of the verbs that take an option; nothing where all do. */
static void roff_option_verbs(FILE *to, const struct tm_option *option)
{
    bool any = false;

    if (option->verbs == TM_FOR_ALL)
        return;
    (void)fputs("Used by", to);
    for (size_t i = 0; i < tm_verb_count; i++) {
        const struct tm_verb *const verb = tm_verbs[i];

        if ((verb->flags & TM_VERB_HIDDEN) || !(option->verbs & verb->bit))
            continue;
        (void)fprintf(to, "%s ", any ? "," : "");
        (void)fprintf(to, "\\fB%s\\fR", verb->name);
        any = true;
    }
    (void)fputs(".\n", to);
}

static void roff_option(FILE *to, const struct tm_option *option)
{
    const char *const fallback = option->fallback;

    (void)fputs(".TP\n", to);
    if (option->letter)
        (void)fprintf(to, "\\fB\\-%c\\fR, ", option->letter);
    (void)fputs("\\fB\\-\\-", to);
    roff_text(to, option->name, strlen(option->name));
    (void)fputs("\\fR", to);
    if (option->argument) {
        (void)fputs(" \\fI", to);
        roff_text(to, option->argument, strlen(option->argument));
        (void)fputs("\\fR", to);
    }
    (void)fprintf(to, "\n%c", toupper((unsigned char)option->help[0]));
    roff_text(to, option->help + 1, strlen(option->help + 1));
    (void)fputs(".\n", to);
    if (fallback) {
        (void)fputs("The default is \\fB", to);
        roff_text(to, fallback, strlen(fallback));
        (void)fputs("\\fR.\n", to);
    }
    roff_option_verbs(to, option);
}

static void roff_statuses(FILE *to)
{
    (void)fputs(".SH EXIT STATUS\n", to);
    for (size_t i = 0; i < sizeof(exit_statuses) / sizeof(exit_statuses[0]); i++) {
        (void)fprintf(to, ".TP\n.B %d\n", exit_statuses[i].status);
        roff_line(to, exit_statuses[i].meaning);
    }
    (void)fputs(".TP\n.B 128+n\n", to);
    roff_line(to, signal_meaning);
}

static void roff_environment(FILE *to)
{
    char name[TM_OPTION_NAME_BYTES];

    (void)fputs(".SH ENVIRONMENT\n", to);
    for (size_t i = 0; i < TM_OPTION_COUNT; i++) {
        const struct tm_option *const option = &tm_option_table[i];

        if (!tm_option_environment(option, name))
            continue;
        (void)fprintf(to, ".TP\n.B %s\n", name);
        (void)fputs("As \\fB\\-\\-", to);
        roff_text(to, option->name, strlen(option->name));
        (void)fputs("\\fR", to);
        if (tm_option_key(option, name))
            (void)fprintf(to, "; in a configuration file: \\fB%s\\fR", name);
        (void)fputs(".\n", to);
    }
    (void)fputs(".TP\n.B NO_COLOR\nDisables colors if it is not empty.\n", to);
    (void)fputs(".TP\n.B TMPDIR\nThe folder for spill files, unless --tmp is given.\n", to);
    (void)fputs(
        ".TP\n.B SOURCE_DATE_EPOCH\nThe date of outputs; for a batch also the current day if the machine's clock is "
        "behind it.\n",
        to);
}

/* tracemill(1), roff with man(7) macros */
static void help_manual(FILE *to)
{
    (void)fprintf(to, ".TH TRACEMILL 1 \"\" \"tracemill %s\" \"User Commands\"\n", TM_VERSION);
    (void)fputs(".SH NAME\ntracemill \\- ", to);
    roff_line(to, tagline);
    (void)fputs(".SH SYNOPSIS\n.B tracemill\n\\fIVERB\\fR [\\fIOPTION\\fR...] [\\fIINPUT\\fR...]\n", to);
    (void)fputs(".SH VERBS\n", to);
    for (size_t i = 0; i < tm_verb_count; i++) {
        if (!(tm_verbs[i]->flags & TM_VERB_HIDDEN))
            roff_verb(to, tm_verbs[i]);
    }
    (void)fputs(".SH OPTIONS\n", to);
    roff_paragraphs(to, "Long options cannot be abbreviated. --OPTION=no disables an option that the environment or "
                        "a configuration file enabled.");
    for (size_t i = 0; i < TM_OPTION_COUNT; i++)
        roff_option(to, &tm_option_table[i]);
    roff_statuses(to);
    roff_environment(to);
    (void)fputs(".SH EXAMPLES\n", to);
    for (size_t i = 0; i < tm_verb_count; i++)
        roff_examples(to, tm_verbs[i]->examples);
}

/* Completions for bash, zsh and fish, made from the tables of verbs and options.  Names and words
 * of the tables are letters, digits, '-' and ','; help strings are quoted where a shell would look
 * into them. */

static bool is_listed(const struct tm_verb *verb)
{
    return !(verb->flags & TM_VERB_HIDDEN);
}

static bool takes(const struct tm_verb *verb, const struct tm_option *option)
{
    return (option->verbs & verb->bit) != 0;
}

/* Two words: an action of a verb. */
static bool is_action(const struct tm_verb *verb)
{
    return second_word(verb)[0] != '\0';
}

static void print_verbs(FILE *to)
{
    const char *blank = "";

    for (size_t i = 0; i < tm_verb_count; i++) {
        if (is_listed(tm_verbs[i]) && !is_action(tm_verbs[i])) {
            (void)fprintf(to, "%s%s", blank, tm_verbs[i]->name);
            blank = " ";
        }
    }
}

/* The second words of the verbs that start with this one, with something between them; nothing if there are none. */
static void print_actions(FILE *to, const struct tm_verb *verb, const char *separator)
{
    const char *before = "";

    for (size_t i = 0; i < tm_verb_count; i++) {
        if (is_action_of(tm_verbs[i], verb)) {
            (void)fprintf(to, "%s%s", before, second_word(tm_verbs[i]));
            before = separator;
        }
    }
}

/* Text between quotes, with `special` bytes escaped by a backslash. */
static void print_quoted(FILE *to, const char *text, const char *special)
{
    for (; *text; text++) {
        if (strchr(special, *text))
            (void)fputc('\\', to);
        (void)fputc(*text, to);
    }
}

/* ---- bash ---- */

static void print_bash_names(FILE *to, const struct tm_option *option)
{
    if (option->letter)
        (void)fprintf(to, "-%c|", option->letter);
    (void)fprintf(to, "--%s", option->name);
}

/* Whether names of files complete it. */
static bool takes_file(const struct tm_option *option)
{
    return option->kind == TM_KIND_TEXT && !tm_option_is_list(option);
}

static void print_bash_arguments(FILE *to)
{
    (void)fputs("    case $before in\n", to);
    for (size_t i = 0; i < TM_OPTION_COUNT; i++) {
        const struct tm_option *const option = &tm_option_table[i];

        if (!option->argument)
            continue;
        (void)fputs("    ", to);
        print_bash_names(to, option);
        (void)fputs(") ", to);
        if (option->kind == TM_KIND_WORDS)
            (void)fprintf(to,
                          "[[ $word == *,* ]] && list=${word%%,*},; mapfile -t COMPREPLY < <(compgen -P \"$list\" -W "
                          "'%s' -- \"${word##*,}\")",
                          option->words);
        else if (option->words)
            (void)fprintf(to, "mapfile -t COMPREPLY < <(compgen -W '%s' -- \"$word\")", option->words);
        else if (takes_file(option))
            (void)fputs("mapfile -t COMPREPLY < <(compgen -f -- \"$word\")", to);
        else
            (void)fputs("COMPREPLY=()", to);
        (void)fputs("; return ;;\n", to);
    }
    (void)fputs("    esac\n", to);
}

static void print_bash_verb(FILE *to, const struct tm_verb *verb)
{
    (void)fprintf(to, "    '%s') options='", verb->name);
    for (size_t i = 0; i < TM_OPTION_COUNT; i++) {
        if (takes(verb, &tm_option_table[i]))
            (void)fprintf(to, "--%s ", tm_option_table[i].name);
    }
    (void)fputs("'; operands='", to);
    if (strcmp(verb->name, "help") == 0)
        print_verbs(to);
    else if (verb->words)
        (void)fputs(verb->words, to);
    (void)fputs("'", to);
    if (has_actions(verb)) {
        (void)fputs("; actions='", to);
        print_actions(to, verb, " ");
        (void)fputs("'", to);
    }
    (void)fputs(" ;;\n", to);
}

/* A second word that is an action belongs to the verb. */
static void print_bash_actions(FILE *to)
{
    (void)fputs("    case \"$verb ${COMP_WORDS[i + 1]}\" in\n", to);
    for (size_t i = 0; i < tm_verb_count; i++) {
        if (is_action(tm_verbs[i]))
            (void)fprintf(to, "    '%s') ((i + 1 < COMP_CWORD)) && verb='%s' ;;\n", tm_verbs[i]->name,
                          tm_verbs[i]->name);
    }
    (void)fputs("    esac\n", to);
}

static void print_bash(FILE *to)
{
    (void)fputs("# bash completion for tracemill\n"
                "_tracemill() {\n"
                "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
                "    local verb='' options='--help --version' operands='' actions='' list='' i\n"
                "    COMPREPLY=()\n",
                to);
    print_bash_arguments(to);
    (void)fputs("    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                "        case ${COMP_WORDS[i]} in -*) ;; *) verb=${COMP_WORDS[i]}; break ;; esac\n"
                "    done\n",
                to);
    print_bash_actions(to);
    (void)fputs("    case $verb in\n"
                "    '') operands='",
                to);
    print_verbs(to);
    (void)fputs("' ;;\n", to);
    for (size_t i = 0; i < tm_verb_count; i++)
        print_bash_verb(to, tm_verbs[i]);
    (void)fputs("    esac\n"
                "    if [[ $word == -* ]]; then\n"
                "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
                "    elif [[ -n $actions ]] && ((COMP_CWORD == i + 1)); then\n"
                "        mapfile -t COMPREPLY < <(compgen -W \"$actions\" -- \"$word\"; compgen -f -- \"$word\")\n"
                "    elif [[ -n $operands ]]; then\n"
                "        mapfile -t COMPREPLY < <(compgen -W \"$operands\" -- \"$word\")\n"
                "    else\n"
                "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
                "    fi\n"
                "}\n"
                "complete -o filenames -F _tracemill tracemill\n",
                to);
}

/* ---- zsh ---- */

static void print_zsh_option(FILE *to, const struct tm_option *option)
{
    (void)fputs("            ", to);
    if (option->letter)
        (void)fprintf(to, "'(-%c --%s)'{-%c,--%s}'[", option->letter, option->name, option->letter, option->name);
    else
        (void)fprintf(to, "'--%s[", option->name);
    for (const char *at = option->help; *at; at++) {
        if (*at == '\'')
            (void)fputs("'\\''", to);
        else if (strchr("[]\\", *at)) /* would end the description */
            (void)fprintf(to, "\\%c", *at);
        else
            (void)fputc(*at, to);
    }
    (void)fputc(']', to);
    if (option->argument) {
        (void)fputs(": :", to);
        if (option->kind == TM_KIND_WORDS)
            (void)fprintf(to, "_values -s , %s %s", option->name, option->words);
        else if (option->words)
            (void)fprintf(to, "(%s)", option->words);
        else if (takes_file(option))
            (void)fputs("_files", to);
    }
    (void)fputs("' \\\n", to);
}

static void print_zsh_verb(FILE *to, const struct tm_verb *verb)
{
    (void)fprintf(to, "    '%s')\n        _arguments \\\n", verb->name);
    for (size_t i = 0; i < TM_OPTION_COUNT; i++) {
        if (takes(verb, &tm_option_table[i]))
            print_zsh_option(to, &tm_option_table[i]);
    }
    if (has_actions(verb))
        (void)fprintf(to, "            '1: :_tracemill_%s' \\\n", verb->name);
    (void)fputs("            '*: :", to);
    if (strcmp(verb->name, "help") == 0) {
        (void)fputc('(', to);
        print_verbs(to);
        (void)fputc(')', to);
    } else if (verb->words) {
        (void)fprintf(to, "(%s)", verb->words);
    } else {
        (void)fputs("_files", to);
    }
    (void)fputs("'\n        ;;\n", to);
}

/* What may follow a verb that has actions: one of them, or a path. */
static void print_zsh_actions(FILE *to, const struct tm_verb *verb)
{
    (void)fprintf(to, "_tracemill_%s() {\n    local -a actions\n    actions=(\n", verb->name);
    for (size_t i = 0; i < tm_verb_count; i++) {
        if (!is_action_of(tm_verbs[i], verb))
            continue;
        (void)fprintf(to, "        \"%s:", second_word(tm_verbs[i]));
        print_quoted(to, tm_verbs[i]->summary, "\"$`\\");
        (void)fputs("\"\n", to);
    }
    (void)fputs("    )\n    _describe action actions\n    _files\n}\n", to);
}

static void print_zsh(FILE *to)
{
    (void)fputs("#compdef tracemill\n"
                "# zsh completion for tracemill\n",
                to);
    for (size_t i = 0; i < tm_verb_count; i++) {
        if (has_actions(tm_verbs[i]))
            print_zsh_actions(to, tm_verbs[i]);
    }
    (void)fputs("_tracemill() {\n"
                "    local -a verbs\n"
                "    verbs=(\n",
                to);
    for (size_t i = 0; i < tm_verb_count; i++) {
        if (!is_listed(tm_verbs[i]) || is_action(tm_verbs[i]))
            continue;
        (void)fprintf(to, "        \"%s:", tm_verbs[i]->name);
        print_quoted(to, tm_verbs[i]->summary, "\"$`\\");
        (void)fputs("\"\n", to);
    }
    (void)fputs("    )\n"
                "    if ((CURRENT == 2)); then\n"
                "        _describe verb verbs\n"
                "        return\n"
                "    fi\n"
                "    local verb=$words[2]\n"
                "    shift words\n"
                "    ((CURRENT--))\n"
                "    case \"$verb $words[2]\" in\n",
                to);
    for (size_t i = 0; i < tm_verb_count; i++) {
        if (is_action(tm_verbs[i]))
            (void)fprintf(to, "    '%s') ((CURRENT > 2)) && verb='%s' && shift words && ((CURRENT--)) ;;\n",
                          tm_verbs[i]->name, tm_verbs[i]->name);
    }
    (void)fputs("    esac\n"
                "    case $verb in\n",
                to);
    for (size_t i = 0; i < tm_verb_count; i++)
        print_zsh_verb(to, tm_verbs[i]);
    (void)fputs("    esac\n"
                "}\n"
                "if [[ $funcstack[1] == _tracemill ]]; then _tracemill \"$@\"; else compdef "
                "_tracemill tracemill; fi\n",
                to);
}

/* ---- fish ---- */

/* The condition under which words belong to a verb with actions: none of them, or this one, was given. */
static void print_fish_action(FILE *to, const struct tm_verb *verb)
{
    const char *const second = second_word(verb);
    const size_t length = second[0] ? (size_t)(second - verb->name) - 1 : strlen(verb->name);

    (void)fprintf(to, "__fish_seen_subcommand_from %.*s; and ", (int)length, verb->name);
    (void)fputs(second[0] ? "__fish_seen_subcommand_from " : "not __fish_seen_subcommand_from ", to);
    if (second[0])
        (void)fputs(second, to);
    else
        print_actions(to, verb, " ");
}

/* Those of one word are in one list, the others each in their own block. */
static void print_fish_verbs(FILE *to, const struct tm_option *option)
{
    const char *before = "";
    bool any = false;

    for (size_t i = 0; i < tm_verb_count; i++) {
        const struct tm_verb *const verb = tm_verbs[i];

        if (!takes(verb, option) || is_action(verb) || has_actions(verb))
            continue;
        (void)fprintf(to, "%s %s", any ? "" : "__fish_seen_subcommand_from", verb->name);
        any = true;
        before = "; or ";
    }
    for (size_t i = 0; i < tm_verb_count; i++) {
        const struct tm_verb *const verb = tm_verbs[i];

        if (!takes(verb, option) || (!is_action(verb) && !has_actions(verb)))
            continue;
        (void)fprintf(to, "%sbegin; ", before);
        print_fish_action(to, verb);
        (void)fputs("; end", to);
        before = "; or ";
    }
}

static void print_fish_option(FILE *to, const struct tm_option *option)
{
    (void)fputs("complete -c tracemill", to);
    if (option->verbs != TM_FOR_ALL) {
        (void)fputs(" -n '", to);
        print_fish_verbs(to, option);
        (void)fputc('\'', to);
    }
    if (option->letter)
        (void)fprintf(to, " -s %c", option->letter);
    (void)fprintf(to, " -l %s -d \"", option->name);
    print_quoted(to, option->help, "\"$\\");
    (void)fputc('"', to);
    if (option->kind == TM_KIND_WORDS)
        (void)fprintf(to, " -x -a '(__fish_append , %s)'", option->words);
    else if (option->words)
        (void)fprintf(to, " -x -a '%s'", option->words);
    else if (option->argument)
        (void)fputs(takes_file(option) ? " -r -F" : " -x", to);
    (void)fputc('\n', to);
}

/* The verb that an action belongs to. */
static const struct tm_verb *action_begin(const struct tm_verb *action)
{
    size_t i = 0;

    while (!is_action_of(action, tm_verbs[i]))
        i++; /* it is there: a verb of two words has one of the first */
    return tm_verbs[i];
}

static void print_fish(FILE *to)
{
    (void)fputs("# fish completion for tracemill\n", to);
    for (size_t i = 0; i < tm_verb_count; i++) {
        const struct tm_verb *const verb = tm_verbs[i];

        if (is_listed(verb)) {
            (void)fputs("complete -c tracemill -n ", to);
            if (is_action(verb)) {
                (void)fputc('\'', to);
                print_fish_action(to, action_begin(verb));
                (void)fputc('\'', to);
            } else {
                (void)fputs("__fish_use_subcommand -f", to);
            }
            (void)fprintf(to, " -a %s -d \"", is_action(verb) ? second_word(verb) : verb->name);
            print_quoted(to, verb->summary, "\"$\\");
            (void)fputs("\"\n", to);
        }
        if (verb->words)
            (void)fprintf(to, "complete -c tracemill -n '__fish_seen_subcommand_from %s' -f -a '%s'\n", verb->name,
                          verb->words);
    }
    (void)fputs("complete -c tracemill -n '__fish_seen_subcommand_from help' -f -a '", to);
    print_verbs(to);
    (void)fputs("'\n", to);
    for (size_t i = 0; i < TM_OPTION_COUNT; i++)
        print_fish_option(to, &tm_option_table[i]);
}

/* Completions.  out: false if there is no such shell */
static bool help_completions(const char *shell, FILE *to)
{
    static const struct {
        const char *shell;
        void (*print)(FILE *to);
    } printers[] = { { "bash", print_bash }, { "zsh", print_zsh }, { "fish", print_fish } };

    for (size_t i = 0; i < sizeof(printers) / sizeof(printers[0]); i++) {
        if (strcmp(printers[i].shell, shell) == 0) {
            printers[i].print(to);
            return true;
        }
    }
    return false;
}

static tm_status refuse_action(struct tm_run *run, const struct tm_verb *verb, const char *typed)
{
    const struct tm_verb *const action = tm_verb_nearest_action(verb, typed);

    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "no help for '%s %s': there is no such verb", verb->name, typed);
    if (action)
        tm_hint(&run->error, "did you mean '%s'?", action->name);
    else
        tm_hint(&run->error, "'tracemill help' lists the verbs");
    return TM_ERR_USAGE;
}

static tm_status run_help(struct tm_run *run, const struct tm_options *options)
{
    struct tm_nearest nearest = { 0 };
    size_t used;

    if (options->input_count == 0) {
        tm_help_overview(stdout);
        return TM_OK;
    }
    /* a second word, as in `help config show`, belongs to the verb */
    const struct tm_verb *const verb = tm_verb_by_words(options->inputs, options->input_count, &used);

    if (verb && has_actions(verb) && used < options->input_count)
        return refuse_action(run, verb, options->inputs[used]);
    if (verb) {
        help_verb(verb, stdout);
        return TM_OK;
    }
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "no help for '%s': there is no such verb", options->inputs[0]);
    for (size_t i = 0; i < tm_verb_count; i++)
        tm_nearest_offer(&nearest, options->inputs[0], tm_verbs[i]->name);
    if (nearest.word)
        tm_hint(&run->error, "did you mean '%s'?", nearest.word);
    else
        tm_hint(&run->error, "'tracemill help' lists the verbs");
    return TM_ERR_USAGE;
}

static tm_status run_man(struct tm_run *run, const struct tm_options *options)
{
    (void)run;
    (void)options;
    help_manual(stdout);
    return TM_OK;
}

static tm_status run_completions(struct tm_run *run, const struct tm_options *options)
{
    if (help_completions(options->inputs[0], stdout))
        return TM_OK;
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "no completions for '%s'", options->inputs[0]);
    tm_hint(&run->error, "the supported shells are bash, zsh and fish");
    return TM_ERR_USAGE;
}

/* clang-format off */
const struct tm_verb tm_help_verb = {
    .name = "help",
    .summary = "print help for a verb",
    .usage = "[VERB]",
    .description = "Without a verb, it lists the verbs and the exit statuses.",
    .examples = "",
    .bit = TM_FOR_WORDS,
    .flags = TM_VERB_PRINTS | TM_VERB_NO_CONFIG,
    .most = 2,
    .run = run_help,
};
/* clang-format on */

/* clang-format off */
const struct tm_verb tm_man_verb = {
    .name = "man",
    .summary = "print the manual page in roff format",
    .usage = "",
    .description = "For packagers: 'tracemill man > tracemill.1'.",
    .examples = "",
    .bit = TM_FOR_WORDS,
    .flags = TM_VERB_HIDDEN | TM_VERB_PRINTS | TM_VERB_NO_CONFIG,
    .run = run_man,
};
/* clang-format on */

/* clang-format off */
const struct tm_verb tm_completions_verb = {
    .name = "completions",
    .summary = "print shell completions",
    .usage = "bash|zsh|fish",
    .description =
        "For packagers and shell start-up files: 'source <(tracemill completions bash)'.",
    .examples = "",
    .words = "bash zsh fish",
    .bit = TM_FOR_WORDS,
    .flags = TM_VERB_HIDDEN | TM_VERB_PRINTS | TM_VERB_NO_CONFIG,
    .least = 1,
    .most = 1,
    .run = run_completions,
};
/* clang-format on */
