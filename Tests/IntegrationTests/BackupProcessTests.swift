// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Site
import TestKit
import Testing

/// A whole site: backed up, drilled, lost and restored; and what is recorded of its access rules.
@Suite(.serialized, .timeLimit(.minutes(5)), .processes) struct BackupProcessTests {
    private let directory: GuardedDirectory
    private var site: String { directory.path + "/site" }
    private var backup: String { directory.path + "/backup" }

    init() throws {
        directory = try GuardedDirectory(
            path: "/tmp/cairn-b-\(UUID().uuidString.prefix(8).lowercased())")
    }

    private func cairn(
        _ arguments: [String], at site: String? = nil, input: String? = nil
    ) async throws -> Programs.Outcome {
        try await Programs.run(arguments, site: site ?? self.site, input: input)
    }

    @discardableResult
    private func done(
        _ arguments: [String], at site: String? = nil, input: String? = nil
    ) async throws -> Programs.Outcome {
        let outcome = try await cairn(arguments, at: site, input: input)
        try #require(outcome.status == 0, "\(arguments): \(outcome.errors)")
        return outcome
    }

    private func importPoint(_ name: String, _ x: Int) async throws {
        let path = directory.path + "/\(name).geojson"
        let text = """
            {"type":"FeatureCollection","features":[{"type":"Feature","properties":\
            {"name":"\(name)"},"geometry":{"type":"Point","coordinates":[\(x),1]}}]}
            """
        try Data(text.utf8).write(to: URL(filePath: path))
        try await done(["import", path, "--map", "World"])
    }

    /// The output of a command that asks the log, which is served meanwhile.
    private func asking(_ arguments: [String], at site: String) async throws -> Programs.Outcome {
        let logd = Process()
        logd.executableURL = URL(filePath: try TestSite.executable("cairn-logd"))
        logd.arguments = ["--site", site]
        logd.standardOutput = FileHandle.nullDevice
        logd.standardError = FileHandle.nullDevice
        try logd.run()
        defer {
            logd.terminate()
            logd.waitUntilExit()
        }
        var answer: Programs.Outcome?
        try await waitUntil("the log of \(site) answers", within: .seconds(20)) {
            let outcome = try await cairn(arguments, at: site)
            if outcome.status == 0 { answer = outcome }
            return outcome.status == 0
        }
        return try #require(answer)
    }

    private func stateHash(_ site: String) async throws -> String {
        let line = try await asking(["log", "state-hash", "--json"], at: site).objects.first
        return try #require(line?["hash"] as? String)
    }

    @Test func `a site restored from its backup is the same, with users, tokens and secrets`()
        async throws
    {
        defer { directory.end() }
        guard Programs.areBuilt() else { return }
        try await importPoint("one", 1)
        try await done(
            ["user", "add", "alice", "--allow", "query:World"], input: "a good password\n")
        try await done(["credential", "set", "other", "--user", "u"], input: "secret\n")
        _ = try Site(opening: site).access.tokenKey()
        let first = try #require(try await done(["backup", backup, "--json"]).objects.first)
        #expect(first["hasAccessRules"] as? Bool == true)
        #expect(first["hasSecrets"] as? Bool == true)

        // The second copies what is new: one dataset, and the files that change.
        try await importPoint("two", 2)
        let second = try #require(try await done(["backup", backup, "--json"]).objects.first)
        let copied = try #require(second["copiedCount"] as? Int)
        #expect(copied < (try #require(second["fileCount"] as? Int)))
        let logs = try FileManager.default.contentsOfDirectory(atPath: backup + "/log")
        #expect(logs.filter { $0.hasPrefix("events-") }.count == 1, "\(logs)")
        let before = try await stateHash(site)
        #expect(second["stateHash"] as? String == before)

        let drill = try #require(
            try await done(["drill", "restore", backup, "--json"]).objects.first)
        #expect(drill["stateHash"] as? String == before)
        #expect(drill["checkedCount"] as? Int == 2)
        #expect(!FileManager.default.fileExists(atPath: backup + ".drill"))

        try FileManager.default.moveItem(atPath: site, toPath: site + ".lost")
        try await done(["restore", backup])
        #expect(try await stateHash(site) == before)
        let (old, new) = (try Site(opening: site + ".lost"), try Site(opening: site))
        #expect(old.identity == new.identity)
        #expect(try old.access.rules() == new.access.rules())
        #expect(try old.access.tokenKey() == new.access.tokenKey())
        let secrets = try FileManager.default.contentsOfDirectory(atPath: site + "/credentials")
        #expect(secrets.count == 1)
        let again = try await cairn(["restore", backup])
        #expect(again.status == 1 && again.errors.contains("is not empty"), "\(again.errors)")
    }

    @Test func `a backup without secrets makes a closed site, never an open one`() async throws {
        defer { directory.end() }
        guard Programs.areBuilt() else { return }
        try await importPoint("one", 1)
        try await done(["user", "allow", "anonymous", "query"])
        let outcome = try await done(["backup", backup, "--without-secrets"])
        #expect(outcome.errors.contains("is closed until users are added"), "\(outcome.errors)")
        for name in BackupProcessTests.secretNames {
            #expect(!FileManager.default.fileExists(atPath: backup + "/" + name), "\(name)")
        }

        try await done(["restore", backup], at: directory.path + "/other")

        let rules = try #require(try Site(opening: directory.path + "/other").access.rules())
        #expect(rules.users.isEmpty && rules.anonymous.isEmpty)
    }

    private static let secretNames = ["access.json", "token.key", "credentials"]

    @Test func `a damaged or unfinished backup is refused by the file's name`() async throws {
        defer { directory.end() }
        guard Programs.areBuilt() else { return }
        try await importPoint("one", 1)
        try await done(["backup", backup])

        // A backup that fails leaves the one before it.
        let obstacle = site + "/recordings"
        try FileManager.default.createDirectory(
            atPath: obstacle, withIntermediateDirectories: true)
        try Data("x".utf8).write(to: URL(filePath: obstacle + "/a.jsonl"))
        try Data().write(to: URL(filePath: backup + "/recordings"))
        let failed = try await cairn(["backup", backup])
        #expect(failed.status == 1 && failed.errors.contains("recordings"), "\(failed.errors)")
        try await done(["drill", "restore", backup])

        let folder = backup + "/datasets"
        let dataset = try #require(
            try FileManager.default.contentsOfDirectory(atPath: folder).first)
        let path = folder + "/" + dataset + "/layer.fgb"
        var bytes = try Data(contentsOf: URL(filePath: path))
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: URL(filePath: path))
        let damaged = try await cairn(["drill", "restore", backup])
        #expect(damaged.status == 1 && damaged.errors.contains("layer.fgb"), "\(damaged.errors)")
        let restored = try await cairn(["restore", backup], at: directory.path + "/other")
        #expect(restored.status == 1 && restored.errors.contains("layer.fgb"))
        #expect(!FileManager.default.fileExists(atPath: directory.path + "/other"))
        let none = try await cairn(["drill", "restore", directory.path])
        #expect(none.status == 1 && none.errors.contains("backup.json"), "\(none.errors)")
        let inside = try await cairn(["backup", site + "/copy"])
        #expect(inside.status == 1 && inside.errors.contains("outside"), "\(inside.errors)")
    }

    @Test func `changes of the access rules are said and recorded, without secrets`() async throws {
        defer { directory.end() }
        guard Programs.areBuilt() else { return }
        try await importPoint("one", 1)
        let open = try await done(["user", "list"])
        #expect(open.output.contains("the site is open"), "\(open.output)")
        let unknown = try await cairn(["user", "allow", "anonymous", "query:world"])
        #expect(unknown.status == 64 && unknown.errors.contains("World"), "\(unknown.errors)")
        #expect(try Site(opening: site).access.rules() == nil)

        let added = try await done(
            ["user", "add", "alice", "--allow", "query:World"], input: "a good password\n")
        #expect(added.errors.contains("access rules are in force from now on"))
        let second = try await done(["user", "add", "bob"], input: "a good password\n")
        #expect(second.errors.isEmpty, "\(second.errors)")
        try await done(["user", "password", "alice"], input: "another password\n")
        try await done(["user", "allow", "alice", "edit:World", "jobs"])
        try await done(["user", "quota", "--default", "--jobs", "3"])
        try await done(["user", "remove", "bob"])

        let events = try await accessEvents()
        #expect(
            events.map(\.change) == [.added, .added, .password, .permissions, .quota, .removed])
        #expect(events.map(\.subject) == ["alice", "bob", "alice", "alice", nil, "bob"])
        #expect(events.map(\.closesSite) == [true, nil, nil, nil, nil, nil])
        #expect(events[3].permissions == ["edit:World", "jobs"])
        #expect(events[4].quota?.jobs == 3)
        let hash = try #require(try Site(opening: site).access.rules()?.user("alice"))
            .passwordHash
        let log = try Data(contentsOf: URL(filePath: site + "/log/events.sqlite"))
        #expect(log.range(of: Data(hash.utf8)) == nil)
        #expect(log.range(of: Data("alice".utf8)) != nil)
    }

    private func accessEvents() async throws -> [SiteAccessChanged] {
        let lines = try await asking(
            ["log", "tail", "-n", "100", "--json", "--category", "site"], at: site
        ).objects
        return try lines.map { line in
            let data = try JSONSerialization.data(withJSONObject: try #require(line["data"]))
            return try CairnJSON.decode(SiteAccessChanged.self, from: data)
        }
    }
}
