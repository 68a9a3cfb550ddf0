/* SPDX-License-Identifier: Apache-2.0 */
/* The one error of a job: formatted without allocating memory, printed once, by main.  Strings from a trace or a path
 * pass through tm_clean_text, so printing is safe. */
#include "pipeline/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "pipeline/strings.h"

/* Long enough that a string which does not fit here is cut at TM_ERROR_TEXT too, even if each of its
 * characters shrinks from four bytes to one '?' (hidden ones). */
enum { FORMAT_BYTES = 4 * TM_ERROR_TEXT };

void tm_clean_text(char *out, size_t out_bytes, const char *text, size_t length)
{
    static const char dots[] = "...";
    size_t used = 0, last_fit = 0; /* last_fit: where the dots may start */

    if (out_bytes == 0)
        return;
    for (size_t i = 0; i < length;) {
        uint32_t code = 0;
        const size_t step = tm_utf8_next(text + i, length - i, &code);
        const bool as_is = step != 0 && !tm_utf8_is_hidden(code);
        const size_t put = as_is ? step : 1;

        if (used + put >= out_bytes) {
            const size_t room = out_bytes - 1 - last_fit;

            memcpy(out + last_fit, dots, room < 3 ? room : 3);
            used = last_fit + (room < 3 ? room : 3);
            break;
        }
        if (as_is)
            memcpy(out + used, text + i, step);
        else
            out[used] = '?';
        used += put;
        if (used + 3 < out_bytes)
            last_fit = used;
        i += step != 0 ? step : 1;
    }
    out[used] = '\0';
}

static void format_clean(char *out, size_t out_bytes, const char *format, va_list args) TM_PRINTF(3, 0);

static void format_clean(char *out, size_t out_bytes, const char *format, va_list args)
{
    char text[FORMAT_BYTES];
    const int n = vsnprintf(text, sizeof(text), format, args);

    if (n < 0)
        text[0] = '\0';
    tm_clean_text(out, out_bytes, text, strlen(text));
}

tm_status tm_fail(struct tm_error *error, tm_status status, int64_t at, const char *format, ...)
{
    va_list args;

    if (error->status != TM_OK) {
        error->is_followed = true;
        return status;
    }
    error->status = status;
    error->at = at;
    va_start(args, format);
    format_clean(error->what, sizeof(error->what), format, args);
    va_end(args);
    return status;
}

bool tm_lacks_room(int problem)
{
    return problem == ENOMEM || problem == EMFILE || problem == ENFILE;
}

/* What helps where the shell or the service manager set a limit: no other folder does. */
static void hint_at_limit(struct tm_error *error, int problem)
{
    if (problem == EMFILE)
        tm_hint(error, "allow the process more open files: 'ulimit -n 256'");
    else if (problem == EFBIG)
        tm_hint(error, "allow the process larger files: 'ulimit -f unlimited'");
}

tm_status tm_fail_system(struct tm_error *error, tm_status status, int64_t at, int problem, const char *format, ...)
{
    const tm_status st = tm_lacks_room(problem) ? TM_ERR_LIMIT : problem == EFBIG ? TM_ERR_OUTPUT : status;
    char text[TM_ERROR_TEXT];
    va_list args;

    if (error->status != TM_OK) {
        error->is_followed = true;
        return st;
    }
    va_start(args, format);
    format_clean(text, sizeof(text), format, args);
    va_end(args);
    error->problem = problem;
    hint_at_limit(error, problem);
    return tm_fail(error, st, at, "%s: %s", text, strerror(problem));
}

tm_status tm_while(struct tm_error *error, const char *format, ...)
{
    va_list args;

    if (error->status == TM_OK || error->causes >= TM_ERROR_CAUSES)
        return error->status;
    char *cause = error->while_doing[error->causes++];

    va_start(args, format);
    format_clean(cause, TM_ERROR_TEXT, format, args);
    va_end(args);
    return error->status;
}

void tm_hint(struct tm_error *error, const char *format, ...)
{
    va_list args;

    if (error->hint[0] != '\0' || error->is_followed) /* as with failures: the first one is nearest to the cause */
        return;
    va_start(args, format);
    format_clean(error->hint, sizeof(error->hint), format, args);
    va_end(args);
}

void tm_error_print(const struct tm_error *error, FILE *to)
{
    if (error->status == TM_OK)
        return;
    fprintf(to, "tracemill: %s", error->what);
    if (error->at >= 0)
        fprintf(to, " (byte %" PRId64 ")", error->at);
    fputc('\n', to);
    for (int i = 0; i < error->causes; i++)
        fprintf(to, "  while %s\n", error->while_doing[i]);
    if (error->hint[0] != '\0')
        fprintf(to, "hint: %s\n", error->hint);
}
