// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc
internal import Synchronization

/// A value of a SQLite file.
public enum SQLiteValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    /// The whole number; nil where it is none.
    public var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .real(let value): Int64(exactly: value)
        default: nil
        }
    }

    /// The number; nil where it is none.
    public var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        default: nil
        }
    }

    /// The text; nil where it is none.
    public var text: String? { if case .text(let value) = self { value } else { nil } }
}

/// The functions of SQLite that are used here, of the library that this machine has.
///
/// An app links no SQLite: the library is opened with the first geodatabase.
@safe
private struct SQLiteLibrary: @unchecked Sendable {
    // `@unchecked`: immutable addresses of functions that any thread may call.
    typealias Handle = OpaquePointer
    typealias Function = @convention(c) (Handle?, Int32, UnsafeMutablePointer<Handle?>?) -> Void

    let open:
        @convention(c) (
            UnsafePointer<CChar>?, UnsafeMutablePointer<Handle?>?, Int32, UnsafePointer<CChar>?
        ) -> Int32
    let close: @convention(c) (Handle?) -> Int32
    let prepare:
        @convention(c) (
            Handle?, UnsafePointer<CChar>?, Int32, UnsafeMutablePointer<Handle?>?,
            UnsafeMutablePointer<UnsafePointer<CChar>?>?
        ) -> Int32
    let step: @convention(c) (Handle?) -> Int32
    let finalize: @convention(c) (Handle?) -> Int32
    let isReadOnly: @convention(c) (Handle?) -> Int32
    let bindInteger: @convention(c) (Handle?, Int32, Int64) -> Int32
    let bindReal: @convention(c) (Handle?, Int32, Double) -> Int32
    let bindNull: @convention(c) (Handle?, Int32) -> Int32
    let bindText:
        @convention(c) (Handle?, Int32, UnsafePointer<CChar>?, Int32, UnsafeRawPointer?) -> Int32
    let bindBlob:
        @convention(c) (Handle?, Int32, UnsafeRawPointer?, Int32, UnsafeRawPointer?) -> Int32
    let columnCount: @convention(c) (Handle?) -> Int32
    let columnType: @convention(c) (Handle?, Int32) -> Int32
    let columnInteger: @convention(c) (Handle?, Int32) -> Int64
    let columnReal: @convention(c) (Handle?, Int32) -> Double
    let columnBlob: @convention(c) (Handle?, Int32) -> UnsafeRawPointer?
    let columnByteCount: @convention(c) (Handle?, Int32) -> Int32
    let message: @convention(c) (Handle?) -> UnsafePointer<CChar>?
    let lastRow: @convention(c) (Handle?) -> Int64
    let busyTimeout: @convention(c) (Handle?, Int32) -> Int32
    let onProgress:
        @convention(c) (
            Handle?, Int32, (@convention(c) (UnsafeMutableRawPointer?) -> Int32)?,
            UnsafeMutableRawPointer?
        ) -> Void
    let createFunction:
        @convention(c) (
            Handle?, UnsafePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?, Function?,
            Function?, (@convention(c) (Handle?) -> Void)?
        ) -> Int32
    let valueBlob: @convention(c) (Handle?) -> UnsafeRawPointer?
    let valueByteCount: @convention(c) (Handle?) -> Int32
    let resultReal: @convention(c) (Handle?, Double) -> Void
    let resultInteger: @convention(c) (Handle?, Int32) -> Void
    let resultNull: @convention(c) (Handle?) -> Void
    let userData: @convention(c) (Handle?) -> UnsafeMutableRawPointer?

    /// The library; nil where this machine has none.
    static let shared: SQLiteLibrary? = load()

    private static func load() -> SQLiteLibrary? {
        let names = ["libsqlite3.so.0", "libsqlite3.dylib", "libsqlite3.so"]
        guard let library = unsafe names.lazy.compactMap({ unsafe dlopen($0, RTLD_NOW) }).first
        else { return nil }
        let symbols = unsafe [
            "open_v2", "close_v2", "prepare_v2", "step", "finalize", "stmt_readonly", "bind_int64",
            "bind_double", "bind_null", "bind_text", "bind_blob", "column_count", "column_type",
            "column_int64", "column_double", "column_blob", "column_bytes", "errmsg",
            "last_insert_rowid", "busy_timeout", "progress_handler", "create_function",
            "value_blob", "value_bytes", "result_double", "result_int", "result_null", "user_data",
        ].map { unsafe dlsym(library, "sqlite3_\($0)") }
        guard unsafe symbols.allSatisfy({ unsafe $0 != nil }) else { return nil }
        func function<Type>(_ place: Int) -> Type {
            unsafe unsafeBitCast(symbols[place], to: Type.self)
        }
        return unsafe SQLiteLibrary(
            open: function(0), close: function(1), prepare: function(2), step: function(3),
            finalize: function(4), isReadOnly: function(5), bindInteger: function(6),
            bindReal: function(7), bindNull: function(8), bindText: function(9),
            bindBlob: function(10), columnCount: function(11), columnType: function(12),
            columnInteger: function(13), columnReal: function(14), columnBlob: function(15),
            columnByteCount: function(16), message: function(17), lastRow: function(18),
            busyTimeout: function(19), onProgress: function(20), createFunction: function(21),
            valueBlob: function(22), valueByteCount: function(23), resultReal: function(24),
            resultInteger: function(25), resultNull: function(26),
            userData: function(27))
    }

    /// The functions that the triggers of a spatial index call (GeoPackage 1.2, annex F.3).
    func addFunctions(to database: Handle, _ reader: BoundsReader) {
        let isEmpty: Function = { context, _, values in
            guard let library = SQLiteLibrary.shared else { return }
            guard let bounds = unsafe library.bounds(context, values) else {
                return unsafe library.resultNull(context)
            }
            unsafe library.resultInteger(context, bounds == nil ? 1 : 0)
        }
        let sides: [(String, Function)] = unsafe [
            ("ST_IsEmpty", isEmpty),
            ("ST_MinX", { unsafe SQLiteLibrary.side($0, $2) { $0.minX } }),
            ("ST_MaxX", { unsafe SQLiteLibrary.side($0, $2) { $0.maxX } }),
            ("ST_MinY", { unsafe SQLiteLibrary.side($0, $2) { $0.minY } }),
            ("ST_MaxY", { unsafe SQLiteLibrary.side($0, $2) { $0.maxY } }),
        ]
        let box = unsafe Unmanaged.passUnretained(reader).toOpaque()
        for unsafe(name, function) in unsafe sides {
            // SQLITE_UTF8, DETERMINISTIC.
            _ = unsafe createFunction(database, name, 1, 0x801, box, function, nil, nil)
        }
    }

    /// Around a function's argument: nil for what is no geometry, a nil in it for an empty one.
    private func bounds(
        _ context: Handle?, _ values: UnsafeMutablePointer<Handle?>?
    ) -> SQLiteBounds?? {
        guard let value = unsafe values?[0], let start = unsafe valueBlob(value),
            let box = unsafe userData(context)
        else { return nil }
        let count = unsafe Int(valueByteCount(value))
        let bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
        let reader = unsafe Unmanaged<BoundsReader>.fromOpaque(box).takeUnretainedValue()
        return .some(reader.read(bytes))
    }

    private static func side(
        _ context: Handle?, _ values: UnsafeMutablePointer<Handle?>?,
        _ choose: (SQLiteBounds) -> Double
    ) {
        guard let library = shared else { return }
        guard let bounds = unsafe library.bounds(context, values), let bounds else {
            return unsafe library.resultNull(context)
        }
        unsafe library.resultReal(context, choose(bounds))
    }
}

/// A rectangle around a geometry.
public struct SQLiteBounds: Sendable {
    /// The sides.
    public var minX, minY, maxX, maxY: Double

    /// A rectangle of four sides.
    public init(minX: Double, minY: Double, maxX: Double, maxY: Double) {
        (self.minX, self.minY, self.maxX, self.maxY) = (minX, minY, maxX, maxY)
    }
}

/// What reads the bounds of geometries, for C.
private final class BoundsReader: Sendable {
    let read: @Sendable ([UInt8]) -> SQLiteBounds?

    init(_ read: @escaping @Sendable ([UInt8]) -> SQLiteBounds?) { self.read = read }
}

/// Why a file is not read or written.
public enum SQLiteFileError: Error, Sendable {
    /// This machine has no SQLite.
    case noLibrary
    /// The file cannot be opened; SQLite's code.
    case unopened(Int32)
    /// The file is closed.
    case closed
    /// SQLite refuses a statement, or it is none of the kind that was expected.
    case refused(String)
}

// `@unchecked`: used behind the lock of its file alone.
@safe
private struct Connection: @unchecked Sendable {
    var handle: OpaquePointer
}

/// A SQLite file, read and written by one task at a time.
///
/// The machine's SQLite opens it, loaded with the first file: a program is not linked with it.
public final class DeferredSQLiteFile: Sendable {
    private let connection: Mutex<Connection?>
    private let reader: BoundsReader

    /// Opens a file that is there.
    ///
    /// `bounds` reads a geometry's bounds from its bytes, nil for an empty one and for what is
    /// none: the triggers of a spatial index ask it.
    public init(
        path: String, isWritable: Bool,
        bounds: @escaping @Sendable ([UInt8]) -> SQLiteBounds?
    ) throws(SQLiteFileError) {
        guard let library = SQLiteLibrary.shared else { throw .noLibrary }
        var handle: OpaquePointer?
        // SQLITE_OPEN_READWRITE or READONLY, FULLMUTEX.
        let code = unsafe library.open(path, &handle, (isWritable ? 2 : 1) | 0x1_0000, nil)
        guard code == 0, let handle = unsafe handle else {
            if let handle = unsafe handle { _ = unsafe library.close(handle) }
            throw .unopened(code)
        }
        reader = BoundsReader(bounds)
        _ = unsafe library.busyTimeout(handle, 5_000)
        unsafe library.onProgress(handle, 10_000, { _ in Task.isCancelled ? 1 : 0 }, nil)
        unsafe library.addFunctions(to: handle, reader)
        connection = unsafe Mutex(Connection(handle: handle))
    }

    deinit { close() }

    /// Closes the file; a later question throws.
    public func close() {
        connection.withLock { connection in
            if let connection { _ = unsafe SQLiteLibrary.shared?.close(connection.handle) }
            connection = nil
        }
    }

    /// The rows of a SELECT, up to the one with which `take` is content (true).
    ///
    /// Throws `SQLiteFileError`, what `take` throws, and `CancellationError` in a cancelled task.
    public func rows(
        _ sql: String, _ values: [SQLiteValue] = [], take: ([SQLiteValue]) throws -> Bool
    ) throws {
        try with { library, connection in
            try run(library, connection, sql, values, isQuestion: true, take)
        }
    }

    /// Statements that all happen or none; the row that the first of them inserted.
    @discardableResult
    public func change(_ statements: [(sql: String, values: [SQLiteValue])]) throws -> Int64 {
        try transaction { transaction in
            var row: Int64?
            for (sql, values) in statements {
                try transaction.change(sql, values)
                row = row ?? transaction.lastRow()
            }
            return row ?? 0
        }
    }

    /// Questions and changes that all happen or none.
    ///
    /// Throws what `body` throws, and as ``rows(_:_:take:)``; then nothing has changed. The file's
    /// other users wait meanwhile, so `body` asks the transaction alone.
    public func transaction<Result: Sendable>(
        _ body: (SQLiteTransaction) throws -> Result
    ) throws -> Result {
        try with { library, connection in
            let transaction = SQLiteTransaction { sql, values, take in
                try self.run(library, connection, sql, values, isQuestion: false, take)
            } lastRow: {
                unsafe library.lastRow(connection.handle)
            }
            try transaction.change("BEGIN IMMEDIATE")
            do {
                let result = try body(transaction)
                try transaction.change("COMMIT")
                return result
            } catch {
                try? transaction.change("ROLLBACK")
                throw error
            }
        }
    }

    private func with<Result: Sendable>(
        _ body: (SQLiteLibrary, Connection) throws -> Result
    ) throws -> Result {
        try connection.withLock { connection in
            guard let library = SQLiteLibrary.shared, let connection else {
                throw SQLiteFileError.closed
            }
            return try body(library, connection)
        }
    }

    private func run(
        _ library: SQLiteLibrary, _ connection: Connection, _ sql: String,
        _ values: [SQLiteValue], isQuestion: Bool, _ take: ([SQLiteValue]) throws -> Bool
    ) throws {
        let handle = unsafe connection.handle
        func refusal() -> any Error {
            if Task.isCancelled { return CancellationError() }
            let message = unsafe library.message(handle).map { unsafe String(cString: $0) } ?? ""
            return SQLiteFileError.refused("\(message), in: \(sql.prefix(300))")
        }
        var statement: OpaquePointer?
        guard unsafe library.prepare(handle, sql, -1, &statement, nil) == 0,
            let statement = unsafe statement
        else { throw refusal() }
        defer { _ = unsafe library.finalize(statement) }
        guard unsafe !isQuestion || library.isReadOnly(statement) != 0 else {
            throw SQLiteFileError.refused("expected a question, found: \(sql.prefix(300))")
        }
        for (place, value) in zip(Int32(1)..., values) {
            unsafe bind(library, statement, place, value)
        }
        let count = unsafe library.columnCount(statement)
        while true {
            switch unsafe library.step(statement) {
            case 100:
                let row = (0..<count).map { unsafe Self.value(library, statement, $0) }
                if try take(row) { return }
            case 101: return
            default: throw refusal()
            }
        }
    }

    private func bind(
        _ library: SQLiteLibrary, _ statement: OpaquePointer, _ place: Int32, _ value: SQLiteValue
    ) {
        // SQLITE_TRANSIENT: SQLite takes a copy.
        let copy = unsafe UnsafeRawPointer(bitPattern: -1)
        switch value {
        case .null: _ = unsafe library.bindNull(statement, place)
        case .integer(let value): _ = unsafe library.bindInteger(statement, place, value)
        case .real(let value): _ = unsafe library.bindReal(statement, place, value)
        case .text(let value):
            _ = unsafe library.bindText(statement, place, value, Int32(value.utf8.count), copy)
        case .blob(let value):
            _ = unsafe value.withUnsafeBytes { bytes in
                unsafe library.bindBlob(
                    statement, place, bytes.baseAddress, Int32(bytes.count), copy)
            }
        }
    }

    private static func value(
        _ library: SQLiteLibrary, _ statement: OpaquePointer, _ column: Int32
    ) -> SQLiteValue {
        func bytes() -> [UInt8] {
            guard let start = unsafe library.columnBlob(statement, column) else { return [] }
            let count = unsafe Int(library.columnByteCount(statement, column))
            return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
        }
        switch unsafe library.columnType(statement, column) {
        case 1: return unsafe .integer(library.columnInteger(statement, column))
        case 2: return unsafe .real(library.columnReal(statement, column))
        case 3: return .text(String(decoding: bytes(), as: UTF8.self))
        case 4: return .blob(bytes())
        default: return .null
        }
    }
}

/// A transaction of a ``DeferredSQLiteFile``, of no use after it.
public struct SQLiteTransaction {
    private let run: (String, [SQLiteValue], ([SQLiteValue]) throws -> Bool) throws -> Void
    fileprivate let lastRow: () -> Int64

    fileprivate init(
        _ run: @escaping (String, [SQLiteValue], ([SQLiteValue]) throws -> Bool) throws -> Void,
        lastRow: @escaping () -> Int64
    ) {
        self.run = run
        self.lastRow = lastRow
    }

    /// All rows of a SELECT; throws as ``DeferredSQLiteFile/rows(_:_:take:)``.
    public func rows(_ sql: String, _ values: [SQLiteValue] = []) throws -> [[SQLiteValue]] {
        var all: [[SQLiteValue]] = []
        try run(sql, values) { row in
            all.append(row)
            return false
        }
        return all
    }

    /// Runs a statement; throws as ``DeferredSQLiteFile/rows(_:_:take:)``.
    public func change(_ sql: String, _ values: [SQLiteValue] = []) throws {
        try run(sql, values) { _ in false }
    }
}
