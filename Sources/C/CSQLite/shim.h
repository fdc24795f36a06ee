// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#pragma once

#include <sqlite3.h>

/// Has SQLite keep no account of its memory, which costs a mutex with each allocation; an error once it is in use.
static inline int cairn_sqlite3_keep_no_account_of_memory(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/// Steps of SQLite's machine between two looks at the bound of a thread.
enum { cairn_sqlite3_steps_per_look = 10000 };

/// Steps that a thread's statements may still take; used up at 0 or less.
static _Thread_local long long cairn_sqlite3_steps_left = 0;
/// Whether the thread has a bound.
static _Thread_local int cairn_sqlite3_is_bound = 0;

/// Sets the calling thread's bound and the steps that are left of it.
static inline void cairn_sqlite3_set_bound(int is_bound, long long steps_left) {
    cairn_sqlite3_is_bound = is_bound;
    cairn_sqlite3_steps_left = steps_left;
}

static inline int cairn_sqlite3_has_bound(void) { return cairn_sqlite3_is_bound; }

static inline long long cairn_sqlite3_get_steps_left(void) { return cairn_sqlite3_steps_left; }

static inline int cairn_sqlite3_look(void *unused) {
    (void)unused;
    if (!cairn_sqlite3_is_bound) return 0;
    cairn_sqlite3_steps_left -= cairn_sqlite3_steps_per_look;
    return cairn_sqlite3_steps_left <= 0;
}

static inline int cairn_sqlite3_opened(sqlite3 *db, char **error, const struct sqlite3_api_routines *api) {
    (void)error;
    (void)api;
    if (cairn_sqlite3_is_bound)
        sqlite3_progress_handler(db, cairn_sqlite3_steps_per_look, cairn_sqlite3_look, 0);
    return SQLITE_OK;
}

/// Has every connection that a thread with a bound opens from now on keep to it, whichever library opens it;
/// until one calls sqlite3_reset_auto_extension, as GDAL does.
static inline int cairn_sqlite3_watch_connections(void) {
    return sqlite3_auto_extension((void (*)(void))cairn_sqlite3_opened);
}
