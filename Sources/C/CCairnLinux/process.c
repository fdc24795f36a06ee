// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#define _GNU_SOURCE
#include "CCairnProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/// Everything here is async-signal-safe, as it must be between fork and exec.
static void become(const char *path, char *const arguments[], int log, int is_detached, pid_t parent) {
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (is_detached) {
        if (setsid() < 0) return;
    } else {
        if (setpgid(0, 0) != 0 || prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) return;
        if (getppid() != parent) _exit(0);
    }
    int null = open("/dev/null", O_RDWR);
    if (null < 0 || dup2(null, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0) return;
    syscall(SYS_close_range, 3u, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */);
    execv(path, arguments);
}

int cairn_spawn(const char *path, char *const arguments[], int log, int is_detached) {
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) return -1;
    pid_t parent = getpid();
    pid_t child = fork();
    if (child == 0) {
        become(path, arguments, log, is_detached, parent);
        int error = errno;
        ssize_t written = write(report[1], &error, sizeof error);
        _exit(written == sizeof error ? 127 : 126);
    }
    int kept = errno;
    close(report[1]);
    int error = 0;
    ssize_t count = child < 0 ? 0 : read(report[0], &error, sizeof error);
    while (count < 0 && errno == EINTR) count = read(report[0], &error, sizeof error);
    close(report[0]);
    if (child > 0 && count == sizeof error) {
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
        child = -1;
        kept = error;
    }
    errno = kept;
    return child;
}
