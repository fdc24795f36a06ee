// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import RoadNetwork
import RoadSources
import Routing

/// A network for cars that is built from an extract; its files are gone with it.
final class ExtractNetwork {
    let draft: RoadDraft
    let roads: RoadNetwork
    let network: RoutableNetwork
    private let directory: String

    init(_ path: String) throws {
        directory = NSTemporaryDirectory() + "/extract-" + UUID().uuidString
        let (draft, _) = try RoadSources.read(
            [path], profiles: [try RoadProfile.named("car")], expandingIn: NSTemporaryDirectory())
        let built = try NetworkBuilder.build(draft, into: directory)
        let roads = try RoadNetwork(
            path: "\(directory)/\(built.id.rawValue)/\(NetworkBuilder.fileName)", id: built.id)
        network = try RoutableNetwork(
            NetworkPublished(
                name: "Extract", network: built.id,
                topology: try RoutableNetwork.writeTopology(of: roads, in: directory),
                modes: draft.modes, edgeCount: built.edgeCount, extent: roads.extent),
            in: directory)
        (self.draft, self.roads) = (draft, roads)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }
}
