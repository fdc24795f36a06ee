// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import RoadNetwork
import RoadSources

/// The roads of a made extract: way 10 over nodes 1, 2 and 3.
struct MadeRoads {
    enum Direction { case forward, backward }

    let draft: RoadDraft
    let report: RoadReport

    /// Tags are `key=value`, apart by blanks; `§` stands for a blank in a value.
    init(
        _ tags: String, node: String = "", more: String = "", profiles: [String]
    ) throws {
        let path = try Self.file(tags, node: node, more: more)
        defer { try? FileManager.default.removeItem(atPath: path) }
        (draft, report) = try RoadSources.read(
            [path], profiles: profiles.map { try RoadProfile.named($0) }, expandingIn: "/tmp")
    }

    static func file(
        _ tags: String, node: String = "", more: String = "", version: Int = 1
    ) throws -> String {
        func elements(_ tags: String) -> String {
            tags.split(separator: " ").map { tag in
                let parts = tag.replacingOccurrences(of: "§", with: " ")
                    .split(separator: "=", maxSplits: 1)
                let value = parts[1].replacingOccurrences(of: "\"", with: "&quot;")
                return "<tag k=\"\(parts[0])\" v=\"\(value)\"/>"
            }.joined()
        }
        let xml = """
            <osm version="0.6">
            <node id="1" version="1" lat="0" lon="0"/>
            <node id="2" version="1" lat="0" lon="0.0009">\(elements(node))</node>
            <node id="3" version="1" lat="0" lon="0.0018"/>
            <way id="10" version="\(version)"><nd ref="1"/><nd ref="2"/><nd ref="3"/>
            \(elements(tags))</way>
            \(more)
            </osm>
            """
        let path = NSTemporaryDirectory() + "/roads-" + UUID().uuidString + ".osm"
        try xml.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    private func passage(_ direction: Direction, _ mode: Int) -> RoadDraft.Passage {
        guard let way = draft.ways.first(where: { $0.id == 10 }) else { return .closed }
        let traits = draft.traits[Int(way.traits)]
        return direction == .forward ? traits.forward[mode] : traits.backward[mode]
    }

    func access(_ direction: Direction, mode: Int = 0) -> RoadAccess {
        passage(direction, mode).access
    }

    func isOpen(_ direction: Direction, mode: Int = 0) -> Bool {
        access(direction, mode: mode) == .open
    }

    func speed(_ direction: Direction) -> Double { passage(direction, 0).speed }
}
