// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import MapState

/// The past of maps and features, resources of Cairn's own in Esri's manner.
enum HistoryResource {
    /// An event, without its payload.
    struct Event: Encodable {
        var sequence: Int64
        var recordedAt: String
        var type: String
        var actor: String?

        init(_ record: RecordedEvent) {
            sequence = record.globalPosition
            recordedAt = CalendarClock(record.recordedAt).text
            type = record.event.type
            actor = record.event.metadata.actor
        }
    }

    /// A change of a map.
    struct MapChange: Encodable {
        var event: Event
        /// Number of features that it changed, where it is an edit or an undo of edits.
        var featureCount: Int?
        /// The layers of these.
        var layers: [LayerID]?

        init(_ record: RecordedEvent) {
            event = Event(record)
            switch try? MapEvent(record.event) {
            case .featuresEdited(let edited)?:
                layers = edited.layers.map(\.layer)
                featureCount = edited.layers.reduce(0) {
                    $0 + $1.added.count + $1.changed.count + $1.deleted.count
                }
            case .restored(let restored)?:
                let edited = restored.layers.filter { $0.features?.isEmpty == false }
                guard !edited.isEmpty else { return }
                layers = edited.map(\.layer)
                featureCount = edited.reduce(0) { $0 + ($1.features?.count ?? 0) }
            default: break
            }
        }
    }

    /// The answer of `MapServer/history`.
    struct MapHistory: Encodable {
        var map: MapName
        /// Newest first.
        var changes: [MapChange]
        /// The next page is that before this sequence number; absent at the beginning.
        var before: Int64?
    }

    /// A change of a feature.
    struct FeatureChange: Encodable {
        var event: Event
        /// `added`, `changed` or `removed`.
        var change: String
        var fields: [FieldChange]

        init(_ change: FeatureHistory.Change) throws(Failure) {
            event = Event(change.record)
            self.change =
                change.before == nil ? "added" : change.after == nil ? "removed" : "changed"
            fields = try change.fields()
        }
    }

    /// The answer of `MapServer/{layer}/{objectId}/history`.
    struct OfFeature: Encodable {
        var map: MapName
        var layer: LayerID
        var objectId: Int64
        /// Oldest first.
        var changes: [FeatureChange]
    }

    /// The answer of `MapServer/identify/compare`.
    struct Comparison: Encodable {
        var first: Int64
        var second: Int64
        var differences: [IdentifyComparison.Difference]
        var events: [Event]
    }

    /// Limit of a map's events for one answer.
    static let eventBound = 500_000
    /// Number of changes of a page.
    static let pageSize = 50

    /// A sequence number or a time; throws `invalidParameter` for anything else.
    static func moment(
        _ parameters: Parameters, _ parameter: Parameter<String?>
    ) throws(Failure) -> AsOf {
        let text = try parameters.required(parameter)
        guard let moment = AsOf(parsing: text) else {
            throw Parameters.unexpected(
                parameter.name, text, "a sequence number, or a time like 2026-11-21T09:30:00Z")
        }
        return moment
    }
}
