// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#pragma once

/// The version of Landlock that the kernel has, from 1; 0 without it.
int cairn_landlock_version(void);

/// Confines the calling thread, and those that it starts, to files (Landlock): what is below `readable` may be read, below
/// `writable` read, written, made and removed, nothing else be opened; it can make no TCP connection either where the kernel
/// knows how to forbid that. Paths that do not exist are passed over. There is no way back. 0, or -1 and errno.
int cairn_confine_files(const char *const readable[], int readable_count, const char *const writable[],
                        int writable_count);

/// Forbids the calling thread, and those that it starts, to make sockets and connections, start programs and processes,
/// reach into other processes, signal them, or change what the system is (seccomp): such calls fail with EPERM. There is
/// no way back. 0, or -1 and errno.
int cairn_confine_calls(void);
