// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#pragma once

#include <sqlite3.h>

/// Has SQLite keep no account of its memory, which costs a mutex with each allocation; an error once it is in use.
static inline int cairn_sqlite3_keep_no_account_of_memory(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
