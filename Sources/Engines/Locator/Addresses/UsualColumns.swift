// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The columns of a source of addresses: which were read as which field, and which were not
/// understood.
public struct SourceColumns: Hashable, Sendable, Codable {
    /// A column that was read.
    public struct Column: Hashable, Sendable, Codable {
        /// Its heading.
        public var column: String
        /// The field of an address: `street`, `number`.
        public var field: String
    }

    /// The file, with its layer where it has several.
    public var source: String
    /// The columns that were read, in their order.
    public var read: [Column]
    /// The headings of the others.
    public var unknown: [String]
    /// The records that were read without a house number, because no column of house numbers is
    /// understood; nil where one is.
    public var withoutHouses: Int?

    init(source: String, fields: [String], positions: [AddressField: Int], hasHouses: Bool) {
        self.source = source
        let known = positions.filter { fields.indices.contains($0.value) }
            .sorted { ($0.value, $0.key.rawValue) < ($1.value, $1.key.rawValue) }
        read = known.map { Column(column: fields[$0.value], field: $0.key.rawValue) }
        let taken = Set(known.map(\.value))
        unknown = fields.indices.filter { !taken.contains($0) }.map { fields[$0] }
        withoutHouses = hasHouses ? nil : 0
    }

    /// One sentence for people.
    public var description: String {
        let columns = read.map { "'\($0.column)' as \($0.field)" }.joined(separator: ", ")
        let others = unknown.prefix(20).map { "'\($0.prefix(40))'" }.joined(separator: ", ")
        let more = unknown.count > 20 ? " and \(unknown.count - 20) more" : ""
        return "\(source): read \(columns)"
            + (unknown.isEmpty ? "" : "; not understood: \(others)\(more)")
    }

    /// What is missing of the source; nil for nothing.
    public var warning: String? {
        guard let withoutHouses else { return nil }
        return
            "\(source): no column of house numbers is understood, so \(withoutHouses) records of "
            + "streets are without houses: name the column in a file of --columns"
    }
}

extension AddressColumns {
    /// The usual headings of columns, in small letters without signs and the prefix `addr:` of
    /// OpenStreetMap, the best first.
    private static let usualNames: [(field: AddressField, names: [String])] = [
        (
            .number,
            [
                "housenumber", "number", "housenr", "houseno", "hnr", "streetnumber",
                "addressnumber", "hausnummer", "hausnr", "huisnummer", "numero", "numerocivico",
                "civico", "no", "nr", "num",
            ]
        ),
        (
            .suffix,
            ["suffix", "housenumbersuffix", "numbersuffix", "hausnummerzusatz", "zusatz", "rep"]
        ),
        (
            .street,
            [
                "street", "road", "streetname", "roadname", "strasse", "straße", "strassenname",
                "straßenname", "straat", "rue", "nomvoie", "voie", "via", "calle", "thoroughfare",
            ]
        ),
        (
            .city,
            [
                "city", "town", "cityname", "village", "municipality", "locality", "commune",
                "nomcommune", "ort", "gemeinde", "stadt", "ville", "comune", "place",
            ]
        ),
        (
            .postal,
            ["postal", "postcode", "postalcode", "zip", "zipcode", "plz", "codepostal", "cap"]
        ),
        (.region, ["region", "state", "province", "statecode", "admin1"]),
        (.country, ["country", "countrycode", "iso2", "isocode"]),
        (.longitude, ["longitude", "lon", "lng", "long", "x"]),
        (.latitude, ["latitude", "lat", "y"]),
    ]

    private static func plain(_ heading: String) -> String {
        let text = heading.lowercased()
        let isTagged = ["addr:", "addr_", "addr."].contains { text.hasPrefix($0) }
        return (isTagged ? text.dropFirst(5) : text[...]).filter { $0.isLetter || $0.isNumber }
    }

    /// The layout of columns with usual headings; nil without one of streets, and for named
    /// features.
    ///
    /// - Parameter isTable: Whether positions are in columns.
    init?(usualFields fields: [String], separator: UInt8, isTable: Bool, constants texts: [String])
    {
        let headings = fields.map(Self.plain)
        guard !headings.contains("name") else { return nil }
        var columns: [AddressField: Column] = [:]
        for (field, names) in Self.usualNames {
            if !isTable, field == .longitude || field == .latitude { continue }
            guard let place = names.lazy.compactMap({ headings.firstIndex(of: $0) }).first
            else { continue }
            columns[field] = .heading(fields[place])
        }
        guard columns[.street] != nil else { return nil }
        self.init(usual: columns, separator: separator)
        guard let whole = try? adding(constants: texts) else { return nil }
        self = whole
    }

    /// The fields that a table needs and this layout lacks.
    var missing: [AddressField] {
        AddressField.required.filter { columns[$0] == nil && constants[$0] == nil }
    }
}

extension SourceColumns {
    /// Counts a record, where it can have no house number.
    mutating func countStreet() {
        if let count = withoutHouses { withoutHouses = count + 1 }
    }
}
