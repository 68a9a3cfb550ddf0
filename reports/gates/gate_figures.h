/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_GATE_FIGURES_H
#define TM_GATE_FIGURES_H

#include "pipeline/doc/doc.h"

/* A figure of a document by its path, as tm_path has it.  "[*]" stands for each element of a list
 * or member of an object: of many figures the one that a rule is strictest with is taken.  The id
 * of a key figure, "device_utilization", and "utilization" are short names. */
enum { TM_FIGURE_PATH = 512, TM_FIGURE_UNIT = 24, TM_FIGURE_DEPTH = 24 };

enum tm_figure_state {
    TM_FIGURE_KNOWN,
    TM_FIGURE_NULL,       /* or below something that is null, or no element for "[*]" */
    TM_FIGURE_NO_ELEMENT, /* the list has none of that name */
    TM_FIGURE_WRONG,      /* there is no such path */
    TM_FIGURE_OTHER,      /* it is a text, a list or an object */
};

struct tm_figure {
    enum tm_figure_state state;
    double value;
    char unit[TM_FIGURE_UNIT];  /* "ps", "ms", "%", "bytes", "bytes/s", "FLOP/s", "count" or "" */
    char place[TM_FIGURE_PATH]; /* the path with the elements that were taken */
    const char *why;            /* of a null; "" where none was given */
    enum tm_type type;          /* of what was found */
};

enum tm_figure_pick { TM_FIGURE_MOST, TM_FIGURE_LEAST };

/* The path that a short name stands for, else the name.  out: of static storage, or `to` */
const char *tm_figure_path(const struct tm_value *from, const char *name, char to[TM_FIGURE_PATH]);
/* in: path  less than TM_FIGURE_PATH bytes */
void tm_figure_find(struct tm_figure *figure, const struct tm_value *from, const char *path, enum tm_figure_pick pick);
/* What people call it; NULL = nothing else than its path. */
const char *tm_figure_title(const struct tm_value *from, const char *path);

/* "NAME, NAME or NAME": up to three figures that a wrong path was meant to be; "" where none is
 * near. */
void tm_figure_suggest(const struct tm_value *from, const char *wrong_path, char *to, size_t to_bytes);

/* Bytes of the first piece of a path: "steps", ".median_ps", "[0]", "[*]"; 0 = it is no path. */
size_t tm_figure_piece(const char *path);

#endif
