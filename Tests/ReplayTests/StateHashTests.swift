// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Jobs
import MapState
import Replay
import SiteStory
import TestKit
import Testing

@Suite struct StateHashTests {
    static func fold(_ records: ArraySlice<RecordedEvent>) throws -> SiteState {
        var state = SiteState()
        for record in records { try state.apply(record) }
        return state
    }

    @Test(.slow, arguments: [1, 2] as [UInt64])
    func `the log folded anew has the live hash at any sequence number, every time`(
        seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        var sampled: Set<Int64> = [1, 400]
        while sampled.count < 100 { sampled.insert(Int64.random(in: 1...400, using: &random)) }
        var live: [Int64: StateHash] = [:]
        var story = SiteStory(seed: seed) { state in
            if sampled.contains(state.sequence) { live[state.sequence] = try state.hash() }
        }
        try story.run(to: 400)
        // As they come from another process: through bytes.
        let bytes = try CairnJSON.encode(story.records)
        let records = try CairnJSON.decode([RecordedEvent].self, from: bytes)

        #expect(live.count == 100)
        for time in 1...2 {
            var state = SiteState()
            for record in records {
                try state.apply(record)
                guard let expected = live[state.sequence] else { continue }
                #expect(
                    try state.hash() == expected,
                    "seed \(seed), sequence number \(state.sequence), time \(time)")
            }
        }
    }

    @Test func `every event leads to another hash`() throws {
        var story = SiteStory(seed: 11)
        try story.run(to: 250)
        var state = SiteState()
        var seen: [ContentID: Int64] = [:]
        for record in story.records {
            try state.apply(record)
            let hash = try state.hash()
            #expect(
                seen.updateValue(record.globalPosition, forKey: hash.hash) == nil,
                "event \(record.globalPosition), \(record.event.type)")
            #expect(hash.parts.map(\.sequence).max() == record.globalPosition)
        }
    }

    @Test func `two logs that differ in one value differ in the hash of one part`() throws {
        var story = SiteStory(seed: 5)
        try story.run(to: 400)
        let place = try #require(
            story.records.lastIndex { $0.event.type == LayerVisibilityChanged.eventType })
        var other = story.records
        let event = try LayerVisibilityChanged.decode(other[place].event)
        other[place].event.data = try CairnJSON.encode(
            LayerVisibilityChanged(layer: event.layer, isVisible: !event.isVisible))

        let one = try Self.fold(story.records[...place]).hash()
        let two = try Self.fold(other[...place]).hash()

        #expect(one.hash != two.hash)
        let differing = zip(one.parts, two.parts).filter { $0 != $1 }
        #expect(
            differing.map(\.0.name) == ["map/\(story.records[place].stream.rawValue.dropFirst(4))"])
    }

    @Test func `a hash limited to maps is that of the maps alone`() throws {
        var story = SiteStory(seed: 6)
        try story.run(to: 300)
        let maps = try story.live.maps.hash()
        let jobs = try story.live.jobs.hash()
        let whole = try story.live.hash()

        #expect(whole.limited(to: ["map", "commands", "locator"]).hash == maps.hash)
        #expect(whole.limited(to: ["job"]).hash == jobs.hash)
        #expect(whole.limited(to: SiteState.kinds).hash == whole.hash)
        #expect(maps.hash != jobs.hash)
    }

    /// State of a fold is either hashed or derived from hashed state.
    ///
    /// A new property fails here until it is classified.
    @Test func `the canonical forms leave nothing out`() throws {
        func properties(_ value: some Any) -> Set<String> {
            Set(Mirror(reflecting: value).children.compactMap(\.label))
        }
        var story = SiteStory(seed: 7)
        try story.run(to: 300)
        let maps = story.live.maps

        #expect(
            properties(maps) == ["sequence", "lastEvent", "models", "locators", "outcomes"])
        let models = try #require(
            Mirror(reflecting: maps).children.first { $0.label == "models" }?.value)
        let model = try #require(Mirror(reflecting: models).children.first?.value)
        let pair = Array(Mirror(reflecting: model).children)
        // Layers include their sources; the position of a source's last change is left out, so that
        // older hashes do not change.
        #expect(
            properties(pair[1].value) == [
                "name", "streamPosition", "lastChange", "nextLayerID", "rootLayers", "layers",
                "idsByName", "nextGraphicIDs", "loadCauses", "sourceChanges", "isDeleted",
                "properties",
            ])
        let job = try #require(story.live.jobs.newestFirst.first { !$0.chunks.isEmpty })
        let form = try #require(
            JSONSerialization.jsonObject(with: try job.part().bytes) as? [String: Any])
        let derived: Set = [
            "doneWeight", "knownWeight", "stageCursor", "doneInStage", "notices", "pauseSequence",
        ]
        let absent = Set(
            Mirror(reflecting: job).children.filter { "\($0.value)" == "nil" }
                .compactMap(\.label))
        #expect(properties(job).subtracting(derived).subtracting(absent) == Set(form.keys))
        let chunk = try #require((form["chunks"] as? [[String: Any]])?.first)
        #expect(
            properties(job.chunks[0]).isSuperset(of: chunk.keys)
                && properties(job.chunks[0]).count == 10)
    }
}

/// The state from the log of an earlier release, kept for ever.
///
/// `Golden/v1/log/events.jsonl`, and the hash of the state after every fiftieth event.
/// `CAIRN_GOLDEN=write` writes a new pair where it is missing.
@Suite struct GoldenLogTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Golden/v1/log")

    private struct Expected: Codable, Equatable {
        var sequence: Int64
        var hash: ContentID
    }

    private static func lines<Value: Decodable>(_ name: String, of: Value.Type) throws -> [Value] {
        try Data(contentsOf: folder.appending(path: name)).split(separator: UInt8(ascii: "\n"))
            .map { try CairnJSON.decode(Value.self, from: Data($0)) }
    }

    private func hashes(_ records: [RecordedEvent]) throws -> [Expected] {
        var state = SiteState()
        var hashes: [Expected] = []
        for record in records {
            try state.apply(record)
            if record.globalPosition % 50 == 0 || record == records.last {
                hashes.append(
                    Expected(sequence: record.globalPosition, hash: try state.hash().hash))
            }
        }
        return hashes
    }

    @Test func `the golden log leads to the hashes it led to when it was written`() throws {
        let file = Self.folder.appending(path: "events.jsonl")
        if ProcessInfo.processInfo.environment["CAIRN_GOLDEN"] == "write",
            !FileManager.default.fileExists(atPath: file.path())
        {
            try write()
        }
        let records = try Self.lines("events.jsonl", of: RecordedEvent.self)
        let expected = try Self.lines("hashes.jsonl", of: Expected.self)

        #expect(records.count >= 600 && expected.count >= 12)
        #expect(try hashes(records) == expected)
        #expect(try hashes(records) == expected, "the second time")
        let types = Set(records.map(\.event.type))
        #expect(types.count >= 30, "\(types.sorted())")
    }

    private func write() throws {
        var story = SiteStory(seed: 2026)
        try story.run(to: 600)
        try FileManager.default.createDirectory(
            at: Self.folder, withIntermediateDirectories: true)
        func write(_ values: [some Encodable], _ name: String) throws {
            let lines = try values.map { try CairnJSON.encode($0) + Data("\n".utf8) }
            try Data(lines.joined()).write(to: Self.folder.appending(path: name))
        }
        try write(story.records, "events.jsonl")
        try write(try hashes(story.records), "hashes.jsonl")
    }
}
