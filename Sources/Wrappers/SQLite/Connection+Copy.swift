// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CSQLite

extension Connection {
    /// Copies the database, as it is at the first step, into a new file, a step at a time.
    ///
    /// Other connections may write meanwhile; their commits are not in the copy, and cannot leave
    /// the write-ahead log before the copy ends. Uses SQLite's online backup.
    ///
    /// - Parameters:
    ///   - path: The new file.
    ///   - pagesPerStep: Pages copied between two calls of `progress`.
    ///   - progress: Called with the pages copied so far and their total; false cancels.
    /// - Throws: `SQLiteError`; with code 9 (`SQLITE_INTERRUPT`) when `progress` cancelled.
    public func copy(
        to path: String, pagesPerStep: Int, _ progress: (_ done: Int64, _ total: Int64) -> Bool
    ) throws(SQLiteError) {
        let target = try Connection(path: path, mode: .create)
        // One read transaction over all steps: else each commit in between would restart the copy.
        try execute("BEGIN")
        defer { rollBack() }
        _ = try integer("SELECT count(*) FROM sqlite_schema")
        guard let backup = unsafe sqlite3_backup_init(target.handle, "main", handle, "main") else {
            throw unsafe SQLiteError(
                handle: target.handle, code: sqlite3_errcode(target.handle), operation: "backup")
        }
        var code = SQLITE_OK
        var goesOn = true
        while code == SQLITE_OK, goesOn {
            code = unsafe sqlite3_backup_step(backup, Int32(pagesPerStep))
            let total = Int64(unsafe sqlite3_backup_pagecount(backup))
            let left = Int64(unsafe sqlite3_backup_remaining(backup))
            goesOn = progress(total - left, total)
        }
        let end = unsafe sqlite3_backup_finish(backup)
        guard goesOn else {
            throw SQLiteError(
                extendedCode: SQLITE_INTERRUPT, operation: "backup", reason: "stopped")
        }
        guard code == SQLITE_DONE else {
            throw unsafe SQLiteError(handle: target.handle, code: code, operation: "backup")
        }
        try target.check(end, "backup")
    }
}
