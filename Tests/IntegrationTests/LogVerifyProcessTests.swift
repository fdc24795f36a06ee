// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnClient
import Foundation
import Site
import TestKit
import Testing

/// `cairn log verify` of a site that is up, and of one that is down.
@Suite(.serialized, .timeLimit(.minutes(3)), .processes) struct LogVerifyProcessTests {
    let files: TestSite
    init() throws { files = try TestSite() }

    private func cairn(_ arguments: String...) async throws -> Programs.Outcome {
        try await Programs.run(arguments, site: files.path)
    }

    /// A site with a map, and an archive of its first events; down.
    private func makeSite() async throws {
        let source = files.path + "-points.geojson"
        defer { try? FileManager.default.removeItem(atPath: source) }
        let point =
            #"{"type":"Feature","properties":{"name":"a"},"geometry":{"type":"Point","coordinates":[1,2]}}"#
        try #"{"type":"FeatureCollection","features":[\#(point)]}"#
            .write(toFile: source, atomically: true, encoding: .utf8)
        let imported = try await cairn("import", source, "--map", "World")
        try #require(imported.status == 0, "\(imported.errors)")
        let logd = try await startLog()
        let archived = try await cairn("log", "archive", "--through", "1")
        #expect(archived.status == 0, "\(archived.errors)")
        try end(logd)
    }

    private func startLog() async throws -> Int32 {
        let processID = try files.start("cairn-logd")
        let client = try CairnClient(site: Site(opening: files.path))
        defer { client.close() }
        _ = try await LogReader(bus: client.bus).head(timeout: .seconds(60))
        return processID
    }

    private func end(_ logd: Int32) throws {
        files.signal(logd, SIGTERM)
        #expect(files.waitForExit(logd) == 0)
    }

    /// The report on the log, first without a process that serves it and then with one.
    private func both(_ arguments: [String]) async throws -> [Programs.Outcome] {
        let read = try await Programs.run(["log", "verify"] + arguments, site: files.path)
        let logd = try await startLog()
        let asked = try await Programs.run(["log", "verify"] + arguments, site: files.path)
        try end(logd)
        return [read, asked]
    }

    @Test
    func `a log is checked alike whether it is served or not, and the report says which it was`()
        async throws
    {
        defer { files.end() }
        guard Programs.areBuilt(["cairn", "cairn-logd", "cairn-mapstate"]) else { return }
        try await makeSite()
        let before = try FileManager.default.contentsOfDirectory(atPath: files.path + "/log")

        let lines = try await both(["--json"])
        #expect(lines.map(\.status) == [0, 0], "\(lines.map(\.errors))")
        var objects = try lines.map { try #require($0.objects.first) }
        #expect(objects.map { $0["by"] as? String } == ["files", "cairn-logd"])
        for index in objects.indices { objects[index]["by"] = nil }
        #expect(objects[0] as NSDictionary == objects[1] as NSDictionary)
        #expect(objects[0]["checkedThrough"] as? Int == objects[0]["head"] as? Int)

        let texts = try await both([])
        #expect(texts[0].output.contains("are intact, chain hash "))
        #expect(texts[0].output.contains("no cairn-logd runs; the files were read"))
        #expect(texts[1].output.contains("cairn-logd checked them"))
        let sentences = texts.map { $0.output.prefix { $0 != "(" } }
        #expect(sentences[0] == sentences[1])
        let after = try FileManager.default.contentsOfDirectory(atPath: files.path + "/log")
        #expect(Set(after) == Set(before), "nothing is left behind")
    }

    @Test func `a log that is gone is missed by every command that would begin another`()
        async throws
    {
        defer { files.end() }
        guard Programs.areBuilt() else { return }
        try await makeSite()
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(
                atPath: files.path + "/log/events.sqlite" + suffix)
        }
        let port = try Loopback.freePort()
        for words in [
            ["log", "verify"], ["up", "--detach", "--port", "\(port)"],
            ["up", "--port", "\(port)"],
            ["locator", "show"],
        ] {
            let outcome = try await Programs.run(words, site: files.path)
            #expect(outcome.status == 1 && outcome.output.isEmpty, "\(words): \(outcome)")
            #expect(
                outcome.errors.hasPrefix("cairn: the event log '")
                    && outcome.errors.contains(
                        "is missing, and the site has had one: there is log.json, ")
                    && outcome.errors.split(separator: "\n").count == 1, "\(words): \(outcome)")
        }
        #expect(!FileManager.default.fileExists(atPath: files.path + "/log/events.sqlite"))
    }

    @Test func `a number that the log has not reached, and damage, are told alike`() async throws {
        defer { files.end() }
        guard Programs.areBuilt(["cairn", "cairn-logd", "cairn-mapstate"]) else { return }
        try await makeSite()
        let head = try #require(
            try await cairn("log", "verify", "--json").objects.first?["head"] as? Int)

        for outcome in try await both(["--after", "\(head - 1)"]) {
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.output.hasPrefix("events \(head) to \(head) are intact"))
        }
        for after in [head, head + 1, Int.max] {
            for outcome in try await both(["--after", "\(after)"]) {
                #expect(outcome.status == 1 && outcome.output.isEmpty)
                #expect(
                    outcome.errors
                        == "cairn: --after \(after): expected 0 to \(head - 1); the log ends at \(head)\n"
                )
            }
        }

        let path = files.path + "/log/events.sqlite"
        var bytes = try Data(contentsOf: URL(filePath: path))
        // The name of the layer, in the payload of the event that added it.
        let name = try #require(bytes.range(of: Data("-points\"".utf8), options: .backwards))
        bytes[name.lowerBound + 1] = UInt8(ascii: "q")
        try bytes.write(to: URL(filePath: path))
        let damaged = try await both(["--json"])
        #expect(damaged.map(\.status) == [1, 1])
        let faults = damaged.map {
            ($0.objects.first?["fault"] as? [String: Any])?["position"] as? Int
        }
        #expect(faults[0] == faults[1] && (2...head).contains(faults[0] ?? 0), "\(damaged)")
        #expect(damaged[0].errors.hasPrefix("cairn: event \(faults[0] ?? 0): "))
    }
}
