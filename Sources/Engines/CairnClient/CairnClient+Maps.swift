// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import MapState
internal import Synchronization

/// Reads of maps: folded here from the log, so no other service has to answer.
extension CairnClient {
    /// The maps and locators of the site now, or at a past moment.
    ///
    /// The first call starts to follow the log and waits until it is caught up; later calls answer
    /// from memory. With `minSequence`, the result of a command for example, it waits until that
    /// change is known. Throws `Failure`: `timedOut`, `invalidParameter` for a sequence number
    /// ahead of the log, `corrupt` or `newerVersion` for a log that cannot be followed.
    public func maps(
        at moment: AsOf? = nil, minSequence: Int64? = nil, timeout: Duration = .seconds(5)
    ) async throws(Failure) -> MapsState {
        let follower = try follow()
        try await follower.catchUp(timeout: timeout)
        if let minSequence {
            _ = try await follower.snapshot(minSequence: minSequence, timeout: timeout)
        }
        guard let moment else { return try await follower.snapshot() }
        return try await follower.history(at: try await follower.position(of: moment))
    }

    /// The sequence number of a past moment; waits as ``maps(at:minSequence:timeout:)`` does.
    public func position(
        of moment: AsOf, timeout: Duration = .seconds(5)
    ) async throws(Failure) -> Int64 {
        let follower = try follow()
        try await follower.catchUp(timeout: timeout)
        return try await follower.position(of: moment)
    }

    /// The follower behind ``maps(at:minSequence:timeout:)``, started when missing and restarted
    /// when its log has been replaced.
    ///
    /// `onFault` receives the faults of a follower started by this call, as in `MapFollower`.
    public func follow(
        onFault: @escaping @Sendable (Failure) -> Void = { _ in }
    ) throws(Failure) -> MapFollower {
        let result = mapFollower.withLock { known -> Result<MapFollower, Failure> in
            if let known, known.fault?.code != .conflict { return .success(known) }
            known?.stop()
            return Result { () throws(Failure) in
                let log = try LogReader(bus: bus)
                let made = try MapFollower(
                    following: bus, log: log, from: mapSnapshots(log), onFault: onFault)
                known = made
                return made
            }
        }
        return try result.get()
    }

    /// The snapshots that maps start from; nil for a client without a site folder.
    public func mapSnapshots(_ log: LogReader) -> StateSnapshots<MapsState>? {
        site.map { StateSnapshots(site: $0, log: log, report: reportSnapshot) }
    }
}

/// Lookups of single maps and locators.
extension CairnClient {
    /// One map now, or at a past moment; nil when it does not exist.
    ///
    /// Waits and throws as ``maps(at:minSequence:timeout:)`` does.
    public func map(
        named name: MapName, at moment: AsOf? = nil, minSequence: Int64? = nil,
        timeout: Duration = .seconds(5)
    ) async throws(Failure) -> MapDescription? {
        try await map(
            named: name, past: moment.map { SeenPast($0) }, minSequence: minSequence,
            timeout: timeout)
    }

    /// One map now, or a past of it as it may be seen; nil when it does not exist.
    ///
    /// Waits and throws as ``maps(at:minSequence:timeout:)`` does.
    public func map(
        named name: MapName, past: SeenPast?, minSequence: Int64? = nil,
        timeout: Duration = .seconds(5)
    ) async throws(Failure) -> MapDescription? {
        guard let past else {
            return try await maps(minSequence: minSequence, timeout: timeout).map(named: name)
        }
        let follower = try follow()
        try await follower.catchUp(timeout: timeout)
        if let minSequence {
            _ = try await follower.snapshot(minSequence: minSequence, timeout: timeout)
        }
        return try await follower.map(
            named: name, past, reading: try follower.ownReader())
    }

    /// The names of all maps and of all published locators, each in byte order.
    public func catalog(
        timeout: Duration = .seconds(5)
    ) async throws(Failure) -> (maps: [MapName], locators: [String]) {
        let state = try await maps(timeout: timeout)
        return (state.mapNames, state.locatorNames)
    }

    /// The latest published locator of that name, ignoring case; nil when it does not exist.
    public func locator(
        named name: String, timeout: Duration = .seconds(5)
    ) async throws(Failure) -> LocatorPublished? {
        try await maps(timeout: timeout).locator(named: name)
    }

    /// The sequence number up to which the maps are known: after a first catch-up, and while the
    /// log is away, as far as it was received.
    ///
    /// Waits and throws as ``maps(at:minSequence:timeout:)`` does.
    public func presentSequence(timeout: Duration = .seconds(5)) async throws(Failure) -> Int64 {
        try await maps(timeout: timeout).sequence
    }

    /// ``presentSequence(timeout:)`` without waiting; nil before the log has been read.
    public func presentSequenceAtHand() throws(Failure) -> Int64? {
        let follower = try follow()
        return follower.isCaughtUp ? follower.current.sequence : nil
    }

    /// The sequence number up to which the maps are known, and whether the log is out of reach.
    public func knownSequence() throws(Failure) -> (sequence: Int64, isStale: Bool) {
        let follower = try follow()
        return (follower.current.sequence, follower.isStale)
    }
}
