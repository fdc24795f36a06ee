// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Site
import TestKit

/// The clients of a site under torture.
struct Load: Sendable {
    let site: Site
    let client: CairnClient
    let history: History
    let seed: UInt64

    func generator(_ name: String, _ number: Int = 0) -> SeededGenerator {
        let mixed = name.utf8.reduce(seed &* 0x100_0000_01b3) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        return SeededGenerator(seed: mixed &+ UInt64(number))
    }

    /// Repeats an idempotent request until it is answered; nil when it was refused, after
    /// `onRefusal`, or without an answer in three minutes.
    func insist<Answer>(
        _ operation: String, onRefusal: () -> Void = {},
        _ body: () async throws(Failure) -> Answer
    ) async -> Answer? {
        let end = ContinuousClock.now + .seconds(180)
        while true {
            do throws(Failure) {
                return try await body()
            } catch {
                history.note(operation, failed: error)
                let mayRepeat = error.isRetriable || error.code == .noSpace
                guard mayRepeat else {
                    onRefusal()
                    return nil
                }
                guard ContinuousClock.now < end else {
                    history.note("givenUp", ["operation": operation])
                    return nil
                }
                try? await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    // MARK: Appends

    /// Appends to a stream of its own, in every mode, and now and then the same again.
    func append(_ number: Int) async {
        guard let log = try? LogReader(bus: client.bus),
            let stream = StreamName(rawValue: "torture-\(seed)x\(number)")
        else { return }
        var random = generator("append", number)
        var last: Int64?
        while !history.isOver {
            let events = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                let id = UUID.timeOrdered()
                return NewEvent(
                    id: id, type: "torture.noted", schema: 1, data: Data(id.text.utf8),
                    metadata: EventMetadata())
            }
            let modes: [ExpectedVersion] = [
                last.map { .exact($0) } ?? .noStream, last == nil ? .any : .streamExists, .any,
            ]
            let mode = modes[Int.random(in: 0..<3, using: &random)]
            for isRepeat in Int.random(in: 0..<8, using: &random) == 0 ? [false, true] : [false] {
                let answer = await insist("append") { () async throws(Failure) in
                    try await log.append(events, to: stream, expected: mode, timeout: .seconds(20))
                }
                guard let answer else {
                    return history.note("givenUp", ["stream": stream.rawValue])
                }
                history.note(
                    "append",
                    [
                        "stream": stream.rawValue, "ids": events.map(\.id.text),
                        "position": answer.firstPosition, "again": isRepeat,
                        "isRepeat": answer.isRepeat,
                    ])
            }
            last = (last ?? -1) + Int64(events.count)
            try? await Task.sleep(for: .milliseconds(Int.random(in: 0...12, using: &random)))
        }
    }

    // MARK: Places

    /// Asks for places; the locator never changes, so neither does an answer.
    func geocode() async {
        var random = generator("geocode")
        let names = ["Paris", "London", "Nairobi", "Tokyo, Japan", "Nowhereville Xyz", "Lomdon"]
        while !history.isOver {
            let name = names[Int.random(in: 0..<names.count, using: &random)]
            let answer = await insist("geocode") { () async throws(Failure) in
                try await client.ask(
                    .geocode, GeocodeRequest(singleLine: name), timeout: .seconds(20))
            }
            if let answer {
                let found = answer.candidates.map { "\($0.address) \($0.score)" }
                history.note("geocode", ["asked": name, "found": found])
            }
            try? await Task.sleep(for: .milliseconds(Int.random(in: 10...60, using: &random)))
        }
    }
}

/// Follows the whole log from its present end; reports the handled events at the end.
final class LogFollower: Sendable {
    private let load: Load
    private let subscription: LogSubscription
    private let handled: FollowedPart

    init(_ load: Load, after: Int64) throws {
        self.load = load
        let log = try LogReader(bus: load.client.bus)
        let handled = FollowedPart(after: after)
        self.handled = handled
        subscription = try LogSubscription(bus: load.client.bus, log: log, after: after) {
            events, position in
            handled.take(events, position)
        }
    }

    /// Waits until it has reached the log's present end.
    func finish() async {
        let head = await load.insist("head") { () async throws(Failure) in
            try await LogReader(bus: load.client.bus).head().head
        }
        let end = ContinuousClock.now + .seconds(60)
        while handled.position < (head ?? 0), ContinuousClock.now < end {
            try? await Task.sleep(for: .milliseconds(20))
        }
        subscription.cancel()
        load.history.note("followed", handled.summary.merging(["head": head ?? 0]) { $1 })
    }
}
