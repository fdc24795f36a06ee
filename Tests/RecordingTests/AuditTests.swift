// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Platform
import Site
import Synchronization
import TestKit
import Testing

@testable import Recording

@Suite struct AuditTests {
    private let directory: GuardedDirectory
    private let site: Site
    private var files: AuditFiles { AuditFiles(directory: site.auditDirectory) }

    init() throws {
        directory = try GuardedDirectory(
            path: "/tmp/cairn-a-\(UUID().uuidString.prefix(8).lowercased())")
        site = try Site(openingOrCreating: directory.path + "/site")
    }

    private static func entry(_ random: inout SeededGenerator) -> AuditEntry {
        func text() -> String {
            String(
                (0..<Int.random(in: 0...20, using: &random)).map { _ in
                    "aé\u{1F5FA}/0".randomElement(using: &random) ?? "a"
                })
        }
        let shown: [AuditEntry.Shown]? =
            Bool.random(using: &random)
            ? nil
            : (0..<Int.random(in: 0...3, using: &random)).map { _ in
                AuditEntry.Shown(
                    layer: Int.random(in: 0...40, using: &random),
                    ids: (0..<Int.random(in: 0...5, using: &random)).map { _ in
                        Int64.random(in: .min ... .max, using: &random)
                    })
            }
        let question: AuditEntry.Question? =
            switch Int.random(in: 0...2, using: &random) {
            case 0: nil
            case 1:
                .point(
                    x: Double.random(in: -180...180, using: &random),
                    y: Double.random(in: -90...90, using: &random), wkid: 4326)
            default: .request(Data(text().utf8))
            }
        return AuditEntry(
            at: Timestamp(
                microseconds: Int64.random(in: 0...2_000_000_000_000_000, using: &random)),
            sequence: Bool.random(using: &random)
                ? nil : Int64.random(in: 0...9_999, using: &random),
            operation: text(), map: Bool.random(using: &random) ? nil : text(), shown: shown,
            user: Bool.random(using: &random) ? nil : text(), address: text(), question: question)
    }

    private static func entry(user: String, at: Int64 = 1) -> AuditEntry {
        AuditEntry(
            at: Timestamp(microseconds: at), sequence: 7, operation: "identify", map: "World",
            shown: [.init(layer: 0, ids: [at])], user: user, address: "192.0.2.1",
            question: .point(x: 1, y: 2, wkid: 4326))
    }

    private func entries() throws -> [AuditEntry] {
        var found: [AuditEntry] = []
        try files.forEach { entry in
            found.append(entry)
            return true
        }
        return found
    }

    @Test(arguments: Seeds.chosen(300))
    func `an entry reads back, and keeps its digest when it is redacted`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let entry = Self.entry(&random)
        let salt = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
        let bytes = entry.bytes(salt: salt[...])
        #expect(AuditEntry(bytes) == entry)

        let redacted = try #require(AuditEntry.redacted(bytes))
        #expect(redacted.count == bytes.count)
        #expect(AuditEntry.digest(redacted) == AuditEntry.digest(bytes))
        var rest = entry
        (rest.user, rest.address, rest.question, rest.isRedacted) = (nil, "", nil, true)
        #expect(AuditEntry(redacted) == rest)
        #expect(AuditEntry.redacted(redacted) == nil)

        // Damaged bytes are refused or read as something else, and end nothing.
        var damaged = bytes
        damaged[Int.random(in: 0..<bytes.count, using: &random)] ^= 0xff
        _ = AuditEntry(damaged)
        _ = AuditEntry(Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &random))))
    }

    @Test func `every entry of several threads is kept once, over several files`() throws {
        defer { directory.end() }
        let log = try AuditLog(site: site, policy: AuditPolicy()) { _ in }
        let count = 10_000
        let threads = try (0..<4).map { number in
            try BackgroundThread("noting") {
                for turn in 0..<count {
                    log.note(Self.entry(user: "user \(number)", at: Int64(turn)))
                }
            }
        }
        for thread in threads { try thread.value() }
        // Before the end, as where the process is killed.
        let found = try entries()
        #expect(found.count == 4 * count)
        for number in 0..<4 {
            #expect(
                found.filter { $0.user == "user \(number)" }.map(\.at.microseconds)
                    == (0..<Int64(count)).map { $0 })
        }
        log.close()
        log.note(Self.entry(user: "late"))
        #expect(log.lostCount == 1)
        #expect(files.paths().count > 1)
        let sum = try files.verify()
        #expect(sum.entryCount == 4 * count && sum.openCount == 0)
    }

    @Test func `a changed byte contradicts the seal, a redaction does not`() throws {
        defer { directory.end() }
        let log = try AuditLog(site: site, policy: AuditPolicy()) { _ in }
        for turn in 0..<100 {
            log.note(Self.entry(user: turn % 3 == 0 ? "alice" : "bob", at: Int64(turn)))
        }
        // In a file that is still written, too.
        #expect(try files.redact { $0.user == "alice" } == 34)
        log.note(Self.entry(user: "alice", at: 100))
        log.close()
        #expect(try files.verify().redactedCount == 34)
        #expect(try files.redact { $0.user == "alice" } == 1)
        #expect(try files.redact { $0.user == "alice" } == 0)
        let sum = try files.verify()
        #expect(sum.redactedCount == 35 && sum.sealedCount == 1)
        let path = try #require(files.paths().first)
        var bytes = try Data(contentsOf: URL(filePath: path))
        #expect(bytes.range(of: Data("alice".utf8)) == nil)
        #expect(bytes.range(of: Data("bob".utf8)) != nil)

        bytes[try #require(bytes.range(of: Data("bob".utf8))).lowerBound] ^= 1
        try bytes.write(to: URL(filePath: path))
        #expect(throws: Failure.self) { try files.verify() }
    }

    @Test func `the file of a killed process is sealed by the next`() throws {
        defer { directory.end() }
        do {
            let segment = try files.begin(AuditPolicy(), byteCount: 65_536)
            #expect(
                segment.journal.append(
                    Self.entry(user: "alice").bytes(salt: .init(repeating: 1, count: 16))))
            files.sealAbandoned()
            // Its process lives.
            #expect(try files.verify().openCount == 1)
        }
        files.sealAbandoned()
        let sum = try files.verify()
        #expect(sum.sealedCount == 1 && sum.entryCount == 1)
    }

    @Test func `a share is kept evenly, and masked fields are left out`() throws {
        defer { directory.end() }
        let log = try AuditLog(
            site: site,
            policy: AuditPolicy(sampledPerMillion: 100_000, masked: [.user, .question])
        ) { _ in }
        for turn in 0..<1_000 { log.note(Self.entry(user: "alice", at: Int64(turn))) }
        log.close()
        let found = try entries()
        #expect(found.count == 100)
        #expect(found.allSatisfy { $0.user == nil && $0.question == nil })
        #expect(found.allSatisfy { $0.address == "192.0.2.1" })
    }

    @Test func `an audit that cannot write says why, and goes on as soon as it can`() throws {
        defer { directory.end() }
        try Data().write(to: URL(filePath: site.auditDirectory))
        let faults = Mutex<[Failure]>([])
        let log = try AuditLog(site: site, policy: AuditPolicy()) { fault in
            faults.withLock { $0.append(fault) }
        }
        defer { log.close() }
        for turn in 0..<10 { log.note(Self.entry(user: "alice", at: Int64(turn))) }
        #expect(log.lostCount == 10)
        #expect(faults.withLock { $0.count } == 1)
        #expect(faults.withLock { $0.first?.message.contains("audit") } == true)

        try FileManager.default.removeItem(atPath: site.auditDirectory)
        var lost = -1
        while log.lostCount != lost {
            lost = log.lostCount
            log.note(Self.entry(user: "bob", at: 11))
        }
        #expect(try entries().map(\.user) == ["bob"])
    }

    @Test func `old files go, and the oldest where all are too large`() throws {
        defer { directory.end() }
        let now = WallClock.microseconds()
        for days in [100, 80, 2, 1] {
            let log = try AuditLog(site: site, policy: AuditPolicy()) { _ in }
            log.note(Self.entry(user: "alice", at: Int64(days)))
            let made = try #require(files.paths().last)
            log.close()
            let name = String(now - Int64(days) * 86_400_000_000)
            for suffix in ["", ".seal"] {
                try FileManager.default.moveItem(
                    atPath: made + suffix,
                    toPath: site.auditDirectory + "/\(name)-1.audit" + suffix)
            }
        }
        files.remove(olderThan: 90, beyond: 10 << 30)
        #expect(try entries().map(\.at.microseconds) == [80, 2, 1])
        let one = try #require(FileSystem.byteCount(of: files.paths()[0]))
        files.remove(olderThan: 90, beyond: 2 * one)
        #expect(try entries().map(\.at.microseconds) == [2, 1])
    }

    @Test func `a filter knows the features an identify showed, and asks a query again`() throws {
        let feature = AuditFilter.Feature(
            map: try MapName(parsing: "World"), layer: 0, id: 5)
        #expect(AuditFilter.Feature(parsing: "World/0/5") == feature)
        #expect(AuditFilter.Feature(parsing: "World/0") == nil)
        #expect(AuditFilter.Feature(parsing: "World/x/5") == nil)
        var filter = AuditFilter()
        filter.feature = feature
        func isMet(_ entry: AuditEntry) -> Bool {
            if case .met = filter.match(entry) { true } else { false }
        }
        #expect(isMet(Self.entry(user: "a", at: 5)))
        #expect(!isMet(Self.entry(user: "a", at: 6)))

        var query = QueryRequest(map: feature.map, layer: 0)
        query.clause = "name = 'x'"
        (query.offset, query.limit) = (20, 10)
        var entry = Self.entry(user: "a")
        entry.operation = "query"
        entry.shown = nil
        entry.question = .request(try CairnJSON.encode(query))
        guard case .ifCounted(let again) = filter.match(entry) else {
            Issue.record("\(filter.match(entry))")
            return
        }
        #expect(again.clause == query.clause && again.objectIDs == [5] && again.at == 7)
        #expect(again.offset == 0 && again.limit == nil && again.result == .count)
        query.objectIDs = [1, 2]
        entry.question = .request(try CairnJSON.encode(query))
        if case .none = filter.match(entry) {} else { Issue.record("\(filter.match(entry))") }
    }
}
