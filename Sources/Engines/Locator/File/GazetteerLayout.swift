// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The columns of a source by content.
struct GazetteerLayout: Hashable {
    /// The kind of a source's records.
    enum Subject: Hashable {
        /// Settlements, or anything with a position and a feature class.
        case places
        /// First-level and second-level divisions, distinguished by their codes.
        case divisions
        /// Countries.
        case countries
        /// Further names of any of them, by GeoNames' ids, with their languages.
        case alternateNames
    }

    var subject: Subject
    /// Its form in lists of sources.
    var form: SourceForm
    /// Separator of the alternate names.
    var separator: UInt8 = UInt8(ascii: ",")
    /// Whether the first line names the columns.
    var hasHeader = false
    /// Minimum number of columns in a record.
    var leastColumns: Int
    var columns: [Column: Int] = [:]

    /// The content of a column.
    enum Column: String, CaseIterable {
        case id, name, asciiName, alternateNames, latitude, longitude, country, region, subregion
        case featureClass, feature, population, code, code3, capital
        case minX, minY, maxX, maxY

        /// The headings of the column.
        var headings: [String] {
            switch self {
            case .id: ["id", "geonameid", "geoname_id"]
            case .name: ["name"]
            case .asciiName: ["ascii_name", "asciiname"]
            case .alternateNames: ["alternate_names", "alternatenames"]
            case .latitude: ["latitude", "lat"]
            case .longitude: ["longitude", "lon", "lng"]
            case .country: ["country", "country_code", "countrycode"]
            case .region: ["admin1", "admin1_code", "admin1code"]
            case .subregion: ["admin2", "admin2_code", "admin2code"]
            case .featureClass: ["feature_class"]
            case .feature: ["feature_code"]
            case .population: ["population"]
            case .code: ["code", "iso"]
            case .code3: ["code3", "iso3"]
            case .capital: ["capital"]
            case .minX: ["xmin"]
            case .minY: ["ymin"]
            case .maxX: ["xmax"]
            case .maxY: ["ymax"]
            }
        }
    }

    /// GeoNames' dump, 19 columns (`cities15000.txt`, `allCountries.txt`).
    static let dump = GazetteerLayout(
        subject: .places, form: SourceForm(name: "GeoNames dump", attribution: SourceForm.geoNames),
        leastColumns: 15,
        columns: [
            .id: 0, .name: 1, .asciiName: 2, .alternateNames: 3, .latitude: 4, .longitude: 5,
            .featureClass: 6, .feature: 7, .country: 8, .region: 10, .subregion: 11,
            .population: 14,
        ])

    /// GeoNames' `admin1CodesASCII.txt` and `admin2Codes.txt`.
    static let codes = GazetteerLayout(
        subject: .divisions,
        form: SourceForm(name: "GeoNames admin codes", attribution: SourceForm.geoNames),
        leastColumns: 2,
        columns: [.code: 0, .name: 1, .asciiName: 2, .id: 3])

    /// GeoNames' `countryInfo.txt`.
    static let countryInfo = GazetteerLayout(
        subject: .countries,
        form: SourceForm(name: "GeoNames countryInfo", attribution: SourceForm.geoNames),
        leastColumns: 8,
        columns: [.code: 0, .code3: 1, .name: 4, .capital: 5, .population: 7, .id: 16])

    /// GeoNames' `alternateNames.txt` and `alternateNamesV2.txt`, read by ``AlternateName``.
    static let alternateNames = GazetteerLayout(
        subject: .alternateNames,
        form: SourceForm(name: "GeoNames alternate names", attribution: SourceForm.geoNames),
        leastColumns: 4, columns: [:])

    /// Detects a layout by the first line that is neither empty nor a comment; nil for an unknown
    /// one.
    init?(firstLine fields: [String]) {
        if let named = Self.named(by: fields) {
            self = named
        } else if fields.count >= 15, UInt32(fields[0]) != nil, Double(fields[4]) != nil,
            Double(fields[5]) != nil
        {
            self = .dump
        } else if fields.count >= 8, Self.isCode(fields[0], 2), Self.isCode(fields[1], 3) {
            self = .countryInfo
        } else if (2...5).contains(fields.count), fields[0].contains("."),
            Self.isCode(fields[0].prefix(2), 2)
        {
            self = .codes
        } else if (4...10).contains(fields.count), UInt32(fields[0]) != nil,
            UInt32(fields[1]) != nil, !fields[3].isEmpty,
            fields[4...].prefix(4).allSatisfy({ $0.isEmpty || $0 == "1" })
        {
            self = .alternateNames
        } else {
            return nil
        }
    }

    private init(
        subject: Subject, form: SourceForm, separator: UInt8 = UInt8(ascii: ","),
        hasHeader: Bool = false, leastColumns: Int, columns: [Column: Int]
    ) {
        self.subject = subject
        self.form = form
        self.separator = separator
        self.hasHeader = hasHeader
        self.leastColumns = leastColumns
        self.columns = columns
    }

    /// A table with column names in its first line.
    private static func named(by fields: [String]) -> GazetteerLayout? {
        var columns: [Column: Int] = [:]
        for (number, field) in fields.enumerated() {
            let heading = field.lowercased()
            for column in Column.allCases
            where column.headings.contains(heading) && columns[column] == nil {
                columns[column] = number
            }
        }
        guard let name = columns[.name] else { return nil }
        let subject: Subject
        let form: String
        if columns[.latitude] != nil, columns[.longitude] != nil, columns[.code] == nil {
            (subject, form) = (.places, "table of places")
        } else if columns[.code] != nil {
            (subject, form) =
                columns[.code3] == nil
                ? (.divisions, "table of divisions") : (.countries, "table of countries")
        } else {
            return nil
        }
        let needed = [name, columns[.latitude] ?? 0, columns[.longitude] ?? 0, columns[.code] ?? 0]
        return GazetteerLayout(
            subject: subject, form: SourceForm(name: form), separator: UInt8(ascii: "|"),
            hasHeader: true,
            leastColumns: (needed.max() ?? 0) + 1, columns: columns)
    }

    private static func isCode(_ text: some StringProtocol, _ count: Int) -> Bool {
        text.utf8.count == count
            && text.utf8.allSatisfy { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 }
    }
}
