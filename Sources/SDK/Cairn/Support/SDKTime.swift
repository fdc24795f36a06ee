// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import Foundation

/// What gives the time, and waits.
package protocol TimeSource: Sendable {
    /// The date.
    var date: Date { get }
    /// A moment that no setting of the date moves.
    var now: ContinuousClock.Instant { get }
    /// Waits; throws `CancellationError` in a cancelled task.
    func sleep(for duration: Duration) async throws
}

/// The time that waits, bounds and dates go by: the machine's, unless a test says otherwise for
/// what it starts.
package enum SDKTime {
    @TaskLocal package static var own: (any TimeSource)?

    static var date: Date { own?.date ?? Date() }
    static var now: ContinuousClock.Instant { own?.now ?? .now }

    static func sleep(for duration: Duration) async throws {
        guard let own else { return try await Task.sleep(for: duration) }
        try await own.sleep(for: duration)
    }
}
