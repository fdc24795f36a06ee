// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import Foundation
import Platform
import Site

/// Cairn's frames and threads beside the same frames in C over libzmq, each between two processes.
struct BusCases {
    static let payload = Data(repeating: 120, count: 300)
    let shop: Workshop

    func run() throws {
        let site = try shop.site("bus")
        defer { shop.remove(site) }
        try stream(site)
        try roundTrips(site)
    }

    private func stream(_ site: Site) throws {
        let count = shop.isShort ? 300_000 : 2_000_000
        let rounds = shop.isShort ? 1 : 3
        var ours: [Double] = []
        var theirs: [Double] = []
        for _ in 0..<rounds {
            theirs.append(
                try shop.peers(["stream", site.runDirectory, "\(count)", "\(Self.payload.count)"])
                    .perSecond)
            let receiver = try shop.role(["pull", site.path, "--count", "\(count)"])
            _ = try receiver.line()
            let sender = try shop.role(["push", site.path, "--count", "\(count)"])
            ours.append(try receiver.result(PeerFigures.self).perSecond)
            sender.end()
        }
        Output.write(
            Line("one stream", ours: ours.median, unit: "messages/s")
                .beside("libzmq in C", theirs.median, atLeast: 0.9))
    }

    /// In turns, because a round takes a second, and background load changes more slowly.
    private func roundTrips(_ site: Site) throws {
        let count = 10_000
        var ours: [Double] = []
        var theirs: [Double] = []
        for _ in 0..<(shop.isShort ? 3 : 9) {
            let peer = try shop.peers(
                ["round-trips", site.runDirectory, "\(count)", "\(Self.payload.count)"])
            theirs.append(peer.p50 ?? 0)
            let answerer = try shop.role(["answer", site.path])
            defer { answerer.end() }
            _ = try answerer.line()
            let asker = try shop.role(["ask", site.path, "--count", "\(count)"])
            ours.append(try asker.result(PeerFigures.self).p50 ?? 0)
        }
        Output.write(
            Line("round trip, p50", ours: ours.median, unit: "µs")
                .beside("libzmq in C", theirs.median, atMost: 1.15))
    }
}

extension [Double] {
    var median: Double { isEmpty ? 0 : sorted()[count / 2] }
}

/// The endpoints of these cases.
enum BenchEndpoint {
    static let stream = Endpoint(name: "bench.stream")
    static let requests = Endpoint(name: "bench.req")
}

/// The processes of these cases; each works until its task is done or it is ended.
enum BusRoles {
    static func endpoint(_ endpoint: Endpoint?) throws -> Endpoint {
        guard let endpoint else { throw Failure(.internal, "no such endpoint") }
        return endpoint
    }

    static func pull(_ site: Site, count: Int) throws {
        let bus = try BusThread(name: "pull", runDirectory: site.runDirectory)
        let state = Shared((received: 0, began: Int64(0)))
        let done = BlockingQueue<Double>(capacity: 1)
        try bus.bindPull(endpoint(BenchEndpoint.stream)) { _ in
            let elapsed: Int64? = state.change { state in
                state.received += 1
                if state.received == 1 { state.began = MonotonicClock.nanoseconds() }
                return state.received == count ? MonotonicClock.nanoseconds() - state.began : nil
            }
            if let elapsed { _ = done.tryPush(Double(count - 1) / (Double(elapsed) / 1e9)) }
        }
        Output.ready()
        guard let perSecond = done.pop() else { return }
        Output.write(value: ["perSecond": perSecond])
        bus.stop()
    }

    /// Sends on the bus thread as long as there is room, in turns, as a worker's outbox does.
    static func push(_ site: Site, count: Int) throws {
        let bus = try BusThread(name: "push", runDirectory: site.runDirectory)
        let pusher = Shared<Pusher?>(nil)
        let sent = Shared(0)
        let done = BlockingQueue<Bool>(capacity: 1)
        @Sendable func turn() {
            guard let pusher = pusher.value else { return }
            var number = sent.value
            defer { sent.value = number }
            for _ in 0..<1_000 where number < count {
                let message = Message(
                    header: MessageHeader(kind: .live, sequence: Int64(number)),
                    payload: BusCases.payload)
                do throws(Failure) { try pusher.send(message) } catch {
                    // No subscriber yet, and no signal for one.
                    if error.code != .busy { bus.schedule(after: .milliseconds(1)) { turn() } }
                    return
                }
                number += 1
            }
            if number == count { _ = done.tryPush(true) } else { bus.post { turn() } }
        }
        pusher.value = try bus.connectPush(endpoint(BenchEndpoint.stream)) { turn() }
        // As a worker does that has been welcomed.
        bus.post {
            pusher.value?.sendGroups()
            turn()
        }
        _ = done.pop()
        bus.stop()
    }

    static func answer(_ site: Site) throws {
        let bus = try BusThread(name: "answer", runDirectory: site.runDirectory)
        try bus.bindRouter(endpoint(BenchEndpoint.requests)) { $0.reply($0.message.payload) }
        Output.ready()
        while true { sleep(60) }
    }

    static func ask(_ site: Site, count: Int, window: Int) throws {
        let bus = try BusThread(name: "ask", runDirectory: site.runDirectory)
        let requester = try bus.connectRequester(endpoint(BenchEndpoint.requests))
        let times = try RequestLoad(requester, window: window, count: count) {
            Message(
                header: MessageHeader(kind: .request),
                metadata: Data(#"{"operation":"echo"}"#.utf8), payload: BusCases.payload)
        }.run()
        Output.write(value: times.figures)
        bus.stop()
    }
}

/// Requests by completions on the bus thread, a number of them in flight.
final class RequestLoad: Sendable {
    private struct State {
        var sent = 0
        var times: [Int64] = []
        var fault: Failure?
    }

    private let requester: Requester
    private let count: Int
    private let window: Int
    private let message: @Sendable () -> Message
    private let answered: @Sendable (Message) -> Void
    private let state = Shared(State())
    private let done = BlockingQueue<Bool>(capacity: 1)

    init(
        _ requester: Requester, window: Int, count: Int,
        answered: @escaping @Sendable (Message) -> Void = { _ in },
        _ message: @escaping @Sendable () -> Message
    ) {
        self.requester = requester
        self.window = window
        self.count = count
        self.message = message
        self.answered = answered
    }

    /// Durations of each and of all together; throws the first failure.
    func run() throws -> (figures: Figures, times: Times) {
        let start = MonotonicClock.nanoseconds()
        for _ in 0..<min(window, count) { next() }
        _ = done.pop()
        let took = Double(MonotonicClock.nanoseconds() - start) / 1e9
        if let fault = state.value.fault { throw fault }
        let times = Times(state.value.times)
        return (
            Figures(
                perSecond: Double(count) / took, p50: times.quantile(0.5),
                p99: times.quantile(0.99)), times
        )
    }

    struct Figures: Codable {
        var perSecond: Double
        var p50: Double
        var p99: Double
    }

    private func next() {
        let isNew = state.change { state in
            guard state.sent < count else { return false }
            state.sent += 1
            return true
        }
        guard isNew else { return }
        let start = MonotonicClock.nanoseconds()
        requester.ask(message(), timeout: .seconds(60)) { [self] result in
            if case .success(let message) = result { answered(message) }
            let isLast = state.change { state in
                state.times.append(MonotonicClock.nanoseconds() - start)
                if case .failure(let failure) = result { state.fault = failure }
                return state.times.count == count
            }
            if isLast { _ = done.tryPush(true) } else { next() }
        }
    }
}

extension Output {
    /// Signals the parent process that this one is ready.
    static func ready() { FileHandle.standardOutput.write(Data("ready\n".utf8)) }
}
