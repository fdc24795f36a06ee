// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import EventLog
import Foundation
import PowerCutDisk
import TestKit
import Testing

/// A disk in memory that loses what was not synced when its power is cut.
@safe final class PowerDisk {
    private let disk: OpaquePointer

    init(folder: String, isHonest: Bool = true) throws {
        unsafe disk = try #require(unsafe power_disk_make(folder))
        unsafe power_disk_set_honest(disk, isHonest)
    }

    deinit { unsafe power_disk_free(disk) }

    var isOut: Bool { unsafe power_disk_is_out(disk) }
    var lostSectorCount: Int { unsafe power_disk_lost_sectors(disk) }
    func fail(after operations: Int) { unsafe power_disk_fail_after(disk, operations) }
    func fail(atSync count: Int) { unsafe power_disk_fail_at_sync(disk, count) }
    func restore(seed: UInt64) { unsafe power_disk_restore(disk, seed) }
}

/// One log that loses its power again and again, at any write or sync.
struct PowerCutStory {
    let scratch: Scratch
    let disk: PowerDisk
    var random: SeededGenerator
    /// Acknowledged events, in the order of the log.
    var acknowledged: [NewEvent] = []
    /// The group whose commit the power cut interrupted.
    var underWay: [[StreamAppend]] = []
    var cutCount = 0
    /// Cuts after which the interrupted group was there, or not.
    var keptCount = 0
    var droppedCount = 0
    /// The violated invariant; the story ends with the first.
    var fault: String?

    init(seed: UInt64, isHonest: Bool = true) throws {
        scratch = try Scratch()
        random = SeededGenerator(seed: seed)
        disk = try PowerDisk(folder: scratch.path, isHonest: isHonest)
    }

    private func open() throws -> SQLiteEventStore {
        try SQLiteEventStore(path: scratch.file) { Timestamp(microseconds: 1) }
    }

    mutating func run(cuts: Int) throws {
        while cutCount < cuts, fault == nil {
            if Bool.random(using: &random) {
                let most = Int.random(in: 2...300, using: &random)
                disk.fail(after: .random(in: 1...most, using: &random))
            } else {
                disk.fail(atSync: .random(in: 1...20, using: &random))
            }
            write()
            disk.restore(seed: random.next())
            cutCount += 1
            fault = try checkAfterCut()
        }
    }

    /// Appends groups until the power fails; a cut while the log is opened is one too.
    private mutating func write() {
        guard let store = try? open() else { return }
        while !disk.isOut {
            let group = makeGroup()
            underWay = group
            let committed = store.append(batch: group)
            if committed.results.allSatisfy({ (try? $0.get()) != nil }) {
                acknowledged += group.flatMap { $0.flatMap(\.events) }
                underWay = []
            }
            switch Int.random(in: 0..<20, using: &random) {
            case 0: try? store.checkpoint()
            case 1: try? store.checkpoint(truncating: true)
            case 2: return  // closed in order; the power fails afterwards
            case 3...5: try? store.writeIndexes()
            default: break
            }
        }
    }

    private mutating func makeGroup() -> [[StreamAppend]] {
        (0..<Int.random(in: 1...5, using: &random)).map { _ in
            let stream = StreamName(rawValue: "map-\(Int.random(in: 0..<4, using: &random))")
            let events = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                let size = [0, 10, 300, 9_000, 40_000].randomElement(using: &random) ?? 0
                return NewEvent(
                    id: UUID(words: (random.next(), random.next())), type: "test.happened",
                    schema: 1,
                    data: Data(repeating: UInt8.random(in: 0...255, using: &random), count: size),
                    metadata: EventMetadata())
            }
            return stream.map { [StreamAppend(stream: $0, expected: .any, events: events)] } ?? []
        }
    }

    /// Opens the log again and returns the violated invariant, if any.
    ///
    /// Every acknowledged event is in its place, followed by the whole interrupted group or
    /// nothing. Then the group is sent again, as its client would.
    private mutating func checkAfterCut() throws -> String? {
        let store = try open()
        let records = try store.everything()
        for filter in Set(records.map { ReadRange.Filter.stream($0.stream) }) {
            let page = try store.read(
                ReadRange(after: 0, limit: .max, byteLimit: .max, filter: filter))
            guard page.events == records.filter({ filter.admits($0.stream) }) else {
                return "\(filter) is not what the log holds of it"
            }
        }
        let found = records.map(\.event)
        let interrupted = underWay.flatMap { $0.flatMap(\.events) }
        guard found.starts(with: acknowledged) else {
            let common = zip(found, acknowledged).prefix { $0 == $1 }.count
            return "\(acknowledged.count) events were acknowledged; \(common) are in their places"
        }
        let tail = Array(found.dropFirst(acknowledged.count))
        guard tail.isEmpty || tail == interrupted else {
            return "\(tail.count) of \(interrupted.count) events of an interrupted group are left"
        }
        if let found = try store.firstFault() { return "\(found)" }
        if !interrupted.isEmpty { tail.isEmpty ? (droppedCount += 1) : (keptCount += 1) }
        let again = store.append(batch: underWay)
        guard again.results.allSatisfy({ (try? $0.get().isRepeat) == !tail.isEmpty }) else {
            return "sent again, the interrupted group was taken differently: \(again.results)"
        }
        acknowledged += interrupted
        underWay = []
        return try store.everything().map(\.event) == acknowledged
            ? nil : "sent again, the interrupted group is not there once"
    }
}

@Suite(.timeLimit(.minutes(10))) struct PowerCutTests {
    @Test(.slow) func `a power cut takes nothing that was acknowledged, and no part of a group`()
        throws
    {
        var (cuts, kept, dropped, lost) = (0, 0, 0, 0)
        let seeds = Seeds.chosen(40)
        for seed in seeds {
            var story = try PowerCutStory(seed: seed)
            try story.run(cuts: 5)
            #expect(story.fault == nil, "seed \(seed): after cut \(story.cutCount)")
            cuts += story.cutCount
            kept += story.keptCount
            dropped += story.droppedCount
            lost += story.disk.lostSectorCount
        }
        print(
            "power cuts: \(seeds.count) seeds, \(cuts) cuts, \(lost) sectors lost; interrupted "
                + "groups: \(kept) there, \(dropped) not")
        if seeds.count > 20 { #expect(kept > 0 && dropped > 0 && lost > 0) }
    }

    @Test func `a disk that only says it has synced is found out`() throws {
        let found = try (UInt64(1)...20).count { seed in
            var story = try PowerCutStory(seed: seed, isHonest: false)
            do {
                try story.run(cuts: 5)
                return story.fault != nil
            } catch is Failure {
                return true
            }
        }

        #expect(found > 10)
    }
}
