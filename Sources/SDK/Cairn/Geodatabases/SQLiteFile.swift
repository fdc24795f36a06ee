// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// A value of a SQLite file.
enum SQLiteValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .real(let value): Int64(exactly: value)
        default: nil
        }
    }

    var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        default: nil
        }
    }

    var text: String? { if case .text(let value) = self { value } else { nil } }
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
            "value_blob", "value_bytes", "result_double", "result_int", "result_null",
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
            resultInteger: function(25), resultNull: function(26))
    }

    /// The functions that the triggers of a spatial index call (GeoPackage 1.2, annex F.3).
    func addFunctions(to database: Handle) {
        let isEmpty: Function = { context, _, values in
            unsafe SQLiteLibrary.answer(context, values) { unsafe $0($1, $2 == nil ? 1 : 0) }
        }
        _ = unsafe createFunction(database, "ST_IsEmpty", 1, 0x801, nil, isEmpty, nil, nil)
        let sides: [(String, Function)] = unsafe [
            ("ST_MinX", { unsafe SQLiteLibrary.side($0, $2) { $0.xMin } }),
            ("ST_MaxX", { unsafe SQLiteLibrary.side($0, $2) { $0.xMax } }),
            ("ST_MinY", { unsafe SQLiteLibrary.side($0, $2) { $0.yMin } }),
            ("ST_MaxY", { unsafe SQLiteLibrary.side($0, $2) { $0.yMax } }),
        ]
        for unsafe(name, function) in unsafe sides {
            _ = unsafe createFunction(database, name, 1, 0x801, nil, function, nil, nil)
        }
    }

    private static func bounds(_ values: UnsafeMutablePointer<Handle?>?) -> Envelope?? {
        guard let library = shared, let value = unsafe values?[0],
            let start = unsafe library.valueBlob(value)
        else { return nil }
        let count = unsafe Int(library.valueByteCount(value))
        let bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
        guard let geometry = try? GeoPackageGeometry.read(bytes, nil) else { return .some(nil) }
        return .some(geometry.isEmpty ? nil : geometry.extent)
    }

    private static func answer(
        _ context: Handle?, _ values: UnsafeMutablePointer<Handle?>?,
        _ give: (@convention(c) (Handle?, Int32) -> Void, Handle?, Envelope?) -> Void
    ) {
        guard let library = shared else { return }
        guard let bounds = unsafe bounds(values) else { return unsafe library.resultNull(context) }
        unsafe give(library.resultInteger, context, bounds)
    }

    private static func side(
        _ context: Handle?, _ values: UnsafeMutablePointer<Handle?>?,
        _ choose: (Envelope) -> Double
    ) {
        guard let library = shared else { return }
        guard let bounds = unsafe bounds(values), let bounds else {
            return unsafe library.resultNull(context)
        }
        unsafe library.resultReal(context, choose(bounds))
    }
}

@safe
private struct Connection: @unchecked Sendable {
    // `@unchecked`: used behind the lock of its file alone.
    var handle: OpaquePointer
}

/// A SQLite file, read and written by one task at a time.
final class SQLiteFile: Sendable {
    private let url: URL
    private let connection: Guarded<Connection?>

    /// Opens a file for reading, and for writing where the machine allows it.
    ///
    /// Throws ``CairnError``: `file` where it cannot be opened, `unsupported` on a machine without
    /// SQLite.
    init(_ url: URL) throws {
        self.url = url
        guard let library = SQLiteLibrary.shared else {
            throw CairnError(
                .unsupported,
                "'\(url.path(percentEncoded: false))' cannot be read: this machine has no library "
                    + "libsqlite3")
        }
        let path = url.path(percentEncoded: false)
        let isWritable = FileManager.default.isWritableFile(atPath: path)
        var handle: OpaquePointer?
        // SQLITE_OPEN_READWRITE or READONLY, FULLMUTEX.
        let code = unsafe library.open(path, &handle, (isWritable ? 2 : 1) | 0x1_0000, nil)
        guard code == 0, let handle = unsafe handle else {
            if let handle = unsafe handle { _ = unsafe library.close(handle) }
            throw CairnError(.file, "'\(path)' cannot be opened: SQLite's error \(code)")
        }
        _ = unsafe library.busyTimeout(handle, 5_000)
        unsafe library.onProgress(handle, 10_000, { _ in Task.isCancelled ? 1 : 0 }, nil)
        unsafe library.addFunctions(to: handle)
        connection = unsafe Guarded(Connection(handle: handle))
    }

    deinit { close() }

    /// Closes the file; a later question throws.
    func close() {
        connection.withLock { connection in
            if let connection { _ = unsafe SQLiteLibrary.shared?.close(connection.handle) }
            connection = nil
        }
    }

    /// The rows of a SELECT, up to the one with which `take` is content (true).
    ///
    /// Throws ``CairnError`` (`invalidArgument`) for another statement, and for one that SQLite
    /// refuses; `CancellationError` in a cancelled task.
    func rows(
        _ sql: String, _ values: [SQLiteValue] = [], take: ([SQLiteValue]) throws -> Bool
    ) throws {
        try with { library, connection in
            try run(library, connection, sql, values, isQuestion: true, take)
        }
    }

    /// All rows of a SELECT.
    func rows(_ sql: String, _ values: [SQLiteValue] = []) throws -> [[SQLiteValue]] {
        var all: [[SQLiteValue]] = []
        try rows(sql, values) { row in
            all.append(row)
            return false
        }
        return all
    }

    /// Statements that all happen or none; the row that the first of them inserted.
    @discardableResult
    func change(_ statements: [(sql: String, values: [SQLiteValue])]) throws -> Int64 {
        try with { library, connection in
            func run(_ sql: String, _ values: [SQLiteValue] = []) throws {
                try self.run(library, connection, sql, values, isQuestion: false) { _ in false }
            }
            try run("BEGIN IMMEDIATE")
            do {
                var row: Int64?
                for (sql, values) in statements {
                    try run(sql, values)
                    row = unsafe row ?? library.lastRow(connection.handle)
                }
                try run("COMMIT")
                return row ?? 0
            } catch {
                try? run("ROLLBACK")
                throw error
            }
        }
    }

    private func with<Result: Sendable>(
        _ body: (SQLiteLibrary, Connection) throws -> Result
    ) throws -> Result {
        try connection.withLock { connection in
            guard let library = SQLiteLibrary.shared, let connection else {
                throw CairnError(
                    .invalidState, "'\(url.path(percentEncoded: false))' is closed")
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
            return CairnError(
                .invalidArgument,
                "'\(url.path(percentEncoded: false))': \(message), in: \(sql.prefix(300))")
        }
        var statement: OpaquePointer?
        guard unsafe library.prepare(handle, sql, -1, &statement, nil) == 0,
            let statement = unsafe statement
        else { throw refusal() }
        defer { _ = unsafe library.finalize(statement) }
        guard unsafe !isQuestion || library.isReadOnly(statement) != 0 else {
            throw CairnError(.invalidArgument, "expected a question, found: \(sql.prefix(300))")
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

extension String {
    /// The text as a name in SQL.
    var quotedName: String { "\"" + replacingOccurrences(of: "\"", with: "\"\"") + "\"" }
}
