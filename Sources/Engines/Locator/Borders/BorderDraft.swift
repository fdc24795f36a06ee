// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Geometry
internal import Platform
internal import SpatialIndex

/// The areas of the sources in a draft: point-in-area search, and the sections of the file.
struct BorderDraft {
    /// The areas that contain a position.
    struct Place {
        /// Alpha-2; empty when unknown.
        var country = ""
        /// First-level code within the country; empty when unknown.
        var region = ""
        /// The municipality; empty when unknown.
        var city = ""
    }

    /// Countries and first-level divisions, the smaller before the larger.
    let areas: [LocatorDraft.Area]
    private let shapes: AreaShapes
    private let municipalities: [LocatorDraft.Area]
    private let municipalShapes: AreaShapes

    /// Creates a draft of areas with the gazetteer's codes; throws `Failure` (`tooLarge`) for too
    /// many vertices.
    init(_ all: [LocatorDraft.Area] = []) throws(Failure) {
        let count = all.reduce(0) { $0 + $1.rings.reduce(0) { $0 + $1.count } }
        guard count <= AreaShapes.mostVertices else {
            throw Failure(
                .tooLarge,
                "the borders have \(count) vertices; expected at most \(AreaShapes.mostVertices)")
        }
        let sizes = all.map { $0.rings.reduce(0) { $0 + abs(Ring.signedArea($1)) } }
        let order = all.indices.sorted { left, right in
            sizes[left] != sizes[right] ? sizes[left] < sizes[right] : left < right
        }.map { all[$0] }
        areas = order.filter { $0.kind != .municipality }
        municipalities = order.filter { $0.kind == .municipality }
        shapes = AreaShapes(areas.map(\.rings))
        municipalShapes = AreaShapes(municipalities.map(\.rings))
    }

    var isEmpty: Bool { areas.isEmpty }

    /// The areas around a position, of each kind the smallest.
    func place(at location: Coordinate) -> Place {
        var result = Place()
        let around = shapes.areas(near: location).map { areas[$0.feature] }
        let country =
            around.first { $0.kind == .country } ?? around.first { $0.kind == .region }
        if let country {
            result.country = country.country
            let region = around.first { $0.kind == .region && $0.country == country.country }
            if let region { result.region = String(region.code.dropFirst(3)) }
        }
        if let town = municipalShapes.areas(near: location).first {
            result.city = municipalities[town.feature].name
        }
        return result
    }

    /// Fills in a missing country and region from the areas around a position; a region only within
    /// its own country.
    func complete(_ country: inout String, _ region: inout String, at location: Coordinate) {
        guard !isEmpty, country.isEmpty || region.isEmpty else { return }
        let around = place(at: location)
        if country.isEmpty { country = around.country }
        if region.isEmpty, country == around.country { region = around.region }
    }

    /// Encodes the three sections; `numbers` maps codes of countries and regions to places.
    func sections(_ numbers: [String: UInt32]) -> [LocatorLayout.Section: [UInt8]] {
        guard !isEmpty else { return [:] }
        var records = ByteWriter()
        for area in areas {
            records.append(numbers[area.country] ?? LocatorLayout.none)
            records.append(
                area.kind == .region ? numbers[area.code] ?? LocatorLayout.none : LocatorLayout.none
            )
            records.append(UInt32(area.accuracyMeters.rounded()))
        }
        return [
            .areas: records.bytes, .areaVertices: shapes.vertices.bytes,
            .areaIndex: shapes.index.bytes,
        ]
    }
}

extension LocatorDraft {
    /// A country, first-level division or municipality with its borders.
    public struct Area {
        /// The kind of an area.
        public enum Kind: String, Sendable {
            /// A country or territory with a code of its own.
            case country
            /// A first-level division.
            case region
            /// A municipality, which supplies the town of streets and addresses.
            case municipality
        }

        /// Its kind.
        public var kind: Kind
        /// Its usual name.
        public var name: String
        /// ISO 3166-1 alpha-2 of a country, ISO 3166-2 (`US-MD`) or GeoNames' code (`US.MD`) of a
        /// division, or the alpha-2 code of its country alone; empty for municipalities.
        public internal(set) var code: String
        /// Accuracy of its border, in metres.
        public var accuracyMeters: Double
        /// Closed rings in longitude and latitude, in their stored form.
        let rings: [[Coordinate]]
        /// Its source file, and its number there, from 1.
        var origin = (source: "", number: 0)
        var source: UInt16 = 0
        /// Its identifier in the source.
        public var identifier = SourceIdentifier.none
        /// Other names; municipalities keep none.
        public var alternateNames: [String] = []
        /// Its names by language; each is also its usual name or among the other names.
        public var languageNames: [NameInLanguage] = []

        /// The alpha-2 code of its country.
        var country: String { String(code.prefix(2)) }

        /// Upper bound of an accuracy, in metres.
        static let worstAccuracyMeters = 100_000.0

        /// Creates an area from polygons in longitude and latitude; other shapes are skipped.
        ///
        /// Throws `Failure` (`invalidParameter`) with the error in a few words: a name that is
        /// empty or longer than 200 bytes, no known code, no polygon, a vertex off the Earth.
        public init(
            kind: Kind, name: String, code: String, shapes: [Shape], accuracyMeters: Double = 0
        ) throws(Failure) {
            let longest = AddressReader.longestName
            guard 1...longest ~= name.utf8.count else {
                throw Failure(
                    .invalidParameter, "its name is empty or longer than \(longest) bytes")
            }
            let capitals = code.uppercased()
            guard kind == .municipality || Self.isCode(capitals, of: kind) else {
                throw Failure(
                    .invalidParameter,
                    "'\(name.prefix(40))' has no known code: expected ISO 3166-"
                        + (kind == .country ? "1" : "2, or its country's and a known name"))
            }
            var polygon: [[Coordinate]] = []
            for case .polygon(let rings) in shapes { polygon += rings }
            guard !polygon.isEmpty else {
                throw Failure(.invalidParameter, "an area without a polygon")
            }
            guard let rings = AreaShapes.rounded(polygon) else {
                throw Failure(.invalidParameter, "its border leaves longitude and latitude")
            }
            guard !rings.isEmpty else {
                throw Failure(.invalidParameter, "its border encloses nothing")
            }
            self.kind = kind
            self.name = name
            self.code = capitals
            self.accuracyMeters = min(max(0, accuracyMeters), Self.worstAccuracyMeters)
            self.rings = rings
        }

        private static func isCode(_ code: String, of kind: Kind) -> Bool {
            let bytes = Array(code.utf8)
            guard bytes.count >= 2, bytes.prefix(2).allSatisfy({ 0x41...0x5A ~= $0 }) else {
                return false
            }
            return kind == .country
                ? bytes.count == 2
                : bytes.count == 2
                    || bytes.count > 3 && bytes.count <= 12
                        && (bytes[2] == 0x2D || bytes[2] == 0x2E)
        }
    }
}

extension Gazetteer {
    /// Assigns the gazetteer's codes to first-level divisions, and adds countries and divisions
    /// that no other source has.
    ///
    /// A division is matched by its own code (`US.MD`), else by its name in the country, else by
    /// its English name, which GeoNames uses; else ISO's code (`US-MD`) creates one. Those without
    /// a code are returned with the reason.
    mutating func add(_ added: [LocatorDraft.Area]) -> (
        areas: [LocatorDraft.Area], refused: [RejectedLine]
    ) {
        var known: [[UInt8]: String] = [:]
        for (code, region) in regions.sorted(by: { $0.key < $1.key }) {
            for name in [region.name, region.asciiName] where !name.isEmpty {
                let key = Folder.fold(code.prefix(2) + " " + name).bytes
                known[key] = known[key] ?? String(code)
            }
        }
        func code(_ area: LocatorDraft.Area, named name: String) -> String? {
            known[Folder.fold(area.country + " " + name).bytes]
        }
        // A division's primary name is not matched as another's alternate name.
        let own = Set(added.compactMap { $0.kind == .region ? code($0, named: $0.name) : nil })
        var result: [LocatorDraft.Area] = []
        var refused: [RejectedLine] = []
        for var area in added {
            switch area.kind {
            case .municipality: break
            case .country:
                if countries[area.code] == nil {
                    countries[area.code] = Country(
                        code: area.code, code3: "", name: area.name, capital: "", population: 0,
                        id: 0)
                }
            case .region:
                let english = area.languageNames.first { $0.language == "en" }
                let named =
                    code(area, named: area.name)
                    ?? english.flatMap { code(area, named: $0.name) }.flatMap {
                        own.contains($0) ? nil : $0
                    }
                let dotted = area.code.prefix(2) + "." + area.code.dropFirst(3)
                let isGeoNames = area.code.utf8.dropFirst(2).first == 0x2E
                if isGeoNames, regions[String(dotted)] != nil {
                    area.code = String(dotted)
                } else if let named {
                    area.code = named
                } else if area.code.utf8.count > 3 {
                    area.code = String(dotted)
                } else {
                    refused.append(
                        RejectedLine(
                            source: area.origin.source, line: area.origin.number,
                            reason:
                                "division '\(area.name.prefix(40))' of \(area.code) has no code, "
                                + "and the gazetteers have no division of that name"))
                    continue
                }
                if regions[area.code] == nil {
                    regions[area.code] = Division(
                        code: area.code, name: area.name, asciiName: "", id: 0)
                }
            }
            if area.kind != .municipality {
                var names = areas[area.code] ?? AreaNames()
                names.origins.add(Origin(source: area.source, id: area.identifier))
                names.alternateNames += [area.name] + area.alternateNames
                names.languageNames.add(area.languageNames)
                areas[area.code] = names
            }
            result.append(area)
        }
        return (result, refused)
    }

    /// Fills in missing countries and regions of settlements from the area around them.
    mutating func settle(in borders: BorderDraft) {
        guard !borders.isEmpty else { return }
        for number in settlements.indices {
            var (country, region) = (settlements[number].country, settlements[number].region)
            borders.complete(&country, &region, at: settlements[number].location)
            (settlements[number].country, settlements[number].region) = (country, region)
        }
        // A country or division without a settlement is located by its border.
        for area in borders.areas.reversed() where outlines[area.code] == nil {
            var bounds = GeographicBounds()
            for ring in area.rings { for vertex in ring { bounds.add(vertex) } }
            let shape = Shape.polygon(rings: area.rings)
            let center = shape.centroid.flatMap {
                PreparedShape(shape, isIndexed: false).contains($0) ? $0 : nil
            }
            let seat = Seat(
                location: center ?? area.rings[0][0], extent: bounds.envelope(marginDegrees: 0),
                population: 0, alternateNames: [])
            outlines[area.code] = seat
            if outlines[area.country] == nil { outlines[area.country] = seat }
        }
    }
}
