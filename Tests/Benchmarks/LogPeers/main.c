// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

// What Cairn's log, bus and dispatch are measured beside: the same work in plain C over SQLite and
// libzmq.
#include "peers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void die(const char *what) {
    fprintf(stderr, "bench-log-peers: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int ascending(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

int64_t quantile(int64_t *times, size_t count, double part) {
    if (count == 0) return 0;
    qsort(times, count, sizeof *times, ascending);
    size_t index = (size_t)(part * (double)count);
    return times[index < count ? index : count - 1];
}

int main(int count, char **argument) {
    const char *what = count > 1 ? argument[1] : "";
    if (count == 4 && !strcmp(what, "append")) return sqlite_append(argument[2], atoi(argument[3]));
    if (count == 3 && !strcmp(what, "scan")) return sqlite_scan(argument[2]);
    if (count == 5 && !strcmp(what, "stream"))
        return stream_through(argument[2], atoi(argument[3]), atoi(argument[4]));
    if (count == 5 && !strcmp(what, "round-trips"))
        return round_trips(argument[2], atoi(argument[3]), atoi(argument[4]));
    if (count == 7 && !strcmp(what, "pipeline"))
        return pipeline(argument[2], strcmp(argument[3], "file") ? &sqlite_log : &file_log,
                        atoi(argument[4]), atoi(argument[5]), atoi(argument[6]));
    if (count == 6 && !strcmp(what, "hub"))
        return hub(argument[2], atoi(argument[3]), atoi(argument[4]), atoi(argument[5]));
    fprintf(stderr,
            "usage: bench-log-peers append FILE BYTES <sizes-of-batches | scan FILE\n"
            "       | stream DIR COUNT BYTES | round-trips DIR COUNT BYTES | hub DIR COUNT WINDOW BYTES\n"
            "       | pipeline DIR sqlite|file COUNT PER-SECOND BYTES\n");
    return 64;
}
