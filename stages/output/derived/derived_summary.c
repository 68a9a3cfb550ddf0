/* SPDX-License-Identifier: Apache-2.0 */
/* Findings at the places that they speak of, and the facts of the run, out of a finished summary (schemas/SUMMARY.md).
 * A place is a device's id, a host's name or nothing: the hosts and devices that were observed are looked through for
 * it.  Its time is kept inside what was recorded of the host.  No memory beside the rows. */
#include <stdio.h>
#include <string.h>

#include "pipeline/redact.h"
#include "pipeline/version.h"
#include "stages/output/derived/derived_private.h"

enum { DEVICES_TOLD = 64 };

/* --- arguments out of the summary --- */

static void put_text(struct tm_derived *d, enum derived_key key, const struct tm_value *text)
{
    if (*tm_text(text))
        tm_put_text(&d->list, d->keys[key], tm_text(text), strlen(tm_text(text)));
}

static void put_texts(struct tm_derived *d, enum derived_key key, const struct tm_value *texts)
{
    if (!tm_length(texts))
        return;
    tm_put_array(&d->list, d->keys[key]);
    for (size_t i = 0; i < tm_length(texts); i++)
        tm_put_text(&d->list, 0, tm_text(tm_at(texts, i)), strlen(tm_text(tm_at(texts, i))));
    tm_put_close(&d->list);
}

static void put_number(struct tm_derived *d, enum derived_key key, const struct tm_value *number)
{
    if (tm_has(number))
        tm_put_double(&d->list, d->keys[key], tm_double(number));
}

/* --- findings --- */

/* Where a finding stands. */
struct spot {
    struct derived_host host;
    uint32_t device;    /* TM_NONE = of none */
    int64_t time_ps;
};

static tm_status host_at(struct tm_derived *d, uint64_t row, struct derived_host *host)
{
    return tm_rows_copy(d->hosts, row, host, 1);
}

/* The device of that id. */
static tm_status find_device(struct tm_derived *d, const char *id, struct spot *spot, bool *is_found)
{
    for (uint64_t i = 0; i < tm_rows_count(d->devices); i++) {
        const struct derived_device *device = tm_rows_at(d->devices, i);

        if (!device)
            return d->run->error.status;
        if (strcmp(device->id, id) != 0)
            continue;
        *is_found = true;
        spot->device = device->index;
        return host_at(d, device->host, &spot->host);
    }
    return TM_OK;
}

/* The host of that name; else the first one of which something was recorded. */
static tm_status find_host(struct tm_derived *d, const char *name, struct derived_host *host)
{
    *host = (struct derived_host){ .number = 0 };
    for (uint64_t i = 0; i < tm_rows_count(d->hosts); i++) {
        const struct derived_host *row = tm_rows_at(d->hosts, i);

        if (!row)
            return d->run->error.status;
        if (strcmp(row->name, name) == 0 && row->has_events) {
            *host = *row;
            return TM_OK;
        }
        if (row->has_events && !host->has_events)
            *host = *row;
    }
    return TM_OK;
}

/* in: place  an element of where; NULL = the finding has none */
static tm_status find_spot(struct tm_derived *d, const struct tm_value *place, struct spot *spot)
{
    const char *device = tm_text(tm_get(place, "device"));
    bool is_found = false;
    tm_status st;

    spot->device = TM_NONE;
    st = *device ? find_device(d, device, spot, &is_found) : TM_OK;
    if (st == TM_OK && !is_found)
        st = find_host(d, device, &spot->host);
    spot->time_ps = place ? tm_int(tm_get(place, "begin_ps")) : spot->host.window_ps;
    if (spot->time_ps < spot->host.first_ps)
        spot->time_ps = spot->host.first_ps;
    if (spot->time_ps > spot->host.last_ps)
        spot->time_ps = spot->host.last_ps;
    return st;
}

/* What belongs to one of its places. */
static void put_place(struct tm_derived *d, const struct tm_value *place, bool is_host)
{
    const int64_t begin_ps = tm_int(tm_get(place, "begin_ps"));
    int64_t dur_ps;

    if (!place)
        return;
    put_text(d, is_host ? KEY_HOST : KEY_DEVICE, tm_get(place, "device"));
    if (!__builtin_sub_overflow(tm_int(tm_get(place, "end_ps")), begin_ps, &dur_ps) && dur_ps > 0)
        tm_put_int(&d->list, d->keys[KEY_LENGTH_NS], tm_out_ns(dur_ps));
}

/* What people read comes first. */
static void put_finding(struct tm_derived *d, const struct tm_value *finding)
{
    put_text(d, KEY_SEVERITY, tm_get(finding, "severity"));
    put_text(d, KEY_CAUSE, tm_get(finding, "cause"));
    put_texts(d, KEY_EVIDENCE, tm_get(finding, "evidence"));
    put_texts(d, KEY_FIX, tm_get(finding, "fix"));
    put_text(d, KEY_ID, tm_get(finding, "id"));
    put_number(d, KEY_VALUE, tm_get(finding, "value"));
    put_number(d, KEY_LIMIT, tm_get(finding, "limit"));
    put_text(d, KEY_UNIT, tm_get(finding, "unit"));
    tm_put_int(&d->list, d->keys[KEY_AT_STAKE_NS], tm_int(tm_get(finding, "at_stake_ps")) / 1000);
    put_number(d, KEY_SHARE_PCT, tm_get(finding, "share_pct"));
}

static tm_status push_finding(struct tm_derived *d, const struct tm_value *finding, const struct tm_value *place)
{
    const char *title = tm_text(tm_get(finding, "title"));
    struct derived_row row = { .name = d->keys[NAME_UNTITLED], .sort = TM_DERIVED_FINDING };
    struct spot spot;
    tm_status st = find_spot(d, place, &spot);

    if (st == TM_OK && *title)
        st = tm_names_put_string(d->names, title, &row.name);
    if (st != TM_OK || !spot.host.has_events)
        return st;
    row.begin_ps = row.end_ps = spot.time_ps;
    row.host = spot.host.number;
    row.device = spot.device;
    (void)derived_list(d);
    put_finding(d, finding);
    put_place(d, place, spot.device == TM_NONE);
    return derived_push(d, &row);
}

static tm_status push_findings(struct tm_derived *d, const struct tm_value *findings)
{
    tm_status st = TM_OK;

    for (size_t i = 0; i < tm_length(findings) && st == TM_OK; i++) {
        const struct tm_value *finding = tm_at(findings, i), *where = tm_get(finding, "where");

        if (!tm_length(where))
            st = push_finding(d, finding, NULL);
        for (size_t k = 0; k < tm_length(where) && st == TM_OK; k++)
            st = push_finding(d, finding, tm_at(where, k));
    }
    return st;
}

/* --- facts --- */

static const struct tm_value *element_of_host(const struct tm_value *list, const char *name)
{
    for (size_t i = 0; i < tm_length(list); i++)
        if (strcmp(tm_text(tm_get(tm_at(list, i), "host")), name) == 0)
            return tm_at(list, i);
    return NULL;
}

/* Versions and the like, by the names that the summary gives them. */
static tm_status put_environment(struct tm_derived *d, const struct tm_value *environment)
{
    tm_status st = TM_OK;

    for (size_t i = 0; i < tm_length(environment) && st == TM_OK; i++) {
        const struct tm_value *value = tm_value_at(environment, i);
        const char *name = tm_key_at(environment, i);
        const enum tm_type type = tm_type_of(value);
        tm_strid key;

        if ((type != TM_STRING && type != TM_INT) || strcmp(name, "host") == 0)
            continue;
        st = tm_names_put_string(d->names, name, &key);
        if (st == TM_OK && type == TM_STRING)
            tm_put_text(&d->list, key, tm_text(value), strlen(tm_text(value)));
        else if (st == TM_OK)
            tm_put_int(&d->list, key, tm_int(value));
    }
    return st;
}

static void put_devices(struct tm_derived *d, const struct tm_value *devices, const char *host)
{
    int told = 0;

    tm_put_array(&d->list, d->keys[KEY_DEVICES]);
    for (size_t i = 0; i < tm_length(devices) && told < DEVICES_TOLD; i++) {
        const struct tm_value *device = tm_at(devices, i);
        const char *model = tm_text(tm_get(device, "model"));
        char text[512];

        if (strcmp(tm_text(tm_get(device, "host")), host) != 0)
            continue;
        (void)snprintf(text, sizeof(text), "%s%s%s", tm_text(tm_get(device, "id")), *model ? ": " : "", model);
        tm_put_text(&d->list, 0, text, strlen(text));
        told++;
    }
    tm_put_close(&d->list);
}

static tm_status put_kpis(struct tm_derived *d, const struct tm_value *kpis)
{
    tm_status st = TM_OK;

    tm_put_object(&d->list, d->keys[KEY_KPIS]);
    for (size_t i = 0; i < tm_length(kpis) && st == TM_OK; i++) {
        const struct tm_value *kpi = tm_at(kpis, i), *value = tm_get(kpi, "value");
        const char *unit = tm_text(tm_get(kpi, "unit"));
        char text[96];
        tm_strid key;

        if (!tm_has(value))
            continue;
        unit = strcmp(unit, "count") == 0 ? "" : unit;
        (void)snprintf(text, sizeof(text), "%.6g%s%s", tm_double(value), *unit ? " " : "", unit);
        st = tm_names_put_string(d->names, tm_text(tm_get(kpi, "title")), &key);
        if (st == TM_OK)
            tm_put_text(&d->list, key, text, strlen(text));
    }
    tm_put_close(&d->list);
    return st;
}

static tm_status push_facts(struct tm_derived *d, const struct tm_value *summary, const struct derived_host *host)
{
    static const char tool[] = "tracemill " TM_VERSION;
    const char *const verdict = tm_text(tm_path(summary, "verdict.text"));
    struct derived_row row = { .begin_ps = host->first_ps, .end_ps = host->last_ps, .name = d->keys[NAME_FACTS],
                               .host = host->number, .device = TM_NONE, .sort = TM_DERIVED_FACTS };
    struct tm_arguments_builder *list = derived_list(d);
    tm_status st;

    put_text(d, KEY_VERDICT, tm_path(summary, "verdict.text"));
    st = put_kpis(d, tm_get(summary, "kpis"));
    put_devices(d, tm_get(summary, "devices"), host->name);
    put_text(d, KEY_RUN, tm_path(summary, "input.run"));
    tm_put_text(list, d->keys[KEY_HOST], host->name, strlen(host->name));
    tm_put_text(list, d->keys[KEY_TOOL], tool, sizeof(tool) - 1);
    tm_put_bool(list, d->keys[KEY_PARTIAL], tm_is(tm_path(summary, "input.partial")));
    put_text(d, KEY_PLATFORM, tm_path(summary, "environment.platform"));
    if (st == TM_OK)
        st = put_environment(d, element_of_host(tm_path(summary, "environment.hosts"), host->name));
    if (st == TM_OK && *verdict)
        st = tm_names_put_string(d->names, verdict, &row.name);
    return st == TM_OK ? derived_push(d, &row) : st;
}

/* A summary with pseudonyms speaks of hosts and devices by those. */
static tm_status redact_places(struct tm_derived *d)
{
    struct tm_redactor *const redactor = d->run->redactor;
    tm_status st = TM_OK;

    for (uint64_t i = 0; i < tm_rows_count(d->hosts) && st == TM_OK; i++) {
        struct derived_host *host = tm_rows_change(d->hosts, i);

        st = host ? tm_redact_host(redactor, host->name, sizeof(host->name), host->name) : d->run->error.status;
    }
    for (uint64_t i = 0; i < tm_rows_count(d->devices) && st == TM_OK; i++) {
        struct derived_device *device = tm_rows_change(d->devices, i);

        st = device ? tm_redact_into(redactor, device->id, sizeof(device->id), device->id) : d->run->error.status;
    }
    return st;
}

tm_status tm_derived_take_summary(struct tm_derived *d, const struct tm_value *summary)
{
    tm_status st = d->run->redactor ? redact_places(d) : TM_OK;

    for (uint64_t i = 0; i < tm_rows_count(d->hosts) && st == TM_OK; i++) {
        struct derived_host host;

        st = host_at(d, i, &host);
        if (st == TM_OK && host.has_events)
            st = push_facts(d, summary, &host);
    }
    return st == TM_OK ? push_findings(d, tm_get(summary, "findings")) : st;
}
