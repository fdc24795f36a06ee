// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry
internal import Platform

/// A nearest-neighbour search in a tree over the unit sphere.
///
/// Chords order places like great circles do, so poles and the antimeridian need no special case.
struct NearestSearch {
    let positions: StoredPositions
    let target: UnitVector
    /// Excludes other territories.
    let filter: TerritoryFilter?
    /// Restricts the search to towns and villages of this file whose extent contains the location.
    let containing: LocatorFile?
    private let location: Coordinate

    init(
        _ positions: StoredPositions, location: Coordinate, filter: TerritoryFilter? = nil,
        containing: LocatorFile? = nil
    ) {
        self.positions = positions
        self.filter = filter
        self.containing = containing
        self.location = location
        target = UnitVector(location)
    }

    /// The nearest place within the distance, and its distance; the most important wins ties.
    func run(within meters: Double, _ bytes: RawSpan) -> (place: Int, meters: Double)? {
        var best: (place: Int, squaredChord: Double) = (.max, Sphere.squaredChord(meters: meters))
        visit(0..<positions.count, axis: 0, &best, bytes)
        guard best.place != .max else { return nil }
        return (best.place, Sphere.meters(squaredChord: best.squaredChord))
    }

    private func visit(
        _ range: Range<Int>, axis: Int, _ best: inout (place: Int, squaredChord: Double),
        _ bytes: RawSpan
    ) {
        guard !range.isEmpty else { return }
        let middle = range.lowerBound + range.count / 2
        let (place, vector) = positions.entry(middle, bytes)
        let distance = vector.squaredChord(to: target)
        if distance < best.squaredChord || distance == best.squaredChord && place < best.place,
            filter?.accepts(place: place, bytes) ?? true,
            isHolding(place, bytes)
        {
            best = (place, distance)
        }
        let offset = target.ordinate(axis) - vector.ordinate(axis)
        let low = range.lowerBound..<middle
        let high = middle + 1..<range.upperBound
        let next = (axis + 1) % 3
        visit(offset < 0 ? low : high, axis: next, &best, bytes)
        if offset * offset <= best.squaredChord {
            visit(offset < 0 ? high : low, axis: next, &best, bytes)
        }
    }

    private func isHolding(_ place: Int, _ bytes: RawSpan) -> Bool {
        guard let file = containing else { return true }
        return switch file.settlementKind(place, bytes) {
        case .partOfTown, .former: false
        default: Sphere.envelope(file.extent(place, bytes), contains: location)
        }
    }
}
