// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials

/// The content of a column in a table of addresses, or of a field of vector features.
enum AddressField: String, CaseIterable, Sendable {
    case number, suffix, street, city, postal, region, country, longitude, latitude
    /// For lines: house numbers at the start and end, and postcodes, by side.
    case leftFrom, leftTo, rightFrom, rightTo, leftPostal, rightPostal

    /// Required columns of a table.
    static let required: [AddressField] = [.street, .city, .longitude, .latitude]
}

/// A provider's layout of address tables: a file of `Data`, or one of the user.
///
/// JSON: `name`; `separator`, one character; `columns`, which map fields to the heading of their
/// column, or its number from 1; `columnCount`, required for tables without a heading; `constants`,
/// fields with one value for all rows; `attribution`, required by the licence. Without longitude
/// and latitude it is for vector files.
struct AddressColumns: Sendable {
    /// The column of a field.
    enum Column: Hashable, Sendable, Decodable {
        case heading(String)
        /// Column number, from 1.
        case number(Int)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Int.self) {
                self = .number(number)
            } else {
                self = .heading(try container.decode(String.self))
            }
        }
    }

    private struct Form: Decodable {
        var name: String
        var separator: String?
        var columns: [String: Column]
        var columnCount: Int?
        var constants: [String: String]?
        var attribution: String?
    }

    let name: String
    let separator: UInt8
    let columnCount: Int?
    let columns: [AddressField: Column]
    private(set) var constants: [AddressField: String]
    /// The attribution that its licence requires; nil for none.
    let attribution: String?
    /// Whether it ships with the program; of the layouts that fit vector features the one with the
    /// most fields wins.
    private(set) var isShipped = false
    /// Whether its columns are known by usual headings alone, so that a country may be a name.
    private(set) var isUsual = false

    /// Whether it has position columns; vector features have a geometry.
    var isTable: Bool {
        [AddressField.longitude, .latitude].contains {
            columns[$0] != nil || constants[$0] != nil
        }
    }

    /// The layouts that ship with the program, in the order they are tried.
    static let shipped: [AddressColumns] = [
        PackageResources.columns_ban_json, PackageResources.columns_bano_json,
        PackageResources.columns_tiger_json, PackageResources.columns_centerlines_json,
        PackageResources.columns_ranges_json,
        PackageResources.columns_openaddresses_json, PackageResources.columns_tiger_roads_json,
        PackageResources.columns_streets_json,
    ].compactMap {
        var columns = try? AddressColumns(json: $0, source: "shipped")
        columns?.isShipped = true
        return columns
    }

    /// A layout of columns with usual headings.
    init(usual columns: [AddressField: Column], separator: UInt8) {
        name = "usual names of columns"
        self.separator = separator
        self.columns = columns
        (columnCount, constants, attribution) = (nil, [:], nil)
        (isShipped, isUsual) = (true, true)
    }

    /// Parses a layout; throws `Failure` (`invalidParameter`) with the source and the error.
    init(json: [UInt8], source: String) throws(Failure) {
        func wrong(_ what: String) -> Failure {
            Failure(.invalidParameter, "address columns '\(source)': \(what)")
        }
        let form: Form
        do {
            form = try JSONDecoder().decode(Form.self, from: Data(json))
        } catch {
            throw wrong(
                "expected JSON with 'name', 'separator', 'columns', and 'columnCount' or headings")
        }
        name = form.name
        attribution = form.attribution
        let separator = Array((form.separator ?? ",").utf8)
        guard separator.count == 1, separator[0] < 0x80, separator[0] != UInt8(ascii: "\"") else {
            throw wrong("'separator' '\(form.separator ?? "")': expected one ASCII character")
        }
        self.separator = separator[0]
        var columns: [AddressField: Column] = [:]
        for (key, column) in form.columns {
            guard let field = AddressField(rawValue: key) else {
                throw wrong("'\(key.prefix(40))' is no field of an address")
            }
            if case .number(let number) = column {
                guard let count = form.columnCount, 1...count ~= number else {
                    throw wrong("column \(number) of '\(key)': expected 1 to 'columnCount'")
                }
            }
            columns[field] = column
        }
        var constants: [AddressField: String] = [:]
        for (key, text) in form.constants ?? [:] {
            guard let field = AddressField(rawValue: key) else {
                throw wrong("'\(key.prefix(40))' is no field of an address")
            }
            constants[field] = text
        }
        columnCount = form.columnCount
        self.columns = columns
        self.constants = constants
        let required = isTable || form.separator != nil ? AddressField.required : [.street]
        for field in required where columns[field] == nil && constants[field] == nil {
            throw wrong("no column and no constant for '\(field.rawValue)'")
        }
    }

    /// Adds constants given as `field=text`; throws `invalidParameter` for a malformed one.
    func adding(constants texts: [String]) throws(Failure) -> AddressColumns {
        var result = self
        for text in texts {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let field = AddressField(rawValue: String(parts[0])) else {
                throw Failure(
                    .invalidParameter,
                    "constant '\(text.prefix(60))': expected FIELD=TEXT, such as city=Cambridge")
            }
            result.constants[field] = String(parts[1])
        }
        return result
    }

    /// The layout of a vector layer with these fields; nil when it does not fit.
    func layout(fields: [String]) -> [AddressField: Int]? {
        var positions: [AddressField: Int] = [:]
        for case (let field, .heading(let heading)) in columns {
            let position = fields.firstIndex { $0.lowercased() == heading.lowercased() }
            if position == nil, field == .street || Self.ends.contains(field) { return nil }
            positions[field] = position
        }
        return positions[.street] == nil ? nil : positions
    }

    private static let ends: Set<AddressField> = [.leftFrom, .leftTo, .rightFrom, .rightTo]

    /// The layout of a table with this first line; nil when it does not fit.
    func layout(firstLine line: [UInt8]) -> AddressLayout? {
        guard isTable, let fields = DelimitedFields.split(line, by: separator) else { return nil }
        var positions: [AddressField: Int] = [:]
        var hasHeading = false
        for (field, column) in columns {
            switch column {
            case .number(let number): positions[field] = number - 1
            case .heading(let heading):
                hasHeading = true
                guard
                    let number = fields.firstIndex(where: {
                        $0.lowercased() == heading.lowercased()
                    })
                else {
                    if AddressField.required.contains(field) { return nil }
                    continue
                }
                positions[field] = number
            }
        }
        if let columnCount, fields.count != columnCount { return nil }
        let layout = AddressLayout(
            separator: separator, hasHeading: hasHeading,
            leastColumns: hasHeading ? fields.count : columnCount ?? 0, positions: positions,
            constants: constants,
            form: SourceForm(name: "addresses (\(name))", attribution: attribution),
            isUsual: isUsual)
        guard !hasHeading else { return layout }
        let places = [AddressField.longitude, .latitude].compactMap { layout.text($0, fields) }
        return places.allSatisfy { Double($0) != nil } ? layout : nil
    }
}

/// The columns of one table by content.
struct AddressLayout {
    var separator: UInt8
    var hasHeading: Bool
    /// Number of columns that every row has.
    var leastColumns: Int
    /// Column indices, from 0.
    var positions: [AddressField: Int]
    var constants: [AddressField: String]
    /// The form of the table in lists of sources.
    var form: SourceForm
    /// Whether its columns are known by usual headings alone.
    var isUsual = false

    /// The text of a field, empty for a missing one; nil for a row that is too short.
    func text(_ field: AddressField, _ fields: [String]) -> String? {
        guard let position = positions[field] else { return constants[field] ?? "" }
        guard position < fields.count else { return nil }
        return fields[position].isEmpty ? constants[field] ?? "" : fields[position]
    }
}

/// Splits the fields of one line of a delimited table (RFC 4180, without line ends in fields).
enum DelimitedFields {
    /// The fields, unquoted and trimmed; nil for a line with an open quotation mark, or that is not
    /// UTF-8.
    static func split(_ line: [UInt8], by separator: UInt8) -> [String]? {
        let quote = UInt8(ascii: "\"")
        var result: [String] = []
        var field: [UInt8] = []
        var isQuoted = false
        var at = line.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        func text(_ bytes: [UInt8]) -> String? {
            guard let first = bytes.firstIndex(where: { $0 != 0x20 }),
                let last = bytes.lastIndex(where: { $0 != 0x20 })
            else { return "" }
            return String(validating: bytes[first...last], as: UTF8.self)
        }
        while at < line.count {
            let byte = line[at]
            if byte == quote {
                if isQuoted, at + 1 < line.count, line[at + 1] == quote {
                    field.append(quote)
                    at += 1
                } else {
                    isQuoted.toggle()
                }
            } else if byte == separator, !isQuoted {
                guard let text = text(field) else { return nil }
                result.append(text)
                field.removeAll(keepingCapacity: true)
            } else {
                field.append(byte)
            }
            at += 1
        }
        guard !isQuoted, let last = text(field) else { return nil }
        result.append(last)
        return result
    }
}
