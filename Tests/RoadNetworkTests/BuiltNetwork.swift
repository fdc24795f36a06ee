// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import RoadNetwork
import RoadSources

/// A network in a directory of its own, which ends with it.
final class BuiltNetwork {
    let directory: String
    let built: NetworkBuilder.Built
    let network: RoadNetwork
    var path: String { "\(directory)/\(built.id.rawValue)/\(NetworkBuilder.fileName)" }

    convenience init(paths: [String], profiles: [RoadProfile]) throws {
        let directory = NSTemporaryDirectory() + "/networks-" + UUID().uuidString
        let (roads, _) = try RoadSources.read(
            paths, profiles: profiles, expandingIn: NSTemporaryDirectory())
        try self.init(roads, in: directory)
    }

    init(
        _ draft: RoadDraft,
        in directory: String = NSTemporaryDirectory() + "/networks-" + UUID().uuidString
    ) throws {
        self.directory = directory
        built = try NetworkBuilder.build(draft, into: directory)
        network = try RoadNetwork(
            path: "\(directory)/\(built.id.rawValue)/\(NetworkBuilder.fileName)", id: built.id)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }
}
