// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
public import CairnModel
internal import FoundationEssentials
internal import MapState
internal import Synchronization

/// The start of a follower: the last snapshot that the log confirms, or the first event.
extension MapFollower {
    /// The maps of a snapshot.
    struct Start: Sendable {
        var state: MapsState
        /// When the last change of any of them was recorded; nil where that is in an archive that
        /// is unavailable.
        var changedAt: Timestamp?
        /// The incarnation of the log that they were folded from.
        var incarnation: UUID?

        /// The last snapshot that the log confirms; nil for none.
        static func last(
            of snapshots: StateSnapshots<MapsState>, _ log: LogReader
        ) async throws(Failure) -> Start? {
            guard let state = try await snapshots.restore(), let last = state.lastMapChange else {
                return nil
            }
            let request = ReadRequest(after: last - 1, limit: 1, category: "map")
            var start = Start(state: state, incarnation: snapshots.foundIncarnation)
            do throws(Failure) {
                start.changedAt = try await log.events(request).first?.recordedAt
            } catch {
                guard error.code == .archived else { throw error }
            }
            return start
        }
    }

    /// The start of the fold.
    enum Beginning: Sendable {
        case snapshot(Start)
        case firstEvent
    }

    /// The source of a site's maps.
    struct MapSource: Sendable {
        let bus: BusThread
        let log: LogReader
        let part: Part
        let onFault: @Sendable (Failure) -> Void

        func follow(
            _ follower: MapFollower, from start: Start?
        ) throws(Failure) -> LogSubscription {
            try LogSubscription(
                bus: bus, log: log, categories: ["map"], after: start?.state.sequence ?? 0,
                of: start?.incarnation, onFault: onFault
            ) { [weak follower, part] events, position in
                follower?.ingest(events, upTo: position, into: part)
            }
        }

        /// Retries until the log answers where to start; nil when the task is cancelled.
        func beginning(in snapshots: StateSnapshots<MapsState>) async -> Beginning? {
            var pause = Duration.milliseconds(50)
            while !Task.isCancelled {
                do throws(Failure) {
                    return try await Start.last(of: snapshots, log).map { .snapshot($0) }
                        ?? .firstEvent
                } catch {
                    guard error.isRetriable else { return .firstEvent }
                }
                try? await Task.sleep(for: pause)
                pause = min(pause * 2, .seconds(1))
            }
            return nil
        }

    }

    /// Follows the log from the start found.
    func begin(at beginning: Beginning, _ source: MapSource) {
        var start: Start?
        if case .snapshot(let found) = beginning {
            start = found
            take(found, into: source.part)
        }
        do throws(Failure) {
            let subscription = try source.follow(self, from: start)
            let isStopped = feed.withLock { feed in
                feed?.subscriptions.append(subscription)
                feed?.hasMaps = true
                return feed?.isStopped != false
            }
            if isStopped { subscription.cancel() }
        } catch {
            inner.withLock { $0.fault = $0.fault ?? error }
        }
    }

    /// Starts from the last snapshot that the log confirms, if any: for a follower with an external
    /// feed that continues after the sequence number of ``current``.
    ///
    /// A further fold is kept. Throws `Failure` where the log does not answer.
    public func restore(from log: LogReader) async throws(Failure) {
        guard let snapshots, var start = try await Start.last(of: snapshots, log) else { return }
        start.state = try await start.state.withLocators { request async throws(Failure) in
            try await log.events(request)
        }
        take(start, into: .all)
    }

    /// Replaces the folded state by the maps of a snapshot.
    private func take(_ start: Start, into part: Part) {
        let path = part.path
        let woken: [(Waiter, Result<MapsState, Failure>)] = inner.withLock { inner in
            guard inner[keyPath: path].sequence < start.state.sequence else { return [] }
            inner[keyPath: path] = start.state
            inner.changes = ChangeIndex(behind: start.state, changedAt: start.changedAt)
            Self.join(&inner, part)
            return Self.takeReady(&inner)
        }
        for (waiter, result) in woken { waiter.body(result) }
    }

    /// The state of the last snapshot up to a sequence number, without locators; nil without one
    /// that the log confirms.
    ///
    /// A few are cached, so that neighbouring requests read them once. Throws `Failure` where the
    /// log does not answer.
    func restored(through position: Int64) async throws(Failure) -> MapsState? {
        guard let snapshots else { return nil }
        let sequences = snapshots.sequences()
        let (last, known): (Int64?, MapsState?) = inner.withLock { inner in
            inner.refused.formIntersection(sequences)
            let last = sequences.first { $0 <= position && !inner.refused.contains($0) }
            guard let place = inner.restored.firstIndex(where: { $0.sequence == last }) else {
                return (last, nil)
            }
            let known = inner.restored.remove(at: place)
            inner.restored.append(known)
            return (last, known)
        }
        guard let last else { return nil }
        if let known { return known }
        let found = try await snapshots.restore(through: last)
        inner.withLock { inner in
            // Reported once, and skipped from then on.
            inner.refused.formUnion(
                sequences.filter { $0 <= last && $0 > found?.sequence ?? 0 })
            guard let found, !inner.restored.contains(where: { $0.sequence == found.sequence })
            else { return }
            inner.restored.append(found)
            if inner.restored.count > Self.restoredLimit { inner.restored.removeFirst() }
        }
        return found
    }
}

extension MapsState {
    /// Adds the locators published by then, which a snapshot omits; throws what `read` throws.
    func withLocators(_ read: MapFollower.Reader) async throws(Failure) -> MapsState {
        var locators = MapsState()
        for event in try await read(ReadRequest(after: 0, limit: .max, category: "locator"))
        where event.globalPosition <= sequence { try locators.apply(event) }
        locators.advance(to: sequence)
        return joined(withLocatorsOf: locators)
    }
}
