// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Replay
import SiteStory
import TestKit
import Testing

@Suite struct CausalChainTests {
    /// Every stream of a story, each with its records.
    private func streams(seed: UInt64, count: Int) throws -> [[RecordedEvent]] {
        var story = SiteStory(seed: seed)
        try story.run(to: count)
        return Dictionary(grouping: story.records, by: \.stream).values
            .sorted { $0[0].globalPosition < $1[0].globalPosition }
    }

    private func attempt(_ event: RecordedEvent) throws -> ChunkAttempt? {
        switch try JobEvent(event.event) {
        case .chunkLeased(let event): event.attempt
        case .chunkCompleted(let event): event.attempt
        case .chunkFailed(let event): event.attempt
        case .chunkLost(let event): event.attempt
        case .chunkReleased(let event): event.attempt
        default: nil
        }
    }

    @Test func `every chain rises, begins at a command or a beginning, and ends with its event`()
        throws
    {
        for records in try streams(seed: 21, count: 400) {
            for end in records.indices {
                let chain = try #require(CausalChain(explaining: Array(records[...end])))
                let positions = chain.steps.map(\.event.globalPosition)
                #expect(positions == positions.sorted() && Set(positions).count == positions.count)
                #expect(chain.steps.last?.event == records[end])
                let first = try #require(chain.steps.first?.event)
                switch records[0].stream.category {
                case "map":
                    #expect(first.event.metadata.causation == chain.command)
                    #expect(chain.command != nil && chain.actor == "story")
                case "job": #expect(first.event.type == JobSubmitted.eventType)
                default: #expect(chain.steps.count == 1)
                }
            }
        }
    }

    @Test(arguments: Seeds.chosen(3, from: 31))
    func `records from any place on tell the same chain, or that they begin too late`(
        seed: UInt64
    ) throws {
        var (told, short) = (0, 0)
        for records in try streams(seed: seed, count: 300) {
            for end in records.indices {
                let whole = try #require(CausalChain(explaining: Array(records[...end])))
                for start in 0...end {
                    guard let chain = CausalChain(explainingLast: Array(records[start...end]))
                    else {
                        #expect(start > 0)
                        continue
                    }
                    #expect(chain.steps == whole.steps, "\(records[end]) from \(start)")
                    #expect(chain.command == whole.command && chain.actor == whole.actor)
                    told += 1
                    if start > 0 { short += 1 }
                }
            }
        }
        #expect(CausalChain(explainingLast: []) == nil)
        #expect(short > 1_000, "\(short) of \(told)")
    }

    @Test
    func `the end of an attempt follows from its lease, a second lease from the first one's end`()
        throws
    {
        var (ends, repeats) = (0, 0)
        for records in try streams(seed: 22, count: 700) where records[0].stream.category == "job" {
            for end in records.indices {
                guard let attempt = try attempt(records[end]) else { continue }
                let chain = try #require(CausalChain(explaining: Array(records[...end])))
                let cause = try #require(chain.steps.dropLast().last)
                #expect(cause.isInferred)
                if records[end].event.type == JobChunkLeased.eventType {
                    guard attempt.number > 1 else { continue }
                    repeats += 1
                    let before = try #require(try self.attempt(cause.event))
                    #expect(before.chunk == attempt.chunk && before.number == attempt.number - 1)
                } else {
                    ends += 1
                    #expect(cause.event.event.type == JobChunkLeased.eventType)
                    #expect(try self.attempt(cause.event) == attempt)
                }
            }
        }
        #expect(ends > 40 && repeats > 3, "\(ends), \(repeats)")
    }

    @Test func `a load follows from what made it necessary`() throws {
        var count = 0
        for records in try streams(seed: 23, count: 500) where records[0].stream.category == "map" {
            for end in records.indices where records[end].event.type == LayerLoaded.eventType {
                count += 1
                let layer = try LayerLoaded.decode(records[end].event).layer
                let chain = try #require(CausalChain(explaining: Array(records[...end])))
                let types = chain.steps.map(\.event.event.type)
                #expect(
                    types.suffix(3) == [
                        LayerAdded.eventType, LayerLoadStarted.eventType, LayerLoaded.eventType,
                    ])
                #expect(try LayerAdded.decode(chain.steps[0].event.event).layer == layer)
            }
        }
        #expect(count > 20)
    }

    @Test func `a cause that is recorded goes before what the rules would say`() throws {
        var story = SiteStory(seed: 24)
        try story.run(to: 200)
        var records = story.records.filter { $0.stream.rawValue == "map-World" }
        let end = try #require(
            records.lastIndex { $0.event.type == LayerLoadStarted.eventType })
        records.removeSubrange((end + 1)...)
        records[end].event.metadata.causation = records[0].event.id

        let chain = try #require(CausalChain(explaining: records))

        #expect(chain.steps.map(\.event) == [records[0], records[end]])
        #expect(chain.steps.allSatisfy { !$0.isInferred })
    }
}
