// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry
internal import Platform
internal import SpatialIndex

/// The borders of countries and first-level divisions in an opened, validated locator file.
///
/// The bytes are passed to each call.
struct BorderFile: Sendable {
    private struct Area {
        var country: Int
        /// Nil for a country.
        var region: Int?
        var accuracyMeters: Double
    }

    private let areas: [Area]
    private let search: AreaSearch
    private let index: Range<Int>
    private let vertices: Range<Int>
    /// Accuracy of the least accurate area, in metres.
    private let reachMeters: Double
    /// Countries with borders of their own or of a division.
    private let countries: Set<Int>

    /// Nil for a file without areas; throws for inconsistent sections.
    init?(checking bytes: RawSpan, _ sections: [Range<Int>]) throws(LocatorFile.Damage) {
        guard sections.count > LocatorLayout.Section.areaIndex.rawValue else { return nil }
        let records = sections[LocatorLayout.Section.areas.rawValue]
        guard !records.isEmpty else { return nil }
        index = sections[LocatorLayout.Section.areaIndex.rawValue]
        vertices = sections[LocatorLayout.Section.areaVertices.rawValue]
        areas = stride(from: records.lowerBound, to: records.upperBound, by: 12).map { at in
            let region = bytes.uint32(at: at + 4)
            return Area(
                country: Int(bytes.uint32(at: at)),
                region: region == LocatorLayout.none ? nil : Int(region),
                accuracyMeters: Double(bytes.uint32(at: at + 8)))
        }
        countries = Set(areas.map(\.country))
        reachMeters = areas.reduce(0) { max($0, $1.accuracyMeters) }
        guard
            let search = AreaSearch(bytes.extracting(index), vertexByteCount: vertices.count),
            search.count == areas.count
        else { throw LocatorFile.Damage("the index of borders does not match the areas") }
        self.search = search
    }

    /// Checks every offset and index.
    func check(_ file: LocatorFile, _ bytes: RawSpan) throws(LocatorFile.Damage) {
        for (number, area) in areas.enumerated() {
            guard area.country < file.placeCount, file.kind(area.country, bytes) == .country,
                area.region.map({ $0 < file.placeCount && file.kind($0, bytes) == .region })
                    ?? true,
                area.accuracyMeters <= LocatorDraft.Area.worstAccuracyMeters
            else { throw LocatorFile.Damage("area \(number) is invalid") }
        }
        for at in stride(from: vertices.lowerBound, to: vertices.upperBound, by: 16) {
            guard abs(bytes.double(at: at)) <= 180, abs(bytes.double(at: at + 8)) <= 90 else {
                throw LocatorFile.Damage("a vertex of a border is invalid")
            }
        }
        guard
            search.isSound(
                index: bytes.extracting(index), vertices: bytes.extracting(vertices))
        else { throw LocatorFile.Damage("the index of borders is invalid") }
    }

    /// The country and first-level division around a position, ignoring the accuracy of borders;
    /// nil outside all areas.
    func territory(at location: Coordinate, _ bytes: RawSpan) -> Territory? {
        Self.territory(around(location, within: 0, bytes).map { areas[$0.feature] })
    }

    /// Whether the country or a division of it has a border.
    func knows(country: Int) -> Bool { countries.contains(country) }

    /// The territory that is certain given the accuracy of borders: nil where another country is
    /// possible, without the division where another division is.
    func certainTerritory(at location: Coordinate, _ bytes: RawSpan) -> Territory? {
        let near = around(location, within: reachMeters, bytes)
        let here = near.filter { $0.distance == 0 }.map { areas[$0.feature] }
        guard var result = Self.territory(here) else { return nil }
        let worst = here.reduce(0) { max($0, $1.accuracyMeters) }
        for one in near where one.distance > 0 {
            let other = areas[one.feature]
            guard one.distance <= max(worst, other.accuracyMeters) else { continue }
            if other.country != result.country { return nil }
            if let region = other.region, region != result.region { result.region = nil }
        }
        return result
    }

    /// The territory of the areas around a position, sorted by rising size.
    private static func territory(_ around: [Area]) -> Territory? {
        guard let country = (around.first { $0.region == nil } ?? around.first)?.country else {
            return nil
        }
        let region = around.first { $0.region != nil && $0.country == country }?.region
        return Territory(country: country, region: region)
    }

    private func around(
        _ location: Coordinate, within meters: Double, _ bytes: RawSpan
    ) -> [NearFeature] {
        search.areas(
            near: location, within: meters, index: bytes.extracting(index),
            vertices: bytes.extracting(vertices))
    }
}

/// The country around a position, with the first-level division where divisions have borders.
struct Territory: Hashable {
    /// Place numbers.
    var country: Int
    var region: Int?

    /// Its place: the division, else the country.
    var place: Int { region ?? country }
}

/// Selects the content of a territory.
///
/// A feature belongs to it by its codes, or by a position in the same area: a coarse border on the
/// wrong side of a town then does not separate the town from locations next to it. A position
/// outside all areas is in the sea beyond a coarse coast; it belongs to another country where that
/// country's borders are known.
struct TerritoryFilter {
    let file: LocatorFile
    let borders: BorderFile
    let territory: Territory

    func accepts(place: Int, _ bytes: RawSpan) -> Bool {
        accepts(codes: place, at: file.location(place, bytes), bytes)
    }

    /// Whether a house, or a position on a street, belongs to it, by the codes of its town and by
    /// its position.
    func accepts(
        street: Int, at location: Coordinate, _ addresses: AddressFile, _ bytes: RawSpan
    ) -> Bool {
        accepts(
            codes: addresses.place(ofTown: addresses.town(ofStreet: street, bytes), bytes),
            at: location, bytes)
    }

    private func accepts(codes place: Int, at location: Coordinate, _ bytes: RawSpan) -> Bool {
        let (country, region) = (file.country(place, bytes), file.region(place, bytes))
        if territory.region == nil ? country == territory.country : region == territory.region {
            return true
        }
        guard let around = borders.territory(at: location, bytes) else {
            // Off every coast: only a country with borders of its own can be another one.
            guard let country, borders.knows(country: country) else { return true }
            return country == territory.country && region == nil
        }
        guard around.country == territory.country else { return false }
        // In the country, with an unknown division.
        let isUndivided = around.region == nil && region == nil && country == territory.country
        return territory.region == nil || around.region == territory.region || isUndivided
    }
}
