/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of documents, which of their sections apply, and the walk over these. */
#include "reports/content/content.h"

#include <string.h>

#include "reports/findings/findings.h"
#include "reports/findings/summary_query.h"
#include "reports/format/format.h"

/* Only `show` prints it: it has no pages. */
const struct tm_document tm_hlo_document = {
    .schema = "tracemill.hlo",
    .fields = &tm_hlo_schema,
    .what = "HLO",
    .made_by = "tracemill show",
    .file = "hlo",
};

static const struct tm_document *const documents[] = {
    &tm_report_document, &tm_comparison_document, &tm_scaling_document,
    &tm_check_document,  &tm_nightly_document,    &tm_hlo_document,
};

const struct tm_document *tm_document_of(const struct tm_value *root)
{
    const char *schema = tm_text(tm_get(root, "schema"));

    for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++)
        if (strcmp(schema, documents[i]->schema) == 0)
            return documents[i] == &tm_comparison_document && tm_length(tm_get(root, "sides")) > 2
                       ? &tm_comparison_of_many_document
                       : documents[i];
    return documents[0];
}

const struct tm_section *tm_section_of(const struct tm_value *summary, const char *id)
{
    const struct tm_document *document = tm_document_of(summary);

    for (size_t i = 0; i < document->section_count; i++)
        if (strcmp(document->sections[i]->id, id) == 0)
            return document->sections[i];
    return NULL;
}

const char *tm_finding_section(const char *finding_id)
{
    /* findings that are not about a single run, by id prefix; the first match counts */
    static const char *const sections[][2] = {
        { "collective_", "collectives" }, /* of a comparison */
        { "transfer_", "transfers" },
        { "op_", "ops" },
        { "memory_", "memory" },
        { "slow_device", "balance" },
        { "scaling_communication", "exchange" }, /* of a scaling study */
        { "scaling_imbalance", "exchange" },
        { "scaling_idle", "step" },
        { "scaling_co", "step" }, /* computing, copies */
        { "scaling_", "speedup" },
        { "night_failed", "failures" }, /* of a night */
        { "night_gates", "gates" },
        { "night_worse", "regressions" },
        { "night_absent", "jobs" },
        { "night_ahead", "runs" },
        { "night_machine", "jobs" },
    };
    const struct tm_finding_row *row = tm_finding_row(finding_id);

    if (row)
        return row->section;
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
        if (strncmp(finding_id, sections[i][0], strlen(sections[i][0])) == 0)
            return sections[i][1];
    return "coverage"; /* what is wrong with the profile */
}

const struct tm_section *tm_section_of_finding(const struct tm_value *summary, const struct tm_value *finding)
{
    const struct tm_section *section = tm_section_of(summary, tm_finding_section(tm_text(tm_get(finding, "id"))));

    return section && tm_section_is_due(section, summary) ? section : NULL;
}

static const char *why_nothing(const struct tm_section *section, const struct tm_value *summary)
{
    return section->nothing ? section->nothing(summary) : "";
}

bool tm_report_is_slight(const struct tm_value *summary)
{
    return tm_document_of(summary) == &tm_report_document && tm_query_is_too_little(summary);
}

/* There are figures, but too few for an assessment. */
static bool is_too_little(const struct tm_section *section, const struct tm_value *summary)
{
    return section->wants_enough && tm_report_is_slight(summary);
}

static bool has_figures(const struct tm_section *section, const struct tm_value *summary)
{
    const bool has_data =
        !section->key || (tm_is_for(section->platforms, summary) && tm_has(tm_get(summary, section->key)));

    return has_data && !*why_nothing(section, summary);
}

bool tm_section_is_due(const struct tm_section *section, const struct tm_value *summary)
{
    return has_figures(section, summary) && !is_too_little(section, summary);
}

const char *tm_section_why_not(const struct tm_section *section, const struct tm_value *summary)
{
    const char *why;

    if (!section->key || !tm_is_for(section->platforms, summary))
        return "";
    if (tm_has(tm_get(summary, section->key))) {
        why = why_nothing(section, summary);
        return *why || !is_too_little(section, summary) ? why : "too little was recorded for an assessment";
    }
    why = tm_reason_of(summary, section->key);
    return *why ? why : "not recorded";
}

bool tm_section_has_finding(const struct tm_section *section, const struct tm_value *summary)
{
    const struct tm_value *findings = tm_get(summary, "findings");

    for (size_t i = 0; i < tm_length(findings); i++)
        if (strcmp(tm_finding_section(tm_text(tm_get(tm_at(findings, i), "id"))), section->id) == 0)
            return true;
    return false;
}

void tm_content_say_section(const struct tm_content *content, const struct tm_section *section)
{
    const bool is_report = tm_document_of(content->summary) == &tm_report_document;
    const struct tm_room *const room = &content->medium->room;
    struct tm_content of_section = *content;

    of_section.is_brief = is_report && !room->is_data && (room->is_short || tm_query_is_too_little(content->summary)) &&
                          !tm_section_has_finding(section, content->summary);
    section->say(&of_section);
}

void tm_content_say(const struct tm_content *content)
{
    const struct tm_document *document = tm_document_of(content->summary);
    const struct tm_medium *medium = content->medium;

    for (size_t i = 0; i < document->section_count; i++) {
        const struct tm_section *section = document->sections[i];

        if (!tm_section_is_due(section, content->summary) &&
            !(medium->room.is_data && has_figures(section, content->summary)))
            continue;
        if (medium->section)
            medium->section(content->to, section);
        tm_content_say_section(content, section);
        if (medium->end_section)
            medium->end_section(content->to, section);
    }
}
