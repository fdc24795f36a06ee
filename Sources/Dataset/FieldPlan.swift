// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import GDAL

/// Which columns of a source become which columns of a dataset.
struct FieldPlan {
    /// The source column that holds the object id; nil when the feature's number or a new number is
    /// the object id.
    let objectIDColumn: Int?
    /// The columns after the object id, as they will be written.
    let fields: [SourceField]
    /// For each of `fields` the source's column.
    let columns: [Int]
    /// Sentences on what was changed.
    let notes: [String]

    /// Plans the columns.
    ///
    /// - Parameter usesObjectIDColumn: Whether the column that already is named like the object id
    ///   holds good ids; otherwise it is kept under another name.
    init(_ source: [SourceField], usesObjectIDColumn: Bool) {
        objectIDColumn = usesObjectIDColumn ? Self.objectIDCandidate(source) : nil
        var taken: Set<String> = [Dataset.objectIDField.lowercased()]
        var fields: [SourceField] = []
        var columns: [Int] = []
        var notes: [String] = []
        for (index, field) in source.enumerated() where index != objectIDColumn {
            guard field.kind != .binary else {
                notes.append("column '\(field.name)' holds bytes and was left out")
                continue
            }
            var kept = field
            kept.name = Self.freeName(field.name, index, &taken)
            kept.alias = field.alias == kept.name ? "" : field.alias
            if kept.name != field.name {
                notes.append("column '\(field.name)' was renamed '\(kept.name)'")
            }
            fields.append(kept)
            columns.append(index)
        }
        self.fields = fields
        self.columns = columns
        self.notes = notes
    }

    /// The integer column named like the object id, if there is one.
    static func objectIDCandidate(_ source: [SourceField]) -> Int? {
        source.firstIndex { field in
            switch field.kind {
            case .integer16, .integer32, .integer64:
                field.name.lowercased() == Dataset.objectIDField.lowercased()
            default: false
            }
        }
    }

    /// The fields as the writer wants them, the object id first.
    var written: [SourceField] {
        [SourceField(name: Dataset.objectIDField, kind: .integer32, width: 0)] + fields
    }

    /// Appends a feature's values as FlatGeobuf has them: pairs of a column's number and a value, nulls
    /// left out, without the object id.
    func append(_ feature: borrowing SourceFeature, to bytes: inout [UInt8]) {
        for (place, column) in columns.enumerated() {
            guard let value = Self.clean(feature.value(at: column)) else { continue }
            bytes.append(number: UInt16(place + 1))
            bytes.append(value, as: fields[place].kind)
        }
    }

    /// The value as it is stored; nil for none.
    private static func clean(_ value: SourceValue) -> SourceValue? {
        switch value {
        case .null: nil
        case .integer: value
        case .real(let real): real.isFinite ? value : nil
        case .text(let bytes): .text(TextRepair.utf8(bytes))
        case .moment(let moment): ISODate.universal(moment).map { .moment($0) }
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
        guard String(validating: bytes, as: UTF8.self) == nil else { return bytes }
        var text = String.UnicodeScalarView()
        for byte in bytes {
            let scalar = 0x80...0x9f ~= byte ? windows[Int(byte) - 0x80] : UInt32(byte)
            if let scalar = Unicode.Scalar(scalar) { text.append(scalar) }
        }
        return Array(String(text).utf8)
    }

    /// Windows-1252 from 0x80 to 0x9f; the five unused places become U+FFFD.
    private static let windows: [UInt32] = [
        0x20ac, 0xfffd, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
        0x2039, 0x0152, 0xfffd, 0x017d, 0xfffd, 0xfffd, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
        0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0xfffd, 0x017e, 0x0178,
    ]
}
