// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#include "peers.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sqlite3 *open_file(const char *path) {
    sqlite3 *file;
    if (sqlite3_open_v2(path, &file,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL))
        die(path);
    return file;
}

static void run(sqlite3 *file, const char *text) {
    char *message = NULL;
    if (sqlite3_exec(file, text, NULL, NULL, &message)) {
        fprintf(stderr, "bench-log-peers: %s\n", message);
        exit(1);
    }
}

// An event log as one writes it: the columns of Cairn's own, ids and places in streams unique, an index by category,
// and the same settings; nothing is hashed.
static const char *const schema =
    "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
    "PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -16384;"
    "CREATE TABLE event (position INTEGER PRIMARY KEY, stream INTEGER NOT NULL,"
    " stream_position INTEGER NOT NULL, category INTEGER NOT NULL, recorded_at INTEGER NOT NULL,"
    " id BLOB NOT NULL UNIQUE, type TEXT NOT NULL, schema INTEGER NOT NULL, metadata BLOB NOT NULL,"
    " data BLOB NOT NULL, crc INTEGER NOT NULL, UNIQUE (stream, stream_position)) STRICT;"
    "CREATE INDEX event_by_category ON event (category)";

typedef struct {
    sqlite3 *file;
    sqlite3_stmt *insert;
    int64_t position, begun;
    int frames;
} state;

static int count_frames(void *log, sqlite3 *file, const char *name, int frames) {
    (void)file, (void)name;
    ((state *)log)->frames = frames;
    return SQLITE_OK;
}

static void *sqlite_open(const char *path) {
    state *log = calloc(1, sizeof *log);
    if (!log) die("malloc");
    log->file = open_file(path);
    run(log->file, schema);
    sqlite3_wal_hook(log->file, count_frames, log);
    if (sqlite3_prepare_v3(log->file, "INSERT INTO event VALUES (?1,?2,?3,1,?4,?5,?6,1,?7,?8,?9)", -1,
                           SQLITE_PREPARE_PERSISTENT, &log->insert, NULL))
        die("prepare");
    return log;
}

static void sqlite_begin(void *of) {
    state *log = of;
    log->begun = now_ns();
    run(log->file, "BEGIN IMMEDIATE");
}

// To 32 streams in turn.
static void sqlite_add(void *of, const void *payload, int payload_bytes) {
    state *log = of;
    sqlite3_stmt *insert = log->insert;
    int64_t position = ++log->position;
    int64_t id[2] = {(int64_t)__builtin_bswap64((uint64_t)log->begun), position};
    sqlite3_bind_int64(insert, 1, position);
    sqlite3_bind_int64(insert, 2, position % 32);
    sqlite3_bind_int64(insert, 3, position / 32);
    sqlite3_bind_int64(insert, 4, log->begun);
    sqlite3_bind_blob(insert, 5, id, sizeof id, SQLITE_STATIC);
    sqlite3_bind_text(insert, 6, "job.progressed", -1, SQLITE_STATIC);
    sqlite3_bind_blob(insert, 7, "{}", 2, SQLITE_STATIC);
    sqlite3_bind_blob(insert, 8, payload, payload_bytes, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 9, log->begun & 0xffffffff);
    if (sqlite3_step(insert) != SQLITE_DONE) die("insert");
    sqlite3_reset(insert);
}

static void sqlite_commit(void *of) {
    state *log = of;
    run(log->file, "COMMIT");
    // As Cairn's log does, so that the write-ahead log is soon written over what it has.
    if (log->frames >= 1000)
        sqlite3_wal_checkpoint_v2(log->file, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
}

static void sqlite_close(void *of) {
    state *log = of;
    sqlite3_finalize(log->insert);
    sqlite3_close(log->file);
    free(log);
}

const log_kind sqlite_log = {sqlite_open, sqlite_begin, sqlite_add, sqlite_commit, sqlite_close};

// Appends batches whose sizes stand on standard input, one a line, each in a transaction of its own.
int sqlite_append(const char *path, int payload_bytes) {
    state *log = sqlite_open(path);
    size_t capacity = 1 << 16, batches = 0;
    int64_t *times = malloc(capacity * sizeof *times);
    char *payload = malloc((size_t)payload_bytes);
    if (!times || !payload) die("malloc");
    memset(payload, 'x', (size_t)payload_bytes);
    int64_t start = now_ns();
    int size;
    while (scanf("%d", &size) == 1) {
        sqlite_begin(log);
        int64_t begun = log->begun;
        for (int index = 0; index < size; index++) sqlite_add(log, payload, payload_bytes);
        sqlite_commit(log);
        if (batches == capacity) {
            capacity *= 2;
            times = realloc(times, capacity * sizeof *times);
            if (!times) die("malloc");
        }
        times[batches++] = now_ns() - begun;
    }
    double seconds = (double)(now_ns() - start) / 1e9;
    printf("{\"perSecond\":%.0f,\"p50\":%.1f,\"p99\":%.1f}\n", (double)log->position / seconds,
           (double)quantile(times, batches, 0.5) / 1e3, (double)quantile(times, batches, 0.99) / 1e3);
    sqlite_close(log);
    return 0;
}

// Every column of every event, in the order of the log, each byte of which is looked at.
int sqlite_scan(const char *path) {
    sqlite3 *file;
    if (sqlite3_open_v2(path, &file, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL)) die(path);
    sqlite3_stmt *read;
    if (sqlite3_prepare_v2(file,
                           "SELECT position, stream, stream_position, recorded_at, id, type, schema,"
                           " metadata, data, crc FROM event ORDER BY position",
                           -1, &read, NULL))
        die("prepare");
    int64_t start = now_ns(), count = 0, sum = 0;
    while (sqlite3_step(read) == SQLITE_ROW) {
        count++;
        for (int column = 0; column < 10; column++) {
            if (sqlite3_column_type(read, column) == SQLITE_INTEGER) {
                sum += sqlite3_column_int64(read, column);
                continue;
            }
            const unsigned char *bytes = sqlite3_column_blob(read, column);
            int size = sqlite3_column_bytes(read, column);
            for (int index = 0; index < size; index++) sum += bytes[index];
        }
    }
    double seconds = (double)(now_ns() - start) / 1e9;
    printf("{\"perSecond\":%.0f,\"sum\":%lld}\n", (double)count / seconds, (long long)sum);
    sqlite3_finalize(read);
    sqlite3_close(file);
    return 0;
}
