// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import CairnClient
internal import CairnModel
internal import MapState
internal import Synchronization

/// Changes of a site as inputs of the view: events, heads, progress of jobs, reachability of the
/// log.
///
/// It folds the maps on the way, so that reading them needs no request.
final class SiteFeed: Sendable {
    /// Number of past events shown at the start.
    private static let tail: Int64 = 50
    private let client: CairnClient
    private let at: Int64?
    private let log: LogReader
    private let send: @Sendable (ViewInput) -> Void
    private let follower: MapFollower
    private let subscription = Mutex<LogSubscription?>(nil)

    /// Prepares a feed that begins with the maps at `at`, or now; `send` must not block.
    init(
        client: CairnClient, at: Int64?, send: @escaping @Sendable (ViewInput) -> Void
    ) throws(Failure) {
        self.client = client
        self.at = at
        self.send = send
        log = try LogReader(bus: client.bus)
        follower = MapFollower(snapshots: client.mapSnapshots(log))
    }

    /// Runs until it is cancelled.
    func run() async {
        var isFirst = true
        while !Task.isCancelled {
            do throws(Failure) {
                try await begin()
                break
            } catch {
                if isFirst { send(.failed(error)) }
                isFirst = false
                send(.link(isUp: false))
                try? await Task.sleep(for: .seconds(1))
            }
        }
        async let progress: Void = followJobs()
        while !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(500))
            let isUp = subscription.withLock { $0?.isStale == false }
            follower.isStale = !isUp
            send(.link(isUp: isUp))
        }
        await progress
    }

    /// Ends the subscription.
    func end() {
        subscription.withLock { subscription in
            subscription?.cancel()
            subscription = nil
        }
    }

    /// Reads the present state, then follows.
    private func begin() async throws(Failure) {
        let head = try await log.head().head
        try await follower.restore(from: log)
        let start = follower.current.sequence
        var known: [RecordedEvent] = []
        for category in MapsState.categories {
            known += try await log.events(category: category, after: start, limit: .max)
        }
        known.sort { $0.globalPosition < $1.globalPosition }
        known.removeAll { $0.globalPosition > head }
        follower.ingest(known, upTo: head)
        let last = try await log.read(
            ReadRequest(after: max(0, head - Self.tail), limit: Int(Self.tail)))
        for event in last.events where event.globalPosition <= head { send(.event(event)) }
        send(.head(head))
        let started = try LogSubscription(
            bus: client.bus, log: log, after: head, onFault: { [send] in send(.failed($0)) }
        ) { [follower, send] events, position in
            follower.ingest(events, upTo: position)
            for event in events { send(.event(event)) }
            send(.head(position))
        }
        subscription.withLock { $0 = started }
        send(.link(isUp: true))
        await readMaps(at: at)
    }

    /// Sends the maps at a sequence number, or now.
    func readMaps(at: Int64?) async {
        do throws(Failure) {
            let state: MapsState
            if let at {
                state = try await follower.history(at: at) {
                    [log] request throws(Failure) in try await log.events(request)
                }
            } else {
                state = follower.current
            }
            send(.maps(state.mapNames.compactMap { state.map(named: $0) }, at: at))
        } catch {
            send(.failed(error))
        }
    }

    /// Sends the supervisor's jobs.
    func readJobs() async {
        do throws(Failure) {
            send(.jobs(try await client.jobs()))
        } catch {
            send(.failed(error))
        }
    }

    private func followJobs() async {
        guard let live = try? client.live(topics: ["job/"]) else { return }
        for await message in live {
            guard let job = try? message.message.decode(JobDescription.self) else { continue }
            send(.job(job))
        }
    }
}
