/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a command and does something at one of its system calls: exact, and the same again.  The processes that it
 * makes are followed.  Only calls of the command's own program count, and of each process of it those from its first
 * rt_sigaction on, which is how tracemill begins: those before are the loader's.  Writes to the standard error do not count: a message can be told whatever fails.
 *
 *     at_call [OPTION...] -- COMMAND [WORD...]
 * fsync() is not made at all: a disk is slow, and no machine fails here.
 *
 *         --calls A,B    the calls that count; without: all of them
 *         --list FILE    writes the name of each call that counted, one a line
 *         --at K         where it happens, counted from 1; 0, or without: nowhere
 *         --fail ERRNO   the call is not made, and fails with that number; a close is made, as Linux has it
 *         --torn ERRNO   the call moves half of its bytes, and each one after it fails
 *         --onwards      --fail: and each one after it
 *         --signal N     before the call is made, the signal comes to the command itself
 *         --after        --signal: after it was made
 *         --run TEXT     before the call is made, sh -c TEXT runs
 *         --named        no file can be made without a name, as on NFS
 *         --short SEED   reads and writes move fewer bytes than they were asked to, each of them
 *
 * out: the status of COMMAND, its signal where it ended by one; 125 = this program could not work. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __x86_64__
int main(void)
{
    (void)fputs("at_call: it knows the registers of x86-64 only\n", stderr);
    return 125;
}
#else

enum { PROCESSES = 64, CANNOT = 125, NUMBERS = 512 };

#define CALL(name) [SYS_##name] = #name
/* clang-format off */
static const char *const name_of[NUMBERS] = {
    CALL(read), CALL(write), CALL(open), CALL(close), CALL(stat), CALL(fstat), CALL(lstat), CALL(poll), CALL(lseek),
    CALL(mmap), CALL(mprotect), CALL(munmap), CALL(brk), CALL(rt_sigaction), CALL(rt_sigprocmask), CALL(ioctl),
    CALL(pread64), CALL(pwrite64), CALL(readv), CALL(writev), CALL(access), CALL(pipe), CALL(select), CALL(mremap),
    CALL(msync), CALL(madvise), CALL(dup), CALL(dup2), CALL(nanosleep), CALL(getpid), CALL(sendfile), CALL(clone),
    CALL(fork), CALL(vfork), CALL(execve), CALL(exit), CALL(wait4), CALL(kill), CALL(uname), CALL(fcntl), CALL(flock),
    CALL(fsync), CALL(fdatasync), CALL(truncate), CALL(ftruncate), CALL(getcwd), CALL(chdir), CALL(rename), CALL(mkdir),
    CALL(rmdir), CALL(link), CALL(unlink), CALL(symlink), CALL(readlink), CALL(chmod), CALL(fchmod), CALL(chown),
    CALL(fchown), CALL(umask), CALL(getrlimit), CALL(getrusage), CALL(sysinfo), CALL(getppid), CALL(getpgrp),
    CALL(setsid), CALL(statfs), CALL(fstatfs), CALL(getpriority), CALL(setpriority), CALL(prctl), CALL(setrlimit),
    CALL(sync), CALL(gettid), CALL(futex), CALL(sched_getaffinity), CALL(getdents64), CALL(fadvise64),
    CALL(clock_gettime), CALL(clock_nanosleep), CALL(exit_group), CALL(tgkill), CALL(openat), CALL(mkdirat),
    CALL(newfstatat), CALL(unlinkat), CALL(renameat), CALL(linkat), CALL(symlinkat), CALL(readlinkat), CALL(fchmodat),
    CALL(faccessat), CALL(ppoll), CALL(pselect6), CALL(set_robust_list), CALL(utimensat), CALL(fallocate), CALL(dup3),
    CALL(pipe2), CALL(preadv), CALL(pwritev), CALL(prlimit64), CALL(sched_yield), CALL(sched_setaffinity),
    CALL(renameat2), CALL(getrandom), CALL(memfd_create), CALL(copy_file_range), CALL(statx), CALL(rseq), CALL(clone3),
    CALL(close_range), CALL(openat2), CALL(faccessat2), CALL(rt_sigreturn), CALL(rt_sigsuspend), CALL(socket),
    CALL(sigaltstack), CALL(arch_prctl), CALL(set_tid_address), CALL(times), CALL(getuid), CALL(geteuid), CALL(getgid),
    CALL(getegid), CALL(getsid), CALL(getpgid), CALL(setpgid), CALL(pause), CALL(alarm),
};
/* clang-format on */

struct process {
    pid_t pid;        /* 0 = a free place */
    bool has_begun;   /* its calls count */
    bool is_other;    /* it runs another program */
    bool counts;      /* this call of it */
    bool is_inside;   /* between the begin and the end of a call */
    bool comes_again; /* the call was held back, and is made at its end */
    bool is_left_out; /* the call was not made, and succeeds */
    long fails_with;  /* the call was not made: 0, or an errno */
    uint64_t bytes;   /* what the call asked for, to be put back; 0 = as it was */
    uint64_t number;  /* of the call */
};

static struct {
    bool counts[NUMBERS];
    FILE *list;
    uint64_t at;
    int fails_with, torn_with, signal;
    bool goes_on, is_after, is_short, is_named;
    const char *run;
    uint64_t dice;
} wish;

static struct process processes[PROCESSES];
static pid_t first;
static uint64_t count;

static _Noreturn void give_up(const char *what)
{
    (void)fprintf(stderr, "at_call: %s: %s\n", what, strerror(errno));
    exit(CANNOT);
}

static struct process *process_of(pid_t pid)
{
    struct process *unused = NULL;

    for (size_t i = 0; i < PROCESSES; i++) {
        if (processes[i].pid == pid)
            return &processes[i];
        if (!unused && processes[i].pid == 0)
            unused = &processes[i];
    }
    if (!unused) {
        errno = EAGAIN;
        give_up("too many processes");
    }
    *unused = (struct process){ .pid = pid };
    return unused;
}

static uint64_t roll(void)
{
    wish.dice ^= wish.dice << 13;
    wish.dice ^= wish.dice >> 7;
    wish.dice ^= wish.dice << 17;
    return wish.dice;
}

static void get(pid_t pid, struct user_regs_struct *registers)
{
    if (ptrace(PTRACE_GETREGS, pid, NULL, registers) != 0 && errno != ESRCH)
        give_up("cannot look at the registers");
}

static void put(pid_t pid, struct user_regs_struct *registers)
{
    if (ptrace(PTRACE_SETREGS, pid, NULL, registers) != 0 && errno != ESRCH)
        give_up("cannot change the registers");
}

static bool moves_bytes(uint64_t number)
{
    return number == SYS_read || number == SYS_pread64 || number == SYS_write || number == SYS_pwrite64;
}

/* --- what happens --- */

/* The call gets a number that no call has, and does nothing. */
static void hold_back(struct process *process, struct user_regs_struct *registers)
{
    registers->orig_rax = UINT64_MAX;
    put(process->pid, registers);
}

static void move_fewer(struct process *process, struct user_regs_struct *registers, uint64_t bytes)
{
    if (bytes == registers->rdx || process->bytes)
        return;
    process->bytes = registers->rdx;
    registers->rdx = bytes;
    put(process->pid, registers);
}

static void fail(struct process *process, struct user_regs_struct *registers, int problem)
{
    process->fails_with = problem;
    if (process->number != SYS_close)
        hold_back(process, registers);
}

static void act(struct process *process, struct user_regs_struct *registers)
{
    if (wish.run && system(wish.run) != 0) {
        errno = ECHILD;
        give_up(wish.run);
    }
    if (wish.torn_with && moves_bytes(process->number) && registers->rdx > 1)
        move_fewer(process, registers, registers->rdx / 2);
    if (wish.fails_with)
        fail(process, registers, wish.fails_with);
    if (wish.signal && !wish.is_after) {
        process->comes_again = true;
        hold_back(process, registers);
    }
}

/* A message can be told whatever fails. */
static bool is_message(const struct user_regs_struct *registers)
{
    return registers->orig_rax == SYS_write && registers->rdi == STDERR_FILENO;
}

/* Which file a process runs. */
static struct stat program_of(pid_t pid)
{
    struct stat info = { .st_ino = 0 };
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    if (stat(path, &info) != 0)
        give_up("cannot tell what runs");
    return info;
}

static void begin_program(struct process *process)
{
    static struct stat own;
    const struct stat info = program_of(process->pid);

    if (process->pid == first)
        own = info;
    process->has_begun = false;
    process->is_other = info.st_ino != own.st_ino || info.st_dev != own.st_dev;
}

/* A disk is slow, and no machine fails here: the call is not made, and succeeds. */
static void leave_out(struct process *process, struct user_regs_struct *registers)
{
    process->is_left_out = true;
    hold_back(process, registers);
}

static void count_call(struct process *process, struct user_regs_struct *registers)
{
    count++;
    if (wish.list)
        (void)fprintf(wish.list, "%s\n", name_of[process->number] ? name_of[process->number] : "other");
    if (count == wish.at)
        act(process, registers);
    else if (wish.at && count > wish.at && (wish.torn_with || (wish.goes_on && wish.fails_with)))
        fail(process, registers, wish.torn_with ? wish.torn_with : wish.fails_with);
    else if (process->number == SYS_fsync)
        leave_out(process, registers);
}

static void begin_call(struct process *process)
{
    struct user_regs_struct registers;

    get(process->pid, &registers);
    process->number = registers.orig_rax;
    process->counts = false;
    process->bytes = 0;
    process->fails_with = 0;
    process->is_left_out = false;
    if (process->number == SYS_rt_sigaction && !process->is_other)
        process->has_begun = true;
    if (wish.is_named && process->number == SYS_openat && (registers.rdx & O_TMPFILE) == O_TMPFILE)
        fail(process, &registers, EOPNOTSUPP);
    if (wish.is_short && process->has_begun && moves_bytes(process->number) && registers.rdx > 1) {
        const uint64_t most = roll() % 4 == 0 && registers.rdx > 7 ? 7 : registers.rdx;

        move_fewer(process, &registers, 1 + roll() % most);
    }
    process->counts =
        process->has_begun && process->number < NUMBERS && wish.counts[process->number] && !is_message(&registers);
    if (process->counts)
        count_call(process, &registers);
    else if (process->has_begun && process->number == SYS_fsync)
        leave_out(process, &registers);
}

static void end_call(struct process *process)
{
    struct user_regs_struct registers;

    if (!process->bytes && !process->fails_with && !process->comes_again && !process->is_left_out) {
        if (wish.signal && wish.is_after && process->counts && count == wish.at) {
            (void)kill(first, wish.signal);
            wish.signal = 0;
        }
        return;
    }
    get(process->pid, &registers);
    if (process->bytes)
        registers.rdx = process->bytes;
    if (process->fails_with || process->is_left_out)
        registers.rax = (uint64_t)-process->fails_with;
    if (process->comes_again) { /* the signal first, then the call */
        registers.rax = process->number;
        registers.rip -= 2;
        process->comes_again = false;
        count--;
        (void)kill(first, wish.signal);
        wish.signal = 0;
    }
    put(process->pid, &registers);
}

/* --- following --- */

static int end_status;

static void go_on(pid_t pid, int signal)
{
    if (ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(intptr_t)signal) != 0 && errno != ESRCH)
        give_up("cannot go on");
}

static void stopped(pid_t pid, int status)
{
    struct process *const process = process_of(pid);
    const int signal = WSTOPSIG(status), event = status >> 16;

    if (signal == (SIGTRAP | 0x80)) {
        process->is_inside = !process->is_inside;
        if (process->is_inside)
            begin_call(process);
        else
            end_call(process);
        go_on(pid, 0);
    } else if (event == PTRACE_EVENT_EXEC) {
        begin_program(process);
        go_on(pid, 0);
    } else if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE) {
        unsigned long child = 0;

        (void)ptrace(PTRACE_GETEVENTMSG, pid, NULL, &child);
        process_of((pid_t)child)->has_begun = process->has_begun;
        process_of((pid_t)child)->is_other = process->is_other;
        go_on(pid, 0);
    } else {
        go_on(pid, event || signal == SIGSTOP ? 0 : signal);
    }
}

static void follow(void)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, __WALL)) > 0) {
        if (WIFSTOPPED(status)) {
            stopped(pid, status);
            continue;
        }
        process_of(pid)->pid = 0;
        if (pid == first)
            end_status = status;
    }
}

static pid_t start(char *const *words)
{
    const pid_t pid = fork();
    int status;

    if (pid < 0)
        give_up("cannot fork");
    if (pid == 0) {
        (void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        (void)raise(SIGSTOP);
        (void)execvp(words[0], words);
        give_up(words[0]);
    }
    if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
        give_up("it did not start");
    if (ptrace(PTRACE_SETOPTIONS, pid, NULL,
               (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                        PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)) != 0)
        give_up("it may not be traced");
    return pid;
}

/* --- the command line --- */

static void take_calls(char *text)
{
    memset(wish.counts, 0, sizeof(wish.counts));
    for (char *name = strtok(text, ","); name; name = strtok(NULL, ",")) {
        size_t number = 0;

        while (number < NUMBERS && !(name_of[number] && strcmp(name_of[number], name) == 0))
            number++;
        if (number == NUMBERS) {
            errno = ENOSYS;
            give_up(name);
        }
        wish.counts[number] = true;
    }
}

/* out: the first word of the command */
static char **take_options(char **words)
{
    memset(wish.counts, 1, sizeof(wish.counts));
    for (; *words && strcmp(*words, "--") != 0; words++) {
        if (strcmp(*words, "--onwards") == 0) {
            wish.goes_on = true;
            continue;
        }
        if (strcmp(*words, "--named") == 0) {
            wish.is_named = true;
            continue;
        }
        if (strcmp(*words, "--after") == 0) {
            wish.is_after = true;
            continue;
        }
        const char *const option = *words++;

        if (!*words)
            break;
        if (strcmp(option, "--calls") == 0)
            take_calls(*words);
        else if (strcmp(option, "--list") == 0)
            wish.list = fopen(*words, "we");
        else if (strcmp(option, "--at") == 0)
            wish.at = strtoull(*words, NULL, 10);
        else if (strcmp(option, "--fail") == 0)
            wish.fails_with = (int)strtol(*words, NULL, 10);
        else if (strcmp(option, "--torn") == 0)
            wish.torn_with = (int)strtol(*words, NULL, 10);
        else if (strcmp(option, "--signal") == 0)
            wish.signal = (int)strtol(*words, NULL, 10);
        else if (strcmp(option, "--run") == 0)
            wish.run = *words;
        else if (strcmp(option, "--short") == 0)
            wish.dice = strtoull(*words, NULL, 10) * 2654435761u + 88172645463325252u, wish.is_short = true;
        else
            break;
    }
    if (!*words || strcmp(*words, "--") != 0 || !words[1]) {
        errno = EINVAL;
        give_up("usage: at_call [OPTION...] -- COMMAND [WORD...]");
    }
    return words + 1;
}

int main(int argc, char **argv)
{
    const struct rlimit none = { 0, 0 };

    (void)argc;
    first = start(take_options(argv + 1));
    (void)process_of(first);
    go_on(first, 0);
    follow();
    if (wish.list && fclose(wish.list) != 0)
        give_up("cannot write the list");
    if (!WIFSIGNALED(end_status))
        return WEXITSTATUS(end_status);
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)signal(WTERMSIG(end_status), SIG_DFL);
    (void)raise(WTERMSIG(end_status));
    return CANNOT;
}
#endif
