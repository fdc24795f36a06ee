// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import EsriForms
internal import FoundationEssentials

/// What happens to one map as events for one reader.
///
/// An event says what changed, not to what: sources and attributes may be none of the reader's business.
actor MapChanges: GatewayChanges {
    private let events: MapEvents
    private var hasBegun = false

    init(_ events: MapEvents) { self.events = events }

    func next(within limit: Duration) async throws(Failure) -> [GatewayEvent]? {
        // At once, so that the reader hears that it follows.
        guard hasBegun else {
            hasBegun = true
            return []
        }
        return try await events.next(within: limit)?.map(GatewayEvent.init)
    }
}

extension GatewayEvent {
    /// An event of a map.
    init(_ record: RecordedEvent) {
        struct Touched: Decodable {
            var layer: LayerID?
            var others: [Touched]?
        }
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
