/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a command as on Linux 4.18, the oldest kernel for which the program is released: system calls that later kernels added
 * fail with ENOSYS, and flags that they added with EINVAL.  The processes that it makes are under the same filter.
 *
 *     old_kernel COMMAND [WORD...]
 *
 * rseq was the newest call of 4.18, with the highest number on each architecture.
 *
 * out: the status of COMMAND; 125 = this program could not work, 127 = there is no COMMAND. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
enum { ARCHITECTURE = (int)AUDIT_ARCH_X86_64 };
#elif defined(__aarch64__)
enum { ARCHITECTURE = (int)AUDIT_ARCH_AARCH64 };
#else
#error "no number of this architecture is known"
#endif

enum {
    NEWEST_CALL = SYS_rseq,
    FIRST_NEW_ADVICE = 20,    /* MADV_COLD, of 5.4 */
    OLD_RANDOM_FLAGS = 3,     /* GRND_INSECURE came with 5.6 */
    NAME_MEMORY = 0x53564d41, /* PR_SET_VMA, of 5.17 */
};

#define FIELD(name) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))
#define ARGUMENT(n) FIELD(args[n]) /* its low half: both architectures are little-endian */
#define IS(value, skipped_if_not) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), 0, skipped_if_not)
#define FAIL(number) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (number))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static int enter_old_kernel(void)
{
    struct sock_filter code[] = {
        FIELD(arch),
        IS(ARCHITECTURE, 1),
        BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        FIELD(nr),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, NEWEST_CALL, 0, 1),
        FAIL(ENOSYS),
        IS(SYS_madvise, 4),
        ARGUMENT(2),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FIRST_NEW_ADVICE, 0, 1),
        FAIL(EINVAL),
        ALLOW,
        IS(SYS_getrandom, 4),
        ARGUMENT(2),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, OLD_RANDOM_FLAGS, 0, 1),
        FAIL(EINVAL),
        ALLOW,
        IS(SYS_prctl, 3),
        ARGUMENT(0),
        IS(NAME_MEMORY, 1),
        FAIL(EINVAL),
        ALLOW,
    };
    const struct sock_fprog filter = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

int main(int count, char **words)
{
    if (count < 2) {
        (void)fprintf(stderr, "usage: old_kernel COMMAND [WORD...]\n");
        return 125;
    }
    if (enter_old_kernel() != 0) {
        (void)fprintf(stderr, "old_kernel: %s\n", strerror(errno));
        return 125;
    }
    (void)execvp(words[1], words + 1);
    (void)fprintf(stderr, "old_kernel: %s: %s\n", words[1], strerror(errno));
    return 127;
}
