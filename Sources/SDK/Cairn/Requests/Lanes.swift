// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Synchronization

/// At most eight requests to one server at once; streams are not counted.
final class Lanes: Sendable {
    static let shared = Lanes()
    private static let limit = 8

    private struct Lane {
        var count = 0
        var waiting: [(number: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    }

    private struct State {
        var lanes: [String: Lane] = [:]
        var nextNumber = 0
        /// Those that were cancelled before they waited.
        var givenUp: Set<Int> = []
    }

    private let state = Mutex(State())

    func run<Answer: Sendable>(
        _ url: URL, isHeld: Bool, _ body: @Sendable () async throws -> Answer
    ) async throws -> Answer {
        guard isHeld, let origin = url.origin else { return try await body() }
        try await take(origin)
        defer { release(origin) }
        return try await body()
    }

    private func take(_ origin: String) async throws {
        try Task.checkCancellation()
        let number = state.withLock { state -> Int? in
            guard state.lanes[origin, default: Lane()].count >= Self.limit else {
                state.lanes[origin, default: Lane()].count += 1
                return nil
            }
            state.nextNumber += 1
            return state.nextNumber
        }
        guard let number else { return }
        let isMine = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in wait(number, origin, continuation) }
        } onCancel: {
            giveUp(number, origin)
        }
        // Cancelled when it waited no more.
        state.withLock { _ = $0.givenUp.remove(number) }
        guard isMine else { throw CancellationError() }
    }

    private func wait(
        _ number: Int, _ origin: String, _ continuation: CheckedContinuation<Bool, Never>
    ) {
        let isMine = state.withLock { state -> Bool? in
            if state.givenUp.remove(number) != nil { return false }
            // One may have become free meanwhile.
            guard state.lanes[origin, default: Lane()].count >= Self.limit else {
                state.lanes[origin, default: Lane()].count += 1
                return true
            }
            state.lanes[origin, default: Lane()].waiting.append((number, continuation))
            return nil
        }
        if let isMine { continuation.resume(returning: isMine) }
    }

    private func giveUp(_ number: Int, _ origin: String) {
        state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard
                let place = state.lanes[origin]?.waiting.firstIndex(where: { $0.number == number })
            else {
                state.givenUp.insert(number)
                return nil
            }
            return state.lanes[origin]?.waiting.remove(at: place).continuation
        }?.resume(returning: false)
    }

    private func release(_ origin: String) {
        state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard var lane = state.lanes[origin] else { return nil }
            if lane.waiting.isEmpty {
                lane.count -= 1
                state.lanes[origin] = lane.count == 0 ? nil : lane
                return nil
            }
            let next = lane.waiting.removeFirst()
            state.lanes[origin] = lane
            return next.continuation
        }?.resume(returning: true)
    }
}
