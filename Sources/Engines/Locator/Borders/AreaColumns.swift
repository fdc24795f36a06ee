// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials
public import Geometry
internal import ICU

/// A provider's field names for polygons of countries, divisions or municipalities: a file of
/// `Data`, or one of the user.
///
/// JSON: `name`; `areas`, one of `country`, `region`, `municipality`; `columns`, which map `name`,
/// `country` and `region` to a field, or to several of which the first with a value counts;
/// `needs`, other fields that identify a layer of this provider; `none`, texts for a missing value;
/// `accuracyMeters`.
struct AreaColumns: Sendable {
    private struct Form: Decodable {
        var name: String
        var areas: String
        var columns: [String: Headings]
        var needs: [String]?
        var none: [String]?
        var accuracyMeters: Double?
        var attribution: String?
    }

    /// One field, or several.
    private struct Headings: Decodable {
        var all: [String]

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let one = try? container.decode(String.self) {
                all = [one]
            } else {
                all = try container.decode([String].self)
            }
        }
    }

    /// The form of its layers in lists of sources.
    let form: SourceForm
    let kind: LocatorDraft.Area.Kind
    let columns: [String: [String]]
    let needs: [String]
    let none: Set<String>
    let accuracyMeters: Double

    /// The field names that ship with the program.
    static let shipped: [AreaColumns] = [
        PackageResources.columns_natural_earth_countries_json,
        PackageResources.columns_natural_earth_states_json,
    ].compactMap { try? AreaColumns(json: $0, source: "shipped") }

    /// Whether a file of columns is about areas.
    static func isOne(_ json: [UInt8]) -> Bool {
        struct Mark: Decodable { var areas: String }
        return (try? JSONDecoder().decode(Mark.self, from: Data(json))) != nil
    }

    /// Parses field names; throws `Failure` (`invalidParameter`) with the source and the error.
    init(json: [UInt8], source: String) throws(Failure) {
        func wrong(_ what: String) -> Failure {
            Failure(.invalidParameter, "columns of areas '\(source)': \(what)")
        }
        guard let form = try? JSONDecoder().decode(Form.self, from: Data(json)) else {
            throw wrong("expected JSON with 'name', 'areas' and 'columns'")
        }
        guard let kind = LocatorDraft.Area.Kind(rawValue: form.areas) else {
            throw wrong(
                "'areas' '\(form.areas.prefix(40))': expected country, region or municipality")
        }
        for key in form.columns.keys.sorted() where !["name", "country", "region"].contains(key) {
            throw wrong("'\(key.prefix(40))' is no field of an area")
        }
        columns = form.columns.mapValues(\.all)
        let needed: [String] =
            switch kind {
            case .country, .region: ["name", "country"]
            case .municipality: ["name"]
            }
        for field in needed where columns[field]?.isEmpty ?? true {
            throw wrong("no column for '\(field)'")
        }
        let worst = LocatorDraft.Area.worstAccuracyMeters
        accuracyMeters = form.accuracyMeters ?? 0
        guard 0...worst ~= accuracyMeters else {
            throw wrong("'accuracyMeters' \(accuracyMeters): expected 0 to \(Int(worst))")
        }
        self.form = SourceForm(name: "areas (\(form.name))", attribution: form.attribution)
        self.kind = kind
        needs = form.needs ?? []
        none = Set(form.none ?? [])
    }

    /// The layout of a layer with these fields; nil when it does not fit.
    func layout(fields: [String]) -> AreaLayout? {
        let fields = fields.map { $0.lowercased() }
        guard needs.allSatisfy({ fields.contains($0.lowercased()) }) else { return nil }
        var positions: [String: [Int]] = [:]
        for (field, headings) in columns {
            let found = headings.compactMap { fields.firstIndex(of: $0.lowercased()) }
            guard !found.isEmpty else { return nil }
            positions[field] = found
        }
        return AreaLayout(columns: self, positions: positions)
    }
}

/// The layout of a layer of areas.
public struct AreaLayout: Sendable {
    let columns: AreaColumns
    fileprivate let positions: [String: [Int]]

    init(columns: AreaColumns, positions: [String: [Int]]) {
        self.columns = columns
        self.positions = positions
    }

    /// The indices of the required fields.
    public var fields: [Int] { Set(positions.values.joined()).sorted() }

    /// The area of a feature.
    ///
    /// - Parameters:
    ///   - shapes: Its geometry, longitude and latitude.
    ///   - text: The text of a field by index, trimmed; empty for none.
    /// - Throws: `invalidParameter` with what is wrong with it in a few words.
    public func area(
        _ shapes: [Shape], text: (Int) -> String
    ) throws(Failure) -> LocatorDraft.Area {
        func values(_ field: String) -> [String] {
            (positions[field] ?? []).map(text).filter { !$0.isEmpty && !columns.none.contains($0) }
        }
        let country = values("country").lazy.compactMap(Self.alpha2).first ?? ""
        let code: String
        switch (columns.kind, values("region").first) {
        case (.municipality, _): code = ""
        case (.country, _), (.region, nil): code = country
        case (.region, let own?):
            // `US-MD` and `US.MD` contain their country.
            let namesCountry = ["-", "."].contains(own.dropFirst(2).first)
            code = namesCountry ? own : country + "-" + own
        }
        return try LocatorDraft.Area(
            kind: columns.kind, name: values("name").first ?? "", code: code, shapes: shapes,
            accuracyMeters: columns.accuracyMeters)
    }

    /// Converts an ISO 3166-1 code of two or three letters to alpha-2; nil for another text.
    private static func alpha2(_ code: String) -> String? {
        let capitals = code.uppercased()
        switch capitals.utf8.count {
        case 2: return capitals.utf8.allSatisfy { 0x41...0x5A ~= $0 } ? capitals : nil
        case 3: return CountryNames.alpha2(ofAlpha3: capitals)
        default: return nil
        }
    }
}
