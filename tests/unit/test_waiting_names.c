/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/store/waiting_names.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/test_run.h"

/* Which of them are causes of idle time, test_classes.c tells. */
static void functions_that_wait_are_known_by_every_form_of_their_names(void **state)
{
    static const struct {
        const char *name;
        enum tm_waiting kind;
    } rows[] = {
        { "$threading.py:323 wait", TM_WAITING_FOR_THREADS },
        { "threading.py(359): wait", TM_WAITING_FOR_THREADS },
        { "lib/python3.11/queue.py(180): put", TM_WAITING_FOR_THREADS },
        { "multiprocessing/connection.py(250): recv", TM_WAITING_FOR_THREADS },
        { "$_thread acquire", TM_WAITING_FOR_THREADS },
        { "<built-in method acquire of _thread.lock object at 0x7f>", TM_WAITING_FOR_THREADS },
        { "$time sleep", TM_WAITING_FOR_TIME },
        { "<built-in function sleep>", TM_WAITING_FOR_TIME },
        { "$api.py:3106 try_to_block", TM_WAITING_FOR_DEVICE },
        { "$array.py:600 _value", TM_WAITING_FOR_DEVICE },
        { "jax/_src/array.py(600): block_until_ready", TM_WAITING_FOR_DEVICE },
        { "$request_queue.py:91 get", TM_NOT_WAITING },
        { "request_queue.py(91): get", TM_NOT_WAITING },
        { "$threading.py:945 run", TM_NOT_WAITING }, /* what a thread is for */
        { "$mine sleep", TM_NOT_WAITING },
        { "<built-in method wait of Event object at 0x7f3a>", TM_NOT_WAITING },
        { "threading.py(359) wait", TM_NOT_WAITING },
        { "threading.py(", TM_NOT_WAITING },
        { "$", TM_NOT_WAITING },
        { "$ ", TM_NOT_WAITING },
        { "<", TM_NOT_WAITING },
        { "", TM_NOT_WAITING },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const size_t length = strlen(rows[i].name);
        char *const exact = malloc(length + 1); /* nothing behind the name is read */

        assert_non_null(exact);
        memcpy(exact, rows[i].name, length);
        exact[length] = 'x';
        if (tm_waiting_of(exact, length) != rows[i].kind)
            fail_msg("'%s' is %d", rows[i].name, (int)tm_waiting_of(exact, length));
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_that_wait_are_known_by_every_form_of_their_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
