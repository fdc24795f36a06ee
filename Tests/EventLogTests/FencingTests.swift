// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import EventLog
import Foundation
import TestKit
import Testing

/// One writer for each category, run on every store.
@Suite struct FencingTests {
    typealias Kind = StoreUnderTest.Kind

    private func append(_ text: String, to stream: String = "map-a") throws -> [StreamAppend] {
        [StreamAppend(stream: try name(stream), expected: .any, events: [event(text)])]
    }

    private func claim(
        _ log: StoreUnderTest, _ category: String = "map", _ instance: UUID = UUID()
    ) throws -> WriterClaim {
        try log.store.claim(
            ClaimRequest(category: category, instance: instance, holder: "tests/1"))
    }

    @Test(arguments: Kind.allCases)
    func `a writer that was replaced is refused for good, its successor is not`(kind: Kind) throws {
        let log = try StoreUnderTest(kind)
        let first = try claim(log)
        try log.store.append(append("1"), epochs: ["map": first.epoch])
        let second = try claim(log)
        #expect(second.epoch == first.epoch + 1 && second.after == 1)

        for _ in 0..<2 {
            let refusal = failure {
                try log.store.append(append("zombie"), epochs: ["map": first.epoch])
            }
            #expect(refusal?.code == .fenced)
            #expect(refusal?.details == ["epoch=\(second.epoch)"])
            try log.reopen()
        }
        try log.store.append(append("2"), epochs: ["map": second.epoch])

        let texts = try log.store.everything().map {
            String(decoding: $0.event.data, as: UTF8.self)
        }
        #expect(texts == ["1", "2"])
    }

    @Test(arguments: Kind.allCases)
    func `a claimed category takes nothing without its epoch, an unclaimed one nothing with one`(
        kind: Kind
    ) throws {
        let log = try StoreUnderTest(kind)
        let map = try claim(log)

        #expect(code { try log.store.append(append("x")) } == .fenced)
        #expect(
            code { try log.store.append(append("x"), epochs: ["map": map.epoch + 1]) } == .fenced)
        #expect(
            code { try log.store.append(append("x", to: "job-1"), epochs: ["job": 1]) } == .fenced)
        #expect(code { try log.store.append(append("x", to: "job-1")) } == nil)
        #expect(
            code {
                try log.store.append(append("x", to: "job-1"), epochs: ["map": map.epoch])
            } == nil)
        #expect(try log.store.head() == 2)
    }

    @Test(arguments: Kind.allCases)
    func `an append over two categories needs the epochs of both, or leaves no trace`(
        kind: Kind
    ) throws {
        let log = try StoreUnderTest(kind)
        let (map, job) = (try claim(log), try claim(log, "job"))
        let both = try append("m") + append("j", to: "job-1")

        #expect(code { try log.store.append(both, epochs: ["map": map.epoch]) } == .fenced)
        #expect(try log.store.head() == 0)
        let epochs = ["map": map.epoch, "job": job.epoch]
        #expect(try log.store.append(both, epochs: epochs).lastPosition == 2)
    }

    @Test(arguments: Kind.allCases)
    func `a claim that arrives again, however late, takes nothing away`(kind: Kind) throws {
        let log = try StoreUnderTest(kind)
        let (a, b) = (UUID(), UUID())
        let first = try claim(log, "map", a)
        #expect(try claim(log, "map", a) == first)
        let second = try claim(log, "map", b)
        try log.reopen()

        #expect(try claim(log, "map", a) == first)
        #expect(try claim(log, "map", b) == second)
        #expect(code { try log.store.append(append("x"), epochs: ["map": first.epoch]) } == .fenced)
        #expect(code { try log.store.append(append("x"), epochs: ["map": second.epoch]) } == nil)
    }

    @Test(arguments: Kind.allCases)
    func `a writer that was replaced still learns what it had appended before`(kind: Kind) throws {
        let log = try StoreUnderTest(kind)
        let first = try claim(log)
        let mine = try append("1")
        let result = try log.store.append(mine, epochs: ["map": first.epoch])
        _ = try claim(log)

        let again = try log.store.append(mine, epochs: ["map": first.epoch])

        #expect(again.isRepeat && again.firstPosition == result.firstPosition)
        #expect(try log.store.head() == 1)
    }

    @Test(arguments: Kind.allCases)
    func `a writer that was replaced is fenced though its successor used the same event ids`(
        kind: Kind
    ) throws {
        let log = try StoreUnderTest(kind)
        let first = try claim(log)
        let second = try claim(log)
        let (id, later) = (UUID(), UUID())
        func appends(_ texts: (String, UUID)...) throws -> [StreamAppend] {
            let events = texts.map { event($0.0, id: $0.1) }
            return [StreamAppend(stream: try name("map-a"), expected: .noStream, events: events)]
        }
        try log.store.append(appends(("successor", id)), epochs: ["map": second.epoch])

        for wanted in [
            try appends(("zombie", id)), try appends(("successor", id), ("more", later)),
            try appends(("more", later), ("successor", id)),
        ] {
            #expect(
                code { try log.store.append(wanted, epochs: ["map": first.epoch]) } == .fenced)
            #expect(
                code { try log.store.append(wanted, epochs: ["map": second.epoch]) } == .idReused)
        }
        #expect(try log.store.head() == 1)
    }

    @Test(arguments: Kind.allCases)
    func `a zombie's append touches nothing of its successor's in the same commit`(kind: Kind)
        throws
    {
        let log = try StoreUnderTest(kind)
        let (first, second) = (try claim(log), try claim(log))
        func request(_ text: String, _ claim: WriterClaim) throws -> AppendRequest {
            AppendRequest(appends: try append(text), epochs: ["map": claim.epoch])
        }

        let batch = log.store.append(batch: [
            try request("1", second), try request("zombie", first), try request("2", second),
        ])

        #expect(batch.results.map { try? $0.get().firstPosition } == [1, nil, 2])
    }

    @Test(.slow, arguments: Kind.allCases)
    func `claims are remembered within bounds, and the newest always`(kind: Kind) throws {
        let log = try StoreUnderTest(kind)
        for _ in 0..<250 { _ = try claim(log) }
        let last = try claim(log)
        #expect(last.epoch == 251)
        try log.reopen()

        #expect(try claim(log, "map", last.instance) == last)
        #expect(try claim(log).epoch == 252)
        #expect(code { _ = try claim(log, "") } == .invalidParameter)
        #expect(code { _ = try claim(log, "a-b") } == .invalidParameter)
        let long = String(repeating: "x", count: 101)
        #expect(code { _ = try claim(log, long) } == .invalidParameter)
        #expect(
            code {
                _ = try log.store.claim(
                    ClaimRequest(category: "map", instance: UUID(), holder: long + long))
            } == .tooLarge)
    }
}
