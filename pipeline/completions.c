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

/* Of two words: an action of a verb. */
static bool is_action(const struct tm_verb *verb)
{
    return tm_verb_second_word(verb)[0] != '\0';
}

static void print_verbs(FILE *to)
{
    const char *blank = "";

    for (size_t i = 0; i < tm_verb_count; i++) {
        if (is_listed(&tm_verb_table[i]) && !is_action(&tm_verb_table[i])) {
            (void)fprintf(to, "%s%s", blank, tm_verb_table[i].name);
            blank = " ";
        }
    }
}

/* The second words of the verbs that begin with this one, with something between them; nothing where there are none. */
static void print_actions(FILE *to, const struct tm_verb *verb, const char *separator)
{
    const char *before = "";

    for (size_t i = 0; i < tm_verb_count; i++) {
        if (tm_verb_is_action_of(&tm_verb_table[i], verb)) {
            (void)fprintf(to, "%s%s", before, tm_verb_second_word(&tm_verb_table[i]));
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
    if (tm_verb_has_actions(verb)) {
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
        if (is_action(&tm_verb_table[i]))
            (void)fprintf(to, "    '%s') ((i + 1 < COMP_CWORD)) && verb='%s' ;;\n", tm_verb_table[i].name,
                          tm_verb_table[i].name);
    }
    (void)fputs("    esac\n", to);
}

static void print_bash(FILE *to)
{
    (void)fputs("# bash completion for tracemill\n"
                "_tracemill() {\n"
                "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
                "    local verb='' options='--help --version' operands='' actions='' i\n"
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
        print_bash_verb(to, &tm_verb_table[i]);
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
    (void)fprintf(to, "    '%s')\n        _arguments \\\n", verb->name);
    for (size_t i = 0; i < TM_OPTION_COUNT; i++) {
        if (takes(verb, &tm_option_table[i]))
            print_zsh_option(to, &tm_option_table[i]);
    }
    if (tm_verb_has_actions(verb))
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
        if (!tm_verb_is_action_of(&tm_verb_table[i], verb))
            continue;
        (void)fprintf(to, "        \"%s:", tm_verb_second_word(&tm_verb_table[i]));
        print_quoted(to, tm_verb_table[i].summary, "\"$`\\");
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
        if (tm_verb_has_actions(&tm_verb_table[i]))
            print_zsh_actions(to, &tm_verb_table[i]);
    }
    (void)fputs("_tracemill() {\n"
                "    local -a verbs\n"
                "    verbs=(\n",
                to);
    for (size_t i = 0; i < tm_verb_count; i++) {
        if (!is_listed(&tm_verb_table[i]) || is_action(&tm_verb_table[i]))
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
                "    case \"$verb $words[2]\" in\n",
                to);
    for (size_t i = 0; i < tm_verb_count; i++) {
        if (is_action(&tm_verb_table[i]))
            (void)fprintf(to, "    '%s') ((CURRENT > 2)) && verb='%s' && shift words && ((CURRENT--)) ;;\n",
                          tm_verb_table[i].name, tm_verb_table[i].name);
    }
    (void)fputs("    esac\n"
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

/* The condition under which words belong to a verb with actions: none of them, or this one, was given. */
static void print_fish_action(FILE *to, const struct tm_verb *verb)
{
    const char *const second = tm_verb_second_word(verb);
    const size_t length = second[0] ? (size_t)(second - verb->name) - 1 : strlen(verb->name);

    (void)fprintf(to, "__fish_seen_subcommand_from %.*s; and ", (int)length, verb->name);
    (void)fputs(second[0] ? "__fish_seen_subcommand_from " : "not __fish_seen_subcommand_from ", to);
    if (second[0])
        (void)fputs(second, to);
    else
        print_actions(to, verb, " ");
}

/* Those of one word stand in one list, the others each in a block of their own. */
static void print_fish_verbs(FILE *to, const struct tm_option *option)
{
    const char *before = "";
    bool any = false;

    for (size_t i = 0; i < tm_verb_count; i++) {
        const struct tm_verb *const verb = &tm_verb_table[i];

        if (!takes(verb, option) || is_action(verb) || tm_verb_has_actions(verb))
            continue;
        (void)fprintf(to, "%s %s", any ? "" : "__fish_seen_subcommand_from", verb->name);
        any = true;
        before = "; or ";
    }
    for (size_t i = 0; i < tm_verb_count; i++) {
        const struct tm_verb *const verb = &tm_verb_table[i];

        if (!takes(verb, option) || (!is_action(verb) && !tm_verb_has_actions(verb)))
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
    if (option->words)
        (void)fprintf(to, " -x -a '%s'", option->words);
    else if (option->argument)
        (void)fputs(option->kind == TM_KIND_TEXT ? " -r -F" : " -x", to);
    (void)fputc('\n', to);
}

/* The verb that an action is of. */
static const struct tm_verb *action_begin(const struct tm_verb *action)
{
    size_t i = 0;

    while (!tm_verb_is_action_of(action, &tm_verb_table[i]))
        i++; /* it is there: a verb of two words has one of the first */
    return &tm_verb_table[i];
}

static void print_fish(FILE *to)
{
    (void)fputs("# fish completion for tracemill\n", to);
    for (size_t i = 0; i < tm_verb_count; i++) {
        const struct tm_verb *const verb = &tm_verb_table[i];

        if (is_listed(verb)) {
            (void)fputs("complete -c tracemill -n ", to);
            if (is_action(verb)) {
                (void)fputc('\'', to);
                print_fish_action(to, action_begin(verb));
                (void)fputc('\'', to);
            } else {
                (void)fputs("__fish_use_subcommand -f", to);
            }
            (void)fprintf(to, " -a %s -d \"", is_action(verb) ? tm_verb_second_word(verb) : verb->name);
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
