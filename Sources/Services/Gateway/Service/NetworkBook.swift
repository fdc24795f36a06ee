// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import MapState
internal import Synchronization

/// The road networks of a site, followed from the first question on.
///
/// Callable on any thread.
final class NetworkBook: Sendable {
    private struct Inner {
        var follower: NetworkFollower?
        /// Whether the log was read to its head once.
        var isCaughtUp = false
    }

    private let client: CairnClient
    private let inner = Mutex(Inner())

    init(_ client: CairnClient) { self.client = client }

    deinit { inner.withLock { $0.follower }?.stop() }

    /// The published networks in byte order of their names.
    ///
    /// The first call waits until the log is read to its head; later ones answer from memory, or
    /// wait for `minSequence`. Throws `Failure`: `timedOut`, and the fault of the log.
    func published(minSequence: Int64?) async throws(Failure) -> [NetworkPublished] {
        let (follower, isCaughtUp) = try follower()
        var least = minSequence ?? 0
        if !isCaughtUp {
            let head = try await LogReader(client).head().head
            _ = try await follower.snapshot(minSequence: head)
            inner.withLock { $0.isCaughtUp = $0.follower === follower }
            least = max(least, head)
        }
        let state = try await follower.snapshot(minSequence: least)
        return state.names.compactMap { state.network(named: $0)?.published }
    }

    private func follower() throws(Failure) -> (follower: NetworkFollower, isCaughtUp: Bool) {
        let result = inner.withLock { inner -> Result<(NetworkFollower, Bool), Failure> in
            if let known = inner.follower { return .success((known, inner.isCaughtUp)) }
            return Result { () throws(Failure) in
                let made = try NetworkFollower(
                    following: client.bus, log: try LogReader(bus: client.bus),
                    // The log was replaced: it is read anew.
                    onFault: { [weak self] in if $0.code == .conflict { self?.forget() } },
                    onStop: { [weak self] _ in self?.forget() })
                inner.follower = made
                inner.isCaughtUp = false
                return (made, false)
            }
        }
        return try result.get()
    }

    private func forget() {
        inner.withLock { inner in
            inner.follower = nil
            inner.isCaughtUp = false
        }
    }
}
