// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CSQLite

/// A compiled statement: bind, step through the rows, reset, again.
///
/// Parameters count from 1 as in SQL, columns from 0. Columns may be read only after `step` has
/// returned true. Bound to its connection's thread.
@safe
public struct Statement: ~Copyable {
    private let connection: Connection
    private let handle: OpaquePointer
    /// The length of the text it was compiled from, for error messages.
    private let sql: String

    init(connection: Connection, sql: String) throws(SQLiteError) {
        var compiled: OpaquePointer?
        let code = unsafe sqlite3_prepare_v3(
            connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &compiled, nil)
        try connection.check(code, "prepare '\(sql.prefix(60))'")
        guard let compiled = unsafe compiled else {
            throw SQLiteError(
                extendedCode: 21, operation: "prepare", reason: "no statement in text")
        }
        unsafe handle = compiled
        self.connection = connection
        self.sql = sql
    }

    deinit { _ = unsafe sqlite3_finalize(handle) }

    /// Advances to the next row; false at the end.
    public mutating func step() throws(SQLiteError) -> Bool {
        let code = unsafe sqlite3_step(handle)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default:
            let error = unsafe SQLiteError(
                handle: connection.handle, code: code, operation: "step '\(sql.prefix(60))'")
            reset()
            throw error
        }
    }

    /// Runs the statement to its end, ignoring rows, and makes it ready for the next use.
    public mutating func run() throws(SQLiteError) {
        while try step() {}
        reset()
    }

    /// Resets the statement, so that it can be bound and run again; bound values are cleared.
    public mutating func reset() {
        _ = unsafe sqlite3_reset(handle)
        _ = unsafe sqlite3_clear_bindings(handle)
    }

    /// Whether SQLite has sorted rows for it, ever.
    var hasSorted: Bool { unsafe sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_SORT, 0) > 0 }

    // MARK: Binding

    /// Binds an integer.
    public mutating func bind(_ parameter: Int, _ value: Int64) throws(SQLiteError) {
        try connection.check(unsafe sqlite3_bind_int64(handle, Int32(parameter), value), "bind")
    }

    /// Binds text, copied.
    public mutating func bind(_ parameter: Int, _ value: String) throws(SQLiteError) {
        var text = value
        let code = text.withUTF8 { buffer in
            unsafe buffer.withMemoryRebound(to: CChar.self) { characters in
                unsafe sqlite3_bind_text(
                    handle, Int32(parameter), characters.baseAddress,
                    Int32(characters.count), copied)
            }
        }
        try connection.check(code, "bind")
    }

    /// Binds bytes, copied; an empty array is an empty blob, not NULL.
    public mutating func bind(_ parameter: Int, _ value: [UInt8]) throws(SQLiteError) {
        let code = unsafe value.withUnsafeBytes { buffer in
            unsafe bindBytes(parameter, buffer)
        }
        try connection.check(code, "bind")
    }

    /// Binds bytes, copied; an empty span is an empty blob, not NULL.
    public mutating func bind(_ parameter: Int, _ value: RawSpan) throws(SQLiteError) {
        let code = unsafe value.withUnsafeBytes { buffer in
            unsafe bindBytes(parameter, buffer)
        }
        try connection.check(code, "bind")
    }

    private func bindBytes(_ parameter: Int, _ buffer: UnsafeRawBufferPointer) -> Int32 {
        guard let base = buffer.baseAddress, buffer.count > 0 else {
            return unsafe sqlite3_bind_zeroblob(handle, Int32(parameter), 0)
        }
        return unsafe sqlite3_bind_blob64(
            handle, Int32(parameter), base, UInt64(buffer.count), copied)
    }

    /// Binds NULL.
    public mutating func bindNull(_ parameter: Int) throws(SQLiteError) {
        try connection.check(unsafe sqlite3_bind_null(handle, Int32(parameter)), "bind")
    }

    /// Parameters of one run; see `run(times:lending:)`.
    @safe
    public struct Row: ~Copyable {
        fileprivate let connection: Connection
        fileprivate let handle: OpaquePointer
        fileprivate let bytes: UnsafeRawBufferPointer

        /// Binds an integer.
        public func bind(_ parameter: Int, _ value: Int64) throws(SQLiteError) {
            try connection.check(
                unsafe sqlite3_bind_int64(handle, Int32(parameter), value), "bind")
        }

        /// Binds some of the lent bytes as a blob; none are an empty blob, not NULL.
        public func bind(_ parameter: Int, blob range: Range<Int>) throws(SQLiteError) {
            let part = unsafe UnsafeRawBufferPointer(rebasing: bytes[range])
            let code =
                if let base = part.baseAddress, part.count > 0 {
                    unsafe sqlite3_bind_blob64(
                        handle, Int32(parameter), base, UInt64(part.count), nil)
                } else {
                    unsafe sqlite3_bind_zeroblob(handle, Int32(parameter), 0)
                }
            try connection.check(code, "bind")
        }

        /// Binds some of the lent bytes as text.
        public func bind(_ parameter: Int, text range: Range<Int>) throws(SQLiteError) {
            let part = unsafe UnsafeRawBufferPointer(rebasing: bytes[range])
            let code = unsafe sqlite3_bind_text(
                handle, Int32(parameter), part.assumingMemoryBound(to: CChar.self).baseAddress,
                Int32(part.count), nil)
            try connection.check(code, "bind")
        }
    }

    /// Runs the statement so many times, ignoring rows, with parameters that are ranges of these
    /// bytes, not copied.
    ///
    /// `bind` binds all of them for each run, counted from 0; all are cleared before this returns.
    public mutating func run(
        times: Int, lending bytes: RawSpan,
        _ bind: (borrowing Row, _ time: Int) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        defer { reset() }
        let result = unsafe bytes.withUnsafeBytes { buffer in
            Result { () throws(SQLiteError) in
                let row = unsafe Row(connection: connection, handle: handle, bytes: buffer)
                for time in 0..<times {
                    try bind(row, time)
                    while try step() {}
                    _ = unsafe sqlite3_reset(handle)
                }
            }
        }
        try result.get()
    }

    // MARK: Columns

    /// Whether the column holds NULL.
    public func isNull(_ column: Int) -> Bool {
        unsafe sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL
    }

    /// The column as an integer; 0 for NULL.
    public func integer(_ column: Int) -> Int64 {
        unsafe sqlite3_column_int64(handle, Int32(column))
    }

    /// The column as text, with broken UTF-8 repaired; empty for NULL.
    public func text(_ column: Int) -> String {
        guard let text = unsafe sqlite3_column_text(handle, Int32(column)) else { return "" }
        let count = Int(unsafe sqlite3_column_bytes(handle, Int32(column)))
        return unsafe String(
            decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
    }

    /// A copy of the column's bytes; empty for NULL.
    public func bytes(_ column: Int) -> [UInt8] {
        guard let bytes = unsafe sqlite3_column_blob(handle, Int32(column)) else { return [] }
        let count = Int(unsafe sqlite3_column_bytes(handle, Int32(column)))
        return unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
    }

    /// Lends the bytes of the column's text or blob, as stored; none for NULL.
    public func withBytes<Value>(_ column: Int, _ body: (RawSpan) -> Value) -> Value {
        let start = unsafe sqlite3_column_blob(handle, Int32(column))
        let count = Int(unsafe sqlite3_column_bytes(handle, Int32(column)))
        let buffer = unsafe UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
        return unsafe body(buffer.bytes)
    }

    /// Byte count of the column's text or blob.
    public func byteCount(_ column: Int) -> Int {
        Int(unsafe sqlite3_column_bytes(handle, Int32(column)))
    }
}

/// `SQLITE_TRANSIENT`: SQLite copies the bytes before the call returns.
private var copied: sqlite3_destructor_type {
    unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}
