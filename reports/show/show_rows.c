/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows of a table are printed, and the sums of the others.  Only the index of a row in the list is
 * kept.
 *
 * Conditions are parsed once into a tree of fixed size, by recursive descent of limited depth, then evaluated for each
 * row.  The types and units are in the tables of fields, so that a wrong name, a wrong unit and a wrong word are
 * found before the first row is examined. */
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "pipeline/store/bounded_sum.h"
#include "pipeline/strings.h"
#include "reports/gates/gates.h"
#include "reports/show/show.h"

/* --- conditions --- */

enum { REASON_BYTES = 256, AROUND_BYTES = 48, WORDS_MOST = 16, NO_TERM = UINT16_MAX };

enum operand_kind { OPERAND_FIELD, OPERAND_QUANTITY, OPERAND_TEXT, OPERAND_FLAG, OPERAND_NULL };

struct operand {
    enum operand_kind kind;
    size_t at;                        /* in the text, for messages */
    const char *text;                 /* a path, or the text of a literal */
    const struct tm_doc_field *field; /* of a FIELD */
    bool is_word, is_map;             /* a text without quotes; a FIELD with members */
    bool flag;
    struct tm_gate_limit quantity;
};

enum op {
    OP_AND,
    OP_OR,
    OP_NOT,
    OP_EQUAL,
    OP_UNEQUAL,
    OP_LESS,
    OP_AT_MOST,
    OP_MORE,
    OP_AT_LEAST,
    OP_CONTAINS,
    OP_LACKS,
    OP_IS_NULL,
    OP_IS_TRUE
};

struct term {
    enum op op;
    uint16_t left, right; /* of AND, OR; NOT: left */
    struct operand a, b;  /* of a comparison */
};

struct condition {
    struct tm_run *run;
    const struct tm_doc_field *fields;
    const char *text;
    size_t at;
    unsigned depth;
    bool is_refused;
    uint16_t count, root;
    struct term term[TM_WHERE_TERMS];
    char texts[2 * TM_WHERE_BYTES]; /* paths and literals, each with its NUL */
    size_t used;
};

/* --- errors --- */

/* The text around a position, with '^' before it. */
static void point(char *out, size_t bytes, const char *text, size_t at)
{
    const size_t length = strlen(text), from = at > AROUND_BYTES ? at - AROUND_BYTES : 0,
                 to = length - at > AROUND_BYTES ? at + AROUND_BYTES : length;

    (void)snprintf(out, bytes, "%s%.*s^%.*s%s", from ? "..." : "", (int)(at - from), text + from, (int)(to - at),
                   text + at, to < length ? "..." : "");
}

static void refuse(struct condition *w, size_t at, const char *format, ...) TM_PRINTF(3, 4);

static void refuse(struct condition *w, size_t at, const char *format, ...)
{
    char reason[REASON_BYTES], place[2 * AROUND_BYTES + 16];
    size_t characters = 0;
    va_list list;

    if (w->is_refused)
        return;
    w->is_refused = true;
    va_start(list, format);
    (void)vsnprintf(reason, sizeof(reason), format, list);
    va_end(list);
    for (size_t i = 0; i < at; i++)
        characters += ((unsigned char)w->text[i] & 0xc0) != 0x80;
    point(place, sizeof(place), w->text, at);
    (void)tm_fail(&w->run->error, TM_ERR_USAGE, -1, "cannot use '%s' for --where: %s (character %zu)", place, reason,
                  characters + 1);
}

/* --- words --- */

static void skip_blanks(struct condition *w)
{
    w->at += strspn(w->text + w->at, " \t\r\n");
}

static bool is_name_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Bytes of the word that starts here: members by dots, elements in brackets. */
static size_t word_length(const char *at)
{
    size_t n = 0;

    if (!is_name_byte(at[0]))
        return 0;
    while (is_name_byte(at[n]) || at[n] == '[' || (at[n] == '.' && is_name_byte(at[n + 1]))) {
        if (at[n] == '[') {
            const size_t inside = strcspn(at + n, "]");

            if (!at[n + inside])
                return n;
            n += inside;
        }
        n++;
    }
    return n;
}

/* The word, if it is at this position; any case. */
static bool take_word(struct condition *w, const char *word)
{
    const size_t length = strlen(word);

    skip_blanks(w);
    if (strncasecmp(w->text + w->at, word, length) != 0 || is_name_byte(w->text[w->at + length]))
        return false;
    w->at += length;
    return true;
}

static bool take_sign(struct condition *w, const char *sign)
{
    const size_t length = strlen(sign);

    skip_blanks(w);
    if (strncmp(w->text + w->at, sign, length) != 0)
        return false;
    w->at += length;
    return true;
}

/* owns: the text lives as long as the condition */
static char *keep(struct condition *w, const char *text, size_t length)
{
    char *to = w->texts + w->used;

    if (length >= sizeof(w->texts) - w->used) {
        refuse(w, w->at, "it is too long");
        w->texts[0] = '\0';
        return w->texts;
    }
    memcpy(to, text, length);
    to[length] = '\0';
    w->used += length + 1;
    return to;
}

/* --- operands --- */

/* Inside quotes, two quotes represent one. */
static void read_quoted(struct condition *w, struct operand *to)
{
    const char quote = w->text[w->at++];
    char *const out = w->texts + w->used;
    size_t n = 0;

    for (; w->text[w->at] != quote || w->text[w->at + 1] == quote; w->at++) {
        if (!w->text[w->at]) {
            refuse(w, to->at, "the closing quote is missing");
            return;
        }
        w->at += w->text[w->at] == quote;
        if (n + 1 >= sizeof(w->texts) - w->used) {
            refuse(w, to->at, "it is too long");
            return;
        }
        out[n++] = w->text[w->at];
    }
    w->at++;
    out[n] = '\0';
    w->used += n + 1;
    to->kind = OPERAND_TEXT;
    to->text = out;
}

static size_t unit_length(const char *text)
{
    size_t n = 0;

    while (is_name_byte(text[n]) || text[n] == '%' || text[n] == '/')
        n++;
    return n;
}

/* A number and its unit, which a space may precede: then only a valid unit counts as one. */
static void read_quantity(struct condition *w, struct operand *to)
{
    const char *const text = w->text + w->at;
    size_t n = 1 + strspn(text + 1, "0123456789.");
    struct tm_wrong wrong = { NULL, NULL };

    if ((text[n] == 'e' || text[n] == 'E') && strspn(text + n + 1, "+-0123456789"))
        n += 1 + strspn(text + n + 1, "+-0123456789");
    n += unit_length(text + n);
    to->kind = OPERAND_QUANTITY;
    if (text[n] == ' ' && unit_length(text + n + 1)) {
        const size_t used = w->used;

        to->text = keep(w, text, n + 1 + unit_length(text + n + 1));
        if (!w->is_refused && tm_gate_limit_read(to->text, &to->quantity, &wrong)) {
            w->at += strlen(to->text);
            return;
        }
        w->used = used;
    }
    to->text = keep(w, text, n);
    w->at += n;
    if (!w->is_refused && !tm_gate_limit_read(to->text, &to->quantity, &wrong)) {
        refuse(w, to->at, "%s", wrong.reason);
        if (wrong.hint)
            tm_hint(&w->run->error, "%s", wrong.hint);
    }
    if (to->quantity.kind == TM_IN_BARE) /* in the unit of its field, which most names contain: "total_ps" */
        to->quantity.kind = TM_IN_NUMBER;
}

static void read_operand(struct condition *w, struct operand *to)
{
    struct tm_doc_place place;
    size_t length;

    skip_blanks(w);
    *to = (struct operand){ .kind = OPERAND_NULL, .at = w->at, .text = "" };
    const char c = w->text[w->at];

    if (c == '"' || c == '\'') {
        read_quoted(w, to);
        return;
    }
    if (isdigit((unsigned char)c) || ((c == '-' || c == '+') && isdigit((unsigned char)w->text[w->at + 1]))) {
        read_quantity(w, to);
        return;
    }
    length = word_length(w->text + w->at);
    if (length == 0) {
        refuse(w, w->at, c ? "a field, a number or a text is missing here" : "it ends too early");
        return;
    }
    to->text = keep(w, w->text + w->at, length);
    w->at += length;
    to->flag = strcasecmp(to->text, "true") == 0;
    if (tm_doc_place_at(&place, w->fields, to->text)) {
        to->kind = OPERAND_FIELD;
        to->field = place.field;
        to->is_map = place.is_map;
    } else if (to->flag || strcasecmp(to->text, "false") == 0) {
        to->kind = OPERAND_FLAG;
    } else if (strcasecmp(to->text, "null") != 0) {
        to->kind = OPERAND_TEXT;
        to->is_word = true;
    }
}

/* --- are they compatible? --- */

static bool is_number_kind(enum tm_doc_kind kind)
{
    return kind >= TM_DOC_TIME && kind <= TM_DOC_NUMBER;
}

static void refuse_field(struct condition *w, const struct operand *wrong)
{
    refuse(w, wrong->at, "there is no field '%.60s'", wrong->text);
    tm_show_suggest(w->run, w->fields, wrong->text);
}

static void check_word(struct condition *w, const struct operand *field, const struct operand *value)
{
    const char *const words = field->field->words;
    struct tm_nearest nearest = { NULL, 0 };
    char known[WORDS_MOST][TM_SHOW_KEY];
    size_t count = 0;

    for (const char *at = words; *at && count < WORDS_MOST; count++) {
        const size_t length = strcspn(at, "|");

        (void)snprintf(known[count], sizeof(known[count]), "%.*s", (int)length, at);
        if (strcmp(known[count], value->text) == 0)
            return;
        tm_nearest_offer(&nearest, value->text, known[count]);
        at += length + (at[length] == '|');
    }
    refuse(w, value->at, "'%.40s' is never '%.40s'", field->text, value->text);
    if (nearest.word)
        tm_hint(&w->run->error, "did you mean '%s'?  It is one of %s", nearest.word, words);
    else
        tm_hint(&w->run->error, "it is one of %s", words);
}

/* in: op  its place in the text is that of the value */
static void check_pair(struct condition *w, const struct operand *field, const struct operand *value, enum op op)
{
    const enum tm_doc_kind kind = tm_doc_kind_of(field->field);
    const bool is_number = is_number_kind(kind), is_match = op == OP_CONTAINS || op == OP_LACKS;
    struct tm_wrong wrong = { NULL, NULL };
    double number;

    if (kind == TM_DOC_OBJECT || kind == TM_DOC_POINT || field->is_map) {
        refuse(w, field->at, "'%.60s' has members: use one of them, or write 'is null'", field->text);
    } else if (value->kind == OPERAND_NULL && op != OP_EQUAL && op != OP_UNEQUAL) {
        refuse(w, value->at, "null cannot be ordered: write 'is null' or 'is not null'");
    } else if (is_match && (is_number || kind == TM_DOC_BOOL)) {
        refuse(w, field->at, "'%.60s' is not a text: '~' searches texts", field->text);
    } else if (value->kind == OPERAND_TEXT && is_number) {
        if (value->is_word)
            refuse_field(w, value);
        else
            refuse(w, value->at, "'%.60s' is a number", field->text);
    } else if (value->kind == OPERAND_QUANTITY && is_number) {
        const char *const unit = tm_doc_unit(kind);

        if (tm_show_has_unit_beside(field->field) && tm_doc_field_by_key(w->fields, "unit", strlen("unit")))
            return;
        if (!tm_gate_limit_in_unit(value->quantity, unit, &number, &wrong)) {
            refuse(w, value->at, "%s", wrong.reason);
            tm_hint(&w->run->error, "%s", wrong.hint ? wrong.hint : "write the number only");
        }
    } else if (value->kind == OPERAND_FLAG && kind != TM_DOC_BOOL) {
        refuse(w, value->at, "'%.60s' is neither true nor false", field->text);
    } else if (kind == TM_DOC_BOOL && (value->kind == OPERAND_TEXT || value->kind == OPERAND_QUANTITY)) {
        refuse(w, value->at, "'%.60s' is true or false", field->text);
    } else if (value->kind == OPERAND_TEXT && field->field->words && (op == OP_EQUAL || op == OP_UNEQUAL) &&
               kind != TM_DOC_VALUE) {
        check_word(w, field, value);
    }
}

static void check(struct condition *w, const struct term *term)
{
    const bool has_a = term->a.kind == OPERAND_FIELD, has_b = term->b.kind == OPERAND_FIELD;

    if (w->is_refused)
        return;
    if (has_a && !has_b)
        check_pair(w, &term->a, &term->b, term->op);
    else if (has_b && !has_a)
        check_pair(w, &term->b, &term->a, term->op);
    else if (!has_a)
        refuse_field(w, &term->a);
}

/* --- the grammar --- */

static uint16_t new_term(struct condition *w, enum op op)
{
    if (w->count == TM_WHERE_TERMS) {
        refuse(w, w->at, "it has more than %d comparisons and operators", TM_WHERE_TERMS);
        return 0;
    }
    w->term[w->count] = (struct term){ .op = op, .left = NO_TERM, .right = NO_TERM };
    return w->count++;
}

static uint16_t join(struct condition *w, enum op op, uint16_t left, uint16_t right)
{
    const uint16_t term = new_term(w, op);

    if (!w->is_refused) {
        w->term[term].left = left;
        w->term[term].right = right;
    }
    return term;
}

/* out:    false: no operator is here */
static bool read_operator(struct condition *w, enum op *op)
{
    static const struct {
        const char *sign;
        enum op op;
    } signs[] = {
        { "==", OP_EQUAL },    { "!=", OP_UNEQUAL }, { "<>", OP_UNEQUAL },  { "<=", OP_AT_MOST },
        { ">=", OP_AT_LEAST }, { "!~", OP_LACKS },   { "=~", OP_CONTAINS }, { "=", OP_EQUAL },
        { "<", OP_LESS },      { ">", OP_MORE },     { "~", OP_CONTAINS },
    };

    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        if (take_sign(w, signs[i].sign)) {
            *op = signs[i].op;
            return true;
        }
    }
    return false;
}

static uint16_t read_null_test(struct condition *w, uint16_t term)
{
    const bool is_not = take_word(w, "not");

    if (w->term[term].a.kind != OPERAND_FIELD)
        refuse_field(w, &w->term[term].a);
    else if (!take_word(w, "null"))
        refuse(w, w->at, "'null' or 'not null' is missing here");
    w->term[term].op = OP_IS_NULL;
    return is_not ? join(w, OP_NOT, term, NO_TERM) : term;
}

static uint16_t read_comparison(struct condition *w)
{
    const uint16_t place = new_term(w, OP_IS_TRUE);
    struct term *const term = &w->term[place];

    if (w->is_refused)
        return 0;
    read_operand(w, &term->a);
    if (w->is_refused)
        return 0;
    if (take_word(w, "is"))
        return read_null_test(w, place);
    if (read_operator(w, &term->op)) {
        read_operand(w, &term->b);
        check(w, term);
    } else if (term->a.kind == OPERAND_TEXT && term->a.is_word) {
        refuse_field(w, &term->a);
    } else if (term->a.kind != OPERAND_FIELD || tm_doc_kind_of(term->a.field) != TM_DOC_BOOL) {
        refuse(w, w->at, "a comparison is missing here, as in '> 5'");
    }
    return place;
}

static uint16_t read_or(struct condition *w);

static uint16_t read_not(struct condition *w)
{
    bool is_not = false;
    uint16_t term;

    for (;;) {
        skip_blanks(w);
        if (take_word(w, "not") || (w->text[w->at] == '!' && take_sign(w, "!")))
            is_not = !is_not;
        else
            break;
    }
    if (take_sign(w, "(")) {
        if (++w->depth > TM_WHERE_DEPTH)
            refuse(w, w->at - 1, "brackets are nested more than %d deep", TM_WHERE_DEPTH);
        term = w->is_refused ? 0 : read_or(w);
        w->depth--;
        if (!w->is_refused && !take_sign(w, ")"))
            refuse(w, w->at, "')' is missing here");
    } else {
        term = read_comparison(w);
    }
    return is_not && !w->is_refused ? join(w, OP_NOT, term, NO_TERM) : term;
}

static uint16_t read_and(struct condition *w)
{
    uint16_t term = read_not(w);

    while (!w->is_refused && (take_word(w, "and") || take_sign(w, "&&")))
        term = join(w, OP_AND, term, read_not(w));
    return term;
}

static uint16_t read_or(struct condition *w)
{
    uint16_t term = read_and(w);

    while (!w->is_refused && (take_word(w, "or") || take_sign(w, "||")))
        term = join(w, OP_OR, term, read_and(w));
    return term;
}

static void free_condition(struct condition *where)
{
    if (where)
        tm_give(&where->run->budget, TM_ACCOUNT_MODEL, where, sizeof(*where));
}

/* errors: TM_ERR_USAGE  NULL: the place, the reason, and a near field; TM_ERR_LIMIT */
static struct condition *read_condition(struct tm_run *run, const char *text, const struct tm_doc_field *fields)
{
    struct condition *w;

    if (strlen(text) > TM_WHERE_BYTES) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot use '%.40s...' for --where: it is longer than %d bytes",
                      text, TM_WHERE_BYTES);
        return NULL;
    }
    w = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*w), &run->error);
    if (!w)
        return NULL;
    w->run = run;
    w->fields = fields;
    w->text = text;
    w->root = read_or(w);
    skip_blanks(w);
    if (!w->is_refused && w->text[w->at])
        refuse(w, w->at, w->text[w->at] == ')' ? "no bracket is open here" : "'and' or 'or' is missing here");
    if (!w->is_refused)
        return w;
    free_condition(w);
    return NULL;
}

/* --- rows --- */

/* The value of an operand in a row. */
struct known {
    enum { IS_NULL, IS_NUMBER, IS_TEXT, IS_FLAG } is;
    double number;
    const char *text;
    bool flag;
};

static struct known known_of(const struct tm_value *value)
{
    switch (tm_type_of(value)) {
    case TM_INT:
    case TM_DOUBLE:
        return (struct known){ .is = IS_NUMBER, .number = tm_double(value) };
    case TM_STRING:
        return (struct known){ .is = IS_TEXT, .text = tm_text(value) };
    case TM_BOOL:
        return (struct known){ .is = IS_FLAG, .flag = tm_is(value) };
    default:
        return (struct known){ .is = IS_NULL };
    }
}

/* A literal, beside the value of a field. */
static struct known literal(const struct operand *o, const struct operand *field, const struct tm_value *row,
                            const struct known *beside)
{
    const enum tm_doc_kind kind = tm_doc_kind_of(field->field);
    const char *unit = tm_doc_unit(kind);
    struct known known = { .is = IS_TEXT, .text = o->text };
    struct tm_wrong wrong;

    if (o->kind == OPERAND_FLAG)
        return (struct known){ .is = IS_FLAG, .flag = o->flag };
    if (o->kind == OPERAND_NULL)
        return (struct known){ .is = IS_NULL };
    if (o->kind == OPERAND_TEXT || (beside->is == IS_TEXT && tm_doc_is_text(kind) && kind != TM_DOC_VALUE))
        return known;
    known.is = IS_NUMBER;
    if (tm_show_has_unit_beside(field->field))
        unit = tm_text(tm_get(row, "unit"));
    if (!tm_gate_limit_in_unit(o->quantity, unit, &known.number, &wrong))
        known.is = IS_NULL;
    return known;
}

static bool contains(const char *text, const char *part)
{
    return strcasestr(text, part) != NULL;
}

static bool compare(enum op op, const struct known *a, const struct known *b)
{
    int order;

    if (a->is == IS_NULL && b->is == IS_NULL) /* "= null" */
        return op == OP_EQUAL;
    if (a->is == IS_NULL || b->is == IS_NULL)
        return false;
    if (a->is != b->is)
        return op == OP_UNEQUAL || op == OP_LACKS;
    if (op == OP_CONTAINS || op == OP_LACKS)
        return a->is == IS_TEXT && contains(a->text, b->text) == (op == OP_CONTAINS);
    if (a->is == IS_TEXT)
        order = strcmp(a->text, b->text);
    else if (a->is == IS_FLAG)
        order = a->flag - b->flag;
    else
        order = (a->number > b->number) - (a->number < b->number);
    switch (op) {
    case OP_EQUAL:
        return order == 0;
    case OP_UNEQUAL:
        return order != 0;
    case OP_LESS:
        return order < 0;
    case OP_AT_MOST:
        return order <= 0;
    case OP_MORE:
        return order > 0;
    default:
        return order >= 0;
    }
}

/* One pair of values; NULL = the operand is a literal. */
static bool compare_known(const struct term *term, const struct tm_value *row, const struct tm_value *left,
                          const struct tm_value *right)
{
    struct known a = known_of(left), b = known_of(right);

    if (term->a.kind != OPERAND_FIELD)
        a = literal(&term->a, &term->b, row, &b);
    else if (term->b.kind != OPERAND_FIELD)
        b = literal(&term->b, &term->a, row, &a);
    if (term->b.kind == OPERAND_NULL || term->a.kind == OPERAND_NULL)
        return (a.is == IS_NULL && b.is == IS_NULL) == (term->op == OP_EQUAL);
    return compare(term->op, &a, &b);
}

/* Any element of a list; missing ones are null. */
static bool compare_row(const struct term *term, const struct tm_value *row)
{
    const struct tm_value *const a = term->a.kind == OPERAND_FIELD ? tm_path(row, term->a.text) : NULL,
                                 *const b = term->b.kind == OPERAND_FIELD ? tm_path(row, term->b.text) : NULL;
    const bool has_list = tm_type_of(a) == TM_ARRAY;
    const struct tm_value *const list = has_list ? a : tm_type_of(b) == TM_ARRAY ? b : NULL;

    if (!list || term->b.kind == OPERAND_NULL)
        return compare_known(term, row, a, b);
    for (size_t i = 0; i < tm_length(list); i++)
        if (compare_known(term, row, has_list ? tm_at(list, i) : a, has_list ? b : tm_at(list, i)))
            return true;
    return false;
}

static bool holds(const struct condition *w, const struct tm_value *row, uint16_t place)
{
    const struct term *const term = &w->term[place];

    switch (term->op) {
    case OP_AND:
        return holds(w, row, term->left) && holds(w, row, term->right);
    case OP_OR:
        return holds(w, row, term->left) || holds(w, row, term->right);
    case OP_NOT:
        return !holds(w, row, term->left);
    case OP_IS_NULL:
        return !tm_has(tm_path(row, term->a.text));
    case OP_IS_TRUE:
        return tm_is(tm_path(row, term->a.text));
    default:
        return compare_row(term, row);
    }
}

/* --- sums --- */

static void add_row(struct tm_show_sum *sum, const struct tm_show_table *table, const struct tm_value *row)
{
    sum->rows++;
    for (int i = 0; i < TM_SHOW_MEASURES; i++)
        if (table->measure[i])
            sum->sum[i] = tm_sum_times(sum->sum[i], tm_int(tm_get(row, table->measure[i])));
}

static void add_rest(struct tm_show_rows *rows, const struct tm_show_table *table)
{
    rows->rows_are_known = table->rest || !table->most || (int64_t)tm_length(table->rows) < table->most;
    rows->unlisted.rows = tm_int(tm_get(table->rest, "rows"));
    for (int i = 0; i < TM_SHOW_MEASURES; i++) {
        const struct tm_value *const sum = table->measure[i] ? tm_get(table->rest, table->measure[i]) : NULL;

        rows->unlisted.sum[i] = tm_int(sum);
        rows->is_known[i] = rows->rows_are_known && (rows->unlisted.rows == 0 || tm_has(sum));
    }
}

/* --- order --- */

struct sort_key {
    char path[TM_SHOW_KEY];
    bool is_descending;
};

struct order {
    const struct tm_value *rows;
    struct sort_key key[TM_SHOW_SORTS];
    size_t keys;
};

static tm_status refuse_sort(struct tm_run *run, const struct tm_show_table *table, const char *text,
                             const char *reason, bool is_unknown)
{
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot use '%.80s' for --sort: %s", text, reason);
    if (is_unknown)
        tm_show_suggest(run, table->fields, text);
    return TM_ERR_USAGE;
}

static tm_status read_order(struct order *order, struct tm_run *run, const struct tm_show_table *table,
                            const char *text)
{
    struct tm_doc_place place;

    for (const char *at = text;; at++) {
        const bool is_signed = *at == '-' || *at == '+';
        const size_t length = strcspn(at, ",");
        struct sort_key *const key = &order->key[order->keys];

        if (order->keys == TM_SHOW_SORTS)
            return refuse_sort(run, table, text, "there are more than 8 fields", false);
        if (length - is_signed >= sizeof(key->path) || length <= is_signed)
            return refuse_sort(run, table, text,
                               length <= is_signed ? "a field is missing"
                                                   : "the field name is too "
                                                     "long",
                               false);
        memcpy(key->path, at + is_signed, length - is_signed);
        key->path[length - is_signed] = '\0';
        key->is_descending = *at == '-';
        if (!tm_doc_place_at(&place, table->fields, key->path))
            return refuse_sort(run, table, key->path, "there is no such field", true);
        if (place.is_map || (place.field->shape & TM_DOC_LIST) || tm_doc_kind_of(place.field) == TM_DOC_OBJECT)
            return refuse_sort(run, table, key->path, "it has several values: use one of its members", false);
        order->keys++;
        at += length;
        if (!*at)
            return TM_OK;
    }
}

/* Numbers before texts; nulls come last in either direction. */
static int rank(const struct tm_value *value)
{
    switch (tm_type_of(value)) {
    case TM_BOOL:
    case TM_INT:
    case TM_DOUBLE:
        return 0;
    case TM_STRING:
        return 1;
    default:
        return 2;
    }
}

static int compare_values(const struct tm_value *a, const struct tm_value *b)
{
    if (tm_type_of(a) == TM_STRING)
        return strcmp(tm_text(a), tm_text(b));
    if (tm_type_of(a) == TM_BOOL || tm_type_of(b) == TM_BOOL)
        return tm_is(a) - tm_is(b);
    if (tm_type_of(a) == TM_INT && tm_type_of(b) == TM_INT)
        return (tm_int(a) > tm_int(b)) - (tm_int(a) < tm_int(b));
    return (tm_double(a) > tm_double(b)) - (tm_double(a) < tm_double(b));
}

static int by_keys(const void *one, const void *other, void *of)
{
    const size_t a = *(const size_t *)one, b = *(const size_t *)other;
    const struct order *const order = of;

    for (size_t i = 0; i < order->keys; i++) {
        const struct tm_value *const left = tm_path(tm_at(order->rows, a), order->key[i].path), *const right = tm_path(
                                                                                                    tm_at(order->rows,
                                                                                                          b),
                                                                                                    order->key[i].path);
        const int ranks = rank(left) - rank(right), values = ranks || rank(left) == 2 ? 0 : compare_values(left, right);

        if (ranks)
            return ranks;
        if (values)
            return order->key[i].is_descending ? -values : values;
    }
    return (a > b) - (a < b);
}

/* --- rows of a query --- */

static void filter(struct tm_show_rows *rows, const struct tm_show_table *table, const struct condition *where)
{
    const size_t count = tm_length(table->rows);

    for (size_t i = 0; i < count; i++) {
        const struct tm_value *const row = tm_at(table->rows, i);

        if (where && !holds(where, row, where->root))
            add_row(&rows->by_where, table, row);
        else
            rows->pick[rows->count++] = i;
    }
}

static void cut(struct tm_show_rows *rows, const struct tm_show_table *table, uint64_t top)
{
    const size_t kept = top && top < rows->count ? (size_t)top : rows->count;

    for (size_t i = 0; i < rows->count; i++)
        add_row(i < kept ? &rows->returned : &rows->by_top, table, tm_at(table->rows, rows->pick[i]));
    rows->count = kept;
}

void tm_show_rows_choose(struct tm_show_rows *rows, struct tm_run *run, const struct tm_show_table *table,
                         const struct tm_show_query *query)
{
    struct order order = { .rows = table->rows };
    struct condition *where = NULL;

    *rows = (struct tm_show_rows){ .run = run, .room = tm_length(table->rows) };
    if (query->where)
        where = read_condition(run, query->where, table->fields);
    if (!tm_failed(run) && query->sort)
        read_order(&order, run, table, query->sort);
    if (!tm_failed(run) && rows->room)
        rows->pick = tm_take(&run->budget, TM_ACCOUNT_MODEL, rows->room * sizeof(*rows->pick), &run->error);
    if (!tm_failed(run)) {
        filter(rows, table, where);
        if (order.keys && rows->count)
            qsort_r(rows->pick, rows->count, sizeof(*rows->pick), by_keys, &order);
        cut(rows, table, query->top);
        add_rest(rows, table);
    }
    free_condition(where);
}

void tm_show_rows_free(struct tm_show_rows *rows)
{
    if (rows->pick)
        tm_give(&rows->run->budget, TM_ACCOUNT_MODEL, rows->pick, rows->room * sizeof(*rows->pick));
    rows->pick = NULL;
}
