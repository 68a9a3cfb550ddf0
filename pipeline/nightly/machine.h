/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_MACHINE_H
#define TM_MACHINE_H

#include <stdint.h>

/* What this process may use of the machine: the least of what the kernel, the control groups above it and Slurm say. */
struct tm_machine {
    unsigned cores;        /* at least 1 */
    uint64_t memory_bytes; /* that is not in use; UINT64_MAX = not known */
};

/* in: root  "" for the machine; a folder with "proc" and "sys" in it for tests */
struct tm_machine tm_machine_look(const char *root);

#endif
