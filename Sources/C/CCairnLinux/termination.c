// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#define _GNU_SOURCE
#include "CCairnLinux.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

static volatile sig_atomic_t termination_fd = -1;
// Two threads may each be in the handler, for one signal each.
static atomic_int termination_count = 0;

static void on_termination(int number) {
    if (atomic_fetch_add(&termination_count, 1) > 0) _exit(128 + number);
    int kept = errno;
    uint64_t one = 1;
    ssize_t written = write(termination_fd, &one, sizeof one);
    (void)written;
    errno = kept;
}

int cairn_watch_termination(int fd) {
    termination_fd = fd;
    struct sigaction action = {0};
    action.sa_handler = on_termination;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGTERM);
    sigaddset(&action.sa_mask, SIGINT);
    if (sigaction(SIGTERM, &action, 0) != 0) return -1;
    if (sigaction(SIGINT, &action, 0) != 0) return -1;
    sigset_t both;
    sigemptyset(&both);
    sigaddset(&both, SIGTERM);
    sigaddset(&both, SIGINT);
    return sigprocmask(SIG_UNBLOCK, &both, 0);
}
