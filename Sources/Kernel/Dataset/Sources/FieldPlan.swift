// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import GDAL
import Tables

/// A mapping of a source's columns to those of a dataset.
struct FieldPlan {
    /// The source column that holds the object id; nil when the feature's number or a new number is
    /// the object id.
    let objectIDColumn: Int?
    /// The columns after the object id, as they will be written.
    let fields: [SourceField]
    /// The source's column for each of `fields`.
    let columns: [Int]
    /// Notes on changes.
    let notes: [String]

    private let sourceKinds: [SourceField.Kind]
    private let decimalCommas: Set<Int>
    /// Values that are not kept as they were.
    let losses = ValueLosses()

    /// The place of the source's own number for a feature among `columns`.
    private static let ownNumber = -1

    /// Plans the columns.
    ///
    /// - Parameters:
    ///   - types: Further knowledge about the columns.
    ///   - usesObjectIDColumn: Whether the column named like the object id holds valid ids;
    ///     otherwise it is kept under another name.
    ///   - sourceID: Name for the column of the source's own numbers; nil for none.
    init(
        _ source: [SourceField], _ types: ColumnTypes = ColumnTypes(), usesObjectIDColumn: Bool,
        sourceID: String? = nil
    ) {
        objectIDColumn = usesObjectIDColumn ? Self.objectIDCandidate(source, types) : nil
        var taken: Set<String> = [Dataset.objectIDField.lowercased()]
        var fields: [SourceField] = []
        var columns: [Int] = []
        var notes: [String] = []
        var kinds: [SourceField.Kind] = []
        var commas: Set<Int> = []
        for (index, field) in source.enumerated() where index != objectIDColumn {
            guard field.kind != .binary else {
                notes.append("column '\(field.name)' holds bytes and was left out")
                continue
            }
            var kept = field
            kept.name = Self.freeName(field.name, index, &taken)
            kept.alias = field.alias == kept.name ? "" : field.alias
            kept.kind = types.kind(of: field)
            if kept.kind != field.kind { kept.width = 0 }
            if kept.name != field.name {
                notes.append("column '\(field.name)' was renamed '\(kept.name)'")
            }
            if !types.isStated(field.name) {
                for note in types.notes where note.column == field.name {
                    notes.append("column '\(kept.name)' \(note.text)")
                }
            }
            if types.decimalCommas.contains(field.name) { commas.insert(fields.count) }
            fields.append(kept)
            columns.append(index)
            kinds.append(field.kind)
        }
        if let sourceID {
            let name = Self.freeName(sourceID, source.count, &taken)
            fields.append(SourceField(name: name, kind: .integer64, width: 0))
            columns.append(Self.ownNumber)
            kinds.append(.integer64)
        }
        self.fields = fields
        self.columns = columns
        self.notes = notes
        sourceKinds = kinds
        decimalCommas = commas
    }

    /// The integer column named like the object id, if there is one.
    static func objectIDCandidate(_ source: [SourceField], _ types: ColumnTypes) -> Int? {
        source.firstIndex { field in
            switch types.kind(of: field) {
            case .integer16, .integer32, .integer64:
                field.name.lowercased() == Dataset.objectIDField.lowercased()
            default: false
            }
        }
    }

    /// The fields for the writer, the object id first.
    var written: [SourceField] {
        [SourceField(name: Dataset.objectIDField, kind: .integer32, width: 0)] + fields
    }

    /// The object id that the column holds; nil for a value that cannot be one.
    func objectID(_ feature: borrowing SourceFeature) -> Int64? {
        guard let objectIDColumn else { return nil }
        switch feature.value(at: objectIDColumn) {
        case .integer(let id): return id
        case .text(let text): return TextValue.integer(text)
        case .null, .real, .moment: return nil
        }
    }

    /// Appends a feature's values as FlatGeobuf has them: pairs of a column's number and a value,
    /// nulls left out, without the object id.
    ///
    /// - Parameter row: The feature's number in the source, from 1, for ``losses``.
    func append(_ feature: borrowing SourceFeature, row: Int, to bytes: inout [UInt8]) {
        for (place, column) in columns.enumerated() {
            let source =
                column == Self.ownNumber ? .integer(feature.id) : feature.value(at: column)
            guard let value = kept(source, place, row) else { continue }
            bytes.append(number: UInt16(place + 1))
            bytes.append(value, as: fields[place].kind)
        }
    }

    /// The value as it is stored; nil for none.
    private func kept(_ source: SourceValue, _ place: Int, _ row: Int) -> SourceValue? {
        let kind = fields[place].kind
        func lose(_ outcome: String, _ value: String) {
            losses.count(fields[place].name, outcome, row: row, value: value)
        }
        func none(_ value: String) -> SourceValue? {
            lose("became null", value)
            return nil
        }
        switch source {
        case .null: return nil
        case .integer(let integer):
            switch kind {
            case .text: return .text(Array("\(integer)".utf8))
            case .date, .binary: return none("\(integer)")
            case .real32, .real64:
                let real = Double(integer)
                if Int64(exactly: real) != integer { lose("was rounded", "\(integer)") }
                return .real(real)
            case .boolean, .integer16, .integer32, .integer64:
                return Self.fits(integer, kind) ? source : none("\(integer)")
            }
        case .real(let real):
            guard real.isFinite else { return none("\(real)") }
            switch kind {
            case .text:
                let text = Int64(exactly: real).map { "\($0)" } ?? "\(real)"
                return .text(Array(text.utf8))
            case .date, .binary: return none("\(real)")
            case .real32:
                let isSingle =
                    sourceKinds[place] == .real32 || Double(Float(real)) == real
                    || Float("\(real)").map { "\($0)" == "\(real)" } == true
                guard Float(real).isFinite else { return none("\(real)") }
                if !isSingle { lose("was rounded to 32 bits", "\(real)") }
                return source
            case .real64: return source
            case .boolean, .integer16, .integer32, .integer64:
                guard let integer = Int64(exactly: real), Self.fits(integer, kind) else {
                    return none("\(real)")
                }
                return .integer(integer)
            }
        case .text(let bytes):
            guard kind != .text else {
                let text = TextRepair.utf8(bytes)
                if text != bytes {
                    lose(
                        "was not UTF-8 and was read as Windows-1252",
                        String(decoding: text, as: UTF8.self))
                }
                return .text(text)
            }
            return parsed(bytes, place, row)
        case .moment(let moment):
            guard ISODate.isReal(moment), let universal = ISODate.universal(moment) else {
                return none(ISODate.shown(moment))
            }
            return kind == .date
                ? .moment(universal)
                : kind == .text
                    ? .text(Array(ISODate.text(universal).utf8)) : none(ISODate.shown(moment))
        }
    }

    /// A text as the value of a column of another type.
    private func parsed(_ bytes: [UInt8], _ place: Int, _ row: Int) -> SourceValue? {
        let text = TextValue.trimmed(bytes)
        guard !text.isEmpty else { return nil }
        let name = fields[place].name
        let value: SourceValue? =
            switch fields[place].kind {
            case .date:
                TextMoment(text).flatMap { moment in
                    if moment.isRounded {
                        losses.count(
                            name, "was cut to thousandths of a second", row: row,
                            value: TextFacts.shown(bytes))
                    }
                    return ISODate.universal(moment.moment).map { .moment($0) }
                }
            case .real32, .real64:
                TextValue.lenientReal(text, decimalComma: decimalCommas.contains(place))
                    .map { real in
                        let isHeld =
                            TextValue.Decimal(
                                text, decimalComma: decimalCommas.contains(place))?
                            .isHeld(by: real) ?? true
                        if !isHeld {
                            losses.count(
                                name, "was rounded", row: row, value: TextFacts.shown(bytes))
                        }
                        return .real(real)
                    }
            case .boolean, .integer16, .integer32, .integer64:
                TextValue.lenientInteger(text).flatMap {
                    Self.fits($0, fields[place].kind) ? .integer($0) : nil
                }
            case .text, .binary: .text(bytes)
            }
        if value == nil {
            losses.count(name, "became null", row: row, value: TextFacts.shown(bytes))
        }
        return value
    }

    private static func fits(_ integer: Int64, _ kind: SourceField.Kind) -> Bool {
        switch kind {
        case .boolean, .integer16: Int16(exactly: integer) != nil
        case .integer32: Int32(exactly: integer) != nil
        case .integer64, .real32, .real64, .date, .text, .binary: true
        }
    }

    private static func freeName(
        _ name: String, _ index: Int, _ taken: inout Set<String>
    ) -> String {
        var base = String(name.prefix(200))
        while base.first?.isWhitespace == true { base.removeFirst() }
        while base.last?.isWhitespace == true { base.removeLast() }
        if base.isEmpty { base = "field_\(index + 1)" }
        var candidate = base
        var number = 0
        while !taken.insert(candidate.lowercased()).inserted {
            number += 1
            candidate = "\(base)_\(number)"
        }
        return candidate
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ value: SourceValue, as kind: SourceField.Kind) {
        switch value {
        case .null: break
        case .integer(let integer):
            switch kind {
            case .integer64: append(number: integer)
            case .integer32: append(number: Int32(clamping: integer))
            default: append(number: Int16(clamping: integer))
            }
        case .real(let real) where kind == .real32: append(number: Float(real).bitPattern)
        case .real(let real): append(number: real.bitPattern)
        case .text(let text):
            append(number: UInt32(text.count))
            append(contentsOf: text)
        case .moment(let moment):
            let text = ISODate.text(moment).utf8
            append(number: UInt32(text.count))
            append(contentsOf: text)
        }
    }

    mutating func append(number: some FixedWidthInteger & BitwiseCopyable) {
        unsafe Swift.withUnsafeBytes(of: number.littleEndian) { unsafe append(contentsOf: $0) }
    }
}

/// Text of unknown encoding.
enum TextRepair {
    /// The bytes themselves when they are UTF-8; otherwise they are read as Windows-1252.
    static func utf8(_ bytes: [UInt8]) -> [UInt8] {
        if bytes.allSatisfy({ $0 < 0x80 }) { return bytes }
        return String(validating: bytes, as: UTF8.self) == nil ? Windows1252.utf8(bytes) : bytes
    }
}
