// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#include "peers.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { page_bytes = 4096, batch_bytes = 1 << 20, file_bytes = 64 << 20 };

// What an event takes beside its payload: its id, place, time and stream.
enum { header_bytes = 96 };

typedef struct {
    int file;
    size_t size, place;
    char batch[batch_bytes];
} state;

static void *file_open(const char *path) {
    state *log = calloc(1, sizeof *log);
    if (!log) die("malloc");
    log->file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (log->file < 0) die(path);
    for (size_t place = 0; place < file_bytes; place += batch_bytes)
        if (pwrite(log->file, log->batch, batch_bytes, (off_t)place) != batch_bytes) die("write");
    if (fsync(log->file)) die("sync");
    return log;
}

static void file_begin(void *log) { ((state *)log)->size = 0; }

static void file_add(void *of, const void *payload, int payload_bytes) {
    state *log = of;
    if (log->size + header_bytes + (size_t)payload_bytes > batch_bytes) die("batch too large");
    memcpy(log->batch + log->size + header_bytes, payload, (size_t)payload_bytes);
    log->size += header_bytes + (size_t)payload_bytes;
}

static void file_commit(void *of) {
    state *log = of;
    size_t size = (log->size + page_bytes - 1) / page_bytes * page_bytes;
    if (log->place + size > file_bytes) log->place = 0;
    if (pwrite(log->file, log->batch, size, (off_t)log->place) != (ssize_t)size) die("write");
    if (fdatasync(log->file)) die("sync");
    log->place += size;
}

static void file_close(void *of) {
    close(((state *)of)->file);
    free(of);
}

const log_kind file_log = {file_open, file_begin, file_add, file_commit, file_close};
