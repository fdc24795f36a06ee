// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// A wait that ended at its limit.
public struct WaitFailure: Error, CustomStringConvertible {
    /// What was awaited, for how long, and what there was instead.
    public let description: String

    init(_ statement: String, _ limit: Duration, _ detail: String) {
        description =
            "it did not become true within \(limit) that \(statement)"
            + (detail.isEmpty ? "" : ": \(detail)")
    }
}

/// Whether a condition holds before the limit; asks it again after each interval.
///
/// A cancelled task asks once more and returns.
public func eventually(
    within limit: Duration = .seconds(50), every interval: Duration = .milliseconds(5),
    _ condition: () async throws -> Bool
) async rethrows -> Bool {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end {
        if try await condition() { return true }
        do { try await Task.sleep(for: interval) } catch { break }
    }
    return try await condition()
}

/// Waits until a condition holds; throws where it does not before the limit.
///
/// - Parameters:
///   - statement: The condition in words, which the failure quotes: "the worker holds its task".
///   - detail: What the failure says besides.
public func waitUntil(
    _ statement: String, within limit: Duration = .seconds(50),
    every interval: Duration = .milliseconds(5), detail: @autoclosure () -> String = "",
    _ condition: () async throws -> Bool
) async throws {
    guard try await eventually(within: limit, every: interval, condition) else {
        throw WaitFailure(statement, limit, detail())
    }
}

/// Blocks the thread until a condition holds; throws where it does not before the limit.
public func blockUntil(
    _ statement: String, within limit: Duration = .seconds(50),
    every interval: Duration = .milliseconds(1), detail: @autoclosure () -> String = "",
    _ condition: () throws -> Bool
) throws {
    let end = ContinuousClock.now + limit
    while try !condition() {
        guard ContinuousClock.now < end else { throw WaitFailure(statement, limit, detail()) }
        Thread.sleep(forTimeInterval: interval / .seconds(1))
    }
}

/// Lets a random time pass before a process is killed, so that the kill comes at any moment of its
/// work.
public func pauseBeforeKill(
    milliseconds: ClosedRange<Int>, using random: inout some RandomNumberGenerator
) async throws {
    try await Task.sleep(for: .milliseconds(Int.random(in: milliseconds, using: &random)))
}
