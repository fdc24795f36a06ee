// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials
internal import MapState

/// Which maps and locators use which data of a site, now and in the past; folded from the log.
public struct DataUse: Sendable {
    /// A use of a dataset, a raster, a locator's or a network's file.
    public struct Use: Hashable, Sendable {
        /// `layer 2 of map World`, `locator World`.
        public var holder: String
        /// Global position of the event that began it.
        public var from: Int64
        /// Global position of the event that ended it; nil while it lasts.
        public var to: Int64?
        /// When that event was recorded; nil while it lasts.
        public var endedAt: Timestamp?
        /// Whether a deleted map holds it, whose deletion may be undone.
        public var isOfDeletedMap = false
    }

    private struct Holder: Hashable {
        var map: MapName
        var layer: LayerID
    }

    /// Every use, by the data's name; data that no event ever named are absent.
    public private(set) var uses: [ContentID: [Use]] = [:]
    private var maps = MapsState()
    private var current: [Holder: ContentID] = [:]
    private var locators: [String: ContentID] = [:]
    private var networks: [String: ContentID] = [:]

    /// Before the first event.
    public init() {}

    /// Folds the next record, of any category; throws as `MapsState.apply(_:)`.
    public mutating func apply(_ record: RecordedEvent) throws(Failure) {
        try maps.apply(record)
        switch record.stream.category {
        case "map": try note(try MapEvent(record.event), record)
        case "locator" where record.event.type == LocatorDeleted.eventType:
            let name = try LocatorDeleted.decode(record.event).name
            if let old = locators.removeValue(forKey: name) { end(old, "locator \(name)", record) }
        case "locator":
            let event = try LocatorPublished.decode(record.event)
            let holder = "locator \(event.name)"
            if let old = locators[event.name] { end(old, holder, record) }
            locators[event.name] = event.locator
            begin(event.locator, holder, record)
        case "network" where record.event.type == NetworkDeleted.eventType:
            let name = try NetworkDeleted.decode(record.event).name
            if let old = networks.removeValue(forKey: name) { end(old, "network \(name)", record) }
        case "network" where record.event.type == NetworkPublished.eventType:
            let event = try NetworkPublished.decode(record.event)
            let holder = "network \(event.name)"
            if let old = networks[event.name] { end(old, holder, record) }
            networks[event.name] = event.network
            begin(event.network, holder, record)
        default: break
        }
    }

    private mutating func note(_ event: MapEvent, _ record: RecordedEvent) throws(Failure) {
        switch event {
        case .layerAdded, .layerRemoved, .layerSourceChanged, .layerReplaced, .layerCompacted,
            .restored, .deleted, .revived:
            break
        default: return
        }
        guard let name = MapName(rawValue: String(record.stream.rawValue.dropFirst(4))) else {
            return
        }
        var now: [Holder: ContentID] = [:]
        for layer in maps.map(named: name)?.layers ?? [] {
            switch layer.kind.source {
            case .dataset(let id)?, .raster(let id)?:
                now[Holder(map: name, layer: layer.id)] = id
            default: break
            }
        }
        for (holder, id) in current where holder.map == name && now[holder] != id {
            current[holder] = nil
            end(id, Self.text(holder), record, isDeletion: event == .deleted(MapDeleted()))
        }
        for (holder, id) in now where current[holder] != id {
            current[holder] = id
            begin(id, Self.text(holder), record)
        }
    }

    private static func text(_ holder: Holder) -> String {
        "layer \(holder.layer) of map \(holder.map)"
    }

    private mutating func begin(_ id: ContentID, _ holder: String, _ record: RecordedEvent) {
        uses[id, default: []].append(Use(holder: holder, from: record.globalPosition))
    }

    private mutating func end(
        _ id: ContentID, _ holder: String, _ record: RecordedEvent, isDeletion: Bool = false
    ) {
        guard let place = uses[id]?.lastIndex(where: { $0.holder == holder && $0.to == nil })
        else { return }
        uses[id]?[place].to = record.globalPosition
        uses[id]?[place].endedAt = record.recordedAt
        uses[id]?[place].isOfDeletedMap = isDeletion
    }
}
