// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Synchronization

/// Closed loops over the bus: each answer triggers the next request, on the client's bus thread.
final class BusLoad: Sendable {
    private struct State {
        var measured = Measured()
        var next = 0
        var openCount = 0
        var done: CheckedContinuation<Void, Never>?
    }

    private let client: CairnClient
    private let requests: [IdentifyRequest]
    private let answers: [IdentifyAnswer]
    private let end: Int64
    private let state = Mutex(State())

    init(client: CairnClient, requests: [IdentifyRequest], answers: [IdentifyAnswer], end: Int64) {
        self.client = client
        self.requests = requests
        self.answers = answers
        self.end = end
    }

    func run(clients: Int) async -> Measured {
        let start = HTTPLoad.now()
        await withCheckedContinuation { continuation in
            state.withLock {
                $0.openCount = clients
                $0.done = continuation
            }
            for _ in 0..<clients { ask() }
        }
        var measured = state.withLock { $0.measured }
        measured.wall = Double(HTTPLoad.now() - start) / 1e9
        return measured
    }

    private func ask() {
        let index = state.withLock { state in
            defer { state.next += 1 }
            return state.next % requests.count
        }
        let since = HTTPLoad.now()
        do throws(Failure) {
            _ = try client.askIdentify(requests[index], timeout: .seconds(30)) { [self] outcome in
                finish(index, since, outcome)
            }
        } catch {
            close(isFailed: true)
        }
    }

    private func finish(_ index: Int, _ since: Int64, _ outcome: PendingIdentify.Outcome) {
        let now = HTTPLoad.now()
        let answer = try? outcome.answer()
        state.withLock { state in
            state.measured.nanoseconds.append(now - since)
            if answer == nil { state.measured.failedCount += 1 }
            if let answer, answer.layers != answers[index].layers { state.measured.wrongCount += 1 }
        }
        if now < end { ask() } else { close(isFailed: false) }
    }

    private func close(isFailed: Bool) {
        let done = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if isFailed { state.measured.failedCount += 1 }
            state.openCount -= 1
            return state.openCount == 0 ? state.done.take() : nil
        }
        done?.resume()
    }
}
