// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The five kinds of geometry in Esri's vocabulary, in one planar coordinate system.
///
/// A polygon is an unordered set of closed rings (first coordinate repeated last); holes follow
/// from even-odd nesting, so the winding of rings never changes an answer.
public enum Shape: Hashable, Sendable, Codable {
    /// One position.
    case point(Coordinate)
    /// Any number of positions.
    case multipoint([Coordinate])
    /// Any number of paths, each an open or closed chain of at least two coordinates.
    case polyline(paths: [[Coordinate]])
    /// Any number of rings, each closed: first coordinate equal to the last, four or more in all.
    case polygon(rings: [[Coordinate]])
    /// An axis-aligned rectangle.
    case envelope(Envelope)

    /// The smallest rectangle around every coordinate; ``Envelope/empty`` without any.
    public var envelope: Envelope {
        var bounds = Envelope.empty
        switch self {
        case .point(let coordinate): bounds.extend(to: coordinate)
        case .multipoint(let coordinates): coordinates.forEach { bounds.extend(to: $0) }
        case .polyline(let parts), .polygon(let parts):
            for part in parts { part.forEach { bounds.extend(to: $0) } }
        case .envelope(let envelope): bounds = envelope
        }
        return bounds
    }

    /// Number of coordinates; an envelope counts as four.
    public var coordinateCount: Int {
        switch self {
        case .point: 1
        case .multipoint(let coordinates): coordinates.count
        case .polyline(let parts), .polygon(let parts): parts.reduce(0) { $0 + $1.count }
        case .envelope: 4
        }
    }

    /// The shape with every coordinate mapped; an envelope becomes that of its four mapped corners.
    public func mapCoordinates<E: Error>(
        _ transform: (Coordinate) throws(E) -> Coordinate
    ) throws(E) -> Shape {
        func each(_ coordinates: [Coordinate]) throws(E) -> [Coordinate] {
            var result: [Coordinate] = []
            result.reserveCapacity(coordinates.count)
            for coordinate in coordinates { result.append(try transform(coordinate)) }
            return result
        }
        func eachPart(_ parts: [[Coordinate]]) throws(E) -> [[Coordinate]] {
            var result: [[Coordinate]] = []
            result.reserveCapacity(parts.count)
            for part in parts { result.append(try each(part)) }
            return result
        }
        switch self {
        case .point(let coordinate): return .point(try transform(coordinate))
        case .multipoint(let coordinates): return .multipoint(try each(coordinates))
        case .polyline(let paths): return .polyline(paths: try eachPart(paths))
        case .polygon(let rings): return .polygon(rings: try eachPart(rings))
        case .envelope(let envelope):
            let corners = [
                Coordinate(x: envelope.minX, y: envelope.minY),
                Coordinate(x: envelope.maxX, y: envelope.minY),
                Coordinate(x: envelope.maxX, y: envelope.maxY),
                Coordinate(x: envelope.minX, y: envelope.maxY),
            ]
            return .envelope(Shape.multipoint(try each(corners)).envelope)
        }
    }
}
