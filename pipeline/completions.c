/* SPDX-License-Identifier: Apache-2.0 */
/* Completions for bash, zsh and fish, made from the tables of verbs and options.  Names and words
 * of the tables are letters, digits, '-' and ','; help texts are quoted where a shell would look
 * into them. */
#include <string.h>

#include "pipeline/help_text.h"

static bool is_listed(const struct tm_verb *verb)
{
    return !(verb->flags & TM_VERB_HIDDEN);
}

static bool takes(const struct tm_verb *verb, const struct tm_option *option)
{
    return (option->verbs & (uint32_t)verb->bit) != 0;
}

static void print_verbs(FILE *to)
{
    const char *blank = "";

    for (size_t i = 0; i < tm_verb_count; i++) {
        if (is_listed(&tm_verb_table[i])) {
            (void)fprintf(to, "%s%s", blank, tm_verb_table[i].name);
            blank = " ";
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
        if (option->words)
            (void)fprintf(to, "mapfile -t COMPREPLY < <(compgen -W '%s' -- \"$word\")",
                          option->words);
        else if (option->kind == TM_KIND_TEXT)
            (void)fputs("mapfile -t COMPREPLY < <(compgen -f -- \"$word\")", to);
        else
            (void)fputs("COMPREPLY=()", to);
        (void)fputs("; return ;;\n", to);
    }
    (void)fputs("    esac\n", to);
}

static void print_bash_verb(FILE *to, const struct tm_verb *verb)
{
    (void)fprintf(to, "    %s) options='", verb->name);
    for (size_t i = 0; i < TM_OPTION_COUNT; i++) {
        if (takes(verb, &tm_option_table[i]))
            (void)fprintf(to, "--%s ", tm_option_table[i].name);
    }
    (void)fputs("'; operands='", to);
    if (strcmp(verb->name, "help") == 0)
        print_verbs(to);
    else if (verb->words)
        (void)fputs(verb->words, to);
    (void)fputs("' ;;\n", to);
}

static void print_bash(FILE *to)
{
    (void)fputs("# bash completion for tracemill\n"
                "_tracemill() {\n"
                "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
                "    local verb='' options='--help --version' operands='' i\n"
                "    COMPREPLY=()\n",
                to);
    print_bash_arguments(to);
    (void)fputs("    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                "        case ${COMP_WORDS[i]} in -*) ;; *) verb=${COMP_WORDS[i]}; break ;; esac\n"
                "    done\n"
                "    case $verb in\n"
                "    '') operands='",
                to);
    print_verbs(to);
    (void)fputs("' ;;\n", to);
    for (size_t i = 0; i < tm_verb_count; i++)
        print_bash_verb(to, &tm_verb_table[i]);
    (void)fputs("    esac\n"
                "    if [[ $word == -* ]]; then\n"
                "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
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
        (void)fprintf(to, "'(-%c --%s)'{-%c,--%s}'[", option->letter, option->name, option->letter,
                      option->name);
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
        if (option->words)
            (void)fprintf(to, "(%s)", option->words);
        else if (option->kind == TM_KIND_TEXT)
            (void)fputs("_files", to);
    }
    (void)fputs("' \\\n", to);
}

static void print_zsh_verb(FILE *to, const struct tm_verb *verb)
{
    (void)fprintf(to, "    %s)\n        _arguments \\\n", verb->name);
    for (size_t i = 0; i < TM_OPTION_COUNT; i++) {
        if (takes(verb, &tm_option_table[i]))
            print_zsh_option(to, &tm_option_table[i]);
    }
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

static void print_zsh(FILE *to)
{
    (void)fputs("#compdef tracemill\n"
                "# zsh completion for tracemill\n"
                "_tracemill() {\n"
                "    local -a verbs\n"
                "    verbs=(\n",
                to);
    for (size_t i = 0; i < tm_verb_count; i++) {
        if (!is_listed(&tm_verb_table[i]))
            continue;
        (void)fprintf(to, "        \"%s:", tm_verb_table[i].name);
        print_quoted(to, tm_verb_table[i].summary, "\"$`\\");
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
                "    case $verb in\n",
                to);
    for (size_t i = 0; i < tm_verb_count; i++)
        print_zsh_verb(to, &tm_verb_table[i]);
    (void)fputs("    esac\n"
                "}\n"
                "if [[ $funcstack[1] == _tracemill ]]; then _tracemill \"$@\"; else compdef "
                "_tracemill tracemill; fi\n",
                to);
}

/* ---- fish ---- */

static void print_fish_option(FILE *to, const struct tm_option *option)
{
    (void)fputs("complete -c tracemill", to);
    if (option->verbs != TM_FOR_ALL) {
        (void)fputs(" -n '__fish_seen_subcommand_from", to);
        for (size_t i = 0; i < tm_verb_count; i++) {
            if (takes(&tm_verb_table[i], option))
                (void)fprintf(to, " %s", tm_verb_table[i].name);
        }
        (void)fputc('\'', to);
    }
    if (option->letter)
        (void)fprintf(to, " -s %c", option->letter);
    (void)fprintf(to, " -l %s -d \"", option->name);
    print_quoted(to, option->help, "\"$\\");
    (void)fputc('"', to);
    if (option->words)
        (void)fprintf(to, " -x -a '%s'", option->words);
    else if (option->argument)
        (void)fputs(option->kind == TM_KIND_TEXT ? " -r -F" : " -x", to);
    (void)fputc('\n', to);
}

static void print_fish(FILE *to)
{
    (void)fputs("# fish completion for tracemill\n", to);
    for (size_t i = 0; i < tm_verb_count; i++) {
        const struct tm_verb *const verb = &tm_verb_table[i];

        if (is_listed(verb)) {
            (void)fprintf(to, "complete -c tracemill -n __fish_use_subcommand -f -a %s -d \"",
                          verb->name);
            print_quoted(to, verb->summary, "\"$\\");
            (void)fputs("\"\n", to);
        }
        if (verb->words)
            (void)fprintf(to,
                          "complete -c tracemill -n '__fish_seen_subcommand_from %s' -f -a '%s'\n",
                          verb->name, verb->words);
    }
    (void)fputs("complete -c tracemill -n '__fish_seen_subcommand_from help' -f -a '", to);
    print_verbs(to);
    (void)fputs("'\n", to);
    for (size_t i = 0; i < TM_OPTION_COUNT; i++)
        print_fish_option(to, &tm_option_table[i]);
}

bool tm_help_completions(const char *shell, FILE *to)
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
