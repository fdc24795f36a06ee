// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import RoadSources
import Testing

struct ProfileTests {
    @Test func `every profile that ships is sound`() throws {
        for name in RoadProfile.shipped.keys {
            #expect(try RoadProfile.named(name).name == name)
        }
    }

    @Test(arguments: [
        ("bicycle", NetworkMode.Kind.bicycle), ("car", .automobile), ("foot", .walk),
        ("plain", .automobile), ("truck", .truck),
    ])
    func `a profile that ships is of the kind that clients ask for`(
        name: String, kind: NetworkMode.Kind
    ) throws {
        #expect(try RoadProfile.named(name).kind == kind)
    }

    @Test(arguments: [
        ("\"motorway\": 110", "\"motorway\": -4", "'speeds.motorway' is -4.0"),
        ("\"speeds\"", "\"speedz\"", "'speeds' is missing"),
        ("\"oneway\"", "\"onewayy\"", "'onewayy' is no member"),
        ("\"rule\": \"first\"", "\"rule\": \"some\"", "'access.rule' has an unknown value"),
        ("\"name\": \"plain\"", "\"name\": 7", "'name': expected a text"),
    ])
    func `a bad profile is refused by its member`(
        part: String, other: String, message: String
    ) throws {
        let text = String(decoding: try #require(RoadProfile.shipped["plain"]), as: UTF8.self)
        let bad = text.replacing(part, with: other, maxReplacements: 1)
        #expect(bad != text)
        let failure = #expect(throws: Failure.self) {
            try RoadProfile(json: Array(bad.utf8), source: "mine.json")
        }
        #expect(failure?.message.contains("mine.json") == true)
        #expect(failure?.message.contains(message) == true, "\(failure?.message ?? "")")
    }
}
