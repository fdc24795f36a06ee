// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#pragma once

#include "CCairnConfine.h"
#include "CCairnDecimal.h"
#include "CCairnLanes.h"
#include "CCairnProcess.h"
#include "CCairnTerminal.h"

#include <stddef.h>
#include <stdint.h>

/// poll(2) of `count` `struct pollfd` for at most so many nanoseconds, negative: no limit; -1 and errno. (It is ppoll(2),
/// which Swift does not see.)
int cairn_poll(void *items, unsigned long count, int64_t nanoseconds);

/// Creates a non-blocking, close-on-exec eventfd with counter 0; -1 and errno on failure.
int cairn_eventfd(void);

/// Names the calling thread (at most 15 bytes are kept).
void cairn_name_thread(const char *name);

/// pidfd_open(2): a descriptor that becomes readable when process `pid` ends; -1 and errno.
int cairn_pidfd_open(int pid);

/// The calling thread's kernel id, remembered per thread. (`pthread_self` is declared `const`, so a
/// compiler may carry its value across a change of thread.)
int cairn_thread_id(void);

/// CRC-32C (Castagnoli) of `count` bytes continuing from `crc`; 0 starts. Uses SSE4.2 where the
/// processor has it.
uint32_t cairn_crc32c(uint32_t crc, const void *bytes, size_t count);

/// The same by table, for comparison and for other processors.
uint32_t cairn_crc32c_table(uint32_t crc, const void *bytes, size_t count);

/// From now on the first SIGTERM or SIGINT writes to the eventfd `fd`, and the second ends the
/// process at once with status 128 + its number. 0, or -1 and errno.
int cairn_watch_termination(int fd);

/// The magic number of the file system a path lies on, as statfs(2) gives it; -1 and errno.
long cairn_filesystem_type(const char *path);

/// memfd_create(2): a file in memory, which goes with its last descriptor and mapping; -1 and errno.
int cairn_memory_file(void);

/// Creates a file without a name (O_TMPFILE), mode 0600, for writing: it goes with its last descriptor, however its
/// process ends. -1 where the file system has no such files, the directory cannot be written, or /proc is not there,
/// through which it could be given a name.
int cairn_open_nameless(const char *directory);

/// Gives such a file a name that nothing has yet: linkat(2). 0, or -1 and errno.
int cairn_name_file(int fd, const char *path);

/// Makes all threads share `count` heaps of the C library, instead of eight for each processor, which give
/// back what is free at their ends beyond `kept_bytes` and grow by an eighth of it, 128 KiB at most; blocks above that
/// size and 256 KiB get pages of their own, which go back when they are freed. Call it before there are many threads.
void cairn_limit_heaps(int count, int kept_bytes);

/// Gives the free pages of all heaps back to the system, wherever they lie.
void cairn_release_heaps(void);
