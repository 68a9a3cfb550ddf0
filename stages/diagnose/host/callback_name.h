/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CALLBACK_NAME_H
#define TM_CALLBACK_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* How the calls of a JAX program back to the host are called in a profile.
 * source: jax/_src/callback.py, debugging.py, interpreters/mlir.py (emit_python_callback), by profiles of JAX 0.10 */
enum tm_callback_kind {
    TM_CALLBACK, /* of a kind that no name tells */
    TM_PURE_CALLBACK,
    TM_IO_CALLBACK,
    TM_DEBUG_CALLBACK,
    TM_DEBUG_PRINT,
    TM_HOST_CUSTOM_CALL, /* the program's HLO says so */
    TM_CALLBACK_KINDS
};
extern const char *const tm_callback_kind_name[TM_CALLBACK_KINDS]; /* "callback", "pure_callback", ... */

enum tm_callback_role {
    TM_ROLE_NONE,
    TM_ROLE_BEGINS,   /* the call back itself, outermost: "$callback.py:815 _wrapped_callback" */
    TM_ROLE_CALLS,    /* the next function inside is the user's: "$callback.py:69 __call__" */
    TM_ROLE_PLUMBING, /* what JAX does on the way, and Python's builtins */
    TM_ROLE_FUNCTION, /* another Python function */
};

struct tm_callback_name {
    enum tm_callback_role role;
    enum tm_callback_kind kind; /* TM_CALLBACK = the name tells none */
};

struct tm_callback_name tm_callback_name_of(const char *text, size_t length, bool is_cpu_op);

#endif
