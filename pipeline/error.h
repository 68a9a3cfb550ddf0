/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ERROR_H
#define TM_ERROR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define TM_MUST_USE __attribute__((warn_unused_result))
/* For code that runs for every event, where a call costs as much as the work. */
#define TM_INLINE static inline __attribute__((always_inline))
/* For code that rarely runs and would cost registers or stack in its caller, or needs much stack that must not exist
 * while its caller calls other functions. */
#define TM_NOT_INLINE static __attribute__((noinline))
#define TM_PRINTF(text, first) __attribute__((format(printf, text, first)))

/* The single status of the program.  The values are the exit statuses of the command line, so no translation is
 * necessary. */
typedef enum {
    TM_OK = 0,
    TM_GATE = 1,       /* a gate failed (only `check`, `compare --fail-on`, gates of `batch`) */
    TM_ERR_USAGE = 2,  /* the command line or a configuration file is wrong */
    TM_ERR_INPUT = 3,  /* the input is unreadable, empty or not a trace */
    TM_PARTIAL = 4,    /* done, but the input was damaged or partial */
    TM_ERR_OUTPUT = 5, /* an output or a spill file could not be written */
    TM_ERR_LIMIT = 6,  /* a limit was reached, memory included */
} tm_status;

enum { TM_ERROR_TEXT = 512, TM_ERROR_CAUSES = 6 };

/* What went wrong, reported once.  Fixed size: the failing path allocates nothing.  Zeroed = no error.
 * Strings of traces are cleaned when they are put in: hidden characters become '?'. */
struct tm_error {
    tm_status status;
    int64_t at;               /* byte offset in the inflated input, or -1 */
    char what[TM_ERROR_TEXT]; /* lower case, no full stop */
    char while_doing[TM_ERROR_CAUSES][TM_ERROR_TEXT];
    int causes;
    char hint[TM_ERROR_TEXT]; /* one concrete act, or empty */
    int problem;              /* errno of the system call that failed; 0 = none did */
    bool is_followed;         /* by another failure: hints now belong to that one */
};

/* Record the failure at the place that knows it; the first failure wins.
 * in:     at      byte offset in the inflated input, -1 if there is none
 * out:    status  the given one, so that `return tm_fail(...)` reads well */
tm_status tm_fail(struct tm_error *error, tm_status status, int64_t at, const char *format, ...) TM_PRINTF(4, 5);

/* Does an errno say that this process or machine lacks memory or descriptors?  (ENOMEM, EMFILE, ENFILE) */
bool tm_lacks_room(int problem);

/* The same for a system call that failed with the errno `problem`: appends the system's message.  The status is
 * TM_ERR_LIMIT if memory or descriptors ran out, and TM_ERR_OUTPUT if a file may not grow, for any caller;
 * process limits on files have their own hint. */
tm_status tm_fail_system(struct tm_error *error, tm_status status, int64_t at, int problem, const char *format, ...)
    TM_PRINTF(5, 6);

/* Add what a layer was doing when the failure passed through it (file, stage, command). */
tm_status tm_while(struct tm_error *error, const char *format, ...) TM_PRINTF(2, 3);

/* Set the hint: one act that is likely to help.  The first one stays. */
void tm_hint(struct tm_error *error, const char *format, ...) TM_PRINTF(2, 3);

/* Print the error as the user sees it: "tracemill: WHAT (byte N)", "  while ...", "hint: ...". */
void tm_error_print(const struct tm_error *error, FILE *to);

/* Copy text for a terminal: hidden characters (strings.h: controls, marks of direction, of no width) and
 * what is not UTF-8 become '?'; cut with "..." to fit.  out: a string, always terminated. */
void tm_clean_text(char *out, size_t out_bytes, const char *text, size_t length);

#endif
