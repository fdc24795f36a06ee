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

    /// A feature's values in the order of `fields`.
    func values(_ feature: borrowing SourceFeature) -> [SourceValue] {
        var values: [SourceValue] = []
        values.reserveCapacity(columns.count)
        for column in columns { values.append(Self.clean(feature.value(at: column))) }
        return values
    }

    private static func clean(_ value: SourceValue) -> SourceValue {
        switch value {
        case .real(let real): real.isFinite ? value : .null
        case .text(let bytes): .text(TextRepair.utf8(bytes))
        case .moment(let moment): ISODate.universal(moment).map { .moment($0) } ?? .null
        case .null, .integer: value
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

/// Text of unknown encoding.
enum TextRepair {
    /// The bytes themselves when they are UTF-8; otherwise they are read as Windows-1252.
    static func utf8(_ bytes: [UInt8]) -> [UInt8] {
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
