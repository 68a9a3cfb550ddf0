/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TRACE_H
#define TM_TRACE_H

#include <stdbool.h>

#include "pipeline/arguments.h"
#include "pipeline/record.h"
#include "pipeline/store/rows.h"

/* The dictionary of one host's trace: what its records refer to.  Filled by the input (scan) and the survey
 * before the first ordered record is returned; read-only from then on. */

enum tm_side { TM_SIDE_OTHER, TM_SIDE_HOST, TM_SIDE_DEVICE };

enum tm_device_kind { TM_DEVICE_GPU, TM_DEVICE_TPU, TM_DEVICE_CPU };

extern const char *const tm_device_kind_name[]; /* "gpu", "tpu", "cpu" */

/* Vendors of devices without figures: their events are counted (coverage.unknown_devices). */
enum tm_accelerator {
    TM_ACCELERATOR_NONE,
    TM_ACCELERATOR_ASCEND,
    TM_ACCELERATOR_MTIA,
    TM_ACCELERATOR_GAUDI,
    TM_ACCELERATOR_AIU,
    TM_ACCELERATOR_OTHER,
    TM_ACCELERATOR_COUNT
};

extern const char *const tm_accelerator_name[TM_ACCELERATOR_COUNT]; /* "Ascend NPU", ... */

/* The kind of line that a track is; together with the name it decides classes. */
enum tm_line {
    TM_LINE_HOST,     /* a host thread */
    TM_LINE_COMPILER, /* a host thread of the compiler (codegen, CompilerThreadPool) */
    TM_LINE_STREAM,   /* a GPU stream */
    TM_LINE_TPU_OPS,
    TM_LINE_TPU_ASYNC,
    TM_LINE_TPU_MODULES,
    TM_LINE_TPU_STEPS,
    TM_LINE_DERIVED,
    TM_LINE_OVERHEAD, /* CUPTI overhead */
    TM_LINE_OTHER,
};

/* The writer of the file, if known: it determines what the file can contain. */
enum tm_origin {
    TM_ORIGIN_XSPACE,    /* JAX's profile */
    TM_ORIGIN_JSON_COPY, /* the JSON that JAX writes beside it, which lacks much */
    TM_ORIGIN_PYTORCH,
    TM_ORIGIN_OTHER, /* another Chrome trace */
    TM_ORIGIN_COUNT
};

extern const char *const tm_origin_name[TM_ORIGIN_COUNT]; /* "xspace", "json copy", "pytorch", "other" */

/* What is on a track besides nested spans and instants. */
enum tm_track_sort {
    TM_TRACK_THREAD,   /* a line: a thread, a stream */
    TM_TRACK_LOOSE,    /* of a process: instants on no thread */
    TM_TRACK_ASYNC,    /* of a process: spans with the same record.correlation belong together */
    TM_TRACK_FLOWS,    /* of the file: ends of arrows */
    TM_TRACK_COUNTERS, /* of a process: values of any number of counters */
};

/* One line of events. */
struct tm_track {
    tm_strid plane_name, name;
    tm_strid unit;                /* of counters; 0 = not recorded */
    int64_t id;                   /* line id as in the file; JSON: tid */
    int64_t process_id;           /* id of the plane; JSON: pid */
    int64_t process_order, order; /* among the processes, among its tracks, as the file requests: smaller first */
    uint32_t process;             /* tracks of one plane, or process, have the same number */
    uint8_t sort;                 /* enum tm_track_sort */
    uint32_t stream;     /* of a thread: the stream that the file draws on it, plus one; 0 = none, or not kept.  Only
                              for the input: PLACE of a flow's end names the stream */
    uint32_t device;     /* index into tm_trace.devices, or TM_NONE */
    uint8_t side;        /* enum tm_side */
    uint8_t line;        /* enum tm_line */
    uint8_t accelerator; /* enum tm_accelerator: its events are in no figure, because the device is not supported */
    uint8_t has_python;  /* set by the survey */
    uint8_t is_user;     /* set by the survey: has python, step markers or PjitFunction; annotations are distinguished
                              from the runtime's own events by it */
    uint8_t is_unsorted; /* set by the survey: not in the order (start, longer first) */
    uint8_t has_cpu_ops; /* set by the survey */
    uint8_t is_driver;   /* set by the survey: it launches, and contains only driver calls */
    uint32_t thread;     /* set by the survey: number of a host thread whose activity may be queried, because it
                          * launches or is the main thread; TM_NONE elsewhere.  Two tracks have the same number if one
                          * of them has the driver calls of the other's thread */
    uint64_t events;     /* as the file has them */
    uint64_t records;    /* set by the survey: those that have a place in time */
    int64_t first_ps,
        last_ps; /* set by the survey: first start and last end of the records; nothing if there are none */
};

/* Whether its events are those of a device. */
static inline bool tm_is_of_device(const struct tm_track *track)
{
    return track->side == TM_SIDE_DEVICE && track->device != TM_NONE;
}

struct tm_device {
    uint32_t index; /* position in tm_trace.devices */
    uint8_t kind;   /* enum tm_device_kind */
    int64_t ordinal;
    char name[128];  /* as in the trace, cleaned and cut: "/device:GPU:0" */
    char id[192];    /* HOST/gpu:0 */
    char model[128]; /* gpu_device_name, device_type_string; "" = not recorded */
    char vendor[32];
    /* capabilities; 0 = not recorded */
    uint64_t core_count, memory_bandwidth_bytes, memory_bytes, clock_khz;
    uint32_t capability_major, capability_minor;
    double peak_tflops;
    /* from the input: stages/input/records/device_clock.h */
    bool has_device_clock; /* its times are its own, not those that the profiler computed */
    uint64_t clock_jumps;  /* changes of over 1 ms between them from one op to the next */
    int64_t largest_clock_jump_ps;
    /* from the survey */
    uint64_t activities;
    int64_t first_ps, last_ps; /* of all its activities */
    uint32_t group;            /* devices of one group are active at the same time; they share steps and window */
    uint32_t next_in_group;    /* the next device of its group; TM_NONE = the last one */
    int64_t chosen_begin_ps,
        chosen_end_ps;         /* its window: what is analyzed; equal = no activity in the analyzed steps */
    uint64_t first_step_row;   /* its rows in tm_steps.rows */
    bool has_collapsed_graphs; /* graphs whose kernels were not recorded: figures are unreliable */
};

enum tm_step_source {
    TM_STEPS_HOST,
    TM_STEPS_GROUP,
    TM_STEPS_TPU,
    TM_STEPS_MODULE,
    TM_STEPS_SESSION,
};

/* One step of one device. */
struct tm_step_row {
    int64_t start_ps, end_ps; /* of the step on all devices of the group, E(n-1) and E(n): the latest end of an activity
                               * of that step or an earlier one; equal = the step takes no time itself */
    int64_t first_ps, last_ps; /* of the device's own activities */
    int64_t own_ps;            /* the device's own period: from the end of its previous steps to the end of this one */
    uint64_t activities;
};

/* One marker (host step marker), or the session. */
struct tm_step_mark {
    int64_t number; /* step_num, else its ordinal */
    int64_t start_ps, dur_ps;
    uint8_t has_compile, complete, warmup, chosen;
};

struct tm_steps {
    enum tm_step_source source;
    tm_strid module;                   /* source module: its name */
    uint64_t count;                    /* steps of the host: the most that a device has */
    uint64_t chosen_begin, chosen_end; /* [begin, end) of the chosen ordinals */
    uint64_t warmup, incomplete;       /* how many were left out for that */
    bool all;                          /* --steps all: every activity counts, inside steps or not */
    struct tm_rows *marks;             /* struct tm_step_mark, `count` rows */
    struct tm_rows *rows; /* struct tm_step_row, device-major: device.first_step_row + ordinal.  Pages are small:
                               one step of all devices is in as many places as there are devices */
};

/* What the file says about where and how it was recorded. */
struct tm_environment {
    char host[128];
    char jax[64], jaxlib[64], platform_version[128], cuda[64], cuda_runtime[64], driver[64], rocm[64], libtpu[64];
    int64_t process_id;
    int64_t rank, world_size;  /* of a distributed job; -1 = not recorded */
    uint32_t node_devices;     /* of the node, with or without activity; 0 = not recorded.  A process that sees one
                                  device only: not recorded */
    char framework[32];        /* "jax", "pytorch", "tensorflow"; "" = not recorded in the input */
    uint64_t begin_ns, end_ns; /* profile_start_time, profile_stop_time: epoch ns; 0 = not recorded */
    char profile_options[256];
};

enum {
    TM_DEVICES_MOST = 1024,
    TM_THREADS_MOST = 4096,
    TM_STEP_ROWS_MOST = 1 << 26 /* devices times steps: a few GiB of spilled rows */
};

/* Arguments that many events share: what an XSpace says in the metadata of an event. */
struct tm_common_arguments {
    uint64_t at; /* in tm_trace.common_bytes */
    uint32_t length;
};

struct tm_trace {
    struct tm_run *run;
    uint32_t host; /* index of the host in the run, 0 ... */
    char host_name[128];
    struct tm_names *names;
    struct tm_rows *tracks;         /* struct tm_track */
    struct tm_rows *configs;        /* struct tm_config; row 0 is empty */
    struct tm_rows *messages;       /* struct tm_message; row 0 is empty */
    struct tm_rows *hlo_ops;        /* struct tm_hlo_op; row 0 is empty */
    struct tm_rows *hlo_modules;    /* struct tm_hlo_module */
    struct tm_index *program_names; /* struct tm_program_name: executed on TPUs, by the survey; NULL = not requested */
    bool keeps_arguments;           /* set before the scan: records come with their arguments (pipeline/arguments.h) */
    bool has_inert_flows;           /* set before the scan: flows are not drawn, so they stay in file order */
    bool drops_flows;               /* set before the scan: a scan may tally flows without making records of them */
    uint64_t dropped_flows;         /* ends of flows that it has tallied so */
    bool skims_lines;               /* set before the scan of an XSpace: of a line, only its head is read */
    bool is_misread;                /* that was not enough: all has to be read again with skims_lines unset */
    bool is_last_pass;              /* set before it: no track is read again, so what was read need not be kept */
    struct tm_rows *common;         /* struct tm_common_arguments; row 0 is empty; where arguments are kept */
    struct tm_rows *common_bytes;   /* their bytes */
    struct tm_argument_templates *templates; /* of lists; NULL if arguments are not kept */
    struct tm_device *devices;               /* those with an activity are in the figures; the others are `unused` */
    uint32_t device_count;
    uint32_t group_count; /* groups of devices that are active at the same time: tm_device.group; set by the survey */
    struct tm_steps steps;
    struct tm_environment environment;
    uint32_t main_track;  /* the host's main thread, TM_NONE = no host events */
    uint32_t main_thread; /* the same as a thread number */
    uint32_t thread_count;
    uint64_t launch_numbers; /* no event has a larger number of a launch */
    enum tm_origin origin;
    int64_t clock_ns;          /* of an XSpace: the reading of its host's clock at time 0; 0 = not recorded */
    int64_t origin_us;         /* what the file's clock reads at time 0; 0 if it counts from the profile's start */
    bool partial;              /* the input was truncated or damaged */
    char problem[512];         /* the first damage, in words; "" = none */
    char note[512];            /* what the format lacks, in words; "" = nothing */
    bool has_memory_counters;  /* it was converted: allocator data is in counters too */
    bool has_kernel_details;   /* some device event has them: then only those are kernels of the table */
    int64_t first_ps, last_ps; /* the first start and the last end of all records; 0 if there are none.  Set by the
                                   survey */
};

/* Find the device of a kind and an ordinal, or add it.
 * in:     name  length bytes, as in the trace; the first one counts
 * out:    *index  into trace->devices, which has room for TM_DEVICES_MOST
 * errors: TM_ERR_LIMIT  there are more */
tm_status tm_trace_device(struct tm_trace *trace, enum tm_device_kind kind, int64_t ordinal, const char *name,
                          size_t length, uint32_t *index) TM_MUST_USE;

/* Sort the devices from `first` on by kind and ordinal, and number them accordingly.
 * out:    place  the new position of each, by its old number; NULL if nothing refers to them yet */
void tm_trace_sort_devices(struct tm_trace *trace, uint32_t first, uint32_t *place);

/* The same of all devices, with the tracks that refer to them: devices were created in order of appearance; people
 * expect the order of their numbers. */
void tm_trace_order_devices(struct tm_trace *trace);

/* The events of all tracks: after the survey, since the scan of an XSpace may leave counting to it. */
uint64_t tm_trace_events(const struct tm_trace *trace);

/* Keep arguments that many events share.
 * out:    *row  of trace->common; 0 for an empty list
 * errors: as in tm_rows; TM_ERR_LIMIT past 2^32 - 1 */
tm_status tm_trace_add_common(struct tm_trace *trace, struct tm_arguments list, uint32_t *row) TM_MUST_USE;

/* Read them again.
 * in:     buffer  TM_ARGUMENTS_MOST bytes, for the list */
tm_status tm_trace_common(const struct tm_trace *trace, uint32_t row, uint8_t *buffer,
                          struct tm_arguments *list) TM_MUST_USE;

/* What the HLO of a program records about the op that launch facts name.
 * out:    *op  NULL if nothing is known about it; valid until the next row of hlo_ops is requested */
tm_status tm_trace_hlo(const struct tm_trace *trace, const struct tm_config *config, const struct tm_hlo_op **op);

/* The name of a program by its executions, which are named "jit_step(12)".  out: 0 = none is recorded */
tm_strid tm_trace_program(const struct tm_trace *trace, int64_t program_id);

/* Note damage: the trace is partial, and the first text stays. */
void tm_trace_damage(struct tm_trace *trace, const char *format, ...) TM_PRINTF(2, 3);

#endif
