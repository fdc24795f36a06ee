// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import MapState

/// The events of one map, every one once and in order, from a sequence number on.
///
/// Nothing is read while nobody asks for the next, so nothing gathers. Ask again with the last
/// sequence number to go on after an interruption.
public actor MapEvents {
    /// The most events that come at once.
    public static let batchLimit = 100

    private let log: LogReader
    private let follower: MapFollower
    private let map: MapName
    private var position: Int64

    /// Begins after a sequence number; throws `Failure` as `CairnClient.follow` does.
    public init(_ client: CairnClient, of map: MapName, after sequence: Int64) throws(Failure) {
        log = try LogReader(client)
        follower = try client.follow()
        self.map = map
        position = sequence
    }

    /// The next events, ``batchLimit`` at most; empty when there are none for so long, nil when the
    /// calling task is cancelled.
    ///
    /// While the log is away it waits. Throws `Failure`: `conflict` when the log is an older copy
    /// now, `corrupt` or `newerVersion` when it cannot be followed.
    public func next(within limit: Duration) async throws(Failure) -> [RecordedEvent]? {
        let end = ContinuousClock.now + limit
        while !Task.isCancelled {
            if let fault = follower.fault { throw fault }
            let state = follower.current
            if (state.lastChange(of: map) ?? 0) > position {
                let events = try await page()
                if !events.isEmpty { return events }
            }
            let rest = end - .now
            guard rest > .zero else { return [] }
            // Half a second bounds how long a cancelled reader goes unnoticed.
            _ = try? await follower.snapshot(
                beyond: state, timeout: min(rest, .milliseconds(500)))
        }
        return nil
    }

    /// Empty where the log does not answer now.
    private func page() async throws(Failure) -> [RecordedEvent] {
        let request = ReadRequest(after: position, limit: Self.batchLimit, stream: .map(map))
        do throws(Failure) {
            let page = try await log.read(request, timeout: .seconds(2))
            position = max(position, page.through)
            return page.events
        } catch {
            guard error.isRetriable || (error.code == .cancelled && Task.isCancelled) else {
                throw error
            }
            // A pause, not the log's next word: a log too busy to answer speaks all the time, and
            // every reader would ask again at each word.
            try? await Task.sleep(for: .milliseconds(200))
            return []
        }
    }
}
