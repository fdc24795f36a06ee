// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Geometry
internal import RoadNetwork

/// The roads that a layer's features touch, and the layer in the state that they are of.
public struct FollowedRoads: Sendable {
    /// The edges, ascending.
    public var edges: [Int]
    /// The layer.
    public var layer: FollowedLayer

    /// States them.
    public init(edges: [Int], layer: FollowedLayer) {
        self.edges = edges
        self.layer = layer
    }
}

/// Finds the edges that the features of a layer touch: the road nearest to each point, within
/// ``RoutableNetwork/barrierRadius``, that one of some modes may use; those that share a position
/// with a line or an area.
///
/// Keeps what it found for each feature, so that after an edit only the features that it changed
/// are searched for. Used from one thread at a time.
public struct FeatureRoads: Sendable {
    private struct Found: Sendable {
        var shape: Shape
        var edges: [Int]
    }

    private var kept: [Int64: Found] = [:]

    /// The most features whose roads are looked for.
    public static let largestFeatureCount = 100_000
    /// The most positions of features that are kept; those of further ones are searched for again.
    private static let keptPositionCount = 2_000_000

    /// Nothing found yet.
    public init() {}

    /// The edges that some features touch in a network, ascending.
    ///
    /// - Parameters:
    ///   - network: The network; the same at each call.
    ///   - modes: The names of the modes of which one may use a road that a point names; nil for
    ///     all; the same at each call.
    ///   - forEachFeature: Calls its argument with the id of each feature and its shape, WGS 84
    ///     longitude and latitude.
    /// - Throws: `Failure`: `tooLarge`, naming the number or the feature, for more than
    ///   ``largestFeatureCount`` features, more than ``RoadChange/largestEdgeCount`` edges, and a
    ///   feature of too many positions; what `forEachFeature` throws.
    public mutating func edges(
        in network: RoutableNetwork, modes: [String]?,
        _ forEachFeature: ((Int64, Shape) throws(Failure) -> Void) throws(Failure) -> Void
    ) throws(Failure) -> [Int] {
        let usable =
            modes.map { $0.compactMap(network.roads.mode(named:)) }
            ?? Array(network.roads.modes.indices)
        let known = kept
        var (now, positionCount, featureCount): ([Int64: Found], Int, Int) = ([:], 0, 0)
        var edges: Set<Int> = []
        try forEachFeature { id, shape throws(Failure) in
            featureCount += 1
            guard featureCount <= Self.largestFeatureCount else {
                throw Failure(
                    .tooLarge,
                    "more than \(Self.largestFeatureCount) features lie within the network: a "
                        + "change follows at most so many")
            }
            var found = known[id]
            if found?.shape != shape {
                do throws(Failure) {
                    found = Found(
                        shape: shape, edges: try network.edges(ofFeature: shape, usable))
                } catch {
                    throw Failure(error.code, "feature \(id): \(error.message)")
                }
            }
            guard let found else { return }
            edges.formUnion(found.edges)
            guard edges.count <= RoadChange.largestEdgeCount else {
                throw Failure(
                    .tooLarge,
                    "the features up to \(id) touch \(edges.count) edges: expected at most "
                        + "\(RoadChange.largestEdgeCount) of one change")
            }
            positionCount += shape.coordinateCount
            if positionCount <= Self.keptPositionCount { now[id] = found }
        }
        kept = now
        return edges.sorted()
    }
}

extension RoutableNetwork {
    /// The edges that a feature of any number of positions that ``RoadNetwork`` takes is about.
    fileprivate func edges(ofFeature shape: Shape, _ modes: [Int]) throws(Failure) -> [Int] {
        let positions: [Coordinate]
        switch shape {
        case .point(let position): positions = [position]
        case .multipoint(let several): positions = several
        default: return try roads.edges(touching: shape)
        }
        guard positions.count <= RoadNetwork.shapeLimit else {
            throw Failure(
                .tooLarge,
                "\(positions.count) points: expected at most \(RoadNetwork.shapeLimit)")
        }
        var found: Set<Int> = []
        for position in positions { found.formUnion(try edges(nearest: position, modes)) }
        return found.sorted()
    }

    /// The edges by names that outlive rebuilds of the network, ascending.
    public func names(of edges: [Int]) -> [RoadEdge] { edges.map(roads.name(of:)).sorted() }

    /// The rectangle in which a feature may touch a road: that of the network, wider by
    /// ``barrierRadius``; longitude and latitude.
    public var reach: Envelope {
        let extent = published.extent
        // A tenth more than needed, for what rounding takes away.
        let meters = 1.1 * Self.barrierRadius
        let north = meters / Sphere.metersPerDegree
        let farthest = min(90, max(abs(extent.minY), abs(extent.maxY)) + north)
        let east = meters / Sphere.metersPerDegreeEast(latitude: farthest)
        return Envelope(
            minX: max(-180, extent.minX - east), minY: max(-90, extent.minY - north),
            maxX: min(180, extent.maxX + east), maxY: min(90, extent.maxY + north))
    }
}
