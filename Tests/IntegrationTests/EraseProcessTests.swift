// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import TestKit
import Testing

/// A person's values taken out of every past of a site.
@Suite(.serialized, .timeLimit(.minutes(5)), .processes) struct EraseProcessTests {
    private static let secret = "Secretperson"

    /// The files of a folder whose bytes hold a text.
    private static func files(of folder: String, holding text: String) throws -> [String] {
        let names = try #require(FileManager.default.enumerator(atPath: folder))
        return names.compactMap { $0 as? String }.filter { name in
            // Sockets and folders have no bytes.
            let data = try? Data(contentsOf: URL(filePath: folder + "/" + name))
            return data?.range(of: Data(text.utf8)) != nil
        }.sorted()
    }

    @Test func `a feature is erased from events, datasets, recordings, snapshots and archives`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try SmallSite()
        defer { site.remove() }
        func point(_ x: Int, _ name: String) -> String {
            #"{"type":"Feature","properties":{"name":"\#(name)"},"#
                + #""geometry":{"type":"Point","coordinates":[\#(x),\#(x)]}}"#
        }
        try site.write("people", [point(1, "one"), point(2, Self.secret), point(3, "three")])
        func done(_ text: String) async throws -> Programs.Outcome {
            let outcome = try await site.run(text)
            try #require(outcome.status == 0, "\(text): \(outcome.errors)")
            return outcome
        }
        _ = try await done("import \(site.folder)/people.geojson --map Town")
        let port = try Loopback.freePort()
        _ = try await done("up --detach --port \(port) --record all")
        _ = try await done("map editable Town people on")
        let id = 2
        func edit(_ name: String, _ other: Int) async throws {
            let connection = try #require(Loopback(port: port))
            let features =
                "[{\"attributes\":{\"OBJECTID\":\(id),\"name\":\"\(name)\"}},"
                + "{\"attributes\":{\"OBJECTID\":\(other),\"name\":\"kept\"}}]"
            let body: String? = await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    connection.post(
                        "/arcgis/rest/services/Town/FeatureServer/0/updateFeatures",
                        "f=json&features=" + features)
                    continuation.resume(returning: connection.wholeAnswer()?.body)
                }
            }
            #expect(body?.contains("true") == true, "\(body ?? "")")
        }
        try await edit(Self.secret + "2", 1)
        _ = try await done("identify --map Town --point 2,2 --layers all --tolerance 1000")
        try await edit("harmless", 3)
        let last = try #require(
            Int(try await done("log head").output.trimmingCharacters(in: .whitespacesAndNewlines)))
        // An undo keeps the values of before, and an archive the first events.
        _ = try await done("undo \(last)")
        _ = try await done("log archive --through 4")
        let refused = try await site.run("erase Town/0/\(id)")
        #expect(refused.status == 1 && refused.errors.contains("cairn down"))
        let before = try await done("log verify --json").objects.first?["chainHash"] as? String
        let backup = site.folder + "/backup"
        _ = try await done("backup \(backup)")
        _ = try await done("down")
        #expect(try Self.files(of: site.path, holding: Self.secret).count > 2)

        let counted = try await done("erase Town/0/\(id) --dry-run --json").objects.first
        let erased = try #require(try await done("erase Town/0/\(id) --json").objects.first)
        #expect(erased["eventCount"] as? Int == counted?["eventCount"] as? Int)
        #expect(erased["datasetCount"] as? Int == 1)
        #expect(try Self.files(of: site.path, holding: Self.secret) == [])

        let verified = try #require(try await done("log verify --json").objects.first)
        #expect(verified["fault"] == nil)
        #expect((verified["erasures"] as? [[String: Any]])?.count == 1)
        #expect(verified["chainHash"] as? String != before)
        _ = try await done("up --detach")
        let now = try await done("identify --map Town --point 1,1 --layers all --tolerance 1000")
        #expect(now.output.contains("kept"), "\(now.output)")
        let past = try await done(
            "identify --map Town --point 2,2 --layers all --tolerance 1000 --at \(last)")
        #expect(!past.output.contains(Self.secret))
        #expect(try await done("log state-hash --live").status == 0)
        let list = try await done("erase --list --json").output
        try list.write(toFile: site.folder + "/erasures", atomically: true, encoding: .utf8)
        _ = try await done("down")

        // The backup has the values; the list takes them out of the site that it becomes.
        #expect(try !Self.files(of: backup, holding: Self.secret).isEmpty)
        try FileManager.default.removeItem(atPath: site.path)
        let restored = try await done(
            "restore \(backup) --erasures \(site.folder)/erasures --json")
        #expect(restored.objects.first?["erasureCount"] as? Int == 1)
        #expect(try Self.files(of: site.path, holding: Self.secret) == [])
        let again = try #require(try await done("log verify --json").objects.first)
        #expect((again["erasures"] as? [[String: Any]])?.count == 1)
    }

    @Test func `a user is erased from events, the audit and the access rules' history`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await SmallSite.imported()
        defer { site.remove() }
        let added = try await Programs.run(
            ["user", "add", Self.secret, "--allow", "query"], site: site.path,
            input: "a good password\n")
        try #require(added.status == 0, "\(added.errors)")
        let removed = try await site.run("user remove \(Self.secret)")
        #expect(removed.status == 0)

        let erased = try await site.run("erase --user \(Self.secret) --json")
        #expect(erased.status == 0, "\(erased.errors)")
        #expect(erased.objects.first?["eventCount"] as? Int == 2)
        #expect(try Self.files(of: site.path, holding: Self.secret) == [])
        #expect(try await site.run("log verify").status == 0)
        let list = site.folder + "/list"
        try await site.run("erase --list --json").output
            .write(toFile: list, atomically: true, encoding: .utf8)
        let unnamed = try await site.run("restore \(site.folder) --erasures \(list)")
        #expect(unnamed.status != 0)
    }
}
