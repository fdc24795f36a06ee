// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import MapState

/// The events of one map, each once and in order, after a sequence number.
///
/// Events are read on demand, so there is no backlog. After an interruption, resume with the last
/// sequence number.
public actor MapEvents {
    /// Limit of events in one batch.
    public static let batchLimit = 100

    private let log: LogReader
    private let follower: MapFollower
    private let map: MapName
    private var position: Int64

    /// Starts after a sequence number; throws `Failure` as `CairnClient.follow` does.
    public init(_ client: CairnClient, of map: MapName, after sequence: Int64) throws(Failure) {
        log = try LogReader(client)
        follower = try client.follow()
        self.map = map
        position = sequence
    }

    /// The next events, ``batchLimit`` at most; empty when none arrive within `limit`, nil when the
    /// calling task is cancelled.
    ///
    /// Outages of the log are waited out. Throws `Failure`: `conflict` when the log is an older
    /// copy now, `corrupt` or `newerVersion` when it cannot be followed.
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

    /// Reads a page; empty where the log does not answer now.
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
            // A pause, not the next message of the log: an overloaded log publishes all the time,
            // and every reader would repeat its request at each message.
            try? await Task.sleep(for: .milliseconds(200))
            return []
        }
    }
}
