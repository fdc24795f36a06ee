// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import GDAL
import Platform
import Tables

/// A table of text, read by its own rules and rewritten in a form that GDAL reads without guessing:
/// UTF-8, commas, every field in quotes, columns of distinct names.
struct TableSource {
    private static let recordLimit = 64 << 20
    private static let blockByteCount = 1 << 20

    private let form: TableForm
    private(set) var types = ColumnTypes()
    private var names: [String] = []
    private var facts: [TextFacts] = []
    private var rowCount = 0
    private var surplus: (count: Int, row: Int) = (0, 0)
    private var missing: (count: Int, row: Int) = (0, 0)
    /// Numbers of non-empty fields with and without quotes.
    private var quoted = 0
    private var bare = 0
    private var waiting: [UInt8] = []
    private var written = 0

    /// Writes the file `target` from the table `path`; nil for anything but a table of several
    /// columns.
    ///
    /// Throws `invalidParameter` where it lacks a column of `geometry`.
    init?(_ path: String, to target: String, geometry: GeometryColumns? = nil) throws {
        let file = try MappedFile(path: path)
        form = TableForm(file)
        let output = try OutputFile(creating: target)
        var scanner = form.scanner(at: form.start, limit: Self.recordLimit)
        func take(_ record: CSVScanner.Record) throws {
            if record.number == 0 {
                begin(record)
                try geometry?.check(names)
            } else {
                self.take(record)
            }
            if waiting.count >= Self.blockByteCount { try flush(output) }
        }
        for start in stride(from: form.start, to: file.byteCount, by: 256 << 10) {
            let piece = file.copy(start..<min(start + (256 << 10), file.byteCount))
            try scanner.feed(piece, take)
            if names.count == 1, geometry == nil, !Self.isGeometry(names[0]), rowCount > 0 {
                return nil
            }
        }
        try scanner.finish(take)
        guard !names.isEmpty else { return nil }
        try flush(output)
        decide()
    }

    private static func isGeometry(_ name: String) -> Bool {
        ["wkt", "the_geom", "geom", "geometry"].contains(name.lowercased())
    }

    private mutating func begin(_ header: CSVScanner.Record) {
        var taken: Set<String> = []
        // The last suffix of each name, so that the search for the next does not start at the
        // first.
        var met: [String: Int] = [:]
        for (index, field) in header.fields.enumerated() {
            let stated = String(decoding: TextValue.trimmed(field), as: UTF8.self)
            let base = stated.isEmpty ? "field_\(index + 1)" : stated
            var name = base
            var number = met[base.lowercased(), default: 1]
            while !taken.insert(name.lowercased()).inserted {
                number += 1
                name = "\(base)_\(number)"
            }
            met[base.lowercased()] = number
            if stated.isEmpty {
                types.fileNotes.append("column \(index + 1) has no name and was named '\(name)'")
            } else if name != base {
                types.fileNotes.append(
                    "column \(index + 1) has the name '\(base)' of another and was named '\(name)'")
            }
            names.append(name)
            var facts = TextFacts()
            facts.mayHaveDecimalComma = form.separator != UInt8(ascii: ",")
            self.facts.append(facts)
        }
        write(names.map { Array($0.utf8) })
    }

    private mutating func take(_ record: CSVScanner.Record) {
        rowCount += 1
        var fields = record.fields
        if fields.count > names.count {
            // A separator at the end of every line is no cell.
            if fields[names.count...].contains(where: { !$0.isEmpty }) {
                if surplus.count == 0 { surplus.row = rowCount }
                surplus.count += 1
            }
            fields.removeLast(fields.count - names.count)
        } else if fields.count < names.count {
            if missing.count == 0 { missing.row = rowCount }
            missing.count += 1
        }
        for index in names.indices {
            let isThere = index < fields.count
            let isQuoted = isThere && record.areQuoted[index]
            if isThere, !fields[index].isEmpty {
                if isQuoted { quoted += 1 } else { bare += 1 }
            }
            facts[index].take(isThere ? fields[index] : nil, isQuoted: isQuoted)
        }
        write(fields)
    }

    private mutating func write(_ fields: [[UInt8]]) {
        let quote = UInt8(ascii: "\"")
        for (index, field) in fields.enumerated() {
            if index > 0 { waiting.append(UInt8(ascii: ",")) }
            waiting.append(quote)
            for byte in field {
                if byte == quote { waiting.append(quote) }
                // A text ends at a zero for GDAL.
                if byte == 0 { waiting += "\u{FFFD}".utf8 } else { waiting.append(byte) }
            }
            waiting.append(quote)
        }
        waiting.append(UInt8(ascii: "\n"))
    }

    private mutating func flush(_ output: borrowing OutputFile) throws {
        try output.write(waiting, at: written)
        written += waiting.count
        waiting.removeAll(keepingCapacity: true)
    }

    private mutating func decide() {
        if let note = form.note { types.fileNotes.append(note) }
        types.encoding = SourceEncoding(
            form.encoding, isMarked: form.start > 0 && !form.isGuess, isGuess: form.isGuess)
        if surplus.count > 0 {
            types.fileNotes.append(
                "\(surplus.count) rows have more fields than the header, the first of them row "
                    + "\(surplus.row): the surplus ones were left out")
        }
        if missing.count > 0 {
            types.fileNotes.append(
                "\(missing.count) rows have fewer fields than the header, the first of them row "
                    + "\(missing.row): the missing ones are null")
        }
        // In files that quote every field, quotes have no meaning.
        let quotesMeanText = bare > 0
        for (index, name) in names.enumerated() {
            facts[index].quotesMeanText = quotesMeanText
            types.kinds[name] = facts[index].kind
            if facts[index].hasCommas { types.decimalCommas.insert(name) }
            if let note = facts[index].note {
                types.notes.append(
                    (name, note + "; '--field \(name):TYPE' states another type"))
            }
        }
    }

    /// The types stated by a `.csvt` file, by place: `"Integer(10)","String","Date"`; nil for an
    /// unknown word.
    static func statedKinds(_ path: String) -> [SourceField.Kind?] {
        guard let file = try? MappedFile(path: path), file.byteCount <= 1 << 20 else { return [] }
        var kinds: [SourceField.Kind?] = []
        var scanner = CSVScanner(limit: 1 << 20)
        func take(_ record: CSVScanner.Record) {
            guard record.number == 0 else { return }
            kinds = record.fields.map { kind(String(decoding: $0, as: UTF8.self)) }
        }
        try? scanner.feed(file.copy(0..<file.byteCount), take)
        try? scanner.finish(take)
        return kinds
    }

    private static func kind(_ text: String) -> SourceField.Kind? {
        let word = text.lowercased().filter { $0 != " " }
        switch word.prefix(while: { $0 != "(" }) {
        case "integer":
            return word == "integer(int16)" || word == "integer(boolean)" ? .integer16 : .integer32
        case "integer64": return .integer64
        case "real": return word == "real(float32)" ? .real32 : .real64
        case "string", "time": return .text
        case "date", "datetime": return .date
        default: return nil
        }
    }

    /// Applies the types stated by a `.csvt` file, those of coordinates apart.
    mutating func state(_ kinds: [SourceField.Kind?]) {
        for (name, kind) in zip(names, kinds) {
            if let kind { types.statements.append(FieldStatement(name: name, kind: kind)) }
        }
    }
}
