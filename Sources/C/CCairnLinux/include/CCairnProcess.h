// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#pragma once

#include <stdint.h>

/// Starts `path` with `arguments` (ended by NULL): standard input is empty, standard output and error
/// go to the descriptor `log`, signals are as at login, no other descriptor is inherited.
/// `is_detached` 0: a process group of its own, and SIGTERM when the calling *thread* ends;
/// otherwise a session of its own. The process id, or -1 and errno, also when exec fails.
int cairn_spawn(const char *path, char *const arguments[], int log, int is_detached);

/// The eight bytes at `place`, read at once; what was written before `cairn_store_shared` is seen.
static inline int64_t cairn_load_shared(const void *place) {
    return __atomic_load_n((const int64_t *)place, __ATOMIC_ACQUIRE);
}

/// Writes the eight bytes at `place` at once, after what was written before.
static inline void cairn_store_shared(void *place, int64_t value) {
    __atomic_store_n((int64_t *)place, value, __ATOMIC_RELEASE);
}

/// Writes the four bytes at `place` at once, after what was written before.
static inline void cairn_store_shared_length(void *place, uint32_t value) {
    __atomic_store_n((uint32_t *)place, value, __ATOMIC_RELEASE);
}
