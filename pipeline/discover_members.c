/* SPDX-License-Identifier: Apache-2.0 */
/* Finds runs in an archive: the names of its members are gathered, put in order by folder, and each folder with
 * trace files becomes a run, as in the walk over folders.  Nothing is opened. */
#include <stdlib.h>
#include <string.h>

#include "pipeline/discover_private.h"
#include "pipeline/limits.h"

/* The state of one search. */
struct gathering {
    struct tm_run *run;
    const char *path;
    struct tm_found_run files; /* of all folders: trace files by their names */
    struct tm_found_run here;  /* of one folder */
    struct tm_found_file only; /* the first regular member; of several of that name the last */
    uint64_t others;           /* regular members of other names */
    uint64_t named;            /* of the files, those with names of traces */
    uint64_t sniffed;          /* members that were looked into */
    struct tm_member_links links;
    struct tm_left_out *left_out;
    uint64_t unreadable;
    struct tm_listing listing;
};

/* Members of hidden folders, and hidden ones, are left out as the walk does; ".." is no hidden name. */
static bool is_hidden(const char *name)
{
    const char *part = name;

    while (part) {
        const size_t length = strcspn(part, "/");

        if (part[0] == '.' && length > 1 && !(length == 2 && part[1] == '.'))
            return true;
        part = strchr(part, '/');
        part = part ? part + 1 : NULL;
    }
    return false;
}

static struct tm_found_file make_file(const struct gathering *g, const struct tm_member *member)
{
    return (struct tm_found_file){ .path = tm_find_copy(g->run, g->path, strlen(g->path)),
                                   .member = tm_find_copy(g->run, member->name, strlen(member->name)),
                                   .position = member->position, .listed = member->position,
                                   .bytes = member->bytes, .mtime_ns = member->mtime_ns };
}

static tm_status note_only(struct gathering *g, const struct tm_member *member)
{
    struct tm_found_file *const only = &g->only;

    if (only->member && strcmp(tm_member_path(only->member), tm_member_path(member->name)) != 0) {
        g->others++;
        return TM_OK;
    }
    tm_found_file_free(g->run, only);
    *only = make_file(g, member);
    only->kind = TM_FOUND_FILE;
    only->host = tm_file_host(g->run, member->name);
    return only->path && only->member && only->host ? TM_OK : g->run->error.status;
}

/* The kind of a member whose name leaves it open.  out: *is_trace */
static tm_status sniff_member(struct gathering *g, const struct tm_member *member, enum tm_found_kind *kind,
                              bool *is_trace)
{
    enum tm_sniffed sniffed = TM_SNIFFED_OTHER;
    tm_status st;

    *is_trace = false;
    if (g->sniffed++ >= tm_raised_limit(g->run, TM_DISCOVER_SNIFFS_MOST)) {
        g->left_out->unseen++;
        return TM_OK;
    }
    st = member->sniff(member, &sniffed);
    *is_trace = tm_sniffed_kind(sniffed, kind);
    if (st == TM_ERR_INPUT) {
        g->unreadable++;
        g->run->error = (struct tm_error){ .status = TM_OK };
        return TM_OK;
    }
    g->left_out->not_traces += st == TM_OK && !*is_trace;
    return st;
}

/* A member whose name is, or may be, that of a trace.  in: last  the last part of its name */
static tm_status take_file(struct gathering *g, const struct tm_member *member, const char *last,
                           const struct tm_trace_name *told, bool is_named)
{
    enum tm_found_kind kind = told->kind;
    bool is_trace = true;
    struct tm_found_file file;

    if (!is_named && member->link && g->links.count >= tm_raised_limit(g->run, TM_DISCOVER_LINKS_MOST)) {
        g->left_out->unseen++;
        return TM_OK;
    }
    if (!is_named && !member->link) {
        const tm_status st = sniff_member(g, member, &kind, &is_trace);

        if (st != TM_OK || !is_trace)
            return st;
    }
    file = make_file(g, member);
    file.host = file.member ? tm_find_host(g->run, last, told->host_length) : NULL;
    file.kind = kind;
    g->named += is_named && !member->link;
    return member->link ? tm_member_links_add(&g->links, &file, member, !is_named) :
                          tm_run_add(g->run, &g->files, &file);
}

static tm_status take_member(void *to, const struct tm_member *member)
{
    struct gathering *const g = to;
    size_t length;
    const char *const last = tm_last_part(member->name, &length);
    struct tm_trace_name told;
    const bool is_named = tm_trace_name_read(last, &told) && last[length] == '\0';
    const bool may_be = is_named || (member->sniff && last[length] == '\0' && tm_plain_name_read(last, &told));
    tm_status st = TM_OK;

    g->left_out->special += member->is_special;
    if (!member->is_regular && !member->link)
        return TM_OK;
    if (is_hidden(member->name)) {
        g->left_out->hidden += is_named && strncmp(last, "._", 2) != 0; /* those are a Mac's notes on the file beside */
        return TM_OK;
    }
    if (member->is_regular)
        st = note_only(g, member);
    else if (!may_be && !tm_member_stays_inside(member))
        g->left_out->lost_links++; /* there may have been a folder of runs behind it */
    return st == TM_OK && may_be ? take_file(g, member, last, &told, is_named) : st;
}

/* Links that lead to a file are files themselves. */
static tm_status add_links(struct gathering *g)
{
    tm_status st = tm_member_links_resolve(&g->links, g->files.files, g->files.all_count);

    g->unreadable += g->links.unreadable;
    for (size_t i = 0; i < g->links.count && st == TM_OK; i++) {
        struct tm_member_link *const link = &g->links.rows[i];
        const struct tm_found_file file = link->file;

        if (link->is_lost) {
            g->left_out->lost_links++;
        } else if (file.kind == TM_FOUND_COPY) {
            g->left_out->not_traces++;
        } else {
            link->file = (struct tm_found_file){ .path = NULL };
            g->others++;
            st = tm_run_add(g->run, &g->files, &file);
        }
    }
    return st;
}

/* Length of the folder in a member's name, which stands before its last slash. */
static size_t folder_length(const char *name)
{
    const char *const slash = strrchr(name, '/');

    return slash ? (size_t)(slash - name) : 0;
}

static int compare_folders(const char *one, const char *other)
{
    const size_t length = folder_length(one), length2 = folder_length(other);
    const int order = memcmp(one, other, length < length2 ? length : length2);

    return order ? order : (length > length2) - (length < length2);
}

static int by_folder(const void *a, const void *b)
{
    const struct tm_found_file *const one = a, *const other = b;
    const char *const name = tm_member_path(one->member), *const name2 = tm_member_path(other->member);
    int order = compare_folders(name, name2);

    if (order == 0)
        order = strcmp(name, name2);
    return order ? order : (one->listed > other->listed) - (one->listed < other->listed);
}

size_t tm_archive_name_length(const char *name, size_t length)
{
    static const char *const endings[] = { ".gz", ".zst", ".tgz", ".tar", ".zip" };

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        const size_t bare = tm_name_without(name, length, endings[i]);

        length = bare ? bare : length;
    }
    return length;
}

/* What a run is called: its folder's last part; the archive, without its endings, where it has no folder. */
static char *copy_name(const struct gathering *g, const char *folder, size_t below)
{
    size_t length;
    const char *last = tm_last_part(folder + below, &length);

    if (length == 0) {
        last = tm_last_part(g->path, &length);
        length = tm_archive_name_length(last, length);
    }
    return tm_find_copy(g->run, last, length);
}

/* The problem of the archive goes with the first file of each run. */
static tm_status keep_here(struct gathering *g, struct tm_found *found)
{
    struct tm_found_run *const here = &g->here;
    const struct tm_listing *const listing = &g->listing;
    char folder[TM_FOUND_NAME_BYTES];
    const size_t below = strlen(g->path);
    char *name;
    tm_status st;

    (void)tm_found_name(&here->files[0], folder);
    *strrchr(folder + below, '/') = '\0'; /* there is one after the archive's own path */
    name = copy_name(g, folder, below);
    st = name ? tm_run_keep(found, here, folder, name) : g->run->error.status;
    if (st == TM_OK && listing->problem[0]) {
        struct tm_found_file *const first = &found->runs[found->run_count - 1].files[0];

        first->problem = tm_find_copy(g->run, listing->problem, strlen(listing->problem));
        st = first->problem ? TM_OK : g->run->error.status;
    }
    return st;
}

/* Files in order become runs, folder by folder; each file moves from one list to the other. */
static tm_status make_runs(struct gathering *g, struct tm_found *found)
{
    struct tm_found_file *const files = g->files.files;
    const size_t count = g->files.all_count;
    tm_status st = TM_OK;

    if (count > 0)
        qsort(files, count, sizeof(*files), by_folder);
    for (size_t i = 0; i < count && st == TM_OK; i++) {
        const char *const name = tm_member_path(files[i].member);
        const char *const next = i + 1 < count ? tm_member_path(files[i + 1].member) : NULL;
        struct tm_found_file file = files[i];

        if (next && strcmp(name, next) == 0) {
            g->left_out->replaced++; /* the last one of a name counts */
            continue;
        }
        files[i] = (struct tm_found_file){ .path = NULL };
        st = tm_run_add(g->run, &g->here, &file);
        if (st == TM_OK && (!next || compare_folders(tm_member_path(file.member), next) != 0))
            st = keep_here(g, found);
    }
    return st;
}

static tm_status keep_only(struct gathering *g, struct tm_found *found)
{
    const struct tm_found_file file = g->only;
    tm_status st;

    g->only = (struct tm_found_file){ .path = NULL };
    st = tm_run_add(g->run, &g->here, &file);
    if (st == TM_OK && g->listing.problem[0]) {
        g->here.files[0].problem = tm_find_copy(g->run, g->listing.problem, strlen(g->listing.problem));
        st = g->here.files[0].problem ? TM_OK : g->run->error.status;
    }
    return st == TM_OK ? tm_run_keep_file(found, &g->here) : st;
}

static tm_status refuse_bare(const struct gathering *g)
{
    const struct tm_listing *const l = &g->listing;
    const uint64_t links = g->left_out->lost_links, others = g->left_out->not_traces;
    char more[128] = "";
    size_t used = 0;

    if (links > 0)
        used = (size_t)snprintf(more, sizeof(more), "; %llu link%s to no member", (unsigned long long)links,
                                links == 1 ? " leads" : "s lead");
    if (others > 0)
        (void)snprintf(more + used, sizeof(more) - used, "; %llu .json or .pb file%s", (unsigned long long)others,
                       others == 1 ? " is no trace" : "s are no traces");
    (void)tm_fail(&g->run->error, TM_ERR_INPUT, -1,
                  "no profile in '%.150s': looked for *.xplane.pb, *.trace.json and perfetto_trace.json, and into "
                  "*.json and *.pb, also .gz and .zst, among %llu member%s%s%s%.150s",
                  g->path, (unsigned long long)l->members, l->members == 1 ? "" : "s", more, l->problem[0] ? "; " : "",
                  l->problem);
    tm_hint(&g->run->error,
            "take one: run a few steps and block_until_ready() inside 'with jax.profiler.trace(DIR):'");
    return TM_ERR_INPUT;
}

tm_status tm_discover_members(struct tm_run *run, const char *path, tm_list_members *list, struct tm_found *found)
{
    struct gathering g = { .run = run, .path = path, .left_out = &found->left_out,
                           .links = { .run = run, .path = path, .list = list } };
    tm_status st;

    *found = (struct tm_found){ .run = run, .folders = 1 };
    st = list(run, path, take_member, &g, &g.listing);
    if (st == TM_OK)
        st = add_links(&g);
    found->unreadable = g.unreadable;
    found->unnamed = g.listing.unnamed;
    found->damaged = g.listing.problem[0] != '\0';
    if (st == TM_OK && g.only.member && g.others == 0 &&
        (g.named == 0 || !strchr(tm_member_path(g.only.member), '/')))
        st = keep_only(&g, found);
    else if (st == TM_OK)
        st = make_runs(&g, found);
    if (st == TM_OK && found->run_count == 0)
        st = refuse_bare(&g);
    if (st == TM_OK)
        st = tm_runs_order(found, path);
    tm_member_links_free(&g.links);
    tm_run_free(run, &g.files);
    tm_run_free(run, &g.here);
    tm_found_file_free(run, &g.only);
    return st;
}
