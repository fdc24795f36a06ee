// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Platform
import SQLite

/// Looks for references that would lead GDAL out of a file that it is about to open.
struct SourceExamination {
    let path: String
    /// Name in messages.
    let name: String

    /// The first bytes of a file; none where it cannot be read.
    static func beginning(of path: String) -> [UInt8] {
        guard let file = try? MappedFile(path: path) else { return [] }
        return file.copy(0..<min(file.byteCount, 4096))
    }

    private static let database = Array("SQLite format 3\0".utf8)

    /// Whether it is a database of SQLite that is not whole without the files beside it.
    static func isDatabaseWithLog(_ path: String, _ beginning: [UInt8]) -> Bool {
        guard beginning.starts(with: database), beginning.count > 20 else { return false }
        // The format's version for reading: 2 with a write-ahead log.
        return beginning[19] == 2 || FileSystem.byteCount(of: path + "-journal") ?? 0 > 0
    }

    /// Throws `unreadable` for a database with virtual tables that reach beyond it, for a document
    /// that declares its type, and for a table of MapInfo that is a view of others.
    func examine(_ beginning: [UInt8]) throws(Failure) {
        if beginning.starts(with: Self.database) { try examineDatabase() }
        try examineDocument(beginning)
        try examineTable()
    }

    // MARK: SQLite

    /// Modules whose tables keep all their data in the database: SQLite's own, and those of every
    /// SpatiaLite database.
    private static let modules: Set<String> = [
        "rtree", "rtree_i32", "fts3", "fts4", "fts5", "virtualspatialindex", "virtualelementary",
        "virtualknn", "virtualknn2",
    ]

    private func examineDatabase() throws(Failure) {
        var found: [(table: String, module: String)] = []
        do throws(SQLiteError) {
            let connection = try Connection(path: path, mode: .read)
            try connection.execute("PRAGMA trusted_schema = OFF")
            var tables = try connection.prepare("PRAGMA table_list")
            var virtual: [String] = []
            while try tables.step() {
                if tables.text(0) == "main", tables.text(2) == "virtual" {
                    virtual.append(tables.text(1))
                }
            }
            var text = try connection.prepare(
                "SELECT sql FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE AND type = 'table'")
            for table in virtual {
                try text.bind(1, table)
                let sql = try text.step() ? text.text(0) : ""
                text.reset()
                found.append((table, Self.module(of: sql)))
            }
        } catch {
            throw Failure(.unreadable, "cannot open '\(name)': \(error.description)")
        }
        for (table, module) in found where !Self.modules.contains(module.lowercased()) {
            throw Failure(
                .unreadable,
                "'\(name)': table '\(table)' is a virtual table of the module '\(module)', which "
                    + "may "
                    + "read other files: expected tables, or virtual tables of R-trees and full "
                    + "texts"
            )
        }
    }

    /// The word behind USING in a statement that makes a virtual table; empty where it is not
    /// found.
    ///
    /// Comments are blanks there, and the table's name may be quoted.
    static func module(of sql: String) -> String {
        var words = SQLWords(sql)
        while let word = words.next() {
            guard word.text.lowercased() == "using", !word.isQuoted else { continue }
            return words.next()?.text ?? ""
        }
        return ""
    }

    /// Most steps of SQLite in one of the tables of a GeoPackage's own, each of which may be a view
    /// without an end.
    private static let stepLimit: Int64 = 100_000_000

    /// The spatial reference of a table in a GeoPackage: its `srs_id` and its definition; nil for
    /// none.
    static func spatialReference(
        ofTable table: String, at path: String
    ) -> (number: Int, definition: String)? {
        StepBound.run(stepLimit) {
            do throws(SQLiteError) {
                let connection = try Connection(path: path, mode: .read)
                try connection.execute("PRAGMA trusted_schema = OFF")
                var row = try connection.prepare(
                    """
                    SELECT s.srs_id, s.definition FROM gpkg_geometry_columns g
                    JOIN gpkg_spatial_ref_sys s ON s.srs_id = g.srs_id
                    WHERE g.table_name = ?1 COLLATE NOCASE
                    """)
                try row.bind(1, table)
                guard try row.step() else { return nil }
                return (Int(row.integer(0)), row.text(1))
            } catch {
                return nil
            }
        }
    }

    /// The default style of a table in a GeoPackage, QML and SLD, each empty for none; nil without
    /// a row for the table in `layer_styles`.
    static func style(ofTable table: String, at path: String) -> (qml: String, sld: String)? {
        StepBound.run(stepLimit) {
            do throws(SQLiteError) {
                let connection = try Connection(path: path, mode: .read)
                try connection.execute("PRAGMA trusted_schema = OFF")
                var row = try connection.prepare(
                    """
                    SELECT coalesce(styleQML, ''), coalesce(styleSLD, '') FROM layer_styles
                    WHERE f_table_name = ?1 COLLATE NOCASE
                    ORDER BY coalesce(useAsDefault, 0) DESC LIMIT 1
                    """)
                try row.bind(1, table)
                return try row.step() ? (row.text(0), row.text(1)) : nil
            } catch {
                // Most databases have no such table.
                return nil
            }
        }
    }

    // MARK: XML

    /// Encodings in which markup is written with the bytes of ASCII.
    private static let encodings = [
        "utf-8", "utf8", "us-ascii", "ascii", "iso-8859-", "iso8859-", "latin", "windows-125",
        "cp125", "koi8-",
    ]

    func examineDocument(_ beginning: [UInt8]) throws(Failure) {
        for mark: [UInt8] in [[0xFE, 0xFF], [0xFF, 0xFE], [0, 0x3C], [0x3C, 0]]
        where beginning.starts(with: mark) {
            // GDAL may read tables of text in UTF-16.
            guard beginning.contains(0x3C), beginning.contains(0x3E) else { return }
            throw Failure(.unreadable, "'\(name)' is XML in UTF-16: expected UTF-8")
        }
        guard let file = try mapped() else { return }
        let prolog = file.withBytes { XMLProlog($0) }
        if let encoding = prolog.encoding,
            !Self.encodings.contains(where: encoding.lowercased().hasPrefix)
        {
            throw Failure(
                .unreadable, "'\(name)' is XML in '\(encoding.prefix(40))': expected UTF-8")
        }
        guard !prolog.hasDocumentType else {
            throw Failure(
                .unreadable,
                "'\(name)' has a DOCTYPE, which can name entities in other files: expected XML "
                    + "without one")
        }
    }

    /// The mapped file, nil for an empty one; throws `unreadable` when it cannot be mapped.
    private func mapped() throws(Failure) -> MappedFile? {
        do throws(MappingError) {
            let file = try MappedFile(path: path)
            return file.byteCount == 0 ? nil : file
        } catch {
            throw Failure(
                .unreadable, "'\(name)' cannot be examined before it is opened: \(error)")
        }
    }

    // MARK: MapInfo

    /// Largest size of such a file, which has a line for each column.
    private static let tableByteCount = 1 << 20

    func examineTable() throws(Failure) {
        guard FileName.ending(path) == "tab", let file = try mapped() else { return }
        let beginning = file.copy(0..<min(file.byteCount, Self.tableByteCount))
        guard file.byteCount <= Self.tableByteCount else {
            throw Failure(
                .unreadable,
                "'\(name)' has \(file.byteCount) bytes: expected a table of MapInfo with at most "
                    + "\(Self.tableByteCount), a line for each column")
        }
        let text = String(decoding: beginning, as: UTF8.self).lowercased()
        for mark in ["create view", "open table", "\\isseamless"] where text.contains(mark) {
            throw Failure(
                .unreadable,
                "'\(name)' is a view of other tables (MapInfo's '\(mark)'): expected a table with "
                    + "its own data")
        }
    }
}

/// The words of an SQL statement, without its comments.
struct SQLWords {
    private var rest: Substring.UnicodeScalarView

    init(_ sql: String) { rest = Substring(sql).unicodeScalars }

    /// The next word, or a single other character; nil at the end.
    mutating func next() -> (text: String, isQuoted: Bool)? {
        skipBlanks()
        guard let first = rest.popFirst() else { return nil }
        let closings: [Unicode.Scalar: Unicode.Scalar] = [
            "\"": "\"", "'": "'", "`": "`", "[": "]",
        ]
        if let closing = closings[first] {
            var text = ""
            while let scalar = rest.popFirst() {
                if scalar == closing {
                    guard closing != "]", rest.first == closing else { break }
                    rest.removeFirst()
                }
                text.unicodeScalars.append(scalar)
            }
            return (text, true)
        }
        var text = String(first)
        guard Self.isPart(first) else { return (text, false) }
        while let scalar = rest.first, Self.isPart(scalar) {
            text.unicodeScalars.append(scalar)
            rest.removeFirst()
        }
        return (text, false)
    }

    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x80 || scalar == "_" || scalar == "$"
            || scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
    }

    private mutating func skipBlanks() {
        while let first = rest.first {
            if first.value <= 0x20 {
                rest.removeFirst()
            } else if rest.starts(with: "--".unicodeScalars) {
                rest = rest.drop { $0 != "\n" }
            } else if rest.starts(with: "/*".unicodeScalars) {
                rest = rest.dropFirst(2)
                while !rest.isEmpty, !rest.starts(with: "*/".unicodeScalars) { rest.removeFirst() }
                rest = rest.dropFirst(2)
            } else {
                return
            }
        }
    }
}

/// The prolog of an XML document: everything before its first element.
struct XMLProlog {
    /// The encoding that it states; nil where it states none.
    private(set) var encoding: String?
    /// Whether there is `<!DOCTYPE`, or another declaration.
    private(set) var hasDocumentType = false

    /// Reads no more than the prolog; of other files no more than their first bytes.
    init(_ bytes: RawSpan) {
        var place = Self.starts(bytes, at: 0, [0xEF, 0xBB, 0xBF]) ? 3 : 0
        while true {
            while place < bytes.byteCount, Self.byte(bytes, place) <= 0x20 { place += 1 }
            if Self.starts(bytes, at: place, Array("<?".utf8)) {
                let end = Self.end(bytes, from: place + 2, of: Array("?>".utf8))
                if encoding == nil { encoding = Self.encoding(bytes, place..<end) }
                place = end
            } else if Self.starts(bytes, at: place, Array("<!--".utf8)) {
                place = Self.end(bytes, from: place + 4, of: Array("-->".utf8))
            } else {
                hasDocumentType = Self.starts(bytes, at: place, Array("<!".utf8))
                return
            }
        }
    }

    private static func byte(_ bytes: RawSpan, _ place: Int) -> UInt8 {
        unsafe bytes.unsafeLoad(fromByteOffset: place, as: UInt8.self)
    }

    private static func starts(_ bytes: RawSpan, at place: Int, _ text: [UInt8]) -> Bool {
        place + text.count <= bytes.byteCount
            && text.indices.allSatisfy { byte(bytes, place + $0) == text[$0] }
    }

    /// The end of the next occurrence of a text; the end of all for none.
    private static func end(_ bytes: RawSpan, from start: Int, of text: [UInt8]) -> Int {
        var place = start
        while place + text.count <= bytes.byteCount {
            if starts(bytes, at: place, text) { return place + text.count }
            place += 1
        }
        return bytes.byteCount
    }

    /// The value of `encoding=` in a piece of at most a kibibyte.
    private static func encoding(_ bytes: RawSpan, _ range: Range<Int>) -> String? {
        let piece = range.prefix(1024).map { byte(bytes, $0) }
        let text = String(decoding: piece, as: UTF8.self)
        guard text.hasPrefix("<?xml"),
            let match = text.firstMatch(of: /encoding\s*=\s*["']([^"']*)["']/)
        else { return nil }
        return String(match.1)
    }
}
