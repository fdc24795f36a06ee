// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#define _GNU_SOURCE
#include "CCairnLinux.h"

#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int cairn_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

void cairn_name_thread(const char *name) {
    char kept[16] = {0};
    for (int i = 0; i < 15 && name[i] != 0; i++) kept[i] = name[i];
    pthread_setname_np(pthread_self(), kept);
}

int cairn_pidfd_open(int pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int cairn_memory_file(void) { return memfd_create("cairn", MFD_CLOEXEC); }

int cairn_poll(void *items, unsigned long count, int64_t nanoseconds) {
    struct timespec limit = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    return ppoll(items, count, nanoseconds < 0 ? NULL : &limit, NULL);
}

int cairn_thread_id(void) {
    static __thread int known;
    if (known == 0) known = (int)syscall(SYS_gettid);
    return known;
}

void cairn_release_heaps(void) { malloc_trim(0); }

void cairn_limit_heaps(int count, int kept_bytes) {
    mallopt(M_ARENA_MAX, count);
    mallopt(M_TRIM_THRESHOLD, kept_bytes);
    mallopt(M_TOP_PAD, kept_bytes / 8 < 128 << 10 ? kept_bytes / 8 : 128 << 10);
    mallopt(M_MMAP_THRESHOLD, kept_bytes < 256 << 10 ? 256 << 10 : kept_bytes);
}
