/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CHART_H
#define TM_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/doc/doc.h"
#include "pipeline/error.h"
#include "pipeline/run.h"

/* What a color means.  Charts name roles; the back ends look the color up (PDF) or name a class
 * of the style sheet (SVG, HTML: "f-compute" fills, "s-compute" strokes), so that light, dark and
 * print stay one drawing. */
enum tm_role {
    /* Parts of device time, in the order of stacking. */
    TM_ROLE_COMPUTE,
    TM_ROLE_COLLECTIVE,
    TM_ROLE_COPY_H2D,
    TM_ROLE_COPY_D2H,
    TM_ROLE_COPY_P2P,
    TM_ROLE_COPY_D2D,
    TM_ROLE_COPY_OTHER,
    TM_ROLE_HIDDEN, /* of a collective or a copy: overlapped with other work */
    /* Idle by cause, in the order of the summary. */
    TM_ROLE_IDLE_DEVICE_WAIT,
    TM_ROLE_IDLE_LAUNCH,
    TM_ROLE_IDLE_COMPILE,
    TM_ROLE_IDLE_INPUT,
    TM_ROLE_IDLE_SYNC,
    TM_ROLE_IDLE_GC,
    TM_ROLE_IDLE_PROFILER,
    TM_ROLE_IDLE_HOST,
    TM_ROLE_IDLE_UNRECORDED,
    TM_ROLE_IDLE, /* idle that is not split */
    /* Assessments. */
    TM_ROLE_GOOD,
    TM_ROLE_WARNING,
    TM_ROLE_BAD,
    TM_ROLE_UNKNOWN,
    /* Passes of a training step. */
    TM_ROLE_PASS_FORWARD,
    TM_ROLE_PASS_BACKWARD,
    TM_ROLE_PASS_OTHER,
    /* Utilization of a device, from low to high: steps of one hue. */
    TM_ROLE_USE_0,
    TM_ROLE_USE_1,
    TM_ROLE_USE_2,
    TM_ROLE_USE_3,
    TM_ROLE_USE_4,
    /* Everything else. */
    TM_ROLE_SERIES, /* one series of data without its own meaning */
    TM_ROLE_AREA,   /* the area below that series */
    TM_ROLE_TEXT,
    TM_ROLE_QUIET, /* axis labels, notes */
    TM_ROLE_GRID,  /* axes and grid lines */
    TM_ROLE_PAPER, /* background; gaps between parts */
    TM_ROLE_COUNT
};

struct tm_colour {
    const char *name;  /* of the style class, after "f-" or "s-" */
    uint32_t light;    /* 0xRRGGBB on white paper, screen and print */
    uint32_t dark;     /* on dark paper */
    const char *label; /* as in legends */
};

/* Indexed by the enum. */
extern const struct tm_colour tm_palette[TM_ROLE_COUNT];

/* The role of a part of the summary: "device_wait" ... "unrecorded"; "h2d" ... "other".
 * out:    the role, TM_ROLE_UNKNOWN for a word that is unknown */
enum tm_role tm_role_of_cause(const char *cause);
enum tm_role tm_role_of_direction(const char *direction);

/* The direction of a copy in words: "host to device"; a word that is unknown as it is. */
const char *tm_direction_title(const char *direction);

/* A cause of idle time in words. */
const char *tm_cause_title(const char *cause);

/* A drawing that does not know its page: marks in points (1/72 inch), origin at the top left, y
 * downwards. The makers (chart.h) put marks in, the back ends (html_page.h, the PDF writer) draw them in
 * order, later marks above earlier ones.  Besides the drawing, a chart has a title, a caption and a
 * table of the same figures. Texts may contain names of a trace: valid UTF-8 without control
 * characters, which the back end escapes. */
enum tm_mark_kind {
    TM_MARK_RECT,     /* x, y = top left; width, height; filled with role */
    TM_MARK_LINE,     /* from x, y to x + width, y + height; stroked, `thickness` wide; dashed or not */
    TM_MARK_POLYLINE, /* point_count points from point_first; stroked */
    TM_MARK_POLYGON,  /* likewise; filled and closed */
    TM_MARK_DOT,      /* center x, y; radius = width; filled */
    TM_MARK_TEXT,     /* baseline at x, y; anchor says which end of the text x is */
    TM_MARK_OPEN,     /* a group starts; its text is its tooltip ("" = none) */
    TM_MARK_CLOSE,
};

enum tm_anchor { TM_ANCHOR_START, TM_ANCHOR_MIDDLE, TM_ANCHOR_END };

enum tm_text_size { TM_TEXT_SMALL, TM_TEXT_NORMAL, TM_TEXT_STRONG, TM_TEXT_SIZES };

extern const double tm_text_points[TM_TEXT_SIZES]; /* font size; STRONG is NORMAL in bold */

struct tm_mark {
    uint8_t kind;   /* enum tm_mark_kind */
    uint8_t role;   /* enum tm_role */
    uint8_t size;   /* enum tm_text_size */
    uint8_t anchor; /* enum tm_anchor */
    bool dashed;
    double x, y, width, height, thickness;
    uint32_t text; /* offset into texts: tm_chart_text */
    uint32_t point_first, point_count;
};

struct tm_point {
    double x, y;
};

enum { TM_CHART_TITLE = 160, TM_CHART_CAPTION = 768, TM_CHART_COLUMNS = 24 };

/* The figures of the chart as a table: cells of row r, column c at r * columns + c. */
struct tm_chart_table {
    int columns;
    char title[TM_CHART_COLUMNS][40];
    bool is_number[TM_CHART_COLUMNS]; /* right-aligned */
    uint32_t *cell;                   /* offsets into texts */
    size_t cells, cells_room;
};

struct tm_chart {
    struct tm_run *run;
    double width, height;           /* of the drawing; width is given, height is the maker's */
    char title[TM_CHART_TITLE];     /* "Device time": the heading, not part of the drawing */
    char caption[TM_CHART_CAPTION]; /* what is drawn, how much of it, and what was omitted; below the drawing */
    bool is_short;                  /* of the first screen: as low as possible; the caller's, kept when cleared */
    int columns;                    /* of equal width from columns_left to the right end: a page can zoom; 0 = none */
    double columns_left;
    struct tm_mark *mark;
    size_t marks, marks_room;
    struct tm_point *point;
    size_t points, points_room;
    char *texts;
    size_t text_bytes, text_room;
    struct tm_chart_table table;
    bool failed; /* recorded in run->error; further calls do nothing */
};

/* Start an empty chart.  in: width  points, at least 300; memory comes from the account `model` */
void tm_chart_init(struct tm_chart *chart, struct tm_run *run, double width);
void tm_chart_free(struct tm_chart *chart); /* a zeroed one is allowed */
/* Clears it for the next drawing; keeps width and memory. */
void tm_chart_clear(struct tm_chart *chart);

/* The thickness of lines that are not dashed. */
extern const double tm_chart_thin;

/* Adding marks.  Texts are copied, made visible (format.h) and cut at 1 KiB. */
void tm_chart_rect(struct tm_chart *chart, enum tm_role role, double x, double y, double width, double height);
void tm_chart_line(struct tm_chart *chart, enum tm_role role, double x1, double y1, double x2, double y2);
void tm_chart_dashed(struct tm_chart *chart, enum tm_role role, double x1, double y1, double x2, double y2);
void tm_chart_dot(struct tm_chart *chart, enum tm_role role, double x, double y, double radius);
void tm_chart_string(struct tm_chart *chart, enum tm_role role, enum tm_text_size size, enum tm_anchor anchor, double x,
                     double y, const char *text);
void tm_chart_open(struct tm_chart *chart, const char *format, ...) TM_PRINTF(2, 3);
void tm_chart_close(struct tm_chart *chart);
/* A polyline or polygon: start it, then add its points. */
void tm_chart_path(struct tm_chart *chart, enum tm_mark_kind kind, enum tm_role role, double thickness);
void tm_chart_dashed_path(struct tm_chart *chart, enum tm_role role, double thickness);
void tm_chart_point(struct tm_chart *chart, double x, double y);

/* The table beside the drawing: columns first, then cells row by row. */
void tm_chart_column(struct tm_chart *chart, const char *title, bool is_number);
/* Several of them: "cause, #gaps, #time", with '#' before those of numbers. */
void tm_chart_columns(struct tm_chart *chart, const char *titles);
void tm_chart_cell(struct tm_chart *chart, const char *text);

/* Reading, for the back ends. */
const char *tm_chart_text(const struct tm_chart *chart, uint32_t offset);
size_t tm_chart_rows(const struct tm_chart *chart);

/* Room that a text needs, in points: its width in Helvetica plus a fifth, since browsers may
 * use a wider font.  Each non-ASCII character counts as one of average width. */
double tm_chart_text_width(const char *text, enum tm_text_size size);

/* A scale with round steps, for picoseconds, bytes, numbers without a unit or percent. */
enum tm_axis_kind { TM_AXIS_TIME, TM_AXIS_BYTES, TM_AXIS_NUMBER, TM_AXIS_PCT };

struct tm_axis {
    enum tm_axis_kind kind;
    double from, to; /* the ends of the scale; both are ticks unless the scale is exact */
    double step;
    double at, length; /* where `from` is on the page, and the distance to `to` (negative: upwards) */
};

/* Choose the ends and the step.
 * in:     low, high  of the data, 0 <= low <= high
 *         ticks      about how many steps
 *         exact      the scale ends at low and high; ticks are inside */
void tm_axis_choose(struct tm_axis *axis, enum tm_axis_kind kind, double low, double high, int ticks, bool exact);

/* Where a value is on the page. */
double tm_axis_place(const struct tm_axis *axis, double value);

/* Number of ticks, and the value and label of one: "0", "2 ms", "1.5 GiB". */
int tm_axis_ticks(const struct tm_axis *axis);
double tm_axis_tick(const struct tm_axis *axis, int index);
/* A value with as many decimals as the step of the axis needs. */
char *tm_axis_text(const struct tm_axis *axis, double value, char *out); /* out: TM_FORMAT_BYTES */

char *tm_axis_label(const struct tm_axis *axis, int index, char *out); /* out: TM_FORMAT_BYTES */

/* A plot area with a scale on its left. */
struct tm_plot {
    struct tm_axis y;
    double left, right, top, bottom;
};

struct tm_plot_frame {
    enum tm_axis_kind kind;
    double low, high;  /* of the data */
    double right_room; /* for labels of levels */
    const char *below; /* what the labels below the plot are, or NULL */
};

/* Draw the scale and its lines, and set the height of the chart; the rest is the area for the
 * data. */
void tm_plot_begin(struct tm_chart *chart, struct tm_plot *plot, const struct tm_plot_frame *frame);

/* Draw a dashed line at a value and name it in the room at the right; of one above the scale only the name, at the top.
 * Each label moves down where it would cover the one above.
 * in:     lowest_label  0 before the first one, which is the highest; two at most */
void tm_plot_level(struct tm_chart *chart, const struct tm_plot *plot, const char *name, double value,
                   double *lowest_label);

/* The position of the labels below a plot. */
enum { TM_PLOT_LABELS_BELOW = 15, TM_PLOT_ROOM_BELOW = 22 };

struct tm_legend_entry {
    enum tm_role role;
    const char *label;
};

/* Swatches with their meaning, in as many lines as needed, from y on.  out: the height they took */
double tm_legend_draw(struct tm_chart *chart, const struct tm_legend_entry *entries, int count, double y);

/* Up to where a scale has to reach so that most values can be distinguished: the largest one, unless a few are more
 * than four times as long as the one in the middle.  Then it is the largest of the others.
 * in:     values  sorted in place */
double tm_without_outliers(double *values, size_t count);

/* Dots of a plot, and the names placed beside some of them if there was room. */
enum { TM_SPOTS_MOST = 200, TM_SPOT_NAMES_MOST = 16 };

/* A dot, with its radius as width, or a text from x on with its baseline at y. */
struct tm_scatter_point {
    double x, y, width;
};

struct tm_scatter {
    struct tm_scatter_point dot[TM_SPOTS_MOST], label[TM_SPOT_NAMES_MOST];
    int dots, labels;
    double left, right; /* of the plot: names are inside */
};

/* Room already taken by a text of the plot itself. */
void tm_spots_block(struct tm_scatter *spots, struct tm_scatter_point text);

/* Write a name beside a dot without covering anything; omitted if there is no room. */
void tm_spots_name(struct tm_chart *chart, struct tm_scatter *spots, int dot, const char *name);

/* The parts of a period of device time, of a step or a device of the summary: compute, exposed time, and idle time by
 * cause. */
enum { TM_PARTS_MOST = TM_ROLE_SERIES + 1 }; /* one per role that a bar may have */

struct tm_parts {
    int64_t ps[TM_PARTS_MOST]; /* by role */
    int64_t total_ps;
    bool present; /* the summary has these parts */
};

void tm_parts_of_step(struct tm_parts *parts, const struct tm_value *step);
void tm_parts_of_device(struct tm_parts *parts, const struct tm_value *device);

/* A stacked bar to be drawn. */
struct tm_bar {
    char name[96];  /* beside the bar: "step 7", "vm/gpu:0" */
    char label[32]; /* below it, if it is a column: "7" */
    char note[96];  /* at its other end: "12.3 ms" */
    struct tm_parts parts;
};

/* Bars as rows, with a scale in time below and names on the left; suitable for few.  The bars share a scale,
 * except for those many times as long as the others, which are cut, with a mark.  out: true if one is cut */
bool tm_parts_rows(struct tm_chart *chart, const struct tm_bar *bars, int count);

/* Bars of one figure each, without a legend; the tooltip has name and note.  A dashed line with its name is at
 * level; level_name NULL = none. */
void tm_plain_rows(struct tm_chart *chart, const struct tm_bar *bars, int count, double level, const char *level_name);

/* Bars as columns, with a scale in time on the left; axis names the columns: "step".  Cut as rows are. */
bool tm_parts_columns(struct tm_chart *chart, const char *axis_name, const struct tm_bar *bars, int count);

/* What the caption says where bars are cut. */
#define TM_CHART_CUT_BARS                                                                                              \
    " A bar with a break is longer than the scale: its length is written at it, and its parts keep their shares."

/* The figures of the bars as the chart's table; first names the column of bar names. */
void tm_parts_table(struct tm_chart *chart, const char *first, const struct tm_bar *bars, int count);

/* The charts of a report, drawn from the summary alone.  A chart without data is not drawn: its count is 0.  Usage:
 *     for (size_t i = 0; i < tm_charts_count(TM_CHART_DEVICES, summary); i++) {
 *         tm_charts_draw(&chart, TM_CHART_DEVICES, i, summary);
 *         ... pass &chart to the back end ...
 *     } */
enum tm_chart_kind {
    TM_CHART_STEPS,       /* parts of each step, stacked */
    TM_CHART_STEP_TIMES,  /* length of each step with median and p95 */
    TM_CHART_DEVICES,     /* parts of the time of each device */
    TM_CHART_CAUSES,      /* idle time by cause */
    TM_CHART_GAPS,        /* histogram of gaps */
    TM_CHART_SCOPES,      /* device time by scope, nested scopes below their parents */
    TM_CHART_ROOFLINE,    /* FLOP/s of operations over their arithmetic intensity, below the peaks */
    TM_CHART_MEMORY,      /* bytes in use over time: one chart per allocator */
    TM_CHART_UTILIZATION, /* how busy each device is over time */
    TM_CHART_OCCUPANCY,   /* occupancy of kernels, by their length and time */
    TM_CHART_COLLECTIVES, /* exposed and hidden time by kind */
    TM_CHART_SKEW,        /* how late each device arrives at collectives */
    TM_CHART_BALANCE,     /* compute time of each device, compared with their mean */
    TM_CHART_TRANSFERS,   /* exposed and hidden time of copies by direction */
    TM_CHART_SIDES,       /* of a comparison: the step times of each side */
    TM_CHART_WATERFALL,   /* of a comparison: the change of a step from old to new, one for each new side */
    TM_CHART_SPEEDUP,     /* of a scaling study: the speedup by devices, beside the ideal and the fit */
    TM_CHART_EFFICIENCY,  /* of a scaling study: likewise */
    TM_CHART_SCALED_STEP, /* of a scaling study: parts of a step of one device, by devices */
    TM_CHART_NIGHT,       /* of a night: how the step time of each job changed */
    TM_CHART_TRENDS,      /* of a night: a figure of a job over its runs, one chart each */
    TM_CHART_KINDS
};

enum {
    TM_CHART_BARS_MOST = 60,       /* steps drawn; more are sampled and the caption says so */
    TM_CHART_DEVICES_MOST = 32,    /* devices drawn; the ones with the least use first chosen */
    TM_CHART_ALLOCATORS_MOST = 16, /* memory charts */
};

/* How many drawings of a kind the summary has data for. */
size_t tm_charts_count(enum tm_chart_kind kind, const struct tm_value *summary);

/* Draw one of them.  The chart is cleared first.
 * in:     index  below tm_charts_count
 * errors: remembered in the chart: `failed`, and in the run */
void tm_charts_draw(struct tm_chart *chart, enum tm_chart_kind kind, size_t index, const struct tm_value *summary);

#endif
