/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what the links of an archive lead to: hard links, of which the archive has the content once, and symbolic ones,
 * also through links to folders.  Names are paths within the archive, and nothing of them is looked up on this machine.
 * Kept are the links that may be traces; where a target is no file that is known already, the archive is listed once
 * for each hop. */
#include <stdlib.h>
#include <string.h>

#include "pipeline/discover_private.h"

enum hit { HIT_NONE, HIT_FOLDER, HIT_LINK, HIT_FILE };

/* --- names --- */

/* Put the parts of a name behind what is there.  out: false  it is too long, or leads out */
static bool append_parts(char *out, size_t *used, const char *name)
{
    while (*name) {
        const size_t length = strcspn(name, "/");

        if (length == 2 && name[0] == '.' && name[1] == '.') {
            const char *const slash = *used > 0 ? memrchr(out, '/', *used) : NULL;

            if (*used == 0)
                return false;
            *used = slash ? (size_t)(slash - out) : 0;
        } else if (length > 0 && !(length == 1 && name[0] == '.')) {
            if (*used + length + 2 > TM_MEMBER_PATH_BYTES)
                return false;
            if (*used > 0)
                out[(*used)++] = '/';
            memcpy(out + *used, name, length);
            *used += length;
        }
        name += length + (name[length] == '/');
    }
    return true;
}

bool tm_member_normalize(char out[TM_MEMBER_PATH_BYTES], const char *folder, const char *name)
{
    size_t used = 0;
    const bool inside = append_parts(out, &used, folder) && append_parts(out, &used, name);

    out[used] = '\0';
    return inside && used > 0;
}

/* Where a link leads, as a name of the archive.  out: false  out of it */
static bool find_target(char out[TM_MEMBER_PATH_BYTES], const struct tm_member *member)
{
    char folder[TM_MEMBER_PATH_BYTES] = "";
    char *slash;

    if (member->is_hard)
        return tm_member_normalize(out, "", member->link);
    if (member->link[0] == '/' || !tm_member_normalize(folder, "", member->name))
        return false;
    slash = strrchr(folder, '/');
    *(slash ? slash : folder) = '\0';
    return tm_member_normalize(out, folder, member->link);
}

bool tm_member_stays_inside(const struct tm_member *link)
{
    char target[TM_MEMBER_PATH_BYTES];

    return find_target(target, link);
}

/* --- the list --- */

tm_status tm_member_links_add(struct tm_member_links *l, const struct tm_found_file *file,
                              const struct tm_member *member, bool is_plain)
{
    struct tm_member_link link = { .file = *file, .position = member->is_hard ? member->position : 0,
                                   .is_plain = is_plain };
    char target[TM_MEMBER_PATH_BYTES];
    void *rows = l->rows;
    tm_status st = file->path && file->member && file->host ? TM_OK : l->run->error.status;

    if (st == TM_OK)
        st = tm_find_grow(l->run, &rows, l->count, &l->capacity, sizeof(*l->rows));
    l->rows = rows;
    if (st != TM_OK) {
        tm_found_file_free(l->run, &link.file);
        return st;
    }
    link.is_lost = !find_target(target, member);
    if (!link.is_lost)
        link.wanted = tm_find_copy(l->run, target, strlen(target));
    l->rows[l->count++] = link;
    return link.is_lost || link.wanted ? TM_OK : l->run->error.status;
}

static void end_link(struct tm_run *run, struct tm_member_link *link, bool is_lost)
{
    tm_find_give(run, link->wanted);
    tm_find_give(run, link->next);
    link->wanted = link->next = NULL;
    link->is_lost = is_lost;
}

void tm_member_links_free(struct tm_member_links *l)
{
    for (size_t i = 0; i < l->count; i++) {
        end_link(l->run, &l->rows[i], false);
        tm_found_file_free(l->run, &l->rows[i].file);
    }
    tm_give(&l->run->budget, TM_ACCOUNT_MODEL, l->rows, l->capacity * sizeof(*l->rows));
    tm_give(&l->run->budget, TM_ACCOUNT_MODEL, l->order,
            l->order ? l->count * sizeof(struct tm_member_link *) : 0);
    *l = (struct tm_member_links){ .run = l->run };
}

/* --- among the files that are known --- */

static int by_name_and_position(const void *a, const void *b)
{
    const struct tm_found_file *const one = a, *const other = b;
    const int names = strcmp(tm_member_path(one->member), tm_member_path(other->member));

    return names ? names : (one->position > other->position) - (one->position < other->position);
}

/* The file that a link means: the last one of the name; for a hard link the last one before it, if there is one. */
static const struct tm_found_file *find_file(const struct tm_member_link *link, const struct tm_found_file *files,
                                             size_t count)
{
    size_t from = 0, to = count;
    const struct tm_found_file *found = NULL;

    while (from < to) {
        const size_t middle = from + (to - from) / 2;

        if (strcmp(tm_member_path(files[middle].member), link->wanted) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    for (; from < count && strcmp(tm_member_path(files[from].member), link->wanted) == 0; from++) {
        if (!found || !link->position || files[from].position < link->position)
            found = &files[from];
    }
    return found;
}

static tm_status take_target(struct tm_member_links *l, struct tm_member_link *link, const char *name,
                             uint64_t position, uint64_t bytes, int64_t mtime_ns)
{
    struct tm_found_file *const file = &link->file;

    tm_find_give(l->run, file->target);
    file->target = tm_find_copy(l->run, name, strlen(name));
    file->position = position;
    file->bytes = bytes;
    file->mtime_ns = mtime_ns;
    return file->target ? TM_OK : l->run->error.status;
}

static tm_status look_among(struct tm_member_links *l, const struct tm_found_file *files, size_t count)
{
    tm_status st = TM_OK;

    for (size_t i = 0; i < l->count && st == TM_OK; i++) {
        struct tm_member_link *const link = &l->rows[i];
        const struct tm_found_file *const file = link->wanted ? find_file(link, files, count) : NULL;

        if (!file)
            continue;
        st = take_target(l, link, file->member, file->position, file->bytes, file->mtime_ns);
        if (link->is_plain)
            link->file.kind = file->kind;
        end_link(l->run, link, false);
    }
    return st;
}

/* --- in the archive --- */

static int by_wanted(const void *a, const void *b)
{
    const struct tm_member_link *const *const one = a, *const *const other = b;

    return strcmp((*one)->wanted, (*other)->wanted);
}

/* The first one that wants this name or a later one. */
static size_t first_wanted(const struct tm_member_links *l, const char *name)
{
    size_t from = 0, to = l->wanted;

    while (from < to) {
        const size_t middle = from + (to - from) / 2;

        if (strcmp(l->order[middle]->wanted, name) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* The content of a member comes once, and several links may lead to it. */
static tm_status sniff_target(struct tm_member_links *l, const struct tm_member *member)
{
    tm_status st;

    if (l->sniffed_at == member->position)
        return TM_OK;
    l->sniffed_at = member->position;
    l->sniffed = TM_SNIFFED_OTHER;
    st = member->sniff ? member->sniff(member, &l->sniffed) : TM_OK;
    if (st != TM_ERR_INPUT)
        return st;
    l->run->error = (struct tm_error){ .status = TM_OK };
    l->unreadable++;
    return TM_OK;
}

static tm_status take_content(struct tm_member_links *l, struct tm_member_link *link, const struct tm_member *member)
{
    const tm_status st = link->is_plain ? sniff_target(l, member) : TM_OK;

    if (st == TM_OK && link->is_plain && !tm_sniffed_kind(l->sniffed, &link->file.kind))
        link->file.kind = TM_FOUND_COPY;
    return st;
}

/* A member of the very name that is wanted. */
static tm_status take_hit(struct tm_member_links *l, struct tm_member_link *link, const struct tm_member *member)
{
    char target[TM_MEMBER_PATH_BYTES];
    tm_status st;

    if (link->position && link->hit >= HIT_LINK && member->position >= link->position)
        return TM_OK; /* one before it counts */
    if (member->is_regular) {
        link->hit = HIT_FILE;
        st = take_target(l, link, member->name, member->position, member->bytes, member->mtime_ns);
        return st == TM_OK ? take_content(l, link, member) : st;
    }
    link->hit = HIT_LINK;
    tm_find_give(l->run, link->next);
    link->next = NULL;
    link->next_position = member->is_hard ? member->position : 0;
    if (!find_target(target, member))
        return TM_OK;
    link->next = tm_find_copy(l->run, target, strlen(target));
    return link->next ? TM_OK : l->run->error.status;
}

/* A link to a folder that is on the way.  in: rest  of the way, behind the folder */
static tm_status take_folder(struct tm_member_links *l, struct tm_member_link *link, const struct tm_member *member,
                             const char *rest)
{
    char target[TM_MEMBER_PATH_BYTES], whole[TM_MEMBER_PATH_BYTES];

    if (link->hit > HIT_FOLDER)
        return TM_OK;
    link->hit = HIT_FOLDER;
    tm_find_give(l->run, link->next);
    link->next = NULL;
    link->next_position = 0;
    if (!find_target(target, member) || !tm_member_normalize(whole, target, rest))
        return TM_OK;
    link->next = tm_find_copy(l->run, whole, strlen(whole));
    return link->next ? TM_OK : l->run->error.status;
}

static tm_status take_member(void *to, const struct tm_member *member)
{
    struct tm_member_links *const l = to;
    char name[TM_MEMBER_PATH_BYTES + 1];
    size_t length;
    tm_status st = TM_OK;

    if ((!member->is_regular && !member->link) || !tm_member_normalize(name, "", member->name))
        return TM_OK;
    for (size_t i = first_wanted(l, name); i < l->wanted && st == TM_OK && strcmp(l->order[i]->wanted, name) == 0; i++)
        st = take_hit(l, l->order[i], member);
    if (!member->link || member->is_hard)
        return st;
    length = strlen(name);
    name[length++] = '/';
    name[length] = '\0';
    for (size_t i = first_wanted(l, name);
         i < l->wanted && st == TM_OK && strncmp(l->order[i]->wanted, name, length) == 0; i++)
        st = take_folder(l, l->order[i], member, l->order[i]->wanted + length);
    return st;
}

/* After a listing: what was found ends the link, or is what is wanted next. */
static void go_on(struct tm_run *run, struct tm_member_link *link)
{
    const bool goes = link->hit != HIT_FILE && link->next && link->hops < TM_DISCOVER_HOPS_MOST &&
                      strcmp(link->next, link->wanted) != 0;

    if (!goes) {
        end_link(run, link, link->hit != HIT_FILE);
        return;
    }
    tm_find_give(run, link->wanted);
    link->wanted = link->next;
    link->next = NULL;
    link->position = link->next_position;
    link->hit = HIT_NONE;
    link->hops++;
}

static tm_status look_in_archive(struct tm_member_links *l)
{
    struct tm_listing listing;
    tm_status st;

    qsort(l->order, l->wanted, sizeof(struct tm_member_link *), by_wanted);
    l->sniffed_at = 0;
    st = l->list(l->run, l->path, take_member, l, &listing);
    for (size_t i = 0; i < l->wanted && st == TM_OK; i++)
        go_on(l->run, l->order[i]);
    return st;
}

tm_status tm_member_links_resolve(struct tm_member_links *l, struct tm_found_file *files, size_t count)
{
    tm_status st = TM_OK;

    if (l->count == 0)
        return TM_OK;
    l->order = tm_find_take(l->run, l->count * sizeof(struct tm_member_link *));
    if (!l->order)
        return l->run->error.status;
    if (count > 0)
        qsort(files, count, sizeof(*files), by_name_and_position);
    do {
        st = look_among(l, files, count);
        l->wanted = 0;
        for (size_t i = 0; i < l->count; i++) {
            if (l->rows[i].wanted)
                l->order[l->wanted++] = &l->rows[i];
        }
        if (st == TM_OK && l->wanted > 0)
            st = look_in_archive(l);
    } while (st == TM_OK && l->wanted > 0);
    return st;
}
