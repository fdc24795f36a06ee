// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Foundation
internal import Geometry
internal import Synchronization

/// One map of a log in memory, with an event a second from 1970 on, and a click on it.
public final class RecordedMap: Sendable {
    /// Its name.
    public let name: MapName
    private let records = Mutex<[RecordedEvent]>([])
    private let hear: @Sendable (RecordedEvent) -> Void

    /// A log with the map's creation.
    ///
    /// - Parameter hear: Receives each event once it is in the log, the first within this call.
    public init(
        _ name: String = "World", hear: @escaping @Sendable (RecordedEvent) -> Void
    ) throws {
        self.name = try MapName(parsing: name)
        self.hear = hear
        try append(MapCreated(name: self.name))
    }

    /// Appends an event of the map.
    public func append(_ payload: some EventPayload) throws {
        let event = try payload.newEvent(id: UUID(), metadata: EventMetadata())
        let record = records.withLock { records in
            let position = Int64(records.count)
            let record = RecordedEvent(
                globalPosition: position + 1, stream: .map(name), streamPosition: position,
                recordedAt: Timestamp(microseconds: (position + 1) * 1_000_000), event: event)
            records.append(record)
            return record
        }
        hear(record)
    }

    /// Three events: a layer is added on top, loading and loaded.
    public func add(
        _ source: LayerSource, _ properties: LayerProperties, as id: LayerID
    ) throws {
        try append(
            LayerAdded(
                layer: id, name: "layer \(id)", kind: .layer(source: source), parent: nil,
                index: id))
        try append(LayerLoadStarted(layer: id))
        try append(LayerLoaded(layer: id, properties: properties))
    }

    /// The events that a request names, in the order of the log.
    public func events(_ request: ReadRequest) -> [RecordedEvent] {
        records.withLock { request.events(of: $0) }
    }

    /// Writes GeoJSON of one square around (5, 5) whose `name` is this.
    public static func writeSquare(named name: String, to path: String) throws {
        let text = """
            {"type":"FeatureCollection","features":[{"type":"Feature","id":1,
            "properties":{"name":"\(name)"},"geometry":{"type":"Polygon",
            "coordinates":[[[0,0],[10,0],[10,10],[0,10],[0,0]]]}}]}
            """
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    /// A click on that square: all layers, no tolerance.
    public func request(
        _ change: (inout IdentifyRequest) -> Void = { _ in }
    ) -> IdentifyRequest {
        var request = IdentifyRequest(
            map: name, geometry: .point(Coordinate(x: 5, y: 5)), layers: LayerSelection(.all),
            tolerance: 0, mapExtent: Envelope(minX: 0, minY: 0, maxX: 10, maxY: 10),
            imageDisplay: ImageDisplay(width: 100, height: 100))
        change(&request)
        return request
    }
}

extension ReadRequest {
    /// The events of a whole log that the request names.
    public func events(of records: [RecordedEvent]) -> [RecordedEvent] {
        Array(
            records.lazy.filter { record in
                guard record.globalPosition > after else { return false }
                if let stream { return record.stream == stream }
                return category.map { record.stream.category == $0 } ?? true
            }.prefix(limit))
    }
}
