/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/findings/waiting_names.h"

#include <stddef.h>
#include <string.h>

/* Of Python's own library, and of JAX.  A file without a function: all of its functions; a function without a file: a built-in. */
static const struct {
    const char *file, *function;
    enum tm_waiting kind;
} names[] = {
    { "threading.py", NULL, TM_WAITING_FOR_THREADS },  { "queue.py", "get", TM_WAITING_FOR_THREADS },
    { "queue.py", "put", TM_WAITING_FOR_THREADS },     { "selectors.py", "select", TM_WAITING_FOR_THREADS },
    { "connection.py", "wait", TM_WAITING_FOR_THREADS }, { "connection.py", "poll", TM_WAITING_FOR_THREADS },
    { "connection.py", "recv", TM_WAITING_FOR_THREADS }, { "connection.py", "_recv", TM_WAITING_FOR_THREADS },
    { "_base.py", "result", TM_WAITING_FOR_THREADS },  { "_base.py", "wait", TM_WAITING_FOR_THREADS },
    { "popen_fork.py", "poll", TM_WAITING_FOR_THREADS }, { "subprocess.py", "_try_wait", TM_WAITING_FOR_THREADS },
    { "api.py", "try_to_block", TM_WAITING_FOR_DEVICE }, { "api.py", "block_until_ready", TM_WAITING_FOR_DEVICE },
    { "array.py", "block_until_ready", TM_WAITING_FOR_DEVICE }, { "array.py", "_value", TM_WAITING_FOR_DEVICE },
    { NULL, "acquire", TM_WAITING_FOR_THREADS },       { NULL, "select", TM_WAITING_FOR_THREADS },
    { NULL, "poll", TM_WAITING_FOR_THREADS },          { NULL, "sleep", TM_WAITING_FOR_TIME },
};

/* "$queue.py:154 get" and "queue.py(154): get", and in a folder, but not "request_queue.py". */
static bool is_in_file(const char *name, const char *file)
{
    const char *at = strstr(name, file);

    return at && (at == name || at[-1] == '/' || at[-1] == '$') &&
           (at[strlen(file)] == ':' || at[strlen(file)] == '(');
}

/* Is it what the name ends with, behind a blank? */
static bool ends_with(const char *name, const char *function)
{
    const size_t length = strlen(name), n = strlen(function);

    return length > n && name[length - n - 1] == ' ' && strcmp(name + length - n, function) == 0;
}

/* "<built-in method poll of select.epoll object>", "<built-in function sleep>"; "$time sleep" without a file. */
static bool is_built_in(const char *name, const char *function)
{
    static const char *const forms[] = { "<built-in method ", "<built-in function " };
    const size_t n = strlen(function);

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        const char *rest = name + strlen(forms[i]);

        if (strncmp(name, forms[i], strlen(forms[i])) == 0 && strncmp(rest, function, n) == 0 &&
            (rest[n] == ' ' || rest[n] == '>'))
            return true;
    }
    return name[0] == '$' && !strchr(name, ':') && ends_with(name, function);
}

enum tm_waiting tm_waiting_of(const char *name)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *file = names[i].file, *function = names[i].function;

        if (file ? is_in_file(name, file) && (!function || ends_with(name, function)) : is_built_in(name, function))
            return names[i].kind;
    }
    return TM_NOT_WAITING;
}
