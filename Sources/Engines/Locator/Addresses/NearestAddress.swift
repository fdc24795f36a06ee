// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry
internal import Glibc
internal import Platform

/// The kinds of addresses in a reverse search.
struct AddressSorts: OptionSet {
    let rawValue: UInt8

    /// Houses with positions of their own.
    static let houses = AddressSorts(rawValue: 1)
    /// Lines with house numbers on the side of the location.
    static let ranges = AddressSorts(rawValue: 2)
    /// Lines of streets, with numbers or without, and streets that have neither line nor house.
    static let streets = AddressSorts(rawValue: 4)
}

/// The nearest house, line of a street, or street without both, by the R-tree of streets.
struct NearestAddress {
    /// A house, or a street without one.
    struct Found {
        var street: Int
        var house: AddressHouse?
        var meters: Double
        /// The location of the house or street, or the nearest one on its line.
        var location: Coordinate
    }

    let file: AddressFile
    /// Where only streets are requested, a house stands for its street.
    private let sorts: AddressSorts
    /// Excludes other territories.
    private let filter: TerritoryFilter?
    private let location: Coordinate
    private let vector: UnitVector
    /// Lower bound of metres per degree of longitude in the vicinity.
    private let metersPerDegreeEast: Double
    private var best: (street: Int, house: Int?, squaredChord: Double, location: Coordinate)
    /// The line of the nearest street without a nearer house.
    private var bestLine: (segment: Int, share: Double, side: StreetSide)?

    /// Limit of the search distance, in metres.
    static let farthestMeters = 10_000.0
    private static let metersPerDegree = Sphere.radius * .pi / 180

    /// Searches within `meters`, at most ``farthestMeters``.
    init(
        file: AddressFile, location: Coordinate, within meters: Double, _ sorts: AddressSorts,
        filter: TerritoryFilter? = nil
    ) {
        self.file = file
        self.sorts = sorts
        self.filter = filter
        let turns = (location.x / 360).rounded()
        self.location = Coordinate(x: location.x - 360 * turns, y: location.y)
        vector = UnitVector(location)
        let poleward = min(90, abs(location.y) + 0.2)
        metersPerDegreeEast = Self.metersPerDegree * max(0, cos(poleward * .pi / 180))
        let limit = Sphere.squaredChord(meters: min(meters, Self.farthestMeters))
        best = (-1, nil, limit, location)
    }

    /// Finds the nearest address; nil for none.
    ///
    /// The order in the file breaks ties.
    mutating func run(_ bytes: RawSpan) -> Found? {
        guard file.streetCount > 0 else { return nil }
        visit(level: file.rectangleLevels.count - 1, number: 0, bytes)
        guard best.street >= 0 else { return nil }
        return Found(
            street: best.street, house: house(bytes),
            meters: Sphere.meters(squaredChord: best.squaredChord), location: best.location)
    }

    /// The house found: on a line the one on the side of the location, where that side has houses.
    private func house(_ bytes: RawSpan) -> AddressHouse? {
        guard let line = bestLine else { return best.house.map { .point($0) } }
        return file.house(ofSegment: line.segment, line.side, at: line.share, bytes)
            .map { .range($0) }
    }

    private mutating func visit(level: Int, number: Int, _ bytes: RawSpan) {
        guard level > 0 else { return take(file.street(atOrder: number, bytes), bytes) }
        let width = file.rectangleLevels[level] - file.rectangleLevels[level - 1]
        let first = number * LocatorLayout.rectangleFanout
        var children: [(meters: Double, number: Int)] = []
        for child in first..<min(first + LocatorLayout.rectangleFanout, width) {
            let entry = file.rectangleLevels[level - 1] + child
            children.append((leastMeters(to: file.rectangle(entry, bytes)), child))
        }
        children.sort { ($0.meters, $0.number) < ($1.meters, $1.number) }
        for child in children {
            // At this distance a straight line on the plane is within a hundredth of the great
            // circle.
            let limit = Sphere.meters(squaredChord: best.squaredChord)
            guard child.meters * 0.99 <= limit else { break }
            visit(level: level - 1, number: child.number, bytes)
        }
    }

    /// Lower bound of the distance to everything in a rectangle.
    private func leastMeters(to rectangle: (Int32, Int32, Int32, Int32)) -> Double {
        let (west, east) = (Double(rectangle.0) / 1e7, Double(rectangle.2) / 1e7)
        let (south, north) = (Double(rectangle.1) / 1e7, Double(rectangle.3) / 1e7)
        var dx = Double.infinity
        for turn in [-360.0, 0, 360] {
            dx = min(dx, max(0, west - location.x - turn, location.x + turn - east))
        }
        let dy = max(0, south - location.y, location.y - north)
        let (x, y) = (dx * metersPerDegreeEast, dy * Self.metersPerDegree)
        return (x * x + y * y).squareRoot()
    }

    private mutating func take(_ street: Int, _ bytes: RawSpan) {
        let houses = file.houses(ofStreet: street, bytes)
        let segments = file.segments(ofStreet: street, bytes)
        if houses.isEmpty, segments.isEmpty, sorts.contains(.streets) {
            weigh(street, nil, file.location(ofStreet: street, bytes), bytes)
        }
        if sorts.contains(.houses) || sorts == .streets && segments.isEmpty {
            for house in houses {
                weigh(street, house, file.location(ofHouse: house, bytes), bytes)
            }
        }
        guard sorts.contains(.ranges) || sorts.contains(.streets) else { return }
        for segment in segments {
            let line = StreetLine(file, segment: segment, bytes)
            let found = line.nearest(to: location)
            let distance = Sphere.squaredChord(meters: found.meters)
            // Sides under different postcodes are two streets along one line.
            let isBetter =
                best.street < 0
                || bestLine.map { file.range(ofSegment: $0.segment, $0.side, bytes) == nil }
                    ?? false
                    && file.range(ofSegment: segment, found.side, bytes) != nil
            guard distance < best.squaredChord || distance == best.squaredChord && isBetter,
                sorts.contains(.streets)
                    || file.range(ofSegment: segment, found.side, bytes) != nil
            else { continue }
            let place = line.location(at: found.share, side: found.side, offsetMeters: 0)
            guard filter?.accepts(street: street, at: place, file, bytes) ?? true else { continue }
            best = (street, nil, distance, place)
            bestLine = (segment, found.share, found.side)
        }
    }

    private mutating func weigh(
        _ street: Int, _ house: Int?, _ location: Coordinate, _ bytes: RawSpan
    ) {
        let distance = vector.squaredChord(to: UnitVector(location))
        let isFirst = (street, house ?? 0) < (best.street, best.house ?? 0) && best.street >= 0
        if distance < best.squaredChord
            || distance == best.squaredChord && (isFirst || best.street < 0),
            filter?.accepts(street: street, at: location, file, bytes) ?? true
        {
            best = (street, house, distance, location)
            bestLine = nil
        }
    }
}
