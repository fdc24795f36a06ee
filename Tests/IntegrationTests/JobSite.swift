// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Codecs
import Foundation
import Locator
import Platform
import Site
import Synchronization
import TestKit
import Testing

/// A site with a log, a supervisor and workers as real processes, and a locator.
final class JobSite: Sendable {
    let files: TestSite
    let site: Site
    let client: CairnClient
    /// Process ids by executable.
    private let processes = Mutex<[String: [Int32]]>([:])

    init(
        supervisorFailpoint: String? = nil, supervisorClockOffset: Int? = nil,
        logClockOffset: Int? = nil
    ) async throws {
        files = try TestSite()
        site = try Site(openingOrCreating: files.path)
        client = try CairnClient(site: site, patience: .seconds(60))
        try start("cairn-logd", clockOffset: logClockOffset)
        try start(
            "cairn-supervisor", failpoint: supervisorFailpoint, clockOffset: supervisorClockOffset)
        try await publishLocator()
    }

    deinit {
        client.close()
        files.end()
    }

    @discardableResult
    func start(
        _ name: String, failpoint: String? = nil, clockOffset: Int? = nil
    ) throws -> Int32 {
        var environment = ["CAIRN_LOG": "notice"]
        environment["CAIRN_FAILPOINT"] = failpoint
        environment["CAIRN_CLOCK_OFFSET"] = clockOffset.map(String.init)
        let processID = try files.start(name, environment: environment)
        processes.withLock { $0[name, default: []].append(processID) }
        return processID
    }

    func processIDs(_ name: String) -> [Int32] { processes.withLock { $0[name] ?? [] } }

    /// Waits until the process has ended and starts another of that name.
    func replaceWhenDead(
        _ name: String, _ processID: Int32, failpoint: String? = nil
    ) throws -> Int32 {
        let status = files.waitForExit(processID)
        guard status == -SIGKILL else {
            throw Failure(.internal, "\(name) ended with \(status ?? 0): \(files.output())")
        }
        processes.withLock { $0[name]?.removeAll { $0 == processID } }
        return try start(name, failpoint: failpoint)
    }

    /// Kills one process of that name and starts another.
    func replace(_ name: String, at index: Int = 0, clockOffset: Int? = nil) throws {
        let victim = processes.withLock { $0[name]?.remove(at: index) }
        files.kill(try #require(victim))
        try start(name, clockOffset: clockOffset)
    }

    private func publishLocator() async throws {
        let built = try LocatorBuilder.build(
            sources: [try Self.bigCities(in: files.path)], into: site.locatorsDirectory)
        let event = LocatorPublished(
            name: "World", locator: built.id, placeCount: built.placeCount)
        let log = try LogReader(bus: client.bus)
        _ = try await log.append(
            [try event.newEvent(id: .timeOrdered(), metadata: EventMetadata())],
            to: .locator("World"), expected: .noStream, timeout: .seconds(20))
    }

    /// The sample gazetteer's cities of a million and more, as a file.
    static func bigCities(in directory: String) throws -> String {
        var root = URL(filePath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        var lines = try TextLines(path: root.path() + "/deploy/sample/gazetteer/cities.tsv.gz")
        var kept: [UInt8] = []
        while let line = try lines.next() {
            let fields = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
            let population = Int(String(decoding: fields[8], as: UTF8.self)) ?? .max
            if population >= 1_000_000 { kept += line + [UInt8(ascii: "\n")] }
        }
        let path = directory + "/cities.tsv"
        try Data(kept).write(to: URL(filePath: path))
        return path
    }

    /// Waits until that many workers are ready.
    func waitForWorkers(_ count: Int) async throws {
        try await waitUntil(
            "\(count) workers take work", within: .seconds(20), detail: files.output()
        ) {
            try await client.workers().count == count
        }
    }

    /// A table of real and unreal places.
    static func table(rows: Int, seed: UInt64) -> Data {
        var random = SeededGenerator(seed: seed)
        let names = [
            "Paris", "London", "Nairobi", "Springfield", "São Paulo", "Tokyo, Japan", "Köln",
            "Nowhereville Xyz", "", "Berlin, Germany", "New York", "Lomdon", "Quito",
        ]
        var text = "id,query,note\n"
        for row in 0..<rows {
            let name = names.randomElement(using: &random) ?? ""
            text += "\(row),\"\(name)\",\"n\(row), x\"\n"
        }
        return Data(text.utf8)
    }

    @discardableResult
    func submit(
        _ table: Data, as id: JobID = JobID(rawValue: .timeOrdered()), timeLimitSeconds: Int? = nil
    ) async throws -> JobID {
        let blob = try site.blobs.put(table, mediaType: "text/csv")
        return try await client.submit(
            JobSubmission(
                id: id, kind: .batchGeocode, parameters: [:],
                input: blob, timeLimitSeconds: timeLimitSeconds)
        ).id
    }

    /// The job once it has ended; throws where nothing of it changes for a minute and a half.
    func end(of id: JobID) async throws -> JobDescription {
        var seen: JobDescription?
        while true {
            let before = seen
            try await waitUntil(
                "job \(id) goes on", within: .seconds(90), every: .milliseconds(20),
                detail: "\(String(describing: before)) \(files.output())"
            ) {
                do {
                    seen = try await client.job(id)
                } catch let failure as Failure where failure.isRetriable {
                    return false
                }
                return seen != before
            }
            if let seen, seen.status.isTerminal { return seen }
        }
    }

    func events(_ id: JobID) async throws -> [RecordedEvent] {
        try await LogReader(bus: client.bus).events(category: "job", after: 0, limit: 100_000)
            .filter { $0.stream == .job(id) }
    }
}
