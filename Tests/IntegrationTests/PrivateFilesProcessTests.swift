// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import TestKit
import Testing

/// The modes of a site's files, with the umask of a login shell.
@Suite(.serialized, .timeLimit(.minutes(4)), .processes) struct PrivateFilesProcessTests {
    private func mode(_ path: String) throws -> Int {
        try #require(
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    /// Everything below a directory, and itself, whose mode has a bit for others than the owner.
    private func open(below path: String) throws -> [String] {
        let entries =
            [path]
            + (try FileManager.default.subpathsOfDirectory(atPath: path)).map {
                path + "/" + $0
            }
        return try entries.filter { try mode($0) & 0o077 != 0 }
    }

    @Test func `every process of a site, a backup and an output keep to their owner`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await SmallSite.imported()
        defer { site.remove() }
        let outputs = site.folder + "/outputs"
        try FileManager.default.createDirectory(atPath: outputs, withIntermediateDirectories: true)
        let port = try Loopback.freePort()
        let up = try await site.run("up --detach --port \(port)")
        try #require(up.status == 0, "\(up.errors)")
        try "{\"geometry\":{\"x\":1,\"y\":1}}\n".write(
            toFile: site.folder + "/places.jsonl", atomically: true, encoding: .utf8)

        let job = try await site.run(
            "job submit BatchIdentify --input \(site.folder)/places.jsonl --param map=Small --watch"
        )
        #expect(job.status == 0, "\(job.errors)")
        let id = try #require(try await site.run("job list --json").objects.first?["id"] as? String)
        let result = try await site.run("job result \(id) --output \(outputs)/answers.jsonl")
        #expect(result.status == 0, "\(result.errors)")
        let backup = try await site.run("log backup \(outputs)/backup.sqlite")
        #expect(backup.status == 0, "\(backup.errors)")
        #expect(try await site.run("down").status == 0)

        #expect(try open(below: site.path) == [])
        for name in ["answers.jsonl", "backup.sqlite"] {
            #expect(try mode(outputs + "/" + name) == 0o600, "\(name)")
        }
    }

    @Test func `a site that an earlier build left open is closed by the first command`()
        async throws
    {
        guard Programs.areBuilt(["cairn", "cairn-logd", "cairn-mapstate"]) else { return }
        let site = try await SmallSite.imported()
        defer { site.remove() }
        for path in [site.path + "/log", site.path + "/datasets", site.path] {
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o755], ofItemAtPath: path)
        }
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644], ofItemAtPath: site.path + "/log/events.sqlite")
        let neighbour = site.folder + "/neighbour.txt"
        try "kept".write(toFile: neighbour, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644], ofItemAtPath: neighbour)
        try FileManager.default.createSymbolicLink(
            atPath: site.path + "/jobs/link", withDestinationPath: neighbour)

        _ = try await site.run("map list")

        try FileManager.default.removeItem(atPath: site.path + "/jobs/link")
        #expect(try open(below: site.path) == [])
        #expect(try mode(neighbour) == 0o644, "a link leads out of the site")
    }

    @Test func `the status names what is open, and says what clients may do`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await SmallSite.imported()
        defer { site.remove() }
        let port = try Loopback.freePort()
        let up = try await site.run("up --detach --port \(port)")
        try #require(up.status == 0, "\(up.errors)")
        let log = site.path + "/log/events.sqlite"
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: log)

        let before = try await site.run("status --json").objects
        let text = try await site.run("status").output
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: log)
        let user = try await Programs.run(
            ["user", "add", "anna", "--allow", "query"], site: site.path, input: "long enough\n")
        #expect(user.status == 0, "\(user.errors)")
        let after = try await site.run("status --json").objects
        _ = try await site.run("down")

        let opened = before.filter { $0["kind"] as? String == "open" }
        #expect(opened.compactMap { $0["path"] as? String } == [log])
        #expect(opened.first?["mode"] as? String == "0640")
        #expect(text.contains("'\(log)' has mode 0640"))
        #expect(text.contains("access open: no users"))
        let access = before.first { $0["kind"] as? String == "access" }
        #expect(access != nil && access?["users"] == nil)
        #expect(after.first { $0["kind"] as? String == "access" }?["users"] as? Int == 1)
        #expect(!after.contains { $0["kind"] as? String == "open" })
    }
}
