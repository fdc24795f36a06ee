// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry

/// The sides of a rectangle that a place is beyond, as bits.
private func sides(of box: Envelope, beyond place: Coordinate) -> UInt8 {
    (place.x < box.minX ? 1 : 0) | (place.x > box.maxX ? 2 : 0)
        | (place.y < box.minY ? 4 : 0) | (place.y > box.maxY ? 8 : 0)
}

extension GeometryStore {
    /// What a rectangle needs of the geometry: every edge that is not wholly beyond one of its
    /// sides, with both ends as they were.
    ///
    /// Nothing is cut, so no coordinate is rounded: a tile made from geometry that was trimmed to
    /// a larger rectangle, and a larger before, equals the tile made from all of it. What replaces
    /// a chain of left-out edges of a ring stays beyond the same side.
    func trimmed(to box: Envelope, kinds: (Int) -> GeometryKind) -> GeometryStore {
        var result = GeometryStore()
        for entry in entries where entry.envelope.intersects(box) {
            let isInside =
                box.minX <= entry.envelope.minX && entry.envelope.maxX <= box.maxX
                && box.minY <= entry.envelope.minY && entry.envelope.maxY <= box.maxY
            let firstPart = result.partEnds.count
            let firstCoordinate = result.coordinates.count
            for part in entry.parts {
                let range = coordinates(ofPart: part)
                if isInside {
                    result.coordinates.append(contentsOf: coordinates[range])
                } else {
                    switch kinds(entry.feature) {
                    case .point:
                        for place in coordinates[range] where box.contains(place) {
                            result.coordinates.append(place)
                        }
                    case .line: trim(path: range, to: box, into: &result)
                    case .polygon: trim(ring: range, to: box, into: &result)
                    }
                }
                if result.coordinates.count > (result.partEnds.last ?? 0) {
                    result.partEnds.append(result.coordinates.count)
                }
            }
            guard result.partEnds.count > firstPart else { continue }
            var envelope = entry.envelope
            if !isInside {
                envelope = .empty
                for place in result.coordinates[firstCoordinate...] { envelope.extend(to: place) }
            }
            result.entries.append(
                Entry(
                    feature: entry.feature, parts: firstPart..<result.partEnds.count,
                    envelope: envelope))
        }
        return result
    }

    private func trim(path: Range<Int>, to box: Envelope, into result: inout GeometryStore) {
        var isOpen = false
        var before = path.lowerBound
        var beforeSides = sides(of: box, beyond: coordinates[before])
        for place in path.dropFirst() {
            let placeSides = sides(of: box, beyond: coordinates[place])
            if beforeSides & placeSides == 0 {
                if !isOpen { result.coordinates.append(coordinates[before]) }
                result.coordinates.append(coordinates[place])
                isOpen = true
            } else if isOpen {
                result.partEnds.append(result.coordinates.count)
                isOpen = false
            }
            (before, beforeSides) = (place, placeSides)
        }
    }

    private func trim(ring: Range<Int>, to box: Envelope, into result: inout GeometryStore) {
        let first = result.coordinates.count
        let firstSides = sides(of: box, beyond: coordinates[ring.lowerBound])
        var keptSides = firstSides
        var placeSides = firstSides
        var common = firstSides
        for place in ring {
            let next = place + 1
            let nextSides =
                next < ring.upperBound ? sides(of: box, beyond: coordinates[next]) : firstSides
            if place == ring.lowerBound || keptSides & placeSides & nextSides == 0 {
                result.coordinates.append(coordinates[place])
                keptSides = placeSides
                common &= placeSides
            }
            placeSides = nextSides
        }
        if common != 0 { result.coordinates.removeSubrange(first...) }
    }
}
