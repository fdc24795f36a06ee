// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CSQLite

/// One connection to one database file.
///
/// It is opened without SQLite's own mutex and may be used by one thread at a time: it is not
/// `Sendable`, so it can only move, never be shared. Statements keep it open.
@safe
public final class Connection {
    let handle: OpaquePointer
    /// Frames in the write-ahead log after this connection's last commit.
    private let frames: UnsafeMutablePointer<Int32>
    /// The destination of a `RowScan`'s row while it steps; nil before the first scan.
    private var target: UnsafeMutablePointer<UnsafeMutablePointer<RowCopy>?>?
    /// The file.
    public let path: String

    /// The mode of opening a file.
    public enum Mode: Sendable {
        /// Reading and writing; the file is created when it is missing.
        case create
        /// Reading and writing an existing file.
        case write
        /// Reading an existing file.
        case read
    }

    /// Once in a process; without effect if other code, such as GDAL, has opened a file before.
    static let isWithoutAccount: Bool =
        cairn_sqlite3_keep_no_account_of_memory() == SQLITE_OK

    /// Opens the file; throws `SQLiteError`, whose code 14 means that the file cannot be opened.
    ///
    /// SQLite reads the file only with the first statement.
    public init(path: String, mode: Mode) throws(SQLiteError) {
        let access =
            switch mode {
            case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            case .write: SQLITE_OPEN_READWRITE
            case .read: SQLITE_OPEN_READONLY
            }
        // URI: for `attachReadOnly`; a path begins with `/` or `.`, never with `file:`.
        let flags = access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_URI
        _ = Self.isWithoutAccount
        var opened: OpaquePointer?
        let code = unsafe sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened = unsafe opened else {
            let error = unsafe SQLiteError(handle: opened, code: code, operation: "open")
            _ = unsafe sqlite3_close_v2(opened)
            throw error
        }
        unsafe handle = opened
        self.path = path
        unsafe frames = .allocate(capacity: 1)
        unsafe frames.initialize(to: 0)
        unsafe target = nil
    }

    deinit {
        _ = unsafe sqlite3_close_v2(handle)
        unsafe frames.deallocate()
        unsafe target?.deallocate()
    }

    /// The destination of a scan's row; throws when SQLite does not accept the function that fills
    /// it.
    func rowTarget() throws(SQLiteError) -> UnsafeMutablePointer<UnsafeMutablePointer<RowCopy>?> {
        if let target = unsafe target { return unsafe target }
        let target = UnsafeMutablePointer<UnsafeMutablePointer<RowCopy>?>.allocate(capacity: 1)
        unsafe target.initialize(to: nil)
        unsafe self.target = target
        try check(unsafe RowCopy.register(handle, into: target), "take rows")
        return unsafe target
    }

    /// Begins to count the frames that this connection's commits add to the write-ahead log.
    ///
    /// This ends SQLite's own checkpoints, which are made at a number of frames.
    public func countFrames() {
        _ = unsafe sqlite3_wal_hook(
            handle,
            { count, _, _, frames in
                unsafe count?.assumingMemoryBound(to: Int32.self).pointee = frames
                return SQLITE_OK
            }, frames)
    }

    /// Pages in the write-ahead log after this connection's last commit, in the database file
    /// already or not; 0 before the first commit after `countFrames`.
    public var frameCount: Int { Int(unsafe frames.pointee) }

    /// Compiles one statement, for use many times.
    public func prepare(_ sql: String) throws(SQLiteError) -> Statement {
        try Statement(connection: self, sql: sql)
    }

    /// Runs statements separated by `;`, ignoring rows.
    public func execute(_ sql: String) throws(SQLiteError) {
        try check(unsafe sqlite3_exec(handle, sql, nil, nil, nil), "execute")
    }

    /// Makes another database file readable under a schema name, never writable.
    public func attachReadOnly(_ path: String, as name: String) throws(SQLiteError) {
        let uri = path.reduce(into: "file:") { uri, character in
            switch character {
            case "%": uri += "%25"
            case "?": uri += "%3f"
            case "#": uri += "%23"
            default: uri.append(character)
            }
        }
        var attach = try prepare("ATTACH ?1 AS \(name)")
        try attach.bind(1, uri + "?mode=ro")
        try attach.run()
    }

    /// The integer in the first column of the only row; nil when there is no row or it holds NULL.
    public func integer(_ sql: String) throws(SQLiteError) -> Int64? {
        var statement = try prepare(sql)
        guard try statement.step() else { return nil }
        return statement.isNull(0) ? nil : statement.integer(0)
    }

    /// The text in the first column of the only row; nil when there is no row or it holds NULL.
    public func text(_ sql: String) throws(SQLiteError) -> String? {
        var statement = try prepare(sql)
        guard try statement.step() else { return nil }
        return statement.isNull(0) ? nil : statement.text(0)
    }

    /// Runs `body` between BEGIN IMMEDIATE and COMMIT; rolls back when `body` or the commit throws.
    public func transaction<Value>(
        _ body: () throws(SQLiteError) -> Value
    ) throws(SQLiteError) -> Value {
        try execute("BEGIN IMMEDIATE")
        do {
            let value = try body()
            try execute("COMMIT")
            return value
        } catch {
            rollBack()
            throw error
        }
    }

    /// Rolls an open transaction back.
    ///
    /// After a full disk SQLite may have done so itself; then nothing happens.
    public func rollBack() {
        guard unsafe sqlite3_get_autocommit(handle) == 0 else { return }
        _ = unsafe sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
    }

    /// The result of a checkpoint.
    public struct Checkpoint: Hashable, Sendable {
        /// Frames in the write-ahead log before.
        public let frameCount: Int
        /// Frames of these that are in the database file now.
        public let movedCount: Int
    }

    /// Moves the write-ahead log into the database file, as far as readers allow, without waiting
    /// for them; with `truncating` the log file is emptied too, if no reader needs it.
    public func checkpoint(truncating: Bool = false) throws(SQLiteError) -> Checkpoint {
        var (frames, moved): (Int32, Int32) = (0, 0)
        let mode = truncating ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
        let code = unsafe sqlite3_wal_checkpoint_v2(handle, nil, mode, &frames, &moved)
        // BUSY means that a reader kept some frames back, which the counts show anyway.
        if code & 0xff != SQLITE_BUSY { try check(code, "checkpoint") }
        return Checkpoint(frameCount: Int(frames), movedCount: Int(moved))
    }

    /// Number of rows changed by the last INSERT, UPDATE or DELETE.
    public var changeCount: Int { Int(unsafe sqlite3_changes64(handle)) }

    /// The rowid of the last row that an INSERT of this connection wrote, 0 before the first.
    public var lastRowID: Int64 { unsafe sqlite3_last_insert_rowid(handle) }

    /// The version of the linked library, `3.40.1`.
    public static var libraryVersion: String { unsafe String(cString: sqlite3_libversion()) }

    func check(_ code: Int32, _ operation: String) throws(SQLiteError) {
        guard code != SQLITE_OK else { return }
        throw unsafe SQLiteError(handle: handle, code: code, operation: operation)
    }
}

extension SQLiteError {
    init(handle: OpaquePointer?, code: Int32, operation: String) {
        let systemCode = unsafe handle.map { unsafe sqlite3_system_errno($0) } ?? 0
        let reason =
            if let handle = unsafe handle, unsafe sqlite3_extended_errcode(handle) == code {
                unsafe String(cString: sqlite3_errmsg(handle))
            } else {
                unsafe String(cString: sqlite3_errstr(code))
            }
        self.init(extendedCode: code, operation: operation, reason: reason, systemCode: systemCode)
    }
}
