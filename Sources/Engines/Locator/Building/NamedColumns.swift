// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Geometry

/// The field names of a vector layer of named features: a file of columns by the user.
///
/// JSON: `name`; `features`, one of `settlement`, `pointOfInterest`; `columns`, which map `name`,
/// and optionally `category`, `city`, `region`, `country`, `population`, `id`, `alternates`, to a
/// field; `constants`, fields with one value for all features.
struct NamedColumns: Sendable {
    enum Kind: String, Sendable {
        case settlement, pointOfInterest
    }

    enum Field: String, CaseIterable, Sendable {
        case name, category, city, region, country, population, id, alternates
    }

    private struct Form: Decodable {
        var name: String
        var features: String
        var columns: [String: String]
        var constants: [String: String]?
        var attribution: String?
    }

    /// The form of its layers in lists of sources.
    let form: SourceForm
    let kind: Kind
    let columns: [Field: String]
    let constants: [Field: String]

    /// The default: any feature with a field `name` is a point of interest.
    static let plain = NamedColumns(
        form: SourceForm(name: "named features"), kind: .pointOfInterest, columns: [.name: "name"],
        constants: [:])

    /// Whether a file of columns is about named features.
    static func isOne(_ json: [UInt8]) -> Bool {
        struct Mark: Decodable { var features: String }
        return (try? JSONDecoder().decode(Mark.self, from: Data(json))) != nil
    }

    private init(
        form: SourceForm, kind: Kind, columns: [Field: String], constants: [Field: String]
    ) {
        self.form = form
        self.kind = kind
        self.columns = columns
        self.constants = constants
    }

    /// Parses field names; throws `Failure` (`invalidParameter`) with the source and the error.
    init(json: [UInt8], source: String) throws(Failure) {
        func wrong(_ what: String) -> Failure {
            Failure(.invalidParameter, "columns of named features '\(source)': \(what)")
        }
        guard let form = try? JSONDecoder().decode(Form.self, from: Data(json)) else {
            throw wrong("expected JSON with 'name', 'features' and 'columns'")
        }
        guard let kind = Kind(rawValue: form.features) else {
            throw wrong(
                "'features' '\(form.features.prefix(40))': expected settlement or pointOfInterest")
        }
        func fields(_ texts: [String: String]) throws(Failure) -> [Field: String] {
            var result: [Field: String] = [:]
            for (key, text) in texts.sorted(by: { $0.key < $1.key }) {
                guard let field = Field(rawValue: key) else {
                    throw wrong("'\(key.prefix(40))' is no field of a named feature")
                }
                result[field] = text
            }
            return result
        }
        self.form = SourceForm(
            name: "named features (\(form.name))", attribution: form.attribution)
        self.kind = kind
        columns = try fields(form.columns)
        constants = try fields(form.constants ?? [:])
        guard columns[.name] != nil else { throw wrong("no column for 'name'") }
    }

    /// The layout of a layer with these fields; nil where it lacks one of them.
    func layout(fields: [String]) -> NamedLayout? {
        let fields = fields.map { $0.lowercased() }
        var positions: [Field: Int] = [:]
        for (field, heading) in columns {
            guard let position = fields.firstIndex(of: heading.lowercased()) else { return nil }
            positions[field] = position
        }
        return NamedLayout(columns: self, positions: positions)
    }
}

/// The layout of a layer of named features.
public struct NamedLayout: Sendable {
    let columns: NamedColumns
    fileprivate let positions: [NamedColumns.Field: Int]

    init(columns: NamedColumns, positions: [NamedColumns.Field: Int]) {
        self.columns = columns
        self.positions = positions
    }

    /// The indices of the required fields.
    public var fields: [Int] { Set(positions.values).sorted() }
}

extension LocatorDraft {
    /// Adds a named feature as a settlement or point of interest, or counts it as rejected.
    ///
    /// - Parameters:
    ///   - shapes: Its geometry, longitude and latitude.
    ///   - source: The file, for error messages.
    ///   - number: The number of the feature in it, from 1.
    ///   - text: The text of a field by index, trimmed; empty for none.
    mutating func take(
        _ shapes: [Shape], _ layout: NamedLayout, source: String, number: Int,
        text: (Int) -> String
    ) {
        func field(_ field: NamedColumns.Field) -> String {
            let own = layout.positions[field].map(text) ?? ""
            return own.isEmpty ? layout.columns.constants[field] ?? "" : own
        }
        guard
            var point = PointOfInterest(
                name: field(.name), category: field(.category), shapes: shapes)
        else {
            return reject(
                "its geometry has no position in longitude and latitude", source: source,
                number: number)
        }
        let country = field(.country).uppercased()
        if let reason = point.fault ?? Self.fault(country: country, population: field(.population))
            ?? Self.fault(id: field(.id))
        {
            return reject(reason, source: source, number: number)
        }
        point.alternateNames = field(.alternates).split(separator: "|").map(String.init).filter {
            $0.utf8.count <= AddressReader.longestName
        }
        point.city = field(.city)
        point.region = field(.region)
        point.country = country
        point.population = Self.population(field(.population)) ?? 0
        point.id = UInt32(field(.id)) ?? 0
        point.identifier = Self.identifier(field(.id))
        switch layout.columns.kind {
        case .pointOfInterest: add(point, source: source, number: number)
        case .settlement:
            var place = Place(
                name: point.name, alternateNames: point.alternateNames, location: point.location,
                population: point.population)
            place.country = country
            place.region = point.region
            place.id = point.id
            place.identifier = point.identifier
            add(place)
        }
    }

    private static func fault(country: String, population text: String) -> String? {
        guard country.isEmpty || country.utf8.count == 2 else {
            return "country '\(country.prefix(20))': expected two letters"
        }
        guard text.isEmpty || population(text) != nil else {
            return "population '\(text.prefix(20))': expected a number of people"
        }
        return nil
    }

    private static func fault(id: String) -> String? {
        id.utf8.count > AddressReader.longestName
            ? "the id is longer than \(AddressReader.longestName) bytes" : nil
    }

    private static func identifier(_ text: String) -> SourceIdentifier {
        guard let number = UInt64(text), "\(number)" == text else {
            return text.isEmpty ? .none : .text(text)
        }
        return .number(number)
    }

    /// Parses a number from 0 to 10¹², without its fraction; nil for other texts.
    private static func population(_ text: String) -> UInt64? {
        guard let value = Double(text), 0...1e12 ~= value else { return nil }
        return UInt64(value)
    }
}
