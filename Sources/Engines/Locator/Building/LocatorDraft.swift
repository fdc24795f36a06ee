// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Geometry

/// The content of vector sources, before it becomes a locator.
///
/// A ``LocatorBuilder/VectorReader`` fills it with features in longitude and latitude, WGS 84; the
/// builder links those without a town to the nearest settlement of the gazetteers.
public struct LocatorDraft {
    /// The layout of a layer of addresses.
    public struct Layout: Sendable {
        fileprivate var columns: AddressColumns
        var form: SourceForm {
            SourceForm(name: "streets (\(columns.name))", attribution: columns.attribution)
        }
        fileprivate var positions: [AddressField: Int]

        /// The indices of the required fields.
        public var fields: [Int] { positions.values.sorted() }
    }

    /// A street's line, a house, or a street's position.
    struct Feature {
        enum Position {
            case line([Coordinate], left: DraftSide, right: DraftSide)
            case house((number: UInt32, suffix: String)?, Coordinate, postal: String)
        }

        var street: String
        var city: String
        var region: String
        var country: String
        var position: Position
        var source: String
        var number: Int
        var origin: UInt16
        /// Whether a line may be above or below the streets it crosses, or is no street's own.
        var isApart = false

        var location: Coordinate {
            switch position {
            case .line(let line, _, _): line[line.count / 2]
            case .house(_, let location, _): location
            }
        }
    }

    private let columns: [AddressColumns]
    private let constants: [String]
    /// The columns of the layers of addresses that are read.
    private(set) var sourceColumns: [SourceColumns] = []
    var features: [Feature] = []
    /// Pending interpolations, and the numbers of houses without a street.
    var interpolations: [PendingInterpolation] = []
    var streetless: [PlaceKey: UInt32] = [:]
    private var places: [Place] = []
    private var areas: [Area] = []
    private let areaColumns: [AreaColumns]
    private let namedColumns: [NamedColumns]
    private var points: [PointOfInterest] = []
    private(set) var rejected: [RejectedLine] = []
    private(set) var rejectedCount = 0

    /// Limit of vertices in a line.
    public static let mostVertices = 100_000
    /// Limit of categories of all points of interest together.
    public static let mostCategories = 1_000
    private var categories: Set<String> = []
    /// Counts of records by source.
    var tally = SourceTally()
    /// Distance of a feature from its settlement, at most, in metres.
    static let townReachMeters = 20_000.0

    init(
        columns: [AddressColumns], areaColumns: [AreaColumns] = [],
        namedColumns: [NamedColumns] = [], constants: [String] = []
    ) {
        self.columns = columns
        self.constants = constants
        self.areaColumns = areaColumns
        self.namedColumns = namedColumns
    }

    /// The layout of a layer with these fields, by the first matching file of columns, those of
    /// areas and named features first; nil for none.
    public func layout(fields: [String]) -> LayerLayout? {
        for columns in areaColumns {
            if let layout = columns.layout(fields: fields) { return .areas(layout) }
        }
        for columns in namedColumns {
            if let layout = columns.layout(fields: fields) { return .named(layout) }
        }
        var best: Layout?
        for columns in columns {
            guard let positions = columns.layout(fields: fields) else { continue }
            let layout = Layout(columns: columns, positions: positions)
            if !columns.isShipped { return .addresses(layout) }
            // Other providers' tables have a field of this name for the street, too.
            if positions.count > best?.positions.count ?? 0 { best = layout }
        }
        if let usual = AddressColumns(
            usualFields: fields, separator: UInt8(ascii: ","), isTable: false,
            constants: constants), let positions = usual.layout(fields: fields),
            positions.count > best?.positions.count ?? 0
        {
            best = Layout(columns: usual, positions: positions)
        }
        return best.map { .addresses($0) }
    }

    /// Begins a layer of a vector file, whose features are taken with that layout.
    ///
    /// - Parameter source: The file and layer, as ``take(_:_:source:number:text:)`` has it.
    public mutating func begin(_ layout: LayerLayout, source: String, fields: [String]) {
        guard case .addresses(let layout) = layout else { return }
        let houses: [AddressField] = [.number, .leftFrom, .leftTo, .rightFrom, .rightTo]
        sourceColumns.append(
            SourceColumns(
                source: source, fields: fields, positions: layout.positions,
                hasHouses: houses.contains { layout.positions[$0] != nil }))
    }

    /// The layout of features with the fields street, number, suffix, city, postcode, region and
    /// country, in this order.
    public var plainLayout: Layout {
        let fields: [AddressField] = [
            .street, .number, .suffix, .city, .postal, .region, .country,
        ]
        var positions: [AddressField: Int] = [:]
        for (number, field) in fields.enumerated() { positions[field] = number }
        // The last default layout has these fields alone, and the constants of the build.
        return Layout(columns: columns[columns.count - 1], positions: positions)
    }

    /// Adds a settlement.
    public mutating func add(_ place: Place) {
        var place = place
        place.source = tally.source
        places.append(place)
    }

    /// Marks the present source as an extract of OpenStreetMap.
    public mutating func readOpenStreetMap() { tally.read(as: .openStreetMap) }

    /// Adds an area, or counts it as rejected.
    ///
    /// - Parameters:
    ///   - source: The file, for error messages.
    ///   - number: The number of the feature in it, from 1.
    ///   - area: Creates the area.
    public mutating func add(
        source: String, number: Int, _ area: () throws(Failure) -> Area
    ) {
        do throws(Failure) {
            var area = try area()
            area.origin = (source, number)
            area.source = tally.source
            areas.append(area)
        } catch {
            reject(error.message, source: source, number: number)
        }
    }

    /// Adds a point of interest, or counts it as rejected; `source` and `number` locate it for
    /// error messages.
    public mutating func add(_ point: PointOfInterest, source: String, number: Int) {
        if let reason = point.fault {
            return reject(reason, source: source, number: number)
        }
        if categories.insert(point.category).inserted, categories.count > Self.mostCategories {
            categories.remove(point.category)
            return reject(
                "more than \(Self.mostCategories) categories of points of interest",
                source: source, number: number)
        }
        var point = point
        point.source = tally.source
        points.append(point)
    }

    /// Adds one feature, or counts it as rejected.
    ///
    /// - Parameters:
    ///   - shapes: Its geometry, longitude and latitude.
    ///   - layout: The layout of its layer.
    ///   - source: The file, for error messages.
    ///   - number: The number of the feature in it, from 1.
    ///   - isApart: Whether a line may be above or below those it crosses, and so meets them only
    ///     at common vertices.
    ///   - text: The text of a field by index, trimmed; empty for none.
    public mutating func take(
        _ shapes: [Shape], _ layout: Layout, source: String, number: Int, isApart: Bool = false,
        text: (Int) -> String
    ) {
        func field(_ field: AddressField) -> String {
            var own = layout.positions[field].map(text) ?? ""
            if field == .country, layout.columns.isUsual, own.utf8.count != 2 { own = "" }
            return own.isEmpty ? layout.columns.constants[field] ?? "" : own
        }
        do {
            var feature = try Self.feature(shapes, field, source: source, number: number)
            feature.origin = tally.source
            feature.isApart = isApart
            features.append(feature)
            if sourceColumns.last?.source == source {
                sourceColumns[sourceColumns.count - 1].countStreet()
            }
        } catch {
            reject(error.reason, source: source, number: number)
        }
    }

    /// Counts an unusable feature.
    public mutating func reject(_ reason: String, source: String, number: Int) {
        rejectedCount += 1
        guard rejected.count < LocatorBuilder.longestRejectionList else { return }
        rejected.append(RejectedLine(source: source, line: number, reason: reason))
    }

    private static func feature(
        _ shapes: [Shape], _ text: (AddressField) -> String, source: String, number: Int
    ) throws(Unusable) -> Feature {
        for field in [AddressField.street, .city]
        where text(field).utf8.count > AddressReader.longestName {
            throw Unusable(
                "the \(field.rawValue) is longer than \(AddressReader.longestName) bytes")
        }
        let short: [AddressField] = [.number, .suffix, .postal, .leftPostal, .rightPostal, .region]
        for field in short where text(field).utf8.count > 40 {
            throw Unusable("the \(field.rawValue) is longer than 40 bytes")
        }
        guard !text(.street).isEmpty else { throw Unusable("the street is empty") }
        let country = text(.country).uppercased()
        guard country.isEmpty || country.utf8.count == 2 else {
            throw Unusable("country '\(country.prefix(20))': expected two letters")
        }
        return Feature(
            street: text(.street), city: text(.city), region: text(.region), country: country,
            position: try position(shapes, text), source: source, number: number, origin: 0)
    }

    private static func position(
        _ shapes: [Shape], _ text: (AddressField) -> String
    ) throws(Unusable) -> Feature.Position {
        let paths = shapes.flatMap { shape in
            if case .polyline(let paths) = shape { paths } else { [[Coordinate]]() }
        }
        guard let line = StreetPath.joined(paths) else {
            guard let location = shapes.first?.centroid, isOnEarth(location) else {
                throw Unusable("its geometry has no position in longitude and latitude")
            }
            let house = try AddressReader.house(text(.number), suffix: text(.suffix))
            return .house(house, location, postal: text(.postal))
        }
        guard line.count <= mostVertices else {
            throw Unusable("the line has \(line.count) vertices; expected at most \(mostVertices)")
        }
        guard line.allSatisfy(isOnEarth) else {
            throw Unusable("the line leaves longitude and latitude")
        }
        guard line.count >= 2 else { throw Unusable("the line has no length") }
        func side(
            _ from: AddressField, _ to: AddressField, _ postal: AddressField
        ) throws(Unusable) -> DraftSide {
            let own = text(postal)
            return DraftSide(
                range: try range(from, text(from), to, text(to)),
                postal: own.isEmpty ? text(.postal) : own)
        }
        return .line(
            line, left: try side(.leftFrom, .leftTo, .leftPostal),
            right: try side(.rightFrom, .rightTo, .rightPostal))
    }

    /// The numbers of a side; nil where both are empty, 0 or negative.
    private static func range(
        _ from: AddressField, _ fromText: String, _ to: AddressField, _ toText: String
    ) throws(Unusable) -> AddressRange? {
        func number(_ field: AddressField, _ text: String) throws(Unusable) -> UInt32? {
            // Some cities write -1 for none.
            guard !text.isEmpty, text.first != "-" || Double(text) == nil else { return nil }
            let whole = text.hasSuffix(".0") ? String(text.dropLast(2)) : text
            guard let number = UInt32(whole), number <= AddressGazetteer.mostNumber else {
                throw Unusable(
                    "\(field.rawValue) '\(text.prefix(20))': expected a house number from 0 to "
                        + "\(AddressGazetteer.mostNumber)")
            }
            return number
        }
        switch (try number(from, fromText), try number(to, toText)) {
        case (nil, nil), (0, 0), (0, nil), (nil, 0): return nil
        case (let first?, let last?): return AddressRange(from: first, to: last)
        case (nil, _): throw Unusable("\(from.rawValue) is empty, \(to.rawValue) is '\(toText)'")
        case (_, nil): throw Unusable("\(to.rawValue) is empty, \(from.rawValue) is '\(fromText)'")
        }
    }

    static func isOnEarth(_ location: Coordinate) -> Bool {
        location.isFinite && abs(location.x) <= 180 && abs(location.y) <= 90
    }

    /// Assigns towns to all features and adds them to the tables' addresses; returns the borders.
    ///
    /// First it adds its settlements, and the names of its countries and divisions, to the
    /// gazetteer, and fills in missing countries and regions from the areas around. Throws
    /// `Failure` (`tooLarge`) for more borders than a file may have.
    mutating func settle(
        into addresses: inout AddressGazetteer, near gazetteer: inout Gazetteer
    ) throws(Failure) -> BorderDraft {
        let country = columns.last?.constants[.country]?.uppercased() ?? ""
        let (areas, refused) = gazetteer.add(areas)
        for line in refused { reject(line.reason, source: line.source, number: line.line) }
        for area in areas { tally.count(area.source) }
        for place in places { tally.count(place.source) }
        for point in points { tally.count(point.source) }
        let borders = try BorderDraft(areas)
        gazetteer.settle(in: borders)
        gazetteer.add(places, in: borders, country: country)
        addresses.settle(in: borders)
        let settlements = SettlementGrid(gazetteer)
        let constants = columns.last?.constants ?? [:]
        for var point in points {
            if point.city.isEmpty { point.city = constants[.city] ?? "" }
            if point.region.isEmpty { point.region = constants[.region] ?? "" }
            gazetteer.add(point, in: borders, near: settlements, country: country)
        }
        settleInterpolations()
        for feature in features {
            do {
                try add(feature, to: &addresses, settlements, borders, gazetteer)
                tally.count(feature.origin)
            } catch {
                reject(error.reason, source: feature.source, number: feature.number)
            }
        }
        features = []
        places = []
        points = []
        self.areas = []
        return borders
    }

    private func add(
        _ feature: Feature, to addresses: inout AddressGazetteer, _ settlements: SettlementGrid,
        _ borders: BorderDraft, _ gazetteer: Gazetteer
    ) throws(Unusable) {
        var (city, region, country) = (feature.city, feature.region, feature.country)
        let around = borders.place(at: feature.location)
        if country.isEmpty { country = around.country }
        if region.isEmpty, country == around.country { region = around.region }
        if city.isEmpty { city = around.city }
        if city.isEmpty {
            guard
                let near = settlements.nearest(
                    to: feature.location, within: Self.townReachMeters, country: country)
            else {
                throw Unusable(
                    "it has no city, and no settlement of the gazetteers is within "
                        + "\(Int(Self.townReachMeters / 1_000)) km")
            }
            let town = gazetteer.settlements[near]
            city = town.name
            if country.isEmpty { country = town.country }
            if region.isEmpty { region = town.region }
        }
        switch feature.position {
        case .line(let line, let left, let right):
            try addresses.add(
                street: feature.street, city: city, region: region, country: country, left: left,
                right: right, line: line, isApart: feature.isApart, source: feature.origin)
        case .house(let house, let location, let postal):
            try addresses.add(
                street: feature.street, city: city, isTownInferred: feature.city.isEmpty,
                postal: postal, region: region, country: country, house: house, location: location,
                source: feature.origin)
        }
    }
}
