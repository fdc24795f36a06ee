// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry
internal import Platform

/// One reverse geocode: the nearest feature of the requested types on the same side of the borders.
struct ReverseSearch {
    /// The kind of a result.
    enum Target {
        case intersection(Intersection)
        case address(NearestAddress.Found)
        case place(Int)
        /// The division or country around the location, where nothing in it is close enough.
        case area(Int)
    }

    /// A result with its distance.
    struct Found {
        var target: Target
        /// 0 for an area.
        var meters: Double
        /// Distance of a nearer feature across a border; nil without one.
        var metersAcross: Double?
    }

    let file: LocatorFile
    let location: Coordinate
    let maxMeters: Double
    /// Esri's feature types in small letters; nil for all.
    let types: Set<String>?

    /// Distance within which a house precedes a nearer street without numbers, in metres.
    private static let housePreferredMeters = 50.0
    /// The default distance, in metres, at which a settlement's extent counts; other values are
    /// plain limits.
    private static let usualMeters = 100.0
    /// Limit of the distance from a settlement whose extent contains the location, in metres.
    private static let farthestSettlementMeters = 100_000.0

    /// The address kinds of Esri's feature types: `PointAddress` for houses with a position,
    /// `StreetAddress` for these and interpolated ones.
    private var addressSorts: AddressSorts {
        guard let types else { return [.houses, .ranges, .streets] }
        var sorts: AddressSorts = []
        if types.contains("pointaddress") { sorts.insert(.houses) }
        if types.contains("streetaddress") { sorts.formUnion([.houses, .ranges]) }
        if types.contains("streetname") { sorts.insert(.streets) }
        return sorts
    }

    /// Whether a house is preferred to its street.
    var wantsHouses: Bool { addressSorts.contains(.houses) }

    private enum Sort: CaseIterable {
        case intersections, points, addresses, places
    }

    private func wants(_ sort: Sort) -> Bool {
        switch sort {
        case .intersections: types?.contains("streetint") ?? false
        case .points: types?.contains("poi") ?? false
        case .addresses: !addressSorts.isEmpty
        case .places: types?.contains("locality") ?? true
        }
    }

    /// Searches intersections, then points of interest, where requested, then houses and streets,
    /// then places; restricted to the country and division around the location where their borders
    /// are known.
    func run(_ bytes: RawSpan) -> Found? {
        let filter = file.borders.flatMap { borders in
            borders.certainTerritory(at: location, bytes).map {
                TerritoryFilter(file: file, borders: borders, territory: $0)
            }
        }
        var across = Double.infinity
        for sort in Sort.allCases where wants(sort) {
            guard let nearest = nearest(sort, nil, bytes) else { continue }
            var own: Found? = nearest
            if let filter, !accepts(nearest.target, filter, bytes) {
                across = min(across, nearest.meters)
                own = self.nearest(sort, filter, bytes)
            }
            if var own {
                own.metersAcross = across < own.meters ? across : nil
                return own
            }
        }
        guard wants(.places) else { return nil }
        if maxMeters == Self.usualMeters, var own = containingSettlement(filter, bytes) {
            own.metersAcross = across < own.meters ? across : nil
            return own
        }
        guard let filter else { return nil }
        return Found(
            target: .area(filter.territory.place), meters: 0,
            metersAcross: across.isFinite ? across : nil)
    }

    private func nearest(_ sort: Sort, _ filter: TerritoryFilter?, _ bytes: RawSpan) -> Found? {
        switch sort {
        case .intersections:
            guard let addresses = file.addresses else { return nil }
            let search = NearestIntersection(
                file: addresses, location: location, filter: filter)
            return search.run(within: maxMeters, bytes).map {
                Found(target: .intersection($0.0), meters: $0.meters)
            }
        case .addresses:
            guard let addresses = file.addresses else { return nil }
            return nearestAddress(addresses, filter, bytes)
                .map { Found(target: .address($0), meters: $0.meters) }
        case .places:
            return nearest(in: file.nearest, filter, bytes)
        case .points: return file.points.flatMap { nearest(in: $0.nearest, filter, bytes) }
        }
    }

    /// The nearest of the requested addresses, but a nearby house before a street without numbers.
    private func nearestAddress(
        _ addresses: AddressFile, _ filter: TerritoryFilter?, _ bytes: RawSpan
    ) -> NearestAddress.Found? {
        func nearest(_ sorts: AddressSorts, _ meters: Double) -> NearestAddress.Found? {
            var search = NearestAddress(
                file: addresses, location: location, within: meters, sorts, filter: filter)
            return search.run(bytes)
        }
        let sorts = addressSorts
        let found = nearest(sorts, maxMeters)
        guard let found, found.house == nil, sorts.contains(.houses) else { return found }
        return nearest(
            sorts.subtracting(.streets), min(maxMeters, Self.housePreferredMeters)) ?? found
    }

    /// The nearest town or village whose extent contains the location.
    private func containingSettlement(_ filter: TerritoryFilter?, _ bytes: RawSpan) -> Found? {
        let search = NearestSearch(
            file.nearest, location: location, filter: filter, containing: file)
        return search.run(within: Self.farthestSettlementMeters, bytes)
            .map { Found(target: .place($0.place), meters: $0.meters) }
    }

    private func nearest(
        in positions: StoredPositions, _ filter: TerritoryFilter?, _ bytes: RawSpan
    ) -> Found? {
        NearestSearch(positions, location: location, filter: filter)
            .run(within: maxMeters, bytes)
            .map { Found(target: .place($0.place), meters: $0.meters) }
    }

    private func accepts(_ target: Target, _ filter: TerritoryFilter, _ bytes: RawSpan) -> Bool {
        switch (target, file.addresses) {
        case (.intersection(let crossing), let addresses?):
            filter.accepts(street: crossing.first, at: crossing.location, addresses, bytes)
                && filter.accepts(street: crossing.second, at: crossing.location, addresses, bytes)
        case (.address(let found), let addresses?):
            filter.accepts(street: found.street, at: found.location, addresses, bytes)
        case (.place(let place), _): filter.accepts(place: place, bytes)
        case (.intersection, nil), (.address, nil), (.area, _): true
        }
    }
}
