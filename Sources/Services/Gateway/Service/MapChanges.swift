// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import EsriForms
internal import FoundationEssentials

/// What happens to one map as events for one reader.
///
/// An event says what changed, not to what: sources and attributes may be none of the reader's
/// business.
actor MapChanges: GatewayChanges {
    private let events: MapEvents
    /// Of what happened until this map only what concerns its layers is told; nil for everything.
    private let seenFrom: MapDescription?
    private var hasBegun = false

    init(_ events: MapEvents, seenFrom: MapDescription? = nil) {
        self.events = events
        self.seenFrom = seenFrom
    }

    func next(within limit: Duration) async throws(Failure) -> [GatewayEvent]? {
        // At once, so that the reader hears that it follows.
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

    /// An event of a map, of the past; nil where it is about layers that are no more, but for their
    /// removal.
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
            // Beside others only; Esri has no such events.
            guard let others = touched?.others else { return }
            json.member("layerIds", array: [layer] + others.compactMap(\.layer)) {
                $0.integer(Int64($1))
            }
        }
        self.init(name: "map", sequence: record.globalPosition, data: Data(json.bytes))
    }
}
