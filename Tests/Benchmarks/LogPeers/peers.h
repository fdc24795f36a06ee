// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// Nanoseconds of CLOCK_MONOTONIC.
int64_t now_ns(void);

/// Prints what and errno's text to standard error and ends the process with status 1.
_Noreturn void die(const char *what);

/// Sorts `count` times in place and gives the one at `part` (0 to 1) of them.
int64_t quantile(int64_t *times, size_t count, double part);

/// A log that commits batches of events durably; what `open` gives goes to the others.
typedef struct {
    void *(*open)(const char *path);
    void (*begin)(void *log);
    void (*add)(void *log, const void *payload, int payload_bytes);
    void (*commit)(void *log);
    void (*close)(void *log);
} log_kind;

/// Over SQLite, with the columns, indexes and settings of Cairn's own.
extern const log_kind sqlite_log;
/// Bytes into a file that is there already, 64 MiB over and over: no index, nothing can be found. The least that a log can
/// do.
extern const log_kind file_log;

/// Each prints one JSON object on standard output and returns the process's status.
int sqlite_append(const char *path, int payload_bytes);
int sqlite_scan(const char *path);
int stream_through(const char *directory, int count, int payload_bytes);
int pipeline(const char *directory, const log_kind *kind, int count, int per_second, int payload_bytes);
int round_trips(const char *directory, int count, int payload_bytes);
int hub(const char *directory, int count, int window, int payload_bytes);
