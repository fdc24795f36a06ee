// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnClient
import CairnModel
import EventLog
import Foundation
import Site
import Synchronization
import TestKit
import Testing

/// Appends and claims without a waiting client are processed in order of arrival.
@Suite(.serialized, .timeLimit(.minutes(3))) struct CommitOrderTests {
    let scratch: ScratchSite
    init() throws { scratch = try ScratchSite() }

    /// Each append expects the one before it, and the epoch of the claim before it, though none
    /// waits: one that overtakes another, or is overtaken, is refused.
    @Test(.slow, arguments: [1, 2] as [UInt64])
    func `appends of any size and form and claims are done in the order in which they come`(
        seed: UInt64
    ) async throws {
        let running = try RunningLog(scratch.site)
        defer { running.stop() }
        let follower = try LogClient(scratch.site)
        let handled = Handled()
        let isPrompt = seed == 2
        let isOnBus = Mutex<Set<Bool?>>([])
        let subscription = try LogSubscription(
            bus: follower.bus, log: follower.log, isPrompt: isPrompt
        ) { [bus = follower.bus] events, position in
            isOnBus.withLock { _ = $0.insert(bus.isIsolatingCurrentContext()) }
            handled.take(events, upTo: position)
        }
        defer { subscription.cancel() }
        let published = Mutex<[Int64]>([])
        let listener = try follower.bus.subscribe(.logTail, topics: ["e/"]) { _, message in
            published.withLock { $0.append(message.header.sequence) }
        }
        defer { listener.close() }
        let asker = try LogClient(scratch.site)
        let requester = try asker.bus.connectRequester(.logRequests)
        let answers = Answers()
        var random = SeededGenerator(seed: seed)
        var ids: [UUID] = []
        var epoch: Int64 = 0
        for number in 0..<Self.appendCount {
            if random.next() % 48 == 0 {
                epoch += 1
                let claim = ClaimRequest(category: "job", instance: UUID(), holder: "test")
                try Self.ask(requester, "claim", claim) { _ in }
            }
            var event = newEvent("\(number)")
            if random.next() % 24 == 0 { event.data = Self.large }
            ids.append(event.id)
            let append = StreamAppend(
                stream: try stream("job-a"),
                expected: number == 0 ? .noStream : .exact(Int64(number) - 1), events: [event])
            let request = AppendRequest(
                appends: [append], epochs: epoch > 0 ? ["job": epoch] : nil)
            // In the fixed layout it may be committed on the bus thread, in JSON it is not.
            let isFixed = random.next() % 24 > 0
            try Self.ask(requester, "append", request, isFixed ? try request.fixedLayout() : nil) {
                answers.add($0, of: number)
            }
            // Now and then everything before is answered, and the next finds nothing under way.
            if random.next() % 16 == 0 {
                #expect(await eventually { answers.count == number + 1 })
            }
        }
        #expect(await eventually { answers.count == Self.appendCount })

        for number in 0..<Self.appendCount {
            let result = try answers.result(of: number)
            #expect(result.firstPosition == Int64(number) + 1 && !result.isRepeat)
        }
        #expect(await handled.reached(Int64(Self.appendCount)))
        #expect(handled.events.map(\.event.id) == ids)
        #expect(isOnBus.withLock { $0 } == [isPrompt])
        let order = published.withLock { $0 }
        #expect(!order.isEmpty && order == order.sorted())
        #expect(epoch > 5)
    }

    private static let appendCount = 3_000

    /// Several of these fill a commit.
    private static let large = Data("{\"text\":\"\(String(repeating: "x", count: 200_000))\"}".utf8)

    private static func ask(
        _ requester: Requester, _ operation: String, _ request: some Encodable,
        _ fixedLayout: Data? = nil,
        _ completion: @escaping @Sendable (Result<Message, Failure>) -> Void
    ) throws {
        let message = Message(
            header: MessageHeader(
                kind: .request,
                contentType: fixedLayout == nil ? MessageHeader.json : MessageHeader.fixedLayout),
            metadata: try RequestMetadata(operation: operation).wireForm(),
            payload: try fixedLayout ?? CairnJSON.encode(request))
        requester.ask(message, timeout: .seconds(60), completion)
    }
}

/// The outcomes of the appends, by number.
private final class Answers: Sendable {
    private let state = Mutex<[Int: Result<Message, Failure>]>([:])

    var count: Int { state.withLock { $0.count } }

    func add(_ answer: Result<Message, Failure>, of number: Int) {
        state.withLock { $0[number] = answer }
    }

    func result(of number: Int) throws -> AppendResult {
        let answer = try #require(state.withLock { $0[number] })
        return try answer.get().decode(AppendResult.self)
    }
}
