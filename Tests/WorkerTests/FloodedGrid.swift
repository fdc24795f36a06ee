// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Dataset
import Foundation
import Geometry
import MapState
import RoadNetwork
import Synchronization
import TestKit
import Testing

@testable import Routing
@testable import WorkerPools

/// A grid of streets 0.001° apart with the log of its network in memory, and a map with layers of
/// areas, lines and points, each with the fields `name` and `depth`.
///
/// The way of row r is 1 + r, that of column c 101 + c. The logs of map and network count on their
/// own.
final class FloodedGrid: Sendable {
    static let side = 6
    static let areas = 0
    static let lines = 1
    static let points = 2

    let network: RoutableNetwork
    let networks: KeptNetworks
    let map: RecordedMap
    let layers: LayerRoads
    private let folder: String
    private let folded: Folded

    private final class Folded: Sendable {
        let state = Mutex(MapsState())
    }

    var maps: MapsState { folded.state.withLock { $0 } }

    init() throws {
        folder = NSTemporaryDirectory() + "/flooded-" + UUID().uuidString
        network = try Self.grid(in: folder)
        networks = try KeptNetworks(network.published)
        let folded = Folded()
        self.folded = folded
        map = try RecordedMap("Town") { record in
            folded.state.withLock { state in
                do { try state.apply(record) } catch { preconditionFailure("\(error)") }
            }
        }
        layers = LayerRoads(shelf: DatasetCache(directory: folder + "/datasets"))
        for (id, geometry) in [
            (Self.areas, #""Polygon","coordinates":[[[5,5],[6,5],[6,6],[5,5]]]"#),
            (Self.lines, #""LineString","coordinates":[[5,5],[6,6]]"#),
            (Self.points, #""Point","coordinates":[5,5]"#),
        ] {
            let dataset = try imported("\(id)", geometry)
            try map.add(LayerSource(dataset: dataset.dataset), dataset.properties, as: id)
            try map.append(LayerEditableChanged(layer: id, isEditable: true))
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// A dataset of one feature.
    func imported(_ name: String, _ geometry: String) throws -> ImportedLayer {
        let path = folder + "/\(name).geojson"
        let text = """
            {"type":"FeatureCollection","features":[{"type":"Feature","id":1,"properties":
            {"name":"\(name)","depth":1.5},"geometry":{"type":\(geometry)}}]}
            """
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return try DatasetBuilder.importFile(path: path, into: folder + "/datasets")[0]
    }

    private static func grid(in folder: String) throws -> RoutableNetwork {
        let modes = ["car", "foot"].map { name in
            NetworkMode(
                name: name, kind: name == "car" ? .automobile : .walk,
                travelModes: [NetworkMode.TravelMode(name: name + " time", minimises: .time)],
                turns: TurnCosts(
                    obeysRestrictions: true, right: [[0, 0], [180, 4]], left: [[0, 0], [180, 6]],
                    back: 20))
        }
        var draft = RoadDraft(modes: modes)
        for row in 0..<side {
            for column in 0..<side {
                draft.nodes.append(
                    RoadDraft.Node(
                        id: Int64(100 * row + column), x: Int32(10_000 * column),
                        y: Int32(10_000 * row)))
            }
        }
        func add(_ id: Int, _ name: String, _ nodes: [Int]) {
            var traits = RoadDraft.WayTraits()
            traits.roadClass = "residential"
            traits.name = name
            traits.forward = [
                RoadDraft.Passage(access: .open, speed: 36),
                RoadDraft.Passage(access: .open, speed: 5),
            ]
            traits.backward = traits.forward
            draft.ways.append(
                RoadDraft.Way(
                    id: Int64(id), traits: UInt32(draft.traits.count),
                    first: draft.wayNodes.count, count: nodes.count))
            draft.traits.append(traits)
            draft.wayNodes += nodes.map(UInt32.init)
        }
        for row in 0..<side { add(1 + row, "Row \(row)", (0..<side).map { side * row + $0 }) }
        for column in 0..<side {
            add(101 + column, "Column \(column)", (0..<side).map { side * $0 + column })
        }
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        let built = try NetworkBuilder.build(draft, into: folder + "/networks")
        let directory = folder + "/networks"
        let roads = try RoadNetwork(
            path: "\(directory)/\(built.id.rawValue)/\(NetworkBuilder.fileName)", id: built.id)
        return try RoutableNetwork(
            NetworkPublished(
                name: "Grid", network: built.id,
                topology: try RoutableNetwork.writeTopology(of: roads, in: directory),
                modes: modes, edgeCount: built.edgeCount, extent: roads.extent), in: directory)
    }

    // MARK: Commands

    /// Makes a change that follows a layer; returns its number.
    func follow(
        _ layer: LayerID, _ effect: RoadChange.Effect = .closed, where clause: String? = nil
    ) throws -> Int64 {
        let order = RoadChangeOrder(
            effect, .layer(RoadLayer(map: map.name, layer: "\(layer)", clause: clause)))
        let network = try #require(networks.known.network(named: "Grid"))
        let decision = try self.network.decide(.change(order), standing: network.changes) {
            layer, modes throws(Failure) in
            try self.layers.roads(of: layer, modes, in: self.maps, on: self.network)
        }
        return try networks.append(
            decision.payload, expected: network.streamPosition, id: .timeOrdered())
    }

    func end(_ change: Int64) throws {
        let network = try #require(networks.known.network(named: "Grid"))
        _ = try networks.append(
            RoadsRestored(name: "Grid", changes: [change]), expected: network.streamPosition,
            id: .timeOrdered())
    }

    /// A follower that begins with what the logs hold.
    func follower(_ log: (any NetworkLog)? = nil) -> RoadFollower {
        RoadFollower(
            log: log ?? networks,
            layers: LayerRoads(shelf: DatasetCache(directory: folder + "/datasets")),
            open: { [network] _ in network },
            makeMaps: { () throws(Failure) in MapFollower() })
    }

    /// The change that stands.
    func change(_ number: Int64) throws -> RoadChange {
        try #require(networks.known.network(named: "Grid")?.change(number)).change
    }

    func edit(
        _ layer: LayerID, added: [EditedFeature] = [], changed: [EditedFeature] = [],
        deleted: [Int64] = [], next: Int64
    ) throws {
        try map.append(
            FeaturesEdited(
                layer: layer, added: added, changed: changed, deleted: deleted, nextID: next,
                refused: nil))
    }

    static func feature(_ id: Int64, _ shape: Shape, depth: Double = 1) -> EditedFeature {
        EditedFeature(
            id: id, shape: shape,
            attributes: Attributes([
                .init(name: "name", value: .string("f\(id)")),
                .init(name: "depth", value: .real(depth)),
            ]))
    }

    static func rectangle(
        _ minX: Double, _ minY: Double, _ maxX: Double, _ maxY: Double
    ) -> Shape {
        .polygon(rings: [
            [(minX, minY), (minX, maxY), (maxX, maxY), (maxX, minY), (minX, minY)].map {
                Coordinate(x: $0.0 / 1000, y: $0.1 / 1000)
            }
        ])
    }
}

/// The log of one network in memory.
final class KeptNetworks: NetworkLog {
    private struct State {
        var networks = NetworksState()
        var records: [RecordedEvent] = []
    }

    private let state = Mutex(State())

    init(_ published: NetworkPublished) throws(Failure) {
        _ = try append(published, expected: -1, id: .timeOrdered())
    }

    var known: NetworksState { state.withLock { $0.networks } }
    var records: [RecordedEvent] { state.withLock { $0.records } }

    func networks(from position: Int64?) async throws(Failure) -> NetworksState { known }

    func append(_ event: RoadsFollowed, expected: Int64) async throws(Failure) -> Int64 {
        try append(event, expected: expected, id: .timeOrdered())
    }

    func append(
        _ payload: any EventPayload, expected: Int64, id: UUID
    ) throws(Failure) -> Int64 {
        let event = try payload.newEvent(id: id, metadata: EventMetadata())
        return try state.withLock { state throws(Failure) in
            let position = Int64(state.records.count)
            guard expected == position - 1 else {
                throw Failure(.conflict, "the stream ends at \(position - 1), not at \(expected)")
            }
            let record = RecordedEvent(
                globalPosition: position + 1, stream: .network("Grid"), streamPosition: position,
                recordedAt: Timestamp(microseconds: position), event: event)
            try state.networks.apply(record)
            state.records.append(record)
            return record.globalPosition
        }
    }
}
