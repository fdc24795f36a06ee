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

// Appends batches whose sizes stand on standard input, one a line, each in a transaction of its own,
// to 32 streams in turn.
int sqlite_append(const char *path, int payload_bytes) {
    sqlite3 *file = open_file(path);
    run(file, schema);
    sqlite3_stmt *insert;
    if (sqlite3_prepare_v3(file, "INSERT INTO event VALUES (?1,?2,?3,1,?4,?5,?6,1,?7,?8,?9)", -1,
                           SQLITE_PREPARE_PERSISTENT, &insert, NULL))
        die("prepare");
    size_t capacity = 1 << 16, batches = 0;
    int64_t *times = malloc(capacity * sizeof *times);
    char *payload = malloc((size_t)payload_bytes);
    if (!times || !payload) die("malloc");
    memset(payload, 'x', (size_t)payload_bytes);
    int64_t position = 0, written = 0, start = now_ns();
    int size;
    while (scanf("%d", &size) == 1) {
        int64_t begun = now_ns();
        run(file, "BEGIN IMMEDIATE");
        for (int index = 0; index < size; index++) {
            position++;
            int64_t id[2] = {(int64_t)__builtin_bswap64((uint64_t)begun), position};
            sqlite3_bind_int64(insert, 1, position);
            sqlite3_bind_int64(insert, 2, position % 32);
            sqlite3_bind_int64(insert, 3, position / 32);
            sqlite3_bind_int64(insert, 4, begun);
            sqlite3_bind_blob(insert, 5, id, sizeof id, SQLITE_STATIC);
            sqlite3_bind_text(insert, 6, "job.progressed", -1, SQLITE_STATIC);
            sqlite3_bind_blob(insert, 7, "{}", 2, SQLITE_STATIC);
            sqlite3_bind_blob(insert, 8, payload, payload_bytes, SQLITE_STATIC);
            sqlite3_bind_int64(insert, 9, begun & 0xffffffff);
            if (sqlite3_step(insert) != SQLITE_DONE) die("insert");
            sqlite3_reset(insert);
        }
        run(file, "COMMIT");
        if (batches == capacity) {
            capacity *= 2;
            times = realloc(times, capacity * sizeof *times);
            if (!times) die("malloc");
        }
        times[batches++] = now_ns() - begun;
        // As the log does, when so much has been written.
        written += (int64_t)size * (payload_bytes + 400);
        if (written > 4 << 20) {
            sqlite3_wal_checkpoint_v2(file, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
            written = 0;
        }
    }
    double seconds = (double)(now_ns() - start) / 1e9;
    printf("{\"perSecond\":%.0f,\"p50\":%.1f,\"p99\":%.1f}\n", (double)position / seconds,
           (double)quantile(times, batches, 0.5) / 1e3, (double)quantile(times, batches, 0.99) / 1e3);
    sqlite3_finalize(insert);
    sqlite3_close(file);
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
