// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Site
import TestKit
import Testing

@testable import Gateway

/// Items and web maps over HTTP and on the command line, on real processes.
@Suite(.serialized, .timeLimit(.minutes(4)), .processes) struct PortalProcessTests {
    private static let root = "/arcgis/sharing/rest"

    private static func ask(_ port: Int, _ path: String) async throws -> (
        head: String, body: String
    ) {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        let connection = try #require(Loopback(port: port))
                        connection.get(path)
                        return try #require(connection.wholeAnswer())
                    })
            }
        }
    }

    private static func object(_ port: Int, _ path: String) async throws -> [String: Any] {
        let body = try await ask(port, path).body
        return try #require(
            try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any], "\(body)")
    }

    /// A map without what differs between copies.
    private static func content(_ outcome: Programs.Outcome) throws -> MapDescription {
        var map = try CairnJSON.decode(MapDescription.self, from: Data(outcome.output.utf8))
        map.sequence = 0
        map.name = try MapName(parsing: "Any")
        map.sourceChanges = nil
        return map
    }

    @Test func `a site's map is an item whose document becomes the same map`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await SmallSite.imported()
        defer { site.remove() }
        let port = try Loopback.freePort()
        func run(_ text: String, input: String? = nil) async throws -> Programs.Outcome {
            let outcome = try await site.run(text, input: input)
            try #require(outcome.status == 0, "\(text): \(outcome.errors)")
            return outcome
        }
        _ = try await run("up --detach --port \(port)")
        _ = try await run("map set-properties Small --title Squares --extent 0,0,5,5")
        _ = try await run("map alias Small points name Label")
        _ = try await run("map scale Small squares --min 5000000")
        _ = try await run("map definition Small points name<>'c'")
        _ = try await run("map hide Small squares")
        _ = try await run("map add-group Small Empty")
        let folder = site.folder

        let found = try await Self.object(port, Self.root + "/search?q=type:%22Web%20Map%22&f=json")
        let item = try #require((found["results"] as? [[String: Any]])?.first)
        let id = try #require(item["id"] as? String)
        #expect(item["title"] as? String == "Squares" && item["access"] as? String == "public")
        #expect(item["modified"] as? Int64 ?? 0 > item["created"] as? Int64 ?? .max)
        let content = "\(Self.root)/content/items/\(id)"
        let picture = try await Self.ask(port, content + "/info/thumbnail/thumbnail.png")
        #expect(picture.head.contains("image/png") && picture.body.contains("PNG"))

        // The document of the gateway, without the URL of the server.
        let served = try await Self.ask(port, content + "/data?f=json").body
        #expect(
            served.contains("http://localhost:\(port)/arcgis/rest/services/Small/FeatureServer")
                || served.contains("http://localhost/arcgis/rest/services/Small/FeatureServer"))
        try served.write(toFile: folder + "/served.json", atomically: true, encoding: .utf8)
        let fromServed = try await run("map import-webmap \(folder)/served.json --map Served")
        #expect(fromServed.errors == "")

        let printed = try await run("map webmap Small --json")
        try printed.output.write(
            toFile: folder + "/printed.json", atomically: true, encoding: .utf8)
        let fromPrinted = try await run("map import-webmap \(folder)/printed.json --map Printed")
        #expect(fromPrinted.errors == "")
        let original = try Self.content(try await run("map show Small --json"))
        for copy in ["Served", "Printed"] {
            #expect(try Self.content(try await run("map show \(copy) --json")) == original)
        }

        _ = try await run("user add anna --allow query:Small", input: "long enough for anna\n")
        let refused = try await Self.object(port, content + "?f=json")
        let error = refused["error"] as? [String: Any]
        #expect(error?["message"] as? String == "Item does not exist or is inaccessible.")
        let token = try await Self.object(
            port,
            Self.root
                + "/generateToken?username=anna&password=long%20enough%20for%20anna&f=json")
        let text = try #require(token["token"] as? String)
        let own = try await Self.object(port, content + "?f=json&token=" + text)
        #expect(own["id"] as? String == id && own["access"] as? String == "org")
        let all = try await Self.object(port, Self.root + "/search?f=json&token=" + text)
        #expect(all["total"] as? Int == 3)
        let portal = try await Self.object(port, Self.root + "/portals/self?f=json&token=" + text)
        #expect((portal["user"] as? [String: Any])?["username"] as? String == "anna")
        _ = try await run("down")
    }
}
