// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnClient
public import CairnModel
internal import Dataset
internal import Foundation
public import Site
public import Synchronization
public import TestKit

/// A site on the disk with one map, whose log is in memory and fed by hand to a follower.
public final class FedSite: Sendable {
    /// The site; its directory goes away with this.
    public let site: Site
    /// The map and its log.
    public let map: RecordedMap
    /// Has ingested every event of the log.
    public let follower: MapFollower
    /// Whether the maps may have changed unnoticed.
    public let isStale = Atomic<Bool>(false)
    /// How often the log was read.
    public let readCount = Atomic<Int>(0)

    /// A site whose map has no layer.
    public init() throws {
        site = try Site(
            openingOrCreating: NSTemporaryDirectory() + "cairn-fed-" + UUID().uuidString)
        let follower = MapFollower()
        self.follower = follower
        map = try RecordedMap { follower.ingest([$0], upTo: $0.globalPosition) }
    }

    deinit { try? FileManager.default.removeItem(atPath: site.path) }

    /// Imports, adds and loads a layer of one square around (5, 5): three events.
    public func addSquare(_ name: String, as id: LayerID) throws {
        let path = site.path + "/\(name).geojson"
        try RecordedMap.writeSquare(named: name, to: path)
        let layer = try DatasetBuilder.importFile(path: path, into: site.datasetsDirectory)[0]
        try map.add(LayerSource(dataset: layer.dataset), layer.properties, as: id)
    }

    /// The events that a request names; counted.
    public func read(_ request: ReadRequest) -> [RecordedEvent] {
        readCount.add(1, ordering: .relaxed)
        return map.events(request)
    }
}
