/* SPDX-License-Identifier: Apache-2.0 */
/* Makes forms of args.  Most of what comes before a form comes again or never, so one is made the second time; and
 * where forms are hardly ever met again, seldom. */
#include "stages/input/chrome/chrome_forms.h"

#include "pipeline/run.h"

enum {
    RING_LEAST = 64 << 10, /* powers of two */
    RING_MOST = 1 << 20,
    BYTES_A_PLACE = 256,   /* of the ring */
    ALIGNMENT = 16,
    PADDING = 32,          /* may be loaded behind the text */
    LEARN_FREELY = 1024,   /* forms, before it is asked whether they are met */
    LEARN_SELDOM = 64,
};

tm_status tm_chrome_forms_open(struct tm_chrome_forms *forms, struct tm_run *run)
{
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_INPUT) / 16;
    size_t bytes = RING_LEAST;

    while (bytes < RING_MOST && bytes * 2 <= share)
        bytes *= 2;
    *forms = (struct tm_chrome_forms){ .run = run, .ring_bytes = bytes, .place_count = bytes / BYTES_A_PLACE };
    forms->head = bytes;
    forms->ring = tm_take(&run->budget, TM_ACCOUNT_INPUT, bytes, &run->error);
    forms->places =
        tm_take(&run->budget, TM_ACCOUNT_INPUT, forms->place_count * sizeof(*forms->places), &run->error);
    return forms->ring && forms->places ? TM_OK : run->error.status;
}

void tm_chrome_forms_close(struct tm_chrome_forms *forms)
{
    if (forms->ring)
        tm_give(&forms->run->budget, TM_ACCOUNT_INPUT, forms->ring, forms->ring_bytes);
    if (forms->places)
        tm_give(&forms->run->budget, TM_ACCOUNT_INPUT, forms->places, forms->place_count * sizeof(*forms->places));
    *forms = (struct tm_chrome_forms){ .run = NULL };
}

/* --- the walk: the text is known to be JSON --- */

struct draft {
    struct tm_chrome_form form;
    struct tm_form_gap gaps[TM_FORM_GAPS];
    struct tm_form_fact facts[TM_FORM_FACTS];
};

struct walk {
    const uint8_t *at;
    const uint8_t *from;      /* behind the last gap */
    struct draft *draft;
    uint64_t between;         /* bits of enum tm_stat: of what is in no gap */
    bool is_odd;              /* something that no form can have */
};

static void walk_space(struct walk *w)
{
    while (*w->at == ' ' || *w->at == '\n' || *w->at == '\r' || *w->at == '\t')
        w->at++;
}

/* out: behind the other quote */
static void walk_text(struct walk *w)
{
    for (w->at++; *w->at != '"'; w->at++) {
        w->is_odd |= *w->at == '\\' || *w->at < ' ';
        if (*w->at == '\\')
            w->at++;
    }
    w->at++;
}

static void walk_nested(struct walk *w)
{
    uint32_t depth = 0;

    do {
        if (*w->at == '"') {
            walk_text(w);
            continue;
        }
        depth += *w->at == '{' || *w->at == '[';
        depth -= *w->at == '}' || *w->at == ']';
        w->is_odd |= *w->at == 'N' || *w->at == 'I'; /* NaN, Infinity: no numbers */
        w->at++;
    } while (depth > 0);
}

/* A number or a word. */
static void walk_bare(struct walk *w)
{
    while (*w->at > ' ' && *w->at != ',' && *w->at != '}') {
        w->is_odd |= *w->at == 'N' || *w->at == 'I';
        w->at++;
    }
}

/* out: whether it is a number or a text */
static bool walk_value(struct walk *w)
{
    const uint8_t first = *w->at;

    if (first == '"') {
        walk_text(w);
        return true;
    }
    if (first == '{' || first == '[') {
        walk_nested(w);
        return false;
    }
    walk_bare(w);
    return first == '-' || (first >= '0' && first <= '9');
}

static void put_gap(struct walk *w, const uint8_t *value, enum tm_stat stat)
{
    struct draft *const draft = w->draft;
    const size_t length = (size_t)(w->at - value);

    if (draft->form.gap_count == TM_FORM_GAPS || length > TM_FORM_GAP_MOST) {
        w->is_odd = true;
        return;
    }
    draft->gaps[draft->form.gap_count++] = (struct tm_form_gap){
        .before = (uint16_t)(value - w->from), .length = (uint16_t)length, .stat = stat
    };
    w->from = w->at;
}

static void walk_member(struct walk *w)
{
    const uint64_t unknown = TM_FACT_BIT(TM_STAT_UNKNOWN);
    const uint8_t *const key = w->at + 1;
    const uint8_t *value;
    enum tm_stat stat;
    bool is_gap;

    walk_text(w);
    stat = tm_argument_of((const char *)key, (size_t)(w->at - 1 - key));
    walk_space(w);
    w->at++; /* the colon */
    walk_space(w);
    value = w->at;
    is_gap = walk_value(w) && !(tm_config_facts >> stat & 1);
    w->is_odd |= w->draft->form.stats >> stat & 1; /* two arguments that say one thing */
    w->draft->form.stats |= TM_FACT_BIT(stat) & ~unknown;
    if (is_gap)
        put_gap(w, value, stat);
    else
        w->between |= TM_FACT_BIT(stat) & ~unknown;
    walk_space(w);
}

/* From the brace of the args, or from behind a value, to the end. */
static bool find_gaps(struct walk *w)
{
    walk_space(w);
    while (!w->is_odd && *w->at != '}') {
        w->at++; /* the brace, or a comma */
        walk_space(w);
        if (*w->at == '"')
            walk_member(w);
    }
    w->draft->form.rest = (uint16_t)(w->at + 1 - w->from);
    return !w->is_odd;
}

/* --- its facts --- */

/* out: false  they are too many, or it lies elsewhere */
static bool put_fact(struct draft *draft, const struct tm_facts *facts, enum tm_stat stat, struct tm_json_text text)
{
    const struct tm_fact_text *const from = &facts->texts[stat];
    const char *const bytes = (const char *)from->bytes;
    struct tm_form_fact *to;

    if (draft->form.fact_count == TM_FORM_FACTS)
        return false;
    to = &draft->facts[draft->form.fact_count++];
    *to = (struct tm_form_fact){ .number = facts->ints[stat], .value = facts->doubles[stat], .stat = (uint16_t)stat };
    draft->form.has |= TM_FACT_BIT(stat);
    draft->form.flags |= tm_fact_flags[stat];
    if (from->kind != TM_FACT_BYTES)
        return true;
    if (bytes < text.at || bytes > text.at + text.length || from->length > (size_t)(text.at + text.length - bytes))
        return false;
    to->is_text = true;
    to->at = (uint16_t)(bytes - text.at);
    to->length = (uint16_t)from->length;
    return true;
}

static bool take_facts(struct draft *draft, uint64_t which, const struct tm_facts *facts, struct tm_json_text text)
{
    bool fits = true;

    for (uint64_t left = which; left && fits; left &= left - 1)
        fits = put_fact(draft, facts, (enum tm_stat)__builtin_ctzll(left), text);
    return fits;
}

/* --- writing --- */

static uint8_t *put(uint8_t *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return to + bytes;
}

static uint64_t write_form(struct tm_chrome_forms *forms, const struct draft *draft, struct tm_json_text text)
{
    const size_t fact_bytes = draft->form.fact_count * sizeof(draft->facts[0]);
    const size_t gap_bytes = draft->form.gap_count * sizeof(draft->gaps[0]);
    const size_t all = sizeof(draft->form) + fact_bytes + gap_bytes + text.length + PADDING;
    const size_t bytes = (all + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    const size_t left = forms->ring_bytes - (forms->head & (forms->ring_bytes - 1));
    uint8_t *to;
    uint64_t at;

    if (bytes > left)
        forms->head += left;
    at = forms->head;
    to = put(forms->ring + (at & (forms->ring_bytes - 1)), &draft->form, sizeof(draft->form));
    to = put(to, draft->facts, fact_bytes);
    to = put(to, draft->gaps, gap_bytes);
    (void)put(to, text.at, text.length);
    forms->head += bytes;
    forms->learned++;
    return at;
}

static uint64_t make_form(struct tm_chrome_forms *forms, const struct tm_form_tail *tail, struct tm_json_text text,
                          const struct tm_facts *facts, bool has_nested)
{
    struct draft draft = { .form = { .begin_hash = tail->begin_hash, .config_hash = facts->config_hash,
                                     .has_nested = has_nested } };
    struct walk w = { .at = (const uint8_t *)text.at, .from = (const uint8_t *)text.at, .draft = &draft };

    if (!find_gaps(&w) || draft.form.stats & tail->has || !take_facts(&draft, facts->has & w.between, facts, text))
        return 0;
    return write_form(forms, &draft, text);
}

/* Of events that are never alike: some of them. */
static bool is_in_vain(struct tm_chrome_forms *forms)
{
    return forms->learned > LEARN_FREELY + forms->met && forms->learned++ % LEARN_SELDOM;
}

void tm_chrome_forms_learn(struct tm_chrome_forms *forms, const struct tm_form_tail *tail, struct tm_json_text text,
                           const struct tm_facts *facts, bool has_nested)
{
    struct tm_form_place *const places = tm_form_places(forms, tail->key);
    struct tm_form_place *const place = tm_form_place_of(forms, tail->key);

    if (text.length > TM_FORM_TEXT_MOST || is_in_vain(forms))
        return;
    if (place) {
        place->at = make_form(forms, tail, text, facts, has_nested);
        return;
    }
    memmove(places + 1, places, (TM_FORM_WAYS - 1) * sizeof(*places));
    places[0] = (struct tm_form_place){ .key = tail->key };
}
