// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import EsriForms
internal import FoundationEssentials
internal import Platform

/// Changes of one map as events for one reader.
///
/// An event names what changed without the new values: sources and attributes may be hidden from
/// the reader.
actor MapChanges: GatewayChanges {
    private let events: MapEvents
    /// Past events are limited to the layers of this map; nil for no limit.
    private let seenFrom: MapDescription?
    private var hasBegun = false

    init(_ events: MapEvents, seenFrom: MapDescription? = nil) {
        self.events = events
        self.seenFrom = seenFrom
    }

    func next(within limit: Duration) async throws(Failure) -> [GatewayEvent]? {
        // Sent at once, to confirm the subscription.
        guard hasBegun else {
            hasBegun = true
            return []
        }
        return try await events.next(within: limit)?.compactMap { record in
            guard let seenFrom, record.globalPosition <= seenFrom.sequence else {
                return GatewayEvent(record)
            }
            return GatewayEvent(record, seenFrom: seenFrom)
        }
    }
}

extension GatewayEvent {
    private struct Touched: Decodable {
        var layer: LayerID?
        var others: [Touched]?

        var layers: [LayerID] { [layer].compactMap { $0 } + (others ?? []).flatMap(\.layers) }
    }

    /// A past event of a map; nil for one of removed layers, except their removal.
    init?(_ record: RecordedEvent, seenFrom map: MapDescription) {
        let touched = try? CairnJSON.decode(Touched.self, from: record.event.data)
        let there = Set(map.layers.map(\.id))
        guard
            record.event.type == LayerRemoved.eventType
                || touched?.layers.allSatisfy(there.contains) == true
        else { return nil }
        self.init(record)
    }

    /// An event of a map.
    init(_ record: RecordedEvent) {
        let touched = try? CairnJSON.decode(Touched.self, from: record.event.data)
        var json = JSONWriter()
        json.object { json in
            json.member("sequence", Int(record.globalPosition))
            json.member("type", record.event.type)
            json.member("recordedAt", Int(record.recordedAt.microseconds / 1_000))
            guard let layer = touched?.layer else { return }
            json.member("layerId", layer)
            // Only if other features changed too; Esri has no such events.
            guard let others = touched?.others else { return }
            json.member("layerIds", array: [layer] + others.compactMap(\.layer)) {
                $0.integer(Int64($1))
            }
        }
        self.init(name: "map", sequence: record.globalPosition, data: Data(json.bytes))
    }
}
