/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/store/waiting_names.h"

#include <stdbool.h>
#include <string.h>

/* From Python's own library, zmq and JAX; built-in functions as JAX names them: by their module, `<unknown>` = it
 * has none. */
const struct tm_waiting_name tm_waiting_names[] = {
    { "threading.py", "wait", TM_WAITING_FOR_THREADS },
    { "threading.py", "wait_for", TM_WAITING_FOR_THREADS },
    { "threading.py", "acquire", TM_WAITING_FOR_THREADS },
    { "threading.py", "join", TM_WAITING_FOR_THREADS },
    { "threading.py", "_acquire_restore", TM_WAITING_FOR_THREADS },
    { "threading.py", "_wait_for_tstate_lock", TM_WAITING_FOR_THREADS },
    { "queue.py", "get", TM_WAITING_FOR_THREADS },
    { "queue.py", "put", TM_WAITING_FOR_THREADS },
    { "queue.py", "join", TM_WAITING_FOR_THREADS },
    { "queues.py", "get", TM_WAITING_FOR_THREADS },
    { "queues.py", "put", TM_WAITING_FOR_THREADS },
    { "synchronize.py", "wait", TM_WAITING_FOR_THREADS },
    { "synchronize.py", "acquire", TM_WAITING_FOR_THREADS },
    { "selectors.py", "select", TM_WAITING_FOR_THREADS },
    { "connection.py", "wait", TM_WAITING_FOR_THREADS },
    { "connection.py", "poll", TM_WAITING_FOR_THREADS },
    { "connection.py", "_poll", TM_WAITING_FOR_THREADS },
    { "connection.py", "recv", TM_WAITING_FOR_THREADS },
    { "connection.py", "_recv", TM_WAITING_FOR_THREADS },
    { "popen_fork.py", "poll", TM_WAITING_FOR_THREADS },
    { "popen_fork.py", "wait", TM_WAITING_FOR_THREADS },
    { "subprocess.py", "_try_wait", TM_WAITING_FOR_THREADS },
    { "_base.py", "result", TM_WAITING_FOR_THREADS },
    { "_base.py", "wait", TM_WAITING_FOR_THREADS },
    { "poll.py", "poll", TM_WAITING_FOR_THREADS },
    { "<unknown>", "acquire", TM_WAITING_FOR_THREADS },
    { "<unknown>", "poll", TM_WAITING_FOR_THREADS },
    { "_thread", "acquire", TM_WAITING_FOR_THREADS },
    { "select", "select", TM_WAITING_FOR_THREADS },
    { "select", "poll", TM_WAITING_FOR_THREADS },
    { "time", "sleep", TM_WAITING_FOR_TIME },
    { "api.py", "try_to_block", TM_WAITING_FOR_DEVICE },
    { "api.py", "block_until_ready", TM_WAITING_FOR_DEVICE },
    { "array.py", "block_until_ready", TM_WAITING_FOR_DEVICE },
    { "array.py", "_value", TM_WAITING_FOR_DEVICE },
};
const size_t tm_waiting_name_count = sizeof(tm_waiting_names) / sizeof(tm_waiting_names[0]);

/* PyTorch's names of built-in functions start so; a CUDA event's own `wait` does not block the host. */
static const struct {
    const char *text;
    enum tm_waiting kind;
} built_in[] = {
    { "<built-in method acquire of ", TM_WAITING_FOR_THREADS },
    { "<built-in method poll of ", TM_WAITING_FOR_THREADS },
    { "<built-in method get of _queue.", TM_WAITING_FOR_THREADS },
    { "<built-in method wait of _thread.", TM_WAITING_FOR_THREADS },
    { "<built-in function select>", TM_WAITING_FOR_THREADS },
    { "<built-in function sleep>", TM_WAITING_FOR_TIME },
};

struct piece {
    const char *at;
    size_t length;
};

static struct piece from(struct piece text, const char *at)
{
    return (struct piece){ at, text.length - (size_t)(at - text.at) };
}

static bool is(struct piece text, const char *word)
{
    return text.length == strlen(word) && memcmp(text.at, word, text.length) == 0;
}

/* "$file.py:12 function", "$module function". */
static bool is_of_jax(struct piece name, struct piece *file, struct piece *function)
{
    const char *const space = name.length && name.at[0] == '$' ? memrchr(name.at, ' ', name.length) : NULL;
    const char *colon;

    if (!space)
        return false;
    *function = from(name, space + 1);
    *file = (struct piece){ name.at + 1, (size_t)(space - name.at) - 1 };
    colon = memrchr(file->at, ':', file->length);
    if (colon)
        file->length = (size_t)(colon - file->at);
    return true;
}

/* "torch/utils/data/dataloader.py(633): __next__" */
static bool is_of_torch(struct piece name, struct piece *file, struct piece *function)
{
    static const char before[] = ".py(", behind[] = "): ";
    const char *const at = memmem(name.at, name.length, before, sizeof(before) - 1), *end;

    if (!at)
        return false;
    *file = (struct piece){ name.at, (size_t)(at - name.at) + 3 };
    *function = from(name, at + sizeof(before) - 1);
    end = memmem(function->at, function->length, behind, sizeof(behind) - 1);
    if (!end)
        return false;
    *function = from(*function, end + sizeof(behind) - 1);
    return true;
}

enum tm_waiting tm_waiting_of(const char *name, size_t length)
{
    const struct piece text = { name, length };
    struct piece file, function;
    const char *slash;

    for (size_t i = 0; length && name[0] == '<' && i < sizeof(built_in) / sizeof(built_in[0]); i++)
        if (length >= strlen(built_in[i].text) && memcmp(name, built_in[i].text, strlen(built_in[i].text)) == 0)
            return built_in[i].kind;
    if (!is_of_jax(text, &file, &function) && !is_of_torch(text, &file, &function))
        return TM_NOT_WAITING;
    slash = memrchr(file.at, '/', file.length);
    if (slash)
        file = from(file, slash + 1);
    for (size_t i = 0; i < tm_waiting_name_count; i++)
        if (is(function, tm_waiting_names[i].function) && is(file, tm_waiting_names[i].file))
            return tm_waiting_names[i].kind;
    return TM_NOT_WAITING;
}
