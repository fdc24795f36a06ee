// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import TestKit
import Testing

/// Commands that stay and show what happens.
@Suite(.serialized, .timeLimit(.minutes(5)), .processes) struct FollowProcessTests {
    /// A `cairn` that runs until it is ended, with its output so far.
    private final class Staying: @unchecked Sendable {
        // Written in init only.
        private let process = Process()
        private let path = NSTemporaryDirectory() + "cairn-follow-" + UUID().uuidString

        init(_ text: String, _ site: SmallSite) throws {
            _ = FileManager.default.createFile(atPath: path, contents: nil)
            process.executableURL = URL(filePath: Programs.folder + "/cairn")
            process.arguments = text.split(separator: " ").map(String.init)
            var environment = ProcessInfo.processInfo.environment
            environment["CAIRN_SITE"] = site.path
            process.environment = environment
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = try FileHandle(forWritingTo: URL(filePath: path))
            process.standardError = FileHandle.nullDevice
            try process.run()
        }

        deinit {
            process.terminate()
            process.waitUntilExit()
            try? FileManager.default.removeItem(atPath: path)
        }

        var sequences: [Int] { objects.compactMap { $0["sequence"] as? Int } }

        /// The whole lines of its output, each an object in JSON.
        var objects: [[String: Any]] {
            let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            return text.split(separator: "\n").compactMap { line in
                let object = try? JSONSerialization.jsonObject(with: Data(line.utf8))
                return object as? [String: Any]
            }
        }
    }

    /// Runs a command, again while a service that was killed is not back.
    private func outcome(_ text: String, _ site: SmallSite) async throws -> Programs.Outcome {
        var outcome = try await site.run(text)
        let limit = ContinuousClock.now + .seconds(90)
        while outcome.status == 69, ContinuousClock.now < limit {
            outcome = try await site.run(text)
        }
        try #require(outcome.status == 0, "\(text): \(outcome.errors)")
        return outcome
    }

    private func run(_ text: String, _ site: SmallSite) async throws -> [[String: Any]] {
        try await outcome(text, site).objects
    }

    private func head(_ site: SmallSite) async throws -> Int {
        let text = try await outcome("log head", site).output
        return try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    }

    @Test func `the log is followed over a death of its service, each event once`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await SmallSite.imported()
        defer { site.remove() }
        _ = try await run("up --detach --port \(try Loopback.freePort())", site)
        let start = try await head(site)
        let tail = try Staying("log tail --follow --json -n 2", site)

        for round in 0..<3 {
            _ = try await run("map add-group Small before\(round)", site)
            let logd = try await run("status --json", site).first {
                $0["role"] as? String == "log" && $0["state"] as? String == "running"
            }
            kill(Int32(try #require(logd?["pid"] as? Int)), SIGKILL)
            _ = try await run("map add-group Small after\(round)", site)
        }

        let end = try await head(site)
        #expect(end >= start + 6)
        try await waitUntil("the tail has shown event \(end)", within: .seconds(120)) {
            (tail.sequences.last ?? 0) >= end
        }
        let sequences = tail.sequences
        #expect(sequences.last == end && sequences.first ?? .max <= start + 1)
        #expect(sequences == Array((sequences.first ?? 0)...end))
        #expect(try await site.run("down").status == 0)
    }

    @Test func `a job is watched to its end, and ends as the command does`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await SmallSite.imported()
        defer { site.remove() }
        _ = try await run("up --detach --port \(try Loopback.freePort())", site)
        let lines = (0..<1_200).map { #"{"x":\#(Double($0) / 200),"y":2,"id":\#($0)}"# }
        let path = site.folder + "/queries.jsonl"
        try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)

        let steps = try await run(
            "job submit BatchIdentify --input \(path) --param map=Small --param layers=all "
                + "--param explain=true --watch --json", site)

        let progress = steps.compactMap { $0["progress"] as? Double }
        #expect(progress == progress.sorted() && progress.last == 100, "\(progress)")
        #expect(steps.last?["status"] as? String == "succeeded")
        let refused = try await site.run(
            "job submit BatchIdentify --input \(path) --param map=Nothing --watch")
        #expect(refused.status == 1 && refused.errors.contains("Nothing"), "\(refused.errors)")
        #expect(try await site.run("down").status == 0)
    }

    @Test func `a route is followed by the command line while roads are closed and opened`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try SmallSite()
        defer { site.remove() }
        let town = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../deploy/sample/town.osm").standardized.path()
        _ = try await outcome("network build Town \(town)", site)
        _ = try await run("up --detach --port \(try Loopback.freePort())", site)
        let route = try Staying(
            "route 13.0001,51.0002 13.0061,51.0089 --brief --follow --json", site)
        func lengths(_ count: Int) async throws -> [Double] {
            try await waitUntil("\(count) routes", within: .seconds(60)) {
                route.objects.count >= count
            }
            return try route.objects.map { answer in
                let routes = try #require(answer["routes"] as? [[String: Any]])
                return try #require(routes.first?["length"] as? Double)
            }
        }
        let first = try #require(try await lengths(1).first)

        _ = try await run("road close Town --way 1016 --json", site)
        let closed = try await run("road close Town --at 13.0030,51.0045 --json", site)
        let number = try #require(closed.first?["number"] as? Int)
        let detour = try #require(try await lengths(2).last)
        #expect(detour > first + 100)
        _ = try await run("road undo Town \(number) --json", site)
        #expect(try await lengths(3) == [first, detour, first])
        #expect(try await site.run("down").status == 0)
    }
}
