// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
package import Dataset
internal import FeatureQuery
internal import Geometry
package import MapState
package import Routing
internal import Synchronization

/// The roads that the features of layers touch, as the site itself reads the layers.
///
/// A function of the maps and the network; what it found is kept for the next time. Callable from
/// any thread.
package final class LayerRoads: Sendable {
    private struct Kept: Sendable {
        var change: Int64
        var network: NetworkPublished
        var roads = FeatureRoads()
    }

    /// The most changes whose features are kept, the most recently used last.
    private static let capacity = 64

    private let engine: QueryEngine
    private let kept = Mutex<[Kept]>([])

    /// Reads the datasets of a shelf.
    package init(shelf: DatasetCache) {
        engine = QueryEngine { id throws(Failure) in try shelf.dataset(id) }
    }

    /// The roads of a layer that a new change is to follow.
    ///
    /// - Parameters:
    ///   - wanted: The layer.
    ///   - modes: The names of the modes that the change is about; nil for all.
    ///   - maps: The maps as they are.
    ///   - network: The network.
    /// - Throws: `Failure`: `notFound` for a map or layer that does not exist, `unavailable` for a
    ///   layer that is not loaded, `invalidParameter` for one without features and a clause that is
    ///   not understood, `tooLarge`, and what the datasets throw.
    package func roads(
        of wanted: RoadLayer, _ modes: [String]?, in maps: MapsState, on network: RoutableNetwork
    ) throws(Failure) -> FollowedRoads {
        guard let map = maps.map(named: wanted.map) else {
            throw Failure(.notFound, "there is no map '\(wanted.map)'")
        }
        let layer = try map.layer(ofRoads: wanted.layer)
        let followed = FollowedLayer(
            map: wanted.map, layer: layer.id, name: layer.name, clause: wanted.clause,
            sequence: maps.lastChange(of: wanted.map) ?? maps.sequence)
        var roads = FeatureRoads()
        return FollowedRoads(
            edges: try edges(&roads, followed, modes, in: map, on: network), layer: followed)
    }

    /// What a standing change that follows a layer has become; nil while it is as it was, and while
    /// the layer is being loaded.
    ///
    /// Where map or layer are gone the roads are free. Where the layer cannot be followed, because
    /// it touches too many roads or its clause does not fit its fields, they stay those that they
    /// were. Both are stated in the event.
    ///
    /// - Parameters:
    ///   - standing: The change.
    ///   - maps: The maps, not earlier than ``FollowedLayer/sequence``.
    ///   - network: The network.
    /// - Throws: `Failure` of datasets that cannot be read; nothing follows from it.
    package func update(
        of standing: StandingRoadChange, in maps: MapsState, on network: RoutableNetwork
    ) throws(Failure) -> RoadsFollowed? {
        guard var followed = standing.change.followed else { return nil }
        let modes = standing.change.modes
        followed.problem = nil
        followed.sequence = maps.lastChange(of: followed.map) ?? maps.sequence
        func event(_ edges: [RoadEdge]) -> RoadsFollowed? {
            standing.change.following(
                edges, followed, number: standing.number, network: network.published.name)
        }
        guard let map = maps.map(named: followed.map) else {
            followed.problem =
                "map '\(followed.map)' was deleted or has another name: no road is changed"
            return event([])
        }
        guard let layer = map.layer(followed.layer) else {
            followed.problem =
                "layer \(followed.layer) '\(followed.name)' was removed from map "
                + "'\(followed.map)': no road is changed"
            return event([])
        }
        followed.name = layer.name
        switch layer.loadStatus {
        case .notLoaded, .loading: return nil
        case .loaded, .failedToLoad: break
        }
        var roads = taken(standing.number, network.published)
        do throws(Failure) {
            let edges = try edges(&roads, followed, modes, in: map, on: network)
            keep(Kept(change: standing.number, network: network.published, roads: roads))
            return event(network.names(of: edges))
        } catch {
            switch error.code {
            case .invalidParameter, .tooLarge, .unavailable:
                followed.problem =
                    Failure(error.code, "the roads stay as they were: \(error.message)").message
                return event(standing.change.edges)
            default: throw error
            }
        }
    }

    private func edges(
        _ roads: inout FeatureRoads, _ layer: FollowedLayer, _ modes: [String]?,
        in map: MapDescription, on network: RoutableNetwork
    ) throws(Failure) -> [Int] {
        var request = QueryRequest(map: layer.map, layer: layer.layer)
        request.clause = layer.clause
        request.outReference = .wgs84
        request.spatialFilter = QuerySpatialFilter(
            geometry: .envelope(network.reach), spatialReference: .wgs84,
            relation: .envelopeIntersects)
        // Without graphics there are no fields that a clause could name.
        if let described = map.layer(layer.layer), case .layer(.graphics) = described.kind,
            described.graphics?.isEmpty ?? true
        {
            return []
        }
        return try roads.edges(in: network, modes: modes) { body throws(Failure) in
            try engine.forEachShape(request, in: map, body)
        }
    }

    private func taken(_ change: Int64, _ network: NetworkPublished) -> FeatureRoads {
        kept.withLock { kept in
            guard
                let place = kept.firstIndex(where: {
                    $0.change == change && $0.network == network
                })
            else { return FeatureRoads() }
            return kept.remove(at: place).roads
        }
    }

    private func keep(_ one: Kept) {
        kept.withLock { kept in
            kept.removeAll { $0.change == one.change }
            kept.append(one)
            if kept.count > Self.capacity { kept.removeFirst() }
        }
    }
}

extension MapDescription {
    /// The layer of that number, else of that name, letter case apart.
    fileprivate func layer(ofRoads text: String) throws(Failure) -> LayerDescription {
        if let id = LayerID(text), let layer = layer(id) { return layer }
        if let layer = layers.first(where: { $0.name == text }) { return layer }
        let alike = layers.filter { $0.name.lowercased() == text.lowercased() }
        guard alike.count == 1 else {
            let names = layers.prefix(20).map { "\($0.id) '\($0.name)'" }.joined(separator: ", ")
            throw Failure(
                .notFound,
                "map '\(name)' has no layer '\(text.prefix(80))'; "
                    + (names.isEmpty ? "it has none" : "there are: \(names)"))
        }
        return alike[0]
    }
}
