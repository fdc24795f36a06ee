// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import Dispatch
import FoundationEssentials
import Platform
import Synchronization
import TestKit
import Testing
import ZeroMQ

/// A service and a client of it, each on a thread of its own.
private struct Pair {
    let directory: RunDirectory
    let server: BusThread
    let client: BusThread
    let requester: Requester

    init(_ handler: @escaping @Sendable (IncomingRequest) -> Void) throws {
        directory = try RunDirectory()
        server = try directory.bus("server")
        client = try directory.bus("client")
        try server.bindRouter(.requests, handler)
        requester = try client.connectRequester(.requests)
    }

    func stop() {
        client.stop()
        server.stop()
    }
}

@Suite(.timeLimit(.minutes(5))) struct RequestTests {
    @Test func `a request is answered by the service that has the endpoint`() async throws {
        let pair = try Pair { request in
            let operation = (try? request.metadata().operation) ?? "?"
            request.reply(Data("\(operation) \(request.message.payload.count)".utf8), sequence: 7)
        }
        defer { pair.stop() }

        let answer = try await pair.requester.request(
            operation: "head", payload: Data([1, 2, 3]), timeout: .seconds(40))

        #expect(answer.text == "head 3")
        #expect(answer.header.kind == .reply)
        #expect(answer.header.sequence == 7)
        #expect(answer.header.sender == pair.server.instance)
    }

    @Test func `each of many requests gets its own answer, whatever their order`() async throws {
        let held = Inbox<IncomingRequest>()
        let pair = try Pair { request in
            held.put(request)
            guard held.count.isMultiple(of: 100) else { return }
            for request in held.all.suffix(100).reversed() {
                request.reply(request.message.payload)
            }
        }
        defer { pair.stop() }
        let requester = pair.requester

        let wrong = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<500 {
                group.addTask {
                    let answer = try await requester.request(
                        operation: "echo", payload: Data("\(number)".utf8), timeout: .seconds(20))
                    return answer.text != "\(number)"
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }

        #expect(wrong == 0)
        #expect(pair.server.statistics.receivedCount == 500)
    }

    @Test func `the largest number of open requests is answered, even all at once`() async throws {
        let held = Inbox<IncomingRequest>()
        let pair = try Pair { held.put($0) }
        let gate = DispatchGate()
        defer {
            gate.open()
            pair.stop()
        }
        let answers = Inbox<Int>()

        for number in 0..<4096 {
            var question = message(.request, "\(number)")
            question.payload += Data(count: 300)
            pair.requester.ask(question, timeout: .seconds(50)) { result in
                if case .success(let answer) = result {
                    answers.put(Int(answer.text.prefix { $0 != "\0" }) ?? -1)
                }
            }
        }

        let requests = await held.waitFor(4096)
        // The client does not read before all have been sent.
        pair.client.post { gate.wait() }
        for request in requests { request.reply(request.message.payload) }
        let server = pair.server
        #expect(
            await eventually {
                server.statistics.sentCount + server.statistics.droppedReplyCount == 4096
            })
        gate.open()

        #expect(await answers.waitFor(4096, within: .seconds(30)).sorted() == Array(0..<4096))
        #expect(pair.server.statistics.droppedReplyCount == 0)
    }

    @Test func `a refusal reaches the asker as it was made`() async throws {
        let refusal = Failure(.conflict, "the name is taken", details: ["by layer 3"])
        let pair = try Pair { $0.reply(failure: refusal) }
        defer { pair.stop() }
        let requester = pair.requester

        let got = await failure { () throws(Failure) in
            try await requester.request(operation: "x", timeout: .seconds(40))
        }

        #expect(got == refusal)
    }

    @Test func `a request that its handler drops is answered as unavailable`() async throws {
        let pair = try Pair { _ in }
        defer { pair.stop() }
        let requester = pair.requester

        let got = await failure { () throws(Failure) in
            try await requester.request(operation: "x", timeout: .seconds(20))
        }

        #expect(got?.code == .unavailable)
    }

    @Test func `only the first of two answers counts, and any thread may give it`() async throws {
        let pair = try Pair { request in
            let thread = try? PinnedThread(name: "answers") {
                request.reply(Data("first".utf8))
                request.reply(Data("second".utf8))
            }
            thread?.join()
        }
        defer { pair.stop() }

        for _ in 0..<3 {
            let answer = try await pair.requester.request(operation: "x", timeout: .seconds(40))
            #expect(answer.text == "first")
        }
        #expect(pair.client.statistics.lateReplyCount == 0)
    }

    @Test func `an answer is passed on unopened, under the question it answers`() async throws {
        let pair = try Pair { request in
            var other = message(.result, "from a worker")
            other.metadata = Data("{}".utf8)
            other.header.sequence = 41
            if request.message.payload.isEmpty {
                request.reply(relaying: other)
            } else {
                other.header.kind = .failure
                other.payload = Failure(.notFound, "no such map").wirePayload
                request.reply(relaying: other)
            }
        }
        defer { pair.stop() }
        let requester = pair.requester

        let answer = try await requester.request(operation: "x", timeout: .seconds(40))
        let refusal = await failure { () throws(Failure) in
            try await requester.request(
                operation: "x", payload: Data([1]), timeout: .seconds(40))
        }

        #expect(answer.text == "from a worker")
        #expect(answer.header.sequence == 41)
        #expect(answer.metadata == Data("{}".utf8))
        #expect(refusal == Failure(.notFound, "no such map"))
    }

    @Test func `a service that is not there is reported when the time is over`() async throws {
        let directory = try RunDirectory()
        let client = try directory.bus("client")
        defer { client.stop() }
        let requester = try client.connectRequester(.requests)

        let got = await failure { () throws(Failure) in
            try await requester.request(operation: "x", timeout: .milliseconds(80))
        }
        let clock = ContinuousClock()
        let early = clock.now
        let soon = await failure { () throws(Failure) in
            try await requester.send(
                message(.request, ""), timeout: .seconds(50), connectTimeout: .milliseconds(50))
        }

        #expect(got?.code == .unavailable)
        #expect(soon?.code == .unavailable)
        #expect(clock.now - early < .seconds(20))
    }

    @Test func `a service that stays silent is reported as late`() async throws {
        let held = Inbox<IncomingRequest>()
        let pair = try Pair { held.put($0) }
        defer { pair.stop() }
        let requester = pair.requester

        let got = await failure { () throws(Failure) in
            try await requester.request(operation: "x", timeout: .milliseconds(300))
        }
        try await held.first().reply(Data())

        #expect(got?.code == .timedOut)
        #expect(await eventually { pair.client.statistics.lateReplyCount == 1 })
    }

    @Test func `the asker's patience reaches the service as a deadline`() async throws {
        let deadlines = Inbox<Int64?>()
        let pair = try Pair { request in
            deadlines.put(request.deadline)
            request.reply(Data())
        }
        defer { pair.stop() }

        let asked = MonotonicClock.nanoseconds()
        _ = try await pair.requester.request(operation: "x", timeout: .seconds(7))

        let deadline = try #require(try await deadlines.first())
        #expect(deadline > asked)
        #expect(deadline <= MonotonicClock.nanoseconds() + 7_000_000_000)
    }

    @Test func `a service that dies before it answers is reported at once`() async throws {
        let directory = try RunDirectory()
        let server = try directory.bus("server")
        let client = try directory.bus("client")
        defer { client.stop() }
        let held = Inbox<IncomingRequest>()
        try server.bindRouter(.requests) { held.put($0) }
        let requester = try client.connectRequester(.requests)
        let asked = ContinuousClock.now

        async let outcome = failure { () throws(Failure) in
            try await requester.request(operation: "x", timeout: .seconds(50))
        }
        _ = try await held.first()
        server.stop()

        #expect(await outcome?.code == .unavailable)
        #expect(ContinuousClock.now - asked < .seconds(20))
    }

    @Test func `a service that goes while its answers are being read takes none of them with it`()
        async throws
    {
        let directory = try RunDirectory()
        let client = try directory.bus("client")
        defer { client.stop() }
        let path = try Endpoint.requests.path(in: directory.path)
        let requester = try client.connectRequester(.requests)
        for round in 0..<20 {
            let results = Inbox<Bool>()
            let isGone = DispatchSemaphore(value: 0)
            try answer(1_000, at: path, of: client, by: requester) { isAnswer in
                // In the midst of them, until the service has gone.
                if results.count == 40 { isGone.wait() }
                results.put(isAnswer)
            }
            isGone.signal()

            #expect(await results.waitFor(1_000).allSatisfy { $0 }, "round \(round)")
        }
    }

    /// Sends that many requests, and is the service that answers them all and closes; `completion`
    /// is called on the bus thread with whether each request was answered.
    private func answer(
        _ count: Int, at path: String, of client: BusThread, by requester: Requester,
        _ completion: @escaping @Sendable (Bool) -> Void
    ) throws {
        let service = try Listener(.router, path, binding: true)
        client.post {
            for _ in 0..<count {
                requester.ask(
                    Message(header: MessageHeader(kind: .request)), timeout: .seconds(50)
                ) { completion((try? $0.get()) != nil) }
            }
        }
        for arrival in try service.arrivals(untilMessages: count, leading: 1) {
            for question in arrival.messages {
                let header = MessageHeader(
                    kind: .reply, correlation: question.header.messageID)
                for frame in [arrival.leading[0], HeaderCoding.encode(Message(header: header)), []]
                {
                    try #require(try service.socket.send(frame, more: true))
                }
                try #require(try service.socket.send([], more: false))
            }
        }
    }

    @Test func `sockets that are closed while something happens to them stop no other`()
        async throws
    {
        let pair = try Pair { $0.reply($0.message.payload) }
        defer { pair.stop() }

        // There is no publisher: libzmq tries, and reports so to the monitor, while the socket
        // closes.
        for _ in 0..<1_000 { try pair.client.subscribe(.logTail, topics: [""]) { _, _ in }.close() }
        let answer = try await pair.requester.request(
            operation: "x", payload: Data([7]), timeout: .seconds(40))

        #expect(answer.payload == Data([7]))
    }

    @Test func `a client finds its service again after a restart`() async throws {
        let directory = try RunDirectory()
        let client = try directory.bus("client")
        defer { client.stop() }
        let requester = try client.connectRequester(.requests)
        for round in 0..<5 {
            let server = try directory.bus("server")
            try server.bindRouter(.requests) { $0.reply(Data("\(round)".utf8)) }

            // A request sent before the end of the old service was noticed is lost with it, and
            // fails with that reason: send it again.
            var answer: Message?
            while answer == nil {
                do throws(Failure) {
                    answer = try await requester.request(operation: "x", timeout: .seconds(40))
                } catch {
                    try #require(error.message.contains("went away"))
                }
            }

            #expect(answer?.text == "\(round)")
            server.stop()
        }
    }

    @Test func `a cancelled task stops waiting`() async throws {
        let held = Inbox<IncomingRequest>()
        let pair = try Pair { held.put($0) }
        defer { pair.stop() }
        let requester = pair.requester

        let asking = Task {
            await failure { () throws(Failure) in
                try await requester.request(operation: "x", timeout: .seconds(50))
            }
        }
        _ = try await held.first()
        asking.cancel()
        let before = Task {
            await failure { () throws(Failure) in
                try await requester.request(operation: "x", timeout: .seconds(50))
            }
        }
        before.cancel()

        #expect(await asking.value?.code == .cancelled)
        #expect(await before.value?.code == .cancelled)
    }

    @Test func `a message that is too large is refused before it is sent`() async throws {
        let pair = try Pair { $0.reply(Data("\($0.message.payload.count)".utf8)) }
        defer { pair.stop() }
        let requester = pair.requester
        let room = Endpoint.requests.maximumMessageByteCount - 96 - 17

        let largest = try await requester.request(
            operation: "x", payload: Data(count: room), timeout: .seconds(20))
        let over = await failure { () throws(Failure) in
            try await requester.request(
                operation: "x", payload: Data(count: room + 1), timeout: .seconds(20))
        }
        let tags = await failure { () throws(Failure) in
            try await requester.send(
                Message(
                    header: MessageHeader(kind: .request), metadata: Data(count: 65537)),
                timeout: .seconds(40))
        }
        let still = try await requester.request(operation: "x", timeout: .seconds(40))

        #expect(Endpoint.requests.maximumMessageByteCount == 8 << 20)
        #expect(largest.text == "\(room)")
        #expect(over?.code == .tooLarge)
        #expect(tags?.code == .tooLarge)
        #expect(still.text == "0")
        #expect(pair.client.statistics.oversizeCount == 2)
    }

    @Test func `an answer that is too large becomes a refusal`() async throws {
        let pair = try Pair { $0.reply(Data(count: 9 << 20)) }
        defer { pair.stop() }
        let requester = pair.requester

        let got = await failure { () throws(Failure) in
            try await requester.request(operation: "x", timeout: .seconds(40))
        }

        #expect(got?.code == .tooLarge)
    }

    @Test func `a second service of an endpoint is refused and the first goes on`() async throws {
        let pair = try Pair { $0.reply(Data("first".utf8)) }
        defer { pair.stop() }
        let other = try pair.directory.bus("other")
        defer { other.stop() }

        let got = await failure { () throws(Failure) in
            try other.bindRouter(.requests) { $0.reply(Data("second".utf8)) }
        }
        let answer = try await pair.requester.request(operation: "x", timeout: .seconds(40))

        #expect(got?.code == .conflict)
        #expect(got?.message.contains("log.req") == true)
        #expect(answer.text == "first")
    }

    @Test func `more questions than fit are refused as busy`() async throws {
        let directory = try RunDirectory()
        let client = try directory.bus("client")
        let requester = try client.connectRequester(.requests)
        let outcomes = Inbox<Failure.Code>()

        for _ in 0..<5000 {
            requester.ask(message(.request, ""), timeout: .seconds(60)) { result in
                if case .failure(let failure) = result { outcomes.put(failure.code) }
            }
        }
        _ = await outcomes.waitFor(904)
        #expect(outcomes.all.allSatisfy { $0 == .busy })
        #expect(outcomes.count == 904)
        client.stop()

        #expect(outcomes.all.count { $0 == .draining } == 4096)
    }
}
