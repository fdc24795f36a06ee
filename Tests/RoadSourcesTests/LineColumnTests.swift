// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import RoadNetwork
import RoadSources
import Testing

struct LineColumnTests {
    private func columns(_ json: String) throws -> LineOptions.Columns {
        try LineOptions.Columns(json: Array(json.utf8), source: "mine.json")
    }

    /// One line from west to east, with the attributes.
    private func read(_ attributes: String, columns json: String?) throws -> RoadDraftOfLine {
        let path = NSTemporaryDirectory() + "/lines-" + UUID().uuidString + ".geojson"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let text = """
            {"type":"FeatureCollection","features":[{"type":"Feature","properties":\(attributes),
            "geometry":{"type":"LineString","coordinates":[[8,47],[8.01,47]]}}]}
            """
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        var options = try LineOptions()
        if let json { options.columns = try columns(json) }
        let (draft, _) = try RoadSources.read(
            [path], profiles: [try RoadProfile.named("plain")], lines: options,
            expandingIn: NSTemporaryDirectory())
        let traits = try #require(draft.traits.first)
        return RoadDraftOfLine(
            name: traits.name, roadClass: traits.roadClass,
            isOpenBackward: traits.backward.first?.access == .open)
    }

    private struct RoadDraftOfLine {
        var name: String
        var roadClass: String
        var isOpenBackward: Bool
    }

    @Test func `columns that a file does not state have their usual names`() throws {
        let usual = try read(
            #"{"name":"Main","class":"primary","oneway":"FT"}"#, columns: nil)
        #expect(usual.name == "Main" && usual.roadClass == "primary" && !usual.isOpenBackward)
        let stated = try read(
            #"{"road_name":"Side","kind":"main","oneway":"B"}"#,
            columns: """
                {"name":"road_name","roadClass":["sort","kind"],"classes":{"main":"primary"}}
                """)
        #expect(stated.name == "Side" && stated.roadClass == "primary" && stated.isOpenBackward)
    }

    @Test func `a stated column that no layer has is refused`() throws {
        let failure = #expect(throws: Failure.self) {
            try read(#"{"name":"Main"}"#, columns: #"{"name":["title","label_2"]}"#)
        }
        #expect(
            failure?.message == "no layer has the column 'title' or 'label_2' for name",
            "\(failure?.message ?? "")")
    }

    @Test(arguments: [
        ("[]", "expected JSON with names of columns"), (#"{"nome":"a"}"#, "'nome' is no member"),
        (#"{"name":7}"#, "'name': expected a name"), (#"{"name":[]}"#, "'name': expected a name"),
        (#"{"name":["a",7]}"#, "'name': expected a name"),
        (#"{"classes":["a"]}"#, "'classes': expected an object"),
        (#"{"classes":{"a":1}}"#, "'classes.a': expected a text"),
    ])
    func `a bad file of columns is refused by its member`(json: String, message: String) {
        let failure = #expect(throws: Failure.self) { try columns(json) }
        #expect(failure?.message.contains("'mine.json': \(message)") == true)
    }

    @Test func `options of line layers are refused of extracts`() throws {
        let path = try MadeRoads.file("highway=residential")
        defer { try? FileManager.default.removeItem(atPath: path) }
        let failure = #expect(throws: Failure.self) {
            try RoadSources.read(
                [path], profiles: [try RoadProfile.named("car")], lines: try LineOptions(),
                expandingIn: NSTemporaryDirectory())
        }
        #expect(failure?.message.contains("of line layers") == true)
    }
}
