// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#define _GNU_SOURCE
#include "CCairnConfine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Landlock's numbers, of which older headers have only some: linux/landlock.h.
enum { create_ruleset = 444, add_rule = 445, restrict_self = 446, rule_path_beneath = 1 };
static const uint64_t execute = 1 << 0, write_file = 1 << 1, read_file = 1 << 2, read_dir = 1 << 3;
static const uint64_t truncate_file = 1 << 14;

/// All rights to files that a version knows.
static uint64_t file_rights(int version) {
    if (version >= 5) return (1 << 16) - 1;
    if (version >= 3) return (1 << 15) - 1;
    return version == 2 ? (1 << 14) - 1 : (1 << 13) - 1;
}

struct ruleset {
    uint64_t files;
    uint64_t network;
    uint64_t scopes;
};

struct __attribute__((packed)) path_rule {
    uint64_t rights;
    int32_t parent;
};

int cairn_landlock_version(void) {
    long version = syscall(create_ruleset, NULL, 0, 1u);
    return version > 0 ? (int)version : 0;
}

static int allow(int rules, const char *path, uint64_t rights) {
    int parent = open(path, O_PATH | O_CLOEXEC);
    if (parent < 0) return errno == ENOENT || errno == EACCES ? 0 : -1;
    struct stat status;
    int result = fstat(parent, &status);
    if (result == 0) {
        // Of a file there are no rights to what is in it.
        if (!S_ISDIR(status.st_mode)) rights &= execute | write_file | read_file | truncate_file;
        struct path_rule rule = {rights, parent};
        result = (int)syscall(add_rule, rules, rule_path_beneath, &rule, 0);
    }
    int error = errno;
    close(parent);
    errno = error;
    return result;
}

int cairn_confine_files(const char *const readable[], int readable_count,
                        const char *const writable[], int writable_count) {
    int version = cairn_landlock_version();
    if (version == 0) {
        errno = ENOSYS;
        return -1;
    }
    uint64_t all = file_rights(version);
    // TCP since version 4; abstract sockets and signals since 6.
    struct ruleset attributes = {all, version >= 4 ? 3 : 0, version >= 6 ? 3 : 0};
    size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
    int rules = (int)syscall(create_ruleset, &attributes, size, 0u);
    if (rules < 0) return -1;
    int result = 0;
    for (int index = 0; index < readable_count && result == 0; index++)
        result = allow(rules, readable[index], read_file | read_dir);
    for (int index = 0; index < writable_count && result == 0; index++)
        result = allow(rules, writable[index], all & ~execute);
    if (result == 0) result = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (result == 0) result = (int)syscall(restrict_self, rules, 0u);
    int error = errno;
    close(rules);
    errno = error;
    return result;
}

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "the filter of system calls has to be told the processor"
#endif

#define REFUSE(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define FORBID(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), REFUSE(EPERM)

int cairn_confine_calls(void) {
    struct sock_filter filter[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        LOAD(nr),
#if defined(__x86_64__)
        // The calls of x32, which have numbers of their own.
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
        REFUSE(EPERM),
        FORBID(fork),
        FORBID(vfork),
        FORBID(iopl),
        FORBID(ioperm),
        FORBID(uselib),
#endif
        // Servers and other processes.
        FORBID(socket),
        FORBID(socketpair),
        FORBID(connect),
        FORBID(bind),
        FORBID(listen),
        FORBID(accept),
        FORBID(accept4),
        FORBID(sendto),
        FORBID(sendmsg),
        FORBID(sendmmsg),
        FORBID(recvfrom),
        FORBID(recvmsg),
        FORBID(recvmmsg),
        FORBID(msgget),
        FORBID(mq_open),
        FORBID(shmget),
        FORBID(semget),
        // Programs and processes.
        FORBID(execve),
        FORBID(execveat),
        FORBID(ptrace),
        FORBID(process_vm_readv),
        FORBID(process_vm_writev),
        FORBID(kill),
        FORBID(tkill),
        FORBID(rt_sigqueueinfo),
        FORBID(rt_tgsigqueueinfo),
        FORBID(kcmp),
        // Ways around a filter or Landlock.
        FORBID(open_by_handle_at),
        FORBID(name_to_handle_at),
        FORBID(userfaultfd),
        FORBID(bpf),
        FORBID(perf_event_open),
        FORBID(personality),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 425 /* io_uring_setup */, 0, 2),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 427 /* io_uring_register */, 1, 0),
        REFUSE(ENOSYS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 424 /* pidfd_send_signal */, 0, 1),
        REFUSE(EPERM),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 438 /* pidfd_getfd */, 0, 1),
        REFUSE(EPERM),
        // The system.
        FORBID(mount),
        FORBID(umount2),
        FORBID(pivot_root),
        FORBID(chroot),
        FORBID(unshare),
        FORBID(setns),
        FORBID(add_key),
        FORBID(request_key),
        FORBID(keyctl),
        FORBID(init_module),
        FORBID(finit_module),
        FORBID(delete_module),
        FORBID(kexec_load),
        FORBID(reboot),
        FORBID(swapon),
        FORBID(swapoff),
        FORBID(acct),
        FORBID(quotactl),
        FORBID(sethostname),
        FORBID(setdomainname),
        FORBID(syslog),
        FORBID(settimeofday),
        FORBID(clock_settime),
        // Threads, but no processes; glibc takes clone where there is no clone3, whose flags a
        // filter cannot see.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 435 /* clone3 */, 0, 1),
        REFUSE(ENOSYS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
        REFUSE(EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
                        &program);
}
