/* SPDX-License-Identifier: Apache-2.0 */
/* `convert -o run.tar`: a trace for each host, all on one clock, and the manifest by which Perfetto 58 and later shows
 * them as machines of one timeline:
 *
 *     perfetto_manifest.json  {"perfetto_manifest": {"version": 1, "trace_time": ..., "files": [...]}}
 *     host0.pftrace           what `convert host0.xplane.pb` writes, but its times count from the start of all hosts
 *     host1.pftrace
 *
 * Members are in the order of the hosts.  The clocks of all of them read the same at the same time, so the manifest
 * only says that they are one: no offset is left to a viewer.
 * Memory: the manifest, 1 KiB for each host.
 * source: https://perfetto.dev/docs/reference/perfetto-manifest; POSIX.1-1988 "ustar" */
#include "pipeline/engine/conversion.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/engine/analysis.h"

enum { TAR_BLOCK = 512, TAR_NAME = 100, MEMBER_BYTES = 96, ENTRY_BYTES = 1024, HEAD_BYTES = 1024 };

#define MANIFEST "perfetto_manifest.json"
#define ENDING ".pftrace"

/* --- tar --- */

struct tar_header {
    char name[TAR_NAME], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100], magic[6],
        version[2], owner[32], group[32], major[8], minor[8], prefix[155], pad[12];
};
static_assert(sizeof(struct tar_header) == TAR_BLOCK, "a header is a block");

/* A size of 8 GiB and more, which 11 octal digits do not hold, is a binary number with the first bit set, as GNU tar
 * writes it. */
static void put_size(char field[12], uint64_t size)
{
    if (size >> 33 == 0) {
        (void)snprintf(field, 12, "%011llo", (unsigned long long)size);
        return;
    }
    memset(field, 0, 12);
    field[0] = (char)0x80;
    for (int i = 0; i < 8; i++)
        field[11 - i] = (char)(size >> (8 * i));
}

/* A regular file without an owner and a time: the same bytes come out again. */
static void make_header(struct tar_header *h, const char *name, uint64_t size)
{
    unsigned sum = 0;

    memset(h, 0, sizeof(*h));
    memcpy(h->name, name, strnlen(name, sizeof(h->name)));
    memcpy(h->mode, "0000644", 8);
    memcpy(h->uid, "0000000", 8);
    memcpy(h->gid, "0000000", 8);
    put_size(h->size, size);
    memcpy(h->mtime, "00000000000", 12);
    memset(h->checksum, ' ', sizeof(h->checksum));
    h->type = '0';
    memcpy(h->magic, "ustar", 6);
    memcpy(h->version, "00", 2);
    for (size_t i = 0; i < sizeof(*h); i++)
        sum += ((const unsigned char *)h)[i];
    (void)snprintf(h->checksum, sizeof(h->checksum), "%06o", sum);
}

static void put_padding(struct tm_out_file *file, uint64_t size)
{
    static const char zeros[TAR_BLOCK];

    tm_out_file_write(file, zeros, (size_t)(-size % TAR_BLOCK));
}

/* --- names of members --- */

/* The host, in characters that any system takes; not one that would be hidden. */
static void spell_host(const struct tm_conversion *c, uint32_t number, char name[MEMBER_BYTES])
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const size_t most = MEMBER_BYTES - sizeof("-1000000" ENDING);
    size_t used = 0;

    tm_redact_host(c->run->redactor, name, MEMBER_BYTES, c->inputs.hosts[number]->host);
    for (; name[used] && used < most; used++)
        if (!strchr(safe, name[used]) || (used == 0 && name[used] == '.'))
            name[used] = '_';
    name[used] = '\0';
}

/* Of hosts that are spelled alike, the later ones have their number. */
static void name_member(const struct tm_conversion *c, uint32_t number, char name[MEMBER_BYTES])
{
    char other[MEMBER_BYTES];
    bool is_taken = false;
    size_t used;

    spell_host(c, number, name);
    for (uint32_t i = 0; i < number && !is_taken; i++) {
        spell_host(c, i, other);
        is_taken = strcmp(other, name) == 0;
    }
    used = strlen(name);
    (void)snprintf(name + used, MEMBER_BYTES - used, is_taken ? "-%u" ENDING : ENDING, number);
}

/* --- the manifest --- */

static void add_file(const struct tm_conversion *c, uint32_t number, const char *first, struct tm_value *files)
{
    struct tm_value *const entry = tm_add_object(files, NULL), *clocks;
    char name[MEMBER_BYTES], host[128];

    name_member(c, number, name);
    tm_redact_host(c->run->redactor, host, sizeof(host), c->inputs.hosts[number]->host);
    tm_add_string(entry, "path", name);
    tm_add_string(tm_add_object(entry, "machine"), "name", host[0] ? host : name);
    if (number == 0)
        return;
    clocks = tm_add_object(entry, "clocks");
    tm_add_string(clocks, "clock", "BOOTTIME");
    clocks = tm_add_object(clocks, "sync_to");
    tm_add_string(clocks, "file", first);
    tm_add_string(clocks, "clock", "BOOTTIME");
}

static void fill_manifest(const struct tm_conversion *c, struct tm_value *root)
{
    struct tm_value *const manifest = tm_add_object(root, "perfetto_manifest"), *time, *files;
    char first[MEMBER_BYTES];

    name_member(c, 0, first);
    tm_add_int(manifest, "version", 1);
    time = tm_add_object(manifest, "trace_time");
    tm_add_string(time, "clock", "BOOTTIME");
    tm_add_string(time, "file", first);
    files = tm_add_array(manifest, "files");
    for (uint32_t i = 0; i < c->inputs.host_count; i++)
        add_file(c, i, first, files);
}

static void put_manifest(struct tm_conversion *c, struct tm_out_file *file)
{
    const size_t room = HEAD_BYTES + (size_t)c->inputs.host_count * ENTRY_BYTES;
    char *const text = tm_take(&c->run->budget, TM_ACCOUNT_MODEL, room, &c->run->error);
    struct tm_doc *const doc = text ? tm_doc_new(c->run) : NULL;
    FILE *const to = doc ? fmemopen(text, room, "w") : NULL;
    struct tar_header header;

    if (doc && !to)
        (void)tm_fail(&c->run->error, TM_ERR_OUTPUT, -1, "cannot write '%s'", MANIFEST);
    if (to) {
        fill_manifest(c, tm_doc_root(doc));
        tm_value_print_line(tm_doc_root(doc), to);
        (void)fclose(to);
        make_header(&header, MANIFEST, strlen(text));
        tm_out_file_write(file, &header, sizeof(header));
        tm_out_file_write(file, text, strlen(text));
        put_padding(file, strlen(text));
    }
    tm_doc_free(doc);
    tm_give(&c->run->budget, TM_ACCOUNT_MODEL, text, text ? room : 0);
}

/* --- the hosts --- */

static void add_counts(struct tm_written *to, const struct tm_written *from)
{
    to->raw_bytes += from->raw_bytes;
    to->arguments += from->arguments;
    to->counts.slices += from->counts.slices;
    to->counts.counters += from->counts.counters;
    to->counts.arrows += from->counts.arrows;
    to->counts.rows += from->counts.rows;
    to->counts.first_ps = from->counts.first_ps < to->counts.first_ps ? from->counts.first_ps : to->counts.first_ps;
    to->counts.last_ps = from->counts.last_ps > to->counts.last_ps ? from->counts.last_ps : to->counts.last_ps;
}

/* What a file of this host alone says about itself. */
static void make_facts(struct tm_conversion *c, uint32_t number, const struct tm_trace *trace)
{
    const struct tm_found_file *const from = c->inputs.hosts[number];

    tm_trace_facts_make(&c->alone, c->run);
    if (tm_failed(c->run))
        return;
    tm_trace_facts_add_run(&c->alone, c->options->args, c->inputs.run_name);
    tm_trace_facts_add_host(&c->alone, trace, from->member ? from->member : from->path, true);
    if (c->run->redactor)
        tm_trace_facts_redact(&c->alone, c->run->redactor);
    tm_trace_facts_add_clock_of(&c->alone, &c->facts, trace->host_name);
}

/* The header of a member is written when its size is known. */
static void put_host(struct tm_conversion *c, const struct tm_trace_format *format, uint32_t number,
                     struct tm_out_file *file, struct tm_written *written)
{
    const struct tm_export_options choice = { .is_overview = false };
    const uint64_t start = tm_out_file_bytes(file);
    struct tm_trace_output out = { .writer = NULL };
    struct tm_written part = { .raw_bytes = 0 };
    struct tar_header header;
    char name[MEMBER_BYTES];
    struct tm_host_run *host;

    if (tm_conversion_host(c, number, &host))
        return;
    make_facts(c, number, &host->trace);
    name_member(c, number, name);
    make_header(&header, name, 0);
    tm_out_file_write(file, &header, sizeof(header));
    if (!tm_failed(c->run) && !tm_trace_output_open(&out, c, format, &choice)) {
        tm_trace_output_begin_file(&out, file);
        tm_conversion_events(c, number, out.exporter);
        if (!tm_failed(c->run))
            tm_trace_output_end_file(&out);
        tm_trace_output_tell(&out, tm_exporter_counts(out.exporter), &part);
        add_counts(written, &part);
    }
    tm_trace_output_close(&out);
    tm_trace_facts_free(&c->alone, c->run);
    const uint64_t size = tm_out_file_bytes(file) - start - sizeof(header);

    make_header(&header, name, size);
    tm_out_file_patch(file, start, &header, sizeof(header));
    put_padding(file, size);
}

tm_status tm_convert_into_archive(struct tm_conversion *c, const struct tm_trace_format *format, const char *folder,
                                  const char *name, struct tm_out_file **file, struct tm_written *written)
{
    static const char end[2 * TAR_BLOCK];

    *written = (struct tm_written){ .counts = { .first_ps = INT64_MAX, .last_ps = INT64_MIN } };
    (void)snprintf(written->name, sizeof(written->name), "%s", name);
    *file = tm_failed(c->run) ? NULL : tm_out_file_open(c->run, folder, name, false);
    if (!*file)
        return c->run->error.status;
    put_manifest(c, *file);
    for (uint32_t i = 0; i < c->inputs.host_count && !tm_failed(c->run); i++)
        put_host(c, format, i, *file, written);
    tm_out_file_write(*file, end, sizeof(end));
    return tm_while(&c->run->error, "writing '%s'", name);
}
