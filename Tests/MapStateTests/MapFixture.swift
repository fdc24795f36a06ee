// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Geometry
import MapState
import Testing

/// A log in memory for one or more maps, with the state folded from it.
struct MapFixture {
    static let world = name("World")

    private static func name(_ text: String) -> MapName {
        guard let name = MapName(rawValue: text) else { preconditionFailure(text) }
        return name
    }

    var state = MapsState()
    private(set) var records: [RecordedEvent] = []

    init() {}

    /// A fixture with the empty map `World`.
    init(created: Bool) throws {
        if created { try run(.createMap) }
    }

    /// Carries a command out, as the service would; returns the events.
    @discardableResult
    mutating func run(
        _ command: MapCommand, on map: MapName = world, id: UUID = UUID()
    ) throws -> [MapEvent] {
        let events = try state.decide(MapCommandRequest(id: id, map: map, command: command))
        for event in events { try append(event, to: map, causation: id) }
        return events
    }

    /// Appends one event and folds it in.
    mutating func append(
        _ event: MapEvent, to map: MapName = world, causation: UUID? = nil
    ) throws {
        let record = RecordedEvent(
            globalPosition: state.sequence + 1, stream: .map(map),
            streamPosition: (state.streamPosition(of: map) ?? -1) + 1,
            recordedAt: Timestamp(microseconds: 0),
            event: try event.payload.newEvent(
                id: UUID(), metadata: EventMetadata(causation: causation)))
        try state.apply(record)
        records.append(record)
    }

    /// Adds a feature layer and returns its number.
    @discardableResult
    mutating func addLayer(
        _ name: String, in parent: LayerID? = nil, at index: Int? = nil
    ) throws -> LayerID {
        let events = try run(
            .addLayer(
                name: name, source: Self.source(1), place: .init(parent: parent, index: index)))
        return try #require(events.first?.addedLayer)
    }

    /// Adds a group and returns its number.
    @discardableResult
    mutating func addGroup(
        _ name: String, in parent: LayerID? = nil, at index: Int? = nil
    ) throws -> LayerID {
        let events = try run(
            .addGroup(name: name, place: .init(parent: parent, index: index)))
        return try #require(events.first?.addedLayer)
    }

    /// Loads a layer, as the service would.
    mutating func load(_ layer: LayerID, wkid: Int = 3857, fields: [String] = ["NAME"]) throws {
        try append(.layerLoadStarted(LayerLoadStarted(layer: layer)))
        try append(
            .layerLoaded(
                LayerLoaded(layer: layer, properties: Self.properties(wkid: wkid, fields: fields))))
    }

    /// Lets a layer's load fail.
    mutating func failLoad(_ layer: LayerID) throws {
        try append(.layerLoadStarted(LayerLoadStarted(layer: layer)))
        try append(
            .layerLoadFailed(
                LayerLoadFailed(layer: layer, error: Failure(.unreadable, "gone"))))
    }

    var world: MapDescription {
        get throws { try #require(state.map(named: Self.world)) }
    }

    static func source(_ number: Int) -> LayerSource { .dataset(content(number)) }

    static func content(_ number: Int) -> ContentID {
        let digits = String(number, radix: 16)
        let text = String(repeating: "0", count: 64 - digits.count) + digits
        guard let content = ContentID(rawValue: text) else { preconditionFailure(text) }
        return content
    }

    static func properties(wkid: Int, fields: [String]) -> LayerProperties {
        LayerProperties(
            extent: Envelope(minX: 0, minY: 0, maxX: Double(wkid), maxY: 1),
            spatialReference: SpatialReference(wkid: wkid), geometryType: .polygon,
            fields: [FieldDescription(name: "OBJECTID", type: .objectID)]
                + fields.map { FieldDescription(name: $0, type: .string) }
                + [FieldDescription(name: "BUILT", type: .date)],
            featureCount: 3)
    }
}

extension MapEvent {
    var addedLayer: LayerID? {
        guard case .layerAdded(let event) = self else { return nil }
        return event.layer
    }
}

/// The code with which a command is refused; nil when it is accepted.
func refusal(_ fixture: MapFixture, _ command: MapCommand) -> Failure.Code? {
    do throws(Failure) {
        _ = try fixture.state.decide(
            MapCommandRequest(id: UUID(), map: MapFixture.world, command: command))
        return nil
    } catch {
        return error.code
    }
}
