/* SPDX-License-Identifier: Apache-2.0 */
/* Names of calls back to the host.  A Python function is "$file.py:line function", a builtin "$module function". */
#include "stages/diagnose/host/callback_name.h"

#include <stdint.h>
#include <string.h>

const char *const tm_callback_kind_name[TM_CALLBACK_KINDS] = { "callback",       "pure_callback", "io_callback",
                                                               "debug_callback", "debug_print",   "custom_call" };

struct view {
    const char *at;
    size_t length;
};

static bool is(struct view text, const char *word)
{
    return text.length == strlen(word) && memcmp(text.at, word, text.length) == 0;
}

static bool begins(struct view text, const char *word)
{
    const size_t length = strlen(word);

    return text.length >= length && memcmp(text.at, word, length) == 0;
}

static bool holds(struct view text, const char *word)
{
    return text.length && memmem(text.at, text.length, word, strlen(word));
}

/* Functions of JAX's own files that tell something. */
static const struct {
    const char *file, *function;
    struct tm_callback_name name;
} known[] = {
    { "callback.py", "_wrapped_callback", { TM_ROLE_BEGINS, TM_CALLBACK } },
    { "mlir.py", "_wrapped_callback", { TM_ROLE_BEGINS, TM_CALLBACK } },
    { "callback.py", "__call__", { TM_ROLE_CALLS, TM_CALLBACK } },
    { "callback.py", "pure_callback_impl", { TM_ROLE_PLUMBING, TM_PURE_CALLBACK } },
    { "callback.py", "io_callback_impl", { TM_ROLE_PLUMBING, TM_IO_CALLBACK } },
    { "debugging.py", "debug_callback_impl", { TM_ROLE_PLUMBING, TM_DEBUG_CALLBACK } },
    { "debugging.py", "_flat_callback", { TM_ROLE_CALLS, TM_DEBUG_CALLBACK } },
    { "debugging.py", "_format_print_callback", { TM_ROLE_PLUMBING, TM_DEBUG_PRINT } },
};

/* Files of JAX that lie between the call and the user's function. */
static const char *const plumbing[] = { "callback.py", "debugging.py", "profiler.py", "tree_util.py", "mlir.py",
                                        "array.py",    "api.py",       "dtypes.py",   "contextlib.py" };

static struct tm_callback_name of_python(struct view text)
{
    const char *space = memchr(text.at, ' ', text.length), *colon = memchr(text.at, ':', text.length);
    struct view file, function;

    if (!space || !colon || colon > space) /* a builtin */
        return (struct tm_callback_name){ TM_ROLE_PLUMBING, TM_CALLBACK };
    file = (struct view){ text.at + 1, (size_t)(colon - text.at) - 1 };
    function = (struct view){ space + 1, text.length - (size_t)(space + 1 - text.at) };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (is(file, known[i].file) && is(function, known[i].function))
            return known[i].name;
    for (size_t i = 0; i < sizeof(plumbing) / sizeof(plumbing[0]); i++)
        if (is(file, plumbing[i]))
            return (struct tm_callback_name){ TM_ROLE_PLUMBING, TM_CALLBACK };
    return (struct tm_callback_name){ TM_ROLE_FUNCTION, TM_CALLBACK };
}

/* "pure_callback.1" */
static struct tm_callback_name of_op(struct view text)
{
    for (int kind = TM_PURE_CALLBACK; kind <= TM_DEBUG_PRINT; kind++)
        if (begins(text, tm_callback_kind_name[kind]))
            return (struct tm_callback_name){ TM_ROLE_BEGINS, (enum tm_callback_kind)kind };
    return (struct tm_callback_name){ TM_ROLE_NONE, TM_CALLBACK };
}

struct tm_callback_name tm_callback_name_of(const char *text, size_t length, bool is_cpu_op)
{
    const struct view name = { text, length };

    if (length && text[0] == '$')
        return of_python(name);
    /* xla_ffi_python_gpu_callback, xla_python_cpu_callback, xla_ffi_partitioned_python_gpu_callback */
    if (holds(name, "python_gpu_callback") || holds(name, "python_cpu_callback"))
        return (struct tm_callback_name){ TM_ROLE_BEGINS, TM_CALLBACK };
    return is_cpu_op ? of_op(name) : (struct tm_callback_name){ TM_ROLE_NONE, TM_CALLBACK };
}
