/* SPDX-License-Identifier: Apache-2.0 */
/* Help for people and the manual page, both made from the tables of verbs and options.
 * roff: man(7) macros only, every text escaped in one place (roff_text). */
#include "pipeline/help_text.h"

#include <ctype.h>
#include <string.h>

#include "pipeline/version.h"

enum { WIDTH = 96, OPTION_COLUMN = 33, VERB_COLUMN = 16 };

static const char tagline[] = "diagnose slow training and inference runs from JAX, PyTorch and TPU profiles";

static const struct {
    int status;
    const char *meaning;
} exit_statuses[] = {
    { TM_OK, "done" },
    { TM_GATE, "a gate failed, of 'check', of a batch, or of 'compare --fail-on'" },
    { TM_ERR_USAGE, "the command line or a configuration file is wrong" },
    { TM_ERR_INPUT,
      "the input is unreadable, empty or not a trace; with --strict: there is any loss in it" },
    { TM_PARTIAL, "done, but the input was damaged or is not complete, or traces of a batch failed" },
    { TM_ERR_OUTPUT, "an output or a spill file could not be written" },
    { TM_ERR_LIMIT, "a limit was reached, memory included" },
};

static const char signal_meaning[] =
    "ended by signal n; outputs that were not complete are removed";

/* ---- plain text ---- */

/* Words from `column` on, broken before WIDTH, later lines indented; ends the line. */
static void print_wrapped(FILE *to, const char *text, size_t length, int column, int indent)
{
    const char *const end = text + length;
    int at = column;

    while (text < end) {
        size_t word = 0;

        while (text + word < end && text[word] != ' ')
            word++;
        if (at > indent && at + 1 + (int)word > WIDTH) {
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

/* Lines, each indented by two. */
static void print_lines(FILE *to, const char *text)
{
    while (*text) {
        const size_t length = strcspn(text, "\n");

        (void)fprintf(to, "  %.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

/* A default that is worth telling. */
static const char *shown_default(const struct tm_option *option)
{
    return option->kind != TM_KIND_FLAG ? option->fallback : NULL;
}

static void print_option(FILE *to, const struct tm_option *option)
{
    char help[512];
    int column = option->letter ? fprintf(to, "  -%c, --%s", option->letter, option->name)
                                : fprintf(to, "      --%s", option->name);

    if (option->argument)
        column += fprintf(to, " %s", option->argument);
    (void)fprintf(to, "%*s", column < OPTION_COLUMN ? OPTION_COLUMN - column : 1, "");
    const char *const fallback = shown_default(option);
    const int length =
        snprintf(help, sizeof(help), "%s%s%s%s", option->help, fallback ? " (default " : "",
                 fallback ? fallback : "", fallback ? ")" : "");

    print_wrapped(to, help, length < (int)sizeof(help) ? (size_t)length : sizeof(help) - 1,
                  OPTION_COLUMN, OPTION_COLUMN);
}

void tm_help_overview(FILE *to)
{
    (void)fprintf(to,
                  "tracemill %s: %s\n\nusage: tracemill VERB [OPTION...] [INPUT...]\n\nverbs:\n",
                  TM_VERSION, tagline);
    for (size_t i = 0; i < tm_verb_count; i++) {
        if (!(tm_verb_table[i].flags & TM_VERB_HIDDEN))
            (void)fprintf(to, "  %-*s%s\n", VERB_COLUMN - 2, tm_verb_table[i].name,
                          tm_verb_table[i].summary);
    }
    (void)fputs("\nexit status:\n", to);
    for (size_t i = 0; i < sizeof(exit_statuses) / sizeof(exit_statuses[0]); i++)
        (void)fprintf(to, "  %-*d%s\n", VERB_COLUMN - 2, exit_statuses[i].status,
                      exit_statuses[i].meaning);
    (void)fprintf(to, "  %-*s%s\n\n", VERB_COLUMN - 2, "128+n", signal_meaning);
    (void)fputs("'tracemill help VERB' tells more about a verb and lists its options.\n", to);
}

void tm_help_verb(const struct tm_verb *verb, FILE *to)
{
    (void)fprintf(to, "usage: tracemill %s%s%s\n\n", verb->name, verb->usage[0] ? " " : "",
                  verb->usage);
    print_paragraphs(to, verb->description);
    (void)fputs("\noptions:\n", to);
    for (size_t i = 0; i < TM_OPTION_COUNT; i++) {
        if (tm_option_table[i].verbs & (uint32_t)verb->bit)
            print_option(to, &tm_option_table[i]);
    }
    if (verb->examples[0]) {
        (void)fputs("\nexamples:\n", to);
        print_lines(to, verb->examples);
    }
    if (!(verb->flags & TM_VERB_NO_CONFIG)) {
        (void)fputc('\n', to);
        print_paragraphs(
            to,
            "What 'tracemill config show' lists can also be set by a variable, such as TRACEMILL_MEMORY,"
            " or in the file that --config names. --OPTION=no turns off what was turned on there.");
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
    (void)fputs("Taken by", to);
    for (size_t i = 0; i < tm_verb_count; i++) {
        const struct tm_verb *const verb = &tm_verb_table[i];

        if ((verb->flags & TM_VERB_HIDDEN) || !(option->verbs & (uint32_t)verb->bit))
            continue;
        (void)fprintf(to, "%s ", any ? "," : "");
        (void)fprintf(to, "\\fB%s\\fR", verb->name);
        any = true;
    }
    (void)fputs(".\n", to);
}

static void roff_option(FILE *to, const struct tm_option *option)
{
    const char *const fallback = shown_default(option);

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
    (void)fputs(".SH ENVIRONMENT\n", to);
    for (size_t i = 0; i < TM_OPTION_COUNT; i++) {
        const struct tm_option *const option = &tm_option_table[i];

        if (!option->environment)
            continue;
        (void)fprintf(to, ".TP\n.B %s\n", option->environment);
        (void)fputs("As \\fB\\-\\-", to);
        roff_text(to, option->name, strlen(option->name));
        (void)fputs("\\fR", to);
        if (option->key)
            (void)fprintf(to, "; in a configuration file: \\fB%s\\fR", option->key);
        (void)fputs(".\n", to);
    }
    (void)fputs(".TP\n.B NO_COLOR\nNo colors, if it is not empty.\n", to);
    (void)fputs(".TP\n.B TMPDIR\nWhere spill files go, if nothing else is said.\n", to);
    (void)fputs(".TP\n.B SOURCE_DATE_EPOCH\nThe time that outputs are dated with; for a batch also what day it is, where the"
                " clock of the machine is behind it.\n",
                to);
}

void tm_help_manual(FILE *to)
{
    (void)fprintf(to, ".TH TRACEMILL 1 \"\" \"tracemill %s\" \"User Commands\"\n", TM_VERSION);
    (void)fputs(".SH NAME\ntracemill \\- ", to);
    roff_line(to, tagline);
    (void)fputs(".SH SYNOPSIS\n.B tracemill\n\\fIVERB\\fR [\\fIOPTION\\fR...] [\\fIINPUT\\fR...]\n",
                to);
    (void)fputs(".SH VERBS\n", to);
    for (size_t i = 0; i < tm_verb_count; i++) {
        if (!(tm_verb_table[i].flags & TM_VERB_HIDDEN))
            roff_verb(to, &tm_verb_table[i]);
    }
    (void)fputs(".SH OPTIONS\n", to);
    roff_paragraphs(
        to, "Long options are written in full. --OPTION=no turns off what the environment or a"
            " configuration file turned on.");
    for (size_t i = 0; i < TM_OPTION_COUNT; i++)
        roff_option(to, &tm_option_table[i]);
    roff_statuses(to);
    roff_environment(to);
    (void)fputs(".SH EXAMPLES\n", to);
    for (size_t i = 0; i < tm_verb_count; i++)
        roff_examples(to, tm_verb_table[i].examples);
}
